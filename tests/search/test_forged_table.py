"""Searches with random bytes in the transposition table, also under the keys of the positions searched."""

import functools
import itertools
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.benchmark import POSITIONS
from search.limits import Limits
from search.line import Report, Result
from search.score import LONGEST_MATE, MATE
from search.search import Search
from search.transposition import CLUSTER, EXACT, LOWER, UPPER, short_move
from tests.client import THREADS
from tests.oracle import STARTS, scaled, watched
from tests.searches import KIWIPETE, think
from tests.strategies import per_hundred
from x88.board import Board
from x88.movegen import legal_moves
from x88.notation import coordinate, fen

pytestmark = pytest.mark.slow

FORGED = 400
"""The number of forged entries for positions near the root of a search."""

IMPOSSIBLE = (-32768, 32767)
"""Scores that no search stores."""


@functools.cache
def search_with(threads: int) -> Search:
    """A search with random bytes of random age in its table."""
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
def test_a_table_of_random_bytes_leads_to_no_illegal_move_and_no_crash(seed: int, threads: int) -> None:
    random = Random(seed)
    search = search_with(threads)
    board = fen.parse(random.choice((*POSITIONS, *STARTS)))
    for _ in range(random.randrange(8)):
        if moves := legal_moves(board):
            board.make(random.choice(moves))
    entries = forged_entries(board, random)
    for entry in entries:
        forge(search, random, *entry)
    if random.random() < 0.3:
        # The ages come round with the next search, which may then not overwrite the deep entries.
        for _ in range(31):
            search.table.new_search()
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


def keys(board: Board, plies: int) -> Iterator[int]:
    """The keys of a position and of all that follow within some plies."""
    yield board.key
    for move in legal_moves(board) if plies else []:
        board.make(move)
        yield from keys(board, plies - 1)
        board.unmake()


@pytest.mark.parametrize("bound", [UPPER, LOWER, EXACT])
@pytest.mark.parametrize("score", [*IMPOSSIBLE, -MATE, -LONGEST_MATE, -900, 0, 900, LONGEST_MATE, MATE])
def test_the_search_plays_a_move_where_forged_entries_decide_all_positions(bound: int, score: int) -> None:
    for text in STARTS[:: scaled(6, 11)]:
        board = fen.parse(text)
        for plies, move in itertools.product((1, 2)[: scaled(2, 1)], (0, 0xFFFF)):
            search = Search(1)
            for key in keys(board, plies):
                search.table.store(key, move, score, score, 255, bound, True)
            for _ in range(31):
                search.table.new_search()
            result, reports = think(board, Limits(depth=scaled(8, 3), nodes=scaled(20_000, 300)), search)
            assert result.nodes > 0
            check_result(board, result, reports)


def test_the_search_finds_the_forged_entries() -> None:
    """Or the tests above would prove nothing."""
    search, limits = Search(1), Limits(depth=scaled(5, 3))
    board = fen.parse(KIWIPETE)
    plain = search.think(board, limits).nodes
    search.new_game()
    for seed, entry in enumerate(forged_entries(board, Random(3))):
        forge(search, Random(seed), *entry)
        assert search.table.probe(entry[0]) != 0
    assert search.think(board, limits).nodes != plain
