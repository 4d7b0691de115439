"""Makes the pictures of the documentation: python docs/pictures.py

docs/conf.py makes them whenever the pages are built; only docs/strength.svg, which the README shows, is kept
in git. docs/screenshots.py takes that of the board page; the other screenshots (PNG) are taken by hand.
"""

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import drawings  # noqa: E402
import plot  # noqa: E402

from moff.picture.picture import Picture  # noqa: E402

BOARDS: dict[str, dict[str, Any]] = {
    # Names of pictures, and the arguments of Picture.
    "pinned-knight": {
        "position": "rnbqk1nr/pppp1ppp/4p3/8/1b1P4/2N5/PPP2PPP/R1BQKBNR w KQkq - 0 4",
        "arrows": ["g1e2:green", "c3e2:red", "b4e1:orange"],
        "marked": ["e2"],
    },
    "castling-attacked": {
        "position": "r3k2r/p1pp1ppp/bp2pn2/8/4P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 0 8",
        "arrows": ["a6f1:red"],
        "marked": ["e1:green", "f1:red", "g1:green"],
    },
    "attack-map": {
        "position": "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3",
        "attacks": True,
    },
    "capture-order": {
        "position": "r2qkb1r/ppp2ppp/2n2n2/3Pp3/2B3b1/5N2/PPPP1PPP/RNBQ1RK1 b kq - 0 6",
        "last_move": "e4d5",
        "arrows": ["f6d5:green", "d8d5:green", "g4f3:orange"],
    },
    "linked-rays": {
        "position": "r4rk1/ppp2ppp/2n1b3/3p4/3Q4/2P2N2/PP3PPP/R4RK1 w - - 0 14",
        "arrows": ["d4d5:red", "d4c3:green", "d4f2:green", "d4g7:red", "d4a7:red"],
    },
    "lamosca": {
        "position": "rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
        "last_move": "d7d5",
        "arrows": ["e4d5:green"],
    },
}

STYLE = (
    "<style>.dark{display:none}"
    "@media(prefers-color-scheme:dark){.light{display:none}.dark{display:inline}}</style>"
)


def board(arguments: dict[str, Any]) -> str:
    """A board as SVG that suits light and dark pages."""
    light, dark = (Picture(**arguments, theme=theme).svg().splitlines() for theme in ("light", "dark"))
    head, body = light[:3], light[3:-1]  # <svg>, <title>, <desc>; up to </svg>
    groups = ['<g class="light">', *body, '</g>\n<g class="dark">', *dark[3:-1], "</g>\n</svg>\n"]
    return "\n".join([*head, STYLE, *groups])


def make(folder: Path) -> None:
    """Write all pictures into a folder."""
    made = {name: board(arguments) for name, arguments in BOARDS.items()}
    made |= {name: draw() for name, draw in drawings.DRAWINGS.items()}
    made |= {name: plot.draw(name) for name in plot.PLOTS}
    folder.mkdir(exist_ok=True)
    for name, text in made.items():
        (folder / f"{name}.svg").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    make(HERE / "pictures")
    (HERE / "pictures" / "strength.svg").replace(HERE / "strength.svg")
