"""Iterative deepening with aspiration windows, MultiPV, pondering and time limits.

A search runs in its own thread without the GIL and reports through callbacks. Nothing here prints.
"""

import os
import threading
from collections.abc import Callable
from typing import NamedTuple

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from search.clock import Clock, NodeClock, TimeManager
from search.limits import Limits
from search.score import mate_distance
from search.strength import strength
from x88.movegen import legal_moves

if not cython.compiled:
    from search.alphabeta import search
    from search.parameters import Parameters
    from search.score import DRAW, INFINITE, LONGEST_MATE, MATE, MAX_PLY
    from search.searcher import Searcher
    from search.stop import Stop
    from search.table import TranspositionTable, move_of, short_move
    from x88.attack import in_check
    from x88.board import Board
    from x88.move import NO_MOVE


UPPER_BOUND = "upper"
LOWER_BOUND = "lower"

REPORT_DELAY = 1000
"""Report root moves and fail highs and lows only after this many milliseconds."""

FORCED_DEPTH = 5
"""Depth of the search when there is only one legal move: deep enough for a ponder move."""

GRACE = 50 if cython.compiled else 1000
"""Milliseconds that a stopped search without a move may still use to find one, within its clock."""

MAX_TIME = 10**9
"""An upper limit of milliseconds, far beyond any search."""

MATE_SALT = 0x5A17
"""Separates the table entries of mate searches, which are full-width, from those of searches with pruning."""

MAX_NODES = 1 << 62
"""An upper limit of nodes, far beyond any search."""


class Report(NamedTuple):
    """The result of an iteration: depth in plies, score in centipawns for the side to move, time in
    milliseconds, packed moves.
    """

    depth: int
    seldepth: int
    score: int
    mate: int | None
    """Moves to mate, negative if the side to move gets mated, 0 if checkmated; None without a mate score."""
    nodes: int
    elapsed: float
    hashfull: int
    """How full the transposition table is of entries of this search, per mill."""
    pv: list[int]
    line: int = 1
    """The MultiPV number, 1 for the best line."""
    bound: str = ""
    """UPPER_BOUND if the iteration failed low, LOWER_BOUND if it failed high, else empty."""


class Progress(NamedTuple):
    """The root move being searched, packed, and its number in move order, from 1."""

    depth: int
    move: int
    number: int


class Statistics(NamedTuple):
    """Periodic statistics between reports: depths in plies, nodes, time in milliseconds."""

    depth: int
    """The current iteration."""
    seldepth: int
    nodes: int
    elapsed: float
    hashfull: int


class Result(NamedTuple):
    """The best move and the ponder move, packed, NO_MOVE (0) if there is none; and the nodes searched."""

    move: int
    reply: int
    nodes: int


class Line(NamedTuple):
    """A principal variation, its score, and the depth of the iteration that found it."""

    score: int
    pv: list[int]
    depth: int
    bound: str = ""


class Search:
    """A searcher and its transposition table, used for all moves of a game."""

    def __init__(self, megabytes: int = 16, parameters: Parameters | None = None) -> None:
        """`megabytes` is the size of the transposition table; `parameters` default to `tuned.SEARCH`."""
        self._stop = Stop()
        self.table = TranspositionTable(megabytes)
        self._searcher = Searcher(self.table, self._stop, parameters)
        self._released = threading.Event()
        self._thread: threading.Thread | None = None
        self._running = False
        # The lock guards the state that other threads access during a search.
        self._lock = threading.Lock()
        self._manager: TimeManager | None = None
        self._pondering = False
        self._is_infinite = False
        self._stop_on_ponderhit = False
        self._is_unlimited = False
        self._stop_requested = False
        self._node_clock = NodeClock()
        self._nodestime = 0
        self._nodes_pondered = 0
        self._elo: int | None = None
        self._seed: int | None = None
        self._on_report: Callable[[Report], object] = _ignore
        self._on_progress: Callable[[Progress], object] = _ignore
        self._on_statistics: Callable[[Statistics], object] = _ignore
        self._clock = Clock()
        self._depth = 0
        self._failed_high: Line | None = None

    def resize_table(self, megabytes: int) -> None:
        """Resize and clear the transposition table, between searches. Raises ValueError or MemoryError, and
        then keeps the old table.
        """
        self.table.resize(megabytes)

    def forget(self) -> None:
        """Clear the transposition table, history and correction history, between searches."""
        self.table.clear()
        self._searcher.history.clear()
        self._searcher.corrections.clear()

    def new_game(self) -> None:
        """Reset everything for a new game, between searches. Search as after start-up."""
        self.forget()
        self._set_seed()
        self._node_clock.forget()

    def _set_seed(self) -> None:
        """Choose the noise of limited strength: a different seed for every game, unless one was given."""
        chance = int.from_bytes(os.urandom(2), "big") if self._seed is None else self._seed
        self._searcher.evaluation.seed = (chance << 1 | 1) & 0xFFFF

    def limit_strength(self, elo: int | None, seed: int | None = None) -> None:
        """Limit the playing strength to this Elo from the next search on; None for full strength. A change
        clears the transposition table and history.

        With a `seed`, the noise in the evaluation is the same in every game. Raises ValueError if the Elo is
        out of range (`search.strength`).
        """
        if (elo, seed) == (self._elo, self._seed):
            return
        self._searcher.evaluation.blur = 0 if elo is None else strength(elo).blur
        self._elo = elo
        self._seed = seed
        self._set_seed()
        self.forget()

    def start(
        self,
        board: Board,
        limits: Limits,
        on_report: Callable[[Report], object],
        on_result: Callable[[Result], object],
        started: float | None = None,
        on_progress: Callable[[Progress], object] | None = None,
        on_statistics: Callable[[Statistics], object] | None = None,
    ) -> None:
        """Search a copy of the board in a new thread. The callbacks run in that thread, `on_result` last.

        Time counts from `started`, a reading of `time.perf_counter`, default now. After REPORT_DELAY,
        `on_progress` is called for every root move, and `on_statistics` once a second. No other search may be
        running.
        """
        self._prepare(board, limits)
        self._on_progress = on_progress or _ignore
        self._on_statistics = on_statistics or _ignore

        def run() -> None:
            # Whatever happens, the caller is waiting for a move.
            result = Result(next(iter(legal_moves(board)), NO_MOVE), NO_MOVE, 0)
            try:
                result = self._think(limits, on_report, Clock(started))
            finally:
                if limits.infinite or self._pondering:
                    self._released.wait()
                self._running = False
                on_result(result)

        self._running = True
        self._thread = threading.Thread(target=run, name="search", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the running search, if any. Its result follows immediately."""
        self._request_stop()
        self._released.set()

    def _request_stop(self) -> None:
        """Stop the search, but give it the grace period if it has no move yet."""
        self._stop_requested = True
        with self._lock:
            if self._searcher.has_move:
                self._stop.set()
            elif self._manager is not None:
                self._limit_grace(self._manager)

    def _limit_grace(self, manager: TimeManager) -> None:
        """Stop now, or after the grace period if there is no move yet, but before the flag falls."""
        grace = float(GRACE)
        if manager.budget is not None and not self._pondering and not self._nodestime:
            grace = min(grace, manager.budget.grace - self._clock.elapsed())
        self._searcher.limit_time(0.0, grace)

    def ponderhit(self) -> None:
        """The expected move has been played: switch from pondering to a normal search. The clock starts now,
        and the time spent pondering counts for the soft limit.
        """
        with self._lock:
            if not self._pondering:
                return
            self._pondering = False
            manager = self._manager
            if manager is not None:
                if self._stop_on_ponderhit or self._is_unlimited or manager.should_stop(self._elapsed()):
                    self._stop_requested = True
                    self._limit_grace(manager)
                else:
                    self._nodes_pondered = self._searcher.nodes
                    self._limit_time(manager, 0.0)
        if not self._is_infinite:
            self._released.set()

    def wait(self) -> None:
        """Wait until the running search has delivered its result."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def is_running(self) -> bool:
        """Whether a search has been started and has not delivered its result."""
        return self._running

    def think(
        self, board: Board, limits: Limits, on_report: Callable[[Report], object] | None = None
    ) -> Result:
        """Search in the calling thread and return the result."""
        self._prepare(board, limits)
        self._on_progress = _ignore
        self._on_statistics = _ignore
        return self._think(limits, on_report or _ignore, Clock())

    def _prepare(self, board: Board, limits: Limits) -> None:
        self._stop.clear()
        self._released.clear()
        self._pondering = limits.ponder
        self._is_infinite = limits.infinite
        self._nodestime = limits.nodestime
        self._nodes_pondered = 0
        self._stop_on_ponderhit = False
        self._stop_requested = False
        limited = (limits.depth, limits.nodes, limits.mate, limits.movetime, *limits.time)
        self._is_unlimited = not limits.infinite and limited == (None,) * 6 and not any(limits.increment)
        self.table.new_search()
        self._searcher.prepare(board, limits.nodes or 0)

    def _think(self, limits: Limits, on_report: Callable[[Report], object], clock: Clock) -> Result:
        """Run the search and return its result."""
        self._on_report = on_report
        self._clock = clock
        legal = legal_moves(self._searcher.board)
        if not legal:
            checked = in_check(self._searcher.board)
            self._report_line(Line(-MATE if checked else DRAW, [], 0))
            return Result(NO_MOVE, NO_MOVE, 0)
        moves = [move for move in legal if move in limits.searchmoves] or legal
        if self._elo is not None:
            # Each line of MultiPV gets the full number of nodes.
            node_limit = strength(self._elo).nodes * max(1, min(limits.lines, len(moves)))
            node_limit = min(limits.nodes or node_limit, node_limit)
            limits = limits._replace(nodes=node_limit)
            self._searcher.node_limit = node_limit
        manager = self._begin(limits)
        try:
            lines = self._deepen(limits, manager, moves, len(moves) < len(legal))
        finally:
            self._end()
        self._charge_node_clock(limits)
        best = lines[0].pv
        return Result(best[0], best[1] if len(best) > 1 else self._reply(best[0]), self._searcher.nodes)

    def _begin(self, limits: Limits) -> TimeManager:
        """Start time management and periodic reports."""
        searcher = self._searcher
        side = searcher.board.side
        if limits.nodestime:
            limits = self._node_clock.limits(limits, side)
        with self._lock:
            manager = self._manager = TimeManager(limits, side)
            if not self._pondering:
                self._limit_time(manager, self._clock.elapsed())
            if self._stop_requested:
                self._limit_grace(manager)
            if self._on_progress is not _ignore or self._on_statistics is not _ignore:
                searcher.on_root_move = self._report_root_move
                searcher.on_tick = self._tick
                searcher.tick_after(REPORT_DELAY - self._clock.elapsed())
        return manager

    def _end(self) -> None:
        """Stop time management and periodic reports."""
        with self._lock:
            self._manager = None
        self._searcher.is_reporting = False
        self._searcher.on_root_move = None
        self._searcher.on_tick = None

    def _limit_time(self, manager: TimeManager, elapsed: float) -> None:
        """Set the hard limit of the search, of which `elapsed` milliseconds have passed."""
        if manager.budget is None:
            return
        if self._nodestime:
            node_limit = self._searcher.nodes + max(1, int(manager.budget.hard * self._nodestime))
            self._searcher.node_limit = min(self._searcher.node_limit or MAX_NODES, node_limit)
        else:
            hard, grace = (min(limit - elapsed, MAX_TIME) for limit in manager.budget[1:])
            self._searcher.limit_time(hard, grace)

    def _elapsed(self) -> float:
        """Milliseconds of the search so far, or its equivalent in nodes (`nodestime`)."""
        return self._searcher.nodes / self._nodestime if self._nodestime else self._clock.elapsed()

    def _charge_node_clock(self, limits: Limits) -> None:
        """Subtract the nodes of this move from the node clock, without those searched while pondering."""
        if limits.nodestime:
            pondered = self._searcher.nodes if self._pondering else self._nodes_pondered
            self._node_clock.spend(
                self._searcher.nodes - pondered, limits.increment[self._searcher.board.side]
            )

    def _deepen(
        self, limits: Limits, manager: TimeManager, moves: list[int], is_restricted: bool
    ) -> list[Line]:
        """Iterative deepening. Returns the best lines, best first."""
        searcher = self._searcher
        multipv = max(1, min(limits.lines, len(moves)))
        static = searcher.evaluation.value(searcher.board)
        lines = [Line(static, [move], 1) for move in moves[:multipv]]
        max_depth = min(limits.depth or MAX_PLY - 1, MAX_PLY - 1)
        for depth in range(1, max_depth + 1):
            self._depth = depth
            found: list[Line] = []
            for number in range(multipv):
                if is_restricted or number:
                    self._allow(moves, lines, found)
                score = self._iterate(depth, lines[number].score, number)
                pv = searcher.principal_variation()
                searcher.has_move = True
                searcher.check_time()
                if not self._stop.is_set():
                    found.append(Line(score, pv, depth))
                    continue
                # Use an unfinished iteration if it has a move: it searched the previous best move first.
                if pv:
                    found.append(Line(searcher.root_score, pv, depth))
                elif self._failed_high is not None:
                    found.append(self._failed_high)
                break
            # The mate search below uses the same root moves.
            searcher.allow(moves if is_restricted else [])
            first_moves = {line.pv[0] for line in found}
            others = [line for line in lines if line.pv[0] not in first_moves]
            lines = (sorted(found, key=lambda line: -line.score) + others)[:multipv]
            # Report an unfinished iteration too: it has the final node count and perhaps a new best move.
            for number, line in enumerate(lines, 1):
                self._report_line(line, number)
            if self._stop.is_set():
                break
            if limits.mate is not None and self._finds_mate(limits.mate, lines, depth):
                break
            share = searcher.nodes_under(lines[0].pv[0]) / max(1, searcher.nodes)
            manager.after_iteration(lines[0].pv[0], lines[0].score, share)
            if self._should_stop(limits, manager, depth, len(moves)):
                break
        return lines

    def _allow(self, moves: list[int], lines: list[Line], found: list[Line]) -> None:
        """Exclude the first moves of the lines found; search the last iteration's next best move first."""
        excluded = {line.pv[0] for line in found}
        previous = [line.pv[0] for line in lines]
        first = next((move for move in previous if move not in excluded), 0)
        self._searcher.allow(sorted((m for m in moves if m not in excluded), key=lambda m: m != first))

    def _finds_mate(self, moves: int, lines: list[Line], depth: int) -> bool:
        """Whether there is a mate in this many moves: found by the iteration, or by an extra mate search."""
        moves = min(moves, MAX_PLY // 2)
        if lines[0].score < MATE - 2 * moves:
            # In this window, a mate search is full-width, and the salt keeps it from using table entries of
            # searches with pruning.
            self._searcher.seeks_mate = True
            self.table.salt = MATE_SALT
            score = self._search_root(MATE - 2 * moves, INFINITE, depth)
            self._searcher.seeks_mate = False
            self.table.salt = 0
            if score > MATE - 2 * moves and not self._stop.is_set():
                lines[0] = Line(score, self._searcher.principal_variation(), depth)
                self._report_line(lines[0])
        return lines[0].score > MATE - 2 * moves

    def _should_stop(self, limits: Limits, manager: TimeManager, depth: int, count: int) -> bool:
        """Whether to start no further iteration: out of nodes or time, or only one legal move."""
        if limits.nodes is not None and self._searcher.nodes >= limits.nodes:
            return True
        if manager.budget is None:
            return False
        should_stop = manager.should_stop(self._elapsed())
        if limits.movetime is None and count == 1 and depth >= FORCED_DEPTH:
            should_stop = True
        with self._lock:
            self._stop_on_ponderhit = should_stop
            return should_stop and not self._pondering

    def _iterate(self, depth: int, guess: int, number: int) -> int:
        """Search to a depth with an aspiration window around the last score, widened after each fail high or
        fail low.
        """
        width = self._searcher.parameters.aspiration
        alpha, beta = -INFINITE, INFINITE
        if depth >= 5 and abs(guess) < LONGEST_MATE:
            alpha, beta = guess - width, guess + width
        self._failed_high = None
        while True:
            score = self._search_root(alpha, beta, depth)
            if self._stop.is_set() or alpha < score < beta or (alpha == -INFINITE and beta == INFINITE):
                return score
            width *= 4
            failed = Line(score, [], depth, UPPER_BOUND)
            if score <= alpha:
                alpha = max(-INFINITE, score - width) if width < 500 else -INFINITE
            else:
                pv = self._searcher.principal_variation()
                self._failed_high = Line(score, pv, depth, LOWER_BOUND)
                beta = min(INFINITE, score + width) if width < 500 else INFINITE
                failed = self._failed_high
            if self._searcher.is_reporting:
                self._report_line(failed, number + 1)

    def _search_root(self, alpha: int, beta: int, depth: int) -> int:
        searcher = self._searcher
        searcher.extension_ply = depth
        with cython.nogil:
            return search(searcher, alpha, beta, depth, 0, 0, False)

    def _reply(self, move: int) -> int:
        """The transposition table's reply to a move, or NO_MOVE."""
        board = self._searcher.board
        board.make(move)
        data = self.table.probe(board.key)
        replies = [reply for reply in legal_moves(board) if data and short_move(reply) == move_of(data)]
        board.unmake()
        return replies[0] if replies else NO_MOVE

    # Reports.

    def _tick(self) -> None:
        searcher = self._searcher
        searcher.is_reporting = True
        self._on_statistics(
            Statistics(
                self._depth,
                searcher.seldepth,
                searcher.nodes,
                self._clock.elapsed(),
                self.table.hashfull(),
            )
        )

    def _report_root_move(self, move: int, number: int) -> None:
        self._on_progress(Progress(self._depth, move, number))

    def _report_line(self, line: Line, number: int = 1) -> None:
        searcher = self._searcher
        self._on_report(
            Report(
                line.depth,
                searcher.seldepth,
                line.score,
                mate_distance(line.score),
                searcher.nodes,
                self._clock.elapsed(),
                self.table.hashfull(),
                line.pv,
                number,
                line.bound,
            )
        )


def _ignore(_report: object) -> None:
    """The default callback."""
