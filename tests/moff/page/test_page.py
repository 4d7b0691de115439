"""The board page in a real browser: games by mouse, touch and keyboard, analysis, reviews, lessons, studies,
the generator, settings, accessibility.
"""

import io
import re
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import chess.polyglot
import pytest

from moff.page.command import read_games
from moff.page.gamereview import GameReview
from tests.board_page import DESKTOP, LANDSCAPE, PATIENCE, PHONE, Page, browser, expect, served
from tests.client import ENGINE
from tests.oracle import SHARED
from x88.book.book import Book

pytestmark = pytest.mark.slow

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
PROMOTION = "8/P6k/8/8/8/8/p6K/8 w - - 0 1"
SCHOLAR = ["e2e4", "e7e5", "d1h5", "b8c6", "f1c4", "g8f6", "h5f7"]
BLUNDERS = "1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. a3 d6 5. Qxf7# *"
"""Black lets a mate in one happen, White does not see it, and Black lets it happen again."""

TOUCH = {"has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as started:
        yield started


class Desk:
    """A server, and pages of it."""

    def __init__(self, chromium: Any, server: Any) -> None:
        self.chromium = chromium
        self.server = server
        self.contexts: list[Any] = []
        self.pages: list[Page] = []

    def open(self, context: Any = None, address: str = "", **options: Any) -> Page:
        """A page in a new window, or in another tab of the same one."""
        if context is None:
            context = self.chromium.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
            self.contexts.append(context)
        self.pages.append(Page(context, self.server.url + address))
        return self.pages[-1]


@contextmanager
def desk_with(chromium: Any, **content: Any) -> Iterator[Desk]:
    """A server with some content and its pages, of which none may have complained in the end."""
    with served(**content) as server:
        one = Desk(chromium, server)
        yield one
        complaints = [complaint for page in one.pages for complaint in page.complaints]
        for context in one.contexts:
            context.close()
        assert complaints == []


@pytest.fixture
def desk(chromium: Any) -> Iterator[Desk]:
    """A server that nothing was given to."""
    with desk_with(chromium) as one:
        yield one


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reviews that take a moment."""
    monkeypatch.setattr(GameReview.__init__, "__defaults__", (3000,))


def lift(page: Page, origin: str, over: str) -> None:
    """Drag a piece from its square to above another one, and keep it in the hand."""
    expect(page.square(origin)).to_have_class(re.compile("movable"))
    page.page.mouse.move(*page.centre(origin))
    page.page.mouse.down()
    page.page.mouse.move(*page.centre(over), steps=3)
    expect(page.page.locator(".ghost")).to_have_count(1)


def release(page: Page, held: list[Any]) -> None:
    """Let a request go on that a route has held up, or holds up soon."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not held:
        assert time.monotonic() < deadline
        page.page.wait_for_timeout(20)
    held.pop().continue_()


class Fingers:
    """Fingers on a touch screen."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.devtools = page.page.context.new_cdp_session(page.page)

    def touch(self, kind: str, *squares: str) -> None:
        """Where the fingers are: "Start", "Move" or "End"."""
        points = [self.page.centre(square) for square in squares]
        fingers = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]
        self.devtools.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": fingers})


def pgn_of(page: Page) -> chess.pgn.Game:
    """The game that the page lets one download, as python-chess reads it."""
    address = page.page.eval_on_selector("#download", "(link) => link.href")
    return read(page.page.request.get(address).text())


def read(text: str) -> chess.pgn.Game:
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    assert game.errors == []
    return game


# --- The first screen, and new games


def test_the_first_screen_asks_one_question(desk: Desk) -> None:
    page = desk.open()
    expect(page.page.locator("#home h2")).to_have_text("What would you like to do?")
    expect(page.page.locator("#home button")).to_have_count(3)
    expect(page.page.locator("input:visible, select:visible, textarea:visible")).to_have_count(1)
    for choice, shown in (("play", "#new-game-sheet"), ("analyse", "#editor"), ("review", "#pasted")):
        page.page.reload()
        page.page.click(f"#choose-{choice}")
        expect(page.page.locator(shown)).to_be_visible()
        expect(page.page.locator("#home")).to_be_visible(visible=choice == "play")
        if choice == "analyse":
            page.page.click("#edit-cancel")
            page.page.click("#tab-play")


def test_a_move_on_the_first_screen_begins_a_game(desk: Desk) -> None:
    page = desk.open()
    page.drag("e2", "e4")
    expect(page.page.locator("#moves .san")).to_have_count(2)
    expect(page.page.locator("#panel-play")).to_be_visible()
    expect(page.page.locator("#home")).to_be_hidden()


def test_every_level_can_be_chosen_and_says_what_it_is(desk: Desk) -> None:
    page = desk.open()
    page.page.click("#choose-play")
    levels = page.page.locator("#new-game-form label:has([name=level])").all()
    assert len(levels) > 5
    for level in levels[:-1]:
        assert re.search(r"Elo \d+|Full strength", level.inner_text())
        assert level.locator(".sentence").inner_text().endswith(".")
    name = levels[0].locator("strong").inner_text()
    levels[0].click()
    page.begin()
    expect(page.page.locator("#above .name")).to_contain_text(f"· {name}")
    page.click("e2", "e4")
    elo = re.search(r"Elo (\d+)", levels[0].text_content())[1]
    assert pgn_of(page).headers["BlackElo"] == elo


def test_own_strength_and_own_clock(desk: Desk) -> None:
    page = desk.open()
    page.page.click("#choose-play")
    page.choose("colour", "black")
    page.choose("level", "own")
    page.choose("clock", "own")
    for field, value in (("elo", ""), ("minutes", "1"), ("increment", "5")):
        page.page.fill(f"#new-game-form [name={field}]", value)
    page.page.click("#begin")
    complaint = page.page.locator("#new-game-form .complaint")
    expect(complaint).to_contain_text("Elo takes a whole number from")
    page.page.fill("#new-game-form [name=elo]", "1234")
    page.begin()
    expect(page.page.locator("#moves .san")).to_have_count(1)
    assert page.square("a1").bounding_box()["y"] < page.square("a8").bounding_box()["y"]
    expect(page.page.locator("#above .name")).to_contain_text("Elo 1234")
    expect(page.page.locator("#below .clock")).to_have_class(re.compile("running"))
    expect(page.page.locator("#below .clock")).to_have_text(re.compile(r"0:5\d"))
    headers = pgn_of(page).headers
    assert (headers["WhiteElo"], headers["TimeControl"]) == ("1234", "60+5")


def test_a_game_that_goes_on_is_not_lost_without_a_question(desk: Desk) -> None:
    page = desk.open()
    page.new_game(colour="white")
    page.click("e2", "e4")
    expect(page.page.locator("#moves .san")).to_have_count(2)
    for button in ("#new-game", "#resign"):
        page.page.click(button)
        page.page.click(".question button:not(.primary)")
        expect(page.page.locator("dialog:visible")).to_have_count(0)
        expect(page.page.locator("#moves .san")).to_have_count(2)
    page.page.click("#resign")
    page.page.click(".question .primary")
    expect(page.page.locator("#turn")).to_have_text("0-1 (White resigns)")
    page.page.click("#rematch")
    # The colours change, and the engine begins.
    expect(page.page.locator("#turn")).to_have_text("Your move.")
    expect(page.page.locator("#moves .san")).to_have_count(1)
    expect(page.page.locator("#board .square").first).to_have_attribute("data-square", "h1")
    page.click("e7", "e5")
    expect(page.page.locator("#moves .san")).to_have_count(3)
    page.page.click("#new-game")
    page.page.click(".question .primary")
    page.begin(colour="both")
    page.expect_moves()


# --- Playing


@pytest.mark.parametrize("way", ["clicks", "drags", "taps"])
def test_a_game_is_played_to_mate(desk: Desk, way: str) -> None:
    page = desk.open(**({"viewport": PHONE, **TOUCH} if way == "taps" else {}))
    page.new_game()
    board = chess.Board()
    sans = []
    for text in SCHOLAR:
        if way == "drags":
            page.drag(text[:2], text[2:])
        else:
            page.press(text[:2], is_tap=way == "taps")
            targets = page.page.locator("#board .target")
            expected = {
                chess.square_name(m.to_square) for m in board.legal_moves if m.uci().startswith(text[:2])
            }
            expect(targets).to_have_count(len(expected))
            assert {square.get_attribute("data-square") for square in targets.all()} == expected
            page.press(text[2:], is_tap=way == "taps")
        sans.append(board.san(chess.Move.from_uci(text)))
        board.push_uci(text)
        page.expect_moves(*sans)
        page.expect_position(board)
        assert {
            square.get_attribute("data-square") for square in page.page.locator("#board .last").all()
        } == {text[:2], text[2:]}
    expect(page.page.locator("#turn")).to_have_text("1-0 (checkmate)")
    expect(page.page.locator("#said")).to_contain_text("Qxf7#. 1-0: checkmate")
    expect(page.square("e8")).to_have_class(re.compile("check"))
    expect(page.square("e8")).to_have_attribute("aria-label", "e8, black king, in check")
    expect(page.page.locator("#below .captured")).to_have_attribute("aria-label", "Captured: 1, ahead by 1")
    game = pgn_of(page)
    assert [move.uci() for move in game.mainline_moves()] == SCHOLAR
    assert (game.headers["Result"], game.headers["Termination"]) == ("1-0", "checkmate")


@pytest.mark.parametrize("way", ["clicks", "drags"])
def test_a_game_of_chess960_castles_by_the_king_onto_its_rook(desk: Desk, way: str) -> None:
    page = desk.open()
    page.page.click("#choose-play")
    page.choose("start", "chess960")
    page.page.fill("#new-game-form [name=number]", "3")
    page.begin(colour="both")
    expect(page.page.locator("#said")).to_contain_text("from start position 3 of Chess960")
    board = chess.Board.from_chess960_pos(3)
    # King and rook change places.
    for text in ("f1g1", "e7e5", "e2e4", "f8g8"):
        page.click(text[:2], text[2:]) if way == "clicks" else page.drag(text[:2], text[2:])
        board.push_uci(text)
        expect(page.page.locator("#moves .san")).to_have_count(len(board.move_stack))
        page.expect_position(board)
    page.expect_moves("O-O", "e5", "e4", "O-O")
    game = pgn_of(page)
    assert game.headers["Variant"] == "Chess960"
    assert game.end().board().fen() == board.fen()


@pytest.mark.parametrize("target", ["g1", "h1"])
def test_the_king_castles_onto_its_square_or_onto_its_rook(desk: Desk, target: str) -> None:
    page = desk.open()
    page.set_up("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1")
    page.drag("e1", target)
    page.expect_moves("O-O")
    page.expect_position(chess.Board("4k3/8/8/8/8/8/8/R4RK1 b - - 1 1"))


def test_the_engine_answers_and_its_moves_can_be_taken_back(desk: Desk) -> None:
    page = desk.open()
    page.new_game(colour="white")
    expect(page.page.locator("#redo, #take-back")).to_have_count(2)
    for button in ("#redo", "#take-back", "#resign", "#draw"):
        expect(page.page.locator(button)).to_be_disabled()
    page.click("e2", "e4")
    expect(page.page.locator("#moves .san")).to_have_count(2)
    page.page.click("#take-back")
    page.expect_moves()
    page.expect_position(chess.Board())
    page.page.click("#redo")
    expect(page.page.locator("#moves .san")).to_have_count(2)
    expect(page.page.locator("#redo")).to_be_disabled()
    page.page.click("#hint")
    expect(page.page.locator("#notice")).to_have_text(re.compile("Hint: "))
    arrow = page.page.locator('#arrows [data-name="hint"]').get_attribute("data-arrow")
    page.click(arrow[:2], arrow[2:])
    expect(page.page.locator("#notice")).to_be_hidden()
    expect(page.page.locator("#arrows *")).to_have_count(0)


PROMOTIONS = [
    ("click", "q", DESKTOP),
    ("drag", "n", DESKTOP),
    ("tap", "q", PHONE),
    ("tap", "r", LANDSCAPE),
    ("tap", "b", {"width": 768, "height": 1024}),
]


@pytest.mark.parametrize(("way", "choice", "size"), PROMOTIONS)
def test_a_pawn_becomes_what_is_chosen(desk: Desk, way: str, choice: str, size: dict[str, int]) -> None:
    page = desk.open(viewport=size, **(TOUCH if way == "tap" else {}))
    page.set_up(PROMOTION)
    board = chess.Board(PROMOTION)
    choices = page.page.locator("#promotion button")
    for number, (origin, target) in enumerate((("a7", "a8"), ("a2", "a1"))):
        if way == "drag":
            page.drag(origin, target)
        else:
            page.press(origin, is_tap=way == "tap")
            page.press(target, is_tap=way == "tap")
        expect(choices).to_have_count(4)
        if number == 0:
            # Not chosen yet: the square shows no piece, and who changes their mind keeps the pawn.
            page.page.keyboard.press("Escape")
            expect(choices).to_have_count(0)
            page.expect_position(board)
            page.press(origin, is_tap=way == "tap")
            page.press(target, is_tap=way == "tap")
        for button in choices.all():
            box = button.bounding_box()
            assert box["x"] >= 0 <= box["y"]
            assert box["x"] + box["width"] <= size["width"]
            assert box["y"] + box["height"] <= size["height"]
        chosen = page.page.locator(f'#promotion [data-choice="{choice}"]')
        chosen.tap() if way == "tap" else chosen.click()
        board.push_uci(f"{origin}{target}{choice}")
        page.expect_position(board)
        expect(page.page.locator("#moves .san")).to_have_count(number + 1)


FORCED = "k7/8/1K6/8/8/8/7R/8 w - - 0 1"
"""After any move of the rook, Black has one move."""


@pytest.mark.parametrize("way", ["clicks", "drags"])
def test_the_next_move_can_be_entered_while_the_engine_thinks(
    desk: Desk, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moff.page.tab.PACES", (PATIENCE, PATIENCE))
    page = desk.open()
    page.set_up(FORCED)
    page.page.click("#play-here")
    page.begin(colour="white")
    page.click("h2", "h3")
    expect(page.page.locator("#turn")).to_have_text("Moff is thinking …")
    entered = page.page.locator("#board .premove")
    page.click("b6", "b7")
    expect(entered).to_have_count(2)
    page.page.keyboard.press("Escape")
    expect(entered).to_have_count(0)
    page.click("b6", "b7")  # Black's king is on its way there
    page.page.click("#move-now")
    page.expect_moves("Rh3", "Kb8")
    expect(entered).to_have_count(0)
    expect(page.page.locator("#turn")).to_have_text("Your move.")
    page.click("h3", "h4")
    expect(page.page.locator("#turn")).to_have_text("Moff is thinking …")
    page.drag("h4", "h8") if way == "drags" else page.click("h4", "h8")
    expect(entered).to_have_count(2)
    page.page.click("#move-now")
    expect(page.page.locator("#moves .san")).to_have_text(
        ["Rh3", "Kb8", "Rh4", re.compile("K"), re.compile("Rh8")]
    )


def test_a_game_can_begin_anywhere_and_be_drawn_by_rule(desk: Desk) -> None:
    page = desk.open()
    page.set_up("7k/8/8/8/8/8/1q6/K7 w - - 0 1")
    page.page.click("#play-here")
    page.begin(colour="both")
    expect(page.page.locator("#panel-play")).to_be_visible()
    page.click("a1", "b2")
    page.expect_moves("Kxb2")
    expect(page.page.locator("#turn")).to_have_text("1/2-1/2 (insufficient material)")
    expect(page.page.locator("#said")).to_contain_text("insufficient material")


def test_a_reload_in_the_middle_goes_on_with_the_game(desk: Desk) -> None:
    page = desk.open()
    page.new_game()
    page.click("d2", "d4")
    page.expect_moves("d4")
    page.page.reload()
    page.expect_moves("d4")
    page.click("d7", "d5")
    page.expect_moves("d4", "d5")


def test_a_page_that_is_closed_ends_its_searches(desk: Desk) -> None:
    page = desk.open()
    page.set_up(KIWIPETE)
    page.switch("engine-on", True)
    expect(page.page.locator("#lines li").first).to_be_visible()
    (tab,) = desk.server.tabs._tabs.values()
    page.page.close()
    deadline = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < deadline:
        if tab.analyst.is_paused and not tab.analyst._thinker._is_searching:
            return
        time.sleep(0.05)
    pytest.fail("it goes on searching")


def test_two_tabs_have_a_game_each(desk: Desk) -> None:
    one = desk.open()
    other = desk.open(desk.contexts[0])
    for page, move in ((one, "e2e4"), (other, "c2c4")):
        page.page.bring_to_front()
        page.new_game()
        page.click(move[:2], move[2:])
    one.expect_moves("e4")
    other.expect_moves("c4")
    other.page.reload()
    other.expect_moves("c4")


def test_the_keyboard_is_enough(desk: Desk) -> None:
    page = desk.open()
    page.new_game()
    page.square("e2").focus()
    for key in ("Enter", "ArrowUp", "ArrowUp", "Enter"):
        page.page.keyboard.press(key)
    page.expect_moves("e4")
    page.page.fill("#typed-move", "Nc6")
    page.page.keyboard.press("Enter")
    page.expect_moves("e4", "Nc6")
    page.page.fill("#typed-move", "Ke3")
    page.page.keyboard.press("Enter")
    expect(page.page.locator("#complaint")).to_contain_text("not a legal move")
    page.page.locator("#flip").focus()
    page.page.keyboard.press("Home")
    expect(page.page.locator("#fen")).to_have_value(chess.STARTING_FEN)
    page.page.keyboard.press("?")
    expect(page.page.locator("#settings")).to_be_visible()
    page.page.keyboard.press("Escape")
    page.page.keyboard.press("u")
    page.expect_moves("e4")
    page.page.locator("#tab-play").focus()
    page.page.keyboard.press("ArrowRight")
    expect(page.page.locator("#panel-analyse")).to_be_visible()
    expect(page.page.locator("#tab-analyse")).to_be_focused()


def test_who_turns_the_board_by_the_keyboard_stays_on_it(desk: Desk) -> None:
    page = desk.open()
    page.new_game()
    page.square("e2").focus()
    page.page.keyboard.press("f")
    expect(page.page.locator("#board .square").first).to_have_attribute("data-square", "h1")
    for key in ("Enter", "ArrowDown", "ArrowDown", "Enter"):
        page.page.keyboard.press(key)
    page.expect_moves("e4")


def test_quick_steps_are_all_made(desk: Desk) -> None:
    page = desk.open()
    page.set_up("1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 *")
    page.expect_moves("e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4", "Nf6")
    page.page.locator("#flip").focus()
    for steps, key, last in ((7, "ArrowRight", "Ba4"), (4, "ArrowLeft", "Nf3")):
        page.page.evaluate(
            """([steps, key]) => {
                for (let i = 0; i < steps; i++)
                    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
            }""",
            [steps, key],
        )
        expect(page.page.locator("#moves [aria-current]")).to_contain_text(last)
        # Once all is answered, it is still there.
        page.page.wait_for_load_state("networkidle")
        expect(page.page.locator("#moves [aria-current]")).to_contain_text(last)


def test_what_has_happened_last_can_be_seen_until_it_is_over(desk: Desk) -> None:
    page = desk.open()
    page.new_game(colour="white")
    page.click("e2", "e4")
    expect(page.page.locator("#moves .san")).to_have_count(2)
    page.page.click("#draw")
    notice = page.page.locator("#notice")
    expect(notice).to_have_text("Draw declined: the engine accepts no draw before move 20")
    expect(notice).to_be_visible()
    page.page.click("#flip")
    expect(page.page.locator("#board .square").first).to_have_attribute("data-square", "h1")
    expect(notice).to_be_visible()
    page.click("d2", "d3")
    expect(notice).to_be_hidden()
    page.set_up("8/8/8/3k4/8/3K4/3P4/8 b")
    page.set_up('[Event "A"]\n[FEN "8/8"]\n\n*')
    expect(notice).to_contain_text("Game 1 is damaged: line 1: bad FEN '8/8'")


def test_another_finger_disturbs_no_drag(desk: Desk) -> None:
    page = desk.open(viewport=PHONE, **TOUCH)
    page.new_game()
    fingers = Fingers(page)
    expect(page.square("e2")).to_have_class(re.compile("movable"))
    for kind, *squares in (
        ("Start", "e2"), ("Move", "e3"), ("Start", "e3", "a2"), ("Move", "e4", "a2"), ("End", "e4"), ("End",)
    ):  # fmt: skip
        fingers.touch(kind, *squares)
    page.expect_moves("e4")
    expect(page.page.locator(".ghost")).to_have_count(0)


@pytest.mark.parametrize("over", ["e7", "e5"])
def test_a_piece_stays_in_the_hand_while_another_one_moves(over: str, desk: Desk) -> None:
    """It waits on its own square or over its target."""
    page = desk.open()
    page.new_game()
    mouse = page.page.mouse
    page.square("e2").focus()
    mouse.move(*page.centre("e7"))
    mouse.down()
    mouse.move(*page.centre(over), steps=3)
    for key in [*["ArrowDown"] * 5, "Enter", "ArrowUp", "ArrowUp", "Enter"]:
        page.page.keyboard.press(key)
    page.expect_moves("e4")
    if over != "e5":
        mouse.move(*page.centre("e5"), steps=3)
    mouse.up()
    page.expect_moves("e4", "e5")


def test_a_piece_that_is_put_back_when_it_may_not_move_is_not_selected(desk: Desk) -> None:
    page = desk.open()
    page.new_game()
    page.square("d2").focus()
    lift(page, "e2", "e3")
    for key in ("ArrowLeft", "Enter", "ArrowUp", "ArrowUp", "Enter"):
        page.page.keyboard.press(key)
    page.expect_moves("d4")
    page.page.mouse.move(*page.centre("e2"), steps=3)
    page.page.mouse.up()
    expect(page.page.locator(".ghost, .selected")).to_have_count(0)


def test_turning_the_board_empties_the_hand(desk: Desk) -> None:
    page = desk.open()
    page.new_game()
    lift(page, "e2", "d5")  # e4 when the board is turned
    page.page.keyboard.press("f")
    expect(page.page.locator("#board [data-square]").first).to_have_attribute("data-square", "h1")
    expect(page.page.locator(".ghost")).to_have_count(0)
    page.page.mouse.up()
    page.click("g1", "f3")
    page.expect_moves("Nf3")


def test_a_new_game_empties_the_hand(desk: Desk) -> None:
    page = desk.open()
    page.new_game()
    page.click("d2", "d4")
    page.expect_moves("d4")
    page.click("d7", "d5")
    page.expect_moves("d4", "d5")
    lift(page, "e2", "e3")
    page.page.evaluate("document.querySelector('#new-game-form').requestSubmit()")
    page.expect_moves()
    expect(page.page.locator(".ghost")).to_have_count(0)
    page.page.mouse.up()
    page.click("g1", "f3")
    page.expect_moves("Nf3")


def test_a_piece_that_is_moved_by_the_keyboard_leaves_the_hand(desk: Desk) -> None:
    page = desk.open()
    page.new_game()
    page.square("e2").focus()
    lift(page, "e2", "e3")
    for key in ("ArrowUp", "ArrowUp", "Enter"):
        page.page.keyboard.press(key)
    page.expect_moves("e4")
    expect(page.page.locator(".ghost")).to_have_count(0)
    page.page.mouse.up()
    page.click("e7", "e5")
    page.expect_moves("e4", "e5")


def test_a_click_that_slips_to_the_next_square_is_still_a_click(desk: Desk) -> None:
    page = desk.open()
    page.new_game()
    mouse = page.page.mouse
    x, y = page.centre("e2")
    edge = y - page.square("e2").bounding_box()["height"] / 2
    mouse.move(x, edge + 1)
    mouse.down()
    mouse.move(x, edge - 2)
    mouse.up()
    expect(page.square("e2")).to_have_class(re.compile("selected"))
    page.click("d2", "d4")
    page.expect_moves("d4")


# --- Arrows, circles, comments and marks


def shapes(page: Page) -> Any:
    """What the user has drawn."""
    return page.page.locator('#arrows [data-name="own"]')


def draw(page: Page, origin: str, target: str, *keys: str, button: str = "right") -> None:
    for key in keys:
        page.page.keyboard.down(key)
    page.page.mouse.move(*page.centre(origin))
    page.page.mouse.down(button=button)
    page.page.mouse.move(*page.centre(target), steps=3)
    page.page.mouse.up(button=button)
    for key in keys:
        page.page.keyboard.up(key)


DRAWN = {("green", "e2e4"), ("red", "d5"), ("blue", "g1f3"), ("yellow", "f7")}


@pytest.mark.parametrize("way", ["right button", "tool"])
def test_own_arrows_and_circles_stay_and_are_in_the_pgn(desk: Desk, way: str) -> None:
    page = desk.open()
    page.set_up("1. e4 e5 *")
    if way == "tool":
        page.page.click("#open-pens")
        for colour, squares in DRAWN:
            page.page.click(f'.pen[data-colour="{colour}"]')
            draw(page, squares[:2], squares[-2:], button="left")
        page.page.click("#open-pens")
    else:
        for (_, squares), keys in zip(sorted(DRAWN), (["Alt"], [], ["Shift"], ["Shift", "Alt"]), strict=True):
            draw(page, squares[:2], squares[-2:], *keys)
    expect(shapes(page)).to_have_count(4)
    page.page.reload()
    expect(shapes(page)).to_have_count(4)
    found = shapes(page).evaluate_all("(all) => all.map((one) => [one.dataset.colour, one.dataset.arrow])")
    assert {*map(tuple, found)} == DRAWN
    arrows = {(arrow.color, arrow.pgn()[1:]) for arrow in pgn_of(page).arrows()}
    assert arrows == DRAWN
    # They belong to a position, and are taken away by drawing them again, or all at once.
    page.page.click("#next")
    expect(shapes(page)).to_have_count(0)
    page.page.click("#previous")
    draw(page, "e2", "e4")
    expect(shapes(page)).to_have_count(3)
    page.page.click("#open-pens")
    page.page.click("#clear-shapes")
    expect(shapes(page)).to_have_count(0)
    # With the tool put away, in whatever way, pieces are moved again.
    page.page.click("#open-share")
    page.drag("e2", "e3")
    page.expect_moves("e4", "e3", "e5")
    expect(shapes(page)).to_have_count(0)


def test_a_long_press_draws_on_a_touch_screen(desk: Desk) -> None:
    page = desk.open(viewport=PHONE, **TOUCH)
    page.new_game()
    fingers = Fingers(page)
    # Not on a piece that can move: there, a person thinks with the finger on it.
    fingers.touch("Start", "e5")
    expect(shapes(page)).to_have_attribute("data-arrow", "e5")  # after a while
    fingers.touch("Move", "d5")
    fingers.touch("Move", "d4")
    fingers.touch("End")
    expect(shapes(page)).to_have_attribute("data-arrow", "e5d4")
    page.expect_moves()
    page.press("e2", is_tap=True)
    page.press("e4", is_tap=True)
    page.expect_moves("e4")


def test_evaluations_and_clocks_are_shown_and_never_as_text(desk: Desk) -> None:
    page = desk.open()
    page.set_up(
        "1. e4 {[%eval 0.3] [%clk 0:03:00] [%csl Gd4][%cal Re2e4] King's pawn} "
        "e5 {[%eval -2.25] [%clk 0:02:58]} 2. Nf3 {[%eval #-3] [%clk 0:02:50.5]} *"
    )
    expect(page.page.locator("#moves .eval")).to_have_text(["+0.30", "-2.25", "#-3"])
    expect(page.page.locator("#moves .comment")).to_have_text("King's pawn")
    expect(page.page.locator("#curve")).to_be_visible()
    expect(page.page.locator("#bar-text")).to_have_text("")
    for bar, below, above, drawn in (("+0.3", "03:00", None, 2), ("−2.3", "03:00", "02:58", 0)):
        page.page.click("#next")
        expect(page.page.locator("#bar-text")).to_have_text(bar)
        expect(page.page.locator("#below .clock")).to_have_text(below)
        expect(page.page.locator("#above .clock")).to_be_visible(visible=above is not None)
        if above:
            expect(page.page.locator("#above .clock")).to_have_text(above)
        expect(shapes(page)).to_have_count(drawn)
    page.page.click("#next")
    expect(page.page.locator("#bar-text")).to_have_text("#-3")
    page.page.click("#open-comment")
    assert "%" not in page.page.locator("#moves").inner_text() + page.page.input_value("#comment-text")


def test_comments_and_marks_are_typed(desk: Desk) -> None:
    page = desk.open()
    page.set_up("1. e4 {old} e5 *")
    page.page.locator("#moves .move", has_text="e4").click()
    page.page.keyboard.press("c")
    text = page.page.locator("#comment-text")
    expect(text).to_have_value("old")
    text.fill("A new\nremark")
    page.page.click('#annotation [data-glyph="!?"]')
    expect(page.page.locator("#moves .glyph")).to_have_text("!?")
    page.page.locator("#moves .move", has_text="e5").click()
    expect(text).to_have_value("")
    text.fill("Left by a click on another move")
    page.page.click("#first")
    page.page.reload()
    expect(page.page.locator("#moves .comment")).to_have_text(
        ["A new remark", "Left by a click on another move"]
    )
    first, second = pgn_of(page).mainline()
    assert (first.comment, first.nags) == ("A new remark", {5})
    assert second.comment == "Left by a click on another move"
    # The same mark again takes it away.
    page.page.locator("#moves .move", has_text="e4").click()
    page.page.keyboard.press("c")
    expect(page.page.locator('#annotation [data-glyph="!?"]')).to_have_attribute("aria-pressed", "true")
    page.page.click('#annotation [data-glyph="!?"]')
    expect(page.page.locator("#moves .glyph")).to_have_count(0)


# --- The board editor


def test_a_position_is_set_up_by_dragging_pieces_in_and_out(desk: Desk) -> None:
    page = desk.open()
    page.page.click("#choose-analyse")
    page.page.get_by_role("button", name="Empty board").click()
    for letter, square in (("K", "e1"), ("R", "h1"), ("k", "e8"), ("q", "d8"), ("P", "b5")):
        spare = page.page.locator(f'[data-spare="{letter}"]').bounding_box()
        page.page.mouse.move(spare["x"] + 5, spare["y"] + 5)
        page.page.mouse.down()
        page.page.mouse.move(*page.centre(square), steps=3)
        page.page.mouse.up()
    board = chess.Board("3qk3/8/8/1P6/8/8/8/4K2R w - - 0 1")
    page.expect_position(board)
    page.drag("h1", "a1")
    page.page.mouse.move(*page.centre("d8"))
    page.page.mouse.down()
    page.page.mouse.move(5, 5, steps=3)  # off the board
    page.page.mouse.up()
    board = chess.Board("4k3/8/8/1P6/8/8/8/R3K3 w Q - 0 1")
    page.expect_position(board)
    page.page.get_by_label("White O-O-O").check()
    expect(page.page.locator("#edit-fen")).to_have_value(board.fen())
    page.page.select_option("#edit-side", "b")
    page.page.click("#edit-done")
    expect(page.page.locator("#editor")).to_be_hidden()
    board.turn = chess.BLACK
    expect(page.page.locator("#fen")).to_have_value(board.fen())
    page.switch("engine-on", False)
    page.click("e8", "d8")
    page.expect_moves("Kd8")


def test_a_position_that_cannot_be_says_why_beside_the_field(desk: Desk) -> None:
    page = desk.open()
    page.page.click("#choose-analyse")
    complaint = page.page.locator("#editor-complaint")
    for fen, said in (
        ("8/8/8/8/8/8/8/K7 w - - 0 1", "king"),
        ("4k2R/8/8/8/8/8/8/K7 w - - 0 1", "check"),
        ("4k2P/8/8/8/8/8/8/K7 w - - 0 1", "pawn"),
    ):
        page.page.fill("#edit-fen", fen)
        page.page.keyboard.press("Enter")
        page.page.click("#edit-done")
        expect(complaint).to_contain_text(re.compile(said, re.IGNORECASE))
        expect(page.page.locator("#complaint")).to_be_hidden()
    box, field = complaint.bounding_box(), page.page.locator("#edit-fen").bounding_box()
    assert 0 <= box["y"] - field["y"] - field["height"] < 40
    page.page.click("#edit-cancel")
    page.expect_position(chess.Board())
    page.page.click("#edit")
    expect(page.page.locator("#edit-fen")).to_have_value(chess.STARTING_FEN)
    expect(complaint).to_be_hidden()


def test_a_position_is_set_up_by_tapping(desk: Desk) -> None:
    page = desk.open(viewport=PHONE, **TOUCH)
    page.page.tap("#choose-analyse")
    page.page.tap("#eraser")
    for square in ("d8", "a1"):
        page.square(square).tap()
    page.page.tap('[data-spare="Q"]')
    for square in ("e4", "e5", "e5"):  # the second one is taken back
        page.square(square).tap()
    board = chess.Board()
    for square in (chess.D8, chess.A1):
        board.remove_piece_at(square)
    board.set_piece_at(chess.E4, chess.Piece.from_symbol("Q"))
    page.expect_position(board)
    page.page.tap("#edit-done")
    expect(page.page.locator("#editor")).to_be_hidden()
    expect(page.page.locator("#notice")).to_have_text(
        "the castling right Q is dropped: White has no rook on a1."
    )
    board.castling_rights &= ~chess.BB_A1
    expect(page.page.locator("#fen")).to_have_value(board.fen())


def test_a_link_leads_to_its_position(desk: Desk) -> None:
    page = desk.open(permissions=["clipboard-read", "clipboard-write"])
    page.set_up(KIWIPETE)
    page.page.click("#open-share")
    page.page.click("#copy-link")
    link = page.page.evaluate("navigator.clipboard.readText()")
    other = desk.open(address=link.removeprefix(desk.server.url))
    expect(other.page.locator("#fen")).to_have_value(KIWIPETE)
    other.expect_position(chess.Board(KIWIPETE))
    wrong = desk.open(address="#fen=8/8/8/8/8/8/8/8_w_-_-")
    expect(wrong.page.locator("#complaint")).to_contain_text("bad FEN")


# --- Analysis


def test_lines_arrive_with_scores_bar_and_arrows(desk: Desk) -> None:
    page = desk.open()
    page.set_up(KIWIPETE, engine=True)
    lines = page.page.locator("#lines li")
    for button, counts in (("#more", (4, 5)), ("#fewer", (4, 3, 2, 1))):
        for count in counts:
            page.page.click(button)
            expect(lines).to_have_count(count)
            expect(page.page.locator("#arrows path")).to_have_count(count)
        expect(page.page.locator(button)).to_be_disabled()
    expect(page.page.locator("#effort")).to_have_text(re.compile(r"depth \d+ · .* nodes/s"))
    expect(page.page.locator("#bar")).to_have_attribute("aria-label", re.compile(r"Evaluation [-+]\d"))
    sans = page.page.locator("#lines li .san").all_text_contents()[:3]
    board = chess.Board(KIWIPETE)
    for san in sans:
        board.push_san(san)
    # A small board shows where a line leads.
    page.page.locator("#lines .move").nth(1).hover()
    expect(page.page.locator("#preview .piece").first).to_be_visible()
    page.page.locator("#lines .move").nth(1).click()
    expect(page.page.locator("#moves .san")).to_have_count(2)
    page.switch("engine-on", False)
    expect(lines).to_have_count(0)


def test_the_last_click_wins_though_its_command_overtakes_another(desk: Desk) -> None:
    held = []

    def pass_on(route: Any) -> None:
        held.append(route) if '"hash":128' in route.request.post_data else route.continue_()

    page = desk.open()
    page.set_up(KIWIPETE)
    page.page.route("**/do?*", pass_on)
    page.page.select_option("#set-hash", "128", force=True)
    page.page.select_option("#set-hash", "32", force=True)
    release(page, held)
    page.page.unroute("**/do?*")
    page.switch("engine-on", True)
    expect(page.page.locator("#lines .move").first).to_be_visible()
    expect(page.page.locator("#set-hash")).to_have_value("32")
    (tab,) = desk.server.tabs._tabs.values()
    assert tab.analyst.hash == 32


def test_a_live_line_keeps_the_focus_and_is_followed_as_it_was_shown(desk: Desk) -> None:
    page = desk.open()
    page.set_up(KIWIPETE, engine=True)
    move = page.page.locator("#lines .move").nth(1)
    move.focus()
    effort = page.page.locator("#effort")
    expect(effort).not_to_have_text(effort.text_content())
    assert move.evaluate("(button) => button === document.activeElement")
    # Pressed on the keyboard at one moment: what is shown then is played, whatever is found until it arrives.
    sans = page.page.evaluate(
        """() => {
            const shown = [...document.querySelectorAll("#lines li:first-child .san")];
            const sans = shown.slice(0, 2).map((san) => san.textContent);
            document.activeElement.click();
            return sans;
        }"""
    )
    page.expect_moves(*sans)


def test_a_move_of_the_list_keeps_the_focus_when_marks_appear(desk: Desk) -> None:
    page = desk.open()
    page.set_up("1. f3 e5 2. g4 Qh4# *")
    page.switch("engine-on", True)
    page.page.locator("#moves .move", has_text="g4").focus()
    page.page.keyboard.press("Enter")
    expect(page.page.locator("#moves .glyph")).to_have_text("??")
    expect(page.page.locator("button:focus")).to_contain_text("g4")


def test_a_switch_that_still_shows_an_older_state_is_not_sent_with_another_one(desk: Desk) -> None:
    page = desk.open()
    page.set_up(KIWIPETE)
    page.page.evaluate(
        """() => {
            const [on, threat] = ["engine-on", "engine-threat"].map((id) => document.getElementById(id));
            on.click();
            on.setAttribute("aria-checked", "false"); // as a state that was on its way leaves it
            threat.click();
        }"""
    )
    expect(page.page.locator("#threat")).to_be_visible()
    expect(page.page.locator("#engine-on")).to_have_attribute("aria-checked", "true")


def test_moves_that_are_tried_are_marked_and_a_blunder_is_refuted(desk: Desk) -> None:
    page = desk.open()
    page.set_up("rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq - 0 2", engine=True)
    page.click("b8", "c6")
    expect(page.page.locator("#board .mark")).to_be_visible()
    page.page.click("#first")
    page.click("d8", "h4")
    expect(page.page.locator("#verdict")).to_have_text("Qh4#: the only good move")
    page.set_up("r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR b KQkq - 3 3", engine=True)
    page.click("a7", "a6")
    expect(page.page.locator("#board .mark")).to_have_text("??")
    expect(page.page.locator('#arrows [data-arrow="f3f7"]')).to_have_attribute("data-name", "refutation")
    expect(page.page.locator("#verdict")).to_contain_text("a6: a blunder")
    expect(page.page.locator("#moves .glyph")).to_have_text("??")
    assert [node.nags for node in pgn_of(page).mainline()] == [{4}]


def test_the_threat_is_shown_but_not_in_check(desk: Desk) -> None:
    page = desk.open()
    page.set_up("r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR b KQkq - 3 3")
    page.switch("engine-threat", True)
    expect(page.page.locator("#threat")).to_contain_text("Qxf7#")
    expect(page.page.locator('#arrows [data-name="threat"]')).to_have_attribute("data-arrow", "f3f7")
    page.set_up("4k3/8/8/8/8/8/4R3/4K3 b - - 0 1")
    expect(page.page.locator("#threat")).to_contain_text("in check")


def test_variations_are_walked_through_promoted_and_deleted(desk: Desk) -> None:
    page = desk.open()
    page.set_up("1. e4 e5 (1... c5 2. Nf3) 2. Nc3 *")
    page.expect_moves("e4", "e5", "c5", "Nf3", "Nc3")
    for san in ("Nf3", "Nc3"):
        page.page.locator("#moves .move", has_text=san).click()
        expect(page.page.locator("#moves [aria-current]")).to_contain_text(san)
    page.page.click("#first")
    page.page.click("#next")
    expect(page.page.locator("#moves [aria-current]")).to_contain_text("e4")
    page.page.locator("#moves .move", has_text="Nf3").click()
    page.page.click("#open-comment")
    page.page.click("#promote")
    page.expect_moves("e4", "c5", "e5", "Nc3", "Nf3")
    page.page.locator("#moves .move", has_text="e5").click()
    page.page.click("#delete")
    page.expect_moves("e4", "c5", "Nf3")
    page.page.click("#open-share")
    page.page.click("#show-fens")
    board = chess.Board()
    fens = [board.fen()]
    for san in ("e4", "c5", "Nf3"):
        board.push_san(san)
        fens.append(board.fen())
    expect(page.page.locator("#fens code")).to_have_text(fens)


def test_what_is_deleted_is_the_move_that_was_just_chosen(desk: Desk) -> None:
    page = desk.open()
    page.set_up("1. e4 e5 2. Nf3 Nc6 *")
    page.expect_moves("e4", "e5", "Nf3", "Nc6")
    page.page.click("#next")
    expect(page.page.locator("#moves [aria-current]")).to_contain_text("e4")
    page.page.evaluate(
        """() => {
            [...document.querySelectorAll("#moves .move")].at(-1).click();
            document.getElementById("delete").click();
        }"""
    )
    page.expect_moves("e4", "e5", "Nf3")


LIST = """(list) => {
    const move = list.querySelector("[aria-current]");
    const top = move.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientTop;
    return {above: top, below: list.clientHeight - top - move.offsetHeight, scrolled: list.scrollTop};
}"""
"""Where the move on the board is in the list of moves, in pixels."""


def test_the_list_shows_the_move_on_the_board_and_stays_where_it_is_if_that_can_be_seen(desk: Desk) -> None:
    page = desk.open(viewport={"width": 1280, "height": 720})
    board = chess.Board()
    sans = []
    for number in range(160):
        move = chess.Move.from_uci(("g1f3", "g8f6", "f3g1", "f6g8")[number % 4])
        sans.append(board.san(move))
        board.push(move)
    page.set_up(" ".join(sans) + " *")
    page.expect_moves(*sans)
    moves, listed = page.page.locator("#moves"), page.page.locator("#moves .move")
    for number in (159, 120, 80, 40, 0, 81):
        listed.nth(number).evaluate("(button) => button.click()")
        expect(listed.nth(number)).to_have_attribute("aria-current", "true")
        found = moves.evaluate(LIST)
        assert found["above"] >= 0
        assert found["below"] >= 0
    # Scroll it to the first row that is seen; the new variation appears below it.
    moves.evaluate("(list, above) => { list.scrollTop += above - 10; }", found["above"])
    before = moves.evaluate(LIST)["scrolled"]
    assert before > 0
    page.click("e2", "e4")
    expect(page.page.locator("#moves [aria-current]")).to_contain_text("e4")
    assert moves.evaluate(LIST)["scrolled"] == before


def test_a_move_that_is_typed_while_the_last_one_is_on_its_way_is_kept(desk: Desk) -> None:
    held: list[Any] = []
    page = desk.open()
    page.new_game()
    page.page.route("**/do?*", lambda route: held.append(route))
    page.page.fill("#typed-move", "e4")
    page.page.keyboard.press("Enter")
    page.page.fill("#typed-move", "e5")
    release(page, held)
    page.page.unroute("**/do?*")
    page.expect_moves("e4")
    expect(page.page.locator("#typed-move")).to_have_value("e5")
    page.page.keyboard.press("Enter")
    page.expect_moves("e4", "e5")
    expect(page.page.locator("#typed-move")).to_have_value("")


# --- Reviews and lessons


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_a_game_is_reviewed_and_its_mistakes_are_learnt_from(desk: Desk, size: dict[str, int]) -> None:
    is_tap = size == PHONE
    page = desk.open(viewport=size, **(TOUCH if is_tap else {}))
    page.set_up(BLUNDERS)
    page.page.click("#review-this")
    expect(page.page.locator("#notice")).to_have_text("The game has been reviewed")
    expect(page.page.locator("#review-progress")).to_be_hidden()
    if is_tap:
        page.page.tap("#summary summary")
    rows = page.page.locator("#summary tbody tr")
    expect(rows).to_have_count(2)
    for row, blunders in zip(rows.all(), ("1", "2"), strict=True):
        cells = row.locator("td").all_text_contents()
        assert re.fullmatch(r"\d+\.\d %", cells[0])
        assert cells[-1] == blunders
    marked = page.page.locator("#moves .pair .move[data-glyph*='?']").all_text_contents()
    expect(page.page.locator("[data-moment]")).to_have_count(len(marked))
    # From mistake to mistake, and back.
    current = page.page.locator("#moves [aria-current]")
    page.page.click("#first")
    page.page.locator("#board").focus()
    for key, text in (*(("m", text) for text in marked), ("M", marked[-2])):
        page.page.keyboard.press(key)
        expect(current).to_have_text(text)
    expect(page.page.locator("#verdict")).to_contain_text("a3: a blunder that costs")
    page.page.click("#next-mistake")
    expect(page.page.locator('#arrows [data-name="refutation"]')).to_have_attribute("data-arrow", "h5f7")
    # The lesson: the move of the game, a bad one, a good one; then the solution.
    page.page.click("#learn-black")
    task, verdict = page.page.locator("#lesson-task"), page.page.locator("#lesson-verdict")
    expect(task).to_have_text("1 of 2. Black played 3... Nf6. Find a better move.")
    board = chess.Board()
    for san in re.findall(r"[a-zQNB]\S+", BLUNDERS)[:5]:
        board.push_san(san)
    for move, status in (("g8f6", "played"), ("a7a6", "bad"), ("g7g6", "good")):
        page.expect_position(board)
        page.press(move[:2], is_tap)
        page.press(move[2:], is_tap)
        expect(verdict).to_have_attribute("data-status", status)
    expect(page.page.locator('#arrows [data-name="best"]')).to_have_count(1)
    page.page.click("#lesson-next")
    expect(task).to_contain_text("2 of 2. Black played 4... d6.")
    page.page.click("#lesson-solution")
    expect(verdict).to_contain_text("The best move was ")
    page.page.click("#lesson-next")
    expect(task).to_have_text("Done: 1 of 2 moves found.")
    page.page.click("#lesson-end")
    expect(page.page.locator("#lesson")).to_be_hidden()
    game = pgn_of(page)
    assert all(node.eval() is not None for node in game.mainline())
    assert game.end().parent.parent.nags == {4}, "White's a3"
    page.page.click("#open-share")
    with page.page.expect_download() as download:
        page.page.click("#download-report")
    assert "3... Nf6" not in (html := Path(download.value.path()).read_text("utf-8"))
    assert '"san":"Nf6"' in html


def test_the_curve_fills_while_the_review_goes_on_until_it_is_stopped(desk: Desk) -> None:
    page = desk.open()
    page.new_game()
    for text in SCHOLAR[:6]:
        page.click(text[:2], text[2:])
        expect(page.square(text[2:])).to_have_class(re.compile("last"))
    expect(page.page.locator("#moves .san")).to_have_count(6)
    page.page.click("#review-game")
    expect(page.page.locator("#panel-analyse")).to_be_visible()
    progress = page.page.locator("#review-progress")
    expect(progress).to_contain_text(re.compile(r"Reviewing: [2-6] of 7 positions"))
    expect(page.page.locator("#curve")).to_be_visible()
    # The game is reviewed from its end.
    expect(page.page.locator("#moves .eval").last).not_to_have_text("")
    expect(page.page.locator("#moves .eval").first).to_have_text("")
    page.page.click("#review-stop")
    expect(progress).to_be_hidden()
    expect(page.page.locator("#summary")).to_be_hidden()
    expect(page.page.locator("#moves .eval").last).not_to_have_text("")
    page.page.locator("#curve [role=slider]").focus()
    page.page.keyboard.press("Home")
    expect(page.page.locator("#fen")).to_have_value(chess.STARTING_FEN)


def test_a_game_that_another_program_has_assessed_shows_its_summary(desk: Desk) -> None:
    page = desk.open()
    page.set_up(
        '[White "Ann"]\n[Black "Bob"]\n\n'
        "1. e4 {[%eval 0.3]} e5 {[%eval 0.2]} 2. Qh5 $6 {[%eval -0.5]} Ke7 $4 {[%eval #1]} 3. Qxe5# 1-0"
    )
    rows = page.page.locator("#summary tbody tr")
    expect(rows.nth(0)).to_contain_text("Ann")
    expect(rows.nth(1)).to_contain_text("Bob")
    cells = [row.locator("td").all_text_contents()[2:] for row in rows.all()]
    assert cells == [["1", "0", "0"], ["0", "0", "1"]]
    expect(page.page.locator("[data-moment]")).to_have_count(2)
    page.page.locator("[data-moment]").last.click()
    expect(page.page.locator("#moves [aria-current]")).to_contain_text("Ke7??")
    expect(page.page.locator("#curve [role=slider]")).to_have_attribute("aria-valuetext", "2... Ke7: #1")


# --- Games and studies


def test_a_file_with_a_thousand_games_is_listed_and_opened(desk: Desk, tmp_path: Path) -> None:
    games = "\n".join(
        f'[White "White {number}"]\n[Black "Black {number}"]\n[Result "1-0"]\n\n'
        f"1. {['e4', 'd4', 'c4', 'Nf3'][number % 4]} Nf6 1-0\n"
        for number in range(1, 1001)
    )
    file = tmp_path / "thousand.pgn"
    file.write_text(games, encoding="utf-8")
    page = desk.open()
    page.page.click("#tab-games")
    page.page.set_input_files("#file", str(file))
    expect(page.page.locator("#games-name")).to_have_text("thousand.pgn: 1000 games")
    expect(page.page.locator("#games-rows tbody tr")).to_have_count(100)
    page.page.click("#games-more")
    expect(page.page.locator("#games-rows tbody tr")).to_have_count(200)
    page.page.fill("#games-words", "white 777")
    expect(page.page.locator("#games-rows tbody tr")).to_have_count(1)
    page.page.click('#games-rows [aria-label="Open game 777"]')
    page.expect_moves("d4", "Nf6")
    expect(page.page.locator("#below .name")).to_have_text("White 777")
    # N and P open the games beside it.
    for key, name in (("n", "White 778"), ("p", "White 777")):
        page.page.locator("#flip").focus()
        page.page.keyboard.press(key)
        expect(page.page.locator("#below .name")).to_have_text(name)


def test_a_list_that_looks_like_the_one_before_is_shown_anew(desk: Desk) -> None:
    page = desk.open()
    for name in ("Ann", "Bob"):
        page.set_up(f'[White "{name}"]\n\n1. e4 *')
        page.page.click("#tab-games")
        expect(page.page.locator("#games-rows td:nth-child(2)")).to_have_text([name])
    page.set_up(KIWIPETE)
    expect(page.page.locator("#games-rows [aria-current]")).to_have_count(0)


def test_more_games_come_once_however_often_they_are_asked_for(desk: Desk) -> None:
    page = desk.open()
    page.page.click("#tab-games")
    page.page.fill("#pasted", "".join(f'[White "W{i}"]\n\n1. e4 *\n\n' for i in range(250)))
    page.page.click("#set-up [type=submit]")
    expect(page.page.locator("#games-rows tr[data-game]")).to_have_count(100)
    page.page.evaluate('() => { for (let i = 0; i < 2; i++) document.getElementById("games-more").click(); }')
    expect(page.page.locator("#games-rows tr[data-game]")).to_have_count(200)
    page.page.wait_for_load_state("networkidle")
    numbers = page.page.locator("#games-rows tr[data-game]").evaluate_all(
        "(rows) => rows.map((row) => Number(row.dataset.game))"
    )
    assert numbers == [*range(1, len(numbers) + 1)]


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A file of three games."""
    path = tmp_path / "study.pgn"
    games = [f'[White "W{number}"]\n\n1. {move}   *' for number, move in enumerate(("e4", "d4", "c4"), 1)]
    path.write_text("\n\n".join(games), encoding="utf-8")
    return path


def test_a_study_is_written_back_into_its_file_if_that_is_wanted(chromium: Any, study: Path) -> None:
    before = study.read_text("utf-8")
    with desk_with(chromium, games=read_games(str(study))) as desk:
        page = desk.open()
        page.expect_moves("e4")
        page.page.click("#tab-games")
        expect(page.page.locator("#games-name")).to_have_text("study.pgn: 3 games")
        page.page.locator("#games-rows tr[data-game]").nth(1).click()
        page.expect_moves("d4")
        page.page.click("#tab-analyse")
        page.page.click("#last")
        page.click("d7", "d5")
        page.expect_moves("d4", "d5")
        page.page.click("#tab-games")
        page.page.click("#save-study")
        expect(page.page.locator(".question")).to_contain_text("write your changes into study.pgn")
        page.page.click(".question button:not(.primary)")
        expect(page.page.locator(".question")).to_have_count(0)
        assert study.read_text("utf-8") == before
        page.page.click("#new-chapter")
        page.expect_moves()
        page.page.click("#tab-analyse")
        page.click("g1", "f3")
        page.expect_moves("Nf3")
        page.page.click("#tab-games")
        expect(page.page.locator("#games-rows tr[data-game]")).to_have_count(4)
        page.page.click("#save-study")
        page.page.click(".question .primary")
        expect(page.page.locator("#notice")).to_have_text("study.pgn was saved")
        text = study.read_text("utf-8")
        stream = io.StringIO(text)
        games = [str(chess.pgn.read_game(stream).mainline_moves()) for _ in range(4)]
        assert games == ["1. e4", "1. d4 d5", "1. c4", "1. Nf3"]
        first, _, third = before.split("\n\n[")
        assert text.startswith(first)
        assert third in text
        # Chapters that were left are as they were left.
        page.page.locator("#games-rows tr[data-game]").nth(1).click()
        page.expect_moves("d4", "d5")
        page.page.click("#tab-games")
        with page.page.expect_download() as download:
            page.page.click("#download-study")
        assert Path(download.value.path()).read_text("utf-8") == text
        # Somebody else writes into the file.
        study.write_text(before, encoding="utf-8")
        page.page.click("#save-study")
        page.page.click(".question .primary")
        expect(page.page.locator("#complaint")).to_contain_text("study.pgn was changed by another program")
        assert study.read_text("utf-8") == before


def test_games_from_the_browser_cannot_be_written_back(desk: Desk, study: Path) -> None:
    page = desk.open()
    page.page.click("#choose-review")
    page.page.set_input_files("#file", str(study))
    expect(page.page.locator("#games-rows tr[data-game]")).to_have_count(3)
    expect(page.page.locator("#download-study")).to_be_visible()
    expect(page.page.locator("#save-study")).to_be_hidden()


def test_who_teaches_hides_what_comes(desk: Desk) -> None:
    page = desk.open(viewport={"width": 1024, "height": 768})
    page.set_up("1. e4 {a secret} e5 (1... c5 2. Nf3) 2. Nc3 Nf6 *")
    small = page.page.locator("#board").bounding_box()["width"]
    page.page.locator("#moves .move", has_text="e5").click()
    page.page.click("#full-screen")

    def seen() -> list[str]:
        moves = page.page.locator("#moves .move").all()
        return [
            m.text_content()
            for m in moves
            if m.evaluate("(m) => getComputedStyle(m).visibility") == "visible"
        ]

    expect(page.page.locator("#moves .concealed").last).to_have_css("visibility", "hidden")
    assert [move for move in seen() if move != "2. Nf3"][:2] == ["e4", "e5"]
    assert not {"Nc3", "Nf6"} & {*seen()}
    page.page.keyboard.press("ArrowRight")
    expect(page.page.locator("#moves [aria-current]")).to_contain_text("Nc3")
    assert "Nc3" in seen()
    assert "Nf6" not in seen()
    page.page.keyboard.press("Home")
    expect(page.page.locator("#moves .comment").first).to_have_css("visibility", "hidden")
    assert seen() == []
    assert page.page.locator("#board").bounding_box()["width"] >= small
    expect(page.page.locator("#engine, .commands").locator("visible=true")).to_have_count(0)
    draw(page, "e2", "e4")
    expect(shapes(page)).to_have_count(1)
    page.page.keyboard.press("Shift+F")
    expect(page.page.locator("#moves .concealed")).to_have_count(0)
    expect(page.page.locator("#engine")).to_be_visible()


@pytest.fixture
def book(tmp_path: Path) -> Book:
    """A book of two first moves, three times as much of one of them."""
    path, key = tmp_path / "book.bin", chess.polyglot.zobrist_hash(chess.Board())
    moves = ((chess.E2 << 6 | chess.E4, 3), (chess.D2 << 6 | chess.D4, 1))
    path.write_bytes(b"".join(struct.pack(">QHHI", key, move, weight, 0) for move, weight in moves))
    return Book(str(path))


def test_the_moves_of_a_book_are_shown_and_played(chromium: Any, book: Book) -> None:
    with desk_with(chromium, book=book) as desk:
        page = desk.open()
        expect(page.page.locator("#known")).to_be_hidden()
        page.page.click("#tab-analyse")
        known = page.page.locator("#known button")
        expect(known).to_have_text(["e4 75 %", "d4 25 %"])
        known.first.click()
        page.expect_moves("e4")
        expect(page.page.locator("#known")).to_be_hidden()


@pytest.mark.skipif(not (SHARED / "syzygy").is_dir(), reason="../shared/data/syzygy is missing")
def test_the_verdict_of_the_tablebases_is_shown(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYZYGY_PATH", str(SHARED / "syzygy"))
    page = desk.open()
    page.set_up("8/8/8/8/3k4/8/1p6/KQ6 w - - 0 1")
    known = page.page.locator("#known button")
    expect(known.first).to_contain_text(re.compile(r"\S+ wins \(DTZ \d+\)"))
    expect(known).to_have_count(chess.Board("8/8/8/8/3k4/8/1p6/KQ6 w - - 0 1").legal_moves.count())


def test_texts_and_names_of_any_letters_are_taken(desk: Desk) -> None:
    page = desk.open()
    page.set_up(f"1. e4 {{{'棋' * 50_000}}} e5 *")
    page.expect_moves("e4", "e5")
    page.page.evaluate(
        """(name) => {
            const transfer = new DataTransfer();
            transfer.items.add(new File(["1. d4 *"], name));
            document.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, cancelable: true }));
        }""",
        "棋" * 250 + ".pgn",
    )
    page.expect_moves("d4")


def test_a_position_can_be_pasted_and_copied(desk: Desk) -> None:
    page = desk.open(permissions=["clipboard-read", "clipboard-write"])
    paste = """(text) => {
        const data = new DataTransfer();
        data.setData("text", text);
        document.body.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true}));
    }"""
    page.page.evaluate(paste, KIWIPETE)
    expect(page.page.locator("#fen")).to_have_value(KIWIPETE)
    page.page.click("#open-share")
    for what, expected in (("FEN", KIWIPETE), ("PGN", f'[FEN "{KIWIPETE}"]')):
        page.page.click(f"#copy-{what.lower()}")
        expect(page.page.locator("#notice")).to_have_text(f"{what} copied")
        assert expected in page.page.evaluate("navigator.clipboard.readText()")


def test_a_position_and_a_file_can_be_dropped(desk: Desk) -> None:
    page = desk.open()
    drop = """([kind, text]) => {
        const data = new DataTransfer();
        if (kind === "file") data.items.add(new File([text], "dropped.pgn"));
        else data.setData("text", text);
        const options = {dataTransfer: data, bubbles: true, cancelable: true};
        document.body.dispatchEvent(new DragEvent("drop", options));
    }"""
    page.page.evaluate(drop, ["text", KIWIPETE])
    expect(page.page.locator("#fen")).to_have_value(KIWIPETE)
    page.page.evaluate(drop, ["file", "1. b3 b6 *"])
    page.expect_moves("b3", "b6")


# --- The generator


def test_moves_and_attack_map_are_those_of_moff_moves(desk: Desk) -> None:
    page = desk.open()
    page.set_up(KIWIPETE)
    page.page.click("#tab-generator")
    page.page.check('[name=overlay][value="attacks"]')
    expect(page.page.locator("#generated table")).to_have_count(2)
    expect(page.page.locator("#board .attackers").first).to_be_visible()
    command = [*ENGINE, "moves", "--ascii", "--attacks", "--fen", KIWIPETE]
    printed = subprocess.run(
        command, capture_output=True, encoding="utf-8", check=True, timeout=120
    ).stdout.splitlines()

    start = next(i for i, line in enumerate(printed) if line.startswith("White: "))
    columns = {"White": [], "Black": []}
    for line in printed[start + 1 : printed.index("", start)]:
        for side, half in (("White", line[:34]), ("Black", line[34:])):
            if half.strip():
                columns[side].append(half.split())
    for side, expected in columns.items():
        rows = page.page.locator(f'#generated [data-side="{side}"] tbody tr').all()
        assert [[cell.inner_text() for cell in row.locator("td").all()] for row in rows] == expected

    shown = page.page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll("#board [data-square]")].map((square) => [
            square.dataset.square,
            ["white", "black"].map((side) => {
                const badge = square.querySelector(`[data-attackers="${side}"]`);
                return badge?.textContent.replace("′", "'") ?? "-";
            })]))"""
    )
    # It stays while moves are made.
    page.drag("e1", "h1")
    expect(page.page.locator('[data-square="h1"] [data-attackers="white"]')).to_have_text(re.compile("1K"))

    map_start = next(i for i, line in enumerate(printed) if i > 9 and re.fullmatch(r" +a +b .*h", line))
    for row in printed[map_start + 1 : map_start + 9]:
        rank, cells = row[0], row[2:]
        for file, name in enumerate("abcdefgh"):
            assert cells[8 * file : 8 * file + 8].split() == shown[name + rank]


def test_the_worth_of_pieces_and_the_tree_of_the_last_search_are_shown(desk: Desk) -> None:
    page = desk.open()
    page.set_up(KIWIPETE, engine=True)
    expect(page.page.locator("#lines .move").nth(20)).to_be_visible()
    page.page.click("#tab-generator")
    page.page.check('[name=overlay][value="piece_values"]')
    expect(page.page.locator("#board .worth")).to_have_count(30)
    worths = [float(text) for text in page.page.locator("#board .worth").all_text_contents()]
    assert max(worths) > 5, "a queen, whatever the network"
    page.page.click("#ask-tree")
    first = page.page.locator("#searched details").first
    first.locator("summary").click()
    expect(first.locator("li").first).to_be_visible()
    board = chess.Board(KIWIPETE)
    board.push_san(first.locator("summary .san").text_content())
    board.parse_san(first.locator("li .san").first.text_content())
    for place in (first.locator("summary"), first.locator("li").first):
        expect(place).to_have_text(re.compile(r"depth \d+, [\d.]+( [kM])? nodes?$"))


# --- Settings


def test_settings_stay_in_the_browser(desk: Desk) -> None:
    page = desk.open(color_scheme="light")
    page.page.click("#open-settings")
    expect(page.page.locator("#set-sounds")).not_to_be_checked()
    page.page.select_option("#set-theme", "dark")
    page.page.select_option("#set-board", "wood")
    page.page.uncheck("#set-coordinates")
    page.page.check("#set-notation")
    page.page.fill("#set-threads", "0")
    page.page.keyboard.press("Enter")
    expect(page.page.locator("#settings .complaint")).to_contain_text("Threads takes a whole number from 1")
    page.page.click("#settings-close")
    page.page.reload()
    page.set_up("1. Nf3 *")
    expect(page.page.locator("#moves .figurine")).to_be_visible()
    page.expect_moves("Nf3")  # for who cannot see it
    expect(page.page.locator("#board .coordinate").first).to_be_hidden()
    light = page.page.locator("#board .square.light").nth(9)
    assert light.evaluate("(square) => getComputedStyle(square).backgroundColor") == "rgb(241, 220, 185)"
    shade = page.page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    assert sum(shade) < 200


def test_sounds_are_made_only_if_they_are_wanted(desk: Desk) -> None:
    page = desk.open()
    page.page.evaluate(
        """() => {
            window.knocks = 0;
            const create = AudioContext.prototype.createOscillator;
            AudioContext.prototype.createOscillator = function () {
                window.knocks += 1;
                return create.call(this);
            };
        }"""
    )
    page.new_game()
    page.click("e2", "e4")
    page.expect_moves("e4")
    assert page.page.evaluate("window.knocks") == 0
    page.page.click("#open-settings")
    page.page.check("#set-sounds")
    page.page.click("#settings-close")
    page.click("e7", "e5")
    page.expect_moves("e4", "e5")
    page.page.wait_for_function("window.knocks === 1")


def luminance(colour: str) -> float:
    """The relative luminance of "#rrggbb" (WCAG 2)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(part * weight for part, weight in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))


def contrast(one: str, other: str) -> float:
    brighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def test_the_last_move_can_be_seen_on_every_board(desk: Desk) -> None:
    page = desk.open()
    page.set_up("1. e4 *")
    page.page.click("#next")
    expect(page.square("e4")).to_have_class(re.compile("last"))
    boards = page.page.eval_on_selector_all("#set-board option", "(all) => all.map((one) => one.value)")
    assert len(boards) == 5  # four, and the one that goes with the theme
    for board in boards[1:]:
        page.page.select_option("#set-board", board, force=True)
        read = "(name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()"
        light, dark, last = (page.page.evaluate(read, f"--{name}") for name in ("light", "dark", "last"))
        assert contrast(last, light) >= 3, board
        assert contrast(last, dark) >= 3, board
        drawn = page.square("e4").evaluate("(square) => getComputedStyle(square).backgroundColor")
        assert drawn == f"rgb({', '.join(str(int(last[i : i + 2], 16)) for i in (1, 3, 5))})"


# --- Who can use it


def views(page: Page) -> Iterator[str]:
    """Every view of the page, one after the other, by its name."""
    yield "home"
    page.page.click("#choose-play")
    yield "new game"
    page.page.click("#new-game-sheet-close")
    page.page.click("#choose-analyse")
    yield "editor"
    page.page.click("#edit-cancel")
    page.set_up(
        "1. e4 {[%eval 0.2] [%clk 0:01:00] King's pawn} e5 {[%eval 0.2]} (1... c5 2. Nf3 $4) "
        "2. Nc3 $6 {[%eval -0.5]} *"
    )
    page.switch("engine-on", True)
    expect(page.page.locator("#lines .move").first).to_be_visible()
    yield "analysis"
    if not page.page.locator("#learn-white").is_visible():
        page.page.click("#summary summary")
    page.page.click("#learn-white")
    yield "lesson"
    page.page.click("#lesson-end")
    for drawer in ("comment", "pens", "share"):
        page.page.click(f"#open-{drawer}")
        yield drawer
    page.page.click("#tab-games")
    yield "games"
    page.page.click("#open-settings")
    yield "settings"
    page.page.click("#settings-close")
    page.page.click("#tab-generator")
    page.page.check('[name=overlay][value="attacks"]')
    expect(page.page.locator("#generated table")).to_have_count(2)
    yield "generator"
    page.page.click("#tab-play")
    expect(page.page.locator("body")).to_have_attribute("data-mode", "play")
    page.click("e2", "e4")
    yield "play"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_an_accessibility_check_finds_nothing_serious(desk: Desk, size: dict[str, int], scheme: str) -> None:
    page = desk.open(viewport=size, color_scheme=scheme, reduced_motion="reduce")
    faults = {view: found for view in views(page) if (found := page.serious_faults())}
    assert faults == {}


SIZES = [(360, 740), (390, 844), (844, 390), (683, 384), (768, 1024), (1024, 768), (1366, 768), (2560, 1440)]
"""Those that there are, with 200 % zoom of a small desktop."""


def test_the_board_is_always_seen_in_full_and_nothing_overflows(desk: Desk) -> None:
    page = desk.open()
    found = []
    for view in views(page):
        for width, height in SIZES:
            page.page.set_viewport_size({"width": width, "height": height})
            box = page.page.locator("#board").bounding_box()
            fits = (
                box["x"] >= 0 <= box["y"]
                and box["x"] + box["width"] <= width
                and box["y"] + box["height"] <= height
            )
            is_wide = page.page.evaluate("document.documentElement.scrollWidth") > width
            if not fits or is_wide or min(box["width"], box["height"]) < 0.6 * min(width, height):
                found.append((view, width, height, box, is_wide))
        page.page.set_viewport_size(DESKTOP)
    assert found == []
