"""The stop signal by which another thread ends a search."""


class Stop:
    """A flag that the searchers of one search share and check in every node."""

    def __init__(self) -> None:
        self.stopped = False

    def set(self) -> None:
        """Tell all searchers to end."""
        self.stopped = True

    def clear(self) -> None:
        """Reset the flag for the next search."""
        self.stopped = False

    def is_set(self) -> bool:
        """Whether the search has been told to end."""
        return self.stopped
