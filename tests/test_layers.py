"""Imports run downwards only: the rules know no text, `x88` no search, `search` no input and output, nothing
the engine.
"""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

RULES = {
    "square",
    "piece",
    "move",
    "zobrist",
    "board",
    "attack",
    "attack_map",
    "movegen",
    "rays",
    "uncompiled",
    "build",
    "__init__",
}
"""The modules of `x88` on the lowest floor; the others are notation."""

SOURCES = sorted([*ROOT.glob("x88/*.py"), *ROOT.glob("search/*.py")])


def imported(path: Path) -> set[str]:
    """The dotted names of all modules that a file or its header imports, wherever it does so."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    header = path.with_suffix(".pxd")
    if header.exists():
        for line in header.read_text(encoding="utf-8").splitlines():
            words = line.split()
            if words[:1] == ["from"] and "cimport" in words:
                names.add(words[1])
    return names


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: f"{path.parent.name}.{path.stem}")
def test_no_import_runs_upwards(path: Path) -> None:
    names = imported(path)
    assert not any(name.split(".")[0] in ("engine", "tests", "bench", "chess") for name in names)
    if path.parent.name == "x88":
        assert not any(name.split(".")[0] == "search" for name in names)
        if path.stem in RULES:
            below = {f"x88.{stem}" for stem in RULES}
            modules = {
                name
                for name in names
                if name.startswith("x88.") and (ROOT / f"{name.replace('.', '/')}.py").exists()
            }
            assert modules <= below


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: f"{path.parent.name}.{path.stem}")
def test_only_the_engine_prints_and_reads(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in ("print", "input"), f"line {node.lineno}"
        if isinstance(node, ast.Attribute):
            assert node.attr not in ("stdin", "stdout", "stderr"), f"line {node.lineno}"
