from libc.stdint cimport uint64_t

cimport cython

from x88.atomic cimport atomic_flag_word
from x88.attack cimport attacked_squares, find_checks_and_pins
from x88.board cimport Board
from x88.movegen cimport MoveStack, generate, is_castling_legal, may_castle
from x88.perft.table cimport LEAVES_BITS, PerftTable
from x88.piece cimport BISHOP, KIND, KING, KNIGHT, PAWN, QUEEN, ROOK, WHITE, WHITE_PIECE
from x88.sets cimport bit, count, diagonal, lowest, straight
from x88.square cimport DIAGONAL, index64

cdef uint64_t[384] ATTACKS
cdef uint64_t FILE_A
cdef uint64_t FILE_H
cdef uint64_t ENDS
cdef uint64_t RANK_3
cdef uint64_t RANK_6

@cython.locals(end=int, total="long long", i=int)
cdef long long play_leaves(Board board, MoveStack stack, int sp, int depth) noexcept nogil
@cython.locals(end=int, total="long long", i=int)
cdef long long perft(Board board, MoveStack stack, int sp, int depth) noexcept nogil
@cython.locals(side=int, code=int, own=uint64_t, enemy=uint64_t, occupied=uint64_t, total=int, targets=uint64_t, free=uint64_t,
               pieces=uint64_t)
cdef int count_moves(Board board, MoveStack stack, int sp) noexcept nogil
@cython.locals(pushes=uint64_t, doubles=uint64_t, left=uint64_t, right=uint64_t, total=int)
cdef int _count_pawns(uint64_t pawns, int side, uint64_t occupied, uint64_t enemy) noexcept nogil
@cython.locals(king=int, number=int, kind=int, row=int, line=uint64_t)
cdef int _count_pinned(Board board, int origin, uint64_t occupied, uint64_t enemy) noexcept nogil
@cython.locals(pawns=uint64_t, total=int)
cdef int _count_en_passant(Board board) noexcept nogil


@cython.final
cdef class Counter:
    cdef Board board
    cdef MoveStack stack
    cdef PerftTable table
    cdef bint has_table
    cdef bint playing
    cdef atomic_flag_word halted  # set by another thread
    cdef bint overflowed

    @cython.locals(total="long long", plies=int)
    cpdef leaves_under(self, moves, depth)
    @cython.locals(total="long long", end=int, i=int)
    cdef long long _count(self, int sp, int depth) noexcept nogil
