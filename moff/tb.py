"""`moff tb`: probe endgame tablebases for a position, or check their files."""

import argparse
import os
import sys
import textwrap
from typing import TYPE_CHECKING, Any

from moff.arguments import WRONG_USAGE, read_position
from moff.bar import Bar
from moff.messages import counted
from moff.syzygy_path import PATH
from x88.board import Board
from x88.notation import san
from x88.notation.outcome import Outcome, outcome
from x88.piece import WHITE

if TYPE_CHECKING:
    from search.syzygy.ranking import RankedMove
    from search.syzygy.tablebase import Tablebase

WIDTH = 79
"""Columns of the best line."""

NAMES = {-2: "loss", -1: "blessed loss", 0: "draw", 1: "cursed win", 2: "win"}
"""The names of the results, from LOSS to WIN."""

NO_BREAK = "\N{NO-BREAK SPACE}"
"""Keeps a move number on the line of its move where the best line is wrapped."""


def add_command(commands: Any) -> None:
    """Add `tb` to a command line."""
    tb = commands.add_parser(
        "tb",
        help="probe endgame tablebases (Syzygy) for a position, or check their files",
        description="Print who wins a position with few pieces, the distance (DTZ), the best line to the end "
        "of the game and all legal moves, best first. DTZ counts plies to the next capture or pawn move that "
        "keeps the result, or to mate; it is negative for the loser, and beyond 100 for a cursed win or a "
        "blessed loss, which the fifty-move rule makes a draw. The half-move clock of the FEN is taken into "
        "account.",
        epilog="--check reads every block of each table, and compares tables with the lists of checksums in "
        "their folder (as md5sum writes them, or with SHA-1, SHA-256 or SHA-512): only a list shows every "
        "damage. The exit code is 1 if any table is bad.",
    )
    tb.add_argument("fen", nargs="?", metavar="FEN", help="the position")
    tb.add_argument(
        "--path",
        metavar=f"FOLDER[{os.pathsep}FOLDER...]",
        help=f"the folders of the tables (default: the environment variable {PATH})",
    )
    tb.add_argument("--check", nargs="+", metavar="FOLDER", help="check the tables in these folders instead")
    tb.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    if options.check:
        if options.fen is not None or options.path is not None:
            return _complain("--check takes folders, and neither FEN nor --path", WRONG_USAGE)
        return _check(options.check)
    from search.syzygy.tablebase import folders_of

    if options.fen is None:
        return _complain("a FEN, or --check with folders, is required", WRONG_USAGE)
    path = options.path if options.path is not None else os.environ.get(PATH, "")
    folders = folders_of(path)
    if not folders:
        return _complain(f"name the folders of the tables with --path or in {PATH}", WRONG_USAGE)
    board = read_position(options.fen)
    if board is None:
        return 1
    return _tell(board, folders)


def _complain(text: str, code: int) -> int:
    print(f"moff tb: {text}" if code == WRONG_USAGE else text, file=sys.stderr)
    return code


def _tell(board: Board, folders: list[str]) -> int:
    """Print what the tables say about a position."""
    from search.syzygy import ranking
    from search.syzygy.tablebase import Tablebase

    tables = Tablebase(folders, lambda problem: print(problem, file=sys.stderr))
    reason = _cannot_ask(tables, board, folders)
    ranked = None if reason else ranking.rank(tables, board)
    dtz = None if ranked is None else tables.dtz(board)
    if ranked is None or dtz is None:
        return _complain(reason or _missing(tables, board), 1)
    print("\n".join([_verdict(board, ranked, dtz), *_line(tables, board), *_moves(board, ranked)]))
    return 0


def _cannot_ask(tables: "Tablebase", board: Board, folders: list[str]) -> str:
    """Why no available table can have the position; empty if one can."""
    from search.syzygy.ranking import name_of

    pieces = len(name_of(board)) - 1
    if not tables.most:
        return f"{', '.join(folders)}: there is no table"
    if board.castling:
        return "tablebases have no positions with castling rights"
    if pieces > tables.most:
        return f"{pieces} pieces are too many: the tables have up to {tables.most}, kings included"
    return ""


def _missing(tables: "Tablebase", board: Board) -> str:
    from search.syzygy.ranking import missing_table

    return f"the position is not in the tables: it needs {missing_table(tables, board)}"


def _verdict(board: Board, ranked: "list[RankedMove]", dtz: int) -> str:
    """The result, with the reason if the game is already over, and DTZ."""
    from search.syzygy.ranking import result_of

    over = outcome(board)
    if over is not None:
        return f"{'loss' if over == Outcome.CHECKMATE else 'draw'} ({over.value})"
    result = ranked[0].result
    text = f"{NAMES[result]}, DTZ {dtz}"
    if result != result_of(dtz):
        text += f" ({NAMES[result_of(dtz)]} but for the half-move clock of {board.halfmove} plies)"
    return text


def _line(tables: "Tablebase", board: Board) -> list[str]:
    """The best line, with the way the game ends, as a paragraph."""
    from moff.game.notation import move_number
    from search.syzygy.ranking import best_line

    words = []
    board = board.copy()
    line = best_line(tables, board)
    for n, move in enumerate(line):
        number = f"{move_number(board)}{NO_BREAK}" if n == 0 or board.side == WHITE else ""
        words.append(number + san.write(board, move))
        board.make(move)
    over = outcome(board)
    ending = over.value if over is not None else _missing(tables, board)
    if not words:
        return []
    text = textwrap.fill(f"{' '.join(words)} ({ending})", WIDTH, break_on_hyphens=False)
    return ["", text.replace(NO_BREAK, " ")]


def _moves(board: Board, ranked: "list[RankedMove]") -> list[str]:
    """The legal moves, each with its result and DTZ, as a paragraph."""
    lines = [f"{san.write(board, each.move):8}{NAMES[each.result]:13}{each.dtz:4}" for each in ranked]
    return ["", *lines] if lines else []


def _check(folders: list[str]) -> int:
    """Print what is wrong with the tables of folders."""
    from search.syzygy.check import Check

    check = Check(folders)
    bar = Bar(beside_results=True)
    faults = 0

    def show(name: str) -> None:
        part = check.done / check.total if check.total else None
        bar.show(part, f"{name}: {counted(check.tables, 'table')}, {check.bad} bad")

    try:
        for finding in check.findings(show):
            faults += finding.is_fault
            bar.clear()
            stream = sys.stdout if finding.is_fault else sys.stderr
            print(f"{finding.path}: {finding.text}", file=stream, flush=True)
    except KeyboardInterrupt:
        bar.clear()
        print(f"interrupted after {counted(check.tables, 'table')}, {check.bad} bad", file=sys.stderr)
        raise
    finally:
        bar.clear()
    print(f"{counted(check.tables, 'table')}, {check.bad} bad ({check.listed} compared with lists)")
    return 1 if faults else 0
