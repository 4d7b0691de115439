"""Text and shapes for SVG."""

import math
import re
from collections.abc import Iterable
from html import escape

# In units of a picture; a square is 100 by 100 units.
_SHAFT = 7.0
_HEAD = 20.0
_HEAD_LENGTH = 34.0
_ARROW_START = 22.0

_UNKNOWN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escaped(text: str) -> str:
    """Text for XML: characters that XML does not allow are replaced."""
    return _UNKNOWN.sub("\ufffd", escape(text, quote=False))


def layer(name: str, attributes: str, lines: list[str]) -> list[str]:
    """A group of elements; nothing if there are none."""
    return [f'<g data-layer="{name}" {attributes}>', *lines, "</g>"] if lines else []


def polygon(points: Iterable[tuple[float, float]]) -> str:
    """A closed path; a tenth of a unit is precise enough, and the same on every machine."""
    return "M" + "L".join(f"{round(x, 1):g} {round(y, 1):g}" for x, y in points) + "z"


def arrow_outline(start: tuple[int, int], tip: tuple[int, int]) -> list[tuple[float, float]]:
    """The corners of an arrow between the centres of two squares, from its start round the tip and back. A
    knight's arrow has a bend: first the longer leg, then the shorter one.
    """
    across, down = tip[0] - start[0], tip[1] - start[1]
    if sorted((abs(across), abs(down))) == [100, 200]:
        bend = (tip[0], start[1]) if abs(across) > abs(down) else (start[0], tip[1])
        first, second = _direction(start, bend), _direction(bend, tip)
    else:
        bend = None
        first = second = _direction(start, tip)
    begin = _moved(start, first, _ARROW_START)
    neck = _moved(tip, second, -_HEAD_LENGTH)

    def side(sign: int) -> list[tuple[float, float]]:
        """One side of the arrow, from its start to the head."""
        points = [_moved(begin, _turned(first), sign * _SHAFT)]
        if bend is not None:
            points.append(_moved(_moved(bend, _turned(first), sign * _SHAFT), _turned(second), sign * _SHAFT))
        return [*points, *(_moved(neck, _turned(second), sign * width) for width in (_SHAFT, _HEAD))]

    return [*side(1), tip, *reversed(side(-1))]


def _direction(start: tuple[int, int], end: tuple[int, int]) -> tuple[float, float]:
    across, down = end[0] - start[0], end[1] - start[1]
    length = math.hypot(across, down)
    return across / length, down / length


def _turned(direction: tuple[float, float]) -> tuple[float, float]:
    """The direction at a right angle to this one."""
    return -direction[1], direction[0]


def _moved(point: tuple[float, float], direction: tuple[float, float], length: float) -> tuple[float, float]:
    return point[0] + length * direction[0], point[1] + length * direction[1]
