"""The players of a game: a person or the engine."""

from dataclasses import dataclass

from moff import __version__
from search.limits import Limits
from search.strength import strength
from x88.piece import WHITE


@dataclass(frozen=True)
class Person:
    """A person who plays, with a clock as `moff.game.time_control` reads it, or without."""

    name: str = "Player"
    clock: Limits | None = None


@dataclass(frozen=True)
class Engine:
    """The engine as a player: its limits, perhaps a clock (`time_control`), and its Elo, None for full."""

    limits: Limits
    elo: int | None = None
    name: str = f"Moff {__version__}"

    def __post_init__(self) -> None:
        """Raises ValueError for limits that might never let it move, and for an Elo out of range."""
        limits = self.limits
        ends = (limits.depth, limits.nodes, limits.movetime, limits.time[WHITE])
        if limits.infinite or limits.ponder or ends == (None,) * 4:
            raise ValueError(f"{limits} might never let the engine move")
        if self.elo is not None:
            strength(self.elo)

    @property
    def clock(self) -> Limits | None:
        """Its clock, None if it plays without one."""
        return None if self.limits.time[WHITE] is None else self.limits


Player = Person | Engine
