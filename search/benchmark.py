"""The bench: searches a fixed list of positions to a fixed depth. The node count is the search's signature.
Other positions and other limits can be chosen, and perft instead of the search.

With one thread, the count at a given depth and table size is the same on every run and every machine,
compiled or not. It changes with any functional change of the search or the evaluation; bench/signature.txt
has the counts of this version. With more threads it differs from run to run. The positions are from
tournament games and from the suite "Win at Chess".
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from search.limits import Limits
from search.line import Report
from search.search import Search
from search.timeman import Clock
from x88 import build
from x88.board import Board
from x88.notation import fen
from x88.perft.divide import DividedPerft

COMPILED_DEPTH = 13
UNCOMPILED_DEPTH = 6
"""Takes about 20 s uncompiled."""

DEPTH = COMPILED_DEPTH if build.compiled else UNCOMPILED_DEPTH
"""The default depth of the running build."""

MEGABYTES = 16
"""The default size of the transposition table."""

KINDS = ("depth", "nodes", "movetime", "perft")
"""The kinds of limit: plies, nodes and milliseconds for each position, or the plies of a perft."""

POSITIONS = [
    # Openings.
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r2q1rk1/ppp1npbp/2n3p1/4p3/4P1b1/2N1BNP1/PPP2PBP/R2Q1RK1 w - - 3 10",
    "rn1qkb1r/pp3ppp/2p1pn2/3p1b2/2PP3N/2N1P3/PP3PPP/R1BQKB1R b KQkq - 1 6",
    "r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2PP1N2/PP3PPP/RNBQK2R b KQkq - 0 5",
    "r1bqkb1r/pp1ppppp/2n2n2/8/3NP3/8/PPP2PPP/RNBQKB1R w KQkq - 1 5",
    "r1bqk2r/1ppp1ppp/p1n2n2/2b1p3/B3P3/3P1N2/PPP2PPP/RNBQK2R w KQkq - 1 6",
    "r2q1rk1/2pbbppp/p1np1n2/1p2p3/P3P3/1BPP1N2/1P1N1PPP/R1BQ1RK1 b - - 2 10",
    # Middlegames.
    "1r2k2r/3q1pp1/1b2pn2/7p/2RpPP2/p2B4/PP4PP/2RQ2BK w k - 0 27",
    "r3r1k1/1b3ppp/1p1P1n2/2np4/5P2/3B1N2/4Q1PP/4RRK1 b - - 0 23",
    "r2r4/1p4bk/nq2b1pp/p1n1p3/2PpP3/BP1N1NP1/P1Q3BP/2R2RK1 b - - 7 24",
    "r4b2/3n1k1p/ppb1r1p1/4q1PP/2PR4/4B3/PPQ1BP2/2KR4 w - - 0 25",
    "Q7/1p1q1ppk/1P1bbnnp/4p3/4P3/4BNNP/5PPK/5B2 b - - 4 37",
    "r3k1r1/pp1bnp2/4p3/3qP3/PQ3P2/2p5/2P3PP/R1B1KB1R b KQq - 0 17",
    "2rr2k1/pb2q1pp/1p1b1p2/3p4/2pPn3/1P2PNP1/PB3PBP/R2QR1K1 w - - 0 21",
    "q1b1kb1r/3n1pp1/p2ppn1p/4P3/6P1/1N2B3/PpP1QP1P/1K1R3R w k - 0 16",
    "r3r1k1/1p1nq1p1/2p1pp1p/p6R/Pn1PP1P1/1PQ1NPP1/4N1K1/7R w - - 0 45",
    "r2q1rk1/3nppbp/b2p1np1/1BpP4/P3P3/2N1BN2/1PQ2PPP/3RR1K1 b - - 2 16",
    "r2r2k1/5pbp/2p1nppB/p2q4/P2P4/2P2N1P/3Q1PP1/R4RK1 w - - 3 19",
    # Endgames.
    "8/p6B/5k2/2pbp3/7P/6K1/PP6/8 w - - 3 42",
    "2b2k2/pp3ppp/8/8/5P2/1B2K3/PP4PP/8 b - - 1 25",
    "2r5/5p2/5kp1/R7/7p/6PP/1P1K1P2/8 b - - 5 42",
    "8/4kp2/1p3np1/p2p4/3N1KPP/1P2P3/P7/8 w - - 1 42",
    "6k1/Bn3pp1/1p5p/3K4/P7/6P1/r4N1P/8 w - - 0 42",
    "8/p7/1p2pk2/3r1n1p/3PRB2/P2K4/5PP1/8 w - - 2 32",
    "3r4/4bp1k/1p2p2p/4P1p1/2p1N3/P1B2N2/1P2KPP1/8 b - - 3 33",
    "8/8/4k3/p7/r3Pp2/3K1P2/P1R5/8 b - - 3 50",
    # Pawn endgames.
    "8/1k6/2p1p1p1/p1Pp1p1p/P2P1P1P/2K1P1P1/8/8 w - - 3 43",
    "8/1k6/2p1ppp1/p1Pp3p/3P1P1P/2K1P1P1/P7/8 w - - 0 37",
    "6k1/8/6P1/6K1/8/8/8/8 w - - 3 88",
    # In check.
    "5rk1/4r3/5p2/4P3/1P3P2/6Q1/8/5K2 b - - 2 49",
    "R5k1/1R3p2/7p/1p3Pp1/3b2P1/7P/P5K1/1r6 b - - 1 46",
    "8/6b1/4k3/2N1P1p1/3KR1P1/8/6r1/8 b - - 4 52",
    "8/8/1k1p1p2/1p3P2/1P2P2Q/7r/6BK/4q3 w - - 0 57",
    # Promotions.
    "r7/3P4/7R/5p1p/2P1nkp1/8/4B1P1/4K3 w - - 1 49",
    "3Qnk2/2P2pp1/4p3/P7/4P3/5PPK/8/qq1B4 w - - 0 44",
    # En passant.
    "2kr3r/ppnbbp2/2pq3p/3p1Pp1/3P2P1/2BB3P/PPP2QN1/1K1R3R w - g6 0 20",
    "1Rb3r1/p5rp/2p1p3/2BpPpqk/2P3pn/3Q4/P1P1BPPP/4R2K w - d6 0 29",
    # Tactics.
    "4kb1r/2q2p2/r2p4/pppBn1B1/P6P/6Q1/1PP5/2KRR3 w k - 0 1",
    "1r3r1k/3p4/1p1Nn1R1/4Pp1q/pP3P1p/P7/5Q1P/6RK w - - 0 1",
    "r2r2k1/1R2qp2/p5pp/2P5/b1PN1b2/P7/1Q3PPP/1B1R2K1 b - - 0 1",
    "1R6/1brk2p1/4p2p/p1P1Pp2/P7/6P1/1P4P1/2R3K1 w - - 0 1",
    "r5r1/p1q2p1k/1p1R2pB/3pP3/6bQ/2p5/P1P1NPPP/6K1 w - - 0 1",
]


class Settings(NamedTuple):
    """A run's settings: megabytes of the table, threads, each position's limit and its kind, the FENs."""

    megabytes: int = MEGABYTES
    threads: int = 1
    limit: int = DEPTH
    kind: str = "depth"
    positions: Sequence[str] = POSITIONS

    def heading(self) -> str:
        """The line that announces a run."""
        text = f"bench of {len(self.positions)} positions at {self.kind} {self.limit}"
        if self.megabytes != MEGABYTES:
            text += f", Hash {self.megabytes}"
        if self.threads > 1:
            text += f", {self.threads} threads"
        if self.kind == "movetime" or (self.threads > 1 and self.kind != "perft"):
            text += ": the node count differs from run to run"
        return text


class Total(NamedTuple):
    """The result of a run: nodes of all threads, the search time in milliseconds, threads."""

    nodes: int
    elapsed: float
    threads: int = 1

    @property
    def speed(self) -> int:
        """Nodes per second."""
        return int(self.nodes * 1000 / max(self.elapsed, 1e-3))

    def table(self) -> str:
        """The result in the form of Stockfish's, which programs read."""
        return (
            f"Total time (ms) : {int(self.elapsed)}\n"
            f"Nodes searched  : {self.nodes}\n"
            f"Nodes/second    : {self.speed}"
        )

    def summary(self) -> str:
        """The line that ends a run."""
        text = f"{self.nodes} nodes {self.speed} nps"
        return text if self.threads == 1 else f"{text} ({self.threads} threads)"


class Bench:
    """A run over all positions, which another thread may stop. It has its own search."""

    def __init__(self, settings: Settings | None = None) -> None:
        """Raises ValueError for settings out of range, and MemoryError if there is not enough memory."""
        self.settings = settings or Settings()
        self._search = Search(self.settings.megabytes, threads=self.settings.threads)
        self._stop_position = self._search.stop
        self._stopped = False

    def stop(self) -> None:
        """Stop the run as soon as possible."""
        self._stopped = True
        self._stop_position()

    def run(self, on_position: Callable[[int, int], object] | None = None) -> Total | None:
        """Search every position to the limit, each as a new game. Returns None if stopped.

        `on_position` is called with the number of positions done and the nodes so far.
        """
        try:
            return self._run(on_position)
        finally:
            self._search.resize_pool(1)  # a sleeping thread would keep the table alive

    def _run(self, on_position: Callable[[int, int], object] | None) -> Total | None:
        count = self._count_leaves if self.settings.kind == "perft" else self._search_position
        nodes = 0
        elapsed = 0.0
        for number, text in enumerate(self.settings.positions, 1):
            board = fen.parse(text, [])  # what follows the FEN is no fault
            self._search.new_game()
            clock = Clock()
            nodes += count(board)
            elapsed += clock.elapsed()
            if self._stopped:
                return None
            if on_position is not None:
                on_position(number, nodes)
        return Total(nodes, elapsed, self.settings.threads)

    def _search_position(self, board: Board) -> int:
        limit = self.settings.limit
        kinds = {
            "depth": Limits(depth=limit),
            "nodes": Limits(nodes=limit),
            "movetime": Limits(movetime=limit),
        }
        return self._search.think(board, kinds[self.settings.kind], self._check_stop).nodes

    def _count_leaves(self, board: Board) -> int:
        perft = DividedPerft(board, self.settings.limit, threads=self.settings.threads)
        self._stop_position = perft.stop
        if self._stopped:
            return 0
        return sum(leaves for _, leaves in perft.run())

    def _check_stop(self, _report: Report) -> None:
        """Stop the search if `stop` was called just before it started."""
        if self._stopped:
            self._search.stop()
