"""Tablebase probes in the search: which positions the options allow, and what scores they give."""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    from search.score import DRAW, NO_SCORE, TABLEBASE_WIN
    from search.syzygy.file import CURSED_WIN, LOSS, UNKNOWN, WIN
    from search.syzygy.tablebase import Tablebase, pieces_on
    from x88.board import Board
    from x88.movegen import MoveStack

    MOST_DEPTH = 100


class Probing:
    """The tablebases and the probing options, shared by all threads; changed only between searches.

    Positions of up to `limit` pieces are probed, those with the most pieces only at a remaining depth of at
    least `depth`. If the fifty-move rule is ignored, cursed wins count as wins and blessed losses as losses.
    `most` is the largest piece count that the running search probes inside its tree, 0 for never.
    """

    def __init__(self) -> None:
        self.tables = Tablebase([])
        self.depth = 1
        self.limit = 7
        self.fifty_move_rule = True
        self.most = 0

    def largest(self) -> int:
        """The largest piece count to probe."""
        return min(self.limit, self.tables.most)

    def can_probe(self, board: Board, depth: int) -> bool:
        """Whether to probe a position inside the tree: only without castling rights and right after a capture
        or pawn move, since results assume a half-move clock of zero.
        """
        pieces = pieces_on(board)
        return (
            board.halfmove == 0
            and board.castling == 0
            and (pieces < self.most or (pieces == self.most and depth >= self.depth))
        )

    def score(self, board: Board, stack: MoveStack, sp: int, ply: int) -> int:
        """The score of a probe, NO_SCORE if it fails. The stack is used from index `sp` on."""
        result = self.tables.result(board, stack, sp)
        return NO_SCORE if result == UNKNOWN else self.score_of(result, ply)

    def score_of(self, result: int, ply: int) -> int:
        """The score of a result at a ply: a tablebase win or loss, or a draw, slightly better for a cursed
        win and slightly worse for a blessed loss.
        """
        if result == WIN or (result == CURSED_WIN and not self.fifty_move_rule):
            return TABLEBASE_WIN - ply
        if result == LOSS or (result < 0 and not self.fifty_move_rule):
            return ply - TABLEBASE_WIN
        return DRAW + result
