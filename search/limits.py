"""What ends a search: depth, nodes, time, or a word from outside."""

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
