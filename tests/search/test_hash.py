"""The transposition table within the search: every size, and full of other results."""

from pathlib import Path

import pytest

from search.limits import Limits
from search.search import Search
from search.transposition import EXACT
from tests.client import Conversation
from tests.oracle import scaled
from tests.searches import check_lines, own_mates, think
from x88 import build
from x88.memory import free_memory
from x88.notation import coordinate

pytestmark = pytest.mark.slow

MATE_IN_TWO = "7k/8/5K2/8/8/8/8/Q7 w - - 0 1"

# One move each, by the suite "Win at Chess" the only good one.
TACTICS = [
    ("5rk1/1ppb3p/p1pb4/6q1/3P1p1r/2P1R2P/PP1BQ1P1/5RKN w - - 0 1", "e3g3"),
    ("rnbqkb1r/pppp1ppp/8/4P3/6n1/7P/PPPNPPP1/R1BQKBNR b KQkq - 0 1", "g4e3"),
    ("3r1r1k/1p4pp/p4p2/8/1PQR4/6Pq/P3PP2/2R3K1 b - - 0 1", "d8c8"),
]
# Sizes.


def memory(moff: Conversation) -> int | None:
    """The megabytes that the process has for itself, where the system tells; reserved ones do not count."""
    try:
        text = Path(f"/proc/{moff.process.pid}/status").read_text(encoding="ascii")
    except OSError:
        return None
    return int(text.split("VmData:")[1].split()[0]) >> 10


def test_every_hash_size_from_1_mb_to_5_gb_gives_the_same_mate() -> None:
    most = int(min(5000, free_memory() // 2**20 - 512))
    with Conversation() as moff:
        moff.send("setoption name Hash value 1")
        moff.ready()
        least = memory(moff)
        # The engine zeroes a table of up to 4 GB at once, which takes seconds. The last size frees memory.
        for megabytes in (1, 16, 256, most, 1):
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


@pytest.mark.parametrize("megabytes", [1, 2, 100])
def test_a_search_has_a_table_of_the_given_size(megabytes: int) -> None:
    for search in (Search(megabytes), Search(1)):
        search.resize_table(megabytes)
        assert search.table.clusters * 64 == megabytes << 20


# A full table.


@pytest.mark.skipif(not build.compiled, reason="uncompiled, so many nodes take too long")
@pytest.mark.parametrize(("text", "move"), TACTICS)
def test_a_search_that_fills_its_table_keeps_the_right_move(text: str, move: str) -> None:
    search = Search(1)
    result, reports = think(text, Limits(nodes=300_000), search)
    assert search.table.hashfull() > 900
    assert coordinate.write(result.move) == move
    check_lines(text, reports)


def test_a_table_full_of_deep_results_of_other_positions_does_not_hide_a_mate() -> None:
    search = Search(1)
    for cluster in range(search.table.clusters):
        for low in range(4):
            search.table.store(cluster << 50 | low, 0, 0, 0, 127, EXACT, False)
    assert search.table.hashfull() == 1000
    for text, moves in own_mates():
        if moves <= 2:
            _, reports = think(text, Limits(depth=2 * moves + scaled(6, 3)), search)
            assert reports[-1].mate == moves, text
            check_lines(text, reports)
