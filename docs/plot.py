"""Recorded results (bench/results.json) as rows of dots with 95 % intervals, in SVG.

The file is a list of results in the order in which they are shown. Each has

    picture     strength, speed or nets
    group       the heading under which it stands
    what        the name that is shown
    value       strength: a rating on CCRL blitz; speed: nodes/s; nets: Elo
    interval    [low, high]: 95 % for Elo, the slowest and fastest run for speeds; null if none was recorded
    when        the day, as 2026-11-21; null for what others publish
    commit      that of the Moff that was measured; null for another engine
    how         the command, the games, or the source of a figure of others
    claim       true if its author gives the figure and nobody here has measured it
"""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from drawings import line, svg, text

RESULTS = Path(__file__).resolve().parent.parent / "bench" / "results.json"

LEFT, RIGHT, WIDTH, ROW = 268, 500, 600, 20
"""Pixels: the ends of the scale, the width, and the height of a row. The letters are legible on a phone."""

Result = dict[str, Any]
Span = tuple[float, float, float]
"""Low, value, high."""


def span(result: Result) -> Span:
    """The value of a result in its interval."""
    low, high = result["interval"] or (result["value"], result["value"])
    return low, result["value"], high


def short(number: float) -> str:
    """A number with three digits and G, M or k."""
    for unit, name in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= unit:
            return f"{number / unit:.3g}{name}"
    return f"{number:.3g}"


def elo(low: float, value: float, high: float, sign: str = "") -> str:
    """Elo with its error; of an uneven one, the larger half."""
    error = max(value - low, high - value)
    return f"{value:{sign}.0f}".replace("-", "−") + (f" ± {error:.0f}" if error else "")


class Plot(NamedTuple):
    """A plot's title, the label of its scale, and the text at the end of a row."""

    title: str
    label: str
    written: Callable[[float, float, float], str]
    is_logarithmic: bool = False


PLOTS = {
    "strength": Plot(
        "The strength of Moff and of other engines", "rating on the scale of CCRL blitz, Elo", elo
    ),
    "speed": Plot(
        "The speed of Moff and of others",
        "nodes/s",
        lambda _low, value, _high: short(value),
        is_logarithmic=True,
    ),
    "nets": Plot(
        "The networks, one after the other",
        "Elo against the hand-written evaluation, unless noted otherwise",
        lambda low, value, high: elo(low, value, high, "+"),
    ),
}


def draw(name: str) -> str:
    """A plot as SVG: circles are Moff, squares other engines, open diamonds claims."""
    plot = PLOTS[name]
    results = [one for one in json.loads(RESULTS.read_text(encoding="utf-8")) if one["picture"] == name]
    spans = [span(result) for result in results]
    least, most = min(low for low, _, _ in spans), max(high for _, _, high in spans)
    scaled = math.log if plot.is_logarithmic else float
    first, last = scaled(least), scaled(most)

    def x(value: float) -> float:
        return round(LEFT + (RIGHT - LEFT) * (scaled(value) - first) / (last - first), 1)

    groups = list(dict.fromkeys(result["group"] for result in results))
    bottom = 12 + ROW * (len(results) + len(groups))
    parts = []
    for tick in (powers if plot.is_logarithmic else steps)(least, most):
        parts.append(line(f"M{x(tick):g} 8V{bottom}", "line" if tick == 0 else "grid"))
        words = short(tick) if plot.is_logarithmic else elo(tick, tick, tick)
        parts.append(text(x(tick), bottom + 16, words, "faint", 12, "middle"))
    parts.append(text((LEFT + RIGHT) / 2, bottom + 36, plot.label, "faint", 12, "middle"))
    y = 12 - ROW // 2
    for group in groups:
        y += ROW
        parts.append(f'<g font-weight="bold">{text(12, y + 4, group, "text", 13)}</g>')
        for result, (low, value, high) in zip(results, spans, strict=True):
            if result["group"] != group:
                continue
            y += ROW
            colour = "accent" if result["commit"] else "other"
            parts.append(text(LEFT - 12, y + 4, result["what"], "text", 12, "end"))
            if low < high:
                bar = f"M{x(low):g} {y}H{x(high):g}M{x(low):g} {y - 3}v6M{x(high):g} {y - 3}v6"
                parts.append(line(bar, colour, ' stroke-width="1.5"'))
            words, shade = plot.written(low, value, high), "text"
            if "claim" in result:
                parts.append(line(f"M{x(value) - 5:g} {y}l5 -5l5 5l-5 5z", colour))
                words, shade = f"{words} (claim)", "faint"
            elif result["commit"]:
                parts.append(f'<circle cx="{x(value):g}" cy="{y}" r="4" class="fill-{colour}"/>')
            else:
                parts.append(f'<path d="M{x(value) - 4:g} {y - 4}h8v8h-8z" class="fill-{colour}"/>')
            parts.append(text(RIGHT + 12, y + 4, words, shade, 12))
    return svg(WIDTH, bottom + 46, plot.title, parts)


def steps(least: float, most: float) -> list[float]:
    """Round numbers between these, five at most."""
    step = next(step for step in (10, 20, 50, 100, 200, 500, 1000) if (most - least) / step < 4.5)
    return [step * number for number in range(math.ceil(least / step), math.floor(most / step) + 1)]


def powers(least: float, most: float) -> list[float]:
    """The powers of ten between these."""
    return [10.0**power for power in range(math.ceil(math.log10(least)), math.floor(math.log10(most)) + 1)]
