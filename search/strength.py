"""Limited playing strength: fewer nodes, and noise in the evaluation.

A node limit alone makes a player who never errs within the horizon, so every evaluation gets noise. This
depends only on the position and the game: the search misjudges a position in the same way wherever it meets
it, as a human would, and no move is random. The idea of blurring the evaluation by a hash of the position is
from Pawel Koziol's Rodent.
"""

import math
from bisect import bisect_right
from typing import NamedTuple


class Strength(NamedTuple):
    """The node limit of a move, and the maximum noise of an evaluation in centipawns."""

    nodes: int
    blur: int


CALIBRATION = (
    (600, Strength(83, 240)),
    (800, Strength(96, 179)),
    (1000, Strength(118, 130)),
    (1200, Strength(155, 101)),
    (1400, Strength(245, 76)),
    (1800, Strength(788, 32)),
    (2200, Strength(2270, 7)),
    (2600, Strength(6720, 0)),
    (3000, Strength(22600, 0)),
    (3200, Strength(42400, 0)),
)
"""The settings for some Elo ratings, calibrated by games (bench/RESULTS.md)."""

WEAKEST = CALIBRATION[0][0]
STRONGEST = CALIBRATION[-1][0]


def strength(elo: int) -> Strength:
    """The settings for an Elo from WEAKEST to STRONGEST, interpolated: linearly in the noise, logarithmically
    in the nodes. Raises ValueError outside that range.
    """
    if not WEAKEST <= elo <= STRONGEST:
        raise ValueError(f"an Elo must be from {WEAKEST} to {STRONGEST}, not {elo}")
    above = min(bisect_right(CALIBRATION, elo, key=lambda entry: entry[0]), len(CALIBRATION) - 1)
    (low, weak), (high, strong) = CALIBRATION[above - 1 : above + 1]
    part = (elo - low) / (high - low)
    nodes = math.exp((1 - part) * math.log(weak.nodes) + part * math.log(strong.nodes))
    return Strength(round(nodes), round((1 - part) * weak.blur + part * strong.blur))
