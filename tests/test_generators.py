"""bench/generators.py: what a user sees of it, and that no generator's figure comes without its check."""

import subprocess
import sys
from pathlib import Path

import pytest

from x88 import build

pytest.importorskip("tabulate", reason="the bench extra is not installed")
pytest.importorskip("tqdm", reason="the bench extra is not installed")

SCRIPT = Path(__file__).resolve().parent.parent / "bench" / "generators.py"
BUILDS = ["compiled", "uncompiled"] if build.compiled else ["uncompiled"]


def generators(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the script with little to do."""
    command = [sys.executable, str(SCRIPT), "--runs", "1", "--seconds", "0", *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)


def test_all_generators_find_the_same() -> None:
    ended = generators()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    rows = [line.split("  ")[0] for line in ended.stdout.splitlines()]
    for name in BUILDS:
        for design in ("moff loop", "linked rays", "linked rays, from the front"):
            assert f"{design}, {name}" in rows
    assert "10x12 mailbox" in rows
    assert "python-chess" in rows
    for header in ("perft nodes/s", "captures/s", "attack tests/s", "quiescence nodes/s"):
        assert header in ended.stdout
    assert ended.stdout.splitlines()[-1] == "All found the same."


def test_only_what_is_asked_for_is_measured() -> None:
    ended = generators("--only", "moff loop", "linked rays", "--what", "captures", "--no-pure")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "captures/s" in ended.stdout
    for absent in ("perft nodes/s", "mailbox", "python-chess", "from the front"):
        assert absent not in ended.stdout
    assert ("uncompiled" in ended.stdout) is (not build.compiled)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--only", "bitboards"],
        ["--what", "speed"],
        ["--runs", "0"],
        ["--seconds", "-1"],
        ["--chart", "chart.txt"],
        ["--only", "10x12 mailbox", "--what", "quiescence"],
    ],
)
def test_wrong_usage_ends_with_2_and_prints_no_table(arguments: list[str]) -> None:
    ended = generators(*arguments)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr


def test_a_chart_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the bench extra is not installed")
    chart = tmp_path / "chart.svg"
    ended = generators("--only", "moff loop", "--what", "captures", "--no-pure", "--chart", str(chart))
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "<svg" in chart.read_text(encoding="utf-8")


def test_a_generator_that_finds_something_else_is_named(tmp_path: Path) -> None:
    """With a mailbox that knows no knights."""
    code = (
        f"import runpy, sys; sys.path.insert(0, {str(SCRIPT.parent)!r}); "
        "from tests import mailbox; mailbox.VECTORS['n'] = (); "
        f"sys.argv = ['generators.py', *{['--runs', '1', '--seconds', '0', '--no-pure']}, '--only', "
        "'moff loop', '10x12 mailbox', '--what', 'perft', 'captures', 'attacks']; "
        f"runpy.run_path({str(SCRIPT)!r}, run_name='__main__')"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        cwd=SCRIPT.parent.parent,
    )
    assert ended.returncode == 1, ended.stdout + ended.stderr
    different = ended.stdout.partition("Not all found the same:")[2]
    for work in ("perft of up to", "captures:", "attacks:"):
        assert work in different
    assert "by 10x12 mailbox" in different
    assert "by the published counts" in different
