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
    cdef char[508] known                  # [ply * 2 + perspective]
    cdef int[508] flips                   # [ply * 2 + perspective]
    cdef char[254] crossings              # [ply]: bits of the perspectives whose king has crossed the middle
    cdef int[1016] changes                 # [ply * 4 + n]: added, removed, also removed, also added; 0 if none
    cdef int[254] counts                  # [ply]: pieces
    cdef int ply

    @cython.locals(perspective=int)
    cpdef void reset(self, Board board) noexcept nogil
    cpdef make(self, Board board, move)
    @cython.locals(colour=int, origin=int, target=int, code=int, count=int, now=int, change=int, square=int, rook=int)
    cdef void make_unchecked(self, int move, int side) noexcept nogil
    cdef void unmake_unchecked(self) noexcept nogil
    @cython.locals(side=int, now=int, own=int, other=int)
    cpdef int value(self, Board board) noexcept nogil
    @cython.locals(count=int, value=int)
    cpdef int value_among(self, Board board, pieces) except? -1
    @cython.locals(now=int, perspective=int, side=int, count=int, value=int, omitted=int)
    cpdef int value_without(self, Board board, sq) except? -1
    @cython.locals(to=int, i=int, view=int)
    cpdef list numbers(self, Board board, perspective)
    @cython.locals(ply=int)
    cdef void _update(self, Board board, int perspective) noexcept nogil
    @cython.locals(at=int, change=int, to=int, origin=int, added=int, removed=int, other=int)
    cdef void _step(self, int ply, int perspective) noexcept nogil
    @cython.locals(at=int, to=int, i=int, sq=int)
    cdef void _refresh(self, Board board, int perspective, int omitted) noexcept nogil
    @cython.locals(sq=int)
    cdef int _row(self, int piece, int perspective, int flipped) noexcept nogil


cdef int flip(int perspective, int king) noexcept nogil
