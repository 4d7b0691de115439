"""Pictures of positions, read back and compared with python-chess; `moff moves`, which shows them."""

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from random import Random

import chess
import pytest

from tests import picture
from tests.client import ENGINE
from tests.oracle import STARTS, Game, reference_texts, scaled, thrown, to_0x88
from x88 import coordinate, fen, san
from x88.attack_map import AttackMap
from x88.board import Board
from x88.diagram import ATTACK_LEGEND, SCORE_LEGEND, Style, draw, draw_attacks, draw_worths, list_moves
from x88.movegen import scored_moves
from x88.piece import BLACK, LETTERS, WHITE

ESCAPE = re.compile(r"\033\[[\d;]*m")
SQUARE = re.compile(r"\033\[48;5;(\d+);38;5;(\d+)m (.) \033\[0m")
"""A square of a coloured board: the colours of the square and of the piece, and the piece."""
FILLED = str.maketrans("♔♕♖♗♘♙·", "♚♛♜♝♞♟ ")
MATE = "R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1"
STALEMATE = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"
STYLES = [Style(letters, False, flipped) for letters in (False, True) for flipped in (False, True)]


def positions(number: int, seed: int) -> Iterator[chess.Board]:
    """Positions of random games by turns with pieces thrown on the board, after the chosen ones."""
    yield from map(chess.Board, (*STARTS, MATE, STALEMATE))
    random = Random(seed)
    for i in range(number):
        yield _reached(random) if i % 2 else _crowd(random)


def _reached(random: Random) -> chess.Board:
    start = random.choice(STARTS)
    found = [position.copy(stack=False) for position, _ in Game(start, random.randbytes(40)).moves()]
    return random.choice(found or [chess.Board(start)])


def _crowd(random: Random) -> chess.Board:
    while True:
        position = thrown(random, 28)
        if position is not None:
            return position


def same_position(position: chess.Board) -> Board:
    return fen.parse(position.fen(en_passant="fen"))


def plain(text: str) -> str:
    return ESCAPE.sub("", text)


# --- The board


@pytest.mark.parametrize("style", STYLES)
def test_a_drawn_board_shows_every_piece_on_its_square(style: Style) -> None:
    for position in positions(scaled(100, 50), seed=1):
        lines = draw(same_position(position), style)
        assert picture.corner(lines) == ("h1" if style.flipped else "a8")
        wanted = {
            square: piece.symbol() if style.ascii else piece.unicode_symbol()
            for square, piece in position.piece_map().items()
        }
        assert picture.pieces(lines) == wanted
        assert len({len(line) for line in lines[1:9]}) == 1


def test_a_board_of_letters_is_pure_ascii() -> None:
    assert all("".join(draw(fen.parse(text), Style(ascii=True))).isascii() for text in STARTS)


def test_from_black_s_side_the_board_is_turned_by_half() -> None:
    for text in STARTS:
        white, black = (draw(fen.parse(text), Style(flipped=flipped)) for flipped in (False, True))
        turned = [" ".join(reversed(line.split())) for line in reversed(white)]
        assert [" ".join(line.split()) for line in black] == turned


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("letters", [False, True])
def test_a_coloured_board_is_the_plain_one_with_filled_pieces(letters: bool, flipped: bool) -> None:
    for position in positions(scaled(60, 30), seed=2):
        board = same_position(position)
        coloured = draw(board, Style(letters, True, flipped))
        assert all("\033[" in line for line in coloured[1:9])
        uncoloured = [line.translate(FILLED) for line in draw(board, Style(letters, False, flipped))]
        if letters:
            uncoloured = [line.replace(".", " ") for line in uncoloured]
        assert [plain(line) for line in coloured] == uncoloured


@pytest.mark.parametrize("flipped", [False, True])
def test_colours_tell_light_squares_from_dark_and_white_pieces_from_black(flipped: bool) -> None:
    papers: dict[bool, set[int]] = {True: set(), False: set()}
    inks: dict[bool, set[int]] = {True: set(), False: set()}
    for position in positions(scaled(60, 30), seed=3):
        lines = draw(same_position(position), Style(False, True, flipped))
        ranks = [line.split()[0] for line in lines[1:9]]
        for rank, line in zip(ranks, lines[1:9], strict=True):
            squares = SQUARE.findall(line)
            for file, (paper, ink, text) in zip(lines[0].split(), squares, strict=True):
                square = chess.parse_square(file + rank)
                papers[bool(chess.BB_LIGHT_SQUARES & chess.BB_SQUARES[square])].add(brightness(paper))
                piece = position.piece_at(square)
                assert (text != " ") == (piece is not None)
                if piece:
                    inks[piece.color].add(brightness(ink))
    for (light,), (dark,) in ((papers[True], papers[False]), (inks[True], inks[False])):
        assert light > dark


def brightness(colour: str) -> int:
    """The sum of red, green and blue, each from 0 to 5, of a colour in the cube of a terminal's 256."""
    cube = int(colour) - 16
    assert 0 <= cube < 216
    return cube // 36 + cube // 6 % 6 + cube % 6


# --- The attack map


def entry(attacks: AttackMap, square: int, side: int) -> str:
    """What the picture should say of a square for a side."""
    count, kind = attacks.count(square, side), attacks.least_kind(square, side)
    letter = LETTERS[kind] if kind else ""
    text = f"{count}{letter.upper() if side == WHITE else letter}" if count else "-"
    return text + ("'" if attacks.count_behind(square, side) else "")


@pytest.mark.parametrize("flipped", [False, True])
def test_a_drawn_attack_map_says_what_the_map_says(flipped: bool) -> None:
    for position in positions(scaled(100, 50), seed=4):
        board = same_position(position)
        attacks = AttackMap()
        attacks.compute(board)
        lines = draw_attacks(board, Style(flipped=flipped))
        assert picture.corner(lines) == ("h1" if flipped else "a8")
        for square, words in picture.cells(lines, 2).items():
            assert words == [entry(attacks, to_0x88(square), side) for side in (WHITE, BLACK)]


def test_the_columns_of_the_attack_map_stand_under_their_files() -> None:
    for position in positions(20, seed=5):
        lines = draw_attacks(same_position(position), Style())
        assert len({len(line) for line in lines[1:9]}) == 1
        for i in range(8):
            assert 2 + 8 * i <= lines[0].index("abcdefgh"[i]) < 2 + 8 * (i + 1)


def test_the_attack_map_of_a_lone_rook_behind_a_pawn() -> None:
    lines = draw_attacks(fen.parse("4k3/8/8/8/8/P7/8/R3K3 w - - 0 1"), Style())
    found = picture.cells(lines, 2)
    # The pawn is protected; past it the rook has a vector attack; the pawn itself attacks b4.
    assert found[chess.A3] == ["1R", "-"]
    assert found[chess.A4] == found[chess.A8] == ["-'", "-"]
    assert found[chess.B4] == ["1P", "-"]
    assert found[chess.D7] == ["-", "1k"]
    assert found[chess.E1] == ["1R", "-"]


def test_a_coloured_attack_map_is_the_plain_one_with_colours() -> None:
    for position in positions(20, seed=6):
        board = same_position(position)
        coloured = draw_attacks(board, Style(coloured=True))
        assert all("\033[" in line for line in coloured[1:9])
        assert [plain(line) for line in coloured] == draw_attacks(board, Style())


# --- The moves


def test_a_listing_has_the_moves_of_both_sides_in_the_generator_s_order() -> None:
    for position in positions(scaled(300, 100), seed=7):
        board = same_position(position)
        before = (fen.write(board), board.key, board.ply)
        columns = picture.listings(list_moves(board, Style()))
        assert (fen.write(board), board.key, board.ply) == before
        for colour, column in zip(chess.COLORS, columns, strict=True):
            name = chess.COLOR_NAMES[colour].capitalize()
            theirs, ours = position.copy(stack=False), board.copy()
            heading = f"{name}: {len(column.rows)} move{'' if len(column.rows) == 1 else 's'}"
            if colour != position.turn:
                if position.is_check():
                    other = chess.COLOR_NAMES[position.turn].capitalize()
                    assert column.heading == f"{name}: none, as {other} is in check"
                    assert column.rows == []
                    continue
                heading += ", if to move"
                theirs.push(chess.Move.null())
                ours.make_null()
            assert column.heading == heading
            moves = [(coordinate.write(move), score) for move, score in scored_moves(ours)]
            assert [(row.coordinates, row.score) for row in column.rows] == moves
            assert {row.coordinates for row in column.rows} == reference_texts(theirs)
            scores = [row.score for row in column.rows]
            assert scores == sorted(scores, reverse=True)
            for row in column.rows:
                assert row.san == theirs.san(theirs.parse_uci(row.coordinates))


def test_a_recapture_comes_first_in_a_listing() -> None:
    board = fen.parse("4k3/8/2p5/3p4/4P3/8/8/3QK3 w - - 0 1")
    board.make(san.parse(board, "exd5"))
    _, black = picture.listings(list_moves(board, Style()))
    first = black.rows[0]
    assert first.san == "cxd5"
    assert first.score > max(row.score for row in black.rows[1:])


@pytest.mark.parametrize(("text", "outcome"), [(MATE, "checkmate"), (STALEMATE, "stalemate")])
def test_a_side_without_moves_has_an_empty_column(text: str, outcome: str) -> None:
    position = chess.Board(text)
    white, black = picture.listings(list_moves(fen.parse(text), Style()))
    assert black == ("Black: 0 moves", [])
    if outcome == "checkmate":
        assert position.is_checkmate()
        assert white == ("White: none, as Black is in check", [])
    else:
        assert position.is_stalemate()
        position.push(chess.Move.null())
        assert len(white.rows) == position.legal_moves.count()


def test_a_coloured_listing_is_the_plain_one_with_colours() -> None:
    for position in positions(20, seed=8):
        board = same_position(position)
        coloured = list_moves(board, Style(coloured=True))
        assert all("\033[" in line for line in coloured)
        assert [plain(line).rstrip() for line in coloured] == list_moves(board, Style())


# --- The command


def moff(*arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run moff with its output piped."""
    changes = {"PYTHONIOENCODING": "utf-8", **changes}
    return subprocess.run(
        [*ENGINE, "moves", *arguments],
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        stdin=subprocess.DEVNULL,
        env=dict(os.environ, **changes),
    )


def expected(text: str, style: Style, attacks: bool = False) -> str:
    board = fen.parse(text)
    parts = [draw(board, style)]
    if attacks:
        parts.append([*draw_attacks(board, style), *ATTACK_LEGEND])
    parts += [list_moves(board, style), [*SCORE_LEGEND]]
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


@pytest.mark.parametrize(
    ("arguments", "letters", "attacks"),
    [([], False, False), (["--ascii"], True, False), (["--attacks"], False, True)],
)
@pytest.mark.parametrize("text", [STARTS[1], MATE])
def test_moff_moves_shows_the_board_and_the_moves(
    text: str, arguments: list[str], letters: bool, attacks: bool
) -> None:
    ended = moff("--fen", text, *arguments)
    assert (ended.returncode, ended.stdout) == (0, expected(text, Style(letters), attacks))
    assert "\033" not in ended.stdout
    assert ended.stdout.isascii() == letters
    assert len(picture.boards(ended.stdout.splitlines())) == 1 + attacks


def test_moff_moves_shows_the_start_position_unless_told_otherwise() -> None:
    lines = moff("--ascii").stdout.splitlines()
    (board,) = picture.boards(lines)
    assert picture.placement(board) == chess.STARTING_BOARD_FEN
    white, black = picture.listings(lines[11 : -1 - len(SCORE_LEGEND)])
    assert {row.coordinates for row in white.rows} == reference_texts(chess.Board())
    assert len(black.rows) == 20


def test_moff_moves_complains_of_a_bad_fen() -> None:
    ended = moff("--fen", "8/8/8/8/8/8/8/K6 w - - 0 1")
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert "bad FEN" in ended.stderr
    assert "rank 1" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("arguments", [["--fen"], ["--nonsense"], ["nonsense"], ["--black"]])
def test_moff_moves_is_told_what_it_does_not_know(arguments: list[str]) -> None:
    ended = moff(*arguments)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert "usage" in ended.stderr


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_an_output_that_knows_no_pieces_gets_letters(encoding: str) -> None:
    ended = moff("--attacks", PYTHONIOENCODING=encoding)
    assert ended.returncode == 0
    assert ended.stdout == expected(fen.START, Style(ascii=True), attacks=True)
    assert "Traceback" not in ended.stderr


@pytest.fixture
def shown() -> Callable[..., str]:
    """What moff shows on a terminal."""
    from tests import terminal  # skips where there is none

    return terminal.shown


def without_notice(output: str) -> str:
    """The output without the line that says which build runs."""
    return re.sub(r"^Moff runs uncompiled.*\n", "", output)


def test_a_terminal_gets_colours(shown: Callable[..., str]) -> None:
    output = shown("moves", "--attacks", "--fen", STARTS[1])
    assert without_notice(output) == expected(STARTS[1], Style(coloured=True), attacks=True)
    assert "\033[" in output


@pytest.mark.parametrize("changes", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_without_colours_gets_none(shown: Callable[..., str], changes: dict[str, str]) -> None:
    output = shown("moves", "--attacks", **changes)
    assert without_notice(output) == expected(fen.START, Style(), attacks=True)


def test_a_terminal_that_knows_no_pieces_gets_coloured_letters(shown: Callable[..., str]) -> None:
    output = shown("moves", PYTHONIOENCODING="ascii")
    assert without_notice(output) == expected(fen.START, Style(ascii=True, coloured=True))


def test_worths_of_any_size_stand_beside_their_pieces_in_columns() -> None:
    board = fen.parse("4k3/8/8/8/8/8/8/QRB1K3 w - - 0 1")
    lines = draw_worths(board, Style(ascii=True), {0: 12_345, 1: -60_000, 2: -5})
    assert lines[8] == "1  Q +123.4 R -600.0 B -0.05  .        K        .        .        .        1"
    assert len({len(line) for line in lines[1:9]}) == 1
