"""The engine's own opening book."""

from typing import TYPE_CHECKING

from search.limits import Limits
from x88.board import Board

if TYPE_CHECKING:
    from random import Random

    from x88.book.book import Book

LATEST_MOVE = 255
"""The largest value of the option Book Depth."""


class OwnBook:
    """The book, and the values of the options OwnBook, Best Book Move, Book Depth and Book Seed."""

    def __init__(self) -> None:
        self.is_on = False
        self.takes_best = False
        self.last_move = LATEST_MOVE
        self._book: Book | None = None
        self._seed = 0
        self._chance: Random | None = None
        """None until the first move is drawn."""

    def open(self, path: str) -> None:
        """Use the book at a path now; empty is none. Raises ValueError or OSError, keeping the old."""
        from x88.book.book import Book  # seldom needed

        book = Book(path) if path else None
        if self._book is not None:
            self._book.close()
        self._book = book

    def draw_by(self, seed: int) -> None:
        """Draw moves with a seed, so that games are reproducible; at random if it is 0."""
        self._seed = seed
        self._chance = None

    def move(self, board: Board, limits: Limits) -> int:
        """A move of the book, packed; 0 if it has none, or if the search is not for a game move. Raises
        ValueError if the book file has been truncated meanwhile.
        """
        if self._book is None or not self.is_on or board.fullmove > self.last_move:
            return 0
        if (
            limits.infinite
            or limits.ponder
            or limits.searchmoves
            or limits.mate is not None
            or limits.lines > 1
        ):
            return 0
        if self._chance is None:
            from random import Random  # as seldom needed as books

            self._chance = Random(self._seed or None)
        return self._book.choose(board, self._chance, self.takes_best)
