"""Colours, kinds of pieces, squares and sets of squares, as python-chess names and numbers them.

White is True and Black False. A square is a number from 0 to 63: a1 is 0, h1 7, h8 63. A set of squares is an
int with a bit for each square, or a `SquareSet`.
"""

from collections.abc import Callable, Iterable, Iterator, MutableSet
from operator import and_, index, or_, xor
from typing import TypeAlias

from x88.notation import fen

_IMPORTED = {*globals()}

Color: TypeAlias = bool
PieceType: TypeAlias = int
Square: TypeAlias = int
Bitboard: TypeAlias = int

COLORS = [WHITE, BLACK] = [True, False]
COLOR_NAMES = ["black", "white"]
PIECE_TYPES = [PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING] = [1, 2, 3, 4, 5, 6]
PIECE_SYMBOLS = [None, "p", "n", "b", "r", "q", "k"]
PIECE_NAMES = [None, "pawn", "knight", "bishop", "rook", "queen", "king"]
UNICODE_PIECE_SYMBOLS = dict(zip("RrNnBbQqKkPp", "♖♜♘♞♗♝♕♛♔♚♙♟", strict=True))
FILE_NAMES = list("abcdefgh")
RANK_NAMES = list("12345678")

STARTING_FEN = fen.START
STARTING_BOARD_FEN = STARTING_FEN.split()[0]

SQUARES = list(range(64))
SQUARE_NAMES = [file + rank for rank in RANK_NAMES for file in FILE_NAMES]
# fmt: off
A1, B1, C1, D1, E1, F1, G1, H1, A2, B2, C2, D2, E2, F2, G2, H2 = range(16)
A3, B3, C3, D3, E3, F3, G3, H3, A4, B4, C4, D4, E4, F4, G4, H4 = range(16, 32)
A5, B5, C5, D5, E5, F5, G5, H5, A6, B6, C6, D6, E6, F6, G6, H6 = range(32, 48)
A7, B7, C7, D7, E7, F7, G7, H7, A8, B8, C8, D8, E8, F8, G8, H8 = range(48, 64)

BB_EMPTY = 0
BB_ALL = (1 << 64) - 1
BB_SQUARES = [1 << square for square in SQUARES]
BB_A1, BB_B1, BB_C1, BB_D1, BB_E1, BB_F1, BB_G1, BB_H1 = BB_SQUARES[:8]
BB_A2, BB_B2, BB_C2, BB_D2, BB_E2, BB_F2, BB_G2, BB_H2 = BB_SQUARES[8:16]
BB_A3, BB_B3, BB_C3, BB_D3, BB_E3, BB_F3, BB_G3, BB_H3 = BB_SQUARES[16:24]
BB_A4, BB_B4, BB_C4, BB_D4, BB_E4, BB_F4, BB_G4, BB_H4 = BB_SQUARES[24:32]
BB_A5, BB_B5, BB_C5, BB_D5, BB_E5, BB_F5, BB_G5, BB_H5 = BB_SQUARES[32:40]
BB_A6, BB_B6, BB_C6, BB_D6, BB_E6, BB_F6, BB_G6, BB_H6 = BB_SQUARES[40:48]
BB_A7, BB_B7, BB_C7, BB_D7, BB_E7, BB_F7, BB_G7, BB_H7 = BB_SQUARES[48:56]
BB_A8, BB_B8, BB_C8, BB_D8, BB_E8, BB_F8, BB_G8, BB_H8 = BB_SQUARES[56:]
BB_FILES = [0x0101_0101_0101_0101 << file for file in range(8)]
BB_FILE_A, BB_FILE_B, BB_FILE_C, BB_FILE_D, BB_FILE_E, BB_FILE_F, BB_FILE_G, BB_FILE_H = BB_FILES
BB_RANKS = [0xFF << 8 * rank for rank in range(8)]
BB_RANK_1, BB_RANK_2, BB_RANK_3, BB_RANK_4, BB_RANK_5, BB_RANK_6, BB_RANK_7, BB_RANK_8 = BB_RANKS
# fmt: on
BB_BACKRANKS = BB_RANK_1 | BB_RANK_8
BB_CORNERS = BB_A1 | BB_H1 | BB_A8 | BB_H8
BB_CENTER = BB_D4 | BB_E4 | BB_D5 | BB_E5
BB_LIGHT_SQUARES = 0x55AA_55AA_55AA_55AA
BB_DARK_SQUARES = BB_ALL ^ BB_LIGHT_SQUARES


class InvalidMoveError(ValueError):
    """The text of a move cannot be read."""


class IllegalMoveError(ValueError):
    """The move is not legal in the position."""


class AmbiguousMoveError(ValueError):
    """The text fits several legal moves."""


def square(file_index: int, rank_index: int) -> Square:
    """The square of a file and a rank, each from 0 to 7."""
    return rank_index << 3 | file_index


def parse_square(name: str) -> Square:
    """The square with a name ("e4"). Raises ValueError for other texts."""
    try:
        return SQUARE_NAMES.index(name)
    except ValueError:
        raise ValueError(f"{name!r:.40} is not a square") from None


def square_name(square: Square) -> str:
    """The name of a square."""
    return SQUARE_NAMES[square]


def square_file(square: Square) -> int:
    """The index of the square's file, 0 for the a-file."""
    return square & 7


def square_rank(square: Square) -> int:
    """The index of the square's rank, 0 for the first."""
    return square >> 3


def square_distance(a: Square, b: Square) -> int:
    """The number of moves of a king between two squares."""
    return max(abs((a & 7) - (b & 7)), abs((a >> 3) - (b >> 3)))


def square_manhattan_distance(a: Square, b: Square) -> int:
    """The number of single steps along files and ranks between two squares."""
    return abs((a & 7) - (b & 7)) + abs((a >> 3) - (b >> 3))


def square_mirror(square: Square) -> Square:
    """The square as it is seen from the other side: a1 becomes a8."""
    return square ^ 56


def piece_symbol(piece_type: PieceType) -> str:
    """The small letter of a kind of piece."""
    return str(PIECE_SYMBOLS[piece_type])


def piece_name(piece_type: PieceType) -> str:
    """The name of a kind of piece."""
    return str(PIECE_NAMES[piece_type])


popcount = int.bit_count
"""The number of squares in a set of bits."""


def lsb(mask: Bitboard) -> int:
    """The first square of a set of bits, from a1 to h8; -1 if it is empty."""
    return (mask & -mask).bit_length() - 1


def msb(mask: Bitboard) -> int:
    """The last square of a set of bits; -1 if it is empty."""
    return index(mask).bit_length() - 1


def scan_forward(mask: Bitboard) -> Iterator[Square]:
    """The squares of a set of bits, from a1 to h8."""
    while mask:
        yield lsb(mask)
        mask &= mask - 1


def scan_reversed(mask: Bitboard) -> Iterator[Square]:
    """The squares of a set of bits, from h8 to a1."""
    while mask:
        yield msb(mask)
        mask ^= BB_SQUARES[msb(mask)]


_Squares: TypeAlias = "int | Iterable[Square]"


def _mask(squares: _Squares) -> Bitboard:
    try:
        return index(squares) & BB_ALL  # type: ignore[arg-type]
    except TypeError:
        mask = 0
    for square in squares:  # type: ignore[union-attr]
        mask |= BB_SQUARES[square]
    return mask


def _without(mask: Bitboard, other: Bitboard) -> Bitboard:
    return mask & ~other


def _combined(combine: Callable[[int, int], int]) -> Callable[["SquareSet", _Squares], "SquareSet"]:
    """The operator of sets that combines their bits so."""
    return lambda self, other: SquareSet(combine(self.mask, _mask(other)))


def _combined_in_place(combine: Callable[[int, int], int]) -> Callable[["SquareSet", _Squares], "SquareSet"]:
    """The operator that changes its first set so."""

    def operator(self: "SquareSet", other: _Squares) -> "SquareSet":
        self.mask = combine(self.mask, _mask(other))
        return self

    return operator


class SquareSet(MutableSet[Square]):
    """A set of squares, ordered from a1 to h8. It can be made from, and compared and combined with, an int of
    64 bits or any squares.
    """

    __slots__ = ("mask",)

    def __init__(self, squares: _Squares = 0) -> None:
        self.mask = _mask(squares)

    @classmethod
    def from_square(cls, square: Square) -> "SquareSet":
        """The set of one square."""
        return cls([square])

    def __contains__(self, square: object) -> bool:
        return isinstance(square, int) and 0 <= square < 64 and bool(self.mask >> square & 1)

    def __iter__(self) -> Iterator[Square]:
        return scan_forward(self.mask)

    def __reversed__(self) -> Iterator[Square]:
        return scan_reversed(self.mask)

    def __len__(self) -> int:
        return self.mask.bit_count()

    def add(self, square: Square) -> None:
        """Add a square."""
        self.mask |= BB_SQUARES[square]

    def discard(self, square: Square) -> None:
        """Remove a square if it is in the set."""
        self.mask &= ~BB_SQUARES[square]

    def clear(self) -> None:
        """Remove all squares."""
        self.mask = 0

    def copy(self) -> "SquareSet":
        """An independent set of the same squares."""
        return SquareSet(self.mask)

    def mirror(self) -> "SquareSet":
        """The set as it is seen from the other side."""
        return SquareSet(int.from_bytes(self.mask.to_bytes(8, "little"), "big"))

    def tolist(self) -> list[bool]:
        """Whether each square is in the set, from a1 to h8."""
        return [square in self for square in SQUARES]

    def __eq__(self, other: object) -> bool:
        try:
            return self.mask == _mask(other)  # type: ignore[arg-type]
        except (TypeError, ValueError, IndexError):
            return NotImplemented

    __and__ = intersection = _combined(and_)
    __or__ = union = _combined(or_)  # type: ignore[assignment]
    __xor__ = symmetric_difference = _combined(xor)  # type: ignore[assignment]
    __sub__ = difference = _combined(_without)
    __iand__ = _combined_in_place(and_)
    __ior__ = _combined_in_place(or_)
    __ixor__ = _combined_in_place(xor)
    __isub__ = _combined_in_place(_without)

    def isdisjoint(self, other: _Squares) -> bool:
        """Whether the sets have no square in common."""
        return not self & other

    def issubset(self, other: _Squares) -> bool:
        """Whether all squares are in the other set, too."""
        return not self - other

    def issuperset(self, other: _Squares) -> bool:
        """Whether all squares of the other set are in this one."""
        return not SquareSet(other) - self

    def __invert__(self) -> "SquareSet":
        return SquareSet(self.mask ^ BB_ALL)

    def __lshift__(self, shift: int) -> "SquareSet":
        return SquareSet(self.mask << min(shift, 64))

    def __rshift__(self, shift: int) -> "SquareSet":
        return SquareSet(self.mask >> shift)

    def __int__(self) -> int:
        return self.mask

    __index__ = __int__

    def __str__(self) -> str:
        return _draw("1" if square in self else "." for square in SQUARES)

    def __repr__(self) -> str:
        return f"SquareSet({self.mask:#021_x})"


def _draw(symbols: Iterable[str], separator: str = " ") -> str:
    """The board as eight lines of text, of a symbol for each square from a1 to h8."""
    found = list(symbols)
    return "\n".join(separator.join(found[rank : rank + 8]) for rank in range(56, -1, -8))


# In these words, since a type checker takes what it finds here for all names.
globals()["__all__"] = [name for name in globals() if not (name.startswith("_") or name in _IMPORTED)]
