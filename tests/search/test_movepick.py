"""The order of moves: what the search tries first, and that no bad capture hides among the good ones."""

from random import Random

import pytest

from search import benchmark, movepick
from search.history import LIMIT, History
from search.movepick import BAD_CAPTURE, GOOD_CAPTURE, KILLER, SELECTION_COST, TT_MOVE
from search.transposition import short_move
from search.tuned import SEARCH
from tests.oracle import STARTS, only_c
from x88 import build, movegen
from x88.attack import see
from x88.board import Board
from x88.move import captured_of, promoted_of
from x88.movegen import MAX_MOVES, MoveStack, legal_moves
from x88.notation import coordinate, fen
from x88.piece import QUEEN

pytestmark = only_c

WEIGHT = SEARCH["capture_history"][0]
PLY = 4
POSITIONS = [*STARTS, *(benchmark.POSITIONS if build.compiled else benchmark.POSITIONS[::4])]


def taught(board: Board, seed: int, bonus: int = LIMIT) -> History:
    """A history that has learnt as much as it can of every move, for or against it by chance."""
    chance = Random(seed)
    history = History()
    for move in legal_moves(board):
        sign = chance.choice((-1, 1))
        for _ in range(12):
            if captured_of(move) or promoted_of(move):
                history.update_capture(board.side, move, sign * bonus // 4)
            else:
                history.update_quiet(board.side, move, PLY, sign * bonus // 4)
    return history


def picked(
    board: Board, history: History, tt_move: int = 0, captures: bool = False, wanted: int = MAX_MOVES
) -> list[tuple[int, int]]:
    """All moves with their scores, in the order in which the search tries them, with so many of the quiet
    ones in order.
    """
    stack = MoveStack()
    if captures:
        end = quiets_begin = movegen.generate_captures(board, stack, 0)
        movepick.score_captures(stack, history, 0, end, board.side, tt_move, WEIGHT)
    else:
        end = movegen.generate(board, stack, 0)
        quiets_begin = movepick.score_moves(stack, history, 0, end, board.side, PLY, tt_move, WEIGHT)
    found = []
    for i in range(end):
        if i < quiets_begin:
            movepick.pick(board, stack, i, quiets_begin)
        if not captures and (i >= quiets_begin or stack.scores[i] < KILLER - 1):
            movepick.sort_quiets(stack, history, i, end, board.side, PLY, wanted)
            return found + [(stack.moves[j], stack.scores[j]) for j in range(i, end)]
        found.append((stack.moves[i], stack.scores[i]))
    return found


@pytest.mark.parametrize("captures", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_no_capture_among_the_good_ones_loses_material(seed: int, captures: bool) -> None:
    for text in POSITIONS:
        board = fen.parse(text)
        order = picked(board, taught(board, seed), captures=captures)
        if not captures:
            assert sorted(move for move, _ in order) == sorted(legal_moves(board))
        for move, score in order:
            if promoted_of(move) == QUEEN or (captured_of(move) and not promoted_of(move)):
                assert (score > KILLER) == (see(board, move) >= 0), (text, coordinate.write(move), score)


@pytest.mark.parametrize("seed", range(4))
def test_scores_fall_along_the_list_and_each_class_of_moves_keeps_to_its_range(seed: int) -> None:
    for text in POSITIONS:
        board = fen.parse(text)
        history = taught(board, seed)
        quiets = [move for move in legal_moves(board) if not captured_of(move) and not promoted_of(move)]
        if len(quiets) < 3:
            continue
        killers = Random(seed).sample(quiets, 2)
        for move in killers:
            history.add_killer(PLY, move)
        tt_move = Random(seed).choice([move for move in legal_moves(board) if move not in killers])
        order = picked(board, history, short_move(tt_move))
        assert order[0] == (tt_move, TT_MOVE)
        scores = [score for _, score in order]
        assert scores == sorted(scores, reverse=True)
        for move, score in order[1:]:
            if move in killers:
                assert score == KILLER - (move != killers[-1])
            elif captured_of(move) or promoted_of(move):
                assert score > (KILLER + GOOD_CAPTURE) // 2 or score < BAD_CAPTURE // 2
            else:
                assert abs(score) < KILLER // 2


@pytest.mark.parametrize("wanted", [-1, 0, 1, 2, 5, 11])
def test_the_best_quiet_moves_come_in_order_and_none_is_lost(wanted: int) -> None:
    for text in POSITIONS:
        board = fen.parse(text)
        history, chance = History(), Random(wanted)
        for move in legal_moves(board):
            history.update_quiet(board.side, move, PLY, chance.randint(-3000, 3000))
        order, part = picked(board, history), picked(board, history, wanted=wanted)
        assert sorted(part) == sorted(order), "the same moves with the same scores"
        ahead = len([score for _, score in order if score > KILLER // 2])
        scores = [score for _, score in part[ahead:]]
        sorted_part = max(wanted, 0)
        assert scores[:sorted_part] == [score for _, score in order[ahead:]][:sorted_part]
        if 0 <= wanted * SELECTION_COST < len(scores):
            assert len(scores) < 8 or scores != sorted(scores, reverse=True), "the rest is not sorted"
