"""EvalFile: another network evaluates, and one that cannot be read leaves the old one."""

import errno
import os
from pathlib import Path

import pytest

from search.limits import Limits
from search.nnue import network, select
from search.nnue.layer import Layer
from search.search import Search
from tests.client import Conversation, nodes_of
from tests.networks import random_weights
from x88.notation import fen

pytestmark = pytest.mark.slow


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A network unlike the one that comes with Moff."""
    path = tmp_path / "other net.net"  # names of files have spaces
    network.write(path, random_weights(16, 2, inputs=100))
    return path


def evaluated(moff: Conversation) -> list[str]:
    """The lines of `eval`."""
    moff.ready()
    moff.send("eval")
    return moff.ready()


def test_another_network_evaluates_after_the_search_until_the_option_is_empty(
    moff: Conversation, other: Path
) -> None:
    first = evaluated(moff)
    moff.send("go infinite", f"setoption name EvalFile value {other}", "stop")
    moff.until("bestmove ")
    second = evaluated(moff)
    assert second != first
    assert sum(" pieces " in line for line in second) == 2
    assert any(line.startswith("17 to 32 pieces") and "this position" in line for line in second)
    moff.send("compiler")
    assert any("network of 16 hidden neurons" in line for line in moff.ready())
    moff.send("setoption name EvalFile value <empty>")
    assert evaluated(moff) == first


def test_an_unreadable_network_is_named_and_the_old_one_stays(moff: Conversation, other: Path) -> None:
    first, whole = evaluated(moff), other.read_bytes()
    for path, data, reason in (
        (other, whole[:-1], "bytes instead of"),
        (other, b"NNUE" * 100, "is not a network"),
        (other, whole[:1000] + bytes([whole[1000] ^ 1]) + whole[1001:], "is damaged"),
        (other.with_name("missing.net"), b"", f"missing.net': {os.strerror(errno.ENOENT)}"),
        ("a\0b", b"", "null"),
    ):
        other.write_bytes(data)
        moff.send(f"setoption name EvalFile value {path}")
        (answer,) = moff.ready()
        assert answer.startswith("info string setoption: EvalFile")
        assert reason in answer
        assert evaluated(moff) == first


def test_without_memory_for_all_threads_the_old_one_stays_in_all(
    other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = Search(1, threads=2)
    search.think(fen.parse(fen.START), Limits(depth=2))
    weights = search.weights()
    layers = [select.layer(network.read(str(other)))]

    def layer(_weights: network.Weights) -> Layer:
        if not layers:
            raise MemoryError("no room")
        return layers.pop()

    monkeypatch.setattr(select, "layer", layer)
    with pytest.raises(MemoryError):
        search.use_network(str(other))
    assert not layers
    monkeypatch.undo()
    assert search.weights() is weights
    search.resize_pool(1)
    search.forget()
    nodes = [engine.think(fen.parse(fen.START), Limits(depth=4)).nodes for engine in (search, Search(1))]
    assert nodes[0] == nodes[1]


def test_the_same_network_again_forgets_nothing(moff: Conversation) -> None:
    """Graphical interfaces send every option with its default."""
    moff.send("go depth 4")
    first = nodes_of(moff.until("bestmove"), 2)
    moff.send("setoption name EvalFile value <empty>", "go depth 4")
    assert nodes_of(moff.until("bestmove"), 2) < first


def test_the_network_of_moff_is_small_and_read_once() -> None:
    assert Path(select.__file__).parent.with_name("moff.net").stat().st_size < 5_000_000
    assert select.shipped() is select.shipped()
