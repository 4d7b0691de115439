"""Perft against published counts and against python-chess, counting the last ply and playing every leaf;
and bench/perft.py, which runs suites of them.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings

from tests import ROOT
from tests.oracle import Game, games_or_placements, packed, scaled, shared_files
from x88.notation import fen
from x88.perft.perft import Counter

pytestmark = pytest.mark.slow

COUNTED = scaled(12_000_000, 100_000)
PLAYED = scaled(1_000_000, 20_000)
"""The most leaves of one count, so that all positions take a few seconds on either build."""

Row = tuple[str, dict[int, int]]


def read(path: Path) -> list[Row]:
    """The rows of an EPD perft suite: `FEN ;D1 20 ;D2 400`, lines with # left out."""
    rows = []
    for line in path.read_text(encoding="ascii").splitlines():
        if line.strip() and not line.startswith("#"):
            text, *counts = line.split(";")
            depths = dict(count.split() for count in counts)
            rows.append((text.strip(), {int(depth[1:]): int(leaves) for depth, leaves in depths.items()}))
    return rows


OWN = read(Path(__file__).with_name("perft.epd"))


def names(rows: list[Row]) -> list[str]:
    """The positions, as names of tests."""
    return [text for text, _ in rows]


@pytest.mark.parametrize(("text", "counts"), OWN, ids=names(OWN))
def test_the_leaves_counted_and_played_are_the_published_ones(text: str, counts: dict[int, int]) -> None:
    _check_counts(text, counts)


def test_the_suite_has_its_positions() -> None:
    assert len(OWN) >= 40
    assert len({text for text, _ in OWN}) == len(OWN)
    assert all(list(counts) == list(range(1, len(counts) + 1)) and len(counts) >= 3 for _, counts in OWN)


@pytest.mark.parametrize("path", shared_files("perft/standard.epd"))
def test_the_leaves_of_the_shared_suite_are_the_published_ones(path: Path) -> None:
    rows = read(path)
    assert len(rows) > 100
    for text, counts in rows:
        _check_counts(text, counts)


def _check_counts(text: str, counts: dict[int, int]) -> None:
    board = fen.parse(text)
    before = fen.write(board), board.key
    for depth, leaves in counts.items():
        if leaves <= COUNTED:
            assert Counter(board).leaves_under([], depth) == leaves, (text, depth)
        if leaves <= PLAYED:
            assert Counter(board, True).leaves_under([], depth) == leaves, (text, depth)
    board.check_invariants()
    assert (fen.write(board), board.key) == before


@settings(max_examples=scaled(400, 200))
@given(games_or_placements())
def test_the_last_ply_is_counted_without_making_the_moves(game: Game) -> None:
    for board, position in game.positions():
        assert Counter(board).leaves_under([], 1) == position.legal_moves.count()


def test_depth_zero_is_one_leaf_and_a_finished_game_has_none() -> None:
    board = fen.parse(fen.START)
    assert Counter(board).leaves_under([], 0) == Counter(board, True).leaves_under([], 0) == 1
    assert [Counter(board).leaves_under([move], 0) for move in packed(board).values()] == [1] * 20
    for text in ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "R3k3/8/4K3/8/8/8/8/8 b - - 0 1"):
        for playing in (False, True):
            counter = Counter(fen.parse(text), playing)
            assert [counter.leaves_under([], depth) for depth in (1, 2, 3)] == [0, 0, 0]


# --- bench/perft.py

SCRIPT = ROOT / "bench" / "perft.py"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return tmp_path / "suite.epd"


def run(suite: Path, *arguments: object, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run the script on a suite of this text."""
    suite.write_text(text, encoding="utf-8")
    command = [sys.executable, str(SCRIPT), str(suite), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)


def test_the_script_counts_a_suite_in_both_ways(suite: Path) -> None:
    text = f"# a remark\n\n{fen.START} ;D1 20 ;D2 400\n"
    ended = run(suite, text=text)
    assert ended.returncode == 0, ended.stderr
    lines = re.sub(r"\d+\.\d+ s \d+ nodes/s", "...", ended.stdout).splitlines()
    assert lines == [
        f"depth 2: 400 nodes ..., {fen.START}",
        "last ply counted, 1 position: 400 nodes ...",
        f"depth 2: 400 nodes ..., {fen.START}",
        "every leaf played, 1 position: 400 nodes ...",
        "all counts are right",
    ]
    ended = run(suite, "--summary", "--depth", 1, "--threads", 2, "--hash", 1, text=text)
    assert [line.split(": ")[-1].split()[0] for line in ended.stdout.splitlines()] == ["20", "20", "all"]


def test_the_script_names_a_wrong_count(suite: Path) -> None:
    ended = run(suite, "--summary", text=f"{fen.START} ;D1 20 ;D2 401\n")
    assert ended.returncode == 1, ended.stderr
    for way in ("last ply counted", "every leaf played"):
        assert f"line 1, depth 2, {way}: 400 leaves, not 401" in ended.stdout
    assert "all counts are right" not in ended.stdout


def test_the_script_counts_castling_by_the_outermost_rooks(suite: Path) -> None:
    # By H. G. Muller and others: published with the perft suites of python-chess.
    text = "r1k1r2q/p1ppp1pp/8/8/8/8/P1PPP1PP/R1K1R2Q w KQkq - 0 1 ;D1 23 ;D2 522\n"
    assert run(suite, "--summary", "--chess960", text=text).returncode == 0
    assert run(suite, "--summary", text=text).returncode == 1, "castles only with king and rooks at home"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("8/8 w - - ;D1 20", "line 1: "),
        (f"# a remark\n{fen.START}", "line 2: no depth with its leaves"),
        (f"{fen.START} ;D1 x", "line 1: 'D1 x' is not a depth and its leaves"),
        (f"{fen.START} ;D1 20 ;D1 20", "line 1: 'D1 20': the depth is 0 or occurs twice"),
        ("", "holds no position"),
        (f"{fen.START} ;D3 8902", "no position is left to count"),
    ],
)
def test_the_script_names_the_error_in_a_suite(suite: Path, text: str, error: str) -> None:
    ended = run(suite, "--depth", 2, text=text)
    assert (ended.returncode, ended.stdout, len(ended.stderr.splitlines())) == (2, "", 1)
    assert error in ended.stderr


def test_the_script_names_a_missing_file() -> None:
    command = [sys.executable, str(SCRIPT), "/no/such/suite.epd"]
    ended = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)
    assert (ended.returncode, len(ended.stderr.splitlines())) == (2, 1)
    assert "/no/such/suite.epd" in ended.stderr
