"""bench/openings.py: openings that are legal, different and level, and the project's own ones."""

import re
from pathlib import Path

import chess
import pytest

from search.limits import Limits
from search.line import Report
from search.search import Search
from tests.programs import BENCH, run
from x88.notation import coordinate, fen

pytestmark = pytest.mark.slow

OWN = BENCH / "openings.epd"

import openings

QUEEN_ENDING = "7k/8/8/8/8/8/Q7/K7 w - -"

LINE = re.compile(r'(?P<fen>\S+ \S+ \S+ \S+) ce (?P<score>-?\d+); c0 "(?P<moves>[^"]+)";')


def read(path: Path) -> list[tuple[str, int]]:
    """The positions of a file and their scores; the moves lead to the positions."""
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


def test_own_openings_are_200_different_and_level_ones() -> None:
    found = read(OWN)
    assert len(found) == len({text for text, _ in found}) == 200
    assert all(chess.Board(text).ply() == 8 and abs(score) <= 60 for text, score in found)
    assert len(openings.read_openings(OWN)) == 200
    # Neither side is better in nearly all of them.
    white = [score if " w " in text else -score for text, score in found]
    assert 30 < sum(score > 0 for score in white) < 170


def test_openings_are_as_asked_for_and_the_same_each_time(tmp_path: Path) -> None:
    pytest.importorskip("tqdm", reason="the bench extra is not installed")
    asked = ["--count", 5, "--plies", 5, "--margin", 30, "--nodes", 300]
    files = [tmp_path / name for name in ("a.epd", "b.epd", "c.epd")]
    for file, seed in zip(files, (7, 7, 8), strict=True):
        assert run("openings", "--out", file, *asked, "--seed", seed).stdout == ""
    assert files[0].read_bytes() == files[1].read_bytes() != files[2].read_bytes()
    found = read(files[0])
    assert len(found) == len({text for text, _ in found}) == 5
    for text, score in found:
        reports: list[Report] = []
        Search(16).think(fen.parse(text), Limits(nodes=300), reports.append)
        assert chess.Board(text).ply() == 5
        assert abs(score) <= 30
        assert score == reports[-1].score


def test_openings_of_a_pgn_file_go_to_their_last_ply(tmp_path: Path) -> None:
    path = tmp_path / "a.pgn"
    after_e4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
    path.write_text(
        f'1. e4 c5 *\n\n[SetUp "1"]\n[FEN "{after_e4}"]\n\n1... e5 2. Nf3 Nc6 *\n', encoding="utf-8"
    )
    found = [
        (start, [coordinate.write(move) for move in moves]) for start, moves in openings.read_openings(path)
    ]
    assert found == [(fen.START, ["e2e4", "c7c5"]), (after_e4, ["e7e5", "g1f3", "b8c6"])]


@pytest.mark.parametrize(
    ("name", "lines", "line"),
    [
        ("a.epd", [QUEEN_ENDING, "8/8/8/8 w - -"], 2),
        ("a.epd", ["# a comment", "", "no position"], 3),
        ("a.epd", ["\ufeff" + QUEEN_ENDING, "no position"], 2),
        ("a.epd", [], 0),
        ("a.pgn", ['[Event "?"]', "", "1. e4 e5 *", "", '[Event "?"]', "", "1. e4", "e4 *"], 8),
        ("a.pgn", ['[Event "?"]', "", "1. e4 -- 2. d4 *"], 1),
        ("a.pgn", [], 0),
    ],
)
def test_damaged_openings_raise_with_their_line(
    tmp_path: Path, name: str, lines: list[str], line: int
) -> None:
    path = tmp_path / name
    path.write_text("".join(text + "\n" for text in lines), encoding="utf-8")
    said = f"{path}, line {line}: " if line else f"{path} holds no opening"
    with pytest.raises(ValueError, match=re.escape(said)):
        openings.read_openings(path)
