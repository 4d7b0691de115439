from libc.stdint cimport uint8_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

from x88.move cimport CAPTURED, CASTLING, EN_PASSANT, NO_MOVE, PROMOTED, castle, is_home_castling, origin_of, promoted_of, rook_origin, rook_target, target_of
from x88.piece cimport (
    ANY_PIECE, BISHOP, BLACK, BLACK_PIECE, BORDER, CODES, EMPTY, KIND, KING, KNIGHT, PAWN, QUEEN, ROOK, WHITE,
    WHITE_PIECE,
)
from x88.sets cimport bit, count, diagonal, lowest, square_colours, straight
from x88.square cimport DIAGONAL, FILE, NO_SQUARE, OFF_BOARD, RANK, index64

cimport cython

cpdef enum:
    ROOM = 16          # plies that every board has room for: more than the captures that a tablebase is probed after
    MAX_PIECES = 16    # of one side
    WHITE_SHORT = 1    # castling rights, as bits
    WHITE_LONG = 2
    BLACK_SHORT = 4
    BLACK_LONG = 8
    ALL_RIGHTS = 15
    LARGEST_COUNTER = 99999999  # of half-moves since a capture, and of moves

cdef int[48] VALUE
cdef uint64_t[6144] PIECE_KEYS
cdef uint64_t[16] CASTLING_KEYS
cdef uint64_t[8] EN_PASSANT_KEYS
cdef uint64_t TURN_KEY
cdef uint64_t[384] ATTACKS
cdef uint64_t ENDS

cdef struct Undo:
    int en_passant      # in the order of the board, so that compilers copy two of them at once
    int en_passant_legal
    int halfmove
    int reversible
    uint64_t key
    int move
    uint8_t castling
    uint8_t slot        # of the captured piece

cdef inline Undo* resized(Undo* undo, int plies) except NULL:
    undo = <Undo*>realloc(undo, <size_t>plies * sizeof(Undo))
    if undo == NULL:
        raise MemoryError("no memory for the undo stack")
    return undo


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

    cdef Undo* undo                 # the undo stack: the state before each move
    cdef int capacity               # plies that it has memory for
    cdef uint8_t[64] spacer         # keeps the board of another thread, which may follow in memory, off our cache lines

    @cython.locals(sq=int, code=int, number=int)
    cpdef void clear(self) noexcept nogil
    @cython.locals(side=int, slot=int)
    cdef void add(self, int code, int sq) noexcept nogil
    cdef check_placement(self)
    @cython.locals(pawns=uint64_t, each=int, kings=int, pieces=int)
    cpdef str fault(self)
    @cython.locals(king=int)
    cpdef bint is_exposed(self) noexcept nogil
    @cython.locals(side=int, home=int, king=int, move=int, low=int, high=int, n=int, i=int, sq=int)
    cdef void allow(self, int number, int rook, bint any_king) noexcept nogil
    @cython.locals(step=int)
    cdef void finish(self, int en_passant, int halfmove, int fullmove) noexcept nogil
    @cython.locals(pawn=int, left=bint, right=bint)
    cdef inline void _set_en_passant(self, int pushed) noexcept nogil
    @cython.locals(other=Board)
    cpdef Board copy(self)
    cdef _take_over(self, Board other)
    @cython.locals(key=uint64_t, sq=int)
    cpdef uint64_t compute_key(self) noexcept nogil
    @cython.locals(code=int, target=int, key=uint64_t)
    cdef uint64_t key_after(self, int move) noexcept nogil
    @cython.locals(side=int, origin=int, target=int, code=int, castling=int, slot=int, last=int,
                   victim=int, victim_square=int, promoted=int, key=uint64_t, change=uint64_t)
    cdef void make_unchecked(self, int move) noexcept nogil
    @cython.locals(before=Undo, side=int, origin=int, target=int, code=int, slot=int, last=int, victim=int,
                   victim_square=int, end=int, move=int, change=uint64_t)
    cdef void unmake_unchecked(self) noexcept nogil
    cdef void _push(self, int move) noexcept nogil
    @cython.locals(before=Undo)
    cdef Undo _pop(self) noexcept nogil
    @cython.locals(origin=int, target=int, king=int, slot=int, rook=int, change=uint64_t)
    cdef uint64_t _move_rook(self, int move, bint back) noexcept nogil
    cdef void make_null_unchecked(self) noexcept nogil
    cdef void unmake_null(self) noexcept nogil
    cdef int make_room(self, int plies) except -1
    @cython.locals(number=int, queens=uint64_t, lines=uint64_t, diagonals=uint64_t, found=uint64_t)
    cdef uint64_t attackers_among(self, int target, uint64_t occupied) noexcept nogil
    @cython.locals(side=int, occupied=uint64_t)
    cdef bint is_en_passant_legal(self, int origin) noexcept nogil
    @cython.locals(key=uint64_t, past=uint64_t, i=int, back=int)
    cpdef bint is_repetition(self, int times, int recent=*) noexcept nogil
    cpdef bint is_insufficient_material(self) noexcept nogil
    @cython.locals(number=int)
    cpdef bint is_chess960(self) noexcept nogil
    cpdef int last_move(self) noexcept nogil

cdef inline void copy_fields(Board board, Board other) noexcept nogil:
    memcpy(board.squares, other.squares, <char*>&other.undo - <char*>&other.squares)  # `undo` follows the fields

cdef Board _EMPTY

@cython.locals(board=Board)
cdef Board fresh()
@cython.locals(sq=int, code=int)
cdef int _check(bytes codes, en_passant, castling, halfmove, fullmove, tuple rooks) except -1
