"""bench/selfplay.py: games by the rules and by chance alone, quiet positions, files that go on."""

import importlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import chess
import pytest

from x88 import fen
from x88.board import Board
from x88.move import captured_of
from x88.movegen import legal_moves
from x88.piece import WHITE

pytest.importorskip("tabulate", reason="the bench extra is not installed")
pytest.importorskip("tqdm", reason="the bench extra is not installed")

SCRIPT = Path(__file__).resolve().parent.parent / "bench" / "selfplay.py"

sys.path.append(str(SCRIPT.parent))
selfplay: Any = importlib.import_module("selfplay")

NODES = 60
PACE = selfplay.Pace(NODES, random_plies=6, positions=12)


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the script with short searches."""
    command = [sys.executable, str(SCRIPT), "--nodes", str(NODES), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=300)


def generate(path: Path, games: int, *arguments: object) -> bytes:
    """Play games; what the file holds then."""
    ended = run("--out", path, "--games", games, "--random-plies", 6, *arguments)
    assert ended.returncode == 0, ended.stderr
    return path.read_bytes()


def job(number: int = 0, seed: int = 0, start: str = fen.START, pace: Any = PACE) -> Any:
    """A game from a position."""
    return selfplay.Book([(start, ())], seed).job(number, pace)


class Player:
    """Plays the first of the moves that it may choose from, and tells a score from White's view."""

    def __init__(self, score: int, captures: bool) -> None:
        self.score = score
        self.captures = captures

    def think(self, board: Board, limits: Any, on_report: Any) -> Any:
        moves = legal_moves(board)
        chosen = [move for move in moves if bool(captured_of(move)) == self.captures] or moves
        score = self.score if board.side == WHITE else -self.score
        on_report(selfplay.Report(1, 1, score, None, 1, 0.0, 0, chosen[:1]))
        return importlib.import_module("search.search").Result(chosen[0], 0, 1)


def fake(monkeypatch: pytest.MonkeyPatch, score: int, captures: bool = False) -> None:
    """Let such players play."""
    monkeypatch.setattr(selfplay, "searcher", lambda megabytes, numbers: Player(score, captures))


def test_a_game_follows_from_seed_and_number() -> None:
    assert selfplay.play_game(job(1)) == selfplay.play_game(job(1))
    assert selfplay.play_game(job(1)).positions != selfplay.play_game(job(2)).positions
    assert selfplay.play_game(job(1)).positions != selfplay.play_game(job(1, seed=1)).positions


def test_positions_are_legal_quiet_and_different_and_tell_the_result() -> None:
    found = []
    for number in range(4):
        played = selfplay.play_game(job(number))
        assert len(played.positions) <= 12
        assert len({line.split(" ", 1)[0] for line in played.positions}) == len(played.positions)
        for line in played.positions:
            text, result, score = line.rstrip("\n").split(";")
            board = chess.Board(text)
            assert board.is_valid()
            assert not board.is_check()
            assert not board.is_game_over()
            assert board.ply() >= 6
            assert abs(int(score)) < 1000
            assert result == {"1-0": "1", "1/2-1/2": "0.5", "0-1": "0"}[played.result]
            found.append(line)
    assert found


def test_the_best_move_of_a_position_kept_takes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    fake(monkeypatch, 0, captures=True)
    played = selfplay.play_game(job(pace=selfplay.Pace(1, positions=1000)))
    taking = [any(map(captured_of, legal_moves(fen.parse(line.split(";")[0])))) for line in played.positions]
    assert taking
    assert not any(taking)


@pytest.mark.parametrize(("score", "result"), [(1000, "1-0"), (-1000, "0-1")])
def test_a_side_far_ahead_by_both_sides_word_has_won(
    monkeypatch: pytest.MonkeyPatch, score: int, result: str
) -> None:
    fake(monkeypatch, score)
    played = selfplay.play_game(job())
    assert (played.result, played.reason) == (result, "adjudication: resigned")
    assert played.positions == ()


def test_a_level_game_is_drawn_after_move_forty(monkeypatch: pytest.MonkeyPatch) -> None:
    fake(monkeypatch, 8)
    played = selfplay.play_game(job(start="4k3/p7/8/8/8/8/P7/4K3 w - - 0 41", pace=selfplay.Pace(1)))
    assert (played.result, played.reason) == ("1/2-1/2", "adjudication: drawn")


def test_the_rules_end_a_game() -> None:
    mate = selfplay.play_game(job(start="6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", pace=selfplay.Pace(NODES)))
    assert (mate.result, mate.reason) == ("1-0", "checkmate")


def test_each_side_thinks_with_its_own_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[Any] = []

    class Remembering(Player):
        def think(self, board: Board, limits: Any, on_report: Any) -> Any:
            assert loaded[-1] is (other if board.side == WHITE else selfplay.tuned.EVALUATION)
            return super().think(board, limits, on_report)

    class Evaluate:
        load = loaded.append

    other = {"tempo": [(0, 0)]}
    monkeypatch.setattr(selfplay, "searcher", lambda megabytes, numbers: Remembering(1500, False))
    monkeypatch.setattr(selfplay, "evaluate", Evaluate)
    book = selfplay.Book([(fen.START, ())], 0)
    assert selfplay.play_game(book.paired(0, PACE, selfplay.Side({}, other))).result == "1-0"
    assert loaded[-1] is selfplay.tuned.EVALUATION


def test_random_plies_avoid_the_end_of_the_game() -> None:
    # Of White's moves, Ra8 mates.
    pace = selfplay.Pace(1, random_plies=1)
    start = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"
    assert not any(selfplay.start(job(number, start=start, pace=pace)).is_over() for number in range(40))


def test_both_games_of_a_pair_start_alike_with_colours_reversed() -> None:
    book = selfplay.Book([(fen.START, ()), ("4k3/p7/8/8/8/8/P7/4K3 w - - 0 1", ())], 3)
    changed, other = selfplay.Side({"a": 1}), selfplay.AS_IT_IS
    first, second, third = (book.paired(number, PACE, changed) for number in range(3))
    assert selfplay.start(first).moves == selfplay.start(second).moves
    assert (first.white, first.black) == (second.black, second.white) == (changed, other)
    assert third.opening != first.opening


def test_a_run_goes_on_where_it_was_and_damage_is_cut_off(tmp_path: Path) -> None:
    whole = generate(tmp_path / "whole.txt", 5)
    path = tmp_path / "parts.txt"
    generate(path, 2)
    log = tmp_path / "parts.txt.games"
    for file in (path, log):
        with open(file, "ab") as stream:
            stream.write(b"0 2")
    assert generate(path, 5, "--concurrency", 2).count(b"\n") == whole.count(b"\n")
    assert sorted(path.read_bytes().split(b"\n")) == sorted(whole.split(b"\n"))
    assert generate(path, 5) == path.read_bytes()
    assert generate(path, 1, "--seed", 7).startswith(path.read_bytes()[: len(whole)])
    assert len(log.read_text(encoding="ascii").splitlines()) == 6


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear Sir,\n", encoding="utf-8")
    ended = run("--out", path, "--games", 1)
    assert ended.returncode == 2
    assert "letter.txt" in ended.stderr
    assert path.read_text(encoding="utf-8") == "Dear Sir,\n"


def test_a_comparison_counts_for_the_side_with_the_changed_numbers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @contextmanager
    def thread(workers: int) -> Any:
        with ThreadPoolExecutor(workers) as executor:
            yield executor

    def play(job: Any) -> Any:
        return selfplay.Played(job.number, "1-0" if job.white.numbers else "0-1", "", ())

    monkeypatch.setattr(selfplay, "crew", thread)
    monkeypatch.setattr(selfplay, "play_game", play)
    monkeypatch.setattr(selfplay, "searcher", lambda megabytes, numbers: None)
    monkeypatch.setattr(sys, "argv", ["selfplay.py", "--compare", "depth=3", "--games", "6"])
    assert selfplay.main() == 0
    assert "6 games: +6 =0 -0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "--out"),
        (["--out", "a.txt", "--compare", "a=1"], "--compare"),
        (["--compare", "nothing"], "NAME=VALUE"),
        (["--compare", "a=b"], "NAME=VALUE"),
        (["--compare", "no_such_number=1"], ""),
        (["--compare", "--evaluation", str(SCRIPT)], "EVALUATION"),
        (["--out", "a.txt", "--games", "0"], "--games"),
        (["--out", "a.txt", "--jitter", "2"], "--jitter"),
        (["--out", "a.txt", "--sprt", "5", "0"], "SPRT"),
        (["--out", "a.txt", "--openings", "/no/such/file.epd"], "/no/such/file.epd"),
        (["--out", "/no/such/folder/a.txt"], "/no/such/folder/a.txt"),
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
