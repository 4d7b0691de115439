"""Third-party packages that drive an engine: the wrapper `stockfish`, and `uci-test-suite`."""

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chess
import pytest

from tests.client import ENGINE, run
from tests.oracle import scaled

GAME = ["e2e4", "c7c5", "e4e5", "d7d5"]


@pytest.fixture
def wrapper() -> Iterator[Any]:
    """The wrapper around Moff, after 1. e4 c5 2. e5 d5."""
    package = pytest.importorskip("stockfish", reason="the package stockfish is not installed")
    found = package.Stockfish(ENGINE, depth=scaled(6, 2))
    found.make_moves_from_start(GAME)
    yield found
    found.send_quit_command()


@pytest.fixture
def board() -> chess.Board:
    return chess.Board("rnbqkbnr/pp2pppp/8/2ppP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3")


def test_the_wrapper_reads_the_position(wrapper: Any, board: chess.Board) -> None:
    assert wrapper.get_fen_position() == board.fen()
    rows = [row[2:33:4].replace(" ", ".") for row in wrapper.get_board_visual().splitlines()[1:16:2]]
    assert rows == str(board).replace(" ", "").splitlines()
    assert wrapper.get_board_visual(False).split()[-8:] == list("hgfedcba")
    for square in chess.SQUARES:
        piece = wrapper.get_what_is_on_square(chess.square_name(square))
        assert (piece and piece.value) == (board.piece_at(square) and board.piece_at(square).symbol())
    wrapper.flip()
    assert wrapper.get_fen_position() == board.mirror().fen()


def test_the_wrapper_plays_moves_and_refuses_illegal_ones(wrapper: Any, board: chess.Board) -> None:
    legal = [move.uci() for move in board.legal_moves]
    assert wrapper.get_perft(1) == (len(legal), dict.fromkeys(legal, 1))
    assert wrapper.is_move_legal("e5d6")
    assert not wrapper.is_move_legal("e1g1")
    kinds = [wrapper.will_move_be_a_capture(move).value for move in ("e5d6", "e5e6")]
    assert kinds == ["en passant", "no capture"]
    with pytest.raises(ValueError, match="Incorrect move sequence"):
        wrapper.make_moves_from_current_position(["e1g1"])
    wrapper.make_moves_from_current_position(["e5d6"])
    board.push_uci("e5d6")
    assert wrapper.get_fen_position() == board.fen()
    assert wrapper.is_fen_valid(board.fen())
    assert not wrapper.is_fen_valid(board.fen().replace("k", "p"))


def test_the_wrapper_searches(wrapper: Any, board: chess.Board) -> None:
    legal = {move.uci() for move in board.legal_moves}
    assert {wrapper.get_best_move(), wrapper.get_best_move(500, 500), wrapper.get_best_move_time(20)} <= legal
    assert wrapper.get_evaluation()["type"] == wrapper.get_evaluation(20)["type"] == "cp"
    assert sum(wrapper.get_wdl_stats()) == sum(wrapper.get_wdl_stats(True, 20)) == 1000
    assert [move["Move"] in legal for move in wrapper.get_top_moves(4)] == [True] * 4
    for move in wrapper.get_top_moves(3, verbose=True, num_nodes=500):
        assert move["PVMoves"].split()[0] == move["Move"] in legal
        assert move["Nodes"] == 500
        assert sum(map(int, move["WDL"].split())) == 1000
    assert wrapper.raw_stockfish_output(wrapper.get_top_moves)[-1].startswith("bestmove ")
    value = wrapper.get_static_eval()
    wrapper.set_turn_perspective(False)
    assert wrapper.get_static_eval() == value, "White is to move"
    wrapper.make_moves_from_current_position(["g1f3"])
    theirs = wrapper.get_static_eval()
    wrapper.set_turn_perspective(True)
    assert wrapper.get_static_eval() == -theirs


def test_the_wrapper_sets_options_and_begins_games(wrapper: Any) -> None:
    for change in (wrapper.set_skill_level, wrapper.set_elo_rating, wrapper.resume_full_strength):
        change()
        assert wrapper.get_best_move()
    wrapper.set_fen_position("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1")
    assert wrapper.get_best_move() is wrapper.get_wdl_stats() is None
    assert wrapper.get_top_moves(2) == []
    assert wrapper.get_evaluation() == {"type": "mate", "value": 0}
    wrapper.update_engine_parameters({"UCI_Chess960": True, "Threads": 2, "Hash": 4})
    wrapper.set_fen_position("4k3/8/8/8/8/8/8/RK3R2 w KQ - 0 1")
    assert wrapper.will_move_be_a_capture("b1f1").value == "no capture", "it castles"
    wrapper.reset_engine_parameters()
    wrapper.send_ucinewgame_command()
    assert wrapper.get_stockfish_major_minor_version() == "0.1"
    assert not wrapper.is_development_build_of_engine()
    speed = wrapper.benchmark(wrapper.BenchmarkParameters(limit=1))
    assert int(speed.removeprefix("Nodes/second    : ")) > 0
    assert wrapper.get_best_move()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no sh")
def test_the_uci_test_suite_passes(tmp_path: Path) -> None:
    pytest.importorskip("uci_test_suite", reason="uci-test-suite is not installed")
    program = tmp_path / "moff"
    program.write_text(f"#!/bin/sh\nexec {shlex.join(ENGINE)}\n", encoding="utf-8")
    program.chmod(0o755)
    ended = run(str(program), command=[sys.executable, "-m", "uci_test_suite"])
    assert "12 passed, 0 failed" in ended.output
