"""bench/match.py: games by the rules, faults on the right side, files that go on, right statistics."""

import contextlib
import importlib
import math
import os
import re
import shlex
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import chess
import chess.pgn
import chess.syzygy
import pytest

from tests.client import ENGINE
from tests.oracle import SHARED, scaled, verdict
from x88 import fen

pytest.importorskip("tabulate", reason="the bench extra is not installed")
pytest.importorskip("tqdm", reason="the bench extra is not installed")

SCRIPT = Path(__file__).resolve().parent.parent / "bench" / "match.py"
FAKE = Path(__file__).with_name("fake_engine.py")

sys.path.append(str(SCRIPT.parent))
match: Any = importlib.import_module("match")
adjudication: Any = importlib.import_module("adjudication")
game_module: Any = importlib.import_module("game")
scores: Any = importlib.import_module("score")
uci: Any = importlib.import_module("uci")

PATCHED = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); import match, game, uci, workers; {};"
    " sys.exit(match.main())"
)
"""The script with other constants, so that no test waits for half a minute."""

QUEEN_ENDING = "7k/8/8/8/8/8/Q7/K7 w - -"
BLACK_TO_MOVE = 'r3k2r/pppq1ppp/2npbn2/4p3/4P3/2NPBN2/PPPQ1PPP/R3K2R b KQkq - hmvc 3; id "a position";'
MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/R3K3 w Q -"

TABLES = SHARED / "syzygy"

WON = ("--score", "cp 900")
LOST = ("--score", "cp -900")


def fake(name: str, *arguments: object, limits: tuple[str, ...] = ()) -> list[str]:
    """An --engine option: a fake engine with these arguments."""
    command = shlex.join([sys.executable, str(FAKE), *map(str, arguments)])
    return ["--engine", f"name={name}", f"cmd={command}", *limits]


def run(*arguments: object, code: str = "") -> subprocess.CompletedProcess[str]:
    """Run the script, or with `code` a copy of it whose constants that changes."""
    start = ["-c", PATCHED.format(code), str(SCRIPT.parent)] if code else [str(SCRIPT)]
    return subprocess.run(
        [sys.executable, *start, *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )


def play(
    file: Path, *arguments: object, first: tuple[object, ...] = (), second: tuple[object, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Play a match of two fake engines, called "first" and "second"; `file` takes the games."""
    engines = [*fake("first", *first), *fake("second", "--seed", 1, *second)]
    if "--each" not in arguments:
        engines += ["--each", "nodes=10"]
    return run(*engines, "--pgn", file, *arguments)


def read(file: Path) -> list[chess.pgn.Game]:
    """The games of a file, read by python-chess: whole, legal, with the result that the rules give them."""
    games = []
    with open(file, encoding="utf-8") as stream:
        while (game := chess.pgn.read_game(stream)) is not None:
            games.append(game)
    for game in games:
        assert game.errors == []
        board = game.board()
        for move in game.mainline_moves():
            assert verdict(board) is None, "a game went on after its end"
            assert move in board.legal_moves
            board.push(move)
        over = verdict(board)
        result, how = game.headers["Result"], game.headers["Termination"]
        assert result in ("1-0", "0-1", "1/2-1/2")
        assert (over is not None) is (how == "normal")
        if over is not None:
            assert (result, over[1]) == (over[0], comments(game)[-1].rpartition("; ")[2])
        assert game.headers["Date"].count(".") == 2
    return games


def comments(game: chess.pgn.Game) -> list[str]:
    """The comments of all moves; of the game, if there are none."""
    found = [node.comment for node in game.mainline()] or [game.comment]
    return [" ".join(comment.split()) for comment in found]


def rounds(games: list[chess.pgn.Game]) -> list[str]:
    """Their Round tags, sorted by number."""
    return sorted((game.headers["Round"] for game in games), key=lambda text: [*map(int, text.split("."))])


def pairs(count: int) -> list[str]:
    """The Round tags of so many pairs of games."""
    return [f"{i}.{half}" for i in range(1, count + 1) for half in (1, 2)]


def openings(folder: Path, *lines: str, name: str = "openings.epd") -> Path:
    """A file of openings."""
    file = folder / name
    file.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return file


def lines_of(log: Path, word: str) -> list[str]:
    """The lines that begin with a word, of those that an engine was sent."""
    lines = [line.partition(" ")[2] for line in log.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if line.split()[:1] == [word]]


def values_of(log: Path, key: str) -> list[int]:
    """What every go line said of one of its parameters."""
    return [int(words[words.index(key) + 1]) for words in map(str.split, lines_of(log, "go"))]


# --- Games


def test_every_opening_is_played_twice_with_colours_reversed(tmp_path: Path) -> None:
    file = openings(tmp_path, "# a comment", QUEEN_ENDING, "", BLACK_TO_MOVE)
    ended = play(tmp_path / "a.pgn", "--openings", file, "--games", 6, "--longest", 6)
    assert ended.returncode == 0, ended.stderr
    games = read(tmp_path / "a.pgn")
    assert [game.headers["Round"] for game in games] == pairs(3)
    starts = {chess.Board(fen + " 0 1").fen() for fen in (QUEEN_ENDING, BLACK_TO_MOVE.partition(" hmvc")[0])}
    assert {game.board().fen() for game in games[:4]} == starts
    for one, other in zip(games[::2], games[1::2], strict=True):
        assert (one.headers["White"], one.headers["Black"]) == ("first", "second")
        assert (other.headers["White"], other.headers["Black"]) == ("second", "first")
        assert one.board().fen() == other.board().fen()
    assert games[4].board().fen() == games[0].board().fen(), "the openings come round again"


@pytest.mark.skipif(not TABLES.is_dir(), reason="../shared/data/syzygy is missing")
def test_a_game_that_tables_know_ends_with_what_they_say(tmp_path: Path) -> None:
    lines = ("8/8/8/3k4/3q4/2Q5/8/K7 w - -", "8/8/8/3kb3/3p4/2Q5/8/K7 w - -", "7k/8/8/8/8/8/Q7/K7 w - -")
    file = openings(tmp_path, *lines)
    ended = play(tmp_path / "a.pgn", "--openings", file, "--games", 6, "--longest", 40, "--tables", TABLES)
    assert ended.returncode == 0, ended.stderr
    known = 0
    with chess.syzygy.open_tablebase(str(TABLES)) as tables:
        for game in read(tmp_path / "a.pgn"):
            assert game.headers["Adjudication"] == f"--longest 40 --tables {TABLES}"
            if comments(game)[-1].endswith("adjudication: tablebases"):
                known += 1
                board = game.end().board()
                told = tables.probe_wdl(board) * (1 if board.turn else -1)
                assert game.headers["Result"] == {2: "1-0", -2: "0-1"}.get(told, "1/2-1/2")
    assert known
    ended = play(tmp_path / "b.pgn", "--tables", tmp_path / "nowhere")
    assert (ended.returncode, ended.stderr.count("No such file or directory")) == (2, 1)


def test_openings_from_pgn_are_played_out_to_their_last_ply(tmp_path: Path) -> None:
    texts = [
        "1. e4 {a comment} e5 (1... c5) 2. Nf3 *",
        '[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 0 1"]\n\n1... Kd7 *',
    ]
    file = openings(tmp_path, *(f'[Event "?"]\n{text}\n' for text in texts), name="openings.PGN")
    ended = play(tmp_path / "a.pgn", "--openings", file, "--games", 4, "--longest", 4)
    assert ended.returncode == 0, ended.stderr
    games = read(tmp_path / "a.pgn")
    begun = Counter()
    for game in games:
        moves = [move.uci() for move in game.mainline_moves()]
        known = ["e2e4", "e7e5", "g1f3"] if game.board().turn else ["e8d7"]
        assert moves[: len(known)] == known
        assert len(moves) > len(known)
        said = comments(game)
        assert not any(said[: len(known)])
        assert all(said[len(known) :]), "every move of the engines has its score"
        begun[len(known)] += 1
    assert begun == {3: 2, 1: 2}


def test_plies_cuts_openings_short(tmp_path: Path) -> None:
    file = openings(tmp_path, "1. a3 a6 2. h3 h6 *", name="openings.pgn")
    ended = play(tmp_path / "a.pgn", "--openings", file, "--games", 1, "--longest", 3, "--plies", 2)
    assert ended.returncode == 0, ended.stderr
    (game,) = read(tmp_path / "a.pgn")
    assert [move.uci() for move in game.mainline_moves()][:2] == ["a2a3", "a7a6"]
    assert [bool(comment) for comment in comments(game)[:3]] == [False, False, True]


def test_the_same_seed_gives_the_same_match_and_another_one_another_order(tmp_path: Path) -> None:
    file = openings(tmp_path, *(f"4k3/8/8/8/8/8/{i}P{7 - i}/4K3 w - -".replace("0", "") for i in range(8)))
    found = []
    for seed in (1, 1, 2):
        target = tmp_path / f"{len(found)}.pgn"
        play(target, "--openings", file, "--games", 1, "--longest", 2, "--seed", seed)
        found.append([(game.board().fen(), *game.mainline_moves()) for game in read(target)])
    assert found[0] == found[1]
    assert found[0] != found[2]


def test_moff_mates_an_engine_that_plays_at_random(tmp_path: Path) -> None:
    moff = ["--engine", "name=Moff", f"cmd={shlex.join(ENGINE)}", f"nodes={scaled(3000, 500)}"]
    ended = run(
        *moff,
        "option.Hash=1",
        *fake("random", limits=("depth=1",)),
        "--games",
        2,
        "--pgn",
        tmp_path / "a.pgn",
    )
    assert ended.returncode == 0, ended.stderr
    games = read(tmp_path / "a.pgn")
    assert [game.headers["Result"] for game in games] == ["1-0", "0-1"]
    assert all(comments(game)[-1].endswith("; checkmate") for game in games)
    assert "2 0 0" in ended.stdout
    assert "wrong variations" not in ended.stdout


def test_a_mate_a_stalemate_and_a_game_that_is_over_before_it_begins_are_judged(tmp_path: Path) -> None:
    mated = "R5k1/5ppp/8/8/8/8/8/4K3 b - -"
    stalemate = "7k/5Q2/8/8/8/8/8/K7 b - -"
    file = openings(tmp_path, mated, stalemate)
    ended = play(tmp_path / "a.pgn", "--openings", file, "--games", 4)
    assert ended.returncode == 0, ended.stderr
    results = Counter(game.headers["Result"] for game in read(tmp_path / "a.pgn"))
    assert results == {"1-0": 2, "1/2-1/2": 2}


RECORDED = [
    Path(__file__).with_name("match.pgn"),
    *map(Path, filter(None, os.environ.get("MOFF_MATCHES", "").split(os.pathsep))),
]
"""Files of real matches: two games each against four other engines, and those that MOFF_MATCHES names."""


@pytest.mark.parametrize("file", RECORDED, ids=lambda path: path.name)
def test_every_game_of_a_real_match_is_legal_and_has_the_result_that_the_rules_give(file: Path) -> None:
    games = read(file)
    assert len(games) == file.read_bytes().count(b"[Event ")
    for game in games:
        headers = game.headers
        assert headers["Termination"] in ("normal", "adjudication", *game_module.FAULTS.values())
        assert int(headers["PlyCount"]) == len(list(game.mainline_moves()))
        assert all(comments(game)[16:]), "every move of the engines has its score"


def test_games_go_on_several_at_a_time(tmp_path: Path) -> None:
    ended = play(tmp_path / "a.pgn", "--games", 7, "--longest", 5, "--concurrency", 2)
    assert ended.returncode == 0, ended.stderr
    assert b"\n\n\n" not in (tmp_path / "a.pgn").read_bytes(), "one empty line stands between games"
    assert rounds(read(tmp_path / "a.pgn")) == pairs(4)[:7]
    assert "7 (3 pairs)" in ended.stdout
    assert "7/7" in ended.stderr, "the progress bar"
    assert "Elo" in ended.stderr
    assert "LOS" in ended.stderr


def test_the_record_tells_the_settings_of_both_sides(tmp_path: Path) -> None:
    engines = [*fake("first", limits=("tc=40/60+0.6",)), *fake("second", limits=("nodes=7", "option.Hash=2"))]
    same = ["--games", 2, "--longest", 2, "--pgn", tmp_path / "a.pgn"]
    assert run(*engines, *same).returncode == 0
    for game, (first, second) in zip(
        read(tmp_path / "a.pgn"), (("White", "Black"), ("Black", "White")), strict=True
    ):
        tags = game.headers
        assert (tags[f"{first}TimeControl"], tags[f"{second}TimeControl"]) == ("40/60+0.6", "-")
        assert (tags[f"{first}Settings"], tags[f"{second}Settings"]) == (
            "tc=40/60+0.6",
            "nodes=7 option.Hash=2",
        )
        assert (tags["PlyCount"], "TimeControl" in tags) == ("4", False)
    assert play(tmp_path / "b.pgn", "--each", "tc=5+0.05", "--games", 1, "--longest", 2).returncode == 0
    tags = read(tmp_path / "b.pgn")[0].headers
    assert (tags["TimeControl"], tags["TimeMargin"]) == ("5+0.05", "20 ms")
    assert tags["Adjudication"] == "--longest 2"


@pytest.mark.parametrize("text", ["5+0.05", "40/60+0.6", "0.001+0", "900+10"])
def test_the_time_control_of_the_record_is_that_of_the_command_line(text: str) -> None:
    assert match.parse_clock(text).clock() == text


def test_an_option_that_an_engine_does_not_have_is_told_once(tmp_path: Path) -> None:
    options = ("option.hash=2", "option.Own Book=false")
    ended = play(tmp_path / "a.pgn", "--each", "nodes=5", *options, "--games", 2, "--longest", 2)
    assert ended.returncode == 0, ended.stderr
    for name in ("first", "second"):
        assert ended.stderr.count(f"{name} has no option 'Own Book'") == 1
    assert "hash" not in ended.stderr


def test_an_option_beyond_the_bounds_of_an_engine_is_told(tmp_path: Path) -> None:
    ended = play(
        tmp_path / "a.pgn",
        "--games",
        2,
        "--each",
        "nodes=5",
        "option.Hash=10",
        "option.UCI_Elo=x",
        "--longest",
        2,
    )
    assert ended.returncode == 0, ended.stderr
    for name in ("first", "second"):
        assert f"{name} takes Hash from 1 to 9, not 10\n" in ended.stderr
        assert f"{name} takes UCI_Elo from 1000 to 2000, not x\n" in ended.stderr


@pytest.mark.parametrize(
    ("line", "value", "told"),
    [
        ("option name A b type spin default 1 min 1 max 9", "9", []),
        ("option name a B type spin max 9 min -3 default 1", "-3", []),
        ("option name A b type spin default 1 min 1 max 9", "0", ["moff takes A b from 1 to 9, not 0"]),
        ("option name A b type spin default 1", "99", []),
        ("option name A b type string default <empty> min 1 max 2", "text", []),
        ("option name A b type check default true", "maybe", []),
        ("option name A type spin default 1 min 1 max 9", "1", ["moff has no option 'A b'"]),
        ("id name A b type spin", "1", ["moff has no option 'A b'"]),
    ],
)
def test_what_an_engine_makes_of_an_option(line: str, value: str, told: list[str]) -> None:
    spec = uci.EngineSpec("moff", ("moff",), (("A b", value),))
    assert uci.refused(spec, ["id name x", line]) == told


# --- Limits


def test_a_clock_with_increment_is_told_and_falls(tmp_path: Path) -> None:
    logs = [tmp_path / "first.log", tmp_path / "second.log"]
    first, second = (("--log", log, "--think", 0.1) for log in logs)
    ended = play(
        tmp_path / "a.pgn", "--each", "tc=5+0.05", "--games", 1, "--longest", 4, first=first, second=second
    )
    assert ended.returncode == 0, ended.stderr
    for log, own, other in ((logs[0], "wtime", "btime"), (logs[1], "btime", "wtime")):
        assert set(values_of(log, "winc")) == set(values_of(log, "binc")) == {50}
        times = values_of(log, own)
        assert times[0] == 5000
        assert len(times) == 4
        # What thinking takes, less the increment; a busy machine takes longer.
        assert all(0 < after <= before - 50 for before, after in pairwise(times))
        others = values_of(log, other)
        assert others == sorted(others, reverse=True)
        assert not any("movestogo" in line for line in lines_of(log, "go"))
    assert values_of(logs[0], "btime")[1:] == values_of(logs[1], "btime")[1:][:3]


def test_a_clock_for_a_number_of_moves_is_filled_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    ended = play(
        tmp_path / "a.pgn",
        *("--each", "tc=3/60+0.6", "--games", 1, "--longest", 7),
        first=("--log", log, "--think", 0.01),
    )
    assert ended.returncode == 0, ended.stderr
    assert values_of(log, "movestogo") == [3, 2, 1, 3, 2, 1, 3]
    assert set(values_of(log, "winc")) == {600}
    times = values_of(log, "wtime")
    assert times[0] == 60000
    steps = [after - before for before, after in pairwise(times)]
    assert [step > 30000 for step in steps] == [False, False, True, False, False, True]
    assert all(step <= 600 for step in steps if step < 30000)


@pytest.mark.parametrize("limit", ["movetime=30", "nodes=77", "depth=2"])
def test_a_limit_of_every_move_is_told(tmp_path: Path, limit: str) -> None:
    log = tmp_path / "log"
    ended = play(
        tmp_path / "a.pgn",
        "--each",
        limit,
        "option.Hash=2",
        "--games",
        1,
        "--longest",
        3,
        first=("--log", log),
    )
    assert ended.returncode == 0, ended.stderr
    assert lines_of(log, "go") == [f"go {limit.replace('=', ' ')}"] * 3
    assert lines_of(log, "setoption") == ["setoption name Hash value 2"]


def test_each_side_can_have_its_own_limit_which_goes_before_that_of_both(tmp_path: Path) -> None:
    logs = [tmp_path / "first.log", tmp_path / "second.log"]
    engines = [*fake("first", "--log", logs[0], limits=("nodes=5",)), *fake("second", "--log", logs[1])]
    ended = run(*engines, "--each", "nodes=7", "--games", 2, "--longest", 2, "--pgn", tmp_path / "a.pgn")
    assert ended.returncode == 0, ended.stderr
    assert set(lines_of(logs[0], "go")) == {"go nodes 5"}
    assert set(lines_of(logs[1], "go")) == {"go nodes 7"}


# --- Pondering


def test_an_engine_ponders_on_the_reply_it_expects_and_is_told_when_it_comes(tmp_path: Path) -> None:
    """The first engine knows what the second plays; the second takes the first for another one."""
    logs = [tmp_path / "first.log", tmp_path / "second.log"]
    engines = [
        *fake("first", "--seed", 0, "--expects", 1, "--log", logs[0]),
        *fake("second", "--seed", 1, "--expects", 7, "--log", logs[1]),
    ]
    limits = ["--each", "tc=60+1", "ponder=yes", "--games", 1, "--longest", 6]
    ended = run(*engines, *limits, "--pgn", tmp_path / "a.pgn")
    assert ended.returncode == 0, ended.stderr
    (game,) = read(tmp_path / "a.pgn")
    assert "ponder=yes" in game.headers["WhiteSettings"]
    assert "option.Ponder=true" in game.headers["WhiteSettings"]
    moves = [move.uci() for move in game.mainline_moves()]
    first, second = (
        [line.partition(" ")[2] for line in log.read_text(encoding="utf-8").splitlines()] for log in logs
    )
    assert "setoption name Ponder value true" in first
    # It is asked about one position once, also where the move was foreseen.
    positions = [line.split()[9:] for line in first if line.startswith("position")]
    assert positions[:3] == [[], moves[:2], moves[:4]]
    asked = [line for line in first if line.startswith(("go", "ponderhit", "stop"))]
    assert asked[0].startswith("go wtime 60000 btime 60000")
    assert re.fullmatch(r"go ponder wtime 6\d{4} btime 60000 winc 1000 binc 1000", asked[1])
    assert asked[2] == "ponderhit"
    assert "stop" not in asked
    wrong = [line for line in second if line.startswith(("go", "ponderhit", "stop", "position"))]
    at = next(i for i, line in enumerate(wrong) if line.startswith("go ponder"))
    assert wrong[at - 1].split()[9:] != moves[:3]
    assert wrong[at + 1] == "stop"
    assert wrong[at + 2].split()[9:] == moves[:3]
    assert wrong[at + 3].startswith("go wtime")


def test_a_move_while_it_ponders_is_a_fault(tmp_path: Path) -> None:
    engines = [*fake("first", "--expects", 1, "--fault", "hasty", "--at", 2), *fake("second", "--seed", 1)]
    ended = run(*engines, "--each", "tc=60+1", "ponder=yes", "--games", 1, "--pgn", tmp_path / "a.pgn")
    (game,) = read(tmp_path / "a.pgn")
    assert ended.returncode == 1
    assert game.headers["Termination"] == "moved while pondering"
    assert game.headers["Result"] == "0-1"


def test_an_impossible_reply_to_ponder_on_is_told(tmp_path: Path) -> None:
    limits = ["--each", "tc=60+1", "ponder=yes", "--games", 1, "--longest", 4]
    ended = play(tmp_path / "a.pgn", *limits)
    assert ended.returncode == 0
    assert "first cannot ponder on a reply: " in ended.stderr + ended.stdout
    (game,) = read(tmp_path / "a.pgn")
    assert int(game.headers["WhiteWarnings"]) == 4


# --- Faults


@pytest.mark.parametrize(
    ("fault", "termination"),
    [
        ("illegal", "rules infraction"),
        ("none", "rules infraction"),
        ("crash", "abandoned"),
        ("close", "disconnected"),
        ("late", "time forfeit"),
        ("stall", "stalled"),
    ],
)
def test_a_fault_loses_the_game_is_counted_apart_and_the_match_goes_on(
    tmp_path: Path, fault: str, termination: str
) -> None:
    bad = ["--fault", fault, "--at", 2]
    ended = run(
        *fake("good"),
        *fake("bad", "--seed", 1, *bad),
        *("--each", "tc=0.6", "--games", 2, "--concurrency", 2, "--longest", 3, "--pgn", tmp_path / "a.pgn"),
        code="game.GRACE = 0.8",
    )
    assert ended.returncode == 1, ended.stdout + ended.stderr
    games = read(tmp_path / "a.pgn")
    assert rounds(games) == pairs(1)
    for game in games:
        winner = "1-0" if game.headers["White"] == "good" else "0-1"
        assert (game.headers["Result"], game.headers["Termination"]) == (winner, termination)
        assert len(list(game.mainline_moves())) == (3 if game.headers["White"] == "good" else 2)
        assert "bad: " in comments(game)[-1]
    assert [line for line in ended.stdout.splitlines() if line.startswith("lost by")] == [
        line for line in ended.stdout.splitlines() if termination in line and line.endswith("bad: 2")
    ]
    assert "2 0 0" in ended.stdout
    assert "FAULTS 2" in ended.stderr


def test_a_fault_at_the_first_move_loses_too(tmp_path: Path) -> None:
    ended = play(tmp_path / "a.pgn", "--games", 2, first=("--fault", "crash"))
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert [game.headers["Result"] for game in read(tmp_path / "a.pgn")] == ["0-1", "1-0"]


def test_an_engine_that_overruns_the_time_of_a_move_loses_on_time(tmp_path: Path) -> None:
    ended = play(tmp_path / "a.pgn", "--each", "movetime=100", "--games", 1, first=("--fault", "late"))
    assert ended.returncode == 1, ended.stdout + ended.stderr
    (game,) = read(tmp_path / "a.pgn")
    assert (game.headers["Result"], game.headers["Termination"]) == ("0-1", "time forfeit")
    told = " ".join((tmp_path / "a.pgn").read_text(encoding="utf-8").split())
    (late,) = re.findall(r"out of time by (\d+) ms", told)
    assert int(late) > 20


def test_a_clock_tells_by_how_much_it_is_overdrawn() -> None:
    clock = game_module.Clock(game_module.Pace(base=1000, increment=10))
    assert clock.spend(995, 20)
    assert (clock.left, clock.overdrawn) == (15, 0)
    assert clock.spend(35, 20)
    assert (clock.left, clock.overdrawn) == (11, 20)  # never less than a millisecond and the increment
    assert clock.spend(1, 20)
    assert clock.overdrawn == 0
    assert not clock.spend(51, 20)
    assert clock.overdrawn == 31
    clock = game_module.Clock(game_module.Pace(movetime=100))
    assert clock.spend(120, 20)
    assert not clock.spend(121, 20)
    assert clock.overdrawn == 21


def test_an_engine_that_never_says_uciok_has_stalled(tmp_path: Path) -> None:
    ended = run(
        *fake("good"),
        *fake("bad", "--fault", "deaf"),
        *("--each", "nodes=1", "--games", 2, "--concurrency", 2, "--pgn", tmp_path / "a.pgn"),
        code="uci.START_TIMEOUT = 2.0",
    )
    assert ended.returncode == 1, ended.stdout + ended.stderr
    games = read(tmp_path / "a.pgn")
    assert sorted(game.headers["Result"] for game in games) == ["0-1", "1-0"]
    for game in games:
        assert game.headers["Result"] == ("1-0" if game.headers["White"] == "good" else "0-1")
        assert game.headers["Termination"] == "stalled"
        assert list(game.mainline_moves()) == []


def test_an_engine_that_cannot_be_started_loses(tmp_path: Path) -> None:
    ended = run(
        *("--engine", "name=missing", f"cmd={tmp_path / 'no-such-engine'}", *fake("good")),
        *("--each", "nodes=1", "--games", 2, "--pgn", tmp_path / "a.pgn"),
    )
    assert ended.returncode == 1, ended.stdout + ended.stderr
    games = read(tmp_path / "a.pgn")
    assert [game.headers["Result"] for game in games] == ["0-1", "1-0"]
    assert {game.headers["Termination"] for game in games} == {"abandoned"}
    assert "cannot be started" in comments(games[0])[-1]


def test_the_faults_of_both_engines_are_told_apart(tmp_path: Path) -> None:
    ended = play(
        tmp_path / "a.pgn",
        *("--games", 2, "--longest", 5),
        first=("--fault", "illegal", "--at", 2),
        second=("--fault", "crash", "--at", 2),
    )
    assert ended.returncode == 1, ended.stdout + ended.stderr
    # Who comes to its second move first is White.
    assert [game.headers["Result"] for game in read(tmp_path / "a.pgn")] == ["0-1", "0-1"]
    lost = [line.split("  ") for line in ended.stdout.splitlines() if line.startswith("lost by")]
    assert {(words[0], words[-1].strip()) for words in lost} == {
        ("lost by rules infraction", "first: 1"),
        ("lost by abandoned", "second: 1"),
    }


@pytest.mark.skipif(sys.platform == "win32", reason="there is no sh")
def test_what_an_engine_has_started_ends_with_it(tmp_path: Path) -> None:
    log = tmp_path / "log"
    inner = shlex.join([sys.executable, str(FAKE), "--fault", "stall", "--log", str(log)])
    ended = run(
        *("--engine", "name=wrapped", f"cmd={shlex.join(['sh', '-c', f'{inner}; true'])}", *fake("good")),
        *("--each", "tc=0.3", "--games", 1, "--pgn", tmp_path / "a.pgn"),
        code="game.GRACE = 0.3",
    )
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert read(tmp_path / "a.pgn")[0].headers["Termination"] == "stalled"
    until(lambda: not running(log))


@pytest.mark.parametrize("fault", ["quit", "garbage"])
def test_a_crash_on_quit_and_garbage_are_harmless(tmp_path: Path, fault: str) -> None:
    ended = play(tmp_path / "a.pgn", "--games", 2, "--longest", 3, second=("--fault", fault, "--at", 2))
    assert ended.returncode == 0, ended.stdout + ended.stderr
    games = read(tmp_path / "a.pgn")
    assert [game.headers["Result"] for game in games] == ["1/2-1/2"] * 2
    assert "lost by" not in ended.stdout


# --- Adjudication


@pytest.mark.parametrize(
    ("first", "second", "result"),
    [
        (WON, LOST, "1-0"),
        (LOST, WON, "0-1"),
        (("--score", "mate 5"), ("--score", "mate -5"), "1-0"),
        (WON, WON, "1/2-1/2"),
        (WON, ("--score", "cp -399"), "1/2-1/2"),
    ],
)
def test_a_game_is_resigned_only_when_both_sides_agree(
    tmp_path: Path, first: tuple[str, str], second: tuple[str, str], result: str
) -> None:
    ended = play(
        tmp_path / "a.pgn", "--resign", 2, 400, "--games", 2, "--longest", 4, first=first, second=second
    )
    assert ended.returncode == 0, ended.stderr
    games = read(tmp_path / "a.pgn")
    reversed_result = {"1-0": "0-1", "0-1": "1-0"}.get(result, result)
    assert [game.headers["Result"] for game in games] == [result, reversed_result]
    for game in games:
        assert game.headers["Termination"] == "adjudication"
        assert ("resigned" in comments(game)[-1]) is (result != "1/2-1/2")
        assert len(list(game.mainline_moves())) == (8 if result == "1/2-1/2" else 4)


@pytest.mark.parametrize(("second", "plies"), [("cp -10", 10), ("cp 11", 14), ("mate 9", 14), ("", 14)])
def test_a_game_is_drawn_only_when_both_sides_agree_and_not_before_its_move(
    tmp_path: Path, second: str, plies: int
) -> None:
    ended = play(
        tmp_path / "a.pgn",
        *("--draw", 5, 3, 10, "--games", 1, "--longest", 7),
        first=("--score", "cp 0"),
        second=("--score", second),
    )
    assert ended.returncode == 0, ended.stderr
    (game,) = read(tmp_path / "a.pgn")
    assert game.headers["Result"] == "1/2-1/2"
    assert game.headers["Termination"] == "adjudication"
    assert len(list(game.mainline_moves())) == plies
    assert ("too long" in comments(game)[-1]) is (plies == 14)


def test_a_move_without_a_score_delays_only_the_rule_that_looks_so_far_back(tmp_path: Path) -> None:
    ended = play(
        tmp_path / "a.pgn",
        *("--resign", 2, 400, "--draw", 1, 8, 10, "--games", 1, "--longest", 9),
        first=(*WON, "--silent-at", 1),
        second=LOST,
    )
    assert ended.returncode == 0, ended.stderr
    (game,) = read(tmp_path / "a.pgn")
    assert game.headers["Result"] == "1-0"
    assert len(list(game.mainline_moves())) == 5


@pytest.mark.parametrize("line", ["multipv 2 score cp -800", "string score cp -800"])
def test_only_the_score_of_the_best_line_counts(tmp_path: Path, line: str) -> None:
    first = ("--score", "cp 900 multipv 1", "--besides", f"info depth 9 {line}")
    ended = play(tmp_path / "a.pgn", "--resign", 2, 400, "--games", 1, first=first, second=LOST)
    assert ended.returncode == 0, ended.stderr
    (game,) = read(tmp_path / "a.pgn")
    assert game.headers["Result"] == "1-0"
    assert comments(game)[0].startswith("+9.00/3 ")


def test_wrong_variations_are_counted_and_the_first_of_a_game_is_told(tmp_path: Path) -> None:
    said = ("--score", "", "--besides", "info multipv 2 score cp 1 pv a1a1")
    arguments = ("--games", 2, "--longest", 3)
    ended = play(tmp_path / "a.pgn", *arguments, first=said, second=("--pv", "a1a1"))
    assert ended.returncode == 0, "no game is lost by them"
    games = read(tmp_path / "a.pgn")
    for game in games:
        moves = Counter(["White", "Black"][ply % 2] for ply in range(int(game.headers["PlyCount"])))
        for colour in ("White", "Black"):
            # Of the second engine each variation is illegal, and does not begin with the move played.
            each = 1 if game.headers[colour] == "first" else 2
            assert game.headers[f"{colour}Warnings"] == str(each * moves[colour])
    assert ended.stderr.count("a variation ends with no legal move: a1a1") == 4, "once a game for each"
    rows = [line for line in ended.stdout.splitlines() if line.startswith("wrong variations")]
    assert [row.split()[-2:] for row in rows] == [
        ["first:", rows[0].split()[-1]],
        ["second:", rows[1].split()[-1]],
    ]
    assert sum(int(row.split()[-1]) for row in rows) == sum(
        int(game.headers[f"{colour}Warnings"]) for game in games for colour in ("White", "Black")
    )
    again = play(tmp_path / "a.pgn", *arguments, first=said, second=("--pv", "a1a1"))
    assert [line for line in again.stdout.splitlines() if line.startswith("wrong variations")] == rows


@pytest.mark.parametrize(
    ("position", "variations", "line", "move", "wrong"),
    [
        ("6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1", ["a1a8", "e1e2 g8f8"], "a1a8", "a1a8", []),
        ("6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1", [""], "", "a1a8", []),
        ("6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1", ["a1a8 g8h8"], "", "a1a8", ["after checkmate: a1a8 g8h8"]),
        ("7k/8/5K2/8/8/8/6Q1/8 w - - 0 1", ["g2g6 h8g8"], "", "g2g6", ["after stalemate: g2g6 h8g8"]),
        ("7k/8/5K2/8/8/8/6Q1/8 w - - 99 80", ["g2h2 h8g8"], "", "g2h2", ["after fifty-move rule"]),
        ("7k/8/5K2/8/8/8/6q1/7B w - - 0 1", ["h1g2 h8g8"], "", "h1g2", ["after insufficient material"]),
        (
            "7k/8/5K2/8/8/8/6Q1/8 w - - 0 1",
            ["f6e6 h8h7 e6f6 h7h8 f6e6 h8h7 e6f6 h7h8 f6e6"],
            "",
            "f6e6",
            ["after threefold repetition: f6e6 h8h7 e6f6 h7h8 f6e6 h8h7 e6f6 h7h8 f6e6"],
        ),
        # What was right once is not looked at again, and what follows it is.
        ("7k/8/5K2/8/8/8/6Q1/8 w - - 0 1", ["g2g1 h8h7 f6e6", "g2g1 h8h7 f6f8"], "", "g2g1", ["f6f8"]),
        ("7k/8/5K2/8/8/8/6Q1/8 w - - 0 1", ["g2g1", "g2g3"], "g2g3", "g2g1", ["g2g1 is played"]),
    ],
)
def test_what_is_wrong_with_a_variation(
    position: str, variations: list[str], line: str, move: str, wrong: list[str]
) -> None:
    answer = uci.Answer(move, 0.1, variations=tuple(variations), line=line)
    found = game_module.wrong_variations(fen.parse(position), answer)
    assert len(found) == len(wrong)
    assert all(text in said for text, said in zip(wrong, found, strict=True))


def test_a_game_that_is_too_long_is_drawn_whatever_the_scores_say(tmp_path: Path) -> None:
    arguments = ("--games", 1, "--longest", 2, "--resign", 2, 400)
    ended = play(tmp_path / "a.pgn", *arguments, first=WON, second=LOST)
    assert ended.returncode == 0, ended.stderr
    (game,) = read(tmp_path / "a.pgn")
    assert game.headers["Result"] == "1/2-1/2"
    assert comments(game)[-1].endswith("; adjudication: too long")


def test_a_mate_has_its_sign_first(tmp_path: Path) -> None:
    first, second = ("--score", "mate 5"), ("--score", "mate -4")
    ended = play(tmp_path / "a.pgn", "--games", 1, "--longest", 2, first=first, second=second)
    assert ended.returncode == 0, ended.stderr
    assert [text[:5] for text in comments(read(tmp_path / "a.pgn")[0])[:2]] == ["+M5/3", "-M4/3"]


def test_scores_end_no_game_unless_asked(tmp_path: Path) -> None:
    ended = play(tmp_path / "a.pgn", "--games", 1, "--longest", 9, first=WON, second=LOST)
    assert ended.returncode == 0, ended.stderr
    (game,) = read(tmp_path / "a.pgn")
    assert len(list(game.mainline_moves())) == 18
    assert comments(game)[0].startswith("+9.00/3 ")
    assert comments(game)[-1].startswith("-9.00/3 ")
    assert comments(game)[-1].endswith("; adjudication: too long")


# --- Going on


def test_a_second_run_plays_only_what_is_missing(tmp_path: Path) -> None:
    file = openings(tmp_path, QUEEN_ENDING, MATE_IN_ONE, BLACK_TO_MOVE)
    same = ["--openings", file, "--longest", 3]
    target = tmp_path / "a.pgn"
    bad = ("--fault", "illegal", "--at", 2)
    assert play(target, *same, "--games", 3, second=bad).returncode == 1
    before = target.read_bytes()
    log = tmp_path / "log"
    ended = play(target, *same, "--games", 5, first=("--log", log))
    assert ended.returncode == 1, "the faults of before count"
    assert target.read_bytes().startswith(before)
    games = read(target)
    assert [game.headers["Round"] for game in games] == pairs(3)[:5]
    assert len(lines_of(log, "ucinewgame")) == 2
    faults = sum(game.headers["Termination"] == "rules infraction" for game in games)
    assert f"second: {faults}" in ended.stdout
    assert "5 (2 pairs)" in ended.stdout
    # And of a game in the middle that was taken out.
    first, *others = before.decode().split("[Event ")[1:]
    target.write_text("".join("[Event " + text for text in others), encoding="utf-8")
    assert play(target, *same, "--games", 3).returncode in (0, 1)
    assert rounds(read(target)) == pairs(2)[:3]
    assert first.splitlines()[3] == '[Round "1.1"]'
    # There is nothing left to do.
    whole = target.read_bytes()
    ended = play(target, *same, "--games", 3)
    assert "3 (1 pairs)" in ended.stdout
    assert target.read_bytes() == whole


@pytest.mark.parametrize(
    "text",
    [
        '[Event "?"]\n[White "first"]\n[Black "third"]\n[Round "1.1"]\n[Result "1-0"]\n\n1-0\n',
        '[Event "?"]\n[White "second"]\n[Black "first"]\n[Round "1.1"]\n[Result "1-0"]\n\n1-0\n',
        '[Event "?"]\n[White "first"]\n[Black "second"]\n[Round "1"]\n[Result "1-0"]\n\n1-0\n',
        '[Event "?"]\n[White "first"]\n[Black "second"]\n[Round "1.1"]\n[Result "1-0"]\n\n1. e5 1-0\n',
        '[Event "?"]\n[White "first"]\n[Black "second"]\n[Round "1.1"]\n[Result "1-0"]\n[SetUp "1"]\n'
        '[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n\n1. e4 1-0\n',
        "these are no games\n",
    ],
)
def test_a_file_of_another_match_is_refused_and_stays_as_it_is(tmp_path: Path, text: str) -> None:
    target = tmp_path / "a.pgn"
    target.write_text(text, encoding="utf-8")
    ended = play(target, "--games", 2, "--longest", 2)
    assert ended.returncode == 2
    assert f"{target}, line " in ended.stderr
    assert "Traceback" not in ended.stderr
    assert target.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (["--each", "nodes=11", "option.Hash=2"], ["first", "nodes=10 option.Hash=2", "nodes=11"]),
        (["--each", "nodes=10", "option.Hash=3"], ["first", "option.Hash=2", "option.Hash=3"]),
        (["--each", "nodes=10"], ["first", "nodes=10 option.Hash=2", "'nodes=10'"]),
        (["--each", "nodes=10", "tc=5+0.1", "option.Hash=2"], ["first", "tc=5+0.1 nodes=10"]),
        (["--each", "tc=5+0.1", "option.Hash=2"], ["first", "tc=5+0.1", "'nodes=10 option.Hash=2'"]),
        (["--each", "nodes=10", "option.Hash=2", "--margin", 50], ["TimeMargin", "'20 ms'", "'50 ms'"]),
        (["--each", "nodes=10", "option.Hash=2", "--longest", 3], ["'--longest 2'", "'--longest 3'"]),
        (
            ["--each", "nodes=10", "option.Hash=2", "--resign", 4, 600],
            ["'--longest 2'", "'--resign 4 600 --longest 2'"],
        ),
        (
            ["--each", "nodes=10", "option.Hash=2", "--draw", 40, 8, 10],
            ["'--longest 2'", "'--draw 40 8 10 --longest 2'"],
        ),
        (["--each", "nodes=10", "option.Hash=2", "--seed", 1], ["opening", "--seed"]),
        (["--each", "nodes=10", "option.Hash=2", "--openings", "other.epd"], ["opening", "--openings"]),
    ],
)
def test_a_match_goes_on_only_with_the_settings_that_it_began_with(
    tmp_path: Path, changed: list[str], said: list[str]
) -> None:
    file = openings(tmp_path, *(f"4k3/8/8/8/8/8/P{i}P{6 - i}/4K3 w - -".replace("0", "") for i in range(7)))
    other = openings(tmp_path, BLACK_TO_MOVE, name="other.epd")
    changed = [str(other) if word == "other.epd" else str(word) for word in changed]
    same = ["--openings", file, "--longest", 2, "--games", 2]
    target = tmp_path / "a.pgn"
    assert play(target, *same, "--each", "nodes=10", "option.Hash=2").returncode == 0
    before = target.read_bytes()
    ended = play(target, *same, *changed)
    assert ended.returncode == 2, ended.stdout + ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert all(word in ended.stderr for word in [f"{target}, line 1: ", *said])
    assert target.read_bytes() == before


@pytest.mark.parametrize(
    ("before", "after"), [("1234.567+0", "1234.568+0"), ("100000.5", "100000.6"), ("5+0.05", "5+0.051")]
)
def test_every_millisecond_of_a_clock_tells_matches_apart(tmp_path: Path, before: str, after: str) -> None:
    target = tmp_path / "a.pgn"
    same = ["--games", 1, "--longest", 1]
    assert play(target, *same, "--each", f"tc={before}").returncode == 0
    ended = play(target, *same, "--each", f"tc={after}")
    assert ended.returncode == 2, ended.stdout + ended.stderr
    assert f"not 'tc={after}" in ended.stderr


def test_the_file_of_an_older_version_without_adjudication_and_margin_goes_on(tmp_path: Path) -> None:
    target = tmp_path / "a.pgn"
    assert play(target, "--games", 1, "--longest", 2).returncode == 0
    lines = target.read_text(encoding="utf-8").splitlines(keepends=True)
    older = [line for line in lines if not line.startswith(("[Adjudication ", "[TimeMargin "))]
    assert len(older) == len(lines) - 2
    target.write_text("".join(older), encoding="utf-8")
    assert play(target, "--games", 2, "--longest", 3).returncode == 0
    assert rounds(read(target)) == pairs(1)


def test_rules_that_never_end_a_game_are_no_rules() -> None:
    rule = adjudication.Adjudication
    assert rule().settings() == rule(0, 500, 40, 0, 10).settings() == "none"
    assert rule(4, 600, 40, 8, 10, 200).settings() == "--resign 4 600 --draw 40 8 10 --longest 200"


def test_a_game_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "a.pgn"
    assert play(target, "--games", 1, "--longest", 2).returncode == 0
    twice = target.read_bytes() * 2
    target.write_bytes(twice)
    ended = play(target, "--games", 2, "--longest", 2)
    assert ended.returncode == 2
    assert "its Round, 1.1, occurs twice" in ended.stderr
    assert target.read_bytes() == twice


def test_a_torn_last_game_is_dropped_and_played_again(tmp_path: Path) -> None:
    target = tmp_path / "a.pgn"
    same = ["--games", 3, "--longest", 4]
    assert play(target, *same).returncode == 0
    whole = target.read_bytes()
    starts = [at for at in range(len(whole)) if whole.startswith(b"[Event ", at)]
    for size in range(len(whole) + 1):
        kept = max(start for start in [*starts, len(whole)] if start <= size)
        # Of the empty line that ends a game, nothing is missed.
        kept = size if size + 1 in starts or size + 1 == len(whole) else kept
        assert match.whole_size(whole[:size]) == kept
    assert match.whole_size(whole + bytes(4096)) == len(whole)
    for size in (5, starts[1] + 70, whole.rindex(b"1/2-1/2") + 3, len(whole) - 1):
        target.write_bytes(whole[:size])
        ended = play(target, *same)
        assert ended.returncode == 0, ended.stderr
        assert ("game is torn" in ended.stderr) is (size != len(whole) - 1)
        assert target.read_bytes().startswith(whole[: match.whole_size(whole[:size])])
        assert rounds(read(target)) == pairs(2)[:3]


def running(log: Path) -> list[int]:
    """The process numbers of the engines that wrote a log and still run."""
    found = []
    for number in {int(line.split()[0]) for line in log.read_text(encoding="utf-8").splitlines()}:
        with contextlib.suppress(ProcessLookupError, FileNotFoundError):
            os.kill(number, 0)
            state = Path(f"/proc/{number}/stat")
            # Dead, but nobody has asked for its exit code: so it stays in a container without an init.
            if not (state.exists() and ") Z " in state.read_text(encoding="utf-8")):
                found.append(number)
    return found


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT for one process")
def test_an_interrupt_does_not_wait_for_an_engine_that_never_says_uciok(tmp_path: Path) -> None:
    log = tmp_path / "log"
    words = [*fake("first", "--fault", "deaf", "--log", log), *fake("second"), "--each", "nodes=1"]
    command = [sys.executable, str(SCRIPT), *words, "--pgn", str(tmp_path / "a.pgn")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    until(log.exists)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130, output + errors
    assert output == "first against second: no games\n", "nothing is judged from no games"
    assert errors.splitlines()[-1] == "interrupted: the same command continues the match"
    assert "Traceback" not in errors
    assert read(tmp_path / "a.pgn") == []


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT for one process")
@pytest.mark.parametrize("fault", [(), ("--fault", "stall", "--at", 2)])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_match_keeps_its_games_leaves_no_engine_and_goes_on(
    tmp_path: Path, fault: tuple[object, ...], number: signal.Signals
) -> None:
    target = tmp_path / "a.pgn"
    log = tmp_path / "log"
    engines = [*fake("first", "--log", log, *fault), *fake("second", "--log", log, "--think", 0.002)]
    same = [*engines, "--each", "nodes=1", "--pgn", target, "--games", "8", "--concurrency", "2"]
    file = openings(tmp_path, BLACK_TO_MOVE)
    same += ["--openings", file, "--longest", "25"]
    command = [sys.executable, str(SCRIPT), *map(str, same)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    if fault:
        until(lambda: log.exists() and len(lines_of(log, "go")) == 7)  # both games hang
    else:
        until(lambda: target.exists() and target.read_bytes().count(b"[Event") >= 2)
    process.send_signal(number)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130, output + errors
    assert errors.splitlines()[-1] == "interrupted: the same command continues the match"
    assert "Traceback" not in errors
    assert "games" in output
    kept = read(target)
    assert len(kept) < 8
    assert not running(log)
    same = [str(word).replace("--fault stall --at 2", "") for word in same]
    assert run(*same).returncode == 0
    games = read(target)
    assert rounds(games) == pairs(4)
    assert [str(game) for game in games[: len(kept)]] == [str(game) for game in kept]


def until(happened: Callable[[], bool]) -> None:
    """Wait for something."""
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.01)


# --- SPRT and statistics


@pytest.mark.parametrize(("first", "second", "verdict"), [(WON, LOST, "H1"), (LOST, WON, "H0")])
def test_the_sprt_stops_a_clear_match_early(
    tmp_path: Path, first: tuple[str, str], second: tuple[str, str], verdict: str
) -> None:
    target = tmp_path / "a.pgn"
    arguments = ["--sprt", 0, 100, "--resign", 1, 500, "--games", 200, "--concurrency", 2]
    ended = play(target, *arguments, first=first, second=second)
    assert ended.returncode == 0, ended.stderr
    assert f"{verdict}, LLR" in ended.stdout
    games = read(target)
    assert 4 <= len(games) <= 40
    assert "LLR" in ended.stderr
    # Decided is decided.
    whole = target.read_bytes()
    assert f"{verdict}, LLR" in play(target, *arguments).stdout
    assert target.read_bytes() == whole


def score_of(*results: str) -> Any:
    """The score of these results, game by game, the first engine having White in the first, third..."""
    score = scores.Score()
    for number, result in enumerate(results):
        score.add(number, result)
    return score


def random_score(seed: int, games: int, chances: tuple[float, float, float]) -> Any:
    """A score drawn at random."""
    return score_of(*Random(seed).choices(["1-0", "1/2-1/2", "0-1"], chances, k=games))


def test_elo_and_points_are_inverse_and_have_known_values() -> None:
    assert scores.elo_of(0.5) == 0
    assert scores.elo_of(0.75) == pytest.approx(190.85, abs=0.01)
    assert scores.elo_of(10 / 11) == pytest.approx(400)
    assert scores.points_of(0) == 0.5
    assert scores.points_of(-400) == pytest.approx(1 / 11)
    for elo in range(-800, 801, 50):
        assert scores.elo_of(scores.points_of(elo)) == pytest.approx(elo, abs=1e-9)
    assert scores.elo_of(1) == math.inf == -scores.elo_of(0)


def test_points_count_for_the_first_engine_whatever_its_colour() -> None:
    assert score_of("1-0", "0-1").points == {0: 1.0, 1: 1.0}
    assert score_of("0-1", "1-0").points == {0: 0.0, 1: 0.0}
    assert score_of("1-0", "1-0").mean() == 0.5
    assert score_of("1/2-1/2", "1/2-1/2", "1-0").mean() == pytest.approx(2 / 3)
    assert score_of().mean() == 0.5


def test_the_error_comes_from_pairs() -> None:
    score = random_score(1, 400, (4, 3, 2))
    values = [score.points[number] for number in range(400)]
    means = [(one + other) / 2 for one, other in zip(values[::2], values[1::2], strict=True)]
    average = sum(means) / 200
    variance = sum((mean - average) ** 2 for mean in means) / 199
    assert sorted(score.samples()) == sorted(means)
    assert score.error() == pytest.approx(math.sqrt(variance / 200))
    # What White always wins says nothing of the engines.
    even = score_of(*["1-0", "1-0"] * 90, *["1-0", "0-1"] * 10)
    assert even.error() < statistics.stdev(even.points.values()) / math.sqrt(200) / 2
    elo, low, high = score.interval()
    assert low < elo < high
    assert elo == scores.elo_of(score.mean())


def test_a_game_without_its_pair_waits_for_it() -> None:
    score = scores.Score()
    score.add(3, "1-0")
    score.add(0, "1-0")
    assert score.samples() == []
    score.add(2, "1-0")
    assert score.samples() == [0.5]


def test_nothing_is_judged_from_no_games_and_little_from_two() -> None:
    assert scores.state(score_of(), scores.Sprt(0, 5)) == "no games yet"
    assert score_of().leader() == 0
    for results in (["1-0", "0-1"], ["0-1", "1-0"]):
        score = score_of(*results)
        elo, low, high = score.interval()
        assert math.isinf(elo)
        assert not (math.isinf(low) and math.isinf(high)), "an error of zero would be a lie"
        assert 0.01 < score.los() < 0.99
        assert score.leader() == 0
        # Twenty such games do tell.
        assert score_of(*results * 10).leader() == (1 if elo > 0 else -1)


def test_the_leader_is_who_is_outside_of_wilson_s_interval() -> None:
    # Published: 15 of 50 is 0.1910 to 0.4375 (95 %, without continuity correction).
    thirty = scores.Score()
    for number in range(50):
        thirty.points[number] = float(number < 15)
    assert thirty.leader() == -1
    for won, leader in ((17, -1), (18, -1), (19, 0), (25, 0), (31, 0), (32, 1), (33, 1)):
        score = scores.Score()
        score.points = {number: float(number < won) for number in range(50)}
        # The interval holds 0.5 exactly if the test of 0.5 with its own variance does not reject.
        expected = abs(won / 50 - 0.5) > scores.SIGNIFICANCE * math.sqrt(0.25 / 50)
        assert (score.leader() != 0) is expected
        assert score.leader() == leader


def test_the_likelihood_of_superiority_is_even_when_the_score_is() -> None:
    assert score_of("1-0", "0-1", "0-1", "1-0").los() == pytest.approx(0.5)
    assert score_of("1-0", "1-0").los() == pytest.approx(0.5)
    assert score_of().los() == 0.5
    better, worse = random_score(5, 600, (1, 1, 1)), random_score(5, 600, (1, 1, 1))
    for number in range(0, 600, 6):
        better.points[number], worse.points[number] = 1.0, 0.0
    assert 0.9 < better.los() <= 1
    assert 0 <= worse.los() < 0.1
    two_sigma = score_of(*["1-0", "0-1"] * 8, *["0-1", "1-0"] * 4, *["1/2-1/2"] * 8)
    expected = statistics.NormalDist().cdf((two_sigma.mean() - 0.5) / two_sigma.error())
    assert two_sigma.los() == pytest.approx(expected)


def test_the_bounds_of_the_sprt_are_those_of_wald() -> None:
    low, high = scores.Sprt(0, 5).bounds()
    assert (low, high) == (pytest.approx(-2.944, abs=0.001), pytest.approx(2.944, abs=0.001))
    low, high = scores.Sprt(0, 5, alpha=0.1, beta=0.01).bounds()
    assert (low, high) == (pytest.approx(math.log(0.01 / 0.9)), pytest.approx(math.log(0.99 / 0.1)))


def test_the_log_likelihood_ratio_has_the_sign_of_what_is_likelier() -> None:
    strong = score_of(*["1-0", "0-1", "1-0", "1/2-1/2", "1/2-1/2", "1/2-1/2"] * 40)
    weak = score_of(*["0-1", "1-0", "0-1", "1/2-1/2", "1/2-1/2", "1/2-1/2"] * 40)
    assert strong.llr(0, 10) > 0 > weak.llr(0, 10)
    assert strong.llr(10, 0) == pytest.approx(-strong.llr(0, 10))
    assert weak.llr(-10, 0) < 0
    assert strong.llr(0, 0) == 0
    assert scores.Sprt(0, 10).verdict(strong) == "H1"
    assert scores.Sprt(0, 10).verdict(weak) == "H0"
    assert scores.Sprt(0, 10).verdict(score_of()) == ""
    # Normal likelihoods, with the variance of the sample.
    score = random_score(9, 4000, (5, 6, 4))
    samples = score.samples()
    spread = statistics.pstdev(samples)
    likelihood = [
        sum(math.log(statistics.NormalDist(scores.points_of(elo), spread).pdf(x)) for x in samples)
        for elo in (0, 20)
    ]
    assert score.llr(0, 20) == pytest.approx(likelihood[1] - likelihood[0], rel=0.01)


@pytest.mark.parametrize("results", [["1/2-1/2"], ["1-0", "0-1"], ["0-1", "1-0"], ["1-0", "1-0"]])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 50])
def test_matches_that_are_all_alike_give_numbers(results: list[str], count: int) -> None:
    score = score_of(*results * count)
    sprt = scores.Sprt(-5, 5)
    assert not any(map(math.isnan, (*score.interval(), score.los(), score.llr(-5, 5), score.error())))
    assert "nan" not in scores.state(score, sprt)
    side = game_module.Side(uci.EngineSpec("x", ("x",)), game_module.Pace())
    rule = match.Adjudication()
    assert "nan" not in match.summary(score, match.Match((side, side), [], 1, rule, 0), sprt)


def test_four_won_games_decide_no_fine_question() -> None:
    assert scores.Sprt(0, 5).verdict(score_of("1-0", "0-1", "1-0", "0-1")) == ""
    assert scores.Sprt(0, 5).verdict(score_of(*["1-0", "0-1"] * 100)) == "H1"
    assert scores.Sprt(0, 5).verdict(score_of(*["1/2-1/2"] * 100)) == ""


# --- A cluster


@pytest.fixture
def _no_bench_on_the_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers of a cluster are other machines, and do not have the modules of bench/."""
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != str(SCRIPT.parent)])


@pytest.mark.usefixtures("_no_bench_on_the_workers")
def test_a_dask_cluster_plays_the_same_match(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="the cluster extra is not installed")
    file = openings(tmp_path, QUEEN_ENDING, BLACK_TO_MOVE)
    same = ["--openings", file, "--games", 6, "--longest", 4, "--concurrency", 4]
    same += ["--each", "nodes=5"]
    bad = ("--fault", "crash", "--at", 3)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        far = play(tmp_path / "far.pgn", *same, "--scheduler", cluster.scheduler_address, second=bad)
    assert far.returncode == 1, far.stdout + far.stderr
    assert "lost by abandoned" in far.stdout
    near = play(tmp_path / "near.pgn", *same, second=bad)
    assert near.returncode == 1
    found = [
        {
            game.headers["Round"]: (dict(game.headers), *game.mainline_moves())
            for game in read(tmp_path / name)
        }
        for name in ("far.pgn", "near.pgn")
    ]
    assert found[0] == found[1]
    assert sorted(found[0]) == pairs(3)


@pytest.mark.usefixtures("_no_bench_on_the_workers")
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT for one process")
@pytest.mark.parametrize("event", ["interrupt", "kill", "close"])
def test_the_games_of_a_cluster_end_with_the_match_and_the_match_with_the_cluster(
    tmp_path: Path, event: str
) -> None:
    distributed = pytest.importorskip("distributed", reason="the cluster extra is not installed")
    target, log = tmp_path / "a.pgn", tmp_path / "log"
    words = [*fake("first", "--log", log), *fake("second", "--fault", "stall", "--at", 9, "--log", log)]
    words += ["--each", "nodes=1", "--games", "3", "--concurrency", "2", "--pgn", str(target)]
    words += ["--openings", str(openings(tmp_path, MATE_IN_ONE.replace("w", "b"), QUEEN_ENDING))]
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        command = [sys.executable, str(SCRIPT), *words, "--scheduler", cluster.scheduler_address]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        until(lambda: log.exists() and lines_of(log, "go")[8:] != [] and len(running(log)) >= 2)
        if event == "close":
            cluster.close()
        else:
            process.send_signal(signal.SIGINT if event == "interrupt" else signal.SIGKILL)
        output, errors = process.communicate(timeout=60)
        until(lambda: not running(log))
    assert process.returncode == {"interrupt": 130, "kill": -signal.SIGKILL, "close": 1}[event], (
        output + errors
    )
    assert ("a game could not be played" in errors) is (event == "close")
    assert "Traceback" not in errors
    assert len(read(target)) < 3


@pytest.mark.usefixtures("_no_bench_on_the_workers")
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_worker_that_dies_is_one_error_and_its_game_is_played_later(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="the cluster extra is not installed")
    dask = importlib.import_module("dask")
    target = tmp_path / "a.pgn"
    same = ["--games", 2, "--longest", 3]
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as cluster,
    ):
        far = [*same, "--scheduler", cluster.scheduler_address]
        ended = play(target, *far, first=("--fault", "parent", "--at", 2))
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "a game could not be played: KilledWorker: " in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "lost by" not in ended.stdout
    assert read(target) == []
    assert play(target, *same).returncode == 0
    assert rounds(read(target)) == pairs(1)


@pytest.mark.parametrize("address", ["127.0.0.1:9", "nowhere://1.2.3.4:5"])
def test_a_scheduler_that_cannot_be_reached_is_an_error(tmp_path: Path, address: str) -> None:
    pytest.importorskip("distributed", reason="the cluster extra is not installed")
    ended = run(
        *fake("first"),
        *fake("second"),
        *("--each", "nodes=5", "--scheduler", address, "--pgn", tmp_path / "a.pgn"),
        code="workers.SCHEDULER_TIMEOUT = 1",
    )
    assert ended.returncode == 2, ended.stdout + ended.stderr
    assert address in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not (tmp_path / "a.pgn").exists()


# --- Help and wrong usage

EXTRAS = ("tabulate", "tqdm", "matplotlib", "numpy", "scipy", "distributed")
WITHOUT_EXTRAS = (
    "import runpy, sys; sys.path.insert(0, {folder!r});"
    f" sys.modules.update(dict.fromkeys({EXTRAS!r}));"
    " sys.argv = {arguments!r}; runpy.run_path(sys.argv[0], run_name='__main__')"
)
"""Runs a script where the extras are not installed."""


def run_without_extras(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = SCRIPT.with_name(script)
    code = WITHOUT_EXTRAS.format(folder=str(path.parent), arguments=[str(path), *arguments])
    return subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", timeout=300)


@pytest.mark.parametrize(
    ("script", "arguments"),
    [
        ("match.py", []),
        ("ladder.py", []),
        ("tune.py", []),
        ("tune.py", ["search"]),
        ("tune.py", ["screen"]),
        ("openings.py", []),
        ("perft.py", []),
        ("generators.py", []),
    ],
)
def test_help_works_without_the_extras(script: str, arguments: list[str]) -> None:
    ended = run_without_extras(script, *arguments, "--help")
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == ""
    assert "usage: " in ended.stdout
    assert arguments or "130" in ended.stdout, "the exit codes are told"


@pytest.mark.parametrize(
    ("script", "arguments", "extra"),
    [
        ("match.py", ["--engine", "cmd=x"], "bench"),
        ("ladder.py", ["--engine", "cmd=x", "--levels", "1", "2"], "bench"),
        ("tune.py", ["search"], "tuning"),
        ("openings.py", ["--out", "/no/such/folder/x"], "bench"),
        ("perft.py", [], "bench"),
        ("generators.py", [], "bench"),
    ],
)
def test_a_missing_extra_is_one_line_with_the_command_that_installs_it(
    script: str, arguments: list[str], extra: str
) -> None:
    ended = run_without_extras(script, *arguments)
    assert ended.returncode == 2, ended.stdout + ended.stderr
    assert ended.stdout == ""
    assert len(ended.stderr.splitlines()) == 1
    assert f'not installed: python -m pip install -e ".[{extra}]"' in ended.stderr


def test_help_explains_keys_adjudication_and_interrupts() -> None:
    told = " ".join(run("--help").stdout.split())
    for key in ("name=", "cmd=", "dir=", "option.NAME=", "tc=", "movetime=", "nodes=", "depth="):
        assert key in told
    for words in ("--resign 4 600", "--draw 40 8 10", "--longest 200", "Ctrl-C", "130 when interrupted"):
        assert words in told
    # Each option has a help text of its own too.
    for option in ("--resign MOVES CENTIPAWNS", "--draw FROM MOVES CENTIPAWNS"):
        assert re.search(re.escape(option) + r" (?!--)\w+ \w+", told.partition("options:")[2])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([*fake("a")], "two engines"),
        ([*fake("a"), *fake("b"), *fake("c")], "two engines"),
        ([*fake("a"), *fake("a")], "'a'"),
        ([*fake("a", limits=("tc=fast",)), *fake("b")], "tc=fast"),
        ([*fake("a", limits=("tc=0",)), *fake("b")], "tc=0"),
        ([*fake("a", limits=("tc=0/5",)), *fake("b")], "tc=0/5"),
        ([*fake("a", limits=("tc=5+-1",)), *fake("b")], "tc=5+-1"),
        ([*fake("a", limits=("tc=nan",)), *fake("b")], "tc=nan"),
        ([*fake("a", limits=("tc=",)), *fake("b")], "tc="),
        ([*fake("a", limits=("nodes=many",)), *fake("b")], "nodes=many"),
        ([*fake("a", limits=("depth=0",)), *fake("b")], "depth=0"),
        ([*fake("a", limits=("movetime=-5",)), *fake("b")], "movetime=-5"),
        ([*fake("a", limits=("pondering=1",)), *fake("b")], "'pondering'"),
        ([*fake("a", limits=("ponder=1",)), *fake("b")], "ponder=1"),
        ([*fake("a", limits=("ponder=yes",)), *fake("b")], "no clock"),
        ([*fake("a", limits=("word",)), *fake("b")], "'word'"),
        (["--engine", "name=a", *fake("b")], "cmd="),
        (["--engine", "name=a", "cmd='", *fake("b")], "quotation"),
        ([*fake("a"), *fake("b"), "--games", "0"], "game"),
        ([*fake("a"), *fake("b"), "--concurrency", "0"], "game"),
        ([*fake("a"), *fake("b"), "--longest", "-1"], "longest"),
        ([*fake("a"), *fake("b"), "--sprt", "5", "0"], "SPRT"),
        ([*fake("a"), *fake("b"), "--sprt", "nan", "5"], "SPRT"),
        ([*fake("a"), *fake("b"), "--openings", "/no/such/file.epd"], "/no/such/file.epd"),
        ([*fake("a"), *fake("b"), "--pgn", "/no/such/folder/a.pgn"], "/no/such/folder/a.pgn"),
        ([], "--engine"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_what_is_wrong(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    arguments: list[str],
    said: str,
) -> None:
    words = ["match.py", *arguments, "--each", "nodes=5"]
    monkeypatch.setattr(
        sys, "argv", words if "--pgn" in words else [*words, "--pgn", str(tmp_path / "a.pgn")]
    )
    try:
        code = match.main()
    except SystemExit as error:
        code = error.code
    assert code == 2
    told = capsys.readouterr()
    assert said in told.err
    assert told.out == ""
    assert not (tmp_path / "a.pgn").exists()


def test_no_limit_and_wrong_usage_of_the_process_end_with_2(tmp_path: Path) -> None:
    ended = run(*fake("a"), *fake("b"), "--pgn", tmp_path / "a.pgn")
    assert ended.returncode == 2
    assert "no limit" in ended.stderr
    assert ended.stdout == ""
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("name", "lines", "line"),
    [
        ("a.epd", [QUEEN_ENDING, "8/8/8/8 w - -"], 2),
        ("a.epd", ["# a comment", "", "no position"], 3),
        ("a.pgn", ['[Event "?"]', "", "1. e4 e5 *", "", '[Event "?"]', "", "1. e4", "e4 *"], 8),
        ("a.pgn", ['[Event "?"]', "", "1. e4 -- 2. d4 *"], 3),
        ("a.epd", ["\ufeff" + QUEEN_ENDING, "no position"], 2),
        ("a.epd", [], 0),
        ("a.pgn", [], 0),
    ],
)
def test_a_damaged_file_of_openings_is_told_with_its_line(
    tmp_path: Path, name: str, lines: list[str], line: int
) -> None:
    file = openings(tmp_path, *lines, name=name)
    ended = play(tmp_path / "games.pgn", "--openings", file)
    assert ended.returncode == 2
    assert (f"{file}, line {line}: " if line else f"{file} holds no opening") in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not (tmp_path / "games.pgn").exists()
