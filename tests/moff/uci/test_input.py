"""Commands that people type, odd input, signals, and the log."""

import gc
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import chess
import chess.polyglot
import pytest

from moff.uci import conversation
from search import benchmark
from tests import ROOT
from tests.client import ENGINE, PATIENCE, Conversation, on_threads, run, with_threads
from tests.oracle import STARTS, reference_texts, scaled
from x88 import build

pytestmark = pytest.mark.slow

DEPTH = 6 if build.compiled else 3

LISTS = [
    reference_texts(chess.Board(f"rnbqkbnr/{placement} KQkq - 0 1"))
    for placement in (
        "pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w",
        "pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b",
        "ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w",
    )
]
"""The legal moves before each move of 1. e4 d5."""


# Commands people type.


def test_d_shows_the_position_and_flip_exchanges_the_colours(moff: Conversation) -> None:
    for text in STARTS:
        board = chess.Board(text)
        moff.send(f"position fen {text}", "d")
        *lines, fen, key, checkers = moff.ready()
        rows = [line.split("|")[1:-1] for line in lines if re.fullmatch(r" (\| . ){8}\| [1-8]", line)]
        assert [cell.strip() or "." for row in rows for cell in row] == str(board).split()
        assert fen == f"Fen: {board.fen(en_passant='legal')}"
        assert key == f"Key: {chess.polyglot.zobrist_hash(board):016x}"
        assert set(checkers.split()[1:]) == {chess.square_name(sq) for sq in board.checkers()}
        moff.send("flip", "d", "flip", "d")
        there, back = (line for line in moff.ready() if line.startswith("Fen: "))
        assert there == f"Fen: {board.mirror().fen(en_passant='legal')}"
        assert back == fen


def test_moves_and_eval_show_the_scores(moff: Conversation) -> None:
    moff.send("position startpos moves e2e4 d7d5", "moves")
    rows = [line.split() for line in moff.ready() if not line.startswith("info")]
    assert {move for _, move in rows} == LISTS[2]
    assert [int(score) for score, _ in rows] == sorted((int(score) for score, _ in rows), reverse=True)
    assert rows[0][1] == "e4d5"
    moff.send("position startpos moves e2e4", "eval")
    lines = moff.ready()
    worths = re.findall(r"[PNBRQpnbrq] [+-]\d+\.\d\d", "\n".join(lines))
    assert len(worths) == 30, "all pieces but the kings"
    network = r"29 to 32 pieces  [+-]\d+\.\d\d \(this position; times 1\.06 for the material\)"
    assert any(re.fullmatch(network, line) for line in lines)
    chances = r"score [+-]\d+\.\d\d for White: wins \d+\.\d %, draws \d+\.\d %, loses \d+\.\d %"
    (score,) = (line.split()[1] for line in lines if re.fullmatch(chances, line))
    assert lines[-2:] == [f"Final evaluation       {score} (white side)", ""]


@on_threads
def test_commands_that_show_leave_a_search_alone(moff: Conversation) -> None:
    moff.send("position startpos moves e2e4", "go infinite", "d", "eval", "moves", "help")
    assert not any(line.startswith("bestmove") for line in moff.ready())
    moff.send("stop")
    moff.until("bestmove")


def test_bench_runs_beside_the_conversation_and_leaves_the_options(moff: Conversation) -> None:
    for asked, wait in (("bench", 0), ("bench 16 1 60", 0.5)):
        moff.send(asked, "isready")
        moff.until("readyok")
        time.sleep(wait)
        began = time.perf_counter()
        moff.send("stop")
        moff.until("info string bench stopped")
        assert time.perf_counter() - began < 3, "also in the middle of a position"

    def searched() -> list[str]:
        moff.send("ucinewgame", "position startpos", f"go depth {DEPTH}")
        return re.findall(r"nodes \d+|hashfull \d+", "".join(moff.until("bestmove")))

    moff.send("setoption name Hash value 2")
    before = searched()
    for asked, last in (("bench 16 1 1", ""), ("bench 1 3 1", r" \(3 threads\)")):
        moff.send(asked)
        assert re.fullmatch(rf"\d+ nodes \d+ nps{last}", moff.until(tuple("123456789"))[-1])
    assert searched() == before


def test_a_finished_bench_leaves_no_thread_and_no_table() -> None:
    said: list[str] = []
    before = threading.enumerate()
    moff = conversation.Engine(said.append)
    moff.carry_out(["bench 8 3 1"])
    assert said[-1].endswith("(3 threads)")
    assert set(threading.enumerate()) <= set(before)
    gc.collect()
    assert not any(isinstance(thing, benchmark.Bench) for thing in gc.get_objects())


def test_help_compiler_license_and_register_answer(moff: Conversation) -> None:
    moff.ready()
    answers = {
        "help": "ponderhit",
        "compiler": "compiled",
        "license": "MIT",
        "register later": "registration",
    }
    for command, said in answers.items():
        moff.send(command)
        lines = moff.ready()
        assert said in "".join(lines)
        assert all(line.startswith("info string ") for line in lines)


def test_debug_reports_unknown_words(moff: Conversation) -> None:
    moff.ready()
    moff.send("nonsense")
    assert moff.ready() == []
    moff.send("debug on", "nonsense")
    assert moff.ready() == ["info string unknown command 'nonsense'; help lists the commands"]
    moff.send("some more nonsense isready")
    assert moff.until("readyok") == ["info string ignored: 'some more nonsense'", "readyok"]
    moff.send("go depth 1 joho searchmoves e2e4 nodes 5 mate")
    assert moff.until("bestmove")[0] == "info string go: unknown word 'joho' (and 1 more)"
    moff.send("debug off", "nonsense")
    assert moff.ready() == []
    for line in ("go depth 1 joho", "go joho"):
        moff.send(line)
        assert not any(line.startswith("info string") for line in moff.until("bestmove"))


def test_every_option_declared_can_be_set(moff: Conversation) -> None:
    moff.send("uci")
    declared = [line for line in moff.until("uciok") if line.startswith("option ")]
    for line in declared:
        match = re.fullmatch(
            r"option name (.+) type (spin|check|button|string)"
            r"(?: default (.*?))?(?: min (-?\d+) max (-?\d+))?",
            line,
        )
        assert match, line
        name, kind, default, least, most = match.groups()
        if kind == "spin":
            assert int(least) <= int(default) <= int(most)
        moff.send(f"setoption name {name.upper()}" + (f" value {default}" if kind != "button" else ""))
    assert moff.ready() == []
    moff.send("position startpos", f"go depth {DEPTH}")
    moff.until("bestmove")


# Odd input.


def test_odd_lines_leave_the_conversation_as_it_was(moff: Conversation) -> None:
    moff.send("position startpos moves g1f3")
    moff.ready()
    for data in (
        b"\n\r\n   \n\t\n",
        b"\0\0\0\n",
        b"position startpos moves e2e4\0\n",
        b"\xff" * 1000 + b"\n",
        b"a " * (1 << 19) + b"\n",
        b"position " + b"x" * (1 << 20) + b"\n",
        b"setoption name " + b"y" * (1 << 20) + b"\n",
        b"go perft " + b"9" * (1 << 20) + b"\n",
        b"xboard\nprotover 2\n",
        b"quit?\n",
    ):
        moff.send_bytes(data)
        for line in moff.ready():
            assert line.startswith("info string ")
            assert len(line) < 1000
        moff.send("d")
        assert any(line.startswith("Fen: rnbqkbnr/pppppppp/8/8/8/5N2") for line in moff.ready()), data[:20]


def test_a_game_may_have_thousands_of_moves(moff: Conversation) -> None:
    moves = "g1f3 g8f6 f3g1 f6g8 " * scaled(4000, 500)
    moff.send(f"position startpos moves {moves}", "d", "go depth 3")
    assert moff.until("Fen: rnbqkbnr/pppppppp/8/8/8/8/")[-1].endswith(f" {scaled(8001, 1001)}")
    moff.until("bestmove")


@pytest.mark.parametrize("first", [b"\xef\xbb\xbf", b"xboard\n"], ids=["a byte-order mark", "Arena"])
def test_uci_is_understood_behind_a_byte_order_mark_or_xboard(moff: Conversation, first: bytes) -> None:
    moff.send_bytes(first + b"uci\r\n")
    lines = [line for line in moff.until("uciok") if not line.startswith("info string")]
    assert lines[0].startswith("id name ")


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_output_escapes_characters_beyond_its_encoding(encoding: str) -> None:
    text = "setoption name \xff\u265e value 3\nisready\nsetoption name \udcfe\nisready\n"
    ended = run(text=text, env=os.environ | {"PYTHONIOENCODING": encoding})
    assert (ended.code, ended.errors) == (0, "")
    lines = [line for line in ended.output.splitlines() if "uncompiled" not in line]
    assert [line == "readyok" for line in lines] == [False, True, False, True]
    assert "\\u265e" in lines[0]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no sh")
@pytest.mark.parametrize("closing", ["<&-", ">&-", "<&- >&-", "<&- >&- 2>&-"])
def test_without_input_or_output_it_ends_quietly(closing: str) -> None:
    command = f"{'' if '<' in closing else 'echo uci | '}{shlex.join(ENGINE)} {closing}"
    ended = subprocess.run(["sh", "-c", command], capture_output=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, b"")


@pytest.mark.parametrize(
    "lines",
    [
        *("", "posi", "go infinite", "bench x\n", "go perft 9\nstop\n"),
        "setoption name Threads value 8\ngo infinite\nsetoption name Threads value 3\n",
        "setoption name Threads value 2\nbench 16 1 60\nstop\n",
    ],
)
def test_the_end_of_input_ends_everything_in_any_state(lines: str) -> None:
    ended = run(text=lines)
    assert (ended.code, ended.errors) == (0, "")
    assert ended.output.count("bestmove") == lines.count("infinite")


AT_WORK = ["go infinite", "perft 14", "bench 16 1 60", "perft 14\nisready\nquit", "isready"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(("moff", "command"), with_threads(AT_WORK, AT_WORK[:2]), indirect=["moff"])
def test_a_signal_ends_it_cleanly(moff: Conversation, number: int, command: str) -> None:
    moff.send(*command.split("\n"))
    if "quit" in command:
        moff.until("readyok")
    else:
        moff.ready()
    for _ in range(3):
        moff.process.send_signal(number)
        time.sleep(0.002)
    assert moff.process.wait(60) == (130 if number == signal.SIGINT else 0)
    if command == "go infinite":
        moff.until("bestmove ")
    assert moff.process.stderr.read() == b""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize(
    ("number", "command"), [(signal.SIGINT, "go infinite"), (signal.SIGTERM, "perft 14")]
)
def test_a_signal_ends_it_although_nobody_reads_its_output(number: int, command: str) -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen(ENGINE, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        process.stdin.write(f"{command}\n".encode() + b"help\n" * 1000)
        process.stdin.flush()
        time.sleep(scaled(0.5, 1.5))
        began = time.perf_counter()
        process.send_signal(number)
        try:
            assert process.wait(PATIENCE) == (130 if number == signal.SIGINT else 0)
        finally:
            process.kill()
        assert time.perf_counter() - began < 5, "half a second, but for a busy machine"
        assert process.stderr.read() == b""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows gives no reason why a pipe takes nothing")
def test_a_reader_that_goes_away_during_a_search_ends_the_process() -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen(ENGINE, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0) as process:
        process.stdin.write(b"go infinite\n")
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(60) == 0
        assert process.stderr.read() == b""


# The log.


def logged(path: Path) -> list[str]:
    """The lines of a log without their times."""
    lines = path.read_text(encoding="utf-8").splitlines()
    stamp = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} ")
    assert all(stamp.match(line) for line in lines)
    return [stamp.sub("", line, count=1) for line in lines]


def lists(lines: list[str]) -> list[set[str]]:
    return [set(line.removeprefix("Moves: ").split()) for line in lines if line.startswith("Moves: ")]


@pytest.mark.parametrize("words", [["log"], ["log", "other.log"], []])
def test_the_log_has_every_line_and_the_moves_before_every_move(words: list[str], tmp_path: Path) -> None:
    path = tmp_path / (words[1] if words[1:] else "moff.log")
    option = f"setoption name Debug Log File value {path}\n" * (not words)
    text = "position startpos\nposition startpos moves e2e4\nposition startpos moves e2e4 d7d5\n"
    text += "go depth 1\nisready\n"
    ended = run(*words, text=option + text, cwd=tmp_path)
    assert ended.code == 0
    lines = logged(path)
    assert lists(lines) == LISTS
    assert [line for line in lines if line[0] == "<"] == [f"< {line}" for line in text.splitlines()]
    said = [line.removeprefix("> ") for line in lines if line[0] == ">"]
    assert said == [line for line in ended.output.splitlines() if "uncompiled" not in line or line in said]


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text there")
def test_a_path_may_be_other_than_utf_8(moff: Conversation, tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(folder)
    shutil.copy(ROOT / "search" / "moff.net", os.fsdecode(folder + b"/n\xff.net"))
    moff.ready()
    moff.send_bytes(b"setoption name Debug Log File value " + folder + b"/m\xe9.log\n")
    moff.send_bytes(b"setoption name EvalFile value " + folder + b"/n\xff.net\n")
    assert moff.ready() == []
    assert set(os.listdir(folder)) == {b"m\xe9.log", b"n\xff.net"}


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text there")
@pytest.mark.parametrize("words", [["book", "check"], ["tb", "--check"], ["fens"], ["bench", "--file"]])
def test_messages_name_a_path_that_is_not_utf_8(words: list[str], tmp_path: Path) -> None:
    path = tmp_path / "caf\udce9"
    if words[0] == "book":
        path.touch()
    ended = run(*words, str(path), env=os.environ | {"PYTHONIOENCODING": "utf-8:strict"})
    assert r"caf\udce9" in ended.output + ended.errors
    assert "Traceback" not in ended.errors


@pytest.mark.parametrize("name", [".", "no/such/folder/x", "a\0b", "/dev/full"])
def test_an_unwritable_log_is_named_once_and_play_goes_on(moff: Conversation, name: str) -> None:
    if name == "/dev/full" and not os.path.exists(name):
        pytest.skip("needs a full device")
    moff.ready()
    moff.send(f"setoption name Debug Log File value {name}")
    (answer,) = (*moff.ready(), *moff.ready())
    assert answer.startswith(f"info string setoption: Debug Log File {name!r}: ")
    moff.send("go depth 1")
    moff.until("bestmove")
    if "\0" not in name:
        ended = run("log", name, text="uci\n")
        opens = name == "/dev/full"
        assert (ended.code, "uciok" in ended.output) == (not opens, True)
        (fault,) = (line for line in ended.output.splitlines() if "the log" in line)
        assert fault.startswith(f"info string the log {name!r}: ")
        assert fault.endswith("; Moff goes on without a log")


def test_a_log_has_all_of_its_games_until_it_ends(moff: Conversation, tmp_path: Path) -> None:
    moves = ["e2e4", "d7d5", "e4d5", "d8d5"]
    for count in range(3):
        moff.send(f"position startpos moves {' '.join(moves[:count])}")
    paths = tmp_path / "a  b.log", tmp_path / "second.log"
    for number, path in enumerate(paths):
        moff.send(f"no value setoption  name Debug Log  File value {path}")
        moff.ready()
        assert len(lists(logged(path))) == 3 + number
        moff.send(f"position startpos moves {' '.join(moves[: 3 + number])}")
        moff.ready()
    for number, path in enumerate(paths):
        found = lists(logged(path))
        assert (found[:3], len(found)) == (LISTS, 4 + number)
    assert "> readyok" not in logged(paths[0])[-1], "the second has taken over"
    path = tmp_path / "moff.log"
    moff.send(f"setoption name Debug Log File value {path}")
    for moves in ("e2e4", "e2e4 d7d5"):
        moff.send("ucinewgame", f"position startpos moves {moves}")
        moff.ready()
    assert lists(logged(path))[5:] == [*LISTS[:2], *LISTS]
    moff.send("setoption name Debug Log File value")
    moff.ready()
    before = path.read_bytes()
    moff.ready()
    assert path.read_bytes() == before
