from libc.stdint cimport uint64_t

cimport cython

from x88.board cimport Board
from x88.piece cimport BISHOP, KIND, KNIGHT, PAWN, QUEEN, ROOK, WHITE, WHITE_PIECE
from x88.sets cimport bit, count, square_colours
from x88.square cimport FILE, NO_SQUARE

cpdef enum:
    DARK_AND_LIGHT = 3     # of square_colours

    # Centipawns of mop_up for each step.
    NEAR_EDGE = 30         # of the bare king towards the edge
    NEAR_CORNER = 20       # of the bare king towards a corner of the bishop's colour
    NEAR_KING = 10         # of the kings towards each other

@cython.locals(own=int, pieces=int, bare_of_pawns=bint, knights=int, bishops=uint64_t)
cdef bint is_drawn_unchecked(Board board, int strong) noexcept nogil
@cython.locals(corner=int, i=int, sq=int, file=int, steps=int, distance=int)
cdef bint _is_wrong_rook_pawn(Board board, int strong) noexcept nogil
@cython.locals(own=int, lone=int, rank=int, file=int, total=int, corner=int, bishops=uint64_t)
cdef int mop_up_unchecked(Board board, int strong) noexcept nogil
cdef int _distance(int a, int b) noexcept nogil
cpdef bint is_drawn(Board board, strong) except -1
cpdef bint has_bare_king(Board board, side) except -1
cpdef int mop_up(Board board, strong) except? -1
