"""The transposition table: search results by position key.

An entry is two 64-bit words: the data, and the key XOR the data. A torn write makes the key mismatch, so
threads can share the table without locks (Robert M. Hyatt and Timothy Mann, "A lock-less transposition table
implementation for parallel search chess engines", 2002). Four entries share a cache line.

| bits of the data | field |
|---|---|
| 0-15 | best move by `short_move`, 0 if none |
| 16-31 | score + 32768 |
| 32-47 | static evaluation + 32768 |
| 48-55 | depth |
| 56-57 | bound: 1 upper, 2 lower, 3 exact |
| 58 | whether the position has been a PV node |
| 59-63 | age |
"""

import itertools
import threading

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from x88 import memory

PREFAULTED = 4096
"""Zero a new table of up to this many megabytes at once. A larger one would make the GUI wait too long."""

if not cython.compiled:
    from x88.atomic import load_word, store_word
    from x88.pointer import memory_of

    UPPER = 1
    LOWER = 2
    EXACT = 3
    CLUSTER = 8
    MAX_MEGABYTES = 65536
    DEEPEST = 255

    def fetch(address: int) -> None:
        """Uncompiled, there is nothing to prefetch."""

    def short_move(move: int) -> int:
        """A packed move in 16 bits, unique among the moves of a position: both squares, and the promotion or
        whether the king castles, since in Chess960 an ordinary king move may have the same squares.
        """
        return move & 0x3FFF | move >> 6 & 0xC000 | move >> 13 & 0x4000

    def move_of(data: int) -> int:
        """The short move of an entry."""
        return data & 0xFFFF

    def score_of(data: int) -> int:
        """The score of an entry, as stored: see `search.score.from_table`."""
        return (data >> 16 & 0xFFFF) - 32768

    def static_of(data: int) -> int:
        """The static evaluation of an entry, without correction."""
        return (data >> 32 & 0xFFFF) - 32768

    def depth_of(data: int) -> int:
        """The depth of an entry, in plies."""
        return data >> 48 & 0xFF

    def bound_of(data: int) -> int:
        """The bound of an entry: UPPER, LOWER or EXACT."""
        return data >> 56 & 3

    def was_pv(data: int) -> bool:
        """Whether the position of an entry has been a PV node, in this search or an earlier one."""
        return data >> 58 & 1 != 0


class TranspositionTable:
    """A transposition table of a given size, shared by the threads of a search."""

    def __init__(self, megabytes: int = 16) -> None:
        self.clusters = 0
        self.age = 0
        self.is_owned = False
        self.resize(megabytes)

    def resize(self, megabytes: int, threads: int = 1) -> None:
        """Replace the table by an empty one of 1 to MAX_MEGABYTES megabytes, cleared by this many threads.

        Raises ValueError for any other size, MemoryError if there is not enough memory, and RuntimeError if
        it is the table of a search, which resizes it itself. The old table is kept in all cases.
        """
        self._check_free()
        self._resize(megabytes, threads)

    def _check_free(self) -> None:
        if self.is_owned:
            raise RuntimeError("the table belongs to a search")

    def _resize(self, megabytes: int, threads: int) -> None:
        """Resize the table of a search, between searches."""
        if not 1 <= megabytes <= MAX_MEGABYTES:
            raise ValueError(f"{megabytes} MB is not a table size from 1 to {MAX_MEGABYTES}")
        # Allocated pages take no memory until they are touched, and by then the old table is freed.
        held = memoryview(memory.allocate(megabytes << 20, self.clusters * 64))
        if cython.compiled:
            self.words = cython.cast("uint64_t*", memory_of(held, 1, True))
        else:
            self.words = held.cast("Q")
        self.memory = held
        self.clusters = (megabytes << 20) // 64
        self.age = 0
        if cython.compiled and megabytes <= PREFAULTED:
            # Touch all pages now rather than during the first search.
            self._wipe(threads)

    def clear(self, threads: int = 1) -> None:
        """Clear the table, a large one on several threads. Raises RuntimeError if it belongs to a search."""
        self._check_free()
        self._clear(threads)

    def _clear(self, threads: int) -> None:
        """Clear the table of a search, between searches."""
        if cython.compiled:
            self._wipe(threads)
        else:
            self._resize(self.clusters * 64 >> 20, threads)

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
        """Start a new generation: older entries are replaced first."""
        self.age = self.age + 1 & 31

    def prefetch(self, key: int) -> None:
        """Prefetch the cluster of a key for `probe`."""
        if cython.compiled:
            fetch(cython.address(self.words[(key >> 32) * self.clusters >> 32 << 3]))

    def probe(self, key: int) -> int:
        """The data of the key's entry, or 0 if there is none."""
        if not cython.compiled and not 0 <= key < 1 << 64:
            raise OverflowError(f"{key} is not a key of 64 bits")
        index = (key >> 32) * self.clusters >> 32 << 3
        for i in range(0, CLUSTER, 2):
            data = load_word(self.words[index + i + 1])
            if load_word(self.words[index + i]) ^ data == key and data:
                return data
        return 0

    def store(self, key: int, move: int, score: int, static: int, depth: int, bound: int, pv: bool) -> None:
        """Store a result in the entry of the same position, an empty one, or else the one of lowest priority
        in the cluster.

        The priority of an entry is its depth minus eight plies per generation of age. A bound does not
        replace a much deeper result of the same position and generation. Without a best move, the stored one
        is kept.
        """
        if not cython.compiled and not 0 <= key < 1 << 64:
            raise OverflowError(f"{key} is not a key of 64 bits")
        index = (key >> 32) * self.clusters >> 32 << 3
        place = index
        lowest = 1 << 20
        for i in range(index, index + CLUSTER, 2):
            data = load_word(self.words[i + 1])
            if data == 0 or load_word(self.words[i]) ^ data == key:
                place = i
                break
            priority = depth_of(data) - 8 * (self.age - (data >> 59) & 31)
            if priority < lowest:
                lowest = priority
                place = i
        data = load_word(self.words[place + 1])
        if data and load_word(self.words[place]) ^ data == key:
            if move == 0:
                move = move_of(data)
            if bound != EXACT and depth + 4 < depth_of(data) and data >> 59 == self.age:
                return
        data = _pack(move, score, static, max(0, min(depth, DEEPEST)), bound | pv << 2, self.age)
        if cython.compiled:
            store_word(self.words[place], key ^ data)
            store_word(self.words[place + 1], data)
        else:
            self.words[place] = key ^ data
            self.words[place + 1] = data

    def hashfull(self) -> int:
        """Permille of the table that hold entries of this search, from a sample."""
        sample = min(self.clusters, 250)
        used = 0
        for i in range(1, sample * CLUSTER, 2):
            data = load_word(self.words[i])
            if data and data >> 59 == self.age:
                used += 1
        return used * 1000 // (sample * 4)


def _pack(move: int, score: int, static: int, depth: int, kind: int, age: int) -> int:
    high = depth | kind << 8 | age << 11
    low = score + 32768
    middle = static + 32768
    return move | low << 16 | middle << 32 | high << 48
