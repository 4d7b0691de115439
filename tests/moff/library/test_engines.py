"""The engine in this process."""

import gc
import itertools
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

import moff
from tests import ROOT
from tests.oracle import SHARED, scaled

NODES = moff.Limit(nodes=scaled(20_000, 300))
MATE = "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4"


@pytest.fixture(scope="module")
def engine() -> Iterator[moff.Engine]:
    with moff.Engine(hash=4) as engine:
        yield engine


def test_a_move_comes_with_its_answer_and_what_was_found(engine: moff.Engine) -> None:
    board = moff.Board(MATE)
    found = engine.play(board, moff.Limit(depth=4))
    assert found.move == moff.Move.from_uci("h5f7")
    assert found.info["score"] == moff.PovScore(moff.Mate(1), moff.WHITE)
    board.push(found.move)
    found = engine.play(board, moff.Limit(time=1))
    assert found[:2] == (None, None)
    assert found.info["score"] == moff.PovScore(moff.Mate(-0), moff.BLACK)
    assert "pv" not in found.info


def test_an_analysis_has_the_numbers_of_a_search(engine: moff.Engine) -> None:
    board = moff.Board()
    info = engine.analyse(board, NODES)
    assert {"depth", "seldepth", "nodes", "nps", "time", "hashfull", "tbhits", "multipv", "pv"} <= info.keys()
    assert info["nodes"] <= NODES.nodes
    for move in info["pv"]:
        board.push(move)
    lines = engine.analyse(moff.Board(), NODES, multipv=3)
    assert [line["multipv"] for line in lines] == [1, 2, 3]
    assert len({line["pv"][0] for line in lines}) == 3
    some = [moff.Move.from_uci("a2a3"), moff.Move.from_uci("h2h3")]
    assert {line["pv"][0] for line in engine.analyse(moff.Board(), NODES, multipv=9, root_moves=some)} == {
        *some
    }


def test_castling_is_written_as_on_the_board(engine: moff.Engine) -> None:
    text = "4k3/8/8/8/8/8/8/4K2R w K - 0 1"
    for chess960, castling in ((False, "e1g1"), (True, "e1h1")):
        board = moff.Board(text, chess960=chess960)
        move = engine.play(board, moff.Limit(depth=2), root_moves=[board.parse_san("O-O")]).move
        assert move == moff.Move.from_uci(castling)


def test_the_moves_of_the_game_count_for_repetitions(engine: moff.Engine) -> None:
    board = moff.Board("6k1/5ppp/8/8/8/8/1r3q2/6QK b - - 0 1")
    for text in ("Qe2", "Qf1", "Qh5+", "Kg1", "Qg5+", "Kh1", "Qh5+", "Kg1", "Qg5+", "Kh1"):
        board.push_san(text)
    repeating = [board.parse_san("Qh5+")]
    (info,) = engine.analyse(board, moff.Limit(depth=3), multipv=1, root_moves=repeating)
    forgetful = engine.analyse(
        board.copy(stack=False), moff.Limit(depth=3), root_moves=repeating, game="other"
    )
    assert info["score"].relative == moff.Cp(0) < forgetful["score"].relative


def test_one_thread_finds_the_same_again_in_another_game() -> None:
    with moff.Engine(hash=1, threads=1) as engine:
        found = [engine.analyse(moff.Board(), NODES, game=number) for number in range(3)]
    assert len({(info["nodes"], str(info["score"]), str(info["pv"])) for info in found}) == 1


def test_leaving_the_loop_stops_the_search(engine: moff.Engine) -> None:
    depths = []
    for info in engine.analysis(moff.Board()):
        depths.append(info["depth"])
        if info["depth"] >= 3:
            break
    assert depths == sorted(depths)
    assert engine.play(moff.Board(), moff.Limit(depth=1)).move


def test_a_search_that_nothing_refers_to_stops(engine: moff.Engine) -> None:
    analysis = engine.analysis(moff.Board())
    del analysis
    gc.collect()
    assert engine.play(moff.Board(), moff.Limit(depth=1)).move


def test_a_stopped_search_has_a_result(engine: moff.Engine) -> None:
    with engine.analysis(moff.Board(), multipv=2) as analysis:
        first = next(iter(analysis))
        assert first["multipv"] == 1
        analysis.stop()
        found = analysis.wait()
        assert found == analysis.best
        assert found.move == analysis.info["pv"][0] == analysis.multipv[0]["pv"][0]
    assert list(analysis) == []


def test_an_old_analysis_does_not_stop_a_new_one(engine: moff.Engine) -> None:
    old = engine.analysis(moff.Board(), moff.Limit(depth=1))
    while not old.multipv or engine._search.is_running():
        time.sleep(0.01)
    with engine.analysis(moff.Board()) as new:
        old.stop()
        del old
        assert max(info["depth"] for info in itertools.islice(new, 4)) > 1


def test_an_engine_that_searches_refuses_another_search(engine: moff.Engine) -> None:
    with engine.analysis(moff.Board()) as analysis:
        with pytest.raises(RuntimeError, match="the engine is searching"):
            engine.play(moff.Board(), moff.Limit(depth=1))
        assert next(iter(analysis))["depth"] == 1
    assert engine.play(moff.Board(), moff.Limit(depth=1)).move


def test_engines_search_side_by_side() -> None:
    found: list[moff.PlayResult] = []

    def play() -> None:
        with moff.Engine(hash=1, threads=1) as engine:
            found.extend(engine.play(moff.Board(), NODES, game=number) for number in range(3))

    threads = [threading.Thread(target=play) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 12
    assert len({(result.move, result.info["nodes"]) for result in found}) == 1


def test_an_engine_frees_its_threads() -> None:
    before = threading.active_count()
    for number in range(10):
        engine = moff.Engine(hash=1)
        analysis = engine.analysis(moff.Board())
        next(iter(analysis))
        if number % 2:
            engine.close()
        del engine, analysis
    deadline = time.monotonic() + 60
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() == before


def test_a_closed_engine_says_so() -> None:
    engine = moff.Engine(hash=1)
    with engine.analysis(moff.Board()):
        engine.close()
    engine.quit()
    assert repr(engine) == "Engine(hash=1, threads=2)"
    with pytest.raises(RuntimeError, match="closed"):
        engine.play(moff.Board(), moff.Limit(depth=1))


@pytest.mark.skipif(not (SHARED / "syzygy").is_dir(), reason="../shared/data/syzygy is missing")
def test_tablebases_and_strength_are_options() -> None:
    with moff.Engine(hash=1, threads=1, syzygy=str(SHARED / "syzygy")) as engine:
        info = engine.analyse(moff.Board("8/8/8/8/8/2k5/4R3/K7 w - - 0 1"), moff.Limit(depth=3))
        assert info["tbhits"]
        assert info["score"].white().score(mate_score=32_000) > 19_000
    with moff.Engine(hash=1, elo=400) as engine:
        assert engine.play(moff.Board(), moff.Limit(time=60)).info["nodes"] < 1000


@pytest.mark.parametrize("name", ["hash", "threads", "elo"])
def test_an_engine_says_which_of_its_numbers_is_none(name: str) -> None:
    for value in ("x", "", 1.5):
        with pytest.raises(TypeError, match=f"{name} must be a whole number, not {value!r}"):
            moff.Engine(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"limit": moff.Limit()}, "does not end a search"),
        ({"limit": moff.Limit(white_inc=0, remaining_moves=3)}, "does not end a search"),
        ({"limit": moff.Limit(time=-1)}, "the limit time must be from 0 to 9007199254740, not -1"),
        ({"limit": moff.Limit(time=float("nan"))}, "the limit time must be from 0 to 9007199254740, not nan"),
        ({"limit": moff.Limit(nodes=10**30)}, "the limit nodes must be from 0 to 9007199254740, not 1000"),
        ({"limit": None}, "None is not a Limit"),
        ({"limit": moff.Limit(depth="3")}, "the limit depth must be a number, not '3'"),
        ({"board": moff.Board.empty()}, "White has 0 kings"),
        ({"board": moff.Board("4k3/8/8/8/8/8/8/4R2K w - - 0 1")}, "not to move is in check"),
        ({"board": None}, "None is not a Board"),
        ({"board": moff.Board().fen()}, "is not a Board"),
        ({"multipv": -1}, "-1 is not a limit"),
        ({"multipv": "3"}, "str"),
        ({"root_moves": []}, "no root_moves"),
        ({"root_moves": [moff.Move.from_uci("e2e5")]}, "'e2e5' is not a legal move"),
    ],
)
def test_what_cannot_be_searched_is_refused(
    engine: moff.Engine, arguments: dict[str, object], reason: str
) -> None:
    options = {"board": moff.Board(), "limit": moff.Limit(depth=1), **arguments}
    with pytest.raises((ValueError, TypeError), match=reason):
        engine.analyse(**options)  # type: ignore[arg-type]
    assert engine.play(moff.Board(), moff.Limit(nodes=0)).move


INTERRUPTED = """
import os, signal, sys, threading, time
import moff
engine = moff.Engine(hash=1)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    {}
except KeyboardInterrupt:
    pass
else:
    sys.exit(3)
began = time.perf_counter()
move = engine.play(moff.Board(), moff.Limit(depth=1)).move
print(move, time.perf_counter() - began < {})
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to one process")
@pytest.mark.parametrize(
    "call",
    [
        "engine.play(moff.Board(), moff.Limit(time=1000))",
        "engine.analyse(moff.Board(), moff.Limit(depth=200))",
        "analysis = engine.analysis(moff.Board()); [time.sleep(1000) for info in analysis]",
        "moff.review('1. e4 e5', moff.Limit(time=1000))",
    ],
)
def test_an_interrupt_stops_the_search(call: str) -> None:
    code = INTERRUPTED.format(call, scaled(0.5, 20))
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", cwd=ROOT)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.endswith(" True\n")


def test_a_program_may_end_while_an_engine_searches() -> None:
    code = (
        "import moff; engine = moff.Engine(hash=1); found = engine.analysis(moff.Board()); next(iter(found))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", cwd=ROOT)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
