"""What can be asked of a search in the UCI conversation, with the real process over pipes."""

import re
import time

import chess
import chess.engine
import pytest

from tests.client import ENGINE, Conversation
from tests.oracle import STARTS
from x88 import build

DEPTH = 7 if build.compiled else 3


def reports(lines: list[str]) -> list[str]:
    return [line for line in lines if " score " in line]


def value(line: str, name: str) -> str:
    """The word after a name in an info line."""
    words = line.split()
    return words[words.index(name) + 1]


def variation(line: str) -> list[str]:
    return line.split(" pv ")[1].split() if " pv " in line else []


def best(lines: list[str]) -> str:
    return lines[-1].split()[1]


def waits(moff: Conversation, seconds: float = 0.3) -> bool:
    """Whether no bestmove comes for a while."""
    time.sleep(seconds)
    return not any(line.startswith("bestmove") for line in moff.ready())


# searchmoves and MultiPV.


def test_searchmoves_restrict_the_search(moff: Conversation) -> None:
    for order in (f"searchmoves a2a3 h2h4 depth {DEPTH}", f"depth {DEPTH} searchmoves h2h4 a2a3"):
        moff.send("position startpos", f"go {order}")
        lines = moff.until("bestmove")
        assert best(lines) in ("a2a3", "h2h4")
        assert {variation(line)[0] for line in reports(lines)} <= {"a2a3", "h2h4"}
    moff.send(f"go depth {DEPTH}")
    assert best(moff.until("bestmove")) not in ("a2a3", "h2h4")


def test_a_mate_is_looked_for_among_the_searchmoves_alone(moff: Conversation) -> None:
    moff.send("position fen 6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", "go mate 1 searchmoves a1a2 a1a3 depth 3")
    lines = moff.until("bestmove")
    assert best(lines) in ("a1a2", "a1a3")
    assert not any(variation(line)[0] == "a1a8" for line in reports(lines))


def test_searchmoves_that_are_none_are_told_and_passed_over(moff: Conversation) -> None:
    moff.ready()
    moff.send("position startpos", "go searchmoves e2e5 zzzz a2a3 depth 2")
    lines = moff.until("bestmove a2a3")
    told = [line for line in lines if line.startswith("info string")]
    assert len(told) == 2
    assert "'e2e5'" in told[0]
    assert "'zzzz'" in told[1]
    moff.send("go searchmoves e2e5 depth 2")
    assert best(moff.until("bestmove")) in {move.uci() for move in chess.Board().legal_moves}


@pytest.mark.parametrize("text", STARTS[:3])
def test_multipv_finds_as_many_moves_each_with_its_own_score(moff: Conversation, text: str) -> None:
    board = chess.Board(text)
    wanted = min(4, board.legal_moves.count())
    moff.send("setoption name MultiPV value 4", f"position fen {text}", f"go depth {DEPTH}")
    lines = reports(moff.until("bestmove"))
    for depth in range(1, DEPTH + 1):
        these = [line for line in lines if value(line, "depth") == str(depth)]
        assert [value(line, "multipv") for line in these] == [str(n) for n in range(1, wanted + 1)]
        heads = [variation(line)[0] for line in these]
        assert len(set(heads)) == wanted
        scores = [int(value(line, "cp")) for line in these if " cp " in line]
        assert scores == sorted(scores, reverse=True)


def test_multipv_beyond_the_legal_moves_shows_all_of_them(moff: Conversation) -> None:
    moff.send("setoption name MultiPV value 256", "position startpos", "go depth 2")
    lines = [line for line in reports(moff.until("bestmove")) if value(line, "depth") == "2"]
    assert {variation(line)[0] for line in lines} == {move.uci() for move in chess.Board().legal_moves}


def test_a_line_of_multipv_is_what_the_move_alone_is_worth(moff: Conversation) -> None:
    # Mates in one, in two by a check, and a lost game: only exact scores tell them apart.
    moff.send("setoption name MultiPV value 30", "position fen 7k/5Q2/8/6K1/8/8/8/R7 w - - 0 1", "go depth 4")
    lines = [line for line in reports(moff.until("bestmove")) if value(line, "depth") == "4"]
    board = chess.Board("7k/5Q2/8/6K1/8/8/8/R7 w - - 0 1")
    for line in lines:
        board.push_uci(variation(line)[0])
        if board.is_checkmate():
            assert "score mate 1 " in line
        elif board.is_stalemate():
            assert "score cp 0 " in line
        else:
            assert "score mate 1 " not in line
        board.pop()


# Pondering.


def test_pondering_waits_for_the_ponderhit_and_then_takes_its_time(moff: Conversation) -> None:
    moff.send("position startpos moves e2e4 e7e5", "go ponder wtime 2000 btime 2000")
    assert waits(moff)
    began = time.perf_counter()
    moff.send("ponderhit")
    line = moff.until("bestmove")[-1]
    assert time.perf_counter() - began < 5
    board = chess.Board()
    for text in ("e2e4", "e7e5", *line.split()[1::2]):
        board.push_uci(text)


def test_stop_ends_pondering(moff: Conversation) -> None:
    moff.send("position startpos", "go ponder wtime 60000 btime 60000")
    assert waits(moff)
    moff.send("stop")
    moff.until("bestmove")
    moff.send("ponderhit")
    assert moff.ready() == []


@pytest.mark.parametrize("limit", ["depth 1", "nodes 5", "movetime 50", "wtime 100 btime 100", ""])
def test_a_search_that_is_done_still_waits_for_the_ponderhit(moff: Conversation, limit: str) -> None:
    moff.send("position startpos", f"go {limit} ponder")
    assert waits(moff)
    moff.send("ponderhit")
    moff.until("bestmove")


def test_pondering_where_the_game_is_over_waits_too(moff: Conversation) -> None:
    moff.send("position fen 7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", "go ponder wtime 100 btime 100")
    assert waits(moff)
    moff.send("ponderhit")
    assert moff.until("bestmove")[-1] == "bestmove (none)"


def test_what_was_pondered_counts_as_thought(moff: Conversation) -> None:
    moff.ready()
    moff.send("position startpos", "go ponder wtime 3000 btime 3000")
    time.sleep(1)
    began = time.perf_counter()
    moff.send("ponderhit")
    moff.until("bestmove")
    # The share of one move is long over.
    assert time.perf_counter() - began < 0.5


# The clock.


@pytest.mark.parametrize(
    "clock", ["winc 200 binc 200", "winc 200", "binc 200", "movetime -5", "wtime 300 movestogo 0", "wtime 0"]
)
def test_odd_clocks_get_a_move_in_time(moff: Conversation, clock: str) -> None:
    moff.ready()
    began = time.perf_counter()
    moff.send("position startpos", f"go {clock}")
    moff.until("bestmove")
    assert time.perf_counter() - began < 3


def test_a_forced_move_is_played_at_once(moff: Conversation) -> None:
    board = chess.Board("7k/8/8/8/8/1b6/r7/K7 w - - 0 1")
    assert board.legal_moves.count() == 1
    moff.ready()
    began = time.perf_counter()
    moff.send(f"position fen {board.fen()}", "go wtime 600000 btime 600000")
    lines = moff.until("bestmove")
    assert time.perf_counter() - began < 2
    assert best(lines) == "a1b1" or chess.Move.from_uci(best(lines)) in board.legal_moves


def test_nodestime_counts_the_clock_in_nodes(moff: Conversation) -> None:
    counts = []
    for _ in range(2):
        moff.send("ucinewgame", "setoption name nodestime value 2")
        for moves in ("", " moves e2e4 e7e5"):
            moff.send(f"position startpos{moves}", "go wtime 5000 btime 5000")
            counts.append(value(reports(moff.until("bestmove"))[-1], "nodes"))
    assert counts[:2] == counts[2:]
    assert all(0 < int(count) < 5000 for count in counts)


# What is told meanwhile.


def test_root_moves_are_told_after_a_second_and_not_before(moff: Conversation) -> None:
    moff.ready()
    moff.send("position startpos", "go movetime 2500")
    lines = moff.until("bestmove")
    told = [line for line in lines if "currmove" in line]
    assert told
    for line in told:
        assert re.fullmatch(r"info depth \d+ currmove [a-h][1-8][a-h][1-8] currmovenumber \d+", line), line
    after = [line for line in reports(lines) if lines.index(line) > lines.index(told[0])]
    assert all(int(value(line, "time")) >= 990 for line in after)
    moff.send("go movetime 600")
    assert not any("currmove" in line for line in moff.until("bestmove"))


def test_a_score_is_told_before_every_bestmove_even_of_a_search_stopped_at_once(moff: Conversation) -> None:
    for _ in range(20):
        moff.send("position startpos", "go infinite", "stop")
        assert reports(moff.until("bestmove"))


def test_chances_are_shown_when_asked_for(moff: Conversation) -> None:
    moff.send("setoption name UCI_ShowWDL value true", "position startpos", f"go depth {DEPTH}")
    for line in reports(moff.until("bestmove")):
        win, draw, loss = (int(word) for word in line.split(" wdl ")[1].split()[:3])
        assert win + draw + loss == 1000
        assert min(win, draw, loss) >= 0
    moff.send("position fen 7k/5Q2/8/6K1/8/8/8/R7 w - - 0 1", "go depth 3")
    assert " wdl 1000 0 0 " in reports(moff.until("bestmove"))[-1]


@pytest.mark.parametrize("text", [text for text in STARTS if any(chess.Board(text).legal_moves)])
def test_variations_are_legal_and_end_with_the_game(moff: Conversation, text: str) -> None:
    moff.send("setoption name MultiPV value 2", f"position fen {text}", f"go depth {DEPTH}")
    *lines, last = moff.until("bestmove")
    for line in reports(lines):
        board = chess.Board(text)
        for move in variation(line):
            assert not board.is_game_over(), line
            board.push_uci(move)
        if " mate " in line and "bound" not in line:
            assert board.is_checkmate(), line
            assert (abs(int(value(line, "mate"))) * 2) - (int(value(line, "mate")) > 0) == len(
                variation(line)
            )
    final = [line for line in reports(lines) if value(line, "multipv") == "1"][-1]
    assert variation(final)[0] == last.split()[1]


# Through python-chess's client.


def test_python_chess_analyses_with_several_lines_and_plays_with_pondering() -> None:
    with chess.engine.SimpleEngine.popen_uci(ENGINE, timeout=60) as engine:
        engine.configure({"Hash": 2, "Move Overhead": 10})
        board = chess.Board()
        found = engine.analyse(board, chess.engine.Limit(depth=DEPTH), multipv=3)
        assert [info["multipv"] for info in found] == [1, 2, 3]
        only = [chess.Move.from_uci("a2a3")]
        assert engine.play(board, chess.engine.Limit(depth=2), root_moves=only).move == only[0]
        for _ in range(6):
            limit = chess.engine.Limit(white_clock=2, black_clock=2, white_inc=0.02, black_inc=0.02)
            board.push(engine.play(board, limit, ponder=True).move)
