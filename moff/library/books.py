"""Opening books in Polyglot's format, in the words of python-chess's documentation of `chess.polyglot`."""

import random as chance
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from x88.book import book as books

if not cython.compiled:
    from moff.library.boards import Board
    from moff.library.moves import Move, from_packed, shared

__all__ = ["Book", "Entry"]


class Entry(NamedTuple):
    """A move of a book in a position: as its file has it, and as a legal move."""

    key: int
    raw_move: int
    weight: int
    learn: int
    move: "Move"


class Book:
    """A book, read into memory. What its moves weigh nothing or are not legal is left out."""

    def __init__(self, path: str | Path) -> None:
        """Raises ValueError if the file is not a book, or OSError."""
        books.Book(path).close()
        self._content = Path(path).read_bytes()
        self._count = len(self._content) // books.ENTRY.size

    def find_all(self, board: "Board") -> list[Entry]:
        """The entries of a position, in the order of the file."""
        if not isinstance(board, Board):
            raise TypeError(f"{board!r:.80} is not a Board")
        key = board.x88.key
        low = 0
        high = self._count
        while low < high:
            middle = (low + high) >> 1
            if self._number(16 * middle, 8) < key:
                low = middle + 1
            else:
                high = middle
        found: list[Any] = []
        for at in range(16 * low, 16 * self._count, 16):
            if self._number(at, 8) != key:
                break
            raw, weight = self._number(at + 8, 2), self._number(at + 10, 2)
            promoted = raw >> 12
            if weight and promoted <= 4:
                number = (raw >> 6 & 63) | (raw & 63) << 6 | (promoted + (promoted > 0)) << 12
                if packed := board.packed(shared(number)):
                    move = from_packed(packed, board.chess960)
                    # Takes half of the time of calling the class.
                    found.append(tuple.__new__(Entry, (key, raw, weight, self._number(at + 12, 4), move)))
        return found

    def find(self, board: "Board") -> Entry:
        """The entry of the largest weight. Raises IndexError if there is none."""
        found = self.get(board)
        if found is None:
            raise IndexError(f"the book has no move for {board.fen()}")
        return found

    def get(self, board: "Board", default: Entry | None = None) -> Entry | None:
        """The entry of the largest weight, or the default if there is none."""
        return max(self.find_all(board), key=itemgetter(2), default=default)

    def choice(self, board: "Board", random: Any = chance) -> Entry:
        """An entry drawn with a `random.Random` if given, all alike. Raises IndexError if there is none."""
        return random.choice(self.find_all(board) or [self.find(board)])  # type: ignore[no-any-return]

    def weighted_choice(self, board: "Board", random: Any = chance) -> Entry:
        """An entry drawn by weight, with a `random.Random` if given. Raises IndexError if there is none."""
        found = self.find_all(board) or [self.find(board)]
        drawn: Entry = random.choices(found, [entry.weight for entry in found])[0]
        return drawn

    def __contains__(self, board: object) -> bool:
        return isinstance(board, Board) and bool(self.find_all(board))

    def __len__(self) -> int:
        return self._count

    def __enter__(self) -> "Book":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Nothing, since no file is open."""

    def _number(self, at: int, size: int) -> int:
        """The number in so many bytes from an index on."""
        number = 0
        for i in range(at, at + size):
            number = number << 8 | self._content[i]
        return number
