cimport cython

from x88.board cimport BLACK_LONG, BLACK_SHORT, MAX_PIECES, WHITE_LONG, WHITE_SHORT, Board
from x88.piece cimport BLACK, EMPTY, KIND, KING, PAWN, WHITE
from x88.square cimport FILE, NO_SQUARE

cdef unsigned char[48] LETTER

@cython.locals(text="unsigned char[112]", n=int, run=int, sq=int, code=int, rights=int)
cpdef str write(Board board)
@cython.locals(digits=int, power=int, i=int)
cdef int _write_number(unsigned char* text, int n, int number) noexcept nogil
