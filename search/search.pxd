cimport cython

from search.alphabeta cimport search
from search.score cimport DRAW, INFINITE, LONGEST_MATE, MATE, MAX_PLY
from search.parameters cimport Parameters
from search.searcher cimport Searcher
from search.stop cimport Stop
from search.table cimport Table
from x88.attack cimport in_check
from x88.board cimport Board
from x88.move cimport NO_MOVE


cdef class Search:
    cdef Stop _stop
    cdef readonly Table table
    cdef Searcher _searcher
    cdef object _released
    cdef object _thread
    cdef bint _running

    cdef _prepare(self, Board board, limits)
    cdef int _iterate(self, int depth, int guess)
    @cython.locals(searcher=Searcher)
    cdef int _search_root(self, int alpha, int beta, int depth)
    cdef _report(self, int depth, int score, pv, clock)
