"""Times what programs do with boards and games, in Moff and in the libraries that are installed beside it.

    python -m tests.moff.library.speed GAMES.pgn [BOOK.bin [SYZYGY_FOLDER]]

300 positions of the games, in turns, the best of nine runs, microseconds a position; games in seconds. Only
libraries in python-chess's words can be compared so; others are named in docs/python-chess.md.
"""

import gc
import importlib
import io
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any

import chess
import chess.pgn
import chess.polyglot
import chess.syzygy

import moff

LIBRARIES = ("chess", "pyrust_chess", "moff")
POSITIONS = 300
RUNS = 9


def positions(path: Path) -> list[tuple[str, str]]:
    """Positions of the games, each with the SAN of the move played."""
    found = []
    with path.open(encoding="utf-8", errors="replace") as stream:
        while len(found) < POSITIONS and (game := chess.pgn.read_game(stream)) is not None:
            board = game.board()
            for number, move in enumerate(game.mainline_moves()):
                if number % 7 == 3:
                    found.append((board.fen(), board.san(move)))
                board.push(move)
    return found[:POSITIONS]


def best(call: Callable[[], object], runs: int = RUNS) -> float:
    """The seconds of the fastest run."""
    times = []
    for _ in range(runs):
        gc.collect()
        gc.disable()
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
        gc.enable()
    return min(times)


def tasks(library: Any, pairs: list[tuple[str, str]]) -> dict[str, Callable[[], object]]:
    """What is timed, by name: once for each position."""
    fens = [fen for fen, _ in pairs]
    boards = [library.Board(fen) for fen in fens]
    played = [(board, board.parse_san(san), san) for board, (_, san) in zip(boards, pairs, strict=True)]

    def each(call: Callable[..., object]) -> Callable[[], object]:
        return lambda: [call(*item) for item in played]

    def make(board: Any, move: Any, _: str) -> None:
        board.push(move)
        board.pop()

    def read(board: Any, _: Any, san: str) -> None:
        board.push_san(san)
        board.pop()

    def judge(board: Any, *_: Any) -> None:
        board.is_check()
        board.is_checkmate()
        board.is_stalemate()
        board.is_insufficient_material()

    return {
        "list the legal moves": each(lambda board, *_: list(board.legal_moves)),
        "make + unmake one": each(make),
        "SAN of one": each(lambda board, move, _: board.san(move)),
        "write FEN": each(lambda board, *_: board.fen()),
        "read FEN": lambda: [library.Board(fen) for fen in fens],
        "read SAN and make": each(read),
        "check, mate, stalemate, material": each(judge),
        "`Board()`": each(lambda *_: library.Board()),
        "copy": each(lambda board, *_: board.copy()),
    }


def installed() -> dict[str, ModuleType]:
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = importlib.import_module(name)
        except ImportError:
            print(f"{name} is not installed", file=sys.stderr)
    return found


def read_all(read_game: Callable[[Any], object], text: str) -> None:
    stream = io.StringIO(text)
    while read_game(stream) is not None:
        pass


def main(games: str, book: str = "", tables: str = "") -> None:
    pairs = positions(Path(games))
    libraries = {name: tasks(library, pairs) for name, library in installed().items()}
    print("| |", " | ".join(next(iter(libraries.values()))), "|")
    for name, timed in libraries.items():
        row = [f"{best(call) / len(pairs) * 1e6:.3g}" for call in timed.values()]
        print(f"| {name} |", " | ".join(row), "|")
    text = Path(games).read_text("utf-8", "replace")
    times = [
        best(lambda read=read: read_all(read, text), 3) for read in (chess.pgn.read_game, moff.pgn.read_game)
    ]
    print(f"games: {times[0]:.3f} s and {times[1]:.4f} s, {times[0] / times[1]:.1f} times as fast")
    ours = [moff.Board(fen) for fen, _ in pairs]
    theirs = [chess.Board(fen) for fen, _ in pairs]
    if book:
        mine, other = moff.Book(book), chess.polyglot.open_reader(book)
        compare("book", [(list, other.find_all, theirs), (list, mine.find_all, ours)])
    if tables:
        fens = [f"8/8/8/3k4/8/8/8/1K{piece}5 {side} - - 0 1" for piece in "QRBN" for side in "wb"] * 20
        ours, theirs = [moff.Board(fen) for fen in fens], [chess.Board(fen) for fen in fens]
        table, other_table = moff.Tablebase(tables), chess.syzygy.open_tablebase(tables)
        compare("wdl", [(int, other_table.probe_wdl, theirs), (int, table.probe_wdl, ours)])
        compare("dtz", [(int, other_table.probe_dtz, theirs), (int, table.probe_dtz, ours)])


def compare(name: str, calls: list[tuple[Callable[..., object], Callable[..., Any], list[Any]]]) -> None:
    """Print how many times as fast the second is."""
    times = [
        best(lambda keep=keep, ask=ask, of=of: [keep(ask(board)) for board in of]) for keep, ask, of in calls
    ]
    print(f"{name}: {times[0] / times[1]:.1f} times as fast")


if __name__ == "__main__":
    main(*sys.argv[1:])
