"""`bench`, with its arguments in the order of Stockfish's, and `perft`, in UCI and on the command line."""

import contextlib
import time
from collections.abc import Callable, Mapping

from moff.messages import LARGEST_NUMBER, echo, either, perft_speed, whole_number
from search import benchmark
from search.pool import MOST_THREADS
from search.transposition import MAX_MEGABYTES
from x88.notation import coordinate, fen
from x88.perft.divide import DEEPEST, DividedPerft

WORDS = ("hash", "threads", "limit", "file", "kind")
DEFAULT_FILE = "default"
"""Stands for the positions of `search.benchmark` instead of a file."""

_EVALUATIONS = ("mixed", "classical", "NNUE")
"""A sixth word of Stockfish 12 to 15, which chose its evaluation. Programs still send it."""


def parse_bench(words: list[str], named: Mapping[str, str] | None = None) -> tuple[benchmark.Settings, str]:
    """A bench's settings without its positions, and their file. `named` is by WORDS. Raises ValueError."""
    named = named or {}
    if words[5:] and (len(words) > 6 or words[5] not in _EVALUATIONS):
        more = echo(" ".join(words[5:]))
        raise ValueError(f"it takes at most {' '.join(WORDS).upper()}, not {more} as well")
    given = dict(zip(WORDS, words, strict=False))
    for word in (word for word in WORDS if word in given and word in named):
        raise ValueError(f"the {word} is given twice: {echo(given[word])} and {echo(named[word])}")
    given |= named
    kind = given.get("kind", "depth")
    if kind not in benchmark.KINDS:
        raise ValueError(f"the kind of limit is {either(benchmark.KINDS)}, not {echo(kind)}")
    most = DEEPEST if kind == "perft" else LARGEST_NUMBER
    settings = benchmark.Settings(
        whole_number("the hash size", given.get("hash", str(benchmark.MEGABYTES)), 1, MAX_MEGABYTES),
        whole_number("the number of threads", given.get("threads", "1"), 1, MOST_THREADS),
        whole_number("the limit", given.get("limit", str(benchmark.DEPTH)), 1, most),
        kind,
    )
    return settings, given.get("file", DEFAULT_FILE)


def read_positions(file: str) -> list[str]:
    """The FENs of a file, one a line, which other text may follow, as in EPD. Raises ValueError."""
    if file == DEFAULT_FILE:
        return benchmark.POSITIONS
    try:
        with open(file, encoding="utf-8", errors="backslashreplace") as lines:
            found = [(number, line.strip()) for number, line in enumerate(lines, 1) if line.strip()]
    except (OSError, ValueError) as error:
        reason = isinstance(error, OSError) and error.strerror
        raise ValueError(f"{echo(file)} cannot be read: {reason or error}") from None
    for number, text in found:
        try:
            fen.parse(text, [])
        except ValueError as error:
            raise ValueError(f"{echo(file)}, line {number}: {error}") from None
    if not found:
        raise ValueError(f"{echo(file)} has no position")
    return [text for _, text in found]


class BenchRun:
    """A bench of the positions of a file. Raises ValueError if there are none, and MemoryError."""

    def __init__(self, settings: benchmark.Settings, file: str) -> None:
        self.settings = settings._replace(positions=read_positions(file))
        self.done = 0
        self.nodes = 0
        self._bench = benchmark.Bench(self.settings)
        self.stop = self._bench.stop

    def run(self, tell: Callable[[str], object]) -> benchmark.Total | None:
        """Search all positions; None if stopped. `tell` takes a line at the start and after each position."""
        tell(self.settings.heading())

        def count(done: int, nodes: int) -> None:
            self.done, self.nodes = done, nodes
            tell(f"position {done}/{len(self.settings.positions)}: {nodes} nodes so far")

        return self._bench.run(count)


class PerftRun:
    """A perft, and the time that it takes."""

    def __init__(self, count: DividedPerft) -> None:
        self.count = count
        self._started = time.perf_counter()

    def run(
        self,
        tell: Callable[[str], object],
        chess960: bool = False,
        on_progress: Callable[[], object] = lambda: None,
    ) -> None:
        """Count, and tell the leaves below each move. `on_progress` is as `DividedPerft.run` takes it."""
        self._started = time.perf_counter()
        with contextlib.closing(self.count.run(on_progress)) as found:
            for move, leaves in found:
                tell(f"{coordinate.write(move, chess960)}: {leaves}")

    def speed(self) -> str:
        """The leaves, the time and the speed until now."""
        return perft_speed(self.count.leaves, time.perf_counter() - self._started)
