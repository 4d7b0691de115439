from libc.stdint cimport int16_t, uint64_t

cimport cython

from x88.move cimport CAPTURED, PROMOTED, captured_of, moved_of, origin_of, target_of
from x88.movegen cimport MoveStack
from x88.square cimport index64

cpdef enum:
    NO_PREVIOUS = 768    # row of `continuations` that stays zero
    LIMIT = 16384
    BEFORE_ROOT = 4      # plies before the root that histories look back to
    PAWN_ROWS = 512

cdef int[16] PIECE_INDEX


@cython.final
cdef class History:
    cdef int fourth_weight
    cdef int pawn_weight
    cdef int base_weight
    cdef int[254] pawn_rows # [ply] -> where the row of its pawns begins
    cdef int[256] moved     # [ply + BEFORE_ROOT] -> piece-to index
    cdef int[508] killers   # [2 * ply], two for each ply
    cdef uint64_t[254] attacked  # [ply] -> squares that the opponent attacks, as bits
    cdef int16_t[32768] quiets   # [origin attacked << 14 | target attacked << 13 | side << 12 | origin << 6 | target]
    cdef int16_t[590592] continuations   # [piece-to of a previous move * 768 + piece-to]
    cdef int16_t[393216] pawns   # [hash of the pawns * 768 + piece-to]
    cdef int16_t[6144] captures   # [piece-to << 3 | captured kind]

    cdef void weigh(self, int fourth, int pawns, int base) noexcept nogil
    cdef void clear(self) noexcept nogil
    cdef void new_search(self) noexcept nogil
    cdef void age(self) noexcept nogil
    cdef void record_move(self, int ply, int side, int move) noexcept nogil
    cdef void record_null_move(self, int ply) noexcept nogil
    cdef void set_pawns(self, int ply, uint64_t key) noexcept nogil
    cdef void set_attacked(self, int ply, uint64_t squares) noexcept nogil
    @cython.locals(target=int, fourth=int)
    cdef int quiet_score(self, int side, int move, int ply) noexcept nogil
    @cython.locals(last=int, before=int, fourth=int, pawns=int, attacked=uint64_t, fourth_weight=int, pawn_weight=int, i=int, move=int,
                   target=int)
    cdef void add_quiet_scores(self, MoveStack stack, int start, int end, int side, int ply) noexcept nogil
    @cython.locals(target=int, index=int, back=int, row=int, total=int, score=int, base=int, change=int)
    cdef void update_quiet(self, int side, int move, int ply, int bonus) noexcept nogil
    @cython.locals(index=int)
    cdef void update_squares(self, int side, int move, int ply, int bonus) noexcept nogil
    cdef int capture_score(self, int side, int move) noexcept nogil
    @cython.locals(index=int)
    cdef void update_capture(self, int side, int move, int bonus) noexcept nogil
    cdef void add_killer(self, int ply, int move) noexcept nogil


cdef int apply_bonus(int score, int bonus) noexcept nogil
@cython.locals(target=int)
cdef int piece_to(int side, int move) noexcept nogil
@cython.locals(origin=int, target=int)
cdef int quiet_index(int side, int move, uint64_t attacked) noexcept nogil
cdef int capture_index(int side, int move) noexcept nogil
