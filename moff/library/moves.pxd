cimport cython

from x88.move cimport CASTLING, is_home_castling, origin_of, promoted_of, rook_origin, target_of
from x88.piece cimport BLACK_PIECE, KIND
from x88.square cimport index64

cdef int[16] TYPE
cdef list _moves
cdef list _pieces
cdef dict _SQUARES
cdef dict _PROMOTIONS


@cython.final
cdef class Move:
    cdef readonly int from_square
    cdef readonly int to_square
    cdef readonly object promotion
    cdef int number     # from_square | to_square << 6 | promotion << 12


@cython.final
cdef class Piece:
    cdef readonly int piece_type
    cdef readonly bint color


cdef Piece piece_of(int code)
@cython.locals(number=int)
cdef int square_of(square) except -1
@cython.locals(move=Move)
cdef Move shared(int number)
@cython.locals(target=int)
cdef Move from_packed(int packed, bint chess960)
