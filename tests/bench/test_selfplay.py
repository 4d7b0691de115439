"""search/selfplay.py and bench/selfplay.py: games that follow from seed and number, and a folder of them that
grows on after any interruption.
"""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import chess
import pytest

from search.limits import Limits
from search.line import Report
from search.nnue import network, select
from search.nnue.network import Weights
from search.score import normalised
from search.search import Search
from search.selfplay import Game, Selfplay
from tests import ROOT
from tests.networks import random_weights
from tests.oracle import scaled
from tests.programs import BENCH, TIMEOUT, run
from tests.stored import Stored, games
from x88 import build
from x88.notation import coordinate, fen

pytestmark = pytest.mark.slow

import gamefile
import script

import pile

NODES = scaled(40, 2)


def played(seed: int, numbers: range, nodes: int = NODES, weights: Weights | None = None) -> list[Game]:
    player = Selfplay(weights)
    found = [player.play(seed, number, nodes) for number in numbers]
    return [game for game in found if game is not None]


def stored(found: list[Game]) -> list[Stored]:
    """The games, unpacked with python-chess."""
    return games(gamefile.packed(0, 0, {}, found).inflated(), len(found))


@pytest.fixture(scope="module")
def some() -> list[Game]:
    return played(7, range(scaled(100, 4)))


# --- Games


def test_game_follows_from_seed_and_number(some: list[Game]) -> None:
    alone = Selfplay()
    for number in (3, 1):
        assert alone.play(7, number, NODES) == some[number]
    assert alone.play(4, 1, NODES) != some[1]
    assert len({game.moves for game in some}) == len(some)


@pytest.mark.skipif(not build.compiled, reason="compares the builds")
def test_both_builds_play_the_same_games() -> None:
    code = "from search.selfplay import Selfplay; print([Selfplay().play(11, n, 3) for n in (0, 14, 25)])"
    compiled, pure = (
        subprocess.check_output(
            [sys.executable, "-c", code], cwd=ROOT, env=os.environ | {"MOFF_PURE": forced}
        )
        for forced in ("0", "1")
    )
    assert compiled == pure
    assert compiled.count(b"Game(") == 3


def test_games_are_legal_and_end_by_the_rules_or_as_soon_as_they_are_decided(some: list[Game]) -> None:
    decided = played_out = 0
    for game in stored(some):
        board = game.start.copy()
        for move in game.moves:
            assert board.outcome(claim_draw=False) is None
            assert not board.is_repetition(3)
            assert board.halfmove_clock < 100
            assert board.is_legal(move)
            board.push(move)
        outcome = board.outcome(claim_draw=False)
        sooner, later = (
            {
                n: sign
                for n in range(len(game.scores) - 3)
                for sign in (1, -1)
                if all(sign * score >= least for score in game.scores[n : n + 4])
            }
            for least in (1330, 2660)
        )
        last = len(game.scores) - 4
        is_played_out = not sooner.keys() <= {last}
        assert not is_played_out or later.keys() <= {last}
        played_out += is_played_out
        ended = (later if is_played_out else sooner).get(last)
        if outcome is not None:
            assert game.result == {True: 2, False: 0, None: 1}[outcome.winner]
        elif board.is_repetition(3) or board.halfmove_clock >= 100 or len(game.moves) == 400:
            assert game.result == 1
        elif ended:
            assert game.result == 1 + ended
        else:
            assert game.result == 1
            assert all(abs(score) <= 7 for score in game.scores[-12:])
            assert board.fullmove_number > 70
        decided += game.result != 1
    assert decided > len(some) / 4
    assert played_out < len(some) / 4
    assert played_out or not build.compiled


def test_random_plies_lose_no_material_and_decide_nothing(some: list[Game]) -> None:
    lengths = set()
    for game in stored(some):
        lengths.add(game.opening)
        assert abs(game.scores[0]) <= 400
        board = game.start.copy()
        for move in game.moves[: game.opening]:
            moved, taken = board.piece_at(move.from_square), board.piece_at(move.to_square)
            board.push(move)
            if taken or moved.piece_type == chess.KING:
                continue
            if not board.attackers(moved.color, move.to_square):
                attackers = board.attackers(board.turn, move.to_square)
                assert not any(board.is_legal(chess.Move(square, move.to_square)) for square in attackers)
    assert lengths == {8, 9} if build.compiled else lengths <= {8, 9}


def test_scores_are_white_s_and_announce_mates(some: list[Game]) -> None:
    agreed = of = 0
    for game in stored(some):
        if game.result != 1:
            half = game.scores[len(game.scores) // 2 :]
            of += len(half)
            agreed += sum((score > 0) == (game.result == 2) for score in half)
        if abs(game.scores[-1]) == 31999:
            board = game.start.copy()
            for move in game.moves:
                board.push(move)
            assert board.is_checkmate()
    assert agreed > 0.75 * of


def test_one_game_in_ten_is_no_standard_chess() -> None:
    player = Selfplay()
    found = [player.play(8, number, 1) for number in range(scaled(800, 40))]
    starts = [(game.white, game.black) for game in found if game is not None]
    same = sum(white == black != 518 for white, black in starts)
    double = sum(white != black for white, black in starts)
    if build.compiled:
        assert 20 < same < 60
        assert 20 < double < 60
        assert len(set(starts)) > 60
    assert same + double < len(starts) / 2


@pytest.mark.parametrize(("nodes", "depth"), [(1, 2), (scaled(40, 10), None)])
def test_first_search_ends_with_the_iteration_that_reaches_its_nodes(nodes: int, depth: int | None) -> None:
    """It finds the move and the score of an ordinary search, of two plies at least."""
    alike = of = 0
    for game in stored(played(21, range(scaled(40, 3)), nodes)):
        board = fen.parse(game.start.fen(), chess960=True)
        for move in game.moves[: game.opening]:
            board.make(coordinate.parse(board, game.start.uci(move, chess960=True)))
            game.start.push(move)
        reports: list[Report] = []
        limits = Limits(depth=depth or 20, nodes=None if depth else 20 * nodes)
        Search(1).think(board, limits, reports.append)
        last = next(r for r in reports if r.depth >= 2 and (r.depth == depth or r.nodes >= nodes))
        own = game.scores[0] if game.start.turn else -game.scores[0]
        played_move = game.start.uci(game.moves[game.opening], chess960=True)
        alike += (normalised(own), played_move) == (last.score, coordinate.write(last.pv[0], chess960=True))
        of += 1
    # Where an opening was thrown away, the table remembers its search.
    assert alike > 0.8 * of


def test_stop_ends_a_game_and_those_after_it() -> None:
    player = Selfplay()
    found: list[Game | None] = []
    thread = threading.Thread(target=lambda: found.append(player.play(1, 1, 10**9)))
    thread.start()
    time.sleep(0.1)
    player.stop()
    thread.join(20)
    assert not thread.is_alive()
    assert found == [None]
    assert player.play(1, 2, 1) is None


@pytest.mark.parametrize(
    "wrong", [(-1, 0, 1), (2**64, 0, 1), (0, -1, 1), (0, 2**64, 1), (0, 0, 0), (0, 0, -5)]
)
def test_impossible_games_raise(wrong: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="no"):
        Selfplay().play(*wrong)
    with pytest.raises(TypeError):
        Selfplay().play("1", 0, 1)  # type: ignore[arg-type]


# --- The folder


compiled = pytest.mark.skipif(not build.compiled, reason="a block takes minutes uncompiled")

MOMENT = ("--minutes", 0.002)
"""Play one round of blocks."""


def fill(folder: Path, *words: object, code: int = 0, **environment: str) -> str:
    """Fill a folder with games of short searches; returns the messages."""
    return run("selfplay", "--positions", folder, "--nodes", 5, *words, code=code, **environment).stderr


def status(folder: Path) -> str:
    return run("selfplay", "--status", folder).stdout


def digests(folder: Path) -> dict[tuple[int, int], str]:
    """The blocks of a folder, by seed and first number; nothing else is in its files."""
    found = {}
    for path in folder.glob("*.moff"):
        for place in gamefile.scan(path):
            assert isinstance(place, gamefile.Place), place
            block = gamefile.read(place)
            assert (place.seed, place.first) not in found
            found[place.seed, place.first] = hashlib.sha256(gamefile.encode(block)).hexdigest()
    return found


def wait_until(condition: Any, process: "subprocess.Popen[str] | None" = None) -> None:
    """Wait for a condition while a process runs."""
    end = time.monotonic() + TIMEOUT
    while not condition():
        assert process is None or process.poll() is None, process.communicate()[1]
        assert time.monotonic() < end
        time.sleep(0.02)


def started(folder: Path, *words: object) -> "subprocess.Popen[str]":
    """A run in progress."""
    command = [sys.executable, BENCH / "selfplay.py", "--positions", folder, "--nodes", 5, *words]
    return subprocess.Popen(
        [*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    )


def begun(folder: Path, *words: object) -> "subprocess.Popen[str]":
    """A run that has written a block."""

    def size() -> int:
        return sum(path.stat().st_size for path in folder.glob("*.moff"))

    before = size()
    process = started(folder, *words)
    wait_until(lambda: size() != before, process)
    return process


@compiled
def test_same_seed_gives_the_same_blocks_after_interruptions(tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    asked = ("--seed", 7, "--games", 750)
    fill(whole, *asked, "--concurrency", 1)
    assert sorted(digests(whole)) == [(7, first) for first in range(0, 750, 100)]
    for number in (signal.SIGTERM, signal.SIGKILL):
        process = begun(parts, *asked, "--concurrency", 2)
        process.send_signal(number)
        errors = process.communicate(timeout=60)[1]
        assert process.returncode in ((-9,) if number == signal.SIGKILL else (130, 0)), errors
        assert "Traceback" not in errors
        assert digests(parts).items() <= digests(whole).items()
    (path,) = parts.glob("*.moff")
    path.write_bytes(path.read_bytes() + path.read_bytes()[:60])
    assert "cut off 60 bytes of an unfinished block" in fill(parts, *asked)
    assert digests(parts) == digests(whole)
    before = path.read_bytes()
    fill(parts, *asked)
    assert path.read_bytes() == before
    stored = [gamefile.read(place) for place in gamefile.scan(path)]
    settings = {"engine": script.fingerprint(), "nodes": 5}
    assert all(block.settings.items() >= settings.items() for block in stored)
    other = fill(parts, "--seed", 7, "--games", 800, "--nodes", 6, code=2)
    assert "'nodes': 5" in other
    assert "use another --seed" in other


@compiled
def test_run_completes_the_files_and_then_adds_new_ones(tmp_path: Path) -> None:
    folder = tmp_path / "pile"
    process = begun(folder)
    printed = status(folder)
    assert "1 file, " in printed
    assert re.search(rf"^process {process.pid}, for 0 minutes: \d+ games, \d+ usable", printed, re.MULTILINE)
    assert f"another process fills {folder}" in fill(folder, code=2)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    before = digests(folder)
    assert len({seed for seed, _ in before}) == 1
    printed = status(folder)
    assert printed.startswith(f"1 file, {100 * len(before)} games, ")
    assert printed.endswith("nobody plays\n")
    fill(folder, *MOMENT)
    after = digests(folder)
    assert before.items() < after.items()
    assert len({seed for seed, _ in after}) == 1
    # Another number of nodes makes other files; the first one stays as it is.
    fill(folder, "--nodes", 6, *MOMENT)
    assert after.items() < digests(folder).items()
    assert len({seed for seed, _ in digests(folder)}) == 2
    assert run("dataset", folder, "--check").stderr == ""


@compiled
@pytest.mark.skipif(sys.platform == "win32", reason="there are no sessions and no SIGKILL")
@pytest.mark.parametrize("name", ["SIGINT", "SIGKILL"])
def test_idle_run_ends_with_its_parent(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "pile"
    process = started(folder, "--idle")
    wait_until((folder / "running.json").exists, process)
    pid = json.loads((folder / "running.json").read_text(encoding="utf-8"))["pid"]
    if hasattr(os, "SCHED_IDLE"):
        assert os.sched_getscheduler(pid) == os.SCHED_IDLE
    assert os.getsid(pid) == pid != os.getsid(process.pid)
    process.send_signal(getattr(signal, name))
    assert process.wait(TIMEOUT) == (130 if name == "SIGINT" else -signal.SIGKILL)
    wait_until(lambda: "nobody plays" in status(folder))


@compiled
def test_damaged_blocks_are_reported_and_played_again(tmp_path: Path) -> None:
    folder = tmp_path / "pile"
    asked = ("--seed", 1, "--games", 200)
    fill(folder, *asked)
    (path,) = folder.glob("*.moff")
    before = digests(folder)
    for at in (20, 1000):
        data = bytearray(path.read_bytes())
        data[at] ^= 1
        path.write_bytes(data)
        assert f"{path}: bytes 0 to " in fill(folder, *MOMENT)
    fill(folder, *asked)
    intact = [part for part in gamefile.scan(path) if isinstance(part, gamefile.Place)]
    assert {(place.seed, place.first) for place in intact} >= set(before)


@compiled
def test_run_goes_on_while_its_checkout_is_edited(tmp_path: Path) -> None:
    """A copy plays. A checkout that is not compiled again goes on with the last one."""
    checkout, folder = tmp_path / "checkout", tmp_path / "pile"
    skipped = shutil.ignore_patterns("__pycache__", "*.c")
    for name in pile.FROZEN:
        shutil.copytree(ROOT / name, checkout / name, ignore=skipped)
    shutil.copy(ROOT / "setup.py", checkout)

    def play(target: Path, count: int) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, checkout / "bench" / "selfplay.py", "--positions", target]
        words = ["--nodes", "5", "--seed", "5", "--games", str(count)]
        return subprocess.run([*command, *words], capture_output=True, encoding="utf-8")

    def edit(name: str) -> None:
        with (checkout / name).open("a", encoding="utf-8") as file:
            file.write("\n# Edited.\n")

    assert play(folder, 100).returncode == 0
    assert len(list(folder.glob("engine-*"))) == 1
    edit("bench/pile.py")
    assert play(folder, 200).returncode == 0
    assert len(list(folder.glob("engine-*"))) == 2
    assert sorted(digests(folder)) == [(5, 0), (5, 100)], "the engine is the same"
    edit("search/selfplay.py")
    done = play(folder, 300)
    assert "the version that was copied before goes on" in done.stderr
    assert sorted(digests(folder)) == [(5, 0), (5, 100), (5, 200)]
    assert len(list(folder.glob("engine-*"))) == 2
    assert not list(folder.glob("part-*"))
    refused = play(tmp_path / "empty", 100)
    assert refused.returncode == 2
    assert "the compiled modules were made before search/selfplay.py changed" in refused.stderr


def test_stop_ends_a_player_that_begins_later(tmp_path: Path) -> None:
    players = pile.Players()
    players.stop()
    assert players.play(pile.Job(tmp_path, 1, 0, 100, {"nodes": 10**6}))[1] == []


@compiled
def test_games_are_those_of_the_network_given(tmp_path: Path) -> None:
    path = tmp_path / "other.net"
    network.write(path, random_weights(16, 8))
    folder = tmp_path / "pile"
    fill(folder, "--seed", 1, "--games", 20, "--network", path)
    (place,) = (place for file in folder.glob("*.moff") for place in gamefile.scan(file))
    block = gamefile.read(place)
    assert (block.games, block.settings["network"] != f"{0:08x}") == (20, True)
    for weights, is_same in ((network.read(str(path)), True), (select.shipped(), False), (None, False)):
        again = played(1, range(20), 5, weights)
        assert (gamefile.packed(1, 0, block.settings, again) == block) == is_same


def test_run_without_a_compiler_says_so(tmp_path: Path) -> None:
    messages = fill(tmp_path, "--seed", 1, "--games", 1, "--nodes", 1, MOFF_PURE="1")
    assert "Moff runs uncompiled, hundreds of times slower: MOFF_PURE is set" in messages
    assert list(digests(tmp_path)) == [(1, 0)]


@compiled
def test_no_package_is_needed(tmp_path: Path) -> None:
    command = [sys.executable, "-S", pile.frozen(tmp_path) / "bench" / "selfplay.py", "--positions", tmp_path]
    subprocess.run([*command, "--nodes", "5", "--seed", "1", "--games", "1"], check=True, timeout=TIMEOUT)
    assert list(digests(tmp_path)) == [(1, 0)]


@compiled
def test_dask_cluster_plays_the_same_games(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="the cluster extra is not installed")
    far, near = tmp_path / "far", tmp_path / "near"
    asked = ("--seed", 3, "--games", 250)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        fill(far, *asked, "--scheduler", cluster.scheduler_address)
    fill(near, *asked)
    assert digests(far) == digests(near)
    assert len(digests(far)) == 3


def test_cluster_refuses_a_worker_with_another_moff() -> None:
    job = pile.Job(Path("a"), 1, 0, 1, {"engine": "0123456789ab", "network": "0", "nodes": 1})
    with pytest.raises(ValueError, match=r"a worker has another version of Moff: .*, not 0123456789ab"):
        pile.play_far(job)
