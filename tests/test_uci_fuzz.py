"""Conversations at random: sense and nonsense in any order, with the real process over pipes."""

import re

import chess
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.client import THREADS, Conversation
from tests.oracle import STARTS, scaled

MOVE = "[a-h][1-8][a-h][1-8][qrbn]?"
LINES = re.compile(
    rf"info depth (0 |\d+ (?=.* pv ))seldepth \d+ multipv \d+ score (cp|mate) -?\d+( lowerbound| upperbound)?"
    rf"( wdl \d+ \d+ \d+)? nodes \d+ nps \d+ hashfull \d+ tbhits \d+ time \d+( pv( {MOVE})+)?"
    rf"|info depth \d+ currmove {MOVE} currmovenumber \d+"
    rf"|info string [^\n]*|bestmove ({MOVE}( ponder {MOVE})?|\(none\))"
    rf"|readyok|uciok|id (name|author) .+|option name .+ type (spin|check|button|string).*"
    rf"|{MOVE}: \d+|Nodes searched: \d+|(Total time \(ms\)|Nodes searched |Nodes/second   ) : \d+"
    rf"|\d+ nodes \d+ nps( \(\d+ threads\))?|"
)
"""Every line that the commands used here may bring."""

BRIEF = ["depth 1", "depth 3", "nodes 1", "nodes 300", "movetime 1", "movetime 20", "wtime 50 btime 50"]
BRIEF += ["wtime 30 winc 10 binc 10", "wtime -3 btime 0 movestogo 1", "mate 1 nodes 500", "binc 20"]
BRIEF += ["depth x", "movetime", "depth -1", "nodes 18446744073709551615 movetime 5", "mate 999999 depth 2"]
ENDLESS = ["infinite", "ponder wtime 1000 btime 1000", "ponder", "", "infinite searchmoves e2e4 a7a6"]
OPTIONS = ["Hash value 1", "hash value 3", "Clear Hash", "MultiPV value 1", "multipv  value 3"]
OPTIONS += [
    "MultiPV value 5",
    "UCI_ShowWDL value true",
    "UCI_ShowWDL value false",
    "Move Overhead value 5",
    "nodestime value 0",
    "nodestime value 100",
    "Ponder value true",
    "UCI_LimitStrength value true",
    "UCI_LimitStrength value false",
    "UCI_Elo value 900",
    "UCI_AnalyseMode value true",
    "UCI_AnalyseMode value false",
    "Threads value 1",
    "Threads value 2",
    "threads value 8",
]
NONSENSE = ["go perft 0", "perft x", "bench x", "setoption", "setoption name Hash value 0", "position"]
NONSENSE += ["position fen 8/8/8/8/8/8/8/8 w - - 0 1", "position startpos moves e2e5", "joho", ""]
NONSENSE += [
    "setoption name No Such value 3",
    "position fen x moves e2e4",
    "xboard",
    "debug x",
]
WORDS = [
    "stop",
    "ponderhit",
    "ucinewgame",
    "uci",
    "go perft 2",
    "bench 1 2 1",
    "register later",
    "flip",
    "help",
    "license",
]
WORDS += ["compiler", "debug on", "debug off"]


class Talk(RuleBasedStateMachine):
    """One conversation. Every `go` that is no nonsense brings one bestmove, and nothing else does."""

    searches: int

    @initialize(threads=st.sampled_from(THREADS))
    def begin(self, threads: int) -> None:
        """Start the engine."""
        self.moff = Conversation(threads=threads)
        self.searches = 0
        self.lines: list[str] = []

    def _send(self, *lines: str) -> None:
        self.moff.send(*lines)

    @rule(text=st.sampled_from(STARTS), plies=st.integers(0, 8), data=st.data())
    def position(self, text: str, plies: int, data: st.DataObject) -> None:
        """A position, with some moves."""
        board = chess.Board(text)
        for _ in range(plies):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(data.draw(st.sampled_from(moves)))
        moves = " ".join(move.uci() for move in board.move_stack)
        self._send(f"position fen {text}" + (f" moves {moves}" if moves else ""))

    @rule(limits=st.sampled_from(BRIEF + ENDLESS))
    def go(self, limits: str) -> None:
        """A search."""
        self._send(f"go {limits}")
        self.searches += 1

    @rule(word=st.sampled_from(WORDS))
    def command(self, word: str) -> None:
        """A command that brings no bestmove of its own."""
        self._send(word)

    @rule(option=st.sampled_from(OPTIONS))
    def option(self, option: str) -> None:
        """An option."""
        self._send(f"setoption name {option}")

    @rule(text=st.sampled_from(NONSENSE))
    def nonsense(self, text: str) -> None:
        """A line with a fault."""
        self._send(text)

    @rule(data=st.binary(max_size=60))
    def garbage(self, data: bytes) -> None:
        """Bytes, behind a word that no command begins with."""
        self.moff.send_bytes(b"~" + data.replace(b"\n", b"~").replace(b"\r", b"~") + b"~\n")

    @rule()
    def ready(self) -> None:
        """The engine answers, whatever it is doing."""
        self.lines += self.moff.ready()

    @invariant()
    def count(self) -> None:
        """There is never a bestmove too many."""
        if hasattr(self, "moff"):
            assert sum(line.startswith("bestmove") for line in self.lines) <= self.searches

    def teardown(self) -> None:
        """The end of input ends everything: all bestmoves are there, and every line is in order."""
        if not hasattr(self, "moff"):
            return
        with self.moff:
            assert self.moff.end() == 0
            self.moff._reader.join(60)
            while not self.moff.lines.empty():
                self.lines.append(self.moff.read())
            assert self.moff.process.stderr.read() == b""
        assert sum(line.startswith("bestmove") for line in self.lines) == self.searches
        for line in self.lines:
            assert LINES.fullmatch(line), line


TestTalk = Talk.TestCase
TestTalk.settings = settings(max_examples=scaled(60, 15), stateful_step_count=25, deadline=None)
