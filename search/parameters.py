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

    aspiration: int
    reverse_futility_depth: int
    reverse_futility: int
    null_depth: int
    null_reduction: int
    null_divisor: int
    iir_depth: int
    lmp_depth: int
    lmp_base: int
    lmp_slope: int
    futility_depth: int
    futility: int
    futility_step: int
    futility_history: int
    see_quiet_depth: int
    see_quiet: int
    see_history: int
    capture_futility_depth: int
    capture_futility: int
    capture_futility_history: int
    see_capture_depth: int
    see_capture: int
    singular_depth: int
    singular_margin: int
    double_margin: int
    triple_margin: int
    lmr_first: int
    lmr_base: int
    lmr_slope: int
    lmr_cut: int
    lmr_history: int
    lmr_capture: int
    lmr_check: int
    hindsight: int
    bonus_step: int
    bonus_max: int
    malus: int
    eval_history: int
    eval_limit: int
    prior_bonus: int
    capture_history: int
    delta_margin: int
    quiescence_moves: int
    correct_pawns: int
    correct_pieces: int
    correct_minors: int
    correction_step: int
    correction_max: int
    probcut_depth: int
    probcut: int
    lmr_pv: int
    lmr_tt_pv: int
    lmr_correction: int
    deeper: int
    correct_moves: int
    fourth_history: int
    pawn_history: int

    def __init__(self, values: Mapping[str, int] | None = None) -> None:
        """`values` override those of `tuned.SEARCH`; beyond its ranges they can turn a step off.

        Raises ValueError for an unknown name and for a value that no search can use.
        """
        chosen = {name: value for name, (value, _, _) in SEARCH.items()}
        for name, value in (values or {}).items():
            if name not in chosen:
                raise ValueError(f"{name!r} is not a search parameter")
            least = 1 if name == "null_divisor" else -MAX_PARAMETER
            if not least <= value <= MAX_PARAMETER:
                raise ValueError(f"{name} lies between {least} and {MAX_PARAMETER}, not at {value}")
            chosen[name] = value
        for name, value in chosen.items():
            setattr(self, name, value)
        # reductions[depth << 6 | move number]: late move reductions in 1024ths of a ply.
        self.reductions = [0] * 4096
        for depth in range(1, 64):
            for number in range(1, 64):
                more = math.log(depth) * math.log(number) * self.lmr_slope
                self.reductions[depth << 6 | number] = int(self.lmr_base + more)
