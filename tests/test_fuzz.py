"""Damaged FEN, moves, PGN and UCI lines are read or refused with a ValueError."""

import io

from hypothesis import given

from moff.messages import LARGEST_NUMBER
from moff.uci.conversation import Engine
from moff.uci.go import parse_limits
from search.benchmark import POSITIONS
from search.limits import Limits
from tests.strategies import BRIEF, ENDLESS, GAMES, LINES, MOVES, damaged, per_hundred
from x88.notation import coordinate, fen, pgn, san

BOARDS = [fen.parse(text) for text in POSITIONS[:8]]


@per_hundred(100, 50)
@given(damaged(POSITIONS))
def test_a_fen_is_read_and_written_or_refused_and_text_after_it_reported(text: str) -> None:
    told: list[str] = []
    try:
        board = fen.parse(text)
    except ValueError:
        try:
            board = fen.parse(text, told)
        except ValueError:
            return
        assert told
    assert fen.write(fen.parse(fen.write(board))) == fen.write(board)


@per_hundred(100, 50)
@given(damaged(MOVES))
def test_a_move_is_written_as_it_was_read_or_refused(text: str) -> None:
    for board in BOARDS:
        try:
            move = coordinate.parse(board, text)
        except ValueError:
            continue
        assert coordinate.write(move) == text


@per_hundred(100, 50)
@given(damaged(MOVES))
def test_a_move_in_san_is_read_again_as_written_or_refused_and_the_board_stays(text: str) -> None:
    for board in BOARDS:
        before = fen.write(board)
        try:
            move = san.parse(board, text)
        except ValueError:
            continue
        finally:
            assert fen.write(board) == before
        assert san.parse(board, san.write(board, move)) == move


@per_hundred(100, 50)
@given(damaged(GAMES))
def test_games_are_read_to_the_end_of_the_file(text: str) -> None:
    for game in pgn.Reader(io.BytesIO(text.encode("utf-8", "surrogatepass"))):
        game.as_dict()


@per_hundred(100, 50)
@given(damaged(BRIEF + ENDLESS))
def test_a_go_line_brings_limits_in_range(text: str) -> None:
    limits, _ = parse_limits(text.split(), fen.parse(fen.START), Limits())
    for value in (limits.depth, limits.nodes, limits.mate, limits.movetime):
        assert value is None or 1 <= value <= LARGEST_NUMBER


SAID: list[str] = []
ENGINE = Engine(SAID.append)


@per_hundred(100, 50)
@given(damaged(LINES))
def test_a_line_without_a_search_brings_only_info_strings(text: str) -> None:
    if text.split()[:1] in (["setoption"], ["position"], ["debug"], ["register"]):
        SAID.clear()
        ENGINE.execute(text)
        assert all(line.startswith("info string ") and "\n" not in line for line in SAID), SAID
