"""Playing weaker than one can: a limit of nodes, and a judgement that is off by chance.

A limit of nodes alone would leave a tactician who errs nowhere within his horizon. So every evaluation is off
by an amount that depends on the position and the game alone: the same position is misjudged in the same way
wherever the search meets it, as a player would, and no move comes from a sudden throw of dice. The idea of
blurring the evaluation by a hash of the position is that of Pawel Koziol's Rodent.
"""

import math
from bisect import bisect_right
from typing import NamedTuple


class Strength(NamedTuple):
    """Nodes for a move, and by how many centipawns an evaluation is off at most."""

    nodes: int
    blur: int


CALIBRATION = (
    (600, Strength(62, 520)),
    (800, Strength(72, 335)),
    (1000, Strength(89, 208)),
    (1200, Strength(112, 121)),
    (1400, Strength(190, 86)),
    (1800, Strength(767, 26)),
    (2200, Strength(2859, 0)),
    (2600, Strength(12600, 0)),
    (3000, Strength(80000, 0)),
)
"""What plays at which Elo, by games (bench/RESULTS.md)."""

WEAKEST = CALIBRATION[0][0]
STRONGEST = CALIBRATION[-1][0]


def strength(elo: int) -> Strength:
    """What plays at a rating from WEAKEST to STRONGEST: between the calibrated ones the blur changes evenly,
    and the nodes by even factors. Raises ValueError beyond them.
    """
    if not WEAKEST <= elo <= STRONGEST:
        raise ValueError(f"an Elo has to be from {WEAKEST} to {STRONGEST}, not {elo}")
    above = min(bisect_right(CALIBRATION, elo, key=lambda entry: entry[0]), len(CALIBRATION) - 1)
    (low, weak), (high, strong) = CALIBRATION[above - 1 : above + 1]
    part = (elo - low) / (high - low)
    nodes = math.exp((1 - part) * math.log(weak.nodes) + part * math.log(strong.nodes))
    return Strength(round(nodes), round((1 - part) * weak.blur + part * strong.blur))
