"""The log of a conversation or a game."""

import contextlib
import sys
import threading
import time
from collections.abc import Callable
from typing import TextIO

from moff.messages import echo
from x88.board import Board
from x88.movegen import legal_moves
from x88.notation import coordinate


class Log:
    """A log file with times, after LaMoSca 0.02: the conversation, and the generated moves before every move.

    If the file cannot be written, that is reported once and logging stops.
    """

    def __init__(self, path: str | None, complain: Callable[[str], object] | None = None) -> None:
        """Nothing is logged without a path. `complain` is called with the path and the problem; None means
        standard error.
        """
        self._path = path
        self._complain = complain or _complain
        self._turn = threading.Lock()
        self._file: TextIO | None = None
        if path is not None:
            try:
                self._file = open(path, "a", encoding="utf-8", errors="backslashreplace", buffering=1)  # noqa: SIM115  (open until the end)
            except (OSError, ValueError) as error:
                self._give_up(error)

    def write(self, text: str) -> None:
        """Write a line with the time, to the millisecond."""
        if self._file is None:
            return
        now = time.time()
        stamp = f"{time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(now))}.{int(now * 1000) % 1000:03}"
        # A search and the conversation may write at the same time.
        with self._turn:
            file = self._file
            try:
                if file is not None:
                    file.write(f"{stamp} {text}\n")
                return
            except (OSError, ValueError) as error:
                failed = error
        self._give_up(failed)

    def close(self) -> None:
        """Close the log."""
        with self._turn:
            file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(OSError):
                file.close()

    def write_moves(self, board: Board, chess960: bool = False) -> None:
        """Write the legal moves in the generator's order; `chess960` as `coordinate.write` takes it."""
        if self._file is not None:
            moves = " ".join(coordinate.write(move, chess960) for move in legal_moves(board))
            self.write(f"Moves: {moves}")

    def _give_up(self, error: Exception) -> None:
        self.close()
        reason = isinstance(error, OSError) and error.strerror
        self._complain(f"{echo(self._path or '')}: {reason or error}; Moff goes on without a log")


def _complain(text: str) -> None:
    print(f"the log {text}", file=sys.stderr)
