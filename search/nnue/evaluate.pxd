cimport cython

from search.nnue.accumulators cimport Accumulators
from search.nnue.endgame cimport is_drawn_unchecked, mop_up_unchecked
from search.nnue.layer cimport Layer
from x88.board cimport Board
from x88.piece cimport BISHOP, BLACK, KNIGHT, QUEEN, ROOK, WHITE, WHITE_PIECE
from x88.sets cimport count

cpdef enum:
    MAX_EVALUATION = 19000        # the limit of every value, below all tablebase wins and mates
    MATERIAL_STEP = 4      # 1024ths of the network's value per point of material
    FULL_MATERIAL = 64     # points of material at which the value is the network's


@cython.final
cdef class Evaluation:
    cdef public int blur                  # maximum noise in centipawns
    cdef public int seed
    cdef readonly Accumulators accumulators

    cpdef void reset(self, Board board) noexcept nogil
    cdef void make(self, Board board, int move) noexcept nogil
    cdef void unmake(self) noexcept nogil
    @cython.locals(score=int, chance=int)
    cpdef int value(self, Board board) noexcept nogil
    @cython.locals(side=int, score=int)
    cdef int _compute(self, Board board) noexcept nogil


@cython.locals(points=int, side=int, colour=int)
cpdef int material_points(Board board) noexcept nogil
