cimport cython

from search.nnue.layer cimport Layer

cdef enum:
    INPUT_SCALE = 362  # see search/nnue/network.py


cdef class Vectors(Layer):
    @cython.locals(i=int, hidden=int, sums="short*", biases="const short*")
    cdef void start(self, int to) noexcept nogil
    @cython.locals(i=int, hidden=int, sums="short*", inputs="const short*")
    cdef void add(self, int to, int added) noexcept nogil
    @cython.locals(i=int, hidden=int, sums="short*", inputs="const short*")
    cdef void move(self, int to, int origin, int added, int removed) noexcept nogil
    @cython.locals(i=int, hidden=int, sums="short*", inputs="const short*")
    cdef void capture(self, int to, int origin, int added, int removed, int captured) noexcept nogil
    @cython.locals(i=int, hidden=int, sums="short*", squares="short*", output_weights="const short*", total=int)
    cdef int output(self, int own, int other, int weights) noexcept nogil


@cython.locals(clipped=cython.ushort)
cdef short squared(short number) noexcept nogil
