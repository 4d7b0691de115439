"""`moff.Board` and python-chess's, side by side through games: every method after every move.

MOFF_LIBRARY_GAMES sets how many games are played.
"""

import copy
import os
import pickle
import sys
import threading
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
    error, reason = (ValueError, "not been set up") if build.compiled else (AttributeError, "")
    with pytest.raises(error, match=reason):
        list(empty.legal_moves)


EDITED = (
    *STARTS,
    *("4k3/8/8/8/8/8/4r3/4K3 b - - 0 1", "4k3/4R3/8/8/8/8/4r3/4K3 w - - 0 1"),  # a king can be taken
    *("QQQQQQQQ/QQQQQQQK/8/8/8/8/qqqqqqqk/qqqqqqqq w - - 0 1", "8/8/8/3kK3/8/8/8/8 w - - 0 1"),
    *("8/8/8/8/8/8/8/8 w - - 0 1", "kk6/8/8/8/8/8/8/KK6 b - - 3 9", "8/8/8/8/4Pp2/8/8/4K3 b - e3 0 1"),
    *("4k3/8/8/8/4Pp2/8/8/4K3 w - e3 0 1", "8/8/8/8/1k2Pp1R/8/8/4K3 b - e3 0 1"),
)


def edit(chance: Random, theirs: chess.Board) -> Callable[[Any, Any], object]:
    """A change of a board, for the board and its library."""
    square, symbol = chance.randrange(64), chance.choice("PpNqRrKk")
    number, rights = chance.choice((1, 99, 149)), theirs.castling_rights & chance.getrandbits(64)

    def place(board: Any, library: Any) -> None:
        board.set_piece_at(square, library.Piece.from_symbol(symbol))
        board.ep_square = None

    def remove(board: Any, _: Any) -> None:
        board.remove_piece_at(square)
        board.ep_square = None

    changes: list[Callable[[Any, Any], object]] = [
        *(place, remove),
        *[lambda board, _: setattr(board, "turn", not board.turn)] * 4,
        lambda board, _: setattr(board, "halfmove_clock", number),
        lambda board, _: setattr(board, "fullmove_number", number),
        lambda board, _: setattr(board, "castling_rights", rights),
        lambda board, _: setattr(board, "ep_square", None),
        lambda board, _: board.clear_stack(),
        lambda board, library: board.is_check() or board.push(library.Move.null()),
    ]
    return chance.choice(changes)


def alike(ours: moff.Board, theirs: chess.Board) -> None:
    """Compare what does not depend on positions of the past."""
    theirs.castling_rights = ours.castling_rights if ours.fault else theirs.clean_castling_rights()
    for name in STATE:
        assert getattr(ours, name) == getattr(theirs, name), (name, theirs.fen())
    assert plain(ours.move_stack) == plain(theirs.move_stack)
    assert str(ours) == str(theirs)
    assert ours.is_check() == theirs.is_check()
    if ours.fault:
        assert ours.fault in failure(lambda: list(ours.legal_moves))
        return
    assert ours.fen() == theirs.fen()
    assert {str(move): ours.san(move) for move in ours.legal_moves} == {
        str(move): theirs.san(move) for move in theirs.legal_moves
    }


@given(st.one_of(st.sampled_from(EDITED), st.integers(0, 959)), st.randoms(use_true_random=False))
@per_hundred(GAMES * 4, GAMES * 4)
def test_boards_agree_through_edits(start: int | str, chance: Random) -> None:
    ours, theirs = pair(start)
    left = []
    for _ in range(chance.choice((5, 40))):
        moves = [] if ours.fault else list(theirs.legal_moves)
        many = chance.choice((True, False, 1, 2, 5, 1000))
        what = chance.random()
        if what < 0.5 and moves:
            move = chance.choice(moves)
            ours.push_uci(move.uci())
            theirs.push(move)
        elif what < 0.65 and theirs.move_stack:
            assert str(ours.peek()) == str(theirs.peek()) == str(ours.pop()) == str(theirs.pop())
        elif what < 0.8:
            change = edit(chance, theirs)
            if not (ours.fault and change.__code__.co_varnames[1] == "library"):
                change(ours, moff)
                change(theirs, chess)
        elif what < 0.9:
            left.append((ours, theirs.copy()))
            ours, theirs = ours.copy(stack=many), theirs.copy(stack=many)
        else:
            left.append((ours, theirs.copy()))
            ours = chance.choice((copy.copy, copy.deepcopy, lambda b: pickle.loads(pickle.dumps(b))))(ours)
        alike(ours, theirs)
    for board, other in [*left, (ours, theirs)]:
        alike(board, other)
        while other.move_stack:
            assert str(board.pop()) == str(other.pop())
            alike(board, other)


def test_a_captured_king_leaves_a_board_without_moves() -> None:
    board = moff.Board("4k3/8/8/8/8/8/4r3/4K3 b - - 0 1")
    assert board.san(moff.Move.from_uci("e2e1")) == "Rxe1"
    assert not board.gives_check(moff.Move.from_uci("e2e1"))
    board.push_uci("e2e1")
    assert board.fault == "White has 0 kings instead of 1"
    assert not board.is_check()
    board.pop()
    assert (board.fault, board.fen()) == ("", "4k3/8/8/8/8/8/4r3/4K3 b - - 0 1")


def test_100000_edits_and_moves_can_be_taken_back() -> None:
    board = moff.Board()
    moves = [moff.Move.from_uci(text) for text in ("g1f3", "f3g1")] * scaled(50000, 500)
    for move in moves:
        board.push(move)
        board.turn = moff.WHITE
    assert board.copy(stack=len(moves) - 1).move_stack == moves[1:]
    assert board.move_stack == moves
    assert board.root() == moff.Board()


def test_copies_in_threads_do_not_meet() -> None:
    board = moff.Board(STARTS[1])
    faults: list[str] = []

    def play(seed: int) -> None:
        chance = Random(seed)
        for _ in range(scaled(40, 4)):
            twin, other = board.copy(), chess.Board(STARTS[1])
            for _ in range(20):
                sans = {str(move): twin.san(move) for move in twin.copy().legal_moves}
                if sans != {str(move): other.san(move) for move in other.legal_moves}:
                    faults.append(other.fen())
                if not sans:
                    break
                move = chance.choice(sorted(sans))
                twin.push_uci(move)
                other.push_uci(move)

    threads = [threading.Thread(target=play, args=(seed,)) for seed in range(4)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(interval)
    assert not faults
    assert board.fen() == STARTS[1]


class Logged(moff.Board):
    """A board of a user that remembers what is pushed."""

    def __init__(self, fen: str | None = moff.STARTING_FEN, *, chess960: bool = False) -> None:
        super().__init__(fen, chess960=chess960)
        self.log: list[str] = []

    def push(self, move: moff.Move) -> None:
        self.log.append(str(move))
        super().push(move)


def test_a_subclass_is_copied_as_by_its_constructor() -> None:
    board = Logged()
    board.push_san("e4")
    board.push_uci("e7e5")
    assert board.log == ["e2e4", "e7e5"]
    for twin in (board.copy(), board.copy(stack=1), board.root(), board.mirror(), copy.deepcopy(board)):
        assert isinstance(twin, Logged)
        assert twin.log == []
    assert pickle.loads(pickle.dumps(board)) == board


@given(st.sets(st.integers(0, 63)), st.sets(st.integers(0, 63)))
def test_sets_of_squares_agree(squares: set[int], others: set[int]) -> None:
    ours, theirs = moff.SquareSet(squares), chess.SquareSet(squares)
    assert (int(ours), str(ours), repr(ours), ours.tolist()) == (
        *(int(theirs), str(theirs), repr(theirs), theirs.tolist()),
    )
    assert [*reversed(ours)] == [*reversed(theirs)]
    for name in ("popcount", "lsb", "msb"):
        assert getattr(moff, name)(int(ours)) == getattr(chess, name)(int(theirs))
    bits = int(chess.SquareSet(others))
    for name in (
        *("__and__", "__or__", "__xor__", "__sub__", "__iand__", "__ior__", "__ixor__", "__isub__", "__eq__"),
        *("union", "intersection", "difference", "symmetric_difference", "isdisjoint", "issubset"),
        "issuperset",
    ):
        for other in (others, bits, moff.SquareSet(others)):
            found = getattr(moff.SquareSet(squares), name)(other)
            expected = getattr(chess.SquareSet(squares), name)(bits)
            assert int(found) == int(expected), name
    for shift in (1, 8, 70):
        assert (int(ours << shift), int(ours >> shift)) == (int(theirs << shift), int(theirs >> shift))
    assert int(~ours) == int(~theirs)
    assert int(ours.mirror()) == int(theirs.mirror())


@pytest.mark.parametrize("value", ['a "b" \\c', "two\nlines\r\n\t;", "", None, 5, -2.5])
def test_operations_of_epd_are_read_as_they_are_written(value: Any) -> None:
    text = moff.Board().epd(c0=value, bm=[])
    assert text.startswith(chess.Board().epd(c0=value))
    assert moff.Board().set_epd(text) == {"c0": value, "bm": []}


def test_a_set_refuses_what_is_no_square() -> None:
    squares = moff.SquareSet(1 << 200 | 1)
    assert squares == {0}
    for call in (squares.add, squares.discard, squares.from_square, lambda square: moff.SquareSet([square])):
        for square in (64, 10**11):
            with pytest.raises(IndexError):
                call(square)
    assert not squares << 10**11
    assert squares != [10**11]


def test_types_have_the_names_of_annotations() -> None:
    assert (moff.Square, moff.Color, moff.PieceType, moff.Bitboard) == (int, bool, int, int)


def test_a_name_that_is_none_is_no_attribute() -> None:
    for name in ("a.b", "", "é", "a\0", "x" * 10**5):
        assert not hasattr(moff, name)


def test_a_null_move_can_give_check() -> None:
    board = moff.Board("4k3/4R3/8/8/8/8/8/4K3 w - - 0 1")
    assert board.gives_check(moff.Move.null())
    assert not board.is_capture(moff.Move.null())
    assert not moff.Board("7k/8/8/8/8/8/8/b6K w - - 0 1").is_zeroing(moff.Move.null())
