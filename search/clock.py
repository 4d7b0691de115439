"""Time management: how long to think about a move."""

import time
from typing import NamedTuple

from search.limits import Limits

OVERHEAD = 20
"""Milliseconds kept back for a move's way to the GUI and its clock."""

EXPECTED_MOVES = 30
"""How many more moves a game without a next time control is planned for."""


class Budget(NamedTuple):
    """The time for one move in milliseconds: no new iteration after `soft`, no more search after `hard`."""

    soft: float
    hard: float


def budget(limits: Limits, side: int) -> Budget | None:
    """The time for the side to move, None if unlimited; a missing clock runs like the other one."""
    if limits.movetime is not None:
        allowed = max(1, limits.movetime)
        return Budget(allowed, allowed)
    left = limits.time[side] if limits.time[side] is not None else limits.time[side ^ 1]
    if left is None:
        return None
    moves = EXPECTED_MOVES if limits.movestogo is None else max(1, min(limits.movestogo, EXPECTED_MOVES))
    usable = max(1.0, left - OVERHEAD)
    # The increment comes after the move: what is on the clock now is all there is to overstep.
    share = usable / moves + 0.75 * limits.increment[side]
    # With one move to go the whole rest may be used; with many, an unclear move may take a few shares.
    most = usable * (0.9 if moves == 1 else 0.5)
    hard = min(3.5 * share, most)
    return Budget(min(0.65 * share, hard), hard)


class Clock:
    """Milliseconds since the search began."""

    def __init__(self, started: float | None = None) -> None:
        """`started` is a reading of `time.perf_counter`, now if None."""
        self.started = time.perf_counter() if started is None else started

    def elapsed(self) -> float:
        """Milliseconds since then."""
        return (time.perf_counter() - self.started) * 1000
