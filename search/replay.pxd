from libc.math cimport exp
from libc.stdint cimport uint8_t, uint16_t, uint64_t

cimport cython

from search.score cimport LONGEST_MATE
from search.selfplay cimport DRAWN, LONGEST, LOST, WON, is_draw, is_usable, order, random_number
from search.transposition cimport fetch
from x88.board cimport Board
from x88.move cimport CAPTURED, PROMOTED, TARGET_SHIFT
from x88.movegen cimport MoveStack, generate
from x88.piece cimport BLACK, BLACK_PIECE, KIND, WHITE
from x88.pointer cimport memory_of
from x88.sets cimport lowest
from x88.square cimport index64

cpdef enum:
    FIELDS = 16         # numbers of a position
    PIECES = 4
    KINGS = 12
    EXPECTED = 13
    SCORE = 14
    STATE = 15
    CHECKED = 4         # bits of STATE, above the points of the game
    TACTICAL = 8
    REPEATED = 16
    BLACK_MOVES = 32
    PLY_SHIFT = 6
    ESCAPE = 255        # before a score that is no small difference
    ROWS = 5            # numbers of a position beside its inputs

cdef inline int nearest(double number) noexcept nogil:
    return <int>(number + 0.5)

cdef int[16] PIECE_INDEX
cdef int[64] ZONE
cdef int[6] POINTS


@cython.final
cdef class Mixer:
    cdef readonly object fields
    cdef readonly long long count   # positions
    cdef long long _capacity
    cdef uint64_t _chance
    cdef double _scale
    cdef double _lookahead
    cdef int _least_ply
    cdef int _most_score
    cdef bint _takes_all
    cdef Board _standard
    cdef MoveStack _stack
    cdef uint8_t[32] _counts        # of the moves to a half of a rank
    cdef int[448] _keys             # order << 9 | index
    cdef int[512] _scores           # of a game
    cdef double[512] _expected
    cdef uint16_t* _into
    cdef const uint8_t* _from
    cdef long long _end             # of the payload
    cdef int* _own
    cdef int* _other
    cdef int* _rows

    @cython.locals(score=int, code=int, i=int, value=double, expected=double)
    cdef long long _read_scores(self, long long at, int count, int result) noexcept nogil
    cdef int _replay_one(self, Board board, long long at, int plies, int opening, int result)
    @cython.locals(fault=int, ply=int, count=int, move=int, expected=int)
    cdef int _replay(self, Board board, long long at, int plies, int opening, int result) noexcept nogil
    @cython.locals(i=int, j=int, half=int, found=int, before=int)
    cdef int _move(self, MoveStack stack, int count, int rank) noexcept nogil
    @cython.locals(score=int, expected=double, checked=bint, state=int, at=cython.longlong, i=int, occupied=uint64_t, code=int,
                   piece=int, count=int)
    cdef void _keep(self, Board board, int move, int ply, int opening, int result) noexcept nogil
    cdef int _write(self, long long first, int size, own, other, rows) except -1
    @cython.locals(end=int, row=int, place=cython.longlong, following=cython.longlong, i=int)
    cdef int _write_all(self, long long first, int size) noexcept nogil
    @cython.locals(place=cython.longlong)
    cdef long long _choose(self, long long count) noexcept nogil
    @cython.locals(at=cython.longlong, black=int, king=int, own_view=int, other_view=int, points=int, count=int, occupied=uint64_t,
                   i=int, square=int, piece=int, kind=int, enemy=int)
    cdef int _write_one(self, long long place, int row, int end) noexcept nogil
