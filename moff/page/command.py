"""`moff board`: the board page in the browser."""

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any

from moff.arguments import read_position, whole_number
from x88.notation import fen

if TYPE_CHECKING:
    from moff.page.gamelist import GameList


def add_command(commands: Any) -> None:
    """Add `board` to a command line."""
    board = commands.add_parser(
        "board",
        help="a board in the browser: play, analyse, look at the generator",
        epilog="The page needs no network. Only this machine can open it, at the address that is printed.",
    )
    board.add_argument(
        "start", nargs="?", default="", metavar="FEN|FILE.pgn", help="a position or games to analyse"
    )
    board.add_argument(
        "--port",
        type=lambda text: whole_number(text, 0, 65535),
        default=0,
        metavar="N",
        help="default: 0, any that is free",
    )
    board.add_argument("--no-browser", action="store_true", help="only print the address")
    board.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    start, games = "", None
    if options.start.lower().endswith(".pgn") or os.path.exists(options.start):
        try:
            games = read_games(options.start)
        except OSError as error:
            print(f"{options.start}: {error.strerror}", file=sys.stderr)
            return 1
        except ValueError as error:
            print(error, file=sys.stderr)
            return 1
    elif options.start:
        board = read_position(options.start)
        if board is None:
            return 1
        start = fen.write(board)
    return serve(start, games, options.port, not options.no_browser)


def serve(start: str = "", games: "GameList | None" = None, port: int = 0, opens: bool = True) -> int:
    """Serve the page, starting with a position or some games, until interrupted; returns the exit code. With
    `opens`, open it in the browser. Raises KeyboardInterrupt after a clean shutdown.
    """
    # Imported here, since no other command needs them.
    import threading
    import webbrowser

    from moff.page.server import HOST, Server
    from moff.page.tab import Tab
    from moff.page.tabs import Tabs

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
        # A text browser would block.
        threading.Thread(target=webbrowser.open, args=(server.url,), daemon=True).start()
    waiting = threading.Event()
    try:
        # With a timeout: on Windows an interrupt is noticed only between two waits.
        while not waiting.wait(0.5):
            pass
    finally:
        server.end()
    return 0


def read_games(path: str) -> "GameList":
    """The games of a file. Raises OSError or ValueError."""
    from moff.page.gamelist import LARGEST_TEXT, GameList

    with open(path, "rb") as file:
        return GameList(os.path.basename(path), file.read(LARGEST_TEXT + 1))
