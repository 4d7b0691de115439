"""The endgame tablebases of whoever runs Moff: those in the folders that an environment variable names."""

import functools
import os
from typing import Final

from search.search import Search
from search.tablebase import Tablebase, folders_of

PATH: Final = "SYZYGY_PATH"
"""The environment variable with the folders, as other programs have it."""


@functools.cache
def opened(path: str) -> Tablebase:
    """The tables of some folders (see `search.tablebase.folders_of`), for all who ask for them."""
    return Tablebase(folders_of(path))


def search_with_tables(megabytes: int) -> Search:
    """A search with a transposition table of this size, which asks the tables. Raises ValueError or
    MemoryError.
    """
    search = Search(megabytes)
    search.use_tablebases(opened(os.environ.get(PATH, "")))
    return search
