"""Scores in centipawns for the side to move: evaluations, tablebase wins, mates; scores in the transposition
table; and scores as they are reported.

The search computes on the scale of its network, margins and piece values. What it reports is normalised:
with 100 centipawns at move 32, half of the games are won. Normalising only what is shown: Stockfish 15.1,
2022.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    MAX_PLY = 246
    DRAW = 0
    TABLEBASE_WIN = 20000
    CERTAIN_WIN = 19754
    MATE = 32000
    LONGEST_MATE = 31754
    INFINITE = 32001
    NO_SCORE = 32002
    NORMAL_PAWN = 133

    def to_table(score: int, ply: int) -> int:
        """A score as the table stores it: mates and tablebase wins count from this node, not the root."""
        if score >= CERTAIN_WIN:
            return score + ply
        if score <= -CERTAIN_WIN:
            return score - ply
        return score

    def from_table(score: int, ply: int) -> int:
        """The inverse of `to_table`, at the ply of the probe."""
        if score >= CERTAIN_WIN:
            return score - ply
        if score <= -CERTAIN_WIN:
            return score + ply
        return score


def mate_distance(score: int) -> int | None:
    """The moves to mate of a mate score, from the view of either side: negative if mated, 0 after checkmate;
    None for any other score.
    """
    if abs(score) < LONGEST_MATE:
        return None
    moves = (MATE - abs(score) + 1) // 2
    return moves if score > 0 else -moves


def normalised(score: int) -> int:
    """A score of the search in the centipawns that are reported: NORMAL_PAWN, which wins half of the games
    at move 32 (bench/wdl.py), becomes 100. Mates and tablebase wins stay as they are.
    """
    if score >= CERTAIN_WIN or score <= -CERTAIN_WIN:
        return score
    if score < 0:
        return -((NORMAL_PAWN // 2 - 100 * score) // NORMAL_PAWN)
    return (NORMAL_PAWN // 2 + 100 * score) // NORMAL_PAWN
