"""The static evaluation term by term, for display."""

from typing import NamedTuple

from search.evaluate import KINDS, Evaluation, piece_square
from x88.board import Board
from x88.piece import BLACK, KIND, KING, WHITE, WHITE_PIECE
from x88.square import SQUARES


class Term(NamedTuple):
    """A term of the evaluation: (middlegame, endgame) in centipawns for White and for Black."""

    name: str
    white: tuple[int, int]
    black: tuple[int, int]


def terms(board: Board) -> list[Term]:
    """The terms of the static evaluation: first material and squares by kind of piece, then all other terms.

    White's sum minus Black's is `Evaluation.packed`.
    """
    evaluation = Evaluation()
    evaluation.reset(board)
    evaluation.packed(board)
    found = []
    for kind, name in KINDS.items():
        sums = [0, 0]
        for sq in SQUARES:
            code = board.piece_at(sq)
            if code and code & KIND == kind:
                value = piece_square(code, sq)
                sums[code >> 5] += value if code & WHITE_PIECE else -value
        found.append(Term(name if kind == KING else name + "s", _unpack(sums[WHITE]), _unpack(sums[BLACK])))
    for name, parts in evaluation.parts_by_name().items():
        found.append(Term(name, _unpack(parts[WHITE]), _unpack(parts[BLACK])))
    return found


def _unpack(both: int) -> tuple[int, int]:
    """The middlegame and endgame values of a packed score."""
    return (both + 0x8000 & 0xFFFF) - 0x8000, both + 0x8000 >> 16
