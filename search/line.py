"""Lines of play, and the reports of a search."""

from typing import NamedTuple

UPPER_BOUND = "upper"
LOWER_BOUND = "lower"


class Line(NamedTuple):
    """A principal variation of packed moves, its score, and the depth of the iteration that found it."""

    score: int
    pv: list[int]
    depth: int
    bound: str = ""
    """UPPER_BOUND if the iteration failed low, LOWER_BOUND if it failed high, else empty."""


class Report(NamedTuple):
    """The result of an iteration: depth in plies, score in normalised centipawns (`search.score`) for the
    side to move, time in milliseconds, packed moves.
    """

    depth: int
    seldepth: int
    score: int
    mate: int | None
    """Moves to mate, negative if the side to move is mated, 0 if checkmated; None without a mate score."""
    nodes: int
    elapsed: float
    hashfull: int
    """Permille of the transposition table that hold entries of this search."""
    pv: list[int]
    line: int = 1
    """The MultiPV number, 1 for the best line."""
    bound: str = ""
    """As in `Line`."""
    tb_hits: int = 0
    """Tablebase hits."""


class Progress(NamedTuple):
    """The root move being searched, packed, and its number in move order, from 1."""

    depth: int
    move: int
    number: int


class Statistics(NamedTuple):
    """Periodic statistics between reports: depths in plies, nodes, time in milliseconds."""

    depth: int
    """The current iteration."""
    seldepth: int
    nodes: int
    elapsed: float
    hashfull: int
    tb_hits: int


class Result(NamedTuple):
    """The best move and the ponder move, packed, NO_MOVE (0) if there is none; and the nodes searched."""

    move: int
    reply: int
    nodes: int
