"""One search from its start to its result: when it ends, and what it reports to its listeners."""

import threading
import time
from typing import Any

import pytest

from search import aspiration
from search import searcher as searcher_module
from search.job import Job
from search.limits import Limits
from search.line import Report, Result
from search.pool import Pool
from search.search import Search
from search.timeman import Clock, TimeManager
from tests.oracle import only_c, scaled
from tests.searches import KIWIPETE, ONE_MOVE, begun, played, think
from x88.movegen import legal_moves
from x88.notation import coordinate, fen

pytestmark = pytest.mark.slow

NODES = scaled(50_000, 1500)


def test_a_search_in_the_calling_thread_does_not_count_as_running() -> None:
    search = Search(1)
    begun(search, Limits(depth=1))
    running = []
    search.think(fen.parse(KIWIPETE), Limits(depth=2), lambda _: running.append(search.is_running()))
    assert running
    assert not any(running)


def test_listeners_hear_of_their_own_search_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("search.job.REPORT_DELAY", 0)
    search = Search(1)
    heard: list[Any] = []
    begun(search, Limits(nodes=NODES), on_progress=heard.append, on_statistics=heard.append)
    count = len(heard)
    assert count
    think(KIWIPETE, Limits(nodes=NODES), search)
    begun(search, Limits(nodes=NODES))
    assert len(heard) == count


def test_a_forced_move_on_the_clock_gets_five_plies() -> None:
    for limits, depth in ((Limits(time=(600_000, 600_000)), 5), (Limits(depth=7), 7)):
        assert think(ONE_MOVE, limits)[1][-1].depth == depth


def test_the_expected_reply_is_a_legal_move_of_the_other_side() -> None:
    for nodes in (2, 30, NODES):
        result, _ = think(KIWIPETE, Limits(nodes=nodes))
        board = played(KIWIPETE, coordinate.write(result.move))
        assert result.reply == 0 or result.reply in legal_moves(board)
    assert result.reply in legal_moves(board)


def test_a_search_without_a_thread_runs_in_the_calling_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    search = Search(1, threads=3)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        for limits in (Limits(depth=3), Limits(infinite=True), Limits(time=(60_000, 60_000), ponder=True)):
            result, _ = begun(search, limits)
            assert not search.is_running()
            assert result.move in legal_moves(fen.parse(KIWIPETE))
    assert begun(search, Limits(depth=3))[1], "the next one has a thread again"


def test_pondered_nodes_are_free_on_a_clock_that_counts_nodes() -> None:
    search = Search(1)
    results: list[Result] = []
    reports: list[Report] = []
    limits = Limits(time=(1500, 1500), nodestime=1, movestogo=1, ponder=True)
    search.start(fen.parse(KIWIPETE), limits, reports.append, results.append)
    while not reports or reports[-1].nodes < 2000:
        time.sleep(0.001)
    search.ponderhit()
    search.wait()
    spent = think(KIWIPETE, limits._replace(ponder=False), search)[0].nodes
    assert results[0].nodes > 2000 > spent > 1, "of a thousand nodes some are left"


@pytest.mark.parametrize(
    ("limits", "is_short"),
    [
        (Limits(movetime=20), True),
        (Limits(movetime=21), False),
        (Limits(time=(30, 30), overhead=10), True),
        (Limits(time=(30, 30), ponder=True), False),
        (Limits(movetime=20, infinite=True), False),
        (Limits(movetime=20, nodestime=1), False),
        (Limits(depth=1), False),
    ],
)
def test_a_search_of_a_few_milliseconds_needs_no_other_thread(limits: Limits, is_short: bool) -> None:
    search = Search(1, threads=3)
    found: list[tuple[int, threading.Thread]] = []
    before = threading.active_count()
    search.start(
        fen.parse(KIWIPETE),
        limits,
        lambda _: None,
        lambda result: found.append((result.move, threading.current_thread())),
    )
    if is_short:
        assert found
        assert not search.is_running()
        assert threading.active_count() <= before, "no helpers either"
    time.sleep(0.1)
    search.ponderhit()
    search.stop()
    search.wait()
    ((move, thread),) = found
    assert move in legal_moves(fen.parse(KIWIPETE))
    assert (thread is threading.current_thread()) == is_short


# Deadlines, on a clock that is moved by hand.


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, in milliseconds."""
    time_now = [5_000.0]
    monkeypatch.setattr(searcher_module, "monotonic_ns", lambda: int(time_now[0] * 1_000_000))
    return time_now


def pool_at(text: str) -> Pool:
    """A pool at a position; its last search had a move."""
    pool = Pool(1)
    pool.first.has_move = True
    pool.prepare(fen.parse(text), 0)
    return pool


@only_c
@pytest.mark.parametrize(
    ("has_move", "failed_low", "last"),
    [(True, False, 10), (True, True, 17), (False, False, 25), (False, True, 25)],
)
def test_the_deadline_is_later_after_a_fail_low_and_without_a_move(
    now: list[float], has_move: bool, failed_low: bool, last: int
) -> None:
    searcher = pool_at(KIWIPETE).first
    searcher.has_move, searcher.failed_low = has_move, failed_low
    searcher.limit_time(10, 17, 25)
    for passed, stops in ((last - 0.001, False), (0.001, True)):
        now[0] += passed
        searcher.check_time()
        assert bool(searcher.stop.is_set()) == stops


@only_c
def test_a_search_ticks_every_second_after_the_first_tick(now: list[float]) -> None:
    searcher = pool_at(KIWIPETE).first
    start, ticks = now[0], []
    searcher.on_tick = lambda: ticks.append(now[0] - start)
    searcher.tick_after(300)
    for _ in range(34):
        now[0] += 100
        searcher.check_time()
    assert ticks == [300, 1300, 2300, 3300]


def test_a_search_interrupted_at_its_start_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal may come at any step of the caller's."""

    def interrupted(_thread: threading.Thread) -> None:
        raise SystemExit

    search = Search(1)
    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(SystemExit):
        search.start(fen.parse(KIWIPETE), Limits(infinite=True), lambda _: None, lambda _: None)
    search.stop()
    search.wait()


@only_c
def test_the_root_has_failed_low_until_a_search_is_within_its_window(monkeypatch: pytest.MonkeyPatch) -> None:
    searcher = pool_at(KIWIPETE).first
    scores = iter([-300, -2000, -2000, -2000])
    seen = []
    search = "search.aspiration.search"
    monkeypatch.setattr(search, lambda *_: seen.append(searcher.failed_low) or next(scores))
    aspiration.iterate(searcher, 8, 0)
    aspiration.iterate(searcher, 9, -2000)
    assert seen == [False, True, True, False]


@only_c
def test_a_line_that_fails_low_after_it_failed_high_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    searcher = pool_at(KIWIPETE).first
    scores = iter([300, -300, 0])
    seen = []
    search = "search.aspiration.search"
    monkeypatch.setattr(search, lambda *_: seen.append(searcher.failed_high) or next(scores))
    aspiration.iterate(searcher, 8, 0)
    assert seen == [False, True, False]


@only_c
def test_a_stopped_search_without_a_move_looks_for_one_until_its_flag_falls(now: list[float]) -> None:
    pool = pool_at(KIWIPETE)
    limits = Limits(time=(1000, 1000), overhead=0)
    job = Job(limits, TimeManager(limits, 0), Clock(time.perf_counter() - 0.9), pool)
    job.begin([])
    job.stop()
    assert not pool.stop.is_set()
    assert pool.first.grace_deadline / 1e6 < now[0] + 101
    job.has_move()
    assert pool.stop.is_set(), "and ends as soon as it has one"


@only_c
def test_ponderhit_starts_the_clock(now: list[float]) -> None:
    pool = pool_at(KIWIPETE)
    limits = Limits(time=(60_000, 60_000), ponder=True)
    manager = TimeManager(limits, 0)
    job = Job(limits, manager, Clock(time.perf_counter() - 1.0), pool)
    job.begin([])
    assert pool.first.deadline == 0
    job.ponderhit()
    assert manager.budget is not None
    assert pool.first.deadline / 1e6 == pytest.approx(now[0] + manager.budget.hard)
