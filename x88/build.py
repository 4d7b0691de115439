"""Which build runs: the compiled modules, or the same source uncompiled.

Every module with a .pxd next to it can be compiled. Either all of them run compiled or none: in a mixture, C
types would meet Python objects.

The source runs

- when the environment variable MOFF_PURE is set (to anything but 0),
- when there is no compiled module,
- when some header has no compiled module, or some compiled module no header,
- in a checkout whose sources have changed since the modules were compiled.

In the last two cases `problem` says so. If the build could not compile, it left the reason, and the command
that installs what is missing, in a file that `notice` reads.
"""

import importlib.machinery
import os
import sys
import zlib
from collections.abc import Sequence
from types import ModuleType

PACKAGES = ("x88", "search")

VARIANTS = {"search.vectors_avx2": "search.vectors"}
"""Modules compiled from another one's source, for newer processors. A build may lack them."""

compiled = False
"""Whether the compiled modules run."""

problem = ""
"""What is wrong with the compiled modules, with the command that fixes it; empty if nothing is."""

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
    """Whether MOFF_PURE asks for the uncompiled source, which a program built by PyInstaller does not
    contain.
    """
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
    if is_forced():
        reason = "MOFF_PURE is set"
    elif problem:
        reason = problem
    else:
        reason = _why_uncompiled()
    return f"Moff runs uncompiled, hundreds of times slower: {reason}"


def rebuild_command() -> str:
    """The command that rebuilds Moff from where it was installed."""
    python = _quoted(sys.executable or "python")
    if _is_checkout():
        return f"{python} -m pip install -e {_quoted(_ROOT)}"
    # Without pip's cache, which may hold the uncompiled wheel.
    return f"{python} -m pip install --force-reinstall --no-deps --no-cache-dir {_quoted(_origin())}"


def note_obstacle(folder: str, reason: str, remedy: str) -> None:
    """Record in a built package why it is uncompiled, and the command that installs what is missing or ""."""
    with open(os.path.join(folder, _OBSTACLE), "w", encoding="utf-8") as file:
        file.write(f"{reason}\n{remedy}\n")


def digests() -> dict[str, str]:
    """A checksum of every file that the compiled modules of a checkout are built from."""
    names = ["setup.py"]
    for module in sorted(_modules()[0]):
        path = module.replace(".", "/")
        names += [path + ".py", path + ".pxd"]
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
    noted = {}
    try:
        with open(_RECORD, encoding="ascii") as file:
            for line in file:
                name, digest = line.split()
                noted[name] = digest
    except (OSError, ValueError):
        return {}
    return noted


def compiled_files() -> list[str]:
    """The paths of all compiled modules next to their source."""
    folders = [os.path.join(_ROOT, package) for package in PACKAGES]
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
        for file in os.listdir(os.path.join(_ROOT, package)):
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
    return f"run `{rebuild_command()}`"


def _why_uncompiled() -> str:
    """Why there is no compiled module, and what to do."""
    reason, remedy = _obstacle()
    if not reason:
        return f"it has not been compiled yet; with a C compiler installed, run `{rebuild_command()}`"
    first = f"run `{remedy}`, then" if remedy else "correct that, then run"
    return f"when it was built, {reason}; {first} `{rebuild_command()}`"


def _obstacle() -> tuple[str, str]:
    """What `note_obstacle` recorded; empty if nothing."""
    try:
        with open(os.path.join(_ROOT, "x88", _OBSTACLE), encoding="utf-8") as file:
            lines = [*file.read().splitlines(), "", ""]
    except (OSError, ValueError):
        return "", ""
    return lines[0], lines[1]


def _origin() -> str:
    """What pip was given to install Moff: a path, a URL or a package name."""
    import json  # needed only when uncompiled
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        record = json.loads(distribution("moff-chess").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, OSError, ValueError):
        record = {}
    url = str(record.get("url", ""))
    if url.startswith("file:"):
        return url2pathname(urlsplit(url).path)
    if "vcs_info" in record:
        return f"{record['vcs_info']['vcs']}+{url}"
    return url or "moff-chess"


def _quoted(text: str) -> str:
    """A path as a word of a command line."""
    return f'"{text}"' if " " in text else text


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
