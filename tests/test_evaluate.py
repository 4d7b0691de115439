"""The evaluation follows the moves, is the same for both sides, and knows what is worth more."""

from random import Random

import chess
import pytest
from hypothesis import given, settings

from search import benchmark
from search.evaluate import FULL_PHASE, TEMPO, Evaluation, terms
from tests.oracle import STARTS, Game, games, placements, scaled
from x88 import build, fen
from x88.board import Board
from x88.movegen import legal_moves


def value(board: Board) -> int:
    return evaluation_of(board).value(board.side)


def evaluation_of(board: Board) -> Evaluation:
    evaluation = Evaluation()
    evaluation.reset(board)
    return evaluation


@pytest.mark.parametrize("seed", range(60 if build.compiled else 20))
def test_the_sum_kept_along_the_moves_is_the_sum_from_scratch(seed: int) -> None:
    generator = Random(seed)
    board = fen.parse(STARTS[seed % len(STARTS)])
    evaluation = Evaluation()
    evaluation.reset(board)
    before = []
    for _ in range(80):
        moves = legal_moves(board)
        if not moves:
            break
        before.append(evaluation.value(board.side))
        # Captures, promotions and castling come first in the list: prefer them, so that all kinds are seen.
        move = moves[0] if generator.random() < 0.3 else generator.choice(moves)
        evaluation.make(move, board.side)
        board.make(move)
        assert evaluation.value(board.side) == value(board)
    while before:
        board.unmake()
        evaluation.unmake()
        assert evaluation.value(board.side) == before.pop()


@pytest.mark.parametrize("text", [*STARTS, *benchmark.POSITIONS])
def test_colours_make_no_difference(text: str) -> None:
    mirrored = chess.Board(text).mirror().fen()
    assert value(fen.parse(text)) == value(fen.parse(mirrored))


@pytest.mark.parametrize("text", benchmark.POSITIONS[:10])
def test_the_right_to_move_is_worth_the_tempo(text: str) -> None:
    board = fen.parse(text)
    evaluation = Evaluation()
    evaluation.reset(board)
    assert evaluation.value(0) + evaluation.value(1) == 2 * TEMPO
    evaluation.make_null()
    assert evaluation.value(0) + evaluation.value(1) == 2 * TEMPO


def test_the_start_position_is_even() -> None:
    assert value(fen.parse(fen.START)) == TEMPO


def test_more_material_is_better() -> None:
    rising = ["4k3/8/8/8/8/8/8/4K3", "4k3/8/8/8/8/8/4P3/4K3", "4k3/8/8/8/8/4N3/8/4K3", "4k3/8/8/8/8/8/8/R3K3"]
    rising += ["4k3/8/8/8/8/8/8/Q3K3", "4k3/8/8/8/8/8/8/QR2K3"]
    values = [value(fen.parse(f"{placement} w - - 0 1")) for placement in rising]
    assert values == sorted(values)
    assert len(set(values)) == len(values)


def test_the_endgame_s_king_belongs_in_the_centre_and_the_middlegame_s_does_not() -> None:
    few = "4k3/pppp4/8/8/{}/8/PPPP4/{} w - - 0 1"
    assert value(fen.parse(few.format("4K3", "8"))) > value(fen.parse(few.format("8", "4K3")))
    many = "rnbqkbnr/pppp4/8/8/{}/8/PPPP4/{} w kq - 0 1"
    assert value(fen.parse(many.format("4K3", "RNBQ1BNR"))) < value(fen.parse(many.format("8", "RNBQKBNR")))


# --- The terms that are shown

WEIGHTS = {chess.KNIGHT: 1, chess.BISHOP: 1, chess.ROOK: 2, chess.QUEEN: 4}
"""What a piece counts for the phase."""


def check_terms(board: Board, position: chess.Board) -> None:
    pieces = [piece.piece_type for piece in position.piece_map().values()]
    phase = min(FULL_PHASE, sum(WEIGHTS.get(kind, 0) for kind in pieces))
    middlegame, endgame = (
        sum(term.white[i] for term in terms(board)) - sum(term.black[i] for term in terms(board))
        for i in range(2)
    )
    exact = (middlegame * phase + endgame * (FULL_PHASE - phase)) / FULL_PHASE
    found = value(board) - TEMPO if position.turn else TEMPO - value(board)
    # The evaluation divides by a shift, which is off by less than 1 in 500.
    assert abs(found - exact) <= 0.5 + abs(exact) / 500, position.fen()
    assert evaluation_of(board).phase() == phase


@settings(max_examples=scaled(400, 150))
@given(placements())
def test_the_terms_add_up_to_the_evaluation_among_pieces_thrown(text: str) -> None:
    check_terms(fen.parse(text), chess.Board(text))


@settings(max_examples=scaled(40, 15))
@given(games(longest=40))
def test_the_terms_add_up_to_the_evaluation_all_game(game: Game) -> None:
    for board, position in game.positions():
        check_terms(board, position)


@settings(max_examples=scaled(200, 60))
@given(placements())
def test_the_terms_of_white_are_those_of_black_in_the_mirror(text: str) -> None:
    mirrored = chess.Board(text).mirror().fen(en_passant="fen")
    for term, mirror in zip(terms(fen.parse(text)), terms(fen.parse(mirrored)), strict=True):
        assert (term.name, term.white, term.black) == (mirror.name, mirror.black, mirror.white)


def test_each_kind_of_piece_has_its_own_term() -> None:
    bare = {term.name: term for term in terms(fen.parse("4k3/8/8/8/8/8/8/4K3 w - - 0 1"))}
    names = dict(zip("PNBRQ", ("pawns", "knights", "bishops", "rooks", "queens"), strict=True))
    assert set(bare) == {*names.values(), "king"}
    for letter, name in names.items():
        for term in terms(fen.parse(f"4k3/8/8/8/8/{letter}7/8/4K3 w - - 0 1")):
            if term.name == name:
                assert min(term.white) > 0
                assert term.black == (0, 0)
            else:
                assert term == bare[term.name]
