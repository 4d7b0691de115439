"""`moff book make`, `moff book show` and `moff book check`: opening books in Polyglot's format."""

import argparse
import contextlib
import io
import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

from moff import atomic_write
from moff.arguments import STANDARD, WRONG_USAGE, is_same_file, read_position, whole_number
from moff.bar import Bar
from moff.messages import counted
from x88.notation import fen, san

if TYPE_CHECKING:
    from x88.book.book import Book
    from x88.book.make import Maker

MOST_FAULTS = 20
"""The maximum number of faults of a book that are listed one by one."""


def add_commands(commands: Any) -> None:
    """Add `book` and its commands to a command line."""
    book = commands.add_parser("book", help="make, show or check an opening book")
    ways = book.add_subparsers(title="commands", metavar="COMMAND", required=True)

    make = ways.add_parser("make", help="make a book from the games of PGN files")
    make.add_argument("files", nargs="+", metavar="GAMES.pgn", help="the games; - reads standard input")
    make.add_argument("-o", "--output", required=True, metavar="BOOK.bin", help="the book to write")
    # The defaults repeat those of `x88.book.make.Wanted`; few command lines need that import.
    make.add_argument(
        "--plies",
        type=partial(whole_number, least=1),
        default=20,
        metavar="N",
        help="plies of each game to read (default 20)",
    )
    make.add_argument(
        "--min-games",
        type=partial(whole_number, least=1),
        default=3,
        metavar="N",
        help="leave out moves played in fewer games (default 3)",
    )
    make.add_argument(
        "--min-score",
        type=_per_cent,
        default=0.0,
        metavar="PERCENT",
        help="leave out moves that scored less for the side that played them (default 0)",
    )
    make.add_argument("--only-wins", action="store_true", help="only the moves of the side that won")
    make.set_defaults(run=_run_make)

    show = ways.add_parser("show", help="show the moves of a book for a position, with weight and share")
    show.add_argument("book", metavar="BOOK.bin")
    show.add_argument("fen", nargs="?", default=fen.START, metavar="FEN", help="default: the start position")
    show.set_defaults(run=_run_show)

    check = ways.add_parser("check", help="report what is damaged or illegal in a book")
    check.add_argument("book", metavar="BOOK.bin")
    check.set_defaults(run=_run_check)


def _per_cent(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not 0 <= value <= 100:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 100")
    return value


def _run_make(options: argparse.Namespace) -> int:
    from x88.book.make import Maker, Wanted

    output_file = options.output
    for name in options.files:
        if name != STANDARD and is_same_file(name, output_file):
            print(f"{output_file} holds games to read: write the book to another file", file=sys.stderr)
            return WRONG_USAGE
    wanted = Wanted(options.plies, options.min_games, options.min_score, options.only_wins)
    maker = Maker(wanted)
    damaged = 0
    try:
        for name in options.files:
            with _opened(name) as stream:
                damaged += _add_games(maker, stream, name)
        with atomic_write.writing(output_file) as file:
            entries = maker.write(file)
    except KeyboardInterrupt:
        print(f"interrupted after {counted(maker.games, 'game')}; no book was written", file=sys.stderr)
        raise
    except OSError as error:
        print(f"{error.filename or output_file}: {error.strerror or error}", file=sys.stderr)
        return 1
    except ValueError as error:
        limits = " with these limits" if maker.games else ""
        print(f"{error}{limits}: no book was written", file=sys.stderr)
        return 1
    finally:
        maker.close()
    print(f"{output_file}: {counted(entries, 'move')} of {counted(maker.games, 'game')} with a result")
    if damaged:
        verb = "is" if damaged == 1 else "are"
        print(
            f"{counted(damaged, 'game')} {verb} damaged; the moves before the damage are used",
            file=sys.stderr,
        )
    return 1 if damaged else 0


@contextlib.contextmanager
def _opened(name: str) -> Any:
    with open(0 if name == STANDARD else name, "rb", closefd=name != STANDARD) as stream:
        yield stream


def _add_games(maker: "Maker", stream: BinaryIO, name: str) -> int:
    """Add the games of a file; returns how many are damaged."""
    bar = Bar(beside_results=True)
    size = os.fstat(stream.fileno()).st_size if stream.seekable() else 0
    damaged = 0
    try:
        for game in maker.add(stream):
            damaged += bool(game.faults)
            bar.show(stream.tell() / size if size else None, f"{name}: {counted(game.number, 'game')}")
    finally:
        bar.clear()
    return damaged


def open_book(path: str) -> "Book | None":
    """The book; None, with an error message, if it cannot be read."""
    from x88.book.book import Book

    try:
        return Book(path)
    except OSError as error:
        print(f"{path}: {error.strerror or error}", file=sys.stderr)
    except ValueError as error:
        print(error, file=sys.stderr)
    return None


def _run_show(options: argparse.Namespace) -> int:
    board = read_position(options.fen)
    if board is None:
        return 1
    book = open_book(options.book)
    if book is None:
        return 1
    choices = book.choices(board)
    total = sum(choice.weight for choice in choices)
    out = io.StringIO()
    for choice in choices:
        share = f"{100 * choice.weight / total:.1f} %" if total else "-"
        out.write(f"{san.write(board, choice.move):8} {choice.weight:6} {share:>8}\n")
    print(out.getvalue() or "the book has no move here\n", end="")
    return 0


def _run_check(options: argparse.Namespace) -> int:
    book = open_book(options.book)
    if book is None:
        return 1
    bar = Bar(beside_results=True)
    from x88.book.check import Check

    check = Check(book)
    count = 0
    try:
        for fault in check.faults():
            bar.show(check.share, counted(count, "fault"))
            if fault is not None:
                count += 1
                if count <= MOST_FAULTS:
                    bar.clear()
                    print(f"{options.book}: entry {fault.entry}: {fault.text}", flush=True)
    finally:
        bar.clear()
    if count > MOST_FAULTS:
        print(f"{options.book}: {count - MOST_FAULTS} more")
    held = f"{counted(len(book), 'move')} in {counted(check.positions, 'position')}"
    reached = f"{check.reached} of them reached from the start position"
    print(f"{options.book}: {held}, {reached}; {counted(count, 'fault')}")
    return 1 if count else 0
