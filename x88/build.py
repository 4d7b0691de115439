"""Chooses the build that runs: the compiled modules, or the same source uncompiled.

Every module with a .pxd next to it can be compiled. Either all of them run compiled or none: in a mixture, C
types would meet Python objects.

The source runs

- when the environment variable MOFF_PURE is set (to anything but 0),
- when there is no compiled module,
- when some header has no compiled module, or some compiled module no header,
- in a checkout whose sources have changed since the modules were compiled.

In the last two cases `problem` says so. If the build could not compile, it left the reason in a file that
`notice` reads.
"""

import importlib.machinery
import os
import sys
import zlib
from collections.abc import Sequence
from types import ModuleType

PACKAGES = ("x88", "x88.notation", "x88.perft", "search", "search.nnue", "search.syzygy")
"""The packages that have modules with a header."""

VARIANTS = {"search.nnue.vectors_avx2": "search.nnue.vectors"}
"""Modules compiled from another one's source, for newer processors. A build may lack them."""

BUILT_BY = ("setup.py", "x88/stable_abi.h")
"""Files that every compiled module depends on, besides its source and the headers that it names."""

compiled = False
"""Whether the compiled modules run."""

problem = ""
"""The fault of the compiled modules, with the command that fixes it; empty if there is none."""

_SUFFIXES = tuple(importlib.machinery.EXTENSION_SUFFIXES)
_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_RECORD = os.path.join(_ROOT, "x88", "compiled.txt")
_OBSTACLE = "obstacle.txt"


def choose() -> None:
    """Decide which build runs and make the import system follow."""
    global compiled, problem
    sources, built = _modules()
    if not built:
        return
    if not is_forced():
        problem = _fault(sources, built)
        compiled = not problem
    if not compiled:
        sys.meta_path.insert(0, _SourceFinder())


def is_forced() -> bool:
    """Whether MOFF_PURE asks for the uncompiled source. A program built by PyInstaller has none."""
    if getattr(sys, "frozen", False):
        return False
    return os.environ.get("MOFF_PURE", "0") not in ("", "0")


def label() -> str:
    """The suffix of the engine's name: says so if the slow build runs."""
    return "" if compiled else " (uncompiled)"


def notice() -> str:
    """One line that says why Moff runs uncompiled, and how to change that. Empty if it runs compiled."""
    if compiled:
        return ""
    reason = "MOFF_PURE is set" if is_forced() else problem or _why_uncompiled()
    return f"Moff runs uncompiled, hundreds of times slower: {reason}"


def note_obstacle(folder: str, reason: str) -> None:
    """Record in a built package why it is uncompiled."""
    with open(os.path.join(folder, _OBSTACLE), "w", encoding="utf-8") as file:
        file.write(reason)


def digests() -> dict[str, str]:
    """A checksum of every file that the compiled modules of a checkout are built from."""
    modules = [module.replace(".", "/") for module in sorted(_modules()[0])]
    names = [*BUILT_BY, *(module + suffix for module in modules for suffix in (".py", ".pxd"))]
    return {name: _digest(name) for name in names}


def record(made_from: dict[str, str]) -> None:
    """Record the `digests` of the sources compiled in place; `choose` compares them at every start."""
    with open(_RECORD, "w", encoding="ascii") as file:
        file.writelines(f"{name} {digest}\n" for name, digest in made_from.items())
    obstacle = os.path.join(_ROOT, "x88", _OBSTACLE)
    if os.path.exists(obstacle):
        os.remove(obstacle)


def recorded() -> dict[str, str]:
    """The `digests` recorded when the modules were compiled; empty if that record is missing or damaged."""
    try:
        with open(_RECORD, encoding="ascii") as file:
            return dict(line.split() for line in file)
    except (OSError, ValueError):
        return {}


def compiled_files() -> list[str]:
    """The paths of all compiled modules next to their source."""
    folders = [os.path.join(_ROOT, *package.split(".")) for package in PACKAGES]
    return [
        os.path.join(folder, file)
        for folder in folders
        for file in os.listdir(folder)
        if file.endswith(_SUFFIXES)
    ]


def _fault(sources: set[str], built: set[str]) -> str:
    """Why the compiled modules must not run; empty if they may."""
    if missing := sources - built:
        return f"the compiled modules are incomplete (without {_listed(missing)}): {_remedy()}"
    if left := built - sources:
        return f"there are compiled modules without a header ({_listed(left)}): {_remedy()}"
    if _is_checkout():
        noted = recorded()
        if not noted:
            return f"it is not known what the compiled modules were made from: {_remedy()}"
        if changed := {name for name, _ in digests().items() ^ noted.items()}:
            return f"the compiled modules were made before {_listed(changed)} changed: {_remedy()}"
    return ""


def _modules() -> tuple[set[str], set[str]]:
    """The names of the modules that can be compiled, and of those that have been, without VARIANTS."""
    sources, built = set(), set()
    for package in PACKAGES:
        for file in os.listdir(os.path.join(_ROOT, *package.split("."))):
            name = f"{package}.{file.partition('.')[0]}"
            if file.endswith(".pxd"):
                sources.add(name)
            elif file.endswith(_SUFFIXES) and name not in VARIANTS:
                built.add(name)
    return sources, built


def _is_checkout() -> bool:
    """Whether this is a source tree rather than an installed package, which never changes."""
    return os.path.exists(os.path.join(_ROOT, "bench", "perft.py"))


def _digest(name: str) -> str:
    """A checksum of a file of the checkout; empty if it is not there."""
    try:
        with open(os.path.join(_ROOT, name), "rb") as file:
            return f"{zlib.crc32(file.read()):08x}"
    except OSError:
        return ""


def _remedy() -> str:
    """How to build Moff again from where it was installed."""
    if _is_checkout():
        python, root = (f'"{path}"' if " " in path else path for path in (sys.executable or "python", _ROOT))
        return f"run `{python} -m pip install -e {root}`"
    # Without pip's cache, which may hold the uncompiled wheel.
    return "install Moff again, with pip's options --force-reinstall and --no-cache-dir"


def _why_uncompiled() -> str:
    """Why there is no compiled module, and what to do."""
    try:
        with open(os.path.join(_ROOT, "x88", _OBSTACLE), encoding="utf-8") as file:
            reason = f"when it was built, {file.read()}"
    except (OSError, ValueError):
        reason = "it has not been compiled yet"
    return f"{reason}; get the C compiler that README.md names under Install, then {_remedy()}"


def _listed(names: set[str]) -> str:
    """The first few names, in order."""
    first = sorted(names)
    return ", ".join(first[:3]) + (f" and {len(first) - 3} more" if len(first) > 3 else "")


class _SourceFinder:
    """Finds Moff's modules as source only, ignoring compiled ones next to them."""

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
        # The next finder would load a compiled module whose source is gone.
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
