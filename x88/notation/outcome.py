"""The outcome of a game by the rules of chess."""

from enum import Enum

from x88.attack import in_check
from x88.board import Board
from x88.movegen import legal_moves
from x88.piece import BISHOP, EMPTY, KIND, KING, KNIGHT, PAWN, QUEEN, ROOK, checked_side, side_of


class Outcome(Enum):
    """Why a game is over."""

    CHECKMATE = "checkmate"
    STALEMATE = "stalemate"
    INSUFFICIENT_MATERIAL = "insufficient material"
    FIFTY_MOVES = "fifty-move rule"
    REPETITION = "threefold repetition"


def outcome(board: Board) -> Outcome | None:
    """Why the game is over, or None. Checkmate and stalemate take precedence over the draws below."""
    if not legal_moves(board):
        return Outcome.CHECKMATE if in_check(board) else Outcome.STALEMATE
    if board.is_insufficient_material():
        return Outcome.INSUFFICIENT_MATERIAL
    if board.halfmove >= 100:
        return Outcome.FIFTY_MOVES
    if board.is_repetition(2):
        return Outcome.REPETITION
    return None


def can_mate(board: Board, side: int) -> bool:
    """Whether a side may ever have the material for a helpmate. If not, the other cannot lose on time."""
    kinds: tuple[list[int], list[int]] = ([], [])
    colours = set()
    for sq in (rank << 4 | file for rank in range(8) for file in range(8)):
        code = board.piece_at(sq)
        if code != EMPTY and code & KIND != KING:
            kinds[side_of(code)].append(code & KIND)
            if code & KIND == BISHOP:
                colours.add((sq ^ sq >> 4) & 1)
    own, enemy = kinds[checked_side(side)], kinds[side ^ 1]
    if {PAWN, ROOK, QUEEN} & set(own):
        return True
    if KNIGHT in own:
        # A lone knight can mate a king whose own pieces occupy its squares; a queen would capture the knight.
        return len(own) > 1 or bool(set(enemy) - {QUEEN})
    # Bishops of one colour need a piece that can block a square of the other colour: a rook or a queen there
    # could interpose.
    return BISHOP in own and (len(colours) == 2 or bool({PAWN, KNIGHT} & set(enemy)))
