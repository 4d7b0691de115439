"""Read and write the table of numbers in search/tuned.py, or in a file like it, keeping its layout."""

import re
import runpy
from collections.abc import Mapping
from pathlib import Path

from moff.atomic_write import save

TUNED = Path(__file__).resolve().parent.parent / "search" / "tuned.py"

Ranges = dict[str, tuple[int, int, int]]
"""SEARCH: (value, least, most) by name."""


def read_table(path: Path) -> Ranges:
    """The table of the file. Raises ValueError or OSError."""
    try:
        table: Ranges = runpy.run_path(str(path))["SEARCH"]
    except (KeyError, SyntaxError) as error:
        raise ValueError(f"{path} has no table SEARCH: {error}") from None
    return table


def write_table(path: Path, values: Mapping[str, tuple[int, int, int]]) -> None:
    """Put these values into the table; all else in the file stays, comments too. Raises OSError."""
    text = path.read_bytes().decode()
    for name, value in values.items():
        text = re.sub(rf'("{name}": )\([^)]*\)', rf"\g<1>{value}", text)
    save(path, text)
