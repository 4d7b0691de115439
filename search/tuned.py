"""The tuned parameters of the search, as (value, minimum, maximum). `bench/tune.py` reads and rewrites this
file.
"""

# fmt: off
SEARCH: dict[str, tuple[int, int, int]] = {
    # name: (value, minimum, maximum)
    "aspiration": (16, 5, 60),                # half of the first aspiration window, centipawns
    "reverse_futility_depth": (6, 0, 14),     # maximum depth
    "reverse_futility": (60, 30, 150),        # centipawns per ply of depth
    "null_depth": (2, 1, 6),                  # minimum depth
    "null_reduction": (3, 2, 6),              # null move reduction in plies,
    "null_divisor": (3, 2, 8),                # plus depth divided by this
    "probcut_depth": (5, 3, 12),              # minimum depth
    "probcut": (210, 40, 500),                # centipawns above beta
    "iir_depth": (4, 2, 12),                  # minimum depth
    "lmp_depth": (8, 0, 12),                  # maximum depth
    "lmp_base": (5, 1, 12),                   # late move pruning limit in moves,
    "lmp_slope": (20, 2, 32),                 # plus 16ths of a move times depth squared
    "futility_depth": (6, 0, 14),             # maximum reduced depth
    "futility": (120, 20, 300),               # margin in centipawns,
    "futility_step": (90, 30, 200),           # plus centipawns per ply of reduced depth,
    "futility_history": (200, 0, 400),        # plus 16384ths of the history score
    "see_quiet_depth": (8, 0, 14),            # maximum reduced depth
    "see_quiet": (22, 5, 100),                # centipawns times reduced depth squared,
    "see_history": (40, 0, 200),              # plus 16384ths of the history score
    "capture_futility_depth": (6, 0, 14),     # maximum depth
    "capture_futility": (86, 20, 300),        # centipawns times (depth + 1),
    "capture_futility_history": (256, 0, 800), # plus 16384ths of the history score
    "see_capture_depth": (6, 0, 14),          # maximum depth
    "see_capture": (95, 20, 250),             # centipawns per ply of depth
    "singular_depth": (5, 4, 12),             # minimum depth
    "singular_margin": (128, 16, 512),        # 64ths of a centipawn per ply of depth
    "double_margin": (20, 0, 200),            # further centipawns for a double extension
    "triple_margin": (120, 0, 400),           # the same for a triple extension of a quiet move
    "lmr_first": (2, 1, 5),                   # moves searched without reduction
    "lmr_base": (880, 0, 1500),               # reduction in 1024ths of a ply,
    "lmr_slope": (400, 200, 900),             # plus this times ln(depth) * ln(move number)
    "lmr_cut": (1300, 0, 2600),               # 1024ths of a ply more in a cut node
    "lmr_history": (200, 0, 600),             # 1024ths of the history score less
    "lmr_capture": (2200, 0, 3000),           # 1024ths of a ply less for a capture
    "lmr_check": (3000, 0, 4000),             # 1024ths of a ply less for a check
    "lmr_pv": (800, 0, 2500),                 # 1024ths of a ply less in a PV node,
    "lmr_tt_pv": (800, 0, 2500),              # or in a former one
    "lmr_correction": (8, 0, 40),             # and per centipawn by which the static evaluation was corrected
    "deeper": (50, 5, 200),                   # centipawns + 2 per ply above the best score: re-search deeper
    "hindsight": (3, 1, 64),                  # minimum reduction of the previous move, plies
    "bonus_step": (185, 50, 400),             # history bonus per ply of depth,
    "bonus_max": (2000, 400, 4000),           # and its maximum
    "malus": (1200, 400, 3000),               # malus in 1024ths of the bonus, quiet moves
    "eval_history": (4, 0, 40),               # bonus per centipawn that a move changed the static evaluation,
    "eval_limit": (160, 0, 400),              # capped at this many centipawns
    "prior_bonus": (60, 0, 400),              # bonus per ply of depth for a move without a good reply
    "capture_history": (400, 0, 512),         # weight in move ordering, 1024ths
    "fourth_history": (300, 0, 2048),         # weight of the move four plies ago, 1024ths
    "pawn_history": (800, 0, 2048),           # weight, 1024ths
    "delta_margin": (55, 0, 400),             # delta pruning margin, centipawns
    "quiescence_moves": (14, 1, 32),          # moves searched at the horizon
    "correct_pawns": (32, 0, 200),            # maximum correction, centipawns
    "correct_pieces": (50, 0, 200),           # maximum correction, centipawns, for each side
    "correct_minors": (32, 0, 200),           # maximum correction, centipawns
    "correct_moves": (44, 0, 200),            # maximum correction, centipawns
    "correction_step": (10, 1, 40),           # update per centipawn of error and ply of depth,
    "correction_max": (4096, 500, 16000),     # and its maximum
}
# fmt: on
