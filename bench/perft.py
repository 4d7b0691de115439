"""Run a perft suite: check every count and measure the speed of the builds.

    python bench/perft.py                                        the suite next to this file
    python bench/perft.py standard.epd                           another one
    python bench/perft.py --summary --max-nodes 10000000         only sums, up to ten million leaves each
    python bench/perft.py SUITE.epd --chess960                   with castling rights as in X-FEN
    python bench/perft.py --threads 2 --hash 256                 on two threads, with a table of 256 MB
    python bench/perft.py --workers 4 SUITE.epd                  a suite in pieces, by four processes
    python bench/perft.py --fen FEN --depth 9 --scheduler HOST:PORT
                                                                 one deep perft, by a Dask cluster

A suite holds one position per line: a FEN and its leaves at some depths, as in `FEN ;D1 20 ;D2 400`; a line
that begins with # is a comment. Each position is counted at the deepest of its depths within the limits, in
both ways: `perft` counts the moves of the last ply, `play_leaves` plays every leaf. The uncompiled figures
come from a child process with MOFF_PURE=1, up to a smaller limit. --hash applies to `perft` only.

With --workers, --scheduler or --fen (whose leaves are shown by first move), trees are split into pieces,
which processes of this machine or the workers of a Dask cluster count by `perft`, each with its own --threads
and --hash. A cluster's workers need the packages of this Moff. Each finished piece goes into the file of
--pieces, and the same command line continues an interrupted count; an incomplete last line is dropped. A file
for other positions or depths, or from another source of Moff's rules, is refused.

Results go to standard output, progress and errors to standard error. The exit code is 0 if every count is
right, 1 if one is wrong or could not be counted, 2 after wrong usage or a damaged suite, 130 when
interrupted. Needs the `bench` extra, a cluster the `cluster` extra.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any

import script  # first: it puts this checkout on the path
from pieces import Crew, Job, PiecesFile, Tree, Uncounted, cluster, count_all, cut, processes

from moff.text import perft_speed
from x88 import build, coordinate, fen
from x88.divide import DEEPEST, MOST_THREADS, DividedPerft
from x88.movegen import legal_moves
from x88.perft_table import LARGEST, PerftTable

WAYS = {"perft": False, "play_leaves": True}
"""Whether every leaf is played."""

MOST_NODES = 200_000_000
"""The default maximum leaves per position, compiled."""

PIECE = 10**9 if build.compiled else 10**5
"""The default maximum leaves of a piece, by estimate: a few seconds."""


@dataclass(frozen=True)
class Means:
    """The means of counting: threads, and the megabytes of a table, 0 for none."""

    threads: int = 1
    megabytes: int = 0


@dataclass(frozen=True)
class Position:
    """A line of a suite: its number, the FEN, and the leaves by depth."""

    line: int
    fen: str
    leaves: dict[int, int]

    def deepest(self, depth: int, nodes: int) -> int:
        """The deepest listed depth within both limits, 0 if there is none."""
        return max((d for d, count in self.leaves.items() if d <= depth and count <= nodes), default=0)


@dataclass(frozen=True)
class Count:
    """What one way of counting found in one position."""

    line: int
    depth: int
    way: str
    nodes: int
    seconds: float


def read_suite(path: Path, chess960: bool = False) -> list[Position]:
    """The positions of an EPD file; `chess960` reads them as X-FEN.

    Raises ValueError with its path, the damaged line and the reason.
    """
    positions = []
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        text, *fields = line.split(";")
        try:
            positions.append(Position(number, _read(text, chess960), _leaves(fields)))
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
    if not positions:
        raise ValueError(f"{path} holds no position")
    return positions


def _read(text: str, chess960: bool, told: list[str] | None = None) -> str:
    """The position of a FEN; `chess960` reads it as X-FEN, as is everything that `fen.write` returns."""
    return fen.write(fen.parse(text, told, chess960))


def _leaves(fields: list[str]) -> dict[int, int]:
    """The leaves by depth of the fields `D1 20`, `D2 400`, ..."""
    leaves: dict[int, int] = {}
    for field in fields:
        words = field.split()
        if len(words) != 2 or words[0][:1] != "D" or not (words[0][1:] + words[1]).isdecimal():
            raise ValueError(f"{field.strip()!r} is not a depth and its leaves, as in D2 400")
        depth = int(words[0][1:])
        if depth < 1 or depth in leaves:
            raise ValueError(f"{field.strip()!r}: the depth is 0 or occurs twice")
        leaves[depth] = int(words[1])
    if not leaves:
        raise ValueError("no depth with its leaves follows the FEN, as in ;D2 400")
    return leaves


def measure(positions: list[Position], depth: int, nodes: int, means: Means) -> Iterator[Count]:
    """Count every position in both ways with the running build. Raises ValueError for a table too large."""
    try:
        table = PerftTable(means.megabytes) if means.megabytes else None
    except MemoryError as error:
        raise ValueError(str(error)) from None
    for position in positions:
        deepest = position.deepest(depth, nodes)
        if not deepest:
            continue
        for way, playing in WAYS.items():
            board = fen.parse(position.fen, chess960=True)
            started = time.perf_counter()
            division = DividedPerft(board, deepest, playing, means.threads, None if playing else table)
            found = sum(leaves for _, leaves in division.run())
            yield Count(position.line, deepest, way, found, time.perf_counter() - started)


def measure_uncompiled(suite: Path, chess960: bool, depth: int, nodes: int, means: Means) -> Iterator[Count]:
    """The same from a child process that runs the uncompiled source."""
    limits = ["--depth", str(depth), "--max-nodes", str(nodes), "--threads", str(means.threads)]
    if chess960:
        limits += ["--chess960"]
    if means.megabytes:
        limits += ["--hash", str(means.megabytes)]
    command = [sys.executable, __file__, str(suite), "--json", *limits]
    environment = {**os.environ, "MOFF_PURE": "1"}
    # In its own session, so that only this process reports a Ctrl-C.
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, encoding="utf-8", start_new_session=True
    ) as child:
        try:
            assert child.stdout is not None
            for line in child.stdout:
                yield Count(**json.loads(line))
        except BaseException:  # an interrupt, or the generator is closed
            child.kill()
            raise
    if child.returncode:
        raise RuntimeError(f"the uncompiled source could not count: exit code {child.returncode}")


def report(name: str, positions: list[Position], counts: list[Count]) -> str:
    """The table of one build: a row for each position."""
    rows: list[list[object]] = []
    for position in positions:
        own = [count for count in counts if count.line == position.line]
        if own:
            leaves = f"{position.leaves[own[0].depth]:,}"
            figures = [cell for count in own for cell in (f"{count.seconds:.3f}", _speed([count]))]
            rows.append(
                [position.line, own[0].depth, leaves, *figures, _verdict(positions, own), position.fen]
            )
    ways = [cell for way in WAYS for cell in (f"{way}\nseconds", "\nnodes/s")]
    return f"{name}\n\n" + _table(["line", "depth", "nodes", *ways, "", "position"], rows)


def summary(positions: list[Position], builds: dict[str, list[Count]]) -> str:
    """The table of all builds: a row for each way of counting."""
    rows: list[list[object]] = []
    for name, counts in builds.items():
        for way in WAYS:
            own = [count for count in counts if count.way == way]
            nodes, seconds = sum(count.nodes for count in own), sum(count.seconds for count in own)
            figures = [len(own), f"{nodes:,}", f"{seconds:.2f}", _speed(own)]
            rows.append([name, way, *figures, _verdict(positions, own)])
    return _table(["build", "counting", "positions", "nodes", "seconds", "nodes/s", ""], rows)


def _table(headers: list[str], rows: list[list[object]]) -> str:
    """A table with figures aligned right and words aligned left."""
    from tabulate import tabulate

    words = {"build", "counting", "position", ""}
    alignment = ["left" if header in words else "right" for header in headers]
    text: str = tabulate(rows, headers, disable_numparse=True, colalign=alignment)
    return text


def _speed(counts: list[Count]) -> str:
    seconds = sum(count.seconds for count in counts)
    return f"{sum(count.nodes for count in counts) / max(seconds, 1e-9):,.0f}"


def _verdict(positions: list[Position], counts: list[Count]) -> str:
    return "WRONG" if _faults(positions, counts) else "ok"


def _faults(positions: list[Position], counts: list[Count]) -> list[str]:
    """A line for each count that differs from the suite."""
    faults = []
    by_line = {position.line: position for position in positions}
    for count in counts:
        leaves = by_line[count.line].leaves[count.depth]
        if count.nodes != leaves:
            place = f"line {count.line}, depth {count.depth}"
            faults.append(f"{place}: {count.way} counts {count.nodes:,}, not {leaves:,}")
    return faults


def _watched(
    name: str, positions: list[Position], counts: Iterator[Count], depth: int, nodes: int
) -> list[Count]:
    """All counts, with a progress bar of the nodes done if standard error is a terminal."""
    from tqdm import tqdm

    by_line = {position.line: position for position in positions}
    deepest = [(position, position.deepest(depth, nodes)) for position in positions]
    total = len(WAYS) * sum(position.leaves[d] for position, d in deepest if d)
    done = []
    with tqdm(total=total, desc=name, unit=" nodes", unit_scale=True, disable=None, file=sys.stderr) as bar:
        for count in counts:
            done.append(count)
            bar.update(by_line[count.line].leaves[count.depth])
    return done


def _options() -> argparse.Namespace:
    parser = script.parser(__doc__)
    parser.add_argument(
        "suite",
        nargs="?",
        type=Path,
        default=Path(__file__).with_suffix(".epd"),
        help="an EPD file (default: bench/perft.epd)",
    )
    number = script.positive
    parser.add_argument(
        "--chess960", action="store_true", help="K, Q, k and q mean the outermost rooks (X-FEN)"
    )
    parser.add_argument("--fen", metavar="FEN", help="one position instead of a suite, at --depth plies")
    parser.add_argument(
        "--depth", type=number, metavar="N", help="maximum plies (default: those of the suite)"
    )
    parser.add_argument(
        "--max-nodes",
        type=number,
        metavar="N",
        help="maximum leaves per position, compiled (default 200 million; in pieces no limit)",
    )
    parser.add_argument(
        "--pure-max-nodes",
        type=number,
        default=500_000,
        metavar="N",
        help="the same, uncompiled (default 500000)",
    )
    parser.add_argument("--no-pure", action="store_true", help="leave out the uncompiled build")
    parser.add_argument("--summary", action="store_true", help="only the sums, no table of positions")
    parser.add_argument(
        "--json",
        action="store_true",
        help="print each count of the running build as a line of JSON instead of tables",
    )
    parser.add_argument(
        "--threads", type=number, default=1, metavar="N", help="threads that count (default 1)"
    )
    parser.add_argument(
        "--hash", type=number, default=0, metavar="MB", help="a table of subtree counts (default: none)"
    )
    parser.add_argument("--workers", type=number, metavar="N", help="count pieces in this many processes")
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="count pieces on the Dask cluster of this scheduler, --workers of them at a time (default: all)",
    )
    parser.add_argument(
        "--pieces",
        type=Path,
        default=Path("perft.pieces"),
        metavar="FILE",
        help="of the finished pieces (default perft.pieces)",
    )
    parser.add_argument(
        "--piece",
        type=number,
        default=PIECE,
        metavar="N",
        help=f"maximum leaves of a piece, by a rough estimate (default {PIECE})",
    )
    return parser.parse_args()


# --- In pieces


def count_pieces(options: argparse.Namespace, positions: list[Position]) -> int:
    """Count the suite, or the position of --fen, in pieces, and print the results; returns the exit code.

    Raises ValueError or OSError for bad input, ImportError without the packages.
    """
    trees = _trees(options, positions)
    file = PiecesFile(options.pieces, trees.values())
    if file.is_torn:
        print(f"{file.path}: the last line is torn, and dropped", file=sys.stderr)
    parts = {line: cut(tree, options.piece, plies=bool(options.fen)) for line, tree in trees.items()}
    try:
        _finish(options, file, {tree for part in parts.values() for tree in part})
    except Uncounted as error:
        print(error, file=sys.stderr)
        return 1
    counts = []
    for line, part in parts.items():
        firsts: Counter[str] = Counter()
        for tree, ways in part.items():
            for first, number in ways.items():
                firsts[first] += number * file.finished[tree].leaves
        if options.fen:
            _print_first_moves(trees[line], firsts)
        seconds = sum(file.finished[tree].seconds for tree in part)
        counts.append(Count(line, trees[line].depth, "perft", firsts.total(), seconds))
    faults = [] if options.fen else _print_positions(positions, counts)
    nodes, seconds = sum(count.nodes for count in counts), sum(count.seconds for count in counts)
    print(f"{perft_speed(nodes, seconds)} (the time of all workers)")
    if faults:
        print("\n" + "\n".join(faults))
    return 1 if faults else 0


def _finish(options: argparse.Namespace, file: PiecesFile, wanted: set[Tree]) -> None:
    """Count the missing pieces of the file, with a progress bar if standard error is a terminal. Raises
    Uncounted.
    """
    from tqdm import tqdm

    missing = [tree for tree in sorted(wanted, key=astuple) if tree not in file.finished]
    known = len(wanted) - len(missing)
    if known:
        print(f"{known} of {len(wanted)} pieces are in {file.path} already", file=sys.stderr)
    if not missing:
        return
    jobs = (Job(tree, options.threads, options.hash) for tree in missing)
    progress: dict[str, Any] = {"total": len(wanted), "initial": known, "unit": "piece", "disable": None}
    try:
        with (
            _crew(options) as crew,
            file.open() as add,
            contextlib.closing(count_all(crew, jobs)) as done,
            tqdm(**progress, file=sys.stderr, dynamic_ncols=True) as bar,
        ):
            for piece in done:
                add(piece)
                bar.update()
    except KeyboardInterrupt:
        known = sum(tree in file.finished for tree in wanted)
        told = f"interrupted after {known} of {len(wanted)} pieces: the same command continues the count"
        raise KeyboardInterrupt(told) from None


def _trees(options: argparse.Namespace, positions: list[Position]) -> dict[int, Tree]:
    """What to count, by the line of the suite; 0 for the position of --fen."""
    if options.fen:
        if not options.depth:
            raise ValueError("--fen needs --depth, the plies to count")
        if options.depth > DEEPEST:
            raise ValueError(f"{options.depth} is not a depth from 1 to {DEEPEST}")
        told: list[str] = []
        text = _read(options.fen, options.chess960, told)
        for sentence in told:
            print(sentence, file=sys.stderr)
        return {0: Tree(text, options.depth)}
    depth, nodes = options.depth or DEEPEST, options.max_nodes or sys.maxsize
    deepest = [(position, position.deepest(depth, nodes)) for position in positions]
    trees = {position.line: Tree(position.fen, plies) for position, plies in deepest if plies}
    if not trees:
        raise ValueError("no position is left to count")
    return trees


def _crew(options: argparse.Namespace) -> contextlib.AbstractContextManager[Crew]:
    if options.scheduler:
        return cluster(options.scheduler, options.workers)
    return processes(options.workers or 1)


def _print_first_moves(tree: Tree, firsts: Counter[str]) -> None:
    """Print the leaves under each move."""
    board = fen.parse(tree.fen, chess960=True)
    for move in legal_moves(board):
        text = coordinate.write(move)
        print(f"{text}: {firsts[text]}")
    print()


def _print_positions(positions: list[Position], counts: list[Count]) -> list[str]:
    """Print the table of a suite; returns a line for each wrong count."""
    by_line = {position.line: position for position in positions}
    rows: list[list[object]] = []
    for count in counts:
        figures = [f"{count.nodes:,}", f"{count.seconds:.3f}", _speed([count]), _verdict(positions, [count])]
        rows.append([count.line, count.depth, *figures, by_line[count.line].fen])
    print(_table(["line", "depth", "nodes", "seconds", "nodes/s", "", "position"], rows), end="\n\n")
    return _faults(positions, counts)


@script.command
def main() -> int:
    """Read the suite, count with each build, print the tables; returns the exit code."""
    options = _options()
    script.require("bench", "tabulate", "tqdm")
    if options.threads > MOST_THREADS or options.hash > LARGEST:
        raise ValueError(f"--threads takes at most {MOST_THREADS}, --hash at most {LARGEST} megabytes")
    positions = [] if options.fen else read_suite(options.suite, options.chess960)
    if options.workers or options.scheduler or options.fen:
        if options.json or options.summary:
            raise ValueError("--json and --summary are not for counts in pieces")
        return count_pieces(options, positions)

    depth, nodes = options.depth or DEEPEST, options.max_nodes or MOST_NODES
    means = Means(options.threads, options.hash)
    if options.json:
        for count in measure(positions, depth, nodes, means):
            print(json.dumps(asdict(count)), flush=True)
        return 0

    builds: dict[str, list[Count]] = {}
    if build.compiled:
        counts = measure(positions, depth, nodes, means)
        builds["compiled"] = _watched("compiled", positions, counts, depth, nodes)
    else:
        print(build.notice(), file=sys.stderr)
    if not options.no_pure:
        counts = measure_uncompiled(options.suite, options.chess960, depth, options.pure_max_nodes, means)
        try:
            builds["uncompiled"] = _watched("uncompiled", positions, counts, depth, options.pure_max_nodes)
        except RuntimeError as error:
            print(error, file=sys.stderr)
            return 1
    builds = {name: done for name, done in builds.items() if done}
    if not builds:
        print("no build and no position is left to count", file=sys.stderr)
        return 2
    if not options.summary:
        for name, done in builds.items():
            print(report(name, positions, done), end="\n\n")
    print(summary(positions, builds))
    faults = [f"{name}, {fault}" for name, done in builds.items() for fault in _faults(positions, done)]
    if faults:
        print("\n" + "\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
