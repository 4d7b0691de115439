"""Bitboard tables: attacks of knights, kings, pawns and sliders, pawn spans and king zones.

Plain Python, never compiled: Cython must not infer a C type for these 64-bit words. Squares are numbered 0 to
63.

Source of the slider attacks: Gerd Isenberg, "Kindergarten bitboards", 2006. A multiplication gathers the
occupied squares of a line in six adjacent bits, which index the attacks.
"""

from x88.piece import KING, KNIGHT, STEPS
from x88.square import SQUARES

A_FILE = 0x0101010101010101
B_FILE = A_FILE << 1
FIRST_RANK = 0xFF
LONG_DIAGONAL = 0x0080402010080400
"""c2 to h7: multiplying by it maps the inner squares of the a-file to the six highest bits."""


def bit_of(sq: int) -> int:
    """The bitboard of one 0x88 square, empty if it is off the board."""
    return 0 if sq & 0x88 else 1 << ((sq + (sq & 7)) >> 1)


def _steps(kind: int) -> list[int]:
    """The attacks of a knight or king from each square."""
    return [sum(bit_of(sq + step & 0xFF) for step in STEPS[kind]) for sq in SQUARES]


def _ray(sq: int, step: int) -> int:
    """The squares from a square to the edge in one direction, without the square itself."""
    found = 0
    sq += step
    while bit_of(sq & 0xFF):
        found |= bit_of(sq)
        sq += step
    return found


def _line(step: int) -> list[int]:
    """For each square, the line through it in a direction, without the square itself."""
    return [_ray(sq, step) | _ray(sq, -step) for sq in SQUARES]


def _row(place: int, inner: int) -> int:
    """The slider attacks from `place` in a row of eight cells; bit n of `inner`: cell n + 1 is occupied."""
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
    """FILE_ATTACKS[rank << 6 | six bits of occupancy]: slider attacks on the a-file."""
    table = [0] * 512
    for inner in range(64):
        taken = sum(1 << 8 * (n + 1) for n in range(6) if inner >> n & 1)
        index = taken * LONG_DIAGONAL >> 58 & 63
        for rank in range(8):
            cells = _row(rank, inner)
            table[rank << 6 | index] = sum(1 << 8 * n for n in range(8) if cells >> n & 1)
    return table


def _king_zones() -> list[int]:
    """KING_ZONE[side << 6 | square]: the king's square, the squares around it, and three more in front of
    them.
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
RANK_ATTACKS = [_row(file, inner) * A_FILE for file in range(8) for inner in range(64)]
"""RANK_ATTACKS[file << 6 | six bits of occupancy]: slider attacks on a rank, repeated on all ranks."""
FILE_ATTACKS = _file_attacks()
FILES = [A_FILE << file for file in range(8)]
ADJACENT = [sum(FILES[near] for near in (file - 1, file + 1) if 0 <= near <= 7) for file in range(8)]
"""ADJACENT[file]: the adjacent files."""
FRONT_SPANS = [_ray(sq, step) for step in (16, -16) for sq in SQUARES]
"""FRONT_SPANS[side << 6 | square]: the squares in front of a pawn on its file."""
ATTACK_SPANS = [
    (_ray(sq + 1 & 0xFF, step) if sq & 7 < 7 else 0) | (_ray(sq - 1 & 0xFF, step) if sq & 7 else 0)
    for step in (16, -16)
    for sq in SQUARES
]
"""ATTACK_SPANS[side << 6 | square]: the squares that a pawn attacks now or after advancing."""
PAWN_ATTACKS = [
    bit_of(sq + step - 1 & 0xFF) | bit_of(sq + step + 1 & 0xFF) for step in (16, -16) for sq in SQUARES
]
"""PAWN_ATTACKS[side << 6 | square]: the squares that a pawn attacks."""
KING_ZONE = _king_zones()
SQUARES_OF_COLOUR = [sum(bit_of(sq) for sq in SQUARES if (sq >> 4) + sq & 1 == shade) for shade in (0, 1)]
"""The dark and the light squares."""
OUTPOSTS = [sum(0xFF << 8 * rank for rank in ranks) for ranks in ((3, 4, 5), (2, 3, 4))]
"""OUTPOSTS[side]: the relative ranks four to six."""
LAST_RANKS = [0xFF << 8 * rank for rank in (6, 7, 1, 0)]
"""LAST_RANKS[side << 1]: the relative seventh rank, followed by the eighth."""
