"""A small UCI client: it starts an engine, sends it positions and waits for its moves, never for ever."""

import contextlib
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

START_TIMEOUT = 30.0
"""Seconds that an engine may take to start, or to be ready."""

ENDING = 1.0
"""Seconds that an engine may take from its last word to its end."""

STOP_INTERVAL = 0.2
"""Seconds after which a waiting client looks whether it is to stop."""

_OPTION = re.compile(r"option\s+name\s+(.+?)\s+type\s+(\S*)(.*)")
_BOUND = re.compile(r"\s(min|max)\s+(-?\d+)(?!\S)")


@dataclass(frozen=True)
class EngineSpec:
    """How to start an engine: its name in the results, its command, options and folder."""

    name: str
    command: tuple[str, ...]
    options: tuple[tuple[str, str], ...] = ()
    folder: str | None = None


@dataclass(frozen=True)
class Answer:
    """What came back from a search: the move's text, the last score told of the best line (centipawns from
    the engine's own side, or moves to mate), the depth, and the seconds from question to answer; all
    variations told, and the last one of the best line.
    """

    move: str
    seconds: float
    score: int | None = None
    mate: int | None = None
    depth: int = 0
    variations: tuple[str, ...] = ()
    line: str = ""


class Interrupted(Exception):
    """The answer is not waited for any more."""


class EngineFault(Exception):
    """An engine that does not do what is asked of it; `kind` is "crash", "disconnect" or "stall" here, and
    others may add theirs.
    """

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


@dataclass
class _Info:
    """The last score, depth and variation told of the best line during a search, and all variations."""

    score: int | None = None
    mate: int | None = None
    depth: int = 0
    variations: list[str] = field(default_factory=list)
    line: str = ""

    def read(self, words: list[str]) -> None:
        """Take in an info line; what is malformed, free text or another line than the best is passed over."""
        if "string" in words:
            words = words[: words.index("string")]
        line = ""
        if "pv" in words:
            line = " ".join(words[words.index("pv") + 1 :])
            self.variations.append(line)
        with contextlib.suppress(ValueError, IndexError):
            if "multipv" in words and int(words[words.index("multipv") + 1]) != 1:
                return
            self.line = line or self.line
            if "score" not in words:
                return
            at = words.index("score")
            number = int(words[at + 2])
            self.score, self.mate = (number, None) if words[at + 1] == "cp" else (None, number)
            self.depth = int(words[words.index("depth") + 1])


def refused(spec: EngineSpec, lines: list[str]) -> list[str]:
    """What an engine whose answer to `uci` these lines are will not make of its options, one line each."""
    known = {found[1].lower(): found for found in map(_OPTION.match, lines) if found}
    told = []
    for name, value in spec.options:
        option = known.get(name.lower())
        if option is None:
            told.append(f"{spec.name} has no option {name!r}")
            continue
        bounds = {key: int(number) for key, number in _BOUND.findall(option[3])}
        if option[2] == "spin" and {"min", "max"} <= bounds.keys():
            with contextlib.suppress(ValueError):
                if bounds["min"] <= int(value) <= bounds["max"]:
                    continue
            told.append(f"{spec.name} takes {name} from {bounds['min']} to {bounds['max']}, not {value}")
    return told


class UciEngine:
    """A running engine. Use it as a context manager, which ends the process.

    `refused` says which of the options that it was sent it does not tell of, or not with such a value.
    """

    def __init__(self, spec: EngineSpec, stopping: Callable[[], bool] | None = None) -> None:
        """Start the engine and set its options.

        What waits for the engine, here and later, raises EngineFault if the engine dies or does not answer in
        time, and Interrupted soon after `stopping` says so.
        """
        self.name = spec.name
        self._stopping = stopping or (lambda: False)
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        try:
            # A session of its own: an interrupt from the keyboard is for the match, not for the engines; and
            # what the engine starts can be ended with it.
            self._process = subprocess.Popen(
                spec.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=spec.folder and Path(spec.folder),
                text=True,
                encoding="utf-8",
                errors="replace",
                bufsize=1,
                start_new_session=True,
            )
        except OSError as error:
            raise EngineFault("crash", f"{spec.name} cannot be started: {error}") from None
        threading.Thread(target=self._read, daemon=True).start()
        try:
            self._send("uci")
            self.refused = refused(spec, self._wait_for("uciok", START_TIMEOUT))
            for name, value in spec.options:
                self._send(f"setoption name {name} value {value}")
            self._ready()
        except (EngineFault, Interrupted):
            self.close()
            raise

    def __enter__(self) -> "UciEngine":
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def new_game(self) -> None:
        """Tell of a new game, and wait until the engine is ready for it."""
        self._send("ucinewgame")
        self._ready()

    def go(self, position: str, limits: str, patience: float) -> Answer:
        """The engine's move for a `position` line within the limits of a `go` line, in `patience` seconds."""
        self._drop_old_lines()
        self._send(position)
        info = _Info()
        started = time.perf_counter()
        self._send(limits)
        while True:
            line = self._line(started + patience - time.perf_counter())
            seconds = time.perf_counter() - started
            words = line.split()
            if words[:1] == ["info"]:
                info.read(words)
            elif words[:1] == ["bestmove"]:
                move = words[1] if len(words) > 1 else "(none)"
                told = tuple(info.variations)
                return Answer(move, seconds, info.score, info.mate, info.depth, told, info.line)

    def close(self) -> None:
        """End the engine: politely, and then by force, with all that it has started."""
        with contextlib.suppress(EngineFault):
            self._send("quit")
        with contextlib.suppress(OSError):
            if self._process.stdin:
                self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(ENDING)
        if sys.platform == "win32":
            self._process.kill()
        else:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # there is no one left
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _ready(self) -> None:
        self._send("isready")
        self._wait_for("readyok", START_TIMEOUT)

    def _send(self, line: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except (OSError, ValueError):
            raise self._gone() from None

    def _gone(self) -> EngineFault:
        """The fault of an engine that can be read or written no more."""
        try:
            self._process.wait(ENDING)
        except subprocess.TimeoutExpired:
            return EngineFault("disconnect", f"{self.name} has closed its input or output")
        return EngineFault("crash", f"{self.name} has ended")

    def _read(self) -> None:
        """Pass every line on, and None at the end of the engine's output."""
        assert self._process.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            for line in self._process.stdout:
                self._lines.put(line)
        self._lines.put(None)

    def _line(self, patience: float) -> str:
        deadline = time.perf_counter() + patience
        while True:
            if self._stopping():
                raise Interrupted
            left = max(0.0, deadline - time.perf_counter())
            try:
                line = self._lines.get(timeout=min(left, STOP_INTERVAL))
                break
            except queue.Empty:
                if left <= STOP_INTERVAL:
                    raise EngineFault("stall", f"{self.name} does not answer") from None
        if line is None:
            self._lines.put(None)
            raise self._gone()
        return line

    def _wait_for(self, word: str, patience: float) -> list[str]:
        """The lines up to the one that begins with a word."""
        deadline = time.perf_counter() + patience
        lines: list[str] = []
        while (line := self._line(deadline - time.perf_counter())).split()[:1] != [word]:
            lines.append(line)
        return lines

    def _drop_old_lines(self) -> None:
        """Forget what was said before the question, but not that the engine has ended."""
        while not self._lines.empty():
            if self._lines.get() is None:
                self._lines.put(None)
                return
