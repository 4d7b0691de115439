"""The limits of a search: depth, nodes, time, mate distance and root moves."""

from operator import index
from typing import NamedTuple

MAX_LIMIT = 1 << 53
"""The largest number of a limit."""


class Limits(NamedTuple):
    """The limits of one search. None means no limit. Times are in milliseconds."""

    depth: int | None = None
    nodes: int | None = None
    mate: int | None = None
    """Stop as soon as a mate in this many moves is found. Each iteration makes an extra search for one."""
    movetime: int | None = None
    """Time for this move."""
    time: tuple[int | None, int | None] = (None, None)
    """Remaining time of White and Black."""
    increment: tuple[int, int] = (0, 0)
    """Increment per move of White and Black."""
    movestogo: int | None = None
    """Moves to the next time control; None for the rest of the game."""
    infinite: bool = False
    """Search until stopped, and withhold the result until then."""
    ponder: bool = False
    """Search on the opponent's time, without limit or result until `Search.ponderhit` or `Search.stop`."""
    searchmoves: tuple[int, ...] = ()
    """The root moves to search, packed; all legal moves if empty. Illegal moves are ignored."""
    lines: int = 1
    """The number of best lines to find (MultiPV), each with its score and principal variation."""
    overhead: int = 0
    """Milliseconds reserved in each move for communication with the GUI."""
    nodestime: int = 0
    """If not 0, nodes per millisecond: time is then measured in nodes, which makes games reproducible."""


def check(limits: Limits) -> None:
    """Raise TypeError for limits that are no whole numbers, and ValueError for those out of range."""
    if not isinstance(limits, Limits):
        raise TypeError(f"{limits!r:.80} are not limits")
    for pair in (limits.time, limits.increment):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ValueError(f"{pair!r:.80} is not a pair: of White and of Black")
    counted = (limits.depth, limits.nodes, limits.mate, limits.movestogo, limits.lines)
    for number in (*counted, limits.overhead, limits.nodestime):
        if number is not None and not 0 <= index(number) <= MAX_LIMIT:
            raise ValueError(f"{number} is not a limit from 0 to {MAX_LIMIT}")
    for time in (limits.movetime, *limits.time, *limits.increment):
        if time is not None and not -MAX_LIMIT <= index(time) <= MAX_LIMIT:
            raise ValueError(f"{time} is not a number of milliseconds")
    for move in limits.searchmoves:
        index(move)
