"""One search from `go` to its result: its limits, its clock, and when it ends.

| event | reported by | state |
|---|---|---|
| the search begins, and ends | its thread | `_is_running` |
| the expected move was played | `ponderhit` | no longer `_is_pondering` |
| the move is wanted now | `stop` | `_is_stopped` |
| another iteration is not worth its time | `after_iteration` | `_is_satisfied` |
| the hard limit of time or nodes is reached | the searching threads themselves | the stop signal |

Every change of state is followed by `_decide`, the one place that ends a search and releases its result.
"""

import threading

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from search.clock import Budget, Clock, TimeManager
from search.limits import Limits

if not cython.compiled:
    from search.pool import Pool
    from search.score import MAX_PLY
    from search.searcher import Searcher
    from search.stop import Stop
    from x88.atomic import plain

FORCED_DEPTH = 5
"""The depth for a forced move, in plies: enough for a move to ponder on."""

GRACE = 50 if cython.compiled else 1000
"""Milliseconds that a search told to end may still take to find its first move, within its clock."""

SHORT = 20.0
"""A search of at most this many milliseconds is not worth another thread, which on a busy machine might have
to wait that long for a processor.
"""

MAX_TIME = 10**9
"""Milliseconds that count as unlimited."""

MAX_NODES = 1 << 62
"""A node limit far beyond any search."""


class Job:
    """Created for each search, and dropped with its result."""

    def __init__(self, limits: Limits, manager: TimeManager, clock: Clock, pool: Pool) -> None:
        self.limits = limits
        self.clock = clock
        self.is_done = False
        self._manager = manager
        self._pool = pool
        self._first: Searcher = pool.first
        self._stop: Stop = pool.stop
        self._lock = threading.Lock()
        self._released = threading.Event()
        self._is_running = False
        self._is_pondering = limits.ponder
        self._is_stopped = False
        self._is_satisfied = False
        self._nodes_pondered = 0

    # Called by the front end.

    def stop(self) -> None:
        """The move is wanted now."""
        with self._lock:
            self._is_stopped = True
            self._decide()

    def ponderhit(self) -> None:
        """The expected move was played: the clock starts now, and the search so far counts."""
        with self._lock:
            if not self._is_pondering:
                return
            self._is_pondering = False
            self._nodes_pondered = nodes = self._pool.published_nodes()
            if self._is_unlimited() or self._manager.should_stop(self._elapsed(nodes)):
                self._is_satisfied = True
            elif self._is_running:
                self._start_clock(0.0, nodes)
            self._decide()

    # Called by the searching thread.

    def begin(self) -> None:
        """The search begins."""
        with self._lock:
            self._is_running = True
            if not self._is_pondering:
                self._start_clock(self.clock.elapsed(), 0)
            self._decide()

    def has_move(self) -> None:
        """There is a move to play: from now on the search may end at any time."""
        with self._lock:
            self._first.has_move = True
            self._decide()
        self._first.check_time()

    def after_iteration(self, best: int, score: int, share: float, depth: int, count: int) -> bool:
        """Process the best move of an iteration, its score in centipawns, its share of all nodes so far, the
        depth, and the number of moves to choose from; returns whether that was the last iteration.
        """
        self._manager.after_iteration(best, score, share)
        nodes = self.limits.nodes
        with self._lock:
            if self._manager.budget is not None:
                self._is_satisfied = self._manager.should_stop(self._elapsed(self._pool.nodes())) or (
                    self.limits.movetime is None and count == 1 and depth >= FORCED_DEPTH
                )
            return self._ends() or (nodes is not None and self._pool.nodes() >= nodes)

    def end(self) -> None:
        """The search has ended."""
        with self._lock:
            self._is_running = False

    def wait_for_release(self) -> None:
        """Wait until the result may be reported."""
        if self.limits.infinite or self._is_pondering:
            self._released.wait()

    # What follows from these.

    def deepest(self) -> int:
        """The depth of the last iteration: at least one ply, since a move is wanted in any case."""
        return MAX_PLY - 1 if self.limits.depth is None else max(1, min(self.limits.depth, MAX_PLY - 1))

    def is_open_to_votes(self) -> bool:
        """Whether another thread's line may be played: not with a depth limit, several lines or a mate
        search.
        """
        return self.limits.lines == 1 and self.limits.depth is None and self.limits.mate is None

    def ends_with_any_thread(self) -> bool:
        """Whether any thread may finish the last iteration: not with several lines or a search for a mate,
        which are the main thread's.
        """
        return self.limits.lines == 1 and self.limits.depth is not None and self.limits.mate is None

    def is_short(self) -> bool:
        """Whether the clock ends the search within SHORT milliseconds."""
        budget = self._manager.budget
        limits = self.limits
        if budget is None or limits.infinite or limits.ponder or limits.nodestime:
            return False
        return budget.rescue <= SHORT

    def is_urgent(self) -> bool:
        """Whether the move is awaited, rather than the work of all threads."""
        return self._is_stopped or self._is_satisfied or self._manager.budget is not None

    def budget(self) -> Budget | None:
        """The time for the move, None if unlimited."""
        return self._manager.budget

    def nodes_on_clock(self) -> int:
        """The nodes that the search has cost on a clock that counts nodes; pondering is free."""
        nodes = self._pool.nodes()
        return nodes - (nodes if self._is_pondering else self._nodes_pondered)

    def _ends(self) -> bool:
        return self._is_stopped or (self._is_satisfied and not self._is_pondering)

    def _decide(self) -> None:
        """End the search if it is to end, and release the result if allowed."""
        if self._ends() and self._is_running:
            if self._first.has_move:
                self._stop.set()
            else:
                grace = float(GRACE)
                budget = self._manager.budget
                if budget is not None and not self._is_pondering and not self.limits.nodestime:
                    grace = min(grace, budget.grace - self.clock.elapsed())
                self._first.limit_time(0.0, 0.0, grace)
        if self._is_stopped or not (self.limits.infinite or self._is_pondering):
            self._released.set()

    def _start_clock(self, elapsed: float, nodes: int) -> None:
        """Set the time limits, of which `elapsed` milliseconds have passed; on a clock that counts nodes,
        `nodes` were searched before it started.
        """
        budget = self._manager.budget
        if budget is None:
            return
        if self.limits.nodestime:
            most = nodes + max(1, int(budget.hard * self.limits.nodestime))
            self._first.node_limit = plain(min(plain(self._first.node_limit) or MAX_NODES, most))
        else:
            hard, rescue, grace = (min(limit - elapsed, MAX_TIME) for limit in budget[1:])
            self._first.limit_time(hard, rescue, grace)

    def _elapsed(self, nodes: int) -> float:
        """Milliseconds of the search so far, by its clock, after `nodes` nodes."""
        if self.limits.nodestime:
            return nodes / self.limits.nodestime
        return self.clock.elapsed()

    def _is_unlimited(self) -> bool:
        limits = self.limits
        limited = (limits.depth, limits.nodes, limits.mate, limits.movetime, *limits.time)
        return not limits.infinite and limited == (None,) * 6 and not any(limits.increment)
