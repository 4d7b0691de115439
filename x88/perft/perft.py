"""Perft: counts the leaves of the tree of legal moves, to test a move generator and measure its speed.

There are two ways of counting, with the same result: `perft` counts the moves of the last ply without making
them (bulk counting), `play_leaves` makes and unmakes every leaf.
"""

from collections.abc import Sequence
from operator import index

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from x88 import piece

if not cython.compiled:
    # isort: off
    # fmt: off
    from x88.attack import find_checks_and_pins, is_near_attacked
    from x88.board import Board
    from x88.movegen import MoveStack, generate, is_castling_legal, may_castle
    from x88.perft.table import LEAVES_BITS, PerftTable
    from x88.piece import (
        ANY_PIECE, BISHOP, BORDER, EMPTY, KING, KNIGHT, PAWN, ROOK, SLIDER, WHITE, WHITE_PIECE,
    )
    from x88.square import RANK

MOFF = piece.MOFF

DEEPEST = 64
"""Plies; no deeper count would ever finish."""


def play_leaves(board: Board, stack: MoveStack, sp: int, depth: int) -> int:
    """The number of leaves at `depth` plies. Makes and unmakes every move."""
    if depth <= 0:
        return 1
    end = generate(board, stack, sp)
    total = 0
    for i in range(sp, end):
        board.make_unchecked(stack.moves[i])
        total += play_leaves(board, stack, end, depth - 1)
        board.unmake_unchecked()
    return total


def perft(board: Board, stack: MoveStack, sp: int, depth: int) -> int:
    """The number of leaves at `depth` plies, by bulk counting: the moves of the last ply are not made."""
    if depth <= 0:
        return 1
    if depth == 1:
        return count_moves(board, stack, sp)
    end = generate(board, stack, sp)
    total = 0
    for i in range(sp, end):
        board.make_unchecked(stack.moves[i])
        total += perft(board, stack, end, depth - 1)
        board.unmake_unchecked()
    return total


def count_moves(board: Board, stack: MoveStack, sp: int) -> int:
    """The number of legal moves. In check, they are generated on the stack from `sp` on."""
    find_checks_and_pins(board)
    if board.checkers:
        return generate(board, stack, sp) - sp
    side = board.side
    own = WHITE_PIECE << side
    enemy = own ^ ANY_PIECE
    blocked = own | BORDER
    forward = 16 - 32 * side
    start = 0x10 if side == WHITE else 0x60
    last = 0x60 if side == WHITE else 0x10
    pinned = board.pin_count != 0
    total = _count_king(board)
    if may_castle(board):
        total += is_castling_legal(board, 2 * side) + is_castling_legal(board, 2 * side + 1)
    for i in range((side << 4) + 1, (side << 4) + board.count[side]):
        origin = board.pieces[i]
        code = board.squares[origin]
        if pinned and board.pins[origin]:
            total += _count_pinned(board, origin, code, enemy, forward)
        elif code & 0x0E == 0:
            target = origin + forward
            moves = (board.squares[target - 1 & 0xFF] & enemy != 0) + (board.squares[target + 1] & enemy != 0)
            if board.squares[target] == EMPTY:
                moves += 1
                if origin & RANK == start and board.squares[target + forward] == EMPTY:
                    moves += 1
            if origin & RANK == last:
                moves *= 4
            total += moves
        elif code & SLIDER:
            if code & ROOK:
                total += (
                    _count_line(board, origin, 16, enemy)
                    + _count_line(board, origin, 1, enemy)
                    + _count_line(board, origin, -1, enemy)
                    + _count_line(board, origin, -16, enemy)
                )
            if code & BISHOP:
                total += (
                    _count_line(board, origin, 17, enemy)
                    + _count_line(board, origin, 15, enemy)
                    + _count_line(board, origin, -15, enemy)
                    + _count_line(board, origin, -17, enemy)
                )
        else:
            total += _count_steps(board, origin, MOFF[KNIGHT], blocked)
    if board.en_passant_legal:
        total += _count_en_passant(board, forward)
    return total


def _count_pinned(board: Board, origin: int, code: int, enemy: int, forward: int) -> int:
    """The number of legal moves of a pinned piece along its line, without en passant."""
    step = board.pins[origin]
    straight = step == 1 or step == -1 or step == 16 or step == -16
    if code & SLIDER:
        if code & (ROOK if straight else BISHOP):
            return _count_line(board, origin, step, enemy) + _count_line(board, origin, -step, enemy)
    elif code & PAWN:
        target = origin + forward
        if step == 16 or step == -16:
            if board.squares[target] == EMPTY:
                start = 0x10 if forward > 0 else 0x60
                return 1 + (origin & RANK == start and board.squares[target + forward] == EMPTY)
        elif not straight:
            # The pawn can only capture the pinning piece: turn the step of the line to the pawn's direction.
            target = origin + (step if (step > 0) == (forward > 0) else -step)
            if board.squares[target & 0xFF] & enemy:
                return 4 if target & RANK == 0x70 or target & RANK == 0 else 1
    return 0


def _count_en_passant(board: Board, forward: int) -> int:
    """The number of legal en-passant captures."""
    total = 0
    pawn = WHITE_PIECE << board.side | PAWN
    origin = board.en_passant - forward - 1
    if board.squares[origin & 0xFF] == pawn and board.is_en_passant_legal(origin):
        total += 1
    origin += 2
    if board.squares[origin & 0xFF] == pawn and board.is_en_passant_legal(origin):
        total += 1
    return total


def _count_steps(board: Board, origin: int, row: int, blocked: int) -> int:
    """The number of squares one step away, by a row of the moff table, that are not blocked."""
    total = 0
    for i in range(8):
        total += board.squares[origin + MOFF[row + i] & 0xFF] & blocked == 0
    return total


def _count_line(board: Board, origin: int, step: int, enemy: int) -> int:
    """The number of moves of a slider in one direction. The border ends the line."""
    total = 0
    target = origin + step & 0xFF
    while board.squares[target] == EMPTY:
        total += 1
        target = target + step & 0xFF
    return total + (board.squares[target] & enemy != 0)


def _count_king(board: Board) -> int:
    """The number of legal moves of a king that is not in check, except castling."""
    side = board.side
    origin = board.pieces[side << 4]
    king = board.squares[origin]
    blocked = king & ANY_PIECE | BORDER
    total = 0
    jx = MOFF[KING]
    if board.near_count == 0:
        total = _count_steps(board, origin, jx, blocked)
    else:
        board.squares[origin] = EMPTY
        while MOFF[jx]:
            target = origin + MOFF[jx] & 0xFF
            if board.squares[target] & blocked == 0 and not is_near_attacked(board, target):
                total += 1
            jx += 1
        board.squares[origin] = king
    return total


class Counter:
    """Counts leaves for one thread, on a board and a stack of its own."""

    def __init__(self, board: Board, playing: bool = False, table: PerftTable | None = None) -> None:
        """`playing` makes and unmakes every leaf instead of counting the moves of the last ply. The table, if
        there is one, holds what others have counted; many counters may share it.
        """
        self.board = board.copy()
        self.stack = MoveStack()
        self.playing = playing
        self.has_table = table is not None
        self.table = table
        self.halted = 0
        self.overflowed = False

    def halt(self) -> None:
        """Stop the running count and every later one. Any thread may call this."""
        self.halted = 1

    def leaves_under(self, moves: Sequence[int], depth: int) -> int:
        """The leaves at `depth` plies, 0 to DEEPEST, after some legal moves; when halted, those found so far.

        Runs without the GIL. Raises ValueError for another depth and for moves that are not legal, and
        OverflowError if one position has 2 ** LEAVES_BITS leaves or more: only with a table can a count get
        that far.
        """
        if not 0 <= index(depth) <= DEEPEST:
            raise ValueError(f"{depth} is not a depth from 0 to {DEEPEST}")
        plies = depth
        self.overflowed = False
        made = self.board.ply
        try:
            for move in moves:
                self.board.make(move)
            with cython.nogil:
                total = self._count(0, plies)
        finally:
            while self.board.ply > made:
                self.board.unmake()
        if self.overflowed:
            raise OverflowError(f"there are more than 2^{LEAVES_BITS} leaves, too many to count")
        return total

    def _count(self, sp: int, depth: int) -> int:
        # Check the flag and the table only at a depth that is worth the cost, yet often enough to stop soon
        # and to find much. With a table a ply less: two plies cost more than a probe, one costs less.
        if depth < 2 or (depth == 2 and not self.has_table):
            if self.playing:
                return play_leaves(self.board, self.stack, sp, depth)
            return perft(self.board, self.stack, sp, depth)
        if self.halted != 0 or self.overflowed:
            return 0
        if self.has_table:
            total = self.table.probe_unchecked(self.board.key, depth)  # type: ignore[union-attr]
            if total >= 0:
                return total
        end = generate(self.board, self.stack, sp)
        total = 0
        for i in range(sp, end):
            self.board.make_unchecked(self.stack.moves[i])
            total += self._count(end, depth - 1)
            self.board.unmake_unchecked()
            if total >> LEAVES_BITS:
                self.overflowed = True
                total = 0
        # Incomplete counts are not stored.
        if self.has_table and not self.halted and not self.overflowed:
            self.table.store_unchecked(self.board.key, depth, total)  # type: ignore[union-attr]
        return total
