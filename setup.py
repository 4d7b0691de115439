"""The native build: every module with a .pxd beside it becomes a C extension, or none does.

Without a C compiler, or with MOFF_PURE set, the package installs as plain Python: slower, but whole.
"""

import glob
import importlib.util
import os
import sys
import sysconfig
import tempfile

from distutils.ccompiler import new_compiler
from distutils.sysconfig import customize_compiler
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CCompilerError, ExecError, PlatformError

DIRECTIVES = {
    "language_level": 3,
    "infer_types": True,  # locals take the C type of what they are given
    "annotation_typing": False,  # annotations are for readers and mypy; the headers give the C types
    "cdivision": True,
}
STABLE_ABI = not sysconfig.get_config_var("Py_GIL_DISABLED")  # one wheel serves every CPython from 3.11 on


def load_build():
    """x88/build.py by itself: importing the package would load what is not compiled yet."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "x88", "build.py")
    spec = importlib.util.spec_from_file_location("moff_build", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class BuildExtensions(build_ext):
    """Compiles, and records which sources went into modules built beside them."""

    def run(self):
        super().run()
        if self.extensions and (self.inplace or self.editable_mode):
            load_build().record()


def has_compiler() -> bool:
    """Whether a file that includes Python.h compiles here."""
    compiler = new_compiler()
    customize_compiler(compiler)
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "probe.c")
        with open(source, "w", encoding="ascii") as file:
            file.write("#include <Python.h>\n")
        try:
            compiler.compile([source], output_dir=folder, include_dirs=[sysconfig.get_paths()["include"]])
        except (CCompilerError, ExecError, PlatformError, OSError) as error:
            print(f"no C compiler ({error})", file=sys.stderr)
            return False
    return True


def extensions() -> list[Extension]:
    from Cython.Build import cythonize

    names = sorted(path[:-4] for package in ("x88", "search") for path in glob.glob(f"{package}/*.pxd"))
    flags = ["/O2"] if sys.platform == "win32" else ["-O3", "-g0"]
    stable = {"py_limited_api": True, "define_macros": [("Py_LIMITED_API", "0x030B0000")]} if STABLE_ABI else {}
    modules = [
        Extension(name.replace(os.sep, "."), [name + ".py"], extra_compile_args=flags, **stable) for name in names
    ]
    return cythonize(modules, build_dir="build/cython", compiler_directives=DIRECTIVES)


def main() -> None:
    if os.environ.get("MOFF_PURE", "0") not in ("", "0") or not has_compiler():
        print("Moff is installed uncompiled: it runs about a hundred times slower", file=sys.stderr)
        # What an earlier build left beside the source must not run instead of it.
        for path in load_build().compiled_files():
            os.remove(path)
        setup()
        return
    options = {"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE_ABI else {}
    setup(ext_modules=extensions(), cmdclass={"build_ext": BuildExtensions}, options=options)


main()
