"""The search's numbers: a field for every name of the table, a name for every field, values that count."""

import re

import pytest

from search.limits import Limits
from search.parameters import Parameters
from search.search import Search
from search.tuned import SEARCH
from tests import ROOT
from tests.oracle import scaled
from tests.searches import think
from x88 import build

HEADER = ROOT / "search" / "parameters.pxd"


def test_the_header_has_a_field_for_every_name_of_the_table() -> None:
    fields = re.findall(r"^    cdef public int (\w+)$", HEADER.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(fields) == len(set(fields))
    assert set(fields) == SEARCH.keys()


def test_parameters_have_the_table_s_values_or_those_given() -> None:
    table = {name: value for name, (value, _, _) in SEARCH.items()}
    other = {name: value + 1 for name, value in table.items()}
    for given in ({}, None, other, {"delta_margin": 7}):
        found = Parameters(given)
        assert {name: getattr(found, name) for name in SEARCH} == table | (given or {})


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        *((name, 1, re.escape(repr(name))) for name in ("Delta", "reductions", "no_such_name", "")),
        ("delta_margin", 32_001, "delta_margin lies between .* not at 32001$"),
        ("lmr_base", -(2**40), "lmr_base lies between .* not at -"),
    ],
)
def test_parameters_refuse_unknown_names_and_useless_values(name: str, value: int, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Parameters({"delta_margin": 1, name: value})
    assert Parameters({"delta_margin": 32_000, "lmr_base": -32_000}).lmr_base == -32_000


def test_every_value_lies_within_its_range() -> None:
    for name, (value, least, most) in SEARCH.items():
        assert least <= value <= most, name
        assert least < most, name


POSITIONS = [
    "r2q1rk1/2pbbppp/p1np1n2/1p2p3/P3P3/1BPP1N2/1P1N1PPP/R1BQ1RK1 b - - 2 10",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
]


def counts(values: dict[str, int]) -> list[int]:
    search = Search(1, Parameters(values))
    found = []
    for text in POSITIONS[: scaled(3, 1)]:
        search.new_game()
        found.append(think(text, Limits(depth=scaled(10, 4)), search)[0].nodes)
    return found


@pytest.fixture(scope="module")
def usual() -> list[int]:
    return counts({})


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", SEARCH if build.compiled else ["reverse_futility", "delta_margin", "lmr_slope"]
)
def test_every_parameter_changes_the_nodes(usual: list[int], name: str) -> None:
    """A step that is gone, or looks at another number, searches the same nodes whatever its own says."""
    value, least, most = SEARCH[name]
    assert counts({name: value}) == usual
    assert counts({name: least if value != least else most}) != usual
