"""What the threads of one search share besides the table: the stop signal, and the nodes that are left to them."""

import threading

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

_turn = threading.Lock()


class Stop:
    """A flag that every thread of a search reads at every node, and the nodes that nobody has taken yet."""

    def __init__(self) -> None:
        self.stopped = 0
        self.left = 0

    def set(self) -> None:
        """End the search as soon as its threads look."""
        self.stopped = 1

    def clear(self) -> None:
        """Make ready for the next search."""
        self.stopped = 0
        self.left = 0

    def is_set(self) -> bool:
        """Whether the search has been told to end."""
        return self.stopped != 0

    def take(self, wanted: int) -> int:
        """Take up to so many of the nodes that are left; returns how many."""
        if cython.compiled:
            before = take_from(cython.address(self.left), wanted)
        else:
            with _turn:
                before = self.left
                self.left -= wanted
        return max(0, min(before, wanted))
