"""Pairs of games between two sets of search parameters, for tuning."""

import argparse
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from selfgame import Book, Numbers, Pace, Side, play_game
from workers import Submit, run_all


def play_pairs(
    submit: Submit,
    book: Book,
    pace: Pace,
    pairs: Iterable[int],
    sides: Callable[[int], tuple[Numbers, Numbers]],
    workers: int,
) -> Iterator[tuple[int, float]]:
    """Play these game pairs; yield each as it ends: its number, and its first side's mean points."""
    jobs = (
        book.paired(number, pace, *map(Side, sides(pair)))
        for pair in pairs
        for number in (2 * pair, 2 * pair + 1)
    )
    halves: dict[int, float] = {}
    for played in run_all(submit, play_game, jobs, workers):
        pair = played.number // 2
        if pair in halves:
            yield pair, (halves.pop(pair) + played.points()) / 2
        else:
            halves[pair] = played.points()


def pace_of(options: argparse.Namespace) -> Pace:
    """The pace given by the options. Raises ValueError if one of them or --pairs is out of range."""
    if min(options.pairs, options.nodes, options.hash) < 1:
        raise ValueError("--pairs, --nodes and --hash are whole numbers from 1 up")
    if options.random_plies < 0 or not 0 <= options.jitter < 1:
        raise ValueError("--random-plies must not be negative, and --jitter must be from 0 to below 1")
    return Pace(options.nodes, options.jitter, options.random_plies, options.hash)


def pace_settings(pace: Pace) -> dict[str, Any]:
    """A pace, as recorded in the files of runs."""
    return {f"pace_{name}": value for name, value in asdict(pace).items()}


def refuse_another(path: Path, found: dict[str, Any], settings: dict[str, Any]) -> None:
    """Raise ValueError if the settings found in a file differ from those asked for."""
    for name, value in settings.items():
        if found.get(name) != value:
            raise ValueError(f"{path} is of a run with another {name}: {found.get(name)}")
