"""bench/script.py: the programs of bench/ end with a code and one line after failures and interrupts."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import script

from tests.programs import BENCH


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        *((kind("a reason"), 2, "a reason\n") for kind in (ValueError, OSError, ImportError, MemoryError)),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (KeyboardInterrupt("stopped: go on"), 130, "stopped: go on\n"),
    ],
)
def test_failure_is_one_line_and_a_code(
    error: BaseException, code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    @script.command
    def main() -> int:
        raise error

    assert main() == code
    assert capsys.readouterr() == ("", told)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT for one process")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_is_an_interrupt(number: int) -> None:
    waiting = "script.command(lambda: print('ready', flush=True) or time.sleep(99))()"
    program = f"import sys, time; sys.path.append({str(BENCH)!r}); import script; sys.exit({waiting})"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", program], stdout=pipe, stderr=pipe) as process:
        process.stdout.readline()
        process.send_signal(number)
        assert (process.wait(60), process.stderr.read()) == (130, b"interrupted\n")


@pytest.mark.parametrize("name", ["train", "wdl"])
def test_help_needs_no_package(name: str) -> None:
    """`-S` hides what is installed."""
    for words, code in (["--help"], 0), (["a.moff"], 2):
        command = [sys.executable, "-S", str(BENCH / f"{name}.py"), *words]
        ended = subprocess.run(command, capture_output=True, encoding="utf-8")
        assert ended.returncode == code, ended.stderr
        told = ended.stderr if code else ended.stdout
        assert re.search(r"No module named '\w+': python -m pip install -e \"\.\[(train|tuning)\]\"$", told)
        assert ("The exit code is 0" in told) == (code == 0)


def test_fingerprint_covers_every_room_of_the_search(tmp_path: Path) -> None:
    for name in ("x88/board.py", "search/nnue/layer.py", "search/replay.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    found = [script.fingerprint(tmp_path)]
    for name in ("search/replay.py", "search/nnue/layer.py", "x88/board.py"):
        (tmp_path / name).write_text("edited", encoding="utf-8")
        found.append(script.fingerprint(tmp_path))
    assert found[0] == found[1], "search.replay chooses no move"
    assert len(set(found)) == 3
