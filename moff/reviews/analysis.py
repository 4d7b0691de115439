"""Searches games move by move, several at once, each in one thread with its own search.

At a fixed number of nodes the result depends only on the game: every game begins with an empty transposition
table.
"""

import queue
import threading
from collections.abc import Callable
from typing import NamedTuple

from moff.syzygy_path import search_with_tables
from search.limits import Limits
from search.line import Report
from search.score import DRAW, MATE, mate_distance
from search.search import Search
from x88.attack import in_check
from x88.board import Board
from x88.move import NO_MOVE
from x88.movegen import legal_moves
from x88.notation import fen
from x88.notation.outcome import Outcome, outcome

LONGEST_LINE = 8
"""Plies kept of the best line."""


class Assessment(NamedTuple):
    """The search's result in a position."""

    score: int
    """Centipawns for the side to move, or a mate score."""
    depth: int
    """Plies; 0 if the game is over here by the rules, so that no search is needed."""
    line: list[int]
    """The best moves, packed, at most LONGEST_LINE; empty if the game is over here."""


class Finished(NamedTuple):
    """A searched game: its number, and the assessments of its positions."""

    number: int
    assessments: list[Assessment]


class Analysis:
    """Threads that search games.

    Games go in by `submit` and come out by `take`, in the order in which they are finished. `close` ends the
    threads at once and drops unfinished games.
    """

    def __init__(self, limits: Limits, threads: int, megabytes: int = 16, helpers: int = 0) -> None:
        """`limits` apply to each position. Each thread has a table, and a search with so many helpers, whose
        results differ from one time to the next. Raises ValueError or MemoryError.
        """
        self._limits = limits
        self._searches = [search_with_tables(megabytes) for _ in range(threads)]
        for search in self._searches:
            search.resize_pool(1 + helpers)
        self._done = [0] * threads
        self._is_closed = False
        self._tasks: queue.SimpleQueue[tuple[int, str, list[int]] | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[Finished | BaseException] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._work, args=(number,), name=f"analysis {number}", daemon=True)
            for number in range(threads)
        ]
        for thread in self._threads:
            thread.start()
        self.waiting = 0
        """Games submitted and not yet taken."""

    @property
    def positions(self) -> int:
        """Positions searched so far."""
        return sum(self._done)

    def submit(self, number: int, start: str, moves: list[int]) -> None:
        """Queue a game for searching: its number, the FEN it starts from, and its packed moves."""
        self.waiting += 1
        self._tasks.put((number, start, moves))

    def take(self, timeout: float) -> Finished | None:
        """A finished game; None if there is none within `timeout` seconds."""
        try:
            found = self._results.get(timeout=timeout)
        except queue.Empty:
            return None
        if isinstance(found, BaseException):
            raise found
        self.waiting -= 1
        return found

    def close(self) -> None:
        """Stop all searches and wait for the threads to end."""
        self._is_closed = True
        for _ in self._threads:
            self._tasks.put(None)
        for thread, search in zip(self._threads, self._searches, strict=True):
            # More than once, since a search that was about to begin misses the first time.
            while thread.is_alive():
                search.stop()
                thread.join(0.01)

    def _work(self, number: int) -> None:
        """Search one game after another until there are no more."""

        def count(_assessment: Assessment) -> None:
            self._done[number] += 1

        while (task := self._tasks.get()) is not None and not self._is_closed:
            game, start, moves = task
            try:
                found = assess(self._searches[number], self._limits, start, moves, count, self._has_ended)
            except BaseException as error:
                self._results.put(error)
                return
            if found is not None:
                self._results.put(Finished(game, found))

    def _has_ended(self) -> bool:
        return self._is_closed


def assess(
    search: Search,
    limits: Limits,
    start: str,
    moves: list[int],
    on_position: Callable[[Assessment], object],
    is_stopped: Callable[[], bool],
) -> list[Assessment] | None:
    """Assess the position before the first move of a game and those after each; None if stopped.

    The last position comes first, so that the transposition table already holds what follows each move.
    """
    search.new_game()
    found: list[Assessment] = []
    board = _played(start, moves)
    for plies in range(len(moves), -1, -1):
        assessment = _decided(board, plies == len(moves)) or _searched(search, board, limits)
        if is_stopped():
            return None
        found.append(assessment)
        on_position(assessment)
        if board.ply:
            board.unmake()
        elif plies:  # a very long game: the board has forgotten its beginning
            board = _played(start, moves[: plies - 1])
    return found[::-1]


def _played(start: str, moves: list[int]) -> Board:
    """The board after these moves, with its history for repetitions."""
    board = fen.parse(start, chess960=True)
    for move in moves:
        if move == NO_MOVE:
            board.make_null()
        else:
            board.make(move)
    return board


def _decided(board: Board, is_last: bool) -> Assessment | None:
    """The assessment of a position that ends the game by the rules, otherwise None. A draw to be claimed
    counts only if the game ends with it.
    """
    over = outcome(board)
    if over is None or (over in (Outcome.FIFTY_MOVES, Outcome.REPETITION) and not is_last):
        return None
    return Assessment(-MATE if over == Outcome.CHECKMATE else DRAW, 0, [])


def _searched(search: Search, board: Board, limits: Limits) -> Assessment:
    """The assessment of a position by a search."""
    reports: list[Report] = []
    result = search.think(board, limits, reports.append)
    # The last report on the chosen move: an interrupted iteration may have ended with another one.
    last = next((report for report in reversed(reports) if report.pv[:1] == [result.move]), reports[-1])
    # A low node limit may miss even a mate in one, which must never happen.
    if mate_distance(last.score) != 1 and (mate := _mate_in_one(board)) != NO_MOVE:
        return Assessment(MATE - 1, 1, [mate])
    return Assessment(last.score, last.depth, _legal(board, last.pv[:LONGEST_LINE]))


def _mate_in_one(board: Board) -> int:
    """A move that gives mate, NO_MOVE if there is none."""
    copy = board.copy()
    for move in legal_moves(copy):
        copy.make(move)
        is_mate = in_check(copy) and not legal_moves(copy)
        copy.unmake()
        if is_mate:
            return move
    return NO_MOVE


def _legal(board: Board, line: list[int]) -> list[int]:
    """The line as far as its moves are legal, in case the transposition table holds wrong moves."""
    copy = board.copy()
    for i, move in enumerate(line):
        if move not in legal_moves(copy):
            return line[:i]
        copy.make(move)
    return line
