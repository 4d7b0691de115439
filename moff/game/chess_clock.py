"""The clocks of the two sides of a game."""

import threading
from collections.abc import Callable

from search.limits import Limits
from x88.piece import BLACK, WHITE

SHORTEST_ALARM = 0.01
"""Seconds; a timer may ring a little too soon, and is then set again."""


class ChessClock:
    """The time that both sides have left, in milliseconds. A side may play without a clock.

    The times after every move are kept, so that taking back a move restores the time it took.
    """

    def __init__(self, now: Callable[[], float], ring: Callable[[], object] | None = None) -> None:
        """Neither side has a clock yet. `now` returns the time in seconds. `ring` is called, in a thread of
        its own, when the time of a side may be up; without it no flag falls.
        """
        self._now = now
        self._ring = ring
        self._alarm: threading.Timer | None = None
        self._paces: list[Limits | None] = [None, None]
        self._left = [0.0, 0.0]
        self._after: list[list[float]] = [[0.0, 0.0]]
        self._ply = 0
        self._running: int | None = None
        self._since = 0.0

    def set(self, side: int, pace: Limits | None) -> None:
        """Give a side a full clock (`time_control`), or none. It counts as full at earlier moves."""
        running = self._running
        self.stop()
        self._paces[side] = pace
        for left in (self._left, *self._after):
            left[side] = float(pace.time[WHITE] or 0) if pace else 0.0
        if running is not None:
            self.start(running)

    def reset(self) -> None:
        """Stop, before the first move, with full clocks."""
        self.stop()
        self._ply = 0
        for side in (WHITE, BLACK):
            self.set(side, self._paces[side])

    def swap(self) -> None:
        """Stop, and exchange the clocks of the sides."""
        self.stop()
        self._paces.reverse()
        self._left.reverse()
        for left in self._after:
            left.reverse()

    def pace(self, side: int) -> Limits | None:
        """The clock that a side was given, None if it has none."""
        return self._paces[side]

    def left(self, side: int) -> float | None:
        """The time that a side has left, negative if it has overstepped; None without a clock."""
        if self._paces[side] is None:
            return None
        return self._left[side] - (self._spent() if self._running == side else 0.0)

    def running(self) -> int | None:
        """The side with the running clock, None if both are stopped."""
        return self._running

    def fallen(self) -> int | None:
        """The side with a fallen flag, None if there is none."""
        side = self._running
        if self._ring is None or side is None or self._paces[side] is None:
            return None
        return side if self._left[side] <= self._spent() else None

    def start(self, side: int) -> None:
        """Let the clock of a side run."""
        self.stop()
        self._running = side
        self._since = self._now()
        self.set_alarm()

    def stop(self) -> None:
        """Stop both clocks."""
        if self._running is not None:
            self._left[self._running] -= self._spent()
            self._running = None
            self.set_alarm()

    def press(self, side: int) -> None:
        """A side has moved: stop, add its increment, and keep the times."""
        self.stop()
        pace = self._paces[side]
        if pace is not None:
            self._left[side] += pace.increment[WHITE]
        self._ply += 1
        self._after[self._ply :] = [list(self._left)]

    def go_to(self, ply: int) -> None:
        """Stop, with the times after `ply` moves. Later times stay available until another move is made."""
        self.stop()
        self._ply = ply
        self._left = list(self._after[ply])

    def set_alarm(self) -> None:
        """Ring when the time of the running clock is up; to be set again if it rang too early."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        left = None if self._running is None else self.left(self._running)
        if self._ring is not None and left is not None:
            self._alarm = threading.Timer(max(left / 1000, SHORTEST_ALARM), self._ring)
            self._alarm.daemon = True
            self._alarm.start()

    def _spent(self) -> float:
        """The milliseconds since the running clock was started."""
        return (self._now() - self._since) * 1000
