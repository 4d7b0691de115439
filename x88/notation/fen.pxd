from libc.stdint cimport uint64_t

cimport cython

from x88.board cimport LARGEST_COUNTER, Board
from x88.move cimport rook_origin
from x88.piece cimport BLACK, EMPTY, KIND, KING, ROOK, WHITE, WHITE_PIECE
from x88.sets cimport lowest
from x88.square cimport FILE, NO_SQUARE, OFF_BOARD

cpdef enum:
    LONGEST = 112   # more characters than any FEN has

cdef unsigned char[48] LETTER
cdef unsigned char[128] CODE

@cython.locals(text="unsigned char[112]")
cpdef str write(Board board, bint shredder=*)
@cython.locals(occupied=uint64_t, row=uint64_t, rank=Py_ssize_t, file=Py_ssize_t, here=Py_ssize_t, number=int)
cdef Py_ssize_t put(Board board, unsigned char* text, Py_ssize_t n, bint shredder) noexcept nogil
@cython.locals(rook=int, outwards=int, sq=int, letter=int)
cdef int _right(Board board, int number, bint shredder) noexcept nogil
@cython.locals(digits=int, power=int, i=int)
cdef Py_ssize_t _write_number(unsigned char* text, Py_ssize_t n, int number) noexcept nogil
@cython.locals(codes="unsigned char[128]", starts="Py_ssize_t[6]", ends="Py_ssize_t[6]", kings="int[2]", rights="int[4]", rooks="int[4]",
               fields=Py_ssize_t, i=Py_ssize_t, start=Py_ssize_t, n=int, number=int, side=int, en_passant=int, halfmove=int, fullmove=int,
               board=Board, is_playable=bint)
cdef Board _parse(text, const unsigned char* letters, Py_ssize_t size, list remarks, bint ignores, bint chess960, list given)
cdef bint _is_blank(int letter) noexcept nogil
cdef bint _is_dash(const unsigned char* letters, Py_ssize_t start, Py_ssize_t end) noexcept nogil
@cython.locals(i=Py_ssize_t, sq=int, rank=int, file=Py_ssize_t, number=int, letter=int, code=int, ranks=Py_ssize_t)
cdef int _placement(text, const unsigned char* letters, Py_ssize_t start, Py_ssize_t end, unsigned char* codes, int* kings) except -1
@cython.locals(i=Py_ssize_t, j=Py_ssize_t, letter=int, is_file=bint, is_wrong=bint, side=int, king=int, number=int, rook=int)
cdef bint _castling(text, const unsigned char* letters, Py_ssize_t start, Py_ssize_t end, bint chess960, unsigned char* codes, int* kings,
                    int* given, int* rooks) except -1
@cython.locals(outwards=int, found=int, sq=int)
cdef int _outermost_rook(unsigned char* codes, int king, int number) noexcept nogil
@cython.locals(file=int, rank=int)
cdef int _square(text, const unsigned char* letters, Py_ssize_t start, Py_ssize_t end) except -1
@cython.locals(number=int, i=Py_ssize_t)
cdef int _counter(str name, text, const unsigned char* letters, Py_ssize_t start, Py_ssize_t end) except -1
