"""Everything that one searching thread writes: its board, its move stack, what it has learnt, its counters.

Only the table and the stop signal are shared with others.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    from search.evaluate import Evaluation
    from search.history import History
    from search.score import MAX_PLY
    from search.stop import Stop
    from search.table import Table
    from x88.board import Board
    from x88.movegen import MoveStack


class Searcher:
    """The state of one search. `pv[ply * MAX_PLY + i]` is the principal variation from `ply` on, up to
    `pv_ends[ply]`.
    """

    def __init__(self, table: Table, stop: Stop) -> None:
        self.table = table
        self.stop = stop
        self.board = Board()
        self.stack = MoveStack()
        self.evaluation = Evaluation()
        self.history = History()
        self.pv = [0] * 16900
        self.pv_ends = [0] * 130
        self.nodes = 0
        self.node_limit = 0
        self.seldepth = 0

    def prepare(self, board: Board, node_limit: int) -> None:
        """Take over a position to search, with at most `node_limit` nodes (0: no limit)."""
        self.board = board.copy()
        self.board.forget()
        self.evaluation.reset(self.board)
        self.history.new_search()
        self.nodes = 0
        self.node_limit = node_limit
        self.seldepth = 0
        self.pv_ends[0] = 0

    def enter(self, ply: int) -> bool:
        """Count a node. False when the search has to end."""
        if self.stop.stopped:
            return False
        if self.node_limit and self.nodes >= self.node_limit:
            self.stop.stopped = True
            return False
        self.nodes += 1
        self.pv_ends[ply] = ply
        if ply > self.seldepth:
            self.seldepth = ply
        return True

    def make(self, move: int) -> None:
        """Play a move on the board and in the evaluation."""
        self.evaluation.make(move, self.board.side)
        self.board.make(move)

    def unmake(self) -> None:
        """Take a move back."""
        self.board.unmake()
        self.evaluation.unmake()

    def update_pv(self, ply: int, move: int) -> None:
        """The principal variation from `ply` on is the move and the one of the next ply."""
        row = ply * MAX_PLY
        self.pv[row + ply] = move
        end = self.pv_ends[ply + 1]
        for i in range(ply + 1, end):
            self.pv[row + i] = self.pv[row + MAX_PLY + i]
        self.pv_ends[ply] = end

    def principal_variation(self) -> list[int]:
        """The principal variation from the root, as packed moves."""
        return [self.pv[i] for i in range(self.pv_ends[0])]
