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
from x88.movegen import legal_moves
from x88.notation import chess960, fen
from x88.notation.game import DRAWN, RESULT_OF_WINNER, OngoingGame
from x88.piece import BLACK, WHITE

RESIGN_PLIES, RESIGN_SCORE = 4, 600
"""A game is won once a side was ahead by so many centipawns for so many plies in a row."""

DRAW_PLIES, DRAW_SCORE, DRAW_FROM = 8, 8, 40
"""After move DRAW_FROM, a game is drawn once the score was within DRAW_SCORE for so many plies in a row."""

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

    def __post_init__(self) -> None:
        if self.random_plies < 0 or not 0 <= self.jitter < 1:
            raise ValueError("--random-plies must not be negative, --jitter from 0 to below 1")


@dataclass(frozen=True)
class Job:
    """A game of a comparison: its number, the seed of its random plies, the opening, the pace, both sides."""

    number: int
    seed: str
    opening: Opening
    pace: Pace
    white: Side
    black: Side


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

    def paired(self, number: int, pace: Pace, first: Side, second: Side = AS_IT_IS) -> Job:
        """The game with that number of a match; the first side has White in the even ones."""
        white, black = (first, second) if number % 2 == 0 else (second, first)
        pair = number // 2
        opening = self.openings[pair % len(self.openings)]
        return Job(number, f"{self.seed}/{pair}", opening, pace, white, black)


def searcher(megabytes: int, side: Side, tables: str = "") -> Search:
    """A search with a side's numbers and network, and the tablebases of some folders."""
    search = Search(megabytes, Parameters(side.numbers) if side.numbers else None)
    if side.network:
        search.use_network(side.network)
    search.use_tablebases(opened(tables))
    return search


def start(job: Job) -> OngoingGame:
    """The game after its opening and random plies that do not end it, if there are such."""
    chance = Random(job.seed)
    origin, moves = job.opening
    for _ in range(TRIES):
        game = OngoingGame(origin, chess960=True)
        for move in moves:
            game.play(move)
        for _ in range(job.pace.random_plies):
            if not game.is_over():
                game.play(chance.choice(legal_moves(game.board)))
        if not game.is_over():
            break
    return game


def play_game(job: Job) -> Played:
    """Play a game of a comparison."""
    game, pace = start(job), job.pace
    chance = Random(f"{job.seed}/{job.number}")
    searches = [searcher(pace.megabytes, side, pace.tables) for side in (job.white, job.black)]
    lead = level = 0  # plies in a row with White far ahead, negative for Black; and with a level score
    while not game.is_over():
        nodes = max(1, round(pace.nodes * (1 + pace.jitter * chance.uniform(-1, 1))))
        reports: list[Report] = []
        side = game.board.side
        game.play(searches[side].think(game.board, Limits(nodes=nodes), reports.append).move)
        # Without a report the score is neither level nor decisive.
        score = reports[-1].score * (1 if side == WHITE else -1) if reports else DRAW_SCORE + 1
        if abs(score) < RESIGN_SCORE:
            lead = 0
        else:
            lead = max(lead, 0) + 1 if score > 0 else min(lead, 0) - 1
        level = level + 1 if abs(score) <= DRAW_SCORE else 0
        if game.is_over():
            break
        if abs(lead) >= RESIGN_PLIES:
            game.end(RESULT_OF_WINNER[WHITE if lead > 0 else BLACK], "adjudication: resigned")
        elif level >= DRAW_PLIES and game.board.fullmove > DRAW_FROM:
            game.end(DRAWN, "adjudication: drawn")
    return Played(job.number, game.result, game.reason)
