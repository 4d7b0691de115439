from libc.stdint cimport int16_t

cimport cython

from search.history cimport apply_bonus

cpdef enum:
    ROW = 16384
    MOVES = 769      # piece-to indices, and NO_PREVIOUS


@cython.final
cdef class Corrections:
    cdef int16_t[32768] pawns    # [side to move * ROW + hash of the pawns]
    cdef int16_t[65536] pieces   # [(2 * side to move + side) * ROW + hash of that side's pieces]
    cdef int16_t[32768] minors   # [side to move * ROW + hash of both sides' kings and minor pieces]
    cdef int16_t[591361] moves   # [last * MOVES + before]

    cdef void clear(self) noexcept nogil
    cdef int by_pawns(self, int side, int pawns) noexcept nogil
    cdef int by_pieces(self, int side, int white, int black) noexcept nogil
    cdef int by_minors(self, int side, int minors) noexcept nogil
    cdef int by_moves(self, int last, int before) noexcept nogil
    @cython.locals(index=int)
    cdef void update(
        self, int side, int pawns, int white, int black, int minors, int last, int before, int error
    ) noexcept nogil
