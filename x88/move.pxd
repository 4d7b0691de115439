cimport cython

from x88.piece cimport BISHOP, KIND, KING, KNIGHT, QUEEN, ROOK
from x88.square cimport FILE, RANK, index64

cpdef enum:
    NO_MOVE = 0
    SQUARE = 0x7F
    TARGET_SHIFT = 7
    CAPTURED_SHIFT = 14
    PROMOTED_SHIFT = 18
    MOVED_SHIFT = 22
    CAPTURED = 0x0003C000     # the field of the captured piece: non-zero for a capture
    PROMOTED = 0x003C0000     # the field of the promoted piece: non-zero for a promotion
    EN_PASSANT = 0x04000000
    CASTLING = 0x08000000
    ROOK_SHIFT = 28           # the file of the rook that castles, the highest field

cpdef inline int origin_of(int move) noexcept nogil:
    return move & SQUARE
cpdef inline int target_of(int move) noexcept nogil:
    return move >> TARGET_SHIFT & SQUARE
cpdef inline int captured_of(int move) noexcept nogil:
    return move >> CAPTURED_SHIFT & KIND
cpdef inline int promoted_of(int move) noexcept nogil:
    return move >> PROMOTED_SHIFT & KIND
cpdef inline int moved_of(int move) noexcept nogil:
    return move >> MOVED_SHIFT & KIND
@cython.locals(target=int)
cpdef int castle(int king, int rook) noexcept nogil
cpdef int rook_origin(int move) noexcept nogil
@cython.locals(target=int)
cpdef int rook_target(int move) noexcept nogil
@cython.locals(target=int, kind=int, promotion=int)
cpdef int book_move(int move) noexcept nogil
@cython.locals(file=int)
cpdef bint is_home_castling(int move) noexcept nogil
