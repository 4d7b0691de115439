"""`moff board`: the board page in the browser."""

import argparse
import errno
import io
import os
import sys
from typing import TYPE_CHECKING, Any

from moff.arguments import read_position, whole_number
from moff.messages import can_rewrite
from x88.notation import fen

if TYPE_CHECKING:
    from collections.abc import Callable

    from moff.page.gamelist import GameList
    from moff.page.host import Host
    from moff.page.tab import Tab

WHITE_ON_BLACK, PLAIN = "\033[97;40m", "\033[0m"


def add_command(commands: Any) -> None:
    """Add `board` to a command line."""
    board = commands.add_parser(
        "board",
        help="a board in the browser: play, analyse, look at the generator",
        epilog="The page needs no network. It opens at the address that is printed: on this machine alone, "
        "with --lan or --host on phones and other devices, too.",
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
    board.add_argument("--book", metavar="FILE.bin", help="a Polyglot book, to see its moves while analysing")
    where = board.add_mutually_exclusive_group()
    where.add_argument(
        "--host",
        metavar="ADDRESS",
        help="an address or a name of this machine, at which other devices can open the board",
    )
    where.add_argument(
        "--lan", action="store_true", help="the same, at this machine's address in the local network"
    )
    board.add_argument("--no-browser", action="store_true", help="only print the address")
    board.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from moff.page.host import LOOPBACK, local_network, parse

    start, games, host = "", None, LOOPBACK
    try:
        if options.lan:
            host = local_network()
        elif options.host is not None:
            host = parse(options.host)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
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
    book = None
    if options.book is not None:
        from moff.books import open_book

        book = open_book(options.book)
        if book is None:
            return 1
    from moff.page.tab import Tab

    try:
        return serve(lambda: Tab(start, games, book), options.port, host, not options.no_browser)
    finally:
        if games is not None:
            _rescue(games, options.start)


def _rescue(games: "GameList", name: str) -> None:
    """Keep changes that were not saved, and say where."""
    try:
        if path := games.rescue():
            print(f"changes to {name} were not saved: they are in {path}", file=sys.stderr)
    except OSError as error:
        print(f"changes to {name} are lost: {error.filename}: {error.strerror}", file=sys.stderr)


def serve(make_tab: "Callable[[], Tab]", port: int, host: "Host", opens: bool) -> int:
    """Serve the page until interrupted; returns the exit code. With `opens`, open it in the browser. Raises
    KeyboardInterrupt after a clean shutdown.
    """
    # Imported here, since no other command needs them.
    import threading
    import webbrowser

    from moff.page.server import Server
    from moff.page.tabs import Tabs

    try:
        server = Server(Tabs(make_tab), port, host)
    except OSError as error:
        if error.errno == errno.EADDRNOTAVAIL:
            reason = f"{host} is not an address of this machine"
        else:
            where = f"port {port}" if port else "a port"
            reason = f"{where} of {host} cannot be used: {error.strerror or error}"
        print(reason, file=sys.stderr)
        return 1
    threading.Thread(target=server.serve_forever, name="server", daemon=True).start()
    print(f"Moff's board is at {server.url}", flush=True)
    if not host.is_loopback():
        _show_code(server.url)
        print(host.audience(), file=sys.stderr)
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


def _show_code(url: str) -> None:
    """Show the address as a QR code on a terminal, for the camera of a phone."""
    if not can_rewrite(sys.stdout):
        return
    try:
        import segno
    except ImportError:
        print('For a QR code of it: pip install "moff-chess[phone]"', file=sys.stderr)
        return
    code = io.StringIO()
    segno.make(url, error="l", micro=False).terminal(code, border=2, compact=True)
    for line in code.getvalue().splitlines():
        print(f"{WHITE_ON_BLACK}{line}{PLAIN}")  # whatever the colours of the terminal
    sys.stdout.flush()


def read_games(path: str) -> "GameList":
    """The games of a file. Raises OSError or ValueError."""
    from moff.page.gamelist import LARGEST_TEXT, GameList

    with open(path, "rb") as file:
        return GameList(os.path.basename(path), file.read(LARGEST_TEXT + 1), path)
