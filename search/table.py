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

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from x88 import memory

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
    """A transposition table of a given size.

    `salt`, of up to 32 bits, keeps kinds of search apart whose results are not the same: what is stored under
    one is not found under another.
    """

    def __init__(self, megabytes: int = 16) -> None:
        self.clusters = 0
        self.age = 0
        self.salt = 0
        self.resize(megabytes)

    def resize(self, megabytes: int) -> None:
        """Replace the table by an empty one of 1 to LARGEST megabytes.

        Raises ValueError for another size and MemoryError when the memory cannot be had; the old table stays
        then.
        """
        if not 1 <= megabytes <= LARGEST:
            raise ValueError(f"{megabytes} MB is not a table size from 1 to {LARGEST}")
        # The new memory takes no room before it is touched, and by then the old one is given back.
        self.words = memoryview(memory.allocate(megabytes << 20, self.clusters * 64)).cast("Q")
        self.clusters = (megabytes << 20) // 64
        self.age = 0
        if cython.compiled and megabytes <= TOUCHED:
            # The system finds the pages now, not in the middle of a move.
            self._wipe()

    def clear(self) -> None:
        """Forget everything."""
        if cython.compiled:
            self._wipe()
        else:
            self.resize(self.clusters * 64 >> 20)

    def _wipe(self) -> None:
        """Set every word to zero."""
        for i in range(self.clusters * CLUSTER):
            self.words[i] = 0
        self.age = 0

    def new_search(self) -> None:
        """Mark what is there as belonging to an older search, to be replaced first."""
        self.age = self.age + 1 & 63

    def prefetch(self, key: int) -> None:
        """Have the memory that `probe` will ask for on its way."""
        if cython.compiled:
            fetch(cython.address(self.words[(key >> 32) * self.clusters >> 32 << 3]))

    def probe(self, key: int) -> int:
        """The data stored for the key, or 0."""
        key ^= self.salt
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
        key ^= self.salt
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
