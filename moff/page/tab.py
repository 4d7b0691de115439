"""A tab of the board page: a game against the engine, and an analysis.

Commands come by name, with JSON values. Nothing here knows how they are transmitted.
"""

import random
import secrets
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from moff.console import user_name
from moff.game import time_control
from moff.game.levels import DEFAULT_LEVEL
from moff.game.notation import NotedMove, read_move
from moff.game.player import Engine, Person
from moff.game.session import HASH, Session
from moff.messages import echo
from moff.page import testboard
from moff.page.analyst import HASHES, MOST_LINES, Analyst
from moff.page.document import document
from moff.page.gamelist import GameList
from moff.page.gamereview import GameReview
from moff.page.gametree import GameTree, Node
from moff.page.lesson import Lesson
from moff.page.remarks import read_shapes
from moff.page.treevalues import judge_evaluations, tree_values
from moff.page.values import Values
from moff.picture.shapes import escaped
from moff.syzygy_path import search_with_tables
from search.limits import Limits
from search.line import Report
from search.pool import processors
from search.search import Search
from x88.board import Board
from x88.book.book import Book
from x88.notation import chess960, fen, pgn
from x88.piece import BLACK, WHITE

PLAY, ANALYSIS = "play", "analysis"
MOVE_TIME = 1000
"""Milliseconds for an engine move in a game without clocks."""

MOST_ROWS = 100
"""Games of a list that are sent at once."""

PACES = (0.8, 2.0)
"""Seconds that a limited engine takes for a move, as people are slower than it."""

QUIET = ("list", "fens", "testboard", "searched", "shapes", "flip")
"""Commands that leave a notice where it is."""

PROCESSORS = processors()


class Tab:
    """A tab: all that it shows is kept here, so that it can be reloaded in the middle of a game.

    Several threads may use it. A refused command raises a ValueError with the reason and changes nothing.
    """

    def __init__(self, start: str = "", games: GameList | None = None, book: Book | None = None) -> None:
        """A game from the start position; or an analysis of a position, or of the first of some games. `book`
        is a book to look moves up in.
        """
        self.book = book
        self._listeners: list[Callable[[str], object]] = []
        self._player = user_name()
        self._search: Search | None = None
        self._session = Session(
            Person(self._player),
            Engine(Limits(movetime=MOVE_TIME), DEFAULT_LEVEL.elo),
            has_flags=True,
            on_report=self._on_report,
            on_move=self._on_move,
            on_over=self._on_over,
            make_search=self._make_search,
            pace=self._pace,
        )
        self.lock = self._session.lock
        self.analyst = Analyst(self.lock, partial(self._changed, "lines"), self._on_verdict)
        self.mode = PLAY
        self.is_flipped = False
        self.said = ""
        """The latest event, for a screen reader."""
        self.notice = ""
        """A message that everybody sees, until the next command."""
        self.has_begun = False
        """Whether a game was asked for or a move was made."""
        self.review: GameReview | None = None
        """The review that is running."""
        self.lesson: Lesson | None = None
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
        self._left_at = self._analysis_tree.root
        """The move on the board when the analysis was left."""
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
            review, self.review = self.review, None
            lesson, self.lesson = self.lesson, None
            self._keep_chapter()
        self._session.close()
        self.analyst.close()
        for one in (review, lesson):
            if one is not None:
                one.close()

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
            "annotate": self._annotate,
            "shapes": self._shapes,
            "review": self._review,
            "stop_review": self._stop_review,
            "learn": self._learn,
            "lesson": self._lesson,
            "chapter": self._chapter,
            "save": self._save,
            "set_up": self._set_up,
            "list": self._list_rows,
            "open": self._open,
            "fens": self._fens,
            "testboard": self._testboard,
            "searched": self._searched,
        }
        if name not in commands:
            raise ValueError(f"unknown command {echo(name)}")
        before = self.notice
        with self.lock:
            answer = commands[name](Values(values)) or {}
            if name not in QUIET and self.notice and self.notice == before:
                self.notice = ""
                self._changed("state")
            return answer

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
        if values.flag("again"):
            start = self._session.game.start
        elif values.flag("here"):
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
        self._leave_lesson()
        self.has_begun = True
        self.mode = PLAY
        self.is_flipped = colour == "black"
        self.report = self.hint = None
        self._show_game()
        self._say(said)
        self._let_engine_move()

    def _move(self, values: Values) -> None:
        """Play a move, in coordinates or SAN: in the game, or as an attempt in the analysis."""
        text = values.text("text")
        self.has_begun = True
        if self.mode == ANALYSIS:
            move = read_move(self.board, text)
            self._leave_lesson()
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
            self._notify(f"Draw declined: {reason}" if reason else "Draw agreed")

        self._session.offer_draw(answer)
        self._changed("state")

    def _hint(self, _values: Values) -> None:
        self._require_game()

        def show(noted: NotedMove) -> None:
            self.hint = noted
            self._notify(f"Hint: {noted.san}")
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
        self._keep_chapter()
        was_reviewing = self.review is not None
        self._end_review()
        self._leave_lesson()
        self.mode = ANALYSIS
        self.opened = opened
        judge_evaluations(tree)
        self._analysis_tree = self.tree = tree
        self._changed("tree")
        self._changed("games")
        self._show(tree.root)
        if was_reviewing:
            self._notify("The review of the other game was stopped")

    def _set_mode(self, values: Values) -> None:
        """Go back to the game or to the analysis; "game" copies the game into the analysis, as does an
        analysis of nothing.
        """
        mode = values.choice("mode", (PLAY, ANALYSIS))
        is_blank = not self._analysis_tree.root.children and self._analysis_tree.start == fen.START
        if values.flag("game") or (mode == ANALYSIS != self.mode and is_blank and self._session.game.moves):
            tree = GameTree.from_game(self._session.record())
            self._analyse(tree)
            self._show(tree.last())
            return
        if mode == self.mode:
            return
        self._leave_lesson()
        self.mode = mode
        self.tree = self._game_tree if mode == PLAY else self._analysis_tree
        self._changed("tree")
        self._show(self.tree.last() if mode == PLAY else self._left_at)
        if mode == PLAY:
            self._let_engine_move()

    def _set_engine(self, values: Values) -> None:
        """Switch the engine on or off, and set what it shows: "on", "lines", "threat"; and "threads" and the
        megabytes of its "hash".
        """
        if values.has("lines"):
            self.analyst.count = values.number("lines", 1, MOST_LINES)
        if values.has("threads") or values.has("hash"):
            threads, megabytes = self.analyst.threads, self.analyst.hash
            if values.has("threads"):
                threads = values.number("threads", 1, PROCESSORS)
            if values.has("hash"):
                megabytes = values.number("hash", *HASHES)
            self.analyst.resize(threads, megabytes)
        self.analyst.is_on = values.flag("on", self.analyst.is_on)
        self.analyst.seeks_threat = values.flag("threat", self.analyst.seeks_threat)
        self._leave_lesson()
        self.analyst.begin()
        self._changed("state")
        self._changed("lines")

    def _go_to(self, values: Values) -> None:
        """Show the position after a move of the tree: "node", 0 for the start."""
        self._leave_lesson()
        self._show(self.tree.node(values.number("node", 0)))

    def _follow(self, values: Values) -> None:
        """Play "moves" after the move "node": part of a live line, which may have changed by now."""
        self._require_analysis()
        self._leave_lesson()
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
        self._leave_lesson()
        self._end_review()
        before = self.tree.delete(node)
        self._mark_changed()
        self._show(before if is_gone else self.node)

    def _promote(self, values: Values) -> None:
        self._require_analysis()
        self._leave_lesson()
        self._end_review()
        self.tree.promote(self.tree.node(values.number("node", 0)))
        self._mark_changed()
        self._changed("state")

    # Comments, marks, arrows and circles.

    def _annotate(self, values: Values) -> None:
        """Set the "comment" or the mark ("glyph") of the move "node"; of the start, only the comment."""
        self._require_analysis()
        node = self.tree.node(values.number("node", 0))
        if values.has("comment"):
            node.annotate(values.text("comment"))
        if values.has("glyph"):
            if node.parent is None:
                raise ValueError("the start of the game has no mark")
            node.set_glyph(values.text("glyph"))
        self._mark_changed()
        self._changed("state")

    def _shapes(self, values: Values) -> None:
        """Set the arrows and circles drawn on the position after the move "node"."""
        self.tree.node(values.number("node", 0)).draw(read_shapes(values.any("shapes")))
        self._mark_changed()

    def _mark_changed(self) -> None:
        self.tree.is_changed = True
        self._changed("tree")
        self._changed("games")

    # The review and the lesson.

    def _review(self, _values: Values) -> None:
        """Review the game that is analysed, with all processors."""
        self._require_analysis()
        if not self.tree.root.children:
            raise ValueError("There are no moves to review")
        self._leave_lesson()
        self._end_review()
        self.analyst.is_on = False
        self.analyst.begin()
        self.review = GameReview(self.lock, self.tree, PROCESSORS, self._on_review)
        self._changed("state")
        self._changed("lines")

    def _stop_review(self, _values: Values) -> None:
        self._end_review()

    def _end_review(self) -> None:
        review, self.review = self.review, None
        if review is not None:
            review.stop()
            self._changed("state")

    def _on_review(self) -> None:
        review = self.review
        if review is None:
            return
        if review.is_over:
            self.review = None
            self._notify("The game has been reviewed")
        self._changed("tree")
        self._changed("state")
        self._changed("games")

    def _learn(self, values: Values) -> None:
        """Begin a lesson made of the mistakes of "side"."""
        self._require_analysis()
        side = WHITE if values.choice("side", ("white", "black")) == "white" else BLACK
        lesson = Lesson(self.lock, self.tree, side, self._on_lesson)
        self._leave_lesson()
        self.analyst.is_on = False
        self.lesson = lesson
        self.is_flipped = side == BLACK
        self._show(lesson.node)

    def _lesson(self, values: Values) -> None:
        """Go on with the lesson: "what" is try, with the move as "text"; solution, next or end."""
        what = values.choice("what", ("try", "solution", "next", "end"))
        if self.lesson is None:
            raise ValueError("There is no lesson")
        if what == "try":
            self.lesson.attempt(read_move(self.board, values.text("text")))
        elif what == "solution":
            self.lesson.show_solution()
        elif what == "next":
            self.lesson.go_on()
        else:
            self._leave_lesson()
            self._show(self.node)

    def _on_lesson(self) -> None:
        if self.lesson is not None:
            self._show(self.lesson.node)

    def _leave_lesson(self) -> None:
        lesson, self.lesson = self.lesson, None
        if lesson is not None:
            lesson.drop()
            self._changed("state")

    # A study: games as chapters.

    def _keep_chapter(self) -> None:
        """Remember the changes to the opened game of the list."""
        if self.games is not None and self.opened and self._analysis_tree.is_changed:
            self.games.change(self.opened, self._analysis_tree.game())

    def _chapter(self, _values: Values) -> None:
        """Add an empty game to the list, and open it."""
        if self.games is None:
            raise ValueError("no games are listed")
        self._keep_chapter()
        number = self.games.append(GameTree(tags={"Event": self.games.name}).game())
        self.lists += 1
        self._open_game(self.games, number)

    def _save(self, _values: Values) -> None:
        """Write the changes into the file that was opened."""
        if self.games is None:
            raise ValueError("no games are listed")
        self._keep_chapter()
        try:
            self.games.save()
        except OSError as error:
            raise ValueError(f"{self.games.name} cannot be written: {error.strerror}") from None
        self._analysis_tree.is_changed = False
        self._notify(f"{self.games.name} was saved")
        self._changed("games")

    def study(self) -> str:
        """All games of the list as PGN, as they are now; empty without a list."""
        with self.lock:
            if self.games is None:
                return ""
            self._keep_chapter()
            return self.games.written().decode("utf-8", "surrogateescape")

    def report_page(self) -> bytes:
        """The reviewed game as a page of its own."""
        with self.lock:
            values = tree_values(self.tree)
            title = " – ".join(self.tree.tags.get(side, "?") for side in ("White", "Black"))
        report = {"title": title, "games": [{**values, "fault": ""}]}
        return document({"report": report}, escaped(title), has_policy=True)[0]

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
            self.analyst.is_on = True
            self.analyst.begin()
            self._say("A position was set up.")
            if warnings:
                self._notify(" ".join(f"{sentence}." for sentence in warnings))
        else:
            self._list(GameList("the text", text.encode(errors="replace")))
        games = len(self.games) if self.opened and self.games is not None else 0
        return {"games": games}

    def _list(self, games: GameList) -> None:
        self._keep_chapter()
        self.opened = 0
        self.games = games
        self.lists += 1
        self._open_game(games, 1)

    def _open(self, values: Values) -> None:
        """Analyse a game of the list."""
        if self.games is None:
            raise ValueError("no games are listed")
        self._open_game(self.games, values.number("number", 1, len(self.games)))

    def _open_game(self, games: GameList, number: int) -> None:
        self._keep_chapter()
        self._analyse(GameTree.from_game(games.read(number)), number)
        fault = games.games[number - 1].fault
        if fault:
            self._notify(f"Game {number} is damaged: {fault}")
        else:
            self._say(f"Game {number} was opened")

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
            self._left_at = node
            self.analyst.study(self.tree, node, self.board)
        else:
            self.analyst.leave()
        self._changed("state")
        self._changed("lines")

    def _pace(self) -> float:
        """The seconds that the engine takes for its next move at least, fewer if time is short."""
        session = self._session
        player = session.players[session.game.board.side]
        if not isinstance(player, Engine) or player.elo is None:
            return 0.0
        left = session.time_left(session.game.board.side)
        pace = random.uniform(*PACES)
        return pace if left is None else min(pace, left / 1000 / 40)

    def _notify(self, text: str) -> None:
        """Tell everybody something."""
        self.notice = text
        self._say(text)

    def _say(self, text: str) -> None:
        self.said = text
        self._changed("state")

    def _changed(self, topic: str) -> None:
        for listener in self._listeners:
            listener(topic)
