"""The native build: every module with a .pxd next to it becomes a C extension, or none does.

Without a working C compiler, or with MOFF_PURE set, the package installs as plain Python: slower, but
complete. The build then records what is missing and how to install it, and Moff says so whenever it runs
(`x88.build`).
"""

import glob
import gzip
import importlib.util
import inspect
import os
import platform
import re
import shutil
import sys
import sysconfig
import tarfile
import tempfile
from pathlib import PurePath
from types import ModuleType
from typing import Any

from setuptools import Distribution, Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist
from setuptools.errors import BaseError, CCompilerError, PlatformError

DIRECTIVES = {
    "language_level": 3,
    "infer_types": True,  # locals take the C type of the assigned value
    "annotation_typing": False,  # annotations are for readers and mypy; the headers give the C types
    "cdivision": True,
    "allow_none_for_extension_args": False,  # None would crash what takes a board
    "auto_pickle": False,  # nobody pickles a board or a search, and the code for it would be large
    "freethreading_compatible": True,  # else a free-threaded Python switches its GIL on, with a warning
}
BENCH_ONLY = ("search.replay",)
"""Modules that only bench/ and tests/ use: a checkout has them, a wheel does not."""

VECTORS = "search.vectors"
"""The only module whose loops are compiled to vector instructions."""

AVX2_VECTORS = "search.vectors_avx2"
"""The same source, compiled for processors with AVX2."""

GLUE = ("search.job", "search.pool", "search.search")
"""Modules that run once per search rather than once per node: compiled for size."""

STABLE_ABI = not sysconfig.get_config_var("Py_GIL_DISABLED")  # one wheel serves every CPython from 3.11 on
SMALL = {"-O3": "-Os", "/O2": "/O1"}
"""The flags for small code in place of those for fast code."""

CODE_FLAGS = ("OPTIMIZED", "NEWLOCALS", "VARARGS", "VARKEYWORDS", "GENERATOR", "COROUTINE", "ASYNC_GENERATOR")
"""The flags of code objects that Cython needs."""

FAILURES = (BaseError, CCompilerError, OSError)
"""What compiling and linking raise."""

PROBES = {
    "compiler": "int probe;\n",
    "library": "#include <stdio.h>\n#include <stdlib.h>\nint probe;\n",
    "headers": "#include <Python.h>\nPyMODINIT_FUNC PyInit_probe(void) { return NULL; }\n",
}
"""C sources that need more and more of what an extension needs."""

PICTURES = (".png", ".svg")
"""What a README shows rather than links to."""

PACKAGE_MANAGERS = {
    # zypper first: openSUSE has an apt-get that is not the real one.
    "zypper": ("zypper install", "gcc", "python{0}{1}-devel"),
    "apt-get": ("apt install", "gcc libc6-dev", "python{0}.{1}-dev"),
    "dnf": ("dnf install", "gcc", "python{0}.{1}-devel"),
    "yum": ("yum install", "gcc", "python{0}.{1}-devel"),
    "pacman": ("pacman -S --needed", "gcc", "python"),
    "apk": ("apk add", "gcc musl-dev", "python3-dev"),
    "xbps-install": ("xbps-install", "gcc", "python3-devel"),
    "emerge": ("emerge", "sys-devel/gcc", "dev-lang/python"),
}
"""By the program that installs packages: its command, the C compiler with the C library, Python's headers."""

BUILD_TOOLS = (
    "winget install Microsoft.VisualStudio.2022.BuildTools --override "
    '"--wait --passive --add Microsoft.VisualStudio.Workload.VCTools --includeRecommended"'
)


def load_build() -> ModuleType:
    """x88/build.py alone: importing the package would load modules that are not compiled yet."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "x88", "build.py")
    spec = importlib.util.spec_from_file_location("moff_build", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class BuildSource(build_py):
    """Starts from scratch: no compiled module of an earlier build may outlive its source."""

    obstacle = ""
    """Why this build stays uncompiled, if it does."""

    remedy = ""
    """The command that installs what is missing, where one is known."""

    def run(self) -> None:
        build = load_build()
        if self.editable_mode:
            for path in build.compiled_files():
                os.remove(path)
        else:
            shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()
        if self.obstacle:
            folder = os.path.dirname(build.__file__) if self.editable_mode else f"{self.build_lib}/x88"
            build.note_obstacle(folder, self.obstacle, self.remedy)
            print(f"\n{complaint(self.obstacle, self.remedy)}\n", file=sys.stderr)

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        found: list[tuple[str, str, str]] = super().find_package_modules(package, package_dir)
        return [module for module in found if f"{package}.{module[1]}" not in BENCH_ONLY]


class SourceDistribution(sdist):
    """With SOURCE_DATE_EPOCH in the environment, the same files give the same bytes, whoever packs them with
    the same tools.
    """

    def make_archive(
        self,
        base_name: str,
        format: str,
        root_dir: str | None = None,
        base_dir: str | None = None,
        owner: str | None = None,
        group: str | None = None,
    ) -> str:
        epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
        if epoch and not (epoch.isdecimal() and int(epoch) < 1 << 32):
            raise PlatformError(f"SOURCE_DATE_EPOCH: {epoch!r} is not a number of seconds below 2 ** 32")
        if not epoch or format != "gztar" or root_dir or not base_dir:
            path: str = super().make_archive(base_name, format, root_dir, base_dir, owner, group)
            return path

        def normalised(entry: tarfile.TarInfo) -> tarfile.TarInfo:
            entry.mtime = int(epoch)
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            entry.mode = 0o755 if entry.mode & 0o100 else 0o644
            return entry

        os.makedirs(os.path.dirname(base_name) or ".", exist_ok=True)
        names = [base_dir, *glob.glob(f"{base_dir}/**", recursive=True, include_hidden=True)]
        with (
            open(f"{base_name}.tar.gz", "wb") as file,
            gzip.GzipFile("", "wb", fileobj=file, mtime=int(epoch)) as packed,
            tarfile.open(fileobj=packed, mode="w", dereference=True) as archive,
        ):
            for name in sorted({os.path.normpath(name) for name in names}):
                archive.add(name, recursive=False, filter=normalised)
        return f"{base_name}.tar.gz"


class Compiling(build_ext):
    """Compiles with the flags that suit the compiler."""

    def build_extensions(self) -> None:
        # Some Pythons link with the path of their own libraries, which our modules do not need elsewhere.
        if isinstance(linker := getattr(self.compiler, "linker_so", None), list):
            self.compiler.linker_so = [word for word in linker if not word.startswith("-Wl,-rpath")]
        flags = accepted(self.compiler, flags_for(self.compiler.compiler_type))
        vectorising = accepted(self.compiler, vector_flags(self.compiler.compiler_type))
        newer = vectorising + avx2_flags(self.compiler.compiler_type)
        small = [SMALL.get(flag, flag) for flag in flags]
        for extension in [*self.extensions]:
            extension.extra_compile_args = small if extension.name in GLUE else flags
            if sys.platform == "linux":
                extension.extra_link_args = ["-s"]  # no symbols, which take a tenth of the space
            if extension.name == VECTORS:
                extension.extra_compile_args = vectorising
            elif extension.name == AVX2_VECTORS:
                extension.extra_compile_args = newer
                if not compiles(self.compiler, PROBES["compiler"], newer):
                    self.extensions.remove(extension)
        super().build_extensions()


class BuildExtensions(Compiling):
    """Compiles on all cores, and records the sources of modules built in place."""

    def finalize_options(self) -> None:
        self.parallel = self.parallel or os.cpu_count()
        super().finalize_options()

    def run(self) -> None:
        if BuildSource.obstacle:  # requested explicitly; an installation works without
            raise PlatformError(complaint(BuildSource.obstacle, BuildSource.remedy))
        from Cython.Build import cythonize

        build = load_build()
        digests = build.digests()  # before compiling: an edit made meanwhile is not in the compiled module
        if self.inplace:
            # Cython and setuptools compare times, our check of stale builds compares contents.
            changed = {name for name, _ in digests.items() ^ build.recorded().items()}
            self.force = self.force or "setup.py" in changed
            for name in changed & digests.keys():
                os.utime(name)
        else:
            self.force = True
            self.extensions = [extension for extension in self.extensions if extension.name not in BENCH_ONLY]
        for extension in self.extensions:
            is_copy = extension.name == AVX2_VECTORS
            if is_copy:
                extension.sources = [self.copied(VECTORS, AVX2_VECTORS)]
            (translated,) = cythonize(
                extension,
                build_dir=None if is_copy else self.build_temp,  # a copy is in the build folder already
                compiler_directives=DIRECTIVES,
                force=self.force,
            )
            extension.sources = translated.sources
            if STABLE_ABI:
                without_inspect(extension.sources[0])
        # Object files go beside their C code. Below `build_temp` they would have its path once more, and
        # Windows allows 260 characters.
        self.build_temp = PurePath(self.build_temp).anchor
        super().run()
        if self.inplace:
            build.record(digests)

    def copied(self, module: str, name: str) -> str:
        """Copy a module's source and header under another name into the build folder; returns the path."""
        target = os.path.join(self.build_temp, *name.split("."))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        # Cython finds the header of a module in a package only.
        open(os.path.join(os.path.dirname(target), "__init__.py"), "wb").close()
        for suffix in (".pxd", ".py"):
            shutil.copy2(module.replace(".", os.sep) + suffix, target + suffix)
        return target + ".py"


class Diagnosis(build_ext):
    """Compiles nothing; finds out which of the PROBES compile."""

    def build_extensions(self) -> None:
        self.program = (getattr(self.compiler, "compiler", None) or [self.compiler.compiler_type])[0]
        self.compiles = {name: compiles(self.compiler, source) for name, source in PROBES.items()}


def flags_for(compiler: str) -> list[str]:
    """The flags for a type of compiler, as setuptools calls it.

    Lists of moves are short: vectorised loops over them cost more than they save. Nothing here relies on
    signed overflow, with which the builds could not be equal, and indexing is cheaper without it.
    """
    if compiler == "msvc":
        # On ARM64, what threads share without a lock needs the memory ordering that x86-64 always has.
        return ["/O2", "/volatile:ms"]
    return ["-O3", "-fno-tree-vectorize", "-fno-wrapv", "-g0", "-fno-asynchronous-unwind-tables"]


def vector_flags(compiler: str) -> list[str]:
    """The flags for the loops over the numbers of a network, which do little work per iteration."""
    flags = [flag for flag in flags_for(compiler) if flag != "-fno-tree-vectorize"]
    return flags if compiler == "msvc" else [*flags, "-funroll-loops"]


def avx2_flags(compiler: str) -> list[str]:
    """The flags that produce code for processors with AVX2."""
    if compiler == "msvc":
        return ["/arch:AVX2"]
    return ["-Xarch_x86_64", "-mavx2"] if sys.platform == "darwin" else ["-mavx2"]


def has_x86() -> bool:
    """Whether the code may run on an x86-64 processor: on macOS, one wheel may serve both kinds."""
    return sys.platform == "darwin" or platform.machine() in ("x86_64", "AMD64")


def compiles(compiler: Any, source: str, flags: list[str] | None = None) -> bool:
    """Whether a compiler accepts a source and the flags."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "probe.c")
        with open(path, "w", encoding="ascii") as file:
            file.write(source)
        try:
            compiler.compile([path], output_dir=folder, extra_postargs=flags or [])
        except FAILURES:
            return False
    return True


def accepted(compiler: Any, flags: list[str]) -> list[str]:
    """The flags that a compiler accepts."""
    source = PROBES["compiler"]
    if compiles(compiler, source, flags) or not compiles(compiler, source):
        return flags
    taken: list[str] = []
    for flag in flags:
        if compiles(compiler, source, [*taken, flag]):
            taken.append(flag)
        else:
            print(f"the C compiler refuses {flag}, which is left out", file=sys.stderr)
    return taken


def run_probe(command: type[build_ext]) -> build_ext:
    """Run a build command on an empty extension, set up like Moff's."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "probe.c")
        with open(source, "w", encoding="ascii") as file:
            file.write(PROBES["headers"])
        distribution = Distribution({"ext_modules": [Extension("probe", [source], **abi())]})
        distribution.cmdclass["build_ext"] = command
        # setup.cfg may choose a compiler; what pyproject.toml calls dynamic is given to setup() alone.
        distribution.parse_config_files(distribution.find_config_files())
        build = distribution.get_command_obj("build_ext")
        for word in sys.argv:
            if word.startswith("--compiler="):
                build.compiler = word.partition("=")[2]
        build.build_lib = build.build_temp = folder
        build.ensure_finalized()
        build.run()
    return build


def obstacle() -> tuple[str, str]:
    """Why no extension can be compiled and linked here, and the command that installs what is missing.

    Both are empty if one can be; the command is empty if none is known to help.
    """
    if load_build().is_forced():
        return "MOFF_PURE was set", ""
    try:
        run_probe(Compiling)
    except FAILURES as error:
        return diagnosis(error)
    return "", ""


def diagnosis(error: Exception) -> tuple[str, str]:
    """What is missing when a probe fails with this error, and the command that installs it."""
    include = sysconfig.get_path("include")
    header = os.path.join(include, "Python.h")
    lacks_headers = not os.path.exists(header)
    try:
        found = run_probe(Diagnosis)
    except FAILURES:  # Microsoft's compiler is searched for before anything is compiled
        reason = f"no C compiler was found ({one_line(error)})"
    else:
        if not found.compiles["compiler"]:
            if shutil.which(found.program):
                reason = f"the C compiler ({found.program}) failed at an empty program"
            else:
                reason = f"no C compiler was found (there is no {found.program})"
            if os.environ.get("CC") and (shutil.which("cc") or shutil.which("gcc")):
                return f"{reason}; the environment variable CC named it", "unset CC"
        elif not found.compiles["library"]:
            reason = "the headers of the C library (stdio.h, stdlib.h) were missing"
        elif found.compiles["headers"]:
            reason = (
                f"the C compiler ({found.program}) could not link an extension module ({one_line(error)})"
            )
        elif lacks_headers:
            return f"Python's headers were missing ({header})", remedy(compiler=False, headers=True)
        else:
            return f"Python's headers did not compile ({header})", ""
    if lacks_headers:
        reason += f", and Python's headers were missing ({header})"
    return reason, remedy(compiler=True, headers=lacks_headers)


def remedy(compiler: bool, headers: bool) -> str:
    """The command that installs a C compiler, Python's headers or both on this system; empty if unknown."""
    if sys.platform == "darwin":
        return "xcode-select --install"
    if sys.platform == "win32":
        return BUILD_TOOLS if compiler else ""
    manager = next((name for name in PACKAGE_MANAGERS if shutil.which(name)), "")
    # Only a Python installed as a package has its headers in a package.
    headers = headers and sysconfig.get_path("include").startswith("/usr/include/")
    if not manager or not (compiler or headers):
        return ""
    command, compiler_packages, header_package = PACKAGE_MANAGERS[manager]
    packages = [compiler_packages] if compiler else []
    if headers:
        package = header_package.format(*sys.version_info)
        if manager in ("dnf", "yum") and is_default_python():
            package = "python3-devel"
        packages.append(package)
    sudo = "" if os.geteuid() == 0 else "sudo "
    return f"{sudo}{command} {' '.join(packages)}"


def is_default_python() -> bool:
    """Whether this is the Python that the system calls python3."""
    return os.path.realpath("/usr/bin/python3") == os.path.realpath(sys.executable)


def complaint(reason: str, command: str) -> str:
    """The message of an uncompiled build."""
    text = f"Moff is built uncompiled, which runs hundreds of times slower: {reason}."
    if command:
        text += f"\nRun `{command}`, then install Moff again."
    return text


def one_line(error: Exception) -> str:
    """The message of an error without line breaks."""
    return " ".join(str(error).split())


def description() -> dict[str, Any]:
    """The README, and links to the repository.

    MOFF_PAGES is the address of a version of the repository, such as https://github.com/OWNER/moff/blob/v1.
    With it, relative links become absolute, since a package index has no other files to link to: those of the
    forms [text](path), src="path", srcset="path" and href="path". Any other text in it ends the build.
    """
    pages = os.environ.get("MOFF_PAGES", "")
    address = re.fullmatch(r"(https://[^\s/]+/[^\s/]+/[^\s/]+)/blob/(\S*[^\s/])", pages)
    if pages and not address:
        sys.exit(f"error: MOFF_PAGES: {pages!r} is not like https://github.com/OWNER/moff/blob/v1")
    found: dict[str, Any] = {"long_description": "", "long_description_content_type": "text/markdown"}
    if os.path.exists("README.md"):
        with open("README.md", encoding="utf-8") as file:
            found["long_description"] = file.read()
    if address:
        repository, version = address.groups()
        text = re.sub(
            r'(\]\(|\b(?:href|src|srcset)=")(?![a-z]+:|#)([^)"]+)',
            lambda link: (
                f"{link[1]}{repository}/{'raw' if link[2].endswith(PICTURES) else 'blob'}/{version}/{link[2]}"
            ),
            found["long_description"],
        )
        text = re.sub(r"git clone \S+ moff\b", f"git clone {repository} moff", text)
        found["long_description"] = text.replace(" (URL is the address of this repository)", "")
        found["project_urls"] = {
            "Repository": repository,
            "Documentation": f"{pages}/docs/index.md",
            "Changelog": f"{pages}/CHANGELOG.md",
        }
    return found


def abi() -> dict[str, Any]:
    """The options of an extension that must run on every later Python."""
    if not STABLE_ABI:
        return {}
    flags = [(f"CO_{name}", str(getattr(inspect, f"CO_{name}"))) for name in CODE_FLAGS]
    return {"py_limited_api": True, "define_macros": [("Py_LIMITED_API", "0x030B0000"), *flags]}


def without_inspect(path: str) -> None:
    """Take the import of `inspect` out of a module translated to C, if it needs no more than CODE_FLAGS.

    The stable ABI lacks these macros, so Cython would ask Python's module, which delays every start; `abi`
    defines them: CPython 3.11 and all later versions so far give them the same values.
    """
    with open(path, encoding="utf-8") as file:
        text = file.read()
    asked = re.findall(r'__Pyx_init_co_variable\(inspect, "CO_(\w+)"', text)
    wanted = 'PyImport_ImportModule("inspect")'
    # Besides asking for a flag, the module is named six times: twice by its import, and by two declarations,
    # the function that asks, and the release.
    named = len(re.findall(r"\binspect\b", text))
    if wanted in text and named == len(asked) + 6 and set(asked) <= set(CODE_FLAGS):
        text = text.replace(wanted, 'PyImport_ImportModule("sys")')
        unused = "int __Pyx_init_co_variable("
        text = text.replace(f"static {unused}", f"static CYTHON_UNUSED {unused}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def extensions() -> list[Extension]:
    """One for each module that has a header."""
    names = sorted(path[:-4] for package in ("x88", "search") for path in glob.glob(f"{package}/*.pxd"))
    modules = [Extension(name.replace(os.sep, "."), [name + ".py"], **abi()) for name in names]
    if has_x86() and os.path.join(*VECTORS.split(".")) in names:
        modules.append(Extension(AVX2_VECTORS, [VECTORS.replace(".", "/") + ".py"], **abi()))
    return modules


def main() -> None:
    """Set up the compiled package where one can be built, the uncompiled one elsewhere."""
    commands: dict[str, Any] = {
        "build_py": BuildSource,
        "build_ext": BuildExtensions,
        "sdist": SourceDistribution,
    }
    about = description()
    BuildSource.obstacle, BuildSource.remedy = obstacle()
    if BuildSource.obstacle:
        setup(cmdclass=commands, **about)
        return
    options = {"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE_ABI else {}
    setup(ext_modules=extensions(), cmdclass=commands, options=options, **about)


if __name__ == "__main__":
    main()
