"""A review of a game on the page: searched from its end to its start, and the curve fills while it goes."""

import threading
import time
from collections.abc import Callable

from moff.page.gametree import GameTree, Node
from moff.page.treevalues import judgements, main_line
from moff.page.verdict import Verdict
from moff.reviews.analysis import Assessment, assess
from moff.syzygy_path import search_with_tables
from search.limits import Limits
from x88.move import NO_MOVE

NODES = 1_000_000
"""Nodes for each position, as many as lichess spends on a review that a person asks for."""

HASH = 64
"""Megabytes of the transposition table."""


class GameReview:
    """A review that runs in a thread of its own until it has ended or is stopped."""

    def __init__(
        self,
        lock: threading.RLock,
        tree: GameTree,
        threads: int,
        on_change: Callable[[], object],
        nodes: int = NODES,
    ) -> None:
        """`on_change` is called under the lock whenever something is new. Raises MemoryError."""
        self.tree = tree
        self.done = 0
        """Positions assessed."""
        self._line = main_line(tree)
        self.total = len(self._line)
        self._lock = lock
        self._on_change = on_change
        self._limits = Limits(nodes=nodes)
        self._began = time.monotonic()
        self._is_stopped = False
        self.is_over = False
        self._search = search_with_tables(HASH)
        self._search.resize_pool(threads)
        self._thread = threading.Thread(target=self._run, name="review", daemon=True)
        self._thread.start()

    def seconds_left(self) -> float | None:
        """An estimate of the time left, None for too little to go by."""
        if self.done < 3:
            return None
        return (time.monotonic() - self._began) / self.done * (self.total - self.done)

    def stop(self) -> None:
        """Stop; what has been assessed stays."""
        self._is_stopped = True
        self._search.stop()

    def close(self) -> None:
        """Stop, and wait for the end. Not under the lock."""
        while self._thread.is_alive():
            self.stop()
            self._thread.join(0.01)

    def _run(self) -> None:
        moves = [node.move for node in self._line[1:]]
        found = assess(
            self._search, self._limits, self.tree.start, moves, self._note, lambda: self._is_stopped
        )
        with self._lock:
            self.is_over = True
            if found is not None:
                self._conclude(found)
            self._on_change()

    def _note(self, assessment: Assessment) -> None:
        """Note the assessment of the next position, from the last one on."""
        with self._lock:
            self.done += 1
            node = self._line[-self.done]
            node.assess(assessment.score if _is_white_to_move(node) else -assessment.score, assessment.depth)
            self.tree.is_changed = True
            self._on_change()

    def _conclude(self, found: list[Assessment]) -> None:
        """Mark the moves, with better lines as variations and refutations to draw."""
        best = [assessment.line[0] if assessment.line else NO_MOVE for assessment in found]
        for i, judged in enumerate(judgements(self.tree, best, self._line) or ()):
            node = self._line[i + 1]
            node.is_reviewed = True
            node.verdict = Verdict(judged.mark, judged.loss, best[i])
            node.refutation = found[i + 1].line if judged.mark else []
            if judged.mark:
                self._add_line(self._line[i], found[i].line)

    def _add_line(self, parent: Node, moves: list[int]) -> None:
        """Add a better line as a variation, as far as the tree has room."""
        node, board = parent, self.tree.board(parent)
        try:
            for move in moves:
                node = self.tree.add(node, board, move)
                board.make(move)
        except ValueError:
            return  # the tree is full


def _is_white_to_move(node: Node) -> bool:
    return node.fen.split()[1] == "w"
