"""bench/nets.py: a network in floating point and its weights as integers."""

from pathlib import Path
from random import Random
from typing import Any

import chess
import pytest

from search.nnue import network, select
from search.nnue.accumulators import Accumulators
from tests.bench.test_dataset import Reference
from tests.networks import outputs_of, random_weights
from tests.oracle import scaled
from tests.stored import Stored
from x88.notation import fen

pytestmark = pytest.mark.slow

np: Any = pytest.importorskip("numpy", reason="the train extra is not installed")

import dataset
import nets


def row_of(board: chess.Board) -> Any:
    """A position as a network takes it."""
    position = Reference(board, 0, 0, Stored(board, [], 0, [], 1), chess.Move.null())
    own, other = (np.array(sorted(inputs), np.int32) for inputs in (position.own, position.other))
    one = np.ones(1, np.int32)
    return dataset.Rows(own, other, 0 * one, len(own) * one, position.points * one, one / 2, one / 2)


def test_weights_of_any_size_can_be_exported(tmp_path: Path) -> None:
    sizes = nets.Sizes(256, 2)
    numbers = np.full(sizes.count, 9, np.float32)
    sizes.parts(numbers)[2][1, 1::2] = -9
    sizes.clip(numbers)
    network.write(tmp_path / "net", sizes.quantised(numbers))
    weights = network.read(tmp_path / "net").output_weights
    for row, sign in ((weights[:512], 1), (weights[512:], 1), (weights[512:], -1)):
        same = sum(sign * number for number in row if sign * number > 0)
        assert network.MOST_SUM - 2 * 512 <= same <= network.MOST_SUM


def test_quantising_gives_the_weights_back() -> None:
    weights = random_weights()._replace(output_biases=[-(1 << 20), 0, 1])
    sizes, numbers = nets.dequantised(weights)
    assert [list(found) for found in sizes.quantised(numbers)[2:]] == [list(given) for given in weights[2:]]


def test_shipped_network_in_floating_point_is_within_two_centipawns_of_the_engine() -> None:
    weights = select.shipped()
    sizes, numbers = nets.dequantised(weights)
    accumulators = Accumulators(select.layer(weights))
    chance = Random(5)
    board = chess.Board()
    rows, found = [], []
    for _ in range(scaled(3_000, 1_000)):
        if board.is_game_over():
            board.reset()
        board.push(chance.choice(list(board.legal_moves)))
        rows.append(row_of(board))
        ours = fen.parse(board.fen())
        accumulators.reset(ours)
        found.append(accumulators.value(ours))
    exact = [float(outputs_of(sizes, numbers, row)[0]) * network.SCALE for row in rows]
    assert len(set(found)) > len(found) / 4
    assert max(abs(value - number) for value, number in zip(found, exact, strict=True)) < 2
