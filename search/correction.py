"""What the static evaluation misjudges, learnt in the search: how far the scores of searches lay from it, by
the pawns, by the pieces of each side, and by the kings and minor pieces of both.

Source: Caissa, a chess engine by Michał Witanowski, 2023 ("correction history").
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    from search.history import moved_towards

    ROW = 16384


class Corrections:
    """Errors seen, within +-LIMIT of `search.history`, by the side to move and a hash of 14 bits."""

    def __init__(self) -> None:
        self.pawns = [0] * 32768
        self.pieces = [0] * 65536
        self.minors = [0] * 32768

    def clear(self) -> None:
        """Forget everything: a new game."""
        for i in range(2 * ROW):
            self.pawns[i] = 0
            self.minors[i] = 0
        for i in range(4 * ROW):
            self.pieces[i] = 0

    def by_pawns(self, side: int, pawns: int) -> int:
        """The error seen in positions with these pawns, `side` to move."""
        return self.pawns[side * ROW + pawns]

    def by_pieces(self, side: int, white: int, black: int) -> int:
        """The sum of the errors seen in positions with these pieces of White's and with these of Black's."""
        return self.pieces[2 * side * ROW + white] + self.pieces[(2 * side + 1) * ROW + black]

    def by_minors(self, side: int, minors: int) -> int:
        """The error seen in positions with these kings, knights and bishops."""
        return self.minors[side * ROW + minors]

    def learn(self, side: int, pawns: int, white: int, black: int, minors: int, error: int) -> None:
        """Move what is noted of such positions towards an error, from -LIMIT to LIMIT."""
        index = side * ROW + pawns
        self.pawns[index] = moved_towards(self.pawns[index], error)
        index = 2 * side * ROW + white
        self.pieces[index] = moved_towards(self.pieces[index], error)
        index = (2 * side + 1) * ROW + black
        self.pieces[index] = moved_towards(self.pieces[index], error)
        index = side * ROW + minors
        self.minors[index] = moved_towards(self.minors[index], error)
