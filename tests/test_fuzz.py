"""The fuzzer finds nothing in Moff, and finds what is planted."""

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tqdm", reason="the bench extra is not installed")

sys.path.append(str(Path(__file__).resolve().parent.parent / "bench"))
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

    monkeypatch.setitem(fuzz.TARGETS, "SAN", (faulty, fuzz.MOVES))
    assert fuzz.main(["--inputs", "300", "--only", "SAN", "--only", "FEN"]) == 1
    seen = capsys.readouterr()
    assert "1 of 2 readers failed" in seen.out
    assert "SAN: IndexError: out of range" in seen.out + seen.err
