"""The evaluation follows the moves, is the same for both sides, and knows what is worth more."""

from random import Random

import chess
import pytest

from search import benchmark
from search.evaluate import TEMPO, Evaluation
from tests.oracle import STARTS
from x88 import build, fen
from x88.board import Board
from x88.movegen import legal_moves


def value(board: Board) -> int:
    evaluation = Evaluation()
    evaluation.reset(board)
    return evaluation.value(board.side)


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
