"""What a move was worth, by how much of the expected score it gave away: its mark.

The curve of the expected score is the one that lichess publishes ("Lichess Accuracy metric",
lichess.org/page/accuracy), fitted to the games of people, and the limits of the marks are lichess's too.
"""

import math
from typing import NamedTuple

from search.score import mate_distance

INACCURACY, MISTAKE, BLUNDER = 0.05, 0.10, 0.15
"""The expected score, from 0 to 1, that a move with this mark gives away at least."""

LARGEST = 1000
"""Centipawns: a larger lead counts as this much."""

NAGS = {"!": 1, "?": 2, "??": 4, "?!": 6}
"""The marks, with their NAGs in PGN."""

_STEEPNESS = 0.00368208


class Verdict(NamedTuple):
    """What is said of a move."""

    glyph: str
    """One of NAGS, or empty."""
    loss: float
    """The expected score that it gave away, from 0 to 1."""
    best: int
    """The move that was best, packed."""


def expectation(score: int) -> float:
    """The expected score, from 0 to 1, of the side that a score in centipawns belongs to."""
    if mate_distance(score) is not None:
        return 1.0 if score > 0 else 0.0
    return 1 / (1 + math.exp(-_STEEPNESS * max(-LARGEST, min(LARGEST, score))))


def judge(move: int, best: int, best_score: int, score: int, second_score: int | None = None) -> Verdict:
    """The verdict on a move: scores in centipawns for the side that makes it, of the best move, of this one,
    and of the second best, if that is known. The best move is marked ! where every other one would have been
    a mistake. A mate in one that was missed is a blunder.
    """
    if move == best:
        is_only = second_score is not None and expectation(best_score) - expectation(second_score) >= MISTAKE
        return Verdict("!" if is_only else "", 0.0, best)
    loss = max(0.0, expectation(best_score) - expectation(score))
    glyph = "??" if loss >= BLUNDER else "?" if loss >= MISTAKE else "?!" if loss >= INACCURACY else ""
    if mate_distance(best_score) == 1 and mate_distance(score) != 1:
        glyph = "??"
    return Verdict(glyph, loss, best)
