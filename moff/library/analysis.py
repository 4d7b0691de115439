"""What Moff says of positions and games: evaluations, openings, endgame tablebases, reviews and pictures."""

import io
from typing import Any

from moff import __version__
from moff.evaluation import evaluate as value_of
from moff.library.boards import Board
from moff.library.engines import POLL, Limit, Path, limits_of, position_of, tables_of
from moff.library.scores import Cp, Mate, PovScore
from moff.openings import Opening, find
from moff.picture.picture import Picture
from moff.reviews.analysis import Analysis, Assessment
from moff.reviews.reviewed import ReviewedGame
from search.score import mate_distance
from search.syzygy.tablebase import Tablebase as Tables
from x88.board import Board as Position
from x88.notation import pgn
from x88.piece import WHITE

__all__ = ["MissingTableError", "Opening", "Picture", "Tablebase", "evaluate", "opening", "review"]


def evaluate(board: Board) -> PovScore:
    """The static evaluation of a position, which sees no tactics. Raises TypeError or ValueError."""
    return PovScore(Cp(value_of(position_of(board))), board.turn)


def opening(board: Board | Position | str) -> Opening | None:
    """The opening of a position, a board or a FEN: its code (`eco`) and its `name`, or None if it has none. A
    game has the opening of its last position with one. Raises ValueError for a bad FEN.
    """
    return find(board.x88 if isinstance(board, Board) else board)


class MissingTableError(KeyError):
    """No table has the position."""


class Tablebase:
    """Endgame tablebases ("Syzygy"), in the words of python-chess's documentation of `chess.syzygy`."""

    def __init__(self, path: Path) -> None:
        """The tables in a folder, or in some joined by `os.pathsep`. Raises ValueError if there are none."""
        self._tables = tables_of(path)

    def probe_wdl(self, board: Board) -> int:
        """The result for the side to move: 2 for a win, 1 for one that the fifty-move rule prevents, 0 for a
        draw, -1 and -2 for losses. Raises MissingTableError.
        """
        return self._checked(self.get_wdl(board), board)

    def probe_dtz(self, board: Board) -> int:
        """The plies to the next capture or pawn move that keeps the result, negative for the loser, 0 for a
        draw. Raises MissingTableError.
        """
        return self._checked(self.get_dtz(board), board)

    def get_wdl(self, board: Board, default: int | None = None) -> int | None:
        """`probe_wdl`, or the default if no table has the position."""
        found = self._tables.wdl(position_of(board))
        return default if found is None else found

    def get_dtz(self, board: Board, default: int | None = None) -> int | None:
        """`probe_dtz`, or the default if no table has the position."""
        found = self._tables.dtz(position_of(board))
        return default if found is None else found

    def _checked(self, value: int | None, board: Board) -> int:
        if value is None:
            raise MissingTableError("; ".join([f"no table has {board.fen()}", *self._tables.problems]))
        return value

    def close(self) -> None:
        """Forget the tables."""
        self._tables = Tables([])

    def __enter__(self) -> "Tablebase":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Review(dict[str, Any]):
    """A reviewed game, as docs/review.md describes the JSON of one; notebooks show its curve."""

    def __init__(self, text: bytes, assessments: list[Assessment], settings: str) -> None:
        self._made_of = text, assessments, settings
        reviewed = ReviewedGame(next(pgn.Reader(io.BytesIO(text))), assessments)
        super().__init__(reviewed.as_dict())
        self.scores = [
            PovScore(Cp(found.score) if mate is None else Mate(mate), reviewed.side(i) == WHITE)
            for i, found in enumerate(reviewed.assessments)
            for mate in [mate_distance(found.score)]
        ]
        """Before the first move, and after each."""
        self.pgn = reviewed.write(settings)
        """The game with evaluations, marks and better lines."""
        self._reviewed = reviewed

    def __reduce__(self) -> tuple[object, ...]:
        return Review, self._made_of

    @property
    def curve(self) -> list[float]:
        """White's expected points before the first move and after each, from 0 to 1, as on lichess."""
        return [position["win"] for position in (self["before"], *self["moves"])]

    def html(self) -> str:
        """The review as a page of its own."""
        from moff.reviews.report import Page  # with the modules of the board page

        page = Page(self._made_of[2])
        page.add(self._reviewed)
        return page.html()

    def _repr_svg_(self) -> str:
        """White's share of the points, from the left to the right, in white."""
        last = len(self.scores) - 1
        points = " ".join(f"{i},{100 - 100 * points:.1f}" for i, points in enumerate(self.curve))
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" width="720" height="160" preserveAspectRatio="none" '
            f'viewBox="0 0 {last} 100"><path fill="#403d39" d="M0,0H{last}V100H0"/>'
            f'<path fill="#f4f4f0" d="M0,100 L{points} V100"/>'
            f'<path stroke="#888" vector-effect="non-scaling-stroke" d="M0,50H{last}"/></svg>'
        )


def review(game: Any, limit: Limit | None = None, *, threads: int = 1) -> Review:
    """Search every position of a game, of 300,000 nodes if there is no other limit, and judge its moves, as
    `moff review` does. The game is one of `moff.pgn`, or PGN as text or bytes.

    With nodes and one thread, the same game has the same review. Tablebases are those in the folders of
    SYZYGY_PATH. Raises ValueError if there is no game.
    """
    text = pgn.write(game) if isinstance(game, pgn.Game) else game
    text = text if isinstance(text, bytes) else str(text).encode()
    read = next(pgn.Reader(io.BytesIO(text)), None)
    if read is None or not read.moves:
        raise ValueError(f"{game!r:.80} is not a game with moves")
    limit = limit or Limit(nodes=300_000)
    analysis = Analysis(limits_of(limit), 1, helpers=threads - 1)
    try:
        analysis.submit(1, read.start, [move.move for move in read.moves])
        while (found := analysis.take(POLL)) is None:
            pass
    finally:
        analysis.close()
    settings = ", ".join(f"{value} {name}" for name, value in limit._asdict().items() if value is not None)
    return Review(text, found.assessments, f"Moff {__version__}, {settings} a move")
