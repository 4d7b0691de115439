"""The transposition table within the search: every size, a table that is full, entries that are wrong."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search.limits import Limits
from search.score import LONGEST_MATE, MATE, NO_SCORE
from search.search import Search
from search.transposition import EXACT, LOWER, UPPER, short_move
from tests import ROOT
from tests.client import Conversation
from tests.oracle import STARTS, scaled
from tests.searches import check_lines, think
from x88 import build
from x88.board import Board
from x88.movegen import legal_moves
from x88.notation import coordinate, fen

pytestmark = pytest.mark.slow

MATE_IN_TWO = "7k/8/5K2/8/8/8/8/Q7 w - - 0 1"

# One move each, by the suite "Win at Chess" the only good one.
TACTICS = [
    ("5rk1/1ppb3p/p1pb4/6q1/3P1p1r/2P1R2P/PP1BQ1P1/5RKN w - - 0 1", "e3g3"),
    ("rnbqkb1r/pppp1ppp/8/4P3/6n1/7P/PPPNPPP1/R1BQKBNR b KQkq - 0 1", "g4e3"),
    ("3r1r1k/1p4pp/p4p2/8/1PQR4/6Pq/P3PP2/2R3K1 b - - 0 1", "d8c8"),
]
IMPOSSIBLE = (-32768, 32767)
"""Scores that no search stores."""

Entry = tuple[int, int, int, int, int, bool]

SCORES = st.integers(-MATE, MATE) | st.sampled_from([-MATE, -LONGEST_MATE, 0, LONGEST_MATE, MATE])
ENTRIES = st.tuples(
    st.integers(0, 0xFFFF),
    SCORES,
    st.integers(-5000, 5000) | st.just(NO_SCORE),
    st.integers(0, 127),
    st.sampled_from([UPPER, LOWER, EXACT]),
    st.booleans(),
)


# Sizes.


def memory(moff: Conversation) -> int | None:
    """The megabytes that the process has for itself, where the system tells; reserved ones do not count."""
    try:
        text = Path(f"/proc/{moff.process.pid}/status").read_text(encoding="ascii")
    except OSError:
        return None
    return int(text.split("VmData:")[1].split()[0]) >> 10


def affordable(megabytes: int) -> int:
    """The size, halved until the machine can spare that much and half a gigabyte, as far as it tells."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
        free = int(text.split("MemAvailable:")[1].split()[0]) >> 10
    except (OSError, IndexError):
        free = 2048
    while megabytes > max(1, free - 512):
        megabytes //= 2
    return megabytes


def test_every_hash_size_from_1_mb_to_4_gb_gives_the_same_mate() -> None:
    with Conversation() as moff:
        moff.send("setoption name Hash value 1")
        moff.ready()
        least = memory(moff)
        # Back to little at the end: the larger table's memory is given back.
        for megabytes in (1, 16, affordable(1024), affordable(4096), 1):
            # A position ends what still runs; an option waits for that.
            moff.send(f"position fen {MATE_IN_TWO}", f"setoption name Hash value {megabytes}")
            assert moff.ready() == []
            if least is not None:
                # A thread's stack and heap may come on top.
                assert megabytes - 1 <= memory(moff) - least < megabytes + 200
            moff.send("go depth 5")
            *reports, best = moff.until("bestmove")
            line = reports[-1].split(" pv ")[1].split()
            assert "score mate 2 " in reports[-1]
            assert len(line) == 3
            assert best.split()[1] == line[0]


@pytest.mark.parametrize("megabytes", [1, 2, 16, 100])
def test_a_search_s_table_has_the_size_asked_for(megabytes: int) -> None:
    for search in (Search(megabytes), Search(1)):
        search.resize_table(megabytes)
        assert search.table.clusters * 64 == megabytes << 20


# A full table.


def fill(search: Search) -> None:
    """Fill a table of 1 MB with deep results of other positions."""
    assert search.table.clusters == 1 << 14
    for cluster in range(1 << 14):
        for low in range(4):
            search.table.store(cluster << 50 | low, 0, 0, 0, 127, EXACT, False)


@pytest.mark.skipif(not build.compiled, reason="uncompiled, so many nodes take too long")
@pytest.mark.parametrize(("text", "move"), TACTICS)
def test_a_table_that_the_search_has_filled_keeps_the_right_move(text: str, move: str) -> None:
    search = Search(1)
    result, reports = think(text, Limits(nodes=300_000), search)
    assert search.table.hashfull() > 900
    assert coordinate.write(result.move) == move
    check_lines(text, reports)


def test_a_table_full_of_deep_results_does_not_hide_a_mate() -> None:
    search = Search(1)
    fill(search)
    assert search.table.hashfull() == 1000
    lines = (ROOT / "tests" / "mates.epd").read_text(encoding="utf-8").splitlines()
    for line in lines:
        text, moves = line.split(" ; dm ")
        if int(moves) > 2:
            continue
        _, reports = think(text, Limits(depth=2 * int(moves) + scaled(6, 3)), search)
        assert reports[-1].mate == int(moves), text
        check_lines(text, reports)


# Entries that are another position's, or nobody's.


def keys(board: Board, plies: int) -> Iterator[int]:
    """The keys of a position and of all that follow within some plies."""
    yield board.key
    if plies:
        for move in legal_moves(board):
            board.make(move)
            yield from keys(board, plies - 1)
            board.unmake()


def think_with(text: str, entries: Iterator[Entry], depth: int, current: bool = False) -> None:
    """Search with an entry forged for the position, its children and its grandchildren, and check all that
    comes out. `current`: the entries are of the search's own age, and it may not overwrite the deep ones.
    """
    search = Search(1)
    board = fen.parse(text)
    if current:
        search.table.new_search()
    for key in keys(board, 2):
        search.table.store(key, *next(entries))
    if current:
        for _ in range(31):  # and once more by the search: the ages have come round
            search.table.new_search()
    result, reports = think(board, Limits(depth=depth, nodes=scaled(20_000, 300)), search)
    assert result.move in legal_moves(board)
    assert result.nodes > 0
    if result.reply:
        board.make(result.move)
        assert result.reply in legal_moves(board)
    check_lines(text, reports)


def forged(seed: int) -> Iterator[Entry]:
    """Entries of all kinds: their moves are nonsense, no move, or other positions' moves."""
    generator = random.Random(seed)
    moves = [short_move(move) for text in STARTS for move in legal_moves(fen.parse(text))]
    while True:
        yield (
            generator.choice([generator.getrandbits(16), 0, 0xFFFF, generator.choice(moves)]),
            generator.choice([generator.randint(-MATE, MATE), generator.randint(-300, 300), *IMPOSSIBLE]),
            generator.choice([generator.randint(-5000, 5000), NO_SCORE, *IMPOSSIBLE]),
            generator.choice([generator.randint(0, 255), generator.randint(0, 6)]),
            generator.choice([0, UPPER, LOWER, EXACT]),
            generator.random() < 0.5,
        )


PLAYED = [text for text in STARTS if legal_moves(fen.parse(text))][:: scaled(1, 5)]


@pytest.mark.parametrize("text", PLAYED)
@pytest.mark.parametrize("current", [False, True], ids=["old", "current"])
def test_a_forged_entry_never_makes_an_illegal_move(text: str, current: bool) -> None:
    for seed in range(scaled(2, 1)):
        think_with(text, forged(seed), scaled(6, 3), current)


@pytest.mark.parametrize("bound", [UPPER, LOWER, EXACT])
@pytest.mark.parametrize("score", [*IMPOSSIBLE, -MATE, -LONGEST_MATE, -900, 0, 900, LONGEST_MATE, MATE])
def test_where_every_position_is_decided_by_a_forged_entry_the_root_has_a_move(
    bound: int, score: int
) -> None:
    for text in PLAYED[:: scaled(6, 3)]:
        for move in (0, 0xFFFF):
            entries = iter(lambda: (move, score, NO_SCORE, 127, bound, True), None)  # noqa: B023
            think_with(text, entries, scaled(8, 3), True)


@settings(max_examples=scaled(50, 5))
@given(st.sampled_from(PLAYED), st.lists(ENTRIES, min_size=1, max_size=20), st.booleans())
def test_forged_entries_of_any_kind_make_no_illegal_move(
    text: str, entries: list[Entry], current: bool
) -> None:
    generator = random.Random(len(entries))
    think_with(text, iter(lambda: generator.choice(entries), None), scaled(5, 2), current)
