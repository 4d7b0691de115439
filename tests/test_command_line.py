"""The `moff` command and its exit codes: 0 done, 1 the input had faults, 2 wrong usage."""

import re
import subprocess

import pytest

from moff import __version__
from tests.client import ENGINE


def moff(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*ENGINE, *arguments], capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL
    )


def test_version_and_help() -> None:
    assert moff("--version").stdout == f"Moff {__version__}\n"
    ended = moff("--help")
    assert ended.returncode == 0
    assert "bench" in ended.stdout
    assert "perft" in ended.stdout


@pytest.mark.parametrize("how", [[], ["--play-leaves"]])
def test_perft_counts_both_ways(how: list[str]) -> None:
    ended = moff("perft", "3", *how)
    assert ended.returncode == 0
    assert re.fullmatch(
        r"8902 nodes \d+\.\d+ s \d+ nodes/s \((last ply counted|every leaf played)\)\n", ended.stdout
    )
    assert ("every leaf played" in ended.stdout) == bool(how)


def test_perft_divides_a_position() -> None:
    ended = moff("perft", "1", "--divide", "--fen", "7k/8/8/8/8/8/7P/7K w - -")
    assert ended.returncode == 0
    *moves, total = ended.stdout.splitlines()
    assert sorted(moves) == ["h1g1: 1", "h1g2: 1", "h2h3: 1", "h2h4: 1"]
    assert total.startswith("4 nodes")


def test_a_bad_fen_is_a_faulty_input() -> None:
    ended = moff("perft", "1", "--fen", "8/8/8/8/8/8/8/K6 w - - 0 1")
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert "rank 1" in ended.stderr


@pytest.mark.parametrize(
    "arguments", [["perft"], ["perft", "0"], ["perft", "x"], ["bench", "-1"], ["nonsense"]]
)
def test_wrong_usage(arguments: list[str]) -> None:
    ended = moff(*arguments)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr != ""


def test_the_last_line_of_bench_is_its_result() -> None:
    ended = moff("bench", "1")
    assert ended.returncode == 0
    assert re.fullmatch(r"\d+ nodes \d+ nps", ended.stdout.splitlines()[-1])
