"""`main`, the command `moff`: carries out a command line, or speaks UCI where there is none."""

import io
import os
import sys

from moff.signals import INTERRUPTED, as_usual, leave_at_once, run_until_signal


def main() -> int:
    """The `moff` command: UCI without arguments. Returns the exit code: 0 done, 1 faulty input, 130
    interrupted; wrong usage exits with 2.
    """
    leave_at_once()  # the imports take a while
    _load_packages()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A message quotes its input and names of files, which the encoding may not know.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = _run(sys.argv[1:])
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except BrokenPipeError:
        _give_up_output()
        return 0
    except OSError as error:
        if error.filename is None:
            _give_up_output()
        name = "standard output" if error.filename is None else error.filename
        print(f"{name}: {error.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            _give_up_output()
        return INTERRUPTED


def _load_packages() -> None:
    """Load Moff's own packages, although a user's `search.py` or `x88.py` may come first on the path."""
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    import search  # noqa: F401  (and with it x88)

    del sys.path[0]  # what else is in that folder must not hide the standard library


def _run(arguments: list[str]) -> int:
    """Carry out a command line."""
    if not arguments:
        return _converse()
    from moff import commands  # a GUI, which gives no arguments, need not wait for it

    if arguments[0] in commands.NAMES or arguments[0].startswith("-"):
        as_usual()
        return commands.run(arguments, _converse)
    from moff.uci.conversation import Engine

    engine = Engine(is_typed=True)
    lines = engine.split(arguments)
    if not lines:
        return commands.run(arguments, _converse)
    commands.warn_if_uncompiled()

    def run() -> int:
        engine.carry_out(lines)
        engine.end()
        return min(1, engine.faults)

    return run_until_signal(run, lambda: engine.end(at_once=True))


def _converse(log: str = "") -> int:
    """Speak UCI until the end of input or a signal to end, with a log if there is a file for it. Returns 1 if
    the log cannot be opened.
    """
    if sys.stdin is None or sys.stdout is None:
        return 0  # there is nobody to talk to
    from moff.uci.conversation import Engine

    engine = Engine(is_typed=sys.stdin.isatty() and sys.stdout.isatty())

    def run() -> int:
        if log:
            engine.start_log(log, "the log")
        code = min(1, engine.faults)
        engine.run()
        return code

    return run_until_signal(run, lambda: engine.end(at_once=True))


def _give_up_output() -> None:
    """Nobody reads our output any more: redirect it, or the interpreter complains on exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
