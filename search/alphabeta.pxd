from libc.stdint cimport uint64_t

cimport cython

from search.movepick cimport CAPTURES, KILLER, MAIN, TT_MOVE, next_move
from search.quiescence cimport quiesce
from search.score cimport CERTAIN_WIN, DRAW, INFINITE, LONGEST_MATE, MATE, MAX_PLY, NO_SCORE, from_table, to_table
from search.searcher cimport Searcher
from search.transposition cimport EXACT, LOWER, UPPER, bound_of, depth_of, move_of, score_of, short_move, static_of, was_pv
from x88.attack cimport gives_check, last_move_checks, see_at_least
from x88.board cimport Board
from x88.move cimport CAPTURED, EN_PASSANT, NO_MOVE, PROMOTED, captured_of, origin_of, target_of
from x88.movegen cimport MAX_MOVES
from x88.piece cimport BLACK, PAWN, WHITE, WHITE_PIECE
from x88.sets cimport count
from x88.square cimport index64

cpdef enum:
    TABLEBASE_DEPTH = 6     # plies by which a tablebase result is stored deeper than its node
    PROBCUT_REDUCTION = 4   # plies
    NULL_MOVE = -1          # stands among the excluded moves while a search verifies a null move

cdef int[48] VALUE

@cython.locals(
    pv_node=bint, in_check=bint, excluded=int, side=int, nominal_depth=int, tt_move=int, tt_score=int, tt_depth=int,
    tt_bound=int, raw_eval=int, floor=int, ceiling=int, data=uint64_t, static_eval=int, corrected=int, estimate=int, improving=bint, score=int, reduced_depth=int, futility_value=int, verification=int,
    singular_beta=int, end=int, i=int, move=int, best=int, best_move=int, old_alpha=int, number=int, lmp_limit=int,
    quiet=bint, checks=bint, reducible=bint, full_width=bint, pick_score=int, history=int, base_reduction=int, extension=int, new_depth=int, reduction=int,
    bound=int, bonus=int, tt_pv=bint, probcut_beta=int, in_order=int, slot=int, limit=int, correction=int, see_margin=int,
    is_known=bint, lost=int, margin=int,
)
cdef int search(Searcher searcher, int alpha, int beta, int depth, int ply, int sp, bint cut_node) noexcept nogil
@cython.locals(origin=int, target=int)
cdef bint may_lose(int move, uint64_t attacked) noexcept nogil
cdef int non_pawn_count(Board board) noexcept nogil
@cython.locals(bonus=int, malus=int, side=int, best=int, quiet=bint, i=int, move=int)
cdef void update_histories(Searcher searcher, int sp, int last, int ply, int depth) noexcept nogil
