"""Iterative deepening with aspiration windows: what a front end talks to.

A search runs without the GIL in a thread of its own and reports through callbacks; nothing here prints.
"""

import threading
from collections.abc import Callable
from typing import NamedTuple

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from search.clock import Clock, budget
from search.limits import Limits
from search.score import mate_distance
from x88.movegen import legal_moves

if not cython.compiled:
    from search.alphabeta import search
    from search.parameters import Parameters
    from search.score import DRAW, INFINITE, LONGEST_MATE, MATE, MAX_PLY
    from search.searcher import Searcher
    from search.stop import Stop
    from search.table import Table
    from x88.attack import in_check
    from x88.board import Board
    from x88.move import NO_MOVE


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


class Result(NamedTuple):
    """The move chosen, packed, or NO_MOVE (0) where there is none; the reply expected, or NO_MOVE; the nodes
    it took.
    """

    move: int
    reply: int
    nodes: int


class Search:
    """A searcher with its table, kept from move to move of a game."""

    def __init__(self, megabytes: int = 16, parameters: Parameters | None = None) -> None:
        """`megabytes` is the table's size; the parameters are those of the table of numbers if not given."""
        self._stop = Stop()
        self.table = Table(megabytes)
        self._searcher = Searcher(self.table, self._stop, parameters)
        self._released = threading.Event()
        self._thread: threading.Thread | None = None
        self._running = False

    def resize_table(self, megabytes: int) -> None:
        """Give the table another size, between searches. Raises ValueError or MemoryError and keeps the old
        one then.
        """
        self.table.resize(megabytes)

    def new_game(self) -> None:
        """Forget all that was learnt, between searches: the next one runs as the first one did."""
        self.table.clear()
        self._searcher.history.clear()

    def start(
        self,
        board: Board,
        limits: Limits,
        on_report: Callable[[Report], None],
        on_result: Callable[[Result], None],
        started: float | None = None,
    ) -> None:
        """Search a copy of the board in a thread. Both callbacks run in that thread; the result is the last.

        `started` is the reading of `time.perf_counter` from which time counts. No search may be running.
        """
        self._prepare(board, limits)

        def run() -> None:
            result = self._think(limits, on_report, Clock(started))
            if limits.infinite:
                self._released.wait()
            self._running = False
            on_result(result)

        self._running = True
        self._thread = threading.Thread(target=run, name="search", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the running search, if there is one; its result comes at once."""
        self._stop.set()
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
        self, board: Board, limits: Limits, on_report: Callable[[Report], None] | None = None
    ) -> Result:
        """Search in the calling thread."""
        self._prepare(board, limits)
        return self._think(limits, on_report or (lambda report: None), Clock())

    def _prepare(self, board: Board, limits: Limits) -> None:
        self._stop.clear()
        self._released.clear()
        self.table.new_search()
        self._searcher.prepare(board, limits.nodes or 0)

    def _think(self, limits: Limits, on_report: Callable[[Report], None], clock: Clock) -> Result:
        """Deepen until a limit is met."""
        moves = legal_moves(self._searcher.board)
        if not moves:
            on_report(self._report(0, -MATE if in_check(self._searcher.board) else DRAW, [], clock))
            return Result(NO_MOVE, NO_MOVE, 0)
        allowed = budget(limits, self._searcher.board.side)
        timer = None
        if allowed is not None:
            timer = threading.Timer(max(0.0, allowed.hard - clock.elapsed()) / 1000, lambda: self._stop.set())
            timer.daemon = True
            timer.start()
        pv = moves[:1]
        score = last = 0
        deepest = min(limits.depth or MAX_PLY - 1, MAX_PLY - 1)
        for depth in range(1, deepest + 1):
            score = self._iterate(depth, score)
            line = self._searcher.principal_variation()
            # An iteration cut short still counts once it has a move: the first it tried was the last one's
            # best.
            if line:
                pv = line
            if self._stop.is_set():
                if depth > 1:
                    # What the unfinished iteration has cost, and what it may have changed.
                    on_report(self._report(depth - 1, last, pv, clock))
                break
            last = score
            on_report(self._report(depth, score, pv, clock))
            if limits.mate is not None:
                if score < MATE - 2 * limits.mate:
                    # Within these bounds nothing is left out that could be the mate.
                    found = self._search_root(MATE - 2 * limits.mate, INFINITE, depth)
                    if found > MATE - 2 * limits.mate and not self._stop.is_set():
                        score = found
                        pv = self._searcher.principal_variation()
                        on_report(self._report(depth, score, pv, clock))
                if score > MATE - 2 * limits.mate:
                    break
            if allowed is not None and clock.elapsed() >= allowed.soft:
                break
            if limits.nodes is not None and self._searcher.nodes >= limits.nodes:
                break
        if timer is not None:
            # Once it has ended, it cannot stop the next search any more.
            timer.cancel()
            timer.join()
        return Result(pv[0], pv[1] if len(pv) > 1 else NO_MOVE, self._searcher.nodes)

    def _iterate(self, depth: int, guess: int) -> int:
        """Search to a depth, first in a narrow window around the last score, wider while the score falls
        outside.
        """
        width = self._searcher.parameters.aspiration
        alpha, beta = -INFINITE, INFINITE
        if depth >= 5 and abs(guess) < LONGEST_MATE:
            alpha, beta = guess - width, guess + width
        while True:
            score = self._search_root(alpha, beta, depth)
            if self._stop.is_set() or alpha < score < beta or (alpha == -INFINITE and beta == INFINITE):
                return score
            width *= 4
            if score <= alpha:
                alpha = max(-INFINITE, score - width) if width < 500 else -INFINITE
            else:
                beta = min(INFINITE, score + width) if width < 500 else INFINITE

    def _search_root(self, alpha: int, beta: int, depth: int) -> int:
        searcher = self._searcher
        searcher.extension_ply = depth
        with cython.nogil:
            return search(searcher, alpha, beta, depth, 0, 0, False)

    def _report(self, depth: int, score: int, pv: list[int], clock: Clock) -> Report:
        searcher = self._searcher
        return Report(
            depth,
            searcher.seldepth,
            score,
            mate_distance(score),
            searcher.nodes,
            clock.elapsed(),
            self.table.fullness(),
            pv,
        )
