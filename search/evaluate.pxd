from libc.stdint cimport uint64_t

cimport cython

from search.bitboard cimport lowest, popcount
from search.endgame cimport DRAWN_SCALE, FULL_SCALE, mating, scale
from search.pawns cimport ATTACKS, COVER, PASSED_PAWNS, PASSERS, PAWN_PARTS, SPANS, STRUCTURE, Pawns
from search.placement cimport FULL_PHASE, Placement
from x88.board cimport Board
from x88.move cimport CAPTURED, CAPTURED_SHIFT, CASTLING, EN_PASSANT, MOVED_SHIFT, PROMOTED, PROMOTED_SHIFT, SQUARE, TARGET_SHIFT
from x88.piece cimport (
    ANY_PIECE, BISHOP, BLACK, BLACK_PIECE, KIND, KING, KNIGHT, PAWN, QUEEN, ROOK, WHITE, WHITE_PIECE,
)
from x88.square cimport FILE

cpdef enum:
    LARGEST = 30000        # no value is beyond: mate scores are
    CACHE = 8192           # evaluations kept
    # Attack units of a piece that attacks the king's zone, and of one that can check on an undefended square.
    KNIGHT_UNITS = 2
    BISHOP_UNITS = 2
    ROOK_UNITS = 3
    QUEEN_UNITS = 4
    KNIGHT_CHECK = 5
    BISHOP_CHECK = 3
    ROOK_CHECK = 6
    QUEEN_CHECK = 5
    DANGERS = 48
    # Where the lists of numbers start in NUMBERS.
    TEMPO = 0
    BISHOP_PAIR = 1
    BISHOP_PAWNS = 2       # for each own pawn on squares of the bishop's colour
    OUTPOST = 3            # [knight, bishop]
    ROOK_FILE = 5          # [half-open, open]
    ROOK_ON_SEVENTH = 7
    KNIGHT_MOBILITY = 8    # [squares]
    BISHOP_MOBILITY = 17
    ROOK_MOBILITY = 31
    QUEEN_MOBILITY = 46
    PAWN_THREAT = 74       # [on a minor piece, on a rook or queen], each
    MINOR_THREAT = 76      # [on a rook, on a queen]
    ROOK_THREAT = 78       # on a queen
    HANGING = 79           # [pawn, piece] attacked and not defended
    PASSED_BLOCKED = 81    # [rank as the own side counts it]: a piece stands before the passed pawn
    PASSED_STOP_SAFE = 89  # [rank]: it can move on to a square that is not attacked
    PASSED_PATH_FREE = 97  # [rank]: no piece is on its way, and no square of it is attacked
    KING_DANGER = 105      # [attack units]
    # The parts of a side's score that `terms` shows, beside those of its pawns.
    MOBILITY = 0
    PLACEMENT = 1
    THREATS = 2
    ADVANCE = 3
    DANGER = 4
    MOVE = 5
    MATING = 6
    PARTS = 7

cdef int[153] NUMBERS
cdef int[6144] PIECE_SQUARE
cdef uint64_t[6144] PIECE_KEYS
cdef uint64_t B_FILE
cdef uint64_t LONG_DIAGONAL
cdef uint64_t A_FILE
cdef uint64_t[128] BIT
cdef uint64_t[64] KNIGHT_MOVES
cdef uint64_t[64] KING_MOVES
cdef uint64_t[128] ZONE
cdef uint64_t[64] RANKS
cdef uint64_t[64] DIAGONALS
cdef uint64_t[64] ANTIDIAGONALS
cdef uint64_t[512] ROW_ATTACKS
cdef uint64_t[512] FILE_ATTACKS
cdef uint64_t[8] FILES
cdef uint64_t[128] AHEAD
cdef uint64_t[2] SHADES
cdef uint64_t[2] OUTPOSTS
cdef uint64_t[4] LAST_RANKS


@cython.final
cdef class Evaluation:
    cdef int blur                  # centipawns
    cdef int seed
    cdef readonly Placement placement
    cdef int[136] sums             # by ply: middlegame + endgame * 65536, White's less Black's
    cdef int ply
    cdef Pawns pawns

    cdef uint64_t[8192] cached_keys
    cdef int[8192] cached          # sums by the low bits of the position's key

    # What _attack leaves for _clash, by side.
    cdef uint64_t[2] attacked      # squares attacked
    cdef uint64_t[2] twice         # squares attacked by two pieces or more
    cdef uint64_t[2] by_knights
    cdef uint64_t[2] by_bishops
    cdef uint64_t[2] by_rooks
    cdef uint64_t[2] by_queens
    cdef int[2] units              # of attack on the enemy king's zone
    cdef int[14] parts             # [side * PARTS + part] of the last evaluation

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
    cpdef int rough(self, Board board) noexcept nogil
    @cython.locals(middlegame=int, endgame=int, factor=int, phase=int)
    cdef int _tapered(self, int both, Board board) noexcept nogil
    @cython.locals(slot=int)
    cpdef int packed(self, Board board) noexcept nogil
    @cython.locals(white_king=int, black_king=int, key=uint64_t, entry=int, total=int)
    cdef int _compute(self, Board board) noexcept nogil
    cpdef dict parts_by_name(self)
    @cython.locals(own=int, other=int, occupied=uint64_t, pawn_attacks=uint64_t, zone=uint64_t, allowed=uint64_t, union=uint64_t,
                   twice=uint64_t, by_kind=uint64_t, moves=uint64_t, todo=uint64_t, shade=uint64_t, seventh=uint64_t,
                   outposts=uint64_t, i=int, mobility=int, placement=int, units=int)
    cdef int _attack(self, int side, int entry, int king, int other_king) noexcept nogil
    @cython.locals(own=int, other=int, attacked=uint64_t, defended=uint64_t, minors=uint64_t,
                   majors=uint64_t, todo=uint64_t, path=uint64_t, stop=uint64_t, hits=uint64_t, i=int, rank=int, threats=int, advance=int)
    cdef int _clash(self, int side, int entry) noexcept nogil
    @cython.locals(enemy=int, own=int, other=int, units=int, zone=uint64_t, safe=uint64_t, straight=uint64_t, diagonal=uint64_t, occupied=uint64_t,
                   danger=int)
    cdef int _danger(self, int side, int king) noexcept nogil
    @cython.locals(tempo=int, progress=int)
    cdef int _rest(self, Board board, int side) noexcept nogil


@cython.locals(rank=uint64_t, file=uint64_t)
cdef uint64_t _straight(int i, uint64_t occupied) noexcept nogil
@cython.locals(up=uint64_t, down=uint64_t)
cdef uint64_t _diagonal(int i, uint64_t occupied) noexcept nogil
