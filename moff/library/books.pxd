from libc.stdint cimport uint64_t

cimport cython

from moff.library.boards cimport Board
from moff.library.moves cimport from_packed, shared


cdef class Book:
    cdef bytes _content
    cdef Py_ssize_t _count

    @cython.locals(key=uint64_t, low=Py_ssize_t, high=Py_ssize_t, middle=Py_ssize_t, at=Py_ssize_t, raw=int, weight=int, promoted=int, number=int, packed=int)
    cpdef list find_all(self, Board board)
    cpdef find(self, Board board)
    cpdef weighted_choice(self, Board board, random=*)
    @cython.locals(number=uint64_t, i=Py_ssize_t)
    cdef uint64_t _number(self, Py_ssize_t at, Py_ssize_t size) except? 0
