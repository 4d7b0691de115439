"""The engine's figures as a user meets them: start, answers, memory, perft and search speed.

    python bench/figures.py [--runs 5] [--hash 64] [--movetime 5000] [--engine COMMAND]

Every figure is taken several times from the outside, over UCI, and shown as minimum, median and maximum; best
on an idle machine. `--engine` measures another UCI engine the same way (memory on Linux only; what it does
not know stays empty).

Results go to standard output, progress to standard error. Needs the `bench` extra.
"""

import argparse
import re
import shlex
import statistics
import subprocess
import sys
import time
from pathlib import Path

try:
    from tabulate import tabulate
    from tqdm import tqdm
except ImportError as error:
    print(f"{error}: python -m pip install -e '.[bench]'", file=sys.stderr)
    sys.exit(2)

ROOT = Path(__file__).resolve().parent.parent
PERFT_DEPTH = 6
PERFT_LEAVES = 119060324


class Engine:
    """A UCI engine that has said uciok, and the seconds it took to."""

    def __init__(self, command: list[str]) -> None:
        began = time.perf_counter()
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.send("uci")
        self.until("uciok")
        self.start = time.perf_counter() - began

    def send(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def until(self, text: str) -> list[str]:
        """The lines up to and with the first that contains the text."""
        assert self._process.stdout is not None
        lines = []
        for line in self._process.stdout:
            lines.append(line)
            if text in line:
                return lines
        raise RuntimeError(f"the engine ended before it said {text}")

    def answer(self, line: str, text: str) -> float:
        """Seconds from sending a line to the answer that contains the text."""
        began = time.perf_counter()
        self.send(line)
        self.until(text)
        return time.perf_counter() - began

    def memory(self) -> float | None:
        """Resident megabytes, where /proc tells."""
        status = Path(f"/proc/{self._process.pid}/status")
        if not status.exists():
            return None
        found = re.search(r"VmRSS:\s+(\d+) kB", status.read_text())
        return int(found[1]) / 1024 if found else None

    def quit(self) -> None:
        self.send("quit")
        self._process.wait()


def measure(command: list[str], megabytes: int, movetime: int) -> dict[str, float | None]:
    """One run of every figure."""
    figures: dict[str, float | None] = {}
    engine = Engine(command)
    figures["start to uciok, ms"] = engine.start * 1000
    engine.send("setoption name Hash value 16")
    engine.answer("isready", "readyok")
    figures["memory with Hash 16, MB"] = engine.memory()
    engine.send("position startpos")
    engine.send("go infinite")
    time.sleep(0.5)
    figures["isready to readyok in a search, ms"] = engine.answer("isready", "readyok") * 1000
    figures["stop to bestmove, ms"] = engine.answer("stop", "bestmove") * 1000
    began = time.perf_counter()
    engine.send(f"go perft {PERFT_DEPTH}")
    engine.until(f"Nodes searched: {PERFT_LEAVES}")
    figures[f"go perft {PERFT_DEPTH}, million nodes/s"] = PERFT_LEAVES / (time.perf_counter() - began) / 1e6
    engine.send(f"setoption name Hash value {megabytes}")
    engine.send("ucinewgame")
    engine.answer("isready", "readyok")
    engine.send(f"go movetime {movetime}")
    last = next(line for line in reversed(engine.until("bestmove")) if " depth " in line and " nps " in line)
    found = dict(re.findall(r"\b(depth|nps) (\d+)", last))
    figures[f"search, {movetime} ms, Hash {megabytes}, million nodes/s"] = int(found["nps"]) / 1e6
    figures["the same: depth"] = int(found["depth"])
    engine.quit()
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=5, help="how often each figure is taken")
    parser.add_argument("--hash", type=int, default=64, help="megabytes of table for the timed search")
    parser.add_argument("--movetime", type=int, default=5000, help="milliseconds of the timed search")
    parser.add_argument("--engine", default="", help="the command of another UCI engine")
    options = parser.parse_args()
    command = shlex.split(options.engine) or [sys.executable, str(ROOT / "engine.py")]
    runs = [
        measure(command, options.hash, options.movetime)
        for _ in tqdm(range(options.runs), file=sys.stderr, disable=not sys.stderr.isatty())
    ]
    rows = []
    for name in runs[0]:
        values = [value for run in runs if (value := run[name]) is not None]
        if values:
            rows.append([name, min(values), statistics.median(values), max(values)])
    print(tabulate(rows, headers=["figure", "minimum", "median", "maximum"], floatfmt=".2f"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
