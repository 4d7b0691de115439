"""Searches for the tests: a position and limits in, the result and all reports out."""

from typing import Any

import chess

from search.limits import Limits
from search.line import Report, Result
from search.search import Search
from tests import ROOT
from x88.board import Board
from x88.notation import coordinate, fen

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
ONE_MOVE = "k7/3Q4/8/7p/7P/8/8/4K3 b - - 0 1"


def played(text: str, moves: str = "") -> Board:
    """The position of a FEN after some moves, which it remembers."""
    board = fen.parse(text)
    for move in moves.split():
        board.make(coordinate.parse(board, move))
    return board


def packed(text: str, moves: str) -> tuple[int, ...]:
    """Moves of a position, as for `searchmoves`."""
    board = fen.parse(text)
    return tuple(coordinate.parse(board, move) for move in moves.split())


def own_mates() -> list[tuple[str, int]]:
    """The positions of tests/mates.epd with the moves to mate."""
    lines = (ROOT / "tests" / "mates.epd").read_text(encoding="utf-8").splitlines()
    return [(text, int(moves)) for text, moves in (line.split(" ; dm ") for line in lines)]


def think(
    position: str | Board, limits: Limits, search: Search | None = None, threads: int = 1
) -> tuple[Result, list[Report]]:
    """A search in the calling thread, by a new `Search` if none is given."""
    board = fen.parse(position) if isinstance(position, str) else position
    reports: list[Report] = []
    return (search or Search(1, threads=threads)).think(board, limits, reports.append), reports


def begun(
    search: Search, limits: Limits, position: str | Board = KIWIPETE, **arguments: Any
) -> tuple[Result, list[Report]]:
    """A search in a thread of its own, after its end."""
    board = fen.parse(position) if isinstance(position, str) else position
    reports: list[Report] = []
    results: list[Result] = []
    search.start(board, limits, reports.append, results.append, **arguments)
    search.wait()
    (result,) = results
    return result, reports


def check_lines(text: str, reports: list[Report]) -> None:
    """Check by python-chess that every principal variation is legal to its end."""
    for report in reports:
        board = chess.Board(text)
        for move in report.pv:
            found = chess.Move.from_uci(coordinate.write(move))
            assert found in board.legal_moves, (text, report)
            board.push(found)
