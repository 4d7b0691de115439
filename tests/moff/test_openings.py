"""The names of openings, with python-chess as the reader of positions."""

import zlib

import chess
import chess.polyglot
import pytest

import moff
from moff.openings import FILE, Opening, find

RUY_LOPEZ = Opening("C60", "Ruy Lopez")


def after(*moves: str) -> chess.Board:
    board = chess.Board()
    for move in moves:
        board.push_san(move)
    return board


@pytest.mark.parametrize(
    ("moves", "opening"),
    [
        ("e4", Opening("B00", "King's Pawn Game")),
        ("e4 e5 Nf3 Nc6 Bb5", RUY_LOPEZ),
        ("Nf3 Nc6 e4 e5 Bb5", RUY_LOPEZ),
        ("e3 e6 Nf3 Nc6 e4 e5 Bb5", RUY_LOPEZ),  # with other counters
        ("e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Nxe4", Opening("C80", "Ruy Lopez: Open")),
        ("", None),
        ("e4 e5 Ke2 Ke7 Ke1 Ke8", None),  # no castling any more
    ],
)
def test_a_position_has_the_same_name_however_it_was_reached(moves: str, opening: Opening | None) -> None:
    board = after(*moves.split())
    for en_passant in ("legal", "fen"):
        text = board.fen(en_passant=en_passant)
        assert find(text) == moff.opening(moff.Board(text)) == opening


def test_what_is_no_position_is_refused() -> None:
    with pytest.raises(ValueError, match="nonsense"):
        find("nonsense")


def test_the_file_has_a_key_of_polyglot_a_code_and_a_name_on_every_line() -> None:
    with open(FILE, encoding="utf-8", newline="") as stream:
        text = stream.read()
    rows = [line.split("\t") for line in text.splitlines()]
    assert len({key for key, _, _ in rows}) == len(rows) > 3000
    assert all(len(key) == 16 and "A00" <= eco <= "E99" and name for key, eco, name in rows)
    assert [f"{chess.polyglot.zobrist_hash(after('g4')):016x}", "A00", "Grob Opening"] in rows
    assert len(zlib.compress(text.encode())) < 120_000, "small in a wheel"
