"""No index leaves its array. The uncompiled source runs here with lists that refuse negative indices too;
bench/sanitize.sh watches the compiled modules.
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
from x88.notation import fen
from x88.perft.perft import Counter
from x88.perft.table import PerftTable

MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for folder in ("x88", "search")
    for path in sorted((ROOT / folder).rglob("*.pxd"))
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


@pytest.fixture
def strict(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make strict every table, and every array of the objects to come."""
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
        for name, value in list(vars(self).items()):
            if type(value) is list and all(isinstance(item, int) for item in value):
                setattr(self, name, Strict(value))

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
    counter = Counter(board)
    for other in (Counter(board, True), Counter(board, False, table)):
        assert counter.leaves_under([], 2) == other.leaves_under([], 2)


@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize("text", [*STARTS[:4], *benchmark.POSITIONS[::6]])
def test_the_search_keeps_within_its_arrays(text: str) -> None:
    Search(1).think(fen.parse(text), Limits(nodes=1500))
