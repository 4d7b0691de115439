"""The evaluation's numbers fitted to positions by Texel's method: `bench/tune.py evaluation`.

Source: Peter Österlund, "Texel's tuning method", 2014; here with the exact gradient. The evaluation is linear
in its numbers, so the evaluation itself tells once how often each number counts in a position.
"""

import argparse
import hashlib
import importlib
import json
import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import optimize, sparse, special
from selfplay import POINTS, crew
from tables import Pairs, read_table, write_table
from tabulate import tabulate
from tqdm import tqdm

from x88 import fen

evaluate: Any = importlib.import_module("search.evaluate")

FULL_PHASE = 24
FULL_SCALE = 64
DRAWN_SCALE = 10
"""The phase of the opening; the scale of an endgame that counts in full."""

DIGIT = 64
DIGITS = 5
"""So many numbers are traced in one evaluation, as digits of its sum: each counts fewer than 32 times."""

CHUNK = 1024
"""Positions traced at a time, all of them boards in memory."""

HELD_OUT = 10
"""One position in so many is held out."""

Floats = npt.NDArray[np.float64]


# --- Positions


@dataclass(frozen=True)
class Positions:
    """Training positions: how often each number counts in each of them, White's count less Black's; the
    weights of the two phases; the results and the search's scores from White's view.
    """

    counts: sparse.csr_matrix
    """[position, number], in the order of the table."""
    weights: Floats
    """[position, phase]"""
    results: Floats
    scores: Floats

    def part(self, rows: npt.NDArray[np.bool_]) -> "Positions":
        """Only these positions."""
        return Positions(self.counts[rows], self.weights[rows], self.results[rows], self.scores[rows])

    def evaluations(self, numbers: Floats) -> Floats:
        """The evaluations in centipawns from White's view with these numbers, [number, phase]."""
        found: Floats = (np.asarray(self.counts @ numbers) * self.weights).sum(axis=1)
        return found


def read_positions(path: Path) -> tuple[list[str], Floats, Floats]:
    """The FENs, results and scores of a file. Raises ValueError with the first damaged line, or OSError."""
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
                raise ValueError(f"{path}, line {number}: this is not FEN;RESULT;SCORE") from None
            fens.append(text)
    if len(fens) < 2 * HELD_OUT:
        raise ValueError(f"{path} holds only {len(fens)} positions")
    return fens, np.array(results), np.array(scores)


def flatten(numbers: Pairs) -> npt.NDArray[np.int64]:
    """The table's numbers in the order of the table, [number, phase]."""
    return np.array([pair for pairs in numbers.values() for pair in pairs], np.int64)


def unflatten(flat: npt.NDArray[np.int64], names: Pairs) -> Pairs:
    """A table of these numbers with the names and lengths of another."""
    left = iter(flat.tolist())
    return {name: [(pair[0], pair[1]) for pair in islice(left, len(pairs))] for name, pairs in names.items()}


def unit_numbers(numbers: Pairs, first: int) -> Pairs:
    """A table of zeros, except that the numbers from `first` on are the place values of a packed sum."""
    flat = np.zeros((sum(map(len, numbers.values())), 2), np.int64)
    for digit in range(min(DIGITS, len(flat) - first)):
        place = DIGIT**digit
        flat[first + digit] = (place, 0) if place < 0x8000 else (0, place >> 16)
    return unflatten(flat, numbers)


def packed_sums(boards: list[Any]) -> npt.NDArray[np.int64]:
    """The evaluation's sums for these boards, middlegame + endgame * 65536."""
    evaluation = evaluate.Evaluation()  # a new one: it may cache what it has seen
    found = np.empty(len(boards), np.int64)
    for i, board in enumerate(boards):
        evaluation.reset(board)
        found[i] = evaluation.packed(board)
    return found


def trace(fens: list[str], numbers: Pairs) -> tuple[sparse.csr_matrix, Floats]:
    """How often each number counts in each position, and the weights of the two phases.

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
        phase, scale = evaluation.placement.phase() / FULL_PHASE, evaluation.scale(board) / FULL_SCALE
        weights[i] = phase * (scale if scale <= DRAWN_SCALE / FULL_SCALE else 1), (1 - phase) * scale
    return sparse_counts, weights


def check(counts: sparse.csr_matrix, boards: list[Any], numbers: Pairs) -> None:
    """Raise ValueError unless counts times numbers equal what the evaluation says with these numbers."""
    expected = counts.astype(np.int64) @ flatten(numbers) @ np.array([1, 65536])
    if not np.array_equal(expected, packed_sums(boards)):
        raise ValueError("the evaluation is not linear in its numbers, or one of them counts too often")


def trace_all(path: Path, numbers: Pairs, executor: Executor | None) -> Positions:
    """The positions of a file, traced, or read from the file beside it if that holds the same ones.

    Raises ValueError or OSError.
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
    """What `_keep` has written; None if it is of other positions or another evaluation."""
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
    """How to fit."""

    blend: float
    """The weight of the game's result in the target; the rest is the search's score."""
    scale: float
    """The centipawns that stand for odds of ten to one; 0 leaves them as they are."""
    leash: float
    """The centipawns that a number may move if the positions say little of it."""
    iterations: int
    """At most."""
    kept: tuple[str, ...] = ()
    """The lists that are only scaled."""


def steepness(scores: Floats, targets: Floats) -> float:
    """The K that brings 1 / (1 + exp(-K * score)) nearest to the targets."""

    def loss(logarithm: float) -> float:
        return float(np.mean((special.expit(np.exp(logarithm) * scores) - targets) ** 2))

    return math.exp(optimize.minimize_scalar(loss, bounds=(-9, -2), method="bounded").x)


def targets_of(positions: Positions, blend: float) -> Floats:
    """What to predict: White's points, blended with the points that the search's score stands for."""
    k = steepness(positions.scores, positions.results)
    return blend * positions.results + (1 - blend) * np.asarray(special.expit(k * positions.scores))


def mean_square(positions: Positions, targets: Floats, numbers: Floats, k: float) -> float:
    """The mean square error of the evaluations against the targets."""
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
    """The numbers, [number, phase], that best predict the targets, found by L-BFGS; only the free ones move.

    The leash is the standard deviation of a normal prior around the start: the squared moves over the squared
    leash are added to the squared errors over their variance. It is shorter than the numbers' uncertainty,
    because the positions of a game are not independent.
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
    """The same evaluation, with the mean of each of these lists moved to a number that can take it.

    A piece stands on exactly one square, so all its squares may gain what its material loses. If a list's
    numbers together always count as often as some number outside it, that number takes their mean; if they
    always count as often for White as for Black (the king's squares), the mean is simply dropped.
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
        # A number that is zero and never counts is no square of this piece.
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
    # Hold out whole stretches of the file: positions of one game are correlated.
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
        f" {math.log(10) / k_before:.0f} centipawns and are {math.log(10) / k:.0f} now\n\n"
        + tabulate(rows, ["mean square error", "trained on", "held out"], floatfmt=".6f")
    )
    return unflatten(rounded.astype(np.int64), numbers), report


def run(options: argparse.Namespace) -> None:
    """Fit the evaluation and write its numbers. Raises ValueError or OSError."""
    if not 0 <= options.blend <= 1 or options.scale < 0 or options.leash <= 0:
        raise ValueError("--blend must be from 0 to 1, --scale not negative, --leash positive")
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
