"""Positions near those of games with their evaluation, to pretrain a network.

    python bench/nearby.py gen0.moff --out near.records --validation near-test.records --concurrency 2
    python bench/train.py near.records --validation near-test.records --run near
    python bench/train.py near.records train.records --validation test.records --run run0 --begin near

A search looks at many positions that no game would reach: pieces left hanging, lost and won. Here a few
random moves lead from each position of a game to such ones (--per-position of them, 1 to --moves moves
away). Each gets its static evaluation as score, or with --depth that of a shallow search: a network learns
first what the evaluation knows that played the games, a hundred positions in the time in which one is
played, and then needs fewer games (`bench/train.py --begin`).

The games are those of bench/selfplay.py --positions. The records are those of bench/positions.py --shuffle,
filtered as by default there. They have no result, and what they are worth for training is their score alone.
Without a search there is no best move, and none is stored. What was finished is kept in the folder OUT.parts,
and the same command continues it; when all is done, the folder is removed.

The exit code is 0; 2 after wrong usage; 130 when interrupted. Needs the `tuning` extra.
"""

import argparse
import contextlib
import hashlib
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from random import Random

import script  # first: it puts this checkout on the path

from search import inference
from search.evaluate import Evaluation
from search.limits import Limits
from search.score import normalised
from search.search import Report, Search
from x88.attack import in_check
from x88.board import Board
from x88.move import NO_MOVE
from x88.movegen import legal_moves

try:
    import numpy as np
    from tqdm import tqdm
except ImportError as error:
    script.cannot_begin(error, "tuning", __doc__ or "")

import positions
import recordfile
from gamefile import Block, replay
from recordfile import RecordFile, Records, names_of, refuse_overwriting, shuffled
from workers import processes, run_all

GAMES = 4
"""Games of a part."""

MOST_MOVES = 100
"""More random moves lead no further away, and the board can take back only so many."""


@dataclass(frozen=True)
class Settings:
    """What makes the records of a part."""

    per_position: int
    moves: int
    depth: int
    seed: int
    engine: str = field(default_factory=script.fingerprint)
    """Its scores change with the network."""


class Judge:
    """Scores for positions that are not in check, by a search of so many plies, or none."""

    def __init__(self, depth: int) -> None:
        self._search = Search(1) if depth else None
        self._limits = Limits(depth=depth)
        self._evaluation = Evaluation(inference.layer(inference.shipped()))
        self._last: Report | None = None

    def forget(self) -> None:
        """Judge as if nothing had been judged yet."""
        if self._search is not None:
            self._search.forget()

    def judge(self, board: Board) -> tuple[int, int]:
        """The score in centipawns for the side to move, and the best move of a search, else NO_MOVE."""
        if self._search is None:
            self._evaluation.reset(board)
            return normalised(self._evaluation.value(board)), NO_MOVE
        self._search.think(board, self._limits, self._note)
        assert self._last is not None
        return self._last.score, self._last.pv[0]

    def _note(self, report: Report) -> None:
        if not report.bound:
            self._last = report


@contextlib.contextmanager
def wandered(board: Board, chance: Random, moves: int) -> Iterator[bool]:
    """Makes 1 to so many random moves, and takes them back at the end. Tells whether the side to move has a
    move then, and is not in check.
    """
    made = 0
    legal = legal_moves(board)
    for _ in range(chance.randint(1, moves)):
        if legal:
            board.make(chance.choice(legal))
            made += 1
            legal = legal_moves(board)
    yield bool(legal) and not in_check(board)
    for _ in range(made):
        board.unmake()


def judged(block: Block, settings: Settings) -> Records:
    """Positions near those of some games, with their scores."""
    judge = Judge(settings.depth)
    rows = recordfile.Rows()
    for game in block.games:
        chance = Random(f"{settings.seed} {block.seed} {game.number}")
        opening = len(game.moves) - len(game.scores)
        judge.forget()
        for ply, (board, _) in enumerate(replay(game)):
            for _ in range(settings.per_position if ply >= opening else 0):
                with wandered(board, chance, settings.moves) as is_calm:
                    if not is_calm:
                        continue
                    score, move = judge.judge(board)
                    state = recordfile.state_of(board, move, recordfile.NO_RESULT)
                    cells, short = recordfile.placement(board), recordfile.short_move(move)
                    rows.add(cells, score, short, state, ply, board.halfmove)
    return rows.records()


# --- Parts


class Parts:
    """The folder of the parts that are finished."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        """Raises ValueError if the parts there were made in another way, or OSError."""
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(asdict(settings))
        self._settings = folder / "settings.json"
        if not self._settings.exists():
            self._settings.write_text(text, encoding="utf-8")
        elif self._settings.read_text(encoding="utf-8") != text:
            raise ValueError(
                f"{folder} has parts with other settings: {self._settings.read_text(encoding='utf-8')}"
            )

    def path(self, block: Block) -> Path:
        """Where the part of some games is. By their moves, too: other games may have the same numbers."""
        digest = hashlib.sha256(json.dumps([block.seed, block.settings], sort_keys=True).encode())
        for game in block.games:
            digest.update(f"\n{game.number} {game.start}\n".encode() + game.moves)
        return self.folder / f"{digest.hexdigest()[:24]}.records"

    def make(self, block: Block, settings: Settings) -> None:
        """Make a part."""
        records = judged(block, settings)
        file = RecordFile(self.path(block))
        try:
            file.add(records)
            file.close()
        finally:
            file.discard()

    def remove(self) -> None:
        """Remove all parts, and the folder unless it holds something else."""
        for path in (*self.folder.glob("*.records"), self._settings):
            path.unlink()
        with contextlib.suppress(OSError):
            self.folder.rmdir()


def blocks_of(reader: positions.Reader) -> Iterator[Block]:
    """The games in blocks of GAMES."""
    for block in reader:
        for first in range(0, len(block.games), GAMES):
            yield block._replace(games=block.games[first : first + GAMES])


def make_parts(parts: Parts, blocks: list[Block], settings: Settings, concurrency: int) -> None:
    """Make the parts that are missing."""
    missing = [block for block in blocks if not parts.path(block).exists()]
    make = partial(parts.make, settings=settings)
    with (
        processes(concurrency) as submit,
        tqdm(total=len(blocks), initial=len(blocks) - len(missing), unit=" parts", disable=None) as bar,
    ):
        for _ in run_all(submit, make, missing, concurrency):
            bar.update()


def join(parts: Parts, blocks: list[Block], options: argparse.Namespace) -> str:
    """Write the positions of all parts that pass the filters, shuffled; returns a summary."""
    outputs = [path for path in (options.out, options.validation) if path]
    filters = positions.Filters()
    with shuffled(outputs, options.seed, positions.show) as files:
        for block in blocks:
            records = recordfile.load(parts.path(block))
            held_out = bool(options.validation) and positions.is_held_out(
                block, block.games[0], options.share
            )
            files[held_out].add(np.array(records[filters.select(records)]))
    positions.show("")
    return "\n".join(f"{path}: {file.count} positions" for path, file in zip(outputs, files, strict=True))


# --- The command line


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = script.parser(__doc__ or "")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="written by bench/selfplay.py")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="records to write")
    parser.add_argument("--validation", type=Path, metavar="FILE", help="write those of some games there")
    parser.add_argument(
        "--share", type=float, default=0.02, help="fraction of games for --validation (default 0.02)"
    )
    parser.add_argument("--per-position", type=script.positive, default=8, metavar="N", help="default 8")
    parser.add_argument(
        "--moves", type=script.positive, default=3, metavar="N", help="random moves at most (default 3)"
    )
    parser.add_argument("--depth", type=int, default=0, metavar="N", help="plies of a search (default 0)")
    parser.add_argument("--seed", type=int, default=0, help="of the random moves and order (default 0)")
    parser.add_argument("--concurrency", type=script.positive, default=1, metavar="N", help="processes")
    return parser.parse_args(arguments)


@script.command
def main(arguments: list[str] | None = None) -> int:
    """Make the records; returns the exit code."""
    options = _options(arguments)
    if min(options.seed, options.depth) < 0 or not 0 < options.share < 1:
        raise ValueError("--seed and --depth must not be negative, and --share between 0 and 1")
    if options.moves > MOST_MOVES:
        raise ValueError(f"--moves must be at most {MOST_MOVES}")
    outputs = [path for path in (options.out, options.validation) if path]
    refuse_overwriting(options.files, [name for path in outputs for name in names_of(path)])
    settings = Settings(options.per_position, options.moves, options.depth, options.seed)
    blocks = list(blocks_of(positions.Reader(options.files)))
    parts = Parts(options.out.with_name(options.out.name + ".parts"), settings)
    make_parts(parts, blocks, settings, options.concurrency)
    print(join(parts, blocks, options))
    parts.remove()
    return 0


if __name__ == "__main__":
    sys.exit(main())
