"""Perft on several threads, in subtrees: a long count shows progress and can be stopped at any time.

Threads take subtrees from one queue. Subtrees are large while much is left and small towards the end
(guided self-scheduling: Constantine D. Polychronopoulos and David J. Kuck, 1987), so that handing them out
costs little and all threads finish together.
"""

import contextlib
import threading
from collections.abc import Callable, Generator, Iterator
from queue import Empty, SimpleQueue
from typing import NamedTuple

from x88 import build
from x88.board import Board, checked_board
from x88.movegen import legal_moves
from x88.perft.perft import DEEPEST as DEEPEST
from x88.perft.perft import Counter
from x88.perft.table import PerftTable

MOST_THREADS = 1024

SMALL = 30_000 if build.compiled else 300
"""Subtrees of fewer positions are not split further: a few milliseconds."""

LARGE = 10**6 if build.compiled else 10**4
"""Larger subtrees are always split, so that progress shows: a fraction of a second."""

FINEST = 1 / 4096
"""With a table, smaller shares are not split to show progress: they would mostly be table hits."""

PARTS = 16
"""A subtree is at most this fraction of a thread's share of the remaining work."""

BRANCHES = 20
"""The estimate assumes at least this many moves in any position: one with few moves may lead to many."""

TICK = 0.1
"""Seconds between two progress reports."""


class _Subtree(NamedTuple):
    """A part of the tree: what follows some moves."""

    root: int  # the number of its first move
    moves: tuple[int, ...]
    depth: int  # plies after the moves
    share: float  # of the whole tree
    subtrees: int  # of its first move, if this is the last of them; else 0


class DividedPerft:
    """A count on several threads, which runs while `run` is iterated over.

    `leaves` and `share`, the part of the tree done, from 0 to 1, give the progress; `is_stopped` is set if it
    ended early.
    """

    def __init__(
        self,
        board: Board,
        depth: int,
        playing: bool = False,
        threads: int = 1,
        table: PerftTable | None = None,
    ) -> None:
        """`depth`, 1 to DEEPEST, counts the plies of the whole tree. `playing` makes and unmakes every leaf
        instead of counting the moves of the last ply. The table may already hold counts of other positions.

        Raises ValueError for another depth or number of threads.
        """
        if not 1 <= depth <= DEEPEST:
            raise ValueError(f"{depth} is not a depth from 1 to {DEEPEST}")
        if not 1 <= threads <= MOST_THREADS:
            raise ValueError(f"{threads} is not a number of threads from 1 to {MOST_THREADS}")
        self.leaves = 0
        self.share = 0.0
        self.is_stopped = False
        self._is_stopping = False
        self._board = checked_board(board).copy()
        self._depth = depth
        self._playing = playing
        self._table = table
        self._moves = legal_moves(board)
        work = self._work(len(self._moves), depth)
        self._threads = min(threads, work // SMALL + 1)
        if table is not None:
            # Enough for every stored position if none were reached twice, and for branches above the
            # estimate.
            table.widen(4 * self._work(len(self._moves), depth - 1))
        self._news: SimpleQueue[None] = SimpleQueue()
        # Guards what follows while threads run.
        self._lock = threading.Lock()
        self._queue = self._subtrees()
        self._left = 1.0  # the share that no thread has taken yet
        self._counters: list[Counter] = []
        self._is_halted = False
        self._error: BaseException | None = None
        # By first move: its leaves, the subtrees done, and the number of subtrees, once known.
        self._found = [0] * len(self._moves)
        self._done = [0] * len(self._moves)
        self._expected = [-1] * len(self._moves)

    def run(self, on_progress: Callable[[], object] = lambda: None) -> Generator[tuple[int, int], None, None]:
        """Count; yield each legal move, packed, with the leaves under it, in the order of `legal_moves`, as
        soon as it is known.

        `on_progress` is called ten times a second or more. The iteration ends early after `stop`, and once it
        is closed no thread runs any more. Raises OverflowError for counts that only a table can reach, and
        RuntimeError the second time.
        """
        if self._counters:
            raise RuntimeError("a count runs only once")
        workers = self._start()
        try:
            given = 0
            while given < len(self._moves):
                # With a timeout, to report progress, and because Windows delivers no interrupt without one.
                with contextlib.suppress(Empty):
                    self._news.get(timeout=TICK)
                on_progress()
                if self._is_stopping:
                    self.is_stopped = True
                    return
                if self._error is not None:
                    raise self._error
                while given < len(self._moves) and self._done[given] == self._expected[given]:
                    yield self._moves[given], self._found[given]
                    given += 1
        finally:
            self._halt()
            for worker in workers:
                worker.join()

    def stop(self) -> None:
        """End the count at once. Any thread may call this."""
        self._is_stopping = True
        self._halt()
        self._news.put(None)

    def _halt(self) -> None:
        with self._lock:
            self._is_halted = True
            self._queue.close()
            for counter in self._counters:
                counter.halt()

    def _start(self) -> list[threading.Thread]:
        """Start the threads."""
        workers: list[threading.Thread] = []
        for _ in range(self._threads):
            try:
                counter = Counter(self._board, self._playing, self._table)
                worker = threading.Thread(target=self._serve, args=(counter,), daemon=True)
                with self._lock:
                    self._counters.append(counter)
                    if self._is_halted:
                        counter.halt()
                worker.start()
            except (MemoryError, RuntimeError):
                if not workers:
                    raise
                break  # fewer suffice
            workers.append(worker)
        return workers

    def _serve(self, counter: Counter) -> None:
        """Count subtree after subtree: the work of a thread."""
        try:
            subtree = self._take()
            while subtree is not None:
                leaves = counter.leaves_under(subtree.moves, subtree.depth)
                subtree = self._take(subtree, leaves)
        except BaseException as error:
            self._error = error
            self._news.put(None)

    def _take(self, done: _Subtree | None = None, leaves: int = 0) -> _Subtree | None:
        """Record a finished subtree, and take the next one, if any."""
        with self._lock:
            self.leaves += leaves
            if done is not None and not self._is_halted:
                self.share += done.share
                self._found[done.root] += leaves
                self._done[done.root] += 1
                self._expected[done.root] = done.subtrees or self._expected[done.root]
                if self._done[done.root] == self._expected[done.root]:
                    self._news.put(None)
            return next(self._queue, None)

    def _subtrees(self) -> Generator[_Subtree, None, None]:
        """All subtrees, in the order of the moves, each split off when it is asked for."""
        board = self._board.copy()
        number = 0

        def cut(
            root: int, moves: tuple[int, ...], siblings: int, depth: int, share: float, is_last: bool
        ) -> Iterator[_Subtree]:
            nonlocal number
            board.make(moves[-1])
            moves_after = legal_moves(board)
            replies = len(moves_after)
            if replies and depth > 1 and self._is_cut(self._work(max(siblings, replies), depth), share):
                for i, reply in enumerate(moves_after, 1):
                    last = is_last and i == replies
                    yield from cut(root, (*moves, reply), replies, depth - 1, share / replies, last)
            else:
                number += 1
                self._left -= share
                yield _Subtree(root, moves, depth, share, number if is_last else 0)
            board.unmake()

        for root, move in enumerate(self._moves):
            number = 0
            yield from cut(root, (move,), len(self._moves), self._depth - 1, 1 / len(self._moves), True)

    def _is_cut(self, work: int, share: float) -> bool:
        """Whether to split a part of the tree into several subtrees."""
        if work <= SMALL:
            return False
        if share * self._threads * PARTS > self._left:
            return True
        return work > LARGE and (self._table is None or share > FINEST)

    def _work(self, moves: int, depth: int) -> int:
        """An estimate of the positions made, given the number of moves and of plies to go."""
        plies = depth if self._playing else depth - 1
        return int(max(moves, BRANCHES) ** plies)


def perft(board: Board, depth: int, threads: int = 1, megabytes: int = 0) -> int:
    """The number of leaves of the tree of legal moves at `depth` plies.

    `megabytes` is the size of a table of subtree counts, 0 for none. Raises ValueError unless there are 0
    to DEEPEST plies and 1 to MOST_THREADS threads.
    """
    checked_board(board)
    if depth == 0:
        return 1
    table = PerftTable(megabytes) if megabytes else None
    return sum(leaves for _, leaves in DividedPerft(board, depth, threads=threads, table=table).run())
