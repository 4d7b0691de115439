"""Scores in centipawns for the side to move: evaluations, tablebase wins, mates; and scores in the
transposition table.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    MAX_PLY = 128
    DRAW = 0
    TABLEBASE_WIN = 20000
    CERTAIN_WIN = 19872
    MATE = 32000
    LONGEST_MATE = 31872
    INFINITE = 32001
    NO_SCORE = 32002


def mate_distance(score: int) -> int | None:
    """The moves to mate of a mate score, negative if the side to move is mated, 0 if it is checkmated. None
    for any other score.
    """
    if score >= LONGEST_MATE:
        return (MATE - score + 1) // 2
    if score <= -LONGEST_MATE:
        return -((MATE + score) // 2)
    return None


def to_table(score: int, ply: int) -> int:
    """A score as the transposition table stores it: mates and tablebase wins count from this node, not the
    root.
    """
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
