"""Pictures of a position as SVG: board, coordinates, last move, arrows, marked squares, attack map."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from moff.messages import echo, either
from moff.picture.annotation import COLOURS, Arrow, Mark, Square, read_arrow, read_last_move, read_mark
from moff.picture.figurine import FIGURINES
from moff.picture.shapes import arrow_outline, escaped, layer, polygon
from x88 import square
from x88.attack import in_check
from x88.attack_map import AttackMap
from x88.board import Board
from x88.notation import fen
from x88.piece import BLACK, EMPTY, KIND, KINDS, NAMES, SIDES, WHITE, letter, make_piece

MIN_SIZE, MAX_SIZE = 16, 10_000
"""The sizes that a picture may have, in pixels."""

STANDARD_SIZE = 360


class Ink(NamedTuple):
    """The drawing of a side's pieces."""

    fill: str
    outline: str
    line: str
    width: float


class Theme(NamedTuple):
    """The colours of a picture. The sides differ in outline or inner lines too, not only in their fill."""

    paper: str
    text: str
    light: str
    dark: str
    inks: tuple[Ink, Ink]
    """White's and Black's."""


THEMES = {
    "light": Theme(
        "#ffffff",
        "#3d4650",
        "#e9edf1",
        "#a5b3c3",
        (Ink("#ffffff", "#20242a", "#20242a", 3.6), Ink("#2b3037", "#0d0f12", "#f4f6f8", 3.6)),
    ),
    "dark": Theme(
        "#181c20",
        "#c9d1d9",
        "#8592a0",
        "#566270",
        (Ink("#ffffff", "#0d0f12", "#0d0f12", 3.6), Ink("#15181c", "#e3e8ed", "#e3e8ed", 2.6)),
    ),
}

# In units of the picture; a square is 100 by 100 units.
_EDGE = 8
_MARGIN = 40
_CENTRE = 50
_FONT = 'text-anchor="middle" font-family="sans-serif" font-weight="bold"'
_HALO = 'stroke="#ffffff" stroke-width="3" stroke-linejoin="round"'


@dataclass(frozen=True, init=False)
class Picture:
    """A position and how it is drawn.

    The SVG depends on nothing else. It has no ids, styles, scripts or references, so that a page can hold any
    number of pictures. Each piece is an element with the attributes `data-square` and `data-piece`.
    """

    position: str
    """FEN."""
    flipped: bool
    """Whether Black is at the bottom."""
    theme: str
    """A name of `THEMES`."""
    last_move: tuple[str, str] | None
    """The names of its two squares; the king's when castling, in Chess960 king's and rook's."""
    arrows: tuple[Arrow, ...]
    marked: tuple[Mark, ...]
    attacks: bool
    """Whether each square shows how many pieces attack it: White's at its lower left, Black's at its lower
    right, whichever side is at the bottom.
    """
    coordinates: bool
    size: int
    """Width and height, in pixels."""
    title: str
    """The title; if empty, the side to move."""

    def __init__(
        self,
        position: Any = fen.START,
        *,
        flipped: bool = False,
        theme: str = "light",
        last_move: object = None,
        arrows: Iterable[str | tuple[Square, Square] | tuple[Square, Square, str]] = (),
        marked: Iterable[Square | tuple[Square] | tuple[Square, str]] = (),
        attacks: bool = False,
        coordinates: bool = True,
        size: int = STANDARD_SIZE,
        title: str = "",
    ) -> None:
        """The position is a `moff.Board`, an `x88` board or a FEN. The last move may be a `moff.Move`, packed
        or coordinates ("e2e4", "e7e8q"); it need not be legal, as the position is the one after it. Arrows
        ("e2e4", "e2e4:blue") and marked squares ("e4", "e4:blue") may be texts too.

        Raises ValueError, with the text and the reason, for a bad FEN, square, colour, theme or size.
        """
        # A copy, since the board may change later.
        board = getattr(position, "x88", position)
        text = board if isinstance(board, str) else fen.write(board)
        text = fen.write(fen.parse(text, chess960=not isinstance(position, str)))
        if theme not in THEMES:
            raise ValueError(f"{echo(theme)} is not a theme: it must be {either(THEMES)}")
        if not MIN_SIZE <= size <= MAX_SIZE:
            raise ValueError(f"size takes a whole number from {MIN_SIZE} to {MAX_SIZE}, not {size!r}")
        for name, value in (
            ("position", text),
            ("flipped", flipped),
            ("theme", theme),
            ("last_move", read_last_move(last_move)),
            ("arrows", tuple(read_arrow(arrow) for arrow in arrows)),
            ("marked", tuple(read_mark(mark) for mark in marked)),
            ("attacks", attacks),
            ("coordinates", coordinates),
            ("size", size),
            ("title", title),
        ):
            object.__setattr__(self, name, value)

    def svg(self) -> str:
        """The picture as a complete SVG document, without an XML declaration."""
        board = fen.parse(self.position, chess960=True)
        units = 800 + self._left() + _EDGE
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.size}" height="{self.size}" '
            f'viewBox="0 0 {units} {units}" role="img">',
            f"<title>{escaped(self.title or _title(board))}</title>",
            f"<desc>{escaped(self._description(board))}</desc>",
            *self._empty_board(units),
            *self._last_move_squares(),
            *self._check(board),
            *self._marks(),
            *self._pieces(board, WHITE),
            *self._pieces(board, BLACK),
            *self._arrows(),
        ]
        if self.attacks:
            attacks = AttackMap()
            attacks.compute(board)
            lines += [*self._attack_counts(attacks, WHITE), *self._attack_counts(attacks, BLACK)]
        if self.coordinates:
            lines += self._coordinates()
        return "\n".join([*lines, "</svg>", ""])

    def _repr_svg_(self) -> str:
        """The SVG for a notebook."""
        return self.svg()

    # Coordinates.

    def _left(self) -> int:
        return _MARGIN if self.coordinates else _EDGE

    def _corner(self, sq: int) -> tuple[int, int]:
        """The upper left corner of a square."""
        file, rank = sq & 7, sq >> 4
        column, row = (7 - file, rank) if self.flipped else (file, 7 - rank)
        return self._left() + 100 * column, _EDGE + 100 * row

    def _centre(self, sq: int) -> tuple[int, int]:
        x, y = self._corner(sq)
        return x + _CENTRE, y + _CENTRE

    # The layers, from bottom to top.

    def _empty_board(self, units: int) -> list[str]:
        theme = THEMES[self.theme]
        corners = [self._corner(sq) for sq in square.SQUARES if not (sq ^ sq >> 4) & 1]
        dark = "".join(f"M{x} {y}h100v100h-100z" for x, y in sorted(corners))
        return [
            f'<rect width="{units}" height="{units}" rx="12" fill="{theme.paper}"/>',
            f'<rect x="{self._left()}" y="{_EDGE}" width="800" height="800" fill="{theme.light}" '
            f'stroke="{theme.dark}" stroke-width="4"/>',
            f'<path d="{dark}" fill="{theme.dark}"/>',
        ]

    def _last_move_squares(self) -> list[str]:
        lines = []
        for sq in self.last_move or ():
            x, y = self._corner(square.parse(sq))
            lines.append(f'<rect data-square="{sq}" x="{x}" y="{y}" width="100" height="100"/>')
        return layer("last-move", f'fill="{COLOURS["yellow"]}" opacity="0.6"', lines)

    def _check(self, board: Board) -> list[str]:
        """A burst behind a king in check."""
        if not in_check(board):
            return []
        king = board.king(board.side)
        x, y = self._centre(king)
        points = []
        for i in range(32):
            radius, angle = (34 if i % 2 else 48), math.pi * i / 16
            points.append((x + radius * math.sin(angle), y - radius * math.cos(angle)))
        return layer(
            "check",
            f'fill="{COLOURS["red"]}"',
            [f'<path data-square="{square.name(king)}" d="{polygon(points)}"/>'],
        )

    def _marks(self) -> list[str]:
        lines = []
        for mark in self.marked:
            x, y = self._corner(square.parse(mark.square))
            # The inner square has the opposite direction, which makes it a hole.
            ring = f"M{x + 2} {y + 2}h96v96h-96zM{x + 12} {y + 12}v76h76v-76z"
            lines.append(f'<path data-square="{mark.square}" d="{ring}" fill="{COLOURS[mark.colour]}"/>')
        return layer("marks", _HALO, lines)

    def _pieces(self, board: Board, side: int) -> list[str]:
        ink = THEMES[self.theme].inks[side]
        lines = []
        for sq in square.SQUARES:
            code = board.piece_at(sq)
            if code == EMPTY or code != make_piece(side, code & KIND):
                continue
            x, y = self._corner(sq)
            shapes, inner = FIGURINES[code & KIND]
            lines.append(
                f'<g data-square="{square.name(sq)}" data-piece="{letter(code)}" '
                f'transform="translate({x} {y})"><path d="{shapes}"/>'
                f'<path d="{inner}" fill="none" stroke="{ink.line}"/></g>'
            )
        return layer(
            SIDES[side].lower(),
            f'fill="{ink.fill}" stroke="{ink.outline}" stroke-width="{ink.width}" stroke-linecap="round" '
            'stroke-linejoin="round"',
            lines,
        )

    def _arrows(self) -> list[str]:
        lines = []
        for arrow in self.arrows:
            outline = arrow_outline(*(self._centre(square.parse(sq)) for sq in arrow[:2]))
            lines.append(
                f'<path data-arrow="{arrow.origin}{arrow.target}" '
                f'd="{polygon(outline)}" fill="{COLOURS[arrow.colour]}"/>'
            )
        return layer("arrows", f'{_HALO} opacity="0.9"', lines)

    def _attack_counts(self, attacks: AttackMap, side: int) -> list[str]:
        ink = THEMES[self.theme].inks[side]
        discs, counts = [], []
        for sq in square.SQUARES:
            count = attacks.count(sq, side)
            if count:
                x, y = self._corner(sq)
                x, y = x + (15 if side == WHITE else 85), y + 85
                discs.append(f'<circle cx="{x}" cy="{y}" r="14"/>')
                small = ' font-size="18"' if count > 9 else ""
                counts.append(
                    f'<text data-square="{square.name(sq)}" x="{x}" y="{y + 8}"{small}>{count}</text>'
                )
        return [
            *layer("attacks", f'fill="{ink.fill}" stroke="{ink.line}" stroke-width="2"', discs),
            *layer(f"{SIDES[side].lower()}-attackers", f'fill="{ink.line}" {_FONT} font-size="23"', counts),
        ]

    def _coordinates(self) -> list[str]:
        files = [self._centre(sq)[0] for sq in square.SQUARES[:8]]
        ranks = [self._centre(sq)[1] for sq in square.SQUARES[::8]]
        below, beside = 800 + _EDGE + 29, _MARGIN // 2
        lines = [
            f'<text x="{x}" y="{below}">{name}</text>' for x, name in zip(files, "abcdefgh", strict=True)
        ]
        lines += [
            f'<text x="{beside}" y="{y + 10}">{name}</text>'
            for y, name in zip(ranks, "12345678", strict=True)
        ]
        return layer("coordinates", f'fill="{THEMES[self.theme].text}" {_FONT} font-size="28"', lines)

    def _description(self, board: Board) -> str:
        """The picture in words."""
        sentences = [
            f"FEN {self.position}.",
            *(f"{SIDES[side]}: {_army(board, side)}." for side in (WHITE, BLACK)),
        ]
        if self.last_move:
            sentences.append(f"Last move: {' to '.join(self.last_move)}.")
        if self.marked:
            marks = ", ".join(f"{mark.square} ({mark.colour})" for mark in self.marked)
            sentences.append(f"Marked: {marks}.")
        if self.arrows:
            arrows = ", ".join(f"{arrow.origin} to {arrow.target} ({arrow.colour})" for arrow in self.arrows)
            sentences.append(f"Arrows: {arrows}.")
        if self.attacks:
            sentences.append(
                "On each square, how many pieces attack it: White's on the left, Black's on the right."
            )
        if self.flipped:
            sentences.append("Black is below.")
        return " ".join(sentences)


# Words.


def _title(board: Board) -> str:
    check = ", in check" if in_check(board) else ""
    return f"Chess position, {SIDES[board.side]} to move{check}"


def _army(board: Board, side: int) -> str:
    """The pieces of a side with their squares: "king g1, rooks a1 f1"."""
    groups = []
    for kind in reversed(KINDS):
        code = make_piece(side, kind)
        names = [square.name(sq) for sq in square.SQUARES if board.piece_at(sq) == code]
        if names:
            groups.append(f"{NAMES[kind]}{'s' * (len(names) > 1)} {' '.join(names)}")
    return ", ".join(groups)
