"""Lines of standard input, and their text; a signal interrupts the read at once."""

import os
import signal
import sys
from collections.abc import Generator
from typing import BinaryIO

CHUNK = 1 << 16
"""Bytes read at a time."""


def text_of(line: bytes) -> str:
    """A line as text, without the byte order mark that some programs write first. Bytes that are not UTF-8
    still name the file that they name elsewhere; on Windows, programs write them in the system's code page.
    """
    line = line.removeprefix(b"\xef\xbb\xbf")
    if sys.platform != "win32":
        return os.fsdecode(line)
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("mbcs")


def input_lines(stream: BinaryIO) -> Generator[bytes]:
    """The lines of a stream as they come, in the main thread; without their ends, except on Windows.

    Python runs the handler of a signal that interrupts a read. The handler of one that comes just before the
    read, while the thread waits for the GIL, would run only after the read. So this waits both for input and
    for the byte that Python writes for every signal.
    """
    if sys.platform == "win32":  # select takes only sockets there
        yield from stream
        return
    import select

    number = stream.fileno()
    signals, wakeup = os.pipe()
    for end in (signals, wakeup):
        os.set_blocking(end, False)
    before = signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
    try:
        parts: list[bytes] = []
        while True:
            ready, _, _ = select.select([number, signals], [], [])
            if signals in ready:
                os.read(signals, CHUNK)
                continue
            chunk = os.read(number, CHUNK)
            if not chunk:
                break
            first, *others = chunk.split(b"\n")
            parts.append(first)
            for part in others:
                yield b"".join(parts)
                parts = [part]
        if any(parts):
            yield b"".join(parts)
    finally:
        signal.set_wakeup_fd(before)
        os.close(signals)
        os.close(wakeup)
