"""Speed, memory and response times of a UCI engine, measured from outside.

    python bench/figures.py [--runs 5] [--hash 64] [--movetime 5000] [--engine COMMAND]

Every figure is measured several times and shown as minimum, median and maximum; use an idle machine. Without
--engine, this checkout's Moff is measured. Figures that an engine or system does not provide are left out:
memory outside Linux, perft with an engine without `go perft`.

Results go to standard output, progress to standard error. The exit code is 0, or 2 after wrong usage or if
the engine fails, or 130 when interrupted. Needs the `bench` extra.
"""

import argparse
import contextlib
import re
import shlex
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import script  # first: it puts this checkout on the path
from uci import EngineFault, EngineSpec, UciEngine

PERFT_DEPTH = 6
PERFT_LEAVES = 119060324
"""Of the start position."""

PATIENCE = 60.0
"""Seconds that an engine may take to answer."""

PERFT_PATIENCE = 300.0
"""Seconds for perft; the uncompiled source needs minutes."""

Figures = dict[str, float]


def measure(command: list[str], megabytes: int, movetime: int) -> Figures:
    """One run of every figure. Raises EngineFault."""
    figures: Figures = {}
    with UciEngine(EngineSpec("the engine", tuple(command), (("Hash", "16"),))) as engine:
        figures["start to uciok, ms"] = engine.start_seconds * 1000
        if memory := resident_megabytes(engine.process_id):
            figures["memory with Hash 16, MB"] = memory
        engine.send("position startpos")
        engine.send("go infinite")
        time.sleep(0.5)
        figures["isready to readyok in a search, ms"] = 1000 * seconds(engine.wait_until_ready)
        figures["stop to bestmove, ms"] = 1000 * seconds(lambda: stop(engine))
        engine.send(f"setoption name Hash value {megabytes}")
        engine.new_game()
        engine.send(f"go movetime {movetime}")
        told = engine.read_until("bestmove", PATIENCE + movetime / 1000)
        for line in reversed(told):
            found = dict(re.findall(r"\b(depth|nps) (\d+)", line))
            if found.keys() == {"depth", "nps"}:
                name = f"search, {movetime} ms, Hash {megabytes}"
                figures[f"{name}, million nodes/s"] = int(found["nps"]) / 1e6
                figures[f"{name}, depth"] = int(found["depth"])
                break
        # Last, because an engine without this command may do anything.
        with contextlib.suppress(EngineFault):
            spent = seconds(lambda: perft(engine))
            figures[f"go perft {PERFT_DEPTH}, million nodes/s"] = PERFT_LEAVES / spent / 1e6
    return figures


def stop(engine: UciEngine) -> None:
    """Stop the search and wait for its move."""
    engine.send("stop")
    engine.read_until("bestmove", PATIENCE)


def perft(engine: UciEngine) -> None:
    """Let the engine count, and wait for the number of leaves."""
    engine.send(f"go perft {PERFT_DEPTH}")
    engine.read_until(str(PERFT_LEAVES), PERFT_PATIENCE, anywhere=True)


def seconds(action: Callable[[], None]) -> float:
    """The seconds that an action takes."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def resident_megabytes(process: int) -> float | None:
    """The memory of a process; None without /proc."""
    status = Path(f"/proc/{process}/status")
    if not status.exists():
        return None
    found = re.search(r"VmRSS:\s+(\d+) kB", status.read_text(encoding="utf-8"))
    return int(found[1]) / 1024 if found else None


def _options() -> argparse.Namespace:
    parser = script.parser(__doc__)
    number = script.positive
    parser.add_argument(
        "--runs", type=number, default=5, metavar="N", help="how often each figure is measured (default 5)"
    )
    parser.add_argument(
        "--hash", type=number, default=64, metavar="MB", help="table of the timed search (default 64)"
    )
    parser.add_argument(
        "--movetime", type=number, default=5000, metavar="MS", help="of the timed search (default 5000)"
    )
    parser.add_argument("--engine", default="", metavar="COMMAND", help="another UCI engine")
    return parser.parse_args()


@script.command
def main() -> int:
    """Measure and print the table; returns the exit code."""
    options = _options()
    script.require("bench", "tabulate", "tqdm")
    from tabulate import tabulate
    from tqdm import tqdm

    command = shlex.split(options.engine) or [sys.executable, str(script.ROOT / "engine.py")]
    try:
        runs = [
            measure(command, options.hash, options.movetime)
            for _ in tqdm(range(options.runs), file=sys.stderr, disable=not sys.stderr.isatty())
        ]
    except EngineFault as error:
        raise ValueError(str(error)) from None
    rows = []
    for name in dict.fromkeys(name for run in runs for name in run):
        values = [run[name] for run in runs if name in run]
        rows.append([name, min(values), statistics.median(values), max(values)])
    print(tabulate(rows, headers=["figure", "minimum", "median", "maximum"], floatfmt=".2f"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
