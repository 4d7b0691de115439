"""The levels of play for people: each has a name, an Elo, and a sentence on what to expect."""

from typing import NamedTuple

from moff.messages import echo, either
from search.strength import STRONGEST, WEAKEST


class Level(NamedTuple):
    """A level of play. Its Elo is None at full strength."""

    name: str
    elo: int | None
    text: str


LEVELS = (
    Level("First moves", 250, "Leaves pieces hanging and misses most captures, even mate in one."),
    Level("Newcomer", 400, "Takes a piece when it sees one, and often forgets to take back."),
    Level("Beginner", 600, "Takes back most of the time, but walks into attacks from across the board."),
    Level("Learner", 800, "Finds the near captures; pieces still hang when much is going on."),
    Level("Casual", 1000, "Misses something now and then, and hardly ever mate in one."),
    Level("Steady", 1200, "Takes what hangs and falls for combinations of two or three moves."),
    Level("Club", 1500, "Makes few blunders, but small mistakes all the time."),
    Level("Tough", 1800, "Sees most combinations; good plans beat it."),
    Level("Relentless", 2200, "Makes mistakes that take a strong player to punish."),
    Level("Merciless", 2600, "Beats nearly everybody."),
    Level("Full strength", None, "Plays as well as it can."),
)
"""From the weakest to the strongest."""

DEFAULT_LEVEL = LEVELS[4]
"""The opponent of who asks for none."""


def parse(text: str) -> int | None:
    """The Elo of a level's name or of a number, None for full strength. Raises ValueError."""
    for level in LEVELS:
        if text.lower() == level.name.lower():
            return level.elo
    if text.isascii() and text.isdigit() and len(text) <= len(str(STRONGEST)):
        if WEAKEST <= int(text) <= STRONGEST:
            return int(text)
    names = either([level.name for level in LEVELS])
    raise ValueError(f"{echo(text)} is neither an Elo from {WEAKEST} to {STRONGEST} nor a level: {names}")
