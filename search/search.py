"""Iterative deepening with aspiration windows: what a front end talks to.

A search runs without the GIL in a thread of its own and reports through callbacks; nothing here prints.
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

TELLING = 1000
"""Milliseconds after which the search says what it is at: root moves, bounds of unfinished iterations."""

FORCED_DEPTH = 5
"""Plies for a forced move: enough to expect a reply."""

PATIENCE = 50 if cython.compiled else 1000
"""Milliseconds that a search which is to end may still take to find its first move, within its clock."""

LONGEST_TIME = 10**9
"""Milliseconds that are as good as for ever."""

MATE_SALT = 0x5A17
"""Keeps what a search for a mate stores in the table apart from what one that leaves moves out does."""

MOST_NODES = 1 << 62
"""More than any search comes to."""


class Report(NamedTuple):
    """What is known after an iteration: plies, centipawns for the side to move, counts, milliseconds, packed
    moves.
    """

    depth: int
    seldepth: int
    score: int
    mate: int | None
    """Moves to mate, negative if the side to move is being mated, 0 if it is; None if `score` is no mate."""
    nodes: int
    elapsed: float
    hashfull: int
    """Parts of a thousand of the table that this search has filled."""
    pv: list[int]
    line: int = 1
    """Which of the best moves this is about, 1 for the best."""
    bound: str = ""
    """UPPER_BOUND or LOWER_BOUND while the score is known to be at most or at least that."""


class Progress(NamedTuple):
    """The move of the root that is being searched, packed, and its number in the order of trying, from 1."""

    depth: int
    move: int
    number: int


class Statistics(NamedTuple):
    """How far a search has come while it has nothing else to report: plies, counts, milliseconds."""

    depth: int
    """The iteration that is under way."""
    seldepth: int
    nodes: int
    elapsed: float
    hashfull: int


class Result(NamedTuple):
    """The move chosen, packed, or NO_MOVE (0) where there is none; the reply expected, or NO_MOVE; the nodes
    it took.
    """

    move: int
    reply: int
    nodes: int


class Line(NamedTuple):
    """A principal variation of the root, its score, and the depth of the iteration that found it."""

    score: int
    pv: list[int]
    depth: int
    bound: str = ""


class Search:
    """A searcher with its table, kept from move to move of a game."""

    def __init__(self, megabytes: int = 16, parameters: Parameters | None = None) -> None:
        """`megabytes` is the table's size; the parameters are those of the table of numbers if not given."""
        self._stop = Stop()
        self.table = TranspositionTable(megabytes)
        self._searcher = Searcher(self.table, self._stop, parameters)
        self._released = threading.Event()
        self._thread: threading.Thread | None = None
        self._running = False
        # What another thread may want of the search that runs: guarded by the lock.
        self._lock = threading.Lock()
        self._manager: TimeManager | None = None
        self._pondering = False
        self._is_infinite = False
        self._enough = False
        self._is_unlimited = False
        self._is_halted = False
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
        """Give the table another size, between searches. Raises ValueError or MemoryError and keeps the old
        one then.
        """
        self.table.resize(megabytes)

    def forget(self) -> None:
        """Forget all that was learnt of positions, between searches."""
        self.table.clear()
        self._searcher.history.clear()
        self._searcher.corrections.clear()

    def new_game(self) -> None:
        """Forget the last game, between searches: the next one runs as the first one did."""
        self.forget()
        self._set_seed()
        self._node_clock.forget()

    def _set_seed(self) -> None:
        """Choose what is misjudged at a limited strength: something else in every game."""
        chance = int.from_bytes(os.urandom(2), "big") if self._seed is None else self._seed
        self._searcher.evaluation.seed = (chance << 1 | 1) & 0xFFFF

    def limit_strength(self, elo: int | None, seed: int | None = None) -> None:
        """Play as one of that rating does, from the next search on; None for one's best. What was learnt at
        another strength is forgotten.

        With a `seed` all games are alike in what is misjudged. Raises ValueError for a rating out of range
        (`search.strength`).
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
        """Search a copy of the board in a thread. The callbacks run in that thread; the result is the last.

        `started` is the reading of `time.perf_counter` from which time counts. After the first second,
        `on_progress` is told of every root move, and `on_statistics` of the counts once a second. No search
        may be running.
        """
        self._prepare(board, limits)
        self._on_progress = on_progress or _ignore
        self._on_statistics = on_statistics or _ignore

        def run() -> None:
            # Whatever happens, the other side waits for a move.
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
        """End the running search, if there is one; its result comes at once."""
        self._halt()
        self._released.set()

    def _halt(self) -> None:
        """End the search, but not before its first iteration has found a move, if that is soon."""
        self._is_halted = True
        with self._lock:
            if self._searcher.has_move:
                self._stop.set()
            elif self._manager is not None:
                self._limit_patience(self._manager)

    def _limit_patience(self, manager: TimeManager) -> None:
        """Have the search end at once, or soon if it has no move yet, but before the flag falls."""
        last = float(PATIENCE)
        if manager.budget is not None and not self._pondering and not self._nodestime:
            last = min(last, manager.budget.last - self._clock.elapsed())
        self._searcher.limit_time(0.0, last)

    def ponderhit(self) -> None:
        """The move pondered on has been played: the clock runs from now, and what was thought meanwhile
        counts.
        """
        with self._lock:
            if not self._pondering:
                return
            self._pondering = False
            manager = self._manager
            if manager is not None:
                if self._enough or self._is_unlimited or manager.is_enough(self._elapsed()):
                    self._is_halted = True
                    self._limit_patience(manager)
                else:
                    self._nodes_pondered = self._searcher.nodes
                    self._limit_time(manager, 0.0)
        if not self._is_infinite:
            self._released.set()

    def wait(self) -> None:
        """Wait until the running search has given its result."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def is_running(self) -> bool:
        """Whether a started search has not given its result yet."""
        return self._running

    def think(
        self, board: Board, limits: Limits, on_report: Callable[[Report], object] | None = None
    ) -> Result:
        """Search in the calling thread."""
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
        self._enough = False
        self._is_halted = False
        limited = (limits.depth, limits.nodes, limits.mate, limits.movetime, *limits.time)
        self._is_unlimited = not limits.infinite and limited == (None,) * 6 and not any(limits.increment)
        self.table.new_search()
        self._searcher.prepare(board, limits.nodes or 0)

    def _think(self, limits: Limits, on_report: Callable[[Report], object], clock: Clock) -> Result:
        """Deepen until a limit is met."""
        self._on_report = on_report
        self._clock = clock
        legal = legal_moves(self._searcher.board)
        if not legal:
            checked = in_check(self._searcher.board)
            self._tell_line(Line(-MATE if checked else DRAW, [], 0))
            return Result(NO_MOVE, NO_MOVE, 0)
        moves = [move for move in legal if move in limits.searchmoves] or legal
        if self._elo is not None:
            # Each line takes its share.
            most = strength(self._elo).nodes * max(1, min(limits.lines, len(moves)))
            most = min(limits.nodes or most, most)
            limits = limits._replace(nodes=most)
            self._searcher.node_limit = most
        manager = self._begin(limits)
        try:
            lines = self._deepen(limits, manager, moves, len(moves) < len(legal))
        finally:
            self._end()
        self._settle(limits)
        best = lines[0].pv
        return Result(best[0], best[1] if len(best) > 1 else self._reply(best[0]), self._searcher.nodes)

    def _begin(self, limits: Limits) -> TimeManager:
        """Set the clocks."""
        searcher = self._searcher
        side = searcher.board.side
        if limits.nodestime:
            limits = self._node_clock.limits(limits, side)
        with self._lock:
            manager = self._manager = TimeManager(limits, side)
            if not self._pondering:
                self._limit_time(manager, self._clock.elapsed())
            if self._is_halted:
                self._limit_patience(manager)
            if self._on_progress is not _ignore or self._on_statistics is not _ignore:
                searcher.on_root_move = self._tell_root_move
                searcher.on_tick = self._tick
                searcher.tick_after(TELLING - self._clock.elapsed())
        return manager

    def _end(self) -> None:
        """Stop the clocks."""
        with self._lock:
            self._manager = None
        self._searcher.is_telling = False
        self._searcher.on_root_move = None
        self._searcher.on_tick = None

    def _limit_time(self, manager: TimeManager, elapsed: float) -> None:
        """Have the search end at its hard limit, of which so many milliseconds are gone."""
        if manager.budget is None:
            return
        if self._nodestime:
            most = self._searcher.nodes + max(1, int(manager.budget.hard * self._nodestime))
            self._searcher.node_limit = min(self._searcher.node_limit or MOST_NODES, most)
        else:
            hard, last = (min(limit - elapsed, LONGEST_TIME) for limit in manager.budget[1:])
            self._searcher.limit_time(hard, last)

    def _elapsed(self) -> float:
        """Milliseconds of the search so far, by its clock."""
        return self._searcher.nodes / self._nodestime if self._nodestime else self._clock.elapsed()

    def _settle(self, limits: Limits) -> None:
        """Take what a move has cost off the clock that counts nodes; what was pondered is free."""
        if limits.nodestime:
            pondered = self._searcher.nodes if self._pondering else self._nodes_pondered
            self._node_clock.spend(
                self._searcher.nodes - pondered, limits.increment[self._searcher.board.side]
            )

    def _deepen(
        self, limits: Limits, manager: TimeManager, moves: list[int], is_restricted: bool
    ) -> list[Line]:
        """Search deeper and deeper; returns the best lines, best first."""
        searcher = self._searcher
        wanted = max(1, min(limits.lines, len(moves)))
        static = searcher.evaluation.value(searcher.board)
        lines = [Line(static, [move], 1) for move in moves[:wanted]]
        deepest = min(limits.depth or MAX_PLY - 1, MAX_PLY - 1)
        for depth in range(1, deepest + 1):
            self._depth = depth
            found: list[Line] = []
            for number in range(wanted):
                if is_restricted or number:
                    self._allow(moves, lines, found)
                score = self._iterate(depth, lines[number].score, number)
                pv = searcher.principal_variation()
                searcher.has_move = True
                searcher.look_at_clock()
                if not self._stop.is_set():
                    found.append(Line(score, pv, depth))
                    continue
                # An iteration cut short still counts once it has a move: the first it tried was the last
                # one's best.
                if pv:
                    found.append(Line(searcher.root_score, pv, depth))
                elif self._failed_high is not None:
                    found.append(self._failed_high)
                break
            # The search for a mate of a given length keeps to the same moves.
            searcher.allow(moves if is_restricted else [])
            heads = {line.pv[0] for line in found}
            rest = [line for line in lines if line.pv[0] not in heads]
            lines = (sorted(found, key=lambda line: -line.score) + rest)[:wanted]
            # Also of an unfinished iteration: what it has cost, and what it may have changed.
            for number, line in enumerate(lines, 1):
                self._tell_line(line, number)
            if self._stop.is_set():
                break
            if limits.mate is not None and self._finds_mate(limits.mate, lines, depth):
                break
            share = searcher.nodes_under(lines[0].pv[0]) / max(1, searcher.nodes)
            manager.after_iteration(lines[0].pv[0], lines[0].score, share)
            if self._is_enough(limits, manager, depth, len(moves)):
                break
        return lines

    def _allow(self, moves: list[int], lines: list[Line], found: list[Line]) -> None:
        """Restrict the root to moves that no line found begins with, the best of the last iteration first."""
        taken = {line.pv[0] for line in found}
        before = [line.pv[0] for line in lines]
        first = next((move for move in before if move not in taken), 0)
        self._searcher.allow(sorted((m for m in moves if m not in taken), key=lambda m: m != first))

    def _finds_mate(self, moves: int, lines: list[Line], depth: int) -> bool:
        """Whether a mate in so many moves is found: by the iteration, or in a window of its own."""
        moves = min(moves, MAX_PLY // 2)
        if lines[0].score < MATE - 2 * moves:
            # Within these bounds nothing is left out that could be the mate, neither now nor where the result
            # is the table's.
            self._searcher.seeks_mate = True
            self.table.salt = MATE_SALT
            score = self._search_root(MATE - 2 * moves, INFINITE, depth)
            self._searcher.seeks_mate = False
            self.table.salt = 0
            if score > MATE - 2 * moves and not self._stop.is_set():
                lines[0] = Line(score, self._searcher.principal_variation(), depth)
                self._tell_line(lines[0])
        return lines[0].score > MATE - 2 * moves

    def _is_enough(self, limits: Limits, manager: TimeManager, depth: int, count: int) -> bool:
        """Whether the time, the nodes or the position ask for no further iteration."""
        if limits.nodes is not None and self._searcher.nodes >= limits.nodes:
            return True
        if manager.budget is None:
            return False
        enough = manager.is_enough(self._elapsed())
        if limits.movetime is None and count == 1 and depth >= FORCED_DEPTH:
            enough = True
        with self._lock:
            self._enough = enough
            return enough and not self._pondering

    def _iterate(self, depth: int, guess: int, number: int) -> int:
        """Search to a depth, first in a narrow window around the last score, wider while the score falls
        outside.
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
            if self._searcher.is_telling:
                self._tell_line(failed, number + 1)

    def _search_root(self, alpha: int, beta: int, depth: int) -> int:
        searcher = self._searcher
        searcher.extension_ply = depth
        with cython.nogil:
            return search(searcher, alpha, beta, depth, 0, 0, False)

    def _reply(self, move: int) -> int:
        """The reply to a move that the table expects, or NO_MOVE."""
        board = self._searcher.board
        board.make(move)
        data = self.table.probe(board.key)
        expected = [reply for reply in legal_moves(board) if data and short_move(reply) == move_of(data)]
        board.unmake()
        return expected[0] if expected else NO_MOVE

    # Reports.

    def _tick(self) -> None:
        searcher = self._searcher
        searcher.is_telling = True
        self._on_statistics(
            Statistics(
                self._depth,
                searcher.seldepth,
                searcher.nodes,
                self._clock.elapsed(),
                self.table.fullness(),
            )
        )

    def _tell_root_move(self, move: int, number: int) -> None:
        self._on_progress(Progress(self._depth, move, number))

    def _tell_line(self, line: Line, number: int = 1) -> None:
        searcher = self._searcher
        self._on_report(
            Report(
                line.depth,
                searcher.seldepth,
                line.score,
                mate_distance(line.score),
                searcher.nodes,
                self._clock.elapsed(),
                self.table.fullness(),
                line.pv,
                number,
                line.bound,
            )
        )


def _ignore(_told: object) -> None:
    """Nobody listens."""
