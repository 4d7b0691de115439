"""The UCI conversation on standard input and output."""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from moff import __version__ as VERSION
from moff.messages import counted, echo, shorten, whole_number
from moff.uci import info
from moff.uci.go import GO_WORDS, parse_limits
from moff.uci.options import AUTHOR, DEFAULT_HASH, Options
from moff.uci.stdin import input_lines, text_of
from search.limits import Limits
from search.line import Progress, Report, Result, Statistics
from search.search import Search
from x88 import attack, build, square
from x88.move import NO_MOVE
from x88.movegen import scored_moves
from x88.notation import coordinate, fen
from x88.piece import WHITE

if TYPE_CHECKING:
    from moff.log import Log

REPEAT_DELAY = 50
"""Milliseconds between equal reports: once a mate is found, iterations are so fast that they swamp GUIs."""
COMMANDS_AS_WORDS = (("go", "perft"), ("position", "moves"))
"""A command, and the argument of it that is also the name of a command."""
GREETING = (
    f"Moff {VERSION} speaks UCI: type help for its commands, quit to leave. Run moff board for a board."
)


class Engine:
    """The UCI conversation. Lines are answered at once; a search runs and reports in its own thread."""

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
        self._warnings: list[str] = []  # what was assumed of its FEN
        self._logged: tuple[str, list[str]] = ("", [])
        self._job: threading.Thread | None = None
        self._stop_job: Callable[[], None] = lambda: None
        self._idle = threading.Event()
        self._idle.set()
        self.faults = 0
        """The number of faults of the input, which have been reported."""
        self._deferred: list[Callable[[], None]] = []
        self._debug = False
        self._options = Options(
            self._search, self._info, self._complain_of_option, self.start_log, self._forget_game
        )
        self._commands: dict[str, tuple[Callable[[list[str]], None], str]] = {
            "uci": (self._uci, "identify the engine and list its options"),
            "debug": (self._set_debug, "debug on|off: report unknown words"),
            "isready": (self._isready, "answer readyok, even during a search"),
            "setoption": (self._setoption, "setoption name NAME [value VALUE]"),
            "register": (self._register, "register ...: accepted, but there is nothing to register"),
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
                rest = words[number + 1 :]
                run, usage = command
                if rest and not usage.startswith(f"{word} ") and self._tells_unknown():
                    self._complain(f"{word}: unknown word {echo(rest[0])}")
                try:
                    run(rest)
                except ImportError as error:  # Moff was installed anew
                    self._complain(f"{word}: {error}")
                return word != "quit"
        if words and self._tells_unknown():
            self._complain(f"unknown command {echo(' '.join(words))}; help lists the commands")
        return True

    def split(self, words: list[str]) -> list[str]:
        """Split the words of a command line into UCI lines; none if the first word is not a command."""
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

    def carry_out(self, lines: list[str]) -> None:
        """Carry out some lines, each to its end."""
        for line in lines:
            if not self.execute(line):
                break
            self._wait()

    def _tells_unknown(self) -> bool:
        """Whether unknown words are reported."""
        return self._debug or self._is_typed

    # Commands, in the order of the protocol's description.

    def _uci(self, _words: list[str]) -> None:
        self._write(f"id name Moff {VERSION}{build.label()}")
        self._write(f"id author {AUTHOR}")
        for line in self._options.declare():
            self._write(line)
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
        try:
            change = self._options.read(words, self._rest)
        except ValueError as error:
            self._complain_of_option(str(error))
            return
        self._deferred.append(change)
        if not self._is_busy():
            self._carry_out_deferred()

    def _forget_game(self) -> None:
        self._game = None

    def start_log(self, value: str, option: str = "setoption: Debug Log File") -> None:
        """Write a log to the file of that name from now on; none if it is empty. `option` begins a fault."""
        from moff.log import Log

        if self._log is not None:
            self._log.close()
        self._log = Log(value, lambda text: self._complain(f"{option} {text}")) if value else None
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
        warnings: list[str] = []
        split = words.index("moves") if "moves" in words else len(words)
        start, moves = " ".join(words[:split]), words[split + 1 :]
        game = self._game if self._continues(start, moves) else None
        known = len(game[1]) if game else 0
        try:
            if game:
                # The same game goes on: long ones would take milliseconds to play again.
                board, warnings = self._board.copy(), self._warnings
            elif words[:1] == ["startpos"] and split == 1:
                board = fen.parse(fen.START)
            elif words[:1] == ["fen"]:
                board = fen.parse(" ".join(words[1:split]), warnings, self._options.plays_chess960)
            else:
                raise ValueError("expected startpos or fen FEN, then optionally moves MOVE ...")
            for text in moves[known:]:
                board.make(coordinate.parse(board, text))
        except ValueError as error:
            self._complain(f"position: {shorten(str(error))}")
            return
        if warnings:
            self._info(f"position: {shorten('; '.join(warnings))}")
        if not game:
            self._search.forget_lag()
        self._board = board
        self._warnings = warnings
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
        board = fen.parse(text, [], self._options.plays_chess960)
        if self._logged[0] != start or self._logged[1] != moves[: len(self._logged[1])]:
            self._logged = (start, [])
            log.write_moves(board, self._options.plays_chess960)
        known = len(self._logged[1])
        for number, text in enumerate(moves):
            board.make(coordinate.parse(board, text))
            if number >= known:
                log.write(f"Move: {text}")
                log.write_moves(board, self._options.plays_chess960)
        self._logged = (start, moves)

    def _go(self, words: list[str]) -> None:
        started = time.perf_counter()
        self._finish()
        if "perft" in words:
            self._perft(words[words.index("perft") + 1 :])
            return
        limits, faults = parse_limits(words, self._board, self._options.limits, self._tells_unknown())
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
        if self._options.analyses:
            return 0
        try:
            return self._options.book.move(self._board, limits)
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
        from x88.notation import diagram

        self._write("\n".join(diagram.draw_grid(self._board)))
        self._write(f"Fen: {fen.write(self._board)}")
        self._write(f"Key: {self._board.key:016x}")
        checkers = " ".join(square.name(sq) for sq in attack.checkers(self._board))
        self._write(f"Checkers: {checkers}".rstrip())

    def _eval(self, _words: list[str]) -> None:
        from moff import evaluation
        from x88.notation import diagram

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
        from moff.bench import BenchRun, parse_bench

        self._finish()
        try:
            bench = BenchRun(*parse_bench(words))
        except (ValueError, MemoryError) as error:
            self._complain(f"bench: {error}")
            return

        def run() -> None:
            total = bench.run(self._info)
            if total is not None:
                self._write(total.table())
                self._write(total.summary())
            elif bench.done:
                self._info(f"bench stopped after {counted(bench.done, 'position')}, {bench.nodes} nodes")
            else:
                self._info("bench stopped before the first position was done")

        self._start_job(run, bench.stop)

    def _perft(self, words: list[str]) -> None:
        from moff.bench import PerftRun
        from x88.perft.divide import DEEPEST, DividedPerft

        self._finish()
        try:
            depth = whole_number("the depth", words[0] if words else "", 1, DEEPEST)
        except ValueError as error:
            self._complain(f"perft: {error}")
            return
        count = DividedPerft(self._board, depth, threads=self._options.threads)
        perft = PerftRun(count)
        chess960 = self._options.plays_chess960

        def run() -> None:
            perft.run(self._write, chess960)
            if count.is_stopped:
                self._info(f"perft stopped after {counted(count.leaves, 'node')}")
                return
            self._write("")
            self._write(f"Nodes searched: {count.leaves}")
            self._info(perft.speed())

        self._start_job(run, count.stop)

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

    def _compiler(self, _words: list[str]) -> None:
        import platform

        from search.nnue import select

        how = "compiled to C by Cython" if build.compiled else "uncompiled"
        self._info(
            f"Moff {VERSION}, {how}, on {platform.python_implementation()} {platform.python_version()}"
        )
        network = self._search.weights()
        size = f"{network.hidden} hidden neurons for each perspective"
        self._info(f"network of {size}, with {select.instructions()}")
        self._info(f"{platform.system()}, Python built by {platform.python_compiler()}")

    def _license(self, _words: list[str]) -> None:
        self._info("MIT licence: use, change and pass Moff on freely, with its licence text; no warranty")

    def _help(self, _words: list[str]) -> None:
        for name, (_, text) in self._commands.items():
            self._info(f"{name:10} {text}")

    # Reports of the search.

    def _report(self, report: Report) -> None:
        self._write(info.write_report(report, self._options.shows_wdl, self._options.plays_chess960))

    def _progress(self, progress: Progress) -> None:
        self._write(info.write_progress(progress, self._options.plays_chess960))

    def _statistics(self, counts: Statistics) -> None:
        self._write(info.write_statistics(counts))

    def _bestmove(self, result: Result) -> None:
        self._write(info.write_bestmove(result, self._options.plays_chess960))
        self._idle.set()

    def _text(self, move: int) -> str:
        """A move in the GUI's notation."""
        return coordinate.write(move, self._options.plays_chess960)

    def _complain(self, text: str) -> None:
        """Report a fault of the input."""
        self.faults += 1
        self._info(text)

    def _complain_of_option(self, text: str) -> None:
        self._complain(f"setoption: {text}")

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
        if isinstance(error, BrokenPipeError):
            os._exit(0)
        print(f"standard output: {error.strerror}", file=sys.stderr)
        os._exit(1)
