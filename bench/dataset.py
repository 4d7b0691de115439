"""The positions of self-play games: described, checked, and in batches for bench/train.py.

    python bench/dataset.py pile --check
    python bench/dataset.py pile games.moff --stats

The files are those of bench/selfplay.py; a folder stands for all in it. Damaged blocks are reported and
skipped, and a block that occurs twice counts once. An unfinished one at the end of a file is no damage.
--check replays every game. --stats shows results, scores, phases, and the share of each kind of position.
What trains a network are the positions that are not in check, whose best move neither captures nor promotes,
that repeat no position of the game, and whose score is no mate.

Results go to standard output, progress and errors to standard error. The exit code is 0; 1 if a file is
damaged; 2 after wrong usage; 130 when interrupted. --stats needs NumPy (the `tuning` extra).
"""

import json
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import script  # first: it puts this checkout on the path
from gamefile import SUFFIX, Place, read, scan

from moff.messages import counted
from search import replay
from search.replay import FIELDS, ROWS, Mixer
from search.score import LONGEST_MATE
from search.selfplay import HEAD
from x88.notation import chess960

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MIXED = 200_000_000
"""Positions that a stream holds, as long as there are so many, to take from them at random; 6.4 GB.

It keeps the positions of a game, which have much in common, so far apart that a network cannot learn the
games that it sees just now rather than chess (bench/RESULTS.md).
"""

MOST_WEIGHT = 4.0
"""The largest weight of a position by its number of pieces, over the mean."""


@dataclass(frozen=True)
class Filters:
    """Positions to leave out besides those always left out; scores and plies are those of `Mixer`."""

    least_ply: int = 0
    most_score: int = LONGEST_MATE - 1


EVERY = Filters()


class Blocks:
    """The intact blocks of files and folders, each once, as they are now. Damage goes to standard error."""

    def __init__(self, paths: Iterable[Path], ends: dict[str, int] | None = None) -> None:
        """With `ends`, the files only up to these offsets. Raises ValueError if there is no file of games or
        one of them is something else, or OSError.
        """
        self.places: list[Place] = []
        self.damaged = self.repeated = 0
        self.ends: dict[str, int] = {}
        """The bytes read of each file."""
        seen = set()
        for path in self._files(paths):
            for part in scan(path):
                if ends is not None and part.end > ends.get(path.name, 0):
                    break
                if not isinstance(part, Place):
                    if not part.is_unfinished:
                        self.damaged += 1
                        show("")
                        message = f"{path}: skipped bytes {part.start} to {part.end}: {part.reason}"
                        print(message, file=sys.stderr)
                    continue
                self.ends[path.name] = part.end
                key = (part.seed, part.first, part.games, part.positions, part.usable)
                if key in seen:
                    self.repeated += 1
                    continue
                seen.add(key)
                self.places.append(part)

    def _files(self, paths: Iterable[Path]) -> Iterator[Path]:
        files: dict[str, Path] = {}
        for path in paths:
            found = sorted(path.glob(f"*{SUFFIX}")) if path.is_dir() else [path]
            if not found:
                raise ValueError(f"{path} holds no file *{SUFFIX}")
            for file in found:
                if not files.setdefault(file.name, file).samefile(file):
                    raise ValueError(f"{files[file.name]} and {file} have one name: rename one of them")
        return iter(files.values())

    def split(self, share: float) -> tuple[list[Place], list[Place]]:
        """The blocks to train on, and this share of them, at least one, set aside: the same ones as files
        grow.
        """
        chances = [zlib.crc32(f"{place.seed}/{place.first}".encode()) for place in self.places]
        least = max(min(chances, default=0), int(share * 2**32))
        parts: tuple[list[Place], list[Place]] = ([], [])
        for place, chance in zip(self.places, chances, strict=True):
            parts[chance <= least].append(place)
        return parts


def add(mixer: Mixer, place: Place) -> None:
    """Add the games of a block. Raises ValueError, which names it, if they cannot be replayed; or OSError."""
    try:
        mixer.add(read(place).inflated(), place.games)
    except ValueError as error:
        raise ValueError(f"{place.path}, the block at byte {place.start}: {error}") from None


def usable(places: list[Place]) -> int:
    """The number of positions that pass the usual filters."""
    return sum(place.usable for place in places)


# --- Batches


@dataclass
class Rows:
    """Positions as arrays: the inputs of the side to move and of the other side that are 1, one position
    after the other; where each position begins in both; its pieces; its material in points
    (`search.nnue.evaluate`); the points expected from the scores, and those of the game, from 0 to 1.
    """

    own: "npt.NDArray[np.int32]"
    other: "npt.NDArray[np.int32]"
    starts: "npt.NDArray[np.int32]"
    pieces: "npt.NDArray[np.int32]"
    material: "npt.NDArray[np.int32]"
    expected: "npt.NDArray[np.float32]"
    points: "npt.NDArray[np.float32]"

    def __len__(self) -> int:
        return len(self.starts)


def rows_of(mixer: Mixer, size: int, first: int = -1) -> Rows:
    """So many positions of a mixer: from the first one on, or taken out at random."""
    import numpy as np

    own, other = np.empty(32 * size, np.int32), np.empty(32 * size, np.int32)
    rows = np.empty((size, ROWS), np.int32)
    if first < 0:
        end = mixer.take(size, own, other, rows.ravel())
    else:
        end = mixer.show(first, size, own, other, rows.ravel())
    expected, points = ((rows[:, n] / most).astype(np.float32) for n, most in ((3, 65535), (4, 2)))
    starts, pieces, material = (rows[:, n].copy() for n in range(3))
    return Rows(own[:end], other[:end], starts, pieces, material, expected, points)


def batches(
    places: list[Place], size: int, lookahead: float, filters: Filters, most: int = 1_000_000
) -> list[Rows]:
    """The positions of every nth of these blocks, about so many, in batches."""
    chosen = places[:: max(1, usable(places) // most)]
    mixer = Mixer(max(1, usable(chosen)), 0, lookahead, filters.least_ply, filters.most_score)
    for place in chosen:
        add(mixer, place)
    return [rows_of(mixer, min(size, mixer.count - at), at) for at in range(0, mixer.count, size)]


class Stream:
    """The positions of blocks in batches, in random order: blocks are drawn at random, and positions from a
    buffer of so many. A last, incomplete batch is left out.
    """

    def __init__(
        self,
        places: list[Place],
        size: int,
        seed: str,
        lookahead: float,
        filters: Filters = EVERY,
        mixed: int = MIXED,
    ) -> None:
        chance = Random(seed)
        self._size = size
        self._held = mixed + size
        self._places = places[:]
        chance.shuffle(self._places)
        self._all = self._left = usable(places)
        self._taken = 0
        room = min(self._all, self._held) + max((place.usable for place in places), default=1)
        self._mixer = Mixer(room, chance.getrandbits(64), lookahead, filters.least_ply, filters.most_score)

    def __iter__(self) -> Iterator[tuple[Rows, float]]:
        """Each batch, and the share of all positions that has then been yielded, an estimate where filters
        leave out more than usual.
        """
        mixer = self._mixer
        while True:
            while self._places and mixer.count < self._held:
                place = self._places.pop()
                add(mixer, place)
                self._left -= place.usable
            if mixer.count < self._size:
                return
            rows = rows_of(mixer, self._size)
            self._taken += self._size
            share = self._taken / (self._taken + mixer.count)
            yield rows, share * (self._all - self._left) / self._all


def weights(places: list[Place], strength: float) -> "npt.NDArray[np.float32]":
    """Weights by the number of pieces, 0 to 32, that make rare ones count more: 1 over their share to the
    power of `strength`, at most MOST_WEIGHT times the mean, which is 1. From a sample of the blocks.
    """
    import numpy as np

    sample = places[:: max(1, len(places) // 100)]
    rows = batches(sample, 1_000_000, 0.0, Filters())
    shares = sum((np.bincount(row.pieces, minlength=33) for row in rows), np.zeros(33))
    shares /= shares.sum()
    found = np.maximum(shares, 1e-9) ** -strength
    for _ in range(10):  # what is cut off is given to the others
        found = np.minimum(found / (found * shares).sum(), MOST_WEIGHT)
    result: npt.NDArray[np.float32] = found.astype(np.float32)
    return result


# --- All positions of a block


class Table:
    """All positions after the openings of a block, in order, as columns; see `search.replay.Mixer`."""

    def __init__(self, place: Place) -> None:
        """Raises ValueError if a game cannot be replayed, or OSError."""
        import numpy as np

        mixer = Mixer(place.positions, takes_all=True)
        add(mixer, place)
        self.fields = np.frombuffer(mixer.fields, np.uint16).reshape(-1, FIELDS)[: mixer.count]
        state = self.fields[:, replay.STATE]
        self.scores = self.fields[:, replay.SCORE].view(np.int16).astype(np.int32)
        self.results = (state & 3).astype(np.int64)
        self.plies = (state >> replay.PLY_SHIFT).astype(np.int64)
        squares = np.ascontiguousarray(self.fields[:, : replay.PIECES]).view(np.uint8)
        self.pieces = np.unpackbits(squares, axis=1).sum(1, dtype=np.int64)
        self.kinds = {
            "in check": state & replay.CHECKED != 0,
            "best move is tactical": state & replay.TACTICAL != 0,
            "repeats an earlier one": state & replay.REPEATED != 0,
            "mate score": np.abs(self.scores) >= LONGEST_MATE,
        }

    def keys(self) -> "npt.NDArray[np.uint64]":
        """A hash of each position: of the pieces and the side to move."""
        import numpy as np

        board = np.ascontiguousarray(self.fields[:, : replay.KINGS]).view(np.uint64)
        moves = (self.fields[:, replay.STATE] & replay.BLACK_MOVES).astype(np.uint64)
        found = np.zeros(len(self.fields), np.uint64)
        for column in (*board.T, moves):
            found = (found ^ column) * np.uint64(0xBF58476D1CE4E5B9)
            found ^= found >> np.uint64(32)
        return found


# --- Statistics


SCORE_EDGES = [-3000, -1500, -800, -400, -200, -100, -50, -20, 20, 50, 100, 200, 400, 800, 1500, 3000]
"""The limits, in centipawns of the search, between the rows of the table of scores."""

ONE_IN = 256
"""One hash in this many is kept, to find the share of duplicates."""

BAND = 4
"""Piece counts per row of the table of phases."""


class Statistics:
    """Counts the positions of blocks by result, score, game phase and kind."""

    def __init__(self) -> None:
        import numpy as np

        self.settings: Counter[str] = Counter()
        self.results: Counter[int] = Counter()
        self.starts: Counter[str] = Counter()
        self.plies: list[int] = []
        self.positions = 0
        self.kept = 0
        self.kinds: Counter[str] = Counter()
        self._scores = np.zeros((len(SCORE_EDGES) + 1, 3), np.int64)
        self._pieces = np.zeros((33, 3), np.int64)
        self._keys: list[npt.NDArray[np.uint64]] = []

    def add(self, place: Place) -> None:
        """Count a block. Raises ValueError if a game cannot be replayed, or OSError."""
        import numpy as np

        block = read(place)
        self.settings[json.dumps(block.settings, sort_keys=True)] += block.games
        for white, black, plies, _, result in HEAD.iter_unpack(block.inflated()[: HEAD.size * block.games]):
            self.plies.append(plies)
            self.results[result] += 1
            usual = "standard chess" if white == chess960.STANDARD else "Chess960"
            self.starts[usual if white == black else "double Fischer random chess"] += 1
        table = Table(place)
        self.positions += len(table.scores)
        self.kept += block.usable
        for name, mask in table.kinds.items():
            self.kinds[name] += int(mask.sum())
        np.add.at(self._scores, (np.searchsorted(SCORE_EDGES, table.scores, side="right"), table.results), 1)
        np.add.at(self._pieces, (table.pieces, table.results), 1)
        keys = table.keys()
        self._keys.append(keys[keys % ONE_IN == 0])

    def report(self) -> str:
        """The statistics as text."""
        import numpy as np

        games = sum(self.results.values())
        lines = [f"{games} games, {self.positions} positions"]
        if not games or not self.positions:
            return lines[0]
        won, drawn, lost = (self.results[result] for result in (2, 1, 0))
        plies = sorted(self.plies)
        keys = np.concatenate(self._keys)
        duplicates = 100 * (1 - len(np.unique(keys)) / max(1, len(keys)))
        lines += [f"{count} games: {settings}" for settings, count in sorted(self.settings.items())]
        starts = sorted(self.starts.items())
        lines += [f"{name}: {_share(count, games)} of the games" for name, count in starts]
        lines += [
            f"White won {_share(won, games)}, drew {_share(drawn, games)}, lost {_share(lost, games)}",
            f"plies: mean {sum(plies) / games:.0f}, median {plies[len(plies) // 2]}, most {plies[-1]}",
            "",
            f"{'usable':27}{_share(self.kept, self.positions)}",
            f"{'duplicates':27}{duplicates:.1f} % (of a sample)",
        ]
        lines += [f"{name:27}{_share(count, self.positions)}" for name, count in self.kinds.items()]
        edges = ["", *map(str, SCORE_EDGES), ""]
        names = [f"{low:>6} {high:>6}" for low, high in pairwise(edges)]
        lines += ["", "score, from / to below    share   won drawn  lost", *self._rows(names, self._scores)]
        bands = [self._pieces[first : first + BAND].sum(0) for first in range(1, 33, BAND)]
        names = [f"{first:>6} {first + BAND - 1:>6}" for first in range(1, 33, BAND)]
        lines += ["", "pieces, from / to         share   won drawn  lost"]
        return "\n".join([*lines, *self._rows(names, np.array(bands))])

    def _rows(self, names: list[str], counts: "npt.NDArray[np.int64]") -> list[str]:
        rows = []
        for name, (lost, drawn, won) in zip(names, counts.tolist(), strict=True):
            count = lost + drawn + won
            share = count / self.positions
            parts = "".join(f"{100 * part / max(1, count):6.1f}" for part in (won, drawn, lost))
            rows.append(f"{name}      {100 * share:8.2f} %{parts}  {'#' * round(100 * share)}".rstrip())
        return rows


def _share(part: int, whole: int) -> str:
    return f"{part} ({100 * part / whole:.1f} %)"


# --- The command line


def check(pile: Blocks) -> str:
    """Replay every game; returns a summary. Raises ValueError if a game cannot be replayed or a block holds
    other positions than its header says, or OSError.
    """
    games = positions = 0
    for place in pile.places:
        for count, takes_all in ((place.positions, True), (place.usable, False)):
            mixer = Mixer(count, takes_all=takes_all)
            add(mixer, place)
            if mixer.count != count:
                kind = "positions" if takes_all else "usable positions"
                found = f"{place.path}, the block at byte {place.start} has {mixer.count} {kind}"
                raise ValueError(f"{found}, not {count}")
        games += place.games
        positions += place.positions
        show(f"{games} games, {positions} positions")
    return f"{games} games, {positions} positions"


def statistics(pile: Blocks) -> str:
    """Describe all positions. Raises ValueError or OSError."""
    found = Statistics()
    for place in pile.places:
        found.add(place)
        show(f"{found.positions} positions read")
    return found.report()


def show(text: str) -> None:
    """Show the progress on a terminal."""
    if sys.stderr.isatty():
        print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)


@script.command
def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    parser = script.parser(__doc__ or "")
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a file of games or a folder")
    command = parser.add_mutually_exclusive_group(required=True)
    command.add_argument("--check", action="store_true", help="replay every game")
    command.add_argument("--stats", action="store_true", help="describe the positions")
    options = parser.parse_args(arguments)
    if options.stats:
        script.require("tuning", "numpy")
    pile = Blocks(options.paths)
    try:
        text = statistics(pile) if options.stats else check(pile)
    finally:
        show("")
    print(text)
    if pile.repeated:
        print(f"skipped {counted(pile.repeated, 'repeated block')}", file=sys.stderr)
    return 1 if pile.damaged else 0


if __name__ == "__main__":
    sys.exit(main())
