"""What can be asked of a search in the UCI conversation, with the real process over pipes."""

import itertools
import random
import re
import time
from collections.abc import Iterator

import chess
import chess.engine
import pytest

from moff.uci import conversation
from search.score import MAX_PLY
from tests.client import ENGINE, Conversation, on_threads, with_threads
from tests.oracle import STARTS, scaled
from x88 import build

pytestmark = pytest.mark.slow

DEPTH = 7 if build.compiled else 3

OPEN = [text for text in STARTS if any(chess.Board(text).legal_moves)]
"""Positions with a legal move."""


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


@on_threads
def test_searchmoves_restrict_the_search(moff: Conversation) -> None:
    for order in (f"searchmoves a2a3 h2h4 depth {DEPTH}", f"depth {DEPTH} searchmoves h2h4 a2a3"):
        moff.send("position startpos", f"go {order}")
        lines = moff.until("bestmove")
        assert best(lines) in ("a2a3", "h2h4")
        assert {variation(line)[0] for line in reports(lines)} <= {"a2a3", "h2h4"}
    moff.send("ucinewgame", "position startpos", f"go depth {DEPTH}")
    assert {variation(line)[0] for line in reports(moff.until("bestmove"))} - {"a2a3", "h2h4"}


@on_threads
def test_a_mate_is_looked_for_among_the_searchmoves_alone(moff: Conversation) -> None:
    moff.send("position fen 6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", "go mate 1 searchmoves a1a2 a1a3 depth 3")
    lines = moff.until("bestmove")
    assert best(lines) in ("a1a2", "a1a3")
    assert not any(variation(line)[0] == "a1a8" for line in reports(lines))


def test_searchmoves_that_are_none_are_named_and_skipped(moff: Conversation) -> None:
    moff.ready()
    moff.send("position startpos", "go searchmoves e2e5 zzzz a2a3 depth 2")
    (said,) = [line for line in moff.until("bestmove a2a3") if line.startswith("info string")]
    assert "'e2e5'" in said
    assert said.endswith("(and 1 more)")
    moff.send("go searchmoves e2e5")
    assert waits(moff), "nothing limits it"


@on_threads
@pytest.mark.parametrize("text", STARTS[:3])
def test_multipv_finds_as_many_moves_each_with_its_own_score(moff: Conversation, text: str) -> None:
    board = chess.Board(text)
    wanted = min(4, board.legal_moves.count())
    moff.send("setoption name MultiPV value 4", f"position fen {text}", f"go depth {DEPTH}")
    # On a busy machine it takes more than a second, and bounds are told too.
    lines = [line for line in reports(moff.until("bestmove")) if "bound" not in line]
    for depth in range(1, DEPTH + 1):
        these = [line for line in lines if value(line, "depth") == str(depth)]
        assert [value(line, "multipv") for line in these] == [str(n) for n in range(1, wanted + 1)]
        heads = [variation(line)[0] for line in these]
        assert len(set(heads)) == wanted
        scores = [int(value(line, "cp")) for line in these if " cp " in line]
        assert scores == sorted(scores, reverse=True)


def test_a_mate_asked_for_stands_once_among_the_lines(moff: Conversation) -> None:
    text = "r1bq2r1/b4pk1/p1pp1p2/1p2pP2/1P2P1PB/3P4/1PPQ2P1/R3K2R w KQ - 0 1"
    moff.send("setoption name MultiPV value 50", f"position fen {text}", "go mate 2")
    lines = reports(moff.until("bestmove d2h6"))
    listed = lines[max(n for n, line in enumerate(lines) if value(line, "multipv") == "1") :]
    assert " score mate 2 " in listed[0]
    assert len({variation(line)[0] for line in listed}) == len(listed) > 30


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

MATED = "fen 7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"
WAITING = [
    ("startpos", "go ponder wtime 60000 btime 60000", "stop"),
    ("startpos", "go infinite", "stop"),
    ("startpos", "go ponder infinite depth 1", "stop"),
    *(("startpos", f"go {limit} ponder", "ponderhit") for limit in ("depth 1", "movetime 50", "nodes 5", "")),
    *(
        ("startpos", f"go infinite {limit}", "stop")
        for limit in ("depth 2", "nodes 5", "movetime 20", "mate 1")
    ),
    (MATED, "go ponder wtime 100 btime 100", "ponderhit"),
    (MATED, "go infinite depth 3", "stop"),
    ("fen 7k/8/5K2/8/8/8/8/Q7 w - - 0 1", "go infinite mate 1", "stop"),
]
"""Searches whose move waits for a command, however soon they are done."""


@pytest.mark.parametrize(("moff", "case"), with_threads(WAITING, WAITING[:5]), indirect=["moff"])
def test_the_move_waits_for_stop_or_the_ponderhit(moff: Conversation, case: tuple[str, str, str]) -> None:
    position, go, release = case
    moff.send(f"position {position}", go)
    if "infinite" in go:
        moff.send("ponderhit")
    assert waits(moff)
    moff.send(release)
    assert (best(moff.until("bestmove")) == "(none)") == (position == MATED)
    moff.send("ponderhit")
    assert moff.ready() == []


@on_threads
def test_a_ponderhit_lets_the_search_take_its_time(moff: Conversation) -> None:
    moff.send("position startpos moves e2e4 e7e5", "go ponder wtime 2000 btime 2000")
    assert waits(moff)
    began = time.perf_counter()
    moff.send("ponderhit")
    line = moff.until("bestmove")[-1]
    assert time.perf_counter() - began < 5
    board = chess.Board()
    for text in ("e2e4", "e7e5", *line.split()[1::2]):
        board.push_uci(text)


def test_the_time_pondered_counts(moff: Conversation) -> None:
    def seconds_after_the_ponderhit() -> float:
        moff.send("ucinewgame", "position startpos", "go ponder wtime 60000 btime 60000")
        time.sleep(scaled(3.2, 8.0))
        began = time.perf_counter()
        moff.send("ponderhit")
        moff.until("bestmove")
        return time.perf_counter() - began

    moff.ready()
    # The share of one move, some 2 seconds and in long iterations up to 5, is over; without the pondering it
    # would begin now. On a busy machine one answer of three in time is enough.
    assert any(seconds_after_the_ponderhit() < 1.0 for _ in range(3))


def test_a_reply_is_expected_even_by_a_search_of_one_ply(moff: Conversation) -> None:
    for depth in (DEPTH, 1):
        # One ply deep, it is what the table knows.
        moff.send("position startpos", f"go depth {depth}")
        _, move, ponder, reply = moff.until("bestmove")[-1].split()
        assert ponder == "ponder"
        board = chess.Board()
        for text in (move, reply):
            assert chess.Move.from_uci(text) in board.legal_moves
            board.push_uci(text)


# The clock.


@on_threads
def test_a_forced_move_is_played_at_once(moff: Conversation) -> None:
    board = chess.Board("7k/8/8/8/8/1b6/r7/K7 w - - 0 1")
    assert board.legal_moves.count() == 1
    moff.ready()
    began = time.perf_counter()
    moff.send(f"position fen {board.fen()}", "go wtime 600000 btime 600000")
    lines = moff.until("bestmove")
    assert time.perf_counter() - began < 2
    assert best(lines) == "a1b1" or chess.Move.from_uci(best(lines)) in board.legal_moves


def spent(moff: Conversation, limits: str, *before: str) -> int:
    """The nodes of a move."""
    moff.send(*before, "position startpos", f"go {limits}")
    return int(value(reports(moff.until("bestmove"))[-1], "nodes"))


def test_a_clock_of_nodes_goes_on_from_move_to_move_and_starts_anew_with_a_game(moff: Conversation) -> None:
    clock = "wtime 2000 btime 2000"
    counts = [spent(moff, clock, "ucinewgame", "setoption name nodestime value 1")]
    counts += [spent(moff, clock) for _ in range(30)]
    assert sum(counts) <= 2000, "whatever the GUI's clock says"
    assert counts[-1] < counts[0] / 2
    assert spent(moff, clock, "ucinewgame") == counts[0]
    # In other units it is another clock.
    assert spent(moff, clock, "setoption name nodestime value 9") > counts[0]


def test_a_clock_of_nodes_is_filled_again_at_a_time_control(moff: Conversation) -> None:
    moff.send("ucinewgame", "setoption name nodestime value 1")
    counts = [spent(moff, f"wtime 1500 btime 1500 movestogo {n}") for n in (3, 2, 1, 3, 2, 1, 3)]
    assert sum(counts[:3]) <= 1500 < sum(counts[:6]) <= 3000
    assert min(counts) > 100


def test_pondering_costs_no_nodes_of_the_clock(moff: Conversation) -> None:
    clock = "wtime 2000 btime 2000"
    usual = spent(moff, clock, "ucinewgame", "setoption name nodestime value 1")
    moff.send("ucinewgame", "position startpos", f"go ponder {clock}")
    time.sleep(0.5)
    assert not any(line.startswith("bestmove") for line in moff.ready())
    moff.send("stop")
    moff.until("bestmove")
    moff.send("setoption name Clear Hash")
    assert spent(moff, clock) == usual
    # And after a ponderhit there are as many as for any move.
    moff.send("ucinewgame", "position startpos", f"go ponder {clock}")
    time.sleep(0.5)
    before = int(value(reports(moff.ready() or [" score nodes 0"])[-1], "nodes"))
    moff.send("ponderhit")
    lines = moff.until("bestmove")
    assert int(value(reports(lines)[-1], "nodes")) >= before


@pytest.mark.skipif(not build.compiled, reason="uncompiled, a look at every move takes longer")
@pytest.mark.parametrize(
    "clock", ["wtime 1 btime 1", "wtime 20 btime 20 winc 1000", "movetime 1", "wtime -5"]
)
def test_with_no_time_left_there_is_still_a_look_at_every_move(moff: Conversation, clock: str) -> None:
    for text, move in (
        ("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", "a1a8"),
        ("7k/8/8/3q4/8/8/3R4/K7 w - - 0 1", "d2d5"),
    ):
        moff.send(f"position fen {text}", f"go {clock}")
        assert best(moff.until("bestmove")) == move


@on_threads
def test_a_search_stopped_at_once_has_looked_at_every_move(moff: Conversation) -> None:
    for _ in range(scaled(10, 3)):
        moff.send("ucinewgame", "position fen 6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", "go infinite", "stop")
        lines = moff.until("bestmove")
        assert best(lines) == "a1a8"
        assert reports(lines), "a score comes before every bestmove"


@on_threads
def test_the_hard_limit_ends_an_iteration(moff: Conversation) -> None:
    def seconds() -> float:
        moff.send("ucinewgame")
        moff.ready()
        began = time.perf_counter()
        moff.send(f"position fen {STARTS[1]}", "go movetime 400")
        lines = reports(moff.until("bestmove"))
        assert {value(line, "depth") for line in lines[-10:]}, "there are lines of it"
        return time.perf_counter() - began

    # With so many lines an iteration takes many times what the last one took. On a busy machine one answer of
    # three in time is enough.
    moff.send("setoption name MultiPV value 256")
    assert any(seconds() < 1.0 for _ in range(3))


@pytest.mark.parametrize("limit", ["wtime 2000 btime 2000 movestogo 1", "movetime 1800"])
def test_the_overhead_is_kept_back(moff: Conversation, limit: str) -> None:
    moff.send("position startpos", f"go {limit}")
    assert int(value(reports(moff.until("bestmove"))[-1], "time")) > 600
    moff.send("setoption name Move Overhead value 1700", f"go {limit}")
    assert int(value(reports(moff.until("bestmove"))[-1], "time")) < 500


# What is told meanwhile.


def test_root_moves_are_reported_after_a_second_and_not_before(moff: Conversation) -> None:
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


@pytest.mark.parametrize("lines", [1, 3])
@pytest.mark.parametrize("moves", ["", " searchmoves f6h7 f6g4 e5f7 e5d7 a1d1"])
def test_every_score_has_a_variation_bounds_too(
    moves: str, lines: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("search.job.REPORT_DELAY", 0)
    text = "2rr3k/pp3pp1/1nnqbN1p/3pN3/2pP4/2P3Q1/PPB4P/R4RK1 w - - 0 1"
    said: list[str] = []
    go = f"go nodes {scaled(300_000, 12_000)}{moves}"
    conversation.Engine(said.append).carry_out(
        [f"setoption name MultiPV value {lines}", f"position fen {text}", go]
    )
    for line in reports(said):
        board = chess.Board(text)
        assert variation(line)
        assert variation(line)[0] in moves or not moves
        for move in variation(line):
            assert chess.Move.from_uci(move) in board.legal_moves
            board.push_uci(move)
    for bound in ("upper", "lower"):
        assert any(f"{bound}bound" in line for line in said), "the search has failed high and low"


@pytest.mark.parametrize("lines", [1, 3])
@pytest.mark.parametrize("text", ["7k/8/5KQ1/8/8/8/8/8 w - - 0 1", "8/8/8/8/8/k7/8/K7 w - - 0 1"])
def test_repeated_lines_come_at_most_twenty_times_a_second(text: str, lines: int) -> None:
    with Conversation() as moff:
        moff.send(f"setoption name MultiPV value {lines}", f"position fen {text}", "go depth 60")
        told = reports(moff.until("bestmove"))
        count = min(lines, chess.Board(text).legal_moves.count())
        rounds = [told[i : i + count] for i in range(0, len(told), count)]
        assert [value(line, "depth") for line in rounds[-1]] == ["60"] * count
        for before, after in itertools.pairwise(rounds[:-1]):
            changes = [
                (value(line, "cp" if " cp " in line else "mate"), variation(line))
                for line in (*before, *after)
            ]
            if changes[:count] == changes[count:]:
                assert int(value(after[0], "time")) - int(value(before[0], "time")) >= 49
        moff.send("go infinite")
        moff.until(f"info depth {MAX_PLY - 1} ")  # the last does not wait for the stop


def test_uci_showwdl_shows_the_chances(moff: Conversation) -> None:
    moff.send("setoption name UCI_ShowWDL value true", "position startpos", f"go depth {DEPTH}")
    for line in reports(moff.until("bestmove")):
        win, draw, loss = (int(word) for word in line.split(" wdl ")[1].split()[:3])
        assert win + draw + loss == 1000
        assert min(win, draw, loss) >= 0
    moff.send("position fen 7k/5Q2/8/6K1/8/8/8/R7 w - - 0 1", "go depth 3")
    assert " wdl 1000 0 0 " in reports(moff.until("bestmove"))[-1]


@pytest.mark.parametrize(("moff", "text"), with_threads(OPEN, [*OPEN[:2], *OPEN[1:4]]), indirect=["moff"])
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


def over(board: chess.Board) -> bool:
    """Whether a game on the board has ended, by any rule."""
    return board.is_game_over() or board.is_fifty_moves() or board.is_repetition(3)


def test_variations_end_with_a_draw_by_the_fifty_move_rule(moff: Conversation) -> None:
    generator = random.Random(5)
    longest = 0
    for number in range(scaled(150, 25)):
        board = chess.Board()
        for _ in range(generator.randrange(10, 80)):
            if board.is_game_over():
                break
            board.push(generator.choice(list(board.legal_moves)))
        if board.is_game_over():
            continue
        board.halfmove_clock = 94 + number % 6
        board.clear_stack()
        moff.send("ucinewgame", f"position fen {board.fen()}", f"go depth {1 + number % (DEPTH - 1)}")
        for line in reports(moff.until("bestmove")):
            now = board.copy()
            for text in variation(line):
                assert not over(now), (board.fen(), line)
                now.push_uci(text)
            longest = max(longest, len(variation(line)))
    assert longest > 2


def test_variations_end_with_a_threefold_repetition(moff: Conversation) -> None:
    start = "q2n2nr/1ppkp1bp/3B1pp1/7P/1K1P4/rp2PP2/P1P3P1/R2Q1BNR b - - 10 21"
    moves = "d8c6 b4b5 c6d8 b5b4 d8c6 b4b5 c6d8"
    for depth in range(1, DEPTH):
        moff.send(f"position fen {start} moves {moves}", f"go depth {depth} searchmoves b5b4")
        for line in reports(moff.until("bestmove")):
            board = chess.Board(start)
            for text in moves.split():
                board.push_uci(text)
            for text in variation(line):
                assert not over(board), line
                board.push_uci(text)
            assert " cp 0 " in line


def test_a_quiet_move_into_the_fifty_move_rule_is_worth_nothing(moff: Conversation) -> None:
    moff.send("position fen 7k/8/8/8/8/8/1R6/K7 w - - 99 80", "go depth 1")
    assert " score cp 0 " in reports(moff.until("bestmove"))[-1]
    # Mate comes before the rule.
    moff.send("position fen 7k/8/6K1/8/8/8/8/R7 w - - 99 80", "go depth 1")
    assert " score mate 1 " in reports(moff.until("bestmove"))[-1]


# Through python-chess's client.


@pytest.fixture(scope="module")
def client() -> Iterator[chess.engine.SimpleEngine]:
    with chess.engine.SimpleEngine.popen_uci(ENGINE, timeout=60) as engine:
        yield engine


@pytest.mark.parametrize(
    "limit",
    [
        chess.engine.Limit(depth=3),
        chess.engine.Limit(nodes=500),
        chess.engine.Limit(time=0.1),
        chess.engine.Limit(mate=1, depth=3),
        chess.engine.Limit(white_clock=0.5, black_clock=0.4),
        chess.engine.Limit(black_clock=0.5, black_inc=0.01),
        chess.engine.Limit(white_clock=0.5, black_clock=0.5, remaining_moves=1),
        chess.engine.Limit(white_clock=0.001, black_clock=0.001, white_inc=0.1, black_inc=0.1),
        chess.engine.Limit(time=0.5, depth=2, nodes=1000),
    ],
    ids=str,
)
def test_python_chess_gets_a_move_within_every_limit(
    client: chess.engine.SimpleEngine, limit: chess.engine.Limit
) -> None:
    for text in STARTS[:3]:
        board = chess.Board(text)
        played = client.play(board, limit, info=chess.engine.INFO_ALL, game=text)
        assert played.move in board.legal_moves
        assert "score" in played.info
        assert played.info["pv"][0] == played.move
        if limit.nodes:
            assert played.info["nodes"] <= limit.nodes


def test_python_chess_reads_chances_lines_and_what_is_searched(client: chess.engine.SimpleEngine) -> None:
    client.configure({"UCI_ShowWDL": True, "Hash": 2, "Move Overhead": 10})
    found = client.analyse(chess.Board(), chess.engine.Limit(depth=DEPTH), multipv=3)
    assert [info["multipv"] for info in found] == [1, 2, 3]
    for info in found:
        assert info["wdl"].pov(chess.WHITE).total() == 1000
        assert {"depth", "seldepth", "nodes", "nps", "hashfull", "tbhits", "time", "pv"} <= info.keys()
    with client.analysis(chess.Board()) as analysis:
        for info in analysis:
            if "currmove" in info:
                assert info["currmove"] in chess.Board().legal_moves
                assert info["currmovenumber"] >= 1
                break
    only = [chess.Move.from_uci("a2a3")]
    assert client.play(chess.Board(), chess.engine.Limit(depth=2), root_moves=only).move == only[0]
    client.configure({"UCI_ShowWDL": False})


def test_python_chess_limits_the_strength_to_play_and_not_to_analyse(
    client: chess.engine.SimpleEngine,
) -> None:
    client.configure({"UCI_LimitStrength": True, "UCI_Elo": 1000})
    played = client.play(chess.Board(), chess.engine.Limit(depth=12), info=chess.engine.INFO_ALL)
    assert played.info["nodes"] <= 200
    nodes = scaled(5000, 500)
    assert client.analyse(chess.Board(), chess.engine.Limit(nodes=nodes))["nodes"] > nodes - 50
    client.configure({"UCI_LimitStrength": False})


def test_python_chess_ponders_through_a_game(client: chess.engine.SimpleEngine) -> None:
    board = chess.Board()
    while board.ply() < 12:
        limit = chess.engine.Limit(white_clock=2, black_clock=2, white_inc=0.02, black_inc=0.02)
        played = client.play(board, limit, ponder=True, game="ponder")
        board.push(played.move)
        # Every other time it is not the move that was expected.
        expected = played.ponder if board.ply() % 4 == 1 else None
        board.push(expected or next(iter(board.legal_moves)))


@pytest.mark.parametrize("text", ["7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"])
def test_python_chess_reads_that_a_game_is_over(client: chess.engine.SimpleEngine, text: str) -> None:
    info = client.analyse(chess.Board(text), chess.engine.Limit(depth=3))
    mated = chess.Board(text).is_checkmate()
    assert info["score"].relative == (chess.engine.Mate(0) if mated else chess.engine.Cp(0))
