cimport cython


@cython.final
cdef class Stop:
    cdef bint stopped

    cpdef void set(self) noexcept nogil
    cpdef void clear(self) noexcept nogil
    cpdef bint is_set(self) noexcept nogil
