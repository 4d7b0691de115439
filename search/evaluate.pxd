cimport cython

from x88.board cimport Board
from x88.move cimport CAPTURED, CAPTURED_SHIFT, CASTLING, EN_PASSANT, PROMOTED, PROMOTED_SHIFT, SQUARE, TARGET_SHIFT
from x88.piece cimport (
    ANY_PIECE, BISHOP, BLACK, KIND, KING, KNIGHT, PAWN, QUEEN, ROOK, WHITE, WHITE_PIECE,
)
from x88.square cimport FILE

cpdef enum:
    TEMPO = 12        # for the right to move
    FULL_PHASE = 24   # all pieces on the board

cdef int[6144] PIECE_SQUARE
cdef int[48] PHASE


@cython.final
cdef class Evaluation:
    cdef int[136] sums     # by ply: middlegame + endgame * 65536, White's less Black's
    cdef int[136] phases   # by ply
    cdef int ply

    @cython.locals(i=int, sq=int, code=int)
    cpdef void reset(self, Board board) noexcept nogil
    @cython.locals(ply=int, colour=int, origin=int, target=int, code=int, total=int, phase=int, victim=int, square=int,
                   rook=int)
    cpdef void make(self, int move, int side) noexcept nogil
    cpdef void make_null(self) noexcept nogil
    cpdef void unmake(self) noexcept nogil
    cpdef int phase(self) noexcept nogil
    @cython.locals(both=int, middlegame=int, endgame=int, phase=int, score=int)
    cpdef int value(self, int side) noexcept nogil
