"""The search's numbers tuned by games with SPSA: `bench/tune.py search`.

Source: James C. Spall, "Multivariate stochastic approximation using a simultaneous perturbation gradient
approximation", 1992.
"""

import argparse
import contextlib
import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from random import Random

from pairs import Log, pace_of, pace_settings, play_pairs
from selfgame import Book, Numbers, Pace, Side, searcher
from tables import Ranges, read_table, write_table
from tabulate import tabulate
from tqdm import tqdm
from workers import Submit, processes


@dataclass(frozen=True)
class Gains:
    """Spall's gain sequences. The change to try and the step for its result, in iteration k from 0 on, are

        c(k) = c / (k + 1) ** gamma         a(k) = a / (stability + k + 1) ** alpha

    `change` is c(k) at the end, in parts of a number's range; `rate` is a(k) / c(k)**2 at the end.
    """

    iterations: int
    change: float
    rate: float
    alpha: float = 0.602
    gamma: float = 0.101

    def change_at(self, k: int) -> float:
        """c(k), in parts of the range."""
        return self.change * math.pow(self.iterations / (k + 1), self.gamma)

    def rate_at(self, k: int) -> float:
        """a(k) / c(k)**2, in changes per point."""
        stability = 0.1 * self.iterations
        growth = math.pow((stability + self.iterations) / (stability + k + 1), self.alpha)
        return self.rate * growth * (self.change / self.change_at(k)) ** 2


class Spsa:
    """Numbers moving to where their player wins most. The values are real; players get whole numbers."""

    def __init__(self, ranges: Ranges, gains: Gains, seed: int = 0) -> None:
        self.ranges = ranges
        self.gains = gains
        self.seed = seed
        self.iteration = 0
        self.values = {name: float(value) for name, (value, _, _) in ranges.items()}
        self.points = 0.0
        """The sum of the results of the first candidates: near zero, if all is well."""

    def candidates(self) -> tuple[Numbers, Numbers]:
        """The two sets of numbers that play against each other in this iteration."""
        chance, signs = self._chance()
        first, second = {}, {}
        for name, (_, least, most) in self.ranges.items():
            change = self._change(name) * signs[name]
            # The same dither rounds both: the mean is right, and a small change takes effect now and then.
            dither = chance.random()
            first[name] = min(max(math.floor(self.values[name] + change + dither), least), most)
            second[name] = min(max(math.floor(self.values[name] - change + dither), least), most)
        return first, second

    def update(self, result: float) -> None:
        """Learn from the first candidate's lead over the second in points, and go on."""
        _, signs = self._chance()
        rate = self.gains.rate_at(self.iteration)
        for name, (_, least, most) in self.ranges.items():
            value = self.values[name] + rate * self._change(name) * signs[name] * result
            self.values[name] = min(max(value, float(least)), float(most))
        self.points += result
        self.iteration += 1

    def rounded(self) -> Numbers:
        """The numbers as they stand, rounded."""
        return {name: round(value) for name, value in self.values.items()}

    def most_moved(self) -> list[str]:
        """The names, sorted by how far the numbers have moved in parts of their ranges, farthest first."""

        def way(name: str) -> float:
            value, least, most = self.ranges[name]
            return abs(self.values[name] - value) / max(1, most - least)

        return sorted(self.ranges, key=way, reverse=True)

    def _change(self, name: str) -> float:
        """The step of a number: at least a half, or both candidates would often be the same."""
        _, least, most = self.ranges[name]
        return max(0.5, self.gains.change_at(self.iteration) * (most - least))

    def _chance(self) -> tuple[Random, dict[str, int]]:
        """The random numbers of this iteration, and the direction of each number's step."""
        chance = Random(f"{self.seed}/{self.iteration}")
        return chance, {name: chance.choice((-1, 1)) for name in self.ranges}


def iterate(
    spsa: Spsa, duel: Callable[[int, Numbers, Numbers], float], on_step: Callable[[], None] = lambda: None
) -> None:
    """Run the iterations that are left. A duel takes the iteration's number and two candidates, and returns
    the first one's lead in points.
    """
    while spsa.iteration < spsa.gains.iterations:
        spsa.update(duel(spsa.iteration, *spsa.candidates()))
        on_step()


def duels(
    submit: Submit, book: Book, pace: Pace, pairs: int, workers: int, log: Log
) -> Callable[[int, Numbers, Numbers], float]:
    """Duels of so many pairs of games; those in the log are not played again."""

    def duel(iteration: int, first: Numbers, second: Numbers) -> float:
        numbers = range(pairs * iteration, pairs * (iteration + 1))
        missing = [pair for pair in numbers if pair not in log.points]
        for pair, points in play_pairs(submit, book, pace, missing, lambda pair: (first, second), workers):
            log.add(pair, points)
        return lead(log, numbers)

    return duel


def lead(log: Log, pairs: Iterable[int]) -> float:
    """The lead of the first side in these pairs, in points. Raises KeyError if one has not been played."""
    return sum(4 * log.points[pair] - 2 for pair in pairs)


def replay(spsa: Spsa, log: Log, pairs: int) -> None:
    """Learn from the iterations whose pairs are all in the log."""
    with contextlib.suppress(KeyError):
        iterate(spsa, lambda k, first, second: lead(log, range(pairs * k, pairs * (k + 1))))


def run(options: argparse.Namespace) -> None:
    """Run SPSA and write its numbers. Raises ValueError, OSError or KeyboardInterrupt."""
    table = read_table(options.table)
    for name in options.names:
        if name not in table:
            raise ValueError(f"{options.table} has no {name!r} in SEARCH")
    ranges = {name: entry for name, entry in table.items() if name in options.names or not options.names}
    pace = pace_of(options)
    gains = Gains(options.iterations, options.change, options.rate)
    if not 0 < options.change < 1 or options.rate <= 0:
        raise ValueError("--change must be between 0 and 1, --rate positive")
    asked = {"seed": options.seed, "pairs": options.pairs, "names": list(ranges)}
    if options.apply and not options.state.exists():
        raise ValueError(f"there is no {options.state} to apply")
    spsa = Spsa(ranges, gains, options.seed)
    searcher(1, Side(spsa.rounded()))  # check the names here, not in a worker
    book = Book.read(options.openings, options.seed)
    with Log(options.state, asked | asdict(gains) | pace_settings(pace)) as log:
        replay(spsa, log, options.pairs)
        progress = {"total": gains.iterations, "initial": spsa.iteration, "unit": "iteration"}
        if not options.apply:
            try:
                with processes(options.concurrency) as submit, tqdm(**progress, dynamic_ncols=True) as bar:

                    def show() -> None:
                        shown = " ".join(f"{name}={spsa.values[name]:.1f}" for name in spsa.most_moved())
                        bar.set_postfix_str(f"{spsa.points:+.0f} {shown}", refresh=False)
                        bar.update()

                    iterate(spsa, duels(submit, book, pace, options.pairs, options.concurrency, log), show)
            except KeyboardInterrupt:
                raise KeyboardInterrupt(
                    f"interrupted after {spsa.iteration} iterations: the same command continues the run, "
                    "--apply writes its numbers into the table"
                ) from None
    rows = [[name, ranges[name][0], f"{value:.2f}", *ranges[name][1:]] for name, value in spsa.values.items()]
    print(tabulate(rows, ["number", "before", "now", "least", "most"]))
    write_table(options.table, {name: (v, *table[name][1:]) for name, v in spsa.rounded().items()})
