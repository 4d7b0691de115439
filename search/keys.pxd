from libc.stdint cimport uint64_t

cimport cython

from x88.board cimport Board
from x88.move cimport CAPTURED, CASTLING, EN_PASSANT, PROMOTED, captured_of, moved_of, origin_of, promoted_of, rook_origin, rook_target, target_of
from x88.piece cimport ANY_PIECE, BISHOP, KIND, KING, KNIGHT, PAWN, ROOK, WHITE_PIECE

cpdef enum:
    PAWNS = 0
    PIECES = 1             # White's, then Black's
    MINORS = 3
    KINDS = 4

cdef uint64_t[6144] PIECE_KEYS


@cython.final
cdef class Keys:
    cdef uint64_t[1016] stack       # [ply * KINDS + kind]
    cdef int top                   # ply * KINDS

    @cython.locals(i=int, sq=int)
    cdef void reset(self, Board board) noexcept nogil
    @cython.locals(own=int, code=int, target=int, key=uint64_t)
    cdef void make(self, int move, int side) noexcept nogil
    @cython.locals(i=int)
    cdef void make_null(self) noexcept nogil
    cdef void unmake(self) noexcept nogil
    @cython.locals(kind=int)
    cdef void _toggle(self, int code, uint64_t key) noexcept nogil
    cdef uint64_t pawns(self) noexcept nogil
    cdef uint64_t pieces(self, int side) noexcept nogil
    cdef uint64_t minors(self) noexcept nogil

cdef uint64_t piece_key(int code, int sq) noexcept nogil
