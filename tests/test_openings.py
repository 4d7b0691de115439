"""bench/openings.py: openings that are legal, different and level, and the project's own ones."""

import importlib
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import chess
import pytest

from search.limits import Limits
from search.search import Report, Search
from x88 import fen

SCRIPT = Path(__file__).resolve().parent.parent / "bench" / "openings.py"

sys.path.append(str(SCRIPT.parent))
openings: Any = importlib.import_module("openings")

LINE = re.compile(r'(?P<fen>\S+ \S+ \S+ \S+) ce (?P<score>-?\d+); c0 "(?P<moves>[^"]+)";')


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the script."""
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)


def read(path: Path) -> list[tuple[str, int]]:
    """The positions of a file, to which their moves lead, with their scores."""
    found = []
    for line in path.read_text(encoding="ascii").splitlines():
        parts = LINE.fullmatch(line)
        assert parts, line
        board = chess.Board()
        for move in parts["moves"].split():
            board.push_san(move)
        assert board.epd() == parts["fen"]
        assert not board.is_game_over()
        found.append((board.fen(), int(parts["score"])))
    return found


def test_the_project_s_own_openings_are_200_level_and_different_ones() -> None:
    found = read(openings.OWN)
    assert len(found) == len({text for text, _ in found}) == 200
    assert all(chess.Board(text).ply() == 8 and abs(score) <= 60 for text, score in found)
    assert len(openings.read_openings(openings.OWN, 0)) == 200
    # Not the drawn ones alone, and neither side has the better half of them.
    white = [score if " w " in text else -score for text, score in found]
    assert 30 < sum(score > 0 for score in white) < 170


def test_openings_are_found_as_asked_for_and_the_same_each_time(tmp_path: Path) -> None:
    pytest.importorskip("tqdm", reason="the bench extra is not installed")
    asked = ["--count", 5, "--plies", 5, "--margin", 30, "--nodes", 300]
    files = [tmp_path / name for name in ("a.epd", "b.epd", "c.epd")]
    for file, seed in zip(files, (7, 7, 8), strict=True):
        ended = run("--out", file, *asked, "--seed", seed)
        assert ended.returncode == 0, ended.stderr
        assert ended.stdout == ""
    assert files[0].read_bytes() == files[1].read_bytes() != files[2].read_bytes()
    found = read(files[0])
    assert len(found) == len({text for text, _ in found}) == 5
    for text, score in found:
        reports: list[Report] = []
        Search(16).think(fen.parse(text), Limits(nodes=300), reports.append)
        assert chess.Board(text).ply() == 5
        assert abs(score) <= 30
        assert score == reports[-1].score


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "--out"),
        (["--out", "/no/such/folder/a.epd"], "no folder '/no/such/folder'"),
        (["--out", "a.epd", "--count", "0"], "'0' is not a whole number"),
        (["--out", "a.epd", "--plies", "x"], "'x' is not a whole number"),
        (["--out", "a.epd", "--plies", "1", "--count", "21"], "no 21 openings of 1 plies"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_what_is_wrong(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("tqdm", reason="the bench extra is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["openings.py", *arguments])
    try:
        code = openings.main()
    except SystemExit as error:
        code = error.code
    assert code == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
