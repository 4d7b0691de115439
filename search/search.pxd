cimport cython

from search.alphabeta cimport search
from search.score cimport DRAW, INFINITE, LONGEST_MATE, MATE, MAX_PLY
from search.parameters cimport Parameters
from search.searcher cimport Searcher
from search.stop cimport Stop
from search.table cimport TranspositionTable, move_of, short_move
from x88.attack cimport in_check
from x88.board cimport Board
from x88.move cimport NO_MOVE


cdef class Search:
    cdef Stop _stop
    cdef readonly TranspositionTable table
    cdef Searcher _searcher
    cdef object _released
    cdef object _thread
    cdef bint _running
    cdef object _lock
    cdef object _manager
    cdef bint _pondering
    cdef bint _is_infinite
    cdef bint _stop_on_ponderhit
    cdef bint _is_unlimited
    cdef bint _stop_requested
    cdef object _node_clock
    cdef long long _nodestime
    cdef long long _nodes_pondered
    cdef object _elo
    cdef object _seed
    cdef object _on_report
    cdef object _on_progress
    cdef object _on_statistics
    cdef object _clock
    cdef int _depth
    cdef object _failed_high

    cdef _request_stop(self)
    cdef _limit_grace(self, manager)
    cdef _set_seed(self)
    cdef _limit_time(self, manager, double elapsed)
    cdef double _elapsed(self)
    cdef _prepare(self, Board board, limits)
    @cython.locals(searcher=Searcher)
    cdef _begin(self, limits)
    cdef _end(self)
    @cython.locals(searcher=Searcher)
    cdef list _deepen(self, limits, manager, list moves, bint is_restricted)
    cdef int _iterate(self, int depth, int guess, int number)
    @cython.locals(searcher=Searcher)
    cdef int _search_root(self, int alpha, int beta, int depth)
    @cython.locals(board=Board)
    cdef int _reply(self, int move)
