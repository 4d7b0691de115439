"""Names of openings by position, however it was reached.

The names are those of lichess's collection "chess-openings" (CC0, github.com/lichess-org/chess-openings), in
openings.tsv beside this file: a line for each position, with its Polyglot key, its code in the Encyclopaedia
of Chess Openings and its name. bench/names.py makes that file.
"""

import functools
import os
from typing import NamedTuple

from x88.board import Board
from x88.notation import fen, pgn

FILE = os.path.join(os.path.dirname(__file__), "openings.tsv")
_DIGITS = 16


class Opening(NamedTuple):
    """An opening: its code in the Encyclopaedia of Chess Openings, and its name."""

    eco: str
    name: str


def find(position: Board | str) -> Opening | None:
    """The opening of a position, a board or a FEN, of which the move counters do not matter; None if this
    position has no name: the opening of a game is that of its last position with one. Raises ValueError for
    a bad FEN.
    """
    board = position if isinstance(position, Board) else fen.parse(position, chess960=True)
    line = _lines().get(f"{board.key:0{_DIGITS}x}")
    return Opening(*line.split("\t")[1:]) if line is not None else None


def of_game(game: pgn.Game) -> Opening | None:
    """The opening of a game: that of its last position with a name."""
    return next(filter(None, (find(move.fen) for move in reversed(game.moves))), None)


@functools.cache
def _lines() -> dict[str, str]:
    """The lines of the file by key, read on first use."""
    with open(FILE, encoding="utf-8") as stream:
        return {line[:_DIGITS]: line for line in stream.read().splitlines()}
