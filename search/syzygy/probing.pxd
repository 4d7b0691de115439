cimport cython

from search.score cimport DRAW, NO_SCORE, TABLEBASE_WIN
from search.syzygy.tablebase cimport Tablebase, pieces_on
from search.syzygy.file cimport CURSED_WIN, LOSS, UNKNOWN, WIN
from x88.board cimport Board
from x88.movegen cimport MoveStack

cpdef enum:
    MOST_DEPTH = 100        # the largest probe depth that can be set


@cython.final
cdef class Probing:
    cdef public Tablebase tables
    cdef public int depth
    cdef public int limit           # pieces
    cdef public bint fifty_move_rule
    cdef public int most            # pieces

    cpdef int largest(self)
    @cython.locals(pieces=int)
    cdef bint can_probe(self, Board board, int depth) noexcept nogil
    @cython.locals(result=int)
    cdef int score(self, Board board, MoveStack stack, int sp, int ply) noexcept nogil
    cpdef int score_of(self, int result, int ply) noexcept nogil
