"""Signals: at the start, while there is something to save, and where nobody reads the output."""

import os
import sys

TYPE_CHECKING = False  # as in moff/__init__.py

if TYPE_CHECKING:
    from collections.abc import Callable

INTERRUPTED = 130
"""The exit code after an interrupt from the keyboard."""

try:
    import signal
except KeyboardInterrupt:  # the import takes some milliseconds
    os._exit(INTERRUPTED)

UNREAD = 0.5
"""Seconds for which the output may be full after a signal."""

NUMBERS = (signal.SIGINT, signal.SIGTERM)
ENDS = (signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))
"""The signals that end a program: SIGHUP comes when its terminal closes."""


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


def raise_at_end() -> None:
    """From now on the first of ENDS raises SystemExit in the main thread, which can save what it has.

    Python runs a handler between two steps of a program: that of a signal that comes while `input` begins
    would wait for a line. So the signal is sent again until it has been heeded.
    """
    import threading
    import time

    def leave(_number: int, _frame: object) -> None:
        for number in {*NUMBERS, *ENDS}:
            signal.signal(number, signal.SIG_IGN)  # once is enough
        raise SystemExit

    def repeat() -> None:
        while number := os.read(signals, 1)[0]:
            if number in ENDS:
                time.sleep(0.1)
                signal.pthread_kill(main, number)

    for number in ENDS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores SIGHUP
            signal.signal(number, leave)
    if hasattr(signal, "pthread_kill"):
        main = threading.get_ident()
        signals, wakeup = os.pipe()
        os.set_blocking(wakeup, False)
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
        threading.Thread(target=repeat, daemon=True).start()


def run_until_signal(run: "Callable[[], int]", end: "Callable[[], object]") -> int:
    """The result of `run`. If one of NUMBERS interrupts it, calls `end` and returns 0; raises
    KeyboardInterrupt if the interrupt came from the keyboard.
    """
    came = 0

    def interrupt(number: int, _frame: object) -> None:
        nonlocal came
        came = number
        signal.signal(number, signal.SIG_IGN)  # once is enough
        raise KeyboardInterrupt

    for number in NUMBERS:
        signal.signal(number, interrupt)
    try:
        return run()
    except KeyboardInterrupt:
        _leave_if_unread(came)
        if came == signal.SIGINT and sys.stderr.isatty():
            print(file=sys.stderr, flush=True)  # the terminal has echoed ^C
        end()
        if came == signal.SIGINT:
            raise
        return 0


def _leave_if_unread(number: int) -> None:
    """From now on the process ends, as after this signal, once nobody has read its output for half a second:
    a thread that writes would wait for a reader, and everything else for the thread.
    """
    if sys.platform == "win32":  # select takes only sockets there
        return
    import contextlib
    import select
    import threading
    import time

    def watch() -> None:
        while select.select([], [sys.stdout], [], UNREAD)[1]:
            time.sleep(0.1)
        _leave(number, None)

    with contextlib.suppress(RuntimeError):  # the system refuses more threads
        threading.Thread(target=watch, daemon=True).start()


def _leave(number: int, _frame: object) -> None:
    os._exit(INTERRUPTED if number == signal.SIGINT else 0)
