"""The steps of the main search one by one, on its uncompiled source: which calls it makes, what it returns,
what it stores and learns.
"""

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from search import alphabeta, benchmark
from search.history import History
from search.limits import Limits
from search.score import DRAW, INFINITE, LONGEST_MATE, MATE, MAX_PLY, NO_SCORE
from search.search import Search
from search.searcher import Searcher
from search.stop import Stop
from search.table import (
    EXACT,
    LOWER,
    UPPER,
    TranspositionTable,
    bound_of,
    depth_of,
    move_of,
    score_of,
    short_move,
    static_of,
    was_pv,
)
from search.tuned import SEARCH
from x88 import attack, build, coordinate, fen
from x88.attack import in_check
from x88.move import NO_MOVE, captured_of, promoted_of
from x88.movegen import legal_moves
from x88.piece import WHITE

pytestmark = pytest.mark.skipif(build.compiled, reason="compiled, the steps of the search cannot be watched")

QUIET = "r1bqkb1r/pp1ppppp/2n2n2/8/3NP3/8/PPP2PPP/RNBQKB1R w KQkq - 1 5"
IN_CHECK = "5rk1/4r3/5p2/4P3/1P3P2/6Q1/8/5K2 b - - 2 49"
ONE_MOVE = "k7/3Q4/8/7p/7P/8/8/4K3 b - - 0 1"
TWO_EVASIONS = "6k1/8/8/8/8/8/8/r6K w - - 0 1"
ONE_EVASION = "6k1/8/8/8/8/7p/8/r6K w - - 0 1"
TACTICS = benchmark.POSITIONS[37:42]

Call = Callable[..., int]
alphabeta_search: Call = vars(alphabeta).get("search", None)  # none if compiled


def searcher_at(text: str, move: str = "") -> Searcher:
    """A searcher whose root is a position, after one move if given: that is ply 1."""
    searcher = Searcher(TranspositionTable(1), Stop())
    searcher.prepare(fen.parse(text), 0)
    searcher.extension_ply = 10
    if move:
        searcher.make(coordinate.parse(searcher.board, move), 0)
    return searcher


def watch(monkeypatch: pytest.MonkeyPatch, spy: Callable[[Call, Any], Call]) -> None:
    """Have the search call `spy(search, ...)` wherever it calls itself."""
    original = alphabeta.search
    monkeypatch.setattr(alphabeta, "search", lambda searcher, *arguments: spy(original, searcher, *arguments))


def test_a_null_move_proves_no_mate(monkeypatch: pytest.MonkeyPatch) -> None:
    nulls = []

    def spy(search: Call, searcher: Searcher, *arguments: Any) -> int:
        if searcher.board.last_move() == NO_MOVE and searcher.board.ply > 1:
            nulls.append(arguments)
            return 5 - MATE  # the side that passed would mate
        return search(searcher, *arguments)

    original = alphabeta.search
    watch(monkeypatch, spy)
    score = original(searcher_at(QUIET, "b1c3"), -301, -300, 6, 1, 0, True)
    assert nulls
    assert score == -300


def test_a_search_without_its_best_move_is_not_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    singular = []
    store = TranspositionTable.store
    searchers: list[Searcher] = []

    def spy(search: Call, searcher: Searcher, *arguments: Any) -> int:
        if searcher.excluded[arguments[3]]:
            singular.append(arguments)
        return search(searcher, *arguments)

    def store_spy(table: TranspositionTable, *arguments: Any) -> None:
        assert not searchers[-1].excluded[searchers[-1].board.ply]
        store(table, *arguments)

    watch(monkeypatch, spy)
    monkeypatch.setattr(TranspositionTable, "store", store_spy)
    for text in TACTICS:
        searchers.append(searcher_at(text))
        for depth in range(1, 9):
            searchers[-1].extension_ply = depth
            alphabeta.search(searchers[-1], -INFINITE, INFINITE, depth, 0, 0, False)
            if searchers[-1].nodes > 8000:
                break
    assert singular


def test_singular_extension_asks_for_an_entry_of_about_the_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    depths = []

    def spy(search: Call, searcher: Searcher, *arguments: Any) -> int:
        _, _, depth, ply, _, _ = arguments
        if searcher.excluded[ply]:
            # The search without the move has half the depth, rounded down.
            data = searcher.table.probe(searcher.board.key)
            depths.append(depth_of(data) - (2 * depth + 1))
        return search(searcher, *arguments)

    watch(monkeypatch, spy)
    for text in TACTICS:
        Search(1).think(fen.parse(text), Limits(nodes=12_000))
    assert depths
    assert min(depths) >= -3


def test_the_evaluation_learns_from_no_capture_and_no_mate(monkeypatch: pytest.MonkeyPatch) -> None:
    learnt: list[tuple[int, int]] = []
    stored = []
    learn, store = Searcher.update_corrections, TranspositionTable.store
    searchers: list[Searcher] = []

    def learn_spy(searcher: Searcher, error: int, depth: int, ply: int) -> None:
        searchers.append(searcher)
        learnt.append((searcher.board.key, error))
        assert not in_check(searcher.board)
        learn(searcher, error, depth, ply)

    def store_spy(table: TranspositionTable, key: int, move: int, score: int, *rest: int) -> None:
        if learnt and learnt[-1][0] == key and len(stored) < len(learnt):
            stored.append(score)
            assert abs(score) < LONGEST_MATE
            for legal in legal_moves(searchers[-1].board):
                if short_move(legal) == move:
                    assert not captured_of(legal)
                    assert not promoted_of(legal)
        store(table, key, move, score, *rest)

    monkeypatch.setattr(Searcher, "update_corrections", learn_spy)
    monkeypatch.setattr(TranspositionTable, "store", store_spy)
    for text in TACTICS:
        Search(1).think(fen.parse(text), Limits(nodes=4000))
    assert len(stored) > 100
    assert max(abs(error) for _, error in learnt) < LONGEST_MATE


@pytest.mark.parametrize(("stored", "cuts"), [(1, False), (2, True)])
def test_a_check_does_not_extend_the_depth_that_is_asked_of_the_table(stored: int, cuts: bool) -> None:
    searcher = searcher_at(IN_CHECK)
    key = searcher.board.key
    searcher.table.store(key, 0, 777, 0, stored, EXACT, False)
    score = alphabeta.search(searcher, 700, 701, 2, 1, 0, True)
    assert (score == 777) == cuts


@pytest.mark.parametrize("text", [IN_CHECK, ONE_EVASION])
def test_a_node_in_check_is_stored_with_its_depth(text: str) -> None:
    searcher = searcher_at(text)
    alphabeta.search(searcher, -INFINITE, INFINITE, 2, 1, 0, False)
    assert depth_of(searcher.table.probe(searcher.board.key)) == 2


def test_what_hindsight_adds_is_not_stored() -> None:
    """Or the next iteration, which asks for one ply more, would be cut off by this one."""
    nodes = []
    for reduced in (0, 6):
        searcher = searcher_at(QUIET, "b1c3")
        searcher.reductions[0] = reduced
        searcher.static_evals[0] = -5000
        alphabeta.search(searcher, -INFINITE, INFINITE, 2, 1, 0, False)
        assert depth_of(searcher.table.probe(searcher.board.key)) == 2
        nodes.append(searcher.nodes)
    assert nodes[0] < nodes[1], "it was searched more deeply"


@pytest.mark.parametrize(
    ("before", "after", "share"),
    [(30, -70, 0.25), (30, -30, 0), (-20, 60, -0.25), (0, -300, 1), (0, 300, -1), (NO_SCORE, -50, None)],
)
def test_a_quiet_move_learns_by_how_much_it_changed_the_evaluation(
    before: int, after: int, share: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    bonus_limit = SEARCH["eval_limit"][0] * SEARCH["eval_history"][0]
    expected = [] if share is None else [(WHITE, "b1c3", round(share * bonus_limit))]
    assert learnt_by_evaluation(QUIET, "b1c3", before, after, monkeypatch) == expected


@pytest.mark.parametrize(
    ("text", "move"),
    [
        pytest.param(QUIET, "d4c6", id="a capture"),
        pytest.param("7k/P7/8/8/8/8/8/K7 w - - 0 1", "a7a8n", id="a promotion"),
        pytest.param("7k/8/8/8/8/8/8/KR6 w - - 0 1", "b1b8", id="a check"),
    ],
)
def test_other_moves_learn_nothing_of_the_evaluation(
    text: str, move: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert learnt_by_evaluation(text, move, 0, -60, monkeypatch) == []


def test_a_null_move_and_a_singular_search_learn_nothing_of_the_evaluation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert learnt_by_evaluation(QUIET, "b1c3", 0, -60, monkeypatch, excluded="a7a6") == []
    assert learnt_by_evaluation(QUIET, "0000", 0, -60, monkeypatch) == []


def test_the_root_teaches_nothing_of_the_move_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    board = fen.parse(QUIET)
    board.make(coordinate.parse(board, "b1c3"))
    searcher = Searcher(TranspositionTable(1), Stop())
    searcher.prepare(board, 0)
    searcher.static_evals[-1] = 50
    plies: list[int] = []
    monkeypatch.setattr(History, "update_squares", lambda *arguments: plies.append(arguments[3]))
    alphabeta_search(searcher, -INFINITE, INFINITE, 2, 0, 0, False)
    assert plies
    assert min(plies) == 0


@pytest.mark.parametrize(
    ("text", "depth", "ply", "limited"),
    [(QUIET, 2, 1, True), (QUIET, 12, 1, False), (QUIET, 2, 0, False), (IN_CHECK, 2, 1, False)],
)
def test_only_as_many_quiet_moves_are_sorted_as_late_move_pruning_lets_through(
    text: str, depth: int, ply: int, limited: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    searcher = searcher_at(text)
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(alphabeta, "sort_quiets", lambda *arguments: asked.append(arguments[2:]))
    monkeypatch.setattr(alphabeta, "search", lambda *_: 0)
    monkeypatch.setattr(alphabeta, "quiesce", lambda *_: 0)
    alphabeta_search(searcher, -INFINITE, INFINITE, depth, ply, 0, False)
    ((start, end, side, at, wanted),) = asked
    assert (side, at) == (searcher.board.side, ply)
    assert (wanted < end - start) == limited
    if limited:
        parameters = searcher.parameters
        most = parameters.lmp_base + (depth * depth * parameters.lmp_slope >> 4)
        assert wanted in (most - start, (most >> 1) - start), "all moves before are counted"


def learnt_by_evaluation(
    text: str, move: str, before: int, after: int, monkeypatch: pytest.MonkeyPatch, excluded: str = ""
) -> list[tuple[int, str, int]]:
    """Whose move the search of a node, after a move that leads there, gives which bonus by the evaluations
    before and after it.
    """
    searcher = searcher_at(text, "" if move == "0000" else move)
    if move == "0000":
        searcher.make_null(0)
    ply = 1
    searcher.static_evals[0] = before
    if excluded:
        searcher.excluded[ply] = coordinate.parse(searcher.board, excluded)
        searcher.static_evals[ply] = after
    learnt: list[tuple[int, str, int]] = []

    def spy(_: History, side: int, made: int, of: int, bonus: int) -> None:
        if searcher.board.ply == ply:
            assert of == ply - 1
            learnt.append((side, coordinate.write(made), bonus))

    monkeypatch.setattr(History, "update_squares", spy)
    monkeypatch.setattr(Searcher, "corrected", lambda *_: after)
    alphabeta_search(searcher, -INFINITE, INFINITE, 1, ply, 0, False)
    return learnt


def test_captures_en_passant_are_not_asked_whether_they_give_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """`gives_check` is for other moves only."""
    original = alphabeta.gives_check
    asked = []

    def spy(board: Any, move: int) -> bool:
        assert not promoted_of(move)
        assert not move & alphabeta.EN_PASSANT
        asked.append(move)
        return original(board, move)

    monkeypatch.setattr(alphabeta, "gives_check", spy)
    for text in (
        "2kr3r/ppnbbp2/2pq3p/3p1Pp1/3P2P1/2BB3P/PPP2QN1/1K1R3R w - g6 0 20",
        *benchmark.POSITIONS[36:38],
    ):
        Search(1).think(fen.parse(text), Limits(nodes=3000))
    assert asked


def test_the_move_of_an_entry_is_tried_first(monkeypatch: pytest.MonkeyPatch) -> None:
    searcher = searcher_at(QUIET, "b1c3")
    move = coordinate.parse(searcher.board, "h7h6")
    searcher.table.store(searcher.board.key, short_move(move), 0, 0, 1, EXACT, False)
    assert move_of(searcher.table.probe(searcher.board.key)) == short_move(move)
    played: list[int] = []

    def spy(search: Call, searcher: Searcher, *arguments: Any) -> int:
        if arguments[3] == 2:
            played.append(searcher.board.last_move())
        return search(searcher, *arguments)

    original = alphabeta.search
    watch(monkeypatch, spy)
    original(searcher, -INFINITE, INFINITE, 3, 1, 0, False)
    assert next(found for found in played if found != NO_MOVE) == move


@pytest.mark.parametrize(
    ("text", "verifies"),
    [
        ("4k3/pppp4/8/8/8/8/PPPP4/N3K3 b - - 0 1", True),
        ("4k3/pppp4/8/8/8/8/PPPP4/NN2K3 b - - 0 1", False),
    ],
)
def test_a_null_move_with_a_single_piece_is_verified(
    text: str, verifies: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one piece, zugzwang is likely enough for a second search, in which the side does not pass."""
    searcher = searcher_at(text, "e8f8")
    searcher.parameters.reverse_futility_depth = 0
    verified = []

    def spy(_search: Call, searcher: Searcher, *arguments: Any) -> int:
        if searcher.board.last_move() == NO_MOVE and searcher.board.ply > 1:
            return 200  # passing fails high
        if arguments[3] == 1:
            verified.append(arguments)
            assert searcher.null_ply > 1
            return -400
        return 400

    original = alphabeta.search
    watch(monkeypatch, spy)
    score = original(searcher, -301, -300, 6, 1, 0, True)
    assert len(verified) == verifies
    if verifies:
        assert verified[0][0] + 1 == verified[0][1] == -300, "a null window below beta"
        assert score < -300, "it did not fail high, so the moves are searched"
    else:
        assert score == -200, "that of passing"
    assert searcher.null_ply == 0


@pytest.mark.parametrize("depth", [6, 10])
def test_the_singular_margin_grows_with_the_depth(depth: int, monkeypatch: pytest.MonkeyPatch) -> None:
    searcher = searcher_at(QUIET, "b1c3")
    searcher.parameters.singular_margin = 3 * 64  # three centipawns per ply
    move = coordinate.parse(searcher.board, "h7h6")
    searcher.table.store(searcher.key(), short_move(move), 50, 0, depth - 1, LOWER, False)
    windows = []

    def spy(_search: Call, searcher: Searcher, *arguments: Any) -> int:
        if searcher.excluded[1]:
            windows.append(arguments[:3])
            assert searcher.excluded[1] == move
        return 0

    original = alphabeta.search
    watch(monkeypatch, spy)
    original(searcher, -INFINITE, INFINITE, depth, 1, 0, False)
    beta = 50 - 3 * depth
    assert windows == [(beta - 1, beta, (depth - 1) // 2)]


@pytest.mark.parametrize(
    ("text", "singular", "tt_score", "pv_node", "extension"),
    [
        ("h7h6", -200, 50, True, 1),
        ("h7h6", -200, 50, False, 3),
        ("c6d4", -200, 50, False, 2),
        ("h7h6", -109, 50, False, 3),
        ("h7h6", -108, 50, False, 2),
        ("h7h6", -19, 50, False, 2),
        ("h7h6", -18, 50, False, 1),
        ("h7h6", 49, 50, False, -1),
        ("h7h6", 49, 105, False, -2),
        ("h7h6", 49, 105, True, 0),
    ],
)
def test_the_move_of_an_entry_is_extended_as_far_as_it_is_singular(
    text: str, singular: int, tt_score: int, pv_node: bool, extension: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    searcher = searcher_at(QUIET, "b1c3")
    searcher.parameters.singular_margin = 64
    searcher.parameters.double_margin = 60
    searcher.parameters.triple_margin = 150
    move = coordinate.parse(searcher.board, text)
    searcher.table.store(searcher.key(), short_move(move), tt_score, 0, 6, LOWER, False)
    depths = []

    def spy(_search: Call, searcher: Searcher, *arguments: Any) -> int:
        if searcher.excluded[1]:
            return singular if tt_score == 50 else tt_score
        if searcher.board.last_move() == move:
            depths.append(arguments[2])
            return -30_000  # fails high
        return 30_000

    original = alphabeta.search
    watch(monkeypatch, spy)
    original(searcher, -300 if pv_node else 99, 200 if pv_node else 100, 8, 1, 0, not pv_node)
    assert depths[0] == 7 + extension


def test_the_score_of_a_node_is_no_lower_than_what_its_pruned_moves_might_reach(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A move is pruned because it could at best reach its futility value: that is not ruled out."""
    searcher = searcher_at(QUIET, "b1c3")
    static = searcher.evaluation.value(searcher.board)
    searcher.parameters.futility, searcher.parameters.futility_step = 100, 0
    searched = []

    def spy(_search: Call, searcher: Searcher, *arguments: Any) -> int:
        searched.append(arguments)
        return 500 - static  # 500 below the static evaluation

    original = alphabeta.search
    watch(monkeypatch, spy)
    assert original(searcher, static + 300, static + 301, 2, 1, 0, False) == static + 100
    assert len(searched) == 1


@pytest.mark.parametrize(
    ("bound", "score", "returned"),
    [(EXACT, 700, 700), (LOWER, 700, 700), (UPPER, 700, 500), (LOWER, 300, 500), (UPPER, 450, 450)],
)
def test_the_score_of_a_shallow_entry_is_a_better_estimate_where_its_bound_says_so(
    bound: int, score: int, returned: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reverse futility pruning returns the estimate."""
    searcher = searcher_at(QUIET, "b1c3")
    searcher.table.store(searcher.key(), 0, score, 500, 0, bound, False)
    monkeypatch.setattr(alphabeta, "search", None)
    assert alphabeta_search(searcher, -1, 0, 2, 1, 0, True) == returned
    assert searcher.nodes == 1


def test_a_move_s_search_is_one_ply_shallower_and_without_an_expected_move_another_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for known, pv_node, cut_node, depth in (
        (True, True, False, 5),
        (False, True, False, 4),
        (True, False, True, 5),
        (False, False, True, 4),
        (False, False, False, 5),
    ):
        searcher = searcher_at(QUIET, "b1c3")
        searcher.parameters.reverse_futility_depth = 0
        searcher.parameters.null_depth = 100
        if known:
            move = short_move(coordinate.parse(searcher.board, "h7h6"))
            searcher.table.store(searcher.key(), move, 0, 0, 0, UPPER, False)
        depths = watch_children(monkeypatch, 0)
        alphabeta_search(searcher, -30, 30 if pv_node else -29, 6, 1, 0, cut_node)
        assert depths[0] == depth


def test_fewer_late_moves_are_searched_if_the_evaluation_has_not_improved_in_two_plies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts = []
    for two_before in (-5000, 5000, NO_SCORE):
        searcher = searcher_at(QUIET)
        for ply, move in enumerate(("b1c3", "a7a6", "a2a3", "h7h6")):
            searcher.make(coordinate.parse(searcher.board, move), ply)
        searcher.static_evals[0] = 5000 - two_before if two_before != NO_SCORE else 5000
        searcher.static_evals[2] = two_before
        for name in ("futility_depth", "see_quiet_depth", "capture_futility_depth", "see_capture_depth"):
            setattr(searcher.parameters, name, -1)
        depths = watch_children(monkeypatch, 0)
        alphabeta_search(searcher, -1, 1, 2, 4, 0, False)
        counts.append(len(depths))
    improving, worsening, unknown = counts
    assert improving == unknown > worsening


def watch_children(monkeypatch: pytest.MonkeyPatch, score: int) -> list[int]:
    """Let every move have this score for the side that has made it; the depths searched are noted."""
    depths: list[int] = []

    def child(_searcher: Searcher, _alpha: int, _beta: int, depth: int, *_: Any) -> int:
        depths.append(depth)
        return -score

    monkeypatch.setattr(alphabeta, "search", child)
    return depths


def test_without_the_only_legal_move_there_is_no_score_above_alpha() -> None:
    searcher = searcher_at(ONE_MOVE)
    (searcher.excluded[1],) = legal_moves(searcher.board)
    searcher.static_evals[1] = 0
    assert alphabeta_search(searcher, -77, -76, 3, 1, 0, True) == -77
    assert searcher.table.probe(searcher.key()) == 0


def test_an_entry_may_have_the_only_legal_move(monkeypatch: pytest.MonkeyPatch) -> None:
    searcher = searcher_at(ONE_MOVE)
    (move,) = legal_moves(searcher.board)
    searcher.table.store(searcher.key(), short_move(move), 0, 0, 0, EXACT, False)
    depths = watch_children(monkeypatch, 12)
    assert alphabeta_search(searcher, -100, 100, 3, 1, 0, False) == 12
    assert depths == [2]


def test_at_the_deepest_ply_the_static_evaluation_is_the_score() -> None:
    searcher = searcher_at(QUIET)
    value = searcher.evaluation.value(searcher.board)
    assert alphabeta_search(searcher, -INFINITE, INFINITE, 3, MAX_PLY - 1, 0, False) == value
    assert searcher.nodes == 1
    checked = searcher_at(IN_CHECK)
    assert alphabeta_search(checked, -INFINITE, INFINITE, 3, MAX_PLY - 1, 0, False) == DRAW
    assert checked.nodes == 1


def test_with_a_mate_score_for_alpha_only_a_search_for_a_mate_is_full_width(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for seeks_mate in (None, False, True):
        searcher = searcher_at(QUIET, "b1c3")
        if seeks_mate is not None:
            searcher.seeks_mate = seeks_mate
        depths = watch_children(monkeypatch, 0)
        alphabeta_search(searcher, LONGEST_MATE, LONGEST_MATE + 1, 3, 1, 0, False)
        if seeks_mate:
            assert len(depths) == len(legal_moves(searcher.board))
            assert set(depths) == {2}, "none is reduced"
        else:
            assert len(depths) < len(legal_moves(searcher.board)) // 2


def test_no_move_is_pruned_while_all_that_were_searched_are_mated(monkeypatch: pytest.MonkeyPatch) -> None:
    for score, all_searched in ((5 - MATE, True), (-3000, False)):
        searcher = searcher_at(QUIET, "b1c3")
        depths = watch_children(monkeypatch, score)
        assert alphabeta_search(searcher, 3000, 3001, 2, 1, 0, False) >= score
        assert (len(depths) == len(legal_moves(searcher.board))) == all_searched


def test_the_exchange_is_left_out_only_where_no_material_can_be_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def nodes() -> list[int]:
        found = []
        for text in benchmark.POSITIONS[:12]:
            found.append(Search(1).think(fen.parse(text), Limits(depth=4)).nodes)
        return found

    expected = nodes()
    monkeypatch.setattr(alphabeta, "may_lose", lambda move, attacked: True)
    assert nodes() == expected


def test_a_quiet_move_may_lose_more_the_deeper_it_is_searched_and_the_better_its_history(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    depth = 4
    searcher = searcher_at(QUIET, "b1c3")
    searcher.parameters.lmp_base = 100
    searcher.parameters.futility = 5000
    board, side = searcher.board, searcher.board.side
    moves = [move for move in legal_moves(board) if not captured_of(move)]
    searcher.history.set_attacked(1, attack.attacked_squares(board, side ^ 1))
    for number, move in enumerate(moves):
        for _ in range(20):
            searcher.history.update_quiet(side, move, 1, 900 if number % 2 else -1500)
    least = SEARCH["see_quiet"][0]
    share = SEARCH["see_history"][0]
    original = alphabeta.see_at_least
    asked = []

    def watched(board: Any, move: int, threshold: int) -> bool:
        if board.ply == 1 and move in moves:
            by_history = searcher.history.quiet_score(side, move, 1) * share >> 14
            # Histories have changed a little since the moves were sorted.
            by_depth = min((n * n for n in range(9)), key=lambda n: abs(n * least + by_history + threshold))
            assert abs(by_depth * least + by_history + threshold) <= 8, (threshold, by_history)
            asked.append((by_depth, threshold > 0, alphabeta.may_lose(move, searcher.history.attacked[1])))
        return bool(original(board, move, threshold))

    monkeypatch.setattr(alphabeta, "see_at_least", watched)
    alphabeta.search(searcher, -INFINITE, INFINITE, depth, 1, 0, False)
    assert max(by_depth for by_depth, _, _ in asked) >= 4
    assert any(loses for _, loses, may in asked if not may), "whatever it does, it may lose too much"
    assert not any(not loses for _, loses, may in asked if not may), "asked, though it loses nothing"


def test_a_killer_move_is_reduced_by_its_history(monkeypatch: pytest.MonkeyPatch) -> None:
    depths: dict[str, int] = {}

    def child(searcher: Searcher, _alpha: int, _beta: int, depth: int, *_: Any) -> int:
        depths[coordinate.write(searcher.board.last_move())] = depth
        return 0

    monkeypatch.setattr(alphabeta, "search", child)
    found = []
    for bonus in (-1000, 1000):
        searcher = searcher_at(QUIET, "b1c3")
        killer, expected = (coordinate.parse(searcher.board, text) for text in ("a7a6", "h7h6"))
        searcher.history.add_killer(1, killer)
        for _ in range(50):
            searcher.history.update_quiet(searcher.board.side, killer, 1, bonus)
        searcher.table.store(searcher.key(), short_move(expected), 0, 0, 0, UPPER, False)
        searcher.parameters.singular_depth = searcher.parameters.null_depth = 100
        alphabeta_search(searcher, 0, 1, 10, 1, 0, False)
        found.append(depths["a7a6"])
    assert found[0] < found[1] <= 9


def test_the_score_of_the_root_is_kept_as_soon_as_it_has_a_move(monkeypatch: pytest.MonkeyPatch) -> None:
    searcher = searcher_at(QUIET)
    scores: list[int] = []

    def child(searcher: Searcher, *_: Any) -> int:
        scores.append(searcher.root_score)
        return -len(scores)

    monkeypatch.setattr(alphabeta, "search", child)
    searcher.root_score = -777
    best = alphabeta_search(searcher, -INFINITE, INFINITE, 2, 0, 0, False)
    assert scores[:2] == [-777, 1]
    assert searcher.root_score == best > 1


def test_only_the_root_is_restricted_to_the_moves_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[str] = []

    def child(searcher: Searcher, *_: Any) -> int:
        played.append(coordinate.write(searcher.board.last_move()))
        return 0

    monkeypatch.setattr(alphabeta, "search", child)
    for ply in (0, 1):
        searcher = searcher_at(QUIET)
        searcher.allow([coordinate.parse(searcher.board, text) for text in ("f1e2", "a2a3")])
        played.clear()
        alphabeta_search(searcher, -INFINITE, INFINITE, 1, ply, 0, False)
        if ply:
            assert len(set(played)) > 2
        else:
            assert list(dict.fromkeys(played)) == ["f1e2", "a2a3"], "the first that is allowed comes first"


def test_no_capture_joins_the_quiet_moves_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
    searcher = searcher_at(text)
    searcher.parameters.iir_depth = 100
    searcher.allow([coordinate.parse(searcher.board, "a2a3")])
    played: list[str] = []

    def child(searcher: Searcher, *_: Any) -> int:
        played.append(coordinate.write(searcher.board.last_move()))
        return 0

    monkeypatch.setattr(alphabeta, "search", child)
    alphabeta_search(searcher, -INFINITE, INFINITE, 1, 0, 0, False)
    assert set(played) == {"a2a3"}


def test_the_later_a_quiet_move_comes_the_more_it_is_reduced(monkeypatch: pytest.MonkeyPatch) -> None:
    searcher = searcher_at(QUIET, "b1c3")
    for name in ("lmp_depth", "futility_depth", "see_quiet_depth", "reverse_futility_depth"):
        setattr(searcher.parameters, name, -1)
    searcher.parameters.null_depth = searcher.parameters.iir_depth = 100
    depths: list[int] = []

    def child(searcher: Searcher, _alpha: int, _beta: int, depth: int, *_: Any) -> int:
        if not captured_of(searcher.board.last_move()):
            depths.append(depth)
        return 0

    monkeypatch.setattr(alphabeta, "search", child)
    alphabeta_search(searcher, 0, 1, 8, 1, 0, False)
    assert depths == sorted(depths, reverse=True)
    assert depths[0] == 7
    assert 3 <= depths[-1] <= 5


@pytest.mark.parametrize("best", ["c6d4", "a7a6"])
def test_the_move_that_fails_high_is_rewarded_and_those_before_it_are_punished(best: str) -> None:
    searcher = searcher_at(QUIET, "b1c3")
    side = searcher.board.side
    captures = ["f6e4", "c6d4"]  # as if ordered so
    quiets = ["h7h6", "a7a6", "b7b6"]
    order = ["h7h6", *captures, "a7a6", "b7b6"]
    moves = {text: coordinate.parse(searcher.board, text) for text in order}
    for i, text in enumerate(order):
        searcher.stack.moves[i] = moves[text]
    alphabeta.update_histories(searcher, 0, order.index(best), 1, 5)
    before = order[: order.index(best)]
    for text in captures:
        score = searcher.history.capture_score(side, moves[text])
        assert (score > 0, score < 0) == (text == best, text in before)
    for text in quiets:
        score = searcher.history.quiet_score(side, moves[text], 1)
        assert (score > 0, score < 0) == (text == best, text in before and best in quiets)
    assert searcher.history.killers[2] == (moves[best] if best in quiets else 0)


def test_every_node_below_the_root_counts_for_one_of_its_moves() -> None:
    searcher = searcher_at(QUIET)
    alphabeta_search(searcher, -INFINITE, INFINITE, 2, 0, 0, False)
    counts = [searcher.nodes_under(move) for move in legal_moves(searcher.board)]
    assert sum(counts) == searcher.nodes - 1
    assert min(counts) >= 1


FREE_QUEEN = "4k3/8/8/3q4/8/8/8/3RK3 b - - 0 1"


@pytest.mark.parametrize(
    ("depth", "gain", "entry", "cuts"),
    [
        # By the score over beta that the capture brings in the shallow search; 100 are needed.
        (5, 150, None, True),
        (5, 100, None, True),
        (5, 99, None, False),
        (4, 150, None, False),
        # By the score of an upper bound over beta, and its depth: it may say that the gain is too small.
        (5, 150, (-5000, 2), False),
        (5, 150, (-5000, 1), True),
        (5, 150, (99, 2), False),
        (5, 150, (100, 2), True),
    ],
)
def test_a_capture_that_fails_high_by_far_in_a_shallow_search_cuts_the_node_off(
    depth: int, gain: int, entry: tuple[int, int] | None, cuts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    searcher = probcut_searcher()
    key = searcher.key()
    static = searcher.evaluation.value(searcher.board)
    beta = static + 200
    if entry is not None:
        above, found = entry
        searcher.table.store(key, 0, beta + above, static, found, UPPER, True)
    calls: list[tuple[Any, ...]] = []

    def spy(_search: Call, searcher: Searcher, *arguments: Any) -> int:
        calls.append((coordinate.write(searcher.board.last_move()), *arguments[2:]))
        if (arguments[0], arguments[1]) == (-beta - 100, -beta - 99):
            return -beta - gain
        return -beta + 1  # fails low

    original = alphabeta.search
    watch(monkeypatch, spy)
    score = original(searcher, beta - 1, beta, depth, 1, 0, True)
    data = searcher.table.probe(key)
    if cuts:
        # One capture is on the stack; the node after it is an expected cut node no more.
        assert calls == [("d1d5", depth - 4, 2, 1, False)]
        assert score == score_of(data) == beta + gain
        assert (depth_of(data), bound_of(data), static_of(data)) == (depth - 3, LOWER, static)
        assert move_of(data) == short_move(coordinate.parse(searcher.board, "d1d5"))
        assert bool(was_pv(data)) == (entry is not None)
    else:
        assert score < beta
        assert len(calls) > 1


TWO_QUEENS = "4k3/8/8/3q4/8/8/q7/Q2RK3 b - - 0 1"


@pytest.mark.parametrize("first", ["d1d5", "a1a2"])
def test_all_good_captures_are_tried_and_that_of_the_table_first(
    first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    searcher = probcut_searcher(TWO_QUEENS)
    move = short_move(coordinate.parse(searcher.board, first))
    searcher.table.store(searcher.key(), move, 0, 0, 0, LOWER, False)
    beta = searcher.evaluation.value(searcher.board) + 200
    played: list[str] = []

    def child(searcher: Searcher, alpha: int, _beta: int, _depth: int, sp: int, *_: Any) -> int:
        """As a child does, it writes on the stack from where it may."""
        if alpha == -beta - 100:
            played.append(coordinate.write(searcher.board.last_move()))
            searcher.stack.moves[sp] = searcher.stack.moves[sp + 1] = 0
        return -beta + 1

    monkeypatch.setattr(alphabeta, "quiesce", child)
    monkeypatch.setattr(alphabeta, "search", lambda *_: -beta + 1)
    alphabeta_search(searcher, beta - 1, beta, 5, 1, 0, True)
    assert played[0] == first
    assert set(played) == {"d1d5", "a1a2"}


def probcut_searcher(text: str = FREE_QUEEN) -> Searcher:
    """A searcher at ply 1, after the king's move to e7, with the steps that would come first switched off."""
    searcher = searcher_at(text, "e8e7")
    searcher.parameters.null_depth = searcher.parameters.singular_depth = 100
    searcher.parameters.reverse_futility_depth = 0
    searcher.parameters.probcut_depth, searcher.parameters.probcut = 5, 100
    return searcher


@pytest.mark.parametrize(
    ("text", "above", "quiescent"),
    [
        (FREE_QUEEN, 900, 9000),  # with the margin more than the exchange can win
        (FREE_QUEEN, 200, -9000),  # quiescence sees no gain
        ("4k3/2p5/3p4/8/8/8/8/3RK3 b - - 0 1", -2000, 9000),  # the capture loses the exchange
    ],
)
def test_a_capture_that_promises_too_little_is_not_tried_first(
    text: str, above: int, quiescent: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    searcher = probcut_searcher(text)
    beta = searcher.evaluation.value(searcher.board) + above
    windows: list[tuple[int, int]] = []

    def child(_searcher: Searcher, alpha: int, beta: int, *_: Any) -> int:
        windows.append((alpha, beta))
        return -beta + 1

    monkeypatch.setattr(alphabeta, "search", child)
    monkeypatch.setattr(alphabeta, "quiesce", lambda *_: -quiescent)
    alphabeta_search(searcher, beta - 1, beta, 5, 1, 0, True)
    assert windows
    assert (-beta - 100, -beta - 99) not in windows


def test_a_mate_found_by_a_capture_in_a_shallow_search_is_stored_as_counted_from_its_node(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searcher = probcut_searcher()
    beta = searcher.evaluation.value(searcher.board) + 200
    watch(monkeypatch, lambda *_: 10 - MATE)
    monkeypatch.setattr(alphabeta, "quiesce", lambda *_: -9000)
    assert alphabeta_search(searcher, beta - 1, beta, 5, 1, 0, True) == MATE - 10
    assert score_of(searcher.table.probe(searcher.key())) == MATE - 9


def test_a_node_with_two_good_moves_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """All but the TT move together reach a margin that is not below beta."""
    for beta, cuts in ((142, True), (143, False)):
        searcher = searcher_at(QUIET, "b1c3")
        searcher.parameters.singular_margin = 64  # of a depth of eight: 8
        searcher.parameters.reverse_futility_depth = 0
        searcher.parameters.null_depth = searcher.parameters.probcut_depth = 100
        move = coordinate.parse(searcher.board, "h7h6")
        searcher.table.store(searcher.key(), short_move(move), 150, 0, 6, LOWER, False)
        played = []

        def spy(_search: Call, searcher: Searcher, *_: Any, played: list[int] = played) -> int:
            if searcher.excluded[1]:
                return 145
            played.append(searcher.board.last_move())
            return -30_000  # fails high

        original = alphabeta_search
        watch(monkeypatch, spy)
        score = original(searcher, beta - 1, beta, 8, 1, 0, True)
        monkeypatch.undo()
        assert played == ([] if cuts else [move])
        assert score == (142 if cuts else 30_000)


def test_that_a_position_was_a_pv_node_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    for stored, pv_node in product((False, True), repeat=2):
        searcher = searcher_at(QUIET, "b1c3")
        key = searcher.key()
        if stored:
            searcher.table.store(key, 0, 0, 0, 0, UPPER, True)
        searcher.parameters.null_depth = searcher.parameters.probcut_depth = 100
        searcher.parameters.reverse_futility_depth = 0
        watch_children(monkeypatch, 0)
        alphabeta_search(searcher, -1, 30 if pv_node else 0, 6, 1, 0, True)
        assert bool(was_pv(searcher.table.probe(key))) == (stored or pv_node)


def reduced_depths(
    monkeypatch: pytest.MonkeyPatch, pv_node: bool = False, former_pv: bool = False
) -> dict[str, int]:
    """How deep each move is searched first, by its text, where all fail low."""
    searcher = searcher_at(QUIET, "b1c3")
    searcher.parameters.null_depth = searcher.parameters.probcut_depth = 100
    searcher.parameters.reverse_futility_depth = 0
    searcher.parameters.lmr_pv, searcher.parameters.lmr_tt_pv = 3 * 1024, 2 * 1024
    expected = short_move(coordinate.parse(searcher.board, "h7h6"))
    searcher.table.store(searcher.key(), expected, 0, 0, 0, UPPER, former_pv)
    depths: dict[str, int] = {}

    def child(searcher: Searcher, _alpha: int, _beta: int, depth: int, *_: Any) -> int:
        depths.setdefault(coordinate.write(searcher.board.last_move()), depth)
        return 5000

    monkeypatch.setattr(alphabeta, "search", child)
    alphabeta_search(searcher, 0, 30 if pv_node else 1, 20, 1, 0, False)
    return depths


def test_moves_are_reduced_less_in_pv_nodes_and_in_former_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = reduced_depths(monkeypatch)
    former = reduced_depths(monkeypatch, former_pv=True)
    pv_node = reduced_depths(monkeypatch, pv_node=True)
    both = reduced_depths(monkeypatch, pv_node=True, former_pv=True)
    late = [move for move in plain if plain[move] < 16]
    assert len(late) > 5
    assert all(former[move] == plain[move] + 2 for move in late)
    assert all(pv_node[move] == plain[move] + 3 for move in late)
    assert both == pv_node


@pytest.mark.parametrize("correction", [-3, 3])
def test_moves_are_reduced_less_where_the_static_evaluation_is_corrected(
    correction: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SEARCH, "lmr_correction", (1024, 0, 1024))
    plain = reduced_depths(monkeypatch)
    corrected = Searcher.corrected
    monkeypatch.setattr(Searcher, "corrected", lambda *arguments: corrected(*arguments) + correction)
    less = reduced_depths(monkeypatch)
    late = [move for move in plain if plain[move] < 16]
    assert len(late) > 5
    assert all(less[move] == plain[move] + 3 for move in late)


@pytest.mark.parametrize(("better", "deeper"), [(49, 0), (50, 0), (51, 1)])
def test_a_move_that_fails_high_by_far_is_searched_a_ply_deeper(
    better: int, deeper: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    searcher = searcher_at(QUIET, "b1c3")
    searcher.parameters.null_depth = searcher.parameters.probcut_depth = 100
    searcher.parameters.reverse_futility_depth = 0
    searcher.parameters.deeper = 50 - 2 * 19
    depths: list[int] = []

    def child(_searcher: Searcher, _alpha: int, _beta: int, depth: int, *_: Any) -> int:
        depths.append(depth)
        if min(depths[-2:]) < 17:
            return -better  # a reduced search, and its re-search
        return 0

    monkeypatch.setattr(alphabeta, "search", child)
    alphabeta_search(searcher, 20, 21, 20, 1, 0, False)  # the first move scores 0
    assert depths[-1] == 19 + deeper
    assert depths[-2] < 17


def test_a_search_for_a_mate_is_not_cut_off_by_several_good_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches of half the depth, with pruning, refute no mate."""
    searcher = searcher_at(QUIET, "b1c3")
    searcher.seeks_mate = True
    move = coordinate.parse(searcher.board, "h7h6")
    searcher.table.store(searcher.key(), short_move(move), 0, 0, 7, LOWER, False)
    depths: list[int] = []

    def spy(_search: Call, searcher: Searcher, *arguments: Any) -> int:
        assert not searcher.excluded[1]
        depths.append(arguments[2])
        return LONGEST_MATE + 50

    original = alphabeta_search
    watch(monkeypatch, spy)
    beta = -LONGEST_MATE - 2
    original(searcher, beta - 1, beta, 8, 1, 0, False)
    assert len(depths) == len(legal_moves(searcher.board))


def test_several_good_moves_do_not_save_what_the_tables_call_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    searcher = searcher_at(QUIET, "b1c3")
    searcher.probing.most = 32
    monkeypatch.setattr(Searcher, "probe_tablebases", lambda *_: -19_999)
    move = coordinate.parse(searcher.board, "h7h6")
    searcher.table.store(searcher.key(), short_move(move), 0, 0, 7, LOWER, False)
    original = alphabeta_search
    watch(monkeypatch, lambda *_: 0)
    assert original(searcher, -INFINITE, -16, 8, 1, 0, False) <= -19_999


def test_a_tablebase_score_keeps_that_the_position_was_a_pv_node(monkeypatch: pytest.MonkeyPatch) -> None:
    searcher = searcher_at(QUIET, "b1c3")
    searcher.probing.most = 32
    monkeypatch.setattr(Searcher, "probe_tablebases", lambda *_: 0)
    searcher.table.store(searcher.key(), 0, 0, 0, 0, UPPER, True)
    assert alphabeta_search(searcher, 9, 10, 8, 1, 0, False) == 0
    data = searcher.table.probe(searcher.key())
    assert depth_of(data) > 8
    assert was_pv(data)


def test_the_squares_that_the_opponent_attacks_are_known_before_a_move_is_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = 0
    make = Searcher.make

    def spy(searcher: Searcher, move: int, ply: int) -> None:
        nonlocal seen
        if not captured_of(move) and not promoted_of(move) and not in_check(searcher.board):
            seen += 1
            expected = attack.attacked_squares(searcher.board, searcher.board.side ^ 1)
            assert searcher.history.attacked[ply] == expected
        make(searcher, move, ply)

    monkeypatch.setattr(Searcher, "make", spy)
    for text in (QUIET, *TACTICS[:2]):
        Search(1).think(fen.parse(text), Limits(depth=4))
    assert seen > 100


def test_the_row_of_the_pawns_is_that_of_the_position() -> None:
    searcher = searcher_at(QUIET, "b1c3")
    alphabeta_search(searcher, -1, 1, 2, 1, 0, False)
    assert searcher.history.pawn_rows[1] == searcher.keys.pawns() % 512 * 768 != 0


def first_depths(
    monkeypatch: pytest.MonkeyPatch, correction: int, pv_node: bool, cut_node: bool, excluded: str = ""
) -> dict[str, int]:
    """How deep each move is searched first where the static evaluation is corrected by this."""
    searcher = searcher_at(QUIET, "b1c3")
    searcher.parameters.null_depth = searcher.parameters.probcut_depth = 100
    searcher.parameters.reverse_futility_depth = 0
    searcher.parameters.iir_depth = 100
    if excluded:
        searcher.excluded[1] = coordinate.parse(searcher.board, excluded)
        searcher.static_evals[1] = 100 + correction
    searcher.table.store(searcher.key(), 0, 0, 100, 0, UPPER, False)
    depths: dict[str, int] = {}

    def child(searcher: Searcher, _alpha: int, _beta: int, depth: int, *_: Any) -> int:
        depths.setdefault(coordinate.write(searcher.board.last_move()), depth)
        return 5000

    with monkeypatch.context() as patch:
        patch.setattr(Searcher, "corrected", lambda _searcher, value, _ply: value + correction)
        patch.setattr(alphabeta, "search", child)
        alphabeta_search(searcher, 0, 30 if pv_node else 1, 20, 1, 0, cut_node)
    return depths


@pytest.mark.parametrize("correction", [-384, 384])
@pytest.mark.parametrize(("pv_node", "cut_node"), [(True, False), (False, False), (False, True)])
def test_a_correction_reduces_all_late_moves_of_all_nodes_less(
    pv_node: bool, cut_node: bool, correction: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SEARCH, "lmr_correction", (8, 0, 40))  # 3 plies per 384 centipawns
    monkeypatch.setitem(SEARCH, "lmr_capture", (0, 0, 3000))
    plain = first_depths(monkeypatch, 0, pv_node, cut_node)
    less = first_depths(monkeypatch, correction, pv_node, cut_node)
    late = [move for move in plain if plain[move] < 17]
    assert "f6e4" in late, "a losing capture"
    assert len(late) > 5
    assert all(less[move] == plain[move] + 3 for move in late)


def test_a_singular_search_knows_of_no_correction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SEARCH, "lmr_correction", (8, 0, 40))
    plain = first_depths(monkeypatch, 0, False, False, "a7a6")
    assert min(plain.values()) < 17
    assert first_depths(monkeypatch, 384, False, False, "a7a6") == plain


@pytest.mark.parametrize("text", [IN_CHECK, TWO_EVASIONS, ONE_MOVE, "7k/8/8/8/8/8/8/KR6 w - - 0 1"])
def test_checks_and_several_evasions_are_not_extended(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    searcher = searcher_at(text)
    searcher.parameters.null_depth = searcher.parameters.probcut_depth = searcher.parameters.iir_depth = 100
    searcher.parameters.reverse_futility_depth = 0
    monkeypatch.setattr(alphabeta, "gives_check", lambda *_: True)
    depths = watch_children(monkeypatch, -5000)
    alphabeta_search(searcher, 0, 1, 4, 1, 0, False)
    assert depths
    assert max(depths) == 3


@pytest.mark.parametrize(("deepest", "depth"), [(2, 4), (1, 3)])
def test_the_only_evasion_costs_no_depth_up_to_a_limit(
    deepest: int, depth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    searcher = searcher_at(ONE_EVASION)
    searcher.extension_ply = deepest
    depths = watch_children(monkeypatch, 0)
    alphabeta_search(searcher, 0, 1, 4, 1, 0, False)
    assert depths == [depth]


@pytest.mark.parametrize(("text", "allowed", "depth"), [(ONE_EVASION, [], 4), (TWO_EVASIONS, ["h1h2"], 3)])
def test_the_root_is_extended_by_the_evasions_there_are_not_by_those_allowed(
    text: str, allowed: list[str], depth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    searcher = searcher_at(text)
    searcher.parameters.iir_depth = 100
    searcher.allow([coordinate.parse(searcher.board, move) for move in allowed])
    depths = watch_children(monkeypatch, 0)
    alphabeta_search(searcher, -1, 1, 4, 0, 0, False)
    assert depths == [depth]
