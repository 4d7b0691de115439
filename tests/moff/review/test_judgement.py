"""What moves cost: win probability, accuracy and marks."""

import math

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


@given(score=SCORES)
def test_both_sides_share_one_point(score: int) -> None:
    assert math.isclose(expected_score(score) + expected_score(-score), 1)


@given(score=SCORES, other=SCORES)
def test_a_better_score_is_never_expected_to_bring_less(score: int, other: int) -> None:
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
def test_a_move_never_gains(before: int, after: int) -> None:
    judgement = judge(before, after)
    assert 0 <= judgement.loss <= 1
    assert 0 <= judgement.centipawns <= 2 * MAX_SCORE
    assert 0 <= judgement.accuracy <= 100
    if after >= before:
        assert judgement == Judgement(0.0, 0, 100.0, "")


@given(before=SCORES, after=SCORES)
def test_the_best_move_costs_nothing(before: int, after: int) -> None:
    assert judge(before, after, is_best=True) == Judgement(0.0, 0, 100.0, "")


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
def test_a_mark_is_for_the_win_probability_that_was_lost(before: int, after: int, mark: str) -> None:
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


def test_a_tally_sums_up_one_side() -> None:
    scores = [0, -60, -60, -200, 0]
    judgements = played(*scores)
    white, black = (tally(judgements, scores, WHITE, side) for side in (WHITE, BLACK))
    assert (white.moves, white.centipawns) == (2, 100)
    assert list(white.marks.items()) == [(INACCURACY, 1), (MISTAKE, 1), (BLUNDER, 0)]
    assert (black.moves, black.centipawns) == (2, 100)
    assert list(black.marks.items()) == [(INACCURACY, 0), (MISTAKE, 0), (BLUNDER, 1)]
    assert white.accuracy is not None
    assert black.accuracy is not None
    assert judgements[2].accuracy < white.accuracy < judgements[0].accuracy


def test_whoever_moves_first_has_the_first_move() -> None:
    judgements = [judge(0, -200)]
    assert tally(judgements, [0, 200], BLACK, BLACK).marks[BLUNDER] == 1
    white = tally(judgements, [0, 200], BLACK, WHITE)
    assert (white.moves, white.accuracy, white.centipawns) == (0, None, None)


def test_a_game_of_best_moves_is_100_per_cent_accurate() -> None:
    scores = [20] * 41
    for side in (WHITE, BLACK):
        total = tally(played(*scores), scores, WHITE, side)
        assert total.accuracy == pytest.approx(100, abs=0.01)
        assert total.centipawns == 0


@given(scores=st.lists(SCORES, min_size=2, max_size=60))
def test_the_accuracy_of_any_game_is_between_its_moves_accuracies(scores: list[int]) -> None:
    judgements = played(*scores)
    total = tally(judgements, scores, WHITE, WHITE)
    own = [judgement.accuracy for judgement in judgements[::2]]
    assert total.accuracy is not None
    assert min(own) - 1e-6 <= total.accuracy <= max(max(own), 1) + 1e-6
