"""Opening books (`x88.book.book`) made from games, in bounded memory."""

import os
import tempfile
from collections.abc import Iterator
from typing import IO, BinaryIO, NamedTuple

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

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

RECORD = 18
"""Bytes of a move in a temporary file: key, move, games and points, of 8, 2, 4 and 4 bytes."""


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
        self._only_wins = wanted.only_wins
        self._min_games = wanted.min_games
        self._min_score = wanted.min_score
        self._most = held
        self._held = 0
        self._shift = 0
        self._runs: list[IO[bytes]] = []
        self._filled = 0
        self.games = 0
        """Games added; those without a result do not count."""
        if not cython.compiled:
            self._table = [0] * 1048576
            self._output = bytearray(65536)

    def add(self, stream: BinaryIO) -> Iterator[Game]:
        """Add the games of a PGN file, each up to its first fault; yields each when it is added. Only the
        stream itself raises.
        """
        opening = OpeningReader(stream, self._wanted.plies)
        for game in opening:
            points = POINTS.get(game.result)
            if points is not None:
                self.games += 1
                self._add_line(opening, points[0], points[1])
                if self._held >= self._most:
                    self._spill()
            opening.length = 0
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

    def _add_line(self, opening: OpeningReader, white: int, black: int) -> None:
        """Add the moves of a game, given twice the points of White and of Black."""
        for i in range(opening.length):
            points = black if opening.side + i & 1 else white
            if points == 2 or not self._only_wins:
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
        """Sort the table as books are, without gaps; returns the index after its last move."""
        table = self._table
        end = 0
        for slot in range(0, 1048576, 4):
            games = table[slot + 2]
            if games:
                table[slot + 2] = 0
                key, move, points = table[slot], table[slot + 1], table[slot + 3]
                to = end
                while to and (
                    table[to - 4] > key
                    or (table[to - 4] == key and table[to - 1] < points)
                    or (table[to - 4] == key and table[to - 1] == points and table[to - 3] > move)
                ):
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
        for slot in range(0, self._sort(), 4):
            self._put(run, self._table[slot], 8)
            self._put(run, self._table[slot + 1], 2)
            self._put(run, self._table[slot + 2], 4)
            self._put(run, self._table[slot + 3], 4)
            self._table[slot + 2] = 0
        self._flush(run)

    def _add_part(self, run: IO[bytes], part: int) -> None:
        """Add the moves of a part from a temporary file, which has been read up to there."""
        while records := run.read(RECORD * 1024):
            end = self._add_records(records, len(records), part)
            if end < len(records):
                run.seek(end - len(records), os.SEEK_CUR)
                return

    def _add_records(self, records: bytes, size: int, part: int) -> int:
        """Add moves up to the end of a part; returns the index after."""
        i = 0
        while i < size and _number(records, i, 8) >> (64 - self._shift) == part:
            games, points = _number(records, i + 10, 4), _number(records, i + 14, 4)
            self._add(_number(records, i, 8), _number(records, i + 8, 2), games, points)
            i += RECORD
        return i

    def _write_entries(self, file: IO[bytes]) -> int:
        """Write the entries that are wanted of the table, and clear it; returns their number."""
        table = self._table
        end = self._sort()
        count = 0
        first = 0
        while first < end:
            key = table[first]
            most = 0
            after = first
            while after < end and table[after] == key:
                games, points = table[after + 2], table[after + 3]
                if games < self._min_games or 50 * points < self._min_score * games:
                    table[after + 2] = 0
                elif points > most:
                    most = points
                after += 4
            divisor = (most + HEAVIEST - 1) // HEAVIEST if most else 1
            for slot in range(first, after, 4):
                if table[slot + 2]:
                    self._put(file, key, 8)
                    self._put(file, table[slot + 1], 2)
                    self._put(file, (table[slot + 3] + divisor - 1) // divisor, 2)
                    self._put(file, 0, 4)
                    table[slot + 2] = 0
                    count += 1
            first = after
        self._flush(file)
        return count

    def _put(self, file: IO[bytes], number: int, size: int) -> None:
        """Write a number of so many bytes, the highest first."""
        if self._filled > 65528:
            self._flush(file)
        for i in range(size - 1, -1, -1):
            self._output[self._filled] = number >> 8 * i & 0xFF
            self._filled += 1

    def _flush(self, file: IO[bytes]) -> None:
        file.write(self._output[: self._filled])
        self._filled = 0


def _number(text: bytes, start: int, size: int) -> int:
    """The number of so many bytes at an index."""
    number = 0
    for i in range(start, start + size):
        number = number << 8 | text[i]
    return number
