"""The time for a move: budgets within the clock, lag, clocks that count nodes, and when an iteration is the
last.
"""

import itertools
from typing import Any

import pytest

from search.limits import Limits
from search.search import Search
from search.timeman import HARD, Budget, Clock, Lag, NodeClock, TimeManager, budget
from tests.oracle import STARTS
from tests.searches import KIWIPETE, think
from x88 import build
from x88.notation import fen
from x88.piece import WHITE

# Budgets.


def budgeted(lag: Lag | None = None, **limits: Any) -> Budget:
    """White's budget, which there is."""
    found = budget(Limits(**limits), WHITE, lag)
    assert found is not None
    return found


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("left", [-500, 0, 1, 30, 1000, 60_000, 7_200_000])
@pytest.mark.parametrize("increment", [0, 50, 30_000])
@pytest.mark.parametrize("movestogo", [None, 1, 2, 40])
def test_a_budget_is_within_the_clock(side: int, left: int, increment: int, movestogo: int | None) -> None:
    for overhead in (0, 20, 500):
        clock, more = (left, left), (increment, increment)
        limits = Limits(time=clock, increment=more, movestogo=movestogo, overhead=overhead)
        found = budget(limits, side)
        assert found is not None
        assert 0 < found.soft <= found.hard <= found.fail_low <= found.grace <= max(1, left - overhead)
    if increment:
        found = budget(Limits(increment=(increment, increment)), side)
        assert found is not None
        assert 0 < found.soft <= found.hard <= found.fail_low <= increment
    if left >= 1000 and movestogo in (None, 40) and not increment:
        found = budgeted(time=(left, left), movestogo=movestogo)
        assert found.soft < found.hard < found.fail_low < 0.26 * left, "most of the clock is left"
        assert budgeted(time=(left, left), movestogo=1).hard > 0.8 * left


def test_each_side_s_budget_follows_its_own_clock() -> None:
    limits = Limits(time=(10_000, 100_000), increment=(0, 1000))
    white, black = budget(limits, 0), budget(limits, 1)
    assert white is not None
    assert black is not None
    assert black.soft > 5 * white.soft
    # A missing clock is taken from the other side.
    assert budget(Limits(time=(5000, None)), 1) == budgeted(time=(5000, 5000))
    assert budgeted(increment=(0, 200)) == budgeted(increment=(200, 200))


def test_the_budget_is_movetime_less_the_overhead_and_other_limits_have_none() -> None:
    for limits, time in (
        (Limits(movetime=250, time=(10, 10)), 250),
        (Limits(movetime=250, time=(10, 10), overhead=30), 220),
        (Limits(movetime=25, overhead=30), 1),
        # A move time in nodes needs no overhead.
        (NodeClock().limits(Limits(movetime=25, overhead=30, nodestime=100), 0), 25),
    ):
        assert budget(limits, 0) == Budget(time, time, time, time)
    for limits in (Limits(depth=3), Limits(nodes=3), Limits(infinite=True)):
        assert budget(limits, 0) is None


@pytest.mark.parametrize(("left", "least"), [(1000, 110), (30, 20)])
def test_a_reserve_stays_on_the_clock_and_fills_again(left: float, least: float) -> None:
    lost = 2.0
    for _ in range(300):
        left += 10 - budgeted(time=(int(left), None), increment=(10, 0), overhead=20).soft - lost
        assert left > least
    assert left > 110


@pytest.mark.skipif(build.compiled, reason="compiled, a search takes no other clock")
@pytest.mark.parametrize(
    ("limits", "most"),
    [
        (Limits(time=(25, 25), overhead=20), 6),
        (Limits(time=(2000, 2000)), 4000),
        (Limits(movetime=3), 4),
        (Limits(time=(25, 25)), 26),
    ],
)
def test_the_grace_for_a_first_move_ends_before_the_flag(
    limits: Limits, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every look at this clock takes a millisecond."""
    looks = itertools.count(1)
    monkeypatch.setattr("search.searcher.monotonic_ns", lambda: next(looks) * 1_000_000)
    monkeypatch.setattr(Clock, "elapsed", lambda self: 0.0)
    think("R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1K2 b - - 0 1", limits)
    think("4k3/qqqqqqqq/8/8/8/8/QQQQQQQQ/4K3 w - - 0 1", limits)
    assert next(looks) <= 2 * most + 4


# Lag: what moves cost beyond the time that their searches took.


def lag_of(*shown: tuple[int, float], increment: int = 10) -> Lag:
    """The lag of a game: before each search the clock, and how long the search took by its own."""
    lag = Lag()
    for left, elapsed in shown:
        limits = Limits(time=(left, left), increment=(increment, increment))
        lag.begin(limits, 0)
        lag.end(limits, 0, Budget(100, 200, 300, left), elapsed)
    return lag


def test_lag_is_what_moves_cost_beyond_the_plan() -> None:
    for shown, mean, longest in (
        ([(1000, 50)], 0, 0),
        # Another time control, another game, rounding, a clock that stands still and promises an increment.
        ([(1000, 50), (4000, 50)], 0, 0),
        ([(9000, 50), (1000, 50)], 0, 0),
        ([(1000, 50), (962, 50)], 0, 0),
        ([(5000, 1), (5000, 1), (5000, 1)], 0, 0),
        ([(1000, 50), (960, 20), (950, 20)], 0, 0),
        ([(1000, 50), (960 - 16, 0)], 2, 16),
        ([(1000, 50), (460, 10)], 20 / 8, 500),
        # A search that ran on after its time.
        ([(1000, 400), (1000 - 300 + 10 - 40, 0)], None, 40),
    ):
        lag = lag_of(*shown)
        assert mean in (None, lag.mean)
        assert lag.longest == longest
    steady = lag_of(*((5000 - 20 * n, 10) for n in range(60)))
    assert steady.longest == 20
    assert 19 < steady.mean < 20
    more = lag_of(*((5000 - 20 * n, 10) for n in range(60)), (5000 - 20 * 59 + 10, 10))
    assert 0.8 * steady.mean < more.mean < steady.mean, "a clock that shows more leaves the lag"
    faded = lag_of((1000, 50), (900, 20), *((890 - 10 * n, 20) for n in range(80)))
    assert faded.mean < 0.01
    assert faded.longest < 2
    often = lag_of(*((60_000 - 310 * n, 10) for n in range(40)))
    assert 200 < often.mean <= 310, "a single long loss is not expected again, many are"
    clock = (900, 900)
    for other in (Limits(time=clock, movetime=5), Limits(time=clock, ponder=True), Limits(depth=3)):
        lag = lag_of((1000, 50))
        lag.begin(other, 1)
        lag.end(other, 1, budget(other, 1), 20)
        lag.begin(Limits(time=(800, 800)), 1)
        lag.begin(Limits(time=(800, 800)), 0)
        assert (lag.mean, lag.longest) == (0, 0), "the other side's clock and other limits"


def test_a_clock_in_whole_seconds_is_no_lag() -> None:
    """It shows now too little and now too much."""
    lag, left = Lag(), 60_000.0
    for _ in range(100):
        shown = int(left // 1000) * 1000
        limits = Limits(time=(shown, shown), overhead=20)
        lag.begin(limits, 0)
        found = budget(limits, 0, lag)
        assert found is not None
        lag.end(limits, 0, found, found.soft)
        left -= found.soft
    assert 0 < left < 4000


def test_a_budget_reserves_time_for_lag() -> None:
    lag = lag_of(*((2000 - 20 * n, 10) for n in range(60)))
    limits = {"increment": (10, 10), "overhead": 10}
    usual = budgeted(time=(1000, 1000), **limits)
    slower = budgeted(lag, time=(1000, 1000), **limits)
    assert 15 < (usual.hard - slower.hard) / HARD < 30
    assert slower.grace == 1000 - 40
    assert budgeted(Lag(), time=(1000, 1000), **limits) == usual
    lag = lag_of((1000, 50), (560, 10))
    assert lag.longest == 400
    assert budgeted(lag, time=(100, 100), **limits).grace == 50, "half of what is left, not all"
    for left in (1, 20, 40, 100):
        short = budgeted(lag, time=(left, left), **limits)
        assert 0 < short.soft <= short.hard <= short.fail_low <= max(1, left / 2)
    lag.longest, lag.mean = 500.0, 40.0
    assert budgeted(lag, time=(3000, None), overhead=20).hard > 10, "one long lag does not take all"
    assert budgeted(lag, time=(3000, None), movestogo=1, overhead=20).hard > 1500
    lag.forget()
    lag.begin(Limits(time=(800, 800)), 0)
    assert (lag.mean, lag.longest) == (0, 0)


@pytest.mark.slow
def test_a_search_learns_its_lag_until_the_next_game() -> None:
    search = Search(1)

    def used() -> float:
        clock = Clock()
        for text in STARTS[:2]:
            think(text, Limits(time=(300, 300), movestogo=1), search)
        return clock.elapsed()

    for forget in (search.new_game, search.forget_lag):
        for left in (60_000, 59_000, 58_000, 57_000, 56_000, 55_000):
            think(fen.START, Limits(time=(left, left), nodes=1), search)
        slow = used()
        forget()
        assert slow < 0.9 * used()


# When an iteration is the last.


def enough(iterations: list[tuple[int, int, float]], limits: Limits | None = None) -> float:
    """The milliseconds after which a manager wants no further iteration.

    Each iteration is its best move, the score, and the move's share of the nodes.
    """
    manager = TimeManager(limits or Limits(time=(60_000, 60_000)), 0)
    for iteration in iterations:
        manager.after_iteration(*iteration)
    return next(elapsed for elapsed in range(60_000) if manager.should_stop(elapsed))


def test_an_undisputed_move_comes_sooner_than_a_doubtful_one() -> None:
    steady = enough([(7, 20, 0.9)] * 8)
    changing = enough([(7 + i % 2, 20, 0.9) for i in range(8)])
    falling = enough([(7, 20 - 60 * i, 0.9) for i in range(8)])
    shared = enough([(7, 20, 0.3)] * 8)
    assert steady < min(changing, falling, shared)
    assert max(changing, falling, shared) <= budgeted(time=(60_000, 60_000)).hard
    assert enough([(7, 20 + 60 * i, 0.9) for i in range(8)]) <= steady, "a rising score is no doubt"
    assert enough([(7, 20, 0.99)] * 8, Limits(movetime=300)) == 300, "a movetime is used in any case"


# Clocks that count nodes: a search on one is the same on every machine.


def nodes_within(text: str = fen.START, search: Search | None = None, **limits: Any) -> int:
    given: dict[str, Any] = {"time": (2000, 2000), "nodestime": 1} | limits
    return think(text, Limits(**given), search)[0].nodes


def test_a_move_takes_more_nodes_with_more_of_its_own_time() -> None:
    usual = nodes_within()
    assert nodes_within(movestogo=4) > usual
    assert nodes_within(increment=(200, 0)) > usual
    assert nodes_within(time=(8000, 2000)) > usual
    assert nodes_within(time=(2000, 8000), increment=(0, 200)) == usual


def test_a_new_game_has_a_new_clock_of_nodes() -> None:
    """Within a game the GUI's clock is not read again."""
    search = Search(1)
    spent = []
    for left in (400, 400, 4000):
        if len(spent) == 2:
            search.new_game()
        spent.append(nodes_within(KIWIPETE, search, time=(left, left), movestogo=1))
    assert spent[1] < spent[0] <= 400 < spent[2]
    search.new_game()
    assert nodes_within(KIWIPETE, search) == nodes_within(KIWIPETE), "nothing else is left of them either"
