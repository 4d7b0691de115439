"""Opening books, compared with python-chess's."""

from collections import Counter
from pathlib import Path
from random import Random

import chess.polyglot
import pytest

import moff
from tests.oracle import SHARED
from x88.book.book import ENTRY


def write(path: Path, entries: list[tuple[str, str, int]], chess960: bool = False) -> moff.Book:
    """A book of moves in coordinates, castling as the king takes its rook, with their weights."""
    found = []
    for fen, uci, weight in entries:
        move = chess.Move.from_uci(uci)
        raw = move.to_square | move.from_square << 6 | ((move.promotion or 1) - 1) << 12
        key = chess.polyglot.zobrist_hash(chess.Board(fen, chess960=chess960))
        found.append((key, raw, weight, 7))
    path.write_bytes(b"".join(ENTRY.pack(*entry) for entry in sorted(found, key=lambda entry: entry[0])))
    return moff.Book(path)


START = chess.STARTING_FEN
CASTLES = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
PAWN = "8/P6k/8/8/8/8/8/K7 w - - 0 1"


@pytest.fixture
def book(tmp_path: Path) -> moff.Book:
    moves = [
        (START, "e2e4", 3),
        (START, "d2d4", 1),
        (START, "c2c4", 0),
        (START, "e2e5", 9),
        (START, "e7e5", 5),
    ]
    castling = [(CASTLES, "e1h1", 2), (CASTLES, "e1a1", 2), (CASTLES, "e1e2", 1)]
    promoting = [(PAWN, f"a7a8{letter}", 1) for letter in ("q", "n", "r", "b", "")]
    return write(tmp_path / "book.bin", moves + castling + promoting)


def compare(book: moff.Book, reader: chess.polyglot.MemoryMappedReader, board: chess.Board) -> None:
    ours = moff.Board(board.fen(), chess960=board.chess960)
    theirs = list(reader.find_all(board))
    assert [(*entry[:4], entry.move.uci()) for entry in book.find_all(ours)] == [
        (*entry[:4], entry.move.uci()) for entry in theirs
    ]
    assert (ours in book) == bool(theirs)
    if theirs:
        assert book.find(ours).move.uci() == reader.find(board).move.uci()


def test_the_entries_are_python_chess_s(book: moff.Book, tmp_path: Path) -> None:
    assert len(book) == 13
    with chess.polyglot.open_reader(tmp_path / "book.bin") as reader, book:
        for fen in (START, CASTLES, PAWN, "8/8/8/8/8/8/k6K/8 w - - 0 1"):
            for chess960 in (False, True):
                compare(book, reader, chess.Board(fen, chess960=chess960))


@pytest.mark.skipif(not (SHARED / "polyglot").is_dir(), reason="../shared/data/polyglot is missing")
@pytest.mark.parametrize("name", ["performance.bin", "lasker-trap.bin"])
def test_a_walk_through_a_book_meets_the_same_entries(name: str) -> None:
    book, chance = moff.Book(SHARED / "polyglot" / name), Random(1)
    with chess.polyglot.open_reader(SHARED / "polyglot" / name) as reader:
        for _ in range(100):
            board = chess.Board()
            while board.ply() < 40:
                compare(book, reader, board)
                if not (entries := list(reader.find_all(board))):
                    break
                board.push(chance.choice(entries).move)


def test_moves_are_drawn_by_weight(book: moff.Book) -> None:
    drawn = Counter(book.weighted_choice(moff.Board(), random=Random(n)).move.uci() for n in range(400))
    assert drawn.keys() == {"e2e4", "d2d4"}
    assert 250 < drawn["e2e4"] < 350
    assert book.weighted_choice(moff.Board())
    assert {book.choice(moff.Board(), random=Random(n)).move.uci() for n in range(50)} == drawn.keys()
    assert book.get(moff.Board()) == book.find(moff.Board())


def test_a_position_without_moves_says_so(book: moff.Book) -> None:
    board = moff.Board("8/8/8/8/8/8/k6K/8 w - - 0 1")
    assert (book.get(board), book.get(board, book.find(moff.Board()))) == (None, book.find(moff.Board()))
    for call in (book.find, book.choice, book.weighted_choice):
        with pytest.raises(IndexError, match="the book has no move for 8/8"):
            call(board)
    for call in (book.find_all, book.find, book.get, book.choice, book.weighted_choice):
        with pytest.raises(TypeError):
            call(None)
    assert None not in book


def test_what_is_no_book_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "torn.bin"
    path.write_bytes(bytes(20))
    with pytest.raises(ValueError, match="not a multiple"):
        moff.Book(path)
    with pytest.raises(FileNotFoundError):
        moff.Book(tmp_path / "none")
