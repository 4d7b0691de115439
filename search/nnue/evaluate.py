"""The static evaluation: the value of a network (`search.nnue.network`), scaled by the material on the board,
since an advantage is worth more with more material, and corrected in a few endings that self-play rarely
covers (`search.nnue.endgame`). The scaling is Stéphane Nicolet's, in Stockfish 13, 2021.

The searcher makes every move on the board and here.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    from search.nnue.accumulators import Accumulators
    from search.nnue.endgame import is_drawn_unchecked, mop_up_unchecked
    from search.nnue.layer import Layer
    from x88.board import Board
    from x88.piece import BISHOP, BLACK, KNIGHT, QUEEN, ROOK, WHITE, WHITE_PIECE
    from x88.sets import count

    MAX_EVALUATION = 19000
    MATERIAL_STEP = 4
    FULL_MATERIAL = 64


class Evaluation:
    """The static evaluation, following the line being searched.

    `blur` adds noise of at most that many centipawns to every value, unless a king is bare. The noise
    depends only on the position and on `seed`, an odd number of 16 bits.
    """

    def __init__(self, layer: Layer) -> None:
        """`layer` holds the network's weights; no other evaluation may use it."""
        self.blur = 0
        self.seed = 1
        self.accumulators = Accumulators(layer)

    def reset(self, board: Board) -> None:
        """Set up for a new root position."""
        self.accumulators.reset(board)

    def make(self, board: Board, move: int) -> None:
        """Update for a legal move that is about to be made on the board."""
        self.accumulators.make_unchecked(board, move)

    def unmake(self) -> None:
        """Undo `make` of the last move."""
        self.accumulators.unmake_unchecked()

    def value(self, board: Board) -> int:
        """The static evaluation in centipawns for the side to move."""
        score = self._compute(board)
        if self.blur and board.count[WHITE] > 1 and board.count[BLACK] > 1:
            chance = (board.key >> 32) * self.seed >> 16 & 0xFFFF
            score += ((chance & 255) - (chance >> 8)) * self.blur >> 8
            return min(max(score, -MAX_EVALUATION), MAX_EVALUATION)
        return score

    def _compute(self, board: Board) -> int:
        side = board.side
        score = self.accumulators.value(board)
        score = score * (1024 + MATERIAL_STEP * (material_points(board) - FULL_MATERIAL)) >> 10
        if board.count[side ^ 1] == 1:
            score += mop_up_unchecked(board, side)
        if board.count[side] == 1:
            score -= mop_up_unchecked(board, side ^ 1)
        if is_drawn_unchecked(board, side if score > 0 else side ^ 1):
            return 0
        return min(max(score, -MAX_EVALUATION), MAX_EVALUATION)


def material_points(board: Board) -> int:
    """The material of both sides: a pawn or king is 1, a knight or bishop 3, a rook 5, a queen 9."""
    points = board.count[WHITE] + board.count[BLACK]
    for side in range(2):
        colour = WHITE_PIECE << side
        points += 2 * count(board.sets[colour | KNIGHT] | board.sets[colour | BISHOP])
        points += 4 * count(board.sets[colour | ROOK]) + 8 * count(board.sets[colour | QUEEN])
    return points
