"""The stop signal and the remaining node limit, shared by the threads of a search."""

import threading

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    from x88.atomic import plain, take_from

_turn = threading.Lock()


class Stop:
    """A flag that the threads of a search check at every node; whether a helper has set it after finishing
    the last iteration; and the nodes that no thread has taken yet.
    """

    def __init__(self) -> None:
        self.stopped = 0
        self.finished = 0
        self.left = 0

    def set(self) -> None:
        """Tell all searchers to stop."""
        self.stopped = 1

    def clear(self) -> None:
        """Reset the flag for the next search."""
        self.stopped = 0
        self.finished = 0
        self.left = 0

    def finish(self) -> None:
        """Tell all searchers to stop, because the last iteration is finished."""
        self.finished = 1
        self.set()

    def is_finished(self) -> bool:
        """Whether a helper has finished the last iteration."""
        return self.finished != 0

    def is_set(self) -> bool:
        """Whether the search has been told to stop."""
        return self.stopped != 0

    def share_out(self, nodes: int) -> None:
        """Set the nodes that the threads may still take."""
        self.left = plain(nodes)

    def take(self, wanted: int) -> int:
        """Take up to `wanted` of the remaining nodes; returns how many."""
        if cython.compiled:
            before = take_from(cython.address(self.left), wanted)
        else:
            with _turn:
                before = self.left
                self.left -= wanted
        return max(0, min(before, wanted))
