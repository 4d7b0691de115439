"""The page of `moff review --html`: its content, and its behaviour in a browser if there is one."""

import base64
import hashlib
import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import chess
import chess.pgn
import pytest

from moff.accuracy import expected_score
from moff.reviews.analysis import Assessment
from moff.reviews.report import Page
from moff.reviews.reviewed import ReviewedGame
from tests.page_source import Elements
from x88.movegen import legal_moves
from x88.notation import fen, pgn

pytestmark = pytest.mark.slow

NASTY = "</script><script>alert(1)</script><!-- & \"'<img src=x onerror=alert(2)> \u2028 \x00 ü"

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
        game.write("Moff")
        page.add(game)
    return page.html()


def report_in(text: str) -> Any:
    """What the script reads: the title, the games, and how they were searched."""
    return json.loads(next(code for kind, code in Elements(text).texts if kind == "script"))["report"]


def test_the_page_needs_nothing_else_and_allows_only_its_own_script() -> None:
    text = page_of(read(GAMES))
    page = Elements(text)
    for name, attributes in page.found:
        assert name not in ("iframe", "img", "object", "embed", "form", "base")
        assert not attributes.keys() & {"src", "srcset", "style", "onclick", "onload"}
        assert re.match("#|data:", attributes.get("href") or "#")
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
    policy = next(a["content"] for name, a in page.found if name == "meta" and "http-equiv" in a) or ""
    hashes = {
        kind: base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
        for kind, code in page.texts
        if not code.startswith("{")
    }
    style, script = (f"{kind}-src 'sha256-{hashes[kind]}'" for kind in ("style", "script"))
    assert policy.startswith(f"default-src 'none'; {script}; {style}; ")
    assert "unsafe" not in policy


def test_the_summary_and_the_data_agree_with_the_games() -> None:
    games = read(GAMES)
    text = page_of(games)
    assert "<title>Review of 3 games</title>" in text
    report = report_in(text)
    assert report["about"].startswith("Moff, 5 nodes a move. Marks by the win probability that a move lost: ")
    parsed = io.StringIO(GAMES)
    for game, found in zip(games, report["games"], strict=True):
        theirs = chess.pgn.read_game(parsed)
        board = theirs.board()
        assert (found["result"], found["start"]) == (theirs.headers["Result"], board.fen())
        assert found["tags"].items() >= {
            (name, text) for name, text in theirs.headers.items() if text != "?" and name in game.game.tags
        }
        if not game.judgements:
            assert found["summary"] is None
            continue
        children: dict[int, list[Any]] = {}
        for move in found["moves"]:
            children.setdefault(move["parent"], []).append(move)
        at = 0
        for i, node in enumerate(theirs.mainline()):
            move, *better = children[at]
            assert (move["san"], move["uci"]) == (board.san(node.move), node.move.uci())
            # The better line is one of the variations, and all of it is legal.
            if game.judgements[i].mark:
                assert better[0]["san"] == game.better[i][0].san
            for step in better:
                line = board.copy()
                following: Any = [step]
                while following:
                    assert line.push_san(following[0]["san"]).uci() == following[0]["uci"]
                    following = children.get(following[0]["node"])
            board.push(node.move)
            assert move["eval"]["share"] == round(1000 * expected_score(game.scores[i + 1]))
            assert move["eval"]["text"].lstrip("+") == game.evaluation(i + 1)
            assert move.get("glyph", "") == game.judgements[i].mark
            if game.judgements[i].mark:
                assert move["refutation"][0] == game._best(i + 1)[0]
            at = move["node"]
        for side, total in zip(found["summary"]["sides"], game.tallies, strict=True):
            assert side["accuracy"] == (None if total.accuracy is None else f"{total.accuracy:.1f}")
            assert side["marks"] == [*total.marks.values()]
        moments = found["summary"]["moments"]
        marked = sorted((judged.loss for judged in game.judgements if judged.mark), reverse=True)
        assert sorted((moment["loss"] for moment in moments), reverse=True) == [
            round(100 * loss) for loss in marked[:5]
        ]
    first = report["games"][0]
    assert (first["root"]["comment"], first["moves"][0]["comment"]) == ("first", "a move")
    assert first["moves"][0]["clock"] == "01:00"


def test_text_of_the_games_stays_text() -> None:
    value = NASTY.replace('"', '\\"')
    text = page_of(read(f'[White "{value}"]\n[Black "B"]\n[Event "{value}"]\n\n1. e4 {{{NASTY}}} e5 *\n'))
    page = Elements(text)
    known = Elements(page_of(read("1. e4 e5 *\n")))
    assert [name for name, _ in page.found] == [name for name, _ in known.found]
    assert not {*"<>&"} & {*next(code for kind, code in page.texts if kind == "script")}
    (game,) = report_in(text)["games"]
    assert game["tags"]["White"] == NASTY.replace("\x00", game["tags"]["White"][-3])
    assert "<img src=x onerror=alert(2)>" in game["moves"][0]["comment"]


def test_a_page_may_have_no_games_no_moves_and_null_moves() -> None:
    assert report_in(page_of([]))["games"] == []
    text = page_of(read('[Variant "Atomic"]\n\n1. e4 *\n\n1. e4 -- 2. Qh5 e5 *\n'))
    atomic, null = report_in(text)["games"]
    assert (atomic["moves"], atomic["fault"]) == ([], "line 1: Moff does not play the variant 'Atomic'")
    main = [move for move in null["moves"] if move["san"] == "--"]
    assert [(move["uci"], move.get("glyph")) for move in main] == [("", None)]


def test_five_games_are_a_small_file() -> None:
    moves = " ".join(["Nf3 Nf6 Ng1 Ng8"] * 20)
    # Half of these invented evaluations are blunders, each with eight plies of a better line.
    assert len(page_of(read(f"1. {moves} *\n\n" * 5))) < 400_000


# In a browser.


Visit = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser without a network; without one, the tests that need it are skipped."""
    from tests import board_page

    with board_page.browser() as started:
        yield started


@pytest.fixture
def visit(browser: Any, tmp_path: Path) -> Iterator[Visit]:
    """A function that opens a page of games; nothing may go wrong on it."""
    from tests.board_page import Page

    pages: list[Page] = []

    def opened(text: str, address: str = "", **how: Any) -> Page:
        path = tmp_path / "page.html"
        path.write_text(page_of(read(text)), encoding="utf-8")
        pages.append(Page(browser.new_context(offline=True, **how), path.as_uri() + address))
        return pages[-1]

    yield opened
    complaints = [complaint for page in pages for complaint in page.complaints]
    for page in pages:
        page.page.context.close()
    assert complaints == []


def test_keys_buttons_curve_and_moves_step_through_a_game(visit: Visit) -> None:
    from tests.board_page import expect

    one = visit(GAMES, "#game-1")
    page = one.page
    game = chess.pgn.read_game(io.StringIO(GAMES))
    boards = [game.board(), *(node.board() for node in game.mainline())]
    for board in boards:
        one.expect_position(board)
        page.keyboard.press("ArrowRight")
    one.expect_position(boards[-1])
    page.click("#previous")
    one.expect_position(boards[-2])
    page.keyboard.press("Home")
    one.expect_position(boards[0])
    page.click("#last")
    one.expect_position(boards[-1])
    page.keyboard.press("f")
    one.expect_position(boards[-1])
    assert one.square("a1").bounding_box()["x"] > one.square("h1").bounding_box()["x"]
    page.keyboard.press("f")
    curve = page.locator("#curve [role=slider]")
    box = curve.bounding_box()
    curve.click(position={"x": box["width"] / 2, "y": 20})
    one.expect_position(boards[7])
    expect(curve).to_have_attribute("aria-valuenow", "7")
    page.locator("#moves .pair .move", has_text="Nf3").first.click()
    one.expect_position(boards[3])
    expect(page.locator("#moves [aria-current]")).to_contain_text("Nf3")
    # The marks, the better lines and the refutation.
    data = report_in(page.content())["games"][0]
    marked = next(move for move in data["moves"] if move.get("glyph"))
    page.keyboard.press("Home")
    page.keyboard.press("m")
    expect(page.locator("#moves [aria-current]")).to_contain_text(marked["san"] + marked["glyph"])
    expect(page.locator('#arrows [data-name="refutation"]')).to_have_attribute(
        "data-arrow", marked["refutation"][0][:4]
    )
    page.locator("#moves .variation .move").first.click()
    better = next(move for move in data["moves"] if move["parent"] == marked["parent"] and move != marked)
    board = boards[marked["parent"]].copy()
    board.push_uci(better["uci"])
    one.expect_position(board)
    moment = data["summary"]["moments"][-1]["node"]
    page.click(f'[data-moment="{moment}"]')
    expect(page.locator(f'#moves [data-node="{moment}"]')).to_have_attribute("aria-current", "true")
    page.keyboard.press("M")
    expect(page.locator(f'#moves [data-node="{moment}"]')).not_to_have_attribute("aria-current", "true")


def test_a_report_can_be_read_but_not_changed(visit: Visit) -> None:
    from tests.board_page import expect

    one = visit(GAMES, "#game-1")
    one.square("e2").click()
    one.square("e2").drag_to(one.square("e4"))
    expect(one.page.locator(".target, .selected, .ghost")).to_have_count(0)
    one.expect_position(chess.Board())
    texts = ("New game", "Set up", "Annotate", "Play on", "Resign", "Save", "Engine", "Threads")
    for text in texts:
        expect(one.page.get_by_text(text, exact=True)).to_have_count(0)
    expect(one.page.locator("#file, #pasted, #typed-move, #tab-play, #tab-generator")).to_have_count(0)


def test_the_address_and_keys_open_each_game(visit: Visit) -> None:
    from tests.board_page import expect

    one = visit(GAMES, "#game-2")
    page = one.page
    above, below = page.locator("#above .name"), page.locator("#below .name")
    expect(below).to_have_text("Black is first")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#moves [aria-current]")).to_contain_text("h5")
    page.keyboard.press("n")
    expect(below).to_have_text("no moves")
    page.keyboard.press("p")
    page.keyboard.press("p")
    expect(below).to_have_text("Anna (2000)")
    expect(above).to_have_text("Berta")
    assert page.url.endswith("#game-1")
    page.click("#tab-games")
    expect(page.locator("#games-rows tr[data-game]")).to_have_count(3)
    page.fill("#games-words", "black is")
    page.locator("#games-rows tr[data-game]").click()
    expect(below).to_have_text("Black is first")
    page.goto(page.url.split("#")[0] + "#game-99")
    expect(below).to_have_text("Anna (2000)")
    # Without an address, several games begin with their list.
    other = visit(GAMES)
    expect(other.page.locator("#games-rows tr[data-game]").first).to_contain_text("Anna")
    expect(other.page.locator("#panel-games")).to_contain_text("Moff, 5 nodes a move")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(360, 740), (844, 390), (1920, 1080)], ids=str)
def test_it_fits_the_screen_and_is_accessible(size: tuple[int, int], scheme: str, visit: Visit) -> None:
    width, height = size
    viewport = {"width": width, "height": height}
    one = visit(GAMES, "#game-1", viewport=viewport, color_scheme=scheme)
    one.page.keyboard.press("m")
    for view in ("analyse", "games"):
        one.page.click(f"#tab-{view}")
        assert one.page.evaluate("document.documentElement.scrollWidth") <= width
        box = one.page.locator("#board").bounding_box()
        assert box["width"] == pytest.approx(box["height"], abs=1)
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= height
        assert one.serious_faults() == []
    shade = one.page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    assert (sum(shade) > 384) == (scheme == "light")


def test_nasty_text_does_nothing(visit: Visit) -> None:
    value = NASTY.replace('"', '\\"')
    one = visit(f'[White "{value}"]\n[Black "B"]\n\n1. e4 {{{NASTY}}} e5 *\n')
    one.page.keyboard.press("ArrowRight")
    assert "<script>alert(1)</script>" in one.page.inner_text("#below .name")
    assert "<img src=x" in one.page.inner_text("#moves .comment")
    assert one.page.locator("img").count() == 0
