# cython: boundscheck=False, wraparound=False
"""The transposition table: what the search has found out about a position, kept by its key.

An entry is two 64-bit words: the data, and the key combined with the data by exclusive or. A reader whose key
does not come out again takes the entry for another position's, so threads may share the table without locks
(Robert M. Hyatt and Timothy Mann, "A lock-less transposition table implementation for parallel search chess
engines", 2002). Four entries share a cache line.

| bits of the data | field |
|---|---|
| 0-15 | the best move as `short_move` gives it, 0 if none |
| 16-31 | score + 32768 |
| 32-47 | static evaluation + 32768 |
| 48-55 | depth |
| 56-57 | bound: 1 upper, 2 lower, 3 exact |
| 58-63 | age |
"""

import contextlib
import itertools
import math
import mmap
import threading

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

TOUCHED = 4096
"""Megabytes up to which a new table's memory is touched at once: a GUI does not wait for ever."""

if not cython.compiled:
    UPPER = 1
    LOWER = 2
    EXACT = 3
    CLUSTER = 8
    LARGEST = 65536
    DEEPEST = 255

    def fetch(address: int) -> None:
        """Nothing to do without a compiler."""


def short_move(move: int) -> int:
    """Sixteen bits that tell a packed move from all others of its position: its squares and what it promotes
    to.
    """
    return move & 0x3FFF | move >> 6 & 0xC000


def move_of(data: int) -> int:
    """The short move of an entry."""
    return data & 0xFFFF


def score_of(data: int) -> int:
    """The score of an entry, as stored."""
    return (data >> 16 & 0xFFFF) - 32768


def static_of(data: int) -> int:
    """The static evaluation of an entry, as stored."""
    return (data >> 32 & 0xFFFF) - 32768


def depth_of(data: int) -> int:
    """The depth of an entry, in plies."""
    return data >> 48 & 0xFF


def bound_of(data: int) -> int:
    """The bound of an entry: UPPER, LOWER or EXACT."""
    return data >> 56 & 3


class TranspositionTable:
    """A transposition table of a given size, shared by the threads of a search."""

    def __init__(self, megabytes: int = 16) -> None:
        self.clusters = 0
        self.age = 0
        self.resize(megabytes)

    def resize(self, megabytes: int, threads: int = 1) -> None:
        """Replace the table by an empty one of 1 to LARGEST megabytes, with so many threads.

        Raises ValueError for another size and MemoryError when the memory cannot be had; the old table stays
        then.
        """
        if not 1 <= megabytes <= LARGEST:
            raise ValueError(f"{megabytes} MB is not a table size from 1 to {LARGEST}")
        # The new memory takes no room before it is touched, and by then the old one is given back.
        self.words = memoryview(_memory(megabytes << 20, self.clusters * 64)).cast("Q")
        self.clusters = (megabytes << 20) // 64
        self.age = 0
        if cython.compiled and megabytes <= TOUCHED:
            # The system finds the pages now, not in the middle of a move.
            self._wipe(threads)

    def clear(self, threads: int = 1) -> None:
        """Forget everything, with so many threads: a large table takes seconds."""
        if cython.compiled:
            self._wipe(threads)
        else:
            self.resize(self.clusters * 64 >> 20)

    def _wipe(self, threads: int) -> None:
        """Set every word to zero."""
        parts = max(1, min(threads, self.clusters >> 14))
        bounds = [self.clusters * CLUSTER * part // parts for part in range(parts + 1)]
        others = [
            threading.Thread(target=self._wipe_part, args=both) for both in itertools.pairwise(bounds[1:])
        ]
        for thread in others:
            thread.start()
        self._wipe_part(bounds[0], bounds[1])
        for thread in others:
            thread.join()
        self.age = 0

    def _wipe_part(self, start: int, end: int) -> None:
        with cython.nogil:
            self._zero(start, end)

    def _zero(self, start: int, end: int) -> None:
        for i in range(start, end):
            self.words[i] = 0

    def new_search(self) -> None:
        """Mark what is there as belonging to an older search, to be replaced first."""
        self.age = self.age + 1 & 63

    def prefetch(self, key: int) -> None:
        """Have the memory that `probe` will ask for on its way."""
        if cython.compiled:
            fetch(cython.address(self.words[(key >> 32) * self.clusters >> 32 << 3]))

    def probe(self, key: int) -> int:
        """The data stored for the key, or 0."""
        index = (key >> 32) * self.clusters >> 32 << 3
        for i in range(0, CLUSTER, 2):
            data = self.words[index + i + 1]
            if self.words[index + i] ^ data == key and data:
                return data
        return 0

    def store(self, key: int, move: int, score: int, static: int, depth: int, bound: int) -> None:
        """Keep a result: in the position's own entry if it has one, else in that of least worth in the
        cluster.

        An entry is worth its depth, less eight plies for every search that it is old. A short result without
        an exact score does not replace a much deeper one of the same position and search. A missing move
        keeps the known one.
        """
        index = (key >> 32) * self.clusters >> 32 << 3
        place = index
        least = 1 << 20
        for i in range(index, index + CLUSTER, 2):
            data = self.words[i + 1]
            if data == 0 or self.words[i] ^ data == key:
                place = i
                break
            worth = depth_of(data) - 8 * (self.age - (data >> 58) & 63)
            if worth < least:
                least = worth
                place = i
        data = self.words[place + 1]
        if data and self.words[place] ^ data == key:
            if move == 0:
                move = move_of(data)
            if bound != EXACT and depth + 4 < depth_of(data) and data >> 58 == self.age:
                return
        data = _pack(move, score, static, max(0, min(depth, DEEPEST)), bound, self.age)
        self.words[place] = key ^ data
        self.words[place + 1] = data

    def fullness(self) -> int:
        """How much of the table this search has filled, in parts of a thousand."""
        sample = min(self.clusters, 250)
        used = 0
        for i in range(1, sample * CLUSTER, 2):
            data = self.words[i]
            if data and data >> 58 == self.age:
                used += 1
        return used * 1000 // (sample * 4)


def _pack(move: int, score: int, static: int, depth: int, bound: int, age: int) -> int:
    high = depth | bound << 8 | age << 10
    low = score + 32768
    middle = static + 32768
    return move | low << 16 | middle << 32 | high << 48


def _memory(size: int, held: int) -> mmap.mmap:
    """Zeroed memory of our own, in huge pages where the system has them: a probe is a jump to anywhere in
    it.

    `held` bytes will be given back for it. Raises MemoryError if it cannot be had.
    """
    # The system may promise more than it has, and end the program that takes it at its word.
    free = _free_memory() + held
    if size > free:
        raise MemoryError(f"no {size >> 20} MB of memory for the table: {int(free) >> 20} MB are free")
    try:
        if hasattr(mmap, "MAP_PRIVATE"):
            memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        else:
            memory = mmap.mmap(-1, size)
    except (OSError, OverflowError, ValueError) as error:
        raise MemoryError(f"no {size >> 20} MB of memory for the table: {error}") from None
    if hasattr(memory, "madvise") and hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    return memory


def _free_memory() -> float:
    """The bytes that a program can still have, as far as Linux tells; infinity elsewhere."""
    free = math.inf
    with contextlib.suppress(OSError, ValueError), open("/proc/meminfo", encoding="ascii") as lines:
        for line in lines:
            if line.startswith("MemAvailable:"):
                free = int(line.split()[1]) << 10
    with (
        contextlib.suppress(OSError, ValueError),
        open("/sys/fs/cgroup/memory.max", encoding="ascii") as file,
    ):
        free = min(free, int(file.read()))
    return free
