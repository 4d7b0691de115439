"""A ladder: an engine at several values of UCI_Elo against itself, and against another limited to the same.

    python bench/ladder.py --engine name=Moff cmd="python engine.py" --opponent name=Stockfish cmd=stockfish
                           --levels 1000 1400 1800 2200 2600 --each tc=10+0.1 option.Hash=16
                           --openings ../shared/data/books/8moves_v3.pgn --games 60 --folder ladder

Every level meets every other, and the opponent at its own number. --engine, --opponent and --each take what
those of bench/match.py take. The games of each meeting are a file in --folder, and a ladder that was
interrupted goes on where it was.

The table gives the ratings that explain the games among the engine's own levels best, with the mean of the
nominal ones: whether their order is right, and how much of its nominal distance each level has to the next.
Source: E. Zermelo, "Die Berechnung der Turnier-Ergebnisse als ein Maximumproblem der
Wahrscheinlichkeitsrechnung", 1929.

The exit code is 0, or 1 if a game was lost by a fault or could not be played, or 2 after wrong usage. Needs
the `bench` extra.
"""

import argparse
import contextlib
import math
import random
import statistics
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

from match import (
    FAULTS,
    SIGNIFICANCE,
    Adjudication,
    Match,
    Played,
    Score,
    Side,
    Unplayed,
    crew_for,
    interrupt_on_termination,
    parse_side,
    play,
    read_openings,
    read_played,
)
from tabulate import tabulate
from tqdm import tqdm
from uci import EngineFault, EngineSpec, UciEngine

RULE = Adjudication(resign_moves=4, resign_score=1000, longest=200)
"""Weak players lose won games: only what is over is given up."""

CLOSE = 1e-7
"""The step in parts of a strength below which the likeliest ratings are found."""

Meetings = dict[tuple[int, int], Score]
"""The games of two levels, the lower one first, from its side."""


def limited(side: Side, elo: int) -> Side:
    """The engine at a level, named by it."""
    options = (*side.spec.options, ("UCI_LimitStrength", "true"), ("UCI_Elo", str(elo)))
    return replace(side, spec=replace(side.spec, name=f"{side.spec.name} {elo}", options=options))


def ratings(meetings: Meetings) -> dict[int, float]:
    """The likeliest ratings of the levels that have met, with the mean of their nominal ones.

    A drawn game more is counted for each pair that has met, so that a level that has lost all has a rating.
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


def table(meetings: Meetings, others: dict[int, Score]) -> str:
    """The ladder: ratings, distances, and the points of every level against every other and the opponent.
    All levels have to have met.
    """
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
    order = "right" if all(found[low] < found[high] for low, high in pairwise(levels)) else "WRONG"
    return f"{tabulate(rows, headers, stralign='right', disable_numparse=True)}\n\nThe order is {order}."


def check(spec: EngineSpec) -> None:
    """Raises ValueError if an engine cannot be started, or not limited so."""
    try:
        with UciEngine(spec) as engine:
            told = engine.refused
    except EngineFault as error:
        raise ValueError(str(error)) from None
    if told:
        raise ValueError(told[0])


def play_missing(match: Match, path: Path, score: Score, size: int, concurrency: int) -> Iterator[Played]:
    """Play what is missing of a meeting, of which the first `size` bytes of the file are whole games."""
    with crew_for(None, concurrency) as crew, open(path, "ab") as file:
        file.truncate(size)
        for played in play(match, score, crew, None):
            file.write(played.pgn.encode())
            file.flush()
            yield played


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--engine", nargs="+", required=True, metavar="KEY=VALUE", help="whose ladder it is")
    parser.add_argument("--opponent", nargs="+", metavar="KEY=VALUE", help="who meets every level (nobody)")
    parser.add_argument("--each", nargs="+", default=[], metavar="KEY=VALUE", help="what holds for both")
    parser.add_argument("--levels", nargs="+", type=int, required=True, metavar="ELO")
    parser.add_argument("--openings", type=Path, required=True, metavar="FILE", help="a PGN or EPD file")
    parser.add_argument("--seed", type=int, default=0, help="for the order of the openings")
    parser.add_argument("--games", type=int, default=60, help="of each pair (usually 60)")
    parser.add_argument("--concurrency", type=int, default=1, help="games at a time (usually 1)")
    parser.add_argument("--folder", type=Path, default=Path("ladder"), help="where the games go (ladder)")
    return parser.parse_args()


def main() -> int:
    """Play the ladder; returns the exit code."""
    options = _options()
    interrupt_on_termination()
    complete = True
    levels = sorted(set(options.levels))
    meetings: Meetings = {}
    others: dict[int, Score] = {}
    try:
        if len(levels) < 2 or options.games < 1 or options.concurrency < 1:
            raise ValueError("a ladder takes two levels and a game at least")
        engine = parse_side(options.engine, options.each, 1)
        opponent = parse_side(options.opponent, options.each, 2) if options.opponent else None
        if opponent and engine.spec.name == opponent.spec.name:
            raise ValueError(f"both engines are called {engine.spec.name!r}: give them a name=")
        for level in levels:
            check(limited(engine, level).spec)
            if opponent:
                check(limited(opponent, level).spec)
        openings = read_openings(options.openings, 0)
        random.Random(options.seed).shuffle(openings)
        options.folder.mkdir(parents=True, exist_ok=True)
        plan = [
            ((low, high), limited(engine, low), limited(engine, high))
            for low, high in combinations(levels, 2)
        ]
        if opponent:
            plan += [((level, level), limited(engine, level), limited(opponent, level)) for level in levels]
        remarks: set[str] = set()
        with (
            tqdm(total=len(plan) * options.games, unit="game", dynamic_ncols=True) as bar,
            contextlib.suppress(KeyboardInterrupt),
        ):
            for (low, high), first, second in plan:
                match = Match((first, second), openings, options.games, RULE, 20)
                path = options.folder / f"{first.spec.name} - {second.spec.name}.pgn"
                score, size = read_played(path, match)
                if low == high:
                    others[low] = score
                else:
                    meetings[low, high] = score
                if path.exists() and path.stat().st_size > size:
                    bar.write(f"{path}: the last game is torn, and dropped", file=sys.stderr)
                bar.set_postfix_str(path.stem, refresh=False)
                bar.update(len(score.points))
                for played in play_missing(match, path, score, size, options.concurrency):
                    bar.update()
                    for remark in {*played.remarks} - remarks:
                        remarks.add(remark)
                        bar.write(remark, file=sys.stderr)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    except Unplayed as error:
        print(error, file=sys.stderr)
        complete = False
    if len([score for score in meetings.values() if score.points]) == math.comb(len(levels), 2):
        print(table(meetings, others))
    else:
        print("some levels have not met yet: start it again to go on", file=sys.stderr)
    scores = [*meetings.values(), *others.values()]
    faults: Counter[tuple[str, str]] = sum((score.faults for score in scores), Counter())
    warnings: Counter[str] = sum((score.warnings for score in scores), Counter())
    for (name, kind), count in sorted(faults.items()):
        print(f"lost by {FAULTS[kind]}: {name}: {count}")
    for name, count in sorted(warnings.items()):
        print(f"wrong variations: {name}: {count}")
    return 0 if complete and not faults else 1


if __name__ == "__main__":
    sys.exit(main())
