"""x88/book/book.py: Polyglot books, read and made, against python-chess's reader."""

import contextlib
import io
from pathlib import Path
from random import Random

import chess
import chess.pgn
import chess.polyglot
import pytest

from tests.oracle import random_boards, scaled, shared_files
from x88.book.book import ENTRY, Book, decode
from x88.book.make import Maker, Wanted
from x88.move import CASTLING as CASTLES
from x88.move import book_move
from x88.movegen import legal_moves
from x88.notation import coordinate, fen

CASTLING = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
TRAP = ["d4", "d5", "c4", "e5", "dxe5", "d4", "e3", "Bb4+", "Bd2", "dxe3", "Bxb4", "exf2+", "Ke2", "fxg1=N+"]
PROMOTION = "3n1n2/4P3/8/8/8/8/k6K/8 w - - 0 1"


def book_of(path: Path, *entries: tuple[int, int, int]) -> Book:
    """A book of these keys, moves and weights, in this order."""
    path.write_bytes(b"".join(ENTRY.pack(*entry, 0) for entry in entries))
    return Book(path)


def moves_of(book: Book, text: str) -> list[tuple[str, int]]:
    return [(coordinate.write(move), weight) for move, weight in book.choices(fen.parse(text))]


@pytest.mark.slow
@pytest.mark.parametrize("path", shared_files("polyglot/*.bin"))
def test_entries_and_moves_are_those_of_python_chess(path: Path) -> None:
    """Moves along the book from the start position, along the trap, and in random positions."""
    book = Book(path)
    chance = Random(4)
    boards = random_boards(scaled(100, 20), 5)
    board = chess.Board()
    for san in TRAP:
        board.push_san(san)
        boards.append(board.copy())
    known = 0
    with chess.polyglot.open_reader(path) as reader:
        assert len(book) == len(reader)
        for index in range(0, len(reader), scaled(10, 50)):
            theirs = reader[index]
            assert book[index] == (theirs.key, theirs.raw_move, theirs.weight, theirs.learn)
        assert [entry.key for entry in book][-1] == reader[len(reader) - 1].key
        for _ in range(scaled(50, 10)):
            board = chess.Board()
            while found := list(reader.find_all(board)):
                boards.append(board.copy())
                board.push(chance.choice(found).move)
        for board in boards:
            theirs = {entry.move.uci(): entry.weight for entry in reader.find_all(board, minimum_weight=0)}
            assert dict(moves_of(book, board.fen())) == theirs
            known += len(theirs)
    assert known > 5


def test_castling_is_the_king_to_its_rook_and_a_promotion_has_its_kind() -> None:
    board = fen.parse(CASTLING)
    castles = {coordinate.write(move): book_move(move) for move in legal_moves(board) if move & CASTLES}
    assert castles == {"e1g1": 0o0407, "e1c1": 0o0400}
    assert coordinate.write(decode(board, 0o0406)) == "e1g1", "as some old books write it"
    board = fen.parse(PROMOTION)
    kinds = {coordinate.write(move): book_move(move) >> 12 for move in legal_moves(board)}
    assert [kinds["e7e8" + letter] for letter in "nbrq"] == [1, 2, 3, 4]
    assert [kinds["e7d8" + letter] for letter in "nbrq"] == [1, 2, 3, 4]
    assert decode(board, book_move(next(iter(legal_moves(board)))) | 0o70000) == 0


def test_a_book_skips_illegal_moves(tmp_path: Path) -> None:
    board = fen.parse(fen.START)
    e4 = next(book_move(move) for move in legal_moves(board) if coordinate.write(move) == "e2e4")
    book = book_of(tmp_path / "b", (board.key, 0, 9), (board.key, e4, 5), (board.key, 0xFFFF, 7))
    assert moves_of(book, fen.START) == [("e2e4", 5)]
    assert coordinate.write(book.choose(board, Random(1))) == "e2e4"
    assert book_of(tmp_path / "none", (board.key, 0, 9)).choose(board, Random(1)) == 0


def test_a_choice_goes_by_weight_and_its_seed(tmp_path: Path) -> None:
    board = fen.parse(fen.START)
    codes = {coordinate.write(move): book_move(move) for move in legal_moves(board)}
    key = board.key
    book = book_of(tmp_path / "b", (key, codes["a2a3"], 0), (key, codes["d2d4"], 1), (key, codes["e2e4"], 3))
    chance = Random(7)
    drawn, again = (
        [coordinate.write(book.choose(board, generator)) for _ in range(2000)]
        for generator in (chance, Random(7))
    )
    assert set(drawn) == {"d2d4", "e2e4"}
    assert 1400 < drawn.count("e2e4") < 1600
    assert drawn == again
    assert {coordinate.write(book.choose(board, chance, is_best=True)) for _ in range(20)} == {"e2e4"}


def test_entries_are_found_up_to_both_ends_of_a_book(tmp_path: Path) -> None:
    keys = (0, 1, 1, 5, 5, 5, (1 << 64) - 1)
    book = book_of(tmp_path / "b", *((key, n, 1) for n, key in enumerate(keys)))
    for key in (0, 1, 2, 5, 6, (1 << 64) - 1):
        assert [entry.move for entry in book.entries(key)] == [n for n, k in enumerate(keys) if k == key]
    assert [entry.key for entry in book] == list(keys)
    for index in (-1, 7):
        with pytest.raises(IndexError, match=f"has 7 entries, none with the index {index}"):
            book[index]


@pytest.mark.parametrize(
    ("content", "reason"), [(b"", "it is empty"), (b"x" * 17, "17 bytes are not a multiple of 16")]
)
def test_a_file_that_is_no_book_is_an_error(content: bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "b"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=reason):
        Book(path)
    with pytest.raises(OSError, match="missing"):
        Book(tmp_path / "missing")


def test_a_damaged_book_gives_legal_moves_or_none(tmp_path: Path) -> None:
    chance = Random(11)
    boards = [fen.parse(board.fen()) for board in random_boards(20, 2)]
    whole = b"".join(
        ENTRY.pack(board.key, book_move(move), 5, 0)
        for board in sorted(boards, key=lambda board: board.key)
        for move in legal_moves(board)
    )
    for n in range(scaled(150, 40)):
        content = bytearray(whole)
        for _ in range(chance.randint(1, 200)):
            content[chance.randrange(len(content))] = chance.randrange(256)
        path = tmp_path / str(n % 2)
        path.write_bytes(content[: 16 * chance.randint(1, len(whole) // 16)])
        book = Book(path)
        for board in boards:
            move = book.choose(board, chance)
            assert move == 0 or move in legal_moves(board)
        book.close()


GAMES = """[Event "one"]
[Result "1-0"]

1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1-0

[Event "two"]
[Result "1/2-1/2"]

1. e4 c5 2. Nf3 d6 1/2-1/2

[Event "three"]
[Result "0-1"]

1. d4 d5 0-1

[Event "no result"]
[Result "*"]

1. e4 e5 *

[Event "from a position"]
[Result "0-1"]
[SetUp "1"]
[FEN "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"]

1. O-O O-O-O 0-1
"""


def made(path: Path, text: str, wanted: Wanted, held: int = 1000) -> Book:
    maker = Maker(wanted, held)
    for _ in maker.add(io.BytesIO(text.encode())):
        pass
    with path.open("wb") as file, contextlib.suppress(ValueError):
        assert maker.write(file) == file.tell() / 16
    maker.close()
    if not path.stat().st_size:
        path.write_bytes(bytes(16))
    return Book(path)


def test_a_book_of_games_holds_their_moves_by_points(tmp_path: Path) -> None:
    book = made(tmp_path / "b", GAMES, Wanted(min_games=1))
    assert moves_of(book, fen.START) == [("e2e4", 3), ("d2d4", 0)]
    after = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
    assert moves_of(book, after) == [("c7c5", 1), ("e7e5", 0)]
    assert moves_of(book, CASTLING) == [("e1g1", 0)]
    assert moves_of(book, "r3k2r/8/8/8/8/8/8/R4RK1 b kq - 1 1") == [("e8c8", 2)]
    with chess.polyglot.open_reader(tmp_path / "b") as reader:
        entries = reader.find_all(chess.Board(), minimum_weight=0)
        assert [(e.move.uci(), e.weight) for e in entries] == [("e2e4", 3), ("d2d4", 0)]
    keys = [entry.key for entry in book]
    assert keys == sorted(keys)


@pytest.mark.parametrize(
    ("wanted", "first"),
    [
        (Wanted(min_games=2), ["e2e4"]),
        (Wanted(min_games=3), []),
        (Wanted(min_games=1, min_score=75), ["e2e4"]),
        (Wanted(min_games=1, min_score=76), []),
        (Wanted(min_games=1, only_wins=True), ["e2e4"]),
    ],
)
def test_a_book_takes_only_the_moves_wanted(wanted: Wanted, first: list[str], tmp_path: Path) -> None:
    book = made(tmp_path / "b", GAMES, wanted)
    assert [move for move, _ in moves_of(book, fen.START)] == first
    for plies, count in ((1, 3), (2, 7)):
        assert len(made(tmp_path / "b", GAMES, Wanted(plies=plies, min_games=1))) == count


def test_weights_too_large_for_16_bits_are_divided_alike(tmp_path: Path) -> None:
    """Each of the long games plays Nf3 a thousand times in the start position."""
    text = f"{'Nf3 Nf6 Ng1 Ng8 ' * 1000} 1-0\n\n" * 40 + "1. e4 1-0\n\n" * 100
    book = made(tmp_path / "b", text, Wanted(plies=4000))
    assert moves_of(book, fen.START) == [("g1f3", 40_000), ("e2e4", 100)]
    after = "rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R b KQkq - 1 1"
    assert moves_of(book, after) == [("g8f6", 0)]


def test_a_book_made_with_next_to_no_memory_is_the_same(tmp_path: Path) -> None:
    chance = Random(9)
    games = []
    for _ in range(scaled(100, 30)):
        board = chess.Board()
        for _ in range(chance.randint(0, 30)):
            board.push(chance.choice(sorted(board.legal_moves, key=str)[:4]))
        game = chess.pgn.Game.from_board(board)
        game.headers["Result"] = chance.choice(["1-0", "0-1", "1/2-1/2", "*"])
        games.append(str(game))
    text = "\n\n".join(games)
    wanted = Wanted(min_games=2, min_score=10)
    made(tmp_path / "one", text, wanted, 10**6)
    made(tmp_path / "many", text, wanted, 50)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "many").read_bytes()
    assert (tmp_path / "one").stat().st_size > 160
