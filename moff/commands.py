"""The command line: `moff play`, `moff perft` and so on."""

import argparse
import io
import json
import os
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, BinaryIO

from moff import __version__, books, tb
from moff.arguments import WRONG_USAGE, read_position, whole_number
from moff.bar import Bar
from moff.bench import WORDS as BENCH_WORDS
from moff.bench import BenchRun, PerftRun, parse_bench
from moff.game import time_control
from moff.messages import can_rewrite, counted, echo, either, suggestion
from moff.page import command as board_page
from moff.picture.annotation import COLOURS
from moff.reviews import command as review
from search import benchmark
from search.limits import Limits
from search.strength import STRONGEST, WEAKEST
from x88 import build
from x88.notation import chess960, diagram, fen, pgn
from x88.notation.chess960 import POSITIONS
from x88.notation.diagram import Style
from x88.perft.divide import DEEPEST, MOST_THREADS, DividedPerft
from x88.perft.table import MAX_MEGABYTES, PerftTable
from x88.piece import BLACK, WHITE

NAMES = ("bench", "perft", "moves", "play", "log", "fens", "picture", "book", "tb", "review", "board")
"""The commands; a test checks that the parser has the same."""

PACE = "120+1"
LOG_FILE = "moff.log"
RANDOM = -1
"""Stands for a random Chess960 start position instead of a number."""


def run(arguments: list[str], converse: Callable[[str], int]) -> int:
    """Carry out a command line; returns the exit code: 0 done, 1 faulty input. After wrong usage argparse
    exits with 2.

    `converse` speaks UCI and writes a log to the given file; returns the exit code.
    """
    parser = _parser()
    if arguments[0] not in NAMES and not arguments[0].startswith("-"):
        meant = suggestion(arguments[0], NAMES) or "; moff --help and moff help (UCI) list them"
        parser.error(f"unknown command {echo(arguments[0])}{meant}")
    options = parser.parse_args(arguments)
    warn_if_uncompiled()
    if options.run is None:
        return converse(options.file)
    code: int = options.run(options)
    return code


def warn_if_uncompiled() -> None:
    """Say so on standard error if Moff runs uncompiled."""
    notice = build.notice()
    if notice:
        print(notice, file=sys.stderr)


class _Parser(argparse.ArgumentParser):
    """A parser that fails if its help cannot be written, and shows the usage of the faulty command."""

    def _print_message(self, message: str, file: Any = None) -> None:
        print(message, end="", file=file, flush=True)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        options, others = super().parse_known_args(args, namespace)
        if others:
            meant = suggestion(others[0].partition("=")[0], self._option_string_actions)
            self.error(f"unrecognized arguments: {' '.join(others)}{meant}")
        return options, others


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="moff",
        description="A UCI chess engine. Without a command it speaks UCI.",
        epilog="UCI commands work here too; Moff ends when they are done: moff go depth 12, moff d eval, "
        'moff position fen "FEN" go movetime 3000.',
    )
    parser.add_argument("--version", action="version", version=f"Moff {__version__}")
    # Not required, or a mistyped option would be answered by a request for a command.
    parser.set_defaults(run=None, file="")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    bench = commands.add_parser(
        "bench",
        help="search fixed positions: node signature and nodes/s",
        usage=f"%(prog)s [{'] ['.join(BENCH_WORDS).upper()}]\n   or: %(prog)s [--hash MB] [--threads N] "
        "[--file FILE] [--depth N | --nodes N | --movetime MS | --perft N]",
        epilog="The arguments without names are Stockfish's: moff bench 16 1 13 default depth.",
    )
    bench.add_argument("words", nargs="*", metavar="HASH THREADS LIMIT FILE KIND", help=argparse.SUPPRESS)
    bench.add_argument(
        "--hash", metavar="MB", help=f"size of the transposition table, 1 to {MAX_MEGABYTES} (default 16)"
    )
    bench.add_argument(
        "--threads",
        metavar="N",
        help="search threads (default 1); with more than one, the node count differs from run to run",
    )
    bench.add_argument(
        "--file", metavar="FILE", help="search the positions of this file, with a FEN on each line"
    )
    limits = bench.add_mutually_exclusive_group()
    limits.add_argument("--depth", metavar="N", help="plies (default 13; 6 when uncompiled)")
    limits.add_argument("--nodes", metavar="N", help="nodes for each position")
    limits.add_argument("--movetime", metavar="MS", help="milliseconds for each position")
    limits.add_argument("--perft", metavar="N", help="count the leaves at this many plies instead")
    bench.set_defaults(run=lambda options: _run_bench(options, bench))

    perft = commands.add_parser("perft", help="count the leaves of the tree of legal moves")
    plies = partial(whole_number, least=1, most=DEEPEST)
    perft.add_argument("depth", type=plies, metavar="DEPTH", help="plies")
    perft.add_argument("--fen", default=fen.START, help="the position, instead of the start position")
    perft.add_argument("--divide", action="store_true", help="show the leaves under each move")
    threads = partial(whole_number, least=1, most=MOST_THREADS)
    perft.add_argument(
        "--threads", type=threads, default=1, metavar="N", help="number of threads (default 1)"
    )
    ways = perft.add_mutually_exclusive_group()
    ways.add_argument(
        "--play-leaves",
        action="store_true",
        help="make and unmake every leaf instead of counting the last ply",
    )
    ways.add_argument(
        "--hash",
        type=partial(whole_number, least=1, most=MAX_MEGABYTES),
        metavar="MB",
        help=f"count with a table of subtree counts, 1 to {MAX_MEGABYTES} megabytes (default: without)",
    )
    perft.set_defaults(run=_run_perft)

    moves = commands.add_parser("moves", help="the test board: both sides' moves with the generator's scores")
    moves.add_argument("--fen", default=fen.START, help="the position, instead of the start position")
    moves.add_argument("--attacks", action="store_true", help="add the attack map")
    moves.set_defaults(run=_run_moves)

    play = commands.add_parser("play", help="a game in the terminal")
    play.add_argument("--black", action="store_true", help="you play Black")
    limit = play.add_mutually_exclusive_group()
    limit.add_argument(
        "--time",
        type=_time_control,
        default=_time_control(PACE),
        metavar="SECONDS[+INCREMENT]",
        help=f"the engine's clock, in seconds (default {PACE})",
    )
    depth = partial(whole_number, least=1)
    limit.add_argument("--depth", type=depth, metavar="N", help="search depth in plies, instead of a clock")
    play.add_argument(
        "--elo",
        type=partial(whole_number, least=WEAKEST, most=STRONGEST),
        metavar="ELO",
        help=f"how strong the engine plays, {WEAKEST} to {STRONGEST} (default: full strength)",
    )
    play.add_argument(
        "--chess960",
        nargs="?",
        const=RANDOM,
        type=partial(whole_number, least=0, most=POSITIONS - 1),
        metavar="NUMBER",
        help=f"play Chess960, from the start position of a number, 0 to {POSITIONS - 1} (default: random)",
    )
    play.add_argument("--name", metavar="NAME", help="your name in the PGN (default: your user name)")
    play.add_argument("--log", metavar="FILE", help="write a log, with the generated moves before every move")
    play.set_defaults(run=_run_play)
    for command in (moves, play):
        command.add_argument("--ascii", action="store_true", help="letters instead of Unicode pieces")

    log = commands.add_parser("log", help="speak UCI, and write a log of it")
    log.add_argument("file", nargs="?", default=LOG_FILE, metavar="FILE", help=f"default {LOG_FILE}")
    log.set_defaults(run=None)

    fens = commands.add_parser("fens", help="print the FEN after every move of every game of a PGN file")
    fens.add_argument("file", metavar="FILE.pgn", help="the games; - reads standard input")
    fens.add_argument(
        "--json", action="store_true", help="print a line of JSON for each game, with everything in it"
    )
    fens.set_defaults(run=_run_fens)

    picture = commands.add_parser(
        "picture", help="the position as an SVG picture", epilog=f"COLOUR is {either(COLOURS)}."
    )
    add = picture.add_argument
    add("fen", nargs="?", default=fen.START, metavar="FEN", help="default: start position")
    add("-o", "--output", type=_svg, default="-", metavar="FILE.svg", help="default: standard output")
    add("--last-move", metavar="e2e4", help="colour the squares of the move just played")
    add("--arrow", action="append", default=[], metavar="e2e4[:COLOUR]", help="draw an arrow (repeatable)")
    add("--mark", action="append", default=[], metavar="e4[:COLOUR]", help="mark a square (repeatable)")
    add("--attacks", action="store_true", help="how many pieces attack each square")
    add("--black", action="store_true", help="Black at the bottom")
    add("--dark", action="store_true", help="colours for a dark page")
    add("--no-coordinates", action="store_true", help="no letters and numbers next to the board")
    add("--size", type=_pixels, metavar="PIXELS", help="width and height (default 360)")
    picture.set_defaults(run=_run_picture)

    board_page.add_command(commands)
    books.add_commands(commands)
    tb.add_command(commands)
    review.add_command(commands)
    return parser


def _svg(path: str) -> str:
    if os.path.splitext(path)[1].lower() not in ("", ".svg"):
        raise argparse.ArgumentTypeError(f"pictures are SVG: give a name such as board.svg, not {path}")
    return path


def _pixels(text: str) -> int:
    from moff.picture import picture

    return whole_number(text, picture.MIN_SIZE, picture.MAX_SIZE)


def _run_bench(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    named = {name: value for name, value in vars(options).items() if isinstance(value, str)}
    for kind in named.keys() & set(benchmark.KINDS):
        named |= {"kind": kind, "limit": named[kind]}
    try:
        settings, file = parse_bench(options.words, named)
    except ValueError as error:
        parser.error(str(error))
    try:
        bench = BenchRun(settings, file)
    except (ValueError, MemoryError) as error:
        print(error, file=sys.stderr)
        return 1
    totals: list[benchmark.Total | None] = []

    def run() -> None:
        totals.append(bench.run(_print_note))

    # In its own thread, so that an interrupt reaches the main thread at any time.
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.1)
    except KeyboardInterrupt:
        bench.stop()
        thread.join()
        if sys.stderr.isatty():
            print(file=sys.stderr)  # the terminal has echoed ^C
        positions = len(bench.settings.positions)
        print(f"{bench.nodes} nodes so far (interrupted after {bench.done} of {positions} positions)")
        raise
    if not totals or totals[0] is None:
        return 1  # its thread has reported why
    print(totals[0].table(), file=sys.stderr)
    print(totals[0].summary())
    return 0


def _print_note(line: str) -> None:
    print(line, file=sys.stderr)


def _run_perft(options: argparse.Namespace) -> int:
    board = read_position(options.fen)
    if board is None:
        return 1
    try:
        table = PerftTable(options.hash) if options.hash else None
    except MemoryError as error:
        print(error, file=sys.stderr)
        return 1
    bar = Bar(beside_results=True)
    count = DividedPerft(board, options.depth, options.play_leaves, options.threads, table)
    perft = PerftRun(count)

    def tell(line: str) -> None:
        if options.divide:
            bar.clear()
            print(line, flush=True)

    def show() -> None:
        bar.show(count.share, counted(count.leaves, "node"))

    try:
        perft.run(tell, on_progress=show)
    except KeyboardInterrupt:
        bar.clear()
        print(f"{perft.speed()} so far (interrupted at {100 * count.share:.0f} %)")
        raise
    except OverflowError as error:
        bar.clear()
        print(error, file=sys.stderr)
        return 1
    bar.clear()
    how = "every leaf played" if options.play_leaves else "last ply counted"
    print(f"{perft.speed()} ({how})")
    return 0


def _time_control(text: str) -> Limits:
    try:
        return time_control.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _style(letters: bool, flipped: bool = False) -> Style:
    """The style for standard output: colours on a terminal, letters if it cannot show pieces."""
    try:
        "♔♚·".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        letters = True
    coloured = can_rewrite(sys.stdout) and not os.environ.get("NO_COLOR")
    return Style(letters, coloured, flipped)


def _run_moves(options: argparse.Namespace) -> int:
    board = read_position(options.fen)
    if board is None:
        return 1
    style = _style(options.ascii)
    lines = [*diagram.draw(board, style), ""]
    if options.attacks:
        lines += [*diagram.draw_attacks(board, style), *diagram.ATTACK_LEGEND, ""]
    print("\n".join([*lines, *diagram.list_moves(board, style), "", *diagram.SCORE_LEGEND]))
    return 0


def _run_play(options: argparse.Namespace) -> int:
    from moff.console import Console, user_name
    from moff.log import Log
    from moff.signals import raise_at_end

    side = BLACK if options.black else WHITE
    limits = Limits(depth=options.depth) if options.depth else options.time
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="surrogateescape")  # text of another encoding must not end a game
    style = _style(options.ascii, options.black)
    start = fen.START
    if options.chess960 is not None:
        number = chess960.draw() if options.chess960 == RANDOM else options.chess960
        print(f"Start position {number} of Chess960.")
        start = chess960.start(number)
    name = options.name or user_name()
    raise_at_end()
    Console(side, limits, style, Log(options.log), options.elo, name, start).run()
    return 0


def _run_fens(options: argparse.Namespace) -> int:
    with open(0 if options.file == "-" else options.file, "rb", closefd=options.file != "-") as stream:
        damaged, games = _print_fens(stream, options.file, options.json)
    if damaged:
        verb = "is" if damaged == 1 else "are"
        print(f"{options.file}: {damaged} of {counted(games, 'game')} {verb} damaged", file=sys.stderr)
    if not games:
        print(f"{options.file} holds no game", file=sys.stderr)
    return 1 if damaged else 0


def _print_fens(stream: BinaryIO, name: str, as_json: bool) -> tuple[int, int]:
    """Print the FENs or the JSON of a PGN file; returns the number of damaged games and of all games."""
    bar = Bar()
    size = os.fstat(stream.fileno()).st_size if stream.seekable() else 0
    damaged = games = 0
    fens = pgn.FenReader(stream, sys.stdout.write)
    try:
        for game in pgn.Reader(stream) if as_json else fens:
            games += 1
            bar.show(stream.tell() / size if size else None, counted(games, "game"))
            if as_json:
                print(json.dumps(game.as_dict()))
            elif game.faults or sys.stdout.isatty():
                fens.flush()
            if game.faults:
                damaged += 1
                bar.clear()
                for fault in game.faults:
                    print(f"{name}: game {game.number}, line {fault.line}: {fault.text}", file=sys.stderr)
    except KeyboardInterrupt:
        bar.clear()
        print(f"{name}: interrupted after {counted(games, 'game')}", file=sys.stderr)
        raise
    finally:
        fens.flush()
    bar.clear()
    return damaged, games


def _run_picture(options: argparse.Namespace) -> int:
    from moff.atomic_write import save
    from moff.picture.picture import STANDARD_SIZE, Picture

    board = read_position(options.fen)
    if board is None:
        return 1
    try:
        picture = Picture(
            board,
            flipped=options.black,
            theme="dark" if options.dark else "light",
            last_move=options.last_move,
            arrows=options.arrow,
            marked=options.mark,
            attacks=options.attacks,
            coordinates=not options.no_coordinates,
            size=options.size or STANDARD_SIZE,
        )
    except ValueError as error:
        print(error, file=sys.stderr)
        return WRONG_USAGE
    if options.output == "-":
        print(picture.svg(), end="")
        return 0
    try:
        save(options.output, picture.svg())
    except BrokenPipeError:
        raise
    except OSError as error:
        print(f"{options.output}: {error.strerror}", file=sys.stderr)
        return 1
    return 0
