"""A small UCI client: it starts an engine, sends it positions and waits for its moves, with timeouts."""

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
"""Seconds that an engine may take to start or to answer `isready`."""

ENDING = 1.0
"""Seconds that an engine may take to exit after `quit`."""

STOPPING = 5.0
"""Seconds that an engine may take to answer `stop`."""

STOP_INTERVAL = 0.2
"""Seconds between checks whether a waiting client must stop."""

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
    """The answer to a `go`: the move's text, the seconds it took, the last reported score of the best line
    (centipawns from the engine's own side, or moves to mate) and its depth; all reported variations, and the
    last one of the best line; the reply that it expects, or "".
    """

    move: str
    seconds: float
    score: int | None = None
    mate: int | None = None
    depth: int = 0
    variations: tuple[str, ...] = ()
    line: str = ""
    reply: str = ""


class Interrupted(Exception):
    """The wait for an answer was cancelled."""


class EngineFault(Exception):
    """An engine failed; `kind` is "crash", "disconnect", "stall" or "hasty" (a move while it should ponder)
    here, and callers may add their own.
    """

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


@dataclass
class _Info:
    """The last reported score, depth and variation of the best line of a search, and all variations."""

    score: int | None = None
    mate: int | None = None
    depth: int = 0
    variations: list[str] = field(default_factory=list)
    line: str = ""

    def read(self, words: list[str]) -> None:
        """Read an info line; malformed parts, free text and other lines than the best are skipped."""
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
    """The options that an engine refuses, given its answer to `uci`, one message each."""
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

    `refused` has a message for each option that the engine lacks or whose value it does not accept;
    `start_seconds` is the time from its start to `uciok`.
    """

    def __init__(self, spec: EngineSpec, stopping: Callable[[], bool] | None = None) -> None:
        """Start the engine and set its options.

        Every wait for the engine, here and later, raises EngineFault if the engine dies or does not answer in
        time, and Interrupted soon after `stopping` returns True.
        """
        self.name = spec.name
        began = time.perf_counter()
        self._stopping = stopping or (lambda: False)
        self._pondered = ""  # the position line being pondered
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        try:
            # In its own session, so that a Ctrl-C does not reach the engines, and so that processes started
            # by the engine can be ended with it.
            self._process = subprocess.Popen(
                spec.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=spec.folder and Path(spec.folder),
                encoding="utf-8",
                errors="replace",
                bufsize=1,
                start_new_session=True,
            )
        except OSError as error:
            raise EngineFault("crash", f"{spec.name} cannot be started: {error}") from None
        threading.Thread(target=self._read, daemon=True).start()
        try:
            self.send("uci")
            lines = self.read_until("uciok", START_TIMEOUT)
            self.start_seconds = time.perf_counter() - began
            self.refused = refused(spec, lines)
            for name, value in spec.options:
                self.send(f"setoption name {name} value {value}")
            self.wait_until_ready()
        except (EngineFault, Interrupted):
            self.close()
            raise

    def __enter__(self) -> "UciEngine":
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def new_game(self) -> None:
        """Announce a new game and wait until the engine is ready for it."""
        self.send("ucinewgame")
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        """Send `isready` and wait for the answer."""
        self.send("isready")
        self.read_until("readyok", START_TIMEOUT)

    def ponder(self, position: str, limits: str) -> None:
        """Let it ponder on a `position` line that assumes the opponent's next move."""
        self._drop_old_lines()
        self._pondered = position
        self.send(position)
        self.send(limits.replace("go", "go ponder", 1))

    def go(self, position: str, limits: str, patience: float) -> Answer:
        """The engine's move for a `position` line within the limits of a `go` line, in `patience` seconds."""
        info = _Info()
        is_hit, self._pondered = self._pondered == position, ""
        if is_hit:
            self._take_in(info)
        else:
            self._drop_old_lines()
            self.send(position)
        started = time.perf_counter()
        self.send("ponderhit" if is_hit else limits)
        while True:
            line = self._line(started + patience - time.perf_counter())
            seconds = time.perf_counter() - started
            words = line.split()
            if words[:1] == ["info"]:
                info.read(words)
            elif words[:1] == ["bestmove"]:
                move = words[1] if len(words) > 1 else "(none)"
                reply = words[3] if words[2:3] == ["ponder"] and len(words) > 3 else ""
                told = tuple(info.variations)
                return Answer(move, seconds, info.score, info.mate, info.depth, told, info.line, reply)

    def stop_pondering(self, position: str) -> None:
        """Stop it unless it is pondering on this `position` line."""
        if self._pondered and self._pondered != position:
            self._take_in(_Info())
            self._pondered = ""
            self.send("stop")
            self.read_until("bestmove", STOPPING)

    def _take_in(self, info: _Info) -> None:
        """Read what it has reported while pondering. It must not have moved."""
        while not self._lines.empty():
            line = self._lines.get()
            if line is None:
                self._lines.put(None)
                return
            words = line.split()
            if words[:1] == ["info"]:
                info.read(words)
            elif words[:1] == ["bestmove"]:
                raise EngineFault("hasty", f"{self.name} moves while it should ponder: {line.strip()}")

    def close(self) -> None:
        """End the engine, first politely and then by force, with all processes that it has started."""
        with contextlib.suppress(EngineFault):
            self.send("quit")
        with contextlib.suppress(OSError):
            if self._process.stdin:
                self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(ENDING)
        if sys.platform == "win32":
            self._process.kill()
        else:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # already gone
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def send(self, line: str) -> None:
        """Send a line. Raises EngineFault if the engine is gone."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except (OSError, ValueError):
            raise self._gone() from None

    def _gone(self) -> EngineFault:
        """The fault of an engine that can no longer be reached."""
        try:
            self._process.wait(ENDING)
        except subprocess.TimeoutExpired:
            return EngineFault("disconnect", f"{self.name} has closed its input or output")
        return EngineFault("crash", f"{self.name} has ended")

    def _read(self) -> None:
        """Queue every line, and None at the end of the engine's output."""
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

    def read_until(self, word: str, patience: float, anywhere: bool = False) -> list[str]:
        """The lines up to and including the next one that begins with a word, or contains it if `anywhere`,
        within `patience` seconds.
        """
        deadline = time.perf_counter() + patience
        lines: list[str] = []
        while True:
            lines.append(self._line(deadline - time.perf_counter()))
            words = lines[-1].split()
            if word in (words if anywhere else words[:1]):
                return lines

    @property
    def process_id(self) -> int:
        """The process id of the engine."""
        return self._process.pid

    def _drop_old_lines(self) -> None:
        """Drop lines that the engine sent before the question, but not the end of its output."""
        while not self._lines.empty():
            if self._lines.get() is None:
                self._lines.put(None)
                return
