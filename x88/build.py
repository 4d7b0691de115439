"""Which build runs: the compiled modules, or the same source uncompiled.

Every module with a .pxd beside it can be compiled. All of them run compiled, or none: in a mixture C types and Python
objects would meet. The source runs

- when the environment variable MOFF_PURE is set (to anything but 0),
- when no compiled module is there,
- in a checkout whose compiled modules are incomplete or older than their source. `problem` says so then.
"""

import importlib.machinery
import os
import sys
import zlib
from collections.abc import Sequence
from types import ModuleType

PACKAGES = ("x88", "search")
REBUILD = "python -m pip install -e ."
"""The command that compiles a checkout's modules again."""

SUFFIXES = tuple(importlib.machinery.EXTENSION_SUFFIXES)
_RECORD = "compiled.txt"
_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

compiled = False
"""Whether the compiled modules run."""

problem = ""
"""What is wrong with this checkout's compiled modules, with the command that mends it; empty if nothing is."""


def choose() -> None:
    """Decide which build runs and make the import system follow."""
    global compiled, problem
    sources, built = _modules()
    complete = built == sources
    if built and not complete:
        missing = ", ".join(sorted(sources - built))
        problem = f"the compiled modules are incomplete ({missing}): rebuild with `{REBUILD}`"
    elif built and _is_checkout():
        stale = _stale()
        if stale:
            problem = f"the compiled modules are older than {', '.join(stale)}: rebuild with `{REBUILD}`"
    compiled = bool(built) and not problem and os.environ.get("MOFF_PURE", "0") in ("", "0")
    if built and not compiled:
        sys.meta_path.insert(0, _SourceFinder())


def record() -> None:
    """Note the state of the sources that were just compiled in place; `choose` compares it at every start."""
    with open(os.path.join(_ROOT, "x88", _RECORD), "w", encoding="ascii") as file:
        file.writelines(f"{name} {digest}\n" for name, digest in _digests().items())


def compiled_files() -> list[str]:
    """The paths of all compiled modules that stand beside their source."""
    folders = [os.path.join(_ROOT, package) for package in PACKAGES]
    return [os.path.join(folder, file) for folder in folders for file in os.listdir(folder) if file.endswith(SUFFIXES)]


def _modules() -> tuple[set[str], set[str]]:
    """The names of the modules that can be compiled, and of those that are."""
    sources, built = set(), set()
    for package in PACKAGES:
        for file in os.listdir(os.path.join(_ROOT, package)):
            stem = file.split(".", 1)[0]
            if file.endswith(".pxd"):
                sources.add(f"{package}.{stem}")
            elif file.endswith(SUFFIXES):
                built.add(f"{package}.{stem}")
    return sources, built


def _is_checkout() -> bool:
    """Whether this is a source tree rather than an installed package."""
    return os.path.exists(os.path.join(_ROOT, "pyproject.toml"))


def _stale() -> list[str]:
    """The sources, as paths, that are not what was compiled."""
    recorded = {}
    try:
        with open(os.path.join(_ROOT, "x88", _RECORD), encoding="ascii") as file:
            for line in file:
                name, digest = line.split()
                recorded[name] = digest
    except (OSError, ValueError):
        return ["all sources"]
    digests = _digests()
    return sorted(name for name in digests.keys() | recorded.keys() if digests.get(name) != recorded.get(name))


def _digests() -> dict[str, str]:
    """A checksum of every source that goes into a compiled module."""
    digests = {}
    for module in sorted(_modules()[0]):
        for suffix in (".py", ".pxd"):
            name = module.replace(".", "/") + suffix
            with open(os.path.join(_ROOT, name), "rb") as file:
                digests[name] = f"{zlib.crc32(file.read()):08x}"
    return digests


class _SourceFinder:
    """Finds Moff's modules as source only, so that compiled ones beside them are passed over."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] not in PACKAGES:
            return None
        for folder in path if path is not None else [_ROOT]:
            finder = importlib.machinery.FileFinder(
                folder, (importlib.machinery.SourceFileLoader, importlib.machinery.SOURCE_SUFFIXES)
            )
            spec = finder.find_spec(name, target)
            if spec is not None:
                return spec
        return None
