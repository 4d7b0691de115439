"""The keys of correction history follow the moves, and each depends on its pieces alone."""

from itertools import product
from random import Random

import chess
import pytest

from search.keys import Keys
from tests.oracle import STARTS, only_c
from x88.movegen import legal_moves
from x88.notation import fen
from x88.piece import BLACK, WHITE

pytestmark = only_c


def keys_of(text: str) -> Keys:
    keys, used = Keys(), Keys()
    used.reset(fen.parse(fen.START))
    for each in (keys, used):
        each.reset(fen.parse(text))
    assert state(keys) == state(used), "nothing of another position stays"
    return keys


def state(keys: Keys) -> tuple[int, ...]:
    return keys.pawns(), keys.pieces(WHITE), keys.pieces(BLACK), keys.minors()


@pytest.mark.parametrize("seed", range(12))
def test_keys_kept_along_the_moves_equal_those_from_scratch(seed: int) -> None:
    generator = Random(seed)
    board = fen.parse(STARTS[seed % len(STARTS)])
    keys = keys_of(fen.write(board))
    before: list[tuple[int, ...]] = []
    while len(before) < 80 and (moves := legal_moves(board)):
        before.append(state(keys))
        # Captures, promotions and castling come first in the list: prefer them, so that all kinds are seen.
        move = moves[0] if generator.random() < 0.3 else generator.choice(moves)
        keys.make(move, board.side)
        board.make(move)
        assert state(keys) == state(keys_of(fen.write(board)))
        keys.make_null()
        assert state(keys) == state(keys_of(fen.write(board)))
        keys.unmake()
    while before:
        board.unmake()
        keys.unmake()
        assert state(keys) == before.pop()


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("4k1n1/8/8/8/8/8/P7/B3K3 b - - 0 1", ""),
        ("4k1n1/8/8/8/8/P7/8/B3K3 w - - 0 1", "pawns"),
        ("4k1n1/p7/8/8/8/8/8/B3K3 w - - 0 1", "pawns"),
        ("4k1n1/8/8/8/8/8/P7/B3K2R w - - 0 1", "white"),
        ("q3k1n1/8/8/8/8/8/P7/B3K3 w - - 0 1", "black"),
        ("4k1n1/8/8/8/8/8/P7/N3K3 w - - 0 1", "white minors"),
        ("4k1n1/8/8/8/8/8/P7/B2K4 w - - 0 1", "white minors"),
        ("4k1b1/8/8/8/8/8/P7/B3K3 w - - 0 1", "black minors"),
        ("5kn1/8/8/8/8/8/P7/B3K3 w - - 0 1", "black minors"),
        ("4k1N1/8/8/8/8/8/P7/b3K3 w - - 0 1", "white black minors"),
    ],
)
def test_each_key_depends_on_its_pieces_and_their_squares_alone(text: str, changed: str) -> None:
    usual = state(keys_of("4k1n1/8/8/8/8/8/P7/B3K3 w - - 0 1"))
    names = ("pawns", "white", "black", "minors")
    found = zip(names, usual, state(keys_of(text)), strict=True)
    assert [name for name, before, after in found if before != after] == changed.split()


def test_keys_differ_by_kind_and_square() -> None:
    pieces, minors = set(), set()
    for letter, place in product("NBRQ", chess.SQUARES):
        board = chess.Board("4k3/8/8/8/8/8/8/4K3 b - - 0 1")
        if board.piece_at(place) is None:
            board.set_piece_at(place, chess.Piece.from_symbol(letter))
            _, white, _, minor = state(keys_of(board.fen()))
            pieces.add(white)
            minors.add(minor)
    assert len(pieces) == 4 * 62
    assert len(minors) == 2 * 62 + 1, "rooks and queens do not count"
