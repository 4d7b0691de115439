"""Games in PGN, in the words of python-chess: see `moff.library.games`."""

from moff.library.games import *  # noqa: F403
from moff.library.games import __all__ as __all__
