from libc.stdint cimport uint64_t

cimport cython

from search.bitboard cimport lowest, popcount
from x88.piece cimport BLACK, WHITE

cpdef enum:
    ENTRIES = 4096         # of the pawn hash table
    # Where the lists of parameters start in NUMBERS.
    DOUBLED = 0
    ISOLATED = 1           # [no enemy pawn ahead]
    BACKWARD = 3           # [no enemy pawn ahead]
    PHALANX = 5            # [relative rank]
    SUPPORTED = 13         # [relative rank], per supporting pawn
    PASSED = 21            # [relative rank]
    PASSED_OWN_KING = 29   # [relative rank], per king move from the own king to the stop square
    PASSED_ENEMY_KING = 37 # [relative rank], per king move from the enemy king to the stop square
    SHELTER = 45           # [not the king's file << 3 | relative rank of the own pawn, 0: none]
    STORM = 61             # [blocked by an own pawn << 3 | relative rank of the enemy pawn, 0: none]
    # The fields of an entry of eight words.
    KEY = 0
    SCORE = 1              # packed score, White minus Black, + BIAS
    ATTACKS = 2            # | side: squares attacked by pawns
    SPANS = 4              # | side: attack spans, squares that pawns attack now or after advancing
    PASSED_PAWNS = 6       # | side
    BIAS = 0x40000000
    # The parts of a side's score.
    STRUCTURE = 0
    PASSERS = 1
    KING_SHELTER = 2
    PAWN_PARTS = 3

cdef int[77] NUMBERS
cdef uint64_t[8] FILES
cdef uint64_t[8] ADJACENT
cdef uint64_t[128] FRONT_SPANS
cdef uint64_t[128] ATTACK_SPANS
cdef uint64_t[128] PAWN_ATTACKS


@cython.final
cdef class Pawns:
    cdef uint64_t[32768] words
    cdef int[6] parts             # [side * PAWN_PARTS + part] of the last score computed

    cpdef void clear(self) noexcept nogil
    @cython.locals(entry=int, score=int)
    cdef int find(self, uint64_t key, uint64_t white, uint64_t black, int white_king, int black_king) noexcept nogil
    cdef int score(self, int entry) noexcept nogil
    @cython.locals(row=int, todo=uint64_t, i=int, rank=int, stop=int, bit=uint64_t, neighbours=uint64_t,
                   half_open=bint, structure=int, passers=int, attacks=uint64_t, spans=uint64_t, passed=uint64_t)
    cdef int _compute(self, int entry, int side, uint64_t own, uint64_t other, int king, int other_king) noexcept nogil


@cython.locals(row=int, total=int, middle=int, file=int, ahead=uint64_t, rank=int, storm=int)
cdef int _king_shelter(int side, uint64_t own, uint64_t other, int king) noexcept nogil
cdef int _nearest(int side, uint64_t pawns) noexcept nogil
cdef int _distance(int a, int b) noexcept nogil
