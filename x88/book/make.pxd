from libc.stdint cimport uint64_t

cimport cython

from x88.board cimport Board
from x88.move cimport NO_MOVE, book_move
from x88.notation.pgn cimport Reader

cdef int LONGEST_LINE


cdef class OpeningReader(Reader):
    cdef uint64_t[32768] keys
    cdef int[32768] moves
    cdef int plies
    cdef int length
    cdef int side      # to move before the first of them


@cython.final
cdef class Maker:
    cdef _wanted
    cdef Py_ssize_t _most
    cdef Py_ssize_t _held           # moves in the table
    cdef int _shift                 # the table has the keys with equal bits of this number, the highest
    cdef list _runs
    cdef readonly Py_ssize_t games
    cdef uint64_t[1048576] _table   # 4 words a slot: key, move, games (0: empty), points

    @cython.locals(i=int, points=int)
    cdef void _add_line(self, OpeningReader opening, int white, int black, bint only_wins)
    @cython.locals(slot=int)
    cdef void _add(self, uint64_t key, uint64_t move, uint64_t games, uint64_t points) noexcept nogil
    @cython.locals(table="uint64_t*", end=int, slot=int, key=uint64_t, move=uint64_t, games=uint64_t, points=uint64_t, to=int,
                   i=int)
    cdef int _sort(self) noexcept nogil
    @cython.locals(table="uint64_t*", slot=int)
    cdef _spill(self)
    @cython.locals(key=uint64_t)
    cdef _add_part(self, run, uint64_t part)
    @cython.locals(table="uint64_t*", least="long long", score=double, end=int, slot=int, count=Py_ssize_t, key=uint64_t,
                   rows=list, games="long long", points="long long")
    cdef Py_ssize_t _write_entries(self, file) except -1
