"""The UCI conversation on standard input and output, and `main`, which hands a command line to `moff/`.
Decides nothing about chess.
"""

from moff.signals import INTERRUPTED, NUMBERS, as_usual, leave_at_once, leave_if_unread

if __name__ == "__main__":
    leave_at_once()  # the imports take a while

import contextlib
import io
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from moff import __version__ as VERSION
from moff.go_line import GO_WORDS, parse_limits
from moff.option import Option
from moff.ownbook import OwnBook
from moff.stdin import input_lines, text_of
from moff.text import counted, echo, perft_speed, shorten, whole_number
from search import wdl
from search.limits import Limits
from search.pool import MOST_THREADS
from search.probing import MOST_DEPTH
from search.search import Progress, Report, Result, Search, Statistics
from search.strength import STRONGEST, WEAKEST
from search.table import LARGEST
from search.tablebase import Tablebase, folders_of
from search.tablepart import MOST_PIECES
from x88 import attack, build, coordinate, fen, square
from x88.move import NO_MOVE
from x88.movegen import scored_moves
from x88.piece import WHITE

if TYPE_CHECKING:
    from moff.log import Log
    from x88.divide import DividedPerft

AUTHOR = "the Moff authors"

DEFAULT_HASH = 16
DEFAULT_OVERHEAD = 20
DEFAULT_ELO = 1500
REPEAT_DELAY = 50
"""Milliseconds between two reports that say the same: the iterations after a mate choke programs."""
COMMANDS_AS_WORDS = (("go", "perft"), ("position", "moves"))
"""Commands that are also words of another command: the other command, and the word."""
ABOUT = f"Moff {VERSION} by {AUTHOR}: plain Python on a 0x88 board, {'' if build.compiled else 'un'}compiled"
GREETING = (
    f"Moff {VERSION} speaks UCI: type help for its commands, quit to leave. Run moff board for a board."
)


class Engine:
    """The UCI conversation. Every line is answered at once, while a search runs in its own thread and reports
    as it goes.
    """

    def __init__(self, write: Callable[[str], object] | None = None, is_typed: bool = False) -> None:
        """`write` takes each line of output, without its end; standard output if None. `is_typed` says that a
        person types the lines and wants unknown words to be reported.
        """
        self._output = write or _print
        self._is_typed = is_typed
        self._log: Log | None = None
        self._writing = threading.RLock()  # a log that fails says so
        self._search = Search(DEFAULT_HASH)
        self._board = fen.parse(fen.START)
        self._rest = ""  # the rest of the line as typed
        self._game: tuple[str, list[str]] | None = None
        self._told: list[str] = []  # what was assumed of its FEN
        self._logged: tuple[str, list[str]] = ("", [])
        self._job: threading.Thread | None = None
        self._stop_job: Callable[[], None] = lambda: None
        self._idle = threading.Event()
        self._idle.set()
        self._faults = 0
        self._deferred: list[Callable[[], None]] = []
        self._limits = Limits(overhead=DEFAULT_OVERHEAD)
        self._book = OwnBook()
        self._threads = 1
        self._shows_wdl = False
        self._debug = False
        self._elo = DEFAULT_ELO
        self._is_limited = False
        self._analyses = False
        self._plays_chess960 = False
        self._commands: dict[str, tuple[Callable[[list[str]], None], str]] = {
            "uci": (self._uci, "identify the engine and list its options"),
            "debug": (self._set_debug, "debug on|off: report unknown words"),
            "isready": (self._isready, "answer readyok, even during a search"),
            "setoption": (self._setoption, "setoption name NAME [value VALUE]"),
            "register": (self._register, "accepted, but there is nothing to register"),
            "ucinewgame": (self._ucinewgame, "forget the last game"),
            "position": (self._position, "position startpos|fen FEN [moves MOVE ...]"),
            "go": (self._go, "go " + " ".join(GO_WORDS)),
            "stop": (self._stop, "end the search and report the best move"),
            "ponderhit": (self._ponderhit, "the expected move was played"),
            "d": (self._show, "show the board, its FEN, key and checkers"),
            "eval": (self._eval, "show the static evaluation, and what each piece is worth to the network"),
            "moves": (self._moves, "list the legal moves with the generator's scores"),
            "flip": (self._flip, "swap the colours"),
            "bench": (
                self._bench,
                "bench [HASH] [THREADS] [LIMIT] [FILE] [KIND]: search fixed positions, or a file's",
            ),
            "perft": (self._perft, "perft DEPTH: count the leaves below each move"),
            "compiler": (self._compiler, "show which build runs on which Python"),
            "license": (self._license, "show the licence"),
            "help": (self._help, "show this list"),
            "quit": (self._quit, "end the search and the program, after finishing a perft or a bench"),
        }
        self._options = {
            "Hash": Option("spin", str(DEFAULT_HASH), self._resize_table, (1, LARGEST)),
            "Clear Hash": Option("button", "", lambda _: self._search.forget()),
            "Threads": Option("spin", "1", self._set_threads, (1, MOST_THREADS)),
            # The GUI decides when to ponder; the option tells it that it may.
            "Ponder": Option("check", "false", lambda _: None),
            "MultiPV": Option("spin", "1", lambda value: self._limit(lines=int(value)), (1, 256)),
            "Move Overhead": Option(
                "spin", str(DEFAULT_OVERHEAD), lambda value: self._limit(overhead=int(value)), (0, 5000)
            ),
            "nodestime": Option("spin", "0", lambda value: self._limit(nodestime=int(value)), (0, 10000)),
            "UCI_ShowWDL": Option("check", "false", self._show_wdl),
            "UCI_LimitStrength": Option("check", "false", self._limit_strength),
            "UCI_Elo": Option("spin", str(DEFAULT_ELO), self._set_elo, (WEAKEST, STRONGEST)),
            "UCI_Chess960": Option("check", "false", self._set_chess960),
            "UCI_AnalyseMode": Option("check", "false", self._set_analysis),
            "SyzygyPath": Option("string", "", self._set_tables),
            "SyzygyProbeDepth": Option(
                "spin", "1", lambda value: self._search.use_tablebases(depth=int(value)), (1, MOST_DEPTH)
            ),
            "SyzygyProbeLimit": Option(
                "spin",
                str(MOST_PIECES),
                lambda value: self._search.use_tablebases(limit=int(value)),
                (0, MOST_PIECES),
            ),
            "Syzygy50MoveRule": Option(
                "check", "true", lambda value: self._search.use_tablebases(heeds_fifty=value == "true")
            ),
            **self._book.options(lambda fault: self._complain(f"setoption: {fault}")),
            "EvalFile": Option("string", "", self._judge_by),
            "UCI_EngineAbout": Option("string", ABOUT, lambda _: None),
            "Debug Log File": Option("string", "", self.start_log),
        }

    def run(self) -> None:
        """Read lines from standard input until `quit` or its end."""
        if self._is_typed:
            print(GREETING, file=sys.stderr, flush=True)
        notice = build.notice()
        if notice:
            self._info(notice)
        # Closed here: an interrupt that came while Python disposes of the generator would be lost.
        with contextlib.closing(input_lines(sys.stdin.buffer)) as lines:
            for raw in lines:
                if not self.execute(text_of(raw)):
                    break
        self.end()

    def end(self, at_once: bool = False) -> None:
        """Stop the search and close the log. Unless `at_once`, a perft or a bench runs to its end first."""
        self._search.stop()
        if at_once:
            self._stop_job()
        self._wait()
        if self._log is not None:
            self._log.close()

    def execute(self, line: str) -> bool:
        """Carry out one line; False after `quit`. Words before a known command are ignored, as UCI asks."""
        if self._log is not None:
            self._log.write("< " + line.rstrip("\r\n"))
        words = line.split()
        for number, word in enumerate(words):
            command = self._commands.get(word)
            if command is not None:
                if number and self._tells_unknown():
                    self._complain(f"ignored: {echo(' '.join(words[:number]))}")
                self._rest = line.split(maxsplit=number + 1)[-1]
                command[0](words[number + 1 :])
                return word != "quit"
        if words and self._tells_unknown():
            self._complain(f"unknown command {echo(' '.join(words))}; help lists the commands")
        return True

    def split(self, words: list[str]) -> list[str]:
        """Split the words of a command line into UCI lines, each beginning with a command; none if the first
        word is not a command.
        """
        lines: list[list[str]] = []
        for word in words:
            first = word.split()[:1]
            belongs = bool(lines) and (lines[-1][0].split()[0], *first) in COMMANDS_AS_WORDS
            if first and first[0] in self._commands and not belongs:
                lines.append([word])
            elif lines:
                lines[-1].append(word)
            else:
                return []
        return [" ".join(line) for line in lines]

    def carry_out(self, lines: list[str]) -> int:
        """Carry out some lines, each to its end; returns how many faults were reported."""
        for line in lines:
            if not self.execute(line):
                break
            self._wait()
        return self._faults

    def _tells_unknown(self) -> bool:
        """Whether unknown words are reported."""
        return self._debug or self._is_typed

    # Commands, in the order of the protocol's description.

    def _uci(self, _words: list[str]) -> None:
        self._write(f"id name Moff {VERSION}{build.label()}")
        self._write(f"id author {AUTHOR}")
        for name, option in self._options.items():
            self._write(option.declare(name))
        self._write("uciok")

    def _set_debug(self, words: list[str]) -> None:
        if words[:1] not in (["on"], ["off"]):
            self._complain(f"debug: expected on or off, not {echo(' '.join(words))}")
            return
        self._debug = words[0] == "on"

    def _isready(self, _words: list[str]) -> None:
        if not self._is_busy():
            self._carry_out_deferred()
        self._write("readyok")

    def _setoption(self, words: list[str]) -> None:
        """An option set during a search takes effect after it."""
        if not words or words[0] != "name":
            self._complain("setoption: expected name, as in setoption name Hash value 64")
            return
        split = words.index("value") if "value" in words else len(words)
        asked = " ".join(words[1:split])
        value = " ".join(words[split + 1 :])
        name = next((name for name in self._options if name.lower() == asked.lower()), None)
        if name is None:
            self._complain(f"setoption: there is no option {echo(asked)}")
            return
        option = self._options[name]
        if value and option.kind == "string":
            # Names of files have spaces.
            value = self._rest.split(maxsplit=split + 1)[-1].strip()
        try:
            value = option.read(name, value)
        except ValueError as error:
            self._complain(f"setoption: {error}")
            return
        self._deferred.append(lambda: option.set(value))
        if not self._is_busy():
            self._carry_out_deferred()

    def _resize_table(self, value: str) -> None:
        try:
            self._search.resize_table(int(value))
        except MemoryError as error:
            self._complain(f"setoption: {error}")

    def _set_threads(self, value: str) -> None:
        self._threads = int(value)
        self._search.resize_pool(self._threads)

    def _limit(
        self, lines: int | None = None, overhead: int | None = None, nodestime: int | None = None
    ) -> None:
        """Set the limits of every search that are options; None keeps the old value."""
        old = self._limits
        self._limits = old._replace(
            lines=old.lines if lines is None else lines,
            overhead=old.overhead if overhead is None else overhead,
            nodestime=old.nodestime if nodestime is None else nodestime,
        )

    def _set_tables(self, value: str) -> None:
        tables = Tablebase(folders_of(value), self._complain)
        self._search.use_tablebases(tables)
        if value:
            results = counted(tables.count(".rtbw"), "WDL table")
            distances = counted(tables.count(".rtbz"), "DTZ table")
            self._info(f"{results} and {distances}")
        for name in tables.missing():
            self._complain(f"{name} is missing")

    def _show_wdl(self, value: str) -> None:
        self._shows_wdl = value == "true"

    def _limit_strength(self, value: str) -> None:
        self._is_limited = value == "true"
        self._set_strength()

    def _set_elo(self, value: str) -> None:
        self._elo = int(value)
        self._set_strength()

    def _set_analysis(self, value: str) -> None:
        self._analyses = value == "true"
        self._set_strength()

    def _set_chess960(self, value: str) -> None:
        self._plays_chess960 = value == "true"
        self._game = None  # the next position is parsed from scratch, even if it continues the game

    def _set_strength(self) -> None:
        """Limit the strength in games, never in analysis."""
        self._search.limit_strength(self._elo if self._is_limited and not self._analyses else None)

    def _judge_by(self, path: str) -> None:
        try:
            self._search.judge_by(path)
        except OSError as error:
            self._complain(f"setoption: EvalFile {echo(path)}: {error.strerror or error}")
        except (ValueError, MemoryError) as error:
            self._complain(f"setoption: EvalFile: {shorten(str(error) or 'not enough memory')}")

    def start_log(self, value: str) -> None:
        """Write a log to the file of that name from now on; none if it is empty."""
        from moff.log import Log

        if self._log is not None:
            self._log.close()
        self._log = Log(value, self._info) if value else None
        self._logged = ("", [])
        if self._log is not None and self._game is not None:
            self._log_game(self._log, *self._game)

    def _register(self, _words: list[str]) -> None:
        self._info("Moff needs no registration")

    def _ucinewgame(self, _words: list[str]) -> None:
        self._finish()
        self._search.new_game()
        self._logged = ("", [])

    def _position(self, words: list[str]) -> None:
        """Set up a position. If anything in the line is wrong, report it and keep the old position."""
        self._finish()
        told: list[str] = []
        split = words.index("moves") if "moves" in words else len(words)
        start, moves = " ".join(words[:split]), words[split + 1 :]
        game = self._game if self._continues(start, moves) else None
        known = len(game[1]) if game else 0
        try:
            if game:
                # The same game goes on: long ones would take milliseconds to play again.
                board, told = self._board.copy(), self._told
            elif words[:1] == ["startpos"] and split == 1:
                board = fen.parse(fen.START)
            elif words[:1] == ["fen"]:
                board = fen.parse(" ".join(words[1:split]), told, self._plays_chess960)
            else:
                raise ValueError("expected startpos or fen FEN, then optionally moves MOVE ...")
            for text in moves[known:]:
                board.make(coordinate.parse(board, text))
        except ValueError as error:
            self._complain(f"position: {shorten(str(error))}")
            return
        if told:
            self._info(f"position: {shorten('; '.join(told))}")
        if not game:
            self._search.forget_lag()
        self._board = board
        self._told = told
        self._game = start, moves
        if self._log is not None:
            self._log_game(self._log, *self._game)

    def _continues(self, start: str, moves: list[str]) -> bool:
        """Whether these moves from this start begin with those of the game."""
        return (
            self._game is not None and start == self._game[0] and moves[: len(self._game[1])] == self._game[1]
        )

    def _log_game(self, log: "Log", start: str, moves: list[str]) -> None:
        """Log what is new in a game: each move, preceded by the moves that were generated."""
        text = fen.START if start == "startpos" else start.removeprefix("fen ")
        board = fen.parse(text, [], self._plays_chess960)
        if self._logged[0] != start or self._logged[1] != moves[: len(self._logged[1])]:
            self._logged = (start, [])
            log.write_moves(board, self._plays_chess960)
        known = len(self._logged[1])
        for number, text in enumerate(moves):
            board.make(coordinate.parse(board, text))
            if number >= known:
                log.write(f"Move: {text}")
                log.write_moves(board, self._plays_chess960)
        self._logged = (start, moves)

    def _go(self, words: list[str]) -> None:
        started = time.perf_counter()
        self._finish()
        if "perft" in words:
            self._perft(words[words.index("perft") + 1 :])
            return
        limits, faults = parse_limits(words, self._board, self._limits, self._tells_unknown())
        if faults:
            more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
            self._complain(f"go: {shorten(faults[0])}{more}")
        if move := self._book_move(limits):
            self._info("book")
            self._bestmove(Result(move, NO_MOVE, 0))
            return
        self._idle.clear()
        self._search.start(
            self._board,
            limits,
            self._report,
            self._bestmove,
            started,
            self._progress,
            self._statistics,
            REPEAT_DELAY,
        )

    def _book_move(self, limits: Limits) -> int:
        """A move of the book, packed, or 0."""
        if self._analyses:
            return 0
        try:
            return self._book.move(self._board, limits)
        except ValueError as error:
            self._complain(f"go: {shorten(str(error))}")
            return 0

    def _stop(self, _words: list[str]) -> None:
        self._search.stop()
        self._stop_job()

    def _ponderhit(self, _words: list[str]) -> None:
        if self._search.is_running():
            self._search.ponderhit()

    def _quit(self, _words: list[str]) -> None:
        """`execute` tells its caller."""

    # Commands for people.

    def _show(self, _words: list[str]) -> None:
        from x88 import diagram

        self._write("\n".join(diagram.draw_grid(self._board)))
        self._write(f"Fen: {fen.write(self._board)}")
        self._write(f"Key: {self._board.key:016x}")
        checkers = " ".join(square.name(sq) for sq in attack.checkers(self._board))
        self._write(f"Checkers: {checkers}".rstrip())

    def _eval(self, _words: list[str]) -> None:
        from moff import evaluation
        from x88 import diagram

        weights = self._search.weights()
        self._write("\n".join(evaluation.table(self._board, diagram.Style(ascii=True), weights)))
        score = evaluation.evaluate(self._board, weights) * (1 if self._board.side == WHITE else -1)
        self._write(f"Final evaluation       {score / 100:+.2f} (white side)\n")

    def _moves(self, _words: list[str]) -> None:
        for move, score in scored_moves(self._board):
            self._write(f"{score:6}  {self._text(move)}")

    def _flip(self, _words: list[str]) -> None:
        self._finish()
        self._board = fen.mirrored(self._board)
        self._game = None

    def _bench(self, words: list[str]) -> None:
        from moff.bench_line import parse_bench, read_positions
        from search import benchmark

        self._finish()
        try:
            settings, file = parse_bench(words)
            settings = settings._replace(positions=read_positions(file))
            bench = benchmark.Bench(settings)
        except (ValueError, MemoryError) as error:
            self._complain(f"bench: {error}")
            return

        known = "before the first position was done"

        def progress(done: int, nodes: int) -> None:
            nonlocal known
            known = f"after {counted(done, 'position')}, {nodes} nodes"
            self._info(f"position {done}/{len(settings.positions)}: {nodes} nodes so far")

        def run() -> None:
            total = bench.run(progress)
            if total is None:
                self._info(f"bench stopped {known}")
            else:
                self._write(total.table())
                self._write(total.summary())

        self._info(settings.heading())
        self._start_job(run, bench.stop)

    def _perft(self, words: list[str]) -> None:
        from x88.divide import DEEPEST, DividedPerft

        self._finish()
        try:
            depth = whole_number("the depth", words[0] if words else "", 1, DEEPEST)
        except ValueError as error:
            self._complain(f"perft: {error}")
            return
        count = DividedPerft(self._board, depth, threads=self._threads)
        self._start_job(lambda: self._run_perft(count), count.stop)

    def _start_job(self, run: Callable[[], None], stop: Callable[[], None]) -> None:
        """Run a long job in parallel with the conversation; `stop` ends it."""

        def run_to_the_end() -> None:
            try:
                run()
            finally:
                self._stop_job = lambda: None  # it keeps what has run, with its tables
                self._idle.set()

        self._stop_job = stop
        self._idle.clear()
        job = threading.Thread(target=run_to_the_end, daemon=True)
        try:
            job.start()
        except RuntimeError as error:
            self._complain(str(error))
            self._stop_job = lambda: None
            self._idle.set()
            return
        self._job = job

    def _run_perft(self, count: "DividedPerft") -> None:
        """The leaves below each move, and their sum, until stopped."""
        started = time.perf_counter()
        for move, leaves in count.run():
            self._write(f"{self._text(move)}: {leaves}")
        if count.is_stopped:
            self._info(f"perft stopped after {counted(count.leaves, 'node')}")
            return
        seconds = time.perf_counter() - started
        self._write("")
        self._write(f"Nodes searched: {count.leaves}")
        self._info(perft_speed(count.leaves, seconds))

    def _compiler(self, _words: list[str]) -> None:
        import platform

        from search import inference

        how = "compiled to C by Cython" if build.compiled else "uncompiled"
        self._info(
            f"Moff {VERSION}, {how}, on {platform.python_implementation()} {platform.python_version()}"
        )
        network = self._search.weights()
        size = f"{network.hidden} hidden neurons for each perspective"
        self._info(f"network of {size}, with {inference.instructions()}")
        self._info(f"{platform.system()}, Python built by {platform.python_compiler()}")

    def _license(self, _words: list[str]) -> None:
        self._info("MIT licence: use, change and pass Moff on freely, with its licence text; no warranty")

    def _help(self, _words: list[str]) -> None:
        for name, (_, text) in self._commands.items():
            self._info(f"{name:10} {text}")

    # Reports of the search.

    def _report(self, report: Report) -> None:
        score = f"cp {report.score}" if report.mate is None else f"mate {report.mate}"
        if report.bound:
            score += f" {report.bound}bound"
        if self._shows_wdl:
            score += " wdl " + " ".join(map(str, wdl.chances(report.score)))
        line = (
            f"info depth {report.depth} seldepth {report.seldepth} multipv {report.line} score {score} "
            f"nodes {report.nodes} nps {int(report.nodes * 1000 / max(report.elapsed, 1))} "
            f"hashfull {report.hashfull} tbhits {report.tb_hits} time {int(report.elapsed)}"
        )
        if report.pv:
            line += " pv " + " ".join(self._text(move) for move in report.pv)
        self._write(line)

    def _progress(self, progress: Progress) -> None:
        move = self._text(progress.move)
        self._write(f"info depth {progress.depth} currmove {move} currmovenumber {progress.number}")

    def _statistics(self, counts: Statistics) -> None:
        self._write(
            f"info depth {counts.depth} seldepth {counts.seldepth} nodes {counts.nodes} "
            f"nps {int(counts.nodes * 1000 / max(counts.elapsed, 1))} hashfull {counts.hashfull} "
            f"tbhits {counts.tb_hits} time {int(counts.elapsed)}"
        )

    def _bestmove(self, result: Result) -> None:
        line = f"bestmove {self._text(result.move) if result.move else '(none)'}"
        if result.reply:
            line += f" ponder {self._text(result.reply)}"
        self._write(line)
        self._idle.set()

    def _text(self, move: int) -> str:
        """A move in the GUI's notation."""
        return coordinate.write(move, self._plays_chess960)

    def _complain(self, text: str) -> None:
        """Report a fault of the input."""
        self._faults += 1
        self._info(text)

    def _info(self, text: str) -> None:
        self._write(f"info string {text}")

    def _write(self, text: str) -> None:
        with self._writing:  # the log has the lines in the order of the output
            if self._log is not None:
                self._log.write("> " + text)
            self._output(text)

    # Housekeeping.

    def _is_busy(self) -> bool:
        return self._search.is_running() or (self._job is not None and self._job.is_alive())

    def _finish(self) -> None:
        """Stop what runs, and wait until it has ended; then carry out what was deferred."""
        self._stop([])
        self._wait()

    def _wait(self) -> None:
        """Wait until nothing runs any more, then carry out what was deferred."""
        # With a timeout, or no signal would come through on Windows.
        while self._is_busy() and not self._idle.wait(0.1):
            pass
        if self._job is not None:
            self._job.join()
            self._job = None
            self._stop_job = lambda: None
        self._carry_out_deferred()

    def _carry_out_deferred(self) -> None:
        self._search.wait()
        deferred, self._deferred = self._deferred, []
        for action in deferred:
            action()


def _print(line: str) -> None:
    """Write a line of output and flush it."""
    try:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    except OSError as error:
        # Nobody reads the output any more, and a search may be running: there is nothing left to do.
        os._exit(0 if isinstance(error, BrokenPipeError) else 1)


def main() -> int:
    """The `moff` command: UCI without arguments. Returns the exit code: 0 done, 1 faulty input, 130
    interrupted; wrong usage exits with 2.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A message quotes its input and names of files, which the encoding may not know.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = _run(sys.argv[1:])
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except BrokenPipeError:
        _give_up_output()
        return 0
    except OSError as error:
        if error.filename is not None:
            raise
        print(f"standard output: {error.strerror}", file=sys.stderr)
        _give_up_output()
        return 1
    except KeyboardInterrupt:
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            _give_up_output()
        return INTERRUPTED


def _run(arguments: list[str]) -> int:
    """Carry out a command line."""
    if not arguments:
        _converse()
        return 0
    from moff import commands  # a GUI, which gives no arguments, need not wait for it

    if arguments[0] in commands.NAMES or arguments[0].startswith("-"):
        as_usual()
        return commands.run(arguments, _converse)
    engine = Engine(is_typed=True)
    lines = engine.split(arguments)
    if not lines:
        return commands.run(arguments, _converse)
    commands.tell_build()
    faults = 0
    with _ended_by_signals(engine):
        faults = engine.carry_out(lines)
        engine.end()
    return 1 if faults else 0


def _converse(log: str = "") -> None:
    """Speak UCI until the end of input or a signal to end, with a log if there is a file for it."""
    if sys.stdin is None or sys.stdout is None:
        return  # there is nobody to talk to
    engine = Engine(is_typed=sys.stdin.isatty() and sys.stdout.isatty())
    with _ended_by_signals(engine):
        if log:
            engine.start_log(log)
        engine.run()


@contextlib.contextmanager
def _ended_by_signals(engine: Engine) -> Iterator[None]:
    """Stop what the engine does on SIGINT or SIGTERM. Raises KeyboardInterrupt after an interrupt from the
    keyboard.
    """
    came = 0

    def interrupt(number: int, _frame: object) -> None:
        nonlocal came
        came = number
        signal.signal(number, signal.SIG_IGN)  # once is enough
        raise KeyboardInterrupt

    for number in NUMBERS:
        signal.signal(number, interrupt)
    try:
        yield
    except KeyboardInterrupt:
        leave_if_unread(came)
        if came == signal.SIGINT and sys.stderr.isatty():
            print(file=sys.stderr, flush=True)  # the terminal has echoed ^C
        engine.end(at_once=True)
        if came == signal.SIGINT:
            raise


def _give_up_output() -> None:
    """Nobody reads our output any more: redirect it, or the interpreter complains on exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
