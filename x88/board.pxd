from libc.stdint cimport uint8_t, uint64_t

from x88.move cimport CAPTURED, CASTLING, EN_PASSANT, NO_MOVE, PROMOTED, castle, is_home_castling, origin_of, promoted_of, rook_origin, rook_target, target_of
from x88.piece cimport (
    ANY_PIECE, BISHOP, BLACK, BLACK_PIECE, BORDER, CODES, EMPTY, KIND, KING, KNIGHT, PAWN, QUEEN, ROOK, WHITE,
    WHITE_PIECE,
)
from x88.sets cimport bit, diagonal, square_colours, straight
from x88.square cimport FILE, NO_SQUARE, OFF_BOARD, RANK, index64

cimport cython

cpdef enum:
    HISTORY = 4096     # moves on the undo stack
    MAX_PIECES = 16    # of one side
    WHITE_SHORT = 1    # castling rights, as bits
    WHITE_LONG = 2
    BLACK_SHORT = 4
    BLACK_LONG = 8
    ALL_RIGHTS = 15

cdef int[48] VALUE
cdef uint64_t[6144] PIECE_KEYS
cdef uint64_t[16] CASTLING_KEYS
cdef uint64_t[8] EN_PASSANT_KEYS
cdef uint64_t TURN_KEY
cdef uint64_t[384] ATTACKS


@cython.final
cdef class Board:
    cdef uint8_t[256] squares       # piece code, EMPTY or BORDER
    cdef uint8_t[128] slots         # square -> index in pieces
    cdef uint8_t[32] pieces         # [side << 4 | n] -> square, king first
    cdef int[2] count               # pieces of each side
    cdef uint64_t[48] sets          # squares of each code, as bits
    cdef uint64_t[2] sides          # squares of each side
    cdef readonly int side          # to move
    cdef readonly int castling      # rights as bits
    cdef int[4] castles             # [number of a right] -> the castling move, NO_MOVE if the right was never held
    cdef uint8_t[32] paths          # [number << 3 | n] -> the squares that must be empty for it, ended by NO_SQUARE
    cdef uint8_t[128] kept_rights   # square -> rights that remain after a move from or to it
    cdef readonly int en_passant    # square passed by a double push and attacked by an enemy pawn, or NO_SQUARE
    cdef readonly bint en_passant_legal  # whether such a capture is legal
    cdef readonly int halfmove      # plies since the last capture or pawn move
    cdef readonly int reversible    # plies since the last irreversible move
    cdef readonly int fullmove      # move number as in FEN
    cdef readonly int ply           # moves on the undo stack
    cdef readonly uint64_t key      # Polyglot key

    # Set by attack.find_checks_and_pins for the side to move, as bits.
    cdef uint64_t checkers
    cdef uint64_t pinned

    # The undo stack: the state before each move. It stands last, so that the board of another thread, which may
    # follow in memory, shares no cache line with what changes.
    cdef uint64_t[4096] keys
    cdef int[4096] moves
    cdef int[4096] states           # castling | en passant << 8 | its legality << 16 | the victim's slot << 20
    cdef int[4096] halfmoves
    cdef int[4096] reversibles

    @cython.locals(i=int, sq=int, code=int, slot=int)
    cdef _set_up(self, bytes codes, int side, int castling, tuple rooks)
    @cython.locals(sq=int, number=int)
    cdef _set_rights(self, int rights, tuple rooks, bint any_king=*)
    @cython.locals(move=int, low=int, high=int, n=int, i=int, sq=int)
    cdef void _set_right(self, int number, int king, int rook)
    @cython.locals(side=int, home=int, king=int)
    cdef bint _is_backed(self, int number, int rook, bint any_king)
    @cython.locals(step=int, pushed=int, start=int, origin=int, ready=bint)
    cdef void _set_en_passant(self, int passed)
    cdef _take_over(self, Board other)
    @cython.locals(key=uint64_t, sq=int)
    cpdef uint64_t compute_key(self)
    @cython.locals(code=int, target=int, key=uint64_t)
    cdef uint64_t key_after(self, int move) noexcept nogil
    @cython.locals(ply=int, side=int, origin=int, target=int, code=int, castling=int, state=int, slot=int, last=int,
                   victim=int, victim_square=int, promoted=int, enemy_pawn=int, left=bint, right=bint, key=uint64_t, change=uint64_t)
    cdef void make_unchecked(self, int move) noexcept nogil
    @cython.locals(ply=int, side=int, origin=int, target=int, code=int, state=int, slot=int, last=int, victim=int,
                   victim_square=int, end=int, move=int, change=uint64_t)
    cdef void unmake_unchecked(self) noexcept nogil
    @cython.locals(origin=int, target=int, king=int, slot=int, rook=int, change=uint64_t)
    cdef uint64_t _move_rook(self, int move, bint back) noexcept nogil
    cdef void make_null_unchecked(self) noexcept nogil
    cdef void unmake_null(self) noexcept nogil
    cdef void make_room(self) noexcept nogil
    @cython.locals(side=int, enemy=int, king=int, victim=uint64_t, occupied=uint64_t, found=uint64_t)
    cdef bint is_en_passant_legal(self, int origin) noexcept nogil
    @cython.locals(key=uint64_t, past=uint64_t, i=int, back=int)
    cpdef bint is_repetition(self, int times, int recent=*) noexcept nogil
    cpdef bint is_insufficient_material(self) noexcept nogil
    cpdef int last_move(self) noexcept nogil

@cython.locals(kings=int[2], pieces=int[2], sq=int, code=int, side=int)
cdef int _check(bytes codes, en_passant, castling, halfmove, fullmove, tuple rooks) except -1
