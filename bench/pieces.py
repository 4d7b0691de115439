"""Deep perfts in pieces: processes of this machine or the workers of a Dask cluster count them, and a file
keeps the finished ones.

A piece is a position some plies into the tree with the remaining plies. Positions reached in several ways are
counted once. The file is text: a line of JSON that names the trees, then one for each finished piece.

As a program, this counts pieces for another process: a line of JSON in, a line of JSON out.
"""

import contextlib
import importlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

# First, because it puts this checkout on the path.
import script  # noqa: F401
from workers import connection, is_cancelled

import moff
from x88 import coordinate, fen
from x88.divide import DividedPerft, shared_table
from x88.movegen import legal_moves

MOST_PIECES = 50_000
"""The maximum pieces of one position: more would take longer to create than to count."""

FORMAT = "perft pieces 1"


class Cancelled(Exception):
    """A count was cancelled before its end."""


class Uncounted(Exception):
    """A piece could not be counted."""


# --- Pieces


@dataclass(frozen=True)
class Tree:
    """What to count: the leaves under a position at some plies."""

    fen: str
    depth: int


@dataclass(frozen=True)
class Job:
    """A piece, the threads that count it, and the megabytes of their table, 0 for none."""

    tree: Tree
    threads: int
    megabytes: int


@dataclass(frozen=True)
class Piece:
    """A finished piece. `engine` is what counted it."""

    tree: Tree
    leaves: int
    seconds: float
    engine: str


def cut(tree: Tree, most: int, plies: int = 0) -> dict[Tree, Counter[str]]:
    """The pieces of a tree, each with at most `most` leaves by a rough estimate and at least `plies` plies
    into it; with the first moves that lead to it ("" for none), each with the number of ways.
    """
    level = {_position(tree.fen): Counter({"": 1})}
    below = tree.depth
    ways, branching = 1, len(legal_moves(fen.parse(tree.fen, chess960=True)))
    while below and level:
        is_small = branching**below <= most or len(level) * branching > MOST_PIECES
        if is_small and tree.depth - below >= plies:
            break
        level = _replies(level)
        below -= 1
        before, ways = ways, sum(sum(firsts.values()) for firsts in level.values())
        branching = max(branching, -(-ways // before))
    return {Tree(position, below): firsts for position, firsts in level.items()}


def _replies(level: dict[str, Counter[str]]) -> dict[str, Counter[str]]:
    """The positions one ply further into the tree."""
    found: dict[str, Counter[str]] = {}
    for position, firsts in level.items():
        board = fen.parse(position, chess960=True)
        for move in legal_moves(board):
            text = coordinate.write(move)
            board.make(move)
            ways = found.setdefault(_position(fen.write(board)), Counter())
            board.unmake()
            for first, count in firsts.items():
                ways[first or text] += count
    return found


def _position(text: str) -> str:
    """A FEN without what a count does not depend on: the counters."""
    return " ".join([*text.split()[:4], "0", "1"])


def engine() -> str:
    """What counts here: the version of Moff and a checksum of its source."""
    folder = Path(fen.__file__).parent
    paths = sorted(path for suffix in ("py", "pxd") for path in folder.glob(f"*.{suffix}"))
    digest = zlib.crc32(b"".join(path.read_bytes().replace(b"\r\n", b"\n") for path in paths))
    return f"Moff {moff.__version__}, source {digest:08x}"


def count(job: Job, is_unwanted: Callable[[], bool] = lambda: False) -> Piece:
    """Count a piece. Raises Cancelled soon after `is_unwanted` returns True."""
    started = time.perf_counter()
    leaves = 1
    if job.tree.depth:
        table = shared_table(job.megabytes) if job.megabytes else None
        division = DividedPerft(
            fen.parse(job.tree.fen, chess960=True), job.tree.depth, threads=job.threads, table=table
        )
        for _ in division.run(lambda: division.stop() if is_unwanted() else None):
            pass
        if division.is_stopped:
            raise Cancelled
        leaves = division.leaves
    return Piece(job.tree, leaves, round(time.perf_counter() - started, 6), engine())


# --- The file


class PiecesFile:
    """The finished pieces of some trees."""

    def __init__(self, path: Path, trees: Iterable[Tree]) -> None:
        """Read a file and prepare to append to it; a torn last line is dropped.

        Raises ValueError if it is not such a file, is damaged, or is of other trees or another engine.
        """
        self.path = path
        self.finished: dict[Tree, Piece] = {}
        own = engine()
        head = {"format": FORMAT, "engine": own, "trees": [[tree.fen, tree.depth] for tree in trees]}
        self._head = json.dumps(head) + "\n"
        text = path.read_bytes() if path.exists() else b""
        # Some file systems leave zeros for unwritten data.
        whole = text.rstrip(b"\0")
        self._size = whole.rfind(b"\n") + 1
        if not self._size and not self._head.encode().startswith(whole):
            raise ValueError(f"{path} is not a file of perft pieces")
        self.is_torn = self._size < len(text)
        lines = whole[: self._size].split(b"\n")[:-1]
        if lines:
            self._check_head(lines[0], head)
        for number, line in enumerate(lines[1:], 2):
            try:
                piece = _read_piece(json.loads(line), own)
            except (ValueError, TypeError, KeyError, RecursionError):
                raise ValueError(f"{path}, line {number}: this is not a finished piece") from None
            before = self.finished.setdefault(piece.tree, piece)
            if before.leaves != piece.leaves:
                counts = f"{before.leaves} and {piece.leaves}"
                raise ValueError(f"{path}, line {number}: a piece has both {counts} leaves")

    def _check_head(self, line: bytes, head: dict[str, Any]) -> None:
        try:
            found = json.loads(line)
            if found["format"] != FORMAT:
                raise ValueError
        except (ValueError, TypeError, KeyError, RecursionError):
            raise ValueError(f"{self.path} is not a file of perft pieces") from None
        if found.get("trees") != head["trees"]:
            raise ValueError(f"{self.path} holds pieces of another count: {_described(found.get('trees'))}")
        if found.get("engine") != head["engine"]:
            raise ValueError(
                f"{self.path} holds pieces counted by {found.get('engine')}, not {head['engine']}"
            )

    @contextlib.contextmanager
    def open(self) -> Iterator[Callable[[Piece], None]]:
        """A function that appends a piece. Raises OSError."""
        with open(self.path, "ab") as file:
            file.truncate(self._size)
            if not self._size:
                file.write(self._head.encode())
                file.flush()

            def add(piece: Piece) -> None:
                record = {**asdict(piece.tree), "leaves": piece.leaves, "seconds": piece.seconds}
                file.write(json.dumps(record).encode() + b"\n")
                file.flush()
                self.finished[piece.tree] = piece

            yield add


def _read_piece(record: Any, engine: str) -> Piece:
    tree = Tree(record["fen"], record["depth"])
    leaves, seconds = record["leaves"], record["seconds"]
    numbers = (type(tree.fen), type(tree.depth), type(leaves)) == (str, int, int)
    if not numbers or min(tree.depth, leaves, float(seconds)) < 0:
        raise ValueError
    return Piece(tree, leaves, float(seconds), engine)


def _described(trees: Any) -> str:
    """The trees of a file's head, in a few words."""
    try:
        (text, depth), *more = trees
        return f"depth {depth} of {text}" + (f" and {len(more)} more" if more else "")
    except (TypeError, ValueError):
        return "it does not say of what"


# --- Who counts


@dataclass(frozen=True)
class Crew:
    """How many pieces are counted at a time, and the function that submits one."""

    size: int
    submit: Callable[[Job], "Future[Piece]"]


@contextlib.contextmanager
def processes(size: int) -> Iterator[Crew]:
    """Processes of this machine."""
    helpers = _Helpers()
    with ThreadPoolExecutor(size) as executor:
        try:
            yield Crew(size, lambda job: executor.submit(helpers.count, job))
        finally:
            helpers.end()


@contextlib.contextmanager
def cluster(scheduler: str, size: int | None) -> Iterator[Crew]:
    """The workers of a Dask cluster, all of them, but not more than asked for. They need Moff.

    Raises ImportError without the package, ValueError if no scheduler answers there.
    """
    with connection(scheduler, importlib.import_module(__name__)) as (available, submit):
        yield Crew(max(1, min(size or available, available)), lambda job: submit(count_task, job))


def count_task(job: Job) -> Piece:
    """Count a piece as a task of a Dask worker."""
    return count(job, is_cancelled())


def count_all(crew: Crew, jobs: Iterable[Job]) -> Generator[Piece, None, None]:
    """Count pieces; yield each as it is finished. Closing the iterator cancels those not begun.

    Raises Uncounted if one cannot be counted, or was counted by another engine.
    """
    own = engine()
    waiting = iter(jobs)
    running: set[Future[Piece]] = set()
    try:
        while True:
            # One piece waits for each worker, so that no worker waits for this process.
            while len(running) < 2 * crew.size and (job := next(waiting, None)) is not None:
                running.add(crew.submit(job))
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            failure: BaseException | None = None
            for future in done:
                try:
                    piece = future.result()
                    if piece.engine != own:
                        raise ValueError(f"a worker counts with {piece.engine}, not {own}")
                except Exception as error:  # anything can happen to a process or a cluster
                    failure = error
                    continue
                yield piece
            if failure:
                cause = failure.__cause__ or failure
                words = [f"a piece could not be counted: {type(cause).__name__}:", *str(cause).split()]
                raise Uncounted(" ".join(words)) from failure
    finally:
        for future in running:
            future.cancel()


class _Helpers:
    """Child processes, one for each thread that asks for counts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: list[subprocess.Popen[str]] = []
        self._own = threading.local()
        self._is_ended = False

    def count(self, job: Job) -> Piece:
        """Have this thread's child count a piece."""
        child = self._child()
        assert child.stdin is not None
        assert child.stdout is not None
        answer = ""
        with contextlib.suppress(OSError):
            child.stdin.write(json.dumps(asdict(job)) + "\n")
            child.stdin.flush()
            answer = child.stdout.readline()
        if not answer.endswith("\n"):
            raise RuntimeError(f"its process ended with exit code {child.wait()}")
        found = json.loads(answer)
        if "error" in found:
            raise RuntimeError(found["error"])
        return Piece(**{**found, "tree": Tree(**found["tree"])})

    def _child(self) -> "subprocess.Popen[str]":
        child: subprocess.Popen[str] | None = getattr(self._own, "child", None)
        if child is None or child.poll() is not None:
            with self._lock:
                if self._is_ended:
                    raise Cancelled
                pipe = subprocess.PIPE
                # In its own session, so that only the parent gets a Ctrl-C.
                child = self._own.child = subprocess.Popen(
                    [sys.executable, __file__],
                    stdin=pipe,
                    stdout=pipe,
                    encoding="utf-8",
                    start_new_session=True,
                )
                self._all.append(child)
        return child

    def end(self) -> None:
        """Kill all children at once."""
        with self._lock:
            self._is_ended = True
            for child in self._all:
                child.kill()
        for child in self._all:
            child.wait()
            for stream in (child.stdin, child.stdout):
                with contextlib.suppress(OSError):
                    if stream is not None:
                        stream.close()


def _serve() -> None:
    """Count pieces for the parent until it closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            lines.put(line)
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    while True:
        record = json.loads(lines.get())
        answer: dict[str, Any]
        try:
            answer = asdict(count(Job(**{**record, "tree": Tree(**record["tree"])})))
        except (MemoryError, OverflowError, ValueError) as error:
            answer = {"error": str(error)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    _serve()
