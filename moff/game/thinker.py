"""The engine as a player: it thinks in the background, and a request can be dropped."""

import threading
import time
from collections.abc import Callable
from functools import partial

from search.limits import Limits
from search.line import Report, Result
from search.search import Search
from x88.board import Board


class Request:
    """A request to the engine, until it is answered or dropped."""

    def __init__(
        self,
        board: Board,
        limits: Limits,
        elo: int | None,
        on_report: Callable[[Report], object],
        on_answer: Callable[[int, Report | None], object],
        pause: float = 0.0,
    ) -> None:
        """`on_answer` is called with the best move, packed, and the last report if there was any; not before
        `pause` seconds from now, unless the answer is urgent.
        """
        self.board = board
        self.limits = limits
        self.elo = elo
        self.on_report = on_report
        self.on_answer = on_answer
        self.report: Report | None = None
        self.is_open = True
        """Whether an answer is still expected."""
        self.is_urgent = False
        self.earliest = time.monotonic() + pause
        self.cannot_wait = threading.Event()
        """Set when the answer is urgent or no longer wanted."""
        self.is_over = threading.Event()
        """Set when the answer has been given or never will be."""


class Thinker:
    """A `Search` that handles one request at a time, and never answers a dropped one.

    A search ends in its own thread, a little after it was stopped. The next one, and whatever else must
    happen between searches, comes after that; no caller has to wait for it.
    """

    def __init__(self, lock: threading.RLock, make_search: Callable[[], Search]) -> None:
        """Everything is done under the lock, including callbacks. The search is created when it is needed."""
        self._lock = lock
        self._make_search = make_search
        self._search: Search | None = None
        self._is_searching = False
        self._is_new_game = False
        self._request: Request | None = None

    def think(self, request: Request) -> None:
        """Think about this and nothing else. Raises MemoryError."""
        with self._lock:
            self.drop()
            self._request = request
            if not self._is_searching:
                self._begin(request)

    def answer_now(self) -> None:
        """Answer the request at once."""
        with self._lock:
            if self._request is not None:
                self._request.is_urgent = True
                self._request.cannot_wait.set()
                self._stop()

    def drop(self) -> None:
        """Drop the request."""
        with self._lock:
            request, self._request = self._request, None
            if request is not None:
                request.is_open = False
                request.cannot_wait.set()
                request.is_over.set()
                self._stop()

    def new_game(self) -> None:
        """Forget everything learnt."""
        with self._lock:
            self.drop()
            self._is_new_game = True

    def close(self) -> None:
        """Drop the request and wait for the search to end. Not from a callback or under the lock."""
        self.drop()
        if self._search is not None:
            self._search.wait()

    def _begin(self, request: Request) -> None:
        """Start the search for a request, while no other is running."""
        try:
            if self._search is None:
                self._search = self._make_search()
            elif self._is_new_game:
                self._search.new_game()
            self._is_new_game = False
            self._search.limit_strength(request.elo)
            callbacks = partial(self._report, request), partial(self._finish, request)
            self._is_searching = True
            self._search.start(request.board, request.limits, *callbacks)
        except BaseException:
            self.drop()  # and stop the search: a signal may have come after its thread had begun
            self._is_searching = False
            raise
        if request.is_urgent:
            self._stop()

    def _stop(self) -> None:
        if self._search is not None and self._is_searching:
            self._search.stop()

    def _report(self, request: Request, report: Report) -> None:
        with self._lock:
            if request.is_open:
                request.report = report
                request.on_report(report)

    def _finish(self, request: Request, result: Result) -> None:
        """Handle the end of a search: answer its request, or begin the next one if it was dropped."""
        request.cannot_wait.wait(max(0.0, request.earliest - time.monotonic()))
        with self._lock:
            self._is_searching = False
            if not request.is_open:
                if self._request is not None:
                    self._begin(self._request)
                return
            self._request = None
            request.is_open = False
            try:
                request.on_answer(result.move, request.report)
            finally:
                request.is_over.set()
