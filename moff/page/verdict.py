"""The verdict on a move that is tried: its mark, what it gave away, and what was best."""

from typing import NamedTuple

from moff import accuracy
from moff.accuracy import LOSSES, MISTAKE, expected_score

GOOD = "!"
"""The mark of the only good move."""

NAGS = {GOOD: 1, **accuracy.NAGS}
"""The marks, with their NAGs in PGN."""


class Verdict(NamedTuple):
    """The verdict on a move."""

    glyph: str
    """One of NAGS, or empty."""
    loss: float
    """The expected score that it gave away, from 0 to 1."""
    best: int
    """The move that was best, packed."""


def judge(move: int, best: int, best_score: int, score: int, second_score: int | None = None) -> Verdict:
    """The verdict on a move. Scores are in centipawns for the side that makes it: of the best move, of this
    one, and of the second best, if known. The best move is marked ! if every other one would have been a
    mistake; the other marks are those of `moff review`.
    """
    if move == best:
        is_only = second_score is not None and _loss(best_score, second_score) >= LOSSES[MISTAKE]
        return Verdict(GOOD if is_only else "", 0.0, best)
    judged = accuracy.judge(best_score, score)
    return Verdict(judged.mark, judged.loss, best)


def _loss(best_score: int, score: int) -> float:
    return expected_score(best_score) - expected_score(score)
