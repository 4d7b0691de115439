"""Endgame tablebases in the search: scores, the root's moves, hits, and what the options change."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random

import chess
import chess.syzygy
import pytest

from search import wdl
from search.limits import Limits
from search.score import CERTAIN_WIN, MATE, MAX_PLY, TABLEBASE_WIN, mate_distance
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
from x88.movegen import legal_moves
from x88.notation import coordinate, fen

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="../shared/data/syzygy is missing"),
]

QUEEN = "8/8/8/3k4/8/8/8/1KQ5 w - - 0 1"
FIVE_MEN = "8/5k2/3r4/8/2P5/3N4/1K6/8 w - - 0 1"
WON_PAWN = "8/8/8/8/8/2k5/8/K5PR w - - 0 1"


@pytest.fixture(scope="module")
def theirs() -> Iterator[chess.syzygy.Tablebase]:
    with chess.syzygy.open_tablebase(str(FOLDER)) as tables:
        yield tables


def search_with(
    folder: Path = FOLDER, limit: int = 7, fifty_move_rule: bool = True, threads: int = 1
) -> Search:
    search = Search(1, threads=threads)
    search.use_tablebases(Tablebase([str(folder)]), limit=limit, fifty_move_rule=fifty_move_rule)
    return search


def sign(number: int) -> int:
    return (number > 0) - (number < 0)


# Scores.


def test_tablebase_wins_are_no_mates_and_better_than_every_evaluation() -> None:
    for ply in range(MAX_PLY):
        for score in (TABLEBASE_WIN - ply, ply - TABLEBASE_WIN):
            assert mate_distance(score) is None
            assert abs(score) >= CERTAIN_WIN
            assert wdl.chances(score) == ((1000, 0, 0) if score > 0 else (0, 0, 1000))
    board = fen.parse("QQQQQQQQ/QQQQQQQ1/8/8/8/8/7k/K7 b - - 0 1")
    assert -CERTAIN_WIN < evaluation_of(board).value(board) < -2_000


@pytest.mark.parametrize(
    ("result", "fifty_move_rule", "score"),
    [
        (WIN, True, TABLEBASE_WIN - 3),
        (CURSED_WIN, True, 1),
        (DRAW, True, 0),
        (BLESSED_LOSS, True, -1),
        (LOSS, True, 3 - TABLEBASE_WIN),
        (CURSED_WIN, False, TABLEBASE_WIN - 3),
        (DRAW, False, 0),
        (BLESSED_LOSS, False, 3 - TABLEBASE_WIN),
        (LOSS, False, 3 - TABLEBASE_WIN),
    ],
)
def test_scores_of_results(result: int, fifty_move_rule: bool, score: int) -> None:
    probing = Probing()
    probing.fifty_move_rule = fifty_move_rule
    assert probing.score_of(result, 3) == score


# Inside the tree: with tables of three pieces only, the oracle's of four say whether a score is right.


@pytest.mark.parametrize("threads", [1, 2])
def test_what_tables_below_the_root_prove_is_so(threads: int, theirs: chess.syzygy.Tablebase) -> None:
    chance = Random(threads)
    search = search_with(limit=3, threads=threads)
    certain = hits = 0
    for _ in range(scaled(60, 12)):
        position = random_position(
            chance.choice(("KRvKP", "KQvKP", "KRPvK", "KPvKP", "KQvKR", "KBvKP")), chance
        )
        if not any(position.legal_moves):
            continue
        search.forget()
        result, reports = think(position.fen(), Limits(nodes=scaled(20_000, 1000)), search)
        hits += reports[-1].tb_hits
        told = theirs.probe_wdl(position)
        if abs(reports[-1].score) >= CERTAIN_WIN and not reports[-1].bound:
            certain += 1
            assert sign(reports[-1].score) == sign(told), position.fen()
            if told > 0:
                position.push_uci(coordinate.write(result.move))
                assert theirs.probe_wdl(position) == -told
    assert hits > 0
    assert certain > 0


def test_no_position_is_asked_about_that_no_table_holds() -> None:
    for text, limit in ((QUEEN, 0), (QUEEN, 2), ("8/8/8/3k4/8/8/8/1KQ1Q3 w - - 0 1", 3)):
        _, reports = think(text, Limits(depth=scaled(4, 2)), search_with(limit=limit))
        assert {report.tb_hits for report in reports} == {0} or limit == 3
    castling = "4k3/8/8/8/8/8/8/4K2R w K - 0 1"
    assert rank_root(Probing(), fen.parse(castling)) is None
    _, reports = think(castling, Limits(depth=1), search_with())
    assert abs(reports[0].score) < CERTAIN_WIN


def test_the_most_pieces_are_asked_about_from_a_depth_on() -> None:
    hits = []
    for depth in (1, 3, 100):
        search = search_with(limit=3)
        search.use_tablebases(depth=depth)
        _, reports = think("8/8/8/8/2k5/1p6/8/K2R4 w - - 0 1", Limits(depth=scaled(6, 5)), search)
        hits.append(reports[-1].tb_hits)
    assert hits[0] > hits[1] > hits[2] == 0


# At the root.


@pytest.mark.parametrize("threads", [1, 3])
def test_the_move_and_the_score_are_those_of_the_tables(threads: int, theirs: chess.syzygy.Tablebase) -> None:
    chance = Random(threads)
    search = search_with(threads=threads)
    for name in NAMES[:: scaled(1, 5)]:
        position = random_position(name, chance)
        if not any(position.legal_moves):
            continue
        result, reports = think(position.fen(), Limits(depth=scaled(4, 2)), search)
        told = theirs.probe_wdl(position)
        assert reports[-1].tb_hits >= position.legal_moves.count()
        for report in reports:
            assert sign(report.score) == sign(told), position.fen()
            assert report.score in (0, TABLEBASE_WIN, -TABLEBASE_WIN) or report.mate is not None
        position.push_uci(coordinate.write(result.move))
        assert position.is_checkmate() or theirs.probe_wdl(position) == -told, position.fen()


def test_a_mate_is_told_as_a_mate() -> None:
    _, reports = think("8/8/8/8/8/1k6/7q/K7 b - - 3 60", Limits(depth=2), search_with())
    assert reports[-1].mate == 1
    _, reports = think(QUEEN, Limits(mate=9, depth=scaled(8, 3)), search_with())
    assert reports[-1].score > 0


@pytest.mark.parametrize("has_distances", [True, False])
def test_several_lines_come_in_the_order_of_the_tables(
    has_distances: bool, theirs: chess.syzygy.Tablebase, tmp_path: Path
) -> None:
    chance = Random(7)
    for path in FOLDER.glob("*.rtbw"):
        shutil.copy(path, tmp_path)
    search = search_with(FOLDER if has_distances else tmp_path)
    for name in ("KQvKR", "KRvKP", "KPvKP", "KBNvK", "KPvK"):
        position = random_position(name, chance)
        board = fen.parse(position.fen())
        lines = len(legal_moves(board))
        if not lines:
            continue
        _, reports = think(board, Limits(depth=2, lines=lines), search)
        last = reports[-lines:]
        assert [report.line for report in last] == list(range(1, lines + 1))
        scores = []
        for report in last:
            position.push_uci(coordinate.write(report.pv[0]))
            scores.append(-theirs.probe_wdl(position))
            position.pop()
        assert scores == sorted(scores, reverse=True), position.fen()
        assert [sign(report.score) for report in last] == [sign(score) for score in scores]


def test_of_the_moves_to_be_searched_the_best_is_played() -> None:
    search = search_with()
    board = fen.parse("8/3P4/8/3k4/8/8/8/K7 w - - 0 1")
    for allowed, best in (("d7d8b d7d8n", 0), ("d7d8b d7d8r d7d8n", TABLEBASE_WIN)):
        moves = packed(fen.write(board), allowed)
        result, reports = think(board, Limits(depth=3, searchmoves=moves), search)
        assert result.move in moves
        assert reports[-1].score == best


@pytest.mark.parametrize("fifty_move_rule", [True, False])
def test_the_counter_of_the_fifty_move_rule_makes_a_win_cursed(fifty_move_rule: bool) -> None:
    search = search_with(fifty_move_rule=fifty_move_rule)
    _, reports = think(QUEEN.replace(" 0 1", " 90 1"), Limits(depth=1), search)
    assert reports[-1].score == (1 if fifty_move_rule else TABLEBASE_WIN)


def test_a_search_for_a_mate_looks_at_all_moves() -> None:
    _, reports = think("8/8/8/8/8/k1K5/8/1Q6 w - - 0 1", Limits(mate=1), search_with())
    assert reports[-1].score == MATE - 1


def test_a_limited_strength_asks_no_tables() -> None:
    search = search_with()
    search.limit_strength(1500)
    _, reports = think(QUEEN, Limits(depth=2), search)
    assert reports[-1].tb_hits == 0
    search.limit_strength(None)
    _, reports = think(QUEEN, Limits(depth=2), search)
    assert reports[-1].tb_hits > 0


@pytest.mark.parametrize("name", ["KQvK", "KRvK", "KPvK", "KBNvK", "KQvKR", "KRvKP", "KBPvK"])
def test_the_search_wins_what_is_won(name: str, theirs: chess.syzygy.Tablebase) -> None:
    chance = Random(name)
    for _ in range(2):
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


def told(moff: Conversation) -> list[str]:
    """What is told until the engine is ready, without the notice of the uncompiled build."""
    return [line for line in moff.ready() if "runs uncompiled" not in line]


@on_threads
def test_the_engine_tells_hits_and_scores(moff: Conversation) -> None:
    moff.send(f"setoption name SyzygyPath value {FOLDER}")
    assert told(moff) == ["info string 35 WDL tables and 35 DTZ tables"]
    moff.send("setoption name UCI_ShowWDL value true", f"position fen {QUEEN}", "go depth 2")
    *_, last, _ = moff.until("bestmove")
    words = last.split()
    assert int(words[words.index("tbhits") + 1]) > 0
    assert " score cp 20000 wdl 1000 0 0 " in last
    moff.send("setoption name SyzygyPath value <empty>", "go depth 2")
    *_, last, _ = moff.until("bestmove")
    assert " tbhits 0 " in last


@on_threads
def test_threads_map_and_probe_the_tables_while_they_search(moff: Conversation) -> None:
    for _ in range(scaled(5, 1)):
        # Another path maps every file anew.
        moff.send("setoption name SyzygyPath value <empty>", f"setoption name SyzygyPath value {FOLDER}")
        moff.send("ucinewgame", f"position fen {FIVE_MEN}", f"go depth {scaled(12, 4)}")
        *_, last, best = moff.until("bestmove")
        words = last.split()
        assert int(words[words.index("tbhits") + 1]) > scaled(100, 0)
        assert chess.Move.from_uci(best.split()[1]) in chess.Board(FIVE_MEN).legal_moves


def test_what_is_wrong_with_the_files_is_told_once(moff: Conversation, tmp_path: Path) -> None:
    copied(tmp_path, "KQvK.rtbw", "KQvK.rtbz", "KRvK.rtbw", "KPvK.rtbw", "KQvKR.rtbw")
    (tmp_path / "KRvK.rtbw").write_bytes(b"nothing")
    moff.send(f"setoption name SyzygyPath value {tmp_path}")
    assert told(moff) == [
        "info string 4 WDL tables and 1 DTZ table",
        "info string KBvK.rtbw is missing",
        "info string KNvK.rtbw is missing",
    ]
    complaints = []
    for _ in range(2):
        moff.send("position fen 8/8/8/3k4/8/8/8/1KR5 w - - 0 1", "go depth 3")
        complaints += [line for line in moff.until("bestmove") if "string" in line]
    assert complaints == [f"info string {tmp_path / 'KRvK.rtbw'}: it is not a tablebase file"]
    moff.send("position fen 8/8/8/3k4/8/8/8/1KQ5 w - - 0 1", "go depth 1")
    assert " cp 20000 " in moff.until("bestmove")[-2]


def test_a_folder_that_is_not_there_is_told(moff: Conversation) -> None:
    moff.send("setoption name SyzygyPath value nowhere")
    assert told(moff)[0] == "info string nowhere: No such file or directory"
    moff.send("setoption name SyzygyPath value no\0where")
    assert told(moff)[0] == "info string no\0where: embedded null byte"
    moff.send("setoption name SyzygyProbeDepth value 0", "setoption name SyzygyProbeLimit value 8")
    assert len(told(moff)) == 2
