"""Sets of squares as bitboards, the tables that the evaluation fills its own from.

Plain Python, never compiled: these are words of 64 bits, which no C type may be guessed for. Squares are
numbered 0 to 63.

Source: Gerd Isenberg, "Kindergarten bitboards", 2006, for the lines: the pieces on a line are multiplied into
six neighbouring bits, and these index what a slider there reaches.
"""

from x88.piece import KING, KNIGHT, STEPS
from x88.square import SQUARES

A_FILE = 0x0101010101010101
B_FILE = A_FILE << 1
FIRST_RANK = 0xFF
LONG_DIAGONAL = 0x0080402010080400
"""c2 to h7, which multiplies the inner squares of the a-file into the six highest bits."""


def bit_of(sq: int) -> int:
    """The set of one 0x88 square; empty for one off the board."""
    return 0 if sq & 0x88 else 1 << ((sq + (sq & 7)) >> 1)


def _steps(kind: int) -> list[int]:
    """What a knight or king on each square attacks."""
    return [sum(bit_of(sq + step & 0xFF) for step in STEPS[kind]) for sq in SQUARES]


def _ray(sq: int, step: int) -> int:
    """The squares from, but without, a square in a direction to the edge."""
    found = 0
    sq += step
    while bit_of(sq & 0xFF):
        found |= bit_of(sq)
        sq += step
    return found


def _line(step: int) -> list[int]:
    """For each square the line through it in a direction, without the square."""
    return [_ray(sq, step) | _ray(sq, -step) for sq in SQUARES]


def _row(place: int, inner: int) -> int:
    """Which of eight cells in a row a slider reaches from `place`; bit n of `inner`: cell n + 1 is taken."""
    found = 0
    for step in (-1, 1):
        cell = place + step
        while 0 <= cell <= 7:
            found |= 1 << cell
            if inner << 1 >> cell & 1:
                break
            cell += step
    return found


def _file_attacks() -> list[int]:
    """FILE_ATTACKS[rank << 6 | six bits]: what a slider on the a-file reaches there."""
    table = [0] * 512
    for inner in range(64):
        taken = sum(1 << 8 * (n + 1) for n in range(6) if inner >> n & 1)
        index = taken * LONG_DIAGONAL >> 58 & 63
        for rank in range(8):
            cells = _row(rank, inner)
            table[rank << 6 | index] = sum(1 << 8 * n for n in range(8) if cells >> n & 1)
    return table


def _zones() -> list[int]:
    """ZONE[side << 6 | number]: the squares of a king of that side and around it, and three more before
    those.
    """
    zones = []
    for forward in (8, -8):
        for i in range(64):
            ring = 1 << i | KING_MOVES[i]
            ahead = ring << 8 if forward > 0 else ring >> 8
            zones.append((ring | ahead) & (1 << 64) - 1)
    return zones


BIT = [bit_of(sq) for sq in range(128)]
"""BIT[0x88 square]."""
KNIGHT_MOVES = _steps(KNIGHT)
KING_MOVES = _steps(KING)
RANKS = _line(1)
DIAGONALS = _line(17)
ANTIDIAGONALS = _line(15)
ROW_ATTACKS = [_row(file, inner) * A_FILE for file in range(8) for inner in range(64)]
"""ROW_ATTACKS[file << 6 | six bits]: what a slider reaches on its rank, repeated on all ranks."""
FILE_ATTACKS = _file_attacks()
FILES = [A_FILE << file for file in range(8)]
ADJACENT = [sum(FILES[near] for near in (file - 1, file + 1) if 0 <= near <= 7) for file in range(8)]
"""The files next to a file."""
AHEAD = [_ray(sq, step) for step in (16, -16) for sq in SQUARES]
"""AHEAD[side << 6 | number]: the squares before a pawn on its file."""
SIDES = [
    (_ray(sq + 1 & 0xFF, step) if sq & 7 < 7 else 0) | (_ray(sq - 1 & 0xFF, step) if sq & 7 else 0)
    for step in (16, -16)
    for sq in SQUARES
]
"""SIDES[side << 6 | number]: the squares that a pawn may attack here or farther on."""
CAPTURES = [
    bit_of(sq + step - 1 & 0xFF) | bit_of(sq + step + 1 & 0xFF) for step in (16, -16) for sq in SQUARES
]
"""CAPTURES[side << 6 | number]: the squares that a pawn attacks."""
ZONE = _zones()
SHADES = [sum(bit_of(sq) for sq in SQUARES if (sq >> 4) + sq & 1 == shade) for shade in (0, 1)]
"""The dark and the light squares."""
OUTPOSTS = [sum(0xFF << 8 * rank for rank in ranks) for ranks in ((3, 4, 5), (2, 3, 4))]
"""The ranks of each side's outposts."""
LAST_RANKS = [0xFF << 8 * rank for rank in (6, 7, 1, 0)]
"""LAST_RANKS[side << 1]: the seventh rank as the side counts it; the next is the eighth."""
