from libc.stdint cimport int8_t, uint8_t, uint16_t, uint64_t

cimport cython

from x88.board cimport Board
from x88.move cimport CASTLING, EN_PASSANT, NO_MOVE, PROMOTED, captured_of, moved_of, origin_of, promoted_of, rook_origin, rook_target, target_of
from x88.piece cimport (
    BISHOP, EMPTY, KIND, KING, KNIGHT, PAWN, QUEEN, ROOK, SLIDER, WHITE, WHITE_PIECE,
)
from x88.square cimport DIFFERENCE, NEAR, NEXT_TO, NO_SQUARE, RANK, REACH_ROW

cdef uint16_t[512] REACH
cdef int8_t[256] DIRECTION
cdef int[50] MOFF
cdef int[48] VALUE
cdef uint64_t[256] BIT
cdef uint64_t[512] LEAPS

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
@cython.locals(i=int, pin_count=int, near_count=int, checkers=int, side=int, enemy=int, own=int, king=int, row=int, sq=int,
               kind=int, reach=int, step=int, first=int, second=int)
cdef void find_checks_and_pins(Board board) noexcept nogil
@cython.locals(row=int, i=int, sq=int, kind=int, reach=int, step=int, first=int)
cdef bint is_near_attacked(Board board, int target) noexcept nogil
@cython.locals(found=uint64_t, i=int, origin=int, kind=int, row=int, step=int, sq=int)
cdef uint64_t attacked_squares(Board board, int side) noexcept nogil
@cython.locals(i=int, sq=int)
cpdef list attackers(Board board, target, side)
cpdef list checkers(Board board)
@cython.locals(code=int, kind=int, reach=int, step=int, sq=int)
cdef bint _attacks(Board board, int origin, int target) noexcept nogil
@cython.locals(back=int, least=int, row=int, i=int, sq=int, kind=int, step=int, first=int)
cdef int _least_attacker(Board board, int target, int side) noexcept nogil
cpdef int see(Board board, move) except? -1
@cython.locals(target=int, side=int, at_risk=int, depth=int, sq=int, code=int, i=int)
cdef int _see(Board board, int move) noexcept nogil
@cython.locals(balance=int, target=int, side=int, at_risk=int, last_rank=bint, promotion_gain=int, depth=int, sq=int, code=int, i=int)
cdef bint see_at_least(Board board, int move, int threshold) noexcept nogil
@cython.locals(gain=int)
cdef int _first_gain(Board board, int move) noexcept nogil
cdef void _lift(Board board, int move) noexcept nogil
@cython.locals(victim=int)
cdef void _end_exchange(Board board, int move) noexcept nogil
