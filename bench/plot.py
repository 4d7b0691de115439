"""Draw the pictures of recorded results, each for light and for dark pages.

    python bench/plot.py                       all of them, into docs/pictures
    python bench/plot.py strength nets         only these
    python bench/plot.py solved --record wac.jsonl --what "Win At Chess" --how "epd.py --nodes 2600000"

    strength    versions of Moff and known engines on the scale of CCRL blitz
    speed       perft and search, nodes/s, of Moff and others
    threads     what more threads are worth
    suites      how much of tactical suites the versions solve
    solved      after how long the positions of a suite are solved
    nets        the networks one after the other

They are drawn from bench/results.json alone, a list of results in the order in which they are shown; a
picture without any is left out. A new result is one more object there, with these keys:

    picture     one of the names above
    what        the name that is shown
    value       the figure
    interval    [low, high]: 95 % for Elo, the smallest and the largest of the runs for speeds; null if none
                was recorded
    when        the day, as 2026-11-21; null for what others publish
    commit      that of the Moff that was measured; null for another engine
    how         what it was measured with: the command, the games, or the source of a figure of others

and, by picture:

    strength    group, the heading under which it stands. The value is a rating on CCRL blitz; or, with
                `against`, the name of another result of this picture, its Elo minus that one's
    speed       group, likewise. Value and interval are nodes/s
    threads     threads, how many there are. The value is the ratio to one thread; results of the same name
                are joined by a line
    suites      group, likewise. The value is the share solved, in per cent
    solved      nodes, the nodes after which each solved position was solved; positions, the number of all;
                nodes_per_second, the speed on an idle core by which they become seconds. The value is the
                share solved in the end, in per cent
    nets        group, likewise: the games and, if not the hand-written evaluation, the opponent. Elo

A figure that its author gives and nobody here has measured has `"claim": true`.

--record adds a suite: FILE is what `epd.py --nodes N --json` printed. The day is today, the commit that of
this checkout; --how and --nodes-per-second say the rest. Drawing the same results again gives the same files
with the same matplotlib. The exit code is 0, or 2 if the results are damaged or after wrong usage. Needs the
`bench` extra.
"""

import argparse
import datetime
import io
import json
import math
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import script

RESULTS = script.ROOT / "bench" / "results.json"
FOLDER = script.ROOT / "docs" / "pictures"

WIDTH = 6.0
"""Inches of a picture; its smallest letters are still legible on a phone."""

ROW = 0.235
"""Inches of a row."""


class Colours(NamedTuple):
    """The colours of a picture: letters, less important ones, lines of the grid, and three that colour-blind
    readers tell apart.
    """

    text: str
    faint: str
    grid: str
    moff: str
    other: str
    third: str


COLOURS = {
    "light": Colours("#1b1f24", "#57606a", "#d0d7de", "#0b62a8", "#b35309", "#00795c"),
    "dark": Colours("#e6edf3", "#9aa6b2", "#3a424b", "#6cb6ff", "#f0a35e", "#4fd1ab"),
}


@dataclass(frozen=True)
class Result:
    """A recorded result, as the text above describes it."""

    picture: str
    what: str
    value: float
    interval: tuple[float, float] | None
    commit: str | None
    group: str
    against: str | None
    threads: int
    nodes: tuple[int, ...]
    positions: int
    nodes_per_second: float
    is_claim: bool


COMMON = {"picture", "what", "value", "interval", "when", "commit", "how"}
OWN = {
    "strength": {"group"},
    "speed": {"group"},
    "threads": {"threads"},
    "suites": {"group"},
    "solved": {"nodes", "positions", "nodes_per_second"},
    "nets": {"group"},
}
"""By picture: the keys that its results have besides the common ones."""

OPTIONAL = {"strength": {"against", "claim"}, "speed": {"claim"}}


def read_results(path: Path) -> list[Result]:
    """The results of a file. Raises OSError, or ValueError that names the result and its fault."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if not isinstance(entries, list):
        raise ValueError(f"{path}: it holds no list of results")
    results = []
    for number, entry in enumerate(entries, 1):
        name = f"result {number}"
        try:
            if not isinstance(entry, dict):
                raise ValueError(f"{json.dumps(entry)[:60]} is no object")
            name = f"{name}, {entry.get('picture')} {entry.get('what')!r}"
            results.append(_result(entry))
        except ValueError as error:
            raise ValueError(f"{path}, {name}: {error}") from None
    return results


def _result(entry: dict[str, Any]) -> Result:
    """A result from its object. Raises ValueError."""
    _check_keys(entry)
    picture = entry["picture"]
    value = _number(entry, "value")
    interval = entry["interval"]
    if interval is not None:
        if not (isinstance(interval, list) and len(interval) == 2):
            raise ValueError(f"interval is [low, high] or null, not {interval!r}")
        low, high = (_number({"interval": bound}, "interval") for bound in interval)
        if not low <= value <= high:
            raise ValueError(f"the value {value:g} is not within its interval {low:g} to {high:g}")
        interval = (low, high)
    least = min(value, *(interval or [value]))
    if picture in ("speed", "threads") and least <= 0:
        raise ValueError(f"{least:g} is not above 0")
    nodes = entry.get("nodes", [])
    for key in ("threads", "positions"):
        if key in entry and not (type(entry[key]) is int and entry[key] > 0):
            raise ValueError(f"{key} is a whole number from 1 up, not {entry[key]!r}")
    if picture == "solved":
        if not (isinstance(nodes, list) and nodes and all(type(one) is int and one > 0 for one in nodes)):
            raise ValueError("nodes is a list of whole numbers from 1 up")
        if len(nodes) > entry["positions"]:
            raise ValueError(f"{len(nodes)} of {entry['positions']} positions are solved")
        if _number(entry, "nodes_per_second") <= 0:
            raise ValueError("nodes_per_second is not above 0")
    return Result(
        picture,
        entry["what"],
        value,
        interval,
        entry["commit"],
        entry.get("group", ""),
        entry.get("against"),
        entry.get("threads", 1),
        tuple(sorted(nodes)),
        entry.get("positions", 0),
        entry.get("nodes_per_second", 0.0),
        "claim" in entry,
    )


def _check_keys(entry: dict[str, Any]) -> None:
    """Raise ValueError if keys are missing or unknown, or a text is none."""
    picture = entry.get("picture")
    if not isinstance(picture, str) or picture not in OWN:
        raise ValueError(f"picture is one of {', '.join(OWN)}, not {picture!r}")
    needed, allowed = COMMON | OWN[picture], OPTIONAL.get(picture, set())
    if missing := sorted(needed - entry.keys()):
        raise ValueError(f"{', '.join(missing)} missing")
    if unknown := sorted(entry.keys() - needed - allowed):
        raise ValueError(f"{', '.join(unknown)} unknown")
    for key in ("what", "how", "group", "against"):
        if not (isinstance(entry.get(key, "x"), str) and entry.get(key, "x")):
            raise ValueError(f"{key} is a text, not {entry[key]!r}")
    for key in ("when", "commit"):
        if not (entry[key] is None or (isinstance(entry[key], str) and entry[key])):
            raise ValueError(f"{key} is a text or null, not {entry[key]!r}")
    if entry["when"] is not None:
        datetime.date.fromisoformat(entry["when"])
    if entry.get("claim", True) is not True:
        raise ValueError(f"claim is true or not there, not {entry['claim']!r}")


def _number(entry: dict[str, Any], key: str) -> float:
    """A finite number. Raises ValueError."""
    value = entry[key]
    if type(value) not in (int, float) or not math.isfinite(value):
        raise ValueError(f"{key} is a number, not {value!r}")
    return float(value)


def placed(results: list[Result]) -> list[tuple[float, tuple[float, float] | None]]:
    """The ratings of results of strength, with their intervals.

    A result against another one stands that far from it, and its error is that of the two together. Raises
    ValueError if the other is not there, or is measured by the first one in its turn.
    """
    named = {}
    for result in results:
        if result.what in named:
            raise ValueError(f"strength {result.what!r} is there twice")
        named[result.what] = result

    def place(result: Result, above: tuple[str, ...]) -> tuple[float, tuple[float, float] | None]:
        if result.against is None:
            return result.value, result.interval
        if result.against not in named:
            raise ValueError(f"strength {result.what!r}: there is no {result.against!r} to stand against")
        if result.against in above:
            raise ValueError(f"strength {result.what!r}: {result.against!r} is itself placed by it")
        value, interval = place(named[result.against], (*above, result.against))
        if result.interval is None:
            return value + result.value, None
        # What others publish without an error counts as exact.
        low, high = interval or (value, value)
        down = math.hypot(value - low, result.value - result.interval[0])
        up = math.hypot(high - value, result.interval[1] - result.value)
        value += result.value
        return value, (value - down, value + up)

    return [place(result, (result.what,)) for result in results]


# --- Drawing


@dataclass(frozen=True)
class Row:
    """A row of dots: its heading and name, where it stands, the text at its end, and what kind it is."""

    group: str
    name: str
    value: float
    interval: tuple[float, float] | None
    told: str
    is_moff: bool
    is_claim: bool


def draw_rows(rows: list[Row], colours: Colours, label: str, logarithmic: bool = False) -> Any:
    """Rows of dots with error bars under their headings: a circle is Moff, a square another engine, an open
    diamond a claim.
    """
    from matplotlib.figure import Figure

    headings = list(dict.fromkeys(row.group for row in rows))
    lines: list[str | Row] = []
    for heading in headings:
        lines += [heading, *(row for row in rows if row.group == heading)]
    figure = Figure(figsize=(WIDTH, ROW * len(lines) + 0.55), layout="constrained")
    axes = figure.subplots()
    for y, line in enumerate(lines):
        if isinstance(line, str):
            axes.text(0, y, line, transform=axes.get_yaxis_transform(), va="center", weight="bold")
            continue
        colour = colours.moff if line.is_moff else colours.other
        marker = "D" if line.is_claim else "o" if line.is_moff else "s"
        bars = None
        if line.interval is not None:
            bars = [[line.value - line.interval[0]], [line.interval[1] - line.value]]
        axes.axhline(y, color=colours.grid, linewidth=0.6, zorder=0)
        axes.errorbar(
            line.value,
            y,
            xerr=bars,
            fmt=marker,
            markersize=5,
            color=colour,
            markerfacecolor="none" if line.is_claim else colour,
            elinewidth=1.6,
            capsize=2.5,
        )
        for x, words, anchor, shade in (
            (-0.015, line.name, "right", colours.text),
            (1.015, line.told, "left", colours.faint if line.is_claim else colours.text),
        ):
            axes.text(x, y, words, transform=axes.get_yaxis_transform(), ha=anchor, va="center", color=shade)
    axes.set(ylim=(len(lines) - 0.4, -0.7), yticks=[], xlabel=label)
    if logarithmic:
        axes.set_xscale("log")
    return figure


def with_sign(value: float) -> str:
    """An Elo difference."""
    return f"{value:+.0f}".replace("-", "−")


def error(value: float, interval: tuple[float, float] | None) -> str:
    """An interval as ± so much; of uneven ones the larger half."""
    return "" if interval is None else f" ± {max(value - interval[0], interval[1] - value):.0f}"


def draw_strength(results: list[Result], colours: Colours) -> Any:
    """Ratings of Moff's versions and of other engines."""
    rows = []
    for result, (value, interval) in zip(results, placed(results), strict=True):
        told = f"{value:.0f}{error(value, interval)}" + " (claim)" * result.is_claim
        moff = result.commit is not None
        name = f"{result.what}, {result.commit}" if moff else result.what
        rows.append(Row(result.group, name, value, interval, told, moff, result.is_claim))
    return draw_rows(rows, colours, "rating on the scale of CCRL blitz, Elo")


def short(number: float) -> str:
    """A number with three digits and M or k."""
    for unit, name in ((1e6, "M"), (1e3, "k")):
        if number >= unit:
            return f"{number / unit:.3g} {name}"
    return f"{number:.3g}"


def draw_speed(results: list[Result], colours: Colours) -> Any:
    """Nodes/s on a logarithmic scale."""
    rows = [
        Row(
            result.group,
            result.what,
            result.value,
            result.interval,
            short(result.value) + " (claim)" * result.is_claim,
            result.commit is not None,
            result.is_claim,
        )
        for result in results
    ]
    return draw_rows(rows, colours, "nodes/s", logarithmic=True)


def draw_nets(results: list[Result], colours: Colours) -> Any:
    """Elo against the opponent, which is the line at 0."""
    rows = [
        Row(
            result.group,
            result.what,
            result.value,
            result.interval,
            with_sign(result.value) + error(result.value, result.interval),
            result.commit is not None,
            False,
        )
        for result in results
    ]
    figure = draw_rows(rows, colours, "Elo against the hand-written evaluation, unless noted otherwise")
    figure.axes[0].axvline(0, color=colours.faint, linewidth=1.2, linestyle="--", zorder=1)
    return figure


def spread(values: list[float], gap: float) -> list[float]:
    """Places for labels at these values, at least so far apart, in the same order."""
    order = sorted(range(len(values)), key=lambda number: values[number])
    places = dict.fromkeys(order, 0.0)
    for before, number in zip([None, *order], order, strict=False):
        least = -math.inf if before is None else places[before] + gap
        places[number] = max(values[number], least)
    # As far down as they were pushed up, on the average.
    shift = sum(places[number] - values[number] for number in order) / max(1, len(order))
    return [places[number] - shift for number in range(len(values))]


def draw_threads(results: list[Result], colours: Colours) -> Any:
    """The ratio to one thread, a line for each name, and what it would be at best."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, 3.6), layout="constrained")
    axes = figure.subplots()
    numbers = sorted({1, *(result.threads for result in results)})
    axes.plot(numbers, numbers, color=colours.faint, linewidth=1, linestyle=":")
    ends = []
    names = list(dict.fromkeys(result.what for result in results))
    for place, name in enumerate(names):
        own = sorted((one for one in results if one.what == name), key=lambda one: one.threads)
        if len({one.threads for one in own}) < len(own):
            raise ValueError(f"threads {name!r}: a number of threads is there twice")
        is_moff = own[0].commit is not None
        colour = colours.moff if is_moff else colours.other
        # Beside each other, lest error bars hide one another.
        right = 1 + 0.012 * (place - (len(names) - 1) / 2)
        xs = [1.0, *(one.threads * right for one in own)]
        axes.plot(xs, [1.0, *(one.value for one in own)], color=colour, linewidth=1.3, alpha=0.75)
        for x, one in zip(xs[1:], own, strict=True):
            low, high = one.interval or (one.value, one.value)
            axes.errorbar(
                x,
                one.value,
                yerr=[[one.value - low], [high - one.value]],
                fmt="o" if is_moff else "s",
                markersize=5,
                color=colour,
                elinewidth=1.4,
                capsize=2.5 if one.interval else 0,
            )
        ends.append((own[-1].value, f"{own[-1].value:.2f}  {name}", colour))
    axes.set_xscale("log", base=2)
    axes.set_xlim(0.97, numbers[-1] * 1.06)
    axes.set_xticks(numbers, [str(number) for number in numbers])
    axes.minorticks_off()
    axes.set(xlabel="threads", ylabel="times as much as one thread")
    axes.grid(axis="y", color=colours.grid, linewidth=0.6)
    low, high = axes.get_ylim()
    for y, (value, words, colour) in zip(
        spread([value for value, _, _ in ends], (high - low) * 0.062), ends, strict=True
    ):
        axes.annotate(
            words,
            (numbers[-1] * 1.06, value),
            (1.03, (y - low) / (high - low)),
            textcoords="axes fraction",
            va="center",
            color=colour,
        )
    return figure


def draw_suites(results: list[Result], colours: Colours) -> Any:
    """The shares that versions solve."""
    rows = [
        Row(
            result.group,
            f"{result.what}, {result.commit}" if result.commit else result.what,
            result.value,
            result.interval,
            f"{result.value:.1f} %",
            result.commit is not None,
            False,
        )
        for result in results
    ]
    return draw_rows(rows, colours, "solved, per cent")


def draw_solved(results: list[Result], colours: Colours) -> Any:
    """The share of the positions that is solved for good after so many seconds."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, 3.6), layout="constrained")
    axes = figure.subplots()
    shades = [colours.moff, colours.other, colours.third]
    for number, result in enumerate(results):
        xs = [nodes / result.nodes_per_second for nodes in result.nodes]
        ys = [100 * (solved + 1) / result.positions for solved in range(len(xs))]
        shade = shades[number % len(shades)]
        axes.step(xs, ys, where="post", color=shade, linewidth=1.6)
        name = f"{len(xs)} of {result.positions}, {result.what}"
        # In the corner that the lines, which rise, leave free.
        axes.annotate(name, (0.98, 0.04 + 0.08 * number), xycoords="axes fraction", ha="right", color=shade)
    axes.set_xscale("log")
    axes.set(ylim=(0, 102), xlabel="seconds on one idle core", ylabel="solved, per cent")
    axes.grid(color=colours.grid, linewidth=0.6)
    return figure


FIGURES: dict[str, Callable[[list[Result], Colours], Any]] = {
    "strength": draw_strength,
    "speed": draw_speed,
    "threads": draw_threads,
    "suites": draw_suites,
    "solved": draw_solved,
    "nets": draw_nets,
}


def draw(name: str, results: list[Result]) -> dict[str, str]:
    """A picture as SVG, by scheme of colours.

    Raises ValueError if there is nothing to draw, or it does not fit together.
    """
    import matplotlib

    own = [result for result in results if result.picture == name]
    if not own:
        raise ValueError(f"there is no result for the picture {name!r}")
    colours = COLOURS["light"]
    settings: Any = {
        **matplotlib.rcParamsDefault,  # whatever the user has set
        "backend": "svg",
        "svg.fonttype": "path",
        "svg.hashsalt": name,
        "font.family": "DejaVu Sans",  # comes with matplotlib, so that all machines draw the same
        "font.size": 9,
        "text.color": colours.text,
        "axes.labelcolor": colours.text,
        "axes.edgecolor": colours.grid,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.spines.left": False,
        "axes.axisbelow": True,
        "xtick.color": colours.faint,
        "ytick.color": colours.faint,
    }
    with matplotlib.rc_context(settings):
        figure = FIGURES[name](own, colours)
        told = io.StringIO()
        figure.savefig(told, format="svg", transparent=True, metadata={"Date": None})
    text = compact(told.getvalue())
    return {scheme: recoloured(text, colours, others) for scheme, others in COLOURS.items()}


def compact(text: str) -> str:
    """An SVG a fifth smaller: no indentation, no blanks round the letters of its paths, places in hundredths
    of a point, and short names for the letters of the text.
    """
    text = "".join(line.strip() + "\n" for line in text.splitlines())
    text = re.sub(r'(?<= d=")[^"]*', lambda path: re.sub(r"\s*([A-DF-Za-df-z])\s*", r"\1", path[0]), text)
    text = re.sub(
        r'(?<= d=")[^"]*|(?<=translate\()[^)]*',
        lambda place: re.sub(r"-?\d+\.\d{3,}(?![e\d])", lambda one: f"{float(one[0]):.2f}", place[0]),
        text,
    )
    return text.replace("DejaVuSans-Bold-", "b").replace("DejaVuSans-", "s")


def recoloured(text: str, colours: Colours, others: Colours) -> str:
    """An SVG with other colours in place of these."""
    places = dict(zip(colours, others, strict=True))
    return re.sub("#[0-9a-f]{6}", lambda found: places.get(found[0], found[0]), text)


# --- Recording


def suite_entry(path: Path, what: str, how: str, nodes_per_second: int) -> dict[str, Any]:
    """What `epd.py --json` has printed, as a result. Raises OSError and ValueError."""
    try:
        answers = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        nodes = sorted(answer["solved_nodes"] for answer in answers if answer["solved"])
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{path} is not what epd.py --json prints") from None
    if not nodes:
        raise ValueError(f"{path}: nothing is solved")
    head = ["git", "-C", str(script.ROOT), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(head, capture_output=True, encoding="utf-8", check=False).stdout.strip()
    if not commit:
        raise ValueError(f"{script.ROOT} is no checkout of git, whose commit could be recorded")
    return {
        "picture": "solved",
        "what": what,
        "value": round(100 * len(nodes) / len(answers), 1),
        "interval": None,
        "when": datetime.date.today().isoformat(),
        "commit": commit,
        "how": how,
        "positions": len(answers),
        "nodes_per_second": nodes_per_second,
        "nodes": nodes,
    }


def written(entries: list[dict[str, Any]]) -> str:
    """The file: a result a paragraph, a key a line."""
    told = []
    for entry in entries:
        lines = [
            f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()
        ]
        told.append(" {\n" + ",\n".join(lines) + "\n }")
    return "[\n" + ",\n".join(told) + "\n]\n"


def record(path: Path, entry: dict[str, Any]) -> None:
    """Add a result to a file, in place of one of the same picture and name."""
    read_results(path)
    entries = json.loads(path.read_text(encoding="utf-8"))
    same = [one for one in entries if (one["picture"], one["what"]) == (entry["picture"], entry["what"])]
    if same:
        entries[entries.index(same[0])] = entry
    else:
        entries.append(entry)
    path.write_text(written(entries), encoding="utf-8", newline="\n")


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = script.parser(__doc__)
    parser.add_argument(
        "pictures", nargs="*", metavar="PICTURE", help=f"of {', '.join(FIGURES)}; default all"
    )
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FILE.json")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where they go (default docs/pictures)")
    parser.add_argument("--record", type=Path, metavar="FILE", help="first add what epd.py --json printed")
    parser.add_argument("--what", default="", metavar="NAME", help="of what is recorded")
    parser.add_argument("--how", default="", metavar="TEXT", help="how it was measured")
    parser.add_argument(
        "--nodes-per-second", type=script.positive, metavar="N", help="the speed in it, on an idle core"
    )
    options = parser.parse_args(arguments)
    for name in options.pictures:
        if name not in FIGURES:
            parser.error(f"there is no picture {name!r}, only {', '.join(FIGURES)}")
    if options.record and not (options.what and options.how and options.nodes_per_second):
        parser.error("--record needs --what, --how and --nodes-per-second")
    return options


@script.command
def main(arguments: list[str] | None = None) -> int:
    """Record, draw and write; returns the exit code."""
    options = _options(arguments)
    script.require("bench", "matplotlib")
    if options.record:
        entry = suite_entry(options.record, options.what, options.how, options.nodes_per_second)
        record(options.results, entry)
    results = read_results(options.results)
    found = {result.picture for result in results}
    wanted = options.pictures or [name for name in FIGURES if name in found]
    drawn = {name: draw(name, results) for name in wanted}
    options.folder.mkdir(parents=True, exist_ok=True)
    for name, schemes in drawn.items():
        for scheme, text in schemes.items():
            path = options.folder / f"{name}-{scheme}.svg"
            path.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
