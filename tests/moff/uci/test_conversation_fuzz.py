"""Conversations at random: sense and nonsense in any order with the real process, and damaged ones."""

from random import Random

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from moff.uci.conversation import Engine
from tests.client import LINES, THREADS, Conversation
from tests.oracle import SHARED, STARTS, watched
from tests.strategies import BRIEF, DAMAGED, ENDLESS, OPTIONS, TALKS, WHOLE, damaged, per_hundred
from x88.board import Board
from x88.movegen import legal_moves
from x88.notation import coordinate, fen

NONSENSE = [
    *("go perft 0", "perft x", "bench x", "setoption", "setoption name Hash value 0", "position", "joho", ""),
    *("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "position startpos moves e2e5", "xboard", "debug x"),
    *("position fen x moves e2e4", "setoption name No Such value 3"),
]
WORDS = [
    *(
        "stop",
        "ponderhit",
        "ucinewgame",
        "uci",
        "go perft 2",
        "bench 1 2 1",
        "register later",
        "flip",
        "help",
    ),
    *("license", "compiler", "debug on", "debug off"),
]
"""Commands that bring no bestmove of their own."""


class Talk(RuleBasedStateMachine):
    """One conversation. Every `go` that is no nonsense brings one bestmove, and nothing else does."""

    @initialize(threads=st.sampled_from(THREADS))
    def begin(self, threads: int) -> None:
        self.moff = Conversation(threads=threads)
        self.searches = 0
        self.lines: list[str] = []

    @rule(text=st.sampled_from(STARTS), plies=st.integers(0, 8), data=st.data())
    def position(self, text: str, plies: int, data: st.DataObject) -> None:
        board = chess.Board(text)
        for _ in range(plies):
            if any(board.legal_moves):
                board.push(data.draw(st.sampled_from(list(board.legal_moves))))
        moves = " ".join(move.uci() for move in board.move_stack)
        self.moff.send(f"position fen {text}" + (f" moves {moves}" if moves else ""))

    @rule(limits=st.sampled_from(BRIEF + ENDLESS))
    def go(self, limits: str) -> None:
        self.moff.send(f"go {limits}")
        self.searches += 1

    @rule(line=st.sampled_from([*WORDS, *NONSENSE, *(f"setoption name {option}" for option in OPTIONS)]))
    def command(self, line: str) -> None:
        self.moff.send(line)

    @rule(data=st.binary(max_size=60))
    def garbage(self, data: bytes) -> None:
        """Bytes, behind a word that no command begins with."""
        self.moff.send_bytes(b"~" + data.replace(b"\n", b"~").replace(b"\r", b"~") + b"~\n")

    @rule()
    def ready(self) -> None:
        """The engine answers, whatever it is doing, and never has a bestmove too many."""
        self.lines += self.moff.ready()
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
        assert [line for line in self.lines if not LINES.fullmatch(line)] == []


TestTalk = pytest.mark.slow(Talk.TestCase)
TestTalk.settings = settings(per_hundred(20, 10), stateful_step_count=25)


# Damaged conversations, with an engine in this process.

PREAMBLE = (
    "setoption name Hash value 1",
    "setoption name MultiPV value 1",
    "setoption name nodestime value 0",
    "setoption name UCI_LimitStrength value false",
    "setoption name SyzygyPath value <empty>",
    "setoption name SyzygyProbeDepth value 1",
    "setoption name SyzygyProbeLimit value 7",
    "setoption name Syzygy50MoveRule value true",
    "debug off",
    "ucinewgame",
    "position startpos",
)
FOR_PEOPLE = ("d", "eval", "moves")
"""Commands whose answers are not UCI."""

THINKING = 0.005
"""Seconds that a search may run before the next line."""

SAID: list[str] = []
ENGINE = Engine(SAID.append)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Tablebases. In DAMAGED one file in four is intact; in the others bytes are changed or cut off."""
    whole, damaged = SHARED / "syzygy", tmp_path_factory.mktemp("damaged")
    random = Random(1)
    for path in sorted(whole.glob("K*")):
        content = bytearray(path.read_bytes())
        for _ in range(random.choice((0, 1, 3, 100))):
            # Most changes are in the description.
            content[int(len(content) * random.random() ** random.choice((1, 3, 6)))] = random.randrange(256)
        if random.random() < 0.1:
            del content[random.randrange(len(content)) :]
        (damaged / path.name).write_bytes(content)
    return {WHOLE: str(whole), DAMAGED: str(damaged)}


@pytest.mark.slow
@per_hundred(30, 6)
@given(damaged(TALKS), st.sampled_from(THREADS))
def test_every_go_of_a_damaged_conversation_brings_one_legal_move(
    folders: dict[str, str], text: str, threads: int
) -> None:
    for line in (*PREAMBLE, f"setoption name Threads value {threads}"):
        ENGINE.execute(line)
    SAID.clear()
    boards: list[Board] = []
    with watched():
        for line in text.split("\n"):
            words = line.split()
            command = next((word for word in words if word in ENGINE._commands), "")
            if "log" in line.lower() or command in FOR_PEOPLE:
                continue
            for name, folder in folders.items():
                line = line.replace(name, folder)
            ENGINE.execute(line)
            if command == "go" and "perft" not in words[words.index("go") + 1 :]:
                boards.append(ENGINE._board.copy())
                ENGINE._idle.wait(THINKING)
        ENGINE.execute("stop")
        ENGINE._wait()
    check_said(SAID, boards)


def check_said(said: list[str], boards: list[Board]) -> None:
    """Check for one legal move for each of the boards, in their order, and legal variations before it."""
    assert [line for line in said if not LINES.fullmatch(line)] == []
    assert sum(line.startswith("bestmove") for line in said) == len(boards)
    rest = iter(boards)
    board = next(rest, None)
    for line in said:
        if board is not None and " pv " in line:
            play(board, line.split(" pv ")[1].split())
        if board is not None and line.startswith("bestmove"):
            assert (line == "bestmove (none)") == (not legal_moves(board)), fen.write(board)
            play(board, [] if line == "bestmove (none)" else line.split()[1::2])
            board = next(rest, None)


def play(board: Board, moves: list[str]) -> None:
    """Play moves on a copy. Raises ValueError if one is illegal."""
    at = board.copy()
    for text in moves:
        at.make(coordinate.parse(at, text))
