"""Time management: how long to think about a move."""

import time
from typing import NamedTuple

from search.limits import Limits

EXPECTED_MOVES = 30
"""How many more moves a game without a next time control is planned for."""

STEADY = (1.4, 1.2, 1.05, 0.95, 0.85, 0.8)
"""Stretches the soft limit by how many iterations the best move has been the same."""


class Budget(NamedTuple):
    """The time for one move in milliseconds: no new iteration after `soft`, no more search after `hard`; a
    search that has no move by then may go on until `last`.
    """

    soft: float
    hard: float
    last: float


def budget(limits: Limits, side: int) -> Budget | None:
    """The time for the side to move, None if unlimited; a missing clock runs like the other one."""
    if limits.movetime is not None:
        allowed = max(1, limits.movetime)
        return Budget(allowed, allowed, allowed)
    left = limits.time[side] if limits.time[side] is not None else limits.time[side ^ 1]
    increment = limits.increment[side]
    if left is None:
        # An increment alone is all the time there is for a move.
        increment = increment or limits.increment[side ^ 1]
        if not increment:
            return None
        left = increment
    moves = EXPECTED_MOVES if limits.movestogo is None else max(1, min(limits.movestogo, EXPECTED_MOVES))
    usable = max(1.0, left - limits.overhead)
    # The increment comes after the move: what is on the clock now is all there is to overstep.
    share = usable / moves + 0.75 * increment
    # With one move to go the whole rest may be used; with many, an unclear move may take a few shares.
    most = usable * (0.9 if moves == 1 else 0.5)
    hard = min(3.5 * share, most)
    return Budget(min(0.65 * share, hard), hard, usable)


class TimeManager:
    """Decides after every iteration whether another one is worth its time.

    The soft limit is stretched while the best move changes, while the score falls, and while other moves take
    most of the nodes; an undisputed move is played sooner.
    """

    def __init__(self, limits: Limits, side: int) -> None:
        self.budget = budget(limits, side)
        self._adapts = limits.movetime is None
        self._best = 0
        self._same = 0
        self._score: float | None = None
        self._soft = self.budget.soft if self.budget else 0.0

    def after_iteration(self, best: int, score: int, share: float) -> None:
        """Take in the best move of an iteration, its score in centipawns, and its share of all nodes so far,
        from 0 to 1.
        """
        self._same = self._same + 1 if best == self._best else 0
        self._best = best
        fall = 0.0 if self._score is None else self._score - score
        # A running mean: one bad iteration is forgotten soon.
        self._score = score if self._score is None else (self._score + score) / 2
        if self.budget is None or not self._adapts:
            return
        stretch = STEADY[min(self._same, len(STEADY) - 1)]
        stretch *= min(max(1.65 - share, 0.7), 1.4)
        stretch *= min(max(1 + fall / 80, 0.9), 1.6)
        self._soft = min(self.budget.soft * stretch, self.budget.hard)

    def is_enough(self, elapsed: float) -> bool:
        """Whether no further iteration is to begin, `elapsed` milliseconds after the start."""
        return self.budget is not None and elapsed >= self._soft


class NodeClock:
    """A game's clock that counts nodes (`Limits.nodestime`): what the GUI's says counts only where a game or
    a time control begins.
    """

    def __init__(self) -> None:
        self._rate = 0
        self._base = 0.0
        self._left: float | None = None
        self._to_go: int | None = None

    def forget(self) -> None:
        """Another game begins."""
        self._left = None

    def limits(self, limits: Limits, side: int) -> Limits:
        """The limits with what this clock says, for the side to move."""
        left = limits.time[side] if limits.time[side] is not None else limits.time[side ^ 1]
        if left is None or limits.movetime is not None:
            return limits
        if self._left is None or limits.nodestime != self._rate:
            self._rate = limits.nodestime
            self._left = self._base = float(left * limits.nodestime)
        elif limits.movestogo is not None and self._to_go is not None and limits.movestogo > self._to_go:
            self._left += self._base
        self._to_go = limits.movestogo
        milliseconds = max(1, int(self._left / self._rate))
        return limits._replace(time=(milliseconds, milliseconds), overhead=0)

    def spend(self, nodes: int, increment: int) -> None:
        """Take off what a move has cost, and add its increment in milliseconds."""
        if self._left is not None:
            self._left = max(1.0, self._left + increment * self._rate - nodes)


class Clock:
    """Milliseconds since the search began."""

    def __init__(self, started: float | None = None) -> None:
        """`started` is a reading of `time.perf_counter`, now if None."""
        self.started = time.perf_counter() if started is None else started

    def elapsed(self) -> float:
        """Milliseconds since then."""
        return (time.perf_counter() - self.started) * 1000
