cpdef enum:
    EMPTY = 0
    PAWN = 1
    KNIGHT = 2
    KING = 3
    ROOK = 4
    BISHOP = 8
    QUEEN = 12
    SLIDER = 0x0C       # rook | bishop: set in the code of a sliding piece
    KIND = 0x0F         # code & KIND: the piece without its colour
    WHITE_PIECE = 0x10
    BLACK_PIECE = 0x20
    ANY_PIECE = 0x30    # code & ANY_PIECE: a piece, neither EMPTY nor BORDER
    BORDER = 0x40       # the code of cells off the board
    CODES = 0x30        # piece codes are below this
    WHITE = 0
    BLACK = 1
