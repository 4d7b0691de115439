from libc.stdint cimport uint64_t

cimport cython

from search.transposition cimport short_move
from x88.attack cimport last_move_checks
from x88.board cimport Board
from x88.move cimport CAPTURED, CASTLING, NO_MOVE, origin_of, target_of
from x88.movegen cimport MoveStack
from x88.piece cimport BLACK
from x88.square cimport FILE

cpdef enum:
    FACTOR = 0x45D9F3B    # of an integer hash by Thomas Mueller
    CERTAIN = 0x8000      # certainty, on the scale of the hash


@cython.final
cdef class Oversight:
    cdef int odds
    cdef uint64_t seed
    cdef int side

    cpdef void begin(self, Board board, int game, int odds) noexcept nogil
    @cython.locals(kept=int, i=int, move=int)
    cdef int remove(self, Board board, MoveStack stack, int sp, int end, int tt_move) noexcept nogil
    @cython.locals(chance=cython.longlong)
    cpdef bint overlooks(self, Board board, int move) noexcept nogil
    @cython.locals(origin=int, target=int, ranks=int, files=int, effort=int, last=int)
    cdef int effort(self, Board board, int move) noexcept nogil
