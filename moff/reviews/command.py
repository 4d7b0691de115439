"""`moff review`: games with an evaluation for each move, marks for what it cost, and better lines."""

import argparse
import os
import sys
from typing import Any

from moff.accuracy import LOSSES
from moff.arguments import STANDARD, WRONG_USAGE, is_same_file, whole_number
from moff.messages import echo
from search.pool import MOST_THREADS, processors

NODES = 300_000
FAST = 100_000
"""Nodes for each position, by default and with --fast: docs/review.md compares them with 1,000,000. Fewer
than 100,000 are up to 6.9 points of accuracy off.
"""

LONGEST = 1_000_000
"""Seconds for a position."""


def add_command(commands: Any) -> None:
    """Add `review` to a command line."""
    least = [f"{100 * loss:.0f}" for loss in reversed(LOSSES.values())]
    losses = f"{', '.join(least[:-1])} and {least[-1]}"
    review = commands.add_parser(
        "review",
        help="games with evaluations, mistakes and better lines",
        description="Search the position after every move of every game. Without -o, --html and --json the "
        "games go to standard output, in PGN.",
        epilog=f"?!, ? and ?? mark moves that lost at least {losses} percentage points of win probability, "
        "or a forced mate. After an interrupt the same command continues, if there is a file to write: "
        "finished games are kept next to it.",
    )
    review.add_argument("files", nargs="+", metavar="GAMES.pgn", help="the games; - reads standard input")
    limit = review.add_mutually_exclusive_group()
    limit.add_argument(
        "--nodes",
        type=lambda text: whole_number(text, 1, 10**15),
        default=NODES,
        metavar="N",
        help=f"nodes for each position (default {NODES}); the same command gives the same result",
    )
    limit.add_argument(
        "--fast", action="store_const", const=FAST, dest="nodes", help=f"the same as --nodes {FAST}"
    )
    limit.add_argument("--time", type=_seconds, metavar="SECONDS", help="for each position, instead")
    review.add_argument(
        "-o", "--output", metavar="OUT.pgn", help="write the games here; - is standard output"
    )
    review.add_argument("--html", metavar="REPORT.html", help="write a page with boards, curves and tables")
    review.add_argument(
        "--json",
        nargs="?",
        const=STANDARD,
        metavar="FILE",
        help="write a line of JSON for each game, to standard output without FILE",
    )
    review.add_argument(
        "--threads",
        type=lambda text: whole_number(text, 1, MOST_THREADS),
        default=processors(),
        metavar="N",
        help="games searched at the same time, each by one thread with 16 MB (default: all processors)",
    )
    review.set_defaults(run=_run)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not 0.001 <= value <= LONGEST:
        raise argparse.ArgumentTypeError(f"{echo(text)} is not a number of seconds from 0.001 to {LONGEST}")
    return value


def _run(options: argparse.Namespace) -> int:
    from moff.reviews.reviewer import review  # with its many imports

    fault = _wrong_usage(options)
    if fault:
        print(f"moff review: {fault}", file=sys.stderr)
        return WRONG_USAGE
    try:
        return review(options)
    except BrokenPipeError:
        raise
    except OSError as error:
        print(f"{error.filename or 'moff review'}: {error.strerror or error}", file=sys.stderr)
    except (ValueError, MemoryError) as error:
        print(error, file=sys.stderr)
    return 1


def _wrong_usage(options: argparse.Namespace) -> str:
    """The fault in the named files, empty if none: better reported now than after hours."""
    outputs = [path for path in (options.output, options.html, options.json) if path]
    if options.html == STANDARD:
        return "--html takes the name of a file"
    if outputs.count(STANDARD) > 1 or options.files.count(STANDARD) > 1:
        return "standard input and standard output can each be named only once"
    files = [path for path in outputs if path != STANDARD]
    for i, path in enumerate(files):
        folder = os.path.dirname(os.path.abspath(path))
        if os.path.isdir(path):
            return f"{path}: it is a folder"
        if not os.path.isdir(folder):
            return f"{path}: there is no folder {folder}"
        # A file is replaced by a new one in its folder; a device or pipe is written directly.
        is_file = os.path.isfile(path) or not os.path.exists(path)
        if not os.access(folder if is_file else path, os.W_OK):
            return f"{path}: it cannot be written{f' in {folder}' if is_file else ''}"
        if path != options.output and path.lower().endswith(".pgn"):
            # As in "--json games.pgn more.pgn", which would overwrite somebody's games.
            option = "--json" if path == options.json else "--html"
            return f"{path}: {option} writes no PGN; put it behind the games"
        if any(is_same_file(path, other) for other in options.files):
            return f"{path}: games are read from it; the review goes to another file"
        if any(is_same_file(path, other) for other in files[:i]):
            return f"{path}: two outputs name it"
    return ""
