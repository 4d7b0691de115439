"""`go` with its limits, options and reports, with the real process over pipes."""

import itertools
import re
import time

import chess
import chess.engine
import pytest

from moff.uci import conversation
from search.score import MAX_PLY
from tests.client import ENGINE, Conversation, on_threads, with_threads
from tests.oracle import STARTS, random_boards, scaled
from x88 import build

pytestmark = pytest.mark.slow

DEPTH = 7 if build.compiled else 3
MATE_IN_1 = "position fen 6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1"

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


def waits(moff: Conversation) -> bool:
    """Whether no bestmove comes for a while."""
    time.sleep(0.3)
    return not any(line.startswith("bestmove") for line in moff.ready())


def seconds(moff: Conversation, *lines: str, end: str = "bestmove") -> float:
    """The time from the last of these lines to the bestmove."""
    moff.send(*lines[:-1])
    moff.ready()
    began = time.perf_counter()
    moff.send(lines[-1])
    moff.until(end)
    return time.perf_counter() - began


def last(moff: Conversation, name: str, *lines: str) -> str:
    """The word after a name in the last report of the search that these lines begin."""
    moff.send(*lines)
    return value(reports(moff.until("bestmove"))[-1], name)


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
    moff.send(MATE_IN_1, "go mate 1 searchmoves a1a2 a1a3 depth 3")
    assert best(moff.until("bestmove")) in ("a1a2", "a1a3"), "not a1a8, which mates"


def test_impossible_searchmoves_are_named_and_skipped(moff: Conversation) -> None:
    moff.ready()
    moff.send("position startpos", "go searchmoves e2e5 zzzz a2a3 depth 2")
    (answer,) = [line for line in moff.until("bestmove a2a3") if line.startswith("info string")]
    assert answer.startswith("info string go: 'e2e5' is not a legal move")
    assert answer.endswith(" (and 1 more)")
    moff.send("go searchmoves depth 2")
    assert "info string go: searchmoves takes moves" in moff.until("bestmove")
    moff.send("go searchmoves e2e5 movestogo 5")
    assert waits(moff), "nothing limits it"


@on_threads
def test_multipv_finds_as_many_moves_each_with_its_own_score(moff: Conversation) -> None:
    for text in STARTS[:3]:
        wanted = min(4, chess.Board(text).legal_moves.count())
        moff.send("setoption name MultiPV value 4", "setoption name Move Overhead value 9")
        moff.send(f"position fen {text}", f"go depth {DEPTH}")
        # On a busy machine it takes more than a second, and bounds are reported too.
        lines = [line for line in reports(moff.until("bestmove")) if "bound" not in line]
        for depth in range(1, DEPTH + 1):
            these = [line for line in lines if value(line, "depth") == str(depth)]
            assert [value(line, "multipv") for line in these] == [str(n) for n in range(1, wanted + 1)]
            assert len({variation(line)[0] for line in these}) == wanted
            scores = [int(value(line, "cp")) for line in these if " cp " in line]
            assert scores == sorted(scores, reverse=True)


# Pondering.


MATED = "position fen 7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"
WAITING = [
    *("position startpos\ngo ponder wtime 60000 btime 60000\nstop", "go ponder infinite depth 1\nstop"),
    *("go depth 1 ponder\nponderhit", "go movetime 50 ponder\nponderhit", "go ponder\nponderhit"),
    *("go ponder wtime 2000 btime 2000\nponderhit", "go infinite nodes 5\nstop"),
    *(
        "go infinite movetime 20\nstop",
        "position fen 7k/8/5K2/8/8/8/8/Q7 w - - 0 1\ngo infinite mate 1\nstop",
    ),
    *(f"{MATED}\ngo ponder wtime 100 btime 100\nponderhit", f"{MATED}\ngo infinite depth 3\nstop"),
]
"""Searches that hold back their move until a command, however soon they are done."""


@pytest.mark.parametrize(("moff", "case"), with_threads(WAITING, WAITING[:4]), indirect=["moff"])
def test_the_move_waits_for_stop_or_ponderhit(moff: Conversation, case: str) -> None:
    *begin, release = case.split("\n")
    moff.send(*begin)
    if "infinite" in case:
        moff.send("ponderhit")
    assert waits(moff)
    moff.send(release)
    assert (best(moff.until("bestmove")) == "(none)") == (MATED in case)
    moff.send("ponderhit")
    assert moff.ready() == []


def test_the_time_pondered_counts(moff: Conversation) -> None:
    def seconds_after_the_ponderhit() -> float:
        moff.send("ucinewgame", "position startpos", "go ponder wtime 60000 btime 60000")
        time.sleep(scaled(3.2, 8.0))
        return seconds(moff, "ponderhit")

    # The share of one move, some 2 seconds and in long iterations up to 5, is over; without the pondering it
    # would begin now. On a busy machine one answer of three in time is enough.
    assert any(seconds_after_the_ponderhit() < 1.0 for _ in range(3))


def test_a_search_of_one_ply_takes_its_ponder_move_from_the_table(moff: Conversation) -> None:
    for depth in (DEPTH, 1):
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
    moff.send("position fen 7k/8/8/8/8/1b6/r7/K7 w - - 0 1")
    assert seconds(moff, "go wtime 600000 btime 600000", end="bestmove a1b1") < 2


def test_each_side_has_its_own_clock_less_the_overhead(moff: Conversation) -> None:
    for position, limits in (
        ("startpos", "wtime 50 btime 900000"),
        ("startpos moves e2e4", "wtime 900000 btime 50"),
        ("startpos", "wtime 8000 btime 8000 binc 8000"),
        ("startpos moves e2e4", "wtime 8000 btime 8000 winc 8000 binc -1000"),
        ("startpos", "wtime 3000 btime 3000 movestogo 0"),
    ):
        assert int(last(moff, "time", f"position {position}", f"go {limits}")) < 1500, limits
    assert int(last(moff, "time", "position startpos", "go movetime 600")) > 350
    assert int(last(moff, "time", "setoption name Move Overhead value 550", "go movetime 600")) < 300


def test_a_clock_of_nodes_lasts_for_a_game_or_a_time_control(moff: Conversation) -> None:
    def spent(limits: str, *before: str) -> int:
        return int(last(moff, "nodes", *before, "position startpos", f"go {limits}"))

    clock = "wtime 2000 btime 2000"
    counts = [spent(clock, "ucinewgame", "setoption name nodestime value 1")]
    counts += [spent(clock) for _ in range(30)]
    assert sum(counts) <= 2000, "whatever the GUI's clock says"
    assert counts[-1] < counts[0] / 2
    assert spent(clock, "ucinewgame") == counts[0]
    # In other units it is another clock.
    assert spent(clock, "setoption name nodestime value 9") > counts[0]
    moff.send("ucinewgame", "setoption name nodestime value 1")
    counts = [spent(f"wtime 1500 btime 1500 movestogo {n}") for n in (3, 2, 1, 3, 2, 1, 3)]
    assert sum(counts[:3]) <= 1500 < sum(counts[:6]) <= 3000
    assert min(counts) > 100


@pytest.mark.skipif(not build.compiled, reason="uncompiled, a look at every move takes longer")
def test_a_search_without_time_still_looks_at_every_move(moff: Conversation) -> None:
    for clock in ("wtime 1 btime 1", "wtime 20 btime 20 winc 1000", "movetime 1", "wtime -5"):
        for text, move in ((MATE_IN_1, "a1a8"), ("position fen 7k/8/8/3q4/8/8/3R4/K7 w - - 0 1", "d2d5")):
            moff.send(text, f"go {clock}")
            assert best(moff.until("bestmove")) == move, clock


@on_threads
def test_a_search_stopped_at_once_looks_at_every_move(moff: Conversation) -> None:
    for _ in range(scaled(10, 3)):
        moff.send("ucinewgame", MATE_IN_1, "go infinite", "stop")
        lines = moff.until("bestmove")
        assert best(lines) == "a1a8"
        assert reports(lines), "a score comes before every bestmove"


@on_threads
def test_the_hard_limit_ends_an_iteration(moff: Conversation) -> None:
    # With so many lines an iteration takes many times what the last one took. On a busy machine one answer of
    # three in time is enough.
    moff.send("setoption name MultiPV value 256", f"position fen {STARTS[1]}")
    assert any(seconds(moff, "ucinewgame", "go movetime 400") < 1.0 for _ in range(3))


# Reports.


def test_root_moves_and_counts_are_reported_after_a_second_and_not_before(moff: Conversation) -> None:
    moff.ready()
    moff.send("position startpos", "go movetime 2500")
    lines = moff.until("bestmove")
    root_moves = [line for line in lines if "currmove" in line]
    legal = {move.uci() for move in chess.Board().legal_moves}
    for line in root_moves:
        assert re.fullmatch(r"info depth \d+ currmove [a-h][1-8][a-h][1-8] currmovenumber \d+", line), line
        assert value(line, "currmove") in legal
    numbers = [int(value(line, "currmovenumber")) for line in root_moves]
    assert set(numbers) <= set(range(1, 21))
    assert all(number in {1, before + 1} for before, number in itertools.pairwise(numbers)), numbers
    after = [line for line in reports(lines) if lines.index(line) > lines.index(root_moves[0])]
    assert all(int(value(line, "time")) >= 990 for line in after)
    counts = [line for line in lines if "nps" in line and " score " not in line]
    assert counts
    assert any(int(value(line, "seldepth")) > int(value(line, "depth")) for line in reports(lines))
    for line in counts:
        assert re.fullmatch(
            r"info depth \d+ seldepth \d+ nodes \d+ nps \d+ hashfull \d+ tbhits 0 time \d+", line
        )
        assert 4 < int(value(line, "depth")) < int(value(line, "seldepth"))
    for line in [line for line in lines if int(value(line, "time") if " time " in line else 0) > 500]:
        nodes, speed, spent = (int(value(line, name)) for name in ("nodes", "nps", "time"))
        assert abs(speed * spent / 1000 - nodes) < nodes / 100 + 1000
    moff.send("go movetime 600")
    assert not any("currmove" in line for line in moff.until("bestmove"))


@pytest.mark.parametrize(("lines", "moves"), [(1, " searchmoves f6h7 f6g4 e5f7 e5d7 a1d1"), (3, "")])
def test_bounds_have_variations(lines: int, moves: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("search.job.REPORT_DELAY", 0)
    text = "2rr3k/pp3pp1/1nnqbN1p/3pN3/2pP4/2P3Q1/PPB4P/R4RK1 w - - 0 1"
    said: list[str] = []
    go = f"go nodes {scaled(300_000, 12_000)}{moves}"
    setup = [f"setoption name MultiPV value {lines}", f"position fen {text}"]
    conversation.Engine(said.append).carry_out([*setup, go])
    for line in reports(said):
        board = chess.Board(text)
        assert variation(line)
        assert variation(line)[0] in moves or not moves
        for move in variation(line):
            assert chess.Move.from_uci(move) in board.legal_moves
            board.push_uci(move)
    for bound in ("upper", "lower"):
        assert any(f"{bound}bound" in line for line in said), "the search has failed high and low"
    assert 1 in {int(value(line, "currmovenumber")) for line in said if "currmove" in line}


@pytest.mark.parametrize("lines", [1, 3])
def test_repeated_lines_come_at_most_twenty_times_a_second(lines: int, moff: Conversation) -> None:
    for text in ("7k/8/5KQ1/8/8/8/8/8 w - - 0 1", "8/8/8/8/8/k7/8/K7 w - - 0 1"):
        moff.send(f"setoption name MultiPV value {lines}", f"position fen {text}", "go depth 60")
        found = reports(moff.until("bestmove"))
        count = min(lines, chess.Board(text).legal_moves.count())
        rounds = [found[i : i + count] for i in range(0, len(found), count)]
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
        moff.send("stop")
        moff.until("bestmove")


def test_uci_showwdl_adds_the_chances(moff: Conversation) -> None:
    moff.send("setoption name UCI_ShowWDL value True", "position startpos", f"go depth {DEPTH}")
    for line in reports(moff.until("bestmove")):
        win, draw, loss = (int(word) for word in line.split(" wdl ")[1].split()[:3])
        assert win + draw + loss == 1000
        assert min(win, draw, loss) >= 0
    moff.send("position fen 7k/5Q2/8/6K1/8/8/8/R7 w - - 0 1", "go depth 3")
    assert " wdl 1000 0 0 " in reports(moff.until("bestmove"))[-1]


def checked(moff: Conversation, board: chess.Board, go: str) -> list[str]:
    """The reports of a search whose variations are legal to their end, and end with the game by any rule."""
    moff.send(go)
    *lines, last = moff.until("bestmove")
    for line in reports(lines):
        now = board.copy()
        for text in variation(line):
            is_over = now.is_game_over() or now.is_fifty_moves() or now.is_repetition(3)
            assert not is_over, (board.fen(), line)
            now.push_uci(text)
        if " mate " in line and "bound" not in line:
            moves = int(value(line, "mate"))
            assert now.is_checkmate(), line
            assert abs(moves) * 2 - (moves > 0) == len(variation(line))
    final = [line for line in reports(lines) if value(line, "multipv") == "1"][-1]
    assert variation(final)[0] == last.split()[1]
    return reports(lines)


@pytest.mark.parametrize(("moff", "text"), with_threads(OPEN, [*OPEN[:2], *OPEN[1:4]]), indirect=["moff"])
def test_variations_are_legal_and_end_with_the_game(moff: Conversation, text: str) -> None:
    moff.send("setoption name MultiPV value 2", f"position fen {text}")
    checked(moff, chess.Board(text), f"go depth {DEPTH}")


def test_multipv_gives_exact_scores_and_a_mate_once(moff: Conversation) -> None:
    # Mates in one, in two by a check, and a lost game: only exact scores tell them apart.
    board = chess.Board("7k/5Q2/8/6K1/8/8/8/R7 w - - 0 1")
    moff.send("setoption name MultiPV value 30", f"position fen {board.fen()}")
    for line in checked(moff, board, "go depth 4")[-30:]:
        first = board.copy()
        first.push_uci(variation(line)[0])
        assert first.is_checkmate() == (" mate 1 " in line)
        assert not first.is_stalemate() or " cp 0 " in line
    text = "r1bq2r1/b4pk1/p1pp1p2/1p2pP2/1P2P1PB/3P4/1PPQ2P1/R3K2R w KQ - 0 1"
    moff.send("setoption name MultiPV value 50", f"position fen {text}", "go mate 2")
    lines = reports(moff.until("bestmove d2h6"))
    listed = lines[max(n for n, line in enumerate(lines) if value(line, "multipv") == "1") :]
    assert " score mate 2 " in listed[0]
    assert len({variation(line)[0] for line in listed}) == len(listed) > 30


def test_variations_end_with_a_draw(moff: Conversation) -> None:
    longest = 0
    for number, board in enumerate(random_boards(scaled(150, 25), 5, 10, 80)):
        if not board.is_game_over():
            board.halfmove_clock = 94 + number % 6
            board.clear_stack()
            moff.send("ucinewgame", f"position fen {board.fen()}")
            lines = checked(moff, board, f"go depth {1 + number % (DEPTH - 1)}")
            longest = max(longest, *(len(variation(line)) for line in lines))
    assert longest > 2
    start = "q2n2nr/1ppkp1bp/3B1pp1/7P/1K1P4/rp2PP2/P1P3P1/R2Q1BNR b - - 10 21"
    moves = "d8c6 b4b5 c6d8 b5b4 d8c6 b4b5 c6d8"
    board = chess.Board(start)
    for text in moves.split():
        board.push_uci(text)
    for depth in range(1, DEPTH):
        moff.send(f"position fen {start} moves {moves}")
        for line in checked(moff, board, f"go depth {depth} searchmoves b5b4"):
            assert " cp 0 " in line


@pytest.mark.parametrize("seed", range(2))
def test_moff_plays_and_ponders_to_a_result(seed: int) -> None:
    (board,) = random_boards(1, seed, 6 * seed, 6 * seed)
    with chess.engine.SimpleEngine.popen_uci(ENGINE, timeout=60) as client:
        while not board.is_game_over(claim_draw=True):
            # Every fourth move against a clock, the others by nodes.
            limit = chess.engine.Limit(nodes=scaled(2000, 60))
            if board.fullmove_number % 4 == 0:
                limit = chess.engine.Limit(white_clock=0.4, black_clock=0.4, white_inc=0.01, black_inc=0.01)
            played = client.play(board, limit, ponder=True, info=chess.engine.INFO_ALL, game=seed)
            # After a ponderhit it may have none.
            assert played.info.get("pv", [played.move])[0] == played.move
            assert played.info.get("nodes", 0) <= (limit.nodes or 10**9)
            board.push(played.move)
            # Every other reply is the one expected, the others its own next move.
            if played.ponder and board.ply() % 4 == 1:
                board.push(played.ponder)
        client.quit()
        assert client.returncode.result(60) == 0
    assert board.result(claim_draw=True) in ("1-0", "0-1", "1/2-1/2")
