"""One search from its start to its result, and what its listeners are told."""

import importlib
import threading
import time
from typing import Any

import pytest

from search.clock import Clock, TimeManager
from search.job import Job
from search.limits import Limits
from search.pool import Pool
from search.score import INFINITE, MATE, normalised
from search.search import Progress, Report, Result, Search, Statistics
from search.strength import strength
from tests.oracle import scaled
from x88 import build, coordinate, fen
from x88.movegen import legal_moves

pytestmark = pytest.mark.slow

search_module: Any = importlib.import_module("search.search")

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
ONE_MOVE = "k7/3Q4/8/7p/7P/8/8/4K3 b - - 0 1"
NODES = scaled(50_000, 1500)


def run(search: Search, limits: Limits, **listeners: Any) -> list[Report]:
    """The reports of a search in its own thread."""
    reports: list[Report] = []
    results: list[Result] = []
    search.start(fen.parse(KIWIPETE), limits, reports.append, results.append, **listeners)
    search.wait()
    assert len(results) == 1
    return reports


def test_a_search_in_the_calling_thread_does_not_count_as_running() -> None:
    search = Search(1)
    run(search, Limits(depth=1))
    running = []
    search.think(fen.parse(KIWIPETE), Limits(depth=2), lambda _: running.append(search.is_running()))
    assert running
    assert not any(running)


def test_progress_and_statistics_are_of_the_iteration_and_end_with_their_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search_module, "REPORT_DELAY", 0)
    search = Search(1)
    progress: list[Progress] = []
    statistics: list[Statistics] = []
    reports = run(search, Limits(nodes=NODES), on_progress=progress.append, on_statistics=statistics.append)
    assert progress
    assert statistics
    depths = [told.depth for told in progress]
    assert depths == sorted(depths)
    assert depths[-1] >= reports[-1].depth > 1
    assert [told.number for told in progress if told.depth == depths[-1]][:1] == [1]
    before = len(progress), len(statistics)
    search.think(fen.parse(KIWIPETE), Limits(nodes=NODES))
    run(search, Limits(nodes=NODES))
    assert (len(progress), len(statistics)) == before


def test_a_forced_move_on_the_clock_is_searched_just_deep_enough_for_a_reply() -> None:
    for limits, depth in ((Limits(time=(600_000, 600_000)), 5), (Limits(depth=7), 7)):
        reports: list[Report] = []
        Search(1).think(fen.parse(ONE_MOVE), limits, reports.append)
        assert reports[-1].depth == depth


@pytest.mark.parametrize(("text", "lines", "shares"), [(KIWIPETE, 1, 1), (KIWIPETE, 3, 3), (ONE_MOVE, 4, 1)])
def test_a_limited_strength_has_its_nodes_for_each_line(text: str, lines: int, shares: int) -> None:
    search = Search(1)
    search.limit_strength(600, seed=1)
    most = strength(600).nodes * shares
    result = search.think(fen.parse(text), Limits(lines=lines))
    assert result.nodes == most
    assert search.think(fen.parse(text), Limits(lines=lines, nodes=20)).nodes == 20


def test_by_default_one_line_is_told() -> None:
    assert Limits().lines == 1
    reports: list[Report] = []
    Search(1).think(fen.parse(KIWIPETE), Limits(depth=2), reports.append)
    assert [report.line for report in reports] == [1, 1]


@pytest.mark.skipif(build.compiled, reason="compiled, the search cannot be watched")
def test_an_extra_search_for_a_mate_has_its_own_window_and_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    search = Search(1)
    searcher = search._searcher
    seen = []

    def spy(_searcher: Any, alpha: int, beta: int, depth: int, *_: Any) -> int:
        assert searcher.seeks_mate
        assert searcher.salt != 0
        assert searcher.extension_ply == depth
        seen.append((alpha, beta, depth))
        return alpha

    monkeypatch.setattr(search_module, "search", spy)
    search.think(fen.parse(KIWIPETE), Limits(depth=3, mate=4))
    assert seen == [(MATE - 8, INFINITE, depth) for depth in (1, 2, 3)]
    assert not searcher.seeks_mate
    assert searcher.salt == 0


@pytest.mark.skipif(build.compiled, reason="compiled, the votes cannot be counted otherwise")
def test_the_line_of_another_thread_is_told_and_played_if_it_wins_the_vote(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    board = fen.parse(KIWIPETE)
    other = [coordinate.parse(board, "a2a3")]
    monkeypatch.setattr(Pool, "voted_line", lambda *_: (9, 123, other))
    reports: list[Report] = []
    result = Search(1).think(board, Limits(nodes=300), reports.append)
    assert (reports[-1].depth, reports[-1].score, reports[-1].pv) == (9, normalised(123), other)
    assert result.move == other[0]


def test_a_new_game_has_a_new_clock_of_nodes() -> None:
    """Within a game the GUI's clock is not read again."""
    spent = []
    search = Search(1)
    for left in (400, 400, 4000):
        if len(spent) == 2:
            search.new_game()
        limits = Limits(time=(left, left), nodestime=1, movestogo=1)
        spent.append(search.think(fen.parse(KIWIPETE), limits).nodes)
    assert spent[1] < spent[0] <= 400 < spent[2]


def test_the_reply_expected_is_a_legal_move_of_the_other_side() -> None:
    for nodes in (2, 30, NODES):
        result = Search(1).think(fen.parse(KIWIPETE), Limits(nodes=nodes))
        board = fen.parse(KIWIPETE)
        board.make(result.move)
        assert result.reply == 0 or result.reply in legal_moves(board)
    assert result.reply in legal_moves(board)


@pytest.mark.skipif(build.compiled, reason="compiled, the helpers cannot be looked at")
def test_no_helper_searches_on_after_the_result() -> None:
    search = Search(1, threads=3)
    search.think(fen.parse(KIWIPETE), Limits(depth=4))  # by its end there are helpers
    # A forced move ends a search before any limit is reached.
    search.think(fen.parse(ONE_MOVE), Limits(time=(600_000, 600_000)))
    helpers = search._pool.helpers
    assert len(helpers) == 2
    assert search._pool.stop.is_set()
    assert all(helper.wait(60) for helper in helpers)


def test_a_search_that_is_refused_a_thread_runs_in_the_calling_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    search = Search(1, threads=3)
    results: list[Result] = []
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        for limits in (Limits(depth=3), Limits(infinite=True), Limits(time=(60_000, 60_000), ponder=True)):
            search.start(fen.parse(KIWIPETE), limits, lambda _: None, results.append)
            assert not search.is_running()
    assert len(results) == 3
    assert all(result.move in legal_moves(fen.parse(KIWIPETE)) for result in results)
    assert run(search, Limits(depth=3)), "the next one has a thread again"


def test_nodes_that_were_pondered_are_free_on_a_clock_that_counts_nodes() -> None:
    search = Search(1)
    results: list[Result] = []
    limits = Limits(time=(1000, 1000), nodestime=1, movestogo=1, ponder=True)
    told: list[Report] = []
    search.start(fen.parse(KIWIPETE), limits, told.append, results.append)
    while not told or told[-1].nodes < 2000:
        time.sleep(0.001)
    search.ponderhit()
    search.wait()
    spent = search.think(fen.parse(KIWIPETE), limits._replace(ponder=False)).nodes
    assert results[0].nodes > 2000 > spent > 1, "of a thousand nodes some are left"


@pytest.mark.skipif(build.compiled, reason="compiled, a job takes no other pool")
def test_a_search_told_to_stop_without_a_move_looks_for_one_until_its_flag_falls() -> None:
    pool = Pool(1)
    pool.prepare(fen.parse(KIWIPETE), 0)
    limits = Limits(time=(1000, 1000), overhead=0)
    clock = Clock(time.perf_counter() - 0.9)
    job = Job(limits, TimeManager(limits, 0), clock, pool)
    job.begin()
    job.stop()
    assert (pool.first.grace_deadline - time.monotonic_ns()) / 1e6 < 101


@pytest.mark.skipif(build.compiled, reason="compiled, a job takes no other pool")
def test_a_clock_starts_with_the_move_that_was_pondered_on() -> None:
    pool = Pool(1)
    pool.prepare(fen.parse(KIWIPETE), 0)
    limits = Limits(time=(60_000, 60_000), ponder=True)
    manager = TimeManager(limits, 0)
    job = Job(limits, manager, Clock(time.perf_counter() - 1.0), pool)
    job.begin()
    assert pool.first.deadline == 0
    job.ponderhit()
    assert manager.budget is not None
    assert 0 <= manager.budget.hard - (pool.first.deadline - time.monotonic_ns()) / 1e6 < 500


@pytest.mark.skipif(build.compiled, reason="compiled, a job takes no other pool")
def test_a_search_past_its_time_ends_as_soon_as_it_has_a_move() -> None:
    pool = Pool(1)
    pool.prepare(fen.parse(KIWIPETE), 0)
    limits = Limits(movetime=60_000)
    job = Job(limits, TimeManager(limits, 0), Clock(), pool)
    job.begin()
    pool.first.limit_time(0, 0, 60_000)
    pool.first.check_time()
    assert not pool.stop.is_set()
    job.has_move()
    assert pool.stop.is_set()


@pytest.mark.parametrize(
    ("limits", "is_short"),
    [
        (Limits(movetime=20), True),
        (Limits(movetime=21), False),
        (Limits(time=(30, 30), overhead=10), True),
        (Limits(time=(600, 600)), False),
        (Limits(time=(30, 30), ponder=True), False),
        (Limits(movetime=20, infinite=True), False),
        (Limits(movetime=20, nodestime=1), False),
        (Limits(depth=1), False),
    ],
)
def test_a_search_of_a_few_milliseconds_needs_no_other_thread(limits: Limits, is_short: bool) -> None:
    search = Search(1, threads=3)
    results: list[Result] = []
    threads: list[str] = []

    def on_result(result: Result) -> None:
        threads.append(threading.current_thread().name)
        results.append(result)

    before = threading.active_count()
    search.start(fen.parse(KIWIPETE), limits, lambda _: None, on_result)
    if is_short:
        assert results
        assert not search.is_running()
        assert threading.active_count() <= before, "no helpers either"
    time.sleep(0.1)
    search.ponderhit()
    search.stop()
    search.wait()
    assert len(results) == 1
    assert results[0].move in legal_moves(fen.parse(KIWIPETE))
    assert threads == [threading.current_thread().name if is_short else "search"]
