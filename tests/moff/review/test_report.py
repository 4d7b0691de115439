"""The page of `moff review --html`: what is in it, and what it does in a browser if there is one."""

import base64
import hashlib
import io
import json
import re
import shutil
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from random import Random
from typing import Any

import chess
import chess.pgn
import pytest

from moff.accuracy import expected_score
from moff.review.analysis import Assessment
from moff.review.report import Page
from moff.review.reviewed import ReviewedGame
from x88.movegen import legal_moves
from x88.notation import fen, pgn

pytestmark = pytest.mark.slow

NASTY = "</script><script>alert(1)</script><!-- & \"'<img src=x onerror=alert(2)> \u2028 \x00 ü"


def assessed(game: pgn.Game, random: Random) -> list[Assessment]:
    """Invented assessments: any score, any legal moves."""
    found = []
    for text in [game.start, *(move.fen for move in game.moves)]:
        board = fen.parse(text)
        line = []
        for _ in range(8):
            moves = legal_moves(board)
            if not moves:
                break
            line.append(random.choice(moves))
            board.make(line[-1])
        found.append(Assessment(random.choice([random.randint(-400, 400), 31995, -31990]), 12, line))
    return found


def read(text: str, seed: int = 1) -> list[ReviewedGame]:
    """The games of a text with invented assessments."""
    random = Random(seed)
    games = []
    for number, game in enumerate(pgn.Reader(io.BytesIO(text.encode("utf-8", "surrogatepass"))), 1):
        assessments = assessed(game, random) if game.moves else []
        games.append(ReviewedGame(game, assessments, None, "games.pgn", number))
    return games


def page_of(games: list[ReviewedGame]) -> str:
    page = Page("Moff, 5 nodes a move")
    for game in games:
        page.add(game)
    return page.html()


class Elements(HTMLParser):
    """The elements of a page: names and attributes, and the text of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.words = ""
        self._inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._inside = tag
            self.texts.append((tag, ""))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.texts[-1] = (self._inside, self.texts[-1][1] + data)
        else:
            self.words += data

    def data(self) -> Any:
        """What the script is given."""
        return json.loads(next(text for name, text in self.texts if text.startswith("[")))


GAMES = """[White "Anna"]
[Black "Berta"]
[WhiteElo "2000"]
[Event "Hall"]
[Opening "Scotch Game"]
[ECO "C44"]
[Result "1-0"]

{first} 1. e4 {[%clk 0:01:00] a move} e5 2. Nf3 Nc6 3. d4 exd4 4. Bc4 Nf6 5. O-O Bc5 6. e5 d5 7. exf6 dxc4 1-0

[White "Black is first"]
[FEN "4k3/P6p/8/8/8/8/8/4K3 b - - 0 31"]

31... h5 32. a8=Q+ Ke7 *

[White "no moves"]

*
"""


def test_the_page_has_the_games_and_needs_nothing_else() -> None:
    text = page_of(read(GAMES))
    page = Elements(text)
    for _, attributes in page.found:
        assert not attributes.keys() & {"src", "srcset", "style", "onclick", "onload"}
        href = attributes.get("href") or "#"
        assert href.startswith("#")
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
    names = [name for name, _ in page.found]
    assert not {"link", "iframe", "img", "object", "embed", "form", "base"} & set(names)
    assert "<title>Review of 3 games</title>" in text
    assert "Moff, 5 nodes a move" in page.words


def test_the_policy_allows_the_script_and_the_style_alone() -> None:
    page = Elements(page_of(read(GAMES)))
    policy = next(a["content"] for name, a in page.found if name == "meta" and "http-equiv" in a) or ""
    for kind in ("script", "style"):
        code = next(text for name, text in page.texts if name == kind and not text.startswith("["))
        digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")


def test_the_data_are_those_of_the_games() -> None:
    games = read(GAMES)
    data = Elements(page_of(games)).data()
    parsed = io.StringIO(GAMES)
    for game, found in zip(games, data, strict=True):
        board = chess.pgn.read_game(parsed).board()
        assert found["start"]["fen"] == board.board_fen()
        assert found["number"] == board.fullmove_number
        assert found["blackFirst"] == (board.turn == chess.BLACK)
        for i, move in enumerate(found["moves"]):
            for step in move.get("b", []):
                line = board.copy()
                for step in move["b"]:
                    assert line.san(line.push_uci(step["u"]) and line.pop()) == step["s"]
                    line.push_uci(step["u"])
                    assert line.board_fen() == step["f"]
            assert move["s"] == board.san(chess.Move.from_uci(move["u"]))
            board.push_uci(move["u"])
            assert move["f"] == board.board_fen()
            assert move["w"] == round(1000 * expected_score(game.scores[i + 1]))
            assert ("m" in move) == bool(game.judgements[i].mark)
    assert data[0]["moves"][0]["c"] == "a move"
    assert data[0]["start"]["comment"] == "first"
    assert data[0]["opening"] == "C44 Scotch Game"


def test_text_of_the_games_stays_text() -> None:
    value = NASTY.replace('"', '\\"')
    text = page_of(read(f'[White "{value}"]\n[Black "B"]\n[Event "{value}"]\n\n1. e4 {{{NASTY}}} e5 *\n'))
    page = Elements(text)
    known = Elements(page_of(read("1. e4 e5 *\n")))
    assert [name for name, _ in page.found] == [name for name, _ in known.found]
    assert "alert(1)</script>" not in text
    (game,) = page.data()
    assert game["tags"]["White"] == NASTY.replace("\x00", game["tags"]["White"][-3])
    assert "<img src=x onerror=alert(2)>" in game["moves"][0]["c"]
    assert "<script>alert(1)</script>" in page.words  # the name in the summary


def test_a_page_without_games_or_moves_is_one_too() -> None:
    assert Elements(page_of([])).data() == []
    (game,) = Elements(page_of(read('[Variant "Atomic"]\n\n1. e4 *\n'))).data()
    assert game["moves"] == []
    assert game["faults"] == ["line 1: the variant 'Atomic' is not played here"]


def test_a_null_move_colours_no_square_and_has_no_mark() -> None:
    (game,) = Elements(page_of(read("1. e4 -- 2. Qh5 e5 *\n"))).data()
    assert [(move["s"], move["u"]) for move in game["moves"][:2]] == [("e4", "e2e4"), ("--", "")]
    assert "m" not in game["moves"][1]


def test_a_hundred_games_make_no_huge_page() -> None:
    random = Random(3)
    texts = []
    for _ in range(10):
        board = chess.Board()
        for _ in range(80):
            if not board.is_game_over():
                board.push(random.choice(list(board.legal_moves)))
        texts.append(str(chess.pgn.Game.from_board(board)))
    text = page_of(10 * read("\n\n".join(texts)))
    assert len(Elements(text).data()) == 100
    # Half of these invented evaluations are blunders, each with eight plies of a better line.
    assert len(text) < 5_000_000


# In a browser.


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium; without it, or the library that drives it, the tests that need it are skipped."""
    playwright = pytest.importorskip("playwright.sync_api", reason="the browser extra is not installed")
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no Chromium is installed")
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield running
        running.close()


Visit = Callable[..., Any]


@pytest.fixture
def visit(browser: Any, tmp_path: Path) -> Iterator[Visit]:
    """A function that opens a page of games; nothing may go wrong on it."""
    complaints: list[str] = []
    contexts = []

    def opened(text: str, address: str = "", **how: Any) -> Any:
        path = tmp_path / "page.html"
        path.write_text(page_of(read(text)), encoding="utf-8")
        contexts.append(browser.new_context(offline=True, **how))
        page = contexts[-1].new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.goto(path.as_uri() + address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


def shown(page: Any) -> chess.BaseBoard:
    """The pieces that the board shows."""
    board = chess.BaseBoard.empty()
    for name, letter in page.eval_on_selector_all(
        ".board.light [data-piece]", "found => found.map((p) => [p.dataset.square, p.dataset.piece])"
    ):
        board.set_piece_at(chess.parse_square(name), chess.Piece.from_symbol(letter))
    return board


def test_keys_and_buttons_step_through_a_game(visit: Visit) -> None:
    page = visit(GAMES)
    game = chess.pgn.read_game(io.StringIO(GAMES))
    boards = [game.board(), *(node.board() for node in game.mainline())]
    for board in boards:
        assert shown(page) == chess.BaseBoard(board.board_fen())
        page.keyboard.press("ArrowRight")
    assert shown(page) == chess.BaseBoard(boards[-1].board_fen())
    assert page.is_disabled("#forward")
    page.click("#back")
    assert shown(page) == chess.BaseBoard(boards[-2].board_fen())
    page.keyboard.press("Home")
    assert shown(page) == chess.BaseBoard(boards[0].board_fen())
    page.click("#last")
    assert shown(page) == chess.BaseBoard(boards[-1].board_fen())
    page.fill("#ply", "3")
    assert shown(page) == chess.BaseBoard(boards[3].board_fen())
    assert page.inner_text("#status").startswith("2. Nf3")
    page.keyboard.press("f")
    assert shown(page) == chess.BaseBoard(boards[3].board_fen())
    assert page.get_attribute("#flip", "aria-pressed") == "true"


def test_the_curve_and_the_moves_can_be_clicked(visit: Visit) -> None:
    page = visit(GAMES)
    game = chess.pgn.read_game(io.StringIO(GAMES))
    boards = [game.board(), *(node.board() for node in game.mainline())]
    box = page.locator("#curve").bounding_box()
    page.locator("#curve").click(position={"x": box["width"] / 2, "y": 20})
    assert shown(page) == chess.BaseBoard(boards[7].board_fen())
    page.click('#moves button[data-ply="5"][data-better="0"]')
    assert shown(page) == chess.BaseBoard(boards[5].board_fen())
    assert page.get_attribute('#moves button[data-ply="5"][data-better="0"]', "aria-current") == "true"


def test_better_lines_are_shown_on_the_board(visit: Visit) -> None:
    page = visit(GAMES)
    data = Elements(page.content()).data()[0]
    index = next(i for i, move in enumerate(data["moves"]) if "m" in move)
    page.keyboard.press("m")
    status = page.inner_text("#status")
    assert data["moves"][index]["s"] + data["moves"][index]["m"] in status
    assert page.get_attribute(".board.light [data-layer=arrows] path", "d").startswith("M")
    for step, better in enumerate(data["moves"][index]["b"], 1):
        page.click(f'#moves button[data-ply="{index + 1}"][data-better="{step}"]')
        assert shown(page) == chess.BaseBoard(better["f"])
        assert page.inner_text("#status").startswith("Better: ")
    for _ in data["moves"][index]["b"]:
        page.keyboard.press("ArrowLeft")
    assert shown(page) == chess.BaseBoard(data["moves"][index]["f"])


def test_each_game_can_be_opened(visit: Visit) -> None:
    page = visit(GAMES, "#game-2")
    assert page.inner_text("#players").startswith("Black is first")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#status").startswith("31… h5")
    page.keyboard.press("n")
    assert page.inner_text("#players").startswith("no moves")
    assert page.is_disabled("#forward")
    page.click("text='1'")
    assert page.inner_text("#players").startswith("Anna (2000) – Berta")
    assert "C44 Scotch Game" in page.inner_text("#details")
    page.goto(page.url.split("#")[0] + "#game-99")
    assert page.inner_text("#players").startswith("Anna")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1920])
def test_it_fits_the_screen(width: int, scheme: str, visit: Visit) -> None:
    page = visit(GAMES, viewport={"width": width, "height": 800}, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.is_visible(f".board.{scheme}")
    assert not page.is_visible(f".board.{'dark' if scheme == 'light' else 'light'}")
    box = page.locator(f".board.{scheme} svg").bounding_box()
    assert 300 <= box["width"] <= 660


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_automatic_check_of_accessibility_finds_nothing(scheme: str, visit: Visit) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="the browser extra is not installed"
    )
    page = visit(GAMES, color_scheme=scheme)
    page.keyboard.press("m")
    found = axe.Axe().run(page)
    faults = found.response["violations"]
    assert [(fault["id"], [node["html"] for node in fault["nodes"]]) for fault in faults] == []


def test_nasty_text_does_nothing(visit: Visit) -> None:
    value = NASTY.replace('"', '\\"')
    page = visit(f'[White "{value}"]\n[Black "B"]\n\n1. e4 {{{NASTY}}} e5 *\n')
    page.keyboard.press("ArrowRight")
    assert "<script>alert(1)</script>" in page.inner_text("#players")
    assert page.locator("img").count() == 0
