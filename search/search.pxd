cimport cython

from search.alphabeta cimport search
from search.deepening cimport iterate
from search.nodecounts cimport NodeCounts
from search.parameters cimport Parameters
from search.pool cimport Pool
from search.probing cimport MOST_DEPTH, Probing
from search.score cimport DRAW, INFINITE, MATE, MAX_PLY
from search.searcher cimport Searcher
from search.table cimport TranspositionTable, move_of, short_move
from search.tablebase cimport Tablebase
from search.tablepart cimport MOST_PIECES
from x88.atomic cimport plain
from x88.attack cimport in_check
from x88.board cimport Board
from x88.move cimport NO_MOVE


cdef class Search:
    cdef Pool _pool
    cdef readonly TranspositionTable table
    cdef Searcher _searcher
    cdef object _job
    cdef object _thread
    cdef object _node_clock
    cdef object _lag
    cdef object _elo
    cdef object _seed
    cdef object _on_report
    cdef object _on_progress
    cdef object _on_statistics
    cdef object _ranking
    cdef int _depth
    cdef int _line
    cdef list _expected
    cdef list _reported
    cdef double _reported_at
    cdef double _repeat_delay

    cdef _set_seed(self)
    cdef _prepare(self, Board board, limits, clock)
    @cython.locals(searcher=Searcher)
    cdef _think(self, job)
    @cython.locals(searcher=Searcher, probing=Probing)
    cdef _ask_tablebases(self, job)
    cdef list _best(self, list moves)
    @cython.locals(searcher=Searcher)
    cdef list _deepen(self, job, list moves, bint is_restricted)
    @cython.locals(searcher=Searcher)
    cdef int _iterate(self, int depth, int guess)
    @cython.locals(searcher=Searcher, least=int, score=int)
    cdef bint _finds_mate(self, int moves, list lines, int depth) except -1
    @cython.locals(board=Board)
    cdef int _reply(self, int move)
