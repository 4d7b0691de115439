"""Tune or screen the numbers of search/tuned.py by games.

    python bench/tune.py search --openings 8moves_v3.pgn --nodes 10000 --iterations 2000
                                --pairs 8 --concurrency 4 --state spsa.jsonl [NAME ...]
    python bench/tune.py screen iir_depth=6 lmp_base=6 lmr_base=600 --nodes 10000 --pairs 5000
                                --openings 8moves_v3.pgn --state screen.jsonl

`search` tunes the search's numbers by games (SPSA), `screen` tells which of many changes of them are worth a
match (a factorial experiment). Each explains itself: bench/tune.py search --help.

Ctrl-C (or SIGTERM) ends a run; what it has is kept in --state, and the same command line continues it. The
exit code is 0, or 2 after wrong usage, or 130 when interrupted. Needs the `tuning` extra.
"""

import argparse
import importlib
import sys
from pathlib import Path

import script  # first: it puts this checkout on the path
from tables import TUNED

from x88 import build

SEARCH = """Tune the search's numbers, all or those named, by games, and write them into the table.

In every iteration all numbers are moved at random one way and the other way, some pairs of games are played
between the two sets, and the numbers move towards the winner. --state keeps every iteration.
"""

SCREEN = """Test many changes of the search's numbers at once.

In every pair of games each change is made at random on one side, while the other side has the value of the
table; least squares tell the Elo of each change from all pairs. A value may lie outside its number's range,
to switch a step of the search off. --state keeps every pair. The table stays as it is: a change may do well
only with others, so a separate match must confirm it.
"""


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = script.parser(__doc__)
    commands = parser.add_subparsers(required=True, metavar="search | screen")
    games = argparse.ArgumentParser(add_help=False)
    add = games.add_argument
    add("--table", type=Path, default=TUNED, metavar="FILE", help="the numbers (default search/tuned.py)")
    add("--concurrency", type=script.positive, default=1, help="processes (default %(default)s)")
    add("--nodes", type=script.positive, default=5000, metavar="N", help="per move (default %(default)s)")
    add("--jitter", type=float, default=0.05, metavar="PART", help="how far they vary (default %(default)s)")
    add("--openings", type=Path, metavar="FILE", help="a PGN or EPD file (default: the start position)")
    add("--random-plies", type=int, default=0, metavar="N", help="after the opening (default %(default)s)")
    add(
        "--hash",
        type=script.positive,
        default=1,
        metavar="MB",
        help="each side's table (default %(default)s)",
    )
    add("--seed", type=int, default=0, metavar="N", help="for openings and changes (default %(default)s)")

    def command(name: str, module: str, text: str) -> argparse.ArgumentParser:
        """The parser of a command that the `run` of this module carries out."""
        added = commands.add_parser(
            name,
            parents=[games],
            description=text,
            help=text.split("\n")[0],
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        added.set_defaults(module=module)
        return added

    add = command("search", "spsa", SEARCH).add_argument
    add("names", nargs="*", metavar="NAME", help="numbers to tune (default: all)")
    add("--state", type=Path, default=Path("spsa.jsonl"), metavar="FILE", help="(default %(default)s)")
    add("--apply", action="store_true", help="play no more games, write the table")
    add("--iterations", type=script.positive, default=1000, metavar="N", help="in all (default %(default)s)")
    add("--pairs", type=script.positive, default=4, metavar="N", help="per iteration (default %(default)s)")
    text = "of a number's range by which it is moved in the end (default %(default)s)"
    add("--change", type=float, default=0.05, metavar="PART", help=text)
    add("--rate", type=float, default=0.002, help="of learning in the end (default %(default)s)")

    add = command("screen", "screening", SCREEN).add_argument
    add("changes", nargs="+", metavar="NAME=VALUE", help="changes of the search's numbers")
    add("--state", type=Path, default=Path("screen.jsonl"), metavar="FILE", help="(default %(default)s)")
    add("--pairs", type=script.positive, default=1000, metavar="N", help="in all (default %(default)s)")
    return parser.parse_args(arguments)


@script.command
def main(arguments: list[str] | None = None) -> int:
    """Tune or screen; returns the exit code."""
    options = _options(arguments)
    script.require("tuning", "numpy", "scipy", "tabulate", "tqdm")
    if not build.compiled:
        print(build.notice(), file=sys.stderr)
    importlib.import_module(options.module).run(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
