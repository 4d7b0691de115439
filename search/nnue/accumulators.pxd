from libc.stdint cimport uint64_t

cimport cython

from search.nnue.layer cimport DEPTH, KEPT, Layer
from x88.board cimport Board
from x88.move cimport CAPTURED, CASTLING, EN_PASSANT, PROMOTED, captured_of, moved_of, origin_of, promoted_of, rook_origin, rook_target, target_of
from x88.piece cimport ANY_PIECE, BLACK, EMPTY, KIND, KING, ROOK, WHITE, WHITE_PIECE
from x88.sets cimport lowest
from x88.square cimport index64

cdef int[96] FIRST
cdef int[64] ZONE


@cython.final
cdef class Accumulators:
    cdef Layer layer
    cdef readonly int hidden
    cdef int ply
    cdef uint64_t[768] sets  # those of the pieces whose sums are kept, 48 for each half and zone

    @cython.locals(view=int, kept=int)
    cpdef void reset(self, Board board) noexcept nogil
    cpdef make(self, Board board, move)
    @cython.locals(side=int, own=int, moved=int, placed=int, origin=int, target=int, view=int, before=int, to=int, mask=int,
                   added=int, removed=int, sq=int, captured=int)
    cdef void make_unchecked(self, Board board, int move) noexcept nogil
    cdef void unmake_unchecked(self) noexcept nogil
    cpdef int value(self, Board board) noexcept nogil
    cpdef int value_among(self, Board board, pieces) except? -1
    @cython.locals(view=int, origin=int, row=int, omitted=int)
    cpdef int value_without(self, Board board, sq) except? -1
    @cython.locals(side=int)
    cdef int _value(self, Board board, int ply, int pieces) noexcept nogil
    @cython.locals(to=int, i=int)
    cpdef list numbers(self, perspective)
    @cython.locals(number=int, to=int, sets=int, code=int, gone=uint64_t, come=uint64_t, removed=int)
    cdef int _refresh(self, Board board, int view, int mask) noexcept nogil
    cdef int _row(self, int code, int sq, int view, int mask) noexcept nogil


@cython.locals(mask=int)
cdef int mask_of(int perspective, int king) noexcept nogil
