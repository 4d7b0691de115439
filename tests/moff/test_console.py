"""`moff play` as a real process on a pseudo-terminal, with python-chess as the arbiter beside it."""

import io
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import chess
import chess.pgn
import pytest

from moff import __version__, evaluation
from moff.console import user_name
from search.strength import STRONGEST, WEAKEST
from tests import picture
from tests.client import ENGINE, PATIENCE
from tests.oracle import read_games, reference_texts, scaled, verdict
from tests.terminal import Player, environment, stripped
from x88 import square
from x88.notation import coordinate, diagram, fen
from x88.notation.diagram import Style

pytestmark = pytest.mark.slow

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


def games_in(path: Path) -> list[chess.pgn.Game]:
    return read_games(path.read_text(encoding="utf-8"))


def saved(path: Path) -> tuple[list[str], str]:
    """The moves and the result of the only game of a file."""
    (game,) = games_in(path)
    return [move.uci() for move in game.mainline_moves()], game.headers["Result"]


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
    (game,) = games_in(tmp_path / "moff.pgn")
    operator = game.headers["White" if colour else "Black"]
    machine = game.headers["Black" if colour else "White"]
    assert (operator, machine) == ("Ada", f"Moff {__version__}")
    assert game.headers["Termination"] == reason
    assert re.fullmatch(r"\d{4}\.\d\d\.\d\d", game.headers["Date"])


def test_a_position_set_up_that_is_over_is_announced_and_not_saved(player: Player, tmp_path: Path) -> None:
    assert player.say("fen R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1")[-1] == "1-0 (checkmate)"
    assert player.prompt == "> "
    assert player.say("undo") == [NOTHING]
    assert player.say("e2e4") == ["The game is over (checkmate): undo, new or quit; help lists all commands."]
    assert player.say("hint") == player.say("resign") == ["The game is over."]
    player.leave()
    assert not (tmp_path / "moff.pgn").exists()


# --- Moves accepted and refused


def test_a_refused_move_or_command_is_answered_with_the_reason_and_changes_nothing(player: Player) -> None:
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
    assert player.say("fen nonsense")[0].startswith("bad FEN 'nonsense': ")
    assert player.say("save") == ["save needs the name of a file, as in save game.pgn."]
    assert player.say("undo x") == ["undo takes a whole number from 1 to 1000000000000000, not 'x'."]
    assert player.say("") == []
    position = chess.Board(start)
    position.push_san("Nge2")
    assert len(answers(player.say("Ne2"), position)) == 1
    player.say("fen 4k3/P7/8/8/8/2N5/8/4K1N1 w - - 0 1")
    assert player.say("Ne2")[0] in ("'Ne2' is ambiguous: Nce2 or Nge2.", "'Ne2' is ambiguous: Nge2 or Nce2.")
    assert "it must name the new piece" in player.say("a8")[0]


# --- Commands


def test_a_game_that_was_over_goes_on_after_undo(player: Player, tmp_path: Path) -> None:
    start = "r7/8/8/8/8/6k1/8/7K w - - 0 1"
    player.say(f"fen {start}")
    player.say("Kg1")
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


def test_a_hint_is_shown_and_not_played(player: Player) -> None:
    player.say(f"fen {MATE_IN_1}")
    assert player.say("hint") == ["Ra8# (a1a8)"]
    assert player.position() == MATE_IN_1


def test_moves_lists_what_the_test_board_lists(player: Player) -> None:
    player.say(f"fen {KIWIPETE}")
    lines = player.say("moves")
    listing = diagram.list_moves(fen.parse(KIWIPETE), LETTERS)
    assert lines == [*listing, "", *diagram.SCORE_LEGEND]
    white, _ = picture.listings(listing)
    assert {row.coordinates for row in white.rows} == reference_texts(chess.Board(KIWIPETE))


def test_eval_shows_the_table_of_evaluation_and_the_attack_map(player: Player) -> None:
    start = KIWIPETE.replace("1p2P3", "4P3")
    player.say(f"fen {start}")
    lines = player.say("eval")
    board = fen.parse(start)
    table = evaluation.table(board, LETTERS)
    assert lines[: len(table)] == table
    assert "\n".join(table).isascii()
    assert lines[-12:] == [*diagram.draw_attacks(board, LETTERS), *diagram.ATTACK_LEGEND]


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


def test_moves_are_taken_back_and_played_again(player: Player) -> None:
    positions = [player.position()]
    for text in ("e4", "d4", "Nf3"):
        player.say(text)
        positions.append(player.position())
    assert player.say("undo 4") == ["You have only 3 moves to take back."]
    for line, number in (("undo 2", 1), ("redo", 2), ("redo 9", 3), ("undo", 2), ("undo", 1), ("undo", 0)):
        lines = player.say(line)
        assert picture.placement(last_board(lines)) == positions[number].split()[0]
        assert player.position() == positions[number]
    assert player.say("undo") == [NOTHING]
    player.say("a3")
    assert player.say("redo") == ["There is nothing to redo."]


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
    (game,) = games_in(tmp_path / "moff.pgn")
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
    (game,) = games_in(tmp_path / "moff.pgn")
    assert (game.headers["TimeControl"], game.headers["BlackElo"]) == ("3+0.1", "900")
    assert game.headers["White"] == user_name() != "Operator"


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
    *_, game = games_in(tmp_path / "moff.pgn")
    assert (game.headers["Result"], game.headers["Termination"]) == ("1/2-1/2", "draw agreed")


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
        # It is wiped before the move is shown.
        assert "\033[K\033[K1... " in raw
        assert len(lines) < 40


# --- Saving


def test_a_file_that_cannot_be_written_is_reported_and_play_goes_on(player: Player, tmp_path: Path) -> None:
    player.say("e4")
    assert player.say("save .") == ["The game could not be saved in .: Is a directory."]
    player.say("d4")
    assert player.prompt == "3. "
    player.leave()
    assert len(saved(tmp_path / "moff.pgn")[0]) == 4


# --- Leaving


@pytest.mark.parametrize(("key", "code"), [("\x04", 0), ("\x03", 130)], ids=["Ctrl-D", "Ctrl-C"])
def test_control_d_and_control_c_at_the_prompt_save_and_leave(
    player: Player, tmp_path: Path, key: str, code: int
) -> None:
    player.say("e4")
    player.process.send(key)
    assert "Saved in moff.pgn." in player.end(code)
    moves, result = saved(tmp_path / "moff.pgn")
    assert (moves[0], len(moves), result) == ("e2e4", 2, "*")


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
@pytest.mark.parametrize("typed", ["é4\n♘f3".encode(), b"\xe94\n\xff\xfe\0\nsave a\0b"])
def test_no_text_in_any_encoding_loses_the_game(tmp_path: Path, encoding: str, typed: bytes) -> None:
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


def test_black_is_answered_first_and_sees_the_board_turned(tmp_path: Path) -> None:
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
        assert player.say("resign")[0] == "1-0 (Black resigns)"


def test_a_clock_leaves_the_engine_a_move_when_it_has_run_down(tmp_path: Path) -> None:
    with Player(tmp_path, "--time", "0.01+0.01") as player:
        position = chess.Board()
        for _ in range(5):
            move = next(iter(position.legal_moves))
            position.push(move)
            assert len(answers(player.say(move.uci()), position)) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        *[["--time", text] for text in ("", "0", "-5", "5+", "+1", "5+-1", "nan", "inf", "1e9", "5:0")],
        *[["--depth", text] for text in ("0", "x")],
        ["--time", "5", "--depth", "2"],
        *[["--elo", text] for text in ("strong", str(WEAKEST - 1), str(STRONGEST + 1))],
        *[["--white"], ["nonsense"], ["--log"]],
    ],
)
def test_wrong_usage_of_moff_play_ends_with_2(tmp_path: Path, arguments: list[str]) -> None:
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


def test_on_a_terminal_the_board_is_coloured_and_has_pieces_and_the_last_move(tmp_path: Path) -> None:
    with Player(tmp_path, *SHALLOW, letters=False, TERM="xterm-256color") as player:
        board, style = fen.parse(fen.START), Style(coloured=True)
        assert "\n".join(diagram.draw(board, style)) in player.raw
        player.say("e4")
        board.make(coordinate.parse(board, "e2e4"))
        marked = diagram.draw(board, style, (square.parse("e2"), square.parse("e4")))
        assert "\n".join(marked) in player.raw
        plain = diagram.draw(board, style)
        assert [old != new for old, new in zip(plain, marked, strict=True)].count(True) == 2
        assert [stripped(line) for line in plain] == [stripped(line) for line in marked]


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


def test_the_log_follows_undo_and_a_new_position_and_is_added_to(tmp_path: Path) -> None:
    log = tmp_path / "log"
    piped(tmp_path, b"quit\n", *SHALLOW, "--log", str(log))
    with Player(tmp_path, *SHALLOW, "--log", str(log)) as player:
        assert [kind for kind, _ in entries(log)] == ["Moves", "Player", "Moves"]
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


# --- Editing of lines


def test_a_line_can_be_edited_and_brought_back(player: Player) -> None:
    player.say("fen")
    player.say("help")
    player.process.send("\033[A\033[A\r")
    assert player.read()[-1] == fen.START
    position = chess.Board()
    position.push_uci("e2e4")
    # A wrong end is deleted, then Ctrl-A puts the beginning before it.
    player.process.send("2e5\x7f4\x01e\r")
    assert len(answers(player.read(), position)) == 1
