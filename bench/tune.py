"""Set the numbers of search/tuned.py: the evaluation's by positions, the search's by games.

    python bench/tune.py evaluation positions.txt --concurrency 4
    python bench/tune.py search --openings ../shared/data/books/8moves_v3.pgn --nodes 10000 --iterations 2000
                                --pairs 8 --concurrency 4 --state spsa.json [NAME ...]
    python bench/tune.py screen iir_depth=6 late_moves=5 lmr_base=600 --nodes 10000 --pairs 5000
                                --openings ../shared/data/books/8moves_v3.pgn --state screen.jsonl

`evaluation` takes the positions that bench/selfplay.py writes, and moves the numbers to where the score
foretells best how games end: Texel's method (Peter Österlund, "Texel's tuning method", 2014), with the exact
gradient. The evaluation is linear in its numbers, so how often each counts in a position is asked of the
evaluation itself, once, and kept in POSITIONS.npz. What is foretold is the result, blended with what the
search thought. A centipawn stays what it is, or with --scale becomes what makes so many of them odds of ten
to one. Numbers that the positions say little of stay near where they were. Part of the positions is held out,
to see that nothing is learnt by heart.

`search` takes the numbers named, or all: SPSA (James C. Spall, "Multivariate stochastic approximation using a
simultaneous perturbation gradient approximation", 1992), a few pairs of games an iteration between the
numbers all moved at random one way, and the other way. Each iteration is kept in --state, from which an
interrupted run goes on; at its end, and at once with --apply, the numbers are written into the table.

`screen` asks of many changes of the search's numbers at once which are worth a match: a factorial experiment
(Ronald A. Fisher, "The Design of Experiments", 1935) in random balance (F. E. Satterthwaite, "Random balance
experimentation", 1959). In every pair of games each change NAME=VALUE is made at random on one side, and the
other has the table's value; least squares tell the Elo of each from all the pairs. A value may be out of its
number's range, to switch a step off. Each pair is kept in --state, from which an interrupted run goes on.
The table stays as it is: a change may do well only beside others, so a match of its own has to confirm it.

The exit code is 0, or 2 after wrong usage. Needs the `tuning` extra.
"""

import argparse
import contextlib
import hashlib
import importlib
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # this checkout, whatever is installed

try:
    import numpy as np
    import numpy.typing as npt
    from scipy import optimize, sparse, special
    from tabulate import tabulate
    from tqdm import tqdm
except ImportError as error:
    print(f"{error}: python -m pip install -e '.[tuning]'", file=sys.stderr)
    sys.exit(2)

from match import interrupt_on_termination
from selfplay import POINTS, Book, Numbers, Pace, Side, crew, play_all, read_numbers, searcher
from tables import TUNED, Pairs, Ranges, read_table, write_table

from x88 import build, fen

evaluate: Any = importlib.import_module("search.evaluate")

FULL_PHASE = 24
FULL_SCALE = 64
"""The phase of the opening; the scale of an endgame that counts in full."""

DIGIT = 64
DIGITS = 5
"""So many numbers are traced in one evaluation, as digits of its sum: each counts less than 32 times."""

CHUNK = 1024
"""Positions traced at a time; all of them are boards then."""

HELD_OUT = 10
"""One position in so many is held out."""

ELO_OF_A_POINT = 1600 / math.log(10)
"""The slope of Elo over mean points, where these are even."""

Floats = npt.NDArray[np.float64]


# --- Positions


@dataclass(frozen=True)
class Positions:
    """Training positions: how often each number counts in each of them, for White less for Black; the weights
    of the two phases; the results and the search's scores, from White's view.
    """

    counts: sparse.csr_matrix
    """[position, number], in the order of the table."""
    weights: Floats
    """[position, phase]"""
    results: Floats
    scores: Floats

    def part(self, rows: npt.NDArray[np.bool_]) -> "Positions":
        """Those positions alone."""
        return Positions(self.counts[rows], self.weights[rows], self.results[rows], self.scores[rows])

    def evaluations(self, numbers: Floats) -> Floats:
        """The evaluations in centipawns, from White's view, with these numbers: [number, phase]."""
        found: Floats = (np.asarray(self.counts @ numbers) * self.weights).sum(axis=1)
        return found


def read_positions(path: Path) -> tuple[list[str], Floats, Floats]:
    """The FENs, results and scores of a file. Raises ValueError with the first line that is damaged, or
    OSError.
    """
    fens, results, scores = [], [], []
    known = {f"{points:g}": points for points in POINTS.values()}
    with open(path, encoding="utf-8") as stream:
        for number, line in enumerate(stream, 1):
            words = line.rstrip("\n").split(";")
            try:
                text, result, score = words
                results.append(known[result])
                scores.append(float(int(score)))
            except (KeyError, ValueError):
                raise ValueError(f"{path}, line {number}: it is not FEN;RESULT;SCORE") from None
            fens.append(text)
    if len(fens) < 2 * HELD_OUT:
        raise ValueError(f"{path} holds {len(fens)} positions only")
    return fens, np.array(results), np.array(scores)


def flatten(numbers: Pairs) -> npt.NDArray[np.int64]:
    """The table's numbers in its order, [number, phase]."""
    return np.array([pair for pairs in numbers.values() for pair in pairs], np.int64)


def unflatten(flat: npt.NDArray[np.int64], names: Pairs) -> Pairs:
    """A table of these numbers, with names and lengths like another."""
    left = iter(flat.tolist())
    return {name: [(pair[0], pair[1]) for pair in islice(left, len(pairs))] for name, pairs in names.items()}


def unit_numbers(numbers: Pairs, first: int) -> Pairs:
    """A table of zeros, but the numbers from `first` on are the digits' places of a packed sum."""
    flat = np.zeros((sum(map(len, numbers.values())), 2), np.int64)
    for digit in range(min(DIGITS, len(flat) - first)):
        place = DIGIT**digit
        flat[first + digit] = (place, 0) if place < 0x8000 else (0, place >> 16)
    return unflatten(flat, numbers)


def packed_sums(boards: list[Any]) -> npt.NDArray[np.int64]:
    """The evaluation's sums of these boards, middlegame + endgame * 65536."""
    evaluation = evaluate.Evaluation()  # a new one: it may remember what it has seen
    found = np.empty(len(boards), np.int64)
    for i, board in enumerate(boards):
        evaluation.reset(board)
        found[i] = evaluation.packed(board)
    return found


def trace(fens: list[str], numbers: Pairs) -> tuple[sparse.csr_matrix, Floats]:
    """How often each number counts in each position, and the weights of the phases with the numbers as they
    are.

    Raises ValueError if the evaluation is not linear in its numbers.
    """
    boards = [fen.parse(text) for text in fens]
    size = sum(map(len, numbers.values()))
    counts = np.zeros((len(boards), size), np.int8)
    try:
        for first in range(0, size, DIGITS):
            evaluate.load(unit_numbers(numbers, first))
            sums = packed_sums(boards)
            for column in range(first, min(first + DIGITS, size)):
                digit = (sums + DIGIT // 2) % DIGIT - DIGIT // 2
                counts[:, column] = digit
                sums = (sums - digit) // DIGIT
    finally:
        evaluate.load(numbers)
    sparse_counts = sparse.csr_matrix(counts)
    check(sparse_counts, boards, numbers)
    evaluation = evaluate.Evaluation()
    weights = np.empty((len(boards), 2))
    for i, board in enumerate(boards):
        evaluation.reset(board)
        phase, scale = evaluation.phase(), evaluation.scale(board)
        weights[i] = phase / FULL_PHASE, (FULL_PHASE - phase) * scale / (FULL_PHASE * FULL_SCALE)
    return sparse_counts, weights


def check(counts: sparse.csr_matrix, boards: list[Any], numbers: Pairs) -> None:
    """Raise ValueError unless counts times numbers are what the evaluation, which has these numbers, says."""
    expected = counts.astype(np.int64) @ flatten(numbers) @ np.array([1, 65536])
    if not np.array_equal(expected, packed_sums(boards)):
        raise ValueError("the evaluation is not linear in its numbers, or one of them counts too often")


def trace_all(path: Path, numbers: Pairs, executor: Executor | None) -> Positions:
    """The positions of a file, traced; from the file beside it, if it tells of these. Raises ValueError or
    OSError.
    """
    fens, results, scores = read_positions(path)
    shape = json.dumps({name: len(pairs) for name, pairs in numbers.items()})
    key = hashlib.sha256("\n".join([shape, *fens]).encode()).hexdigest()
    kept = path.with_name(path.name + ".npz")
    traced = _restore(kept, key, fens, numbers)
    if traced is None:
        chunks = [fens[i : i + CHUNK] for i in range(0, len(fens), CHUNK)]
        found = (executor.map if executor else map)(trace, chunks, [numbers] * len(chunks))
        bar = {"unit": " positions", "unit_scale": CHUNK, "dynamic_ncols": True}
        counts, weights = zip(*tqdm(found, total=len(chunks), **bar), strict=True)
        traced = sparse.vstack(counts, "csr"), np.concatenate(weights)
        _keep(kept, key, *traced)
    return Positions(traced[0].astype(np.float64), traced[1], results, scores)


def _keep(path: Path, key: str, counts: sparse.csr_matrix, weights: Floats) -> None:
    new = path.with_name(path.name + ".new")
    with open(new, "wb") as stream:
        parts = {"data": counts.data, "indices": counts.indices, "indptr": counts.indptr}
        np.savez(stream, key=np.array(key), weights=weights, **parts)
    os.replace(new, path)


def _restore(
    path: Path, key: str, fens: list[str], numbers: Pairs
) -> tuple[sparse.csr_matrix, Floats] | None:
    """What `_keep` has kept, or None if it was for other positions, or for another evaluation."""
    if not path.exists():
        return None
    with np.load(path) as found:
        if str(found["key"]) != key:
            return None
        parts = (found["data"], found["indices"], found["indptr"])
        counts = sparse.csr_matrix(parts, (len(fens), sum(map(len, numbers.values()))))
        weights = found["weights"]
    sample = Random(0).sample(range(len(fens)), min(CHUNK, len(fens)))
    try:
        check(counts[sample], [fen.parse(fens[i]) for i in sample], numbers)
    except ValueError:
        return None
    return counts, weights


# --- Fitting the evaluation


@dataclass(frozen=True)
class Fit:
    """What is asked for: the part of the target that is the game's result, the rest being what the search
    thought; the centipawns of odds of ten to one, 0 for what they are now; how many centipawns a number of
    which little is known may go; iterations at most.
    """

    blend: float = 0.7
    scale: float = 0.0
    leash: float = 6.0
    iterations: int = 500
    kept: tuple[str, ...] = ()
    """The lists that stay as they are, but for the scale."""


def steepness(scores: Floats, targets: Floats) -> float:
    """The K with which 1 / (1 + exp(-K * score)) comes nearest to the targets."""

    def loss(logarithm: float) -> float:
        return float(np.mean((special.expit(np.exp(logarithm) * scores) - targets) ** 2))

    return math.exp(optimize.minimize_scalar(loss, bounds=(-9, -2), method="bounded").x)


def targets_of(positions: Positions, blend: float) -> Floats:
    """What is to be foretold: White's points, blended with those that the search's score stands for."""
    k = steepness(positions.scores, positions.results)
    return blend * positions.results + (1 - blend) * np.asarray(special.expit(k * positions.scores))


def mean_square(positions: Positions, targets: Floats, numbers: Floats, k: float) -> float:
    """The mean square of what the evaluations miss the targets by."""
    return float(np.mean((special.expit(k * positions.evaluations(numbers)) - targets) ** 2))


def descend(
    positions: Positions,
    targets: Floats,
    start: Floats,
    free: npt.NDArray[np.bool_],
    k: float,
    fit: Fit,
    on_step: Callable[[float], None] = lambda error: None,
) -> Floats:
    """The numbers, [number, phase], that foretell the targets best, by the L-BFGS method; only what is free
    moves.

    The leash is the standard deviation of a normal distribution around the start: to the positions' squared
    errors over their variance, the sum of the numbers' squared ways over the leash's square is added. It is
    shorter than the numbers' uncertainty, for the positions of a game are not independent witnesses.
    """
    size = len(targets)
    stiffness = mean_square(positions, targets, start, k) / (size * fit.leash**2)
    transposed = positions.counts.T.tocsr()
    error = 0.0

    def loss(flat: Floats) -> tuple[float, Floats]:
        nonlocal error
        way = flat.reshape(start.shape)
        points = special.expit(k * positions.evaluations(start + way))
        misses = points - targets
        slopes = 2 * k / size * misses * points * (1 - points)
        gradient = transposed @ (slopes[:, None] * positions.weights) + 2 * stiffness * way
        error = float(np.mean(misses**2))
        return error + stiffness * float(np.sum(way**2)), (gradient * free[:, None]).ravel()

    found = optimize.minimize(
        loss,
        np.zeros(start.size),
        jac=True,
        method="L-BFGS-B",
        callback=lambda _: on_step(error),
        options={"maxiter": fit.iterations, "maxcor": 30, "ftol": 1e-8, "gtol": 1e-10},
    )
    return start + np.asarray(found.x, np.float64).reshape(start.shape)


def centre(positions: Positions, numbers: Floats, lists: Sequence[slice]) -> Floats:
    """The same evaluation with the mean of each of these lists at zero, where another number can take it.

    A piece stands on one square, so its squares may all be worth more and its material less. Where a list's
    numbers together always count as often as a number outside it, this one takes their mean; where they
    always count as often for White as for Black (the king's squares), nothing has to.
    """
    numbers = numbers.copy()
    counts = positions.counts.astype(np.int64)
    # Two columns of counts are the same if their products with the same random numbers are.
    prints = counts.T @ np.random.default_rng(0).integers(1 << 40, size=counts.shape[0])
    seen = np.asarray(abs(counts).sum(axis=0)).ravel()
    for columns in lists:
        weights, total = seen[columns], prints[columns].sum()
        outside = (prints == total) & (seen > 0)
        outside[columns] = False
        if len(weights) < 2 or not weights.any() or (total != 0 and not outside.any()):
            continue
        mean = np.average(numbers[columns], axis=0, weights=weights)
        # What never counts and is zero is no square of this piece.
        used = (weights > 0) | numbers[columns].any(axis=1)
        numbers[columns] -= used[:, None] * mean
        if total != 0:
            numbers[np.argmax(outside)] += mean
    return numbers


def fit_evaluation(positions: Positions, numbers: Pairs, fit: Fit) -> tuple[Pairs, str]:
    """The numbers fitted to the positions, and a report."""
    start = flatten(numbers).astype(np.float64)
    free = np.array([name not in fit.kept for name, pairs in numbers.items() for _ in pairs])
    targets = targets_of(positions, fit.blend)
    # Whole stretches of the file are held out: positions of one game know each other.
    stretches = np.arange(len(targets)) * 5 * HELD_OUT // len(targets)
    held_out = stretches % HELD_OUT == HELD_OUT - 1
    parts = [(positions.part(rows), targets[rows]) for rows in (~held_out, held_out)]
    train, train_targets = parts[0]
    k_before = steepness(train.evaluations(start), train_targets)
    k = math.log(10) / fit.scale if fit.scale else k_before
    start *= k_before / k
    with tqdm(total=fit.iterations, unit="step", dynamic_ncols=True) as bar:

        def show(error: float) -> None:
            bar.set_postfix_str(f"error {error:.6f}", refresh=False)
            bar.update()

        fitted = descend(train, train_targets, start, free, k, fit, show)
    lists, first = [], 0
    for name, pairs in numbers.items():
        if name not in fit.kept:
            lists.append(slice(first, first + len(pairs)))
        first += len(pairs)
    rounded = np.rint(centre(positions, fitted, lists))
    rows = [
        [name, *(mean_square(*part, values, k) for part in parts)]
        for name, values in (("before", start), ("fitted", fitted), ("rounded", rounded))
    ]
    report = (
        f"{len(targets)} positions, {len(start)} numbers; odds of ten to one were"
        f" {math.log(10) / k_before:.0f} centipawns, and are {math.log(10) / k:.0f}\n\n"
        + tabulate(rows, ["mean square error", "trained on", "held out"], floatfmt=".6f")
    )
    return unflatten(rounded.astype(np.int64), numbers), report


# --- SPSA


@dataclass(frozen=True)
class Gains:
    """Spall's gain sequences: the change tried, and the step for its result, of iteration k from 0 on, are

        c(k) = c / (k + 1) ** gamma         a(k) = a / (stability + k + 1) ** alpha

    given by what they are at the end: c in parts of a number's range, a / c**2 in points.
    """

    iterations: int
    change: float = 0.05
    rate: float = 0.002
    alpha: float = 0.602
    gamma: float = 0.101

    def change_at(self, k: int) -> float:
        """c(k), in parts of the range."""
        return self.change * math.pow(self.iterations / (k + 1), self.gamma)

    def rate_at(self, k: int) -> float:
        """a(k) / c(k)**2, in changes a point."""
        stability = 0.1 * self.iterations
        growth = math.pow((stability + self.iterations) / (stability + k + 1), self.alpha)
        return self.rate * growth * (self.change / self.change_at(k)) ** 2


class Spsa:
    """Numbers on their way to where their player wins most. The values are real; players get whole ones."""

    def __init__(self, ranges: Ranges, gains: Gains, seed: int = 0) -> None:
        self.ranges = ranges
        self.gains = gains
        self.seed = seed
        self.iteration = 0
        self.values = {name: float(value) for name, (value, _, _) in ranges.items()}
        self.points = 0.0
        """All that the first of the two candidates has won by: near zero, if all is well."""

    def candidates(self) -> tuple[Numbers, Numbers]:
        """The two sets of numbers that play against each other in this iteration."""
        chance, signs = self._chance()
        first, second = {}, {}
        for name, (_, least, most) in self.ranges.items():
            change = self._change(name) * signs[name]
            # The same chance rounds both: so the mean is right, and a small change counts now and then.
            dither = chance.random()
            first[name] = min(max(math.floor(self.values[name] + change + dither), least), most)
            second[name] = min(max(math.floor(self.values[name] - change + dither), least), most)
        return first, second

    def update(self, result: float) -> None:
        """Learn by how many points the first candidate has beaten the second, and go on."""
        _, signs = self._chance()
        rate = self.gains.rate_at(self.iteration)
        for name, (_, least, most) in self.ranges.items():
            value = self.values[name] + rate * self._change(name) * signs[name] * result
            self.values[name] = min(max(value, float(least)), float(most))
        self.points += result
        self.iteration += 1

    def rounded(self) -> Numbers:
        """The numbers as they stand, whole."""
        return {name: round(value) for name, value in self.values.items()}

    def most_moved(self) -> list[str]:
        """The names, those first that are farthest from where they began, in parts of their ranges."""

        def way(name: str) -> float:
            value, least, most = self.ranges[name]
            return abs(self.values[name] - value) / max(1, most - least)

        return sorted(self.ranges, key=way, reverse=True)

    def _change(self, name: str) -> float:
        """By how much a number is moved: by a half at least, or both candidates would often be the same."""
        _, least, most = self.ranges[name]
        return max(0.5, self.gains.change_at(self.iteration) * (most - least))

    def _chance(self) -> tuple[Random, dict[str, int]]:
        """The chance of this iteration, and the way that each number is moved."""
        chance = Random(f"{self.seed}/{self.iteration}")
        return chance, {name: chance.choice((-1, 1)) for name in self.ranges}


def refuse_another(path: Path, found: dict[str, Any], settings: dict[str, Any]) -> None:
    """Raise ValueError if what was found in a file is not what is asked for."""
    for name, value in settings.items():
        if found.get(name) != value:
            raise ValueError(f"{path} is of a run with another {name}: {found.get(name)}")


class State:
    """The file in which a run stands: what was asked for, the iteration, and the values."""

    def __init__(self, path: Path, settings: dict[str, Any]) -> None:
        self.path = path
        self.settings = settings

    def restore(self, spsa: Spsa) -> None:
        """Go on from the file, if there is one. Raises ValueError if it is of another run, or OSError."""
        if not self.path.exists():
            return
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
            settings, values = found["settings"], {name: float(found["values"][name]) for name in spsa.values}
            iteration, points = int(found["iteration"]), float(found["points"])
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"{self.path} is no state of a run") from None
        refuse_another(self.path, settings, self.settings)
        spsa.values, spsa.iteration, spsa.points = values, iteration, points

    def save(self, spsa: Spsa) -> None:
        """Write the file anew; an interrupted writing leaves the old one."""
        new = self.path.with_name(self.path.name + ".new")
        found = {"iteration": spsa.iteration, "points": spsa.points, "values": spsa.values}
        new.write_text(json.dumps(found | {"settings": self.settings}, indent=1) + "\n", encoding="utf-8")
        os.replace(new, self.path)


def iterate(
    spsa: Spsa, duel: Callable[[int, Numbers, Numbers], float], on_step: Callable[[], None] = lambda: None
) -> None:
    """Run what is left of the iterations. A duel gets the iteration's number and two candidates, and tells by
    how many points the first has won.
    """
    while spsa.iteration < spsa.gains.iterations:
        spsa.update(duel(spsa.iteration, *spsa.candidates()))
        on_step()


def play_pairs(
    executor: Executor,
    book: Book,
    pace: Pace,
    pairs: Iterable[int],
    sides: Callable[[int], tuple[Numbers, Numbers]],
    workers: int,
) -> Iterator[tuple[int, float]]:
    """Play the pairs of games of these numbers; as each ends, its number and the mean points of the first of
    its sides.
    """
    jobs = (
        book.paired(number, pace, *map(Side, sides(pair)))
        for pair in pairs
        for number in (2 * pair, 2 * pair + 1)
    )
    halves: dict[int, float] = {}
    for played in play_all(executor, jobs, workers):
        white = POINTS[played.result]
        pair, points = played.number // 2, white if played.number % 2 == 0 else 1 - white
        if pair in halves:
            yield pair, (halves.pop(pair) + points) / 2
        else:
            halves[pair] = points


def duels(
    executor: Executor, book: Book, pace: Pace, pairs: int, workers: int
) -> Callable[[int, Numbers, Numbers], float]:
    """Duels of so many pairs of games."""

    def duel(iteration: int, first: Numbers, second: Numbers) -> float:
        numbers = range(pairs * iteration, pairs * (iteration + 1))
        found = play_pairs(executor, book, pace, numbers, lambda pair: (first, second), workers)
        return sum(4 * points - 2 for _, points in found)

    return duel


# --- Screening


class Screening:
    """Changes of numbers, by name what they are and what they might be; who plays a pair with which of them;
    and what the pairs played say of them.

    What the one side has changed, the other has not, so that pairs of changes that do well together count
    alike for both, and blur no effect. By the same token an even score is what nothing but chance gives.
    """

    def __init__(self, changes: dict[str, tuple[int, int]], seed: int = 0) -> None:
        # In the order of the alphabet: whatever order they are asked for in, the experiment is the same.
        self.changes = dict(sorted(changes.items()))
        self.seed = seed
        self.pairs: set[int] = set()
        """The pairs that count already."""
        # The sums of least squares: of signs times signs, of signs times points, of points times points.
        self._signs = np.zeros((len(changes), len(changes)))
        self._products = np.zeros(len(changes))
        self._points = 0.0

    def signs(self, pair: int) -> Floats:
        """For each change 1 where the first side plays with it, -1 where the second does."""
        chance = Random(f"screen/{self.seed}/{pair}")
        return np.array([1.0 if chance.random() < 0.5 else -1.0 for _ in self.changes])

    def candidates(self, pair: int) -> tuple[Numbers, Numbers]:
        """The numbers of the two sides of a pair."""
        first, second = {}, {}
        for (name, (value, changed)), sign in zip(self.changes.items(), self.signs(pair), strict=True):
            first[name], second[name] = (changed, value) if sign > 0 else (value, changed)
        return first, second

    def add(self, pair: int, points: float) -> None:
        """Count a pair, of which the first side had these mean points."""
        signs, points = self.signs(pair), points - 0.5
        self.pairs.add(pair)
        self._signs += np.outer(signs, signs)
        self._products += signs * points
        self._points += points * points

    def effects(self) -> list[tuple[str, float, float]]:
        """For each change its name, by how much Elo it is better than what is, and the half of the 95 %
        interval; the best first. None, as long as there are too few pairs to tell one from another.
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
        """The effects as a table, and how to take them."""
        effects = self.effects()
        if not effects:
            return f"{len(self.pairs)} pairs of games are too few for {len(self.changes)} changes"
        rows = [[name, *self.changes[name], elo, error] for name, elo, error in effects]
        formats = ("", "", "", "+.1f", ".1f")
        found = tabulate(rows, ["number", "before", "changed", "Elo", "± 95 %"], floatfmt=formats)
        return (
            f"{len(self.pairs)} pairs of games, {len(rows)} changes\n\n{found}\n\n"
            "An effect is the average over the other changes being made and not, and one interval in twenty\n"
            "misses: what is to stay has to be confirmed by a plain match (bench/selfplay.py --compare)."
        )


class Log:
    """The file of a screening, in JSON lines: what was asked for, then each pair with the first side's mean
    points.
    """

    def __init__(self, path: Path, settings: dict[str, Any]) -> None:
        """Raises ValueError if there is a file by this name, but of another run or none, or OSError."""
        self.points: dict[int, float] = {}
        """By pair."""
        held = path.read_bytes() if path.exists() else b""
        # A last line without its end was being written when the run ended.
        size = held.rfind(b"\n") + 1
        if held:
            self._restore(path, held[:size].split(b"\n")[:-1], settings)
        self._file = path.open("ab")
        self._file.truncate(size)
        if not size:
            self._write(settings)

    def __enter__(self) -> "Log":
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def add(self, pair: int, points: float) -> None:
        """Add a pair."""
        self.points[pair] = points
        self._write({"pair": pair, "points": points})

    def _write(self, entry: dict[str, Any]) -> None:
        self._file.write(json.dumps(entry).encode() + b"\n")
        self._file.flush()

    def _restore(self, path: Path, lines: list[bytes], settings: dict[str, Any]) -> None:
        try:
            found = dict(json.loads(lines[0]))
        except (IndexError, TypeError, ValueError):
            raise ValueError(f"{path} is no state of a run") from None
        refuse_another(path, found, settings)
        for number, line in enumerate(lines[1:], 2):
            try:
                entry = json.loads(line)
                pair, points = int(entry["pair"]), float(entry["points"])
            except (KeyError, TypeError, ValueError):
                pair, points = -1, -1.0
            if pair < 0 or 4 * points not in range(5):
                raise ValueError(f"{path}, line {number}: it is no pair of games")
            self.points[pair] = points


# --- The command line


def tune_evaluation(options: argparse.Namespace) -> None:
    """Fit the evaluation, and write its numbers. Raises ValueError or OSError."""
    if not 0 <= options.blend <= 1 or options.scale < 0 or options.leash <= 0:
        raise ValueError("--blend is from 0 to 1, --scale not negative, --leash positive")
    numbers: Pairs = read_table(options.table, "EVALUATION")
    for name in options.keep:
        if name not in numbers:
            raise ValueError(f"{options.table} has no {name!r} in EVALUATION")
    evaluate.load(numbers)
    with crew(options.concurrency) as executor:
        positions = trace_all(options.positions, numbers, executor if options.concurrency > 1 else None)
    fit = Fit(options.blend, options.scale, options.leash, options.iterations, tuple(options.keep))
    fitted, report = fit_evaluation(positions, numbers, fit)
    print(report)
    if not options.dry_run:
        write_table(options.table, "EVALUATION", fitted)


def tune_search(options: argparse.Namespace) -> None:
    """Run SPSA, and write its numbers. Raises ValueError or OSError."""
    table: Ranges = read_table(options.table, "SEARCH")
    for name in options.names:
        if name not in table:
            raise ValueError(f"{options.table} has no {name!r} in SEARCH")
    ranges = {name: entry for name, entry in table.items() if name in options.names or not options.names}
    pace = _pace(options)
    gains = Gains(options.iterations, options.change, options.rate)
    if not 0 < options.change < 1 or options.rate <= 0:
        raise ValueError("--change is between 0 and 1, --rate positive")
    asked = {"seed": options.seed, "pairs": options.pairs, "names": list(ranges)}
    state = State(options.state, asked | asdict(gains) | _told(pace))
    spsa = Spsa(ranges, gains, options.seed)
    state.restore(spsa)
    if options.apply and not options.state.exists():
        raise ValueError(f"there is no {options.state} to apply")
    if not options.apply:
        searcher(1, spsa.rounded())  # names are checked here, not in a worker
        book = Book.read(options.openings, options.seed)
        with (
            crew(options.concurrency) as executor,
            tqdm(total=gains.iterations, initial=spsa.iteration, unit="iteration", dynamic_ncols=True) as bar,
        ):

            def keep() -> None:
                state.save(spsa)
                shown = " ".join(f"{name}={spsa.values[name]:.1f}" for name in spsa.most_moved())
                bar.set_postfix_str(f"{spsa.points:+.0f} {shown}", refresh=False)
                bar.update()

            iterate(spsa, duels(executor, book, pace, options.pairs, options.concurrency), keep)
    rows = [[name, ranges[name][0], f"{value:.2f}", *ranges[name][1:]] for name, value in spsa.values.items()]
    print(tabulate(rows, ["number", "before", "now", "least", "most"]))
    write_table(options.table, "SEARCH", {name: (v, *table[name][1:]) for name, v in spsa.rounded().items()})


def screen(options: argparse.Namespace) -> None:
    """Run a screening, and tell what it has found. Raises ValueError or OSError."""
    table: Ranges = read_table(options.table, "SEARCH")
    numbers = read_numbers(options.changes)
    if unknown := [name for name in numbers if name not in table]:
        raise ValueError(f"{options.table} has no {', '.join(map(repr, unknown))} in SEARCH")
    if len(numbers) < len(options.changes):
        raise ValueError("a number is changed twice")
    if same := [name for name, value in numbers.items() if value == table[name][0]]:
        raise ValueError(f"no change: {options.table} has {', '.join(same)} at that value")
    pace = _pace(options)
    screening = Screening({name: (table[name][0], value) for name, value in numbers.items()}, options.seed)
    for pair_numbers in screening.candidates(0):
        searcher(1, pair_numbers)  # names are checked here, not in a worker
    book = Book.read(options.openings, options.seed)
    before, values = (list(column) for column in zip(*screening.changes.values(), strict=True))
    asked = {"names": list(screening.changes), "before": before, "values": values, "seed": options.seed}
    asked["book"] = None
    if options.openings:
        digest = hashlib.sha256(options.openings.read_bytes()).hexdigest()
        asked["book"] = f"{options.openings.name} {digest[:16]}"
    with Log(options.state, asked | _told(pace)) as log:
        for pair, points in log.points.items():
            screening.add(pair, points)
        missing = [pair for pair in range(options.pairs) if pair not in log.points]
        done = options.pairs - len(missing)
        with (
            crew(options.concurrency) as executor,
            contextlib.suppress(KeyboardInterrupt),
            tqdm(total=options.pairs, initial=done, unit="pair", dynamic_ncols=True) as bar,
        ):
            played = play_pairs(executor, book, pace, missing, screening.candidates, options.concurrency)
            for pair, points in played:
                log.add(pair, points)
                screening.add(pair, points)
                shown = " ".join(f"{name}{elo:+.0f}±{error:.0f}" for name, elo, error in screening.effects())
                bar.set_postfix_str(shown, refresh=False)
                bar.update()
    print(screening.report())


def _pace(options: argparse.Namespace) -> Pace:
    """The pace that the options ask for. Raises ValueError, also about --pairs."""
    if min(options.pairs, options.nodes, options.hash) < 1:
        raise ValueError("--pairs, --nodes and --hash are whole numbers from 1 on")
    if options.random_plies < 0 or not 0 <= options.jitter < 1:
        raise ValueError("--random-plies is not negative, --jitter from 0 to 1")
    return Pace(options.nodes, options.jitter, options.random_plies, options.hash)


def _told(pace: Pace) -> dict[str, Any]:
    """A pace as the files of runs tell it."""
    return {f"pace_{name}": value for name, value in asdict(pace).items()}


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Set the numbers of search/tuned.py.")
    commands = parser.add_subparsers(required=True)
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--table", type=Path, default=TUNED, metavar="FILE", help="usually search/tuned.py")
    common.add_argument("--concurrency", type=int, default=1, help="processes (usually 1)")
    games = argparse.ArgumentParser(add_help=False)
    games.add_argument("--nodes", type=int, default=5000, help="a move (usually 5000)")
    games.add_argument("--jitter", type=float, default=0.05, help="how far they vary (0.05)")
    games.add_argument("--openings", type=Path, metavar="FILE", help="a PGN or EPD file (usually: none)")
    games.add_argument("--random-plies", type=int, default=0, help="after the opening (usually 0)")
    games.add_argument("--hash", type=int, default=1, help="megabytes of each side's table (usually 1)")
    games.add_argument("--seed", type=int, default=0, help="for openings and changes (usually 0)")

    command = commands.add_parser("evaluation", parents=[common], help="by positions with results")
    command.set_defaults(run=tune_evaluation)
    command.add_argument("positions", type=Path, help="a file that bench/selfplay.py has written")
    command.add_argument("--blend", type=float, default=Fit.blend, help="the part of the result (0.7)")
    command.add_argument("--scale", type=float, default=Fit.scale, help="such as 400; 0: as it is (0)")
    command.add_argument("--leash", type=float, default=Fit.leash, metavar="CENTIPAWNS", help="usually 6")
    command.add_argument("--iterations", type=int, default=Fit.iterations, help="at most (usually 500)")
    command.add_argument("--keep", nargs="+", default=[], metavar="NAME", help="leave these lists alone")
    command.add_argument("--dry-run", action="store_true", help="only tell the errors")

    command = commands.add_parser("search", parents=[common, games], help="by games")
    command.set_defaults(run=tune_search)
    command.add_argument("names", nargs="*", metavar="NAME", help="the numbers (usually all)")
    command.add_argument("--state", type=Path, default=Path("spsa.json"), metavar="FILE", help="(spsa.json)")
    command.add_argument("--apply", action="store_true", help="play no more: write the table")
    command.add_argument("--iterations", type=int, default=1000, help="in all (usually 1000)")
    command.add_argument("--pairs", type=int, default=4, help="of games an iteration (usually 4)")
    command.add_argument("--change", type=float, default=Gains.change, help="tried in the end (0.05)")
    command.add_argument("--rate", type=float, default=Gains.rate, help="of learning in the end (0.002)")

    command = commands.add_parser("screen", parents=[common, games], help="many changes at once, by games")
    command.set_defaults(run=screen)
    command.add_argument("changes", nargs="+", metavar="NAME=VALUE", help="numbers of the search")
    command.add_argument(
        "--state", type=Path, default=Path("screen.jsonl"), metavar="FILE", help="(screen.jsonl)"
    )
    command.add_argument("--pairs", type=int, default=1000, help="of games, in all (usually 1000)")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Tune; returns the exit code."""
    options = _options(arguments)
    interrupt_on_termination()
    if not build.compiled:
        print(build.notice(), file=sys.stderr)
    try:
        if min(options.concurrency, getattr(options, "iterations", 1)) < 1:
            raise ValueError("--concurrency and --iterations are whole numbers from 1 on")
        options.run(options)
    except (ImportError, TypeError, ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
