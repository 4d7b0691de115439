"""A tab of the board page as values for JSON: all chess is decided here, the page only draws."""

from collections.abc import Callable, Iterable
from typing import Any

from moff.accuracy import BLUNDER, INACCURACY, MISTAKE
from moff.game.levels import LEVELS
from moff.game.notation import move_number
from moff.game.player import Engine, Person
from moff.page.gametree import Node
from moff.page.known import book_moves, table_moves
from moff.page.tab import PROCESSORS, Tab
from moff.page.treevalues import evaluation, tree_values
from moff.reviews.reviewer import clock
from search.line import Report
from x88 import square
from x88.attack import in_check
from x88.board import Board
from x88.move import CASTLING, NO_MOVE, is_home_castling
from x88.movegen import legal_moves
from x88.notation import coordinate, fen, san
from x88.notation.outcome import outcome
from x88.piece import BLACK, SIDES, WHITE

LONGEST_LINE = 20
"""Plies of a line that are shown."""

ARROW_COLOURS = ("blue", "sky", "sky", "sky", "sky")
"""The arrow colours of the best lines, best first."""

BAD = (INACCURACY, MISTAKE, BLUNDER)
"""The marks of moves that are refuted on the board."""


def snapshots(tab: Tab, topics: Callable[[], list[str]]) -> dict[str, dict[str, Any]]:
    """The values of several topics, all as of the moment when `topics` names them."""
    with tab.lock:
        return {topic: snapshot(tab, topic) for topic in topics()}


def snapshot(tab: Tab, topic: str) -> dict[str, Any]:
    """The values of a topic."""
    with tab.lock:
        return View(tab).topic(topic)


class View:
    """A tab as values for JSON, used under the tab's lock."""

    def __init__(self, tab: Tab) -> None:
        self._tab = tab

    def topic(self, name: str) -> dict[str, Any]:
        """The values of a topic."""
        topics = {
            "state": self._state,
            "tree": lambda: tree_values(self._tab.tree),
            "lines": self._lines,
            "games": self._games,
        }
        return topics[name]()

    # The board and the game.

    def _state(self) -> dict[str, Any]:
        tab = self._tab
        board, node = tab.board, tab.node
        is_open = tab.mode != "play" or tab.person_to_move()
        moves = [coordinate.write(move) for move in legal_moves(board)] if is_open else []
        # Both forms of castling: the king onto its target or onto its rook.
        castles = [move for move in legal_moves(board) if move & CASTLING and is_home_castling(move)]
        moves += [coordinate.write(move, chess960=True) for move in castles if is_open]
        if tab.lesson is not None and not tab.lesson.is_asking():
            moves = []
        return {
            "mode": tab.mode,
            "flipped": tab.is_flipped,
            "node": node.number,
            "fen": fen.write(board),
            "side": SIDES[board.side],
            "check": square.name(board.king(board.side)) if in_check(board) else "",
            "moves": moves,
            "verdict": tab.tree.verdict_text(node),
            "said": tab.said,
            "notice": tab.notice,
            "end": self._end(board),
            "game": self._game(),
            "engine": {
                "on": tab.analyst.is_on,
                "lines": tab.analyst.count,
                "threat": tab.analyst.seeks_threat,
                "threads": tab.analyst.threads,
                "hash": tab.analyst.hash,
                "processors": PROCESSORS,
            },
            "review": self._review(),
            "lesson": tab.lesson.values() if tab.lesson is not None else None,
            "book": book_moves(tab.book, board) if tab.book is not None and tab.mode != "play" else [],
            "tables": table_moves(board) if tab.mode != "play" else [],
        }

    def _review(self) -> dict[str, Any] | None:
        review = self._tab.review
        if review is None:
            return None
        left = review.seconds_left()
        return {"done": review.done, "total": review.total, "left": "" if left is None else clock(left)}

    def _end(self, board: Board) -> str:
        """The end of the game at the position shown; empty if it goes on."""
        if self._tab.mode == "play":
            game = self._tab.session.game
            return f"{game.result} ({game.reason})" if game.is_over() else ""
        over = outcome(board)
        return over.value if over is not None else ""

    def _game(self) -> dict[str, Any]:
        session = self._tab.session
        game = session.game
        running = session.running()
        clocks = [session.time_left(side) for side in (WHITE, BLACK)]
        persons = [SIDES[side] for side in (WHITE, BLACK) if isinstance(session.players[side], Person)]
        engine = next((player for player in session.players if isinstance(player, Engine)), None)
        return {
            "names": ["Moff" if isinstance(player, Engine) else player.name for player in session.players],
            "persons": persons,
            "elo": engine.elo if engine is not None else None,
            "moves": len(game.moves),
            "live": self._tab.is_live(),
            "thinking": session.is_thinking(),
            "over": game.is_over(),
            "begun": self._tab.has_begun,
            "redo": session.can_redo(),
            "level": "" if engine is None else level_name(engine.elo),
            "clocks": clocks,
            "running": "" if running is None or clocks[running] is None else SIDES[running],
        }

    # The engine's output.

    def _lines(self) -> dict[str, Any]:
        tab = self._tab
        if tab.mode == "play":
            return self._lines_of_game()
        analyst, board = tab.analyst, tab.board
        known = analyst.known(tab.node)
        report = analyst.report
        lines, firsts = [], set()
        for finding in known.lines[: analyst.count]:
            if finding.moves and finding.moves[0] not in firsts:
                firsts.add(finding.moves[0])
                lines.append(_line(board, finding.moves, finding.score, finding.depth))
        found: dict[str, Any] = {
            "node": tab.node.number,
            "on": analyst.is_on,
            "lines": lines if analyst.is_on else [],
            **_effort(report),
            "bar": _evaluation(board, known.lines[0].score) if analyst.is_on and known.lines else None,
            "threat": None,
        }
        arrows: list[tuple[int, str, str]] = []
        if tab.lesson is not None:
            best = tab.lesson.arrow()
            found["arrows"] = _drawn([(best, "green", "best")] if best != NO_MOVE else [])
            return found
        if analyst.is_on:
            arrows += self._arrows_of_verdict(tab.node)
            if not arrows:
                firsts_of = [finding.moves[0] for finding in known.lines[: analyst.count] if finding.moves]
                pairs = zip(firsts_of, ARROW_COLOURS, strict=False)
                arrows += [(move, colour, "other" if i else "best") for i, (move, colour) in enumerate(pairs)]
        if analyst.seeks_threat:
            found["threat"] = "in check, there is no threat" if in_check(board) else "…"
            if known.threat is not None and not in_check(board):
                passed = board.copy()
                passed.make_null()
                score = known.threat.score
                found["threat"] = _line(passed, known.threat.moves, score, known.threat.depth)
                arrows.append((known.threat.moves[0], "purple", "threat"))
        found["arrows"] = _drawn(arrows)
        return found

    def _lines_of_game(self) -> dict[str, Any]:
        tab = self._tab
        hint = [(tab.hint.move, "blue", "hint")] if tab.hint is not None and tab.is_live() else []
        report, noted = tab.report, tab.hint
        return {
            "node": tab.node.number,
            "on": False,
            "lines": [],
            **_effort(report),
            "bar": None,
            "threat": None,
            "hint": noted.san if noted is not None else "",
            "arrows": _drawn(hint),
        }

    def _arrows_of_verdict(self, node: Node) -> list[tuple[int, str, str]]:
        """After a bad move: its refutation and the follow-up."""
        if node.verdict is None or node.verdict.glyph not in BAD:
            return []
        lines = self._tab.analyst.known(node).lines
        moves = lines[0].moves if lines else []
        return [
            (move, colour, name)
            for move, colour, name in zip(
                moves[:3:2], ("red", "orange"), ("refutation", "follow-up"), strict=False
            )
        ]

    # Games.

    def _games(self) -> dict[str, Any]:
        games = self._tab.games
        if games is None:
            return {"list": 0, "name": "", "count": 0, "opened": 0, "can_save": False}
        return {
            "list": self._tab.lists,
            "name": games.name,
            "count": len(games),
            "opened": self._tab.opened,
            "can_save": games.can_save(),
        }


def _drawn(arrows: Iterable[tuple[int, str, str]]) -> list[dict[str, str]]:
    """Arrows by their squares, colours and names."""
    return [
        dict(zip(("from", "to", "colour", "name"), (*_squares(move), colour, name), strict=True))
        for move, colour, name in arrows
    ]


def level_name(elo: int | None) -> str:
    """The name of the level with this Elo; empty if none has it."""
    return next((level.name for level in LEVELS if level.elo == elo), "")


def _squares(move: int) -> list[str]:
    return [square.name(sq) for sq in coordinate.squares(move)]


def _effort(report: Report | None) -> dict[str, int]:
    """The depth, nodes and nodes per second of a report."""
    if report is None:
        return {"depth": 0, "nodes": 0, "speed": 0}
    speed = int(report.nodes / max(report.elapsed, 1) * 1000)
    return {"depth": report.depth, "nodes": report.nodes, "speed": speed}


def _line(board: Board, moves: list[int], score: int, depth: int) -> dict[str, Any]:
    """A line with its score, which is given for the side to move and shown for White."""
    position = board.copy()
    move_texts: list[dict[str, str]] = []
    for move in moves[:LONGEST_LINE]:
        turn = move_number(position) if position.side == WHITE or not move_texts else ""
        uci = coordinate.write(move)
        move_texts.append({"turn": turn, "san": san.write(position, move), "uci": uci})
        position.make(move)
    return {"score": _evaluation(board, score)["text"], "depth": depth, "moves": move_texts}


def _evaluation(board: Board, score: int) -> dict[str, Any]:
    """A score for the side to move, from White's view: its text, and White's expected score in permille."""
    return evaluation(score if board.side == WHITE else -score)
