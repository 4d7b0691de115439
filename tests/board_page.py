"""The board page in a real browser; what imports this is skipped where there is none."""

import os
import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import chess
import pytest

from moff.page.gamelist import GameList
from moff.page.server import Server
from moff.page.tab import Tab
from moff.page.tabs import Tabs
from tests.oracle import scaled

sync_api = pytest.importorskip("playwright.sync_api", reason="the browser extra is not installed")

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = os.environ.get("MOFF_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
if CHROMIUM is None:
    pytest.skip("no Chromium is installed", allow_module_level=True)

PATIENCE = scaled(30_000, 120_000)
"""Milliseconds to wait for something to appear before a test fails."""

expect = sync_api.expect
expect.set_options(timeout=PATIENCE)

DESKTOP = {"width": 1920, "height": 1080}
PHONE = {"width": 360, "height": 740}


@contextmanager
def browser() -> Iterator[sync_api.Browser]:
    """Chromium, without a window."""
    with sync_api.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM)
        yield started
        started.close()


@contextmanager
def served(start: str = "", games: GameList | None = None) -> Iterator[Server]:
    """A server in this process."""
    server = Server(Tabs(lambda: Tab(start, games), grace=1.0))
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.end()
        thread.join()


class Page:
    """The page as a person uses it. What the browser complains about is kept in `complaints`."""

    def __init__(self, context: sync_api.BrowserContext, url: str) -> None:
        self.page = context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.complaints: list[str] = []
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(url)
        expect(self.page.locator("#board .piece").first).to_be_visible()

    def _hear(self, message: sync_api.ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text}")

    def square(self, name: str) -> sync_api.Locator:
        return self.page.locator(f'#board [data-square="{name}"]')

    def click(self, *squares: str) -> None:
        """Click on squares, one after the other."""
        for name in squares:
            self.square(name).click()

    def drag(self, origin: str, target: str) -> None:
        """Drag a piece from one square to another."""
        (x, y), (to_x, to_y) = self.centre(origin), self.centre(target)
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move((x + to_x) / 2, (y + to_y) / 2, steps=3)
        self.page.mouse.move(to_x, to_y)
        self.page.mouse.up()

    def centre(self, name: str) -> tuple[float, float]:
        """The centre of a square on the screen."""
        box = self.square(name).bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def expect_position(self, board: chess.Board) -> None:
        """The board shows this position; not always at once, as it and the moves come in two messages."""
        for square in chess.SQUARES:
            piece = board.piece_at(square)
            drawn = self.square(chess.square_name(square)).locator(".piece")
            if piece is None:
                expect(drawn).to_have_count(0)
            else:
                expect(drawn).to_have_attribute("data-piece", piece.symbol())

    def expect_moves(self, *sans: str) -> None:
        """The main line and its variations, in the order in which they are shown."""
        expect(self.page.locator("#moves .san")).to_have_text([*sans])

    def new_game(self, colour: str, clock: str = "") -> None:
        """Start a game by the form."""
        self.page.click("#tab-play")
        self.page.select_option("[name=colour]", colour)
        self.page.select_option("[name=clock]", clock)
        self.page.click("#new-game [type=submit]")
        # A quick engine may have moved before anybody looks.
        expect(self.page.locator("#said")).to_contain_text(re.compile(r"A new game|^1\. "))

    def switch(self, name: str, on: bool) -> None:
        """Switch a setting of the engine on or off. `check` would fail if what the server had sent before
        the click arrived after it, and showed the old setting for a moment.
        """
        control = self.page.locator(f"#{name}")
        expect(control).to_be_checked(checked=not on)
        control.click()
        expect(control).to_be_checked(checked=on)

    def set_up(self, text: str) -> None:
        """Set up a FEN or PGN by the form; of a FEN, wait until the board shows it."""
        self.page.click("#tab-games")
        self.page.fill("#pasted", text)
        self.page.click("#set-up [type=submit]")
        expect(self.page.locator("#panel-analysis")).to_be_visible()
        placement = text.split(" ")[0]
        if placement.count("/") == 7:
            expect(self.page.locator("#fen")).to_have_value(re.compile(re.escape(placement)))
