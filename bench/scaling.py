"""What more threads are worth to a UCI engine in nodes/s, time to depth and Elo, compared with one thread.

    python bench/scaling.py --threads 1 2 4
    python bench/scaling.py --threads 1 2 --parts elo --games 600 --tc 2+0.02
    python bench/scaling.py --engine stockfish --out stockfish.json --plot stockfish.svg
    python bench/scaling.py --engine "python sunfish.py" --threads 1 --parts depth --depth 5 --positions 12

--parts chooses what is measured:

    speed    nodes/s over the positions of `moff bench`, --movetime milliseconds each, in --pairs rounds that
             take all thread counts in turn (A B A B ...): the median and range of the rounds' ratios
    depth    the time to --depth over the same positions: the ratio of the totals, the geometric mean of the
             positions' ratios, and the nodes/s
    elo      a match of --games against one thread at --tc, one game at a time, with --openings, each played
             twice with colours reversed. The games are in files in --folder; the same command continues an
             interrupted match. A side wins after 4 moves with both engines reporting it 600 centipawns
             ahead; after move 40, 8 moves with scores within 10 centipawns are a draw

Without --engine, this checkout's Moff is measured. With `--threads 1`, any UCI engine will do whose info
lines give nodes and time, even one without the options Hash and Threads. Measure on an idle machine with as
many cores as threads. The results go to standard output as a table, and are written to --out as JSON after
each part; progress goes to standard error. The exit code is 0; 1 if a game was lost by a fault or could not
be played; 2 after wrong usage or if the engine fails; 130 when interrupted. Needs the `bench` extra.
"""

import argparse
import contextlib
import json
import random
import re
import shlex
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import script  # first: it puts this checkout on the path
from adjudication import Adjudication
from game import Pace, Side
from match import Match, Unplayed, complaints, parse_clock, play_missing, read_played
from openings import OWN, read_openings
from score import Score, state
from uci import EngineFault, EngineSpec, UciEngine
from workers import threads

from search.benchmark import POSITIONS

PARTS = ("speed", "depth", "elo")
PICTURES = (".svg", ".png", ".pdf")

RULE = Adjudication(resign_moves=4, resign_score=600, draw_from=40, draw_moves=8, draw_score=10)

MARGIN = 20
"""Milliseconds by which a clock may be overstepped."""

PATIENCE = 60.0
"""Seconds that an engine may take beyond its time."""

LONGEST = 24 * 3600.0
"""Seconds that a search to a depth may take."""

_COUNT = re.compile(r"\b(nodes|time) (\d+)")

Results = dict[str, dict[int, dict[str, Any]]]
"""By part and number of threads: what was measured."""


@dataclass(frozen=True)
class Subject:
    """The measured engine."""

    name: str
    command: tuple[str, ...]
    megabytes: int

    def spec(self, number: int) -> EngineSpec:
        """The engine with this many threads."""
        name = f"{self.name}, {number} thread{'s' * (number > 1)}"
        return EngineSpec(name, self.command, (("Hash", str(self.megabytes)), ("Threads", str(number))))


@dataclass(frozen=True)
class Search:
    """The cost of a search: nodes and seconds as reported, and the seconds until the engine moved."""

    nodes: int
    told: float
    seconds: float


def search(engine: UciEngine, text: str, limits: str, patience: float) -> Search:
    """Search a position as a new game. Raises EngineFault, also if no nodes are reported."""
    engine.new_game()
    engine.send(f"position fen {text}")
    began = time.perf_counter()
    engine.send(f"go {limits}")
    lines = engine.read_until("bestmove", patience)
    seconds = time.perf_counter() - began
    for line in reversed(lines):
        counts = dict(_COUNT.findall(line))
        if line.startswith("info ") and counts.keys() == {"nodes", "time"}:
            return Search(int(counts["nodes"]), int(counts["time"]) / 1000, seconds)
    raise EngineFault("garbage", f"{engine.name} reports no nodes and time: {lines[-1].strip()}")


def started(stack: contextlib.ExitStack, subject: Subject, numbers: list[int]) -> dict[int, UciEngine]:
    """An engine for each number of threads. Raises ValueError if it refuses its options, which it may lack if
    there is one thread.
    """
    engines = {number: stack.enter_context(UciEngine(subject.spec(number))) for number in numbers}
    for engine in engines.values():
        faults = [text for text in engine.refused if numbers != [1] or "has no option" not in text]
        if faults:
            raise ValueError(faults[0])
    return engines


def measure_speed(
    subject: Subject, options: argparse.Namespace, positions: list[str], bar: Callable[..., Any]
) -> dict[int, dict[str, Any]]:
    """Nodes/s by number of threads in each round, and its ratio to one thread's."""
    speeds: dict[int, list[float]] = {number: [] for number in options.threads}
    patience = PATIENCE + options.movetime / 1000
    with contextlib.ExitStack() as stack, bar(total=options.pairs * len(speeds) * len(positions)) as progress:
        engines = started(stack, subject, options.threads)
        for _ in range(options.pairs):
            for number, engine in engines.items():
                found = []
                for text in positions:
                    found.append(search(engine, text, f"movetime {options.movetime}", patience))
                    progress.update()
                told = sum(one.told for one in found) or sum(one.seconds for one in found)
                speeds[number].append(sum(one.nodes for one in found) / told)
    results = {}
    for number, own in speeds.items():
        ratios = [speed / one for speed, one in zip(own, speeds[1], strict=True)]
        results[number] = {
            "nodes_per_second": statistics.median(own),
            "ratio": statistics.median(ratios),
            "ratios": ratios,
        }
    return results


def measure_depth(
    subject: Subject, options: argparse.Namespace, positions: list[str], bar: Callable[..., Any]
) -> dict[int, dict[str, Any]]:
    """The seconds to a depth by number of threads, and the speedup over one thread."""
    searches: dict[int, list[Search]] = {number: [] for number in options.threads}
    with contextlib.ExitStack() as stack, bar(total=len(searches) * len(positions)) as progress:
        engines = started(stack, subject, options.threads)
        for text in positions:
            for number, engine in engines.items():
                searches[number].append(search(engine, text, f"depth {options.depth}", LONGEST))
                progress.update()
    results = {}
    total = sum(one.seconds for one in searches[1])
    for number, own in searches.items():
        ratios = [one.seconds / mine.seconds for one, mine in zip(searches[1], own, strict=True)]
        seconds = sum(one.seconds for one in own)
        results[number] = {
            "seconds": seconds,
            "nodes_per_second": sum(one.nodes for one in own) / seconds,
            "ratio": total / seconds,
            "mean_ratio": statistics.geometric_mean(ratios),
            "ratios": ratios,
        }
    return results


def measure_elo(
    subject: Subject, options: argparse.Namespace, pace: Pace, bar: Callable[..., Any]
) -> dict[int, dict[str, Any]]:
    """The Elo difference from one thread, with its 95 % interval. Raises Unplayed."""
    openings = read_openings(options.openings, 0)
    random.Random(0).shuffle(openings)
    options.folder.mkdir(parents=True, exist_ok=True)
    results = {}
    with contextlib.ExitStack() as stack:
        started(stack, subject, options.threads)
    for number in options.threads[1:]:
        sides = (Side(subject.spec(number), pace), Side(subject.spec(1), pace))
        match = Match(sides, openings, options.games, RULE, MARGIN)
        path = options.folder / f"{number} threads.pgn"
        score, size = read_played(path, match)
        with (
            bar(total=match.games, initial=len(score.points), unit="game") as progress,
            threads(1) as workers,
            contextlib.closing(
                play_missing(
                    match, path, (score, size), workers, None, lambda text: progress.write(text, sys.stderr)
                )
            ) as games,
        ):
            for _ in games:
                progress.set_postfix_str(state(score, None), refresh=False)
                progress.update()
        results[number] = told_score(score)
    return results


def told_score(score: Score) -> dict[str, Any]:
    """The result of a match; an infinite Elo difference is None."""
    elo = [round(value, 1) if abs(value) < 1e6 else None for value in score.interval()]
    values = list(score.points.values())
    return {
        "games": len(values),
        "won_drawn_lost": [values.count(1), values.count(0.5), values.count(0)],
        "elo": elo[0],
        "interval": elo[1:],
        "faults": [f"{what}: {who}" for what, who in complaints(score.faults, score.warnings)],
        "lost_by_faults": sum(score.faults.values()),
    }


# --- Showing

COLUMNS: dict[str, tuple[list[str], Callable[[dict[str, Any]], list[str]]]] = {
    "speed": (
        ["nodes/s", "ratio (median)", "range"],
        lambda own: [
            f"{own['nodes_per_second']:,.0f}",
            f"{own['ratio']:.2f}",
            f"{min(own['ratios']):.2f} to {max(own['ratios']):.2f}",
        ],
    ),
    "depth": (
        ["seconds to depth", "nodes/s", "ratio of totals", "geometric mean"],
        lambda own: [
            f"{own['seconds']:.2f}",
            f"{own['nodes_per_second']:,.0f}",
            f"{own['ratio']:.2f}",
            f"{own['mean_ratio']:.2f}",
        ],
    ),
    "elo": (
        ["games", "Elo", "95 %"],
        lambda own: [str(own["games"]), signed(own["elo"]), " to ".join(map(signed, own["interval"]))],
    ),
}
"""By part: headers, and the cells of a row."""


def signed(elo: float | None) -> str:
    """An Elo difference as text; None is infinite."""
    return "?" if elo is None else f"{elo:+.0f}"


def table(results: Results) -> str:
    """The results, a row for each number of threads, and what went wrong in the games."""
    from tabulate import tabulate

    headers = ["threads"]
    rows = {number: [str(number)] for number in sorted({n for part in results.values() for n in part})}
    for part, found in results.items():
        names, cells = COLUMNS[part]
        headers += names
        for number, row in rows.items():
            row += cells(found[number]) if number in found else [""] * len(names)
    text: str = tabulate(list(rows.values()), headers, stralign="right", disable_numparse=True)
    return "\n".join([text, *(fault for own in results.get("elo", {}).values() for fault in own["faults"])])


def plot(results: Results, name: str, path: Path) -> None:
    """Draw a panel for each part: points with their range or interval."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    titles = {"speed": "nodes/s, ratio", "depth": "time to depth, ratio", "elo": "Elo"}
    figure, panels = pyplot.subplots(1, len(results), figsize=(5 * len(results), 4), squeeze=False)
    for axes, (part, found) in zip(panels[0], results.items(), strict=True):
        errors: tuple[list[float], list[float]] = ([], [])
        points = []
        for own in found.values():
            value = own["elo"] or 0.0 if part == "elo" else own["ratio"]
            low, high = own["interval"] if part == "elo" else (min(own["ratios"]), max(own["ratios"]))
            points.append(value)
            errors[0].append(max(0.0, value - (value if low is None else low)))
            errors[1].append(max(0.0, (value if high is None else high) - value))
        axes.errorbar(list(found), points, yerr=errors, marker="o", capsize=4)
        if part != "elo":
            axes.plot(list(found), list(found), linestyle=":", color="grey")
        axes.set(title=titles[part], xlabel="threads", xticks=list(found))
        axes.grid(alpha=0.3)
    figure.suptitle(name)
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = script.parser(__doc__)
    number = script.positive
    parser.add_argument(
        "--threads",
        nargs="+",
        type=number,
        default=[1, 2],
        metavar="N",
        help="numbers of threads (default 1 2)",
    )
    parser.add_argument(
        "--parts", nargs="+", choices=PARTS, default=["speed", "depth"], help="default: speed depth"
    )
    parser.add_argument("--engine", default="", metavar="COMMAND", help="another UCI engine with Threads")
    parser.add_argument(
        "--hash", type=number, default=64, metavar="MB", help="table of each search (default 64)"
    )
    parser.add_argument(
        "--positions",
        type=number,
        default=len(POSITIONS),
        metavar="N",
        help="how many (default: all of them)",
    )
    parser.add_argument("--movetime", type=number, default=500, metavar="MS", help="a position (default 500)")
    parser.add_argument("--pairs", type=number, default=10, metavar="N", help="rounds of speed (default 10)")
    parser.add_argument("--depth", type=number, default=20, metavar="N", help="plies (default 20)")
    parser.add_argument("--games", type=number, default=200, metavar="N", help="of each match (default 200)")
    parser.add_argument("--tc", default="2+0.02", metavar="CLOCK", help="of the games (default 2+0.02)")
    parser.add_argument(
        "--openings", type=Path, default=OWN, metavar="FILE", help=f"PGN or EPD (default bench/{OWN.name})"
    )
    parser.add_argument(
        "--folder", type=Path, default=Path("scaling"), help="where the games go (default: scaling)"
    )
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="write the results as JSON")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="draw them: .svg, .png or .pdf")
    options = parser.parse_args(arguments)
    # The others are compared with one thread.
    options.threads = sorted({1, *options.threads})
    options.parts = [part for part in PARTS if part in options.parts]
    if options.plot and options.plot.suffix.lower() not in PICTURES:
        raise ValueError(
            f"--plot takes a file that ends with {', '.join(PICTURES)}, not {str(options.plot)!r}"
        )
    return options


@script.command
def main(arguments: list[str] | None = None) -> int:
    """Measure, print and write; returns the exit code."""
    options = _options(arguments)
    script.require("bench", "tabulate", "tqdm", *(["matplotlib"] if options.plot else []))
    from tqdm import tqdm

    pace = parse_clock(options.tc)
    command = tuple(shlex.split(options.engine)) or (sys.executable, str(script.ROOT / "engine.py"))
    subject = Subject(Path(command[0]).stem if options.engine else "Moff", command, options.hash)
    positions = POSITIONS[:: max(1, len(POSITIONS) // options.positions)][: options.positions]
    results: Results = {}

    def bar(**settings: Any) -> Any:
        settings = {"unit": "search", "desc": part, **settings}
        return tqdm(**settings, file=sys.stderr, dynamic_ncols=True, disable=None)

    complete = True
    try:
        for part in options.parts:
            if part == "elo":
                results[part] = measure_elo(subject, options, pace, bar)
            else:
                measure = measure_speed if part == "speed" else measure_depth
                results[part] = measure(subject, options, positions, bar)
            if options.out:
                asked = {"engine": subject.name, "hash": options.hash, "movetime": options.movetime}
                asked |= {"pairs": options.pairs, "depth": options.depth, "tc": options.tc}
                asked["positions"] = len(positions)
                options.out.write_text(json.dumps({**asked, **results}, indent=1) + "\n", encoding="utf-8")
    except EngineFault as error:
        raise ValueError(str(error)) from None
    except Unplayed as error:
        print(error, file=sys.stderr)
        complete = False
    except KeyboardInterrupt:
        if results:
            print(table(results), flush=True)
        more = ": the same command continues the match" if part == "elo" else ""
        raise KeyboardInterrupt(f"interrupted{more}") from None
    if results:
        print(table(results))
        if options.plot:
            plot(results, f"{subject.name} by threads", options.plot)
    return 0 if complete and not any(own["lost_by_faults"] for own in results.get("elo", {}).values()) else 1


if __name__ == "__main__":
    sys.exit(main())
