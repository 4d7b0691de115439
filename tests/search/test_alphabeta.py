"""One call of the main search or of quiescence, uncompiled, for faults that show in no node count of the
bench and in no other test.
"""

from collections.abc import Callable

import pytest

from search import alphabeta, quiescence
from search.history import History
from search.score import DRAW, INFINITE, LONGEST_MATE, MATE, MAX_PLY, TABLEBASE_WIN
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
from tests.searches import KIWIPETE, ONE_MOVE, packed, played
from x88.move import NO_MOVE
from x88.movegen import legal_moves
from x88.notation import coordinate

pytestmark = only_c

PAWN_TO_TAKE = "4k3/8/8/3p4/8/8/8/3RK3 w - - 0 1"
QUEEN_TO_TAKE = "4k3/8/8/3q4/8/8/8/3RK3 w - - 0 1"
QUIET = "r1bqkb1r/pp1ppppp/2n2n2/8/3NP3/2N5/PPP2PPP/R1BQKB1R b KQkq - 2 5"
(H6,) = packed(QUIET, "h7h6")

Call = Callable[[Searcher, int, int, int], int]
Children = Callable[[int], list[int]]
main_search = vars(alphabeta).get("search")  # none if compiled


def search(searcher: Searcher, alpha: int, beta: int, ply: int, depth: int = 2) -> int:
    return main_search(searcher, alpha, beta, depth, ply, 0, False)


def quiesce(searcher: Searcher, alpha: int, beta: int, ply: int, depth: int = 0) -> int:
    return quiescence.quiesce(searcher, alpha, beta, ply, 0, depth)


both = pytest.mark.parametrize("call", [search, quiesce])


def searcher_at(text: str, moves: str = "") -> Searcher:
    """A searcher at a position, after some moves of the game."""
    searcher = Searcher(TranspositionTable(1), Stop())
    searcher.prepare(played(text, moves), 0)
    searcher.extension_ply = 10
    return searcher


def entry(searcher: Searcher) -> int:
    return searcher.table.probe(searcher.key())


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> Children:
    """Gives all children of a node a score; returns the list of their last moves, in the order of search."""

    def give(score: int) -> list[int]:
        moves: list[int] = []

        def child(searcher: Searcher, *_: int) -> int:
            moves.append(searcher.board.last_move())
            return score

        monkeypatch.setattr(alphabeta, "search", child)
        monkeypatch.setattr(alphabeta, "quiesce", child)
        return moves

    return give


def test_a_stored_mate_counts_from_the_node_that_reads_it() -> None:
    searcher = searcher_at("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1")
    for ply in (1, 5):
        assert search(searcher, -INFINITE, INFINITE, ply) == MATE - ply - 1
        assert score_of(entry(searcher)) == MATE - 1
    for call in (search, quiesce):
        assert call(searcher, 0, 1, 9) == MATE - 10
    mated = searcher_at("4k3/8/8/8/8/8/r7/3QK2r w - - 0 1")
    assert quiesce(mated, -INFINITE, INFINITE, 7) == 7 - MATE
    assert score_of(entry(mated)) == -MATE


@both
@pytest.mark.parametrize("halfmove", [89, 90])
def test_a_bound_cuts_off_until_ten_plies_before_the_fifty_move_rule(call: Call, halfmove: int) -> None:
    searcher = searcher_at(f"4k3/8/8/8/8/8/4P3/r3K3 w - - {halfmove} 90")
    searcher.table.store(searcher.key(), 0, 777, 0, 9, EXACT, False)
    call(searcher, 500, 501, 1)
    assert (searcher.nodes == 1) == (halfmove < 90)


@both
def test_the_score_at_the_deepest_ply_is_the_static_evaluation(call: Call) -> None:
    searcher = searcher_at(PAWN_TO_TAKE)
    value = searcher.evaluation.value(searcher.board)
    assert call(searcher, -INFINITE, INFINITE, MAX_PLY - 1) == value != DRAW
    assert searcher.nodes == 1
    assert call(searcher_at("4k3/8/8/8/8/8/8/3QK2r w - - 0 1"), -INFINITE, INFINITE, MAX_PLY - 1) == DRAW


@both
@pytest.mark.parametrize("nodes", [1, 2])
def test_a_stopped_search_stores_nothing_of_its_node_and_unmakes_its_moves(call: Call, nodes: int) -> None:
    searcher = searcher_at("4k3/8/8/1q1r1n2/8/8/2P5/1R1RKR2 w - - 0 1")
    searcher.node_limit = nodes
    call(searcher, -INFINITE, INFINITE, 1)
    assert (searcher.nodes, entry(searcher), searcher.board.ply) == (nodes, 0, 0)


def test_a_node_without_its_only_legal_move_fails_low_and_stores_nothing() -> None:
    searcher = searcher_at(ONE_MOVE)
    (searcher.excluded[1],) = legal_moves(searcher.board)
    searcher.static_evals[1] = 0
    assert search(searcher, -77, -76, 1) == -77
    assert entry(searcher) == 0


def test_a_null_move_proves_no_mate(children: Children) -> None:
    searcher = searcher_at(QUIET)
    searcher.make(coordinate.parse(searcher.board, "a7a6"), 0)
    moves = children(5 - MATE)
    assert search(searcher, -301, -300, 1, 6) == -300
    assert moves == [NO_MOVE]


def only_probcut() -> Searcher:
    """A searcher at a node that nothing but ProbCut cuts off."""
    searcher = searcher_at(QUEEN_TO_TAKE)
    for name, value in {"reverse_futility_depth": 0, "null_depth": 100, "probcut_depth": 5}.items():
        setattr(searcher.parameters, name, value)
    return searcher


def test_a_stopped_probcut_stores_nothing() -> None:
    searcher = only_probcut()
    searcher.node_limit = 1
    search(searcher, -1001, -1000, 1, 5)
    assert (searcher.nodes, entry(searcher), searcher.board.ply) == (1, 0, 0)


def test_probcut_stores_a_mate_from_its_node(children: Children) -> None:
    searcher = only_probcut()
    beta = searcher.evaluation.value(searcher.board) + 200
    children(10 - MATE)
    assert search(searcher, beta - 1, beta, 1, 5) == MATE - 10
    assert score_of(entry(searcher)) == MATE - 9


def test_an_entry_may_hold_the_only_legal_move(children: Children) -> None:
    searcher = searcher_at(ONE_MOVE)
    (move,) = legal_moves(searcher.board)
    searcher.table.store(searcher.key(), short_move(move), 0, 0, 0, EXACT, False)
    moves = children(-12)
    assert search(searcher, -100, 100, 1, 3) == 12
    assert moves == [move]


def test_the_root_reads_no_evaluation_of_a_ply_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    searcher = searcher_at(QUIET, "a7a6")
    searcher.static_evals[-1] = 50
    plies: list[int] = []
    monkeypatch.setattr(History, "update_squares", lambda *arguments: plies.append(arguments[3]))
    search(searcher, -INFINITE, INFINITE, 0)
    assert min(plies) == 0


def test_several_good_moves_do_not_cut_off_a_mate_search(children: Children) -> None:
    """Searches of half the depth, with pruning, refute no mate."""
    searcher = searcher_at(QUIET)
    searcher.seeks_mate = True
    searcher.table.store(searcher.key(), short_move(H6), 0, 0, 7, LOWER, False)
    moves = children(LONGEST_MATE + 50)
    search(searcher, -LONGEST_MATE - 3, -LONGEST_MATE - 2, 1, 8)
    assert sorted(moves) == sorted(legal_moves(searcher.board))


def in_tables(monkeypatch: pytest.MonkeyPatch, score: int) -> Searcher:
    """A searcher at a position with this score by the tablebases."""
    searcher = searcher_at(QUIET)
    searcher.probing.most = 32
    monkeypatch.setattr(Searcher, "probe_tablebases", lambda *_: score)
    return searcher


def test_several_good_moves_do_not_save_a_loss_by_the_tablebases(
    children: Children, monkeypatch: pytest.MonkeyPatch
) -> None:
    searcher = in_tables(monkeypatch, -19_999)
    searcher.table.store(searcher.key(), short_move(H6), 0, 0, 7, LOWER, False)
    children(0)
    assert search(searcher, -INFINITE, -16, 1, 8) <= -19_999


@pytest.mark.parametrize(("score", "stored"), [(0, 0), (TABLEBASE_WIN - 3, TABLEBASE_WIN - 2)])
def test_a_tablebase_score_goes_deeper_into_the_table_and_keeps_the_pv_flag(
    score: int, stored: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    searcher = in_tables(monkeypatch, score)
    searcher.table.store(searcher.key(), 0, 0, 0, 0, UPPER, True)
    assert search(searcher, 9, 10, 1, 8) == score
    assert score_of(entry(searcher)) == stored
    assert depth_of(entry(searcher)) > 8
    assert was_pv(entry(searcher))


def test_quiescence_tries_a_capture_however_far_past_the_horizon() -> None:
    searcher = searcher_at(QUEEN_TO_TAKE)
    assert quiesce(searcher, -INFINITE, INFINITE, 1, -99) > searcher.evaluation.value(searcher.board)


@pytest.mark.parametrize("order", ["a2a3 d5e6 e2a6 g2g3 e5d7", "g2g3 d5e6 e2a6 a2a3"])
def test_the_root_searches_allowed_moves_only_the_first_first(order: str, children: Children) -> None:
    searcher = searcher_at(KIWIPETE)
    searcher.allow(list(packed(KIWIPETE, order)))
    moves = children(0)
    search(searcher, -INFINITE, INFINITE, 0, 1)
    assert list(dict.fromkeys(moves)) == list(packed(KIWIPETE, order))
