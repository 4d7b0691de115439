"""Chooses the build that runs: the compiled modules, or the same source uncompiled.

Every module with a .pxd next to it can be compiled. All compiled modules are in one library, x88/compiled, so
either all of them run compiled or none.

The source runs

- when the environment variable MOFF_PURE is set (to anything but 0),
- when there is no library,
- in a checkout whose sources have changed since the library was compiled.

In the last case `problem` says so. If the build could not compile, it left the reason in a file that `notice`
reads.
"""

import os
import sys
import zlib
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec
from importlib.util import spec_from_file_location

PACKAGES = (
    "x88",
    "x88.notation",
    "x88.book",
    "x88.perft",
    "search",
    "search.nnue",
    "search.syzygy",
    "moff.library",
)
"""The packages that have modules with a header."""

TOP = ("moff", "search", "x88")
"""The packages that are installed together."""

VARIANT = "search.nnue.vectors_avx2"
"""The loops of `search.nnue.vectors`, compiled for processors with AVX2; x86-64 alone has them."""

BUILT_BY = ("setup.py", "x88/stable_abi.h")
"""Files that every compiled module depends on, besides its source and the headers that it names."""

compiled = False
"""Whether the compiled modules run."""

problem = ""
"""The fault of the compiled modules, with the command that fixes it; empty if there is none."""

_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_RECORD = os.path.join(_ROOT, "x88", "compiled.txt")
_OBSTACLE = "obstacle.txt"


def choose() -> None:
    """Decide which build runs and make the import system follow."""
    global compiled, problem
    path = library()
    if path and not is_forced():
        problem = _fault()
        compiled = not problem
    sys.meta_path.insert(0, _Finder(path if compiled else ""))


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
    paths = [module.replace(".", "/") for module in modules()]
    names = [*BUILT_BY, *(path + suffix for path in paths for suffix in (".py", ".pxd"))]
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


def library() -> str:
    """The path of the library of compiled modules; empty if there is none."""
    folder = os.path.join(_ROOT, "x88")
    names = {f"compiled{suffix}" for suffix in EXTENSION_SUFFIXES}
    return next((os.path.join(folder, name) for name in os.listdir(folder) if name in names), "")


def modules() -> list[str]:
    """The names of the modules that have a header, in order."""
    return sorted(
        f"{package}.{file[:-4]}"
        for package in PACKAGES
        for file in os.listdir(os.path.join(_ROOT, *package.split(".")))
        if file.endswith(".pxd")
    )


def _fault() -> str:
    """Why the library must not run; empty if it may."""
    if not _is_checkout():
        return ""
    noted = recorded()
    if not noted:
        return f"it is not known what the compiled modules were made from: {_remedy()}"
    if changed := {name for name, _ in digests().items() ^ noted.items()}:
        return f"the compiled modules were made before {_listed(changed)} changed: {_remedy()}"
    return ""


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


class _Finder:
    """Finds modules in the library, if there is one, and none any more when Moff has been installed anew:
    modules of two versions would not fit together.
    """

    def __init__(self, library: str) -> None:
        self.library = library
        self.names = {*modules(), VARIANT} if library else set()
        self.installed = self._state()

    def find_spec(self, name: str, *_arguments: object) -> ModuleSpec | None:
        if name.partition(".")[0] in TOP and self._state() != self.installed:
            raise ImportError("Moff has been installed anew since it started: start it again", name=name)
        if name not in self.names:
            return None
        return spec_from_file_location(name, self.library, loader=ExtensionFileLoader(name, self.library))

    def _state(self) -> tuple[int, int] | None:
        """What tells this installation's file from that of another one."""
        try:
            status = os.stat(self.library or __file__)
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns
