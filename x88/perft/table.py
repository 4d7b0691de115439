"""A table of subtree counts for perft, shared by threads without locks.

A position reached again with the same number of plies to go has the same number of leaves. An entry is two
64-bit words: the data, and the key XOR the data. A torn write makes the key mismatch, so it is ignored
(Robert M. Hyatt and Timothy Mann, "A lock-less transposition table implementation for parallel search chess
engines", 2002). Four entries share a cache line.

A wrong count requires a collision of 64 bits: with 2^k entries, its probability is 2^(k-64) for each probe of
a position that is not stored.

| bits of the data | field |
|---|---|
| 0-6 | depth |
| 7-63 | leaves |
"""

from operator import index

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from x88 import memory

if not cython.compiled:
    from x88.atomic import load_word, store_word
    from x88.pointer import memory_of

    CLUSTER = 8
    DEPTH_BITS = 7
    LEAVES_BITS = 57

MAX_MEGABYTES = 65536
LARGEST_KEY = 2**64 - 1


class PerftTable:
    """The number of leaves below a position, by key and depth."""

    def __init__(self, megabytes: int) -> None:
        """The maximum size in megabytes; one of them is used until `widen` asks for more.

        Raises ValueError for a size not from 1 to MAX_MEGABYTES, and MemoryError for want of memory.
        """
        if not 1 <= megabytes <= MAX_MEGABYTES:
            raise ValueError(f"{megabytes} MB is not a table size from 1 to {MAX_MEGABYTES}")
        self.most = (megabytes << 20) // 64
        self.clusters = (1 << 20) // 64
        self._held = memoryview(memory.allocate(megabytes << 20))  # so it cannot be closed
        if cython.compiled:
            self.words = cython.cast("uint64_t*", memory_of(self._held, 1, True))
        else:
            self.words = self._held.cast("Q")

    @property
    def content(self) -> memoryview:
        """The bytes of all entries."""
        return memoryview(self._held)

    def widen(self, entries: int) -> None:
        """Use as much of the memory as this many entries need, never less than before.

        The first touch of memory costs time, up to a second for each gigabyte on virtual machines. Entries
        are lost when more of it comes into use, since their index changes.
        """
        self.clusters = max(self.clusters, min(-(-entries // (CLUSTER // 2)), self.most))

    def probe(self, key: int, depth: int) -> int:
        """The leaves at `depth` plies below the position with this key, or -1 if unknown. Raises ValueError
        for a key of more than 64 bits and for a depth not from 1 to 127.
        """
        _check(key, depth)
        return self.probe_unchecked(key, depth)

    def probe_unchecked(self, key: int, depth: int) -> int:
        index = (key >> 32) * self.clusters >> 32 << 3
        for i in range(index, index + CLUSTER, 2):
            data = load_word(self.words[i + 1])
            if load_word(self.words[i]) ^ data == key and data & 0x7F == depth:
                return data >> DEPTH_BITS
        return -1

    def store(self, key: int, depth: int, leaves: int) -> None:
        """Store the leaves, less than 2 ** LEAVES_BITS, at `depth` plies, 1 to 127. Replaces the entry with
        the fewest leaves in the cluster, which took the least work. Raises ValueError for other numbers.
        """
        _check(key, depth)
        if not 0 <= index(leaves) < 2**LEAVES_BITS:
            raise ValueError(f"{leaves} leaves are not from 0 to 2^{LEAVES_BITS} - 1")
        self.store_unchecked(key, depth, leaves)

    def store_unchecked(self, key: int, depth: int, leaves: int) -> None:
        index = (key >> 32) * self.clusters >> 32 << 3
        place = index
        least = load_word(self.words[index + 1])
        for i in range(index + 2, index + CLUSTER, 2):
            data = load_word(self.words[i + 1])
            if data < least:
                least = data
                place = i
        data = leaves << DEPTH_BITS | depth
        if cython.compiled:
            store_word(self.words[place], key ^ data)
            store_word(self.words[place + 1], data)
        else:
            self.words[place] = key ^ data
            self.words[place + 1] = data


def _check(key: int, depth: int) -> None:
    """Raise ValueError or TypeError for what is no key or depth of a table."""
    if not 0 <= index(key) <= LARGEST_KEY:
        raise ValueError(f"{key} is not a key of 64 bits")
    if not 1 <= index(depth) <= 127:
        raise ValueError(f"{depth} is not a depth from 1 to 127")
