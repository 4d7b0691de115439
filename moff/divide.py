"""Perft in pieces: a count of hours that can be watched and ended at any time."""

from collections.abc import Callable, Iterator

from x88 import build
from x88.board import Board
from x88.movegen import legal_moves
from x88.perft import leaves_under

DEEPEST = 64
"""Plies; no count of more would end."""

PIECE = 4 if build.compiled else 3
"""Plies that are counted without a pause: microseconds as a rule, a second at most."""


def divide(
    board: Board,
    depth: int,
    playing: bool = False,
    on_piece: Callable[[int, float], object] | None = None,
) -> Iterator[tuple[int, int]]:
    """Every legal move, packed, with the leaves under it at `depth` >= 1 plies of the whole tree.

    `playing` makes and unmakes every leaf instead of counting the moves of the last ply. `on_piece` is called
    after every piece of the count with its leaves and with the share of the whole work that is done, from 0
    to 1; what it raises ends the count.
    """
    board = board.copy()
    moves = legal_moves(board)
    for number, move in enumerate(moves):
        leaves = 0
        done = 0.0
        for count, share in _pieces(board, move, depth, playing, 1.0):
            leaves += count
            done += share
            if on_piece is not None:
                on_piece(count, (number + done) / len(moves))
        yield move, leaves


def _pieces(board: Board, move: int, depth: int, playing: bool, share: float) -> Iterator[tuple[int, float]]:
    """The leaves under a move in pieces, each with its part of the move's share of the work."""
    if depth <= PIECE:
        yield leaves_under(board, move, depth, playing), share
        return
    board.make(move)
    replies = legal_moves(board)
    for reply in replies:
        yield from _pieces(board, reply, depth - 1, playing, share / len(replies))
    board.unmake()


def perft(board: Board, depth: int) -> int:
    """The number of leaves of the tree of legal moves at `depth` plies."""
    return sum(leaves for _, leaves in divide(board, depth)) if depth > 0 else 1
