"""What moves cost: accuracy, mean loss, and the marks ?!, ? and ??.

Everything here is a function of reported scores: normalised centipawns and mates (`search.score`). The rules
are lichess's, so that figures can be compared: the curve of the win probability, which was fitted to games of
humans, and the accuracy of a move as published ("Lichess Accuracy metric", lichess.org/page/accuracy), and
what only the source of its server says (lila, commit b97af46: `AccuracyPercent`, `AccuracyCP`, `Advice`): the
bonus, the limit of ten pawns, the accuracy of a game, the score of the start position, and the marks of mates
that were lost or allowed. Moff's own is that a mate in one that was not played is always a blunder.

(For games of Moff against itself, `search.wdl` has a model of its own.)
"""

import math
import operator
from collections.abc import Sequence
from typing import NamedTuple

from search.score import LONGEST_MATE, mate_distance

INACCURACY = "?!"
MISTAKE = "?"
BLUNDER = "??"

LOSSES = {BLUNDER: 0.15, MISTAKE: 0.10, INACCURACY: 0.05}
"""The smallest loss of expected score, from 0 to 1, for each mark."""

NAGS = {INACCURACY: 6, MISTAKE: 2, BLUNDER: 4}
"""The marks in PGN: numeric annotation glyphs."""

NAMES = {INACCURACY: "inaccuracy", MISTAKE: "mistake", BLUNDER: "blunder"}

START_SCORE = 15
"""Centipawns for White that lichess assumes in the start position."""

MAX_SCORE = 1000
"""Centipawns: for accuracy and mean loss, a larger lead and a mate count as this much."""

_STEEPNESS = 0.00368208
_LEADS = {INACCURACY: 999, MISTAKE: 700}
"""The mark of a mate that was lost or allowed if the winner led by more centipawns than this without it."""
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
    """Per cent; None without moves but a checkmate."""
    centipawns: float | None
    """Mean loss; None without moves but a checkmate."""
    marks: dict[str, int]
    """The number of moves with each mark, from the least serious on."""


def expected_score(score: int) -> float:
    """The points, from 0 to 1, that a side with this score can expect; 0 or 1 for a certain loss or win."""
    return 1 / (1 + math.exp(-_STEEPNESS * score))


def limited(score: int) -> int:
    """The score, limited to MAX_SCORE for either side."""
    return max(-MAX_SCORE, min(MAX_SCORE, score))


def judge(before: int, after: int, is_best: bool = False) -> Judgement:
    """Judge a move by the scores before and after it, both for the side that played it. The best move has no
    mark, but costs what a later search finds.
    """
    loss = max(0.0, expected_score(before) - expected_score(after))
    centipawns = max(0, limited(before) - limited(after))
    mark = "" if is_best else _mark(before, after, loss)
    return Judgement(loss, centipawns, accuracy(before, after), mark)


def _mark(before: int, after: int, loss: float) -> str:
    """The mark for a loss of expected score, or for a mate that was lost or allowed."""
    if mate_distance(before) == 1 and after < before:
        return BLUNDER
    if before >= LONGEST_MATE > after:
        lead = after
    elif before > -LONGEST_MATE >= after:
        lead = -before
    else:
        return next((mark for mark, least in LOSSES.items() if loss >= least), "")
    return next((mark for mark, least in _LEADS.items() if lead > least), BLUNDER)


def accuracy(before: int, after: int) -> float:
    """The accuracy of a move, in per cent, by the scores before and after it for the side that played it."""
    loss = _win_percent(before) - _win_percent(after)
    if loss <= 0:
        return 100.0
    published = 103.1668100711649 * math.exp(-0.04354415386753951 * loss) - 3.166924740191411
    return max(0.0, min(100.0, published + 1))  # lichess's bonus for uncertain analysis


def _win_percent(score: int) -> float:
    return 100 * expected_score(limited(score))


def tally(judgements: Sequence[Judgement], scores: Sequence[int], first: int, side: int) -> Tally:
    """Sum up the moves of a side: the judgements of all moves of the game, the scores before the first of
    them and after each, all from White's view, and which side moved first. Accuracy and mean loss leave out
    a move that gives checkmate, as on lichess.
    """
    moves = judgements[side ^ first :: 2]
    marks = {mark: sum(judgement.mark == mark for judgement in moves) for mark in reversed(LOSSES)}
    end = len(judgements) - (mate_distance(scores[-1]) == 0 if judgements else 0)
    judged = judgements[side ^ first : end : 2]
    if not judged:
        return Tally(len(moves), None, None, marks)
    accuracies = [judgement.accuracy for judgement in judged]
    weights = _volatilities([_win_percent(score) for score in scores[: end + 1]])[side ^ first :: 2]
    weighted = sum(map(operator.mul, weights, accuracies)) / sum(weights)
    harmonic = len(judged) / sum(1 / max(1.0, value) for value in accuracies)
    centipawns = sum(judgement.centipawns for judgement in judged) / len(judged)
    return Tally(len(moves), (weighted + harmonic) / 2, centipawns, marks)


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
