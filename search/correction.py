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
    from search.transposition import fetch
    from x88.atomic import load_short, store_short

    ROW = 16384
    MOVES = 769


class Corrections:
    """Errors within +-LIMIT of `search.history`, by 14-bit hash and side, or by two piece-to indices.

    The threads of a search share one. Two that learn from the same entry at once may lose one of the errors,
    which does no harm: entries stay within +-LIMIT.

    What both sides know of the same hash shares a cache line: a move leaves most hashes as they were.
    """

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
        return load_short(self.pawns[pawns << 1 | side])

    def by_pieces(self, side: int, white: int, black: int) -> int:
        """The sum of the errors for these hashes of White's and of Black's pieces."""
        return load_short(self.pieces[white << 2 | side]) + load_short(self.pieces[black << 2 | 2 | side])

    def by_minors(self, side: int, minors: int) -> int:
        """The error for this hash of kings, knights and bishops."""
        return load_short(self.minors[minors << 1 | side])

    def by_moves(self, last: int, before: int) -> int:
        """The error after these two moves, as piece-to indices or NO_PREVIOUS."""
        return load_short(self.moves[last * MOVES + before])

    def prefetch(self, white: int, black: int, minors: int, last: int, before: int) -> None:
        """Prefetch the errors of a position; those of its pawns rarely change."""
        if cython.compiled:
            fetch(cython.address(self.pieces[white << 2]))
            fetch(cython.address(self.pieces[black << 2]))
            fetch(cython.address(self.minors[minors << 1]))
            fetch(cython.address(self.moves[last * MOVES + before]))

    def update(
        self, side: int, pawns: int, white: int, black: int, minors: int, last: int, before: int, error: int
    ) -> None:
        """Apply an error from -LIMIT to LIMIT to all entries of a position."""
        _learn(self.pawns, pawns << 1 | side, error)
        _learn(self.pieces, white << 2 | side, error)
        _learn(self.pieces, black << 2 | 2 | side, error)
        _learn(self.minors, minors << 1 | side, error)
        _learn(self.moves, last * MOVES + before, error)


def _learn(table: list[int], index: int, error: int) -> None:
    learnt = apply_bonus(load_short(table[index]), error)
    if cython.compiled:
        store_short(table[index], learnt)
    else:
        table[index] = learnt
