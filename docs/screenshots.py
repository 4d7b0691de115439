"""Takes docs/board-desktop.png and makes docs/moff.ico: python docs/screenshots.py

The picture shows the board page with a reviewed game; the icon, that of the program for Windows, is the
page's. Needs the extra `browser`, and Chromium; MOFF_CHROMIUM names another one than that on the path.
"""

import io
import os
import shutil
import sys
import threading
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from moff.page.gamelist import GameList  # noqa: E402
from moff.page.server import Server  # noqa: E402
from moff.page.tab import Tab  # noqa: E402
from moff.page.tabs import Tabs  # noqa: E402

GAME = b"""\
[White "Morphy, Paul"]
[Black "Duke Karl / Count Isouard"]
[Result "1-0"]

1. e4 e5 2. Nf3 d6 3. d4 Bg4 4. dxe5 Bxf3 5. Qxf3 dxe5 6. Bc4 Nf6 7. Qb3 Qe7 8. Nc3 c6 9. Bg5 b5
10. Nxb5 cxb5 11. Bxb5+ Nbd7 12. O-O-O Rd8 13. Rxd7 Rxd7 14. Rd1 Qe6 15. Bxd7+ Nxd7 16. Qb8+ Nxb8
17. Rd8# 1-0
"""
PLIES = 30
"""Before the sacrifice of the queen."""

WIDTH, HEIGHT = 1240, 760
COLOURS = 128
"""In the picture; more are not seen, and cost bytes."""

ICON_SIZES = (16, 24, 32, 48, 64, 256)


def take_board(page: Page) -> None:
    """Review the game, go to the sacrifice with the engine on, and take the picture."""
    server = Server(Tabs(lambda: Tab("", GameList("opera.pgn", GAME))))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page.goto(server.url)
    page.click("#tab-analyse")
    page.click("#review-this")
    page.locator("#notice", has_text="reviewed").wait_for(timeout=600_000)
    for _ in range(PLIES):
        page.keyboard.press("ArrowRight")
    page.click("#engine-on")
    page.evaluate("document.activeElement.blur()")
    page.mouse.move(0, 0)
    page.wait_for_timeout(5_000)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(HERE / "board-desktop.png", optimize=True)
    page.close()
    server.end()


def make_icon(page: Page) -> None:
    """Draw the icon in all its sizes."""
    drawing = (HERE.parent / "moff" / "page" / "static" / "icon.svg").read_text("utf-8")
    page.set_content(f"<style>body{{margin:0}}svg{{display:block}}</style>{drawing}")
    largest = ICON_SIZES[-1]
    page.set_viewport_size({"width": largest, "height": largest})
    image = Image.open(io.BytesIO(page.screenshot(omit_background=True)))
    image.save(HERE / "moff.ico", sizes=[(size, size) for size in ICON_SIZES])


def main() -> None:
    chromium = os.environ.get("MOFF_CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium)
        make_icon(browser.new_page())
        take_board(browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=1.5))


if __name__ == "__main__":
    main()
