"""bench/plot.py: what it draws of recorded results, what it does not take, and how a suite is recorded."""

import importlib
import importlib.util
import json
import math
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "bench"))
plot: Any = importlib.import_module("plot")

PICTURES = ROOT / "docs" / "pictures"
COMMON = {"value": 2, "interval": [1, 4], "when": "2026-11-22", "commit": "0123abc", "how": "by hand"}
OWN = {
    "strength": {"group": "Moff"},
    "speed": {"group": "Search"},
    "threads": {"threads": 2},
    "suites": {"group": "Win At Chess"},
    "solved": {"positions": 4, "nodes": [10, 20, 4000], "nodes_per_second": 1000},
    "nets": {"group": "1 s"},
}

drawing = pytest.mark.skipif(
    importlib.util.find_spec("matplotlib") is None, reason="the bench extra is not installed"
)


def entry(picture: str = "strength", what: str = "first", **changes: Any) -> dict[str, Any]:
    """A result of a picture, as it is recorded."""
    return {"picture": picture, "what": what, **COMMON, **OWN[picture], **changes}


def read(path: Path, *entries: Any) -> list[Any]:
    """What is read of a file of these results."""
    path.write_text(json.dumps(entries), encoding="utf-8")
    results: list[Any] = plot.read_results(path)
    return results


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "results.json"


# The file


def test_the_recorded_results_are_read_and_every_picture_has_some() -> None:
    found = {result.picture for result in plot.read_results(plot.RESULTS)}
    assert found == plot.FIGURES.keys()


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in entry().items() if name != key}


@pytest.mark.parametrize(
    ("damaged", "reason"),
    [
        *((without(key), f"{key} missing") for key in ("what", "value", "interval", "when", "commit", "how")),
        (without("group"), "'first': group missing"),
        (without("picture"), "picture is one of strength, speed"),
        (entry(picture="strength", colour="red"), "'first': colour unknown"),
        ({**entry(), "picture": "weakness"}, "not 'weakness'"),
        ({**entry(), "picture": ["strength"]}, "not ['strength']"),
        (entry(value="2"), "value is a number, not '2'"),
        (entry(value=True), "value is a number, not True"),
        (entry(value=math.nan), "value is a number, not nan"),
        (entry(value=5), "the value 5 is not within its interval 1 to 4"),
        (entry(interval=2), "interval is [low, high] or null, not 2"),
        (entry(interval=[1, None]), "interval is a number, not None"),
        (entry(when="yesterday"), "yesterday"),
        (entry(commit=7), "commit is a text or null, not 7"),
        (entry(how=""), "how is a text, not ''"),
        (entry(claim=False), "claim is true or not there, not False"),
        (entry("speed", value=1, interval=[0, 2]), "0 is not above 0"),
        (entry("threads", threads=0), "threads is a whole number from 1 up, not 0"),
        (entry("solved", nodes=[0]), "nodes is a list of whole numbers from 1 up"),
        (entry("solved", positions=2), "3 of 2 positions are solved"),
        (entry("solved", nodes_per_second=0), "nodes_per_second is not above 0"),
        (entry("nets", against="x"), "against unknown"),
        ("first", '"first" is no object'),
    ],
)
def test_a_damaged_result_is_named(file: Path, damaged: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"{file}, result 2")) as raised:
        read(file, entry(what="whole"), damaged)
    assert reason in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "reason"), [("[{", "line 1"), ('{"picture": "nets"}', "no list of results")]
)
def test_a_file_that_holds_no_results_is_one_error(file: Path, text: str, reason: str) -> None:
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(str(file))) as raised:
        plot.read_results(file)
    assert reason in str(raised.value)


# Strength


def test_a_version_stands_as_far_from_another_as_it_was_measured(file: Path) -> None:
    results = read(
        file,
        entry(what="old", value=-50, interval=[-90, -20], against="new"),
        entry(what="new", value=3000, interval=[2970, 3040]),
        entry(what="other", value=3400, interval=None, commit=None),
        entry(what="won", value=10, interval=[-5, 20], against="other"),
        entry(what="guess", value=10, interval=None, against="new"),
    )
    assert plot.placed(results) == [
        (2950, (2900, 3000)),  # 30 and 40 are 50 together, below and above
        (3000, (2970, 3040)),
        (3400, None),
        (3410, (3395, 3420)),
        (3010, None),
    ]


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ([entry(against="second")], "'first': there is no 'second'"),
        ([entry(against="first")], "'first': 'first' is itself placed by it"),
        ([entry(against="b"), entry(what="b", against="first")], "'b': 'first' is itself placed by it"),
        ([entry(), entry()], "'first' is there twice"),
    ],
)
def test_what_cannot_be_placed_is_named(file: Path, entries: list[Any], reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"strength {reason}")):
        plot.placed(read(file, *entries))


# Drawing


def drawn(name: str, results: list[Any]) -> tuple[set[float], set[str]]:
    """The numbers at which a picture's lines and bars stand, and its texts."""
    figure = plot.FIGURES[name]([one for one in results if one.picture == name], plot.COLOURS["light"])
    (axes,) = figure.axes
    numbers = {float(one) for line in axes.lines for one in (*line.get_xdata(), *line.get_ydata())}
    for bar in axes.collections:
        numbers |= {float(one) for segment in bar.get_segments() for one in segment.ravel()}
    return numbers, {text.get_text() for text in axes.texts}


@drawing
@pytest.mark.parametrize("name", ["strength", "speed", "suites", "nets"])
def test_rows_show_what_is_recorded_and_nothing_else(file: Path, name: str) -> None:
    plain = {"interval": None, "commit": None}
    results = read(
        file, entry(name, "first", value=7.5, interval=[6.25, 9.75]), entry(name, "second", value=33, **plain)
    )
    numbers, texts = drawn(name, results)
    rows = {0.0, 1.0, 2.0}  # also the ends of a row's line, and the line at 0
    assert numbers - rows == {7.5, 6.25, 9.75, 33.0}
    assert {OWN[name]["group"], "second"} <= texts
    assert any(text.startswith("first") for text in texts)
    assert len(texts) == 5


@drawing
def test_more_threads_are_drawn_at_their_ratios(file: Path) -> None:
    results = read(
        file,
        entry("threads", "nodes/s", value=3.5, interval=[3.25, 3.75], threads=4),
        entry("threads", "nodes/s", value=1.875, interval=None, threads=2),
    )
    numbers, texts = drawn("threads", results)
    assert {1.0, 1.875, 3.5, 3.25, 3.75} <= numbers
    assert texts == {"3.50  nodes/s"}
    with pytest.raises(ValueError, match="threads 'nodes/s': a number of threads is there twice"):
        drawn("threads", read(file, entry("threads", "nodes/s"), entry("threads", "nodes/s")))


@drawing
def test_solved_positions_are_drawn_at_their_seconds(file: Path) -> None:
    numbers, texts = drawn("solved", read(file, entry("solved", "WAC")))
    assert numbers == {0.01, 0.02, 4.0, 25.0, 50.0, 75.0}
    assert texts == {"3 of 4, WAC"}


def test_a_path_keeps_its_numbers() -> None:
    text = '  <path id="a b" d="M 1 -2 \nL 3.5678 1.2345e-05 \nz\n" transform="scale(0.015625)"/>\n'
    text += '  <g id="M 1" transform="translate(63.671875 0.5)"><use href="#DejaVuSans-41"/></g>\n'
    wanted = '<path id="a b" d="M1 -2L3.57 1.2345e-05z" transform="scale(0.015625)"/>\n'
    wanted += '<g id="M 1" transform="translate(63.67 0.5)"><use href="#s41"/></g>\n'
    assert plot.compact(text) == wanted


def test_other_colours_are_the_same_drawing() -> None:
    light, dark = plot.COLOURS["light"], plot.COLOURS["dark"]
    text = f"fill: {light.text}; stroke: {light.moff}; id: #m0123abcdef; white: #ffffff"
    assert plot.recoloured(text, light, dark) == text.replace(light.text, dark.text).replace(
        light.moff, dark.moff
    )
    assert len(set(light)) == len(set(dark)) == len(light), "each stands for one thing"


def test_labels_are_spread_in_their_order() -> None:
    assert plot.spread([2.0, 1.0, 2.0], 0.5) == pytest.approx([2 - 1 / 6, 1 - 1 / 6, 2.5 - 1 / 6])
    places = plot.spread([5.0, 5.0, 1.0], 1.0)
    assert places[1] - places[0] == pytest.approx(1.0)
    assert places[2] < places[0]
    assert plot.spread([], 1.0) == []


@drawing
def test_the_pictures_of_the_pages_are_those_that_the_script_draws(tmp_path: Path) -> None:
    """Byte by byte if they were drawn by the matplotlib that is here."""
    import matplotlib

    assert plot.main(["--folder", str(tmp_path)]) == 0
    made = sorted(path.name for path in tmp_path.iterdir())
    found = {result.picture for result in plot.read_results(plot.RESULTS)}
    assert made == sorted(f"{name}-{scheme}.svg" for name in found for scheme in ("dark", "light"))
    for name in made:
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert len(text.encode()) < 100_000, name
        assert "</svg>" in text
        kept = (PICTURES / name).read_text(encoding="utf-8")
        version = re.search(r"Matplotlib v([\w.]+)", kept)
        assert version, name
        if version[1] == matplotlib.__version__:
            assert text == kept, f"{name}: python bench/plot.py"
    others = {f"{name}-{scheme}.svg" for name in plot.FIGURES.keys() - found for scheme in plot.COLOURS}
    assert not [name for name in others if (PICTURES / name).exists()], "drawn from no result"


def test_every_picture_is_on_a_page_with_its_command_light_and_dark() -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md"))
    for picture in {result.picture for result in plot.read_results(plot.RESULTS)}:
        assert f"`python bench/plot.py {picture}`" in pages
        dark, light = (f"pictures/{picture}-{scheme}.svg" for scheme in ("dark", "light"))
        source = f'<source media="(prefers-color-scheme: dark)" srcset="{dark}">'
        assert f'<picture>\n  {source}\n  <img src="{light}" width="' in pages
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert 'media="(prefers-color-scheme: dark)" srcset="docs/pictures/strength-dark.svg"' in readme


# The command


@pytest.fixture
def no_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plot, "draw", lambda name, _results: {"dark": f"{name} dark"})
    monkeypatch.setattr(plot.script, "require", lambda *_names: None)


def answer(solved: int | None) -> str:
    return json.dumps({"solved": solved is not None, "solved_nodes": solved})


def test_a_suite_is_recorded_and_replaced(file: Path, tmp_path: Path, no_drawing: None) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a Git checkout, whose commit would be recorded")
    kept = entry("nets")
    read(file, kept)
    printed = tmp_path / "wac.jsonl"
    command = ["solved", "--results", str(file), "--folder", str(tmp_path / "x"), "--record", str(printed)]
    command += ["--what", "WAC", "--how", "epd.py --nodes 9", "--nodes-per-second", "1000"]
    for answers in ([9, None, 3], [None, 4, 5, 6]):
        printed.write_text("\n".join(map(answer, answers)) + "\n", encoding="utf-8")
        assert plot.main(command) == 0
        first, last = json.loads(file.read_text(encoding="utf-8"))
        assert first == kept
        assert last["nodes"] == sorted(one for one in answers if one is not None)
        assert last["positions"] == len(answers)
    assert last["value"] == 75.0
    assert (tmp_path / "x" / "solved-dark.svg").read_text(encoding="utf-8") == "solved dark"
    assert len(plot.read_results(file)) == 2


@pytest.mark.parametrize("text", ["", "{}", "[]", "x", '{"solved": false}', '{"solved": true}'])
def test_what_is_no_suite_is_not_recorded(
    file: Path, tmp_path: Path, no_drawing: None, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    read(file, entry("nets"))
    before = file.read_bytes()
    printed = tmp_path / "wac.jsonl"
    printed.write_text(text + "\n" * bool(text), encoding="utf-8")
    command = ["--results", str(file), "--record", str(printed), "--what", "WAC", "--how", "x"]
    assert plot.main([*command, "--nodes-per-second", "1"]) == 2
    assert str(printed) in capsys.readouterr().err
    assert file.read_bytes() == before


def test_the_recorded_file_is_written_as_it_is_kept() -> None:
    text = plot.RESULTS.read_text(encoding="utf-8")
    assert plot.written(json.loads(text)) == text


@drawing
def test_a_picture_without_a_result_is_an_error_and_writes_nothing(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    read(file, entry("nets"))
    folder = tmp_path / "pictures"
    assert plot.main(["nets", "speed", "--results", str(file), "--folder", str(folder)]) == 2
    assert capsys.readouterr().err.endswith("there is no result for the picture 'speed'\n")
    assert not folder.exists()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["weakness"], "there is no picture 'weakness'"),
        (["--record", "x"], "--record needs --what, --how and --nodes-per-second"),
    ],
)
def test_wrong_usage(arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    run: Callable[[list[str]], int] = plot.main
    with pytest.raises(SystemExit) as raised:
        run(arguments)
    assert raised.value.code == 2
    assert reason in capsys.readouterr().err
