"""Moff against itself in this process: training positions for the tuner, or one set of search numbers
against another.

    python bench/selfplay.py --games 30000 --nodes 5000 --openings ../shared/data/books/8moves_v3.pgn
                             --out positions.txt --concurrency 4
    python bench/selfplay.py --games 2000 --nodes 20000 --openings ../shared/data/books/8moves_v3.pgn
                             --compare aspiration=15 null_reduction=4
    python bench/selfplay.py --games 2000 --random-plies 8 --compare --evaluation other_tuned.py

No UCI lies between, so that short games go many times faster than with bench/match.py, and by nodes instead
of time they are the same on every machine: a game follows from --seed, its number, and the engine.

With --out every game leaves some positions, one line each: `FEN;result;score`, the result 1, 0.5 or 0 and the
score in centipawns, both from White's view. They are quiet: the side to move is not in check, its best move
takes and promotes nothing, and the score is below a won game's. FILE.games tells which games are in FILE;
with the same FILE, an interrupted run goes on where it was, and one with another seed adds its own games.

With --compare the first side plays with these numbers of search/tuned.py changed, or with the EVALUATION of
another such file, and the second with all as it is; every opening is played twice, with colours reversed. Elo
and its error are those of bench/match.py.

A game also ends when both sides agree for four plies that one is ten pawns ahead, and after move 40 when
they have said for eight plies that it is level. The exit code is 0, or 2 after wrong usage. Needs the `bench`
extra.
"""

import argparse
import contextlib
import importlib
import signal
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # this checkout, whatever is installed

from adjudication import Adjudication, adjudicate
from openings import read_openings
from score import Score, Sprt, state
from script import interrupt_on_termination
from tables import Pairs, read_table
from tqdm import tqdm
from uci import Answer

from search import tuned
from search.limits import Limits
from search.parameters import Parameters
from search.search import Report, Search
from x88 import build, fen
from x88.attack import in_check
from x88.game import DRAWN, RESULT_OF_WINNER, OngoingGame
from x88.move import captured_of, promoted_of
from x88.movegen import legal_moves
from x88.piece import BLACK, WHITE

evaluate: Any = importlib.import_module("search.evaluate")

DECISIVE = 1000
"""Centipawns from which on a game counts as won: it is soon adjudicated, and teaches nothing."""

RULE = Adjudication(resign_moves=2, resign_score=DECISIVE, draw_from=40, draw_moves=4, draw_score=8)

POINTS = {RESULT_OF_WINNER[WHITE]: 1.0, DRAWN: 0.5, RESULT_OF_WINNER[BLACK]: 0.0}
"""White's points by result."""

Opening = tuple[str, tuple[int, ...]]
"""The FEN of the start, and the packed moves from there."""

Numbers = dict[str, int]
"""Numbers of the search that differ from search/tuned.py, by name."""


class Side(NamedTuple):
    """What a side plays with: numbers that differ from search/tuned.py, and an evaluation other than its."""

    numbers: Numbers
    evaluation: Pairs | None = None


AS_IT_IS = Side({})


@dataclass(frozen=True)
class Pace:
    """How the games are played: nodes a move, and how far they vary in parts of themselves; random plies
    after the opening; megabytes of each side's table; positions kept of a game at most.
    """

    nodes: int
    jitter: float = 0.0
    random_plies: int = 0
    megabytes: int = 1
    positions: int = 0


@dataclass(frozen=True)
class Job:
    """A game to be played: its number, what its chances come from, the opening, the pace, the two sides."""

    number: int
    seed: str
    opening: Opening
    pace: Pace
    white: Side = AS_IT_IS
    black: Side = AS_IT_IS


@dataclass(frozen=True)
class Played:
    """A game that was played: its number, the result as in PGN and why, the positions kept, as lines."""

    number: int
    result: str
    reason: str
    positions: tuple[str, ...]


# --- Playing a game


def searcher(megabytes: int, numbers: Numbers) -> Search:
    """A search whose numbers are those of search/tuned.py but for these."""
    if not numbers:
        return Search(megabytes)
    return Search(megabytes, Parameters(numbers))


def start(job: Job) -> OngoingGame:
    """The game after its opening and the random plies, which end no game if that can be helped."""
    chance = Random(job.seed)
    origin, moves = job.opening
    game = OngoingGame(origin)
    for _ in range(100):
        game = OngoingGame(origin)
        for move in moves:
            game.play(move)
        for _ in range(job.pace.random_plies):
            if not game.is_over():
                game.play(chance.choice(legal_moves(game.board)))
        if not game.is_over():
            break
    return game


@contextlib.contextmanager
def evaluations(job: Job) -> Iterator[list[Pairs]]:
    """The evaluations of White and Black if one is not as it is; after the game it is again."""
    if job.white.evaluation is job.black.evaluation is None:
        yield []
        return
    try:
        yield [side.evaluation or tuned.EVALUATION for side in (job.white, job.black)]
    finally:
        evaluate.load(tuned.EVALUATION)


def play_game(job: Job) -> Played:
    """Play a game, and choose some of its positions."""
    with evaluations(job) as tables:
        return _play(job, tables)


def _play(job: Job, tables: list[Pairs]) -> Played:
    game = start(job)
    chance = Random(f"{job.seed}/{job.number}")
    pace = job.pace
    players = [searcher(pace.megabytes, side.numbers) for side in (job.white, job.black)]
    answers: list[Answer] = []
    quiet: dict[int, tuple[str, int]] = {}  # by key: a game that repeats a position tells it once
    reports: list[Report] = []
    while not game.is_over():
        board = game.board
        nodes = max(1, round(pace.nodes * (1 + pace.jitter * chance.uniform(-1, 1))))
        reports.clear()
        if tables:
            evaluate.load(tables[board.side])
        move = players[board.side].think(board, Limits(nodes=nodes), reports.append).move
        # A search too short for its first iteration says nothing.
        score = reports[-1].score if reports else None
        if score is not None and abs(score) < DECISIVE and not in_check(board):
            if not captured_of(move) and not promoted_of(move):
                quiet.setdefault(board.key, (fen.write(board), score if board.side == WHITE else -score))
        game.play(move)
        answers.append(Answer("", 0.0, score))
        adjudicate(game, answers[-2 * RULE.draw_moves :], RULE)
    kept = sorted(chance.sample(range(len(quiet)), min(pace.positions, len(quiet))))
    found = list(quiet.values())
    lines = [f"{found[i][0]};{POINTS[game.result]:g};{found[i][1]}\n" for i in kept]
    return Played(job.number, game.result, game.reason, tuple(lines))


# --- Playing many


@contextlib.contextmanager
def crew(workers: int) -> Iterator[Executor]:
    """Processes that play: the search holds no GIL, but what is around it does."""
    with ProcessPoolExecutor(workers, initializer=_leave_interrupts_to_the_parent) as executor:
        try:
            yield executor
        finally:
            executor.shutdown(cancel_futures=True)


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def play_all(executor: Executor, jobs: Iterable[Job], workers: int) -> Iterator[Played]:
    """Play these games; every one as it ends. To leave early cancels what has not begun."""
    waiting = iter(jobs)
    running: set[Future[Played]] = set()
    try:
        while True:
            # One more than plays for each worker: none waits for this process.
            while len(running) < 2 * workers and (job := next(waiting, None)) is not None:
                running.add(executor.submit(play_game, job))
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
    """The openings in the order of a seed; beyond the last it begins anew, with other random plies."""

    openings: list[Opening]
    seed: int

    @classmethod
    def read(cls, path: Path | None, seed: int) -> "Book":
        """The book of a PGN or EPD file, or the start position. Raises ValueError or OSError."""
        openings: list[Opening] = read_openings(path, 0) if path else [(fen.START, ())]
        Random(seed).shuffle(openings)
        return cls(openings, seed)

    def job(self, number: int, pace: Pace) -> Job:
        """The game of that number, with an opening of its own."""
        return Job(number, f"{self.seed}/{number}", self.openings[number % len(self.openings)], pace)

    def paired(self, number: int, pace: Pace, first: Side, second: Side = AS_IT_IS) -> Job:
        """The game of that number in a match: the first side has White in the even ones."""
        white, black = (first, second) if number % 2 == 0 else (second, first)
        pair = number // 2
        opening = self.openings[pair % len(self.openings)]
        return Job(number, f"{self.seed}/{pair}", opening, pace, white, black)


# --- Training positions


class Record:
    """The file of positions, and beside it FILE.games: for each game a line `SEED NUMBER SIZE`, with the
    size of the file after it.

    Whatever ends a run, the two agree again when they are next opened: what is in the file beyond the last
    game told of is cut off.
    """

    def __init__(self, path: Path) -> None:
        """Raises ValueError or OSError if there are files by these names, but not of this kind."""
        self.games: set[tuple[int, int]] = set()
        self._log_path = path.with_name(path.name + ".games")
        size, end = 0, 0
        if self._log_path.exists():
            # A last line without its end was being written when the run ended.
            lines = self._log_path.read_bytes().split(b"\n")[:-1]
            for number, line in enumerate(lines, 1):
                words = line.split()
                if len(words) != 3 or not all(word.isdigit() for word in words):
                    raise ValueError(f"{self._log_path}, line {number}: it is not SEED NUMBER SIZE")
                self.games.add((int(words[0]), int(words[1])))
                size = int(words[2])
                end += len(line) + 1
        there = path.stat().st_size if path.exists() else 0
        if there < size or (there and not self.games):
            raise ValueError(f"{path} does not hold the games that {self._log_path} tells of")
        self._file = path.open("ab")
        self._log = self._log_path.open("ab")
        self._file.truncate(size)
        self._log.truncate(end)

    def __enter__(self) -> "Record":
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()
        self._log.close()

    def add(self, seed: int, played: Played) -> None:
        """Add the positions of a game."""
        self._file.write("".join(played.positions).encode())
        self._file.flush()
        self._log.write(f"{seed} {played.number} {self._file.tell()}\n".encode())
        self._log.flush()
        self.games.add((seed, played.number))


def generate(options: argparse.Namespace, book: Book, pace: Pace) -> None:
    """Play the games that are missing, and add their positions to the file. Raises ValueError or OSError."""
    results: Counter[str] = Counter()
    positions = 0
    with (
        Record(options.out) as record,
        crew(options.concurrency) as executor,
        contextlib.suppress(KeyboardInterrupt),
    ):
        missing = [number for number in range(options.games) if (options.seed, number) not in record.games]
        jobs = (book.job(number, pace) for number in missing)
        done = options.games - len(missing)
        with tqdm(total=options.games, initial=done, unit="game", dynamic_ncols=True) as bar:
            for played in play_all(executor, jobs, options.concurrency):
                record.add(options.seed, played)
                results[played.result] += 1
                positions += len(played.positions)
                shown = " ".join(str(results[result]) for result in POINTS)
                bar.set_postfix_str(f"+ = - {shown}, {positions} positions", refresh=False)
                bar.update()


# --- A comparison


def compare(options: argparse.Namespace, book: Book, pace: Pace, changed: Side) -> str:
    """Play the match; the score in a few lines."""
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


def read_evaluation(path: Path) -> Pairs:
    """The EVALUATION of a file like search/tuned.py. Raises ValueError or OSError."""
    found: Pairs = read_table(path, "EVALUATION")
    shapes = [{name: len(pairs) for name, pairs in table.items()} for table in (found, tuned.EVALUATION)]
    if shapes[0] != shapes[1]:
        raise ValueError(f"{path} has an EVALUATION of other lists than search/tuned.py")
    return found


# --- The command line


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Moff against itself in this process.")
    purpose = parser.add_mutually_exclusive_group(required=True)
    purpose.add_argument("--out", type=Path, metavar="FILE", help="add training positions to this file")
    purpose.add_argument("--compare", nargs="*", metavar="NAME=VALUE", help="the first side's numbers")
    parser.add_argument("--evaluation", type=Path, metavar="FILE", help="with --compare: its evaluation")
    parser.add_argument("--games", type=int, default=1000, help="in all, with those in FILE (usually 1000)")
    parser.add_argument("--nodes", type=int, default=5000, help="a move (usually 5000)")
    parser.add_argument("--jitter", type=float, default=0.0, help="how far they vary, such as 0.05 (0)")
    parser.add_argument("--openings", type=Path, metavar="FILE", help="a PGN or EPD file (usually: none)")
    parser.add_argument("--random-plies", type=int, default=0, help="after the opening (usually 0)")
    parser.add_argument("--positions", type=int, default=12, help="of a game at most (usually 12)")
    parser.add_argument("--seed", type=int, default=0, help="for openings, random plies, choice (usually 0)")
    parser.add_argument("--concurrency", type=int, default=1, help="games at a time (usually 1)")
    parser.add_argument("--hash", type=int, default=1, help="megabytes of each side's table (usually 1)")
    parser.add_argument("--sprt", nargs=2, type=float, metavar=("ELO0", "ELO1"), help="end when decided")
    return parser.parse_args()


def _checked(options: argparse.Namespace) -> Pace:
    """The pace that the options ask for. Raises ValueError, also about the other options."""
    if min(options.games, options.nodes, options.concurrency, options.hash) < 1:
        raise ValueError("--games, --nodes, --concurrency and --hash are whole numbers from 1 on")
    if min(options.random_plies, options.positions, options.seed) < 0 or not 0 <= options.jitter < 1:
        raise ValueError("--random-plies, --positions, --seed are not negative, --jitter is from 0 to 1")
    if options.sprt and not options.sprt[0] < options.sprt[1]:
        raise ValueError("the SPRT tests a smaller Elo difference against a larger one")
    return Pace(options.nodes, options.jitter, options.random_plies, options.hash, options.positions)


def main() -> int:
    """Play; returns the exit code."""
    options = _options()
    interrupt_on_termination()
    try:
        pace = _checked(options)
        if not build.compiled:
            print(build.notice(), file=sys.stderr)
        book = Book.read(options.openings, options.seed)
        if options.out:
            generate(options, book, pace)
        else:
            numbers = read_numbers(options.compare)
            searcher(1, numbers)  # names are checked here, not in a worker
            table = read_evaluation(options.evaluation) if options.evaluation else None
            print(compare(options, book, pace, Side(numbers, table)))
    except (ImportError, TypeError, ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
