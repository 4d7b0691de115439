"""Compare move generators: the moff loop, linked rays, a 10x12 mailbox and python-chess.

    python bench/generators.py                                            all of them, about three minutes
    python bench/generators.py --only "moff loop" "linked rays" --what captures quiescence --runs 20
    python bench/generators.py --chart generators.svg

measures, with what they count:

    perft        the trees of five positions, every leaf played: leaves
    captures     captures and promotions in positions that are not in check: captures
    attacks      is a square attacked, for all 64 squares and both sides: questions
    quiescence   quiescence search in all positions some plies on, in a window of one pawn: nodes

The positions are those of `moff bench` and some positions one ply on. Moff's designs run compiled and, in a
child process with MOFF_PURE=1, uncompiled; the mailbox (tests/mailbox.py) and python-chess are plain Python.
In every round all generators take turns, so the ratios within a round are the most reliable figures. Use an
idle machine.

Results go to standard output, progress and errors to standard error. The exit code is 0 if all generators
found the same, 1 if they did not or a figure could not be measured, 2 after wrong usage, 130 when
interrupted. Needs the `bench` extra.
"""

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from pathlib import Path

import script  # first: it puts this checkout on the path

from search import benchmark, linked
from search.searcher import Searcher
from search.stop import Stop
from search.table import TranspositionTable
from tests import mailbox
from x88 import attack, build, coordinate, fen, movegen, tally
from x88.board import Board
from x88.movegen import MoveStack
from x88.rays import Rays

MOFF_LOOP, LINKED, FROM_FRONT = "moff loop", "linked rays", "linked rays, from the front"
MAILBOX, PYTHON_CHESS = "10x12 mailbox", "python-chess"
DESIGNS = [MOFF_LOOP, LINKED, FROM_FRONT]
GENERATORS = [*DESIGNS, MAILBOX, PYTHON_CHESS]
BUILDS = ("compiled", "uncompiled")
ROWS = [*(f"{design}, {name}" for name in BUILDS for design in DESIGNS), MAILBOX, PYTHON_CHESS]

UNITS = {
    "perft": "perft nodes/s",
    "captures": "captures/s",
    "attacks": "attack tests/s",
    "quiescence": "quiescence nodes/s",
}

PERFT = [
    ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", [20, 400, 8902, 197281, 4865609]),
    (
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        [48, 2039, 97862, 4085603],
    ),
    ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", [14, 191, 2812, 43238, 674624]),
    ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", [6, 264, 9467, 422333]),
    ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", [44, 1486, 62379, 2103487]),
]
"""Positions with their published counts of leaves, from depth 1 on."""

COMPILED_LEAVES, PYTHON_LEAVES, MAILBOX_LEAVES = 5_000_000, 10_000, 2_100
"""The maximum leaves of a position: for compiled generators, for uncompiled ones, and for the slowest."""

ONE_IN = 8
"""One in this many moves of a bench position leads to another position to measure."""


@dataclass(frozen=True)
class Work:
    """Work done: its name (equal for equal work), what was found, how much was done."""

    name: str
    found: str
    done: int


@dataclass(frozen=True)
class Sample:
    """One measurement: the work, what was found, how much was done in all, and the seconds it took."""

    work: str
    found: str
    done: int
    seconds: float

    @property
    def speed(self) -> float:
        """Work per second."""
        return self.done / max(self.seconds, 1e-9)


Task = Callable[[], Work]


# --- The tasks


def positions() -> list[str]:
    """The FENs of the bench positions and of some positions one ply on."""
    texts = []
    for text in benchmark.POSITIONS:
        board = fen.parse(text)
        texts.append(fen.write(board))
        for move in sorted(movegen.legal_moves(board), key=coordinate.write)[::ONE_IN]:
            board.make(move)
            texts.append(fen.write(board))
            board.unmake()
    return texts


def quiet_positions() -> list[str]:
    """Those not in check: in check, a capture generator may return all evasions."""
    return [text for text in positions() if not attack.in_check(fen.parse(text))]


def perft_task(count: Callable[[str, int], int], most: int) -> Task:
    """Count the leaves of every position with `count(FEN, depth)`, at most `most`, as deep as possible."""
    trees = []
    for text, leaves in PERFT:
        depth = max(depth for depth, known in enumerate(leaves, 1) if known <= most)
        trees.append((text, depth))

    def task() -> Work:
        found = [count(text, depth) for text, depth in trees]
        return Work(perft_name(most), " ".join(map(str, found)), sum(found))

    return task


def perft_name(most: int) -> str:
    """The name of that task."""
    return f"perft of up to {most:,} leaves a position"


def published(most: int) -> str:
    """What that task must find: the published counts."""
    return " ".join(str(max(known for known in leaves if known <= most)) for _, leaves in PERFT)


def captures_task(count: list[Callable[[int], int]], times: int) -> Task:
    """Count the captures of every position `times` times, with one call per position."""

    def task() -> Work:
        total = sum(captures_of(times) for captures_of in count)
        return Work("captures", f"{total / times:g} captures", total)

    return task


def attacks_task(count: list[Callable[[int], int]], times: int) -> Task:
    """The same with attacked squares; every question counts as work."""

    def task() -> Work:
        total = sum(attacked_of(times) for attacked_of in count)
        return Work("attacks", f"{total / times:g} attacked squares", times * len(count) * 128)

    return task


# --- The generators


def moff_tasks(name: str) -> dict[str, Task]:
    """The tasks of one of Moff's designs on the running build."""
    stack = MoveStack()
    boards = [fen.parse(text) for text in positions()]
    quiet = [fen.parse(text) for text in quiet_positions()]
    most, times, depth = (COMPILED_LEAVES, 200, 2) if build.compiled else (PYTHON_LEAVES, 1, 1)
    quiescence = quiescence_task(DESIGNS.index(name), depth)
    if name == MOFF_LOOP:
        return {
            "perft": perft_task(
                lambda text, depth: tally.leaves_by_loop(fen.parse(text), stack, depth), most
            ),
            "captures": captures_task([_captures(board, stack) for board in quiet], 5 * times),
            "attacks": attacks_task([_attacked(board) for board in boards], times),
            "quiescence": quiescence,
        }
    front = name == FROM_FRONT
    captures = captures_task([_captures_by_rays(board, stack, front) for board in quiet], 5 * times)
    if front:
        return {"captures": captures, "quiescence": quiescence}
    return {
        "perft": perft_task(lambda text, depth: _play_leaves_by_rays(fen.parse(text), stack, depth), most),
        "captures": captures,
        "attacks": attacks_task([_attacked_by_rays(board) for board in boards], times),
        "quiescence": quiescence,
    }


def _captures(board: Board, stack: MoveStack) -> Callable[[int], int]:
    return lambda times: tally.captures_by_loop(board, stack, times)


def _attacked(board: Board) -> Callable[[int], int]:
    return lambda times: tally.attacked_by_loop(board, times)


def _rays_of(board: Board) -> Rays:
    own = Rays()
    own.reset(board)
    return own


def _captures_by_rays(board: Board, stack: MoveStack, front: bool) -> Callable[[int], int]:
    own = _rays_of(board)
    return lambda times: tally.captures_by_rays(board, own, stack, times, front)


def _attacked_by_rays(board: Board) -> Callable[[int], int]:
    own = _rays_of(board)
    return lambda times: tally.attacked_by_rays(board, own, times)


def _play_leaves_by_rays(board: Board, stack: MoveStack, depth: int) -> int:
    return tally.leaves_by_rays(board, _rays_of(board), stack, depth)


def quiescence_task(generator: int, depth: int) -> Task:
    """Quiescence search in all positions `depth` plies after those of the bench."""
    searcher, own = Searcher(TranspositionTable(1), Stop()), Rays()
    boards = [fen.parse(text) for text in benchmark.POSITIONS]
    # The order of captures changes fail-soft scores outside the window, and node counts.
    order = ", from the front" if generator == linked.FROM_FRONT else ""

    def task() -> Work:
        total, nodes = 0, 0
        for board in boards:
            searcher.prepare(board, 0)
            total += linked.run(searcher, own, depth, generator)
            nodes += searcher.nodes
        return Work(f"quiescence {depth} plies on{order}", f"{nodes} nodes, sum {total}", nodes)

    return task


def mailbox_tasks() -> dict[str, Task]:
    """The tasks of the mailbox."""
    boards = [mailbox.Position.from_fen(text) for text in positions()]
    quiet = [mailbox.Position.from_fen(text) for text in quiet_positions()]

    def captures(position: mailbox.Position) -> Callable[[int], int]:
        return lambda _: sum(_takes_or_promotes(position, move) for move in position.legal())

    def attacked(position: mailbox.Position) -> Callable[[int], int]:
        return lambda _: sum(position.is_attacked(sq, white) for white in (True, False) for sq in range(64))

    return {
        "perft": perft_task(
            lambda text, depth: mailbox.perft(mailbox.Position.from_fen(text), depth), MAILBOX_LEAVES
        ),
        "captures": captures_task([captures(position) for position in quiet], 1),
        "attacks": attacks_task([attacked(position) for position in boards], 1),
    }


def _takes_or_promotes(position: mailbox.Position, move: mailbox.Move) -> bool:
    if move.promoted or position.squares[move.target] != mailbox.FREE:
        return True
    return position.squares[move.origin] in "Pp" and move.target == position.passed


def python_chess_tasks() -> dict[str, Task]:
    """The tasks of python-chess."""
    import chess

    boards = [chess.Board(text) for text in positions()]
    quiet = [chess.Board(text) for text in quiet_positions()]
    ends = chess.BB_RANK_1 | chess.BB_RANK_8

    def leaves(position: chess.Board, depth: int) -> int:
        if depth == 0:
            return 1
        total = 0
        for move in position.legal_moves:
            position.push(move)
            total += leaves(position, depth - 1)
            position.pop()
        return total

    def captures(position: chess.Board) -> Callable[[int], int]:
        def count(_: int) -> int:
            taking = sum(1 for _ in position.generate_legal_captures())
            pawns = position.pieces_mask(chess.PAWN, position.turn)
            return taking + sum(1 for _ in position.generate_legal_moves(pawns, ends & ~position.occupied))

        return count

    def attacked(position: chess.Board) -> Callable[[int], int]:
        return lambda _: sum(
            position.is_attacked_by(colour, sq) for colour in chess.COLORS for sq in chess.SQUARES
        )

    return {
        "perft": perft_task(lambda text, depth: leaves(chess.Board(text), depth), PYTHON_LEAVES),
        "captures": captures_task([captures(position) for position in quiet], 1),
        "attacks": attacks_task([attacked(position) for position in boards], 1),
    }


def measures_of(generator: str) -> list[str]:
    """The measures that apply to a generator."""
    if generator == FROM_FRONT:
        return ["captures", "quiescence"]
    return list(UNITS) if generator in DESIGNS else ["perft", "captures", "attacks"]


def tasks_of(generator: str) -> dict[str, Task]:
    """The tasks of a generator by measure, on the running build."""
    if generator == MAILBOX:
        return mailbox_tasks()
    return python_chess_tasks() if generator == PYTHON_CHESS else moff_tasks(generator)


class Here:
    """Measures generators in this process."""

    def __init__(self, generators: list[str]) -> None:
        self._tasks = {generator: tasks_of(generator) for generator in generators}

    def take(self, generator: str, measure: str, seconds: float) -> Sample:
        """Do a task at least once, and repeat it until `seconds` have passed."""
        task = self._tasks[generator][measure]
        done = 0
        began = time.perf_counter()
        while True:
            work = task()
            done += work.done
            spent = time.perf_counter() - began
            if spent >= seconds:
                return Sample(work.name, work.found, done, spent)

    def close(self) -> None:
        """Nothing to close."""


class Uncompiled:
    """Measures generators in a child process that runs the uncompiled source."""

    def __init__(self, generators: list[str]) -> None:
        # In its own session, so that only the parent reports a Ctrl-C.
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--serve", "--only", *generators],
            env={**os.environ, "MOFF_PURE": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            bufsize=1,
            start_new_session=True,
        )

    def take(self, generator: str, measure: str, seconds: float) -> Sample:
        """The same in that process. Raises RuntimeError if it has ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps([generator, measure, seconds]) + "\n")
            return Sample(**json.loads(self._process.stdout.readline()))
        except (OSError, ValueError):
            raise RuntimeError("the process that runs the uncompiled source has ended") from None

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


def serve(generators: list[str]) -> None:
    """Be that process: read one request per line, answer with one sample per line."""
    here = Here(generators)
    for line in sys.stdin:
        print(json.dumps(asdict(here.take(*json.loads(line)))), flush=True)


# --- The rounds and their tables


Series = dict[tuple[str, str], list[Sample]]
"""The samples of all rounds by row (a generator and its build) and measure."""


def take_rounds(generators: list[str], measures: list[str], runs: int, seconds: float, pure: bool) -> Series:
    """All samples: in every round all generators take turns at one measure after the other."""
    from tqdm import tqdm

    with ExitStack() as stack:
        rows: dict[str, tuple[str, Here | Uncompiled]] = {}
        here = stack.enter_context(closing(Here(generators)))
        designs = [generator for generator in generators if generator in DESIGNS]
        name = BUILDS[not build.compiled]
        rows.update({f"{design}, {name}": (design, here) for design in designs})
        if designs and build.compiled and pure:
            child = stack.enter_context(closing(Uncompiled(designs)))
            rows.update({f"{design}, {BUILDS[1]}": (design, child) for design in designs})
        rows.update({other: (other, here) for other in generators if other not in DESIGNS})

        series: Series = {
            (row, measure): []
            for measure in measures
            for row, (generator, _) in rows.items()
            if measure in measures_of(generator)
        }
        total = runs * len(series)
        with tqdm(total=total, unit=" samples", disable=None, file=sys.stderr) as bar:
            for _ in range(runs):
                for row, measure in series:
                    generator, place = rows[row]
                    series[row, measure].append(place.take(generator, measure, seconds))
                    bar.update()
    return series


def faults(series: Series) -> list[str]:
    """A line for each task whose results differ among generators or from the published counts."""
    found: dict[str, dict[str, list[str]]] = {}
    for (row, _), samples in series.items():
        for sample in samples:
            rows = found.setdefault(sample.work, {}).setdefault(sample.found, [])
            if row not in rows:
                rows.append(row)
    for most in (COMPILED_LEAVES, PYTHON_LEAVES, MAILBOX_LEAVES):
        if perft_name(most) in found:
            found[perft_name(most)].setdefault(published(most), []).append("the published counts")
    return [
        f"{work}: " + "; ".join(f"{result} by {', '.join(rows)}" for result, rows in results.items())
        for work, results in found.items()
        if len(results) > 1
    ]


def speeds(samples: list[Sample]) -> list[float]:
    """Work per second, round by round."""
    return [sample.speed for sample in samples]


def rows_of(series: Series) -> list[str]:
    """The rows that were measured, in order."""
    measured = {row for row, _ in series}
    return [row for row in ROWS if row in measured]


def figures_table(series: Series, measures: list[str]) -> str:
    """The median of every row and measure, with minimum and maximum below."""
    rows = []
    for row in rows_of(series):
        cells = [row]
        for measure in measures:
            found = speeds(series.get((row, measure), []))
            spread = f"{_short(min(found))} - {_short(max(found))}" if found else ""
            cells.append(f"{_short(statistics.median(found))}\n{spread}" if found else "")
        rows.append(cells)
    headers = ["generator", *(UNITS[measure] for measure in measures)]
    return _table(headers, rows)


def ratios_table(series: Series, measures: list[str]) -> str:
    """The speed of the other designs relative to the moff loop, round by round; empty if there is nothing to
    compare.
    """
    rows = []
    for name in BUILDS:
        for design in DESIGNS[1:]:
            for measure in measures:
                ours = series.get((f"{design}, {name}", measure), [])
                loop = series.get((f"{MOFF_LOOP}, {name}", measure), [])
                if ours and loop:
                    ratios = [a / b for a, b in zip(speeds(ours), speeds(loop), strict=True)]
                    three = (min(ratios), statistics.median(ratios), max(ratios))
                    rows.append([f"{design}, {name}", measure, *(f"{ratio:.2f}" for ratio in three)])
    headers = [f"times as fast as the {MOFF_LOOP}", "measure", "minimum", "median", "maximum"]
    return _table(headers, rows) if rows else ""


def _table(headers: list[str], rows: list[list[str]]) -> str:
    """A table with figures aligned right and words aligned left."""
    from tabulate import tabulate

    words = {headers[0], "measure"}
    alignment = ["left" if header in words else "right" for header in headers]
    text: str = tabulate(rows, headers, disable_numparse=True, colalign=alignment)
    return text


def _short(number: float) -> str:
    """Three digits and a unit: 46.1 M, 512 k."""
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{_three(number / size)} {unit}"
    return _three(number)


def _three(number: float) -> str:
    return f"{number:.{max(0, 2 - len(str(int(number))) + 1)}f}"


def draw(series: Series, measures: list[str], path: Path) -> None:
    """Draw the medians as bars, a group for each measure, on a logarithmic scale."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    rows = rows_of(series)
    width = 0.8 / len(rows)
    figure, axes = pyplot.subplots(figsize=(11, 6))
    for n, row in enumerate(rows):
        places = [m for m, measure in enumerate(measures) if (row, measure) in series]
        heights = [statistics.median(speeds(series[row, measures[place]])) for place in places]
        bars = axes.bar(
            [place + (n - (len(rows) - 1) / 2) * width for place in places], heights, width, label=row
        )
        axes.bar_label(bars, [_short(height) for height in heights], rotation=90, padding=3, fontsize=7)
    axes.set_yscale("log")
    axes.margins(y=0.2)
    axes.set_xticks(range(len(measures)), [UNITS[measure] for measure in measures])
    axes.set_ylabel("per second (median)")
    axes.set_title("Move generators compared")
    axes.legend(fontsize=8, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.06))
    figure.tight_layout()
    figure.savefig(path)


# --- The command line


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 3600:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return seconds


def _chart(text: str) -> Path:
    path = Path(text)
    if path.suffix not in (".png", ".svg"):
        raise argparse.ArgumentTypeError(f"{text!r} ends neither in .png nor in .svg")
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {str(path.parent)!r}")
    return path


def _options() -> argparse.Namespace:
    parser = script.parser(__doc__)
    parser.add_argument("--runs", type=script.positive, default=10, metavar="N", help="rounds (default 10)")
    parser.add_argument(
        "--only",
        nargs="+",
        choices=GENERATORS,
        default=GENERATORS,
        metavar="NAME",
        help="generators, of " + ", ".join(f'"{name}"' for name in GENERATORS),
    )
    parser.add_argument(
        "--what",
        nargs="+",
        choices=list(UNITS),
        default=list(UNITS),
        metavar="MEASURE",
        help="measures, of " + ", ".join(UNITS),
    )
    parser.add_argument(
        "--seconds",
        type=_seconds,
        default=0.5,
        metavar="S",
        help="minimum per measurement (default 0.5); every task is done at least once",
    )
    parser.add_argument("--no-pure", action="store_true", help="leave out the uncompiled build")
    parser.add_argument(
        "--chart", type=_chart, metavar="FILE", help="draw the medians into a .png or .svg file"
    )
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


@script.command
def main() -> int:
    """Measure, print the tables, draw the chart; returns the exit code."""
    options = _options()
    if options.serve:
        serve(options.only)
        return 0
    script.require("bench", "tabulate", "tqdm", *(["matplotlib"] if options.chart else []))
    generators = [name for name in GENERATORS if name in options.only]
    measures = [name for name in UNITS if name in options.what]
    if PYTHON_CHESS in generators and importlib.util.find_spec("chess") is None:
        print("python-chess is not installed and left out: python -m pip install chess", file=sys.stderr)
        generators.remove(PYTHON_CHESS)
    if not build.compiled:
        print(build.notice(), file=sys.stderr)
    if not any(set(measures) & set(measures_of(generator)) for generator in generators):
        raise ValueError("none of these generators has one of these measures")

    try:
        series = take_rounds(generators, measures, options.runs, options.seconds, not options.no_pure)
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"Rounds: {options.runs}. Median, below it minimum and maximum.\n")
    print(figures_table(series, measures))
    if ratios := ratios_table(series, measures):
        print(f"\n{ratios}")
    if options.chart:
        draw(series, measures, options.chart)
    if different := faults(series):
        print("\nNot all found the same:\n" + "\n".join(different))
        return 1
    print("\nAll found the same.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
