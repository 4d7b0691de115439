"""Moff as a library, in the words of python-chess: `import moff as chess`.

    import moff

    board = moff.Board()
    board.push_san("e4")
    print(board.fen(), board.legal_moves.count())

    for game in moff.pgn.read_games("games.pgn"):
        print(game.headers["White"], game.opening(), game.end().board().outcome())

    with moff.Engine(threads=2) as engine:
        print(engine.play(board, moff.Limit(time=1)).move)

What is the same as in python-chess, what differs and what is missing, docs/python-chess.md says. Bad input
raises ValueError with the text and the reason. The names are loaded on first use, so that they do not delay
the start of the engine, which needs other parts.
"""

TYPE_CHECKING = False  # importing `typing` takes time; a signal meanwhile would end in a traceback

if TYPE_CHECKING:
    from moff import pgn as pgn
    from moff.library.analysis import *  # noqa: F403
    from moff.library.boards import *  # noqa: F403
    from moff.library.books import *  # noqa: F403
    from moff.library.engines import *  # noqa: F403
    from moff.library.moves import *  # noqa: F403
    from moff.library.scores import *  # noqa: F403
    from moff.library.squares import *  # noqa: F403

__version__ = "0.1.0"

_HOMES = ("squares", "moves", "boards", "scores", "books", "engines", "analysis")
"""The modules of the library, in the order in which a name is looked for."""


def _attribute(name: str) -> object:
    """Load the library on first use of one of its names, and keep all names of the module that has it. `from
    moff import` also asks here for a module of the package.
    """
    if name == "__all__":
        return sorted({"pgn", *(name for home in _HOMES for name in _load(home))})
    if name.isidentifier() and not name.startswith("_"):
        import importlib.util

        _check_packages()
        if importlib.util.find_spec(f"moff.{name}"):
            return importlib.import_module(f"moff.{name}")
        for home in _HOMES:
            names = _load(home)
            if name in names:
                globals().update(names)
                return names[name]
    raise AttributeError(f"module 'moff' has no attribute {name!r}")


def _load(home: str) -> dict[str, object]:
    """The public names of a module of the library."""
    import importlib

    _check_packages()
    module = importlib.import_module(f"moff.library.{home}")
    return {name: getattr(module, name) for name in module.__all__}


if not TYPE_CHECKING:  # a type checker is to report names that do not exist
    __getattr__ = _attribute


def __dir__() -> list[str]:
    return sorted({*globals(), *_attribute("__all__")})  # type: ignore[misc]


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
