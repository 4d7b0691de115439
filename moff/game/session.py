"""One game being played: two players, their clocks, take-back and redo, how it ends, and where it is saved.

Shared by the console and whatever else shows a game. Nothing here prints or reads input.
"""

import functools
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Concatenate, ParamSpec, TypeVar

from moff import openings
from moff.game import time_control
from moff.game.chess_clock import ChessClock
from moff.game.notation import NotedMove, note, read_move
from moff.game.pgn_file import PgnFiles
from moff.game.player import Engine, Person, Player
from moff.game.thinker import Request, Thinker
from moff.messages import counted, echo
from moff.syzygy_path import search_with_tables
from search.limits import Limits
from search.line import Report
from search.search import Search
from x88.notation import fen, pgn
from x88.notation.game import OngoingGame
from x88.piece import BLACK, SIDES, WHITE

HASH = 16
"""Megabytes of an engine's transposition table."""

HINT_TIME = 1000
"""Milliseconds for a hint or a draw offer, if the engine's only limit is its clock."""

EARLIEST_DRAW = 20
"""The first move at which the engine accepts a draw."""

GAMES_FILE = "moff.pgn"

_Rest = ParamSpec("_Rest")
_Value = TypeVar("_Value")


def _operation(
    method: Callable[Concatenate["Session", _Rest], _Value],
) -> Callable[Concatenate["Session", _Rest], _Value]:
    """Run a method under the session's lock, after checking the flag."""

    @functools.wraps(method)
    def locked(session: "Session", /, *args: _Rest.args, **named: _Rest.kwargs) -> _Value:
        with session.lock:
            session._look_at_flag()
            return method(session, *args, **named)

    return locked


class Session:
    """A game between two players, each a person or the engine.

    A refused operation raises a ValueError with the reason and changes nothing. The engine thinks in the
    background. Several threads may use a session. Its callbacks run under `lock`, so that what they report
    still holds; they must not wait for another thread that uses the session.
    """

    def __init__(
        self,
        white: Player,
        black: Player,
        *,
        has_flags: bool = False,
        on_report: Callable[[Report], object] | None = None,
        on_move: Callable[[NotedMove], object] | None = None,
        on_over: Callable[[], object] | None = None,
        make_search: Callable[[], Search] | None = None,
        pace: Callable[[], float] = lambda: 0.0,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        """A game from the start position. With `has_flags`, a side loses when its flag falls.

        `on_report` is called with the engine's reports, `on_move` with its moves, `on_over` when the game has
        ended, in whatever way. `pace` returns the seconds that the engine takes for its next move at least,
        as a person would, and `now` the time in seconds.
        """
        self.lock = threading.RLock()
        """Hold it to read several things consistently."""
        self.game = OngoingGame()
        """For reading; only the session plays on it."""
        self._players: list[Player] = [white, black]
        self._on_report = on_report or _ignore
        self._on_move = on_move or _ignore
        self._on_over = on_over or _ignore
        self._is_end_told = False
        self._pace = pace
        make = make_search or functools.partial(search_with_tables, HASH)
        self._thinkers = [Thinker(self.lock, make) for _ in (WHITE, BLACK)]
        self._request: Request | None = None
        self._clock = ChessClock(now, self._ring if has_flags else None)
        for side in (WHITE, BLACK):
            self._clock.set(side, self._players[side].clock)
        self._undone: list[int] = []
        self._files = PgnFiles()
        self._kept = self._state()

    # The state of the game.

    @property
    def players(self) -> tuple[Player, Player]:
        """White and Black."""
        white, black = self._players
        return white, black

    def is_engine_to_move(self) -> bool:
        """Whether the game goes on and the engine is to move."""
        return not self.game.is_over() and isinstance(self._players[self.game.board.side], Engine)

    def is_thinking(self) -> bool:
        """Whether the engine is thinking about a move, a hint or a draw."""
        return self._request is not None and self._request.is_open

    def can_redo(self) -> bool:
        """Whether moves that were taken back can be played again."""
        return bool(self._undone) and not self.game.is_over()

    @_operation
    def time_left(self, side: int) -> float | None:
        """The milliseconds on the clock of a side, negative if it has overstepped; None without a clock."""
        return self._clock.left(side)

    @_operation
    def running(self) -> int | None:
        """The side with its time running, with or without a clock; None if no time is running."""
        return self._clock.running()

    # Playing.

    @_operation
    def play(self, text: str) -> NotedMove:
        """Play the move of a person, in coordinates or SAN."""
        if self.game.is_over():
            raise ValueError(f"{echo(text)} cannot be played: the game is over ({self.game.reason})")
        if self.is_engine_to_move():
            raise ValueError(f"{echo(text)} cannot be played: it is the engine's turn")
        move = read_move(self.game.board, text)
        self._drop()
        noted = self._make(move, None)
        self._settle()
        return noted

    @_operation
    def go(self) -> None:
        """Let the engine make the next move in the background, for itself or for a person."""
        self._require_idle()
        self._think(self._limits(), self._land, self._pace())
        self._clock.start(self.game.board.side)

    @_operation
    def move_now(self) -> None:
        """Make the engine answer at once."""
        for thinker in self._thinkers:
            thinker.answer_now()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the engine has answered or dropped the last request, or so long. Returns whether."""
        request = self._request
        return request is None or request.is_over.wait(seconds)

    @_operation
    def hint(self, on_hint: Callable[[NotedMove], object]) -> None:
        """Ask the engine, in the background, what it would play at full strength."""
        self._require_idle()

        def answer(move: int, report: Report | None) -> None:
            on_hint(note(self.game.board, move, report))

        self._think(self._advice(), answer, is_limited=False)

    @_operation
    def offer_draw(self, on_answer: Callable[[str], object]) -> None:
        """Offer the engine a draw while a person is to move. It answers in the background: with the reason if
        it declines, with an empty text if it accepts.
        """
        self._require_idle()
        board = self.game.board
        if self.is_engine_to_move() or not isinstance(self._players[board.side ^ 1], Engine):
            raise ValueError("A draw can be offered only to the engine, by a person whose turn it is")
        if board.fullmove < EARLIEST_DRAW:
            on_answer(f"the engine accepts no draw before move {EARLIEST_DRAW}")
            return

        def answer(_move: int, report: Report | None) -> None:
            # The score is from the offering side's view.
            if report is None or report.score < 0:
                on_answer("the engine thinks it is better")
                return
            self.game.agree_draw()
            on_answer("")
            self._settle()

        self._think(self._advice(), answer)

    @_operation
    def agree_draw(self) -> None:
        """End a game between two persons as a draw."""
        self._require_game()
        if any(isinstance(player, Engine) for player in self._players):
            raise ValueError("A draw must be offered to the engine")
        self._drop()
        self.game.agree_draw()
        self._settle()

    @_operation
    def resign(self, side: int) -> None:
        """Resign for a side, whoever is to move."""
        self._require_game()
        self._drop()
        self.game.resign(side)
        self._settle()

    # Taking back.

    @_operation
    def take_back(self, count: int = 1) -> None:
        """Take back `count` moves of a person, with the replies and the time they took; any moves if no
        person plays. A resignation, an agreed draw or a fallen flag counts as one.
        """
        _require_positive("take_back", count)
        own = [ply for ply in range(len(self.game.moves)) if self._is_own(ply)]
        was_ended = self.game.is_over() and not self.game.is_over_by_rule()
        wanted = count - was_ended
        if wanted > len(own):
            few = f"You have only {counted(len(own), 'move')} to take back"
            raise ValueError(few if own else "There is no move of yours to take back")
        self._drop()
        first = own[-wanted] if wanted else len(self.game.moves)
        self._undone += reversed(self.game.moves[first:])
        self.game.take_back(len(self.game.moves) - first)
        self._clock.go_to(first)
        self._settle()

    @_operation
    def redo(self, count: int = 1) -> None:
        """Play again up to `count` moves of a person that were taken back, with the replies."""
        _require_positive("redo", count)
        if not self._undone:
            raise ValueError("There is nothing to redo")
        self._require_game()
        self._drop()
        first = len(self.game.moves)
        while self._undone:
            ply = len(self.game.moves)
            if ply > first and self._is_own(ply):
                count -= 1
                if count == 0:
                    break
            self.game.play(self._undone.pop())
        self._clock.go_to(len(self.game.moves))
        self._settle()

    def _is_own(self, ply: int) -> bool:
        """Whether a person makes the move after `ply` plies; any move counts if no person plays."""
        side = self.game.board.side ^ (ply ^ len(self.game.moves)) & 1
        return isinstance(self._players[side], Person) or isinstance(self._players[side ^ 1], Engine)

    # Changing the game.

    @_operation
    def new_game(self, start: str = fen.START) -> None:
        """Abandon the game, without saving it, for a new one from a FEN as `fen.write` writes it."""
        self.game = OngoingGame(start, chess960=True)
        self._is_end_told = False
        self._undone.clear()
        self._files = PgnFiles()
        self._kept = self._state()
        self._clock.reset()
        for thinker in self._thinkers:
            thinker.new_game()
        self._settle()

    @_operation
    def switch_sides(self) -> None:
        """Swap the players' sides, with their clocks."""
        self._require_game()
        self._drop()
        self._players.reverse()
        self._thinkers.reverse()
        self._clock.swap()
        self._settle()

    @_operation
    def set_player(self, side: int, player: Player) -> None:
        """Let this player play a side from now on, with a full clock. An engine that is thinking about its
        move still makes it, unless a person takes its place.
        """
        is_relieved = isinstance(player, Person) and side == self.game.board.side and self.is_engine_to_move()
        self._players[side] = player
        self._clock.set(side, player.clock)
        if is_relieved:
            self._drop()
            self._settle()

    @_operation
    def set_elo(self, side: int, elo: int | None) -> None:
        """Set the Elo of the engine that plays a side, from its next move on; None for full strength."""
        player = self._players[side]
        if not isinstance(player, Engine):
            raise ValueError(f"{SIDES[side]} is not played by the engine")
        self._players[side] = replace(player, elo=elo)

    def close(self) -> None:
        """Stop the engine's searches for good, and wait for them. Not from a callback or under the lock."""
        with self.lock:
            self._drop()
            self._clock.stop()
        for thinker in self._thinkers:
            thinker.close()

    # Saving.

    @_operation
    def record(self) -> pgn.Game:
        """The game as it is saved."""
        tags = {"Event": "Casual game", "Date": time.strftime("%Y.%m.%d"), "Round": "-"}
        controls = {}
        for side, player in enumerate(self._players):
            tags[SIDES[side]] = player.name
            if isinstance(player, Engine) and player.elo is not None:
                tags[f"{SIDES[side]}Elo"] = str(player.elo)
            if player.clock is not None:
                controls[f"{SIDES[side]}TimeControl"] = time_control.write(player.clock)
        if len(set(controls.values())) > 1:
            tags |= {"TimeControl": "?", **controls}
        else:
            tags["TimeControl"] = next(iter(controls.values()), "-")
        if self.game.reason:
            tags["Termination"] = self.game.reason
        game = self.game.record(tags)
        opening = openings.of_game(game)
        if opening is not None:
            game.tags |= {"ECO": opening.eco, "Opening": opening.name}
        return game

    @_operation
    def save(self, path: str) -> None:
        """Append the game to a PGN file, replacing what it wrote there before."""
        self._files.write(path, pgn.write(self.record()))
        self._kept = self._state()

    @_operation
    def keep(self) -> str:
        """Save the game where it was saved last, otherwise in GAMES_FILE, if it has changed since. Returns
        the path, "" if there was nothing to save.
        """
        if self._kept == self._state():
            return ""
        path = self._files.last() or GAMES_FILE
        self.save(path)
        return path

    def _state(self) -> tuple[list[int], str]:
        """The part of the game that makes it worth saving again: its moves and its result."""
        return list(self.game.moves), self.game.result

    # Helpers.

    def _require_game(self) -> None:
        if self.game.is_over():
            raise ValueError("The game is over")

    def _require_idle(self) -> None:
        self._require_game()
        if self.is_thinking():
            raise ValueError("The engine is still thinking")

    def _adviser(self) -> tuple[int, Engine]:
        """The engine that thinks now, and its side: the mover's, the opponent's, or one for advice."""
        side = self.game.board.side
        for where in (side, side ^ 1):
            player = self._players[where]
            if isinstance(player, Engine):
                return where, player
        return side, Engine(Limits(movetime=HINT_TIME))

    def _limits(self) -> Limits:
        """The limits of a search for a move: the clock of the side to move, the engine's if it has none."""
        where, engine = self._adviser()
        if engine.clock is None:
            return engine.limits
        own = self._clock.pace(self.game.board.side)
        left = self._clock.left(where if own is None else self.game.board.side)
        milliseconds = max(1, int(left or 0))
        return (own or engine.clock)._replace(time=(milliseconds, milliseconds))

    def _advice(self) -> Limits:
        """The limits of a search for a hint."""
        _, engine = self._adviser()
        return engine.limits if engine.clock is None else Limits(movetime=HINT_TIME)

    def _think(
        self,
        limits: Limits,
        on_answer: Callable[[int, Report | None], object],
        pause: float = 0.0,
        is_limited: bool = True,
    ) -> None:
        where, engine = self._adviser()
        elo = engine.elo if is_limited else None
        self._request = Request(self.game.board, limits, elo, self._on_report, on_answer, pause)
        self._thinkers[where].think(self._request)

    def _drop(self) -> None:
        """Cancel the request to the engine."""
        for thinker in self._thinkers:
            thinker.drop()

    def _land(self, move: int, report: Report | None) -> None:
        """Play the move that the engine has found, if its flag has not fallen."""
        self._look_at_flag()
        if not self.game.is_over():
            self._settle(self._make(move, report))

    def _make(self, move: int, report: Report | None) -> NotedMove:
        """Play a move."""
        noted = note(self.game.board, move, report)
        self._clock.press(self.game.board.side)
        self.game.play(move)
        self._undone.clear()
        return noted

    def _settle(self, noted: NotedMove | None = None) -> None:
        """Start the mover's clock once a move has been made; report the engine's move and the game's end."""
        self._clock.stop()
        if self.game.moves and not self.game.is_over():
            self._clock.start(self.game.board.side)
        if not self.game.is_over():
            self._is_end_told = False
        if noted is not None:
            self._on_move(noted)
        # The callback may have changed the game.
        if self.game.is_over() and not self._is_end_told:
            self._is_end_told = True
            self._on_over()

    def _look_at_flag(self) -> None:
        """End the game if a flag has fallen."""
        side = self._clock.fallen()
        if side is not None:
            self._drop()
            self.game.run_out_of_time(side)
            self._settle()

    @_operation
    def _ring(self) -> None:
        """Called when a clock has rung; `_operation` has checked the flag."""
        self._clock.set_alarm()


def _require_positive(name: str, count: int) -> None:
    if count < 1:
        raise ValueError(f"{name} takes a number of moves from 1, not {count}")


def _ignore(*_arguments: object) -> None:
    """Ignore the callback's arguments."""
