from libc.stdint cimport uint64_t

cimport cython

from x88.board cimport Board
from x88.move cimport NO_MOVE, book_move
from x88.notation.pgn cimport Reader

cdef uint64_t HEAVIEST
cdef int LONGEST_LINE
cdef int RECORD


cdef class OpeningReader(Reader):
    cdef uint64_t[32768] keys
    cdef int[32768] moves
    cdef int plies
    cdef int length
    cdef int side      # to move before the first of them


@cython.final
cdef class Maker:
    cdef _wanted
    cdef bint _only_wins
    cdef uint64_t _min_games
    cdef double _min_score
    cdef Py_ssize_t _most
    cdef Py_ssize_t _held           # moves in the table
    cdef int _shift                 # the table has the keys with equal bits of this number, the highest
    cdef list _runs
    cdef int _filled
    cdef readonly Py_ssize_t games
    cdef uint64_t[1048576] _table   # 4 words a slot: key, move, games (0: empty), points
    cdef unsigned char[65536] _output

    @cython.locals(i=int, points=int)
    cdef void _add_line(self, OpeningReader opening, int white, int black)
    @cython.locals(slot=int)
    cdef void _add(self, uint64_t key, uint64_t move, uint64_t games, uint64_t points) noexcept nogil
    @cython.locals(table="uint64_t*", end=int, slot=int, key=uint64_t, move=uint64_t, games=uint64_t, points=uint64_t, to=int,
                   i=int)
    cdef int _sort(self) noexcept nogil
    @cython.locals(slot=int)
    cdef _spill(self)
    @cython.locals(records=bytes, end=Py_ssize_t)
    cdef _add_part(self, run, int part)
    @cython.locals(i=Py_ssize_t, games=uint64_t, points=uint64_t)
    cdef Py_ssize_t _add_records(self, const unsigned char* records, Py_ssize_t size, uint64_t part) noexcept nogil
    @cython.locals(table="uint64_t*", end=int, count=Py_ssize_t, first=int, after=int, slot=int, key=uint64_t, most=uint64_t,
                   games=uint64_t, points=uint64_t, divisor=uint64_t)
    cdef Py_ssize_t _write_entries(self, file) except -1
    @cython.locals(i=int)
    cdef int _put(self, file, uint64_t number, int size) except -1
    cdef _flush(self, file)


@cython.locals(number=uint64_t, i=Py_ssize_t)
cdef uint64_t _number(const unsigned char* text, Py_ssize_t start, int size) noexcept nogil
