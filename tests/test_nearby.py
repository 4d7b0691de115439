"""bench/nearby.py: positions near those of games, their scores, runs that are interrupted."""

import importlib
import sys
from array import array
from pathlib import Path
from random import Random
from typing import Any

import chess
import pytest

from moff.evaluation import evaluate
from tests.oracle import scaled
from x88 import fen
from x88.game import OngoingGame
from x88.movegen import legal_moves

np: Any = pytest.importorskip("numpy", reason="the tuning extra is not installed")
pytest.importorskip("tqdm", reason="the tuning extra is not installed")

BENCH = Path(__file__).resolve().parent.parent / "bench"
sys.path.append(str(BENCH))
gamefile: Any = importlib.import_module("gamefile")
positions: Any = importlib.import_module("positions")
recordfile: Any = importlib.import_module("recordfile")
nearby: Any = importlib.import_module("nearby")


def random_game(number: int, plies: int = 12) -> Any:
    """A game of random moves whose first four are its opening."""
    chance = Random(number)
    game = OngoingGame()
    moves = bytearray()
    for _ in range(plies):
        move = chance.choice(sorted(legal_moves(game.board)))
        moves.append(gamefile.index_of(game.board, move))
        game.play(move)
    return gamefile.Game(number, "", bytes(moves), array("h", [0] * (plies - 4)), bytes(plies - 4), 1)


@pytest.fixture
def games(tmp_path: Path) -> Path:
    """A file of 40 games, which make ten parts."""
    path = tmp_path / "games"
    with gamefile.GameFile(path) as file:
        file.add(gamefile.Block(7, {"nodes": 1}, [random_game(number) for number in range(40)]))
    return path


def arguments(games: Path, out: Path, *more: str) -> list[str]:
    return [str(games), "--out", str(out), "--per-position", "2", "--seed", "5", *more]


def parts_of(out: Path) -> list[str]:
    return sorted(path.name for path in out.with_name(out.name + ".parts").iterdir())


def boards_of(game: Any) -> list[chess.Board]:
    """The positions of a game after its opening."""
    replayed = [chess.Board(fen.write(board)) for board, _ in gamefile.replay(game)]
    return replayed[4:]


@pytest.mark.parametrize("depth", [0, 1])
def test_records_are_near_their_games_and_have_their_scores(depth: int) -> None:
    settings = nearby.Settings(per_position=1, moves=2, depth=depth, seed=3)
    block = gamefile.Block(7, {}, [random_game(1, 8)])
    records = nearby.judged(block, settings)
    assert 1 <= len(records) <= 4
    judge = nearby.Judge(depth)
    for record in records:
        text = recordfile.write_fen(record)
        board = chess.Board(text)
        assert board.is_valid()
        assert not board.is_check()
        goal = board.fen(en_passant="legal").split()[:4]
        reached = []
        for start in boards_of(block.games[0]):
            for first in list(start.legal_moves):
                start.push(first)
                reached.append(start.fen(en_passant="legal").split()[:4])
                for second in list(start.legal_moves):
                    start.push(second)
                    reached.append(start.fen(en_passant="legal").split()[:4])
                    start.pop()
                start.pop()
        assert goal in reached
        judge.forget()
        score, move = judge.judge(fen.parse(text))
        assert record["score"] == score
        assert record["move"] == recordfile.short_move(move)
        assert (move != 0) == (depth > 0)
        if depth == 0:
            assert score == evaluate(fen.parse(text))
        assert int(record["state"]) >> recordfile.RESULT_SHIFT & 3 == recordfile.NO_RESULT


def test_each_position_of_the_game_has_so_many_and_the_opening_none(games: Path) -> None:
    game = random_game(2, 10)
    few, many = (
        nearby.judged(gamefile.Block(7, {}, [game]), nearby.Settings(count, 3, 1, 0)) for count in (1, 20)
    )
    assert len(few) <= 6
    assert 60 <= len(many) <= 120
    assert {int(count) & recordfile.MOST_PLIES for count in many["counts"]} == set(range(4, 10))
    again = nearby.judged(gamefile.Block(7, {}, [game]), nearby.Settings(20, 3, 1, 0))
    assert again.tobytes() == many.tobytes()
    other = nearby.judged(gamefile.Block(7, {}, [game]), nearby.Settings(20, 3, 1, 1))
    assert other.tobytes() != many.tobytes()


def test_games_are_set_aside_and_what_no_net_is_to_learn_is_left_out(games: Path, tmp_path: Path) -> None:
    out, checked = tmp_path / "out", tmp_path / "checked"
    more = ["--validation", str(checked), "--share", "0.5", "--depth", "1"]
    assert nearby.main(arguments(games, out, *more)) == 0
    found = [recordfile.load(path) for path in (out, checked)]
    assert all(len(records) > 30 for records in found)
    for records in found:
        assert len(records[positions.Filters().select(records)]) == len(records)
    assert not out.with_name("out.parts").exists()
    assert nearby.main(arguments(games, out, "--depth", "0")) == 0, "with other settings than before"
    whole = nearby.judged(
        gamefile.Block(7, {}, [random_game(number) for number in range(16)]), nearby.Settings(2, 3, 1, 5)
    )
    assert 0 < len(whole[positions.Filters().select(whole)]) < len(whole)


def test_an_interrupted_run_goes_on_and_ends_with_the_same_file(
    games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, out = tmp_path / "whole", tmp_path / "out"
    assert nearby.main(arguments(games, whole)) == 0

    def interrupted(*_: object) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(nearby, "join", interrupted)
        assert nearby.main(arguments(games, out)) == 130
    assert len(parts_of(out)) == 11
    assert not out.exists()
    capsys.readouterr()
    assert nearby.main(arguments(games, out, "--depth", "2")) == 2
    assert "has parts with other settings" in capsys.readouterr().err
    parts = sorted(out.with_name("out.parts").glob("*.records"))
    parts[0].unlink()
    times = [part.stat().st_mtime_ns for part in parts[1:]]
    seen: list[int] = []

    def note(*told: Any) -> str:
        seen.extend(part.stat().st_mtime_ns for part in parts[1:])
        return str(join(*told))

    join = nearby.join
    monkeypatch.setattr(nearby, "join", note)
    assert nearby.main(arguments(games, out, "--concurrency", str(scaled(2, 1)))) == 0
    assert seen == times, "what was there is not made again"
    assert out.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("difference", ["settings", "moves", "start"])
def test_games_of_other_files_may_have_the_same_seed_and_numbers(
    difference: str, games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, out = tmp_path / "other", tmp_path / "out"
    ((seed, settings, played),) = gamefile.scan(games.read_bytes())
    if difference == "settings":
        settings = {"nodes": 2}
    elif difference == "moves":
        played = [random_game(100 + game.number)._replace(number=game.number) for game in played]
    else:
        played = [game._replace(start=f"{fen.START[:-4]} 9 1") for game in played]
    with gamefile.GameFile(other) as file:
        file.add(gamefile.Block(seed, settings, played))
    assert nearby.main(arguments(other, out)) == 0
    wanted = out.read_bytes()

    def interrupted(*_: object) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(nearby, "join", interrupted)
        assert nearby.main(arguments(games, out)) == 130
    assert nearby.main(arguments(other, out)) == 0
    assert out.read_bytes() == wanted, "none of the parts of the run that was interrupted"
    if difference == "settings":  # else they count as repeated
        assert nearby.main([str(games), *arguments(other, out)]) == 0
        assert len(recordfile.load(out)) == 2 * ((len(wanted) - 32) // 32)


def test_a_run_that_cannot_begin_does_not_bind_the_next(
    games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert nearby.main([*arguments(tmp_path / "missing", out), "--depth", "1"]) == 2
    assert "missing" in capsys.readouterr().err
    assert nearby.main(arguments(games, out)) == 0


def test_a_game_gives_the_same_positions_among_any_others() -> None:
    settings = nearby.Settings(2, 3, 0, 5)
    first, second = random_game(1), random_game(2)
    apart = [nearby.judged(gamefile.Block(7, {}, [game]), settings).tobytes() for game in (first, second)]
    for games in ([first, second], [second, first]):
        together = nearby.judged(gamefile.Block(7, {}, games), settings).tobytes()
        assert together in (apart[0] + apart[1], apart[1] + apart[0])


def test_wrong_usage_is_told(games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for more, reason in (
        (["--share", "1"], "--share between 0 and 1"),
        (["--seed", "-1"], "--seed and --depth must not be negative"),
        (["--moves", "101"], "--moves must be at most 100"),
    ):
        assert nearby.main([*arguments(games, tmp_path / "out"), *more]) == 2
        assert reason in capsys.readouterr().err
    before = games.read_bytes()
    out = tmp_path / "out"
    assert nearby.main(arguments(games, games)) == 2
    assert capsys.readouterr().err == f"{games} would be overwritten\n"
    assert games.read_bytes() == before
    assert nearby.main([*arguments(games, out), "--validation", str(out)]) == 2
    assert capsys.readouterr().err == f"{out} would be overwritten\n"
    assert nearby.main([*arguments(games, out), "--validation", str(tmp_path / "no" / "v")]) == 2
    assert "no" in capsys.readouterr().err
    assert not list(tmp_path.glob("out*ordered*")), "nothing half-written"
    foreign = tmp_path / "foreign"
    foreign.write_text("no games", encoding="utf-8")
    assert nearby.main(arguments(foreign, tmp_path / "out")) == 2
    assert str(foreign) in capsys.readouterr().err
