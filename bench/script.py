"""Shared by the scripts of this folder: help, optional packages, exit codes and interrupts.

Importing it makes them use this checkout, whatever is installed.
"""

import argparse
import contextlib
import functools
import hashlib
import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, NoReturn, ParamSpec

ROOT = Path(__file__).resolve().parent.parent
"""The root of this checkout."""

sys.path.insert(0, str(ROOT))

BENCH_ONLY = ("replay",)
"""Modules that choose no move, and that an installed Moff lacks."""

WRONG_USAGE = 2
INTERRUPTED = 130
"""Exit codes, as shells use them."""

Parameters = ParamSpec("Parameters")


def fingerprint(root: Path = ROOT) -> str:
    """A short hash of all files of this Moff that take part in choosing a move."""
    digest = hashlib.sha256()
    for path in sorted(path for folder in ("search", "x88") for path in (root / folder).rglob("*")):
        if path.suffix in (".py", ".pxd", ".net") and path.stem not in BENCH_ONLY:
            digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def parser(description: str) -> argparse.ArgumentParser:
    """A parser whose --help begins with this text, with its line breaks."""
    return argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def positive(text: str) -> int:
    """The value of an option that takes a whole number from 1 up. Raises ArgumentTypeError."""
    if not text.isdecimal() or len(text) > 18 or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 up")
    return int(text)


def numbered_lines(path: Path) -> list[tuple[int, str]]:
    """The lines of a text file with their numbers, without empty ones and comments. Raises OSError."""
    lines = path.read_text(encoding="utf-8-sig", errors="replace").split("\n")
    return [(n, line) for n, line in enumerate(lines, 1) if line.strip() and line.lstrip()[0] != "#"]


def require(extra: str, *packages: str) -> None:
    """Raise ImportError, with the command that installs them, if packages of an extra are missing."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        names = " and ".join([", ".join(missing[:-1])] * (len(missing) > 1) + missing[-1:])
        verb = "is" if len(missing) == 1 else "are"
        command = f'python -m pip install -e ".[{extra}]"'  # double quotes, for cmd.exe
        raise ImportError(f"{names} {verb} not installed: {command}")


def cannot_begin(error: ImportError, extra: str, description: str) -> NoReturn:
    """End a script that needs packages of an extra for everything but its `--help`."""
    message = f'{error}: python -m pip install -e ".[{extra}]"'
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(f"{description.strip()}\n\nThe options are listed once the extra is there. {message}")
        sys.exit(0)
    print(message, file=sys.stderr)
    sys.exit(WRONG_USAGE)


def command(main: Callable[Parameters, int]) -> Callable[Parameters, int]:
    """A `main` that ends every failure with one line on standard error.

    ImportError, ValueError, OSError and MemoryError become exit code 2; an interrupt (Ctrl-C, SIGTERM,
    SIGHUP) becomes 130, with the text of the KeyboardInterrupt if it has one.
    """

    @functools.wraps(main)
    def run(*arguments: Parameters.args, **keywords: Parameters.kwargs) -> int:
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) != signal.SIG_IGN:  # nohup ignores SIGHUP
                signal.signal(number, signal.default_int_handler)
        try:
            return main(*arguments, **keywords)
        except (ImportError, ValueError, OSError, MemoryError) as error:
            print(error, file=sys.stderr)
            return WRONG_USAGE
        except KeyboardInterrupt as error:
            print(str(error) or "interrupted", file=sys.stderr)
            return INTERRUPTED

    return run


def idly() -> int | None:
    """Have this process use a processor only while no other one wants it; where the system does not offer or
    allow that, at the lowest priority. Raises ValueError if there is none.

    Linux shares processors between sessions first (`autogroup` in sched(7)), so the script runs again in a
    session of its own. In the first process, returns the exit code of that one; in that one, None.
    """
    if not hasattr(os, "nice"):
        raise ValueError("--idle: this system has no priorities for it")
    if os.getsid(0) != os.getpid():
        return run([sys.executable, *sys.argv], start_new_session=True)
    os.nice(19)
    with contextlib.suppress(OSError):
        Path("/proc/self/autogroup").write_text("19", encoding="ascii")
    if hasattr(os, "SCHED_IDLE"):
        with contextlib.suppress(PermissionError):
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    return None


def run(command: list[str], start_new_session: bool = False) -> int:
    """The exit code of another process, as shells have it; an interrupt ends that process too."""
    with subprocess.Popen(command, start_new_session=start_new_session) as process:
        try:
            code = process.wait()
        except KeyboardInterrupt:
            process.terminate()
            code = process.wait()
    return code if code >= 0 else 128 - code


def lock(file: IO[Any], shared: bool = False) -> bool:
    """Lock a file, where the system supports it; returns whether no other process holds the lock."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
