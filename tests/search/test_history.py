"""Histories: bonuses within the limit, and what a new search or game forgets.

The node counts of the bench notice every change of what the search learns and reads.
"""

import pytest

from search.history import LIMIT, History
from search.tuned import SEARCH
from tests.oracle import only_c
from tests.searches import packed
from x88.notation import fen
from x88.piece import BLACK, WHITE

pytestmark = only_c

BONUS = 1000

# White's pawn, Black's answer, and White's knight at ply 2.
PAWN, KNIGHT, OTHER = packed(fen.START, "e2e4 g1f3 b1c3")
(ANSWER,) = packed("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1", "e7e5")
(TAKES,) = packed("4k3/8/8/8/8/q7/8/R3K3 w - - 0 1", "a1a3")


def test_no_parameter_makes_a_bonus_larger_than_the_limit() -> None:
    largest = {name: maximum for name, (_, _, maximum) in SEARCH.items()}
    assert largest["eval_history"] * largest["eval_limit"] <= LIMIT
    assert max(largest["bonus_max"], largest["malus_max"]) <= LIMIT


def test_what_the_moves_before_say_together_weakens_a_bonus() -> None:
    def known(base: int) -> int:
        """What continuation history says of a move after a hundred bonuses."""
        history = History()
        history.weigh(1024, 0, base)
        history.record_move(0, WHITE, PAWN)
        history.record_move(1, BLACK, ANSWER)
        for _ in range(100):
            history.update_quiet(WHITE, KNIGHT, 2, BONUS)
        squares = History()
        for _ in range(100):
            squares.update_squares(WHITE, KNIGHT, 2, BONUS)
        return history.quiet_score(WHITE, KNIGHT, 2) - squares.quiet_score(WHITE, KNIGHT, 2)

    assert 1.9 * LIMIT < known(0) <= 2 * LIMIT, "each part reaches the limit"
    assert 0.9 * LIMIT < known(1024) <= LIMIT, "only their sum does"


@pytest.mark.parametrize("attacked", [0, 1 << 6, 1 << 21, (1 << 64) - 1])
def test_a_new_search_halves_quiet_history_and_clear_forgets_everything(attacked: int) -> None:
    history = History()
    history.record_move(0, WHITE, PAWN)
    history.record_move(1, BLACK, ANSWER)
    history.weigh(0, 1024, 0)
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
