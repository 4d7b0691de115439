"""Makes all pictures of the documentation, each for light and for dark pages: python docs/pictures.py

Boards are made by `moff picture` with the arguments below, the drawings by drawings.py next to this file. The
screenshots of the board page (board-desktop.png, board-phone.png) are taken by hand.
"""

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))

import drawings  # noqa: E402

from moff import commands  # noqa: E402

BOARDS = {
    # Names of pictures, and the words after `moff picture`.
    "pinned-knight": [
        "rnbqk1nr/pppp1ppp/4p3/8/1b1P4/2N5/PPP2PPP/R1BQKBNR w KQkq - 0 4",
        *("--arrow", "g1e2:green", "--arrow", "c3e2:red", "--arrow", "b4e1:orange", "--mark", "e2"),
    ],
    "castling-attacked": [
        "r3k2r/p1pp1ppp/bp2pn2/8/4P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 0 8",
        *("--arrow", "a6f1:red", "--mark", "e1:green", "--mark", "f1:red", "--mark", "g1:green"),
    ],
    "attack-map": [
        "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3",
        "--attacks",
    ],
    "capture-order": [
        "r2qkb1r/ppp2ppp/2n2n2/3Pp3/2B3b1/5N2/PPPP1PPP/RNBQ1RK1 b kq - 0 6",
        *("--last-move", "e4d5", "--arrow", "f6d5:green", "--arrow", "d8d5:green", "--arrow", "g4f3:orange"),
    ],
    "linked-rays": [
        "r4rk1/ppp2ppp/2n1b3/3p4/3Q4/2P2N2/PP3PPP/R4RK1 w - - 0 14",
        *("--arrow", "d4d5:red", "--arrow", "d4c3:green", "--arrow", "d4f2:green", "--arrow", "d4g7:red"),
        *("--arrow", "d4a7:red"),
    ],
    "lamosca": [
        "rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
        *("--last-move", "d7d5", "--arrow", "e4d5:green"),
    ],
}


def make(folder: Path) -> None:
    """Write every picture, light and dark, into a folder."""
    for name, words in BOARDS.items():
        for suffix, more in (("light", []), ("dark", ["--dark"])):
            path = folder / f"{name}-{suffix}.svg"
            commands.run(["picture", *words, *more, "-o", str(path)], lambda _log: None)
    for name, draw in drawings.DRAWINGS.items():
        for suffix, colours in (("light", drawings.LIGHT), ("dark", drawings.DARK)):
            (folder / f"{name}-{suffix}.svg").write_text(draw(colours), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=HERE / "pictures")
    make(parser.parse_args().folder)
