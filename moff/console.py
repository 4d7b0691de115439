"""A game in the terminal: a person against the engine."""

import contextlib
import os
import threading
import time
from collections.abc import Callable

from moff import __version__, evaluation
from moff.log import Log
from search.limits import Limits
from search.search import Report, Result, Search
from x88 import coordinate, diagram, fen, pgn, san
from x88.board import Board
from x88.diagram import SIDES, Style
from x88.game import RESULT_OF_WINNER, OngoingGame
from x88.piece import WHITE

HASH = 16
"""Megabytes of the engine's transposition table."""

HINT_TIME = 1000
GAMES_FILE = "moff.pgn"


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
        self._search = Search(HASH)
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
        self._say(*evaluation.table(self._game.board), "")
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
        told: list[str] = []
        try:
            board = fen.parse(rest, told)
        except ValueError as error:
            self._say(f"{error}.")
            return
        self._say(*[f"{sentence}." for sentence in told])
        self._start(OngoingGame(fen.write(board)))

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
        names = ("Operator", f"Moff {__version__}")
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
