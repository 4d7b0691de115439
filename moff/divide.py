"""Perft in pieces: a count of hours that can be watched and ended at any time."""

from collections.abc import Callable, Iterator

from x88 import build
from x88.board import Board
from x88.movegen import legal_moves
from x88.perft import leaves_under

DEEPEST = 64
"""Plies; no count of more would end."""

PIECE = 10**6 if build.compiled else 10**4
"""The estimated positions that are counted without a pause: a fraction of a second."""

BRANCHES = 20
"""The estimate takes any position to have at least so many moves: many may follow on few."""


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
        for count, share in _pieces(board, move, len(moves), depth, playing, 1.0):
            leaves += count
            done += share
            if on_piece is not None:
                on_piece(count, (number + done) / len(moves))
        yield move, leaves


def _pieces(
    board: Board, move: int, siblings: int, depth: int, playing: bool, share: float
) -> Iterator[tuple[int, float]]:
    """The leaves under a move, one of so many siblings, in pieces, each with its part of the share."""
    board.make(move)
    replies = legal_moves(board)
    busiest = max(siblings, len(replies), BRANCHES)
    if depth < 3 or busiest ** (depth - 1 if playing else depth - 2) <= PIECE:
        board.unmake()
        yield leaves_under(board, move, depth, playing), share
        return
    for reply in replies:
        yield from _pieces(board, reply, len(replies), depth - 1, playing, share / len(replies))
    board.unmake()


def perft(board: Board, depth: int) -> int:
    """The number of leaves of the tree of legal moves at `depth` plies."""
    return sum(leaves for _, leaves in divide(board, depth)) if depth > 0 else 1
