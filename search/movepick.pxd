from libc.stdint cimport uint64_t

cimport cython

from search.history cimport History
from search.oversight cimport Oversight
from search.parameters cimport Parameters
from search.transposition cimport short_move
from x88.attack cimport attacked_squares, see_at_least
from x88.board cimport Board
from x88.move cimport CAPTURED, NO_MOVE, PROMOTED, captured_of, moved_of, origin_of, promoted_of, target_of
from x88.movegen cimport MoveStack, generate, generate_captures, plain_move
from x88.piece cimport QUEEN

cpdef enum:
    MAIN = 0            # all moves, for the main search
    CAPTURES = 1        # good captures and queen promotions, for quiescence and ProbCut
    EVASIONS = 2        # all moves, for quiescence in check

    TT_MOVE = 1000000
    GOOD_CAPTURE = 500000
    KILLER = 400000
    BAD_CAPTURE = -500000
    SELECTION_COST = 4  # selecting one move costs as much as inserting this many

cdef int[48] VALUE


@cython.final
cdef class MovePicker:
    cdef MoveStack stack
    cdef History history
    cdef Parameters parameters
    cdef Oversight oversight
    cdef int[496] kinds        # [slot]
    cdef bint[496] generated   # [slot] -> whether the list has more than the TT move
    cdef int[496] ends         # [slot] -> the index after the last move
    cdef int[496] ready        # [slot] -> the index after the last move in order
    cdef int[496] quiets       # [slot] -> the index of the first move without a score
    cdef uint64_t[248] attacked_keys    # [ply] -> the position whose attacked squares the history knows

    @cython.locals(move=int)
    cdef void begin(self, Board board, int slot, int sp, int tt_move, int kind, bint tt_first) noexcept nogil
    @cython.locals(end=int, noticed=int, weight=int, quiets=int)
    cdef void _generate(self, Board board, int slot, int sp, int tt_move) noexcept nogil
    @cython.locals(j=int, best=int, kind=int, move=int, score=int, end=int)
    cdef int advance(self, Board board, int slot, int i, int wanted) noexcept nogil
    cdef void _see_attacks(self, Board board, int ply) noexcept nogil


cdef inline int next_move(MovePicker picker, Board board, int slot, int i, int wanted) noexcept nogil:
    return i if i < picker.ready[slot] else picker.advance(board, slot, i, wanted)
@cython.locals(first=int, second=int, tt_squares=int, front=int, i=int, j=int, place=int, move=int, score=int)
cdef int score_moves(
    MoveStack stack, History history, int sp, int end, int side, int ply, int tt_move, int weight
) noexcept nogil
@cython.locals(best=int, i=int, j=int, move=int, score=int)
cdef void sort_quiets(
    MoveStack stack, History history, int start, int end, int side, int ply, int wanted
) noexcept nogil
cdef int _capture_score(History history, int side, int move, int weight) noexcept nogil
cdef bint _is_good_capture(Board board, int move) noexcept nogil
