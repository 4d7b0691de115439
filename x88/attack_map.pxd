from libc.stdint cimport uint8_t

cimport cython

from x88.board cimport Board
from x88.piece cimport EMPTY, KIND, WHITE
from x88.square cimport OFF_BOARD

cdef int[50] MOFF
cdef int[48] VALUE


@cython.final
cdef class AttackMap:
    cdef uint8_t[256] counts    # [side << 7 | square] -> attackers
    cdef uint8_t[256] least     # -> kind of the least valuable attacker, 0 if there is none
    cdef uint8_t[256] behind    # -> X-ray attackers through one piece

    @cython.locals(i=int, side=int, row=int, forward=int, origin=int, kind=int, jx=int, step=int, target=int)
    cpdef void compute(self, Board board) noexcept nogil
    @cython.locals(least=int)
    cdef void _add(self, int row, int target, int kind) noexcept nogil
