"""The tuned parameters of the search, as (value, minimum, maximum). `bench/tune.py` reads and rewrites this
file.
"""

# fmt: off
SEARCH: dict[str, tuple[int, int, int]] = {
    # name: (value, minimum, maximum)
    "aspiration": (18, 5, 60),                # half of the first aspiration window, centipawns
    "reverse_futility_depth": (5, 0, 14),     # maximum depth
    "reverse_futility": (62, 50, 150),        # centipawns per ply of depth
    "reverse_futility_improving": (18, 0, 25), # less, if improving,
    "reverse_futility_worsening": (16, 0, 25), # and if the opponent's evaluation has fallen
    "null_depth": (2, 1, 6),                  # minimum depth
    "null_reduction": (789, 400, 1600),       # null move reduction in 256ths of a ply,
    "null_slope": (104, 20, 160),             # plus this times depth
    "probcut_depth": (5, 3, 12),              # minimum depth
    "probcut": (237, 40, 500),                # centipawns above beta
    "iir_depth": (4, 2, 12),                  # minimum depth
    "lmp_depth": (8, 0, 12),                  # maximum depth
    "lmp_base": (6, 1, 12),                   # late move pruning limit in moves,
    "lmp_slope": (86, 20, 160),               # plus 64ths of a move times depth squared,
    "lmp_worse": (123, 40, 256),              # in 256ths of that if not improving
    "futility_depth": (6, 0, 14),             # maximum reduced depth
    "futility": (103, 20, 300),               # margin in centipawns,
    "futility_step": (78, 30, 200),           # plus centipawns per ply of reduced depth,
    "futility_history": (203, 0, 400),        # plus 16384ths of the history score
    "history_pruning": (2499, 500, 8000),     # history below 0 that prunes, times (reduced depth + 1)
    "see_quiet_depth": (7, 0, 14),            # maximum reduced depth
    "see_quiet": (24, 5, 100),                # centipawns times reduced depth squared,
    "see_history": (46, 0, 120),              # plus 16384ths of the history score
    "capture_futility_depth": (5, 0, 14),     # maximum depth
    "capture_futility": (74, 20, 300),        # centipawns times (depth + 1),
    "capture_futility_history": (244, 0, 800), # plus 16384ths of the history score
    "see_capture_depth": (6, 0, 14),          # maximum depth
    "see_capture": (87, 20, 250),             # centipawns per ply of depth
    "singular_depth": (5, 4, 12),             # minimum depth
    "singular_margin": (103, 16, 512),        # 64ths of a centipawn per ply of depth
    "double_margin": (17, 0, 80),             # further centipawns for a double extension
    "triple_margin": (134, 0, 400),           # the same for a triple extension of a quiet move
    "lmr_first": (2, 1, 5),                   # moves searched without reduction
    "lmr_base": (928, 0, 1500),               # reduction in 1024ths of a ply,
    "lmr_slope": (438, 200, 900),             # plus this times ln(depth) * ln(move number)
    "lmr_cut": (1322, 0, 2600),               # 1024ths of a ply more in a cut node
    "lmr_history": (185, 0, 600),             # 1024ths of the history score less
    "lmr_capture": (1300, 0, 3000),           # 1024ths of a ply less for a capture
    "lmr_check": (2919, 0, 4000),             # 1024ths of a ply less for a check
    "lmr_pv": (846, 0, 2500),                 # 1024ths of a ply less in a PV node,
    "lmr_tt_pv": (829, 0, 2500),              # or in a former one
    "lmr_improving": (205, 0, 1600),          # 1024ths of a ply more if not improving,
    "lmr_correction": (10, 0, 30),            # and per centipawn by which the static evaluation was corrected
    "deeper": (37, 5, 200),                   # centipawns + 2 per ply above the best score: re-search deeper
    "shallower": (6, 0, 40),                  # a score less than this above the best: re-search shallower
    "hindsight": (3, 1, 8),                   # minimum reduction of the previous move, plies
    "hindsight_reduction": (65, 10, 300),     # centipawns lost by a reduced move: reduce further
    "bonus_step": (203, 50, 400),             # history bonus per ply of depth,
    "bonus_max": (1918, 400, 4000),           # and its maximum
    "malus_step": (223, 50, 600),             # history malus of quiet moves per ply of depth,
    "malus_max": (2540, 400, 4000),           # and its maximum
    "continuation_base": (509, 0, 1024),      # 1024ths of the others' scores in the gravity of an update
    "eval_history": (4, 0, 16),               # bonus per centipawn that a move changed the static evaluation,
    "eval_limit": (157, 0, 400),              # capped at this many centipawns
    "prior_bonus": (170, 0, 400),             # bonus per ply of depth for a move without a good reply
    "capture_history": (368, 0, 512),         # weight in move ordering, 1024ths
    "fourth_history": (238, 0, 2048),         # weight of the move four plies ago, 1024ths
    "pawn_history": (722, 0, 2048),           # weight, 1024ths
    "delta_margin": (60, 0, 200),             # delta pruning margin, centipawns
    "quiescence_moves": (14, 1, 24),          # moves searched at the horizon
    "quiescence_evasions": (2, 1, 12),        # quiet evasions searched there
    "correct_pawns": (34, 0, 120),            # maximum correction, centipawns
    "correct_pieces": (54, 0, 120),           # maximum correction, centipawns, for each side
    "correct_minors": (29, 0, 120),           # maximum correction, centipawns
    "correct_moves": (47, 0, 120),            # maximum correction, centipawns
    "correction_step": (9, 1, 30),            # update per centipawn of error and ply of depth,
    "correction_max": (3505, 500, 16000),     # and its maximum
}
# fmt: on
