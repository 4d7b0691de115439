"""One call of the main search or of quiescence, uncompiled: draws, mates, limits and the bounds of the table.

The node counts of the bench notice all other changes of their steps.
"""

from collections.abc import Callable

import pytest

from search import alphabeta, quiescence
from search.history import History
from search.score import DRAW, INFINITE, LONGEST_MATE, MATE, MAX_PLY
from search.searcher import Searcher
from search.stop import Stop
from search.transposition import (
    EXACT,
    LOWER,
    UPPER,
    TranspositionTable,
    depth_of,
    score_of,
    short_move,
    was_pv,
)
from tests.oracle import only_c
from x88.move import NO_MOVE
from x88.movegen import legal_moves
from x88.notation import coordinate, fen

pytestmark = only_c

PAWN_TO_TAKE = "4k3/8/8/3p4/8/8/8/3RK3 w - - 0 1"
CHECKED = "4k3/8/8/8/8/8/8/3QK2r w - - 0 1"
MATED = "4k3/8/8/8/8/8/r7/3QK2r w - - 0 1"
DEPTH = 2

Call = Callable[[Searcher, int, int, int], int]


def search(searcher: Searcher, alpha: int, beta: int, ply: int) -> int:
    return alphabeta.search(searcher, alpha, beta, DEPTH, ply, 0, False)


def quiesce(searcher: Searcher, alpha: int, beta: int, ply: int) -> int:
    return quiescence.quiesce(searcher, alpha, beta, ply, 0, 0)


both = pytest.mark.parametrize("call", [search, quiesce])


def searcher_at(text: str) -> Searcher:
    """A searcher whose root is a position."""
    searcher = Searcher(TranspositionTable(1), Stop())
    searcher.prepare(fen.parse(text), 0)
    searcher.extension_ply = 10
    return searcher


def whole(call: Call, text: str, ply: int = 1) -> int:
    """The score of a position at a ply, in a window of all scores."""
    return call(searcher_at(text), -INFINITE, INFINITE, ply)


def entry(searcher: Searcher) -> int:
    return searcher.table.probe(searcher.key())


@both
@pytest.mark.parametrize(
    ("bound", "score", "cuts"),
    [
        (EXACT, 777, True),
        (EXACT, -777, True),
        (LOWER, 501, True),
        (LOWER, 500, False),
        (UPPER, 500, True),
        (UPPER, 501, False),
    ],
)
def test_a_bound_outside_a_null_window_ends_the_search_unless_the_fifty_move_rule_is_near(
    call: Call, bound: int, score: int, cuts: bool
) -> None:
    for halfmove, beta in ((89, 501), (90, 501), (89, 502)):
        # In check, where the score cannot stand in for the static evaluation either.
        searcher = searcher_at(f"4k3/8/8/8/8/8/4P3/r3K3 w - - {halfmove} 90")
        searcher.table.store(searcher.key(), 0, score, 0, DEPTH, bound, False)
        found = call(searcher, 500, beta, 1)
        assert (searcher.nodes == 1) == (cuts and halfmove < 90 and beta == 501)
        assert found == score or searcher.nodes > 1


def test_an_entry_of_less_depth_does_not_end_the_main_search() -> None:
    searcher = searcher_at(CHECKED)
    searcher.table.store(searcher.key(), 0, 777, 0, DEPTH - 1, EXACT, False)
    search(searcher, 700, 701, 1)
    assert searcher.nodes > 1


@both
def test_an_entry_remembers_a_pv_node(call: Call) -> None:
    for stored, width in ((False, 1), (False, 2), (True, 1)):
        searcher = searcher_at(PAWN_TO_TAKE)
        if stored:
            searcher.table.store(searcher.key(), 0, -9000, 0, 0, LOWER, True)
        call(searcher, -9000, width - 9000, 1)  # it fails high: quiescence stands pat
        assert bool(was_pv(entry(searcher))) == (stored or width > 1)


@both
@pytest.mark.parametrize("ply", [1, 2, 7])
def test_checkmate_counts_from_the_root_and_is_stored_from_its_node(call: Call, ply: int) -> None:
    searcher = searcher_at(MATED)
    assert call(searcher, -INFINITE, INFINITE, ply) == ply - MATE
    if entry(searcher):
        assert score_of(entry(searcher)) == -MATE


def test_a_stored_mate_counts_from_the_node_that_reads_it() -> None:
    searcher = searcher_at("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1")
    for ply in (1, 5):
        assert search(searcher, -INFINITE, INFINITE, ply) == MATE - ply - 1
        assert score_of(entry(searcher)) == MATE - 1
    for call in (search, quiesce):
        assert call(searcher, 0, 1, 9) == MATE - 10


@both
def test_draws_by_the_rules(call: Call) -> None:
    assert whole(call, PAWN_TO_TAKE.replace(" 0 1", " 99 90")) != DRAW
    assert whole(call, PAWN_TO_TAKE.replace(" 0 1", " 100 90")) == DRAW
    assert whole(call, CHECKED.replace(" 0 1", " 100 90")) == DRAW
    assert whole(call, MATED.replace(" 0 1", " 100 90")) == 1 - MATE
    assert whole(call, "4k3/8/8/8/8/8/8/4KN2 w - - 0 1") == DRAW


@both
def test_one_repetition_of_a_position_after_the_root_is_a_draw(call: Call) -> None:
    searcher = searcher_at(PAWN_TO_TAKE)
    for ply, move in enumerate(("e1e2", "e8e7", "e2e1", "e7e8", "e1e2")):
        searcher.make(coordinate.parse(searcher.board, move), ply)
        assert (call(searcher, -INFINITE, INFINITE, ply + 1) == DRAW) == (ply == 4)


@both
def test_the_score_at_the_deepest_ply_is_the_static_evaluation(call: Call) -> None:
    searcher = searcher_at(PAWN_TO_TAKE)
    value = searcher.evaluation.value(searcher.board)
    assert call(searcher, -INFINITE, INFINITE, MAX_PLY - 1) == value != DRAW
    assert searcher.nodes == 1
    assert whole(call, CHECKED, MAX_PLY - 1) == DRAW


@both
@pytest.mark.parametrize("nodes", [1, 2])
def test_a_stopped_search_stores_nothing_of_its_node_and_unmakes_its_moves(call: Call, nodes: int) -> None:
    searcher = searcher_at("4k3/8/8/1q1r1n2/8/8/2P5/1R1RKR2 w - - 0 1")
    searcher.node_limit = nodes
    call(searcher, -INFINITE, INFINITE, 1)
    assert (searcher.nodes, entry(searcher), searcher.board.ply) == (nodes, 0, 0)


def test_without_its_only_legal_move_a_node_fails_low_and_is_not_stored() -> None:
    searcher = searcher_at("k7/3Q4/8/7p/7P/8/8/4K3 b - - 0 1")
    (searcher.excluded[1],) = legal_moves(searcher.board)
    searcher.static_evals[1] = 0
    assert search(searcher, -77, -76, 1) == -77
    assert entry(searcher) == 0


# Faults in these steps show in no node count of the bench, and in no other test.

QUIET = "r1bqkb1r/pp1ppppp/2n2n2/8/3NP3/2N5/PPP2PPP/R1BQKB1R b KQkq - 2 5"
main_search = vars(alphabeta).get("search")  # none if compiled


def test_a_null_move_proves_no_mate(monkeypatch: pytest.MonkeyPatch) -> None:
    def mates(searcher: Searcher, *_: int) -> int:
        assert searcher.board.last_move() == NO_MOVE
        return 5 - MATE

    searcher = searcher_at(QUIET)
    searcher.make(coordinate.parse(searcher.board, "a7a6"), 0)
    monkeypatch.setattr(alphabeta, "search", mates)
    assert main_search(searcher, -301, -300, 6, 1, 0, True) == -300


def test_a_mate_found_by_probcut_is_stored_from_its_node(monkeypatch: pytest.MonkeyPatch) -> None:
    searcher = searcher_at("4k3/8/8/3q4/8/8/8/3RK3 w - - 0 1")
    for name, value in {"reverse_futility_depth": 0, "null_depth": 100, "probcut_depth": 5}.items():
        setattr(searcher.parameters, name, value)
    beta = searcher.evaluation.value(searcher.board) + 200
    monkeypatch.setattr(alphabeta, "quiesce", lambda *_: 10 - MATE)
    monkeypatch.setattr(alphabeta, "search", lambda *_: 10 - MATE)
    assert main_search(searcher, beta - 1, beta, 5, 1, 0, True) == MATE - 10
    assert score_of(entry(searcher)) == MATE - 9


def test_an_entry_may_have_the_only_legal_move(monkeypatch: pytest.MonkeyPatch) -> None:
    searcher = searcher_at("k7/3Q4/8/7p/7P/8/8/4K3 b - - 0 1")
    (move,) = legal_moves(searcher.board)
    searcher.table.store(searcher.key(), short_move(move), 0, 0, 0, EXACT, False)
    searched = []
    monkeypatch.setattr(alphabeta, "search", lambda searcher, *_: searched.append(searcher.nodes) or -12)
    assert main_search(searcher, -100, 100, 3, 1, 0, False) == 12
    assert len(searched) == 1


def test_the_root_reads_no_evaluation_of_a_ply_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    searcher = searcher_at(QUIET)
    board = searcher.board.copy()
    board.make(coordinate.parse(board, "a7a6"))
    searcher.prepare(board, 0)
    searcher.static_evals[-1] = 50
    plies: list[int] = []
    monkeypatch.setattr(History, "update_squares", lambda *arguments: plies.append(arguments[3]))
    main_search(searcher, -INFINITE, INFINITE, DEPTH, 0, 0, False)
    assert min(plies) == 0


def test_a_search_for_a_mate_is_not_cut_off_by_several_good_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches of half the depth, with pruning, refute no mate."""
    searcher = searcher_at(QUIET)
    searcher.seeks_mate = True
    move = coordinate.parse(searcher.board, "h7h6")
    searcher.table.store(searcher.key(), short_move(move), 0, 0, 7, LOWER, False)
    searched: list[int] = []

    def child(searcher: Searcher, *_: int) -> int:
        searched.append(searcher.board.last_move())
        return LONGEST_MATE + 50

    monkeypatch.setattr(alphabeta, "search", child)
    main_search(searcher, -LONGEST_MATE - 3, -LONGEST_MATE - 2, 8, 1, 0, False)
    assert sorted(searched) == sorted(legal_moves(searcher.board))


def test_several_good_moves_do_not_save_what_the_tables_call_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searcher = searcher_at(QUIET)
    searcher.probing.most = 32
    move = coordinate.parse(searcher.board, "h7h6")
    searcher.table.store(searcher.key(), short_move(move), 0, 0, 7, LOWER, False)
    monkeypatch.setattr(Searcher, "probe_tablebases", lambda *_: -19_999)
    monkeypatch.setattr(alphabeta, "search", lambda *_: 0)
    assert main_search(searcher, -INFINITE, -16, 8, 1, 0, False) <= -19_999


def test_quiescence_tries_a_capture_however_far_past_the_horizon() -> None:
    searcher = searcher_at("4k3/8/8/3q4/8/8/8/3RK3 w - - 0 1")
    value = searcher.evaluation.value(searcher.board)
    assert quiescence.quiesce(searcher, -INFINITE, INFINITE, 1, 0, -99) > value


def test_a_tablebase_score_is_stored_deeper_and_keeps_that_the_position_was_a_pv_node(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searcher = searcher_at(QUIET)
    searcher.probing.most = 32
    searcher.table.store(searcher.key(), 0, 0, 0, 0, UPPER, True)
    monkeypatch.setattr(Searcher, "probe_tablebases", lambda *_: 0)
    assert main_search(searcher, 9, 10, 8, 1, 0, False) == 0
    assert depth_of(entry(searcher)) > 8
    assert was_pv(entry(searcher))


@pytest.mark.parametrize("texts", [["a7a6", "h7h6"], ["h7h6", "a7a6"]])
def test_the_root_begins_with_the_first_of_the_moves_allowed(
    texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    searcher = searcher_at(QUIET)
    searcher.allow([coordinate.parse(searcher.board, text) for text in texts])
    searched: dict[str, int] = {}

    def child(searcher: Searcher, *_: int) -> int:
        return searched.setdefault(coordinate.write(searcher.board.last_move()), 0)

    monkeypatch.setattr(alphabeta, "search", child)
    main_search(searcher, -INFINITE, INFINITE, 1, 0, 0, False)
    assert list(searched) == texts
