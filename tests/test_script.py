"""bench/script.py: how the scripts of bench/ end, when something is wrong and when they are interrupted."""

import argparse
import importlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from x88 import build

BENCH = Path(__file__).resolve().parent.parent / "bench"

sys.path.append(str(BENCH))
script: Any = importlib.import_module("script")

ANNOUNCED = (
    "import runpy, sys; sys.path.insert(0, {folder!r}); import script;"
    " install = script.interrupt_on_termination;"
    " script.interrupt_on_termination = lambda: (install(), print('READY', file=sys.stderr, flush=True));"
    " sys.argv = {arguments!r}; runpy.run_path(sys.argv[0], run_name='__main__')"
)
"""Runs a script that says when its `main` has begun."""


# --- Failures


@pytest.mark.parametrize("error", [ValueError("a reason"), OSError("a reason"), ImportError("a reason")])
def test_a_failure_is_one_line_and_exit_code_2(error: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    @script.command
    def main() -> int:
        raise error

    assert main() == 2
    assert capsys.readouterr() == ("", "a reason\n")


@pytest.mark.parametrize(("text", "told"), [("", "interrupted"), ("stopped: go on", "stopped: go on")])
def test_an_interrupt_is_one_line_and_exit_code_130(
    text: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    @script.command
    def main() -> int:
        raise KeyboardInterrupt(text)

    assert main() == 130
    assert capsys.readouterr() == ("", f"{told}\n")


def test_a_main_keeps_its_arguments_and_result_and_the_signals_are_as_before() -> None:
    @script.command
    def main(number: int, more: int = 0) -> int:
        assert signal.getsignal(signal.SIGTERM) is not before[1]
        return number + more

    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    assert main(3, more=4) == 7
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT for one process")
def test_a_second_interrupt_does_not_disturb_the_ending(capsys: pytest.CaptureFixture[str]) -> None:
    ended = []

    @script.command
    def main() -> int:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(10)
        finally:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.01)
            ended.append(True)
        return 0

    assert main() == 130
    assert ended == [True]
    assert capsys.readouterr().err == "interrupted\n"


def test_missing_packages_are_told_with_the_command_that_installs_them() -> None:
    script.require("bench", "argparse", "json")
    for packages, said in (
        (["no_such"], "no_such is not installed"),
        (["json", "no_such", "nor_this"], "no_such and nor_this are not installed"),
        (["a_a", "b_b", "c_c"], "a_a, b_b and c_c are not installed"),
    ):
        with pytest.raises(ImportError) as caught:
            script.require("bench", *packages)
        assert str(caught.value) == f'{said}: python -m pip install -e ".[bench]"'


@pytest.mark.parametrize("name", ["train", "wdl"])
def test_help_needs_no_package(name: str) -> None:
    """`-S` hides what is installed."""
    for words, code in (["--help"], 0), (["a.moff"], 2):
        ended = subprocess.run(
            [sys.executable, "-S", str(BENCH / f"{name}.py"), *words], capture_output=True, encoding="utf-8"
        )
        assert ended.returncode == code, ended.stderr
        told = ended.stderr if code else ended.stdout
        assert re.search(r"No module named '\w+': python -m pip install -e \"\.\[(train|tuning)\]\"$", told)
        assert ("The exit code is 0" in told) == (code == 0)


EXTRAS = ("tabulate", "tqdm", "matplotlib", "numpy", "scipy", "distributed")
WITHOUT_EXTRAS = (
    "import runpy, sys; sys.path.insert(0, {folder!r});"
    f" sys.modules.update(dict.fromkeys({EXTRAS!r}));"
    " sys.argv = {arguments!r}; runpy.run_path(sys.argv[0], run_name='__main__')"
)
"""Runs a script where the extras are not installed."""


@pytest.mark.parametrize(
    ("script", "command", "arguments", "extra"),
    [
        ("compare.py", [], [], "bench"),
        ("tune.py", ["search"], [], "tuning"),
        ("tune.py", ["screen"], ["a=1"], "tuning"),
        ("openings.py", [], ["--out", "/no/such/folder/x"], "bench"),
        ("scaling.py", [], [], "bench"),
        ("perft.py", [], [], "bench"),
        ("generators.py", [], [], "bench"),
    ],
)
def test_without_an_extra_there_is_help_and_the_command_that_installs_it(
    script: str, command: list[str], arguments: list[str], extra: str
) -> None:
    for words, code in ([*command, "--help"], 0), ([*command, *arguments], 2):
        source = WITHOUT_EXTRAS.format(folder=str(BENCH), arguments=[str(BENCH / script), *words])
        ended = subprocess.run(
            [sys.executable, "-c", source], capture_output=True, encoding="utf-8", timeout=300
        )
        assert ended.returncode == code, ended.stderr
        if code:
            assert ended.stdout == ""
            lines = [line for line in ended.stderr.splitlines() if build.compiled or line != build.notice()]
            assert len(lines) == 1
            assert f'not installed: python -m pip install -e ".[{extra}]"' in lines[0]
        else:
            assert ended.stderr == ""
            assert "usage: " in ended.stdout


def test_positive_takes_whole_numbers_from_1() -> None:
    assert script.positive("1") == 1
    for text in ("0", "-1", "x", "", "1.5", "²", "9" * 30):
        with pytest.raises(argparse.ArgumentTypeError):
            script.positive(text)


# --- Interrupts

SCRIPTS = {
    "perft": [],
    "openings": ["--out", "openings.epd", "--count", "99999"],
    "scaling": ["--depth", "99", "--hash", "1"],
    "tune screen": ["iir_depth=9", "--pairs", "99999", "--nodes", "50"],
    "tune search": ["--iterations", "99999", "--nodes", "50"],
}


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT for one process")
@pytest.mark.parametrize("delay", [0.0, 1.5])
@pytest.mark.parametrize("name", SCRIPTS)
def test_an_interrupted_script_says_so_in_one_line_and_leaves_nothing_running(
    tmp_path: Path, name: str, delay: float
) -> None:
    pytest.importorskip("tqdm", reason="the bench extra is not installed")
    if name.startswith("tune"):
        pytest.importorskip("scipy", reason="the tuning extra is not installed")
    file, *command = name.split()
    path = BENCH / f"{file}.py"
    arguments = [str(path), *command, *SCRIPTS[name]]
    mark = {**os.environ, "MOFF_TEST_MARK": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-c", ANNOUNCED.format(folder=str(BENCH), arguments=arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        cwd=tmp_path,
        env=mark,
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "READY\n"
    time.sleep(delay)
    process.send_signal(signal.SIGINT if delay else signal.SIGTERM)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 130, output + errors
    # Besides the bar.
    lines = [line for line in errors.splitlines() if line.strip() and "%|" not in line]
    lines = [line for line in lines if build.compiled or line != build.notice()]
    assert len(lines) == 1, errors
    assert lines[0].startswith("interrupted")
    assert "Traceback" not in errors
    assert not (tmp_path / "openings.epd").exists()
    deadline = time.monotonic() + 30
    while left := descendants(tmp_path):
        assert time.monotonic() < deadline, left
        time.sleep(0.1)


def descendants(mark: Path) -> list[int]:
    """The processes, where /proc tells, that were started with this mark in their environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes().split(b"\0")
            zombie = b") Z " in (process / "stat").read_bytes()
        except OSError:
            continue
        if f"MOFF_TEST_MARK={mark}".encode() in environment and not zombie:
            found.append(int(process.name))
    return found


DROPPING = """
import signal, sys, time
sys.path.insert(0, {folder!r})
import script

class Fleeting:
    def __del__(self):
        signal.raise_signal(signal.SIGTERM)

@script.command
def main():
    Fleeting()
    while True:  # a long sleep does not end on Windows
        time.sleep(0.1)

sys.exit(main())
"""


def test_an_interrupt_that_python_drops_is_raised_again() -> None:
    """What a destructor raises is only printed."""
    done = subprocess.run(
        [sys.executable, "-c", DROPPING.format(folder=str(BENCH))],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")
