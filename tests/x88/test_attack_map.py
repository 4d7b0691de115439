"""Attack maps against python-chess: how many pieces attack a square, the least of them, and sliders behind
another piece.
"""

from collections import Counter
from itertools import product

import chess
import pytest
from hypothesis import given, settings

from tests.oracle import KINDS, Game, games_or_placements, placements, scaled, side_of_colour, to_0x88
from x88.attack_map import AttackMap
from x88.board import Board
from x88.notation import fen
from x88.piece import BLACK, PAWN, QUEEN, ROOK, VALUES, WHITE

Cells = list[tuple[int, int, int]]


def computed(board: Board) -> AttackMap:
    attacks = AttackMap()
    attacks.compute(board)
    return attacks


def cells(attacks: AttackMap) -> Cells:
    """Everything that a map says of the squares, for both sides."""
    return [
        (
            attacks.count(to_0x88(square), side),
            attacks.least_kind(to_0x88(square), side),
            attacks.count_behind(to_0x88(square), side),
        )
        for side in (0, 1)
        for square in chess.SQUARES
    ]


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


def check(board: Board, position: chess.Board) -> None:
    attacks = computed(board)
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
    for board, position in game.positions():
        before = (fen.write(board), board.key, board.ply)
        check(board, position)
        assert (fen.write(board), board.key, board.ply) == before


@pytest.mark.parametrize(
    ("text", "square", "side", "count", "least", "behind"),
    [
        # A battery: the front rook attacks, the one behind it waits.
        ("4k3/8/8/8/8/8/R7/R3K3 w - - 0 1", "a8", WHITE, 1, ROOK, 1),
        ("4k3/8/8/8/8/8/R7/R3K3 w - - 0 1", "a2", WHITE, 1, ROOK, 0),
        ("r3k3/r7/8/8/8/8/8/4K3 w - - 0 1", "a3", BLACK, 1, ROOK, 1),
        # Three on a file: the last one stands behind two.
        ("4k3/8/8/8/8/Q7/R7/R3K3 w - - 0 1", "a8", WHITE, 1, QUEEN, 1),
        # A queen behind a pawn on the diagonal on which the pawn takes.
        ("4k3/8/8/8/8/3P4/8/1Q2K3 w - - 0 1", "e4", WHITE, 1, PAWN, 1),
        ("4k3/8/8/8/8/3P4/8/1Q2K3 w - - 0 1", "g6", WHITE, 0, 0, 1),
        # Through an enemy piece, as far as the next one and no further.
        ("4k3/8/8/p7/8/8/8/R3K3 w - - 0 1", "a5", WHITE, 1, ROOK, 0),
        ("4k3/8/8/p7/8/8/8/R3K3 w - - 0 1", "a8", WHITE, 0, 0, 1),
        ("4k3/8/n7/p7/8/8/8/R3K3 w - - 0 1", "a6", WHITE, 0, 0, 1),
        ("4k3/8/n7/p7/8/8/8/R3K3 w - - 0 1", "a7", WHITE, 0, 0, 0),
        # Own pieces are protected; the pin of the rook does not count.
        ("4r1k1/8/8/8/8/8/4R1P1/4K3 w - - 0 1", "g2", WHITE, 1, ROOK, 0),
        # Pieces that step once have no line.
        ("4k3/8/8/8/8/8/4P3/3NK3 w - - 0 1", "e4", WHITE, 0, 0, 0),
    ],
)
def test_a_line_leads_through_one_piece(
    text: str, square: str, side: int, count: int, least: int, behind: int
) -> None:
    attacks, target = computed(fen.parse(text)), to_0x88(chess.parse_square(square))
    assert (attacks.count(target, side), attacks.least_kind(target, side)) == (count, least)
    assert attacks.count_behind(target, side) == behind
    check(fen.parse(text), chess.Board(text))


@settings(max_examples=scaled(50, 20))
@given(placements(), placements())
def test_a_map_computed_again_keeps_nothing_of_the_position_before(first: str, second: str) -> None:
    attacks = computed(fen.parse(first))
    attacks.compute(fen.parse(second))
    assert cells(attacks) == cells(computed(fen.parse(second)))


def test_a_new_map_is_empty() -> None:
    assert cells(AttackMap()) == [(0, 0, 0)] * 128
