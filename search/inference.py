"""A network on this processor: its hidden layer with the inner loops that suit it."""

import functools
import importlib
import importlib.util
import platform
from pathlib import Path

from search import network
from search.layer import Layer, has_wide_vectors
from search.network import Weights
from x88 import build

WIDE = "search.vectors_avx2"
BASELINE = "search.vectors"
UNCOMPILED = "search.slices"


@functools.cache
def shipped() -> Weights:
    """The network that comes with Moff."""
    return network.read(Path(__file__).with_name("moff.net"))


def modules() -> list[str]:
    """The modules of inner loops that this processor can run, the fastest first."""
    if not build.compiled:
        return [UNCOMPILED, BASELINE]
    found = [BASELINE]
    if has_wide_vectors() and importlib.util.find_spec(WIDE):
        found.insert(0, WIDE)
    return found


def layer(weights: Weights, module: str = "") -> Layer:
    """A layer with these weights and the inner loops of a module, the fastest if none is named."""
    made: Layer = importlib.import_module(module or modules()[0]).Vectors(weights)
    return made


def instructions() -> str:
    """The vector instructions of the inner loops in a word or two."""
    if not build.compiled:
        return "no vector instructions"
    return "AVX2" if modules()[0] == WIDE else f"the baseline of {platform.machine() or 'this processor'}"
