from libc.stdint cimport int16_t

cimport cython

from x88.move cimport SQUARE, TARGET_SHIFT


@cython.final
cdef class History:
    cdef int[272] killers   # two for every ply
    cdef int16_t[6144] quiets   # [code << 7 | target]

    cpdef void clear(self) noexcept nogil
    cpdef void new_search(self) noexcept nogil
    cpdef int score(self, int code, int move) noexcept nogil
    @cython.locals(index=int, size=int)
    cpdef void update(self, int code, int move, int bonus) noexcept nogil
    cpdef void add_killer(self, int ply, int move) noexcept nogil
