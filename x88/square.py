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
    DIAGONAL = 5

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
    number = index(square)
    if number & ~0x77:
        raise ValueError(f"{square} is not a square of the board")
    return number


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
    ``REACH[...] & code`` is the answer for every piece except the king (code 3), whose test is NEXT_TO.
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
    return table


DIRECTION = _directions()
REACH = _reach()


FILE_A = 0x0101010101010101
FILE_H = FILE_A << 7
ENDS = 0xFF000000000000FF
"""The first and the last rank."""


def _walked(origin: int, steps: list[int], longest: int = 7) -> int:
    """The squares reached from `origin` by up to `longest` of each step on an empty board, as bits."""
    found = 0
    for step in steps:
        cell = origin + step
        while not cell & OFF_BOARD and abs(cell - origin) <= abs(step) * longest:
            found |= 1 << (cell >> 4 << 3 | cell & 7)
            cell += step
    return found


ATTACKS = [
    _walked(origin, steps, longest)
    for steps, longest in (
        ([15, 17], 1),
        ([-15, -17], 1),
        (STEPS[KNIGHT], 1),
        (STEPS[KING], 1),
        (STEPS[ROOK], 7),
        (STEPS[BISHOP], 7),
    )
    for origin in SQUARES
]
"""ATTACKS[row << 6 | index64(square)]: the squares attacked from there on an empty board, as bits. Rows 0 and
1 are pawns of White and Black, then KNIGHT, KING, ROOK and DIAGONAL (a bishop).
"""

LINES = [_walked(origin, [-step, step]) for origin in SQUARES for step in (1, 17, 15)]
"""LINES[index64(square) * 3 + number]: the other squares of its rank (0) and diagonals (1, 2), as bits."""


def _seen(place: int, occupied: int) -> int:
    """The cells of a row of eight that are seen from a place, 0 to 7, as bits, if these are occupied."""
    # The edge ends the view as a piece would.
    below = occupied & (1 << place) - 1 | 1
    above = occupied >> place + 1 << place + 1
    return ((above & -above) * 2 - (1 << below.bit_length() - 1)) & 0xFF & ~(1 << place)


SEEN = [_seen(place, inner << 1) * FILE_A for place in range(8) for inner in range(64)]
"""SEEN[file << 6 | pieces]: the cells of a rank that are seen from a file if the inner six hold these pieces,
as bits; the same on every rank.
"""


def _seen_on_file(place: int, inner: int) -> int:
    """`_seen` for the a-file; `sets.straight` gathers its inner squares in reverse, seventh rank first."""
    seen = _seen(place, sum(2 << 5 - i for i in range(6) if inner >> i & 1))
    return int.from_bytes([seen >> rank & 1 for rank in range(8)], "little")


SEEN_ON_FILE = [_seen_on_file(place, inner) for place in range(8) for inner in range(64)]
"""SEEN_ON_FILE[rank << 6 | pieces]: the cells of the a-file that are seen from a rank, likewise."""
