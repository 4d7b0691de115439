"""bench/tune.py: it finds what is planted, keeps the table tidy, and goes on where it was."""

import json
import math
import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests import ROOT

pytestmark = pytest.mark.slow

np: Any = pytest.importorskip("numpy", reason="the tuning extra is not installed")
pytest.importorskip("scipy", reason="the tuning extra is not installed")
pytest.importorskip("tabulate", reason="the tuning extra is not installed")
pytest.importorskip("tqdm", reason="the tuning extra is not installed")

SCRIPT = ROOT / "bench" / "tune.py"

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


def test_what_is_read_and_written_again_is_the_same_to_the_letter(table: Path) -> None:
    tables.write_table(table, "SEARCH", tables.read_table(table, "SEARCH"))
    assert table.read_text(encoding="utf-8") == TUNED


def test_the_project_s_own_table_is_laid_out_so(tmp_path: Path) -> None:
    path = tmp_path / "tuned.py"
    shutil.copy(tables.TUNED, path)
    tables.write_table(path, "SEARCH", tables.read_table(path, "SEARCH"))
    assert path.read_bytes() == tables.TUNED.read_bytes()


def test_only_the_values_given_change(table: Path) -> None:
    tables.write_table(table, "SEARCH", {"margin": (80, 30, 150)})
    assert table.read_text(encoding="utf-8") == TUNED.replace("(75, 30, 150)", "(80, 30, 150)")


def test_a_file_without_the_table_is_told(table: Path) -> None:
    with pytest.raises(ValueError, match="no table OTHER"):
        tables.read_table(table, "OTHER")


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


def test_pairs_and_duels_count_for_the_first_side_in_whatever_order_games_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def play(submit: Any, work: Any, jobs: Any, count: int) -> Any:
        # Who has a margin wins with White, and draws with Black.
        for job in reversed(list(jobs)):
            result = "1-0" if job.white.numbers["margin"] else "1/2-1/2"
            yield selfgame.Played(job.number, result, "")

    monkeypatch.setattr(pairs, "run_all", play)
    book, pace = selfgame.Book.read(None, 0), selfgame.Pace(1)
    numbers = ({"margin": 1}, {"margin": 0})
    sides = [numbers, numbers[::-1]]
    found = dict(pairs.play_pairs(None, book, pace, range(7, 9), lambda pair: sides[pair % 2], 1))
    assert found == {8: 0.75, 7: 0.25}
    assert spsa.duels(None, book, pace, 3, 1)(5, *numbers) == 3
    assert spsa.duels(None, book, pace, 3, 1)(5, *numbers[::-1]) == -3


def test_gains_end_at_what_was_asked_and_fall_until_then() -> None:
    found = gains(500, change=0.04, rate=0.003)
    assert found.change_at(499) == pytest.approx(0.04)
    assert found.rate_at(499) == pytest.approx(0.003)
    steps = [found.rate_at(k) * found.change_at(k) ** 2 for k in range(500)]
    assert steps == sorted(steps, reverse=True)
    # Spall's a / (A + k + 1) ** alpha
    assert steps[0] / steps[499] == pytest.approx((550 / 51) ** 0.602)


def test_a_run_goes_on_from_its_state(tmp_path: Path) -> None:
    sequences = gains(40)
    whole = spsa.Spsa(RANGES, sequences)
    spsa.iterate(whole, duel)
    state = spsa.State(tmp_path / "spsa.json", {"seed": 0})
    part = spsa.Spsa(RANGES, sequences)
    state.restore(part)
    for _ in range(17):
        part.update(duel(part.iteration, *part.candidates()))
        state.save(part)
    other = spsa.Spsa(RANGES, sequences)
    state.restore(other)
    assert other.iteration == 17
    spsa.iterate(other, duel)
    assert (other.values, other.points) == (whole.values, whole.points)


def test_the_state_of_another_run_is_refused(tmp_path: Path) -> None:
    tuner = spsa.Spsa(RANGES, gains(40))
    spsa.State(tmp_path / "spsa.json", {"seed": 0}).save(tuner)
    with pytest.raises(ValueError, match="another seed"):
        spsa.State(tmp_path / "spsa.json", {"seed": 1}).restore(tuner)
    (tmp_path / "spsa.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match="holds no run"):
        spsa.State(tmp_path / "spsa.json", {"seed": 0}).restore(tuner)


def test_a_run_ends_in_the_table_and_apply_writes_what_there_is(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(spsa, "duels", lambda *arguments: lambda k, first, second: 1000.0)
    monkeypatch.setattr(spsa, "searcher", lambda megabytes, numbers: None)
    words = ["search", "depth", "--table", str(table), "--state", str(tmp_path / "s.json")]
    words += ["--iterations", "30"]
    assert tune.main(words) == 0
    changed = table.read_text(encoding="utf-8")
    depth, _, _ = tables.read_table(table, "SEARCH")["depth"]
    assert changed == TUNED.replace("(8, 0, 14)", f"({depth}, 0, 14)")
    assert depth != 8
    assert "depth" in capsys.readouterr().out
    table.write_text(TUNED, encoding="utf-8")
    assert tune.main([*words, "--apply"]) == 0
    assert table.read_text(encoding="utf-8") == changed


# --- Screening

PLANTED = {"margin": 30.0, "depth": 0.0, "slope": -20.0, "cut": 8.0, "base": -3.0}
CHANGES = dict.fromkeys(PLANTED, (5, 9))


def screened(pairs: int, interaction: float = 0.0) -> Any:
    """A experiment after so many pairs between sides with and without what is planted, a third of them drawn;
    `interaction` is the Elo of changing margin and depth alike.
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
        # What one change alone would get in a match of as many pairs: variance 1/6 a game, two in a pair.
        assert error == pytest.approx(screening.ELO_OF_A_POINT * 1.96 * math.sqrt(1 / 12 / 6000), rel=0.05)


def test_the_sides_of_a_pair_are_complements_that_follow_from_the_seed() -> None:
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


def test_too_few_pairs_tell_nothing() -> None:
    assert screened(len(PLANTED)).effects() == []
    assert "too few" in screened(len(PLANTED)).report()


def test_a_screening_s_log_goes_on_and_loses_what_was_half_written(tmp_path: Path) -> None:
    path = tmp_path / "screen.jsonl"
    with screening.Log(path, {"seed": 0}) as log:
        log.add(3, 0.75)
        log.add(0, 0.5)
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"pair": 1, "poi')
    with screening.Log(path, {"seed": 0}) as log:
        assert log.points == {3: 0.75, 0: 0.5}
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("held", "said"),
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
def test_another_file_is_refused_and_stays(tmp_path: Path, held: str, said: str) -> None:
    path = tmp_path / "screen.jsonl"
    path.write_text(held, encoding="utf-8")
    with pytest.raises(ValueError, match=said):
        screening.Log(path, {"seed": 0})
    assert path.read_text(encoding="utf-8") == held


def test_a_screening_plays_keeps_its_pairs_and_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    book, path = tmp_path / "book.epd", tmp_path / "screen.jsonl"
    book.write_text("7k/8/8/8/8/8/R7/K1Q5 w - -\n7k/8/8/8/8/8/RR6/K7 b - -\n", encoding="utf-8")
    changes = ["futility_depth=0", "see_quiet_depth=-1"]
    words = [*changes, "--nodes", "30", "--state", str(path), "--openings", str(book)]
    before = tables.TUNED.read_bytes()
    assert tune.main(["screen", *words, "--pairs", "4"]) == 0
    first, *played = path.read_text(encoding="utf-8").splitlines()
    settings = json.loads(first)
    assert (settings["names"], settings["values"]) == (["futility_depth", "see_quiet_depth"], [0, -1])
    assert sorted(json.loads(line)["pair"] for line in played) == [0, 1, 2, 3]
    assert "4 pairs of games, 2 changes" in capsys.readouterr().out
    assert tune.main(["screen", *words, "--pairs", "5"]) == 0
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[:-1] == [first, *played]
    assert json.loads(lines[-1])["pair"] == 4
    assert "confirm" in capsys.readouterr().out
    for other, said in ((["--nodes", "31"], "pace_nodes: 30"), (["--seed", "1"], "seed: 0")):
        assert tune.main(["screen", *words, *other]) == 2
        assert f"another {said}" in capsys.readouterr().err
    for changed, said in (("iir_depth=9", "names"), ("futility_depth=1", "values")):
        assert tune.main(["screen", changed, *words[1:]]) == 2
        assert f"another {said}" in capsys.readouterr().err
    book.write_text("7k/8/8/8/8/8/R7/K1Q5 w - -\n", encoding="utf-8")
    assert tune.main(["screen", *words]) == 2
    assert f"{path} is of a run with another book: book.epd" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8").splitlines() == lines
    assert tables.TUNED.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["search", "no_such_number"], "no_such_number"),
        (["search", "--apply"], "to apply"),
        (["search", "--pairs", "0"], "--pairs"),
        (["search", "--iterations", "0"], "--iterations"),
        (["search", "--change", "2"], "--change"),
        (
            ["screen", "no_such_number=1", "depth=3", "nor_this=2"],
            "no 'no_such_number', 'nor_this' in SEARCH",
        ),
        (["screen", "depth"], "NAME=VALUE"),
        (["screen", "depth=x"], "NAME=VALUE"),
        (["screen", "depth=8"], "depth at that value"),
        (["screen", "depth=7", "depth=6"], "twice"),
        (["screen", "depth=7", "--pairs", "0"], "--pairs"),
        (["screen", "depth=7", "--jitter", "1"], "--jitter"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_what_is_wrong(
    table: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert tune.main([*arguments, "--table", str(table)]) == 2
    told = capsys.readouterr()
    assert said in told.err
    assert told.out == ""
    assert table.read_text(encoding="utf-8") == TUNED
