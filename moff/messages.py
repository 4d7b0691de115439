"""Text that the conversation and the commands share: quoted input, numbers, counts and choices."""

import os
from collections.abc import Iterable
from typing import TextIO

LONGEST_ECHO = 120
LARGEST_NUMBER = 10**15


def can_rewrite(stream: TextIO) -> bool:
    """Whether a line can be rewritten there: on a terminal that supports more than plain text."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def echo(text: str) -> str:
    """Input, quoted in a message."""
    return shorten(repr(text))


def shorten(text: str) -> str:
    """Shorten a message that quotes long input, so that it stays readable."""
    return text if len(text) <= 4 * LONGEST_ECHO else f"{text[:LONGEST_ECHO]} ... {text[-2 * LONGEST_ECHO :]}"


def whole_number(name: str, text: str, least: int, most: int = LARGEST_NUMBER) -> int:
    """The value of a limit or an option. Raises ValueError naming both."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 16 and least <= int(text) <= most):
        raise ValueError(f"{name} takes a whole number from {least} to {most}, not {echo(text)}")
    return int(text)


def counted(count: int, noun: str) -> str:
    """A count with its noun: "1 game", "2 games"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def either(names: Iterable[str]) -> str:
    """The names as a choice: "a, b or c"."""
    *others, last = names
    return f"{', '.join(others)} or {last}"


def suggestion(word: str, known: Iterable[str]) -> str:
    """The known word that was probably meant, as a question that ends a message; empty if there is none."""
    import difflib  # rarely needed, and slow to load

    close = difflib.get_close_matches(word, known, 1)
    return f"; did you mean {close[0]}?" if close else ""


def perft_speed(leaves: int, seconds: float) -> str:
    """The count, time and speed of a perft as text."""
    return f"{counted(leaves, 'node')} {seconds:.3f} s {int(leaves / max(seconds, 1e-9))} nodes/s"
