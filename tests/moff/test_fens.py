"""`moff fens`: the FEN after every move of a PGN file, from the real process."""

import io
import json
import logging
import os
import subprocess
import sys
import threading
from pathlib import Path

import chess.pgn
import pytest

from tests.client import ENGINE, PATIENCE
from tests.oracle import scaled
from x88.notation import pgn

pytestmark = pytest.mark.slow

try:
    import pty
except ImportError:  # Windows
    pty = None

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


def fens(*arguments: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*ENGINE, "fens", *arguments], capture_output=True, input=data, timeout=PATIENCE)


def quiet(ended: subprocess.CompletedProcess[bytes]) -> bool:
    """Whether nothing was said on standard error, but that the source runs uncompiled."""
    return all(line.startswith(b"Moff runs uncompiled") for line in ended.stderr.splitlines())


def complaints(ended: subprocess.CompletedProcess[bytes]) -> list[str]:
    lines = ended.stderr.decode().splitlines()
    return [line for line in lines if not line.startswith("Moff runs uncompiled")]


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


def test_the_fens_of_a_file_are_those_of_python_chess(sample: str) -> None:
    ended = fens(sample)
    assert ended.stdout.decode().splitlines() == expected_fens(SAMPLE)
    assert len(expected_fens(SAMPLE)) == 19
    assert ended.returncode == 0
    assert quiet(ended)


def test_from_a_pipe_games_are_printed_before_the_input_ends() -> None:
    with subprocess.Popen([*ENGINE, "fens", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        # So much fits into the pipe, and its FENs do not fit into the output's buffer.
        process.stdin.write(SAMPLE.encode() * 60)
        process.stdin.flush()
        first = process.stdout.readline().decode().strip()
        process.stdin.close()
        rest = process.stdout.read().decode().splitlines()
    assert [first, *rest] == expected_fens(SAMPLE) * 60


def test_json_tells_all_that_a_game_holds(sample: str) -> None:
    ended = fens("--json", sample)
    assert ended.returncode == 0
    games = [json.loads(line) for line in ended.stdout.decode().splitlines()]
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


def test_a_damaged_game_is_complained_about_and_the_others_are_printed(tmp_path: Path) -> None:
    text = SAMPLE + "\n" + DAMAGED + LAST
    path = tmp_path / "damaged.pgn"
    path.write_text(text, encoding="utf-8")
    line = text[: text.index("2. Ke3")].count("\n") + 1
    for arguments in (["fens"], ["fens", "--json"]):
        ended = fens(*arguments[1:], str(path))
        assert ended.returncode == 1
        complaint, count = complaints(ended)
        assert complaint.startswith(f"{path}: game 5, line {line}: 'Ke3' is not a legal move: ")
        assert count == f"{path}: 1 of 6 games is damaged"
    games = [json.loads(line) for line in ended.stdout.decode().splitlines()]
    assert [len(game["moves"]) for game in games] == [12, 4, 0, 3, 2, 2]
    assert [fault["line"] for fault in games[4]["faults"]] == [line]
    good = SAMPLE + "\n" + '[Event "damaged"]\n\n1. e4 e5 1-0\n\n' + LAST
    assert fens(str(path)).stdout.decode().splitlines() == expected_fens(good)


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xff\xfe\x00\x01", b'[Event "x"]\n'])
def test_a_file_without_moves_prints_nothing(data: bytes) -> None:
    ended = fens("-", data=data)
    assert ended.stdout == b""
    assert ended.returncode == (1 if b"\xff" in data else 0)
    assert bool(complaints(ended)) == (b"\xff" in data)
    assert b"Traceback" not in ended.stderr


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.pgn", tmp_path):
        ended = fens(str(path))
        assert (ended.returncode, ended.stdout) == (1, b"")
        (complaint,) = complaints(ended)
        assert complaint.startswith(f"{path}: ")
    ended = fens()
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert b"FILE.pgn" in ended.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Windows gives no reason why a pipe takes nothing")
def test_a_reader_that_has_had_enough_is_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "big.pgn"
    path.write_text(SAMPLE * 1000, encoding="utf-8")
    with subprocess.Popen(
        [*ENGINE, "fens", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout.readline().decode().strip() == expected_fens(SAMPLE)[0]
        process.stdout.close()
        said = process.stderr.read()
        process.wait(PATIENCE)
    assert process.returncode == 0
    assert quiet(subprocess.CompletedProcess([], 0, b"", said))


# --- The progress bar


def on_terminal(path: Path) -> tuple[str, str]:
    """What a process whose standard error is a terminal and whose output is a pipe writes to either."""
    ours, theirs = pty.openpty()
    said: list[bytes] = []

    def listen() -> None:
        try:
            while block := os.read(ours, 4096):
                said.append(block)
        except OSError:  # the other end is closed
            pass

    listener = threading.Thread(target=listen)
    with subprocess.Popen([*ENGINE, "fens", str(path)], stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        listener.start()
        output = process.stdout.read().decode()
    listener.join()
    os.close(ours)
    return output, b"".join(said).decode()


@pytest.mark.skipif(pty is None, reason="needs pseudo-terminals")
def test_a_terminal_sees_how_far_the_reading_has_come_and_nothing_of_it_stays(tmp_path: Path) -> None:
    path = tmp_path / "big.pgn"
    times = scaled(10_000, 250)
    path.write_text(SAMPLE * times, encoding="utf-8")
    output, said = on_terminal(path)
    assert output.splitlines() == expected_fens(SAMPLE) * times
    drawn = [text for text in said.split("\r") if text.startswith("[")]
    assert drawn
    shares = [int(text[text.index("]") + 1 : text.index("%")]) for text in drawn]
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] <= 100
    assert all(f"games{os.linesep}" not in text and "game" in text for text in drawn)
    # The bar is wiped at the end.
    assert said.endswith("\r\033[K")


@pytest.mark.skipif(pty is None, reason="needs pseudo-terminals")
def test_complaints_on_a_terminal_have_lines_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "damaged.pgn"
    path.write_text((SAMPLE + "\n") * scaled(5000, 150) + DAMAGED + LAST, encoding="utf-8")
    _, said = on_terminal(path)
    lines = [line.rsplit("\033[K", 1)[-1].strip() for line in said.split("\n")]
    assert any(line.startswith(f"{path}: game ") for line in lines)
    assert any(line.endswith("games is damaged") for line in lines)
