"""The server of the board page: on this machine only, behind a token, with limits to everything.

HTTP of the standard library. The page's files and some answers are fetched, commands are posted, and what
changes is streamed (server-sent events).
"""

import contextlib
import hmac
import json
import os
import re
import secrets
import select
import socket
import sys
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from typing import Any
from urllib.parse import parse_qs, urlsplit

from moff.figurine import FIGURINES
from moff.gamelist import LARGEST_TEXT
from moff.tab import Tab
from moff.tabs import Tabs
from x88.piece import LETTERS

HOST = "127.0.0.1"

LARGEST_COMMAND = 1 << 17
"""Bytes of a posted command."""

MOST_CONNECTIONS = 64
"""Connections at once. A browser opens six to a server. Beyond that, those give way that have not shown the
token.
"""

MOST_STREAMS = 5
"""Streams of events at once, one for each tab: a browser that has six open could fetch nothing else."""

LONGEST_HEAD = 5.0
"""Seconds in which the head of a request must have come."""

LONGEST_EXCHANGE = 20.0
"""Seconds in which a request must have come with its body, or a file must have gone."""

LONGEST_WORK = 300.0
"""Seconds in which a request that has come in full must be carried out and answered: a file of games may be
large.
"""

LONGEST_WRITE = 5.0
"""Seconds that a client may leave an event of its stream unread."""

STREAM_BUFFER = 1 << 16
"""Bytes that may be on their way to a client. What it has not read by then is told as it is later."""

HEARTBEAT = 10.0
"""Seconds between signs of life on a stream with nothing else to tell."""

PAUSE = 0.05
"""Seconds between events, in which changes are gathered."""

LOOK = 0.25
"""Seconds between two looks whether a client has gone."""

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

BUSY = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

TOPICS = ("state", "tree", "lines", "games")

_TAB_NAME = re.compile(r"[0-9A-Za-z-]{8,64}")


def page_files() -> dict[str, tuple[str, bytes]]:
    """The files of the page and the drawings of the pieces: kinds and contents by name. No other file is ever
    served.
    """
    files = {}
    for entry in resources.files("moff").joinpath("page").iterdir():
        kind = KINDS.get(os.path.splitext(entry.name)[1])
        if kind is not None:
            files[entry.name] = (kind, entry.read_bytes())
    drawings = {LETTERS[kind].upper(): figurine._asdict() for kind, figurine in FIGURINES.items()}
    files["figurines.json"] = ("application/json", json.dumps(drawings).encode())
    return files


class Refusal(Exception):
    """A request that is refused, with the status and the reason."""

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


class Stream:
    """What one client is still to be told: topics, each once however often it has changed."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._changed = threading.Condition()
        self._topics = set(TOPICS)
        self.is_closed = False

    def mark(self, topic: str) -> None:
        """A topic has changed."""
        with self._changed:
            self._topics.add(topic)
            self._changed.notify()

    def take(self, seconds: float) -> list[str]:
        """The topics that have changed, in the order of TOPICS; waits for one at most so many seconds."""
        with self._changed:
            if not self._topics and not self.is_closed:
                self._changed.wait(seconds)
            taken = [topic for topic in TOPICS if topic in self._topics]
            self._topics.clear()
            return taken

    def close(self) -> None:
        """Let whoever takes from it end."""
        with self._changed:
            self.is_closed = True
            self._changed.notify()

    def has_gone(self) -> bool:
        """Whether the client has closed its side, or sends what nobody asked for."""
        try:
            return bool(select.select([self._connection], [], [], 0)[0])
        except (OSError, ValueError):
            return True


class Connection:
    """What is known of an open connection."""

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
        """Any free port if none is given. Raises OSError if the port cannot be had."""
        self.tabs = tabs
        self.token = secrets.token_urlsafe(24)
        self.files = page_files()
        self._guard = threading.Lock()
        self._open: dict[socket.socket, Connection] = {}
        self._streams: set[Stream] = set()
        self._is_closing = threading.Event()
        super().__init__((HOST, port), Handler)
        self.port = int(self.server_address[1])
        self.hosts = (f"{HOST}:{self.port}", f"localhost:{self.port}")
        self.url = f"http://{HOST}:{self.port}/{self.token}/"
        threading.Thread(target=self._watch, daemon=True).start()

    def server_bind(self) -> None:
        """Without asking for the machine's name, which may take long."""
        # As the base class of the base class does.
        if self.allow_reuse_address:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = HOST, int(self.server_address[1])

    # Connections.

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in a thread of its own, unless there are too many."""
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
        """A connection has ended."""
        with self._guard:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away in the middle is no error of ours; anything else is shown."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def expect_end(self, request: socket.socket, seconds: float, is_known: bool = False) -> None:
        """Cut a connection off after so many seconds from now. It `is_known` once it has shown the token."""
        with self._guard:
            connection = self._open.get(request)
            if connection is not None:
                connection.end = time.monotonic() + seconds
                connection.is_known |= is_known

    def _make_room(self) -> bool:
        """Cut off the connection that has been silent longest of those that have not shown the token; returns
        whether there was one. Under the guard.
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
                    HTTPStatus.SERVICE_UNAVAILABLE, f"{MOST_STREAMS} boards are open, which is the most"
                )
            self._streams.add(stream)

    def remove_stream(self, stream: Stream) -> None:
        """A stream has ended."""
        with self._guard:
            self._streams.discard(stream)

    def end(self) -> None:
        """Stop serving, and end all streams and searches. From another thread than that which serves."""
        self._is_closing.set()
        self.shutdown()
        self.server_close()
        with self._guard:
            streams = [*self._streams]
        for stream in streams:
            stream.close()
        self.tabs.close()


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: Server
    protocol_version = "HTTP/1.1"
    server_version = "Moff"
    sys_version = ""
    timeout = LONGEST_EXCHANGE
    error_content_type = "text/plain; charset=utf-8"
    error_message_format = "%(code)d %(message)s\n"

    def setup(self) -> None:
        """Events are small, and must not wait for each other."""
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)

    def handle_one_request(self) -> None:
        """A request; each has its own time."""
        self.server.expect_end(self.connection, LONGEST_HEAD)
        super().handle_one_request()

    def do_GET(self) -> None:
        """Send a file of the page, the game as PGN, or the stream of events."""
        self._answer(self._get)

    def do_POST(self) -> None:
        """Carry out a command, or take games."""
        self._answer(self._post)

    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads a log of requests."""

    def _answer(self, answer: Any) -> None:
        try:
            self._check()
            route = self._route()
            self.server.expect_end(self.connection, LONGEST_EXCHANGE, is_known=True)
            answer(*route)
        except Refusal as refusal:
            self._refuse(refusal)

    def _check(self) -> None:
        """Refuse what does not come from our own page. Raises Refusal."""
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1 or hosts[0] not in self.server.hosts:
            # Another name for this machine: a page of another site would come with its own (DNS rebinding).
            raise Refusal(HTTPStatus.FORBIDDEN, "wrong host")
        origin = self.headers.get("Origin")
        if origin is not None and origin != f"http://{hosts[0]}":
            raise Refusal(HTTPStatus.FORBIDDEN, "wrong origin")
        if self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            raise Refusal(HTTPStatus.FORBIDDEN, "wrong site")

    def _route(self) -> tuple[str, dict[str, str]]:
        """The name after the token, and the values of the query. Raises Refusal."""
        if len(self.path) > 1024:
            raise Refusal(HTTPStatus.REQUEST_URI_TOO_LONG, "the address is too long")
        try:
            address = urlsplit(self.path)
            query = {name: values[-1] for name, values in parse_qs(address.query, max_num_fields=8).items()}
        except ValueError:
            raise Refusal(HTTPStatus.BAD_REQUEST, "bad address") from None
        slash, _, rest = address.path.partition("/")
        token, separator, name = rest.partition("/")
        given = token.encode("utf-8", "surrogateescape")
        if slash or not separator or not hmac.compare_digest(given, self.server.token.encode()):
            raise Refusal(HTTPStatus.FORBIDDEN, "this is not the address that Moff has printed")
        return name, query

    def _get(self, name: str, query: dict[str, str]) -> None:
        if name == "events":
            self._stream(query)
        elif name == "game.pgn":
            text = self._tab(query).pgn().encode()
            self._send(HTTPStatus.OK, "application/x-chess-pgn; charset=utf-8", text, "moff.pgn")
        else:
            found = self.server.files.get(name or "index.html")
            if found is None:
                raise Refusal(HTTPStatus.NOT_FOUND, "there is no such file")
            self._send(HTTPStatus.OK, *found)

    def _post(self, name: str, query: dict[str, str]) -> None:
        if name not in ("do", "games"):
            raise Refusal(HTTPStatus.NOT_FOUND, "there is no such command")
        body = self._body(LARGEST_TEXT if name == "games" else LARGEST_COMMAND)
        tab = self._tab(query)
        try:
            if name == "games":
                tab.open_games(query.get("name", "the file"), body)
                answer: dict[str, Any] = {}
            else:
                answer = tab.do(*_read_command(body))
        except (ValueError, MemoryError) as error:
            # No status of an error: nothing is wrong between the page and us.
            self._send_json(HTTPStatus.OK, {"error": f"{error}"})
        else:
            self._send_json(HTTPStatus.OK, answer)

    def _tab(self, query: dict[str, str]) -> Tab:
        name = query.get("tab", "")
        if not _TAB_NAME.fullmatch(name):
            raise Refusal(HTTPStatus.BAD_REQUEST, "the tab has no name")
        return self.server.tabs.tab(name)

    def _body(self, most: int) -> bytes:
        """The body of the request. Raises Refusal."""
        length = self.headers.get("Content-Length", "")
        if self.headers.get("Transfer-Encoding") or not re.fullmatch(r"[0-9]{1,12}", length):
            raise Refusal(HTTPStatus.LENGTH_REQUIRED, "a body must tell its length")
        if int(length) > most:
            raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body has at most {most} bytes")
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise Refusal(HTTPStatus.BAD_REQUEST, "the body is incomplete")
        self.server.expect_end(self.connection, LONGEST_WORK)
        return body

    def _stream(self, query: dict[str, str]) -> None:
        """Tell a tab what changes until its client has gone."""
        tab = self._tab(query)
        stream = Stream(self.connection)
        self.server.add_stream(stream)
        self.close_connection = True
        try:
            self.server.tabs.join(tab, stream.mark)
            try:
                self.server.expect_end(self.connection, float("inf"))
                self.connection.settimeout(LONGEST_WRITE)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, STREAM_BUFFER)
                self.send_response(HTTPStatus.OK)
                self._send_headers("text/event-stream; charset=utf-8", None)
                self._tell(tab, stream)
            finally:
                self.server.tabs.part(tab, stream.mark)
        finally:
            self.server.remove_stream(stream)

    def _tell(self, tab: Tab, stream: Stream) -> None:
        told = time.monotonic()
        while not stream.is_closed and not stream.has_gone():
            topics = stream.take(LOOK)
            for topic in topics:
                value = json.dumps(tab.snapshot(topic), separators=(",", ":"))
                self.wfile.write(f"event: {topic}\ndata: {value}\n\n".encode())
            if topics:
                told = time.monotonic()
                time.sleep(PAUSE)
            elif time.monotonic() - told > HEARTBEAT:
                self.wfile.write(b": still here\n\n")
                told = time.monotonic()

    # Answers.

    def _refuse(self, refusal: Refusal) -> None:
        # What may follow of the request is not read, and must not be taken for another one.
        self.close_connection = True
        body = f"{refusal.reason}\n".encode()
        self._send(refusal.status, "text/plain; charset=utf-8", body)

    def _send_json(self, status: HTTPStatus, value: dict[str, Any]) -> None:
        self._send(status, "application/json", json.dumps(value, separators=(",", ":")).encode())

    def _send(self, status: HTTPStatus, kind: str, body: bytes, file: str = "") -> None:
        self.send_response(status)
        if file:
            self.send_header("Content-Disposition", f'attachment; filename="{file}"')
        self._send_headers(kind, len(body))
        self.wfile.write(body)

    def _send_headers(self, kind: str, length: int | None) -> None:
        self.send_header("Content-Type", kind)
        if length is not None:
            self.send_header("Content-Length", str(length))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()


def _cut_off(connection: socket.socket) -> None:
    """Let whoever reads from a connection or writes to it end."""
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _read_command(body: bytes) -> tuple[str, dict[str, Any]]:
    """The name and the values of a command. Raises ValueError."""
    try:
        values = json.loads(body)
    except (ValueError, RecursionError):
        raise ValueError("the command is no JSON") from None
    if not isinstance(values, dict) or not isinstance(values.get("name"), str):
        raise ValueError("the command has no name")
    return values.pop("name"), values
