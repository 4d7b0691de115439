# cython: boundscheck=False, wraparound=False
"""The hidden layer of a network (`search.nnue.network`) along the line being searched.

A move changes two to four inputs of each perspective, and the sums are updated when it is made: meanwhile,
the entry of the transposition table arrives. A king that crosses the middle or comes to another zone changes
all inputs of its perspective. So the sums of the last position with each half and zone are kept, and brought
up to date by the pieces that differ.

Source of efficiently updatable networks: Yu Nasu, "Efficiently updatable neural-network-based evaluation
functions for computer shogi", 2018. Of the squared clipped ReLU and the pair of perspectives: Stockfish's
NNUE documentation. Of the sums kept for each zone: Finn Eggers, Koivisto, 2022.
"""

from operator import index

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from search.nnue import network
from x88.piece import KINDS, checked_side
from x88.square import checked

if not cython.compiled:
    # isort: off
    # fmt: off
    from search.nnue.layer import DEPTH, KEPT, Layer
    from x88.board import Board
    from x88.move import (
        CAPTURED, CASTLING, EN_PASSANT, PROMOTED, captured_of, moved_of, origin_of, promoted_of, rook_origin,
        rook_target, target_of,
    )
    from x88.piece import (
        ANY_PIECE, BLACK, EMPTY, KIND, KING, ROOK, WHITE, WHITE_PIECE,
    )
    from x88.sets import lowest
    from x88.square import index64


def _first(perspective: int, code: int) -> int:
    """The first input of a piece as a perspective sees it; KINDS are in the order of the inputs."""
    if not code & ANY_PIECE or code & KIND not in KINDS:
        return 0
    return 384 * (code >> 5 ^ perspective) + 64 * KINDS.index(code & KIND)


FIRST = [_first(perspective, code) for perspective in (WHITE, BLACK) for code in range(48)]
ZONE = network.ZONES


class Accumulators:
    """The sums of both perspectives at each ply of the line."""

    def __init__(self, layer: Layer) -> None:
        """`layer` holds the weights; no other accumulators may use it."""
        self.layer = layer
        self.hidden = layer.hidden
        self.ply = 0
        self.sets = [0] * 768
        for number in range(KEPT):
            self.layer.start((2 * DEPTH + number) * self.hidden)

    def reset(self, board: Board) -> None:
        """Set up for a new root position."""
        self.ply = 0
        for view in range(2):
            kept = self._refresh(board, view, mask_of(view, board.pieces[view << 4]))
            self.layer.move(view * self.hidden, kept, 0, 0)  # plus an input minus itself: a copy

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
            mask = mask_of(view, board.pieces[view << 4])
            if view == side and moved == own | KING and mask_of(view, target) != mask:
                mask = mask_of(view, target)
                before = self._refresh(board, view, mask)
            added = self._row(placed, target, view, mask)
            removed = self._row(moved, origin, view, mask)
            if move & CAPTURED:
                sq = target - 16 + 32 * side if move & EN_PASSANT else target
                captured = self._row(own ^ ANY_PIECE | captured_of(move), sq, view, mask)
                self.layer.capture(to, before, added, removed, captured)
                continue
            self.layer.move(to, before, added, removed)
            if move & CASTLING:
                added = self._row(own | ROOK, rook_target(move), view, mask)
                self.layer.move(to, to, added, self._row(own | ROOK, rook_origin(move), view, mask))
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
        if board.squares[omitted] == EMPTY:
            return self.value(board)
        for view in range(2):
            origin = (2 * self.ply + view) * self.hidden
            row = self._row(board.squares[omitted], omitted, view, mask_of(view, board.pieces[view << 4]))
            self.layer.capture(origin + 2 * self.hidden, origin, 0, 0, row)
        return self._value(board, self.ply + 1, board.count[WHITE] + board.count[BLACK] - 1)

    def _value(self, board: Board, ply: int, pieces: int) -> int:
        side = board.side
        return self.layer.value((2 * ply + side) * self.hidden, (2 * ply + 1 - side) * self.hidden, pieces)

    def numbers(self, perspective: int) -> list[int]:
        """The sums of a perspective in the position reached, for tests and displays."""
        to = (2 * self.ply + checked_side(perspective)) * self.hidden
        return [self.layer.sums[to + i] for i in range(self.hidden)]

    def _refresh(self, board: Board, view: int, mask: int) -> int:
        """Bring the sums kept for a half and zone up to date with the pieces on the board; returns where they
        begin.
        """
        number = (mask // 768 << 2) | (mask & 1) << 1 | view
        to = (2 * DEPTH + number) * self.hidden
        sets = 48 * number
        # First the pieces that have gone or moved: so no sum leaves its range on the way.
        for code in range(WHITE_PIECE, 48):
            gone = self.sets[sets + code] & ~board.sets[code]
            come = board.sets[code] & ~self.sets[sets + code]
            while gone:
                removed = self._row(code, lowest(gone), view, mask)
                gone &= gone - 1
                if come:
                    self.layer.move(to, to, self._row(code, lowest(come), view, mask), removed)
                    come &= come - 1
                else:
                    self.layer.capture(to, to, 0, 0, removed)
            self.sets[sets + code] = board.sets[code] ^ come
        for code in range(WHITE_PIECE, 48):
            come = board.sets[code] & ~self.sets[sets + code]
            while come:
                self.layer.add(to, self._row(code, lowest(come), view, mask))
                come &= come - 1
            self.sets[sets + code] = board.sets[code]
        return to

    def _row(self, code: int, sq: int, view: int, mask: int) -> int:
        """The index of the first weight of a piece as a perspective sees it."""
        return (FIRST[view * 48 + code] + (index64(sq) ^ mask)) * self.hidden


def mask_of(perspective: int, king: int) -> int:
    """The XOR mask that turns a square, 0 to 63, into the one that a perspective sees, upside down for Black
    and mirrored while its king is on files a to d, plus the first input of the king's zone.
    """
    mask = (56 if perspective == BLACK else 0) ^ (7 if king & 7 < 4 else 0)
    return mask | ZONE[index64(king) ^ mask]
