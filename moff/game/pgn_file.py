"""The PGN files that a game is saved in: appended to them, and replaced there as it goes on."""

import contextlib
import io
import os


class PgnFile:
    """A PGN file with our game, and possibly others."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._begin = 0
        self._text = b""

    def write(self, game: str) -> None:
        """Append the text of the game to the file, replacing what was written here before if the file still
        ends with it. Raises OSError or ValueError, and then leaves the file unchanged.
        """
        text = game.encode(errors="surrogateescape")
        # Unbuffered: what cannot be written must fail here, and not when the file is closed.
        with open(self.path, "a+b", buffering=0) as file:
            begin = file.seek(0, os.SEEK_END)
            replaced = b""
            file.seek(self._begin)
            if self._text and file.read(len(self._text) + 1) == self._text:
                begin, replaced = self._begin, self._text
            gap = max(0, begin - 2)
            file.seek(gap)
            if file.read(begin - gap) not in (b"", b"\n\n"):
                text = b"\n\n" + text
            try:
                if replaced:
                    file.truncate(begin)
                _write(file, text)
            except BaseException:
                with contextlib.suppress(OSError):
                    file.truncate(begin)
                    _write(file, replaced)
                raise
        self._begin, self._text = begin, text


class PgnFiles:
    """The files of a game, the most recently written one last."""

    def __init__(self) -> None:
        self._files: dict[str, PgnFile] = {}

    def write(self, path: str, game: str) -> None:
        """Write the game to a file. Raises ValueError with the reason, and then leaves the file unchanged."""
        try:
            place = os.path.realpath(path)
            file = self._files.get(place) or PgnFile(path)
            file.write(game)
        except (OSError, ValueError) as error:
            reason = isinstance(error, OSError) and error.strerror
            raise ValueError(f"The game could not be saved in {path}: {reason or error}") from error
        self._files.pop(place, None)
        self._files[place] = file

    def last(self) -> str:
        """The path of the file last written to, "" if there is none."""
        return next((file.path for file in reversed(self._files.values())), "")


def _write(file: io.FileIO, text: bytes) -> None:
    """Write all of the text at the end of an unbuffered file."""
    while text:
        text = text[file.write(text) :]
