"""Nodes per second and time to depth of a UCI engine by number of threads.

    python bench/scaling.py --threads 1 2 4
    python bench/scaling.py --engine "python sunfish.py" --threads 1 --depth 5 --positions 12

Each position of `moff bench` is searched to --depth as a new game, with every number of threads in turn.
Seconds are measured from `go` to `bestmove`, nodes are those of the last info line, and the speedup over one
thread is the geometric mean of all positions. Searches with several threads vary: use an idle machine with as
many cores as threads, and repeat the measurement.

Without --engine, this checkout's Moff is measured. The table goes to standard output, progress to standard
error. The exit code is 0, or 2 after wrong usage or if the engine fails, or 130 when interrupted. Needs the
`bench` extra.
"""

import argparse
import contextlib
import re
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

import script  # first: it puts this checkout on the path

from search.benchmark import POSITIONS

Engine = subprocess.Popen[str]


def ask(engine: Engine, lines: str, word: str) -> str:
    """Send lines; return the answer up to the line that begins with a word. Raises ValueError without it."""
    assert engine.stdin
    assert engine.stdout
    with contextlib.suppress(OSError):
        engine.stdin.write(lines + "\n")
    answer = ""
    for line in engine.stdout:
        answer += line
        if line.startswith(word):
            return answer
    raise ValueError("the engine has ended")


@contextlib.contextmanager
def started(command: list[str], threads: int, megabytes: int) -> Iterator[Engine]:
    """An engine that searches with so many threads. Raises ValueError if it cannot, or OSError."""
    pipe = subprocess.PIPE
    engine = subprocess.Popen(
        command,
        stdin=pipe,
        stdout=pipe,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        errors="replace",
        bufsize=1,
    )
    try:
        most = re.search(r"^option name Threads .* max (\d+)", ask(engine, "uci", "uciok"), re.MULTILINE)
        if threads > (int(most[1]) if most else 1):
            raise ValueError(f"the engine has no {threads} threads")
        options = f"setoption name Hash value {megabytes}\nsetoption name Threads value {threads}"
        ask(engine, f"{options}\nisready", "readyok")
        yield engine
    finally:
        engine.kill()
        engine.wait()


def search(engine: Engine, position: str, depth: int) -> tuple[int, float]:
    """The nodes and seconds of a search. Raises ValueError if no nodes are reported."""
    ask(engine, f"ucinewgame\nposition fen {position}\nisready", "readyok")
    began = time.perf_counter()
    answer = ask(engine, f"go depth {depth}", "bestmove")
    seconds = time.perf_counter() - began
    nodes = re.findall(r"^info .*\bnodes (\d+)", answer, re.MULTILINE)
    if not nodes:
        raise ValueError("the engine reports no nodes")
    return int(nodes[-1]), seconds


def _options() -> argparse.Namespace:
    parser = script.parser(__doc__)
    add = parser.add_argument
    number = script.positive
    add("--threads", nargs="+", type=number, default=[1, 2], metavar="N", help="(default: 1 2)")
    add("--engine", default="", metavar="COMMAND", help="another UCI engine")
    add("--hash", type=number, default=64, metavar="MB", help="(default: 64)")
    add("--depth", type=number, default=20, metavar="N", help="plies (default: 20)")
    add("--positions", type=number, metavar="N", help="only the first N (default: all)")
    return parser.parse_args()


@script.command
def main() -> int:
    """Measure and print the table; returns the exit code."""
    options = _options()
    script.require("bench", "tabulate", "tqdm")
    from tabulate import tabulate
    from tqdm import tqdm

    command = shlex.split(options.engine) or [sys.executable, str(script.ROOT / "engine.py")]
    found: dict[int, list[tuple[int, float]]] = {number: [] for number in sorted({1, *options.threads})}
    with contextlib.ExitStack() as stack:
        engines = [stack.enter_context(started(command, number, options.hash)) for number in found]
        for position in tqdm(POSITIONS[: options.positions], unit="position", disable=None):
            for engine, searches in zip(engines, found.values(), strict=True):
                searches.append(search(engine, position, options.depth))
    rows = []
    for number, searches in found.items():
        speedup = statistics.geometric_mean(
            one / own for (_, one), (_, own) in zip(found[1], searches, strict=True)
        )
        nodes, seconds = map(sum, zip(*searches, strict=True))
        rows.append([number, f"{nodes / seconds:,.0f}", f"{seconds:.2f}", f"{speedup:.2f}"])
    headers = ["threads", "nodes/s", f"seconds to depth {options.depth}", "speedup"]
    print(tabulate(rows, headers, stralign="right", disable_numparse=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())
