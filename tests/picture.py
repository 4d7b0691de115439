"""Pictures of positions read back."""

import re
from typing import NamedTuple

import chess


class Row(NamedTuple):
    """A row of a listing of moves."""

    score: int
    san: str
    coordinates: str


class Listing(NamedTuple):
    """A column of a listing of moves; no rows at all if the side is not to move."""

    heading: str
    rows: list[Row]


def cells(lines: list[str], columns: int = 1) -> dict[chess.Square, list[str]]:
    """The words in each square of a board that is framed by the names of files and ranks, in the order in
    which they stand.
    """
    assert len(lines) == 10
    assert lines[0] == lines[9]
    files = lines[0].split()
    found = {}
    for line in lines[1:9]:
        # Brackets mark a square.
        rank, *words, last = line.replace("[", " ").replace("]", " ").split()
        assert rank == last
        assert len(words) == 8 * columns
        for i, file in enumerate(files):
            found[chess.parse_square(file + rank)] = words[columns * i : columns * (i + 1)]
    assert len(found) == 64
    return found


def corner(lines: list[str]) -> str:
    """The name of the square at the upper left."""
    return lines[0].split()[0] + lines[1].split()[0]


def pieces(lines: list[str]) -> dict[chess.Square, str]:
    """The pieces of a board by their squares, as they are drawn."""
    return {square: word for square, (word,) in cells(lines).items() if word not in (".", "·")}


def marked(lines: list[str]) -> set[str]:
    """The names of the squares of a board that are marked with brackets."""
    files = lines[0].split()
    starts = {file: 2 + 3 * number for number, file in enumerate(files)}
    return {file + line[0] for line in lines[1:9] for file, at in starts.items() if line[at] == "["}


def placement(lines: list[str]) -> str:
    """The first field of the FEN of a board drawn with letters."""
    board = chess.Board(None)
    board.set_piece_map({sq: chess.Piece.from_symbol(word) for sq, word in pieces(lines).items()})
    return board.board_fen()


def boards(lines: list[str]) -> list[list[str]]:
    """The boards among the lines of an output."""
    starts = [i for i, line in enumerate(lines) if re.fullmatch(r" *a +b .*h|  +h +g .* a", line)]
    return [lines[i : i + 10] for i in starts[::2]]


def listings(lines: list[str]) -> tuple[Listing, Listing]:
    """The two columns of a listing of moves, White's and Black's."""
    middle = lines[0].index("Black: ", 1)
    return _listing([line[:middle] for line in lines]), _listing([line[middle:] for line in lines])


def _listing(column: list[str]) -> Listing:
    heading, *rest = [line.rstrip() for line in column]
    rows = [line.split() for line in rest if line]
    assert rest[len(rows) :] == [""] * (len(rest) - len(rows))
    return Listing(heading, [Row(int(score), text, coordinates) for score, text, coordinates in rows])
