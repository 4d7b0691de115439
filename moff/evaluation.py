"""The static evaluation, as a number and as a table for people."""

from search import endgame
from search.evaluate import Evaluation
from search.placement import FULL_PHASE
from search.terms import terms
from x88.board import Board
from x88.piece import WHITE


def evaluate(board: Board) -> int:
    """The static evaluation in centipawns for the side to move. It knows no tactics: `Search` does."""
    evaluation = Evaluation()
    evaluation.reset(board)
    return evaluation.value(board)


def table(board: Board) -> list[str]:
    """The static evaluation as lines of text, in pawns: each term for both sides in both phases, and the
    score.
    """
    evaluation = Evaluation()
    evaluation.reset(board)
    lines = [
        f"{'':10}{'middlegame':>22}{'endgame':>24}",
        f"{'':10}" + f"{'White':>8}{'Black':>8}{'sum':>8}" * 2,
    ]
    for term in terms(board):
        row = f"{term.name:10}"
        for white, black in zip(term.white, term.black, strict=True):
            row += "".join(f"{value / 100:8.2f}" for value in (white, black, white - black))
        lines.append(row)
    score = evaluation.value(board) * (1 if board.side == WHITE else -1)
    phase = f"{evaluation.placement.phase()}/{FULL_PHASE}"
    scale = f"{evaluation.scale(board)}/{endgame.FULL_SCALE}"
    lines.append(f"phase {phase} of the middlegame, {scale} of the endgame's value")
    lines.append(f"score {score / 100:+.2f} for White")
    return lines
