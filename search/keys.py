"""Hash keys of parts of a position, for correction and pawn history, updated along the line searched."""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from x88 import zobrist

if not cython.compiled:
    # isort: off
    # fmt: off
    from x88.board import Board
    from x88.move import (
        CAPTURED, CASTLING, EN_PASSANT, PROMOTED, captured_of, moved_of, origin_of, promoted_of, rook_origin,
        rook_target, target_of,
    )
    from x88.piece import ANY_PIECE, BISHOP, KIND, KING, KNIGHT, PAWN, ROOK, WHITE_PIECE

    PAWNS = 0
    PIECES = 1
    MINORS = 3
    KINDS = 4

PIECE_KEYS = zobrist.PIECE_KEYS


class Keys:
    """`stack[ply * KINDS + kind]`: the keys of all pawns, of White's king and pieces, of Black's, and of the
    kings, knights and bishops of both.
    """

    def __init__(self) -> None:
        self.stack = [0] * 1016
        self.top = 0

    def reset(self, board: Board) -> None:
        """Set up for a new root position."""
        self.top = 0
        for i in range(KINDS):
            self.stack[i] = 0
        for i in range(32):
            if i & 15 < board.count[i >> 4]:
                sq = board.pieces[i]
                self._toggle(board.squares[sq], piece_key(board.squares[sq], sq))

    def make(self, move: int, side: int) -> None:
        """Update for a move made by `side`."""
        self.make_null()
        own = WHITE_PIECE << side
        code = own | moved_of(move)
        target = target_of(move)
        key = piece_key(code, origin_of(move))
        if move & PROMOTED:
            self._toggle(code, key)
            code = own | promoted_of(move)
            key = 0
        self._toggle(code, key ^ piece_key(code, target))
        if move & CAPTURED:
            code = own ^ ANY_PIECE | captured_of(move)
            self._toggle(code, piece_key(code, target - 16 + 32 * side if move & EN_PASSANT else target))
        elif move & CASTLING:
            code = own | ROOK
            self._toggle(code, piece_key(code, rook_origin(move)) ^ piece_key(code, rook_target(move)))

    def make_null(self) -> None:
        """Update for a null move."""
        for i in range(KINDS):
            self.stack[self.top + KINDS + i] = self.stack[self.top + i]
        self.top += KINDS

    def unmake(self) -> None:
        """Undo the last `make` or `make_null`."""
        self.top -= KINDS

    def _toggle(self, code: int, key: int) -> None:
        """XOR `key` into the keys of a piece: its key on one square, or those of both ends of a move."""
        kind = code & KIND
        if kind == PAWN:
            self.stack[self.top] ^= key
            return
        self.stack[self.top + PIECES + (code >> 5)] ^= key
        if kind in (KNIGHT, BISHOP, KING):
            self.stack[self.top + MINORS] ^= key

    def pawns(self) -> int:
        """The key of all pawns."""
        return self.stack[self.top + PAWNS]

    def pieces(self, side: int) -> int:
        """The key of a side's king and pieces, without its pawns."""
        return self.stack[self.top + PIECES + side]

    def minors(self) -> int:
        """The key of the kings, knights and bishops of both sides."""
        return self.stack[self.top + MINORS]


def piece_key(code: int, sq: int) -> int:
    """The key of a piece on a square."""
    return PIECE_KEYS[code << 7 | sq]
