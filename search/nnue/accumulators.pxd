cimport cython

from search.nnue.layer cimport DEPTH, Layer
from x88.board cimport Board
from x88.move cimport CAPTURED, CASTLING, EN_PASSANT, PROMOTED, captured_of, moved_of, origin_of, promoted_of, rook_origin, rook_target, target_of
from x88.piece cimport ANY_PIECE, BLACK, EMPTY, KIND, KING, ROOK, WHITE, WHITE_PIECE
from x88.square cimport NO_SQUARE, index64

cdef int[96] FIRST


@cython.final
cdef class Accumulators:
    cdef Layer layer
    cdef readonly int hidden
    cdef int ply

    @cython.locals(view=int)
    cpdef void reset(self, Board board) noexcept nogil
    cpdef make(self, Board board, move)
    @cython.locals(side=int, own=int, moved=int, placed=int, origin=int, target=int, view=int, before=int, to=int, mirror=int,
                   added=int, removed=int, sq=int, captured=int)
    cdef void make_unchecked(self, Board board, int move) noexcept nogil
    cdef void unmake_unchecked(self) noexcept nogil
    cpdef int value(self, Board board) noexcept nogil
    cpdef int value_among(self, Board board, pieces) except? -1
    @cython.locals(view=int, to=int, count=int, omitted=int)
    cpdef int value_without(self, Board board, sq) except? -1
    @cython.locals(side=int)
    cdef int _value(self, Board board, int ply, int pieces) noexcept nogil
    @cython.locals(to=int, i=int)
    cpdef list numbers(self, perspective)
    @cython.locals(i=int, sq=int)
    cdef void _refresh(self, Board board, int to, int view, int mirror, int omitted) noexcept nogil
    cdef int _row(self, int code, int sq, int view, int mirror) noexcept nogil


cdef int flip(int perspective, int king) noexcept nogil
