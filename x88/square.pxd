from x88.piece cimport BISHOP, BLACK, KING, KNIGHT, PAWN, ROOK, WHITE

cpdef enum:
    OFF_BOARD = 0x88   # index & OFF_BOARD: not on the board
    NO_SQUARE = 0x88   # no square
    FILE = 0x0F        # index & FILE: 0..7 = a..h
    RANK = 0xF0        # index & RANK: 0x00..0x70 = first to eighth rank
    DIFFERENCE = 0x77  # offset of a difference of squares in a table
    REACH_ROW = 256    # length of one side's row of REACH
    NEXT_TO = 0x100    # in REACH: one king move apart
    DIAGONAL = 5       # row of ATTACKS

cpdef inline int index64(int square) noexcept nogil:
    return square + (square & 7) >> 1
