"""Moves and pieces, as python-chess has them. Both are values: nobody can change them, and those that a board
hands out are shared.
"""

from operator import index

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from moff.library.squares import PIECE_SYMBOLS, SQUARE_NAMES, UNICODE_PIECE_SYMBOLS, InvalidMoveError
from x88.piece import CODE_OF_LETTER, KINDS, LETTER_OF

if not cython.compiled:
    from x88.move import CASTLING, is_home_castling, origin_of, promoted_of, rook_origin, target_of
    from x88.piece import BLACK_PIECE, KIND
    from x88.square import index64

__all__ = ["Move", "Piece"]

TYPE = [0] * 16
"""TYPE[kind]: the number of a kind of piece of `x88.piece` in `moff.library.squares`."""
for _number, _kind in enumerate(KINDS, 1):
    TYPE[_kind] = _number

_SQUARES = {name: number for number, name in enumerate(SQUARE_NAMES)}
_LETTERS = [symbol or "" for symbol in PIECE_SYMBOLS]
_PROMOTIONS = {letter: number for number, letter in enumerate(_LETTERS)}


class Move:
    """A move: the squares from which and to which a piece moves, and the kind of piece that a pawn promotes
    to, or None. In standard chess, the king castles by moving two squares; in Chess960, by moving to its
    rook's square. The null move has no squares: `Move.null()`.
    """

    def __init__(self, from_square: int | str, to_square: int | str, promotion: int | None = None) -> None:
        """Squares may be named. Raises ValueError for what is no square or kind of piece."""
        if promotion is not None and not 1 <= promotion <= 6:
            raise ValueError(f"{promotion!r:.40} is not a kind of piece from PAWN to KING")
        self.from_square = square_of(from_square)
        self.to_square = square_of(to_square)
        self.promotion = promotion
        self.number = self.from_square | self.to_square << 6 | (promotion or 0) << 12

    drop = None
    """No piece is dropped in chess."""

    @staticmethod
    def null() -> "Move":
        """The null move, which passes the turn."""
        return shared(0)

    @staticmethod
    def from_uci(uci: str) -> "Move":
        """The move of a text in coordinates, such as "e2e4", "e7e8q" or "0000". Raises InvalidMoveError."""
        if uci == "0000":
            return shared(0)
        try:
            number = _SQUARES[uci[:2]] | _SQUARES[uci[2:4]] << 6 | _PROMOTIONS[uci[4:]] << 12
        except KeyError:
            number = 0
        if number & 63 == number >> 6 & 63:
            raise InvalidMoveError(f"{uci!r:.40} is not a move in coordinates, such as e2e4 or e7e8q")
        return shared(number)

    def uci(self) -> str:
        """The move in coordinates."""
        if self.number == 0:
            return "0000"
        return SQUARE_NAMES[self.from_square] + SQUARE_NAMES[self.to_square] + _LETTERS[self.promotion or 0]

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return hash(self) == hash(other) if isinstance(other, Move) else NotImplemented

    def __hash__(self) -> int:
        return self.number

    def __bool__(self) -> bool:
        return self.number != 0

    def __str__(self) -> str:
        return self.uci()

    def __repr__(self) -> str:
        return f"Move.from_uci({self.uci()!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return Move, (self.from_square, self.to_square, self.promotion)


_moves: list[Move | None] = [None] * (7 << 12)
"""The moves handed out so far, by number."""


def shared(number: int) -> Move:
    """The move with this number, always the same object."""
    move = _moves[number]
    if move is None:
        move = Move(number & 63, number >> 6 & 63, number >> 12 or None)
        _moves[number] = move
    return move


def from_packed(packed: int, chess960: bool) -> Move:
    """The move that `x88.move` packs in a number."""
    target = target_of(packed)
    if packed & CASTLING and (chess960 or not is_home_castling(packed)):
        target = rook_origin(packed)
    return shared(index64(origin_of(packed)) | index64(target) << 6 | TYPE[promoted_of(packed)] << 12)


class Piece:
    """A piece: its kind, from PAWN to KING, and its colour, WHITE or BLACK."""

    def __init__(self, piece_type: int, color: bool) -> None:
        """Raises ValueError if there is no such kind of piece."""
        if not 1 <= piece_type <= 6:
            raise ValueError(f"{piece_type!r:.40} is not a kind of piece from PAWN to KING")
        self.piece_type = piece_type
        self.color = bool(color)

    @staticmethod
    def from_symbol(symbol: str) -> "Piece":
        """The piece with a letter, a capital one for White. Raises ValueError."""
        if symbol not in CODE_OF_LETTER:
            raise ValueError(f"{symbol!r:.40} is not the letter of a piece")
        return Piece(TYPE[CODE_OF_LETTER[symbol] & KIND], symbol.isupper())

    def symbol(self) -> str:
        """The letter, a capital one for White."""
        letter = _LETTERS[self.piece_type]
        return letter.upper() if self.color else letter

    def unicode_symbol(self, *, invert_color: bool = False) -> str:
        """The figurine; with `invert_color`, of the other colour, as it looks right on a dark background."""
        symbol = self.symbol()
        return UNICODE_PIECE_SYMBOLS[symbol.swapcase() if invert_color else symbol]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Piece):
            return NotImplemented
        return self.piece_type == other.piece_type and self.color == other.color

    def __hash__(self) -> int:
        return self.piece_type + (-1 if self.color else 5)

    def __str__(self) -> str:
        return self.symbol()

    def __repr__(self) -> str:
        return f"Piece.from_symbol({self.symbol()!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return Piece, (self.piece_type, self.color)


_pieces = [Piece(TYPE[code & KIND], code < BLACK_PIECE) if code in LETTER_OF else None for code in range(48)]


def piece_of(code: int) -> Piece | None:
    """The piece with a code of `x88.piece`, None for EMPTY."""
    return _pieces[code]


def square_of(square: int | str) -> int:
    """The number of a square, which may be named. Raises ValueError or TypeError for others."""
    if isinstance(square, str):
        if square not in _SQUARES:
            raise ValueError(f"{square!r:.40} is not a square")
        return _SQUARES[square]
    number = index(square)
    if not 0 <= number < 64:
        raise ValueError(f"{square!r:.40} is not a square from 0 to 63")
    return number
