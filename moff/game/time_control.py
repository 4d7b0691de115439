"""Time controls: a clock such as 60+0.6, in seconds."""

from moff.messages import echo
from search.limits import Limits
from x88.piece import WHITE

LONGEST = 1e6
"""Seconds."""


def parse(text: str) -> Limits:
    """The limits of a clock: "60", "60+0.6", in seconds. Raises ValueError."""
    base, plus, increment = text.partition("+")
    try:
        seconds, gain = float(base), float(increment) if plus else 0
    except ValueError:
        seconds, gain = -1, 0
    if not (0 < seconds < LONGEST and 0 <= gain < LONGEST):
        raise ValueError(f"{echo(text)} is not a time in seconds, such as 60 or 60+0.6")
    milliseconds = max(1, int(seconds * 1000))
    return Limits(time=(milliseconds, milliseconds), increment=(int(gain * 1000), int(gain * 1000)))


def write(limits: Limits) -> str:
    """The text of a clock, as in PGN."""
    base, gain = (limits.time[WHITE] or 0) / 1000, limits.increment[WHITE] / 1000
    return f"{base:g}+{gain:g}" if gain else f"{base:g}"
