from libc.stdint cimport int8_t, uint8_t, uint16_t, uint64_t

cimport cython

from x88.board cimport Board
from x88.move cimport CASTLING, EN_PASSANT, NO_MOVE, PROMOTED, captured_of, moved_of, origin_of, promoted_of, rook_origin, rook_target, target_of
from x88.piece cimport (
    BISHOP, BLACK, EMPTY, KIND, KING, KNIGHT, PAWN, QUEEN, ROOK, SLIDER, WHITE, WHITE_PIECE,
)
from x88.sets cimport bit, diagonal, lowest, pawn_attacks, straight
from x88.square cimport DIAGONAL, DIFFERENCE, NEXT_TO, RANK, REACH_ROW, index64

cdef uint16_t[512] REACH
cdef int8_t[256] DIRECTION
cdef int[50] MOFF
cdef int[48] VALUE
cdef uint64_t[384] ATTACKS

@cython.locals(colour=int, back=int, row=int)
cdef bint is_attacked(Board board, int target, int side) noexcept nogil
@cython.locals(row=int, step=int, sq=uint8_t, code=int)
cdef bint _line_attacked(Board board, int target, int colour, int kind) noexcept nogil
cpdef bint in_check(Board board) noexcept nogil
@cython.locals(move=int, king=int, origin=int, target=int, code=int, row=int, step=int, sq=int)
cpdef bint last_move_checks(Board board) noexcept nogil
@cython.locals(side=int, king=int, row=int, origin=int, target=int, kind=int, step=int, sq=int, code=int)
cdef bint gives_check(Board board, int move) noexcept nogil
@cython.locals(side=int, own=int, origin=int, target=int, rook=int, rook_to=int, found=bint)
cdef bint _castling_checks(Board board, int move) noexcept nogil
@cython.locals(side=int, enemy=int, king=int, number=int, checkers=uint64_t, pinned=uint64_t, queens=uint64_t, aligned=uint64_t,
               sq=int, step=int, first=int, second=int)
cdef void find_checks_and_pins(Board board) noexcept nogil
cdef int pin_of(Board board, int sq) noexcept nogil
@cython.locals(own=int, occupied=uint64_t, found=uint64_t, pieces=uint64_t)
cdef uint64_t attacked_squares(Board board, int side) noexcept nogil
@cython.locals(found=uint64_t, i=int, sq=int)
cpdef list attackers(Board board, target, side)
cpdef list checkers(Board board)
@cython.locals(least=int, most=int, middle=int)
cpdef int see(Board board, move) except? -1
@cython.locals(balance=int, at_risk=int, target=int, promotion_gain=int, side=int, occupied=uint64_t, taker=uint64_t, kind=int)
cdef bint see_at_least(Board board, int move, int threshold) noexcept nogil
@cython.locals(number=int, own=int, found=uint64_t, queens=uint64_t, across=uint64_t, along=uint64_t)
cdef uint64_t _least_attacker(Board board, int target, int side, uint64_t occupied) noexcept nogil
@cython.locals(first=int, sq=int)
cdef uint64_t _first_listed(Board board, uint64_t pieces) noexcept nogil
