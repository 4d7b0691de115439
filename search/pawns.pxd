from libc.stdint cimport uint64_t

cimport cython

from search.bitboard cimport lowest, popcount
from x88.piece cimport BLACK, WHITE

cpdef enum:
    ENTRIES = 4096         # of the pawn hash
    # Where the lists of numbers start in NUMBERS.
    DOUBLED = 0
    ISOLATED = 1           # [no enemy pawn on the file]
    BACKWARD = 3           # [no enemy pawn on the file]
    PHALANX = 5            # [rank as the own side counts it]
    SUPPORTED = 13         # [rank]
    PASSED = 21            # [rank]
    PASSED_OWN_KING = 29   # [rank], for each king move from the square before the pawn
    PASSED_ENEMY_KING = 37 # [rank], the same
    SHELTER = 45           # [beside the king's file << 3 | own pawn's rank, 0: none]
    STORM = 61             # [held up by an own pawn << 3 | enemy pawn's rank, 0: none]
    # The fields of an entry of eight words.
    KEY = 0
    SCORE = 1              # White's less Black's, + BIAS
    ATTACKS = 2            # squares that pawns attack; this field and the next, + side
    SPANS = 4              # squares that pawns attack or may attack farther on
    PASSED_PAWNS = 6
    BIAS = 0x40000000
    # The parts of the score.
    STRUCTURE = 0
    PASSERS = 1
    COVER = 2
    PAWN_PARTS = 3

cdef int[77] NUMBERS
cdef uint64_t[8] FILES
cdef uint64_t[8] ADJACENT
cdef uint64_t[128] AHEAD
cdef uint64_t[128] SIDES
cdef uint64_t[128] CAPTURES


@cython.final
cdef class Pawns:
    cdef uint64_t[32768] words
    cdef int[6] parts             # [side * PAWN_PARTS + part] of the position computed last

    cpdef void clear(self) noexcept nogil
    @cython.locals(entry=int, score=int)
    cdef int find(self, uint64_t key, uint64_t white, uint64_t black, int white_king, int black_king) noexcept nogil
    cdef int score(self, int entry) noexcept nogil
    @cython.locals(row=int, todo=uint64_t, i=int, rank=int, stop=int, bit=uint64_t, neighbours=uint64_t,
                   free=bint, structure=int, passers=int, attacks=uint64_t, spans=uint64_t, passed=uint64_t)
    cdef int _compute(self, int entry, int side, uint64_t own, uint64_t other, int king, int other_king) noexcept nogil


@cython.locals(row=int, total=int, middle=int, file=int, ahead=uint64_t, rank=int, storm=int)
cdef int _cover(int side, uint64_t own, uint64_t other, int king) noexcept nogil
cdef int _nearest(int side, uint64_t pawns) noexcept nogil
cdef int _distance(int a, int b) noexcept nogil
