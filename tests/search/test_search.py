"""The search from outside: mates, draws, limits, principal variations, plain searches, and the same nodes on
every run and both builds.
"""

import itertools
import os
import subprocess
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import chess
import pytest

from moff.evaluation import evaluate
from search import benchmark, movepick, wdl
from search.limits import Limits
from search.line import Progress, Report, Result, Statistics
from search.parameters import Parameters
from search.score import CERTAIN_WIN, DRAW, LONGEST_MATE, MATE, NORMAL_PAWN, mate_distance, normalised
from search.search import Search
from search.syzygy.tablebase import Tablebase
from tests import ROOT
from tests.client import ENGINE
from tests.networks import evaluation_of
from tests.oracle import SHARED, scaled
from tests.searches import KIWIPETE, begun, check_lines, own_mates, packed, played, think
from x88 import build
from x88.attack import in_check, see
from x88.board import Board
from x88.move import captured_of, promoted_of
from x88.movegen import MoveStack, legal_moves
from x88.notation import coordinate, fen
from x88.piece import KIND, QUEEN

pytestmark = pytest.mark.slow


MIDDLEGAME = "r2q1rk1/2pbbppp/p1np1n2/1p2p3/P3P3/1BPP1N2/1P1N1PPP/R1BQ1RK1 b - - 2 10"
FREE_QUEEN = "7k/8/8/3q4/8/8/6Q1/3K4 w - - 0 1"
"""White is in check; g2d5 wins, all else loses."""


def mirrored(text: str) -> str:
    """The FEN of the position with the colours exchanged."""
    return chess.Board(text).mirror().fen(en_passant="fen")


# Scores.


def test_normalised_scores_keep_their_order_sign_and_certain_wins() -> None:
    scores = range(-MATE, MATE + 1)
    found = [normalised(score) for score in scores]
    assert found == sorted(found)
    for score, number in zip(scores, found, strict=True):
        assert number == -normalised(-score)
        if abs(score) >= CERTAIN_WIN:
            assert number == score
        else:
            assert abs(number - 100 * score / NORMAL_PAWN) <= 0.5


def test_mate_distance_counts_moves() -> None:
    distances = {MATE - 1: 1, MATE - 2: 1, MATE - 3: 2, -MATE: 0, 2 - MATE: -1, 4 - MATE: -2}
    distances |= {MATE: 0, 1 - MATE: -1, 3 - MATE: -2}  # from the view of the side that does not move
    assert {score: mate_distance(score) for score in distances} == distances
    assert mate_distance(LONGEST_MATE - 1) is mate_distance(DRAW) is None


def test_winning_chances_rise_with_the_score_and_add_up() -> None:
    before = (0, 0, 1000)
    for score in range(-2000, 2001, 10):
        win, draw, loss = wdl.chances(score)
        assert win + draw + loss == 1000
        assert draw >= 0
        assert wdl.chances(-score) == (loss, draw, win)
        assert win >= before[0]
        assert loss <= before[2]
        before = (win, draw, loss)
    assert wdl.chances(MATE - 5) == (1000, 0, 0)
    assert wdl.chances(0)[1] > 400


@pytest.mark.parametrize("text", [fen.START, *benchmark.POSITIONS[:5]])
def test_one_node_scores_the_static_evaluation(text: str) -> None:
    board = fen.parse(text)
    _, reports = think(text, Limits(nodes=1))
    assert reports[-1].score == normalised(evaluation_of(board).value(board)) == evaluate(board)


# Mates.

MATES = [
    ("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", 1),
    ("r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4", 1),
    ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", 2),
    ("7k/8/5K2/8/8/8/8/Q7 w - - 0 1", 2),
]


@pytest.mark.parametrize(("text", "moves"), MATES)
def test_a_mate_comes_with_its_distance_and_a_line_that_ends_in_it(text: str, moves: int) -> None:
    result, reports = think(text, Limits(depth=2 * moves + 3, mate=moves))
    last = reports[-1]
    assert (last.mate, last.score, len(last.pv)) == (moves, MATE - (2 * moves - 1), 2 * moves - 1)
    assert result.move == last.pv[0]
    board = chess.Board(text)
    for move in last.pv:
        board.push_uci(coordinate.write(move))
    assert board.is_checkmate()


@pytest.mark.parametrize(
    ("text", "depth"),
    [("7k/8/6K1/8/8/8/8/R7 b - - 0 1", 3), ("b3k3/b7/8/8/r7/1r5K/8/8 w - - 0 1", 1)],
    ids=["every reply loses", "the only evasion costs no depth"],
)
def test_the_losing_side_sees_the_mate(text: str, depth: int) -> None:
    _, reports = think(text, Limits(depth=depth))
    assert (reports[-1].mate, reports[-1].score) == (-1, 2 - MATE)


def known_mates(longest: int) -> list[tuple[str, int]]:
    """Positions with the moves to mate: the project's own and a sample of the shared ones."""
    found = own_mates()
    for moves, step in enumerate((1, 8, 1, 6), 1):
        path = SHARED / "tactics" / f"mate{moves}.fen"
        if path.exists():
            lines = path.read_text(encoding="utf-8").splitlines()[::step]
            found += [(line, moves) for line in lines if line.strip()]
    found = [(text, moves) for text, moves in found if moves <= scaled(longest, 2)]
    return found[: scaled(len(found), 12)]


@pytest.mark.parametrize(("longest", "is_mate_search"), [(4, True), (3, False)])
def test_the_search_finds_known_mates(longest: int, is_mate_search: bool) -> None:
    for text, moves in known_mates(longest):
        limits = Limits(nodes=scaled(5_000_000, 6000))
        if is_mate_search:
            limits = Limits(depth=2 * moves + 3, mate=moves)
        _, reports = think(text, limits, Search(16))
        assert reports[-1].mate == moves, text


LEFT_OUT = [
    ("4rk2/1bq2p1Q/3p1bp1/1p1n2N1/4PB2/2Pp3P/1P1N4/5RK1 w - - 1 0", 3, 2),
    ("2k1r2r/ppp3p1/3b4/3pq2b/7p/2NP1P2/PPP2Q1P/R5RK b - - 0 1", 3, 2),
    ("8/3p2P1/1Pp5/2P1P3/3B2P1/2p5/p7/RNk1K3 w Q - 0 1", 11, 4),
    ("3r4/2R1P2N/p3Bp2/K2PkP2/1P5P/2p1P3/pBp1R3/Q2N4 w - - 0 1", 11, 4),
]


@pytest.mark.parametrize(("text", "depth", "moves"), LEFT_OUT if build.compiled else LEFT_OUT[:2])
def test_a_mate_search_ignores_entries_of_searches_with_pruning(text: str, depth: int, moves: int) -> None:
    _, reports = think(text, Limits(depth=depth, mate=moves))
    assert reports[-1].mate == moves


@pytest.mark.parametrize("lines", [1, 2])
def test_a_mate_search_tries_all_searchmoves_and_no_others(lines: int) -> None:
    text = "6k1/5ppp/8/8/8/8/8/RR4K1 w - - 0 1"
    for moves, mate in (("a1a7 b1b7", None), ("b1b7 a1a8", 1)):
        limits = Limits(depth=1, mate=1, lines=lines, searchmoves=packed(text, moves))
        result, reports = think(text, limits)
        assert coordinate.write(result.move) in moves
        assert reports[-lines].mate == mate


@pytest.mark.parametrize("depth", [30, 10**6])
def test_a_search_reaches_245_plies_cheaply_once_it_has_a_mate(depth: int) -> None:
    """No line beats a shorter mate."""
    result, reports = think(MATES[0][0], Limits(depth=depth))
    assert (reports[-1].depth, reports[-1].mate) == (min(depth, 245), 1)
    assert result.nodes < 100 * min(depth, 245)


@pytest.mark.parametrize("moves", [500, 10**15])
def test_a_mate_limit_beyond_the_longest_search_means_any_mate(moves: int) -> None:
    _, reports = think("6k1/5ppp/8/8/8/8/7P/R5K1 b - - 0 1", Limits(depth=4, mate=moves))
    assert reports[-1].depth == 4, "no mate, no end"
    _, reports = think(MATES[0][0], Limits(depth=30, mate=moves))
    assert (reports[-1].depth, reports[-1].mate) == (1, 1)


# Draws.


@pytest.mark.parametrize(
    ("text", "score"), [("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", DRAW), ("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", -MATE)]
)
def test_a_finished_game_has_a_score_and_no_move(text: str, score: int) -> None:
    result, reports = think(text, Limits(depth=3))
    assert result == Result(0, 0, 0)
    assert [(report.depth, report.score, report.pv) for report in reports] == [(0, score, [])]


@pytest.mark.parametrize(
    "text",
    [
        "8/8/4k3/8/8/3NK3/8/8 w - - 0 1",
        "8/8/4k3/8/8/3BK3/8/8 w - - 0 1",
        "8/8/4k1b1/8/8/3BK3/8/8 w - - 0 1",
        "k7/8/8/8/8/8/1R6/K7 w - - 99 80",
    ],
    ids=["knight", "bishop", "bishops of one colour", "fifty moves"],
)
def test_a_draw_by_rule_scores_zero(text: str) -> None:
    result, reports = think(text, Limits(depth=4))
    assert reports[-1].score == DRAW
    assert result.nodes <= 4 * (1 + len(legal_moves(fen.parse(text)))), "no node has children but the root"


@pytest.mark.parametrize(
    "text",
    [
        "1k6/8/8/8/8/P7/P7/2B1K3 w - - 0 1",
        "8/8/4k3/8/8/3NKN2/8/8 w - - 0 1",
        "8/8/4k1n1/8/8/3BK3/8/8 b - - 0 1",
    ],
)
def test_material_that_cannot_win_stays_near_zero_at_every_depth(text: str) -> None:
    for position in (text, mirrored(text)):
        _, reports = think(position, Limits(depth=14, nodes=scaled(400_000, 6000)))
        assert reports
        assert max(abs(report.score) for report in reports) <= 80


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("8/8/8/4k3/8/8/Q7/K7 w", 96),
        ("2R5/5b2/8/4K3/8/8/1R6/7k b", 97),
        ("3KQ3/5k2/8/2R5/8/8/8/8 b", 97),
        ("4K3/8/2r5/Q5Q1/8/8/8/2k5 b", 97),
    ],
)
def test_a_stored_mate_does_not_count_near_the_fifty_move_rule(text: str, near: int) -> None:
    """The counter is not in the key: a mate that was found with time to spare is out of reach."""
    search = Search(1)
    far, close = (scaled(13, 9), (scaled(8, 5),)) if near == 96 else (5, (4, scaled(10, 5)))
    _, reports = think(f"{text} - - 0 60", Limits(depth=far), search)
    assert abs(reports[-1].score) > 500
    for depth in close:
        _, reports = think(f"{text} - - {near} 160", Limits(depth=depth), search)
        assert reports[-1].score == DRAW, "pruning trusts no static evaluation there"


def test_a_lead_is_worth_less_the_longer_nothing_has_happened() -> None:
    locked = "4k3/8/p1p1p1p1/PpPpPpPp/1P1P1P1P/8/8/R3K3 w - - {} 160"
    for mirror in (str, mirrored):
        scores = [
            think(mirror(locked.format(count)), Limits(depth=1))[1][-1].score for count in (0, 30, 60, 90)
        ]
        assert sorted(set(scores), reverse=True) == scores
        assert scores[-1] > DRAW


@pytest.mark.parametrize("depth", [1, 3])
def test_mate_on_the_last_move_comes_before_the_fifty_move_rule(depth: int) -> None:
    for text, moves in (("6k1/5ppp/8/8/8/8/8/R5K1 w - - 99 80", 1), ("7k/8/5K2/8/8/8/8/R7 w - - 97 80", 2)):
        _, reports = think(text, Limits(depth=2 * moves - 2 + depth))
        assert reports[-1].mate == moves


def test_a_lost_side_takes_the_repetition() -> None:
    # A queen behind, White checks for ever: Qe8+ Kh7 Qh5+ Kg8.
    _, reports = think("6k1/6p1/8/7Q/8/8/1q4PP/1r4BK w - - 0 1", Limits(depth=6))
    assert reports[-1].score == DRAW
    # A position of the game for the third time, at every depth.
    board = played("8/8/8/8/4k3/8/r7/5K2 w - - 0 1", "f1e1 e4e5 e1f1 e5e4 f1e1 e4d5 e1d1 d5e4")
    result, reports = think(board, Limits(depth=4))
    assert coordinate.write(result.move) == "d1e1"
    assert [report.score for report in reports] == [DRAW] * 4


def test_a_winning_side_avoids_a_repetition_of_the_game() -> None:
    # Back to a1 repeats a position for the third time, so the rook's advantage would be gone.
    board = played("8/8/8/4k3/8/8/8/R3K3 w - - 0 1", "a1a2 e5e4 a2a1 e4e5 " * 2 + "a1a2 e5e4")
    for depth in range(1, scaled(6, 4)):
        result, reports = think(board, Limits(depth=depth))
        assert coordinate.write(result.move) != "a2a1"
        assert reports[-1].score > 300


ONE_WINNING_MOVE = [
    ("8/8/1R6/8/2p5/7K/8/2k5 w - - 0 1", "b6c6 c1b2 c6b6 b2c1"),
    ("8/8/2k3b1/8/K7/8/8/7R w - - 0 1", "h1h6 c6d7 h6h1 d7c6"),
    ("8/1K6/8/1Q6/8/4k3/2p5/8 w - - 0 1", "b5g5 e3f2 g5b5 f2e3"),
    ("3B4/8/8/8/4K3/8/8/6kB w - - 0 1", "h1f3 g1f1 f3h1 f1g1"),
]
"""By the tablebases, only the first move wins. It was played before, and taken back."""


@pytest.mark.parametrize(
    ("threads", "limits"),
    [(1, Limits()), (1, Limits(lines=2)), (2, Limits()), (1, Limits(ponder=True))],
    ids=["one line", "two lines", "two threads", "pondering"],
)
def test_a_second_occurrence_of_a_position_of_the_game_is_no_draw(threads: int, limits: Limits) -> None:
    for text, moves in ONE_WINNING_MOVE[: scaled(4, 2)]:
        search = Search(1, threads=threads)
        results: list[Result] = []
        reports: list[Report] = []
        limited = limits._replace(nodes=scaled(20_000, 6000))
        search.start(played(text, moves), limited, reports.append, results.append)
        search.ponderhit()
        search.wait()
        assert coordinate.write(results[0].move) == moves.split()[0], text
        assert reports[-1].score > 100 or limits.lines > 1, text


def test_a_lost_position_of_the_game_is_still_lost() -> None:
    # The rook guards the back rank: b2 allows a mate in one.
    board = played("3r2k1/5pp1/4b2p/4p3/8/8/5PPP/1R4K1 w - - 0 1", "b1b2 g8h7 b2b1 h7g8")
    result, reports = think(board, Limits(nodes=scaled(50_000, 3000)))
    assert coordinate.write(result.move) != "b1b2"
    assert reports[-1].score < -300


# Limits, lines, and searches that are cut short.


@pytest.mark.parametrize("lines", [2, 4])
def test_a_search_cut_short_has_different_lines_and_plays_the_first(lines: int) -> None:
    for nodes in range(1, scaled(1600, 400), 7):
        result, reports = think(MIDDLEGAME, Limits(nodes=nodes, lines=lines))
        last = reports[max(n for n, report in enumerate(reports) if report.line == 1) :]
        # Before the second iteration, no line is listed that has not been searched.
        assert len(last) == lines or last[0].depth == 1
        assert [report.line for report in last] == [*range(1, len(last) + 1)]
        assert len({report.pv[0] for report in last}) == len(last)
        assert result.move == last[0].pv[0]
        # Lines that the last iteration has not reached are those of the one before.
        depths = [report.depth for report in last]
        assert depths == sorted(depths, reverse=True)
        assert depths[0] - depths[-1] in (0, 1)
        for one, other in itertools.pairwise(last):
            assert one.depth != other.depth or one.score >= other.score


SOME = packed(FREE_QUEEN, "d1e1 d1c2 g2d5 d1c1")


@pytest.mark.parametrize(
    "limits",
    [Limits(), Limits(lines=2), Limits(mate=5), Limits(searchmoves=SOME), Limits(searchmoves=SOME, lines=3)],
    ids=["all moves", "lines", "mate", "searchmoves", "searchmoves and lines"],
)
def test_a_stopped_search_keeps_the_best_move_and_its_score(limits: Limits) -> None:
    search = Search(1)
    for nodes in range(40, 400, scaled(3, 12)):
        result, reports = think(FREE_QUEEN, limits._replace(nodes=nodes), search)
        assert coordinate.write(result.move) == "g2d5"
        assert next(report for report in reversed(reports) if report.line == 1).score > 500
        result, reports = think(FREE_QUEEN, Limits(depth=2), search)
        assert (coordinate.write(result.move), reports[-1].score > 500) == ("g2d5", True), (
            "no false scores stay"
        )


FAILING_HIGH = [
    "1r3r2/4q1kp/b1pp2p1/5p2/pPn1N3/6P1/P3PPBP/2QRR1K1 w - - 0 1",
    "r1b2rk1/ppbn1ppp/4p3/1QP4q/3P4/N4N2/5PPP/R1B2RK1 w - - 0 1",
    "r3r2k/2R3pp/pp1q1p2/8/3P3R/7P/PP3PP1/3Q2K1 w - - 0 1",
    "8/p1q2pkp/2Pr2p1/8/P3Q3/6P1/5P1P/2R3K1 w - - 0 1",
]


def test_a_search_cut_short_plays_the_move_that_failed_high(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the root is restricted, and its entry in the table cannot tell which move it was."""
    monkeypatch.setattr("search.job.REPORT_DELAY", 0)
    found: list[bool] = []
    for text in FAILING_HIGH[: scaled(4, 3)]:
        board = fen.parse(text)
        limits = Limits(nodes=scaled(30_000, 3000), searchmoves=tuple(sorted(legal_moves(board))[1:]))
        _, reports = begun(Search(1), limits, board, on_statistics=lambda _: None)
        for report, following in itertools.pairwise(reports):
            if report.bound == "lower":
                for tenths in (3, 5, 7, 9):
                    nodes = report.nodes + (following.nodes - report.nodes) * tenths // 10
                    result, _ = think(board, limits._replace(nodes=nodes))
                    found.append(result.move == report.pv[0])
                    assert found[-1] or result.move == following.pv[0], "which failed high after it"
    assert len(found) >= scaled(40, 4)
    assert found.count(False) <= len(found) / 10


@pytest.mark.parametrize("nodes", [1, 17, 1000, *([9999, 123_456] if build.compiled else [2500])])
@pytest.mark.parametrize("text", [fen.START, *benchmark.POSITIONS[9:42:12]])
def test_a_search_keeps_its_node_limit_exactly(text: str, nodes: int) -> None:
    result, reports = think(text, Limits(nodes=nodes))
    assert result.nodes == nodes
    counts = [report.nodes for report in reports]
    assert counts == sorted(counts)
    assert counts[-1] <= nodes
    assert result.move in legal_moves(fen.parse(text))


@pytest.mark.parametrize("depth", [0, 1, 4])
def test_a_search_keeps_its_depth_limit(depth: int) -> None:
    """One of less than a ply still asks for a move."""
    result, reports = think(fen.START, Limits(depth=depth))
    assert [report.depth for report in reports] == list(range(1, max(depth, 1) + 1))
    assert all(report.seldepth >= report.depth for report in reports)
    assert result.move in legal_moves(fen.parse(fen.START))


def test_principal_variations_are_legal_and_go_on_past_the_horizon() -> None:
    for text in benchmark.POSITIONS[:: scaled(1, 6)]:
        check_lines(text, think(text, Limits(depth=scaled(6, 3)))[1])
    _, reports = think("6k1/8/8/8/8/7p/P7/r6K w - - 0 1", Limits(depth=1))
    assert [coordinate.write(move) for move in reports[-1].pv[:2]] == ["h1h2", "a1a2"]
    assert len(reports[-1].pv) == 3


# The same nodes.


def test_earlier_searches_do_not_change_the_nodes_of_a_new_game() -> None:
    search, text = Search(1), benchmark.POSITIONS[3]
    expected = think(text, Limits(depth=scaled(7, 3)), search)
    others = (
        Limits(depth=4, searchmoves=packed(text, "a7a6 d7d6"), lines=2),
        Limits(movetime=5),
        Limits(nodes=scaled(3000, 200)),
        Limits(time=(100, 100), nodestime=1),
        Limits(depth=scaled(3, 1), mate=4),
    )
    for limits in (others[0], *others):
        think(text, limits, search)
        search.new_game()
        found = think(text, Limits(depth=scaled(7, 3)), search)
        assert found[0] == expected[0]
        assert [each[:5] for each in found[1]] == [each[:5] for each in expected[1]]


def test_bench_counts_the_nodes_of_its_signature() -> None:
    """Whoever changes the search or the evaluation on purpose updates bench/signature.txt."""
    signature = ROOT / "bench" / "signature.txt"
    for line in signature.read_text(encoding="ascii").splitlines():
        depth, nodes = map(int, line.split())
        if depth <= benchmark.DEPTH:
            assert benchmark.Bench(benchmark.Settings(limit=depth)).run().nodes == nodes


def test_bench_counts_the_same_nodes_on_both_builds() -> None:
    other = {**os.environ, "MOFF_PURE": "1" if build.compiled else "0"}
    command = [*ENGINE, "bench", "--depth", "3"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True, timeout=300, env=other)
    count = benchmark.Bench(benchmark.Settings(limit=3)).run().nodes
    assert done.stdout.splitlines()[-1].split()[0] == str(count)


def test_the_last_four_moves_of_the_game_order_the_moves() -> None:
    """No position can occur again after a pawn move, and no list of pieces changes its order."""
    moves = ["b2c2", "a7b7", "c2d2", "b7c7", "h3h4", "h6h5"]
    nodes = []
    for known in range(6):
        start = played("6k1/r7/2n4p/8/8/2N4P/1R6/6K1 w - - 0 1", " ".join(moves[: 6 - known]))
        board = played(fen.write(start), " ".join(moves[6 - known :]))
        nodes.append(think(board, Limits(depth=scaled(8, 6)))[0].nodes)
    assert len(set(nodes)) >= 4
    assert nodes[4] == nodes[5]


# Plain searches as oracles.

WITHOUT_SELECTION = {
    "reverse_futility_depth": -1,
    "null_depth": 200,
    "iir_depth": 200,
    "lmp_depth": -1,
    "futility_depth": -1,
    "see_quiet_depth": -1,
    "capture_futility_depth": -1,
    "see_capture_depth": -1,
    "singular_depth": 200,
    "lmr_first": 300,
    "delta_margin": MATE,
    "correct_pawns": 0,
    "correct_pieces": 0,
    "correct_minors": 0,
    "correct_moves": 0,
    "probcut_depth": 200,
    "quiescence_moves": 256,
    "quiescence_evasions": 256,
    "history_pruning": 32_000,
    "hindsight_reduction": 32_000,
}
"""Nothing is left out, searched less deeply or learnt, so that the order of moves has no say in the score."""


def plain_score(board: Board, deepest: int) -> int:
    """The score of a position by alpha-beta alone, with captures past the horizon that lose no material."""
    evaluation = evaluation_of(board)

    def is_good_capture(move: int) -> bool:
        is_capture = captured_of(move) or promoted_of(move)
        return bool(is_capture and promoted_of(move) & KIND in (0, QUEEN) and see(board, move) >= 0)

    def search(alpha: int, beta: int, depth: int, ply: int) -> int:
        checked = in_check(board)
        moves = legal_moves(board)
        if not moves and (checked or depth > 0):
            return ply - MATE if checked else DRAW
        if ply and board.is_insufficient_material():
            return DRAW
        best = -MATE
        if depth > 0 and checked and len(moves) == 1 and ply < deepest:
            depth += 1  # a forced move costs no depth
        elif depth <= 0 and not checked:
            evaluation.reset(board)
            best = evaluation.value(board) * (256 - board.halfmove) >> 8
            moves = list(filter(is_good_capture, moves))
        for move in sorted(moves, key=is_good_capture, reverse=True):
            if best >= beta:
                break
            board.make(move)
            best = max(best, -search(-beta, -max(alpha, best), depth - 1, ply + 1))
            board.unmake()
        return best

    return search(-MATE, MATE, deepest, 0)


@pytest.mark.parametrize("depth", [1, 2])
def test_a_search_without_selection_has_the_score_of_a_plain_search(depth: int) -> None:
    step = {1: scaled(1, 5), 2: scaled(4, 14)}[depth]
    for text in benchmark.POSITIONS[1::step]:
        _, reports = think(text, Limits(depth=depth), Search(1, Parameters(WITHOUT_SELECTION)))
        assert reports[-1].score == normalised(plain_score(fen.parse(text), depth)), text


@pytest.mark.skipif(build.compiled, reason="compiled, a search takes no other order of moves")
def test_a_mirrored_position_takes_the_same_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the moves are sorted: the order of the generator depends on lists, which are not mirrored."""

    def generate_sorted(generate: Callable[..., int], board: Board, stack: MoveStack, sp: int) -> int:
        end = generate(board, stack, sp)
        flip = 0x70 << 7 | 0x70 if board.side else 0  # ranks count from the side to move
        found = zip(stack.moves[sp:end], stack.scores[sp:end], strict=True)
        for i, (move, score) in enumerate(sorted(found, key=lambda pair: pair[0] ^ flip), sp):
            stack.moves[i], stack.scores[i] = move, score
        return end

    for name in ("generate", "generate_captures"):
        monkeypatch.setattr(movepick, name, partial(generate_sorted, getattr(movepick, name)))
    for text in benchmark.POSITIONS[::5]:
        both = [think(position, Limits(depth=4)) for position in (text, mirrored(text))]
        assert len({(result.nodes, *(report.score for report in reports)) for result, reports in both}) == 1


# Trees that might explode, and what pruning must not miss.


@pytest.mark.skipif(not build.compiled, reason="uncompiled, so many nodes take too long")
@pytest.mark.parametrize(
    ("text", "depth", "most"),
    [
        # So much to take that the first took 53 million nodes for its first iteration.
        ("qqqqkqqq/qqqqqqqq/8/8/8/8/QQQQQQQQ/QQQQKQQQ w - - 0 1", 2, 500_000),
        ("4k3/qqqqqqqq/8/8/8/8/QQQQQQQQ/4K3 w - - 0 1", 2, 500_000),
        ("nrqqkqrn/qqqqqqqq/8/8/8/8/QQQQQQQQ/NRQQKQRN w - - 0 1", 2, 500_000),
        # Near the fifty-move rule, the smaller static evaluation once passed for a correction, and reductions
        # were left out: 13 million nodes.
        ("4k3/8/p1p1p1p1/PpPpPpPp/1P1P1P1P/8/8/R3K3 w - - 80 160", 14, 500_000),
        # From Win At Chess: each took a million as long as no move was left out or reduced where only a mate
        # would do, as in most windows once a mate is found.
        ("3q1rk1/p4pp1/2pb3p/3p4/6Pr/1PNQ4/P1PB1PP1/4RRK1 b - - 0 1", 9, 50_000),
        ("2r2b1r/p1Nk2pp/3p1p2/N2Qn3/4P3/q6P/P4PP1/1R3K1R w - - 0 1", 9, 50_000),
        ("2b2r1k/4q2p/3p2pQ/2pBp3/8/6P1/1PP2P1P/R5K1 w - - 0 1", 9, 50_000),
        # One took 80 million while checks were extended without end.
        *((text, 12, 2_000_000) for text in benchmark.POSITIONS[37:]),
    ],
)
def test_the_tree_does_not_explode(text: str, depth: int, most: int) -> None:
    _, reports = think(text, Limits(depth=depth, nodes=most))
    assert reports[-1].depth == depth


@pytest.mark.parametrize(
    "text",
    [
        "6B1/7R/5K1R/3B3q/4r3/8/8/4r1k1 w - - 0 1",
        "1R6/q2p4/8/2k1K3/8/n7/6n1/R7 w - - 0 1",
        "8/krpp1P2/2r5/8/8/5n2/1R6/1n5K w - - 0 1",
    ],
)
def test_quiescence_tries_every_evasion_that_could_save_the_king(text: str) -> None:
    """However few moves it may try; python-chess finds no mate in two."""
    _, reports = think(text, Limits(depth=1), Search(1, Parameters({"quiescence_moves": 1})))
    assert reports[-1].mate is None


ZUGZWANGS = [
    # King and pawn against king: who has to move loses the opposition. By the endgame tables lost and drawn.
    ("8/4k3/8/4K3/4P3/8/8/8 b - - 0 1", 25_000, None, -MATE, -600),
    ("8/4k3/8/4K3/4P3/8/8/8 w - - 0 1", 400_000, None, -100, 100),
    # The trebuchet: who has to move loses the pawn and the game.
    ("8/8/8/3pK3/2kP4/8/8/8 w - - 0 1", 100_000, None, -MATE, -600),
    # After Ra6 Black could only pass: if the pawn takes or the bishop moves, it is mate.
    ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", 60_000, "a1a6", MATE - 3, MATE - 3),
    # After Kh6 Black, with queen and rook, has no move that keeps both.
    ("1q1k4/2Rr4/8/2Q3K1/8/8/8/8 w - - 0 1", 400_000, "g5h6", 260, MATE),
]


@pytest.mark.parametrize(
    ("text", "nodes", "move", "least", "most"), ZUGZWANGS if build.compiled else ZUGZWANGS[:1]
)
def test_the_search_sees_zugzwang(text: str, nodes: int, move: str | None, least: int, most: int) -> None:
    result, reports = think(text, Limits(nodes=nodes))
    assert least <= reports[-1].score <= most
    assert move is None or coordinate.write(result.move) == move


@pytest.mark.parametrize(
    "change", [{"tables": Tablebase([])}, {"fifty_move_rule": False}], ids=["tables", "rule"]
)
def test_other_tablebases_or_another_rule_clear_the_scores_of_before(
    change: dict[str, Any], tmp_path: Path
) -> None:
    # A table of one value: whoever is to move loses a queen ending, but is saved by the fifty-move rule.
    content = bytes.fromhex("71e8235d3100ee66550080018001") + bytes(66)
    (tmp_path / "KQvK.rtbw").write_bytes(content)
    search = Search(1)
    search.use_tablebases(Tablebase([str(tmp_path)]))
    text = "7k/8/8/3r4/8/8/6Q1/3K4 w - - 0 1"
    assert coordinate.write(think(text, Limits(depth=3), search)[0].move) != "g2d5"
    search.use_tablebases(**change)
    assert coordinate.write(think(text, Limits(depth=3), search)[0].move) == "g2d5"


# A thread of its own, and what is told of a long search.


def test_an_infinite_search_leaves_the_interpreter_free_and_ends_by_stop() -> None:
    """Compiled, Python code beside a search runs nearly as fast as alone: the search holds no GIL."""
    search = Search(1)
    found: list[tuple[int, threading.Thread]] = []
    search.start(
        fen.parse(fen.START),
        Limits(infinite=True),
        lambda _: None,
        lambda result: found.append((result.move, threading.current_thread())),
    )
    turns = 0
    end = time.perf_counter() + 0.2
    while time.perf_counter() < end:
        turns += 1
        time.sleep(0.001)
    assert turns > scaled(10, 2)
    assert search.is_running()
    assert found == []
    search.stop()
    search.wait()
    assert time.perf_counter() - end < 2
    ((move, thread),) = found
    assert move in legal_moves(fen.parse(fen.START))
    assert thread is not threading.current_thread()
    assert not search.is_running()


def test_the_clock_starts_when_the_request_came() -> None:
    began = time.perf_counter()
    _, reports = begun(Search(1), Limits(movetime=5300), started=began - 5)
    assert time.perf_counter() - began < 3
    assert reports[-1].elapsed >= 5000


def test_a_long_search_reports_bounds_root_moves_and_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("search.job.REPORT_DELAY", 0)
    bounds = exact = 0
    nodes = scaled(300_000, 8000)
    for text in benchmark.POSITIONS[37:41]:
        moves: list[Progress] = []
        counts: list[Statistics] = []
        _, reports = begun(
            Search(1), Limits(nodes=nodes), text, on_progress=moves.append, on_statistics=counts.append
        )
        assert [progress.depth for progress in moves] == sorted(progress.depth for progress in moves)
        numbers = [progress.number for progress in moves if progress.depth == moves[-1].depth]
        assert numbers[0] == 1 or moves[0].depth == moves[-1].depth
        assert 0 < counts[0].nodes <= nodes
        assert counts[0].seldepth + 1 >= counts[0].depth >= 1
        assert counts[0].hashfull >= 0
        for report in reports:
            assert report.bound in ("", "lower", "upper")
            if report.bound:
                # The window of an iteration lies around the score of the one before.
                bounds += 1
                assert (report.bound == "lower") == (report.score > exact)
            else:
                exact = report.score
    assert bounds > scaled(10, 2)


@pytest.mark.parametrize("limits", [Limits(depth=3), Limits(infinite=True)])
def test_a_search_that_fails_still_plays_a_move(limits: Limits, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "excepthook", lambda _: None)

    def fail(_report: Report) -> None:
        raise ArithmeticError

    search = Search(1)
    results: list[Result] = []
    search.start(fen.parse(KIWIPETE), limits, fail, results.append)
    search.stop()
    search.wait()
    assert [result.move in legal_moves(fen.parse(KIWIPETE)) for result in results] == [True]
    assert not search.is_running()
    assert begun(search, Limits(depth=2))[1], "the next search is as any other"
