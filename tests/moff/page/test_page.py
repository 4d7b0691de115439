"""The board page in a real browser: games by click and drag, analysis, files, generator, accessibility."""

import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import pytest

from tests.board_page import DESKTOP, PATIENCE, PHONE, Page, browser, expect, served
from tests.client import ENGINE

pytestmark = pytest.mark.slow

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
PROMOTION = "8/P6k/8/8/8/8/7K/8 w - - 0 1"
MATE_IN_1 = "6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1"
SCHOLAR = ["e2e4", "e7e5", "d1h5", "b8c6", "f1c4", "g8f6", "h5f7"]


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

    def open(self, context: Any = None, **options: Any) -> Page:
        """A page in a new window, or in another tab of the same one."""
        if context is None:
            context = self.chromium.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
            self.contexts.append(context)
        self.pages.append(Page(context, self.server.url))
        return self.pages[-1]


@pytest.fixture
def desk(chromium: Any) -> Iterator[Desk]:
    """A server and its pages, of which none may have complained in the end."""
    with served() as server:
        one = Desk(chromium, server)
        yield one
        complaints = [complaint for page in one.pages for complaint in page.complaints]
        for context in one.contexts:
            context.close()
        assert complaints == []


def lift(page: Page, origin: str, over: str) -> None:
    """Drag a piece from its square to above another one, and keep it in the hand."""
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


def pgn_of(page: Page) -> chess.pgn.Game:
    """The game that the page lets one download, as python-chess reads it."""
    with page.page.expect_download() as download:
        page.page.click("#download")
    with open(download.value.path(), encoding="utf-8") as file:
        game = chess.pgn.read_game(file)
    assert game is not None
    assert game.errors == []
    return game


# --- Playing


@pytest.mark.parametrize("way", ["clicks", "drags"])
def test_a_game_is_played_to_mate(desk: Desk, way: str) -> None:
    page = desk.open()
    page.new_game("both")
    board = chess.Board()
    sans = []
    for text in SCHOLAR:
        if way == "clicks":
            page.click(text[:2])
            targets = page.page.locator("#board .target")
            expected = {
                chess.square_name(m.to_square) for m in board.legal_moves if m.uci().startswith(text[:2])
            }
            expect(targets).to_have_count(len(expected))
            assert {square.get_attribute("data-square") for square in targets.all()} == expected
            page.click(text[2:])
        else:
            page.drag(text[:2], text[2:])
        sans.append(board.san(chess.Move.from_uci(text)))
        board.push_uci(text)
        page.expect_moves(*sans)
        page.expect_position(board)
    expect(page.page.locator("#end")).to_have_text("1-0 (checkmate)")
    expect(page.page.locator("#said")).to_contain_text("Qxf7#. 1-0: checkmate")
    page.expect_position(board)
    expect(page.square("e8")).to_have_class(re.compile("check"))
    game = pgn_of(page)
    assert [move.uci() for move in game.mainline_moves()] == SCHOLAR
    assert (game.headers["Result"], game.headers["Termination"]) == ("1-0", "checkmate")


@pytest.mark.parametrize("way", ["clicks", "drags"])
def test_a_game_of_chess960_castles_by_the_king_onto_its_rook(desk: Desk, way: str) -> None:
    page = desk.open()
    page.page.select_option("[name=variant]", "chess960")
    page.page.fill("[name=number]", "3")
    page.new_game("both")
    expect(page.page.locator("#said")).to_contain_text("from start position 3 of Chess960")
    board = chess.Board.from_chess960_pos(3)
    # King and rook change places.
    for text in ("f1g1", "e7e5", "e2e4", "f8g8"):
        if way == "clicks":
            page.click(text[:2])
            expect(page.square(text[2:])).to_have_class(re.compile("target"))
            page.click(text[2:])
        else:
            page.drag(text[:2], text[2:])
        board.push_uci(text)
        expect(page.page.locator("#moves .san")).to_have_count(len(board.move_stack))
        page.expect_position(board)
    page.expect_moves("O-O", "e5", "e4", "O-O")
    game = pgn_of(page)
    assert game.headers["Variant"] == "Chess960"
    assert game.end().board().fen() == board.fen()


def test_the_engine_answers_and_its_moves_can_be_taken_back(desk: Desk) -> None:
    page = desk.open()
    page.new_game("white")
    page.click("e2", "e4")
    expect(page.page.locator("#moves .san")).to_have_count(2)
    page.page.click("#take-back")
    page.expect_moves()
    page.expect_position(chess.Board())
    page.page.click("#redo")
    expect(page.page.locator("#moves .san")).to_have_count(2)
    page.page.click("#hint")
    expect(page.page.locator("#arrows path")).to_have_count(1)
    page.page.click("#resign")
    expect(page.page.locator("#end")).to_have_text("0-1 (White resigns)")
    page.page.click("#take-back")
    expect(page.page.locator("#end")).to_be_hidden()


def test_the_engine_begins_if_one_plays_black_at_its_strength_and_on_the_clock(desk: Desk) -> None:
    page = desk.open()
    page.page.select_option("[name=strength]", "elo")
    page.page.fill("[name=elo]", "800")
    page.new_game("black", clock="60")
    expect(page.page.locator("#moves .san")).to_have_count(1)
    expect(page.page.locator("#above .name")).to_contain_text("(Elo 800)")
    assert page.square("a1").bounding_box()["y"] < page.square("a8").bounding_box()["y"]
    expect(page.page.locator("#below .clock")).to_have_class(re.compile("running"))
    expect(page.page.locator("#below .clock")).to_have_text(re.compile(r"0:5\d"))
    game = pgn_of(page)
    assert (game.headers["WhiteElo"], game.headers["TimeControl"]) == ("800", "60")


@pytest.mark.parametrize(("choice", "letter"), [("q", "Q"), ("n", "N")])
def test_a_pawn_becomes_what_is_chosen(desk: Desk, choice: str, letter: str) -> None:
    page = desk.open()
    page.set_up(PROMOTION)
    page.drag("a7", "a8")
    expect(page.page.locator("#promotion button")).to_have_count(4)
    page.page.keyboard.press("Escape")
    expect(page.page.locator("#promotion")).to_be_hidden()
    board = chess.Board(PROMOTION)
    page.expect_position(board)
    page.click("a7", "a8")
    page.page.click(f'#promotion [data-choice="{choice}"]')
    page.expect_moves(f"a8={letter}")
    board.push_uci(f"a7a8{choice}")
    page.expect_position(board)


def test_a_game_can_begin_anywhere_and_be_drawn_by_rule(desk: Desk) -> None:
    page = desk.open()
    page.page.select_option("[name=colour]", "both")
    page.set_up("7k/8/8/8/8/8/1q6/K7 w - - 0 1")
    page.page.click("#play-here")
    expect(page.page.locator("#panel-play")).to_be_visible()
    page.click("a1", "b2")
    page.expect_moves("Kxb2")
    expect(page.page.locator("#end")).to_have_text("1/2-1/2 (insufficient material)")
    expect(page.page.locator("#said")).to_contain_text("insufficient material")


def test_a_reload_in_the_middle_goes_on_with_the_game(desk: Desk) -> None:
    page = desk.open()
    page.new_game("both")
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
        page.new_game("both")
        page.click(move[:2], move[2:])
    one.expect_moves("e4")
    other.expect_moves("c4")
    other.page.reload()
    other.expect_moves("c4")


def test_the_keyboard_is_enough(desk: Desk) -> None:
    page = desk.open()
    page.new_game("both")
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


def test_who_turns_the_board_by_the_keyboard_stays_on_it(desk: Desk) -> None:
    page = desk.open()
    page.new_game("both")
    page.square("e2").focus()
    page.page.keyboard.press("Shift+F")
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
        page.page.wait_for_timeout(300)
        expect(page.page.locator("#moves [aria-current]")).to_contain_text(last)


def test_what_has_happened_last_can_be_seen(desk: Desk) -> None:
    page = desk.open()
    page.new_game("white")
    page.page.click("#draw")
    expect(page.page.locator("#said")).to_have_text(
        "Draw declined: the engine accepts no draw before move 20"
    )
    assert page.page.locator("#said").bounding_box()["height"] > 10
    page.set_up("8/8/8/3k4/8/3K4/3P4/8 b")
    expect(page.page.locator("#said")).to_contain_text("assumed")
    page.set_up('[Event "A"]\n[FEN "8/8"]\n\n*')
    expect(page.page.locator("#said")).to_contain_text("Game 1 is damaged: line 1: bad FEN '8/8'")


def test_without_a_number_no_strength_is_limited(desk: Desk) -> None:
    page = desk.open()
    page.page.select_option("[name=strength]", "elo")
    page.page.fill("[name=elo]", "")
    page.page.click("#new-game [type=submit]")
    expect(page.page.locator("#complaint")).to_contain_text("elo takes a whole number from")
    assert page.page.locator("#said").text_content() == ""


def test_another_finger_disturbs_no_drag(desk: Desk) -> None:
    page = desk.open(viewport=PHONE, has_touch=True, is_mobile=True)
    page.new_game("both")
    page.square("e2").scroll_into_view_if_needed()
    (x, y), (to_x, to_y), (other_x, other_y) = (page.centre(square) for square in ("e2", "e4", "a2"))
    devtools = page.page.context.new_cdp_session(page.page)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        fingers = [{"x": at[0], "y": at[1], "id": number} for number, at in enumerate(points)]
        devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})

    touch("touchStart", (x, y))
    touch("touchMove", (x, y - 20))
    touch("touchStart", (x, y - 20), (other_x, other_y))
    touch("touchMove", (to_x, to_y), (other_x, other_y))
    touch("touchEnd", (to_x, to_y))
    touch("touchEnd")
    page.expect_moves("e4")
    expect(page.page.locator(".ghost")).to_have_count(0)


@pytest.mark.parametrize("over", ["e7", "e5"])
def test_a_piece_stays_in_the_hand_while_another_one_moves(over: str, desk: Desk) -> None:
    """It waits on its own square or over its target."""
    page = desk.open()
    page.new_game("both")
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
    page.new_game("both")
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
    page.new_game("both")
    lift(page, "e2", "d5")  # e4 when the board is turned
    page.page.keyboard.press("f")
    expect(page.page.locator("#board [data-square]").first).to_have_attribute("data-square", "h1")
    expect(page.page.locator(".ghost")).to_have_count(0)
    page.page.mouse.up()
    page.click("g1", "f3")
    page.expect_moves("Nf3")


def test_a_new_game_empties_the_hand(desk: Desk) -> None:
    page = desk.open()
    page.new_game("both")
    page.click("d2", "d4")
    page.expect_moves("d4")
    page.click("d7", "d5")
    page.expect_moves("d4", "d5")
    lift(page, "e2", "e3")
    page.page.evaluate("document.querySelector('#new-game').requestSubmit()")
    page.expect_moves()
    expect(page.page.locator(".ghost")).to_have_count(0)
    page.page.mouse.up()
    page.click("g1", "f3")
    page.expect_moves("Nf3")


def test_a_piece_that_is_moved_by_the_keyboard_leaves_the_hand(desk: Desk) -> None:
    page = desk.open()
    page.new_game("both")
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
    page.new_game("both")
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


def test_touch_is_enough_on_a_phone(desk: Desk) -> None:
    page = desk.open(viewport=PHONE, has_touch=True, is_mobile=True)
    page.new_game("both")
    page.square("g1").tap()
    page.square("f3").tap()
    page.expect_moves("Nf3")


# --- Analysis


def test_lines_arrive_with_scores_bar_and_arrows(desk: Desk) -> None:
    page = desk.open()
    page.set_up(KIWIPETE)
    page.switch("engine-on", True)
    for count in ("5", "1"):
        page.page.select_option("#engine-lines", count)
        expect(page.page.locator("#lines li")).to_have_count(int(count))
        expect(page.page.locator("#arrows path")).to_have_count(int(count))
    expect(page.page.locator("#counts")).to_have_text(re.compile(r"depth \d+, .* nodes, .* nodes/s"))
    expect(page.page.locator("#bar")).to_have_attribute("aria-label", re.compile(r"Evaluation [-+]\d"))
    board = chess.Board(KIWIPETE)
    for san in page.page.locator("#lines li .san").all_text_contents()[:3]:
        board.push_san(san)
    page.page.select_option("#notation", "figurines")
    expect(page.page.locator("#lines .figurine").first).to_be_visible()
    page.page.locator("#lines .move").nth(1).click()
    expect(page.page.locator("#moves .san")).to_have_count(2)
    page.switch("engine-on", False)
    expect(page.page.locator("#lines li")).to_have_count(0)


def test_the_last_click_wins_though_its_command_overtakes_another(desk: Desk) -> None:
    held = []

    def pass_on(route: Any) -> None:
        if '"lines":5' in route.request.post_data:
            held.append(route)
        else:
            route.continue_()

    page = desk.open()
    page.set_up(KIWIPETE)
    page.page.route("**/do?*", pass_on)
    for count in ("5", "2"):
        page.page.select_option("#engine-lines", count)
    release(page, held)
    page.page.wait_for_timeout(300)
    page.switch("engine-on", True)
    expect(page.page.locator("#lines li")).to_have_count(2)


def test_a_live_line_keeps_the_focus_and_is_followed_as_it_was_shown(desk: Desk) -> None:
    page = desk.open()
    page.set_up(KIWIPETE)
    page.switch("engine-on", True)
    move = page.page.locator("#lines .move").nth(1)
    move.focus()
    depth = page.page.locator("#lines .quiet").first.text_content()
    expect(page.page.locator("#lines .quiet").first).not_to_have_text(depth)
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
    page.page.wait_for_timeout(200)
    focused = page.page.locator("button:focus")
    expect(focused).to_contain_text("g4")


def test_a_switch_that_still_shows_an_older_state_is_not_sent_with_another_one(desk: Desk) -> None:
    page = desk.open()
    page.set_up(KIWIPETE)
    page.page.evaluate(
        """() => {
            const [on, threat] = ["engine-on", "engine-threat"].map((id) => document.getElementById(id));
            on.click();
            on.checked = false; // as a state that was on its way leaves it
            threat.click();
        }"""
    )
    expect(page.page.locator("#threat")).to_be_visible()
    expect(page.page.locator("#engine-on")).to_be_checked()


def test_moves_that_are_tried_are_marked_and_a_blunder_is_refuted(desk: Desk) -> None:
    page = desk.open()
    page.set_up("rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq - 0 2")
    page.switch("engine-on", True)
    page.click("b8", "c6")
    expect(page.page.locator("#board .mark")).to_be_visible()
    page.page.click("#first")
    expect(page.square("b8").locator(".piece")).to_be_visible()
    page.click("d8", "h4")
    expect(page.page.locator("#verdict")).to_have_text("Qh4#: the only good move")
    page.set_up("r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR b KQkq - 3 3")
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
    page.page.click("#promote")
    page.expect_moves("e4", "c5", "e5", "Nc3", "Nf3")
    page.page.locator("#moves .move", has_text="e5").click()
    page.page.click("#delete")
    page.expect_moves("e4", "c5", "Nf3")
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
    page.new_game("both")
    page.page.route("**/do?*", lambda route: held.append(route))
    page.page.fill("#typed-move", "e4")
    page.page.keyboard.press("Enter")
    page.page.fill("#typed-move", "e5")
    release(page, held)
    page.page.unroute("**/do?*")
    page.expect_moves("e4")
    page.page.wait_for_timeout(200)
    page.page.keyboard.press("Enter")
    page.expect_moves("e4", "e5")
    expect(page.page.locator("#typed-move")).to_have_value("")


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
    expect(page.page.locator("#record-title")).to_have_text("White 777 – Black 777")


def test_a_list_that_looks_like_the_one_before_is_shown_anew(desk: Desk) -> None:
    page = desk.open()
    for name in ("Ann", "Bob"):
        page.set_up(f'[White "{name}"]\n\n1. e4 *')
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
    page.page.wait_for_timeout(500)
    numbers = page.page.locator("#games-rows tr[data-game]").evaluate_all(
        "(rows) => rows.map((row) => Number(row.dataset.game))"
    )
    assert numbers == [*range(1, len(numbers) + 1)]


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
    expect(page.page.locator("#said")).to_contain_text("set up")
    expect(page.page.locator("#fen")).to_have_value(KIWIPETE)
    for what, expected in (("FEN", KIWIPETE), ("PGN", f'[FEN "{KIWIPETE}"]')):
        page.page.click(f"#copy-{what.lower()}")
        expect(page.page.locator("#said")).to_have_text(f"{what} copied")
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
    map_start = next(i for i, line in enumerate(printed) if i > 9 and re.fullmatch(r" +a +b .*h", line))
    for row in printed[map_start + 1 : map_start + 9]:
        rank, cells = row[0], row[2:]
        for file, name in enumerate("abcdefgh"):
            assert cells[8 * file : 8 * file + 8].split() == shown[name + rank]


def test_the_worth_of_pieces_and_the_tree_of_the_last_search_are_shown(desk: Desk) -> None:
    page = desk.open()
    page.set_up(KIWIPETE)
    page.switch("engine-on", True)
    expect(page.page.locator("#lines li")).to_have_count(3)
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


# --- Who can use it


@pytest.mark.parametrize(
    ("size", "scheme"), [(PHONE, "dark"), (DESKTOP, "light")], ids=["phone-dark", "desktop-light"]
)
def test_nothing_overflows_and_an_accessibility_check_finds_nothing(
    desk: Desk, size: dict[str, int], scheme: str
) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="the browser extra is not installed"
    ).Axe()
    page = desk.open(viewport=size, color_scheme=scheme)
    page.set_up("1. e4 {King's pawn} e5 (1... c5 2. Nf3 $4) 2. Nc3 *")
    page.switch("engine-on", True)
    expect(page.page.locator("#lines li").first).to_be_visible()
    page.page.click("#show-fens")
    for panel in ("analysis", "generator", "games", "play"):
        page.page.click(f"#tab-{panel}")
        if panel == "generator":
            page.page.check('[name=overlay][value="attacks"]')
            expect(page.page.locator("#generated table")).to_have_count(2)
        for width in (size["width"], 320, 768, 1024, 1400):
            page.page.set_viewport_size({**size, "width": width})
            assert page.page.evaluate("document.documentElement.scrollWidth") <= width, panel
        page.page.set_viewport_size(size)
        found = axe.run(page.page).response["violations"]
        assert [(one["id"], [node["target"] for node in one["nodes"]]) for one in found] == [], panel
