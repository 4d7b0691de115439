"""Trains a network on the processor, compiled by Numba.

Some twenty inputs are 1 in a position, so its sums are those of twenty rows of weights, and its gradient goes
to twenty rows. What one zone of the king learns about a piece, the other zones learn with it: rare zones
would learn little by themselves. Source: the "feature factoriser" of the trainer of Stockfish's networks,
2020, which has additional weights that all zones share.

Source of the optimiser, AdamW: Ilya Loshchilov and Frank Hutter, "Decoupled weight decay regularization",
2019.
"""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar, cast

import numpy as np
from nets import Batch, Floats, Ints, Sizes
from numba import njit

from search.nnue.network import INPUTS, ZONE_INPUTS

FADES = (0.9, 0.999)
"""The shares of the first and second moments of the gradient that a step keeps."""

LEAST = 1e-8
"""Added to the root of the second moment."""

DECAY = 0.01
"""The decay of weights, in rates of learning a step."""

Function = TypeVar("Function", bound=Callable[..., Any])

ZERO, ONE, TWO = np.float32(0), np.float32(1), np.float32(2)


def compiled(function: Function) -> Function:
    """Compile a function, for this processor."""
    found: Any = njit(nogil=True, fastmath=True, cache=True)(function)
    return cast(Function, found)


@compiled
def _sum_rows(rows: Floats, view: Ints, start: int, end: int, sums: Floats) -> None:
    """Add the rows of a position's inputs, four at a time: that saves reading and writing the sums."""
    at = start
    while at + 4 <= end:
        one, two, three, four = rows[view[at]], rows[view[at + 1]], rows[view[at + 2]], rows[view[at + 3]]
        for k in range(len(sums)):
            sums[k] += (one[k] + two[k]) + (three[k] + four[k])
        at += 4
    for n in range(at, end):
        row = rows[view[n]]
        for k in range(len(sums)):
            sums[k] += row[k]


@compiled
def _value(
    own: Ints, other: Ints, start: int, end: int, inputs: Floats, biases: Floats, output: Floats, sums: Floats
) -> np.float32:
    """The value of a position without the bias of its output. Leaves the sums of the hidden layer."""
    hidden = len(biases)
    sums[:hidden] = biases
    sums[hidden:] = biases
    _sum_rows(inputs, own, start, end, sums[:hidden])
    _sum_rows(inputs, other, start, end, sums[hidden:])
    value = ZERO
    for k in range(2 * hidden):
        clipped = min(max(sums[k], ZERO), ONE)
        value += clipped * clipped * output[k]
    return value


@compiled
def _add_gradients(
    batch: Any, first: int, last: int, numbers: tuple[Floats, ...], gradients: tuple[Floats, ...]
) -> float:
    """Add the gradients of the positions from `first` to before `last`; returns the sum of their losses."""
    own, other, starts, bands, factors, targets, weights = batch
    inputs, biases, outputs, output_biases = numbers
    input_slopes, bias_slopes, output_slopes, output_bias_slopes = gradients
    hidden = len(biases)
    sums = np.empty(2 * hidden, np.float32)
    loss = 0.0
    for n in range(first, last):
        start, end, band = starts[n], starts[n + 1], bands[n]
        output, output_slope = outputs[band], output_slopes[band]
        value = _value(own, other, start, end, inputs, biases, output, sums)
        value = (value + output_biases[band]) * factors[n]
        expected = ONE / (ONE + np.float32(math.exp(-value)))
        error = expected - targets[n]
        loss += weights[n] * error * error
        slope = TWO * weights[n] * error * expected * (ONE - expected) * factors[n]
        output_bias_slopes[band] += slope
        for k in range(2 * hidden):
            clipped = min(max(sums[k], ZERO), ONE)
            output_slope[k] += slope * clipped * clipped
            is_between = ZERO < sums[k] < ONE
            sums[k] = TWO * slope * clipped * output[k] if is_between else ZERO
        for k in range(hidden):
            bias_slopes[k] += sums[k] + sums[hidden + k]
        for at in range(start, end):
            row = input_slopes[own[at]]
            for k in range(hidden):
                row[k] += sums[k]
        for at in range(start, end):
            row = input_slopes[other[at]]
            for k in range(hidden):
                row[k] += sums[hidden + k]
    return loss


@compiled
def _set_values(batch: Any, first: int, last: int, numbers: tuple[Floats, ...], values: Floats) -> None:
    """Set the values of the positions from `first` to before `last`."""
    own, other, starts, bands, factors, _, _ = batch
    inputs, biases, outputs, output_biases = numbers
    sums = np.empty(2 * len(biases), np.float32)
    for n in range(first, last):
        value = _value(own, other, starts[n], starts[n + 1], inputs, biases, outputs[bands[n]], sums)
        values[n] = (value + output_biases[bands[n]]) * factors[n]


@compiled
def _share(first: int, last: int, gradients: Floats, zones: int, size: int) -> None:
    """Add the gradients of all zones to those of each, for the inputs' weights from `first` to before `last`
    of the `size` of a zone.
    """
    for i in range(first, last):
        total = ZERO
        for n in range(len(gradients)):
            for zone in range(zones):
                total += gradients[n, zone * size + i]
        for zone in range(zones):
            gradients[0, zone * size + i] += total


@compiled
def _step(
    first: int,
    last: int,
    numbers: Floats,
    gradients: Floats,
    moments: Floats,
    size: float,
    rate: float,
    steps: int,
) -> None:
    """Move the numbers from `first` to before `last`, and clear their gradients, one row for each thread."""
    keep, keep_square = np.float32(FADES[0]), np.float32(FADES[1])
    scale = np.float32(rate / (1 - FADES[0] ** steps))
    square_scale = np.float32(1 / math.sqrt(1 - FADES[1] ** steps))
    kept, least = np.float32(1 - rate * DECAY), np.float32(LEAST)
    for i in range(first, last):
        gradient = ZERO
        for n in range(len(gradients)):
            gradient += gradients[n, i]
            gradients[n, i] = ZERO
        gradient /= np.float32(size)
        moments[0, i] = keep * moments[0, i] + (ONE - keep) * gradient
        moments[1, i] = keep_square * moments[1, i] + (ONE - keep_square) * gradient * gradient
        root = math.sqrt(moments[1, i]) * square_scale + least
        numbers[i] = kept * numbers[i] - scale * moments[0, i] / root


class Learner:
    """The numbers of a network, `numbers`, and the `moments` of their gradients [first or second, number],
    which it changes in place.
    """

    def __init__(self, sizes: Sizes, numbers: Floats, moments: Floats, threads: int) -> None:
        self.sizes, self.numbers, self.moments = sizes, numbers, moments
        self._gradients = np.zeros((threads, sizes.count), np.float32)
        self._pool = ThreadPoolExecutor(threads)

    def learn(self, batch: Batch, rate: float, steps: int) -> float:
        """Take a step, the one after `steps` - 1; returns the mean loss before it."""
        loss = self._add_gradients(batch)
        size = ZONE_INPUTS * self.sizes.hidden

        def share(part: tuple[int, int]) -> None:
            _share(*part, self._gradients, INPUTS // ZONE_INPUTS, size)

        def step(part: tuple[int, int]) -> None:
            _step(*part, self.numbers, self._gradients, self.moments, len(batch), rate, steps)

        list(self._pool.map(share, self._shares(size)))
        list(self._pool.map(step, self._shares(self.sizes.count)))
        self.sizes.clip(self.numbers)
        return loss

    def loss(self, batch: Batch) -> float:
        """The mean loss."""
        loss = self._add_gradients(batch)
        self._gradients[:] = 0
        return loss

    def values(self, batch: Batch) -> Floats:
        """The values of the positions, whose logistic function is the result expected."""
        found = np.empty(len(batch), np.float32)
        arrays, numbers = tuple(vars(batch).values()), self.sizes.parts(self.numbers)

        def find(part: tuple[int, int]) -> None:
            _set_values(arrays, *part, numbers, found)

        list(self._pool.map(find, self._shares(len(batch))))
        return found

    def _add_gradients(self, batch: Batch) -> float:
        arrays = tuple(vars(batch).values())
        numbers = self.sizes.parts(self.numbers)

        def add(n: int, part: tuple[int, int]) -> float:
            gradients = self.sizes.parts(self._gradients[n])
            loss: float = _add_gradients(arrays, *part, numbers, gradients)
            return loss

        shares = self._shares(len(batch))
        return sum(self._pool.map(add, range(len(shares)), shares)) / len(batch)

    def _shares(self, count: int) -> list[tuple[int, int]]:
        """What each thread does of so many."""
        threads = len(self._gradients)
        return [(count * n // threads, count * (n + 1) // threads) for n in range(threads)]
