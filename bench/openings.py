"""Find balanced openings: random legal moves from the start position, kept if Moff's search finds them
balanced.

    python bench/openings.py --count 200 --out bench/openings.epd

The file holds one position per line in EPD, with the score in normalised centipawns for the side to move (ce)
and the moves that lead there (c0), and nothing else, since other programs take a comment for a position. The
same options give the same file as long as the search does not change. fastchess reads it, and so do the
programs of bench/ that play games, with --openings.

Results go to the file, progress to standard error. The exit code is 0, or 2 after wrong usage, or 130 when
interrupted; then no file is written. Needs the `bench` extra.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import script  # first: it puts this checkout on the path

from moff.atomic_write import save
from search.limits import Limits
from search.line import Report
from search.search import Search
from x88 import build
from x88.move import NO_MOVE
from x88.movegen import legal_moves
from x88.notation import fen, pgn, san
from x88.notation.game import OngoingGame

Opening = tuple[str, tuple[int, ...]]
"""The starting FEN, and the packed moves from there."""


def read_openings(path: Path, chess960: bool = False) -> list[Opening]:
    """The openings of a PGN or EPD file. `chess960` reads the castling rights of an EPD file as X-FEN.

    Raises ValueError with the file and line of the first damaged one, or OSError.
    """
    found: list[Opening] = []
    if path.suffix.lower() == ".pgn":
        with open(path, "rb") as stream:
            for game in pgn.Reader(stream):
                if game.faults:
                    raise ValueError(f"{path}, line {game.faults[0].line}: {game.faults[0].text}")
                moves = [move.move for move in game.moves]
                if NO_MOVE in moves:
                    raise ValueError(f"{path}, line {game.line}: an opening cannot contain a null move")
                found.append((game.start, tuple(moves)))
    else:
        for number, line in script.numbered_lines(path):
            position = " ".join(line.split(";")[0].split()[:4])
            try:
                found.append((fen.write(fen.parse(position, chess960=chess960)), ()))
            except ValueError as error:
                raise ValueError(f"{path}, line {number}: {error}") from None
    if not found:
        raise ValueError(f"{path} holds no opening")
    return found


def find_openings(wanted: argparse.Namespace) -> Iterator[tuple[OngoingGame, int]]:
    """An endless stream of the openings that the options describe: the game and the score for the side to
    move, no position twice.
    """
    chance = Random(wanted.seed)
    search = Search(16)
    seen: set[int] = set()
    while True:
        game = random_game(chance, wanted.plies)
        if game.is_over() or game.board.key in seen:
            continue
        seen.add(game.board.key)
        search.new_game()
        reports: list[Report] = []
        # Without earlier moves, as in the games.
        board = fen.parse(fen.write(game.board), chess960=True)
        search.think(board, Limits(nodes=wanted.nodes), reports.append)
        if reports and reports[-1].mate is None and abs(reports[-1].score) <= wanted.margin:
            yield game, reports[-1].score


def random_game(chance: Random, plies: int) -> OngoingGame:
    """`plies` random legal moves from the start position, or fewer if they end the game."""
    game = OngoingGame(fen.START)
    while len(game.moves) < plies and not game.is_over():
        game.play(chance.choice(legal_moves(game.board)))
    return game


def epd_line(game: OngoingGame, score: int) -> str:
    """An opening as a line of the file."""
    board = fen.parse(game.start)
    words = []
    for move in game.moves:
        words.append(san.write(board, move))
        board.make(move)
    position = " ".join(fen.write(game.board).split()[:4])
    return f'{position} ce {score}; c0 "{" ".join(words)}";\n'


def _options() -> argparse.Namespace:
    parser = script.parser(__doc__)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the EPD file to write")
    for name, default, text in (
        ("--count", 200, "openings"),
        ("--plies", 8, "of each opening"),
        ("--margin", 60, "centipawns by which a side may be ahead"),
        ("--nodes", 20000, "of the search"),
    ):
        text += f" (default {default})"
        parser.add_argument(name, type=script.positive, default=default, metavar="N", help=text)
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the moves (default 0)")
    return parser.parse_args()


@script.command
def main() -> int:
    """Find the openings and write the file; returns the exit code."""
    options = _options()
    script.require("bench", "tqdm")
    from tqdm import tqdm

    if not build.compiled:
        print(build.notice(), file=sys.stderr)
    if not options.out.parent.is_dir():
        raise ValueError(f"there is no folder {str(options.out.parent)!r}")
    if options.plies < 3 and options.count > [20, 400][options.plies - 1]:
        raise ValueError(f"there are no {options.count} openings of {options.plies} plies")
    lines: list[str] = []
    with tqdm(total=options.count, unit="opening", dynamic_ncols=True) as bar:
        for game, score in find_openings(options):
            lines.append(epd_line(game, score))
            bar.update()
            if len(lines) == options.count:
                break
    save(options.out, "".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
