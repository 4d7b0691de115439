"""An option of the UCI protocol."""

from collections.abc import Callable
from typing import NamedTuple

from moff.text import echo, whole_number


class Option(NamedTuple):
    """An option as UCI declares it. `set` takes the value, of the right type and within its bounds; None for
    a button.
    """

    kind: str
    default: str
    set: Callable[[str], None]
    bounds: tuple[int, int] = (0, 0)

    def declare(self, name: str) -> str:
        """The line that declares it to a GUI."""
        line = f"option name {name} type {self.kind}"
        if self.kind != "button":
            line += f" default {self.default or '<empty>'}"
        if self.kind == "spin":
            line += f" min {self.bounds[0]} max {self.bounds[1]}"
        return line

    def read(self, name: str, value: str) -> str:
        """The value in its normal form. Raises ValueError naming it."""
        if self.kind == "spin":
            return str(whole_number(name, value, *self.bounds))
        if self.kind == "check":
            if value.lower() not in ("true", "false"):
                raise ValueError(f"{name} takes true or false, not {echo(value)}")
            return value.lower()
        return "" if value == "<empty>" else value
