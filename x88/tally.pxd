cimport cython

from x88 cimport attack, movegen, perft, rays
from x88.board cimport Board
from x88.movegen cimport MoveStack
from x88.rays cimport Rays
from x88.square cimport OFF_BOARD

@cython.locals(total="long long")
cpdef long long captures_by_loop(Board board, MoveStack stack, int times) noexcept nogil
@cython.locals(total="long long")
cpdef long long captures_by_rays(Board board, Rays own, MoveStack stack, int times, bint from_front) noexcept nogil
@cython.locals(total="long long", side=int, sq=int)
cpdef long long attacked_by_loop(Board board, int times) noexcept nogil
@cython.locals(total="long long", side=int, sq=int)
cpdef long long attacked_by_rays(Board board, Rays own, int times) noexcept nogil
cpdef long long leaves_by_loop(Board board, MoveStack stack, int depth) noexcept nogil
cpdef long long leaves_by_rays(Board board, Rays own, MoveStack stack, int depth) noexcept nogil
