"""Attacks against python-chess, static exchange evaluation against a search that makes the captures."""

from itertools import product

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
from x88.piece import BISHOP, KNIGHT, PAWN, QUEEN, ROOK, VALUES

P, N, B, R, Q = (VALUES[kind] for kind in (PAWN, KNIGHT, BISHOP, ROOK, QUEEN))

# --- Attacks and checks


@settings(max_examples=scaled(200, 80))
@given(games_or_placements(longest=30))
def test_attacks_on_every_square_are_those_of_python_chess(game: Game) -> None:
    for board, position in game.positions():
        occupied = int(position.occupied)
        for square, colour in product(chess.SQUARES, chess.COLORS):
            side, target = side_of_colour(colour), to_0x88(square)
            wanted = [to_0x88(origin) for origin in position.attackers(colour, square)]
            assert sorted(attackers(board, target, side)) == sorted(wanted)
            if not build.compiled:
                assert attack.is_attacked(board, target, side) == bool(wanted)
                assert attack.attacked_squares(board, side, occupied) >> square & 1 == bool(wanted)
        assert bool(in_check(board)) == position.is_check()


@pytest.mark.slow
@settings(max_examples=scaled(600, 400))
@given(placements())
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


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("8/5B2/8/3pP3/8/1k6/8/4K3 w - d6 0 1", "e5d6"),
        ("8/2k5/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6"),
        ("5k2/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1"),
    ],
    ids=["opened line", "pawn", "rook"],
)
def test_the_last_move_shows_a_check_by_en_passant_or_castling(text: str, move: str) -> None:
    board = fen.parse(text)
    board.make(coordinate.parse(board, move))
    assert last_move_checks(board)


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
@settings(max_examples=100)
@given(placements(most=30), st.integers(-2000, 2000))
def test_see_at_least_says_what_see_says(text: str, threshold: int) -> None:
    board = fen.parse(text)
    before = fen.write(board), board.key
    for move in packed(board).values():
        won = see(board, move)
        for least in (won - 1, won, won + 1, -1, 0, 1, threshold):
            is_enough = bool(attack.see_at_least(board, move, least))
            assert is_enough == (won >= least), (text, coordinate.write(move), won, least)
    board.check_invariants()
    assert (fen.write(board), board.key) == before


@only_c
@pytest.mark.slow
@settings(max_examples=150)
@given(placements(most=30))
def test_a_quiet_move_loses_material_only_by_entering_or_leaving_an_attacked_square(text: str) -> None:
    board = fen.parse(text)
    attacked = attack.attacked_squares(board, board.side ^ 1, chess.Board(text).occupied)
    for move in packed(board).values():
        if not captured_of(move) and not promoted_of(move) and not alphabeta.may_lose(move, attacked):
            assert see(board, move) == 0, (text, coordinate.write(move))


@pytest.mark.parametrize(
    ("text", "move", "won"),
    [
        # Nothing to win, nothing to lose.
        ("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1g1", 0),
        # Unprotected, protected once, protected by a king that may or may not take.
        ("1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - - 0 1", "e1e5", P),
        ("4k3/8/3p4/4p3/8/8/4R3/4K3 w - - 0 1", "e2e5", P - R),
        ("8/8/4k3/4p3/8/2B5/4R3/4K3 w - - 0 1", "e2e5", P),
        # The second taker need not go on.
        ("4k3/8/4p3/3r4/4P3/8/8/3QK3 w - - 0 1", "e4d5", R),
        ("1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - - 0 1", "d3e5", P - N),
        # A quiet move to an attacked square, protected and not.
        ("4k3/8/3p4/8/3P4/5N2/8/4K3 w - - 0 1", "f3e5", P - N),
        # Pieces behind one another, of one side and of both, behind the first taker too.
        ("4k3/8/4r3/4p3/8/8/4R3/4RK2 w - - 0 1", "e2e5", P),
        ("4k1b1/5q2/4p3/3p4/2P5/1B6/Q7/4K3 w - - 0 1", "c4d5", 0),
        # Pins are not looked at.
        ("4k3/4n3/8/3p4/8/8/4R3/3RK3 w - - 0 1", "d1d5", P - R),
        # Promotions: safe, taken, capturing, to a knight.
        ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8q", Q - P),
        ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8n", N - P),
        ("4k3/P7/8/8/r7/8/8/4K3 w - - 0 1", "a7a8q", -P),
        ("1r1rk3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7b8q", R - P),
        # A pawn that takes back on the last rank becomes a queen, and can be taken as one.
        ("4k3/8/8/8/8/8/1p6/q2RK3 w - - 0 1", "d1a1", Q - R - (Q - P)),
        ("4k3/8/8/8/8/2B5/1p6/q2RK3 w - - 0 1", "d1a1", Q - R - (Q - P) + Q),
        # En passant: free, taken back, the lines open that both pawns had closed.
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", P),
        ("3rk3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", 0),
        ("3rk3/8/8/3pP3/8/8/8/3RK3 w - d6 0 1", "e5d6", P),
        ("3rk3/8/8/3pP3/8/6B1/8/4K3 w - d6 0 1", "e5d6", P),
    ],
)
def test_see_of_exchanges_worked_out_by_hand(text: str, move: str, won: int) -> None:
    board, position = fen.parse(text), chess.Board(text)
    packed_move = coordinate.parse(board, move)
    assert see(board, packed_move) == won
    if not build.compiled:
        assert attack.see_at_least(board, packed_move, won)
        assert not attack.see_at_least(board, packed_move, won + 1)
    theirs = chess.Move.from_uci(move)
    assert position.is_castling(theirs) or exchange.least_first(position, theirs) == {won}


def test_taking_with_the_least_valuable_piece_can_open_a_line_for_the_other_side() -> None:
    """After Rh7 Rxh7 White should take with the bishop: gxh7 lets the bishop on d3 take part."""
    text = "4k1Br/3q4/6P1/8/8/3b4/8/K6R w - - 0 1"
    board, position = fen.parse(text), chess.Board(text)
    move = chess.Move.from_uci("h1h7")
    assert exchange.least_first(position, move) == {-P}
    assert exchange.best_play(position, move) == 0
    assert see(board, coordinate.parse(board, "h1h7")) == -P
