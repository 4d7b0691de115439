"""Several threads: the same limits as with one, whatever happens between them."""

import os
import random
import subprocess
import sys
import threading
import time

import pytest

from search import benchmark
from search.clock import Clock, TimeManager
from search.job import Job
from search.limits import Limits
from search.pool import SHARES, SURPLUS_NICENESS, Pool, vote
from search.score import MATE
from search.search import Report, Result, Search
from search.searcher import Searcher
from tests.oracle import scaled
from x88 import build, coordinate, fen
from x88.movegen import legal_moves

pytestmark = pytest.mark.slow

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
MATE_IN_THREE = "r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1"


def think(text: str, limits: Limits, threads: int) -> tuple[Result, list[Report]]:
    reports: list[Report] = []
    return Search(1, threads=threads).think(fen.parse(text), limits, reports.append), reports


@pytest.mark.parametrize("threads", [2, 5])
def test_all_threads_together_keep_to_a_limit_of_nodes(threads: int) -> None:
    for text in benchmark.POSITIONS[3 : 40 : 6 if build.compiled else 20]:
        for nodes in (1, 50, SHARES * threads - 1, SHARES * threads * scaled(5, 1)):
            result, reports = think(text, Limits(nodes=nodes), threads)
            assert result.move in legal_moves(fen.parse(text))
            assert 0.99 * nodes <= result.nodes <= nodes
            assert all(report.nodes <= nodes for report in reports)


@pytest.mark.parametrize("threads", [2, 8])
def test_a_mate_is_found_and_its_shortest_line_told(threads: int) -> None:
    result, reports = think(MATE_IN_THREE, Limits(depth=9 if build.compiled else 7), threads)
    assert reports[-1].score == MATE - 5
    assert coordinate.write(result.move) == "f6a6"
    result, reports = think(MATE_IN_THREE, Limits(mate=3), threads)
    assert reports[-1].mate == 3


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_a_search_to_a_depth_ends_with_a_line_of_that_depth(threads: int) -> None:
    search = Search(1, threads=threads)
    board = fen.parse(KIWIPETE)
    for depth in (*range(1, scaled(9, 4)), 1, 3):
        reports: list[Report] = []
        result = search.think(board, Limits(depth=depth), reports.append)
        assert (reports[-1].depth, reports[-1].bound) == (depth, "")
        assert reports[-1].pv[0] == result.move
    search.think(board, Limits(depth=4, lines=3), reports.append)
    assert {report.line for report in reports[-3:]} == {1, 2, 3}
    assert {report.depth for report in reports[-3:]} == {4}


@pytest.mark.skipif(build.compiled, reason="compiled, the first thread cannot be held up")
def test_a_helper_that_reaches_the_depth_first_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    from search.deepening import iterate

    def held_up(searcher: Searcher, depth: int, guess: int) -> int:
        while depth > 1 and not searcher.stop.is_set():
            time.sleep(0.001)
        return iterate(searcher, depth, guess)

    monkeypatch.setattr("search.search.iterate", held_up)
    result, reports = think(KIWIPETE, Limits(depth=3), 2)
    assert reports[-1].depth == 3
    assert reports[-1].pv[0] == result.move
    assert len(reports[-1].pv) > 1


@pytest.mark.skipif(build.compiled, reason="compiled, a helper cannot be held up")
def test_a_move_wanted_now_does_not_wait_for_a_starved_helper(monkeypatch: pytest.MonkeyPatch) -> None:
    from search.deepening import iterate

    may_end = threading.Event()

    def starved(searcher: Searcher, depth: int, guess: int) -> int:
        may_end.wait(60)
        return iterate(searcher, depth, guess)

    monkeypatch.setattr("search.deepening.iterate", starved)
    search = Search(1, threads=3)
    board = fen.parse(KIWIPETE)
    for limits in (Limits(movetime=60), Limits(time=(200, 200)), Limits(increment=(50, 50))):
        clock = Clock()
        assert search.think(board, limits).move
        assert clock.elapsed() < 20_000
        may_end.set()
        search.think(board, Limits(depth=1))
        may_end.clear()
    results: list[Result] = []
    search.start(board, Limits(infinite=True), lambda _: None, results.append)
    time.sleep(0.3)
    clock = Clock()
    search.stop()
    search.wait()
    assert clock.elapsed() < 20_000
    assert results[0].move in legal_moves(board)
    for change in (
        lambda: search.think(board, Limits(movetime=30)),
        lambda: search.resize_table(1),
        search.forget,
        lambda: search.resize_pool(2),
    ):
        may_end.set()
        search.think(board, Limits(depth=1))
        may_end.clear()
        search.think(board, Limits(movetime=30))
        changing = threading.Thread(target=change, daemon=True)
        changing.start()
        changing.join(0.3)
        assert changing.is_alive(), "the next search, and all else, waits for the helper"
        may_end.set()
        changing.join(60)
        assert not changing.is_alive()


@pytest.mark.skipif(build.compiled, reason="compiled, a helper cannot be held up")
def test_the_line_that_ended_the_search_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    from search.deepening import help_along, iterate

    def held_up(searcher: Searcher, depth: int, guess: int) -> int:
        while depth > 1 and not searcher.stop.is_set():
            time.sleep(0.001)
        return iterate(searcher, depth, guess)

    def late(searcher: Searcher, number: int, last: int) -> bool:
        has_finished = help_along(searcher, number, last)
        time.sleep(0.2)
        return has_finished

    monkeypatch.setattr("search.search.iterate", held_up)
    monkeypatch.setattr("search.pool.help_along", late)
    result, reports = think(KIWIPETE, Limits(depth=3, time=(600_000, 600_000)), 2)
    assert reports[-1].depth == 3
    assert reports[-1].pv[0] == result.move


@pytest.mark.skipif(build.compiled, reason="compiled, a helper cannot be made to fail")
@pytest.mark.parametrize(("error", "is_told"), [(MemoryError, False), (ZeroDivisionError, True)])
def test_a_helper_that_fails_holds_up_no_search(
    error: type[Exception], is_told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from search.deepening import help_along

    told: list[object] = []
    monkeypatch.setattr("threading.excepthook", told.append)
    fails = True

    def failing(searcher: Searcher, number: int, last: int) -> bool:
        if fails:
            raise error
        return help_along(searcher, number, last)

    monkeypatch.setattr("search.pool.help_along", failing)
    search = Search(1, threads=2)
    for _ in range(2):
        assert search.think(fen.parse(KIWIPETE), Limits(depth=2)).move
    assert bool(told) == is_told
    fails = False
    assert search.think(fen.parse(KIWIPETE), Limits(depth=2)).move


@pytest.mark.skipif(build.compiled, reason="compiled, a job takes no other pool")
def test_a_move_is_wanted_now_by_a_clock_or_a_stop() -> None:
    def job_of(limits: Limits) -> Job:
        pool = Pool(1)
        pool.prepare(fen.parse(KIWIPETE), 0)
        return Job(limits, TimeManager(limits, 0), Clock(), pool)

    for limits in (Limits(), Limits(infinite=True), Limits(depth=9), Limits(nodes=9), Limits(mate=2)):
        job = job_of(limits)
        assert not job.is_urgent()
        job.stop()
        assert job.is_urgent()
    for limits in (
        Limits(movetime=9),
        Limits(time=(9, 9)),
        Limits(increment=(9, 9)),
        Limits(depth=9, movetime=9),
    ):
        assert job_of(limits).is_urgent()
    job = job_of(Limits(ponder=True))
    assert not job.is_urgent()
    job.ponderhit()
    assert job.is_urgent()


@pytest.mark.skipif(build.compiled, reason="compiled, a job takes no other pool")
@pytest.mark.parametrize(
    ("limits", "is_open"),
    [
        (Limits(), True),
        (Limits(nodes=9, movetime=9, lines=1), True),
        (Limits(lines=2), False),
        (Limits(depth=9), False),
        (Limits(mate=9), False),
    ],
)
def test_threads_vote_unless_depth_or_lines_are_asked_for(limits: Limits, is_open: bool) -> None:
    assert Job(limits, TimeManager(limits, 0), Clock(), Pool(1)).is_open_to_votes() == is_open


@pytest.mark.parametrize("threads", [2, 3])
def test_every_thread_keeps_to_the_moves_to_search(threads: int) -> None:
    board = fen.parse(KIWIPETE)
    allowed = [coordinate.parse(board, text) for text in ("a2a3", "g2g3")]
    for nodes in range(SHARES * threads, SHARES * threads + scaled(8, 1)):
        result, reports = think(KIWIPETE, Limits(nodes=nodes, searchmoves=tuple(allowed)), threads)
        assert result.move in allowed
        assert all(report.pv[0] in allowed for report in reports)


def test_several_lines_stay_different_moves() -> None:
    _, reports = think(KIWIPETE, Limits(depth=scaled(8, 4), lines=4), 3)
    last = reports[-4:]
    assert [report.line for report in last] == [1, 2, 3, 4]
    assert len({report.pv[0] for report in last}) == 4
    assert [report.score for report in last] == sorted((report.score for report in last), reverse=True)


def test_the_result_begins_with_the_last_line_told() -> None:
    """Also where another thread's line has won the vote."""
    for seed in range(scaled(30, 4)):
        text = random.Random(seed).choice(benchmark.POSITIONS)
        result, reports = think(text, Limits(nodes=SHARES * 4 + seed), 4)
        assert result.move == reports[-1].pv[0]


def test_one_thread_searches_as_if_there_had_never_been_more() -> None:
    board = fen.parse(KIWIPETE)
    limits = Limits(depth=scaled(8, 3))
    expected = Search(1).think(board, limits)
    search = Search(1, threads=4)
    search.think(board, limits)
    search.resize_pool(1)
    search.new_game()
    assert search.think(board, limits) == expected


def test_a_limited_strength_is_that_of_one_thread() -> None:
    results = []
    for threads in (1, 4):
        search = Search(1, threads=threads)
        search.limit_strength(1600, seed=3)
        results.append(search.think(fen.parse(KIWIPETE), Limits(depth=20)))
    assert results[0] == results[1]


def helper_threads() -> list[threading.Thread]:
    """All threads of helpers, in the order of their start."""
    return [thread for thread in threading.enumerate() if thread.name.startswith("search helper")]


def helpers_of(search: Search, count: int) -> list[threading.Thread]:
    """The threads of the helpers, in their order, after a search that has started so many."""
    before = helper_threads()
    search.start(fen.parse(fen.START), Limits(infinite=True), lambda _: None, lambda _: None)
    deadline = time.monotonic() + 60
    while True:
        helpers = [thread for thread in helper_threads() if thread not in before]
        if len(helpers) == count or time.monotonic() > deadline:
            break
        time.sleep(0.01)
    search.stop()
    search.wait()
    return sorted(helpers, key=lambda thread: int(thread.name.removeprefix("search helper ")))


@pytest.mark.parametrize("threads", [2, 16])
def test_a_stop_ends_all_threads_and_they_sleep_until_the_next_search(threads: int) -> None:
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
    assert len(helpers) == threads - 1
    assert all(helper.is_alive() for helper in helpers)
    search.resize_pool(1)
    assert not any(helper.is_alive() for helper in helpers)


def test_a_clock_holds_with_threads() -> None:
    for limits in (Limits(movetime=60), Limits(time=(300, 300))):
        clock = Clock()
        _, reports = think(KIWIPETE, limits, 3)
        assert reports
        assert clock.elapsed() < 2000


def test_the_largest_number_of_threads_is_accepted() -> None:
    """They are started by the next search only."""
    before = threading.active_count()
    search = Search(1, threads=1024)
    search.resize_pool(1024)
    assert threading.active_count() < before + 100  # those of other tests may come and go


def test_a_search_does_not_wait_for_threads_that_are_still_to_be_started() -> None:
    """A thousand take seconds."""
    search = Search(1, threads=1024)
    clock = Clock()
    result = search.think(fen.parse(KIWIPETE), Limits(movetime=100))
    assert clock.elapsed() < scaled(1000, 5000)
    assert result.move in legal_moves(fen.parse(KIWIPETE))
    search.resize_pool(1)
    assert search.think(fen.parse(KIWIPETE), Limits(nodes=1000)).nodes == 1000


@pytest.mark.parametrize("threads", [0, -1, 1025])
def test_an_impossible_number_of_threads_is_refused(threads: int) -> None:
    search = Search(1)
    with pytest.raises(ValueError, match=str(threads)):
        search.resize_pool(threads)
    with pytest.raises(ValueError, match=str(threads)):
        Search(1, threads=threads)


def test_votes_go_by_depth_and_score_and_a_mate_wins_anyway() -> None:
    others = [(10, 30, [2]), (10, 30, [2])]
    assert vote([(10, 35, [1]), *others])[2] == [2]
    assert vote([(16, 300, [1]), *others])[2] == [1]
    assert vote([(10, 30, [2, 5]), *others]) == (10, 30, [2, 5]), "its own line, if it comes to the same"
    assert vote([(10, 0, [1]), (10, 0, [2]), (10, 0, [2])])[2] == [2], "a score of zero is one as well"
    assert vote([(16, 300, [1]), *others, (4, MATE - 3, [3])])[2] == [3]


@pytest.mark.skipif(build.compiled, reason="compiled, a pool takes no other helpers")
def test_only_helpers_that_sleep_and_have_a_line_vote() -> None:
    class Stand:
        """A helper with a line of its own."""

        def __init__(self, is_asleep: bool, *finding: object) -> None:
            self.searcher = self
            self._finding = finding
            self._is_asleep = is_asleep

        def wait(self, timeout: float | None = None) -> bool:
            return self._is_asleep

        def finding(self) -> tuple[object, ...]:
            return self._finding

    pool = Pool(1)
    pool.helpers = [Stand(True, 0, 0, []), Stand(False, 4, MATE - 3, [3])]  # type: ignore[list-item]
    assert pool.voted_line(16, 300, [1])[2] == [1]
    pool.helpers.append(Stand(True, 40, 300, [2]))  # type: ignore[arg-type]
    assert pool.voted_line(16, 300, [1])[2] == [2]


@pytest.mark.parametrize("threads", [1, 3])
def test_a_table_is_cleared_to_its_last_word_whatever_the_threads(threads: int) -> None:
    search = Search(4, threads=threads)
    search.think(fen.parse(KIWIPETE), Limits(nodes=scaled(60_000, 3000)))
    assert search.table.hashfull() > 0
    search.new_game()
    assert search.table.hashfull() == 0
    for key in range(0, 1 << 64, 1 << 52):
        assert search.table.probe(key) == 0


def test_the_process_ends_with_threads_asleep_or_at_work() -> None:
    code = (
        "from search.search import Search; from search.limits import Limits; from x88 import fen;"
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


@pytest.mark.skipif(build.compiled, reason="compiled, a searcher cannot be looked into")
@pytest.mark.parametrize("processors", [1, 2, 4])
def test_helpers_leave_a_processor_to_others(processors: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("search.pool._processors", lambda: processors)
    pool = Pool(1)
    pool.resize(6)
    pool.prepare(fen.parse(fen.START), 0)
    pool.start_helpers([], 0, 0)
    while len(pool.helpers) < 5:
        time.sleep(0.01)
    pool.wait_for_helpers()
    given = [helper.searcher.gives_way for helper in pool.helpers]
    assert given == [number >= processors - 1 for number in range(1, 6)]
    assert not pool.first.gives_way


def test_a_search_that_is_dropped_takes_its_threads_with_it() -> None:
    search = Search(1, threads=3)
    helpers = helpers_of(search, 2)
    assert len(helpers) == 2
    del search
    for helper in helpers:
        helper.join(30)
        assert not helper.is_alive()
