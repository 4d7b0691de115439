"""Moff's face to the world: UCI on standard input and output, and the command line. Decides nothing about
chess.
"""

import os
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO

from search.limits import Limits
from search.search import Report, Result, Search
from search.table import LARGEST
from x88 import build, coordinate, fen
from x88.board import Board
from x88.movegen import legal_moves
from x88.perft import leaves_under

if TYPE_CHECKING:
    import argparse

VERSION = "0.1.0"
AUTHOR = "the Moff authors"

DEFAULT_HASH = 16
LONGEST_ECHO = 120


class Engine:
    """The UCI conversation. Every line in is answered at once; a search runs beside it and reports when it
    has news.
    """

    def __init__(self, write: Callable[[str], object] | None = None) -> None:
        """`write` takes each line of output, without its end; standard output if None."""
        self._write = write or _print
        self._search = Search(DEFAULT_HASH)
        self._board = fen.parse(fen.START)
        self._perft: threading.Thread | None = None
        self._perft_stopped = threading.Event()
        self._deferred: list[Callable[[], None]] = []
        self._commands: dict[str, Callable[[list[str]], None]] = {
            "uci": self._uci,
            "isready": self._isready,
            "ucinewgame": self._ucinewgame,
            "position": self._position,
            "go": self._go,
            "stop": self._stop,
            "setoption": self._setoption,
        }

    def run(self) -> None:
        """Read lines from standard input until `quit` or its end."""
        notice = build.notice()
        if notice:
            self._info(notice)
        for raw in sys.stdin.buffer:
            if not self.execute(raw.decode("utf-8", "replace")):
                break
        self._finish()

    def execute(self, line: str) -> bool:
        """Carry out one line; False after `quit`. As UCI asks, words before a known command are passed
        over.
        """
        words = line.split()
        while words:
            if words[0] == "quit":
                return False
            command = self._commands.get(words[0])
            if command is not None:
                command(words[1:])
                break
            words = words[1:]
        return True

    # Commands, in the order of the protocol's description.

    def _uci(self, _words: list[str]) -> None:
        self._write(f"id name Moff {VERSION}")
        self._write(f"id author {AUTHOR}")
        self._write(f"option name Hash type spin default {DEFAULT_HASH} min 1 max {LARGEST}")
        self._write("option name Clear Hash type button")
        self._write("uciok")

    def _isready(self, _words: list[str]) -> None:
        if not self._is_busy():
            self._carry_out_deferred()
        self._write("readyok")

    def _setoption(self, words: list[str]) -> None:
        """An option set during a search takes effect after it."""
        if not words or words[0] != "name":
            self._info("setoption: it must say `name`, as in setoption name Hash value 64")
            return
        split = words.index("value") if "value" in words else len(words)
        name = " ".join(words[1:split])
        value = " ".join(words[split + 1 :])
        if name.lower() == "hash":
            try:
                megabytes = _number("Hash", value, 1, LARGEST)
            except ValueError as error:
                self._info(f"setoption: {error}")
                return
            self._deferred.append(lambda: self._resize_table(megabytes))
        elif name.lower() == "clear hash":
            self._deferred.append(self._search.new_game)
        else:
            self._info(f"setoption: there is no option {_echo(name)}")
            return
        if not self._is_busy():
            self._carry_out_deferred()

    def _resize_table(self, megabytes: int) -> None:
        try:
            self._search.resize_table(megabytes)
        except MemoryError as error:
            self._info(f"setoption: {error}")

    def _ucinewgame(self, _words: list[str]) -> None:
        self._finish()
        self._search.new_game()

    def _position(self, words: list[str]) -> None:
        """Set up a position; a fault anywhere in the line is reported and leaves the one before."""
        self._finish()
        split = words.index("moves") if "moves" in words else len(words)
        try:
            if words[:1] == ["startpos"] and split == 1:
                board = fen.parse(fen.START)
            elif words[:1] == ["fen"]:
                board = fen.parse(" ".join(words[1:split]))
            else:
                raise ValueError("it must say startpos or fen, and then may give moves")
            for text in words[split + 1 :]:
                board.forget()
                board.make(coordinate.parse(board, text))
        except ValueError as error:
            self._info(f"position: {_shorten(str(error))}")
            return
        self._board = board

    def _go(self, words: list[str]) -> None:
        started = time.perf_counter()
        self._finish()
        try:
            if words[:1] == ["perft"]:
                self._go_perft(words[1:])
                return
            limits = _parse_limits(words)
        except ValueError as error:
            self._info(f"go: {error}")
            return
        self._search.start(self._board, limits, self._report, self._bestmove, started)

    def _go_perft(self, words: list[str]) -> None:
        depth = _number("perft", words[0] if words else "", 1)
        self._perft_stopped.clear()
        self._perft = threading.Thread(target=self._run_perft, args=(self._board.copy(), depth), daemon=True)
        self._perft.start()

    def _run_perft(self, board: Board, depth: int) -> None:
        """The leaves under each move, and their sum, until stopped."""
        started = time.perf_counter()
        total = 0
        for move in legal_moves(board):
            leaves = self._leaves_under(board, move, depth)
            if self._perft_stopped.is_set():
                self._info("perft stopped")
                return
            total += leaves
            self._write(f"{coordinate.write(move)}: {leaves}")
        self._write(_perft_summary(total, time.perf_counter() - started))

    def _leaves_under(self, board: Board, move: int, depth: int) -> int:
        """The leaves under a move; where they are many, reply by reply, so that `stop` need not wait."""
        if depth < 5:
            return leaves_under(board, move, depth)
        total = 0
        board.make(move)
        for reply in legal_moves(board):
            if self._perft_stopped.is_set():
                break
            total += leaves_under(board, reply, depth - 1)
        board.unmake()
        return total

    def _stop(self, _words: list[str]) -> None:
        self._search.stop()
        self._perft_stopped.set()

    # Reports of the search.

    def _report(self, report: Report) -> None:
        score = f"cp {report.score}" if report.mate is None else f"mate {report.mate}"
        line = (
            f"info depth {report.depth} seldepth {report.seldepth} score {score} nodes {report.nodes} "
            f"nps {int(report.nodes * 1000 / max(report.elapsed, 1))} hashfull {report.hashfull} "
            f"time {int(report.elapsed)}"
        )
        if report.pv:
            line += " pv " + " ".join(coordinate.write(move) for move in report.pv)
        self._write(line)

    def _bestmove(self, result: Result) -> None:
        if not result.move:
            self._write("bestmove (none)")
            return
        line = f"bestmove {coordinate.write(result.move)}"
        if result.reply:
            line += f" ponder {coordinate.write(result.reply)}"
        self._write(line)

    def _info(self, text: str) -> None:
        self._write(f"info string {text}")

    # Housekeeping.

    def _is_busy(self) -> bool:
        return self._search.is_running() or (self._perft is not None and self._perft.is_alive())

    def _finish(self) -> None:
        """End what runs and wait for its last line, then carry out what waited for that."""
        self._stop([])
        self._search.wait()
        if self._perft is not None:
            self._perft.join()
            self._perft = None
        self._carry_out_deferred()

    def _carry_out_deferred(self) -> None:
        self._search.wait()
        deferred, self._deferred = self._deferred, []
        for action in deferred:
            action()


_output = threading.Lock()


def _print(line: str) -> None:
    """Write a line of output whole and at once; two threads do so."""
    with _output:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def _echo(text: str) -> str:
    return _shorten(repr(text))


def _shorten(text: str) -> str:
    """A message that quotes its input stays readable when the input is not."""
    return text if len(text) <= 4 * LONGEST_ECHO else f"{text[:LONGEST_ECHO]} ... {text[-2 * LONGEST_ECHO :]}"


def _number(name: str, text: str, least: int, most: int = 10**15) -> int:
    """The value of a limit or an option. Raises ValueError naming both."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 16 and least <= int(text) <= most):
        raise ValueError(f"{name} takes a whole number from {least} to {most}, not {_echo(text)}")
    return int(text)


def _parse_limits(words: list[str]) -> Limits:
    """The limits of a `go` line, in any order; unknown words are passed over. Raises ValueError for a bad
    number.
    """
    found: dict[str, int] = {}
    infinite = False
    waiting = iter(words)
    for word in waiting:
        if word == "infinite":
            infinite = True
        elif word in ("depth", "nodes", "movetime", "movestogo"):
            # None at all still asks for a move.
            found[word] = max(1, _number(word, next(waiting, ""), 0))
        elif word in ("wtime", "btime", "winc", "binc"):
            # A clock may be overdrawn: GUIs send negative times inside their margin.
            found[word] = _number(word, next(waiting, ""), -(10**15))
    return Limits(
        depth=found.get("depth"),
        nodes=found.get("nodes"),
        movetime=found.get("movetime"),
        time=(found.get("wtime"), found.get("btime")),
        increment=(max(0, found.get("winc", 0)), max(0, found.get("binc", 0))),
        movestogo=found.get("movestogo"),
        infinite=infinite or not found,
    )


def _perft_summary(nodes: int, seconds: float) -> str:
    return f"{nodes} nodes {seconds:.3f} s {int(nodes / max(seconds, 1e-9))} nodes/s"


# The command line.


def main() -> int:
    """The `moff` command: UCI without arguments. Returns the exit code: 0 done, 1 faulty input; wrong usage
    exits with 2.
    """
    try:
        if len(sys.argv) == 1:
            Engine().run()
            return 0
        return _command_line(sys.argv[1:])
    except BrokenPipeError:
        # Whoever read our output is gone. Point it elsewhere, or the interpreter complains at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 0


def _command_line(arguments: list[str]) -> int:
    import argparse  # not for UCI, where a GUI waits

    parser = argparse.ArgumentParser(
        prog="moff", description="A UCI chess engine. Without a command it speaks UCI."
    )
    parser.add_argument("--version", action="version", version=f"Moff {VERSION}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    bench = commands.add_parser("bench", help="search fixed positions: node signature and nodes/s")
    bench.add_argument("depth", nargs="?", type=_positive, metavar="DEPTH", help="plies, if not as usual")
    bench.set_defaults(run=_run_bench)

    perft = commands.add_parser("perft", help="count the leaves of the tree of legal moves")
    perft.add_argument("depth", type=_positive, metavar="DEPTH", help="plies")
    perft.add_argument("--fen", default=fen.START, help="the position, instead of the start position")
    perft.add_argument("--divide", action="store_true", help="show the leaves under each move")
    perft.add_argument(
        "--play-leaves", action="store_true", help="make and unmake every leaf, not count the last ply"
    )
    perft.set_defaults(run=_run_perft)

    fens = commands.add_parser("fens", help="print the FEN after every move of every game of a PGN file")
    fens.add_argument("file", metavar="FILE.pgn", help="the games; - reads standard input")
    fens.add_argument("--json", action="store_true", help="a line of JSON for each game, with all it holds")
    fens.set_defaults(run=_run_fens)

    options = parser.parse_args(arguments)
    notice = build.notice()
    if notice:
        print(notice, file=sys.stderr)
    code: int = options.run(options)
    return code


def _positive(text: str) -> int:
    import argparse

    try:
        return _number("it", text, 1)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _run_bench(options: "argparse.Namespace") -> int:
    from search import benchmark

    def progress(done: int, nodes: int) -> None:
        print(f"position {done}/{len(benchmark.POSITIONS)}: {nodes} nodes so far", file=sys.stderr)

    total = benchmark.run(options.depth or benchmark.DEPTH, progress)
    print(f"{total.nodes} nodes {total.speed} nps")
    return 0


def _run_perft(options: "argparse.Namespace") -> int:
    try:
        board = fen.parse(options.fen)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    started = time.perf_counter()
    total = 0
    for move in legal_moves(board):
        leaves = leaves_under(board, move, options.depth, options.play_leaves)
        total += leaves
        if options.divide:
            print(f"{coordinate.write(move)}: {leaves}", flush=True)
    how = "every leaf played" if options.play_leaves else "last ply counted"
    print(f"{_perft_summary(total, time.perf_counter() - started)} ({how})")
    return 0


def _run_fens(options: "argparse.Namespace") -> int:
    try:
        with open(0 if options.file == "-" else options.file, "rb", closefd=options.file != "-") as stream:
            damaged, games = _print_fens(stream, options.file, options.json)
    except BrokenPipeError:
        raise
    except OSError as error:
        print(f"{options.file}: {error.strerror}", file=sys.stderr)
        return 1
    if damaged:
        print(f"{options.file}: {damaged} of {games} games are damaged", file=sys.stderr)
    return 1 if damaged else 0


def _print_fens(stream: BinaryIO, name: str, as_json: bool) -> tuple[int, int]:
    """Print what a PGN file holds; returns the number of damaged games and of all."""
    import json

    from x88 import pgn

    # On the same terminal, the bar and the results would spoil each other.
    bar = _Bar(stream) if sys.stderr.isatty() and not sys.stdout.isatty() else None
    damaged = games = 0
    for game in pgn.Reader(stream):
        games += 1
        if bar:
            bar.show(f"{games} games")
        if as_json:
            print(json.dumps(game.as_dict(), ensure_ascii=False))
        elif game.moves:
            print("\n".join([move.fen for move in game.moves]))
        if game.faults:
            damaged += 1
            if bar:
                bar.clear()
            for fault in game.faults:
                print(f"{name}: game {game.number}, line {fault.line}: {fault.text}", file=sys.stderr)
    if bar:
        bar.clear()
    return damaged, games


class _Bar:
    """A progress bar on standard error: how much of a file has been read."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._size = os.fstat(stream.fileno()).st_size if stream.seekable() else 0
        self._shown = 0.0

    def show(self, text: str) -> None:
        """Draw the bar, five times a second at most."""
        now = time.monotonic()
        if now - self._shown < 0.2:
            return
        self._shown = now
        if self._size:
            part = min(1.0, self._stream.tell() / self._size)
            text = f"[{'#' * int(30 * part):30}] {100 * part:3.0f} %  {text}"
        sys.stderr.write(f"\r{text}\033[K")
        sys.stderr.flush()

    def clear(self) -> None:
        """Take the bar off the terminal."""
        sys.stderr.write("\r\033[K")
        self._shown = 0.0


if __name__ == "__main__":
    sys.exit(main())
