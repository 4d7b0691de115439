"""bench/figures.py: every figure of Moff, and an engine that fails is one line."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("tabulate", reason="the bench extra is not installed")
pytest.importorskip("tqdm", reason="the bench extra is not installed")

SCRIPT = Path(__file__).resolve().parent.parent / "bench" / "figures.py"

SHALLOW = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); import figures;"
    " figures.PERFT_DEPTH, figures.PERFT_LEAVES = 3, 8902; sys.exit(figures.main())"
)
"""The script with a perft that the uncompiled source counts too."""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the script once."""
    command = [sys.executable, "-c", SHALLOW, str(SCRIPT.parent), "--runs", "1", *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)


def test_every_figure_of_moff_is_taken() -> None:
    ended = run("--movetime", "200", "--hash", "2")
    assert ended.returncode == 0, ended.stderr
    rows = [line.split("  ")[0] for line in ended.stdout.splitlines()[2:]]
    wanted = {
        "start to uciok, ms",
        "isready to readyok in a search, ms",
        "stop to bestmove, ms",
        "search, 200 ms, Hash 2, million nodes/s",
        "search, 200 ms, Hash 2, depth",
        "go perft 3, million nodes/s",
    }
    assert set(rows) - {"memory with Hash 16, MB"} == wanted
    assert ("memory with Hash 16, MB" in rows) is Path("/proc/self/status").exists()
    for line in ended.stdout.splitlines()[2:]:
        minimum, median, maximum = map(float, line.split()[-3:])
        assert 0 <= minimum == median == maximum


@pytest.mark.parametrize(
    ("command", "said"),
    [("/no/such/engine", "cannot be started"), (f"{sys.executable} -c pass", "has ended")],
)
def test_an_engine_that_fails_is_one_line(command: str, said: str) -> None:
    ended = run("--engine", command)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert len(ended.stderr.splitlines()) == 1
    assert said in ended.stderr
