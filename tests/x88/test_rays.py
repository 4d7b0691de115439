"""Linked rays: every link follows the lines of the board; generators and attacks agree with the moff loop."""

from collections.abc import Iterable
from itertools import groupby, pairwise

import pytest
from hypothesis import given, settings

from tests.oracle import STARTS, Game, games_or_placements, generated, only_c, packed, scaled
from tests.x88.perft.test_perft import OWN, names
from x88 import attack, rays
from x88.board import Board
from x88.move import EN_PASSANT, captured_of, moved_of, target_of
from x88.movegen import MoveStack
from x88.notation import fen
from x88.piece import KING, KNIGHT, PAWN, QUEEN, STEPS, VALUES
from x88.rays import Rays
from x88.square import SQUARES

pytestmark = pytest.mark.slow

Links = dict[tuple[int, int], int]

LEAVES = 1_500
"""The most leaves of one tree."""
STRIDE = 11
"""One in so many positions of a tree is checked closely: by the test's own walk, and by its moves."""

DIRECTION = STEPS[QUEEN]
BACK = [DIRECTION.index(-step) for step in DIRECTION]
"""The opposite of each direction."""

_stack = MoveStack()


def _lines() -> list[tuple[int, list[int]]]:
    """All ranks, files and diagonals: a direction, and the cells of the line with one off the board at each
    end.
    """
    lines = []
    for d in (0, 1, 4, 5):
        for first in SQUARES:
            if (first - DIRECTION[d]) & 0x88:
                cells = [first - DIRECTION[d] & 0xFF, first]
                while not cells[-1] & 0x88:
                    cells.append(cells[-1] + DIRECTION[d] & 0xFF)
                lines.append((d, cells))
    return lines


LINES = _lines()


def walked(board: Board) -> Links:
    """The right links of all pieces, and of all cells off the board beside it."""
    links = {}
    occupied = {sq for sq in SQUARES if board.piece_at(sq)}
    for d, cells in LINES:
        stops = [cells[0], *(sq for sq in cells[1:-1] if sq in occupied), cells[-1]]
        for near, far in pairwise(stops):
            links[near, d] = far
            links[far, BACK[d]] = near
    return links


def linked(board: Board, own: Rays) -> Links:
    """The links in the rays."""
    return _links_at(walked(board), own)


def _links_at(places: Iterable[tuple[int, int]], own: Rays) -> Links:
    return {place: own.link(*place) for place in places}


def rays_of(board: Board) -> Rays:
    """New rays of a position."""
    own = Rays()
    own.reset(board)
    return own


def by_rays(board: Board, own: Rays, captures: bool = False) -> list[tuple[int, int]]:
    """The moves with their scores, as the generators on rays write them."""
    end = (rays.generate_captures if captures else rays.generate)(board, own, _stack, 0)
    return list(zip(_stack.moves[:end], _stack.scores[:end], strict=True))


def from_front(board: Board, own: Rays) -> list[tuple[int, int]]:
    """The captures with their scores, the most valuable victim first."""
    end = rays.captures_from_front(board, own, _stack, 0)
    return list(zip(_stack.moves[:end], _stack.scores[:end], strict=True))


def check(board: Board, own: Rays) -> None:
    """The links are those of the position, and the moves those of the moff loop, with scores and order."""
    links = walked(board)
    assert own.is_walked(board), fen.write(board)
    assert _links_at(links, own) == links, fen.write(board)
    assert by_rays(board, own) == generated(board), fen.write(board)
    captures = generated(board, captures=True)
    assert by_rays(board, own, captures=True) == captures, fen.write(board)
    front = from_front(board, own)
    assert sorted(front) == sorted(captures), fen.write(board)
    if attack.in_check(board):
        assert front == captures, fen.write(board)
    else:
        check_order(board, [move for move, _ in front])
    assert _links_at(links, own) == links, "generating moves changes the links"


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


# --- The links


@only_c
def test_1024_moves_can_be_taken_back() -> None:
    board = fen.parse(STARTS[1])
    own = rays_of(board)
    before = linked(board, own)
    for n in range(1024):
        move = packed(board)[("f3g3", "e7d8", "g3f3", "d8e7")[n % 4]]
        board.make(move)
        own.make(board, move)
    for _ in range(1024):
        assert own.is_walked(board)
        board.unmake()
        own.unmake(board)
    assert linked(board, own) == before
    assert own.depth == 0


# --- Games


@only_c
@settings(max_examples=80)
@given(games_or_placements())
def test_links_moves_and_attacks_are_those_of_the_moff_loop_all_game_and_back(game: Game) -> None:
    """With the last capture known, on which the scores depend."""
    board = fen.parse(game.fen)
    own = rays_of(board)
    before = []
    check_all(board, own)
    for _, move in game.moves():
        before.append(linked(board, own))
        packed_move = packed(board)[move.uci()]
        board.make(packed_move)
        assert captured_of(packed_move) or not own.is_walked(board)
        own.make(board, packed_move)
        check_all(board, own)
    while before:
        board.unmake()
        own.unmake(board)
        assert linked(board, own) == before.pop()
    own.reset(fen.parse(STARTS[1]))
    own.reset(board)
    assert linked(board, own) == walked(board)


def check_all(board: Board, own: Rays) -> None:
    check(board, own)
    for side in range(2):
        found = [sq for sq in SQUARES if rays.is_attacked(board, own, sq, side)]
        assert found == [sq for sq in SQUARES if attack.is_attacked(board, sq, side)]


@only_c
def test_a_list_begins_at_its_index_and_leaves_the_moves_before() -> None:
    for text in STARTS:
        board, stack = fen.parse(text), MoveStack()
        own = rays_of(board)
        first = rays.generate(board, own, stack, 0)
        second = rays.generate_captures(board, own, stack, first)
        end = rays.captures_from_front(board, own, stack, second)
        written = list(zip(stack.moves[:end], stack.scores[:end], strict=True))
        assert written[:first] == generated(board)
        assert written[first:second] == generated(board, captures=True)
        assert sorted(written[second:]) == sorted(written[first:second])


@pytest.mark.parametrize(("text", "counts"), OWN, ids=names(OWN))
def test_the_leaves_played_on_rays_are_the_published_ones(text: str, counts: dict[int, int]) -> None:
    board = fen.parse(text)
    assert rays.perft(board, 0) == 1
    for depth, leaves in counts.items():
        if leaves <= scaled(300_000, 15_000):
            assert rays.perft(board, depth) == leaves
    with pytest.raises(ValueError, match="65 is not a depth from 0 to 64"):
        rays.perft(board, 65)
