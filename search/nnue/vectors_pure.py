"""The inner loops of a network for the uncompiled engine: by slices and built-in functions, several times as
fast as those of `search.nnue.vectors` are in Python.
"""

from array import array
from operator import mul

from search.nnue.layer import Layer
from search.nnue.network import INPUT_SCALE


def _squared(number: int) -> int:
    """As `search.nnue.vectors.squared`."""
    return min(max(number, 0), INPUT_SCALE) ** 2 // 4


SQUARED = [_squared(number) for number in range(1 << 15)] + [0] * (1 << 15)
"""`_squared` by its argument; negative ones count from the end."""


class Vectors(Layer):
    """A layer with its inner loops."""

    def start(self, to: int) -> None:
        self.sums[to : to + self.hidden] = array("h", self.input_biases)

    def add(self, to: int, added: int) -> None:
        hidden = self.hidden
        rows = zip(self.sums[to : to + hidden], self.inputs[added : added + hidden], strict=True)
        self.sums[to : to + hidden] = array("h", [a + b for a, b in rows])

    def move(self, to: int, origin: int, added: int, removed: int) -> None:
        hidden = self.hidden
        rows = zip(
            self.sums[origin : origin + hidden],
            self.inputs[added : added + hidden],
            self.inputs[removed : removed + hidden],
            strict=True,
        )
        self.sums[to : to + hidden] = array("h", [a + b - c for a, b, c in rows])

    def capture(self, to: int, origin: int, added: int, removed: int, captured: int) -> None:
        hidden = self.hidden
        rows = zip(
            self.sums[origin : origin + hidden],
            self.inputs[added : added + hidden],
            self.inputs[removed : removed + hidden],
            self.inputs[captured : captured + hidden],
            strict=True,
        )
        self.sums[to : to + hidden] = array("h", [a + b - c - d for a, b, c, d in rows])

    def output(self, own: int, other: int, weights: int) -> int:
        hidden = self.hidden
        numbers = self.sums[own : own + hidden] + self.sums[other : other + hidden]
        squares = map(SQUARED.__getitem__, numbers)
        return sum(map(mul, squares, self.output_weights[weights : weights + 2 * hidden]))
