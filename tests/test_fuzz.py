"""The fuzzer finds nothing in Moff, and finds what is planted."""

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from x88 import build

pytest.importorskip("tqdm", reason="the bench extra is not installed")

BENCH = Path(__file__).resolve().parent.parent / "bench"
sys.path.append(str(BENCH))
fuzz: Any = importlib.import_module("fuzz")


def test_nothing_but_a_value_error_comes_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz.main(["--inputs", "400", "--seed", "3"]) == 0
    assert f"0 of {len(fuzz.TARGETS)} readers failed" in capsys.readouterr().out


def test_a_fault_is_found_and_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def faulty(text: str) -> None:
        if "e" in text:
            raise IndexError("out of range")

    monkeypatch.setitem(fuzz.TARGETS, "SAN", fuzz.TARGETS["SAN"]._replace(read=faulty))
    assert fuzz.main(["--inputs", "300", "--only", "SAN", "--only", "FEN"]) == 1
    seen = capsys.readouterr()
    assert "1 of 2 readers failed" in seen.out
    assert "SAN: IndexError: out of range" in seen.out + seen.err


@pytest.mark.parametrize(("name", "word"), [("fuzz", "--only"), ("fens", "--megabytes")])
def test_help_needs_no_extra_and_what_is_missing_is_told(name: str, word: str, tmp_path: Path) -> None:
    # Without site-packages, no extra is installed.
    command = [sys.executable, "-S", str(BENCH / f"{name}.py")]
    ended = subprocess.run([*command, "--help"], capture_output=True, encoding="utf-8", timeout=300)
    assert ended.returncode == 0, ended.stderr
    assert word in ended.stdout
    assert "130" in ended.stdout
    (tmp_path / "x.pgn").touch()
    file = [str(tmp_path / "x.pgn")] * (name == "fens")
    ended = subprocess.run([*command, *file], capture_output=True, encoding="utf-8", timeout=300)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.endswith('not installed: python -m pip install -e ".[bench,test]"\n')
    assert ended.stderr.count("\n") == 1


def test_an_interrupt_ends_it_in_one_line_with_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def interrupted(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setitem(fuzz.TARGETS, "SAN", fuzz.TARGETS["SAN"]._replace(read=interrupted))
    assert fuzz.main(["--only", "SAN"]) == 130
    assert capsys.readouterr().err.splitlines()[-1] == "interrupted"
    fens: Any = importlib.import_module("fens")
    monkeypatch.setattr(fens, "compare_speed", interrupted)
    monkeypatch.setattr(sys, "argv", ["fens.py", __file__])
    assert fens.main() == 130
    assert capsys.readouterr() == ("", "interrupted\n")


@pytest.mark.skipif(not build.compiled, reason="uncompiled, a megabyte takes too long")
def test_fens_of_bench_compares_the_readers_and_measures_memory(tmp_path: Path) -> None:
    for extra in ("tabulate", "tqdm", "chess"):
        pytest.importorskip(extra, reason="the bench extra is not installed")
    path = tmp_path / "games.pgn"
    path.write_text('[Event "x"]\n\n1. e4 e5 2. Nf3 1-0\n\n[Event "y"]\n\n1. d4 *\n', encoding="utf-8")
    command = [sys.executable, str(BENCH / "fens.py"), str(path), "--runs", "1", "--megabytes", "1"]
    ended = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)
    assert ended.returncode == 0, ended.stderr
    assert "4 FENs, the same from both." in ended.stdout
    path.write_text("1. e4 x *\n", encoding="utf-8")
    ended = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)
    assert (ended.returncode, ended.stdout) == (1, "")
