"""Linked rays: the generators and attacks agree with the moff loop."""

from itertools import groupby
from typing import Any

import pytest
from hypothesis import given, settings

from tests.oracle import STARTS, Game, games_or_placements, generated, only_c, packed, scaled
from tests.x88.perft.test_perft import OWN, names
from x88 import attack, rays
from x88.board import Board
from x88.move import EN_PASSANT, captured_of, moved_of, target_of
from x88.movegen import MoveStack
from x88.notation import fen
from x88.piece import KING, KNIGHT, PAWN, VALUES
from x88.rays import Rays
from x88.square import SQUARES

pytestmark = pytest.mark.slow


def rays_of(board: Board) -> Rays:
    """New rays of a position."""
    own = Rays()
    own.reset(board)
    return own


def by_rays(board: Board, own: Rays, generate: Any) -> list[tuple[int, int]]:
    """The moves with their scores, as a generator on rays writes them."""
    stack = MoveStack()
    end = generate(board, own, stack, 0)
    return list(zip(stack.moves[:end], stack.scores[:end], strict=True))


def check(board: Board, own: Rays) -> None:
    """The moves and attacked squares are those of the moff loop, the moves with their scores and order."""
    assert own.is_walked(board), fen.write(board)
    assert by_rays(board, own, rays.generate) == generated(board), fen.write(board)
    captures = generated(board, captures=True)
    assert by_rays(board, own, rays.generate_captures) == captures, fen.write(board)
    front = by_rays(board, own, rays.captures_from_front)
    assert sorted(front) == sorted(captures), fen.write(board)
    if attack.in_check(board):
        assert front == captures, fen.write(board)
    else:
        check_order(board, [move for move, _ in front])
    assert own.is_walked(board), "generating moves changes the links"
    for side in range(2):
        found = [sq for sq in SQUARES if rays.is_attacked(board, own, sq, side)]
        assert found == [sq for sq in SQUARES if attack.is_attacked(board, sq, side)]


def check_order(board: Board, moves: list[int]) -> None:
    """The order that `captures_from_front` promises."""
    taking = [move for move in moves if captured_of(move) and not move & EN_PASSANT]
    assert moves[: len(taking)] == taking, fen.write(board)
    victims = [VALUES[captured_of(move)] for move in taking]
    assert victims == sorted(victims, reverse=True), fen.write(board)
    rest = [bool(move & EN_PASSANT) for move in moves[len(taking) :]]
    assert rest == sorted(rest), fen.write(board)
    targets = [target for target, _ in groupby(taking, target_of)]
    assert len(set(targets)) == len(targets), fen.write(board)
    turn = {PAWN: 0, KNIGHT: 1, KING: 3}
    for _, captures in groupby(taking, target_of):
        turns = [turn.get(moved_of(move), 2) for move in captures]
        assert turns == sorted(turns), fen.write(board)


@only_c
@settings(max_examples=80)
@given(games_or_placements())
def test_moves_and_attacks_are_those_of_the_moff_loop_all_game_and_back(game: Game) -> None:
    """With the last capture known, on which the scores depend."""
    board = fen.parse(game.fen)
    own = rays_of(board)
    check(board, own)
    for _, move in game.moves():
        packed_move = packed(board)[move.uci()]
        board.make(packed_move)
        assert captured_of(packed_move) or not own.is_walked(board)
        own.make(board, packed_move)
        check(board, own)
    while board.ply:
        board.unmake()
        own.unmake(board)
        check(board, own)
    own.reset(fen.parse(STARTS[1]))
    own.reset(board)
    check(board, own)


@only_c
def test_1024_moves_can_be_taken_back() -> None:
    board = fen.parse(STARTS[1])
    own = rays_of(board)
    for n in range(1024):
        move = packed(board)[("f3g3", "e7d8", "g3f3", "d8e7")[n % 4]]
        board.make(move)
        own.make(board, move)
    for _ in range(1024):
        assert own.is_walked(board)
        board.unmake()
        own.unmake(board)
    check(board, own)
    assert own.depth == 0


@pytest.mark.parametrize(("text", "counts"), OWN, ids=names(OWN))
def test_the_leaves_played_on_rays_are_the_published_ones(text: str, counts: dict[int, int]) -> None:
    board = fen.parse(text)
    assert rays.perft(board, 0) == 1
    for depth, leaves in counts.items():
        if leaves <= scaled(300_000, 15_000):
            assert rays.perft(board, depth) == leaves
    with pytest.raises(ValueError, match="65 is not a depth from 0 to 64"):
        rays.perft(board, 65)
