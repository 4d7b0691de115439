"""Make and unmake, keys, repetition, fifty moves, insufficient material, outcomes, long games."""

from collections import Counter
from itertools import combinations_with_replacement, product
from random import Random

import chess
import chess.polyglot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle import (
    Game,
    games,
    generated,
    only_c,
    packed,
    piece_of,
    placements,
    scaled,
    to_0x88,
)
from x88.attack import attackers, in_check
from x88.board import HISTORY, Board
from x88.move import CASTLING, EN_PASSANT, NO_MOVE, moved_of, promoted_of
from x88.movegen import legal_moves
from x88.notation import coordinate, fen
from x88.notation.outcome import Outcome, outcome
from x88.piece import BLACK, PAWN, WHITE
from x88.square import FILE, NO_SQUARE, SQUARES

SHUFFLES = (
    # Kings and knights: repetitions come soon.
    "6k1/6pp/6n1/8/8/6N1/6PP/6K1 w - - 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
    "4k3/8/8/8/8/8/4R3/4K3 b - - 20 40",
    # An en-passant square at the start: legal, illegal because of a pin, and none.
    "7k/8/8/3pP3/8/8/8/4K3 w - d6 0 1",
    "4r2k/8/8/3pP3/8/8/8/4K3 w - d6 0 1",
    "7k/8/8/K2pP2r/8/8/8/8 w - d6 0 1",
    "7k/8/8/3p4/8/8/8/4K3 w - - 0 1",
    # A double step still to come.
    "7k/3p4/8/4P3/8/8/8/4K3 b - - 3 9",
    "4r2k/3p4/8/4P3/8/8/8/4K3 b - - 3 9",
)


def visible(board: Board) -> tuple[object, ...]:
    """Everything of a board that can be seen from outside.

    The lists of attackers and the generator's order show the order of the piece lists, on which the order of
    a search depends.
    """
    return (
        fen.write(board),
        [board.piece_at(sq) for sq in SQUARES],
        board.king(WHITE),
        board.king(BLACK),
        board.side,
        board.castling,
        board.en_passant,
        bool(board.en_passant_legal),
        board.halfmove,
        board.reversible,
        board.fullmove,
        board.ply,
        board.key,
        board.last_move(),
        [board.is_repetition(times) for times in (1, 2, 3)],
        [attackers(board, sq, side) for sq in SQUARES[::5] for side in (WHITE, BLACK)],
        generated(board),
    )


def play(text: str, moves: str) -> Board:
    """The board after moves from a FEN."""
    board = fen.parse(text)
    for move in moves.split():
        board.make(coordinate.parse(board, move))
    return board


# --- Make and unmake


@pytest.mark.slow
@settings(max_examples=scaled(60, 40))
@given(games(longest=40))
def test_unmake_restores_everything_after_every_move(game: Game) -> None:
    for board, _ in game.positions():
        before = visible(board)
        for move in packed(board).values():
            board.make(move)
            board.check_invariants()
            board.unmake()
            board.check_invariants()
            assert visible(board) == before


@settings(max_examples=scaled(100, 50))
@given(games())
def test_a_whole_game_can_be_taken_back(game: Game) -> None:
    seen = []
    for board, _ in game.positions():
        seen.append(visible(board))
    while board.ply:
        assert visible(board) == seen.pop()
        board.check_invariants()
        board.unmake()
    assert [visible(board)] == seen


@settings(max_examples=scaled(300, 150))
@given(st.one_of(games(), games(longest=80, starts=SHUFFLES)))
def test_make_leads_where_python_chess_leads(game: Game) -> None:
    for board, position in game.positions():
        board.check_invariants()
        assert fen.write(board) == position.fen()
        assert [piece_of(board.piece_at(to_0x88(sq))) for sq in chess.SQUARES] == [
            position.piece_at(sq) for sq in chess.SQUARES
        ]
        for side, colour in ((WHITE, chess.WHITE), (BLACK, chess.BLACK)):
            assert board.king(side) == to_0x88(position.king(colour) or 0)
        assert board.ply == len(position.move_stack)
        last = position.peek().uci() if position.move_stack else "0000"
        assert coordinate.write(board.last_move()) == last
        assert [board.is_repetition(times) for times in (1, 2, 3)] == [
            position.is_repetition(count) for count in (2, 3, 4)
        ]
        assert outcome(board) == reference_outcome(position)


@pytest.mark.slow
@settings(max_examples=scaled(300, 200))
@given(placements())
def test_every_move_from_pieces_thrown_on_the_board_leads_where_python_chess_leads(text: str) -> None:
    board, position = fen.parse(text), chess.Board(text)
    before = visible(board)
    assert board.key == board.compute_key() == chess.polyglot.zobrist_hash(position)
    for move in position.legal_moves:
        board.make(packed(board)[move.uci()])
        position.push(move)
        assert fen.write(board) == position.fen()
        assert board.key == chess.polyglot.zobrist_hash(position)
        board.check_invariants()
        board.unmake()
        position.pop()
    assert visible(board) == before


@only_c
@settings(max_examples=scaled(100, 60))
@given(games(longest=60))
def test_the_key_to_prefetch_by_is_that_after_the_move_but_for_rights_passing_and_promotion(
    game: Game,
) -> None:
    def in_key(board: Board) -> tuple[int, int]:
        """What the key holds besides the pieces: castling rights and the file of the en-passant square."""
        return board.castling, board.en_passant if board.en_passant == NO_SQUARE else board.en_passant & FILE

    for board, _ in game.positions():
        for move in legal_moves(board):
            foretold, state = board.key_after(move), in_key(board)
            board.make(move)
            key, kept = board.key, in_key(board) == state
            board.unmake()
            special = promoted_of(move) or move & (EN_PASSANT | CASTLING)
            assert (foretold == key) == (kept and not special), coordinate.write(move)


# --- Null moves


@settings(max_examples=scaled(100, 60))
@given(games(longest=40))
def test_a_null_move_passes_the_turn_and_is_taken_back(game: Game) -> None:
    for board, position in game.positions():
        if in_check(board):
            continue
        before = visible(board)
        board.make_null()
        position.push(chess.Move.null())
        assert fen.write(board) == position.fen()
        assert board.key == board.compute_key() == chess.polyglot.zobrist_hash(position)
        assert board.last_move() == NO_MOVE
        assert board.en_passant == NO_SQUARE
        assert not board.is_repetition(1)
        board.check_invariants()
        position.pop()
        board.unmake()
        assert visible(board) == before


def test_no_repetition_reaches_back_over_a_null_move() -> None:
    board = play("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", "a1a2 e8d8")
    board.make_null()
    for move in ("d8e8", "a2a1"):
        board.make(coordinate.parse(board, move))
    board.make_null()
    for move in ("a1a2", "e8d8"):
        board.make(coordinate.parse(board, move))
    assert not board.is_repetition(1)


# --- Keys


@settings(max_examples=scaled(150, 80))
@given(games())
def test_the_key_is_that_of_polyglot_after_every_make_and_unmake(game: Game) -> None:
    for board, position in game.positions():
        key = chess.polyglot.zobrist_hash(position)
        assert board.key == board.compute_key() == key
        for move in packed(board).values():
            board.make(move)
            assert board.key == board.compute_key()
            board.unmake()
            assert board.key == key


@pytest.mark.parametrize(
    ("text", "moves", "passed", "legal"),
    [
        # Nobody beside, an own pawn beside, a piece beside, a pawn on the other edge of the board.
        ("4k3/3p4/8/8/8/8/8/4K3 b - - 0 1", "d7d5", None, False),
        ("4k3/3p4/8/4p3/8/8/8/4K3 b - - 0 1", "d7d5", None, False),
        ("4k3/3p4/8/4N3/8/8/8/4K3 b - - 0 1", "d7d5", None, False),
        ("4k3/7p/8/P7/8/8/8/4K3 b - - 0 1", "h7h5", None, False),
        ("4k3/p7/8/7P/8/8/8/4K3 b - - 0 1", "a7a5", None, False),
        # A single step.
        ("4k3/8/3p4/4P3/8/8/8/4K3 b - - 0 1", "d6d5", None, False),
        # A pawn ready to take.
        ("4k3/3p4/8/4P3/8/8/8/4K3 b - - 0 1", "d7d5", "d6", True),
        ("4k3/3p4/8/2P5/8/8/8/4K3 b - - 0 1", "d7d5", "d6", True),
        ("4k3/8/8/8/3p4/8/4P3/4K3 w - - 0 1", "e2e4", "e3", True),
        # Ready, but pinned: in the key, not in the FEN.
        ("4r1k1/3p4/8/4P3/8/8/8/4K3 b - - 0 1", "d7d5", "d6", False),
        ("6k1/3p4/8/K3P2r/8/8/8/8 b - - 0 1", "d7d5", "d6", False),
        # One of two is pinned.
        ("4r1k1/3p4/8/2P1P3/8/8/8/4K3 b - - 0 1", "d7d5", "d6", True),
    ],
)
def test_en_passant_is_in_the_key_only_when_a_pawn_can_take(
    text: str, moves: str, passed: str | None, legal: bool
) -> None:
    board = play(text, moves)
    position = chess.Board(text)
    position.push_uci(moves)
    assert board.en_passant == (NO_SQUARE if passed is None else to_0x88(chess.parse_square(passed)))
    assert bool(board.en_passant_legal) == legal
    assert fen.write(board).split()[3] == (passed if legal else "-")
    assert board.key == chess.polyglot.zobrist_hash(position)
    without = position.copy()
    without.ep_square = None
    assert (board.key != chess.polyglot.zobrist_hash(without)) == (passed is not None)
    # The same from the FEN that names the square in any case.
    assert fen.parse(position.fen(en_passant="fen")).key == board.key


# --- Repetition


@pytest.mark.slow
@settings(max_examples=scaled(300, 200))
@given(st.sampled_from(SHUFFLES), st.binary(min_size=30, max_size=60))
def test_repetition_is_that_of_python_chess_when_pieces_go_to_and_fro(text: str, choices: bytes) -> None:
    board, position = fen.parse(text), chess.Board(text)
    for choice in choices:
        moves = list(position.legal_moves)
        if not moves:
            break
        move = moves[choice % len(moves)]
        if len(position.move_stack) >= 2 and choice < 210:
            # Mostly back to where the same side came from.
            last = position.move_stack[-2]
            back = chess.Move(last.to_square, last.from_square)
            move = back if back in moves else move
        board.make(packed(board)[move.uci()])
        position.push(move)
        assert [board.is_repetition(times) for times in (1, 2, 3)] == [
            position.is_repetition(count) for count in (2, 3, 4)
        ]


@pytest.mark.parametrize(
    ("text", "first", "moves", "repeats"),
    [
        # Taking en passant is legal the first time only: another position.
        ("7k/3p4/8/4P3/8/8/8/4K3 b - - 0 1", "d7d5", "e1d1 h8g8 d1e1 g8h8", False),
        # It is not legal because of the pin: the same position.
        ("4r2k/3p4/8/4P3/8/8/8/4K3 b - - 0 1", "d7d5", "e1d1 h8g8 d1e1 g8h8", True),
        ("7k/3p4/8/K3P2r/8/8/8/8 b - - 0 1", "d7d5", "a5a4 h8g8 a4a5 g8h8", True),
        # No pawn stands beside: the same position.
        ("7k/3p4/8/8/8/8/8/4K3 b - - 0 1", "d7d5", "e1d1 h8g8 d1e1 g8h8", True),
        # The same placement with fewer castling rights.
        ("4k3/7p/8/8/8/8/8/R3K3 b Q - 0 1", "h7h6", "a1a2 e8d8 a2a1 d8e8", False),
        ("4k3/7p/8/8/8/8/8/R3K3 b - - 0 1", "h7h6", "a1a2 e8d8 a2a1 d8e8", True),
    ],
)
def test_a_position_repeats_when_the_same_moves_are_available(
    text: str, first: str, moves: str, repeats: bool
) -> None:
    board = play(text, f"{first} {moves}")
    position = chess.Board(text)
    for move in [first, *moves.split()]:
        position.push_uci(move)
    assert board.is_repetition(1) == position.is_repetition(2) == repeats
    board = play(text, f"{first} {moves} {moves}")
    for move in moves.split():
        position.push_uci(move)
    assert board.is_repetition(2) == position.is_repetition(3) == repeats


# --- The fifty-move rule and outcomes


def reference_outcome(position: chess.Board) -> Outcome | None:
    """python-chess's outcome, its single tests in the order in which Moff asks."""
    if not any(position.legal_moves):
        return Outcome.CHECKMATE if position.is_check() else Outcome.STALEMATE
    if position.is_insufficient_material():
        return Outcome.INSUFFICIENT_MATERIAL
    if position.is_fifty_moves():
        return Outcome.FIFTY_MOVES
    return Outcome.REPETITION if position.is_repetition(3) else None


@settings(max_examples=scaled(1500, 800))
@given(placements(most=8))
def test_the_outcome_of_few_pieces_is_that_of_python_chess(text: str) -> None:
    assert outcome(fen.parse(text)) == reference_outcome(chess.Board(text))


# --- Insufficient material


def _armies() -> list[str]:
    """Up to three pieces beside both kings, White's and Black's, every combination once."""
    letters = "PNBRQ"
    armies = ["".join(army) for n in range(4) for army in combinations_with_replacement(letters, n)]
    return [white + black.lower() for white, black in product(armies, armies) if len(white + black) <= 3]


@pytest.mark.parametrize("bishops_on", [chess.BB_LIGHT_SQUARES, chess.BB_DARK_SQUARES, chess.BB_ALL])
def test_insufficient_material_of_every_small_army_is_that_of_python_chess(bishops_on: int) -> None:
    random = Random(2)
    middle = chess.SquareSet(chess.BB_RANK_3 | chess.BB_RANK_4 | chess.BB_RANK_5 | chess.BB_RANK_6)
    drawn = 0
    for army in _armies():
        for _ in range(3):
            position = chess.Board("k7/8/8/8/8/8/8/7K w - - 0 1")
            for letter in army:
                squares = middle & bishops_on if letter in "Bb" else middle
                free = [sq for sq in squares if not position.piece_at(sq)]
                position.set_piece_at(random.choice(free), chess.Piece.from_symbol(letter))
            if not position.is_valid():
                position.turn = not position.turn
            if position.is_valid():
                insufficient = fen.parse(position.fen()).is_insufficient_material()
                assert insufficient == position.is_insufficient_material(), position.fen()
                drawn += insufficient
    assert drawn > 15


# --- Copies


@settings(max_examples=scaled(60, 40))
@given(games(longest=40))
def test_a_copy_is_equal_with_its_history_and_independent(game: Game) -> None:
    *_, (board, _) = game.positions()
    before = visible(board)
    other = board.copy()
    other.check_invariants()
    assert visible(other) == before
    for move in legal_moves(other):
        other.make(move)
        assert visible(board) == before
        other.unmake()
    while other.ply:
        other.unmake()
    assert fen.write(other) == fen.write(fen.parse(game.fen))
    assert visible(board) == before
    other = board.copy()
    while board.ply:
        board.unmake()
    board.clear()
    assert visible(other) == before


@pytest.mark.parametrize("moves", ["", "e2e4 e7e5 g1f3"])
def test_a_new_or_cleared_board_is_empty(moves: str) -> None:
    board = Board()
    if moves:
        board = play(fen.START, moves)
        board.clear()
    board.check_invariants()
    assert not any(board.piece_at(sq) for sq in SQUARES)
    assert (board.side, board.castling, board.en_passant, board.halfmove) == (WHITE, 0, NO_SQUARE, 0)
    assert (board.reversible, board.fullmove, board.ply, board.last_move()) == (0, 1, 0, NO_MOVE)


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


def _without_counters(board: Board) -> str:
    return " ".join(fen.write(board).split()[:4])


@pytest.mark.parametrize("seed", range(3))
def test_no_repetition_is_lost_or_invented_in_a_game_longer_than_the_undo_stack(seed: int) -> None:
    """Compares with a count of all positions over 6000 plies without a capture or a pawn move.

    Now and then both sides go to and fro, also when the board forgets half of its stack.
    """
    random = Random(seed)
    board = fen.parse(LOCKED)
    seen = Counter([_without_counters(board)])
    played: list[str] = []
    counts: Counter[int] = Counter()
    for ply in range(6000):
        to_and_fro = len(played) > 1 and (ply % 32 in (30, 31, 0, 1) or ply % 256 >= 240)
        back = played[-2][2:4] + played[-2][:2] if to_and_fro else ""
        played.append(_make_quiet_move(board, random, back))
        assert board.ply < 3 * HISTORY // 4
        position = _without_counters(board)
        before = seen[position]
        for times in (1, 2, 3):
            assert bool(board.is_repetition(times)) == (before >= times), (ply, times)
        seen[position] += 1
        counts[before] += 1
    assert (board.fullmove, board.halfmove) == (3001, 6000)
    assert counts[0] > 3000
    assert min(counts[1], counts[2], counts[3]) > 80
    board.check_invariants()


def test_what_is_not_forgotten_can_be_taken_back() -> None:
    """A capture en passant, castling and a promotion just before the board forgets half of its stack."""
    board = fen.parse("r3k1nr/1p1p4/8/2P5/8/8/3P4/R3K1NR w KQkq - 0 1")
    shuffle = "g1f3 g8f6 f3g1 f6g8 "
    last = "g1f3 b7b5 c5b6 g8f6 e1g1 e8g8 b6b7 f6d7 b7a8q d7b6"
    seen = []
    for move in (100 * shuffle + "d2d3 d7d6 " + 665 * shuffle + last).split():
        seen.append((fen.write(board), board.last_move(), board.is_repetition(2)))
        board.make(coordinate.parse(board, move))
    assert len(seen) == 3072 == board.ply + HISTORY // 2
    while board.ply > 8:
        board.unmake()
        assert (fen.write(board), board.last_move(), board.is_repetition(2)) == seen.pop()
        assert board.reversible <= board.ply
