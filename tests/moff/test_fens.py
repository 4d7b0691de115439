"""`moff fens`: the FEN after every move of a PGN file."""

import io
import json
import logging
import os
import shlex
import subprocess
import sys
from pathlib import Path

import chess.pgn
import pytest

from tests.client import ENGINE, PATIENCE, call
from tests.oracle import scaled
from x88 import build
from x88.notation import pgn

logging.getLogger("chess.pgn").setLevel(logging.CRITICAL)

SAMPLE = """[Event "first \\"game\\""]
[White "Müller"]
[Result "1-0"]

{start} 1. e4 $1 {best by test} e5 2. Nf3 (2. f4 {King's} exf4 (2... d5 3. exd5) 3. Nf3) 2... Nc6 $6
3. Bc4 d6 4. O-O Nf6 5. Re1 Be7 6. d4 O-O 1-0

[Event "second"]
[Result "*"]
[SetUp "1"]
[FEN "4k3/P7/8/8/4Pp2/8/7p/4K3 b - e3 7 40"]

40... fxe3 41. a8=Q+ Kd7 42. Qd5+ *

[Event "no moves"]
[Result "0-1"]

0-1

1. d4 d5 2. c4 1/2-1/2
"""
DAMAGED = '[Event "damaged"]\n\n1. e4 e5\n2. Ke3 Nc6 1-0\n\n'
LAST = '[Event "last"]\n\n1. c4 c5 1/2-1/2\n'


def expected_fens(text: str) -> list[str]:
    """The FEN after every move of the main lines, by python-chess."""
    stream = io.StringIO(text)
    found = []
    while (game := chess.pgn.read_game(stream)) is not None:
        board = game.board()
        for move in game.mainline_moves():
            board.push(move)
            found.append(board.fen())
    return found


@pytest.fixture
def sample(tmp_path: Path) -> str:
    path = tmp_path / "sample.pgn"
    path.write_text(SAMPLE, encoding="utf-8")
    return str(path)


def test_the_fens_of_a_file_match_python_chess(sample: str) -> None:
    ended = call("fens", sample)
    assert ended.output.splitlines() == expected_fens(SAMPLE)
    assert len(expected_fens(SAMPLE)) == 19
    assert (ended.code, ended.errors) == (0, "")


def test_games_of_a_pipe_are_printed_before_it_ends() -> None:
    with subprocess.Popen([*ENGINE, "fens", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        # So much fits into the pipe, and its FENs do not fit into the output's buffer.
        process.stdin.write(SAMPLE.encode() * 60)
        process.stdin.flush()
        first = process.stdout.readline().decode().strip()
        process.stdin.close()
        rest = process.stdout.read().decode().splitlines()
    assert [first, *rest] == expected_fens(SAMPLE) * 60


def test_json_has_everything_in_a_game(sample: str) -> None:
    ended = call("fens", "--json", sample)
    assert ended.code == 0
    games = [json.loads(line) for line in ended.output.splitlines()]
    assert games == [game.as_dict() for game in pgn.Reader(io.BytesIO(SAMPLE.encode()))]
    assert [move["fen"] for game in games for move in game["moves"]] == expected_fens(SAMPLE)
    first, second, third, _ = games
    assert first["tags"] == {"Event": 'first "game"', "White": "Müller", "Result": "1-0"}
    assert (first["comment"], first["result"], first["faults"]) == ("start", "1-0", [])
    e4, _e5, f3, c6, *_ = first["moves"]
    assert (e4["san"], e4["nags"], e4["comment"]) == ("e4", [1], "best by test")
    assert c6["nags"] == [6]
    ((line,),) = [f3["variations"]]
    assert [move["san"] for move in line["moves"]] == ["f4", "exf4", "Nf3"]
    assert line["moves"][0]["comment"] == "King's"
    assert [move["san"] for move in line["moves"][1]["variations"][0]["moves"]] == ["d5", "exd5"]
    assert second["start"] == second["tags"]["FEN"]
    assert (third["moves"], third["result"]) == ([], "0-1")


def test_a_damaged_game_is_reported_and_the_others_are_printed(tmp_path: Path) -> None:
    text = SAMPLE + "\n" + DAMAGED + LAST
    path = tmp_path / "damaged.pgn"
    path.write_text(text, encoding="utf-8")
    line = text[: text.index("2. Ke3")].count("\n") + 1
    printed = []
    for options in ([], ["--json"]):
        ended = call("fens", *options, str(path))
        assert ended.code == 1
        complaint, count = ended.errors.splitlines()
        assert complaint.startswith(f"{path}: game 5, line {line}: 'Ke3' is not a legal move: ")
        assert count == f"{path}: 1 of 6 games is damaged"
        printed.append(ended.output.splitlines())
    assert printed[0] == expected_fens(text.replace("2. Ke3 Nc6 ", ""))
    games = [json.loads(line) for line in printed[1]]
    assert [len(game["moves"]) for game in games] == [12, 4, 0, 3, 2, 2]
    assert [fault["line"] for fault in games[4]["faults"]] == [line]


def test_a_file_without_moves_prints_no_fen(tmp_path: Path) -> None:
    path = tmp_path / "x.pgn"
    for data in (b"", b"\n\n"):
        path.write_bytes(data)
        assert call("fens", str(path)) == (0, "", f"{path} holds no game\n")
    path.write_bytes(b'[Event "x"]\n')
    assert call("fens", str(path)) == (0, "", "")
    path.write_bytes(b"\xff\xfe\x00\x01")
    ended = call("fens", str(path))
    assert (ended.code, ended.output) == (1, "")
    assert ended.errors.startswith(f"{path}: ")


def test_the_error_names_an_unreadable_file(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.pgn", tmp_path):
        ended = call("fens", str(path))
        assert (ended.code, ended.output) == (1, "")
        (complaint,) = ended.errors.splitlines()
        assert complaint.startswith(f"{path}: ")
    ended = call("fens")
    assert (ended.code, ended.output) == (2, "")
    assert "FILE.pgn" in ended.errors


@pytest.mark.skipif(sys.platform == "win32", reason="Windows gives no reason why a pipe takes nothing")
def test_a_reader_may_stop_reading(tmp_path: Path) -> None:
    path = tmp_path / "big.pgn"
    path.write_text(SAMPLE * 1000, encoding="utf-8")
    command, pipe = [*ENGINE, "fens", str(path)], subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe) as process:
        assert process.stdout.readline().decode().strip() == expected_fens(SAMPLE)[0]
        process.stdout.close()
        errors = process.stderr.read()
        assert process.wait(PATIENCE) == 0
    assert errors.count(b"\n") == (not build.compiled)


# --- The progress bar


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_terminal_shows_the_progress_and_the_faults(tmp_path: Path) -> None:
    pexpect = pytest.importorskip("pexpect")
    path, out = tmp_path / "big.pgn", tmp_path / "out"
    times = scaled(12000, 600)
    middle = DAMAGED + LAST + "\n"
    path.write_text((SAMPLE + "\n") * times + middle + (SAMPLE + "\n") * times, encoding="utf-8")
    command = f"{shlex.join([*ENGINE, 'fens', str(path)])} > {out}"
    seen = pexpect.run(shlex.join(["sh", "-c", command]), encoding="utf-8", timeout=PATIENCE)
    output = out.read_text(encoding="utf-8")
    wanted = expected_fens(SAMPLE) * times
    assert output.splitlines() == [*wanted, *expected_fens(middle.replace("2. Ke3 Nc6 ", "")), *wanted]
    drawn = [text for text in seen.split("\r") if text.startswith("[")]
    shares = [int(text[text.index("]") + 1 : text.index("%")]) for text in drawn]
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] <= 100
    assert all(f"games{os.linesep}" not in text and "game" in text for text in drawn)
    # The bar is wiped before a line.
    assert f"\r\033[K{path}: game {4 * times + 1}, line " in seen
    assert seen.endswith(f"\r\033[K{path}: 1 of {8 * times + 2} games is damaged\r\n")
