"""A game that is being played ends when python-chess says so, can be taken back to its start, and is recorded
as it was played.
"""

import io
from collections import Counter
from itertools import combinations_with_replacement, product
from random import Random

import chess
import chess.pgn
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.oracle import STARTS, Game, games, packed, scaled, side_of_colour, verdict
from x88.notation import coordinate, fen, pgn
from x88.notation.game import OngoingGame
from x88.notation.outcome import can_mate
from x88.piece import BLACK, WHITE

UNFINISHED = ("*", "")
ROOK = "7k/8/8/8/8/8/8/KR6 w - - {} 80"
SHUFFLE = ("g1f3", "g8f6", "f3g1", "f6g8")


def standing(game: OngoingGame) -> tuple[str, str]:
    assert game.is_over() == (game.result != "*")
    return game.result, game.reason


def played(start: str, *moves: str) -> OngoingGame:
    game = OngoingGame(start)
    for move in moves:
        game.play(coordinate.parse(game.board, move))
    return game


def check_standing(game: OngoingGame, position: chess.Board) -> None:
    assert standing(game) == (verdict(position) or UNFINISHED), position.fen()


# --- Ends by rule


@settings(max_examples=scaled(150, 40))
@given(games(longest=60))
def test_a_game_ends_when_and_as_python_chess_says(random_game: Game) -> None:
    game = OngoingGame(random_game.fen)
    for position, move in random_game.moves():
        check_standing(game, position)
        if game.is_over():
            return
        game.play(packed(game.board)[move.uci()])
    position = chess.Board(random_game.fen)
    for packed_move in game.moves:
        position.push_uci(coordinate.write(packed_move))
    check_standing(game, position)


@pytest.mark.parametrize("seed", range(scaled(60, 20)))
def test_aimless_games_with_few_pieces_end_as_python_chess_says(seed: int) -> None:
    random = Random(seed)
    start = random.choice(["8/8/4k3/8/8/3K4/8/R7 w - - 60 90", "8/8/4k3/3p4/8/3K4/8/8 w - - 0 1"])
    game, position = OngoingGame(start), chess.Board(start)
    while not game.is_over():
        check_standing(game, position)
        # A king that goes back where it came from repeats the position sooner.
        moves = list(position.legal_moves)
        home = [move for move in moves if move.to_square == _came_from(position, move.from_square)]
        move = random.choice(home if home and seed % 2 else moves)
        game.play(packed(game.board)[move.uci()])
        position.push(move)
    check_standing(game, position)
    assert verdict(position) is not None


def _came_from(position: chess.Board, square: chess.Square) -> chess.Square | None:
    if len(position.move_stack) > 1 and position.move_stack[-2].to_square == square:
        return position.move_stack[-2].from_square
    return None


@pytest.mark.parametrize(
    ("start", "moves", "end"),
    [
        (fen.START, ("f2f3", "e7e5", "g2g4", "d8h4"), ("0-1", "checkmate")),
        ("6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1", ("a1a8",), ("1-0", "checkmate")),
        ("k7/8/1K6/8/8/8/8/6Q1 w - - 0 1", ("g1g3",), ("1/2-1/2", "stalemate")),
        ("7k/8/8/8/8/8/1p6/K7 w - - 0 1", ("a1b2",), ("1/2-1/2", "insufficient material")),
        ("7k/8/8/8/8/5b2/1p6/K7 w - - 0 1", ("a1b2",), ("1/2-1/2", "insufficient material")),
        (fen.START, SHUFFLE * 2, ("1/2-1/2", "threefold repetition")),
        (ROOK.format(99), ("b1b2",), ("1/2-1/2", "fifty-move rule")),
        (ROOK.format(98), ("b1b2", "h8g8"), ("1/2-1/2", "fifty-move rule")),
        # Mate comes before the fifty-move rule.
        ("7k/R7/8/8/8/8/8/KR6 w - - 99 80", ("b1b8",), ("1-0", "checkmate")),
        ("k7/8/1K6/8/8/8/8/6Q1 w - - 99 80", ("g1g3",), ("1/2-1/2", "stalemate")),
    ],
)
def test_an_end_is_there_with_the_last_move_and_not_before(
    start: str, moves: tuple[str, ...], end: tuple[str, str]
) -> None:
    assert standing(played(start, *moves[:-1])) == UNFINISHED
    game = played(start, *moves)
    assert standing(game) == end
    position = chess.Board(start)
    for move in moves:
        position.push_uci(move)
    check_standing(game, position)
    game.take_back()
    assert standing(game) == UNFINISHED
    game.play(coordinate.parse(game.board, moves[-1]))
    assert standing(game) == end


@pytest.mark.parametrize(
    "start",
    [
        "R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1",
        "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
        "7k/8/8/8/8/8/8/K7 w - - 0 1",
        "7k/8/8/8/8/8/8/KR6 w - - 100 80",
        "7k/8/8/8/8/8/8/KR6 b - - 120 80",
    ],
)
def test_a_game_may_be_over_from_its_start(start: str) -> None:
    check_standing(OngoingGame(start), chess.Board(start))


# --- Taking back


def states(game: OngoingGame) -> tuple[str, int, str, str]:
    return fen.write(game.board), game.board.key, game.result, game.reason


@settings(max_examples=scaled(80, 20))
@given(games(longest=60), st.lists(st.integers(0, 70), max_size=4), st.booleans())
@example(Game(STARTS[0], bytes(10)), [0, 1, 100], True)
def test_moves_taken_back_leave_what_was_before_them(
    random_game: Game, numbers: list[int], resigned: bool
) -> None:
    game = OngoingGame(random_game.fen)
    before = [states(game)]
    for _, move in random_game.moves():
        if game.is_over():
            break
        game.play(packed(game.board)[move.uci()])
        before.append(states(game))
    all_moves = list(game.moves)
    for number in numbers:
        if resigned:
            game.end("0-1", "White resigns")
        wanted = min(number, len(game.moves))
        assert game.take_back(number) == wanted
        assert game.moves == all_moves[: len(game.moves)]
        assert states(game) == before[len(game.moves)]
    # What was taken back can be played again.
    for move in all_moves[len(game.moves) :]:
        game.play(move)
    assert states(game) == before[-1] or (resigned and not numbers)


def long_game(plies: int, seed: int) -> list[chess.Move]:
    """The moves of a game from `LONG` that no rule ends: shuffling, and a pawn's move in time."""
    random = Random(seed)
    position = chess.Board(LONG)
    seen: Counter[str] = Counter()
    for _ in range(plies):
        seen[position.epd()] += 1
        quiet, pushes = [], []
        for move in position.legal_moves:
            if not position.is_capture(move) and not move.promotion:
                pawn = position.piece_type_at(move.from_square) == chess.PAWN
                (pushes if pawn else quiet).append(move)
        random.shuffle(quiet)
        slow = [push for push in pushes if abs(push.to_square - push.from_square) == 8]
        if position.halfmove_clock >= 90 and slow:
            quiet.insert(0, random.choice(slow))
        captures = [move for move in position.legal_moves if move not in quiet and move not in pushes]
        for move in [*quiet, *captures]:
            position.push(move)
            if position.is_check() or seen[position.epd()] > 1 or verdict(position):
                position.pop()
            else:
                break
        else:
            raise AssertionError(f"no move goes on in {position.fen()}")
    return position.move_stack


LONG = "nk6/4pppp/4pppp/8/8/PPPP4/PPPP4/6KN w - - 0 1"
"""No pawn meets another: White's have 32 steps to the seventh rank, Black's as many."""


def test_a_game_longer_than_the_undo_stack_can_be_taken_back_to_its_start() -> None:
    game, position = OngoingGame(LONG), chess.Board(LONG)
    moves = long_game(4400, seed=1)
    for move in moves:
        game.play(packed(game.board)[move.uci()])
        assert not game.is_over()
        position.push(move)
    assert fen.write(game.board) == position.fen(en_passant="legal")
    for number in (1, 7, 500, 3000, 10_000):
        wanted = min(number, len(position.move_stack))
        assert game.take_back(number) == wanted
        for _ in range(wanted):
            position.pop()
        assert len(game.moves) == len(position.move_stack)
        assert fen.write(game.board) == position.fen(en_passant="legal")
        assert game.board.key == fen.parse(position.fen()).key
        assert standing(game) == UNFINISHED
    assert game.moves == []


# --- Resignation, agreement, time


@pytest.mark.parametrize(
    ("start", "side", "end"),
    [
        (fen.START, WHITE, ("0-1", "White runs out of time")),
        (fen.START, BLACK, ("1-0", "Black runs out of time")),
        ("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1", WHITE, ("1/2-1/2", "White runs out of time, Black cannot mate")),
        ("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1", BLACK, ("1-0", "Black runs out of time")),
        ("4k3/4p3/8/8/8/8/8/4K3 b - - 0 1", BLACK, ("1/2-1/2", "Black runs out of time, White cannot mate")),
    ],
)
def test_a_side_out_of_time_loses_if_the_other_can_mate(start: str, side: int, end: tuple[str, str]) -> None:
    game = OngoingGame(start)
    game.run_out_of_time(side)
    assert standing(game) == end
    assert not game.is_over_by_rule()
    game.take_back(0)
    assert standing(game) == UNFINISHED


def test_a_side_resigns_and_both_agree_on_a_draw() -> None:
    game = OngoingGame()
    game.resign(BLACK)
    assert standing(game) == ("1-0", "Black resigns")
    game.resign(WHITE)
    assert standing(game) == ("0-1", "White resigns")
    game.agree_draw()
    assert standing(game) == ("1/2-1/2", "draw agreed")
    assert not game.is_over_by_rule()
    assert played("6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1", "a1a8").is_over_by_rule()


def test_an_army_can_mate_where_python_chess_says_so() -> None:
    random = Random(4)
    middle = list(chess.SquareSet(chess.BB_RANK_3 | chess.BB_RANK_4 | chess.BB_RANK_5 | chess.BB_RANK_6))
    armies = ["".join(army) for n in range(3) for army in combinations_with_replacement("PNBRQ", n)]
    counted: Counter[bool] = Counter()
    for white, black in product(armies, armies):
        for _ in range(2 if "B" in white + black else 1):
            position = chess.Board("k7/8/8/8/8/8/8/7K w - - 0 1")
            squares = random.sample(middle, len(white + black))
            for letter, sq in zip(white + black.lower(), squares, strict=True):
                position.set_piece_at(sq, chess.Piece.from_symbol(letter))
            position.turn = position.is_check()
            if position.was_into_check():
                continue
            board = fen.parse(position.fen())
            for colour in chess.COLORS:
                expected = not position.has_insufficient_material(colour)
                assert can_mate(board, side_of_colour(colour)) == expected, position.fen()
                counted[expected] += 1
    assert min(counted.values()) > 80


# --- The record


@settings(max_examples=scaled(80, 20))
@given(games(longest=60), st.sampled_from(["", "1-0", "0-1"]))
def test_python_chess_reads_the_record_as_it_was_played(random_game: Game, resigned: str) -> None:
    game = OngoingGame(random_game.fen)
    for _, move in random_game.moves():
        if not game.is_over():
            game.play(packed(game.board)[move.uci()])
    if resigned and not game.is_over():
        game.end(resigned, "resignation")
    text = pgn.write(game.record({"White": "Operator", "Black": "Moff", "Termination": "by rule"}))
    stream = io.StringIO(text)
    theirs = chess.pgn.read_game(stream)
    assert theirs is not None
    assert theirs.errors == []
    assert [move.uci() for move in theirs.mainline_moves()] == [coordinate.write(move) for move in game.moves]
    assert theirs.headers["Result"] == game.result
    assert theirs.headers["Black"] == "Moff"
    assert theirs.board().epd(en_passant="legal") == chess.Board(game.start).epd(en_passant="legal")
    assert fen.write(game.board) == theirs.end().board().fen(en_passant="legal")
    assert chess.pgn.read_game(stream) is None
