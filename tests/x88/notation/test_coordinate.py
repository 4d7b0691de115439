"""Coordinate notation: every legal move's text leads back to it, and an error says what is wrong."""

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle import STARTS, packed, reference_texts, scaled
from tests.strategies import MOVES, damaged, per_hundred
from x88 import square
from x88.notation import coordinate, fen


@settings(max_examples=scaled(300, 100))
@given(st.sampled_from(STARTS), st.sampled_from(chess.SQUARES), st.sampled_from(chess.SQUARES))
def test_two_squares_are_read_only_where_the_move_is_legal(start: str, origin: int, target: int) -> None:
    board, position = fen.parse(start), chess.Board(start)
    for promoted in ("", "q", "r", "b", "n", "k", "p"):
        text = chess.square_name(origin) + chess.square_name(target) + promoted
        if text in reference_texts(position):
            assert coordinate.write(coordinate.parse(board, text)) == text
        else:
            with pytest.raises(ValueError, match=f"'{text}' is not a legal move: "):
                coordinate.parse(board, text)


@pytest.mark.parametrize(
    ("text", "position", "reason"),
    [
        ("", fen.START, "it must name two squares"),
        ("e2-e4", fen.START, "it must name two squares"),
        ("e2é4", fen.START, "it must name two squares"),
        ("e4e5", fen.START, "there is no piece on e4"),
        ("e7e5", fen.START, "the pawn on e7 does not belong to the side to move"),
        ("d1d3", fen.START, "the queen on d1 cannot go to d3"),
        ("e2e4q", fen.START, "it is not a promotion"),
        ("a7a8", "4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "it must name the new piece"),
        # The king would be in check.
        ("e2c3", "4r1k1/8/8/8/8/8/4N3/4K3 w - - 0 1", "the knight on e2 cannot go to c3"),
    ],
)
def test_an_error_names_the_text_and_the_reason(text: str, position: str, reason: str) -> None:
    board = fen.parse(position)
    with pytest.raises(ValueError, match="is not a legal move") as caught:
        coordinate.parse(board, text)
    assert repr(text) in str(caught.value)
    assert reason in str(caught.value)
    assert fen.write(board) == fen.write(fen.parse(position))


@per_hundred(100, 50)
@given(damaged(MOVES), st.sampled_from(STARTS))
def test_any_text_is_a_legal_move_or_a_value_error(text: str, start: str) -> None:
    board = fen.parse(start)
    for legal, move in packed(board).items():
        assert coordinate.parse(board, legal) == coordinate.parse(board, legal.upper()) == move
    if text.lower() in packed(board):
        assert coordinate.write(coordinate.parse(board, text)) == text.lower()
    else:
        with pytest.raises(ValueError, match="is not a legal move"):
            coordinate.parse(board, text)


# --- Squares


def test_squares_have_their_0x88_numbers() -> None:
    numbers = {"a1": 0x00, "h1": 0x07, "a8": 0x70, "h8": 0x77, "e4": 0x34}
    assert {name: square.parse(name) for name in numbers} == numbers
    assert [square.name(number) for number in square.SQUARES] == chess.SQUARE_NAMES
    assert [square.parse(name) for name in chess.SQUARE_NAMES] == square.SQUARES
    assert square.name(square.NO_SQUARE) == "-"
    assert [number for number in range(128) if not number & square.OFF_BOARD] == square.SQUARES


@pytest.mark.parametrize("text", ["", "e", "e9", "e0", "i1", "E4", "e44", "44", "ee", "é1", "e٤"])
def test_an_error_names_the_text_that_is_no_square(text: str) -> None:
    with pytest.raises(ValueError, match="is not a square") as caught:
        square.parse(text)
    assert repr(text) in str(caught.value)
