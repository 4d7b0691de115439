from libc.stdint cimport int16_t

cimport cython

from search.history cimport apply_bonus
from search.transposition cimport fetch
from x88.atomic cimport load_short, store_short

cpdef enum:
    ROW = 16384
    MOVES = 769      # piece-to indices, and NO_PREVIOUS


@cython.final
cdef class Corrections:
    cdef int16_t[32768] pawns    # [hash of the pawns << 1 | side to move]
    cdef int16_t[65536] pieces   # [hash of a side's pieces << 2 | that side << 1 | side to move]
    cdef int16_t[32768] minors   # [hash of both sides' kings and minor pieces << 1 | side to move]
    cdef int16_t[591361] moves   # [last * MOVES + before]

    cpdef void clear(self) noexcept nogil
    cdef int by_pawns(self, int side, int pawns) noexcept nogil
    cdef int by_pieces(self, int side, int white, int black) noexcept nogil
    cdef int by_minors(self, int side, int minors) noexcept nogil
    cdef int by_moves(self, int last, int before) noexcept nogil
    cdef void prefetch(self, int white, int black, int minors, int last, int before) noexcept nogil
    cdef void update(
        self, int side, int pawns, int white, int black, int minors, int last, int before, int error
    ) noexcept nogil


@cython.locals(learnt=int)
cdef void _learn(int16_t* table, int index, int error) noexcept nogil
