"""Whole games through python-chess's UCI client, which takes no illegal move, no malformed line and no lost
engine.
"""

import random
from collections.abc import Iterator

import chess
import chess.engine
import pytest

from tests.client import ENGINE
from x88 import build

pytestmark = pytest.mark.slow

NODES = 2000 if build.compiled else 60


@pytest.fixture(scope="module")
def players() -> Iterator[list[chess.engine.SimpleEngine]]:
    engines = [chess.engine.SimpleEngine.popen_uci(ENGINE, timeout=60) for _ in range(2)]
    yield engines
    for engine in engines:
        engine.quit()
        assert engine.returncode.result(60) == 0


@pytest.mark.parametrize("seed", range(4))
def test_moff_plays_itself_to_a_result(players: list[chess.engine.SimpleEngine], seed: int) -> None:
    board = chess.Board()
    generator = random.Random(seed)
    for _ in range(2 * seed):
        board.push(generator.choice(list(board.legal_moves)))
    while not board.is_game_over(claim_draw=True):
        # Every fourth move against a clock, the others by nodes.
        limit = chess.engine.Limit(nodes=NODES)
        if board.fullmove_number % 4 == 0:
            limit = chess.engine.Limit(white_clock=0.4, black_clock=0.4, white_inc=0.01, black_inc=0.01)
        played = players[board.turn].play(board, limit, game=seed, info=chess.engine.INFO_ALL)
        assert played.move in board.legal_moves
        line = board.copy(stack=False)
        for move in played.info.get("pv", []):
            assert move in line.legal_moves
            line.push(move)
        board.push(played.move)
    assert board.result(claim_draw=True) in ("1-0", "0-1", "1/2-1/2")


def test_analysis_gives_scores_and_lines(players: list[chess.engine.SimpleEngine]) -> None:
    info = players[0].analyse(chess.Board(), chess.engine.Limit(depth=6 if build.compiled else 3))
    assert info["depth"] == (6 if build.compiled else 3)
    assert abs(info["score"].white().score()) < 200
    assert info["nodes"] > 0
    assert info["pv"][0] in chess.Board().legal_moves
