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

from x88 import square

if not cython.compiled:
    # isort: off
    # fmt: off
    from x88.attack import attacked_squares, find_checks_and_pins
    from x88.board import Board
    from x88.movegen import MoveStack, generate, is_castling_legal, may_castle
    from x88.perft.table import LEAVES_BITS, PerftTable
    from x88.piece import BISHOP, KIND, KING, KNIGHT, PAWN, QUEEN, ROOK, WHITE, WHITE_PIECE
    from x88.sets import bit, count, diagonal, lowest, straight
    from x88.square import DIAGONAL, index64

ATTACKS = square.ATTACKS
FILE_A = square.FILE_A
FILE_H = square.FILE_H
ENDS = square.ENDS
RANK_3 = 0x0000000000FF0000
RANK_6 = 0x0000FF0000000000

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
    code = WHITE_PIECE << side
    own = board.sides[side]
    enemy = board.sides[side ^ 1]
    occupied = own | enemy
    total = 0
    targets = ATTACKS[KING << 6 | index64(board.pieces[side << 4])] & ~own
    if targets:
        total = count(targets & ~attacked_squares(board, side ^ 1))
    if may_castle(board):
        total += is_castling_legal(board, 2 * side) + is_castling_legal(board, 2 * side + 1)
    free = ~board.pinned
    total += _count_pawns(board.sets[code | PAWN] & free, side, occupied, enemy)
    if board.en_passant_legal:
        total += _count_en_passant(board)
    pieces = board.sets[code | KNIGHT] & free
    while pieces:
        total += count(ATTACKS[KNIGHT << 6 | index64(lowest(pieces))] & ~own)
        pieces &= pieces - 1
    pieces = (board.sets[code | ROOK] | board.sets[code | QUEEN]) & free
    while pieces:
        total += count(straight(lowest(pieces), occupied) & ~own)
        pieces &= pieces - 1
    pieces = (board.sets[code | BISHOP] | board.sets[code | QUEEN]) & free
    while pieces:
        total += count(diagonal(lowest(pieces), occupied) & ~own)
        pieces &= pieces - 1
    pieces = board.pinned
    while pieces:
        total += _count_pinned(board, lowest(pieces), occupied, enemy)
        pieces &= pieces - 1
    return total


def _count_pawns(pawns: int, side: int, occupied: int, enemy: int) -> int:
    """The number of moves of a side's pawns that are not pinned, without en passant."""
    if side == WHITE:
        pushes = pawns << 8 & ~occupied
        doubles = (pushes & RANK_3) << 8 & ~occupied
        left = (pawns & ~FILE_A) << 7 & enemy
        right = (pawns & ~FILE_H) << 9 & enemy
    else:
        pushes = pawns >> 8 & ~occupied
        doubles = (pushes & RANK_6) >> 8 & ~occupied
        left = (pawns & ~FILE_A) >> 9 & enemy
        right = (pawns & ~FILE_H) >> 7 & enemy
    total = count(pushes) + count(doubles) + count(left) + count(right)
    if (pushes | left | right) & ENDS:
        total += 3 * (count(pushes & ENDS) + count(left & ENDS) + count(right & ENDS))
    return total


def _count_pinned(board: Board, origin: int, occupied: int, enemy: int) -> int:
    """The number of legal moves of a pinned piece, all along the line to its king, without en passant."""
    king = index64(board.pieces[board.side << 4])
    number = index64(origin)
    kind = board.squares[origin] & KIND
    row = ROOK if ATTACKS[ROOK << 6 | king] & bit(origin) else DIAGONAL
    line = ATTACKS[row << 6 | king] & ATTACKS[row << 6 | number]
    if kind == PAWN:
        return _count_pawns(bit(origin), board.side, occupied | ~line, enemy & line)
    if row == ROOK:
        return count(straight(origin, occupied) & line) if kind & ROOK else 0
    return count(diagonal(origin, occupied) & line) if kind & BISHOP else 0


def _count_en_passant(board: Board) -> int:
    """The number of legal en-passant captures."""
    pawns = board.sets[WHITE_PIECE << board.side | PAWN]
    pawns &= ATTACKS[(board.side ^ 1) << 6 | index64(board.en_passant)]
    total = 0
    while pawns:
        total += board.is_en_passant_legal(lowest(pawns))
        pawns &= pawns - 1
    return total


class Counter:
    """Counts leaves for one thread, on a board and a stack of its own."""

    def __init__(self, board: Board, playing: bool = False, table: PerftTable | None = None) -> None:
        """`playing` makes and unmakes every leaf instead of counting the moves of the last ply. The table, if
        there is one, holds what others have counted; many counters may share it. Raises ValueError on an
        empty board.
        """
        board.king(board.side)
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
        depth = index(depth)
        if not 0 <= depth <= DEEPEST:
            raise ValueError(f"{depth} is not a depth from 0 to {DEEPEST}")
        plies = depth
        self.overflowed = False
        made = self.board.ply
        try:
            for move in moves:
                self.board.make(move)
            self.board.make_room(plies)
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
