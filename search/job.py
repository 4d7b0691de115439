"""One search from `go` to its result: its limits, its clock, its reports, and when it ends.

| event | reported by | state |
|---|---|---|
| the search begins, and ends | its thread | `_is_running` |
| there is a move to play | its thread | `_searcher.has_move` |
| the expected move was played | `ponderhit` | no longer `_is_pondering` |
| the move is wanted now | `stop` | `_is_stopped` |
| another iteration is not worth its time | `after_iteration` | `_is_satisfied` |
| the hard limit of time or nodes is reached | the searching threads themselves | the stop signal |

Every change of state is followed by `_decide`, the one place that ends a search and releases its result.
"""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from search.limits import Limits
from search.line import LOWER_BOUND, UPPER_BOUND, Line, Progress, Report, Statistics
from search.pool import Pool
from search.score import MAX_PLY, mate_distance, normalised
from search.timeman import Budget, Clock, TimeManager
from x88 import build

if TYPE_CHECKING:
    from search.syzygy.root import Ranking

FORCED_DEPTH = 5
"""The depth for a forced move, in plies: enough for a move to ponder on."""

GRACE = 50 if build.compiled else 1000
"""Extra milliseconds for a stopped search that has no move yet, within its clock."""

SHORT = 20.0
"""A search of at most this many milliseconds is not worth another thread, which on a busy machine might have
to wait that long for a processor.
"""

MAX_TIME = 10**9
"""Milliseconds that count as unlimited."""

MAX_NODES = 1 << 62
"""A node limit far beyond any search."""

REPORT_DELAY = 1000
"""Report root moves and fail highs and lows only after this many milliseconds."""


def ignore(_report: object) -> None:
    """The default callback."""


Callbacks = tuple[Callable[[Report], object], Callable[[Progress], object], Callable[[Statistics], object]]


class Job:
    """Created for each search, and dropped with its result."""

    ranking: "Ranking | None" = None
    """The root moves ranked by the tablebases, if they could be."""

    depth = 0
    """The current iteration."""

    number = 1
    """The line being searched, from 1 (MultiPV)."""

    def __init__(
        self,
        limits: Limits,
        manager: TimeManager,
        clock: Clock,
        pool: Pool,
        is_full_strength: bool = True,
        callbacks: Callbacks = (ignore, ignore, ignore),
        repeat_delay: float = 0.0,
    ) -> None:
        """The callbacks are `Search.start`'s `on_report`, `on_progress` and `on_statistics`."""
        self.limits = limits
        self.clock = clock
        self.pool = pool
        self.is_done = False
        self.expected: list[int] = []
        """The line of the last iteration that the current one follows."""
        self._on_report, self._on_progress, self._on_statistics = callbacks
        self._repeat_delay = repeat_delay
        self._reported: list[Line] = []
        self._reported_at = 0.0
        self._is_full_strength = is_full_strength
        self._manager = manager
        self._searcher = pool.first
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
            self._nodes_pondered = nodes = self.pool.published_nodes()
            if self._is_unlimited() or self._manager.should_stop(self._elapsed(nodes)):
                self._is_satisfied = True
            elif self._is_running:
                self._start_clock(0.0, nodes)
            self._decide()

    # Called by the searching thread.

    def begin(self, moves: list[int]) -> None:
        """The search begins, of these root moves if there are any. Helpers begin, too, unless the strength is
        limited, which is calibrated for one thread, or the clock counts nodes, which makes games repeatable.
        """
        if self._is_full_strength and not self.limits.nodestime and not self.is_short():
            last = self.deepest() if self.ends_with_any_thread() else 0
            self.pool.start_helpers(moves, self.limits.nodes or 0, last)
        searcher = self._searcher
        searcher.on_bound = self._report_bound
        if self._on_progress is not ignore or self._on_statistics is not ignore:
            searcher.on_root_move = self._report_root_move
            searcher.on_tick = self._tick
            searcher.tick_after(REPORT_DELAY - self.clock.elapsed())
        with self._lock:
            self._is_running = True
            if not self._is_pondering:
                self._start_clock(self.clock.elapsed(), 0)
            self._decide()

    def has_move(self) -> None:
        """There is a move to play: from now on the search may end at any time."""
        with self._lock:
            self._searcher.has_move = True
            self._decide()
        self._searcher.check_time()

    def after_iteration(self, best: int, score: int, share: float, depth: int, count: int) -> bool:
        """Process the best move of an iteration, its score in centipawns, its share of all nodes so far, the
        depth, and the number of moves to choose from; returns whether that was the last iteration.
        """
        self._manager.after_iteration(best, score, share)
        nodes = self.limits.nodes
        with self._lock:
            if self._manager.budget is not None:
                self._is_satisfied = self._manager.should_stop(self._elapsed(self.pool.nodes())) or (
                    self.limits.movetime is None and count == 1 and depth >= FORCED_DEPTH
                )
            return self._ends() or (nodes is not None and self.pool.nodes() >= nodes)

    def end(self) -> None:
        """The search has ended, and so do the helpers."""
        with self._lock:
            self._is_running = False
        self.pool.stop_helpers(self.is_urgent())
        searcher = self._searcher
        searcher.is_reporting = False
        searcher.on_root_move = searcher.on_tick = searcher.on_bound = None

    def wait_for_release(self) -> None:
        """Wait until the result may be reported."""
        if self.limits.infinite or self._is_pondering:
            self._released.wait()

    # What follows from these.

    def deepest(self) -> int:
        """The depth of the last iteration: at least one ply, since a move is wanted in any case."""
        return MAX_PLY - 1 if self.limits.depth is None else max(1, min(self.limits.depth, MAX_PLY - 1))

    def is_open_to_votes(self) -> bool:
        """Whether a vote may replace the line: not with a depth limit, several lines or a mate search."""
        return self.limits.lines == 1 and self.limits.depth is None and self.limits.mate is None

    def ends_with_any_thread(self) -> bool:
        """Whether any thread may finish the last iteration: a single line to a depth, and no mate search."""
        return self.limits.lines == 1 and self.limits.depth is not None and self.limits.mate is None

    def is_short(self) -> bool:
        """Whether the clock ends the search within SHORT milliseconds."""
        budget = self._manager.budget
        limits = self.limits
        if budget is None or limits.infinite or limits.ponder or limits.nodestime:
            return False
        return budget.fail_low <= SHORT

    def is_urgent(self) -> bool:
        """Whether the move is awaited, rather than the work of all threads."""
        return self._is_stopped or self._is_satisfied or self._manager.budget is not None

    def budget(self) -> Budget | None:
        """The time for the move, None if unlimited."""
        return self._manager.budget

    def nodes_on_clock(self) -> int:
        """The nodes that the search has cost on a clock that counts nodes; pondering is free."""
        nodes = self.pool.nodes()
        return nodes - (nodes if self._is_pondering else self._nodes_pondered)

    def _ends(self) -> bool:
        return self._is_stopped or (self._is_satisfied and not self._is_pondering)

    def _decide(self) -> None:
        """End the search if it is to end, and release the result if allowed."""
        if self._ends() and self._is_running:
            if self._searcher.has_move:
                self.pool.stop.set()
            else:
                grace = float(GRACE)
                budget = self._manager.budget
                if budget is not None and not self._is_pondering and not self.limits.nodestime:
                    grace = min(grace, budget.grace - self.clock.elapsed())
                self._searcher.limit_time(0.0, 0.0, grace)
        if self._is_stopped or not (self.limits.infinite or self._is_pondering):
            self._released.set()

    def _start_clock(self, elapsed: float, nodes: int) -> None:
        """Set the time limits. `elapsed` milliseconds of them have passed; a clock that counts nodes starts
        after `nodes` nodes.
        """
        budget = self._manager.budget
        if budget is None:
            return
        if self.limits.nodestime:
            most = nodes + max(1, int(budget.hard * self.limits.nodestime))
            self._searcher.lower_node_limit(min(most, MAX_NODES))
        else:
            hard, fail_low, grace = (min(limit - elapsed, MAX_TIME) for limit in budget[1:])
            self._searcher.limit_time(hard, fail_low, grace)

    def _elapsed(self, nodes: int) -> float:
        """Milliseconds of the search so far, by its clock, after `nodes` nodes."""
        if self.limits.nodestime:
            return nodes / self.limits.nodestime
        return self.clock.elapsed()

    def _is_unlimited(self) -> bool:
        limits = self.limits
        limited = (limits.depth, limits.nodes, limits.mate, limits.movetime, *limits.time)
        return not limits.infinite and limited == (None,) * 6 and not any(limits.increment)

    # Tablebases at the root.

    def ask_tablebases(self) -> None:
        """Rank the root moves by the tablebases, if there are any, and decide whether the tree probes too."""
        probing = self.pool.probing
        probing.most = probing.largest() if self._is_full_strength else 0
        # A search for a mate looks at all moves.
        if probing.most and self.limits.mate is None:
            from search.syzygy.root import rank_root  # a start without tables need not wait for it

            self.ranking = rank_root(probing, self._searcher.board)
        if self.ranking is not None:
            self._searcher.tb_hits += len(self.ranking)
            if self.ranking.is_settled():
                probing.most = 0

    def best(self, moves: list[int]) -> list[int]:
        """The best of some root moves by the tablebases; all of them if there is no ranking."""
        return moves if self.ranking is None else self.ranking.first(moves)

    def order(self, line: Line) -> tuple[tuple[int, ...], int]:
        """A sort key, smaller is better: the tablebases come before the score."""
        place = () if self.ranking is None else self.ranking.place(line.pv[0])
        return place, -line.score

    # Reports.

    def report_iteration(self, lines: list[Line]) -> None:
        """Report the lines of an iteration, unless they only repeat those just reported."""
        is_repeated = [line[:2] for line in lines] == [line[:2] for line in self._reported]
        if not is_repeated or self.clock.elapsed() >= self._reported_at + self._repeat_delay:
            self.report_lines(lines)

    def report_last(self, lines: list[Line], shown: list[Line]) -> None:
        """Report the lines of the last iteration, even of an unfinished one, for its cost and its changes."""
        if self._reported is not shown and self._reported is not lines:
            self.report_lines(shown)

    def report_lines(self, lines: list[Line]) -> None:
        """Report lines, best first."""
        self._reported = lines
        self._reported_at = self.clock.elapsed()
        for number, line in enumerate(lines, 1):
            self.report_line(line, number)

    def report_line(self, line: Line, number: int = 1) -> None:
        """Report a line."""
        score = line.score
        if self.ranking is not None and line.pv:
            score = self.ranking.score(line.pv[0], score)
        self._on_report(
            Report(
                line.depth,
                max(self.pool.seldepth(), min(line.depth, 1)),
                normalised(score),
                mate_distance(score),
                self.pool.nodes(),
                self.clock.elapsed(),
                self.pool.table.hashfull(),
                line.pv,
                number,
                line.bound,
                self.pool.tb_hits(),
            )
        )

    def _report_bound(self, score: int, is_upper: bool) -> None:
        if self.ranking is not None:
            return  # the score is known
        self._reported = []  # what follows is news after a bound
        pv = self._searcher.kept_line().pv if self._searcher.failed_high else self.expected
        self.report_line(Line(score, pv, self.depth, UPPER_BOUND if is_upper else LOWER_BOUND), self.number)

    def _report_root_move(self, move: int, number: int) -> None:
        self._on_progress(Progress(self.depth, move, number))

    def _tick(self) -> None:
        self._searcher.is_reporting = True
        pool = self.pool
        self._on_statistics(
            Statistics(
                self.depth,
                pool.seldepth(),
                pool.nodes(),
                self.clock.elapsed(),
                pool.table.hashfull(),
                pool.tb_hits(),
            )
        )
