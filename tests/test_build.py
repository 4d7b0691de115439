"""Which build runs: compiled or source, always as a whole, and never an old build in silence.

Each test works on a copy of this checkout, in child processes, with its compiled modules where it has them. A
checkout without gets empty files in their place: what must not be loaded then fails loudly if it is.
"""

import inspect
import io
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from collections.abc import Callable
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import pytest

from search import benchmark
from tests.client import ENGINE, Conversation
from x88 import build, movegen
from x88.build import PACKAGES

ROOT = Path(__file__).resolve().parent.parent

REBUILD = f"{sys.executable} -m pip install"
"""How every command that builds Moff again begins, if the path has no spaces."""

VERDICT = "from x88 import build; print(json.dumps([build.compiled, build.problem, build.notice()]))"
"""Decides, and loads nothing that can be compiled."""

OBSTACLE = """
import importlib.util
spec = importlib.util.spec_from_file_location("moff_setup", "setup.py")
setup = importlib.util.module_from_spec(spec)
spec.loader.exec_module(setup)
def which(name, real=setup.shutil.which):
    return name if name == {manager!r} else None if name in setup.PACKAGE_MANAGERS else real(name)
setup.shutil.which = which
if {include!r}:
    setup.sysconfig.get_path = lambda name: {include!r}
print(json.dumps(setup.obstacle()))
"""
"""Why setup.py would not compile, given the package manager and the folder of Python's headers."""

CHOICE = """
import importlib.util
spec = importlib.util.spec_from_file_location("moff_setup", "setup.py")
setup = importlib.util.module_from_spec(spec)
spec.loader.exec_module(setup)
setup.sys.platform = {platform!r}
setup.platform.machine = lambda: {machine!r}
print(json.dumps({asked}))
"""
"""What setup.py chooses for a compiler on a machine."""

WITHOUT_INSPECT = """
import importlib.util
spec = importlib.util.spec_from_file_location("moff_setup", "setup.py")
setup = importlib.util.module_from_spec(spec)
spec.loader.exec_module(setup)
print(json.dumps(setup.without_inspect({path!r})))
"""
"""Takes `inspect` out of a module translated to C."""

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

COUNTS = """
from x88 import fen
from x88.perft import Counter
counts = []
for text in (fen.START, "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"):
    for playing in (False, True):
        counts += [Counter(fen.parse(text), playing).leaves_under([], depth) for depth in (1, 2, 3)]
print(json.dumps(counts))
"""


def run(folder: Path, code: str, pure: str | None = None) -> Any:
    """What a child process in the folder prints, with MOFF_PURE as given."""
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
        for package in PACKAGES
        for file in sorted((folder / package).iterdir())
        if file.name.endswith(tuple(EXTENSION_SUFFIXES))
        and f"{package}.{file.name.partition('.')[0]}" not in build.VARIANTS
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
    assert_source_runs(checkout, name, f"{REBUILD} -e {checkout}")


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
    assert run(checkout, VERDICT)[1].count(".pxd") == 3


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
    assert_source_runs(installed, f"{REBUILD} --force-reinstall")


def test_an_uncompiled_installation_says_how_to_build_it(installed: Path) -> None:
    for file in compiled_files(installed):
        file.unlink()
    compiled, problem, notice = run(installed, VERDICT)
    assert (compiled, problem) == (False, "")
    assert "C compiler" in notice
    assert REBUILD in notice


@pytest.mark.parametrize(
    ("record", "origin"),
    [
        ({"url": "file:///home/a%20b/moff-1.0.tar.gz", "archive_info": {}}, '"/home/a b/moff-1.0.tar.gz"'),
        ({"url": "https://host/moff.git", "vcs_info": {"vcs": "git"}}, "git+https://host/moff.git"),
        ({"url": "https://host/moff-1.0.tar.gz", "archive_info": {}}, "https://host/moff-1.0.tar.gz"),
        (None, "moff-chess"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="the path is one of Unix")
def test_an_installation_is_built_again_from_where_it_came(
    installed: Path, record: dict[str, Any] | None, origin: str
) -> None:
    for file in compiled_files(installed):
        file.unlink()
    metadata = installed / "moff_chess-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: moff-chess\nVersion: 1.0\n", encoding="utf-8"
    )
    if record is not None:
        (metadata / "direct_url.json").write_text(json.dumps(record), encoding="utf-8")
    assert f"{REBUILD} --force-reinstall --no-deps --no-cache-dir {origin}`" in run(installed, VERDICT)[2]


def test_the_reason_noted_by_the_build_is_told_with_both_commands(checkout: Path) -> None:
    for file in compiled_files(checkout):
        file.unlink()
    build.note_obstacle(str(checkout / "x88"), "the headers are gone", "fetch headers")
    notice = run(checkout, VERDICT)[2]
    assert "the headers are gone" in notice
    assert notice.index("`fetch headers`") < notice.index(f"`{REBUILD} -e {checkout}`")
    build.note_obstacle(str(checkout / "x88"), "nobody knows", "")
    notice = run(checkout, VERDICT)[2]
    assert "nobody knows" in notice
    assert notice.count("`") == 2, "one command only"


def test_the_reason_is_forgotten_when_the_modules_are_compiled(checkout: Path) -> None:
    build.note_obstacle(str(checkout / "x88"), "the headers are gone", "fetch headers")
    note_as_compiled(checkout)
    assert run(checkout, VERDICT) == [True, "", ""]
    assert not (checkout / "x88" / "obstacle.txt").exists()


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff\xfe", b"only a reason"])
def test_a_damaged_note_is_no_harm(checkout: Path, content: bytes) -> None:
    for file in compiled_files(checkout):
        file.unlink()
    (checkout / "x88" / "obstacle.txt").write_bytes(content)
    assert f"{REBUILD} -e {checkout}" in run(checkout, VERDICT)[2]


def test_the_engine_s_name_tells_the_slow_build() -> None:
    for pure in (False, True):
        with Conversation(pure) as conversation:
            conversation.send("uci")
            (name,) = [line for line in conversation.until("uciok") if line.startswith("id name ")]
            assert name.endswith(" (uncompiled)") == (pure or not build.compiled)


# Fake compilers: what setup.py says of them, and what is installed with them.


@pytest.fixture
def real_compiler() -> str:
    """The command that compiles C here, with what building Moff needs besides."""
    setuptools = pytest.importorskip("setuptools", reason="setuptools is not installed")
    if int(setuptools.__version__.partition(".")[0]) < 77:
        pytest.skip("setuptools is older than the build needs")
    if sys.platform == "win32":
        pytest.skip("a shell script is no compiler on Windows")
    command = (sysconfig.get_config_var("CC") or "cc").split()[0]
    if shutil.which(command) is None:
        pytest.skip("no C compiler is installed")
    return command


def fake_compiler(folder: Path, script: str) -> str:
    """The path of a shell script that is called like a compiler."""
    file = folder / "fake-cc"
    file.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    file.chmod(0o755)
    return str(file)


def refuses(flags: list[str], compiler: str) -> str:
    """A script that fails at any of the flags and is the real compiler otherwise."""
    return f'''for word; do
    case $word in {"|".join(flags)}) echo "fake-cc: unknown option $word" >&2; exit 1;; esac
done
exec {compiler} "$@"'''


def fails_on(text: str, compiler: str) -> str:
    """A script that fails at a source with a text and is the real compiler otherwise."""
    return f'''for word; do
    case $word in *.c) if grep -q "{text}" "$word"; then echo "fake-cc: no {text}" >&2; exit 1; fi;; esac
done
exec {compiler} "$@"'''


def obstacle(manager: str = "apt-get", include: str = "", **variables: str) -> tuple[str, str]:
    """What setup.py says with the environment variables given."""
    environment = {name: value for name, value in os.environ.items() if name not in ("CC", "LDSHARED")}
    code = f"import json, sys\n{OBSTACLE.format(manager=manager, include=include)}"
    child = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**environment, "MOFF_PURE": "0", **variables},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert child.returncode == 0, child.stderr
    reason, remedy = json.loads(child.stdout.splitlines()[-1])
    return reason, remedy


needs_headers = pytest.mark.skipif(
    not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")),
    reason="Python's headers are not installed",
)
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="the package managers are Linux's")


@needs_headers
def test_a_working_compiler_is_no_obstacle(real_compiler: str) -> None:
    assert obstacle(CC=real_compiler) == ("", "")


@pytest.mark.usefixtures("real_compiler")
def test_moff_pure_is_the_reason_when_it_is_set() -> None:
    assert obstacle(MOFF_PURE="1") == ("MOFF_PURE was set", "")


@on_linux
@pytest.mark.parametrize(
    ("manager", "command"),
    [
        ("apt-get", "apt install gcc libc6-dev"),
        ("dnf", "dnf install gcc"),
        ("pacman", "pacman -S --needed gcc"),
        ("zypper", "zypper install gcc"),
        ("apk", "apk add gcc musl-dev"),
        ("", ""),
    ],
)
@pytest.mark.usefixtures("real_compiler")
def test_no_compiler_is_told_with_the_command_that_installs_one(
    tmp_path: Path, manager: str, command: str
) -> None:
    reason, remedy = obstacle(manager, PATH=str(tmp_path))
    assert "no C compiler was found" in reason
    assert remedy.removeprefix("sudo ") == command


@on_linux
@pytest.mark.usefixtures("real_compiler")
def test_no_compiler_and_no_headers_are_told_at_once(tmp_path: Path) -> None:
    reason, remedy = obstacle("apt-get", "/usr/include/python3", PATH=str(tmp_path))
    assert "no C compiler was found" in reason
    assert "Python's headers were missing (/usr/include/python3/Python.h)" in reason
    headers = f"python3.{sys.version_info.minor}-dev"
    assert remedy.removeprefix("sudo ") == f"apt install gcc libc6-dev {headers}"


def test_a_compiler_that_only_cc_names_is_told(real_compiler: str) -> None:
    if not (shutil.which("cc") or shutil.which("gcc")):
        pytest.skip("no compiler has one of the usual names")
    reason, remedy = obstacle(CC="no-such-compiler")
    assert "there is no no-such-compiler" in reason
    assert remedy == "unset CC"


@pytest.mark.usefixtures("real_compiler")
def test_a_compiler_that_always_fails_is_told_from_a_missing_one(tmp_path: Path) -> None:
    reason, _ = obstacle(CC=fake_compiler(tmp_path, "exit 1"))
    assert "fake-cc) failed at an empty program" in reason


@on_linux
@pytest.mark.parametrize(
    ("manager", "command"),
    [
        ("apt-get", "apt install python3.{minor}-dev"),
        ("dnf", "dnf install python3.{minor}-devel"),
        ("dnf", "dnf install python3-devel"),
        ("zypper", "zypper install python3{minor}-devel"),
        ("apk", "apk add python3-dev"),
    ],
)
def test_missing_headers_of_python_are_told_with_the_command_that_installs_them(
    tmp_path: Path, real_compiler: str, manager: str, command: str
) -> None:
    compiler = fake_compiler(tmp_path, fails_on("Python.h", real_compiler))
    reason, remedy = obstacle(manager, "/usr/include/python3", CC=compiler)
    assert reason == "Python's headers were missing (/usr/include/python3/Python.h)"
    default = os.path.realpath("/usr/bin/python3") == os.path.realpath(sys.executable)
    if manager == "dnf" and default != ("python3-" in command):
        pytest.skip("the name of the package depends on the Python that runs")
    assert remedy.removeprefix("sudo ") == command.format(minor=sys.version_info.minor)


def test_headers_of_a_python_that_is_no_package_have_no_command(tmp_path: Path, real_compiler: str) -> None:
    compiler = fake_compiler(tmp_path, fails_on("Python.h", real_compiler))
    reason, remedy = obstacle(include="/opt/python/include", CC=compiler)
    assert "Python's headers were missing" in reason
    assert remedy in ("", "xcode-select --install")


@needs_headers
def test_headers_of_python_that_do_not_compile_are_told(tmp_path: Path, real_compiler: str) -> None:
    reason, remedy = obstacle(CC=fake_compiler(tmp_path, fails_on("Python.h", real_compiler)))
    assert "Python's headers did not compile" in reason
    assert remedy == ""


def test_missing_headers_of_the_c_library_are_told(tmp_path: Path, real_compiler: str) -> None:
    script = fails_on("stdlib.h\\|Python.h", real_compiler)
    reason, remedy = obstacle(CC=fake_compiler(tmp_path, script))
    assert "headers of the C library" in reason
    if sys.platform == "linux":
        assert "libc6-dev" in remedy


@needs_headers
def test_a_compiler_that_cannot_link_is_told(tmp_path: Path, real_compiler: str) -> None:
    flag = "-bundle" if sys.platform == "darwin" else "-shared"
    reason, _ = obstacle(CC=fake_compiler(tmp_path, refuses([flag], real_compiler)))
    assert "could not link an extension module" in reason


@pytest.mark.parametrize(
    ("compiler", "platform", "machine"),
    [("msvc", "win32", "AMD64"), ("mingw32", "win32", "AMD64"), ("unix", "linux", "x86_64")],
)
@pytest.mark.usefixtures("real_compiler")
def test_flags_are_the_compiler_s(compiler: str, platform: str, machine: str) -> None:
    flags = run(
        ROOT, CHOICE.format(asked=f"setup.flags_for({compiler!r})", platform=platform, machine=machine)
    )
    assert ("/O2" in flags) == ("/volatile:ms" in flags) == (compiler == "msvc")
    assert ("-fno-wrapv" in flags) == (compiler != "msvc")
    assert not [flag for flag in flags if flag.startswith("-m")], "wheels run on every such processor"
    loops = run(
        ROOT, CHOICE.format(asked=f"setup.vector_flags({compiler!r})", platform=platform, machine=machine)
    )
    assert set(loops) ^ set(flags) == (
        set() if compiler == "msvc" else {"-fno-tree-vectorize", "-funroll-loops"}
    )


@pytest.mark.parametrize(
    ("platform", "machine", "is_built"),
    [
        ("linux", "x86_64", True),
        ("win32", "AMD64", True),
        ("darwin", "arm64", True),
        ("linux", "aarch64", False),
    ],
)
def test_loops_for_avx2_are_built_where_a_processor_may_have_it(
    platform: str, machine: str, is_built: bool
) -> None:
    asked = "[extension.name for extension in setup.extensions()]"
    names = run(ROOT, CHOICE.format(asked=asked, platform=platform, machine=machine))
    assert ("search.vectors_avx2" in names) == is_built
    assert "search.vectors" in names


def test_a_build_may_lack_the_loops_for_newer_processors(checkout: Path) -> None:
    for file in (checkout / "search").glob("vectors_avx2.*"):
        file.unlink()
    assert run(checkout, VERDICT) == [True, "", ""]


def test_clang_accepts_the_words_that_threads_share(tmp_path: Path) -> None:
    """Clang refuses Cython's conversions between atomic types and Python objects, and macOS has no other
    compiler; GCC accepts them.
    """
    pytest.importorskip("Cython", reason="Cython is not installed")
    headers = {
        f"{package}.{path.stem}": path.read_text("utf-8")
        for package in PACKAGES
        for path in (ROOT / package).glob("*.pxd")
    }
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


@pytest.fixture
def small_checkout(tmp_path: Path, real_compiler: str) -> Path:
    """A source tree whose one compiled module is quickly built."""
    pytest.importorskip("Cython", reason="Cython is not installed")
    copy = tmp_path / "small"
    for package in (*PACKAGES, "moff"):
        shutil.copytree(
            ROOT / package,
            copy / package,
            ignore=shutil.ignore_patterns("*.pxd", "*.so", "*.txt", "__pycache__"),
        )
    (copy / "bench").mkdir()
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE", "engine.py", "bench/perft.py"):
        shutil.copy(ROOT / name, copy / name)
    shutil.copy(ROOT / "search" / "score.pxd", copy / "search" / "score.pxd")
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


def test_flags_that_the_compiler_refuses_are_left_out(
    small_checkout: Path, tmp_path: Path, real_compiler: str
) -> None:
    flags = ["-fno-wrapv", "-fno-tree-vectorize"]
    compiler = fake_compiler(tmp_path, refuses(flags, real_compiler))
    ended = build_with(small_checkout, compiler, "build_ext", "--inplace")
    assert ended.returncode == 0, ended.stderr
    assert len(compiled_files(small_checkout)) == 1
    assert run(small_checkout, VERDICT)[0]
    assert set(re.findall("refuses (.*),", ended.stderr)) == set(flags)


@pytest.mark.parametrize("is_absolute", [False, True], ids=["relative", "absolute"])
def test_no_path_of_the_build_folder_is_nested(
    small_checkout: Path, real_compiler: str, is_absolute: bool
) -> None:
    # The first is the folder of a wheel, the second that of an editable install.
    folder = small_checkout / "build" / "temp"
    shutil.copy(ROOT / "search" / "vectors.pxd", small_checkout / "search")
    where = str(folder if is_absolute else folder.relative_to(small_checkout))
    ended = build_with(small_checkout, real_compiler, "build_ext", "--inplace", "--build-temp", where)
    assert ended.returncode == 0, ended.stderr
    made = [path.relative_to(folder) for path in folder.rglob("*.[co]")]
    assert {path.suffix for path in made} == {".c", ".o"}
    assert {path.parent for path in made} == {Path("search")}


def test_an_uncompiled_wheel_keeps_the_reason(small_checkout: Path, tmp_path: Path) -> None:
    ended = build_with(
        small_checkout, "no-such-compiler", "bdist_wheel", "--dist-dir", str(tmp_path / "dist")
    )
    assert ended.returncode == 0, ended.stderr
    assert "no-such-compiler" in ended.stderr
    assert "install Moff again" in ended.stderr or sys.platform != "linux"
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    assert wheel.name.endswith("-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    assert not compiled_files(tmp_path / "site")
    compiled, _, notice = run(tmp_path / "site", VERDICT)
    assert not compiled
    assert "no-such-compiler" in notice
    assert f"{REBUILD} --force-reinstall" in notice


def test_an_uncompiled_checkout_keeps_the_reason_until_it_is_compiled(
    small_checkout: Path, tmp_path: Path, real_compiler: str
) -> None:
    ended = build_with(
        small_checkout, "no-such-compiler", "editable_wheel", "--dist-dir", str(tmp_path / "dist")
    )
    assert ended.returncode == 0, ended.stderr
    assert "no-such-compiler" in run(small_checkout, VERDICT)[2]
    assert build_with(small_checkout, real_compiler, "build_ext", "--inplace").returncode == 0
    assert run(small_checkout, VERDICT) == [True, "", ""]


def test_a_source_distribution_has_the_same_bytes_whoever_packs_it(
    small_checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def packed(day: int) -> bytes:
        """The archive of a fresh checkout whose files all have this date."""
        shutil.rmtree(small_checkout / "moff_chess.egg-info", ignore_errors=True)
        for path in small_checkout.rglob("*"):
            os.utime(path, (day, day))
        folder = tmp_path / f"dist{day}"
        ended = build_with(small_checkout, "no-such-compiler", "sdist", "--dist-dir", str(folder))
        assert ended.returncode == 0, ended.stderr
        (archive,) = folder.iterdir()
        return archive.read_bytes()

    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    first = packed(1_600_000_000)
    (small_checkout / "setup.py").chmod(0o600)
    assert packed(1_650_000_000) == first
    with tarfile.open(fileobj=io.BytesIO(first)) as archive:
        members = archive.getmembers()
        owners = {(entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname) for entry in members}
        assert owners == {(1_700_000_000, 0, 0, "", "")}
        names = {entry.name.partition("/")[2] for entry in members}
    assert {"setup.py", "x88/board.py", "search/score.pxd", "PKG-INFO"} <= names
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    assert packed(1_650_000_001) != first
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "4294967296")
    ended = build_with(small_checkout, "no-such-compiler", "sdist", "--dist-dir", str(tmp_path / "none"))
    assert ended.returncode != 0
    assert "SOURCE_DATE_EPOCH: '4294967296' is not a number of seconds below 2 ** 32" in ended.stderr
    assert not (tmp_path / "none").exists()


def test_a_wheel_built_again_elsewhere_and_later_is_the_same(
    small_checkout: Path, tmp_path: Path, real_compiler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    other = tmp_path / "another folder"
    shutil.copytree(small_checkout, other)
    wheels = []
    for folder, day in ((small_checkout, 1_600_000_000), (other, 1_650_000_000)):
        for path in folder.rglob("*"):
            os.utime(path, (day, day))
        ended = build_with(folder, real_compiler, "bdist_wheel", "--dist-dir", str(folder / "dist"))
        assert ended.returncode == 0, ended.stderr
        (wheel,) = (folder / "dist").iterdir()
        wheels.append(wheel.read_bytes())
    assert wheels[0] == wheels[1]
    with zipfile.ZipFile(io.BytesIO(wheels[0])) as archive:
        assert any(name.startswith("search/score.") and name.endswith(".so") for name in archive.namelist())
        assert {entry.date_time for entry in archive.infolist()} == {(2023, 11, 14, 22, 13, 20)}


@pytest.fixture
def metadata(
    small_checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], str | None]:
    """What a source distribution tells a package index, given MOFF_PAGES; None if it is refused as such."""

    def packed(pages: str) -> str | None:
        monkeypatch.setenv("MOFF_PAGES", pages)
        folder = tmp_path / f"dist{len(list(tmp_path.iterdir()))}"
        ended = build_with(small_checkout, "no-such-compiler", "sdist", "--dist-dir", str(folder))
        if ended.returncode:
            assert f"MOFF_PAGES: {pages!r} is not like https://github.com/OWNER/moff/blob/v1" in ended.stderr
            return None
        with tarfile.open(*folder.iterdir()) as archive:
            (name,) = [name for name in archive.getnames() if re.fullmatch("[^/]+/PKG-INFO", name)]
            file = archive.extractfile(name)
            assert file is not None
            return file.read().decode()

    return packed


@pytest.mark.parametrize("url", ["", "https://github.com/you/moff.git"])
def test_a_package_index_gets_the_readme_without_relative_links(
    small_checkout: Path, metadata: Callable[[str], str | None], url: str
) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    if url:  # as docs/releasing.md says
        readme = readme.replace("git clone URL", f"git clone {url}")
        readme = readme.replace(" (URL is the address of this repository)", "")
        (small_checkout / "README.md").write_text(readme, encoding="utf-8")
    assert (metadata("") or "").endswith(readme)
    found = metadata("https://github.com/me/moff/blob/v1.2") or ""
    links = re.findall(r'\]\(([^)]+)\)|(?:src|srcset)="([^"]+)"', found)
    assert len(links) == len(re.findall(r'\]\(|(?:src|srcset)="', readme)) > 15
    for text in map("".join, links):
        kind = "raw" if text.endswith((".png", ".svg")) else "blob"
        start = f"https://github.com/me/moff/{kind}/v1.2/"
        assert text.startswith(start)
        assert (ROOT / text.removeprefix(start).partition("#")[0]).is_file()
    lines = found.splitlines()
    assert "Description-Content-Type: text/markdown" in lines
    for name, path in (
        ("Repository", ""),
        ("Documentation", "docs/index.md"),
        ("Changelog", "CHANGELOG.md"),
    ):
        version = "/blob/v1.2/" if path else ""
        assert f"Project-URL: {name}, https://github.com/me/moff{version}{path}" in lines
    assert "git clone https://github.com/me/moff moff && cd moff" in lines
    assert "(URL is" not in found
    release = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    assert re.search(r"^  MOFF_PAGES: \$\{\{", release, re.MULTILINE)
    containers = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["cibuildwheel"]["linux"]
    assert "MOFF_PAGES" in containers["environment-pass"]


def test_only_relative_links_become_absolute(
    small_checkout: Path, metadata: Callable[[str], str | None]
) -> None:
    text = (
        '[a](https://x.org/y) [b](mailto:x@y.z) [c](#d) <a href="docs/e.md">e</a> ![f](g.svg) [h](i.md#j)\n'
    )
    (small_checkout / "README.md").write_text(text, encoding="utf-8")
    assert (metadata("https://a.b/me/blob/blob/blob/v1") or "").endswith(
        "[a](https://x.org/y) [b](mailto:x@y.z) [c](#d) "
        '<a href="https://a.b/me/blob/blob/blob/v1/docs/e.md">e</a> '
        "![f](https://a.b/me/blob/raw/blob/v1/g.svg) [h](https://a.b/me/blob/blob/blob/v1/i.md#j)\n"
    )
    (small_checkout / "README.md").unlink()
    assert "\nVersion: " in (metadata("") or "")


@pytest.mark.parametrize(
    "pages",
    [
        "github.com/me",
        "https://github.com/me/moff",
        "https://github.com/me/moff/blob/v1 x",
        "https://github.com/me/moff/blob/v1/",
    ],
)
def test_what_is_no_address_of_a_version_is_refused(
    pages: str, metadata: Callable[[str], str | None]
) -> None:
    assert metadata(pages) is None


def test_a_build_of_the_extensions_alone_fails_without_a_compiler(small_checkout: Path) -> None:
    ended = build_with(small_checkout, "no-such-compiler", "build_ext", "--inplace")
    assert ended.returncode != 0
    assert "no-such-compiler" in ended.stderr


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
    with Conversation() as conversation:
        conversation.send("bench 16 1 1")
        assert any("at depth 1" in line for line in conversation.until(tuple("123456789")))


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


@pytest.mark.skipif(not build.compiled, reason="uncompiled, there are no modules to look at")
def test_no_module_carries_the_code_of_memory_views() -> None:
    """55 kB in each module that imports a header with one: a third of the wheel."""
    for path in build.compiled_files():
        assert b"View.MemoryView" not in Path(path).read_bytes(), path


@pytest.mark.skipif(not build.compiled, reason="uncompiled, there are no modules to look at")
def test_no_module_needs_inspect_for_the_flags_of_its_functions() -> None:
    for path in build.compiled_files():
        assert b"inspect" not in Path(path).read_bytes(), path
    assert movegen.legal_moves.__code__.co_flags == inspect.CO_OPTIMIZED | inspect.CO_NEWLOCALS


@pytest.mark.parametrize(
    ("more", "kept"),
    [
        ("", False),
        ("other(inspect);", True),
        ('__Pyx_init_co_variable(inspect, "CO_NESTED", &CO_NESTED);', True),
        ('inspect = PyImport_ImportModule("inspect");', True),
    ],
)
def test_a_module_that_needs_inspect_for_something_else_keeps_it(
    tmp_path: Path, more: str, kept: bool
) -> None:
    pytest.importorskip("setuptools", reason="setuptools is not installed")
    before = f"""
static int __Pyx_init_co_variable(PyObject *inspect, const char* name, int *write_to) {{
    PyObject *py_value = PyObject_GetAttrString(inspect, name);
}}
    PyObject *inspect;
    inspect = PyImport_ImportModule("inspect");
    __Pyx_init_co_variable(inspect, "CO_OPTIMIZED", &CO_OPTIMIZED);
    {more}
    Py_DECREF(inspect);
"""
    path = tmp_path / "module.c"
    path.write_text(before, encoding="utf-8")
    run(ROOT, WITHOUT_INSPECT.format(path=str(path)))
    after = before.replace('"inspect"', '"sys"').replace("static int", "static CYTHON_UNUSED int")
    assert path.read_text(encoding="utf-8") == (before if kept else after)
