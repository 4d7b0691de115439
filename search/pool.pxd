cimport cython

from search.deepening cimport help_along
from search.parameters cimport Parameters
from search.probing cimport Probing
from search.score cimport LONGEST_MATE
from search.searcher cimport Searcher
from search.stop cimport Stop
from search.table cimport TranspositionTable
from x88.atomic cimport plain
from x88.board cimport Board


cdef class Helper:
    cdef readonly Searcher searcher
    cdef int number
    cdef bint _is_surplus
    cdef bint _has_finished
    cdef object _work
    cdef object _idle
    cdef object _thread
    cdef object _task

    @cython.locals(searcher=Searcher, number=int, has_finished=bint)
    cdef _search(self, Board board, list moves, int share, int last)


cdef class Pool:
    cdef object __weakref__
    cdef readonly Stop stop
    cdef readonly TranspositionTable table
    cdef readonly Probing probing
    cdef readonly Searcher first
    cdef readonly list helpers
    cdef readonly int size
    cdef object _parameters
    cdef object _launcher
    cdef readonly object weights

    cdef Helper _new_helper(self)

    cpdef long long nodes(self)
    cpdef long long published_nodes(self)
    @cython.locals(total=cython.longlong, helper=Helper, other=Searcher)
    cdef long long _nodes_of_helpers(self)
    @cython.locals(total=cython.longlong, helper=Helper, other=Searcher)
    cpdef long long tb_hits(self)
    @cython.locals(deepest=int, helper=Helper, other=Searcher)
    cpdef int seldepth(self)
