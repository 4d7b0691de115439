"""The native build: every module with a .pxd next to it becomes a C extension, or none does.

Without a working C compiler, or with MOFF_PURE set, the package installs as plain Python: slower, but
complete. The build then records why, and Moff says so whenever it runs (`x88.build`).
"""

import glob
import importlib.util
import os
import platform
import shutil
import sys
import sysconfig
import tempfile
from pathlib import PurePath
from types import ModuleType
from typing import Any

from setuptools import Distribution, Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
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

VECTORS = "search.nnue.vectors"
"""The only module with loops that are compiled to vector instructions."""

AVX2_VECTORS = "search.nnue.vectors_avx2"
"""The same source, compiled for processors with AVX2."""

# On macOS, one wheel may serve both kinds of processors.
HAS_X86 = sys.platform == "darwin" or platform.machine() in ("x86_64", "AMD64")

STABLE_ABI = not sysconfig.get_config_var("Py_GIL_DISABLED")  # one wheel serves every CPython from 3.11 on

PROBE = "#include <Python.h>\nPyMODINIT_FUNC PyInit_probe(void) { return NULL; }\n"


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
            build.note_obstacle(folder, self.obstacle)
            print(f"\n{complaint(self.obstacle)}\n", file=sys.stderr)

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        found: list[tuple[str, str, str]] = super().find_package_modules(package, package_dir)
        return [module for module in found if f"{package}.{module[1]}" not in BENCH_ONLY]


class Compiling(build_ext):
    """Compiles with the flags that suit the compiler."""

    def build_extensions(self) -> None:
        for extension in self.extensions:
            extension.extra_compile_args = flags(self.compiler.compiler_type, extension.name)
        super().build_extensions()


class BuildExtensions(Compiling):
    """Compiles on all cores, and records the sources of modules built in place."""

    def finalize_options(self) -> None:
        self.parallel = self.parallel or os.cpu_count()
        super().finalize_options()

    def run(self) -> None:
        if BuildSource.obstacle:  # requested explicitly; an installation works without
            raise PlatformError(complaint(BuildSource.obstacle))
        from Cython.Build import cythonize

        build = load_build()
        digests = build.digests()  # before compiling: an edit made meanwhile is not in the compiled module
        if self.inplace:
            # Cython and setuptools compare times, our check of stale builds compares contents.
            changed = {name for name, _ in digests.items() ^ build.recorded().items()}
            self.force = self.force or not changed.isdisjoint(build.BUILT_BY)
            for name in changed & digests.keys():
                os.utime(name)
        else:
            self.force = True
            self.extensions = [extension for extension in self.extensions if extension.name not in BENCH_ONLY]
        for extension in self.extensions:
            if sys.platform == "linux" and not self.inplace:
                extension.extra_link_args = ["-s"]  # no symbols, which take a tenth of the space
            if extension.name == AVX2_VECTORS:
                extension.sources = [self.copied(VECTORS, AVX2_VECTORS)]
        translated = cythonize(
            self.extensions, build_dir=self.build_temp, compiler_directives=DIRECTIVES, force=self.force
        )
        sources = {extension.name: extension.sources for extension in translated}
        for extension in self.extensions:
            extension.sources = sources[extension.name]
        # Object files go beside their C code. Below `build_temp` they would have its path once more, and
        # Windows allows 260 characters.
        self.build_temp = PurePath(self.build_temp).anchor
        super().run()
        if self.inplace:
            build.record(digests)

    def copied(self, module: str, name: str) -> str:
        """Copy a module's source and header under another name into the build folder; returns the path."""
        target = os.path.join(self.build_temp, *name.split("."))
        folder = os.path.dirname(target)
        os.makedirs(folder, exist_ok=True)
        # Cython finds the header of a module in packages only.
        for package in (os.path.dirname(folder), folder):
            open(os.path.join(package, "__init__.py"), "wb").close()
        for suffix in (".pxd", ".py"):
            shutil.copy2(module.replace(".", os.sep) + suffix, target + suffix)
        return target + ".py"


def flags(compiler: str, extension: str) -> list[str]:
    """The flags for an extension and a type of compiler, as setuptools calls it.

    Lists of moves are short: vectorised loops over them cost more than they save. Nothing here relies on
    signed overflow: the builds could not be equal with it, and indexing is cheaper without.
    """
    header = os.path.abspath("x88/stable_abi.h")
    if compiler == "msvc":
        # On ARM64, what threads share without a lock needs the memory ordering that x86-64 always has.
        chosen = ["/O2", "/volatile:ms"]
        chosen += [f"/FI{header}"] if STABLE_ABI else []
        return [*chosen, "/arch:AVX2"] if extension == AVX2_VECTORS else chosen
    chosen = ["-O3", "-fno-wrapv", "-g0", "-fno-asynchronous-unwind-tables", "-Wno-unused-function"]
    chosen += ["-include", header] if STABLE_ABI else []
    chosen += ["-funroll-loops"] if extension in (VECTORS, AVX2_VECTORS) else ["-fno-tree-vectorize"]
    # All x86-64 processors since 2008 have POPCNT; `x88.sets` refuses others.
    features = ["-mpopcnt"] if HAS_X86 else []
    features += ["-mavx2"] if extension == AVX2_VECTORS else []
    for feature in features:
        chosen += ["-Xarch_x86_64", feature] if sys.platform == "darwin" else [feature]
    return chosen


def obstacle() -> str:
    """Why no extension can be compiled and linked here; empty if one can be."""
    if load_build().is_forced():
        return "MOFF_PURE was set"
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "probe.c")
        with open(source, "w", encoding="ascii") as file:
            file.write(PROBE)
        distribution = Distribution({"ext_modules": [Extension("probe", [source], **abi())]})
        # setup.cfg may choose a compiler; what pyproject.toml calls dynamic is given to setup() alone.
        distribution.parse_config_files(distribution.find_config_files())
        build = Compiling(distribution)
        build.build_lib = build.build_temp = folder
        try:
            build.ensure_finalized()
            build.run()
        except (BaseError, CCompilerError, OSError) as error:
            return f"no C extension could be built ({' '.join(str(error).split())})"
    return ""


def complaint(reason: str) -> str:
    """The message of an uncompiled build."""
    return (
        f"Moff is built uncompiled, which runs hundreds of times slower: {reason}.\n"
        'README.md says under "Install" which C compiler to install. Then install Moff again.'
    )


def abi() -> dict[str, Any]:
    """The options of an extension that must run on every later Python."""
    if not STABLE_ABI:
        return {}
    return {"py_limited_api": True, "define_macros": [("Py_LIMITED_API", "0x030B0000")]}


def extensions() -> list[Extension]:
    """One for each module that has a header."""
    folders = [package.replace(".", "/") for package in load_build().PACKAGES]
    paths = sorted(path for folder in folders for path in glob.glob(f"{folder}/*.pxd"))
    names = [path[:-4].replace(os.sep, "/").replace("/", ".") for path in paths]
    if HAS_X86 and VECTORS in names:
        names.append(AVX2_VECTORS)
    return [
        Extension(name, [name.replace(".", "/") + ".py"], optional=name == AVX2_VECTORS, **abi())
        for name in names
    ]


def main() -> None:
    """Set up the compiled package where one can be built, the uncompiled one elsewhere."""
    commands: dict[str, Any] = {"build_py": BuildSource, "build_ext": BuildExtensions}
    BuildSource.obstacle = obstacle()
    if BuildSource.obstacle:
        setup(cmdclass=commands)
        return
    options = {"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE_ABI else {}
    setup(ext_modules=extensions(), cmdclass=commands, options=options)


if __name__ == "__main__":
    main()
