"""Time management: how much time to use for a move."""

import time
from typing import NamedTuple

from search.limits import MAX_LIMIT, Limits, check
from x88.piece import WHITE, checked_side

EXPECTED_MOVES = 21
"""Moves to budget for in sudden death, or when the next time control is further away. As the soft limit is
less than one move's share, the time lasts for more moves.
"""

SOFT = 0.85
"""The soft limit as a multiple of one move's share, before `TimeManager` adapts it."""

HARD = 3.5
"""The hard limit as a multiple of one move's share."""

FAIL_LOW = 1.5
"""While the best move has failed low, the hard limit is multiplied by this."""

LONGEST_LAG = 1000.0
"""A larger difference, in milliseconds, means that the clock was set anew and did not just run on."""

ROUNDING = -2.0
"""A negative lag down to this, in milliseconds, is rounding: clocks are read in whole milliseconds."""

OUTLIER = 20.0
"""A single lag counts as at most three times the mean plus this many milliseconds."""

RESERVE = 3
"""Overheads to keep in reserve for later moves, since a busy machine may lag more than once."""

STABILITY = (1.4, 1.2, 1.05, 0.95, 0.85, 0.8)
"""Factors of the soft limit, by the number of iterations since the best move changed."""


class Budget(NamedTuple):
    """The time for one move in milliseconds: start no new iteration after `soft`, and stop searching after
    `hard`; after `fail_low` if the best move has failed low and there is no better one yet. A search that has
    no move at all by then may continue until `grace`.
    """

    soft: float
    hard: float
    fail_low: float
    grace: float


class Lag:
    """The lag of moves in milliseconds: the time on the GUI's clock beyond what was planned, lost in
    communication or because the machine is busy. `mean` is a running mean, `longest` the longest lag, which
    decays.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Reset for a new game."""
        self.mean = 0.0
        self.longest = 0.0
        self._surplus = 0.0
        self._shown = 0
        self._due: float | None = None
        self._side = WHITE

    def begin(self, limits: Limits, side: int) -> None:
        """Compare the clock before a search with what the last search should have left on it."""
        due, self._due = self._due, None
        left = limits.time[checked_side(side)]
        if due is None or left is None or side != self._side:
            return
        lag = due - left
        if abs(lag) > LONGEST_LAG:
            return
        if left == self._shown:
            lag = min(lag, 0.0)  # the clock is not running
        # A clock sent in whole seconds is sometimes too low, sometimes too high.
        lag += self._surplus
        self._surplus = max(lag, -LONGEST_LAG) if lag < ROUNDING else 0.0
        lag = max(0.0, lag)
        self.mean += (min(lag, 3 * self.mean + OUTLIER) - self.mean) / 8
        self.longest = max(lag, 0.95 * self.longest)

    def end(self, limits: Limits, side: int, budget: Budget | None, elapsed: float) -> None:
        """Record what should be left on the clock after a search of `elapsed` milliseconds."""
        left = limits.time[checked_side(side)]
        if left is None or budget is None or limits.movetime is not None or limits.ponder:
            return
        self._side = side
        self._shown = left
        self._due = left + limits.increment[side] - min(elapsed, budget.fail_low)


def budget(limits: Limits, side: int, lag: Lag | None = None) -> Budget | None:
    """The time for the side to move, None if unlimited. A missing clock equals the opponent's. The usual lag
    is reserved for this move and for those to come. Raises ValueError or TypeError for bad limits.

    With less than RESERVE overheads left, a move gets less than the increment, so that the clock recovers.
    """
    check(limits)
    checked_side(side)
    if limits.movetime is not None:
        allowed = max(1, limits.movetime - limits.overhead)
        return Budget(allowed, allowed, allowed, allowed)
    left = limits.time[side] if limits.time[side] is not None else limits.time[side ^ 1]
    increment = max(0, limits.increment[side])
    if left is None:
        # Without a clock, the increment is all the time there is for the move.
        increment = increment or limits.increment[side ^ 1]
        if increment <= 0:
            return None
        left = increment
    moves = EXPECTED_MOVES if limits.movestogo is None else max(1, min(limits.movestogo, EXPECTED_MOVES))
    overhead = float(limits.overhead)
    if lag:
        overhead = max(overhead, min(2 * lag.longest, left / 2))
    usable = max(1.0, left - overhead)
    # The increment is added after the move, so the limits below never exceed the time on the clock now.
    # After the last move before a time control, the clock is set anew.
    reserve = RESERVE * overhead if moves > 1 else 0.0
    share = max(usable - reserve, 0.2 * usable) / moves + 0.75 * increment * usable / max(usable, reserve)
    if lag:
        share = max(share - lag.mean, 0.2 * share)
    # The last move before the time control may use nearly all of it; otherwise a hard move gets a few shares.
    longest = usable * (0.9 if moves == 1 else 0.5)
    hard = min(HARD * share, longest)
    return Budget(min(SOFT * share, hard), hard, min(FAIL_LOW * hard, longest), usable)


class TimeManager:
    """Decides after each iteration whether to start another one.

    The soft limit grows while the best move changes, while the score drops, and while other moves take most
    of the nodes. A stable best move is played sooner.
    """

    def __init__(self, limits: Limits, side: int, lag: Lag | None = None) -> None:
        self.budget = budget(limits, side, lag)
        self._adapts = limits.movetime is None
        self._best = 0
        self._stability = 0
        self._score: float | None = None
        self._soft = self.budget.soft if self.budget else 0.0

    def after_iteration(self, best: int, score: int, share: float) -> None:
        """Update the soft limit after an iteration: its best move, the score in centipawns, and the share of
        all nodes spent on that move, from 0 to 1.
        """
        self._stability = self._stability + 1 if best == self._best else 0
        self._best = best
        fall = 0.0 if self._score is None else self._score - score
        # A running mean: the effect of one bad iteration fades quickly.
        self._score = score if self._score is None else (self._score + score) / 2
        if self.budget is None or not self._adapts:
            return
        stretch = STABILITY[min(self._stability, len(STABILITY) - 1)]
        stretch *= min(max(1.65 - share, 0.7), 1.4)
        stretch *= min(max(1 + fall / 80, 0.9), 1.6)
        self._soft = min(self.budget.soft * stretch, self.budget.hard)

    def should_stop(self, elapsed: float) -> bool:
        """Whether the soft limit has passed `elapsed` milliseconds after the start."""
        return self.budget is not None and elapsed >= self._soft


class NodeClock:
    """A game clock that counts nodes (`Limits.nodestime`). It reads the GUI's clock only at the start of a
    game and of each time control.
    """

    def __init__(self) -> None:
        self._rate = 0
        self._base = 0.0
        self._left: float | None = None
        self._to_go: int | None = None

    def forget(self) -> None:
        """Reset for a new game."""
        self._left = None

    def limits(self, limits: Limits, side: int) -> Limits:
        """The limits with the time of this clock, for the side to move."""
        # A clock of nodes loses nothing in communication.
        check(limits)
        checked_side(side)
        limits = limits._replace(overhead=0)
        left = limits.time[side] if limits.time[side] is not None else limits.time[side ^ 1]
        if left is None or limits.movetime is not None:
            return limits
        if self._left is None or limits.nodestime != self._rate:
            self._rate = limits.nodestime
            self._left = self._base = float(left * limits.nodestime)
        elif limits.movestogo is not None and self._to_go is not None and limits.movestogo > self._to_go:
            self._left += self._base
        self._to_go = limits.movestogo
        milliseconds = max(1, min(int(self._left / self._rate), MAX_LIMIT))
        return limits._replace(time=(milliseconds, milliseconds))

    def spend(self, nodes: int, increment: int) -> None:
        """Subtract the nodes of a move and add its increment in milliseconds."""
        if self._left is not None:
            self._left = max(1.0, self._left + increment * self._rate - nodes)


class Clock:
    """Milliseconds since the search began."""

    def __init__(self, started: float | None = None) -> None:
        """`started` is a reading of `time.perf_counter`, default now. Raises ValueError for a later time."""
        now = time.perf_counter()
        if started is not None and not started <= now:
            raise ValueError(f"a search cannot have started at {started}, which is to come")
        self.started = now if started is None else started

    def elapsed(self) -> float:
        """Milliseconds since the start."""
        return (time.perf_counter() - self.started) * 1000
