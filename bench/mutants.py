#!/usr/bin/env python3
"""Mutation testing: put small faults into the source, one at a time, and see whether the tests notice.

    python bench/mutants.py --sample 300 --out FILE.json               draw 300 mutants and test them
    python bench/mutants.py --sample 99 --out FILE.json x88/board.py   the same for some modules only
    python bench/mutants.py --out FILE.json                            continue, or show the results again
    python bench/mutants.py --out FILE.json --seconds 20               the same, with only the fastest tests
    python bench/mutants.py --out FILE.json --again                    test the survivors again
    python bench/mutants.py --sample 300 --out FILE.json --draw        draw only, to test elsewhere

The faults are those of cosmic-ray (https://cosmic-ray.readthedocs.io): other operators, comparisons, numbers,
`and` for `or`, negated conditions, loops that do not run; and one more, statements left out. They are drawn
with a seed: a random statement, then one of its faults; every statement once before any is drawn twice.
Faults that no test can notice are left out: in annotations, under `if not cython.compiled` (a test compares
it with the headers), in the lengths of arrays, and those that bench/mutants.toml lists as equivalent.

Each mutant runs in a copy of this checkout, uncompiled, against the tests of its file: tests/test_NAME.py, or
what bench/mutants.toml says. Of these, only those that execute its lines are run, fastest first: coverage
finds them, once for each test file, and a file next to --out, with the suffix .touched, records them. A
mutant is killed by a test that fails, or by a run that takes several times as long as without it. The file
--out is written after every mutant, so that a run may be interrupted, or limited by --minutes, and continued
later; mutants of lines that have changed since are dropped.

Results go to standard output, progress and errors to standard error; the exit code is 0 unless something
could not be run. Drawing needs the `mutation` extra; testing needs the `test` extra, and runs all tests of a
file if coverage is not installed. Needs Unix.
"""

import argparse
import ast
import concurrent.futures
import contextlib
import hashlib
import importlib.util
import itertools
import json
import math
import os
import queue
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CONFIGURATION = ROOT / "bench" / "mutants.toml"
PACKAGES = ("x88", "search")
FOLDERS = (*PACKAGES, "moff", "tests", "bench")
"""The folders of a checkout, in addition to the files at its top."""

PENDING, KILLED, TIMEOUT, SURVIVED = "pending", "killed", "timeout", "survived"
BATCH = 10
"""Seconds of tests after which the others run in another process: a fault that hangs is found sooner."""
MEMORY = 6 << 20
"""Kilobytes of address space for each process of a test run; a mutant may ask for any amount."""

LEFT_OUT = {
    "VariableReplacer": "needs variable names",
    "VariableInserter": "the same",
    "ReplaceComparisonOperator_Eq_Is": "the same for the small numbers that are compared here",
    "ReplaceComparisonOperator_NotEq_IsNot": "the same",
    "ReplaceBinaryOperator_BitOr_Add": "the same for fields without common bits, which | joins here",
    "ReplaceBinaryOperator_BitOr_BitXor": "the same",
}
"""Operators of cosmic-ray that are useless here."""


@dataclass
class Mutant:
    """One fault: these lines of a module, from `line` (1 is the first), become those."""

    module: str
    operator: str
    line: int
    old: list[str]
    new: list[str]
    outcome: str = PENDING
    seconds: float = 0.0
    failed: str = ""
    """The first test that failed."""

    @property
    def name(self) -> tuple[str, str, str]:
        """The identity of the mutant, wherever its lines are in the module."""
        return self.module, _text(self.old), _text(self.new)

    def applied(self, source: list[str]) -> list[str] | None:
        """The lines of the module with the fault; None if its lines are no longer there."""
        end = self.line - 1 + len(self.old)
        if source[self.line - 1 : end] != self.old:
            return None
        return source[: self.line - 1] + self.new + source[end:]

    def follows(self, text: str) -> bool:
        """Whether the module has these lines before the fault."""
        lines = (ROOT / self.module).read_text(encoding="utf-8").splitlines()[: self.line - 1]
        count = len(text.splitlines())
        return _text(lines[len(lines) - count :]) == text

    def diff(self) -> str:
        """The fault as a readable diff."""
        lines = [f"{self.module}:{self.line} ({self.operator})"]
        lines += [f"  - {line.rstrip()}" for line in self.old] + [f"  + {line.rstrip()}" for line in self.new]
        return "\n".join(lines)


@dataclass
class Configuration:
    """The content of bench/mutants.toml."""

    tests: dict[str, list[str]] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    equivalent: dict[tuple[str, str, str], set[str]] = field(default_factory=dict)
    """Each with the lines that it follows, "" if it may be anywhere."""

    @classmethod
    def read(cls, path: Path) -> "Configuration":
        with open(path, "rb") as file:
            table = tomllib.load(file)
        equivalent: dict[tuple[str, str, str], set[str]] = defaultdict(set)
        for entry in table.get("equivalent", []):
            name = entry["module"], _text(entry["old"].splitlines()), _text(entry["new"].splitlines())
            equivalent[name].add(_text(entry.get("after", "").splitlines()))
        return cls(table.get("tests", {}), table.get("skipped", {}), equivalent)

    def is_equivalent(self, mutant: Mutant) -> bool:
        """Whether no test can notice the fault."""
        if mutant.operator in LEFT_OUT:
            return True
        after = self.equivalent.get(mutant.name, set())
        return any(mutant.follows(lines) for lines in after)

    def tests_of(self, module: str) -> list[str]:
        """The existing test files of a module."""
        own = f"tests/test_{Path(module).stem}.py"
        return [name for name in self.tests.get(module, [own]) if (ROOT / name).exists()]


def _text(lines: Iterable[str]) -> str:
    """Lines without their indentation, which changes too easily."""
    return "\n".join(line.strip() for line in lines).strip()


# Drawing.


def draw(modules: list[str], number: int, seed: int, known: Configuration) -> list[Mutant]:
    """`number` mutants of the modules, spread over their statements."""
    chance = random.Random(seed)
    sources = {module: Source(module) for module in modules}
    statements = [faults for module in modules for faults in sources[module].faults()]
    print(f"{sum(map(len, statements))} faults of {len(statements)} statements", file=sys.stderr)
    for faults in statements:
        chance.shuffle(faults)
    drawn: dict[tuple[str, str, str], Mutant] = {}
    while statements and len(drawn) < number:
        chance.shuffle(statements)
        for faults in statements:
            while faults and len(drawn) < number:
                fault = faults.pop()
                mutant = sources[fault.module].mutant(fault)
                if mutant and not known.is_equivalent(mutant) and mutant.name not in drawn:
                    drawn[mutant.name] = mutant
                    break
        statements = [faults for faults in statements if faults]
    return list(drawn.values())


@dataclass(frozen=True)
class Fault:
    """The n-th place in a module where an operator of cosmic-ray applies."""

    module: str
    operator: str
    occurrence: int


class Source:
    """A module to put faults into."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._text = (ROOT / module).read_text(encoding="utf-8")
        self._operators = operators()

    def faults(self) -> list[list[Fault]]:
        """All faults that a test may notice, by statement."""
        from cosmic_ray.ast import ast_nodes, get_ast

        nodes = list(ast_nodes(get_ast(self._text)))
        places = Places(self._text)
        by_line: dict[int, list[Fault]] = defaultdict(list)
        for name, operator in self._operators.items():
            positions = [position for node in nodes for position in operator.mutation_positions(node)]
            for occurrence, (start, end) in enumerate(positions):
                if places.may_change(name, start, end):
                    by_line[places.statement(start[0])].append(Fault(self._module, name, occurrence))
        return [by_line[line] for line in sorted(by_line)]

    def mutant(self, fault: Fault) -> Mutant | None:
        """The module with a fault; None if it is unchanged or not valid Python."""
        from cosmic_ray.mutating import mutate_code

        mutated = mutate_code(self._text, self._operators[fault.operator], fault.occurrence)
        if mutated is None or mutated == self._text or not _compiles(mutated):
            return None
        return _mutant(self._module, fault.operator, self._text, mutated)


def operators() -> dict[str, Any]:
    """Cosmic-ray's operators and our own, by name."""
    from cosmic_ray.plugins import get_operator, operator_names

    found = {name.rpartition("/")[2]: name for name in operator_names()}
    made = {short: get_operator(name)() for short, name in found.items() if short not in LEFT_OUT}
    return {**made, "DeleteStatement": DeleteStatement()}


class DeleteStatement:
    """An operator in cosmic-ray's form: a simple statement becomes `pass`."""

    KINDS = ("expr_stmt", "return_stmt", "del_stmt", "atom_expr", "power")

    def mutation_positions(self, node: Any) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
        parent = node.parent
        if node.type in self.KINDS and parent is not None and parent.type == "simple_stmt":
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, _index: int) -> Any:
        from parso.python.tree import Keyword

        return Keyword("pass", node.start_pos, prefix=node.get_first_leaf().prefix)


class Places:
    """Where in a module a fault would have an effect, and which statement each line belongs to."""

    def __init__(self, source: str) -> None:
        self._lines = source.splitlines()
        self._closed: list[tuple[tuple[int, int], tuple[int, int]]] = []
        self._lengths: list[tuple[tuple[int, int], tuple[int, int]]] = []
        self._starts: dict[int, int] = {}
        for node in ast.walk(ast.parse(source)):
            self._look_at(node)

    def _look_at(self, node: ast.AST) -> None:
        if isinstance(node, ast.stmt):
            self._note_lines(node)
        closed: list[ast.AST | None] = []
        if isinstance(node, ast.arg | ast.AnnAssign):
            closed.append(node.annotation)
        elif isinstance(node, ast.FunctionDef):
            closed.append(node.returns)
            closed += [decorator for decorator in node.decorator_list if _is_cython(decorator)]
        elif isinstance(node, ast.If) and _is_cython(node.test):
            closed.append(node)
        elif isinstance(node, ast.ClassDef) and not node.bases and not node.decorator_list:
            # `depth: int` has an effect only in a class that turns it into a field.
            closed += [inner for inner in node.body if isinstance(inner, ast.AnnAssign) and not inner.value]
        elif isinstance(node, ast.Try) and "cython" in ast.unparse(node.body[0]):
            closed.append(node)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp):
            # `self.squares = [0] * 256`: the header has the length as well.
            if isinstance(node.value.left, ast.List) and isinstance(node.targets[0], ast.Attribute):
                self._lengths.append(self._range(node.value.right))
        self._closed += [self._range(part) for part in closed if part is not None]

    def _note_lines(self, node: ast.stmt) -> None:
        """The lines of a statement belong to it, except for those of nested statements."""
        inner = [
            child.lineno for child in ast.walk(node) if isinstance(child, ast.stmt) and child is not node
        ]
        end = min(inner, default=(node.end_lineno or node.lineno) + 1)
        for line in range(node.lineno, max(end, node.lineno + 1)):
            self._starts[line] = node.lineno

    def _range(self, node: Any) -> tuple[tuple[int, int], tuple[int, int]]:
        """The range of a node, with columns counted in characters."""
        return self._position(node.lineno, node.col_offset), self._position(
            node.end_lineno, node.end_col_offset
        )

    def _position(self, line: int, offset: int) -> tuple[int, int]:
        return line, len(self._lines[line - 1].encode()[:offset].decode(errors="ignore"))

    def lines_of_statement(self, line: int) -> list[int]:
        """All lines of the statement that a line belongs to."""
        start = self.statement(line)
        return [other for other, its in self._starts.items() if its == start] or [line]

    def statement(self, line: int) -> int:
        """The line on which the statement of a line begins."""
        return self._starts.get(line, line)

    def may_change(self, operator: str, start: tuple[int, int], end: tuple[int, int]) -> bool:
        """Whether the operator's fault at that place can be noticed by a test."""
        if operator == "NumberReplacer" and any(a <= start and end <= b for a, b in self._lengths):
            return False
        return not any(a <= start and end <= b for a, b in self._closed)


def _is_cython(node: ast.AST) -> bool:
    return "cython." in ast.unparse(node)


def _compiles(source: str) -> bool:
    try:
        compile(source, "mutant", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def _mutant(module: str, operator: str, source: str, mutated: str) -> Mutant:
    """The lines in which two sources differ."""
    old, new = source.splitlines(), mutated.splitlines()
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return Mutant(module, operator, start + 1, old[start : len(old) - end], new[start : len(new) - end])


# Running.


class Checkout:
    """A copy of this checkout in which one mutant at a time is tested."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()
        left_out = shutil.ignore_patterns("__pycache__", "*.so", "*.pyd", "compiled.txt")
        for entry in ROOT.iterdir():
            if entry.name in FOLDERS:
                shutil.copytree(entry, folder / entry.name, ignore=left_out)
            elif (
                entry.is_file()
                and entry.name[0] != "."
                and entry.suffix in (".py", ".toml", ".md", ".in", "")
            ):
                shutil.copy(entry, folder)
        self._environment = {
            **os.environ,
            "MOFF_PURE": "1",
            "CI": "1",  # hypothesis repeats its examples then
            "PYTHONPATH": os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]),
        }
        # By content, not by time: a mutant may change a file within a second and keep its size.
        compiling = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash"]
        there = [name for name in (*FOLDERS[:3], "engine.py") if (folder / name).exists()]
        subprocess.run([*compiling, *there], cwd=folder, check=True)
        self._lock = threading.Lock()
        self._running: subprocess.Popen[str] | None = None
        self._stopped = False

    def stop(self) -> None:
        """End the running test, and start no other."""
        with self._lock:
            self._stopped = True
            self._kill()

    def _kill(self) -> None:
        if self._running is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._running.pid, signal.SIGKILL)

    def record(self, tests: str, into: Path) -> tuple[bool, str]:
        """Find the lines that a test file executes. Returns whether its tests pass, and what they printed."""
        passed, _, printed = self.run(["-p", "bench.touched", tests], None, into)
        return passed, printed

    def run(
        self, tests: list[str], seconds: float | None, touched: Path | None = None
    ) -> tuple[bool, bool, str]:
        """Whether the tests pass, whether they took longer than allowed, and what they printed.

        `touched` is where bench/touched.py writes its record, if the tests are run with it. Such a run also
        leaves the code that pytest compiles for later runs.
        """
        limited = f'ulimit -v {MEMORY}; exec "$@"'
        command = ["sh", "-c", limited, "sh", sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-rfE"]
        command += ["-n0", "-p", "no:cacheprovider", "--rootdir=.", *tests]
        added = {"MOFF_TOUCHED": str(touched)} if touched else {"PYTHONDONTWRITEBYTECODE": "1"}
        environment = {**self._environment, **added}
        with self._lock:
            if self._stopped:
                raise InterruptedError
            self._running = subprocess.Popen(
                command,
                cwd=self._folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,
            )
        late = False
        try:
            printed, _ = self._running.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            late = True
            self._kill()
            printed, _ = self._running.communicate()
        passed = self._running.returncode == 0
        with self._lock:
            self._kill()  # including engines left behind by the tests
            self._running = None
            if self._stopped:
                raise InterruptedError
        return passed, late, printed

    def test(self, mutant: Mutant, batches: list[tuple[list[str], float]]) -> None:
        """Test one mutant in batches of tests, each with its limit in seconds, and record the outcome."""
        file = self._folder / mutant.module
        original = file.read_text(encoding="utf-8")
        lines = mutant.applied(original.splitlines())
        assert lines is not None, "those are dropped before"
        began = time.monotonic()
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        try:
            for tests, seconds in batches:
                passed, late, printed = self.run(tests, seconds)
                if (
                    "ERROR: not found: " in printed
                ):  # the fault has renamed a test that has its value in its name
                    passed, late, printed = self.run(sorted({name.split("::")[0] for name in tests}), seconds)
                if not passed:
                    break
        finally:
            file.write_text(original, encoding="utf-8")
        mutant.seconds = round(time.monotonic() - began, 1)
        mutant.outcome = TIMEOUT if late else SURVIVED if passed else KILLED
        failures = [line for line in printed.splitlines() if line.startswith(("FAILED ", "ERROR "))]
        mutant.failed = failures[0].split(" - ")[0] if failures and not passed else ""


class Touched:
    """Which tests execute which lines, as bench/touched.py records it for each test file.

    The record of a test file is valid until that file, or any source that it may run, changes.
    """

    def __init__(self, path: Path, most: float) -> None:
        """`path` is the file of the records, `most` how many seconds of tests to run for each mutant."""
        self._path = path
        self._most = most
        self._digests: dict[str, str] = {}
        self._records: dict[str, Any] = {}
        if path.exists():
            self._records = json.loads(path.read_text(encoding="utf-8"))
        common = [*ROOT.glob("*.py"), *(ROOT / "tests").glob("*.py")]
        common += [file for name in (*PACKAGES, "moff") for file in (ROOT / name).glob("*.py")]
        self._common = sorted(file for file in common if not file.name.startswith("test_"))
        self._places: dict[str, Places] = {}

    def has(self, tests: str) -> bool:
        """Whether the record of a test file is up to date."""
        return tests in self._records and self._records[tests]["digest"] == self._digest(tests)

    def add(self, tests: str, record: dict[str, Any]) -> None:
        """Keep the record of a test file."""
        self._records[tests] = {"digest": self._digest(tests), **record}
        self._path.write_text(json.dumps(self._records), encoding="utf-8")

    def _digest(self, tests: str) -> str:
        if tests not in self._digests:
            contents = b"".join(file.read_bytes() for file in [*self._common, ROOT / tests])
            contents += b"coverage" if importlib.util.find_spec("coverage") else b""
            self._digests[tests] = hashlib.sha256(contents).hexdigest()
        return self._digests[tests]

    def batches(self, mutant: Mutant, files: list[str]) -> list[tuple[list[str], float]]:
        """The tests that execute a mutant's lines, those of the first file first, then the fastest first, in
        batches of at least BATCH seconds with their limits. All tests, if the lines are executed on import or
        by no test.

        A test that starts processes may execute any line in them.
        """
        seconds: dict[str, float] = {}
        executing: set[str] = set()
        outside: set[str] = set()
        for name in files:
            record = self._records[name]
            seconds |= record["seconds"]
            outside |= set(record["outside"])
            lines = record["lines"].get(mutant.module, {})
            for line in self._lines(mutant):
                executing |= set(lines.get(str(line), []))
        chosen = [name for name in seconds if name in executing]
        rest = [name for name in seconds if name not in executing and name in outside]
        if "" in executing or not executing:
            rest = [name for name in seconds if name not in executing]
        ordered = sorted(chosen, key=lambda name: (not name.startswith(files[0]), seconds[name]))
        ordered += sorted(rest, key=seconds.__getitem__)
        if "" in executing:
            # A test may repeat what the module does on import; in the usual order, other tests come first.
            ordered = list(seconds)
        batches: list[tuple[list[str], float]] = []
        batch: list[str] = []
        before = [0.0, *itertools.accumulate(seconds[name] for name in ordered)]
        ordered = [name for name, begins in zip(ordered, before, strict=False) if begins < self._most]
        for n, name in enumerate(ordered):
            batch.append(name)
            taken = sum(seconds[test] for test in batch)
            if taken >= BATCH or n == len(ordered) - 1:
                batches.append((batch, 20 + 2 * taken))
                batch = []
        return batches

    def _lines(self, mutant: Mutant) -> set[int]:
        """The lines of the statements that a mutant changes."""
        if mutant.module not in self._places:
            self._places[mutant.module] = Places((ROOT / mutant.module).read_text(encoding="utf-8"))
        places = self._places[mutant.module]
        changed = range(mutant.line, mutant.line + max(1, len(mutant.old)))
        return {other for line in changed for other in places.lines_of_statement(line)}


class Run:
    """Mutants being tested in several checkouts at once, their file kept up to date."""

    def __init__(
        self, mutants: list[Mutant], out: Path, seed: int, known: Configuration, most: float = math.inf
    ) -> None:
        self._mutants = mutants
        self._out = out
        self._seed = seed
        self._known = known
        self._lock = threading.Lock()
        self._touched = Touched(out.with_suffix(".touched"), most)
        self.faults: list[str] = []

    def save(self) -> None:
        """Write all mutants with their outcomes, atomically."""
        text = json.dumps(
            {"seed": self._seed, "mutants": [asdict(mutant) for mutant in self._mutants]}, indent=1
        )
        new = self._out.with_name(self._out.name + ".new")
        new.write_text(text + "\n", encoding="utf-8")
        new.replace(self._out)

    def test_all(self, processes: int, minutes: float) -> None:
        """Test what is pending, for at most `minutes`."""
        todo = [m for m in self._mutants if m.outcome == PENDING and not self._known.is_equivalent(m)]
        if not todo:
            return
        with tempfile.TemporaryDirectory(prefix="mutants-") as name:
            folder = Path(name)
            if (ROOT.parent / "shared").exists():
                (folder / "shared").symlink_to(ROOT.parent / "shared")
            checkouts = [Checkout(folder / f"moff-{n}") for n in range(min(processes, len(todo)))]
            stopping = threading.Timer(minutes * 60, _stop_all, [checkouts])
            stopping.daemon = True
            stopping.start()
            try:
                self._measure(checkouts, sorted({mutant.module for mutant in todo}))
                self._spread(checkouts, [mutant for mutant in todo if self._is_measured(mutant.module)])
            finally:
                stopping.cancel()
                self.save()

    def _measure(self, checkouts: list[Checkout], modules: list[str]) -> None:
        """Find which lines the tests of each module execute; failing tests are useless."""

        def measure(checkout: Checkout, tests: str) -> None:
            with tempfile.NamedTemporaryFile() as file:
                began = time.monotonic()
                passed, printed = checkout.record(tests, Path(file.name))
                taken = time.monotonic() - began
                if not passed:
                    self.faults.append(f"{tests}: the tests fail without a fault:\n{printed}")
                    return
                with self._lock:
                    self._touched.add(tests, json.load(file))
            print(f"{tests}: recorded in {taken:.1f} s", file=sys.stderr, flush=True)

        files = sorted({name for module in modules for name in self._known.tests_of(module)})
        _work_off(checkouts, [name for name in files if not self._touched.has(name)], measure)

    def _is_measured(self, module: str) -> bool:
        return all(self._touched.has(name) for name in self._known.tests_of(module))

    def _spread(self, checkouts: list[Checkout], todo: list[Mutant]) -> None:
        done = 0

        def test(checkout: Checkout, mutant: Mutant) -> None:
            nonlocal done
            checkout.test(mutant, self._touched.batches(mutant, self._known.tests_of(mutant.module)))
            with self._lock:
                done += 1
                self.save()
                told = f"{mutant.module}:{mutant.line} {mutant.outcome} in {mutant.seconds} s"
                print(f"{done}/{len(todo)} {told}", file=sys.stderr, flush=True)

        _work_off(checkouts, todo, test)


def _work_off(checkouts: list[Checkout], work: list[Any], do: Any) -> None:
    """Do each piece of work in a free checkout, until none is left or they are stopped."""
    waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
    for piece in work:
        waiting.put(piece)

    def keep_busy(checkout: Checkout) -> None:
        while True:
            try:
                do(checkout, waiting.get_nowait())
            except (queue.Empty, InterruptedError):
                return

    with concurrent.futures.ThreadPoolExecutor(len(checkouts)) as pool:
        futures = [pool.submit(keep_busy, checkout) for checkout in checkouts]
        try:
            for future in futures:
                future.result()
        except BaseException:
            _stop_all(checkouts)
            raise


def _stop_all(checkouts: list[Checkout]) -> None:
    for checkout in checkouts:
        checkout.stop()


# What a user sees.


def report(mutants: list[Mutant], known: Configuration) -> str:
    """The survivors, and a line for each module."""
    survivors = [
        mutant for mutant in mutants if mutant.outcome == SURVIVED and not known.is_equivalent(mutant)
    ]
    parts = [
        mutant.diff() + "\n" for mutant in sorted(survivors, key=lambda mutant: (mutant.module, mutant.line))
    ]
    parts.append(
        f"{'module':24}{'mutants':>8}{'killed':>8}{'(late)':>8}{'survived':>10}{'equivalent':>12}{'share':>8}"
    )
    modules = sorted({mutant.module for mutant in mutants})
    parts += [_row(module, [m for m in mutants if m.module == module], known) for module in modules]
    parts.append(_row("all", mutants, known))
    pending = sum(mutant.outcome == PENDING and not known.is_equivalent(mutant) for mutant in mutants)
    if pending:
        parts.append(f"{pending} mutants are not tested yet")
    return "\n".join(parts)


def _row(name: str, mutants: list[Mutant], known: Configuration) -> str:
    equivalent = sum(known.is_equivalent(mutant) for mutant in mutants)
    counted = [mutant for mutant in mutants if not known.is_equivalent(mutant)]
    late = sum(mutant.outcome == TIMEOUT for mutant in counted)
    killed = late + sum(mutant.outcome == KILLED for mutant in counted)
    survived = sum(mutant.outcome == SURVIVED for mutant in counted)
    tested = killed + survived
    share = f"{100 * killed / tested:.1f} %" if tested else "-"
    return f"{name:24}{tested:8}{killed:8}{late:8}{survived:10}{equivalent:12}{share:>8}"


def load(path: Path, again: bool) -> tuple[list[Mutant], int]:
    """The mutants of a file whose lines still exist, and the seed that drew them."""
    record = json.loads(path.read_text(encoding="utf-8"))
    mutants = [Mutant(**entry) for entry in record["mutants"]]
    sources: dict[str, list[str]] = {}
    for module in {mutant.module for mutant in mutants}:
        file = ROOT / module
        sources[module] = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    kept = [mutant for mutant in mutants if _find(mutant, sources[mutant.module])]
    if len(kept) < len(mutants):
        print(f"{len(mutants) - len(kept)} mutants are dropped: their lines have changed", file=sys.stderr)
    for mutant in kept:
        if again and mutant.outcome == SURVIVED:
            mutant.outcome = PENDING
    return kept, record["seed"]


def _find(mutant: Mutant, source: list[str]) -> bool:
    """Whether a mutant's lines are in its module; they may have moved a little."""
    size = len(mutant.old)
    starts = [n for n in range(len(source) - size + 1) if source[n : n + size] == mutant.old]
    if not starts:
        return False
    mutant.line = 1 + min(starts, key=lambda n: abs(n + 1 - mutant.line))
    return True


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Put faults into the source and see which the tests notice.")
    parser.add_argument("modules", nargs="*", metavar="FILE.py", help="default all of x88/ and search/")
    parser.add_argument(
        "--sample", type=int, metavar="N", help="draw this many mutants, and add new ones to --out"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="default 1")
    parser.add_argument(
        "--out", type=Path, default=Path("mutants.json"), metavar="FILE", help="default mutants.json"
    )
    parser.add_argument(
        "--processes", type=int, default=1, metavar="N", help="checkouts at a time, default 1"
    )
    parser.add_argument(
        "--minutes", type=float, default=600, metavar="M", help="end after this long, default 600"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=math.inf,
        metavar="N",
        help="for each mutant, run the fastest tests that take this long together, default all",
    )
    parser.add_argument("--draw", action="store_true", help="run nothing")
    parser.add_argument("--again", action="store_true", help="run the survivors again")
    return parser.parse_args()


def modules_to_mutate(wanted: list[str], known: Configuration) -> list[str]:
    """The modules, as paths from the root; those without tests are reported and left out."""
    found = [
        str(file.relative_to(ROOT)) for package in PACKAGES for file in sorted((ROOT / package).glob("*.py"))
    ]
    for name in wanted:
        if name not in found:
            raise ValueError(f"{name!r} is not one of {', '.join(found)}")
    chosen = wanted or [name for name in found if name not in known.skipped]
    for name in chosen:
        if not known.tests_of(name):
            print(f"{name}: bench/mutants.toml names no tests, it is left out", file=sys.stderr)
    return [name for name in chosen if known.tests_of(name)]


def main() -> int:
    chosen = options()
    known = Configuration.read(CONFIGURATION)
    mutants: list[Mutant] = []
    seed = chosen.seed
    try:
        if chosen.out.exists():
            mutants, seed = load(chosen.out, chosen.again)
        elif not chosen.sample:
            raise ValueError(f"{chosen.out} does not exist yet; --sample N draws the mutants for it")
        modules = modules_to_mutate(chosen.modules, known) if chosen.sample else []
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(error, file=sys.stderr)
        return 2
    if chosen.sample:
        try:
            drawn = draw(modules, chosen.sample, chosen.seed, known)
        except ImportError as error:
            print(f"{error}: python -m pip install -e '.[mutation]'", file=sys.stderr)
            return 2
        there = {mutant.name for mutant in mutants}
        mutants += [mutant for mutant in drawn if mutant.name not in there]
    run = Run(mutants, chosen.out, seed, known, chosen.seconds)
    run.save()
    if chosen.draw:
        return 0
    run.test_all(chosen.processes, chosen.minutes)
    print(report(mutants, known))
    print(*run.faults, sep="\n", file=sys.stderr, end="")
    return 1 if run.faults else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("interrupted; what was tested is kept", file=sys.stderr)
        sys.exit(130)
