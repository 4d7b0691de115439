"""The games of a PGN text: their tags are kept, and each game is read in full when it is opened."""

import io
import itertools
import os
from bisect import bisect_left
from typing import NamedTuple

from moff.atomic_write import writing
from x88.notation import pgn

LARGEST_TEXT = 1 << 26
"""Bytes of a text."""

SHOWN_TAGS = ("White", "Black", "Result", "Date", "Event", "Site", "Round", "ECO", "WhiteElo", "BlackElo")


Fingerprint = tuple[int, int, str, str]
"""A game's identity: a hash of its tags, the number of its moves, its last position and its result."""


class ListedGame(NamedTuple):
    """A game as shown in a list."""

    number: int
    """In the text, from 1."""
    line: int
    """The line where it begins, from 1."""
    tags: dict[str, str]
    moves: int
    """Plies."""
    fault: str
    """The first fault, with its line; empty if there is none."""

    def has(self, word: str) -> bool:
        """Whether one of its tags contains a word, ignoring case."""
        word = word.casefold()
        return any(word in value.casefold() for value in self.tags.values())


class GameList:
    """The games of a text in PGN."""

    def __init__(self, name: str, text: bytes, path: str = "") -> None:
        """`path` is the file that changes may be written back to. Raises ValueError if the text is too large
        or holds no game.
        """
        if len(text) > LARGEST_TEXT:
            raise ValueError(f"{name} is larger than {LARGEST_TEXT >> 20} MB")
        self._stored = text
        """What the file holds, as far as known."""
        text = pgn.recoded(text)
        self.name = name
        self.games: list[ListedGame] = []
        self._fingerprints: list[Fingerprint] = []
        for game in pgn.Reader(io.BytesIO(text)):
            self.games.append(_listed(game))
            self._fingerprints.append(_fingerprint(game))
        if not any(game.moves or game.tags for game in self.games):
            fault = next((f": {game.fault}" for game in self.games if game.fault), "")
            raise ValueError(f"{name} holds no game{fault}")
        self._path = path
        self._changed: dict[int, pgn.Game] = {}
        self._text = text
        self._starts = _line_starts(text, {game.line for game in self.games})

    def __len__(self) -> int:
        return len(self.games)

    def matching(self, words: str) -> list[ListedGame]:
        """The games with all these words in their tags."""
        return [game for game in self.games if all(game.has(word) for word in words.split())]

    def read(self, number: int) -> pgn.Game:
        """Read a game in full, by its number. Raises ValueError."""
        if not 1 <= number <= len(self.games):
            raise ValueError(f"there is no game {number}: {self.name} has {len(self.games)}")
        if number in self._changed:
            return self._changed[number]
        # A game may begin on the line where another one ends. Then start from an earlier game, further back
        # each time.
        first, step = number - 1, 1
        while True:
            line = self.games[first].line
            first = bisect_left(self.games, line, key=lambda game: game.line)
            reader = pgn.Reader(io.BytesIO(self._text[self._starts[line] :]))
            for game in itertools.islice(reader, number - 1 - first, number - first):
                if _fingerprint(game) == self._fingerprints[number - 1]:
                    return game
            assert first, "reading from the first game finds the same games again"
            first, step = max(0, first - step), 2 * step

    # Changes.

    def change(self, number: int, game: pgn.Game) -> None:
        """Replace a game."""
        self._changed[number] = game
        listed = self.games[number - 1]
        self.games[number - 1] = listed._replace(tags=_shown_tags(game), moves=len(game.moves))

    def append(self, game: pgn.Game) -> int:
        """Add a game; returns its number."""
        number = len(self.games) + 1
        self.games.append(_listed(game)._replace(number=number, line=self.games[-1].line))
        self._changed[number] = game
        return number

    def can_save(self) -> bool:
        """Whether there is a file to write to."""
        return bool(self._path)

    def written(self) -> bytes:
        """All games: those that have not changed as they are in the text."""
        if not self._changed:
            return self._text
        return b"".join(self._part(number) + b"\n" for number in range(1, len(self.games) + 1))

    def _part(self, number: int) -> bytes:
        if number not in self._changed:
            end = self._starts[self.games[number].line] if number < len(self._fingerprints) else None
            part = self._text[self._starts[self.games[number - 1].line] : end].rstrip() + b"\n"
            # Games that share a line are written anew.
            if [_fingerprint(game) for game in pgn.Reader(io.BytesIO(part))] == [
                self._fingerprints[number - 1]
            ]:
                return part
        return pgn.write(self.read(number)).rstrip().encode("utf-8", "surrogateescape") + b"\n"

    def save(self) -> None:
        """Write all games to the file they were read from. Raises OSError or ValueError."""
        if not self._path:
            raise ValueError(f"{self.name} was not opened from a file of Moff's machine: download it instead")
        damaged = next((game.number for game in self.games if game.fault and game.number in self._changed), 0)
        if damaged:
            raise ValueError(f"game {damaged} is damaged, and what follows the damage would be lost")
        with open(self._path, "rb") as file:
            if file.read() != self._stored:
                raise ValueError(f"{self.name} was changed by another program: download your games instead")
        written = self.written()
        with writing(self._path) as stream:
            stream.write(written)
        self._stored = written

    def rescue(self) -> str:
        """Write changes that were not saved to a file beside the one that was opened; returns its path, empty
        if there are none. Raises OSError.
        """
        if not self._path or not self._changed or (written := self.written()) == self._stored:
            return ""
        names = (f"{os.path.splitext(self._path)[0]}.unsaved{n or ''}.pgn" for n in itertools.count())
        path = next(name for name in names if not os.path.exists(name))  # an earlier one may be needed
        with writing(path) as stream:
            stream.write(written)
        return path


def _fingerprint(game: pgn.Game) -> Fingerprint:
    end = game.moves[-1].fen if game.moves else game.start
    return hash(tuple(game.tags.items())), len(game.moves), end, game.result


def _listed(game: pgn.Game) -> ListedGame:
    tags = _shown_tags(game)
    fault = f"line {game.faults[0].line}: {game.faults[0].text}" if game.faults else ""
    return ListedGame(game.number, game.line, tags, len(game.moves), fault)


def _shown_tags(game: pgn.Game) -> dict[str, str]:
    tags = {name: game.tags[name] for name in SHOWN_TAGS if game.tags.get(name, "?") not in ("", "?")}
    return tags if game.result == pgn.UNFINISHED else {**tags, "Result": game.result}


def _line_starts(text: bytes, wanted: set[int]) -> dict[int, int]:
    """The offsets of the given lines, counted from 1, in the text."""
    starts: dict[int, int] = {}
    start, line = 0, 1
    while start >= 0 and len(starts) < len(wanted):
        if line in wanted:
            starts[line] = start
        start = text.find(b"\n", start) + 1 or -1
        line += 1
    return starts
