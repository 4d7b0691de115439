"""A network's weights and the sums of its hidden layer; `search.nnue.vectors` works on them."""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from array import array

from search.nnue.network import Weights, check_lengths
from x88 import memory

if not cython.compiled:
    from search.system import has_avx2
    from x88.pointer import memory_of

    DEPTH = 254
    KEPT = 16
    SCALE = 267
    UNIT = 16773632
    MAX_VALUE = 30000


class Layer:
    """`sums[(ply * 2 + perspective) * hidden + i]` is neuron i of the hidden layer, before it is clipped.
    Behind those of DEPTH plies lie KEPT sums of other positions (`search.nnue.accumulators`).
    """

    def __init__(self, weights: Weights) -> None:
        """Raises ValueError if the weights are not as many as their sizes say."""
        check_lengths(weights)
        self.hidden = weights.hidden
        self.outputs = weights.outputs
        if cython.compiled:
            # In whole pages, as the weights are: no vector straddles two cache lines.
            sums = memoryview(
                memory.allocate(2 * (2 * DEPTH + KEPT) * weights.hidden, 0, "the network")
            ).cast("h")
            squares = memoryview(memory.allocate(4 * weights.hidden, 0, "the network")).cast("h")
            # As views, so that no list of weights can be shortened.
            self._held = (*[memoryview(numbers) for numbers in weights[2:]], sums, squares)  # type: ignore[arg-type]
            self.inputs = cython.cast("const short*", memory_of(weights.inputs, 2, False))
            self.input_biases = cython.cast("const short*", memory_of(weights.input_biases, 2, False))
            self.output_weights = cython.cast("const short*", memory_of(weights.output_weights, 2, False))
            self.output_biases = cython.cast("const int*", memory_of(weights.output_biases, 4, False))
            self.sums = cython.cast("short*", memory_of(sums, 2, True))
            self.squares = cython.cast("short*", memory_of(squares, 2, True))
        else:
            self.inputs = weights.inputs
            self.input_biases = weights.input_biases
            self.output_weights = weights.output_weights
            self.output_biases = weights.output_biases
            self.sums = array("h", bytes(2 * (2 * DEPTH + KEPT) * weights.hidden))
            self.squares = array("h", bytes(4 * weights.hidden))

    def value(self, own: int, other: int, pieces: int) -> int:
        """The value in centipawns for the side with its sums at `own`, with `pieces` pieces on the board."""
        band = (pieces - 1) * self.outputs // 32
        total = self.output(own, other, 2 * band * self.hidden)
        scaled: int = (total + self.output_biases[band]) * SCALE
        # Adding a multiple of UNIT keeps the numerator positive: otherwise C would round towards zero.
        lift = 1 << 20
        value = (scaled + lift * UNIT) // UNIT - lift
        return min(max(value, -MAX_VALUE), MAX_VALUE)

    # The inner loops, each over the numbers of a hidden layer.

    def start(self, to: int) -> None:
        """Set sums to the biases."""
        raise NotImplementedError

    def add(self, to: int, added: int) -> None:
        """Add the weights of an input to sums."""
        raise NotImplementedError

    def move(self, to: int, origin: int, added: int, removed: int) -> None:
        """Set sums to others, plus the weights of one input, minus those of another."""
        raise NotImplementedError

    def capture(self, to: int, origin: int, added: int, removed: int, captured: int) -> None:
        """Set sums to others, plus the weights of one input, minus those of two others."""
        raise NotImplementedError

    def output(self, own: int, other: int, weights: int) -> int:
        """The sum of an output over both perspectives."""
        raise NotImplementedError


def has_wide_vectors() -> bool:
    """Whether this processor runs `search.nnue.vectors_avx2`."""
    return has_avx2()
