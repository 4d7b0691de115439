"""A network (`search.nnue.network`) in floating point, to train it: its numbers, and batches of positions."""

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from dataset import Rows

from search.nnue import network
from search.nnue.evaluate import FULL_MATERIAL, MATERIAL_STEP

MOST_WEIGHT = network.MOST_OUTPUT / network.OUTPUT_SCALE
"""Weights are clipped to this during training, so that they can be quantised."""

DIFFERENCE = 0.1
"""The standard deviation of what is added to the input weights of each copy, relative to theirs."""

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Sizes:
    """The sizes of a network. Its numbers are one array: the weights and biases of the inputs, then those of
    the outputs, in the order of the file.
    """

    hidden: int
    outputs: int

    def __post_init__(self) -> None:
        network.check_sizes(self.hidden, self.outputs)

    @property
    def count(self) -> int:
        """How many numbers there are."""
        return (network.INPUTS + 1) * self.hidden + (2 * self.hidden + 1) * self.outputs

    @property
    def most_sum(self) -> float:
        """The weights of an output are scaled down if the positive or the negative ones add up to more than
        this: the largest sum, less their rounding.
        """
        return (network.MOST_SUM - 2 * self.hidden) / network.OUTPUT_SCALE

    def parts(self, numbers: Any) -> Any:
        """Views of the input weights [input, hidden], their biases [hidden], the output weights [output,
        2 * hidden], the side to move first, and their biases [output]. The output times network.SCALE is in
        centipawns. `numbers` may be a tensor.
        """
        inputs = network.INPUTS * self.hidden
        outputs = inputs + self.hidden
        biases = self.count - self.outputs
        return (
            numbers[:inputs].reshape(network.INPUTS, self.hidden),
            numbers[inputs:outputs],
            numbers[outputs:biases].reshape(self.outputs, 2 * self.hidden),
            numbers[biases:],
        )

    def random(self, seed: int) -> Floats:
        """The numbers of a network that has learnt nothing."""
        numbers = np.zeros(self.count, np.float32)
        chance = np.random.default_rng(seed)
        inputs, _, outputs, _ = self.parts(numbers)
        zones = inputs.reshape(-1, network.ZONE_INPUTS, self.hidden)
        zones[:] = chance.uniform(-0.18, 0.18, zones[0].shape)  # up to 32 inputs are 1
        most = (2 * self.hidden) ** -0.5
        outputs[:] = chance.uniform(-most, most, outputs.shape)
        return numbers

    def clip(self, numbers: Floats) -> None:
        """Bring the weights into the range that can be quantised."""
        *weights, _ = self.parts(numbers)
        for part in weights:
            np.clip(part, -MOST_WEIGHT, MOST_WEIGHT, out=part)
        sums = (np.abs(weights[2]).sum(1, keepdims=True) + np.abs(weights[2].sum(1, keepdims=True))) / 2
        weights[2] *= self.most_sum / np.maximum(sums, self.most_sum)

    def quantised(self, numbers: Floats) -> network.Weights:
        """The numbers as integers."""
        scales = (network.INPUT_SCALE, network.INPUT_SCALE, network.OUTPUT_SCALE, network.UNIT)
        parts = zip(self.parts(numbers), scales, strict=True)
        rounded = (
            np.rint(part.ravel().astype(np.float64) * scale).astype(int).tolist() for part, scale in parts
        )
        return network.Weights(self.hidden, self.outputs, *rounded)


def dequantised(weights: network.Weights) -> tuple[Sizes, Floats]:
    """The sizes and numbers of a quantised network in floating point. `Sizes.quantised` finds the same
    integers again, but for the last bits of a large output bias.
    """
    sizes = Sizes(*weights[:2])
    numbers = np.empty(sizes.count, np.float32)
    scales = (network.INPUT_SCALE, network.INPUT_SCALE, network.OUTPUT_SCALE, network.UNIT)
    for part, found, scale in zip(sizes.parts(numbers), weights[2:], scales, strict=True):
        part[:] = (np.array(found, np.float64) / scale).reshape(part.shape)
    return sizes, numbers


def widened(sizes: Sizes, numbers: Floats, hidden: int, seed: int) -> Floats:
    """The numbers of a network with several copies of each hidden neuron, which differ a little; the same
    numbers if it has as many as asked for.
    """
    copies = hidden // sizes.hidden
    if copies == 1:
        return numbers
    wider = Sizes(hidden, sizes.outputs)
    found = np.empty(wider.count, np.float32)
    inputs, biases, outputs, output_biases = sizes.parts(numbers)
    wide = np.tile(inputs, copies)
    noise = np.random.default_rng(seed).standard_normal(wide.shape) * DIFFERENCE * inputs.std()
    views = outputs.reshape(sizes.outputs, 2, sizes.hidden)
    parts = (wide + noise, np.tile(biases, copies), np.tile(views, copies) / copies, output_biases)
    for part, given in zip(wider.parts(found), parts, strict=True):
        part[:] = given.reshape(part.shape)
    return found


def checksum(numbers: Floats) -> int:
    """The CRC-32 of a network's numbers."""
    return zlib.crc32(numbers.tobytes())


@dataclass
class Batch:
    """Positions as input to the network: the inputs of either perspective that are 1, that of the side to
    move first; where each position begins in both, and the end of the last one; their outputs; the factors
    of their values, their targets, and their weights.
    """

    own: Ints
    other: Ints
    starts: Ints
    bands: Ints
    factors: Floats
    targets: Floats
    weights: Floats

    def __len__(self) -> int:
        return len(self.bands)


def batch_of(rows: Rows, blend: float, outputs: int, weights: Floats) -> Batch:
    """These positions. The targets are a blend of the results expected from the scores and those of the
    games; `weights` are those of positions by their number of pieces.
    """
    bands = np.array([0, *(network.band(count, outputs) for count in range(1, 33))], np.int32)
    factors = (1 + MATERIAL_STEP / 1024 * (rows.material - FULL_MATERIAL)).astype(np.float32)
    targets = (blend * rows.expected + (1 - blend) * rows.points).astype(np.float32)
    starts = np.append(rows.starts, len(rows.own)).astype(np.int32)
    return Batch(rows.own, rows.other, starts, bands[rows.pieces], factors, targets, weights[rows.pieces])
