"""search/nnue/accumulators.py, layer.py and vectors.py: a network's values, added up along the moves."""

from array import array
from random import Random

import chess
import pytest

from search.nnue import layer, network, select
from search.nnue.accumulators import Accumulators
from search.nnue.network import Weights
from tests.networks import random_weights, zone
from tests.oracle import reference, scaled, side_of_colour
from x88 import build
from x88.attack import in_check
from x88.board import Board
from x88.movegen import legal_moves
from x88.notation import coordinate, fen
from x88.piece import BLACK, WHITE

SPREAD = 120
"""With weights of the inputs up to this, hidden neurons lie in and beyond the range that counts."""

KINDS = (chess.PAWN, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN, chess.KING)
POSITIONS = (
    fen.START,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    "4k3/8/8/8/8/8/8/4K3 w - - 0 1",
)
"""Castling of all kinds, en passant, promotions, kings that cross the middle or change their zone."""


def memory(kind: str, numbers: list[int]) -> memoryview:
    return memoryview(array(kind, numbers))


def view_of(board: Board, view: int) -> tuple[int, int]:
    """How a perspective turns its squares, by XOR, and the zone of its king."""
    king = reference(board).king(view == WHITE)
    assert king is not None
    mask = (7 if king & 7 < 4 else 0) ^ (56 if view == BLACK else 0)
    return mask, zone(king ^ mask)


def sums_of(board: Board, view: int, net: Weights) -> list[int]:
    """The hidden layer of a view by the definition in search/nnue/network.py."""
    found = list(net.input_biases)
    mask, there = view_of(board, view)
    for square, piece in reference(board).piece_map().items():
        side = side_of_colour(piece.color) ^ view
        number = 768 * there + 384 * side + 64 * KINDS.index(piece.piece_type) + (square ^ mask)
        row = number * net.hidden
        for i in range(net.hidden):
            found[i] += net.inputs[row + i]
    return found


def value_of(board: Board, net: Weights, pieces: int = 0) -> int:
    """The value by the definition in `search.nnue.network`, of the board as it is or as if it had more or
    fewer pieces.
    """
    output = network.band(pieces or len(reference(board).piece_map()), net.outputs)
    total = net.output_biases[output]
    for n, view in enumerate((board.side, board.side ^ 1)):
        for i, number in enumerate(sums_of(board, view, net)):
            clipped = min(max(number, 0), network.INPUT_SCALE)
            total += clipped**2 // 4 * net.output_weights[(output * 2 + n) * net.hidden + i]
    return min(max(total * network.SCALE // network.UNIT, -30000), 30000)


@pytest.fixture(params=select.modules())
def module(request: pytest.FixtureRequest) -> str:
    """Each module of inner loops that runs here."""
    return str(request.param)


@pytest.mark.parametrize(("hidden", "outputs"), [(16, 1), (48, 8), (256, 32)])
def test_a_value_is_that_of_the_definition(module: str, hidden: int, outputs: int) -> None:
    net = random_weights(hidden, outputs, inputs=SPREAD)
    accumulators = Accumulators(select.layer(net, module))
    values = set()
    for text in POSITIONS:
        board = fen.parse(text)
        accumulators.reset(board)
        values.add(accumulators.value(board))
        for move in (legal_moves(board)[0], None):
            assert accumulators.value(board) == value_of(board, net)
            for pieces in (2, 17, 32):
                assert accumulators.value_among(board, pieces) == value_of(board, net, pieces)
            if move:
                accumulators.make(board, move)
                board.make(move)
    assert len(values) >= len(POSITIONS) - 1


@pytest.mark.slow
@pytest.mark.parametrize("text", POSITIONS)
def test_the_sums_follow_the_moves(module: str, text: str) -> None:
    """Make, unmake and null moves at random."""
    net = random_weights(16, 8, inputs=SPREAD)
    accumulators = Accumulators(select.layer(net, module))
    chance = Random(text)
    changes = {False: 0, True: 0}  # of the zone and of the half
    for _ in range(scaled(20, 8)):
        board = fen.parse(text)
        accumulators.reset(board)
        made: list[bool] = []  # whether a move, no null move
        for _ in range(120):
            moves = legal_moves(board)
            what = chance.random()
            if made and (what < 0.3 or not moves or len(made) == 130):
                board.unmake()
                if made.pop():
                    accumulators.unmake()
            elif what < 0.4 and not in_check(board) and (not made or made[-1]):
                board.make_null()
                made.append(False)
            elif moves:
                move = chance.choice(moves)
                mask, there = view_of(board, board.side)
                accumulators.make(board, move)
                board.make(move)
                new_mask, now = view_of(board, board.side ^ 1)
                if (mask, there) != (new_mask, now):
                    changes[mask != new_mask] += 1
                made.append(True)
            if chance.random() < 0.5:
                for view in range(2):
                    assert accumulators.numbers(view) == sums_of(board, view, net)
                assert accumulators.value(board) == value_of(board, net)
    assert all(changes.values())


def test_there_is_room_for_the_sums_of_every_zone() -> None:
    """For both halves of the board and both perspectives; compiled, nothing else would notice."""
    assert layer.KEPT == 4 * network.INPUTS // network.ZONE_INPUTS


def test_extreme_weights_do_not_overflow(module: str) -> None:
    """The largest numbers that a file may hold, all pulling the same way."""
    hidden = 32
    most = network.MOST_SUM // (2 * hidden)
    for sign in (1, -1):
        net = Weights(
            hidden,
            1,
            memory("h", [network.MOST_INPUT] * (network.INPUTS * hidden)),
            memory("h", [network.MOST_INPUT] * hidden),
            memory("h", [sign * most] * (2 * hidden)),
            memory("i", [sign * network.MOST_BIAS]),
        )
        accumulators = Accumulators(select.layer(net, module))
        # The sums of these pieces are kept for the next position with the same zones.
        accumulators.reset(fen.parse("qqqqkqqq/qqqqqqqq/8/8/8/8/QQQQQQQQ/QQQQKQQQ w - - 0 1"))
        board = fen.parse(fen.START)
        accumulators.reset(board)
        for text in ("b1c3", "b8c6", "c3d5", "c6d4", "d5e7", "d4e2"):
            move = coordinate.parse(board, text)
            accumulators.make(board, move)
            board.make(move)
            assert accumulators.numbers(0) == sums_of(board, 0, net)
            assert accumulators.value(board) == value_of(board, net)


@pytest.mark.skipif(not build.compiled, reason="uncompiled, numbers are read one by one")
@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("inputs", "i", "items of 4 bytes instead of 2"),
        ("output_biases", "h", "items of 2 bytes instead of 4"),
    ],
)
def test_a_layer_refuses_numbers_of_another_width(name: str, kind: str, said: str) -> None:
    weights = random_weights(16, 1)
    wrong = weights._replace(**{name: array(kind, [0]) * len(getattr(weights, name))})
    with pytest.raises(ValueError, match=said):
        select.layer(wrong)
    with pytest.raises(TypeError):
        select.layer(weights._replace(**{name: [0] * len(getattr(weights, name))}))


def test_the_modules_are_those_of_the_build() -> None:
    found = select.modules()
    assert found[-1] == "search.nnue.vectors"
    if not build.compiled:
        assert found == ["search.nnue.vectors_pure", "search.nnue.vectors"]
        assert select.instructions() == "no vector instructions"
    else:
        assert ("AVX2" in select.instructions()) == ("search.nnue.vectors_avx2" in found)
