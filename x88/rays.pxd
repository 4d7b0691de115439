from libc.stdint cimport int8_t, uint8_t, uint16_t, uint64_t

cimport cython

from x88.attack cimport pin_of
from x88.board cimport Board
from x88.move cimport CAPTURED, CASTLING, EN_PASSANT, MOVED_SHIFT, TARGET_SHIFT, origin_of, rook_origin, rook_target, target_of
from x88.movegen cimport (
    MoveStack, add_capture, add_double_push, add_en_passant, add_pawn_move, castling_moves, evasions, king_moves,
    last_capture, may_castle,
)
from x88.piece cimport (
    ANY_PIECE, BISHOP, EMPTY, KIND, KNIGHT, PAWN, QUEEN, ROOK, SLIDER, WHITE, WHITE_PIECE,
)
from x88.sets cimport bit, count
from x88.square cimport DIFFERENCE, NEXT_TO, NO_SQUARE, OFF_BOARD, RANK, REACH_ROW

cpdef enum:
    DIRECTIONS = 8
    BACK = 3         # direction ^ BACK is the opposite one

cdef int[50] MOFF
cdef int[8] STEP
cdef uint16_t[512] REACH
cdef uint8_t[256] RAY
cdef uint8_t[2048] BARE
cdef int[5] FRONT


@cython.final
cdef class Rays:
    cdef uint8_t[2048] links     # [square << 3 | direction] -> the nearest occupied square, or the first cell off the board
    cdef uint8_t[16384] saved    # by depth: the links of a move's origin, and of a pawn captured en passant
    cdef readonly int depth      # moves made since the last reset

    @cython.locals(i=int, side=int, sq=int, d=int, found=int)
    cpdef void reset(self, Board board) noexcept nogil
    @cython.locals(target=int, slot=int, rook=int, code=int)
    cdef void make(self, Board board, int move) noexcept nogil
    @cython.locals(move=int, target=int, slot=int)
    cdef void unmake(self, Board board) noexcept nogil
    @cython.locals(row=int, d=int)
    cdef void _unlink(self, int sq) noexcept nogil
    @cython.locals(row=int, d=int, found=int)
    cdef void _remove(self, int sq, int slot) noexcept nogil
    @cython.locals(row=int, d=int, found=int)
    cdef void _put_back(self, int sq, int slot) noexcept nogil
    cdef void _insert(self, Board board, int sq) noexcept nogil
    @cython.locals(step=int, ahead=int, behind=int)
    cdef void _insert_on_line(self, Board board, int sq, int d) noexcept nogil
    cdef int link(self, int sq, int d) noexcept nogil
    @cython.locals(i=int, side=int, sq=int, d=int, found=int)
    cdef bint is_walked(self, Board board) noexcept nogil


@cython.locals(colour=int, back=int, row=int, d=int, i=int, sq=int, code=int)
cdef bint is_attacked(Board board, Rays rays, int target, int side) noexcept nogil
@cython.locals(found=int)
cdef bint _sees(Rays rays, int sq, int target) noexcept nogil
@cython.locals(checkers=uint64_t, pinned=uint64_t, side=int, enemy=int, king=int, row=int, i=int, sq=int, kind=int, first=int, d=int)
cdef void find_checks_and_pins(Board board, Rays rays) noexcept nogil
cdef int generate(Board board, Rays rays, MoveStack stack, int sp) noexcept nogil
cdef int generate_captures(Board board, Rays rays, MoveStack stack, int sp) noexcept nogil
@cython.locals(side=int, own=int, enemy=int, recapture=int, i=int, origin=int, kind=int, pin=int, first=int, last=int, d=int,
               step=int, found=int, target=int, jx=int)
cdef int _moves(Board board, Rays rays, MoveStack stack, int sp, bint quiets) noexcept nogil
@cython.locals(side=int, enemy=int, forward=int, pin=int, target=int)
cdef int _pawn_moves(Board board, MoveStack stack, int sp, int origin, int recapture, bint quiets) noexcept nogil
@cython.locals(side=int, victims=int, recapture=int, rank=int, code=int, left=int, i=int)
cdef int captures_from_front(Board board, Rays rays, MoveStack stack, int sp) noexcept nogil
@cython.locals(side=int, own=int, back=int, jx=int, origin=int, d=int, code=int, pin=int, king=int)
cdef int _captures_of(Board board, Rays rays, MoveStack stack, int sp, int victim, int recapture) noexcept nogil
@cython.locals(pin=int)
cdef int _pawn_capture(Board board, MoveStack stack, int sp, int origin, int victim, int recapture) noexcept nogil
@cython.locals(side=int, pawn=int, forward=int, last=int, file=int, origin=int)
cdef int _other_captures(Board board, MoveStack stack, int sp, int recapture) noexcept nogil
@cython.locals(rays=Rays, walker=Board)
cpdef perft(Board board, depth)
@cython.locals(end=int, i=int, total="long long")
cdef long long play_leaves(Board board, Rays rays, MoveStack stack, int sp, int depth) noexcept nogil
