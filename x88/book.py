"""Opening books in Polyglot's format, in and out.

A book is a table of moves by position. Source: Fabien Letouzey, "Book format", polyglot 1.4, 2006. Its
entries have 16 bytes each, big-endian, sorted by key:

| field | bytes | content |
|---|---|---|
| key | 8 | of the position, `Board.key` |
| move | 2 | from the lowest bit, 3 bits each: target file and row, origin file and row, promotion |
| weight | 2 | how often the move is to be played, compared with the others of the position |
| learn | 4 | unused |

The promotion is 0 for none, 1 knight, 2 bishop, 3 rook, 4 queen. Castling is written as the king's move to
the square of its rook. A reader trusts nothing: a move that is not legal in the position is passed over,
whatever the book says.
"""

import heapq
import itertools
import mmap
import os
import struct
import tempfile
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import IO, NamedTuple

from x88 import fen
from x88.board import Board
from x88.move import CASTLING, NO_MOVE, origin_of, promoted_of, target_of
from x88.movegen import legal_moves
from x88.pgn import Game
from x88.piece import BISHOP, KNIGHT, QUEEN, ROOK
from x88.square import FILE, RANK

ENTRY = struct.Struct(">QHHI")
KEY = struct.Struct(">Q")
RUN = struct.Struct(">QHII")
"""What is known of a move while a book is made: key, move, games, and points of the side to move, doubled."""

PROMOTIONS = (0, KNIGHT, BISHOP, ROOK, QUEEN)
POINTS = {"1-0": (2, 0), "1/2-1/2": (1, 1), "0-1": (0, 2)}
"""Twice the points of White and of Black, by result."""

HEAVIEST = 0xFFFF
"""The largest weight."""

HELD = 200_000
"""Moves that are held in memory while a book is made, some 50 MB; more go to temporary files."""


class Entry(NamedTuple):
    """An entry of a book as it stands in the file."""

    key: int
    move: int
    """As in the file; see `encode`."""
    weight: int
    learn: int


class Choice(NamedTuple):
    """A legal move that a book knows, packed, and its weight."""

    move: int
    weight: int


def encode(move: int) -> int:
    """A packed move as books write it."""
    origin, target = origin_of(move), target_of(move)
    if move & CASTLING:
        target = origin | 7 if target > origin else origin & RANK
    return _cell(target) | _cell(origin) << 6 | PROMOTIONS.index(promoted_of(move)) << 12


def decode(board: Board, text: int) -> int:
    """The legal move, packed, that a book's move means on this board; 0 if there is none. Castling may be
    written as the king's move by two squares too, as some old books do.
    """
    for move in legal_moves(board):
        step = _cell(target_of(move)) | _cell(origin_of(move)) << 6
        if encode(move) == text or (move & CASTLING and step == text):
            return move
    return 0


def _cell(square: int) -> int:
    """File and row of a square in six bits."""
    return square & FILE | square >> 4 << 3


class Book:
    """A book's file, mapped into memory. A move is found by binary search."""

    def __init__(self, path: str | Path) -> None:
        """Raises ValueError if the file is no book, or OSError."""
        self.path = Path(path)
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size == 0:
                raise ValueError(f"{path} is no book: it is empty")
            if size % ENTRY.size:
                raise ValueError(f"{path} is no book: {size} bytes are no multiple of {ENTRY.size}")
            self._content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._count = size // ENTRY.size

    def __len__(self) -> int:
        """The number of entries."""
        return self._count

    def __getitem__(self, index: int) -> Entry:
        """An entry by its place in the file. Raises IndexError."""
        if not 0 <= index < self._count:
            raise IndexError(f"{self.path} has {self._count} entries, none with the index {index}")
        return Entry(*ENTRY.unpack_from(self._content, index * ENTRY.size))

    def __iter__(self) -> Iterator[Entry]:
        """All entries in their order."""
        return (Entry(*words) for words in ENTRY.iter_unpack(self._content))

    def close(self) -> None:
        """Give the file back."""
        self._content.close()

    def entries(self, key: int) -> list[Entry]:
        """The entries of a position, in their order."""
        found = []
        for index in range(bisect_left(range(self._count), key, key=self._key), self._count):
            entry = self[index]
            if entry.key != key:
                break
            found.append(entry)
        return found

    def choices(self, board: Board) -> list[Choice]:
        """The legal moves that the book knows in a position, the heaviest first."""
        weights: dict[int, int] = {}
        for entry in self.entries(board.key):
            if move := decode(board, entry.move):
                weights[move] = weights.get(move, 0) + entry.weight
        return sorted((Choice(*pair) for pair in weights.items()), key=lambda choice: -choice.weight)

    def choose(self, board: Board, chance: Random, is_best: bool = False) -> int:
        """A move of the book for a position, packed; 0 if it knows none that may be played.

        A move is drawn by its weight, and never with a weight of 0; `is_best` takes the heaviest one.
        """
        choices = [choice for choice in self.choices(board) if choice.weight]
        if not choices:
            return 0
        if is_best:
            return choices[0].move
        return chance.choices(choices, [choice.weight for choice in choices])[0].move

    def _key(self, index: int) -> int:
        key: int = KEY.unpack_from(self._content, index * ENTRY.size)[0]
        return key


# --- Making a book


class Wanted(NamedTuple):
    """Which moves go into a book."""

    plies: int = 20
    """Those of the first plies of each game."""
    min_games: int = 3
    """Those that were played in so many games."""
    min_score: float = 0.0
    """Those that scored so many per cent or more for the side that played them."""
    only_wins: bool = False
    """Those of the side that won only."""


class Maker:
    """Adds up the moves of games, in bounded memory, and writes a book of them.

    The weight of a move is its points, two for a win and one for a draw, as Polyglot's are; where they are
    too large for the format, those of the position are divided alike.
    """

    def __init__(self, wanted: Wanted, held: int = HELD) -> None:
        self._wanted = wanted
        self._held = held
        self._sums: dict[tuple[int, int], list[int]] = {}
        self._runs: list[IO[bytes]] = []
        self.games = 0
        """Games that were added; those without a result are not."""

    def add(self, game: Game) -> None:
        """Add a game. Its moves up to the first fault count."""
        points = POINTS.get(game.result)
        if points is None:
            return
        self.games += 1
        board = fen.parse(game.start)
        for played in game.moves[: self._wanted.plies]:
            if played.move == NO_MOVE:
                break
            gained = points[board.side]
            if gained == 2 or not self._wanted.only_wins:
                sums = self._sums.setdefault((board.key, encode(played.move)), [0, 0])
                sums[0] += 1
                sums[1] += gained
            board.forget()
            board.make(played.move)
        if len(self._sums) >= self._held:
            self._spill()

    def write(self, path: str | Path) -> int:
        """Write the book; returns the number of its entries. An older file is replaced only once the new one
        is whole. Raises OSError.
        """
        part = Path(f"{path}.part")
        count = 0
        try:
            with part.open("wb") as file:
                for entries in self._positions():
                    count += len(entries)
                    file.write(b"".join(ENTRY.pack(*entry) for entry in entries))
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
        return count

    def close(self) -> None:
        """Give the temporary files back."""
        for run in self._runs:
            run.close()
        self._runs.clear()

    def _spill(self) -> None:
        """Write what is held to a temporary file, sorted."""
        run = tempfile.TemporaryFile()  # noqa: SIM115  (`close` closes it)
        self._runs.append(run)
        for (key, move), (games, points) in sorted(self._sums.items()):
            run.write(RUN.pack(key, move, games, points))
        self._sums.clear()

    def _positions(self) -> Iterator[list[Entry]]:
        """The entries that are wanted, by position, in the order of their keys."""
        held = ((*move, *sums) for move, sums in sorted(self._sums.items()))
        moves = heapq.merge(held, *map(_read_run, self._runs))
        for key, rows in itertools.groupby(moves, lambda row: row[0]):
            found = []
            for move, same in itertools.groupby(rows, lambda row: row[1]):
                games = points = 0
                for _, _, more, gained in same:
                    games += more
                    points += gained
                if games >= self._wanted.min_games and 50 * points >= self._wanted.min_score * games:
                    found.append((move, points))
            most = max((points for _, points in found), default=0)
            divisor = max(1, -(-most // HEAVIEST))
            entries = [Entry(key, move, -(-points // divisor), 0) for move, points in found]
            entries.sort(key=lambda entry: (-entry.weight, entry.move))
            yield entries


def _read_run(run: IO[bytes]) -> Iterator[tuple[int, int, int, int]]:
    run.seek(0)
    while content := run.read(RUN.size * 1024):
        yield from RUN.iter_unpack(content)
