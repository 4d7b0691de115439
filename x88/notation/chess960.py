"""The start positions of Chess960, by number.

Bobby Fischer's rules of 1996: the pieces behind the pawns are shuffled, the bishops on squares of both
colours and the king between the rooks. The numbers are Reinhard Scharnagl's ("Fischer-Random-Schach", 2004):
each digit of a mixed-radix number places one or two pieces on the squares that are still free.
"""

import secrets
from itertools import combinations

POSITIONS = 960
STANDARD = 518
"""The number of the start position of standard chess."""

_KNIGHTS = list(combinations(range(5), 2))
"""The two of five free squares that the knights take, by the last digit."""


def draw() -> int:
    """The number of a random start position."""
    return secrets.randbelow(POSITIONS)


def start(number: int, black: int | None = None) -> str:
    """The FEN of a start position, as X-FEN, by its number from 0 to 959. In double Fischer random chess,
    Black has its own number. Raises ValueError for other numbers.
    """
    white, other = back_rank(number), back_rank(number if black is None else black)
    return f"{other.lower()}/pppppppp/8/8/8/8/PPPPPPPP/{white} w KQkq - 0 1"


def back_rank(number: int) -> str:
    """The pieces from the a-file to the h-file, as letters of White. Raises ValueError as `start` does."""
    if not 0 <= number < POSITIONS:
        raise ValueError(f"{number} is not the number of a start position of Chess960, 0 to {POSITIONS - 1}")
    number, light = divmod(number, 4)
    number, dark = divmod(number, 4)
    number, queen = divmod(number, 6)
    rank = [""] * 8
    rank[2 * light + 1] = rank[2 * dark] = "B"
    rank[_free(rank)[queen]] = "Q"
    free = _free(rank)
    for n in _KNIGHTS[number]:
        rank[free[n]] = "N"
    for file, letter in zip(_free(rank), "RKR", strict=True):
        rank[file] = letter
    return "".join(rank)


def _free(rank: list[str]) -> list[int]:
    """The files without a piece."""
    return [file for file, letter in enumerate(rank) if not letter]
