"""Pawn evaluation with a pawn hash table: pawn structure, passed pawns, and king shelter and storm.

Squares are numbered as in bitboards, 0 to 63. Scores are packed, middlegame + endgame * 65536.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from search import masks

if not cython.compiled:
    from search.bitboard import lowest, popcount
    from x88.piece import BLACK, WHITE

    ENTRIES = 4096
    DOUBLED = 0
    ISOLATED = 1
    BACKWARD = 3
    PHALANX = 5
    SUPPORTED = 13
    PASSED = 21
    PASSED_OWN_KING = 29
    PASSED_ENEMY_KING = 37
    SHELTER = 45
    STORM = 61
    KEY = 0
    SCORE = 1
    ATTACKS = 2
    SPANS = 4
    PASSED_PAWNS = 6
    BIAS = 0x40000000
    STRUCTURE = 0
    PASSERS = 1
    KING_SHELTER = 2
    PAWN_PARTS = 3

LISTS = {
    "doubled": DOUBLED,
    "isolated": ISOLATED,
    "backward": BACKWARD,
    "phalanx": PHALANX,
    "supported": SUPPORTED,
    "passed": PASSED,
    "passed own king": PASSED_OWN_KING,
    "passed enemy king": PASSED_ENEMY_KING,
    "shelter": SHELTER,
    "storm": STORM,
}
"""Where each list of parameters starts in NUMBERS."""

NUMBERS = [0] * 77
FILES = masks.FILES
ADJACENT = masks.ADJACENT
FRONT_SPANS = masks.FRONT_SPANS
ATTACK_SPANS = masks.ATTACK_SPANS
PAWN_ATTACKS = masks.PAWN_ATTACKS


def load(numbers: dict[str, list[tuple[int, int]]]) -> None:
    """Load the pawn parameters. Clear every existing pawn hash table afterwards."""
    for name, start in LISTS.items():
        for i, (middlegame, endgame) in enumerate(numbers[name]):
            NUMBERS[start + i] = middlegame + endgame * 65536


class Pawns:
    """The pawn hash table: `words[entry | field]`, with the fields KEY and SCORE (White minus Black, + BIAS),
    and for each side `field | side` with ATTACKS, SPANS and PASSED_PAWNS.
    """

    def __init__(self) -> None:
        self.words = [0] * 32768
        self.parts = [0] * 6

    def clear(self) -> None:
        """Clear the table."""
        for i in range(0, ENTRIES * 8, 8):
            self.words[i] = 0

    def find(self, key: int, white: int, black: int, white_king: int, black_king: int) -> int:
        """The entry of a placement of pawns and kings, computed on a miss."""
        entry = (key & ENTRIES - 1) << 3
        if self.words[entry] != key:
            self.words[entry] = key
            score = self._compute(entry, WHITE, white, black, white_king, black_king)
            score -= self._compute(entry, BLACK, black, white, black_king, white_king)
            self.words[entry | SCORE] = score + BIAS
        return entry

    def score(self, entry: int) -> int:
        """The packed score of an entry, White minus Black."""
        return self.words[entry | SCORE] - BIAS

    def _compute(self, entry: int, side: int, own: int, other: int, king: int, other_king: int) -> int:
        """Fill a side's fields of an entry and return its packed score."""
        row = side << 6
        structure = passers = 0
        attacks = spans = passed = 0
        todo = own
        while todo:
            i = lowest(todo)
            bit = todo & -todo
            todo ^= bit
            rank = i >> 3 if side == WHITE else 7 - (i >> 3)
            stop = i + 8 - 16 * side
            attacks |= PAWN_ATTACKS[row | i]
            spans |= ATTACK_SPANS[row | i]
            neighbours = own & ADJACENT[i & 7]
            half_open = FRONT_SPANS[row | i] & other == 0
            if FRONT_SPANS[row | i] & own:
                structure += NUMBERS[DOUBLED]
            if neighbours == 0:
                structure += NUMBERS[ISOLATED + half_open]
            elif neighbours & ~ATTACK_SPANS[row | i] == 0 and PAWN_ATTACKS[row | stop] & other:
                structure += NUMBERS[BACKWARD + half_open]
            if neighbours & ~(ATTACK_SPANS[row | i] | ATTACK_SPANS[row ^ 64 | i]):
                structure += NUMBERS[PHALANX + rank]
            structure += popcount(PAWN_ATTACKS[row ^ 64 | i] & own) * NUMBERS[SUPPORTED + rank]
            if (FRONT_SPANS[row | i] | ATTACK_SPANS[row | i]) & other == 0 and FRONT_SPANS[
                row | i
            ] & own == 0:
                passed |= bit
                passers += NUMBERS[PASSED + rank]
                passers += _distance(stop, king) * NUMBERS[PASSED_OWN_KING + rank]
                passers += _distance(stop, other_king) * NUMBERS[PASSED_ENEMY_KING + rank]
        shelter = _king_shelter(side, own, other, king)
        self.words[entry | ATTACKS | side] = attacks
        self.words[entry | SPANS | side] = spans
        self.words[entry | PASSED_PAWNS | side] = passed
        self.parts[side * PAWN_PARTS + STRUCTURE] = structure
        self.parts[side * PAWN_PARTS + PASSERS] = passers
        self.parts[side * PAWN_PARTS + KING_SHELTER] = shelter
        return structure + passers + shelter


def _king_shelter(side: int, own: int, other: int, king: int) -> int:
    """King shelter and pawn storm on the king's file and the two adjacent ones. For a king on the a- or
    h-file, these are the three files at that edge.
    """
    row = side << 6
    total = 0
    middle = min(max(king & 7, 1), 6)
    for file in range(middle - 1, middle + 2):
        # Pawns behind the king do not count.
        ahead = FILES[file] & ~FRONT_SPANS[row ^ 64 | king & 0x38 | file]
        rank = _nearest(side, own & ahead)
        storm = _nearest(side, other & ahead)
        total += NUMBERS[SHELTER + rank + (8 if file != king & 7 else 0)]
        total += NUMBERS[STORM + storm + (8 if rank and rank + 1 == storm else 0)]
    return total


def _nearest(side: int, pawns: int) -> int:
    """The relative rank of the pawn nearest to the side's first rank, 0 if there is none."""
    rank = 0
    while pawns:
        i = lowest(pawns)
        if side == WHITE:
            return i >> 3
        rank = 7 - (i >> 3)
        pawns &= pawns - 1
    return rank


def _distance(a: int, b: int) -> int:
    """The Chebyshev distance of two squares, in king moves."""
    return max(abs((a & 7) - (b & 7)), abs((a >> 3) - (b >> 3)))
