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
from tests.programs import run as run_bench
from x88 import build
from x88.build import PACKAGES
from x88.notation import fen

pytestmark = pytest.mark.slow

REBUILD = f"{sys.executable} -m pip install -e "
"""How the command that builds a checkout again begins, if the path has no spaces."""

TOP = ("x88", "search", "moff")

VERDICT = "from x88 import build; print(json.dumps([build.compiled, build.problem, build.notice()]))"
"""Decides, and loads nothing that can be compiled."""

LOADED = """
import importlib, pkgutil
for package in {packages}:
    folder = importlib.import_module(package).__path__
    for found in pkgutil.iter_modules(folder, package + "."):
        if found.name != "x88.compiled":  # the library
            importlib.import_module(found.name)
own = [name for name in sys.modules if name.partition(".")[0] in ("x88", "search", "moff")]
print(json.dumps({{name: sys.modules[name].__file__ for name in own}}))
"""
"""Loads every module and shows the file that each came from."""


def child(folder: Path, command: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command of Python in a folder, with MOFF_PURE only if it is among the variables."""
    environment = {name: value for name, value in os.environ.items() if name != "MOFF_PURE"}
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=environment | variables,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def run(folder: Path, code: str, pure: str = "") -> Any:
    """The JSON that a child process in the folder prints, with MOFF_PURE as given."""
    ended = child(folder, ["-c", f"import json, sys\n{code}"], MOFF_PURE=pure)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def loaded(folder: Path, pure: str = "", packages: tuple[str, ...] = PACKAGES) -> dict[str, str]:
    """The file of every module of Moff, by name; the packages are imported in the order given."""
    files: dict[str, str] = run(folder, LOADED.format(packages=packages), pure)
    return files


def libraries(folder: Path) -> list[Path]:
    """The libraries of compiled modules in a folder."""
    return [path for top in TOP for path in (folder / top).rglob("*") if path.suffix in (".so", ".pyd")]


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
        for file in libraries(copy):
            file.unlink()
        (copy / "x88" / f"compiled{EXTENSION_SUFFIXES[0]}").touch()
        note_as_compiled(copy)
    return copy


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
    assert all(words in problem for words in wanted), problem
    assert problem in notice
    assert all(file.endswith(".py") for file in loaded(folder).values())


def test_every_module_with_a_header_runs_compiled_or_none_does(is_compiled: bool) -> None:
    headers = headers_of(ROOT).keys()
    for order in (PACKAGES, PACKAGES[::-1]):
        files = loaded(ROOT, packages=order)
        compiled = {name for name, file in files.items() if not file.endswith(".py")}
        assert headers <= files.keys()
        assert compiled - {build.VARIANT} == ({*headers} if is_compiled else set())
        assert len({files[name] for name in compiled}) == is_compiled, "there is one library"


def test_tracebacks_name_file_and_line_of_the_source() -> None:
    with pytest.raises(ValueError, match="bad FEN") as raised:
        fen.parse("8/8")
    last = raised.traceback[-1]
    assert Path(last.path).parts[-3:] == ("x88", "notation", "fen.py")
    line = (ROOT / "x88/notation/fen.py").read_text("utf-8").splitlines()[last.lineno]
    assert line.strip().startswith("raise ValueError")


def test_moff_pure_forces_the_source(checkout: Path) -> None:
    compiled, problem, notice = run(checkout, VERDICT, "1")
    assert (compiled, problem) == (False, "")
    assert "MOFF_PURE" in notice
    for order in (PACKAGES, PACKAGES[::-1]):
        assert all(file.endswith(".py") for file in loaded(checkout, "1", order).values())
    for unset in ("", "0"):
        assert run(checkout, VERDICT, unset) == [True, "", ""]


def test_edited_source_runs_until_it_is_compiled(checkout: Path) -> None:
    for name in ("x88/perft/perft.py", "x88/board.pxd", "search/nnue/evaluate.py", *build.BUILT_BY):
        os.utime(checkout / name)
        assert run(checkout, VERDICT) == [True, "", ""], "only the content counts"
        edit(checkout / name)
        assert_source_runs(checkout, name, f"{REBUILD}{checkout}")
        note_as_compiled(checkout)
        assert run(checkout, VERDICT) == [True, "", ""]


def test_tests_refuse_a_stale_build(checkout: Path) -> None:
    edit(checkout / "x88/move.py")
    left_out = shutil.ignore_patterns("test_*", "__pycache__")
    shutil.copytree(ROOT / "tests", checkout / "tests", ignore=left_out)
    ended = child(checkout, ["-m", "pytest", "-n", "0"])
    assert ended.returncode == 1
    assert "x88/move.py changed" in ended.stdout + ended.stderr


def test_source_runs_unless_the_library_and_its_sources_are_known(checkout: Path) -> None:
    note = checkout / "x88/compiled.txt"
    for text in ("", "x88/board.py", "\0"):
        note.write_text(text, encoding="ascii")
        assert_source_runs(checkout, "it is not known", REBUILD)
    note.unlink()
    assert_source_runs(checkout, "it is not known", REBUILD)
    for file in libraries(checkout):
        file.unlink()
    compiled, problem, notice = run(checkout, VERDICT)
    assert (compiled, problem) == (False, "")
    assert "README.md" in notice
    assert f"`{REBUILD}{checkout}`" in notice


def test_installed_package_must_only_have_the_library(checkout: Path) -> None:
    for name in ("setup.py", "pyproject.toml", "bench/perft.py", "x88/compiled.txt"):
        (checkout / name).unlink()
    edit(checkout / "x88/board.py")
    assert run(checkout, VERDICT) == [True, "", ""]
    for file in libraries(checkout):
        file.unlink()
    compiled, problem, notice = run(checkout, VERDICT)
    assert (compiled, problem) == (False, "")
    assert "C compiler" in notice
    assert "--no-cache-dir" in notice


def test_engine_goes_on_with_what_it_has_when_moff_is_installed_anew(
    checkout: Path, is_compiled: bool
) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "moff"],
        cwd=checkout,
        env=os.environ | {"MOFF_PURE": str(int(not is_compiled))},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as engine:
        assert engine.stdin is not None
        assert engine.stdout is not None
        engine.stdin.write("isready\n")
        engine.stdin.flush()
        while engine.stdout.readline() != "readyok\n":
            pass
        for file in (*libraries(checkout), checkout / "x88" / "build.py"):
            shutil.copy(file, checkout / "new")
            (checkout / "new").replace(file)
        output, errors = engine.communicate("d\nsetoption name Debug Log File value x.log\ngo nodes 100\n")
    sentence = "Moff has been installed anew since it started: start it again"
    assert output.splitlines()[:2] == [
        f"info string d: {sentence}",
        f"info string setoption: Debug Log File: {sentence}",
    ]
    assert re.search("^bestmove [a-h]", output, re.MULTILINE)
    assert (engine.returncode, errors) == (0, "")


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
    for top in TOP:
        shutil.copytree(ROOT / top, copy / top, ignore=ignored)
    (copy / "bench").mkdir()
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE", "engine.py", "bench/perft.py"):
        shutil.copy(ROOT / name, copy / name)
    shutil.copy(ROOT / "search" / "score.pxd", copy / "search")
    return copy


def unpacked_wheel(folder: Path, compiler: str) -> tuple[str, Path, str]:
    """Build a wheel and unpack it; returns its name, the folder and the complaints of the build."""
    ended = child(folder, ["setup.py", "bdist_wheel"], CC=compiler)
    assert ended.returncode == 0, ended.stderr
    (wheel,) = (folder / "dist").iterdir()
    site = folder.parent / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return wheel.name, site, ended.stderr


def test_wheel_serves_every_later_python_unless_it_is_free_threaded(
    small_checkout: Path, real_compiler: str
) -> None:
    (small_checkout / "search" / "replay.pxd").touch()
    name, site, _ = unpacked_wheel(small_checkout, real_compiler)
    assert ("-cp311-abi3-" in name) is not bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    assert run(site, VERDICT) == [True, "", ""]
    assert len(libraries(site)) == 1
    assert loaded(site)["search.score"] == str(libraries(site)[0])
    assert not [*site.rglob("replay.*")], "only for bench/"


def test_wheel_built_without_a_compiler_is_pure_and_says_why(small_checkout: Path) -> None:
    pytest.importorskip("setuptools", "77", reason="setuptools is not installed, or too old")
    name, site, complaint = unpacked_wheel(small_checkout, "no-such-compiler")
    assert name.endswith("-none-any.whl")
    assert not libraries(site)
    compiled, _, notice = run(site, VERDICT)
    assert not compiled
    for text in (complaint, notice):
        assert "no-such-compiler" in text or sys.platform == "win32"
        assert text.count("README.md") == 1


def test_checkout_built_without_a_compiler_says_why_until_it_is_compiled(
    small_checkout: Path, real_compiler: str
) -> None:
    (small_checkout / "x88" / f"board{EXTENSION_SUFFIXES[0]}").touch()  # of an older version
    assert child(small_checkout, ["setup.py", "editable_wheel"], CC="no-such-compiler").returncode == 0
    assert not libraries(small_checkout)
    assert "no-such-compiler" in run(small_checkout, VERDICT)[2]
    in_place = ["setup.py", "build_ext", "--inplace"]
    refused = child(small_checkout, in_place, CC="no-such-compiler")
    assert refused.returncode != 0
    assert "no-such-compiler" in refused.stderr
    assert child(small_checkout, in_place, CC=real_compiler).returncode == 0
    assert run(small_checkout, VERDICT) == [True, "", ""]


def test_clang_accepts_atomic_words(tmp_path: Path) -> None:
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
    sources = [f"{name.replace('.', '/')}.py" for name in modules]
    options = f"build_dir={str(tmp_path)!r}, force=True, compiler_directives=DIRECTIVES"
    code = (
        f"from Cython.Build import cythonize; from setup import DIRECTIVES; cythonize({sources}, {options})"
    )
    assert child(ROOT, ["-c", code]).returncode == 0
    files = [*tmp_path.rglob("*.c")]
    assert len(files) == len(modules)
    for file in files:
        assert not re.search(r"__Pyx_Py\w+_(From|As)_atomic_\w+\(", file.read_text("utf-8")), file
        if clang:
            command = [clang, "-fsyntax-only", "-w", f"-I{sysconfig.get_path('include')}", file]
            subprocess.run(command, check=True)


@pytest.mark.skipif(not build.compiled, reason="uncompiled, there are no modules to look at")
def test_no_module_carries_the_code_of_memory_views() -> None:
    """55 kB in each module that imports a header with one: a third of the wheel."""
    assert b"View.MemoryView" not in Path(build.library()).read_bytes()


# The bench: its default depth, and its expected counts.


def test_bench_says_how_deep_it_searches_and_is_shallower_uncompiled() -> None:
    code = "from search import benchmark; print(benchmark.DEPTH)"
    assert run(ROOT, code, "1") == benchmark.UNCOMPILED_DEPTH < benchmark.COMPILED_DEPTH
    if build.compiled:
        assert run(ROOT, code) == benchmark.COMPILED_DEPTH
    lines = (ROOT / "bench" / "signature.txt").read_text(encoding="ascii").splitlines()
    depths = [int(line.split()[0]) for line in lines]
    assert depths == [benchmark.UNCOMPILED_DEPTH, benchmark.COMPILED_DEPTH]


def test_signature_refuses_other_counts_and_damaged_files(tmp_path: Path) -> None:
    nodes = benchmark.Bench(benchmark.Settings(limit=1)).run().nodes
    file = tmp_path / "signature.txt"
    for text, message in (
        (f"1 {nodes}\n", ""),
        (f"1 {nodes + 1}\n", f"{nodes} nodes instead of {nodes + 1}"),
        ("x", "line 1: 'x'"),
        ("1", "line 1: '1'"),
        ("1 2 3", "line 1: '1 2 3'"),
    ):
        file.write_text(text, encoding="ascii")
        ended = run_bench("signature", "--file", file, code=2 if "line" in message else int(bool(message)))
        assert message in ended.stderr
        if not message:
            assert ended.stdout.count(f" {nodes} nodes") == 1 + build.compiled
        assert ("--update" in ended.stderr) == ("instead" in message)
