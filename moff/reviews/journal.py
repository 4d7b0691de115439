"""A file of the results of a long job so far, so that it can continue after an interrupt."""

import contextlib
import json
import os
import sys
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO


class Journal:
    """A file of results, one per line; the first line describes the job.

    Every line carries a checksum. A damaged line, such as one being written in a crash, is dropped together
    with all that follow it.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._file: BinaryIO | None = None

    def open(self, job: dict[str, Any]) -> list[Any]:
        """Open the journal of a job, or begin it; returns its results. Raises OSError, or ValueError if it
        belongs to another job, is not a journal, or is in use; the file is then left unchanged.
        """
        file = open(self.path, "r+b" if os.path.exists(self.path) else "x+b")  # noqa: SIM115
        try:
            _lock(file)
            results, good = _read(file)
            if good and results[0] != job:
                raise ValueError(_difference(results[0], job))
            if not good and file.seek(0, os.SEEK_END):
                raise ValueError("it is not a journal")
            file.seek(good)
            file.truncate()
            self._file = file
            if not good:
                self.add(job)
        except BaseException:
            file.close()
            raise
        return results[1:]

    def add(self, result: Any) -> None:
        """Append a result. Raises OSError."""
        assert self._file is not None, "not open"
        with _named(self.path):
            self._file.write(_line(result))
            self._file.flush()

    def close(self) -> None:
        """Close the journal, to be continued later."""
        file, self._file = self._file, None
        if file is not None:
            with _named(self.path):
                file.close()

    def remove(self) -> None:
        """Remove the journal: the job is done."""
        self.close()
        os.remove(self.path)


@contextlib.contextmanager
def _named(path: str) -> Iterator[None]:
    """Make errors name the file, which the error of a full disk does not."""
    try:
        yield
    except OSError as error:
        error.filename = path
        raise


def _lock(file: BinaryIO) -> None:
    """Lock the journal against other processes, where the system has such locks, until this one ends."""
    if sys.platform != "win32":
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError("another process is writing to it") from None


def _line(result: Any) -> bytes:
    text = json.dumps(result, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _read(file: BinaryIO) -> tuple[list[Any], int]:
    """The results of all lines up to the first that is damaged, and where that begins."""
    results = []
    good = 0
    for line in file:
        checksum, _, text = line.removesuffix(b"\n").partition(b" ")
        if not line.endswith(b"\n") or checksum != b"%08x" % zlib.crc32(text):
            break
        try:
            results.append(json.loads(text))
        except ValueError:
            break
        good += len(line)
    return results, good


def _difference(known: Any, job: dict[str, Any]) -> str:
    """The difference of a journal's job from this one."""
    if isinstance(known, dict):
        for name, value in job.items():
            if known.get(name) != value:
                return f"it is the journal of a job with {name} {known.get(name)!r}, not {value!r}"
    return "it is the journal of another job"
