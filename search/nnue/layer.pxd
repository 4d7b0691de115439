cimport cython

from search.system cimport has_avx2
from x88.pointer cimport memory_of

cpdef enum:
    DEPTH = 254            # plies
    KEPT = 16              # for 4 zones, 2 halves and 2 perspectives
    SCALE = 267            # see search/nnue/network.py
    UNIT = 16773632
    MAX_VALUE = 30000        # the limit of every value, below all mate scores


cdef class Layer:
    cdef readonly int hidden
    cdef readonly int outputs
    cdef const short* inputs          # [input * hidden + i]
    cdef const short* input_biases
    cdef const short* output_weights  # [(output * 2 + perspective) * hidden + i]
    cdef const int* output_biases
    cdef short* sums                  # [(ply * 2 + perspective) * hidden + i], then KEPT more
    cdef short* squares               # [perspective * hidden + i], the side to move first
    cdef tuple _held                  # keeps alive what the pointers point into

    @cython.locals(band=int, total=cython.longlong, scaled=cython.longlong, lift=cython.longlong, value=int)
    cdef int value(self, int own, int other, int pieces) noexcept nogil
    cdef void start(self, int to) noexcept nogil
    cdef void add(self, int to, int added) noexcept nogil
    cdef void move(self, int to, int origin, int added, int removed) noexcept nogil
    cdef void capture(self, int to, int origin, int added, int removed, int captured) noexcept nogil
    cdef int output(self, int own, int other, int weights) noexcept nogil


cpdef bint has_wide_vectors()
