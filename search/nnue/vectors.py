# cython: boundscheck=False, wraparound=False
"""The inner loops of a network, laid out for compilers that turn them into vector instructions.

On x86-64 this module is compiled twice, the second time as `vectors_avx2` for processors with AVX2. All
arithmetic is on integers and no sum leaves its range (`search.nnue.network`), so both give the same results.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    from search.nnue.layer import Layer

    INPUT_SCALE = 362


class Vectors(Layer):
    """A layer with its inner loops."""

    def start(self, to: int) -> None:
        hidden = self.hidden
        sums = self.sums
        biases = self.input_biases
        for i in range(hidden):
            sums[to + i] = biases[i]

    def add(self, to: int, added: int) -> None:
        hidden = self.hidden
        sums = self.sums
        inputs = self.inputs
        for i in range(hidden):
            sums[to + i] += inputs[added + i]

    def move(self, to: int, origin: int, added: int, removed: int) -> None:
        hidden = self.hidden
        sums = self.sums
        inputs = self.inputs
        for i in range(hidden):
            sums[to + i] = sums[origin + i] + inputs[added + i] - inputs[removed + i]

    def capture(self, to: int, origin: int, added: int, removed: int, captured: int) -> None:
        hidden = self.hidden
        sums = self.sums
        inputs = self.inputs
        for i in range(hidden):
            sums[to + i] = sums[origin + i] + inputs[added + i] - inputs[removed + i] - inputs[captured + i]

    def output(self, own: int, other: int, weights: int) -> int:
        hidden = self.hidden
        sums = self.sums
        squares = self.squares
        output_weights = self.output_weights
        # Compilers recognise a sum of 16-bit products only in a loop of its own.
        for i in range(hidden):
            squares[i] = squared(sums[own + i])
        for i in range(hidden):
            squares[hidden + i] = squared(sums[other + i])
        total = 0
        for i in range(2 * hidden):
            total += squares[i] * output_weights[weights + i]
        return total


def squared(number: int) -> int:
    """A quarter of the square of a number that is clipped to 0 to INPUT_SCALE, rounded down."""
    clipped = min(max(number, 0), INPUT_SCALE) << 7
    return clipped * clipped >> 16  # the upper half of a product of 16-bit numbers
