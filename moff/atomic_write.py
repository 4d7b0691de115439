"""Files that are written completely or not at all."""

import contextlib
import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from typing import BinaryIO


def save(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file in UTF-8 as `writing` does. Raises OSError."""
    with writing(path) as stream:
        stream.write(text.encode())


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A new file in the same folder to write to, which replaces the old one at the end unless an exception is
    raised. Raises OSError. A device or a pipe is written directly.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as stream:
            yield stream
        return
    target = os.path.realpath(path)  # a link stays a link
    exists = os.path.exists(target)
    if exists and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    new = os.path.join(os.path.dirname(target), f".{secrets.token_hex(8)}.part")
    try:
        stream = open(new, "xb")  # noqa: SIM115  (it is closed before it is renamed)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None
    try:
        yield stream
        stream.close()
        if exists:
            shutil.copymode(target, new)
        os.replace(new, target)
    except BaseException:
        with contextlib.suppress(OSError):
            stream.close()
        with contextlib.suppress(OSError):
            os.remove(new)
        raise
