"""What the board page shows and does, without a browser: games with variations, lists of games, verdicts, the
test board, and a tab's commands.
"""

import io
import json
import socket
import struct
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import chess
import chess.engine
import chess.pgn
import chess.polyglot
import chess.svg
import chess.syzygy
import pytest

from moff.accuracy import LOSSES, expected_score
from moff.game.notation import read_move
from moff.page import gametree, tabview, testboard
from moff.page.analyst import ENOUGH, Analyst, Finding, PositionInfo
from moff.page.command import read_games
from moff.page.gamelist import GameList
from moff.page.gamereview import GameReview
from moff.page.gametree import GameTree, Node
from moff.page.stream import Stream
from moff.page.tab import MOST_ROWS, Tab
from moff.page.tabs import Tabs
from moff.page.tabview import snapshot, snapshots
from moff.page.verdict import judge
from search.limits import Limits
from search.line import Report
from search.score import TABLEBASE_WIN
from search.search import Search
from search.syzygy.tablebase import Tablebase
from tests.oracle import SHARED, STARTS, scaled
from x88 import square
from x88.book.book import Book
from x88.notation import coordinate, diagram, fen, pgn
from x88.notation.diagram import Style
from x88.piece import SIDES

pytestmark = pytest.mark.slow

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
MATE = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"
PATIENCE = scaled(30, 300)

NESTED = """[Event "A"]
[White "Ann"]
[Black "Bob"]

{Before} 1. e4 $1 {after} ({other} 1. d4 d5 (1... Nf6 2. c4 (2. Nf3)) 2. c4) (1. c4) 1... e5 2. Nf3 Nc6 $6 1-0
"""


def read(text: str) -> pgn.Game:
    return next(pgn.Reader(io.BytesIO(text.encode())))


# --- Games with variations


@pytest.mark.parametrize(
    "text", [NESTED, "1. e4 (1. -- e5) 1... e5 *", f'[FEN "{MATE}"]\n\n*', "1. e4 (1. d4) (1. c4) *", "*"]
)
def test_a_game_that_becomes_a_tree_is_written_as_before(text: str) -> None:
    game = read(text)
    assert not game.faults
    assert pgn.write(GameTree.from_game(game).game()) == pgn.write(game)


def test_a_tree_tells_where_each_move_leads() -> None:
    tree = GameTree.from_game(read(NESTED))
    theirs = chess.pgn.read_game(io.StringIO(NESTED))
    waiting: list[tuple[Node, Any]] = [(tree.root, theirs)]
    count = 0
    while waiting:
        node, their = waiting.pop()
        assert node.fen == their.board().fen(en_passant="legal")
        assert fen.write(tree.board(node)) == node.fen
        assert len(node.children) == len(their.variations)
        assert tree.node(node.number) is node
        waiting += zip(node.children, their.variations, strict=True)
        count += 1
    assert len(tree) == count - 1 == len([*tree])


def test_a_move_that_is_known_is_not_added_again() -> None:
    tree = GameTree()
    board = tree.board(tree.root)
    first = tree.add(tree.root, board, read_move(board, "e4"))
    assert (first.turn, first.san) == ("1.", "e4")
    assert tree.add(tree.root, board, read_move(board, "e2e4")) is first
    assert tree.add(tree.root, board, read_move(board, "d4")) is not first
    after = tree.board(first)
    reply = tree.add(first, after, read_move(after, "c5"))
    assert (reply.turn, reply.san) == ("1...", "c5")
    assert fen.write(board) == fen.START


def test_lines_are_promoted_and_deleted() -> None:
    tree = GameTree.from_game(read("1. e4 e5 (1... c5 2. Nf3) 2. Nc3 *"))
    by_san = {node.san: node for node in tree}
    tree.promote(by_san["Nf3"])
    assert tree.last() is by_san["Nf3"]
    assert [node.san for node in tree.path(tree.last())] == ["e4", "c5", "Nf3"]
    assert tree.delete(by_san["e5"]) is by_san["e4"]
    assert [node.san for node in tree] == ["e4", "c5", "Nf3"]
    with pytest.raises(ValueError, match="no move with the number"):
        tree.node(by_san["Nc3"].number)
    with pytest.raises(ValueError, match="cannot be deleted"):
        tree.delete(tree.root)


def test_the_comment_before_a_variation_stays_when_that_is_promoted() -> None:
    tree = GameTree.from_game(read("1. e4 ({first} 1. d4) 1... e5 {good} ({second} 1... c5 2. Nf3) 2. Nc3 *"))
    by_san = {node.san: node for node in tree}
    tree.promote(by_san["Nf3"])
    assert "1. e4 {second} ({first} 1. d4) 1... c5 (1... e5 {good} 2. Nc3) 2. Nf3" in pgn.write(tree.game())
    tree.promote(by_san["d4"])
    assert "{first} 1. d4 (1. e4 {second}" in pgn.write(tree.game())


def test_a_tree_has_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gametree, "MOST_NODES", 3)
    tree = GameTree.from_game(read("1. e4 e5 2. Nf3 Nc6 3. Bb5 *"))
    assert [node.san for node in tree] == ["e4", "e5", "Nf3"]
    board = tree.board(tree.last())
    with pytest.raises(ValueError, match="3 moves"):
        tree.add(tree.last(), board, read_move(board, "Nf6"))


def test_a_game_as_long_as_games_get_is_no_deeper_than_a_short_one() -> None:
    board = fen.parse(fen.START)
    moves = [read_move(board, "Nf3")]
    cycle = ["g1f3", "g8f6", "f3g1", "f6g8"]
    moves = []
    for ply in range(3000):
        moves.append(read_move(board, cycle[ply % 4]))
        board.make(moves[-1])
    tree = GameTree.from_moves(fen.START, moves)
    assert len(tree.path(tree.last())) == 3000
    assert len(tree.game().moves) == 3000


# --- Lists of games


def test_any_game_of_a_list_can_be_read() -> None:
    random = Random(1)
    texts = []
    for number in range(300):
        moves = ["1. e4 e5", "1. d4 {a\n\ncomment} d5", "1. c4", "1. Ke2 e5", ""][random.randrange(5)]
        end = random.choice(["\n\n", "\n", "\r\n\r\n", " "])
        texts.append(
            f'[White "W{number}"]\n[Black "B"]\n\n{moves} *{end}'
            if random.random() < 0.8
            else f"{moves} *{end}"
        )
    text = "\n".join(texts).encode()
    expected = [*pgn.Reader(io.BytesIO(text))]
    games = GameList("games", text)
    assert len(games) == len(expected) > 200
    for game, listed in zip(expected, games.games, strict=True):
        found = games.read(listed.number)
        assert found.tags == game.tags
        assert [move.san for move in found.moves] == [move.san for move in game.moves]
        assert listed.moves == len(game.moves)
        assert bool(listed.fault) == bool(game.faults)


@pytest.mark.parametrize("between", ["", " ", "\ufeff"])
def test_a_game_that_begins_where_another_one_ends_can_be_read(between: str) -> None:
    # As in files that were joined together, of which the first did not end its last line.
    parts = [f'[White "W{number}"]\n\n1. e4 e5\n2. Nf3 Nc6 {number}. Bb5 *' for number in range(20)]
    games = GameList("joined", between.join(parts).encode())
    assert [games.read(number).tags.get("White") for number in range(1, 21)] == [f"W{i}" for i in range(20)]
    games = GameList("bare", b"1. e4 e5\n2. d4 1-0 1. d4\nd5 * 1. d4 *")
    assert [[move.san for move in games.read(number).moves] for number in (1, 2, 3)] == [
        ["e4", "e5", "d4"],
        ["d4", "d5"],
        ["d4"],
    ]


def test_games_whose_tags_are_glued_to_a_result_or_in_utf_16_can_be_read() -> None:
    text = "*".join(f'[White "W{number}"]\n[Black "B{number}"]\n\n1. e4 e5 ' for number in range(20))
    for data in (text.encode(), ("\ufeff" + text).encode("utf-16-le")):
        games = GameList("glued", data)
        assert [games.read(number).tags for number in range(1, 21)] == [
            {"White": f"W{number}", "Black": f"B{number}"} for number in range(20)
        ]


def test_games_are_found_by_words_of_their_tags() -> None:
    texts = [f'[White "Ann {i}"]\n[Event "Club {i % 2}"]\n\n1. e4 *\n' for i in range(10)]
    games = GameList("games", "\n".join(texts).encode())
    assert [game.number for game in games.matching("ann CLUB")] == [*range(1, 11)]
    assert [game.number for game in games.matching("1 club ann")] == [2, 4, 6, 8, 10]
    assert games.matching("nobody") == []


@pytest.mark.parametrize("text", ["", "\n\n", "hello", "%"])
def test_a_text_without_games_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="the text holds no game"):
        GameList("the text", text.encode())


def test_a_number_that_is_none_is_refused() -> None:
    games = GameList("games", b"1. e4 *")
    for number in (0, 2, -1):
        with pytest.raises(ValueError, match="there is no game"):
            games.read(number)


# --- Evaluations, clocks, arrows and circles in comments


def remarked(random: Random) -> chess.pgn.Game:
    """A game with all that comments hold, as python-chess writes it."""
    game = chess.pgn.Game()
    node: chess.pgn.GameNode = game
    for _ in range(12):
        node = node.add_variation(random.choice([*node.board().legal_moves]))
        score: chess.engine.Score = chess.engine.Cp(random.randint(-2000, 2000))
        if random.random() < 0.3:
            score = chess.engine.Mate(random.choice([-9, -1, 1, 30]))
        node.set_eval(chess.engine.PovScore(score, chess.WHITE), random.choice([None, 17]))
        node.set_clock(random.choice([0.0, 59.0, 3725.0, 12.5]))
        colours, squares = ("green", "red", "blue", "yellow"), chess.SQUARES
        pairs = {(random.choice(squares), random.choice(squares)) for _ in range(random.randrange(4))}
        node.set_arrows([chess.svg.Arrow(*pair, color=random.choice(colours)) for pair in pairs])
        node.comment += random.choice(["", " good", " [%csl] [sic]"])
    return game


def test_what_comments_hold_is_shown_and_written_as_python_chess_reads_it(tab: Tab) -> None:
    random = Random(1)
    for _ in range(20):
        game = remarked(random)
        tab.do("set_up", {"text": str(game)})
        again = chess.pgn.read_game(io.StringIO(tab.pgn()))
        nodes = zip(game.mainline(), again.mainline(), snapshot(tab, "tree")["moves"], strict=True)
        for node, written, shown in nodes:
            assert (written.eval(), written.eval_depth()) == (node.eval(), node.eval_depth())
            assert written.clock() == node.clock()
            assert sorted(map(str, written.arrows())) == sorted(map(str, node.arrows()))
            mate, pawns = node.eval().white().mate(), node.eval().white().score()
            assert shown["eval"]["text"] == (f"{pawns / 100:+.2f}" if mate is None else f"#{mate}")
            arrows = [
                [arrow.color, chess.square_name(arrow.tail), chess.square_name(arrow.head)]
                for arrow in node.arrows()
            ]
            assert sorted(shown.get("shapes", [])) == sorted(arrows)
            assert "[%eval" not in shown.get("comment", "")
            assert "[%clk" not in shown.get("comment", "")


@pytest.mark.parametrize(
    "command",
    [
        "[%eval 1e5]",
        "[%eval x]",
        "[%eval #999]",
        "[%clk soon]",
        "[%cal Xe2e4]",
        "[%cal Ge2e9]",
        "[%emt 0:07]",
    ],
)
def test_a_command_that_is_not_understood_is_kept(tab: Tab, command: str) -> None:
    tab.do("set_up", {"text": f"1. e4 {{before {command} after}} e5 *"})
    (move, _) = snapshot(tab, "tree")["moves"]
    assert move["comment"] == "before after"
    assert not move.keys() & {"eval", "clock", "shapes"}
    assert command in tab.pgn()


def test_comments_and_marks_are_typed_and_taken_away(tab: Tab) -> None:
    tab.do("set_up", {"text": "1. e4 {[%clk 0:01:00] old} e5 $2 $13 *"})
    first, second = (move["node"] for move in snapshot(tab, "tree")["moves"])
    tab.do("annotate", {"node": first, "comment": "  {new}\n text ", "glyph": "!?"})
    tab.do("annotate", {"node": second, "glyph": ""})
    tab.do("annotate", {"node": 0, "comment": "before all"})
    game = chess.pgn.read_game(io.StringIO(tab.pgn()))
    assert game.comment == "before all"
    first_node, second_node = game.mainline()
    assert first_node.clock() == 60
    assert first_node.comment.endswith("(new) text")
    assert (first_node.nags, second_node.nags) == ({5}, {13})
    tab.do("annotate", {"node": first, "comment": ""})
    assert "comment" not in snapshot(tab, "tree")["moves"][0]
    for values, said in (
        ({"node": 0, "glyph": "!"}, "start of the game has no mark"),
        ({"node": first, "glyph": "!!!"}, "the mark must be one of"),
    ):
        with pytest.raises(ValueError, match=said):
            tab.do("annotate", values)


def test_shapes_that_make_no_sense_are_refused(tab: Tab) -> None:
    for shapes in (None, "e4", [["green", "e2"]], [["pink", "e2", "e4"]], [["red", "e2", "e9"]], [[]] * 65):
        with pytest.raises(ValueError, match=r"shape|square|e9"):
            tab.do("shapes", {"node": 0, "shapes": shapes})


# --- Studies


FIRST = b'[White "Ann"]\r\n\r\n1. e4   e5 {\xe9}  *'
STUDY = (
    FIRST + b'\r\n\r\n[White "Bob"]\n\n1. d4 *\n\n\n'  # and two games on a line
    b'[White "Cid"]\n\n1. c4 * 1. b4 *'
)
"""Games as somebody has written them: with ends of lines and letters of all kinds."""


@pytest.fixture
def study(tmp_path: Path) -> Iterator[tuple[Tab, Path]]:
    """A tab with the games of a file."""
    path = tmp_path / "study.pgn"
    path.write_bytes(STUDY)
    one = Tab(games=read_games(str(path)))
    yield one, path
    one.close()


def moves_of(text: bytes) -> list[str]:
    """The moves of each game, as python-chess reads them."""
    stream = io.StringIO(text.decode("latin-1"))
    games = iter(lambda: chess.pgn.read_game(stream), None)
    return [" ".join(node.san() for node in game.mainline()) for game in games]


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_study_is_saved_with_a_change_and_the_other_games_as_they_were(
    study: tuple[Tab, Path], number: int
) -> None:
    tab, path = study
    tab.do("open", {"number": number})
    last = snapshot(tab, "tree")["moves"][-1]["node"]
    tab.do("follow", {"node": last, "moves": "Nf3" if number == 1 else "Nf6"})
    tab.do("open", {"number": 2})
    assert path.read_bytes() == STUDY
    tab.do("save", {})
    assert snapshot(tab, "state")["notice"] == "study.pgn was saved"
    assert path.read_bytes().startswith(FIRST) == (number != 1)
    expected = ["e4 e5", "d4", "c4", "b4"]
    expected[number - 1] += " Nf3" if number == 1 else " Nf6"
    assert moves_of(path.read_bytes()) == expected
    tab.do("chapter", {})
    tab.do("move", {"text": "Nf3"})
    tab.do("save", {})
    assert moves_of(path.read_bytes()) == [*expected, "Nf3"]
    assert tab.study().encode(errors="surrogateescape") == path.read_bytes()


def test_a_study_that_nobody_has_changed_stays_byte_for_byte(study: tuple[Tab, Path]) -> None:
    tab, path = study
    for number in (2, 3, 1):
        tab.do("open", {"number": number})
        tab.do("go_to", {"node": 1})
    tab.do("save", {})
    assert path.read_bytes() == STUDY == tab.study().encode(errors="surrogateescape")


def test_a_file_that_somebody_else_has_changed_is_not_overwritten(study: tuple[Tab, Path]) -> None:
    tab, path = study
    tab.do("move", {"text": "d4"})
    path.write_bytes(STUDY + b"\n")
    with pytest.raises(ValueError, match=r"study\.pgn was changed by another program: download your games"):
        tab.do("save", {})
    assert path.read_bytes() == STUDY + b"\n"
    path.unlink()
    with pytest.raises(ValueError, match=r"study\.pgn cannot be written: No such file"):
        tab.do("save", {})
    tab.open_games("from the browser.pgn", STUDY)
    assert not snapshot(tab, "games")["can_save"]
    with pytest.raises(ValueError, match="download it instead"):
        tab.do("save", {})


def test_a_changed_game_is_the_same_when_it_is_opened_again(study: tuple[Tab, Path]) -> None:
    tab, _ = study
    tab.do("set_up", {"text": NESTED})
    nodes = [move["node"] for move in snapshot(tab, "tree")["moves"]]
    tab.do("annotate", {"node": nodes[0], "comment": "mine", "glyph": "!!"})
    before = tab.pgn()
    for _ in range(2):
        tab.do("open", {"number": 1})
        assert tab.pgn() == before
    tab.do("chapter", {})
    tab.do("open", {"number": 1})
    assert tab.pgn() == before
    # What was changed stays with its own list.
    tab.do("annotate", {"node": nodes[0], "comment": "later"})
    tab.open_games("other", b'[White "Zoe"]\n\n1. b3 *')
    (row,) = tab.do("list", {"first": 0})["rows"]
    assert row["tags"]["White"] == "Zoe"
    tab.do("open", {"number": 1})
    assert "b3" in tab.pgn()


# --- Reviews and lessons

BLUNDERS = "1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. a3 d6 5. Qxf7# *"
"""Black lets a mate in one happen, White does not see it, and Black lets it happen again."""


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reviews that take a moment."""
    monkeypatch.setattr(GameReview.__init__, "__defaults__", (3000,))


@pytest.mark.usefixtures("quick")
def test_a_review_assesses_all_and_a_lesson_is_made_of_its_mistakes(tab: Tab) -> None:
    tab.do("set_up", {"text": BLUNDERS})
    counts: list[int] = []
    tab.listen(lambda _topic: counts.append(sum("eval" in m for m in snapshot(tab, "tree")["moves"])))
    tab.do("review", {})
    until(tab, "state", lambda value: value["review"] is None)
    assert snapshot(tab, "state")["notice"] == "The game has been reviewed"
    assert {1, 3, 5, 9} < {*counts}, "the curve fills while it goes"
    assert counts == sorted(counts)
    tree = snapshot(tab, "tree")
    main = {move["san"]: move for move in tree["moves"][:9]}
    assert [main[san].get("glyph") for san in ("Nf6", "a3", "d6", "Qxf7#")] == ["??", "??", "??", None]
    assert main["Nf6"]["refutation"][0] == "h5f7"
    assert [side["marks"][2] for side in tree["summary"]["sides"]] == [1, 2]
    game = chess.pgn.read_game(io.StringIO(tab.pgn()))
    nodes = [*game.mainline()]
    assert all(node.eval() is not None for node in nodes)
    assert nodes[5].variation(1).san() == "Qxf7#"

    with pytest.raises(ValueError, match="takes white or black"):
        tab.do("learn", {"side": "both"})
    tab.do("learn", {"side": "black"})
    first = chess.Board()
    for san in ("e4", "e5", "Bc4", "Nc6", "Qh5"):
        first.push_san(san)
    state = snapshot(tab, "state")
    assert (state["fen"], state["flipped"]) == (first.fen(), True)
    assert (state["lesson"]["played"], state["lesson"]["total"]) == ("3... Nf6", 2)
    assert snapshot(tab, "lines")["arrows"] == []
    tab.do("lesson", {"what": "try", "text": "Nf6"})
    assert snapshot(tab, "state")["lesson"]["status"] == "played"
    tab.do("lesson", {"what": "try", "text": "a6"})
    lesson = until(tab, "state", lambda value: value["lesson"]["status"] == "bad")["lesson"]
    assert lesson["loss"] > 20
    assert lesson["best"] == ""
    tab.do("lesson", {"what": "try", "text": "g6"})
    lesson = until(tab, "state", lambda value: value["lesson"]["status"] == "good")["lesson"]
    assert snapshot(tab, "state")["moves"] == []
    assert first.parse_san(lesson["best"])
    with pytest.raises(ValueError, match="No move is asked for now"):
        tab.do("lesson", {"what": "try", "text": "a6"})
    tab.do("lesson", {"what": "next"})
    tab.do("lesson", {"what": "solution"})
    lesson = snapshot(tab, "state")["lesson"]
    arrow = snapshot(tab, "lines")["arrows"][0]
    assert (lesson["status"], arrow["name"]) == ("solution", "best")
    assert square.name(coordinate.squares(read_move(tab.board, lesson["best"]))[0]) == arrow["from"]
    tab.do("lesson", {"what": "next"})
    lesson = snapshot(tab, "state")["lesson"]
    assert (lesson["status"], lesson["solved"], lesson["total"]) == ("over", 1, 2)
    tab.do("lesson", {"what": "end"})
    assert snapshot(tab, "state")["lesson"] is None
    with pytest.raises(ValueError, match="There is no lesson"):
        tab.do("lesson", {"what": "next"})


def test_a_review_that_is_stopped_leaves_what_it_has_found(tab: Tab) -> None:
    tab.do("set_up", {"text": BLUNDERS})
    tab.do("review", {})
    state = until(tab, "state", lambda value: value["review"] is None or value["review"]["done"] >= 2)
    assert state["review"]["total"] == 10
    tab.do("stop_review", {})
    state = snapshot(tab, "state")
    assert state["review"] is None
    tree = snapshot(tab, "tree")
    assert tree["summary"] is None
    assert "eval" in tree["moves"][-1]
    with pytest.raises(ValueError, match="not been reviewed"):
        tab.do("learn", {"side": "white"})


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("command", ["set_up", "mode", "delete", "close"])
def test_a_review_ends_with_what_it_is_about(tab: Tab, command: str) -> None:
    tab.do("set_up", {"text": BLUNDERS})
    tab.do("review", {})
    if command == "close":
        tab.close()
    else:
        values = {
            "set_up": {"text": KIWIPETE},
            "mode": {"mode": "analysis", "game": True},
            "delete": {"node": snapshot(tab, "tree")["moves"][-1]["node"]},
        }
        tab.do(command, values[command])
    assert snapshot(tab, "state")["review"] is None


def test_a_review_of_another_program_is_summed_up(tab: Tab) -> None:
    text = "1. e4 {[%eval 0.3]} e5 {[%eval 0.2]} 2. Qh5 $6 {[%eval -0.5]} Ke7 $4 {[%eval #1]} 3. Qxe5# *"
    tab.do("set_up", {"text": text})
    summary = snapshot(tab, "tree")["summary"]
    white, black = summary["sides"]
    assert (white["marks"], black["marks"]) == ([1, 0, 0], [0, 0, 1])
    assert float(white["accuracy"]) > float(black["accuracy"])
    assert [moment["node"] for moment in summary["moments"]] == [3, 4]
    # Without the best moves, the engine judges.
    tab.do("learn", {"side": "black"})
    assert snapshot(tab, "state")["lesson"]["played"] == "2... Ke7"
    tab.do("lesson", {"what": "try", "text": "Nc6"})
    until(tab, "state", lambda value: value["lesson"]["status"] == "good")
    tab.do("set_up", {"text": text.replace("{[%eval 0.2]}", "")})
    assert snapshot(tab, "tree")["summary"] is None


# --- Books and tablebases


def test_the_moves_of_a_book_come_with_their_shares(tmp_path: Path) -> None:
    path = tmp_path / "book.bin"
    key = chess.polyglot.zobrist_hash(chess.Board())
    weights = {"e2e4": 3, "d2d4": 1}
    entries = [(chess.Move.from_uci(uci), weight) for uci, weight in weights.items()]
    path.write_bytes(
        b"".join(
            struct.pack(">QHHI", key, move.to_square | move.from_square << 6, weight, 0)
            for move, weight in entries
        )
    )
    one = Tab(fen.START, book=Book(str(path)))
    found = {move["uci"]: (move["san"], move["share"]) for move in snapshot(one, "state")["book"]}
    assert found == {"e2e4": ("e4", 75), "d2d4": ("d4", 25)}
    one.do("follow", {"node": 0, "moves": "e2e4"})
    assert snapshot(one, "state")["book"] == []
    one.do("new_game", {"colour": "both"})
    assert snapshot(one, "state")["book"] == [], "no help in a game"
    one.close()


@pytest.mark.skipif(not (SHARED / "syzygy").is_dir(), reason="../shared/data/syzygy is missing")
@pytest.mark.parametrize("text", ["8/8/8/8/3k4/8/1p6/KQ6 w - - 0 1", "8/8/8/2k5/8/8/1P6/1K6 w - - 0 1"])
def test_the_moves_of_the_tablebases_are_python_chess_s(
    tab: Tab, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SYZYGY_PATH", str(SHARED / "syzygy"))
    tab.do("set_up", {"text": text})
    board = chess.Board(text)
    found = snapshot(tab, "state")["tables"]
    assert sorted(move["uci"] for move in found) == sorted(move.uci() for move in board.legal_moves)
    with chess.syzygy.open_tablebase(str(SHARED / "syzygy")) as tables:
        results = []
        for move in found:
            board.push_uci(move["uci"])
            results.append(-tables.probe_wdl(board))
            board.pop()
            assert move["result"] == ("loss", "blessed loss", "draw", "cursed win", "win")[results[-1] + 2]
    assert results == sorted(results, reverse=True)
    tab.do("new_game", {"colour": "both", "here": True})
    assert snapshot(tab, "state")["tables"] == []


# --- Verdicts


def test_the_marks_follow_the_expected_score() -> None:
    for best in range(-600, 601, 50):
        for score in range(best, -1001, -25):
            loss = expected_score(best) - expected_score(score)
            glyph = judge(2, 1, best, score).glyph
            assert glyph == next((mark for mark, least in LOSSES.items() if loss >= least), "")
    assert judge(2, 1, 0, 50).loss == 0
    assert judge(2, 1, 31_999, -31_998).glyph == "??"
    assert judge(2, 1, 31_999, 900).glyph == "??"
    assert judge(2, 1, 31_999, 31_999).glyph == ""


def test_the_only_good_move_is_told() -> None:
    assert judge(1, 1, 300, 300, -100).glyph == "!"
    assert judge(1, 1, 300, 300, 290).glyph == ""
    assert judge(1, 1, 300, 300).glyph == ""
    assert judge(2, 1, 300, 290, 290).glyph == ""


# --- The test board


@pytest.mark.parametrize("text", [*STARTS, MATE])
def test_moves_and_attacks_are_those_of_the_diagram(text: str) -> None:
    board = fen.parse(text)
    lines = diagram.list_moves(board, Style(ascii=True))
    for side, half in (("White", slice(0, 34)), ("Black", slice(34, None))):
        shown = testboard.moves(board)[side]
        title, *rows = [line[half].rstrip() for line in lines if line[half].strip()]
        expected = [f"{move['score']:6}  {move['san']:8} {move['coordinates']}" for move in shown["moves"]]
        assert rows == expected
        assert (shown["reason"] or f"{len(rows)} move") in title
        assert shown["to_move"] == (SIDES[board.side] == side)
    theirs = chess.Board(text)
    for name, (white, black) in testboard.attacks(board).items():
        for colour, found in ((chess.WHITE, white), (chess.BLACK, black)):
            attackers = theirs.attackers(colour, chess.parse_square(name))
            assert found["count"] == len(attackers)
            assert bool(found["least"]) == bool(attackers)


@pytest.mark.parametrize("text", STARTS)
def test_the_worth_of_a_piece_is_the_difference_that_it_makes(text: str) -> None:
    board = fen.parse(text)
    piece_values = testboard.piece_values(board)
    theirs = chess.Board(text)
    assert set(piece_values) == {
        chess.square_name(sq) for sq, piece in theirs.piece_map().items() if piece.piece_type != chess.KING
    }
    assert fen.write(board) == fen.write(fen.parse(text))
    mirrored = testboard.piece_values(fen.mirrored(board))
    for name, worth in piece_values.items():
        assert mirrored[square.name(square.parse(name) ^ 0x70)] == worth


def test_the_tree_of_a_search_has_its_score() -> None:
    board = fen.parse(KIWIPETE)
    search = Search(16)
    counts = search.count_nodes()
    reports: list[Report] = []
    result = search.think(board, Limits(depth=scaled(9, 4)), reports.append)
    branches = testboard.tree(board, search.table, counts)
    best = next(branch for branch in branches if branch.move == result.move)
    assert best.score == reports[-1].score
    assert best.replies
    for branch in branches:
        json.dumps(branch.as_dict())
        assert all(not reply.replies for reply in branch.replies)
        assert branch.nodes == counts.nodes(branch.move) > 0
        assert [reply.nodes for reply in branch.replies] == [
            counts.nodes(branch.move, reply.move) for reply in branch.replies
        ]
    assert testboard.tree(board, Search(1).table) == []
    search.think(fen.parse(fen.START), Limits(depth=1))
    assert all(branch.nodes is None for branch in testboard.tree(board, search.table, counts))


def test_a_mate_in_the_tree_is_counted_from_the_root() -> None:
    board = fen.parse("6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1")
    search = Search(1)
    search.think(board, Limits(depth=4))
    shown = [branch.as_dict() for branch in testboard.tree(board, search.table)]
    for branch in shown:
        if branch["mate"] is not None:
            assert branch["mate"] > 1 or branch["san"] == "Ra8#"


@pytest.mark.skipif(not (SHARED / "syzygy").is_dir(), reason="../shared/data/syzygy is missing")
def test_a_tablebase_win_in_the_tree_is_counted_from_the_root() -> None:
    board = fen.parse("8/8/8/8/3k4/8/1p6/KQ6 w - - 0 1")
    search = Search(1)
    search.use_tablebases(Tablebase([str(SHARED / "syzygy")]), limit=3)
    search.think(board, Limits(depth=3))
    scores = {branch.san: branch.score for branch in testboard.tree(board, search.table)}
    assert scores["Kxb2"] == TABLEBASE_WIN - 1


# --- The analyst


def test_a_deeper_line_is_not_lost_to_a_search_that_begins_again() -> None:
    known = PositionInfo()
    for depth, line, score in ((8, 1, 10), (8, 2, 5), (3, 1, 99), (9, 1, 12)):
        known.note(Report(depth, depth, score, None, 1, 1.0, 0, [score], line))
    assert [(line.depth, line.score) for line in known.lines] == [(9, 12), (8, 5)]


@pytest.fixture
def tab() -> Iterator[Tab]:
    """A tab with a game that has not begun."""
    one = Tab()
    yield one
    one.close()


def until(tab: Tab, topic: str, condition: Any) -> Any:
    """The first snapshot of a topic that fulfils a condition."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        value = snapshot(tab, topic)
        if condition(value):
            return value
        time.sleep(0.01)
    raise AssertionError(f"{topic}: {snapshot(tab, topic)}")


def test_the_lines_are_legal_and_of_the_position_shown(tab: Tab) -> None:
    tab.do("set_up", {"text": KIWIPETE})
    tab.do("engine", {"on": True, "lines": 4})
    found = until(tab, "lines", lambda value: len(value["lines"]) == 4)
    for line in found["lines"]:
        board = chess.Board(KIWIPETE)
        for move in line["moves"]:
            board.push_san(move["san"])
    assert len({line["moves"][0]["san"] for line in found["lines"]}) == 4
    assert 0 <= found["bar"]["share"] <= 1000
    assert len(found["arrows"]) == 4


def test_a_blunder_is_marked_and_refuted_and_the_best_move_told(tab: Tab) -> None:
    tab.do("set_up", {"text": "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR b KQkq - 3 3"})
    tab.do("engine", {"on": True})
    tab.do("move", {"text": "a6"})
    (move,) = until(tab, "tree", lambda value: "glyph" in value["moves"][0])["moves"]
    assert move["glyph"] == "??"
    assert "a blunder" in move["verdict"]
    arrow = snapshot(tab, "lines")["arrows"][0]
    assert (arrow["from"], arrow["to"], arrow["name"]) == ("f3", "f7", "refutation")
    assert "$4" in tab.pgn()
    tab.do("go_to", {"node": 0})
    tab.do("move", {"text": "Nf6"})
    *_, move = until(tab, "tree", lambda value: "verdict" in value["moves"][-1])["moves"]
    assert move.get("glyph", "") in ("", "!", "?!")


def test_what_is_over_is_judged_too(tab: Tab) -> None:
    tab.do("set_up", {"text": "3r2k1/Q4ppp/8/8/8/8/5PPP/6K1 b - - 0 1"})
    tab.do("engine", {"on": True, "threat": True})
    tab.do("move", {"text": "Rd1"})
    (move,) = until(tab, "tree", lambda value: "glyph" in value["moves"][0])["moves"]
    assert move["verdict"] == "Rd1#: the only good move"
    assert snapshot(tab, "state")["end"] == "checkmate"
    assert snapshot(tab, "lines")["bar"]["share"] == 0


def test_the_threat_is_what_the_other_side_would_play(tab: Tab) -> None:
    tab.do("set_up", {"text": "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR b KQkq - 3 3"})
    tab.do("engine", {"threat": True})
    lines = until(tab, "lines", lambda value: isinstance(value["threat"], dict))
    assert lines["threat"]["moves"][0]["san"] == "Qxf7#"
    assert lines["arrows"][-1] == {"from": "f3", "to": "f7", "colour": "purple", "name": "threat"}
    tab.do("set_up", {"text": "4k3/8/8/8/8/8/4R3/4K3 b - - 0 1"})
    assert "in check" in snapshot(tab, "lines")["threat"]


def test_a_threat_that_was_left_too_soon_is_looked_for_again(tab: Tab) -> None:
    text = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR b KQkq - 3 3"
    tab.do("set_up", {"text": text})
    left = Finding(0, 1, [read_move(fen.parse(text.replace(" b ", " w ")), "a3")])
    tab.analyst.known(tab.node).threat = left
    tab.do("engine", {"threat": True})
    until(tab, "lines", lambda value: value["threat"]["moves"][0]["san"] == "Qxf7#")


def test_a_command_that_comes_too_late_begins_no_search() -> None:
    tab = Tab(KIWIPETE)
    tab.close()
    tab.do("engine", {"on": True})
    assert not tab.analyst._thinker._is_searching


def test_who_comes_while_a_tab_is_put_to_rest_wakes_it() -> None:
    tabs = Tabs(Tab, grace=PATIENCE)
    tab = tabs.tab("tab-number-1")
    pause = tab.pause

    def pause_too_late() -> None:
        tabs.join(tab, lambda _topic: None)
        pause()

    tab.pause = pause_too_late  # type: ignore[method-assign]
    tabs._pause(tab)
    assert not tab.analyst.is_paused
    tabs.close()


def test_an_analyst_at_rest_searches_nothing(tab: Tab) -> None:
    tab.do("set_up", {"text": KIWIPETE})
    tab.do("engine", {"on": True})
    until(tab, "lines", lambda value: value["lines"])
    tab.pause()
    deadline = time.monotonic() + PATIENCE
    while tab.analyst._thinker._is_searching and time.monotonic() < deadline:
        time.sleep(0.01)
    tab.do("move", {"text": "O-O"})
    assert not tab.analyst._thinker._is_searching
    tab.resume()
    until(tab, "lines", lambda value: value["lines"])


def test_enough_is_less_than_a_look_back_reaches() -> None:
    """Else some moves would never be judged."""
    if scaled(1, 0) == 0:
        pytest.skip("uncompiled, the search is slow")
    from moff.page.analyst import LOOK_BACK

    reports: list[Report] = []
    Search(16).think(fen.parse(KIWIPETE), LOOK_BACK._replace(movetime=None), reports.append)
    assert reports[-1].depth >= ENOUGH


# --- A tab


def test_a_game_of_two_persons_ends_by_the_rules(tab: Tab) -> None:
    tab.do("new_game", {"colour": "both"})
    for text in ("f3", "e5", "g4", "Qh4"):
        assert snapshot(tab, "state")["moves"]
        tab.do("move", {"text": text})
    state = snapshot(tab, "state")
    assert (state["end"], state["check"], state["moves"]) == ("0-1 (checkmate)", "e1", [])
    assert state["said"] == "2... Qh4#. 0-1: checkmate"
    with pytest.raises(ValueError, match="the game is over"):
        tab.do("move", {"text": "a3"})
    tab.do("take_back", {})
    assert snapshot(tab, "state")["end"] == ""


def test_the_engine_answers_and_moves_at_once_when_the_page_is_closed(tab: Tab) -> None:
    tab.do("new_game", {"colour": "black", "clock": "3600"})
    assert snapshot(tab, "state")["game"]["thinking"]
    tab.pause()
    until(tab, "tree", lambda value: len(value["moves"]) == 1)
    tab.do("move", {"text": "e6"})
    assert snapshot(tab, "state")["game"]["thinking"]
    tab.do("move_now", {})
    until(tab, "tree", lambda value: len(value["moves"]) == 3)
    assert not snapshot(tab, "state")["game"]["thinking"]


def test_an_earlier_position_is_looked_at_but_not_played_on(tab: Tab) -> None:
    tab.do("new_game", {"colour": "both"})
    for text in ("e4", "e5"):
        tab.do("move", {"text": text})
    tab.do("go_to", {"node": 1})
    assert snapshot(tab, "state")["moves"] == []
    with pytest.raises(ValueError, match="earlier position"):
        tab.do("move", {"text": "c5"})
    tab.do("mode", {"mode": "analysis", "game": True})
    tab.do("go_to", {"node": 1})
    tab.do("move", {"text": "c5"})
    assert [move["san"] for move in snapshot(tab, "tree")["moves"]] == ["e4", "e5", "c5"]
    with pytest.raises(ValueError, match="go back to the game"):
        tab.do("resign", {})
    tab.do("mode", {"mode": "play"})
    assert [move["san"] for move in snapshot(tab, "tree")["moves"]] == ["e4", "e5"]


def test_a_notice_goes_away_with_the_next_command(tab: Tab) -> None:
    tab.do("new_game", {"colour": "white", "elo": 600})
    tab.do("draw", {})
    assert snapshot(tab, "state")["notice"].startswith("Draw declined: ")
    tab.do("flip", {})
    assert snapshot(tab, "state")["notice"].startswith("Draw declined: "), "only looking on"
    tab.do("move", {"text": "e4"})
    assert snapshot(tab, "state")["notice"] == ""
    tab.do("take_back", {})
    tab.do("hint", {})
    notice = until(tab, "state", lambda value: value["notice"])["notice"]
    hint = notice.removeprefix("Hint: ")
    (arrow,) = snapshot(tab, "lines")["arrows"]
    assert chess.Board().parse_san(hint).uci() == arrow["from"] + arrow["to"]
    tab.do("move", {"text": hint})
    assert snapshot(tab, "state")["notice"] == ""
    assert snapshot(tab, "lines")["arrows"] == []


def test_a_limited_engine_takes_its_time_if_any(tab: Tab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moff.page.tab.PACES", (PATIENCE, PATIENCE))
    tab.do("new_game", {"colour": "black", "elo": 800})
    time.sleep(0.5)
    assert snapshot(tab, "state")["game"]["thinking"]
    tab.do("move_now", {})
    until(tab, "tree", lambda value: len(value["moves"]) == 1)
    tab.do("new_game", {"colour": "black", "elo": 800, "clock": "4"})
    until(tab, "tree", lambda value: len(value["moves"]) == 1)


def test_draws_and_resignations_are_announced(tab: Tab) -> None:
    tab.do("new_game", {"colour": "both"})
    tab.do("draw", {})
    assert snapshot(tab, "state")["said"] == "1/2-1/2: draw agreed"
    tab.do("new_game", {"colour": "white", "elo": 600})
    tab.do("draw", {})
    assert "accepts no draw before" in snapshot(tab, "state")["said"]
    tab.do("resign", {})
    assert snapshot(tab, "state")["end"] == "0-1 (White resigns)"
    assert '[BlackElo "600"]' in tab.pgn()


def test_a_draw_offer_that_is_thought_about_is_told_at_once(tab: Tab) -> None:
    tab.do("set_up", {"text": "4k3/4p3/8/8/8/8/4P3/4K3 w - - 0 30"})
    tab.do("new_game", {"colour": "white", "here": True})
    told: list[str] = []
    tab.listen(told.append)
    with tab.lock:
        tab.do("draw", {})
        assert "state" in told
        assert snapshot(tab, "state")["game"]["thinking"]


def test_no_clock_runs_while_a_hint_is_thought_of_before_the_first_move(tab: Tab) -> None:
    tab.do("new_game", {"colour": "white", "clock": "60"})
    tab.do("hint", {})
    game = snapshot(tab, "state")["game"]
    assert (game["thinking"], game["running"]) == (True, "")
    tab.do("move", {"text": "e4"})
    assert snapshot(tab, "state")["game"]["running"] == "Black"


def test_a_fallen_flag_ends_the_game(tab: Tab) -> None:
    tab.do("new_game", {"colour": "both", "clock": "0.2"})
    tab.do("move", {"text": "e4"})
    state = until(tab, "state", lambda value: value["end"])
    assert state["end"] == "1-0 (Black runs out of time)"
    assert state["game"]["running"] == ""


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("new_game", {}, "colour takes white, black, random or both"),
        ("new_game", {"colour": ["white"]}, "colour takes"),
        ("new_game", {"colour": "white", "elo": 10}, "Elo takes a whole number"),
        ("new_game", {"colour": "white", "elo": None}, "Elo takes a whole number"),
        ("new_game", {"colour": "white", "clock": "soon"}, "is not a time"),
        ("engine", {"on": 1}, "on takes true or false"),
        ("engine", {"lines": 6}, "lines takes a whole number from 1 to 5"),
        ("engine", {"lines": 2.0}, "lines takes a whole number"),
        ("move", {"text": "x" * 100_000}, "text takes a text of at most"),
        ("open", {"number": 1}, "no games are listed"),
        ("follow", {"node": 0, "moves": "e4"}, "analyse it first"),
        ("delete", {"node": 0}, "analyse it first"),
        ("mode", {"mode": "sleep"}, "mode takes play or analysis"),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(
    tab: Tab, name: str, values: dict[str, Any], said: str
) -> None:
    before = [snapshot(tab, topic) for topic in ("state", "tree", "lines", "games")]
    with pytest.raises(ValueError, match=said):
        tab.do(name, values)
    assert [snapshot(tab, topic) for topic in ("state", "tree", "lines", "games")] == before


def test_a_position_is_set_up_with_what_was_assumed(tab: Tab) -> None:
    tab.do("set_up", {"text": "8/8/8/3k4/8/3K4/3P4/8 b"})
    state = snapshot(tab, "state")
    assert "assumed" in state["notice"]
    assert (state["mode"], state["side"], state["flipped"]) == ("analysis", "Black", True)


def test_slashes_alone_make_no_fen(tab: Tab) -> None:
    tab.do("set_up", {"text": "1. e4 {see http://a/b/c/d/e/f/g} e5"})
    assert [move["san"] for move in snapshot(tab, "tree")["moves"]] == ["e4", "e5"]


def test_a_text_with_half_a_character_is_taken(tab: Tab) -> None:
    tab.do("set_up", {"text": "1. e4 {\ud83d} e5"})
    assert snapshot(tab, "tree")["moves"][0]["comment"] == "?"


def test_a_damaged_game_is_told_when_it_is_opened(tab: Tab) -> None:
    tab.do("set_up", {"text": '1. e4 *\n\n[Event "A"]\n[FEN "8/8"]\n\n1. e4 *\n'})
    assert "damaged" not in snapshot(tab, "state")["said"]
    tab.do("open", {"number": 2})
    assert snapshot(tab, "state")["said"].startswith("Game 2 is damaged: line 3: bad FEN '8/8'")


def test_a_new_list_is_another_one_though_it_looks_the_same(tab: Tab) -> None:
    lists = []
    for text in ("1. e4 *", "1. d4 *"):
        tab.do("set_up", {"text": text})
        lists.append(snapshot(tab, "games"))
    assert lists[0].pop("list") != lists[1].pop("list")
    assert lists[0] == lists[1]


def test_a_position_takes_the_mark_off_the_game_that_was_opened(tab: Tab) -> None:
    tab.do("set_up", {"text": "1. e4 *"})
    told: list[str] = []
    tab.listen(told.append)
    tab.do("set_up", {"text": KIWIPETE})
    assert "games" in told
    assert snapshot(tab, "games")["opened"] == 0


def test_moves_that_are_known_do_not_change_a_study(study: tuple[Tab, Path]) -> None:
    tab, path = study
    before = path.read_bytes()
    san = snapshot(tab, "tree")["moves"][0]["san"]
    tab.do("go_to", {"node": 0})
    tab.do("move", {"text": san})
    tab.do("save", {})
    assert path.read_bytes() == before


def test_a_damaged_game_is_not_written_over_and_rescues_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "study.pgn"
    path.write_text("1. e4 e5 2. Nf9 Nc6 *\n", encoding="utf-8")
    games = GameList("study.pgn", path.read_bytes(), str(path))
    tab = Tab("", games)
    tab.do("annotate", {"node": 1, "comment": "good"})
    with pytest.raises(ValueError, match="game 1 is damaged, and what follows the damage would be lost"):
        tab.do("save", {})
    tab.close()
    assert "Nf9" in path.read_text(encoding="utf-8")
    assert games.rescue() != games.rescue()


def test_a_rematch_begins_where_the_game_began(tab: Tab) -> None:
    tab.do("set_up", {"text": KIWIPETE})
    tab.do("new_game", {"colour": "both", "here": True})
    tab.do("move", {"text": "e1g1"})
    tab.do("resign", {})
    tab.do("new_game", {"colour": "both", "again": True})
    assert snapshot(tab, "state")["fen"] == KIWIPETE


def test_evaluations_without_marks_make_marks(tab: Tab) -> None:
    text = "1. e4 {[%eval 0.3]} e5 {[%eval 0.3]} 2. f4 {[%eval 0.0]} d6 {[%eval 0.1]} 3. g4 {[%eval -4.0]} *"
    tab.do("set_up", {"text": text})
    tree = snapshot(tab, "tree")
    assert [move.get("glyph", "") for move in tree["moves"]] == ["", "", "", "", "??"]
    assert [moment["node"] for moment in tree["summary"]["moments"]] == [5]
    tab.do("set_up", {"text": text.replace("f4", "f4 $1")})  # somebody has marked the moves
    assert [move.get("glyph", "") for move in snapshot(tab, "tree")["moves"]] == ["", "", "!", "", ""]


def test_the_fen_after_every_move_is_told(tab: Tab) -> None:
    tab.do("set_up", {"text": "1. e4 e5 2. Nf3 *"})
    told = tab.do("fens", {})
    board = chess.Board()
    assert told["start"] == board.fen()
    for move in told["moves"]:
        board.push_san(move["san"])
        assert move["fen"] == board.fen(en_passant="legal")
    assert len(told["moves"]) == 3


def test_a_list_is_told_in_parts(tab: Tab) -> None:
    tab.open_games("many", b"".join(b'[White "W%d"]\n\n1. e4 *\n\n' % i for i in range(250)))
    part = tab.do("list", {"first": 0})
    assert (part["count"], len(part["rows"])) == (250, MOST_ROWS)
    rest = tab.do("list", {"first": 2 * MOST_ROWS, "words": "w"})
    assert [row["number"] for row in rest["rows"]] == [*range(201, 251)]
    tab.do("open", {"number": 77})
    assert snapshot(tab, "tree")["tags"]["White"] == "W76"
    assert snapshot(tab, "games")["opened"] == 77


def test_a_live_line_is_followed_on_the_board(tab: Tab) -> None:
    tab.do("set_up", {"text": KIWIPETE})
    tab.do("engine", {"on": True, "lines": 1})
    until(tab, "lines", lambda value: value["lines"] and len(value["lines"][0]["moves"]) >= 2)
    shown = snapshot(tab, "lines")
    sans = [move["san"] for move in shown["lines"][0]["moves"][:2]]
    # Wherever the board has gone since, and whatever the engine shows by now.
    tab.do("move", {"text": "a2a3"})
    tab.do("follow", {"node": shown["node"], "moves": " ".join(sans)})
    _, *moves = snapshot(tab, "tree")["moves"]
    assert [move["san"] for move in moves] == sans
    assert snapshot(tab, "state")["node"] == moves[-1]["node"]
    with pytest.raises(ValueError, match="'Ke5'"):
        tab.do("follow", {"node": shown["node"], "moves": "O-O Ke5"})
    assert len(snapshot(tab, "tree")["moves"]) == 3


def test_every_snapshot_is_json(tab: Tab) -> None:
    tab.do("set_up", {"text": NESTED})
    tab.do("engine", {"on": True, "threat": True})
    for node in [0, *(move["node"] for move in snapshot(tab, "tree")["moves"])]:
        tab.do("go_to", {"node": node})
        for topic in ("state", "tree", "lines", "games"):
            json.dumps(snapshot(tab, topic), allow_nan=False)
        for name in ("testboard", "searched", "fens"):
            json.dumps(tab.do(name, {}), allow_nan=False)


def test_listeners_are_told_what_changes(tab: Tab) -> None:
    told: list[str] = []
    tab.listen(told.append)
    tab.do("new_game", {"colour": "both"})
    told.clear()
    tab.do("move", {"text": "e4"})
    assert set(told) == {"state", "tree", "lines"}
    told.clear()
    assert not tab.leave(told.append)
    tab.do("move", {"text": "e5"})
    assert told == []


def test_the_moves_that_may_be_made_are_python_chess_s(tab: Tab) -> None:
    for text in STARTS:
        tab.do("set_up", {"text": text})
        moves = snapshot(tab, "state")["moves"]
        board = chess.Board(text)
        castles = [move for move in board.legal_moves if board.is_castling(move)]
        expected = [move.uci() for move in board.legal_moves]
        # The king may also be put onto its rook.
        expected += [board.uci(move, chess960=True) for move in castles]
        assert sorted(moves) == sorted(expected)
        for move in moves:
            tab.do("move", {"text": move})
            assert fen.write(tab.board) == _after(board, move).fen(en_passant="legal")
            tab.do("go_to", {"node": 0})


def _after(board: chess.Board, move: str) -> chess.Board:
    after = board.copy()
    after.push(after.parse_uci(move))
    return after


def test_an_analyst_needs_a_lock_and_nothing_else() -> None:
    import threading

    analyst = Analyst(threading.RLock(), lambda: None, lambda _node, _is_marked: None)
    assert analyst.search is None
    analyst.leave()
    analyst.close()


def test_all_that_is_sent_together_is_of_one_moment(tab: Tab, monkeypatch: pytest.MonkeyPatch) -> None:
    tab.do("new_game", {"colour": "both"})
    with socket.socket() as connection:
        stream = Stream(connection)
        snapshots(tab, stream.take)
        tab.listen(stream.mark)
        tab.do("move", {"text": "e4"})
        reply = threading.Thread(target=tab.do, args=("move", {"text": "e5"}))

        def look(tab: Tab, topic: str) -> dict[str, Any]:
            """Somebody moves as soon as the first topic has been looked at."""
            found = snapshot(tab, topic)
            if reply.ident is None:
                reply.start()
                reply.join(0.2)
            return found

        monkeypatch.setattr(tabview, "snapshot", look)
        for sans in (["e4"], ["e4", "e5"]):
            changes = snapshots(tab, stream.take)
            assert [*changes] == ["tree", "state", "lines"]
            moves = changes["tree"]["moves"]
            assert [move["san"] for move in moves] == sans
            assert changes["state"]["node"] == moves[-1]["node"]
            reply.join()


def test_what_changes_while_a_change_is_waited_for_is_sent_with_it(tab: Tab) -> None:
    found: list[set[str]] = []
    with socket.socket() as connection:
        stream = Stream(connection)
        snapshots(tab, stream.take)
        tab.listen(stream.mark)
        reader = threading.Thread(target=lambda: found.append({*snapshots(tab, stream.take)}))
        with tab.lock:
            tab._changed("tree")
            reader.start()
            reader.join(0.1)
            tab._changed("state")
        reader.join(PATIENCE)
    assert found == [{"state", "tree"}]
