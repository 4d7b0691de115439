"""Probes per second of endgame tablebases, with Moff's reader and with python-chess's.

    python bench/tablebases.py FOLDER
    MOFF_PURE=1 python bench/tablebases.py FOLDER         the uncompiled source

probes random positions of every table in the folder: the result (WDL), and the distance (DTZ). Both readers
probe the same positions, in turn, after a first pass that maps every file; the best of three rounds counts.
Use an idle machine.

The exit code is 0 if both agree, 1 if they do not, 2 after wrong usage, 130 when interrupted. python-chess is
left out if it is not installed.
"""

import argparse
import importlib.util
import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from random import Random

import script  # first: it puts this checkout on the path

from search.tablebase import Tablebase, parse_name
from x88 import fen
from x88.board import Board

ROUNDS = 3
Answers = list[int | None]


def random_positions(folder: str, count: int, chance: Random) -> list[str]:
    """`count` positions from a folder's tables in turn, as FEN, with either side as White."""
    found: list[str] = []
    names = [parts for name in sorted(os.listdir(folder)) if (parts := parse_name(name))]
    while len(found) < count:
        white, black, _ = names[len(found) % len(names)]
        letters = white + black.lower() if chance.random() < 0.5 else black + white.lower()
        cells = dict(zip(chance.sample(range(64), len(letters)), letters, strict=True))
        rows = ("".join(cells.get(8 * rank + file, "1") for file in range(8)) for rank in range(8))
        placement = re.sub("1+", lambda ones: str(len(ones[0])), "/".join(rows))
        text = f"{placement} {chance.choice('wb')} - - 0 1"
        try:
            found.append(fen.write(fen.parse(text)))
        except ValueError:
            continue
    return found


def rate(ask: Callable[[], Answers]) -> tuple[float, Answers]:
    """Answers per second, and the answers."""
    answers = ask()
    best = 0.0
    for _ in range(ROUNDS):
        started = time.perf_counter()
        ask()
        best = max(best, len(answers) / (time.perf_counter() - started))
    return best, answers


def moff(tables: Tablebase, boards: Sequence[Board]) -> list[Callable[[], Answers]]:
    """Moff's reader: what to measure."""
    return [lambda: [tables.wdl(board) for board in boards], lambda: [tables.dtz(board) for board in boards]]


def python_chess(folder: str, texts: Sequence[str]) -> list[Callable[[], Answers]]:
    """The same with python-chess's."""
    import chess
    import chess.syzygy

    theirs = chess.syzygy.open_tablebase(folder)
    boards = [chess.Board(text) for text in texts]
    return [
        lambda: [theirs.get_wdl(board) for board in boards],
        lambda: [theirs.get_dtz(board) for board in boards],
    ]


def _options() -> argparse.Namespace:
    parser = script.parser(__doc__)
    parser.add_argument("folder", metavar="FOLDER", help="of the tables")
    parser.add_argument("--positions", type=script.positive, default=3500, help="default 3500")
    parser.add_argument("--seed", type=int, default=0, help="of the positions (default 0)")
    return parser.parse_args()


@script.command
def main() -> int:
    """Measure and print; returns the exit code."""
    options = _options()
    tables = Tablebase([options.folder])
    if not tables.most:
        raise ValueError("; ".join(tables.problems) or f"{options.folder}: there is no table")
    texts = random_positions(options.folder, options.positions, Random(options.seed))
    readers = {"Moff": moff(tables, [fen.parse(text) for text in texts])}
    if importlib.util.find_spec("chess") is not None:
        readers["python-chess"] = python_chess(options.folder, texts)
    told = []
    for name, asks in readers.items():
        (results, wdl), (distances, dtz) = (rate(ask) for ask in asks)
        print(f"{name:13}{results:12,.0f} WDL/s{distances:12,.0f} DTZ/s", flush=True)
        told.append((wdl, dtz))
    for problem in tables.problems:
        print(problem, file=sys.stderr)
    return 0 if all(answers == told[0] for answers in told) else 1


if __name__ == "__main__":
    sys.exit(main())
