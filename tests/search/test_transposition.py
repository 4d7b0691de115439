"""The transposition table keeps what it is given, within its size, and never takes one position for
another.
"""

import mmap
import random
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search import transposition as module
from search.score import MATE, NO_SCORE
from search.transposition import (
    EXACT,
    LOWER,
    MAX_MEGABYTES,
    UPPER,
    TranspositionTable,
    bound_of,
    depth_of,
    move_of,
    score_of,
    short_move,
    static_of,
    was_pv,
)
from tests.oracle import only_c
from x88 import memory
from x88.movegen import legal_moves
from x88.notation import fen

pytestmark = pytest.mark.slow

KEYS = st.integers(0, 2**64 - 1)
SCORES = st.integers(-MATE, MATE) | st.sampled_from([-MATE, MATE])
ENTRIES = st.tuples(
    st.integers(0, 0xFFFF),
    SCORES,
    SCORES | st.just(NO_SCORE),
    st.integers(0, 127),
    st.sampled_from([UPPER, LOWER, EXACT]),
    st.booleans(),
)

Entry = tuple[int, int, int, int, int, bool]


def read(data: int) -> Entry:
    return move_of(data), score_of(data), static_of(data), depth_of(data), bound_of(data), bool(was_pv(data))


@given(KEYS, KEYS, st.integers(0, 31), ENTRIES)
def test_an_entry_comes_back_as_it_went_in_under_its_own_key_only(
    key: int, other: int, bit: int, entry: Entry
) -> None:
    """Keys that differ in their low bits share a cluster, where only the comparison tells them apart."""
    table = TranspositionTable(1)
    table.store(key, *entry)
    assert read(table.probe(key)) == entry
    assert table.probe(key ^ 1 << bit) == 0
    assert other == key or table.probe(other) == 0


@pytest.mark.parametrize(
    ("second", "kept"),
    [
        ((2, 20, 0, 5, EXACT, False), (2, 20, 0, 5, EXACT, False)),
        ((0, -10, 0, 9, UPPER, False), (1, -10, 0, 9, UPPER, False)),  # no move keeps the known one
        ((2, 20, 0, 4, EXACT, False), (2, 20, 0, 4, EXACT, False)),
        ((2, 20, 0, 4, LOWER, False), (1, 10, 0, 12, LOWER, False)),  # a much shallower bound is not stored
    ],
)
def test_what_a_second_result_of_a_position_replaces(second: Entry, kept: Entry) -> None:
    table = TranspositionTable(1)
    table.store(5, 1, 10, 0, 12, LOWER, False)
    table.store(5, *second)
    assert read(table.probe(5)) == kept
    table.new_search()
    table.store(5, *second)
    assert depth_of(table.probe(5)) == second[3], "an older one is"


def test_a_full_cluster_gives_up_its_least_entry() -> None:
    table = TranspositionTable(1)
    depths = [7, 3, 9, 5]
    for key, depth in enumerate(depths):
        table.store(key, 1, 0, 0, depth, EXACT, False)
    table.store(99, 1, 0, 0, 6, EXACT, False)
    assert table.probe(1) == 0
    assert [depth_of(table.probe(key)) for key in (0, 2, 3, 99)] == [7, 9, 5, 6]


def test_entries_of_old_searches_go_first() -> None:
    table = TranspositionTable(1)
    for key in range(4):
        table.store(key, 1, 0, 0, 6, EXACT, False)
    for _ in range(3):
        table.new_search()
    for key in range(3):
        table.store(key, 1, 0, 0, 2, EXACT, False)
    table.store(99, 1, 0, 0, 1, EXACT, False)
    assert table.probe(3) == 0
    assert all(table.probe(key) for key in (0, 1, 2, 99))


def test_after_32_searches_ages_come_round() -> None:
    table = TranspositionTable(1)
    table.store(5, 1, 0, 0, 6, EXACT, True)
    for search in range(1, 33):
        table.new_search()
        assert (table.age, table.hashfull()) == ((search, 0) if search < 32 else (0, 1))
    table.store(5, 2, 0, 0, 1, LOWER, True)
    assert depth_of(table.probe(5)) == 6, "a bound does not replace a much deeper result of the same age"


def test_many_positions_fill_the_table_and_a_clear_empties_it() -> None:
    table = TranspositionTable(1)
    generator = random.Random(1)
    keys = [generator.getrandbits(64) for _ in range(20_000)]
    assert table.hashfull() == 0
    for key in keys:
        table.store(key, 1, 0, 0, 1, EXACT, key % 2 == 1)
    assert 200 < table.hashfull() < 400
    assert sum(table.probe(key) != 0 for key in keys) > 19_000
    table.new_search()
    assert table.hashfull() == 0
    table.clear()
    assert not any(table.probe(key) for key in keys)
    assert table.hashfull() == 0


def test_a_full_table_gives_back_what_it_was_given_or_nothing() -> None:
    table = TranspositionTable(1)
    generator = random.Random(2)
    given = {}
    for _ in range(2000):
        # Sixteen clusters take them all.
        key = generator.randrange(16) << 50 | generator.getrandbits(50)
        given[key] = (
            generator.getrandbits(16),
            generator.randint(-MATE, MATE),
            generator.randint(-MATE, MATE),
            generator.randint(0, 127),
            generator.choice([UPPER, LOWER, EXACT]),
            generator.random() < 0.5,
        )
        table.store(key, *given[key])
        if generator.random() < 0.01:
            table.new_search()
    found = {key: read(data) for key in given if (data := table.probe(key))}
    assert len(found) == 16 * 4
    assert all(given[key] == entry for key, entry in found.items())


@pytest.mark.parametrize("megabytes", [0, -1, MAX_MEGABYTES + 1])
def test_an_impossible_size_is_refused_and_the_table_stays(megabytes: int) -> None:
    table = TranspositionTable(1)
    table.store(5, 1, 2, 3, 4, EXACT, False)
    with pytest.raises(ValueError, match=str(megabytes)):
        table.resize(megabytes)
    assert read(table.probe(5)) == (1, 2, 3, 4, EXACT, False)


@pytest.mark.parametrize(
    ("name", "fault", "megabytes", "reason"),
    [
        ("mmap.mmap", OSError(12, "Cannot allocate memory"), 2, "2 MB"),
        ("x88.memory.free_memory", 100 << 20, 102, "no 102 MB of memory for the table: 101 MB are free"),
    ],
)
def test_memory_that_cannot_be_had_is_reported_and_the_table_stays(
    name: str, fault: object, megabytes: int, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(*_arguments: object, **_options: object) -> object:
        if isinstance(fault, OSError):
            raise fault
        return fault

    table = TranspositionTable(1)
    table.store(5, 1, 2, 3, 4, EXACT, False)
    monkeypatch.setattr(name, faulty)
    with pytest.raises(MemoryError, match=reason):
        table.resize(megabytes)
    monkeypatch.undo()
    assert read(table.probe(5)) == (1, 2, 3, 4, EXACT, False)
    table.resize(2)


def test_a_system_without_huge_pages_gives_ordinary_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    class Memory(mmap.mmap):
        def madvise(self, *_arguments: int) -> None:
            raise OSError(22, "Invalid argument")

    monkeypatch.setattr("mmap.mmap", Memory)
    table = TranspositionTable(1)
    table.store(5, 1, 2, 3, 4, EXACT, False)
    assert read(table.probe(5)) == (1, 2, 3, 4, EXACT, False)


def test_a_table_may_take_the_place_of_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two at once need not fit."""
    table = TranspositionTable(60)
    monkeypatch.setattr("x88.memory.free_memory", lambda: 10 << 20)
    table.resize(70)
    assert table.clusters * 64 == 70 << 20
    with pytest.raises(MemoryError, match="no 81 MB"):
        table.resize(81)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
def test_the_free_memory_is_what_the_system_tells() -> None:
    text = Path("/proc/meminfo").read_text(encoding="ascii")
    total = int(re.search(r"MemTotal: +(\d+) kB", text)[1]) << 10
    assert 1 << 20 < memory.free_memory() <= total


def test_a_resized_table_is_empty_and_has_its_size() -> None:
    table = TranspositionTable(1)
    table.store(5, 1, 2, 3, 4, EXACT, False)
    for megabytes in (3, 7):
        table.resize(megabytes)
        assert table.clusters * 64 == megabytes << 20
        assert table.probe(5) == 0


def test_short_moves_tell_all_moves_of_a_position_apart() -> None:
    for text in (
        fen.START,
        "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
        "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1",
    ):
        moves = legal_moves(fen.parse(text))
        assert len({short_move(move) for move in moves}) == len(moves)
        assert all(0 < short_move(move) <= 0xFFFF for move in moves)


@pytest.mark.parametrize(("depth", "kept"), [(-3, 0), (255, 255), (256, 255), (10_000, 255)])
def test_a_depth_beyond_its_bits_is_the_nearest_that_fits(depth: int, kept: int) -> None:
    table = TranspositionTable(1)
    table.store(5, 1, 2, 3, depth, UPPER, False)
    assert read(table.probe(5)) == (1, 2, 3, kept, UPPER, False)


@only_c
def test_the_largest_table_is_allowed_and_a_larger_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_MEGABYTES", 2)
    assert TranspositionTable(2).clusters == 1 << 15
    with pytest.raises(ValueError, match="3 MB is not a table size from 1 to 2"):
        TranspositionTable(3)


@only_c
@pytest.mark.parametrize("threads", [1, 3])
def test_every_word_is_wiped_whatever_the_threads(threads: int) -> None:
    table = TranspositionTable(1)
    table.words[:] = memoryview(b"\xff" * table.words.nbytes).cast("Q")
    table.age = 9
    table._wipe(threads)
    assert bytes(table.words) == bytes(table.words.nbytes)
    assert table.age == 0
