"""The server of the board page: for this machine unless asked, behind a token, with limits on everything.

Uses HTTP from the standard library.
"""

import contextlib
import os
import secrets
import socket
import sys
import threading
from typing import Any

from moff.game.levels import DEFAULT_LEVEL, LEVELS
from moff.page.connections import Connections
from moff.page.document import document
from moff.page.host import LOOPBACK, Host
from moff.page.request import Handler, Site
from moff.page.tabs import Tabs
from search.strength import STRONGEST, WEAKEST

HTTP_PORT = 80
"""The port that clients leave out of Host and Origin."""

BUSY = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class Server(Site):
    """The server; `url` is where its page is."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = os.name != "nt"  # on Windows, two servers could share the port
    request_queue_size = 128

    def __init__(self, tabs: Tabs, port: int = 0, host: Host = LOOPBACK) -> None:
        """Port 0 means any free one. Raises OSError if the port or the address is not available."""
        self.tabs = tabs
        self.host = host
        self.token = secrets.token_urlsafe(24)
        self.page, self.policy = document(
            {
                "levels": [level._asdict() for level in LEVELS],
                "elo": DEFAULT_LEVEL.elo,
                "range": [WEAKEST, STRONGEST],
            }
        )
        self.upload = threading.Lock()
        super().__init__((host.address, port), Handler)
        self.connections = Connections()
        self.port = int(self.server_address[1])
        names = (host.name, "localhost") if host == LOOPBACK else (host.name,)
        self.hosts = {f"{name}:{self.port}" for name in names}
        if self.port == HTTP_PORT:
            self.hosts.update(names)
        self.url = f"http://{host.name}:{self.port}/{self.token}/"

    def server_bind(self) -> None:
        """Bind without looking up the machine's name, which may take long."""
        # As the base class of the base class does.
        if self.allow_reuse_address:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = self.host.name, int(self.server_address[1])

    # Connections.

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in its own thread, unless there are too many."""
        if not self.connections.open(request, client_address[0]):
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
        self.connections.forget(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Show an error, unless a client has merely disconnected."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def end(self) -> None:
        """Stop serving, and end all streams and searches. Not from the serving thread."""
        self.connections.close()
        self.shutdown()
        self.server_close()
        self.connections.end_streams()
        self.tabs.close()
