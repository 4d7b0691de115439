"""Moves as people enter them and as they are recorded."""

from typing import NamedTuple

from search.line import Report
from x88.board import Board
from x88.notation import coordinate, san
from x88.piece import BLACK


class NotedMove(NamedTuple):
    """A move as it is written down, and the engine's last report before it, if it is the engine's."""

    number: str
    """As in PGN: "1." for White's first move, "1..." for Black's."""
    san: str
    move: int
    """Packed."""
    report: Report | None


def note(board: Board, move: int, report: Report | None = None) -> NotedMove:
    """Write down a legal move, before it is made."""
    return NotedMove(move_number(board), san.write(board, move), move, report)


def move_number(board: Board) -> str:
    """The number before the next move, as in PGN."""
    return f"{board.fullmove}." + (".." if board.side == BLACK else "")


def read_move(board: Board, text: str) -> int:
    """The legal move that a person means, in coordinates or SAN. Raises ValueError."""
    try:
        return coordinate.parse(board, text)
    except ValueError:
        return san.parse(board, text)
