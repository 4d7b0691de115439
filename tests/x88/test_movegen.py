"""The ordered generator: the legal moves and nothing else, with the scores that the design states."""

import re

import chess
import pytest
from hypothesis import given, settings

from tests.oracle import (
    KINDS,
    Game,
    games_or_placements,
    generated,
    only_c,
    packed,
    reference_texts,
    scaled,
    texts,
    to_0x88,
)
from x88 import movegen
from x88.move import (
    CAPTURED,
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
from x88.movegen import CAPTURE, CASTLE, MAX_MOVES, RECAPTURE, SCALE, MoveStack, legal_moves, scored_moves
from x88.notation import coordinate, fen
from x88.piece import BISHOP, CODE_OF_LETTER, KING, KNIGHT, MOFF, PAWN, QUEEN, ROOK, VALUES

# The rows of the article's moff table.
ARTICLE_STEPS = {
    ROOK: {-1, 1, -16, 16},
    BISHOP: {-17, -15, 15, 17},
    QUEEN: {-1, 1, -16, 16, -17, -15, 15, 17},
    KNIGHT: {-33, -31, -14, -18, 14, 31, 33, 18},
    KING: {-1, 1, -15, -16, -17, 16, 15, 17},
}

MOST_MOVES = "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1"
"""The most moves known of any position that a game can reach: 218 (Nenad Petrović, 1964)."""


# --- The piece codes and the moff table


def test_piece_codes_are_those_of_the_article() -> None:
    codes = {"P": 0x11, "N": 0x12, "B": 0x18, "R": 0x14, "Q": 0x1C, "K": 0x13}
    assert {letter: CODE_OF_LETTER[letter] for letter in codes} == codes
    assert {letter: CODE_OF_LETTER[letter.lower()] for letter in codes} == {
        letter: code ^ 0x30 for letter, code in codes.items()
    }


@pytest.mark.parametrize("kind", ARTICLE_STEPS)
def test_the_head_of_the_moff_table_points_to_the_row_of_steps(kind: int) -> None:
    row = MOFF[MOFF[kind] :]
    steps = row[: row.index(0)]
    assert len(steps) == len(ARTICLE_STEPS[kind])
    assert set(steps) == ARTICLE_STEPS[kind]


# --- Legal moves


@settings(max_examples=scaled(400, 200))
@given(games_or_placements())
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


RULES = """
Each of two checkers alone could be taken or met by a piece put between.
    4k3/8/8/8/1b6/5n2/P5P1/R3K2R w KQ - 0 1, 4r1k1/8/8/8/8/3n4/2P5/R3K2R w KQ - 0 1
    3r2k1/8/8/7b/8/8/8/R2K3R w - - 0 1
Pinned pieces, and pawns: forward along the file, to the pinning piece on the diagonal, nowhere from the rank.
    4r1k1/8/8/8/8/8/4N3/4K3 w - - 0 1, 4r1k1/8/8/8/8/8/4R3/4K3 w - - 0 1, 4r1k1/8/8/8/8/8/4B3/4K3 w - - 0 1
    6k1/8/8/8/7b/8/5B2/4K3 w - - 0 1, 6k1/8/8/8/7b/8/5R2/4K3 w - - 0 1, 6k1/8/8/8/7b/8/5Q2/4K3 w - - 0 1
    4r1k1/8/8/8/8/3p1p2/4P3/4K3 w - - 0 1, 6k1/8/8/8/8/6b1/5P2/4K3 w - - 0 1
    6k1/8/8/8/7b/8/5P2/4K3 w - - 0 1, 6k1/8/8/8/8/8/K2P3r/8 w - - 0 1, 2b3k1/1P6/K7/8/8/8/8/8 w - - 0 1
En passant along the line of the pin, across it, and with both pawns gone from the king's rank.
    6k1/2b5/8/3pP3/5K2/8/8/8 w - d6 0 1, 4r1k1/8/8/3pP3/8/8/8/4K3 w - d6 0 1
    6k1/8/8/K2pP2r/8/8/8/8 w - d6 0 1, b5k1/8/8/3pP3/4K3/8/8/8 w - d6 0 1
    8/8/8/8/k2Pp2R/8/8/4K3 b - d3 0 1, 8/5k2/8/8/1Pp5/8/B7/6K1 b - b3 0 1
En passant by either pawn, not round the edge of the board.
    4k3/8/8/2PpP3/8/8/8/4K3 w - d6 0 1, 4k3/8/8/7p/P6P/8/8/4K3 w - h6 0 1, 4k3/8/8/p6P/8/8/8/4K3 w - a6 0 1
The pawn that stepped twice gives check; so does the bishop behind it, until a pawn lands between.
    8/8/8/2k5/3Pp3/8/8/4K3 b - d3 0 1, 8/1k6/8/8/1pP5/8/8/5BK1 b - c3 0 1, 8/7k/8/8/4pP2/8/2B5/6K1 b - f3 0 1
The check of a knight or of another pawn stays. No game gets there, but a FEN may.
    4k3/8/8/3pP3/8/5n2/8/4K3 w - d6 0 1, 4k3/8/8/3pP3/8/8/3p4/4K3 w - d6 0 1
    4k3/5P2/8/8/3Pp3/8/8/4K3 b - d3 0 1
Castling needs the right, and is not out of check, through an attacked square or into one.
    r3k2r/8/8/8/8/8/8/R3K2R w Kq - 0 1, r3k2r/8/8/8/8/8/8/R3K2R b Kq - 0 1, 4k3/8/8/8/8/8/8/R3K2R w - - 0 1
    4k3/8/8/8/4r3/8/8/R3K2R w KQ - 0 1, 4k3/8/8/8/5r2/8/8/R3K2R w KQ - 0 1, 4k3/8/8/8/6r1/8/8/R3K2R w KQ - 0 1
    4k3/8/8/8/3r4/8/8/R3K2R w KQ - 0 1, 4k3/8/8/8/2r5/8/8/R3K2R w KQ - 0 1
    4k3/8/8/8/8/8/6p1/R3K2R w KQ - 0 1, 4k3/8/8/8/8/8/7p/R3K2R w KQ - 0 1, 8/8/8/8/8/8/1k6/R3K2R w KQ - 0 1
The rook may be attacked, and may cross an attacked square. No piece may stand between.
    4k3/8/8/8/1r5r/8/8/R3K2R w KQ - 0 1, 4k3/8/8/8/r7/8/8/R3K2R w KQ - 0 1
    4k3/8/8/8/8/8/8/RN2K1NR w KQ - 0 1, 4k3/8/8/8/8/8/8/Rn2K2R w KQ - 0 1, 4k3/8/8/8/8/8/8/R2QKB1R w KQ - 0 1
"""


@pytest.mark.parametrize("text", re.findall(r"\S+/\S+ [wb] .+?1(?=[,\n])", RULES))
def test_the_legal_moves_are_those_of_python_chess_where_a_rule_decides(text: str) -> None:
    assert texts(fen.parse(text)) == reference_texts(chess.Board(text))


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


def test_a_null_move_leaves_nothing_to_recapture() -> None:
    board = fen.parse("4k3/8/8/3p4/4P3/8/3Q4/4K3 w - - 0 1")
    board.make(coordinate.parse(board, "e4d5"))
    board.make_null()
    assert not any(score == 6000 for _, score in generated(board))


@only_c
def test_a_list_begins_at_its_index_and_leaves_the_moves_before() -> None:
    stack, generate = MoveStack(), movegen.generate
    board = fen.parse("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1")
    end = generate(board, stack, 0)
    first = list(zip(stack.moves[:end], stack.scores[:end], strict=True))
    assert generate(board, stack, end) == 2 * end
    captures = movegen.generate_captures(board, stack, 2 * end) - 2 * end
    assert list(zip(stack.moves[: 2 * end], stack.scores[: 2 * end], strict=True)) == first * 2
    assert captures == sum(1 for move, _ in first if move & (CAPTURED | PROMOTED))


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
