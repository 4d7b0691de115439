# cython: boundscheck=False, wraparound=False
"""The hidden layer of a network (`search.nnue.network`) along the line being searched.

A move changes two to four inputs of each perspective. They are recorded when it is made, and added up only
when a value is needed. A king that crosses the middle mirrors its perspective, which is then recomputed from
scratch.

Source of efficiently updatable networks: Yu Nasu, "Efficiently updatable neural-network-based evaluation
functions for computer shogi", 2018. Of the squared clipped ReLU and the pair of perspectives: Stockfish's
NNUE documentation.
"""

from operator import index

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from x88.piece import KINDS, checked_side
from x88.square import checked

if not cython.compiled:
    # isort: off
    # fmt: off
    from search.nnue.layer import DEPTH, Layer
    from x88.board import Board
    from x88.move import (
        CAPTURED, CASTLING, EN_PASSANT, PROMOTED, captured_of, moved_of, origin_of, promoted_of, rook_origin,
        rook_target, target_of,
    )
    from x88.piece import (
        ANY_PIECE, BLACK, EMPTY, KIND, KING, ROOK, WHITE, WHITE_PIECE,
    )
    from x88.square import NO_SQUARE, index64


def _first(perspective: int, code: int) -> int:
    """The first input of a piece as a perspective sees it; KINDS are in the order of the inputs."""
    if not code & ANY_PIECE or code & KIND not in KINDS:
        return 0
    return 384 * (code >> 5 ^ perspective) + 64 * KINDS.index(code & KIND)


FIRST = [_first(perspective, code) for perspective in (WHITE, BLACK) for code in range(48)]


class Accumulators:
    """The accumulator stack: per ply, the features that changed and whether the sums are up to date."""

    def __init__(self, layer: Layer) -> None:
        """`layer` holds the weights; no other accumulators may use it."""
        self.layer = layer
        self.hidden = layer.hidden
        self.known = [0] * 508
        self.flips = [0] * 508
        self.crossings = [0] * 254
        self.changes = [0] * 1016
        self.counts = [0] * 254
        self.ply = 0
        self.known[0] = self.known[1] = 1  # until `reset`, the sums of an empty board
        self.counts[0] = 1

    def reset(self, board: Board) -> None:
        """Set up for a new root position."""
        self.ply = 0
        self.counts[0] = max(1, board.count[WHITE] + board.count[BLACK])  # on an empty board, too
        for perspective in range(2):
            self.flips[perspective] = flip(perspective, board.pieces[perspective << 4])
            self._refresh(board, perspective, NO_SQUARE)

    def make(self, board: Board, move: int) -> None:
        """Record a legal move that is about to be made on the board. Raises ValueError for other moves and
        another board, RuntimeError if there is no room for another move.
        """
        board.check_legal(move)
        if board.count[WHITE] + board.count[BLACK] != self.counts[self.ply]:
            raise ValueError("the board is another one than the accumulators follow")
        if self.ply == DEPTH - 2:
            raise RuntimeError(f"there are no more than {DEPTH - 2} moves to undo")
        self.make_unchecked(move, board.side)

    def make_unchecked(self, move: int, side: int) -> None:
        """Record a move made by `side`."""
        colour = WHITE_PIECE << side
        origin = origin_of(move)
        target = target_of(move)
        code = colour | moved_of(move)
        count = self.counts[self.ply]
        self.ply += 1
        now = 2 * self.ply
        change = 2 * now
        self.known[now] = 0
        self.known[now + 1] = 0
        self.flips[now] = self.flips[now - 2]
        self.flips[now + 1] = self.flips[now - 1]
        self.crossings[self.ply] = 0
        self.changes[change + 2] = 0
        self.changes[change + 3] = 0
        self.changes[change + 1] = code << 7 | origin
        if code & KIND == KING:
            self.flips[now + side] = flip(side, target)
            if self.flips[now + side] != self.flips[now + side - 2]:
                self.crossings[self.ply] = 1 << side
        if move & CAPTURED:
            square = target
            if move & EN_PASSANT:
                square = target - 16 + 32 * side
            self.changes[change + 2] = (colour ^ ANY_PIECE | captured_of(move)) << 7 | square
            count -= 1
        elif move & CASTLING:
            rook = (colour | ROOK) << 7
            self.changes[change + 2] = rook | rook_origin(move)
            self.changes[change + 3] = rook | rook_target(move)
        if move & PROMOTED:
            code = colour | promoted_of(move)
        self.changes[change] = code << 7 | target
        self.counts[self.ply] = count

    def unmake(self) -> None:
        """Undo `make` of the last move. Raises RuntimeError if there is none."""
        if not self.ply:
            raise RuntimeError("there is no move to undo")
        self.unmake_unchecked()

    def unmake_unchecked(self) -> None:
        self.ply -= 1

    def value(self, board: Board) -> int:
        """The value in centipawns for the side to move; `board` is the position reached."""
        self._update(board, WHITE)
        self._update(board, BLACK)
        side = board.side
        now = 2 * self.ply
        own = (now + side) * self.hidden
        other = (now + 1 - side) * self.hidden
        return self.layer.value(own, other, self.counts[self.ply])

    def value_among(self, board: Board, pieces: int) -> int:
        """The value in centipawns by the output for this many pieces, 1 to 32, however many there are."""
        if not 1 <= index(pieces) <= 32:
            raise ValueError(f"{pieces} is not a number of pieces from 1 to 32")
        count = self.counts[self.ply]
        self.counts[self.ply] = pieces
        value = self.value(board)
        self.counts[self.ply] = count
        return value

    def value_without(self, board: Board, sq: int) -> int:
        """The value in centipawns for the side to move without the piece on a square, which is no king."""
        omitted = checked(sq)
        self.ply += 1
        now = 2 * self.ply
        for perspective in range(2):
            self.flips[now + perspective] = self.flips[now - 2 + perspective]
            self._refresh(board, perspective, omitted)
        side = board.side
        count = self.counts[self.ply - 1] - (board.squares[omitted] != EMPTY)
        value = self.layer.value((now + side) * self.hidden, (now + 1 - side) * self.hidden, count)
        self.ply -= 1
        return value

    def numbers(self, board: Board, perspective: int) -> list[int]:
        """The sums of a perspective in the position reached, for tests and displays."""
        view = checked_side(perspective)
        self._update(board, view)
        to = (2 * self.ply + view) * self.hidden
        return [self.layer.sums[to + i] for i in range(self.hidden)]

    def _update(self, board: Board, perspective: int) -> None:
        """Bring the sums of a perspective up to date."""
        ply = self.ply
        while not self.known[2 * ply + perspective]:
            if self.crossings[ply] >> perspective & 1:
                self._refresh(board, perspective, NO_SQUARE)
                return
            ply -= 1
        while ply < self.ply:
            ply += 1
            self._step(ply, perspective)

    def _step(self, ply: int, perspective: int) -> None:
        """Compute the sums of a ply from those of the ply before."""
        at = 2 * ply + perspective
        change = 4 * ply
        to = at * self.hidden
        origin = to - 2 * self.hidden
        added = self._row(self.changes[change], perspective, self.flips[at])
        removed = self._row(self.changes[change + 1], perspective, self.flips[at])
        other = self.changes[change + 2]
        if other == 0:
            self.layer.move(to, origin, added, removed)
        elif self.changes[change + 3] == 0:
            self.layer.capture(to, origin, added, removed, self._row(other, perspective, self.flips[at]))
        else:
            self.layer.move(to, origin, added, removed)
            added = self._row(self.changes[change + 3], perspective, self.flips[at])
            self.layer.move(to, to, added, self._row(other, perspective, self.flips[at]))
        self.known[at] = 1

    def _refresh(self, board: Board, perspective: int, omitted: int) -> None:
        """Compute the sums of a perspective from the pieces on the board, without the one on a square."""
        at = 2 * self.ply + perspective
        to = at * self.hidden
        self.layer.start(to)
        for i in range(32):
            if i & 15 < board.count[i >> 4]:
                sq = board.pieces[i]
                if sq == omitted:
                    continue
                self.layer.add(to, self._row(board.squares[sq] << 7 | sq, perspective, self.flips[at]))
        self.known[at] = 1

    def _row(self, piece: int, perspective: int, flipped: int) -> int:
        """The index of the first weight of a piece (`code << 7 | square`) as a perspective sees it."""
        sq = piece & 0x7F
        return (FIRST[perspective * 48 + (piece >> 7)] + (index64(sq) ^ flipped)) * self.hidden


def flip(perspective: int, king: int) -> int:
    """The XOR mask that turns a square, 0 to 63, into the one that a perspective sees: upside down for Black,
    and mirrored while its king is on files a to d.
    """
    return (56 if perspective == BLACK else 0) ^ (7 if king & 7 < 4 else 0)
