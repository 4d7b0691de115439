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
    static_of,
    was_pv,
)
from tests.oracle import scaled
from x88 import memory

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

SOME: Entry = (1, 2, 3, 4, EXACT, False)


def read(data: int) -> Entry:
    return move_of(data), score_of(data), static_of(data), depth_of(data), bound_of(data), bool(was_pv(data))


@given(KEYS, KEYS, st.integers(0, 31), ENTRIES)
def test_only_its_own_key_finds_an_entry(key: int, other: int, bit: int, entry: Entry) -> None:
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
def test_a_second_result_replaces_the_first_unless_it_is_a_much_shallower_bound(
    second: Entry, kept: Entry
) -> None:
    table = TranspositionTable(1)
    table.store(5, 1, 10, 0, 12, LOWER, False)
    table.store(5, *second)
    assert read(table.probe(5)) == kept
    table.new_search()
    table.store(5, *second)
    assert depth_of(table.probe(5)) == second[3], "it replaces an older one in any case"


def test_a_full_cluster_gives_up_an_old_entry_then_the_shallowest() -> None:
    table = TranspositionTable(1)
    for key, depth in enumerate([7, 3, 9, 5]):
        table.store(key, 1, 0, 0, depth, EXACT, False)
    table.store(99, 1, 0, 0, 6, EXACT, False)
    assert [depth_of(table.probe(key)) for key in (0, 1, 2, 3, 99)] == [7, 0, 9, 5, 6]
    for _ in range(3):
        table.new_search()
    for key in (0, 2, 99):
        table.store(key, 1, 0, 0, 2, EXACT, False)
    table.store(77, 1, 0, 0, 1, EXACT, False)
    assert [depth_of(table.probe(key)) for key in (0, 2, 3, 77, 99)] == [2, 2, 0, 1, 2]


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


def test_a_full_table_returns_an_entry_unchanged_or_not_at_all() -> None:
    table = TranspositionTable(1)
    generator = random.Random(2)
    given = {}
    for _ in range(2000):
        # Sixteen clusters take them all.
        key = generator.randrange(16) << 50 | generator.getrandbits(50)
        move, depth = generator.getrandbits(16), generator.randint(0, 127)
        score, static = generator.randint(-MATE, MATE), generator.randint(-MATE, MATE)
        bound = generator.choice([UPPER, LOWER, EXACT])
        given[key] = (move, score, static, depth, bound, generator.random() < 0.5)
        table.store(key, *given[key])
        if generator.random() < 0.01:
            table.new_search()
    found = {key: read(data) for key in given if (data := table.probe(key))}
    assert len(found) == 16 * 4
    assert all(given[key] == entry for key, entry in found.items())


@pytest.mark.parametrize("megabytes", [0, -1, MAX_MEGABYTES + 1])
def test_an_impossible_size_leaves_the_table_as_it_is(megabytes: int) -> None:
    table = TranspositionTable(1)
    table.store(5, *SOME)
    with pytest.raises(ValueError, match=str(megabytes)):
        table.resize(megabytes)
    assert read(table.probe(5)) == SOME


def test_a_lack_of_memory_leaves_the_table_and_a_new_size_empties_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: object, **_options: object) -> None:
        raise OSError(12, "Cannot allocate memory")

    table = TranspositionTable(1)
    table.store(5, *SOME)
    for name, fault, megabytes, reason in (
        ("mmap.mmap", fail, 2, "2 MB"),
        ("x88.memory.free_memory", lambda: 100 << 20, 102, "no 102 MB .* for the table: 101 MB are free"),
        ("x88.memory.free_memory", lambda: 100 << 20, MAX_MEGABYTES, f"no {MAX_MEGABYTES} MB"),  # the largest
    ):
        with monkeypatch.context() as patch:
            patch.setattr(name, fault)
            with pytest.raises(MemoryError, match=reason):
                table.resize(megabytes)
        assert read(table.probe(5)) == SOME
    for megabytes in (3, 7):
        table.resize(megabytes)
        assert table.clusters * 64 == megabytes << 20
        assert table.probe(5) == 0


def test_a_table_needs_no_huge_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    class Memory(mmap.mmap):
        def madvise(self, *_arguments: int) -> None:
            raise OSError(22, "Invalid argument")

    monkeypatch.setattr("mmap.mmap", Memory)
    table = TranspositionTable(1)
    table.store(5, *SOME)
    assert read(table.probe(5)) == SOME


def test_a_table_may_take_the_place_of_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two at once need not fit."""
    table = TranspositionTable(60)
    monkeypatch.setattr("x88.memory.free_memory", lambda: 10 << 20)
    table.resize(70)
    assert table.clusters * 64 == 70 << 20
    with pytest.raises(MemoryError, match="no 81 MB"):
        table.resize(81)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
def test_the_free_memory_is_some_of_the_whole() -> None:
    text = Path("/proc/meminfo").read_text(encoding="ascii")
    total = int(re.search(r"MemTotal: +(\d+) kB", text)[1]) << 10
    assert 1 << 20 < memory.free_memory() <= total


@pytest.mark.parametrize(("depth", "kept"), [(-3, 0), (255, 255), (256, 255), (10_000, 255)])
def test_a_depth_beyond_its_bits_is_the_nearest_that_fits(depth: int, kept: int) -> None:
    table = TranspositionTable(1)
    table.store(5, 1, 2, 3, depth, UPPER, False)
    assert read(table.probe(5)) == (1, 2, 3, kept, UPPER, False)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_clear_empties_every_entry_with_any_number_of_threads(threads: int) -> None:
    table = TranspositionTable(4)
    keys = [cluster << 48 | low for cluster in range(1 << 16) for low in range(scaled(4, 1))]
    for key in keys:
        table.store(key, 1, 0, 0, 1, EXACT, False)
    table.new_search()
    table.clear(threads)
    assert table.age == 0
    assert not any(map(table.probe, keys))
