"""Searches whose transposition table holds random bytes, also under the keys of the positions searched."""

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from search.limits import Limits
from search.search import Report, Search
from search.table import EXACT, LOWER, UPPER
from tests.oracle import scaled
from x88 import fen
from x88.movegen import legal_moves

sys.path.append(str(Path(__file__).resolve().parent.parent / "bench"))
search_fuzz: Any = importlib.import_module("search_fuzz")

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"


@pytest.mark.parametrize("threads", [1, 2])
def test_a_table_of_random_bytes_costs_neither_legality_nor_a_crash(threads: int) -> None:
    """`python bench/fuzz.py --only tables` does more."""
    forgery = search_fuzz.Forgery(threads)
    for seed in range(scaled(100, 20)):
        forgery.read(seed)


@pytest.mark.parametrize("bound", [UPPER, LOWER, EXACT])
@pytest.mark.parametrize("score", [-32768, 32767])
def test_scores_and_evaluations_that_cannot_be_still_bring_a_move(score: int, bound: int) -> None:
    search = Search(1)
    board = fen.parse(KIWIPETE)
    for move in legal_moves(board):
        board.make(move)
        search.table.store(board.key, 0, score, score, 255, bound, False)
        board.unmake()
    reports: list[Report] = []
    result = search.think(board, Limits(depth=2), reports.append)
    assert result.move in legal_moves(board)
    assert all(report.pv[0] in legal_moves(board) for report in reports)


def test_the_forgeries_are_found_by_the_search() -> None:
    """Or the tests above would prove nothing."""
    search = Search(1)
    board = fen.parse(KIWIPETE)
    plain = search.think(board, Limits(depth=scaled(5, 3))).nodes
    search.new_game()
    for seed, entry in enumerate(search_fuzz.forged_entries(board, search_fuzz.Random(3))):
        search_fuzz.forge(search, search_fuzz.Random(seed), *entry)
        assert search.table.probe(entry[0]) != 0
    assert search.think(board, Limits(depth=scaled(5, 3))).nodes != plain


def test_what_is_wrong_is_found() -> None:
    board = fen.parse(KIWIPETE)
    move = legal_moves(board)[0]
    with pytest.raises(AssertionError, match="an illegal move"):
        search_fuzz.check_result(board, search_fuzz.Result(move, move, 1), [])
    with pytest.raises(AssertionError, match="1 moves for 2 searches"):
        search_fuzz.check_said(["bestmove e2e4"], [board, board])
    for line in ("bestmove e2e5", "bestmove (none)", "info depth 1 pv a2a3 a1a1", "hello"):
        with pytest.raises(AssertionError):
            search_fuzz.check_said([line] + ["bestmove a2a3"] * (not line.startswith("best")), [board])


def run_watched(thread: Any) -> None:
    with search_fuzz.watched():
        thread.start()
        thread.join()


def test_a_thread_that_fails_is_noticed() -> None:
    thread = search_fuzz.threading.Thread(target=lambda: 1 // 0)
    with pytest.raises(AssertionError, match="a thread has failed"):
        run_watched(thread)
