"""A move packed into one int.

| bits | field |
|---|---|
| 0-6 | origin square |
| 7-13 | target square (the king's when castling: on the g-file or the c-file) |
| 14-17 | kind of the captured piece, or 0 |
| 18-21 | kind promoted to, or 0 |
| 22-25 | kind of the moving piece (a promoting pawn is a pawn) |
| 26-27 | en passant, castling |
| 28-30 | file of the rook that castles |

All fields fit in 31 bits, so a move is a non-negative C int. NO_MOVE is 0.

In Chess960 a king may castle to the square where it stands, or to the target of an ordinary king move: see
`short_move` of the transposition table. Its rook's squares are `rook_origin` and `rook_target`; nothing else
computes them.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    from x88.piece import BISHOP, KIND, KING, KNIGHT, QUEEN, ROOK
    from x88.square import FILE, RANK, index64

    NO_MOVE = 0
    SQUARE = 0x7F
    TARGET_SHIFT = 7
    CAPTURED_SHIFT = 14
    PROMOTED_SHIFT = 18
    MOVED_SHIFT = 22
    CAPTURED = 0x0003C000
    PROMOTED = 0x003C0000
    EN_PASSANT = 0x04000000
    CASTLING = 0x08000000
    ROOK_SHIFT = 28

    def origin_of(move: int) -> int:
        """The origin square."""
        return move & SQUARE

    def target_of(move: int) -> int:
        """The target square; the king's when castling."""
        return move >> TARGET_SHIFT & SQUARE

    def captured_of(move: int) -> int:
        """The kind of the captured piece, 0 if none."""
        return move >> CAPTURED_SHIFT & KIND

    def promoted_of(move: int) -> int:
        """The kind of piece that a pawn promotes to, 0 if none."""
        return move >> PROMOTED_SHIFT & KIND

    def moved_of(move: int) -> int:
        """The kind of the moving piece."""
        return move >> MOVED_SHIFT & KIND


def castle(king: int, rook: int) -> int:
    """The castling move of a king and a rook on the same rank: to the g-file and the f-file if the rook
    stands on the h-file's side of the king, otherwise to the c-file and the d-file.
    """
    target = king & RANK | (6 if rook > king else 2)
    return king | target << TARGET_SHIFT | KING << MOVED_SHIFT | CASTLING | (rook & FILE) << ROOK_SHIFT


def rook_origin(move: int) -> int:
    """The square of the rook before a castling move."""
    return origin_of(move) & RANK | move >> ROOK_SHIFT


def rook_target(move: int) -> int:
    """The square of the rook after a castling move: next to the king, on the inner side."""
    target = target_of(move)
    return target - 1 if target & FILE == 6 else target + 1


def book_move(move: int) -> int:
    """The move in the format of opening books (`x88.book.book`)."""
    target = rook_origin(move) if move & CASTLING else target_of(move)
    kind = promoted_of(move)
    promotion = (kind == KNIGHT) + 2 * (kind == BISHOP) + 3 * (kind == ROOK) + 4 * (kind == QUEEN)
    return index64(target) | index64(origin_of(move)) << 6 | promotion << 12


def is_home_castling(move: int) -> bool:
    """Whether a castling move is one of standard chess: from the e-file, with a rook in the corner."""
    file = move >> ROOK_SHIFT
    return move & FILE == 4 and (file == 0 or file == 7)
