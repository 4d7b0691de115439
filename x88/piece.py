"""Piece codes, the moff table and piece values for exchanges.

The bits of a code say how the piece moves: pawn 1, knight 2, king 3, rook 4, bishop 8, queen 12 = rook |
bishop; 0x10 is a white piece, 0x20 a black one. A piece with ``code & 2`` moves a single step, ``code & 4``
slides along ranks and files, ``code & 8`` along diagonals. ``code & 0x0E`` is zero only for a pawn.

Source: "Draggenerator", the Swedish series on programming a chess board in JavaScript.
"""

from operator import index

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    EMPTY = 0
    PAWN = 1
    KNIGHT = 2
    KING = 3
    ROOK = 4
    BISHOP = 8
    QUEEN = 12
    SLIDER = 0x0C
    KIND = 0x0F
    WHITE_PIECE = 0x10
    BLACK_PIECE = 0x20
    ANY_PIECE = 0x30
    BORDER = 0x40
    CODES = 0x30
    WHITE = 0
    BLACK = 1

SIDES = {WHITE: "White", BLACK: "Black"}
"""The names of the sides."""

KINDS = [PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING]
"""The six kinds of piece, from pawn to king."""

_STRAIGHT = [16, 1, -1, -16]
_DIAGONAL = [17, 15, -15, -17]

STEPS: dict[int, list[int]] = {
    KNIGHT: [33, 31, 18, 14, -14, -18, -31, -33],
    KING: _STRAIGHT + _DIAGONAL,
    ROOK: _STRAIGHT,
    BISHOP: _DIAGONAL,
    QUEEN: _STRAIGHT + _DIAGONAL,
}
"""The steps of each kind except the pawn, as differences of 0x88 squares."""


def _moff() -> list[int]:
    """The moff table: a row of steps for each kind, ended by 0, behind a head of the rows' indices."""
    table = [0] * (QUEEN + 1)
    for kind, steps in STEPS.items():
        table[kind] = len(table)
        table += [*steps, 0]
    return table


MOFF = _moff()

VALUES = {PAWN: 100, KNIGHT: 320, KING: 1200, ROOK: 500, BISHOP: 330, QUEEN: 950}
"""Piece values for exchanges, in centipawns. The king's must exceed the queen's: it captures last."""

VALUE = [VALUES.get(code & KIND, 0) if code < CODES else 0 for code in range(CODES)]
"""VALUE[code]: the value of a piece code, with or without its colour."""

NAMES = {KING: "king", QUEEN: "queen", ROOK: "rook", BISHOP: "bishop", KNIGHT: "knight", PAWN: "pawn"}
"""The name of each kind."""

LETTERS = {PAWN: "p", KNIGHT: "n", KING: "k", ROOK: "r", BISHOP: "b", QUEEN: "q"}
"""The lower-case English letter of each kind."""


def checked_side(side: int) -> int:
    """The side, if it is WHITE or BLACK. Raises ValueError or TypeError."""
    number = index(side)
    if number not in (WHITE, BLACK):
        raise ValueError(f"{side} is not a side, 0 or 1")
    return number


def make_piece(side: int, kind: int) -> int:
    """The code of a side's piece of that kind."""
    return WHITE_PIECE << checked_side(side) | kind


def side_of(code: int) -> int:
    """WHITE or BLACK, for the code of a piece. Raises ValueError for other numbers."""
    return WHITE if letter(code).isupper() else BLACK


def letter(code: int) -> str:
    """The FEN letter of a piece code: upper case for White. Raises ValueError for other numbers."""
    if code not in LETTER_OF:
        raise ValueError(f"{code} is not the code of a piece")
    return LETTER_OF[code]


LETTER_OF = {WHITE_PIECE | kind: text.upper() for kind, text in LETTERS.items()} | {
    BLACK_PIECE | kind: text for kind, text in LETTERS.items()
}
"""The FEN letter of each piece code."""

CODE_OF_LETTER = {text: code for code, text in LETTER_OF.items()}
"""The piece code of each FEN letter."""
