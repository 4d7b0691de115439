#!/usr/bin/env python3
"""The expected node counts of `moff bench` for this version: bench/signature.txt.

    python bench/signature.py             count on both builds and compare; exit code 1 if they differ
    python bench/signature.py --update    write the counts to the file

A commit that changes the search or the evaluation on purpose updates the file, and its message ends with the
printed line `Bench: N`. Any other commit leaves the counts as they are.

The file has a line `DEPTH NODES` for each build's default depth. The compiled build counts at every depth,
the uncompiled source only up to its own default. If the file is damaged, the exit code is 2.
"""

import os
import subprocess
import sys
from pathlib import Path

import script  # first: it puts this checkout on the path

from search import benchmark
from x88 import build

FILE = script.ROOT / "bench" / "signature.txt"

ADVICE = """If the commit is meant to change the search or the evaluation, run
`python bench/signature.py --update`, commit bench/signature.txt with it and end its message with
`Bench: N`. Otherwise the commit has a bug."""


def read(file: Path) -> dict[int, int]:
    """The expected number of nodes by depth."""
    expected = {}
    for number, line in enumerate(file.read_text(encoding="ascii").splitlines(), 1):
        try:
            depth, nodes = map(int, line.split())
        except ValueError:
            raise ValueError(f"{file}, line {number}: {line!r} is not DEPTH NODES") from None
        expected[depth] = nodes
    return expected


def count(depth: int, pure: bool) -> int:
    """The node count of `moff bench`, run in its own process."""
    command = [sys.executable, str(script.ROOT / "engine.py"), "bench", "--depth", str(depth)]
    environment = {**os.environ, "MOFF_PURE": "1" if pure else "0"}
    ended = subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False
    )
    if ended.returncode != 0:
        raise ValueError(f"{' '.join(command)} failed:\n{ended.stderr}")
    return int(ended.stdout.split()[0])


def counted(depths: list[int]) -> dict[int, dict[str, int]]:
    """The nodes at each depth, by build; shows each as soon as it is known."""
    counts: dict[int, dict[str, int]] = {}
    for depth in sorted(depths):
        builds = ["compiled"] if build.compiled else []
        if depth <= benchmark.UNCOMPILED_DEPTH:
            builds.append("uncompiled")
        if not builds:
            print(f"depth {depth}: not counted, it is too deep for the uncompiled source")
        counts[depth] = {}
        for name in builds:
            nodes = counts[depth][name] = count(depth, name == "uncompiled")
            print(f"depth {depth}, {name}: {nodes} nodes", flush=True)
    return counts


def faults(expected: dict[int, int], counts: dict[int, dict[str, int]]) -> list[str]:
    """The differences from the expected counts, one per line."""
    found = []
    for depth, by_build in counts.items():
        if len(set(by_build.values())) > 1:
            found.append(f"depth {depth}: the builds differ: {by_build}")
        found += [
            f"depth {depth}, {name}: {nodes} nodes instead of {expected[depth]}"
            for name, nodes in by_build.items()
            if nodes != expected[depth]
        ]
    return found


def update(file: Path, counts: dict[int, dict[str, int]]) -> int:
    """Write the counts of both builds if they are equal; returns the exit code."""
    totals = {depth: set(by_build.values()) for depth, by_build in counts.items()}
    if any(len(total) != 1 for total in totals.values()):
        print("nothing is written: the builds differ, or the compiled one is missing", file=sys.stderr)
        return 1
    nodes = {depth: total.pop() for depth, total in totals.items()}
    file.write_text("".join(f"{depth} {nodes[depth]}\n" for depth in sorted(nodes)), encoding="ascii")
    print(f"Bench: {nodes[max(nodes)]}")
    return 0


@script.command
def main() -> int:
    """Compare or update; returns the exit code."""
    parser = script.parser(__doc__)
    parser.add_argument("--update", action="store_true", help="write the counts to the file")
    parser.add_argument("--file", type=Path, default=FILE, help="default bench/signature.txt")
    options = parser.parse_args()
    if notice := build.notice():
        print(notice, file=sys.stderr)
    if options.update:
        return update(options.file, counted([benchmark.UNCOMPILED_DEPTH, benchmark.COMPILED_DEPTH]))
    expected = read(options.file)
    found = faults(expected, counted(list(expected)))
    if not found:
        return 0
    print(*found, sep="\n", file=sys.stderr)
    print(ADVICE, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
