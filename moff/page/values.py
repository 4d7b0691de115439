"""The JSON values of a command of the board page."""

from typing import Any

from moff.messages import either
from search.strength import STRONGEST, WEAKEST

LABELS = {"elo": "Elo", "number": "The start position of Chess960", "threads": "Threads", "hash": "Hash"}
"""What people call some numbers."""

LONGEST_TEXT = 1 << 16
"""The maximum length of a text in a command; games are sent separately."""


class Values:
    """Values by name. Reading a missing or invalid one raises ValueError with the reason."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def has(self, name: str) -> bool:
        """Whether a value was given."""
        return name in self._values

    def any(self, name: str) -> Any:
        """A value of any kind, None if missing."""
        return self._values.get(name)

    def text(self, name: str, default: str | None = None) -> str:
        """A text."""
        value = self._values.get(name, default)
        if not isinstance(value, str) or len(value) > LONGEST_TEXT:
            raise ValueError(f"{name} takes a text of at most {LONGEST_TEXT} characters")
        return value

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """One of the choices."""
        value = self._values.get(name)
        if value not in choices:
            raise ValueError(f"{name} takes {either(choices)}")
        return str(value)

    def number(self, name: str, least: int, most: int = 10**9) -> int:
        """A whole number."""
        value = self._values.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise ValueError(f"{LABELS.get(name, name)} takes a whole number from {least} to {most}")
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        """True or false."""
        value = self._values.get(name, default)
        if not isinstance(value, bool):
            raise ValueError(f"{name} takes true or false")
        return value

    def elo(self) -> int | None:
        """The strength "elo", None for full strength if missing; null, from an empty field, is invalid."""
        return self.number("elo", WEAKEST, STRONGEST) if self.has("elo") else None
