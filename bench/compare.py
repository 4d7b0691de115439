"""One set of search numbers, or one network, against another: games without UCI.

    python bench/compare.py aspiration=15 null_reduction=4 --games 2000 --nodes 20000 --openings 8moves_v3.pgn
    python bench/compare.py --network other.net --games 2000 --random-plies 8

The games call the search directly, so that short ones run many times faster than over UCI. Moves are limited
by nodes, so that the seed, the number of a game and the engine determine every move, on every machine.

The first side uses the changed numbers of search/tuned.py, or another network; the second side uses what Moff
comes with. Every opening is played twice, with colours reversed. A game ends early when the scores have been
beyond 10 pawns for 4 plies, or after move 40 when they have been within 0.08 pawns for 8 plies. The error of
Elo is computed from pairs of games, as is the SPRT.

With --chess960 the openings are of Chess960, or are its 960 start positions; with --tables the searches ask
Syzygy tablebases.

The exit code is 0; 2 after wrong usage. Needs the `bench` extra.
"""

import argparse
import contextlib
import os
import sys
from pathlib import Path

import script  # first: it puts this checkout on the path
from selfgame import Book, Pace, Side, play_game, read_numbers, searcher
from workers import processes, run_all

from moff.syzygy_path import opened
from x88 import build


def compare(options: argparse.Namespace, book: Book, pace: Pace, changed: Side) -> str:
    """Play the match; returns the score in a few lines."""
    script.require("bench", "tqdm")
    from score import Score, Sprt, state
    from tqdm import tqdm

    score = Score()
    sprt = Sprt(*options.sprt) if options.sprt else None
    with processes(options.concurrency) as submit, contextlib.suppress(KeyboardInterrupt):
        jobs = (book.paired(number, pace, changed) for number in range(options.games))
        with tqdm(total=options.games, unit="game", dynamic_ncols=True) as bar:
            for played in run_all(submit, play_game, jobs, options.concurrency):
                score.points[played.number] = played.points()
                bar.set_postfix_str(state(score, sprt), refresh=False)
                bar.update()
                if sprt and sprt.verdict(score):
                    break
    points = list(score.points.values())
    won, drawn, lost = (points.count(value) for value in (1.0, 0.5, 0.0))
    verdict = f", {sprt.verdict(score) or 'undecided'}" if sprt else ""
    return f"{len(points)} games: +{won} ={drawn} -{lost}\n{state(score, sprt)}{verdict}"


def _options() -> argparse.Namespace:
    parser = script.parser(__doc__)
    add = parser.add_argument
    add("numbers", nargs="*", metavar="NAME=VALUE", help="changed numbers of the first side")
    add("--network", default="", metavar="FILE", help="network of the first side")
    add("--games", type=script.positive, default=1000, help="default 1000")
    add("--nodes", type=script.positive, default=5000, help="per move (default 5000)")
    add("--jitter", type=float, default=0.0, help="fraction by which nodes vary (default 0)")
    add("--openings", type=Path, metavar="FILE", help="a PGN or EPD file (default: none)")
    add("--chess960", action="store_true", help="openings of Chess960 (default: its start positions)")
    add("--tables", default="", metavar="FOLDERS", help=f"Syzygy tables, with {os.pathsep} between folders")
    add("--random-plies", type=int, default=0, help="after the opening (default 0)")
    add("--seed", type=int, default=0, help="of openings and random plies (default 0)")
    add("--concurrency", type=script.positive, default=1, help="games at a time (default 1)")
    add("--hash", type=script.positive, default=1, help="megabytes of a table (default 1)")
    add("--sprt", nargs=2, type=float, metavar=("ELO0", "ELO1"), help="stop when decided")
    return parser.parse_args()


def _check(options: argparse.Namespace) -> None:
    """Raise ValueError if an option is wrong."""
    if options.seed < 0:
        raise ValueError("--seed must not be negative")
    if options.sprt and not options.sprt[0] < options.sprt[1]:
        raise ValueError("the SPRT tests a smaller Elo difference against a larger one")


@script.command
def main() -> int:
    """Play; returns the exit code."""
    options = _options()
    _check(options)
    if not build.compiled:
        print(build.notice(), file=sys.stderr)
    if options.tables and not opened(options.tables).count(".rtbw"):
        raise ValueError(f"{options.tables} holds no WDL tables")
    book = Book.read(options.openings, options.seed, options.chess960)
    side = Side(read_numbers(options.numbers), options.network)
    searcher(options.hash, side)  # names, network and size are checked here, not in a worker
    pace = Pace(options.nodes, options.jitter, options.random_plies, options.hash, options.tables)
    print(compare(options, book, pace, side))
    return 0


if __name__ == "__main__":
    sys.exit(main())
