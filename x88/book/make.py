"""Opening books (`x88.book.book`) made from games, in bounded memory."""

import os
import struct
import tempfile
from collections.abc import Iterator
from typing import IO, BinaryIO, NamedTuple

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from x88.book.book import ENTRY
from x88.notation.pgn import Game, Reader

if not cython.compiled:
    from x88.board import Board
    from x88.move import NO_MOVE, book_move
    from x88.notation.pgn import Move

POINTS = {"1-0": (2, 0), "1/2-1/2": (1, 1), "0-1": (0, 2)}
"""Twice the points of White and of Black, by result."""

HEAVIEST = 0xFFFF
"""The largest weight."""

HELD = 200_000
"""Moves held in memory while a book is made; more go to temporary files."""

LONGEST_LINE = 32768
"""Plies of a game that can go into a book: more than any game has under the 75-move rule."""

RECORD = struct.Struct(">QHII")
"""A move in a temporary file: key, move, games, points."""


class Wanted(NamedTuple):
    """The moves that go into a book."""

    plies: int = 20
    """Only moves in this many first plies of a game."""
    min_games: int = 3
    """Only moves played in at least this many games."""
    min_score: float = 0.0
    """Only moves that scored at least this many per cent for the side that played them."""
    only_wins: bool = False
    """Only moves of the side that won."""


class OpeningReader(Reader):
    """A reader of the first plies of games, up to a null move; of the rest it reads only the result."""

    def __init__(self, stream: BinaryIO, plies: int) -> None:
        super().__init__(stream)
        self.plies = min(plies, LONGEST_LINE)
        self.length = 0
        self.side = 0
        if not cython.compiled:
            self.keys = [0] * 32768
            self.moves = [0] * 32768

    def __next__(self) -> Game:
        self.length = 0
        return super().__next__()

    def _take(self, board: Board, moves: list[Move], move: int, in_variation: bool) -> bool:
        if not in_variation:
            if move == NO_MOVE:
                return True
            if not self.length:
                self.side = board.side
            self.keys[self.length] = board.key
            self.moves[self.length] = book_move(move)
            self.length += 1
        self._keep_last(board, moves, move)
        return not in_variation and self.length >= self.plies


class Maker:
    """Counts the moves of games, in bounded memory, and writes a book of them.

    The weight of a move is its points, two for a win and one for a draw, as in Polyglot; where one is too
    large for the format, all weights of the position are scaled down.

    A hash table counts: key, move, games, and twice the points of the side to move. A move's slot comes from
    the highest bits of the key, so that the table is almost sorted as a book is.
    """

    def __init__(self, wanted: Wanted, held: int = HELD) -> None:
        self._wanted = wanted
        self._most = held
        self._held = 0
        self._shift = 0
        self._runs: list[IO[bytes]] = []
        self.games = 0
        """Games added; those without a result do not count."""
        if not cython.compiled:
            self._table = [0] * 1048576

    def add(self, stream: BinaryIO) -> Iterator[Game]:
        """Add the games of a PGN file, each up to its first fault; yields each when it is added. Only the
        stream itself raises.
        """
        opening = OpeningReader(stream, self._wanted.plies)
        for game in opening:
            points = POINTS.get(game.result)
            if points is not None:
                self.games += 1
                self._add_line(opening, points[0], points[1], self._wanted.only_wins)
                if self._held >= self._most:
                    self._spill()
            yield game

    def write(self, file: IO[bytes]) -> int:
        """Write the book; returns the number of its entries. Raises ValueError if it has none, or OSError."""
        if self._runs:
            self._spill()
        # The runs are counted together in parts that fill half of the table.
        while self._runs and 1 << self._shift < 2 * len(self._runs):
            self._shift += 1
        for run in self._runs:
            run.seek(0)
        count = 0
        for part in range(1 << self._shift):
            for run in self._runs:
                self._add_part(run, part)
            count += self._write_entries(file)
        if not self.games:
            raise ValueError("there is no game with a result")
        if not count:
            raise ValueError("no move qualifies")
        return count

    def close(self) -> None:
        """Delete the temporary files."""
        for run in self._runs:
            run.close()
        self._runs.clear()

    def _add_line(self, opening: OpeningReader, white: int, black: int, only_wins: bool) -> None:
        """Add the moves of a game, given twice the points of White and of Black."""
        for i in range(opening.length):
            points = black if opening.side + i & 1 else white
            if points == 2 or not only_wins:
                self._add(opening.keys[i], opening.moves[i], 1, points)

    def _add(self, key: int, move: int, games: int, points: int) -> None:
        """Add a move to the table."""
        slot = key >> (46 - self._shift) << 2 & 0xFFFFC
        while self._table[slot + 2] and (self._table[slot] != key or self._table[slot + 1] != move):
            slot = slot + 4 & 0xFFFFC
        if not self._table[slot + 2]:
            self._held += 1
            self._table[slot] = key
            self._table[slot + 1] = move
            self._table[slot + 3] = 0
        self._table[slot + 2] += games
        self._table[slot + 3] += points

    def _sort(self) -> int:
        """Sort the table by key, without gaps; returns the index after its last move."""
        table = self._table
        end = 0
        for slot in range(0, 1048576, 4):
            games = table[slot + 2]
            if games:
                table[slot + 2] = 0
                key, move, points = table[slot], table[slot + 1], table[slot + 3]
                to = end
                while to and table[to - 4] > key:
                    to -= 4
                    for i in range(to, to + 4):
                        table[i + 4] = table[i]
                table[to], table[to + 1], table[to + 2], table[to + 3] = key, move, games, points
                end += 4
        self._held = 0
        return end

    def _spill(self) -> None:
        """Move the table to a temporary file, sorted."""
        run = tempfile.TemporaryFile()  # noqa: SIM115  (`close` closes it)
        self._runs.append(run)
        table = self._table
        for slot in range(0, self._sort(), 4):
            run.write(RECORD.pack(table[slot], table[slot + 1], table[slot + 2], table[slot + 3]))
            table[slot + 2] = 0

    def _add_part(self, run: IO[bytes], part: int) -> None:
        """Add the moves of a part from a temporary file, which has been read up to there."""
        while records := run.read(RECORD.size * 1024):
            for i, (key, move, games, points) in enumerate(RECORD.iter_unpack(records)):
                if key >> (64 - self._shift) != part:
                    run.seek(i * RECORD.size - len(records), os.SEEK_CUR)
                    return
                self._add(key, move, games, points)

    def _write_entries(self, file: IO[bytes]) -> int:
        """Write the entries that are wanted of the table, and clear it; returns their number."""
        table = self._table
        least, score = self._wanted.min_games, self._wanted.min_score
        end = self._sort()
        slot = count = 0
        while slot < end:
            key = table[slot]
            rows = []
            while slot < end and table[slot] == key:
                games, points = table[slot + 2], table[slot + 3]
                if games >= least and 50 * points >= score * games:
                    rows.append((-points, table[slot + 1]))
                table[slot + 2] = 0
                slot += 4
            rows.sort()
            for minus_points, move in rows:
                divisor = max(1, -(rows[0][0] // HEAVIEST))
                file.write(ENTRY.pack(key, move, -(minus_points // divisor), 0))
            count += len(rows)
        return count
