cimport cython

from x88.board cimport Board
from x88.piece cimport ANY_PIECE, BISHOP, KIND, KNIGHT, PAWN, QUEEN, ROOK, WHITE, WHITE_PIECE
from x88.square cimport FILE, NO_SQUARE

cpdef enum:
    FULL_SCALE = 64           # no scaling
    DRAWN_SCALE = 10          # up to this factor, the material is drawn in every phase
    # Where the lists of parameters start in NUMBERS.
    BARE_KING_EDGE = 0        # [ring of the bare king, 0 on the edge]
    BARE_KING_CORNER = 4      # [king moves to the nearest corner of the bishop's colour]
    BARE_KING_DISTANCE = 12   # [king moves between the kings]

cdef int[20] NUMBERS

@cython.locals(own=int, other=int, pawns=int, mine=int, theirs=int)
cpdef int scale(Board board, int strong) noexcept nogil
@cython.locals(own=int, corner=int, i=int, sq=int, file=int)
cdef bint _is_wrong_rook_pawn(Board board, int strong) noexcept nogil
cdef int _piece_material(Board board, int colour) noexcept nogil
@cython.locals(i=int, sq=int)
cdef int _bishop_colour(Board board, int side) noexcept nogil
@cython.locals(own=int, lone=int, rank=int, file=int, total=int, corner=int)
cpdef int mop_up(Board board, int strong) noexcept nogil
cdef int _distance(int a, int b) noexcept nogil
