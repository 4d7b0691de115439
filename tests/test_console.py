"""`moff play` as a real process on a pseudo-terminal, with python-chess as the arbiter beside it."""

import io
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import chess
import chess.pgn
import pytest

from moff import __version__, commands, evaluation
from moff.console import Console, user_name
from moff.log import Log
from search.limits import Limits
from search.search import Result
from search.strength import STRONGEST, WEAKEST
from tests import picture
from tests.client import ENGINE, PATIENCE
from tests.oracle import reference_texts, scaled, verdict
from tests.terminal import Player, environment, stripped
from x88 import coordinate, diagram, fen, square
from x88.board import Board
from x88.diagram import Style
from x88.move import NO_MOVE
from x88.piece import WHITE

DEPTH = ("--depth", str(scaled(2, 1)))
SHALLOW = ("--depth", "1")
LETTERS = Style(ascii=True)

ANSWER = re.compile(
    r"(\d+)\.(\.\.)? (\S+)(?:  \((?:[+-]\d+\.\d\d|mate in \d+|mated in \d+), depth \d+, \d+\.\d s\))?"
)
"""A move of the engine's: its number, dots if it is Black's, the SAN. One without time has no score."""
ENTRY = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} (Moves|Player|Moff|Result): (.*)")
"""A line of the log."""
NOTHING = "There is no move of yours to take back."
MATE_IN_1 = "6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1"
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
CAGE = "7k/4KR2/8/8/8/8/8/8 w - - 0 1"


@pytest.fixture
def player(tmp_path: Path) -> Iterator[Player]:
    """White against a shallow engine, in a folder of its own."""
    with Player(tmp_path, *SHALLOW) as operator:
        yield operator


def answers(lines: list[str], position: chess.Board) -> list[chess.Move]:
    """The engine's moves among the lines, which are pushed."""
    found = []
    for line in lines:
        told = ANSWER.fullmatch(line)
        if told:
            number, dots, text = told.groups()
            assert int(number) == position.fullmove_number
            assert bool(dots) == (position.turn == chess.BLACK)
            move = position.parse_san(text)
            assert position.san(move) == text
            position.push(move)
            found.append(move)
    return found


def last_board(lines: list[str]) -> list[str]:
    return picture.boards(lines)[-1]


def read_games(path: Path) -> list[chess.pgn.Game]:
    stream = io.StringIO(path.read_text(encoding="utf-8"))
    found = list(iter(lambda: chess.pgn.read_game(stream), None))
    assert all(game.errors == [] for game in found)
    return found


def saved(path: Path) -> tuple[list[str], str]:
    """The moves and the result of the only game of a file."""
    (game,) = read_games(path)
    return [move.uci() for move in game.mainline_moves()], game.headers["Result"]


def same(text: str) -> str:
    """A FEN as Moff writes it."""
    return fen.write(fen.parse(text))


# --- Whole games


@pytest.mark.parametrize(("seed", "colour"), [(seed, seed % 2 == 1) for seed in range(8)])
def test_a_whole_game_is_played_by_the_rules_and_saved(
    tmp_path: Path, seed: int, colour: chess.Color
) -> None:
    random = Random(seed)
    position = chess.Board()
    with Player(tmp_path, *DEPTH, "--name", "Ada", colour=colour) as player:
        while True:
            answers(player.output, position)
            assert picture.placement(last_board(player.output)) == position.board_fen()
            if verdict(position):
                break
            assert position.turn == colour
            number = f"{position.fullmove_number}." + ("" if colour else "..")
            assert player.prompt == f"{number} "
            assert player.position() == position.fen(en_passant="legal")
            move = random.choice(list(position.legal_moves))
            text = move.uci() if len(position.move_stack) % 4 < 2 else position.san(move)
            position.push(move)
            player.say(text)
        result, reason = verdict(position) or ("", "")
        assert player.prompt == "> "
        assert f"{result} ({reason})" in player.output
        player.leave()
    moves = [move.uci() for move in position.move_stack]
    assert saved(tmp_path / "moff.pgn") == (moves, result)
    (game,) = read_games(tmp_path / "moff.pgn")
    operator = game.headers["White" if colour else "Black"]
    machine = game.headers["Black" if colour else "White"]
    assert (operator, machine) == ("Ada", f"Moff {__version__}")
    assert game.headers["Termination"] == reason
    assert re.fullmatch(r"\d{4}\.\d\d\.\d\d", game.headers["Date"])


@pytest.mark.parametrize(
    ("start", "moves", "end"),
    [
        (MATE_IN_1, ["Ra8#"], ("1-0", "checkmate")),
        # The engine mates, after a move or at once.
        ("r7/8/8/8/8/6k1/8/7K w - - 0 1", ["h1g1"], ("0-1", "checkmate")),
        ("r7/8/8/8/8/6k1/8/6K1 b - - 0 1", [], ("0-1", "checkmate")),
        ("k7/8/1K6/8/8/8/8/6Q1 w - - 0 1", ["Qg3"], ("1/2-1/2", "stalemate")),
        ("7k/8/8/8/8/8/1p6/K7 w - - 0 1", ["a1b2"], ("1/2-1/2", "insufficient material")),
        ("7k/8/8/8/8/8/8/KR6 w - - 99 80", ["Rb2"], ("1/2-1/2", "fifty-move rule")),
        # The black king has but two squares.
        (CAGE, ["Ke6", "e6e7", "Ke6", "Ke7"], ("1/2-1/2", "threefold repetition")),
    ],
)
def test_an_end_by_rule_is_announced_and_saved(
    player: Player, tmp_path: Path, start: str, moves: list[str], end: tuple[str, str]
) -> None:
    position = chess.Board(start)
    answers(player.say(f"fen {start}"), position)
    for text in moves:
        assert player.prompt != "> "
        position.push(position.parse_san(text))
        answers(player.say(text), position)
    assert verdict(position) == end
    assert player.prompt == "> "
    result, reason = end
    assert player.output[-2:] == [f"{result} ({reason})", "Saved in moff.pgn."]
    assert player.say("e2e4") == [f"The game is over ({reason}): undo, new or quit; help lists all commands."]
    assert player.say("hint") == player.say("resign") == ["The game is over."]
    assert player.position() == position.fen(en_passant="legal")
    player.leave()
    (game,) = read_games(tmp_path / "moff.pgn")
    assert game.headers["FEN"] == same(start)
    assert game.headers["Termination"] == reason
    assert saved(tmp_path / "moff.pgn") == ([move.uci() for move in position.move_stack], result)


def test_a_position_that_is_over_is_announced_at_once_and_not_saved(player: Player, tmp_path: Path) -> None:
    assert player.say("fen R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1")[-1] == "1-0 (checkmate)"
    assert player.prompt == "> "
    assert player.say("undo") == [NOTHING]
    player.leave()
    assert not (tmp_path / "moff.pgn").exists()


# --- Moves accepted and refused


def test_refused_moves_are_answered_with_the_reason_and_change_nothing(player: Player) -> None:
    start = "r1bqk1nr/pppp1ppp/2n5/8/1b1PP3/2N5/PPP2PPP/R1BQKBNR w KQkq - 2 5"
    no_move = "it should read like e4, Nf3, exd5, e8=Q or O-O"
    refused = {
        "a3a4": "there is no piece on a3",
        "e8e7": "there is no king of White on e8",
        "d7d5": "there is no pawn of White on d7",
        "e4e6": "no pawn of White on e4 can move to e6",
        "Rb1c1": "there is no rook of White on b1",
        "c3d5": "it would leave the king of White in check",
        "Nb5": "it would leave the king of White in check",
        "O-O": "White cannot castle there in this position",
        "e5=Q": "it is not a promotion",
        "xyzzy": no_move,
        "0000": no_move,
        "--": no_move,
        "d2": "no pawn of White can move to d2",
        "move d4d5": no_move,
        "d4d5 d7d6": no_move,
        "é4": no_move,
    }
    player.say(f"fen {start}")
    for text, reason in refused.items():
        (line,) = player.say(text)
        assert line.startswith(f"'{text}' is no")
        assert line.endswith(f": {reason}." + " Type help for the commands." * (text in ("xyzzy", "--")))
        assert player.prompt == "5. "
        assert player.position() == start
    # They do not spoil the next one.
    position = chess.Board(start)
    position.push_san("Nge2")
    assert len(answers(player.say("Ne2"), position)) == 1


def test_an_ambiguous_move_is_refused_with_the_candidates(player: Player) -> None:
    start = "4k3/8/8/8/8/2N5/8/4K1N1 w - - 0 1"
    player.say(f"fen {start}")
    (line,) = player.say("Ne2")
    assert line in ("'Ne2' is ambiguous: Nce2 or Nge2.", "'Ne2' is ambiguous: Nge2 or Nce2.")
    assert player.position() == start
    assert player.say("") == []


def test_a_promotion_must_name_the_new_piece(player: Player) -> None:
    start = "8/P6k/8/8/8/8/8/K7 w - - 0 1"
    player.say(f"fen {start}")
    for text in ("a8", "a7a8"):
        (line,) = player.say(text)
        assert "it must name the new piece" in line
        assert player.position() == start


@pytest.mark.parametrize("start", [fen.START, KIWIPETE])
def test_two_squares_are_accepted_exactly_where_python_chess_knows_a_legal_move(
    player: Player, start: str
) -> None:
    random = Random(1)
    position = chess.Board(start)
    player.say(f"fen {start}")
    legal = reference_texts(position)
    origins = list(chess.SquareSet(position.occupied_co[chess.WHITE]))
    tried = {chess.Move(random.choice(origins), random.choice(chess.SQUARES)).uci() for _ in range(40)}
    for move in sorted(tried - legal - {"0000"}):
        (line,) = player.say(move)
        assert "is no" in line
    assert player.position() == start
    for move in random.sample(sorted(legal), 8):
        followed = chess.Board(start)
        followed.push_uci(move)
        assert len(answers(player.say(move), followed)) == 1
        assert player.position() == followed.fen(en_passant="legal")
        player.say("undo")
        assert player.position() == start


def test_moves_are_understood_as_people_type_them(player: Player) -> None:
    castling = "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1"
    promotion = "8/P6k/8/8/8/8/8/K7 w - - 0 1"
    typed = {
        (fen.START, "g1f3"): ("Nf3", "  Nf3  ", "g1f3", "G1F3", "g1-f3", "Ng1f3"),
        (castling, "e1g1"): ("O-O", "0-0", "o-o", "e1g1", "Kg1"),
        (castling, "e1c1"): ("O-O-O", "0-0-0", "e1c1"),
        (promotion, "a7a8n"): ("a8=N", "a8N", "a7a8n", "a7a8N"),
        ("7k/8/8/3pP3/8/8/8/K7 w - d6 0 2", "e5d6"): ("exd6", "exd6 e.p.", "e5d6", "ed6"),
    }
    for (start, move), texts in typed.items():
        player.say(f"fen {start}")
        for text in texts:
            position = chess.Board(start)
            position.push_uci(move)
            answers(player.say(text), position)
            assert player.position() == position.fen(en_passant="legal"), text
            player.say("undo")


# --- Commands


def test_undo_takes_back_the_operator_s_move_with_the_answer(player: Player) -> None:
    assert player.say("undo") == [NOTHING]
    positions = [player.position()]
    for text in ("e4", "d4", "Nf3"):
        player.say(text)
        positions.append(player.position())
    for before in reversed(positions[:-1]):
        lines = player.say("undo")
        assert picture.placement(last_board(lines)) == before.split()[0]
        assert player.position() == before
    assert player.say("undo") == [NOTHING]
    assert player.position() == fen.START


def test_the_engine_s_first_move_is_not_the_operator_s_to_take_back(tmp_path: Path) -> None:
    with Player(tmp_path, *SHALLOW, colour=chess.BLACK) as player:
        before = player.position()
        assert player.say("undo") == [NOTHING]
        assert player.position() == before
        player.say("Nf6")
        player.say("undo")
        assert player.position() == before


@pytest.mark.parametrize(("start", "move"), [(MATE_IN_1, "Ra8#"), ("r7/8/8/8/8/6k1/8/7K w - - 0 1", "Kg1")])
def test_a_game_that_was_over_goes_on_after_undo(
    player: Player, tmp_path: Path, start: str, move: str
) -> None:
    player.say(f"fen {start}")
    player.say(move)
    assert player.prompt == "> "
    player.say("undo")
    assert player.prompt == "1. "
    assert player.position() == start
    player.leave()
    # The file does not keep the end that was taken back.
    assert saved(tmp_path / "moff.pgn") == ([], "*")


def test_a_resignation_is_announced_saved_and_taken_back(player: Player, tmp_path: Path) -> None:
    player.say("e4")
    before = player.position()
    assert player.say("resign") == ["0-1 (White resigns)", "Saved in moff.pgn."]
    assert player.prompt == "> "
    moves, result = saved(tmp_path / "moff.pgn")
    assert (len(moves), result) == (2, "0-1")
    assert player.say("resign") == ["The game is over."]
    player.say("undo")
    assert player.prompt == "2. "
    assert player.position() == before
    player.leave()
    assert saved(tmp_path / "moff.pgn") == (moves, "*")


def test_black_resigns_too(tmp_path: Path) -> None:
    with Player(tmp_path, *SHALLOW, colour=chess.BLACK) as player:
        assert player.say("resign")[0] == "1-0 (Black resigns)"


@pytest.mark.parametrize("start", [fen.START, KIWIPETE, MATE_IN_1])
def test_a_hint_is_a_legal_move_and_not_played(player: Player, start: str) -> None:
    position = chess.Board(start)
    player.say(f"fen {start}")
    (line,) = player.say("hint")
    told = re.fullmatch(r"(\S+) \((\w+)\)", line)
    assert told
    assert told[2] in reference_texts(position)
    assert told[1] == position.san(chess.Move.from_uci(told[2]))
    assert player.position() == start
    if start == MATE_IN_1:
        assert told[1] == "Ra8#"


def test_moves_lists_what_the_test_board_lists(player: Player) -> None:
    player.say(f"fen {KIWIPETE}")
    lines = player.say("moves")
    listing = diagram.list_moves(fen.parse(KIWIPETE), LETTERS)
    assert lines == [*listing, "", *diagram.SCORE_LEGEND]
    white, _ = picture.listings(listing)
    assert {row.coordinates for row in white.rows} == reference_texts(chess.Board(KIWIPETE))


def test_eval_shows_the_worths_the_score_and_the_attack_map(player: Player) -> None:
    start = KIWIPETE.replace("1p2P3", "4P3")
    player.say(f"fen {start}")
    lines = player.say("eval")
    board = fen.parse(start)
    table = evaluation.table(board, LETTERS)
    assert lines[: len(table)] == table
    assert "\n".join(table).isascii()
    assert lines[-12:] == [*diagram.draw_attacks(board, LETTERS), *diagram.ATTACK_LEGEND]


def test_eval_speaks_for_white_when_black_is_to_move(tmp_path: Path) -> None:
    with Player(tmp_path, *SHALLOW, colour=chess.BLACK) as player:
        player.say("fen 4k3/8/8/8/8/8/8/Q3K3 b - - 0 1")
        (line,) = [line for line in player.say("eval") if line.startswith("score")]
        assert float(line.split()[1]) > 5


def test_flip_turns_the_board_round_and_back(player: Player) -> None:
    assert picture.corner(last_board(player.output)) == "a8"
    for corner in ("h1", "a8"):
        board = last_board(player.say("flip"))
        assert picture.corner(board) == corner
        assert picture.placement(board) == chess.STARTING_BOARD_FEN
        assert picture.corner(last_board(player.say("eval"))) == corner
    player.say("flip")
    # It stays so, and the operator still plays White.
    assert picture.corner(last_board(player.say("e2e4"))) == "h1"
    assert player.prompt == "2. "


def test_help_names_every_command(player: Player) -> None:
    told = "\n".join(player.say("help"))
    commands = "undo redo go hint switch level board flip moves eval new fen save draw resign quit help"
    for command in commands.split():
        assert re.search(rf"^ *{command} ", told, re.MULTILINE), command
    assert player.say("HELP") == player.say("?") == told.split("\n")
    assert "Ctrl-C" in told
    assert re.search(r"\bexit, q\b", told)
    assert max(len(line) for line in told.split("\n")) <= 100, "readable on a wide terminal too"


def test_new_saves_the_game_and_starts_another(player: Player, tmp_path: Path) -> None:
    player.say("e4")
    lines = player.say("new")
    assert lines[0] == "Saved in moff.pgn."
    assert picture.placement(last_board(lines)) == chess.STARTING_BOARD_FEN
    assert player.prompt == "1. "
    assert player.position() == fen.START
    assert player.say("undo") == [NOTHING]
    player.leave()
    moves, result = saved(tmp_path / "moff.pgn")
    assert (moves[0], len(moves), result) == ("e2e4", 2, "*")


def test_a_fen_with_the_engine_to_move_is_answered_at_once(player: Player, tmp_path: Path) -> None:
    start = KIWIPETE.replace(" w ", " b ")
    position = chess.Board(start)
    lines = player.say(f"fen {start}")
    assert picture.placement(picture.boards(lines)[0]) == position.board_fen()
    (move,) = answers(lines, position)
    assert picture.placement(last_board(lines)) == position.board_fen()
    assert player.position() == position.fen(en_passant="legal")
    assert player.say("undo") == [NOTHING]
    player.leave()
    assert saved(tmp_path / "moff.pgn") == ([move.uci()], "*")


@pytest.mark.parametrize(
    "text",
    ["nonsense", "8/8/8/8/8/8/8/8 w - - 0 1", "4k3/8/8/8/8/8/8/4K2R x K - 0 1", "k7/1K6/8/8/8/8/8/8 w - -"],
)
def test_a_bad_fen_is_refused_and_the_game_goes_on(player: Player, text: str) -> None:
    player.say("e4")
    before = player.position()
    (line,) = player.say(f"fen {text}")
    assert line.startswith(f"bad FEN '{text}': ")
    assert player.position() == before
    player.say("undo")
    assert player.position() == fen.START


def test_the_board_comes_after_both_moves_with_the_last_one_marked(player: Player) -> None:
    position = chess.Board()
    lines = player.say("e4")
    first, second = picture.boards(lines)
    position.push_san("e4")
    assert picture.placement(first) == position.board_fen()
    assert picture.marked(first) == {"e2", "e4"}
    (move,) = answers(lines, position)
    assert picture.placement(second) == position.board_fen()
    wanted = {chess.square_name(move.from_square), chess.square_name(move.to_square)}
    assert picture.marked(second) == wanted
    assert picture.marked(last_board(player.say("flip"))) == wanted
    assert last_board(player.say("board")) == last_board(player.say("board"))
    assert picture.marked(last_board(player.say("new"))) == set()


def test_the_last_move_has_a_colour_of_its_own(tmp_path: Path) -> None:
    with Player(tmp_path, *SHALLOW, letters=False, TERM="xterm-256color") as player:
        player.say("e4")
        board = fen.parse(fen.START)
        board.make(coordinate.parse(board, "e2e4"))
        coloured = Style(coloured=True)
        plain = diagram.draw(board, coloured)
        marked = diagram.draw(board, coloured, (square.parse("e2"), square.parse("e4")))
        assert [old != new for old, new in zip(plain, marked, strict=True)].count(True) == 2
        assert [stripped(line) for line in plain] == [stripped(line) for line in marked]
        assert "\n".join(marked) in player.raw


def test_several_moves_are_taken_back_and_played_again(player: Player) -> None:
    positions = [player.position()]
    for text in ("e4", "d4", "Nf3"):
        player.say(text)
        positions.append(player.position())
    assert player.say("undo 4") == ["You have only 3 moves to take back."]
    player.say("undo 2")
    assert player.position() == positions[1]
    player.say("redo")
    assert player.position() == positions[2]
    player.say("redo 9")
    assert player.position() == positions[3]
    assert player.say("redo") == ["There is nothing to redo."]
    player.say("undo 3")
    assert player.position() == positions[0]
    player.say("a3")
    assert player.say("redo") == ["There is nothing to redo."]
    assert player.say("undo x") == ["undo takes a whole number from 1 to 1000000000000000, not 'x'."]


def test_the_engine_plays_a_move_for_the_person_who_says_go(player: Player) -> None:
    position = chess.Board()
    player._prompt = r"(?<=\n)(2\. )"
    assert len(answers(player.say("go"), position)) == 2
    player._prompt = r"(?<=\n)(> |\d+\. )"
    assert player.position() == position.fen(en_passant="legal")
    assert player.prompt == "2. "


def test_sides_are_switched(tmp_path: Path) -> None:
    with Player(tmp_path, *SHALLOW) as player:
        player._prompt = r"(?<=\n)(> |\d+\.\.\. (?=$))"
        position = chess.Board()
        lines = player.say("switch")
        assert lines[0] == "You play Black now."
        assert len(answers(lines, position)) == 1
        assert picture.corner(last_board(lines)) == "h1"
        assert player.prompt == "1... "
        player.leave()
    (game,) = read_games(tmp_path / "moff.pgn")
    assert game.headers["White"].startswith("Moff ")


def test_the_level_is_shown_and_changed(player: Player, tmp_path: Path) -> None:
    assert player.say("level") == ["The engine plays at depth 1, full strength."]
    assert player.say("level depth 2") == ["The engine plays at depth 2, full strength."]
    assert player.say("level elo 900") == ["The engine plays at depth 2, Elo 900."]
    (line,) = player.say("level 3+0.1")
    assert line == "The engine plays at 3+0.1 s (3.0 s left), Elo 900."
    for bad in ("level x", "level depth", "level depth 0", "level elo 5", "level 0"):
        (told,) = player.say(bad)
        assert "The engine plays" not in told
    assert player.say("level") == [line]
    player.say("e4")
    player.leave()
    (game,) = read_games(tmp_path / "moff.pgn")
    assert (game.headers["TimeControl"], game.headers["BlackElo"]) == ("3+0.1", "900")
    assert "WhiteElo" not in game.headers


def test_a_draw_is_accepted_when_the_engine_stands_no_better(player: Player, tmp_path: Path) -> None:
    assert player.say("draw") == ["Declined: the engine accepts no draw before move 20."]
    player.say("fen 4k3/8/8/8/8/8/8/q3K2R w - - 0 50")
    assert player.say("draw") == ["Declined: the engine thinks it is better."]
    player.say("fen 4k3/8/8/8/8/8/8/Q3K2R w - - 0 50")
    player.say("Kd2")
    before = player.position()
    assert player.say("draw")[0] == "1/2-1/2 (draw agreed)"
    assert player.prompt == "> "
    player.say("undo")
    assert player.position() == before
    assert player.say("draw")[0] == "1/2-1/2 (draw agreed)"
    player.leave()
    *_, game = read_games(tmp_path / "moff.pgn")
    assert (game.headers["Result"], game.headers["Termination"]) == ("1/2-1/2", "draw agreed")


def test_the_person_has_the_name_of_the_user_if_no_other(player: Player, tmp_path: Path) -> None:
    player.say("e4")
    player.leave()
    (game,) = read_games(tmp_path / "moff.pgn")
    assert game.headers["White"] == user_name() != "Operator"
    assert game.headers["TimeControl"] == "-"


def test_on_a_terminal_one_line_shows_what_the_engine_thinks(tmp_path: Path) -> None:
    with Player(tmp_path, "--depth", str(scaled(6, 2)), TERM="xterm-256color", NO_COLOR="1") as player:
        lines = player.say("e4")
        raw = player.raw.replace("\033[?2004l", "")
        thoughts = re.findall(r"depth (\d+)  ([+-]\d+\.\d\d)  ([^\s\033]+)[^\n\033]*\033\[K", raw)
        assert [int(depth) for depth, _, _ in thoughts] == list(range(1, scaled(6, 2) + 1))
        position = chess.Board()
        position.push_san("e4")
        for _, _, first in thoughts:
            assert position.san(position.parse_san(first)) == first
        # It is wiped before the move is told.
        told = next(line for line in raw.split("\n") if "1... " in line)
        assert told.split("\033[K")[-1].startswith("1... ")
        assert len(lines) < 40


# --- Saving


def test_a_game_saved_twice_is_one_game_and_grows(player: Player, tmp_path: Path) -> None:
    player.say("e4")
    assert player.say("save game.pgn") == ["Saved in game.pgn."]
    once = (tmp_path / "game.pgn").read_bytes()
    player.say("save game.pgn")
    assert (tmp_path / "game.pgn").read_bytes() == once
    player.say("d4")
    player.leave()
    moves, _ = saved(tmp_path / "game.pgn")
    assert (len(moves), moves[0], moves[2]) == (4, "e2e4", "d2d4")
    assert not (tmp_path / "moff.pgn").exists()


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_a_file_keeps_the_games_before(player: Player, tmp_path: Path, end: str) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(f'[Event "before"]\n\n1. a4 *{end}', encoding="utf-8")
    for first in ("b4", "c4"):
        player.say(first)
        assert player.say("save games.pgn")[-1] == "Saved in games.pgn."
        player.say("new")
    player.leave()
    found = read_games(path)
    assert [next(iter(game.mainline_moves())).uci() for game in found] == ["a2a4", "b2b4", "c2c4"]
    assert found[0].headers["Event"] == "before"
    assert len(re.findall(r"\*\n\n+\[Event ", path.read_text(encoding="utf-8"))) == 2


def test_another_session_adds_to_the_file(tmp_path: Path) -> None:
    for first in ("b4", "c4"):
        with Player(tmp_path, *SHALLOW) as player:
            player.say(first)
            assert "Saved in moff.pgn." in player.leave()
    found = read_games(tmp_path / "moff.pgn")
    assert [next(iter(game.mainline_moves())).uci() for game in found] == ["b2b4", "c2c4"]


def test_a_game_that_others_wrote_behind_is_not_cut_off(player: Player, tmp_path: Path) -> None:
    player.say("e4")
    player.say("save game.pgn")
    with open(tmp_path / "game.pgn", "a", encoding="utf-8") as file:
        file.write('\n[Event "other"]\n\n1. a4 *\n')
    player.say("save game.pgn")
    assert [game.headers["Event"] for game in read_games(tmp_path / "game.pgn")] == ["?", "other", "?"]


@pytest.mark.parametrize("name", [".", "no/such/folder.pgn", "/dev/full", "x" * 300])
def test_a_file_that_cannot_be_written_is_reported_and_play_goes_on(
    player: Player, tmp_path: Path, name: str
) -> None:
    if name == "/dev/full" and not Path(name).exists():
        pytest.skip("there is no device that is always full")
    player.say("e4")
    (line,) = player.say(f"save {name}")
    assert line.startswith(f"The game could not be saved in {name}: ")
    assert "None" not in line
    player.say("d4")
    assert player.prompt == "3. "
    player.leave()
    assert len(saved(tmp_path / "moff.pgn")[0]) == 4


def test_save_without_a_file_asks_for_one(player: Player, tmp_path: Path) -> None:
    assert player.say("save") == ["save needs the name of a file, as in save game.pgn."]
    assert list(tmp_path.iterdir()) == []


# --- Leaving


def test_control_d_saves_and_leaves(player: Player, tmp_path: Path) -> None:
    player.say("e4")
    player.process.sendeof()
    assert "Saved in moff.pgn." in player.end()
    moves, result = saved(tmp_path / "moff.pgn")
    assert (moves[0], len(moves), result) == ("e2e4", 2, "*")


def test_control_c_at_the_prompt_saves_and_leaves(player: Player, tmp_path: Path) -> None:
    player.say("e4")
    player.process.sendintr()
    assert "Saved in moff.pgn." in player.end(130)
    assert saved(tmp_path / "moff.pgn")[0][0] == "e2e4"


def test_a_game_that_cannot_be_saved_at_the_end_is_shown_instead(player: Player, tmp_path: Path) -> None:
    (tmp_path / "moff.pgn").mkdir()
    player.say("e4")
    lines = player.leave()
    assert "The game could not be saved in moff.pgn: Is a directory." in lines
    game = chess.pgn.read_game(io.StringIO("\n".join(lines[lines.index('[Event "?"]') :])))
    assert game is not None
    assert game.next().move.uci() == "e2e4"


@pytest.mark.parametrize("last", ["quit", "exit", "q", "\x04", "\x03"])
def test_without_a_move_nothing_is_saved(player: Player, tmp_path: Path, last: str) -> None:
    player.process.send(last + "\r" if last.isalpha() else last)
    player.end(130 if last == "\x03" else 0)
    assert list(tmp_path.iterdir()) == []


def piped(folder: Path, typed: bytes, *arguments: str, **changes: str) -> subprocess.CompletedProcess[bytes]:
    """Run `moff play` with its input from a pipe."""
    return subprocess.run(
        [*ENGINE, "play", *arguments],
        input=typed,
        capture_output=True,
        cwd=folder,
        timeout=PATIENCE,
        env=environment(**changes),
    )


@pytest.mark.parametrize("typed", ["e2e4", "e2e4\n", "e2e4\nfen\n", "e2e4\nquit\nd2d4\n"])
def test_the_end_of_piped_input_saves_and_leaves(tmp_path: Path, typed: str) -> None:
    ended = piped(tmp_path, typed.encode(), *SHALLOW)
    assert ended.returncode == 0
    assert ended.stdout.decode().endswith("Saved in moff.pgn.\n")
    assert "\033" not in ended.stdout.decode()
    assert len(saved(tmp_path / "moff.pgn")[0]) == 2


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
@pytest.mark.parametrize("typed", [b"\xe94", "é4".encode(), "♘f3".encode(), b"\xff\xfe\0", b"save a\0b"])
def test_whatever_is_typed_in_whatever_encoding_the_game_is_not_lost(
    tmp_path: Path, encoding: str, typed: bytes
) -> None:
    ended = piped(tmp_path, b"e2e4\n" + typed + b"\nquit\n", *SHALLOW, PYTHONIOENCODING=encoding)
    assert ended.returncode == 0
    assert b"Traceback" not in ended.stderr
    assert saved(tmp_path / "moff.pgn")[0][0] == "e2e4"


def test_control_c_while_the_engine_thinks_makes_it_move(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with Player(tmp_path, "--time", "600", "--log", str(log)) as player:
        started = time.monotonic()
        player.process.sendline("e2e4")
        while (
            "Player: e2e4" not in log.read_text(encoding="utf-8")
            or "Moves: " not in log.read_text(encoding="utf-8").splitlines()[-1]
        ):
            assert time.monotonic() - started < PATIENCE
            time.sleep(0.01)
        time.sleep(0.5)
        assert "Moff: " not in log.read_text(encoding="utf-8")
        player.process.sendintr()
        interrupted = time.monotonic()
        position = chess.Board()
        position.push_uci("e2e4")
        lines = [line.removeprefix("^C") for line in player.read()]
        # Of 600 s it would have taken 13.
        assert time.monotonic() - interrupted < 6
        assert len(answers(lines, position)) == 1
        assert player.position() == position.fen(en_passant="legal")
        player.leave()
    assert saved(tmp_path / "moff.pgn")[0] == [move.uci() for move in position.move_stack]


@pytest.mark.parametrize("event", ["SIGTERM", "SIGHUP", "close"])
@pytest.mark.parametrize("is_thinking", [False, True])
def test_a_game_is_saved_when_it_is_ended_from_outside(tmp_path: Path, event: str, is_thinking: bool) -> None:
    log = tmp_path / "log"
    with Player(tmp_path, *(() if is_thinking else SHALLOW), "--log", str(log), TERM="xterm") as player:
        player.process.sendline("e2e4")
        until(log, "Moves: .*\n.*Player: e2e4\n.*Moves: " if is_thinking else "Moff: .*\n.*Moves: ")
        if event == "close":
            player.process.ptyproc.fileobj.close()
        else:
            os.kill(player.process.pid, getattr(signal, event))
            assert player.end()[-2:] == ["Saved in moff.pgn.", ""]
        deadline = time.monotonic() + PATIENCE
        while player.process.isalive():
            assert time.monotonic() < deadline
            time.sleep(0.01)
    assert saved(tmp_path / "moff.pgn")[0][0] == "e2e4"
    assert len(saved(tmp_path / "moff.pgn")[0]) == (1 if is_thinking else 2)


def until(log: Path, pattern: str) -> None:
    """Wait until the log has lines of a pattern."""
    deadline = time.monotonic() + PATIENCE
    while not re.search(pattern, log.read_text(encoding="utf-8") if log.exists() else ""):
        assert time.monotonic() < deadline
        time.sleep(0.01)


# --- Options


def test_black_is_answered_first_and_sees_the_board_from_his_side(tmp_path: Path) -> None:
    with Player(tmp_path, *SHALLOW, colour=chess.BLACK) as player:
        position = chess.Board()
        assert len(answers(player.output, position)) == 1
        for board in picture.boards(player.output):
            assert picture.corner(board) == "h1"
        assert picture.placement(last_board(player.output)) == position.board_fen()
        assert player.prompt == "1... "
        position.push_san("Nf6")
        assert len(answers(player.say("Nf6"), position)) == 1
        assert player.prompt == "2... "
        player.say("new")
        assert player.prompt == "1... "


def test_a_clock_leaves_the_engine_a_move_when_it_has_run_down(tmp_path: Path) -> None:
    with Player(tmp_path, "--time", "0.01+0.01") as player:
        position = chess.Board()
        for _ in range(5):
            move = next(iter(position.legal_moves))
            position.push(move)
            assert len(answers(player.say(move.uci()), position)) == 1


@pytest.mark.parametrize("text", ["5+0.05", "60", "0.5", "1+0", "180+2"])
def test_a_time_is_read_in_seconds(text: str) -> None:
    base, _, increment = text.partition("+")
    milliseconds = round(float(base) * 1000)
    gain = round(float(increment or 0) * 1000)
    limits = commands._time_control(text)
    assert limits == Limits(time=(milliseconds, milliseconds), increment=(gain, gain))


@pytest.mark.parametrize(
    "arguments",
    [
        *[
            ["--time", text]
            for text in ("", "abc", "0", "-5", "5+", "+1", "5+x", "5+-1", "nan", "inf", "1e9", "5:0")
        ],
        *[["--depth", text] for text in ("0", "-1", "x", "")],
        ["--time", "5", "--depth", "2"],
        ["--elo", "strong"],
        ["--elo", str(WEAKEST - 1)],
        ["--elo", str(STRONGEST + 1)],
        ["--white"],
        ["nonsense"],
        ["--log"],
    ],
)
def test_wrong_usage_of_moff_play_is_told(tmp_path: Path, arguments: list[str]) -> None:
    ended = piped(tmp_path, b"quit\n", *arguments)
    assert ended.returncode == 2
    assert ended.stdout == b""
    assert b"usage" in ended.stderr
    assert b"Traceback" not in ended.stderr


def test_a_weaker_opponent_answers_from_few_nodes(tmp_path: Path) -> None:
    """At its best it would think for minutes."""
    with Player(tmp_path, "--elo", str(WEAKEST), "--time", "20000") as player:
        began = time.perf_counter()
        player.say("e2e4")
        assert time.perf_counter() - began < 10


def test_on_a_terminal_the_board_is_coloured_and_has_pieces(tmp_path: Path) -> None:
    with Player(tmp_path, *SHALLOW, letters=False, TERM="xterm-256color") as player:
        shown = "\n".join(diagram.draw(fen.parse(fen.START), Style(coloured=True)))
        assert shown in player.raw
        plain = [line for line in player.output if "♜" in line]
        assert stripped(shown).splitlines()[1] in plain


# --- The log


def entries(path: Path) -> list[tuple[str, str]]:
    found = [ENTRY.fullmatch(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert all(found)
    return [(match[1], match[2]) for match in found if match]


@pytest.mark.parametrize("colour", chess.COLORS)
def test_the_log_has_the_legal_moves_before_every_move(tmp_path: Path, colour: chess.Color) -> None:
    random = Random(1)
    position = chess.Board()
    log = tmp_path / "moff.log"
    with Player(tmp_path, *SHALLOW, "--log", str(log), colour=colour) as player:
        answers(player.output, position)
        for i in range(20):
            if verdict(position):
                break
            move = random.choice(list(position.legal_moves))
            text = position.san(move) if i % 2 else move.uci()
            position.push(move)
            answers(player.say(text), position)
            player.say("nonsense")
        player.say("resign")
        player.leave()
    followed = chess.Board()
    listed: set[str] = set()
    for kind, text in entries(log):
        if kind == "Moves":
            assert len(text.split()) == followed.legal_moves.count()
            listed = set(text.split())
            assert listed == reference_texts(followed)
        elif kind != "Result" and text not in ("nonsense", "resign", "quit"):
            assert listed == reference_texts(followed)
            assert (followed.turn == colour) == (kind == "Player")
            followed.push(followed.parse_san(text))
    assert followed == position
    assert len(followed.move_stack) >= 8


def test_the_log_tells_undo_and_a_new_position(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with Player(tmp_path, *SHALLOW, "--log", str(log)) as player:
        player.say("e4")
        for line, position in (("undo", chess.Board()), (f"fen {KIWIPETE}", chess.Board(KIWIPETE))):
            player.say(line)
            (before, after) = entries(log)[-2:]
            assert before == ("Player", line)
            assert set(after[1].split()) == reference_texts(position)
        player.say(f"fen {MATE_IN_1}")
        player.say("Ra8#")
        assert entries(log)[-2:] == [("Player", "Ra8#"), ("Result", "1-0 (checkmate)")]


@pytest.mark.parametrize("name", [".", "no/such/folder", "/dev/full"])
def test_a_log_that_cannot_be_written_is_reported_once_and_play_goes_on(tmp_path: Path, name: str) -> None:
    if name == "/dev/full" and not Path(name).exists():
        pytest.skip("there is no device that is always full")
    ended = piped(tmp_path, b"e2e4\nd2d4\nquit\n", *SHALLOW, "--log", name)
    assert ended.returncode == 0
    assert ended.stderr.decode().count(f"the log {name!r} cannot be written: ") == 1
    assert "Traceback" not in ended.stderr.decode()
    assert len(saved(tmp_path / "moff.pgn")[0]) == 4


def test_the_log_is_added_to(tmp_path: Path) -> None:
    log = tmp_path / "log"
    for _ in range(2):
        piped(tmp_path, b"quit\n", *SHALLOW, "--log", str(log))
    assert [kind for kind, _ in entries(log)] == ["Moves", "Player"] * 2


class ScriptedSearch:
    """A search that finds the move d7d5."""

    def __init__(self, _megabytes: int) -> None:
        pass

    def limit_strength(self, elo: int | None) -> None:
        assert elo is None

    def start(
        self, board: Board, _limits: Limits, _on_report: object, on_result: Callable[[Result], object]
    ) -> None:
        result = Result(coordinate.parse(board, "d7d5"), NO_MOVE, 0)
        self._thread = threading.Thread(target=on_result, args=(result,))
        self._thread.start()

    def wait(self) -> None:
        self._thread.join()


def test_the_log_of_the_italian_example_has_its_three_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO("e2e4\nquit\n"))
    monkeypatch.setattr("moff.session.search_with_tables", ScriptedSearch)
    Console(WHITE, Limits(depth=1), LETTERS, Log("log")).run()
    lists = [set(text.split()) for kind, text in entries(tmp_path / "log") if kind == "Moves"]
    assert lists == [set(text.split()) for text in LAMOSCA]
    assert saved(tmp_path / "moff.pgn") == (["e2e4", "d7d5"], "*")


LAMOSCA = (
    "a2a3 a2a4 b2b3 b2b4 c2c3 c2c4 d2d3 d2d4 e2e3 e2e4 f2f3 f2f4 g2g3 g2g4 h2h3 h2h4 b1a3 b1c3 g1f3 g1h3",
    "b8a6 b8c6 g8f6 g8h6 a7a6 a7a5 b7b6 b7b5 c7c6 c7c5 d7d6 d7d5 e7e6 e7e5 f7f6 f7f5 g7g6 g7g5 h7h6 h7h5",
    "e4d5 e4e5 a2a3 a2a4 b2b3 b2b4 c2c3 c2c4 d2d3 d2d4 f2f3 f2f4 g2g3 g2g4 h2h3 h2h4 b1a3 b1c3 d1e2 d1f3 "
    "d1g4 d1h5 e1e2 f1e2 f1d3 f1c4 f1b5 f1a6 g1f3 g1h3 g1e2",
)
"""The lists that the article on LaMoSca 0.02 prints: the start position, after e2e4, after d7d5."""


# --- Editing of lines


def test_the_arrow_up_brings_back_the_lines_before(player: Player) -> None:
    player.say("fen")
    player.say("help")
    up = "\033[A"
    player.process.send(up + up + "\r")
    assert player.read()[-1] == fen.START


def test_a_line_can_be_edited(player: Player) -> None:
    position = chess.Board()
    position.push_uci("e2e4")
    # A wrong end taken away, and then the beginning put before it.
    player.process.send("2e5\x7f4\x01e\r")
    assert len(answers(player.read(), position)) == 1
