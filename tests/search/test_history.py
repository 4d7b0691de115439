"""Histories and corrections: for whom they are kept, within which limits, and what a new search or game
forgets. The node counts of the bench notice every change of what the search learns and reads.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search.correction import MOVES, ROW, Corrections
from search.history import LIMIT, History
from search.tuned import SEARCH
from tests.oracle import only_c, scaled
from x88 import movegen
from x88.notation import coordinate, fen
from x88.piece import BLACK, WHITE

pytestmark = only_c

BONUS = 1000
BONUSES = st.lists(st.integers(-SEARCH["bonus_max"][2], SEARCH["bonus_max"][2]), max_size=50)


def packed(text: str, move: str) -> int:
    """A move of the position."""
    return coordinate.parse(fen.parse(text), move)


# The line of these tests: White's pawn, Black's answer, and White's knight at ply 2.
PAWN = packed(fen.START, "e2e4")
ANSWER = packed("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1", "e7e5")
KNIGHT = packed(fen.START, "g1f3")
OTHER = packed(fen.START, "b1c3")
TAKES = packed("4k3/8/8/8/8/q7/8/R3K3 w - - 0 1", "a1a3")
PROMOTES = packed("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8q")


@pytest.fixture
def history() -> History:
    found = History()
    found.record_move(0, WHITE, PAWN)
    found.record_move(1, BLACK, ANSWER)
    return found


@pytest.mark.parametrize("ply", [0, 1, 4, 5])
def test_many_quiet_moves_score_as_one_does(history: History, ply: int) -> None:
    history.weigh(700, 300)
    for at, key in ((ply, 5), (ply + 1, 6)):
        history.set_pawns(at, key)
        history.set_attacked(at, 0x0000_5A00_0024_A55A)
    for at in range(2, ply):
        history.record_move(at, at & 1, OTHER)
    for bonus, move in ((BONUS, KNIGHT), (-BONUS, OTHER), (BONUS // 2, PAWN)):
        history.update_quiet(WHITE, move, ply, bonus)
    stack = movegen.MoveStack()
    end = movegen.generate(fen.parse(fen.START), stack, 0)
    before = [stack.scores[i] for i in range(end)]
    history.add_quiet_scores(stack, 0, end, WHITE, ply)
    for i in range(end):
        assert stack.scores[i] - before[i] == history.quiet_score(WHITE, stack.moves[i], ply)


@settings(max_examples=scaled(100, 10))
@given(BONUSES)
def test_scores_rise_with_rewards_and_fall_with_punishments_within_their_limit(bonuses: list[int]) -> None:
    history = History()
    for bonus in [*bonuses, *[max(map(abs, bonuses), default=0)] * 20]:
        for score, update in (
            (
                lambda: history.quiet_score(WHITE, KNIGHT, 0),
                lambda b: history.update_quiet(WHITE, KNIGHT, 0, b),
            ),
            (
                lambda: history.capture_score(WHITE, PROMOTES),
                lambda b: history.update_capture(WHITE, PROMOTES, b),
            ),
        ):
            before = score()
            update(bonus)
            assert -LIMIT <= score() <= LIMIT
            assert (score() - before) * bonus >= 0
            # The nearer to the limit, the less.
            assert abs(score() - before) <= abs(bonus) * (LIMIT + abs(before)) // LIMIT + 1
            if before * bonus <= 0:
                assert abs(score() - before) >= abs(bonus)


def test_no_number_of_the_table_makes_a_bonus_larger_than_the_limit() -> None:
    largest = {name: maximum for name, (_, _, maximum) in SEARCH.items()}
    assert largest["eval_history"] * largest["eval_limit"] <= LIMIT
    assert largest["bonus_max"] * largest["malus"] >> 10 <= LIMIT


@pytest.mark.parametrize("attacked", [0, 1 << 6, 1 << 21, (1 << 64) - 1])
def test_a_new_search_halves_what_was_learnt_of_squares_and_clear_forgets_everything(
    history: History, attacked: int
) -> None:
    history.weigh(0, 1024)
    history.set_attacked(2, attacked)
    history.set_pawns(2, 7)
    history.add_killer(2, KNIGHT)
    history.update_quiet(WHITE, KNIGHT, 2, BONUS)
    history.update_capture(WHITE, TAKES, BONUS)
    assert history.quiet_score(WHITE, KNIGHT, 2) == 4 * BONUS, "squares, pawns and the last two moves"
    assert history.quiet_score(BLACK, KNIGHT, 2) == history.quiet_score(WHITE, OTHER, 2) == 0
    history.new_search()
    history.age()
    # The killers and the line of the last search are gone.
    assert not any(history.killers)
    assert history.quiet_score(WHITE, KNIGHT, 2) == BONUS // 2 + BONUS
    assert history.capture_score(WHITE, TAKES) == BONUS
    history.clear()
    history.record_move(0, WHITE, PAWN)
    history.record_move(1, BLACK, ANSWER)
    assert history.quiet_score(WHITE, KNIGHT, 2) == history.capture_score(WHITE, TAKES) == 0


@pytest.mark.parametrize("side", [WHITE, BLACK])
@pytest.mark.parametrize("sign", [1, -1])
def test_errors_add_up_to_their_limit_for_one_side_to_move_and_are_cleared(side: int, sign: int) -> None:
    corrections = Corrections()

    def found(side: int) -> list[int]:
        pieces = corrections.by_pieces(side, ROW - 1, ROW - 2)
        return [corrections.by_pawns(side, ROW - 1), pieces // 2, corrections.by_minors(side, ROW - 1)]

    for _ in range(100):
        corrections.update(side, ROW - 1, ROW - 1, ROW - 2, ROW - 1, MOVES - 1, 5, sign * 4000)
    errors = [*found(side), corrections.by_moves(MOVES - 1, 5)]
    assert all(0.99 * LIMIT < sign * error <= LIMIT for error in errors)
    assert [*found(side ^ 1), corrections.by_moves(5, MOVES - 1)] == [0] * 4
    corrections.clear()
    assert [*found(side), corrections.by_moves(MOVES - 1, 5)] == [0] * 4
