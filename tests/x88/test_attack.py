"""Attacks against python-chess, static exchange evaluation against a search that makes the captures."""

from itertools import product

import chess
import pytest
from hypothesis import example, given, settings

from search import alphabeta
from tests import exchange
from tests.oracle import (
    Game,
    games_or_placements,
    only_c,
    packed,
    placements,
    scaled,
    side_of_colour,
    to_0x88,
)
from x88 import attack, build
from x88.attack import attackers, in_check, last_move_checks, see
from x88.move import EN_PASSANT, captured_of, promoted_of
from x88.notation import coordinate, fen

# --- Attacks and checks


@settings(max_examples=scaled(200, 80))
@given(games_or_placements(longest=30))
def test_attacks_on_every_square_are_those_of_python_chess(game: Game) -> None:
    for board, position in game.positions():
        for square, colour in product(chess.SQUARES, chess.COLORS):
            side, target = side_of_colour(colour), to_0x88(square)
            wanted = [to_0x88(origin) for origin in position.attackers(colour, square)]
            assert sorted(attackers(board, target, side)) == sorted(wanted)
            if not build.compiled:
                assert attack.is_attacked(board, target, side) == bool(wanted)
                assert attack.attacked_squares(board, side) >> square & 1 == bool(wanted)
        assert bool(in_check(board)) == position.is_check()


@pytest.mark.slow
@settings(max_examples=scaled(600, 400))
@given(placements())
@example("8/5B2/8/3pP3/8/1k6/8/4K3 w - d6 0 1")  # en passant opens a line
@example("5k2/8/8/8/8/8/8/4K2R w K - 0 1")  # castling gives check
def test_the_last_move_shows_every_check_among_pieces_thrown(text: str) -> None:
    board = fen.parse(text)
    assert bool(last_move_checks(board)) == bool(in_check(board))
    for move in packed(board).values():
        board.make(move)
        assert bool(last_move_checks(board)) == bool(in_check(board)), coordinate.write(move)
        checks = bool(in_check(board))
        board.unmake()
        if not build.compiled and not move & EN_PASSANT and not promoted_of(move):
            assert attack.gives_check(board, move) == checks, coordinate.write(move)
    if not in_check(board):
        board.make_null()
        assert not last_move_checks(board)
        board.unmake()


# --- Static exchange evaluation


@pytest.mark.slow
@settings(max_examples=scaled(200, 80))
@given(games_or_placements(longest=40, most=30))
def test_see_is_what_an_exchange_wins(game: Game) -> None:
    for board, position in game.positions():
        before = fen.write(board), board.key
        for text, move in packed(board).items():
            theirs = chess.Move.from_uci(text)
            wanted = {0} if position.is_castling(theirs) else exchange.least_first(position, theirs)
            assert see(board, move) in wanted, (position.fen(), text)
        assert (fen.write(board), board.key) == before
    board.check_invariants()


@only_c
@pytest.mark.slow
@settings(max_examples=150)
@given(placements(most=30))
def test_a_quiet_move_loses_material_only_by_entering_or_leaving_an_attacked_square(text: str) -> None:
    board = fen.parse(text)
    attacked = attack.attacked_squares(board, board.side ^ 1)
    for move in packed(board).values():
        if not captured_of(move) and not promoted_of(move) and not alphabeta.may_lose(move, attacked):
            assert see(board, move) == 0, (text, coordinate.write(move))
