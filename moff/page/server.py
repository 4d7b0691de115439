"""The server of the board page: for this machine only, behind a token, with limits on everything.

Uses HTTP from the standard library.
"""

import contextlib
import json
import os
import secrets
import socket
import sys
import threading
import time
from http import HTTPStatus
from http.server import ThreadingHTTPServer
from importlib import resources
from typing import Any

from moff.page.request import Handler, Refusal
from moff.page.stream import Stream
from moff.page.tabs import Tabs
from moff.picture.figurine import FIGURINES
from x88.piece import LETTERS

HOST = "127.0.0.1"

HTTP_PORT = 80
"""The port that clients leave out of Host and Origin."""

MOST_CONNECTIONS = 64
"""Simultaneous connections. A browser opens six to a server. Beyond the limit, connections that have not
shown the token are dropped.
"""

MOST_STREAMS = 5
"""Simultaneous event streams, one for each tab: a browser with six open could fetch nothing else."""

LONGEST_HEAD = 5.0
"""Seconds to receive the head of a request."""

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

BUSY = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


def page_files() -> dict[str, tuple[str, bytes]]:
    """The files of the page and the drawings of the pieces: kinds and contents by name. No other file is ever
    served.
    """
    files = {}
    for entry in resources.files("moff.page").joinpath("static").iterdir():
        kind = KINDS.get(os.path.splitext(entry.name)[1])
        if kind is not None:
            files[entry.name] = (kind, entry.read_bytes())
    drawings = {LETTERS[kind].upper(): figurine._asdict() for kind, figurine in FIGURINES.items()}
    files["figurines.json"] = ("application/json", json.dumps(drawings).encode())
    return files


class Connection:
    """What is known about an open connection."""

    def __init__(self, end: float) -> None:
        self.end = end
        """When it is cut off, on the monotonic clock."""
        self.is_known = False
        """Whether it has shown the token."""


class Server(ThreadingHTTPServer):
    """The server; `url` is where its page is."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = os.name != "nt"  # on Windows, two servers could share the port
    request_queue_size = 128

    def __init__(self, tabs: Tabs, port: int = 0) -> None:
        """Port 0 means any free one. Raises OSError if the port is not available."""
        self.tabs = tabs
        self.token = secrets.token_urlsafe(24)
        self.files = page_files()
        self._guard = threading.Lock()
        self._open: dict[socket.socket, Connection] = {}
        self._streams: set[Stream] = set()
        self._is_closing = threading.Event()
        super().__init__((HOST, port), Handler)
        self.port = int(self.server_address[1])
        names = (HOST, "localhost")
        self.hosts = {f"{name}:{self.port}" for name in names}
        if self.port == HTTP_PORT:
            self.hosts.update(names)
        self.url = f"http://{HOST}:{self.port}/{self.token}/"
        threading.Thread(target=self._watch, daemon=True).start()

    def server_bind(self) -> None:
        """Bind without looking up the machine's name, which may take long."""
        # As the base class of the base class does.
        if self.allow_reuse_address:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = HOST, int(self.server_address[1])

    # Connections.

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in its own thread, unless there are too many."""
        with self._guard:
            has_room = len(self._open) < MOST_CONNECTIONS or self._make_room()
            if has_room:
                self._open[request] = Connection(time.monotonic() + LONGEST_HEAD)
        if not has_room:
            with contextlib.suppress(OSError):
                request.setblocking(False)
                request.send(BUSY)
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except RuntimeError:  # no thread can be started
            self.shutdown_request(request)

    def shutdown_request(self, request: Any) -> None:
        """Forget a connection that has ended."""
        with self._guard:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Show an error, unless a client has merely disconnected."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def expect_end(self, request: socket.socket, seconds: float, is_known: bool = False) -> None:
        """Cut a connection off in `seconds` seconds. It `is_known` once it has shown the token."""
        with self._guard:
            connection = self._open.get(request)
            if connection is not None:
                connection.end = time.monotonic() + seconds
                connection.is_known |= is_known

    def _make_room(self) -> bool:
        """Cut off the longest silent connection that has not shown the token; returns whether there was one.
        The guard must be held.
        """
        unknown = [request for request, connection in self._open.items() if not connection.is_known]
        if not unknown:
            return False
        _cut_off(unknown[0])
        del self._open[unknown[0]]
        return True

    def _watch(self) -> None:
        """Cut off connections that take too long."""
        while not self._is_closing.wait(0.5):
            now = time.monotonic()
            with self._guard:
                late = [request for request, connection in self._open.items() if connection.end < now]
            for request in late:
                _cut_off(request)

    # Streams.

    def add_stream(self, stream: Stream) -> None:
        """Raises Refusal if there are too many."""
        with self._guard:
            live = [other for other in self._streams if not other.has_gone()]
            if len(live) >= MOST_STREAMS or self._is_closing.is_set():
                raise Refusal(
                    HTTPStatus.SERVICE_UNAVAILABLE,
                    f"{MOST_STREAMS} boards are open, which is the maximum",
                )
            self._streams.add(stream)

    def remove_stream(self, stream: Stream) -> None:
        """Remove a stream that has ended."""
        with self._guard:
            self._streams.discard(stream)

    def end(self) -> None:
        """Stop serving, and end all streams and searches. To be called from another thread than the serving
        one.
        """
        self._is_closing.set()
        self.shutdown()
        self.server_close()
        with self._guard:
            streams = [*self._streams]
        for stream in streams:
            stream.close()
        self.tabs.close()


def _cut_off(connection: socket.socket) -> None:
    """End reads from a connection and writes to it."""
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
