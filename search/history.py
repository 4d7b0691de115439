"""Move ordering statistics: killer moves; quiet history by squares and whether they are attacked, by the
moves before and by the pawns; capture history.

Sources: Selim G. Akl and Monroe M. Newborn, "The principal continuation and the killer heuristic", 1977;
Jonathan Schaeffer, "The history heuristic and alpha-beta search enhancements in practice", 1989.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    from x88.move import CAPTURED, PROMOTED, captured_of, moved_of, origin_of, target_of
    from x88.movegen import MoveStack
    from x88.square import index64

    NO_PREVIOUS = 768
    LIMIT = 16384
    BEFORE_ROOT = 4
    PAWN_ROWS = 512

PIECE_INDEX = [0, 0, 1, 2, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0]
"""PIECE_INDEX[kind]: the kinds of piece numbered from 0 to 5."""


class History:
    """History tables with scores within +-LIMIT, and two killer moves for each ply.

    `moved[ply + BEFORE_ROOT]` is the piece-to index of the move made at a ply of the current line, or before
    the root at a negative ply, NO_PREVIOUS for a null move and where there is none. A piece-to index is
    (side * 6 + kind) * 64 + target square. `pawn_rows[ply]` is where the row of the pawns on the board at a
    ply begins in `pawns`. `attacked[ply]` holds the squares that the opponent attacks there, as bits.

    `fourth_weight` and `pawn_weight` are the weights that `weigh` sets.
    """

    def __init__(self) -> None:
        self.moved = [0] * 256
        self.fourth_weight = 0
        self.pawn_weight = 0
        self.base_weight = 0
        self.pawn_rows = [0] * 254
        self.pawns = [0] * 393216
        self.killers = [0] * 508
        self.attacked = [0] * 254
        self.quiets = [0] * 32768
        self.continuations = [0] * 590592
        self.captures = [0] * 6144
        self.clear()

    def weigh(self, fourth: int, pawns: int, base: int) -> None:
        """Set the weights of continuation history four plies ago and of pawn history, and of the other
        continuation scores in the base of an update, in 1024ths; first 0.
        """
        self.fourth_weight = fourth
        self.pawn_weight = pawns
        self.base_weight = base

    def clear(self) -> None:
        """Clear all tables for a new game."""
        for i in range(32768):
            self.quiets[i] = 0
        for i in range(590592):
            self.continuations[i] = 0
        for i in range(6144):
            self.captures[i] = 0
        for i in range(PAWN_ROWS * 768):
            self.pawns[i] = 0
        self.new_search()

    def new_search(self) -> None:
        """Clear the killers and the line, for the next search of the same game."""
        for i in range(256):
            self.moved[i] = NO_PREVIOUS
        for i in range(508):
            self.killers[i] = 0

    def age(self) -> None:
        """Halve quiet history, for the next search of the same game."""
        for i in range(32768):
            self.quiets[i] = self.quiets[i] >> 1

    def record_move(self, ply: int, side: int, move: int) -> None:
        """Record the move made by `side` at a ply of the current line."""
        self.moved[ply + BEFORE_ROOT] = piece_to(side, move)

    def record_null_move(self, ply: int) -> None:
        """Record a null move at a ply of the current line."""
        self.moved[ply + BEFORE_ROOT] = NO_PREVIOUS

    def set_pawns(self, ply: int, key: int) -> None:
        """Record the key of the pawns at a ply, before its quiet moves are scored or updated."""
        self.pawn_rows[ply] = (key & PAWN_ROWS - 1) * 768

    def set_attacked(self, ply: int, squares: int) -> None:
        """Record the opponent's attacks at a ply, as bits, before its quiet moves are scored or updated."""
        self.attacked[ply] = squares

    def quiet_score(self, side: int, move: int, ply: int) -> int:
        """A quiet move's history: by its squares, by the moves one, two and four plies ago, by the pawns."""
        target = piece_to(side, move)
        fourth = self.moved[ply + BEFORE_ROOT - 4] * 768
        return (
            self.quiets[quiet_index(side, move, self.attacked[ply])]
            + self.continuations[self.moved[ply + BEFORE_ROOT - 1] * 768 + target]
            + self.continuations[self.moved[ply + BEFORE_ROOT - 2] * 768 + target]
            + (self.continuations[fourth + target] * self.fourth_weight >> 10)
            + (self.pawns[self.pawn_rows[ply] + target] * self.pawn_weight >> 10)
        )

    def add_quiet_scores(self, stack: MoveStack, start: int, end: int, side: int, ply: int) -> None:
        """Add `quiet_score` to the scores of the quiet moves from `start` to `end`."""
        last = self.moved[ply + BEFORE_ROOT - 1] * 768
        before = self.moved[ply + BEFORE_ROOT - 2] * 768
        fourth = self.moved[ply + BEFORE_ROOT - 4] * 768
        pawns = self.pawn_rows[ply]
        attacked = self.attacked[ply]
        fourth_weight = self.fourth_weight
        pawn_weight = self.pawn_weight
        for i in range(start, end):
            move = stack.moves[i]
            if not move & (CAPTURED | PROMOTED):
                target = piece_to(side, move)
                stack.scores[i] += (
                    self.quiets[quiet_index(side, move, attacked)]
                    + self.continuations[last + target]
                    + self.continuations[before + target]
                    + (self.continuations[fourth + target] * fourth_weight >> 10)
                    + (self.pawns[pawns + target] * pawn_weight >> 10)
                )

    def update_quiet(self, side: int, move: int, ply: int, bonus: int) -> None:
        """Apply a bonus, or a malus if negative, to a quiet move.

        What continuation history already says of the move as a whole weakens what is added to each part, and
        turns it around where it says more than a part may.
        """
        target = piece_to(side, move)
        self.update_squares(side, move, ply, bonus)
        total = 0
        for back in range(1, 5):
            if back != 3:
                total += self.continuations[self.moved[ply + BEFORE_ROOT - back] * 768 + target]
        for back in range(1, 5):
            row = self.moved[ply + BEFORE_ROOT - back]
            if row != NO_PREVIOUS and back != 3:
                index = row * 768 + target
                score = self.continuations[index]
                base = score + ((total - score) * self.base_weight >> 10)
                change = apply_bonus(base, bonus) - base
                self.continuations[index] = max(-LIMIT, min(score + change, LIMIT))
        index = self.pawn_rows[ply] + target
        self.pawns[index] = apply_bonus(self.pawns[index], bonus)

    def update_squares(self, side: int, move: int, ply: int, bonus: int) -> None:
        """Apply a bonus, or a malus if negative, to the history of a quiet move by its squares alone."""
        index = quiet_index(side, move, self.attacked[ply])
        self.quiets[index] = apply_bonus(self.quiets[index], bonus)

    def capture_score(self, side: int, move: int) -> int:
        """Capture history of a capture or promotion."""
        return self.captures[capture_index(side, move)]

    def update_capture(self, side: int, move: int, bonus: int) -> None:
        """Apply a bonus, or a malus if negative, to a capture or promotion."""
        index = capture_index(side, move)
        self.captures[index] = apply_bonus(self.captures[index], bonus)

    def add_killer(self, ply: int, move: int) -> None:
        """Store a quiet move that failed high. Each ply keeps the two latest ones."""
        if self.killers[2 * ply] != move:
            self.killers[2 * ply + 1] = self.killers[2 * ply]
            self.killers[2 * ply] = move


def piece_to(side: int, move: int) -> int:
    """The index of a move by side, kind of piece and target square."""
    return (side * 6 + PIECE_INDEX[moved_of(move)]) << 6 | index64(target_of(move))


def quiet_index(side: int, move: int, attacked: int) -> int:
    """The index of a move by side, origin, target, and whether the opponent attacks (threatens) these."""
    origin = index64(origin_of(move))
    target = index64(target_of(move))
    return (attacked >> origin & 1) << 14 | (attacked >> target & 1) << 13 | side << 12 | origin << 6 | target


def capture_index(side: int, move: int) -> int:
    """The index of a capture by piece, target square and captured kind."""
    return piece_to(side, move) << 3 | PIECE_INDEX[captured_of(move)]


def apply_bonus(score: int, bonus: int) -> int:
    """The score after a bonus or malus, kept within +-LIMIT by the gravity formula."""
    # A shift rounds alike compiled and uncompiled; a division of negative numbers would not.
    return score + bonus - (score * (bonus if bonus > 0 else -bonus) >> 14)
