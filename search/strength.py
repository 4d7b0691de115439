"""Limited playing strength: fewer nodes, noise in the evaluation, and moves that are overlooked.

A node limit alone makes a player who never errs within the horizon, so every evaluation gets noise. This
depends only on the position and the game: the search misjudges a position in the same way wherever it meets
it, as a human would, and no move is random. The idea of blurring the evaluation by a hash of the position is
from Pawel Koziol's Rodent. Such a player still takes whatever hangs. A beginner does not see it, so the
levels below 1200 also overlook moves (`search.oversight`), the lowest ones most of the captures on the board.
"""

import math
from bisect import bisect_right
from typing import NamedTuple


class Strength(NamedTuple):
    """The node limit of a move, the maximum noise of an evaluation in centipawns, and the odds of oversights
    (`search.oversight`).
    """

    nodes: int
    blur: int
    oversight: int = 0


CALIBRATION = (
    (250, Strength(30, 300, 3300)),
    (400, Strength(40, 260, 1150)),
    (600, Strength(60, 240, 420)),
    (800, Strength(80, 185, 75)),
    (1000, Strength(110, 135, 15)),
    (1200, Strength(155, 101)),
    (1400, Strength(245, 76)),
    (1800, Strength(788, 32)),
    (2200, Strength(2270, 7)),
    (2600, Strength(6720, 0)),
    (3000, Strength(22600, 0)),
    (3200, Strength(42400, 0)),
)
"""The settings for some Elo ratings, calibrated by games (bench/RESULTS.md)."""

MATING_NODES = 500
"""The least node limit against a bare king, where nothing is overlooked and no noise is added, so that every
level mates.
"""

WEAKEST = CALIBRATION[0][0]
STRONGEST = CALIBRATION[-1][0]


def strength(elo: int) -> Strength:
    """The settings for an Elo from WEAKEST to STRONGEST, interpolated: logarithmically in the nodes, linearly
    in the others. Raises ValueError outside that range.
    """
    if not WEAKEST <= elo <= STRONGEST:
        raise ValueError(f"an Elo must be from {WEAKEST} to {STRONGEST}, not {elo}")
    above = min(bisect_right(CALIBRATION, elo, key=lambda entry: entry[0]), len(CALIBRATION) - 1)
    (low, weak), (high, strong) = CALIBRATION[above - 1 : above + 1]
    part = (elo - low) / (high - low)
    nodes = math.exp((1 - part) * math.log(weak.nodes) + part * math.log(strong.nodes))
    blur, oversight = (
        round((1 - part) * most + part * least) for most, least in zip(weak[1:], strong[1:], strict=True)
    )
    return Strength(round(nodes), blur, oversight)
