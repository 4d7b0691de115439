"""The state of a search thread, on its uncompiled source: a new search, its counts, time and lines."""

from typing import Any

import pytest

from search import searcher as module
from search.correction import Corrections
from search.score import NO_SCORE
from search.searcher import Searcher
from search.stop import Stop
from search.table import TranspositionTable
from x88 import build, coordinate, fen
from x88.move import captured_of
from x88.movegen import legal_moves

pytestmark = pytest.mark.skipif(build.compiled, reason="compiled, a searcher cannot be looked into")

MILLISECOND = 1_000_000


def searcher_at(text: str = fen.START, nodes: int = 0) -> Searcher:
    searcher = Searcher(TranspositionTable(1), Stop())
    searcher.prepare(fen.parse(text), nodes)
    return searcher


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The time, in nanoseconds, to be moved by hand."""
    now = [5_000 * MILLISECOND]
    monkeypatch.setattr(module, "monotonic_ns", lambda: now[0])
    return now


def test_a_new_search_begins_with_nothing_of_the_last() -> None:
    searcher = searcher_at()
    board = searcher.board.copy()
    move = legal_moves(board)[0]
    for ply in range(3):
        searcher.enter(ply)
    searcher.update_pv(0, move)
    searcher.keep_line(7, 33)
    searcher.begin_root_move(move, 1)
    searcher.enter(1)
    searcher.end_root_move(move)
    searcher.check_time()
    searcher.allow([move])
    searcher.limit_time(10, 15, 20)
    searcher.tick_after(10)
    searcher.has_move = True
    searcher.null_ply = searcher.node_share = 5
    searcher.static_evals[3] = searcher.excluded[3] = searcher.reductions[3] = 9
    assert searcher.finding() == (7, 33, [move])
    assert searcher.principal_variation() == [move]
    assert searcher.nodes_under(move) == 1
    searcher.prepare(board, 77)
    assert searcher.finding()[::2] == (0, [])
    assert searcher.principal_variation() == []
    assert searcher.nodes_under(move) == 0
    assert searcher.nodes == searcher.seldepth == searcher.published_nodes == searcher.published_seldepth == 0
    assert (searcher.node_limit, searcher.node_share, searcher.null_ply, searcher.allowed_count) == (
        77,
        0,
        0,
        0,
    )
    assert searcher.deadline == searcher.grace_deadline == searcher.next_tick == 0
    assert not searcher.has_move
    assert searcher.static_evals[3] == NO_SCORE
    assert searcher.excluded[3] == searcher.reductions[3] == 0
    assert searcher.board.key == board.key
    assert searcher.board is not board


def test_only_a_search_for_a_mate_seeks_one() -> None:
    assert not Searcher(TranspositionTable(1), Stop()).seeks_mate
    assert not Searcher(TranspositionTable(1), Stop()).is_reporting


def test_counts_are_published_when_the_clock_is_looked_at() -> None:
    searcher = searcher_at()
    while searcher.nodes <= searcher.clock_mask:
        assert searcher.published_nodes == searcher.published_seldepth == 0
        searcher.enter(9)
    assert searcher.published_nodes == searcher.clock_mask + 1
    assert searcher.published_seldepth == searcher.seldepth == 9


@pytest.mark.parametrize(
    ("has_move", "failed_low", "last"),
    [(True, False, 10), (True, True, 17), (False, False, 25), (False, True, 25)],
)
def test_a_search_stops_at_its_deadline_later_after_a_fail_low_and_without_a_move_at_the_end_of_its_grace(
    clock: list[int], has_move: bool, failed_low: bool, last: int
) -> None:
    searcher = searcher_at()
    searcher.has_move = has_move
    searcher.failed_low = failed_low
    searcher.limit_time(10, 17, 25)
    clock[0] += last * MILLISECOND - 1
    searcher.check_time()
    assert not searcher.stop.is_set()
    clock[0] += 1
    searcher.check_time()
    assert searcher.stop.is_set()


def test_a_search_without_a_deadline_never_stops_by_itself(clock: list[int]) -> None:
    searcher = searcher_at()
    searcher.has_move = True
    searcher.tick_after(5)
    clock[0] += 10**15
    searcher.check_time()
    assert not searcher.stop.is_set()


def test_it_ticks_every_second_after_the_first_time(clock: list[int]) -> None:
    searcher = searcher_at()
    ticks: list[int] = []
    start = clock[0]
    searcher.on_tick = lambda: ticks.append((clock[0] - start) // MILLISECOND)
    searcher.check_time()
    searcher.tick_after(300)
    for _ in range(34):
        clock[0] += 100 * MILLISECOND
        searcher.check_time()
    assert ticks == [300, 1300, 2300, 3300]


def test_a_limit_of_nodes_is_kept_and_more_are_taken_while_there_are_some() -> None:
    searcher = searcher_at(nodes=3)
    assert [searcher.enter(0) for _ in range(5)] == [True, True, True, False, False]
    assert searcher.stop.is_set()
    searcher = searcher_at(nodes=1)
    searcher.node_share = 4
    searcher.stop.left = 6
    entered = 0
    while searcher.enter(0):
        entered += 1
    assert entered == searcher.nodes == 1 + 6


def test_a_line_is_a_move_and_the_line_after_it() -> None:
    searcher = searcher_at()
    board = searcher.board.copy()
    line = []
    for text in ("e2e4", "e7e5", "g1f3", "b8c6"):
        line.append(coordinate.parse(board, text))
        board.make(line[-1])
    for ply in range(len(line) + 1):
        searcher.enter(ply)
    for ply in reversed(range(len(line))):
        searcher.update_pv(ply, line[ply])
    assert searcher.principal_variation() == line
    searcher.keep_line(5, 12)
    searcher.enter(1)
    searcher.update_pv(0, line[0])
    assert searcher.principal_variation() == line[:1], "the line after another move is another line"
    assert searcher.finding() == (5, 12, line)
    assert searcher.kept_line() == line


def test_only_the_moves_that_are_allowed_are_kept_in_their_order() -> None:
    searcher = searcher_at()
    stack = searcher.stack
    moves = [stack.moves[i] for i in range(20)]
    for i in range(20):
        stack.scores[i] = 100 + i
    searcher.allow([moves[12], moves[3], moves[19]])
    end = searcher.keep_allowed(0, 20)
    assert [(stack.moves[i], stack.scores[i]) for i in range(end)] == [
        (moves[3], 103),
        (moves[12], 112),
        (moves[19], 119),
    ]
    searcher.allow([])
    assert searcher.allowed_count == 0


def test_the_nodes_of_a_root_move_add_up() -> None:
    searcher = searcher_at()
    first, second = legal_moves(searcher.board)[:2]
    for count, move in ((3, first), (4, second), (2, first)):
        searcher.begin_root_move(move, 1)
        for _ in range(count):
            searcher.enter(1)
        searcher.end_root_move(move)
    assert (searcher.nodes_under(first), searcher.nodes_under(second)) == (5, 4)


def test_the_correction_learnt_grows_with_error_and_depth_up_to_a_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    learnt: list[int] = []
    monkeypatch.setattr(Corrections, "update", lambda _, *arguments: learnt.append(arguments[-1]))
    searcher = searcher_at()
    searcher.parameters.correction_step, searcher.parameters.correction_max = 8, 1000
    for error, depth in ((10, 3), (-10, 3), (10, 6), (500, 9), (-500, 9)):
        searcher.update_corrections(error, depth, 0)
    assert learnt == [240, -240, 480, 1000, -1000]


def test_a_correction_moves_the_evaluation_towards_what_the_search_found() -> None:
    searcher = searcher_at()
    assert searcher.corrected(50, 0) == 50
    for _ in range(200):
        searcher.update_corrections(100, 10, 0)
    limits = (searcher.parameters.correct_pawns, 2 * searcher.parameters.correct_pieces)
    limits += (searcher.parameters.correct_minors, searcher.parameters.correct_moves)
    assert 50 + max(limits) < searcher.corrected(50, 0) <= 50 + sum(limits)
    for _ in range(400):
        searcher.update_corrections(-100, 10, 0)
    assert searcher.corrected(50, 0) < 50


def test_a_correction_goes_by_the_last_two_moves() -> None:
    searcher = searcher_at()
    for name in ("correct_pawns", "correct_pieces", "correct_minors"):
        setattr(searcher.parameters, name, 0)
    for ply, move in enumerate(("g1f3", "b8c6")):
        searcher.make(coordinate.parse(searcher.board, move), ply)
    for _ in range(200):
        searcher.update_corrections(100, 10, 2)
    limit = searcher.parameters.correct_moves
    assert 0.9 * limit < searcher.corrected(0, 2) <= limit
    searcher.unmake()
    searcher.make(coordinate.parse(searcher.board, "g8f6"), 1)
    assert searcher.corrected(0, 2) == 0
    searcher.unmake()
    searcher.unmake()
    # The same moves, the last two of the game.
    board = fen.parse(fen.START)
    for move in ("g1f3", "b8c6"):
        board.make(coordinate.parse(board, move))
    searcher.prepare(board, 0)
    assert 0.9 * limit < searcher.corrected(0, 0) <= limit


def test_a_search_goes_on_from_the_last_four_moves_of_the_game() -> None:
    """A quiet move is also scored as the answer to the moves one, two and four plies ago."""
    searcher = searcher_at()
    searcher.parameters.pawn_history, searcher.parameters.fourth_history = 256, 512
    board = fen.parse(fen.START)
    for text, answers in (("e2e4", 1), ("e7e5", 2), ("g1f3", 2), ("b8c6", 2.5), ("f1c4", 2.5)):
        board.make(coordinate.parse(board, text))
        searcher.forget()
        searcher.prepare(board, 0)
        answer = next(move for move in legal_moves(board) if not captured_of(move))
        searcher.history.update_quiet(board.side, answer, 0, 1000)
        assert searcher.history.quiet_score(board.side, answer, 0) == 1250 + 1000 * answers
    board.make_null()
    searcher.forget()
    searcher.prepare(board, 0)
    answer = next(move for move in legal_moves(board) if not captured_of(move))
    searcher.history.update_quiet(board.side, answer, 0, 1000)
    assert searcher.history.quiet_score(board.side, answer, 0) == 1250 + 1500, "nothing answers a null move"


def test_moves_and_null_moves_are_made_on_the_board_and_in_the_evaluation() -> None:
    searcher = searcher_at()

    def state() -> Any:
        return searcher.board.key, searcher.evaluation.value(searcher.board)

    before = state()
    searcher.make(coordinate.parse(searcher.board, "e2e4"), 0)
    searcher.make_null(1)
    fresh = searcher_at("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 1 2")
    assert state() == (fresh.board.key, fresh.evaluation.value(fresh.board))
    searcher.unmake_null()
    searcher.unmake()
    assert state() == before


def test_a_searcher_that_gives_way_does_so_whenever_it_checks_the_clock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: list[int] = []
    searcher = searcher_at()
    monkeypatch.setattr(module, "give_way", lambda: given.append(searcher.nodes))
    searcher.clock_mask = 3
    for _ in range(9):
        searcher.enter(1)
    assert given == []
    searcher.gives_way = True
    for _ in range(9):
        searcher.enter(1)
    assert given == [12, 16]
