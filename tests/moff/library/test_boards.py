"""`moff.Board` and python-chess's, side by side through games: every method after every move.

MOFF_LIBRARY_GAMES sets how many games are played.
"""

import copy
import os
import pickle
from collections.abc import Callable
from random import Random
from typing import Any

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

import moff
from tests.oracle import STARTS, scaled
from tests.strategies import damaged, per_hundred
from x88 import build

GAMES = int(os.environ.get("MOFF_LIBRARY_GAMES", scaled(60, 6)))
"""Of some 60 positions each."""

OF_BOARD = (
    *("fen", "shredder_fen", "board_fen", "epd", "ply", "is_check", "is_checkmate", "is_stalemate"),
    *("is_insufficient_material", "is_repetition", "is_fivefold_repetition", "is_fifty_moves"),
    *("is_seventyfive_moves", "can_claim_draw", "can_claim_fifty_moves", "can_claim_threefold_repetition"),
    *("is_game_over", "result", "has_legal_en_passant", "has_pseudo_legal_en_passant"),
    *("clean_castling_rights", "__str__", "unicode", "checkers"),
)
STATE = (
    *("turn", "castling_rights", "ep_square", "halfmove_clock", "fullmove_number", "chess960", "occupied"),
    *("pawns", "knights", "bishops", "rooks", "queens", "kings"),
)
OF_COLOUR = (
    *("king", "has_castling_rights", "has_kingside_castling_rights", "has_queenside_castling_rights"),
    "has_insufficient_material",
)
OF_SQUARE = ("piece_type_at", "color_at", "attacks", "attacks_mask")
OF_COLOUR_AND_SQUARE = ("attackers", "attackers_mask", "is_attacked_by", "is_pinned")
OF_MOVE = (
    *("san", "lan", "uci", "is_capture", "is_castling", "is_kingside_castling", "is_queenside_castling"),
    *("is_en_passant", "is_zeroing", "is_irreversible", "gives_check", "is_legal"),
)


def plain(value: Any) -> Any:
    """A value of either library as one that both share."""
    if isinstance(value, moff.Move | chess.Move | moff.Piece | chess.Piece):
        return str(value)
    if isinstance(value, moff.SquareSet | chess.SquareSet):
        return list(value)
    if isinstance(value, moff.Outcome | chess.Outcome):
        return value.termination.name, value.winner, value.result()
    if isinstance(value, dict):
        return {square: str(piece) for square, piece in value.items()}
    return list(map(plain, value)) if isinstance(value, list) else value


def agree(ours: moff.Board, theirs: chess.Board, chance: Random) -> None:
    """Compare everything that the boards say."""

    def same(name: str, *arguments: Any, **options: Any) -> None:
        converted = [
            moff.Move.from_uci(argument.uci()) if isinstance(argument, chess.Move) else argument
            for argument in arguments
        ]
        found = plain(getattr(ours, name)(*converted, **options))
        assert found == plain(getattr(theirs, name)(*arguments, **options)), (name, arguments, theirs.fen())

    for name in OF_BOARD:
        same(name)
    for name in STATE:
        assert getattr(ours, name) == getattr(theirs, name), (name, theirs.fen())
    for count in (1, 2, 4):
        same("is_repetition", count)
    for claim in (False, True):
        same("outcome", claim_draw=claim)
    for form in ("legal", "xfen", "fen"):
        same("fen", en_passant=form)
    same("piece_map")
    for colour in chess.COLORS:
        for name in OF_COLOUR:
            same(name, colour)
        for kind in chess.PIECE_TYPES:
            same("pieces", kind, colour)
        for square in chess.SQUARES:
            for name in OF_COLOUR_AND_SQUARE:
                same(name, colour, square)
    for square in chess.SQUARES:
        assert plain(ours.piece_at(chess.SQUARE_NAMES[square])) == plain(theirs.piece_at(square)) or (
            ours.piece_at(square) is theirs.piece_at(square) is None
        )
        for name in OF_SQUARE:
            same(name, square)
    moves = list(theirs.legal_moves)
    assert sorted(map(str, ours.legal_moves)) == sorted(map(str, moves))
    assert ours.legal_moves.count() == len(moves)
    assert bool(ours.legal_moves) == bool(moves)
    for move in moves:
        mine = moff.Move.from_uci(move.uci())
        assert mine in ours.legal_moves
        for name in OF_MOVE:
            same(name, move)
        san = theirs.san(move)
        assert ours.parse_san(san) == mine == ours.parse_uci(move.uci())
    other = chess.Move(chance.randrange(64), chance.randrange(64), chance.choice((None, 2, 5)))
    if other.from_square != other.to_square:
        same("is_legal", other)
        if theirs.color_at(other.from_square) == theirs.turn:
            same("is_capture", other)
    assert plain(ours.move_stack) == plain(theirs.move_stack)
    mirror = ours.mirror()
    assert mirror.fen() == theirs.mirror().fen()
    assert ours.root().fen() == theirs.root().fen()
    again = pickle.loads(pickle.dumps(ours))
    for twin in (ours.copy(), copy.copy(ours), copy.deepcopy(ours), again):
        assert twin == ours
        assert hash(twin) == hash(ours)
        assert twin.move_stack == ours.move_stack
    alone = ours.copy(stack=False)
    assert alone == ours
    assert alone.move_stack == []
    assert eval(repr(ours), {"Board": moff.Board}) == ours
    if len(ours.move_stack) > 2:
        assert ours.copy(stack=2).move_stack == ours.move_stack[-2:]


def failure(call: Callable[[], object]) -> str:
    """The text of the ValueError that a call raises, "" if it raises none."""
    try:
        call()
    except ValueError as error:
        return str(error)
    return ""


def pair(start: int | str) -> tuple[moff.Board, chess.Board]:
    if isinstance(start, int):
        return moff.Board.from_chess960_pos(start), chess.Board.from_chess960_pos(start)
    return moff.Board(start), chess.Board(start)


@given(st.one_of(st.sampled_from(STARTS), st.integers(0, 959)), st.randoms(use_true_random=False))
@per_hundred(GAMES, GAMES)
def test_boards_agree_through_games(start: int | str, chance: Random) -> None:
    ours, theirs = pair(start)
    agree(ours, theirs, chance)
    for _ in range(chance.choice((4, 60, 120))):
        moves = list(theirs.legal_moves)
        if not moves:
            break
        quiet = [move for move in moves if not theirs.is_irreversible(move)]
        # Back and forth, for repetitions and long games without captures.
        move = chance.choice(quiet if quiet and chance.random() < 0.6 else moves)
        assert ours.push_san(theirs.san(move)) == moff.Move.from_uci(move.uci())
        theirs.push(move)
        assert ours.peek() == moff.Move.from_uci(move.uci())
        agree(ours, theirs, chance)
    while theirs.move_stack:
        assert str(ours.pop()) == str(theirs.pop())
        assert ours.fen() == theirs.fen()
    agree(ours, theirs, chance)


@given(damaged([*STARTS, chess.STARTING_FEN, "8/8/8/8/8/8/8/8 w - - 0 1", "KKKK4/8/8/8/8/8/8/8 b - - 3 9"]))
@per_hundred(200, 100)
def test_a_fen_is_a_position_or_one_clear_error(text: str) -> None:
    board = moff.Board()
    error = failure(lambda: board.set_fen(text))
    if error:
        assert repr(text) in error
        assert board == moff.Board()
        return
    try:
        theirs = chess.Board(text)
    except ValueError:
        return  # Moff reads more
    assert board.board_fen() == theirs.board_fen()
    assert plain(board.piece_map()) == plain(theirs.piece_map())
    assert board.fault or plain(board.legal_moves.count()) == theirs.legal_moves.count()


@pytest.mark.parametrize(
    ("fen", "san", "error"),
    [
        (chess.STARTING_FEN, "e5", moff.IllegalMoveError),
        (chess.STARTING_FEN, "Nd2", moff.IllegalMoveError),
        (chess.STARTING_FEN, "nonsense", moff.InvalidMoveError),
        ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "Kg1", moff.IllegalMoveError),
        ("4k3/8/8/4Pp2/8/8/8/4K3 w - f6 0 2", "f6", moff.IllegalMoveError),
        ("8/8/1n6/3R1P2/1n6/2k2K2/3p4/r6r b - - 0 82", "Nd5", moff.AmbiguousMoveError),
    ],
)
def test_text_that_is_no_move_is_refused_for_the_same_reason(fen: str, san: str, error: type) -> None:
    board = moff.Board(fen)
    with pytest.raises(error, match=san):
        board.push_san(san)
    with pytest.raises(getattr(chess, error.__name__)):
        chess.Board(fen).push_san(san)
    assert (board.fen(), board.move_stack) == (fen, [])


def test_a_copy_and_its_original_move_apart() -> None:
    board = moff.Board()
    board.push_san("e4")
    below = board.x88
    twin = board.copy()
    twin.push_san("e5")
    assert (board.fen(), twin.pop(), twin) == (
        moff.Board(board.fen()).fen(),
        moff.Move.from_uci("e7e5"),
        board,
    )
    board.turn = moff.WHITE
    assert (board.turn, twin.turn, board.move_stack) == (moff.WHITE, moff.BLACK, twin.move_stack)
    assert str(board.pop()) == "e2e4"
    assert board == moff.Board()
    assert below.key == twin.x88.key


def test_wrong_objects_crash_nothing() -> None:
    board = moff.Board()
    refused = TypeError if build.compiled else (TypeError, AttributeError)
    for call in (board.push, board.san, board.uci, board.is_legal, board.is_capture, moff.LegalMoveGenerator):
        with pytest.raises(refused):
            call(None)  # type: ignore[arg-type]
    for method in (moff.Board.ply, moff.Board.push, moff.Move.uci):
        with pytest.raises(refused):
            method(5)  # type: ignore[call-arg]
    empty = moff.Board.__new__(moff.Board)
    with pytest.raises(ValueError if build.compiled else AttributeError):
        list(empty.legal_moves)
