"""Names of openings, from files of tab-separated values: ECO code, name, moves."""

import csv
import io
from typing import NamedTuple

from moff.messages import echo
from x88.notation import pgn

COLUMNS = ("eco", "name", "pgn")


class Opening(NamedTuple):
    """An opening: its code in the Encyclopaedia of Chess Openings, and its name."""

    eco: str
    name: str


class Openings:
    """Openings by their positions, so that transpositions are found too."""

    def __init__(self) -> None:
        self._names: dict[str, Opening] = {}

    def __len__(self) -> int:
        return len(self._names)

    def read(self, path: str) -> None:
        """Add the openings of a file with the columns `eco`, `name` and `pgn`, in any order, as in the
        collection "chess-openings" of lichess. Raises OSError, or ValueError with file, line and reason.
        """
        with open(path, encoding="utf-8-sig", newline="") as stream:
            try:
                self._read(stream)
            except (ValueError, csv.Error) as error:
                raise ValueError(f"{path}: {error}") from None

    def _read(self, stream: io.TextIOBase) -> None:
        rows = csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        head = [name.strip().lower() for name in next(rows, [])]
        if not set(COLUMNS) <= set(head):
            raise ValueError(f"line 1 must name the columns {', '.join(COLUMNS)}, not {echo(' '.join(head))}")
        columns = [head.index(name) for name in COLUMNS]
        for row in rows:
            if not row:
                continue
            if len(row) < len(head):
                raise ValueError(f"line {rows.line_num} has {len(row)} of {len(head)} columns")
            eco, name, text = (row[column].strip() for column in columns)
            game = next(pgn.Reader(io.BytesIO(f"\n{text} *".encode())), pgn.Game())
            if game.faults or not game.moves:
                reason = game.faults[0].text if game.faults else "no moves"
                raise ValueError(f"line {rows.line_num}: {reason}")
            self._names[_position(game.moves[-1].fen)] = Opening(eco, name)

    def find(self, game: pgn.Game) -> Opening | None:
        """The opening of the last position of the game that has a name."""
        for move in reversed(game.moves):
            found = self._names.get(_position(move.fen))
            if found is not None:
                return found
        return None


def _position(text: str) -> str:
    """The part of a FEN that identifies the position: all but the counters."""
    return text.rsplit(" ", 2)[0]
