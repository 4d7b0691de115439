"""Readers of `bench/fuzz.py` that search: damaged conversations, and searches with a forged table.

With several threads, the same input may not reproduce a failure.
"""

import contextlib
import faulthandler
import os
import re
import tempfile
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from random import Random

from moff.uci.conversation import Engine
from search.benchmark import POSITIONS
from search.limits import Limits
from search.search import Report, Result, Search
from search.table import CLUSTER, short_move
from x88 import coordinate, fen
from x88.board import Board
from x88.movegen import legal_moves

THREADS = (1, 2, 8)
"""The thread counts to draw from."""

PATIENCE = 120.0
"""Seconds after which an input counts as hanging: the stacks of all threads are printed, and the process
ends.
"""

THINKING = 0.005
"""Seconds that a search may run before the next line of a conversation."""


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """Raise AssertionError if a thread ends with an exception; end the process after a timeout."""
    errors: list[threading.ExceptHookArgs] = []
    before = threading.excepthook
    threading.excepthook = errors.append
    faulthandler.dump_traceback_later(PATIENCE, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        threading.excepthook = before
    if errors:
        raise AssertionError("a thread has failed") from errors[0].exc_value


# --- Conversations

WHOLE = "@whole"
"""Stands for a folder of endgame tablebases, if the shared data are available."""

DAMAGED = "@damaged"
"""Stands for a folder of damaged tables."""

TABLES = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "syzygy"

TALKS = [
    "position startpos moves e2e4 e7e5\ngo depth 4\nisready\nstop\n",
    "go infinite searchmoves e2e4 a2a3\nsetoption name Threads value 2\nstop\ngo depth 3\n",
    "go ponder wtime 900 btime 900 winc 9 movestogo 2\nponderhit\ngo movetime 3\n",
    "setoption name MultiPV value 3\ngo nodes 2000\nisready\ngo mate 2\nposition startpos\n",
    "go infinite\nsetoption name Hash value 2\nsetoption name Threads value 8\nucinewgame\ngo depth 2\n",
    "setoption name nodestime value 9\ngo wtime 100 btime 100\ngo infinite\nposition startpos moves d2d4\n",
    "setoption name UCI_LimitStrength value true\ngo depth 5\nstop\nstop\ngo perft 2\nbench 1 2 1\nstop\n",
    "position fen 6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1\ngo mate 1\nd\nflip\ngo nodes 1\nquit\n",
    *(f"position fen {text}\ngo nodes 700\ngo infinite\nisready\n" for text in POSITIONS[::3]),
    *(
        f"setoption name SyzygyPath value {path}\nposition fen {text}\ngo depth 6\ngo infinite\n{option}\n"
        f"isready\nstop\ngo nodes 500\nsetoption name SyzygyPath value {other}\ngo depth 3\n"
        for path, other, text, option in (
            (WHOLE, DAMAGED, "8/8/8/3k4/8/8/8/1KQ5 w - - 0 1 moves c1c2", "setoption name MultiPV value 3"),
            (WHOLE, "<empty>", "8/8/8/8/2k5/1p6/8/K2R4 w - - 90 80", "setoption name Threads value 8"),
            (DAMAGED, WHOLE, "8/8/8/8/k2p4/8/4P3/4K3 w - - 0 1 moves e2e4", "setoption name Hash value 2"),
            (
                DAMAGED,
                "nowhere",
                "8/8/8/3k4/8/8/1P6/1KBN4 w - - 3 9",
                "setoption name SyzygyProbeLimit value 3",
            ),
            (
                f"{DAMAGED}{os.pathsep}{WHOLE}",
                WHOLE,
                "8/8/3n4/3k4/8/8/8/RK6 b - - 0 1",
                "setoption name Clear Hash",
            ),
            (WHOLE, WHOLE, "8/P7/8/3k4/8/8/7p/1K6 b - - 0 1", "setoption name Syzygy50MoveRule value false"),
            (WHOLE, WHOLE, "8/8/8/3k4/3P4/3P4/8/1K6 b - - 0 1", "setoption name SyzygyProbeDepth value 4"),
        )
    ),
]

_PREAMBLE = (
    "setoption name Hash value 1",
    "setoption name MultiPV value 1",
    "setoption name nodestime value 0",
    "setoption name UCI_LimitStrength value false",
    "setoption name SyzygyPath value <empty>",
    "setoption name SyzygyProbeDepth value 1",
    "setoption name SyzygyProbeLimit value 7",
    "setoption name Syzygy50MoveRule value true",
    "debug off",
    "ucinewgame",
    "position startpos",
)

_MOVE = "[a-h][1-8][a-h][1-8][qrbn]?"
_TOLD = re.compile(
    rf"info (depth \d+ .*|string [^\n]*)|bestmove ({_MOVE}( ponder {_MOVE})?|\(none\))|readyok|uciok|"
    rf"(id|option) name .+|id author .+|{_MOVE}: \d+|Nodes searched: \d+|\d+ nodes \d+ nps.*|"
)
_FOR_PEOPLE = ("d", "eval", "moves")
"""Commands whose answers are not UCI."""


class Conversation:
    """Damaged lines to one engine, with searches, on `threads` threads; 0 draws the number from the text."""

    def __init__(self, threads: int = 0) -> None:
        self.threads = threads
        self._said: list[str] = []
        self._engine = Engine(self._said.append)
        self._damaged = tempfile.TemporaryDirectory()
        damage(TABLES, Path(self._damaged.name), Random(1))

    def read(self, text: str) -> None:
        """Whatever the lines, every `go` yields one legal move, and all other output is valid."""
        lines = [line for line in text.split("\n") if "log" not in line.lower()]
        engine = self._engine
        threads = self.threads or THREADS[zlib.crc32(text.encode("utf-8", "replace")) % len(THREADS)]
        for line in (*_PREAMBLE, f"setoption name Threads value {threads}"):
            engine.execute(line)
        self._said.clear()
        boards: list[Board] = []
        with watched():
            for line in lines:
                words = line.split()
                line = line.replace(WHOLE, str(TABLES)).replace(DAMAGED, self._damaged.name)
                command = next((word for word in words if word in engine._commands), "")
                if command in _FOR_PEOPLE:
                    continue
                engine.execute(line)
                if command == "go" and "perft" not in words[words.index("go") + 1 :]:
                    boards.append(engine._board.copy())
                    engine._idle.wait(THINKING)
            engine.execute("stop")
            engine._wait()
        check_said(self._said, boards)


def damage(folder: Path, damaged: Path, random: Random) -> None:
    """Copy the files of a folder; one in four stays intact, in the others bytes are changed or cut off."""
    for path in sorted(folder.glob("K*")):
        content = bytearray(path.read_bytes())
        for _ in range(random.choice((0, 1, 3, 100))):
            # Most changes are in the description.
            content[int(len(content) * random.random() ** random.choice((1, 3, 6)))] = random.randrange(256)
        if random.random() < 0.1:
            del content[random.randrange(len(content)) :]
        (damaged / path.name).write_bytes(content)


def check_said(said: list[str], boards: list[Board]) -> None:
    """Raise AssertionError unless the lines hold one legal move for each of the boards, in their order, and
    only legal variations before it.
    """
    if wrong := [line for line in said if not _TOLD.fullmatch(line)]:
        raise AssertionError(f"it says {wrong}")
    moves = sum(line.startswith("bestmove") for line in said)
    if moves != len(boards):
        raise AssertionError(f"{moves} moves for {len(boards)} searches")
    rest = iter(boards)
    board = next(rest, None)
    for line in said:
        if board is not None and " pv " in line:
            play(board, line.split(" pv ")[1].split())
        if board is not None and line.startswith("bestmove"):
            if (line == "bestmove (none)") != (not legal_moves(board)):
                raise AssertionError(f"{line} in {fen.write(board)}")
            play(board, [] if line == "bestmove (none)" else line.split()[1::2])
            board = next(rest, None)


def play(board: Board, moves: list[str]) -> None:
    """Play moves on a copy. Raises AssertionError if one is illegal."""
    at = board.copy()
    for text in moves:
        try:
            at.make(coordinate.parse(at, text))
        except ValueError as error:
            raise AssertionError(f"{fen.write(board)}, {' '.join(moves)}: {error}") from None


# --- Forged tables

FORGED = 400
"""The number of forged entries for positions near the root of a search."""


class Forgery:
    """Searches with a table of random entries, on `threads` threads; 0 draws the number."""

    def __init__(self, threads: int = 0) -> None:
        self.threads = threads
        self._searches: dict[int, Search] = {}

    def read(self, seed: int) -> None:
        """A search yields a legal move and legal variations, whatever the table contains."""
        random = Random(seed)
        search = self._search(self.threads or random.choice(THREADS), random)
        board = fen.parse(random.choice(POSITIONS))
        for _ in range(random.randrange(8)):
            if moves := legal_moves(board):
                board.make(random.choice(moves))
        entries = forged_entries(board, random)
        for entry in entries:
            forge(search, random, *entry)
        reports: list[Report] = []
        results: list[Result] = []
        with watched():
            search.start(board, random_limits(board, random), reports.append, results.append)
            # As other threads would: entries change during the search.
            while search.is_running() and seed % 2:
                forge(search, random, *random.choice(entries))
            search.wait()
        check_result(board, results[0], reports)

    def _search(self, threads: int, random: Random) -> Search:
        """The search with this many threads; a new one's table is filled with random bytes."""
        if threads not in self._searches:
            search = self._searches[threads] = Search(1, threads=threads)
            clusters = search.table.clusters
            for entry in range(clusters * CLUSTER // 2):
                # The age is random too.
                if entry % 1000 == 0:
                    search.table.new_search()
                key = ((entry % clusters << 32) // clusters + 1) << 32 | random.getrandbits(32)
                forge(search, random, key, random.getrandbits(16))
        return self._searches[threads]


def forge(search: Search, random: Random, key: int, move: int) -> None:
    """Store random bytes, with this short move, as the entry of a key."""
    bits = random.getrandbits(43)
    score, static = (bits & 0xFFFF) - 32768, (bits >> 16 & 0xFFFF) - 32768
    search.table.store(key, move, score, static, bits >> 32 & 0xFF, bits >> 40 & 3, bits >> 42 == 1)


def forged_entries(board: Board, random: Random) -> list[tuple[int, int]]:
    """Keys of positions at and below the root, each with a short move: one of a position, or random bits."""
    moves = legal_moves(board)
    entries = [(board.key, random.getrandbits(16))]
    known = [short_move(move) for move in moves] or [0]
    while moves and len(entries) < FORGED:
        at = board.copy()
        for _ in range(random.randrange(1, 7)):
            if not moves:
                break
            at.make(random.choice(moves))
            moves = legal_moves(at)
            known += [short_move(move) for move in moves[:2]]
            entries.append(
                (at.key, random.choice(known) if random.random() < 0.5 else random.getrandbits(16))
            )
        moves = legal_moves(board)
    return entries


def random_limits(board: Board, random: Random) -> Limits:
    """Limits of a short search."""
    moves = legal_moves(board)
    return Limits(
        depth=random.choice((None, 1, 3, 6)),
        nodes=random.choice((1, 50, 1000, 3000)),
        mate=random.choice((None, None, 2)),
        lines=random.choice((1, 1, 3)),
        searchmoves=tuple(random.sample(moves, min(2, len(moves)))) if random.random() < 0.2 else (),
    )


def check_result(board: Board, result: Result, reports: list[Report]) -> None:
    """Raise AssertionError unless the result and all variations are legal."""
    moves = [result.move, result.reply] if result.reply else [result.move]
    if not legal_moves(board):
        moves = [] if result == Result(0, 0, 0) else moves
    for line in (moves, *(report.pv for report in reports)):
        at = board.copy()
        for move in line:
            if move not in legal_moves(at):
                text = " ".join(coordinate.write(step) for step in line)
                raise AssertionError(f"{fen.write(board)}: {text} has an illegal move")
            at.make(move)
