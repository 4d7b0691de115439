"""Read and write the table of numbers in search/tuned.py, or in a file like it, keeping its layout."""

import ast
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

TUNED = Path(__file__).resolve().parent.parent / "search" / "tuned.py"

Ranges = dict[str, tuple[int, int, int]]
"""SEARCH: (value, least, most) by name."""


def read_table(path: Path, table: str) -> Any:
    """A table of the file. Raises ValueError or OSError."""
    return ast.literal_eval(_table(path.read_text(encoding="utf-8"), table, path))


def write_table(path: Path, table: str, values: Mapping[str, tuple[int, int, int]]) -> None:
    """Put these values into a table of the file; everything else in it stays, comments included.

    Raises ValueError or OSError.
    """
    text = path.read_text(encoding="utf-8")
    found = _table(text, table, path)
    lines = text.encode().splitlines(keepends=True)  # ast counts columns in bytes
    for key, node in reversed(list(zip(found.keys, found.values, strict=True))):
        name = ast.literal_eval(key) if key else ""
        if name not in values:
            continue
        end, column = node.end_lineno or 0, node.end_col_offset or 0
        head = lines[node.lineno - 1][: node.col_offset]
        tail = lines[end - 1][column:]
        lines[node.lineno - 1 : end] = [head + str(values[name]).encode() + tail]
    new = path.with_name(path.name + ".new")
    new.write_bytes(b"".join(lines))
    os.replace(new, path)


def _table(text: str, name: str, path: Path) -> ast.Dict:
    try:
        body = ast.parse(text).body
    except SyntaxError as error:
        raise ValueError(f"{path} is not Python: {error}") from None
    for node in body:
        targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            value = getattr(node, "value", None)
            if isinstance(value, ast.Dict):
                return value
    raise ValueError(f"{path} has no table {name}")
