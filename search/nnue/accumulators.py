# cython: boundscheck=False, wraparound=False
"""The hidden layer of a network (`search.nnue.network`) along the line being searched.

A move changes two to four inputs of each perspective, and the sums are updated when it is made: meanwhile,
the entry of the transposition table arrives. A king that crosses the middle mirrors its perspective, which is
then computed from scratch.

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
    """The sums of both perspectives at each ply of the line."""

    def __init__(self, layer: Layer) -> None:
        """`layer` holds the weights; no other accumulators may use it."""
        self.layer = layer
        self.hidden = layer.hidden
        self.ply = 0

    def reset(self, board: Board) -> None:
        """Set up for a new root position."""
        self.ply = 0
        for view in range(2):
            self._refresh(board, view * self.hidden, view, flip(view, board.pieces[view << 4]), NO_SQUARE)

    def make(self, board: Board, move: int) -> None:
        """Follow a legal move that is about to be made on the board. Raises ValueError for other moves, and
        RuntimeError if there is no room for another move.
        """
        board.check_legal(move)
        if self.ply == DEPTH - 2:
            raise RuntimeError(f"there are no more than {DEPTH - 2} moves to undo")
        self.make_unchecked(board, move)

    def make_unchecked(self, board: Board, move: int) -> None:
        """Follow a legal move that is about to be made on the board."""
        side = board.side
        own = WHITE_PIECE << side
        moved = own | moved_of(move)
        placed = own | promoted_of(move) if move & PROMOTED else moved
        origin = origin_of(move)
        target = target_of(move)
        for view in range(2):
            before = (2 * self.ply + view) * self.hidden
            to = before + 2 * self.hidden
            mirror = flip(view, board.pieces[view << 4])
            if view == side and moved == own | KING and (origin ^ target) & 4:
                mirror ^= 7
                self._refresh(board, to, view, mirror, NO_SQUARE)
                before = to
            added = self._row(placed, target, view, mirror)
            removed = self._row(moved, origin, view, mirror)
            if move & CAPTURED:
                sq = target - 16 + 32 * side if move & EN_PASSANT else target
                captured = self._row(own ^ ANY_PIECE | captured_of(move), sq, view, mirror)
                self.layer.capture(to, before, added, removed, captured)
                continue
            self.layer.move(to, before, added, removed)
            if move & CASTLING:
                added = self._row(own | ROOK, rook_target(move), view, mirror)
                self.layer.move(to, to, added, self._row(own | ROOK, rook_origin(move), view, mirror))
        self.ply += 1

    def unmake(self) -> None:
        """Undo `make` of the last move. Raises RuntimeError if there is none."""
        if not self.ply:
            raise RuntimeError("there is no move to undo")
        self.unmake_unchecked()

    def unmake_unchecked(self) -> None:
        self.ply -= 1

    def value(self, board: Board) -> int:
        """The value in centipawns for the side to move; `board` is the position reached."""
        return self._value(board, self.ply, max(1, board.count[WHITE] + board.count[BLACK]))

    def value_among(self, board: Board, pieces: int) -> int:
        """The value in centipawns by the output for this many pieces, 1 to 32, however many there are."""
        if not 1 <= index(pieces) <= 32:
            raise ValueError(f"{pieces} is not a number of pieces from 1 to 32")
        return self._value(board, self.ply, pieces)

    def value_without(self, board: Board, sq: int) -> int:
        """The value in centipawns for the side to move without the piece on a square, which is no king."""
        omitted = checked(sq)
        for view in range(2):
            to = (2 * (self.ply + 1) + view) * self.hidden
            self._refresh(board, to, view, flip(view, board.pieces[view << 4]), omitted)
        count = board.count[WHITE] + board.count[BLACK] - (board.squares[omitted] != EMPTY)
        return self._value(board, self.ply + 1, max(1, count))

    def _value(self, board: Board, ply: int, pieces: int) -> int:
        side = board.side
        return self.layer.value((2 * ply + side) * self.hidden, (2 * ply + 1 - side) * self.hidden, pieces)

    def numbers(self, perspective: int) -> list[int]:
        """The sums of a perspective in the position reached, for tests and displays."""
        to = (2 * self.ply + checked_side(perspective)) * self.hidden
        return [self.layer.sums[to + i] for i in range(self.hidden)]

    def _refresh(self, board: Board, to: int, view: int, mirror: int, omitted: int) -> None:
        """Compute sums from the pieces on the board, without the one on a square."""
        self.layer.start(to)
        for i in range(32):
            if i & 15 < board.count[i >> 4]:
                sq = board.pieces[i]
                if sq != omitted:
                    self.layer.add(to, self._row(board.squares[sq], sq, view, mirror))

    def _row(self, code: int, sq: int, view: int, mirror: int) -> int:
        """The index of the first weight of a piece as a perspective sees it."""
        return (FIRST[view * 48 + code] + (index64(sq) ^ mirror)) * self.hidden


def flip(perspective: int, king: int) -> int:
    """The XOR mask that turns a square, 0 to 63, into the one that a perspective sees: upside down for Black,
    and mirrored while its king is on files a to d.
    """
    return (56 if perspective == BLACK else 0) ^ (7 if king & 7 < 4 else 0)
