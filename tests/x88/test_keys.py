"""The keys of correction history follow the moves, and each depends on its pieces alone."""

from random import Random

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
