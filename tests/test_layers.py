"""Imports run downwards only: the rules know no text, `x88` no search, `search` no input and output, and only
the command itself knows the UCI conversation. A file's folder is its floor.
"""

import ast
import functools
import json
import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests import ROOT

SOURCES = sorted([*ROOT.glob("x88/**/*.py"), *ROOT.glob("search/**/*.py")])

SPEAKERS = [ROOT / "moff" / name for name in ("page/command.py", "reviews/command.py", "reviews/reviewer.py")]
SILENT = sorted(
    {path for room in ("game", "page", "reviews") for path in ROOT.glob(f"moff/{room}/*.py")} - {*SPEAKERS}
)
"""Modules that the faces share. Only the faces print and read."""

UCI = [ROOT / "moff" / "__main__.py", ROOT / "moff" / "main.py", *sorted(ROOT.glob("moff/uci/*.py"))]
FACES = sorted(set(ROOT.glob("moff/**/*.py")) - {*UCI})
"""The commands, the console, the page, the review and the library."""


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def imported(path: Path) -> set[str]:
    """The dotted names of all modules that a file or its header imports, wherever it does so."""
    names = set()
    for node in ast.walk(parsed(path)):
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


def folder_of(name: str) -> str:
    """The folder of the package or module of this name, or of the module that has this name in it."""
    path = ROOT.joinpath(*name.split("."))
    while not path.is_dir():
        path = path.parent
    return path.relative_to(ROOT).as_posix()


def tops(path: Path) -> set[str]:
    """The top-level names that a file imports."""
    return {name.split(".")[0] for name in imported(path)}


def test_no_import_runs_upwards() -> None:
    for path in SOURCES:
        floor = FLOORS[path.parent.relative_to(ROOT).as_posix()]
        assert not tops(path) & {"engine", "moff", "tests", "bench", "chess"}, path
        folders = [folder_of(name) for name in imported(path) if name.split(".")[0] in ("x88", "search")]
        assert all(FLOORS[folder] <= floor for folder in folders), path
    for path in [*UCI, *FACES]:
        assert not tops(path) & {"engine", "tests", "bench", "chess"}, path
    for path in FACES:
        above = [["moff", "uci"], ["moff", "main"]]
        assert not any(name.split(".")[:2] in above for name in imported(path)), path


def test_no_imports_go_in_a_circle() -> None:
    modules = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in [*SOURCES, *FACES, *UCI]
    }
    below = {name: imported(path) & modules.keys() for name, path in modules.items()}
    # The board loads the rules, which import it, when it is first asked to check a move.
    below["x88.board"] -= {"x88.attack", "x88.movegen"}
    TopologicalSorter(below).prepare()


def test_only_the_engine_and_the_faces_print_and_read() -> None:
    for path in [*SOURCES, *SILENT]:
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("print", "input"), f"{path}, line {node.lineno}"
            if isinstance(node, ast.Attribute):
                assert node.attr not in ("stdin", "stdout", "stderr"), f"{path}, line {node.lineno}"


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


COMMANDS = {"argparse", "inspect", "moff.library", "moff.commands", "moff.console", "x88.notation.pgn"}
COMMANDS |= {"x88.notation.diagram", "x88.notation.san"}
"""Modules that a GUI which starts the engine must not wait for."""


@pytest.mark.parametrize(
    ("code", "needed", "unneeded"),
    [
        ("import moff.main; sys.argv = ['moff']; moff.main.main()", "search.search", {*COMMANDS, "moff.log"}),
        ("import search.search", "search.search", {"inspect"}),
        (
            "import moff.main; sys.argv = ['moff', 'perft', '1']; moff.main.main()",
            "moff.commands",
            {"moff.library", "moff.console", "moff.log", "moff.picture.picture", "moff.uci"},
        ),
        ("import moff; moff.__version__", "moff", {"moff.library", "search.search", "x88.board"}),
        (
            "import moff; moff.Board().legal_moves.count()",
            "moff.library.boards",
            {"argparse", "search", "moff.commands", "moff.console", "moff.main", "moff.uci"},
        ),
    ],
)
def test_a_start_loads_only_the_modules_that_it_needs(code: str, needed: str, unneeded: set[str]) -> None:
    names = loaded(code, "uci\nisready\nposition startpos moves e2e4\ngo depth 1\nquit\n")
    assert needed in names
    assert not names & unneeded


def test_log_is_loaded_when_the_option_names_a_file(tmp_path: Path) -> None:
    talk = f"setoption name Debug Log File value {tmp_path / 'moff.log'}\nisready\n"
    names = loaded("import moff.main; sys.argv = ['moff']; moff.main.main()", talk)
    assert "moff.log" in names
    assert not names & COMMANDS


def test_wheel_leaves_out_only_modules_of_bench_and_tests() -> None:
    tree = parsed(ROOT / "setup.py")
    (names,) = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        if node.targets[0].id == "BENCH_ONLY"
    ]
    left_out = set(ast.literal_eval(names))
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
