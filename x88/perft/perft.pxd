from libc.stdint cimport uint8_t

cimport cython

from x88.atomic cimport atomic_flag_word
from x88.attack cimport find_checks_and_pins, is_near_attacked
from x88.board cimport Board
from x88.movegen cimport MoveStack, generate, is_castling_legal, may_castle
from x88.piece cimport (
    ANY_PIECE, BISHOP, BORDER, EMPTY, KING, KNIGHT, PAWN, ROOK, SLIDER, WHITE, WHITE_PIECE,
)
from x88.perft.table cimport LEAVES_BITS, PerftTable
from x88.square cimport RANK

cdef int[50] MOFF

@cython.locals(end=int, total="long long", i=int)
cdef long long play_leaves(Board board, MoveStack stack, int sp, int depth) noexcept nogil
@cython.locals(end=int, total="long long", i=int)
cdef long long perft(Board board, MoveStack stack, int sp, int depth) noexcept nogil
@cython.locals(side=int, own=int, enemy=int, blocked=int, total=int, i=int, origin=int, code=int, forward=int, start=int,
               last=int, pinned=bint, target=int, moves=int)
cdef int count_moves(Board board, MoveStack stack, int sp) noexcept nogil
@cython.locals(step=int, straight=bint, target=int, start=int)
cdef int _count_pinned(Board board, int origin, int code, int enemy, int forward) noexcept nogil
@cython.locals(total=int, pawn=int, origin=int)
cdef int _count_en_passant(Board board, int forward) noexcept nogil
@cython.locals(total=int, i=int)
cdef int _count_steps(Board board, int origin, Py_ssize_t row, int blocked) noexcept nogil
@cython.locals(total=int, target=uint8_t)
cdef int _count_line(Board board, int origin, int step, int enemy) noexcept nogil
@cython.locals(side=int, origin=int, king=int, blocked=int, total=int, jx=int, target=int)
cdef int _count_king(Board board) noexcept nogil


@cython.final
cdef class Counter:
    cdef Board board
    cdef MoveStack stack
    cdef PerftTable table
    cdef bint has_table
    cdef bint playing
    cdef atomic_flag_word halted  # set by another thread
    cdef bint overflowed

    @cython.locals(total="long long", plies=int)
    cpdef leaves_under(self, moves, depth)
    @cython.locals(total="long long", end=int, i=int)
    cdef long long _count(self, int sp, int depth) noexcept nogil
