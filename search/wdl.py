"""What a score is worth: the chances of a win, a draw and a loss."""

import math

from search.score import mate_distance

EVEN_WIN = 106
"""The score in centipawns from which a win is likelier than all else."""

SPREAD = 109
"""How many centipawns make it e times as likely, against all else."""


def chances(score: int) -> tuple[int, int, int]:
    """Win, draw and loss for the side to move in parts of a thousand, which they sum up to.

    Two logistic curves, for the win and for the loss, fitted by maximum likelihood to the results of 344,301
    positions from games of Moff against itself (bench/RESULTS.md).
    """
    if mate_distance(score) is not None:
        return (1000, 0, 0) if score > 0 else (0, 0, 1000)
    win = round(1000 / (1 + math.exp((EVEN_WIN - score) / SPREAD)))
    loss = round(1000 / (1 + math.exp((EVEN_WIN + score) / SPREAD)))
    return win, 1000 - win - loss, loss
