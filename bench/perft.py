"""Run a perft suite: check every count and measure the speed of the running build.

    python bench/perft.py                                  the suite next to this file
    python bench/perft.py standard.epd                     another one
    python bench/perft.py --summary --max-nodes 10000000   only sums, up to ten million leaves each
    python bench/perft.py SUITE.epd --chess960             with castling rights as in X-FEN
    python bench/perft.py --threads 2 --hash 256           on two threads, with a table of 256 MB

A suite holds one position per line: a FEN and its leaves at some depths, as in `FEN ;D1 20 ;D2 400`; a line
that begins with # is a comment. Each position is counted at the deepest of its depths within the limits, in
both ways of `moff perft`: the last ply counted, and every leaf played. --hash applies to the former only.
MOFF_PURE=1 runs the uncompiled source.

Results go to standard output, errors to standard error. The exit code is 0 if every count is right, 1 if one
is wrong, 2 after wrong usage or a damaged suite, 130 when interrupted.
"""

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import script  # first: it puts this checkout on the path

from moff.messages import counted, perft_speed
from x88 import build
from x88.notation import fen
from x88.perft.divide import DEEPEST, DividedPerft
from x88.perft.table import PerftTable

WAYS = {"last ply counted": False, "every leaf played": True}
"""Whether every leaf is played."""

MOST_NODES = 200_000_000 if build.compiled else 500_000
"""The default maximum leaves per position."""


@dataclass(frozen=True)
class Position:
    """A line of a suite: its number, the FEN, and the leaves by depth."""

    line: int
    fen: str
    leaves: dict[int, int]

    def deepest(self, depth: int, nodes: int) -> int:
        """The deepest listed depth within both limits, 0 if there is none."""
        return max((d for d, count in self.leaves.items() if d <= depth and count <= nodes), default=0)


def read_suite(path: Path, chess960: bool = False) -> list[Position]:
    """The positions of an EPD file; `chess960` reads them as X-FEN.

    Raises ValueError with its path, the damaged line and the reason.
    """
    positions = []
    for number, line in script.numbered_lines(path):
        text, *fields = line.split(";")
        try:
            board = fen.parse(text, chess960=chess960)
            positions.append(Position(number, fen.write(board), _leaves(fields)))
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
    if not positions:
        raise ValueError(f"{path} holds no position")
    return positions


def _leaves(fields: list[str]) -> dict[int, int]:
    """The leaves by depth of the fields `D1 20`, `D2 400`, ..."""
    leaves: dict[int, int] = {}
    for field in fields:
        words = field.split()
        if len(words) != 2 or words[0][:1] != "D" or not (words[0][1:] + words[1]).isdecimal():
            raise ValueError(f"{field.strip()!r} is not a depth and its leaves, as in D2 400")
        depth = int(words[0][1:])
        if depth < 1 or depth in leaves:
            raise ValueError(f"{field.strip()!r}: the depth is 0 or occurs twice")
        leaves[depth] = int(words[1])
    if not leaves:
        raise ValueError("no depth with its leaves follows the FEN, as in ;D2 400")
    return leaves


def _options() -> argparse.Namespace:
    parser = script.parser(__doc__)
    add = parser.add_argument
    number = script.positive
    suite = Path(__file__).with_suffix(".epd")
    add("suite", nargs="?", type=Path, default=suite, help="an EPD file (default: bench/perft.epd)")
    add("--chess960", action="store_true", help="K, Q, k and q mean the outermost rooks (X-FEN)")
    add("--depth", type=number, default=DEEPEST, metavar="N", help="at most (default: those of the suite)")
    text = "maximum leaves per position (default 200 million; uncompiled 500 thousand)"
    add("--max-nodes", type=number, default=MOST_NODES, metavar="N", help=text)
    add("--summary", action="store_true", help="only the sums, no line for each position")
    add("--threads", type=number, default=1, metavar="N", help="threads that count (default 1)")
    add("--hash", type=number, metavar="MB", help="a table of subtree counts (default: none)")
    return parser.parse_args()


@script.command
def main() -> int:
    """Count the suite in both ways, and print what was found; returns the exit code."""
    options = _options()
    table = PerftTable(options.hash) if options.hash else None
    found = [
        (one, one.deepest(options.depth, options.max_nodes))
        for one in read_suite(options.suite, options.chess960)
    ]
    chosen = [(position, depth) for position, depth in found if depth]
    if not chosen:
        raise ValueError("no position is left to count")
    if notice := build.notice():
        print(notice, file=sys.stderr)
    faults = []
    for way, playing in WAYS.items():
        nodes, seconds = 0, 0.0
        for position, depth in chosen:
            board = fen.parse(position.fen, chess960=True)
            started = time.perf_counter()
            division = DividedPerft(board, depth, playing, options.threads, None if playing else table)
            leaves = sum(under for _, under in division.run())
            spent = time.perf_counter() - started
            nodes, seconds = nodes + leaves, seconds + spent
            if leaves != position.leaves[depth]:
                place = f"line {position.line}, depth {depth}, {way}"
                faults.append(f"{place}: {leaves} leaves, not {position.leaves[depth]}")
            if not options.summary:
                print(f"depth {depth}: {perft_speed(leaves, spent)}, {position.fen}", flush=True)
        print(f"{way}, {counted(len(chosen), 'position')}: {perft_speed(nodes, seconds)}", flush=True)
    print("\n".join(faults) or "all counts are right")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
