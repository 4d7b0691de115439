cimport cython

from search.history cimport History
from search.searcher cimport Searcher
from search.transposition cimport short_move
from x88.attack cimport see_at_least
from x88.board cimport Board
from x88.move cimport CAPTURED, NO_MOVE, PROMOTED, captured_of, moved_of, origin_of, promoted_of, target_of
from x88.movegen cimport MoveStack, generate, generate_captures, plain_move
from x88.piece cimport QUEEN

cpdef enum:
    TT_MOVE = 1000000
    GOOD_CAPTURE = 500000
    KILLER = 400000
    BAD_CAPTURE = -500000
    SELECTION_COST = 4  # selecting one move costs as much as inserting this many

cdef int[48] VALUE

@cython.locals(first=int, second=int, tt_squares=int, front=int, i=int, move=int, score=int)
cdef int score_moves(
    MoveStack stack, History history, int sp, int end, int side, int ply, int tt_move, int weight
) noexcept nogil
@cython.locals(i=int, move=int)
cdef void score_captures(
    MoveStack stack, History history, int sp, int end, int side, int tt_move, int weight
) noexcept nogil
@cython.locals(best=int, i=int, j=int, move=int, score=int)
cdef void sort_quiets(
    MoveStack stack, History history, int start, int end, int side, int ply, int wanted
) noexcept nogil
cdef int _capture_score(History history, int side, int move, int weight) noexcept nogil
@cython.locals(best=int, i=int, move=int, score=int)
cdef int pick(Board board, MoveStack stack, int start, int end) noexcept nogil
cdef bint _is_good_capture(Board board, int move) noexcept nogil
@cython.locals(move=int)
cdef int push_tt_move(Searcher searcher, int sp, int tt_move, bint captures) noexcept nogil
@cython.locals(end=int)
cdef int generate_scored(Searcher searcher, int sp, int ply, int tt_move, bint captures) noexcept nogil
