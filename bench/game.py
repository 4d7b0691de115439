"""One game between two UCI engines: clocks, faults, checked variations, PGN."""

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass

from adjudication import Adjudication, adjudicate
from uci import Answer, EngineFault, EngineSpec, UciEngine

from x88 import coordinate, fen, pgn
from x88.board import Board
from x88.game import RESULT_OF_WINNER, OngoingGame
from x88.outcome import outcome
from x88.piece import BLACK, WHITE

GRACE = 5.0
"""Seconds beyond its time after which an engine counts as stalled."""

UNTIMED_PATIENCE = 3600.0
"""Seconds that a move limited by nodes or depth may take."""

FAULTS = {
    "time": "time forfeit",
    "crash": "abandoned",
    "disconnect": "disconnected",
    "stall": "stalled",
    "illegal": "rules infraction",
    "hasty": "moved while pondering",
}
"""The PGN Termination of each way to lose by a fault."""

EVENT = "Match"
"""The PGN Event, with which the record of every game begins."""


@dataclass(frozen=True)
class Pace:
    """What limits one side's moves: a clock in milliseconds, or a fixed limit per move; and whether it
    ponders on the opponent's time.
    """

    base: int = 0
    increment: int = 0
    moves: int = 0
    movetime: int = 0
    nodes: int = 0
    depth: int = 0
    ponder: bool = False

    def clock(self) -> str:
        """The clock as a PGN TimeControl, which `match.parse_clock` reads: "40/60+0.6"; "-" without one."""
        moves = f"{self.moves}/" if self.moves else ""
        return f"{moves}{_seconds(self.base)}+{_seconds(self.increment)}" if self.base else "-"


def _seconds(milliseconds: int) -> str:
    """Milliseconds as seconds, to the last digit."""
    return f"{milliseconds // 1000}.{milliseconds % 1000:03}".rstrip("0").rstrip(".")


@dataclass(frozen=True)
class Side:
    """An engine with its pace."""

    spec: EngineSpec
    pace: Pace

    def is_chess960(self) -> bool:
        """Whether the engine has been told to play Chess960."""
        return ("UCI_Chess960", "true") in self.spec.options

    def settings(self) -> str:
        """Its limits and options, as on the command line."""
        words = [f"tc={self.pace.clock()}"] if self.pace.base else []
        for key in ("movetime", "nodes", "depth"):
            if value := getattr(self.pace, key):
                words.append(f"{key}={value}")
        words += ["ponder=yes"] if self.pace.ponder else []
        return " ".join([*words, *sorted(f"option.{name}={value}" for name, value in self.spec.options)])


@dataclass(frozen=True)
class Job:
    """A game to play: its number, the two sides, the opening (FEN and packed moves), the adjudication rules,
    and the milliseconds by which a clock may be overstepped.
    """

    number: int
    white: Side
    black: Side
    start: str
    moves: tuple[int, ...]
    adjudication: Adjudication
    margin: int

    def is_chess960(self) -> bool:
        """Whether the engines have been told to play Chess960."""
        return self.white.is_chess960()

    def rules(self) -> dict[str, str]:
        """The PGN tags of the rules for both sides."""
        rules = {"Adjudication": self.adjudication.settings(), "TimeMargin": f"{self.margin} ms"}
        return {**rules, "Variant": pgn.CHESS960} if self.is_chess960() else rules


@dataclass(frozen=True)
class Played:
    """A finished game: its number, the result, the fault that ended it or "", its PGN, remarks for the user,
    and an engine's name for each wrong variation of that engine.
    """

    number: int
    result: str
    fault: str
    pgn: str
    remarks: tuple[str, ...]
    warned: tuple[str, ...]


class Clock:
    """One side's time in milliseconds."""

    def __init__(self, pace: Pace) -> None:
        self.pace = pace
        self.left = float(pace.base)
        self.to_go = pace.moves
        self.overdrawn = 0.0
        """By how much the last move overstepped the time; 0 if it did not."""

    def spend(self, milliseconds: float, margin: int) -> bool:
        """Subtract the time of a move; False if the flag has fallen."""
        self.overdrawn = max(0.0, milliseconds - self.pace.movetime) if self.pace.movetime else 0.0
        if self.pace.base:
            self.left -= milliseconds
            self.overdrawn = max(self.overdrawn, -self.left)
        if self.overdrawn > margin:
            return False
        if not self.pace.base:
            return True
        self.left = max(self.left, 1.0) + self.pace.increment
        if self.pace.moves:
            self.to_go -= 1
            if self.to_go == 0:
                self.to_go = self.pace.moves
                self.left += self.pace.base
        return True

    def patience(self, margin: int) -> float:
        """The seconds after which the engine counts as stalled."""
        if self.pace.base:
            return (self.left + margin) / 1000 + GRACE
        if self.pace.movetime:
            return (self.pace.movetime + margin) / 1000 + GRACE
        return UNTIMED_PATIENCE


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


def position_line(game: OngoingGame, chess960: bool, *more: str) -> str:
    """The `position` line of a game, with more moves if there are any."""
    moves = " ".join([*(coordinate.write(move, chess960) for move in game.moves), *more])
    return f"position fen {game.start}" + (f" moves {moves}" if moves else "")


def play_game(job: Job, stopping: Callable[[], bool] | None = None) -> Played:
    """Play a game; an engine's fault loses it. Raises Interrupted soon after `stopping` returns True."""
    game = OngoingGame(job.start, chess960=True)
    chess960 = job.is_chess960()
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
                position = position_line(game, chess960)
                limits = go_line(clocks, side)
                engines[side].stop_pondering(position)
                answer = engines[side].go(position, limits, clocks[side].patience(job.margin))
                if not clocks[side].spend(answer.seconds * 1000, job.margin):
                    raise EngineFault("time", f"out of time by {clocks[side].overdrawn:.0f} ms")
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
                if clocks[side].pace.ponder and answer.reply and not game.is_over():
                    try:
                        reply = coordinate.write(coordinate.parse(game.board, answer.reply), chess960)
                    except ValueError as error:
                        remarks += [] if name in warned else [f"{name} cannot ponder on a reply: {error}"]
                        warned.append(name)
                    else:
                        line = position_line(game, chess960, reply)
                        engines[side].ponder(line, go_line(clocks, side))
    except EngineFault as error:
        fault = error.kind
        game.end(RESULT_OF_WINNER[side ^ 1], f"{(job.white, job.black)[side].spec.name}: {error}")
    text = record(job, game, opening, answers, fault, warned)
    return Played(job.number, game.result, fault, text, tuple(remarks), tuple(warned))


def wrong_variations(board: Board, answer: Answer) -> list[str]:
    """The faults of an answer's variations, one line each: illegal moves, moves after the end of the game, a
    last variation that does not begin with the move played.
    """
    found = []
    known: dict[str, int] = {}
    for variation in answer.variations:
        at = board.copy()
        path = ""
        for word in variation.split():
            path += f" {word}"
            # Variations share most of their moves with earlier ones, and checking a move is slow.
            if path not in known:
                if over := outcome(at):
                    found.append(f"a variation goes on after {over.value}:{path}")
                    break
                try:
                    known[path] = coordinate.parse(at, word)
                except ValueError as error:
                    found.append(f"a variation ends with no legal move:{path}: {error}")
                    break
            at.make(known[path])
    if answer.line and answer.line.split()[0] != answer.move:
        found.append(f"{answer.move} is played, and the last variation is {answer.line}")
    return found


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
        **job.rules(),
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
