"""Sets of squares as 64 bits: a1 is the lowest, h8 the highest. Beside the 0x88 board, they answer questions
about many squares at once.

For each line through a slider, a multiplication gathers the inner six squares into an index, and a table
holds the squares that the slider sees on that line. Source: Gerd Isenberg, "Kindergarten bitboards",
chessprogramming.org, 2006.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from x88 import square

if not cython.compiled:
    from x88.piece import WHITE
    from x88.square import index64

    def bit(sq: int) -> int:
        """The set of one square of the board."""
        return 1 << index64(sq)

    def lowest(squares: int) -> int:
        """The lowest square of a set that is not empty."""
        number = (squares & -squares).bit_length() - 1
        return number + (number & 56)

    def count(squares: int) -> int:
        """The number of squares in a set."""
        return squares.bit_count()


if cython.compiled and lacks_popcnt():  # type: ignore[name-defined]  # noqa: F821  (of the header)
    raise ImportError(
        "this processor lacks the instruction POPCNT, which Moff was compiled with. "
        "With MOFF_PURE=1 in the environment it runs uncompiled, hundreds of times slower."
    )

LINES = square.LINES
SEEN = square.SEEN
SEEN_ON_FILE = square.SEEN_ON_FILE
GATHER = 0x0202020202020202
GATHER_FILE = 0x0080402010080400
DARK_SQUARES = 0xAA55AA55AA55AA55
FILE_A = square.FILE_A
FILE_H = square.FILE_H


def straight(sq: int, occupied: int) -> int:
    """The squares that a rook on a square attacks if these are occupied."""
    number = index64(sq)
    file = number & 7
    pieces = (occupied >> file & FILE_A) * GATHER_FILE >> 58 & 63
    return _seen(number, file, 0, occupied) | SEEN_ON_FILE[number >> 3 << 6 | pieces] << file


def diagonal(sq: int, occupied: int) -> int:
    """The squares that a bishop on a square attacks if these are occupied."""
    number = index64(sq)
    file = number & 7
    return _seen(number, file, 1, occupied) | _seen(number, file, 2, occupied)


def _seen(number: int, file: int, which: int, occupied: int) -> int:
    """The squares of one line that are seen from a square."""
    line = LINES[number * 3 + which]
    return SEEN[file << 6 | (line & occupied) * GATHER >> 58 & 63] & line


def pawn_attacks(pawns: int, side: int) -> int:
    """The squares that pawns of a side attack."""
    if side == WHITE:
        return (pawns & ~FILE_H) << 9 | (pawns & ~FILE_A) << 7
    return (pawns & ~FILE_A) >> 9 | (pawns & ~FILE_H) >> 7


def square_colours(squares: int) -> int:
    """The colours of the squares in a set, as bits: 1 dark, 2 light."""
    return (squares & DARK_SQUARES != 0) | (squares & ~DARK_SQUARES != 0) << 1
