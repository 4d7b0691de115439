"""The node counts of each root move and each reply: the first two plies of a search's tree."""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    from search.transposition import short_move
    from x88.move import NO_MOVE

    SLOTS = 16384
    PROBES = 64


class NodeCounts:
    """The nodes of a search by root move and reply, over all its iterations. The searching thread counts
    them; others may read them meanwhile.

    A hash table: some replies would go uncounted in a position with several times as many moves as occur in
    games.
    """

    def __init__(self) -> None:
        self.root = 0
        self.pairs = [0] * 16384
        self.counts = [0] * 16384

    def begin(self, root: int) -> None:
        """Begin a search of the position with this key."""
        self.root = root
        for i in range(SLOTS):
            self.pairs[i] = 0
            self.counts[i] = 0

    def add(self, move: int, reply: int, nodes: int) -> None:
        """Count nodes of a root move (packed; the reply is NO_MOVE), or of a reply to it."""
        slot = self._find(short_move(move) << 16 | short_move(reply))
        if slot >= 0:
            self.counts[slot] += nodes

    def nodes(self, move: int, reply: int = NO_MOVE) -> int:
        """The nodes of a root move, or of a reply to it."""
        pair = short_move(move) << 16 | short_move(reply)
        slot = self._slot(pair)
        for _i in range(PROBES):
            if self.pairs[slot] == pair:
                return self.counts[slot]
            slot = slot + 1 & SLOTS - 1
        return 0

    def is_of(self, root: int) -> bool:
        """Whether the last search was of the position with this key."""
        return self.root == root

    def _find(self, pair: int) -> int:
        """The slot of a pair of moves, a new one if it has none; -1 if there is no room."""
        slot = self._slot(pair)
        for _i in range(PROBES):
            if self.pairs[slot] == 0:
                self.pairs[slot] = pair
            if self.pairs[slot] == pair:
                return slot
            slot = slot + 1 & SLOTS - 1
        return -1

    def _slot(self, pair: int) -> int:
        """The slot where the search for a pair of moves starts, by Knuth's multiplicative hashing."""
        return pair * 1000003 >> 12 & SLOTS - 1
