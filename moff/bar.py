"""A progress bar on standard error."""

import sys
import time
from typing import Final

EVERY: Final = 0.2
"""Seconds between two pictures of the bar."""


class Bar:
    """A line on the terminal that says how much is done. It draws nothing where standard error is no
    terminal, or where the results go to the same one and both would spoil each other.
    """

    def __init__(self, alone: bool = True) -> None:
        """`alone` says that standard output must not be a terminal."""
        self._is_shown = sys.stderr.isatty() and not (alone and sys.stdout.isatty())
        self._drawn = 0.0

    def show(self, part: float | None, text: str) -> None:
        """Draw the bar, five times a second at most: the part done, from 0 to 1, if it is known."""
        now = time.monotonic()
        if not self._is_shown or now - self._drawn < EVERY:
            return
        self._drawn = now
        if part is not None:
            part = min(1.0, part)
            text = f"[{'#' * int(30 * part):30}] {100 * part:3.0f} %  {text}"
        sys.stderr.write(f"\r{text}\033[K")
        sys.stderr.flush()

    def clear(self) -> None:
        """Take the bar off the terminal."""
        if self._is_shown and self._drawn:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
        self._drawn = 0.0
