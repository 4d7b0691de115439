"""Hypothesis strategies of damaged input: FEN, moves, PGN, UCI lines and whole conversations.

`pytest --hypothesis-profile=long` runs the tests that use them on many more examples.
"""

import os

from hypothesis import settings
from hypothesis import strategies as st

from search.benchmark import POSITIONS
from tests.oracle import scaled

MOVES = ["e2e4", "e7e8q", "a1a1", "0000", "Nf3", "exd8=Q#", "O-O-O", "R1a3+", "e4", "Qh4xe1", "--", "N"]
GAMES = [
    '[White "A"]\n[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]\n\n1. e4 {a} e5 $1 (1... c5 2. Nf3) 2. Nf3 1/2-1/2\n',
    '[White "A"];x\n{y}\n[Round"1"]\n\n1. e4 {a} e5 $1 (1... c5 2. --) 2. Nf3 1/2-1/2\n',
    "1. e4 ± d5!!2.exd5 <x> Qxd5± (2...Nf6 3.d4→Nxd5) 3. Nc3 ½–½\n\n\ufeff1. ♘f3 Nf6 0000 1–0",
]
BRIEF = [
    *("depth 1", "depth 3", "nodes 1", "nodes 300", "movetime 1", "movetime 20", "wtime 50 btime 50"),
    *("wtime 30 winc 10 binc 10", "wtime -3 btime 0 movestogo 1", "mate 1 nodes 500", "binc 20"),
    *("depth x", "movetime", "depth -1", "nodes 18446744073709551615 movetime 5", "mate 999999 depth 2"),
    *("wtime 1000 btime -20 winc 10 binc 0 movestogo 40", "depth 5 searchmoves e2e4 a7a6 nodes 1000"),
]
"""Limits of searches that end by themselves."""

ENDLESS = [
    *("infinite", "ponder wtime 1000 btime 1000", "ponder", "", "infinite searchmoves e2e4 a7a6"),
    "infinite ponder mate 3 movetime 99999999999999999999",
]
OPTIONS = [
    *("Hash value 1", "hash value 3", "Clear Hash", "MultiPV value 1", "multipv  value 3", "MultiPV value 5"),
    *("UCI_ShowWDL value true", "UCI_ShowWDL value false", "Move Overhead value 5", "nodestime value 0"),
    *("nodestime value 100", "Ponder value true", "UCI_LimitStrength value true", "UCI_Elo value 900"),
    *("UCI_LimitStrength value false", "UCI_AnalyseMode value true", "UCI_AnalyseMode value false"),
    *("Threads value 1", "Threads value 2", "threads value 8"),
]
LINES = [
    *(f"setoption name {option}" for option in OPTIONS),
    *(f"position fen {text}" for text in POSITIONS),
    *("position startpos moves e2e4 e7e5", "debug on", "register later"),
]
"""Lines that start no search."""

WHOLE, DAMAGED = "@whole", "@damaged"
"""Stand for folders of tablebases, intact and damaged."""

TALKS = [
    "position startpos moves e2e4 e7e5\ngo depth 4\nisready\nstop\n",
    "go infinite searchmoves e2e4 a2a3\nsetoption name Threads value 2\nstop\ngo depth 3\n",
    "go ponder wtime 900 btime 900 winc 9 movestogo 2\nponderhit\ngo movetime 3\n",
    "setoption name MultiPV value 3\ngo nodes 2000\nisready\ngo mate 2\nposition startpos\n",
    "go infinite\nsetoption name Hash value 2\nsetoption name Threads value 8\nucinewgame\ngo depth 2\n",
    "setoption name nodestime value 9\ngo wtime 100 btime 100\ngo infinite\nposition startpos moves d2d4\n",
    "setoption name UCI_LimitStrength value true\ngo depth 5\nstop\nstop\ngo perft 2\nbench 1 2 1\nstop\n",
    "position fen 6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1\ngo mate 1\nd\nflip\ngo nodes 1\nquit\n",
    *(f"position fen {text}\ngo nodes 700\ngo infinite\nisready\n" for text in POSITIONS[::3]),
    *(
        f"setoption name SyzygyPath value {path}\nposition fen {text}\ngo depth 6\ngo infinite\n"
        f"setoption name {option}\nisready\nstop\ngo nodes 500\nsetoption name SyzygyPath value {other}\n"
        "go depth 3\n"
        for path, other, text, option in (
            (WHOLE, DAMAGED, "8/8/8/3k4/8/8/8/1KQ5 w - - 0 1 moves c1c2", "MultiPV value 3"),
            (WHOLE, "<empty>", "8/8/8/8/2k5/1p6/8/K2R4 w - - 90 80", "Threads value 8"),
            (DAMAGED, WHOLE, "8/8/8/8/k2p4/8/4P3/4K3 w - - 0 1 moves e2e4", "Hash value 2"),
            (DAMAGED, "nowhere", "8/8/8/3k4/8/8/1P6/1KBN4 w - - 3 9", "SyzygyProbeLimit value 3"),
            (f"{DAMAGED}{os.pathsep}{WHOLE}", WHOLE, "8/8/3n4/3k4/8/8/8/RK6 b - - 0 1", "Clear Hash"),
            (WHOLE, WHOLE, "8/P7/8/3k4/8/8/7p/1K6 b - - 0 1", "Syzygy50MoveRule value false"),
            (WHOLE, WHOLE, "8/8/8/3k4/3P4/3P4/8/1K6 b - - 0 1", "SyzygyProbeDepth value 4"),
        )
    ),
]


def damaged(texts: list[str]) -> st.SearchStrategy[str]:
    """Texts with pieces of themselves and of others cut out, doubled or swapped, or arbitrary text."""
    pieces = sorted(
        {part for text in texts for part in text.replace("/", " ").split()} | {" ", "/", "-", "\0"}
    )
    cut = st.tuples(st.sampled_from(texts), st.integers(0, 120), st.integers(0, 20), st.sampled_from(pieces))
    one = cut.map(lambda c: c[0][: c[1]] + c[3] + c[0][c[1] + c[2] :])
    two = st.tuples(one, one, st.integers(0, 80)).map(lambda t: t[0][: t[2]] + t[1][t[2] :])
    return st.one_of(
        one, two, st.lists(st.sampled_from(pieces), max_size=12).map(" ".join), st.text(max_size=90)
    )


def per_hundred(compiled: int, uncompiled: int) -> settings:
    """So many examples for each hundred of the profile."""
    return settings(max_examples=settings.default.max_examples * scaled(compiled, uncompiled) // 100)
