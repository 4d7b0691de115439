"""What no rewrite of the search may lose: moves, scores and games as a caller sees them. Each test catches a
mutant that the other tests of its module let live.
"""

from pathlib import Path
from typing import Any

import chess.pgn
import pytest

from moff import commands
from search.limits import Limits
from search.parameters import Parameters
from search.pool import vote
from search.score import DRAW, MATE
from search.search import Report, Search
from search.tablebase import Tablebase
from tests.oracle import scaled
from x88 import coordinate, fen

pytestmark = pytest.mark.slow

FREE_QUEEN = "7k/8/8/3q4/8/8/6Q1/3K4 w - - 0 1"
"""White is in check; g2d5 wins, all else loses."""


def think(search: Search, text: str, limits: Limits) -> tuple[str, list[Report]]:
    """The move and the reports of a search of a FEN."""
    reports: list[Report] = []
    result = search.think(fen.parse(text), limits, reports.append)
    return coordinate.write(result.move), reports


def packed(text: str, moves: str) -> tuple[int, ...]:
    return tuple(coordinate.parse(fen.parse(text), move) for move in moves.split())


@pytest.mark.parametrize(
    "text",
    [
        "4rk2/1bq2p1Q/3p1bp1/1p1n2N1/4PB2/2Pp3P/1P1N4/5RK1 w - - 1 0",
        "2k1r2r/ppp3p1/3b4/3pq2b/7p/2NP1P2/PPP2Q1P/R5RK b - - 0 1",
    ],
)
def test_a_search_for_a_mate_does_not_believe_what_searches_with_pruning_have_stored(text: str) -> None:
    _, reports = think(Search(1), text, Limits(depth=3, mate=2))
    assert reports[-1].mate == 2


@pytest.mark.parametrize(
    "change", [{"tables": Tablebase([])}, {"heeds_fifty": False}], ids=["tables", "rule"]
)
def test_scores_by_tablebases_are_forgotten_with_the_tables_and_with_their_rule(
    change: dict[str, Any], tmp_path: Path
) -> None:
    # A table of one value: whoever is to move loses a queen ending, but is saved by the fifty-move rule.
    content = bytes.fromhex("71e8235d3100ee66550080018001") + bytes(66)
    (tmp_path / "KQvK.rtbw").write_bytes(content)
    search = Search(1)
    search.use_tablebases(Tablebase([str(tmp_path)]))
    text = "7k/8/8/3r4/8/8/6Q1/3K4 w - - 0 1"
    assert think(search, text, Limits(depth=3))[0] != "g2d5"
    search.use_tablebases(**change)
    assert think(search, text, Limits(depth=3))[0] == "g2d5"


def test_quiescence_sees_mate_before_the_fifty_move_rule() -> None:
    _, reports = think(Search(1), "6k1/5ppp/8/8/8/8/8/R5K1 w - - 99 80", Limits(depth=1))
    assert reports[-1].mate == 1


@pytest.mark.parametrize(
    "text",
    [
        "6B1/7R/5K1R/3B3q/4r3/8/8/4r1k1 w - - 0 1",
        "1R6/q2p4/8/2k1K3/8/n7/6n1/R7 w - - 0 1",
        "8/krpp1P2/2r5/8/8/5n2/1R6/1n5K w - - 0 1",
    ],
)
def test_quiescence_leaves_out_no_evasion_that_could_save_the_king(text: str) -> None:
    """However few moves it may try; python-chess finds no mate in two."""
    _, reports = think(Search(1, Parameters({"quiescence_moves": 1})), text, Limits(depth=1))
    assert reports[-1].mate is None


@pytest.mark.parametrize(
    "text", ["2R5/5b2/8/4K3/8/8/1R6/7k", "3KQ3/5k2/8/2R5/8/8/8/8", "4K3/8/2r5/Q5Q1/8/8/8/2k5"]
)
def test_a_stored_mate_saves_nobody_from_the_fifty_move_rule_seven_plies_before_it(text: str) -> None:
    search = Search(1)
    _, reports = think(search, f"{text} b - - 0 60", Limits(depth=5))
    assert reports[-1].mate is not None
    _, reports = think(search, f"{text} b - - 97 160", Limits(depth=4))
    assert [report.score for report in reports[2:]] == [DRAW, DRAW]


def test_the_shortest_mate_wins_the_vote_of_the_threads_even_of_a_shallow_one() -> None:
    mate, longer = (4, MATE - 3, [3]), (12, MATE - 5, [2])
    for lines in ([longer, mate, longer], [mate, longer, longer]):
        assert vote(lines) == mate


@pytest.mark.parametrize("nodes", ["5", "10", "20"])
def test_a_review_names_a_mate_in_one_where_its_search_found_only_a_longer_mate(
    nodes: str, tmp_path: Path
) -> None:
    games, reviewed = tmp_path / "games.pgn", tmp_path / "reviewed.pgn"
    start = "3rr1k1/5p1p/6pP/8/8/2Q5/4R1PP/4R1K1 w - - 0 1"
    games.write_text(f'[FEN "{start}"]\n\n1. Rxe8+ Rxe8 2. Rxe8# 1-0\n', encoding="utf-8")
    assert commands.run(["review", str(games), "--nodes", nodes, "-o", str(reviewed)], lambda _: None) == 0
    with reviewed.open(encoding="utf-8") as file:
        game = chess.pgn.read_game(file)
    assert game is not None
    played, better = game.variations
    assert (played.nags, better.san()) == ({chess.pgn.NAG_BLUNDER}, "Qg7#")


@pytest.mark.parametrize(
    "limits",
    [
        Limits(),
        Limits(lines=2),
        Limits(mate=5),
        Limits(searchmoves=packed(FREE_QUEEN, "d1e1 d1c2 g2d5 d1c1")),
        Limits(searchmoves=packed(FREE_QUEEN, "d1e1 d1c2 g2d5 d1c1"), lines=3),
    ],
    ids=["all moves", "lines", "mate", "searchmoves", "searchmoves and lines"],
)
def test_wherever_a_search_is_stopped_the_best_move_of_its_first_iteration_and_its_score_stay(
    limits: Limits,
) -> None:
    search = Search(1)
    for nodes in range(40, 400, scaled(3, 12)):
        move, reports = think(search, FREE_QUEEN, limits._replace(nodes=nodes))
        assert move == "g2d5"
        assert next(report for report in reversed(reports) if report.line == 1).score > 500


def test_stopped_searches_leave_no_false_scores_in_the_table() -> None:
    search = Search(1)
    for nodes in range(2, 300, scaled(2, 20)):
        think(search, FREE_QUEEN, Limits(nodes=nodes))
        move, reports = think(search, FREE_QUEEN, Limits(depth=2))
        assert (move, reports[-1].score > 500) == ("g2d5", True)


@pytest.mark.parametrize("lines", [1, 2])
def test_a_search_for_a_mate_finds_it_among_all_moves_allowed_and_no_others(lines: int) -> None:
    text = "6k1/5ppp/8/8/8/8/8/RR4K1 w - - 0 1"
    for moves, mate in (("a1a7 b1b7", None), ("b1b7 a1a8", 1)):
        limits = Limits(depth=1, mate=1, lines=lines, searchmoves=packed(text, moves))
        move, reports = think(Search(1), text, limits)
        assert move in moves
        assert reports[-lines].mate == mate


def nodes_within(**limits: Any) -> int:
    """The nodes of a search of the start position by a clock that counts nodes."""
    given: dict[str, Any] = {"time": (2000, 2000), "nodestime": 1} | limits
    return Search(1).think(fen.parse(fen.START), Limits(**given)).nodes


def test_a_move_takes_more_nodes_the_more_of_its_own_time_there_is_for_it() -> None:
    usual = nodes_within()
    assert nodes_within(movestogo=4) > usual
    assert nodes_within(increment=(200, 0)) > usual
    assert nodes_within(time=(8000, 2000)) > usual
    assert nodes_within(time=(2000, 8000), increment=(0, 200)) == usual


def test_a_lost_side_repeats_a_position_for_the_third_time_at_every_depth() -> None:
    board = fen.parse("8/8/8/8/4k3/8/r7/5K2 w - - 0 1")
    for move in ["f1e1", "e4e5", "e1f1", "e5e4", "f1e1", "e4d5", "e1d1", "d5e4"]:
        board.make(coordinate.parse(board, move))
    reports: list[Report] = []
    result = Search(1).think(board, Limits(depth=4), reports.append)
    assert coordinate.write(result.move) == "d1e1"
    assert [report.score for report in reports] == [DRAW] * 4
