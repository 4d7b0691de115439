from libc.stdint cimport int8_t, uint16_t, uint64_t

cimport cython

from x88.attack cimport find_checks_and_pins, is_attacked, pin_of
from x88.board cimport Board
from x88.move cimport CAPTURED, CAPTURED_SHIFT, EN_PASSANT, MOVED_SHIFT, NO_MOVE, PROMOTED_SHIFT, SQUARE, TARGET_SHIFT, origin_of, rook_origin, target_of
from x88.piece cimport (
    ANY_PIECE, BISHOP, BLACK, EMPTY, KIND, KING, KNIGHT, PAWN, QUEEN, ROOK, SLIDER, WHITE, WHITE_PIECE,
)
from x88.sets cimport bit, lowest
from x88.square cimport DIFFERENCE, NEXT_TO, NO_SQUARE, OFF_BOARD, RANK, REACH_ROW, index64

cpdef enum:
    MAX_MOVES = 448     # upper limit for positions with at most 16 pieces a side
    RECAPTURE = 6000
    CAPTURE = 2000
    CASTLE = 500
    SCALE = 1           # score per centipawn of piece value

cdef int[50] MOFF
cdef int[48] VALUE
cdef uint16_t[512] REACH
cdef int8_t[256] DIRECTION
cdef uint64_t[384] ATTACKS


@cython.final
cdef class MoveStack:
    cdef int[111000] moves
    cdef int[111000] scores


cdef int generate(Board board, MoveStack stack, int sp) noexcept nogil
cdef int generate_captures(Board board, MoveStack stack, int sp) noexcept nogil
@cython.locals(side=int, own=int, code=int, victim=int, kind=int, reach=int, move=int, king=int, attacked=bint, forward=int,
               step=int, sq=int)
cpdef int plain_move(Board board, int origin, int target) noexcept nogil
@cython.locals(move=int)
cdef int last_capture(Board board) noexcept nogil
cdef int _capture_score(int victim, int attacker, bint recapture) noexcept nogil
@cython.locals(kind=int, victim=int)
cdef int add_capture(Board board, MoveStack stack, int sp, int origin, int target, int recapture) noexcept nogil
@cython.locals(victim=int, move=int, score=int)
cdef int add_pawn_move(Board board, MoveStack stack, int sp, int origin, int target, int recapture) noexcept nogil
cdef int add_double_push(MoveStack stack, int sp, int origin, int target) noexcept nogil
cdef int add_en_passant(Board board, MoveStack stack, int sp, int origin) noexcept nogil
@cython.locals(side=int, origin=int, own=int, others=uint64_t, jx=int, target=int, victim=int)
cdef int king_moves(Board board, MoveStack stack, int sp, int recapture, bint quiets) noexcept nogil
cdef inline bint may_castle(Board board) noexcept nogil:
    cdef int row = board.side << 4
    if board.castling == 0:
        return False
    return board.squares[board.paths[row]] & board.squares[board.paths[row | 8]] & ANY_PIECE == 0
@cython.locals(number=int)
cdef int castling_moves(Board board, MoveStack stack, int sp) noexcept nogil
@cython.locals(i=int, move=int, sq=int, target=int, step=int)
cdef bint is_castling_legal(Board board, int number) noexcept nogil
@cython.locals(side=int, own=int, enemy=int, recapture=int, forward=int, start=int, last=int, i=int, origin=int, kind=int,
               pin=int, move=int, jx=int, step=int, target=int, code=int, left=int, right=int)
cdef int _moves(Board board, MoveStack stack, int sp, bint quiets) noexcept nogil
@cython.locals(side=int, recapture=int, king=int, checker=int, row=int, forward=int, start=int, step=int, i=int, origin=int,
               kind=int, target=int, sq=int, line=int)
cdef int evasions(Board board, MoveStack stack, int sp) noexcept nogil
@cython.locals(stack=MoveStack, i=int, end=int)
cpdef bint is_legal(Board board, int move) except -1
@cython.locals(pawns=uint64_t, ahead=uint64_t)
cdef bint has_legal_move(Board board) except -1
@cython.locals(stack=MoveStack, i=int, end=int)
cpdef list scored_moves(Board board, bint captures=*)
cpdef list legal_moves(Board board)
@cython.locals(stack=MoveStack)
cdef MoveStack own_stack()
