"""`import moff`: board, notation and search for programs in Python, with python-chess as the arbiter."""

import importlib.util
import os
import re
import subprocess
import sys
import textwrap
import venv
from pathlib import Path

import chess
import pytest

import moff
from tests import ROOT
from tests.client import run


def test_the_documented_example_runs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("games.pgn").write_text('[White "Me"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 1-0\n', encoding="utf-8")
    (example,) = re.findall(r"^    import moff\n(?:(?:    .*)?\n)*", moff.__doc__ or "", re.MULTILINE)
    exec(compile(textwrap.dedent(example).replace("time=1", "depth=3"), "example", "exec"), {})
    printed = capsys.readouterr().out
    board = chess.Board()
    board.push_san("e4")
    assert board.fen(en_passant="legal") in printed
    assert "Ruy Lopez" in printed


def test_all_names_are_there_however_one_asks() -> None:
    assert (
        {"Board", "Move", "E4", "BB_E4", "Engine", "Book", "pgn", "WHITE"} <= {*moff.__all__} <= {*dir(moff)}
    )
    assert not hasattr(moff, "no_such_name")
    everything: dict[str, object] = {}
    exec("from moff import *", everything)
    assert {*moff.__all__} <= everything.keys()
    for name in moff.__all__:
        assert getattr(moff, name) is everything[name]


@pytest.mark.parametrize("code", ["moff.pgn.Game", "dir(moff)", "moff.E4", "moff.evaluate", "moff.Engine"])
def test_each_way_in_works_first(code: str) -> None:
    ended = run(f"import moff; print({code})", command=[sys.executable, "-c"], cwd=ROOT)
    assert (ended.code, ended.errors) == (0, "")


WAYS_IN = """
import moff
for code in "moff.E4", "from moff import *", "from moff import picture", "dir(moff)":
    try:
        exec(code)
    except ImportError as error:
        print(error, error.path, sep="|")
"""


@pytest.mark.parametrize("name", ["search", "x88"])
def test_the_error_names_the_file_that_hides_a_package_of_moff(name: str, tmp_path: Path) -> None:
    file = tmp_path / f"{name}.py"
    file.write_text("print('this is not Moff')\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = run(WAYS_IN, command=[sys.executable, "-c"], cwd=tmp_path, env=environment)
    errors = [line.split("|") for line in ended.output.splitlines()]
    assert [path for _, path in errors] == [str(file)] * 4
    assert all(text.startswith(f"{file} hides Moff's package '{name}': rename it") for text, _ in errors)
    assert ended.errors == ""


STRANGER = """
import moff

def moves(board: moff.Board) -> list[str]:
    return [board.san(move) for move in board.legal_moves]

board = moff.Board()
best: str = moff.Engine().play(board, moff.Limit(depth=2)).move
moff.no_such_name
moves(moff.E4)
for game in moff.pgn.read_games("games.pgn"):
    name: int = game.headers["White"]
"""


@pytest.mark.slow
def test_a_type_checker_sees_the_types_of_an_installed_moff(tmp_path: Path) -> None:
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    builder = venv.EnvBuilder(symlinks=os.name != "nt")
    builder.create(tmp_path / "venv")
    python = builder.ensure_directories(tmp_path / "venv").env_exe
    site = next((tmp_path / "venv").rglob("site-packages"))
    (site / "moff.pth").write_text(f"{ROOT}\n", encoding="utf-8")
    (tmp_path / "stranger.py").write_text(STRANGER, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", python]
    ended = subprocess.run([*command, "stranger.py"], capture_output=True, encoding="utf-8", cwd=tmp_path)
    assert re.findall(r"^stranger.py:(\d+): error: .*\[(.*)\]", ended.stdout, re.MULTILINE) == [
        ("8", "assignment"),
        ("9", "attr-defined"),
        ("10", "arg-type"),
        ("12", "assignment"),
    ]
