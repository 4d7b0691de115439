"""bench/perft.py in pieces: processes and a cluster count the same, and a count that was interrupted or
killed goes on where it was.
"""

import importlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from tests.oracle import STARTS, scaled
from tests.test_perft import OWN, deepest
from x88 import build, coordinate, fen
from x88.divide import DividedPerft, perft
from x88.movegen import legal_moves

HERE = Path(__file__).resolve().parent
SCRIPT = HERE.parent / "bench" / "perft.py"

sys.path.append(str(SCRIPT.parent))
pieces: Any = importlib.import_module("pieces")

KIWIPETE = STARTS[1]
DEPTH = scaled(4, 3)
LEAVES = {3: 97862, 4: 4085603}[DEPTH]
SMALL = scaled(200_000, 3_000)
"""Leaves of a piece, so that there are some dozens."""

LONG = scaled(5, 4)
"""Plies from the start position that take a while in small pieces."""


def run(*arguments: object, folder: Path) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("tabulate", reason="the bench extra is not installed")
    pytest.importorskip("tqdm", reason="the bench extra is not installed")
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, encoding="utf-8", timeout=300, cwd=folder, check=False
    )


def kiwipete(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Count a position in small pieces."""
    position = ["--fen", KIWIPETE, "--depth", DEPTH, "--piece", SMALL]
    return run(*position, "--pieces", "a.pieces", *arguments, folder=folder)


def divided(text: str, depth: int) -> list[str]:
    """What a deep perft prints of its moves."""
    board = fen.parse(text)
    return [f"{coordinate.write(move)}: {leaves}" for move, leaves in DividedPerft(board, depth).run()]


# Cutting.


@pytest.mark.parametrize("text", STARTS)
@pytest.mark.parametrize("most", [1, 50, 10**9])
@pytest.mark.parametrize("plies", [0, 1, 2])
def test_the_pieces_of_a_tree_are_the_tree(text: str, most: int, plies: int) -> None:
    firsts: dict[str, int] = {}
    for tree, ways in pieces.cut(pieces.Tree(text, 3), most, plies).items():
        assert tree.depth <= 3 - plies
        leaves = perft(fen.parse(tree.fen), tree.depth)
        for first, number in ways.items():
            firsts[first] = firsts.get(first, 0) + number * leaves
    if plies:
        known = {line for line in divided(text, 3) if not line.endswith(": 0")}
        assert {f"{first}: {leaves}" for first, leaves in firsts.items() if leaves} == known
    assert sum(firsts.values()) == perft(fen.parse(text), 3)


def test_a_position_reached_in_several_ways_is_one_piece() -> None:
    cut = pieces.cut(pieces.Tree(fen.START, 5), 30)
    ways = [sum(firsts.values()) for firsts in cut.values()]
    assert sum(ways) == 8902
    assert len(ways) == 5362, "the positions after three plies"
    assert {tree.depth for tree in cut} == {2}


# Processes.


@pytest.mark.parametrize("how", [[], ["--workers", 3], ["--workers", 2, "--threads", 2, "--hash", 1]])
def test_processes_count_a_position_move_by_move(tmp_path: Path, how: list[object]) -> None:
    ended = kiwipete(tmp_path, *how)
    assert ended.returncode == 0, ended.stderr
    *moves, empty, total = ended.stdout.splitlines()
    assert moves == divided(KIWIPETE, DEPTH)
    assert empty == ""
    assert re.fullmatch(rf"{LEAVES} nodes \d+\.\d+ s \d+ nodes/s \(the time of all workers\)", total)
    assert len((tmp_path / "a.pieces").read_text(encoding="ascii").splitlines()) > 40


@pytest.mark.parametrize("depth", [1, 2])
def test_a_count_of_few_plies_is_shown_move_by_move_too(tmp_path: Path, depth: int) -> None:
    text = "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1"  # a mate in one among the moves
    ended = run("--fen", text, "--depth", depth, folder=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[:-2] == divided(text, depth)


def test_processes_count_a_suite(tmp_path: Path) -> None:
    suite = HERE / "perft.epd"
    most = scaled(100_000, 2_000)
    options = ["--max-nodes", most, "--workers", 2, "--piece", most, "--hash", 1]
    ended = run(suite, *options, folder=tmp_path)
    assert ended.returncode == 0, ended.stderr
    rows = [line.split() for line in ended.stdout.splitlines() if " ok " in line]
    counted = [(counts[deepest(counts, most)], deepest(counts, most)) for _, counts in OWN]
    expected = [[str(depth), f"{leaves:,}"] for leaves, depth in counted if leaves <= most]
    assert [row[1:3] for row in rows] == expected
    assert "WRONG" not in ended.stdout


def test_a_wrong_count_of_a_suite_is_told(tmp_path: Path) -> None:
    suite = tmp_path / "suite.epd"
    suite.write_text(f"{fen.START} ;D1 20 ;D2 400\n{KIWIPETE} ;D1 48 ;D2 2038\n", encoding="utf-8")
    ended = run(suite, "--workers", 1, folder=tmp_path)
    assert ended.returncode == 1, ended.stderr
    assert "line 2, depth 2: perft counts 2,039, not 2,038" in ended.stdout
    assert ended.stdout.count("WRONG") == 1


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise SystemExit(3)", "its process ended with exit code 3"),
        ("input(); print('{', end='')", "its process ended with exit code 0"),
        ("""while input(): print('{"error": "no memory"}', flush=True)""", "no memory"),
    ],
)
def test_a_process_that_fails_is_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, said: str
) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text(code, encoding="utf-8")
    monkeypatch.setattr(pieces, "__file__", str(broken))
    job = pieces.Job(pieces.Tree(fen.START, 2), 1, 0)
    with (
        pieces.processes(2) as crew,
        pytest.raises(pieces.Uncounted, match=f"a piece could not be counted: RuntimeError: .*{said}"),
    ):
        list(pieces.count_all(crew, [job] * 3))


def test_what_another_engine_has_counted_is_refused() -> None:
    def submit(job: Any) -> "Future[Any]":
        future: Future[Any] = Future()
        future.set_result(pieces.Piece(job.tree, 400, 0.1, "Moff 0.0, source 0"))
        return future

    job = pieces.Job(pieces.Tree(fen.START, 2), 1, 0)
    with pytest.raises(pieces.Uncounted, match=r"a worker counts with Moff 0\.0, source 0, not Moff "):
        list(pieces.count_all(pieces.Crew(1, submit), [job]))


def test_a_count_that_is_cancelled_ends() -> None:
    with pytest.raises(pieces.Cancelled):
        pieces.count(pieces.Job(pieces.Tree(fen.START, 14), 2, 0), lambda: True)


# The file.


def finished(path: Path) -> list[Any]:
    """The lines of a file of pieces."""
    return [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()]


@pytest.mark.parametrize(
    "tail", [b"", b'{"fen": "', b'{"fen": "8/8', b"\0" * 100, b'{"fen": "x", "dep\0\0\0']
)
def test_a_count_goes_on_with_what_is_missing(tmp_path: Path, tail: bytes) -> None:
    whole = kiwipete(tmp_path)
    path = tmp_path / "a.pieces"
    lines = path.read_bytes().splitlines(keepends=True)
    kept = b"".join(lines[:20])
    path.write_bytes(kept + tail)
    again = kiwipete(tmp_path, "--workers", 2)
    assert again.returncode == 0, again.stderr
    assert again.stdout.splitlines()[:-1] == whole.stdout.splitlines()[:-1]
    assert f"19 of {len(lines) - 1} pieces are in a.pieces already" in again.stderr
    assert ("the last line is torn" in again.stderr) == bool(tail)
    assert path.read_bytes().startswith(kept)
    assert len(finished(path)) == len(lines)


def test_the_line_that_was_being_written_is_not_read_wherever_it_was_cut(tmp_path: Path) -> None:
    trees = [pieces.Tree(fen.START, 3)]
    path = tmp_path / "a.pieces"
    jobs = [pieces.Job(tree, 1, 0) for tree in pieces.cut(trees[0], 400)]
    with pieces.PiecesFile(path, trees).open() as add:
        for job in jobs:
            add(pieces.count(job))
    text = path.read_bytes()
    counts = {tree: piece.leaves for tree, piece in pieces.PiecesFile(path, trees).finished.items()}
    assert len(counts) == 20
    for size in reversed(range(len(text))):
        os.truncate(path, size)
        file = pieces.PiecesFile(path, trees)
        known = max(0, text[:size].count(b"\n") - 1)
        assert list(file.finished) == list(counts)[:known]
        assert file.is_torn == (size > 0 and text[size - 1 : size] != b"\n")
        if size % 50 == 0:
            with file.open() as add:
                for job in jobs[known:]:
                    add(pieces.count(job))
            read = pieces.PiecesFile(path, trees).finished.items()
            assert {tree: piece.leaves for tree, piece in read} == counts
            path.write_bytes(text[:size])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--fen", KIWIPETE, "--depth", 3], "holds pieces of another count: depth 2 of r3k2r"),
        (["--fen", fen.START, "--depth", 2], "holds pieces of another count: depth 2 of r3k2r"),
        (["--workers", 1, "--depth", 2], "holds pieces of another count: depth 2 of r3k2r"),
    ],
)
def test_the_file_of_another_count_is_refused(tmp_path: Path, arguments: list[object], said: str) -> None:
    assert run("--fen", KIWIPETE, "--depth", 2, folder=tmp_path).returncode == 0
    path = tmp_path / "perft.pieces"
    before = path.read_bytes()
    ended = run(*arguments, folder=tmp_path)
    assert ended.returncode == 2
    assert said in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert ended.stdout == ""
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace("source ", "source 0"), "holds pieces counted by Moff .*, not Moff"),
        (lambda text: text.replace("perft pieces", "something"), "is not a file of perft pieces"),
        (lambda text: "remember the milk", "is not a file of perft pieces"),
        (lambda text: "remember the milk\n" + text, "is not a file of perft pieces"),
        (lambda text: "[[]]\n", "is not a file of perft pieces"),
        (
            lambda text: text.replace('"leaves": 4', '"leaves": x', 1),
            r"line \d+: this is not a finished piece",
        ),
        (lambda text: text.replace('"leaves": ', '"leaves": -', 1), r"line 2: this is not a finished piece"),
        (lambda text: text + '{"fen": 1}\n', r"line \d+: this is not a finished piece"),
        (lambda text: text + "\n", r"line \d+: this is not a finished piece"),
        (
            lambda text: text + text.splitlines()[1].replace('"leaves": ', '"leaves": 1') + "\n",
            r"line \d+: a piece has both \d+ and 1\d+ leaves",
        ),
    ],
)
def test_a_file_that_is_damaged_or_another_engine_s_is_refused(
    tmp_path: Path, change: Callable[[str], str], said: str
) -> None:
    assert run("--fen", KIWIPETE, "--depth", 2, folder=tmp_path).returncode == 0
    path = tmp_path / "perft.pieces"
    path.write_text(change(path.read_text(encoding="ascii")), encoding="ascii")
    before = path.read_bytes()
    ended = run("--fen", KIWIPETE, "--depth", 2, folder=tmp_path)
    assert ended.returncode == 2, ended.stdout + ended.stderr
    assert re.search(said, ended.stderr)
    assert len(ended.stderr.splitlines()) == 1
    assert path.read_bytes() == before


# Ends.


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT for one process")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGKILL", 9)])
def test_an_interrupted_or_killed_count_goes_on(tmp_path: Path, number: int) -> None:
    pytest.importorskip("tqdm", reason="the bench extra is not installed")
    pytest.importorskip("tabulate", reason="the bench extra is not installed")
    path = tmp_path / "a.pieces"
    same = ["--fen", fen.START, "--depth", LONG, "--piece", scaled(30_000, 1_000), "--pieces", path]
    command = [sys.executable, str(SCRIPT), *map(str, same), "--workers", "2"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, encoding="utf-8") as process:
        until(lambda: path.exists() and path.read_bytes().count(b"\n") > 5)
        process.send_signal(number)
        # Its children hold its standard error: the end of that is theirs.
        output, errors = process.communicate(timeout=60)
    is_killed = number == getattr(signal, "SIGKILL", 9)
    assert process.returncode == (-number if is_killed else 130)
    assert output == ""
    known = 5
    if not is_killed:
        told = r"interrupted after (\d+) of \d+ pieces: the same command continues the count\n"
        known = int(re.fullmatch(told, errors)[1])
        # The interrupt may come when a piece is written and not yet entered.
        assert len(finished(path)) - 1 - known in (0, 1)
    again = run(*same, folder=tmp_path)
    assert again.returncode == 0, again.stderr
    assert int(again.stderr.split()[0]) >= known > 0
    assert again.stdout.splitlines()[-1].startswith(f"{4865609 if build.compiled else 197281} nodes ")


# A cluster.


@pytest.fixture
def _no_bench_on_the_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers of a cluster are other machines, and do not have the modules of bench/."""
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != str(SCRIPT.parent)])


@pytest.mark.usefixtures("_no_bench_on_the_workers")
def test_a_dask_cluster_counts_the_same(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="the cluster extra is not installed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        address = cluster.scheduler_address
        ended = kiwipete(tmp_path, "--scheduler", address, "--hash", 1)
        again = kiwipete(tmp_path, "--scheduler", address, "--workers", 1)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.splitlines()[:-2] == divided(KIWIPETE, DEPTH)
    assert again.stdout == ended.stdout
    assert "already" in again.stderr


@pytest.mark.usefixtures("_no_bench_on_the_workers")
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT for one process")
@pytest.mark.parametrize("event", ["interrupt", "close"])
def test_the_pieces_of_a_cluster_end_with_the_count_and_the_count_with_the_cluster(
    tmp_path: Path, event: str
) -> None:
    distributed = pytest.importorskip("distributed", reason="the cluster extra is not installed")
    path = tmp_path / "a.pieces"
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        # Pieces of hours.
        words = ["--fen", fen.START, "--depth", "12", "--piece", str(10**17), "--pieces", str(path)]
        command = [sys.executable, str(SCRIPT), *words, "--scheduler", cluster.scheduler_address]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        client = distributed.Client(cluster)
        until(lambda: any(client.processing().values()))
        time.sleep(0.3)
        if event == "close":
            client.close()
            cluster.close()
        else:
            process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
        if event == "interrupt":
            until(lambda: not any(client.processing().values()))
            client.close()
    assert process.returncode == {"interrupt": 130, "close": 1}[event], output + errors
    assert ("a piece could not be counted" in errors) is (event == "close")
    assert "Traceback" not in errors
    assert len(finished(path)) == 1


# Wrong usage.


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--fen", fen.START], "--depth"),
        (["--fen", "8/8 w - -", "--depth", 2], "8/8"),
        (["--fen", fen.START, "--depth", 65], "65 is not a depth from 1 to 64"),
        (["--fen", fen.START, "--depth", 2, "--json"], "--json"),
        (["--workers", 1, "--threads", 1025], "1024"),
        (["--hash", 65537], "65536 megabytes"),
        (["--workers", 1, "--max-nodes", 1], "no position is left to count"),
    ],
)
def test_wrong_usage_is_one_line(tmp_path: Path, arguments: list[object], said: str) -> None:
    ended = run(*arguments, folder=tmp_path)
    assert ended.returncode == 2, ended.stdout + ended.stderr
    assert said in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert not (tmp_path / "perft.pieces").exists()


def test_no_scheduler_is_one_line(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="the cluster extra is not installed")
    ended = run("--fen", fen.START, "--depth", 3, "--scheduler", "nowhere://1.2.3.4:5", folder=tmp_path)
    assert ended.returncode == 2, ended.stdout + ended.stderr
    assert "nowhere://1.2.3.4:5" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_piece_without_plies_is_one_leaf() -> None:
    board = fen.parse(fen.START)
    assert len(legal_moves(board)) == 20
    assert pieces.count(pieces.Job(pieces.Tree(fen.START, 0), 1, 0)).leaves == 1
