"""Win probability, accuracy and marks, compared with the formulas that lichess publishes."""

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moff.accuracy import (
    BLUNDER,
    INACCURACY,
    LOSSES,
    MAX_SCORE,
    MISTAKE,
    NAGS,
    NAMES,
    Judgement,
    accuracy,
    expected_score,
    judge,
    tally,
)
from search.score import CERTAIN_WIN, MATE
from x88.piece import BLACK, WHITE

SCORES = st.integers(-MATE, MATE)


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


def test_a_certain_win_is_a_whole_point_and_a_large_lead_is_not() -> None:
    assert expected_score(CERTAIN_WIN) == expected_score(MATE) == 1
    assert expected_score(-CERTAIN_WIN) == 0
    assert expected_score(MAX_SCORE) == expected_score(CERTAIN_WIN - 1) < 1


@pytest.mark.parametrize("loss", [0.0, 0.05, 0.1, 0.15, 0.5])
def test_the_accuracy_of_a_move_is_the_published_one(loss: float) -> None:
    published = 103.1668 * math.exp(-0.04354 * (100 * loss)) - 3.1669
    assert math.isclose(accuracy(loss), published, abs_tol=0.001)


@given(before=SCORES, after=SCORES)
def test_a_move_never_gains_and_the_best_one_costs_nothing(before: int, after: int) -> None:
    judgement = judge(before, after)
    assert 0 <= judgement.loss <= 1
    assert 0 <= judgement.centipawns <= 2 * MAX_SCORE
    assert 0 <= judgement.accuracy <= 100
    assert (judgement if after >= before else judge(before, after, is_best=True)) == (0.0, 0, 100.0, "")


@pytest.mark.parametrize(
    ("before", "after", "mark"),
    [
        (0, -40, ""),
        (0, -60, INACCURACY),
        (0, -130, MISTAKE),
        (0, -200, BLUNDER),
        (900, 800, ""),  # as winning as before
        (900, 600, INACCURACY),
        (2000, 1100, ""),
        (-1500, -MATE + 4, ""),  # as lost as before
        (-300, -MATE + 4, BLUNDER),
        (MATE - 9, 1500, ""),
        (MATE - 9, 600, INACCURACY),
        (MATE - 9, 0, BLUNDER),
        (MATE - 3, MATE - 9, ""),  # a longer way to mate
        (-MATE + 20, -MATE + 2, ""),
    ],
)
def test_a_mark_depends_on_the_win_probability_lost(before: int, after: int, mark: str) -> None:
    assert judge(before, after).mark == mark


@pytest.mark.parametrize("after", [MATE - 3, 3000, 0, -500, -MATE + 2])
def test_a_missed_mate_in_one_is_a_blunder_whatever_is_left(after: int) -> None:
    assert judge(MATE - 1, after).mark == BLUNDER
    assert judge(MATE - 1, MATE).mark == ""


def test_the_marks_are_those_of_pgn() -> None:
    assert NAGS == {"?!": 6, "?": 2, "??": 4}
    assert list(NAGS) == list(NAMES) == list(reversed(LOSSES))
    assert sorted(LOSSES.values(), reverse=True) == list(LOSSES.values())


def played(*scores: int) -> list[Judgement]:
    """The judgements of a game with these scores from White's view, White to move first."""
    signs = [1 if i % 2 == 0 else -1 for i in range(len(scores) - 1)]
    return [judge(sign * scores[i], sign * scores[i + 1]) for i, sign in enumerate(signs)]


def game_accuracy(scores: list[int], side: int) -> float:
    """The accuracy of a side by lichess's source (AccuracyPercent.scala)."""
    chances = [100 * expected_score(score) for score in scores]
    size = max(2, min(8, (len(chances) - 1) // 10))
    windows = [chances[:size]] * (size - 2)
    windows += [chances[i : i + size] for i in range(len(chances) - size + 1)]
    weights = [max(0.5, min(12.0, statistics.pstdev(window))) for window in windows][side::2]
    accuracies = [judgement.accuracy for judgement in played(*scores)][side::2]
    weighted = statistics.fmean(accuracies, weights)
    return (weighted + statistics.harmonic_mean([max(1.0, value) for value in accuracies])) / 2


@given(scores=st.lists(st.one_of(SCORES, st.integers(-300, 300)), min_size=3, max_size=120))
def test_the_accuracy_of_a_game_is_lichess_s(scores: list[int]) -> None:
    for side in (WHITE, BLACK):
        total = tally(played(*scores), scores, WHITE, side)
        assert total.accuracy == pytest.approx(game_accuracy(scores, side))


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
