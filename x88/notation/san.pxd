cimport cython

from x88.attack cimport last_move_checks
from x88.board cimport Board
from x88.move cimport CAPTURED, CASTLING, MOVED_SHIFT, PROMOTED, PROMOTED_SHIFT, SQUARE, TARGET_SHIFT, moved_of, origin_of, promoted_of, target_of
from x88.movegen cimport MoveStack, generate, own_stack
from x88.piece cimport BISHOP, EMPTY, KIND, KING, KNIGHT, PAWN, QUEEN, ROOK
from x88.square cimport FILE, OFF_BOARD, RANK

cpdef enum:
    MASK_SHIFT = 32   # a pattern is a mask and, below it, the wanted fields of a move under the mask
    AMBIGUOUS = -1

cdef unsigned char[16] LETTER
cdef unsigned char[256] KIND_OF

@cython.locals(stack=MoveStack)
cpdef str write(Board board, move)
cpdef str plain(str text)
@cython.locals(move=int)
cpdef int parse(Board board, str text) except? -1
@cython.locals(stack=MoveStack)
cpdef int match(Board board, str text) except? -2
cpdef bint _matches(int move, long long pattern) noexcept
@cython.locals(n=int, wanted=int, mask=int, kind=int)
cdef long long read(const unsigned char* text, int start, int end) noexcept nogil
@cython.locals(letters=int, i=int)
cdef long long _read_castling(const unsigned char* text, int start, int end) noexcept nogil
cdef bint _is_rank(int character) noexcept nogil
cdef bint _is_file(int character) noexcept nogil
@cython.locals(both="long long")
cdef long long _pattern(int mask, int wanted) noexcept nogil
@cython.locals(mask=int, wanted=int, found=int, i=int)
cdef int find(MoveStack stack, int sp, int end, long long pattern) noexcept nogil
@cython.locals(text="unsigned char[8]", n=int, i=int, origin=int, target=int, kind=int, same=int, other=int, others=bint,
               same_file=bint, same_rank=bint)
cdef str play(Board board, MoveStack stack, int sp, int end, int move)
