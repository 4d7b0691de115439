"""The ordered generator: the legal moves and nothing else, with the scores that the design states."""

import chess
import pytest
from hypothesis import example, given, settings

from tests.oracle import (
    KINDS,
    Game,
    games_or_placements,
    generated,
    packed,
    reference_texts,
    scaled,
    texts,
    to_0x88,
)
from x88 import movegen
from x88.move import (
    CASTLING,
    EN_PASSANT,
    NO_MOVE,
    PROMOTED,
    captured_of,
    moved_of,
    origin_of,
    promoted_of,
    target_of,
)
from x88.movegen import CAPTURE, CASTLE, MAX_MOVES, RECAPTURE, SCALE, legal_moves, scored_moves
from x88.notation import coordinate, fen
from x88.piece import CODE_OF_LETTER, PAWN, VALUES

MOST_MOVES = "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1"
"""The most moves known of any position that a game can reach: 218 (Nenad Petrović, 1964)."""


# --- The piece codes and the moff table


def test_piece_codes_are_those_of_the_article() -> None:
    codes = {"P": 0x11, "N": 0x12, "B": 0x18, "R": 0x14, "Q": 0x1C, "K": 0x13}
    assert {letter: CODE_OF_LETTER[letter] for letter in codes} == codes
    assert {letter: CODE_OF_LETTER[letter.lower()] for letter in codes} == {
        letter: code ^ 0x30 for letter, code in codes.items()
    }


# --- Legal moves


@settings(max_examples=scaled(400, 200))
@given(games_or_placements())
@example(Game("4k3/8/8/3pP3/8/5n2/8/4K3 w - d6 0 1", b""))  # checks that no double push gives
@example(Game("4k3/8/8/3pP3/8/8/5p2/4K3 w - d6 0 1", b""))
def test_the_legal_moves_are_those_of_python_chess(game: Game) -> None:
    for board, position in game.positions():
        before = fen.write(board), board.key
        assert texts(board) == reference_texts(position)
        assert (fen.write(board), board.key) == before
    board.check_invariants()


@settings(max_examples=scaled(200, 80))
@given(games_or_placements(longest=20))
def test_a_packed_move_says_what_happens_on_the_board(game: Game) -> None:
    for board, position in game.positions():
        for text, move in packed(board).items():
            theirs = chess.Move.from_uci(text)
            assert origin_of(move) == to_0x88(theirs.from_square)
            assert target_of(move) == to_0x88(theirs.to_square)
            assert moved_of(move) == KINDS[position.piece_type_at(theirs.from_square) or 0]
            assert captured_of(move) == _victim(position, theirs)
            assert promoted_of(move) == (KINDS[theirs.promotion] if theirs.promotion else 0)
            assert bool(move & EN_PASSANT) == position.is_en_passant(theirs)
            assert bool(move & CASTLING) == position.is_castling(theirs)
            assert 0 < move < 1 << 31


def test_the_most_moves_of_a_position_fit() -> None:
    assert len(legal_moves(fen.parse(MOST_MOVES))) == 218 <= MAX_MOVES


# --- Captures


@settings(max_examples=scaled(300, 150))
@given(games_or_placements())
def test_the_captures_are_all_captures_and_promotions_or_evasions(game: Game) -> None:
    """With the same packed moves and scores, in the same order, as among all moves."""
    for board, position in game.positions():
        wanted = {
            move.uci()
            for move in position.legal_moves
            if position.is_check() or position.is_capture(move) or move.promotion
        }
        before = fen.write(board), board.key
        found = generated(board, captures=True)
        assert (fen.write(board), board.key) == before
        assert len(found) == len(wanted)
        assert found == [pair for pair in generated(board) if coordinate.write(pair[0]) in wanted]
    board.check_invariants()


# --- Scores and order


def _victim(position: chess.Board, move: chess.Move) -> int:
    """The kind that the move captures, 0 if none."""
    if position.is_en_passant(move):
        return PAWN
    victim = position.piece_type_at(move.to_square)
    return KINDS[victim] if victim and not position.is_castling(move) else 0


def _last_capture(position: chess.Board) -> chess.Square | None:
    """The square on which the last move captured."""
    if not position.move_stack:
        return None
    last = position.pop()
    captured = position.is_capture(last)
    position.push(last)
    return last.to_square if captured else None


def _score(position: chess.Board, move: chess.Move) -> int:
    """The score as the docstring of x88/movegen.py states it, from python-chess's view of the move."""
    if position.is_castling(move):
        return 500
    victim = _victim(position, move)
    attacker = KINDS[position.piece_type_at(move.from_square) or 0]
    score = 0
    if victim:
        recapture = move.to_square == _last_capture(position)
        score = 6000 if recapture else 2000 + SCALE * (VALUES[victim] - VALUES[attacker])
    if move.promotion:
        score = (score or 2000) + SCALE * (VALUES[KINDS[move.promotion]] - VALUES[PAWN])
    return score


@settings(max_examples=scaled(300, 150))
@given(games_or_placements(longest=40))
def test_every_move_has_the_score_of_the_design_and_the_best_come_first(game: Game) -> None:
    assert (RECAPTURE, CAPTURE, CASTLE) == (6000, 2000, 500)
    for board, position in game.positions():
        found = generated(board)
        scores = {coordinate.write(move): score for move, score in found}
        assert scores == {move.uci(): _score(position, move) for move in position.legal_moves}
        assert scored_moves(board) == sorted(found, key=lambda pair: -pair[1])
        assert legal_moves(board) == [move for move, _ in scored_moves(board)]


@pytest.mark.slow
@settings(max_examples=scaled(80, 15))
@given(games_or_placements(longest=20))
def test_a_plain_move_is_what_the_generator_writes(game: Game) -> None:
    """For every pair of cells, squares or not."""
    for board, position in game.positions():
        if position.is_check():
            continue
        special = CASTLING | EN_PASSANT | PROMOTED
        plain = {
            (origin_of(move), target_of(move)): move for move in legal_moves(board) if not move & special
        }
        before = fen.write(board)
        for origin in range(128):
            for target in range(128):
                assert movegen.plain_move(board, origin, target) == plain.get((origin, target), NO_MOVE)
        assert fen.write(board) == before
