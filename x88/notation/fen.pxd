cimport cython

from x88.board cimport Board
from x88.move cimport rook_origin
from x88.piece cimport BLACK, EMPTY, KIND, KING, ROOK, WHITE, WHITE_PIECE
from x88.square cimport FILE, NO_SQUARE, OFF_BOARD

cdef unsigned char[48] LETTER

@cython.locals(text="unsigned char[112]", n=int, run=int, sq=int, code=int, number=int)
cpdef str write(Board board, bint shredder=*)
@cython.locals(rook=int, outwards=int, sq=int, letter=int)
cdef int _right(Board board, int number, bint shredder) noexcept nogil
@cython.locals(digits=int, power=int, i=int)
cdef int _write_number(unsigned char* text, int n, int number) noexcept nogil
