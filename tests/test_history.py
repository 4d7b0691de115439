"""What the history tables remember of moves, for whom, and within which limits."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search.history import LIMIT, History
from search.tuned import SEARCH
from tests.oracle import only_c, scaled
from x88 import coordinate, fen, movegen
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
TAKES_QUEEN, TAKES_KNIGHT = (packed(f"4k3/8/8/8/8/{piece}7/8/R3K3 w - - 0 1", "a1a3") for piece in "qn")
PROMOTES = packed("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8q")


@pytest.fixture
def history() -> History:
    found = History()
    found.record_move(0, WHITE, PAWN)
    found.record_move(1, BLACK, ANSWER)
    return found


def test_a_quiet_move_is_rewarded_and_punished_for_its_own_side(history: History) -> None:
    history.update_quiet(WHITE, KNIGHT, 2, BONUS)
    history.update_quiet(WHITE, OTHER, 2, -BONUS)
    assert history.quiet_score(WHITE, KNIGHT, 2) > 0 > history.quiet_score(WHITE, OTHER, 2)
    assert history.quiet_score(BLACK, KNIGHT, 2) == history.quiet_score(BLACK, OTHER, 2) == 0


def test_a_quiet_move_scores_by_its_squares_and_as_the_answer_to_each_of_the_last_two(
    history: History,
) -> None:
    history.update_quiet(WHITE, KNIGHT, 2, BONUS)
    assert history.quiet_score(WHITE, KNIGHT, 2) == 3 * BONUS
    history.record_move(1, BLACK, OTHER)
    assert history.quiet_score(WHITE, KNIGHT, 2) == 2 * BONUS
    history.record_move(0, WHITE, OTHER)
    assert history.quiet_score(WHITE, KNIGHT, 2) == BONUS


def test_the_line_so_far_counts_from_the_ply_of_the_move(history: History) -> None:
    history.update_quiet(WHITE, KNIGHT, 2, BONUS)
    history.record_move(5, WHITE, PAWN)
    history.record_move(6, BLACK, ANSWER)
    assert history.quiet_score(WHITE, KNIGHT, 7) == 3 * BONUS
    assert history.quiet_score(WHITE, KNIGHT, 5) < 3 * BONUS


def test_a_quiet_move_scores_as_the_answer_to_the_move_four_plies_ago(history: History) -> None:
    history.weigh(512, 0)
    history.update_quiet(WHITE, KNIGHT, 4, BONUS)  # the moves of plies 2 and 3 are unknown
    assert history.quiet_score(WHITE, KNIGHT, 4) == BONUS + BONUS // 2
    history.record_move(0, WHITE, OTHER)
    assert history.quiet_score(WHITE, KNIGHT, 4) == BONUS
    history.record_move(1, BLACK, PAWN)
    assert history.quiet_score(WHITE, KNIGHT, 4) == BONUS, "three plies ago does not count"


@pytest.mark.parametrize("update", ["update_squares", "update_quiet"])
def test_a_quiet_move_scores_by_whether_the_opponent_attacks_its_squares(
    history: History, update: str
) -> None:
    origin, target = 1 << 6, 1 << 21  # g1 and f3
    history.record_null_move(0)
    history.record_null_move(1)
    for number, squares in enumerate((0, origin, target, origin | target), 1):
        history.set_attacked(2, squares)
        getattr(history, update)(WHITE, KNIGHT, 2, 10 * number)
    for number, squares in enumerate((0, origin, target, origin | target), 1):
        history.set_attacked(2, ~origin & ~target & (1 << 64) - 1 | squares)
        assert history.quiet_score(WHITE, KNIGHT, 2) == 10 * number
    assert history.quiet_score(BLACK, KNIGHT, 2) == history.quiet_score(WHITE, OTHER, 2) == 0


def test_a_quiet_move_can_learn_by_its_squares_alone(history: History) -> None:
    history.weigh(1024, 1024)
    history.update_squares(WHITE, KNIGHT, 2, BONUS)
    assert history.quiet_score(WHITE, KNIGHT, 2) == BONUS
    history.update_squares(WHITE, KNIGHT, 2, -BONUS)
    assert abs(history.quiet_score(WHITE, KNIGHT, 2)) < BONUS


def test_nothing_is_learnt_of_the_move_three_plies_ago(history: History) -> None:
    history.update_quiet(BLACK, OTHER, 3, BONUS)  # after the pawn's move at ply 0
    assert history.quiet_score(BLACK, OTHER, 1) == BONUS, "only by its squares"


def test_a_quiet_move_scores_by_the_pawns(history: History) -> None:
    history.weigh(0, 512)
    history.set_pawns(0, 77)
    history.set_pawns(5, 77 + 512 * 3)
    history.set_pawns(6, 76)
    history.update_quiet(WHITE, KNIGHT, 0, BONUS)
    assert [history.quiet_score(WHITE, KNIGHT, ply) for ply in (5, 6)] == [BONUS + BONUS // 2, BONUS]
    history.set_pawns(6, 511)
    history.update_quiet(BLACK, ANSWER, 6, BONUS)
    history.clear()
    assert history.quiet_score(WHITE, KNIGHT, 5) == history.quiet_score(BLACK, ANSWER, 6) == 0


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


def test_there_is_no_answer_to_a_null_move_nor_before_the_root(history: History) -> None:
    history.record_null_move(0)
    history.record_null_move(1)
    for _ in range(3):
        history.update_quiet(WHITE, KNIGHT, 2, BONUS)
    by_squares = history.quiet_score(WHITE, KNIGHT, 2)
    assert 2 * BONUS < by_squares <= 3 * BONUS
    assert history.quiet_score(WHITE, KNIGHT, 0) == by_squares
    history.record_move(0, WHITE, PAWN)
    history.record_move(1, BLACK, ANSWER)
    assert history.quiet_score(WHITE, KNIGHT, 2) == by_squares


def test_a_capture_scores_by_the_kind_it_takes(history: History) -> None:
    history.update_capture(WHITE, TAKES_QUEEN, BONUS)
    history.update_capture(WHITE, TAKES_KNIGHT, -BONUS)
    assert history.capture_score(WHITE, TAKES_QUEEN) == BONUS
    assert history.capture_score(WHITE, TAKES_KNIGHT) == -BONUS
    assert history.capture_score(BLACK, TAKES_QUEEN) == 0
    assert history.capture_score(WHITE, PROMOTES) == 0


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


def test_scores_come_near_their_limit_and_no_farther(history: History) -> None:
    for sign in (1, -1):
        for _ in range(200):
            history.update_quiet(WHITE, KNIGHT, 2, sign * 1600)
            history.update_capture(WHITE, PROMOTES, sign * 1600)
        assert 0.99 * LIMIT < sign * history.capture_score(WHITE, PROMOTES) <= LIMIT
        assert 0.99 * 3 * LIMIT < sign * history.quiet_score(WHITE, KNIGHT, 2) <= 3 * LIMIT


def test_no_number_of_the_table_makes_a_bonus_larger_than_the_limit() -> None:
    largest = {name: maximum for name, (_, _, maximum) in SEARCH.items()}
    assert largest["eval_history"] * largest["eval_limit"] <= LIMIT
    assert largest["bonus_max"] * largest["malus"] >> 10 <= LIMIT


def test_the_two_latest_killers_of_a_ply_are_kept(history: History) -> None:
    for move in (PAWN, KNIGHT, OTHER, OTHER):
        history.add_killer(3, move)
    found = [[history.killers[2 * ply + 0], history.killers[2 * ply + 1]] for ply in (2, 3, 4)]
    assert found == [[0, 0], [OTHER, KNIGHT], [0, 0]]
    history.new_search()
    assert not any(history.killers[2 * ply + older] for ply in range(128) for older in (0, 1))


@pytest.mark.parametrize("attacked", [0, 1 << 6, 1 << 21, (1 << 64) - 1])
def test_a_new_search_halves_what_was_learnt_of_squares_alone(history: History, attacked: int) -> None:
    history.set_attacked(2, attacked)
    history.update_quiet(WHITE, KNIGHT, 2, BONUS)
    history.update_quiet(WHITE, OTHER, 2, -BONUS)
    history.update_capture(WHITE, TAKES_QUEEN, BONUS)
    history.new_search()
    history.age()
    # The line of the last search is gone.
    assert history.quiet_score(WHITE, KNIGHT, 2) == BONUS // 2
    assert history.quiet_score(WHITE, OTHER, 2) == -BONUS // 2
    assert history.capture_score(WHITE, TAKES_QUEEN) == BONUS
    history.record_move(0, WHITE, PAWN)
    history.record_move(1, BLACK, ANSWER)
    assert history.quiet_score(WHITE, KNIGHT, 2) == BONUS // 2 + 2 * BONUS


@pytest.mark.parametrize("attacked", [0, 1 << 6, 1 << 21, (1 << 64) - 1])
def test_clear_forgets_everything(history: History, attacked: int) -> None:
    history.set_attacked(2, attacked)
    history.update_quiet(WHITE, KNIGHT, 2, BONUS)
    history.update_capture(WHITE, TAKES_QUEEN, BONUS)
    history.add_killer(2, KNIGHT)
    history.clear()
    assert history.killers[2 * 2 + 0] == 0
    assert history.quiet_score(WHITE, KNIGHT, 2) == 0
    history.record_move(0, WHITE, PAWN)
    history.record_move(1, BLACK, ANSWER)
    assert history.quiet_score(WHITE, KNIGHT, 2) == 0
    assert history.capture_score(WHITE, TAKES_QUEEN) == 0
