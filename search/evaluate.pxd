from libc.stdint cimport uint64_t

cimport cython

from search.bitboard cimport lowest, popcount
from search.endgame cimport DRAWN_SCALE, FULL_SCALE, mop_up, scale
from search.pawns cimport ATTACKS, KING_SHELTER, PASSED_PAWNS, PASSERS, PAWN_PARTS, SPANS, STRUCTURE, Pawns
from search.placement cimport FULL_PHASE, Placement
from x88.board cimport Board
from x88.move cimport (
    CAPTURED, CAPTURED_SHIFT, CASTLING, EN_PASSANT, MOVED_SHIFT, PROMOTED, PROMOTED_SHIFT, SQUARE, TARGET_SHIFT, rook_origin,
    rook_target,
)
from x88.piece cimport (
    ANY_PIECE, BISHOP, BLACK, BLACK_PIECE, KIND, KING, KNIGHT, PAWN, QUEEN, ROOK, WHITE, WHITE_PIECE,
)
from x88.square cimport FILE

cpdef enum:
    LARGEST = 19000        # the limit of every value, below all tablebase wins and mates
    CACHE = 8192           # entries of the evaluation cache
    # Attack units of a piece that attacks the king zone, and of a safe check.
    KNIGHT_UNITS = 2
    BISHOP_UNITS = 2
    ROOK_UNITS = 3
    QUEEN_UNITS = 4
    KNIGHT_CHECK = 5
    BISHOP_CHECK = 3
    ROOK_CHECK = 6
    QUEEN_CHECK = 5
    DANGERS = 48
    # Where the lists of parameters start in NUMBERS.
    TEMPO = 0
    BISHOP_PAIR = 1
    BISHOP_PAWNS = 2       # per own pawn on the bishop's colour
    OUTPOST = 3            # [knight, bishop]
    ROOK_FILE = 5          # [half-open, open]
    ROOK_ON_SEVENTH = 7
    KNIGHT_MOBILITY = 8    # [squares]
    BISHOP_MOBILITY = 17
    ROOK_MOBILITY = 31
    QUEEN_MOBILITY = 46
    PAWN_THREAT = 74       # per target: [minor piece, rook or queen]
    MINOR_THREAT = 76      # per target: [rook, queen]
    ROOK_THREAT = 78       # per queen
    HANGING = 79           # per target attacked and not defended: [pawn, piece]
    PASSED_BLOCKED = 81    # [relative rank]: the stop square is occupied
    PASSED_STOP_SAFE = 89  # [relative rank]: the stop square is empty and not attacked
    PASSED_PATH_FREE = 97  # [relative rank]: all squares ahead are empty and not attacked
    KING_DANGER = 105      # [attack units]
    # The parts of a side's score for `search.terms`; the pawn hash has those of the pawns.
    MOBILITY = 0
    PLACEMENT = 1
    THREATS = 2
    ADVANCE = 3
    DANGER = 4
    MOVE = 5
    MOP_UP = 6
    PARTS = 7

cdef int[153] NUMBERS
cdef int[6144] PIECE_SQUARE
cdef uint64_t[6144] PIECE_KEYS
cdef uint64_t B_FILE
cdef uint64_t LONG_DIAGONAL
cdef uint64_t A_FILE
cdef uint64_t[64] KNIGHT_MOVES
cdef uint64_t[64] KING_MOVES
cdef uint64_t[128] KING_ZONE
cdef uint64_t[64] RANKS
cdef uint64_t[64] DIAGONALS
cdef uint64_t[64] ANTIDIAGONALS
cdef uint64_t[512] RANK_ATTACKS
cdef uint64_t[512] FILE_ATTACKS
cdef uint64_t[8] FILES
cdef uint64_t[128] FRONT_SPANS
cdef uint64_t[2] SQUARES_OF_COLOUR
cdef uint64_t[2] OUTPOSTS
cdef uint64_t[4] LAST_RANKS


@cython.final
cdef class Evaluation:
    cdef int blur                  # maximum noise in centipawns
    cdef int seed
    cdef readonly Placement placement
    cdef int[136] sums             # by ply: packed material and piece-square value, White minus Black
    cdef int ply
    cdef Pawns pawns

    cdef uint64_t[8192] cached_keys
    cdef int[8192] cached          # packed scores by the low bits of the key

    # Set by _attack for _threats and _danger, by side.
    cdef uint64_t[2] attacked      # squares attacked
    cdef uint64_t[2] twice         # squares attacked at least twice
    cdef uint64_t[2] by_knights
    cdef uint64_t[2] by_bishops
    cdef uint64_t[2] by_rooks
    cdef uint64_t[2] by_queens
    cdef int[2] units              # attack units against the enemy king
    cdef int[14] parts             # [side * PARTS + part] of the last score computed

    @cython.locals(i=int, sq=int)
    cpdef void reset(self, Board board) noexcept nogil
    @cython.locals(colour=int, origin=int, target=int, code=int, total=int, victim=int, square=int, rook=int)
    cpdef void make(self, int move, int side) noexcept nogil
    cpdef void make_null(self) noexcept nogil
    cpdef void unmake(self, int move, int side) noexcept nogil
    cpdef void unmake_null(self) noexcept nogil
    @cython.locals(both=int, endgame=int)
    cpdef int scale(self, Board board) noexcept nogil
    @cython.locals(score=int, chance=int)
    cpdef int value(self, Board board) noexcept nogil
    cpdef int lazy_value(self, Board board) noexcept nogil
    @cython.locals(middlegame=int, endgame=int, factor=int, phase=int)
    cdef int _tapered(self, int both, Board board) noexcept nogil
    @cython.locals(slot=int)
    cpdef int packed(self, Board board) noexcept nogil
    @cython.locals(white_king=int, black_king=int, key=uint64_t, entry=int, total=int)
    cdef int _compute(self, Board board) noexcept nogil
    cpdef dict parts_by_name(self)
    @cython.locals(own=int, other=int, occupied=uint64_t, pawn_attacks=uint64_t, zone=uint64_t, allowed=uint64_t, union=uint64_t,
                   twice=uint64_t, by_kind=uint64_t, moves=uint64_t, todo=uint64_t, same_colour=uint64_t, seventh=uint64_t,
                   outposts=uint64_t, i=int, mobility=int, placement=int, units=int)
    cdef int _attack(self, int side, int entry, int king, int other_king) noexcept nogil
    @cython.locals(own=int, other=int, attacked=uint64_t, defended=uint64_t, minors=uint64_t,
                   majors=uint64_t, todo=uint64_t, path=uint64_t, stop=uint64_t, hits=uint64_t, i=int, rank=int, threats=int, advance=int)
    cdef int _threats(self, int side, int entry) noexcept nogil
    @cython.locals(enemy=int, own=int, other=int, units=int, zone=uint64_t, safe=uint64_t, straight=uint64_t, diagonal=uint64_t, occupied=uint64_t,
                   danger=int)
    cdef int _danger(self, int side, int king) noexcept nogil
    @cython.locals(tempo=int, progress=int)
    cdef int _tempo_and_mop_up(self, Board board, int side) noexcept nogil


@cython.locals(rank=uint64_t, file=uint64_t)
cdef uint64_t _straight(int i, uint64_t occupied) noexcept nogil
@cython.locals(up=uint64_t, down=uint64_t)
cdef uint64_t _diagonal(int i, uint64_t occupied) noexcept nogil
