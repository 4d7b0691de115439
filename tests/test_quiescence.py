"""Quiescence on its uncompiled source: which moves it searches, what it returns and what it stores."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from search import quiescence
from search.score import DRAW, INFINITE, MATE, MAX_PLY
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
from x88 import build, coordinate, fen
from x88.move import captured_of, promoted_of
from x88.movegen import legal_moves
from x88.piece import BISHOP, KNIGHT, PAWN, QUEEN, ROOK, VALUE

pytestmark = pytest.mark.skipif(build.compiled, reason="compiled, quiescence cannot be called alone")

CALM = "4k3/pp3ppp/8/8/8/8/PP3PPP/4K3 w - - 0 1"
PAWN_TO_TAKE = "4k3/8/8/3p4/8/8/8/3RK3 w - - 0 1"
ROOKS = "4k3/8/2p5/3r4/8/8/8/3RK3 w - - 0 1"
ROOKS_AND_PAWN = "4k3/8/2p5/3r4/8/7p/8/3RK2R w - - 0 1"
LOW, HIGH = -20_000, 20_000

Call = Callable[..., int]


def searcher_at(text: str, values: dict[str, int] | None = None) -> Searcher:
    """A searcher whose root is a position, with some parameters of its own."""
    searcher = Searcher(TranspositionTable(1), Stop())
    searcher.prepare(fen.parse(text), 0)
    for name, value in (values or {}).items():
        setattr(searcher.parameters, name, value)
    return searcher


def quiesce(searcher: Searcher, alpha: int, beta: int, ply: int = 1, depth: int = 0) -> int:
    return quiescence.quiesce(searcher, alpha, beta, ply, 0, depth)


def remember(searcher: Searcher, static: int, score: int, bound: int, move: str = "", depth: int = 0) -> None:
    """Store an entry of the position."""
    code = short_move(coordinate.parse(searcher.board, move)) if move else 0
    searcher.table.store(searcher.key(), code, score, static, depth, bound, False)


def entry(searcher: Searcher) -> int:
    return searcher.table.probe(searcher.key())


def value_of(text: str) -> int:
    searcher = searcher_at(text)
    return searcher.evaluation.value(searcher.board)


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The moves that quiescence makes in the position it is called for."""
    found: list[str] = []
    make = Searcher.make

    def spy(searcher: Searcher, move: int, ply: int) -> None:
        if searcher.board.ply == 0:
            found.append(coordinate.write(move))
        make(searcher, move, ply)

    monkeypatch.setattr(Searcher, "make", spy)
    return found


# --- Stand pat


def test_a_quiet_position_is_worth_its_static_evaluation() -> None:
    searcher = searcher_at(CALM)
    assert quiesce(searcher, LOW, HIGH) == value_of(CALM)
    assert searcher.nodes == 1


def test_the_static_evaluation_of_an_entry_is_not_computed_again() -> None:
    searcher = searcher_at(CALM)
    remember(searcher, 123, LOW, LOWER)
    assert quiesce(searcher, LOW, HIGH) == 123
    assert static_of(entry(searcher)) == 123


@pytest.mark.parametrize(
    ("bound", "score", "expected"),
    [
        (LOWER, 150, 150),
        (LOWER, 90, 100),
        (UPPER, 90, 90),
        (UPPER, 150, 100),
        (EXACT, 90, 90),
        (EXACT, 150, 150),
    ],
)
def test_an_entry_s_score_replaces_a_static_evaluation_that_it_refutes(
    bound: int, score: int, expected: int
) -> None:
    searcher = searcher_at(CALM)
    remember(searcher, 100, score, bound)
    assert quiesce(searcher, LOW, HIGH) == expected


def test_a_mate_score_replaces_no_static_evaluation() -> None:
    searcher = searcher_at(CALM)
    remember(searcher, 100, MATE - 5, LOWER)
    assert quiesce(searcher, LOW, HIGH) == 100


def test_a_static_evaluation_that_fails_high_is_stored_as_a_lower_bound() -> None:
    searcher = searcher_at(CALM)
    value = value_of(CALM)
    assert quiesce(searcher, value - 50, value) == value
    data = entry(searcher)
    assert (score_of(data), static_of(data), bound_of(data)) == (value, value, LOWER)
    assert depth_of(data) == move_of(data) == 0


def test_a_static_evaluation_that_fails_high_leaves_an_entry_as_it_is() -> None:
    searcher = searcher_at(CALM)
    remember(searcher, 100, -40, LOWER, "e1e2", 5)
    before = entry(searcher)
    assert quiesce(searcher, 59, 60) == 100
    assert entry(searcher) == before


# --- The table


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
def test_a_bound_outside_the_window_ends_the_search(
    bound: int, score: int, cuts: bool, tried: list[str]
) -> None:
    for halfmove in (89, 90):
        # In check, where the score cannot stand in for the static evaluation either.
        searcher = searcher_at(f"4k3/8/8/8/8/8/4P3/r3K3 w - - {halfmove} 90")
        remember(searcher, 0, score, bound)
        found = quiesce(searcher, 500, 501)
        assert (tried == []) == (cuts and halfmove < 90)
        if tried == []:
            assert found == score
        tried.clear()


def test_no_bound_ends_the_search_of_a_window(tried: list[str]) -> None:
    searcher = searcher_at(PAWN_TO_TAKE)
    remember(searcher, 0, 10, EXACT, "d1d5")
    quiesce(searcher, -500, 500)
    assert tried == ["d1d5"]


def test_the_move_of_an_entry_is_tried_first_and_no_move_twice(tried: list[str]) -> None:
    text = "4k3/8/8/1q1r4/5n2/8/2P5/1R1RKR2 w - - 0 1"
    for move in ("b1b5", "d1d5", "f1f4"):
        searcher = searcher_at(text, {"delta_margin": 20_000})
        remember(searcher, 0, -300, LOWER, move)
        quiesce(searcher, LOW, HIGH)
        assert tried[0] == move
        assert sorted(tried) == ["b1b5", "d1d5", "f1f4"]
        tried.clear()


def test_a_quiet_move_of_an_entry_is_not_tried(tried: list[str]) -> None:
    searcher = searcher_at(PAWN_TO_TAKE)
    remember(searcher, 0, -300, LOWER, "d1d4")
    quiesce(searcher, LOW, HIGH)
    assert tried == ["d1d5"]


@pytest.mark.parametrize(
    ("alpha", "beta", "bound", "stores"),
    [(-20_000, 20_000, EXACT, True), (-20_000, 50, LOWER, True), (3000, 20_000, UPPER, False)],
)
def test_the_result_is_stored_with_its_bound_and_move(
    alpha: int, beta: int, bound: int, stores: bool
) -> None:
    # Alone, rook against pawn is worth less than rook against none.
    text = "4k3/5p2/8/3p4/8/8/5P2/3RK3 w - - 0 1"
    searcher = searcher_at(text, {"delta_margin": 5000})
    remember(searcher, -30, -300, LOWER)
    found = quiesce(searcher, alpha, beta)
    data = entry(searcher)
    assert (score_of(data), bound_of(data), depth_of(data), static_of(data)) == (found, bound, 0, -30)
    taking = short_move(coordinate.parse(searcher.board, "d1d5"))
    assert move_of(data) == (taking if stores else 0)


# --- Captures


def test_the_line_of_captures_is_the_principal_variation() -> None:
    searcher = searcher_at("4k3/8/2p5/3q4/4P3/8/8/3RK3 w - - 0 1")
    assert quiesce(searcher, -INFINITE, INFINITE, 0) > 0
    line = searcher.principal_variation()
    assert captured_of(line[0]) == QUEEN
    board = searcher.board.copy()
    for move in line:
        assert move in legal_moves(board)
        board.make(move)
    assert not any(captured_of(move) == QUEEN for move in legal_moves(board))


def test_after_the_last_capture_the_line_ends() -> None:
    searcher = searcher_at(PAWN_TO_TAKE)
    quiesce(searcher, -INFINITE, INFINITE, 0)
    assert [coordinate.write(move) for move in searcher.principal_variation()] == ["d1d5"]


def test_captures_that_lose_material_are_not_searched(tried: list[str]) -> None:
    quiesce(searcher_at("4k3/8/2p5/3p4/8/8/8/3QK3 w - - 0 1"), LOW, HIGH)
    assert tried == []
    quiesce(searcher_at(ROOKS), LOW, HIGH)
    assert tried == ["d1d5"], "an even exchange is searched"


def test_promotions_are_searched_and_underpromotions_are_not(tried: list[str]) -> None:
    quiesce(searcher_at("8/P3k3/8/8/8/8/8/4K3 w - - 0 1"), LOW, HIGH)
    assert tried == ["a7a8q"]


@pytest.mark.parametrize("static", [30, 100])
def test_a_capture_that_cannot_reach_alpha_is_skipped_and_counts_with_its_margin(
    static: int, tried: list[str]
) -> None:
    reach = static + 30 + VALUE[PAWN]
    for alpha, searched in ((reach - 1, ["d1d5"]), (reach, [])):
        searcher = searcher_at(PAWN_TO_TAKE, {"delta_margin": 30})
        remember(searcher, static, -500, LOWER)
        found = quiesce(searcher, alpha, alpha + 1)
        assert tried == searched
        if not searched:
            assert found == reach
        tried.clear()


@pytest.mark.parametrize("text", [PAWN_TO_TAKE, ROOKS])
def test_a_capture_must_gain_material_where_the_margin_alone_cannot_reach_alpha(
    text: str, tried: list[str]
) -> None:
    gains = text == PAWN_TO_TAKE
    for alpha, searched in ((129, True), (130, gains), (140, gains)):
        searcher = searcher_at(text, {"delta_margin": 30})
        remember(searcher, 100, -500, LOWER)
        found = quiesce(searcher, alpha, alpha + 1)
        assert tried == (["d1d5"] if searched else [])
        if not searched:
            assert found == 130
        tried.clear()


@pytest.mark.parametrize("beta", [131, 200])
@pytest.mark.parametrize("move", ["", "d1d5"])
def test_no_even_exchange_escapes_the_margin(beta: int, move: str, tried: list[str]) -> None:
    searcher = searcher_at(ROOKS, {"delta_margin": 30})
    remember(searcher, 100, -500, LOWER, move)
    assert quiesce(searcher, 130, beta) == 130
    assert tried == []


def test_an_even_exchange_that_cannot_reach_alpha_counts_with_its_victim(tried: list[str]) -> None:
    searcher = searcher_at(ROOKS, {"delta_margin": 30})
    remember(searcher, 100, -500, LOWER)
    alpha = 130 + VALUE[ROOK]
    assert quiesce(searcher, alpha, alpha + 1) == alpha
    assert tried == []


def test_after_an_even_exchange_the_captures_that_gain_are_still_searched(tried: list[str]) -> None:
    searcher = searcher_at(ROOKS_AND_PAWN, {"delta_margin": 30})
    remember(searcher, 100, -500, LOWER)
    quiesce(searcher, 140, 141)
    assert tried == ["h1h3"]


def test_a_capture_that_raises_alpha_leaves_no_room_for_even_exchanges(
    tried: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for score, expected in ((129, ["h1h3", "d1d5"]), (130, ["h1h3"])):
        searcher = searcher_at(ROOKS_AND_PAWN, {"delta_margin": 30})
        remember(searcher, 100, -500, LOWER, "h1h3")
        whole = quiescence.quiesce
        with monkeypatch.context() as patch:
            patch.setattr(quiescence, "quiesce", lambda *_, score=score: -score)
            whole(searcher, 0, 500, 1, 0, 0)
        assert tried == expected
        tried.clear()


def test_the_least_gain_is_enough(tried: list[str]) -> None:
    """A protected bishop taken by a knight."""
    assert VALUE[KNIGHT] < VALUE[BISHOP] < VALUE[KNIGHT] + 100
    searcher = searcher_at("4k3/8/2p5/3b4/8/4N3/8/4K3 w - - 0 1", {"delta_margin": 30})
    remember(searcher, 100, -500, LOWER)
    quiesce(searcher, 140, 141)
    assert tried == ["e3d5"]


def test_no_margin_keeps_a_promotion_from_being_searched(tried: list[str]) -> None:
    searcher = searcher_at("8/P3k3/8/8/8/8/8/4K3 w - - 0 1", {"delta_margin": 0})
    remember(searcher, -5000, -6000, LOWER)
    quiesce(searcher, 500, 501)
    assert tried == ["a7a8q"]


def test_a_capture_that_fails_high_ends_the_search(tried: list[str]) -> None:
    searcher = searcher_at("4k3/8/8/1q1r1n2/8/8/2P5/1R1RKR2 w - - 0 1")
    remember(searcher, 0, -300, LOWER)
    assert quiesce(searcher, 199, 200) >= 200
    assert tried == ["b1b5"], "the queen comes first"


def test_the_result_is_the_best_of_standing_pat_and_all_captures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any pruning, quiescence is a plain search of captures; here is another one."""

    def plain(searcher: Searcher, ply: int) -> int:
        board = searcher.board
        best = searcher.evaluation.value(board)
        for move in legal_moves(board):
            if captured_of(move) or promoted_of(move):
                searcher.make(move, ply)
                best = max(best, -plain(searcher, ply + 1))
                searcher.unmake()
        return best

    monkeypatch.setattr(quiescence, "pick", in_order)
    monkeypatch.setattr(quiescence, "last_move_checks", lambda _: False)
    for text in (
        "4k3/8/2p5/3r4/4P3/2N5/8/3RK3 w - - 0 1",
        "4k3/1p6/2p2n2/3p4/2P1P3/2N5/8/4K3 w - - 0 1",
        "4k3/8/8/2pPp3/3N4/5n2/6P1/7K b - - 0 1",
    ):
        searcher = searcher_at(text, {"delta_margin": 20_000, "quiescence_moves": 1000})
        assert quiesce(searcher, -INFINITE, INFINITE) == plain(searcher_at(text), 0)


def in_order(_board: Any, stack: Any, start: int, _end: int) -> int:
    """A move picker that leaves the moves as they are, none of them bad."""
    stack.scores[start] = 0
    move: int = stack.moves[start]
    return move


def test_the_deeper_past_the_horizon_the_fewer_captures_are_searched(tried: list[str]) -> None:
    text = "4k3/8/8/n1n1n1n1/1P1P1P2/8/8/4K3 w - - 0 1"
    taking = [move for move in legal_moves(fen.parse(text)) if captured_of(move)]
    counts = []
    for depth in range(0, -12, -1):
        quiesce(searcher_at(text, {"delta_margin": 30_000}), LOW, HIGH, depth=depth)  # no delta pruning
        counts.append(len(tried))
        tried.clear()
    assert counts[0] == len(taking) == 6
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] == 1, "one is always searched"
    assert all(before - after <= 2 for before, after in itertools.pairwise(counts))
    first, step = SEARCH["quiescence_moves"][0], quiescence.LIMIT_STEP
    limits = [max(first - step * depth, 1) for depth in range(12)]
    assert counts == [min(6, limit) for limit in limits]


# --- In check


def test_in_check_every_evasion_is_searched(tried: list[str]) -> None:
    text = "4k3/8/8/8/8/8/4P3/r3K3 w - - 0 1"
    quiesce(searcher_at(text), LOW, HIGH)
    assert sorted(tried) == sorted(coordinate.write(move) for move in legal_moves(fen.parse(text)))


def test_in_check_nobody_stands_pat(tried: list[str]) -> None:
    searcher = searcher_at("3rk3/8/8/8/8/8/8/Q2K4 w - - 0 1")
    quiesce(searcher, -INFINITE, -INFINITE + 1)
    assert tried, "no evaluation, however good, is enough"


@pytest.mark.parametrize("ply", [1, 2, 7])
def test_checkmate_counts_from_the_root(ply: int) -> None:
    searcher = searcher_at("4k3/8/8/8/8/8/r7/3QK2r w - - 0 1")
    assert quiesce(searcher, -INFINITE, INFINITE, ply) == ply - MATE


def test_a_mate_is_stored_as_seen_from_the_node() -> None:
    mated = searcher_at("4k3/8/8/8/8/8/r7/3QK2r w - - 0 1")
    quiesce(mated, -INFINITE, INFINITE, 3)
    assert score_of(entry(mated)) == -MATE


# --- Draws and limits


@pytest.mark.parametrize(("halfmove", "score"), [(99, "other"), (100, DRAW), (120, DRAW)])
def test_the_fifty_move_rule_is_a_draw(halfmove: int, score: Any) -> None:
    found = quiesce(searcher_at(f"4k3/8/8/8/8/8/8/Q3K3 w - - {halfmove} 90"), LOW, HIGH)
    assert (found == DRAW) == (score == DRAW)


def test_checkmate_comes_before_the_fifty_move_rule() -> None:
    mated = searcher_at("4k3/8/8/8/8/8/r7/3QK2r w - - 100 90")
    assert quiesce(mated, LOW, HIGH) == 1 - MATE
    checked = searcher_at("4k3/8/8/8/8/8/8/3QK2r w - - 100 90")
    assert quiesce(checked, LOW, HIGH) == DRAW


def test_bare_kings_are_a_draw() -> None:
    searcher = searcher_at("4k3/8/8/8/8/8/8/4KN2 w - - 0 1")
    assert quiesce(searcher, LOW, HIGH) == DRAW
    assert entry(searcher) == 0


def test_one_repetition_of_a_position_after_the_root_is_a_draw() -> None:
    searcher = searcher_at(PAWN_TO_TAKE)
    for ply, move in enumerate(("e1e2", "e8e7", "e2e1", "e7e8")):
        searcher.make(coordinate.parse(searcher.board, move), ply)
        assert quiesce(searcher, LOW, HIGH, ply + 1) != DRAW
    searcher.make(coordinate.parse(searcher.board, "e1e2"), 4)
    assert quiesce(searcher, LOW, HIGH, 5) == DRAW


def test_at_the_deepest_ply_the_static_evaluation_is_the_score(tried: list[str]) -> None:
    for ply, searched in ((MAX_PLY - 2, ["d1d5"]), (MAX_PLY - 1, [])):
        found = quiesce(searcher_at(PAWN_TO_TAKE), LOW, HIGH, ply)
        assert tried == searched
        tried.clear()
    assert found == value_of(PAWN_TO_TAKE)
    checked = searcher_at("4k3/8/8/8/8/8/8/3QK2r w - - 0 1")
    assert quiesce(checked, LOW, HIGH, MAX_PLY - 1) == DRAW


def test_a_stopped_search_makes_no_move_and_stores_nothing(tried: list[str]) -> None:
    searcher = searcher_at(PAWN_TO_TAKE)
    searcher.stop.set()
    quiesce(searcher, LOW, HIGH)
    assert tried == []
    assert (searcher.nodes, entry(searcher)) == (0, 0)


def test_a_search_stopped_below_stores_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    searcher = searcher_at("4k3/8/8/1q1r1n2/8/8/2P5/1R1RKR2 w - - 0 1")
    searcher.node_limit = 2
    quiesce(searcher, LOW, HIGH)
    assert searcher.nodes == 2
    assert entry(searcher) == 0
    assert searcher.board.ply == 0, "every move is unmade"


def test_what_a_capture_has_gained_is_alpha_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    searcher = searcher_at("4k3/8/8/1q1r4/5n2/8/2P5/1R1RKR2 w - - 0 1", {"delta_margin": 20_000})
    windows = []

    def child(_searcher: Searcher, alpha: int, beta: int, ply: int, _sp: int, depth: int) -> int:
        windows.append((alpha, beta, ply, depth))
        return -400 - len(windows)

    original = quiescence.quiesce
    monkeypatch.setattr(quiescence, "quiesce", child)
    assert original(searcher, LOW, HIGH, 3, 0, -1) == 403
    alphas = [-beta for _, beta, _, _ in windows]
    assert alphas[1:] == [401, 402]
    assert alphas[0] < 400
    assert {(alpha, ply, depth) for alpha, _, ply, depth in windows} == {(-HIGH, 4, -2)}


def test_that_a_position_was_a_pv_node_is_remembered() -> None:
    for stored, pv_node in itertools.product((False, True), repeat=2):
        searcher = searcher_at(CALM)
        if stored:
            searcher.table.store(searcher.key(), 0, -9000, 0, 0, LOWER, True)
        quiesce(searcher, -9000 if pv_node else 8999, 9000)  # no cutoff
        assert bool(was_pv(entry(searcher))) == (stored or pv_node)


@pytest.mark.parametrize("width", [1, 2])
def test_standing_pat_remembers_that_it_was_in_a_pv_node(width: int) -> None:
    searcher = searcher_at(CALM)
    value = value_of(CALM)
    quiesce(searcher, value - width, value)
    assert bool(was_pv(entry(searcher))) == (width > 1)
