"""What moves have been worth in this search: killers and the history tables.

Sources: Selim G. Akl and Monroe M. Newborn, "The principal continuation and the killer heuristic", 1977;
Jonathan Schaeffer, "The history heuristic and alpha-beta search enhancements in practice", 1989.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    from x88.move import CAPTURED, CAPTURED_SHIFT, MOVED_SHIFT, PROMOTED, SQUARE, TARGET_SHIFT
    from x88.movegen import MoveStack
    from x88.piece import KIND

    NOTHING = 768
    LIMIT = 16384

PIECE_INDEX = [0, 0, 1, 2, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0]
"""PIECE_INDEX[kind]: the kinds numbered without gaps."""


class History:
    """Tables of scores within +-LIMIT, by what moves have in common; the killers by ply; and the line that is
    being searched, as far as the tables want it: `moved[ply + 2]` is the piece and square of the move made at
    a ply, NOTHING for a null move and before the root.

    A piece and its target square make an index: (side * 6 + kind) * 64 + square.
    """

    def __init__(self) -> None:
        self.moved = [0] * 136
        self.killers = [0] * 272
        self.quiets = [0] * 8192
        self.continuations = [0] * 590592
        self.captures = [0] * 6144
        self.clear()

    def clear(self) -> None:
        """Forget everything: a new game."""
        for i in range(8192):
            self.quiets[i] = 0
        for i in range(590592):
            self.continuations[i] = 0
        for i in range(6144):
            self.captures[i] = 0
        self.new_search()

    def new_search(self) -> None:
        """Forget the killers, and let what the last search has learnt of quiet moves count half."""
        for i in range(136):
            self.moved[i] = NOTHING
        for i in range(272):
            self.killers[i] = 0
        for i in range(8192):
            self.quiets[i] = self.quiets[i] >> 1

    def follow(self, ply: int, side: int, move: int) -> None:
        """Note the move of `side` at a ply of the line."""
        self.moved[ply + 2] = piece_to(side, move)

    def follow_null(self, ply: int) -> None:
        """Note a null move."""
        self.moved[ply + 2] = NOTHING

    def quiet_score(self, side: int, move: int, ply: int) -> int:
        """The score of a quiet move at a ply: by its squares, and as the answer to the last two moves."""
        target = piece_to(side, move)
        return (
            self.quiets[from_to(side, move)]
            + self.continuations[self.moved[ply + 1] * 768 + target]
            + self.continuations[self.moved[ply] * 768 + target]
        )

    def add_quiet_scores(self, stack: MoveStack, start: int, end: int, side: int, ply: int) -> None:
        """Add to the scores of the quiet moves from `start` to `end` what `quiet_score` says of them."""
        last = self.moved[ply + 1] * 768
        before = self.moved[ply] * 768
        for i in range(start, end):
            move = stack.moves[i]
            if not move & (CAPTURED | PROMOTED):
                target = piece_to(side, move)
                stack.scores[i] += (
                    self.quiets[from_to(side, move)]
                    + self.continuations[last + target]
                    + self.continuations[before + target]
                )

    def update_quiet(self, side: int, move: int, ply: int, bonus: int) -> None:
        """Reward or punish a quiet move."""
        target = piece_to(side, move)
        index = from_to(side, move)
        self.quiets[index] = moved_towards(self.quiets[index], bonus)
        for back in range(2):
            row = self.moved[ply + 1 - back]
            if row != NOTHING:
                index = row * 768 + target
                self.continuations[index] = moved_towards(self.continuations[index], bonus)

    def capture_score(self, side: int, move: int) -> int:
        """The score of a capture or promotion."""
        return self.captures[capture_index(side, move)]

    def update_capture(self, side: int, move: int, bonus: int) -> None:
        """Reward or punish a capture or promotion."""
        index = capture_index(side, move)
        self.captures[index] = moved_towards(self.captures[index], bonus)

    def killer(self, ply: int, older: int) -> int:
        """The later of the two killers of a ply (`older` 0), or the older one (1); 0 if there is none.

        Raises IndexError.
        """
        if not (0 <= ply < 136 and 0 <= older <= 1):
            raise IndexError(f"there is no killer {older} of ply {ply}")
        return self.killers[2 * ply + older]

    def add_killer(self, ply: int, move: int) -> None:
        """Remember a quiet move that refuted its sibling's line; the two latest are kept for a ply."""
        if self.killers[2 * ply] != move:
            self.killers[2 * ply + 1] = self.killers[2 * ply]
            self.killers[2 * ply] = move


def piece_to(side: int, move: int) -> int:
    """The index of a moving piece and its target square."""
    target = move >> TARGET_SHIFT & SQUARE
    return (side * 6 + PIECE_INDEX[move >> MOVED_SHIFT & KIND]) << 6 | (target + (target & 7)) >> 1


def from_to(side: int, move: int) -> int:
    """The index of a side and both squares of its move."""
    origin = move & SQUARE
    target = move >> TARGET_SHIFT & SQUARE
    return side << 12 | (origin + (origin & 7)) >> 1 << 6 | (target + (target & 7)) >> 1


def capture_index(side: int, move: int) -> int:
    """The index of a moving piece, its target square, and what it takes."""
    return piece_to(side, move) << 3 | PIECE_INDEX[move >> CAPTURED_SHIFT & KIND]


def moved_towards(score: int, bonus: int) -> int:
    """A score moved towards its limit, the less the nearer it is (gravity)."""
    # The shift keeps the rounding the same compiled and uncompiled.
    return score + bonus - (score * (bonus if bonus > 0 else -bonus) >> 14)
