"""The search: mates, draws, limits, principal variations, and the same nodes on every run and both builds."""

import importlib
import itertools
import os
import random
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chess
import pytest

from moff.evaluation import evaluate
from search import alphabeta, benchmark, deepening, quiescence, wdl
from search.clock import HARD, Budget, Clock, Lag, NodeClock, TimeManager, budget
from search.limits import Limits
from search.parameters import Parameters
from search.pool import Pool
from search.score import CERTAIN_WIN, DRAW, LONGEST_MATE, MATE, NORMAL_PAWN, mate_distance, normalised
from search.search import Report, Result, Search, Statistics
from search.searcher import Searcher
from tests.client import ENGINE
from tests.networks import evaluation_of
from tests.oracle import STARTS, scaled
from x88 import build, coordinate, fen
from x88.board import Board
from x88.movegen import MoveStack, legal_moves
from x88.piece import WHITE

pytestmark = pytest.mark.slow

search_module: Any = importlib.import_module("search.search")

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
TACTICS = [
    "2rr3k/pp3pp1/1nnqbN1p/3pN3/2pP4/2P3Q1/PPB4P/R4RK1 w - - 0 1",
    "4kb1r/2q2p2/r2p4/pppBn1B1/P6P/6Q1/1PP5/2KRR3 w k - 0 1",
    "1r3r1k/3p4/1p1Nn1R1/4Pp1q/pP3P1p/P7/5Q1P/6RK w - - 0 1",
    "1R6/1brk2p1/4p2p/p1P1Pp2/P7/6P1/1P4P1/2R3K1 w - - 0 1",
]

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"


def think(text: str, limits: Limits, moves: str = "") -> tuple[Result, list[Report]]:
    """The result and the reports of a fresh search of a FEN, after some moves."""
    board = fen.parse(text)
    for move in moves.split():
        board.make(coordinate.parse(board, move))
    reports: list[Report] = []
    return Search(1).think(board, limits, reports.append), reports


def mirrored(text: str) -> str:
    """The FEN of the position with the colours exchanged."""
    return chess.Board(text).mirror().fen(en_passant="fen")


MATES = [
    ("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", 1),
    ("r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4", 1),
    ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", 2),
    ("7k/8/5K2/8/8/8/8/Q7 w - - 0 1", 2),
]


def test_scores_are_normalised_except_those_of_certain_wins() -> None:
    scores = range(-MATE, MATE + 1)
    found = [normalised(score) for score in scores]
    assert found == sorted(found)
    assert found == [-number for number in reversed(found)]
    assert normalised(0) == DRAW
    assert normalised(NORMAL_PAWN) == 100
    for score, number in zip(scores, found, strict=True):
        if abs(score) >= CERTAIN_WIN:
            assert number == score
        else:
            assert abs(number - 100 * score / NORMAL_PAWN) <= 0.5


@pytest.mark.parametrize("text", [fen.START, *benchmark.POSITIONS[:5]])
def test_a_report_has_the_normalised_score(text: str) -> None:
    """The first one of a search of one node is the static evaluation."""
    board = fen.parse(text)
    evaluation = evaluation_of(board)
    value = evaluation.value(board)
    _, reports = think(text, Limits(nodes=1))
    assert reports[-1].score == normalised(value) == evaluate(board)


@pytest.mark.parametrize(("text", "moves"), MATES)
def test_a_mate_is_announced_with_its_distance_and_a_line_that_ends_in_it(text: str, moves: int) -> None:
    result, reports = think(text, Limits(depth=2 * moves + 3, mate=moves))
    last = reports[-1]
    assert last.mate == moves
    assert last.score == MATE - (2 * moves - 1)
    assert result.move == last.pv[0]
    board = chess.Board(text)
    for move in last.pv:
        board.push_uci(coordinate.write(move))
    assert board.is_checkmate()
    assert len(last.pv) == 2 * moves - 1


def test_the_side_that_is_being_mated_knows_it() -> None:
    # Every reply loses to a mate at once.
    _, reports = think("7k/8/6K1/8/8/8/8/R7 b - - 0 1", Limits(depth=3))
    assert reports[-1].mate == -1
    assert reports[-1].score == -MATE + 2


def known_mates(longest: int) -> list[tuple[str, int]]:
    """Positions with the moves to mate: the project's own, and those of the shared test data where it is
    present; some of them uncompiled.
    """
    found = []
    for line in Path(__file__).with_name("mates.epd").read_text(encoding="utf-8").splitlines():
        text, moves = line.split(" ; dm ")
        found.append((text, int(moves)))
    for moves in (1, 2, 3, 4):
        path = DATA / "tactics" / f"mate{moves}.fen"
        if path.exists():
            lines = path.read_text(encoding="utf-8").splitlines()
            found += [(line, moves) for line in lines if line.strip()]
    found = [(text, moves) for text, moves in found if moves <= scaled(longest, 2)]
    return found[: scaled(len(found), 12)]


def test_known_mates_of_a_given_length_are_found() -> None:
    for text, moves in known_mates(4):
        _, reports = think(text, Limits(depth=2 * moves + 3, mate=moves))
        assert reports[-1].mate == moves, text


@pytest.mark.skipif(not build.compiled, reason="uncompiled, millions of nodes take too long")
@pytest.mark.parametrize(
    "text",
    [
        "8/3p2P1/1Pp5/2P1P3/3B2P1/2p5/p7/RNk1K3 w Q - 0 1",
        "3r4/2R1P2N/p3Bp2/K2PkP2/1P5P/2p1P3/pBp1R3/Q2N4 w - - 0 1",
    ],
)
def test_what_an_ordinary_search_has_left_out_hides_no_mate(text: str) -> None:
    """Mates in four, which are not found if a search for a mate believes what the iterations have stored."""
    _, reports = think(text, Limits(depth=11, mate=4))
    assert reports[-1].mate == 4


def test_mates_are_announced_with_their_distance_by_a_search_that_knows_of_none() -> None:
    for text, moves in known_mates(3):
        reports: list[Report] = []
        Search(16).think(fen.parse(text), Limits(nodes=scaled(5_000_000, 6000)), reports.append)
        assert reports[-1].mate == moves, text


def test_once_a_mate_is_found_deeper_iterations_cost_next_to_nothing() -> None:
    """No line beats a shorter mate."""
    result, _ = think(MATES[0][0], Limits(depth=30))
    assert result.nodes < 3000


@pytest.mark.parametrize("moves", [500, 16_000, 10**15])
def test_a_mate_in_more_moves_than_any_search_sees_is_any_mate(moves: int) -> None:
    _, reports = think("6k1/5ppp/8/8/8/8/7P/R5K1 b - - 0 1", Limits(depth=4, mate=moves))
    assert reports[-1].depth == 4, "no mate, no end"
    _, reports = think(MATES[0][0], Limits(depth=30, mate=moves))
    assert (reports[-1].depth, reports[-1].mate) == (1, 1)


@pytest.mark.parametrize("lines", [2, 4])
def test_whenever_a_search_is_cut_short_its_lines_are_different_moves_and_the_first_is_played(
    lines: int,
) -> None:
    board = fen.parse("r2q1rk1/2pbbppp/p1np1n2/1p2p3/P3P3/1BPP1N2/1P1N1PPP/R1BQ1RK1 b - - 2 10")
    for nodes in range(1, 400 * scaled(4, 1), scaled(1, 7)):
        reports: list[Report] = []
        result = Search(1).think(board, Limits(nodes=nodes, lines=lines), reports.append)
        last = reports[max(n for n, report in enumerate(reports) if report.line == 1) :]
        # Before the second iteration, no line is listed that has not been searched.
        assert len(last) == lines or last[0].depth == 1
        assert [report.line for report in last] == [*range(1, len(last) + 1)]
        assert len({report.pv[0] for report in last}) == len(last)
        assert result.move == last[0].pv[0]
        # What the last iteration has not come to is of the one before.
        depths = [report.depth for report in last]
        assert depths == sorted(depths, reverse=True)
        assert depths[0] - depths[-1] in (0, 1)
        for one, other in itertools.pairwise(last):
            assert one.depth != other.depth or one.score >= other.score


def test_a_stop_between_two_iterations_changes_no_line() -> None:
    board = fen.parse("r2q1rk1/2pbbppp/p1np1n2/1p2p3/P3P3/1BPP1N2/1P1N1PPP/R1BQ1RK1 b - - 2 10")
    search = Search(1)
    reports: list[Report] = []

    def listen(report: Report) -> None:
        reports.append(report)
        if (report.depth, report.line) == (4, 3):
            search.stop()

    result = search.think(board, Limits(depth=8, lines=3), listen)
    assert [(report.line, report.score, report.pv) for report in reports[-3:]] == [
        (report.line, report.score, report.pv) for report in reports if report.depth == 4
    ][:3]
    assert result.move == reports[-3].pv[0]


def test_mate_distance_counts_moves() -> None:
    assert mate_distance(MATE - 1) == 1
    assert mate_distance(MATE - 2) == 1
    assert mate_distance(MATE - 3) == 2
    assert mate_distance(-MATE) == 0
    assert mate_distance(-MATE + 2) == -1
    assert mate_distance(-MATE + 4) == -2
    assert mate_distance(LONGEST_MATE - 1) is None
    assert mate_distance(DRAW) is None


@pytest.mark.parametrize(
    ("text", "score"),
    [("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", DRAW), ("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", -MATE)],
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
def test_a_draw_by_rule_is_worth_nothing(text: str) -> None:
    _, reports = think(text, Limits(depth=4))
    assert reports[-1].score == DRAW


DRAWN = [
    "1k6/8/8/8/8/P7/P7/2B1K3 w - - 0 1",
    "k7/8/8/8/8/P7/8/K1B5 w - - 0 1",
    "8/8/4k3/8/8/3NKN2/8/8 w - - 0 1",
    "8/8/4k1n1/8/8/3BK3/8/8 b - - 0 1",
]


@pytest.mark.parametrize("text", DRAWN)
def test_material_that_cannot_win_stays_near_zero_at_every_depth(text: str) -> None:
    for position in (text, mirrored(text)):
        _, reports = think(position, Limits(depth=14, nodes=scaled(400_000, 6000)))
        assert reports
        assert max(abs(report.score) for report in reports) <= 80


def test_the_table_is_not_believed_when_the_fifty_move_rule_is_near() -> None:
    """The counter is not in the key: a mate that was found with time to spare is out of reach now."""
    search = Search(1)
    for counter, depth in ((0, 13 if build.compiled else 9), (96, 8 if build.compiled else 5)):
        reports: list[Report] = []
        board = fen.parse(f"8/8/8/4k3/8/8/Q7/K7 w - - {counter} 90")
        search.think(board, Limits(depth=depth), reports.append)
        assert (reports[-1].score == DRAW) == (counter > 0)


@pytest.mark.skipif(not build.compiled, reason="uncompiled, a hundred thousand nodes take too long")
@pytest.mark.parametrize(
    "text",
    [
        "qqqqkqqq/qqqqqqqq/8/8/8/8/QQQQQQQQ/QQQQKQQQ w - - 0 1",
        "4k3/qqqqqqqq/8/8/8/8/QQQQQQQQ/4K3 w - - 0 1",
        "nrqqkqrn/qqqqqqqq/8/8/8/8/QQQQQQQQ/NRQQKQRN w - - 0 1",
    ],
)
def test_quiescence_ends_however_much_there_is_to_take(text: str) -> None:
    """The first took more than 53 million nodes for its first iteration."""
    _, reports = think(text, Limits(depth=2, nodes=500_000))
    assert reports[-1].depth == 2


def test_mate_on_the_last_move_comes_before_the_fifty_move_rule() -> None:
    _, reports = think("6k1/5ppp/8/8/8/8/8/R5K1 w - - 99 80", Limits(depth=3))
    assert reports[-1].mate == 1


def test_a_lost_side_takes_the_repetition() -> None:
    # A queen behind, White checks for ever: Qe8+ Kh7 Qh5+ Kg8.
    text = "6k1/6p1/8/7Q/8/8/1q4PP/1r4BK w - - 0 1"
    _, reports = think(text, Limits(depth=6))
    assert reports[-1].score == DRAW


def test_a_winning_side_avoids_what_came_before_in_the_game() -> None:
    # Back to a1 repeats a position for the third time, so the rook's advantage would be gone.
    shuffle = "a1a2 e5e4 a2a1 e4e5 " * 2 + "a1a2 e5e4"
    for depth in range(1, 6 if build.compiled else 4):
        result, reports = think("8/8/8/4k3/8/8/8/R3K3 w - - 0 1", Limits(depth=depth), shuffle)
        assert coordinate.write(result.move) != "a2a1"
        assert reports[-1].score > 300


ONE_WINNING_MOVE = [
    ("8/8/1R6/8/2p5/7K/8/2k5 w - - 0 1", "b6c6 c1b2 c6b6 b2c1"),
    ("8/8/2R5/8/4k3/8/4p3/7K w - - 0 1", "c6e6 e4d3 e6c6 d3e4"),
    ("8/8/2k3b1/8/K7/8/8/7R w - - 0 1", "h1h6 c6d7 h6h1 d7c6"),
    ("8/1K6/8/1Q6/8/4k3/2p5/8 w - - 0 1", "b5g5 e3f2 g5b5 f2e3"),
    ("8/6K1/8/8/5Q2/1k6/2p5/8 w - - 0 1", "f4c1 b3c4 c1f4 c4b3"),
    ("3B4/8/8/8/4K3/8/8/6kB w - - 0 1", "h1f3 g1f1 f3h1 f1g1"),
    ("8/8/8/5kP1/8/8/6PK/8 w - - 0 1", "h2h3 f5e4 h3h2 e4f5"),
]
"""By the tablebases, only the first move wins. It was played before, and taken back."""


@pytest.mark.parametrize(
    ("threads", "limits"),
    [(1, Limits()), (1, Limits(lines=2)), (2, Limits()), (1, Limits(ponder=True))],
    ids=["one line", "two lines", "two threads", "pondering"],
)
def test_a_position_of_the_game_is_no_draw_when_it_occurs_again(threads: int, limits: Limits) -> None:
    for text, moves in ONE_WINNING_MOVE[: scaled(7, 2)]:
        board = fen.parse(text)
        for move in moves.split():
            board.make(coordinate.parse(board, move))
        search = Search(1, threads=threads)
        results: list[Result] = []
        reports: list[Report] = []
        limited = limits._replace(nodes=scaled(20_000, 6000))
        search.start(board, limited, reports.append, results.append)
        search.ponderhit()
        search.wait()
        assert coordinate.write(results[0].move) == moves.split()[0], text
        assert reports[-1].score > 100 or limits.lines > 1, text


def test_a_lost_position_is_lost_although_it_was_on_the_board_before() -> None:
    # The rook guards the back rank: b2 allows a mate in one.
    moves = "b1b2 g8h7 b2b1 h7g8"
    text = "3r2k1/5pp1/4b2p/4p3/8/8/5PPP/1R4K1 w - - 0 1"
    result, reports = think(text, Limits(nodes=scaled(50_000, 3000)), moves)
    assert coordinate.write(result.move) != "b1b2"
    assert reports[-1].score < -300


def test_a_mate_leads_through_positions_of_the_game() -> None:
    found = 0
    for text, moves in [("7k/8/5K2/8/8/8/8/Q7 w - - 0 1", 2), *known_mates(3)]:
        _, reports = think(text, Limits(depth=2 * moves + 3, mate=moves))
        key, reply = reports[-1].pv[0], reports[-1].pv[1] if moves > 1 else 0
        position = chess.Board(text)
        line = [chess.Move.from_uci(coordinate.write(move)) for move in (key, reply) if move]
        line += [chess.Move(move.to_square, move.from_square) for move in line]
        before = position.board_fen(), position.castling_rights
        if moves > 1 and all(_play(position, move) for move in line):
            assert (position.board_fen(), position.castling_rights) == before
            _, reports = think(text, Limits(depth=2 * moves + 3, mate=moves), " ".join(map(str, line)))
            assert reports[-1].mate == moves, text
            found += 1
    assert found > scaled(5, 0)


def _play(position: chess.Board, move: chess.Move) -> bool:
    """Play a move, if it is legal and can be taken back."""
    if move not in position.legal_moves or position.is_irreversible(move):
        return False
    position.push(move)
    return True


@pytest.mark.parametrize("depth", [200, 10**6])
def test_a_search_reaches_245_plies(depth: int) -> None:
    _, reports = think(MATES[0][0], Limits(depth=depth))
    assert (reports[-1].depth, reports[-1].mate) == (min(depth, 245), 1)


FAILING_HIGH = [
    "1r3r2/4q1kp/b1pp2p1/5p2/pPn1N3/6P1/P3PPBP/2QRR1K1 w - - 0 1",
    "r1b2rk1/ppbn1ppp/4p3/1QP4q/3P4/N4N2/5PPP/R1B2RK1 w - - 0 1",
    "r3r2k/2R3pp/pp1q1p2/8/3P3R/7P/PP3PP1/3Q2K1 w - - 0 1",
    "8/p1q2pkp/2Pr2p1/8/P3Q3/6P1/5P1P/2R3K1 w - - 0 1",
]


def test_a_move_that_failed_high_is_played_if_its_search_is_cut_short(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also where the root is restricted, and its entry in the table cannot tell which move it was."""
    monkeypatch.setattr(search_module, "REPORT_DELAY", 0)
    played: list[bool] = []
    for text in FAILING_HIGH[: scaled(4, 1)]:
        board = fen.parse(text)
        limits = Limits(nodes=scaled(20_000, 3000), searchmoves=tuple(sorted(legal_moves(board))[1:]))
        reports: list[Report] = []
        search = Search(1)
        search.start(board, limits, reports.append, lambda _: None, on_statistics=lambda _: None)
        search.wait()
        for report, following in itertools.pairwise(reports):
            if report.bound == "lower":
                for tenths in (3, 5, 7, 9):
                    nodes = report.nodes + (following.nodes - report.nodes) * tenths // 10
                    result = Search(1).think(board, limits._replace(nodes=nodes))
                    played.append(result.move == report.pv[0])
    assert len(played) >= scaled(40, 4)
    assert played.count(False) <= len(played) / 40, "another one may have failed high after it"


@pytest.mark.parametrize("nodes", [1, 17, 1000, *([9999, 20_000, 123_456] if build.compiled else [2500])])
@pytest.mark.parametrize("text", [fen.START, *benchmark.POSITIONS[9:42:12]])
def test_a_node_limit_is_kept_exactly(text: str, nodes: int) -> None:
    result, reports = think(text, Limits(nodes=nodes))
    assert result.nodes == nodes
    assert all(report.nodes <= nodes for report in reports)
    assert result.move in legal_moves(fen.parse(text))


def test_a_depth_limit_is_kept() -> None:
    _, reports = think(fen.START, Limits(depth=4))
    assert [report.depth for report in reports] == [1, 2, 3, 4]
    assert all(report.seldepth >= report.depth for report in reports)


@pytest.mark.parametrize("depth", [0, 1])
def test_a_depth_of_less_than_one_ply_still_asks_for_a_move(depth: int) -> None:
    result, reports = think(fen.START, Limits(depth=depth))
    assert reports[-1].depth == 1
    assert result.move in legal_moves(fen.parse(fen.START))


def test_principal_variations_are_legal_to_their_end() -> None:
    positions = benchmark.POSITIONS if build.compiled else benchmark.POSITIONS[::6]
    for text in positions:
        _, reports = think(text, Limits(depth=6 if build.compiled else 3))
        for report in reports:
            board = chess.Board(text)
            for move in report.pv:
                assert chess.Move.from_uci(coordinate.write(move)) in board.legal_moves, (text, report)
                board.push_uci(coordinate.write(move))


def test_a_search_does_not_touch_its_caller_s_board() -> None:
    board = fen.parse(fen.START)
    board.make(coordinate.parse(board, "e2e4"))
    Search(1).think(board, Limits(depth=3))
    assert fen.write(board) == "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
    assert board.ply == 1
    board.check_invariants()


def test_the_same_search_takes_the_same_nodes() -> None:
    depth = 7 if build.compiled else 3
    search = Search(1)
    board = fen.parse(benchmark.POSITIONS[3])
    counts = []
    for _ in range(3):
        search.new_game()
        counts.append(search.think(board, Limits(depth=depth)))
    assert counts[0] == counts[1] == counts[2]


def test_bench_counts_the_same_nodes_on_both_builds() -> None:
    """Compiled and uncompiled, in this process and in another one."""
    count = benchmark.Bench(benchmark.Settings(limit=3)).run().nodes
    for pure in ("0", "1"):
        with_build = subprocess.run(
            [*ENGINE, "bench", "--depth", "3"],
            capture_output=True,
            encoding="utf-8",
            check=True,
            timeout=300,
            env={**os.environ, "MOFF_PURE": pure},
        )
        assert with_build.stdout.splitlines()[-1].split()[0] == str(count)


def test_bench_is_about_forty_different_positions_that_can_be_played() -> None:
    assert len(set(benchmark.POSITIONS)) == len(benchmark.POSITIONS) >= 40
    for text in benchmark.POSITIONS:
        assert chess.Board(text).is_valid()
        assert fen.write(fen.parse(text)) == text
        assert legal_moves(fen.parse(text))
    assert sum(chess.Board(text).is_check() for text in benchmark.POSITIONS) >= 4


def test_stop_ends_a_search_in_its_own_thread() -> None:
    search = Search(1)
    results: list[Result] = []
    threads: list[threading.Thread] = []

    def keep(result: Result) -> None:
        results.append(result)
        threads.append(threading.current_thread())

    board = fen.parse(fen.START)
    search.start(board, Limits(infinite=True), lambda report: None, keep)
    time.sleep(0.1)
    assert search.is_running()
    assert results == []
    began = time.perf_counter()
    search.stop()
    search.wait()
    assert time.perf_counter() - began < 2
    assert results[0].move in legal_moves(board)
    assert threads[0] is not threading.current_thread()
    assert not search.is_running()


def begun(search: Search, limits: Limits, **arguments: object) -> tuple[list[Report], list[Result], float]:
    """What a search in its own thread tells, and the seconds it took."""
    reports: list[Report] = []
    results: list[Result] = []
    began = time.perf_counter()
    search.start(fen.parse(KIWIPETE), limits, reports.append, results.append, **arguments)
    search.wait()
    return reports, results, time.perf_counter() - began


def test_the_clock_starts_when_the_question_came() -> None:
    asked = time.perf_counter() - 5
    reports, results, seconds = begun(Search(1), Limits(movetime=5300), started=asked)
    assert seconds < 3
    assert len(results) == 1
    assert reports[-1].elapsed >= 5000


def test_bounds_are_told_once_telling_has_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module, "REPORT_DELAY", 0)
    bounds: list[bool] = []
    for text in TACTICS:
        search = Search(1)
        reports: list[Report] = []
        told: list[object] = []
        limits = Limits(nodes=scaled(300_000, 8000))
        search.start(fen.parse(text), limits, reports.append, lambda _: None, on_progress=told.append)
        search.wait()
        assert told
        for report in reports:
            assert report.bound in ("", "lower", "upper")
            later = [other for other in reports[reports.index(report) :] if not other.bound]
            if report.bound and later:
                # The next exact score is on the side that was told, but for the search's instability.
                bounds.append((report.bound == "lower") == (later[0].score >= report.score))
    assert len(bounds) > scaled(10, 2)
    assert sum(bounds) > (0.7 if build.compiled else 0.5) * len(bounds), (
        "some twenty of the uncompiled search"
    )


def test_a_move_comes_even_if_the_search_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "excepthook", lambda _: None)

    def fail(_report: Report) -> None:
        raise ArithmeticError

    for limits in (Limits(depth=3), Limits(infinite=True)):
        search = Search(1)
        results: list[Result] = []
        search.start(fen.parse(KIWIPETE), limits, fail, results.append)
        search.stop()
        search.wait()
        assert [result.move in legal_moves(fen.parse(KIWIPETE)) for result in results] == [True]
        assert not search.is_running()
        # And the next search is as any other.
        assert begun(search, Limits(depth=2))[1]


def test_a_search_leaves_the_interpreter_free() -> None:
    """Compiled, Python code beside a search runs nearly as fast as alone: the search holds no GIL."""
    search = Search(1)
    search.start(fen.parse(fen.START), Limits(infinite=True), lambda report: None, lambda result: None)
    turns = 0
    end = time.perf_counter() + 0.2
    while time.perf_counter() < end:
        turns += 1
        time.sleep(0.001)
    search.stop()
    search.wait()
    assert turns > (10 if build.compiled else 2)


@pytest.mark.parametrize("seed", range(20))
def test_random_positions_give_legal_moves(seed: int) -> None:
    generator = random.Random(seed)
    board = chess.Board()
    for _ in range(generator.randrange(150)):
        if board.is_game_over():
            break
        board.push(generator.choice(list(board.legal_moves)))
    result, _ = think(board.fen(), Limits(depth=4 if build.compiled else 2))
    if board.legal_moves:
        assert chess.Move.from_uci(coordinate.write(result.move)) in board.legal_moves
    else:
        assert result.move == 0


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("3q1rk1/p4pp1/2pb3p/3p4/6Pr/1PNQ4/P1PB1PP1/4RRK1 b - - 0 1", 9),
        ("2r2b1r/p1Nk2pp/3p1p2/N2Qn3/4P3/q6P/P4PP1/1R3K1R w - - 0 1", 9),
        ("2b2r1k/4q2p/3p2pQ/2pBp3/8/6P1/1PP2P1P/R5K1 w - - 0 1", 9),
    ],
)
def test_a_mate_in_sight_does_not_make_the_tree_explode(text: str, depth: int) -> None:
    """From Win At Chess; each took over a million nodes as long as no move was left out or reduced where only
    a mate would do, as in most windows once a mate is found.
    """
    result, reports = think(text, Limits(depth=depth, nodes=100_000))
    assert reports[-1].depth == depth
    assert result.nodes < 50_000


ZUGZWANGS = [
    # King and pawn against king: who has to move loses the opposition. By the endgame tables lost and drawn.
    ("8/4k3/8/4K3/4P3/8/8/8 b - - 0 1", 25_000, None, -MATE, -600),
    ("8/4k3/8/4K3/4P3/8/8/8 w - - 0 1", 400_000, None, -100, 100),
    # The trebuchet: who has to move loses the pawn and the game.
    ("8/8/8/3pK3/2kP4/8/8/8 w - - 0 1", 100_000, None, -MATE, -600),
    ("8/8/8/3pK3/2kP4/8/8/8 b - - 0 1", 100_000, None, -MATE, -600),
    # After Ra6 Black could only pass: if the pawn takes or the bishop moves, it is mate.
    ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", 400_000, "a1a6", MATE - 3, MATE - 3),
    # After Kh6 Black, with queen and rook, has no move that keeps both.
    ("1q1k4/2Rr4/8/2Q3K1/8/8/8/8 w - - 0 1", 400_000, "g5h6", 260, MATE),
]


@pytest.mark.parametrize(
    ("text", "nodes", "move", "least", "most"), ZUGZWANGS if build.compiled else ZUGZWANGS[:1]
)
def test_zugzwang_is_seen(text: str, nodes: int, move: str | None, least: int, most: int) -> None:
    result, reports = think(text, Limits(nodes=nodes))
    assert least <= reports[-1].score <= most
    assert move is None or coordinate.write(result.move) == move


@pytest.mark.skipif(not build.compiled, reason="uncompiled, a million nodes take too long")
@pytest.mark.parametrize("text", benchmark.POSITIONS[37:])
def test_checks_do_not_make_the_tree_explode(text: str) -> None:
    """The tactical positions of the bench; one took 80 million nodes while checks were extended without
    end.
    """
    _, reports = think(text, Limits(depth=12, nodes=3_000_000))
    assert reports[-1].depth == 12 or reports[-1].mate
    assert reports[-1].nodes < 2_000_000


MIRRORED = [text for text in benchmark.POSITIONS if build.compiled or text in benchmark.POSITIONS[::5]]

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
}
"""Nothing is left out, searched less deeply or learnt, so that the order of moves has no say in the score."""


def test_a_search_without_selection_gives_the_mirrored_position_the_same_score() -> None:
    for text in MIRRORED:
        scores = []
        for position in (text, mirrored(text)):
            reports: list[Report] = []
            search = Search(1, Parameters(WITHOUT_SELECTION))
            search.think(fen.parse(position), Limits(depth=3 if build.compiled else 2), reports.append)
            scores.append([report.score for report in reports])
        assert scores[0] == scores[1], text


@pytest.mark.skipif(build.compiled, reason="compiled, a search takes no other order of moves")
def test_with_moves_in_mirrored_order_the_mirrored_position_takes_the_same_nodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The generator goes by piece lists and directions, which are not mirrored: its order is by chance."""

    def sorting(generate: Callable[[Board, MoveStack, int], int]) -> Callable[[Board, MoveStack, int], int]:
        def generate_sorted(board: Board, stack: MoveStack, sp: int) -> int:
            end = generate(board, stack, sp)
            # The ranks of both squares count from the side to move.
            flip = 0x70 << 7 | 0x70 if board.side else 0
            both = zip(stack.moves[sp:end], stack.scores[sp:end], strict=True)
            for i, (move, score) in enumerate(sorted(both, key=lambda pair: pair[0] ^ flip), sp):
                stack.moves[i], stack.scores[i] = move, score
            return end

        return generate_sorted

    for module in (alphabeta, quiescence):
        for name in {"generate", "generate_captures"} & vars(module).keys():
            monkeypatch.setattr(module, name, sorting(getattr(module, name)))
    for text in MIRRORED:
        found = [think(position, Limits(depth=4)) for position in (text, mirrored(text))]
        (result, reports), (other, others) = found
        assert result.nodes == other.nodes, text
        assert [report.score for report in reports] == [report.score for report in others], text


# The clock.


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("left", [-500, 0, 1, 30, 1000, 60_000, 7_200_000])
@pytest.mark.parametrize("increment", [0, 50, 30_000])
@pytest.mark.parametrize("movestogo", [None, 1, 2, 40])
def test_a_budget_is_within_the_clock(side: int, left: int, increment: int, movestogo: int | None) -> None:
    limits = Limits(time=(left, left), increment=(increment, increment), movestogo=movestogo, overhead=20)
    found = budget(limits, side)
    assert found is not None
    assert 0 < found.soft <= found.hard <= found.rescue
    assert found.rescue <= max(1.0, left - 10)


def test_each_side_s_budget_follows_its_own_clock() -> None:
    limits = Limits(time=(10_000, 100_000), increment=(0, 1000))
    white, black = budget(limits, 0), budget(limits, 1)
    assert white is not None
    assert black is not None
    assert black.soft > 5 * white.soft


def test_a_missing_clock_is_taken_from_the_other_side() -> None:
    assert budget(Limits(time=(5000, None)), 1) == budget(Limits(time=(5000, 5000)), 1)


def test_movetime_less_the_overhead_is_the_budget() -> None:
    assert budget(Limits(movetime=250, time=(10, 10)), 0) == Budget(250, 250, 250, 250)
    assert budget(Limits(movetime=250, time=(10, 10), overhead=30), 0) == Budget(220, 220, 220, 220)
    assert budget(Limits(movetime=25, overhead=30), 0) == Budget(1, 1, 1, 1)


def test_a_move_time_in_nodes_needs_no_overhead() -> None:
    limits = Limits(movetime=25, overhead=30, nodestime=100)
    assert budget(NodeClock().limits(limits, 0), 0) == Budget(25, 25, 25, 25)


def test_depth_nodes_and_infinite_have_no_budget() -> None:
    assert budget(Limits(depth=3), 0) is None
    assert budget(Limits(nodes=3), 0) is None
    assert budget(Limits(infinite=True), 0) is None


def test_an_increment_alone_is_a_clock() -> None:
    found = budget(Limits(increment=(200, 200)), 0)
    assert found is not None
    assert 0 < found.soft <= found.hard <= found.rescue <= 200
    assert budget(Limits(increment=(0, 200)), 0) == budget(Limits(increment=(200, 200)), 0)


@pytest.mark.parametrize("left", [2_000, 60_000, 7_200_000])
@pytest.mark.parametrize("movestogo", [None, 40])
def test_one_move_of_many_never_takes_most_of_the_clock(left: int, movestogo: int | None) -> None:
    found = budget(Limits(time=(left, left), movestogo=movestogo), 0)
    assert found.soft < found.hard < found.rescue < 0.26 * left
    assert budget(Limits(time=(left, left), movestogo=1), 0).hard > 0.8 * left


@pytest.mark.parametrize("left", [-5, 1, 25, 1000])
@pytest.mark.parametrize("overhead", [0, 20, 500])
def test_a_search_without_a_move_ends_before_its_flag_falls(left: int, overhead: int) -> None:
    found = budget(Limits(time=(left, left), increment=(1000, 1000), overhead=overhead), 0)
    assert found.rescue <= found.grace <= max(1, left - overhead)


@pytest.mark.skipif(build.compiled, reason="compiled, a search takes no other clock")
@pytest.mark.parametrize(
    ("limits", "most"),
    [
        (Limits(time=(25, 25), overhead=20), 6),
        (Limits(time=(2000, 2000)), 4000),
        (Limits(movetime=3), 4),
        (Limits(time=(25, 25)), 26),
    ],
)
def test_the_grace_for_a_first_move_ends_before_the_flag(
    limits: Limits, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a clock of which every look takes a millisecond."""
    looks = itertools.count(1)
    monkeypatch.setattr("search.searcher.monotonic_ns", lambda: next(looks) * 1_000_000)
    monkeypatch.setattr(Clock, "elapsed", lambda self: 0.0)
    Search(1).think(fen.parse("R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1K2 b - - 0 1"), limits)
    Search(1).think(fen.parse("4k3/qqqqqqqq/8/8/8/8/QQQQQQQQ/4K3 w - - 0 1"), limits)
    assert next(looks) <= 2 * most + 4


@pytest.mark.skipif(build.compiled, reason="compiled, a search cannot be looked into")
def test_the_root_has_failed_low_until_a_search_is_within_its_window(monkeypatch: pytest.MonkeyPatch) -> None:
    searcher = Pool(1).first
    searcher.prepare(fen.parse(KIWIPETE), 0)
    scores = iter([-300, -2000, -2000, -2000])
    seen = []

    def search(searcher: Searcher, *_window: object) -> int:
        seen.append(searcher.failed_low)
        return next(scores)

    monkeypatch.setattr("search.deepening.search", search)
    deepening.iterate(searcher, 8, 0)
    assert seen == [False, True, True]
    deepening.iterate(searcher, 9, -2000)
    assert seen[3:] == [False]


def test_a_long_iteration_tells_its_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module, "REPORT_DELAY", 0)
    told: list[Statistics] = []
    search = Search(1)
    search.start(
        fen.parse(KIWIPETE),
        Limits(nodes=scaled(200_000, 4000)),
        lambda _: None,
        lambda _: None,
        on_statistics=told.append,
    )
    search.wait()
    assert told
    assert 0 < told[0].nodes <= scaled(200_000, 4000)
    assert told[0].depth >= 1
    assert told[0].seldepth >= told[0].depth - 1
    assert told[0].hashfull >= 0


def test_the_overhead_is_kept_back() -> None:
    assert budget(Limits(time=(1000, 1000), movestogo=1, overhead=900), 0).hard <= 100
    assert budget(Limits(time=(1000, 1000), movestogo=1, overhead=5000), 0).hard <= 1


def lag_of(*shown: tuple[int, float], increment: int = 10) -> Lag:
    """The lag of a game: before each search the clock, and how long the search took by its own."""
    lag = Lag()
    for left, elapsed in shown:
        limits = Limits(time=(left, left), increment=(increment, increment))
        lag.begin(limits, 0)
        lag.end(limits, 0, Budget(100, 200, 300, left), elapsed)
    return lag


def test_what_moves_cost_beyond_the_plan_is_learnt() -> None:
    assert (lag_of((1000, 50)).mean, lag_of((1000, 50)).longest) == (0, 0)
    exact = lag_of((1000, 50), (960, 20), (950, 20))
    assert (exact.mean, exact.longest) == (0, 0)
    assert lag_of((1000, 50), (960 - 16, 0)).mean == 2
    assert lag_of((1000, 50), (960 - 16, 0)).longest == 16
    late = lag_of((1000, 400), (1000 - 300 + 10 - 40, 0))
    assert late.longest == 40, "a search that ran on after its time"
    steady = lag_of(*((5000 - 20 * n, 10) for n in range(60)))
    assert steady.longest == 20
    assert 19 < steady.mean < 20
    faded = lag_of((1000, 50), (900, 20), *((890 - 10 * n, 20) for n in range(80)))
    assert faded.mean < 0.01
    assert faded.longest < 2


@pytest.mark.parametrize(
    "shown",
    [
        [(1000, 50), (4000, 50)],  # a new time control
        [(9000, 50), (1000, 50)],  # another game
        [(1000, 50), (962, 50)],  # rounded
        [(5000, 1), (5000, 1), (5000, 1)],  # it stands still, and promises an increment
    ],
)
def test_a_clock_that_was_set_anew_is_no_lag(shown: list[tuple[int, float]]) -> None:
    lag = lag_of(*shown)
    assert (lag.mean, lag.longest) == (0, 0)


def test_a_clock_told_in_whole_seconds_takes_no_time_away() -> None:
    """It shows now too little and now too much."""
    lag, left = Lag(), 60_000.0
    for _ in range(100):
        told = int(left // 1000) * 1000
        limits = Limits(time=(told, told), overhead=20)
        lag.begin(limits, 0)
        found = budget(limits, 0, lag)
        assert found is not None
        lag.end(limits, 0, found, found.soft)
        left -= found.soft
    assert 0 < left < 4000


def test_a_single_long_loss_is_kept_back_but_not_expected_again() -> None:
    lag = lag_of((1000, 50), (460, 10))
    assert lag.longest == 500
    assert lag.mean == 20 / 8
    often = lag_of(*((60_000 - 310 * n, 10) for n in range(40)))
    assert 200 < often.mean <= 310


def test_a_clock_that_shows_more_makes_no_lag_forgotten() -> None:
    shown = [(5000 - 20 * n, 10) for n in range(20)]
    learnt = lag_of(*shown)
    later = lag_of(*shown, (shown[-1][0] + 10, 10))
    assert 0.8 * learnt.mean < later.mean < learnt.mean


def test_the_other_side_s_clock_and_other_limits_are_no_lag() -> None:
    for other in (
        Limits(time=(900, 900), movetime=5),
        Limits(time=(900, 900), ponder=True),
        Limits(infinite=True),
        Limits(depth=3),
    ):
        lag = lag_of((1000, 50))
        lag.begin(other, 1)
        lag.end(other, 1, budget(other, 1), 20)
        lag.begin(Limits(time=(800, 800)), 1)
        lag.begin(Limits(time=(800, 800)), 0)
        assert (lag.mean, lag.longest) == (0, 0)
    lag = lag_of((1000, 50), (900, 10))
    lag.forget()
    assert (lag.mean, lag.longest) == (0, 0)
    lag.begin(Limits(time=(800, 800)), 0)
    assert (lag.mean, lag.longest) == (0, 0)


@pytest.mark.parametrize(("left", "least"), [(1000, 110), (30, 20)])
def test_a_reserve_stays_on_the_clock_and_fills_again(left: float, least: float) -> None:
    lost = 2.0
    for _ in range(300):
        found = budget(Limits(time=(int(left), None), increment=(10, 0), overhead=20), WHITE)
        assert found is not None
        left += 10 - found.soft - lost
        assert left > least
    assert left > 110


def test_one_long_lag_does_not_take_the_whole_clock() -> None:
    lag = Lag()
    lag.longest, lag.mean = 500.0, 40.0
    found = budget(Limits(time=(3000, None), overhead=20), WHITE, lag)
    last = budget(Limits(time=(3000, None), movestogo=1, overhead=20), WHITE, lag)
    assert found is not None
    assert last is not None
    assert found.hard > 10
    assert last.hard > 1500


def test_time_is_kept_back_for_what_moves_lose() -> None:
    lag = lag_of(*((2000 - 20 * n, 10) for n in range(60)))
    limits = Limits(time=(1000, 1000), increment=(10, 10), overhead=10)
    usual, slower = budget(limits, 0), budget(limits, 0, lag)
    assert usual is not None
    assert slower is not None
    assert 15 < (usual.hard - slower.hard) / HARD < 30
    assert slower.grace == 1000 - 40
    lag = lag_of((1000, 50), (560, 10))
    assert lag.longest == 400
    short = budget(limits._replace(time=(100, 100)), 0, lag)
    assert short is not None
    assert short.grace == 50, "half of what is left, not all"
    for left in (1, 20, 40, 100):
        short = budget(limits._replace(time=(left, left)), 0, lag)
        assert short is not None
        assert 0 < short.soft <= short.hard <= short.rescue <= max(1, left / 2)
    assert budget(limits, 0, Lag()) == usual


def test_a_search_learns_what_its_moves_lose() -> None:
    search = Search(1)

    def used() -> float:
        clock = Clock()
        for text in STARTS[:4]:
            search.think(fen.parse(text), Limits(time=(300, 300), movestogo=1))
        return clock.elapsed()

    for forget in (search.new_game, search.forget_lag):
        for left in (60_000, 59_000, 58_000, 57_000, 56_000, 55_000):
            search.think(fen.parse(fen.START), Limits(time=(left, left), nodes=1))
        slow = used()
        forget()
        assert slow < 0.8 * used()


def enough(iterations: list[tuple[int, int, float]], limits: Limits | None = None) -> float:
    """The milliseconds after which a manager wants no further iteration.

    Each iteration is its best move, the score, and the move's share of the nodes.
    """
    manager = TimeManager(limits or Limits(time=(60_000, 60_000)), 0)
    for iteration in iterations:
        manager.after_iteration(*iteration)
    return next(elapsed for elapsed in range(60_000) if manager.should_stop(elapsed))


def test_an_undisputed_move_is_played_sooner_than_a_doubtful_one() -> None:
    steady = [(7, 20, 0.9)] * 8
    changing = [(7 + i % 2, 20, 0.9) for i in range(8)]
    falling = [(7, 20 - 60 * i, 0.9) for i in range(8)]
    shared = [(7, 20, 0.3)] * 8
    for doubtful in (changing, falling, shared):
        assert enough(steady) < enough(doubtful)
    hard = budget(Limits(time=(60_000, 60_000)), 0).hard
    assert max(map(enough, (changing, falling, shared))) <= hard
    # A rising score is no reason to wait.
    assert enough([(7, 20 + 60 * i, 0.9) for i in range(8)]) <= enough(steady)


def test_a_movetime_is_used_whatever_the_search_finds() -> None:
    assert enough([(7, 20, 0.99)] * 8, Limits(movetime=300)) == 300


# Chances.


def test_chances_sum_up_rise_with_the_score_and_are_those_of_the_other_side() -> None:
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
    assert wdl.chances(5 - MATE) == (0, 0, 1000)
    assert wdl.chances(0)[1] > 400
