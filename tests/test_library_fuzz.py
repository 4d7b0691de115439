"""No public call of the library crashes, hangs or raises an unexpected exception.

MOFF_LIBRARY_CALLS sets how many calls are made, MOFF_LIBRARY_SEED with which arguments.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from search.limits import Limits
from search.line import Report
from search.search import Search
from tests import ROOT
from tests.library_fuzz import LEFT_OUT, documented, functions
from x88 import build
from x88.board import Board
from x88.movegen import legal_moves
from x88.notation import fen, pgn, san
from x88.notation.game import OngoingGame

CALLS = int(os.environ.get("MOFF_LIBRARY_CALLS", 4000 if build.compiled else 1000))
SEED = int(os.environ.get("MOFF_LIBRARY_SEED", "0"))
PART = 50_000
"""Calls of a process; the next one has new objects."""


@pytest.mark.slow
@pytest.mark.parametrize("begin", range(0, CALLS, PART))
def test_wrong_arguments_crash_nothing(begin: int, tmp_path: Path) -> None:
    last = tmp_path / "last call"
    command = [sys.executable, "-m", "tests.library_fuzz", min(PART, CALLS - begin), SEED + begin, last]
    ended = subprocess.run([*map(str, command)], capture_output=True, encoding="utf-8", cwd=ROOT)
    call = last.read_text(encoding="utf-8").rstrip() if last.exists() else "nothing"
    assert ended.returncode == 0, f"{ended.returncode} in {call}\n{ended.stdout}{ended.stderr[-3000:]}"


def test_the_documented_functions_are_found() -> None:
    names = {each.name for each in functions()}
    assert {"moff.library.boards", "moff.library.moves", "x88.notation.pgn", "search.search"} <= {
        *documented()
    }
    assert {
        "Board.make",
        "Board",
        "san.write",
        "OngoingGame.play",
        "Board.push_san",
        "Move.uci",
        *LEFT_OUT,
    } <= names
    assert len(names) > 250


CHECK = "R3k3/8/8/8/8/8/8/4K3 b - - 0 1"


def codes(placement: dict[int, int]) -> bytes:
    """Two kings, a white pawn, and these."""
    return bytes({0x04: 0x13, 0x74: 0x23, 0x10: 0x11, **placement}.get(sq, 0) for sq in range(128))


BOARD = codes({})


@pytest.mark.parametrize(
    ("call", "error", "reason"),
    [
        (lambda board: board.make(-1), ValueError, "-1 is not a legal move"),
        (lambda board: board.make(2**40), ValueError, "not a legal move"),
        (lambda board: board.make(None), TypeError, "NoneType"),
        (lambda board: board.unmake(), RuntimeError, "no move to unmake"),
        (lambda _: fen.parse(CHECK).make_null(), ValueError, "in check"),
        (lambda board: board.piece_at(10**9), ValueError, "1000000000 is not a square"),
        (lambda board: board.piece_at(0x08), ValueError, "8 is not a square"),
        (lambda board: board.king(10**8), ValueError, "100000000 is not a side"),
        (lambda board: Board().king(0), ValueError, "no king"),
        (lambda board: board.castling_rook(-1), ValueError, "-1 is not the number"),
        (lambda board: board.setup(BOARD[:64], 0, 0, 0x88, 0, 1), ValueError, "64 squares instead of 128"),
        (lambda board: board.setup(codes({0x08: 18}), 0, 0, 0x88, 0, 1), ValueError, "8 is not a square"),
        (lambda board: board.setup(codes({0x70: 0x01}), 0, 0, 0x88, 0, 1), ValueError, "1 is not the code"),
        (lambda board: board.setup(codes({0x70: 0x17}), 0, 0, 0x88, 0, 1), ValueError, "23 is not the code"),
        (lambda board: board.setup(codes({0x70: 0x51}), 0, 0, 0x88, 0, 1), ValueError, "81 is not the code"),
        (lambda board: board.setup(codes({0x70: 0x14}), 0, 0, 0x88, 0, 1), ValueError, "Black is in check"),
        (lambda board: board.setup(BOARD, 2, 0, 0x88, 0, 1), ValueError, "2 is not a side"),
        (lambda board: board.setup(BOARD, 0, 16, 0x88, 0, 1), ValueError, "16 are not castling rights"),
        (lambda board: board.setup(BOARD, 0, 0, 0x100, 0, 1), ValueError, "256 is not a square"),
        (lambda board: board.setup(BOARD, 0, 0, 0x88, -1, 1), ValueError, "-1 is not a counter"),
        (lambda board: board.setup(BOARD, 0, 0, 0x88, 0, 10**8), ValueError, "100000000 is not a counter"),
        (lambda board: board.setup(BOARD, 0, 0, 0x88, 0, 1, (7,)), ValueError, "1 squares of rooks"),
        (lambda board: board.setup(BOARD, 0, 1, 0x88, 0, 1, (256, 0, 7, 7)), ValueError, "256 is not"),
        (lambda board: san.write(board, 0), ValueError, "0 is not a legal move"),
        (lambda board: legal_moves(None), TypeError, "oard"),
        (lambda board: OngoingGame().play(1), ValueError, "1 is not a legal move"),
        (lambda board: OngoingGame().resign(2), ValueError, "2 is not a side"),
        (lambda board: OngoingGame().end("2-0", ""), ValueError, "'2-0' is not a result"),
        (lambda board: pgn.record({}, fen.START, [1], "*"), ValueError, "1 is not a legal move"),
        (lambda board: Search(1).think(Board(), Limits(depth=1)), ValueError, "no king"),
        (lambda board: Search(1).think(board, Limits(depth=-1)), ValueError, "-1 is not a limit"),
        (lambda board: Search(1).think(board, Limits(nodes="x")), TypeError, "str"),
        (lambda board: Search(1).think(board, 5), TypeError, "5 are not limits"),
        (lambda board: Search(1).start(board, Limits(), 5, print), TypeError, "5 cannot be called"),
        (lambda board: Search(1).start(board, Limits(), print, print, 1e30), ValueError, "to come"),
        (lambda board: Search(1).table.resize(1), RuntimeError, "belongs to a search"),
    ],
)  # fmt: skip
def test_an_error_names_the_argument_and_changes_nothing(call: object, error: type, reason: str) -> None:
    board = fen.parse("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1")
    before = fen.write(board), board.key, legal_moves(board)
    with pytest.raises(error, match=reason):
        call(board)  # type: ignore[operator]
    assert (fen.write(board), board.key, legal_moves(board)) == before
    board.check_invariants()


@pytest.mark.parametrize(
    "call",
    [
        lambda search, board: search.start(board, Limits(), print, print),
        lambda search, board: search.think(board, Limits(depth=1)),
        lambda search, board: search.use_network(""),
        lambda search, board: search.resize_table(2),
        lambda search, board: search.resize_pool(2),
        lambda search, board: search.forget(),
        lambda search, board: search.new_game(),
        lambda search, board: search.limit_strength(1500),
        lambda search, board: search.use_tablebases(depth=2),
        lambda search, board: search.table.resize(2),
        lambda search, board: search.table.clear(),
    ],
)  # fmt: skip
def test_a_running_search_is_left_alone(call: object) -> None:
    search, results = Search(1), []
    board = fen.parse(fen.START)
    for _ in range(2):
        search.start(board, Limits(infinite=True), lambda _: None, results.append)
        with pytest.raises(RuntimeError, match="search"):
            call(search, board)  # type: ignore[operator]
        assert search.is_running()
        search.stop()
        search.wait()
    assert len(results) == 2
    assert all(result.move in legal_moves(board) for result in results)
    assert search.table.clusters == 1 << 14
    search.resize_table(2)
    assert search.think(board, Limits(depth=1)).move


def test_a_report_s_callback_cannot_start_a_search() -> None:
    search, seen = Search(1), []

    def again(_: Report) -> None:
        try:
            search.think(fen.parse(fen.START), Limits(depth=1))
        except RuntimeError as error:
            seen.append(str(error))

    search.think(fen.parse(fen.START), Limits(depth=2), again)
    assert seen
    assert all("is running" in text for text in seen)
