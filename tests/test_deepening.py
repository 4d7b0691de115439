"""Iterations and their aspiration windows, on the uncompiled source, with a search that answers as told."""

from collections.abc import Callable

import pytest

from search import deepening
from search.score import INFINITE, LONGEST_MATE, MAX_PLY
from search.searcher import Searcher
from search.stop import Stop
from search.table import TranspositionTable
from x88 import build, fen
from x88.movegen import legal_moves

pytestmark = pytest.mark.skipif(build.compiled, reason="compiled, the windows cannot be watched")

Window = tuple[int, int]


@pytest.fixture
def searcher() -> Searcher:
    found = Searcher(TranspositionTable(1), Stop())
    found.prepare(fen.parse(fen.START), 0)
    found.parameters.aspiration = 16
    return found


def windows_of(monkeypatch: pytest.MonkeyPatch, answer: Callable[[int], int]) -> list[Window]:
    """Let the n-th search, from 0, return `answer(n)`; the windows are noted."""
    windows: list[Window] = []

    def search(searcher: Searcher, alpha: int, beta: int, depth: int, *_: object) -> int:
        assert searcher.extension_ply == depth
        windows.append((alpha, beta))
        searcher.enter(0)
        searcher.enter(1)
        searcher.update_pv(0, legal_moves(searcher.board)[len(windows)])
        return answer(len(windows) - 1)

    monkeypatch.setattr(deepening, "search", search)
    return windows


@pytest.mark.parametrize(
    ("depth", "guess", "window"),
    [
        (4, 30, (-INFINITE, INFINITE)),
        (5, 30, (14, 46)),
        (9, -30, (-46, -14)),
        (9, LONGEST_MATE, (-INFINITE, INFINITE)),
        (9, -LONGEST_MATE, (-INFINITE, INFINITE)),
    ],
)
def test_deep_iterations_begin_with_a_window_around_the_last_score(
    searcher: Searcher, depth: int, guess: int, window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    windows = windows_of(monkeypatch, lambda _: 40 if guess > 0 else -40)
    searcher.failed_high = True
    assert deepening.iterate(searcher, depth, guess) == (40 if guess > 0 else -40)
    assert windows == [window]
    assert not searcher.failed_high


def test_a_score_below_the_window_widens_it_downwards(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    windows = windows_of(monkeypatch, lambda n: [-20, -400, -2000, -9000][n])
    assert deepening.iterate(searcher, 8, 0) == -9000
    assert [beta for _, beta in windows] == [16] * 4
    assert windows[0][0] == -16
    assert windows[-1][0] == -INFINITE
    alphas = [alpha for alpha, _ in windows]
    assert alphas == sorted(set(alphas), reverse=True)
    assert all(alpha < score for (alpha, _), score in zip(windows[1:], (-20, -400, -2000), strict=True))
    assert not searcher.failed_high
    assert searcher.kept_line() == []


def test_a_score_above_the_window_widens_it_upwards_and_its_line_is_kept(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    windows = windows_of(monkeypatch, lambda n: [20, 400, 2000, 9000][n])
    assert deepening.iterate(searcher, 8, 0) == 9000
    assert [alpha for alpha, _ in windows] == [-16] * 4
    betas = [beta for _, beta in windows]
    assert betas == sorted(set(betas))
    assert betas[-1] == INFINITE
    assert searcher.failed_high
    assert searcher.finding() == (8, 2000, [legal_moves(searcher.board)[3]])


@pytest.mark.parametrize("score", [-INFINITE - 1, -INFINITE, INFINITE, INFINITE + 1])
def test_a_score_that_no_window_can_hold_ends_the_iteration(
    score: int, searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    windows = windows_of(monkeypatch, lambda _: score)
    assert deepening.iterate(searcher, 8, 0) == score
    assert len(windows) == 2


def test_bounds_are_told_while_reporting(searcher: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, bool]] = []
    searcher.on_bound = lambda score, is_upper: told.append((score, is_upper))
    for is_reporting in (False, True):
        searcher.is_reporting = is_reporting
        windows_of(monkeypatch, lambda n: [-16, 16, 16, 0][n])
        deepening.iterate(searcher, 8, 0)
        assert told == ([(-16, True), (16, False)] if is_reporting else [])


def test_a_stopped_iteration_ends_whatever_its_window(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    windows = windows_of(monkeypatch, lambda _: searcher.stop.set() or 500)  # type: ignore[func-returns-value]
    deepening.iterate(searcher, 8, 0)
    assert len(windows) == 1
    assert not searcher.failed_high


def test_helpers_keep_the_line_of_their_last_finished_iteration_and_do_not_all_search_all_depths(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searched: dict[int, list[int]] = {}
    for number in (1, 2, 3):
        helper = Searcher(TranspositionTable(1), Stop())
        helper.prepare(fen.parse(fen.START), 0)
        depths = searched.setdefault(number, [])

        def iterate(searcher: Searcher, depth: int, guess: int, depths: list[int] = depths) -> int:
            assert guess == (depths[-1] * 10 if depths else 0)
            depths.append(depth)
            if depth > 20:
                searcher.stop.set()
            return depth * 10

        monkeypatch.setattr(deepening, "iterate", iterate)
        assert not deepening.help_along(helper, number, 0)
        assert helper.finding()[:2] == (depths[-2], depths[-2] * 10)
        assert depths[:3] == [1, 2, 3]
        assert 8 <= len(depths) <= 14, "about every second depth"
    assert len({tuple(depths) for depths in searched.values()}) == 3


@pytest.mark.parametrize("last", [3, 9, 10, 11, 12])
def test_the_helper_that_finishes_the_last_iteration_ends_the_search(
    last: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 2, 3):
        monkeypatch.setattr(deepening, "iterate", lambda _searcher, depth, _guess: depth)
        helper = Searcher(TranspositionTable(1), Stop())
        helper.prepare(fen.parse(fen.START), 0)
        assert deepening.help_along(helper, number, last)
        assert helper.finding()[:2] == (last, last)
        assert helper.stop.is_set()


def test_without_a_last_iteration_a_helper_never_ends_the_search(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deepening, "iterate", lambda _searcher, depth, _guess: depth)
    assert not deepening.help_along(searcher, 1, 0)
    assert searcher.finding()[0] > MAX_PLY - 4
    assert not searcher.stop.is_set()
