"""Chess960 against python-chess: castling of every kind, its texts, and what follows the moves of a game."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import chess
import chess.polyglot
import pytest

from search.keys import Keys
from search.transposition import short_move
from tests.networks import evaluation_of
from tests.oracle import from_0x88, only_c, reference_texts, scaled
from tests.x88.test_keys import state
from x88 import attack, build
from x88.attack import in_check, last_move_checks
from x88.board import Board
from x88.book import book
from x88.move import CASTLING, EN_PASSANT, PROMOTED, book_move
from x88.movegen import legal_moves
from x88.notation import chess960, coordinate, fen, san
from x88.perft.divide import perft
from x88.perft.perft import Counter
from x88.rays import Rays

pytestmark = pytest.mark.slow

TOTALS = {
    int(number): [int(count) for count in counts]
    for line in Path(__file__).with_name("chess960.txt").read_text(encoding="ascii").splitlines()
    if not line.startswith("#")
    for number, *counts in [line.split()]
}


def crowded_rank(chance: Random) -> str:
    """A FEN with castling rights: king and rooks among pieces of both sides, perhaps a slider before them."""
    while True:
        position = chess.Board(None, chess960=True)
        letters = [*chance.sample("KRRNrq" + 8 * ".", 8), chance.choice("..rb"), "k"]
        king = chance.choice([*range(8), *range(56, 64)])
        for square, letter in zip([*range(8), chance.randrange(8, 48), king], letters, strict=True):
            if letter != ".":
                position.set_piece_at(square, chess.Piece.from_symbol(letter))
        position.castling_rights = position.rooks & position.occupied_co[chess.WHITE]
        if position.castling_rights and position.is_valid():
            return chance.choice((position, position.mirror())).fen()


def random_game(chance: Random, plies: int) -> Iterator[tuple[Board, chess.Board]]:
    """The positions of a random game from a start position, which the sides may not share, on both boards.

    Castling and the moves that prepare it are preferred.
    """
    text = chess960.start(chance.randrange(960), chance.choice((None, chance.randrange(960))))
    board, position = fen.parse(text, chess960=True), chess.Board(text, chess960=True)
    for _ in range(plies):
        yield board, position
        moves = list(position.legal_moves)
        if not moves:
            return
        castles = [move for move in moves if position.is_castling(move)]
        stay = position.castling_rights | position.kings
        leaving = [move for move in moves if not chess.BB_SQUARES[move.from_square] & stay]
        pool = castles if castles and chance.random() < 0.4 else leaving or moves
        move = chance.choice(pool)
        board.make(coordinate.parse(board, position.uci(move)))
        position.push(move)
    yield board, position


def texts(board: Board) -> set[str]:
    return {coordinate.write(move, chess960=True) for move in legal_moves(board)}


# The rules.


@pytest.mark.parametrize("seed", range(10))
def test_castling_among_pieces_follows_python_chess(seed: int) -> None:
    chance, castles = Random(seed), 0
    for _ in range(scaled(600, 200)):
        board = fen.parse(crowded_rank(chance), chess960=True)
        position = chess.Board(fen.write(board), chess960=True)
        assert legal_moves(board.copy()) == legal_moves(board)
        assert texts(board) == reference_texts(position)
        assert Counter(board).leaves_under([], 1) == position.legal_moves.count()
        before = fen.write(board), board.key
        for move in legal_moves(board):
            if not move & CASTLING:
                continue
            castles += 1
            theirs = chess.Move.from_uci(coordinate.write(move, chess960=True))
            if not build.compiled:
                assert attack.gives_check(board, move) == position.gives_check(theirs)
            origin, target = (from_0x88(sq) for sq in coordinate.squares(move, chess960=True))
            assert book_move(move) == target | origin << 6
            position.push(theirs)
            board.make(move)
            board.check_invariants()
            assert fen.write(board) == position.fen(en_passant="legal")
            assert board.key == chess.polyglot.zobrist_hash(position)
            assert last_move_checks(board) == in_check(board) == position.is_check()
            board.unmake()
            position.pop()
            board.check_invariants()
            assert (fen.write(board), board.key) == before
            assert texts(board) == reference_texts(position)
    assert castles > 20


@pytest.mark.parametrize("seed", range(scaled(30, 12)))
def test_random_games_follow_python_chess(seed: int) -> None:
    before: list[tuple[str, int]] = []
    for board, position in random_game(Random(seed), 80):
        assert texts(board) == reference_texts(position)
        assert board.key == chess.polyglot.zobrist_hash(position)
        assert fen.write(board) == position.fen(en_passant="legal")
        mirror = fen.write(fen.mirrored(board))
        assert mirror == chess.Board(fen.write(board), chess960=True).mirror().fen(en_passant="legal")
        assert fen.write(board, shredder=True).split()[2] == position.shredder_fen().split()[2]
        for move in legal_moves(board):
            theirs = chess.Move.from_uci(coordinate.write(move, chess960=True))
            if not build.compiled and not move & (PROMOTED | EN_PASSANT):
                assert attack.gives_check(board, move) == position.gives_check(theirs)
            text = san.write(board, move)
            assert text == position.san(theirs)
            for form in (coordinate.write(move), coordinate.write(move, chess960=True)):
                assert coordinate.parse(board, form) == move
            assert san.parse(board, text) == book.decode(board, book_move(move)) == move
        shorts = {short_move(move) for move in legal_moves(board)}
        assert len(shorts) == len(legal_moves(board)), "a move of the transposition table is one move"
        before.append((fen.write(board), board.key))
        last = board
    while before:
        last.check_invariants()
        assert (fen.write(last), last.key) == before.pop()
        if before:
            last.unmake()


@only_c
@pytest.mark.parametrize("seed", range(scaled(15, 6)))
def test_data_kept_along_the_moves_equal_those_from_scratch(seed: int) -> None:
    """Evaluation, keys and linked rays, after each move of a position."""
    chance = Random(1000 + seed)
    *_, (start, _) = random_game(chance, chance.randrange(8, 20))
    for text in (fen.write(start), *(crowded_rank(chance) for _ in range(6))):
        board = fen.parse(text, chess960=True)
        kept, fresh = evaluation_of(board), evaluation_of(board)
        kept_keys, fresh_keys, rays = Keys(), Keys(), Rays()
        kept_keys.reset(board)
        rays.reset(board)
        for move in legal_moves(board):
            side = board.side
            kept.accumulators.make(board, move)
            kept_keys.make(move, side)
            board.make(move)
            rays.make(board, move)
            fresh.reset(board)
            fresh_keys.reset(board)
            assert kept.value(board) == fresh.value(board)
            assert state(kept_keys) == state(fresh_keys)
            assert rays.is_walked(board)
            board.unmake()
            rays.unmake(board)
            kept.accumulators.unmake()
            kept_keys.unmake()
        fresh.reset(board)
        assert kept.value(board) == fresh.value(board)


# Perft.


@pytest.mark.parametrize("part", range(8))
def test_perft_of_all_start_positions_is_that_of_other_programs(part: int) -> None:
    assert sorted(TOTALS) == list(range(960))
    chance = Random(part)
    for number in range(part, 960, 8):
        board = fen.parse(chess960.start(number), chess960=True)
        depth = scaled(4 if chance.random() < 0.3 else 3, 3 if chance.random() < 0.02 else 2)
        assert perft(board, depth) == TOTALS[number][depth - 1], number


# Start positions and FEN.


def test_start_positions_have_scharnagl_s_numbers() -> None:
    for number in range(960):
        assert chess960.start(number) == chess.Board.from_chess960_pos(number).fen()
    assert chess960.start(chess960.STANDARD) == fen.START
    placement = chess960.start(0, 959).split()[0].split("/")
    assert (placement[7], placement[0]) == (chess960.back_rank(0), chess960.back_rank(959).lower())
    for numbers in ((-1,), (960,), (0, 960)):
        with pytest.raises(ValueError, match=f"{numbers[-1]} is not the number of a start position"):
            chess960.start(*numbers)


@pytest.mark.parametrize(
    ("text", "written", "shredder"),
    [
        ("1r3kr1/8/8/8/8/8/8/1R3KR1 w KQkq - 0 1", "KQkq", "GBgb"),
        ("1r3kr1/8/8/8/8/8/8/1R3KR1 w GBgb - 0 1", "KQkq", "GBgb"),
        ("1r3kr1/8/8/8/8/8/8/1R3KR1 w BGbg - 0 1", "KQkq", "GBgb"),
        ("1r3kr1/8/8/8/8/8/8/1R3KR1 w Kb - 0 1", "Kq", "Gb"),
        # An inner rook needs its file in X-FEN too.
        ("4k3/8/8/8/8/8/8/RR3KRR w GB - 0 1", "GB", "GB"),
        ("4k3/8/8/8/8/8/8/RR3KRR w KQ - 0 1", "KQ", "HA"),
        ("4k3/8/8/8/8/8/8/RR3KRR w GQ - 0 1", "GQ", "GA"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1", "KQkq", "HAha"),
        # A rook of the other side, or on the other side of the king, is none that castles.
        ("4k3/8/8/8/8/8/8/1R3Krr w BQ - 0 1", "error", ""),
        ("4k3/8/8/8/8/8/8/1R3Krr w KQ - 0 1", "Q", "B"),
    ],
)
def test_castling_rights_are_read_and_written_in_both_ways(text: str, written: str, shredder: str) -> None:
    if written == "error":
        with pytest.raises(ValueError, match="names two rooks on one side of White's king"):
            fen.parse(text, chess960=True)
        return
    board = fen.parse(text, chess960=True)
    assert fen.write(board).split()[2] == written
    assert fen.write(board, shredder=True).split()[2] == shredder
    assert fen.write(fen.parse(fen.write(board), chess960=True)) == fen.write(board)
    assert fen.write(fen.parse(fen.write(board, shredder=True))) == fen.write(board)
    if not set(text.split()[2]) <= set("KQkq"):
        assert fen.write(fen.parse(text)) == fen.write(board), "a file means Chess960"
    position = chess.Board(text, chess960=True)
    assert position.fen() == fen.write(board)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("4k3/8/8/8/8/8/8/1R3K2 w KQ - 0 1", "K is dropped: White has no rook to the right of its king"),
        ("1r2k3/8/8/8/8/8/8/1R3K2 w Qk - 0 1", "k is dropped: Black has no rook to the right of its king"),
        ("4k3/8/8/8/8/8/8/1R3K2 w G - 0 1", "G is dropped: White has no rook on g1"),
        ("4k3/8/8/8/8/8/5K2/1R6 w B - 0 1", "B is dropped: White's king is not on rank 1"),
        ("1r6/4k3/8/8/8/8/8/4K3 w q - 0 1", "q is dropped: Black's king is not on rank 8"),
    ],
)
def test_a_dropped_right_has_a_reason(text: str, reason: str) -> None:
    remarks: list[str] = []
    fen.parse(text, remarks, chess960=True)
    assert any(reason in remark for remark in remarks), remarks


# Moves as text.


def test_castling_of_standard_chess_is_read_in_both_forms() -> None:
    board = fen.parse("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    for wing, both in (("O-O", ("e1g1", "e1h1")), ("O-O-O", ("e1c1", "e1a1"))):
        move = san.parse(board, wing)
        assert [coordinate.parse(board, text) for text in both] == [move, move]
        assert (coordinate.write(move), coordinate.write(move, chess960=True)) == both


def test_a_text_that_can_be_a_king_move_or_castling_is_the_king_move() -> None:
    board = fen.parse("4k3/8/8/8/8/8/8/5K1R w H - 0 1")
    assert not san.parse(board, "Kg1") & CASTLING
    assert not coordinate.parse(board, "f1g1") & CASTLING
    assert coordinate.parse(board, "f1h1") == san.parse(board, "O-O")
    assert san.parse(board, "O-O") & CASTLING
