cimport cython

from search.order cimport pick, score_captures, score_moves
from search.score cimport DRAW, MATE, MAX_PLY
from search.searcher cimport Searcher
from x88.attack cimport last_move_checks
from x88.movegen cimport generate_captures

@cython.locals(score=int, in_check=bint, best=int, end=int, i=int, move=int)
cdef int quiesce(Searcher searcher, int alpha, int beta, int ply, int sp) noexcept nogil
