"""Annotations of a board: arrows, marked squares, the last move."""

from typing import NamedTuple

from moff.messages import echo, either, shorten
from x88 import square
from x88.move import NO_MOVE
from x88.notation import coordinate

Square = int | str
"""A square of the board: its name or its 0x88 index."""

COLOURS = {
    "green": "#009e73",
    "blue": "#0072b2",
    "orange": "#e69f00",
    "red": "#d55e00",
    "purple": "#cc79a7",
    "sky": "#56b4e9",
    "yellow": "#f0e442",
}
"""The colours of arrows and marks: the palette of Okabe and Ito ("Color Universal Design", 2002), which
people with any kind of colour vision can tell apart.
"""


class Arrow(NamedTuple):
    """An arrow from one square to another, by their 0x88 indices, in one of `COLOURS`."""

    origin: int
    target: int
    colour: str = "green"


class Mark(NamedTuple):
    """A marked square, by its 0x88 index, in one of `COLOURS`."""

    square: int
    colour: str = "orange"


def read_last_move(given: int | str | tuple[Square, Square] | None) -> tuple[int, int] | None:
    """The two squares of the last move, from a packed move, coordinates ("e2e4", "e7e8q") or two squares."""
    if given is None or given == NO_MOVE:
        return None
    try:
        if isinstance(given, int):
            if given >> 31:
                raise ValueError("it is not a packed move")
            return _pair(*coordinate.squares(given))
        if isinstance(given, str):
            origin, target, promoted = given[:2], given[2:4], given[4:]
            if len(given) < 4 or promoted not in ("", "q", "r", "b", "n"):
                raise ValueError("it must name two squares, as in e2e4")
            return _pair(origin, target)
        return _pair(*given)
    except ValueError as error:
        raise ValueError(f"bad last move {shorten(repr(given))}: {error}") from None


def read_arrow(given: str | tuple[Square, Square] | tuple[Square, Square, str]) -> Arrow:
    """An arrow, from a text ("e2e4", "e2e4:blue") or from two squares and optionally a colour."""
    try:
        if isinstance(given, str):
            squares, *colour = given.split(":", 1)
            if len(squares) < 4:
                raise ValueError("it must name two squares, as in e2e4 or e2e4:blue")
            return Arrow(*_pair(squares[:2], squares[2:]), *map(_colour, colour))
        origin, target, *colour = given
        return Arrow(*_pair(origin, target), *map(_colour, colour))
    except ValueError as error:
        raise ValueError(f"bad arrow {shorten(repr(given))}: {error}") from None


def read_mark(given: Square | tuple[Square] | tuple[Square, str]) -> Mark:
    """A marked square, from a text ("e4", "e4:blue") or from a square and optionally a colour."""
    try:
        if isinstance(given, str):
            name, *colour = given.split(":", 1)
            return Mark(_square(name), *map(_colour, colour))
        if isinstance(given, int):
            return Mark(_square(given))
        sq, *colour = given
        return Mark(_square(sq), *map(_colour, colour))
    except ValueError as error:
        raise ValueError(f"bad mark {shorten(repr(given))}: {error}") from None


def _pair(origin: Square, target: Square) -> tuple[int, int]:
    """Two different squares."""
    found = _square(origin), _square(target)
    if found[0] == found[1]:
        raise ValueError("its two squares are the same")
    return found


def _square(given: Square) -> int:
    if isinstance(given, str):
        return square.parse(given)
    if given & ~0x77:
        raise ValueError(f"{given!r} is not a square")
    return given


def _colour(given: str) -> str:
    if given not in COLOURS:
        raise ValueError(f"{echo(given)} is not a colour: it must be {either(COLOURS)}")
    return given
