"""The games of a PGN text: their tags are kept, and each game is read in full when it is opened."""

import io
import itertools
from bisect import bisect_left
from typing import NamedTuple

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

    def __init__(self, name: str, text: bytes) -> None:
        """Raises ValueError if the text is too large or holds no game."""
        if len(text) > LARGEST_TEXT:
            raise ValueError(f"{name} is larger than {LARGEST_TEXT >> 20} MB")
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


def _fingerprint(game: pgn.Game) -> Fingerprint:
    end = game.moves[-1].fen if game.moves else game.start
    return hash(tuple(game.tags.items())), len(game.moves), end, game.result


def _listed(game: pgn.Game) -> ListedGame:
    tags = {name: game.tags[name] for name in SHOWN_TAGS if game.tags.get(name, "?") not in ("", "?")}
    if game.result != pgn.UNFINISHED:
        tags["Result"] = game.result
    fault = f"line {game.faults[0].line}: {game.faults[0].text}" if game.faults else ""
    return ListedGame(game.number, game.line, tags, len(game.moves), fault)


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
