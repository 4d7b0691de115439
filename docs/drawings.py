"""The drawings of the documentation as SVG: the 0x88 board, the layers of the code, the path of a `go`.

A drawing suits light and dark pages: its style sheet asks for the reader's colour scheme.
"""

import re
from collections.abc import Callable
from xml.sax.saxutils import escape

COLOURS = {
    "paper": ("#ffffff", "#181c20"),
    "text": ("#1b1f24", "#e6edf3"),
    "faint": ("#57606a", "#9aa6b2"),
    "line": ("#6e7781", "#8b949e"),
    "grid": ("#d0d7de", "#3a424b"),
    "box": ("#eaf1f8", "#1d2b38"),
    "off": ("#f3e7e4", "#35221f"),
    "accent": ("#0b62a8", "#6cb6ff"),
    "other": ("#b35309", "#f0a35e"),
}
"""Light and dark. The classes `fill-text` and `stroke-text` fill or outline an element in that colour."""

CELL = 40
"""Pixels of a cell of the 0x88 board."""

WIDTH = 720
"""Pixels of the other drawings."""


def text(x: float, y: float, words: str, colour: str, size: int = 14, anchor: str = "start") -> str:
    """A line of text."""
    return (
        f'<text x="{x:g}" y="{y:g}" class="fill-{colour}" font-size="{size}" text-anchor="{anchor}">'
        f"{escape(words)}</text>"
    )


def upright(x: float, y: float, words: str, colour: str) -> str:
    """A line of text that reads upwards."""
    return f'<g transform="rotate(-90 {x:g} {y:g})">{text(x, y, words, colour, 13, "middle")}</g>'


def box(x: float, y: float, width: float, height: float) -> str:
    """A rectangle with round corners."""
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6" '
        'class="fill-box stroke-line"/>'
    )


def line(path: str, colour: str, more: str = "") -> str:
    """A line along a path, with more attributes."""
    return f'<path d="{path}" class="stroke-{colour}" fill="none"{more}/>'


def arrow(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    """A straight arrow, horizontal or vertical, with its head at the second point."""
    if x1 == x2:
        side = -7 if y2 > y1 else 7
        head = f"{x2 - 5:g},{y2 + side:g} {x2 + 5:g},{y2 + side:g}"
    else:
        side = -7 if x2 > x1 else 7
        head = f"{x2 + side:g},{y2 - 5:g} {x2 + side:g},{y2 + 5:g}"
    return (
        line(f"M{x1:g} {y1:g}L{x2:g} {y2:g}", colour, ' stroke-width="1.5"')
        + f'<polygon points="{x2:g},{y2:g} {head}" class="fill-{colour}"/>'
    )


def svg(width: float, height: float, title: str, parts: list[str]) -> str:
    """A drawing on paper, with a title for screen readers."""
    paper = f'<rect width="{width:g}" height="{height:g}" rx="6" class="fill-paper"/>'
    body = "\n".join([paper, *parts])
    used = sorted(set(re.findall(rf"\b(fill|stroke)-({'|'.join(COLOURS)})\b", body)))
    light, dark = (
        "".join(f".{kind}-{name}{{{kind}:{COLOURS[name][scheme]}}}" for kind, name in used)
        for scheme in range(2)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img" font-family="system-ui, sans-serif">\n'
        f"<title>{escape(title)}</title>\n"
        f"<style>{light}\n@media(prefers-color-scheme:dark){{{dark}}}</style>\n"
        f"{body}\n</svg>\n"
    )


def squares() -> str:
    """The 128 cells of the 0x88 board with their indices."""
    parts = []
    for rank in range(8):
        for file in range(16):
            x, y = 30 + file * CELL, 10 + (7 - rank) * CELL
            is_on = not (rank * 16 + file) & 0x88
            parts.append(
                f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" '
                f'class="fill-{"box" if is_on else "off"} stroke-line"/>'
            )
            index = f"{rank * 16 + file:02X}"
            parts.append(text(x + CELL / 2, y + 25, index, "text" if is_on else "faint", 13, "middle"))
        parts.append(text(15, 35 + (7 - rank) * CELL, str(rank + 1), "faint", 13, "middle"))
    for file, name in enumerate("abcdefgh"):
        parts.append(text(50 + file * CELL, 28 + 8 * CELL, name, "faint", 13, "middle"))
    note = "index & 0x88 is not 0: off the board"
    parts.append(text(30 + 12 * CELL, 28 + 8 * CELL, note, "faint", 13, "middle"))
    return svg(40 + 16 * CELL, 40 + 8 * CELL, "The 0x88 board: 128 cells and their indices", parts)


FLOORS = [
    ("moff/main.py, moff/uci/", "the command moff: a command line, or the UCI conversation"),
    ("moff/", "what people meet: commands, terminal, board page, review, pictures; import moff"),
    ("search/, nnue/, syzygy/", "whatever chooses a move: alpha-beta, network, time, threads, tables"),
    ("x88/notation/, book/, perft/", "FEN, SAN, PGN, coordinates, opening books, perft"),
    ("x88/", "squares, pieces, make and unmake, attacks, legal moves, Zobrist keys"),
]


def rooms() -> str:
    """The layers of the code. Imports run downwards."""
    parts = []
    for number, (name, what) in enumerate(FLOORS):
        y = 10 + number * 74
        parts.append(box(10, y, WIDTH - 20, 56))
        parts.append(text(26, y + 24, name, "accent", 16))
        parts.append(text(26, y + 44, what, "text", 14))
        if number:
            parts.append(arrow(WIDTH / 2, y - 18, WIDTH / 2, y, "line"))
    note = "Imports run downwards only. tests/ and bench/ use every layer; nothing imports them."
    y = 20 + len(FLOORS) * 74
    parts.append(text(WIDTH / 2, y, note, "faint", 13, "middle"))
    return svg(WIDTH, y + 20, "The layers of Moff, from top to bottom", parts)


STEPS = [
    ("moff/uci/conversation.py", "position makes a Board; go begins a search", "go wtime 60000 btime 60000"),
    ("moff/uci/go.py", "reads the limits of the line", "Board, Limits"),
    ("search/search.py", "Search.start: a thread of its own, a copy of the board, a Job", "depth 1, 2, 3, …"),
    ("search/deepening.py", "iterations, each in its aspiration window, without the GIL", "depth and window"),
    ("search/alphabeta.py", "the numbered steps; make, unmake, generate, see", "leaves"),
    ("search/quiescence.py", "captures until the position is quiet", "positions"),
    ("search/nnue/evaluate.py", "the network's value, scaled by material; a few endings", "moves made"),
    ("search/nnue/accumulators.py", "the accumulators follow the moves; layer.py adds them up", ""),
]


def path_of_go() -> str:
    """The path of a `go` through the code, and of its results back."""
    parts = []
    for number, (name, what, gives) in enumerate(STEPS):
        y = 10 + number * 78
        parts.append(box(110, y, WIDTH - 220, 50))
        parts.append(text(126, y + 21, name, "accent", 15))
        parts.append(text(126, y + 40, what, "text", 13))
        if gives:
            parts.append(arrow(WIDTH / 2, y + 50, WIDTH / 2, y + 78, "line"))
            parts.append(text(WIDTH / 2 + 12, y + 69, gives, "faint", 13))
    bottom, top = 10 + (len(STEPS) - 1) * 78 + 25, 35
    right = WIDTH - 60
    path = f"M{WIDTH - 110} {bottom}L{right} {bottom}L{right} {top}"
    parts.append(line(path, "accent", ' stroke-width="1.5"'))
    parts.append(arrow(right, top, WIDTH - 110, top, "accent"))
    back = "score and principal variation: Report → info, Result → bestmove"
    parts.append(upright(right + 20, (top + bottom) / 2, back, "accent"))
    x, top = 60, 10 + 2 * 78 + 25
    parts.append(line(f"M110 35L{x} 35L{x} {top}", "faint", ' stroke-width="1.5" stroke-dasharray="5 4"'))
    parts.append(arrow(x, top, 110, top, "faint"))
    parts.append(upright(x - 10, (35 + top) / 2, "stop, ponderhit", "faint"))
    return svg(WIDTH, bottom + 45, "The path of a go command through the code", parts)


DRAWINGS: dict[str, Callable[[], str]] = {"0x88": squares, "rooms": rooms, "path-of-go": path_of_go}
