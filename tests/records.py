"""Records of random positions, for the tests of training."""

import importlib
import sys
from pathlib import Path
from typing import Any

import chess
import pytest

from tests.oracle import random_boards

np: Any = pytest.importorskip("numpy", reason="the train extra is not installed")

sys.path.append(str(Path(__file__).resolve().parent.parent / "bench"))
recordfile: Any = importlib.import_module("recordfile")

KINDS = [chess.PAWN, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN, chess.KING]


def record_of(board: chess.Board, score: int = 0, result: int = 1) -> Any:
    """The record of a position, result and score from the view of the side to move."""
    cells = np.full((1, 64), recordfile.VACANT, np.uint8)
    for square, piece in board.piece_map().items():
        cells[0, square] = KINDS.index(piece.piece_type) | (0 if piece.color else 8)
    record = recordfile.pack(cells)
    record["score"] = score
    record["state"] = (not board.turn) | result << recordfile.RESULT_SHIFT
    return record


def material(board: chess.Board) -> int:
    """White's material less Black's, in centipawns."""
    worth = dict(zip(KINDS, (100, 300, 300, 500, 900, 0), strict=True))
    return sum(worth[p.piece_type] * (1 if p.color else -1) for p in board.piece_map().values())


def make_records(path: Path, count: int, seed: int) -> Path:
    """A file of positions whose score is their material."""
    file = recordfile.RecordFile(path)
    for board in random_boards(count, seed, 1, 120):
        score = material(board) * (1 if board.turn else -1)
        file.add(record_of(board, score, 2 if score > 0 else 1 if score == 0 else 0))
    file.close()
    return path
