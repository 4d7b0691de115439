"""The evaluation is the network's value by material, but for dead draws and bare kings."""

import math
from array import array
from random import Random

import chess
import chess.syzygy
import pytest
from hypothesis import given, settings

from moff import evaluation as display
from search import benchmark, wdl
from search.nnue import endgame as endgames
from search.nnue import network
from search.nnue.evaluate import MAX_EVALUATION
from search.score import CERTAIN_WIN, normalised
from tests.networks import evaluation_of, random_weights
from tests.oracle import SHARED, STARTS, from_0x88, placements, scaled
from x88.board import Board
from x88.notation import diagram, fen
from x88.piece import BLACK, WHITE

pytestmark = pytest.mark.slow

QUEENS = "qqqqkqqq/qqqqqqqq/8/8/8/8/QQQQQQQQ/QQQQKQQQ w - - 0 1"
POSITIONS = [*STARTS, *benchmark.POSITIONS, QUEENS]


def value(board: Board) -> int:
    return evaluation_of(board).value(board)


def network_value(board: Board) -> int:
    return evaluation_of(board).accumulators.value(board)


def constant(centipawns: int) -> network.Weights:
    """A network with this value for the side to move in every position."""
    none = random_weights(16, 1, inputs=0)
    nothing = [0] * len(none.output_weights)
    bias = -(-centipawns * network.UNIT // network.SCALE)  # rounded up: a value is rounded down
    return none._replace(output_weights=array("h", nothing), output_biases=array("i", [bias]))


def value_by(board: Board, centipawns: int) -> int:
    """The value by such a network."""
    return evaluation_of(board, constant(centipawns)).value(board)


POINTS = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9, chess.KING: 1}


def points(position: chess.Board) -> int:
    return sum(POINTS[piece.piece_type] for piece in position.piece_map().values())


def mirrored(text: str) -> str:
    return chess.Board(text).mirror().fen()


@pytest.mark.parametrize("text", POSITIONS)
def test_the_value_is_the_network_s_scaled_by_material_unless_the_leader_cannot_win(text: str) -> None:
    board = fen.parse(text)
    position = chess.Board(text)
    expected = math.floor(network_value(board) * (1 + (points(position) - 64) / 256))
    ahead = board.side if expected > 0 else board.side ^ 1
    if min(side.bit_count() for side in position.occupied_co) > 1:
        assert value(board) == (0 if endgames.is_drawn(board, ahead) else expected)


@settings(max_examples=scaled(200, 20))
@given(placements())
def test_colours_make_no_difference(text: str) -> None:
    assert value(fen.parse(text)) == value(fen.parse(mirrored(text)))


@pytest.mark.parametrize("sign", [1, -1])
def test_no_value_is_a_mate(sign: int) -> None:
    """Not even with the largest numbers that a network may have, and a bare king besides."""
    weights = constant(0)._replace(
        input_biases=array("h", [network.INPUT_SCALE] * 16),
        output_weights=array("h", [sign * network.MOST_OUTPUT] * 32),
        output_biases=array("i", [sign * network.MOST_BIAS]),
    )
    board = fen.parse("4k3/8/4K3/8/8/8/8/7Q w - - 0 1" if sign == 1 else "4K3/8/4k3/8/8/8/8/7q w - - 0 1")
    evaluation = evaluation_of(board, weights)
    assert evaluation.accumulators.value(board) * sign > CERTAIN_WIN, "the network alone would say so"
    assert evaluation.value(board) == sign * MAX_EVALUATION
    assert CERTAIN_WIN > MAX_EVALUATION


# --- Endings


@pytest.mark.parametrize("men", ["", "N", "B", "NN", "B.B", ".B.B.B"])
def test_material_that_cannot_win_is_drawn(men: str) -> None:
    check_material(men, is_drawn=True)


@pytest.mark.parametrize("men", ["BN", "BB", "B.BB", "B.BN", "B.BR", "NNN", "R", "Q", "RN", "P", "BP"])
def test_material_that_can_win_is_not_drawn(men: str) -> None:
    check_material(men, is_drawn=False)


def check_material(men: str, is_drawn: bool) -> None:
    """White has these pieces on the second rank, a dot being an empty square."""
    for other in (None, "p", "q"):
        position = chess.Board("4k3/8/8/8/8/8/8/4K3 w - - 0 1")
        for square, symbol in ((chess.H6, other), *enumerate(men, chess.A2)):
            if symbol and symbol != ".":
                position.set_piece_at(square, chess.Piece.from_symbol(symbol))
        expected = is_drawn and (men, other) != ("NN", "p")
        assert endgames.is_drawn(fen.parse(position.fen()), WHITE) == expected
        assert endgames.is_drawn(fen.parse(position.mirror().fen()), BLACK) == expected


DRAWN = (
    "1k6/8/8/8/8/P7/P7/2B1K3 w",
    "1k6/8/8/8/8/P7/8/4K3 b",
    "6k1/8/8/8/8/7P/8/4KB2 w",
    "1k6/8/8/8/8/P7/8/2B1B1K1 w",
    "2k5/8/8/8/8/P7/8/2B1K3 w",
    "8/8/2k5/8/P3K3/8/8/2B5 b",
    "8/8/2k5/8/P7/P7/4K3/2B5 w",
    "8/8/k7/4K3/8/P7/8/2B5 w",
    "8/8/5k2/8/3K3P/8/8/5B2 w",
    "k7/P7/1K6/8/8/8/8/2B5 w",
    "1k6/8/PK6/8/8/8/8/2B5 w",
)
NOT_DRAWN = (
    "1k6/8/8/8/8/P7/8/2B1KB2 w",
    "8/8/2k5/P7/4K3/8/8/2B5 w",
    "8/2k5/8/P7/P7/8/4K3/2B5 w",
    "8/8/k7/3K4/8/P7/8/2B5 w",
    "3k4/8/8/8/8/P7/8/2B1K3 w",
    "5k2/8/8/3B3P/8/7K/8/8 w",
    "K7/8/P1k5/8/8/8/8/8 w",
    "1k6/8/8/8/8/P7/8/4KB2 w",
    "1k6/8/8/8/8/1P6/8/4KB2 w",
    "6k1/8/8/8/8/P6P/8/4KB2 w",
    "1k6/8/8/8/8/P7/8/2N1K3 w",
    # 1.hxg4, and 1.Bf4+ Ka8 2.axb7+.
    "5K1k/8/8/8/6p1/7P/8/8 w",
    "1k6/1p6/PK6/8/8/8/8/2B5 w",
)


@pytest.mark.parametrize("text", [*DRAWN, *NOT_DRAWN])
def test_rook_s_pawns_with_the_wrong_bishop_are_drawn(text: str) -> None:
    board, is_drawn = fen.parse(f"{text} - - 0 1"), text in DRAWN
    assert endgames.is_drawn(board, WHITE) == is_drawn
    assert endgames.is_drawn(fen.parse(mirrored(fen.write(board))), BLACK) == is_drawn
    if is_drawn:
        assert value_by(board, 10_000 if board.side == WHITE else -10_000) == 0, "however good it looks"


@pytest.mark.skipif(
    not (SHARED / "syzygy" / "KBPvK.rtbw").exists(), reason="../shared/data/syzygy is missing"
)
def test_no_rook_s_pawn_that_wins_counts_as_drawn() -> None:
    """By the table of king, bishop and pawn: a-pawn, dark-squared bishop, the black king near a8."""
    chance = Random(0)
    near = [square for square in chess.SQUARES if chess.square_distance(square, chess.A8) <= 3]
    bishops = list(chess.SquareSet(chess.BB_DARK_SQUARES))
    drawn = 0
    with chess.syzygy.open_tablebase(str(SHARED / "syzygy")) as tables:
        for _ in range(scaled(8_000, 1_000)):
            board = chess.Board(None)
            board.set_piece_at(chess.square(0, chance.randrange(1, 7)), chess.Piece.from_symbol("P"))
            board.set_piece_at(chance.choice(bishops), chess.Piece.from_symbol("B"))
            board.set_piece_at(chance.randrange(64), chess.Piece.from_symbol("K"))
            board.set_piece_at(chance.choice(near), chess.Piece.from_symbol("k"))
            board.turn = chance.choice(chess.COLORS)
            if len(board.piece_map()) == 4 and board.is_valid():
                if endgames.is_drawn(fen.parse(board.fen()), WHITE):
                    drawn += 1
                    assert tables.probe_wdl(board) == 0, board.fen()
    assert drawn > scaled(2_000, 200)


@pytest.mark.parametrize(("side", "sign"), [("w", 1), ("b", -1)])
def test_a_bare_king_counts_for_the_side_that_drives_it(side: str, sign: int) -> None:
    board = fen.parse(f"4k3/8/4K3/8/8/8/8/7R {side} - - 0 1")
    for centipawns in (256, 512):
        # Two kings and a rook are 7 points.
        expected = sign * (199 * centipawns // 256 + 3 * 30 + 5 * 10)
        assert value_by(board, sign * centipawns) == expected


@pytest.mark.parametrize("men", ["R", "Q", "BB", "BN"])
def test_all_edges_and_corners_count_alike_for_a_bare_king(men: str) -> None:
    """Turning the board does not change the bonus; for bishop and knight only if it keeps colours."""
    generator = Random(7)
    turns = [chess.flip_diagonal, chess.flip_anti_diagonal]
    if men in ("R", "Q"):
        turns += [chess.flip_horizontal, chess.flip_vertical]
    bonuses = set()
    for _ in range(scaled(200, 60)):
        position = chess.Board(None)
        squares = generator.sample(chess.SQUARES, 2 + len(men))
        for square, symbol in zip(squares, "kK" + men, strict=True):
            position.set_piece_at(square, chess.Piece.from_symbol(symbol))
        position.turn = chess.BLACK
        if position.is_valid():
            boards = [position, *(position.transform(turn) for turn in turns)]
            (bonus,) = {endgames.mop_up(fen.parse(board.fen()), WHITE) for board in boards}
            bonuses.add(bonus)
    assert len(bonuses) > 10


def test_bishop_and_knight_drive_the_king_to_a_corner_of_the_bishop_s_colour() -> None:
    """A dark-squared bishop to a1 and h8, where White's king stands two diagonal steps away."""
    for text, bonus in (
        ("8/8/8/8/3B4/2K5/8/k2N4 b - - 0 1", 190),
        ("7k/8/5K2/4B3/8/8/8/3N4 b - - 0 1", 190),
        ("k7/8/2K5/8/3B4/8/8/3N4 b - - 0 1", 50),
        ("8/8/8/8/3B4/5K2/8/3N3k b - - 0 1", 50),
    ):
        assert endgames.mop_up(fen.parse(text), WHITE) == bonus


# --- What is shown


@pytest.mark.parametrize("text", [POSITIONS[0], STARTS[4], benchmark.POSITIONS[10]])
def test_the_value_of_a_piece_is_what_its_absence_costs(text: str) -> None:
    board = fen.parse(text)
    values = display.piece_values(board)
    position = chess.Board(text)
    kings = (position.king(chess.WHITE), position.king(chess.BLACK))
    assert {from_0x88(sq) for sq in values} == position.piece_map().keys() - kings
    sign = 1 if board.side == WHITE else -1
    tried = 0
    for sq, found in values.items():
        less = position.copy(stack=False)
        less.remove_piece_at(from_0x88(sq))
        if less.is_valid():
            with_it, without = network_value(board), network_value(fen.parse(less.fen()))
            assert found == sign * (normalised(with_it) - normalised(without))
            tried += 1
    assert tried > 5


@pytest.mark.parametrize("side", ["w", "b"])
def test_the_table_shows_white_s_point_of_view(side: str) -> None:
    board = fen.parse(f"4k3/8/8/8/8/8/4P3/R3K3 {side} - - 0 1")
    sign = 1 if board.side == WHITE else -1
    lines = display.table(board, diagram.Style())
    score = normalised(value(board)) * sign
    win, draw, loss = (chance / 10 for chance in wdl.chances(score))
    assert lines[-1] == (
        f"score {score / 100:+.2f} for White: wins {win:.1f} %, draws {draw:.1f} %, loses {loss:.1f} %"
    )
    output = normalised(network_value(board)) * sign / 100
    assert lines[-9] == f" 2 to  4 pieces {output:+6.2f} (this position; times 0.78 for the material)"
    outputs = [f"{first:2} to {first + 3:2} pieces " for first in range(5, 33, 4)]
    assert [line[:16] for line in lines[-8:-1]] == outputs
    assert not any("this position" in line for line in lines[-8:])
    assert len({line[16:] for line in lines[-9:-1]}) > 4
    assert f"{display.piece_values(board)[0] / 100:+.2f}" in lines[8]
