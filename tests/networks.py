"""Networks for the tests, and their evaluations."""

from array import array
from random import Random
from typing import Any

from search.nnue import network, select
from search.nnue.evaluate import Evaluation
from search.nnue.network import Weights
from x88.board import Board


def random_weights(
    hidden: int = 16, outputs: int = 3, seed: int = 0, inputs: int = network.MOST_INPUT
) -> Weights:
    """Random weights of the whole range, those of the inputs from -`inputs` to `inputs`."""
    chance = Random(seed)

    def numbers(kind: str, count: int, most: int) -> memoryview:
        return memoryview(array(kind, [chance.randint(-most, most) for _ in range(count)]))

    return Weights(
        hidden,
        outputs,
        numbers("h", network.INPUTS * hidden, inputs),
        numbers("h", hidden, inputs),
        numbers("h", 2 * outputs * hidden, min(network.MOST_OUTPUT, network.MOST_SUM // (2 * hidden))),
        numbers("i", outputs, network.MOST_BIAS),
    )


def zone(king: int) -> int:
    """The zone of a king's square, 0 to 63, as its own perspective sees it."""
    rank, file = divmod(king, 8)
    return min(rank + 1, 3) if rank else int(file >= 6)


def evaluation_of(board: Board, weights: Weights | None = None) -> Evaluation:
    """The evaluation at a position, by the network that Moff comes with if no other is given."""
    evaluation = Evaluation(select.layer(weights or select.shipped()))
    evaluation.reset(board)
    return evaluation


def outputs_of(sizes: Any, numbers: Any, rows: Any) -> Any:
    """The outputs of a network in floating point (bench/nets.py) for positions, one after the other."""
    import numpy as np

    inputs, biases, outputs, output_biases = sizes.parts(numbers.astype(float))
    found = []
    for start, pieces in zip(rows.starts, rows.pieces, strict=True):
        at = slice(start, start + pieces)
        hidden = np.concatenate([inputs[view[at]].sum(0) + biases for view in (rows.own, rows.other)])
        band = network.band(int(pieces), sizes.outputs)
        found.append(np.clip(hidden, 0, 1) ** 2 @ outputs[band] + output_biases[band])
    return np.array(found)
