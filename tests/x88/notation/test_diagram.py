"""Pictures of positions, read back and compared with python-chess; `moff moves`, which shows them."""

import os
import re
from collections.abc import Iterator
from random import Random

import chess
import pytest

from tests import picture
from tests.client import call, run
from tests.oracle import STARTS, reference_texts, thrown, to_0x88
from x88.attack_map import AttackMap
from x88.board import Board
from x88.movegen import scored_moves
from x88.notation import coordinate, fen
from x88.notation.diagram import (
    ATTACK_LEGEND,
    SCORE_LEGEND,
    Style,
    draw,
    draw_attacks,
    draw_piece_values,
    list_moves,
)
from x88.piece import BLACK, LETTERS, WHITE

ESCAPE = re.compile(r"\033\[[\d;]*m")
SQUARE = re.compile(r"\033\[48;5;(\d+);38;5;(\d+)m (.) \033\[0m")
"""A square of a coloured board: the colours of the square and of the piece, and the piece."""
FILLED = str.maketrans("♔♕♖♗♘♙·", "♚♛♜♝♞♟ ")
MATE = "R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1"
STALEMATE = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"
STYLES = [Style(letters, False, flipped) for letters in (False, True) for flipped in (False, True)]


def positions(number: int, seed: int) -> Iterator[chess.Board]:
    """Chosen positions, and pieces thrown on the board."""
    yield from map(chess.Board, (*STARTS, MATE, STALEMATE))
    random = Random(seed)
    yield from filter(None, (thrown(random, 28) for _ in range(number)))


def same_position(position: chess.Board) -> Board:
    return fen.parse(position.fen(en_passant="fen"))


def plain(text: str) -> str:
    return ESCAPE.sub("", text)


# --- The board


@pytest.mark.parametrize("style", STYLES)
def test_a_drawn_board_shows_every_piece_on_its_square(style: Style) -> None:
    for position in positions(30, seed=1):
        board = same_position(position)
        lines = draw(board, style)
        assert picture.corner(lines) == ("h1" if style.flipped else "a8")
        wanted = {
            square: piece.symbol() if style.ascii else piece.unicode_symbol()
            for square, piece in position.piece_map().items()
        }
        assert picture.pieces(lines) == wanted
        assert len({len(line) for line in lines[1:9]}) == 1
        assert "".join(lines).isascii() == style.ascii
        coloured = draw(board, style._replace(coloured=True))
        assert all("\033[" in line for line in coloured[1:9])
        filled = [line.translate(FILLED).replace(".", " ") for line in lines]
        assert [plain(line) for line in coloured] == filled


@pytest.mark.parametrize("flipped", [False, True])
def test_light_squares_and_white_pieces_have_lighter_colours(flipped: bool) -> None:
    papers: dict[bool, set[int]] = {True: set(), False: set()}
    inks: dict[bool, set[int]] = {True: set(), False: set()}
    for position in positions(20, seed=3):
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
    """The picture's right entry of a square for a side."""
    count, kind = attacks.count(square, side), attacks.least_kind(square, side)
    letter = LETTERS[kind] if kind else ""
    text = f"{count}{letter.upper() if side == WHITE else letter}" if count else "-"
    return text + ("'" if attacks.count_behind(square, side) else "")


@pytest.mark.parametrize("flipped", [False, True])
def test_a_drawn_attack_map_shows_the_map(flipped: bool) -> None:
    for position in positions(20, seed=4):
        board = same_position(position)
        attacks = AttackMap()
        attacks.compute(board)
        lines = draw_attacks(board, Style(flipped=flipped))
        assert picture.corner(lines) == ("h1" if flipped else "a8")
        for square, words in picture.cells(lines, 2).items():
            assert words == [entry(attacks, to_0x88(square), side) for side in (WHITE, BLACK)]
        assert len({len(line) for line in lines[1:9]}) == 1
        starts = [lines[0].index(file) // 8 for file in lines[0].split()]
        assert starts == list(range(8)), "the names stand over their columns"


# --- The moves


def test_a_listing_has_both_sides_moves_in_the_generator_s_order() -> None:
    for position in positions(60, seed=7):
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


def test_a_coloured_listing_or_attack_map_is_the_plain_one_with_colours() -> None:
    for position in positions(20, seed=8):
        board = same_position(position)
        for show in (list_moves, draw_attacks):
            coloured, uncoloured = show(board, Style(coloured=True)), show(board, Style())
            assert all("\033[" in line for line in coloured[1:9])
            assert [plain(line).rstrip() for line in coloured] == [line.rstrip() for line in uncoloured]


# --- The command


def expected(text: str, style: Style, attacks: bool = False) -> str:
    board = fen.parse(text)
    parts = [draw(board, style)]
    if attacks:
        parts.append([*draw_attacks(board, style), *ATTACK_LEGEND])
    parts += [list_moves(board, style), [*SCORE_LEGEND]]
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


@pytest.mark.parametrize(
    ("arguments", "encoding", "letters"),
    [
        ([], "utf-8", False),
        (["--attacks"], "utf-8", False),
        (["--ascii", "--fen", STARTS[1]], "utf-8", True),
        (["--attacks"], "ascii", True),
        (["--attacks"], "cp1252", True),
    ],
)
def test_moff_moves_shows_the_board_and_the_moves(arguments: list[str], encoding: str, letters: bool) -> None:
    ended = run("moves", *arguments, env=dict(os.environ, PYTHONIOENCODING=encoding))
    text, attacks = STARTS[1] if "--fen" in arguments else fen.START, "--attacks" in arguments
    assert ended == (0, expected(text, Style(letters), attacks), "")
    assert len(picture.boards(ended.output.splitlines())) == 1 + attacks


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (["--fen", "8/8/8/8/8/8/8/K6 w - -"], 1, "bad FEN '8/8/8/8/8/8/8/K6 w - -': placement: rank 1"),
        (["--fen"], 2, "usage"),
        (["nonsense"], 2, "usage"),
        (["--black"], 2, "usage"),
    ],
)
def test_an_error_names_a_bad_fen_or_shows_the_usage(arguments: list[str], code: int, reason: str) -> None:
    ended = call("moves", *arguments)
    assert (ended.code, ended.output) == (code, "")
    assert reason in ended.errors


@pytest.mark.parametrize(
    ("changes", "style"),
    [
        ({}, Style(coloured=True)),
        ({"NO_COLOR": "1"}, Style()),
        ({"TERM": "dumb"}, Style()),
        ({"PYTHONIOENCODING": "ascii"}, Style(ascii=True, coloured=True)),
    ],
)
def test_a_terminal_gets_the_colours_and_figurines_that_it_knows(
    changes: dict[str, str], style: Style
) -> None:
    from tests import terminal  # skips where there is none

    output = terminal.shown("moves", "--attacks", **changes)
    output = re.sub(r"^Moff runs uncompiled.*\n", "", output)
    assert output == expected(fen.START, style, attacks=True)


def test_values_of_any_size_stand_beside_their_pieces_in_columns() -> None:
    board = fen.parse("4k3/8/8/8/8/8/8/QRB1K3 w - - 0 1")
    lines = draw_piece_values(board, Style(ascii=True), {0: 12_345, 1: -60_000, 2: -5})
    assert lines[8] == "1  Q +123.4 R -600.0 B -0.05  .        K        .        .        .        1"
    assert len({len(line) for line in lines[1:9]}) == 1
