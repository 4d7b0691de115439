"""Moff on a pseudo-terminal; what imports this is skipped on Windows, which has none."""

import os
import re
import sys
from pathlib import Path

import chess
import pytest

from tests.client import ENGINE, PATIENCE

pexpect = pytest.importorskip("pexpect", reason="pexpect is not installed")
if sys.platform == "win32":
    pytest.skip("Windows has no pseudo-terminals", allow_module_level=True)

SIZE = (60, 250)
"""Rows and columns of the terminal, so wide that no line of ours is broken."""


def environment(**changes: str) -> dict[str, str]:
    """The environment of a process on a terminal that the machine's settings do not reach."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "INPUTRC")}
    return (
        inherited | {"TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8", "INPUTRC": "/dev/null"} | changes
    )


def shown(*arguments: str, **changes: str) -> str:
    """All that moff writes to a terminal."""
    process = pexpect.spawn(
        ENGINE[0],
        [*ENGINE[1:], *arguments],
        env=environment(**changes),
        encoding="utf-8",
        dimensions=SIZE,
        timeout=PATIENCE,
    )
    process.expect(pexpect.EOF)
    process.close()
    assert process.exitstatus == 0
    return str(process.before).replace("\r\n", "\n")


def stripped(text: str) -> str:
    """The text without escape codes."""
    return re.sub(r"\033\[[?\d;]*[A-Za-z]", "", text)


class Player:
    """A person at `moff play`, who types lines and reads what comes up to the next prompt."""

    def __init__(
        self,
        folder: Path,
        *arguments: str,
        colour: chess.Color = chess.WHITE,
        letters: bool = True,
        **changes: str,
    ) -> None:
        """Start a game in `folder` as `colour`; `changes` go into the environment."""
        options = ["--ascii"] * letters + ["--black"] * (not colour)
        self.process = pexpect.spawn(
            ENGINE[0],
            [*ENGINE[1:], "play", *options, *arguments],
            cwd=str(folder),
            env=environment(TERM="dumb") | changes,
            encoding="utf-8",
            dimensions=SIZE,
            timeout=PATIENCE,
        )
        self.process.delaybeforesend = None
        self.process.ptyproc.delayafterclose = self.process.ptyproc.delayafterterminate = 0.01
        # The engine's own moves, "1. e4" for White and "1... e5" for Black, cannot be taken for a prompt.
        self._prompt = r"(?<=\n)(> |\d+\. )" if colour else r"(?<=\n)(> |\d+\.\.\. )"
        self.prompt = ""
        self.raw = ""
        self.output: list[str] = []
        self.read()

    def __enter__(self) -> "Player":
        return self

    def __exit__(self, *_exception: object) -> None:
        try:
            self.process.close(force=True)
        except pexpect.ExceptionPexpect:
            # Killed, but a busy machine takes its time to end it.
            self.process.wait()

    def read(self) -> list[str]:
        """The lines up to the next prompt."""
        self.process.expect(self._prompt)
        self.prompt = self.process.match.group(1)
        self.raw = self.process.before.replace("\r", "")
        self.output = stripped(self.raw).split("\n")[:-1]
        return self.output

    def say(self, line: str) -> list[str]:
        """Type a line; returns what it brings, without its echo."""
        self.process.sendline(line)
        return self.read()[1:]

    def position(self) -> str:
        """The FEN that the console gives."""
        (text,) = self.say("fen")
        return text

    def leave(self, line: str = "quit") -> list[str]:
        """Type a last line and wait for the end; returns what comes before that."""
        self.process.sendline(line)
        return self.end()

    def end(self, code: int = 0) -> list[str]:
        """Wait until the console has ended by itself, with this exit code; returns what it said."""
        self.process.expect(pexpect.EOF)
        self.process.wait()
        assert self.process.exitstatus == code
        return stripped(self.process.before).replace("\r", "").split("\n")
