cimport cython

from x88.board cimport Board
from x88.move cimport rook_origin
from x88.piece cimport BLACK, EMPTY, KING, ROOK, WHITE, WHITE_PIECE
from x88.square cimport FILE, NO_SQUARE, OFF_BOARD

cdef unsigned char[48] LETTER
cdef unsigned char[128] CODE

@cython.locals(text="unsigned char[112]", n=int, run=int, sq=int, code=int, number=int)
cpdef str write(Board board, bint shredder=*)
@cython.locals(rook=int, outwards=int, sq=int, letter=int)
cdef int _right(Board board, int number, bint shredder) noexcept nogil
@cython.locals(digits=int, power=int, i=int)
cdef int _write_number(unsigned char* text, int n, int number) noexcept nogil
@cython.locals(n=int, number=int, rights=int, codes=bytes, letters=list, rooks=list, board=Board)
cdef Board _parse(list fields, list remarks, bint chess960)
@cython.locals(codes="unsigned char[128]", sq=int, rank=int, file=int, number=int, letter=int, ranks=int)
cdef bytes _placement(str text)
@cython.locals(side=int, king=int, number=int, rook=int)
cdef bint _castling(str text, bytes codes, bint chess960, list letters, list rooks) except -1
@cython.locals(outwards=int, found=int, sq=int)
cdef int _outermost_rook(bytes codes, int king, int number)
