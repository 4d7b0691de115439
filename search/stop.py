"""The stop signal: what another thread sets to end a search."""


class Stop:
    """A flag that searchers look at in every node. Searchers of one search share it."""

    def __init__(self) -> None:
        self.stopped = False

    def set(self) -> None:
        """End the search as soon as its threads look."""
        self.stopped = True

    def clear(self) -> None:
        """Make ready for the next search."""
        self.stopped = False

    def is_set(self) -> bool:
        """Whether the search has been told to end."""
        return self.stopped
