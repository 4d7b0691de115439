"""Iterative deepening: what a front end talks to.

A search runs without the GIL in a thread of its own, with helpers if there are more threads, and reports
through callbacks. Nothing here prints.
"""

import os
import threading
from collections.abc import Callable
from operator import index
from typing import TYPE_CHECKING, NamedTuple

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from search import inference, network
from search.clock import Clock, Lag, NodeClock, TimeManager
from search.job import Job
from search.limits import Limits, check
from search.score import mate_distance, normalised
from search.strength import strength
from x88.board import checked_board
from x88.movegen import legal_moves

if not cython.compiled:
    from search.alphabeta import search
    from search.deepening import iterate
    from search.nodecounts import NodeCounts
    from search.parameters import Parameters
    from search.pool import Pool
    from search.probing import MOST_DEPTH
    from search.score import DRAW, INFINITE, MATE, MAX_PLY
    from search.table import move_of, short_move
    from search.tablebase import Tablebase
    from search.tablepart import MOST_PIECES
    from x88.atomic import plain
    from x88.attack import in_check
    from x88.board import Board
    from x88.move import NO_MOVE

if TYPE_CHECKING:
    from search.tableroot import Ranking

UPPER_BOUND = "upper"
LOWER_BOUND = "lower"

REPORT_DELAY = 1000
"""Report root moves and fail highs and lows only after this many milliseconds."""

MATE_SALT = 0x5A17
"""Separates the table entries of mate searches, which are full-width, from those of searches with pruning."""


class Report(NamedTuple):
    """The result of an iteration: depth in plies, score in normalised centipawns (`search.score`) for the
    side to move, time in milliseconds, packed moves.
    """

    depth: int
    seldepth: int
    score: int
    mate: int | None
    """Moves to mate, negative if the side to move is mated, 0 if checkmated; None without a mate score."""
    nodes: int
    elapsed: float
    hashfull: int
    """How full the transposition table is of entries of this search, in permille."""
    pv: list[int]
    line: int = 1
    """The MultiPV number, 1 for the best line."""
    bound: str = ""
    """UPPER_BOUND if the iteration failed low, LOWER_BOUND if it failed high, else empty."""
    tb_hits: int = 0
    """Tablebase hits."""


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
    tb_hits: int


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
        self._on_report: Callable[[Report], object] = _ignore
        self._on_progress: Callable[[Progress], object] = _ignore
        self._on_statistics: Callable[[Statistics], object] = _ignore
        self._ranking: Ranking | None = None
        self._depth = 0
        self._line = 1
        self._expected: list[int] = []
        self._reported: list[Line] = []
        self._reported_at = 0.0
        self._repeat_delay = 0.0

    # Between searches: during one, these raise RuntimeError.

    def _check_idle(self) -> None:
        if self._job is not None and not self._job.is_done:
            raise RuntimeError("a search is running: stop it and wait for its result")

    def resize_table(self, megabytes: int) -> None:
        """Resize and clear the transposition table, between searches. Raises ValueError or MemoryError, and
        then keeps the old table.
        """
        self._check_idle()
        self._pool.resize_table(megabytes)

    def resize_pool(self, threads: int) -> None:
        """Search with this many threads from the next search on. Raises ValueError."""
        self._check_idle()
        self._pool.resize(threads)

    def judge_by(self, path: str) -> None:
        """Evaluate by the network of a file from now on, or by the one that comes with Moff if the path is
        empty; between searches. Raises ValueError, OSError or MemoryError, and then keeps the old one.
        """
        self._check_idle()
        self._pool.judge_by(network.read(path) if path else inference.shipped())

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
        heeds_fifty: bool | None = None,
    ) -> None:
        """Probe these tables, with these options (`search.probing`), from the next search on; None keeps the
        old ones. A search of limited strength probes none. Call it between searches. Raises
        ValueError or TypeError for options that cannot be.
        """
        self._check_idle()
        if tables is not None and not isinstance(tables, Tablebase):
            raise TypeError(f"{tables!r:.80} is not a tablebase")
        if depth is not None and not 0 <= index(depth) <= MOST_DEPTH:
            raise ValueError(f"{depth} is not a depth from 0 to {MOST_DEPTH}")
        if limit is not None and not 0 <= index(limit) <= MOST_PIECES:
            raise ValueError(f"{limit} is not a number of pieces from 0 to {MOST_PIECES}")
        self._pool.wait_for_helpers()
        probing = self._pool.probing
        if probing.tables.most and (tables is not None or heeds_fifty is not None):
            self._pool.clear_table()  # its scores may be theirs
        if tables is not None:
            probing.tables = tables
        if depth is not None:
            probing.depth = depth
        if limit is not None:
            probing.limit = limit
        if heeds_fifty is not None:
            probing.heeds_fifty = heeds_fifty

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
        for callback in (on_report, on_result, on_progress or _ignore, on_statistics or _ignore):
            if not callable(callback):
                raise TypeError(f"{callback!r:.80} cannot be called")
        job = self._prepare(board, limits, Clock(started))
        self._on_report = on_report
        self._on_progress = on_progress or _ignore
        self._on_statistics = on_statistics or _ignore
        self._repeat_delay = repeat_delay
        # Whatever happens, the other side waits for a move.
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

    def ponderhit(self) -> None:
        """The expected move has been played: switch from pondering to a normal search. The clock starts now,
        and the time spent pondering counts for the soft limit.
        """
        if self._job is not None:
            self._job.ponderhit()

    def wait(self) -> None:
        """Wait until the running search has delivered its result."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def is_running(self) -> bool:
        """Whether a search has been started and has not delivered its result."""
        return self._thread is not None and self._job is not None and not self._job.is_done

    def think(
        self, board: Board, limits: Limits, on_report: Callable[[Report], object] | None = None
    ) -> Result:
        """Search in the calling thread and return the result. Raises as `start` does."""
        if not callable(on_report or _ignore):
            raise TypeError(f"{on_report!r:.80} cannot be called")
        job = self._prepare(board, limits, Clock())
        self._on_report = on_report or _ignore
        self._on_progress = self._on_statistics = _ignore
        self._repeat_delay = 0.0
        try:
            return self._think(job)
        finally:
            job.is_done = True

    def _prepare(self, board: Board, limits: Limits, clock: Clock) -> Job:
        self._check_idle()
        checked_board(board)
        check(limits)
        self._pool.prepare(board, limits.nodes or 0)
        side = board.side
        if self._elo is not None:
            # Each line takes its share.
            count = len(legal_moves(self._searcher.board))
            most = strength(self._elo).nodes * max(1, min(limits.lines, count))
            limits = limits._replace(nodes=min(limits.nodes or most, most))
            self._searcher.node_limit = plain(limits.nodes or 0)
        if limits.nodestime:
            manager = TimeManager(self._node_clock.limits(limits, side), side)
        else:
            self._lag.begin(limits, side)
            manager = TimeManager(limits, side, self._lag)
        job = Job(limits, manager, clock, self._pool)
        self._job = job
        return job

    def _think(self, job: Job) -> Result:
        """Deepen until a limit is met."""
        searcher = self._searcher
        legal = legal_moves(searcher.board)
        if not legal:
            checked = in_check(searcher.board)
            self._report_line(Line(-MATE if checked else DRAW, [], 0))
            return Result(NO_MOVE, NO_MOVE, 0)
        moves = [move for move in legal if move in job.limits.searchmoves] or legal
        self._ask_tablebases(job)
        best = self._best(moves)
        is_restricted = len(best) < len(legal)
        try:
            # Limited strength is calibrated for one thread; a clock that counts nodes makes games repeatable.
            if self._elo is None and not job.limits.nodestime and not job.is_short():
                last = job.deepest() if job.ends_with_any_thread() else 0
                self._pool.start_helpers(best if is_restricted else [], job.limits.nodes or 0, last)
            searcher.on_bound = self._report_bound
            if self._on_progress is not _ignore or self._on_statistics is not _ignore:
                searcher.on_root_move = self._report_root_move
                searcher.on_tick = self._tick
                searcher.tick_after(REPORT_DELAY - job.clock.elapsed())
            job.begin()
            lines = self._deepen(job, moves, is_restricted)
        finally:
            job.end()
            self._pool.stop_helpers(job.is_urgent())
            searcher.is_reporting = False
            searcher.on_root_move = searcher.on_tick = searcher.on_bound = None
        if job.is_open_to_votes():
            lines[0] = self._vote(lines[0])
        else:
            lines[0] = self._finished(lines[0])
        if job.limits.nodestime:
            self._node_clock.spend(job.nodes_on_clock(), job.limits.increment[searcher.board.side])
        else:
            self._lag.end(job.limits, searcher.board.side, job.budget(), job.clock.elapsed())
        pv = lines[0].pv
        reply = pv[1] if len(pv) > 1 else self._reply(pv[0])
        return Result(pv[0], reply, self._pool.nodes())

    def _ask_tablebases(self, job: Job) -> None:
        """Rank the root moves by the tablebases, if available, and decide whether to probe them in the
        tree.
        """
        searcher = self._searcher
        probing = self._pool.probing
        probing.most = probing.largest() if self._elo is None else 0
        self._ranking = None
        # A search for a mate looks at all moves.
        if probing.most and job.limits.mate is None:
            from search.tableroot import rank_root  # a start without tables need not wait for it

            self._ranking = rank_root(probing, searcher.board)
        if self._ranking is not None:
            searcher.tb_hits += len(self._ranking)
            if self._ranking.is_settled():
                probing.most = 0

    def _best(self, moves: list[int]) -> list[int]:
        """The best of some root moves by the tablebases; all of them if there is no ranking."""
        return moves if self._ranking is None else self._ranking.first(moves)

    def _order(self, line: Line) -> tuple[tuple[int, ...], int]:
        """A sort key, smaller is better: the tablebases come before the score."""
        place = () if self._ranking is None else self._ranking.place(line.pv[0])
        return place, -line.score

    def _deepen(self, job: Job, moves: list[int], is_restricted: bool) -> list[Line]:
        """Search deeper and deeper; returns the best lines, best first."""
        searcher = self._searcher
        stop = self._pool.stop
        wanted = max(1, min(job.limits.lines, len(moves)))
        self._reported = []
        static = searcher.evaluation.value(searcher.board)
        best = self._best(moves)
        first = best + [move for move in moves if move not in best]
        lines = [Line(static, [move], 1) for move in first[:wanted]]
        deepest = job.deepest()
        for depth in range(1, deepest + 1):
            self._depth = depth
            found: list[Line] = []
            for number in range(wanted):
                self._line = number + 1
                taken = [line.pv[0] for line in found]
                self._expected = next(line.pv for line in lines if line.pv[0] not in taken)
                if is_restricted or number:
                    self._allow(moves, lines, found)
                score = self._iterate(depth, lines[number].score)
                pv = searcher.principal_variation()
                job.has_move()
                if not stop.is_set():
                    # A table with impossible scores may leave no move above alpha.
                    if pv:
                        found.append(Line(score, pv, depth))
                    continue
                # An iteration cut short still counts once it has a move: the first it tried was the last
                # one's best.
                if pv:
                    found.append(Line(searcher.root_score, pv, depth))
                elif searcher.failed_high:
                    found.append(Line(searcher.kept_score, searcher.kept_line(), depth, LOWER_BOUND))
                break
            # The search for a mate of a given length keeps to the same moves.
            searcher.allow(best if is_restricted else [])
            heads = {line.pv[0] for line in found}
            rest = [line for line in lines if line.pv[0] not in heads]
            lines = (sorted(found, key=self._order) + rest)[:wanted]
            # Report an unfinished iteration too: what it has cost, and what it may have changed. But no line
            # that has never been searched, unless there is no other.
            shown = lines if depth > 1 else lines[: max(1, len(found))]
            self._report_iteration(shown)
            if stop.is_set():
                break
            if job.limits.mate is not None:
                if self._finds_mate(min(job.limits.mate, MAX_PLY // 2), lines, depth):
                    break
            share = searcher.nodes_under(lines[0].pv[0]) / max(1, searcher.nodes)
            if job.after_iteration(lines[0].pv[0], lines[0].score, share, depth, len(best)):
                break
        # The last is reported in any case, an unfinished one too: what it has cost, what it may have changed.
        if self._reported is not shown and self._reported is not lines:
            self._report_lines(shown)
        return lines

    def _allow(self, moves: list[int], lines: list[Line], found: list[Line]) -> None:
        """Exclude the first moves of the lines found; search the last iteration's next best move first."""
        taken = {line.pv[0] for line in found}
        before = [line.pv[0] for line in lines]
        first = next((move for move in before if move not in taken), 0)
        left = self._best([move for move in moves if move not in taken])
        self._searcher.allow(sorted(left, key=lambda move: move != first))

    def _finds_mate(self, moves: int, lines: list[Line], depth: int) -> bool:
        """Whether there is a mate in this many moves: found by the iteration, or by an extra mate search."""
        searcher = self._searcher
        if lines[0].score < MATE - 2 * moves:
            # Within these bounds nothing is left out that could be the mate, neither now nor where the result
            # is the table's.
            searcher.seeks_mate = True
            searcher.salt = MATE_SALT
            searcher.extension_ply = depth
            searcher.failed_high = False
            least = MATE - 2 * moves
            with cython.nogil:
                score = search(searcher, least, INFINITE, depth, 0, 0, False)
            searcher.seeks_mate = False
            searcher.salt = 0
            if score > least and not self._pool.stop.is_set():
                mate = Line(score, searcher.principal_variation(), depth)
                others = [line for line in lines if line.pv[0] != mate.pv[0]]
                lines[:] = [mate, *others][: len(lines)]
                self._report_lines(lines)
        return lines[0].score > MATE - 2 * moves

    def _iterate(self, depth: int, guess: int) -> int:
        searcher = self._searcher
        with cython.nogil:
            return iterate(searcher, depth, guess)

    def _vote(self, line: Line) -> Line:
        """The line that wins the vote of the threads. If it is a helper's, it is reported."""
        depth, score, pv = self._pool.voted_line(line.depth, line.score, line.pv)
        if pv == line.pv or pv[0] == line.pv[0]:
            return line
        voted = Line(score, pv, depth)
        self._report_line(voted)
        return voted

    def _finished(self, line: Line) -> Line:
        """The line of the helper that ended the search, which is reported; the given line if none did."""
        found = self._pool.finished_line()
        if found is None:
            return line
        depth, score, pv = found
        finished = Line(score, pv, depth)
        self._report_line(finished)
        return finished

    def _reply(self, move: int) -> int:
        """The transposition table's reply to a move, or NO_MOVE."""
        board = self._searcher.board
        board.make_unchecked(move)
        data = self.table.probe(board.key)
        expected = [reply for reply in legal_moves(board) if data and short_move(reply) == move_of(data)]
        board.unmake_unchecked()
        return expected[0] if expected else NO_MOVE

    # Reports.

    def _tick(self) -> None:
        self._searcher.is_reporting = True
        self._on_statistics(
            Statistics(
                self._depth,
                self._pool.seldepth(),
                self._pool.nodes(),
                self._elapsed(),
                self.table.hashfull(),
                self._pool.tb_hits(),
            )
        )

    def _elapsed(self) -> float:
        return self._job.clock.elapsed() if self._job is not None else 0.0

    def _report_root_move(self, move: int, number: int) -> None:
        self._on_progress(Progress(self._depth, move, number))

    def _report_bound(self, score: int, is_upper: bool) -> None:
        if self._ranking is not None:
            return  # the score is known
        self._reported = []  # what follows is news after a bound
        searcher = self._searcher
        pv = searcher.kept_line() if searcher.failed_high else self._expected
        self._report_line(Line(score, pv, self._depth, UPPER_BOUND if is_upper else LOWER_BOUND), self._line)

    def _report_iteration(self, lines: list[Line]) -> None:
        """Report the lines of an iteration, unless they only repeat those just reported."""
        is_repeated = [line[:2] for line in lines] == [line[:2] for line in self._reported]
        if not is_repeated or self._elapsed() >= self._reported_at + self._repeat_delay:
            self._report_lines(lines)

    def _report_lines(self, lines: list[Line]) -> None:
        self._reported = lines
        self._reported_at = self._elapsed()
        for number, line in enumerate(lines, 1):
            self._report_line(line, number)

    def _report_line(self, line: Line, number: int = 1) -> None:
        score = line.score
        if self._ranking is not None and line.pv:
            score = self._ranking.score(line.pv[0], score)
        self._on_report(
            Report(
                line.depth,
                self._pool.seldepth(),
                normalised(score),
                mate_distance(score),
                self._pool.nodes(),
                self._elapsed(),
                self.table.hashfull(),
                line.pv,
                number,
                line.bound,
                self._pool.tb_hits(),
            )
        )


def _ignore(_told: object) -> None:
    """The default callback."""
