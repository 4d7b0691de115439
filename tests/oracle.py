"""python-chess as an oracle, its terms in Moff's, random games and positions."""

import contextlib
import faulthandler
import io
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import chess
import chess.pgn
import pytest
from hypothesis import strategies as st

from tests import ROOT
from x88 import build, movegen
from x88.board import Board
from x88.notation import coordinate, fen
from x88.piece import BISHOP, BLACK, EMPTY, KIND, KING, KNIGHT, PAWN, QUEEN, ROOK, WHITE, side_of

only_c = pytest.mark.skipif(build.compiled, reason="compiled, only C calls it")
"""For tests of what the library does not offer, on the uncompiled source."""

Number = TypeVar("Number", int, float)

SHARED = ROOT.parent / "shared" / "data"
"""Real and malformed files beside the checkout, which a clone of the project does without."""


def shared_files(pattern: str, folder: Path = SHARED) -> list[Any]:
    """The shared files of a pattern as parameters of a test; without any, one that skips it and says so."""
    found = sorted(folder.glob(pattern))
    missing = pytest.mark.skip(reason=f"../shared/data/{pattern} is missing")
    return [pytest.param(path, id=path.stem) for path in found] or [
        pytest.param(folder / pattern, id="none", marks=missing)
    ]


STARTS = (
    fen.START,
    # "Kiwipete": castling both ways, pins, en passant, promotions soon after.
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1",
    "r3k2r/p6p/8/4n3/4N3/8/P6P/R3K2R w Qk - 3 20",
    # Pawns on the seventh rank.
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
    # En passant at once, free or pinned, on the rank, the file and the diagonal of the king.
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "rnbqkbnr/ppp2ppp/8/3pP3/4p3/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 4",
    "8/8/8/K1pP3r/8/8/6k1/8 w - c6 0 2",
    "3k4/8/8/8/2Pp4/8/8/K2R4 b - c3 0 1",
    "8/8/8/4k3/2Pp4/8/1B6/K7 b - c3 0 1",
    "8/8/8/3k4/2Pp4/8/B7/4K3 b - c3 0 1",
    "8/6bb/8/8/R1pP2k1/4P3/P7/K7 b - d3 0 1",
    "4k3/pppppppp/8/PPPPPPPP/8/8/8/4K3 b - - 0 1",
    # Checks, pins, open lines.
    "r1bqk2r/pp2bppp/2n1pn2/3p4/1bPP4/2N1PN2/PPQ2PPP/R1B1KB1R w KQkq - 0 8",
    "3rk3/8/b6b/3Q4/r2PKB1r/3N4/8/1b1r4 w - - 0 1",
    "4q3/8/2b5/8/4R3/4KP1q/8/1b2B1k1 w - - 4 40",
    "r1bq1rk1/pp3ppp/2nbpn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2Q1RK1 b - - 2 8",
    # Few pieces: mates, stalemates, bare kings.
    "8/8/8/8/8/2k5/1q6/K7 w - - 0 1",
    "7k/5Q2/8/6K1/8/8/p7/8 w - - 90 120",
    "8/1k6/8/8/3p4/8/4P1K1/8 w - - 0 1",
)
"""Positions that between them show every rule within a few plies."""

KINDS = {
    chess.PAWN: PAWN,
    chess.KNIGHT: KNIGHT,
    chess.BISHOP: BISHOP,
    chess.ROOK: ROOK,
    chess.QUEEN: QUEEN,
    chess.KING: KING,
}
"""Moff's kind of piece by python-chess's."""


def scaled(compiled: Number, uncompiled: Number) -> Number:
    """A number of examples, or of seconds, for the build that runs."""
    return compiled if build.compiled else uncompiled


@contextlib.contextmanager
def watched(patience: float = 120.0) -> Iterator[None]:
    """Raise AssertionError if a thread ends with an exception. After `patience` seconds, print the stacks of
    all threads and end the process.
    """
    errors: list[threading.ExceptHookArgs] = []
    before = threading.excepthook
    threading.excepthook = errors.append
    faulthandler.dump_traceback_later(patience, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        threading.excepthook = before
    if errors:
        raise AssertionError("a thread has failed") from errors[0].exc_value


def random_boards(count: int, seed: int, least: int = 0, most: int = 80) -> list[chess.Board]:
    """Positions of random games, after a random number of plies between two limits."""
    chance = Random(seed)
    found = []
    while len(found) < count:
        board = chess.Board()
        for _ in range(chance.randint(least, most)):
            if board.is_game_over():
                break
            board.push(chance.choice(list(board.legal_moves)))
        found.append(board)
    return found


def side_of_colour(colour: chess.Color) -> int:
    """Moff's side for python-chess's colour."""
    return WHITE if colour == chess.WHITE else BLACK


def to_0x88(square: chess.Square) -> int:
    """The 0x88 square of python-chess's."""
    return square + (square & 0x38)


def from_0x88(square: int) -> chess.Square:
    """The python-chess square of a 0x88 one."""
    return (square + (square & 0x07)) >> 1


def piece_of(code: int) -> chess.Piece | None:
    """The python-chess piece of a piece code."""
    if code == EMPTY:
        return None
    kind = next(theirs for theirs, ours in KINDS.items() if ours == code & KIND)
    return chess.Piece(kind, side_of(code) == WHITE)


def reference(board: Board) -> chess.Board:
    """The position in python-chess, without its history; in Chess960 if it has rights of that."""
    return chess.Board(fen.write(board), chess960=board.is_chess960())


def reference_perft(position: chess.Board, depth: int) -> int:
    """python-chess's leaves, the last ply counted."""
    if depth == 0:
        return 1
    if depth == 1:
        return position.legal_moves.count()
    total = 0
    for move in position.legal_moves:
        position.push(move)
        total += reference_perft(position, depth - 1)
        position.pop()
    return total


def generated(board: Board, captures: bool = False) -> list[tuple[int, int]]:
    """The moves with their scores, as the generator (or that of the captures) writes them; compiled, where
    only C sees that, best first.
    """
    if build.compiled:
        return movegen.scored_moves(board, captures)
    stack = movegen.MoveStack()
    end = (movegen.generate_captures if captures else movegen.generate)(board, stack, 0)
    return list(zip(stack.moves[:end], stack.scores[:end], strict=True))


def packed(board: Board) -> dict[str, int]:
    """Moff's legal moves by their texts. No text may stand for two of them."""
    moves = generated(board)
    by_text = {coordinate.write(move): move for move, _ in moves}
    assert len(by_text) == len(moves), f"a move twice in {fen.write(board)}"
    return by_text


def texts(board: Board) -> set[str]:
    """The texts of Moff's legal moves."""
    return set(packed(board))


def reference_texts(position: chess.Board) -> set[str]:
    """The texts of python-chess's legal moves."""
    return {move.uci() for move in position.legal_moves}


def read_games(text: str) -> list[chess.pgn.Game]:
    """The games that python-chess reads in a text of PGN. It must find nothing illegal."""
    stream = io.StringIO(text)
    found = [game for game in iter(lambda: chess.pgn.read_game(stream), None) if game is not None]
    assert all(game.errors == [] for game in found)
    return found


def verdict(position: chess.Board) -> tuple[str, str] | None:
    """The result of a game that is over by rule and the reason, None while it goes on.

    Threefold repetition and the fifty-move rule end it by themselves, but only once they are there, not when
    the next move would bring them about, as a claim may say.
    """
    if position.is_checkmate():
        return "0-1" if position.turn else "1-0", "checkmate"
    draws = {
        "stalemate": position.is_stalemate(),
        "insufficient material": position.is_insufficient_material(),
        "fifty-move rule": position.is_fifty_moves(),
        "threefold repetition": position.is_repetition(3),
    }
    return next((("1/2-1/2", reason) for reason, so in draws.items() if so), None)


@dataclass(frozen=True)
class Game:
    """A random game: where it starts, and one byte for every ply that chooses a move.

    The byte counts round the legal moves in python-chess's order; from 128 up only round the captures,
    promotions and castling moves, where there are any, so that they are not as rare as in aimless play.
    """

    fen: str
    choices: bytes

    def moves(self) -> Iterator[tuple[chess.Board, chess.Move]]:
        """Every position of the game with the move played there, which is pushed afterwards."""
        position = chess.Board(self.fen)
        for choice in self.choices:
            moves = list(position.legal_moves)
            if not moves:
                return
            if choice >= 128:
                sharp = [move for move in moves if _is_sharp(position, move)]
                moves = sharp or moves
            move = moves[choice % len(moves)]
            yield position, move
            position.push(move)

    def positions(self) -> Iterator[tuple[Board, chess.Board]]:
        """Every position of the game, the first and the last included, on both boards, played move by move.

        The caller may change the boards if it changes them back before it goes on.
        """
        board = fen.parse(self.fen)
        position = chess.Board(self.fen)
        for position, move in self.moves():
            yield board, position
            board.make(packed(board)[move.uci()])
        yield board, position


def _is_sharp(position: chess.Board, move: chess.Move) -> bool:
    return position.is_capture(move) or move.promotion is not None or position.is_castling(move)


@st.composite
def games(draw: st.DrawFn, longest: int = 60, starts: tuple[str, ...] = STARTS) -> Game:
    """Random games of up to `longest` plies."""
    plies = draw(st.integers(0, longest))
    return Game(draw(st.sampled_from(starts)), draw(st.binary(min_size=plies, max_size=plies)))


def games_or_placements(longest: int = 60, most: int = 28) -> st.SearchStrategy[Game]:
    """Random games, and five times as many positions of pieces thrown on the board, as games of no moves."""
    thrown_alone = [placements(most).map(lambda text: Game(text, b"")) for _ in range(5)]
    return st.one_of(games(longest), *thrown_alone)


@st.composite
def placements(draw: st.DrawFn, most: int = 28) -> str:
    """FENs of legal positions, random pieces on random squares: pins and checks that games seldom show."""
    random = draw(st.randoms(use_true_random=True))
    while True:
        position = thrown(random, most)
        if position is not None:
            return position.fen(en_passant="fen")


def thrown(random: Random, most: int) -> chess.Board | None:
    """Up to `most` pieces thrown on the board beside the kings, or None if no game allows where they fell.

    A third have kings and rooks at home with castling rights. In about a third a pawn has just made a double
    step beside an enemy pawn (unless the king that is now to move was attacked before that step). In half of
    them a piece, often one of those pawns, is put between a king and an enemy slider.
    """
    position = chess.Board(None)
    position.turn = random.random() < 0.5
    if random.random() < 1 / 3:
        position.set_board_fen("r3k2r/8/8/8/8/8/8/R3K2R")
        corners = (chess.BB_CORNERS, chess.BB_A1 | chess.BB_H8, chess.BB_H1 | chess.BB_A8)
        position.castling_rights = random.choice(corners)
    else:
        for colour, square in zip(chess.COLORS, random.sample(chess.SQUARES, 2), strict=True):
            position.set_piece_at(square, chess.Piece(chess.KING, colour))
    kept: list[chess.Square] = []
    if random.random() < 1 / 3:
        kept = _double_step(random, position)
    for square in random.sample(chess.SQUARES, random.randint(0, most)):
        piece = chess.Piece.from_symbol(random.choice("PPNBRQppnbrq"))
        outside = piece.piece_type == chess.PAWN and chess.square_rank(square) in (0, 7)
        full = chess.popcount(position.occupied_co[piece.color]) == 16
        if not (outside or full or square in kept or position.piece_at(square)):
            position.set_piece_at(square, piece)
    if random.random() < 0.5:
        any(_pin(random, position, kept) for _ in range(10))
    if random.random() < 0.7:
        # Without this, most would be in check.
        for square in position.checkers():
            if square not in kept and position.piece_type_at(square) != chess.KING:
                position.remove_piece_at(square)
    if position.was_into_check() or (kept and _was_in_check_before(position, kept)):
        return None
    position.castling_rights = position.clean_castling_rights()
    position.halfmove_clock = 0 if kept else random.randint(0, 120)
    position.fullmove_number = random.randint(1, 300)
    return position


def _double_step(random: Random, position: chess.Board) -> list[chess.Square]:
    """Put up a pawn that has just made a double step, with an enemy pawn beside it.

    Returns the squares that are to stay as they are: the pawn's, the one passed over, the one it left. Empty
    if there is no room.
    """
    file = random.randrange(8)
    beside = file + random.choice((-1, 1))
    rank, step = (4, 1) if position.turn else (3, -1)
    squares = [chess.square(file, rank + step * n) for n in range(3)]
    if not 0 <= beside <= 7 or any(position.piece_at(sq) for sq in [*squares, chess.square(beside, rank)]):
        return []
    position.set_piece_at(squares[0], chess.Piece(chess.PAWN, not position.turn))
    position.set_piece_at(chess.square(beside, rank), chess.Piece(chess.PAWN, position.turn))
    position.ep_square = squares[1]
    return squares


def _pin(random: Random, position: chess.Board, kept: list[chess.Square]) -> bool:
    """Put the king of the side to move and an enemy slider on a line with a piece, on either side of it.

    Returns whether there was room.
    """
    middle = random.choice(list(position.piece_map()) + kept[:1] * 20)
    across, up = random.choice([(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y])
    king, pinner = (_free_squares(position, middle, x, y) for x, y in ((across, up), (-across, -up)))
    full = chess.popcount(position.occupied_co[not position.turn]) == 16
    if full or middle == position.king(position.turn) or not king or not pinner or {*king, *pinner} & {*kept}:
        return False
    slider = random.choice((chess.QUEEN, chess.BISHOP if across and up else chess.ROOK))
    position.remove_piece_at(position.king(position.turn) or 0)
    position.set_piece_at(random.choice(king), chess.Piece(chess.KING, position.turn))
    position.set_piece_at(random.choice(pinner), chess.Piece(slider, not position.turn))
    return True


def _free_squares(position: chess.Board, origin: chess.Square, across: int, up: int) -> list[chess.Square]:
    """The empty squares from `origin` in a direction up to the next piece."""
    found = []
    file, rank = chess.square_file(origin) + across, chess.square_rank(origin) + up
    while 0 <= file <= 7 and 0 <= rank <= 7 and not position.piece_at(chess.square(file, rank)):
        found.append(chess.square(file, rank))
        file, rank = file + across, rank + up
    return found


def _was_in_check_before(position: chess.Board, step: list[chess.Square]) -> bool:
    """Whether the side to move was in check before the other side's double step: no game leads there."""
    before = position.copy(stack=False)
    before.set_piece_at(step[2], before.remove_piece_at(step[0]))
    return before.is_check()
