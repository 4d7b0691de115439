"""The fuzzer finds nothing in Moff, and finds what is planted."""

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

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


@pytest.mark.parametrize(("name", "word"), [("fuzz", "--only")])
def test_help_needs_no_extra_and_what_is_missing_is_told(name: str, word: str) -> None:
    # Without site-packages, no extra is installed.
    command = [sys.executable, "-S", str(BENCH / f"{name}.py")]
    ended = subprocess.run([*command, "--help"], capture_output=True, encoding="utf-8", timeout=300)
    assert ended.returncode == 0, ended.stderr
    assert word in ended.stdout
    assert "130" in ended.stdout
    ended = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.endswith('not installed: python -m pip install -e ".[bench,test]"\n')
    assert ended.stderr.count("\n") == 1


def test_an_interrupt_ends_it_in_one_line_with_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setitem(fuzz.TARGETS, "SAN", fuzz.TARGETS["SAN"]._replace(read=interrupted))
    assert fuzz.main(["--only", "SAN"]) == 130
    assert capsys.readouterr().err.splitlines()[-1] == "interrupted"
