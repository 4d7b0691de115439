"""docs/plot.py: the places of recorded results, and the file of results."""

import datetime
import importlib
import json
import math
import sys
from typing import Any

from tests import ROOT

DOCS = ROOT / "docs"
sys.path.append(str(DOCS))
plot: Any = importlib.import_module("plot")

RECORDED = json.loads(plot.RESULTS.read_text(encoding="utf-8"))


def test_recorded_results_are_complete_and_recorded_once() -> None:
    fields = {"picture", "group", "what", "value", "interval", "when", "commit", "how"}
    for recorded in RECORDED:
        assert recorded["picture"] in plot.PLOTS, recorded
        assert recorded.keys() - {"claim"} == fields, recorded
        low, value, high = plot.span(recorded)
        assert -math.inf < low <= value <= high < math.inf, recorded
        assert recorded["how"], recorded
        if recorded["when"]:
            datetime.date.fromisoformat(recorded["when"])
    names = [one["what"] for one in RECORDED if one["picture"] == "strength"]
    assert len(names) == len(set(names)) <= 8, "the README's picture is short"


def test_scale_has_round_numbers() -> None:
    assert plot.steps(-666, 139) == [-600, -400, -200, 0]
    assert plot.steps(2150, 3526) == [2500, 3000, 3500]
    assert plot.powers(9740, 300e6) == [10.0**power for power in range(4, 9)]
    assert [plot.short(number) for number in (1, 9740, 2.03e6, 1e9)] == ["1", "9.74 k", "2.03 M", "1 G"]
