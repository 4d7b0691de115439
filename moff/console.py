"""A game in the terminal: a person against the engine."""

import contextlib
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Callable

from moff import evaluation
from moff.game import levels, time_control
from moff.game.notation import NotedMove, move_number
from moff.game.player import Engine, Person
from moff.game.session import GAMES_FILE, Session
from moff.log import Log
from moff.messages import can_rewrite, echo, whole_number
from search.limits import Limits
from search.line import Report
from x88.board import Board
from x88.move import NO_MOVE
from x88.notation import chess960, coordinate, diagram, fen, pgn, san
from x88.notation.diagram import Style
from x88.piece import BLACK, SIDES, WHITE

DEEPEST = 100
HELP_WIDTH = 100
ALIASES = {"exit": "quit", "q": "quit", "?": "help"}


def user_name() -> str:
    """The login name of the user, or "Player" if it is not a person's."""
    import getpass

    # Accounts of people begin at 1000, or at 501 on macOS; below are root and services.
    if sys.platform != "win32" and os.getuid() < (501 if sys.platform == "darwin" else 1000):
        return "Player"
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        return "Player"


class Console:
    """A `Session` in the terminal, a person against the engine."""

    def __init__(
        self,
        side: int,
        limits: Limits,
        style: Style,
        log: Log,
        elo: int | None = None,
        name: str = "Player",
        start: str = fen.START,
    ) -> None:
        """The person of that name plays `side`; `limits` hold for the engine's moves, a depth or a clock, and
        `elo`, if given, limits its strength. The first game begins at `start`, a FEN.
        """
        self._style = style
        self._log = log
        self._answers: list[NotedMove] = []
        self._can_rewrite = can_rewrite(sys.stdout)
        self._shows_score = False
        players = Person(name), Engine(limits, elo)
        self._session = Session(
            players[side],
            players[side ^ 1],
            on_report=self._show_thought if self._can_rewrite else None,
            on_move=self._answers.append,
        )
        self._session.new_game(start)
        self._commands: dict[str, tuple[Callable[[str], bool | None], str]] = {
            "undo": (self._undo, "take back your last move and the reply; undo N: your last N moves"),
            "redo": (self._redo, "play again what was taken back; redo N: N of your moves"),
            "go": (self._go, "let the engine play this move for you"),
            "hint": (self._hint, "show what the engine would play for you"),
            "switch": (self._switch, "change sides with the engine"),
            "level": (
                self._level,
                "list the levels and show how the engine plays; level beginner: a level by its name; "
                "level 700: an Elo; level time 60+1: its clock and increment in seconds; level depth 8: "
                "its depth",
            ),
            "score": (
                self._score,
                "show what the engine thinks, and the score with its moves; score again: hide them",
            ),
            "board": (self._show_board, "show the board"),
            "flip": (self._flip, "turn the board round"),
            "moves": (self._moves, "list the legal moves of both sides, with the generator's scores"),
            "eval": (
                self._eval,
                "show the static evaluation, each piece's worth to the network, and the attack map",
            ),
            "new": (
                self._new,
                "start a new game; new chess960: from a random start position of Chess960; new chess960 N: "
                "from that number",
            ),
            "fen": (self._fen, "show the position as a FEN; fen FEN: set one up"),
            "save": (self._save, "save FILE.pgn: append the game to a PGN file"),
            "draw": (self._draw, "offer a draw"),
            "resign": (self._resign, "give up the game"),
            "quit": (self._quit, f"save the game in {GAMES_FILE} and leave; also exit, q, end of input"),
            "help": (self._help, "show this list; also ?"),
        }

    def run(self) -> None:
        """Play until `quit` or the end of input. The game is saved whatever ends it: KeyboardInterrupt at the
        prompt, SystemExit of a signal, OSError of a terminal that has gone.
        """
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401  (input() then edits lines and keeps a history)
        try:
            try:
                self._converse()
            except (Exception, KeyboardInterrupt) as error:
                self._leave()
                if not isinstance(error, EOFError):
                    raise
        except SystemExit:
            # A closed terminal ends the input, too: the signal may have come while the game was being saved.
            self._leave()
            raise
        finally:
            self._session.close()

    def _leave(self) -> None:
        """Save the game, even if the terminal has gone; thoughts, which would overwrite this, end here."""
        with self._session.lock:
            self._can_rewrite = False
        with contextlib.suppress(OSError):
            self._say("")
        with contextlib.suppress(OSError):
            self._keep()

    def _converse(self) -> None:
        self._say("Type a move (e2e4, Nf3, O-O) or help.")
        self._show_position()
        while True:
            if self._session.is_engine_to_move():
                self._answer()
                continue
            line = input(self._prompt()).strip()
            self._log.write(f"Player: {line}")
            if line and self._execute(line):
                return

    @property
    def _board(self) -> Board:
        return self._session.game.board

    @property
    def _side(self) -> int:
        """The side that the person plays."""
        return WHITE if isinstance(self._session.players[WHITE], Person) else BLACK

    def _prompt(self) -> str:
        return "> " if self._session.game.is_over() else f"{move_number(self._board)} "

    def _execute(self, line: str) -> bool | None:
        """Carry out a command or play a move; True after `quit`."""
        word, _, rest = line.partition(" ")
        word = word.lower()
        command = self._commands.get(ALIASES.get(word, word))
        try:
            if command:
                return command[0](rest.strip())
            self._play(line)
        except ValueError as error:
            is_clear = command or re.search(r"[1-8]", line) or line[0] in "oO0"
            self._say(f"{error}." if is_clear else f"{error}. Type help for the commands.")
        return None

    def _play(self, line: str) -> None:
        """Play a move of the person."""
        game = self._session.game
        if game.is_over():
            self._say(f"The game is over ({game.reason}): undo, new or quit; help lists all commands.")
            return
        self._session.play(line)
        self._go_on()

    def _go_on(self) -> None:
        """Show the position after a move, unless the engine's reply follows at once."""
        if self._session.is_engine_to_move():
            self._log.write_moves(self._board)
        else:
            self._show_position()

    def _show_position(self) -> None:
        """Show the board, and the result once the game is over."""
        self._show_board()
        if self._session.game.is_over():
            self._close()
        else:
            self._log.write_moves(self._board)

    def _show_board(self, _rest: str = "") -> None:
        """Show the board with the last move marked."""
        last = self._board.last_move()
        marked = coordinate.squares(last) if last != NO_MOVE else ()
        self._say("", *diagram.draw(self._board, self._style, marked), "")

    def _close(self) -> None:
        """Announce how the game ended, and save it."""
        how = f"{self._session.game.result} ({self._session.game.reason})"
        self._say(how)
        self._log.write(f"Result: {how}")
        self._keep()

    def _keep(self) -> None:
        """Save the game if it has changed since it was last saved; show it if that fails."""
        try:
            path = self._session.keep()
        except ValueError as error:
            self._say(f"{error}.", "Here it is:", "", pgn.write(self._session.record()))
            return
        if path:
            self._say(f"Saved in {path}.")

    # The engine.

    def _answer(self) -> None:
        """Let the engine move."""
        self._session.go()
        self._wait()
        number, text, move, report = self._answers.pop()
        text = f"{number} {text}"
        if report is not None and self._shows_score:
            text += f"  ({_score_text(report)}, depth {report.depth}, {report.elapsed / 1000:.1f} s)"
        self._log.write(f"Moff: {coordinate.write(move)}")
        self._say(text)
        self._go_on()

    def _wait(self) -> None:
        """Wait for the engine; an interrupt from the keyboard makes it answer at once."""
        if self._can_rewrite and not self._shows_score:
            self._rewrite("Moff is thinking ...")
        is_done = False
        while not is_done:
            try:
                # With a timeout: on Windows an interrupt is noticed only between two waits.
                is_done = self._session.wait(0.1)
            except KeyboardInterrupt:
                self._session.move_now()
        if self._can_rewrite:
            self._rewrite("")

    def _show_thought(self, report: Report) -> None:
        """Show what the engine thinks, in a line: depth, score and variation."""
        if not (self._can_rewrite and self._shows_score):
            return
        position = self._board.copy()
        line = []
        for move in report.pv:
            line.append(san.write(position, move))
            position.make(move)
        # A terminal that has gone must not end the search, which would play its move.
        with contextlib.suppress(OSError):
            self._rewrite(f"depth {report.depth}  {_score_text(report)}  {' '.join(line)}")

    def _rewrite(self, text: str) -> None:
        """Rewrite the line that shows what the engine thinks."""
        width = shutil.get_terminal_size().columns - 1
        sys.stdout.write(f"\r{text[:width]}\033[K")
        sys.stdout.flush()

    # Commands.

    def _undo(self, rest: str) -> None:
        self._session.take_back(whole_number("undo", rest or "1", 1))
        self._show_position()

    def _redo(self, rest: str) -> None:
        self._session.redo(whole_number("redo", rest or "1", 1))
        self._show_position()

    def _go(self, _rest: str) -> None:
        self._answer()

    def _switch(self, _rest: str) -> None:
        self._session.switch_sides()
        self._style = self._style._replace(flipped=not self._style.flipped)
        self._say(f"You play {SIDES[self._side]} now.")

    def _level(self, rest: str) -> None:
        side = self._side ^ 1
        elo = self._engine().elo
        kind, _, value = rest.partition(" ")
        value = value.strip()
        if kind == "depth":
            depth = whole_number("depth", value, 1, DEEPEST)
            self._session.set_player(side, Engine(Limits(depth=depth), elo))
        elif kind == "time":
            self._session.set_player(side, Engine(time_control.parse(value), elo))
        elif kind:
            self._session.set_elo(side, levels.parse(rest))
        else:
            for level in levels.LEVELS:
                self._say(f"  {level.name:13} {level.elo or '':4}  {level.text}")
        limits, elo = self._engine().limits, self._engine().elo
        left = self._session.time_left(side)
        how = f"depth {limits.depth}"
        if left is not None:
            how = f"{time_control.write(limits)} s ({max(0.0, left) / 1000:.1f} s left)"
        self._say(f"The engine plays at {how}, {f'Elo {elo}' if elo else 'full strength'}.")

    def _score(self, _rest: str) -> None:
        self._shows_score = not self._shows_score
        self._say(f"The engine's score is {'shown' if self._shows_score else 'hidden'} from now on.")

    def _engine(self) -> Engine:
        engine = self._session.players[self._side ^ 1]
        assert isinstance(engine, Engine)
        return engine

    def _draw(self, _rest: str) -> None:
        answers: list[str] = []
        self._session.offer_draw(answers.append)
        self._wait()
        if answers[0]:
            self._say(f"Declined: {answers[0]}.")
        else:
            self._close()

    def _hint(self, _rest: str) -> None:
        hints: list[NotedMove] = []
        self._session.hint(hints.append)
        self._wait()
        self._say(f"{hints[0].san} ({coordinate.write(hints[0].move)})")

    def _moves(self, _rest: str) -> None:
        self._say(*diagram.list_moves(self._board, self._style), "", *diagram.SCORE_LEGEND)

    def _eval(self, _rest: str) -> None:
        self._say(*evaluation.table(self._board, self._style), "")
        self._say(*diagram.draw_attacks(self._board, self._style), *diagram.ATTACK_LEGEND)

    def _flip(self, _rest: str) -> None:
        self._style = self._style._replace(flipped=not self._style.flipped)
        self._show_board()

    def _new(self, rest: str) -> None:
        if not rest:
            self._start(fen.START)
            return
        variant, _, number = rest.partition(" ")
        if variant.lower() not in ("chess960", "960"):
            raise ValueError(f"new takes nothing, or chess960 and perhaps a number, not {echo(rest)}")
        most = chess960.POSITIONS - 1
        chosen = whole_number("new chess960", number, 0, most) if number else chess960.draw()
        self._say(f"Start position {chosen} of Chess960.")
        self._start(chess960.start(chosen))

    def _fen(self, rest: str) -> None:
        if not rest:
            self._say(fen.write(self._board))
            return
        warnings: list[str] = []
        start = fen.write(fen.parse(rest, warnings, self._board.is_chess960()))
        self._say(*[f"{sentence}." for sentence in warnings])
        self._start(start)

    def _start(self, start: str) -> None:
        """Leave the game for another one."""
        self._keep()
        self._session.new_game(start)
        self._show_position()

    def _save(self, rest: str) -> None:
        if not rest:
            self._say("save needs the name of a file, as in save game.pgn.")
            return
        self._session.save(rest)
        self._say(f"Saved in {rest}.")

    def _resign(self, _rest: str) -> None:
        self._session.resign(self._side)
        self._close()

    def _quit(self, _rest: str) -> bool:
        self._keep()
        return True

    def _help(self, _rest: str) -> None:
        self._say("A move: e2e4, Nf3, exd5, e8=Q, O-O. Ctrl-C while the engine thinks: move now. A command:")
        for name, (_, text) in self._commands.items():
            width = min(shutil.get_terminal_size().columns, HELP_WIDTH)
            # Too narrow a terminal breaks the lines itself.
            self._say(*textwrap.wrap(f"  {name:7} {text}", max(width, 40), subsequent_indent=" " * 10))

    def _say(self, *lines: str) -> None:
        for line in lines:
            print(line)


def _score_text(report: Report) -> str:
    """The score from the engine's side, in pawns or moves to mate."""
    if report.mate is not None:
        return f"mate in {report.mate}" if report.mate >= 0 else f"mated in {-report.mate}"
    return f"{report.score / 100:+.2f}"
