"""bench/batches.py: what the network sees, what it learns, and in which order."""

import importlib
import sys
from pathlib import Path
from typing import Any

import chess
import pytest

from search.evaluate import FULL_MATERIAL, MATERIAL_STEP, material_points
from tests.oracle import random_boards
from tests.records import KINDS, record_of
from x88 import fen

np: Any = pytest.importorskip("numpy", reason="the train extra is not installed")
pytest.importorskip("torch", reason="the train extra is not installed")

sys.path.append(str(Path(__file__).resolve().parent.parent / "bench"))
batches: Any = importlib.import_module("batches")
recordfile: Any = importlib.import_module("recordfile")


def expected_inputs(board: chess.Board, view: chess.Color) -> set[int]:
    """The inputs as they are described, the slow way."""
    king = board.king(view)
    assert king is not None
    mirrored = chess.square_file(king) < 4
    found = set()
    for square, piece in board.piece_map().items():
        seen = square if view == chess.WHITE else chess.square_mirror(square)
        if mirrored:
            seen = chess.square(7 - chess.square_file(seen), chess.square_rank(seen))
        found.add(384 * (piece.color != view) + 64 * KINDS.index(piece.piece_type) + seen)
    return found


def test_a_network_sees_the_board_from_both_sides() -> None:
    boards = [*random_boards(150, 0, 1, 120), chess.Board("8/8/8/3k4/8/8/3PK3/8 b - - 0 1")]
    own, other, starts = batches.inputs_of(np.concatenate([record_of(board) for board in boards]))
    ends = [*starts[1:], len(own)]
    for board, start, end in zip(boards, starts, ends, strict=True):
        assert end - start == len(board.piece_map())
        assert set(own[start:end]) == expected_inputs(board, board.turn)
        assert set(other[start:end]) == expected_inputs(board, not board.turn)


def test_values_are_scaled_by_the_material_as_in_the_search() -> None:
    boards = [*random_boards(150, 0, 1, 120), chess.Board(), chess.Board("8/8/8/3k4/8/8/8/3K4 w - - 0 1")]
    factors = batches.factors_of(np.concatenate([record_of(board) for board in boards]))
    for board, factor in zip(boards, factors, strict=True):
        points = material_points(fen.parse(board.fen()))
        assert factor == pytest.approx((1024 + MATERIAL_STEP * (points - FULL_MATERIAL)) / 1024)


def test_a_target_blends_score_and_result() -> None:
    board = chess.Board()
    records = np.concatenate(
        [record_of(board, score, result) for score, result in ((0, 2), (400, 0), (-800, 1))]
    )
    share = [1 / (1 + np.exp(-x)) for x in (0, 1, -2)]
    assert batches.targets_of(records, 1.0, 400) == pytest.approx(share)
    assert batches.targets_of(records, 0.0, 400) == pytest.approx([1, 0, 0.5])
    assert batches.targets_of(records, 0.75, 400) == pytest.approx(
        [0.75 * s + 0.25 * r for s, r in zip(share, (1, 0, 0.5), strict=True)]
    )


def test_the_target_of_a_position_of_no_game_is_its_score() -> None:
    records = record_of(chess.Board(), 400, recordfile.NO_RESULT)
    for blend in (0.0, 0.75, 1.0):
        assert batches.targets_of(records, blend, 400) == pytest.approx([1 / (1 + np.exp(-1))])


def test_an_epoch_has_every_record_once_and_another_order_than_the_next() -> None:
    records = np.zeros(70, recordfile.RECORD)
    records["score"] = range(70)

    def order(seed: int, epoch: int) -> list[int]:
        return [
            int(score)
            for rows in batches.shuffled([batches.Source(records)], 1, seed, epoch)
            for score in rows["score"]
        ]

    first = order(5, 0)
    assert sorted(first) == list(range(70))
    assert first == order(5, 0)
    assert len({tuple(first), tuple(order(5, 1)), tuple(order(6, 0)), tuple(range(70))}) == 4
    whole = [len(rows) for rows in batches.shuffled([batches.Source(records)], 16, 0, 0)]
    assert whole == [16] * 4


def test_files_are_mixed() -> None:
    files = [batches.Source(np.zeros(count, recordfile.RECORD)) for count in (6400, 12800)]
    files[1].records["score"] = 1
    sums = [int(rows["score"].sum()) for rows in batches.shuffled(files, 64, 0, 0)]
    assert sum(sums) == 12800
    assert len(sums) == 300
    assert all(20 < count < 64 for count in sums)  # two of three, in each
    twice = [len(rows) for rows in batches.shuffled([files[0], files[0]], 64, 0, 0)]
    assert len(twice) == 200


def test_scores_of_another_scale_are_converted() -> None:
    files = [batches.Source(np.zeros(100, recordfile.RECORD), factor) for factor in (1, 0.4, 2, 2)]
    for file, score in zip(files, (7, -34, 20_000, -20_000), strict=True):
        file.records["score"] = score
    scores = np.concatenate([rows["score"] for rows in batches.shuffled(files, 40, 0, 0)])
    assert {int(score): int((scores == score).sum()) for score in scores} == {
        7: 100,
        -14: 100,
        32_767: 100,
        -32_767: 100,
    }
    assert (files[1].records["score"] == -34).all()
