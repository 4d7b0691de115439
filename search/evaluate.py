"""Static evaluation: material and piece-square values, tapered between middlegame and endgame.

The searcher plays a move on the board and tells the evaluation, which keeps a sum for every ply of the
search; the board knows nothing of it. A sum holds both values in one int, middlegame + endgame * 65536,
White's less Black's.

The numbers are ours, set by hand: a piece's value on a square is its material, plus a value of its rank as
its own side sees it, a value of its file, and so much for each ring towards the centre.
"""

from typing import NamedTuple

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from x88.piece import make_piece
from x88.square import SQUARES

if not cython.compiled:
    from x88.board import Board
    from x88.move import (
        CAPTURED,
        CAPTURED_SHIFT,
        CASTLING,
        EN_PASSANT,
        PROMOTED,
        PROMOTED_SHIFT,
        SQUARE,
        TARGET_SHIFT,
    )
    from x88.piece import (
        ANY_PIECE,
        BISHOP,
        BLACK,
        KIND,
        KING,
        KNIGHT,
        PAWN,
        QUEEN,
        ROOK,
        WHITE,
        WHITE_PIECE,
    )
    from x88.square import FILE

    TEMPO = 12
    FULL_PHASE = 24


class Worth(NamedTuple):
    """What a kind of piece is worth in one phase of the game, in centipawns."""

    material: int
    ranks: list[int]
    """By rank, from the own first to the last."""
    files: list[int]
    """By file, a to d; e to h mirror them."""
    centre: int
    """For each of the three rings towards the four squares of the centre."""


MIDDLEGAME = {
    PAWN: Worth(82, [0, -6, -4, 4, 12, 24, 44, 0], [-6, 0, -2, 4], 5),
    KNIGHT: Worth(325, [-12, -6, 2, 6, 12, 14, 4, -16], [-8, -3, 2, 4], 9),
    BISHOP: Worth(345, [-8, 4, 6, 4, 6, 6, 0, -8], [-3, 4, 1, 2], 5),
    ROOK: Worth(465, [-2, -8, -8, -6, 0, 6, 16, 10], [-4, -2, 4, 8], 0),
    QUEEN: Worth(980, [-2, 4, 4, 2, 2, 4, 6, 4], [-4, 0, 2, 3], 2),
    KING: Worth(0, [16, -4, -26, -40, -48, -48, -48, -48], [10, 22, -8, -16], -4),
}

ENDGAME = {
    PAWN: Worth(100, [0, -6, -4, 4, 18, 50, 96, 0], [2, 2, 0, -2], 0),
    KNIGHT: Worth(305, [-14, -6, 0, 6, 8, 4, -4, -14], [-10, -2, 4, 6], 8),
    BISHOP: Worth(330, [-8, -3, 2, 4, 5, 4, 0, -4], [-4, 0, 2, 2], 5),
    ROOK: Worth(550, [-6, -6, -4, 0, 4, 6, 10, 8], [0, 1, 1, 0], 0),
    QUEEN: Worth(1020, [-16, -12, 0, 8, 14, 14, 12, 2], [-8, 0, 4, 8], 6),
    KING: Worth(0, [-24, -10, 0, 8, 14, 16, 8, -8], [-12, -2, 4, 8], 11),
}

PHASES = {PAWN: 0, KNIGHT: 1, BISHOP: 1, ROOK: 2, QUEEN: 4, KING: 0}
"""What each piece adds to the phase; the start position has FULL_PHASE."""


def _value(worth: Worth, rank: int, file: int) -> int:
    near = min(file, 7 - file)
    ring = min(near, rank, 7 - rank)
    return worth.material + worth.ranks[rank] + worth.files[near] + worth.centre * ring


def _piece_squares() -> list[int]:
    """PIECE_SQUARE[code << 7 | square]: both phases in one int, negative for Black."""
    table = [0] * 6144
    for kind in MIDDLEGAME:
        for sq in SQUARES:
            rank, file = sq >> 4, sq & FILE
            both = _value(MIDDLEGAME[kind], rank, file) + _value(ENDGAME[kind], rank, file) * 65536
            table[make_piece(WHITE, kind) << 7 | sq] = both
            table[make_piece(BLACK, kind) << 7 | (sq ^ 0x70)] = -both
    return table


def _phases() -> list[int]:
    return [PHASES.get(code & KIND, 0) for code in range(48)]


PIECE_SQUARE = _piece_squares()
PHASE = _phases()


class Term(NamedTuple):
    """A part of the evaluation: for White and for Black, in the middlegame and in the endgame, in
    centipawns.
    """

    name: str
    white: tuple[int, int]
    black: tuple[int, int]


_TERMS = {
    PAWN: "pawns",
    KNIGHT: "knights",
    BISHOP: "bishops",
    ROOK: "rooks",
    QUEEN: "queens",
    KING: "king",
}


def terms(board: Board) -> list[Term]:
    """The terms of the static evaluation, to be shown: each kind of piece with its material and squares.

    Their sum for White less that for Black, weighed by the phase, and the tempo for the side to move, are
    `Evaluation.value`.
    """
    sums = {code: [0, 0] for code in range(48)}
    for sq in SQUARES:
        code = board.piece_at(sq)
        if code:
            rank = sq >> 4 if code >> 5 == WHITE else 7 - (sq >> 4)
            for phase, worth in enumerate((MIDDLEGAME, ENDGAME)):
                sums[code][phase] += _value(worth[code & KIND], rank, sq & FILE)
    found = []
    for kind, name in _TERMS.items():
        white, black = (sums[make_piece(side, kind)] for side in (WHITE, BLACK))
        found.append(Term(name, (white[0], white[1]), (black[0], black[1])))
    return found


class Evaluation:
    """The evaluation's sums along the line that is being searched."""

    def __init__(self) -> None:
        self.sums = [0] * 136
        self.phases = [0] * 136
        self.ply = 0

    def reset(self, board: Board) -> None:
        """Start anew from a position."""
        self.ply = 0
        self.sums[0] = 0
        self.phases[0] = 0
        for i in range(32):
            if i & 15 < board.count[i >> 4]:
                sq = board.pieces[i]
                code = board.squares[sq]
                self.sums[0] += PIECE_SQUARE[code << 7 | sq]
                self.phases[0] += PHASE[code]

    def make(self, move: int, side: int) -> None:
        """Follow a move of `side`."""
        ply = self.ply
        colour = WHITE_PIECE << side
        origin = move & SQUARE
        target = move >> TARGET_SHIFT & SQUARE
        code = colour | move >> 22 & KIND
        total = self.sums[ply] - PIECE_SQUARE[code << 7 | origin]
        phase = self.phases[ply]
        if move & CAPTURED:
            victim = colour ^ ANY_PIECE | move >> CAPTURED_SHIFT & KIND
            square = target
            if move & EN_PASSANT:
                square = target - 16 + 32 * side
            total -= PIECE_SQUARE[victim << 7 | square]
            phase -= PHASE[victim]
        if move & PROMOTED:
            code = colour | move >> PROMOTED_SHIFT & KIND
            phase += PHASE[code]
        total += PIECE_SQUARE[code << 7 | target]
        if move & CASTLING:
            rook = colour | ROOK
            if target & FILE == 6:
                total += PIECE_SQUARE[rook << 7 | target - 1] - PIECE_SQUARE[rook << 7 | target + 1]
            else:
                total += PIECE_SQUARE[rook << 7 | target + 1] - PIECE_SQUARE[rook << 7 | target - 2]
        self.ply = ply + 1
        self.sums[ply + 1] = total
        self.phases[ply + 1] = phase

    def make_null(self) -> None:
        """Follow a null move."""
        self.sums[self.ply + 1] = self.sums[self.ply]
        self.phases[self.ply + 1] = self.phases[self.ply]
        self.ply += 1

    def unmake(self) -> None:
        """Follow the taking back of a move or null move."""
        self.ply -= 1

    def phase(self) -> int:
        """The phase of the game, FULL_PHASE with all pieces on the board, 0 with none but pawns."""
        return min(self.phases[self.ply], FULL_PHASE)

    def value(self, side: int) -> int:
        """The evaluation in centipawns from the point of view of `side`, which is to move."""
        both = self.sums[self.ply]
        middlegame = (both + 0x8000 & 0xFFFF) - 0x8000
        endgame = both + 0x8000 >> 16
        phase = self.phase()
        # 171 / 4096 is 1 / 24; a shift rounds alike compiled and uncompiled, a division of negative numbers
        # would not.
        score = (middlegame * phase + endgame * (FULL_PHASE - phase)) * 171 + 2048 >> 12
        return (score if side == WHITE else -score) + TEMPO
