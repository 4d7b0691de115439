"""The tuned parameters: evaluation terms as lists of (middlegame, endgame) in centipawns, and search
parameters as (value, minimum, maximum).

`bench/tune.py` reads and rewrites this file. The headers of `search.evaluate`, `search.pawns` and
`search.endgame` describe how each list is indexed.
"""

# fmt: off
EVALUATION: dict[str, list[tuple[int, int]]] = {
    "material": [
        (  65,  123), ( 340,  350), ( 349,  371), ( 430,  616),
        (1015, 1080),
    ],
    "pawn squares": [
        (   0,    0), (   0,    0), (   0,    0), (   0,    0),
        ( -10,    1), (   7,   -7), (  -4,    2), (  -4,   -4),
        ( -13,    2), (  -6,   -6), (  -6,  -10), (  -6,   -5),
        (  -3,    7), (   1,   -2), (   5,    0), (  16,  -12),
        (   0,   25), (  10,    5), (  -1,   13), (  14,    3),
        (  25,   28), (  16,   31), (  18,   27), (  34,   15),
        (   9,   16), (  10,   28), (  12,   25), (  29,   23),
        (   0,    0), (   0,    0), (   0,    0), (   0,    0),
    ],
    "knight squares": [
        ( -37,  -32), ( -20,  -17), (  -1,   -7), ( -12,  -15),
        ( -12,  -24), (  11,  -19), (  -8,  -10), (  -1,  -12),
        ( -29,   -6), (   4,  -10), (  -5,   -6), (   3,   12),
        ( -10,  -21), (  13,    4), (  12,   19), (  10,   24),
        (   9,  -12), (   0,   -1), (  14,   10), (   8,   29),
        ( -10,   -6), (  15,   -6), (  27,    9), (  24,   17),
        ( -29,  -22), (  -5,    9), (   2,    4), (  20,   10),
        ( -58,  -43), ( -28,  -17), ( -32,  -20), ( -14,   -1),
    ],
    "bishop squares": [
        (  -7,  -17), (  -8,  -13), ( -15,   -4), (   2,   -8),
        ( -23,  -11), (  16,  -16), (   2,  -11), (  -2,    3),
        (   2,   -7), (   5,    0), (  12,   -8), (  -2,   11),
        (  -1,  -17), (  -8,  -10), (  -3,   17), (   9,   10),
        (  -9,   -4), (  -6,    6), (   3,   12), (   2,   13),
        ( -12,  -12), (   2,   10), (  -8,   11), (   1,    2),
        ( -12,  -16), ( -12,    1), (   1,    5), ( -28,    2),
        ( -25,  -19), ( -18,   -5), ( -25,  -18), ( -23,   -7),
    ],
    "rook squares": [
        ( -14,   -5), (  -5,   -4), (  -1,    0), (  11,  -26),
        ( -34,    4), ( -23,   -9), (  -7,   -4), (   5,  -15),
        (  -6,   -5), (   2,   -2), (  -2,    1), (  -3,   -5),
        ( -10,   10), (  -3,   13), (   0,   13), (   4,    7),
        (  -7,   23), (  12,   13), (   2,   11), (  13,   21),
        ( -18,   33), (  20,   19), (  -5,   21), (  16,   15),
        (   6,   14), (  13,   12), (  21,   13), (  12,    8),
        (  11,   23), (  10,   21), (  11,   23), (  25,   22),
    ],
    "queen squares": [
        (  -1,  -22), ( -12,  -16), (   0,  -17), (  -1,  -33),
        (  15,  -14), (   0,   -1), (   6,  -29), (   8,   -8),
        (  -1,   -2), (  -2,    6), (  -1,   10), (  -2,   16),
        ( -12,   -2), (  -1,   27), (  -3,    9), (  -3,   29),
        (  -4,    9), ( -13,   34), (   0,   33), (  -6,   40),
        (  -5,   10), (  10,   27), (  -3,   31), (  -2,   44),
        (  -3,   10), (  -4,   20), (   8,   30), (   9,   36),
        (  -5,   -5), (  -4,    2), (   5,    2), (  17,   23),
    ],
    "king squares": [
        (  28,  -49), (  29,  -23), (  -2,  -12), (   2,  -18),
        (  22,  -18), (  16,   -4), (   4,    5), ( -25,    3),
        ( -11,    8), (   1,   13), ( -17,   30), ( -35,   23),
        ( -25,   -3), ( -13,   35), ( -40,   41), ( -52,   44),
        ( -26,   21), ( -20,   46), ( -49,   64), ( -58,   57),
        ( -28,   22), ( -16,   63), ( -47,   70), ( -56,   74),
        ( -29,   12), ( -15,   58), ( -45,   55), ( -53,   49),
        ( -29,  -14), ( -14,    7), ( -44,   14), ( -54,   16),
    ],
    "tempo": [(14, 14)],
    "doubled": [(-2, -20)],
    "isolated": [(1, -5), (-6, -9)],
    "backward": [(-2, -5), (-10, -13)],
    "phalanx": [
        (   0,    0), (   2,   -1), (  10,    0), (   6,    7),
        (  14,   23), (  38,   54), (  47,   58), (   0,    0),
    ],
    "supported": [
        (   0,    0), (   0,    0), (  11,   10), (  12,    3),
        (  14,    3), (  49,   16), (  70,   57), (   0,    0),
    ],
    "passed": [
        (   0,    0), (  11,   19), (  -1,   18), (  -1,   39),
        (  18,   60), (  45,   76), (  70,  121), (   0,    0),
    ],
    "passed own king": [
        (   0,    0), (  -8,    2), (   1,   -5), (   4,  -11),
        (   3,  -19), (   1,  -19), (   1,  -19), (   0,    0),
    ],
    "passed enemy king": [
        (   0,    0), (   8,   -7), (  -1,    1), (  -3,    6),
        (  -5,   19), (  -9,   29), (   1,   39), (   0,    0),
    ],
    "shelter": [
        ( -20,    3), (  10,    4), (   7,   -4), (  -4,   -3),
        (  -9,    1), (  -6,   15), ( -12,    8), (   0,    0),
        ( -10,    1), (  11,   -2), (   6,   -3), (   0,    0),
        (   3,    2), ( -17,    8), (  -7,   16), (   0,    0),
    ],
    "storm": [
        (  -3,   -6), (  -7,   25), ( -22,   19), (  -8,   13),
        (   4,    3), (   7,   -2), (  -1,    2), (   0,    0),
        (   0,    0), (   0,    0), ( -29,  -27), (  -6,   11),
        (   7,   -8), (   1,   -4), (  -6,   13), (   0,    0),
    ],
    "passed blocked": [
        (   0,    0), (  -6,   -1), (  -3,    6), (  -9,   -2),
        (  -4,    2), (  -1,  -33), ( -29,  -49), (   0,    0),
    ],
    "passed stop safe": [
        (   0,    0), ( -13,    1), (   6,    1), (  10,   -2),
        (   2,   12), (  10,   24), (   9,   23), (   0,    0),
    ],
    "passed path free": [
        (   0,    0), (   3,   14), ( -13,    3), (  -4,   24),
        (  -5,   22), (   4,   28), (  19,   47), (   0,    0),
    ],
    "knight mobility": [
        ( -50,  -36), ( -18,  -27), (  -9,  -12), (  -6,   -2),
        (  -1,   -1), (   5,    7), (   8,   11), (  11,    6),
        (  14,   -4),
    ],
    "bishop mobility": [
        ( -25,  -38), ( -12,  -26), (  -8,  -20), (  -4,   -6),
        (   1,    0), (   3,    6), (   8,   19), (   9,   17),
        (   9,   15), (   6,   19), (   9,   18), (  15,   16),
        (  22,   21), (  25,   24),
    ],
    "rook mobility": [
        ( -28,  -55), ( -12,  -32), (  -5,  -20), (  -7,  -17),
        (  -7,   -3), (  -5,    0), (   2,    0), (   6,    5),
        (   5,   12), (   6,   16), (   6,   21), (   9,   25),
        (  14,   26), (  13,   23), (  26,   19),
    ],
    "queen mobility": [
        ( -20,  -39), (   5,  -29), (  -2,  -23), (  -7,  -27),
        (  -2,  -21), (  -6,  -13), (  -6,   -2), (  -4,    0),
        (  -1,   -5), (   1,   -3), (   3,    7), (   6,    5),
        (   6,   15), (   6,   10), (   3,   15), (   6,   22),
        (  -2,   21), (   8,   23), (   3,   21), (   4,   21),
        (   9,   20), (  12,   22), (  14,   28), (  14,   25),
        (  12,   26), (  13,   25), (  14,   29), (  15,   30),
    ],
    "bishop pair": [(7, 41)],
    "bishop pawns": [(0, -3)],
    "outpost": [(8, 10), (11, 9)],
    "rook file": [(4, 15), (19, -1)],
    "rook on seventh": [(-11, 28)],
    "pawn threat": [(51, 24), (44, 19)],
    "minor threat": [(42, 21), (29, 22)],
    "rook threat": [(51, 26)],
    "hanging": [(8, 42), (12, 28)],
    "king danger": [
        (   0,    0), (  -1,   -1), (  -3,   -2), (  -9,   -5),
        (  -2,   -4), (   2,   -4), (  -1,   -4), (  -3,   -7),
        (  -4,   -5), (  -3,  -12), ( -12,  -12), (  -9,  -22),
        ( -18,  -23), ( -34,  -12), ( -50,   -4), ( -49,  -25),
        ( -57,  -13), ( -81,  -17), ( -96,   -9), (-114,  -21),
        (-114,  -15), (-138,  -16), (-154,  -18), (-163,  -17),
        (-183,  -18), (-203,  -22), (-211,  -19), (-230,  -20),
        (-252,  -22), (-268,  -21), (-281,  -20), (-305,  -24),
        (-321,  -22), (-340,  -23), (-359,  -23), (-382,  -24),
        (-403,  -25), (-427,  -26), (-448,  -27), (-471,  -27),
        (-496,  -28), (-521,  -29), (-546,  -29), (-572,  -30),
        (-598,  -31), (-626,  -31), (-653,  -32), (-681,  -33),
    ],
    "bare king edge": [
        (  90,   90), (  60,   60), (  25,   25), (   0,    0),
    ],
    "bare king corner": [
        ( 140,  140), ( 120,  120), ( 100,  100), (  80,   80),
        (  60,   60), (  40,   40), (  20,   20), (   0,    0),
    ],
    "bare king distance": [
        (   0,    0), (  60,   60), (  50,   50), (  40,   40),
        (  30,   30), (  20,   20), (  10,   10), (   0,    0),
    ],
}

SEARCH: dict[str, tuple[int, int, int]] = {
    # name: (value, minimum, maximum)
    "aspiration": (16, 5, 60),                # half of the first aspiration window, centipawns
    "reverse_futility_depth": (3, 0, 14),     # maximum depth
    "reverse_futility": (64, 30, 150),        # centipawns per ply of depth
    "null_depth": (2, 1, 6),                  # minimum depth
    "null_reduction": (3, 2, 6),              # null move reduction in plies,
    "null_divisor": (3, 2, 8),                # plus depth divided by this
    "iir_depth": (4, 2, 12),                  # minimum depth
    "lmp_depth": (8, 0, 12),                  # maximum depth
    "lmp_base": (4, 1, 12),                   # late move pruning limit in moves,
    "lmp_slope": (20, 2, 32),                 # plus 16ths of a move times depth squared
    "futility_depth": (3, 0, 14),             # maximum reduced depth
    "futility": (120, 20, 300),               # margin in centipawns,
    "futility_step": (90, 30, 200),           # plus centipawns per ply of reduced depth,
    "futility_history": (200, 0, 400),        # plus 16384ths of the history score
    "see_quiet_depth": (8, 0, 14),            # maximum reduced depth
    "see_quiet": (25, 5, 100),                # centipawns times reduced depth squared,
    "see_history": (40, 0, 200),              # plus 16384ths of the history score
    "capture_futility_depth": (6, 0, 14),     # maximum depth
    "capture_futility": (80, 20, 300),        # centipawns times (depth + 1),
    "capture_futility_history": (256, 0, 800), # plus 16384ths of the history score
    "see_capture_depth": (6, 0, 14),          # maximum depth
    "see_capture": (95, 20, 250),             # centipawns per ply of depth
    "singular_depth": (6, 4, 12),             # minimum depth
    "singular_margin": (128, 16, 512),        # 64ths of a centipawn per ply of depth
    "double_margin": (60, 0, 200),            # further centipawns for a double extension
    "lmr_first": (2, 1, 5),                   # moves searched without reduction
    "lmr_base": (880, 0, 1500),               # reduction in 1024ths of a ply,
    "lmr_slope": (450, 200, 900),             # plus this times ln(depth) * ln(move number)
    "lmr_cut": (1300, 0, 2600),               # 1024ths of a ply more in a cut node
    "lmr_history": (250, 0, 600),             # 1024ths of the history score less
    "lmr_capture": (2500, 0, 3000),           # 1024ths of a ply less for a capture
    "lmr_check": (3000, 0, 4000),             # 1024ths of a ply less for a check
    "hindsight": (3, 1, 64),                  # minimum reduction of the previous move, plies
    "bonus_step": (160, 50, 400),             # history bonus per ply of depth,
    "bonus_max": (1600, 400, 4000),           # and its maximum
    "malus": (1400, 400, 3000),               # malus in 1024ths of the bonus, quiet moves
    "prior_bonus": (60, 0, 400),              # bonus per ply of depth for a move without a good reply
    "capture_history": (400, 0, 512),         # weight in move ordering, 1024ths
    "lazy_margin": (300, 50, 2000),           # lazy evaluation margin, centipawns
    "delta_margin": (30, 0, 400),             # delta pruning margin, centipawns
    "correct_pawns": (32, 0, 200),            # maximum correction, centipawns
    "correct_pieces": (32, 0, 200),           # maximum correction, centipawns, for each side
    "correct_minors": (32, 0, 200),           # maximum correction, centipawns
    "correction_step": (8, 1, 40),            # update per centipawn of error and ply of depth,
    "correction_max": (4096, 500, 16000),     # and its maximum
}
# fmt: on
