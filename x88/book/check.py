"""Checks an opening book (`x88.book.book`) for faults."""

from collections.abc import Iterator
from typing import NamedTuple

from x88.book.book import PROMOTIONS, Book, decode
from x88.notation import fen

LONGEST_LINE = 400
"""Plies that a check follows the book from the start position."""


class Fault(NamedTuple):
    """A fault of an entry, counted from 1."""

    entry: int
    text: str


class Check:
    """Finds the faults of a book: entries out of order or duplicated, moves that no position can have, and
    moves that are illegal in their position, where the book's own moves reach it from the start.
    """

    def __init__(self, book: Book) -> None:
        self._book = book
        self.positions = 0
        """Different keys in a row."""
        self.reached = 0
        """Positions that the book's moves lead to."""
        self.share = 0.0
        """The progress, from 0 to 1."""

    def faults(self) -> Iterator[Fault | None]:
        """All faults; None now and then, so that the caller can show progress."""
        before = None
        here: set[int] = set()
        for index, entry in enumerate(self._book):
            if index % 4096 == 0:
                self.share = index / len(self._book) / 2
                yield None
            if before is None or entry.key != before.key:
                self.positions += 1
                here.clear()
            if before is not None and entry.key < before.key:
                yield Fault(index + 1, "its key is smaller than the one before: it will not be found")
            if entry.move in here:
                yield Fault(index + 1, f"the move {_name(entry.move)} is a duplicate")
            here.add(entry.move)
            if reason := _malformed(entry.move):
                yield Fault(index + 1, f"the move {entry.move:#06x} {reason}")
            before = entry
        yield from self._illegal()

    def _illegal(self) -> Iterator[Fault | None]:
        """Follow the book's moves from the start position, each position once."""
        board = fen.parse(fen.START)
        seen: set[int] = set()
        line: list[list[int]] = []
        """For each ply, the moves still to be followed."""
        while True:
            following: list[int] = []
            if board.key not in seen:
                seen.add(board.key)
                first = self._book.first(board.key)
                for number, entry in enumerate(self._book.entries(board.key), first + 1):
                    move = decode(board, entry.move)
                    if move and len(line) < LONGEST_LINE:
                        following.append(move)
                    elif not move and not _malformed(entry.move):
                        yield Fault(number, f"{_name(entry.move)} is illegal in {fen.write(board)}")
                if following:
                    self.reached += 1
                    if self.reached % 256 == 0:
                        self.share = min(1.0, 0.5 + self.reached / max(1, self.positions) / 2)
                        yield None
            line.append(following)
            while line and not line[-1]:
                line.pop()
                if line:
                    board.unmake()
            if not line:
                return
            board.make(line[-1].pop())


def _name(text: int) -> str:
    """A book's move as origin and target."""
    letters = "".join("abcdefgh"[text >> at & 7] + str((text >> at + 3 & 7) + 1) for at in (6, 0))
    return letters + ("", "n", "b", "r", "q")[text >> 12] if text >> 12 < len(PROMOTIONS) else letters


def _malformed(text: int) -> str:
    """Why no position can have a move; empty if one can."""
    if text >> 12 >= len(PROMOTIONS):
        return "promotes to no piece"
    return "goes nowhere" if text & 0x3F == text >> 6 & 0x3F else ""
