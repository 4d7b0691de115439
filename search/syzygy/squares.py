"""The numbers of squares and of their sets in tablebase files (`search.syzygy.file`); a1 is 0, h8 63.

Source: Ronald de Man, the tables and their generator ("syzygy1"), 2013.
"""


def above_diagonal(square: int) -> int:
    """Positive above the diagonal a1-h8, 0 on it, negative below it."""
    return (square >> 3) - (square & 7)


BELOW = [-1] * 64
"""The 28 squares below the diagonal, numbered."""

TRIANGLE = [-1] * 64
"""The squares of the triangle a1-d1-d4: first the six below the diagonal, then the four on it."""

KINGS = [-1] * (10 * 64)
"""[TRIANGLE of the first king * 64 + the other king]: the 462 pairs that are not next to each other."""

PAWN_ORDER = [0] * 64
"""The squares of pawns: from 47 on a2 down, those nearest to the edge and to home first."""

CHOOSE = [0] * (8 * 65)
"""[65 * k + n]: the combinations of k out of n."""

LEADING_PAWNS = [0] * (6 * 64)
"""[64 * pawns + square of the leading one]: the first number of its combinations with the others."""

LEADING_SIZES = [0] * (6 * 4)
"""[4 * pawns + file of the leading one]: the number of all combinations."""


def _number_squares() -> None:
    below = [square for square in range(64) if above_diagonal(square) < 0]
    for number, square in enumerate(below):
        BELOW[square] = number
    corner = [square for square in range(28) if square & 7 < 4 and above_diagonal(square) <= 0]
    corner.sort(key=lambda square: (above_diagonal(square) == 0, square))
    for number, square in enumerate(corner):
        TRIANGLE[square] = number
    number = 0
    last = []
    for first in corner:
        for second in range(64):
            if max(abs((first >> 3) - (second >> 3)), abs((first & 7) - (second & 7))) <= 1:
                continue
            on_diagonal = above_diagonal(first) == 0
            if on_diagonal and above_diagonal(second) > 0:
                continue
            if on_diagonal and above_diagonal(second) == 0:
                last.append(TRIANGLE[first] * 64 + second)
                continue
            KINGS[TRIANGLE[first] * 64 + second] = number
            number += 1
    for place in last:
        KINGS[place] = number
        number += 1
    for n in range(65):
        CHOOSE[n] = 1
        for k in range(65, 8 * 65, 65):
            CHOOSE[k + n] = CHOOSE[k - 65 + n - 1] + CHOOSE[k + n - 1] if n else 0
    order = 47
    for file in range(4):
        for rank in range(1, 7):
            PAWN_ORDER[8 * rank + file] = order
            PAWN_ORDER[8 * rank + 7 - file] = order - 1
            order -= 2
    for pawns in range(1, 6):
        for file in range(4):
            number = 0
            for rank in range(1, 7):
                LEADING_PAWNS[64 * pawns + 8 * rank + file] = number
                number += CHOOSE[65 * (pawns - 1) + PAWN_ORDER[8 * rank + file]]
            LEADING_SIZES[4 * pawns + file] = number


_number_squares()
