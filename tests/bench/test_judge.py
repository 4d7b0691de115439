"""bench/judge.py: the errors of networks in expecting the results of games."""

import re
from pathlib import Path
from typing import Any

import pytest

from search.nnue import network
from tests.bench.test_dataset import references
from tests.networks import evaluation_of
from tests.stored import games as games_of
from tests.stored import make_block, make_file, make_pile
from x88.notation import fen

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


def test_value_of_a_position_is_that_of_the_evaluation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    block = make_block(3, 0, 9, 300)
    places = dataset.Blocks([make_file(tmp_path / "games.moff", block)]).places
    rows = dataset.batches(places, block.usable, 0.0, dataset.Filters())
    monkeypatch.setattr(judge, "fitted", lambda values, points: values)
    found = judge.errors(network.read("search/moff.net"), list(rows)) * network.SCALE
    positions = [row for row in references(games_of(block.inflated(), block.games)) if row.is_usable()]
    evaluation = evaluation_of(fen.parse(fen.START))
    compared = []
    for row, value in zip(positions, found, strict=True):
        board = fen.parse(f"{row.board} {'b' if row.black else 'w'} - - 0 1")
        evaluation.reset(board)
        expected = evaluation.value(board)
        # The rules of endings change the values of drawn ones and those against a bare king.
        if expected and abs(expected) < 10000 and not has_bare_king(row.board):
            assert value == pytest.approx(expected, abs=4), row.board  # the rounding of weights
            compared.append(row)
    zones = {(row.black, min(row.own) // network.ZONE_INPUTS) for row in compared}
    assert zones == {(black, zone) for black in (False, True) for zone in range(4)}
    assert {(len(row.own) - 1) * judge.BANDS // 32 for row in compared} == set(range(judge.BANDS))


def has_bare_king(board: str) -> bool:
    return any(sum(map(str.isalpha, filter(case, board))) == 1 for case in (str.isupper, str.islower))


@pytest.mark.parametrize("scale", [0.1, 1, 30])
def test_errors_are_the_least_that_a_factor_gives(scale: float) -> None:
    values, points = scale * np.array([-3.0, -2, 1, 2, 4]), np.array([0, 1, 0.5, 0, 1])
    least = min(
        ((1 / (1 + np.exp(-factor * values)) - points) ** 2).mean()
        for factor in np.arange(0, 20, 0.01) / scale
    )
    assert judge.fitted(values, points).mean() == pytest.approx(least, abs=1e-5)


def test_one_block_of_games_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    alone = tmp_path / "alone.moff"
    make_file(alone, make_block(1, 0, 6, 40))
    assert judge.main([str(alone), "search/moff.net"]) == 2
    assert f"{alone} holds fewer than ten blocks of games" in capsys.readouterr().err
