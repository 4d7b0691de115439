"""The changes not yet sent to a client of the board page, for a stream of server-sent events."""

import select
import socket
import threading

TOPICS = ("tree", "state", "lines", "games")
"""The topics of a tab, in the order of sending."""


class Stream:
    """The topics that have changed for one client, each listed once however often it has changed."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._changed = threading.Condition()
        self._topics = set(TOPICS)
        self.is_closed = False

    def mark(self, topic: str) -> None:
        """Mark a topic as changed."""
        with self._changed:
            self._topics.add(topic)
            self._changed.notify()

    def wait(self, seconds: float) -> None:
        """Wait at most `seconds` for a change."""
        with self._changed:
            if not self._topics and not self.is_closed:
                self._changed.wait(seconds)

    def take(self) -> list[str]:
        """The topics that have changed, in the order of TOPICS."""
        with self._changed:
            taken = [topic for topic in TOPICS if topic in self._topics]
            self._topics.clear()
            return taken

    def close(self) -> None:
        """End the reader's wait."""
        with self._changed:
            self.is_closed = True
            self._changed.notify()

    def has_gone(self) -> bool:
        """Whether the client has closed its side, or sends unexpected data."""
        try:
            return bool(select.select([self._connection], [], [], 0)[0])
        except (OSError, ValueError):
            return True
