"""What quiet moves have been worth in this search: killers and the history table.

Sources: Selim G. Akl and Monroe M. Newborn, "The principal continuation and the killer heuristic", 1977;
Jonathan Schaeffer, "The history heuristic and alpha-beta search enhancements in practice", 1989.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    from x88.move import SQUARE, TARGET_SHIFT


class History:
    """Killers by ply, and a score for every piece code and target square within +-16384."""

    def __init__(self) -> None:
        self.killers = [0] * 272
        self.quiets = [0] * 6144

    def clear(self) -> None:
        """Forget everything: a new game."""
        for i in range(272):
            self.killers[i] = 0
        for i in range(6144):
            self.quiets[i] = 0

    def new_search(self) -> None:
        """Forget the killers, and let what the last search has learnt count half."""
        for i in range(272):
            self.killers[i] = 0
        for i in range(6144):
            self.quiets[i] = self.quiets[i] >> 1

    def score(self, code: int, move: int) -> int:
        """The history score of a quiet move by a piece of that code."""
        return self.quiets[code << 7 | move >> TARGET_SHIFT & SQUARE]

    def update(self, code: int, move: int, bonus: int) -> None:
        """Reward or punish a quiet move; the nearer to the limit, the less the score moves."""
        index = code << 7 | move >> TARGET_SHIFT & SQUARE
        size = bonus if bonus > 0 else -bonus
        # The shift keeps the rounding the same compiled and uncompiled.
        self.quiets[index] += bonus - (self.quiets[index] * size >> 14)

    def add_killer(self, ply: int, move: int) -> None:
        """Remember a quiet move that refuted its sibling's line; the two latest are kept for a ply."""
        if self.killers[2 * ply] != move:
            self.killers[2 * ply + 1] = self.killers[2 * ply]
            self.killers[2 * ply] = move
