"""Scores in centipawns from the side to move's point of view, and the distance to mate that some of them
carry.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    MAX_PLY = 128
    DRAW = 0
    MATE = 32000
    LONGEST_MATE = 31872
    INFINITE = 32001
    NO_SCORE = 32002


def mate_distance(score: int) -> int | None:
    """Moves to mate of a mate score, negative if the side to move is being mated, 0 if it is; None for other
    scores.
    """
    if score >= LONGEST_MATE:
        return (MATE - score + 1) // 2
    if score <= -LONGEST_MATE:
        return -((MATE + score) // 2)
    return None


def to_table(score: int, ply: int) -> int:
    """A score as the table keeps it: mates counted from the position itself, not from the root."""
    if score >= LONGEST_MATE:
        return score + ply
    if score <= -LONGEST_MATE:
        return score - ply
    return score


def from_table(score: int, ply: int) -> int:
    """The reverse of `to_table`, at the ply where the position is met again."""
    if score >= LONGEST_MATE:
        return score - ply
    if score <= -LONGEST_MATE:
        return score + ply
    return score
