from libc.stdint cimport uint64_t

cimport cython

from search.aspiration cimport iterate
from search.score cimport DRAW, LONGEST_MATE, MAX_PLY
from search.searcher cimport Searcher
from search.stop cimport Stop
from search.transposition cimport TranspositionTable
from x88.atomic cimport plain
from x88.attack cimport see_at_least
from x88.board cimport Board
from x88.move cimport CAPTURED, CASTLING, PROMOTED, promoted_of
from x88.movegen cimport MoveStack
from x88.piece cimport BLACK

cpdef enum:
    MOST = 20              # times the nodes asked for
    LEAST = 2              # plies
    OPENING = 8            # random plies, or one more
    UNDECIDED = 400        # the largest score, in centipawns of the search, after an opening
    TRIES = 100            # openings
    RESIGNED = 1330
    PLAYED_OUT = 2660      # in one game of ten
    RESIGNED_PLIES = 4
    LEVEL = 7
    LEVEL_PLIES = 12
    LEVEL_FROM = 70        # moves
    LONGEST = 400          # plies
    LOST = 0               # White's points doubled
    DRAWN = 1
    WON = 2

cdef uint64_t GOLDEN
cdef uint64_t FIRST_FACTOR
cdef uint64_t SECOND_FACTOR
cdef uint64_t ALL_BITS


@cython.final
cdef class Selfplay:
    cdef Stop _stop
    cdef Searcher _searcher
    cdef long long _nodes   # least per move
    cdef uint64_t _chance
    cdef int[512] _moves    # ranks
    cdef int[512] _scores   # from White's point of view
    cdef bint _is_over
    cdef int _best
    cdef bint _checked
    cdef int _opening       # plies
    cdef int _result
    cdef int _resigned      # the score
    cdef int _usable

    @cython.locals(score=int, plies=int, lead=int, level=int, _=int)
    cdef int _play(self, Searcher searcher, Board board) noexcept nogil
    @cython.locals(wanted=int, count=int, i=int, move=int)
    cdef int _open(self, Searcher searcher, Board board, MoveStack stack) noexcept nogil
    cdef void _begin(self) noexcept nogil
    @cython.locals(score=int, depth=int, found=int)
    cdef int _think(self, Searcher searcher) noexcept nogil
    cdef int _below(self, uint64_t limit) noexcept nogil


@cython.locals(mixed=uint64_t)
cdef uint64_t random_number(uint64_t last) noexcept nogil
cdef bint is_draw(Board board) noexcept nogil
cdef bint is_usable(Board board, bint checked, int move, int score) noexcept nogil
cdef inline int order(int move) noexcept nogil:
    return (move & 0x3FFF) << 5 | promoted_of(move) << 1 | (move & CASTLING != 0)
@cython.locals(found=int, place=int, i=int)
cdef int rank(Searcher searcher, int move) noexcept nogil
