"""No index leaves its array. Where C would read what lies beside it a list raises, but not for negative ones.

So the uncompiled source runs here with lists that refuse these too. What runs compiled is watched by
bench/sanitize.sh.
"""

import importlib
import inspect
from typing import Any

import pytest

from search import benchmark
from search.limits import Limits
from search.search import Search
from tests import ROOT
from tests.oracle import STARTS
from x88 import build, movegen
from x88.movegen import legal_moves
from x88.notation import fen
from x88.perft.perft import Counter
from x88.perft.table import PerftTable

MODULES = [
    f"{path.parent.name}.{path.stem}"
    for folder in ("x88", "search")
    for path in sorted(ROOT.glob(f"{folder}/*.pxd"))
]

pytestmark = pytest.mark.skipif(build.compiled, reason="compiled, arrays are C's")


class Strict(list[Any]):
    """A list as C has it: no index counts from the end."""

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, slice) and index < 0:
            raise IndexError(f"negative index {index}")
        return super().__getitem__(index)

    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(index, slice) and index < 0:
            raise IndexError(f"negative index {index}")
        super().__setitem__(index, value)


def harden(thing: Any) -> None:
    """Make the lists of numbers of a module or an object strict."""
    for name, value in list(vars(thing).items()):
        if type(value) is list and all(isinstance(item, int) for item in value):
            setattr(thing, name, Strict(value))


@pytest.fixture
def strict(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every table and every array of an object made from now on is strict."""
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name, value in list(vars(module).items()):
            if type(value) is list and value and all(isinstance(item, int) for item in value):
                monkeypatch.setattr(module, name, Strict(value))
            elif inspect.isclass(value) and value.__module__ == module_name and "__init__" in vars(value):
                monkeypatch.setattr(value, "__init__", hardening(value.__init__))
    monkeypatch.setattr(movegen, "_scratch", type(movegen._scratch)())


def hardening(begin: Any) -> Any:
    """The `__init__` of a class, and its lists made strict."""

    def wrapped(self: Any, *arguments: Any, **named: Any) -> None:
        begin(self, *arguments, **named)
        harden(self)

    return wrapped


@pytest.mark.usefixtures("strict")
def test_lists_are_strict_here() -> None:
    board = fen.parse(fen.START)
    with pytest.raises(IndexError, match="negative"):
        board.squares[-1]


@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize("text", STARTS)
def test_perft_keeps_within_its_arrays(text: str) -> None:
    board = fen.parse(text)
    table = PerftTable(1)
    for move in legal_moves(board):
        leaves = Counter(board).leaves_under([move], 1)
        assert leaves == Counter(board, True).leaves_under([move], 1)
        assert leaves == Counter(board, False, table).leaves_under([move], 1)
    assert Counter(board).leaves_under([], 2) == Counter(board, False, table).leaves_under([], 2)


@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize("text", [*STARTS[:4], *benchmark.POSITIONS[::6]])
def test_the_search_keeps_within_its_arrays(text: str) -> None:
    Search(1).think(fen.parse(text), Limits(nodes=1500))
