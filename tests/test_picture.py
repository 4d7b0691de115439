"""Pictures as SVG, read back and compared with python-chess; `moff picture`, which writes them."""

import dataclasses
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from random import Random
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import chess
import pytest

import moff
from moff import output
from moff.annotation import COLOURS
from moff.figurine import FIGURINES
from moff.picture import LARGEST, SMALLEST, STANDARD_SIZE, THEMES, Picture
from tests.client import ENGINE
from tests.oracle import KINDS, STARTS, Game, packed, scaled, thrown, to_0x88
from x88 import fen

SVG = "{http://www.w3.org/2000/svg}"
MATE = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"
BUSY = Picture(
    MATE,
    last_move="d8h4",
    arrows=["h4e1:red", "b1c3", "g1f3:blue"],
    marked=["e5", "d2:purple"],
    attacks=True,
)
EVERYWHERE = [
    pytest.param(flipped, theme, id=f"{theme}-{'black' if flipped else 'white'}")
    for theme in THEMES
    for flipped in (False, True)
]


def positions(number: int, seed: int) -> Iterator[chess.Board]:
    """Positions of random games by turns with pieces thrown on the board, after the chosen ones."""
    yield from map(chess.Board, (*STARTS, MATE))
    random = Random(seed)
    for i in range(number):
        position = thrown(random, 28)
        while position is None:
            position = thrown(random, 28)
        if i % 2:
            game = Game(random.choice(STARTS), random.randbytes(40))
            position = [position, *(reached for reached, _ in game.moves())][-1]
        yield position


def same_fen(position: chess.Board) -> str:
    return position.fen(en_passant="fen")


class Drawing:
    """A picture as a viewer sees it: what stands where, by the coordinates beside the board."""

    def __init__(self, picture: Picture) -> None:
        self.root = ElementTree.fromstring(picture.svg())
        assert self.root.tag == f"{SVG}svg"
        self.boxes = [element for element in self.root if element.get("width") == "800"]
        (board,) = self.boxes
        self.left, self.top = float(board.get("x")), float(board.get("y"))
        names = self.layer("coordinates")
        self.files = {
            self._column(float(text.get("x"))): text.text for text in names if text.text in "abcdefgh"
        }
        self.ranks = {self._row(float(text.get("y"))): text.text for text in names if text.text in "12345678"}

    def _column(self, x: float) -> int:
        return int((x - self.left) // 100)

    def _row(self, y: float) -> int:
        return int((y - self.top) // 100)

    def at(self, x: float, y: float) -> str:
        """The name of the square at a point."""
        return self.files[self._column(x)] + self.ranks[self._row(y)]

    def inside(self, x: float, y: float) -> tuple[float, float]:
        """Where a point stands in its square, from 0 to 100 across and down."""
        return (x - self.left) % 100, (y - self.top) % 100

    def layer(self, name: str) -> list[Element]:
        """The elements of the layers of that name."""
        return [element for group in self.root if group.get("data-layer") == name for element in group]

    def text(self, tag: str) -> str:
        """The text of a child, as `title` and `desc` are."""
        return self.root.findtext(f"{SVG}{tag}")


def points(path: Element) -> list[tuple[float, float]]:
    """The corners of a polygon."""
    text = path.get("d")
    assert re.fullmatch(r"M[\d.]+ [\d.]+(L[\d.]+ [\d.]+)+z", text)
    return [(float(x), float(y)) for x, y in re.findall(r"([\d.]+) ([\d.]+)", text)]


def middle(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    return (one[0] + other[0]) / 2, (one[1] + other[1]) / 2


# --- The board


@pytest.mark.parametrize(("flipped", "theme"), EVERYWHERE)
def test_every_piece_stands_on_its_square(flipped: bool, theme: str) -> None:
    for position in positions(200, seed=1):
        drawing = Drawing(Picture(same_fen(position), flipped=flipped, theme=theme))
        found = {}
        for colour, name in ((chess.WHITE, "white"), (chess.BLACK, "black")):
            for piece in drawing.layer(name):
                x, y = map(float, re.fullmatch(r"translate\((\d+) (\d+)\)", piece.get("transform")).groups())
                assert drawing.inside(x, y) == (0, 0)
                assert drawing.at(x + 50, y + 50) == piece.get("data-square")
                found[chess.parse_square(piece.get("data-square"))] = piece.get("data-piece")
                kind = chess.Piece.from_symbol(piece.get("data-piece"))
                assert kind.color == colour
                assert [path.get("d") for path in piece] == [*FIGURINES[KINDS[kind.piece_type]]]
        assert found == {square: piece.symbol() for square, piece in position.piece_map().items()}


def test_every_kind_has_a_drawing_of_its_own() -> None:
    assert FIGURINES.keys() == {*KINDS.values()}
    assert len({figurine.shapes for figurine in FIGURINES.values()}) == len(FIGURINES)


@pytest.mark.parametrize(("flipped", "corner"), [(False, "a8"), (True, "h1")])
def test_the_coordinates_name_every_file_and_rank(flipped: bool, corner: str) -> None:
    drawing = Drawing(Picture(flipped=flipped))
    assert sorted(drawing.files.values()) == [*"abcdefgh"]
    assert sorted(drawing.ranks.values()) == [*"12345678"]
    assert drawing.files[0] + drawing.ranks[0] == corner


@pytest.mark.parametrize("flipped", [False, True])
def test_the_dark_squares_are_dark(flipped: bool) -> None:
    drawing = Drawing(Picture(flipped=flipped))
    (dark,) = (element for element in drawing.root if element.tag == f"{SVG}path")
    corners = re.findall(r"M(\d+) (\d+)h100v100h-100z", dark.get("d"))
    names = {drawing.at(int(x) + 50, int(y) + 50) for x, y in corners}
    assert names == {chess.square_name(square) for square in chess.SquareSet(chess.BB_DARK_SQUARES)}
    assert brightness(dark.get("fill")) < brightness(drawing.boxes[0].get("fill"))


def test_without_coordinates_the_board_fills_the_picture() -> None:
    root = ElementTree.fromstring(Picture(coordinates=False).svg())
    assert not root.findall(f".//{SVG}text")
    *_, width, height = map(int, root.get("viewBox").split())
    assert width == height < 820
    for picture in (Picture(), Picture(coordinates=False)):
        root = ElementTree.fromstring(picture.svg())
        *_, width, height = map(int, root.get("viewBox").split())
        (board,) = (element for element in root if element.get("width") == "800")
        assert int(board.get("x")) + 800 <= width
        assert int(board.get("y")) + 800 <= height


@pytest.mark.parametrize("size", [SMALLEST, 360, LARGEST])
def test_the_size_is_in_pixels(size: int) -> None:
    root = ElementTree.fromstring(Picture(size=size).svg())
    assert (root.get("width"), root.get("height")) == (str(size), str(size))


# --- Last move, check, marks, arrows


@pytest.mark.parametrize("flipped", [False, True])
def test_the_last_move_colours_its_two_squares(flipped: bool) -> None:
    random = Random(2)
    for start in STARTS:
        game = Game(start, random.randbytes(6))
        board = fen.parse(start)
        for _, move in game.moves():
            number = packed(board)[move.uci()]
            board.make(number)
            picture = Picture(board, last_move=number, flipped=flipped)
            origin, target = chess.square_name(move.from_square), chess.square_name(move.to_square)
            drawing = Drawing(picture)
            squares = drawing.layer("last-move")
            assert [rect.get("data-square") for rect in squares] == [origin, target]
            for rect in squares:
                x, y = float(rect.get("x")), float(rect.get("y"))
                assert drawing.inside(x, y) == (0, 0)
                assert drawing.at(x, y) == rect.get("data-square")
            assert f"Last move: {origin} to {target}." in drawing.text("desc")
            assert picture == Picture(board, last_move=move.uci(), flipped=flipped)
            assert picture == Picture(board, last_move=(origin, target), flipped=flipped)


def test_without_a_last_move_none_is_coloured() -> None:
    assert Picture() == Picture(last_move=None) == Picture(last_move=0)
    assert not Drawing(Picture()).layer("last-move")


@pytest.mark.parametrize("flipped", [False, True])
def test_a_king_in_check_has_a_burst_behind_it(flipped: bool) -> None:
    checks = 0
    for position in positions(200, seed=3):
        drawing = Drawing(Picture(same_fen(position), flipped=flipped))
        bursts = drawing.layer("check")
        side = "White" if position.turn else "Black"
        if not position.is_check():
            assert not bursts
            assert drawing.text("title") == f"Chess position, {side} to move"
            continue
        checks += 1
        (burst,) = bursts
        king = chess.square_name(position.king(position.turn))
        assert burst.get("data-square") == king
        assert {drawing.at(x, y) for x, y in points(burst)} == {king}
        assert drawing.text("title") == f"Chess position, {side} to move, in check"
        layers = [group.get("data-layer") for group in drawing.root]
        assert layers.index("check") < min(layers.index("white"), layers.index("black"))
    assert checks > 20


@pytest.mark.parametrize("flipped", [False, True])
def test_marks_stand_on_their_squares(flipped: bool) -> None:
    names = [(name, [*COLOURS][i % len(COLOURS)]) for i, name in enumerate(chess.SQUARE_NAMES)]
    drawing = Drawing(Picture(marked=names, flipped=flipped))
    marks = drawing.layer("marks")
    assert [(mark.get("data-square"), mark.get("fill")) for mark in marks] == [
        (name, COLOURS[colour]) for name, colour in names
    ]
    for mark in marks:
        outer, inner = re.fullmatch(r"M([\d ]+)h96v96h-96zM([\d ]+)v76h76v-76z", mark.get("d")).groups()
        for start, inset in ((outer, 2), (inner, 12)):
            x, y = map(float, start.split())
            assert drawing.inside(x, y) == (inset, inset)
            assert drawing.at(x, y) == mark.get("data-square")
    assert f"Marked: a1 ({names[0][1]}), b1 ({names[1][1]})," in drawing.text("desc")


def test_squares_may_be_given_in_any_form() -> None:
    e2, e4 = to_0x88(chess.E2), to_0x88(chess.E4)
    arrows = ["e2e4:blue", ("e2", "e4", "blue"), (e2, e4, "blue"), ("e2", e4, "blue")]
    assert len({Picture(arrows=[arrow]) for arrow in arrows}) == 1
    arrows = ["e2e4", ("e2", "e4"), (e2, e4), (e2, e4, "green")]
    assert len({Picture(arrows=[arrow]) for arrow in arrows}) == 1
    assert len({Picture(marked=[mark]) for mark in ("e4:sky", ("e4", "sky"), (e4, "sky"))}) == 1
    assert len({Picture(marked=[mark]) for mark in ("e4", e4, ("e4",), (e4, "orange"))}) == 1
    assert len({Picture(last_move=move) for move in ("e2e4", "e2e4q", (e2, e4))}) == 1
    for colour in COLOURS:
        (arrow,) = Drawing(Picture(arrows=[f"e2e4:{colour}"])).layer("arrows")
        assert arrow.get("fill") == COLOURS[colour]


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
        assert all(
            drawing.at(*line[0]) == drawing.at(*corner) == origin for corner in (corners[0], corners[-1])
        )
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


# --- The attack map


@pytest.mark.parametrize(("flipped", "theme"), EVERYWHERE)
def test_the_attack_map_counts_the_attackers(flipped: bool, theme: str) -> None:
    for position in positions(scaled(100, 50), seed=4):
        drawing = Drawing(Picture(same_fen(position), attacks=True, flipped=flipped, theme=theme))
        for colour, name in ((chess.WHITE, "white"), (chess.BLACK, "black")):
            counts = {}
            for text in drawing.layer(f"{name}-attackers"):
                x, y = float(text.get("x")), float(text.get("y"))
                assert drawing.at(x, y) == text.get("data-square")
                across, down = drawing.inside(x, y)
                assert (across < 30) if colour else (across > 70)
                assert down > 70
                counts[chess.parse_square(text.get("data-square"))] = int(text.text)
            wanted = {square: len(position.attackers(colour, square)) for square in chess.SQUARES}
            assert counts == {square: count for square, count in wanted.items() if count}


def test_ten_attackers_are_written_smaller() -> None:
    crowd = "k7/8/2N1N3/1NQQQN2/2Q1Q3/2QQQ3/8/K7 w - - 0 1"
    wanted = max(len(chess.Board(crowd).attackers(chess.WHITE, square)) for square in chess.SQUARES)
    texts = Drawing(Picture(crowd, attacks=True)).layer("white-attackers")
    assert wanted > 9
    assert {int(text.text) > 9: text.get("font-size") for text in texts} == {False: None, True: "18"}


def test_without_being_asked_no_attacks_are_drawn() -> None:
    drawing = Drawing(Picture())
    assert not drawing.layer("attacks") + drawing.layer("white-attackers") + drawing.layer("black-attackers")


# --- Colours


def brightness(colour: str) -> float:
    """The relative luminance of a colour by WCAG 2, from 0 to 1."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """The contrast of two colours by WCAG 2, from 1 to 21."""
    darker, lighter = sorted((brightness(one), brightness(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("theme", THEMES)
def test_pieces_and_texts_stand_out(theme: str) -> None:
    colours = THEMES[theme]
    assert contrast(colours.text, colours.paper) > 4.5
    white, black = colours.inks
    assert contrast(white.fill, black.fill) > 7
    for ink in (white, black):
        assert contrast(ink.fill, ink.line) > 7
        for square in (colours.light, colours.dark):
            assert max(contrast(ink.fill, square), contrast(ink.outline, square)) > 4.5


def test_a_dark_page_has_a_dark_picture() -> None:
    papers = [
        Drawing(Picture(theme=theme)).root.find(f"{SVG}rect").get("fill") for theme in ("light", "dark")
    ]
    assert brightness(papers[0]) > 0.8
    assert brightness(papers[1]) < 0.1


# --- The text


@pytest.mark.parametrize("flipped", [False, True])
def test_a_picture_tells_in_words_what_it_shows(flipped: bool) -> None:
    drawing = Drawing(dataclasses.replace(BUSY, flipped=flipped))
    assert drawing.root.get("role") == "img"
    assert [child.tag for child in drawing.root[:2]] == [f"{SVG}title", f"{SVG}desc"]
    description = drawing.text("desc")
    assert description.startswith(f"FEN {MATE}. White: king e1, queen d1, rooks a1 h1, bishops c1 f1, ")
    assert "Black: king e8, queen h4, rooks a8 h8, bishops c8 f8, knights b8 g8, pawns e5 a7 " in description
    assert "Last move: d8 to h4." in description
    assert "Arrows: h4 to e1 (red), b1 to c3 (green), g1 to f3 (blue)." in description
    assert "Marked: e5 (orange), d2 (purple)." in description
    assert "White's on the left, Black's on the right" in description
    assert ("Black is below." in description) == flipped


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("Réti & co: 3. Sf3 — «gut»", None),
        ("</title><script>alert(1)</script>", None),
        ("]]> <!-- --> &amp; &lt; \"quoted\" 'so'", None),
        ("\0\x08\x1b[31m\x7f", "\ufffd\ufffd\ufffd[31m\x7f"),
        ("lone \ud800 half, no \uffff character", "lone \ufffd half, no \ufffd character"),
        ("\U0001f40e", None),
    ],
)
def test_hostile_titles_stay_text(title: str, shown: str | None) -> None:
    svg = Picture(title=title).svg()
    root = ElementTree.fromstring(svg.encode("utf-8"))
    assert root.findtext(f"{SVG}title") == (title if shown is None else shown)
    assert len(root.findall(f"{SVG}title")) == 1
    assert "<script" not in svg


def test_a_picture_is_only_shapes_and_text() -> None:
    root = ElementTree.fromstring(BUSY.svg())
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags == {"svg", "title", "desc", "g", "path", "rect", "circle", "text"}
    for element in root.iter():
        for name, value in element.attrib.items():
            assert name not in ("id", "class", "style", "href"), name
            assert not name.startswith(("on", "{")), name
            assert "url(" not in value
            assert "://" not in value


def test_two_pictures_in_a_page_share_no_ids() -> None:
    tags: list[str] = []
    ids: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            tags.append(tag)
            ids.extend(value or "" for name, value in attrs if name == "id")

    reader = Reader()
    pictures = [BUSY, BUSY, Picture(), dataclasses.replace(BUSY, theme="dark")]
    reader.feed(f"<!DOCTYPE html><body>{''.join(picture.svg() for picture in pictures)}</body>")
    assert tags.count("svg") == 4
    assert len(ids) == len(set(ids))


def test_the_same_picture_is_the_same_text_in_every_process(tmp_path: Path) -> None:
    arguments = ["picture", MATE, "--attacks", "--last-move", "d8h4", "--mark", "e5", "--mark", "d2:purple"]
    arguments += ["--arrow", "h4e1:red", "--arrow", "b1c3", "--arrow", "g1f3:blue"]
    for seed in ("1", "2"):
        ended = subprocess.run(
            [*ENGINE, *arguments], capture_output=True, env=dict(os.environ, PYTHONHASHSEED=seed), timeout=120
        )
        assert (ended.returncode, ended.stdout.decode()) == (0, BUSY.svg().replace("\n", os.linesep))


# --- The library


def test_pictures_are_values() -> None:
    assert dataclasses.replace(BUSY) == BUSY
    assert hash(dataclasses.replace(BUSY)) == hash(BUSY)
    assert dataclasses.replace(BUSY, flipped=True) != BUSY
    with pytest.raises(dataclasses.FrozenInstanceError):
        BUSY.flipped = True


def test_a_notebook_shows_a_picture() -> None:
    assert moff.Picture is Picture
    assert moff.Picture()._repr_svg_() == moff.Picture().svg()
    assert Drawing(moff.Picture(moff.parse_fen(MATE))).text("title").endswith("White to move, in check")


def test_a_picture_keeps_the_position_it_was_made_of() -> None:
    board = fen.parse(fen.START)
    picture = Picture(board)
    before = picture.svg()
    board.make(packed(board)["e2e4"])
    assert picture.svg() == before == Picture().svg()
    assert Picture(board).svg() != before
    assert Picture("8/8/8/8/8/k7/8/K7").position == "8/8/8/8/8/k7/8/K7 w - - 0 1"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"position": "8/8 w"}, "bad FEN '8/8 w': "),
        ({"position": moff.Board()}, "White has 0 kings"),
        ({"theme": "pink"}, "'pink' is not a theme: it must be light or dark"),
        (
            {"size": SMALLEST - 1},
            f"size takes a whole number from {SMALLEST} to {LARGEST}, not {SMALLEST - 1}",
        ),
        ({"size": LARGEST + 1}, f"not {LARGEST + 1}"),
        ({"last_move": "e2"}, "bad last move 'e2': it must name two squares"),
        ({"last_move": "e2e9"}, "bad last move 'e2e9': 'e9' is not a square"),
        ({"last_move": "e7e8k"}, "bad last move 'e7e8k': "),
        ({"last_move": "e7e8qq"}, "bad last move 'e7e8qq': "),
        ({"last_move": "e2e2"}, "its two squares are the same"),
        ({"last_move": ("e2", "x")}, r"bad last move \('e2', 'x'\): 'x' is not a square"),
        ({"last_move": -1}, "bad last move -1: it is not a packed move"),
        ({"last_move": 1 << 40}, "it is not a packed move"),
        ({"last_move": 0x08}, "8 is not a square"),
        ({"arrows": ["e2"]}, "bad arrow 'e2': it must name two squares"),
        ({"arrows": ["e2e4", "e2e4e6"]}, "bad arrow 'e2e4e6': 'e4e6' is not a square"),
        ({"arrows": ["e2e2:blue"]}, "bad arrow 'e2e2:blue': its two squares are the same"),
        ({"arrows": ["e2e4:pink"]}, "bad arrow 'e2e4:pink': 'pink' is not a colour: it must be green, "),
        ({"arrows": ["e2e4:"]}, "bad arrow 'e2e4:': '' is not a colour"),
        ({"arrows": ["e2e4:red:blue"]}, "'red:blue' is not a colour"),
        ({"arrows": [(0, 0x88)]}, r"bad arrow \(0, 136\): 136 is not a square"),
        ({"arrows": [(-1, 0)]}, "-1 is not a square"),
        ({"arrows": [("e2",)]}, r"bad arrow \('e2',\): "),
        ({"marked": ["e9"]}, "bad mark 'e9': 'e9' is not a square"),
        ({"marked": ["E4"]}, "bad mark 'E4': 'E4' is not a square"),
        ({"marked": [0x08]}, "bad mark 8: 8 is not a square"),
        ({"marked": [0x100]}, "bad mark 256: 256 is not a square"),
        ({"marked": ["e4:pink"]}, "bad mark 'e4:pink': 'pink' is not a colour"),
        ({"marked": [()]}, r"bad mark \(\): "),
    ],
)
def test_what_cannot_be_drawn_is_refused(arguments: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Picture(**arguments)


# --- The command


def picture(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*ENGINE, "picture", *arguments],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        stdin=subprocess.DEVNULL,
    )


def complaint(ended: subprocess.CompletedProcess[str]) -> str:
    """The one line on standard error that says what is wrong, besides the usage and the build."""
    lines = [line for line in ended.stderr.splitlines() if not line.startswith(("Moff runs", "usage:", " "))]
    (line,) = lines
    return line


def test_moff_picture_shows_the_start_position_unless_told_otherwise() -> None:
    ended = picture()
    assert (ended.returncode, ended.stdout) == (0, Picture().svg())


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ([MATE], Picture(MATE)),
        ([MATE, "--black"], Picture(MATE, flipped=True)),
        (["--dark", MATE], Picture(MATE, theme="dark")),
        (["--no-coordinates"], Picture(coordinates=False)),
        (["--size", "720", "--attacks"], Picture(size=720, attacks=True)),
        (["--last-move", "e2e4"], Picture(last_move="e2e4")),
        (["--arrow", "e2e4", "--arrow", "g8f6:blue"], Picture(arrows=["e2e4", "g8f6:blue"])),
        (["--mark", "e4", "--mark", "d5:sky"], Picture(marked=["e4", "d5:sky"])),
    ],
)
def test_moff_picture_writes_what_it_is_told(arguments: list[str], wanted: Picture, tmp_path: Path) -> None:
    path = tmp_path / "board.svg"
    ended = picture(*arguments, "-o", str(path))
    assert (ended.returncode, ended.stdout) == (0, "")
    assert path.read_bytes() == wanted.svg().encode()
    assert os.listdir(tmp_path) == ["board.svg"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["8/8/8/8/8/8/8/K6 w - - 0 1"], "bad FEN '8/8/8/8/8/8/8/K6 w - - 0 1': placement: rank 1 "),
        ([""], "bad FEN ''"),
        (["--last-move", "e2e9"], "bad last move 'e2e9': 'e9' is not a square"),
        (["--arrow", "e2e4", "--arrow", "e2x4"], "bad arrow 'e2x4': 'x4' is not a square"),
        (["--arrow", "e2e4:pink"], "bad arrow 'e2e4:pink': 'pink' is not a colour: it must be green, blue, "),
        (["--mark", "i1"], "bad mark 'i1': 'i1' is not a square"),
        (["--mark", "e4:<b>"], "bad mark 'e4:<b>': '<b>' is not a colour"),
        (["--size", "0"], f"--size: it takes a whole number from {SMALLEST} to {LARGEST}, not '0'"),
        (["--size", "big"], "not 'big'"),
        (["--nonsense"], "unrecognized arguments: --nonsense"),
        ([fen.START, MATE], "unrecognized arguments: "),
    ],
)
def test_bad_words_are_told_once_and_the_old_file_stays(
    arguments: list[str], reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "board.svg"
    path.write_text("old", encoding="utf-8")
    ended = picture("-o", str(path), *arguments)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert reason in complaint(ended)
    assert path.read_text(encoding="utf-8") == "old"
    assert os.listdir(tmp_path) == ["board.svg"]


def test_the_help_names_the_colours_and_the_size() -> None:
    told = " ".join(picture("--help").stdout.split())
    assert f"COLOUR is {', '.join([*COLOURS][:-1])} or {[*COLOURS][-1]}." in told
    assert f"(default {STANDARD_SIZE})" in told


def test_what_is_assumed_of_a_fen_is_told() -> None:
    ended = picture("4k3/8/8/8/8/8/8/R3K3 w KQ")
    assert ended.returncode == 0
    assert "K is dropped" in ended.stderr
    assert "no half-move clock" in ended.stderr


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing" / "board.svg"):
        ended = picture("-o", str(path))
        assert (ended.returncode, ended.stdout) == (1, "")
        assert complaint(ended).startswith(f"{path}: ")
    assert os.listdir(tmp_path) == []


def test_a_failure_while_writing_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "board.svg"
    path.write_text("old", encoding="utf-8")

    def fail(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(output.os, "replace", fail)
    with pytest.raises(OSError, match="No space left"):
        output.save(str(path), "new")
    monkeypatch.undo()
    with pytest.raises(UnicodeEncodeError):
        output.save(str(path), "new \ud800")
    assert path.read_text(encoding="utf-8") == "old"
    assert os.listdir(tmp_path) == ["board.svg"]


def test_a_file_that_may_not_be_written_to_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "board.svg"
    path.write_text("old", encoding="utf-8")
    monkeypatch.setattr(output.os, "access", lambda *_: False)  # nothing is forbidden to root
    with pytest.raises(PermissionError):
        output.save(str(path), "new")
    assert path.read_text(encoding="utf-8") == "old"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other links and permissions")
def test_links_permissions_and_devices_stay(tmp_path: Path) -> None:
    path, link, dangling = tmp_path / "board.svg", tmp_path / "link.svg", tmp_path / "dangling.svg"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o640)
    link.symlink_to(path.name)
    dangling.symlink_to("new.svg")
    output.save(str(link), "new")
    output.save(str(dangling), "new")
    assert link.is_symlink()
    assert dangling.is_symlink()
    assert path.read_text(encoding="utf-8") == (tmp_path / "new.svg").read_text(encoding="utf-8") == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    plain = tmp_path / "plain"
    plain.touch()
    assert (tmp_path / "new.svg").stat().st_mode == plain.stat().st_mode
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    output.save(str(pipe), "new")
    assert os.read(reader, 100) == b"new"
    os.close(reader)
    assert pipe.is_fifo()
    ended = picture("-o", "/dev/stdout")
    assert (ended.returncode, ended.stdout) == (0, Picture().svg())
