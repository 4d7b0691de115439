"""The native build: every module with a .pxd beside it becomes a C extension, or none does.

Without a C compiler, or with MOFF_PURE set, the package installs as plain Python: slower, but whole.
"""

import glob
import importlib.util
import os
import platform
import shutil
import sys
import sysconfig
import tempfile
from types import ModuleType
from typing import Any

from setuptools import Distribution, Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.errors import BaseError, CCompilerError

DIRECTIVES = {
    "language_level": 3,
    "infer_types": True,  # locals take the C type of what they are given
    "annotation_typing": False,  # annotations are for readers and mypy; the headers give the C types
    "cdivision": True,
}
BENCH_ONLY = ("search.linked", "x88.tally")
"""Modules that only bench/ and tests/ use: a checkout has them, a wheel does not."""

STABLE_ABI = not sysconfig.get_config_var("Py_GIL_DISABLED")  # one wheel serves every CPython from 3.11 on


def load_build() -> ModuleType:
    """x88/build.py by itself: importing the package would load what is not compiled yet."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "x88", "build.py")
    spec = importlib.util.spec_from_file_location("moff_build", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class BuildSource(build_py):
    """Starts from nothing: no compiled module of an earlier build may outlive its source."""

    uncompiled = ""
    """Why this build stays uncompiled, if it does."""

    def run(self) -> None:
        if self.uncompiled:
            print(f"Moff is built uncompiled, a hundred times slower: {self.uncompiled}", file=sys.stderr)
        if self.editable_mode:
            for path in load_build().compiled_files():
                os.remove(path)
        else:
            shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        found: list[tuple[str, str, str]] = super().find_package_modules(package, package_dir)
        return [module for module in found if f"{package}.{module[1]}" not in BENCH_ONLY]


class BuildExtensions(build_ext):
    """Compiles on all cores, and notes which sources went into modules built beside them."""

    def finalize_options(self) -> None:
        self.parallel = self.parallel or os.cpu_count()
        super().finalize_options()

    def run(self) -> None:
        from Cython.Build import cythonize

        build = load_build()
        digests = build.digests()  # before compiling: an edit made meanwhile is not in the compiled module
        if self.inplace:
            # Cython and setuptools go by time, this build's check by content.
            changed = {name for name, _ in digests.items() ^ build.recorded().items()}
            self.force = self.force or "setup.py" in changed
            for name in changed & digests.keys():
                os.utime(name)
        else:
            self.force = True
            self.extensions = [extension for extension in self.extensions if extension.name not in BENCH_ONLY]
        translated = cythonize(
            self.extensions, build_dir=self.build_temp, compiler_directives=DIRECTIVES, force=self.force
        )
        for extension, c_extension in zip(self.extensions, translated, strict=True):
            extension.sources = c_extension.sources
        super().run()
        if self.inplace:
            build.record(digests)

    def build_extensions(self) -> None:
        # Some Pythons link with the path of their own libraries, which no module of ours needs elsewhere.
        if isinstance(linker := getattr(self.compiler, "linker_so", None), list):
            self.compiler.linker_so = [word for word in linker if not word.startswith("-Wl,-rpath")]
        super().build_extensions()


def obstacle() -> str:
    """Why no extension is to be compiled and linked here; empty if one can be."""
    if os.environ.get("MOFF_PURE", "0") not in ("", "0"):
        return "MOFF_PURE is set"
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "probe.c")
        with open(source, "w", encoding="ascii") as file:
            file.write("#include <Python.h>\nPyMODINIT_FUNC PyInit_probe(void) { return NULL; }\n")
        probe = build_ext(Distribution({"ext_modules": [Extension("probe", [source])]}))
        probe.build_lib = probe.build_temp = folder
        try:
            probe.ensure_finalized()
            probe.run()
        except (BaseError, CCompilerError, OSError) as error:
            return f"no C compiler works here ({error})"
    return ""


def extensions() -> list[Extension]:
    """One for each module that has a header."""
    names = sorted(path[:-4] for package in ("x88", "search") for path in glob.glob(f"{package}/*.pxd"))
    # Lists of moves are short: vectorised loops over them cost more than they save. Nothing here relies on
    # signed integers that wrap, as the builds could not be equal then, and indices cost less without it.
    flags = ["/O2"] if sys.platform == "win32" else ["-O3", "-fno-tree-vectorize", "-fno-wrapv", "-g0"]
    if sys.platform != "win32" and platform.machine() in ("x86_64", "AMD64"):
        flags.append("-mpopcnt")  # every such processor since 2008 has it
    options: dict[str, Any] = {"extra_compile_args": flags}
    if STABLE_ABI:
        options |= {"py_limited_api": True, "define_macros": [("Py_LIMITED_API", "0x030B0000")]}
    return [Extension(name.replace(os.sep, "."), [name + ".py"], **options) for name in names]


def main() -> None:
    """Set up the compiled package where one can be built, the uncompiled one elsewhere."""
    commands: dict[str, Any] = {"build_py": BuildSource}
    BuildSource.uncompiled = obstacle()
    if BuildSource.uncompiled:
        setup(cmdclass=commands)
        return
    options = {"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE_ABI else {}
    commands["build_ext"] = BuildExtensions
    setup(ext_modules=extensions(), cmdclass=commands, options=options)


main()
