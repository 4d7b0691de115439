"""Networks of random numbers for the tests."""

from array import array
from random import Random

from search import network
from search.network import Weights


def random_weights(
    hidden: int = 16, outputs: int = 3, seed: int = 0, inputs: int = network.MOST_INPUT
) -> Weights:
    """Numbers of the whole range; those of the inputs up to `inputs` either way."""
    chance = Random(seed)

    def numbers(kind: str, count: int, most: int) -> memoryview:
        return memoryview(array(kind, [chance.randint(-most, most) for _ in range(count)]))

    return Weights(
        hidden,
        outputs,
        numbers("h", network.INPUTS * hidden, inputs),
        numbers("h", hidden, inputs),
        numbers("h", 2 * outputs * hidden, min(network.MOST_OUTPUT, network.MOST_SUM // (2 * hidden))),
        numbers("i", outputs, network.MOST_BIAS),
    )
