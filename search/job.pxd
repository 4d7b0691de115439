cimport cython

from search.pool cimport Pool
from search.score cimport MAX_PLY
from search.searcher cimport Searcher
from search.stop cimport Stop
from x88.atomic cimport plain



cdef class Job:
    cdef readonly object limits
    cdef readonly object clock
    cdef public bint is_done
    cdef object _manager
    cdef Pool _pool
    cdef Searcher _first
    cdef Stop _stop
    cdef object _lock
    cdef object _released
    cdef bint _is_running
    cdef bint _is_pondering
    cdef bint _is_stopped
    cdef bint _is_satisfied
    cdef long long _nodes_pondered

    cdef bint _ends(self)
    cdef _decide(self)
    cdef _start_clock(self, double elapsed, long long nodes)
    cdef double _elapsed(self, long long nodes)
