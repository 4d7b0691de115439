from libc.stdint cimport int64_t, uint64_t

cimport cython

from x88.atomic cimport load_word, store_word
from x88.pointer cimport memory_of

cpdef enum:
    CLUSTER = 8       # words in a cluster of four entries
    DEPTH_BITS = 7    # of the data
    LEAVES_BITS = 57


@cython.final
cdef class PerftTable:
    cdef object _held               # the bytes that the words are
    cdef uint64_t* words
    cdef readonly uint64_t most      # clusters
    cdef readonly uint64_t clusters  # in use

    @cython.locals(index=uint64_t, i=uint64_t, data=uint64_t)
    cdef int64_t probe_unchecked(self, uint64_t key, int depth) noexcept nogil
    @cython.locals(index=uint64_t, i=uint64_t, place=uint64_t, data=uint64_t, least=uint64_t)
    cdef void store_unchecked(self, uint64_t key, int depth, uint64_t leaves) noexcept nogil
