from libc.stdint cimport uint64_t

cimport cython

from search.syzygy.file cimport BLESSED_LOSS, CURSED_WIN, DRAW, LOSS, OTHER_SIDE, UNKNOWN, WIN, Table, signature_of
from search.syzygy.pairs cimport MOST_PIECES
from x88.attack cimport in_check
from x88.board cimport Board
from x88.move cimport CAPTURED, moved_of
from x88.movegen cimport MoveStack, generate, generate_captures, own_stack
from x88.piece cimport PAWN

cpdef enum:
    ZEROES = 16             # added to a result that a zeroing move achieves


cdef class Tablebase:
    cdef readonly list problems
    cdef readonly int most
    cdef object _complain
    cdef Table _results
    cdef Table _distances
    cdef dict _tables                # [suffix, key]

    cdef int result(self, Board board, MoveStack stack, int sp) noexcept nogil
    @cython.locals(found=int, value=int)
    cdef int distance(self, Board board, MoveStack stack, int sp, bint is_first) noexcept nogil
    @cython.locals(best=int, end=int, i=int, move=int, zeroing=bint, value=int, mates=bint)
    cdef int _distance_by_moves(self, Board board, MoveStack stack, int sp, int sign) noexcept nogil
    @cython.locals(best=int, tried=int, is_complete=bint, end=int, i=int, move=int, found=int, key=uint64_t, value=int)
    cdef int _probe_captures(self, Board board, MoveStack stack, int sp, bint with_pawns) noexcept nogil


@cython.locals(found=uint64_t)
cdef uint64_t _key(Board board) noexcept nogil
cpdef bint is_zeroing(int move) noexcept nogil
cpdef int before_zeroing(int result) noexcept nogil
cpdef int pieces_on(Board board) noexcept nogil
