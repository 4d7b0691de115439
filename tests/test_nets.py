"""bench/nets.py: a network in floating point and its weights as integers."""

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from search import network
from tests.networks import random_weights

pytest.importorskip("numpy", reason="the train extra is not installed")
torch: Any = pytest.importorskip("torch", reason="the train extra is not installed")

sys.path.append(str(Path(__file__).resolve().parent.parent / "bench"))
nets: Any = importlib.import_module("nets")


def test_however_large_weights_grow_they_can_be_exported(tmp_path: Path) -> None:
    net = nets.Net(256, 2)
    with torch.no_grad():
        for numbers in net.parameters():
            numbers.fill_(9)
        net.outputs.weight[1] = 0
    net.clip()
    network.write(tmp_path / "net", nets.quantised(net))
    weights = network.read(tmp_path / "net").output_weights
    assert network.MOST_SUM - 2 * 512 <= sum(weights) <= network.MOST_SUM
    assert not any(weights[512:])


def test_a_network_in_floating_point_is_quantised_to_the_same_weights() -> None:
    weights = random_weights()._replace(output_biases=[-(1 << 20), 0, 1])
    net = nets.Net(weights.hidden, weights.outputs)
    net.load_state_dict(nets.dequantised(weights))
    assert [list(found) for found in nets.quantised(net)[2:]] == [list(given) for given in weights[2:]]
