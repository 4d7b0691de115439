"""`moff board`: the board page in the browser."""

import os
import sys
import threading
import webbrowser

from moff.board.gamelist import LARGEST_TEXT, GameList
from moff.board.server import HOST, Server
from moff.board.tab import Tab
from moff.board.tabs import Tabs


def serve(start: str = "", games: GameList | None = None, port: int = 0, opens: bool = True) -> int:
    """Serve the page, with a position or some games to begin with, until an interrupt; returns the exit code.
    With `opens`, the browser is told to open it. Raises KeyboardInterrupt after a clean end.
    """
    try:
        server = Server(Tabs(lambda: Tab(start, games)), port)
    except OSError as error:
        where = f"port {port}" if port else "a port"
        print(f"{where} of {HOST} cannot be used: {error.strerror or error}", file=sys.stderr)
        return 1
    threading.Thread(target=server.serve_forever, name="server", daemon=True).start()
    print(f"Moff's board is at {server.url}", flush=True)
    print("Ctrl-C ends it.", file=sys.stderr, flush=True)
    if opens:
        # A browser of the terminal would keep us waiting.
        threading.Thread(target=webbrowser.open, args=(server.url,), daemon=True).start()
    waiting = threading.Event()
    try:
        # With a timeout: on Windows an interrupt is noticed only between two waits.
        while not waiting.wait(0.5):
            pass
    finally:
        server.end()
    return 0


def read_games(path: str) -> GameList:
    """The games of a file. Raises OSError or ValueError."""
    with open(path, "rb") as file:
        return GameList(os.path.basename(path), file.read(LARGEST_TEXT + 1))
