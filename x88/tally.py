"""Counts captures, attacked squares and leaves with the moff loop and with linked rays, for
`bench/generators.py`. Arguments are not checked.

The loops are compiled so that no Python call is measured, and kept out of both generators' modules: there the
compiler would inline the function, which makes it a sixth faster.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    from x88 import attack, movegen, perft, rays
    from x88.board import Board
    from x88.movegen import MoveStack
    from x88.rays import Rays
    from x88.square import OFF_BOARD


def captures_by_loop(board: Board, stack: MoveStack, times: int) -> int:
    """The total number of moves of `movegen.generate_captures`, called `times` times."""
    total = 0
    for _ in range(times):
        total += movegen.generate_captures(board, stack, 0)
    return total


def captures_by_rays(board: Board, own: Rays, stack: MoveStack, times: int, from_front: bool) -> int:
    """The same with `rays.generate_captures`, or with `rays.captures_from_front`."""
    total = 0
    for _ in range(times):
        if from_front:
            total += rays.captures_from_front(board, own, stack, 0)
        else:
            total += rays.generate_captures(board, own, stack, 0)
    return total


def attacked_by_loop(board: Board, times: int) -> int:
    """The squares that White and Black attack, counted with `attack.is_attacked` `times` times."""
    total = 0
    for _ in range(times):
        for side in range(2):
            for sq in range(128):
                if sq & OFF_BOARD == 0 and attack.is_attacked(board, sq, side):
                    total += 1
    return total


def attacked_by_rays(board: Board, own: Rays, times: int) -> int:
    """The same with `rays.is_attacked`."""
    total = 0
    for _ in range(times):
        for side in range(2):
            for sq in range(128):
                if sq & OFF_BOARD == 0 and rays.is_attacked(board, own, sq, side):
                    total += 1
    return total


def leaves_by_loop(board: Board, stack: MoveStack, depth: int) -> int:
    """`perft.play_leaves`."""
    return perft.play_leaves(board, stack, 0, depth)


def leaves_by_rays(board: Board, own: Rays, stack: MoveStack, depth: int) -> int:
    """`rays.play_leaves`."""
    return rays.play_leaves(board, own, stack, 0, depth)
