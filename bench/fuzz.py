"""Damaged input by the million: FEN, moves in coordinates and SAN, PGN, UCI options and positions, whole
conversations with their searches, and searches with a forged transposition table.

    python bench/fuzz.py --inputs 1000000 --seed 1
    python bench/fuzz.py --only PGN --only FEN
    python bench/fuzz.py --only conversations --only tables --inputs 20000 --threads 8

Every reader must answer any input or raise ValueError. Hypothesis generates the inputs, shrinks those that
fail, and prints them. The same seed gives the same inputs. The searches of conversations and tables draw
their number of threads from 1, 2 and 8, and get a hundredth of all inputs; one that takes two minutes ends
the run with the stacks of all threads.

Results go to standard output, progress to standard error. The exit code is 0, or 1 if a reader failed, 2
after wrong usage, 130 after an interrupt. Needs the `bench` and `test` extras.
"""

import contextlib
import io
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import script  # first: it puts this checkout on the path
from search_fuzz import TALKS, Conversation, Forgery

from moff.text import LARGEST_NUMBER
from moff.uci.conversation import Engine
from moff.uci.go import parse_limits
from search.benchmark import POSITIONS
from search.limits import Limits
from search.pool import MOST_THREADS
from x88 import coordinate, fen, pgn, san

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy
    from tqdm import tqdm

BOARDS = [fen.parse(text) for text in POSITIONS]
MOVES = ["e2e4", "e7e8q", "a1a1", "0000", "Nf3", "exd8=Q#", "O-O-O", "R1a3+", "e4", "Qh4xe1", "--", "N"]
GAMES = [
    '[White "A"]\n[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]\n\n1. e4 {a} e5 $1 (1... c5 2. Nf3) 2. Nf3 1/2-1/2\n',
    '[White "A"];x\n{y}\n[Round"1"]\n\n1. e4 {a} e5 $1 (1... c5 2. --) 2. Nf3 1/2-1/2\n',
    "1. e4 ± d5!!2.exd5 <x> Qxd5± (2...Nf6 3.d4→Nxd5) 3. Nc3 ½–½\n\n\ufeff1. ♘f3 Nf6 0000 1–0",
]
LIMITS = [
    "wtime 1000 btime -20 winc 10 binc 0 movestogo 40",
    "depth 5 searchmoves e2e4 a7a6 nodes 1000",
    "infinite ponder mate 3 movetime 99999999999999999999",
]
UCI = [
    "setoption name Hash value 1",
    "setoption name Clear Hash",
    "setoption name Move Overhead value 10",
    "setoption name UCI_ShowWDL value true",
    "setoption name MultiPV value 3",
    "setoption name nodestime value 9",
    "setoption name UCI_LimitStrength value true",
    "setoption name UCI_Elo value 1500",
    "setoption name UCI_AnalyseMode value false",
    "setoption name Ponder value true",
    "setoption name Threads value 2",
    "position startpos moves e2e4 e7e5",
    "debug on",
    "register later",
]


def damaged(texts: list[str]) -> "SearchStrategy[str]":
    """Texts with pieces of themselves and of others cut out, doubled or swapped, or arbitrary text."""
    from hypothesis import strategies as st

    pieces = sorted(
        {part for text in texts for part in text.replace("/", " ").split()} | {" ", "/", "-", "\0"}
    )
    cut = st.tuples(st.sampled_from(texts), st.integers(0, 120), st.integers(0, 20), st.sampled_from(pieces))
    one = cut.map(lambda c: c[0][: c[1]] + c[3] + c[0][c[1] + c[2] :])
    two = st.tuples(one, one, st.integers(0, 80)).map(lambda t: t[0][: t[2]] + t[1][t[2] :])
    return st.one_of(
        one, two, st.lists(st.sampled_from(pieces), max_size=12).map(" ".join), st.text(max_size=90)
    )


def read_fen(text: str) -> None:
    """A FEN that is read is written and read again. Text after it is reported or refused."""
    told: list[str] = []
    try:
        board = fen.parse(text)
    except ValueError:
        board = fen.parse(text, told)
        if not told:
            raise AssertionError("something is ignored without being reported") from None
    if fen.write(fen.parse(fen.write(board))) != fen.write(board):
        raise AssertionError("read and written, it is another position")


def read_move(text: str) -> None:
    """A move in coordinates that is read is written as it was."""
    for board in BOARDS[:8]:
        try:
            move = coordinate.parse(board, text)
        except ValueError:
            continue
        if coordinate.write(move) != text:
            raise AssertionError(f"read as {coordinate.write(move)}")


def read_san(text: str) -> None:
    """A move in SAN that is read is written and read again."""
    for board in BOARDS[:8]:
        before = fen.write(board)
        try:
            move = san.parse(board, text)
        except ValueError:
            continue
        finally:
            if fen.write(board) != before:
                raise AssertionError("the board has changed")
        if san.parse(board, san.write(board, move)) != move:
            raise AssertionError(f"{san.write(board, move)} is another move")


def read_pgn(text: str) -> None:
    """Games are read to the end, whatever their faults."""
    for game in pgn.Reader(io.BytesIO(text.encode("utf-8", "surrogatepass"))):
        game.as_dict()


SAID: list[str] = []
ENGINE = Engine(SAID.append)


def converse(text: str) -> None:
    """A line that starts no search yields nothing but info strings."""
    if text.split()[:1] not in (["setoption"], ["position"], ["debug"], ["register"]):
        return
    SAID.clear()
    ENGINE.execute(text)
    if wrong := [line for line in SAID if not line.startswith("info string ") or "\n" in line]:
        raise AssertionError(f"it answers {wrong}")


def read_limits(text: str) -> None:
    """Any `go` line yields valid limits."""
    limits, _ = parse_limits(text.split(), fen.parse(fen.START), Limits())
    for value in (limits.depth, limits.nodes, limits.mate, limits.movetime):
        if value is not None and not 1 <= value <= LARGEST_NUMBER:
            raise AssertionError(f"{value} is no limit")


def any_seed() -> "SearchStrategy[int]":
    """Seeds of a random generator."""
    from hypothesis import strategies as st

    return st.integers(0, 2**62)


class Reader(NamedTuple):
    """What reads inputs, what generates them, and their share of all inputs, in per cent of a usual share."""

    read: Callable[[Any], None]
    inputs: "Callable[[], SearchStrategy[Any]]"
    share: int = 100


CONVERSATION = Conversation()
FORGERY = Forgery()

TARGETS = {
    "FEN": Reader(read_fen, lambda: damaged(POSITIONS)),
    "coordinates": Reader(read_move, lambda: damaged(MOVES)),
    "SAN": Reader(read_san, lambda: damaged(MOVES)),
    "PGN": Reader(read_pgn, lambda: damaged(GAMES)),
    "limits": Reader(read_limits, lambda: damaged(LIMITS)),
    "UCI": Reader(converse, lambda: damaged([*UCI, *(f"position fen {text}" for text in POSITIONS)])),
    "conversations": Reader(CONVERSATION.read, lambda: damaged(TALKS), 3),
    "tables": Reader(FORGERY.read, any_seed, 3),
}


def fuzz(name: str, inputs: int, start: int, bar: "tqdm[Any]") -> None:
    """Throw `inputs` inputs at a reader. Raises what it does not turn into a ValueError."""
    from hypothesis import HealthCheck, Phase, given, seed, settings

    reader = TARGETS[name]

    @seed(start)
    @settings(
        max_examples=inputs,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(reader.inputs())
    def throw(text: Any) -> None:
        bar.update()
        with contextlib.suppress(ValueError):
            reader.read(text)

    throw()


@script.command
def main(arguments: list[str] | None = None) -> int:
    """Run; returns the exit code, 1 if something was found."""
    parser = script.parser(__doc__)
    parser.add_argument(
        "--inputs",
        type=script.positive,
        default=1_000_000,
        metavar="N",
        help="inputs for all readers together, default 1000000",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the inputs, default 0")
    parser.add_argument("--only", choices=TARGETS, action="append", help="only this reader; may be repeated")
    parser.add_argument(
        "--threads",
        type=script.positive,
        metavar="N",
        help="of the searches of conversations and tables (default: drawn from 1, 2 and 8)",
    )
    options = parser.parse_args(arguments)
    if options.threads and options.threads > MOST_THREADS:
        raise ValueError(f"--threads takes at most {MOST_THREADS}, not {options.threads}")
    CONVERSATION.threads = FORGERY.threads = options.threads or 0
    script.require("bench,test", "hypothesis", "tqdm")
    from tqdm import tqdm

    names = options.only or list(TARGETS)
    found = 0
    # In batches of a few thousand examples; with more, Hypothesis only gets slower.
    part = 5000
    whole = sum(TARGETS[name].share for name in names)
    shares = {name: -(-options.inputs * TARGETS[name].share // whole) for name in names}
    with tqdm(
        total=sum(shares.values()), unit="input", unit_scale=True, dynamic_ncols=True, disable=None
    ) as bar:
        for name, share in shares.items():
            bar.set_postfix_str(name)
            try:
                for number, begin in enumerate(range(0, share, part)):
                    fuzz(name, min(part, share - begin), options.seed * 1_000_003 + number, bar)
            except Exception as error:
                found += 1
                notes = "\n".join(getattr(error, "__notes__", []))
                tqdm.write(f"{name}: {type(error).__name__}: {error}\n{notes}")
    print(f"{found} of {len(names)} readers failed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
