"""Searches whose transposition table holds random bytes, also under the keys of the positions searched."""

import functools
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.benchmark import POSITIONS
from search.limits import Limits
from search.line import Report, Result
from search.search import Search
from search.transposition import CLUSTER, EXACT, LOWER, UPPER, short_move
from tests.client import THREADS
from tests.oracle import scaled, watched
from tests.strategies import per_hundred
from x88.board import Board
from x88.movegen import legal_moves
from x88.notation import coordinate, fen

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"


FORGED = 400
"""The number of forged entries for positions near the root of a search."""


@functools.cache
def search_with(threads: int) -> Search:
    """A search whose table is filled with random bytes, of random age."""
    random = Random(threads)
    search = Search(1, threads=threads)
    clusters = search.table.clusters
    for entry in range(clusters * CLUSTER // 2):
        if entry % 1000 == 0:
            search.table.new_search()
        key = ((entry % clusters << 32) // clusters + 1) << 32 | random.getrandbits(32)
        forge(search, random, key, random.getrandbits(16))
    return search


@per_hundred(100, 20)
@given(st.integers(0, 2**62), st.sampled_from(THREADS))
def test_a_table_of_random_bytes_costs_neither_legality_nor_a_crash(seed: int, threads: int) -> None:
    random = Random(seed)
    search = search_with(threads)
    board = fen.parse(random.choice(POSITIONS))
    for _ in range(random.randrange(8)):
        if moves := legal_moves(board):
            board.make(random.choice(moves))
    entries = forged_entries(board, random)
    for entry in entries:
        forge(search, random, *entry)
    reports: list[Report] = []
    results: list[Result] = []
    with watched():
        search.start(board, random_limits(board, random), reports.append, results.append)
        # As other threads would: entries change during the search.
        while search.is_running() and seed % 2:
            forge(search, random, *random.choice(entries))
        search.wait()
    check_result(board, results[0], reports)


def forge(search: Search, random: Random, key: int, move: int) -> None:
    """Store random bytes, with this short move, as the entry of a key."""
    bits = random.getrandbits(43)
    score, static = (bits & 0xFFFF) - 32768, (bits >> 16 & 0xFFFF) - 32768
    search.table.store(key, move, score, static, bits >> 32 & 0xFF, bits >> 40 & 3, bits >> 42 == 1)


def forged_entries(board: Board, random: Random) -> list[tuple[int, int]]:
    """Keys of positions at and below the root, each with a short move: one of a position, or random bits."""
    moves = legal_moves(board)
    entries = [(board.key, random.getrandbits(16))]
    known = [short_move(move) for move in moves] or [0]
    while moves and len(entries) < FORGED:
        at = board.copy()
        for _ in range(random.randrange(1, 7)):
            if not moves:
                break
            at.make(random.choice(moves))
            moves = legal_moves(at)
            known += [short_move(move) for move in moves[:2]]
            entries.append(
                (at.key, random.choice(known) if random.random() < 0.5 else random.getrandbits(16))
            )
        moves = legal_moves(board)
    return entries


def random_limits(board: Board, random: Random) -> Limits:
    """Limits of a short search."""
    moves = legal_moves(board)
    return Limits(
        depth=random.choice((None, 1, 3, 6)),
        nodes=random.choice((1, 50, 1000, 3000)),
        mate=random.choice((None, None, 2)),
        lines=random.choice((1, 1, 3)),
        searchmoves=tuple(random.sample(moves, min(2, len(moves)))) if random.random() < 0.2 else (),
    )


def check_result(board: Board, result: Result, reports: list[Report]) -> None:
    """The move is legal, if there is any, and so are all variations."""
    moves = [result.move, result.reply] if result.reply else [result.move]
    if not legal_moves(board):
        moves = [] if result == Result(0, 0, 0) else moves
    for line in (moves, *(report.pv for report in reports)):
        at = board.copy()
        for move in line:
            assert move in legal_moves(at), (fen.write(board), [coordinate.write(step) for step in line])
            at.make(move)


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
    for seed, entry in enumerate(forged_entries(board, Random(3))):
        forge(search, Random(seed), *entry)
        assert search.table.probe(entry[0]) != 0
    assert search.think(board, Limits(depth=scaled(5, 3))).nodes != plain
