"""bench/judge.py: the errors of networks in expecting the results of games."""

import re
from pathlib import Path
from typing import Any

import pytest

from search.nnue import network
from tests.stored import make_block, make_file, make_pile

pytestmark = pytest.mark.slow

np: Any = pytest.importorskip("numpy", reason="the train extra is not installed")
pytest.importorskip("numba", reason="the train extra is not installed")
pytest.importorskip("tabulate", reason="the train extra is not installed")

import dataset
import judge
import nets
import train


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_pile(tmp_path_factory.mktemp("pile"), 6, 20, plies=40)


@pytest.fixture(scope="module")
def points(games: Path) -> Any:
    """The points of the side to move in each position that can be learnt from."""
    rows = dataset.batches(dataset.Blocks([games]).places, 10**6, 0.0, dataset.Filters())
    return np.concatenate([row.points for row in rows])


def judged(games: Path, *networks: Path, capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    """The rows of the table."""
    assert judge.main([str(games), *map(str, networks)]) == 0
    return [re.split(r"\s{2,}", line.strip()) for line in capsys.readouterr().out.splitlines()[2:]]


def test_network_that_expects_nothing_errs_by_the_results_themselves(
    games: Path, points: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty.net"
    sizes = nets.Sizes(32, 8)
    network.write(empty, sizes.quantised(np.zeros(sizes.count, np.float32)))
    once, twice = judged(games, empty, empty, capsys=capsys)
    assert once == [str(empty), f"{((points - 0.5) ** 2).mean():.6f}"]
    assert twice == [*once, "+0 ± 0"]


def test_network_that_has_learnt_the_results_errs_less_whatever_its_scale(
    games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    zero, run, scaled_down = tmp_path / "zero.net", tmp_path / "run", tmp_path / "scaled.net"
    assert train.main(["--random", str(zero), "--hidden", "32"]) == 0
    words = [games, "--run", run, "--epochs", 20, "--batch", 32, "--hidden", 32, "--blend", 0]
    assert train.main([*map(str, words), "--share", "0.01", "--threads", "1"]) == 0
    sizes, numbers = nets.dequantised(network.read(str(run / "net.moff")))
    for part in sizes.parts(numbers)[2:]:
        part *= 0.5
    network.write(scaled_down, sizes.quantised(numbers))
    capsys.readouterr()
    before, learnt, smaller = judged(games, zero, run / "net.moff", scaled_down, capsys=capsys)
    assert float(learnt[1]) < float(before[1]) - 0.01
    found = re.fullmatch(r"-(\d+) ± (\d+)", learnt[2])
    assert found
    assert abs(int(found[1]) - 1e6 * (float(before[1]) - float(learnt[1]))) < 2
    assert 0 < int(found[2]) < int(found[1])
    assert float(smaller[1]) == pytest.approx(float(learnt[1]), abs=0.0005)


def test_one_block_of_games_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    alone = tmp_path / "alone.moff"
    make_file(alone, make_block(1, 0, 6, 40))
    assert judge.main([str(alone), "search/moff.net"]) == 2
    assert f"{alone} holds fewer than two blocks of games" in capsys.readouterr().err
