"""The search as front ends use it: its settings, and one search after the other.

A search (`search.deepening`) runs without the GIL in a thread of its own, with helpers if there are more
threads, and reports through callbacks. Nothing here prints.
"""

import os
import threading
from collections.abc import Callable
from operator import index

from search.deepening import deepen
from search.job import Callbacks, Job, ignore
from search.limits import Limits, check
from search.line import Progress, Report, Result, Statistics
from search.nnue import network, select
from search.nnue.endgame import has_bare_king
from search.nodecounts import NodeCounts
from search.parameters import Parameters
from search.pool import Pool
from search.strength import MATING_NODES, strength
from search.syzygy.pairs import MOST_PIECES
from search.syzygy.probing import MOST_DEPTH
from search.syzygy.tablebase import Tablebase
from search.timeman import Clock, Lag, NodeClock, TimeManager
from x88.board import Board, checked_board
from x88.move import NO_MOVE
from x88.movegen import legal_moves


class Search:
    """The search threads and their transposition table, kept through a game; every search is a `Job`."""

    def __init__(self, megabytes: int = 16, parameters: Parameters | None = None, threads: int = 1) -> None:
        """`megabytes` is the table's size; the parameters are those of `search.tuned` if not given.

        Raises ValueError or MemoryError.
        """
        self._pool = Pool(megabytes, parameters)
        self._pool.resize(threads)
        self.table = self._pool.table
        self._searcher = self._pool.first
        self._job: Job | None = None
        self._thread: threading.Thread | None = None
        self._node_clock = NodeClock()
        self._lag = Lag()
        self._elo: int | None = None
        self._seed: int | None = None

    # Between searches: during one, these raise RuntimeError.

    def _check_idle(self) -> None:
        if self._job is not None and not self._job.is_done:
            raise RuntimeError("a search is running: stop it and wait for its result")

    def resize_table(self, megabytes: int) -> None:
        """Resize and clear the table, between searches. Raises ValueError or MemoryError, keeping the old."""
        self._check_idle()
        self._pool.resize_table(megabytes)

    def resize_pool(self, threads: int) -> None:
        """Search with this many threads from the next search on. Raises ValueError."""
        self._check_idle()
        self._pool.resize(threads)

    def use_network(self, path: str) -> None:
        """Evaluate by the network of a file from now on, or by the one that comes with Moff if the path is
        empty; between searches. Raises ValueError, OSError or MemoryError, and then keeps the old one.
        """
        self._check_idle()
        self._pool.use_network(network.read(path) if path else select.shipped())

    def weights(self) -> network.Weights:
        """The network that evaluates."""
        return self._pool.weights

    def forget(self) -> None:
        """Clear the transposition table, history and correction history, between searches."""
        self._check_idle()
        self._pool.forget()

    def new_game(self) -> None:
        """Reset everything for a new game, between searches. The next search runs as after start-up."""
        self.forget()
        self._set_seed()
        self._node_clock.forget()
        self._lag.forget()

    def _set_seed(self) -> None:
        """Choose the noise of limited strength: a different seed for every game, unless one was given."""
        chance = int.from_bytes(os.urandom(2), "big") if self._seed is None else self._seed
        self._searcher.evaluation.seed = (chance << 1 | 1) & 0xFFFF

    def limit_strength(self, elo: int | None, seed: int | None = None) -> None:
        """Limit the playing strength to this Elo from the next search on; None for full strength. A limited
        search uses one thread. What was learnt at another strength is forgotten.

        With a `seed`, every game misjudges the same positions alike. Raises ValueError for a rating out of
        range (`search.strength`).
        """
        self._check_idle()
        if (elo, seed) == (self._elo, self._seed):
            return
        self._searcher.evaluation.blur = 0 if elo is None else strength(elo).blur
        self._elo = elo
        self._seed = seed
        self._set_seed()
        self.forget()

    def use_tablebases(
        self,
        tables: Tablebase | None = None,
        depth: int | None = None,
        limit: int | None = None,
        fifty_move_rule: bool | None = None,
    ) -> None:
        """Probe these tables, with these options (`search.syzygy.probing`), from the next search on; None
        keeps the old ones. A search of limited strength probes none. Call it between searches. Raises
        ValueError or TypeError for options that cannot be.
        """
        self._check_idle()
        if tables is not None and not isinstance(tables, Tablebase):
            raise TypeError(f"{tables!r:.80} is not a tablebase")
        if depth is not None and not 0 <= index(depth) <= MOST_DEPTH:
            raise ValueError(f"{depth} is not a depth from 0 to {MOST_DEPTH}")
        if limit is not None and not 0 <= index(limit) <= MOST_PIECES:
            raise ValueError(f"{limit} is not a number of pieces from 0 to {MOST_PIECES}")
        if tables is not None and tables.most:  # when Moff has been installed anew, a search cannot load it
            from search.syzygy import root  # noqa: F401
        self._pool.wait_for_helpers()
        probing = self._pool.probing
        if probing.tables.most and (tables is not None or fifty_move_rule is not None):
            self._pool.clear_table()  # its scores may be theirs
        if tables is not None:
            probing.tables = tables
        if depth is not None:
            probing.depth = depth
        if limit is not None:
            probing.limit = limit
        if fifty_move_rule is not None:
            probing.fifty_move_rule = fifty_move_rule

    def count_nodes(self) -> NodeCounts:
        """Count the nodes of each root move and reply from the next search on: those of the first thread."""
        if self._searcher.counts is None:
            self._searcher.counts = NodeCounts()
        return self._searcher.counts

    def forget_lag(self) -> None:
        """Forget the measured lag, because another game begins."""
        self._lag.forget()

    # Searching.

    def start(
        self,
        board: Board,
        limits: Limits,
        on_report: Callable[[Report], object],
        on_result: Callable[[Result], object],
        started: float | None = None,
        on_progress: Callable[[Progress], object] | None = None,
        on_statistics: Callable[[Statistics], object] | None = None,
        repeat_delay: float = 0.0,
    ) -> None:
        """Search a copy of the board in a new thread. The callbacks run in that thread, `on_result` last. A
        search of a few milliseconds runs in the calling thread, and is over on return.

        Time counts from `started`, a reading of `time.perf_counter`, default now. After REPORT_DELAY,
        `on_progress` is called for every root move, and `on_statistics` once a second. An iteration that only
        repeats the last report is reported not before `repeat_delay` milliseconds after it, unless it is the
        last one.

        Raises ValueError or TypeError for bad limits and for a board without kings, and RuntimeError while
        another search is running.
        """
        if not callable(on_result):
            raise TypeError(f"{on_result!r:.80} cannot be called")
        callbacks = on_report, on_progress or ignore, on_statistics or ignore
        job = self._prepare(board, limits, Clock(started), callbacks, repeat_delay)
        # Always answer with a legal move, even after an exception.
        fallback = Result(next(iter(legal_moves(self._searcher.board)), NO_MOVE), NO_MOVE, 0)

        def run() -> None:
            result = fallback
            try:
                result = self._think(job)
            finally:
                job.wait_for_release()
                job.is_done = True
                on_result(result)

        if job.is_short():
            run()
            return
        # Its result may start the next search, so it is kept before it starts.
        self._thread = thread = threading.Thread(target=run, name="search", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            self._thread = None
            # The system refuses more threads. A search that only `stop` would end is not begun in this one.
            if limits.infinite or limits.ponder:
                job.stop()
            run()

    def stop(self) -> None:
        """Stop the running search, if any. Its result follows immediately."""
        if self._job is not None:
            self._job.stop()

    def abandon(self) -> None:
        """Stop the running search, whatever its result, without a lock: a finalizer may hold any."""
        self._pool.stop.set()

    def ponderhit(self) -> None:
        """The expected move has been played: switch from pondering to a normal search. The clock starts now,
        and the time spent pondering counts for the soft limit.
        """
        if self._job is not None:
            self._job.ponderhit()

    def wait(self) -> None:
        """Wait until the running search has delivered its result."""
        if self._thread is not None:
            if self._thread.ident is not None:  # else a signal came before it began
                self._thread.join()
            self._thread = None

    def is_running(self) -> bool:
        """Whether a search has been started and has not delivered its result."""
        return self._thread is not None and self._job is not None and not self._job.is_done

    def think(
        self, board: Board, limits: Limits, on_report: Callable[[Report], object] | None = None
    ) -> Result:
        """Search in the calling thread and return the result. Raises as `start` does."""
        job = self._prepare(board, limits, Clock(), (on_report or ignore, ignore, ignore))
        try:
            return self._think(job)
        finally:
            job.is_done = True

    def _prepare(
        self, board: Board, limits: Limits, clock: Clock, callbacks: Callbacks, repeat_delay: float = 0.0
    ) -> Job:
        for callback in callbacks:
            if not callable(callback):
                raise TypeError(f"{callback!r:.80} cannot be called")
        self._check_idle()
        checked_board(board)
        check(limits)
        side = board.side
        odds = 0
        if self._elo is not None:
            most, _, odds = strength(self._elo)
            if has_bare_king(board, side ^ 1):
                most, odds = max(most, MATING_NODES), 0
            # Each line takes its share.
            most *= max(1, min(limits.lines, len(legal_moves(board))))
            limits = limits._replace(nodes=min(limits.nodes or most, most))
        self._pool.prepare(board, limits.nodes or 0)
        self._searcher.oversight.begin(board, self._searcher.evaluation.seed, odds)
        if limits.nodestime:
            manager = TimeManager(self._node_clock.limits(limits, side), side)
        else:
            self._lag.begin(limits, side)
            manager = TimeManager(limits, side, self._lag)
        job = Job(limits, manager, clock, self._pool, self._elo is None, callbacks, repeat_delay)
        self._job = job
        return job

    def _think(self, job: Job) -> Result:
        """Deepen until a limit is met, and account for the time used."""
        result = deepen(job)
        if result.move == NO_MOVE:
            return result
        side = self._searcher.board.side
        if job.limits.nodestime:
            self._node_clock.spend(job.nodes_on_clock(), job.limits.increment[side])
        else:
            self._lag.end(job.limits, side, job.budget(), job.clock.elapsed())
        return result
