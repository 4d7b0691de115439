"""Opening books (`x88.book.book`) made from games, in bounded memory."""

import heapq
import itertools
import struct
import tempfile
from collections.abc import Iterator
from typing import IO, NamedTuple

from x88.book.book import ENTRY, Entry, encode
from x88.move import NO_MOVE
from x88.notation import fen
from x88.notation.pgn import Game

RUN = struct.Struct(">QHII")
"""A move's record while a book is made: key, move, games, twice the points of the side to move."""

POINTS = {"1-0": (2, 0), "1/2-1/2": (1, 1), "0-1": (0, 2)}
"""Twice the points of White and of Black, by result."""

HEAVIEST = 0xFFFF
"""The largest weight."""

HELD = 200_000
"""Moves held in memory while a book is made, about 50 MB; more go to temporary files."""


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


class Maker:
    """Counts the moves of games, in bounded memory, and writes a book of them.

    The weight of a move is its points, two for a win and one for a draw, as in Polyglot; where one is too
    large for the format, all weights of the position are scaled down.
    """

    def __init__(self, wanted: Wanted, held: int = HELD) -> None:
        self._wanted = wanted
        self._held = held
        self._sums: dict[tuple[int, int], list[int]] = {}
        self._runs: list[IO[bytes]] = []
        self.games = 0
        """Games added; those without a result do not count."""

    def add(self, game: Game) -> None:
        """Add a game: its moves up to the first fault."""
        points = POINTS.get(game.result)
        if points is None:
            return
        self.games += 1
        board = fen.parse(game.start, chess960=True)
        for played in game.moves[: self._wanted.plies]:
            if played.move == NO_MOVE:
                break
            gained = points[board.side]
            if gained == 2 or not self._wanted.only_wins:
                sums = self._sums.setdefault((board.key, encode(played.move)), [0, 0])
                sums[0] += 1
                sums[1] += gained
            board.make(played.move)
        if len(self._sums) >= self._held:
            self._spill()

    def write(self, file: IO[bytes]) -> int:
        """Write the book; returns the number of its entries. Raises ValueError if it has none, or OSError."""
        count = 0
        for entries in self._positions():
            count += len(entries)
            file.write(b"".join(ENTRY.pack(*entry) for entry in entries))
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

    def _spill(self) -> None:
        """Write the moves in memory to a temporary file, sorted."""
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
