"""The drawings of the documentation as SVG: the 0x88 board, the layers of the code, the path of a `go`."""

from collections.abc import Callable
from typing import NamedTuple
from xml.sax.saxutils import escape


class Colours(NamedTuple):
    """The colours of a drawing, for light or dark pages."""

    text: str
    faint: str
    line: str
    box: str
    accent: str
    off: str


LIGHT = Colours("#1b1f24", "#57606a", "#6e7781", "#eaf1f8", "#0b62a8", "#f3e7e4")
DARK = Colours("#e6edf3", "#9aa6b2", "#8b949e", "#1d2b38", "#6cb6ff", "#35221f")

CELL = 40
"""Pixels of a cell of the 0x88 board."""

WIDTH = 720
"""Pixels of the other drawings."""


def text(x: float, y: float, words: str, colour: str, size: int = 14, anchor: str = "start") -> str:
    """A line of text."""
    return (
        f'<text x="{x:g}" y="{y:g}" fill="{colour}" font-size="{size}" text-anchor="{anchor}">'
        f"{escape(words)}</text>"
    )


def upright(x: float, y: float, words: str, colour: str) -> str:
    """A line of text that reads upwards."""
    return f'<g transform="rotate(-90 {x:g} {y:g})">{text(x, y, words, colour, 13, "middle")}</g>'


def box(x: float, y: float, width: float, height: float, fill: str, line: str) -> str:
    """A rectangle with round corners."""
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6" fill="{fill}" '
        f'stroke="{line}"/>'
    )


def arrow(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    """A straight arrow, horizontal or vertical, with its head at the second point."""
    if x1 == x2:
        side = -7 if y2 > y1 else 7
        head = f"{x2 - 5:g},{y2 + side:g} {x2 + 5:g},{y2 + side:g}"
    else:
        side = -7 if x2 > x1 else 7
        head = f"{x2 + side:g},{y2 - 5:g} {x2 + side:g},{y2 + 5:g}"
    return (
        f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" stroke="{colour}" stroke-width="1.5" fill="none"/>'
        f'<polygon points="{x2:g},{y2:g} {head}" fill="{colour}"/>'
    )


def svg(width: float, height: float, title: str, parts: list[str]) -> str:
    """A drawing, with a title for screen readers."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
            f'viewBox="0 0 {width:g} {height:g}" role="img" font-family="system-ui, sans-serif">',
            f"<title>{escape(title)}</title>",
            *parts,
            "</svg>",
            "",
        ]
    )


def squares(colours: Colours) -> str:
    """The 128 cells of the 0x88 board with their indices."""
    parts = []
    for rank in range(8):
        for file in range(16):
            x, y = 30 + file * CELL, 10 + (7 - rank) * CELL
            is_on = not (rank * 16 + file) & 0x88
            fill = colours.box if is_on else colours.off
            parts.append(
                f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{fill}" '
                f'stroke="{colours.line}"/>'
            )
            colour = colours.text if is_on else colours.faint
            parts.append(text(x + CELL / 2, y + 25, f"{rank * 16 + file:02X}", colour, 13, "middle"))
        parts.append(text(15, 35 + (7 - rank) * CELL, str(rank + 1), colours.faint, 13, "middle"))
    for file, name in enumerate("abcdefgh"):
        parts.append(text(50 + file * CELL, 28 + 8 * CELL, name, colours.faint, 13, "middle"))
    note = "index & 0x88 is not 0: off the board"
    parts.append(text(30 + 12 * CELL, 28 + 8 * CELL, note, colours.faint, 13, "middle"))
    return svg(40 + 16 * CELL, 40 + 8 * CELL, "The 0x88 board: 128 cells and their indices", parts)


FLOORS = [
    ("engine.py", "the UCI conversation; hands a command line to moff/"),
    ("moff/", "what people meet: commands, terminal, board page, review, pictures; import moff"),
    ("search/", "whatever chooses a move: alpha-beta, move picker, evaluation, clock, threads, tables"),
    ("x88/ notation", "FEN, SAN, PGN, coordinates, opening books, perft"),
    ("x88/ rules", "squares, pieces, make and unmake, attacks, legal moves, Zobrist keys"),
]


def rooms(colours: Colours) -> str:
    """The layers of the code. Imports run downwards."""
    parts = []
    for number, (name, what) in enumerate(FLOORS):
        y = 10 + number * 74
        parts.append(box(10, y, WIDTH - 20, 56, colours.box, colours.line))
        parts.append(text(26, y + 24, name, colours.accent, 16))
        parts.append(text(26, y + 44, what, colours.text, 14))
        if number:
            parts.append(arrow(WIDTH / 2, y - 18, WIDTH / 2, y, colours.line))
    note = "Imports run downwards only. tests/ and bench/ use every layer; nothing imports them."
    y = 20 + len(FLOORS) * 74
    parts.append(text(WIDTH / 2, y, note, colours.faint, 13, "middle"))
    return svg(WIDTH, y + 20, "The layers of Moff, from top to bottom", parts)


STEPS = [
    ("engine.py", "position sets up a Board; go begins a search", "go wtime 60000 btime 60000"),
    ("moff/go_line.py", "reads the limits of the line", "Board, Limits"),
    ("search/search.py", "Search.start: a thread of its own, a copy of the board, a Job", "depth 1, 2, 3, …"),
    ("search/deepening.py", "one iteration with its aspiration window, without the GIL", "depth and window"),
    ("search/alphabeta.py", "the numbered steps; make, unmake, generate, see", "leaves"),
    ("search/quiescence.py", "captures until the position is quiet", "positions"),
    ("search/evaluate.py", "the network's value, scaled by material; a few endings", "moves made"),
    ("search/accumulators.py", "the accumulators follow the moves; layer.py adds them up", ""),
]


def path_of_go(colours: Colours) -> str:
    """The path of a `go` through the code, and of its results back."""
    parts = []
    for number, (name, what, gives) in enumerate(STEPS):
        y = 10 + number * 78
        parts.append(box(110, y, WIDTH - 220, 50, colours.box, colours.line))
        parts.append(text(126, y + 21, name, colours.accent, 15))
        parts.append(text(126, y + 40, what, colours.text, 13))
        if gives:
            parts.append(arrow(WIDTH / 2, y + 50, WIDTH / 2, y + 78, colours.line))
            parts.append(text(WIDTH / 2 + 12, y + 69, gives, colours.faint, 13))
    bottom, top = 10 + (len(STEPS) - 1) * 78 + 25, 35
    right = WIDTH - 60
    parts.append(
        f'<path d="M{WIDTH - 110} {bottom}L{right} {bottom}L{right} {top}" stroke="{colours.accent}" '
        'stroke-width="1.5" fill="none"/>'
    )
    parts.append(arrow(right, top, WIDTH - 110, top, colours.accent))
    back = "score and principal variation: Report → info, Result → bestmove"
    parts.append(upright(right + 20, (top + bottom) / 2, back, colours.accent))
    x, top = 60, 10 + 2 * 78 + 25
    parts.append(
        f'<path d="M{x} 35L{x} {top}" stroke="{colours.faint}" stroke-width="1.5" '
        'stroke-dasharray="5 4" fill="none"/>'
    )
    parts.append(f'<path d="M110 35L{x} 35" stroke="{colours.faint}" stroke-dasharray="5 4"/>')
    parts.append(arrow(x, top, 110, top, colours.faint))
    parts.append(upright(x - 10, (35 + top) / 2, "stop, ponderhit", colours.faint))
    return svg(WIDTH, bottom + 45, "The path of a go command through the code", parts)


DRAWINGS: dict[str, Callable[[Colours], str]] = {
    "0x88": squares,
    "rooms": rooms,
    "path-of-go": path_of_go,
}
