"""What ends a search: depth, nodes, time, or a word from outside; and which moves it is about."""

from typing import NamedTuple


class Limits(NamedTuple):
    """The limits of one search; what is None does not limit. Times are in milliseconds."""

    depth: int | None = None
    nodes: int | None = None
    mate: int | None = None
    """Moves: enough once a mate in so many is found; each iteration looks for one besides."""
    movetime: int | None = None
    """Time for this move."""
    time: tuple[int | None, int | None] = (None, None)
    """What White and Black have left on the clock."""
    increment: tuple[int, int] = (0, 0)
    """What White and Black gain with every move."""
    movestogo: int | None = None
    """Moves to the next time control; None for the rest of the game."""
    infinite: bool = False
    """Search, and hold the result back, until stopped."""
    ponder: bool = False
    """The last move of the position is only expected: no clock runs, and the result is held back, until
    `Search.ponderhit` says that it has been played.
    """
    searchmoves: tuple[int, ...] = ()
    """The root moves to search, packed; all of them if empty. What is no legal move is passed over."""
    lines: int = 1
    """How many of the best moves to find, each with its score and principal variation."""
    overhead: int = 20
    """What a move takes on its way to the clock, kept back of the time."""
    nodestime: int = 0
    """If not 0, the clock is counted in nodes, so many for a millisecond: games are then the same every
    time.
    """
