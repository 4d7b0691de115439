"""The `moff` command and its exit codes: 0 done, 1 the input had faults, 2 wrong usage, 130 interrupted."""

import errno
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import chess
import pytest

from moff import __version__, commands
from search import benchmark
from tests import ROOT
from tests.client import ENGINE, PATIENCE
from tests.oracle import scaled

pytestmark = pytest.mark.slow


def moff(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*ENGINE, *arguments], capture_output=True, encoding="utf-8", timeout=300, stdin=subprocess.DEVNULL
    )


def test_version_and_help() -> None:
    assert moff("--version").stdout == f"Moff {__version__}\n"
    ended = moff("--help")
    assert ended.returncode == 0
    assert "bench" in ended.stdout
    assert "perft" in ended.stdout


@pytest.mark.parametrize(
    "how",
    [
        [],
        ["--threads", "1024", "--play-leaves"],
        ["--threads", "3", "--hash", "1"],
    ],
)
def test_perft_counts_both_ways(how: list[str]) -> None:
    ended = moff("perft", "3", *how)
    assert ended.returncode == 0
    assert re.fullmatch(
        r"8902 nodes \d+\.\d+ s \d+ nodes/s \((last ply counted|every leaf played)\)\n", ended.stdout
    )
    assert ("every leaf played" in ended.stdout) == ("--play-leaves" in how)


def test_perft_divides_alike_on_any_number_of_threads() -> None:
    ended = moff("perft", "1", "--divide", "--fen", "7k/8/8/8/8/8/7P/7K w - -")
    *moves, total = ended.stdout.splitlines()
    assert sorted(moves) == ["h1g1: 1", "h1g2: 1", "h2h3: 1", "h2h4: 1"]
    kiwipete = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
    printed = []
    for how in ([], ["--threads", "2"], ["--threads", "5", "--hash", "1"]):
        ended = moff("perft", "3", "--divide", "--fen", kiwipete, *how)
        assert ended.returncode == 0
        *moves, total = ended.stdout.splitlines()
        assert total.startswith("97862 nodes ")
        printed.append(moves)
    assert len(printed[0]) == 48
    assert printed[0] == printed[1] == printed[2]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what memory there is")
@pytest.mark.parametrize("words", ["perft 2 --hash 65536", "bench 65536"])
def test_a_table_that_does_not_fit_is_a_faulty_input(words: str) -> None:
    with open("/proc/meminfo", encoding="ascii") as file:
        free = next(int(line.split()[1]) >> 10 for line in file if line.startswith("MemTotal:"))
    if free > 60000:
        pytest.skip("the largest table fits")
    ended = moff(*words.split())
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "no 65536 MB of memory for the table" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_bad_fen_is_a_faulty_input() -> None:
    ended = moff("perft", "1", "--fen", "8/8/8/8/8/8/8/K6 w - - 0 1")
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert "rank 1" in ended.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["perft"],
        ["perft", "0"],
        ["perft", "2", "--threads", "1025"],
        ["perft", "2", "--hash", "65537"],
        ["perft", "2", "--hash", "1", "--play-leaves"],
        ["play", "--chess960", "960"],
        ["bench", "-1"],
        ["nonsense"],
    ],
)
def test_wrong_usage(arguments: list[str]) -> None:
    ended = moff(*arguments)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr != ""


@pytest.mark.parametrize("word", ["nonsense", "", " ", "Go"])
def test_an_unknown_command_is_named_with_where_to_look(word: str) -> None:
    ended = moff(word, "depth", "3")
    assert ended.returncode == 2
    assert f"unknown command {word!r}; moff --help" in ended.stderr


def test_a_bench_takes_its_arguments_in_the_order_of_stockfish_s_or_by_name() -> None:
    counts = [
        moff("bench", *words.split()).stdout.split()[0]
        for words in (
            "--depth 2",
            "16 1 2",
            "16 1 2 default depth",
            "16 1 --depth 2",
            "16 1 2 default depth NNUE",
        )
    ]
    assert set(counts) == {str(benchmark.Bench(benchmark.Settings(limit=2)).run().nodes)}


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("16 1 100 {} nodes", 200),
        ("--file {} --nodes 100", 200),
        ("16 1 2 {} perft", 400 + 2039),
        ("--file {} --perft 2 --threads 3", 400 + 2039),
        ("16 1 300 {} movetime", None),
    ],
)
def test_a_bench_searches_the_positions_of_a_file_to_another_limit(
    words: str, wanted: int | None, tmp_path: Path
) -> None:
    kiwipete = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1 ;D1 48 ;D2 2039"
    file = tmp_path / "two.fen"
    file.write_text(f"{chess.STARTING_FEN}\n\n{kiwipete}\n", encoding="ascii")
    ended = moff("bench", *words.format(file).split())
    nodes = int(ended.stdout.split()[0])
    assert (ended.returncode, nodes) == (0, wanted or nodes)
    assert "bench of 2 positions at " in ended.stderr
    assert f"\nNodes searched  : {nodes}\nNodes/second    : " in ended.stderr
    if wanted is None:
        assert 400 < int(re.search(r"Total time \(ms\) : (\d+)", ended.stderr)[1]) < 5000


@pytest.mark.parametrize(
    ("text", "reason"),
    [(None, os.strerror(errno.ENOENT)), ("", "no position"), ("startpos", "line 1: bad FEN 'startpos'")],
)
def test_a_file_without_positions_is_a_faulty_input(text: str | None, reason: str, tmp_path: Path) -> None:
    file = tmp_path / "x.fen"
    if text is not None:
        file.write_text(text, encoding="ascii")
    ended = moff("bench", "--depth", "1", "--file", str(file))
    assert (ended.returncode, ended.stdout) == (1, "")
    assert reason in ended.stderr


def test_a_bench_on_several_threads_says_how_many() -> None:
    ended = moff("bench", "2", "3", "2")
    assert ended.returncode == 0
    assert re.fullmatch(r"\d+ nodes \d+ nps \(3 threads\)", ended.stdout.splitlines()[-1])
    heading = "bench of 42 positions at depth 2, Hash 2, 3 threads: the node count differs from run to run\n"
    assert heading in ended.stderr


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("--hash x", "the hash size takes a whole number from 1 to 65536, not 'x'"),
        ("65537", "the hash size takes a whole number from 1 to 65536, not '65537'"),
        ("1 1025", "the number of threads takes a whole number from 1 to 1024, not '1025'"),
        ("1 2 0", "the limit takes a whole number from 1 to 1000000000000000, not '0'"),
        ("--perft 65", "the limit takes a whole number from 1 to 64, not '65'"),
        ("1 2 3 default time", "the kind of limit is depth, nodes, movetime or perft, not 'time'"),
        ("1 2 3 default depth 6", "it takes at most HASH THREADS LIMIT FILE KIND, not '6' as well"),
        ("16 --hash 8", "the hash is given twice: '16' and '8'"),
        ("--depth 6 --nodes 100", "argument --nodes: not allowed with argument --depth"),
    ],
)
def test_a_bad_value_of_bench_is_named_once(words: str, reason: str) -> None:
    ended = moff("bench", *words.split())
    assert ended.returncode == 2
    assert ended.stderr.count("error: ") == 1
    assert reason in ended.stderr.splitlines()[-1]


# UCI on the command line.


def test_words_of_uci_are_carried_out_to_their_end() -> None:
    ended = moff("go", "depth", "3")
    assert (ended.returncode, ended.stdout.splitlines()[-1].split()[0]) == (0, "bestmove")
    ended = moff("d")
    assert ended.returncode == 0
    assert f"Fen: {chess.STARTING_FEN}" in ended.stdout
    ended = moff("eval")
    assert re.search(r"^score [+-]\d+\.\d\d for White: wins", ended.stdout, re.MULTILINE)


@pytest.mark.parametrize(
    "arguments",
    [
        ["position", "startpos", "moves", "e2e4", "e7e5", "go", "perft", "2", "d"],
        ["position", "fen", "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2", "perft 2", "d"],
        ["uci", "position", "startpos moves e2e4 e7e5", "isready", "go", "perft", "2", "d", "quit", "d"],
    ],
)
def test_several_commands_follow_each_other(arguments: list[str]) -> None:
    ended = moff(*arguments)
    board = chess.Board()
    for text in ("e2e4", "e7e5"):
        board.push_uci(text)
    leaves = 0
    for move in board.legal_moves:
        board.push(move)
        leaves += board.legal_moves.count()
        board.pop()
    assert ended.returncode == 0
    assert f"Nodes searched: {leaves}\n" in ended.stdout
    assert ended.stdout.count("Fen: ") == 1
    assert "Fen: " in ended.stdout.split("Nodes searched: ")[1], "the board comes after the count"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["position", "fen", "8/8/8/8 w - - 0 1", "d"], "8/8/8/8"),
        (["go", "depth", "x"], "not 'x'"),
        (["go", "deep", "2", "depth", "1"], "unknown word 'deep'"),
        (["setoption", "name", "Hash", "value", "0"], "not '0'"),
    ],
)
def test_a_fault_in_words_of_uci_ends_with_1(arguments: list[str], reason: str) -> None:
    ended = moff(*arguments)
    assert ended.returncode == 1
    assert reason in ended.stdout
    assert "Traceback" not in ended.stderr


def test_the_names_that_come_before_uci_are_the_commands() -> None:
    usage = moff("--help").stdout
    listed = usage.split("COMMAND\n")[1].split("\n\n")[0]
    assert set(re.findall(r"^    (\w+)", listed, re.MULTILINE)) == set(commands.NAMES)
    assert "moff go depth 12" in usage
    usage = moff("bench", "--help").stdout
    assert "[HASH] [THREADS] [LIMIT] [FILE] [KIND]" in usage
    assert all(f"--{name} " in usage for name in ("hash", "threads", "file", *benchmark.KINDS))


@pytest.mark.parametrize("arguments", [["perft", "1", "--fen"], ["moves", "--fen"]])
def test_what_is_assumed_of_a_fen_is_said(arguments: list[str]) -> None:
    ended = moff(*arguments, "4k3/8/8/8/8/8/8/R3K3 w KQ")
    assert ended.returncode == 0
    assert "K is dropped" in ended.stderr
    assert "no half-move clock" in ended.stderr


# Interrupts.


def let_work(process: subprocess.Popen[Any], seconds: float) -> None:
    """Wait until a process has worked for some seconds, however little of the time is its."""
    stat = Path(f"/proc/{process.pid}/stat")
    if not stat.exists():
        time.sleep(seconds)
        return
    deadline = time.monotonic() + PATIENCE
    ticks = 0
    while ticks < seconds * os.sysconf("SC_CLK_TCK") and time.monotonic() < deadline:
        time.sleep(0.02)
        ticks = sum(map(int, stat.read_text(encoding="utf-8").rpartition(")")[2].split()[11:13]))


def interrupted(*arguments: str, seconds: float = scaled(1.0, 4.0)) -> tuple[int, str, str, float]:
    """What a command says that gets an interrupt after some seconds of work: exit code, standard output,
    standard error, and the seconds that it still took.
    """
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [*ENGINE, *arguments], stdin=pipe, stdout=pipe, stderr=pipe, encoding="utf-8"
    ) as process:
        let_work(process, seconds)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=PATIENCE)
        return process.returncode, output, errors, time.monotonic() - began


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize(
    "how", [[], ["--divide"], ["--play-leaves"], ["--threads", "3"], ["--threads", "2", "--hash", "16"]]
)
def test_an_interrupted_perft_ends_at_once_with_what_it_knows(how: list[str]) -> None:
    code, output, errors, seconds = interrupted("perft", "14", *how, seconds=scaled(1.5, 4.0))
    assert code == 130
    assert seconds < 10, "whole it takes years"
    assert re.fullmatch(r"\d+ nodes \d+\.\d+ s \d+ nodes/s so far \(interrupted at 0 %\)\n", output)
    assert "Traceback" not in errors


BUSY_START = """
import os, runpy, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), {number})

sys.meta_path.insert(0, Finder())
sys.argv = ["moff", *{arguments}]
sys.path.insert(0, {folder!r})
runpy.run_path({program!r}, run_name="__main__")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("program", ["engine.py", "moff/__main__.py"])
@pytest.mark.parametrize(
    ("module", "arguments"),
    [("signal", []), ("moff.messages", []), ("x88", ["bench"]), ("moff.commands", ["perft", "5"])],
)
def test_a_signal_during_start_up_ends_it_as_quietly_as_later(
    number: signal.Signals, program: str, module: str, arguments: list[str]
) -> None:
    code = BUSY_START.format(
        module=module, number=int(number), arguments=arguments, folder=str(ROOT), program=str(ROOT / program)
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], input="", capture_output=True, encoding="utf-8", timeout=60
    )
    assert (ended.stdout, ended.stderr) == ("", "")
    unheeded = -number if module == "signal" else 0  # nothing can be done about it yet
    assert ended.returncode == (130 if number == signal.SIGINT else unheeded)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a full device")
@pytest.mark.parametrize("arguments", [["perft", "3"], ["moves"], ["compiler"]])
def test_a_full_disk_behind_the_output_ends_with_1(arguments: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(
            [*ENGINE, *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("threads", ["1", "3"])
def test_an_interrupted_bench_says_how_far_it_came(threads: str) -> None:
    code, output, errors, seconds = interrupted("bench", "16", threads, "100", seconds=scaled(1.0, 4.0))
    assert code == 130
    assert seconds < 10, "also in the middle of a position"
    assert re.fullmatch(r"\d+ nodes so far \(interrupted after \d+ of 42 positions\)\n", output)
    assert "Traceback" not in errors


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("arguments", [["go", "infinite"], ["go", "depth", "100"], ["go", "perft", "14"]])
def test_interrupted_words_of_uci_end_with_what_is_known(arguments: list[str]) -> None:
    code, output, errors, _ = interrupted(*arguments)
    assert code == 130
    last = "info string perft stopped" if "perft" in arguments else "bestmove "
    assert output.splitlines()[-1].startswith(last)
    assert "Traceback" not in errors


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_interrupted_fens_are_counted() -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen([*ENGINE, "fens", "-"], stdin=pipe, stdout=pipe, stderr=pipe) as process:
        # The pipe is not at its end: there is more to wait for.
        process.stdin.write(b'[Event "x"]\n\n1. e4 e5 *\n\n' * 100)
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        assert re.search(rb"-: interrupted after \d+ games?\n", process.stderr.read())


@pytest.mark.parametrize("way", ["the current folder", "PYTHONPATH"])
@pytest.mark.parametrize(
    "command",
    [ENGINE, [sys.executable, "-m", "moff"], [sys.executable, "-c", "from moff.main import main; main()"]],
)
def test_it_starts_where_own_files_have_the_names_of_moff_s(
    command: list[str], way: str, tmp_path: Path
) -> None:
    own, empty = tmp_path / "own", tmp_path / "empty"
    for folder in (own, empty):
        folder.mkdir()
    for name in ("engine", "search", "x88"):
        (own / f"{name}.py").write_text("raise SystemExit('this is not Moff')\n", encoding="utf-8")
    folder, path = (own, [ROOT]) if way == "the current folder" else (empty, [own, ROOT])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    for arguments, text, last in ([], "uci\n", "uciok"), (["perft", "2"], "", "400 nodes"):
        ended = subprocess.run(
            [*command, *arguments],
            input=text,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            cwd=folder,
            env=environment,
        )
        assert ended.stdout.splitlines()[-1].startswith(last), ended.stderr
