"""Pairs of games between two sets of search parameters, for tuning."""

import argparse
import json
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
    """The pace given by the options. Raises ValueError."""
    return Pace(options.nodes, options.jitter, options.random_plies, options.hash)


def pace_settings(pace: Pace) -> dict[str, Any]:
    """A pace, as recorded in the files of runs."""
    return {f"pace_{name}": value for name, value in asdict(pace).items()}


class Log:
    """The file of a run in JSON lines: the settings, then each pair with its mean points."""

    def __init__(self, path: Path, settings: dict[str, Any]) -> None:
        """Raises ValueError if the file exists but holds another run or none, or OSError."""
        self.points: dict[int, float] = {}
        """Mean points by pair."""
        held = path.read_bytes() if path.exists() else b""
        # An incomplete last line was being written when the run ended.
        size = held.rfind(b"\n") + 1
        if held:
            self._restore(path, held[:size].split(b"\n")[:-1], settings)
        self._file = path.open("ab")
        self._file.truncate(size)
        if not size:
            self._write(settings)

    def __enter__(self) -> "Log":
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def add(self, pair: int, points: float) -> None:
        """Add a pair."""
        self.points[pair] = points
        self._write({"pair": pair, "points": points})

    def _write(self, entry: dict[str, Any]) -> None:
        self._file.write(json.dumps(entry).encode() + b"\n")
        self._file.flush()

    def _restore(self, path: Path, lines: list[bytes], settings: dict[str, Any]) -> None:
        try:
            found = dict(json.loads(lines[0]))
        except (IndexError, TypeError, ValueError):
            raise ValueError(f"{path} holds no run") from None
        for name, value in settings.items():
            if found.get(name) != value:
                raise ValueError(f"{path} is of a run with another {name}: {found.get(name)}")
        for number, line in enumerate(lines[1:], 2):
            try:
                entry = json.loads(line)
                pair, points = int(entry["pair"]), float(entry["points"])
            except (KeyError, TypeError, ValueError):
                pair, points = -1, -1.0
            if pair < 0 or 4 * points not in range(5):
                raise ValueError(f"{path}, line {number}: this is no pair of games")
            self.points[pair] = points
