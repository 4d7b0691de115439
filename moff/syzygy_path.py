"""The user's endgame tablebases: those in the folders named by an environment variable."""

import functools
import os
from typing import Final

from search.search import Search
from search.syzygy.tablebase import Tablebase, folders_of

PATH: Final = "SYZYGY_PATH"
"""The environment variable with the folders, as other programs use it."""


@functools.cache
def opened(path: str) -> Tablebase:
    """The tables in some folders (see `search.syzygy.tablebase.folders_of`), shared by all callers."""
    return Tablebase(folders_of(path))


def search_with_tables(megabytes: int) -> Search:
    """A search that probes the tables, with a hash table of this size. Raises ValueError or MemoryError."""
    search = Search(megabytes)
    search.use_tablebases(opened(os.environ.get(PATH, "")))
    return search
