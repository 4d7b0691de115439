"""`moff play` as a real process on a pseudo-terminal, with python-chess as the arbiter beside it."""

import io
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import chess
import chess.pgn
import pytest

from moff import __version__, evaluation
from moff.console import user_name
from moff.game.levels import LEVELS
from search.strength import STRONGEST, WEAKEST
from tests import picture
from tests.client import PATIENCE, Ended, call, run
from tests.oracle import read_games, reference_texts, scaled, verdict
from tests.searches import KIWIPETE
from tests.terminal import Player, environment, stripped
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


@pytest.fixture
def player(tmp_path: Path) -> Iterator[Player]:
    """White against a shallow engine, in a folder of its own."""
    with Player(tmp_path, *SHALLOW) as player:
        yield player


def answers(lines: list[str], position: chess.Board) -> list[chess.Move]:
    """The engine's moves among the lines, which are pushed."""
    found = []
    for match in filter(None, map(ANSWER.fullmatch, lines)):
        number, dots, text = match.groups()
        assert (int(number), bool(dots)) == (position.fullmove_number, position.turn == chess.BLACK)
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


@pytest.mark.parametrize("seed", range(4))
def test_a_whole_game_is_played_by_the_rules_saved_and_logged(tmp_path: Path, seed: int) -> None:
    random, colour = Random(seed), seed % 2 == 1
    log = tmp_path / "log"
    position = chess.Board()
    with Player(tmp_path, *DEPTH, "--name", "Ada", "--log", str(log), colour=colour) as player:
        while True:
            answers(player.output, position)
            assert picture.placement(last_board(player.output)) == position.board_fen()
            assert {*map(picture.corner, picture.boards(player.output))} <= {"a8" if colour else "h1"}
            if verdict(position):
                break
            assert position.turn == colour
            assert player.prompt == f"{position.fullmove_number}{'.' if colour else '...'} "
            assert player.position() == position.fen(en_passant="legal")
            move = random.choice(list(position.legal_moves))
            text = move.uci() if len(position.move_stack) % 4 < 2 else position.san(move)
            position.push(move)
            player.say(text)
        result, reason = verdict(position) or ("", "")
        assert player.prompt == "> "
        assert f"{result} ({reason})" in player.output
        player.leave()
    assert saved(tmp_path / "moff.pgn") == ([move.uci() for move in position.move_stack], result)
    (game,) = games_in(tmp_path / "moff.pgn")
    names = game.headers["White"], game.headers["Black"]
    assert names[:: 1 if colour else -1] == ("Ada", f"Moff {__version__}")
    assert game.headers["Termination"] == reason
    assert re.fullmatch(r"\d{4}\.\d\d\.\d\d", game.headers["Date"])
    check_log(log, position, colour)


def check_log(log: Path, game: chess.Board, colour: chess.Color) -> None:
    """Check that the log has the moves of a game, with the legal moves before each, and its result."""
    *moves, end = [entry for entry in entries(log) if entry[1] not in ("fen", "quit")]
    result, reason = verdict(game) or ("", "")
    assert end == ("Result", f"{result} ({reason})")
    followed = chess.Board()
    for listed, (kind, text) in zip(moves[::2], moves[1::2], strict=True):
        assert listed[0] == "Moves"
        assert sorted(listed[1].split()) == sorted(reference_texts(followed))
        assert kind == ("Player" if followed.turn == colour else "Moff")
        followed.push(followed.parse_san(text))
    assert followed == game


def entries(path: Path) -> list[tuple[str, str]]:
    found = [ENTRY.fullmatch(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert all(found)
    return [(match[1], match[2]) for match in found if match]


def test_a_refused_move_or_command_changes_nothing(player: Player) -> None:
    start = "r1bqk1nr/pppp1ppp/2n5/8/1b1PP3/2N5/PPP2PPP/R1BQKBNR w KQkq - 2 5"
    no_move = "it should read like e4, Nf3, exd5, e8=Q or O-O"
    refused = {
        "e8e7": "there is no white king on e8",
        "Rb1c1": "there is no white rook on b1",
        **dict.fromkeys(("c3d5", "Nb5"), "it would leave White's king in check"),
        **dict.fromkeys(("xyzzy", "--"), f"{no_move}. Type help for the commands"),
        **dict.fromkeys(("d4d5 d7d6", "é4"), no_move),
    }
    player.say(f"fen {start}")
    for text, reason in refused.items():
        (line,) = player.say(text)
        assert line.startswith(f"'{text}' is no")
        assert line.endswith(f": {reason}.")
        assert (player.prompt, player.position()) == ("5. ", start)
    assert player.say("fen nonsense")[0].startswith("bad FEN 'nonsense': ")
    assert player.say("save") == ["save needs the name of a file, as in save game.pgn."]
    assert player.say("undo x") == ["undo takes a whole number from 1 to 1000000000000000, not 'x'."]
    assert player.say("") == []
    position = chess.Board(start)
    position.push_san("Nge2")
    assert len(answers(player.say("Ne2"), position)) == 1
    player.say("fen 4k3/P7/8/8/8/2N5/8/4K1N1 w - - 0 1")
    assert player.say("Ne2")[0] in ("'Ne2' is ambiguous: Nce2 or Nge2.", "'Ne2' is ambiguous: Nge2 or Nce2.")


@pytest.mark.parametrize(("uid", "name"), [(0, "Player"), (33, "Player"), (1000, "ada")])
def test_root_and_services_have_no_name(uid: int, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.getuid", lambda: uid)
    monkeypatch.setattr("getpass.getuser", lambda: "ada")
    assert user_name() == name


# --- Commands


def test_a_game_that_is_over_is_saved_and_goes_on_after_undo(player: Player, tmp_path: Path) -> None:
    player.say("e4")
    before = player.position()
    assert player.say("resign") == ["0-1 (White resigns)", "Saved in moff.pgn."]
    assert player.prompt == "> "
    moves, result = saved(tmp_path / "moff.pgn")
    assert (len(moves), result) == (2, "0-1")
    player.say("undo")
    assert (player.prompt, player.position()) == ("2. ", before)
    start = "r7/8/8/8/8/6k1/8/7K w - - 0 1"
    player.say(f"fen {start}")
    player.say("Kg1")
    assert player.prompt == "> "
    player.say("undo")
    assert (player.prompt, player.position()) == ("1. ", start)
    assert player.say("fen R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1")[-1] == "1-0 (checkmate)"
    assert player.prompt == "> "
    assert player.say("undo") == [NOTHING]
    assert player.say("e2e4") == ["The game is over (checkmate): undo, new or quit; help lists all commands."]
    assert player.say("hint") == player.say("resign") == ["The game is over."]
    player.leave()
    # The file does not keep the ends that were taken back, nor a game without a move.
    games = games_in(tmp_path / "moff.pgn")
    assert [len(list(game.mainline_moves())) for game in games] == [2, 0]
    assert [game.headers["Result"] for game in games] == ["*", "*"]


def test_hint_moves_and_eval_show_the_position_and_play_nothing(player: Player) -> None:
    player.say(f"fen {MATE_IN_1}")
    assert player.say("hint") == ["Ra8# (a1a8)"]
    assert player.position() == MATE_IN_1
    player.say(f"fen {KIWIPETE}")
    board = fen.parse(KIWIPETE)
    assert player.say("moves") == [*diagram.list_moves(board, LETTERS), "", *diagram.SCORE_LEGEND]
    table = evaluation.table(board, LETTERS)
    assert "\n".join(table).isascii()
    attacks = [*diagram.draw_attacks(board, LETTERS), *diagram.ATTACK_LEGEND]
    assert player.say("eval") == [*table, "", *attacks]
    assert player.position() == KIWIPETE


def test_the_board_is_shown_after_the_reply_and_flip_turns_it(player: Player) -> None:
    assert picture.corner(last_board(player.output)) == "a8"
    for corner in ("h1", "a8", "h1"):
        board = last_board(player.say("flip"))
        assert picture.corner(board) == corner
        assert picture.placement(board) == chess.STARTING_BOARD_FEN
        assert picture.corner(last_board(player.say("eval"))) == corner
    position = chess.Board()
    lines = player.say("e4")
    position.push_san("e4")
    (move,) = answers(lines, position)
    (drawn,) = picture.boards(lines)
    assert picture.placement(drawn) == position.board_fen()
    wanted = {chess.square_name(move.from_square), chess.square_name(move.to_square)}
    for board in (drawn, last_board(player.say("board")), last_board(player.say("flip"))):
        assert picture.marked(board) == wanted
    # The person still plays White.
    assert (picture.corner(drawn), player.prompt) == ("h1", "2. ")


def test_moves_are_taken_back_and_played_again(player: Player) -> None:
    positions = [player.position()]
    for text in ("e4", "d4", "Nf3"):
        player.say(text)
        positions.append(player.position())
    assert player.say("undo 4") == ["You have only 3 moves to take back."]
    for line, number in (("undo 2", 1), ("redo", 2), ("redo 9", 3), ("undo", 2)):
        lines = player.say(line)
        assert picture.placement(last_board(lines)) == positions[number].split()[0]
        assert player.position() == positions[number]
    player.say("a3")
    assert player.say("redo") == ["There is nothing to redo."]


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


def test_help_names_every_command(player: Player) -> None:
    lines = player.say("help")
    text = "\n".join(lines)
    commands = "undo redo go hint switch level score board flip moves eval new fen save draw resign quit help"
    for command in commands.split():
        assert re.search(rf"^ *{command} ", text, re.MULTILINE), command
    assert player.say("HELP") == player.say("?") == lines
    assert "Ctrl-C" in text
    assert re.search(r"\bexit, q\b", text)
    assert max(map(len, lines)) <= 100, "readable on a wide terminal too"


def test_new_and_fen_save_the_game_and_start_another(player: Player, tmp_path: Path) -> None:
    player.say("e4")
    lines = player.say("new")
    assert lines[0] == "Saved in moff.pgn."
    assert picture.placement(last_board(lines)) == chess.STARTING_BOARD_FEN
    assert picture.marked(last_board(lines)) == set()
    assert (player.prompt, player.position()) == ("1. ", fen.START)
    assert player.say("undo") == [NOTHING]
    moves, result = saved(tmp_path / "moff.pgn")
    assert (moves[0], len(moves), result) == ("e2e4", 2, "*")
    # The engine is to move there.
    position = chess.Board(KIWIPETE.replace(" w ", " b "))
    lines = player.say(f"fen {position.fen()}")
    assert picture.placement(picture.boards(lines)[0]) == position.board_fen()
    (move,) = answers(lines, position)
    assert picture.placement(last_board(lines)) == position.board_fen()
    assert player.position() == position.fen(en_passant="legal")
    assert player.say("undo") == [NOTHING]
    player.leave()
    _, game = games_in(tmp_path / "moff.pgn")
    assert list(game.mainline_moves()) == [move]


def test_new_begins_chess960_and_nothing_else_with_a_word(player: Player) -> None:
    for line in ("new chess960 0", "new 960 0", "new Chess960 000"):
        assert player.say(line)[0] == "Start position 0 of Chess960."
        assert player.position() == chess.Board.from_chess960_pos(0).fen()
    for line in ("new 960", "new chess960"):
        assert re.fullmatch(r"Start position \d+ of Chess960\.", player.say(line)[0])
    before = player.position()
    for rest in ("chess", "518", "960960", "chess960x"):
        refusal = f"new takes nothing, or chess960 and perhaps a number, not {rest!r}."
        assert player.say(f"new {rest}") == [refusal]
    assert player.say("new 960 960") == ["new chess960 takes a whole number from 0 to 959, not '960'."]
    assert player.position() == before


def test_the_engine_plays_a_move_for_the_person_and_switches_sides(player: Player, tmp_path: Path) -> None:
    position = chess.Board()
    player._prompt = r"(?<=\n)(2\. )"
    assert len(answers(player.say("go"), position)) == 2
    player._prompt = r"(?<=\n)(> |\d+\. )"
    assert player.position() == position.fen(en_passant="legal")
    player._prompt = r"(?<=\n)(> |\d+\.\.\. (?=$))"
    lines = player.say("switch")
    assert lines[0] == "You play Black now."
    assert len(answers(lines, position)) == 1
    assert picture.corner(last_board(lines)) == "h1"
    assert player.prompt == "2... "
    player.say("new")
    assert player.prompt == "1... "
    assert player.say("resign")[0] == "1-0 (Black resigns)"
    for game in games_in(tmp_path / "moff.pgn"):
        assert game.headers["White"].startswith("Moff ")


def test_the_level_is_shown_and_changed(tmp_path: Path) -> None:
    with Player(tmp_path, "--elo", str(WEAKEST), "--time", "20000") as player:
        *table, line = player.say("level")
        assert line == f"The engine plays at 20000 s (20000.0 s left), Elo {WEAKEST}."
        assert [row.split("  ")[1].strip() for row in table] == [level.name for level in LEVELS]
        began = time.perf_counter()
        player.say("e4")
        assert time.perf_counter() - began < 10, "at its best it would think for minutes"
        assert player.say("level full strength")[0].endswith(" s left), full strength.")
        assert player.say("level depth 2") == ["The engine plays at depth 2, full strength."]
        assert player.say("level 900") == ["The engine plays at depth 2, Elo 900."]
        (line,) = player.say("level time 3+0.1")
        assert line == "The engine plays at 3+0.1 s (3.0 s left), Elo 900."
        assert player.say("level first moves")[0].endswith(f" s left), Elo {WEAKEST}.")
        assert player.say("level 900") == [line]
        for bad in (
            "level x",
            "level depth",
            "level depth 0",
            "level time",
            "level 0",
            "level 3+0.1",
            "level 249",
        ):
            (refusal,) = player.say(bad)
            assert "The engine plays" not in refusal
        assert player.say("level")[-1] == line
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
    assert player.say("draw")[0] == "1/2-1/2 (draw agreed)"
    assert player.prompt == "> "
    *_, game = games_in(tmp_path / "moff.pgn")
    assert (game.headers["Result"], game.headers["Termination"]) == ("1/2-1/2", "draw agreed")


@pytest.mark.parametrize("grey", ["", "1"])
def test_the_board_is_coloured_and_after_score_a_line_shows_the_engine_s_thoughts(
    tmp_path: Path, grey: str
) -> None:
    depth = scaled(6, 2)
    terminal = {"TERM": "xterm-256color", "NO_COLOR": grey}
    with Player(tmp_path, "--depth", str(depth), letters=False, **terminal) as player:
        board, style = fen.parse(fen.START), Style(coloured=not grey)
        assert "\n".join(diagram.draw(board, style)) in player.raw
        player.say("e4")
        wiped = re.search(r"Moff is thinking \.\.\.\033\[K\033\[K1\.\.\. (\S+)\n", player.raw)
        position = chess.Board()
        position.push_san("e4")
        for move in (position.peek(), position.push_san(wiped[1])):
            board.make(coordinate.parse(board, move.uci()))
        marked = diagram.draw(board, style, coordinate.squares(board.last_move()))
        assert "\n".join(marked) in player.raw
        plain = diagram.draw(board, style)
        assert [old != new for old, new in zip(plain, marked, strict=True)].count(True) == 2
        assert grey or [stripped(line) for line in plain] == [stripped(line) for line in marked]
        assert player.say("score") == ["The engine's score is shown from now on."]
        position.push_san("d4")
        lines = player.say("d4")
        raw = player.raw.replace("\033[?2004l", "")
        thoughts = re.findall(r"depth (\d+)  ([+-]\d+\.\d\d)  ([^\s\033]+)[^\n\033]*\033\[K", raw)
        assert [int(depth) for depth, _, _ in thoughts] == list(range(1, depth + 1))
        for _, _, first in thoughts:
            assert position.san(position.parse_san(first)) == first
        # It is wiped before the move is shown.
        assert "\033[K\033[K2... " in raw
        assert "thinking" not in raw
        assert re.search(rf", depth {depth}, ", lines[0])
        assert player.say("score") == ["The engine's score is hidden from now on."]


# --- Saving and leaving


def test_a_game_that_cannot_be_saved_is_shown_at_the_end(player: Player, tmp_path: Path) -> None:
    (tmp_path / "moff.pgn").mkdir()
    player.say("e4")
    assert player.say("save .") == ["The game could not be saved in .: Is a directory."]
    player.say("d4")
    assert player.prompt == "3. "
    lines = player.leave()
    assert "The game could not be saved in moff.pgn: Is a directory." in lines
    game = chess.pgn.read_game(io.StringIO("\n".join(lines[lines.index('[Event "Casual game"]') :])))
    assert game is not None
    assert [move.uci() for move in game.mainline_moves()][::2] == ["e2e4", "d2d4"]


@pytest.mark.parametrize("move", ["", "e4"])
@pytest.mark.parametrize("last", ["quit\r", "exit\r", "q\r", "\x04", "\x03"])
def test_a_game_with_a_move_is_saved_on_leaving(player: Player, tmp_path: Path, last: str, move: str) -> None:
    player.say(move)
    player.process.send(last)
    assert ("Saved in moff.pgn." in player.end(130 if last == "\x03" else 0)) == bool(move)
    if move:
        moves, result = saved(tmp_path / "moff.pgn")
        assert (moves[0], len(moves), result) == ("e2e4", 2, "*")
    else:
        assert list(tmp_path.iterdir()) == []


def piped(folder: Path, typed: str, *arguments: str, **changes: str) -> Ended:
    """Run `moff play` with its input from a pipe."""
    return run("play", *SHALLOW, *arguments, text=typed, cwd=folder, env=environment(**changes))


ODD = "e2e4\né4\n♘f3\n\udce94\n\udcff\udcfe\0\nsave a\0b\nquit\n"


@pytest.mark.parametrize(
    ("typed", "encoding"),
    [(typed, "utf-8") for typed in ("e2e4", "e2e4\n", "e2e4\nfen\n", "e2e4\nquit\nd2d4\n", ODD)]
    + [(ODD, "ascii"), (ODD, "latin-1")],
)
def test_any_piped_text_is_played_and_saved(tmp_path: Path, typed: str, encoding: str) -> None:
    ended = piped(tmp_path, typed, PYTHONIOENCODING=encoding)
    assert (ended.code, ended.errors) == (0, "")
    assert ended.output.endswith("Saved in moff.pgn.\n")
    assert "\033" not in ended.output
    moves, _ = saved(tmp_path / "moff.pgn")
    assert moves[0] == "e2e4"
    assert len(moves) == 2 or typed == ODD


def test_control_c_makes_the_thinking_engine_move(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with Player(tmp_path, "--time", "600", "--log", str(log)) as player:
        player.process.sendline("e2e4")
        until(log, "Player: e2e4\n.*Moves: .*\n$")
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
    moves, _ = saved(tmp_path / "moff.pgn")
    assert (moves[0], len(moves)) == ("e2e4", 1 if is_thinking else 2)


def until(log: Path, pattern: str) -> None:
    """Wait until the log has lines of a pattern."""
    deadline = time.monotonic() + PATIENCE
    while not re.search(pattern, log.read_text(encoding="utf-8") if log.exists() else ""):
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize(
    "words",
    [
        *[f"--time={text}" for text in ("", "0", "-5", "5+", "+1", "5+-1", "nan", "inf", "1e9", "5:0")],
        *["--depth 0", "--depth x", "--time 5 --depth 2", "--white", "nonsense", "--log"],
        *[f"--elo {text}" for text in ("strong", WEAKEST - 1, STRONGEST + 1)],
    ],
)
def test_wrong_usage_of_moff_play_ends_with_2(words: str) -> None:
    ended = call("play", *words.split())
    assert (ended.code, ended.output) == (2, "")
    assert ended.errors.startswith("usage")


def test_the_log_follows_undo_and_a_new_position_and_is_added_to(tmp_path: Path) -> None:
    log = tmp_path / "log"
    piped(tmp_path, "quit\n", "--log", str(log))
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
def test_a_log_that_cannot_be_written_is_reported_once(tmp_path: Path, name: str) -> None:
    if name == "/dev/full" and not Path(name).exists():
        pytest.skip("there is no device that is always full")
    ended = piped(tmp_path, "e2e4\nd2d4\nquit\n", "--log", name)
    assert ended.code == 0
    assert ended.errors.startswith(f"the log {name!r}: ")
    assert ended.errors.count("\n") == 1
    assert len(saved(tmp_path / "moff.pgn")[0]) == 4
