"""Moff's face to the world: UCI on standard input and output, and the command line. Decides nothing about
chess.
"""

import contextlib
import io
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TextIO

from search import endgame, evaluate, wdl
from search.limits import Limits
from search.search import Progress, Report, Result, Search
from search.strength import STRONGEST, WEAKEST
from search.table import LARGEST
from x88 import attack, build, coordinate, diagram, fen, pgn, san, square
from x88.board import Board
from x88.diagram import SIDES, Style
from x88.game import RESULT_OF_WINNER, OngoingGame
from x88.movegen import legal_moves, scored_moves
from x88.perft import leaves_under
from x88.piece import BLACK, WHITE

if TYPE_CHECKING:
    import argparse

VERSION = "0.1.0"
AUTHOR = "the Moff authors"

DEFAULT_HASH = 16
DEFAULT_ELO = 1500
USUAL_PACE = "120+1"
HINT_TIME = 1000
GAMES_FILE = "moff.pgn"
LOG_FILE = "moff.log"
ABOUT = f"Moff {VERSION} by {AUTHOR}: plain Python on a 0x88 board, compiled"
GO_WORDS = (
    "searchmoves",
    "ponder",
    "wtime",
    "btime",
    "winc",
    "binc",
    "movestogo",
    "depth",
    "nodes",
    "mate",
    "movetime",
    "infinite",
    "perft",
)
LONGEST_ECHO = 120
LARGEST_NUMBER = 10**15
DEEPEST_PERFT = 64


class Option(NamedTuple):
    """An option as UCI declares it. `set` takes the value, of the right type and within its bounds; None for
    a button.
    """

    kind: str
    default: str
    set: Callable[[str], None]
    bounds: tuple[int, int] = (0, 0)

    def declare(self, name: str) -> str:
        """The line that tells a GUI of it."""
        line = f"option name {name} type {self.kind}"
        if self.kind != "button":
            line += f" default {self.default or '<empty>'}"
        if self.kind == "spin":
            line += f" min {self.bounds[0]} max {self.bounds[1]}"
        return line

    def read(self, name: str, value: str) -> str:
        """The value in its normal form. Raises ValueError naming it."""
        if self.kind == "spin":
            return str(_number(name, value, *self.bounds))
        if self.kind == "check":
            if value.lower() not in ("true", "false"):
                raise ValueError(f"{name} takes true or false, not {_echo(value)}")
            return value.lower()
        return "" if value == "<empty>" else value


class Engine:
    """The UCI conversation. Every line in is answered at once; a search runs beside it and reports when it
    has news.
    """

    def __init__(self, write: Callable[[str], object] | None = None, log: "Log | None" = None) -> None:
        """`write` takes each line of output, without its end; standard output if None."""
        self._output = write or _print
        self._log = log or Log(None)
        self._search = Search(DEFAULT_HASH)
        self._board = fen.parse(fen.START)
        self._rest = ""  # of the line, behind its command, as it was typed
        self._game: tuple[str, list[str]] | None = None
        self._logged: tuple[str, list[str]] = ("", [])
        self._job: threading.Thread | None = None
        self._job_stopped = threading.Event()
        self._stop_job: Callable[[], None] = lambda: None
        self._deferred: list[Callable[[], None]] = []
        self._limits = Limits()
        self._shows_wdl = False
        self._debug = False
        self._elo = DEFAULT_ELO
        self._is_limited = False
        self._analyses = False
        self._commands: dict[str, tuple[Callable[[list[str]], None], str]] = {
            "uci": (self._uci, "name the engine and its options"),
            "debug": (self._set_debug, "debug on|off: say which words are passed over"),
            "isready": (self._isready, "answer readyok, also during a search"),
            "setoption": (self._setoption, "setoption name NAME [value VALUE]"),
            "register": (self._register, "nothing to register"),
            "ucinewgame": (self._ucinewgame, "forget the last game"),
            "position": (self._position, "position startpos|fen FEN [moves MOVE ...]"),
            "go": (self._go, "go " + " ".join(GO_WORDS)),
            "stop": (self._stop, "end the search and play"),
            "ponderhit": (self._ponderhit, "the expected move was played"),
            "d": (self._show, "the board, its FEN, key and checkers"),
            "eval": (self._eval, "the static evaluation, term by term"),
            "moves": (self._moves, "the legal moves with the generator's scores"),
            "flip": (self._flip, "exchange the colours"),
            "bench": (self._bench, "bench [DEPTH]: search fixed positions"),
            "perft": (self._perft, "perft DEPTH: count the leaves under each move"),
            "compiler": (self._compiler, "what runs here"),
            "license": (self._license, "what you may do with Moff"),
            "help": (self._help, "this list"),
            "quit": (self._stop, "end the program"),
        }
        self._options = {
            "Hash": Option("spin", str(DEFAULT_HASH), self._resize_table, (1, LARGEST)),
            "Clear Hash": Option("button", "", lambda _: self._search.forget()),
            "Threads": Option("spin", "1", lambda _: None, (1, 1)),
            # That it may ponder is for the GUI: it says when.
            "Ponder": Option("check", "false", lambda _: None),
            "MultiPV": Option("spin", "1", lambda value: self._limit(lines=int(value)), (1, 256)),
            "Move Overhead": Option("spin", "20", lambda value: self._limit(overhead=int(value)), (0, 5000)),
            "nodestime": Option("spin", "0", lambda value: self._limit(nodestime=int(value)), (0, 10000)),
            "UCI_ShowWDL": Option("check", "false", self._show_wdl),
            "UCI_LimitStrength": Option("check", "false", self._limit_strength),
            "UCI_Elo": Option("spin", str(DEFAULT_ELO), self._set_elo, (WEAKEST, STRONGEST)),
            "UCI_AnalyseMode": Option("check", "false", self._set_analysis),
            "UCI_EngineAbout": Option("string", ABOUT, lambda _: None),
            "Debug Log File": Option("string", "", self._start_log),
        }

    def run(self) -> None:
        """Read lines from standard input until `quit` or its end."""
        notice = build.notice()
        if notice:
            self._info(notice)
        for raw in sys.stdin.buffer:
            # Some write a byte order mark first.
            if not self.execute(raw.decode("utf-8", "replace").removeprefix("\ufeff")):
                break
        self.end()

    def end(self) -> None:
        """End what runs, and the log."""
        self._finish()
        self._log.close()

    def execute(self, line: str) -> bool:
        """Carry out one line; False after `quit`. As UCI asks, words before a known command are passed
        over.
        """
        self._log.write("< " + line.rstrip("\r\n"))
        words = line.split()
        for number, word in enumerate(words):
            command = self._commands.get(word)
            if command is not None:
                if number and self._debug:
                    self._info(f"passed over: {_echo(' '.join(words[:number]))}")
                self._rest = line.split(maxsplit=number + 1)[-1]
                command[0](words[number + 1 :])
                return word != "quit"
        if words and self._debug:
            self._info(f"passed over: {_echo(' '.join(words))}")
        return True

    # Commands, in the order of the protocol's description.

    def _uci(self, _words: list[str]) -> None:
        self._write(f"id name Moff {VERSION}{build.label()}")
        self._write(f"id author {AUTHOR}")
        for name, option in self._options.items():
            self._write(option.declare(name))
        self._write("uciok")

    def _set_debug(self, words: list[str]) -> None:
        if words[:1] not in (["on"], ["off"]):
            self._info(f"debug: it is on or off, not {_echo(' '.join(words))}")
            return
        self._debug = words[0] == "on"

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
        asked = " ".join(words[1:split])
        value = " ".join(words[split + 1 :])
        name = next((name for name in self._options if name.lower() == asked.lower()), None)
        if name is None:
            self._info(f"setoption: there is no option {_echo(asked)}")
            return
        option = self._options[name]
        if value and option.kind == "string":
            # Names of files have spaces.
            value = self._rest.split(maxsplit=split + 1)[-1].strip()
        try:
            value = option.read(name, value)
        except ValueError as error:
            self._info(f"setoption: {error}")
            return
        self._deferred.append(lambda: option.set(value))
        if not self._is_busy():
            self._carry_out_deferred()

    def _resize_table(self, value: str) -> None:
        try:
            self._search.resize_table(int(value))
        except MemoryError as error:
            self._info(f"setoption: {error}")

    def _limit(
        self, lines: int | None = None, overhead: int | None = None, nodestime: int | None = None
    ) -> None:
        """Set what options say of every search; None leaves as it is."""
        old = self._limits
        self._limits = old._replace(
            lines=old.lines if lines is None else lines,
            overhead=old.overhead if overhead is None else overhead,
            nodestime=old.nodestime if nodestime is None else nodestime,
        )

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

    def _set_strength(self) -> None:
        """A weaker player is asked for to play against, not for his analysis."""
        self._search.limit_strength(self._elo if self._is_limited and not self._analyses else None)

    def _start_log(self, value: str) -> None:
        self._log.close()
        self._log = Log(value or None, self._info)
        self._logged = ("", [])
        if self._log.is_open() and self._game is not None:
            self._log_game(*self._game)

    def _register(self, _words: list[str]) -> None:
        self._info("Moff needs no registration")

    def _ucinewgame(self, _words: list[str]) -> None:
        self._finish()
        self._search.new_game()
        self._logged = ("", [])

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
        self._game = " ".join(words[:split]), words[split + 1 :]
        if self._log.is_open():
            self._log_game(*self._game)

    def _log_game(self, start: str, moves: list[str]) -> None:
        """Log what is new in a game: before every move the moves that were generated."""
        board = fen.parse(fen.START if start == "startpos" else start.removeprefix("fen "))
        if self._logged[0] != start or self._logged[1] != moves[: len(self._logged[1])]:
            self._logged = (start, [])
            self._log.write_moves(board)
        known = len(self._logged[1])
        for number, text in enumerate(moves):
            board.forget()
            board.make(coordinate.parse(board, text))
            if number >= known:
                self._log.write(f"Move: {text}")
                self._log.write_moves(board)
        self._logged = (start, moves)

    def _go(self, words: list[str]) -> None:
        started = time.perf_counter()
        self._finish()
        if "perft" in words:
            self._perft(words[words.index("perft") + 1 :])
            return
        limits, faults = self._parse_limits(words)
        if faults:
            more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
            self._info(f"go: {_shorten(faults[0])}{more}")
        self._search.start(self._board, limits, self._report, self._bestmove, started, self._progress)

    def _parse_limits(self, words: list[str]) -> tuple[Limits, list[str]]:
        """The limits of a `go` line, in any order, and what is wrong with it. Whoever asks for a move waits
        for one: unknown words are passed over, numbers out of range are taken for the nearest, and where no
        limit is left of those that were meant, the move comes at once.
        """
        found: dict[str, int] = {}
        flags = set()
        moves: list[int] = []
        faults: list[str] = []
        lost = False
        at = 0
        while at < len(words):
            word = words[at]
            at += 1
            if word in ("infinite", "ponder"):
                flags.add(word)
            elif word == "searchmoves":
                while at < len(words) and words[at] not in GO_WORDS:
                    try:
                        moves.append(coordinate.parse(self._board, words[at]))
                    except ValueError as error:
                        faults.append(str(error))
                    at += 1
            elif word in GO_WORDS:
                text = words[at] if at < len(words) and words[at] not in GO_WORDS else ""
                at += bool(text)
                # A clock may be overdrawn: GUIs send negative times inside their margin.
                least = -LARGEST_NUMBER if word in ("wtime", "btime", "winc", "binc", "movetime") else 0
                value, fault = _nearest_number(word, text, least)
                if value is not None:
                    found[word] = value
                if fault:
                    faults.append(fault)
                    lost = lost or value is None
        for word in {"depth", "nodes", "mate", "movetime"} & found.keys():
            # None at all still asks for a move.
            found[word] = max(1, found[word])
        is_unlimited = not (flags or found.keys() - {"movestogo"})
        if is_unlimited and lost:
            found["depth"] = 1
        limits = self._limits._replace(
            depth=found.get("depth"),
            nodes=found.get("nodes"),
            mate=found.get("mate"),
            movetime=found.get("movetime"),
            time=(found.get("wtime"), found.get("btime")),
            increment=(max(0, found.get("winc", 0)), max(0, found.get("binc", 0))),
            movestogo=found.get("movestogo") or None,
            infinite="infinite" in flags or (is_unlimited and "depth" not in found),
            ponder="ponder" in flags,
            searchmoves=tuple(moves),
        )
        return limits, faults

    def _stop(self, _words: list[str]) -> None:
        self._search.stop()
        self._job_stopped.set()
        self._stop_job()

    def _ponderhit(self, _words: list[str]) -> None:
        self._search.ponderhit()

    # Commands for people.

    def _show(self, _words: list[str]) -> None:
        self._write("\n".join(diagram.draw(self._board, Style(ascii=True))))
        self._write(f"FEN: {fen.write(self._board)}")
        self._write(f"Key: {self._board.key:016x}")
        checkers = " ".join(square.name(sq) for sq in attack.checkers(self._board))
        self._write(f"Checkers: {checkers}".rstrip())

    def _eval(self, _words: list[str]) -> None:
        self._write("\n".join(_evaluation_lines(self._board)))

    def _moves(self, _words: list[str]) -> None:
        for move, score in scored_moves(self._board):
            self._write(f"{score:6}  {coordinate.write(move)}")

    def _flip(self, _words: list[str]) -> None:
        self._finish()
        self._board = fen.mirrored(self._board)

    def _bench(self, words: list[str]) -> None:
        from search import benchmark

        self._finish()
        try:
            depth = _number("bench", words[0], 1) if words else benchmark.DEPTH
        except ValueError as error:
            self._info(f"bench: {error}")
            return

        def progress(done: int, nodes: int) -> None:
            self._info(f"position {done}/{len(benchmark.POSITIONS)}: {nodes} nodes so far")

        def run() -> None:
            total = bench.run(depth, progress)
            self._write(f"{total.nodes} nodes {total.speed} nps" if total else "info string bench stopped")

        self._info(benchmark.heading(depth))
        bench = benchmark.Bench()
        self._start_job(run, bench.stop)

    def _perft(self, words: list[str]) -> None:
        self._finish()
        try:
            depth = _number("perft", words[0] if words else "", 1, DEEPEST_PERFT)
        except ValueError as error:
            self._info(f"go: {error}")
            return
        board = self._board.copy()
        self._start_job(lambda: self._run_perft(board, depth), lambda: None)

    def _start_job(self, run: Callable[[], None], stop: Callable[[], None]) -> None:
        """Run something long beside the conversation, which `stop` has end."""
        self._job_stopped.clear()
        self._stop_job = stop
        self._job = threading.Thread(target=run, daemon=True)
        self._job.start()

    def _run_perft(self, board: Board, depth: int) -> None:
        """The leaves under each move, and their sum, until stopped."""
        started = time.perf_counter()
        total = 0
        for move in legal_moves(board):
            leaves = self._leaves_under(board, move, depth)
            if self._job_stopped.is_set():
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
            if self._job_stopped.is_set():
                break
            total += self._leaves_under(board, reply, depth - 1)
        board.unmake()
        return total

    def _compiler(self, _words: list[str]) -> None:
        import platform

        how = "compiled to C by Cython" if build.compiled else "uncompiled"
        self._info(
            f"Moff {VERSION}, {how}, on {platform.python_implementation()} {platform.python_version()}"
        )
        self._info(f"{platform.system()}, Python built by {platform.python_compiler()}")

    def _license(self, _words: list[str]) -> None:
        self._info("MIT licence: use, change and pass Moff on as you like, without warranty")

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
            f"hashfull {report.hashfull} tbhits 0 time {int(report.elapsed)}"
        )
        if report.pv:
            line += " pv " + " ".join(coordinate.write(move) for move in report.pv)
        self._write(line)

    def _progress(self, progress: Progress) -> None:
        move = coordinate.write(progress.move)
        self._write(f"info depth {progress.depth} currmove {move} currmovenumber {progress.number}")

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

    def _write(self, text: str) -> None:
        self._log.write("> " + text)
        self._output(text)

    # Housekeeping.

    def _is_busy(self) -> bool:
        return self._search.is_running() or (self._job is not None and self._job.is_alive())

    def _finish(self) -> None:
        """End what runs and wait for its last line, then carry out what waited for that."""
        self._stop([])
        self._search.wait()
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


_output = threading.Lock()


def _print(line: str) -> None:
    """Write a line of output whole and at once; two threads do so."""
    with _output:
        try:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
        except OSError as error:
            # Nobody reads any more, and a search may be running: there is nothing left to do.
            os._exit(0 if isinstance(error, BrokenPipeError) else 1)


def _echo(text: str) -> str:
    return _shorten(repr(text))


def _shorten(text: str) -> str:
    """A message that quotes its input stays readable when the input is not."""
    return text if len(text) <= 4 * LONGEST_ECHO else f"{text[:LONGEST_ECHO]} ... {text[-2 * LONGEST_ECHO :]}"


def _number(name: str, text: str, least: int, most: int = LARGEST_NUMBER) -> int:
    """The value of a limit or an option. Raises ValueError naming both."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 16 and least <= int(text) <= most):
        raise ValueError(f"{name} takes a whole number from {least} to {most}, not {_echo(text)}")
    return int(text)


def _nearest_number(name: str, text: str, least: int) -> tuple[int | None, str]:
    """The value of a limit, or the nearest that it may have, or None if the text is no number; and what is
    wrong with it, if anything is. More than any clock or count comes to is as good as the most.
    """
    number = re.fullmatch(r"(-?[0-9]+)(\.[0-9]*)?", text)
    whole = number[1] if number else ""
    value = None
    if number:
        # Python converts only so many digits.
        value = int(whole) if len(whole) <= 40 else LARGEST_NUMBER * (-1) ** (whole[0] == "-")
    if value is not None and value >= least and whole == text:
        return min(value, LARGEST_NUMBER), ""
    fault = f"{name} takes a whole number from {least} to {LARGEST_NUMBER}, not {_echo(text)}"
    return value if value is None else max(least, min(value, LARGEST_NUMBER)), fault


def _perft_summary(nodes: int, seconds: float) -> str:
    return f"{nodes} nodes {seconds:.3f} s {int(nodes / max(seconds, 1e-9))} nodes/s"


# The console player.


class Log:
    """A log file with times, after LaMoSca 0.02: what was said, and the generated moves before every move.

    A file that cannot be written is reported once, and work goes on.
    """

    def __init__(self, path: str | None, complain: "Callable[[str], object] | None" = None) -> None:
        """Nothing is logged without a path. `complain` is told what is wrong; standard error if None."""
        self._path = path
        self._complain = complain or _complain
        self._turn = threading.Lock()
        self._file: TextIO | None = None
        if path is not None:
            try:
                self._file = open(path, "a", encoding="utf-8", errors="backslashreplace", buffering=1)  # noqa: SIM115  (open until the end)
            except (OSError, ValueError) as error:
                self._give_up(error)

    def write(self, text: str) -> None:
        """Write a line with the time, to the millisecond."""
        if self._file is None:
            return
        now = time.time()
        stamp = f"{time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(now))}.{int(now * 1000) % 1000:03}"
        # A search and the conversation may write at once.
        with self._turn:
            file = self._file
            try:
                if file is not None:
                    file.write(f"{stamp} {text}\n")
                return
            except (OSError, ValueError) as error:
                failed = error
        self._give_up(failed)

    def is_open(self) -> bool:
        """Whether what is written goes anywhere."""
        return self._file is not None

    def close(self) -> None:
        """End the log."""
        with self._turn:
            file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(OSError):
                file.close()

    def write_moves(self, board: Board) -> None:
        """Write the legal moves in the generator's order."""
        if self._file is not None:
            self.write("Moves: " + " ".join(coordinate.write(move) for move in legal_moves(board)))

    def _give_up(self, error: Exception) -> None:
        self.close()
        self._complain(f"the log {_echo(self._path or '')} cannot be written: {error}")


def _complain(text: str) -> None:
    print(text, file=sys.stderr)


class Console:
    """A game in the terminal, the operator against the engine."""

    def __init__(self, side: int, pace: Limits, style: Style, log: Log, elo: int | None = None) -> None:
        """The operator plays `side`; `pace` limits the engine's moves, by depth or by a clock, and `elo`, if
        given, its strength.
        """
        self._side = side
        self._pace = pace
        self._remaining = float(pace.time[WHITE] or 0)
        self._style = style
        self._log = log
        self._search = Search(DEFAULT_HASH)
        self._search.limit_strength(elo)
        self._game = OngoingGame()
        self._saved: dict[str, tuple[int, int]] = {}
        self._kept = True
        self._commands: dict[str, tuple[Callable[[str], bool | None], str]] = {
            "undo": (self._undo, "take back your last move and the answer"),
            "hint": (self._hint, "what the engine would play for you"),
            "moves": (self._moves, "the legal moves of both sides, with the generator's scores"),
            "eval": (self._eval, "the static evaluation, term by term, and the attack map"),
            "flip": (self._flip, "turn the board round"),
            "new": (self._new, "a new game"),
            "fen": (self._fen, "the position as a FEN; fen FEN sets one up"),
            "save": (self._save, "save FILE.pgn: write the game to the end of a PGN file"),
            "resign": (self._resign, "give the game up"),
            "quit": (self._quit, "save the game in " + GAMES_FILE + " and leave; so does the end of input"),
            "help": (self._help, "this list"),
        }

    def run(self) -> None:
        """Play until `quit` or the end of input."""
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401  (input() then edits lines and keeps a history)
        try:
            self._converse()
        except (EOFError, KeyboardInterrupt):
            self._say("")
            self._keep()

    def _converse(self) -> None:
        self._say("Type a move (e2e4, Nf3, O-O) or help.")
        self._show_position()
        while True:
            if self._game.board.side != self._side and not self._game.is_over():
                self._answer()
                continue
            line = input(self._prompt()).strip()
            self._log.write(f"Operator: {line}")
            if line and self._execute(line):
                return

    def _prompt(self) -> str:
        return "> " if self._game.is_over() else f"{self._move_number()} "

    def _move_number(self) -> str:
        """The number before a move, as in PGN."""
        return f"{self._game.board.fullmove}." + (".." if self._game.board.side else "")

    def _execute(self, line: str) -> bool | None:
        """Carry out a command or play a move; True after `quit`."""
        word, _, rest = line.partition(" ")
        command = self._commands.get(word.lower())
        if command:
            return command[0](rest.strip())
        if self._game.is_over():
            self._say(f"The game is over ({self._game.reason}): undo, new or quit.")
            return None
        try:
            move = _read_move(self._game.board, line)
        except ValueError as error:
            self._say(f"{error}.")
            return None
        self._play(move)
        return None

    def _play(self, move: int) -> None:
        """Play a move of either side."""
        self._game.play(move)
        self._kept = False
        if self._game.board.side == self._side or self._game.is_over():
            self._show_position()
        else:
            self._log.write_moves(self._game.board)

    def _show_position(self) -> None:
        """Show the board, and say how the game stands once it is over."""
        self._say("", *diagram.draw(self._game.board, self._style), "")
        if self._game.is_over():
            self._close()
        else:
            self._log.write_moves(self._game.board)

    def _close(self) -> None:
        """Say how the game has ended, and save it."""
        how = f"{self._game.result} ({self._game.reason})"
        self._say(how)
        self._log.write(f"Result: {how}")
        self._keep()

    def _answer(self) -> None:
        """Let the engine move."""
        limits = self._pace
        if limits.time[WHITE] is not None:
            remaining = max(1, int(self._remaining))
            limits = limits._replace(time=(remaining, remaining))
        started = time.perf_counter()
        move, report = self._think(limits)
        self._remaining += self._pace.increment[WHITE] - (time.perf_counter() - started) * 1000
        told = f"{self._move_number()} {san.write(self._game.board, move)}"
        if report is not None:
            told += f"  ({_score_text(report)}, depth {report.depth}, {report.elapsed / 1000:.1f} s)"
        self._log.write(f"Moff: {coordinate.write(move)}")
        self._say(told)
        self._play(move)

    def _think(self, limits: Limits) -> tuple[int, Report | None]:
        """Search the position; an interrupt from the keyboard makes the engine move at once."""
        reports: list[Report] = []
        results: list[Result] = []
        done = threading.Event()

        def on_result(result: Result) -> None:
            results.append(result)
            done.set()

        self._search.start(self._game.board, limits, reports.append, on_result)
        while self._search.is_running():
            try:
                # Not for ever: on Windows an interrupt comes through between two waits only.
                done.wait(0.1)
            except KeyboardInterrupt:
                self._search.stop()
        self._search.wait()
        return results[0].move, reports[-1] if reports else None

    # Commands.

    def _undo(self, _rest: str) -> None:
        # A game given up goes on where it was.
        plies = 0 if self._game.reason == self._resignation() else 1 + (self._game.board.side == self._side)
        if len(self._game.moves) < plies:
            self._say("There is no move of yours to take back.")
            return
        self._game.take_back(plies)
        self._kept = not (self._game.moves or self._saved)
        self._show_position()

    def _hint(self, _rest: str) -> None:
        if self._game.is_over():
            self._say("The game is over.")
            return
        limits = self._pace if self._pace.depth else Limits(movetime=HINT_TIME)
        move, _ = self._think(limits)
        self._say(f"{san.write(self._game.board, move)} ({coordinate.write(move)})")

    def _moves(self, _rest: str) -> None:
        self._say(*diagram.list_moves(self._game.board, self._style))

    def _eval(self, _rest: str) -> None:
        self._say(*_evaluation_lines(self._game.board), "")
        self._say(*diagram.draw_attacks(self._game.board, self._style))

    def _flip(self, _rest: str) -> None:
        self._style = self._style._replace(flipped=not self._style.flipped)
        self._say("", *diagram.draw(self._game.board, self._style), "")

    def _new(self, _rest: str) -> None:
        self._start(OngoingGame())

    def _fen(self, rest: str) -> None:
        if not rest:
            self._say(fen.write(self._game.board))
            return
        try:
            self._start(OngoingGame(rest))
        except ValueError as error:
            self._say(f"{error}.")

    def _start(self, game: OngoingGame) -> None:
        """Leave the game for another one."""
        self._keep()
        self._game = game
        self._kept = True
        self._saved.clear()
        self._remaining = float(self._pace.time[WHITE] or 0)
        self._search.new_game()
        self._show_position()

    def _save(self, rest: str) -> None:
        if not rest:
            self._say("save needs the name of a file, as in save game.pgn.")
            return
        self._write_game(rest)

    def _resign(self, _rest: str) -> None:
        if self._game.is_over():
            self._say("The game is over.")
            return
        self._game.end(RESULT_OF_WINNER[self._side ^ 1], self._resignation())
        self._kept = False
        self._close()

    def _resignation(self) -> str:
        return f"{SIDES[self._side]} resigns"

    def _quit(self, _rest: str) -> bool:
        self._keep()
        return True

    def _help(self, _rest: str) -> None:
        self._say("A move: e2e4, Nf3, exd5, e8=Q, O-O. A command:")
        self._say(*[f"  {name:7} {text}" for name, (_, text) in self._commands.items()])

    # Saving.

    def _keep(self) -> None:
        """Save a game that was not saved since its last move."""
        if not self._kept and not self._write_game(next(reversed(self._saved), GAMES_FILE)):
            self._say("Here it is:", "", pgn.write(self._record()))

    def _record(self) -> pgn.Game:
        """The game as it is saved."""
        names = ("Operator", f"Moff {VERSION}")
        white, black = names if self._side == WHITE else reversed(names)
        tags = {"Date": time.strftime("%Y.%m.%d"), "White": white, "Black": black}
        if self._game.reason:
            tags["Termination"] = self._game.reason
        return self._game.record(tags)

    def _write_game(self, path: str) -> bool:
        """Write the game to the end of a file. What this game left there before is replaced. False, with a
        complaint, if that cannot be done.
        """
        text = pgn.write(self._record()).encode()
        try:
            with open(path, "a+b") as file:
                begin, end = self._saved.pop(path, (0, 0))
                if end and end == file.seek(0, os.SEEK_END):
                    file.truncate(begin)
                begin = file.seek(0, os.SEEK_END)
                file.seek(max(0, begin - 2))
                if file.read(2) not in (b"", b"\n\n"):
                    text = b"\n\n" + text
                file.write(text)
        except (OSError, ValueError) as error:
            reason = isinstance(error, OSError) and error.strerror
            self._say(f"The game could not be saved in {path}: {reason or error}.")
            return False
        self._saved[path] = begin, begin + len(text)
        self._kept = True
        self._say(f"Saved in {path}.")
        return True

    def _say(self, *lines: str) -> None:
        for line in lines:
            print(line)


def _read_move(board: Board, text: str) -> int:
    """The legal move that an operator means, in coordinates or SAN. Raises ValueError."""
    try:
        return coordinate.parse(board, text)
    except ValueError:
        return san.parse(board, text)


def _score_text(report: Report) -> str:
    """The score from the engine's side, in pawns or moves to mate."""
    if report.mate is not None:
        return f"mate in {report.mate}" if report.mate >= 0 else f"mated in {-report.mate}"
    return f"{report.score / 100:+.2f}"


def _evaluation_lines(board: Board) -> list[str]:
    """The static evaluation as a table, in pawns: each term for both sides in both phases, and the score."""
    evaluation = evaluate.Evaluation()
    evaluation.reset(board)
    lines = [
        f"{'':10}{'middlegame':>22}{'endgame':>24}",
        f"{'':10}" + f"{'White':>8}{'Black':>8}{'sum':>8}" * 2,
    ]
    for term in evaluate.terms(board):
        row = f"{term.name:10}"
        for white, black in zip(term.white, term.black, strict=True):
            row += "".join(f"{value / 100:8.2f}" for value in (white, black, white - black))
        lines.append(row)
    score = evaluation.value(board) * (1 if board.side == WHITE else -1)
    phase = f"{evaluation.phase()}/{evaluate.FULL_PHASE}"
    scale = f"{evaluation.scale(board)}/{endgame.FULL_SCALE}"
    lines.append(f"phase {phase} of the middlegame, {scale} of the endgame's value")
    lines.append(f"score {score / 100:+.2f} for White")
    return lines


# The command line.


def main() -> int:
    """The `moff` command: UCI without arguments. Returns the exit code: 0 done, 1 faulty input; wrong usage
    exits with 2.
    """
    try:
        if len(sys.argv) == 1:
            _converse(Log(None))
            return 0
        return _command_line(sys.argv[1:])
    except BrokenPipeError:
        # Whoever read our output is gone. Point it elsewhere, or the interpreter complains at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 0


def _converse(log: Log) -> None:
    """Speak UCI until the end of input or a signal to end."""

    def interrupt(number: int, _frame: object) -> None:
        signal.signal(number, signal.SIG_IGN)  # once is enough
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupt)
    if sys.stdin is None or sys.stdout is None:
        return  # there is nobody to talk to
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A message quotes what it is about, which the encoding may not know.
        sys.stdout.reconfigure(errors="backslashreplace")
    engine = Engine(log=log)
    try:
        engine.run()
    except KeyboardInterrupt:
        engine.end()


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
    perft.add_argument("depth", type=_plies, metavar="DEPTH", help="plies")
    perft.add_argument("--fen", default=fen.START, help="the position, instead of the start position")
    perft.add_argument("--divide", action="store_true", help="show the leaves under each move")
    perft.add_argument(
        "--play-leaves", action="store_true", help="make and unmake every leaf, not count the last ply"
    )
    perft.set_defaults(run=_run_perft)

    moves = commands.add_parser("moves", help="the test board: both sides' moves with the generator's scores")
    moves.add_argument("--fen", default=fen.START, help="the position, instead of the start position")
    moves.add_argument("--attacks", action="store_true", help="add the attack map")
    moves.set_defaults(run=_run_moves)

    play = commands.add_parser("play", help="a game in the terminal")
    play.add_argument("--black", action="store_true", help="you play Black")
    pace = play.add_mutually_exclusive_group()
    pace.add_argument(
        "--time",
        type=_time_control,
        default=_time_control(USUAL_PACE),
        metavar="SECONDS[+INCREMENT]",
        help=f"the engine's clock, in seconds (usually {USUAL_PACE})",
    )
    pace.add_argument("--depth", type=_positive, metavar="N", help="plies the engine looks ahead, instead")
    play.add_argument(
        "--elo",
        type=_elo,
        metavar="ELO",
        help=f"how strong the engine plays, {WEAKEST} to {STRONGEST} (usually its best)",
    )
    play.add_argument("--log", metavar="FILE", help="write a log, with the generated moves before every move")
    play.set_defaults(run=_run_play)
    for command in (moves, play):
        command.add_argument("--ascii", action="store_true", help="letters instead of Unicode pieces")

    log = commands.add_parser("log", help="speak UCI, and write a log of it")
    log.add_argument("file", nargs="?", default=LOG_FILE, metavar="FILE", help=f"usually {LOG_FILE}")
    log.set_defaults(run=_run_log)

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
    return _whole_number(text, 1)


def _plies(text: str) -> int:
    return _whole_number(text, 1, DEEPEST_PERFT)


def _elo(text: str) -> int:
    return _whole_number(text, WEAKEST, STRONGEST)


def _whole_number(text: str, least: int, most: int = LARGEST_NUMBER) -> int:
    import argparse

    try:
        return _number("it", text, least, most)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _run_bench(options: "argparse.Namespace") -> int:
    from search import benchmark

    def progress(done: int, nodes: int) -> None:
        print(f"position {done}/{len(benchmark.POSITIONS)}: {nodes} nodes so far", file=sys.stderr)

    depth = options.depth or benchmark.DEPTH
    print(benchmark.heading(depth), file=sys.stderr)
    total = benchmark.Bench().run(depth, progress)
    assert total is not None, "nobody stops it"
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


def _time_control(text: str) -> Limits:
    """The limits of a clock: "60", "60+0.6", in seconds."""
    import argparse

    base, plus, increment = text.partition("+")
    try:
        seconds, gain = float(base), float(increment) if plus else 0
    except ValueError:
        seconds, gain = -1, 0
    if not (0 < seconds < 1e6 and 0 <= gain < 1e6):
        raise argparse.ArgumentTypeError(f"{_echo(text)} is no time such as 60+0.6, in seconds")
    milliseconds = max(1, int(seconds * 1000))
    return Limits(time=(milliseconds, milliseconds), increment=(int(gain * 1000), int(gain * 1000)))


def _style(letters: bool, flipped: bool = False) -> Style:
    """How to draw on standard output: in colours on a terminal, with letters where it cannot show pieces."""
    try:
        "♔♚·".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        letters = True
    coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Style(letters, coloured, flipped)


def _run_moves(options: "argparse.Namespace") -> int:
    try:
        board = fen.parse(options.fen)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    style = _style(options.ascii)
    lines = [*diagram.draw(board, style), ""]
    if options.attacks:
        lines += [*diagram.draw_attacks(board, style), ""]
    print("\n".join([*lines, *diagram.list_moves(board, style)]))
    return 0


def _run_play(options: "argparse.Namespace") -> int:
    side = BLACK if options.black else WHITE
    pace = Limits(depth=options.depth) if options.depth else options.time
    # What the terminal cannot show or the encoding does not know is no reason to lose a game.
    for stream, errors in ((sys.stdin, "surrogateescape"), (sys.stdout, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)
    Console(side, pace, _style(options.ascii, options.black), Log(options.log), options.elo).run()
    return 0


def _run_log(options: "argparse.Namespace") -> int:
    _converse(Log(options.file, lambda text: _print(f"info string {text}")))
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

    # On the same terminal, the bar and the results would spoil each other.
    bar = _Bar(stream) if sys.stderr.isatty() and not sys.stdout.isatty() else None
    damaged = games = 0
    for game in pgn.Reader(stream):
        games += 1
        if bar:
            bar.show(f"{games} games")
        if as_json:
            print(json.dumps(game.as_dict()))
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
