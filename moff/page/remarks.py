"""Commands in comments of PGN: evaluations, clocks, arrows and circles.

%clk and its like are from Alan Cowderoy's supplement to the PGN standard (2001); %csl and %cal are
ChessBase's, %eval is lichess's.
"""

import re
from typing import NamedTuple

from search.score import MATE
from x88 import square

COLOURS = {"G": "green", "R": "red", "B": "blue", "Y": "yellow"}
"""The colours of arrows and circles, by their letters."""

_COMMAND = re.compile(r"\s*\[%(\w+)\s+([^[\]]*)\]\s*")
_EVALUATION = re.compile(r"(#?)([+-]?\d+(?:\.\d+)?)(?:\s*,\s*(\d+))?\s*")
_CLOCK = re.compile(r"\d+:\d\d?:\d\d?(?:\.\d+)?")
_SHAPE = re.compile(r"([GRBY])([a-h][1-8])([a-h][1-8])?")

FARTHEST_MATE = 120
"""Moves to a mate that is believed."""


class Shape(NamedTuple):
    """An arrow, or a circle where both squares are the same; `colour` is one of `COLOURS`' values."""

    colour: str
    origin: str
    target: str


class Remarks(NamedTuple):
    """A comment, taken apart."""

    text: str = ""
    score: int | None = None
    """Centipawns or a mate, from White's view."""
    depth: int = 0
    """Plies; 0 if unknown."""
    clock: str = ""
    """The time left to the side that has moved: hours, minutes and seconds."""
    shapes: tuple[Shape, ...] = ()
    rest: str = ""
    """Other commands, as they were."""


def read(comment: str, is_black_mated: bool = False) -> Remarks:
    """Take a comment apart. A mate in 0 moves says by `is_black_mated` whose it is."""
    found = Remarks()
    rest = []
    for command, value in _COMMAND.findall(comment):
        known: Remarks | None = None
        if command == "eval":
            known = _with_score(found, value, is_black_mated)
        elif command == "clk" and _CLOCK.fullmatch(value.strip()):
            known = found._replace(clock=value.strip())
        elif command in ("cal", "csl"):
            known = _with_shapes(found, value)
        if known is None:
            rest.append(f"[%{command} {value}]")
        else:
            found = known
    return found._replace(text=_COMMAND.sub(" ", comment).strip(), rest=" ".join(rest))


def write(remarks: Remarks, evaluation: str) -> str:
    """The comment; `evaluation` is the text of the score, empty if there is none."""
    parts = []
    if evaluation:
        parts.append(f"[%eval {evaluation}{f',{remarks.depth}' if remarks.depth else ''}]")
    if remarks.clock:
        parts.append(f"[%clk {remarks.clock}]")
    letters = {colour: letter for letter, colour in COLOURS.items()}
    circles = [letters[one.colour] + one.origin for one in remarks.shapes if one.origin == one.target]
    arrows = [letters[s.colour] + s.origin + s.target for s in remarks.shapes if s.origin != s.target]
    for command, names in (("csl", circles), ("cal", arrows)):
        if names:
            parts.append(f"[%{command} {','.join(names)}]")
    return " ".join(filter(None, (*parts, remarks.rest, remarks.text)))


def read_shapes(given: object) -> tuple[Shape, ...]:
    """Shapes from JSON: lists of a colour and two squares. Raises ValueError."""
    if not isinstance(given, list) or len(given) > MOST_SHAPES:
        raise ValueError(f"shapes takes a list of at most {MOST_SHAPES}")
    found = []
    for one in given:
        if not (isinstance(one, list) and len(one) == 3 and one[0] in COLOURS.values()):
            raise ValueError("a shape has a colour and two squares")
        for name in one[1:]:
            square.parse(str(name))
        found.append(Shape(*one))
    return tuple(found)


MOST_SHAPES = 64


def _with_score(found: Remarks, text: str, is_black_mated: bool) -> Remarks | None:
    match = _EVALUATION.fullmatch(text)
    if match is None:
        return None
    depth = min(int(match[3] or 0), 999)
    if not match[1]:
        pawns = float(match[2])
        return None if abs(pawns) > 200 else found._replace(score=round(100 * pawns), depth=depth)
    moves = int(float(match[2]))
    if abs(moves) > FARTHEST_MATE:
        return None
    if moves == 0:
        score = MATE if is_black_mated else -MATE
    else:
        score = MATE + 1 - 2 * moves if moves > 0 else -MATE - 2 * moves
    return found._replace(score=score, depth=depth)


def _with_shapes(found: Remarks, text: str) -> Remarks | None:
    shapes = []
    for name in filter(None, (name.strip() for name in text.split(","))):
        match = _SHAPE.fullmatch(name)
        if match is None:
            return None
        shapes.append(Shape(COLOURS[match[1]], match[2], match[3] or match[2]))
    return found._replace(shapes=(*found.shapes, *shapes))
