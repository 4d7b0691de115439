"""The native build: all modules with a .pxd next to them become one library, x88/compiled, or none does.

In one library, the compiler can inline functions of one module into another's. Cython's C code finds those
of other modules at import and calls them by pointers; `joined` makes the calls direct.

Without a working C compiler, or with MOFF_PURE set, the package installs as plain Python: slower, but
complete. The build then records why, and Moff says so whenever it runs (`x88.build`).
"""

import importlib.util
import os
import platform
import re
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
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
    "binding": False,  # Cython's own functions do not check the class of `self`, and are called more slowly
    "embedsignature": True,
    "embedsignature.format": "clinic",  # as `inspect.signature` reads it
    "auto_pickle": False,  # nobody pickles a board or a search, and the code for it would be large
    "freethreading_compatible": True,  # else a free-threaded Python switches its GIL on, with a warning
}
BENCH_ONLY = ("search.replay",)
"""Modules that only bench/ and tests/ use: a checkout has them, a wheel does not."""

VECTORS = "search.nnue.vectors"
"""The only module with loops that are compiled to vector instructions."""

# On macOS, one wheel may serve both kinds of processors.
HAS_X86 = sys.platform == "darwin" or platform.machine().lower() in ("x86_64", "amd64")

STABLE_ABI = not sysconfig.get_config_var("Py_GIL_DISABLED")  # one wheel serves every CPython from 3.11 on
LIMITED = {"py_limited_api": True, "define_macros": [("Py_LIMITED_API", "0x030B0000")]}
ABI: dict[str, Any] = LIMITED if STABLE_ABI else {}


def load_build() -> ModuleType:
    """x88/build.py alone: importing the package would load modules that are not compiled yet."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "x88", "build.py")
    spec = importlib.util.spec_from_file_location("moff_build", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


BUILD = load_build()


class BuildSource(build_py):
    """Starts from scratch: no compiled module of an earlier build may outlive its source."""

    obstacle = ""
    """Why this build stays uncompiled, if it does."""

    def run(self) -> None:
        if self.editable_mode:
            for path in (*Path("x88").rglob("*"), *Path("search").rglob("*")):
                if path.suffix in (".so", ".pyd"):
                    path.unlink()
        else:
            shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()
        if self.obstacle:
            folder = os.path.dirname(BUILD.__file__) if self.editable_mode else f"{self.build_lib}/x88"
            BUILD.note_obstacle(folder, self.obstacle)
            print(f"\n{complaint(self.obstacle)}\n", file=sys.stderr)

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        found: list[tuple[str, str, str]] = super().find_package_modules(package, package_dir)
        return [module for module in found if f"{package}.{module[1]}" not in BENCH_ONLY]


class BuildLibrary(build_ext):
    """Compiles on all cores, and records the sources of a library built in place."""

    link_time: tuple[str, ...] = ()  # the flags of link-time optimisation, if the compiler has it

    def run(self) -> None:
        if BuildSource.obstacle:  # requested explicitly; an installation works without
            raise PlatformError(complaint(BuildSource.obstacle))
        digests = BUILD.digests()  # before compiling: an edit made meanwhile is not in the library
        changed = {name for name, _ in digests.items() ^ BUILD.recorded().items()}
        self.force = self.force or not self.inplace or not changed.isdisjoint(BUILD.BUILT_BY)
        for name in changed & digests.keys():
            os.utime(name)  # Cython compares times, our check of stale builds compares contents
        self.is_wheel = not self.inplace  # which `run` changes
        super().run()
        if self.inplace:
            BUILD.record(digests)

    def build_extension(self, extension: Extension) -> None:
        from Cython.Build import cythonize

        names = [name for name in BUILD.modules() if not self.is_wheel or name not in BENCH_ONLY]
        parts = [Extension(name, [name.replace(".", "/") + ".py"]) for name in names]
        if HAS_X86 and VECTORS in names:
            parts.append(Extension(BUILD.VARIANT, [self.copied(VECTORS, BUILD.VARIANT)]))
        options = {"build_dir": self.build_temp, "compiler_directives": DIRECTIVES, "force": self.force}
        processes = os.cpu_count() if sys.platform == "linux" else 0  # others would import all this again
        parts = cythonize(parts, nthreads=processes, **options)
        paths = [os.path.join(self.build_temp, f"{part.name}.c") for part in parts]
        for path, code in zip(paths, joined(part.sources[0] for part in parts), strict=True):
            Path(path).write_text(code, "utf-8")
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            extension.extra_objects = [*pool.map(self.compiled, paths)]
        strip = ["-s"] if sys.platform == "linux" and self.is_wheel else []  # symbols take a tenth
        extension.extra_link_args = [*self.link_time, *strip]
        self.force = True
        super().build_extension(extension)

    def compiled(self, path: str) -> str:
        """Compile the C code of a module; returns the path of the object file."""
        beside = Path(path).anchor  # below `build_temp` it would have that path once more
        chosen = [*flags(self.compiler.compiler_type, Path(path).stem), *self.link_time]
        macros = ABI.get("define_macros")
        return str(*self.compiler.compile([path], beside, macros, extra_postargs=chosen))

    def get_export_symbols(self, extension: Extension) -> list[str]:
        return []  # each module exports its own

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


def flags(compiler: str, module: str) -> list[str]:
    """The flags for a module and a type of compiler, as setuptools calls it.

    Lists of moves are short: vectorised loops over them cost more than they save. Nothing here relies on
    signed overflow: the builds could not be equal with it, and indexing is cheaper without.
    """
    header = os.path.abspath("x88/stable_abi.h")
    if compiler == "msvc":
        # On ARM64, what threads share without a lock needs the memory ordering that x86-64 always has.
        chosen = ["/O2", "/volatile:ms"]
        chosen += [f"/FI{header}"] if STABLE_ABI else []
        return [*chosen, "/arch:AVX2"] if module == BUILD.VARIANT else chosen
    chosen = ["-O3", "-fno-wrapv", "-g0", "-fno-asynchronous-unwind-tables", "-fvisibility=hidden", "-w"]
    chosen += ["-include", header] if STABLE_ABI else []
    chosen += ["-funroll-loops"] if module in (VECTORS, BUILD.VARIANT) else ["-fno-tree-vectorize"]
    # All x86-64 processors since 2008 have POPCNT; `x88.sets` refuses others.
    features = ["-mpopcnt"] if HAS_X86 else []
    features += ["-mavx2"] if module == BUILD.VARIANT else []
    for feature in features:
        chosen += ["-Xarch_x86_64", feature] if sys.platform == "darwin" else [feature]
    return chosen


def joined(paths: Iterable[str]) -> Iterator[str]:
    """The C code of modules, calling functions of others directly, which Cython calls by pointers."""
    codes = [Path(path).read_text("utf-8") for path in paths]
    whole = "".join(codes)
    pointer = r"^static (.*)\(\*(__pyx_f_\w+)\)(\(.*\); /\*proto\*/)$"
    shared = {name for _, name, _ in re.findall(pointer, whole, re.M)}
    # Methods. Those of classes with subclasses stay virtual.
    bases = set(re.findall(r"struct __pyx_vtabstruct_(\w+) __pyx_base;", whole))
    slots = re.findall(r"__pyx_vtable_(\w+)\.(\w+) = \((.*?)\(\*\)(\(.*\))\)(__pyx_f_\w+);", whole)
    methods = {(of, slot): name for of, slot, _, _, name in slots if of not in bases}
    shared |= {*methods.values()}
    for code in codes:
        classes = set(re.findall(r"^struct __pyx_vtabstruct_(\w+) {", code, re.M)) - bases
        prototypes = [f"{kind}{name}{types};\n" for of, _, kind, types, name in slots if of in classes]
        code = code.replace("/* Module declarations", "".join(prototypes) + "/* Module declarations", 1)
        code = re.sub(
            r"\(\(struct __pyx_vtabstruct_(\w+) \*\)[\w>.-]+->__pyx_vtab\)->(\w+)(?=\()",
            lambda call: methods.get(call.groups(), call[0]),
            code,
        )
        code = re.sub(pointer, r"\1\2\3", code, flags=re.M)
        code = re.sub(r"\(void \(\*\*\)\(void\)\)&__pyx_f_\w+", "&(void (*)(void)){0}", code)
        yield re.sub(
            r"^ *static (?:CYTHON_INLINE )?(.*?\b(__pyx_f_\w+)\()",
            lambda start: start[1] if start[2] in shared else start[0],
            code,
            flags=re.M,
        )


def obstacle() -> str:
    """Why no extension can be compiled and linked here; empty if one can be."""
    if BUILD.is_forced():
        return "MOFF_PURE was set"
    reason = ""
    for BuildLibrary.link_time in ((),) if sys.platform == "win32" else (("-flto=auto",), ()):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "probe.c")
            Path(source).write_bytes(b"#include <Python.h>\nPyMODINIT_FUNC PyInit_probe(void) { return 0; }")
            extra = {f"extra_{step}_args": [*BuildLibrary.link_time] for step in ("compile", "link")}
            distribution = Distribution({"ext_modules": [Extension("probe", [source], **extra, **ABI)]})
            # setup.cfg may choose a compiler; what pyproject.toml calls dynamic is given to setup() alone.
            distribution.parse_config_files(distribution.find_config_files())
            build = build_ext(distribution)
            build.build_lib = build.build_temp = folder
            try:
                build.ensure_finalized()
                build.run()
                return ""
            except (BaseError, CCompilerError, OSError) as error:
                reason = f"no C extension could be built ({' '.join(str(error).split())})"
    return reason


def complaint(reason: str) -> str:
    """The message of an uncompiled build."""
    return (
        f"Moff is built uncompiled, which runs hundreds of times slower: {reason}.\n"
        'README.md says under "Install" which C compiler to install. Then install Moff again.'
    )


def main() -> None:
    """Set up the compiled package where one can be built, the uncompiled one elsewhere."""
    commands: dict[str, Any] = {"build_py": BuildSource, "build_ext": BuildLibrary}
    BuildSource.obstacle = obstacle()
    if BuildSource.obstacle:
        setup(cmdclass=commands)
        return
    options = {"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE_ABI else {}
    setup(ext_modules=[Extension("x88.compiled", [], **ABI)], cmdclass=commands, options=options)


if __name__ == "__main__":
    main()
