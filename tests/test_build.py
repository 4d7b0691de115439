"""Which build runs: compiled or source, always as a whole, and never an old build in silence.

Each test works on a copy of this checkout, in child processes, with its compiled modules where it has them. A
checkout without gets empty files in their place: what must not be loaded then fails loudly if it is.
"""

import json
import os
import shutil
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import pytest

from x88.build import PACKAGES, REBUILD

ROOT = Path(__file__).resolve().parent.parent

VERDICT = "from x88 import build; print(json.dumps([build.compiled, build.problem, build.notice()]))"
"""Decides, and loads nothing that can be compiled."""

LOADED = """
import importlib, pkgutil
for package in {packages}:
    folder = importlib.import_module(package).__path__
    for found in pkgutil.iter_modules(folder, package + "."):
        importlib.import_module(found.name)
own = [name for name in sys.modules if name.partition(".")[0] in {packages}]
print(json.dumps({{name: sys.modules[name].__file__ for name in own}}))
"""
"""Loads every module and shows the file that each came from."""

COUNTS = """
from x88 import fen, perft
from x88.movegen import MoveStack
counts = []
for text in (fen.START, "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"):
    for count in (perft.perft, perft.play_leaves):
        counts += [count(fen.parse(text), MoveStack(), 0, depth) for depth in (1, 2, 3)]
print(json.dumps(counts))
"""


def run(folder: Path, code: str, pure: str | None = None) -> Any:
    """What a child process in the folder prints, with MOFF_PURE as given."""
    environment = {name: value for name, value in os.environ.items() if name != "MOFF_PURE"}
    if pure is not None:
        environment["MOFF_PURE"] = pure
    command = [sys.executable, "-c", f"import json, sys\n{code}"]
    child = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stderr
    return json.loads(child.stdout)


def loaded(folder: Path, pure: str | None = None, packages: tuple[str, ...] = PACKAGES) -> dict[str, str]:
    """The file of every module of Moff, by name; the packages are imported in the order given."""
    files: dict[str, str] = run(folder, LOADED.format(packages=packages), pure)
    return files


def compiled_files(folder: Path) -> list[Path]:
    """The compiled modules in the packages of a folder."""
    return [
        file
        for package in PACKAGES
        for file in sorted((folder / package).iterdir())
        if file.name.endswith(tuple(EXTENSION_SUFFIXES))
    ]


@pytest.fixture(scope="module")
def is_compiled() -> bool:
    """Whether this checkout has compiled modules that may run."""
    return bool(run(ROOT, VERDICT)[0])


@pytest.fixture
def checkout(tmp_path: Path, is_compiled: bool) -> Path:
    """A copy of this checkout with a complete, fresh set of compiled modules."""
    copy = tmp_path / "moff"
    for package in PACKAGES:
        shutil.copytree(ROOT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "bench").mkdir()
    for name in ("setup.py", "pyproject.toml", "engine.py", "bench/perft.py"):
        shutil.copy(ROOT / name, copy / name)
    if not is_compiled:
        for file in compiled_files(copy):
            file.unlink()
        for package in PACKAGES:
            for header in (copy / package).glob("*.pxd"):
                header.with_suffix(EXTENSION_SUFFIXES[0]).touch()
        note_as_compiled(copy)
    return copy


@pytest.fixture
def installed(checkout: Path) -> Path:
    """The same as an installed package has it: without the rest of the source tree."""
    shutil.rmtree(checkout / "bench")
    for name in ("setup.py", "pyproject.toml", "x88/compiled.txt"):
        (checkout / name).unlink()
    return checkout


def note_as_compiled(folder: Path) -> None:
    """Do what a build does when it is done."""
    run(folder, "from x88 import build; build.record(build.digests()); print(0)", "1")


def edit(file: Path) -> None:
    """A change that no compiler sees, but that makes another file of it."""
    file.write_text(file.read_text(encoding="utf-8") + "\n# edited\n", encoding="utf-8")


def assert_source_runs(folder: Path, *wanted: str) -> None:
    """The source runs as a whole, and the complaint has all the words."""
    compiled, problem, notice = run(folder, VERDICT)
    assert not compiled
    for words in wanted:
        assert words in problem
    assert problem in notice
    assert all(file.endswith(".py") for file in loaded(folder).values())


def test_a_complete_fresh_set_runs_compiled(checkout: Path) -> None:
    assert run(checkout, VERDICT) == [True, "", ""]


def test_every_module_with_a_header_runs_compiled_or_none_does(is_compiled: bool) -> None:
    headers = {
        f"{package}.{header.stem}" for package in PACKAGES for header in (ROOT / package).glob("*.pxd")
    }
    for order in (PACKAGES, PACKAGES[::-1]):
        files = loaded(ROOT, packages=order)
        assert headers <= files.keys()
        compiled = {name for name, file in files.items() if not file.endswith(".py")}
        assert compiled == (headers if is_compiled else set())


@pytest.mark.parametrize("order", [PACKAGES, PACKAGES[::-1]])
def test_moff_pure_forces_the_source(checkout: Path, order: tuple[str, ...]) -> None:
    compiled, problem, notice = run(checkout, VERDICT, "1")
    assert (compiled, problem) == (False, "")
    assert "MOFF_PURE" in notice
    assert all(file.endswith(".py") for file in loaded(checkout, "1", order).values())


@pytest.mark.parametrize("value", ["", "0"])
def test_moff_pure_can_be_switched_off(checkout: Path, value: str) -> None:
    assert run(checkout, VERDICT, value) == [True, "", ""]


def test_both_builds_count_the_same() -> None:
    assert run(ROOT, COUNTS) == run(ROOT, COUNTS, "1")


@pytest.mark.parametrize("name", ["x88/perft.py", "x88/board.pxd", "search/evaluate.py", "setup.py"])
def test_an_edited_source_is_reported_and_runs(checkout: Path, name: str) -> None:
    edit(checkout / name)
    assert_source_runs(checkout, name, REBUILD)


def test_an_edited_source_runs_compiled_again_after_a_build(checkout: Path) -> None:
    edit(checkout / "x88/move.py")
    note_as_compiled(checkout)
    assert run(checkout, VERDICT) == [True, "", ""]


def test_only_the_content_of_a_source_counts(checkout: Path) -> None:
    for file in checkout.glob("x88/*.py"):
        os.utime(file)
    assert run(checkout, VERDICT) == [True, "", ""]


def test_many_edited_sources_make_one_short_line(checkout: Path) -> None:
    for file in checkout.glob("x88/*.pxd"):
        edit(file)
    assert_source_runs(checkout, "x88/attack.pxd", "more", REBUILD)
    assert len(run(checkout, VERDICT)[1]) < 200


@pytest.mark.parametrize("place", [0, -1])
def test_an_incomplete_set_is_reported_and_the_source_runs(checkout: Path, place: int) -> None:
    missing = compiled_files(checkout)[place]
    missing.unlink()
    assert_source_runs(checkout, f"{missing.parent.name}.{missing.name.partition('.')[0]}", REBUILD)


def test_a_compiled_module_without_its_header_is_reported(checkout: Path) -> None:
    (checkout / "x88" / f"outcome{EXTENSION_SUFFIXES[0]}").touch()
    assert_source_runs(checkout, "x88.outcome", REBUILD)


def test_a_compiled_module_without_its_source_is_not_found(checkout: Path) -> None:
    (checkout / "x88" / f"left{EXTENSION_SUFFIXES[0]}").touch()
    code = """
try:
    import x88.left
except ModuleNotFoundError as error:
    print(json.dumps(error.name))
"""
    assert run(checkout, code) == "x88.left"


@pytest.mark.parametrize("text", [None, "", "x88/board.py", "\0"])
def test_modules_that_nothing_is_noted_of_are_reported(checkout: Path, text: str | None) -> None:
    note = checkout / "x88/compiled.txt"
    note.unlink()
    if text is not None:
        note.write_text(text, encoding="ascii")
    assert_source_runs(checkout, REBUILD)


def test_a_checkout_without_compiled_modules_says_how_to_compile_it(checkout: Path) -> None:
    for file in compiled_files(checkout):
        file.unlink()
    compiled, problem, notice = run(checkout, VERDICT)
    assert (compiled, problem) == (False, "")
    assert REBUILD in notice


def test_an_installed_package_is_not_compared_with_anything(installed: Path) -> None:
    edit(installed / "x88/board.py")
    assert run(installed, VERDICT) == [True, "", ""]


def test_an_incomplete_installation_runs_from_source(installed: Path) -> None:
    compiled_files(installed)[0].unlink()
    assert_source_runs(installed, "install Moff again")


def test_an_uncompiled_installation_asks_for_a_compiler(installed: Path) -> None:
    for file in compiled_files(installed):
        file.unlink()
    compiled, problem, notice = run(installed, VERDICT)
    assert (compiled, problem) == (False, "")
    assert "C compiler" in notice
