from libc.stdint cimport uint64_t

cimport cython

from search.movepick cimport CAPTURES, EVASIONS, next_move
from search.score cimport CERTAIN_WIN, DRAW, MATE, MAX_PLY, NO_SCORE, from_table, to_table
from search.searcher cimport Searcher
from search.transposition cimport EXACT, LOWER, UPPER, bound_of, move_of, score_of, short_move, static_of, was_pv
from x88.attack cimport last_move_checks, see_at_least
from x88.move cimport CAPTURED, PROMOTED, captured_of

cpdef enum:
    LIMIT_STEP = 2     # fewer moves are searched with every ply past the horizon, but at least one

cdef int[48] VALUE

@cython.locals(score=int, in_check=bint, best=int, slot=int, i=int, move=int, tt_move=int, raw_eval=int, data=uint64_t,
               bound=int, futility_base=int, old_alpha=int, best_move=int, futility_value=int, tried=int, quiets=int, tt_pv=bint, move_limit=int)
cdef int quiesce(Searcher searcher, int alpha, int beta, int ply, int sp, int depth) noexcept nogil
