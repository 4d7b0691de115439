"""The engine in this process, in the words of python-chess's documentation of `chess.engine`."""

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, SupportsIndex, TypeAlias

from moff.library.boards import Board
from moff.library.moves import Move
from moff.library.scores import Cp, Mate, PovScore
from search.limits import MAX_LIMIT, Limits
from search.line import Report, Result
from search.search import Search
from search.syzygy.tablebase import Tablebase, folders_of
from x88.board import Board as Position
from x88.notation import coordinate

__all__ = ["Engine", "Info", "Limit", "PlayResult"]

POLL = 0.1
"""Seconds between looks for Ctrl-C on Windows, where it does not interrupt a wait for another thread."""

Path: TypeAlias = "str | os.PathLike[str]"
Info: TypeAlias = dict[str, Any]
"""A report of a search: "score" (`PovScore`), "pv" (a list of moves), "depth" and "seldepth" in plies, "time"
in seconds, "nodes", "nps", "hashfull" in permille, "tbhits", "multipv" (the number of the line, from 1), and
"lowerbound" or "upperbound" if the score is only one.
"""
_WORDS = {"elapsed": "time", "line": "multipv", "tb_hits": "tbhits"}
"""The fields of `search.line.Report` that have another name here."""


class Limit(NamedTuple):
    """What ends a search, None for no limit. Times are in seconds, depth in plies, mate in moves."""

    time: float | None = None
    depth: int | None = None
    nodes: int | None = None
    mate: int | None = None
    white_clock: float | None = None
    black_clock: float | None = None
    white_inc: float | None = None
    black_inc: float | None = None
    remaining_moves: int | None = None
    """Moves to the next time control."""


class PlayResult(NamedTuple):
    """The best move, None if there is none; the expected answer, if known; and the last report."""

    move: Move | None
    ponder: Move | None
    info: Info


class AnalysisResult:
    """A running search, to be iterated over for its reports. It ends at its limit, by `stop`, with a loop
    over it or its `with` block, and when nothing refers to it any more.
    """

    def __init__(self, engine: "Engine", reports: SimpleQueue[Any], multipv: list[Info]) -> None:
        self.multipv = multipv
        """The last report of each line, best first."""
        self.best: PlayResult | None = None
        """The result, once `wait` has returned or all reports have been read."""
        self._engine = engine
        self._reports = reports

    @property
    def info(self) -> Info:
        """The last report of the best line, empty before the first one."""
        return self.multipv[0] if self.multipv else {}

    def stop(self) -> None:
        """Stop the search."""
        self._engine._stop(self._reports)

    def wait(self) -> PlayResult:
        """Wait for the result. An interrupt stops the search."""
        for _ in self:
            pass
        return self.best or PlayResult(None, None, {})

    def __iter__(self) -> Iterator[Info]:
        try:
            while self.best is None:
                with suppress(Empty):
                    found = self._reports.get(timeout=POLL)
                    if isinstance(found, PlayResult):
                        self.best = found
                    else:
                        yield found
        finally:
            self.stop()

    def __enter__(self) -> "AnalysisResult":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __del__(self) -> None:
        self._engine._stop(self._reports, in_finalizer=True)


class Engine:
    """An engine with threads and a hash table of its own. It runs one search at a time; several engines may
    search at once.
    """

    def __init__(
        self, hash: int = 64, threads: int = 2, *, elo: int | None = None, syzygy: Path = ""
    ) -> None:
        """The table has `hash` megabytes. `elo` limits the strength of all answers. `syzygy` names folders of
        endgame tablebases. Raises ValueError, TypeError or MemoryError.
        """
        for name, value in (("hash", hash), ("threads", threads), ("elo", 0 if elo is None else elo)):
            if not isinstance(value, SupportsIndex):
                raise TypeError(f"{name} must be a whole number, not {value!r:.40}")
        self._search: Search | None = Search(hash, threads=threads)
        self._search.limit_strength(elo)
        if syzygy:
            self._search.use_tablebases(tables_of(syzygy))
        self._repr = f"Engine(hash={hash}, threads={threads})"
        self._lock = threading.Lock()
        self._running: object = None
        """The reports of the running search; None once it is to stop."""
        self._game: object = None

    def play(self, board: Board, limit: Limit, **options: Any) -> PlayResult:
        """The best move. The options are `root_moves` and `game` of `analysis`."""
        limits_of(limit)
        with self.analysis(board, limit, **options) as search:
            return search.wait()

    def analyse(self, board: Board, limit: Limit, **options: Any) -> Any:
        """The last report, or with the option `multipv` a list of the last report of each line. The options
        are those of `analysis`.
        """
        limits_of(limit)
        with self.analysis(board, limit, **options) as search:
            search.wait()
            return search.info if options.get("multipv") is None else search.multipv

    def analysis(
        self,
        board: Board,
        limit: Limit | None = None,
        *,
        multipv: int | None = None,
        root_moves: Iterable[Move] | None = None,
        game: object = None,
    ) -> AnalysisResult:
        """Start a search of the position and the moves that led to it, of all moves or some `root_moves`, for
        one line or as many as `multipv` says. What the engine has learnt is forgotten when `game`, any
        object, is not that of the last search: one thread then finds the same in the same depth or nodes.

        Raises ValueError or TypeError for what cannot be searched, RuntimeError if the engine is closed or
        searching.
        """
        position = position_of(board)
        limits = Limits() if limit is None else limits_of(limit)
        limits = limits._replace(lines=1 if multipv is None else multipv)
        if root_moves is not None:
            moves = tuple(coordinate.parse(position, str(move)) for move in root_moves)
            if not moves:
                raise ValueError("there are no root_moves")
            limits = limits._replace(searchmoves=moves)
        turn, chess960 = board.turn, board.chess960
        # Nothing here refers to the `AnalysisResult`, which would otherwise live as long as the search.
        reports: SimpleQueue[Any] = SimpleQueue()
        lines: list[Info] = []

        def on_report(report: Report) -> None:
            lines[report.line - 1 : report.line] = [info_of(report, turn, chess960)]
            reports.put(lines[report.line - 1])

        def on_result(result: Result) -> None:
            move, ponder = moves_of([result.move, result.reply], chess960)
            reports.put(PlayResult(move or None, ponder or None, lines[0] if lines else {}))

        with self._lock:
            if self._search is None:
                raise RuntimeError("the engine is closed")
            if self._running is not None and self._search.is_running():
                raise RuntimeError("the engine is searching: stop that search, or use another engine")
            self._search.wait()  # for one that is to stop
            if game != self._game:
                self._search.new_game()
                self._game = game
            self._running = reports
            try:
                self._search.start(position, limits, on_report, on_result)
                return AnalysisResult(self, reports, lines)
            except BaseException:
                self._stop(reports)
                raise

    def _stop(self, reports: object, in_finalizer: bool = False) -> None:
        """Stop the search that has these reports, if it runs."""
        if self._search is not None and self._running is reports:
            (self._search.abandon if in_finalizer else self._search.stop)()
            self._running = None

    def close(self) -> None:
        """Stop, and free memory and threads."""
        self._stop(self._running)
        with self._lock:
            if self._search is not None:
                self._search.wait()
            self._search = None

    quit = close

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return self._repr


def tables_of(path: Path) -> Tablebase:
    """The tables in a folder, or in some joined by `os.pathsep`. Raises ValueError if there are none."""
    tables = Tablebase(folders_of(os.fspath(path)))
    if not tables.most:
        raise ValueError("; ".join(tables.problems) or f"{path} has no tables")
    return tables


def position_of(board: Board) -> Position:
    """The board underneath, if it can be searched. Raises TypeError or ValueError."""
    if not isinstance(board, Board):
        raise TypeError(f"{board!r:.80} is not a Board")
    if not board.is_valid():
        raise ValueError(f"{board!r}: {board.fault or 'the side that is not to move is in check'}")
    return board.x88


def limits_of(limit: Limit) -> Limits:
    """The limits as the search takes them. Raises TypeError, or ValueError if they do not end a search."""
    if not isinstance(limit, Limit):
        raise TypeError(f"{limit!r:.80} is not a Limit")
    for name, value in limit._asdict().items():
        if value is not None and not hasattr(value, "__float__"):
            raise TypeError(f"the limit {name} must be a number, not {value!r:.40}")
        if value is not None and not 0 <= value <= MAX_LIMIT // 1000:
            raise ValueError(f"the limit {name} must be from 0 to {MAX_LIMIT // 1000}, not {value!r:.40}")
    thousandths = [value if value is None else round(1000 * value) for value in limit]
    white, black, white_inc, black_inc = thousandths[4:8]
    # A limit of 0 still asks for a move.
    least = (value if value is None else max(1, round(value)) for value in (*limit[1:4], thousandths[0]))
    depth, nodes, mate, time = least
    found = Limits(depth, nodes, mate, time, (white, black), (white_inc or 0, black_inc or 0))
    if found == Limits():
        raise ValueError(f"{limit} does not end a search")
    return found._replace(movestogo=limit.remaining_moves or None)


def moves_of(line: list[int], chess960: bool) -> list[Move]:
    """The moves of a line of packed ones."""
    return [Move.from_uci(coordinate.write(move, chess960)) for move in line]


def info_of(report: Report, turn: bool, chess960: bool) -> Info:
    """A report of the search in these words."""
    info: Info = {_WORDS.get(name, name): value for name, value in report._asdict().items()}
    mate, bound, pv = info.pop("mate"), info.pop("bound"), info.pop("pv")
    info["score"] = PovScore(Cp(report.score) if mate is None else Mate(mate), turn)
    info["time"] = report.elapsed / 1000
    info["nps"] = int(1000 * report.nodes / max(report.elapsed, 1))
    if pv:
        info["pv"] = moves_of(pv, chess960)
    if bound:
        info[f"{bound}bound"] = True
    return info
