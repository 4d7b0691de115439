"""search/selfplay.py and bench/selfplay.py: games that follow from seed and number, and a folder of them that
goes on growing whatever ends a run.
"""

import hashlib
import json
import os
import re
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
from tests.stored import Stored, games
from x88 import build
from x88.notation import coordinate, fen

pytestmark = pytest.mark.slow

SCRIPT = ROOT / "bench" / "selfplay.py"

import gamefile
import script

import pile

NODES = scaled(40, 2)

TIMEOUT = 300
"""Seconds: for an idle run on a busy machine, too, which then has a hundredth of a processor."""


def played(seed: int, numbers: range, nodes: int = NODES, weights: Weights | None = None) -> list[Game]:
    player = Selfplay(weights)
    found = [player.play(seed, number, nodes) for number in numbers]
    return [game for game in found if game is not None]


def stored(found: list[Game]) -> list[Stored]:
    """The games, unpacked with python-chess."""
    return games(gamefile.packed(0, 0, {}, found).inflated(), len(found))


@pytest.fixture(scope="module")
def some() -> list[Game]:
    return played(3, range(scaled(60, 4)))


# --- Games


def test_a_game_follows_from_seed_and_number(some: list[Game]) -> None:
    alone = Selfplay()
    for number in (3, 1):
        assert alone.play(3, number, NODES) == some[number]
    assert alone.play(4, 1, NODES) != some[1]
    assert len({game.moves for game in some}) == len(some)


@pytest.mark.skipif(not build.compiled, reason="compares the builds")
def test_both_builds_play_the_same_games() -> None:
    code = """
import hashlib
from search.selfplay import Selfplay
player = Selfplay()
for number in (0, 14, 25):
    print(hashlib.sha256(repr(player.play(11, number, 3)).encode()).hexdigest())
"""
    told = []
    for forced in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env=os.environ | {"MOFF_PURE": forced},
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        told.append(done.stdout)
    assert told[0] == told[1]
    assert len(set(told[0].split())) == 3


def test_games_are_legal_and_their_results_right(some: list[Game]) -> None:
    decided = 0
    for game in stored(some):
        board = game.start.copy()
        for move in game.moves:
            assert board.outcome(claim_draw=False) is None
            assert not board.is_repetition(3)
            assert board.halfmove_clock < 100
            assert board.is_legal(move)
            board.push(move)
        outcome = board.outcome(claim_draw=False)
        last = game.scores[-4:]
        if outcome is not None:
            assert game.result == {True: 2, False: 0, None: 1}[outcome.winner]
        elif board.is_repetition(3) or board.halfmove_clock >= 100 or len(game.moves) == 400:
            assert game.result == 1
        elif all(score >= 2660 for score in last):
            assert game.result == 2
        elif all(score <= -2660 for score in last):
            assert game.result == 0
        else:
            assert game.result == 1
            assert all(abs(score) <= 7 for score in game.scores[-12:])
            assert board.fullmove_number > 70
        decided += game.result != 1
    assert decided > len(some) / 4


def test_a_game_ends_as_soon_as_it_is_decided(some: list[Game]) -> None:
    for game in stored(some):
        for first in range(len(game.scores) - 4):
            assert not all(score >= 2660 for score in game.scores[first : first + 4])
            assert not all(score <= -2660 for score in game.scores[first : first + 4])


def test_random_plies_lose_no_material_and_decide_nothing(some: list[Game]) -> None:
    lengths = set()
    for game in stored(some):
        lengths.add(game.opening)
        assert abs(game.scores[0]) <= 400
        board = game.start.copy()
        for move in game.moves[: game.opening]:
            lost = board.piece_at(move.from_square)
            taken = board.piece_at(move.to_square)
            board.push(move)
            if lost is None or taken is not None:
                continue
            if not board.attackers(not lost.color, move.to_square) or lost.piece_type == chess.PAWN:
                # Nobody protects it, and it is more than a pawn: nobody may take it.
                attackers = board.attackers(board.turn, move.to_square)
                legal = any(board.is_legal(chess.Move(square, move.to_square)) for square in attackers)
                protected = board.attackers(lost.color, move.to_square)
                if not protected and lost.piece_type != chess.KING:
                    assert not legal, (board.fen(), move)
    assert lengths == {8, 9} if build.compiled else lengths <= {8, 9}


def test_scores_are_white_s_and_those_of_a_finished_search(some: list[Game]) -> None:
    agreed = of = 0
    for game in stored(some):
        if game.result != 1:
            half = game.scores[len(game.scores) // 2 :]
            of += len(half)
            agreed += sum((score > 0) == (game.result == 2) for score in half)
    assert agreed > 0.75 * of
    mate = next((game for game in stored(some) if abs(game.scores[-1]) == 31999), None)
    if mate is not None:
        board = mate.start.copy()
        for move in mate.moves:
            board.push(move)
        assert board.is_checkmate()


def test_one_game_in_ten_is_no_standard_chess() -> None:
    player = Selfplay()
    found = [player.play(8, number, 1) for number in range(scaled(2000, 40))]
    starts = [(game.white, game.black) for game in found if game is not None]
    same = sum(white == black != 518 for white, black in starts)
    double = sum(white != black for white, black in starts)
    if build.compiled:
        assert 60 < same < 140
        assert 60 < double < 140
        assert len(set(starts)) > 150
    assert same + double < len(starts) / 2


def test_usable_positions_are_counted(some: list[Game]) -> None:
    from search.replay import Mixer

    block = gamefile.packed(0, 0, {}, some)
    mixer = Mixer(block.positions)
    mixer.add(block.inflated(), block.games)
    assert mixer.count == block.usable == sum(game.usable for game in some)
    assert block.positions == sum(len(game.scores) for game in some)


@pytest.mark.parametrize(("nodes", "depth"), [(1, 1), (scaled(40, 2), None)])
def test_a_search_ends_with_the_iteration_that_reaches_its_nodes(nodes: int, depth: int | None) -> None:
    """The first one of a game has the move and the score of an ordinary search."""
    alike = of = 0
    for game in stored(played(21, range(scaled(40, 3)), nodes)):
        board = fen.parse(game.start.fen(), chess960=True)
        for move in game.moves[: game.opening]:
            board.make(coordinate.parse(board, game.start.uci(move, chess960=True)))
            game.start.push(move)
        reports: list[Report] = []
        limits = Limits(depth=depth or 20, nodes=None if depth else 20 * nodes)
        Search(1).think(board, limits, reports.append)
        last = next(report for report in reports if report.depth == depth or report.nodes >= nodes)
        own = game.scores[0] if game.start.turn else -game.scores[0]
        played_move = game.start.uci(game.moves[game.opening], chess960=True)
        alike += (normalised(own), played_move) == (last.score, coordinate.write(last.pv[0], chess960=True))
        of += 1
    # Where an opening was thrown away, the table remembers its search.
    assert alike > 0.8 * of


def test_another_network_plays_other_games() -> None:
    weights = random_weights(16, 8)
    assert played(3, range(2), NODES, weights) == played(3, range(2), NODES, weights)
    assert played(3, range(2), NODES, weights) != played(3, range(2))
    assert played(3, range(2), NODES, select.shipped()) == played(3, range(2))


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
def test_impossible_games_are_refused(wrong: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="no"):
        Selfplay().play(*wrong)
    with pytest.raises(TypeError):
        Selfplay().play("1", 0, 1)  # type: ignore[arg-type]


# --- The folder


compiled = pytest.mark.skipif(not build.compiled, reason="a block takes minutes uncompiled")


def command(folder: Path, *words: object) -> list[str]:
    return [sys.executable, str(SCRIPT), "--positions", *map(str, (folder, "--nodes", 5, *words))]


def fill(
    folder: Path, *words: object, code: int = 0, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Fill a folder with games of short searches."""
    done = subprocess.run(
        command(folder, *words),
        capture_output=True,
        encoding="utf-8",
        timeout=TIMEOUT,
        env=env and os.environ | env,
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


def status(folder: Path) -> str:
    words = [sys.executable, str(SCRIPT), "--status", str(folder)]
    return subprocess.run(words, capture_output=True, encoding="utf-8", check=True).stdout


def running(folder: Path) -> dict[str, Any]:
    """What the run in progress has noted."""
    end = time.monotonic() + TIMEOUT
    while not (folder / "running.json").exists():
        assert time.monotonic() < end
        time.sleep(0.1)
    found: dict[str, Any] = json.loads((folder / "running.json").read_text(encoding="utf-8"))
    return found


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


def started(folder: Path, *words: object) -> "subprocess.Popen[str]":
    """A run in progress."""
    return subprocess.Popen(
        command(folder, *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    )


def begun(folder: Path, *words: object) -> "subprocess.Popen[str]":
    """A run that has written a block."""

    def size() -> int:
        return sum(path.stat().st_size for path in folder.glob("*.moff"))

    before = size()
    process = started(folder, *words)
    end = time.monotonic() + TIMEOUT
    while size() == before:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < end
        time.sleep(0.02)
    return process


@compiled
def test_the_same_seed_gives_the_same_blocks_whatever_interrupts_them(tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    fill(whole, "--seed", 7, "--games", 1050, "--concurrency", 1)
    assert sorted(digests(whole)) == [(7, first) for first in range(0, 1050, 100)]
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
        process = begun(parts, "--seed", 7, "--games", 1050, "--concurrency", 2)
        process.send_signal(number)
        errors = process.communicate(timeout=60)[1]
        assert process.returncode in ((-9,) if number == signal.SIGKILL else (130, 0)), errors
        assert "Traceback" not in errors
        assert digests(parts).items() <= digests(whole).items()
    (path,) = parts.glob("*.moff")
    path.write_bytes(path.read_bytes() + path.read_bytes()[:60])
    assert "cut off 60 bytes of an unfinished block" in fill(parts, "--seed", 7, "--games", 1050).stderr
    assert digests(parts) == digests(whole)
    before = path.read_bytes()
    fill(parts, "--seed", 7, "--games", 1050)
    assert path.read_bytes() == before
    stored = [gamefile.read(place) for place in gamefile.scan(path)]
    settings = {"engine": script.fingerprint(), "nodes": 5}
    assert all(block.settings.items() >= settings.items() for block in stored)
    other = fill(parts, "--seed", 7, "--games", 1100, "--nodes", 6, code=2).stderr
    assert "'nodes': 5" in other
    assert "use another --seed" in other


@compiled
def test_a_run_goes_on_with_what_is_there_and_then_adds_files(tmp_path: Path) -> None:
    folder = tmp_path / "pile"
    process = begun(folder)
    told = status(folder)
    assert "1 files, " in told
    assert re.search(rf"^process {process.pid}, for 0 minutes: \d+ games, \d+ usable", told, re.MULTILINE)
    second = fill(folder, code=2)
    assert f"another process fills {folder}" in second.stderr
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    before = digests(folder)
    assert len({seed for seed, _ in before}) == 1
    games = 100 * len(before)
    told = status(folder)
    assert told.startswith(f"1 files, {games} games, ")
    assert told.endswith("nobody plays\n")
    fill(folder, "--minutes", 0.02)
    after = digests(folder)
    assert before.items() < after.items()
    assert len({seed for seed, _ in after}) == 1
    # Another number of nodes makes other files; the first one stays as it is.
    fill(folder, "--nodes", 6, "--minutes", 0.02)
    assert after.items() < digests(folder).items()
    assert len({seed for seed, _ in digests(folder)}) == 2
    checked = subprocess.run(
        [sys.executable, str(SCRIPT.parent / "dataset.py"), str(folder), "--check"],
        capture_output=True,
        check=True,
    )
    assert checked.stderr == b""


@compiled
@pytest.mark.skipif(sys.platform == "win32", reason="there are no sessions and no SIGKILL")
@pytest.mark.parametrize("name", ["SIGINT", "SIGKILL"])
def test_an_idle_run_ends_with_the_one_that_waits_for_it(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "pile"
    process = started(folder, "--idle")
    pid = running(folder)["pid"]
    if hasattr(os, "SCHED_IDLE"):
        assert os.sched_getscheduler(pid) == os.SCHED_IDLE
    assert os.getsid(pid) == pid != os.getsid(process.pid)
    process.send_signal(getattr(signal, name))
    assert process.wait(TIMEOUT) == (130 if name == "SIGINT" else -signal.SIGKILL)
    end = time.monotonic() + TIMEOUT
    while "nobody plays" not in status(folder):
        assert time.monotonic() < end
        time.sleep(0.1)


@compiled
def test_a_damaged_file_is_told_of_and_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "pile"
    fill(folder, "--seed", 1, "--games", 300)
    (path,) = folder.glob("*.moff")
    before = digests(folder)
    for at in (20, 1000):
        data = bytearray(path.read_bytes())
        data[at] ^= 1
        path.write_bytes(data)
        done = fill(folder, "--minutes", 0.02)
        assert f"{path}: bytes 0 to " in done.stderr
    fill(folder, "--seed", 1, "--games", 300)
    intact = [part for part in gamefile.scan(path) if isinstance(part, gamefile.Place)]
    assert {(place.seed, place.first) for place in intact} >= set(before)


@compiled
def test_an_edited_checkout_does_not_stop_it(tmp_path: Path) -> None:
    """What plays is a copy, and a checkout that is not built again goes on with the last one."""
    import shutil

    checkout = tmp_path / "checkout"
    skipped = shutil.ignore_patterns("__pycache__", "*.c")
    for name in pile.FROZEN:
        shutil.copytree(ROOT / name, checkout / name, ignore=skipped)
    shutil.copy(ROOT / "setup.py", checkout)
    folder = tmp_path / "pile"
    words = command(folder, "--seed", 5, "--games", 300)
    words[1] = str(checkout / "bench" / "selfplay.py")
    subprocess.run(words, check=True, capture_output=True)
    (copy,) = folder.glob("engine-*")
    before = digests(folder)
    edited = checkout / "search" / "selfplay.py"
    edited.write_text(edited.read_text(encoding="utf-8") + "\n# Edited.\n", encoding="utf-8")
    words[-1] = "400"
    done = subprocess.run(words, check=True, capture_output=True, encoding="utf-8")
    assert "the version that was copied before goes on" in done.stderr
    assert before.items() < digests(folder).items()
    assert list(folder.glob("engine-*")) == [copy]
    assert not list(folder.glob("part-*"))
    words[3] = str(tmp_path / "empty")
    refused = subprocess.run(words, capture_output=True, encoding="utf-8")
    assert refused.returncode == 2
    assert "the compiled modules were made before search/selfplay.py changed" in refused.stderr


@compiled
def test_a_correction_of_the_bench_makes_another_copy_but_no_other_files(tmp_path: Path) -> None:
    import shutil

    folder = tmp_path / "pile"
    fill(folder, "--seed", 5, "--games", 100)
    (copy,) = folder.glob("engine-*")
    checkout = tmp_path / "checkout"
    shutil.copytree(copy, checkout)
    with (checkout / "bench" / "pile.py").open("a", encoding="utf-8") as corrected:
        corrected.write("\n# Corrected.\n")
    words = command(folder, "--seed", 5, "--games", 200)
    words[1] = str(checkout / "bench" / "selfplay.py")
    subprocess.run(words, check=True, capture_output=True)
    assert len(list(folder.glob("engine-*"))) == 2
    assert sorted(digests(folder)) == [(5, 0), (5, 100)]


@compiled
def test_a_stop_before_a_player_is_there_ends_it_too(tmp_path: Path) -> None:
    players = pile.Players()
    players.stop()
    assert players.play(pile.Job(tmp_path, 1, 0, 100, {"nodes": 10**6}))[1] == []


@compiled
def test_a_network_can_be_given(tmp_path: Path) -> None:
    path = tmp_path / "other.net"
    network.write(path, random_weights(16, 8))
    folder = tmp_path / "pile"
    fill(folder, "--seed", 1, "--games", 20, "--network", path)
    (place,) = (place for file in folder.glob("*.moff") for place in gamefile.scan(file))
    block = gamefile.read(place)
    assert (block.games, block.settings["network"] != f"{0:08x}") == (20, True)
    player = Selfplay(network.read(str(path)))
    again = [player.play(1, number, 5) for number in range(20)]
    assert gamefile.packed(1, 0, block.settings, again) == block


def test_a_run_without_a_compiler_says_so(tmp_path: Path) -> None:
    done = fill(tmp_path, "--seed", 1, "--games", 1, "--nodes", 1, env={"MOFF_PURE": "1"})
    assert "Moff runs uncompiled, hundreds of times slower: MOFF_PURE is set" in done.stderr
    assert list(digests(tmp_path)) == [(1, 0)]


@compiled
def test_no_extra_is_needed(tmp_path: Path) -> None:
    code = """
import sys
sys.modules.update(dict.fromkeys(["tqdm", "tabulate", "numpy", "distributed"]))
import selfplay
sys.exit(selfplay.main())
"""
    copy = pile.frozen(tmp_path)
    words = [sys.executable, "-c", code, *command(tmp_path, "--seed", 1, "--games", 1)[2:]]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", cwd=copy / "bench", timeout=120)
    assert done.returncode == 0, done.stderr
    assert list(digests(tmp_path)) == [(1, 0)]


@compiled
def test_a_dask_cluster_plays_the_same_games(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="the cluster extra is not installed")
    far, near = tmp_path / "far", tmp_path / "near"
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        fill(far, "--seed", 3, "--games", 250, "--scheduler", cluster.scheduler_address)
    fill(near, "--seed", 3, "--games", 250)
    assert digests(far) == digests(near)
    assert len(digests(far)) == 3


def test_a_worker_with_another_moff_is_refused() -> None:
    job = pile.Job(Path("a"), 1, 0, 1, {"engine": "0123456789ab", "network": "0", "nodes": 1})
    with pytest.raises(ValueError, match=r"a worker has another version of Moff: .*, not 0123456789ab"):
        pile.play_far(job)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "--positions"),
        (["--positions", "a", "--status", "a"], "--status"),
        (["--positions", "a", "--nodes", "0"], "--nodes"),
        (["--positions", "a", "--minutes", "0"], "--minutes must be more than 0"),
        (["--positions", "a", "--minutes", "nan"], "--minutes must be more than 0"),
        (["--positions", "a", "--seed", "-1"], "--seed must be from 0 to 2**64 - 1"),
        (["--positions", "a", "--seed", str(2**64)], "--seed must be from 0 to 2**64 - 1"),
        (["--positions", "a", "--games", "5"], "--games needs --seed"),
        (["--positions", "a", "--concurrency", "0"], "--concurrency"),
        (["--positions", "a", "--network", "b", "--scheduler", "c"], "neither --network nor --idle"),
        (["--positions", "a", "--idle", "--scheduler", "c"], "neither --network nor --idle"),
        (["--positions", "/proc/nowhere/a"], "/proc/nowhere"),
        (["--status", "nowhere"], "nowhere is not a folder"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_what_is_wrong(words: list[str], said: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *words], capture_output=True, encoding="utf-8", cwd=tmp_path, timeout=60
    )
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


@compiled
def test_a_network_that_is_none_is_told(tmp_path: Path) -> None:
    done = fill(tmp_path / "pile", "--seed", 1, "--network", SCRIPT, code=2)
    assert "is not a network" in done.stderr
    assert not list((tmp_path / "pile").glob("*.moff"))
