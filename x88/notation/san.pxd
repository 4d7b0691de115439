from libc.stdint cimport int8_t, uint64_t

cimport cython

from x88.attack cimport find_checks_and_pins, last_move_checks
from x88.board cimport Board
from x88.move cimport CAPTURED, CAPTURED_SHIFT, CASTLING, EN_PASSANT, MOVED_SHIFT, PROMOTED, PROMOTED_SHIFT, SQUARE, TARGET_SHIFT, moved_of, origin_of, promoted_of, target_of
from x88.movegen cimport generate, is_castling_legal, own_stack
from x88.notation.fen cimport ascii_of
from x88.piece cimport BISHOP, BLACK, EMPTY, KIND, KING, KNIGHT, PAWN, QUEEN, ROOK, WHITE, WHITE_PIECE
from x88.sets cimport bit, diagonal, lowest, straight
from x88.square cimport DIFFERENCE, FILE, RANK, index64

cpdef enum:
    MASK_SHIFT = 32   # a pattern is a mask and, below it, the wanted fields of a move under the mask
    AMBIGUOUS = -1

cdef unsigned char[16] LETTER
cdef unsigned char[256] KIND_OF
cdef uint64_t[384] ATTACKS
cdef int8_t[256] DIRECTION
cdef uint64_t FILE_A

cpdef str write(Board board, move)
cpdef str plain(str text)
@cython.locals(move=int)
cpdef int parse(Board board, str text) except? -1
cpdef int match(Board board, str text) except? -2
cpdef bint is_readable(str text) except -1
@cython.locals(letters="const unsigned char*", characters=bytes)
cdef long long _text_pattern(str text) except? -1
cpdef bint _matches(int move, long long pattern) noexcept
@cython.locals(n=int, wanted=int, mask=int, kind=int)
cdef long long read(const unsigned char* text, int start, int end) noexcept nogil
@cython.locals(letters=int, i=int)
cdef long long _read_castling(const unsigned char* text, int start, int end) noexcept nogil
cdef bint _is_rank(int character) noexcept nogil
cdef bint _is_file(int character) noexcept nogil
@cython.locals(both="long long")
cdef long long pattern_of(int mask, int wanted) noexcept nogil
@cython.locals(mask=int, wanted=int, target=int, promoted=int, found=int, kind=int, is_promotion=bint, able=uint64_t, origin=int,
               number=int)
cdef int find(Board board, long long pattern) noexcept nogil
@cython.locals(king=int, found=uint64_t, others=uint64_t, step=int, is_en_passant=bint, is_between=bint, doubtful=uint64_t, sq=int,
               is_legal=bint)
cdef uint64_t origins(Board board, int kind, int target) noexcept nogil
@cython.locals(side=int, own=int, pieces=uint64_t, number=int, occupied=uint64_t, found=uint64_t, back=int, sq=int)
cdef uint64_t reaching(Board board, int kind, int target) noexcept nogil
@cython.locals(text="unsigned char[8]", n=int, i=int, origin=int, target=int, kind=int, others=uint64_t, same_file=uint64_t)
cdef str play(Board board, int move)
