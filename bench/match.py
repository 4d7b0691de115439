"""A match between two UCI engines: Elo difference with its error, LOS, SPRT, and the games as PGN.

    python bench/match.py --engine name=new cmd="python engine.py"
                          --engine name=old cmd="python ../old/engine.py" --each tc=5+0.05 option.Hash=16
                          --openings bench/openings.epd --games 200 --pgn new.pgn

keys of --engine and --each (a key of --engine overrides the same key of --each):

    name=NAME           the engine's name (default: from its command)
    cmd=COMMAND         the command line that starts it
    dir=FOLDER          the folder to start it in
    option.NAME=VALUE   a UCI option
    tc=CLOCK            SECONDS+INCREMENT, or MOVES/SECONDS+INCREMENT: 5+0.05, 40/60+0.6
    movetime=N, nodes=N, depth=N
                        a limit of every move instead of a clock, in milliseconds, nodes, plies
    ponder=yes          let it think on the opponent's time too (needs a tc)

To play Chess960, use --each option.UCI_Chess960=true and --openings with its start positions.

Every opening is played twice with colours reversed. The match ends after --games, or when the SPRT accepts
one of its hypotheses.

adjudication, off by default, ends a game early by the scores that the engines report:

    --resign 4 600      after 4 moves of each side with both engines reporting one side 600 centipawns ahead
                        or more (or mating), that side wins
    --draw 40 8 10      after move 40, once both sides have reported a score within 10 centipawns for 8 moves,
                        the game is drawn
    --longest 200       after move 200 the game is drawn, whatever the scores
    --tables FOLDER     a game whose position is in these endgame tablebases ends with their result

A side that crashes, disconnects, stalls, plays an illegal move or oversteps its time by more than --margin
loses the game; such losses are listed separately. Variations that contain an illegal move, go on after the
end of the game or do not begin with the move played are counted.

Every game is added to the PGN file when it ends. The same command line continues an interrupted match; an
incomplete last game is played again. It refuses to continue with other names, limits, options, openings,
adjudication or margin. Ctrl-C (or SIGTERM) ends the running games and their engines, here and on a cluster,
and prints the score so far.

Games run in threads of this process, or with --scheduler on the workers of a Dask cluster, which need the
engines' commands and the packages of Moff.

To measure strength, freeze a copy of both sides first and keep the machine otherwise idle. The exit code is
0; 1 if a game was lost by a fault or could not be played on the cluster; 2 after wrong usage; 130 when
interrupted. Needs the `bench` extra, a cluster the `cluster` extra.
"""

import argparse
import contextlib
import io
import math
import random
import re
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Generator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

import script  # first: it puts this checkout on the path
from adjudication import Adjudication
from game import EVENT, FAULTS, Job, Pace, Played, Side
from openings import Opening, read_openings
from score import SIGNIFICANCE, Score, Sprt, state
from uci import EngineSpec
from workers import Workers, cluster, threads

from moff.tables import opened
from x88 import fen, pgn


@dataclass(frozen=True)
class Match:
    """What to play: two sides, the openings, the number of games, the rules."""

    sides: tuple[Side, Side]
    openings: list[Opening]
    games: int
    adjudication: Adjudication
    margin: int

    def job(self, number: int) -> Job:
        """The game of that number: two games per opening, with colours reversed."""
        white, black = self.sides if number % 2 == 0 else reversed(self.sides)
        start, moves = self.openings[number // 2 % len(self.openings)]
        return Job(number, white, black, start, moves, self.adjudication, self.margin)


# --- The file of games


def read_played(path: Path, match: Match) -> tuple[Score, int]:
    """The score of the games in a match's file, and the file's size without a torn last game.

    Raises ValueError if a game belongs to another match.
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
            difference = f"its Round, {game.tags['Round']}, occurs twice"
        if difference:
            raise ValueError(f"{path}, line {game.line}: this is not a game of this match: {difference}")
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
    """The bytes of a match's file before a torn last game, whose writing was interrupted."""
    size = max((found.end() for found in _GAME_END.finditer(text)), default=0)
    rest = text[size:].rstrip(b"\0")  # some file systems leave zeros for unwritten data
    head = f'[Event "{EVENT}"]\n'.encode()
    return size if rest.startswith(head) or head.startswith(rest) else len(text)


def _difference(game: pgn.Game, job: Job) -> str:
    """How the game in the file differs from the one to play; "" if it does not. Tags that files of older
    versions lack are not compared.
    """
    if game.faults:
        return game.faults[0].text
    for colour, side in (("White", job.white), ("Black", job.black)):
        if (name := game.tags.get(colour)) != side.spec.name:
            return f"{colour} is {name!r}, not {side.spec.name!r}"
        if (settings := game.tags.get(f"{colour}Settings", side.settings())) != side.settings():
            return f"{name} played with {settings!r}, not {side.settings()!r}"
    for tag, rule in job.rules().items():
        if (found := game.tags.get(tag, rule)) != rule:
            return f"{tag} was {found!r}, not {rule!r}"
    if (game.start, *(move.move for move in game.moves[: len(job.moves)])) != (job.start, *job.moves):
        return "its opening is another one (--openings, --plies, --seed)"
    return ""


# --- Playing


class Unplayed(Exception):
    """A game could not be played, through no fault of an engine."""


def play(match: Match, score: Score, workers: Workers, sprt: Sprt | None) -> Generator[Played, None, None]:
    """Play and count the missing games of a match, each yielded as it ends, until the SPRT decides. Closing
    the generator ends the running games.

    Raises Unplayed if a game ends with an exception, after yielding the games that ended at the same time.
    """
    waiting = iter([number for number in range(match.games) if number not in score.points])
    running: set[Future[Played]] = set()
    try:
        while True:
            decided = sprt is not None and sprt.verdict(score)
            while not decided and len(running) < workers.count and (number := next(waiting, -1)) >= 0:
                running.add(workers.submit(match.job(number)))
            if decided or not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            failure = None
            for future in done:
                try:
                    played = future.result()
                except Exception as error:  # anything can happen to a cluster
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
        workers.stopping.set()
        for future in running:
            future.cancel()


def play_missing(
    match: Match,
    path: Path,
    played_before: tuple[Score, int],
    workers: Workers,
    sprt: Sprt | None,
    tell: Callable[[str], None],
) -> Generator[Played, None, None]:
    """`play`, appending every game to the match's file, whose score and intact size are from `read_played`.

    `tell` is called once with each remark for the user.
    """
    score, size = played_before
    told: set[str] = set()
    with open(path, "ab") as file, contextlib.closing(play(match, score, workers, sprt)) as games:
        if file.tell() > size:
            tell(f"{path}: the last game is torn, and dropped")
            file.truncate(size)
        for played in games:
            file.write(played.pgn.encode())
            file.flush()
            for remark in played.remarks:
                if remark not in told:
                    told.add(remark)
                    tell(remark)
            yield played


def complaints(faults: Counter[tuple[str, str]], warnings: Counter[str]) -> list[tuple[str, str]]:
    """Rows for losses by faults and wrong variations: the kind, and the count by engine."""
    rows = [(f"lost by {FAULTS[kind]}", f"{name}: {count}") for (name, kind), count in sorted(faults.items())]
    return rows + [("wrong variations", f"{name}: {count}") for name, count in sorted(warnings.items())]


def summary(score: Score, match: Match, sprt: Sprt | None) -> str:
    """The result in full."""
    from tabulate import tabulate

    title = " against ".join(side.spec.name for side in match.sides)
    if not score.points:
        return f"{title}: no games"
    samples = score.samples()
    values = list(score.points.values())
    elo, low, high = score.interval()
    rows = [
        ("games", f"{len(values)} ({len(samples)} pairs)"),
        ("won, drawn, lost", f"{values.count(1)} {values.count(0.5)} {values.count(0)}"),
        ("pairs of 2, 1.5, 1, 0.5, 0 points", " ".join(str(samples.count(p / 4)) for p in range(4, -1, -1))),
        ("points", f"{100 * score.mean():.1f} % ± {100 * score.error() * SIGNIFICANCE:.1f}"),
        ("Elo difference", f"{elo:+.0f}, 95 %: {low:+.0f} to {high:+.0f}"),
        ("likelihood of superiority", f"{100 * score.los():.1f} %"),
    ]
    if sprt:
        below, above = sprt.bounds()
        verdict = sprt.verdict(score) or "undecided"
        llr = f"LLR {score.llr(sprt.elo0, sprt.elo1):.2f} [{below:.2f}, {above:.2f}]"
        rows.append((f"SPRT, {sprt.elo1:g} against {sprt.elo0:g} Elo", f"{verdict}, {llr}"))
    rows += complaints(score.faults, score.warnings)
    return f"{title}\n\n{tabulate(rows, tablefmt='plain')}"


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
        elif key in ("name", "cmd", "dir", "tc", "movetime", "nodes", "depth", "ponder"):
            found[key] = value
        else:
            raise ValueError(f"there is no key {key!r}")
    command = tuple(shlex.split(found.get("cmd", "")))
    if not command:
        raise ValueError(f"engine {number} has no cmd=")
    pace = parse_clock(found["tc"]) if "tc" in found else Pace()
    numbers: dict[str, Any] = {}
    for key in ("movetime", "nodes", "depth"):
        if key in found:
            if not found[key].isdecimal() or int(found[key]) < 1:
                raise ValueError(f"{key}={found[key]}: it must be a whole number from 1 up")
            numbers[key] = int(found[key])
    pace = replace(pace, **numbers)
    if pace == Pace():
        raise ValueError(f"engine {number} has no limit: tc=, movetime=, nodes= or depth=")
    if (ponder := found.get("ponder", "no")) not in ("yes", "no"):
        raise ValueError(f"ponder={ponder}: it must be yes or no")
    if ponder == "yes":
        if not pace.base:
            raise ValueError(f"engine {number} has ponder=yes, but no clock: tc=")
        pace = replace(pace, ponder=True)
        options.setdefault("Ponder", "true")
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
        raise ValueError(f"tc={text}: it must look like 5+0.05 or 40/60+0.6, in seconds")
    return Pace(max(1, round(1000 * seconds)), round(1000 * gain), moves)


def _options() -> argparse.Namespace:
    parser = script.parser(__doc__)
    parser.add_argument(
        "--engine", nargs="+", action="append", required=True, metavar="KEY=VALUE", help="twice: the engines"
    )
    parser.add_argument("--each", nargs="+", default=[], metavar="KEY=VALUE", help="keys for both engines")
    parser.add_argument(
        "--openings", type=Path, metavar="FILE", help="a PGN or EPD file (default: only the start position)"
    )
    parser.add_argument("--plies", type=int, default=0, help="of every opening at most (default: all)")
    parser.add_argument("--seed", type=int, default=0, help="for the order of the openings (default 0)")
    parser.add_argument("--games", type=int, default=100, help="at most (default 100)")
    parser.add_argument("--concurrency", type=int, default=1, help="games at a time (default 1)")
    parser.add_argument(
        "--pgn", type=Path, default=Path("match.pgn"), metavar="FILE", help="of the games (default match.pgn)"
    )
    parser.add_argument(
        "--sprt", nargs=2, type=float, metavar=("ELO0", "ELO1"), help="stop when one of the two is accepted"
    )
    parser.add_argument(
        "--resign",
        nargs=2,
        type=int,
        default=(0, 0),
        metavar=("MOVES", "CENTIPAWNS"),
        help="a side wins once both engines have seen it this far ahead for this long (default: never)",
    )
    parser.add_argument(
        "--draw",
        nargs=3,
        type=int,
        default=(0, 0, 0),
        metavar=("FROM", "MOVES", "CENTIPAWNS"),
        help="after move FROM, a draw once both engines have seen a score this close to 0 for this long"
        " (default: never)",
    )
    parser.add_argument(
        "--longest",
        type=int,
        default=0,
        metavar="MOVES",
        help="a draw after this many moves (default: never)",
    )
    parser.add_argument(
        "--tables", default="", metavar="FOLDERS", help="Syzygy tables that end a game (default: none)"
    )
    parser.add_argument(
        "--margin",
        type=int,
        default=20,
        metavar="MS",
        help="milliseconds by which a clock may be overstepped (default 20)",
    )
    parser.add_argument("--scheduler", metavar="ADDRESS", help="play on the Dask cluster of this scheduler")
    return parser.parse_args()


def _match_of(options: argparse.Namespace) -> Match:
    """The match that the options ask for. Raises ValueError or OSError."""
    if len(options.engine) != 2:
        raise ValueError("a match takes two engines")
    first, second = (parse_side(words, options.each, n) for n, words in enumerate(options.engine, 1))
    if first.spec.name == second.spec.name:
        raise ValueError(f"both engines are called {first.spec.name!r}: give them a name=")
    if first.is_chess960() != second.is_chess960():
        raise ValueError("option.UCI_Chess960=true must be set for both engines")
    if options.games < 1 or options.concurrency < 1:
        raise ValueError("--games and --concurrency are whole numbers from 1 up")
    openings: list[Opening] = [(fen.START, ())]
    if options.openings:
        openings = read_openings(options.openings, options.plies, first.is_chess960())
        random.Random(options.seed).shuffle(openings)
    resign_moves, resign_score = options.resign
    rule = Adjudication(resign_moves, resign_score, *options.draw)
    rule = replace(rule, longest=options.longest)
    if min(*astuple(rule)[:-1], options.plies, options.margin) < 0:
        raise ValueError("--resign, --draw, --longest, --plies and --margin take no negative numbers")
    if options.tables:
        tables = opened(options.tables)
        if not tables.most:
            raise ValueError("; ".join(tables.problems) or f"{options.tables}: there is no table")
        rule = replace(rule, tables=options.tables)
    return Match((first, second), openings, options.games, rule, options.margin)


@script.command
def main() -> int:
    """Play the match; returns the exit code."""
    options = _options()
    script.require("bench", "tabulate", "tqdm")
    from tqdm import tqdm

    sprt = Sprt(*options.sprt) if options.sprt else None
    if sprt and not sprt.elo0 < sprt.elo1:
        raise ValueError("the SPRT tests a smaller Elo difference against a larger one")
    match = _match_of(options)
    score, size = read_played(options.pgn, match)
    if score.points:
        print(f"{len(score.points)} games are in {options.pgn} already", file=sys.stderr)
    count, address = options.concurrency, options.scheduler
    complete = True
    try:
        with (
            cluster(address, count) if address else threads(count) as workers,
            tqdm(total=match.games, initial=len(score.points), unit="game", dynamic_ncols=True) as bar,
            contextlib.closing(
                play_missing(
                    match, options.pgn, (score, size), workers, sprt, lambda text: bar.write(text, sys.stderr)
                )
            ) as games,
        ):
            for _ in games:
                bar.set_postfix_str(state(score, sprt), refresh=False)
                bar.update()
    except Unplayed as error:
        print(error, file=sys.stderr)
        complete = False
    except KeyboardInterrupt:
        print(summary(score, match, sprt), flush=True)
        raise KeyboardInterrupt("interrupted: the same command continues the match") from None
    print(summary(score, match, sprt))
    return 0 if complete and not score.faults else 1


if __name__ == "__main__":
    sys.exit(main())
