"""Move accuracy for the side that moved: win probability, accuracy, and the marks ?!, ? and ??.

Everything here is a function of reported scores: normalised centipawns and mates (`search.score`). The curve
of the win probability and the accuracy of a move are those published by lichess ("Lichess Accuracy metric",
lichess.org/page/accuracy), which were fitted to games of humans, so that figures can be compared; Moff's own
model (`search.wdl`) describes games of Moff against itself. The accuracy of a game is also computed as on
lichess.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from search.score import CERTAIN_WIN, mate_distance

INACCURACY = "?!"
MISTAKE = "?"
BLUNDER = "??"

LOSSES = {BLUNDER: 0.15, MISTAKE: 0.10, INACCURACY: 0.05}
"""The smallest loss of expected score, from 0 to 1, for each mark: lichess's limits."""

NAGS = {INACCURACY: 6, MISTAKE: 2, BLUNDER: 4}
"""The marks in PGN: numeric annotation glyphs."""

NAMES = {INACCURACY: "inaccuracy", MISTAKE: "mistake", BLUNDER: "blunder"}

MAX_SCORE = 1000
"""Centipawns: a larger lead counts as this much."""

_STEEPNESS = 0.00368208
_NARROWEST, _WIDEST = 2, 8
_STEADIEST, _WILDEST = 0.5, 12.0


class Judgement(NamedTuple):
    """The cost of a move to the side that played it."""

    loss: float
    """Expected score, from 0 to 1."""
    centipawns: int
    """The loss in centipawns, with both scores limited to MAX_SCORE."""
    accuracy: float
    """Per cent."""
    mark: str
    """INACCURACY, MISTAKE, BLUNDER or empty."""


class Tally(NamedTuple):
    """The moves of one side in a game."""

    moves: int
    accuracy: float | None
    """Per cent; None without moves."""
    centipawns: float | None
    """Mean loss; None without moves."""
    marks: dict[str, int]
    """The number of moves with each mark, from the least serious on."""


def expected_score(score: int) -> float:
    """The points, from 0 to 1, that a side with this score can expect; 1 for a mate or tablebase win."""
    if abs(score) >= CERTAIN_WIN:
        return 1.0 if score > 0 else 0.0
    return 1 / (1 + math.exp(-_STEEPNESS * limited(score)))


def limited(score: int) -> int:
    """The score, limited to MAX_SCORE for either side."""
    return max(-MAX_SCORE, min(MAX_SCORE, score))


def judge(before: int, after: int, is_best: bool = False) -> Judgement:
    """Judge a move by the score before it, that of the best move, and by the score after it, both for the
    side that played it. The best move itself costs nothing, whatever a later search finds.

    A move is marked for the expected score that it lost (`LOSSES`). A mate in one that was not played is
    always a blunder.
    """
    if is_best or after >= before:
        return Judgement(0.0, 0, 100.0, "")
    loss = expected_score(before) - expected_score(after)
    mark = next((mark for mark, least in LOSSES.items() if loss >= least), "")
    if mate_distance(before) == 1 and mate_distance(after) != 0:
        mark = BLUNDER
    return Judgement(loss, limited(before) - limited(after), accuracy(loss), mark)


def accuracy(loss: float) -> float:
    """The accuracy, in per cent, of a move that lost this much expected score."""
    return max(0.0, min(100.0, 103.1668 * math.exp(-0.04354 * 100 * loss) - 3.1669))


def tally(judgements: Sequence[Judgement], scores: Sequence[int], first: int, side: int) -> Tally:
    """Sum up the moves of a side: the judgements of all moves of the game, the scores before the first of
    them and after each, all from White's view, and which side moved first.
    """
    own = range((side - first) % 2, len(judgements), 2)
    marks = {mark: sum(judgements[i].mark == mark for i in own) for mark in reversed(LOSSES)}
    if not own:
        return Tally(0, None, None, marks)
    weights = _volatilities([100 * expected_score(score) for score in scores])
    accuracies = [judgements[i].accuracy for i in own]
    weighted = sum(weights[i] * judgements[i].accuracy for i in own) / sum(weights[i] for i in own)
    harmonic = len(own) / sum(1 / max(1.0, value) for value in accuracies)
    centipawns = sum(judgements[i].centipawns for i in own) / len(own)
    return Tally(len(own), (weighted + harmonic) / 2, centipawns, marks)


def _volatilities(chances: list[float]) -> list[float]:
    """The weight of each move: how much the win probability, in per cent, varies around it."""
    moves = len(chances) - 1
    width = max(_NARROWEST, min(_WIDEST, moves // 10))
    starts = [max(0, i + 2 - width) for i in range(moves)]
    return [max(_STEADIEST, min(_WILDEST, _deviation(chances[start : start + width]))) for start in starts]


def _deviation(values: list[float]) -> float:
    """The standard deviation."""
    mean = sum(values) / len(values)
    return math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))
