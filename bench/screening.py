"""Many changes of the search's numbers tested at once by games: `bench/tune.py screen`.

A factorial experiment (Ronald A. Fisher, "The Design of Experiments", 1935) in random balance
(F. E. Satterthwaite, "Random balance experimentation", 1959).
"""

import argparse
import math
from random import Random

import numpy as np
import numpy.typing as npt
from pairs import Log, pace_of, pace_settings, play_pairs
from scipy import special
from selfgame import Book, Numbers, Side, read_numbers, searcher
from tables import read_table
from tabulate import tabulate
from tqdm import tqdm
from workers import processes

ELO_OF_A_POINT = 1600 / math.log(10)
"""The slope of Elo over mean points, where these are even."""

Floats = npt.NDArray[np.float64]


class Screening:
    """Changes of numbers, (value, changed value) by name: which side makes which of them in a pair of games,
    and what the pairs played say of them.

    What one side changes, the other leaves alone, so changes that do well together help both sides alike and
    blur no single effect; and the expected score without any effect is even.
    """

    def __init__(self, changes: dict[str, tuple[int, int]], seed: int = 0) -> None:
        # Sorted, so that the experiment does not depend on the order of the command line.
        self.changes = dict(sorted(changes.items()))
        self.seed = seed
        self.pairs: set[int] = set()
        """The pairs counted so far."""
        # The sums of least squares: of signs times signs, of signs times points, of points times points.
        self._signs = np.zeros((len(changes), len(changes)))
        self._products = np.zeros(len(changes))
        self._points = 0.0

    def signs(self, pair: int) -> Floats:
        """For each change 1 if the first side makes it, -1 if the second does."""
        chance = Random(f"screen/{self.seed}/{pair}")
        return np.array([1.0 if chance.random() < 0.5 else -1.0 for _ in self.changes])

    def candidates(self, pair: int) -> tuple[Numbers, Numbers]:
        """The numbers of the two sides of a pair."""
        first, second = {}, {}
        for (name, (value, changed)), sign in zip(self.changes.items(), self.signs(pair), strict=True):
            first[name], second[name] = (changed, value) if sign > 0 else (value, changed)
        return first, second

    def add(self, pair: int, points: float) -> None:
        """Count a pair in which the first side scored these mean points."""
        signs, points = self.signs(pair), points - 0.5
        self.pairs.add(pair)
        self._signs += np.outer(signs, signs)
        self._products += signs * points
        self._points += points * points

    def effects(self) -> list[tuple[str, float, float]]:
        """For each change its name, the Elo that it gains, and half its 95 % interval; the best first. Empty
        while there are too few pairs to tell the changes apart.
        """
        size, spare = len(self.changes), len(self.pairs) - len(self.changes)
        if spare < 1 or np.linalg.matrix_rank(self._signs) < size:
            return []
        inverse = np.linalg.inv(self._signs)
        found = inverse @ self._products
        variance = max(0.0, self._points - float(found @ self._products)) / spare
        errors = special.stdtrit(spare, 0.975) * np.sqrt(variance * np.diag(inverse))
        elo = (ELO_OF_A_POINT * np.array([found, errors])).tolist()
        return sorted(zip(self.changes, *elo, strict=True), key=lambda effect: -effect[1])

    def report(self) -> str:
        """The effects as a table, and how to read it."""
        effects = self.effects()
        if not effects:
            return f"{len(self.pairs)} pairs of games are too few for {len(self.changes)} changes"
        rows = [[name, *self.changes[name], elo, error] for name, elo, error in effects]
        formats = ("", "", "", "+.1f", ".1f")
        found = tabulate(rows, ["number", "before", "changed", "Elo", "± 95 %"], floatfmt=formats)
        return (
            f"{len(self.pairs)} pairs of games, {len(rows)} changes\n\n{found}\n\n"
            "An effect is the average over the other changes made and not made, and one interval in twenty\n"
            "misses the true value: confirm what you keep with a match (bench/compare.py)."
        )


def run(options: argparse.Namespace) -> None:
    """Run a screening and print what it has found. Raises ValueError, OSError or KeyboardInterrupt."""
    table = read_table(options.table)
    numbers = read_numbers(options.changes)
    if unknown := [name for name in numbers if name not in table]:
        raise ValueError(f"{options.table} has no {', '.join(map(repr, unknown))} in SEARCH")
    if len(numbers) < len(options.changes):
        raise ValueError("a number is changed twice")
    if same := [name for name, value in numbers.items() if value == table[name][0]]:
        raise ValueError(f"no change: {options.table} has {', '.join(same)} at that value")
    pace = pace_of(options)
    screening = Screening({name: (table[name][0], value) for name, value in numbers.items()}, options.seed)
    for pair_numbers in screening.candidates(0):
        searcher(1, Side(pair_numbers))  # check the names here, not in a worker
    book = Book.read(options.openings, options.seed)
    before, values = (list(column) for column in zip(*screening.changes.values(), strict=True))
    asked = {"names": list(screening.changes), "before": before, "values": values, "seed": options.seed}
    asked["book"] = book.name or None
    with Log(options.state, asked | pace_settings(pace)) as log:
        for pair, points in log.points.items():
            screening.add(pair, points)
        missing = [pair for pair in range(options.pairs) if pair not in log.points]
        done = options.pairs - len(missing)
        try:
            with (
                processes(options.concurrency) as submit,
                tqdm(total=options.pairs, initial=done, unit="pair", dynamic_ncols=True) as bar,
            ):
                played = play_pairs(submit, book, pace, missing, screening.candidates, options.concurrency)
                for pair, points in played:
                    log.add(pair, points)
                    screening.add(pair, points)
                    effects = screening.effects()
                    shown = " ".join(f"{name}{elo:+.0f}±{error:.0f}" for name, elo, error in effects)
                    bar.set_postfix_str(shown, refresh=False)
                    bar.update()
        except KeyboardInterrupt:
            print(screening.report(), flush=True)
            raise KeyboardInterrupt("interrupted: the same command continues the screening") from None
    print(screening.report())
