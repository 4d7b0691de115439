"""What SIGINT and SIGTERM do before the program has anything to clean up."""

import os

INTERRUPTED = 130
"""The exit code after an interrupt from the keyboard."""

try:
    import signal
except KeyboardInterrupt:  # the import takes some milliseconds
    os._exit(INTERRUPTED)

NUMBERS = (signal.SIGINT, signal.SIGTERM)


def leave_at_once() -> None:
    """From now on these signals end the process quietly, with the same exit codes as later."""
    for number in NUMBERS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # a shell's background job ignores Ctrl-C
            signal.signal(number, _leave)


def as_usual() -> None:
    """From now on an interrupt raises KeyboardInterrupt again, and SIGTERM ends the process."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGTERM) is _leave:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _leave(number: int, _frame: object) -> None:
    os._exit(INTERRUPTED if number == signal.SIGINT else 0)
