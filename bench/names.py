"""Make moff/openings.tsv, Moff's names of openings, from the files of lichess's chess-openings.

    git clone https://github.com/lichess-org/chess-openings
    python bench/names.py chess-openings/?.tsv

The files are tab-separated, with the columns eco, name and pgn. The exit code is 0, or 2 if something is
wrong; then the old names stay.
"""

import csv
import io
import sys
from pathlib import Path

import script  # first: it puts this checkout on the path

from moff import openings
from moff.atomic_write import save
from moff.messages import counted
from x88.notation import fen, pgn


def read(path: Path) -> dict[str, str]:
    """A line for each opening of a file, by key. Raises OSError, or ValueError with file and line."""
    found = {}
    with open(path, encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        for row in rows:
            game = next(pgn.Reader(io.BytesIO(f"\n{row.get('pgn')} *".encode())), pgn.Game())
            if game.faults or not game.moves:
                raise ValueError(f"{path}, line {rows.line_num}: {row.get('pgn')!r} is no opening's moves")
            key = f"{fen.parse(game.moves[-1].fen).key:016x}"
            found[key] = f"{key}\t{row['eco']}\t{row['name']}\n"
    return found


@script.command
def main() -> int:
    """Carry out the command; returns the exit code."""
    parser = script.parser(__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.tsv", help="a.tsv to e.tsv")
    parser.add_argument("--out", default=openings.FILE, metavar="FILE", help="default: moff/openings.tsv")
    options = parser.parse_args()
    found: dict[str, str] = {}
    for path in options.files:
        found |= read(path)
    save(options.out, "".join(found.values()))
    print(counted(len(found), "position"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
