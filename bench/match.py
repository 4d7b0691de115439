"""A match: engine against engine, any UCI commands, with the score's error, LOS and SPRT.

    python bench/match.py --engine name=new cmd="python engine.py"
                          --engine name=old cmd="python ../old/engine.py" --each tc=5+0.05 option.Hash=16
                          --openings ../shared/data/books/8moves_v3.pgn --games 200 --pgn new.pgn

| key of --engine and --each | meaning |
|---|---|
| name, cmd, dir | what the engine is called, its command line, the folder to start it in |
| option.NAME | a UCI option |
| tc | its clock: SECONDS+INCREMENT, or MOVES/SECONDS+INCREMENT |
| movetime, nodes, depth | limits of every move instead of a clock: milliseconds, nodes, plies |

Every opening is played twice, with colours reversed. Every game is added to the PGN file as it ends; with the
same file a match that was interrupted goes on where it was, if names, limits, options and openings are the
same; a last game that was torn as it was written is played again. It stops after --games, or when the SPRT
decides. Time losses, crashes, disconnects, illegal moves and stalls lose the game, and are shown apart.
Variations are counted that are not legal to their end, go on after the end of the game or do not begin with
the move played.

Games are jobs for a `concurrent.futures.Executor`: threads of this process, or with --scheduler the workers
of a Dask cluster, on which the engines' commands and Moff's package have to be found.

Freeze a copy of both sides first, and leave the machine alone. The exit code is 0, or 1 if a game was lost by
a fault of an engine or could not be played on the cluster, or 2 after wrong usage. Needs the `bench` extra, a
cluster the `cluster` extra.
"""

import argparse
import contextlib
import importlib
import io
import logging
import math
import random
import re
import shlex
import signal
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import astuple, dataclass, replace
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # this checkout, whatever is installed

import uci
from uci import Answer, EngineFault, EngineSpec, UciEngine

from x88 import coordinate, fen, pgn
from x88.board import Board
from x88.game import DRAWN, RESULT_OF_WINNER, OngoingGame
from x88.move import NO_MOVE
from x88.outcome import outcome
from x88.piece import BLACK, WHITE

try:
    from tabulate import tabulate
    from tqdm import tqdm
except ImportError as error:
    print(f"{error}: python -m pip install -e '.[bench]'", file=sys.stderr)
    sys.exit(2)

GRACE = 5.0
"""Seconds after the end of its time that an engine is still waited for, before it counts as stalled."""

SCHEDULER_TIMEOUT = 10.0
"""Seconds that a Dask scheduler may take to answer."""

FAULTS = {
    "time": "time forfeit",
    "crash": "abandoned",
    "disconnect": "disconnected",
    "stall": "stalled",
    "illegal": "rules infraction",
}
"""The PGN's Termination for each way to lose by a fault."""

EVENT = "Match"
"""The PGN's Event, which the record of every game begins with."""

SIGNIFICANCE = 1.959964
"""Standard errors to each side of a 95 % interval."""


@dataclass(frozen=True)
class Pace:
    """What limits one side's moves: a clock in milliseconds, or a fixed limit a move."""

    base: int = 0
    increment: int = 0
    moves: int = 0
    movetime: int = 0
    nodes: int = 0
    depth: int = 0

    def clock(self) -> str:
        """The clock as PGN's TimeControl, which `parse_clock` reads: "40/60+0.6"; "-" for none."""
        moves = f"{self.moves}/" if self.moves else ""
        return f"{moves}{self.base / 1000:g}+{self.increment / 1000:g}" if self.base else "-"


@dataclass(frozen=True)
class Side:
    """An engine with its pace."""

    spec: EngineSpec
    pace: Pace

    def settings(self) -> str:
        """Its limits and options, as on the command line."""
        words = [f"tc={self.pace.clock()}"] if self.pace.base else []
        for key in ("movetime", "nodes", "depth"):
            if value := getattr(self.pace, key):
                words.append(f"{key}={value}")
        return " ".join([*words, *sorted(f"option.{name}={value}" for name, value in self.spec.options)])


@dataclass(frozen=True)
class Adjudication:
    """When a game is ended early, in moves of each side and centipawns; 0 moves for never.

    Resigned: both sides agree for so many moves that one is so far ahead. Drawn: from a move's number on,
    both have said for so many moves that it is level.
    """

    resign_moves: int = 0
    resign_score: int = 0
    draw_from: int = 0
    draw_moves: int = 0
    draw_score: int = 0
    longest: int = 0


@dataclass(frozen=True)
class Job:
    """A game to be played: its number, the two sides, the opening (FEN and packed moves), the rules."""

    number: int
    white: Side
    black: Side
    start: str
    moves: tuple[int, ...]
    adjudication: Adjudication
    margin: int


@dataclass(frozen=True)
class Played:
    """A game that was played: its number, the result, the fault that ended it or "", its PGN, what else is to
    be told of it, and the names of the engines as often as a variation of theirs was wrong.
    """

    number: int
    result: str
    fault: str
    pgn: str
    remarks: tuple[str, ...]
    warned: tuple[str, ...]


# --- Playing a game


class Clock:
    """One side's time in milliseconds."""

    def __init__(self, pace: Pace) -> None:
        self.pace = pace
        self.left = float(pace.base)
        self.to_go = pace.moves

    def spend(self, milliseconds: float, margin: int) -> bool:
        """Take a move's time off; False if there was not so much."""
        if self.pace.movetime and milliseconds > self.pace.movetime + margin:
            return False
        if not self.pace.base:
            return True
        self.left -= milliseconds
        if self.left < -margin:
            return False
        self.left = max(self.left, 1.0) + self.pace.increment
        if self.pace.moves:
            self.to_go -= 1
            if self.to_go == 0:
                self.to_go = self.pace.moves
                self.left += self.pace.base
        return True


def go_line(clocks: list[Clock], side: int) -> str:
    """The `go` line for the side to move."""
    pace = clocks[side].pace
    words = ["go"]
    for name, value in (("movetime", pace.movetime), ("nodes", pace.nodes), ("depth", pace.depth)):
        if value:
            words += [name, str(value)]
    if pace.base:
        white, black = clocks
        words += ["wtime", str(int(white.left)), "btime", str(int(black.left))]
        words += ["winc", str(white.pace.increment), "binc", str(black.pace.increment)]
        if pace.moves:
            words += ["movestogo", str(clocks[side].to_go)]
    return " ".join(words)


def patience(clock: Clock, margin: int) -> float:
    """The seconds after which an engine has stalled."""
    if clock.pace.base:
        return (clock.left + margin) / 1000 + GRACE
    if clock.pace.movetime:
        return (clock.pace.movetime + margin) / 1000 + GRACE
    return 3600.0


def play_game(job: Job, stopping: Callable[[], bool] | None = None) -> Played:
    """Play a game; every fault of an engine loses it. Raises Interrupted if `stopping` says so meanwhile."""
    game = OngoingGame(job.start)
    for move in job.moves:
        game.play(move)
    opening = len(game.moves)
    answers: list[Answer] = []
    remarks: list[str] = []
    warned: list[str] = []
    fault = ""
    side = WHITE
    try:
        with contextlib.ExitStack() as stack:
            engines = []
            for side, player in ((WHITE, job.white), (BLACK, job.black)):
                engines.append(stack.enter_context(UciEngine(player.spec, stopping)))
                remarks += engines[side].refused
                engines[side].new_game()
            clocks = [Clock(job.white.pace), Clock(job.black.pace)]
            while not game.is_over():
                side = game.board.side
                moves = " ".join(coordinate.write(move) for move in game.moves)
                position = f"position fen {game.start}" + (f" moves {moves}" if moves else "")
                limits = go_line(clocks, side)
                answer = engines[side].go(position, limits, patience(clocks[side], job.margin))
                if not clocks[side].spend(answer.seconds * 1000, job.margin):
                    raise EngineFault("time", "out of time")
                name = (job.white, job.black)[side].spec.name
                for wrong in wrong_variations(game.board, answer):
                    remarks += [] if name in warned else [f"{name}, {fen.write(game.board)}: {wrong}"]
                    warned.append(name)
                try:
                    game.play(coordinate.parse(game.board, answer.move))
                except ValueError as error:
                    raise EngineFault("illegal", str(error)) from None
                answers.append(answer)
                adjudicate(game, answers, job.adjudication)
    except EngineFault as error:
        fault = error.kind
        game.end(RESULT_OF_WINNER[side ^ 1], f"{(job.white, job.black)[side].spec.name}: {error}")
    text = record(job, game, opening, answers, fault, warned)
    return Played(job.number, game.result, fault, text, tuple(remarks), tuple(warned))


def wrong_variations(board: Board, answer: Answer) -> list[str]:
    """What is wrong with the variations of an answer, one line for each that is."""
    found = []
    known: dict[str, int] = {}
    for variation in answer.variations:
        at = board.copy()
        path = ""
        for word in variation.split():
            path += f" {word}"
            # Most of a variation was told before, and much of this is Python.
            if path not in known:
                if over := outcome(at):
                    found.append(f"a variation goes on after {over.value}:{path}")
                    break
                try:
                    known[path] = coordinate.parse(at, word)
                except ValueError as error:
                    found.append(f"a variation ends with no legal move:{path}: {error}")
                    break
            at.forget()
            at.make(known[path])
    if answer.line and answer.line.split()[0] != answer.move:
        found.append(f"{answer.move} is played, and the last variation is {answer.line}")
    return found


def adjudicate(game: OngoingGame, answers: list[Answer], rule: Adjudication) -> None:
    """End the game if the scores told say so."""
    if game.is_over():
        return
    if rule.longest and game.board.fullmove > rule.longest:
        game.end(DRAWN, "adjudication: too long")
        return
    # From the last mover's side, the latest first.
    scores = [_centipawns(answer) * (-1) ** i for i, answer in enumerate(reversed(answers))]
    last = scores[: 2 * rule.resign_moves]
    if rule.resign_moves and len(last) == 2 * rule.resign_moves and not any(map(math.isnan, last)):
        if min(last) >= rule.resign_score:
            game.end(RESULT_OF_WINNER[game.board.side ^ 1], "adjudication: resigned")
        elif max(last) <= -rule.resign_score:
            game.end(RESULT_OF_WINNER[game.board.side], "adjudication: resigned")
    last = scores[: 2 * rule.draw_moves]
    if rule.draw_moves and len(last) == 2 * rule.draw_moves and game.board.fullmove > rule.draw_from:
        if all(abs(score) <= rule.draw_score for score in last):
            game.end(DRAWN, "adjudication: drawn")


def _centipawns(answer: Answer) -> float:
    """The score of an answer; no score is no reason to end a game."""
    if answer.mate is not None:
        return math.copysign(30000, answer.mate or -1)
    return math.nan if answer.score is None else answer.score


def record(
    job: Job, game: OngoingGame, opening: int, answers: list[Answer], fault: str, warned: list[str]
) -> str:
    """The game as PGN, with the settings of both sides, and score, depth and seconds after every move."""
    white, black = job.white.pace.clock(), job.black.pace.clock()
    clocks = {"WhiteTimeControl": white, "BlackTimeControl": black}
    tags = {
        "Event": EVENT,
        "Date": time.strftime("%Y.%m.%d"),
        "Round": f"{job.number // 2 + 1}.{job.number % 2 + 1}",
        "White": job.white.spec.name,
        "Black": job.black.spec.name,
        "Termination": FAULTS.get(fault, "adjudication" if "adjud" in game.reason else "normal"),
        "PlyCount": str(len(game.moves)),
        "WhiteSettings": job.white.settings(),
        "BlackSettings": job.black.settings(),
        **({"TimeControl": white} if white == black else clocks),
        **{
            f"{colour}Warnings": str(warned.count(side.spec.name))
            for colour, side in (("White", job.white), ("Black", job.black))
            if side.spec.name in warned
        },
    }
    found = game.record(tags)
    for move, answer in zip(found.moves[opening:], answers, strict=True):
        score = "book"
        if answer.mate is not None:
            score = f"{'-' if answer.mate < 0 else '+'}M{abs(answer.mate)}"
        elif answer.score is not None:
            score = f"{answer.score / 100:+.2f}"
        move.comment = f"{score}/{answer.depth} {answer.seconds:.3f}s"
    owner = found.moves[-1] if found.moves else found
    owner.comment = f"{owner.comment}; {game.reason}".lstrip("; ")
    return pgn.write(found)


# --- The score


class Score:
    """The games so far, from the first engine's side: results by number, faults by engine and kind, wrong
    variations by engine.
    """

    def __init__(self) -> None:
        self.points: dict[int, float] = {}
        self.faults: Counter[tuple[str, str]] = Counter()
        self.warnings: Counter[str] = Counter()

    def add(self, number: int, result: str) -> None:
        """Count a game; the first engine has White in the even ones."""
        white = {"1-0": 1.0, "0-1": 0.0}.get(result, 0.5)
        self.points[number] = white if number % 2 == 0 else 1 - white

    def samples(self) -> list[float]:
        """The mean points of every complete pair: what two games of an opening give is not independent."""
        return [
            (self.points[number] + self.points[number + 1]) / 2
            for number in self.points
            if number % 2 == 0 and number + 1 in self.points
        ]

    def mean(self) -> float:
        """The mean points of a game."""
        return statistics.fmean(self.points.values()) if self.points else 0.5

    def error(self) -> float:
        """The standard error of the mean: from pairs, or from games while pairs say nothing."""
        samples = self.samples()
        if len(samples) < 2 or statistics.variance(samples) == 0:
            samples = list(self.points.values())
        return statistics.stdev(samples) / math.sqrt(len(samples)) if len(samples) > 1 else 0.5

    def interval(self) -> tuple[float, float, float]:
        """The Elo difference, and the ends of its 95 % interval."""
        mean, error = self.mean(), self.error() * SIGNIFICANCE
        return elo_of(mean), elo_of(mean - error), elo_of(mean + error)

    def los(self) -> float:
        """The likelihood that the first engine is the stronger one."""
        error = self.error()
        if error == 0:
            return 0.5 + 0.5 * ((self.mean() > 0.5) - (self.mean() < 0.5))
        return 0.5 * (1 + math.erf((self.mean() - 0.5) / (error * math.sqrt(2))))

    def llr(self, elo0: float, elo1: float) -> float:
        """The log-likelihood ratio of two Elo differences, in the normal approximation over pairs.

        One won and one lost pair are added for the variance: a few pairs that end alike prove little, and
        many of them something. Source: Michel Van den Bergh, "A practical introduction to the GSPRT", 2018.
        """
        samples = self.samples()
        if not samples:
            return 0.0
        variance = statistics.pvariance([*samples, 0.0, 1.0])
        low, high = points_of(elo0), points_of(elo1)
        return len(samples) * (high - low) * (2 * statistics.fmean(samples) - low - high) / (2 * variance)


def elo_of(points: float) -> float:
    """The Elo difference of mean points between 0 and 1; infinite at both ends."""
    if points <= 0 or points >= 1:
        return math.copysign(math.inf, points - 0.5)
    return 400 * math.log10(points / (1 - points))


def points_of(elo: float) -> float:
    """The mean points that an Elo difference gives."""
    return 1 / (1 + 10 ** (-elo / 400))


@dataclass(frozen=True)
class Sprt:
    """A sequential test of elo1 against elo0, with the two probabilities of error."""

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

    def bounds(self) -> tuple[float, float]:
        """The log-likelihood ratios at which elo0 and elo1 are accepted."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def verdict(self, score: Score) -> str:
        """ "H0" or "H1" once one of them is accepted, else ""."""
        low, high = self.bounds()
        llr = score.llr(self.elo0, self.elo1)
        return "H1" if llr >= high else "H0" if llr <= low else ""


def state(score: Score, sprt: Sprt | None) -> str:
    """The score in a few words."""
    elo, low, high = score.interval()
    text = (
        f"{100 * score.mean():.1f} % Elo {elo:+.0f} [{low:+.0f}, {high:+.0f}] LOS {100 * score.los():.0f} %"
    )
    if sprt:
        low, high = sprt.bounds()
        text += f" LLR {score.llr(sprt.elo0, sprt.elo1):.2f} [{low:.2f}, {high:.2f}]"
    faults = sum(score.faults.values())
    return text + (f" FAULTS {faults}" if faults else "")


# --- The match


@dataclass(frozen=True)
class Match:
    """What is to be played: two sides, the openings (start FEN and moves), the number of games, the rules."""

    sides: tuple[Side, Side]
    openings: list[tuple[str, tuple[int, ...]]]
    games: int
    adjudication: Adjudication
    margin: int

    def job(self, number: int) -> Job:
        """The game of that number: two games an opening, with colours reversed."""
        white, black = self.sides if number % 2 == 0 else reversed(self.sides)
        start, moves = self.openings[number // 2 % len(self.openings)]
        return Job(number, white, black, start, moves, self.adjudication, self.margin)


def read_openings(path: Path, plies: int) -> list[tuple[str, tuple[int, ...]]]:
    """The openings of a PGN or EPD file, at most so many plies of each (0 for all).

    Raises ValueError with the file and the line of the first that is damaged.
    """
    found = []
    if path.suffix.lower() == ".pgn":
        with open(path, "rb") as stream:
            for game in pgn.Reader(stream):
                if game.faults:
                    raise ValueError(f"{path}, line {game.faults[0].line}: {game.faults[0].text}")
                moves = [move.move for move in game.moves]
                if NO_MOVE in moves:
                    raise ValueError(f"{path}, line {game.line}: an opening cannot hold a null move")
                found.append((game.start, tuple(moves[:plies] if plies else moves)))
    else:
        for number, line in enumerate(path.read_text(encoding="utf-8-sig", errors="replace").split("\n"), 1):
            if not line.strip() or line.startswith("#"):
                continue
            try:
                found.append((fen.write(fen.parse(" ".join(line.split(";")[0].split()[:4]))), ()))
            except ValueError as error:
                raise ValueError(f"{path}, line {number}: {error}") from None
    if not found:
        raise ValueError(f"{path} holds no opening")
    return found


def read_played(path: Path, match: Match) -> tuple[Score, int]:
    """The games that a match has left in its file, and the file's size without a last one that is torn.

    Raises ValueError if a game is of another match.
    """
    score = Score()
    text = path.read_bytes() if path.exists() else b""
    size = whole_size(text)
    for game in pgn.Reader(io.BytesIO(text[:size])):
        if game.result == pgn.UNFINISHED and not game.faults:
            continue
        pair, _, half = game.tags.get("Round", "").partition(".")
        number = 2 * int(pair) + int(half) - 3 if pair.isdecimal() and half in ("1", "2") else -1
        difference = "it has no Round" if number < 0 else _difference(game, match.job(number))
        if number in score.points:
            difference = f"its Round, {game.tags['Round']}, is there already"
        if difference:
            raise ValueError(f"{path}, line {game.line}: this is no game of this match: {difference}")
        score.add(number, game.result)
        for colour in ("White", "Black"):
            if (count := game.tags.get(f"{colour}Warnings", "")).isdecimal():
                score.warnings[game.tags[colour]] += int(count)
        for kind, termination in FAULTS.items():
            if game.tags.get("Termination") == termination:
                loser = game.tags["Black" if game.result == "1-0" else "White"]
                score.faults[loser, kind] += 1
                break
    return score, size


_GAME_END = re.compile(rb"(?<!\S)(?:1-0|0-1|1/2-1/2|\*)[ \t\r]*\n(?:\s*\n|\Z)")


def whole_size(text: bytes) -> int:
    """The bytes of a match's file up to where a last game begins that was torn as it was written."""
    size = max((found.end() for found in _GAME_END.finditer(text)), default=0)
    rest = text[size:].rstrip(b"\0")  # so some file systems fill what they had no time to write
    head = f'[Event "{EVENT}"]\n'.encode()
    return size if rest.startswith(head) or head.startswith(rest) else len(text)


def _difference(game: pgn.Game, job: Job) -> str:
    """What tells the game from the one that is to be played; "" if nothing does."""
    if game.faults:
        return game.faults[0].text
    for colour, side in (("White", job.white), ("Black", job.black)):
        if (name := game.tags.get(colour)) != side.spec.name:
            return f"{colour} is {name!r}, not {side.spec.name!r}"
        if (settings := game.tags.get(f"{colour}Settings", side.settings())) != side.settings():
            return f"{name} played with {settings!r}, not {side.settings()!r}"
    if (game.start, *(move.move for move in game.moves[: len(job.moves)])) != (job.start, *job.moves):
        return "its opening is another one (--openings, --plies, --seed)"
    return ""


class Unplayed(Exception):
    """A game could not be played, by no fault of an engine."""


@dataclass(frozen=True)
class Crew:
    """Who plays the games: an executor, how many it plays at a time, the function that plays one, and what
    tells it to stop, if that is not done by cancelling.
    """

    executor: Executor
    workers: int
    play: Callable[[Job], Played]
    stopping: threading.Event | None = None


def play(match: Match, score: Score, crew: Crew, sprt: Sprt | None) -> Iterator[Played]:
    """Play what is missing of a match, and count it; every game as it ends, until the SPRT decides.

    Raises Unplayed if a game ends by an exception, after what has ended besides it.
    """
    waiting = iter([number for number in range(match.games) if number not in score.points])
    running: set[Future[Played]] = set()
    try:
        while True:
            decided = sprt is not None and sprt.verdict(score)
            while not decided and len(running) < crew.workers and (number := next(waiting, -1)) >= 0:
                running.add(crew.executor.submit(crew.play, match.job(number)))
            if decided or not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            failure = None
            for future in done:
                try:
                    played = future.result()
                except Exception as error:  # whatever can befall a cluster
                    failure = error
                    continue
                score.add(played.number, played.result)
                score.warnings.update(played.warned)
                if played.fault:
                    names = [side.spec.name for side in match.sides]
                    white_lost = played.result == "0-1"
                    score.faults[names[(played.number % 2 == 0) != white_lost], played.fault] += 1
                yield played
            if failure:
                cause = failure.__cause__ or failure
                text = "the cluster has dropped it" if isinstance(cause, CancelledError) else str(cause)
                words = [f"a game could not be played: {type(cause).__name__}:", *text.split()]
                raise Unplayed(" ".join(words)) from failure
    finally:
        if crew.stopping is not None:
            crew.stopping.set()
        for future in running:
            future.cancel()


@contextlib.contextmanager
def crew_for(scheduler: str | None, concurrency: int) -> Iterator[Crew]:
    """Threads of this process, or the workers of a Dask cluster.

    Raises ValueError if a cluster is asked for and cannot be had.
    """
    if scheduler is None:
        stopping = threading.Event()
        with ThreadPoolExecutor(concurrency) as executor:
            yield Crew(executor, concurrency, partial(play_game, stopping=stopping.is_set), stopping)
        return
    try:
        cloudpickle = importlib.import_module("cloudpickle")
        distributed = importlib.import_module("distributed")
    except ImportError as error:
        raise ValueError(f"{error}: python -m pip install -e '.[cluster]'") from None
    # The workers have no such files: they get the client and this module with every job.
    cloudpickle.register_pickle_by_value(uci)
    # What goes wrong ends a game, and is told there.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        client = distributed.Client(scheduler, timeout=SCHEDULER_TIMEOUT)
    except (OSError, ValueError) as error:
        raise ValueError(f"no scheduler answers at {scheduler}: {error}") from None
    with client:
        threads = sum(client.nthreads().values())
        yield Crew(client.get_executor(pure=False), max(1, min(concurrency, threads)), play_task)


def play_task(job: Job) -> Played:
    """Play a game as a task of a Dask worker. It ends early when it is cancelled, its client is gone, or the
    worker closes.
    """
    worker = importlib.import_module("distributed").get_worker()
    task = worker.state.tasks[worker.get_current_task()]
    return play_game(job, lambda: task.state == "cancelled" or worker.status.name == "closing")


def summary(score: Score, match: Match, sprt: Sprt | None) -> str:
    """The result in full."""
    samples = score.samples()
    values = list(score.points.values())
    elo, low, high = score.interval()
    rows = [
        ["games", f"{len(values)} ({len(samples)} pairs)"],
        ["won, drawn, lost", f"{values.count(1)} {values.count(0.5)} {values.count(0)}"],
        ["pairs of 2, 1.5, 1, 0.5, 0 points", " ".join(str(samples.count(p / 4)) for p in range(4, -1, -1))],
        ["points", f"{100 * score.mean():.1f} % ± {100 * score.error() * SIGNIFICANCE:.1f}"],
        ["Elo difference", f"{elo:+.0f}, 95 %: {low:+.0f} to {high:+.0f}"],
        ["likelihood of superiority", f"{100 * score.los():.1f} %"],
    ]
    if sprt:
        below, above = sprt.bounds()
        verdict = sprt.verdict(score) or "undecided"
        test = f"{sprt.elo1:g} against {sprt.elo0:g} Elo"
        rows.append(
            [
                f"SPRT, {test}",
                f"{verdict}, LLR {score.llr(sprt.elo0, sprt.elo1):.2f} [{below:.2f}, {above:.2f}]",
            ]
        )
    for (name, kind), count in sorted(score.faults.items()):
        rows.append([f"lost by {FAULTS[kind]}", f"{name}: {count}"])
    for name, count in sorted(score.warnings.items()):
        rows.append(["wrong variations", f"{name}: {count}"])
    first, second = (side.spec.name for side in match.sides)
    return f"{first} against {second}\n\n{tabulate(rows, tablefmt='plain')}"


# --- The command line


def parse_side(words: list[str], each: list[str], number: int) -> Side:
    """A side from the KEY=VALUE words of --each and --engine. Raises ValueError."""
    found: dict[str, str] = {}
    options: dict[str, str] = {}
    for word in [*each, *words]:
        key, equals, value = word.partition("=")
        if not equals:
            raise ValueError(f"{word!r} is not KEY=VALUE")
        if key.startswith("option."):
            options[key.removeprefix("option.")] = value
        elif key in ("name", "cmd", "dir", "tc", "movetime", "nodes", "depth"):
            found[key] = value
        else:
            raise ValueError(f"there is no key {key!r}")
    command = tuple(shlex.split(found.get("cmd", "")))
    if not command:
        raise ValueError(f"engine {number} has no cmd=")
    pace = parse_clock(found["tc"]) if "tc" in found else Pace()
    for key in ("movetime", "nodes", "depth"):
        if key in found:
            if not found[key].isdecimal() or int(found[key]) < 1:
                raise ValueError(f"{key}={found[key]}: it has to be a whole number from 1 on")
            pace = replace(pace, **{key: int(found[key])})
    if pace == Pace():
        raise ValueError(f"engine {number} has no limit: tc=, movetime=, nodes= or depth=")
    name = found.get("name", Path(command[-1]).stem)
    return Side(EngineSpec(name, command, tuple(options.items()), found.get("dir")), pace)


def parse_clock(text: str) -> Pace:
    """The pace of a clock: "5+0.05", "40/60+0.6", in seconds. Raises ValueError."""
    head, slash, rest = text.rpartition("/")
    base, plus, increment = rest.partition("+")
    try:
        moves = int(head) if slash else 0
        seconds, gain = float(base), float(increment) if plus else 0.0
    except ValueError:
        moves, seconds, gain = 0, math.nan, 0.0
    if not (0 < seconds < 1e6 and 0 <= gain < 1e6 and 0 <= moves <= 1000) or (slash and not moves):
        raise ValueError(f"tc={text}: it has to read like 5+0.05 or 40/60+0.6, in seconds")
    return Pace(max(1, round(1000 * seconds)), round(1000 * gain), moves)


def interrupt_on_termination() -> None:
    """Have SIGTERM end this process as Ctrl-C does, and what it has started with it."""

    def interrupt(number: int, frame: object) -> None:
        signal.signal(number, signal.SIG_IGN)  # once is enough: `timeout` tells the process and its group
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--engine", nargs="+", action="append", required=True, metavar="KEY=VALUE", help="twice: the engines"
    )
    parser.add_argument("--each", nargs="+", default=[], metavar="KEY=VALUE", help="what holds for both")
    parser.add_argument("--openings", type=Path, metavar="FILE", help="a PGN or EPD file (usually: none)")
    parser.add_argument("--plies", type=int, default=0, help="of every opening at most (usually all)")
    parser.add_argument("--seed", type=int, default=0, help="for the order of the openings")
    parser.add_argument("--games", type=int, default=100, help="at most (usually 100)")
    parser.add_argument("--concurrency", type=int, default=1, help="games at a time (usually 1)")
    parser.add_argument("--pgn", type=Path, default=Path("match.pgn"), help="where the games go (match.pgn)")
    parser.add_argument("--sprt", nargs=2, type=float, metavar=("ELO0", "ELO1"), help="stop when decided")
    parser.add_argument("--resign", nargs=2, type=int, default=(0, 0), metavar=("MOVES", "CENTIPAWNS"))
    parser.add_argument(
        "--draw", nargs=3, type=int, default=(0, 0, 0), metavar=("FROM", "MOVES", "CENTIPAWNS")
    )
    parser.add_argument("--longest", type=int, default=0, metavar="MOVES", help="a draw after so many moves")
    parser.add_argument("--margin", type=int, default=20, help="milliseconds a clock may be overdrawn (20)")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="play on a Dask cluster")
    return parser.parse_args()


def _match_of(options: argparse.Namespace) -> Match:
    """The match that the options ask for. Raises ValueError or OSError."""
    if len(options.engine) != 2:
        raise ValueError("a match takes two engines")
    first, second = (parse_side(words, options.each, n) for n, words in enumerate(options.engine, 1))
    if first.spec.name == second.spec.name:
        raise ValueError(f"both engines are called {first.spec.name!r}: give them a name=")
    if options.games < 1 or options.concurrency < 1:
        raise ValueError("there has to be at least one game")
    openings: list[tuple[str, tuple[int, ...]]] = [(fen.START, ())]
    if options.openings:
        openings = read_openings(options.openings, options.plies)
        random.Random(options.seed).shuffle(openings)
    resign_moves, resign_score = options.resign
    rule = Adjudication(resign_moves, resign_score, *options.draw)
    rule = replace(rule, longest=options.longest)
    if min(*astuple(rule), options.plies, options.margin) < 0:
        raise ValueError("--resign, --draw, --longest, --plies and --margin take no negative numbers")
    return Match((first, second), openings, options.games, rule, options.margin)


def main() -> int:
    """Play the match; returns the exit code."""
    options = _options()
    interrupt_on_termination()
    sprt = Sprt(*options.sprt) if options.sprt else None
    complete = True
    remarks: set[str] = set()
    try:
        if sprt and not sprt.elo0 < sprt.elo1:
            raise ValueError("the SPRT tests a smaller Elo difference against a larger one")
        match = _match_of(options)
        score, size = read_played(options.pgn, match)
        if score.points:
            print(f"{len(score.points)} games are in {options.pgn} already", file=sys.stderr)
        with (
            crew_for(options.scheduler, options.concurrency) as crew,
            open(options.pgn, "ab") as file,
            tqdm(total=match.games, initial=len(score.points), unit="game", dynamic_ncols=True) as bar,
            contextlib.suppress(KeyboardInterrupt),
        ):
            if file.tell() > size:
                bar.write(f"{options.pgn}: the last game is torn, and dropped", file=sys.stderr)
                file.truncate(size)
            for played in play(match, score, crew, sprt):
                file.write(played.pgn.encode())
                file.flush()
                for remark in played.remarks:
                    if remark not in remarks:
                        remarks.add(remark)
                        bar.write(remark, file=sys.stderr)
                bar.set_postfix_str(state(score, sprt), refresh=False)
                bar.update()
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    except Unplayed as error:
        print(error, file=sys.stderr)
        complete = False
    print(summary(score, match, sprt))
    return 0 if complete and not score.faults else 1


if __name__ == "__main__":
    sys.exit(main())
