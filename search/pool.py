"""The threads of a search (lazy SMP, see `search.aspiration`): the first searcher, which runs in the caller's
thread, and helpers with threads of their own. They share the table, correction history and the stop signal.
"""

import contextlib
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable

from search.aspiration import help_along
from search.correction import Corrections
from search.line import Line
from search.nnue import select
from search.nnue.network import Weights
from search.parameters import Parameters
from search.score import LONGEST_MATE
from search.searcher import Searcher
from search.stop import Stop
from search.syzygy.probing import Probing
from search.transposition import TranspositionTable
from search.tuned import SEARCH
from x88.board import Board
from x88.piece import WHITE

MOST_THREADS = 1024

SHARES = 4000
"""A node limit is divided into at least this many shares for each thread."""

LARGEST_SHARE = 1024
"""The most nodes that a thread takes at a time from a common limit."""

PATIENCE = 0.002
"""Seconds to wait for the helpers' votes where the move is wanted now. On an idle machine all sleep by then;
alongside many busy processes a helper may wait a hundred milliseconds for a processor.
"""

SURPLUS_NICENESS = 5
"""Niceness added to helpers beyond the number of processors. With 64 threads on two processors the first one
then notices a stop in some 5 ms, not 60.
"""


class Helper:
    """A searcher with a thread that sleeps between searches.

    Helpers leave a processor to other threads, above all the one that reads the input: the last helper with a
    processor of its own yields it often, and those after it also have a lower priority.
    """

    def __init__(
        self,
        table: TranspositionTable,
        stop: Stop,
        parameters: Parameters | None,
        probing: Probing,
        weights: Weights,
        corrections: Corrections,
        number: int,
    ) -> None:
        self.searcher = Searcher(table, stop, parameters, probing, weights, corrections)
        self.number = number
        available = processors()
        self.searcher.yields = number >= available - 1
        self._is_surplus = number >= available
        self._has_finished = False
        self._task: Callable[[], object] | None = None
        self._work = threading.Semaphore(0)
        self._idle = threading.Event()
        self._idle.set()
        self._thread = threading.Thread(target=self._run, name=f"search helper {number}", daemon=True)
        self._thread.start()

    def start(self, board: Board, moves: list[int], share: int, last: int) -> None:
        """Search a copy of the board, only these root moves if there are any, until stopped. Raises
        RuntimeError while it searches, and ValueError if there are no kings.
        """
        if not self._idle.is_set():
            raise RuntimeError("the helper is searching")
        board.king(WHITE)
        self._idle.clear()
        self._has_finished = False
        self._task = lambda: self._search(board, moves, share, last)
        self._work.release()

    def finished_line(self) -> Line | None:
        """The line of its last iteration, if that ended the search; while it sleeps."""
        return self.searcher.kept_line() if self._has_finished else None

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it sleeps, for at most this many seconds; returns whether it does."""
        return self._idle.wait(timeout)

    def dismiss(self) -> None:
        """Have the thread end, between searches."""
        self._task = None
        self._work.release()

    def end(self) -> None:
        """End the thread and wait for it."""
        self.dismiss()
        self._thread.join()

    def _run(self) -> None:
        if self._is_surplus:
            _lower_priority()
        while True:
            self._work.acquire()
            task = self._task
            if task is None:
                return
            try:
                task()
            except MemoryError:
                pass  # the others search on
            except Exception:
                # This is a bug, but the next search must not wait for this thread for ever.
                threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), self._thread)))
            finally:
                self._idle.set()

    def _search(self, board: Board, moves: list[int], share: int, last: int) -> None:
        self.searcher.prepare(board, 1 if share else 0, share)
        self.searcher.allow(moves)
        self._has_finished = help_along(self.searcher, self.number, last)


class Pool:
    """The searchers of one engine, and what they share."""

    def __init__(self, megabytes: int, parameters: Parameters | None = None) -> None:
        """Raises ValueError or MemoryError if a table of this size cannot be allocated."""
        self.helpers: list[Helper] = []
        weakref.finalize(self, _dismiss, self.helpers)
        self.stop = Stop()
        self.table = TranspositionTable(megabytes)
        self.table.is_owned = True
        self.probing = Probing()
        self.weights = select.shipped()
        self._corrections = Corrections()
        if parameters is not None:
            # A copy, checked once more: attributes can be set to what no search can use.
            parameters = Parameters({name: getattr(parameters, name) for name in SEARCH})
        self.first = Searcher(
            self.table, self.stop, parameters, self.probing, self.weights, self._corrections
        )
        self.size = 1
        self._parameters = parameters
        self._launcher: threading.Thread | None = None

    def resize(self, threads: int) -> None:
        """Search with this many threads from the next search on. Raises ValueError."""
        if not 1 <= threads <= MOST_THREADS:
            raise ValueError(f"{threads} is not a number of threads from 1 to {MOST_THREADS}")
        self.wait_for_helpers()
        self.size = threads
        while len(self.helpers) >= threads:
            self.helpers.pop().end()

    def prepare(self, board: Board, nodes: int) -> None:
        """Make the first searcher ready for a position, with at most this many nodes (0: no limit)."""
        self.wait_for_helpers()
        self.stop.clear()
        self.table.new_search()
        self.first.prepare(board, nodes)
        for helper in self.helpers:
            helper.searcher.forget_search()

    def start_helpers(self, moves: list[int], nodes: int, last: int) -> None:
        """Have the helpers search the position too, only these root moves if there are any.

        Whichever thread first finishes the iteration of depth `last`, if that is not 0, ends the search. All
        threads together keep to a limit of `nodes`; if it is too small to share, no helper starts.
        """
        if self.size == 1 or (nodes and nodes < SHARES * self.size):
            return
        share = 0
        if nodes:
            share = min(nodes // (SHARES * self.size), LARGEST_SHARE)
            self.stop.share_out(nodes - self.size)  # every thread has its first node
            self.first.limit_nodes(1, share)
        board = self.first.board.copy()
        for helper in self.helpers:
            helper.start(board, moves, share, last)
        if len(self.helpers) < self.size - 1:
            # Making many takes a while, and the clock is running.
            launcher = threading.Thread(target=self._launch, args=(board, moves, share, last), daemon=True)
            with contextlib.suppress(RuntimeError):
                launcher.start()
                self._launcher = launcher

    def _launch(self, board: Board, moves: list[int], share: int, last: int) -> None:
        """Make the helpers that are missing, and have them search too, until stopped."""
        # The system may refuse more threads, or their memory: the search goes on with those that there are.
        with contextlib.suppress(RuntimeError, MemoryError):
            while len(self.helpers) < self.size - 1 and not self.stop.is_set():
                helper = self._new_helper()
                helper.start(board, moves, share, last)
                self.helpers.append(helper)

    def _await_launcher(self, timeout: float | None = None) -> None:
        """Wait until no helper is being made, for at most this many seconds; the search is stopped."""
        if self._launcher is not None:
            self._launcher.join(timeout)
            if not self._launcher.is_alive():
                self._launcher = None

    def _new_helper(self) -> Helper:
        number = len(self.helpers) + 1
        return Helper(
            self.table, self.stop, self._parameters, self.probing, self.weights, self._corrections, number
        )

    def stop_helpers(self, is_urgent: bool) -> None:
        """Stop the helpers, and wait until they sleep. If it is urgent, wait for PATIENCE only, unless one of
        them has the line that ended the search.
        """
        if not self.helpers and self._launcher is None:
            return
        if not is_urgent or self.stop.is_finished():
            self.wait_for_helpers()
            return
        self.stop.set()
        end = time.perf_counter() + PATIENCE
        self._await_launcher(PATIENCE)
        for helper in self.helpers:
            helper.wait(max(0.0, end - time.perf_counter()))

    def wait_for_helpers(self) -> None:
        """Stop the helpers, and wait until they sleep."""
        if self.helpers or self._launcher is not None:
            self.stop.set()
        self._await_launcher()
        for helper in self.helpers:
            helper.wait()

    def nodes(self) -> int:
        """The nodes of all threads; called by the main thread."""
        return self.first.nodes + sum(counts[0] for counts in self._published())

    def published_nodes(self) -> int:
        """The nodes of all threads as they were when each last checked the clock."""
        return self.first.published()[0] + sum(counts[0] for counts in self._published())

    def tb_hits(self) -> int:
        """The tablebase hits of all threads; called by the main thread."""
        return self.first.tb_hits + sum(counts[1] for counts in self._published())

    def seldepth(self) -> int:
        """The deepest ply that any thread has reached."""
        return max(self.first.seldepth, *(counts[2] for counts in self._published()), 0)

    def _published(self) -> list[tuple[int, int, int]]:
        """The counts of the helpers."""
        return [helper.searcher.published() for helper in self.helpers]

    def forget(self) -> None:
        """Forget everything learnt about positions, between searches."""
        self.clear_table()
        self._corrections.clear()
        for searcher in (self.first, *(helper.searcher for helper in self.helpers)):
            searcher.forget()

    def use_network(self, weights: Weights) -> None:
        """Evaluate by another network, between searches, and forget what was learnt by the last one. Raises
        MemoryError, and then keeps the last one.
        """
        self.wait_for_helpers()
        if weights is self.weights:
            return
        searchers = [self.first, *(helper.searcher for helper in self.helpers)]
        evaluations = [searcher.evaluation_by(weights) for searcher in searchers]
        for searcher, evaluation in zip(searchers, evaluations, strict=True):
            searcher.use_network(evaluation)
        self.weights = weights
        self.forget()

    def resize_table(self, megabytes: int) -> None:
        """Resize and clear the table, between searches. Raises ValueError or MemoryError, keeping the old."""
        self.wait_for_helpers()
        self.table._resize(megabytes, self.size)

    def clear_table(self) -> None:
        """Empty the table, with as many threads as there are processors, between searches."""
        self.wait_for_helpers()
        self.table._clear(min(self.size, processors()))

    def finished_line(self) -> Line | None:
        """The line of the last iteration, if a helper has ended the search with it."""
        lines = (helper.finished_line() for helper in self._sleepers())
        return next((line for line in lines if line and line.pv), None)

    def _sleepers(self) -> list[Helper]:
        return [helper for helper in self.helpers if helper.wait(0)]

    def voted_line(self, line: Line) -> Line | None:
        """The line that wins the `vote` on the first searcher's and those of the helpers that sleep; None if
        it begins with the same move as the first searcher's.
        """
        lines = [helper.searcher.kept_line() for helper in self._sleepers()]
        voted = vote([line, *(other for other in lines if other.pv)])
        return None if voted.pv[0] == line.pv[0] else voted


def vote(lines: list[Line]) -> Line:
    """The line that wins the vote of the threads with these lines.

    The weight of a vote grows with the thread's depth and score. The shortest mate wins in any case.
    Raises ValueError without a line, and for a line without a move.
    """
    if not lines or not all(line.pv for line in lines):
        raise ValueError("there is no line to vote on")
    worst = min(line.score for line in lines)
    votes: dict[int, int] = {}
    for line in lines:
        votes[line.pv[0]] = votes.get(line.pv[0], 0) + (line.score - worst + 20) * line.depth
    return max(lines, key=lambda line: (max(line.score, LONGEST_MATE), votes[line.pv[0]], line.depth))


def processors() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _lower_priority() -> None:
    """Lower the priority of the calling thread, where threads have their own."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            thread = threading.get_native_id()
            niceness = os.getpriority(os.PRIO_PROCESS, thread) + SURPLUS_NICENESS
            os.setpriority(os.PRIO_PROCESS, thread, niceness)


def _dismiss(helpers: list[Helper]) -> None:
    """Have sleeping threads end: they would keep their searchers and the table."""
    for helper in helpers:
        helper.dismiss()
