"""bench/wdl.py: it recovers the numbers of a known model."""

import re
from pathlib import Path
from random import Random
from typing import Any

import pytest

from search.score import NORMAL_PAWN
from tests.stored import game_of, make_file, make_games

np: Any = pytest.importorskip("numpy", reason="the tuning extra is not installed")
pytest.importorskip("scipy", reason="the tuning extra is not installed")
pytest.importorskip("tabulate", reason="the tuning extra is not installed")

import dataset
import gamefile
import wdl


def drawn_from(even: float, spread: float, count: int, seed: int = 0) -> Any:
    """Counts of positions whose results come from the model with these numbers."""
    chance = np.random.default_rng(seed)
    scores = chance.integers(-400, 401, count)
    win = 1 / (1 + np.exp((even - scores) / spread))
    loss = 1 / (1 + np.exp((even + scores) / spread))
    luck = chance.random(count)
    results = np.where(luck < win, 2, np.where(luck > 1 - loss, 0, 1))
    counts = np.zeros((2 * wdl.BOUND + 1, 3), np.int64)
    np.add.at(counts, (scores + wdl.BOUND, results), 1)
    return counts


@pytest.mark.parametrize(("even", "spread"), [(106, 109), (250, 60), (40, 30)])
def test_fit_recovers_the_numbers_of_a_model(even: float, spread: float) -> None:
    found = wdl.fit(drawn_from(even, spread, 200_000))
    assert found[0] == pytest.approx(even, rel=0.03)
    assert found[1] == pytest.approx(spread, rel=0.03)


def test_count_sorts_positions_by_move_score_and_result(tmp_path: Path) -> None:
    (made,) = make_games(1, 4, plies=80)
    size = len(made["scores"])
    made["scores"] = [0, -399, 399, 1995, 1997, 31990, *[0] * (size - 6)]
    path = make_file(tmp_path / "a.moff", gamefile.packed(1, 0, {}, [game_of(made)]))
    counts = wdl.count(dataset.Blocks([path]))
    assert counts.sum() == size - 2, "without decided positions and mates"
    for n, score in ((1, -300), (2, 300), (3, wdl.BOUND)):
        ply = made["opening"] + n
        sign, result = (1, made["result"]) if ply % 2 == 0 else (-1, 2 - made["result"])
        assert counts[ply // 2 + 1, sign * score + wdl.BOUND, result] >= 1


def test_report_has_rows_by_move_and_the_normal_pawn_by_move_32() -> None:
    counts = np.zeros((wdl.LAST + 1, 2 * wdl.BOUND + 1, 3), np.int64)
    counts[5] = drawn_from(150, 100, 50_000)
    counts[32] = drawn_from(80, 100, 50_000)
    lines = wdl.report(counts, 10).splitlines()
    rows = {" ".join(line.split()[:-3]): line.split()[-3:] for line in lines if line[:1].isdigit()}
    assert set(rows) == {"1 to 10", "31 to 40"}
    assert float(rows["1 to 10"][1]) == pytest.approx(150, rel=0.05)
    assert float(rows["31 to 40"][1]) == pytest.approx(80, rel=0.05)
    found = re.fullmatch(r"move 32: EVEN_WIN (.+); NORMAL_PAWN should be (\d+), not (\d+)", lines[-1])
    assert found is not None
    assert float(found[1]) == pytest.approx(80, rel=0.05)
    assert int(found[2]) == pytest.approx(NORMAL_PAWN * float(found[1]) / 100, abs=0.6)
    assert int(found[3]) == NORMAL_PAWN


def test_program_reads_files_of_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chance = Random(1)
    games = []
    for made in make_games(60, 1, plies=40):
        score = chance.randint(-300, 300)
        made["scores"] = [score] * len(made["scores"])
        games.append(game_of(made))
    path = make_file(tmp_path / "a.moff", gamefile.packed(1, 0, {}, games))
    assert wdl.main([str(path), "--step", "20"]) == 0
    assert f"all {sum(len(game.scores) for game in games)} " in " ".join(capsys.readouterr().out.split())
    few = make_file(tmp_path / "few.moff", gamefile.packed(1, 0, {}, games[:2]))
    assert wdl.main([str(few)]) == 2
    assert "are too few: a fit needs 1000" in capsys.readouterr().err
