"""The network of `search.nnue.network` in floating point, to train it: quantised, read, widened."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from dataset import Rows
from torch.nn import functional

from search.nnue import network
from search.nnue.evaluate import FULL_MATERIAL, MATERIAL_STEP

MOST_WEIGHT = network.MOST_OUTPUT / network.OUTPUT_SCALE
"""Weights are clipped to this during training, so that they can be quantised."""

MOST_SUM = network.MOST_SUM / network.OUTPUT_SCALE
"""The weights of an output are scaled down if their absolute values add up to more than this, less their
rounding.
"""

DIFFERENCE = 0.1
"""The standard deviation of what is added to the input weights of each copy, relative to theirs."""


@dataclass
class Batch:
    """Positions as input to the network, the factors of its values, its targets, and their weights."""

    perspectives: list[torch.Tensor]
    starts: torch.Tensor
    bands: torch.Tensor
    factors: torch.Tensor
    targets: torch.Tensor
    weights: torch.Tensor


def batch_of(rows: Rows, blend: float, outputs: int, weights: npt.NDArray[np.float32], device: str) -> Batch:
    """These positions, on a device. The targets are a blend of the results expected from the scores and
    those of the games; `weights` are those of positions by their number of pieces.
    """
    bands = np.array([0, *(network.band(count, outputs) for count in range(1, 33))])
    factors = (1 + MATERIAL_STEP / 1024 * (rows.material - FULL_MATERIAL)).astype(np.float32)
    targets = (blend * rows.expected + (1 - blend) * rows.points).astype(np.float32)
    found = (rows.own, rows.other, rows.starts, bands[rows.pieces], factors, targets, weights[rows.pieces])
    own, other, *others = (torch.from_numpy(numbers).to(device) for numbers in found)
    return Batch([own, other], *others)


class Net(torch.nn.Module):
    """The network in floating point. Its output times network.SCALE is a value in centipawns."""

    def __init__(self, hidden: int, outputs: int) -> None:
        super().__init__()
        self.inputs = torch.nn.EmbeddingBag(network.INPUTS, hidden, mode="sum")
        self.biases = torch.nn.Parameter(torch.zeros(hidden))
        self.outputs = torch.nn.Linear(2 * hidden, outputs)
        torch.nn.init.uniform_(self.inputs.weight, -0.18, 0.18)  # up to 32 inputs are 1
        torch.nn.init.zeros_(self.outputs.bias)
        self.rounds = False
        """Whether it computes with its weights rounded as in the file."""

    def forward(self, batch: Batch) -> torch.Tensor:
        """The output for each position."""
        inputs = self._shown(self.inputs.weight, network.INPUT_SCALE)
        biases = self._shown(self.biases, network.INPUT_SCALE)
        outputs = self._shown(self.outputs.weight, network.OUTPUT_SCALE)
        views = batch.perspectives
        sums = [functional.embedding_bag(view, inputs, batch.starts, mode="sum") for view in views]
        hidden = [torch.clamp(found + biases, 0, 1) ** 2 for found in sums]
        found = functional.linear(torch.cat(hidden, 1), outputs, self.outputs.bias)
        chosen: torch.Tensor = found.gather(1, batch.bands[:, None])[:, 0]
        return chosen

    def _shown(self, numbers: torch.Tensor, scale: int) -> torch.Tensor:
        """The weights to compute with, rounded or not; the gradients are those of the weights either way."""
        if not self.rounds:
            return numbers
        return numbers + (torch.round(numbers * scale) / scale - numbers).detach()

    def clip(self) -> None:
        """Keep the weights in the range that can be quantised."""
        with torch.no_grad():
            for weights in (self.inputs.weight, self.biases, self.outputs.weight):
                weights.clamp_(-MOST_WEIGHT, MOST_WEIGHT)
            weights = self.outputs.weight
            most = MOST_SUM - weights.shape[1] / network.OUTPUT_SCALE
            weights.mul_(torch.clamp(most / weights.abs().sum(1, keepdim=True), max=1))


def quantised(net: Net) -> network.Weights:
    """The network's weights as integers."""

    def rounded(numbers: torch.Tensor, scale: int) -> list[int]:
        found: list[int] = torch.round(numbers.detach().double().cpu() * scale).long().flatten().tolist()
        return found

    return network.Weights(
        net.inputs.embedding_dim,
        net.outputs.out_features,
        rounded(net.inputs.weight, network.INPUT_SCALE),
        rounded(net.biases, network.INPUT_SCALE),
        rounded(net.outputs.weight, network.OUTPUT_SCALE),
        rounded(net.outputs.bias, network.UNIT),
    )


def values(weights: network.Weights, batch: Batch) -> npt.NDArray[np.int64]:
    """The values in centipawns of a quantised network, as search/nnue/network.py defines them."""
    hidden, outputs = weights.hidden, weights.outputs
    rows = np.array(weights.inputs, np.int64).reshape(-1, hidden)
    starts = batch.starts.cpu().numpy()
    squares = []
    for perspective in batch.perspectives:
        sums = np.add.reduceat(rows[perspective.cpu().numpy()], starts) + np.array(weights.input_biases)
        squares.append(np.clip(sums, 0, network.INPUT_SCALE) ** 2 // 4)
    bands = batch.bands.cpu().numpy()
    chosen = np.array(weights.output_weights, np.int64).reshape(outputs, 2 * hidden)[bands]
    sums = (np.concatenate(squares, 1) * chosen).sum(1) + np.array(weights.output_biases)[bands]
    found: npt.NDArray[np.int64] = sums * network.SCALE // network.UNIT
    return found


def dequantised(weights: network.Weights) -> dict[str, torch.Tensor]:
    """The weights of a quantised network in floating point. `quantised` finds the same integers again, but
    for the last bits of a large output bias.
    """

    def numbers(found: Sequence[int], scale: int, *shape: int) -> torch.Tensor:
        return (torch.tensor(list(found), dtype=torch.double) / scale).float().reshape(shape)

    hidden, outputs = weights.hidden, weights.outputs
    return {
        "inputs.weight": numbers(weights.inputs, network.INPUT_SCALE, network.INPUTS, hidden),
        "biases": numbers(weights.input_biases, network.INPUT_SCALE, hidden),
        "outputs.weight": numbers(weights.output_weights, network.OUTPUT_SCALE, outputs, 2 * hidden),
        "outputs.bias": numbers(weights.output_biases, network.UNIT, outputs),
    }


def widened(numbers: dict[str, torch.Tensor], hidden: int, seed: int) -> dict[str, torch.Tensor]:
    """The weights of a network with several copies of each hidden neuron, which differ a little; the same
    weights if it has as many as asked for.
    """
    copies = hidden // len(numbers["biases"])
    if copies == 1:
        return numbers
    chance = torch.Generator().manual_seed(seed)
    inputs, outputs = numbers["inputs.weight"], numbers["outputs.weight"]
    wide = inputs.repeat(1, copies)
    noise = torch.randn(wide.shape, generator=chance) * DIFFERENCE * inputs.std()
    own, other = outputs.chunk(2, dim=1)
    return {
        **numbers,
        "inputs.weight": wide + noise,
        "biases": numbers["biases"].repeat(copies),
        "outputs.weight": torch.cat([own.repeat(1, copies), other.repeat(1, copies)], 1) / copies,
    }


def mean(one: network.Weights, other: network.Weights, name: str) -> network.Weights:
    """The mean of the weights of two networks of the same sizes, rounded; halves to the even number. Raises
    ValueError, which names the other one, if their sizes differ.
    """
    if one[:2] != other[:2]:
        raise ValueError(
            f"{name} has {other.hidden} hidden neurons and {other.outputs} outputs, the run {one.hidden} and "
            f"{one.outputs}: they have no mean"
        )
    found: list[list[int]] = [
        np.rint((np.array(first, np.float64) + np.array(second, np.float64)) / 2).astype(np.int64).tolist()
        for first, second in zip(one[2:], other[2:], strict=True)
    ]
    return network.Weights(one.hidden, one.outputs, *found)


def checksum(numbers: dict[str, torch.Tensor]) -> int:
    """The CRC-32 of a network's weights in floating point."""
    found = 0
    for name in sorted(numbers):
        found = zlib.crc32(numbers[name].numpy().tobytes(), found)
    return found
