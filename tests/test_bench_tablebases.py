"""bench/tablebases.py: both readers are asked the same positions, and tell the same."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.oracle import SHARED

SCRIPT = Path(__file__).resolve().parent.parent / "bench" / "tablebases.py"
FOLDER = SHARED / "syzygy"


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )


@pytest.mark.skipif(not FOLDER.is_dir(), reason="../shared/data/syzygy is missing")
def test_both_readers_tell_the_same_of_the_same_positions() -> None:
    done = run(FOLDER, "--positions", 70)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["Moff", "python-chess"]
    assert all(re.fullmatch(r"\S+ +[\d,]+ WDL/s +[\d,]+ DTZ/s", line) for line in lines)


def test_a_folder_without_tables_is_told(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"{tmp_path}: there is no table\n"
