"""The FEN after every move of a PGN file: speed and memory of `moff fens` against a loop over python-chess.

    python bench/fens.py FILE.pgn [--runs 5] [--megabytes 200]

Both run in turn, in their own processes, and write to a file; the two outputs must be identical, byte for
byte. Then the peak memory of `moff fens` is measured on FILE and on a file of --megabytes that repeats FILE
(not on Windows). Use an idle machine.

Results go to standard output, progress and errors to standard error. The exit code is 0, or 1 if the outputs
differ or FILE is faulty, 2 after wrong usage, 130 after an interrupt. Needs the `bench` and `test` extras.
"""

import importlib.util
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import script

MOFF = [sys.executable, str(script.ROOT / "engine.py"), "fens"]
PYTHON_CHESS = """
import sys
import chess.pgn

with open(sys.argv[1], encoding="utf-8-sig") as stream:
    while (game := chess.pgn.read_game(stream)) is not None:
        board = game.board()
        for move in game.mainline_moves():
            board.push(move)
            print(board.fen())
"""
PEAK = """
import resource
import subprocess
import sys

code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
"""
THEIRS = [sys.executable, "-c", PYTHON_CHESS]


def run(command: list[str], pgn: Path, output: Path) -> float:
    """The seconds that a process takes to write the FENs of a file. Raises RuntimeError if it fails."""
    with open(output, "wb") as stream:
        began = time.perf_counter()
        ended = subprocess.run([*command, str(pgn)], stdout=stream, stdin=subprocess.DEVNULL)
        seconds = time.perf_counter() - began
    if ended.returncode:
        raise RuntimeError(f"exit code {ended.returncode} for {pgn}")
    return seconds


def peak_memory(pgn: Path) -> float:
    """The peak resident memory of `moff fens` in megabytes."""
    # A process inherits the peak of its parent, so a small process must start it.
    command = [sys.executable, "-c", PEAK, *MOFF, str(pgn)]
    ended = subprocess.run(command, capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL)
    if ended.returncode:
        raise RuntimeError(f"exit code {ended.returncode} for {pgn}")
    # The BSDs and Linux count kilobytes, macOS bytes.
    return int(ended.stdout) / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def repeat(pgn: Path, megabytes: int, target: Path) -> None:
    """Write a file of at least `megabytes` that repeats a PGN file."""
    data = pgn.read_bytes() + b"\n\n"
    with open(target, "wb") as stream:
        for _ in range(-(-megabytes * 1_000_000 // len(data))):
            stream.write(data)


def compare_speed(pgn: Path, runs: int, folder: Path) -> list[tuple[float, float]]:
    """Seconds of Moff and of python-chess, round by round. Raises RuntimeError if their outputs differ."""
    from tqdm import tqdm

    ours, theirs = folder / "moff.fens", folder / "python-chess.fens"
    rounds = []
    for _ in tqdm(range(runs), file=sys.stderr, disable=not sys.stderr.isatty()):
        rounds.append((run(MOFF, pgn, ours), run(THEIRS, pgn, theirs)))
        if ours.read_bytes() != theirs.read_bytes():
            raise RuntimeError("the outputs differ")
    return rounds


def show_speed(rounds: list[tuple[float, float]], fens: int) -> None:
    """Print the seconds of both, and their ratio round by round."""
    from tabulate import tabulate

    rows = []
    for name, column in (("moff fens", 0), ("python-chess", 1)):
        seconds = [pair[column] for pair in rounds]
        median = statistics.median(seconds)
        rows.append([name, min(seconds), median, int(fens / median)])
    print(tabulate(rows, ["", "minimum, s", "median, s", "FENs/s"], floatfmt=".3f", intfmt=","))
    ratios = [theirs / ours for ours, theirs in rounds]
    times = f"{min(ratios):.1f} / {statistics.median(ratios):.1f} / {max(ratios):.1f}"
    print(f"\n{fens} FENs, the same from both. Times as fast (minimum / median / maximum): {times}\n")


def show_memory(pgn: Path, megabytes: int, folder: Path) -> None:
    """Print the peak memory on the file and on a much larger one."""
    from tabulate import tabulate

    large = folder / "large.pgn"
    repeat(pgn, megabytes, large)
    rows = [[path.stat().st_size / 1e6, peak_memory(path)] for path in (pgn, large)]
    print(tabulate(rows, ["PGN, MB", "peak memory of moff fens, MB"], floatfmt=".1f"))


@script.command
def main() -> int:
    """Compare, print the tables; returns the exit code."""
    parser = script.parser(__doc__)
    parser.add_argument("file", type=Path, metavar="FILE.pgn", help="games without faults")
    parser.add_argument(
        "--runs", type=script.positive, default=5, metavar="N", help="runs of each program, default 5"
    )
    parser.add_argument(
        "--megabytes",
        type=script.positive,
        default=200,
        metavar="MB",
        help="size of the large file, default 200",
    )
    options = parser.parse_args()
    script.require("bench,test", "chess", "tabulate", "tqdm")
    if not options.file.is_file():
        parser.error(f"{options.file} is not a file")
    try:
        with tempfile.TemporaryDirectory() as name:
            rounds = compare_speed(options.file, options.runs, Path(name))
            fens = (Path(name) / "moff.fens").read_bytes().count(b"\n")
            show_speed(rounds, fens)
            if importlib.util.find_spec("resource"):
                show_memory(options.file, options.megabytes, Path(name))
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
