"""Imports run downwards only: the rules know no text, `x88` no search, `search` no input and output, and
nothing but the command itself the UCI conversation. A file's folder says on which floor it is.
"""

import ast
import json
import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests import ROOT

SOURCES = sorted([*ROOT.glob("x88/**/*.py"), *ROOT.glob("search/**/*.py")])

SPEAKERS = [ROOT / "moff" / name for name in ("page/command.py", "review/command.py", "review/reviewer.py")]
SILENT = sorted(
    {path for room in ("game", "page", "review") for path in ROOT.glob(f"moff/{room}/*.py")} - {*SPEAKERS}
)
"""What the faces share leaves it to them to print and to read."""

UCI = [ROOT / "moff" / "__main__.py", ROOT / "moff" / "main.py", *sorted(ROOT.glob("moff/uci/*.py"))]
FACES = sorted(set(ROOT.glob("moff/**/*.py")) - {*UCI})
"""What people meet."""


def imported(path: Path) -> set[str]:
    """The dotted names of all modules that a file or its header imports, wherever it does so."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    header = path.with_suffix(".pxd")
    if header.exists():
        for line in header.read_text(encoding="utf-8").splitlines():
            words = line.split()
            if words[:1] == ["from"] and "cimport" in words:
                names.add(words[1])
    return names


FLOORS = {
    "x88": 1,
    "x88/notation": 2,
    "x88/book": 2,
    "x88/perft": 2,
    "search": 3,
    "search/nnue": 3,
    "search/syzygy": 3,
}
"""The floor of each folder. A file imports from its own floor and those below."""


def name_of(path: Path) -> str:
    """A file's place in the checkout, for the name of a test."""
    return path.relative_to(ROOT).as_posix()


def folder_of(name: str) -> str:
    """The folder of the package or module of this name, or of the module that has this name in it."""
    path = ROOT.joinpath(*name.split("."))
    while not path.is_dir():
        path = path.parent
    return name_of(path)


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_no_import_runs_upwards(path: Path) -> None:
    floor = FLOORS.get(name_of(path.parent), 3)
    names = imported(path)
    assert not any(name.split(".")[0] in ("engine", "moff", "tests", "bench", "chess") for name in names)
    folders = [folder_of(name) for name in names if name.split(".")[0] in ("x88", "search")]
    assert all(FLOORS.get(folder, 3) <= floor for folder in folders)


def test_no_imports_go_in_a_circle() -> None:
    modules = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in [*SOURCES, *FACES, *UCI]
    }
    below = {name: imported(path) & modules.keys() for name, path in modules.items()}
    # The board loads the rules, which import it, when it is first asked to check a move.
    below["x88.board"] -= {"x88.attack", "x88.movegen"}
    TopologicalSorter(below).prepare()


@pytest.mark.parametrize("path", [*SOURCES, *SILENT], ids=name_of)
def test_only_the_engine_and_the_faces_print_and_read(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in ("print", "input"), f"line {node.lineno}"
        if isinstance(node, ast.Attribute):
            assert node.attr not in ("stdin", "stdout", "stderr"), f"line {node.lineno}"


@pytest.mark.parametrize("path", FACES, ids=name_of)
def test_what_people_meet_knows_no_uci(path: Path) -> None:
    names = imported(path)
    assert not any(name.split(".")[:2] in (["moff", "uci"], ["moff", "main"]) for name in names)


@pytest.mark.parametrize("path", [*UCI, *FACES], ids=name_of)
def test_nothing_installed_needs_what_only_a_checkout_has(path: Path) -> None:
    assert not any(name.split(".")[0] in ("engine", "tests", "bench", "chess") for name in imported(path))


def loaded(code: str, talk: str = "") -> set[str]:
    """The modules loaded after some code has run in a fresh interpreter, with `talk` on standard input."""
    script = f"import json, sys\n{code}\nprint(json.dumps(sorted(sys.modules)))"
    ended = subprocess.run(
        [sys.executable, "-c", script],
        input=talk,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        cwd=ROOT,
    )
    assert ended.returncode == 0, ended.stderr
    return set(json.loads(ended.stdout.splitlines()[-1]))


UNNEEDED = {
    "argparse",
    "inspect",
    "moff.api",
    "moff.commands",
    "moff.console",
    "x88.notation.diagram",
    "x88.notation.pgn",
    "x88.notation.san",
}
"""What a GUI that starts the engine must not wait for."""


def test_a_uci_start_loads_no_command_line_no_console_and_no_log() -> None:
    talk = "uci\nisready\nposition startpos moves e2e4\ngo depth 1\nquit\n"
    names = loaded("import moff.main; sys.argv = ['moff']; moff.main.main()", talk)
    assert "search.search" in names
    assert not names & (UNNEEDED | {"moff.log"})
    assert "inspect" not in loaded("import search.search")


def test_the_log_is_loaded_when_one_is_asked_for(tmp_path: Path) -> None:
    talk = f"setoption name Debug Log File value {tmp_path / 'moff.log'}\nisready\n"
    names = loaded("import moff.main; sys.argv = ['moff']; moff.main.main()", talk)
    assert "moff.log" in names
    assert not names & UNNEEDED


def test_a_command_loads_no_other_command_s_modules() -> None:
    names = loaded("import moff.main; sys.argv = ['moff', 'perft', '1']; moff.main.main()")
    assert "moff.commands" in names
    assert not names & {"moff.api", "moff.console", "moff.log", "moff.picture.picture", "moff.uci"}


def test_the_library_is_loaded_when_a_name_of_it_is_used() -> None:
    assert not loaded("import moff; moff.__version__") & {"moff.api", "search.search", "x88.board"}
    names = loaded("import moff; moff.legal_moves(moff.parse_fen(moff.START))")
    assert "moff.api" in names
    assert not names & {"argparse", "moff.commands", "moff.console", "moff.main", "moff.uci"}


def test_what_the_wheel_leaves_out_is_used_by_bench_and_tests_only() -> None:
    tree = ast.parse((ROOT / "setup.py").read_text(encoding="utf-8"))
    assigned = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    left_out = set(ast.literal_eval(assigned["BENCH_ONLY"]))
    assert left_out == {"search.replay"}
    for path in [*SOURCES, *FACES, *UCI]:
        assert not imported(path) & left_out, path
    with open(ROOT / "pyproject.toml", "rb") as file:
        excluded = tomllib.load(file)["tool"]["setuptools"]["exclude-package-data"]
    assert {f"{package}.{name}" for package, names in excluded.items() for name in names} == {
        f"{name}.*" for name in left_out
    }
    manifest = (ROOT / "MANIFEST.in").read_text(encoding="utf-8").split()
    for name in left_out:
        assert {f"{name.replace('.', '/')}.{suffix}" for suffix in ("py", "pxd")} <= set(manifest)
