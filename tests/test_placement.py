"""The placement follows the moves, and its hashes know what they are to know."""

from random import Random

import chess
import pytest

from search.placement import FULL_PHASE, Placement
from tests.oracle import STARTS
from x88 import build, fen
from x88.movegen import legal_moves
from x88.piece import BLACK, WHITE


def placement_of(text: str) -> Placement:
    placement = Placement()
    placement.reset(fen.parse(text))
    return placement


def state(placement: Placement) -> tuple[int, ...]:
    """All that a placement tells."""
    hashes = [placement.pieces_hash(side) for side in (WHITE, BLACK)]
    return placement.phase(), placement.pawn_key(), placement.minors_hash(), *hashes


@pytest.mark.parametrize("seed", range(60 if build.compiled else 12))
def test_what_is_kept_along_the_moves_is_what_comes_from_scratch(seed: int) -> None:
    generator = Random(seed)
    board = fen.parse(STARTS[seed % len(STARTS)])
    placement = placement_of(fen.write(board))
    before: list[tuple[int, ...]] = []
    played: list[int] = []
    while len(played) < 80 and (moves := legal_moves(board)):
        before.append(state(placement))
        # Captures, promotions and castling come first in the list: prefer them, so that all kinds are seen.
        move = moves[0] if generator.random() < 0.3 else generator.choice(moves)
        placement.make(move, board.side)
        board.make(move)
        played.append(move)
        assert state(placement) == state(placement_of(fen.write(board)))
        placement.make_null()
        assert state(placement) == state(placement_of(fen.write(board)))
        placement.unmake_null()
    while before:
        board.unmake()
        placement.unmake(played.pop(), board.side)
        assert state(placement) == before.pop()


def test_the_phase_is_full_with_all_pieces_and_none_with_pawns_alone() -> None:
    assert placement_of(fen.START).phase() == FULL_PHASE
    assert placement_of("4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1").phase() == 0
    assert placement_of("qqqqkqqq/8/8/8/8/8/8/QQQQKQQQ w - - 0 1").phase() == FULL_PHASE


def test_the_pawn_key_knows_the_pawns_alone() -> None:
    def key(text: str) -> int:
        return placement_of(text).pawn_key()

    assert key("4k3/8/8/8/8/8/P7/4K3 w - - 0 1") == key("4k2r/8/8/8/8/8/P7/R3K3 b - - 0 1")
    assert key("4k3/8/8/8/8/8/P7/4K3 w - - 0 1") == key("k7/8/8/8/8/8/P7/K7 w - - 0 1")
    assert key("4k3/8/8/8/8/8/P7/4K3 w - - 0 1") != key("4k3/8/8/8/8/P7/8/4K3 w - - 0 1")
    assert key("4k3/8/8/8/8/p7/8/4K3 w - - 0 1") != key("4k3/8/8/8/8/P7/8/4K3 w - - 0 1")


def test_the_hash_of_pieces_knows_one_side_s_pieces_alone() -> None:
    def hashes(text: str) -> list[int]:
        placement = placement_of(text)
        return [placement.pieces_hash(side) for side in (WHITE, BLACK)]

    white, black = hashes("4k1r1/8/8/8/8/8/P7/R3K3 w - - 0 1")
    assert hashes("4k1r1/8/p7/8/7P/8/8/R3K3 b - - 0 1") == [white, black], "neither pawns nor who is to move"
    assert hashes("4k1r1/8/8/8/8/8/P7/B3K3 w - - 0 1") != [white, black], "a bishop is no rook"
    found = hashes("4k2r/8/8/8/8/8/P7/R3K3 w - - 0 1")
    assert found[0] == white
    assert found[1] != black


def test_the_hash_of_minor_pieces_knows_kings_knights_and_bishops_alone() -> None:
    def found(text: str) -> int:
        return placement_of(text).minors_hash()

    usual = found("4k1n1/8/8/8/8/8/P7/B3K3 w - - 0 1")
    assert found("q3k1n1/6p1/8/8/8/8/8/B3K2R b - - 0 1") == usual
    for text in (
        "4k1n1/8/8/8/8/8/P7/N3K3 w - - 0 1",
        "4k1b1/8/8/8/8/8/P7/B3K3 w - - 0 1",
        "4k1n1/8/8/8/8/8/P7/1B2K3 w - - 0 1",
        "5kn1/8/8/8/8/8/P7/B3K3 w - - 0 1",
        "4k1n1/8/8/8/8/8/P7/B2K4 w - - 0 1",
        "4k1N1/8/8/8/8/8/P7/b3K3 w - - 0 1",
    ):
        assert found(text) != usual, text


def test_the_hashes_tell_the_squares_of_every_kind_apart() -> None:
    pieces: set[int] = set()
    minors: set[int] = set()
    for place in range(64):
        for kind in (chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN):
            board = chess.Board("4k3/8/8/8/8/8/8/4K3 b - - 0 1")
            if board.piece_at(place) is None:
                board.set_piece_at(place, chess.Piece(kind, chess.WHITE))
                placement = placement_of(board.fen())
                pieces.add(placement.pieces_hash(WHITE))
                minors.add(placement.minors_hash())
    # Of 248 random numbers of 14 bits two pairs or so are alike. What is no minor piece is one number more.
    assert len(pieces) >= 240
    assert len(minors) >= 120
