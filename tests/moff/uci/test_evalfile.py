"""EvalFile: another network evaluates, and one that cannot be read leaves the old one."""

from collections.abc import Callable
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
    """What `eval` shows."""
    moff.ready()
    moff.send("eval")
    return moff.ready()


def test_another_network_evaluates_until_the_option_is_empty(moff: Conversation, other: Path) -> None:
    first = evaluated(moff)
    moff.send(f"setoption name EvalFile value {other}")
    second = evaluated(moff)
    assert second != first
    assert sum(" pieces " in line for line in second) == 2
    assert any(line.startswith("17 to 32 pieces") and "this position" in line for line in second)
    moff.send("compiler")
    assert any("network of 16 hidden neurons" in line for line in moff.ready())
    moff.send("setoption name EvalFile value <empty>")
    assert evaluated(moff) == first


def cut(data: bytes) -> bytes:
    return data[:-1]


def foreign(_: bytes) -> bytes:
    return b"NNUE" * 100


def damaged(data: bytes) -> bytes:
    return data[:1000] + bytes([data[1000] ^ 1]) + data[1001:]


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (cut, "bytes instead of"),
        (foreign, "is not a network"),
        (damaged, "is damaged"),
        (None, "No such file"),
    ],
)
def test_a_network_that_cannot_be_read_is_told_and_the_old_one_stays(
    moff: Conversation, other: Path, spoil: Callable[[bytes], bytes] | None, reason: str
) -> None:
    first = evaluated(moff)
    if spoil:
        other.write_bytes(spoil(other.read_bytes()))
    else:
        other.unlink()
    moff.send(f"setoption name EvalFile value {other}")
    (told,) = moff.ready()
    assert "EvalFile" in told
    assert reason in told
    assert evaluated(moff) == first


def test_an_impossible_name_is_told_with_the_option(moff: Conversation) -> None:
    moff.ready()
    moff.send("setoption name EvalFile value a\0b")
    (told,) = moff.ready()
    assert told.startswith("info string setoption: EvalFile: ")


def test_without_memory_for_all_threads_the_old_one_stays_in_all(
    other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = Search(1, threads=2)
    search.think(fen.parse(fen.START), Limits(depth=2))
    weights = search.weights()
    made = 0
    true_layer = select.layer

    def layer(weights: network.Weights) -> Layer:
        nonlocal made
        made += 1
        if made == 2:
            raise MemoryError("no room")
        return true_layer(weights)

    monkeypatch.setattr(select, "layer", layer)
    with pytest.raises(MemoryError):
        search.use_network(str(other))
    assert made == 2
    assert search.weights() is weights
    search.resize_pool(1)
    search.forget()
    limits = Limits(depth=4)
    new = Search(1)
    assert search.think(fen.parse(fen.START), limits).nodes == new.think(fen.parse(fen.START), limits).nodes


def test_the_same_network_again_forgets_nothing(moff: Conversation) -> None:
    """Graphical interfaces send every option with its default."""
    moff.send("go depth 4")
    first = nodes_of(moff.until("bestmove"), 2)
    moff.send("setoption name EvalFile value <empty>", "go depth 4")
    assert nodes_of(moff.until("bestmove"), 2) < first


def test_during_a_search_it_takes_effect_after_it(moff: Conversation, other: Path) -> None:
    first = evaluated(moff)
    moff.send("go infinite", f"setoption name EvalFile value {other}", "stop")
    moff.until("bestmove ")
    assert evaluated(moff) != first


def test_the_network_that_comes_with_moff_is_small_enough() -> None:
    shipped = Path(select.__file__).parent.with_name("moff.net")
    assert shipped.stat().st_size < 1_500_000
    assert select.shipped() is select.shipped(), "read once"
