"""The build under test, the profiles of Hypothesis, the list of skipped tests, and an engine to talk to."""

import os
import signal
import sys
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.client import Conversation
from x88 import build

SKIPPED = os.environ.get("MOFF_SKIPPED", "")
"""A file for the names of the tests that were skipped, one a line: `pytest @FILE` runs these."""

WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
"""The process among those that run the tests in parallel; empty in the one that collects their reports, or
if there is only one.
"""

FORCED_PURE = os.environ.get("MOFF_PURE", "0") not in ("", "0")

settings.register_profile(
    "moff",
    deadline=None,
    derandomize="CI" in os.environ,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("long", settings.get_profile("moff"), max_examples=5000, derandomize=False)
settings.load_profile("moff")

# For the processes that tests start, whose pipes have the system's code page on Windows otherwise.
os.environ["PYTHONIOENCODING"] = "utf-8"

# Whoever starts the tests in the background may have them ignore Ctrl-C, or a closed terminal; the processes
# that they start and end by a signal would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_configure() -> None:
    """Refuse a stale build: the tests would pass or fail for code that nobody reads any more."""
    if build.problem and not FORCED_PURE:
        advice = "(MOFF_PURE=1 in the environment tests the uncompiled source instead)"
        pytest.exit(f"{build.problem}\n{advice}", returncode=1)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Say which build runs; a report header would not be shown under -q."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.write_line(f"Moff: {'compiled modules' if build.compiled else 'uncompiled source'}")


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Note a file of tests that was skipped. Every worker collects all files; pytest runs one that is noted
    twice only once.
    """
    if WORKER in ("", "gw0"):
        _note_if_skipped(report)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a test that was skipped."""
    if not WORKER:
        _note_if_skipped(report)


def _note_if_skipped(report: pytest.CollectReport | pytest.TestReport) -> None:
    if SKIPPED and report.skipped:
        with open(SKIPPED, "a", encoding="utf-8") as file:
            print(report.nodeid, file=file)


@pytest.fixture
def moff(request: pytest.FixtureRequest) -> Iterator[Conversation]:
    """A conversation with the engine, ended with the test; `tests.client.on_threads` sets its threads."""
    with Conversation(threads=getattr(request, "param", 1)) as conversation:
        yield conversation
