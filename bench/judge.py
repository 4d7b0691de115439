"""How well networks expect the results of games.

    python bench/selfplay.py --positions games --network older.net --nodes 500 --minutes 15
    python bench/judge.py games search/moff.net run/net.moff

For each network, the mean squared error of the results that it expects in the positions of the games that a
network can learn from. For all but the first, the difference from it in millionths, with its 95 % interval.
Between networks that have learnt as much from results, about ten millionths less were worth an Elo; one that
has learnt more from them expects them better, but need not play better (bench/RESULTS.md).

Before that, the network's values are multiplied by what fits the results best, for each of eight ranges of
numbers of pieces: how much an advantage is worth in an ending says little about the strength of a network.

The games should be those of a network that is not among these, older than all of them: one that chose the
moves by its own values may expect too much of them. They should not have been learnt from, and be played with
enough nodes for results that mean something. Thirty thousand tell 6 Elo apart and need 0.7 GB of memory.

The exit code is 0; 2 after wrong usage or for files that cannot be used; 130 when interrupted. Damaged blocks
are reported and skipped. Needs the `train` extra.
"""

import os
import sys
from pathlib import Path

import script  # first: it puts this checkout on the path

from search.nnue import network

try:
    import numpy as np
    import numpy.typing as npt
    from dataset import Blocks, Filters, Rows, batches
    from learner import Learner
    from nets import batch_of, dequantised
    from tabulate import tabulate
except ImportError as error:
    script.cannot_begin(error, "train", __doc__ or "")

BANDS = 8
"""Of numbers of pieces."""

FEWEST = 10
"""Blocks of games, which the interval needs: with five it holds the truth in 85 % of cases."""

STEPS = 20
"""Of Gauss and Newton's method, to fit a factor."""

Numbers = npt.NDArray[np.float64]


def errors(weights: network.Weights, games: list[Rows]) -> Numbers:
    """The squared error of each position, by a network."""
    sizes, numbers = dequantised(weights)
    learner = Learner(sizes, numbers, np.zeros((2, 0), np.float32), os.cpu_count() or 1)
    even = np.ones(33, np.float32)
    values = np.concatenate([learner.values(batch_of(rows, 0.0, sizes.outputs, even)) for rows in games])
    bands = np.concatenate([(rows.pieces - 1) * BANDS // 32 for rows in games])
    points = np.concatenate([rows.points for rows in games]).astype(np.float64)
    found = np.empty(len(points))
    for band in range(BANDS):
        chosen = bands == band
        found[chosen] = fitted(values[chosen].astype(np.float64), points[chosen])
    return found


def fitted(values: Numbers, points: Numbers) -> Numbers:
    """The squared errors of values times the factor that makes them least."""
    factor = 0.0  # from further out, steps that are too large can lead away
    for _ in range(STEPS):
        expected = 1 / (1 + np.exp(-factor * values))
        slopes = values * expected * (1 - expected)
        square = float(slopes @ slopes)
        factor += float((points - expected) @ slopes) / square if square else 0.0
    result: Numbers = (1 / (1 + np.exp(-factor * values)) - points) ** 2
    return result


def difference(ours: Numbers, theirs: Numbers, games: list[Rows]) -> str:
    """The difference of the mean errors and its interval, from those of the blocks."""
    ends = np.cumsum([0, *map(len, games)])[:-1]
    lengths = np.array([len(rows) for rows in games])
    sums = np.add.reduceat(ours - theirs, ends)
    mean = sums.sum() / lengths.sum()
    squares = ((sums - mean * lengths) ** 2).sum() * len(games) / (len(games) - 1)
    spread = np.sqrt(squares) / lengths.sum()
    return f"{mean * 1e6:+.0f} ± {1.96 * spread * 1e6:.0f}"


@script.command
def main(arguments: list[str] | None = None) -> int:
    """Judge the networks; returns the exit code."""
    parser = script.parser(__doc__ or "")
    parser.add_argument("games", type=Path, help="a file of bench/selfplay.py, or a folder of them")
    parser.add_argument("networks", nargs="+", metavar="NETWORK", help="a network file")
    options = parser.parse_args(arguments)
    networks = [network.read(path) for path in options.networks]
    places = [place for place in Blocks([options.games]).places if place.usable]
    if len(places) < FEWEST:
        raise ValueError(f"{options.games} holds fewer than ten blocks of games")
    games = [rows for place in places for rows in batches([place], place.usable, 0.0, Filters())]
    found = [errors(weights, games) for weights in networks]
    table = [[path, f"{own.mean():.6f}"] for path, own in zip(options.networks, found, strict=True)]
    for row, own in zip(table[1:], found[1:], strict=True):
        row.append(difference(own, found[0], games))
    heads = ["network", "error", "against the first, millionths (less is better)"]
    print(tabulate(table, heads, disable_numparse=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())
