from libc.stdint cimport uint64_t

cimport cython

from x88.board cimport Board
from x88.move cimport (
    CAPTURED, CAPTURED_SHIFT, CASTLING, EN_PASSANT, MOVED_SHIFT, PROMOTED, PROMOTED_SHIFT, SQUARE, TARGET_SHIFT, rook_origin,
    rook_target,
)
from x88.piece cimport ANY_PIECE, BISHOP, BLACK, KIND, KING, KNIGHT, PAWN, QUEEN, ROOK, WHITE, WHITE_PIECE

cpdef enum:
    FULL_PHASE = 24        # all pieces on the board

cdef int[48] PHASE
cdef uint64_t[6144] PIECE_KEYS
cdef uint64_t[128] BIT


@cython.final
cdef class Placement:
    cdef uint64_t[48] bitboards    # [piece code], and [colour] for all pieces of a side
    cdef int[136] phases           # by ply
    cdef uint64_t[136] pawn_keys   # by ply, both sides
    cdef int ply

    @cython.locals(i=int, sq=int, code=int)
    cpdef void reset(self, Board board) noexcept nogil
    @cython.locals(phase=int, key=uint64_t, colour=int, target=int, victim=int, square=int)
    cpdef void make(self, int move, int side) noexcept nogil
    cpdef void unmake(self, int move, int side) noexcept nogil
    cpdef void make_null(self) noexcept nogil
    cpdef void unmake_null(self) noexcept nogil
    @cython.locals(own=int, target=int, bit=uint64_t, both=uint64_t)
    cdef void _toggle(self, int move, int side) noexcept nogil
    cpdef int phase(self) noexcept nogil
    cpdef uint64_t pawn_key(self) noexcept nogil
    @cython.locals(own=int, total=uint64_t)
    cpdef int pieces_hash(self, int side) noexcept nogil
    cpdef int minors_hash(self) noexcept nogil
    @cython.locals(own=int, total=uint64_t)
    cdef uint64_t _minors(self, int side) noexcept nogil


cdef uint64_t _spread(uint64_t bitboard, int kind) noexcept nogil
