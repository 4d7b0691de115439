"""A move packed into one int.

| bits | field |
|---|---|
| 0-6 | origin square |
| 7-13 | target square (the king's when castling) |
| 14-17 | kind of the captured piece, or 0 |
| 18-21 | kind promoted to, or 0 |
| 22-25 | kind of the moving piece (a promoting pawn is a pawn) |
| 26-28 | double push, en passant, castling |

All fields fit in 31 bits, so a move is a non-negative C int. NO_MOVE is 0.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    from x88.piece import KIND

    NO_MOVE = 0
    SQUARE = 0x7F
    TARGET_SHIFT = 7
    CAPTURED_SHIFT = 14
    PROMOTED_SHIFT = 18
    MOVED_SHIFT = 22
    CAPTURED = 0x0003C000
    PROMOTED = 0x003C0000
    DOUBLE_PUSH = 0x04000000
    EN_PASSANT = 0x08000000
    CASTLING = 0x10000000


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
