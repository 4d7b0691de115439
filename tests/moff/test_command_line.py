"""The `moff` command and its exit codes: 0 done, 1 the input had faults, 2 wrong usage, 130 interrupted."""

import errno
import os
import re
import shlex
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
from tests.client import ENGINE, PATIENCE, call, run
from tests.oracle import reference_perft, scaled
from tests.searches import KIWIPETE

MEMORY = Path("/proc/meminfo")

on_unix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")


def test_version_and_help() -> None:
    assert call("--version").output == f"Moff {__version__}\n"
    usage = call("--help").output
    listed = usage.split("COMMAND\n")[1].split("\n\n")[0]
    assert set(re.findall(r"^    (\w+)", listed, re.MULTILINE)) == set(commands.NAMES)
    assert "moff go depth 12" in usage
    usage = call("bench", "--help").output
    assert "[HASH] [THREADS] [LIMIT] [FILE] [KIND]" in usage
    assert all(f"--{name} " in usage for name in ("hash", "threads", "file", *benchmark.KINDS))


@pytest.mark.parametrize(
    "how", ["", "--threads 2", "--threads 1024 --play-leaves", "--threads 5 --hash 1"], ids=str.split
)
def test_perft_counts_and_divides(how: str) -> None:
    board = chess.Board(KIWIPETE)
    wanted = []
    for move in board.legal_moves:
        board.push(move)
        wanted.append(f"{move}: {reference_perft(board, 1)}")
        board.pop()
    for words in ([], ["--divide"]):
        ended = call("perft", "2", "--fen", KIWIPETE, *how.split(), *words)
        *moves, total = ended.output.splitlines()
        assert ended.code == 0
        assert sorted(moves) == (sorted(wanted) if words else [])
        way = "every leaf played" if "--play-leaves" in how else "last ply counted"
        assert re.fullmatch(rf"2039 nodes \d+\.\d+ s \d+ nodes/s \({way}\)", total)


@pytest.mark.slow
def test_bench_takes_its_arguments_in_stockfish_s_order_or_by_name() -> None:
    nodes = benchmark.Bench(benchmark.Settings(limit=1)).run().nodes
    for words in ("--depth 1", "16 1 1 default depth NNUE", "16 1 --depth 1"):
        assert call("bench", *words.split()).output.split()[0] == str(nodes)
    ended = call("bench", "2", "3", "1")
    assert re.fullmatch(r"\d+ nodes \d+ nps \(3 threads\)", ended.output.splitlines()[-1])
    what = "42 positions at depth 1, Hash 2, 3 threads: the node count differs from run to run"
    assert f"bench of {what}\n" in ended.errors


def test_bench_searches_the_positions_of_a_file_to_another_limit(tmp_path: Path) -> None:
    file = tmp_path / "two.fen"
    file.write_text(f"{chess.STARTING_FEN}\n\n{KIWIPETE} ;D1 48 ;D2 2039\n", encoding="ascii")
    for words, wanted in {
        "16 1 100 {} nodes": 200,
        "--file {} --nodes 100": 200,
        "16 1 2 {} perft": 400 + 2039,
        "--file {} --perft 2 --threads 3": 400 + 2039,
        "16 1 100 {} movetime": None,
    }.items():
        ended = call("bench", *words.format(file).split())
        nodes = int(ended.output.split()[0])
        assert (ended.code, nodes) == (0, wanted or nodes)
        assert "bench of 2 positions at " in ended.errors
        assert f"\nNodes searched  : {nodes}\nNodes/second    : " in ended.errors
    assert 150 < int(re.search(r"Total time \(ms\) : (\d+)", ended.errors)[1]) < 5000


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("perft 2 --hash 65536", "no 65536 MB of memory for the table"),
        ("bench 65536", "no 65536 MB of memory for the table"),
        ("perft 1 --fen '8/8/8/8/8/8/8/K6 w - - 0 1'", "rank 1"),
        ("bench --depth 1 --file missing.fen", os.strerror(errno.ENOENT)),
        ("bench --depth 1 --file empty.fen", "no position"),
        ("bench --depth 1 --file odd.fen", "line 1: bad FEN 'startpos'"),
        # UCI says so on standard output.
        ("position fen '8/8/8/8 w - - 0 1' d", "8/8/8/8"),
        ("go depth x", "not 'x'"),
        ("go deep 2 depth 1", "unknown word 'deep'"),
        ("go dpeth 5", "unknown word 'dpeth' (and 1 more)"),
        ("position startpos d deep", "unknown word 'deep'"),
        ("setoption name Hash value 0", "not '0'"),
        ("setoption name Hash value 65536", "setoption: Hash: no 65536 MB of memory for the table"),
    ],
)
def test_bad_input_exits_1(words: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = re.findall(r"MemTotal: +(\d+)", MEMORY.read_text(encoding="ascii") if MEMORY.exists() else "")
    if "65536" in words and (not memory or int(memory[0]) > 60000 << 10):
        pytest.skip("the largest table fits, or the system does not tell")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.fen").touch()
    (tmp_path / "odd.fen").write_text("startpos", encoding="ascii")
    ended = call(*shlex.split(words))
    assert ended.code == 1
    is_uci = words.startswith(("position", "go", "setoption"))
    assert reason in (ended.output if is_uci else ended.errors)
    assert (ended.errors if is_uci else ended.output) == ""


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("nonsense depth 3", "unknown command 'nonsense'; moff --help"),
        ("reveiw games.pgn", "unknown command 'reveiw'; did you mean review?"),
        ("--versoin", "moff: error: unrecognized arguments: --versoin; did you mean --version?"),
        ("--nonsense", "moff: error: unrecognized arguments: --nonsense"),
        ("perft 1 --thraeds=2 3", "unrecognized arguments: --thraeds=2 3; did you mean --threads?"),
        ("picture -o x.PNG", "--output: pictures are SVG: give a name such as board.svg, not x.PNG"),
        ("'' depth 3", "unknown command ''; moff --help"),
        ("' ' depth 3", "unknown command ' '; moff --help"),
        ("Go depth 3", "unknown command 'Go'; moff --help"),
        ("perft", "the following arguments are required: DEPTH"),
        ("perft 1 2", "moff perft: error: unrecognized arguments: 2"),
        ("perft 0", "argument DEPTH: it takes a whole number from 1"),
        ("perft 2 --threads 1025", "argument --threads: it takes a whole number from 1 to 1024, not '1025'"),
        ("perft 2 --hash 65537", "argument --hash: it takes a whole number from 1 to 65536, not '65537'"),
        ("perft 2 --hash 1 --play-leaves", "argument --play-leaves: not allowed with argument --hash"),
        ("play --chess960 960", "argument --chess960: it takes a whole number from 0 to 959, not '960'"),
        ("bench -1", "the hash size takes a whole number from 1 to 65536, not '-1'"),
        ("bench --hash x", "the hash size takes a whole number from 1 to 65536, not 'x'"),
        ("bench 65537", "the hash size takes a whole number from 1 to 65536, not '65537'"),
        ("bench 1 1025", "the number of threads takes a whole number from 1 to 1024, not '1025'"),
        ("bench 1 2 0", "the limit takes a whole number from 1 to 1000000000000000, not '0'"),
        ("bench --perft 65", "the limit takes a whole number from 1 to 64, not '65'"),
        ("bench 1 2 3 default time", "the kind of limit is depth, nodes, movetime or perft, not 'time'"),
        ("bench 1 2 3 default depth 6", "it takes at most HASH THREADS LIMIT FILE KIND, not '6' as well"),
        ("bench 16 --hash 8", "the hash is given twice: '16' and '8'"),
        ("bench --depth 6 --nodes 100", "argument --nodes: not allowed with argument --depth"),
    ],
)
def test_wrong_usage_ends_with_2(words: str, reason: str) -> None:
    ended = call(*shlex.split(words))
    assert (ended.code, ended.output) == (2, "")
    assert ended.errors.count("error: ") == 1
    assert reason in ended.errors.splitlines()[-1]


@pytest.mark.parametrize("words", ["perft 1 --fen", "moves --fen", "picture"])
def test_assumptions_about_a_fen_are_reported(words: str) -> None:
    ended = call(*words.split(), "4k3/8/8/8/8/8/8/R3K3 w KQ")
    assert ended.code == 0
    assert "K is dropped" in ended.errors
    assert "no half-move clock" in ended.errors


def test_words_of_uci_are_carried_out_to_their_end() -> None:
    ended = call("go", "depth", "3")
    assert (ended.code, ended.output.splitlines()[-1].split()[0]) == (0, "bestmove")
    assert re.search(r"^score [+-]\d+\.\d\d for White: wins", call("eval").output, re.MULTILINE)


@pytest.mark.parametrize(
    "words",
    [
        "position startpos moves e2e4 e7e5 go perft 2 d",
        "position fen 'rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2' 'perft 2' d",
        "uci position 'startpos moves e2e4 e7e5' isready go perft 2 d quit d",
    ],
)
def test_several_commands_follow_each_other(words: str) -> None:
    ended = call(*shlex.split(words))
    board = chess.Board()
    board.push_san("e4")
    board.push_san("e5")
    assert ended.code == 0
    before, after = ended.output.split(f"Nodes searched: {reference_perft(board, 2)}\n")
    assert ("Fen: " in before, after.count(f"Fen: {board.fen()}")) == (False, 1)


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


PERFT = r"\d+ nodes \d+\.\d+ s \d+ nodes/s so far \(interrupted at 0 %\)"
BENCH = r"\d+ nodes so far \(interrupted after \d+ of 42 positions\)"


@on_unix
@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "last"),
    [
        *((f"perft 14 {how}", PERFT) for how in ("", "--divide --play-leaves", "--threads 3 --hash 16")),
        *((f"bench 16 {threads} 100", BENCH) for threads in (1, 3)),
        ("go infinite", r"(?s:.*)^bestmove .+"),
        ("go perft 14", r"(?s:.*)^info string perft stopped.*"),
    ],
)
def test_an_interrupted_command_ends_at_once_with_its_result_so_far(words: str, last: str) -> None:
    pipe = subprocess.PIPE
    command = [*ENGINE, *words.split()]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, encoding="utf-8") as process:
        let_work(process, scaled(0.7, 2.0))
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        output, errors = process.communicate(timeout=PATIENCE)
        assert time.monotonic() - began < 10
    assert process.returncode == 130
    assert re.fullmatch(last, output.strip(), re.MULTILINE)
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


@on_unix
@pytest.mark.parametrize(
    ("number", "program"), [(signal.SIGINT, "engine.py"), (signal.SIGTERM, "moff/__main__.py")]
)
@pytest.mark.parametrize(
    "case", [("signal", []), ("moff.messages", []), ("x88", ["bench"]), ("moff.commands", ["perft", "5"])]
)
def test_signal_ends_the_start(number: signal.Signals, program: str, case: tuple[str, list[str]]) -> None:
    module, arguments = case
    names = {"module": module, "arguments": arguments, "folder": str(ROOT), "program": str(ROOT / program)}
    code = BUSY_START.format(number=int(number), **names)
    unheeded = -number if module == "signal" else 0  # nothing can be done about it yet
    wanted = 130 if number == signal.SIGINT else unheeded
    assert run(code, command=[sys.executable, "-c"]) == (wanted, "", "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a full device")
@pytest.mark.parametrize("words", ["moves", "compiler", "", "--help", "perft -h"])
def test_a_full_disk_behind_the_output_ends_with_1(words: str) -> None:
    with open("/dev/full", "wb") as full:
        command, pipe = [*ENGINE, *words.split()], subprocess.PIPE
        ended = subprocess.run(
            command, input="uci\n", stdout=full, stderr=pipe, encoding="utf-8", timeout=PATIENCE
        )
    assert ended.returncode == 1
    assert ended.stderr.endswith(f"standard output: {os.strerror(errno.ENOSPC)}\n")
    assert "Traceback" not in ended.stderr


@on_unix
def test_interrupted_fens_are_counted() -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen([*ENGINE, "fens", "-"], stdin=pipe, stdout=pipe, stderr=pipe) as process:
        # The pipe is not at its end: there is more to wait for.
        process.stdin.write(b'[Event "x"]\n\n1. e4 e5 *\n\n' * 500)
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        assert re.search(rb"-: interrupted after \d+ games?\n", process.stderr.read())


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [ENGINE, [sys.executable, "-m", "moff"], [sys.executable, "-c", "from moff.main import main; main()"]],
)
def test_it_starts_beside_own_files_with_names_of_moff_s(command: list[str], tmp_path: Path) -> None:
    own, empty = tmp_path / "own", tmp_path / "empty"
    own.mkdir()
    empty.mkdir()
    for name in ("engine", "search", "x88"):
        (own / f"{name}.py").write_text("raise SystemExit('this is not Moff')\n", encoding="utf-8")
    for folder, path, arguments, text, last in (
        (own, [ROOT], [], "uci\n", "uciok"),
        (own, [ROOT], ["perft", "2"], "", "400 nodes"),
        (empty, [own, ROOT], ["perft", "2"], "", "400 nodes"),
    ):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
        ended = run(*arguments, text=text, command=command, cwd=folder, env=environment)
        assert ended.output.splitlines()[-1].startswith(last), ended.errors
