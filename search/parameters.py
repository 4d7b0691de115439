"""The search parameters of `tuned.SEARCH` as C integers for the hot loops."""

import math
from collections.abc import Mapping

from search.tuned import SEARCH

MAX_PARAMETER = 32_000
"""The largest value of a parameter; it turns a step off or on as well as any beyond. That no product of it
overflows a C integer is certain only within the ranges of `tuned.SEARCH`.
"""


class Parameters:
    """The parameters of one search. Depths are in plies, margins in centipawns of the search, see
    `search.score`, reductions in 1024ths of a ply.
    """

    def __init__(self, values: Mapping[str, int] | None = None) -> None:
        """`values` override those of `tuned.SEARCH`; beyond its ranges they can turn a step off.

        Raises ValueError for an unknown name and for a value beyond MAX_PARAMETER.
        """
        chosen = {name: value for name, (value, _, _) in SEARCH.items()}
        for name, value in (values or {}).items():
            if name not in chosen:
                raise ValueError(f"{name!r} is not a search parameter")
            if abs(value) > MAX_PARAMETER:
                raise ValueError(f"{name} lies between {-MAX_PARAMETER} and {MAX_PARAMETER}, not at {value}")
            chosen[name] = value
        for name, value in chosen.items():
            setattr(self, name, value)
        # reductions[depth << 6 | move number]: late move reductions in 1024ths of a ply.
        self.reductions = [0] * 4096
        for depth in range(1, 64):
            for number in range(1, 64):
                more = math.log(depth) * math.log(number) * self.lmr_slope
                self.reductions[depth << 6 | number] = int(self.lmr_base + more)

    def __getattr__(self, name: str) -> int:
        """For type checkers: each name of `tuned.SEARCH` is an attribute. Called only for other names."""
        raise AttributeError(f"{name!r} is not a search parameter")
