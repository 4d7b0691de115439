"""A ladder: an engine at several values of UCI_Elo against itself, and against another engine at the same.

    python bench/ladder.py --engine name=Moff cmd="python engine.py" --opponent name=Stockfish cmd=stockfish
                           --levels 1000 1400 1800 2200 2600 --each tc=10+0.1 option.Hash=16
                           --games 60 --folder ladder

Every level meets every other, and the opponent at the same level. --engine, --opponent and --each take the
keys that `bench/match.py --help` explains: name, cmd, dir, option.NAME, tc, movetime, nodes, depth, ponder.
The openings are the project's own unless --openings names others; each is played twice with colours reversed.

adjudication: a side wins after 4 moves of each side with both engines reporting it 1000 centipawns ahead or
more; weak players lose won games, so the limit is high. After move 200 the game is drawn. A clock may be
overstepped by 20 ms.

The games of each meeting are in a file in --folder; the same command line continues an interrupted ladder
with the same limits, options and openings. Ctrl-C (or SIGTERM) ends the running games and their engines.

The table gives the maximum-likelihood ratings of the engine's levels, with the mean of the nominal ones, and
the distance of each level to the next as a share of the nominal one. Source: E. Zermelo, "Die Berechnung der
Turnier-Ergebnisse als ein Maximumproblem der Wahrscheinlichkeitsrechnung", 1929. The order of neighbouring
levels is judged where their games decide it with 95 % confidence.

The exit code is 0; 1 if a game was lost by a fault or could not be played; 2 after wrong usage; 130 when
interrupted. Needs the `bench` extra.
"""

import argparse
import contextlib
import math
import random
import statistics
import sys
from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import script  # first: it puts this checkout on the path
from adjudication import Adjudication
from game import Side
from match import Match, Unplayed, complaints, parse_side, play_missing, read_played
from openings import OWN, Opening, read_openings
from score import SIGNIFICANCE, Score
from uci import EngineFault, EngineSpec, UciEngine
from workers import threads

RULE = Adjudication(resign_moves=4, resign_score=1000, longest=200)

MARGIN = 20
"""Milliseconds by which a clock may be overstepped."""

CLOSE = 1e-7
"""The relative change of a strength below which the iteration has converged."""

Meetings = dict[tuple[int, int], Score]
"""The games of two levels, the lower one first, from its side."""

Plan = list[tuple[tuple[int, int], Side, Side]]
"""The meetings to play, by two levels (twice the same one for the opponent): the sides."""


def limited(side: Side, elo: int) -> Side:
    """The engine at a level, which is part of its name."""
    options = (*side.spec.options, ("UCI_LimitStrength", "true"), ("UCI_Elo", str(elo)))
    return replace(side, spec=replace(side.spec, name=f"{side.spec.name} {elo}", options=options))


def ratings(meetings: Meetings) -> dict[int, float]:
    """The maximum-likelihood ratings of the levels that have met, with the mean of the nominal ones.

    A draw is added for each pair that has met, so that a level that has lost every game has a rating.
    """
    levels = sorted({level for pair in meetings for level in pair})
    won = dict.fromkeys(levels, 0.0)
    played: dict[tuple[int, int], float] = {}
    for (low, high), score in meetings.items():
        games = len(score.points) + 1
        points = sum(score.points.values()) + 0.5
        won[low] += points
        won[high] += games - points
        played[low, high] = played[high, low] = games
    strengths = dict.fromkeys(levels, 1.0)
    step = 1.0
    while step > CLOSE:
        step = 0.0
        for level in levels:
            rivals = ((other, games) for (one, other), games in played.items() if one == level)
            better = won[level] / sum(
                games / (strengths[level] + strengths[other]) for other, games in rivals
            )
            step = max(step, abs(better / strengths[level] - 1))
            strengths[level] = better
    found = {level: 400 * math.log10(strength) for level, strength in strengths.items()}
    shift = statistics.fmean(levels) - statistics.fmean(found.values())
    return {level: rating + shift for level, rating in found.items()}


def order(meetings: Meetings) -> str:
    """What the games between neighbouring levels say about the order of the levels."""
    levels = sorted({level for pair in meetings for level in pair})
    leaders = {(low, high): meetings[low, high].leader() for low, high in pairwise(levels)}
    wrong = [f"{low} beats {high}" for (low, high), leader in leaders.items() if leader > 0]
    if wrong:
        return f"The order is WRONG: {', '.join(wrong)}."
    undecided = [f"{low} and {high}" for (low, high), leader in leaders.items() if leader == 0]
    if undecided:
        return f"The games do not tell apart yet: {', '.join(undecided)}."
    return "The order is right."


def table(meetings: Meetings, others: dict[int, Score]) -> str:
    """The ladder: ratings, distances, and the points of every level against every other and the opponent.
    All levels must have met.
    """
    from tabulate import tabulate

    found = ratings(meetings)
    levels = sorted(found)
    distances = {low: (found[high] - found[low]) / (high - low) for low, high in pairwise(levels)}
    rows = []
    for level in levels:
        row = [str(level), f"{found[level]:.0f}"]
        row.append(f"{100 * distances[level]:.0f} %" if level in distances else "")
        for other in levels:
            pair = (min(level, other), max(level, other))
            if level == other:
                row.append("")
                continue
            points = meetings[pair].mean()
            row.append(f"{100 * (points if level < other else 1 - points):.0f} %")
        if level in others and others[level].points:
            score = others[level]
            row.append(f"{100 * score.mean():.0f} ± {100 * SIGNIFICANCE * score.error():.0f} %")
        rows.append(row)
    headers = ["level", "by games", "to the next", *map(str, levels), *(["opponent"] if others else [])]
    return f"{tabulate(rows, headers, stralign='right', disable_numparse=True)}\n\n{order(meetings)}"


def check(spec: EngineSpec) -> None:
    """Raise ValueError if an engine cannot be started or refuses its options."""
    try:
        with UciEngine(spec) as engine:
            refused = engine.refused
    except EngineFault as error:
        raise ValueError(str(error)) from None
    if refused:
        raise ValueError(refused[0])


def _options() -> argparse.Namespace:
    parser = script.parser(__doc__)
    parser.add_argument(
        "--engine", nargs="+", required=True, metavar="KEY=VALUE", help="the engine on the ladder"
    )
    parser.add_argument(
        "--opponent", nargs="+", metavar="KEY=VALUE", help="an engine that meets every level (default: none)"
    )
    parser.add_argument("--each", nargs="+", default=[], metavar="KEY=VALUE", help="keys for both engines")
    parser.add_argument(
        "--levels", nargs="+", type=int, required=True, metavar="ELO", help="values of UCI_Elo, two or more"
    )
    parser.add_argument(
        "--openings", type=Path, default=OWN, metavar="FILE", help=f"PGN or EPD (default: bench/{OWN.name})"
    )
    parser.add_argument("--seed", type=int, default=0, help="for the order of the openings (default 0)")
    parser.add_argument("--games", type=int, default=60, help="of each meeting (default 60)")
    parser.add_argument("--concurrency", type=int, default=1, help="games at a time (default 1)")
    parser.add_argument(
        "--folder", type=Path, default=Path("ladder"), help="where the games go (default: ladder)"
    )
    return parser.parse_args()


def _plan(options: argparse.Namespace) -> Plan:
    """The meetings that the options ask for. Raises ValueError."""
    levels = sorted(set(options.levels))
    if len(levels) < 2 or options.games < 1 or options.concurrency < 1:
        raise ValueError("a ladder takes at least two levels and one game")
    engine = parse_side(options.engine, options.each, 1)
    opponent = parse_side(options.opponent, options.each, 2) if options.opponent else None
    if opponent and engine.spec.name == opponent.spec.name:
        raise ValueError(f"both engines are called {engine.spec.name!r}: give them a name=")
    for level in levels:
        check(limited(engine, level).spec)
        if opponent:
            check(limited(opponent, level).spec)
    plan = [
        ((low, high), limited(engine, low), limited(engine, high)) for low, high in combinations(levels, 2)
    ]
    if opponent:
        plan += [((level, level), limited(engine, level), limited(opponent, level)) for level in levels]
    return plan


def play(
    plan: Plan, openings: list[Opening], options: argparse.Namespace, scores: dict[tuple[int, int], Score]
) -> None:
    """Play the missing games of the plan, and fill in the scores. Raises Unplayed, ValueError or OSError."""
    from tqdm import tqdm

    with tqdm(total=len(plan) * options.games, unit="game", dynamic_ncols=True) as bar:
        for levels, first, second in plan:
            match = Match((first, second), openings, options.games, RULE, MARGIN)
            path = options.folder / f"{first.spec.name} - {second.spec.name}.pgn"
            before = read_played(path, match)
            scores[levels] = before[0]
            bar.set_postfix_str(path.stem, refresh=False)
            bar.update(len(scores[levels].points))
            with (
                threads(options.concurrency) as workers,
                contextlib.closing(
                    play_missing(match, path, before, workers, None, lambda text: bar.write(text, sys.stderr))
                ) as games,
            ):
                for _ in games:
                    bar.update()


def report(plan: Plan, scores: dict[tuple[int, int], Score]) -> None:
    """Print the results so far."""
    own = {levels: score for levels, score in scores.items() if levels[0] < levels[1]}
    others = {levels[0]: score for levels, score in scores.items() if levels[0] == levels[1]}
    if all(low == high or ((low, high) in own and own[low, high].points) for (low, high), *_ in plan):
        print(table(own, others), flush=True)
    else:
        print("Some levels have not met yet.", flush=True)
    faults: Counter[tuple[str, str]] = sum((score.faults for score in scores.values()), Counter())
    warnings: Counter[str] = sum((score.warnings for score in scores.values()), Counter())
    for what, count in complaints(faults, warnings):
        print(f"{what}: {count}")


@script.command
def main() -> int:
    """Play the ladder; returns the exit code."""
    options = _options()
    script.require("bench", "tabulate", "tqdm")
    plan = _plan(options)
    openings = read_openings(options.openings, 0)
    random.Random(options.seed).shuffle(openings)
    options.folder.mkdir(parents=True, exist_ok=True)
    scores: dict[tuple[int, int], Score] = {}
    complete = True
    try:
        play(plan, openings, options, scores)
    except Unplayed as error:
        print(error, file=sys.stderr)
        complete = False
    except KeyboardInterrupt:
        report(plan, scores)
        raise KeyboardInterrupt("interrupted: the same command continues the ladder") from None
    report(plan, scores)
    return 0 if complete and not any(score.faults for score in scores.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
