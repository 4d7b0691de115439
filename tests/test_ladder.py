"""bench/ladder.py: every meeting is played once, and the ratings are those that the games say."""

import importlib
import io
import shlex
import subprocess
import sys
import time
from itertools import combinations
from pathlib import Path
from typing import Any

import chess.pgn
import pytest

pytest.importorskip("tabulate", reason="the bench extra is not installed")
pytest.importorskip("tqdm", reason="the bench extra is not installed")

SCRIPT = Path(__file__).resolve().parent.parent / "bench" / "ladder.py"
FAKE = Path(__file__).with_name("fake_engine.py")

sys.path.append(str(SCRIPT.parent))
ladder: Any = importlib.import_module("ladder")
openings_module: Any = importlib.import_module("openings")
scores: Any = importlib.import_module("score")


def start(
    folder: Path, *arguments: object, levels: tuple[int, ...] = (1000, 1300, 1500), book: bool = True
) -> subprocess.Popen[str]:
    """Begin a ladder of fake engines in the folder, with a book of short games or the project's own."""
    openings = folder / "openings.epd"
    openings.write_text("4k3/8/8/8/8/8/8/4KQ2 w - -\n4k3/8/8/8/8/8/8/R3K3 w - -\n", encoding="utf-8")
    return subprocess.Popen(
        [
            *(sys.executable, str(SCRIPT), "--each", "nodes=9"),
            *(("--openings", str(openings)) if book else ()),
            *("--folder", str(folder / "games"), "--levels", *map(str, levels), *map(str, arguments)),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def run(*arguments: Any, **options: Any) -> subprocess.CompletedProcess[str]:
    """Play one to its end."""
    process = start(*arguments, **options)
    output, errors = process.communicate(timeout=300)
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


def fake(option: str, name: str, *arguments: object) -> list[str]:
    command = shlex.join([sys.executable, str(FAKE), *map(str, arguments)])
    return [option, f"name={name}", f"cmd={command}"]


def games(path: Path) -> list[chess.pgn.Game]:
    stream = io.StringIO(path.read_text(encoding="utf-8"))
    return list(iter(lambda: chess.pgn.read_game(stream), None))


def score(points: float, count: int = 1000) -> Any:
    """Games that give the first side such mean points."""
    found = scores.Score()
    for number in range(count):
        won = (number // 2) < points * count / 2
        found.add(number, "1-0" if won == (number % 2 == 0) else "0-1")
    return found


# --- Ratings


@pytest.mark.parametrize("stretch", [0.5, 1.0, 1.5])
def test_the_ratings_are_those_that_explain_the_points(stretch: float) -> None:
    levels = [1000, 1400, 1500, 2100]
    meetings = {
        (low, high): score(scores.points_of(stretch * (low - high)), 20000)
        for low, high in combinations(levels, 2)
    }
    found = ladder.ratings(meetings)
    assert sum(found.values()) == pytest.approx(sum(levels))
    for low, high in combinations(levels, 2):
        assert found[high] - found[low] == pytest.approx(stretch * (high - low), rel=0.06, abs=5)


def test_who_has_lost_all_games_has_a_rating() -> None:
    found = ladder.ratings({(1000, 2000): score(0.0, 60)})
    assert found[1000] + found[2000] == pytest.approx(3000)
    assert 700 < found[2000] - found[1000] < 1000


def test_the_table_tells_order_distances_and_points() -> None:
    right = {(1000, 1200): score(0.25), (1000, 1400): score(0.1), (1200, 1400): score(0.25)}
    text = ladder.table(right, {1000: score(0.5), 1200: score(0.75)})
    rows = [line.split() for line in text.splitlines()]
    assert rows[0][-4:] == ["1000", "1200", "1400", "opponent"]
    assert [row[0] for row in rows[2:5]] == ["1000", "1200", "1400"]
    assert [float(row[2]) for row in rows[2:4]] == pytest.approx([94, 94], abs=4)
    assert rows[2][4:8] == ["25", "%", "10", "%"]
    assert rows[2][8:11] == ["50", "±", rows[2][10]]
    assert rows[3][8:9] == ["75"]
    assert text.endswith("The order is right.")
    wrong = {(1000, 1200): score(0.75), (1000, 1400): score(0.1), (1200, 1400): score(0.1)}
    assert ladder.table(wrong, {}).endswith("The order is WRONG: 1000 beats 1200.")


def test_the_order_is_judged_only_by_games_that_tell() -> None:
    decided, lost = score(0.1, 40), score(0.9, 40)
    two_lost, two_won, even = score(0.0, 2), score(1.0, 2), score(0.5, 40)
    for undecided in (two_lost, two_won, even):
        meetings = {(1000, 1200): undecided, (1000, 1400): decided, (1200, 1400): decided}
        assert ladder.order(meetings) == "The games do not tell apart yet: 1000 and 1200."
    both = {(1000, 1200): even, (1000, 1400): decided, (1200, 1400): two_won}
    assert ladder.order(both) == "The games do not tell apart yet: 1000 and 1200, 1200 and 1400."
    # Levels that are no neighbours do not count, and a wrong pair is told whatever the others are.
    wrong = {(1000, 1200): even, (1000, 1400): lost, (1200, 1400): lost}
    assert ladder.order(wrong) == "The order is WRONG: 1200 beats 1400."


def test_two_games_judge_no_order(tmp_path: Path) -> None:
    ended = run(tmp_path, *fake("--engine", "own"), "--games", 2, levels=(1000, 1300))
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[-1] == "The games do not tell apart yet: 1000 and 1300."


def test_the_project_s_own_openings_are_the_default(tmp_path: Path) -> None:
    engines = fake("--engine", "own", "--fault", "illegal")
    ended = run(tmp_path, *engines, "--games", 8, levels=(1000, 1300), book=False)
    assert ended.returncode == 1, "every game is lost by an illegal move"
    (path,) = (tmp_path / "games").iterdir()
    starts = [game.board().fen() for game in games(path)]
    assert starts[::2] == starts[1::2], "each opening twice"
    assert len(set(starts)) == 4
    own = {text for text, _ in openings_module.read_openings(openings_module.OWN, 0)}
    assert set(starts) <= own


# --- The games


def test_every_level_meets_every_other_and_the_opponent_at_its_own(tmp_path: Path) -> None:
    log = tmp_path / "log"
    engines = [*fake("--engine", "own", "--log", log), *fake("--opponent", "other")]
    ended = run(tmp_path, *engines, "--games", 2)
    assert ended.returncode == 0, ended.stderr
    found = {path.stem: games(path) for path in (tmp_path / "games").iterdir()}
    assert set(found) == {
        "own 1000 - own 1300",
        "own 1000 - own 1500",
        "own 1300 - own 1500",
        "own 1000 - other 1000",
        "own 1300 - other 1300",
        "own 1500 - other 1500",
    }
    for name, played in found.items():
        assert [game.headers["Round"] for game in played] == ["1.1", "1.2"]
        assert {f"{game.headers['White']} - {game.headers['Black']}" for game in played} == {
            name,
            " - ".join(reversed(name.split(" - "))),
        }
        for game in played:
            for colour in ("White", "Black"):
                level = game.headers[colour].split()[1]
                settings = game.headers[f"{colour}Settings"]
                assert settings == f"nodes=9 option.UCI_Elo={level} option.UCI_LimitStrength=true"
    assert "The games do not tell apart yet: 1000 and 1300, 1300 and 1500." in ended.stdout
    # Once more: all is there.
    searches = log.read_text(encoding="utf-8").count(" go ")
    again = run(tmp_path, *engines, "--games", 2)
    assert again.stdout == ended.stdout
    assert log.read_text(encoding="utf-8").count(" go ") == searches
    # And two more of each.
    assert run(tmp_path, *engines, "--games", 4, "--concurrency", 2).returncode == 0
    assert all(len(games(path)) == 4 for path in (tmp_path / "games").iterdir())


def test_faults_and_wrong_variations_are_told(tmp_path: Path) -> None:
    engines = fake("--engine", "own", "--fault", "illegal", "--at", 2, "--pv", "a1a1")
    ended = run(tmp_path, *engines, "--games", 2, levels=(1000, 2000))
    assert ended.returncode == 1
    assert "lost by rules infraction: own 1000: 1" in ended.stdout
    assert "lost by rules infraction: own 2000: 1" in ended.stdout
    assert "wrong variations: own 1000: " in ended.stdout


def test_an_interrupted_ladder_keeps_its_games_and_goes_on(tmp_path: Path) -> None:
    engines = fake("--engine", "own", "--think", 0.02)
    process = start(tmp_path, *engines, "--games", 8)
    folder = tmp_path / "games"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not any(path.stat().st_size for path in folder.glob("*")):
        time.sleep(0.05)
    process.terminate()
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert output == "Some levels have not met yet.\n"
    assert errors.splitlines()[-1] == "interrupted: the same command continues the ladder"
    assert "Traceback" not in errors
    (path,) = folder.iterdir()
    before = path.read_text(encoding="utf-8")
    assert 0 < len(games(path)) < 8
    # A game that was torn as it was written is played again.
    path.write_text(before[:-30], encoding="utf-8")
    ended = run(tmp_path, *fake("--engine", "own"), "--games", 8)
    assert ended.returncode == 0, ended.stderr
    assert "game is torn" in ended.stderr
    assert all(len(games(path)) == 8 for path in folder.iterdir())
    assert path.read_text(encoding="utf-8").startswith(before[: before.rindex("[Event ")])


@pytest.mark.parametrize(
    ("arguments", "levels", "said"),
    [
        ([], (1000,), "two levels"),
        ([], (1000, 1000), "two levels"),
        (["--games", 0], (1000, 1200), "at least two levels"),
        (["--concurrency", 0], (1000, 1200), "at least two levels"),
        (fake("--opponent", "own"), (1000, 1200), "both engines are called 'own'"),
        ([], (900, 1200), "own 900 takes UCI_Elo from 1000 to 2000, not 900"),
        (["--opponent", "name=x", "cmd=no-such-engine"], (1000, 1200), "x 1000 cannot be started"),
        (["--opponent", "nonsense"], (1000, 1200), "'nonsense' is not KEY=VALUE"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_what_is_wrong(
    tmp_path: Path, arguments: list[object], levels: tuple[int, ...], said: str
) -> None:
    ended = run(tmp_path, *fake("--engine", "own"), *arguments, levels=levels)
    assert ended.returncode == 2, ended.stdout + ended.stderr
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not (tmp_path / "games").exists()
