"""Headers and modules give the same constants and array lengths.

A header declares a module's constants as enums (`x88/piece.pxd`), the module assigns them again under
`if not cython.compiled:` (`x88/piece.py`). No form was found in which they could be written once.
"""

import importlib
import re
from pathlib import Path

import pytest

from tests import ROOT
from x88 import build

HEADERS = sorted(path for package in ("x88", "search") for path in (ROOT / package).rglob("*.pxd"))
NAMES = [str(path.relative_to(ROOT).with_suffix("")) for path in HEADERS]

_ENUM = re.compile(r"\s*(?:cpdef|cdef)\s+enum\b.*:\s*(#.*)?$")
_MEMBER = re.compile(r"\s+(\w+)\s*=\s*([^#]+?),?\s*(#.*)?$")


def declared(header: Path) -> dict[str, str]:
    """The members of a header's enums with their values, as text."""
    members: dict[str, str] = {}
    inside = False
    for line in header.read_text(encoding="utf-8").splitlines():
        if _ENUM.match(line):
            inside = True
        elif line.strip() and not line.strip().startswith("#"):
            inside = inside and line.startswith(" ")
            if inside:
                member = _MEMBER.match(line)
                assert member, f"{header.name}: {line.strip()!r} gives its constant no value"
                assert member[1] not in members, f"{header.name}: {member[1]} twice"
                members[member[1]] = member[2]
    return members


def test_headers_are_found() -> None:
    assert {"x88/piece", "x88/square", "x88/move", "x88/board", "x88/movegen"} <= set(NAMES)
    assert len(declared(ROOT / "x88" / "piece.pxd")) > 10


@pytest.mark.parametrize("header", HEADERS, ids=NAMES)
def test_header_and_module_have_the_same_constants_in_the_same_order(header: Path) -> None:
    constants = declared(header)
    source = header.with_suffix(".py").read_text(encoding="utf-8")
    blocks = re.findall(r"^if not cython.compiled:\n((?: .*\n|\n)*)", source, re.MULTILINE)
    assigned = [
        name for block in blocks for name in re.findall(r"^    (\w+)(?:: \w+)? = ", block, re.MULTILINE)
    ]
    assert assigned == list(constants)
    if not build.compiled:  # compiled, only C sees most of them
        known = vars(importlib.import_module(".".join(header.relative_to(ROOT).with_suffix("").parts)))
        for name, text in constants.items():
            assert known[name] == eval(text, {"__builtins__": {}}, {**known}), name


WINDOWS = {"near", "far", "small", "hyper", "interface", "cdecl", "pascal", "min", "max", "environ", "unix"}
"""Macros of Windows' headers and of compilers that are written as our names are. Cython puts a prefix before
all names but those of attributes.
"""


@pytest.mark.parametrize("header", HEADERS, ids=NAMES)
def test_no_attribute_has_the_name_of_a_macro(header: Path) -> None:
    text = re.sub(r"#.*", "", header.read_text(encoding="utf-8"))
    attributes = re.findall(r"^    cdef (?:readonly |public )?[^(\n]*?(\w+)[ ]*$", text, re.MULTILINE)
    assert not WINDOWS & set(attributes)
    if header.name == "board.pxd":
        assert {"checkers", "squares", "ply"} <= set(attributes)
