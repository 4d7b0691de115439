"""bench/score.py: the Elo difference of a comparison with its error, and the SPRT."""

import math
import statistics
from random import Random
from typing import Any

import pytest
import score as scores


def score_of(points: str) -> Any:
    """The score after games that the first side has won (+), drawn (=) or lost (-)."""
    score = scores.Score()
    score.points = {number: {"+": 1.0, "=": 0.5, "-": 0.0}[point] for number, point in enumerate(points)}
    return score


def random_score(seed: int, games: int, chances: tuple[float, float, float]) -> Any:
    """A score drawn at random, with these chances of a win, a draw and a loss."""
    return score_of("".join(Random(seed).choices("+=-", chances, k=games)))


def test_elo_and_points_are_inverse_and_have_known_values() -> None:
    assert scores.elo_of(0.5) == 0
    assert scores.elo_of(0.75) == pytest.approx(190.85, abs=0.01)
    assert scores.elo_of(10 / 11) == pytest.approx(400)
    assert scores.points_of(-400) == pytest.approx(1 / 11)
    for elo in range(-800, 801, 50):
        assert scores.elo_of(scores.points_of(elo)) == pytest.approx(elo, abs=1e-9)
    assert scores.elo_of(1) == math.inf == -scores.elo_of(0)


def test_error_comes_from_pairs() -> None:
    score = random_score(1, 400, (4, 3, 2))
    values = list(score.points.values())
    means = [(one + other) / 2 for one, other in zip(values[::2], values[1::2], strict=True)]
    assert score.error() == pytest.approx(statistics.stdev(means) / math.sqrt(200))
    # Games that White always wins say nothing about the sides.
    even = score_of("+-" * 90 + "++" * 10)
    assert even.error() < statistics.stdev(even.points.values()) / math.sqrt(200) / 2
    elo, low, high = score.interval()
    assert low < elo < high
    assert elo == scores.elo_of(score.mean())
    # A game waits for the other one of its pair.
    score = scores.Score()
    score.points |= {3: 1.0, 0: 1.0}
    assert score.samples() == []
    score.points[2] = 0.0
    assert score.samples() == [0.5]


def test_likelihood_of_superiority_is_that_of_the_normal_distribution() -> None:
    assert score_of("++--").los() == pytest.approx(0.5)
    assert score_of("").los() == 0.5
    score = score_of("++" * 8 + "--" * 4 + "==" * 4)
    expected = statistics.NormalDist().cdf((score.mean() - 0.5) / score.error())
    assert score.los() == pytest.approx(expected)


def test_sprt_has_wald_s_bounds_and_accepts_the_likelier_hypothesis() -> None:
    assert pytest.approx(2.944, abs=0.001) == scores.BOUND
    strong, weak = score_of("+++===" * 40), score_of("---===" * 40)
    assert strong.llr(0, 10) == pytest.approx(-strong.llr(10, 0))
    assert scores.Sprt(0, 10).verdict(strong) == "H1"
    assert scores.Sprt(0, 10).verdict(weak) == "H0"
    # Normal likelihoods, with the variance of the sample.
    score = random_score(9, 4000, (5, 6, 4))
    samples = score.samples()
    spread = statistics.pstdev(samples)
    likelihood = [
        sum(math.log(statistics.NormalDist(scores.points_of(elo), spread).pdf(x)) for x in samples)
        for elo in (0, 20)
    ]
    assert score.llr(0, 20) == pytest.approx(likelihood[1] - likelihood[0], rel=0.01)


@pytest.mark.parametrize("game", ["=", "++", "--", "+-"])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 50])
def test_games_all_alike_give_numbers(game: str, count: int) -> None:
    score = score_of(game * count)
    assert not any(map(math.isnan, (*score.interval(), score.los(), score.llr(-5, 5), score.error())))
    assert "nan" not in scores.state(score, scores.Sprt(-5, 5))


def test_a_few_won_games_decide_no_fine_question() -> None:
    for game in "+-":
        score = score_of(game * 2)
        assert not all(map(math.isinf, score.interval())), "an error of zero would be a lie"
        assert 0.01 < score.los() < 0.99
        assert scores.Sprt(0, 5).verdict(score_of(game * 4)) == ""
    assert scores.Sprt(0, 5).verdict(score_of("+" * 200)) == "H1"
    assert scores.Sprt(0, 5).verdict(score_of("=" * 200)) == ""
