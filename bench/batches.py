"""Positions of bench/recordfile.py in batches: the inputs and targets of a network in training.

`shuffled` yields the records of an epoch in batches, and `batch_of` turns one into what the network of
bench/nets.py takes.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import recordfile
import torch
from recordfile import BLACK_TO_MOVE, NO_RESULT, RESULT_SHIFT, Records

from search import network
from search.evaluate import FULL_MATERIAL, MATERIAL_STEP

TOGETHER = 64
"""Blocks of a batch's size that are shuffled together."""

MOST_SCORE = 32767
"""A record's score has 16 bits."""

POINTS = np.array([1, 3, 3, 5, 9, 1, 0, 0])
"""The material of each kind of piece, as in search.evaluate.material_points; the last: empty squares."""

Inputs = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]


def inputs_of(records: Records) -> Inputs:
    """The inputs that are 1, of the side to move and of the other side, one position after the other, and
    where each position begins in both.
    """
    cells = recordfile.unpack(records)
    rows, squares = np.nonzero(cells != recordfile.VACANT)
    codes = cells[rows, squares].astype(np.int64)
    kinds, colours = codes & 7, codes >> 3
    movers = (records["state"] & BLACK_TO_MOVE).astype(np.int64)
    perspectives = []
    for perspective in range(2):
        sides = movers ^ perspective  # the side of the perspective, by position
        own = colours == sides[rows]
        seen = squares ^ 56 * sides[rows]
        kings = seen[own & (kinds == 5)]  # one in every position, in their order
        seen = seen ^ np.where(kings & 7 < 4, 7, 0)[rows]
        perspectives.append(384 * ~own + 64 * kinds + seen)
    starts = np.searchsorted(rows, np.arange(len(records)))
    return perspectives[0], perspectives[1], starts


def targets_of(records: Records, blend: float, scale: float) -> npt.NDArray[np.float32]:
    """The targets of the network, from 0 to 1: a blend of the score's expectation and the result; without a
    result, the former alone. In the score, `scale` centipawns multiply the odds by e.
    """
    results = records["state"] >> RESULT_SHIFT & 3
    scores = 1 / (1 + np.exp(-records["score"].astype(np.float64) / scale))
    blended = blend * scores + (1 - blend) * results / 2
    found: npt.NDArray[np.float32] = np.where(results == NO_RESULT, scores, blended).astype(np.float32)
    return found


def factors_of(records: Records) -> npt.NDArray[np.float32]:
    """The factors by which the search multiplies the network's values: the more material, the larger."""
    points = POINTS[recordfile.unpack(records) & 7].sum(1)
    found: npt.NDArray[np.float32] = (1 + MATERIAL_STEP / 1024 * (points - FULL_MATERIAL)).astype(np.float32)
    return found


@dataclass
class Batch:
    """Positions as input to the network, the factors of its values in the search, and its targets."""

    perspectives: list[torch.Tensor]
    starts: torch.Tensor
    bands: torch.Tensor
    factors: torch.Tensor
    targets: torch.Tensor


def batch_of(records: Records, blend: float, scale: float, outputs: int, device: str) -> Batch:
    """These positions, on a device."""
    own, other, starts = inputs_of(records)
    pieces = np.diff(starts, append=len(own))
    bands = np.array([0, *(network.band(count, outputs) for count in range(1, 33))])
    return Batch(
        [torch.from_numpy(own).to(device), torch.from_numpy(other).to(device)],
        torch.from_numpy(starts).to(device),
        torch.from_numpy(bands[pieces]).to(device),
        torch.from_numpy(factors_of(records)).to(device),
        torch.from_numpy(targets_of(records, blend, scale)).to(device),
    )


@dataclass(frozen=True)
class Source:
    """Records, and by what their scores are multiplied to be on the scale of the run."""

    records: Records
    factor: float = 1.0

    def __len__(self) -> int:
        return len(self.records)

    def all(self) -> Records:
        """All records, with their scores on the scale of the run."""
        return self.block(0, len(self))

    def block(self, first: int, size: int) -> Records:
        """Some of the records, with their scores on the scale of the run."""
        rows = self.records[first : first + size]
        if self.factor != 1:
            rows = rows.copy()
            scores = np.rint(rows["score"].astype(np.float64) * self.factor)
            rows["score"] = np.clip(scores, -MOST_SCORE, MOST_SCORE)
        return rows


def shuffled(files: list[Source], size: int, seed: int, epoch: int) -> Iterator[Records]:
    """The records of an epoch in batches: the blocks of all files in random order, each shuffled with its
    neighbours. A last, incomplete batch is left out.
    """
    chance = np.random.default_rng([seed, epoch])
    blocks = [(number, first) for number, file in enumerate(files) for first in range(0, len(file), size)]
    order = chance.permutation(len(blocks))
    rest = files[0].records[:0]
    for at in range(0, len(order), TOGETHER):
        chosen = [blocks[index] for index in order[at : at + TOGETHER]]
        mixed = np.concatenate([rest, *(files[number].block(first, size) for number, first in chosen)])
        mixed = mixed[chance.permutation(len(mixed))]
        whole = len(mixed) // size * size
        for begin in range(0, whole, size):
            yield mixed[begin : begin + size]
        rest = mixed[whole:]
