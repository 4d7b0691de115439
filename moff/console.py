"""A game in the terminal: a person against the engine."""

import contextlib
import os
import re
import shutil
import sys
import textwrap
import threading
import time
from collections.abc import Callable

from moff import __version__, evaluation, pace
from moff.log import Log
from moff.text import can_rewrite, counted, whole_number
from search.limits import Limits
from search.search import Report, Result, Search
from search.strength import STRONGEST, WEAKEST
from x88 import coordinate, diagram, fen, pgn, san
from x88.board import Board
from x88.diagram import Style
from x88.game import DRAWN, RESULT_OF_WINNER, OngoingGame
from x88.move import NO_MOVE, origin_of, target_of
from x88.piece import SIDES, WHITE

HASH = 16
"""Megabytes of the engine's transposition table."""

HINT_TIME = 1000
GAMES_FILE = "moff.pgn"
AGREED = "draw agreed"

EARLIEST_DRAW = 20
"""The first move at which the engine accepts a draw."""

DEEPEST = 100
HELP_WIDTH = 100
ALIASES = {"exit": "quit", "q": "quit", "?": "help"}


def user_name() -> str:
    """The login name of the user, or "Player" if there is none."""
    import getpass

    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        return "Player"


class Console:
    """A game in the terminal, a person against the engine."""

    def __init__(
        self,
        side: int,
        limits: Limits,
        style: Style,
        log: Log,
        elo: int | None = None,
        name: str = "Player",
    ) -> None:
        """The person of that name plays `side`; `limits` hold for the engine's moves, a depth or a clock, and
        `elo`, if given, limits its strength.
        """
        self._side = side
        self._limits = limits
        self._remaining = float(limits.time[WHITE] or 0)
        self._elo = elo
        self._name = name
        self._style = style
        self._log = log
        self._search = Search(HASH)
        self._search.limit_strength(elo)
        self._game = OngoingGame()
        self._saved: dict[str, tuple[int, int]] = {}
        self._kept = True
        self._commands: dict[str, tuple[Callable[[str], bool | None], str]] = {
            "undo": (self._undo, "take back your last move and the reply; undo N: your last N moves"),
            "redo": (self._redo, "play again what was taken back; redo N: N of your moves"),
            "go": (self._go, "let the engine play this move for you"),
            "hint": (self._hint, "show what the engine would play for you"),
            "switch": (self._switch, "change sides with the engine"),
            "level": (
                self._level,
                "show how the engine plays; level 60+1: its clock and increment in seconds; level depth 8: "
                f"its depth; level elo 1500: its strength, {WEAKEST} to {STRONGEST} or max",
            ),
            "board": (self._show_board, "show the board"),
            "flip": (self._flip, "turn the board round"),
            "moves": (self._moves, "list the legal moves of both sides, with the generator's scores"),
            "eval": (self._eval, "show the static evaluation, term by term, and the attack map"),
            "new": (self._new, "start a new game"),
            "fen": (self._fen, "show the position as a FEN; fen FEN: set one up"),
            "save": (self._save, "save FILE.pgn: append the game to a PGN file"),
            "draw": (self._draw, "offer a draw"),
            "resign": (self._resign, "give up the game"),
            "quit": (self._quit, f"save the game in {GAMES_FILE} and leave; also exit, q, end of input"),
            "help": (self._help, "show this list; also ?"),
        }
        self._undone: list[int] = []
        self._shows_thinking = can_rewrite(sys.stdout)

    def run(self) -> None:
        """Play until `quit` or the end of input. Raises KeyboardInterrupt, with the game saved, after an
        interrupt at the prompt.
        """
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401  (input() then edits lines and keeps a history)
        try:
            self._converse()
        except EOFError:
            self._say("")
            self._keep()
        except KeyboardInterrupt:
            self._say("")
            self._keep()
            raise

    def _converse(self) -> None:
        self._say("Type a move (e2e4, Nf3, O-O) or help.")
        self._show_position()
        while True:
            if self._game.board.side != self._side and not self._game.is_over():
                self._answer()
                continue
            line = input(self._prompt()).strip()
            self._log.write(f"Player: {line}")
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
        word = word.lower()
        command = self._commands.get(ALIASES.get(word, word))
        if command:
            return command[0](rest.strip())
        if self._game.is_over():
            self._say(f"The game is over ({self._game.reason}): undo, new or quit; help lists all commands.")
            return None
        try:
            move = _read_move(self._game.board, line)
        except ValueError as error:
            is_like_a_move = re.search(r"[1-8]", line) or line[0] in "oO0"
            self._say(f"{error}." if is_like_a_move else f"{error}. Type help for the commands.")
            return None
        self._play(move)
        return None

    def _play(self, move: int) -> None:
        """Play a move of either side."""
        self._game.play(move)
        self._kept = False
        self._undone.clear()
        self._show_position()

    def _show_position(self) -> None:
        """Show the board, and the result once the game is over."""
        self._show_board()
        if self._game.is_over():
            self._close()
        else:
            self._log.write_moves(self._game.board)

    def _show_board(self, _rest: str = "") -> None:
        """Show the board with the last move marked."""
        last = self._game.board.last_move()
        marked = (origin_of(last), target_of(last)) if last != NO_MOVE else ()
        self._say("", *diagram.draw(self._game.board, self._style, marked), "")

    def _close(self) -> None:
        """Announce how the game ended, and save it."""
        how = f"{self._game.result} ({self._game.reason})"
        self._say(how)
        self._log.write(f"Result: {how}")
        self._keep()

    def _answer(self) -> None:
        """Let the engine move."""
        limits = self._limits
        if limits.time[WHITE] is not None:
            remaining = max(1, int(self._remaining))
            limits = limits._replace(time=(remaining, remaining))
        started = time.perf_counter()
        move, report = self._think(limits)
        self._remaining += self._limits.increment[WHITE] - (time.perf_counter() - started) * 1000
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
        board = self._game.board.copy()

        def on_report(report: Report) -> None:
            reports.append(report)
            if self._shows_thinking:
                self._rewrite(_thought(board, report))

        def on_result(result: Result) -> None:
            results.append(result)
            done.set()

        self._search.start(board, limits, on_report, on_result)
        while self._search.is_running():
            try:
                # With a timeout: on Windows an interrupt is noticed only between two waits.
                done.wait(0.1)
            except KeyboardInterrupt:
                self._search.stop()
        self._search.wait()
        if self._shows_thinking:
            self._rewrite("")
        return results[0].move, reports[-1] if reports else None

    def _rewrite(self, text: str) -> None:
        """Rewrite the line that shows what the engine thinks."""
        width = shutil.get_terminal_size().columns - 1
        sys.stdout.write(f"\r{text[:width]}\033[K")
        sys.stdout.flush()

    # Commands.

    def _undo(self, rest: str) -> None:
        count = self._count("undo", rest)
        if count is None:
            return
        # After a resignation or an agreed draw the game resumes where it was.
        given_up = self._game.reason in (self._resignation(), AGREED)
        plies = 2 * count - (1 if self._game.board.side != self._side else 0)
        if given_up:
            plies = 2 * (count - 1)
        if len(self._game.moves) < plies:
            mine = (len(self._game.moves) + (self._game.board.side != self._side)) // 2
            few = f"You have only {counted(mine, 'move')} to take back."
            self._say(few if mine else "There is no move of yours to take back.")
            return
        self._undone += reversed(self._game.moves[len(self._game.moves) - plies :])
        self._game.take_back(plies)
        self._kept = not (self._game.moves or self._saved)
        self._show_position()

    def _redo(self, rest: str) -> None:
        count = self._count("redo", rest)
        if count is None:
            return
        if not self._undone:
            self._say("There is nothing to play again.")
            return
        for _ in range(min(2 * count, len(self._undone))):
            self._game.play(self._undone.pop())
        self._kept = False
        self._show_position()

    def _count(self, command: str, rest: str) -> int | None:
        """The number behind a command, 1 if there is none; None, with a complaint, if it is no number."""
        try:
            return whole_number(command, rest or "1", 1)
        except ValueError as error:
            self._say(f"{error}.")
            return None

    def _goes_on(self) -> bool:
        """Whether the game goes on; says so if it does not."""
        if self._game.is_over():
            self._say("The game is over.")
        return not self._game.is_over()

    def _go(self, _rest: str) -> None:
        if self._goes_on():
            self._answer()

    def _switch(self, _rest: str) -> None:
        if self._goes_on():
            self._side ^= 1
            self._style = self._style._replace(flipped=not self._style.flipped)
            self._say(f"You play {SIDES[self._side]} now.")

    def _level(self, rest: str) -> None:
        kind, _, value = rest.partition(" ")
        try:
            if kind == "depth":
                self._limits = Limits(depth=whole_number("depth", value.strip(), 1, DEEPEST))
            elif kind == "elo":
                full = value.strip() == "max"
                self._elo = None if full else whole_number("elo", value.strip(), WEAKEST, STRONGEST)
                self._search.limit_strength(self._elo)
            elif kind:
                self._limits = pace.parse(rest)
                self._remaining = float(self._limits.time[WHITE] or 0)
        except ValueError as error:
            self._say(f"{error}.")
            return
        how = f"depth {self._limits.depth}"
        if self._limits.depth is None:
            left = max(0.0, self._remaining) / 1000
            how = f"{pace.write(self._limits)} s ({left:.1f} s left)"
        self._say(f"The engine plays at {how}, {f'Elo {self._elo}' if self._elo else 'full strength'}.")

    def _draw(self, _rest: str) -> None:
        if not self._goes_on():
            return
        if self._game.board.fullmove < EARLIEST_DRAW:
            self._say(f"Declined: the engine accepts no draw before move {EARLIEST_DRAW}.")
            return
        _, report = self._think(self._limits if self._limits.depth else Limits(movetime=HINT_TIME))
        # The score is from the side of whoever offers.
        if report is None or report.score < 0:
            self._say("Declined: the engine thinks it is better.")
            return
        self._game.end(DRAWN, AGREED)
        self._kept = False
        self._close()

    def _hint(self, _rest: str) -> None:
        if not self._goes_on():
            return
        limits = self._limits if self._limits.depth else Limits(movetime=HINT_TIME)
        move, _ = self._think(limits)
        self._say(f"{san.write(self._game.board, move)} ({coordinate.write(move)})")

    def _moves(self, _rest: str) -> None:
        self._say(*diagram.list_moves(self._game.board, self._style), "", *diagram.SCORE_LEGEND)

    def _eval(self, _rest: str) -> None:
        self._say(*evaluation.table(self._game.board), "")
        self._say(*diagram.draw_attacks(self._game.board, self._style), *diagram.ATTACK_LEGEND)

    def _flip(self, _rest: str) -> None:
        self._style = self._style._replace(flipped=not self._style.flipped)
        self._show_board()

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
        self._undone.clear()
        self._remaining = float(self._limits.time[WHITE] or 0)
        self._search.new_game()
        self._show_position()

    def _save(self, rest: str) -> None:
        if not rest:
            self._say("save needs the name of a file, as in save game.pgn.")
            return
        self._write_game(rest)

    def _resign(self, _rest: str) -> None:
        if not self._goes_on():
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
        self._say("A move: e2e4, Nf3, exd5, e8=Q, O-O. Ctrl-C while the engine thinks: move now. A command:")
        for name, (_, text) in self._commands.items():
            width = min(shutil.get_terminal_size().columns, HELP_WIDTH)
            # Too narrow a terminal breaks the lines itself.
            self._say(*textwrap.wrap(f"  {name:7} {text}", max(width, 40), subsequent_indent=" " * 10))

    # Saving.

    def _keep(self) -> None:
        """Save the game if it has changed since it was last saved."""
        if not self._kept and not self._write_game(next(reversed(self._saved), GAMES_FILE)):
            self._say("Here it is:", "", pgn.write(self._record()))

    def _record(self) -> pgn.Game:
        """The game as it is saved."""
        names = (self._name, f"Moff {__version__}")
        white, black = names if self._side == WHITE else reversed(names)
        tags = {"Date": time.strftime("%Y.%m.%d"), "White": white, "Black": black}
        if self._elo is not None:
            tags[f"{SIDES[self._side ^ 1]}Elo"] = str(self._elo)
        tags["TimeControl"] = "-" if self._limits.depth else pace.write(self._limits)
        if self._game.reason:
            tags["Termination"] = self._game.reason
        return self._game.record(tags)

    def _write_game(self, path: str) -> bool:
        """Append the game to a file, replacing what this game wrote there before. False, with a complaint, if
        that fails.
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
    """The legal move that a person means, in coordinates or SAN. Raises ValueError."""
    try:
        return coordinate.parse(board, text)
    except ValueError:
        return san.parse(board, text)


def _score_text(report: Report) -> str:
    """The score from the engine's side, in pawns or moves to mate."""
    if report.mate is not None:
        return f"mate in {report.mate}" if report.mate >= 0 else f"mated in {-report.mate}"
    return f"{report.score / 100:+.2f}"


def _thought(board: Board, report: Report) -> str:
    """What the engine thinks, in a line: depth, score and variation."""
    position = board.copy()
    line = []
    for move in report.pv:
        line.append(san.write(position, move))
        position.make(move)
    return f"depth {report.depth}  {_score_text(report)}  {' '.join(line)}"
