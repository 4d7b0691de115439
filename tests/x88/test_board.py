"""Make and unmake, keys, repetition, insufficient material, copies, long games."""

from collections import Counter
from itertools import combinations_with_replacement, product
from random import Random

import chess
import chess.polyglot
import pytest
from hypothesis import example, given, settings

from tests.oracle import (
    Game,
    games,
    games_or_placements,
    generated,
    only_c,
    packed,
    piece_of,
    scaled,
    side_of_colour,
    to_0x88,
    verdict,
)
from x88.attack import attackers, in_check
from x88.board import Board
from x88.move import CASTLING, EN_PASSANT, NO_MOVE, moved_of, promoted_of
from x88.movegen import legal_moves
from x88.notation import coordinate, fen
from x88.notation.outcome import Outcome, can_mate, outcome
from x88.perft import perft
from x88.piece import BLACK, PAWN, WHITE
from x88.square import FILE, NO_SQUARE, SQUARES


def visible(board: Board) -> tuple[object, ...]:
    """Everything of a board that can be seen from outside.

    The lists of attackers and the generator's order show the order of the piece lists, on which the order of
    a search depends.
    """
    return (
        fen.write(board),
        [board.piece_at(sq) for sq in SQUARES],
        (board.king(WHITE), board.king(BLACK), board.side, board.castling, board.en_passant),
        (bool(board.en_passant_legal), board.halfmove, board.reversible, board.fullmove, board.ply),
        (board.key, board.last_move()),
        [board.is_repetition(times) for times in (1, 2, 3)],
        [attackers(board, sq, side) for sq in SQUARES[::5] for side in (WHITE, BLACK)],
        generated(board),
    )


def play(text: str, moves: str) -> tuple[Board, chess.Board]:
    """Both boards after moves from a FEN."""
    board, position = fen.parse(text), chess.Board(text)
    for move in moves.split():
        board.make(coordinate.parse(board, move))
        position.push_uci(move)
    return board, position


def check_equal(board: Board, position: chess.Board) -> None:
    """The position is python-chess's, and the key Polyglot's."""
    board.check_invariants()
    assert fen.write(board) == position.fen()
    assert board.key == board.compute_key() == chess.polyglot.zobrist_hash(position)


# --- Make and unmake


@pytest.mark.slow
@settings(max_examples=scaled(150, 60))
@given(games_or_placements(longest=40))
# A pawn steps twice beside pinned pawns, and beside one pinned and one free.
@example(Game("4r1k1/3p4/8/4P3/8/8/8/4K3 b - - 0 1", b""))
@example(Game("2r3k1/3p4/8/2P5/8/8/8/2K5 b - - 0 1", b""))
@example(Game("6k1/3p4/8/K3P2r/8/8/8/8 b - - 0 1", b""))
@example(Game("4r1k1/3p4/8/2P1P3/8/8/8/4K3 b - - 0 1", b""))
def test_make_follows_python_chess_and_unmake_restores_everything(game: Game) -> None:
    for board, position in game.positions():
        before = visible(board)
        for text, move in packed(board).items():
            position.push_uci(text)
            board.make(move)
            check_equal(board, position)
            position.pop()
            board.unmake()
            board.check_invariants()
            assert visible(board) == before


@settings(max_examples=scaled(60, 25))
@given(games())
def test_a_game_follows_python_chess_and_can_be_taken_back(game: Game) -> None:
    seen = []
    for board, position in game.positions():
        seen.append(visible(board))
        check_equal(board, position)
        pieces = [piece_of(board.piece_at(to_0x88(sq))) for sq in chess.SQUARES]
        assert pieces == [position.piece_at(sq) for sq in chess.SQUARES]
        for side, colour in ((WHITE, chess.WHITE), (BLACK, chess.BLACK)):
            assert board.king(side) == to_0x88(position.king(colour) or 0)
        last = position.peek().uci() if position.move_stack else "0000"
        assert (coordinate.write(board.last_move()), board.ply) == (last, len(position.move_stack))
        repeated = [position.is_repetition(count) for count in (2, 3, 4)]
        assert [board.is_repetition(times) for times in (1, 2, 3)] == repeated
        assert outcome(board) == reference_outcome(position)
    while board.ply:
        assert visible(board) == seen.pop()
        board.unmake()
    assert [visible(board)] == seen


def reference_outcome(position: chess.Board) -> Outcome | None:
    found = verdict(position)
    return Outcome(found[1]) if found else None


@only_c
@settings(max_examples=60)
@given(games())
def test_the_key_to_prefetch_is_right_but_for_rights_en_passant_and_promotion(game: Game) -> None:
    def state(board: Board) -> tuple[int, int]:
        """The parts of the key besides the pieces: castling rights and the file of the en-passant square."""
        return board.castling, board.en_passant if board.en_passant == NO_SQUARE else board.en_passant & FILE

    for board, _ in game.positions():
        for move in legal_moves(board):
            predicted, before = board.key_after(move), state(board)
            board.make(move)
            key, kept = board.key, state(board) == before
            board.unmake()
            special = promoted_of(move) or move & (EN_PASSANT | CASTLING)
            assert (predicted == key) == (kept and not special), coordinate.write(move)


# --- Null moves


@settings(max_examples=scaled(200, 80))
@given(games_or_placements(longest=40))
def test_a_null_move_passes_the_turn_and_can_be_taken_back(game: Game) -> None:
    for board, position in game.positions():
        if in_check(board):
            continue
        before = visible(board)
        board.make_null()
        position.push(chess.Move.null())
        check_equal(board, position)
        assert (board.last_move(), board.en_passant) == (NO_MOVE, NO_SQUARE)
        assert not board.is_repetition(1)
        position.pop()
        board.unmake()
        assert visible(board) == before


def test_no_repetition_reaches_back_over_a_null_move() -> None:
    board, _ = play("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", "a1a2 e8d8")
    for move in ("", "d8e8", "a2a1", "", "a1a2", "e8d8"):
        if move:
            board.make(coordinate.parse(board, move))
        else:
            board.make_null()
    assert not board.is_repetition(1)


# --- Repetition


@pytest.mark.parametrize(
    ("text", "first", "moves", "repeats"),
    [
        # Taking en passant is legal the first time only: another position.
        ("7k/3p4/8/4P3/8/8/8/4K3 b - - 0 1", "d7d5", "e1d1 h8g8 d1e1 g8h8", False),
        # It is not legal because of the pin: the same position.
        ("4r2k/3p4/8/4P3/8/8/8/4K3 b - - 0 1", "d7d5", "e1d1 h8g8 d1e1 g8h8", True),
        # The same from a FEN with the square.
        ("7k/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "", "e1d1 h8g8 d1e1 g8h8", False),
        # Rook and king go round in three moves each.
        ("7k/8/8/8/8/8/8/KR6 w - - 0 1", "", "b1b2 h8g8 b2b3 g8g7 b3b1 g7h8", True),
        # The same placement with fewer castling rights.
        ("4k3/7p/8/8/8/8/8/R3K3 b Q - 0 1", "h7h6", "a1a2 e8d8 a2a1 d8e8", False),
        ("4k3/7p/8/8/8/8/8/R3K3 b - - 0 1", "h7h6", "a1a2 e8d8 a2a1 d8e8", True),
    ],
)
def test_a_position_repeats_when_the_same_moves_are_available(
    text: str, first: str, moves: str, repeats: bool
) -> None:
    for times in (1, 2, 3):
        board, position = play(text, f"{first} {' '.join([moves] * times)}")
        assert board.is_repetition(times) == position.is_repetition(times + 1) == repeats
        assert not board.is_repetition(times + 1)


# --- Insufficient material


@pytest.mark.parametrize("bishops_on", [chess.BB_LIGHT_SQUARES, chess.BB_DARK_SQUARES, chess.BB_ALL])
def test_small_armies_draw_and_can_mate_as_python_chess_says(bishops_on: int) -> None:
    random = Random(2)
    middle = chess.SquareSet(chess.BB_RANK_3 | chess.BB_RANK_4 | chess.BB_RANK_5 | chess.BB_RANK_6)
    armies = ["".join(army) for n in range(4) for army in combinations_with_replacement("PNBRQ", n)]
    drawn, able = 0, Counter()
    for white, black in product(armies, armies):
        for _ in range({4: 1, 5: 0, 6: 0}.get(len(white + black), 3)):
            position = chess.Board("k7/8/8/8/8/8/8/7K w - - 0 1")
            for letter in white + black.lower():
                squares = middle & bishops_on if letter in "Bb" else middle
                free = [sq for sq in squares if not position.piece_at(sq)]
                position.set_piece_at(random.choice(free), chess.Piece.from_symbol(letter))
            if not position.is_valid():
                position.turn = not position.turn
            if position.is_valid():
                board = fen.parse(position.fen())
                assert board.is_insufficient_material() == position.is_insufficient_material()
                assert outcome(board) == reference_outcome(position), position.fen()
                for colour in chess.COLORS:
                    can = not position.has_insufficient_material(colour)
                    assert can_mate(board, side_of_colour(colour)) == can, position.fen()
                    able[can] += 1
                drawn += board.is_insufficient_material()
    assert drawn > 15
    assert min(able.values()) > 80


# --- Copies


@settings(max_examples=scaled(60, 30))
@given(games(longest=40))
@example(Game("r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq d6 0 1", b""))
def test_a_copy_has_the_history_and_is_independent(game: Game) -> None:
    reversible = []
    for board, _ in game.positions():
        reversible.append(board.reversible)
    before = visible(board)
    other = board.copy()
    other.check_invariants()
    assert visible(other) == before
    moves = []
    while other.ply:
        assert other.reversible == reversible.pop()
        moves.append(other.last_move())
        other.unmake()
    assert fen.write(other) == fen.write(fen.parse(game.fen))
    other = other.copy()
    for move in reversed(moves):
        other.make(move)
    assert visible(board) == visible(other) == before
    other = board.copy()
    while board.ply:
        board.unmake()
    board.clear()
    assert visible(other) == before


def test_a_new_or_cleared_board_is_empty() -> None:
    cleared, _ = play(fen.START, "e2e4 e7e5 g1f3")
    cleared.clear()
    refused = Board()
    codes = {to_0x88(chess.E1): 0x13, to_0x88(chess.E2): 0x14, to_0x88(chess.E8): 0x23}
    with pytest.raises(ValueError, match="in check"):
        refused.setup(bytes(codes.get(sq, 0) for sq in range(128)), WHITE, 0, NO_SQUARE, 3, 4)
    for board in (Board(), cleared, refused):
        board.check_invariants()
        assert not any(board.piece_at(sq) for sq in SQUARES)
        assert (board.side, board.castling, board.en_passant, board.halfmove) == (WHITE, 0, NO_SQUARE, 0)
        assert (board.reversible, board.fullmove, board.ply, board.last_move()) == (0, 1, 0, NO_MOVE)


def test_whatever_counts_as_a_whole_number_is_read_once() -> None:
    class Number(list[int]):
        def __index__(self) -> int:
            return self.pop()

    board = fen.parse("r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq d6 3 4")
    codes = bytes(0 if sq & 0x88 else board.piece_at(sq) for sq in range(128))
    other = Board()
    state = (board.side, board.castling, board.en_passant, board.halfmove, board.fullmove)
    other.setup(codes, *map(Number, zip(state)), [*map(Number, ([0x07], [0x00], [0x77], [0x70]))])
    assert fen.write(other) == fen.write(board)
    assert (board.king(Number([1])), board.piece_at(Number([0x74]))) == (0x74, 0x23)
    assert board.castling_rook(Number([2])) == 0x77
    assert attackers(board, Number([0x71]), Number([1])) == [0x70]
    assert perft.Counter(board).leaves_under([], Number([1])) == len(legal_moves(board))


@pytest.mark.parametrize("rook", [chess.A1, chess.H2])
def test_setup_drops_a_right_with_its_rook_on_another_side_or_rank(rook: chess.Square) -> None:
    board = Board()
    codes = {to_0x88(chess.E1): 0x13, to_0x88(rook): 0x14, to_0x88(chess.E8): 0x23}
    rooks = (to_0x88(rook), NO_SQUARE, NO_SQUARE, NO_SQUARE)
    board.setup(bytes(codes.get(sq, 0) for sq in range(128)), WHITE, 1, NO_SQUARE, 0, 1, rooks)
    assert board.castling == 0


# --- Long games

LOCKED = "r3k2r/8/p1p1p1p1/P1P1P1P1/8/8/8/R3K2R w - - 0 1"
"""Rooks wander behind locked pawns, where hardly a position comes twice."""


def _quiet_moves(board: Board) -> dict[str, int]:
    """The moves by their texts, without captures, castling and pawn moves."""
    found = {coordinate.write(move): move for move, score in generated(board) if score == 0}
    return {text: move for text, move in found.items() if moved_of(move) != PAWN}


def _make_quiet_move(board: Board, random: Random, wish: str = "") -> str:
    """Play a quiet move that leaves the other side one, the wished one if it can be; returns its text."""
    moves = _quiet_moves(board)
    choices = random.sample(sorted(moves), len(moves))
    for text in [wish, *choices] if wish in moves else choices:
        board.make(moves[text])
        if _quiet_moves(board):
            return text
        board.unmake()
    raise AssertionError(f"no quiet move goes on from {fen.write(board)}")


@pytest.mark.slow
def test_repetitions_are_counted_right_in_a_long_game() -> None:
    """Compares with a count of all positions over 6000 plies without a capture or a pawn move.

    Now and then both sides go to and fro.
    """
    random = Random(0)
    board = fen.parse(LOCKED)
    seen = Counter([LOCKED.removesuffix(" 0 1")])
    played: list[str] = []
    counts: Counter[int] = Counter()
    for ply in range(6000):
        to_and_fro = len(played) > 1 and (ply % 32 in (30, 31, 0, 1) or ply % 256 >= 240)
        back = played[-2][2:4] + played[-2][:2] if to_and_fro else ""
        played.append(_make_quiet_move(board, random, back))
        assert board.ply == ply + 1
        position = " ".join(fen.write(board).split()[:4])
        before = seen[position]
        for times in (1, 2, 3):
            assert bool(board.is_repetition(times)) == (before >= times), (ply, times)
        seen[position] += 1
        counts[before] += 1
    assert (board.fullmove, board.halfmove) == (3001, 6000)
    assert counts[0] > 3000
    assert min(counts[1], counts[2], counts[3]) > 80
    board.check_invariants()


def test_a_long_game_can_be_taken_back() -> None:
    """A capture en passant, castling and a promotion after 3000 other plies."""
    board = fen.parse("r3k1nr/1p1p4/8/2P5/8/8/3P4/R3K1NR w KQkq - 0 1")
    shuffle = "g1f3 g8f6 f3g1 f6g8 "
    last = "g1f3 b7b5 c5b6 g8f6 e1g1 e8g8 b6b7 f6d7 b7a8q d7b6"
    seen = []
    for move in (100 * shuffle + "d2d3 d7d6 " + 665 * shuffle + last).split():
        seen.append((fen.write(board), board.last_move(), board.is_repetition(2)))
        board.make(coordinate.parse(board, move))
    other = board.copy()
    while seen:
        board.unmake()
        assert (fen.write(board), board.last_move(), board.is_repetition(2)) == seen.pop()
    assert other.ply == 3072
    while other.ply:
        other.unmake()
    assert fen.write(other) == fen.write(board)
