"""bench/names.py: the file of the names of openings."""

from pathlib import Path

import chess
import chess.polyglot
import pytest

from tests.programs import run

pytestmark = pytest.mark.slow

HEAD = "eco\tname\tpgn\n"


def test_the_position_after_the_moves_gets_the_name(tmp_path: Path) -> None:
    first, second, out = (tmp_path / name for name in ("a.tsv", "b.tsv", "out.tsv"))
    first.write_text(f"{HEAD}A00\tGrob Opening\t1. g4\nA00\tGrob\t1. g4 d5\n", encoding="utf-8")
    second.write_text(f'{HEAD}B00\t"King\'s" Pawn, é\t1. e4\n', encoding="utf-8")
    run("names", first, second, "--out", out)
    board = chess.Board()
    board.push_san("e4")
    *others, last = out.read_text(encoding="utf-8").splitlines()
    assert last == f'{chess.polyglot.zobrist_hash(board):016x}\tB00\t"King\'s" Pawn, é'
    assert [line.split("\t", 1)[1] for line in others] == ["A00\tGrob Opening", "A00\tGrob"]


def test_a_file_that_is_none_is_named_with_its_line(tmp_path: Path) -> None:
    path, out = tmp_path / "names.tsv", tmp_path / "out.tsv"
    for text in ("eco\tname\nB00\tx\n", f"{HEAD}B00\tx\t1. e4 e6 2. Ke3\n", f"{HEAD}B00\tx\t\n"):
        path.write_text(text, encoding="utf-8")
        assert f"{path}, line 2: " in run("names", path, "--out", out, code=2).stderr
    assert not out.exists()
