"""EvalFile: another network evaluates, and one that cannot be read leaves the old one."""

from collections.abc import Callable
from pathlib import Path

import pytest

from search import inference, network
from tests.client import Conversation
from tests.networks import random_weights


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
    assert any("output 2 of 2" in line for line in second)
    moff.send("compiler")
    assert any("network of 16 hidden numbers" in line for line in moff.ready())
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
    assert "EvalFile" in told or other.name in told
    assert reason in told
    assert evaluated(moff) == first


def test_during_a_search_it_takes_effect_after_it(moff: Conversation, other: Path) -> None:
    first = evaluated(moff)
    moff.send("go infinite", f"setoption name EvalFile value {other}", "stop")
    moff.until("bestmove ")
    assert evaluated(moff) != first


def test_the_network_that_comes_with_moff_is_small_enough() -> None:
    shipped = Path(inference.__file__).with_name("moff.net")
    assert shipped.stat().st_size < 1_500_000
    assert inference.shipped() is inference.shipped(), "read once"
