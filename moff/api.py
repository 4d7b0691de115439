"""The names that `import moff` offers, and where they come from.

Board and rules: `Board`, `legal_moves`, `in_check`, `outcome` with `Outcome`, `perft`, `OngoingGame`, `WHITE`
and `BLACK`. Text: `START`, `parse_fen`, `write_fen`, `parse_move`, `write_move` (coordinates, as in UCI),
`parse_san`, `write_san`, and `pgn` with `pgn.Reader`, `pgn.Game` and `pgn.write`; `opening` for the name of
an opening. Search: `Search` with `Limits`, `Report`, `Progress` and `Result`; `evaluate` for the static
evaluation. Pictures: `Picture`, a position as SVG, which notebooks show.
"""

from moff.evaluation import evaluate
from moff.openings import find as opening
from moff.picture.picture import Picture
from search.limits import Limits
from search.line import Progress, Report, Result
from search.search import Search
from x88.attack import in_check
from x88.board import Board
from x88.movegen import legal_moves
from x88.notation import pgn
from x88.notation.coordinate import parse as parse_move
from x88.notation.coordinate import write as write_move
from x88.notation.fen import START
from x88.notation.fen import parse as parse_fen
from x88.notation.fen import write as write_fen
from x88.notation.game import OngoingGame
from x88.notation.outcome import Outcome, outcome
from x88.notation.san import parse as parse_san
from x88.notation.san import write as write_san
from x88.perft.divide import perft
from x88.piece import BLACK, WHITE

__all__ = [
    "BLACK",
    "START",
    "WHITE",
    "Board",
    "Limits",
    "OngoingGame",
    "Outcome",
    "Picture",
    "Progress",
    "Report",
    "Result",
    "Search",
    "evaluate",
    "in_check",
    "legal_moves",
    "opening",
    "outcome",
    "parse_fen",
    "parse_move",
    "parse_san",
    "perft",
    "pgn",
    "write_fen",
    "write_move",
    "write_san",
]
