"""A lesson made of the mistakes of one side: better moves are to be found on the board."""

import threading
from collections.abc import Callable
from typing import Any

from moff.accuracy import judge
from moff.game.thinker import Request, Thinker
from moff.page.gametree import GameTree, Node
from moff.page.treevalues import judgements, main_line, mark_of
from moff.syzygy_path import search_with_tables
from search.limits import Limits
from search.line import Report
from x88.board import Board
from x88.move import NO_MOVE
from x88.movegen import legal_moves
from x88.notation import fen, san
from x88.notation.outcome import Outcome, outcome
from x88.piece import BLACK, SIDES, WHITE

HASH = 16
LOOK = Limits(nodes=400_000, movetime=1500)
"""The limits for looking at a move that was tried."""

ASKING, LOOKING, GOOD, PLAYED, BAD, SOLUTION, OVER = (
    "asking", "looking", "good", "played", "bad", "solution", "over"
)  # fmt: skip


class Lesson:
    """A lesson, used under the lock that it is given."""

    def __init__(
        self, lock: threading.RLock, tree: GameTree, side: int, on_change: Callable[[], object]
    ) -> None:
        """The mistakes of a side on the reviewed main line of a tree. Raises ValueError if there are none."""
        if judgements(tree) is None:
            raise ValueError("The game has not been reviewed yet")
        self._tasks = [
            node
            for node in main_line(tree)[1:]
            if mark_of(node) and node.parent is not None and _side(node.parent) == side
        ]
        if not self._tasks:
            raise ValueError(f"{SIDES[side]} has made no mistake")
        self._side = side
        self._on_change = on_change
        self._thinker = Thinker(lock, lambda: search_with_tables(HASH))
        self._index = 0
        self._status = ASKING
        self._tried = ""
        self._loss = 0
        self._solved = 0
        self._resets = 0

    @property
    def node(self) -> Node:
        """The position to find a move in."""
        parent = self._tasks[min(self._index, len(self._tasks) - 1)].parent
        assert parent is not None
        return parent

    def is_asking(self) -> bool:
        """Whether a move may be tried."""
        return self._status in (ASKING, PLAYED, BAD)

    def attempt(self, move: int) -> None:
        """Try a move. Raises ValueError if none is asked for."""
        if not self.is_asking():
            raise ValueError("No move is asked for now")
        task, best = self._tasks[self._index], self._best()
        board = fen.parse(self.node.fen, chess960=True)
        self._tried = san.write(board, move)
        if move == best:
            self._answer(GOOD)
        elif move == task.move:
            self._answer(PLAYED)
        else:
            self._look(board, move)

    def show_solution(self) -> None:
        """Show the best move."""
        self._thinker.drop()
        self._answer(SOLUTION)

    def go_on(self) -> None:
        """Go on with the next mistake."""
        self._thinker.drop()
        self._index += 1
        self._answer(ASKING if self._index < len(self._tasks) else OVER)

    def close(self) -> None:
        """End the search. Not under the lock."""
        self._thinker.close()

    def drop(self) -> None:
        """Drop what is being looked at."""
        self._thinker.drop()

    def arrow(self) -> int:
        """The best move, once it may be seen; NO_MOVE before."""
        return self._best() if self._status in (GOOD, SOLUTION) else NO_MOVE

    def values(self) -> dict[str, Any]:
        """The lesson for JSON."""
        task = self._tasks[min(self._index, len(self._tasks) - 1)]
        best = self._best()
        is_told = best != NO_MOVE and self._status in (GOOD, SOLUTION)
        return {
            "side": SIDES[self._side],
            "number": self._index + 1,
            "total": len(self._tasks),
            "solved": self._solved,
            "played": f"{task.turn} {task.san}",
            "status": self._status,
            "tried": self._tried,
            "loss": self._loss,
            "best": san.write(fen.parse(self.node.fen, chess960=True), best) if is_told else "",
            "resets": self._resets,
        }

    def _best(self) -> int:
        """The best move: the review's, otherwise the first of the game's variations."""
        task = self._tasks[min(self._index, len(self._tasks) - 1)]
        if task.verdict is not None and task.verdict.best:
            return task.verdict.best
        others = [node.move for node in self.node.children if node is not task]
        return others[0] if others else NO_MOVE

    def _look(self, board: Board, move: int) -> None:
        """Have the engine judge a move."""
        after = board.copy()
        after.make(move)
        over = outcome(after)
        if over is not None or not legal_moves(after):
            self._judge(30_000 if over == Outcome.CHECKMATE else 0)
            return
        self._status = LOOKING
        self._on_change()

        def answer(_move: int, report: Report | None) -> None:
            self._judge(-report.score if report is not None else 0)

        self._thinker.think(Request(after, LOOK, None, lambda _report: None, answer))

    def _judge(self, score: int) -> None:
        """Answer an attempt by its score for the side that plays it."""
        before = self.node.remarks.score or 0
        judged = judge(before if self._side == WHITE else -before, score)
        self._loss = round(100 * judged.loss)
        self._answer(BAD if judged.mark else GOOD)

    def _answer(self, status: str) -> None:
        self._solved += status == GOOD
        if status != GOOD:
            self._resets += 1
        self._status = status
        self._on_change()


def _side(node: Node) -> int:
    return WHITE if node.fen.split()[1] == "w" else BLACK
