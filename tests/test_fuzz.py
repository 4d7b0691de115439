"""Damaged UCI lines give limits in range, or info strings."""

from hypothesis import given

from moff.messages import LARGEST_NUMBER
from moff.uci.conversation import Engine
from moff.uci.go import parse_limits
from search.limits import Limits
from tests.strategies import BRIEF, ENDLESS, LINES, damaged, per_hundred
from x88.notation import fen


@per_hundred(100, 50)
@given(damaged(BRIEF + ENDLESS))
def test_a_go_line_brings_limits_in_range(text: str) -> None:
    limits, _ = parse_limits(text.split(), fen.parse(fen.START), Limits())
    for value in (limits.depth, limits.nodes, limits.mate, limits.movetime):
        assert value is None or 1 <= value <= LARGEST_NUMBER


SAID: list[str] = []
ENGINE = Engine(SAID.append)


@per_hundred(100, 50)
@given(damaged(LINES))
def test_a_line_without_a_search_brings_only_info_strings(text: str) -> None:
    if text.split()[:1] in (["setoption"], ["position"], ["debug"], ["register"]):
        SAID.clear()
        ENGINE.execute(text)
        assert all(line.startswith("info string ") and "\n" not in line for line in SAID), SAID
