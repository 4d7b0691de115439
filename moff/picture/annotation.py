"""Annotations of a board: arrows, marked squares, the last move."""

from typing import NamedTuple

from moff.messages import echo, either, shorten
from x88 import square
from x88.move import NO_MOVE
from x88.notation import coordinate

Square = int | str
"""A square of the board: its name, or its number from 0 to 63 as in `moff.library.squares`."""

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
    """An arrow from one square to another, by their names, in one of `COLOURS`."""

    origin: str
    target: str
    colour: str = "green"


class Mark(NamedTuple):
    """A marked square, by its name, in one of `COLOURS`."""

    square: str
    colour: str = "orange"


def read_last_move(given: object) -> tuple[str, str] | None:
    """The two squares of the last move, from a move of the library, a packed move, coordinates ("e2e4",
    "e7e8q") or two squares.
    """
    if given is None or given == NO_MOVE or str(given) == "0000":
        return None
    try:
        if isinstance(given, int):
            if given >> 31:
                raise ValueError("it is not a packed move")
            return _pair(*map(square.name, coordinate.squares(given)))
        if isinstance(given, tuple | list):
            return _pair(*given)
        text = str(given)
        if len(text) < 4 or text[4:] not in ("", "q", "r", "b", "n"):
            raise ValueError("it must name two squares, as in e2e4")
        return _pair(text[:2], text[2:4])
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


def _pair(origin: Square, target: Square) -> tuple[str, str]:
    """The names of two different squares."""
    found = _square(origin), _square(target)
    if found[0] == found[1]:
        raise ValueError("its two squares are the same")
    return found


def _square(given: Square) -> str:
    """The name of a square."""
    if isinstance(given, str):
        return square.name(square.parse(given))
    if not 0 <= given < 64:
        raise ValueError(f"{given!r} is not a square")
    return square.name(given + (given & 56))


def _colour(given: str) -> str:
    if given not in COLOURS:
        raise ValueError(f"{echo(given)} is not a colour: it must be {either(COLOURS)}")
    return given
