"""Opening books in Polyglot's format. `x88.book.make` makes them, `x88.book.check` checks them.

A book is a table of moves by position. Source: Fabien Letouzey, "Book format", polyglot 1.4, 2006. Its
entries have 16 bytes each, big-endian, sorted by key:

| field | bytes | content |
|---|---|---|
| key | 8 | of the position, `Board.key` |
| move | 2 | from the lowest bit, 3 bits each: target file and rank, origin file and rank, promotion |
| weight | 2 | how often the move is to be played, compared with the others of the position |
| learn | 4 | unused |

The promotion is 0 for none, 1 knight, 2 bishop, 3 rook, 4 queen. Castling is written as the king's move to
the square of its rook. A reader trusts nothing: moves that are illegal in the position are skipped.
"""

import mmap
import os
import stat
import struct
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from x88.board import Board
from x88.move import CASTLING, book_move, is_home_castling, origin_of, target_of
from x88.movegen import legal_moves
from x88.piece import BISHOP, KNIGHT, QUEEN, ROOK
from x88.square import index64

ENTRY = struct.Struct(">QHHI")
KEY = struct.Struct(">Q")
CHECKED = 4096
"""Entries to read before checking the size of the file again."""

PROMOTIONS = (0, KNIGHT, BISHOP, ROOK, QUEEN)


class Entry(NamedTuple):
    """An entry of a book as it stands in the file."""

    key: int
    move: int
    """As in the file; see `x88.move.book_move`."""
    weight: int
    learn: int


class Choice(NamedTuple):
    """A legal move of a book, packed, and its weight."""

    move: int
    weight: int


def decode(board: Board, text: int) -> int:
    """The legal move, packed, that a book's move means on this board; 0 if there is none. In standard chess,
    castling may also be written as a king move of two squares, as in some old books.
    """
    for move in legal_moves(board):
        step = index64(target_of(move)) | index64(origin_of(move)) << 6
        if book_move(move) == text or (move & CASTLING and is_home_castling(move) and step == text):
            return move
    return 0


class Book:
    """A book file, mapped into memory. Positions are found by binary search."""

    def __init__(self, path: str | Path) -> None:
        """Raises ValueError if the file is not a book, or OSError."""
        self.path = Path(path)
        if not stat.S_ISREG(self.path.stat().st_mode):
            raise ValueError(f"{path} is not a book: it is not a file")
        with open(os.fspath(path), "rb") as file:  # no descriptor, which would be closed
            size = os.fstat(file.fileno()).st_size
            if size == 0:
                raise ValueError(f"{path} is not a book: it is empty")
            if size % ENTRY.size:
                raise ValueError(f"{path} is not a book: {size} bytes are not a multiple of {ENTRY.size}")
            self._content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._count = size // ENTRY.size

    def __len__(self) -> int:
        """The number of entries."""
        return self._count

    def __getitem__(self, index: int) -> Entry:
        """An entry by its index in the file. Raises IndexError."""
        if not 0 <= index < self._count:
            raise IndexError(f"{self.path} has {self._count} entries, none with the index {index}")
        return Entry(*ENTRY.unpack_from(self._content, index * ENTRY.size))

    def __iter__(self) -> Iterator[Entry]:
        """All entries in order. Raises ValueError if the file has been truncated meanwhile."""
        for index in range(self._count):
            if index % CHECKED == 0:
                self._check()
            yield self[index]

    def close(self) -> None:
        """Close the file."""
        self._content.close()

    def first(self, key: int) -> int:
        """The index of the first entry of a position, or where it would be."""
        return bisect_left(range(self._count), key, key=self._key)

    def entries(self, key: int) -> list[Entry]:
        """The entries of a position, in order. Raises ValueError if the file has been truncated meanwhile."""
        self._check()
        found = []
        for index in range(self.first(key), self._count):
            entry = self[index]
            if entry.key != key:
                break
            found.append(entry)
        return found

    def choices(self, board: Board) -> list[Choice]:
        """The book's legal moves in a position, largest weight first. Raises ValueError as `entries` does."""
        weights: dict[int, int] = {}
        for entry in self.entries(board.key):
            if move := decode(board, entry.move):
                weights[move] = weights.get(move, 0) + entry.weight
        return sorted((Choice(*pair) for pair in weights.items()), key=lambda choice: -choice.weight)

    def choose(self, board: Board, chance: Random, is_best: bool = False) -> int:
        """A move of the book for a position, packed; 0 if it has none that may be played.

        The move is drawn at random by weight, never one of weight 0; `is_best` takes the largest weight.
        Raises ValueError as `entries` does.
        """
        choices = [choice for choice in self.choices(board) if choice.weight]
        if not choices:
            return 0
        if is_best:
            return choices[0].move
        return chance.choices(choices, [choice.weight for choice in choices])[0].move

    def _check(self) -> None:
        """Reading a mapping beyond the end of its file would kill the process."""
        if self._content.size() < len(self._content):
            raise ValueError(f"{self.path} was truncated while in use")

    def _key(self, index: int) -> int:
        key: int = KEY.unpack_from(self._content, index * ENTRY.size)[0]
        return key
