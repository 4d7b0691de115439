"""The outcome of a game by the rules of chess."""

from enum import Enum

from x88.attack import in_check
from x88.board import Board
from x88.movegen import legal_moves


class Outcome(Enum):
    """Why a game is over."""

    CHECKMATE = "checkmate"
    STALEMATE = "stalemate"
    INSUFFICIENT_MATERIAL = "insufficient material"
    FIFTY_MOVES = "fifty-move rule"
    REPETITION = "threefold repetition"


def outcome(board: Board) -> Outcome | None:
    """Why the game is over, or None if it is not. Checkmate and stalemate take precedence over the draws
    below.
    """
    if not legal_moves(board):
        return Outcome.CHECKMATE if in_check(board) else Outcome.STALEMATE
    if board.is_insufficient_material():
        return Outcome.INSUFFICIENT_MATERIAL
    if board.halfmove >= 100:
        return Outcome.FIFTY_MOVES
    if board.is_repetition(2):
        return Outcome.REPETITION
    return None
