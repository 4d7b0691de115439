from libc.stdint cimport uint64_t

cimport cython

from x88.board cimport LARGEST_COUNTER, Board, fresh
from x88.move cimport rook_origin
from x88.piece cimport BLACK, EMPTY, KIND, KING, ROOK, WHITE, WHITE_PIECE
from x88.sets cimport lowest
from x88.square cimport FILE, NO_SQUARE, OFF_BOARD

cpdef enum:
    LONGEST = 112   # more characters than any FEN has

cdef extern from *:
    """
    static inline const unsigned char *moff_ascii_of(PyObject *text) {
        Py_ssize_t size;
        const char *letters = PyUnicode_AsUTF8AndSize(text, &size);
        if (letters == NULL) PyErr_Clear();  /* a lone surrogate */
        return letters != NULL && size == PyUnicode_GetLength(text) ? (const unsigned char *)letters : NULL;
    }
    """
    const unsigned char* ascii_of "moff_ascii_of"(text) noexcept

cdef unsigned char[48] LETTER
cdef unsigned char[128] CODE

@cython.locals(remarks=list, passed="int[1]", board=Board)
cpdef Board parse(text, warnings=*, chess960=*)
@cython.locals(letters="const unsigned char*", size=Py_ssize_t, plain=bytes)
cdef Board _read(text, list remarks, bint chess960, bint any_pieces, int* passed)
cdef Board read_any(text, bint chess960, int* passed)
@cython.locals(text="unsigned char[112]")
cpdef str write(Board board, bint shredder=*)
@cython.locals(occupied=uint64_t, row=uint64_t, rank=Py_ssize_t, file=Py_ssize_t, here=Py_ssize_t, number=int)
cdef Py_ssize_t put(Board board, unsigned char* text, Py_ssize_t n, bint shredder) noexcept nogil
@cython.locals(rook=int, outwards=int, sq=int, letter=int)
cdef int _right(Board board, int number, bint shredder) noexcept nogil
@cython.locals(digits=int, power=int, i=int)
cdef Py_ssize_t _write_number(unsigned char* text, Py_ssize_t n, int number) noexcept nogil
@cython.locals(starts="Py_ssize_t[6]", ends="Py_ssize_t[6]", kings="int[2]", rights="int[4]", rooks="int[4]", fields=Py_ssize_t,
               i=Py_ssize_t, start=Py_ssize_t, n=int, number=int, side=int, en_passant=int, halfmove=int, fullmove=int, board=Board,
               is_playable=bint)
cdef Board _parse(text, const unsigned char* letters, Py_ssize_t size, list remarks, bint chess960, bint any_pieces,
                  int* passed)
cdef bint _is_blank(int letter) noexcept nogil
cdef bint _is_dash(const unsigned char* letters, Py_ssize_t start, Py_ssize_t end) noexcept nogil
@cython.locals(i=Py_ssize_t, sq=int, rank=int, file=Py_ssize_t, number=int, letter=int, code=int, ranks=Py_ssize_t)
cdef int _placement(Board board, text, const unsigned char* letters, Py_ssize_t start, Py_ssize_t end, int* kings) except -1
@cython.locals(i=Py_ssize_t, j=Py_ssize_t, letter=int, is_file=bint, is_wrong=bint, side=int, king=int, number=int, rook=int)
cdef bint _castling(text, const unsigned char* letters, Py_ssize_t start, Py_ssize_t end, bint chess960, Board board, int* kings,
                    int* given, int* rooks) except -1
@cython.locals(outwards=int, found=int, sq=int)
cdef int _outermost_rook(Board board, int king, int number) noexcept nogil
@cython.locals(file=int, rank=int)
cdef int _square(text, const unsigned char* letters, Py_ssize_t start, Py_ssize_t end) except -1
@cython.locals(number=int, i=Py_ssize_t)
cdef int _counter(str name, text, const unsigned char* letters, Py_ssize_t start, Py_ssize_t end) except -1
