"""The engine as an analyst: live lines for the position on the board, the threat, and verdicts on the moves
that led there.
"""

import threading
from collections.abc import Callable
from typing import NamedTuple

from moff.game.thinker import Request, Thinker
from moff.page.gametree import GameTree, Node
from moff.page.verdict import Verdict, judge
from moff.syzygy_path import search_with_tables
from search.limits import Limits
from search.line import Report
from search.score import DRAW, MATE, MAX_PLY, mate_distance
from search.search import Search
from x88 import build
from x88.attack import in_check
from x88.board import Board
from x88.move import NO_MOVE, captured_of, target_of
from x88.movegen import legal_moves

HASHES = (16, 2048)
"""The smallest and the largest transposition table, in megabytes."""

MOST_LINES = 5
ENOUGH = 10 if build.compiled else 3
"""The minimum depth in plies of a score for a verdict."""

FIRST_LOOK = 300
"""Milliseconds for the position on the board, before anything else is searched."""

LOOK_BACK = Limits(nodes=200_000, movetime=1000, lines=2)
"""The limits for searching the position before a move, if it was left too soon to judge the move."""

THREAT = Limits(movetime=500)


class Finding(NamedTuple):
    """A line that was found: the score in centipawns for the side to move, the depth, and packed moves."""

    score: int
    depth: int
    moves: list[int]


class PositionInfo:
    """The findings about a position."""

    def __init__(self) -> None:
        self.lines: list[Finding] = []
        """The best lines, best first, of the last iteration that was reported."""
        self.threat: Finding | None = None
        """The opponent's move if it were to move, with the score for that side."""

    def note(self, report: Report) -> None:
        """Record a line of an iteration, unless a deeper one is known: a restarted search soon gets there."""
        index = report.line - 1
        if index < len(self.lines) and self.lines[index].depth > report.depth:
            return
        self.lines[index : index + 1] = [Finding(report.score, report.depth, report.pv)]


class Analyst:
    """A search that follows the position on the board.

    It is used under the lock that it is given, and also calls `on_change` under it.
    """

    def __init__(
        self,
        lock: threading.RLock,
        on_change: Callable[[], object],
        on_verdict: Callable[[Node, bool], object],
        make_search: Callable[[], Search] | None = None,
    ) -> None:
        """`on_change` is called when there is something new about the position, `on_verdict` with each
        verdict on a move, and whether the mark of the move has changed.
        """
        self.threads = 1
        self.hash = 64
        """Megabytes of the transposition table."""
        self._make = make_search or (lambda: search_with_tables(self.hash))
        self.search: Search | None = None
        """None before the first search."""
        self._lock = lock
        self._thinker = Thinker(lock, self._make_search)
        self._on_change = on_change
        self._on_verdict = on_verdict
        self._known: dict[int, PositionInfo] = {}
        self._tree: GameTree | None = None
        self._node: Node | None = None
        self._board: Board | None = None
        self._tasks: list[Request] = []
        self.is_on = False
        self.count = 3
        """The number of lines wanted, 1 to MOST_LINES."""
        self.seeks_threat = False
        self.is_paused = False
        """Whether nobody is watching."""
        self.report: Report | None = None
        """The last report of the search of the position."""

    def known(self, node: Node) -> PositionInfo:
        """The findings about the position after a move."""
        return self._known.setdefault(node.number, PositionInfo())

    def study(self, tree: GameTree, node: Node, board: Board) -> None:
        """Analyse a position of a tree; the board itself is not changed."""
        if tree is not self._tree:
            self._known.clear()
        self._tree, self._node, self._board = tree, node, board
        self.begin()

    def leave(self) -> None:
        """Stop analysing."""
        self._node = None
        self.begin()

    def begin(self) -> None:
        """Restart the searches with the current settings."""
        self._thinker.drop()
        self.report = None
        self._tasks = []
        node, board = self._node, self._board
        if node is None or board is None or self.is_paused:
            return
        is_over = not legal_moves(board)
        if is_over:
            self.known(node).lines = [Finding(-MATE if in_check(board) else DRAW, MAX_PLY, [])]
        del self.known(node).lines[self.count :]
        if self.is_on and not is_over:
            first = Limits(movetime=FIRST_LOOK, lines=self.count)
            self._tasks.append(self._request(board, first, self._note_line))
        threat = self.known(node).threat
        is_threat_known = threat is not None and _is_deep_enough(threat, ENOUGH)
        if self.seeks_threat and not is_threat_known and not in_check(board):
            passed = board.copy()
            passed.make_null()
            if legal_moves(passed):
                self._tasks.append(self._request(passed, THREAT, self._note_threat))
        if self.is_on:
            if self._is_left_too_soon(node):
                assert self._tree is not None
                assert node.parent is not None
                before = self._tree.board(node.parent)
                self._tasks.append(self._request(before, LOOK_BACK, self._note_before))
            if not is_over:
                wanted = Limits(infinite=True, lines=self.count)
                self._tasks.append(self._request(board, wanted, self._note_line))
            self._judge(node)
        self._next()

    def close(self) -> None:
        """Stop for good, and wait for the end. Not to be called under the lock."""
        self._thinker.close()

    def verdict(self, node: Node) -> Verdict | None:
        """The verdict on a move, None if too little is known."""
        if node.parent is None or node.move == NO_MOVE:
            return None
        before, after = self.known(node.parent).lines, self.known(node).lines
        if not before or not _is_deep_enough(before[0], ENOUGH):
            return None
        best = before[0]
        # Prefer the search that compared the move with the best one to one of the position after it.
        compared = next((line for line in before if line.moves[:1] == [node.move]), None)
        enough = min(best.depth - 1, ENOUGH)
        if compared is not None and compared.depth >= best.depth - 1:
            score = compared.score
        elif after and _is_deep_enough(after[0], enough):
            score = -after[0].score
        else:
            return None
        # The best move is worth at least what this move has turned out to be worth.
        best_score = max(best.score, score)
        second = before[1].score if len(before) > 1 and not _is_recapture(node) else None
        return judge(node.move, best.moves[0], best_score, score, second)

    def resize(self, threads: int, megabytes: int) -> None:
        """Search with so many threads and so large a table from now on."""
        self.threads, self.hash = threads, megabytes
        self._thinker.drop()
        self._thinker = Thinker(self._lock, self._make_search)
        self.search = None
        self.begin()

    def _is_left_too_soon(self, node: Node) -> bool:
        if node.parent is None or node.move == NO_MOVE:
            return False
        lines = self.known(node.parent).lines
        return not lines or not _is_deep_enough(lines[0], ENOUGH)

    def _make_search(self) -> Search:
        self.search = self._make()
        self.search.resize_pool(self.threads)
        self.search.count_nodes()
        return self.search

    def _request(self, board: Board, limits: Limits, on_report: Callable[[Report], object]) -> Request:
        return Request(board, limits, None, on_report, lambda _move, _report: self._next())

    def _next(self) -> None:
        """Begin the next task."""
        if self._tasks:
            self._thinker.think(self._tasks.pop(0))

    def _note_threat(self, report: Report) -> None:
        if self._node is None or not report.pv or report.bound:
            return
        known = self.known(self._node)
        # A restarted search soon gets as deep as the earlier one.
        if known.threat is None or known.threat.depth <= report.depth:
            known.threat = Finding(report.score, report.depth, report.pv)
            self._on_change()

    def _note_before(self, report: Report) -> None:
        if self._node is not None and self._node.parent is not None and report.pv and not report.bound:
            self.known(self._node.parent).note(report)
            self._judge(self._node)

    def _note_line(self, report: Report) -> None:
        node = self._node
        if node is None or not report.pv or report.bound:
            return
        self.report = report
        self.known(node).note(report)
        self._judge(node)
        self._on_change()

    def _judge(self, node: Node) -> None:
        """Report the verdict on a move, if enough is known by now."""
        verdict = None if node.is_reviewed else self.verdict(node)
        if verdict is not None and verdict != node.verdict:
            before = node.glyph
            node.verdict = verdict
            self._on_verdict(node, node.glyph != before)


def _is_deep_enough(finding: Finding, depth: int) -> bool:
    """Whether a line is deep enough for a verdict; one that leads to mate always is."""
    return finding.depth >= depth or mate_distance(finding.score) is not None


def _is_recapture(node: Node) -> bool:
    """Whether a move recaptures: nobody needs to be told that it is good."""
    before = node.parent.move if node.parent is not None else NO_MOVE
    return bool(captured_of(before) and captured_of(node.move)) and target_of(before) == target_of(node.move)
