"""Self-play: games to train a network on, or one set of search numbers against another.

    python bench/selfplay.py --positions gen0.moff --games 100000 --concurrency 4
    python bench/selfplay.py --positions gen0.moff --games 1000000 --seed 2 --minutes 30 --concurrency 16
    python bench/selfplay.py --games 2000 --nodes 20000 --openings 8moves_v3.pgn
                             --compare aspiration=15 null_reduction=4
    python bench/selfplay.py --games 2000 --random-plies 8 --compare --network other.net

The games call the search directly, without UCI, so that short ones run many times faster than with
bench/match.py. Moves are limited by nodes, so that the seed, the number of a game and the engine determine
every move, on every machine.

--positions adds games to a file, all moves with their scores; bench/gamefile.py describes it, and
bench/positions.py reads it. A game starts with random plies, and with others if the first search finds a
side more than three pawns ahead. It ends by the rules; when the scores have been beyond 20 pawns for 4 plies;
after move 70 when they have been within 0.05 pawns for 12 plies; or after 400 plies. The same command
continues an interrupted run; another --seed adds other games to the file. Processes of this machine play, or
the workers of a Dask cluster, where Moff must be installed.

With --chess960 the openings are of Chess960, or are its 960 start positions; with --tables the searches ask
Syzygy tablebases.

--compare plays a match. The first side uses the changed numbers of search/tuned.py, or another network;
the second side uses what Moff comes with. Every opening is played twice, with colours reversed.
A game ends early when the scores have been beyond 10 pawns for 4 plies, or after move 40 when they have been
within 0.08 pawns for 8 plies. Elo and its error are computed as in bench/match.py.

The exit code is 0; 1 if a game could not be played; 2 after wrong usage; 130 if --positions was interrupted.
--compare needs the `bench` extra, --scheduler the `cluster` extra.
"""

import argparse
import contextlib
import hashlib
import importlib
import logging
import math
import multiprocessing
import os
import signal
import sys
import threading
import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeVar

import gamefile
import script  # first: it puts this checkout on the path
from gamefile import NO_SCORE, Block, Game, GameFile, index_of

from moff.tables import opened
from search.limits import Limits
from search.parameters import Parameters
from search.search import Report, Search
from x88 import build, chess960, fen
from x88.board import Board
from x88.game import DRAWN, RESULT_OF_WINNER, OngoingGame
from x88.movegen import legal_moves
from x88.piece import BLACK, WHITE

DECISIVE = 1000
"""Centipawns from which on a game of a comparison counts as won."""


@dataclass(frozen=True)
class Adjudication:
    """When a game ends early, in plies and centipawns.

    Resigned: the same side was ahead by `resign_score` or more for `resign_plies` in a row. Drawn: after move
    `draw_from`, the score was within `draw_score` for `draw_plies` in a row. Too long: after `longest` plies,
    or never if that is 0.
    """

    resign_plies: int
    resign_score: int
    draw_plies: int
    draw_score: int
    draw_from: int
    longest: int = 0


RULE = Adjudication(resign_plies=4, resign_score=DECISIVE, draw_plies=8, draw_score=8, draw_from=40)
"""For comparisons."""

LATE_RULE = Adjudication(
    resign_plies=4, resign_score=2000, draw_plies=12, draw_score=5, draw_from=70, longest=400
)
"""For training: late, so that a network sees how won endings are converted."""

UNDECIDED = 300
"""Largest score in centipawns of an opening that is played."""

SCHEDULER_TIMEOUT = 10.0
"""Seconds that a Dask scheduler may take to answer."""

LATER = {"chess960": False, "tables": 0}
"""Settings that old files do not have, as their games were played."""

TRIES = 1000
"""Random openings to try before giving up."""

BLOCK = 200
"""Games in a block of the file."""

POINTS = {RESULT_OF_WINNER[WHITE]: 1.0, DRAWN: 0.5, RESULT_OF_WINNER[BLACK]: 0.0}
"""White's points by result."""

AnyJob = TypeVar("AnyJob")
AnyGame = TypeVar("AnyGame")

Opening = tuple[str, tuple[int, ...]]
"""The FEN of the start, and the packed moves from there."""

Numbers = dict[str, int]
"""Numbers of the search that differ from search/tuned.py, by name."""


class Side(NamedTuple):
    """What a side plays with: numbers that differ from search/tuned.py, and the file of its own network, if
    any.
    """

    numbers: Numbers
    network: str = ""


AS_IT_IS = Side({})


@dataclass(frozen=True)
class Pace:
    """How the games of a comparison are played: nodes per move and the fraction by which they vary; random
    plies after the opening; megabytes of each side's table; folders of endgame tablebases.
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


@dataclass(frozen=True)
class Training:
    """How a game for training is played: nodes per move and the fraction by which they vary; least and most
    random plies after the opening; megabytes of the table, which both sides share; folders of endgame
    tablebases.
    """

    nodes: int = 2000
    jitter: float = 0.2
    random_plies: tuple[int, int] = (8, 10)
    megabytes: int = 1
    tables: str = ""


@dataclass(frozen=True)
class TrainingJob:
    """A game for training: its number, the run's seed, the opening, how to play it."""

    number: int
    seed: int
    opening: Opening
    training: Training


# --- Playing a game


def searcher(megabytes: int, side: Side, tables: str = "") -> Search:
    """A search with a side's numbers and network, and the tablebases of some folders."""
    search = Search(megabytes, Parameters(side.numbers) if side.numbers else None)
    if side.network:
        search.judge_by(side.network)
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
        elif rule.longest and len(game.moves) >= rule.longest:
            game.end(DRAWN, "adjudication: too long")


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


_searches: dict[tuple[int, int, str], Search] = {}
"""By thread, megabytes and tables; kept from game to game, because creating one takes as long as several
moves.
"""


def play_training_game(job: TrainingJob) -> Game:
    """Play a game for training. Raises ValueError if no random plies keep its opening undecided."""
    training = job.training
    chance = Random(f"{job.seed}/{job.number}")
    key = (threading.get_ident(), training.megabytes, training.tables)
    if key not in _searches:
        _searches[key] = searcher(training.megabytes, AS_IT_IS, training.tables)
    search = _searches[key]
    search.new_game()
    player = Player(search, training.nodes, training.jitter, chance)
    for _ in range(TRIES):
        game = begin(job.opening, chance.randint(*training.random_plies), chance)
        if game.is_over():
            continue
        move, report = player.think(game.board)
        if report is not None and abs(report.score) <= UNDECIDED:
            break
        search.new_game()
    else:
        raise ValueError(f"no random plies keep this opening undecided: {job.opening}")
    board = fen.parse(game.start, chess960=True)
    moves = bytearray()
    for played in game.moves:
        moves.append(index_of(board, played))
        board.forget()
        board.make(played)
    scores, bounds = array("h"), bytearray()
    referee = Referee(LATE_RULE)
    while True:
        score = _from_white(game.board.side, report)
        moves.append(index_of(game.board, move))
        scores.append(NO_SCORE if score is None else score)
        bounds.append(report is not None and report.bound != "")
        game.play(move)
        referee.judge(game, score)
        if game.is_over():
            break
        move, report = player.think(game.board)
    start = "" if game.start == fen.START else game.start
    return Game(job.number, start, bytes(moves), scores, bytes(bounds), round(2 * POINTS[game.result]))


# --- Playing many


@contextlib.contextmanager
def crew(workers: int) -> Iterator[Executor]:
    """Processes, not threads: the search releases the GIL, but everything around it needs it."""
    with ProcessPoolExecutor(workers, initializer=_follow_the_parent) as executor:
        try:
            yield executor
        finally:
            executor.shutdown(cancel_futures=True)


def _follow_the_parent() -> None:
    """Leave interrupts to the parent, and exit when it is gone, even if it was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if parent := multiprocessing.parent_process():

        def wait() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=wait, daemon=True).start()


@contextlib.contextmanager
def cluster(address: str, concurrency: int) -> Iterator[tuple[Executor, int]]:
    """The workers of a Dask cluster, and the number of games they play at a time.

    Raises ValueError if the package is missing or no scheduler answers.
    """
    try:
        cloudpickle = importlib.import_module("cloudpickle")
        distributed = importlib.import_module("distributed")
    except ImportError as error:
        raise ValueError(f"{error}: python -m pip install -e '.[cluster]'") from None
    # The workers do not have this file: they get its functions with every job.
    cloudpickle.register_pickle_by_value(gamefile)
    # `generate` reports what goes wrong.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        client = distributed.Client(address, timeout=SCHEDULER_TIMEOUT)
    except (OSError, ValueError) as error:
        raise ValueError(f"no scheduler answers at {address}: {error}") from None
    with client:
        threads = sum(client.nthreads().values())
        yield client.get_executor(pure=False), max(1, min(concurrency, threads))


def play_all(executor: Executor, jobs: Iterable[Job], workers: int) -> Iterator[Played]:
    """Play these games of a comparison; yield each as it ends."""
    return run_all(executor, play_game, jobs, workers)


def run_all(
    executor: Executor, play: Callable[[AnyJob], AnyGame], jobs: Iterable[AnyJob], workers: int
) -> Iterator[AnyGame]:
    """Play a game for each job; yield each as it ends. Closing the iterator cancels those not begun."""
    waiting = iter(jobs)
    running: set[Future[AnyGame]] = set()
    try:
        while True:
            # One game waits for each worker, so that no worker waits for this process.
            while len(running) < 2 * workers and (job := next(waiting, None)) is not None:
                running.add(executor.submit(play, job))
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
    finally:
        for future in running:
            future.cancel()


@dataclass(frozen=True)
class Book:
    """Openings, shuffled by a seed. After the last comes the first again, with other random plies."""

    openings: list[Opening]
    seed: int

    @classmethod
    def read(cls, path: Path | None, seed: int, is_chess960: bool = False) -> "Book":
        """The book of a PGN or EPD file; of the start position, or all those of Chess960, without one.
        Raises ValueError or OSError.
        """
        openings: list[Opening] = [(fen.START, ())]
        if is_chess960:
            openings = [(chess960.start(number), ()) for number in range(chess960.POSITIONS)]
        if path:
            from openings import read_openings

            openings = read_openings(path, 0, is_chess960)
        Random(seed).shuffle(openings)
        return cls(openings, seed)

    def opening(self, number: int) -> Opening:
        """The opening of that number."""
        return self.openings[number % len(self.openings)]

    def training_job(self, number: int, training: Training) -> TrainingJob:
        """The game for training with that number."""
        return TrainingJob(number, self.seed, self.opening(number), training)

    def job(self, number: int, pace: Pace) -> Job:
        """The game with that number and its own opening."""
        return Job(number, f"{self.seed}/{number}", self.opening(number), pace)

    def paired(self, number: int, pace: Pace, first: Side, second: Side = AS_IT_IS) -> Job:
        """The game with that number of a match; the first side has White in the even ones."""
        white, black = (first, second) if number % 2 == 0 else (second, first)
        pair = number // 2
        return Job(number, f"{self.seed}/{pair}", self.opening(pair), pace, white, black)


# --- Training positions


class Progress:
    """A line on standard error: games, positions, positions per second, time left.

    On a terminal it stays in place; in a log it appears once a minute.
    """

    def __init__(self, games: int, minutes: float | None) -> None:
        self._games = games
        self._end = minutes and 60 * minutes
        self._start = self._told = time.monotonic()
        self._is_terminal = sys.stderr.isatty()
        self.played = 0
        self.positions = 0
        self.results: Counter[int] = Counter()

    def add(self, game: Game) -> None:
        """Count a game, and update the line from time to time."""
        self.played += 1
        self.positions += len(game.scores)
        self.results[game.result] += 1
        now = time.monotonic()
        if now - self._told >= (0.5 if self._is_terminal else 60):
            self._told = now
            self.show()

    def show(self, end: str = "") -> None:
        """Show the line; `end` is "\n" for the last one."""
        passed = time.monotonic() - self._start
        left = (self._games - self.played) * passed / max(1, self.played)
        if self._end is not None:
            left = min(left, self._end - passed)
        results = " ".join(str(self.results[points]) for points in (2, 1, 0))
        text = (
            f"{self.played} games, + = - {results}, {self.positions} positions, "
            f"{self.positions / max(passed, 0.001):.0f}/s, {_duration(passed)} gone, {_duration(left)} left"
        )
        if self._is_terminal:
            print(f"\r{text}\x1b[K", end=end, file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"


def signature() -> str:
    """A short hash of all files that take part in choosing a move."""
    digest = hashlib.sha256()
    for path in sorted(path for folder in ("search", "x88") for path in (script.ROOT / folder).iterdir()):
        if path.is_file() and path.suffix not in (".so", ".pyd", ".c", ".txt"):
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def generate(options: argparse.Namespace, book: Book, training: Training) -> int:
    """Play the games that the file lacks, and add them; returns the exit code.

    Raises ValueError or OSError.
    """
    settings = {
        "nodes": training.nodes,
        "jitter": training.jitter,
        "random_plies": list(training.random_plies),
        "hash": training.megabytes,
        "openings": options.openings.name if options.openings else "",
        "engine": signature(),
        "chess960": options.chess960,
        "tables": opened(training.tables).count(".rtbw"),
    }
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(GameFile(options.positions))
        if file.cut:
            print(f"{options.positions}: cut off {file.cut} bytes of an incomplete block", file=sys.stderr)
        if file.games:
            held = f"{len(file.games)} games with {file.positions} positions"
            print(f"{options.positions} already holds {held}", file=sys.stderr)
        before = file.settings.get(options.seed, settings)
        for name, value in settings.items():
            if (known := before.get(name, LATER.get(name))) != value:
                held = f"games of seed {options.seed} with {name} {known!r}, not {value!r}"
                raise ValueError(f"{options.positions} holds {held}: use another --seed")
        workers = options.concurrency
        if options.scheduler:
            executor, workers = stack.enter_context(cluster(options.scheduler, workers))
        else:
            executor = stack.enter_context(crew(workers))
        there = {number for seed, number in file.games if seed == options.seed}
        missing = (number for number in range(options.games) if number not in there)
        end = math.inf if options.minutes is None else time.monotonic() + 60 * options.minutes
        jobs = (book.training_job(n, training) for n in takewhile(lambda n: time.monotonic() < end, missing))
        progress = Progress(options.games - sum(number < options.games for number in there), options.minutes)
        games: list[Game] = []
        try:
            for game in run_all(executor, play_training_game, jobs, workers):
                games.append(game)
                progress.add(game)
                if len(games) == BLOCK:
                    file.add(Block(options.seed, settings, games))
                    games = []
        except KeyboardInterrupt:
            return 130
        except (ValueError, OSError):
            raise
        except Exception as error:  # anything can happen to a process or a cluster
            print(f"\na game could not be played: {type(error).__name__}: {error}", file=sys.stderr)
            return 1
        finally:
            if games:
                file.add(Block(options.seed, settings, games))
            progress.show("\n")
    return 0


# --- A comparison


def compare(options: argparse.Namespace, book: Book, pace: Pace, changed: Side) -> str:
    """Play the match; returns the score in a few lines."""
    script.require("bench", "tqdm")
    from score import Score, Sprt, state
    from tqdm import tqdm

    score = Score()
    sprt = Sprt(*options.sprt) if options.sprt else None
    with crew(options.concurrency) as executor, contextlib.suppress(KeyboardInterrupt):
        jobs = (book.paired(number, pace, changed) for number in range(options.games))
        with tqdm(total=options.games, unit="game", dynamic_ncols=True) as bar:
            for played in play_all(executor, jobs, options.concurrency):
                score.add(played.number, played.result)
                bar.set_postfix_str(state(score, sprt), refresh=False)
                bar.update()
                if sprt and sprt.verdict(score):
                    break
    points = list(score.points.values())
    won, drawn, lost = (points.count(value) for value in (1.0, 0.5, 0.0))
    verdict = f", {sprt.verdict(score) or 'undecided'}" if sprt else ""
    return f"{len(points)} games: +{won} ={drawn} -{lost}\n{state(score, sprt)}{verdict}"


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


# --- The command line


def _options() -> argparse.Namespace:
    parser = script.parser(__doc__)
    purpose = parser.add_mutually_exclusive_group(required=True)
    purpose.add_argument("--positions", type=Path, metavar="FILE", help="the file to add games to")
    purpose.add_argument(
        "--compare", nargs="*", metavar="NAME=VALUE", help="changed numbers of the first side"
    )
    parser.add_argument(
        "--network", default="", metavar="FILE", help="with --compare: network of the first side"
    )
    parser.add_argument(
        "--games", type=int, default=1000, help="in all, those in FILE included (default 1000)"
    )
    parser.add_argument("--minutes", type=float, help="with --positions: stop after this time")
    parser.add_argument("--nodes", type=int, help="per move (default 2000; with --compare 5000)")
    parser.add_argument(
        "--jitter", type=float, help="fraction by which nodes vary (default 0.2; with --compare 0)"
    )
    parser.add_argument("--openings", type=Path, metavar="FILE", help="a PGN or EPD file (default: none)")
    parser.add_argument(
        "--chess960", action="store_true", help="openings of Chess960 (default: its start positions)"
    )
    parser.add_argument(
        "--tables", default="", metavar="FOLDERS", help=f"Syzygy tables, with {os.pathsep} between folders"
    )
    parser.add_argument(
        "--random-plies",
        type=int,
        nargs="+",
        metavar="PLIES",
        help="after the opening: a number, or the least and the most (default 8 10; with --compare 0)",
    )
    parser.add_argument("--seed", type=int, default=0, help="of openings and random plies (default 0)")
    parser.add_argument("--concurrency", type=int, default=1, help="games at a time (default 1)")
    parser.add_argument("--hash", type=int, default=1, help="megabytes of a table (default 1)")
    parser.add_argument(
        "--sprt", nargs=2, type=float, metavar=("ELO0", "ELO1"), help="with --compare: stop when decided"
    )
    parser.add_argument("--scheduler", metavar="ADDRESS", help="with --positions: a Dask cluster plays")
    return parser.parse_args()


def _check(options: argparse.Namespace) -> None:
    """Fill in the defaults, and raise ValueError if an option is wrong."""
    default = Training() if options.positions else Training(5000, 0.0, (0, 0))
    options.nodes = default.nodes if options.nodes is None else options.nodes
    options.jitter = default.jitter if options.jitter is None else options.jitter
    plies = options.random_plies or default.random_plies
    options.random_plies = (plies[0], plies[-1])
    if min(options.games, options.nodes, options.concurrency, options.hash) < 1:
        raise ValueError("--games, --nodes, --concurrency and --hash must be 1 or more")
    if len(plies) > 2 or not 0 <= plies[0] <= plies[-1]:
        raise ValueError("--random-plies takes a number, or the least and the most")
    if options.compare is not None and plies[0] != plies[-1]:
        raise ValueError("--compare takes a single number for --random-plies")
    if options.compare is None and options.network:
        raise ValueError("--network needs --compare: training games use the network of search/")
    if not 0 <= options.seed < 2**64 or not 0 <= options.jitter < 1:
        raise ValueError("--seed must not be negative, and --jitter must be from 0 to below 1")
    if options.minutes is not None and not options.minutes > 0:
        raise ValueError("--minutes must be more than 0")
    if options.sprt and not options.sprt[0] < options.sprt[1]:
        raise ValueError("the SPRT tests a smaller Elo difference against a larger one")


@script.command
def main() -> int:
    """Play; returns the exit code."""
    options = _options()
    _check(options)
    if not build.compiled:
        print(build.notice(), file=sys.stderr)
    if options.tables and not opened(options.tables).count(".rtbw"):
        raise ValueError(f"{options.tables} holds no WDL tables")
    book = Book.read(options.openings, options.seed, options.chess960)
    if options.positions:
        training = Training(options.nodes, options.jitter, options.random_plies, options.hash, options.tables)
        return generate(options, book, training)
    numbers = read_numbers(options.compare)
    side = Side(numbers, options.network)
    searcher(1, side)  # names and the network are checked here, not in a worker
    pace = Pace(options.nodes, options.jitter, options.random_plies[0], options.hash, options.tables)
    print(compare(options, book, pace, side))
    return 0


if __name__ == "__main__":
    sys.exit(main())
