from libc.stdint cimport uint64_t

cimport cython

from search.transposition cimport short_move
from x88.atomic cimport atomic_count
from x88.move cimport NO_MOVE

cpdef enum:
    SLOTS = 16384       # several times the pairs of moves in the positions of games
    PROBES = 64         # slots probed for a pair


@cython.final
cdef class NodeCounts:
    cdef atomic_count root
    cdef atomic_count[16384] pairs     # short_move(move) << 16 | short_move(reply), 0 where there is none
    cdef atomic_count[16384] counts

    @cython.locals(i=int)
    cdef void begin(self, uint64_t root) noexcept nogil
    @cython.locals(slot=int)
    cdef void add(self, int move, int reply, long long nodes) noexcept nogil
    @cython.locals(pair=uint64_t, slot=int, _i=int)
    cpdef long long nodes(self, int move, int reply=*) noexcept nogil
    cpdef bint is_of(self, uint64_t root) noexcept nogil
    @cython.locals(slot=int, _i=int)
    cdef int _find(self, uint64_t pair) noexcept nogil
    cdef int _slot(self, uint64_t pair) noexcept nogil
