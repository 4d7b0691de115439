"""The pieces as drawings: SVG paths in a square of 100 by 100 units, plain shapes on a common foot."""

from typing import NamedTuple

from x88.piece import BISHOP, KING, KNIGHT, PAWN, QUEEN, ROOK


class Figurine(NamedTuple):
    """A kind of piece: closed shapes to be filled and outlined, and open lines inside them."""

    shapes: str
    lines: str


_FOOT = "M24 87V81q0-6 6-6h40q6 0 6 6v6z"

FIGURINES = {
    PAWN: Figurine(
        "M27 87V81q0-6 6-6h34q6 0 6 6v6z"
        "M35 75C41 68 44 62 44 54H56C56 62 59 68 65 75z"  # body
        "M36 54L41 47H59L64 54z"  # collar
        "M43 47A14 14 0 1 1 57 47z",
        "M43 54.5H57",
    ),
    KNIGHT: Figurine(
        # Up the neck to the ear, down the face to the nose, back along jaw and chest.
        _FOOT + "M71 75C76 50 74 24 51 20L46 11L40 22C32 26 29 34 19 46C16 50 18 57 24 58C27 59 29 57 31 56"
        "C36 55 40 54 45 50C46 58 33 64 32 75z",
        "M39 32.5v.1M24 49l1-.5M59 30C65 38 67 50 65 64",  # eye, nostril, mane
    ),
    BISHOP: Figurine(
        _FOOT + "M34 75Q41 70 41 62H59Q59 70 66 75z"
        "M40 62C25 50 33 34 50 19C67 34 75 50 60 62z"  # mitre
        "M50 19A5 5 0 1 1 50.1 19z",
        "M57 30L47 44M43 62H57",
    ),
    ROOK: Figurine(
        _FOOT + "M33 75L36 46H64L67 75zM27 23H37V30H45V23H55V30H63V23H73V38L64 46H36L27 38z", "M38 46H62"
    ),
    QUEEN: Figurine(
        _FOOT + "M31 75L18 36L35 52L37 27L50 49L63 27L65 52L82 36L69 75z"
        "M18 36A5 5 0 1 1 18.1 36zM37 27A5 5 0 1 1 37.1 27z"
        "M63 27A5 5 0 1 1 63.1 27zM82 36A5 5 0 1 1 82.1 36z",
        "M33 66H67",
    ),
    KING: Figurine(
        _FOOT + "M32 75L24 42Q50 26 76 42L68 75z"
        "M46 33V26H39V18H46V11H54V18H61V26H54V33Q50 32 46 33z",  # cross
        "M33 66H67",
    ),
}
"""The drawing of each kind."""
