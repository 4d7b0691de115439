"""The settings of Sphinx: sphinx-build -W --keep-going docs build/docs (pip install -e ".[docs]")."""

import os
import sys
from pathlib import Path
from typing import Any

from sphinx.addnodes import desc_annotation

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]
os.environ["MOFF_PURE"] = "1"  # compiled functions have no argument types

import pictures  # noqa: E402

import moff  # noqa: E402

pictures.make(ROOT / "docs" / "pictures")

project = "Moff"
author = "the Moff authors"
project_copyright = "the Moff authors"
version = release = moff.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_enable_extensions = ["attrs_inline", "colon_fence"]
myst_heading_anchors = 3
default_role = "literal"  # docstrings quote code as in Markdown
exclude_patterns: list[str] = []
suppress_warnings = ["ref.python"]  # two classes of a name: Move of the library, and of x88.notation.pgn

autoclass_content = "both"  # what __init__ takes and raises too
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_use_unqualified_type_names = True

OF_NAMED_TUPLES = ("Alias for field number", "Create new instance of")
"""The beginnings of the docstrings that Python generates for NamedTuples."""

LONGEST_VALUE = 100
"""The maximum characters shown of a constant's value; tables are longer."""

html_theme = "furo"
html_title = "Moff"
html_theme_options = {"sidebar_hide_name": False}
html_static_path = ["static"]
html_css_files = ["scheme.css"]  # pictures follow the theme that the reader chooses


def as_restructured_text(
    _app: object, _what: str, _name: str, _thing: object, _options: object, lines: list[str]
) -> None:
    """Rewrite the Markdown tables and indented code of a docstring for Sphinx."""
    lines[:] = [line for line in lines if not line.startswith(OF_NAMED_TUPLES)]
    converted: list[str] = []
    was_blank, was_table, was_code = True, False, False
    for line in lines:
        is_table = line.startswith("|")
        is_code = line.startswith("    ") and (was_blank or was_code)
        if is_table:
            if not was_table:
                converted += ["", ".. list-table::", "   :header-rows: 1", ""]
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if any(cell.strip("-") for cell in cells):
                converted += [f"   {'  ' if number else '* '}- {cell}" for number, cell in enumerate(cells)]
        else:
            if was_table:
                converted.append("")
            if is_code and not was_code:
                converted += ["::", ""]
            converted.append(line)
        was_code = is_code or (was_code and not line.strip())
        was_blank, was_table = not line.strip(), is_table
    lines[:] = converted


def leave_out_tables(_app: object, doctree: Any) -> None:
    """Leave out the values of constants that are tables."""
    for node in list(doctree.findall(desc_annotation)):
        if len(node.astext()) > LONGEST_VALUE:
            node.parent.remove(node)


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", as_restructured_text)
    app.connect("doctree-read", leave_out_tables)
