"""Win probability, accuracy and marks, compared with the formulas of lichess."""

import math
import statistics
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from moff.accuracy import (
    BLUNDER,
    INACCURACY,
    LOSSES,
    MAX_SCORE,
    MISTAKE,
    NAGS,
    NAMES,
    START_SCORE,
    Judgement,
    accuracy,
    expected_score,
    judge,
    tally,
)
from search.score import CERTAIN_WIN, MATE
from x88.piece import BLACK, WHITE

SCORES = st.integers(-MATE, MATE)

DUDA = [15, 15, 15, 16, 12, 8, 8, 19, 5, 17, 11, 5, 12, 13, 6, 4, 9, -6, 9, -63, -57, -68, -37, -44, -43, -32]
DUDA += [23, 0, 49, -9, 145, 57, 451, 423, 393, 385]
"""Scores of Carlsen-Duda, 2021; their accuracies were computed apart, by the source of lichess's server."""


@given(score=SCORES, other=SCORES)
def test_a_better_score_is_expected_to_bring_more_and_both_sides_share_a_point(
    score: int, other: int
) -> None:
    assert math.isclose(expected_score(score) + expected_score(-score), 1)
    assert (expected_score(score) - expected_score(other)) * (score - other) >= 0


@pytest.mark.parametrize(("score", "per_cent"), [(0, 50.0), (100, 59.1), (-300, 24.9), (1000, 97.5)])
def test_the_win_probability_is_the_published_one(score: int, per_cent: float) -> None:
    published = 50 + 50 * (2 / (1 + math.exp(-0.00368208 * score)) - 1)
    assert math.isclose(100 * expected_score(score), published)
    assert round(published, 1) == per_cent


def test_a_certain_win_is_a_whole_point() -> None:
    assert expected_score(CERTAIN_WIN) == expected_score(MATE) == 1
    assert expected_score(-MATE) < expected_score(-CERTAIN_WIN) < 1e-9


@pytest.mark.parametrize(
    ("before", "after", "per_cent"),
    [
        (0, 0, 100.0),
        (0, 300, 100.0),
        (0, -10, 96.9),  # one more than on the page about the metric
        (0, -100, 67.2),
        (-100, -300, 49.2),
        (500, -500, 2.2),
        (MATE - 1, -MATE + 2, 0.0),
        (MATE - 5, 1000, 100.0),  # a mate counts as ten pawns, and so do twenty
        (2000, 1000, 100.0),
        (MATE - 5, 600, 72.5),
    ],
)
def test_the_accuracy_of_a_move_is_the_published_one(before: int, after: int, per_cent: float) -> None:
    assert round(accuracy(before, after), 1) == per_cent


@given(before=SCORES, after=SCORES)
def test_a_move_never_gains_and_the_best_one_has_no_mark(before: int, after: int) -> None:
    judgement = judge(before, after)
    assert 0 <= judgement.loss <= 1
    assert 0 <= judgement.centipawns <= 2 * MAX_SCORE
    assert 0 <= judgement.accuracy <= 100
    assert judge(before, after, is_best=True) == judgement._replace(mark="")
    if after >= before:
        assert judgement == (0.0, 0, 100.0, "")


@pytest.mark.parametrize(
    ("before", "after", "mark"),
    [
        (0, -40, ""),
        (0, -60, INACCURACY),
        (0, -130, MISTAKE),
        (0, -200, BLUNDER),
        (900, 800, ""),  # as winning as before
        (900, 600, INACCURACY),
        (1500, 700, INACCURACY),  # the limit of ten pawns is for accuracy alone
        (-700, -1500, INACCURACY),
        (2000, 1100, ""),
        # A mate allowed.
        (-1000, -MATE + 4, INACCURACY),
        (-999, -MATE + 4, MISTAKE),
        (-701, -MATE + 4, MISTAKE),
        (-700, -MATE + 4, BLUNDER),
        (300, -MATE + 2, BLUNDER),
        # A mate lost.
        (MATE - 9, 1000, INACCURACY),
        (MATE - 9, 999, MISTAKE),
        (MATE - 9, 701, MISTAKE),
        (MATE - 9, 700, BLUNDER),
        (MATE - 9, CERTAIN_WIN, INACCURACY),
        (MATE - 9, -MATE + 2, BLUNDER),
        # Mate sooner or later.
        (MATE - 3, MATE - 9, ""),
        (-MATE + 20, -MATE + 2, ""),
        (300, MATE - 8, ""),
        (-MATE + 8, -300, ""),
    ],
)
def test_a_mark_depends_on_the_win_probability_lost_or_on_the_mate(
    before: int, after: int, mark: str
) -> None:
    assert judge(before, after).mark == mark


@pytest.mark.parametrize("after", [MATE - 4, 3000, 0, -500, -MATE + 2])
def test_a_missed_mate_in_one_is_a_blunder_whatever_is_left(after: int) -> None:
    assert judge(MATE - 1, after).mark == BLUNDER
    assert judge(MATE - 1, MATE).mark == ""


def test_the_marks_are_those_of_pgn() -> None:
    assert NAGS == {"?!": 6, "?": 2, "??": 4}
    assert list(NAGS) == list(NAMES) == list(reversed(LOSSES))
    assert sorted(LOSSES.values(), reverse=True) == list(LOSSES.values())


def played(*scores: int, first: int = WHITE) -> list[Judgement]:
    """The judgements of a game with these scores from White's view."""
    signs = [1 if i % 2 == first else -1 for i in range(len(scores) - 1)]
    return [judge(sign * scores[i], sign * scores[i + 1]) for i, sign in enumerate(signs)]


def accuracies(*scores: int, first: int = WHITE) -> list[float | None]:
    """The accuracies of White and Black in such a game."""
    judgements = played(*scores, first=first)
    return [tally(judgements, scores, first, side).accuracy for side in (WHITE, BLACK)]


def game_accuracy(scores: list[int], side: int) -> float:
    """The accuracy of a side by lichess's source (AccuracyPercent.scala)."""
    chances = [50 + 50 * math.tanh(0.00184104 * max(-1000, min(1000, score))) for score in scores]
    moves = list(pairwise(chances))
    size = max(2, min(8, len(moves) // 10))
    windows = [chances[:size]] * (size - 2)
    windows += [chances[i : i + size] for i in range(len(chances) - size + 1)]
    weights = [max(0.5, min(12.0, statistics.pstdev(window))) for window in windows]
    losses = [max(0, (after - before) * (1 if side == BLACK else -1)) for before, after in moves[side::2]]
    values = [min(100, max(0, 103.16681 * math.exp(-0.043544154 * loss) - 2.166925)) for loss in losses]
    weighted = statistics.fmean(values, weights[side::2])
    return (weighted + statistics.harmonic_mean([max(1.0, value) for value in values])) / 2


@given(scores=st.lists(st.one_of(SCORES, st.integers(-300, 300)), min_size=3, max_size=120))
def test_the_accuracy_of_a_game_is_lichess_s(scores: list[int]) -> None:
    assume(abs(scores[-1]) != MATE)
    for side, found in enumerate(accuracies(*scores)):
        assert found == pytest.approx(game_accuracy(scores, side), abs=1e-3)


@pytest.mark.parametrize(
    ("scores", "white", "black", "within"),
    [
        ([15] * 21, 100, 100, 1),
        ([15] * 21 + [-900], 50, 100, 5),
        ([15] * 22 + [900], 100, 50, 5),
        ([15, *[-50, 15] * 5], 76, 76, 8),
        ([15, *[-50, 15] * 50], 76, 76, 8),
        ([15, *[-135, 15] * 50], 54, 54, 8),
        ([15, *[-435, 15] * 50], 20, 20, 8),
        (DUDA, 91.1, 71.3, 0.05),
    ],
)
def test_the_accuracy_of_known_games_is_lichess_s(
    scores: list[int], white: float, black: float, within: float
) -> None:
    """All but the last are from the tests of its server."""
    assert accuracies(*scores) == [pytest.approx(white, abs=within), pytest.approx(black, abs=within)]
    mirrored = accuracies(*(-score for score in scores), first=BLACK)
    assert mirrored == pytest.approx(accuracies(*scores)[::-1])


def test_a_checkmate_is_no_move_of_the_accuracy() -> None:
    scores = [START_SCORE, -40, -45, -MATE + 1, -MATE]
    white, black = (tally(played(*scores), scores, WHITE, side) for side in (WHITE, BLACK))
    shorter = [tally(played(*scores[:-1]), scores[:-1], WHITE, side) for side in (WHITE, BLACK)]
    assert (white, black) == (shorter[WHITE], shorter[BLACK]._replace(moves=2))
    assert tally([judge(MATE - 1, MATE)], [MATE - 1, MATE], WHITE, WHITE)[:3] == (1, None, None)


def test_a_tally_sums_up_one_side() -> None:
    scores = [0, -60, -60, -200, 0]
    judgements = played(*scores)
    for side, counts in ((WHITE, [1, 1, 0]), (BLACK, [0, 0, 1])):
        total = tally(judgements, scores, WHITE, side)
        assert (total.moves, total.centipawns) == (2, 100)
        assert list(total.marks.items()) == list(zip((INACCURACY, MISTAKE, BLUNDER), counts, strict=True))
    # Black moves first.
    assert tally([judge(0, -200)], [0, 200], BLACK, BLACK).marks[BLUNDER] == 1
    white = tally([judge(0, -200)], [0, 200], BLACK, WHITE)
    assert (white.moves, white.accuracy, white.centipawns) == (0, None, None)
