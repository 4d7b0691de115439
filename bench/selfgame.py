"""Games of a comparison, played within this process: they call the search directly, without UCI.

Moves are limited by nodes, so that the job of a game and the engine determine every move, on every machine.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import NamedTuple

from moff.syzygy_path import opened
from search.limits import Limits
from search.line import Report
from search.parameters import Parameters
from search.search import Search
from x88.board import Board
from x88.movegen import legal_moves
from x88.notation import chess960, fen
from x88.notation.game import DRAWN, RESULT_OF_WINNER, OngoingGame
from x88.piece import BLACK, WHITE

DECISIVE = 1000
"""A game of a comparison counts as won from this many centipawns."""


@dataclass(frozen=True)
class Adjudication:
    """When a game ends early, in plies and centipawns.

    Resigned: the same side was ahead by `resign_score` or more for `resign_plies` in a row. Drawn: after move
    `draw_from`, the score was within `draw_score` for `draw_plies` in a row.
    """

    resign_plies: int
    resign_score: int
    draw_plies: int
    draw_score: int
    draw_from: int


RULE = Adjudication(resign_plies=4, resign_score=DECISIVE, draw_plies=8, draw_score=8, draw_from=40)

TRIES = 1000
"""Random openings to try before giving up."""

POINTS = {RESULT_OF_WINNER[WHITE]: 1.0, DRAWN: 0.5, RESULT_OF_WINNER[BLACK]: 0.0}
"""White's points by result."""

Opening = tuple[str, tuple[int, ...]]
"""The FEN of the start, and the packed moves from there."""

Numbers = dict[str, int]
"""Numbers of the search that differ from search/tuned.py, by name."""


class Side(NamedTuple):
    """A side: numbers that differ from search/tuned.py, and the file of its own network, if any."""

    numbers: Numbers
    network: str = ""


AS_IT_IS = Side({})


@dataclass(frozen=True)
class Pace:
    """The pace of a comparison's games: nodes per move and their variation, as a fraction; random plies after
    the opening; megabytes of each side's table; folders of endgame tablebases.
    """

    nodes: int
    jitter: float = 0.0
    random_plies: int = 0
    megabytes: int = 1
    tables: str = ""


@dataclass(frozen=True)
class Job:
    """A game of a comparison: its number, the seed of its random plies, the opening, the pace, both sides."""

    number: int
    seed: str
    opening: Opening
    pace: Pace
    white: Side = AS_IT_IS
    black: Side = AS_IT_IS


@dataclass(frozen=True)
class Played:
    """A game of a comparison that was played: its number, the result as in PGN, and the reason."""

    number: int
    result: str
    reason: str

    def points(self) -> float:
        """The points of the first side, which has White in the even games."""
        white = POINTS[self.result]
        return white if self.number % 2 == 0 else 1 - white


def read_numbers(words: list[str]) -> Numbers:
    """The numbers of NAME=VALUE words. Raises ValueError."""
    found = {}
    for word in words:
        name, equals, value = word.partition("=")
        try:
            found[name] = int(value)
        except ValueError:
            equals = ""
        if not name or not equals:
            raise ValueError(f"{word!r} is not NAME=VALUE with a whole number")
    return found


@dataclass(frozen=True)
class Book:
    """Openings, shuffled by a seed. After the last comes the first again, with other random plies."""

    openings: list[Opening]
    seed: int
    name: str = ""
    """The file's name, and a hash of its content; empty without a file."""

    @classmethod
    def read(cls, path: Path | None, seed: int, is_chess960: bool = False) -> "Book":
        """The book of a PGN or EPD file; of the start position, or all those of Chess960, without one.
        Raises ValueError or OSError.
        """
        openings: list[Opening] = [(fen.START, ())]
        name = ""
        if is_chess960:
            openings = [(chess960.start(number), ()) for number in range(chess960.POSITIONS)]
        if path:
            from openings import read_openings

            openings = read_openings(path, is_chess960)
            name = f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()[:16]}"
        Random(seed).shuffle(openings)
        return cls(openings, seed, name)

    def opening(self, number: int) -> Opening:
        """The opening of that number."""
        return self.openings[number % len(self.openings)]

    def job(self, number: int, pace: Pace) -> Job:
        """The game with that number and its own opening."""
        return Job(number, f"{self.seed}/{number}", self.opening(number), pace)

    def paired(self, number: int, pace: Pace, first: Side, second: Side = AS_IT_IS) -> Job:
        """The game with that number of a match; the first side has White in the even ones."""
        white, black = (first, second) if number % 2 == 0 else (second, first)
        pair = number // 2
        return Job(number, f"{self.seed}/{pair}", self.opening(pair), pace, white, black)


def searcher(megabytes: int, side: Side, tables: str = "") -> Search:
    """A search with a side's numbers and network, and the tablebases of some folders."""
    search = Search(megabytes, Parameters(side.numbers) if side.numbers else None)
    if side.network:
        search.use_network(side.network)
    search.use_tablebases(opened(tables))
    return search


def begin(opening: Opening, plies: int, chance: Random) -> OngoingGame:
    """A game after its opening and so many random plies; it may be over."""
    origin, moves = opening
    game = OngoingGame(origin, chess960=True)
    for move in moves:
        game.play(move)
    for _ in range(plies):
        if not game.is_over():
            game.play(chance.choice(legal_moves(game.board)))
    return game


def start(job: Job) -> OngoingGame:
    """The game after its opening and random plies that do not end it, if there are such."""
    chance = Random(job.seed)
    for _ in range(TRIES):
        game = begin(job.opening, job.pace.random_plies, chance)
        if not game.is_over():
            break
    return game


class Player:
    """Searches every move with about the same number of nodes."""

    def __init__(self, search: Search, nodes: int, jitter: float, chance: Random) -> None:
        self._search = search
        self._nodes = nodes
        self._jitter = jitter
        self._chance = chance
        self._reports: list[Report] = []

    def think(self, board: Board) -> tuple[int, Report | None]:
        """The best move and the last report, or None if the search ended before its first iteration."""
        nodes = max(1, round(self._nodes * (1 + self._jitter * self._chance.uniform(-1, 1))))
        self._reports.clear()
        move = self._search.think(board, Limits(nodes=nodes), self._reports.append).move
        return move, self._reports[-1] if self._reports else None


class Referee:
    """Ends a game early, by the scores of the searches."""

    def __init__(self, rule: Adjudication) -> None:
        self._rule = rule
        self._lead = 0  # plies in a row with White far ahead; negative for Black
        self._level = 0  # plies in a row with a level score

    def judge(self, game: OngoingGame, score: int | None) -> None:
        """End the game if the score of the last ply, from White's view, calls for it; None does not."""
        rule = self._rule
        if score is None or abs(score) < rule.resign_score:
            self._lead = 0
        else:
            self._lead = max(self._lead, 0) + 1 if score > 0 else min(self._lead, 0) - 1
        self._level = self._level + 1 if score is not None and abs(score) <= rule.draw_score else 0
        if game.is_over():
            return
        if abs(self._lead) >= rule.resign_plies:
            game.end(RESULT_OF_WINNER[WHITE if self._lead > 0 else BLACK], "adjudication: resigned")
        elif self._level >= rule.draw_plies and game.board.fullmove > rule.draw_from:
            game.end(DRAWN, "adjudication: drawn")


def play_game(job: Job) -> Played:
    """Play a game of a comparison."""
    game = start(job)
    pace = job.pace
    chance = Random(f"{job.seed}/{job.number}")
    referee = Referee(RULE)
    players = [
        Player(searcher(pace.megabytes, side, pace.tables), pace.nodes, pace.jitter, chance)
        for side in (job.white, job.black)
    ]
    while not game.is_over():
        side = game.board.side
        move, report = players[side].think(game.board)
        game.play(move)
        referee.judge(game, _from_white(side, report))
    return Played(job.number, game.result, game.reason)


def _from_white(side: int, report: Report | None) -> int | None:
    """The score of a side's report from White's view."""
    if report is None:
        return None
    return report.score if side == WHITE else -report.score
