"""The programs of bench/, run as a user runs them."""

import os
import subprocess
import sys

from tests import ROOT

BENCH = ROOT / "bench"

TIMEOUT = 300
"""Seconds: an idle run on a busy machine has a hundredth of a processor."""


def run(name: str, *words: object, code: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program of bench/ with these arguments and variables; it must end with that code."""
    done = subprocess.run(
        [sys.executable, str(BENCH / f"{name}.py"), *map(str, words)],
        capture_output=True,
        encoding="utf-8",
        timeout=TIMEOUT,
        env=os.environ | environment,
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done
