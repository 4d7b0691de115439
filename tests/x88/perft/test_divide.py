"""Perft in pieces, on several threads and with a table, gives the same counts in the same order, and can be
stopped at any time.
"""

import threading
from collections.abc import Callable
from itertools import product
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
FINISHED = ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "R3k3/8/4K3/8/8/8/8/8 b - - 0 1")
FEW = scaled(30_000, 3_000)
"""The most leaves of a position of the suites: each is counted several times."""


def expected(board: Board, depth: int) -> list[tuple[int, int]]:
    """The leaves below each move, counted in one piece."""
    counter = Counter(board)
    return [(move, counter.leaves_under([move], depth - 1)) for move in legal_moves(board)]


# Threads.


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize(("small", "large"), [(30, 500), (1, 10), (10**4, 10), (10**9, 10**9)])
def test_any_number_of_threads_gives_the_same_counts_in_the_same_order(
    small: int, large: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(divide, "SMALL", small)
    monkeypatch.setattr(divide, "LARGE", large)
    for text, playing in product((*STARTS[:4], *FINISHED), (False, True)):
        board = fen.parse(text)
        count = DividedPerft(board, 3, playing, threads)
        known = expected(board, 3)
        assert list(count.run()) == known, text
        count.stop()
        assert count.leaves == sum(leaves for _, leaves in known)
        assert count.share == pytest.approx(1 if known else 0)
        assert not count.is_stopped
        assert fen.write(board) == fen.write(fen.parse(text)), "the board stays as it was"


def test_the_threads_that_start_count_where_no_more_can(monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        *((lambda board, n=n: DividedPerft(board, n), f"{n} is not a depth") for n in (0, -1, DEEPEST + 1)),
        *(
            (lambda board, n=n: DividedPerft(board, 1, threads=n), f"{n} is not a number of threads")
            for n in (0, MOST_THREADS + 1)
        ),
        *((lambda _, n=n: PerftTable(n), f"{n} MB is not a table size") for n in (0, -1, MAX_MEGABYTES + 1)),
        *((lambda _, n=n: PerftTable(1).store(0, 1, n), f"{n} leaves are not") for n in (-1, 2**57, 2**99)),
    ],
)  # fmt: skip
def test_impossible_numbers_are_errors(call: Callable[[Board], object], reason: str) -> None:
    with pytest.raises(ValueError, match=rf"^{reason} from [01] to (\d+|2\^57 - 1)$"):
        call(fen.parse(fen.START))


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


def test_counts_in_the_table_are_not_counted_again() -> None:
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


def test_an_entry_without_leaves_differs_from_none_and_the_smallest_makes_room() -> None:
    table = PerftTable(1)
    assert table.probe(0, 2) == -1
    table.store(0, 2, 0)
    assert table.probe(0, 2) == 0
    for leaves in (0, 1, 2**57 - 1):
        table.store(2**64 - 1, DEEPEST, leaves)
    assert table.probe(2**64 - 1, DEEPEST) in (0, 1, 2**57 - 1)
    for low, leaves in enumerate([900, 7, 20, 8000]):
        table.store(low, 3, leaves)
    table.store(99, 3, 5)
    assert [table.probe(low, 3) for low in (0, 1, 2, 3, 99)] == [900, -1, 20, 8000, 5]


def damage(content: Any, how: str) -> None:
    """Fill a table with `random` words, or `flip` a bit of each entry, `swap` the data of neighbours, or make
    `half` of each entry another's, as two threads may leave it that write at once.
    """
    generator = Random(how)
    entries = [bytearray(content[at : at + 16]) for at in range(0, len(content), 16)]
    for number, entry in enumerate(entries):
        if how == "random":
            entry[:] = generator.randbytes(16)
        elif not any(entry):
            continue
        elif how == "flip":
            entry[generator.randrange(16)] ^= 1 << generator.randrange(8)
        else:
            other = entries[number ^ 1] if how == "swap" else generator.choice(entries)
            entry[8:] = other[8:]
    content[:] = b"".join(entries)


@pytest.mark.parametrize("how", ["random", "flip", "swap", "half"])
def test_a_damaged_table_changes_no_count(how: str) -> None:
    board = fen.parse(KIWIPETE)
    table = PerftTable(1)
    known = list(DividedPerft(board, DEPTH, table=table).run())
    assert known == expected(board, DEPTH)
    kept = bytes(table.content)
    damage(table.content, how)
    assert bytes(table.content) != kept
    assert list(DividedPerft(board, DEPTH, threads=2, table=table).run()) == known


def test_a_table_uses_no_more_of_its_memory_than_a_count_needs() -> None:
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


def test_a_table_larger_than_the_free_memory_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("x88.memory.free_memory", lambda: 100 << 20)
    with pytest.raises(MemoryError, match="no 101 MB of memory for the table: 100 MB are free"):
        PerftTable(101)


def test_a_count_too_large_for_an_entry_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(divide, "SMALL", 10**99)
    board = fen.parse(fen.START)
    most = 2**57 - 1
    table = PerftTable(1)

    def store(depth: int) -> None:
        for move in legal_moves(board):
            board.make(move)
            table.store(board.key, depth, most)
            board.unmake()

    store(5)
    moves = legal_moves(board)
    assert list(DividedPerft(board, 6, table=table).run()) == [(move, most) for move in moves]
    board.make(moves[0])
    store(2)
    counter = Counter(board, False, table)
    with pytest.raises(OverflowError, match=r"more than 2\^57 leaves"):
        counter.leaves_under([], 3)
    assert table.probe(board.key, 3) == -1
    board.unmake()
    before = threading.active_count()
    for threads in (1, 3):
        with pytest.raises(OverflowError):
            list(DividedPerft(board, 4, threads=threads, table=table).run())
    assert threading.active_count() == before


# Ends.


@pytest.mark.parametrize("table", [None, PerftTable(1)], ids=["counted", "with a table"])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("delay", [0, 0.3])
def test_another_thread_stops_a_count_of_years(delay: float, threads: int, table: PerftTable | None) -> None:
    before = threading.active_count()
    count = DividedPerft(fen.parse(fen.START), 14, threads=threads, table=table)
    timer = threading.Timer(delay, count.stop)
    timer.start()
    if not delay:
        timer.join()
    assert list(count.run()) == []
    timer.join()
    assert count.is_stopped
    assert count.share < 0.01
    assert bool(count.leaves) == bool(delay), "unfinished pieces count too"
    assert threading.active_count() == before


def test_a_stopped_count_leaves_only_right_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(divide, "SMALL", 10**9)  # so that it is stopped within a piece
    board, depth = fen.parse(fen.START), scaled(5, 3)
    known = expected(board, depth)
    for delay in (0.01, 0.02, 0.03):
        table = PerftTable(1)
        count = DividedPerft(board, depth, table=table)
        timer = threading.Timer(delay, count.stop)
        timer.start()
        list(count.run())
        timer.join()
        assert list(DividedPerft(board, depth, table=table).run()) == known


def test_the_caller_ends_the_count_by_an_exception_or_by_closing_the_iterator() -> None:
    before = threading.active_count()
    count = DividedPerft(fen.parse(fen.START), 14, threads=3)
    with pytest.raises(KeyError, match="enough"):
        list(count.run(lambda: {}["enough"]))
    assert threading.active_count() == before
    found = DividedPerft(fen.parse(KIWIPETE), DEPTH, threads=2).run()
    assert next(found) == expected(fen.parse(KIWIPETE), DEPTH)[0]
    found.close()
    assert threading.active_count() == before
