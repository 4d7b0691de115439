"""Files that are written whole or not at all."""

import contextlib
import errno
import os
import secrets
import shutil


def save(path: str, text: str) -> None:
    """Write a text file in UTF-8, by way of a new file in the same folder. Raises OSError, with an old file
    as it was. What is no file, such as a device or a pipe, is written to directly.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        return
    path = os.path.realpath(path)  # a link stays one
    exists = os.path.exists(path)
    if exists and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    new = os.path.join(os.path.dirname(path), f".{secrets.token_hex(8)}.part")
    with open(new, "x", encoding="utf-8", newline="\n") as stream:
        try:
            stream.write(text)
            stream.close()
            if exists:
                shutil.copymode(path, new)
            os.replace(new, path)
        except BaseException:
            stream.close()
            with contextlib.suppress(OSError):
                os.remove(new)
            raise
