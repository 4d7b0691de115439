"""What a search asks of endgame tablebases: which positions, by the options, and what scores follow."""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    from search.score import DRAW, NO_SCORE, TABLEBASE_WIN
    from search.tablebase import Tablebase, pieces_on
    from search.tablefile import CURSED_WIN, LOSS, UNKNOWN, WIN
    from x88.board import Board
    from x88.movegen import MoveStack

    MOST_DEPTH = 100


class Probing:
    """The tables and the options of a search, which its threads share: changed between searches only.

    Positions of up to `limit` pieces are asked for, those of the most pieces at `depth` plies above the
    horizon or more. If the search does not heed the fifty-move rule, cursed wins are wins and blessed losses
    losses. `most` is the number of pieces up to which the running search asks inside its tree, 0 for never.
    """

    def __init__(self) -> None:
        self.tables = Tablebase([])
        self.depth = 1
        self.limit = 7
        self.heeds_fifty = True
        self.most = 0

    def largest(self) -> int:
        """The number of pieces up to which tables are there and may be asked."""
        return min(self.limit, self.tables.most)

    def may_ask(self, board: Board, depth: int) -> bool:
        """Whether the search asks about a position of its tree: without castling rights, and right after a
        capture or pawn move, as results hold for a counter of the fifty-move rule at zero.
        """
        pieces = pieces_on(board)
        return (
            board.halfmove == 0
            and board.castling == 0
            and (pieces < self.most or (pieces == self.most and depth >= self.depth))
        )

    def score(self, board: Board, stack: MoveStack, sp: int, ply: int) -> int:
        """The score by the tables, NO_SCORE if they do not tell. The stack is used from index `sp` on."""
        result = self.tables.result(board, stack, sp)
        return NO_SCORE if result == UNKNOWN else self.score_of(result, ply)

    def score_of(self, result: int, ply: int) -> int:
        """The score of a result at a ply: a tablebase win, or a draw; cursed wins are a little better."""
        if result == WIN or (result == CURSED_WIN and not self.heeds_fifty):
            return TABLEBASE_WIN - ply
        if result == LOSS or (result < 0 and not self.heeds_fifty):
            return ply - TABLEBASE_WIN
        return DRAW + result
