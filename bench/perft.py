"""Count the positions of a perft suite: is every count right, and how fast are the builds.

    python bench/perft.py                                        the suite beside this file
    python bench/perft.py ../shared/data/perft/standard.epd      another one
    python bench/perft.py --summary --max-nodes 10000000         only sums, to ten million leaves a position

A suite holds one position a line: a FEN and its leaves at some depths, as in `FEN ;D1 20 ;D2 400`; a line
that begins with # is a remark. Each position is counted at the deepest of its depths that the limits allow,
in both ways: `perft` counts the moves of the last ply, `play_leaves` plays every leaf. The uncompiled figures
come from a child process with MOFF_PURE=1, up to a smaller limit.

Results go to standard output, progress and complaints to standard error. The exit code is 0 if every count is
right, 1 if one is wrong or could not be counted, 2 after wrong usage or a damaged suite, 130 when
interrupted. Needs the `bench` extra.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import script  # first: it puts this checkout on the path

from x88 import build, fen, perft
from x88.movegen import MoveStack

WAYS = {"perft": perft.perft, "play_leaves": perft.play_leaves}


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


def read_suite(path: Path) -> list[Position]:
    """The positions of an EPD file. Raises ValueError with its path, the damaged line and the reason."""
    positions = []
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        text, *fields = line.split(";")
        try:
            fen.parse(text)
            positions.append(Position(number, text.strip(), _leaves(fields)))
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
    if not positions:
        raise ValueError(f"{path} holds no position")
    return positions


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


def measure(positions: list[Position], depth: int, nodes: int) -> Iterator[Count]:
    """Count every position in both ways with the build that runs."""
    stack = MoveStack()
    for position in positions:
        deepest = position.deepest(depth, nodes)
        if not deepest:
            continue
        for way, count in WAYS.items():
            board = fen.parse(position.fen)
            started = time.perf_counter()
            found = count(board, stack, 0, deepest)
            yield Count(position.line, deepest, way, found, time.perf_counter() - started)


def measure_uncompiled(suite: Path, depth: int, nodes: int) -> Iterator[Count]:
    """The same from a child process that runs the uncompiled source."""
    limits = ["--depth", str(depth), "--max-nodes", str(nodes)]
    command = [sys.executable, __file__, str(suite), "--json", *limits]
    environment = {**os.environ, "MOFF_PURE": "1"}
    # A session of its own: a Ctrl-C is told once, here.
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as child:
        try:
            assert child.stdout is not None
            for line in child.stdout:
                yield Count(**json.loads(line))
        except BaseException:  # an interrupt, or nobody reads on
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
    """A line for each count that is not what the suite says."""
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
    """All counts, with a bar of the nodes done meanwhile if standard error is a terminal."""
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
    parser.add_argument("--depth", type=number, default=99, metavar="N", help="plies at most (default 99)")
    parser.add_argument(
        "--max-nodes",
        type=number,
        default=200_000_000,
        metavar="N",
        help="leaves a position at most, compiled (default 200 million)",
    )
    parser.add_argument(
        "--pure-max-nodes",
        type=number,
        default=500_000,
        metavar="N",
        help="the same, uncompiled (default 500000)",
    )
    parser.add_argument("--no-pure", action="store_true", help="leave the uncompiled build out")
    parser.add_argument("--summary", action="store_true", help="only the sums, no table of positions")
    parser.add_argument(
        "--json", action="store_true", help="no tables, but each count of the running build as a line of JSON"
    )
    return parser.parse_args()


@script.command
def main() -> int:
    """Read the suite, count with each build, print the tables; returns the exit code."""
    options = _options()
    script.require("bench", "tabulate", "tqdm")
    positions = read_suite(options.suite)
    if options.json:
        for count in measure(positions, options.depth, options.max_nodes):
            print(json.dumps(asdict(count)), flush=True)
        return 0

    builds: dict[str, list[Count]] = {}
    if build.compiled:
        counts = measure(positions, options.depth, options.max_nodes)
        builds["compiled"] = _watched("compiled", positions, counts, options.depth, options.max_nodes)
    else:
        print(build.notice(), file=sys.stderr)
    if not options.no_pure:
        counts = measure_uncompiled(options.suite, options.depth, options.pure_max_nodes)
        try:
            builds["uncompiled"] = _watched(
                "uncompiled", positions, counts, options.depth, options.pure_max_nodes
            )
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
