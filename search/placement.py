"""Bitboards, game phase and hash keys of the pieces, updated along the line being searched.

Evaluation and correction history share them. The searcher makes every move on the board and here; the board
itself has no bitboards.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from search import masks
from x88 import zobrist

if not cython.compiled:
    from x88.board import Board
    from x88.move import (
        CAPTURED,
        CAPTURED_SHIFT,
        CASTLING,
        EN_PASSANT,
        MOVED_SHIFT,
        PROMOTED,
        PROMOTED_SHIFT,
        SQUARE,
        TARGET_SHIFT,
        rook_origin,
        rook_target,
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

    FULL_PHASE = 24

PHASES = {PAWN: 0, KNIGHT: 1, BISHOP: 1, ROOK: 2, QUEEN: 4, KING: 0}
"""What each kind of piece adds to the game phase. The start position has FULL_PHASE."""

PHASE = [PHASES.get(code & KIND, 0) for code in range(48)]
PIECE_KEYS = zobrist.PIECE_KEYS
BIT = masks.BIT


class Placement:
    """`bitboards[code]` holds the squares of a piece code, `bitboards[colour]` those of a side. `phases` and
    `pawn_keys` are stacks, indexed by the ply since `reset`.
    """

    def __init__(self) -> None:
        self.bitboards = [0] * 48
        self.phases = [0] * 136
        self.pawn_keys = [0] * 136
        self.ply = 0

    def reset(self, board: Board) -> None:
        """Set up for a new root position."""
        self.ply = 0
        self.phases[0] = 0
        self.pawn_keys[0] = 0
        for i in range(48):
            self.bitboards[i] = 0
        for i in range(32):
            if i & 15 < board.count[i >> 4]:
                sq = board.pieces[i]
                code = board.squares[sq]
                self.bitboards[code] |= BIT[sq]
                self.bitboards[code & ANY_PIECE] |= BIT[sq]
                self.phases[0] += PHASE[code]
                if code & KIND == PAWN:
                    self.pawn_keys[0] ^= PIECE_KEYS[code << 7 | sq]

    def make(self, move: int, side: int) -> None:
        """Update for a move made by `side`."""
        phase = self.phases[self.ply]
        key = self.pawn_keys[self.ply]
        colour = WHITE_PIECE << side
        target = move >> TARGET_SHIFT & SQUARE
        if move >> MOVED_SHIFT & KIND == PAWN:
            key ^= PIECE_KEYS[(colour | PAWN) << 7 | move & SQUARE]
            if not move & PROMOTED:
                key ^= PIECE_KEYS[(colour | PAWN) << 7 | target]
        if move & CAPTURED:
            victim = colour ^ ANY_PIECE | move >> CAPTURED_SHIFT & KIND
            phase -= PHASE[victim]
            if victim & KIND == PAWN:
                square = target
                if move & EN_PASSANT:
                    square = target - 16 + 32 * side
                key ^= PIECE_KEYS[victim << 7 | square]
        if move & PROMOTED:
            phase += PHASE[colour | move >> PROMOTED_SHIFT & KIND]
        self.ply += 1
        self.phases[self.ply] = phase
        self.pawn_keys[self.ply] = key
        self._toggle(move, side)

    def unmake(self, move: int, side: int) -> None:
        """Undo `make` of the last move, which `side` made."""
        self.ply -= 1
        self._toggle(move, side)

    def make_null(self) -> None:
        """Update for a null move."""
        self.phases[self.ply + 1] = self.phases[self.ply]
        self.pawn_keys[self.ply + 1] = self.pawn_keys[self.ply]
        self.ply += 1

    def unmake_null(self) -> None:
        """Undo `make_null`."""
        self.ply -= 1

    def _toggle(self, move: int, side: int) -> None:
        """Update the bitboards for a move of `side`. A second call undoes the first."""
        own = WHITE_PIECE << side
        target = move >> TARGET_SHIFT & SQUARE
        bit = BIT[target]
        both = BIT[move & SQUARE] ^ bit  # none if the king castles to its own square
        if move & PROMOTED:
            self.bitboards[own | PAWN] ^= both ^ bit
            self.bitboards[own | move >> PROMOTED_SHIFT & KIND] ^= bit
        else:
            self.bitboards[own | move >> MOVED_SHIFT & KIND] ^= both
        if move & CAPTURED:
            if move & EN_PASSANT:
                bit = BIT[target - 16 + 32 * side]
            self.bitboards[own ^ ANY_PIECE | move >> CAPTURED_SHIFT & KIND] ^= bit
            self.bitboards[own ^ ANY_PIECE] ^= bit
        elif move & CASTLING:
            bit = BIT[rook_origin(move)] ^ BIT[rook_target(move)]
            self.bitboards[own | ROOK] ^= bit
            both ^= bit
        self.bitboards[own] ^= both

    def phase(self) -> int:
        """The game phase: FULL_PHASE with all pieces on the board, 0 with kings and pawns only."""
        return min(self.phases[self.ply], FULL_PHASE)

    def pawn_key(self) -> int:
        """The hash key of all pawns."""
        return self.pawn_keys[self.ply]

    def pieces_hash(self, side: int) -> int:
        """A 14-bit hash of a side's king and pieces, without its pawns."""
        own = WHITE_PIECE << side
        total = self._minors(side) + _spread(self.bitboards[own | ROOK], ROOK)
        return total + _spread(self.bitboards[own | QUEEN], QUEEN) >> 50 & 0x3FFF

    def minors_hash(self) -> int:
        """A 14-bit hash of the kings, knights and bishops of both sides."""
        return self._minors(WHITE) + self._minors(BLACK) * 3 >> 50 & 0x3FFF

    def _minors(self, side: int) -> int:
        """The hash of a side's king, knights and bishops: 64 bits, or more when uncompiled."""
        own = WHITE_PIECE << side
        total = _spread(self.bitboards[own | KNIGHT], KNIGHT) + _spread(self.bitboards[own | BISHOP], BISHOP)
        return total + _spread(self.bitboards[own | KING], KING)


def _spread(bitboard: int, kind: int) -> int:
    """A multiplicative hash of a bitboard: the upper bits of the product depend on all its squares."""
    # Fold the upper ranks onto the lower ones, or they would affect only a few bits.
    return (bitboard ^ bitboard >> 32) * (PIECE_KEYS[(WHITE_PIECE | kind) << 7] | 1)
