"""A progress bar on standard error."""

import sys
import time
from typing import Final

from moff.messages import can_rewrite

EVERY: Final = 0.1
"""Seconds between redraws of the bar, and before the first one."""


class Bar:
    """A line on the terminal that shows progress; nothing is drawn without a terminal."""

    def __init__(self, beside_results: bool = False) -> None:
        """`beside_results` draws it beside output on a terminal, too: call `clear` before printing there."""
        self._is_shown = can_rewrite(sys.stderr) and (beside_results or not sys.stdout.isatty())
        self._drawn = time.monotonic()
        self._is_visible = False

    def show(self, part: float | None, text: str) -> None:
        """Draw the bar, at most ten times a second: the part done, from 0 to 1, if known."""
        now = time.monotonic()
        if not self._is_shown or now - self._drawn < EVERY:
            return
        self._drawn = now
        self._is_visible = True
        if part is not None:
            part = min(1.0, part)
            text = f"[{'#' * int(30 * part):30}] {100 * part:3.0f} %  {text}"
        sys.stderr.write(f"\r{text}\033[K")
        sys.stderr.flush()

    def clear(self) -> None:
        """Erase the bar."""
        if self._is_visible:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
        self._is_visible = False
