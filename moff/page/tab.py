"""A tab of the board page: a game against the engine, and an analysis.

Commands come by name, with JSON values. Nothing here knows how they are transmitted.
"""

import secrets
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from moff.console import user_name
from moff.game import time_control
from moff.game.notation import NotedMove, read_move
from moff.game.player import Engine, Person
from moff.game.session import HASH, Session
from moff.messages import echo
from moff.page import testboard
from moff.page.analyst import MOST_LINES, Analyst
from moff.page.gamelist import GameList
from moff.page.gametree import GameTree, Node
from moff.page.values import Values
from moff.syzygy_path import search_with_tables
from search.limits import Limits
from search.line import Report
from search.search import Search
from x88.board import Board
from x88.notation import chess960, fen, pgn
from x88.piece import BLACK, WHITE

PLAY, ANALYSIS = "play", "analysis"
MOVE_TIME = 1000
"""Milliseconds for an engine move in a game without clocks."""

MOST_ROWS = 100
"""Games of a list that are sent at once."""


class Tab:
    """A tab: all that it shows is kept here, so that it can be reloaded in the middle of a game.

    Several threads may use it. A refused command raises a ValueError with the reason and changes nothing.
    """

    def __init__(self, start: str = "", games: GameList | None = None) -> None:
        """A game from the start position; or an analysis of a position, or of the first of some games."""
        self._listeners: list[Callable[[str], object]] = []
        self._player = user_name()
        self._search: Search | None = None
        self._session = Session(
            Person(self._player),
            Engine(Limits(movetime=MOVE_TIME)),
            has_flags=True,
            on_report=self._on_report,
            on_move=self._on_move,
            on_over=self._on_over,
            make_search=self._make_search,
        )
        self.lock = self._session.lock
        self.analyst = Analyst(self.lock, partial(self._changed, "lines"), self._on_verdict)
        self.mode = PLAY
        self.is_flipped = False
        self.said = ""
        """The latest event, for a screen reader."""
        self.report: Report | None = None
        """The engine's latest thoughts in the game."""
        self.hint: NotedMove | None = None
        self.games: GameList | None = None
        self.lists = 0
        """The number of lists of games so far."""
        self.opened = 0
        """The number of the opened game, 0 if it is not from the list."""
        self._game_tree = GameTree()
        self._analysis_tree = GameTree()
        self.tree = self._game_tree
        self.node = self.tree.root
        self.board: Board = self.tree.board(self.node)
        if games is not None:
            self._list(games)
        elif start:
            self._analyse(GameTree(start))

    # Called by the server.

    def listen(self, listener: Callable[[str], object]) -> None:
        """Report the topic of every change from now on: "state", "tree", "lines" or "games"."""
        with self.lock:
            self._listeners.append(listener)

    def leave(self, listener: Callable[[str], object]) -> bool:
        """Remove a listener; returns whether there is another one."""
        with self.lock:
            self._listeners.remove(listener)
            return bool(self._listeners)

    def pause(self) -> None:
        """Stop all searches, as nobody is watching: the engine moves at once if it is to move."""
        with self.lock:
            self._session.move_now()
            self.analyst.is_paused = True
            self.analyst.begin()

    def resume(self) -> None:
        """Go on after a pause."""
        with self.lock:
            if self.analyst.is_paused:
                self.analyst.is_paused = False
                self.analyst.begin()
            self._let_engine_move()

    def close(self) -> None:
        """Stop for good, and wait for the searches. Not to be called under the lock."""
        # A command in transit must not begin a search that nobody would stop.
        with self.lock:
            self.analyst.is_paused = True
        self._session.close()
        self.analyst.close()

    def do(self, name: str, values: dict[str, Any]) -> dict[str, Any]:
        """Carry out a command; returns its answer, if it has one. Raises ValueError with the reason."""
        commands: dict[str, Callable[[Values], dict[str, Any] | None]] = {
            "new_game": self._new_game,
            "move": self._move,
            "take_back": lambda _: self._play(self._session.take_back),
            "redo": lambda _: self._play(self._session.redo),
            "resign": self._resign,
            "draw": self._draw,
            "hint": self._hint,
            "move_now": lambda _: self._session.move_now(),
            "go_to": self._go_to,
            "flip": self._flip,
            "mode": self._set_mode,
            "engine": self._set_engine,
            "delete": self._delete,
            "promote": self._promote,
            "follow": self._follow,
            "set_up": self._set_up,
            "list": self._list_rows,
            "open": self._open,
            "fens": self._fens,
            "testboard": self._testboard,
            "searched": self._searched,
        }
        if name not in commands:
            raise ValueError(f"unknown command {echo(name)}")
        with self.lock:
            return commands[name](Values(values)) or {}

    def open_games(self, name: str, text: bytes) -> dict[str, Any]:
        """List the games of a PGN text and open the first; returns their number. Raises ValueError."""
        games = GameList(name, text)
        with self.lock:
            self._list(games)
        return {"games": len(games)}

    def pgn(self) -> str:
        """The board's content as PGN: the game, or the analysis with its variations and marks."""
        with self.lock:
            return pgn.write(self._session.record() if self.mode == PLAY else self.tree.game())

    @property
    def session(self) -> Session:
        """The game, for reading only."""
        return self._session

    def is_live(self) -> bool:
        """Whether the board shows the current position of the game being played."""
        return self.mode == PLAY and not self.node.children

    def person_to_move(self) -> bool:
        """Whether a move made on the board now is a move of the game."""
        return self.is_live() and not self._session.game.is_over() and not self._session.is_engine_to_move()

    def search(self) -> Search | None:
        """The search of this mode, None until it is needed."""
        return self._search if self.mode == PLAY else self.analyst.search

    # The game.

    def _new_game(self, values: Values) -> None:
        """Begin a game: "colour" white, black, random or both; "elo", default full strength; "clock" as
        `time_control` reads it, empty for none; "chess960" to begin from Chess960 start position "number",
        default random; "here" to begin from the position on the board.
        """
        colour = values.choice("colour", ("white", "black", "random", "both"))
        elo = values.elo()
        control = values.text("clock", "")
        clock = time_control.parse(control) if control else None
        start, said = fen.START, "A new game"
        if values.flag("here"):
            # Without its history, so that a repetition cannot end the game at once.
            start = fen.write(self.board)
        elif values.flag("chess960"):
            number = chess960.draw()
            if values.has("number"):
                number = values.number("number", 0, chess960.POSITIONS - 1)
            start = chess960.start(number)
            said += f" from start position {number} of Chess960"
        person = Person(self._player, clock)
        engine = Engine(clock or Limits(movetime=MOVE_TIME), elo)
        if colour == "random":
            colour = secrets.choice(("white", "black"))
        session = self._session
        session.set_player(WHITE, engine if colour == "black" else person)
        session.set_player(BLACK, engine if colour == "white" else replace(person, name="Player 2"))
        if colour != "both":
            session.set_player(WHITE if colour == "white" else BLACK, person)
        session.new_game(start)
        self.mode = PLAY
        self.is_flipped = colour == "black"
        self.report = self.hint = None
        self._show_game()
        self._say(said)
        self._let_engine_move()

    def _move(self, values: Values) -> None:
        """Play a move, in coordinates or SAN: in the game, or as an attempt in the analysis."""
        text = values.text("text")
        if self.mode == ANALYSIS:
            move = read_move(self.board, text)
            node = self.tree.add(self.node, self.board, move)
            self._changed("tree")
            self._show(node)
            self._say(f"{node.turn} {node.san}")
            return
        if self.node.children:
            raise ValueError("This is an earlier position of the game: go to the last one, or analyse")
        self._play(lambda: self._session.play(text))

    def _play(self, change: Callable[[], object]) -> None:
        """Change the game, and let the engine move if it is its turn."""
        self._require_game()
        change()
        self.hint = None
        self._show_game()
        if self.node.san and not self._session.game.is_over():
            self._say(f"{self.node.turn} {self.node.san}")
        self._let_engine_move()

    def _resign(self, _values: Values) -> None:
        self._require_game()
        self._session.resign(self._own_side())

    def _draw(self, _values: Values) -> None:
        self._require_game()
        if all(isinstance(player, Person) for player in self._session.players):
            self._session.agree_draw()
            return

        def answer(reason: str) -> None:
            self._say(f"Draw declined: {reason}" if reason else "Draw agreed")

        self._session.offer_draw(answer)
        self._changed("state")

    def _hint(self, _values: Values) -> None:
        self._require_game()

        def show(noted: NotedMove) -> None:
            self.hint = noted
            self._say(f"Hint: {noted.san}")
            self._changed("lines")

        self._session.hint(show)
        self._changed("state")

    def _own_side(self) -> int:
        """The person's side; the side to move if two persons play."""
        persons = [side for side in (WHITE, BLACK) if isinstance(self._session.players[side], Person)]
        return persons[0] if len(persons) == 1 else self._session.game.board.side

    def _require_game(self) -> None:
        if self.mode != PLAY:
            raise ValueError("The board shows an analysis: go back to the game first")

    def _let_engine_move(self) -> None:
        if self._session.is_engine_to_move() and not self._session.is_thinking():
            self._session.go()
            self._changed("state")

    def _show_game(self) -> None:
        """Show the last position of the game."""
        game = self._session.game
        line = self._game_tree.path(self._game_tree.last())
        moves = [node.move for node in line]
        if self._game_tree.start != game.start or game.moves[: len(moves)] != moves:
            self._game_tree = GameTree.from_moves(game.start, game.moves)
        else:
            node = self._game_tree.last()
            for move in game.moves[len(moves) :]:
                node = self._game_tree.add(node, self._game_tree.board(node), move)
        self._game_tree.result = game.result
        if self.mode == PLAY:
            self.tree = self._game_tree
            self._changed("tree")
            self._show(self.tree.last())

    def _on_report(self, report: Report) -> None:
        if report.pv and not report.bound:
            self.report = report
            self._changed("lines")

    def _on_move(self, noted: NotedMove) -> None:
        """Report a move of the engine."""
        self.hint = None
        self._show_game()
        if not self._session.game.is_over():
            self._say(f"{noted.number} {noted.san}")

    def _on_over(self) -> None:
        self._show_game()
        game, last = self._session.game, self._game_tree.last()
        move = f"{last.turn} {last.san}. " if last.san else ""
        self._say(f"{move}{game.result}: {game.reason}")

    def _make_search(self) -> Search:
        self._search = search_with_tables(HASH)
        self._search.count_nodes()
        return self._search

    # The analysis.

    def _analyse(self, tree: GameTree, opened: int = 0) -> None:
        """Show a tree from its start, for analysis."""
        self.mode = ANALYSIS
        self.opened = opened
        self._analysis_tree = self.tree = tree
        self._changed("tree")
        self._changed("games")
        self._show(tree.root)

    def _set_mode(self, values: Values) -> None:
        """Go back to the game or to the analysis; "game" copies the game into the analysis."""
        mode = values.choice("mode", (PLAY, ANALYSIS))
        if values.flag("game"):
            tree = GameTree.from_game(self._session.record())
            self._analyse(tree)
            self._show(tree.last())
            return
        if mode == self.mode:
            return
        self.mode = mode
        self.tree = self._game_tree if mode == PLAY else self._analysis_tree
        self._changed("tree")
        self._show(self.tree.last() if mode == PLAY else self.tree.root)
        if mode == PLAY:
            self._let_engine_move()

    def _set_engine(self, values: Values) -> None:
        """Switch the engine on or off, and set what it shows: "on", "lines", "threat"."""
        if values.has("lines"):
            self.analyst.count = values.number("lines", 1, MOST_LINES)
        self.analyst.is_on = values.flag("on", self.analyst.is_on)
        self.analyst.seeks_threat = values.flag("threat", self.analyst.seeks_threat)
        self.analyst.begin()
        self._changed("state")
        self._changed("lines")

    def _go_to(self, values: Values) -> None:
        """Show the position after a move of the tree: "node", 0 for the start."""
        self._show(self.tree.node(values.number("node", 0)))

    def _follow(self, values: Values) -> None:
        """Play "moves" in SAN after the move "node": part of a live line, which may have changed by now."""
        self._require_analysis()
        node = self.tree.node(values.number("node", 0))
        board, moves = self.tree.board(node), []
        for text in values.text("moves").split():
            moves.append(read_move(board, text))
            board.make(moves[-1])
        for move in moves:
            node = self.tree.add(node, self.tree.board(node), move)
        self._changed("tree")
        self._show(node)

    def _delete(self, values: Values) -> None:
        self._require_analysis()
        node = self.tree.node(values.number("node", 0))
        is_gone = node in self.tree.path(self.node)
        before = self.tree.delete(node)
        self._changed("tree")
        self._show(before if is_gone else self.node)

    def _promote(self, values: Values) -> None:
        self._require_analysis()
        self.tree.promote(self.tree.node(values.number("node", 0)))
        self._changed("tree")
        self._changed("state")

    def _require_analysis(self) -> None:
        if self.mode != ANALYSIS:
            raise ValueError("The board shows a game that is being played: analyse it first")

    def _on_verdict(self, node: Node, is_marked_anew: bool) -> None:
        self._changed("state")
        if is_marked_anew:
            self._changed("tree")
            if node is self.node and node.glyph:
                self._say(self.tree.verdict_text(node))

    # Pasted positions and games.

    def _set_up(self, values: Values) -> dict[str, Any]:
        """Analyse what was pasted: a FEN or PGN."""
        text = values.text("text").strip()
        warnings: list[str] = []
        if text.partition(" ")[0].count("/") >= 7 and "\n" not in text:
            tree = GameTree(fen.write(fen.parse(text, warnings, self.board.is_chess960())))
            self._analyse(tree)
            self.is_flipped = self.board.side == BLACK
            self._say(" ".join(["A position was set up.", *(f"{sentence}." for sentence in warnings)]))
        else:
            self._list(GameList("the text", text.encode(errors="replace")))
        games = len(self.games) if self.opened and self.games is not None else 0
        return {"games": games}

    def _list(self, games: GameList) -> None:
        self.games = games
        self.lists += 1
        self._open_game(games, 1)

    def _open(self, values: Values) -> None:
        """Analyse a game of the list."""
        if self.games is None:
            raise ValueError("no games are listed")
        self._open_game(self.games, values.number("number", 1, len(self.games)))

    def _open_game(self, games: GameList, number: int) -> None:
        self._analyse(GameTree.from_game(games.read(number)), number)
        fault = games.games[number - 1].fault
        self._say(f"Game {number} is damaged: {fault}" if fault else f"Game {number} was opened")

    def _list_rows(self, values: Values) -> dict[str, Any]:
        """The games with all "words" in their tags, MOST_ROWS of them from index "first" on."""
        if self.games is None:
            return {"count": 0, "rows": []}
        found = self.games.matching(values.text("words", ""))
        first = values.number("first", 0)
        return {"count": len(found), "rows": [game._asdict() for game in found[first : first + MOST_ROWS]]}

    # Information about the position.

    def _fens(self, _values: Values) -> dict[str, Any]:
        """The FEN after every move of the line on the board, to its end."""
        line = self.tree.path(self.tree.last(self.node))
        return {
            "start": self.tree.start,
            "moves": [
                {"node": node.number, "turn": node.turn, "san": node.san, "fen": node.fen} for node in line
            ],
        }

    def _testboard(self, _values: Values) -> dict[str, Any]:
        """The moves of both sides with the generator's scores, the attack map, the values of the pieces."""
        board = self.board
        return {
            "fen": fen.write(board),
            "moves": testboard.moves(board),
            "attacks": testboard.attacks(board),
            "piece_values": testboard.piece_values(board),
        }

    def _searched(self, _values: Values) -> dict[str, Any]:
        """The node counts of the last search for the next two plies."""
        search = self.search()
        branches = [] if search is None else testboard.tree(self.board, search.table, search.count_nodes())
        return {"fen": fen.write(self.board), "branches": [branch.as_dict() for branch in branches]}

    # Helpers.

    def _flip(self, _values: Values) -> None:
        self.is_flipped = not self.is_flipped
        self._changed("state")
        self._changed("lines")

    def _show(self, node: Node) -> None:
        """Show the position after a move of the tree."""
        self.node = node
        self.board = self.tree.board(node)
        if self.mode == ANALYSIS:
            self.analyst.study(self.tree, node, self.board)
        else:
            self.analyst.leave()
        self._changed("state")
        self._changed("lines")

    def _say(self, text: str) -> None:
        self.said = text
        self._changed("state")

    def _changed(self, topic: str) -> None:
        for listener in self._listeners:
            listener(topic)
