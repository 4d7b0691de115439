"""Requests to the server of the board page: who may send them, what they ask for, and the answer.

The page's files and some answers are fetched, commands are posted, and what changes is streamed.
"""

import hmac
import io
import json
import re
import socket
import sys
import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from http.client import LineTooLong
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from moff.page.connections import Connections, Refusal
from moff.page.gamelist import LARGEST_TEXT
from moff.page.host import LOOPBACK, Host
from moff.page.stream import Stream
from moff.page.tab import Tab
from moff.page.tabs import Tabs
from moff.page.tabview import snapshots

LARGEST_HEAD = 1 << 17
"""Bytes of the head of a request; its first line alone may have half of them."""

LARGEST_COMMAND = 1 << 17
"""Bytes of a posted command."""

LARGEST_REMOTE_TEXT = 1 << 20
"""Bytes of games posted by another device, as they take up to 120 times their size in memory."""

LONGEST_EXCHANGE = 20.0
"""Seconds to receive a request with its body, or to send a file."""

LONGEST_WORK = 300.0
"""Seconds to carry out and answer a request received in full: a file of games may be large."""

LONGEST_WRITE = 5.0
"""Seconds that a client may leave an event of its stream unread."""

STREAM_BUFFER = 1 << 16
"""Bytes that may be in transit to a client. A slow client gets later states instead of every change."""

HEARTBEAT = 10.0
"""Seconds between keep-alive messages on an idle stream."""

PAUSE = 0.05
"""Seconds between events, during which changes are collected."""

LOOK = 0.25
"""Seconds between checks whether a client has gone."""

HTML = "text/html; charset=utf-8"

_TAB_NAME = re.compile(r"[0-9A-Za-z-]{8,64}")


class Site(ThreadingHTTPServer):
    """The server, as its handlers see it."""

    tabs: Tabs
    connections: Connections
    host: Host
    token: str
    hosts: set[str]
    """The valid values of the header Host."""
    page: bytes
    policy: str
    """The page, and its content security policy."""
    upload: threading.Lock
    """Held while games are read, which takes memory: one file at a time."""


class _Reader(io.BufferedReader):
    """Reads a request. Of its lines, the head, it reads no more than LARGEST_HEAD bytes."""

    _left = LARGEST_HEAD

    def readline(self, size: int | None = -1, /) -> bytes:
        line = super().readline(size)
        self._left -= len(line)
        if self._left < 0:
            raise LineTooLong("head")
        return line


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: Site
    protocol_version = "HTTP/1.1"
    server_version = "Moff"
    sys_version = ""
    timeout = LONGEST_EXCHANGE
    error_content_type = "text/plain; charset=utf-8"
    error_message_format = "%(code)d %(message)s\n"

    def setup(self) -> None:
        """Limit the head. Disable Nagle's algorithm: events are small and must not wait for each other."""
        super().setup()
        self.rfile = _Reader(self.rfile.detach())
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)

    def do_GET(self) -> None:
        """Send a file of the page, the game as PGN, or the stream of events."""
        self._answer(self._get)

    def do_POST(self) -> None:
        """Carry out a command, or receive games."""
        self._answer(self._post)

    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads a log of requests."""

    def _answer(self, answer: Callable[[str, dict[str, str]], None]) -> None:
        # A connection kept open might be cut off just when its next request comes.
        self.close_connection = True
        try:
            self._check()
            route = self._route()
            self.server.connections.expect_end(self.connection, LONGEST_EXCHANGE, is_known=True)
            answer(*route)
        except Refusal as refusal:
            self._refuse(refusal)

    def _check(self) -> None:
        """Check that the request comes from our own page. Raises Refusal."""
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1 or hosts[0] not in self.server.hosts:
            # A page of another site would use its own name for this machine (DNS rebinding).
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
            raise Refusal(HTTPStatus.FORBIDDEN, "this is not the address that Moff printed")
        return name, query

    def _get(self, name: str, query: dict[str, str]) -> None:
        texts = {"game.pgn": Tab.pgn, "games.pgn": Tab.study}
        if name == "events":
            self._stream(query)
        elif name == "report.html":
            self._send(HTTPStatus.OK, HTML, self._tab(query).report_page(), "review.html")
        elif name in texts:
            text = texts[name](self._tab(query)).encode(errors="surrogateescape")
            self._send(HTTPStatus.OK, "application/x-chess-pgn; charset=utf-8", text, "moff.pgn")
        elif name:
            raise Refusal(HTTPStatus.NOT_FOUND, "there is no such file")
        else:
            self._send(HTTPStatus.OK, HTML, self.server.page)

    def _post(self, name: str, query: dict[str, str]) -> None:
        if name not in ("do", "games"):
            raise Refusal(HTTPStatus.NOT_FOUND, "there is no such command")
        body = self._body(self._largest_text() if name == "games" else LARGEST_COMMAND)
        tab = self._tab(query)
        try:
            if name == "games":
                with self.server.upload:
                    answer = tab.open_games(query.get("name", "the file"), body)
            else:
                answer = tab.do(*_read_command(body))
        except (ValueError, MemoryError) as error:
            # Not an error status: nothing is wrong with the request itself.
            self._send_json(HTTPStatus.OK, {"error": f"{error}"})
        else:
            self._send_json(HTTPStatus.OK, answer)

    def _tab(self, query: dict[str, str]) -> Tab:
        name = query.get("tab", "")
        if not _TAB_NAME.fullmatch(name):
            raise Refusal(HTTPStatus.BAD_REQUEST, "the tab has no name")
        return self.server.tabs.tab(name)

    def _largest_text(self) -> int:
        is_here = self.client_address[0] in (LOOPBACK.address, self.server.host.address)
        return LARGEST_TEXT if is_here else LARGEST_REMOTE_TEXT

    def _body(self, most: int) -> bytes:
        """The body of the request. Raises Refusal."""
        length = self.headers.get("Content-Length", "")
        if self.headers.get("Transfer-Encoding") or not re.fullmatch(r"[0-9]{1,12}", length):
            raise Refusal(HTTPStatus.LENGTH_REQUIRED, "a body must have a Content-Length")
        if int(length) > most:
            raise Refusal(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"at most {most >> 10} kB can be sent from here"
            )
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise Refusal(HTTPStatus.BAD_REQUEST, "the body is incomplete")
        self.server.connections.expect_end(self.connection, LONGEST_WORK)
        return body

    def _stream(self, query: dict[str, str]) -> None:
        """Send a tab its changes until the client has gone."""
        tab = self._tab(query)
        stream = Stream(self.connection)
        self.server.connections.add_stream(stream)
        try:
            self.server.tabs.join(tab, stream.mark)
            try:
                self.server.connections.expect_end(self.connection, float("inf"))
                self.connection.settimeout(LONGEST_WRITE)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, STREAM_BUFFER)
                if sys.platform == "linux":
                    # A phone that has left the network does not say so, and its board would stay open for a
                    # quarter of an hour. Other systems give up sooner.
                    seconds = int(LONGEST_EXCHANGE)
                    self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000 * seconds)
                self.send_response(HTTPStatus.OK)
                self._send_headers("text/event-stream; charset=utf-8", None)
                self._send_changes(tab, stream)
            finally:
                self.server.tabs.leave(tab, stream.mark)
        finally:
            self.server.connections.remove_stream(stream)

    def _send_changes(self, tab: Tab, stream: Stream) -> None:
        sent = time.monotonic()
        while not stream.is_closed and not stream.has_gone():
            stream.wait(LOOK)
            # All as of one moment and in this order: no move is listed before it is on the board.
            changes = snapshots(tab, stream.take)
            for topic, change in changes.items():
                value = json.dumps(change, separators=(",", ":"))
                self.wfile.write(f"event: {topic}\ndata: {value}\n\n".encode())
            if changes:
                sent = time.monotonic()
                time.sleep(PAUSE)
            elif time.monotonic() - sent > HEARTBEAT:
                self.wfile.write(b": still here\n\n")
                sent = time.monotonic()

    # Answers.

    def _refuse(self, refusal: Refusal) -> None:
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
        self.send_header("Connection", "close")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", f"{self.server.policy}; frame-ancestors 'none'")
        if self.server.host.is_loopback():
            # Elsewhere browsers complain about it, as the page does not come by HTTPS.
            self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()


def _read_command(body: bytes) -> tuple[str, dict[str, Any]]:
    """The name and the values of a command. Raises ValueError."""
    try:
        values = json.loads(body)
    except (ValueError, RecursionError):
        raise ValueError("the command is not JSON") from None
    if not isinstance(values, dict) or not isinstance(values.get("name"), str):
        raise ValueError("the command has no name")
    return values.pop("name"), values
