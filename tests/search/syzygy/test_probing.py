"""Endgame tablebases in the search: scores, the root's moves, hits, and what the options change."""

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import chess
import chess.syzygy
import pytest

from search import wdl
from search.limits import Limits
from search.score import CERTAIN_WIN, MAX_PLY, TABLEBASE_WIN, mate_distance
from search.search import Search
from search.syzygy.file import BLESSED_LOSS, CURSED_WIN, DRAW, LOSS, WIN
from search.syzygy.probing import Probing
from search.syzygy.root import rank_root
from search.syzygy.tablebase import Tablebase
from tests.client import Conversation, on_threads
from tests.networks import evaluation_of
from tests.oracle import scaled
from tests.search.syzygy.test_tablebase import FOLDER, NAMES, copied, random_position
from tests.searches import packed, think
from x88.notation import coordinate, fen

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="../shared/data/syzygy is missing"),
]

QUEEN = "8/8/8/3k4/8/8/8/1KQ5 w - - 0 1"
FIVE_MEN = "8/5k2/3r4/8/2P5/3N4/1K6/8 w - - 0 1"


@pytest.fixture(scope="module")
def theirs() -> Iterator[chess.syzygy.Tablebase]:
    with chess.syzygy.open_tablebase(str(FOLDER)) as tables:
        yield tables


def search_with(folder: Path = FOLDER, threads: int = 1, **settings: Any) -> Search:
    search = Search(1, threads=threads)
    search.use_tablebases(Tablebase([str(folder)]), **settings)
    return search


def sign(number: int) -> int:
    return (number > 0) - (number < 0)


# Scores.


def test_tablebase_wins_are_no_mates_and_better_than_every_evaluation() -> None:
    for score in range(TABLEBASE_WIN - MAX_PLY + 1, TABLEBASE_WIN + 1):
        assert mate_distance(score) is mate_distance(-score) is None
        assert score >= CERTAIN_WIN
        assert wdl.chances(score) == (1000, 0, 0)
    board = fen.parse("QQQQQQQQ/QQQQQQQ1/8/8/8/8/7k/K7 b - - 0 1")
    assert -CERTAIN_WIN < evaluation_of(board).value(board) < -2_000


def test_scores_of_results() -> None:
    probing = Probing()
    results = (WIN, CURSED_WIN, DRAW, BLESSED_LOSS, LOSS)
    win = TABLEBASE_WIN - 3
    for probing.fifty_move_rule, scores in (
        (True, [win, 1, 0, -1, -win]),
        (False, [win, win, 0, -win, -win]),
    ):
        assert [probing.score_of(result, 3) for result in results] == scores


# Inside the tree: with tables of three pieces only, the oracle's of four say whether a score is right.


@pytest.mark.parametrize("threads", [1, 2])
def test_scores_proved_below_the_root_are_right(threads: int, theirs: chess.syzygy.Tablebase) -> None:
    chance = Random(threads)
    search = search_with(limit=3, threads=threads)
    certain = hits = 0
    for _ in range(scaled(40, 12)):
        name = chance.choice(("KRvKP", "KQvKP", "KRPvK", "KPvKP", "KQvKR", "KBvKP"))
        position = unfinished(name, chance)
        search.forget()
        result, reports = think(position.fen(), Limits(nodes=scaled(20_000, 1000)), search)
        hits += reports[-1].tb_hits
        expected = theirs.probe_wdl(position)
        if abs(reports[-1].score) >= CERTAIN_WIN and not reports[-1].bound:
            certain += 1
            assert sign(reports[-1].score) == sign(expected), position.fen()
            if expected > 0:
                position.push_uci(coordinate.write(result.move))
                assert theirs.probe_wdl(position) == -expected
    assert hits > 0
    assert certain > 0


def unfinished(name: str, chance: Random) -> chess.Board:
    """A random position with a legal move."""
    while True:
        position = random_position(name, chance)
        if any(position.legal_moves):
            return position


def test_the_search_probes_only_positions_that_a_table_holds() -> None:
    for text, limit in ((QUEEN, 0), (QUEEN, 2)):
        _, reports = think(text, Limits(depth=scaled(4, 2)), search_with(limit=limit))
        assert {report.tb_hits for report in reports} == {0}
    castling = "4k3/8/8/8/8/8/8/4K2R w K - 0 1"
    assert rank_root(Probing(), fen.parse(castling)) is None
    _, reports = think(castling, Limits(depth=1), search_with())
    assert abs(reports[0].score) < CERTAIN_WIN


def test_the_probe_depth_holds_for_the_most_pieces() -> None:
    hits = []
    for depth in (1, 3, 100):
        search = search_with(limit=3, depth=depth)
        _, reports = think("8/8/8/8/2k5/1p6/8/K2R4 w - - 0 1", Limits(depth=scaled(6, 5)), search)
        hits.append(reports[-1].tb_hits)
    assert hits[0] > hits[1] > hits[2] == 0


# At the root.


@pytest.mark.parametrize("threads", [1, 3])
def test_the_move_and_the_score_are_those_of_the_tables(threads: int, theirs: chess.syzygy.Tablebase) -> None:
    chance = Random(threads)
    search = search_with(threads=threads)
    for name in NAMES[:: scaled(1, 5)]:
        position = unfinished(name, chance)
        result, reports = think(position.fen(), Limits(depth=scaled(4, 2)), search)
        expected = theirs.probe_wdl(position)
        assert reports[-1].tb_hits >= position.legal_moves.count()
        for report in reports:
            assert sign(report.score) == sign(expected), position.fen()
            assert report.score in (0, TABLEBASE_WIN, -TABLEBASE_WIN) or report.mate is not None
        position.push_uci(coordinate.write(result.move))
        assert position.is_checkmate() or theirs.probe_wdl(position) == -expected, position.fen()


def test_a_mate_stays_a_mate_and_a_mate_search_tries_all_moves() -> None:
    _, reports = think("8/8/8/8/8/1k6/7q/K7 b - - 3 60", Limits(depth=2), search_with())
    assert reports[-1].mate == 1
    _, reports = think("8/8/8/8/8/k1K5/8/1Q6 w - - 0 1", Limits(mate=1), search_with())
    assert reports[-1].mate == 1
    _, reports = think(QUEEN, Limits(mate=9, depth=scaled(8, 3)), search_with())
    assert reports[-1].score > 0


@pytest.mark.parametrize("has_distances", [True, False])
def test_several_lines_come_in_the_order_of_the_tables(
    has_distances: bool, theirs: chess.syzygy.Tablebase, tmp_path: Path
) -> None:
    chance = Random(7)
    if not has_distances:
        copied(tmp_path, *(path.name for path in FOLDER.glob("*.rtbw")))
    search = search_with(FOLDER if has_distances else tmp_path)
    for name in ("KQvKR", "KRvKP", "KPvKP", "KBNvK", "KPvK"):
        position = unfinished(name, chance)
        lines = position.legal_moves.count()
        _, reports = think(position.fen(), Limits(depth=2, lines=lines), search)
        last = reports[-lines:]
        assert [report.line for report in last] == list(range(1, lines + 1))
        scores = []
        for report in last:
            position.push_uci(coordinate.write(report.pv[0]))
            scores.append(-theirs.probe_wdl(position))
            position.pop()
        assert scores == sorted(scores, reverse=True), position.fen()
        assert [sign(report.score) for report in last] == [sign(score) for score in scores]


def test_the_search_plays_the_best_of_the_searchmoves() -> None:
    search = search_with()
    text = "8/3P4/8/3k4/8/8/8/K7 w - - 0 1"
    for allowed, best in (("d7d8b d7d8n", 0), ("d7d8b d7d8r d7d8n", TABLEBASE_WIN)):
        moves = packed(text, allowed)
        result, reports = think(text, Limits(depth=3, searchmoves=moves), search)
        assert result.move in moves
        assert reports[-1].score == best


@pytest.mark.parametrize("fifty_move_rule", [True, False])
def test_the_counter_of_the_fifty_move_rule_makes_a_win_cursed(fifty_move_rule: bool) -> None:
    search = search_with(fifty_move_rule=fifty_move_rule)
    _, reports = think(QUEEN.replace(" 0 1", " 90 1"), Limits(depth=1), search)
    assert reports[-1].score == (1 if fifty_move_rule else TABLEBASE_WIN)


def test_a_limited_strength_uses_no_tables() -> None:
    search = search_with()
    for elo in (1500, None):
        search.limit_strength(elo)
        _, reports = think(QUEEN, Limits(depth=2), search)
        assert (reports[-1].tb_hits > 0) == (elo is None)


@pytest.mark.parametrize("name", ["KQvK", "KRvK", "KPvK", "KBNvK", "KQvKR", "KRvKP", "KBPvK"])
def test_the_search_wins_won_endings(name: str, theirs: chess.syzygy.Tablebase) -> None:
    chance = Random(name)
    position = random_position(name, chance)
    while theirs.probe_wdl(position) != WIN:
        position = random_position(name, chance)
    winner = position.turn
    board = fen.parse(position.fen())
    search = search_with()
    while not position.is_checkmate():
        assert not position.is_stalemate()
        assert not position.is_repetition(3)
        assert position.halfmove_clock <= 100
        if position.turn == winner:
            result, _ = think(board, Limits(nodes=scaled(2000, 100)), search)
            text = coordinate.write(result.move)
        else:
            text = longest_defence(position, theirs)
        board.make(coordinate.parse(board, text))
        position.push_uci(text)


def longest_defence(position: chess.Board, theirs: chess.syzygy.Tablebase) -> str:
    """A move that makes a draw by repetition; else the one after which the other side's DTZ is largest;
    captures that change the ending come last.
    """
    found = []
    for move in list(position.legal_moves):
        zeroes = position.is_zeroing(move)
        position.push(move)
        found.append((position.is_repetition(3), not zeroes, theirs.probe_dtz(position), move.uci()))
        position.pop()
    return max(found)[3]


# The conversation.


def answers(moff: Conversation) -> list[str]:
    """All lines until the engine is ready, without the notice of the uncompiled build."""
    return [line for line in moff.ready() if "runs uncompiled" not in line]


def tb_hits(line: str) -> int:
    return int(re.search(r" tbhits (\d+) ", line)[1])


@on_threads
def test_the_engine_reports_hits_and_scores(moff: Conversation) -> None:
    moff.send(f"setoption name SyzygyPath value {FOLDER}")
    assert answers(moff) == ["info string 35 WDL tables and 35 DTZ tables"]
    moff.send("setoption name UCI_ShowWDL value true", f"position fen {QUEEN}", "go depth 2")
    *_, last, _ = moff.until("bestmove")
    assert tb_hits(last) > 0
    assert " score cp 20000 wdl 1000 0 0 " in last
    moff.send("setoption name SyzygyPath value <empty>", "go depth 2")
    *_, last, _ = moff.until("bestmove")
    assert tb_hits(last) == 0


@on_threads
def test_threads_map_and_probe_the_tables_while_they_search(moff: Conversation) -> None:
    for _ in range(scaled(3, 1)):
        # Another path maps every file anew.
        moff.send("setoption name SyzygyPath value <empty>", f"setoption name SyzygyPath value {FOLDER}")
        moff.send("ucinewgame", f"position fen {FIVE_MEN}", f"go depth {scaled(12, 4)}")
        *_, last, best = moff.until("bestmove")
        assert tb_hits(last) > scaled(100, 0)
        assert chess.Move.from_uci(best.split()[1]) in chess.Board(FIVE_MEN).legal_moves


def test_the_engine_reports_faults_of_files_once(moff: Conversation, tmp_path: Path) -> None:
    copied(tmp_path, "KQvK.rtbw", "KQvK.rtbz", "KRvK.rtbw", "KPvK.rtbw", "KQvKR.rtbw")
    (tmp_path / "KRvK.rtbw").write_bytes(b"nothing")
    moff.send(f"setoption name SyzygyPath value {tmp_path}")
    assert answers(moff) == [
        "info string 4 WDL tables and 1 DTZ table",
        "info string setoption: SyzygyPath: KBvK.rtbw is missing",
        "info string setoption: SyzygyPath: KNvK.rtbw is missing",
    ]
    complaints = []
    for _ in range(2):
        moff.send("position fen 8/8/8/3k4/8/8/8/1KR5 w - - 0 1", "go depth 3")
        complaints += [line for line in moff.until("bestmove") if "string" in line]
    assert complaints == [
        f"info string setoption: SyzygyPath: {tmp_path / 'KRvK.rtbw'}: it is not a tablebase file"
    ]
    moff.send(f"position fen {QUEEN}", "go depth 1")
    assert " cp 20000 " in moff.until("bestmove")[-2]


def test_the_engine_reports_a_missing_folder(moff: Conversation) -> None:
    moff.send("setoption name SyzygyPath value nowhere")
    assert answers(moff)[0] == "info string setoption: SyzygyPath: nowhere: No such file or directory"
    moff.send("setoption name SyzygyPath value no\0where")
    assert answers(moff)[0] == "info string setoption: SyzygyPath: no\0where: embedded null byte"
    moff.send("setoption name SyzygyProbeDepth value 0", "setoption name SyzygyProbeLimit value 8")
    assert len(answers(moff)) == 2
