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
from x88.book.book import Book

sync_api = pytest.importorskip("playwright.sync_api", reason="the browser extra is not installed")

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = os.environ.get("MOFF_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
if CHROMIUM is None:
    pytest.skip("no Chromium is installed", allow_module_level=True)

PATIENCE = scaled(30_000, 120_000)
"""Milliseconds to wait for something to appear before a test fails."""

expect = sync_api.expect
expect.set_options(timeout=PATIENCE)

DESKTOP = {"width": 1600, "height": 900}
PHONE = {"width": 360, "height": 740}
LANDSCAPE = {"width": 844, "height": 390}


@contextmanager
def browser() -> Iterator[sync_api.Browser]:
    """Chromium, without a window."""
    with sync_api.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM)
        yield started
        started.close()


@contextmanager
def served(start: str = "", games: GameList | None = None, book: Book | None = None) -> Iterator[Server]:
    """A server in this process."""
    server = Server(Tabs(lambda: Tab(start, games, book), grace=1.0))
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
            self.press(name)

    def press(self, name: str, is_tap: bool = False) -> None:
        """Click on a square that a piece can be moved from or to, once it can; or tap on it."""
        square = self.square(name)
        expect(square).to_have_class(re.compile("movable|target"))
        if is_tap:
            square.tap()
        else:
            square.click()

    def drag(self, origin: str, target: str) -> None:
        """Drag a piece from one square to another, once it can be moved."""
        expect(self.square(origin)).to_have_class(re.compile("movable"))
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

    def choose(self, name: str, value: str) -> None:
        """Choose one of the choices for a new game."""
        self.page.locator(f"#new-game-form label:has([name={name}][value='{value}'])").click()

    def begin(self, **choices: str) -> None:
        """Choose and begin, in the open form for a new game."""
        for name, value in choices.items():
            self.choose(name, value)
        self.page.click("#begin")
        expect(self.page.locator("#new-game-sheet")).to_be_hidden()
        # A quick engine may have moved before anybody looks.
        expect(self.page.locator("#said")).to_contain_text(re.compile(r"A new game|^1\. "))

    def new_game(self, **choices: str) -> None:
        """Begin a game by the form; of two persons, if no colour is chosen."""
        self.page.click("#tab-play")
        self.page.locator("#choose-play:visible, #new-game:visible").click()
        self.begin(**{"colour": "both", **choices})

    def switch(self, name: str, on: bool) -> None:
        """Switch a setting of the engine on or off, if it is not."""
        control = self.page.locator(f"#{name}")
        is_on = re.compile("true" if on else "false")
        if control.get_attribute("aria-checked" if name == "engine-on" else "aria-pressed") != is_on.pattern:
            control.click()
        expect(control).to_have_attribute("aria-checked" if name == "engine-on" else "aria-pressed", is_on)

    def unfold(self, details: str) -> None:
        """Open a part of the page that may be folded."""
        if self.page.locator(details).get_attribute("open") is None:
            self.page.click(f"{details} > summary")

    def set_up(self, text: str, engine: bool = False) -> None:
        """Set up a FEN or PGN by the form, and wait until it can be seen. With a FEN, the engine begins to
        search; it goes on if `engine` is wanted.
        """
        self.page.click("#tab-games")
        self.unfold("#openers")
        self.page.fill("#pasted", text)
        self.page.click("#set-up [type=submit]")
        placement = text.split(" ")[0]
        if placement.count("/") == 7:
            expect(self.page.locator("#fen")).to_have_value(re.compile(re.escape(placement)))
            self.switch("engine-on", engine)
        else:
            expect(self.page.locator("#said")).to_contain_text("Game 1")

    def open_drawer(self, name: str) -> None:
        """Open one of the drawers of the analysis: comment, pens or share."""
        self.page.click(f"#open-{name}")
        expect(self.page.locator(f"#open-{name}")).to_be_visible()

    def serious_faults(self) -> list[tuple[str, list[str]]]:
        """What a check of accessibility finds: serious faults, and where they are."""
        axe = pytest.importorskip(
            "axe_playwright_python.sync_playwright", reason="the browser extra is not installed"
        ).Axe()
        found = axe.run(self.page).response["violations"]
        return [
            (one["id"], [node["html"] for node in one["nodes"]])
            for one in found
            if one["impact"] in ("serious", "critical")
        ]
