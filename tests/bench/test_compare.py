"""bench/compare.py: games that follow from seed and number, their ends, and the points of each side."""

import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from search.nnue import network, select
from search.search import Result
from tests import ROOT
from x88.board import Board
from x88.movegen import legal_moves
from x88.notation import chess960, fen
from x88.piece import WHITE

pytestmark = pytest.mark.slow

pytest.importorskip("tabulate", reason="the bench extra is not installed")
pytest.importorskip("tqdm", reason="the bench extra is not installed")
import compare
import selfgame

TABLES = ROOT.parent / "shared" / "data" / "syzygy"
NODES = 60
PACE = selfgame.Pace(NODES, random_plies=6)


def job(number: int = 0, seed: int = 0, start: str = fen.START, pace: Any = PACE) -> Any:
    """A game of a comparison from a position."""
    return selfgame.Book([(start, ())], seed).paired(2 * number, pace, selfgame.AS_IT_IS)


class Player:
    """Plays its first move, and reports the same score for White every time."""

    def __init__(self, score: int) -> None:
        self.score = score

    def think(self, board: Board, limits: Any, on_report: Any) -> Result:
        moves = legal_moves(board)
        score = self.score if board.side == WHITE else -self.score
        on_report(selfgame.Report(1, 1, score, None, 1, 0.0, 0, moves[:1]))
        return Result(moves[0], 0, 1)


def test_game_follows_from_seed_and_number() -> None:
    assert selfgame.play_game(job(1)) == selfgame.play_game(job(1))
    assert selfgame.start(job(1)).moves != selfgame.start(job(2)).moves
    assert selfgame.start(job(1)).moves != selfgame.start(job(1, seed=1)).moves


@pytest.mark.parametrize(
    ("score", "start", "ended"),
    [
        (1000, fen.START, ("1-0", "adjudication: resigned")),
        (-1000, fen.START, ("0-1", "adjudication: resigned")),
        (8, "4k3/p7/8/8/8/8/P7/4K3 w - - 0 41", ("1/2-1/2", "adjudication: drawn")),
    ],
)
def test_scores_of_both_sides_end_a_game(
    monkeypatch: pytest.MonkeyPatch, score: int, start: str, ended: tuple[str, str]
) -> None:
    monkeypatch.setattr(selfgame, "searcher", lambda megabytes, numbers, tables: Player(score))
    played = selfgame.play_game(job(start=start, pace=selfgame.Pace(1)))
    assert (played.result, played.reason) == ended


def test_the_rules_end_a_game() -> None:
    mate = selfgame.play_game(job(start="6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", pace=selfgame.Pace(NODES)))
    assert (mate.result, mate.reason) == ("1-0", "checkmate")


def test_each_side_thinks_with_its_own_network(tmp_path: Path) -> None:
    path = tmp_path / "other.net"
    shipped = select.shipped()
    network.write(path, shipped._replace(output_biases=[network.MOST_BIAS] * shipped.outputs))
    search = selfgame.searcher(1, selfgame.Side({}, str(path)))
    assert list(search.weights().output_biases) == [network.MOST_BIAS] * shipped.outputs
    assert selfgame.searcher(1, selfgame.Side({})).weights() is shipped


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


def test_comparison_counts_for_the_side_with_the_changed_numbers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @contextmanager
    def thread(workers: int) -> Any:
        with ThreadPoolExecutor(workers) as executor:
            yield executor.submit

    def play(job: Any) -> Any:
        return selfgame.Played(job.number, "1-0" if job.white.numbers else "0-1", "")

    monkeypatch.setattr(compare, "processes", thread)
    monkeypatch.setattr(compare, "play_game", play)
    monkeypatch.setattr(compare, "searcher", lambda megabytes, numbers: None)
    monkeypatch.setattr(sys, "argv", ["compare.py", "depth=3", "--games", "6"])
    assert compare.main() == 0
    assert "6 games: +6 =0 -0" in capsys.readouterr().out


def test_games_of_chess960_start_from_its_positions() -> None:
    book = selfgame.Book.read(None, 1, True)
    starts = {
        selfgame.start(book.paired(2 * number, selfgame.Pace(1), selfgame.AS_IT_IS)).start
        for number in range(20)
    }
    assert len(starts) == 20
    assert starts <= {fen.write(fen.parse(chess960.start(n), chess960=True)) for n in range(960)}


@pytest.mark.skipif(not TABLES.is_dir(), reason="../shared/data/syzygy is missing")
def test_games_are_searched_with_the_tables(tmp_path: Path) -> None:
    # Mate takes some thirty moves, and without the tables the score is far from decisive.
    start = "8/8/8/4k3/8/8/8/1NB1K3 w - - 0 1"
    played = selfgame.play_game(job(start=start, pace=selfgame.Pace(1, tables=str(TABLES))))
    assert (played.result, played.reason) == ("1-0", "adjudication: resigned")
    assert selfgame.play_game(job(start=start, pace=selfgame.Pace(1))).result != "1-0"
