"""Perft in pieces on several threads, and with a table: the same counts in the same order, however it is cut,
whatever the table holds, and an end at any time.
"""

import threading
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.oracle import STARTS, scaled, shared_files
from tests.x88.perft.test_perft import OWN, read
from x88.board import Board
from x88.movegen import legal_moves
from x88.notation import fen
from x88.perft import divide
from x88.perft.divide import DEEPEST, MOST_THREADS, DividedPerft
from x88.perft.perft import Counter
from x88.perft.table import MAX_MEGABYTES, PerftTable

pytestmark = pytest.mark.slow

DEPTH = scaled(4, 3)
KIWIPETE = STARTS[1]
LEAVES = {3: 97862, 4: 4085603}
FEW = scaled(100_000, 3_000)
"""Leaves of a position of the suites at most: each is counted several times."""


def expected(board: Board, depth: int) -> list[tuple[int, int]]:
    """The leaves below each move, counted in one piece."""
    counter = Counter(board)
    return [(move, counter.leaves_under([move], depth - 1)) for move in legal_moves(board)]


@pytest.fixture
def finely_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have trees cut to where pieces of a few leaves are left."""
    monkeypatch.setattr(divide, "SMALL", 30)
    monkeypatch.setattr(divide, "LARGE", 500)


# Threads.


@pytest.mark.usefixtures("finely_cut")
@pytest.mark.parametrize("playing", [False, True])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_number_of_threads_gives_the_same_counts_in_the_same_order(threads: int, playing: bool) -> None:
    for text in STARTS:
        board = fen.parse(text)
        count = DividedPerft(board, 3, playing, threads)
        known = expected(board, 3)
        assert list(count.run()) == known, text
        count.stop()
        assert count.leaves == sum(leaves for _, leaves in known)
        assert count.share == pytest.approx(1 if known else 0)
        assert not count.is_stopped
        assert fen.write(board) == fen.write(fen.parse(text)), "the board stays as it was"


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_tree_is_counted_once_however_it_is_cut(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    board = fen.parse(KIWIPETE)
    known = expected(board, DEPTH)
    assert sum(leaves for _, leaves in known) == LEAVES[DEPTH]
    for small in (1, 100, 10**4, 10**9):
        monkeypatch.setattr(divide, "SMALL", small)
        for large in (10, 10**9):
            monkeypatch.setattr(divide, "LARGE", large)
            assert list(DividedPerft(board, DEPTH, threads=threads).run()) == known


def test_where_no_more_threads_can_be_had_those_that_run_count(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    starts = [refuse, threading.Thread.start, threading.Thread.start]
    board = fen.parse(KIWIPETE)
    monkeypatch.setattr(divide, "SMALL", 30)
    monkeypatch.setattr(threading.Thread, "start", lambda thread: starts.pop()(thread))
    assert list(DividedPerft(board, 3, threads=9).run()) == expected(board, 3)
    assert starts == []


def test_a_long_game_before_the_count_leaves_room_for_it() -> None:
    board = fen.parse("7k/8/8/8/8/8/8/K7 w - - 0 1")
    for _ in range(4090):
        board.make(legal_moves(board)[0])
    assert list(DividedPerft(board, 3, threads=2).run()) == expected(fen.parse(fen.write(board)), 3)


@pytest.mark.parametrize("text", ["7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "R3k3/8/4K3/8/8/8/8/8 b - - 0 1"])
def test_a_finished_game_has_nothing_to_divide(text: str) -> None:
    count = DividedPerft(fen.parse(text), 5, threads=3)
    assert list(count.run()) == []
    assert count.leaves == 0


def test_impossible_numbers_are_refused() -> None:
    board = fen.parse(fen.START)
    for depth in (0, -1, DEEPEST + 1):
        with pytest.raises(ValueError, match=f"{depth} is not a depth from 1 to {DEEPEST}"):
            DividedPerft(board, depth)
    for threads in (0, MOST_THREADS + 1):
        with pytest.raises(
            ValueError, match=f"{threads} is not a number of threads from 1 to {MOST_THREADS}"
        ):
            DividedPerft(board, 1, threads=threads)
    for megabytes in (0, -1, MAX_MEGABYTES + 1):
        with pytest.raises(ValueError, match=f"{megabytes} MB is not a table size from 1 to {MAX_MEGABYTES}"):
            PerftTable(megabytes)


# The table.


@pytest.mark.parametrize("rows", [OWN, *shared_files("perft/standard.epd")])
def test_the_counts_of_a_suite_are_right_with_and_without_a_table(rows: Any) -> None:
    table = PerftTable(1)
    rows = read(rows) if isinstance(rows, Path) else rows
    known = [(text, counts) for text, counts in rows if min(counts.values()) <= FEW]
    assert len(known) > len(rows) // 2
    for text, counts in known:
        depth = max(depth for depth, leaves in counts.items() if leaves <= FEW)
        for playing, shared in ((False, None), (True, None), (False, table), (True, table)):
            count = DividedPerft(fen.parse(text), depth, playing, 2, shared)
            assert sum(leaves for _, leaves in count.run()) == counts[depth], (text, playing, shared)


def test_what_a_table_knows_is_not_counted_again() -> None:
    """An entry that is wrong on purpose shows where it is used, and where not."""
    board = fen.parse(fen.START)
    first, second = legal_moves(board)[:2]
    table = PerftTable(1)
    board.make(first)
    table.store(board.key, 2, 12345)
    board.unmake()
    board.make(second)
    table.store(board.key, 3, 54321)
    board.unmake()
    found = dict(DividedPerft(board, 3, table=table).run())
    assert found == {**dict(expected(board, 3)), first: 12345}
    found = dict(DividedPerft(board, 4, table=table).run())
    assert found[second] == 54321


def test_an_entry_without_leaves_is_told_from_none() -> None:
    table = PerftTable(1)
    assert table.probe(0, 2) == -1
    table.store(0, 2, 0)
    assert table.probe(0, 2) == 0
    for key in (0, 5 << 50, 2**64 - 1):
        for leaves in (0, 1, 2**57 - 1):
            table.store(key, DEEPEST, leaves)
    assert table.probe(2**64 - 1, DEEPEST) in (0, 1, 2**57 - 1)


def test_the_entry_with_the_fewest_leaves_makes_room() -> None:
    table = PerftTable(1)
    counts = [900, 7, 20, 8000]
    for low, leaves in enumerate(counts):
        table.store(low, 3, leaves)
    table.store(99, 3, 5)
    assert [table.probe(low, 3) for low in range(4)] == [900, -1, 20, 8000]
    assert table.probe(99, 3) == 5


@pytest.mark.parametrize("seed", range(3))
def test_random_words_are_never_taken_for_counts(seed: int) -> None:
    generator = Random(seed)
    table = PerftTable(1)
    table.content[:] = generator.randbytes(1 << 20)
    board = fen.parse(KIWIPETE)
    for depth in (2, 3):
        assert list(DividedPerft(board, depth, threads=2, table=table).run()) == expected(board, depth)


def damage(memory: Any, generator: Random, how: str) -> None:
    """Change the words of a table: `flip` a bit of each entry, `swap` the data of neighbours, `half` of each
    entry another's, as two threads may leave it that write at once.
    """
    entries = [bytearray(memory[at : at + 16]) for at in range(0, len(memory), 16)]
    for number, entry in enumerate(entries):
        if not any(entry):
            continue
        if how == "flip":
            entry[generator.randrange(16)] ^= 1 << generator.randrange(8)
        else:
            other = entries[number ^ 1] if how == "swap" else generator.choice(entries)
            entry[8:] = other[8:]
    memory[:] = b"".join(entries)


@pytest.mark.parametrize("how", ["flip", "swap", "half"])
def test_damaged_entries_are_never_taken_for_counts(how: str) -> None:
    board = fen.parse(KIWIPETE)
    table = PerftTable(1)
    known = list(DividedPerft(board, DEPTH, table=table).run())
    assert known == expected(board, DEPTH)
    with table.content as content:
        kept = bytes(content)
    damage(table.content, Random(how), how)
    assert bytes(table.content) != kept
    assert list(DividedPerft(board, DEPTH, threads=2, table=table).run()) == known


def test_a_table_takes_no_more_of_its_memory_than_a_count_needs() -> None:
    table = PerftTable(64)
    assert (table.clusters, table.most) == (1 << 14, 1 << 20)
    board = fen.parse(fen.START)
    for depth, clusters in ((4, 1 << 14), (6, 20**4), (5, 20**4), (8, 1 << 20), (DEEPEST, 1 << 20)):
        DividedPerft(board, depth, table=table)
        assert table.clusters == clusters
    table.store(2**64 - 1, 7, 99)
    assert table.probe(2**64 - 1, 7) == 99
    table.widen(0)
    assert table.probe(2**64 - 1, 7) == 99


def test_memory_that_is_not_there_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("x88.memory.free_memory", lambda: 100 << 20)
    with pytest.raises(MemoryError, match="no 101 MB of memory for the table: 100 MB are free"):
        PerftTable(101)


def test_counts_beyond_a_word_are_summed_and_those_beyond_an_entry_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(divide, "SMALL", 10**99)
    board = fen.parse(fen.START)
    most = 2**57 - 1
    table = PerftTable(1)
    moves = legal_moves(board)
    for move in moves:
        board.make(move)
        table.store(board.key, 5, most)
        board.unmake()
    assert list(DividedPerft(board, 6, table=table).run()) == [(move, most) for move in moves]
    board.make(moves[0])
    for reply in legal_moves(board):
        board.make(reply)
        table.store(board.key, 2, most)
        board.unmake()
    counter = Counter(board, False, table)
    with pytest.raises(OverflowError, match=r"more than 2\^57 leaves"):
        counter.leaves_under([], 3)
    assert table.probe(board.key, 3) == -1
    board.unmake()
    with pytest.raises(OverflowError):
        list(DividedPerft(board, 4, table=table).run())


# Ends.


@pytest.mark.parametrize("table", [None, PerftTable(1)], ids=["counted", "with a table"])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_count_of_years_is_stopped_by_another_thread(threads: int, table: PerftTable | None) -> None:
    before = threading.active_count()
    count = DividedPerft(fen.parse(fen.START), 14, threads=threads, table=table)
    timer = threading.Timer(0.3, count.stop)
    timer.start()
    found = list(count.run())
    timer.join()
    assert count.is_stopped
    assert found == []
    assert count.share < 0.01
    assert count.leaves > 0, "the pieces that were not done count too"
    assert threading.active_count() == before


def test_what_a_stopped_count_left_in_the_table_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(divide, "SMALL", 10**9)  # so that it is stopped within a piece
    board, depth = fen.parse(fen.START), scaled(5, 4)
    known = expected(board, depth)
    for delay in (0.01, 0.02, 0.03):
        table = PerftTable(1)
        count = DividedPerft(board, depth, table=table)
        timer = threading.Timer(delay, count.stop)
        timer.start()
        list(count.run())
        timer.join()
        assert list(DividedPerft(board, depth, table=table).run()) == known


def test_a_count_that_is_stopped_before_it_begins_ends_at_once() -> None:
    count = DividedPerft(fen.parse(fen.START), 14, threads=2)
    count.stop()
    assert list(count.run()) == []
    assert count.is_stopped


def test_what_is_raised_meanwhile_ends_the_count() -> None:
    before = threading.active_count()
    count = DividedPerft(fen.parse(fen.START), 14, threads=3)
    with pytest.raises(KeyError, match="enough"):
        list(count.run(lambda: {}["enough"]))
    assert threading.active_count() == before


def test_a_count_that_nobody_reads_on_ends() -> None:
    before = threading.active_count()
    count = DividedPerft(fen.parse(KIWIPETE), DEPTH, threads=2)
    found = count.run()
    assert next(found) == expected(fen.parse(KIWIPETE), DEPTH)[0]
    found.close()
    assert threading.active_count() == before


def test_an_error_in_a_thread_is_the_caller_s(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def __init__(self, *_arguments: object) -> None:
            pass

        def halt(self) -> None:
            pass

        def leaves_under(self, moves: object, depth: int) -> int:
            raise ZeroDivisionError("broken")

    monkeypatch.setattr(divide, "Counter", Broken)
    before = threading.active_count()
    with pytest.raises(ZeroDivisionError, match="broken"):
        list(DividedPerft(fen.parse(fen.START), 8, threads=3).run())
    assert threading.active_count() == before
