"""`import moff`: board, notation and search for programs in Python, with python-chess as the arbiter."""

import importlib.util
import io
import os
import re
import subprocess
import sys
import textwrap
import venv
from pathlib import Path

import chess
import chess.pgn
import pytest

import moff
import moff.api
from tests import ROOT
from tests.client import run
from tests.oracle import scaled


def test_the_documented_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"^    import moff\n(?:(?:    .*)?\n)*", moff.__doc__ or "", re.MULTILINE)
    exec(compile(textwrap.dedent(example), "example", "exec"), {})
    printed = capsys.readouterr().out
    board = chess.Board()
    board.push_san("e4")
    assert board.fen(en_passant="legal") in printed
    assert "Nf6" in printed


def test_the_docstring_lists_the_names_of_the_library() -> None:
    named = set(re.findall(r"`(\w+)`", moff.api.__doc__ or ""))
    assert set(moff.__all__) <= named
    for name in moff.__all__:
        assert getattr(moff, name) is getattr(moff.api, name)
        assert name in dir(moff)
    assert not hasattr(moff, "no_such_name")
    everything: dict[str, object] = {}
    exec("from moff import *", everything)
    assert set(moff.__all__) <= everything.keys()


@pytest.mark.parametrize("code", ["moff.api.START", "dir(moff)", "moff.START"])
def test_each_way_in_works_first(code: str) -> None:
    ended = run(f"import moff; print({code})", command=[sys.executable, "-c"], cwd=ROOT)
    assert (ended.code, ended.errors) == (0, "")


def test_perft_counts_the_same_with_threads_and_a_table() -> None:
    board = moff.parse_fen(moff.START)
    depth, leaves = scaled(4, 3), scaled(197281, 8902)
    assert moff.perft(board, depth) == leaves
    assert moff.perft(board, depth, threads=2) == leaves
    assert moff.perft(board, depth, threads=3, megabytes=1) == leaves


def test_a_search_has_limits_and_reports() -> None:
    board = moff.parse_fen("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1")
    reports: list[moff.Report] = []
    result = moff.Search(megabytes=1).think(board, moff.Limits(depth=3), reports.append)
    assert isinstance(result, moff.Result)
    assert moff.write_san(board, result.move) == "Ra8#"
    assert [report.depth for report in reports] == [1, 2, 3]
    assert reports[-1].mate == 1
    assert moff.evaluate(board) != 0
    with pytest.raises(ValueError, match="nonsense"):
        moff.parse_fen("nonsense")


def test_a_game_is_written_and_read_as_pgn() -> None:
    game = moff.OngoingGame()
    for san in ("f3", "e5", "g4", "Qh4"):
        game.play(moff.parse_san(game.board, san))
    assert (game.result, game.is_over()) == ("0-1", True)
    text = moff.pgn.write(game.record({"White": "A", "Black": "B"}))
    (read,) = moff.pgn.Reader(io.BytesIO(text.encode()))
    assert [move.san for move in read.moves] == ["f3", "e5", "g4", "Qh4#"]
    assert chess.pgn.read_game(io.StringIO(text)).end().board().is_checkmate()


WAYS_IN = """
import moff
for code in "moff.START", "from moff import *", "from moff import picture", "dir(moff)":
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
    return [moff.write_san(board, move) for move in moff.legal_moves(board)]

board = moff.parse_fen(moff.START)
best: str = moff.Search().think(board, moff.Limits(depth=2)).move
moff.no_such_name
moves(board.key)
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
    ]
