"""A program without Python, made by moff.spec, and the Makefile's commands for people and for OpenBench."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from moff.uci.conversation import Engine
from search.nnue import network
from tests import ROOT
from tests.networks import random_weights
from x88 import build

TIMEOUT = 600

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("PyInstaller") is None, reason="the release extra is not installed"
    ),
]

EXE = ".exe" if os.name == "nt" else ""


def make_program(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run moff.spec with these arguments; the program ends up in folder/dist."""
    command = [sys.executable, "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN", ROOT / "moff.spec"]
    folders = ["--distpath", folder / "dist", "--workpath", folder / "work"]
    return subprocess.run(
        [*command, *folders, "--", *words],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        timeout=TIMEOUT,
    )


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, in an empty folder of its own, so that it can find nothing of this checkout."""
    folder = tmp_path_factory.mktemp("program")
    done = make_program(folder)
    assert done.returncode == 0, done.stderr
    return folder / "dist" / "moff" / f"moff{EXE}"


def test_one_file_with_another_network(tmp_path: Path) -> None:
    net = tmp_path / "other.net"
    network.write(net, random_weights(inputs=100))
    done = make_program(tmp_path, "--one-file", "other", "--network", str(net))
    assert done.returncode == 0, done.stderr
    lines: list[str] = []
    engine = Engine(lines.append)
    engine.execute("position startpos moves e2e4 d7d5 e4d5")
    engine.execute("eval")
    own = lines.copy()
    engine.execute(f"setoption name EvalFile value {net}")
    lines.clear()
    engine.execute("eval")
    answer = run(tmp_path / "dist" / f"other{EXE}", text="position startpos moves e2e4 d7d5 e4d5\neval\n")
    assert answer.split("\n")[:-1] == "\n".join(lines).split("\n") != "\n".join(own).split("\n")


def test_damaged_network_stops_the_build(tmp_path: Path) -> None:
    net = tmp_path / "cut.net"
    net.write_bytes((ROOT / "search" / "moff.net").read_bytes()[:1000])
    done = make_program(tmp_path, "--one-file", "other", "--network", str(net))
    assert done.returncode != 0
    assert f"no program is built: {net} has 1000 bytes instead of" in done.stderr
    assert not (tmp_path / "dist" / f"other{EXE}").exists()


def run(program: Path, *words: str, text: str = "", pure: bool = False) -> str:
    """The output of the program, without Python's folder on the path; it must end well."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MOFF"))
    }
    environment["PATH"] = os.defpath
    if pure:
        environment["MOFF_PURE"] = "1"
    done = subprocess.run(
        [program, *words],
        input=text,
        capture_output=True,
        encoding="utf-8",
        cwd=program.parent,
        env=environment,
        timeout=TIMEOUT,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_program_speaks_uci(program: Path) -> None:
    answer = run(program, text="uci\nisready\nposition startpos moves e2e4\ngo depth 6\n")
    assert "uciok\n" in answer
    assert "readyok\n" in answer
    assert answer.splitlines()[-1].startswith("bestmove ")


@pytest.mark.parametrize("pure", [False, True])
def test_program_is_the_build_that_it_was_made_from(program: Path, pure: bool) -> None:
    # There is no source in it that MOFF_PURE could ask for.
    assert ("uncompiled" in run(program, "uci", pure=pure)) != build.compiled
    for words, kept in ((["bench", "--depth", "2"], r"^\d+ nodes"), (["compiler"], "(?m)^.*network.*")):
        here = subprocess.check_output([sys.executable, "engine.py", *words], cwd=ROOT, encoding="utf-8")
        found = re.findall(kept, run(program, *words, pure=pure))
        assert found == re.findall(kept, here) != []


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("--version", "Moff "),
        ("perft 3 --threads 2", "8902 nodes"),
        ("moves --attacks --ascii", "500 for castling"),
        ("picture", "</svg>"),
        ("play --help", "--elo"),
        ("board --help", "--port"),
        ("review --help", "--html"),
        ("book --help", "make"),
        ("tb --help", "--path"),
        ("eval", "White"),
    ],
)
def test_commands_of_the_program_find_their_modules(program: Path, command: str, expected: str) -> None:
    assert expected in run(program, *command.split())


def test_program_reviews_a_game_and_has_its_licence(program: Path, tmp_path: Path) -> None:
    games = tmp_path / "games.pgn"
    games.write_text("1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0\n", encoding="utf-8")
    run(program, "review", str(games), "--nodes", "500", "--html", str(tmp_path / "report.html"))
    assert "<style>" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert (program.parent / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


@pytest.mark.skipif(os.name == "nt", reason="an interrupt by a signal")
def test_program_serves_the_board_page(program: Path) -> None:
    import signal
    import urllib.request

    with subprocess.Popen(
        [program, "board", "--no-browser"], stdout=subprocess.PIPE, encoding="utf-8"
    ) as served:
        assert served.stdout is not None
        address = served.stdout.readline().split()[-1]
        with urllib.request.urlopen(address, timeout=60) as page:
            assert b"<title>" in page.read()
        served.send_signal(signal.SIGINT)
        served.wait(60)


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_takes_the_names_of_openbench_and_runs_the_commands_of_the_pages() -> None:
    def make(*words: str, code: int = 0) -> str:
        done = subprocess.run(["make", "-n", *words], cwd=ROOT, capture_output=True, encoding="utf-8")
        assert done.returncode == code, done.stderr
        return done.stderr if code else done.stdout

    assert "-- --one-file Moff-1a2b3c4d\n" in make("-j", "EXE=Moff-1a2b3c4d", "CC=gcc")
    with_network = make("EXE=Moff-1a2b3c4d", "EVALFILE=/home/my nets/1.net")
    assert '-- --one-file Moff-1a2b3c4d --network "/home/my nets/1.net"\n' in with_network
    assert "-- --one-file README.md\n" in make("EXE=README.md"), "again, though it is there"
    assert "there is a folder moff already" in make("EXE=moff", code=2)
    assert ".venv/bin/python -m pytest\n" in make("test")
    release = make("release")
    for command in (
        "build --outdir",
        "twine check --strict",
        "check-wheel-contents",
        "pyinstaller --noconfirm",
    ):
        assert command in release
