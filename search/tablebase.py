"""Endgame tablebases ("Syzygy"): who wins a position with few pieces, and how soon.

The tables (`search.tablefile`) say it where no capture does better; captures, en passant and, for the
distance, pawn moves are followed here.
"""

import os

from search.tablefile import (
    BLESSED_LOSS,
    CURSED_WIN,
    DRAW,
    LOSS,
    MAGIC,
    NUMBER_OF_KIND,
    WIN,
    Men,
    Table,
    signature,
    signature_of,
)
from x88.attack import in_check
from x88.board import Board
from x88.move import CAPTURED, MOVED_SHIFT
from x88.movegen import legal_moves
from x88.piece import EMPTY, KIND, PAWN, side_of

MOST_PIECES = 7
"""Larger tables are not used."""


class Damage(Exception):
    """A table whose values cannot be read; `Tablebase.problems` says why."""


class Tablebase:
    """The tables of some folders."""

    def __init__(self, folders: list[str]) -> None:
        self._tables: dict[tuple[str, int], Table] = {}
        self.problems: list[str] = []
        """What is wrong with files that were to be used, told once each."""
        self.most = 0
        """The largest number of pieces, kings included, that a WDL table has."""
        for folder in folders:
            try:
                names = sorted(os.listdir(folder))
            except OSError as error:
                self.problems.append(f"{folder}: {error.strerror}")
                continue
            for name in names:
                self._add(folder, name)

    def _add(self, folder: str, name: str) -> None:
        parts = parse_name(name)
        if parts is None:
            return
        white, black, suffix = parts
        table = Table(os.path.join(folder, name), white, black, suffix)
        for key in {signature(white, black), signature(black, white)}:
            self._tables.setdefault((suffix, key), table)
        if suffix == ".rtbw":
            self.most = max(self.most, table.count)

    def wdl(self, board: Board) -> int | None:
        """The result of a position for the side to move, from LOSS to WIN; None if no table tells."""
        if board.castling or len(_men(board)) > self.most:
            return None
        try:
            found = self._search(board, False)
        except Damage:
            return None
        return None if found is None else found[0]

    def dtz(self, board: Board) -> int | None:
        """The distance to the next capture or pawn move that keeps the result, in plies: positive for a win,
        negative for a loss, 0 for a draw, more than 100 where the fifty-move rule saves the loser; None if no
        table tells. It may be one too high or low where a table stores moves rather than plies.
        """
        if board.castling or len(_men(board)) > self.most:
            return None
        try:
            return self._dtz(board)
        except Damage:
            return None

    def _dtz(self, board: Board) -> int | None:
        found = self._search(board, True)
        if found is None:
            return None
        result, zeroes = found
        if result == DRAW:
            return 0
        if zeroes:
            return _before_zeroing(result)
        men = _men(board)
        table = self._table(".rtbz", men)
        if table is None:
            return None
        sign = 1 if result > 0 else -1
        value = self._ask(table, men, board.side, result)
        if value is not None:
            return sign * (value + 100 * (abs(result) == 1))
        return self._dtz_by_moves(board, sign)

    def _dtz_by_moves(self, board: Board, sign: int) -> int | None:
        """DTZ where the table has the positions of the other side only: the best over all moves."""
        best: int | None = None
        for move in legal_moves(board):
            zeroing = _is_zeroing(move)
            board.make(move)
            try:
                if zeroing:
                    found = self._search(board, False)
                    value = None if found is None else -_before_zeroing(found[0])
                else:
                    value = self._dtz(board)
                    if value is not None:
                        value = -value
                mates = value == 1 and in_check(board) and not legal_moves(board)
            finally:
                board.unmake()
            if value is None:
                return None
            if mates:
                best = 1
            if not zeroing and value:
                value += 1 if value > 0 else -1
            if value * sign > 0 and (best is None or value < best):
                best = value
        return -1 if best is None else best

    def _search(self, board: Board, with_pawns: bool) -> tuple[int, bool] | None:
        """The result, and whether a zeroing move achieves it. Tables do not know en passant, and a capture
        may be better than what they hold, which then is anything: so captures are followed first;
        `with_pawns`, all pawn moves too.
        """
        best = LOSS
        tried = 0
        moves = legal_moves(board)
        for move in moves:
            if not move & CAPTURED and not (with_pawns and move >> MOVED_SHIFT & KIND == PAWN):
                continue
            tried += 1
            board.make(move)
            try:
                found = self._search(board, False)
            finally:
                board.unmake()
            if found is None:
                return None
            best = max(best, -found[0])
            if best == WIN:
                return WIN, True
        if tried and tried == len(moves):
            return best, True
        men = _men(board)
        table = self._table(".rtbw", men)
        if table is None:
            return None
        value = DRAW if table is BARE_KINGS else self._ask(table, men, board.side, 0)
        if value is None:
            return None
        if tried and best >= value:
            return best, best > DRAW
        return value, False

    def _ask(self, table: Table, men: Men, side: int, result: int) -> int | None:
        """A table's value. Raises Damage if it has none that is possible; it is not asked again then."""
        try:
            value = table.value(men, side, result)
            if table.suffix == ".rtbw" and value not in (LOSS, BLESSED_LOSS, DRAW, CURSED_WIN, WIN):
                raise ValueError
        except (IndexError, StopIteration, ValueError):
            table.problem = f"{table.path}: its values are damaged"
            self.problems.append(table.problem)
            raise Damage from None
        return value

    def _table(self, suffix: str, men: Men) -> Table | None:
        """The table of the pieces on the board, read; None if there is none that can be used."""
        key = signature_of(men)
        if key == 0:
            return BARE_KINGS
        table = self._tables.get((suffix, key))
        if table is None or table.problem:
            return None
        if not table.is_read:
            try:
                table.read()
            except (OSError, ValueError) as error:
                reason = error.strerror if isinstance(error, OSError) else str(error)
                table.problem = f"{table.path}: {reason}"
                self.problems.append(table.problem)
                return None
            table.is_read = True
        return table


BARE_KINGS = Table("", "K", "K", ".rtbw")
"""Stands for the table of two kings, which needs no file."""


def _men(board: Board) -> Men:
    """The pieces on a board, numbered as in the files, and their squares from 0 to 63."""
    found = []
    for square in range(64):
        code = board.piece_at(square + (square & 56))
        if code != EMPTY:
            found.append((NUMBER_OF_KIND[code & KIND] | 8 * side_of(code), square))
    return found


def parse_name(name: str) -> tuple[str, str, str] | None:
    """The pieces of both sides and the suffix in the name of a table's file; None if it is no such name."""
    stem, suffix = os.path.splitext(name)
    white, _, black = stem.partition("v")
    if suffix not in MAGIC or not _is_side(white) or not _is_side(black):
        return None
    if len(white) + len(black) > MOST_PIECES:
        return None
    return white, black, suffix


def _is_side(letters: str) -> bool:
    """Whether letters name the pieces of a side as the files do: the king first, then the others in order."""
    return (
        letters.count("K") == 1
        and letters == "".join(sorted(letters, key="KQRBNP".find))
        and not set(letters) - set("KQRBNP")
    )


def _is_zeroing(move: int) -> bool:
    return bool(move & CAPTURED) or move >> MOVED_SHIFT & KIND == PAWN


def _before_zeroing(result: int) -> int:
    """The DTZ of a position whose next move captures or moves a pawn."""
    return (-1, -101, 0, 101, 1)[result + 2]
