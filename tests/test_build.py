"""Which build runs: compiled or source, always as a whole, and never an old build in silence.

Each test works on a copy of this checkout, in child processes, with its compiled modules where it has them. A
checkout without gets empty files in their place: what must not be loaded then fails loudly if it is.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import pytest

from search import benchmark
from tests import ROOT
from tests.client import ENGINE, Conversation
from x88 import build
from x88.build import PACKAGES

pytestmark = pytest.mark.slow

REBUILD = f"{sys.executable} -m pip install -e "
"""How the command that builds a checkout again begins, if the path has no spaces."""

TOP = ("x88", "search")

VERDICT = "from x88 import build; print(json.dumps([build.compiled, build.problem, build.notice()]))"
"""Decides, and loads nothing that can be compiled."""

TRANSLATED = """
import importlib.util
from Cython.Build import cythonize
from setuptools import Extension
spec = importlib.util.spec_from_file_location("moff_setup", "setup.py")
setup = importlib.util.module_from_spec(spec)
spec.loader.exec_module(setup)
modules = [Extension(name, [name.replace(".", "/") + ".py"]) for name in {modules!r}]
options = {{"compiler_directives": setup.DIRECTIVES, "force": True, "quiet": True}}
print(json.dumps([module.sources[0] for module in cythonize(modules, build_dir={folder!r}, **options)]))
"""
"""Translates modules to C; prints the files."""

LOADED = """
import importlib, pkgutil
for package in {packages}:
    folder = importlib.import_module(package).__path__
    for found in pkgutil.iter_modules(folder, package + "."):
        if found.name not in {variants}:
            importlib.import_module(found.name)
own = [name for name in sys.modules if name.partition(".")[0] in {packages}]
print(json.dumps({{name: sys.modules[name].__file__ for name in own}}))
"""
"""Loads every module and shows the file that each came from."""


def run(folder: Path, code: str, pure: str | None = None) -> Any:
    """The JSON that a child process in the folder prints, with MOFF_PURE as given."""
    environment = {name: value for name, value in os.environ.items() if name != "MOFF_PURE"}
    if pure is not None:
        environment["MOFF_PURE"] = pure
    command = [sys.executable, "-c", f"import json, sys\n{code}"]
    child = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False
    )
    assert child.returncode == 0, child.stderr
    return json.loads(child.stdout)


def loaded(folder: Path, pure: str | None = None, packages: tuple[str, ...] = PACKAGES) -> dict[str, str]:
    """The file of every module of Moff, by name; the packages are imported in the order given."""
    files: dict[str, str] = run(folder, LOADED.format(packages=packages, variants=[*build.VARIANTS]), pure)
    return files


def compiled_files(folder: Path) -> list[Path]:
    """The compiled modules in the packages of a folder, without those for newer processors."""
    return [
        file
        for top in TOP
        for file in sorted((folder / top).rglob("*"))
        if file.name.endswith(tuple(EXTENSION_SUFFIXES)) and module_of(file, folder) not in build.VARIANTS
    ]


def module_of(file: Path, folder: Path) -> str:
    """The module of a file in a checkout."""
    return ".".join([*file.parent.relative_to(folder).parts, file.name.partition(".")[0]])


def headers_of(folder: Path) -> dict[str, Path]:
    """The headers in the packages of a folder, by module."""
    return {module_of(path, folder): path for top in TOP for path in (folder / top).rglob("*.pxd")}


@pytest.fixture(scope="module")
def is_compiled() -> bool:
    """Whether this checkout has compiled modules that may run."""
    return bool(run(ROOT, VERDICT)[0])


@pytest.fixture
def checkout(tmp_path: Path, is_compiled: bool) -> Path:
    """A copy of this checkout with a complete, fresh set of compiled modules."""
    copy = tmp_path / "moff"
    for top in TOP:
        shutil.copytree(ROOT / top, copy / top, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "bench").mkdir()
    for name in ("setup.py", "pyproject.toml", "bench/perft.py"):
        shutil.copy(ROOT / name, copy / name)
    if not is_compiled:
        for file in compiled_files(copy):
            file.unlink()
        for header in headers_of(copy).values():
            header.with_suffix(EXTENSION_SUFFIXES[0]).touch()
        note_as_compiled(copy)
    return copy


@pytest.fixture
def installed(checkout: Path) -> Path:
    """The same as an installed package has it: without the rest of the source tree."""
    for name in ("setup.py", "pyproject.toml", "bench/perft.py", "x88/compiled.txt"):
        (checkout / name).unlink()
    return checkout


def note_as_compiled(folder: Path) -> None:
    """Record the sources as a build does when it is done."""
    run(folder, "from x88 import build; build.record(build.digests()); print(0)", "1")


def edit(file: Path) -> None:
    """A change that no compiler sees, but that makes another file of it."""
    file.write_text(file.read_text(encoding="utf-8") + "\n", encoding="utf-8")


def assert_source_runs(folder: Path, *wanted: str) -> None:
    """The source runs as a whole, and the complaint has all the words."""
    compiled, problem, notice = run(folder, VERDICT)
    assert not compiled
    for words in wanted:
        assert words in problem
    assert problem in notice
    assert all(file.endswith(".py") for file in loaded(folder).values())


def test_every_module_with_a_header_runs_compiled_or_none_does(is_compiled: bool) -> None:
    headers = headers_of(ROOT).keys()
    for order in (PACKAGES, PACKAGES[::-1]):
        files = loaded(ROOT, packages=order)
        compiled = {name for name, file in files.items() if not file.endswith(".py")}
        assert headers <= files.keys()
        assert compiled == ({*headers} if is_compiled else set())


@pytest.mark.parametrize("order", [PACKAGES, PACKAGES[::-1]])
def test_moff_pure_forces_the_source(checkout: Path, order: tuple[str, ...]) -> None:
    compiled, problem, notice = run(checkout, VERDICT, "1")
    assert (compiled, problem) == (False, "")
    assert "MOFF_PURE" in notice
    assert all(file.endswith(".py") for file in loaded(checkout, "1", order).values())
    for unset in ("", "0"):
        assert run(checkout, VERDICT, unset) == [True, "", ""]


@pytest.mark.parametrize(
    "name", ["x88/perft/perft.py", "x88/board.pxd", "search/nnue/evaluate.py", *build.BUILT_BY]
)
def test_an_edited_source_is_reported_and_runs_until_it_is_compiled(checkout: Path, name: str) -> None:
    os.utime(checkout / name)
    assert run(checkout, VERDICT) == [True, "", ""], "only the content counts"
    edit(checkout / name)
    assert_source_runs(checkout, name, f"{REBUILD}{checkout}")
    note_as_compiled(checkout)
    assert run(checkout, VERDICT) == [True, "", ""]


def test_the_tests_refuse_a_stale_build(checkout: Path) -> None:
    edit(checkout / "x88/move.py")
    left_out = shutil.ignore_patterns("test_*", "__pycache__")
    shutil.copytree(ROOT / "tests", checkout / "tests", ignore=left_out)
    environment = {name: value for name, value in os.environ.items() if name != "MOFF_PURE"}
    command = [sys.executable, "-m", "pytest", "-n", "0"]
    child = subprocess.run(
        command, cwd=checkout, env=environment, capture_output=True, encoding="utf-8", check=False
    )
    assert child.returncode == 1
    assert "x88/move.py changed" in child.stdout + child.stderr


@pytest.mark.parametrize("place", [0, -1])
def test_an_incomplete_set_is_reported_and_the_source_runs(checkout: Path, place: int) -> None:
    missing = compiled_files(checkout)[place]
    missing.unlink()
    assert_source_runs(checkout, module_of(missing, checkout), REBUILD)


def test_a_build_may_lack_the_loops_for_newer_processors(checkout: Path) -> None:
    for file in (checkout / "search").rglob("vectors_avx2.*"):
        file.unlink()
    assert run(checkout, VERDICT) == [True, "", ""]


def test_a_compiled_module_without_its_header_is_reported(checkout: Path) -> None:
    (checkout / "x88/notation" / f"outcome{EXTENSION_SUFFIXES[0]}").touch()
    assert_source_runs(checkout, "x88.notation.outcome", REBUILD)


def test_a_compiled_module_without_its_source_is_not_found(checkout: Path) -> None:
    (checkout / "x88" / f"left{EXTENSION_SUFFIXES[0]}").touch()
    code = "try: import x88.left\nexcept ModuleNotFoundError as error: print(json.dumps(error.name))"
    assert run(checkout, code) == "x88.left"


@pytest.mark.parametrize("text", [None, "", "x88/board.py", "\0"])
def test_modules_of_unknown_origin_are_reported(checkout: Path, text: str | None) -> None:
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
    assert "README.md" in notice
    assert f"`{REBUILD}{checkout}`" in notice


def test_an_installed_package_is_compared_with_nothing_but_must_be_complete(installed: Path) -> None:
    edit(installed / "x88/board.py")
    assert run(installed, VERDICT) == [True, "", ""]
    first, *others = compiled_files(installed)
    first.unlink()
    assert_source_runs(installed, "incomplete", "--no-cache-dir")
    for file in others:
        file.unlink()
    compiled, problem, notice = run(installed, VERDICT)
    assert (compiled, problem) == (False, "")
    assert "C compiler" in notice
    assert "--no-cache-dir" in notice


def test_the_engine_s_name_tells_the_slow_build() -> None:
    for pure in (False, True):
        with Conversation(pure) as conversation:
            conversation.send("uci")
            (name,) = [line for line in conversation.until("uciok") if line.startswith("id name ")]
            assert name.endswith(" (uncompiled)") == (pure or not build.compiled)


# Builds, with a compiler and without.


@pytest.fixture
def real_compiler() -> str:
    """The command that compiles C here, with what building Moff needs besides."""
    pytest.importorskip("Cython", reason="Cython is not installed")
    pytest.importorskip("setuptools", "77", reason="setuptools is not installed, or too old")
    command = (sysconfig.get_config_var("CC") or "cc").split()[0]
    if sys.platform == "win32" or shutil.which(command) is None:
        pytest.skip("no C compiler is installed")
    return command


@pytest.fixture
def small_checkout(tmp_path: Path) -> Path:
    """A source tree whose one compiled module is quickly built."""
    copy = tmp_path / "small"
    ignored = shutil.ignore_patterns("*.pxd", "*.so", "*.txt", "__pycache__")
    for top in (*TOP, "moff"):
        shutil.copytree(ROOT / top, copy / top, ignore=ignored)
    (copy / "bench").mkdir()
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE", "engine.py", "bench/perft.py"):
        shutil.copy(ROOT / name, copy / name)
    shutil.copy(ROOT / "search" / "score.pxd", copy / "search")
    return copy


def build_with(folder: Path, compiler: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run setup.py with a compiler."""
    return subprocess.run(
        [sys.executable, "setup.py", *arguments],
        cwd=folder,
        env={**os.environ, "CC": compiler, "MOFF_PURE": "0"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def unpacked_wheel(folder: Path, compiler: str, site: Path) -> tuple[str, str]:
    """Build a wheel and unpack it; returns its name and the complaints of the build."""
    ended = build_with(folder, compiler, "bdist_wheel")
    assert ended.returncode == 0, ended.stderr
    (wheel,) = (folder / "dist").iterdir()
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return wheel.name, ended.stderr


def test_a_wheel_serves_every_later_python_unless_it_is_free_threaded(
    small_checkout: Path, tmp_path: Path, real_compiler: str
) -> None:
    (small_checkout / "search" / "replay.pxd").touch()
    name, _ = unpacked_wheel(small_checkout, real_compiler, tmp_path / "site")
    assert ("-cp311-abi3-" in name) is not bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    assert run(tmp_path / "site", VERDICT) == [True, "", ""]
    assert [file.name.partition(".")[0] for file in compiled_files(tmp_path / "site")] == ["score"]
    assert not [*(tmp_path / "site").rglob("replay.*")], "only for bench/"


def test_a_wheel_built_without_a_compiler_is_pure_and_says_why(small_checkout: Path, tmp_path: Path) -> None:
    pytest.importorskip("setuptools", "77", reason="setuptools is not installed, or too old")
    name, complaint = unpacked_wheel(small_checkout, "no-such-compiler", tmp_path / "site")
    assert name.endswith("-none-any.whl")
    assert not compiled_files(tmp_path / "site")
    compiled, _, notice = run(tmp_path / "site", VERDICT)
    assert not compiled
    for text in (complaint, notice):
        assert "no-such-compiler" in text or sys.platform == "win32"
        assert text.count("README.md") == 1


def test_a_checkout_built_without_a_compiler_says_why_until_it_is_compiled(
    small_checkout: Path, real_compiler: str
) -> None:
    assert build_with(small_checkout, "no-such-compiler", "editable_wheel").returncode == 0
    assert "no-such-compiler" in run(small_checkout, VERDICT)[2]
    refused = build_with(small_checkout, "no-such-compiler", "build_ext", "--inplace")
    assert refused.returncode != 0
    assert "no-such-compiler" in refused.stderr
    assert build_with(small_checkout, real_compiler, "build_ext", "--inplace").returncode == 0
    assert run(small_checkout, VERDICT) == [True, "", ""]


def test_clang_accepts_the_words_that_threads_share(tmp_path: Path) -> None:
    """Clang refuses Cython's conversions between atomic types and Python objects, and macOS has no other
    compiler; GCC accepts them.
    """
    pytest.importorskip("Cython", reason="Cython is not installed")
    headers = {name: path.read_text("utf-8") for name, path in headers_of(ROOT).items()}
    atomic = {name for name, text in headers.items() if re.search(r"cdef (public |readonly )?atomic_", text)}
    assert atomic
    uses = re.compile("|".join(rf"from {re.escape(name)} cimport" for name in sorted(atomic)))
    modules = sorted(name for name, text in headers.items() if name in atomic or uses.search(text))
    clang = shutil.which("clang")
    for file in run(ROOT, TRANSLATED.format(modules=modules, folder=str(tmp_path))):
        text = (ROOT / file).read_text("utf-8")
        assert not re.search(r"__Pyx_Py\w+_(From|As)_atomic_\w+\(", text), file
        if clang:
            command = [clang, "-fsyntax-only", "-w", f"-I{sysconfig.get_path('include')}", file]
            child = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
            assert child.returncode == 0, child.stderr


@pytest.mark.skipif(not build.compiled, reason="uncompiled, there are no modules to look at")
def test_no_module_carries_the_code_of_memory_views() -> None:
    """55 kB in each module that imports a header with one: a third of the wheel."""
    for path in build.compiled_files():
        assert b"View.MemoryView" not in Path(path).read_bytes(), path


# The bench: its default depth, and its expected counts.


def test_the_bench_is_shallower_uncompiled() -> None:
    code = "from search import benchmark; print(benchmark.DEPTH)"
    assert run(ROOT, code, "1") == benchmark.UNCOMPILED_DEPTH < benchmark.COMPILED_DEPTH
    if build.compiled:
        assert run(ROOT, code) == benchmark.COMPILED_DEPTH


def test_the_bench_says_how_deep_it_searches() -> None:
    ended = subprocess.run(
        [*ENGINE, "bench", "--depth", "1"], capture_output=True, encoding="utf-8", check=True
    )
    assert f"bench of {len(benchmark.POSITIONS)} positions at depth 1\n" in ended.stderr


def signature(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "bench" / "signature.py"), *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)


def test_the_expected_counts_are_those_of_the_default_depths() -> None:
    lines = (ROOT / "bench" / "signature.txt").read_text(encoding="ascii").splitlines()
    depths = [int(line.split()[0]) for line in lines]
    assert depths == [benchmark.UNCOMPILED_DEPTH, benchmark.COMPILED_DEPTH]


def test_a_count_other_than_expected_is_an_error_that_names_the_duty(tmp_path: Path) -> None:
    nodes = benchmark.Bench(benchmark.Settings(limit=1)).run().nodes
    file = tmp_path / "signature.txt"
    file.write_text(f"1 {nodes}\n", encoding="ascii")
    ended = signature("--file", str(file))
    assert (ended.returncode, ended.stdout.count(f" {nodes} nodes")) == (0, 1 + build.compiled)
    file.write_text(f"1 {nodes + 1}\n", encoding="ascii")
    ended = signature("--file", str(file))
    assert ended.returncode == 1
    assert f"{nodes} nodes instead of {nodes + 1}" in ended.stderr
    assert "--update" in ended.stderr


@pytest.mark.parametrize("text", ["x", "1", "1 2 3"])
def test_a_damaged_file_of_counts_is_an_error(tmp_path: Path, text: str) -> None:
    file = tmp_path / "signature.txt"
    file.write_text(text, encoding="ascii")
    ended = signature("--file", str(file))
    assert ended.returncode == 1
    assert f"line 1: {text!r}" in ended.stderr
