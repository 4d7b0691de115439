"""bench/scaling.py: the table for an engine of known speed, and one line for an engine that fails."""

import shlex
import subprocess
import sys

import pytest

from tests.programs import run

pytestmark = pytest.mark.slow

pytest.importorskip("tabulate", reason="the bench extra is not installed")
pytest.importorskip("tqdm", reason="the bench extra is not installed")

FAKE = """
import sys, time
print("option name Threads type spin default 1 min 1 max 4")
for line in sys.stdin:
    words = line.split()
    if line.startswith("setoption name Threads"):
        threads = int(words[-1])
    elif words[0] == "go":
        time.sleep(0.4 / threads)
        print("info depth", words[-1], "nodes", 1000 * threads)
    print({"uci": "uciok", "isready": "readyok", "go": "bestmove e2e4"}.get(words[0], ""), flush=True)
"""
"""An engine that is twice as fast with twice the threads."""

PLAIN = FAKE.replace("option name Threads", "id name Fake")
SILENT = FAKE.replace("nodes", "knots")


def measure(engine: str, *words: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Measure an engine, given as a program of Python; Moff if that is empty."""
    command = ["--engine", shlex.join([sys.executable, "-c", engine])] if engine else []
    return run("scaling", *command, "--positions", 2, *words, code=code)


def rows(done: subprocess.CompletedProcess[str]) -> list[list[float]]:
    """The numbers of the table."""
    return [[float(cell.replace(",", "")) for cell in line.split()] for line in done.stdout.splitlines()[2:]]


def test_engine_with_more_threads_is_faster() -> None:
    (one, *_), (four, speed, seconds, speedup) = rows(measure(FAKE, "--threads", 4))
    assert (one, four) == (1, 4), "one thread is added"
    assert speed == pytest.approx(8000 / seconds, rel=0.05)
    assert 1.5 < speedup < 6


def test_moff_is_the_engine_by_default() -> None:
    found = rows(measure("", "--threads", 1, 2, "--depth", 2, "--hash", 1))
    assert [row[0] for row in found] == [1, 2]
    assert all(number > 0 for row in found for number in row[1:2])


@pytest.mark.parametrize(
    ("engine", "threads", "said"),
    [
        (FAKE, 5, "the engine has no 5 threads"),
        (PLAIN, 2, "the engine has no 2 threads"),
        ("pass", 1, "the engine has ended"),
        (SILENT, 1, "the engine reports no nodes"),
    ],
)
def test_engine_that_cannot_be_measured_is_one_line(engine: str, threads: int, said: str) -> None:
    done = measure(engine, "--threads", threads, code=2)
    assert (done.stdout, done.stderr) == ("", f"{said}\n")
