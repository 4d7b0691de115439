"""Squares of the 0x88 board: names and difference tables.

Two boards of 8x8 lie side by side in rows of 16 cells: index = rank * 16 + file, so a1 = 0x00, h1 = 0x07, a8
= 0x70, h8 = 0x77, and ``index & 0x88`` is non-zero exactly off the board. ``& 0xFF`` keeps an index in
0..255. The cells from 0x80 up are off the board too, so no step from a square leaves the array.

Source: Vlad Bazon, "Modelarea tablei și jocului de șah" (XII), 2012.
"""

from operator import index

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from x88.piece import STEPS

if not cython.compiled:
    from x88.piece import BISHOP, BLACK, KING, KNIGHT, PAWN, ROOK, WHITE

    OFF_BOARD = 0x88
    NO_SQUARE = 0x88
    FILE = 0x0F
    RANK = 0xF0
    DIFFERENCE = 0x77
    REACH_ROW = 256
    NEXT_TO = 0x100
    NEAR = 0x200

    def index64(square: int) -> int:
        """The number of a square from 0 to 63: a1 = 0, h1 = 7, h8 = 63."""
        return square + (square & 7) >> 1


SQUARES = [rank << 4 | file for rank in range(8) for file in range(8)]
"""The 64 squares from a1 to h8."""


def name(square: int) -> str:
    """The name of a square ("e4"), or "-" for NO_SQUARE. Raises ValueError for other numbers."""
    if square == NO_SQUARE:
        return "-"
    return "abcdefgh"[checked(square) & FILE] + "12345678"[square >> 4]


def parse(text: str) -> int:
    """The square with a name ("e4"). Raises ValueError if it is not a square."""
    if isinstance(text, str) and len(text) == 2 and text[0] in "abcdefgh" and text[1] in "12345678":
        return (ord(text[1]) - ord("1")) << 4 | (ord(text[0]) - ord("a"))
    raise ValueError(f"{text!r} is not a square")


def checked(square: int) -> int:
    """The square, if it is one of the board. Raises ValueError or TypeError."""
    if index(square) & ~0x77:
        raise ValueError(f"{square} is not a square of the board")
    return square


def _directions() -> list[int]:
    """DIRECTION[to - from + 0x77]: the step along the line from one square to the other, 0 if not aligned."""
    table = [0] * REACH_ROW
    for step in STEPS[KING]:
        for length in range(1, 8):
            if abs(step * length) <= DIFFERENCE:
                table[step * length + DIFFERENCE] = step
    return table


def _reach() -> list[int]:
    """REACH[side * 256 + to - from + 0x77]: which of the side's pieces attack `to` from `from` on an empty
    board.

    The low four bits are the Swedish piece codes (pawn capture 1, knight 2, straight line 4, diagonal 8), so
    ``REACH[...] & code`` is the answer for every piece except the king (code 3). The next four bits are the
    same for `to` and all squares next to it: a piece that fails this test cannot restrict a king on `to`.
    NEXT_TO and NEAR (one and at most two king moves apart) are the same two tests for the king.
    """
    differences = {16 * rank + file for rank in range(-7, 8) for file in range(-7, 8)}
    table = [0] * (2 * REACH_ROW)
    for side, pawn_steps in ((WHITE, [15, 17]), (BLACK, [-15, -17])):
        row = side * REACH_ROW + DIFFERENCE
        for difference in differences:
            step = DIRECTION[difference + DIFFERENCE]
            if difference in pawn_steps:
                table[row + difference] |= PAWN
            if difference in STEPS[KNIGHT]:
                table[row + difference] |= KNIGHT
            if step:
                table[row + difference] |= ROOK if step in STEPS[ROOK] else BISHOP
            if difference in STEPS[KING]:
                table[row + difference] |= NEXT_TO
        for difference in differences:
            around = [difference + step for step in [0, *STEPS[KING]]]
            for other in around:
                if other in differences:
                    table[row + difference] |= (table[row + other] & 0x0F) << 4
                    if other in STEPS[KING]:
                        table[row + difference] |= NEAR
    return table


DIRECTION = _directions()
REACH = _reach()
