"""bench/mutants.py on a project of one module: which faults are drawn, and what becomes of them."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs Unix")

ROOT = Path(__file__).resolve().parent.parent

MODULE = '''"""A module."""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    LIMIT = 5


def clamp(number: int | None, least: "int | None" = None) -> int:
    """A number brought under the limit."""
    if number > LIMIT:
        return LIMIT
    return number


class Stack:
    def __init__(self) -> None:
        self.cells = [0] * 64
'''

TESTS = """from x88.clamp import clamp


def test_clamp() -> None:
    assert clamp(3) == 3
    assert clamp(9) == 5
"""

CONFIGURATION = """
[[equivalent]]
module = "x88/clamp.py"
old = "if number > LIMIT:"
new = "if number >= LIMIT:"
why = "the limit itself is returned either way"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "moff"
    for name in ("bench", "x88", "search", "tests"):
        (folder / name).mkdir(parents=True)
    for name in ("mutants.py", "touched.py"):
        shutil.copy(ROOT / "bench" / name, folder / "bench")
    (folder / "bench" / "mutants.toml").write_text(CONFIGURATION, encoding="utf-8")
    shutil.copy(ROOT / "x88" / "uncompiled.py", folder / "x88")
    (folder / "x88" / "clamp.py").write_text(MODULE, encoding="utf-8")
    (folder / "tests" / "test_clamp.py").write_text(TESTS, encoding="utf-8")
    for name in ("engine.py", "x88/__init__.py", "search/__init__.py", "tests/__init__.py"):
        (folder / name).touch()
    return folder


def mutants(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "bench/mutants.py", "--out", "out.json", *arguments]
    return subprocess.run(
        command, cwd=project, capture_output=True, encoding="utf-8", check=False, timeout=300
    )


def recorded(project: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((project / "out.json").read_text(encoding="utf-8"))["mutants"]
    return found


def write(project: Path, *faults: tuple[str, str]) -> None:
    """A file of mutants that are not tested yet."""
    lines = MODULE.splitlines()
    entries = [
        {
            "module": "x88/clamp.py",
            "operator": "by hand",
            "line": lines.index(old) + 1,
            "old": [old],
            "new": [new],
        }
        for old, new in faults
    ]
    (project / "out.json").write_text(json.dumps({"seed": 1, "mutants": entries}), encoding="utf-8")


KILLED = ("    if number > LIMIT:", "    if number < LIMIT:")
SURVIVES = ("    return number", "    return abs(number)")
EQUIVALENT = ("    if number > LIMIT:", "    if number >= LIMIT:")


def test_mutants_are_killed_or_survive_and_equivalent_ones_do_not_count(project: Path) -> None:
    write(project, KILLED, SURVIVES, EQUIVALENT)
    ended = mutants(project, "--processes", "2")
    assert ended.returncode == 0, ended.stderr
    assert [entry["outcome"] for entry in recorded(project)] == ["killed", "survived", "pending"]
    assert recorded(project)[0]["failed"] == "FAILED tests/test_clamp.py::test_clamp"
    assert "+     return abs(number)" in ended.stdout
    assert ">= LIMIT" not in ended.stdout
    assert ended.stdout.splitlines()[-1].split() == ["all", "2", "1", "0", "1", "1", "50.0", "%"]
    assert (project / "x88" / "clamp.py").read_text(encoding="utf-8") == MODULE


def test_a_file_is_continued_where_it_ended(project: Path) -> None:
    write(project, KILLED, SURVIVES)
    assert "not tested yet" in mutants(project, "--minutes", "0").stdout
    mutants(project)
    before = (project / "out.json").stat().st_mtime_ns
    assert "50.0 %" in mutants(project).stdout
    assert [entry["outcome"] for entry in recorded(project)] == ["killed", "survived"]
    assert (project / "out.json").stat().st_mtime_ns > before
    test = project / "tests" / "test_clamp.py"
    test.write_text(TESTS + "    assert clamp(-2) == -2\n", encoding="utf-8")
    assert "50.0 %" in mutants(project).stdout, "what was tested is not tested again"
    assert "100.0 %" in mutants(project, "--again").stdout


def test_mutants_of_changed_lines_are_dropped_and_moved_lines_are_found(project: Path) -> None:
    write(project, KILLED, SURVIVES)
    changed = "# moved\n" + MODULE.replace("    return number", "    return int(number)")
    (project / "x88" / "clamp.py").write_text(changed, encoding="utf-8")
    ended = mutants(project)
    assert "1 mutants are dropped" in ended.stderr
    assert [entry["outcome"] for entry in recorded(project)] == ["killed"]


def test_tests_that_fail_without_a_fault_are_an_error(project: Path) -> None:
    (project / "tests" / "test_clamp.py").write_text("def test_it(): assert False\n", encoding="utf-8")
    write(project, KILLED)
    ended = mutants(project)
    assert ended.returncode == 1
    assert "tests/test_clamp.py: the tests fail without a fault" in ended.stderr
    assert [entry["outcome"] for entry in recorded(project)] == ["pending"]


def test_what_no_test_can_notice_is_not_drawn(project: Path) -> None:
    pytest.importorskip("cosmic_ray", reason="the mutation extra is not installed")
    ended = mutants(project, "--sample", "1000", "--draw", "x88/clamp.py")
    assert ended.returncode == 0, ended.stderr
    drawn = [(entry["old"][0].strip(), entry["new"][0].strip()) for entry in recorded(project)]
    assert ("if number > LIMIT:", "if number < LIMIT:") in drawn
    assert ("return LIMIT", "pass") in drawn
    assert ("self.cells = [0] * 64", "pass") in drawn
    assert ("if number > LIMIT:", "if number >= LIMIT:") not in drawn, "equivalent"
    assert len(set(drawn)) == len(drawn)
    for old, new in drawn:
        assert "cython" not in old
        assert not old.startswith(("LIMIT", "def "))
        assert "64" in new or old != "self.cells = [0] * 64" or new == "pass"


def test_the_same_seed_draws_the_same(project: Path) -> None:
    pytest.importorskip("cosmic_ray", reason="the mutation extra is not installed")
    draws = []
    for seed in ("1", "1", "2"):
        mutants(project, "--sample", "8", "--draw", "--seed", seed, "x88/clamp.py")
        draws.append(recorded(project))
        (project / "out.json").unlink()
    assert draws[0] == draws[1] != draws[2]


@pytest.mark.parametrize(
    ("arguments", "words"), [([], "--sample N"), (["--sample", "3", "x88/none.py"], "'x88/none.py'")]
)
def test_wrong_usage_is_one_line(project: Path, arguments: list[str], words: str) -> None:
    ended = mutants(project, *arguments)
    assert ended.returncode == 2
    assert words in ended.stderr
    assert ended.stderr.count("\n") == 1


def counting(project: Path, *functions: str) -> str:
    """Tests of these functions of the module that leave a mark whenever they run."""
    lines = ["from pathlib import Path", "from x88 import clamp"]
    for n, name in enumerate(functions):
        lines += [f"def test_{n}() -> None:", f"    with open({str(project / name)!r}, 'ab') as file:"]
        lines += ["        file.write(b'x')", f"    clamp.{name}"]
    return "\n".join(lines) + "\n"


def test_only_the_tests_that_execute_the_lines_are_run(project: Path) -> None:
    pytest.importorskip("coverage", reason="the mutation extra is not installed")
    (project / "tests" / "test_clamp.py").write_text(
        counting(project, "clamp(3)", "Stack()"), encoding="utf-8"
    )
    write(project, SURVIVES)
    mutants(project)
    assert [entry["outcome"] for entry in recorded(project)] == ["survived"]
    assert (project / "clamp(3)").read_text(encoding="utf-8") == "xx", (
        "once to see what it executes, once with the mutant"
    )
    assert (project / "Stack()").read_text(encoding="utf-8") == "x"
    mutants(project, "--again")
    assert (project / "clamp(3)").read_text(encoding="utf-8") == "xxx", "what was seen is kept"
    assert (project / "Stack()").read_text(encoding="utf-8") == "x"


def test_all_tests_are_run_for_what_is_executed_on_import(project: Path) -> None:
    (project / "tests" / "test_clamp.py").write_text(
        counting(project, "clamp(3)", "Stack()"), encoding="utf-8"
    )
    write(project, ("class Stack:", "class Stack(object):"))
    mutants(project)
    assert (
        (project / "clamp(3)").read_text(encoding="utf-8")
        == (project / "Stack()").read_text(encoding="utf-8")
        == "xx"
    )


def test_with_little_time_only_some_tests_are_run(project: Path) -> None:
    text = counting(project, "clamp(3)", "clamp(4)") + "    import time; time.sleep(0.2)\n"
    (project / "tests" / "test_clamp.py").write_text(text, encoding="utf-8")
    write(project, SURVIVES)
    mutants(project, "--seconds", "0.0001")
    assert (project / "clamp(3)").read_text(encoding="utf-8") == "xx"
    assert (project / "clamp(4)").read_text(encoding="utf-8") == "x"


def test_an_equivalent_mutant_may_be_one_only_after_a_line(project: Path) -> None:
    for after, tested in (
        ('"return LIMIT"', 0),
        ('"if number > LIMIT:"', 1),
        ('"if number > LIMIT:\\nreturn LIMIT"', 0),
    ):
        entry = '[[equivalent]]\nmodule = "x88/clamp.py"\nold = "return number"\nnew = "return abs(number)"\n'
        configuration = f'{entry}after = {after}\nwhy = "numbers are positive"\n'
        (project / "bench" / "mutants.toml").write_text(configuration, encoding="utf-8")
        write(project, SURVIVES)
        assert int(mutants(project).stdout.splitlines()[-1].split()[1]) == tested


def test_annotations_of_a_plain_class_are_not_drawn(project: Path) -> None:
    pytest.importorskip("cosmic_ray", reason="the mutation extra is not installed")
    text = "\n\nclass Point{}:\n    row: int\n    column: int = 0\n"
    for base, drawn in (("", False), ("(tuple)", True)):
        (project / "x88" / "clamp.py").write_text(MODULE + text.format(base), encoding="utf-8")
        (project / "out.json").unlink(missing_ok=True)
        mutants(project, "--sample", "1000", "--draw", "x88/clamp.py")
        lines = {entry["old"][0].strip() for entry in recorded(project)}
        assert ("row: int" in lines) == drawn
        assert "column: int = 0" in lines
