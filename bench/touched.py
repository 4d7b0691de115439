"""A pytest plugin for bench/mutants.py: which tests execute which lines of x88/ and search/, by coverage.

Loaded with `-p bench.touched`, it writes a JSON object to the file named by MOFF_TOUCHED. "lines" has, for
each module and each of its executed lines, the tests that executed it; "" stands for lines executed outside
any test, on import. "seconds" has the duration of each test. "outside" has the tests that start other
processes, where coverage sees nothing. Without coverage installed, "lines" is empty.
"""

import importlib.util
import json
import os
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

# Untyped, since it need not be installed.
coverage: Any = importlib.import_module("coverage") if importlib.util.find_spec("coverage") else None

ROOT = Path(__file__).resolve().parent.parent
PROCESSES = ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn")

_coverage: Any = None
if coverage:
    _coverage = coverage.Coverage(
        data_file=None, config_file=False, include=[str(ROOT / "x88" / "*"), str(ROOT / "search" / "*")]
    )
    _coverage.start()
_current = ""
_seconds: dict[str, float] = defaultdict(float)
_outside: set[str] = set()


def _audit(event: str, _arguments: Any) -> None:
    if event in PROCESSES and _current:
        _outside.add(_current)


sys.addaudithook(_audit)


def pytest_runtest_logstart(nodeid: str) -> None:
    """Count what follows as executed by this test."""
    _switch(nodeid)


def pytest_runtest_logfinish() -> None:
    """Count what follows as executed outside any test."""
    _switch("")


def _switch(nodeid: str) -> None:
    global _current
    _current = nodeid
    if _coverage:
        _coverage.switch_context(nodeid)


def pytest_runtest_logreport(report: Any) -> None:
    """Add up the durations of set-up, call and teardown."""
    _seconds[report.nodeid] += report.duration


def pytest_sessionfinish() -> None:
    """Write the record."""
    lines: dict[str, dict[int, list[str]]] = {}
    if _coverage:
        _coverage.stop()
        data = _coverage.get_data()
        for file in data.measured_files():
            lines[str(Path(file).relative_to(ROOT))] = data.contexts_by_lineno(file)
    record = {"lines": lines, "seconds": _seconds, "outside": sorted(_outside)}
    Path(os.environ["MOFF_TOUCHED"]).write_text(json.dumps(record), encoding="utf-8")
