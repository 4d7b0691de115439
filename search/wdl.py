"""Win, draw and loss probabilities of a score."""

import math

from search.score import CERTAIN_WIN

EVEN_WIN = 115
"""The normalised score in centipawns at which the win probability is 50 %."""

SPREAD = 92
"""The scale of the logistic curve in centipawns: this many multiply the odds of a win by e."""


def chances(score: int) -> tuple[int, int, int]:
    """The win, draw and loss probabilities of a normalised score for the side to move, in permille. They sum
    to 1000.

    Two logistic curves, for the win and for the loss, fitted by maximum likelihood to the results of
    466,034 positions from games of Moff against itself (bench/RESULTS.md). Mates and tablebase wins are
    certain.
    """
    if abs(score) >= CERTAIN_WIN:
        return (1000, 0, 0) if score > 0 else (0, 0, 1000)
    win = round(1000 / (1 + math.exp((EVEN_WIN - score) / SPREAD)))
    loss = round(1000 / (1 + math.exp((EVEN_WIN + score) / SPREAD)))
    return win, 1000 - win - loss, loss
