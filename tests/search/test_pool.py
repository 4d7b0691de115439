"""Several threads: the same limits as with one, whatever happens between them."""

import os
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from search import aspiration, benchmark
from search.limits import Limits
from search.line import Line, Result
from search.pool import SHARES, SURPLUS_NICENESS, Pool, vote
from search.score import MATE
from search.search import Search
from search.searcher import Searcher
from search.stop import Stop
from search.timeman import Clock
from search.transposition import TranspositionTable
from tests.oracle import only_c, scaled
from tests.searches import KIWIPETE, check_lines, packed, think
from x88 import build
from x88.movegen import legal_moves
from x88.notation import coordinate, fen

pytestmark = pytest.mark.slow

MATE_IN_THREE = "r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1"


@pytest.mark.parametrize("threads", [2, 5])
def test_all_threads_together_keep_to_a_limit_of_nodes(threads: int) -> None:
    for text in benchmark.POSITIONS[3 : 40 : 6 if build.compiled else 20]:
        for nodes in (1, 50, SHARES * threads - 1, SHARES * threads * scaled(5, 1)):
            result, reports = think(text, Limits(nodes=nodes), threads=threads)
            assert result.move in legal_moves(fen.parse(text))
            assert result.move == reports[-1].pv[0], "also where another thread's line has won the vote"
            assert 0.99 * nodes <= result.nodes <= nodes
            assert all(report.nodes <= nodes for report in reports)


@pytest.mark.parametrize("threads", [2, 8])
def test_several_threads_find_the_shortest_mate(threads: int) -> None:
    result, reports = think(MATE_IN_THREE, Limits(depth=9 if build.compiled else 7), threads=threads)
    assert reports[-1].score == MATE - 5
    assert coordinate.write(result.move) == "f6a6"
    result, reports = think(MATE_IN_THREE, Limits(mate=3), threads=threads)
    assert reports[-1].mate == 3


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_a_search_to_a_depth_ends_with_a_line_of_that_depth(threads: int) -> None:
    search = Search(1, threads=threads)
    board = fen.parse(KIWIPETE)
    for depth in (*range(1, scaled(9, 4)), 1, 3):
        result, reports = think(board, Limits(depth=depth), search)
        assert (reports[-1].depth, reports[-1].bound) == (depth, "")
        assert reports[-1].pv[0] == result.move
    _, reports = think(board, Limits(depth=scaled(8, 4), lines=4), search)
    last = reports[-4:]
    assert [report.line for report in last] == [1, 2, 3, 4]
    assert {report.depth for report in last} == {scaled(8, 4)}
    assert len({report.pv[0] for report in last}) == 4
    assert [report.score for report in last] == sorted((report.score for report in last), reverse=True)


@only_c
@pytest.mark.parametrize("delay", [0, 0.2])
@pytest.mark.parametrize("limits", [Limits(depth=3), Limits(depth=3, time=(600_000, 600_000))])
def test_the_helper_that_reaches_the_depth_first_ends_the_search_with_its_line(
    limits: Limits, delay: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    def held_up(searcher: Searcher, depth: int, guess: int) -> int:
        while depth > 1 and not searcher.stop.is_set():
            time.sleep(0.001)
        return aspiration.iterate(searcher, depth, guess)

    def late(searcher: Searcher, number: int, last: int) -> bool:
        has_finished = aspiration.help_along(searcher, number, last)
        time.sleep(delay)
        return has_finished

    monkeypatch.setattr("search.deepening.iterate", held_up)
    monkeypatch.setattr("search.pool.help_along", late)
    result, reports = think(KIWIPETE, limits, threads=2)
    assert reports[-1].depth == 3
    assert reports[-1].pv[0] == result.move
    assert len(reports[-1].pv) > 1
    check_lines(KIWIPETE, reports)


@only_c
def test_a_thread_profits_from_the_corrections_that_another_has_learnt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def held_up(searcher: Searcher, _: int, guess: int) -> int:
        while not searcher.stop.is_set():
            time.sleep(0.001)
        return guess

    board = fen.parse(KIWIPETE)
    limits = Limits(depth=6)
    expected = Search(1).think(board, limits)
    search = Search(1, threads=2)
    with monkeypatch.context() as patch:
        patch.setattr("search.deepening.iterate", held_up)
        search.think(board, limits)
    search.resize_pool(1)
    search.resize_table(1)  # only correction history can know of the helper's search now
    assert search.think(board, limits) != expected
    search.new_game()
    assert search.think(board, limits) == expected


@only_c
def test_helpers_search_different_depths_up_to_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    depths: list[int] = []
    monkeypatch.setattr("search.aspiration.iterate", lambda _, depth, __: depths.append(depth) or 7)
    searched = set()
    for number in (1, 2, 3):
        helper = Searcher(TranspositionTable(1), Stop())
        helper.prepare(fen.parse(fen.START), 0)
        depths.clear()
        assert aspiration.help_along(helper, number, 10)
        assert (helper.kept_line().depth, helper.kept_line().score) == (10, 7)
        assert helper.stop.is_set()
        assert depths[:3] == [1, 2, 3]
        searched.add(tuple(depths))
    assert len(searched) == 3


@only_c
def test_an_urgent_move_does_not_wait_for_a_starved_helper_but_changes_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    may_end = threading.Event()
    iterate = aspiration.iterate
    monkeypatch.setattr("search.aspiration.iterate", lambda *call: may_end.wait(60) and iterate(*call))
    search = Search(1, threads=3)
    for change in (
        lambda: think(KIWIPETE, Limits(movetime=30), search),
        lambda: search.resize_table(1),
        search.forget,
        lambda: search.resize_pool(2),
    ):
        for limits in (Limits(movetime=60), Limits(time=(200, 200)), Limits(infinite=True)):
            may_end.clear()
            search.start(fen.parse(KIWIPETE), limits, lambda _: None, lambda _: None)
            time.sleep(0.3)
            clock = Clock()
            search.stop()
            search.wait()
            assert clock.elapsed() < 20_000
            changing = threading.Thread(target=change, daemon=True)
            changing.start()
            changing.join(0.2)
            assert changing.is_alive(), "the next search, and all else, waits for the helper"
            may_end.set()
            changing.join(60)
            assert not changing.is_alive()
            think(KIWIPETE, Limits(depth=1), search)  # waits for all helpers


@pytest.mark.parametrize(("error", "is_reported"), [(MemoryError, False), (ZeroDivisionError, True)])
def test_a_helper_that_fails_holds_up_no_search(
    error: type[Exception], is_reported: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> bool:
        raise error

    reported: list[object] = []
    monkeypatch.setattr("threading.excepthook", reported.append)
    search = Search(1, threads=2)
    with monkeypatch.context() as patch:
        patch.setattr("search.pool.help_along", failing)
        for _ in range(2):
            assert search.think(fen.parse(KIWIPETE), Limits(depth=2)).move
    assert bool(reported) == is_reported
    assert search.think(fen.parse(KIWIPETE), Limits(depth=2)).move


@pytest.mark.parametrize("threads", [2, 3])
def test_every_thread_keeps_to_the_moves_to_search(threads: int) -> None:
    allowed = packed(KIWIPETE, "a2a3 g2g3")
    for nodes in range(SHARES * threads, SHARES * threads + scaled(8, 1)):
        result, reports = think(KIWIPETE, Limits(nodes=nodes, searchmoves=allowed), threads=threads)
        assert result.move in allowed
        assert all(report.pv[0] in allowed for report in reports)


def test_one_thread_searches_as_if_there_had_never_been_more() -> None:
    board = fen.parse(KIWIPETE)
    limits = Limits(depth=scaled(8, 3))
    expected = Search(1).think(board, limits)
    search = Search(1, threads=4)
    search.think(board, limits)
    search.resize_pool(1)
    search.new_game()
    assert search.think(board, limits) == expected


def test_a_limited_strength_uses_one_thread() -> None:
    results = []
    for threads in (1, 4):
        search = Search(1, threads=threads)
        search.limit_strength(1600, seed=3)
        results.append(search.think(fen.parse(KIWIPETE), Limits(depth=20)))
    assert results[0] == results[1]


def helpers_of(search: Search, count: int) -> list[threading.Thread]:
    """The threads of the helpers, in their order, after a search that has started so many."""
    before = threading.enumerate()
    search.start(fen.parse(fen.START), Limits(infinite=True), lambda _: None, lambda _: None)
    deadline = time.monotonic() + 60
    helpers: list[threading.Thread] = []
    while len(helpers) < count and time.monotonic() < deadline:
        time.sleep(0.01)
        new = [thread for thread in threading.enumerate() if thread not in before]
        helpers = [thread for thread in new if thread.name.startswith("search helper")]
    search.stop()
    search.wait()
    assert len(helpers) == count
    return sorted(helpers, key=lambda thread: int(thread.name.removeprefix("search helper ")))


@pytest.mark.parametrize("threads", [2, 16])
def test_helpers_sleep_between_searches_and_end_with_the_pool_or_the_search(threads: int) -> None:
    search = Search(1, threads=threads)
    helpers = helpers_of(search, threads - 1)
    for _ in range(3):
        results: list[Result] = []
        search.start(fen.parse(KIWIPETE), Limits(infinite=True), lambda _: None, results.append)
        time.sleep(0.05)
        search.stop()
        search.wait()
        assert results[0].move in legal_moves(fen.parse(KIWIPETE))
    before = time.process_time()
    time.sleep(0.3)
    assert time.process_time() - before < 0.2
    assert all(helper.is_alive() for helper in helpers)
    if threads > 2:
        search.resize_pool(1)
    else:
        del search
        helpers[0].join(30)
    assert not any(helper.is_alive() for helper in helpers)


def test_a_search_does_not_wait_for_a_thousand_threads() -> None:
    """They are started by the next search only, which takes seconds."""
    before = threading.active_count()
    search = Search(1, threads=1024)
    assert threading.active_count() < before + 100  # those of other tests may come and go
    clock = Clock()
    assert think(KIWIPETE, Limits(movetime=100), search)[0].move in legal_moves(fen.parse(KIWIPETE))
    assert clock.elapsed() < scaled(1000, 5000)
    search.resize_pool(1)
    assert think(KIWIPETE, Limits(nodes=1000), search)[0].nodes == 1000


@pytest.mark.parametrize("threads", [0, -1, 1025])
def test_a_search_refuses_an_impossible_number_of_threads(threads: int) -> None:
    for call in (lambda: Search(1).resize_pool(threads), lambda: Search(1, threads=threads)):
        with pytest.raises(ValueError, match=str(threads)):
            call()


def test_votes_go_by_depth_and_score_and_a_mate_wins_anyway() -> None:
    others = [Line(30, [2], 10), Line(30, [2], 10)]
    assert vote([Line(35, [1], 10), *others]).pv == [2]
    assert vote([Line(300, [1], 16), *others]).pv == [1]
    assert vote([Line(30, [2, 5], 10), *others]).pv == [2, 5], "its own line, if it comes to the same"
    assert vote([Line(0, [move], 10) for move in (1, 2, 2)]).pv == [2], "a score of zero is one as well"
    assert vote([Line(300, [1], 16), *others, Line(MATE - 3, [3], 4)]).pv == [3]
    mate, longer = Line(MATE - 3, [3], 4), Line(MATE - 5, [2], 12)
    assert vote([longer, mate, longer]) == vote([mate, longer, longer]) == mate, "the shortest mate"


def test_only_helpers_that_sleep_and_have_a_line_vote() -> None:
    def helper(is_asleep: bool, line: Line) -> SimpleNamespace:
        searcher = SimpleNamespace(kept_line=lambda: line)
        return SimpleNamespace(searcher=searcher, wait=lambda _: is_asleep)

    pool = Pool(1)
    pool.helpers = [helper(True, Line(0, [], 0)), helper(False, Line(MATE - 3, [3], 4))]
    assert pool.voted_line(Line(300, [1], 16)) is None, "the line of the first searcher stays"
    pool.helpers.append(helper(True, Line(300, [2], 40)))
    assert pool.voted_line(Line(300, [1], 16)) == Line(300, [2], 40)


@only_c
@pytest.mark.parametrize("processors", [2, 3])
def test_helpers_leave_a_processor_to_others(processors: int, monkeypatch: pytest.MonkeyPatch) -> None:
    yielded: set[str] = set()
    monkeypatch.setattr("search.pool.processors", lambda: processors)
    monkeypatch.setattr(
        "search.searcher.yield_processor", lambda: yielded.add(threading.current_thread().name)
    )
    search = Search(1, threads=4)
    for _ in range(2):  # the helpers of the first may come too late
        think(KIWIPETE, Limits(nodes=SHARES * 4), search)
    assert yielded == {f"search helper {number}" for number in range(processors - 1, 4)}


def test_the_process_ends_with_threads_asleep_or_at_work() -> None:
    code = (
        "from search.search import Search; from search.limits import Limits; from x88.notation import fen;"
        "s = Search(1, threads=4); b = fen.parse(fen.START); s.think(b, Limits(depth=3));"
        "s.start(b, Limits(infinite=True), print, print)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, timeout=60, env={**os.environ, "PYTHONPATH": "."}
    )
    assert done.returncode == 0
    assert b"Error" not in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="threads have a priority of their own on Linux")
def test_helpers_without_a_processor_have_a_lower_priority() -> None:
    processors = len(os.sched_getaffinity(0))
    search = Search(1, threads=processors + 3)
    helpers = helpers_of(search, processors + 2)
    own = os.getpriority(os.PRIO_PROCESS, 0)
    expected = [own] * (processors - 1) + [min(19, own + SURPLUS_NICENESS)] * 3
    found = []
    deadline = time.monotonic() + 60
    while found != expected and time.monotonic() < deadline:
        # Each helper sets its own priority, and a new one may not have run yet.
        found = [os.getpriority(os.PRIO_PROCESS, thread.native_id or 0) for thread in helpers]
        time.sleep(0.01)
    assert found == expected
    assert os.getpriority(os.PRIO_PROCESS, 0) == own
