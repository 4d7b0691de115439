"""Attack maps against python-chess: how many pieces attack a square, the least of them, and sliders behind
another piece.
"""

from collections import Counter
from itertools import product

import chess
import pytest
from hypothesis import given, settings

from tests.oracle import KINDS, Game, games_or_placements, scaled, side_of_colour, to_0x88
from x88.attack_map import AttackMap
from x88.notation import fen
from x88.piece import VALUES


def sliders_behind(position: chess.Board) -> Counter[tuple[chess.Color, chess.Square]]:
    """For each colour and square the sliders that would attack it if just one other piece were gone."""
    found: Counter[tuple[chess.Color, chess.Square]] = Counter()
    sliders = position.bishops | position.rooks | position.queens
    before = {origin: position.attacks(origin) for origin in chess.SquareSet(sliders)}
    for between in chess.SquareSet(position.occupied):
        fewer = position.copy(stack=False)
        fewer.remove_piece_at(between)
        for origin, attacked in before.items():
            if origin != between:
                for square in fewer.attacks(origin) - attacked:
                    found[position.color_at(origin), square] += 1
    return found


def check(attacks: AttackMap, position: chess.Board) -> None:
    behind = sliders_behind(position)
    for colour, square in product(chess.COLORS, chess.SQUARES):
        side, target = side_of_colour(colour), to_0x88(square)
        origins = position.attackers(colour, square)
        kinds = [KINDS[position.piece_type_at(origin)] for origin in origins]
        least = min(kinds, key=lambda kind: VALUES[kind], default=0)
        found = (
            attacks.count(target, side),
            attacks.least_kind(target, side),
            attacks.count_behind(target, side),
        )
        assert found == (len(origins), least, behind[colour, square]), (square, side, position.fen())


@pytest.mark.slow
@settings(max_examples=scaled(100, 40))
@given(games_or_placements(longest=20))
def test_the_map_is_that_of_python_chess_and_leaves_the_board(game: Game) -> None:
    attacks = AttackMap()
    check(attacks, chess.Board(None))
    for board, position in game.positions():
        before = (fen.write(board), board.key, board.ply)
        attacks.compute(board)
        check(attacks, position)
        assert (fen.write(board), board.key, board.ply) == before
