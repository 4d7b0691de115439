"""`moff book`, and play from a book over UCI."""

import os
import sys
from pathlib import Path
from random import Random

import chess
import chess.polyglot
import pytest

from tests.client import Conversation, call, run
from x88.book.book import ENTRY, Book
from x88.move import book_move
from x88.movegen import legal_moves
from x88.notation import coordinate, fen

GAMES = """[Event "one"]
[Result "1-0"]

1. e4 e5 2. Nf3 1-0

[Event "two"]
[Result "0-1"]

1. d4 d5 2. c4 0-1

[Event "three"]
[Result "1/2-1/2"]

1. e4 c5 1/2-1/2
"""

on_unix = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has other links, permissions and pipes, and cuts no mapped file"
)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    games, path = tmp_path / "games.pgn", tmp_path / "small.bin"
    games.write_text(GAMES, encoding="utf-8")
    assert call("book", "make", str(games), "-o", str(path), "--min-games", "1").code == 0
    return path


# `moff book`.


def test_a_book_is_made_shown_and_checked(tmp_path: Path) -> None:
    games, out = tmp_path / "games.pgn", tmp_path / "out.bin"
    games.write_text(GAMES, encoding="utf-8")
    made = call("book", "make", str(games), "-o", str(out), "--min-games", "1")
    assert made == (0, f"{out}: 7 moves of 3 games with a result\n", "")
    assert call("book", "show", str(out)).output.split() == ["e4", "3", "100.0", "%", "d4", "0", "0.0", "%"]
    shown = call("book", "show", str(out), "8/8/8/8/8/8/k6K/8 w - - 0 1")
    assert shown == (0, "the book has no move here\n", "")
    held = "7 moves in 5 positions, 5 of them reached from the start position; 0 faults"
    assert call("book", "check", str(out)) == (0, f"{out}: {held}\n", "")


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (["make", "missing.pgn", "-o", "b.bin"], 1, "missing.pgn: No such file"),
        (["make", "games.pgn", "-o", "nowhere/b.bin"], 1, "nowhere/b.bin"),
        (["make", "games.pgn", "-o", "b.bin", "--min-score", "101"], 2, "'101' is not a number from 0 to"),
        (["make", "games.pgn", "-o", "b.bin", "--plies", "0"], 2, "whole number from 1"),
        (["make", "games.pgn", "-o", "b.bin"], 1, "no move qualifies with these limits: no book was written"),
        (["make", "none.pgn", "-o", "b.bin"], 1, "there is no game with a result: no book was written"),
        (["make", "games.pgn", "-o", "games.pgn", "--min-games", "1"], 2, "games.pgn holds games to read"),
        pytest.param(
            ["make", "games.pgn", "-o", "./link.pgn", "--min-games", "1"],
            2,
            "link.pgn holds games to read",
            marks=on_unix,
        ),
        (["show", "."], 1, ". is not a book: it is not a file"),
        (["show", "missing.bin"], 1, "missing.bin: No such file"),
        (["show", "games.pgn", "nonsense"], 1, "nonsense"),
        (["check", "odd.bin"], 1, "odd.bin is not a book: 17 bytes are not a multiple of 16"),
        (["check", "empty.bin"], 1, "empty.bin is not a book: it is empty"),
        ([], 2, "COMMAND"),
    ],
)
def test_a_fault_changes_no_file(
    arguments: list[str], code: int, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "games.pgn").write_text(GAMES, encoding="utf-8")
    if "./link.pgn" in arguments:
        (tmp_path / "link.pgn").symlink_to("games.pgn")
    (tmp_path / "none.pgn").write_text('[Event "five"]\n\n*\n', encoding="utf-8")
    (tmp_path / "b.bin").write_bytes(b"an old book")
    (tmp_path / "odd.bin").write_bytes(b"x" * 17)
    (tmp_path / "empty.bin").write_bytes(b"")
    ended = call("book", *arguments)
    assert ended.code == code
    assert reason in ended.errors
    assert (tmp_path / "games.pgn").read_text(encoding="utf-8") == GAMES
    assert (tmp_path / "b.bin").read_bytes() == b"an old book"


def test_make_reads_several_files_and_damaged_games_up_to_the_damage(tmp_path: Path) -> None:
    games, out = tmp_path / "games.pgn", tmp_path / "out.bin"
    games.write_text(GAMES + '\n[Event "four"]\n[Result "1-0"]\n\n1. e4 e5 2. Ke5 1-0\n', encoding="utf-8")
    ended = run("book", "make", str(games), "-", "-o", str(out), "--min-games", "2", text=GAMES)
    assert ended.code == 1
    assert "1 game is damaged" in ended.errors
    assert "of 7 games" in ended.output
    with chess.polyglot.open_reader(out) as reader:
        assert {e.move.uci(): e.weight for e in reader.find_all(chess.Board())} == {"e2e4": 8}


def test_make_skips_what_lies_behind_the_last_ply(tmp_path: Path) -> None:
    games, out = tmp_path / "games.pgn", tmp_path / "out.bin"
    text = "1. e4 (1. d4) e5 {x} (1... Ke5) 2. Ke5 {(} Nc6 (2... Nf6 3. Kd5) 3. -- ; 0-1\n12.x 1/2-1/2\n"
    games.write_text(f"{text}\n1. e4 e5 1-0\n", encoding="utf-8")
    arguments = ("book", "make", str(games), "-o", str(out), "--min-games", "2")
    assert call(*arguments, "--plies", "2") == (0, f"{out}: 2 moves of 2 games with a result\n", "")
    with chess.polyglot.open_reader(out) as reader:
        assert [(entry.move.uci(), entry.weight) for entry in reader.find_all(chess.Board())] == [("e2e4", 3)]
    assert "1 game is damaged" in call(*arguments, "--plies", "3").errors


def test_check_names_every_kind_of_fault(tmp_path: Path) -> None:
    board = fen.parse(fen.START)
    e4 = next(book_move(move) for move in legal_moves(board) if coordinate.write(move) == "e2e4")
    path = tmp_path / "b.bin"
    rows = [
        (board.key, e4, 3),
        (board.key, e4, 1),
        (board.key, 0o0123, 1),
        (board.key, 0o4040, 1),
        (board.key, 0o70000 | e4, 1),
        (5, 0o1234, 1),
    ]
    path.write_bytes(b"".join(ENTRY.pack(*row, 0) for row in rows))
    ended = call("book", "check", str(path))
    assert ended.code == 1
    lines = ended.output.splitlines()
    for number, text in (
        (2, "the move e2e4 is a duplicate"),
        (3, f"b1d3 is illegal in {fen.START}"),
        (4, "goes nowhere"),
        (5, "promotes to no piece"),
        (6, "its key is smaller than the one before"),
    ):
        assert any(f"entry {number}: " in line and text in line for line in lines), text
    assert lines[-1].endswith("5 faults")


# Play.


def use(moff: Conversation, book: Path) -> None:
    moff.send(f"setoption name Book File value {book}", "setoption name OwnBook value true")


def test_a_game_is_played_from_the_book(moff: Conversation, book: Path) -> None:
    use(moff, book)
    moff.send("setoption name Book Depth value 1", "position startpos", "go wtime 60000 btime 60000")
    assert moff.until("bestmove")[-2:] == ["info string book", "bestmove e2e4"]
    for line in ("position startpos moves e2e4 c7c5", "position startpos moves e2e4 e7e5"):
        moff.send(line, "go depth 2")
        lines = moff.until("bestmove")
        assert "info string book" not in lines
        assert any(" pv " in line for line in lines)


def test_the_book_is_for_games_only(moff: Conversation, book: Path) -> None:
    use(moff, book)
    for before, talk, after in (
        ("setoption name OwnBook value false", ["go depth 2"], "setoption name OwnBook value true"),
        ("setoption name Book File", ["go depth 2"], f"setoption name Book File value {book}"),
        (
            "setoption name UCI_AnalyseMode value true",
            ["go depth 2"],
            "setoption name UCI_AnalyseMode value false",
        ),
        ("setoption name MultiPV value 2", ["go depth 2"], "setoption name MultiPV value 1"),
        ("", ["go depth 2 searchmoves d2d4"], ""),
        ("", ["go mate 1 depth 2"], ""),
        ("", ["go infinite", "stop"], ""),
        ("", ["go ponder wtime 60000 btime 60000", "stop"], ""),
    ):
        moff.send(before, *talk)
        assert "info string book" not in moff.until("bestmove"), (before, talk)
        moff.send(after, "go depth 2")
        assert "info string book" in moff.until("bestmove")


def test_a_seed_repeats_the_moves(moff: Conversation, tmp_path: Path) -> None:
    board = fen.parse(fen.START)
    path = tmp_path / "all.bin"
    moves = sorted(book_move(move) for move in legal_moves(board))
    path.write_bytes(b"".join(ENTRY.pack(board.key, move, 1, 0) for move in moves))
    use(moff, path)
    drawn = []
    for _ in range(2):
        moff.send("setoption name Book Seed value 7", "position startpos")
        for _ in range(10):
            moff.send("go movetime 1000")
            drawn.append(moff.until("bestmove")[-1])
    assert drawn[:10] == drawn[10:]
    assert len(set(drawn)) > 4
    assert drawn[0] == f"bestmove {coordinate.write(Book(path).choose(board, Random(7)))}"
    moff.send("setoption name Best Book Move value true", *["go movetime 1000"] * 10)
    assert len({moff.until("bestmove")[-1] for _ in range(10)}) == 1


def test_an_unreadable_book_is_refused_and_the_old_one_stays(moff: Conversation, book: Path) -> None:
    use(moff, book)
    (book.parent / "odd.bin").write_bytes(b"x" * 17)
    names = ["missing.bin", "odd.bin"]
    if sys.platform != "win32":
        names.append("pipe")
        os.mkfifo(book.parent / "pipe")
    for name in names:
        moff.send(f"setoption name Book File value {book.parent / name}", "isready")
        line = moff.until("readyok")[-2]
        assert line.startswith("info string setoption: Book File")
        assert name in line
        moff.send("position startpos", "go movetime 1000")
        assert "info string book" in moff.until("bestmove")


@on_unix
def test_a_book_cut_off_in_use_is_reported(moff: Conversation, tmp_path: Path) -> None:
    """To read a mapped file beyond its end would end the process."""
    path = tmp_path / "large.bin"
    path.write_bytes(b"".join(ENTRY.pack(key << 50, 0, 1, 0) for key in range(10_000)))
    use(moff, path)
    moff.send("go depth 1")
    moff.until("bestmove")
    book = Book(path)
    os.truncate(path, 16)
    moff.send("go depth 1")
    assert any("was truncated while in use" in line for line in moff.until("bestmove"))
    for read in (lambda: book.entries(5), lambda: list(book)):
        with pytest.raises(ValueError, match="was truncated"):
            read()
