"""The connections and event streams of the server of the board page: how many, and for how long."""

import contextlib
import socket
import threading
import time
from collections import Counter
from http import HTTPStatus

from moff.page.stream import Stream

MOST_CONNECTIONS = 64
"""Simultaneous connections. A browser opens six to a server. Beyond the limit, connections that have not
shown the token are dropped, first those of the address with the most of them.
"""

MOST_STREAMS = 5
"""Simultaneous event streams, one for each tab: a browser with six open could fetch nothing else."""

LONGEST_HEAD = 5.0
"""Seconds to receive the head of a request."""


class Refusal(Exception):
    """The refusal of a request, with the status and the reason."""

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


class Connection:
    """The state of an open connection."""

    def __init__(self, address: str, end: float) -> None:
        self.address = address
        """The client's."""
        self.end = end
        """When it is cut off, on the monotonic clock."""
        self.is_known = False
        """Whether it has shown the token."""


class Connections:
    """The open connections, which a thread of its own cuts off in time, and the live streams."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._open: dict[socket.socket, Connection] = {}
        self._streams: set[Stream] = set()
        self._is_closing = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def open(self, request: socket.socket, address: str) -> bool:
        """Note a new connection from an address; returns whether there was room for it."""
        with self._guard:
            has_room = len(self._open) < MOST_CONNECTIONS or self._make_room()
            if has_room:
                self._open[request] = Connection(address, time.monotonic() + LONGEST_HEAD)
            return has_room

    def forget(self, request: socket.socket) -> None:
        """Forget a connection that has ended."""
        with self._guard:
            self._open.pop(request, None)

    def expect_end(self, request: socket.socket, seconds: float, is_known: bool = False) -> None:
        """Cut a connection off in `seconds` seconds. It `is_known` once it has shown the token."""
        with self._guard:
            connection = self._open.get(request)
            if connection is not None:
                connection.end = time.monotonic() + seconds
                connection.is_known |= is_known

    def _make_room(self) -> bool:
        """Cut off the oldest connection without the token, of the address with the most of them; returns
        whether there was one. Under the guard.
        """
        unknown = {request: each.address for request, each in self._open.items() if not each.is_known}
        if not unknown:
            return False
        crowd, _ = Counter(unknown.values()).most_common(1)[0]
        oldest = next(request for request, address in unknown.items() if address == crowd)
        _cut_off(oldest)
        del self._open[oldest]
        return True

    def _watch(self) -> None:
        """Cut off connections that take too long."""
        while not self._is_closing.wait(0.5):
            now = time.monotonic()
            with self._guard:
                late = [request for request, connection in self._open.items() if connection.end < now]
            for request in late:
                _cut_off(request)

    def add_stream(self, stream: Stream) -> None:
        """Raises Refusal if there are too many."""
        with self._guard:
            live = [other for other in self._streams if not other.has_gone()]
            if len(live) >= MOST_STREAMS or self._is_closing.is_set():
                raise Refusal(
                    HTTPStatus.SERVICE_UNAVAILABLE, f"{MOST_STREAMS} boards are open, which is the maximum"
                )
            self._streams.add(stream)

    def remove_stream(self, stream: Stream) -> None:
        """Remove a stream that has ended."""
        with self._guard:
            self._streams.discard(stream)

    def close(self) -> None:
        """Accept no more streams, and watch no longer."""
        self._is_closing.set()

    def end_streams(self) -> None:
        """End all streams."""
        with self._guard:
            streams = [*self._streams]
        for stream in streams:
            stream.close()


def _cut_off(connection: socket.socket) -> None:
    """End reads from a connection and writes to it."""
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
