"""Calls every documented function of the library with wrong arguments, in a child of test_library_fuzz.py.

    python -m tests.library_fuzz CALLS SEED FILE

FILE holds the last call begun, to be read after a crash. Each call must return or raise one of EXPECTED; the
others are printed, and the exit code is 1.
"""

import ast
import importlib
import io
import os
import random
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import moff
from search.benchmark import Bench, Settings
from search.limits import Limits
from search.nnue import select
from search.pool import Helper, Pool
from search.search import Search
from tests import ROOT
from tests.oracle import STARTS
from x88 import build
from x88.board import Board
from x88.movegen import legal_moves
from x88.notation import chess960, fen
from x88.perft.table import PerftTable

EXPECTED = (ValueError, TypeError, RuntimeError, MemoryError, OSError, OverflowError, LookupError)
"""OverflowError: a number that fits no integer of C. LookupError: asked of what is empty or shorter."""

LEFT_OUT = {
    "build.note_obstacle": "writes beside the sources",
    "build.record": "writes beside the sources",
    "Bench.run": "takes a minute",
    "Job.wait_for_release": "waits for a stop",
    "AnalysisResult.wait": "waits for a stop",
    "Search.wait": "waits for a stop",
    "Selfplay.play": "takes as long as its nodes say",
    "Helper.wait": "waits for a stop",
    "Board.check_invariants": "asserts",
    "Layer": "abstract",
    "GameNode": "abstract",
}

OFFERED = [value for name in moff.__all__ if callable(value := getattr(moff, name))]
"""By `import moff`: these refuse objects of other classes, too."""

SECONDS = 60
"""A call that takes longer hangs."""

NUMBERS = [*range(-2, 9), 12, 15, 16, 31, 32, 63, 64, 100, 119, 127, 128, 136, 137, 255, 256, 448, 512, 1000]
NUMBERS += [4095, 4096, 10**6, 10**8, 10**9, 2**31 - 1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1, 2**64]
NUMBERS += [-8, -17, -128, -(10**6), -(2**31), -(2**63), 10**30, -(10**30)]
SMALL = [-(10**30), -(2**31), -1, 0, 1, 2, 3, 10**6, 2**31, 10**30]
"""For parameters in SLOW: a valid large number would take for ever."""
SLOW = {"depth", "threads", "megabytes", "hash", "times", "plies", "min_games", "nodes", "last", "entries"}
SLOW |= {"mate"}

WRONG = [
    *(None, True, False, 0.5, -1.0, float("nan"), float("inf"), "", "e4", "e2e4", "x" * 3000, "\0", "\ud800"),
    *(b"", b"e4", [], [1], [None] * 3, (), (1, 2), {}, {0: 3}, {4: 19, 0x74: 35}, {10**6: 18}, set()),
    *(object(), print, int, iter(()), io.BytesIO(b"1. e4 *"), fen.START, Ellipsis, 1j, slice(0), range(5)),
]

FENS = [*STARTS[::3], "R3k3/8/4K3/8/8/8/8/8 b - - 0 1", "8/8/4k3/8/8/4K3/8/8 w - - 99 80", chess960.start(17)]
TEXTS = ["e2e4", "Nf3", "O-O", "1-0", "KQvK", ".rtbw", "KRvK.rtbz", "moff.net", "e9"]
PIECES = [17, 18, 19, 20, 24, 28, 33, 35, 44]


class Function(NamedTuple):
    """Something public to call: its name, its parameters and their annotations."""

    name: str
    target: Callable[..., Any]
    parameters: list[tuple[str, str]]
    required: int
    owner: type | None = None
    """The class of a method."""


def documented() -> list[str]:
    """The modules that the pages of the library list, and those of what it offers."""
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("api*.md"))
    offered = [value for name in moff.__all__ if hasattr(value := getattr(moff, name), "__name__")]
    names = {str(getattr(value, "__module__", None) or getattr(value, "__name__", "")) for value in offered}
    own = {name for name in names if name.partition(".")[0] in ("moff", "x88", "search")}
    return sorted({*re.findall(r"automodule:: (\S+)", pages), *own})


def only_for_c(module: str) -> set[str]:
    """The functions that a header gives to C alone; compiled, Python cannot see them."""
    header = ROOT / f"{module.replace('.', '/')}.pxd"
    text = header.read_text(encoding="utf-8") if header.exists() else ""
    return set(re.findall(r"^\s*cdef [^(\n=]*?(\w+)\(", text, re.MULTILINE))


def functions() -> Iterator[Function]:
    """All public functions, classes and methods of the documented modules, from their sources."""
    for name in documented():
        module = importlib.import_module(name)
        hidden = only_for_c(name)
        source = ROOT / f"{name.replace('.', '/')}.py"
        for node in ast.parse(source.read_text(encoding="utf-8")).body:
            short = name.rpartition(".")[2]
            if isinstance(node, ast.FunctionDef) and is_public(node.name) and node.name not in hidden:
                yield function(f"{short}.{node.name}", getattr(module, node.name), node)
            elif isinstance(node, ast.ClassDef) and is_public(node.name):
                owner = getattr(module, node.name)
                methods = [item for item in node.body if isinstance(item, ast.FunctionDef)]
                starts = [method for method in methods if method.name == "__init__"]
                yield function(node.name, owner, starts[0]) if starts else fields(node, owner)
                for method in methods:
                    if is_public(method.name) and method.name not in hidden and not method.decorator_list:
                        target = getattr(owner, method.name)
                        yield function(f"{node.name}.{method.name}", target, method)._replace(owner=owner)


def is_public(name: str) -> bool:
    return not name.startswith("_")


def function(name: str, target: Callable[..., Any], node: ast.FunctionDef) -> Function:
    arguments = [argument for argument in node.args.args if argument.arg != "self"]
    parameters = [(each.arg, ast.unparse(each.annotation) if each.annotation else "") for each in arguments]
    return Function(name, target, parameters, len(parameters) - len(node.args.defaults))


def fields(node: ast.ClassDef, owner: type) -> Function:
    """A class without `__init__`; a named tuple takes its fields."""
    named = [item for item in node.body if isinstance(item, ast.AnnAssign) and issubclass(owner, tuple)]
    parameters = [(ast.unparse(item.target), ast.unparse(item.annotation)) for item in named]
    return Function(node.name, owner, parameters, sum(item.value is None for item in named))


def shown(arguments: list[Any]) -> str:
    """The arguments as text, as far as they have one."""
    try:
        return repr(tuple(arguments))[:3000]
    except Exception as error:
        return f"(... {error})"


class Fuzzer:
    """The objects that calls are made with, and on."""

    def __init__(self, seed: int, file: int) -> None:
        self.chance = random.Random(seed)
        self.file = file
        self.functions = [each for each in functions() if each.name not in LEFT_OUT]
        self.offered = {
            each.name for each in self.functions if each.target in OFFERED or each.owner in OFFERED
        }
        self.classes = {each.target for each in self.functions if isinstance(each.target, type)}
        self.boards = [self.board() for _ in range(6)]
        self.live: dict[type, list[Any]] = {}
        self.failures: dict[str, str] = {}
        self.search = Search(1)
        weights = select.shipped()
        pools = self.search, Pool(1), Bench(Settings(1)), PerftTable(1)
        mine = [moff.Board(text, chess960=True) for text in FENS[:3]]
        moves = [move for board in mine for move in board.legal_moves]
        for thing in (*pools, weights, select.layer(weights), *mine, *moves[:40:10], moff.Engine(1, 1)):
            self.keep(thing)

    def board(self) -> Board:
        """A board, sometimes with a game of thousands of moves behind it, or empty."""
        if self.chance.random() < 0.1:
            return Board()
        board = fen.parse(self.chance.choice(FENS), chess960=True)
        for _ in range(self.chance.choice((0, 0, 5, 60, 4200 if build.compiled else 300))):
            moves = legal_moves(board)
            if not moves:
                break
            board.make(self.chance.choice(moves))
        return board

    def keep(self, thing: Any) -> None:
        """Keep an object to call its methods and to pass it on."""
        for base in type(thing).__mro__:
            kept = self.live.setdefault(base, [])
            if len(kept) < 4:
                kept.append(thing)
            elif not isinstance(thing, Search):
                kept[self.chance.randrange(4)] = thing

    def value(self, name: str, annotation: str) -> Any:
        """A value for a parameter: mostly of its type, but seldom the right one."""
        chance = self.chance
        if chance.random() < 0.15:
            return chance.choice(WRONG)
        if "Limits" in annotation:
            return self.limits()
        if "Limit" in annotation:
            return chance.choice((moff.Limit(time=0.001), moff.Limit(depth=1), moff.Limit()))
        if "Board" in annotation:
            return chance.choice((*self.boards, *self.live.get(moff.Board, ())))
        kinds = [kind for kind in self.live if kind.__name__ in re.findall(r"\w+", annotation)]
        if kinds and chance.random() < 0.8:
            return chance.choice(self.live[chance.choice(kinds)])
        if "Callable" in annotation:
            return lambda *_: None
        if "move" in name or (annotation == "int" and chance.random() < 0.2):
            moves = legal_moves(chance.choice(self.boards))
            if moves:
                return moves * 60 if "list" in annotation else chance.choice(moves)
        if "str" in annotation:
            return chance.choice((*FENS, *TEXTS))
        if "dict" in annotation or "Mapping" in annotation:
            squares = chance.sample(range(-20, 200), chance.randrange(40))
            return {square: chance.choice((*PIECES, *NUMBERS)) for square in squares}
        if any(kind in annotation for kind in ("list", "tuple", "Sequence", "Iterable", "Collection")):
            return [chance.choice(NUMBERS) for _ in range(chance.choice((0, 1, 2, 4, 500)))]
        return chance.choice(SMALL if name in SLOW else NUMBERS)

    def limits(self) -> Limits:
        """Limits that end a search soon, or wrong ones."""
        chance = self.chance
        few = Limits(movetime=1)
        field = chance.choice(sorted({*Limits._fields} - {"movetime", "infinite", "ponder"}))
        numbers = SMALL[:6] if field == "nodestime" else NUMBERS
        return few._replace(**{field: chance.choice((*WRONG, *numbers))}) if chance.random() < 0.5 else few

    def call(self) -> None:
        """One call."""
        chosen = self.chance.choice(self.functions)
        if chosen.target in (Helper, Pool, Search, Bench) and self.chance.random() < 0.9:
            return  # megabytes and threads
        arguments = [self.value(*parameter) for parameter in chosen.parameters]
        if chosen.required < len(arguments):
            arguments = arguments[: self.chance.randint(chosen.required, len(arguments))]
        if self.chance.random() < 0.02:
            arguments = arguments[:-1] if arguments else [None]
        on: list[Any] = []
        if chosen.owner is not None:
            kept = self.boards if chosen.owner is Board else self.live.get(chosen.owner)
            if not kept:
                return
            on = [self.chance.choice(kept if self.chance.random() < 0.98 else WRONG)]
        self.note(chosen.name + shown(arguments))
        try:
            found = chosen.target(*on, *arguments)
            if isinstance(found, Iterator):
                for _ in islice(found, 30):
                    pass
        except EXPECTED:
            return
        except Exception as error:
            is_wrong = bool(on) and not isinstance(on[0], chosen.owner)  # type: ignore[arg-type]
            is_checked = build.compiled and chosen.name in self.offered  # uncompiled, Python complains
            if type(error) is AttributeError and (is_wrong or not is_checked):
                return  # of an object of another class
            text = f"{chosen.name}{shown(arguments):.300}: {type(error).__name__}: {error!s:.200}"
            self.failures.setdefault(f"{chosen.name} {type(error).__name__}", text)
            return
        if isinstance(found, Helper):
            found.end()
        elif isinstance(found, Board):
            self.boards[self.chance.randrange(len(self.boards))] = found
        elif type(found) in self.classes:
            self.keep(found)

    def note(self, text: str) -> None:
        """Write the call that follows to the file."""
        os.pwrite(self.file, text.encode("utf-8", "backslashreplace")[:3999].ljust(4000), 0)
        if hasattr(signal, "alarm"):
            signal.alarm(SECONDS)  # ends the process

    def run(self, calls: int) -> None:
        """Call, a part of the time while a search runs."""
        for number in range(calls):
            if number % 500 == 0:
                self.boards[self.chance.randrange(len(self.boards))] = self.board()
                self.search.stop()
                self.search.wait()
            elif number % 500 == 400:
                self.search.stop()
                self.search.wait()
                board = fen.parse(self.chance.choice(FENS))
                self.note("Search.start")
                self.search.start(board, Limits(infinite=True), lambda _: None, lambda _: None)
            self.call()
        self.search.stop()
        self.search.wait()


def main() -> int:
    calls, seed, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    threading.excepthook = lambda _: None  # errors of the threads of searches with wrong callbacks
    sys.unraisablehook = lambda _: None
    os.chdir(Path(path).parent)
    fuzzer = Fuzzer(seed, os.open(path, os.O_RDWR | os.O_CREAT))
    fuzzer.run(calls)
    print(len(fuzzer.functions), "functions")
    for text in sorted(fuzzer.failures.values()):
        print(text)
    return 1 if fuzzer.failures else 0


if __name__ == "__main__":
    sys.exit(main())
