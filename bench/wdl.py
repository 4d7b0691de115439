"""Fit the model of win, draw and loss (search/wdl.py) to the results of self-play games.

    python bench/wdl.py pile

A win has the probability 1 / (1 + exp((EVEN_WIN - score) / SPREAD)), a loss the same with the negated score.
Both numbers are fitted by maximum likelihood to all positions after the openings whose score is within 1500,
and then, to see how they change in the course of a game, to ranges of --step moves. Scores are normalised if
EVEN_WIN is 100 at about move 32; the NORMAL_PAWN of search/score.py that would achieve this is printed. After
a change of it, EVEN_WIN and SPREAD have to be multiplied by the old one and divided by the new one.

The games are those of bench/selfplay.py, and should be by the version that the model is for.

The exit code is 0; 2 after wrong usage; 130 when interrupted. Needs the `tuning` extra.
"""

import sys
from pathlib import Path

import script  # first: it puts this checkout on the path

try:
    import numpy as np
    import numpy.typing as npt
    from scipy import optimize
    from tabulate import tabulate
except ImportError as error:
    script.cannot_begin(error, "tuning", __doc__ or "")

from dataset import Blocks, Table

from search.score import NORMAL_PAWN

BOUND = 1500
"""Positions with scores beyond this are decided, and say nothing about the parameters."""

LAST = 100
"""Moves after this one are counted with it."""

MIDDLE = 32
"""The move at which scores are normalised."""

LEAST = 1000
"""The positions needed for a fit."""

Counts = npt.NDArray[np.int64]


def count(pile: Blocks) -> Counts:
    """The number of positions by move up to LAST, score + BOUND and result (lost, drawn, won)."""
    counts = np.zeros((LAST + 1, 2 * BOUND + 1, 3), np.int64)
    for place in pile.places:
        table = Table(place)
        scores = np.rint(table.scores * 100 / NORMAL_PAWN).astype(np.int64)
        kept = np.abs(scores) <= BOUND
        moves = np.minimum(table.plies // 2 + 1, LAST)
        np.add.at(counts, (moves[kept], scores[kept] + BOUND, table.results[kept]), 1)
    return counts


def fit(counts: Counts) -> tuple[float, float]:
    """EVEN_WIN and SPREAD for positions by score and result. Raises ValueError if there are too few."""
    if counts.sum() < LEAST:
        raise ValueError(f"{counts.sum()} positions are too few: a fit needs {LEAST}")
    scores = np.arange(-BOUND, BOUND + 1)

    def unlikelihood(numbers: npt.NDArray[np.float64]) -> float:
        even, spread = numbers
        win, loss = (1 / (1 + np.exp(np.clip((even - sign * scores) / spread, -50, 50))) for sign in (1, -1))
        chances = np.maximum(np.stack([loss, 1 - win - loss, win], 1), 1e-9)
        return -float((counts * np.log(chances)).sum() / counts.sum())

    found = optimize.minimize(
        unlikelihood, np.array([100.0, 100.0]), method="Nelder-Mead", bounds=[(1, 1000), (1, 1000)]
    )
    even, spread = found.x
    return float(even), float(spread)


def report(counts: Counts, step: int) -> str:
    """Both parameters, by move and for all positions, as text. Raises ValueError if there are too few."""
    rows = []
    for first in range(1, LAST + 1, step):
        part = counts[first : first + step].sum(0)
        if part.sum() >= LEAST:
            rows.append((f"{first} to {min(first + step - 1, LAST)}", part.sum(), *fit(part)))
    rows.append(("all", counts.sum(), *fit(counts.sum(0))))
    headers = ["moves", "positions", "EVEN_WIN", "SPREAD"]
    table = str(tabulate(rows, headers, floatfmt=".1f", colalign=("left", *["right"] * 3)))
    half = step // 2
    middle = counts[max(1, MIDDLE - half) : MIDDLE + half + 1].sum(0)
    if middle.sum() < LEAST:
        return table
    even = fit(middle)[0]
    change = f"NORMAL_PAWN should be {NORMAL_PAWN * even / 100:.0f}, not {NORMAL_PAWN}"
    return f"{table}\n\nmove {MIDDLE}: EVEN_WIN {even:.1f}; {change}"


@script.command
def main(arguments: list[str] | None = None) -> int:
    """Print the fit; returns the exit code."""
    parser = script.parser(__doc__ or "")
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="files of games, or folders")
    parser.add_argument("--step", type=script.positive, default=10, metavar="N", help="moves (default 10)")
    options = parser.parse_args(arguments)
    print(report(count(Blocks(options.paths)), options.step))
    return 0


if __name__ == "__main__":
    sys.exit(main())
