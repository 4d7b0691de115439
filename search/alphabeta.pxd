from libc.stdint cimport uint64_t

cimport cython

from search.order cimport KILLER, order_rest, pick, score_moves
from search.quiescence cimport quiesce
from search.score cimport DRAW, INFINITE, LONGEST_MATE, MATE, MAX_PLY, NO_SCORE, from_table, to_table
from search.searcher cimport Searcher
from search.table cimport EXACT, LOWER, UPPER, bound_of, depth_of, move_of, score_of, short_move, static_of
from x88.attack cimport gives_check, last_move_checks
from x88.board cimport Board
from x88.move cimport CAPTURED, PROMOTED, SQUARE
from x88.movegen cimport generate
from x88.piece cimport PAWN, WHITE_PIECE

cdef int[4096] REDUCTION
cdef int REVERSE_FUTILITY_DEPTH   # plies
cdef int REVERSE_FUTILITY         # centipawns for each ply of depth
cdef int LATE_MOVE_DEPTH
cdef int LATE_MOVES               # quiet moves beyond so many + depth * depth are late
cdef int FUTILITY_DEPTH
cdef int FUTILITY                 # centipawns,
cdef int FUTILITY_STEP            # and for each ply of depth

@cython.locals(pv_node=bint, in_check=bint, table_move=int, static=int, data=uint64_t, score=int, bound=int,
               end=int, best=int, best_move=int, ordered=bint, old_alpha=int, i=int, move=int, number=int, quiet=bint, reduction=int)
cdef int search(Searcher searcher, int alpha, int beta, int depth, int ply, int sp, bint null_allowed) noexcept nogil
@cython.locals(own=int)
cdef bint has_pieces(Board board) noexcept nogil
@cython.locals(bonus=int, best=int, i=int, move=int)
cdef void reward(Searcher searcher, int sp, int last, int ply, int depth) noexcept nogil
