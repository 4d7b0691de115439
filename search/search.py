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

from search.clock import Clock, TimeManager
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
    from search.table import Table, move_of, short_move
    from x88.attack import in_check
    from x88.board import Board
    from x88.move import NO_MOVE


UPPER_BOUND = "upper"
LOWER_BOUND = "lower"

TELLING = 1000
"""Milliseconds after which the search says what it is at: root moves, bounds of unfinished iterations."""

FORCED_DEPTH = 5
"""Plies for a forced move: enough to expect a reply."""


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


class Result(NamedTuple):
    """The move chosen, packed, or NO_MOVE (0) where there is none; the reply expected, or NO_MOVE; the nodes
    it took.
    """

    move: int
    reply: int
    nodes: int


class Line(NamedTuple):
    """A principal variation of the root and its score."""

    score: int
    pv: list[int]
    bound: str = ""


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
        # What another thread may want of the search that runs: guarded by the lock.
        self._lock = threading.Lock()
        self._manager: TimeManager | None = None
        self._timers: list[threading.Timer] = []
        self._pondering = False
        self._enough = False
        self._is_unlimited = False
        self._nodes_left: float | None = None
        self._elo: int | None = None
        self._seed: int | None = None
        self._on_report: Callable[[Report], object] = _ignore
        self._on_progress: Callable[[Progress], object] = _ignore
        self._clock = Clock()
        self._depth = 0
        self._failed_high: Line | None = None

    def resize_table(self, megabytes: int) -> None:
        """Give the table another size, between searches. Raises ValueError or MemoryError and keeps the old
        one then.
        """
        self.table.resize(megabytes)

    def new_game(self) -> None:
        """Forget all that was learnt, between searches: the next one runs as the first one did."""
        self.table.clear()
        self._searcher.history.clear()
        # What is misjudged at a limited strength differs from game to game.
        chance = int.from_bytes(os.urandom(2), "big") if self._seed is None else self._seed
        self._searcher.evaluation.seed = (chance << 1 | 1) & 0xFFFF
        self._nodes_left = None

    def limit_strength(self, elo: int | None, seed: int | None = None) -> None:
        """Play as one of that rating does, between searches; None for one's best. What was learnt in another
        strength is forgotten.

        With a `seed` all games are alike in what is misjudged. Raises ValueError for a rating out of range
        (`search.strength`).
        """
        if (elo, seed) == (self._elo, self._seed):
            return
        self._searcher.evaluation.blur = 0 if elo is None else strength(elo).blur
        self._elo = elo
        self._seed = seed
        self.new_game()

    def start(
        self,
        board: Board,
        limits: Limits,
        on_report: Callable[[Report], object],
        on_result: Callable[[Result], object],
        started: float | None = None,
        on_progress: Callable[[Progress], object] | None = None,
    ) -> None:
        """Search a copy of the board in a thread. The callbacks run in that thread; the result is the last.

        `started` is the reading of `time.perf_counter` from which time counts. `on_progress` is told of every
        root move from the second second on. No search may be running.
        """
        self._prepare(board, limits)
        self._on_progress = on_progress or _ignore

        def run() -> None:
            result = self._think(limits, on_report, Clock(started))
            if limits.infinite or self._pondering:
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

    def ponderhit(self) -> None:
        """The move pondered on has been played: the clock runs from now, and what was thought meanwhile
        counts.
        """
        with self._lock:
            if not self._pondering:
                return
            self._pondering = False
            if self._enough or self._is_unlimited:
                self._stop.set()
            elif self._manager is not None and self._manager.budget is not None:
                self._set_timer(self._manager.budget.hard, lambda: self._stop.set())
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
        return self._think(limits, on_report or _ignore, Clock())

    def _prepare(self, board: Board, limits: Limits) -> None:
        self._stop.clear()
        self._released.clear()
        self._pondering = limits.ponder
        self._enough = False
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
            self._tell_line(0, Line(-MATE if checked else DRAW, []))
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
            limits = self._in_nodes(limits, side)
        with self._lock:
            manager = self._manager = TimeManager(limits, side)
            allowed = manager.budget
            if limits.nodestime:
                if allowed is not None:
                    most = max(1, int(allowed.hard * limits.nodestime))
                    searcher.node_limit = min(searcher.node_limit or most, most)
            elif allowed is not None and not self._pondering:
                self._set_timer(allowed.hard - self._clock.elapsed(), lambda: self._stop.set())
            if self._on_progress is not _ignore:
                searcher.on_root_move = self._tell_root_move
                self._set_timer(TELLING - self._clock.elapsed(), lambda: self._start_telling())
        return manager

    def _end(self) -> None:
        """Stop the clocks. A timer that has ended cannot stop the next search any more."""
        with self._lock:
            timers, self._timers = self._timers, []
            self._manager = None
            for timer in timers:
                timer.cancel()
        for timer in timers:
            timer.join()
        self._searcher.is_telling = False
        self._searcher.on_root_move = None

    def _set_timer(self, milliseconds: float, action: Callable[[], object]) -> None:
        timer = threading.Timer(max(0.0, milliseconds) / 1000, action)
        timer.daemon = True
        self._timers.append(timer)
        timer.start()

    def _in_nodes(self, limits: Limits, side: int) -> Limits:
        """The limits with the clock in nodes: what the GUI's says counts once, at a game's first move."""
        left = limits.time[side] if limits.time[side] is not None else limits.time[side ^ 1]
        if left is None or limits.movetime is not None:
            return limits
        if self._nodes_left is None:
            self._nodes_left = float(left * limits.nodestime)
        milliseconds = max(1, int(self._nodes_left / limits.nodestime))
        return limits._replace(time=(milliseconds, milliseconds), overhead=0)

    def _settle(self, limits: Limits) -> None:
        """Take what a move has cost off the clock that counts nodes."""
        if limits.nodestime and self._nodes_left is not None:
            gained = limits.increment[self._searcher.board.side] * limits.nodestime
            self._nodes_left = max(1.0, self._nodes_left + gained - self._searcher.nodes)

    def _deepen(
        self, limits: Limits, manager: TimeManager, moves: list[int], is_restricted: bool
    ) -> list[Line]:
        """Search deeper and deeper; returns the best lines, best first."""
        searcher = self._searcher
        wanted = max(1, min(limits.lines, len(moves)))
        lines = [Line(0, [move]) for move in moves[:wanted]]
        deepest = min(limits.depth or MAX_PLY - 1, MAX_PLY - 1)
        for depth in range(1, deepest + 1):
            self._depth = depth
            found: list[Line] = []
            for number in range(wanted):
                if is_restricted or number:
                    self._allow(moves, lines, found)
                score = self._iterate(depth, lines[number].score, number)
                pv = searcher.principal_variation()
                if not self._stop.is_set():
                    found.append(Line(score, pv))
                    continue
                # An iteration cut short still counts once it has a move: the first it tried was the last
                # one's best.
                if pv:
                    found.append(Line(searcher.root_score, pv))
                elif self._failed_high is not None:
                    found.append(self._failed_high)
                break
            # The search for a mate of a given length keeps to the same moves.
            searcher.allow(moves if is_restricted else [])
            heads = {line.pv[0] for line in found}
            rest = [line for line in lines if line.pv[0] not in heads]
            lines = (sorted(found, key=lambda line: -line.score) + rest)[:wanted]
            if self._stop.is_set():
                # What the unfinished iteration has cost, and what it may have changed.
                if depth == 1:
                    lines[0] = Line(searcher.evaluation.value(searcher.board), lines[0].pv)
                self._tell_lines(max(1, depth - 1), lines)
                break
            self._tell_lines(depth, lines)
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
        if lines[0].score < MATE - 2 * moves:
            # Within these bounds nothing is left out that could be the mate.
            score = self._search_root(MATE - 2 * moves, INFINITE, depth)
            if score > MATE - 2 * moves and not self._stop.is_set():
                lines[0] = Line(score, self._searcher.principal_variation())
                self._tell_line(depth, lines[0])
        return lines[0].score > MATE - 2 * moves

    def _is_enough(self, limits: Limits, manager: TimeManager, depth: int, count: int) -> bool:
        """Whether the time, the nodes or the position ask for no further iteration."""
        if limits.nodes is not None and self._searcher.nodes >= limits.nodes:
            return True
        if manager.budget is None:
            return False
        elapsed = self._clock.elapsed()
        if limits.nodestime:
            elapsed = self._searcher.nodes / limits.nodestime
        enough = manager.is_enough(elapsed)
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
            failed = Line(score, [], UPPER_BOUND)
            if score <= alpha:
                alpha = max(-INFINITE, score - width) if width < 500 else -INFINITE
            else:
                self._failed_high = Line(score, self._searcher.principal_variation(), LOWER_BOUND)
                beta = min(INFINITE, score + width) if width < 500 else INFINITE
                failed = self._failed_high
            if self._searcher.is_telling:
                self._tell_line(depth, failed, number + 1)

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

    def _start_telling(self) -> None:
        self._searcher.is_telling = True

    def _tell_root_move(self, move: int, number: int) -> None:
        self._on_progress(Progress(self._depth, move, number))

    def _tell_lines(self, depth: int, lines: list[Line]) -> None:
        for number, line in enumerate(lines, 1):
            self._tell_line(depth, line, number)

    def _tell_line(self, depth: int, line: Line, number: int = 1) -> None:
        searcher = self._searcher
        self._on_report(
            Report(
                depth,
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
