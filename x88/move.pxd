from x88.piece cimport KIND

cpdef enum:
    NO_MOVE = 0
    SQUARE = 0x7F
    TARGET_SHIFT = 7
    CAPTURED_SHIFT = 14
    PROMOTED_SHIFT = 18
    MOVED_SHIFT = 22
    CAPTURED = 0x0003C000     # the field of the captured piece: non-zero for a capture
    PROMOTED = 0x003C0000     # the field of the promoted piece: non-zero for a promotion
    DOUBLE_PUSH = 0x04000000
    EN_PASSANT = 0x08000000
    CASTLING = 0x10000000

# C functions that other modules call without Python objects.
cpdef int origin_of(int move) noexcept nogil
cpdef int target_of(int move) noexcept nogil
cpdef int captured_of(int move) noexcept nogil
cpdef int promoted_of(int move) noexcept nogil
cpdef int moved_of(int move) noexcept nogil
