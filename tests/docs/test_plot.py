"""docs/plot.py: where recorded results stand, and that the recorded file is whole."""

import datetime
import importlib
import json
import math
import sys
from typing import Any

import pytest

from tests import ROOT

DOCS = ROOT / "docs"
sys.path.append(str(DOCS))
plot: Any = importlib.import_module("plot")

RECORDED = json.loads(plot.RESULTS.read_text(encoding="utf-8"))


def result(what: str, value: float, interval: list[float] | None, **more: str) -> dict[str, Any]:
    return {"what": what, "value": value, "interval": interval, **more}


def test_a_version_stands_as_far_from_another_as_it_was_measured() -> None:
    results = [
        result("old", -50, [-90, -20], against="new"),
        result("new", 3000, [2970, 3040]),
        result("other", 3400, None),
        result("won", 10, [-5, 20], against="other"),
    ]
    assert plot.placed(results) == [
        (2900, 2950, 3000),  # 30 and 40 are 50 together, below and above
        (2970, 3000, 3040),
        (3400, 3400, 3400),
        (3395, 3410, 3420),
    ]


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda one: f"{one['picture']} {one['what']}")
def test_a_recorded_result_says_what_was_measured_when_and_how(recorded: dict[str, Any]) -> None:
    assert recorded["picture"] in plot.PLOTS
    assert recorded.keys() - {"against", "claim"} == {
        *("picture", "group", "what", "value", "interval", "when", "commit", "how")
    }
    low, value, high = plot.span(recorded)
    assert -math.inf < low <= value <= high < math.inf
    assert recorded["how"]
    if recorded["when"]:
        datetime.date.fromisoformat(recorded["when"])
    assert recorded["picture"] == "strength" or "against" not in recorded


def test_no_strength_is_recorded_twice() -> None:
    names = [one["what"] for one in RECORDED if one["picture"] == "strength"]
    assert len(names) == len(set(names))


def test_the_scale_is_marked_at_round_numbers() -> None:
    assert plot.steps(-666, 139) == [-600, -400, -200, 0]
    assert plot.steps(2150, 3526) == [2500, 3000, 3500]
    assert plot.powers(9740, 300e6) == [10.0**power for power in range(4, 9)]
    assert [plot.short(number) for number in (1, 9740, 2.03e6, 1e9)] == ["1", "9.74 k", "2.03 M", "1 G"]
