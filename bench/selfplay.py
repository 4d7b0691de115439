"""Games of Moff against itself, to train a network on: a pile that grows whenever this runs.

    python bench/selfplay.py --positions pile --idle
    python bench/selfplay.py --status pile
    python bench/selfplay.py --positions pile --seed 7 --games 100000

The first command begins or goes on: it completes the files in the folder, then adds new ones, until it is
stopped. It copies Moff there first and plays with the copy, so that the checkout can be changed and built
meanwhile; whatever changes the search or the network makes another copy at the next start, and new files. The
second one tells from another terminal how far it is. With --seed, one file is made; its games are the same on
every machine, but for the order of blocks. bench/gamefile.py describes the files; bench/dataset.py and
bench/train.py read them.

One game in twenty is Chess960, another one double Fischer random. A game starts with random plies that lose
no material by static exchange, and with others if the first search finds a side more than three pawns ahead.
Each move is searched to depth 2 at least, and to the end of the iteration that reaches --nodes, twice as many
on average. A game ends by the rules; when the scores have been beyond 10 pawns for 4 plies, or 20 in a tenth
of the games; after move 70 when they have been within 0.05 pawns for 12 plies; or after 400 plies.

Threads of this machine play, or the workers of a Dask cluster, on which this very Moff must be installed.
With --idle the processors are used only while no other process wants them.

The exit code is 0; 2 after wrong usage; 130 when interrupted, which loses the blocks in progress.
--scheduler needs the `cluster` extra.
"""

import argparse
import os
import sys
from pathlib import Path

import script

# isort: split
import pile  # after script, which puts this checkout on the path

# isort: split
from x88 import build

NODES = 40


def _options() -> argparse.Namespace:
    parser = script.parser(__doc__)
    add = parser.add_argument
    purpose = parser.add_mutually_exclusive_group(required=True)
    purpose.add_argument("--positions", type=Path, metavar="FOLDER", help="add games to this folder")
    purpose.add_argument("--status", type=Path, metavar="FOLDER", help="tell what it holds")
    add("--nodes", type=script.positive, default=NODES, help=f"per move, at least (default {NODES})")
    add("--idle", action="store_true", help="take only what no other process wants")
    add("--minutes", type=float, help="begin no blocks of games after this time")
    add("--seed", type=int, help="make one file, with these games")
    add("--games", type=script.positive, help=f"of a file (default {pile.GAMES * pile.BLOCKS})")
    add("--network", default="", metavar="FILE", help="in place of the one that comes with Moff")
    add("--concurrency", type=script.positive, metavar="N", help="games at a time (default: all processors)")
    add("--scheduler", metavar="ADDRESS", help="a Dask cluster plays")
    return parser.parse_args()


def _check(options: argparse.Namespace) -> None:
    """Fill in the defaults, and raise ValueError if an option is wrong."""
    if options.minutes is not None and not options.minutes > 0:
        raise ValueError("--minutes must be more than 0")
    if options.seed is not None and not 0 <= options.seed < 2**64:
        raise ValueError("--seed must be from 0 to 2**64 - 1")
    if options.games is not None and options.seed is None:
        raise ValueError("--games needs --seed: a run without one adds files until it is stopped")
    if options.scheduler and (options.network or options.idle):
        raise ValueError("--scheduler has neither --network nor --idle: workers play as they were started")
    options.games = options.games or pile.GAMES * pile.BLOCKS
    if options.concurrency is None:
        options.concurrency = 10_000 if options.scheduler else os.cpu_count() or 1


@script.command
def main() -> int:
    """Fill the folder, or tell its state; returns the exit code."""
    options = _options()
    _check(options)
    if options.status:
        print(pile.status(options.status))
        return 0
    if not build.compiled and not build.problem:
        print(build.notice(), file=sys.stderr)
    return pile.fill(options)


if __name__ == "__main__":
    sys.exit(main())
