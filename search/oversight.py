"""Moves that a weak player overlooks, its own and the opponent's.

What is overlooked depends only on the position at the root, the game and the move: a threat that goes
unnoticed does so in the whole search, as a person overlooks it, and may be seen a move later.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    from search.transposition import short_move
    from x88.attack import last_move_checks
    from x88.board import Board
    from x88.move import CAPTURED, CASTLING, NO_MOVE, origin_of, target_of
    from x88.movegen import MoveStack
    from x88.piece import BLACK
    from x88.square import FILE

    FACTOR = 0x45D9F3B
    CERTAIN = 0x8000


class Oversight:
    """The oversights of a search: the odds against noticing a move are `odds`, in thousandths, times the
    effort that it takes. If they are 0, nothing is overlooked.
    """

    def __init__(self) -> None:
        self.odds = 0
        self.seed = 0
        self.side = 0

    def begin(self, board: Board, game: int, odds: int) -> None:
        """Begin the search of a position. `game` is an odd number of 16 bits."""
        self.odds = odds
        self.side = board.side
        self.seed = (board.key >> 32) * game >> 8 & 0x7FFFFFFF

    def remove(self, board: Board, stack: MoveStack, sp: int, end: int, tt_move: int) -> int:
        """Remove the overlooked ones of the legal moves between `sp` and `end`; returns where the others end.
        The TT move is remembered, and in check nothing is overlooked.
        """
        if last_move_checks(board):
            return end
        kept = sp
        for i in range(sp, end):
            move = stack.moves[i]
            if short_move(move) == tt_move or not self.overlooks(board, move):
                stack.moves[kept] = move
                stack.scores[kept] = stack.scores[i]
                kept += 1
        return kept

    def overlooks(self, board: Board, move: int) -> bool:
        """Whether a move is overlooked."""
        chance = (self.seed ^ move) * FACTOR
        chance = ((chance >> 24 ^ chance) & 0x7FFFFFFF) * FACTOR >> 24 & CERTAIN - 1
        return chance * 1000 < (CERTAIN - chance) * self.odds * self.effort(board, move)

    def effort(self, board: Board, move: int) -> int:
        """How hard a move is to notice. Harder are long moves, moves backwards, captures other than
        recaptures, and the opponent's moves.
        """
        if move & CASTLING:
            return 0
        origin = origin_of(move)
        target = target_of(move)
        ranks = (target >> 4) - (origin >> 4)
        files = abs((target & FILE) - (origin & FILE))
        effort = max(abs(ranks), files) - 1
        if ranks != 0 and (ranks < 0) != (board.side == BLACK):
            effort += 2
        last = board.last_move()
        if move & CAPTURED:
            effort += 2
        if not move & CAPTURED or (last != NO_MOVE and target_of(last) == target):
            effort = effort >> 1
        return effort if board.side == self.side else 2 * effort
