cimport cython

from search.alphabeta cimport search
from search.aspiration cimport iterate
from search.score cimport DRAW, INFINITE, MATE, MAX_PLY
from search.searcher cimport Searcher
from search.transposition cimport move_of, short_move
from x88.attack cimport in_check
from x88.board cimport Board
from x88.move cimport NO_MOVE


@cython.locals(searcher=Searcher)
cpdef deepen(job)
@cython.locals(depth=int, number=int, score=int)
cdef list _iterations(job, Searcher searcher, list moves, bint is_restricted)
@cython.locals(least=int, score=int)
cdef bint _finds_mate(job, Searcher searcher, int moves, list lines, int depth) except -1
@cython.locals(board=Board)
cdef int _expected_reply(Searcher searcher, int move) except -1
cdef int _iterate(Searcher searcher, int depth, int guess)
