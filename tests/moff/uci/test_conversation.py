"""The UCI conversation, with the real process over pipes."""

import errno
import os
import re
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import chess
import chess.polyglot
import pytest

from moff import __version__
from moff.uci.conversation import Engine
from tests.client import (
    ENGINE,
    LINES,
    PATIENCE,
    Conversation,
    info_lines,
    nodes_of,
    on_threads,
    run,
    with_threads,
)
from tests.oracle import reference_perft, scaled
from tests.searches import KIWIPETE
from x88 import build
from x88.notation import fen
from x88.notation.outcome import Outcome, outcome

STATUS = Path("/proc/self/status")
DEPTH = 6 if build.compiled else 4  # deep enough for a full table to save nodes


def test_uci_lists_the_options_and_unknown_words_are_skipped(moff: Conversation) -> None:
    moff.send("uci")
    lines = moff.until("uciok")
    assert any(line.startswith("id author ") for line in lines)
    assert set(lines) >= {
        f"id name Moff {__version__}{build.label()}",
        "option name Hash type spin default 16 min 1 max 65536",
        "option name Threads type spin default 1 min 1 max 1024",
        "option name Clear Hash type button",
        "option name Ponder type check default false",
    }
    about = "option name UCI_EngineAbout type string default Moff"
    (line,) = (line for line in lines if line.startswith(about))
    assert line.endswith(" compiled" if build.compiled else " uncompiled")
    moff.ready()
    moff.send("", "   ", "joho", "stop", "ponderhit", "joho isready", "\tgo\tdepth 1 joho\r")
    assert moff.until("bestmove")[0] == "readyok"


def test_an_uncompiled_build_says_so_and_why() -> None:
    with Conversation() as conversation:
        assert any("uncompiled" in line for line in conversation.ready()) == (not build.compiled)
    with Conversation(pure=True) as conversation:
        (notice,) = conversation.ready()
        assert notice.startswith("info string ")
        assert "uncompiled" in notice
        assert "MOFF_PURE" in notice
        conversation.send("uci")
        assert conversation.read().endswith(" (uncompiled)")
    pure = dict(os.environ, MOFF_PURE="1")
    for command in ("moves", "d"):
        ended = subprocess.run([*ENGINE, command], capture_output=True, encoding="utf-8", env=pure)
        assert ended.stderr == notice.removeprefix("info string ") + "\n"


@on_threads
def test_limits_end_a_search_with_a_legal_bestmove(moff: Conversation) -> None:
    moff.send("position startpos moves e2e4 e7e5", f"go depth {DEPTH}")
    lines = moff.until("bestmove")
    # On a busy machine it takes more than a second, and root moves and bounds are reported too.
    reports = [line for line in info_lines(lines) if " score " in line and "bound" not in line]
    depths = [int(line.split()[2]) for line in reports]
    if moff.threads == 1:
        assert depths == list(range(1, DEPTH + 1))
    else:  # another thread may be the first to reach the depth
        assert depths == sorted(depths)
        assert depths[-1] == DEPTH
    for line in reports:
        assert LINES.fullmatch(line), line
    board = chess.Board()
    board.push_uci("e2e4")
    board.push_uci("e7e5")
    best, *ponder = lines[-1].removeprefix("bestmove ").split(" ponder ")
    assert best == reports[-1].split(" pv ")[1].split()[0]
    for move in (best, *ponder):
        board.push_uci(move)
    moff.send("position startpos", "go nodes 0")
    assert moff.until("bestmove")[-2].startswith("info depth 1 seldepth 1 ")
    moff.send("go nodes 700")
    counts = [int(re.search(r"nodes (\d+)", line)[1]) for line in info_lines(moff.until("bestmove"))]
    assert counts == sorted(counts)
    assert counts[-1] == 700
    moff.send("position fen kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", "go mate 2")
    reports = info_lines(moff.until("bestmove a1a6"))
    assert ["score mate 2" in line for line in reports] == [False] * (len(reports) - 1) + [True]
    moff.send("go mate 1 depth 3")
    assert "score mate 1" not in "".join(moff.until("bestmove")), "there is none: the depth ends it"
    began = time.perf_counter()
    moff.send("position startpos", "go movetime 300")
    moff.until("bestmove")
    assert 0.25 <= time.perf_counter() - began < 5


@pytest.mark.slow
def test_a_move_comes_within_any_clock(moff: Conversation) -> None:
    for clock in (
        *("wtime 500 btime 500 winc 20 binc 20", "btime 400 wtime 400 movestogo 1", "wtime 300 movestogo 0"),
        *("btime 300", "wtime -50 btime 100", "wtime 1 btime 1", "binc 200", "movetime -5", "depth 0"),
    ):
        moff.ready()
        began = time.perf_counter()
        moff.send("position startpos", f"go {clock}")
        assert not any("info string" in line for line in moff.until("bestmove"))
        # The time that the clocks above leave, and what a busy machine may add.
        assert time.perf_counter() - began < 3, clock


@on_threads
def test_a_position_without_legal_moves_has_no_bestmove(moff: Conversation) -> None:
    for position, score in (("7k/6Q1/6K1/8/8/8/8/8 b", "mate 0"), ("7k/5Q2/6K1/8/8/8/8/8 b", "cp 0")):
        moff.send(f"position fen {position} - - 0 1", "go depth 5")
        *before, last = moff.until("bestmove")
        assert last == "bestmove (none)"
        assert [f"score {score} " in line for line in info_lines(before)] == [True]


@on_threads
def test_another_go_a_position_or_a_new_game_ends_the_search(moff: Conversation) -> None:
    for command in ("go depth 2", "position startpos moves e2e4", "ucinewgame"):
        moff.send("position startpos", "go infinite")
        assert not any(line.startswith("bestmove") for line in moff.ready())
        moff.send(command)
        moff.until("bestmove")
        if command.startswith("go"):
            moff.until("bestmove")
        assert moff.ready() == []
        moff.send("go depth 1")
        board = chess.Board()
        if "e2e4" in command:
            board.push_uci("e2e4")
        assert chess.Move.from_uci(moff.until("bestmove")[-1].split()[1]) in board.legal_moves


def test_a_faulty_position_keeps_the_old_one(moff: Conversation) -> None:
    for line, reason in (
        ("position", "startpos or fen"),
        ("position fen", "0 fields"),
        ("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "White has 0 kings"),
        ("position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR x KQkq - 0 1", "'x'"),
        ("position startpos moves e2e4 e7e5 e4e5", "'e4e5' is not a legal move"),
        ("position startpos moves e2e4 nonsense", "'nonsense' is not a legal move"),
        ("position startpos junk", "startpos or fen"),
    ):
        moff.send("position startpos moves g1f3 g8f6 f3g1 f6g8 e2e3")
        moff.ready()
        moff.send(line, "d")
        answer, *shown = moff.ready()
        assert answer.startswith("info string position: ")
        assert reason in answer
        assert "Fen: rnbqkbnr/pppppppp/8/8/8/4P3/PPPP1PPP/RNBQKBNR b KQkq - 0 3" in shown
    for moves in ("", " moves e2e4", " moves e2e4 e7e5"):
        moff.send("position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq" + moves)
        assert [line[:22] for line in moff.ready()[-1:]] == ["info string position: "]


@pytest.mark.slow
def test_a_game_that_goes_on_equals_one_set_up_anew() -> None:
    """Longer, shorter, other, repeated, turned and faulty lines of moves, in any order."""
    said: list[str] = []
    engine = Engine(said.append)
    chance = Random(3)
    board = chess.Board()
    repeated = 0
    for _ in range(scaled(600, 100)):
        if chance.random() < 0.05:
            engine.execute("flip")
        moves = board.move_stack[: chance.choice((*[9999] * 8, chance.randint(0, len(board.move_stack))))]
        board = chess.Board(chance.choice([chess.STARTING_FEN] * 9 + ["4k2r/8/8/8/8/8/8/R3K3 w Qk - 95 40"]))
        position = "startpos" if board.board_fen() == chess.STARTING_BOARD_FEN else f"fen {board.fen()}"
        for move in moves:
            if move not in board.legal_moves:
                break
            board.push(move)
        # Kings and knights that go to and fro repeat positions.
        legal = list(board.legal_moves)
        back = {chess.Move(move.to_square, move.from_square) for move in board.move_stack[-2:-1]} & {*legal}
        if legal and chance.random() < 0.85:
            board.push(back.pop() if back and chance.random() < 0.7 else chance.choice(legal))
        line = f"position {position} moves {' '.join(map(str, board.move_stack))}"
        engine.execute(f"{line} a1a1")
        engine.execute(line.removesuffix(" moves "))
        assert fen.write(engine._board) == board.fen(en_passant="legal")
        assert engine._board.key == chess.polyglot.zobrist_hash(board)
        is_drawn = board.is_repetition(3) or board.is_fifty_moves()
        assert (outcome(engine._board) in (Outcome.REPETITION, Outcome.FIFTY_MOVES)) == is_drawn
        repeated += is_drawn
    assert repeated > 3 or not build.compiled  # too few moves for it
    assert all("not a legal move" in line for line in said)


def test_a_bad_value_is_named_once_and_changes_nothing(moff: Conversation) -> None:
    moff.ready()
    for line, reason in (
        ("setoption name Hash value 65537", "from 1 to 65536, not '65537'"),
        ("setoption name Hash value many", "'many'"),
        ("setoption name Two Words value 3", "no option 'Two Words'"),
        ("setoption Hash 32", "name"),
        ("setoption", "name"),
        ("setoption name MultiPV value 0", "MultiPV takes a whole number from 1 to 256, not '0'"),
        ("setoption name MultiPV", "not ''"),
        ("setoption name Threads value 1025", "Threads takes a whole number from 1 to 1024, not '1025'"),
        ("setoption name uci_showwdl value yes", "UCI_ShowWDL takes true or false, not 'yes'"),
        ("debug perhaps", "not 'perhaps'"),
        ("bench x", "'x'"),
        ("bench 1 2 3 no/file", f"bench: 'no/file' cannot be read: {os.strerror(errno.ENOENT)}"),
        ("perft x", "'x'"),
        ("perft 65", "from 1 to 64, not '65'"),
        ("go perft 99999999999999999999", "perft"),
        ("go perft", "perft"),
    ):
        moff.send(line)
        (answer,) = moff.ready()
        assert answer.startswith("info string ")
        assert reason in answer
        moff.send("go depth 2")
        scores = [line for line in moff.until("bestmove") if " score " in line and "bound" not in line]
        assert [" multipv 1 " in line for line in scores] == [True, True]
    moff.ready()
    for limits, reason in (
        ("depth x", "depth takes a whole number from 0 to 1000000000000000, not 'x'"),
        ("depth -1", "not '-1'"),
        ("movetime", "movetime takes a whole number from -1000000000000000"),
        ("nodes 1e9", "'1e9'"),
        ("movetime 300.5", "not '300.5'"),
        ("wtime btime 30", "not ''"),
        ("movestogo -1 wtime 30 btime 30", "'-1'"),
        ("mate one", "'one'"),
    ):
        moff.send(f"go {limits}")
        lines = moff.until("bestmove")
        (answer,) = [line for line in lines if line.startswith("info string")]
        assert answer.startswith("info string go: ")
        assert reason in answer
        assert chess.Move.from_uci(lines[-1].split()[1]) in chess.Board().legal_moves
        if "300.5" in limits:
            assert int(lines[-2].split(" time ")[1].split()[0]) > 150, "it counts as 300"


@pytest.mark.slow
def test_numbers_of_any_length_are_large_ones(moff: Conversation) -> None:
    moff.ready()
    for nodestime in (0, 10_000):
        moff.send(f"setoption name nodestime value {nodestime}")
        for limits in (
            f"nodes {'9' * 5000} depth 2",
            "movetime 1000000000000000 depth 2",
            "wtime 1000000000000000 winc 1000000000000000 btime 1 depth 2",
            f"wtime -{'9' * 5000} btime 1",
            "mate 1000000000000000 depth 2",
        ):
            moff.send("ucinewgame", f"go {limits}")
            assert not any(line.startswith("info string") for line in moff.until("bestmove"))
    assert moff.end() == 0
    assert moff.process.stderr.read() == b""


def test_the_table_stays_until_a_clear_or_a_new_game(moff: Conversation) -> None:
    moff.ready()
    counts = []
    for between in ("setoption name hAsH value 2", "joho", "setoption name CLEAR hash", "ucinewgame"):
        moff.send(between, "position startpos", f"go depth {DEPTH}")
        lines = moff.until("bestmove")
        assert not any(line.startswith("info string") for line in lines)
        counts.append((nodes_of(lines, DEPTH // 2), nodes_of(lines)))
    first, again, *others = counts
    assert again[0] < first[0], "what is known costs nothing"
    assert others == [first] * 2


@on_threads
def test_an_option_set_during_a_search_takes_effect_after_it(moff: Conversation) -> None:
    moff.ready()
    moff.send("go infinite", "setoption name MultiPV value 2", "setoption name Threads value 3")
    moff.send("setoption name Hash value 2")
    time.sleep(0.3)
    moff.send("stop")
    lines = moff.until("bestmove")
    assert not any(" multipv 2 " in line or line.startswith("info string") for line in lines)
    moff.send(f"go depth {DEPTH}")
    assert any(" multipv 2 " in line for line in moff.until("bestmove"))
    moff.send("go infinite", "setoption name Threads value 1", "setoption name Hash value 1", "stop")
    moff.until("bestmove")
    moff.send("setoption name MultiPV value 1", "go depth 1")
    assert nodes_of(moff.until("bestmove")) < 200, "the table is new"
    assert moff.ready() == []


def test_perft_divides_and_sums_up_on_any_number_of_threads(moff: Conversation) -> None:
    board = chess.Board(KIWIPETE)
    expected = {}
    for move in board.legal_moves:
        board.push(move)
        expected[move.uci()] = str(reference_perft(board, 2))
        board.pop()
    moff.ready()
    moff.send(f"position fen {KIWIPETE}")
    lists = set()
    for threads, ask in ((1, "go perft"), (2, "perft"), (5, "go perft"), (1024, "perft")):
        moff.send(f"setoption name Threads value {threads}", f"{ask} 3")
        *divided, empty, total, speed = moff.until("info string 97862 nodes")
        lists.add(tuple(divided))
        assert dict(line.split(": ") for line in divided) == expected
        assert (empty, total) == ("", "Nodes searched: 97862"), "as other engines print it"
        assert re.fullmatch(r"info string 97862 nodes \d+\.\d+ s \d+ nodes/s", speed)
    assert len(lists) == 1, "always in the same order"
    moff.send("setoption name UCI_Chess960 value true", f"position fen {KIWIPETE}", "go perft 1")
    assert {"e1h1: 1", "e1a1: 1"} < set(moff.until("info string 48 nodes"))


def test_a_perft_that_is_refused_a_thread_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    said: list[str] = []
    engine = Engine(said.append)
    engine.carry_out(["go perft 3", "isready"])
    assert engine.faults == 1
    assert said == ["info string can't start new thread", "readyok"]


@pytest.mark.slow
@on_threads
def test_stop_ends_a_perft(moff: Conversation) -> None:
    for _ in range(2):
        moff.send("position startpos", "go perft 14", "isready")
        moff.until("readyok")
        time.sleep(0.3)
        began = time.perf_counter()
        moff.send("stop")
        said = moff.until("info string perft stopped")[-1]
        assert re.fullmatch(r"info string perft stopped after \d+ nodes?", said)
        assert time.perf_counter() - began < 10
    moff.send("go perft 3")
    assert "Nodes searched: 8902" in moff.until("info string ")
    moff.send("go depth 100", "stop", "go perft 14", "stop", "bench 16 1 100", "stop", "quit")
    assert moff.process.wait(PATIENCE) == 0


def outputs(threads: int, talk: str) -> Iterator[list[str]]:
    """The outputs of engines that end by themselves, soon after "quit" or the end of their input."""
    for end in ("quit\n", ""):
        ended = run(text=f"setoption name Threads value {threads}\n{talk}\n{end}")
        assert (ended.code, ended.errors) == (0, "")
        yield ended.output.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked",
    # A ponderhit that no search waits for says nothing of what runs now.
    ["go perft {}", "perft {}", "go infinite\nstop\ngo perft {}\nponderhit", "bench 16 1 3"],
)
def test_quit_waits_for_a_perft_or_a_bench(asked: str) -> None:
    depth, leaves = (5, 4865609) if build.compiled else (3, 8902)
    last = "[0-9]+ nodes [0-9]+ nps" if "bench" in asked else f"info string {leaves} nodes "
    for lines in outputs(1, asked.format(depth)):
        assert re.match(last, lines[-1])
        assert "stopped" not in "".join(lines)


LONG = [
    *("go infinite", "go depth 100", "go wtime 36000000 btime 36000000 winc 20000 binc 20000", "go mate 30"),
    *("go ponder depth 1", "go ponder wtime 36000000 btime 36000000\nponderhit"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("threads", "search"), with_threads(LONG, LONG[:4]))
def test_quit_stops_every_search_at_once(threads: int, search: str) -> None:
    for *reports, last in outputs(threads, search):
        assert chess.Move.from_uci(last.split()[1]) in chess.Board().legal_moves
        assert not any(line.startswith("bestmove") for line in reports)


@pytest.mark.slow
def test_the_number_of_threads_changes_between_searches(moff: Conversation) -> None:
    moff.ready()
    for number in (2, 40, 3, 1):
        moff.send(f"setoption name Threads value {number}", "go infinite")
        if STATUS.exists():
            while len(os.listdir(f"/proc/{moff.process.pid}/task")) <= number:
                moff.read()  # they start one by one
        moff.send("stop", f"go nodes {scaled(200_000, 4000)}")
        moff.until("bestmove")
        # What the helpers have searched since they last reported is not in the line.
        nodes = nodes_of([line for line in moff.until("bestmove") if " score " in line])
        assert scaled(100_000, 2000) <= nodes <= scaled(200_000, 4000)


@pytest.mark.skipif(
    not STATUS.exists() or "VmHWM" not in STATUS.read_text(errors="replace", encoding="utf-8"),
    reason="this system does not report peak memory",
)
@pytest.mark.skipif(
    not build.compiled or "asan" in os.environ.get("LD_PRELOAD", ""),
    reason="uncompiled, or with the address sanitizer, it takes more",
)
def test_a_search_with_a_table_of_16_megabytes_takes_less_than_60(moff: Conversation) -> None:
    moff.send("setoption name Hash value 16", "go nodes 300000")
    moff.until("bestmove")
    status = Path(f"/proc/{moff.process.pid}/status").read_text(errors="replace", encoding="utf-8")
    (kilobytes,) = re.findall(r"VmHWM:\s+(\d+) kB", status)
    assert 20_000 < int(kilobytes) < 60_000
