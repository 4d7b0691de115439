"""After ucinewgame the same position and node limit give the same moves, lines and counts."""

import re

import pytest

from tests.client import Conversation
from tests.oracle import scaled

pytestmark = pytest.mark.slow

NODES = scaled(20_000, 200)
PLIES = scaled(8, 3)
CLOCKED = re.compile(r"nps \d+ |time \d+")

# A middlegame, the same one two plies on (the keys of one game are in the table of the other), an endgame.
GAMES = [
    "r2q1rk1/2pbbppp/p1np1n2/1p2p3/P3P3/1BPP1N2/1P1N1PPP/R1BQ1RK1 b - - 2 10",
    "r2q1rk1/3bbppp/p1np1n2/1pp1p3/P3P3/1BPP1N2/1P1N1PPP/R1BQR1K1 b - - 1 11",
    "3r4/4bp1k/1p2p2p/4P1p1/2p1N3/P1B2N2/1P2KPP1/8 b - - 3 33",
]


def start() -> Conversation:
    """An engine with a table so small that results are replaced in it."""
    moff = Conversation()
    moff.send("setoption name Hash value 1")
    moff.ready()
    return moff


def play(moff: Conversation, text: str) -> list[str]:
    """All lines of a new game of the engine against itself, without times."""
    moff.send("ucinewgame")
    moves: list[str] = []
    printed: list[str] = []
    while len(moves) < PLIES:
        moff.send(f"position fen {text} moves {' '.join(moves)}", f"go nodes {NODES}")
        lines = moff.until("bestmove")
        moves.append(lines[-1].split()[1])
        printed += [CLOCKED.sub("", line) for line in lines]
    assert sum(" pv " in line for line in printed) > PLIES
    return printed


def test_a_new_game_repeats_a_game_in_this_process_and_another() -> None:
    with start() as moff:
        first = [play(moff, text) for text in GAMES]
        # Each now follows another game than it did.
        assert [play(moff, text) for text in reversed(GAMES)] == first[::-1]
    with start() as moff:
        assert play(moff, GAMES[-1]) == first[-1]
        assert play(moff, GAMES[0]) == first[0]


def test_without_ucinewgame_a_search_shows_what_the_last_has_learnt() -> None:
    """So that the test above would see what a new game fails to forget."""
    with start() as moff:
        moff.send(f"position fen {GAMES[0]}")
        printed = []
        for _ in range(2):
            moff.send(f"go nodes {NODES}")
            printed.append([CLOCKED.sub("", line) for line in moff.until("bestmove")])
        assert printed[0] != printed[1]
