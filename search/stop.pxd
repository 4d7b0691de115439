cimport cython

from x88.atomic cimport atomic_count, atomic_flag_word, plain, take_from


@cython.final
cdef class Stop:
    cdef atomic_flag_word stopped
    cdef atomic_flag_word finished
    cdef atomic_count left         # nodes

    cpdef void set(self) noexcept nogil
    cpdef void clear(self) noexcept nogil
    cdef void finish(self) noexcept nogil
    cpdef bint is_finished(self) noexcept nogil
    cpdef bint is_set(self) noexcept nogil
    cpdef void share_out(self, long long nodes) noexcept nogil
    @cython.locals(before=cython.longlong)
    cdef long long take(self, long long wanted) noexcept nogil
