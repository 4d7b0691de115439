"""The score of a match: Elo difference with its error, likelihood of superiority, and SPRT."""

import math
import statistics
from dataclasses import dataclass

SIGNIFICANCE = 1.959964
"""Standard errors to each side of a 95 % interval."""

BOUND = math.log(0.95 / 0.05)
"""The log-likelihood ratio at which a hypothesis is accepted, with 5 % of errors each way."""


class Score:
    """The games so far: the first side's points, by the number of the game."""

    def __init__(self) -> None:
        self.points: dict[int, float] = {}

    def samples(self) -> list[float]:
        """The mean points of every complete pair: two games of one opening are not independent."""
        return [
            (self.points[number] + self.points[number + 1]) / 2
            for number in self.points
            if number % 2 == 0 and number + 1 in self.points
        ]

    def mean(self) -> float:
        """The mean points of a game."""
        return statistics.fmean(self.points.values()) if self.points else 0.5

    def error(self) -> float:
        """The standard error of the mean: from pairs, or from games as long as all pairs are equal.

        If all games are equal too, a win and a loss are added: a few such games prove little.
        """
        samples = self.samples()
        if len(set(samples)) < 2:
            samples = list(self.points.values())
        if len(set(samples)) < 2:
            samples += [0.0, 1.0]
        return statistics.stdev(samples) / math.sqrt(len(samples))

    def interval(self) -> tuple[float, float, float]:
        """The Elo difference, and the ends of its 95 % interval."""
        mean, error = self.mean(), self.error() * SIGNIFICANCE
        return elo_of(mean), elo_of(mean - error), elo_of(mean + error)

    def los(self) -> float:
        """The likelihood that the first side is the stronger one."""
        return 0.5 * (1 + math.erf((self.mean() - 0.5) / (self.error() * math.sqrt(2))))

    def llr(self, elo0: float, elo1: float) -> float:
        """The log-likelihood ratio of two Elo differences, in the normal approximation over pairs.

        One won and one lost pair are added to the variance: a few equal pairs prove little, many prove
        something. Source: Michel Van den Bergh, "A practical introduction to the GSPRT", 2018.
        """
        samples = self.samples()
        if not samples:
            return 0.0
        variance = statistics.pvariance([*samples, 0.0, 1.0])
        low, high = points_of(elo0), points_of(elo1)
        return len(samples) * (high - low) * (2 * statistics.fmean(samples) - low - high) / (2 * variance)


def elo_of(points: float) -> float:
    """The Elo difference for mean points from 0 to 1; infinite at both ends."""
    if points <= 0 or points >= 1:
        return math.copysign(math.inf, points - 0.5)
    return 400 * math.log10(points / (1 - points))


def points_of(elo: float) -> float:
    """The expected mean points for an Elo difference."""
    return 1 / (1 + 10 ** (-elo / 400))


@dataclass(frozen=True)
class Sprt:
    """A sequential probability ratio test of elo1 against elo0, with errors of 5 % each."""

    elo0: float
    elo1: float

    def verdict(self, score: Score) -> str:
        """ "H0" or "H1" once one of them is accepted, else ""."""
        llr = score.llr(self.elo0, self.elo1)
        return "H1" if llr >= BOUND else "H0" if llr <= -BOUND else ""


def state(score: Score, sprt: Sprt | None) -> str:
    """The score in a few words."""
    if not score.points:
        return "no games yet"
    elo, low, high = score.interval()
    text = (
        f"{100 * score.mean():.1f} % Elo {elo:+.0f} [{low:+.0f}, {high:+.0f}] LOS {100 * score.los():.0f} %"
    )
    if sprt:
        text += f" LLR {score.llr(sprt.elo0, sprt.elo1):.2f} [{-BOUND:.2f}, {BOUND:.2f}]"
    return text
