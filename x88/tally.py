"""Captures and attacked squares, counted by the moff loop and by linked rays: work for `bench/generators.py`,
without the cost of a call from Python for each list or square.

Both designs are called from here, a module of neither: the compiler would build one's functions into loops
beside them, and they would measure a sixth faster.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    from x88 import attack, movegen, rays
    from x88.board import Board
    from x88.movegen import MoveStack
    from x88.rays import Rays
    from x88.square import OFF_BOARD


def captures_by_loop(board: Board, stack: MoveStack, times: int) -> int:
    """The moves that `movegen.generate_captures` writes, called so many times."""
    total = 0
    for _ in range(times):
        total += movegen.generate_captures(board, stack, 0)
    return total


def captures_by_rays(board: Board, own: Rays, stack: MoveStack, times: int, from_front: bool) -> int:
    """The same of `rays.generate_captures`, or of `rays.captures_from_front`."""
    total = 0
    for _ in range(times):
        if from_front:
            total += rays.captures_from_front(board, own, stack, 0)
        else:
            total += rays.generate_captures(board, own, stack, 0)
    return total


def attacked_by_loop(board: Board, times: int) -> int:
    """How many of the 64 squares White attacks, and Black, by `attack.is_attacked`, asked so many times."""
    total = 0
    for _ in range(times):
        for side in range(2):
            for sq in range(128):
                if sq & OFF_BOARD == 0 and attack.is_attacked(board, sq, side):
                    total += 1
    return total


def attacked_by_rays(board: Board, own: Rays, times: int) -> int:
    """The same by `rays.is_attacked`."""
    total = 0
    for _ in range(times):
        for side in range(2):
            for sq in range(128):
                if sq & OFF_BOARD == 0 and rays.is_attacked(board, own, sq, side):
                    total += 1
    return total
