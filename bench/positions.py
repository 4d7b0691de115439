"""Training positions from self-play games: check, describe, filter and shuffle them.

    python bench/positions.py gen0.moff gen0-b.moff --check
    python bench/positions.py gen0.moff gen0-b.moff --stats
    python bench/positions.py gen0.moff gen0-b.moff --shuffle train.records --validation test.records
    python bench/positions.py gen0.moff gen0-b.moff --merge all.moff
    python bench/positions.py gen0.moff --text positions.txt --per-game 12 --max-score 1000

The files are those of bench/gamefile.py. Damaged parts are reported and skipped, and a game that occurs twice
counts once. --check replays every game. --stats shows results, scores, phases, and the share of each kind of
position. --merge writes all games to one file. --text writes positions as `FEN;result;score` lines to read or
for other programs, result and score from White's point of view.

--shuffle writes the positions that pass the filters, in random order, to a file of bench/recordfile.py.
--validation sets whole games aside, because positions of one game are not independent. By default the filters
drop positions in check, positions whose best move captures or promotes, repetitions of a position of the
game, and positions with a mate score. Those without a score are always dropped.

--lookahead L, with --shuffle, replaces the expected score E of a position by (1 - L) E + L F, where F is that
of the next position of the game after its own replacement, seen from the same side, or the result after the
last one. So what the search saw later counts too, the sooner the more (Richard S. Sutton, "Learning to
predict by the methods of temporal differences", 1988). Positions without a score are passed over; mate scores
count, but stay as they are. The filters look at the score of the search, before it is replaced.

Results go to standard output, progress and errors to standard error. The exit code is 0; 1 if a file is
damaged; 2 after wrong usage; 130 when interrupted. Needs NumPy (the `tuning` extra).
"""

import argparse
import json
import sys
import zlib
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random

import script  # first: it puts this checkout on the path

try:
    import numpy as np
    import numpy.typing as npt
except ImportError as error:
    script.cannot_begin(error, "tuning", __doc__ or "")

from gamefile import NO_SCORE, Block, Damage, Game, GameFile, refuse_foreign, replay, scan
from recordfile import (
    BLACK_TO_MOVE,
    GIVES_CHECK,
    IN_CHECK,
    LOWER_BOUND,
    MATES,
    MOST_PLIES,
    REPEATED,
    RESULT_SHIFT,
    TACTICAL,
    Records,
    expand,
    names_of,
    refuse_overwriting,
    shuffled,
    write_fen,
)
from workers import processes

from moff.text import counted
from search import network

LEAST_EXPECTED = 1e-5
"""With --lookahead, expected scores are at least this far from 0 and 1."""

# --- Filters


@dataclass(frozen=True)
class Filters:
    """What to drop: everything unusual, unless it is kept by an option."""

    keep_checks: bool = False
    keep_tactical: bool = False
    keep_repeated: bool = False
    drop_bounds: bool = False
    max_score: int = MATES - 1
    """Scores beyond this are dropped."""
    min_ply: int = 0

    def select(self, records: Records) -> npt.NDArray[np.bool_]:
        """A mask of the records to keep."""
        unwanted = (
            (0 if self.keep_checks else IN_CHECK)
            | (0 if self.keep_tactical else TACTICAL)
            | (0 if self.keep_repeated else REPEATED)
            | (LOWER_BOUND if self.drop_bounds else 0)
        )
        scores = records["score"].astype(np.int32)
        kept: npt.NDArray[np.bool_] = (records["state"] & unwanted == 0) & (scores != NO_SCORE)
        kept &= np.abs(scores) <= self.max_score
        return kept & (records["counts"] & MOST_PLIES >= self.min_ply)


# --- Targets


def looked_ahead(
    records: Records, lengths: Sequence[int], share: float, scale: float
) -> npt.NDArray[np.int16]:
    """The scores of whole games, one after the other, after --lookahead `share`. Mate scores and NO_SCORE
    stay. `lengths` are the numbers of positions of the games; `scale` centipawns multiply the odds by e.
    """
    scores = records["score"].astype(np.float64)
    black = records["state"] & BLACK_TO_MOVE != 0
    results = (records["state"] >> RESULT_SHIFT & 3) / 2
    usual = np.abs(scores) < MATES
    known = (records["score"] != NO_SCORE).tolist()
    with np.errstate(over="ignore"):  # a mate on a small scale: the odds are 0
        expected = 1 / (1 + np.exp(np.where(black, scores, -scores) / scale))
    expected = expected.tolist()  # of White; faster one by one
    first = 0
    for length in lengths:
        if length:
            last = first + length - 1
            value = float(1 - results[last] if black[last] else results[last])
            for i in range(last, first - 1, -1):
                if known[i]:
                    value = (1 - share) * expected[i] + share * value
                expected[i] = value
        first += length
    own = np.where(black, 1 - np.array(expected), expected)
    own = np.clip(own, LEAST_EXPECTED, 1 - LEAST_EXPECTED)
    changed = np.clip(np.rint(scale * np.log(own / (1 - own))), 1 - MATES, MATES - 1)
    found: npt.NDArray[np.int16] = np.where(usual, changed, scores).astype(np.int16)
    return found


# --- Files of games


class Reader:
    """Reads the games of several files, each game once, and reports damage on standard error."""

    def __init__(self, paths: list[Path]) -> None:
        """Raises ValueError if one of them is not a file of games, or OSError."""
        self.paths = paths
        self.damaged = 0
        self.repeated = 0
        for path in paths:
            with path.open("rb") as file:
                refuse_foreign(file.read(64), path)

    def __iter__(self) -> Iterator[Block]:
        seen: set[tuple[str, int, int]] = set()
        for path in self.paths:
            for part in scan(path.read_bytes()):
                if isinstance(part, Damage):
                    self.damaged += 1
                    show("")
                    print(
                        f"{path}: skipped bytes {part.start} to {part.end}: {part.reason}",
                        file=sys.stderr,
                    )
                    continue
                kind = json.dumps(part.settings, sort_keys=True)
                games = []
                for game in part.games:
                    if (kind, part.seed, game.number) in seen:
                        self.repeated += 1
                        continue
                    seen.add((kind, part.seed, game.number))
                    games.append(game)
                if games:
                    yield part._replace(games=games)


def expand_block(block: Block) -> Records:
    """All positions of a block."""
    return expand(block.games)


def expand_all(blocks: Iterable[Block], concurrency: int) -> Iterator[tuple[Block, Records]]:
    """The blocks with their positions, in order, computed by `concurrency` processes."""
    if concurrency == 1:
        for block in blocks:
            yield block, expand_block(block)
        return
    with processes(concurrency) as submit:
        expanded = deque((block, submit(expand_block, block)) for block in blocks)
        while expanded:  # a block that was used is freed
            block, future = expanded.popleft()
            yield block, future.result()


def is_held_out(block: Block, game: Game, share: float) -> bool:
    """Whether a game belongs to this share of all games, by a hash of its seed and number."""
    return zlib.crc32(f"{block.seed}/{game.number}".encode()) < share * 2**32


def shuffle(options: argparse.Namespace, reader: Reader, filters: Filters) -> str:
    """Write the positions that pass the filters, shuffled; returns a summary.

    Raises ValueError or OSError.
    """
    outputs = [path for path in (options.shuffle, options.validation) if path]
    with shuffled(outputs, options.seed, show) as files:
        read = 0
        for block, records in expand_all(reader, options.concurrency):
            lengths = [len(game.scores) for game in block.games]
            held_out = np.repeat(
                [
                    bool(options.validation) and is_held_out(block, game, options.share)
                    for game in block.games
                ],
                lengths,
            )
            kept = filters.select(records)
            if options.lookahead:
                records["score"] = looked_ahead(records, lengths, options.lookahead, options.scale)
            for number, file in enumerate(files):
                file.add(records[kept & (held_out == number)])
            read += len(records)
            show(f"{read} positions read, {sum(file.count for file in files)} kept")
    told = [f"{path}: {file.count} positions" for path, file in zip(outputs, files, strict=True)]
    return "\n".join([*told, f"{read - sum(file.count for file in files)} of {read} dropped"])


# --- Statistics


SCORE_EDGES = [-3000, -1500, -800, -400, -200, -100, -50, -20, 20, 50, 100, 200, 400, 800, 1500, 3000]
"""The limits, in centipawns, between the rows of the table of scores."""

BAND = 4
"""Piece counts per row of the table of phases."""


class Statistics:
    """Counts the positions of blocks by result, score, game phase and kind."""

    def __init__(self, filters: Filters) -> None:
        self._filters = filters
        self.settings: Counter[str] = Counter()
        self.results: Counter[int] = Counter()
        self.plies: list[int] = []
        self.positions = 0
        self.kept = 0
        self.states: Counter[str] = Counter()
        self._scores = np.zeros((len(SCORE_EDGES) + 1, 3), np.int64)
        self._pieces = np.zeros((33, 3), np.int64)
        self._keys: list[npt.NDArray[np.uint64]] = []

    def add(self, block: Block, records: Records) -> None:
        """Count a block."""
        self.settings[f"seed {block.seed} {json.dumps(block.settings, sort_keys=True)}"] += len(block.games)
        self.results.update(game.result for game in block.games)
        self.plies += [len(game.moves) for game in block.games]
        self.positions += len(records)
        self.kept += int(self._filters.select(records).sum())
        state, scores = records["state"], records["score"]
        for name, bit in (
            ("in check", IN_CHECK),
            ("best move is tactical", TACTICAL),
            ("best move gives check", GIVES_CHECK),
            ("repeats an earlier one", REPEATED),
            ("score is a bound", LOWER_BOUND),
        ):
            self.states[name] += int((state & bit != 0).sum())
        told = scores != NO_SCORE
        self.states["no score"] += int((~told).sum())
        self.states["mate score"] += int((told & (np.abs(scores.astype(int)) >= MATES)).sum())
        results = state >> RESULT_SHIFT & 3
        rows = np.searchsorted(SCORE_EDGES, scores[told], side="right")
        np.add.at(self._scores, (rows, results[told]), 1)
        pieces = (
            np.unpackbits(np.ascontiguousarray(records["occupied"]).view(np.uint8)).reshape(-1, 64).sum(1)
        )
        np.add.at(self._pieces, (pieces, results), 1)
        self._keys.append(keys(records))

    def duplicates(self) -> int:
        """The number of positions that equal an earlier one."""
        return self.positions - len(np.unique(np.concatenate([*self._keys, np.empty(0, np.uint64)])))

    def report(self) -> str:
        """The statistics as text."""
        games = sum(self.results.values())
        lines = [f"{games} games, {self.positions} positions"]
        if not games or not self.positions:
            return lines[0]
        won, drawn, lost = (self.results[result] for result in (2, 1, 0))
        plies = sorted(self.plies)
        lines += [f"{count} games: {settings}" for settings, count in sorted(self.settings.items())]
        lines += [
            f"White won {_share(won, games)}, drew {_share(drawn, games)}, lost {_share(lost, games)}",
            f"plies: mean {sum(plies) / games:.0f}, median {plies[len(plies) // 2]}, most {plies[-1]}",
            "",
            f"{'pass the filters':27}{_share(self.kept, self.positions)}",
            f"{'duplicates':27}{_share(self.duplicates(), self.positions)}",
        ]
        lines += [f"{name:27}{_share(count, self.positions)}" for name, count in self.states.items()]
        edges = ["", *map(str, SCORE_EDGES), ""]
        names = [f"{low:>6} {high:>6}" for low, high in pairwise(edges)]
        lines += ["", "score, from / to below    share   won drawn  lost", *self._rows(names, self._scores)]
        bands = [self._pieces[first : first + BAND].sum(0) for first in range(1, 33, BAND)]
        names = [f"{first:>6} {first + BAND - 1:>6}" for first in range(1, 33, BAND)]
        lines += [
            "",
            "pieces, from / to         share   won drawn  lost",
            *self._rows(names, np.array(bands)),
        ]
        return "\n".join(lines)

    def _rows(self, names: list[str], counts: npt.NDArray[np.int64]) -> list[str]:
        rows = []
        for name, (lost, drawn, won) in zip(names, counts.tolist(), strict=True):
            count = lost + drawn + won
            share = count / self.positions
            parts = "".join(f"{100 * part / max(1, count):6.1f}" for part in (won, drawn, lost))
            rows.append(f"{name}      {100 * share:8.2f} %{parts}  {'#' * round(100 * share)}".rstrip())
        return rows


def keys(records: Records) -> npt.NDArray[np.uint64]:
    """A hash of each position: pieces, side to move, castling rights, en passant."""
    words = np.ascontiguousarray(records["pieces"]).view("<u8")
    found = records["state"].astype(np.uint64) & np.uint64((1 << RESULT_SHIFT) - 1)
    for column in (records["occupied"], words[:, 0], words[:, 1]):
        # The steps of SplitMix64, by Guy Steele, Doug Lea and Christine Flood, 2014.
        found = (found ^ column) + np.uint64(0x9E3779B97F4A7C15)
        found = (found ^ found >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        found = (found ^ found >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        found ^= found >> np.uint64(31)
    return found


def _share(part: int, whole: int) -> str:
    return f"{part} ({100 * part / whole:.1f} %)"


# --- The other commands


def check(reader: Reader) -> str:
    """Replay every game; returns a summary. Raises ValueError if a game cannot be replayed."""
    games = positions = 0
    for block in reader:
        for game in block.games:
            for _ in replay(game):
                pass
            positions += len(game.scores)
        games += len(block.games)
        show(f"{games} games, {positions} positions")
    return f"{games} games, {positions} positions"


def merge(reader: Reader, path: Path) -> str:
    """Write all games to one new file; returns a summary. Raises ValueError or OSError."""
    if path.exists():
        raise ValueError(f"{path} exists already")
    with GameFile(path) as file:
        for block in reader:
            file.add(block)
        return f"{path}: {len(file.games)} games, {file.positions} positions"


def write_text(options: argparse.Namespace, reader: Reader, filters: Filters) -> str:
    """Write positions as lines of text; returns a summary. Raises ValueError or OSError."""
    chance = Random(options.seed)
    count = 0
    with options.text.open("w", encoding="ascii") as file:
        for block, records in expand_all(reader, options.concurrency):
            kept = filters.select(records)
            end = 0
            for game in block.games:
                first, end = end, end + len(game.scores)
                rows = (first + np.flatnonzero(kept[first:end])).tolist()
                for row in sorted(chance.sample(rows, min(options.per_game, len(rows)))):
                    record = records[row]
                    score = int(record["score"])
                    score = -score if record["state"] & BLACK_TO_MOVE else score
                    file.write(f"{write_fen(record)};{game.result / 2:g};{score}\n")
                    count += 1
            show(f"{count} positions written")
    return f"{options.text}: {count} positions"


def show(text: str) -> None:
    """Show the progress on a terminal."""
    if sys.stderr.isatty():
        print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)


# --- The command line


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = script.parser(__doc__ or "")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="written by bench/selfplay.py")
    command = parser.add_mutually_exclusive_group(required=True)
    command.add_argument("--check", action="store_true", help="replay every game")
    command.add_argument("--stats", action="store_true", help="describe the positions")
    command.add_argument("--shuffle", type=Path, metavar="OUT", help="write records in random order")
    command.add_argument("--merge", type=Path, metavar="OUT", help="write all games to one file")
    command.add_argument("--text", type=Path, metavar="OUT", help="write lines of text")
    parser.add_argument(
        "--validation", type=Path, metavar="OUT", help="with --shuffle: write some games there"
    )
    parser.add_argument(
        "--share", type=float, default=0.02, help="fraction of games for --validation (default 0.02)"
    )
    parser.add_argument(
        "--lookahead",
        type=float,
        default=0.0,
        metavar="L",
        help="with --shuffle: weight of the later scores and the result (default 0)",
    )
    parser.add_argument(
        "--scale",
        type=float,
        help=f"with --lookahead: centipawns that multiply the odds by e (default {network.REPORTED_SCALE})",
    )
    parser.add_argument(
        "--per-game", type=int, default=12, help="with --text: maximum positions per game (default 12)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the random order or choice (default 0)")
    parser.add_argument("--concurrency", type=int, default=1, help="processes (default 1)")
    parser.add_argument("--keep-checks", action="store_true", help="keep positions in check")
    parser.add_argument(
        "--keep-tactical", action="store_true", help="keep positions with a tactical best move"
    )
    parser.add_argument("--keep-repeated", action="store_true", help="keep repeated positions")
    parser.add_argument("--drop-bounds", action="store_true", help="drop positions whose score is a bound")
    parser.add_argument(
        "--max-score", type=int, default=MATES - 1, help="drop larger scores (default: only mates)"
    )
    parser.add_argument("--min-ply", type=int, default=0, help="drop positions before this ply (default 0)")
    return parser.parse_args(arguments)


def _check(options: argparse.Namespace) -> Filters:
    """The filters that are asked for. Raises ValueError if an option is wrong."""
    if min(options.concurrency, options.per_game) < 1 or not 0 < options.share < 1:
        raise ValueError("--concurrency and --per-game must be 1 or more, --share between 0 and 1")
    if min(options.seed, options.max_score, options.min_ply) < 0:
        raise ValueError("--seed, --max-score and --min-ply must not be negative")
    if options.min_ply > MOST_PLIES:
        raise ValueError(f"--min-ply must be at most {MOST_PLIES}; later plies are not told apart")
    if options.validation and not options.shuffle:
        raise ValueError("--validation needs --shuffle")
    if options.lookahead and not options.shuffle:
        raise ValueError("--lookahead needs --shuffle")
    if not 0 <= options.lookahead < 1:
        raise ValueError("--lookahead must be from 0 to below 1")
    if options.scale is None:
        options.scale = network.REPORTED_SCALE
    elif not options.lookahead:
        raise ValueError("--scale needs --lookahead")
    if not 1 <= options.scale <= 100_000:
        raise ValueError("--scale must be from 1 to 100000")
    shuffles = [path for path in (options.shuffle, options.validation) if path]
    others = [path for path in (options.merge, options.text) if path]
    refuse_overwriting(options.files, [*others, *(name for path in shuffles for name in names_of(path))])
    return Filters(
        options.keep_checks,
        options.keep_tactical,
        options.keep_repeated,
        options.drop_bounds,
        options.max_score,
        options.min_ply,
    )


def _carry_out(options: argparse.Namespace, reader: Reader, filters: Filters) -> str:
    """Run the command; returns what it has to say. Raises ValueError or OSError."""
    if options.check:
        return check(reader)
    if options.stats:
        statistics = Statistics(filters)
        for block, records in expand_all(reader, options.concurrency):
            statistics.add(block, records)
            show(f"{statistics.positions} positions read")
        return statistics.report()
    if options.shuffle:
        return shuffle(options, reader, filters)
    if options.merge:
        return merge(reader, options.merge)
    return write_text(options, reader, filters)


@script.command
def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    options = _options(arguments)
    filters = _check(options)
    reader = Reader(options.files)
    try:
        text = _carry_out(options, reader, filters)
    finally:
        show("")
    print(text)
    if reader.repeated:
        print(f"skipped {counted(reader.repeated, 'repeated game')}", file=sys.stderr)
    return 1 if reader.damaged else 0


if __name__ == "__main__":
    sys.exit(main())
