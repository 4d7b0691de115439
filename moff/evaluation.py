"""The static evaluation, as a number and as a picture for people."""

import threading

from search import wdl
from search.nnue import network, select
from search.nnue.evaluate import FULL_MATERIAL, MATERIAL_STEP, Evaluation, material_points
from search.nnue.network import Weights
from search.score import normalised
from x88.board import Board, checked_board
from x88.notation import diagram
from x88.piece import EMPTY, KIND, KING, WHITE
from x88.square import SQUARES


def evaluate(board: Board, weights: Weights | None = None) -> int:
    """The normalised static evaluation in centipawns for the side to move, without tactics (`Search`)."""
    return normalised(_evaluation_of(board, weights or select.shipped()).value(board))


def piece_values(board: Board, weights: Weights | None = None) -> dict[int, int]:
    """The value of each piece except the kings to White, in centipawns by its square: the network's
    normalised value of the position less that without the piece, neither scaled by the material.
    """
    evaluation = _evaluation_of(board, weights or select.shipped())
    sign = 1 if board.side == WHITE else -1
    value = normalised(evaluation.accumulators.value(board))
    return {
        sq: sign * (value - normalised(evaluation.accumulators.value_without(board, sq)))
        for sq in SQUARES
        if board.piece_at(sq) != EMPTY and board.piece_at(sq) & KIND != KING
    }


def table(board: Board, style: diagram.Style, weights: Weights | None = None) -> list[str]:
    """The static evaluation as lines of text, from White's side: the board with piece values; a line for each
    output of the network, with the material factor; and the evaluation in pawns and as win, draw and loss.
    """
    weights = weights or select.shipped()
    evaluation = _evaluation_of(board, weights)
    sign = 1 if board.side == WHITE else -1
    value = normalised(evaluation.value(board))
    score = sign * value / 100
    chances = wdl.chances(value)
    factor = 1 + MATERIAL_STEP / 1024 * (material_points(board) - FULL_MATERIAL)
    pieces = sum(board.piece_at(sq) != EMPTY for sq in SQUARES)
    outputs = []
    for output in range(weights.outputs):
        if counts := network.counts(output, weights.outputs):
            judged = sign * normalised(evaluation.accumulators.value_among(board, counts[0]))
            chosen = f" (this position; times {factor:.2f} for the material)" if pieces in counts else ""
            outputs.append(f"{counts[0]:2} to {counts[-1]:2} pieces {judged / 100:+6.2f}{chosen}")
    win, draw, loss = (chance / 10 for chance in chances[::sign])
    return [
        *diagram.draw_piece_values(board, style, piece_values(board, weights)),
        *outputs,
        f"score {score:+.2f} for White: wins {win:.1f} %, draws {draw:.1f} %, loses {loss:.1f} %",
    ]


_kept = threading.local()
"""The last evaluation of each thread and its weights, which take 50 times as long to load as to use."""


def _evaluation_of(board: Board, weights: Weights) -> Evaluation:
    if getattr(_kept, "weights", None) is not weights:
        _kept.evaluation = Evaluation(select.layer(weights))
        _kept.weights = weights
    evaluation: Evaluation = _kept.evaluation
    evaluation.reset(checked_board(board))
    return evaluation
