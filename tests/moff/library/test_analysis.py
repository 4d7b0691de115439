"""Evaluations, openings, tablebases, reviews and pictures in the words of the library."""

import io
import json
import pickle
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import chess.pgn
import chess.syzygy
import pytest

import moff
from moff.evaluation import evaluate
from moff.reviews.analysis import LONGEST_LINE
from tests.oracle import SHARED, random_boards, scaled
from x88.notation import pgn

FOLDER = SHARED / "syzygy"
needs_tables = pytest.mark.skipif(not FOLDER.is_dir(), reason="../shared/data/syzygy is missing")
LIMIT = moff.Limit(nodes=scaled(2000, 50))
FOOLS_MATE = '[White "A"]\n[Black "B"]\n\n1. f3 {bad} e5 2. g4 (2. e4) Qh4# 0-1\n'


def test_an_evaluation_is_that_of_the_network_from_both_sides() -> None:
    for position in random_boards(20, seed=1):
        board = moff.Board(position.fen())
        found = moff.evaluate(board)
        assert found == moff.PovScore(moff.Cp(evaluate(board.x88)), board.turn)
        assert found.pov(not board.turn) == -found.relative
    with pytest.raises(ValueError, match="0 kings"):
        moff.evaluate(moff.Board.empty())
    with pytest.raises(TypeError, match="not a Board"):
        moff.evaluate(moff.Board().x88)


def test_an_opening_is_found_by_any_form_of_the_position() -> None:
    board = moff.Board()
    assert moff.opening(board) is None
    board.push_san("e4")
    for form in (board, board.x88, board.fen()):
        assert moff.opening(form) == moff.Opening("B00", "King's Pawn Game")


def thrown(random: Random) -> chess.Board:
    """A position with the pieces of one of the tables."""
    while True:
        sides = random.choice(list(FOLDER.glob("*.rtbw"))).stem.split("v")
        pieces = [chess.Piece.from_symbol(letter) for letter in sides[0] + sides[1].lower()]
        board = chess.Board(None)
        board.set_piece_map(dict(zip(random.sample(range(64), len(pieces)), pieces, strict=True)))
        board.turn = random.random() < 0.5
        if board.is_valid():
            return board


@needs_tables
def test_tablebases_say_what_python_chess_says() -> None:
    random = Random(1)
    with chess.syzygy.open_tablebase(str(FOLDER)) as theirs, moff.Tablebase(FOLDER) as ours:
        for _ in range(scaled(1000, 100)):
            position = thrown(random)
            board = moff.Board(position.fen())
            assert ours.probe_wdl(board) == ours.get_wdl(board) == theirs.probe_wdl(position), board
            assert ours.probe_dtz(board) == ours.get_dtz(board) == theirs.probe_dtz(position), board
        for probe in (ours.probe_wdl, ours.probe_dtz):
            with pytest.raises(KeyError, match="no table has rnbqkbnr"):
                probe(moff.Board())
            with pytest.raises(ValueError, match="0 kings"):
                probe(moff.Board.empty())
        assert (ours.get_wdl(moff.Board()), ours.get_dtz(moff.Board(), 5)) == (None, 5)


def test_a_folder_without_tables_is_refused(tmp_path: Path) -> None:
    for user in (moff.Tablebase, lambda path: moff.Engine(hash=1, syzygy=path)):
        with pytest.raises(ValueError, match="has no tables"):
            user(tmp_path)
        with pytest.raises(ValueError, match="nowhere"):
            user("nowhere")


def test_a_damaged_table_says_so(tmp_path: Path) -> None:
    (tmp_path / "KQvK.rtbw").write_bytes(b"torn")
    tables = moff.Tablebase(tmp_path)
    with pytest.raises(moff.MissingTableError, match=r"no table has 8/.*; .*KQvK.rtbw: "):
        tables.probe_wdl(moff.Board("8/8/8/8/8/8/k6K/7Q w - - 0 1"))


@needs_tables
def test_closed_tables_have_no_position() -> None:
    with moff.Tablebase(FOLDER) as tables:
        assert tables.get_wdl(moff.Board("8/8/8/8/8/8/k6K/7Q w - - 0 1")) == 2
    assert tables.get_wdl(moff.Board("8/8/8/8/8/8/k6K/7Q w - - 0 1")) is None


def test_a_review_judges_the_moves_of_a_game() -> None:
    review = moff.review(FOOLS_MATE, LIMIT)
    assert [move["san"] for move in review["moves"]] == ["f3", "e5", "g4", "Qh4#"]
    assert review["moves"][2]["mark"] == "??"
    assert len(review["moves"][2]["best"]) <= LONGEST_LINE
    assert review["white"]["blunders"] == 1
    assert review["opening"] == {"eco": "A00", "name": "Barnes Opening: Fool's Mate"}
    assert review.scores[-2:] == [moff.PovScore(moff.Mate(1), False), moff.PovScore(moff.Mate(-0), True)]
    assert len(review.scores) == len(review.curve) == 5
    assert review.curve[-1] == 0
    assert json.loads(json.dumps(review)) == review
    game = chess.pgn.read_game(io.StringIO(review.pgn))
    assert game is not None
    assert [node.nags for node in game.mainline()][2] == {chess.pgn.NAG_BLUNDER}
    assert "bad" in review.pgn
    assert "Qh4#" in review.html()
    white = ElementTree.fromstring(review._repr_svg_())[1]
    assert white.get("d", "").startswith(f"M0,100 L0,{100 - 100 * review.curve[0]:.1f} 1,")
    assert white.get("d", "").endswith("4,100.0 V100")


def test_the_same_game_in_any_form_has_the_same_review() -> None:
    read = next(pgn.Reader(io.BytesIO(FOOLS_MATE.encode())))
    forms = [FOOLS_MATE, FOOLS_MATE.encode(), read, chess.pgn.read_game(io.StringIO(FOOLS_MATE))]
    before = read.as_dict()
    reviews = [moff.review(form, LIMIT) for form in forms]
    assert len({json.dumps(review["moves"]) for review in reviews}) == 1
    assert read.as_dict() == before
    assert moff.review(FOOLS_MATE, LIMIT, threads=2)["white"]["moves"] == 2


def test_a_review_can_be_sent_to_another_process() -> None:
    review = moff.review(FOOLS_MATE, LIMIT)
    again = pickle.loads(pickle.dumps(review))
    assert (again, again.scores, again.pgn) == (review, review.scores, review.pgn)
    assert "Qh4#" in again.html()


@pytest.mark.parametrize("game", ["", "nonsense", None, moff.Board()])
def test_what_is_no_game_is_not_reviewed(game: object) -> None:
    with pytest.raises(ValueError, match="is not a game with moves"):
        moff.review(game, LIMIT)
    with pytest.raises(ValueError, match="does not end"):
        moff.review(FOOLS_MATE, moff.Limit())


def test_a_picture_takes_boards_moves_and_squares_of_the_library() -> None:
    board = moff.Board()
    move = board.push_san("e4")
    picture = moff.Picture(board, last_move=move, arrows=[(moff.E7, moff.E5)], marked=[moff.D4])
    assert picture == moff.Picture(board.fen(), last_move="e2e4", arrows=["e7e5"], marked=["d4"])
