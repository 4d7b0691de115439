"""A network on this processor: its hidden layer with the inner loops that suit it."""

import functools
import importlib
import os.path

from search.nnue import network
from search.nnue.layer import Layer, has_wide_vectors
from search.nnue.network import Weights
from x88 import build

WIDE = build.VARIANT
BASELINE = "search.nnue.vectors"
UNCOMPILED = "search.nnue.vectors_pure"


@functools.cache
def shipped() -> Weights:
    """The network that comes with Moff."""
    return network.read(os.path.join(os.path.dirname(os.path.dirname(__file__)), "moff.net"))


def modules() -> list[str]:
    """The modules of inner loops that this processor can run, the fastest first."""
    if not build.compiled:
        return [UNCOMPILED, BASELINE]
    return [WIDE, BASELINE] if has_wide_vectors() else [BASELINE]


def layer(weights: Weights, module: str = "") -> Layer:
    """A layer with these weights and the inner loops of one of the `modules`, the fastest if none is named.
    Raises ValueError for other modules, and for weights of other sizes than they say; TypeError for what are
    no weights.
    """
    if not isinstance(weights, Weights):
        raise TypeError(f"{weights!r:.80} are not a network's weights")
    if module and module not in modules():
        raise ValueError(f"{module!r} is not a module of inner loops here")
    made: Layer = importlib.import_module(module or modules()[0]).Vectors(weights)
    return made


def instructions() -> str:
    """The vector instructions of the inner loops in a word or two."""
    if not build.compiled:
        return "no vector instructions"
    if modules()[0] == WIDE:
        return "AVX2"
    import platform  # an engine can start without it

    return f"the baseline of {platform.machine() or 'this processor'}"


importlib.import_module(modules()[0])  # now, as it can no longer be loaded once Moff has been installed anew
