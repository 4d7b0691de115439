"""A UCI client and the command line for the tests: the real engine process over pipes, or `main` itself."""

import contextlib
import io
import itertools
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from queue import Empty, Queue
from typing import Any, NamedTuple

import pytest

from moff.main import main
from moff.signals import NUMBERS
from tests import ROOT

ENGINE = [sys.executable, str(ROOT / "engine.py")]
"""The command that starts the engine of this checkout."""

PATIENCE = 60.0
"""Seconds to wait for a line before a test fails; the uncompiled engine on a busy machine needs some."""

THREADS = [int(number) for number in os.environ.get("MOFF_THREADS", "1 2 8").split()]
"""The numbers of threads that the tests of conversations run with."""

on_threads = pytest.mark.parametrize("moff", THREADS, indirect=True, ids=lambda number: f"threads{number}")
"""Runs a test of the fixture `moff` with each of these numbers of threads."""


def with_threads(cases: Iterable[Any], repeated: Iterable[Any]) -> list[Any]:
    """All cases of a test with the first number of threads, and those to repeat with the others by turns, as
    pairs of a number and a case.
    """
    first, *others = THREADS
    pairs = [*((first, case) for case in cases), *zip(itertools.cycle(others), repeated, strict=False)]
    return [pytest.param(number, case, id=f"threads{number}-{case}") for number, case in pairs]


MOVE = "[a-h][1-8][a-h][1-8][qrbn]?"
LINES = re.compile(
    rf"info depth (0 |\d+ (?=.* pv ))seldepth \d+ multipv \d+ score (cp|mate) -?\d+( lowerbound| upperbound)?"
    rf"( wdl \d+ \d+ \d+)? nodes \d+ nps \d+ hashfull \d+ tbhits \d+ time \d+( pv( {MOVE})+)?"
    rf"|info depth \d+ currmove {MOVE} currmovenumber \d+"
    rf"|info string [^\n]*|bestmove ({MOVE}( ponder {MOVE})?|\(none\))"
    rf"|readyok|uciok|id (name|author) .+|option name .+ type (spin|check|button|string).*"
    rf"|{MOVE}: \d+|Nodes searched: \d+|(Total time \(ms\)|Nodes searched |Nodes/second   ) : \d+"
    rf"|\d+ nodes \d+ nps( \(\d+ threads\))?|"
)
"""Every line of output but those of `d`, `eval` and `moves`."""


class Ended(NamedTuple):
    """How a command ended; standard error without the notice of the uncompiled build."""

    code: int
    output: str
    errors: str


def run(*arguments: str, text: str = "", command: list[str] = ENGINE, **options: Any) -> Ended:
    """Run `moff` in a process of its own; the options are those of `subprocess.run`."""
    done = subprocess.run(
        [*command, *arguments],
        input=text,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        timeout=300,
        **options,
    )
    return Ended(done.returncode, done.stdout, _without_notice(done.stderr))


def call(*arguments: str) -> Ended:
    """Run `moff` in this process, which saves the start of another one."""
    output, errors = io.StringIO(), io.StringIO()
    handlers = [(number, signal.getsignal(number)) for number in NUMBERS]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["moff", *arguments])
        try:
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
                code = main()
        except SystemExit as end:
            code = int(end.code or 0)
        finally:
            for number, handler in handlers:
                signal.signal(number, handler)
    return Ended(code, output.getvalue(), _without_notice(errors.getvalue()))


def _without_notice(errors: str) -> str:
    return "".join(line for line in errors.splitlines(True) if not line.startswith("Moff runs uncompiled"))


class Conversation:
    """A running engine that is written to and read from line by line."""

    def __init__(self, pure: bool = False, threads: int = 1) -> None:
        """`pure` forces the uncompiled source; otherwise the engine runs on the same build as the tests."""
        environment = dict(os.environ, MOFF_PURE="1") if pure else None
        self.process = subprocess.Popen(
            ENGINE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
        )
        self.lines: Queue[str] = Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.threads = threads
        if threads > 1:
            self.send(f"setoption name Threads value {threads}")

    def __enter__(self) -> "Conversation":
        return self

    def __exit__(self, *_exception: object) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()

    def _read(self) -> None:
        for raw in self.process.stdout:
            self.lines.put(raw.decode().rstrip("\r\n"))

    def send(self, *lines: str) -> None:
        """Write lines at once."""
        self.process.stdin.write("".join(line + "\n" for line in lines).encode())
        self.process.stdin.flush()

    def send_bytes(self, data: bytes) -> None:
        """Write raw bytes."""
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def read(self) -> str:
        """The next line of output. Says so if the engine has ended, or is silent for too long."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            has_ended = not self._reader.is_alive()
            try:
                return self.lines.get(timeout=0 if has_ended else 0.5)
            except Empty:
                if has_ended:
                    code, said = self.process.wait(PATIENCE), self.process.stderr.read().decode()
                    raise AssertionError(f"the engine has ended with {code}: {said}") from None
        raise AssertionError(f"no output within {PATIENCE} s")

    def until(self, start: str) -> list[str]:
        """All lines up to and with the first that begins with `start`."""
        seen = [self.read()]
        while not seen[-1].startswith(start):
            seen.append(self.read())
        return seen

    def ready(self) -> list[str]:
        """All lines before the answer to isready: the output of earlier commands."""
        self.send("isready")
        return self.until("readyok")[:-1]

    def end(self) -> int:
        """Close the engine's input and return its exit code."""
        self.process.stdin.close()
        return self.process.wait(PATIENCE)


def info_lines(lines: list[str]) -> list[str]:
    """The reports of a search."""
    return [line for line in lines if line.startswith("info") and not line.startswith("info string")]


def nodes_of(lines: list[str], depth: int | None = None) -> int:
    """The nodes of a search, or those until it had reached a depth."""
    reached = [line for line in info_lines(lines) if depth is None or f"depth {depth} seldepth" in line]
    found = re.search(r" nodes (\d+)", reached[-1])
    assert found, reached[-1]
    return int(found[1])
