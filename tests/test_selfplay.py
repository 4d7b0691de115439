"""bench/selfplay.py: games by the rules and by chance alone, and a file that goes on whatever ends a run."""

import importlib
import itertools
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from search import inference, network
from x88 import chess960, coordinate, fen
from x88.board import Board
from x88.move import captured_of
from x88.movegen import legal_moves
from x88.piece import WHITE

SCRIPT = Path(__file__).resolve().parent.parent / "bench" / "selfplay.py"

sys.path.append(str(SCRIPT.parent))
pytest.importorskip("tabulate", reason="the bench extra is not installed")
pytest.importorskip("tqdm", reason="the bench extra is not installed")
selfgame: Any = importlib.import_module("selfgame")
selfplay: Any = importlib.import_module("selfplay")
gamefile: Any = importlib.import_module("gamefile")

TABLES = SCRIPT.parents[2] / "shared" / "data" / "syzygy"
NODES = 60
PACE = selfgame.Pace(NODES, random_plies=6)
TRAINING = selfgame.Training(NODES)


def command(path: Path, *arguments: object) -> list[str]:
    """The command that adds games with short searches to the file."""
    words = ["--positions", path, "--nodes", NODES, *arguments]
    return [sys.executable, str(SCRIPT), *map(str, words)]


def generate(path: Path, *arguments: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Add games to the file."""
    ended = subprocess.run(command(path, *arguments), capture_output=True, encoding="utf-8", timeout=300)
    assert ended.returncode == code, ended.stderr
    assert "Traceback" not in ended.stderr
    return ended


def read(path: Path) -> dict[tuple[int, int], Any]:
    """The games of a file, by seed and number; nothing else is in it."""
    found = {}
    for block in gamefile.scan(path.read_bytes()):
        assert isinstance(block, gamefile.Block), block
        for game in block.games:
            assert (block.seed, game.number) not in found
            found[block.seed, game.number] = game
    return found


def job(number: int = 0, seed: int = 0, start: str = fen.START, pace: Any = PACE) -> Any:
    """A game of a comparison from a position."""
    return selfgame.Book([(start, ())], seed).job(number, pace)


def training_game(number: int = 0, seed: int = 0, start: str = fen.START, training: Any = TRAINING) -> Any:
    """A game for training from a position."""
    return selfgame.play_training_game(selfgame.Book([(start, ())], seed).training_job(number, training))


class Player:
    """Plays the first of the moves that it may choose from, and tells a score from White's view."""

    def __init__(self, score: int | None, captures: bool = False) -> None:
        self.score = score
        self.captures = captures

    def think(self, board: Board, limits: Any, on_report: Any) -> Any:
        moves = legal_moves(board)
        chosen = [move for move in moves if bool(captured_of(move)) == self.captures] or moves
        if self.score is not None:
            score = self.score if board.side == WHITE else -self.score
            on_report(selfgame.Report(1, 1, score, None, 1, 0.0, 0, chosen[:1]))
        return importlib.import_module("search.search").Result(chosen[0], 0, 1)

    def new_game(self) -> None:
        pass


def fake(monkeypatch: pytest.MonkeyPatch, *arguments: Any, kind: Any = Player) -> None:
    """Let such players play."""
    monkeypatch.setattr(selfgame, "searcher", lambda megabytes, numbers, tables: kind(*arguments))
    monkeypatch.setattr(selfgame, "_searches", {})


# --- Games for training


def test_a_game_follows_from_seed_and_number() -> None:
    assert training_game(1) == training_game(1)
    assert training_game(1).moves != training_game(2).moves
    assert training_game(1).moves != training_game(1, seed=1).moves


def test_every_move_after_the_opening_has_a_score() -> None:
    openings = set()
    for number in range(8):
        game = training_game(number)
        assert game.start == ""
        opening = len(game.moves) - len(game.scores)
        openings.add(opening)
        assert 8 <= opening <= 10
        assert len(game.bounds) == len(game.scores)
        assert set(game.bounds) <= {0, 1}
        assert abs(game.scores[0]) <= 300
        assert len(game.moves) <= 400
        assert len(list(gamefile.replay(game))) == len(game.moves)
    assert len(openings) > 1


def test_scores_are_from_white_s_view() -> None:
    start = "4k3/8/8/8/8/8/PPPP4/4K3 b - - 0 1"
    chance = selfgame.Training(NODES, random_plies=(0, 0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selfgame, "UNDECIDED", 5000)
        game = training_game(start=start, training=chance)
    assert game.start == start
    assert game.scores[0] > 100
    assert game.scores[1] > 100


def test_the_result_is_that_of_the_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selfgame, "UNDECIDED", 32000)
    training = selfgame.Training(NODES, random_plies=(0, 0))
    game = training_game(start="6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", training=training)
    assert game.result == 2
    _, move = list(gamefile.replay(game))[-1]
    assert coordinate.write(move) == "a1a8"
    assert training_game(start="r3k3/8/8/8/8/8/5PPP/6K1 b - - 0 1", training=training).result == 0
    assert training_game(start="8/8/8/8/3k4/8/3p4/3K4 w - - 99 80", training=training).result == 1


@pytest.mark.parametrize(("score", "result", "plies"), [(2000, 2, 4), (-2000, 0, 4), (1999, 1, 392)])
def test_a_game_goes_on_until_one_side_is_far_ahead(
    monkeypatch: pytest.MonkeyPatch, score: int, result: int, plies: int
) -> None:
    monkeypatch.setattr(selfgame, "UNDECIDED", 5000)
    monkeypatch.setattr(selfgame.OngoingGame, "_judge", lambda self: None)
    fake(monkeypatch, score)
    game = training_game(training=selfgame.Training(1, random_plies=(8, 8)))
    assert (game.result, len(game.scores)) == (result, plies)


def test_a_level_game_is_drawn_late(monkeypatch: pytest.MonkeyPatch) -> None:
    fake(monkeypatch, 5)
    training = selfgame.Training(1, random_plies=(0, 0))
    for number, plies in ((60, 21), (70, 12), (90, 12)):
        # After move 70, where Black moves first here.
        start = f"4k3/p7/8/8/8/8/P7/4K3 b - - 0 {number}"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(selfgame.OngoingGame, "_judge", lambda self: None)
            game = training_game(start=start, training=training)
        assert (game.result, len(game.scores)) == (1, plies), number


def test_a_score_that_is_missing_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent(Player):
        thoughts = 0

        def think(self, board: Board, limits: Any, on_report: Any) -> Any:
            self.thoughts += 1
            self.score = 10 if self.thoughts == 1 else None
            return super().think(board, limits, on_report)

    fake(monkeypatch, 10, kind=Silent)
    game = training_game(training=selfgame.Training(1))
    assert list(game.scores) == [10, *[gamefile.NO_SCORE] * (len(game.scores) - 1)]
    assert len(game.scores) > 1


def test_an_opening_that_is_decided_is_not_played(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selfgame, "TRIES", 20)
    with pytest.raises(ValueError, match="undecided"):
        training_game(
            start="3qk3/8/8/8/8/8/8/4K3 w - - 0 1", training=selfgame.Training(NODES, random_plies=(2, 2))
        )


def test_a_bound_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    class Unsure(Player):
        def think(self, board: Board, limits: Any, on_report: Any) -> Any:
            def told(report: Any) -> None:
                on_report(report._replace(bound="lower" if board.side == WHITE else ""))

            return super().think(board, limits, told)

    fake(monkeypatch, 10, kind=Unsure)
    game = training_game(training=selfgame.Training(1, random_plies=(8, 8)))
    assert game.bounds[:4] == b"\1\0\1\0"


def test_nodes_vary_by_the_jitter(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Counting(Player):
        def think(self, board: Board, limits: Any, on_report: Any) -> Any:
            asked.append(limits.nodes)
            return super().think(board, limits, on_report)

    fake(monkeypatch, 10, kind=Counting)
    training_game(training=selfgame.Training(1000, jitter=0.2))
    assert 800 <= min(asked) < 900
    assert 1100 < max(asked) <= 1200
    asked.clear()
    training_game(training=selfgame.Training(1000, jitter=0.0))
    assert set(asked) == {1000}


# --- The file


def test_a_run_goes_on_where_it_was(tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole.moff", tmp_path / "parts.moff"
    ended = generate(whole, "--games", 6)
    assert re.search(r"6 games, \+ = - [\d ]+, \d+ positions, \d+/s, .* left", ended.stderr)
    generate(parts, "--games", 2)
    parts.write_bytes(parts.read_bytes() + whole.read_bytes()[:50])
    ended = generate(parts, "--games", 6, "--concurrency", 2)
    assert "cut off 50 bytes of an unfinished block" in ended.stderr
    assert "already holds 2 games with" in ended.stderr
    assert read(parts) == read(whole)
    assert len(read(whole)) == 6
    data = parts.read_bytes()
    generate(parts, "--games", 6)
    assert parts.read_bytes() == data
    generate(parts, "--games", 1, "--seed", 7)
    assert parts.read_bytes().startswith(data)
    assert read(parts).keys() - read(whole).keys() == {(7, 0)}


def test_the_block_says_how_the_games_were_played(tmp_path: Path) -> None:
    path = tmp_path / "a.moff"
    generate(path, "--games", 1, "--seed", 3, "--jitter", 0.1, "--random-plies", 4, 5)
    (block,) = gamefile.scan(path.read_bytes())
    assert block.seed == 3
    assert block.settings == {
        "nodes": NODES,
        "jitter": 0.1,
        "random_plies": [4, 5],
        "hash": 1,
        "openings": "",
        "engine": selfplay.script.fingerprint(),
        "chess960": False,
        "tables": 0,
    }
    assert json.loads(json.dumps(block.settings)) == block.settings


def test_one_seed_plays_with_one_set_of_options(tmp_path: Path) -> None:
    path = tmp_path / "a.moff"
    generate(path, "--games", 1)
    data = path.read_bytes()
    ended = generate(path, "--games", 2, "--jitter", 0.1, code=2)
    assert "seed 0 with jitter 0.2, not 0.1" in ended.stderr
    assert path.read_bytes() == data
    generate(path, "--games", 1, "--jitter", 0.1, "--seed", 1)
    assert read(path).keys() == {(0, 0), (1, 0)}


def test_a_book_gives_the_openings(tmp_path: Path) -> None:
    path, book = tmp_path / "a.moff", tmp_path / "book.epd"
    starts = {"4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - 0 1", "4k3/4pppp/8/8/8/8/4PPPP/4K3 b - - 0 1"}
    book.write_text("".join(start.rsplit(" ", 2)[0] + "\n" for start in starts), encoding="ascii")
    generate(path, "--games", 4, "--openings", book, "--random-plies", 1, 2)
    found = read(path).values()
    assert {game.start for game in found} == starts
    assert {len(game.moves) - len(game.scores) for game in found} <= {1, 2}
    book.write_text(book.read_text(encoding="ascii") + "4k3/8/8/8/8/8/4P3/4K3 w - -\n", encoding="ascii")
    ended = generate(path, "--games", 5, "--openings", book, "--random-plies", 1, 2, code=2)
    assert re.search("seed 0 with openings 'book.epd [0-9a-f]{16}', not 'book.epd ", ended.stderr)


def test_a_game_whose_opening_is_decided_is_left_out(tmp_path: Path) -> None:
    path, book = tmp_path / "a.moff", tmp_path / "book.epd"
    book.write_text(f"{fen.START[:-4]}\n3qk3/8/8/8/8/8/8/4K3 w - -\n", encoding="ascii")
    ended = generate(path, "--games", 4, "--openings", book, "--random-plies", 0, code=1)
    told = re.findall(r"game (\d) is left out: no random plies keep this opening .*: 3qk3/8", ended.stderr)
    assert sorted(told) in (["0", "2"], ["1", "3"])
    assert {number for _, number in read(path)} == {0, 1, 2, 3} - set(map(int, told))


def test_an_uninterrupted_run_writes_the_same_file_whatever_plays_it(tmp_path: Path) -> None:
    one, many = tmp_path / "one.moff", tmp_path / "many.moff"
    for path, concurrency in ((one, 1), (many, 4)):
        words = [sys.executable, "-c", IN_SMALL_BLOCKS, *command(path, "--games", 12)[2:]]
        subprocess.run(
            [*words, "--concurrency", str(concurrency)], cwd=SCRIPT.parent, check=True, timeout=120
        )
    assert one.read_bytes() == many.read_bytes()
    assert [len(block.games) for block in gamefile.scan(one.read_bytes())] == [2] * 6


@pytest.mark.parametrize("ends", list(itertools.permutations(range(4))))
def test_games_are_brought_into_the_order_of_their_numbers(ends: tuple[int, ...]) -> None:
    order = selfplay.Order(iter([3, 5, 6, 8]))
    numbers = list(order)
    for count, n in enumerate(ends, 1):
        order.add(numbers[n], numbers[n] if n != 2 else None)
        ended = {numbers[n] for n in ends[:count]}
        ready = list(itertools.takewhile(ended.__contains__, numbers))
        assert order.ready == [number for number in ready if number != 6]
        assert order.waiting() == sorted(ended - set(ready) - {6})


class Interrupter:
    """Raises KeyboardInterrupt at one of the lines that run in a few functions."""

    CODES = (
        selfplay.generate.__code__,
        selfplay.Order.add.__code__,
        gamefile.GameFile.add.__code__,
        gamefile.GameFile._count.__code__,
    )

    def __init__(self, line: int) -> None:
        self.left = line

    def __call__(self, frame: Any, event: str, _: object) -> Any:
        if event == "line":
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self if frame.f_code in self.CODES or frame.f_code.co_name == "write" else None


@pytest.mark.skipif(sys.gettrace() is not None, reason="coverage or a debugger traces lines, too")
def test_no_interrupt_loses_or_doubles_a_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The games end in the order 1, 2, 0, 3, ..., and the interrupt comes at every line in turn."""
    game = training_game(training=selfgame.Training(1, random_plies=(0, 0)))
    played: list[int] = []

    def run_all(_submit: object, _work: object, jobs: Any, _count: int) -> Any:
        numbers = [job.number for job in jobs]
        for number in [*numbers[1:3], *numbers[:1], *numbers[3:]]:
            played.append(number)
            yield number, game._replace(number=number), ""

    monkeypatch.setattr(selfplay, "run_all", run_all)
    monkeypatch.setattr(selfplay, "BLOCK", 2)
    interrupted = 0
    for line in itertools.count(1):
        path = tmp_path / f"{line}.moff"
        words = ["selfplay.py", "--positions", str(path), "--games", "7", "--nodes", "1"]
        monkeypatch.setattr(sys, "argv", words)
        played.clear()
        sys.settrace(Interrupter(line))
        try:
            code = selfplay.main()
        except KeyboardInterrupt:
            code = 130
        finally:
            sys.settrace(None)
        if code == 0:
            break
        assert code == 130
        interrupted += 1
        found = [number for _, number in read(path)] if path.exists() else []  # no game twice
        # The one that has just ended, or the last block if the interrupt comes when all is done.
        assert len(found) >= len(played) - 2
        assert selfplay.main() == 0
        assert sorted(number for _, number in read(path)) == list(range(7))
    assert interrupted > 50


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear Sir,\n", encoding="utf-8")
    assert "letter.txt is not a file of games" in generate(path, "--games", 1, code=2).stderr
    assert path.read_text(encoding="utf-8") == "Dear Sir,\n"


def test_a_run_ends_after_its_minutes(tmp_path: Path) -> None:
    path = tmp_path / "a.moff"
    generate(path, "--games", 10**6, "--minutes", 0.02)
    assert 0 < len(read(path)) < 10**6


IN_SMALL_BLOCKS = "import selfplay, sys; selfplay.BLOCK = 2; sys.exit(selfplay.main())"
"""The script with blocks of two games."""


def started(path: Path, *arguments: object) -> subprocess.Popen[str]:
    """A long run that has written a block."""
    words = [sys.executable, "-c", IN_SMALL_BLOCKS, *command(path, "--games", 10**6, *arguments)[2:]]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, encoding="utf-8", cwd=SCRIPT.parent)
    until(lambda: path.exists() and path.stat().st_size > 0)
    return process


def until(is_done: Callable[[], bool]) -> None:
    """Wait for something."""
    end = time.monotonic() + 120
    while not is_done():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_an_interrupted_run_leaves_whole_games_and_goes_on(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.moff"
    process = started(path, "--concurrency", 2)
    number = getattr(signal, name)
    process.send_signal(number)
    errors = process.communicate(timeout=60)[1]
    assert process.returncode == (-number if name == "SIGKILL" else 130), errors
    assert "Traceback" not in errors
    found = read(path)
    assert found
    generate(path, "--games", max(number for _, number in found) + 2)
    assert found.items() < read(path).items()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_worker_that_dies_is_one_error(tmp_path: Path) -> None:
    path = tmp_path / "a.moff"
    code = """
import os, selfplay, sys
play = selfplay.training_game
def play_or_die(job):
    if job.number == 3:
        os._exit(1)
    return play(job)
selfplay.training_game = play_or_die
sys.exit(selfplay.main())
"""
    words = [sys.executable, "-c", code, *command(path, "--games", 9)[2:]]
    ended = subprocess.run(words, capture_output=True, encoding="utf-8", cwd=SCRIPT.parent, timeout=120)
    assert ended.returncode == 1, ended.stderr
    assert "a game could not be played: BrokenProcessPool" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert len(read(path)) <= 3


def test_no_extra_is_needed(tmp_path: Path) -> None:
    path = tmp_path / "a.moff"
    code = """
import sys
sys.modules.update(dict.fromkeys(["tqdm", "tabulate", "numpy", "matplotlib", "distributed"]))
import selfplay
sys.exit(selfplay.main())
"""
    words = [sys.executable, "-c", code, *command(path, "--games", 1)[2:]]
    ended = subprocess.run(words, capture_output=True, encoding="utf-8", cwd=SCRIPT.parent, timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert len(read(path)) == 1


def test_a_dask_cluster_plays_the_same_games(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="the cluster extra is not installed")
    far, near = tmp_path / "far.moff", tmp_path / "near.moff"
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        generate(far, "--games", 6, "--scheduler", cluster.scheduler_address, "--concurrency", 4)
    generate(near, "--games", 6)
    assert read(far) == read(near)


# --- Comparisons


def test_a_game_of_a_comparison_follows_from_seed_and_number() -> None:
    assert selfgame.play_game(job(1)) == selfgame.play_game(job(1))
    assert selfgame.start(job(1)).moves != selfgame.start(job(2)).moves
    assert selfgame.start(job(1)).moves != selfgame.start(job(1, seed=1)).moves


@pytest.mark.parametrize(("score", "result"), [(1000, "1-0"), (-1000, "0-1")])
def test_a_side_far_ahead_by_both_sides_word_has_won(
    monkeypatch: pytest.MonkeyPatch, score: int, result: str
) -> None:
    fake(monkeypatch, score)
    played = selfgame.play_game(job())
    assert (played.result, played.reason) == (result, "adjudication: resigned")


def test_a_level_game_is_drawn_after_move_forty(monkeypatch: pytest.MonkeyPatch) -> None:
    fake(monkeypatch, 8)
    played = selfgame.play_game(job(start="4k3/p7/8/8/8/8/P7/4K3 w - - 0 41", pace=selfgame.Pace(1)))
    assert (played.result, played.reason) == ("1/2-1/2", "adjudication: drawn")


def test_the_rules_end_a_game() -> None:
    mate = selfgame.play_game(job(start="6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", pace=selfgame.Pace(NODES)))
    assert (mate.result, mate.reason) == ("1-0", "checkmate")


def test_each_side_thinks_with_its_own_network(tmp_path: Path) -> None:
    """A network that finds every position won for the side to move, whatever the other does."""
    path = tmp_path / "other.net"
    shipped = inference.shipped()
    network.write(path, shipped._replace(output_biases=[network.MOST_BIAS] * shipped.outputs))
    search = selfgame.searcher(1, selfgame.Side({}, str(path)))
    assert list(search.weights().output_biases) == [network.MOST_BIAS] * shipped.outputs
    assert selfgame.searcher(1, selfgame.Side({})).weights() is shipped
    book = selfgame.Book([(fen.START, ())], 0)
    jobs = [book.paired(number, PACE, selfgame.Side({}, str(path))) for number in (0, 1)]
    assert [(job.white.network, job.black.network) for job in jobs] == [(str(path), ""), ("", str(path))]


def test_random_plies_avoid_the_end_of_the_game() -> None:
    # Of White's moves, Ra8 mates.
    pace = selfgame.Pace(1, random_plies=1)
    start = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"
    assert not any(selfgame.start(job(number, start=start, pace=pace)).is_over() for number in range(40))


def test_both_games_of_a_pair_start_alike_with_colours_reversed() -> None:
    book = selfgame.Book([(fen.START, ()), ("4k3/p7/8/8/8/8/P7/4K3 w - - 0 1", ())], 3)
    changed, other = selfgame.Side({"a": 1}), selfgame.AS_IT_IS
    first, second, third = (book.paired(number, PACE, changed) for number in range(3))
    assert selfgame.start(first).moves == selfgame.start(second).moves
    assert (first.white, first.black) == (second.black, second.white) == (changed, other)
    assert third.opening != first.opening


def test_a_comparison_counts_for_the_side_with_the_changed_numbers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @contextmanager
    def thread(workers: int) -> Any:
        with ThreadPoolExecutor(workers) as executor:
            yield executor.submit

    def play(job: Any) -> Any:
        return selfgame.Played(job.number, "1-0" if job.white.numbers else "0-1", "")

    monkeypatch.setattr(selfplay, "processes", thread)
    monkeypatch.setattr(selfplay, "play_game", play)
    monkeypatch.setattr(selfplay, "searcher", lambda megabytes, numbers: None)
    monkeypatch.setattr(sys, "argv", ["selfplay.py", "--compare", "depth=3", "--games", "6"])
    assert selfplay.main() == 0
    assert "6 games: +6 =0 -0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "--positions"),
        (["--positions", "a", "--compare", "a=1"], "--compare"),
        (["--compare", "nothing"], "NAME=VALUE"),
        (["--compare", "a=b"], "NAME=VALUE"),
        (["--compare", "no_such_number=1"], "'no_such_number' is not a search parameter"),
        (["--compare", "null_divisor=0"], "null_divisor lies between 1"),
        (["--compare", "--network", str(SCRIPT)], "is not a network"),
        (["--positions", "x", "--network", str(SCRIPT)], "--network"),
        (["--compare", "--random-plies", "8", "10"], "--random-plies"),
        (["--compare", "--sprt", "5", "0"], "SPRT"),
        (["--positions", "a", "--games", "0"], "--games"),
        (["--positions", "a", "--jitter", "2"], "--jitter"),
        (["--positions", "a", "--minutes", "0"], "--minutes"),
        (["--positions", "a", "--minutes", "nan"], "--minutes"),
        (["--positions", "a", "--seed", "-1"], "--seed must be from 0 to 2**64 - 1"),
        (["--positions", "a", "--seed", str(2**64)], "--seed must be from 0 to 2**64 - 1"),
        (["--positions", "a", "--hash", "70000"], "--hash must be at most 65536"),
        (["--positions", "a", "--sprt", "0", "5"], "--sprt needs --compare"),
        (["--compare", "--minutes", "5"], "--minutes and --scheduler need --positions"),
        (["--compare", "--scheduler", "a:1"], "--minutes and --scheduler need --positions"),
        (["--positions", "a", "--random-plies", "10", "8"], "--random-plies"),
        (["--positions", "a", "--random-plies", "1", "2", "3"], "--random-plies"),
        (["--positions", "a", "--openings", "/no/such/file.epd"], "/no/such/file.epd"),
        (["--positions", "/no/such/folder/a"], "/no/such/folder/a"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_what_is_wrong(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    arguments: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["selfplay.py", *arguments])
    try:
        code = selfplay.main()
    except SystemExit as error:
        code = error.code
    assert code == 2
    told = capsys.readouterr()
    assert said in told.err
    assert told.err
    assert told.out == ""
    assert list(tmp_path.iterdir()) == []


# Chess960 and tablebases.


def test_games_of_chess960_start_from_its_positions(tmp_path: Path) -> None:
    path = tmp_path / "games.moff"
    generate(path, "--chess960", "--games", 4, "--nodes", 1, "--random-plies", 0)
    starts = {game.start for game in read(path).values()}
    assert len(starts) == 4
    for start in starts:
        assert start in {chess960.start(number) for number in range(960)}
    for game in read(path).values():
        gamefile.replay(game)
    ended = generate(path, "--games", 5, "--nodes", 1, "--random-plies", 0, code=2)
    assert "chess960 True, not False" in ended.stderr


def test_files_without_the_newer_settings_go_on(tmp_path: Path) -> None:
    path = tmp_path / "games.moff"
    generate(path, "--games", 1)
    block, *_ = gamefile.scan(path.read_bytes())
    old = {name: value for name, value in block.settings.items() if name not in ("chess960", "tables")}
    path.unlink()
    with gamefile.GameFile(path) as file:
        file.add(gamefile.Block(block.seed, old, block.games))
    generate(path, "--games", 2)
    assert len(read(path)) == 2


@pytest.mark.skipif(not TABLES.is_dir(), reason="../shared/data/syzygy is missing")
def test_games_are_searched_with_the_tables(tmp_path: Path) -> None:
    # Mate takes some thirty moves, and without the tables the score is far from decisive.
    start = "8/8/8/4k3/8/8/8/1NB1K3 w - - 0 1"
    played = selfgame.play_game(job(start=start, pace=selfgame.Pace(1, tables=str(TABLES))))
    assert (played.result, played.reason) == ("1-0", "adjudication: resigned")
    assert selfgame.play_game(job(start=start, pace=selfgame.Pace(1))).result != "1-0"
    training_game(training=selfgame.Training(1, tables=str(TABLES)))
    path = tmp_path / "games.moff"
    generate(path, "--games", 1, "--tables", TABLES)
    (block,) = gamefile.scan(path.read_bytes())
    assert block.settings["tables"] == 35
    ended = generate(path, "--games", 2, code=2)
    assert "with tables 35, not 0" in ended.stderr


def test_folders_without_tables_are_refused(tmp_path: Path) -> None:
    ended = generate(tmp_path / "games.moff", "--tables", tmp_path, code=2)
    assert f"{tmp_path} holds no WDL tables" in ended.stderr
