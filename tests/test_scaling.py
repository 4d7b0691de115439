"""bench/scaling.py: what it measures of an engine whose figures are known, and how it ends."""

import importlib
import json
import math
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tabulate", reason="the bench extra is not installed")
pytest.importorskip("tqdm", reason="the bench extra is not installed")

BENCH = Path(__file__).resolve().parent.parent / "bench"
FAKE = Path(__file__).with_name("fake_engine.py")
SCRIPT = BENCH / "scaling.py"
sys.path.append(str(BENCH))
scaling: Any = importlib.import_module("scaling")

TINY = ["--positions", "2", "--movetime", "5", "--pairs", "3", "--depth", "2", "--hash", "1"]


def fake(*arguments: str) -> list[str]:
    return ["--engine", shlex.join([sys.executable, str(FAKE), *arguments])]


def test_speed_and_depth_of_an_engine_that_is_as_fast_with_any_threads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "x.json"
    assert scaling.main([*fake(), *TINY, "--threads", "3", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    results = json.loads(out.read_text(encoding="utf-8"))
    assert results["speed"].keys() == results["depth"].keys() == {"1", "3"}, "one thread is added"
    for own in results["speed"].values():
        # It says that 99 nodes took a millisecond.
        assert own["nodes_per_second"] == pytest.approx(99_000)
        assert own["ratio"] == 1.0
        assert own["ratios"] == [1.0] * 3
    for own in results["depth"].values():
        assert own["nodes_per_second"] == pytest.approx(2 * 99 / own["seconds"]), "of two positions"
    one, three = (results["depth"][number] for number in ("1", "3"))
    assert len(three["ratios"]) == 2
    assert three["ratio"] == pytest.approx(one["seconds"] / three["seconds"])
    assert three["mean_ratio"] == pytest.approx(math.prod(three["ratios"]) ** 0.5)
    assert "99,000" in printed
    assert "1.00 to 1.00" in printed


def test_more_nodes_are_a_better_ratio() -> None:
    """Speeds are compared within a round, and their median is told."""

    class Engine:
        def __init__(self, spec: Any) -> None:
            self.refused: list[str] = []
            self.number = int(dict(spec.options)["Threads"])
            self.rounds = 0

        def __enter__(self) -> "Engine":
            return self

        def __exit__(self, *_exception: object) -> None:
            pass

        def new_game(self) -> None:
            pass

        def send(self, line: str) -> None:
            self.rounds += line.startswith("go")

        def read_until(self, _word: str, _patience: float) -> list[str]:
            # The second round is slow for both.
            nodes = (100, 50, 100)[self.rounds - 1] * (
                1 if self.number == 1 else (19, 16, 20)[self.rounds - 1]
            )
            return [f"info depth 9 nodes {nodes} nps 1 time 10", "info string x", "bestmove e2e4"]

    options = scaling._options(["--threads", "2", "--pairs", "3"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scaling, "UciEngine", Engine)
        subject = scaling.Subject("x", ("x",), 1)
        found = scaling.measure_speed(
            subject, options, ["x"], lambda **_: __import__("tqdm").tqdm(disable=True)
        )
    assert found[2]["ratios"] == [19, 16, 20]
    assert found[2]["ratio"] == 19
    assert found[1]["nodes_per_second"] == 10_000


def test_one_thread_needs_no_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "x.json"
    plain = [*fake("--plain"), *TINY, "--parts", "depth", "--out", str(out), "--threads"]
    assert scaling.main([*plain, "1"]) == 0
    assert json.loads(out.read_text(encoding="utf-8"))["depth"].keys() == {"1"}
    assert scaling.main([*plain, "2"]) == 2
    assert "has no option" in capsys.readouterr().err


def test_games_are_played_continued_and_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "games"
    command = [
        *fake("--score", "cp 0"),
        "--parts",
        "elo",
        "--hash",
        "1",
        "--tc",
        "60+1",
        "--folder",
        str(folder),
    ]
    assert scaling.main([*command, "--games", "2"]) == 0
    assert scaling.main([*command, "--games", "4", "--out", str(tmp_path / "x.json")]) == 0
    text = (folder / "2 threads.pgn").read_text(encoding="utf-8")
    assert text.count("[Event ") == 4
    assert 'option.Threads=2"]' in text
    assert 'option.Threads=1"]' in text
    own = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))["elo"]["2"]
    assert own["games"] == sum(own["won_drawn_lost"]) == 4
    assert "95 %" in capsys.readouterr().out


def test_a_game_lost_by_a_fault_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = [*fake("--fault", "illegal"), "--parts", "elo", "--hash", "1", "--games", "2"]
    assert scaling.main([*command, "--folder", str(tmp_path)]) == 1
    assert "rules infraction" in capsys.readouterr().out


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_the_picture_is_drawn(tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("matplotlib", reason="the bench extra is not installed")
    path = tmp_path / f"x.{suffix}"
    ratios = {"ratio": 1.9, "ratios": [1.8, 1.9, 2.0]}
    one = {"ratio": 1.0, "ratios": [1.0, 1.0, 1.0]}
    elo = {2: {"elo": 50.0, "interval": [30.0, 71.0]}, 4: {"elo": None, "interval": [90.0, None]}}
    scaling.plot({"speed": {1: one, 2: ratios}, "depth": {1: one, 2: ratios}, "elo": elo}, "x", path)
    head = path.read_bytes()[:200]
    assert (b"<?xml" in head) if suffix == "svg" else head.startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--plot", "x.txt"], "not 'x.txt'"),
        (["--tc", "fast"], "tc=fast"),
        (["--engine", "no-such-engine"], "no-such-engine"),
        ([*fake(), "--hash", "1", "--threads", "5"], "takes Threads from 1 to 4, not 5"),
        ([*fake(), "--hash", "64", "--threads", "1"], "takes Hash from 1 to 9, not 64"),
        ([*fake("--score", ""), *TINY], "reports no nodes and time: bestmove"),
        ([*fake("--fault", "crash"), *TINY], "has ended"),
    ],
)
def test_what_cannot_be_measured_is_one_line(
    arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert scaling.main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert reason in said.err
    assert said.err.count("\n") == 1


def test_an_interrupt_shows_what_is_known(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(scaling, "measure_depth", interrupted)
    assert scaling.main([*fake(), *TINY]) == 130
    said = capsys.readouterr()
    assert "99,000" in said.out
    assert said.err == "interrupted\n"


def test_moff_itself_is_measured(tmp_path: Path) -> None:
    out = tmp_path / "x.json"
    command = [sys.executable, str(SCRIPT), *TINY, "--pairs", "1", "--threads", "2", "--out", str(out)]
    ended = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)
    assert ended.returncode == 0, ended.stderr
    results = json.loads(out.read_text(encoding="utf-8"))
    assert results["engine"] == "Moff"
    assert results["speed"]["2"]["nodes_per_second"] > 0


def test_help_needs_no_extra() -> None:
    # Without site-packages, no extra is installed.
    ended = subprocess.run(
        [sys.executable, "-S", str(SCRIPT), "--help"], capture_output=True, encoding="utf-8", timeout=300
    )
    assert ended.returncode == 0, ended.stderr
    assert "130" in ended.stdout
