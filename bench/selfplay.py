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
after move 70 when they have been within 0.05 pawns for 12 plies; or after 400 plies. A game whose opening
stays decided whatever the random plies is left out. The same command continues an interrupted run; another
--seed adds other games to the file. Processes of this machine play, or the workers of a Dask cluster, where
Moff must be installed.

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
import math
import os
import sys
import time
from collections import Counter, deque
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import gamefile
import script  # first: it puts this checkout on the path
import selfgame
from gamefile import Block, Game, GameFile
from selfgame import Book, Pace, Side, Training, play_game, read_numbers, searcher, training_game
from workers import connection, processes, run_all

from moff.tables import opened
from search.table import LARGEST
from x88 import build

LATER = {"chess960": False, "tables": 0}
"""Settings that old files do not have, as their games were played."""

BLOCK = 200
"""Games in a block of the file."""


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


def generate(options: argparse.Namespace, book: Book, training: Training) -> int:
    """Play the games that the file lacks, and add them; returns the exit code.

    Raises ValueError or OSError.
    """
    settings = {
        "nodes": training.nodes,
        "jitter": training.jitter,
        "random_plies": list(training.random_plies),
        "hash": training.megabytes,
        "openings": book.name,
        "engine": script.fingerprint(),
        "chess960": options.chess960,
        "tables": opened(training.tables).count(".rtbw"),
    }
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(GameFile(options.positions))
        if file.cut:
            print(f"{options.positions}: cut off {file.cut} bytes of an unfinished block", file=sys.stderr)
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
            available, submit = stack.enter_context(connection(options.scheduler, gamefile, selfgame))
            workers = max(1, min(workers, available))
        else:
            submit = stack.enter_context(processes(workers))
        there = {number for seed, number in file.games if seed == options.seed}
        missing = (number for number in range(options.games) if number not in there)
        end = math.inf if options.minutes is None else time.monotonic() + 60 * options.minutes
        order = Order(takewhile(lambda _: time.monotonic() < end, missing))
        jobs = (book.training_job(number, training) for number in order)
        progress = Progress(options.games - sum(number < options.games for number in there), options.minutes)
        left_out = 0

        def write(games: list[Game]) -> None:
            # An interrupt may have come before what was written, or what is ready, was removed from its list.
            if new := {game.number: game for game in games if (options.seed, game.number) not in file.games}:
                file.add(Block(options.seed, settings, list(new.values())))

        try:
            for number, game, reason in run_all(submit, training_game, jobs, workers):
                order.add(number, game)
                if game:
                    progress.add(game)
                else:
                    left_out += 1
                    print(f"\ngame {number} is left out: {reason}", file=sys.stderr)
                while len(order.ready) >= BLOCK:
                    write(order.ready[:BLOCK])
                    del order.ready[:BLOCK]
        except KeyboardInterrupt:
            return 130
        except (ValueError, OSError):
            raise
        except Exception as error:  # anything can happen to a process or a cluster
            print(f"\na game could not be played: {type(error).__name__}: {error}", file=sys.stderr)
            return 1
        finally:
            write(order.ready + order.waiting())
            progress.show("\n")
    return 1 if left_out else 0


class Order:
    """Brings games, which end in any order, into that of their numbers, so that the file of a run without
    interruption is the same whatever played it. The games behind one that takes long are only in memory.
    """

    def __init__(self, numbers: Iterator[int]) -> None:
        self._numbers = numbers
        self._begun: deque[int] = deque()
        self._ended: dict[int, Game | None] = {}
        self.ready: list[Game] = []
        """Games behind which no earlier one is still to come."""

    def __iter__(self) -> Iterator[int]:
        """The numbers of the games to begin, in this order."""
        for number in self._numbers:
            self._begun.append(number)
            yield number

    def add(self, number: int, game: Game | None) -> None:
        """Add a game that has ended; None for one that is left out."""
        self._ended[number] = game
        while self._begun and self._begun[0] in self._ended:
            if next_game := self._ended[self._begun[0]]:
                self.ready.append(next_game)
            del self._ended[self._begun.popleft()]

    def waiting(self) -> list[Game]:
        """The games that wait for earlier ones."""
        return [game for _, game in sorted(self._ended.items()) if game]


# --- A comparison


def compare(options: argparse.Namespace, book: Book, pace: Pace, changed: Side) -> str:
    """Play the match; returns the score in a few lines."""
    script.require("bench", "tqdm")
    from score import Score, Sprt, state
    from tqdm import tqdm

    score = Score()
    sprt = Sprt(*options.sprt) if options.sprt else None
    with processes(options.concurrency) as submit, contextlib.suppress(KeyboardInterrupt):
        jobs = (book.paired(number, pace, changed) for number in range(options.games))
        with tqdm(total=options.games, unit="game", dynamic_ncols=True) as bar:
            for played in run_all(submit, play_game, jobs, options.concurrency):
                score.add(played.number, played.result)
                bar.set_postfix_str(state(score, sprt), refresh=False)
                bar.update()
                if sprt and sprt.verdict(score):
                    break
    points = list(score.points.values())
    won, drawn, lost = (points.count(value) for value in (1.0, 0.5, 0.0))
    verdict = f", {sprt.verdict(score) or 'undecided'}" if sprt else ""
    return f"{len(points)} games: +{won} ={drawn} -{lost}\n{state(score, sprt)}{verdict}"


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
    if options.hash > LARGEST:
        raise ValueError(f"--hash must be at most {LARGEST} megabytes")
    if len(plies) > 2 or not 0 <= plies[0] <= plies[-1]:
        raise ValueError("--random-plies takes a number, or the least and the most")
    if options.compare is not None and plies[0] != plies[-1]:
        raise ValueError("--compare takes a single number for --random-plies")
    if options.compare is None and options.network:
        raise ValueError("--network needs --compare: training games use the network of search/")
    if options.compare is None and options.sprt:
        raise ValueError("--sprt needs --compare")
    if options.compare is not None and (options.minutes is not None or options.scheduler):
        raise ValueError("--minutes and --scheduler need --positions")
    if not 0 <= options.seed < 2**64 or not 0 <= options.jitter < 1:
        raise ValueError("--seed must be from 0 to 2**64 - 1, and --jitter from 0 to below 1")
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
