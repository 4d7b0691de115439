"""Checks that the files of an endgame tablebase are intact.

Every block of a table is read. Tables are also compared with the lists of checksums next to them, which
published tables have (in md5sum's format: checksum and name): only these show every damage.
"""

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from search.syzygy.file import MAGIC, Table
from search.syzygy.tablebase import parse_name

LIST: Final = re.compile(r"checksum|md5|sha\d", re.IGNORECASE)
"""The name of a checksum list contains this."""

LINE: Final = re.compile(r"([0-9a-fA-F]+) [ *](?:.*[/\\])?([^/\\]+)")

ALGORITHMS: Final = {32: "md5", 40: "sha1", 64: "sha256", 128: "sha512"}
"""By the number of hexadecimal digits."""

LONGEST_LIST: Final = 1 << 24
"""Bytes."""

CHUNK: Final = 1 << 20
"""Bytes hashed between two progress reports."""


class Finding(NamedTuple):
    """A message about a file or a folder."""

    path: str
    text: str
    is_fault: bool
    """Whether it is a bad table, a list that cannot be read, or a folder without tables."""


class _Listed(NamedTuple):
    """A list's entry for a table."""

    digest: str
    source: str


class Check:
    """A check of folders; `tables`, `bad` and `done` count while it runs."""

    def __init__(self, folders: list[str]) -> None:
        self.tables = 0
        """Tables checked so far."""
        self.bad = 0
        self.listed = 0
        """Tables named in a checksum list."""
        self.done = 0
        """Bytes."""
        self.total = 0
        """Bytes of all tables."""
        self._folders = folders
        self._progress: Callable[[str], None] = lambda _: None

    def findings(self, progress: Callable[[str], None] = lambda _: None) -> Iterator[Finding]:
        """The findings, folder by folder; `progress` is called now and then with the current file's name."""
        self._progress = progress
        folders = []
        for folder in self._folders:
            try:
                names = sorted(os.listdir(folder))
            except OSError as error:
                yield Finding(folder, error.strerror or str(error), True)
                continue
            folders.append((folder, names))
            for name in names:
                if parse_name(name):
                    self.total += _size(os.path.join(folder, name))
        for folder, names in folders:
            yield from self._check_folder(folder, names)

    def _check_folder(self, folder: str, names: list[str]) -> Iterator[Finding]:
        """Reads the lists first, then checks the tables."""
        tables = [name for name in names if parse_name(name)]
        if not tables:
            yield Finding(folder, "there is no table in it", True)
        listed: dict[str, _Listed] = {}
        for name in names:
            path = os.path.join(folder, name)
            if name in tables:
                continue
            if os.path.splitext(name)[1] in MAGIC:
                yield Finding(path, "its name is not that of a table, so it is not used", True)
            elif LIST.search(name) and os.path.isfile(path):
                yield from _read_list(path, listed, set(tables))
            else:
                yield Finding(path, "it is not a table, so it is ignored", False)
        for name in tables:
            path = os.path.join(folder, name)
            before = self.done
            self.tables += 1
            self.listed += name in listed
            reason = self._reason(path, name, listed.get(name))
            self.done = before + _size(path)
            if reason:
                self.bad += 1
                yield Finding(path, reason, True)

    def _reason(self, path: str, name: str, listed: _Listed | None) -> str:
        """The fault of a table; empty if there is none."""
        parts = parse_name(name)
        assert parts is not None
        try:
            # Opening a pipe would wait for a writer.
            if not stat.S_ISREG(os.stat(path).st_mode):
                return "it is not a file"
            Table(path, *parts).check(lambda count: self._add(count, name))
            if listed is not None and self._digest(path, name, len(listed.digest)) != listed.digest:
                return f"its checksum is not that of {listed.source}"
        except OSError as error:
            return error.strerror or str(error)
        except ValueError as error:
            return str(error)
        return ""

    def _digest(self, path: str, name: str, digits: int) -> str:
        """The checksum of a whole file, as in checksum lists."""
        found = hashlib.new(ALGORITHMS[digits], usedforsecurity=False)
        with open(path, "rb") as file:
            while chunk := file.read(CHUNK):
                found.update(chunk)
                self._progress(name)
        return found.hexdigest()

    def _add(self, count: int, name: str) -> None:
        self.done += count
        self._progress(name)


def _size(path: str) -> int:
    """The size in bytes; 0 if unknown."""
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def _read_list(path: str, listed: dict[str, _Listed], tables: set[str]) -> Iterator[Finding]:
    """Add what a list says about its folder's tables. Of several checksums, the longest counts."""
    try:
        with open(path, "rb") as file:
            text = file.read(LONGEST_LIST).decode("utf-8", "replace")
    except OSError as error:
        yield Finding(path, error.strerror or str(error), True)
        return
    found = absent = odd = 0
    source = os.path.basename(path)
    for line in text.splitlines():
        match = LINE.fullmatch(line.strip())
        if match is None or len(match[1]) not in ALGORITHMS:
            odd += bool(line.strip())
            continue
        digest, name = match[1].lower(), match[2]
        if not parse_name(name):
            continue
        found += 1
        if name not in tables:
            absent += 1
        elif name not in listed or len(listed[name].digest) < len(digest):
            listed[name] = _Listed(digest, source)
    if not found:
        yield Finding(path, "it lists no checksum of a table", False)
    elif odd:
        yield Finding(path, f"{odd} of its lines are not checksums", False)
    if absent:
        yield Finding(path, f"{absent} of the {found} tables that it lists are not here", False)
