"""bench/tune.py: it finds what is planted, keeps the table tidy, and goes on where it was."""

import json
import math
import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest

pytestmark = pytest.mark.slow

np: Any = pytest.importorskip("numpy", reason="the tuning extra is not installed")
pytest.importorskip("scipy", reason="the tuning extra is not installed")
pytest.importorskip("tabulate", reason="the tuning extra is not installed")
pytest.importorskip("tqdm", reason="the tuning extra is not installed")

import pairs
import screening
import selfgame
import spsa
import tables
import tune

TUNED = '''"""A table."""

# fmt: off
# Réti's remark, in two bytes
SEARCH = {
    # name: (value, least, most)
    "margin": (75, 30, 150),  # in centipawns
    "depth": (8, 0, 14),
}
# fmt: on
'''


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A file of tables."""
    path = tmp_path / "tuned.py"
    path.write_text(TUNED, encoding="utf-8")
    return path


# --- The table


def test_writing_changes_only_the_values_given(table: Path) -> None:
    tables.write_table(table, tables.read_table(table))
    assert table.read_text(encoding="utf-8") == TUNED
    tables.write_table(table, {"margin": (80, 30, 150)})
    assert table.read_text(encoding="utf-8") == TUNED.replace("(75, 30, 150)", "(80, 30, 150)")
    for wrong in ("OTHER = {}", "SEARCH = {"):
        table.write_text(wrong, encoding="utf-8")
        with pytest.raises(ValueError, match="has no table SEARCH"):
            tables.read_table(table)
    shutil.copy(tables.TUNED, table)
    tables.write_table(table, tables.read_table(table))
    assert table.read_bytes() == tables.TUNED.read_bytes()


# --- SPSA

RANGES = {"margin": (20, 0, 200), "depth": (2, 0, 14), "slope": (900, 0, 1000)}
BEST = {"margin": 140, "depth": 9, "slope": 300}


def gains(iterations: int, change: float = 0.05, rate: float = 0.002) -> Any:
    """Gain sequences, with the command line's defaults."""
    return spsa.Gains(iterations, change, rate)


def strength(numbers: dict[str, int]) -> float:
    """Elo, with the summit at BEST."""
    return -sum(300 * ((numbers[name] - BEST[name]) / RANGES[name][2]) ** 2 for name in RANGES)


def duel(iteration: int, first: dict[str, int], second: dict[str, int]) -> float:
    """Sixteen games between two sets of numbers, a third of them drawn."""
    chance = Random(iteration)
    expected = 1 / (1 + 10 ** ((strength(second) - strength(first)) / 400))
    return float(sum((2 * (chance.random() < expected) - 1) * (chance.random() > 1 / 3) for _ in range(16)))


def test_spsa_finds_the_summit_of_a_noisy_function() -> None:
    tuner = spsa.Spsa(RANGES, gains(3000, rate=0.01))
    spsa.iterate(tuner, duel)
    assert strength(tuner.rounded()) > -6


def test_candidates_are_whole_numbers_in_their_ranges_and_opposite() -> None:
    tuner = spsa.Spsa(RANGES, gains(1000))
    sums = dict.fromkeys(RANGES, 0)
    for tuner.iteration in range(400):
        first, second = tuner.candidates()
        for name, (_, least, most) in RANGES.items():
            assert isinstance(first[name], int)
            assert least <= first[name] <= most
            assert least <= second[name] <= most
            assert first[name] != second[name]
            sums[name] += first[name] + second[name]
    assert sums["depth"] / 800 == pytest.approx(2, abs=0.1)
    assert sums["slope"] / 800 == pytest.approx(900, abs=1)


def test_pairs_and_duels_count_for_the_first_side_in_any_order_of_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def play(submit: Any, work: Any, jobs: Any, count: int) -> Any:
        # A side with a margin wins with White and draws with Black.
        for job in reversed(list(jobs)):
            result = "1-0" if job.white.numbers["margin"] else "1/2-1/2"
            yield selfgame.Played(job.number, result, "")

    monkeypatch.setattr(pairs, "run_all", play)
    book, pace = selfgame.Book.read(None, 0), selfgame.Pace(1)
    numbers = ({"margin": 1}, {"margin": 0})
    sides = [numbers, numbers[::-1]]
    found = dict(pairs.play_pairs(None, book, pace, range(7, 9), lambda pair: sides[pair % 2], 1))
    assert found == {8: 0.75, 7: 0.25}
    for n, side in enumerate((numbers, numbers[::-1])):
        with pairs.Log(tmp_path / str(n), {}) as log:
            assert spsa.duels(None, book, pace, 3, 1, log)(5, *side) == (-3 if n else 3)


def test_gains_fall_to_those_asked_for() -> None:
    found = gains(500, change=0.04, rate=0.003)
    assert found.change_at(499) == pytest.approx(0.04)
    assert found.rate_at(499) == pytest.approx(0.003)
    steps = [found.rate_at(k) * found.change_at(k) ** 2 for k in range(500)]
    assert steps == sorted(steps, reverse=True)
    # Spall's a / (A + k + 1) ** alpha
    assert steps[0] / steps[499] == pytest.approx((550 / 51) ** 0.602)


def test_interrupted_run_goes_on_and_its_numbers_are_applied(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stop_at = -1

    def play(_submit: Any, _book: Any, _pace: Any, numbers: Any, *_: Any) -> Any:
        for pair in numbers:
            if pair == stop_at:
                raise KeyboardInterrupt
            yield pair, Random(pair).randrange(5) / 4

    monkeypatch.setattr(spsa, "play_pairs", play)
    monkeypatch.setattr(spsa, "searcher", lambda megabytes, numbers: None)
    words = ["search", "depth", "--table", str(table), "--iterations", "30", "--rate", "0.5", "--state"]
    assert tune.main([*words, str(tmp_path / "whole")]) == 0
    changed = table.read_text(encoding="utf-8")
    depth, _, _ = tables.read_table(table)["depth"]
    assert changed == TUNED.replace("(8, 0, 14)", f"({depth}, 0, 14)")
    assert depth != 8
    assert "depth" in capsys.readouterr().out
    table.write_text(TUNED, encoding="utf-8")
    stop_at = 70
    assert tune.main([*words, str(tmp_path / "part")]) == 130
    assert "interrupted after 17 iterations" in capsys.readouterr().err
    assert table.read_text(encoding="utf-8") == TUNED
    assert tune.main([*words, str(tmp_path / "part"), "--apply"]) == 0
    assert table.read_text(encoding="utf-8") not in (TUNED, changed)
    table.write_text(TUNED, encoding="utf-8")
    stop_at = -1
    assert tune.main([*words, str(tmp_path / "part")]) == 0
    assert table.read_text(encoding="utf-8") == changed
    assert (tmp_path / "part").read_bytes() == (tmp_path / "whole").read_bytes()
    assert tune.main([*words, str(tmp_path / "part"), "--seed", "1"]) == 2
    assert "another seed: 0" in capsys.readouterr().err


# --- Screening

PLANTED = {"margin": 30.0, "depth": 0.0, "slope": -20.0, "cut": 8.0, "base": -3.0}
CHANGES = dict.fromkeys(PLANTED, (5, 9))


def screened(pairs: int, interaction: float = 0.0) -> Any:
    """An experiment after so many pairs of games, a third of them drawn, between sides with and without the
    planted effects; `interaction` is the Elo of changing margin and depth alike.
    """
    experiment = screening.Screening(CHANGES)
    chance = Random(3)
    for pair in range(pairs):
        strengths = []
        for numbers in experiment.candidates(pair):
            made = {name: numbers[name] == 9 for name in PLANTED}
            alike = interaction * (made["margin"] == made["depth"])
            strengths.append(alike + sum(elo * made[name] for name, elo in PLANTED.items()))
        expected = 1 / (1 + 10 ** ((strengths[1] - strengths[0]) / 400))
        games = [0.5 if chance.random() < 1 / 3 else float(chance.random() < expected) for _ in range(2)]
        experiment.add(pair, sum(games) / 2)
    return experiment


@pytest.mark.parametrize("interaction", [0.0, 50.0])
def test_planted_effects_are_found_within_their_intervals(interaction: float) -> None:
    effects = screened(6000, interaction).effects()
    assert sorted(name for name, *_ in effects) == sorted(PLANTED)
    assert [elo for _, elo, _ in effects] == sorted((elo for _, elo, _ in effects), reverse=True)
    for name, elo, error in effects:
        # Of the games played, a third is drawn whatever the strengths are.
        assert abs(elo - PLANTED[name] * 2 / 3) < error
        # As in a match of one change with as many pairs: variance 1/6 a game, two in a pair.
        assert error == pytest.approx(screening.ELO_OF_A_POINT * 1.96 * math.sqrt(1 / 12 / 6000), rel=0.05)


def test_sides_of_a_pair_are_complements_that_follow_from_the_seed() -> None:
    experiment = screening.Screening(CHANGES, 1)
    again = screening.Screening(dict(reversed(CHANGES.items())), 1)
    made = np.zeros((2, len(CHANGES)))
    for pair in range(400):
        first, second = experiment.candidates(pair)
        assert again.candidates(pair) == (first, second)
        assert first.keys() == second.keys() == CHANGES.keys()
        assert all({first[name], second[name]} == {5, 9} for name in CHANGES)
        made += [[side[name] == 9 for name in CHANGES] for side in (first, second)]
    assert np.abs(made - 200).max() < 40  # four standard deviations
    other = screening.Screening(CHANGES, 2)
    assert any(other.candidates(pair) != experiment.candidates(pair) for pair in range(9))


def test_too_few_pairs_show_no_effects() -> None:
    assert screened(len(PLANTED)).effects() == []
    assert "too few" in screened(len(PLANTED)).report()


def test_log_of_a_screening_goes_on_without_its_half_written_line(tmp_path: Path) -> None:
    path = tmp_path / "screen.jsonl"
    with pairs.Log(path, {"seed": 0}) as log:
        log.add(3, 0.75)
        log.add(0, 0.5)
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"pair": 1, "poi')
    with pairs.Log(path, {"seed": 0}) as log:
        assert log.points == {3: 0.75, 0: 0.5}
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("held", "reason"),
    [
        ('{"seed": 1}\n', "another seed: 1"),
        ("{}\n", "another seed"),
        ("\n", "holds no run"),
        ("5\n", "holds no run"),
        ("a text", "holds no run"),
        ('{"seed": 0}\n{"pair": 1}\n', "line 2"),
        ('{"seed": 0}\n{"pair": 1, "points": 0.6}\n', "line 2"),
        ('{"seed": 0}\n{"pair": -1, "points": 0.5}\n', "line 2"),
    ],
)
def test_another_file_is_refused_and_stays(tmp_path: Path, held: str, reason: str) -> None:
    path = tmp_path / "screen.jsonl"
    path.write_text(held, encoding="utf-8")
    with pytest.raises(ValueError, match=reason):
        pairs.Log(path, {"seed": 0})
    assert path.read_text(encoding="utf-8") == held


def test_screening_keeps_its_pairs_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    book, path = tmp_path / "book.epd", tmp_path / "screen.jsonl"
    book.write_text("7k/8/8/8/8/8/R7/K1Q5 w - -\n7k/8/8/8/8/8/RR6/K7 b - -\n", encoding="utf-8")
    options = ["--nodes", "30", "--state", str(path), "--openings", str(book)]
    words = ["screen", "futility_depth=0", "see_quiet_depth=-1", *options]
    before = tables.TUNED.read_bytes()
    assert tune.main([*words, "--pairs", "4"]) == 0
    first, *played = path.read_text(encoding="utf-8").splitlines()
    settings = json.loads(first)
    assert (settings["names"], settings["values"]) == (["futility_depth", "see_quiet_depth"], [0, -1])
    assert sorted(json.loads(line)["pair"] for line in played) == [0, 1, 2, 3]
    assert "4 pairs of games, 2 changes" in capsys.readouterr().out
    assert tune.main([*words, "--pairs", "5"]) == 0
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[:-1] == [first, *played]
    assert json.loads(lines[-1])["pair"] == 4
    assert "confirm" in capsys.readouterr().out
    for other, said in (
        ([*words, "--nodes", "31"], "pace_nodes: 30"),
        ([*words, "--seed", "1"], "seed: 0"),
        (["screen", "iir_depth=9", *words[2:]], "names"),
        (["screen", "futility_depth=1", *words[2:]], "values"),
    ):
        assert tune.main(other) == 2
        assert f"another {said}" in capsys.readouterr().err
    book.write_text("7k/8/8/8/8/8/R7/K1Q5 w - -\n", encoding="utf-8")
    assert tune.main(words) == 2
    assert f"{path} is of a run with another book: book.epd" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8").splitlines() == lines
    assert tables.TUNED.read_bytes() == before
