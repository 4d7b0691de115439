"""Moff as a library: a board, notation, games and a search.

    import moff

    board = moff.parse_fen(moff.START)
    board.make(moff.parse_san(board, "e4"))
    print(moff.write_fen(board))
    print([moff.write_san(board, move) for move in moff.legal_moves(board)])

    result = moff.Search(megabytes=16).think(board, moff.Limits(depth=6))
    print(moff.write_san(board, result.move))

    picture = moff.Picture(board, last_move="e2e4", arrows=["g8f6", "d7d5:blue"])
    print(picture.svg())

A move is an int, packed as `x88.move` says; it is valid only in the position it was generated or read for.
Bad text raises ValueError with the text and the reason. `moff.api` lists all names. They are loaded on first
use, so that they do not delay the start of the engine, which needs other parts.
"""

TYPE_CHECKING = False  # importing `typing` takes time; a signal meanwhile would end in a traceback

if TYPE_CHECKING:
    from moff.api import *  # noqa: F403

__version__ = "0.1.0"


def _attribute(name: str) -> object:
    """Load the library on first use of one of its names. `from moff import` also asks here for a module of
    the package, which does not need the library.
    """
    if name == "__all__" or not name.startswith("_"):
        import importlib.util  # an engine can start without it

        _check_packages()
        if importlib.util.find_spec(f"moff.{name}"):
            return importlib.import_module(f"moff.{name}")
        api = importlib.import_module("moff.api")
        if name == "__all__" or name in api.__all__:
            value = globals()[name] = getattr(api, name)
            return value
    raise AttributeError(f"module 'moff' has no attribute {name!r}")


if not TYPE_CHECKING:  # a type checker is to report names that do not exist
    __getattr__ = _attribute


def __dir__() -> list[str]:
    import importlib

    _check_packages()
    return sorted([*importlib.import_module("moff.api").__all__, "__version__"])


def _check_packages() -> None:
    """Raise ImportError if a file of the user's, such as `search.py`, hides one of Moff's packages."""
    import importlib.util
    import os
    import sys

    def folder(path: str) -> str:
        return os.path.dirname(os.path.dirname(os.path.realpath(path)))

    for name in ("x88", "search"):
        if name in sys.modules:
            path = getattr(sys.modules[name], "__file__", None)
        else:
            spec = importlib.util.find_spec(name)
            path = spec and spec.origin
        if path and folder(path) != folder(__file__):
            raise ImportError(
                f"{path} hides Moff's package {name!r}: rename it, or take its folder off Python's path",
                name=name,
                path=path,
            )
