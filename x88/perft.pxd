cimport cython

from x88.attack cimport find_checks_and_pins, is_attacked, is_near_attacked
from x88.board cimport WHITE_LONG, WHITE_SHORT, Board
from x88.movegen cimport MoveStack, generate, own_stack
from x88.piece cimport (
    ANY_PIECE, BISHOP, BORDER, EMPTY, KING, KNIGHT, PAWN, ROOK, SLIDER, WHITE, WHITE_PIECE,
)
from x88.square cimport RANK

cdef int[50] MOFF

@cython.locals(end=int, total="long long", i=int)
cpdef long long play_leaves(Board board, MoveStack stack, int sp, int depth) noexcept nogil
@cython.locals(end=int, total="long long", i=int)
cpdef long long perft(Board board, MoveStack stack, int sp, int depth) noexcept nogil
@cython.locals(side=int, own=int, enemy=int, blocked=int, total=int, i=int, origin=int, code=int, forward=int, start=int,
               last=int, pinned=bint, target=int, moves=int)
cpdef int count_moves(Board board, MoveStack stack, int sp) noexcept nogil
@cython.locals(step=int, straight=bint, target=int, start=int)
cdef int _count_pinned(Board board, int origin, int code, int enemy, int forward) noexcept nogil
@cython.locals(total=int, pawn=int, origin=int)
cdef int _count_en_passant(Board board, int forward) noexcept nogil
@cython.locals(total=int, i=int)
cdef int _count_steps(Board board, int origin, int row, int blocked) noexcept nogil
@cython.locals(total=int, target=int)
cdef int _count_line(Board board, int origin, int step, int enemy) noexcept nogil
@cython.locals(side=int, origin=int, king=int, blocked=int, total=int, jx=int, target=int, rights=int)
cdef int _count_king(Board board) noexcept nogil
@cython.locals(stack=MoveStack, total="long long")
cpdef long long leaves_under(Board board, int move, int depth, bint playing=*)
