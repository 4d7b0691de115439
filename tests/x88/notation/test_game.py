"""A game being played ends when python-chess says so, and can be taken back to its start."""

from random import Random

import chess
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.oracle import STARTS, Game, games, packed, scaled, verdict
from x88.notation import coordinate, fen
from x88.notation.game import OngoingGame
from x88.piece import BLACK, WHITE

UNFINISHED = ("*", "")
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


@pytest.mark.parametrize("seed", range(20))
def test_games_with_few_pieces_end_when_and_as_python_chess_says(seed: int) -> None:
    random = Random(seed)
    start = random.choice(["8/8/4k3/8/8/3K4/8/R7 w - - 60 90", "8/8/4k3/3p4/8/3K4/8/8 w - - 0 1"])
    game, position = OngoingGame(start), chess.Board(start)
    while not game.is_over():
        check_standing(game, position)
        # A piece that goes back where it came from repeats the position sooner.
        moves, last = list(position.legal_moves), [None, None, *position.move_stack][-2]
        back = last and chess.Move(last.to_square, last.from_square)
        move = back if seed % 2 and back in moves else random.choice(moves)
        game.play(packed(game.board)[move.uci()])
        position.push(move)
    check_standing(game, position)
    assert verdict(position) is not None


@pytest.mark.parametrize("text", ["R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1", "7k/8/8/8/8/8/8/KR6 b - - 120 80"])
def test_a_game_may_be_over_from_its_start(text: str) -> None:
    check_standing(OngoingGame(text), chess.Board(text))


@pytest.mark.parametrize(
    ("start", "moves", "end"),
    [
        (fen.START, ("f2f3", "e7e5", "g2g4", "d8h4"), ("0-1", "checkmate")),
        ("k7/8/1K6/8/8/8/8/6Q1 w - - 0 1", ("g1g3",), ("1/2-1/2", "stalemate")),
        ("7k/8/8/8/8/5b2/1p6/K7 w - - 0 1", ("a1b2",), ("1/2-1/2", "insufficient material")),
        (fen.START, SHUFFLE * 2, ("1/2-1/2", "threefold repetition")),
        ("7k/8/8/8/8/8/8/KR6 w - - 98 80", ("b1b2", "h8g8"), ("1/2-1/2", "fifty-move rule")),
        # Mate comes before the fifty-move rule.
        ("7k/R7/8/8/8/8/8/KR6 w - - 99 80", ("b1b8",), ("1-0", "checkmate")),
    ],
)
def test_a_game_ends_with_its_last_move_and_not_before(
    start: str, moves: tuple[str, ...], end: tuple[str, str]
) -> None:
    game = played(start, *moves)
    assert standing(game) == end
    game.take_back()
    assert standing(game) == UNFINISHED
    game.play(coordinate.parse(game.board, moves[-1]))
    assert standing(game) == end


# --- Taking back


def states(game: OngoingGame) -> tuple[str, int, str, str]:
    return fen.write(game.board), game.board.key, game.result, game.reason


@settings(max_examples=scaled(80, 20))
@given(games(longest=60), st.lists(st.integers(0, 70), max_size=4), st.booleans())
@example(Game(STARTS[0], bytes(10)), [0, 1, 100], True)
def test_taking_back_restores_the_game_and_the_moves_can_be_played_again(
    random_game: Game, numbers: list[int], resigned: bool
) -> None:
    game = OngoingGame(random_game.fen)
    before = [states(game)]
    for position, move in random_game.moves():
        check_standing(game, position)
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
    for move in all_moves[len(game.moves) :]:
        game.play(move)
    assert states(game) == before[-1] or (resigned and not numbers)


@pytest.mark.slow
def test_a_long_game_can_be_taken_back_to_its_start() -> None:
    game, position = OngoingGame(), chess.Board()
    for text in ("e2e4", "e7e5", *SHUFFLE * 1100):
        game.play(coordinate.parse(game.board, text))
        position.push_uci(text)
    for number in (1, 7, 500, 3000, 10_000):
        wanted = min(number, len(position.move_stack))
        assert game.take_back(number) == wanted
        for _ in range(wanted):
            position.pop()
        assert len(game.moves) == len(position.move_stack)
        assert fen.write(game.board) == position.fen(en_passant="legal")
        assert game.board.key == fen.parse(position.fen()).key
        check_standing(game, position)
    assert game.moves == []


# --- Resignation, agreement, time


def test_a_side_resigns_or_agrees_or_runs_out_of_time_and_loses_if_the_other_can_mate() -> None:
    for start, side, end in (
        (fen.START, WHITE, ("0-1", "White runs out of time")),
        ("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1", WHITE, ("1/2-1/2", "White runs out of time, Black cannot mate")),
        ("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1", BLACK, ("1-0", "Black runs out of time")),
        ("4k3/4p3/8/8/8/8/8/4K3 b - - 0 1", BLACK, ("1/2-1/2", "Black runs out of time, White cannot mate")),
    ):
        game = OngoingGame(start)
        game.run_out_of_time(side)
        assert standing(game) == end
        assert not game.is_over_by_rule()
        game.take_back(0)
        assert standing(game) == UNFINISHED
    game.resign(BLACK)
    assert standing(game) == ("1-0", "Black resigns")
    game.resign(WHITE)
    assert standing(game) == ("0-1", "White resigns")
    game.agree_draw()
    assert standing(game) == ("1/2-1/2", "draw agreed")
    assert not game.is_over_by_rule()
    assert played("6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1", "a1a8").is_over_by_rule()
