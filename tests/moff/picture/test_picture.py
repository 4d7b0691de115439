"""Pictures as SVG, read back and compared with python-chess; `moff picture`, which writes them."""

import dataclasses
import os
import re
import stat
import sys
from pathlib import Path
from unittest.mock import Mock
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import chess
import pytest

import moff
from moff import atomic_write
from moff.picture.annotation import COLOURS
from moff.picture.figurine import FIGURINES
from moff.picture.picture import MAX_SIZE, MIN_SIZE, STANDARD_SIZE, Picture
from tests.client import call, run
from tests.oracle import KINDS, STARTS, packed, random_boards, scaled
from x88.notation import fen

SVG = "{http://www.w3.org/2000/svg}"
MATE = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"
BUSY = Picture(
    MATE, last_move="d8h4", arrows=["h4e1:red", "b1c3", "g1f3:blue"], marked=["e5", "d2:purple"], attacks=True
)
WORDS = [
    *("picture", MATE, "--attacks", "--last-move", "d8h4", "--mark", "e5", "--mark", "d2:purple"),
    *("--arrow", "h4e1:red", "--arrow", "b1c3", "--arrow", "g1f3:blue"),
]
"""The command line that draws it."""


class Drawing:
    """A picture as a viewer sees it: the pieces and marks by the coordinates beside the board."""

    def __init__(self, picture: Picture) -> None:
        self.root = ElementTree.fromstring(picture.svg())
        assert self.root.tag == f"{SVG}svg"
        (board,) = (element for element in self.root if element.get("width") == "800")
        self.left, self.top = float(board.get("x")), float(board.get("y"))
        self.files, self.ranks = {}, {}
        for text in self.layer("coordinates"):
            if text.text in "abcdefgh":
                self.files[(float(text.get("x")) - self.left) // 100] = text.text
            else:
                self.ranks[(float(text.get("y")) - self.top) // 100] = text.text

    def at(self, x: float, y: float) -> str:
        """The name of the square at a point."""
        return self.files[(x - self.left) // 100] + self.ranks[(y - self.top) // 100]

    def inside(self, x: float, y: float) -> tuple[float, float]:
        """Where a point stands in its square, from 0 to 100 across and down."""
        return (x - self.left) % 100, (y - self.top) % 100

    def layer(self, name: str) -> list[Element]:
        """The elements of the layers of that name."""
        return [element for group in self.root if group.get("data-layer") == name for element in group]


def points(path: Element) -> list[tuple[float, float]]:
    """The corners of a polygon."""
    text = path.get("d")
    assert re.fullmatch(r"M[\d.]+ [\d.]+(L[\d.]+ [\d.]+)+z", text)
    return [(float(x), float(y)) for x, y in re.findall(r"([\d.]+) ([\d.]+)", text)]


def middle(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    return (one[0] + other[0]) / 2, (one[1] + other[1]) / 2


# --- The board


@pytest.mark.parametrize(
    ("name", "options", "picture"),
    [
        ("busy.svg", [], BUSY),
        ("busy-dark.svg", ["--dark", "--black"], dataclasses.replace(BUSY, theme="dark", flipped=True)),
    ],
)
def test_the_picture_is_the_one_that_was_looked_at(name: str, options: list[str], picture: Picture) -> None:
    """After a change that is meant: `moff picture ... -o tests/moff/picture/busy.svg`, and look at it."""
    wanted = Path(__file__).with_name(name).read_text(encoding="utf-8")
    assert picture.svg() == wanted
    for seed in ("1", "2"):
        ended = run(*WORDS, *options, env=dict(os.environ, PYTHONHASHSEED=seed))
        assert (ended.code, ended.output) == (0, wanted)
    elements = [*ElementTree.fromstring(wanted).iter()]
    tags = {element.tag.removeprefix(SVG) for element in elements}
    assert tags == {"svg", "title", "desc", "g", "path", "rect", "circle", "text"}, "only shapes and text"
    for name, value in (pair for element in elements for pair in element.attrib.items()):
        assert not re.match(r"(id|class|style|href)$|on|\{", name), name
        assert "url(" not in value
        assert "://" not in value


@pytest.mark.slow
@pytest.mark.parametrize("flipped", [False, True])
def test_pieces_checks_and_attackers_stand_on_their_squares(flipped: bool) -> None:
    for position in [*map(chess.Board, (*STARTS, MATE)), *random_boards(scaled(60, 30), seed=1)]:
        drawing = Drawing(Picture(position.fen(en_passant="fen"), flipped=flipped, attacks=True))
        assert drawing.files[0] + drawing.ranks[0] == ("h1" if flipped else "a8")
        found = {}
        for colour, name in ((chess.WHITE, "white"), (chess.BLACK, "black")):
            for piece in drawing.layer(name):
                x, y = map(float, re.fullmatch(r"translate\((\d+) (\d+)\)", piece.get("transform")).groups())
                assert drawing.inside(x, y) == (0, 0)
                kind = chess.Piece.from_symbol(piece.get("data-piece"))
                found[drawing.at(x + 50, y + 50)] = kind
                assert kind.color == colour
                assert [path.get("d") for path in piece] == [*FIGURINES[KINDS[kind.piece_type]]]
            counts = {}
            for text in drawing.layer(f"{name}-attackers"):
                x, y = float(text.get("x")), float(text.get("y"))
                across, down = drawing.inside(x, y)
                assert (across < 30 if colour else across > 70, down > 70) == (True, True)
                counts[chess.parse_square(drawing.at(x, y))] = int(text.text)
            wanted = {square: len(position.attackers(colour, square)) for square in chess.SQUARES}
            assert counts == {square: count for square, count in wanted.items() if count}
        pieces = position.piece_map().items()
        assert found == {chess.square_name(square): piece for square, piece in pieces}
        bursts = {drawing.at(x, y) for burst in drawing.layer("check") for x, y in points(burst)}
        king = chess.square_name(position.king(position.turn))
        assert bursts == ({king} if position.is_check() else set())
        side = "White" if position.turn else "Black"
        check = ", in check" * position.is_check()
        assert drawing.root.findtext(f"{SVG}title") == f"Chess position, {side} to move{check}"


@pytest.mark.parametrize("flipped", [False, True])
def test_dark_squares_marks_and_the_last_move_stand_on_their_squares(flipped: bool) -> None:
    names = [(name, [*COLOURS][i % len(COLOURS)]) for i, name in enumerate(chess.SQUARE_NAMES)]
    drawing = Drawing(Picture(marked=names, last_move="e1g1", flipped=flipped, size=MIN_SIZE))
    (dark,) = (element for element in drawing.root if element.tag == f"{SVG}path")
    corners = re.findall(r"M(\d+) (\d+)h100v100h-100z", dark.get("d"))
    found = {drawing.at(int(x) + 50, int(y) + 50) for x, y in corners}
    assert found == {chess.square_name(square) for square in chess.SquareSet(chess.BB_DARK_SQUARES)}
    for mark, (name, colour) in zip(drawing.layer("marks"), names, strict=True):
        x, y = map(float, re.match(r"M(\d+) (\d+)h96v96h-96z", mark.get("d")).groups())
        assert (drawing.at(x, y), drawing.inside(x, y), mark.get("fill")) == (name, (2, 2), COLOURS[colour])
    rects = [(float(rect.get("x")), float(rect.get("y"))) for rect in drawing.layer("last-move")]
    assert [drawing.at(*corner) for corner in rects] == ["e1", "g1"]
    assert [drawing.inside(*corner) for corner in rects] == [(0, 0)] * 2


def test_squares_moves_and_colours_may_be_given_in_any_form() -> None:
    e2, e4 = chess.E2, chess.E4
    arrows = ["e2e4:blue", ("e2", "e4", "blue"), (e2, e4, "blue"), ("e2", e4, "blue")]
    assert len({Picture(arrows=[arrow]) for arrow in arrows}) == 1
    arrows = ["e2e4", ("e2", "e4"), (e2, e4), (e2, e4, "green")]
    assert len({Picture(arrows=[arrow]) for arrow in arrows}) == 1
    assert len({Picture(marked=[mark]) for mark in ("e4:sky", ("e4", "sky"), (e4, "sky"))}) == 1
    assert len({Picture(marked=[mark]) for mark in ("e4", e4, ("e4",), (e4, "orange"))}) == 1
    assert len({Picture(last_move=move) for move in ("e2e4", "e2e4q", (e2, e4), moff.Move(e2, e4))}) == 1
    board = fen.parse(fen.START)
    number = packed(board)["e2e4"]
    board.make(number)
    assert Picture(board, last_move=number) == Picture(board, last_move="e2e4") != Picture(board)
    assert Picture() == Picture(last_move=0) == Picture(fen.START, size=STANDARD_SIZE)
    assert Picture() == Picture(moff.Board(), last_move=moff.Move.null())


@pytest.mark.parametrize("flipped", [False, True])
def test_arrows_lead_from_square_to_square(flipped: bool) -> None:
    pairs = [(a, b) for a in chess.SQUARE_NAMES for b in chess.SQUARE_NAMES if a != b]
    drawing = Drawing(Picture(arrows=pairs, flipped=flipped))
    arrows = drawing.layer("arrows")
    assert [arrow.get("data-arrow") for arrow in arrows] == [a + b for a, b in pairs]
    bends = 0
    for arrow, (origin, target) in zip(arrows, pairs, strict=True):
        corners = points(arrow)
        # Both sides of the shaft with the head, and the tip between them.
        half = len(corners) // 2
        tip, line = corners[half], [middle(corners[i], corners[-1 - i]) for i in range(half)]
        assert (drawing.at(*tip), drawing.inside(*tip)) == (target, (50, 50))
        assert {drawing.at(*point) for point in (line[0], corners[0], corners[-1])} == {origin}
        assert all(drawing.at(*point) == target for point in line[-2:])
        shaft, head = (abs(complex(*corners[i]) - complex(*corners[-1 - i])) for i in (0, half - 1))
        assert 10 < 2 * shaft < head < 50
        if chess.parse_square(target) in chess.SquareSet(chess.BB_KNIGHT_ATTACKS[chess.parse_square(origin)]):
            bends += 1
            bend = drawing.at(*line[1])
            assert drawing.inside(*line[1]) == (50, 50)
            assert chess.square_distance(chess.parse_square(origin), chess.parse_square(bend)) == 2
            assert chess.square_distance(chess.parse_square(bend), chess.parse_square(target)) == 1
            assert len(line) == 4
        else:
            assert len(line) == 3
    assert bends == 336


def test_ten_attackers_are_written_smaller() -> None:
    crowd = "k7/8/2N1N3/1NQQQN2/2Q1Q3/2QQQ3/8/K7 w - - 0 1"
    texts = Drawing(Picture(crowd, attacks=True)).layer("white-attackers")
    assert {int(text.text) > 9: text.get("font-size") for text in texts} == {False: None, True: "18"}


NO_CHARACTERS = "\0\x08\x1b[31m\x7f, lone \ud800 half, no \uffff character"


@pytest.mark.parametrize(
    "title",
    [
        *("Réti & co: 3. Sf3 — «gut»", "</title><script>alert(1)</script>", "\U0001f40e", NO_CHARACTERS),
        "]]> <!-- --> &amp; &lt; \"quoted\" 'so'",
    ],
)
def test_hostile_titles_stay_text(title: str) -> None:
    svg = Picture(title=title).svg()
    root = ElementTree.fromstring(svg.encode("utf-8"))
    assert root.findtext(f"{SVG}title") == re.sub("[\0\x08\x1b\ud800\uffff]", "\ufffd", title)
    assert len(root.findall(f"{SVG}title")) == 1
    assert "<script" not in svg


def test_pictures_are_values_that_a_notebook_shows() -> None:
    assert hash(dataclasses.replace(BUSY)) == hash(BUSY)
    with pytest.raises(dataclasses.FrozenInstanceError):
        BUSY.flipped = True
    board = fen.parse(MATE)
    picture = Picture(board)
    assert moff.Picture(moff.Board(MATE)).svg() == picture.svg()
    assert picture._repr_svg_() == Picture(MATE).svg()
    board.clear()
    assert picture.svg() == Picture(MATE).svg()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"position": "8/8 w"}, "bad FEN '8/8 w': "),
        ({"position": moff.Board.empty()}, "White has 0 kings"),
        ({"theme": "pink"}, "'pink' is not a theme: it must be light or dark"),
        (
            {"size": MIN_SIZE - 1},
            f"size takes a whole number from {MIN_SIZE} to {MAX_SIZE}, not {MIN_SIZE - 1}",
        ),
        ({"size": MAX_SIZE + 1}, f"not {MAX_SIZE + 1}"),
        ({"last_move": "e2"}, "bad last move 'e2': it must name two squares"),
        ({"last_move": "e7e8qq"}, "bad last move 'e7e8qq': "),
        ({"last_move": ("e2", "x")}, r"bad last move \('e2', 'x'\): 'x' is not a square"),
        ({"last_move": -1}, "bad last move -1: it is not a packed move"),
        ({"last_move": 0x08}, "8 is not a square"),
        ({"arrows": ["e2"]}, "bad arrow 'e2': it must name two squares"),
        ({"arrows": ["e2e4", "e2e4e6"]}, "bad arrow 'e2e4e6': 'e4e6' is not a square"),
        ({"arrows": ["e2e4:pink"]}, "bad arrow 'e2e4:pink': 'pink' is not a colour: it must be green, "),
        ({"arrows": ["e2e2"]}, "bad arrow 'e2e2': its two squares are the same"),
        ({"arrows": [(0, 64)]}, r"bad arrow \(0, 64\): 64 is not a square"),
        ({"arrows": [("e2",)]}, r"bad arrow \('e2',\): "),
        ({"marked": ["e9"]}, "bad mark 'e9': 'e9' is not a square"),
        ({"marked": [-1]}, "bad mark -1: -1 is not a square"),
        ({"marked": [()]}, r"bad mark \(\): "),
    ],
)
def test_faulty_arguments_are_refused(arguments: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Picture(**arguments)


# --- The command


def test_moff_picture_writes_a_file(tmp_path: Path) -> None:
    path = tmp_path / "board.svg"
    for arguments, wanted in (
        ([], Picture()),
        (["--no-coordinates", "--size", str(MAX_SIZE)], Picture(coordinates=False, size=MAX_SIZE)),
    ):
        assert call("picture", *arguments, "-o", str(path)) == (0, "", "")
        assert path.read_bytes() == wanted.svg().encode()
        assert os.listdir(tmp_path) == ["board.svg"]
    text = " ".join(call("picture", "--help").output.split())
    assert f"COLOUR is {', '.join([*COLOURS][:-1])} or {[*COLOURS][-1]}." in text
    assert f"(default {STANDARD_SIZE})" in text


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["8/8/8/8/8/8/8/K6 w - - 0 1"], "bad FEN '8/8/8/8/8/8/8/K6 w - - 0 1': placement: rank 1 "),
        ([""], "bad FEN ''"),
        (["--last-move", "e2e9"], "bad last move 'e2e9': 'e9' is not a square"),
        (["--arrow", "e2e4", "--arrow", "e2x4"], "bad arrow 'e2x4': 'x4' is not a square"),
        (["--mark", "e4:<b>"], "bad mark 'e4:<b>': '<b>' is not a colour"),
        (["--size", "0"], f"--size: it takes a whole number from {MIN_SIZE} to {MAX_SIZE}, not '0'"),
        (["--nonsense"], "unrecognized arguments: --nonsense"),
        ([fen.START, MATE], "unrecognized arguments: "),
    ],
)
def test_wrong_usage_leaves_the_old_file(arguments: list[str], reason: str, tmp_path: Path) -> None:
    path = tmp_path / "board.svg"
    path.write_text("old", encoding="utf-8")
    ended = call("picture", "-o", str(path), *arguments)
    assert (ended.code, ended.output) == (1 if "FEN" in reason else 2, "")
    assert reason in ended.errors.splitlines()[-1]
    assert path.read_text(encoding="utf-8") == "old"
    assert os.listdir(tmp_path) == ["board.svg"]


def test_a_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "board.svg"
    path.write_text("old", encoding="utf-8")
    for wrong in (tmp_path, tmp_path / "missing" / "board.svg"):
        ended = call("picture", "-o", str(wrong))
        assert (ended.code, ended.output) == (1, "")
        (line,) = ended.errors.splitlines()
        assert line.startswith(f"{wrong}: ")
    with monkeypatch.context() as patched:
        patched.setattr(atomic_write.os, "replace", Mock(side_effect=OSError(28, "No space left on device")))
        with pytest.raises(OSError, match="No space left"):
            atomic_write.save(str(path), "new")
    monkeypatch.setattr(atomic_write.os, "access", lambda *_: False)  # nothing is forbidden to root
    with pytest.raises(PermissionError):
        atomic_write.save(str(path), "new")
    assert path.read_text(encoding="utf-8") == "old"
    assert os.listdir(tmp_path) == ["board.svg"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other links and permissions")
def test_links_permissions_and_devices_stay(tmp_path: Path) -> None:
    names = ("board.svg", "link.svg", "dangling.svg", "new.svg", "plain", "pipe")
    path, link, dangling, new, plain, pipe = (tmp_path / name for name in names)
    path.write_text("old", encoding="utf-8")
    path.chmod(0o640)
    plain.touch()
    link.symlink_to(path.name)
    dangling.symlink_to(new.name)
    for written in (link, dangling):
        atomic_write.save(str(written), "new")
        assert written.is_symlink()
    assert path.read_text(encoding="utf-8") == new.read_text(encoding="utf-8") == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert new.stat().st_mode == plain.stat().st_mode
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    atomic_write.save(str(pipe), "new")
    assert os.read(reader, 100) == b"new"
    os.close(reader)
    assert pipe.is_fifo()
    assert run("picture", "-o", "/dev/stdout") == (0, Picture().svg(), "")
