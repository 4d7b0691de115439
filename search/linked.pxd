cimport cython

from search.movepick cimport pick, score_captures, score_moves
from search.score cimport DRAW, MATE, MAX_PLY
from search.searcher cimport Searcher
from x88.attack cimport last_move_checks
from x88 cimport movegen
from x88.movegen cimport generate
from x88.rays cimport Rays, captures_from_front, generate_captures

cpdef enum:
    MOFF_LOOP = 0
    LINKED = 1
    FROM_FRONT = 2   # linked rays, most valuable victim first

@cython.locals(score=int, in_check=bint, best=int, end=int, i=int, move=int)
cdef int quiesce(Searcher searcher, Rays rays, int alpha, int beta, int ply, int sp, int generator) noexcept nogil
@cython.locals(score=int, total="long long", end=int, i=int, move=int)
cdef long long sum_leaves(
    Searcher searcher, Rays rays, int alpha, int beta, int depth, int ply, int sp, int generator
) noexcept nogil
@cython.locals(static=int)
cpdef long long run(Searcher searcher, Rays rays, int depth, int generator)
