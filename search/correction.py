"""Correction history: the error of the static evaluation against search scores, by pawn structure, by the
pieces of each side, by the kings and minor pieces of both, and by the last two moves.

Source: Caissa, a chess engine by Michał Witanowski, 2023 ("correction history").
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    from search.history import apply_bonus

    ROW = 16384
    MOVES = 769


class Corrections:
    """Errors within +-LIMIT of `search.history`, by side and 14-bit hash, or by two piece-to indices."""

    def __init__(self) -> None:
        self.pawns = [0] * 32768
        self.pieces = [0] * 65536
        self.minors = [0] * 32768
        self.moves = [0] * 591361

    def clear(self) -> None:
        """Clear all tables for a new game."""
        for i in range(2 * ROW):
            self.pawns[i] = 0
            self.minors[i] = 0
        for i in range(4 * ROW):
            self.pieces[i] = 0
        for i in range(MOVES * MOVES):
            self.moves[i] = 0

    def by_pawns(self, side: int, pawns: int) -> int:
        """The error for this pawn hash, with `side` to move."""
        return self.pawns[side * ROW + pawns]

    def by_pieces(self, side: int, white: int, black: int) -> int:
        """The sum of the errors for these hashes of White's and of Black's pieces."""
        return self.pieces[2 * side * ROW + white] + self.pieces[(2 * side + 1) * ROW + black]

    def by_minors(self, side: int, minors: int) -> int:
        """The error for this hash of kings, knights and bishops."""
        return self.minors[side * ROW + minors]

    def by_moves(self, last: int, before: int) -> int:
        """The error after these two moves, as piece-to indices or NO_PREVIOUS."""
        return self.moves[last * MOVES + before]

    def update(
        self, side: int, pawns: int, white: int, black: int, minors: int, last: int, before: int, error: int
    ) -> None:
        """Apply an error from -LIMIT to LIMIT to all entries of a position."""
        index = side * ROW + pawns
        self.pawns[index] = apply_bonus(self.pawns[index], error)
        index = 2 * side * ROW + white
        self.pieces[index] = apply_bonus(self.pieces[index], error)
        index = (2 * side + 1) * ROW + black
        self.pieces[index] = apply_bonus(self.pieces[index], error)
        index = side * ROW + minors
        self.minors[index] = apply_bonus(self.minors[index], error)
        index = last * MOVES + before
        self.moves[index] = apply_bonus(self.moves[index], error)
