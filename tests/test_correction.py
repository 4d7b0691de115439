"""What the search learns of the evaluation's errors, of which positions, and within which limits."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search.correction import MOVES, ROW, Corrections
from search.history import LIMIT
from tests.oracle import only_c, scaled
from x88.piece import BLACK, WHITE

pytestmark = only_c

HASHES = st.integers(0, ROW - 1)
ERROR = 4000


def test_an_error_is_noted_of_the_pawns_the_pieces_of_each_side_the_minor_ones_and_the_last_moves() -> None:
    corrections = Corrections()
    corrections.update(WHITE, 1, 2, 3, 4, 5, 6, ERROR)
    assert corrections.by_pawns(WHITE, 1) == ERROR
    assert corrections.by_pieces(WHITE, 2, 3) == 2 * ERROR
    assert corrections.by_pieces(WHITE, 2, 4) == corrections.by_pieces(WHITE, 4, 3) == ERROR
    assert corrections.by_pieces(WHITE, 3, 2) == 0, "White's pieces are not Black's"
    assert corrections.by_minors(WHITE, 4) == ERROR
    assert corrections.by_pawns(WHITE, 2) == corrections.by_minors(WHITE, 1) == 0
    assert corrections.by_moves(5, 6) == ERROR
    assert corrections.by_moves(6, 5) == corrections.by_moves(5, 5) == 0


@settings(max_examples=scaled(300, 30))
@given(HASHES, HASHES, HASHES, HASHES, st.sampled_from([WHITE, BLACK]))
def test_nothing_is_noted_for_the_other_side_to_move(
    pawns: int, white: int, black: int, minors: int, side: int
) -> None:
    corrections = Corrections()
    corrections.update(side, pawns, white, black, minors, 0, 768, -ERROR)
    assert corrections.by_pawns(side, pawns) == -ERROR
    assert corrections.by_pieces(side, white, black) == -2 * ERROR
    assert corrections.by_minors(side, minors) == -ERROR
    assert corrections.by_pawns(side ^ 1, pawns) == corrections.by_minors(side ^ 1, minors) == 0
    assert corrections.by_pieces(side ^ 1, white, black) == 0
    corrections.update(side, pawns, white, black, minors, 768, 768, -ERROR)
    assert corrections.by_moves(0, 768) == corrections.by_moves(768, 768) == -ERROR
    corrections.clear()
    assert corrections.by_moves(0, 768) == corrections.by_moves(768, 768) == 0
    assert corrections.by_pawns(side, pawns) == corrections.by_minors(side, minors) == 0
    assert corrections.by_pieces(side, white, black) == 0


@pytest.mark.parametrize("sign", [1, -1])
def test_errors_add_up_to_their_limit(sign: int) -> None:
    corrections = Corrections()
    for _ in range(100):
        corrections.update(BLACK, ROW - 1, ROW - 1, ROW - 1, ROW - 1, MOVES - 1, MOVES - 1, sign * ERROR)
    assert 0.99 * LIMIT < sign * corrections.by_pawns(BLACK, ROW - 1) <= LIMIT
    assert 0.99 * LIMIT < sign * corrections.by_minors(BLACK, ROW - 1) <= LIMIT
    assert 0.99 * LIMIT < sign * corrections.by_moves(MOVES - 1, MOVES - 1) <= LIMIT
    assert 2 * 0.99 * LIMIT < sign * corrections.by_pieces(BLACK, ROW - 1, ROW - 1) <= 2 * LIMIT


def test_errors_of_both_signs_cancel_out() -> None:
    corrections = Corrections()
    for _ in range(100):
        corrections.update(WHITE, 5, 6, 7, 8, 9, 10, ERROR)
        corrections.update(WHITE, 5, 6, 7, 8, 9, 10, -ERROR)
    assert abs(corrections.by_pawns(WHITE, 5)) < ERROR
