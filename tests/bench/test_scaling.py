"""bench/scaling.py: its table for an engine of known speed, and an engine that fails is one line."""

import shlex
import subprocess
import sys

import pytest

from tests import ROOT

pytest.importorskip("tabulate", reason="the bench extra is not installed")
pytest.importorskip("tqdm", reason="the bench extra is not installed")

SCRIPT = ROOT / "bench" / "scaling.py"

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
"""An engine that is as many times as fast as it has threads."""

PLAIN = FAKE.replace("option name Threads", "id name Fake")
SILENT = FAKE.replace("nodes", "knots")


def run(engine: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Measure an engine, given as a program of Python; Moff if that is empty."""
    command = ["--engine", shlex.join([sys.executable, "-c", engine])] if engine else []
    return subprocess.run(
        [sys.executable, str(SCRIPT), *command, "--positions", "2", *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )


def rows(done: subprocess.CompletedProcess[str]) -> list[list[float]]:
    """The numbers of the table."""
    assert done.returncode == 0, done.stderr
    return [[float(cell.replace(",", "")) for cell in line.split()] for line in done.stdout.splitlines()[2:]]


def test_an_engine_with_twice_the_threads_is_faster() -> None:
    (one, *_), (four, speed, seconds, speedup) = rows(run(FAKE, "--threads", 4))
    assert (one, four) == (1, 4), "one thread is added"
    assert speed == pytest.approx(8000 / seconds, rel=0.05)
    assert 1.5 < speedup < 6


def test_moff_itself_is_measured() -> None:
    found = rows(run("", "--threads", 1, 2, "--depth", 2, "--hash", 1))
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
def test_an_engine_that_cannot_be_measured_is_one_line(engine: str, threads: int, said: str) -> None:
    done = run(engine, "--threads", threads)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"{said}\n")
