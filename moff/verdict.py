"""What a move was worth, by how much of the expected score it gave away: its mark."""

from typing import NamedTuple

from search import wdl

INACCURACY, MISTAKE, BLUNDER = 0.08, 0.16, 0.30
"""The expected score, from 0 to 1, that a move with this mark gives away at least. In an even position these
are losses of about half a pawn, of one and of two.
"""

NAGS = {"!": 1, "?": 2, "??": 4, "?!": 6}
"""The marks, with their NAGs in PGN."""


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
    win, draw, _ = wdl.chances(score)
    return (win + draw / 2) / 1000


def judge(move: int, best: int, best_score: int, score: int, second_score: int | None = None) -> Verdict:
    """The verdict on a move: scores in centipawns for the side that makes it, of the best move, of this one,
    and of the second best, if that is known. The best move is marked ! where every other one would have been
    a mistake.
    """
    if move == best:
        is_only = second_score is not None and expectation(best_score) - expectation(second_score) >= MISTAKE
        return Verdict("!" if is_only else "", 0.0, best)
    loss = max(0.0, expectation(best_score) - expectation(score))
    glyph = "??" if loss >= BLUNDER else "?" if loss >= MISTAKE else "?!" if loss >= INACCURACY else ""
    return Verdict(glyph, loss, best)
