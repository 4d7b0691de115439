"""The page of `moff review --html`: its content, and its behaviour in a browser if there is one."""

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
        while len(line) < 8 and (moves := legal_moves(board)):
            line.append(random.choice(moves))
            board.make(line[-1])
        found.append(Assessment(random.choice([random.randint(-400, 400), 31995, -31990]), 12, line))
    return found


def read(text: str) -> list[ReviewedGame]:
    """The games of a text with invented assessments."""
    random = Random(1)
    games = pgn.Reader(io.BytesIO(text.encode()))
    return [ReviewedGame(game, assessed(game, random) if game.moves else []) for game in games]


def page_of(games: list[ReviewedGame]) -> str:
    page = Page("Moff, 5 nodes a move")
    for game in games:
        page.add(game)
    return page.html()


class Elements(HTMLParser):
    """The elements of a page: names and attributes, the text of scripts and styles, and all other text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.words = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self.texts.append((tag, ""))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem:
            self.texts[-1] = (self.cdata_elem, self.texts[-1][1] + data)
        else:
            self.words += data

    def data(self) -> Any:
        """The games that the script reads."""
        return json.loads(next(text for _, text in self.texts if text.startswith("[")))


GAMES = """[White "Anna"]
[Black "Berta"]
[WhiteElo "2000"]
[Event "Hall"]
[Site "?"]
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


def test_the_page_needs_nothing_else_and_allows_only_its_own_script() -> None:
    text = page_of(read(GAMES))
    page = Elements(text)
    for name, attributes in page.found:
        assert name not in ("link", "iframe", "img", "object", "embed", "form", "base")
        assert not attributes.keys() & {"src", "srcset", "style", "onclick", "onload"}
        assert (attributes.get("href") or "#").startswith("#")
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
    policy = next(a["content"] for name, a in page.found if name == "meta" and "http-equiv" in a) or ""
    hashes = {
        kind: base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
        for kind, code in page.texts
        if not code.startswith("[")
    }
    style, script = (f"{kind}-src 'sha256-{hashes[kind]}'" for kind in ("style", "script"))
    assert policy == f"default-src 'none'; {style}; {script}"


def test_the_summary_and_the_data_agree_with_the_games() -> None:
    games = read(GAMES)
    text = page_of(games)
    assert "<title>Review of 3 games</title>" in text
    assert "Moff, 5 nodes a move" in Elements(text).words
    rows = re.findall("<tr>(<td><a.*)</tr>", text)
    for number, (game, row) in enumerate(zip(games, rows, strict=True), 1):
        assert f'href="#game-{number}">{number}<' in row
        cells = [str(number)]
        for name, total in zip(("White", "Black"), game.tallies, strict=True):
            cells.append(game.game.tags.get(name, "?"))
            if total.moves:
                marks = " ".join(map(str, total.marks.values()))
                cells += [f"{total.accuracy:.1f}", f"{total.centipawns:.0f}", marks]
            else:
                cells += ["–", "–", "–"]
        assert re.findall(">([^<>]+)<", row) == [*cells[:5], game.game.result, *cells[5:]]
    data = Elements(text).data()
    parsed = io.StringIO(GAMES)
    for game, found in zip(games, data, strict=True):
        node = chess.pgn.read_game(parsed)
        board = node.board()
        assert found["result"] == node.headers["Result"]
        assert found["tags"] == {
            name: text
            for name, text in game.game.tags.items()
            if name in ("White", "Black", "WhiteElo", "Event") and text != "?"
        }
        for colour, total in zip(found["totals"], game.tallies, strict=True):
            assert colour[0] == ("–" if total.accuracy is None else f"{total.accuracy:.1f}")
        assert found["start"]["fen"] == board.board_fen()
        assert found["number"] == board.fullmove_number
        assert found["blackFirst"] == (board.turn == chess.BLACK)
        for i, move in enumerate(found["moves"]):
            line = board.copy()
            for step in move.get("b", []):
                assert line.san(chess.Move.from_uci(step["u"])) == step["s"]
                line.push_uci(step["u"])
                assert line.board_fen() == step["f"]
            assert move["s"] == board.san(chess.Move.from_uci(move["u"]))
            board.push_uci(move["u"])
            assert move["f"] == board.board_fen()
            assert move["w"] == round(1000 * expected_score(game.scores[i + 1]))
            judgement = game.judgements[i]
            assert (move["e"], move.get("m", "")) == (game.evaluation(i + 1), judgement.mark)
            assert move.get("l", 0) == (round(100 * judgement.loss) if judgement.mark else 0)
    assert data[0]["moves"][0]["c"] == "a move"
    assert data[0]["start"]["comment"] == "first"
    assert data[0]["opening"] == "C44 Scotch Game"


def test_text_of_the_games_stays_text() -> None:
    value = NASTY.replace('"', '\\"')
    text = page_of(read(f'[White "{value}"]\n[Black "B"]\n[Event "{value}"]\n\n1. e4 {{{NASTY}}} e5 *\n'))
    page = Elements(text)
    known = Elements(page_of(read("1. e4 e5 *\n")))
    assert [name for name, _ in page.found] == [name for name, _ in known.found]
    assert not {*"<>&"} & {*next(data for _, data in page.texts if data.startswith("["))}
    (game,) = page.data()
    assert game["tags"]["White"] == NASTY.replace("\x00", game["tags"]["White"][-3])
    assert "<img src=x onerror=alert(2)>" in game["moves"][0]["c"]
    assert "<script>alert(1)</script>" in page.words  # the name in the summary


def test_a_page_may_have_no_games_no_moves_and_null_moves() -> None:
    assert Elements(page_of([])).data() == []
    atomic, null = Elements(page_of(read('[Variant "Atomic"]\n\n1. e4 *\n\n1. e4 -- 2. Qh5 e5 *\n'))).data()
    assert atomic["moves"] == []
    assert atomic["faults"] == ["line 1: the variant 'Atomic' is not played here"]
    assert [(move["s"], move["u"]) for move in null["moves"][:2]] == [("e4", "e2e4"), ("--", "")]
    assert "m" not in null["moves"][1]
    (game,) = read(f"1. {' '.join(['Nf3 Nf6 Ng1 Ng8'] * 20)} *\n")
    # Half of these invented evaluations are blunders, each with eight plies of a better line.
    assert len(page_of([game] * 2)) - len(page_of([game])) < 80 * 600


# In a browser.


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium; without it, or the library that drives it, the tests that need it are skipped."""
    playwright = pytest.importorskip("playwright.sync_api", reason="the browser extra is not installed")
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.skip("no Chromium is installed")
    with playwright.sync_playwright() as started:
        yield started.chromium.launch(executable_path=path, args=["--no-sandbox"])


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


def test_keys_buttons_curve_and_moves_step_through_a_game(visit: Visit) -> None:
    page = visit(GAMES)
    game = chess.pgn.read_game(io.StringIO(GAMES))
    boards = [game.board(), *(node.board() for node in game.mainline())]

    def check(ply: int) -> None:
        assert shown(page) == chess.BaseBoard(boards[ply].board_fen())

    for ply in range(len(boards)):
        check(ply)
        page.keyboard.press("ArrowRight")
    check(-1)
    assert page.is_disabled("#forward")
    page.click("#back")
    check(-2)
    page.keyboard.press("Home")
    check(0)
    page.click("#last")
    check(-1)
    page.fill("#ply", "3")
    check(3)
    assert page.inner_text("#status").startswith("2. Nf3")
    page.keyboard.press("f")
    check(3)
    assert page.get_attribute("#flip", "aria-pressed") == "true"
    rook = page.locator('.board.light [data-piece="R"][data-square="a1"]')
    assert rook.bounding_box()["x"] > page.locator(".board.light svg").bounding_box()["x"] + 200
    box = page.locator("#curve").bounding_box()
    page.locator("#curve").click(position={"x": box["width"] / 2, "y": 20})
    check(7)
    page.click('#moves button[data-ply="5"][data-better="0"]')
    check(5)
    assert page.get_attribute('#moves button[data-ply="5"][data-better="0"]', "aria-current") == "true"
    # Better lines are shown, too.
    data = Elements(page.content()).data()[0]
    index = next(i for i, move in enumerate(data["moves"]) if "m" in move)
    page.keyboard.press("f")
    page.keyboard.press("Home")
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


def test_the_address_and_keys_open_each_game(visit: Visit) -> None:
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


@pytest.mark.parametrize(("scheme", "other"), [("light", "dark"), ("dark", "light")])
@pytest.mark.parametrize("width", [360, 1920])
def test_it_fits_the_screen_and_is_accessible(width: int, scheme: str, other: str, visit: Visit) -> None:
    page = visit(GAMES, viewport={"width": width, "height": 800}, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.is_visible(f".board.{scheme}")
    assert not page.is_visible(f".board.{other}")
    assert 300 <= page.locator(f".board.{scheme} svg").bounding_box()["width"] <= 660
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="the browser extra is not installed"
    )
    page.keyboard.press("m")
    faults = axe.Axe().run(page).response["violations"] if width == 360 else []
    assert [(fault["id"], [node["html"] for node in fault["nodes"]]) for fault in faults] == []


def test_nasty_text_does_nothing(visit: Visit) -> None:
    value = NASTY.replace('"', '\\"')
    page = visit(f'[White "{value}"]\n[Black "B"]\n\n1. e4 {{{NASTY}}} e5 *\n')
    page.keyboard.press("ArrowRight")
    assert "<script>alert(1)</script>" in page.inner_text("#players")
    assert page.locator("img").count() == 0
