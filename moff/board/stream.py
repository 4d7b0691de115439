"""What a page of the board is still to be told, on a stream of server-sent events."""

import select
import socket
import threading

TOPICS = ("state", "tree", "lines", "games")
"""What a tab is told about, in this order."""


class Stream:
    """What one client is still to be told: topics, each once however often it has changed."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._changed = threading.Condition()
        self._topics = set(TOPICS)
        self.is_closed = False

    def mark(self, topic: str) -> None:
        """A topic has changed."""
        with self._changed:
            self._topics.add(topic)
            self._changed.notify()

    def take(self, seconds: float) -> list[str]:
        """The topics that have changed, in the order of TOPICS; waits for one at most so many seconds."""
        with self._changed:
            if not self._topics and not self.is_closed:
                self._changed.wait(seconds)
            taken = [topic for topic in TOPICS if topic in self._topics]
            self._topics.clear()
            return taken

    def close(self) -> None:
        """Let whoever takes from it end."""
        with self._changed:
            self.is_closed = True
            self._changed.notify()

    def has_gone(self) -> bool:
        """Whether the client has closed its side, or sends what nobody asked for."""
        try:
            return bool(select.select([self._connection], [], [], 0)[0])
        except (OSError, ValueError):
            return True
