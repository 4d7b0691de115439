from libc.stdint cimport uint64_t

cimport cython

from search.order cimport pick, score_captures, score_moves
from search.score cimport DRAW, MATE, MAX_PLY, NO_SCORE, from_table, to_table
from search.searcher cimport Searcher
from search.table cimport EXACT, LOWER, UPPER, bound_of, move_of, score_of, short_move, static_of
from x88.attack cimport last_move_checks
from x88.movegen cimport generate_captures

@cython.locals(table_move=int, static=int, data=uint64_t, score=int, bound=int, in_check=bint, best=int,
               old_alpha=int, end=int, best_move=int, i=int, move=int)
cdef int quiesce(Searcher searcher, int alpha, int beta, int ply, int sp) noexcept nogil
