"""The evaluation follows the moves, is the same for both sides, and knows what is worth more."""

from collections.abc import Iterator
from random import Random

import chess
import pytest
from hypothesis import given, settings

from search import benchmark, evaluate, pawns, tuned
from search import endgame as endgames
from search.endgame import DRAWN_SCALE, FULL_SCALE
from search.evaluate import Evaluation
from search.placement import FULL_PHASE
from search.score import LONGEST_MATE
from search.terms import terms
from tests.oracle import STARTS, Game, games, placements, scaled, thrown
from x88 import build, coordinate, fen
from x88.board import Board
from x88.move import captured_of, moved_of
from x88.movegen import legal_moves
from x88.piece import BLACK, KING, PAWN, WHITE, make_piece
from x88.square import SQUARES

SHAPES = {
    "material": 5,
    **{f"{name} squares": 32 for name in evaluate.KINDS.values()},
    "tempo": 1,
    "doubled": 1,
    "isolated": 2,
    "backward": 2,
    "phalanx": 8,
    "supported": 8,
    "passed": 8,
    "passed own king": 8,
    "passed enemy king": 8,
    "shelter": 16,
    "storm": 16,
    "passed blocked": 8,
    "passed stop safe": 8,
    "passed path free": 8,
    "knight mobility": 9,
    "bishop mobility": 14,
    "rook mobility": 15,
    "queen mobility": 28,
    "bishop pair": 1,
    "bishop pawns": 1,
    "outpost": 2,
    "rook file": 2,
    "rook on seventh": 1,
    "pawn threat": 2,
    "minor threat": 2,
    "rook threat": 1,
    "hanging": 2,
    "king danger": 48,
    "bare king edge": 4,
    "bare king corner": 8,
    "bare king distance": 8,
}
POSITIONS = [*STARTS, *benchmark.POSITIONS]


def value(board: Board) -> int:
    return evaluation_of(board).value(board)


def evaluation_of(board: Board) -> Evaluation:
    evaluation = Evaluation()
    evaluation.reset(board)
    return evaluation


def split(both: int) -> tuple[int, int]:
    return (both + 0x8000 & 0xFFFF) - 0x8000, both + 0x8000 >> 16


def packed(text: str) -> tuple[int, int]:
    board = fen.parse(text)
    return split(evaluation_of(board).packed(board))


@pytest.fixture
def restored() -> Iterator[None]:
    yield
    evaluate.load(tuned.EVALUATION)


def only(**lists: list[tuple[int, int]]) -> None:
    """Load nothing but these lists; an underscore stands for a space."""
    numbers = {name: [(0, 0)] * len(pairs) for name, pairs in tuned.EVALUATION.items()}
    evaluate.load({**numbers, **{name.replace("_", " "): pairs for name, pairs in lists.items()}})


# --- The numbers


def test_the_numbers_have_their_shapes() -> None:
    assert {name: len(pairs) for name, pairs in tuned.EVALUATION.items()} == SHAPES
    for pairs in tuned.EVALUATION.values():
        assert all(abs(number) < 2000 for pair in pairs for number in pair)


def test_no_list_runs_into_the_next() -> None:
    for lists in (evaluate.LISTS, pawns.LISTS, endgames.LISTS):
        places = [start + i for name, start in lists.items() for i in range(SHAPES[name])]
        assert sorted(places) == list(range(len(places)))


@pytest.mark.usefixtures("restored")
def test_loading_changes_values_and_loading_again_restores_them() -> None:
    boards = [fen.parse(text) for text in benchmark.POSITIONS]
    before = [value(board) for board in boards]
    doubled = {name: [(2 * a, 2 * b) for a, b in pairs] for name, pairs in tuned.EVALUATION.items()}
    sums = [packed(text) for text in benchmark.POSITIONS]
    evaluate.load(doubled)
    assert [packed(text) for text in benchmark.POSITIONS] == [(2 * a, 2 * b) for a, b in sums]
    evaluate.load(tuned.EVALUATION)
    assert [value(board) for board in boards] == before


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("text", POSITIONS[::5])
def test_without_numbers_every_term_is_zero(text: str) -> None:
    only()
    assert {(term.white, term.black) for term in terms(fen.parse(text))} == {((0, 0), (0, 0))}


EXAMPLES = {
    # Each list with two positions that it tells apart.
    "tempo": ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", "4k3/8/8/8/8/8/8/4K3 b - - 0 1"),
    "doubled": ("4k3/8/8/8/8/P7/1P6/4K3 w - - 0 1", "4k3/8/8/8/8/P7/P7/4K3 w - - 0 1"),
    "isolated": ("4k3/8/8/8/8/8/PP6/4K3 w - - 0 1", "4k3/8/8/8/8/8/P1P5/4K3 w - - 0 1"),
    "backward": ("4k3/8/8/2p5/8/1PP5/8/4K3 w - - 0 1", "4k3/8/8/2p5/2P5/1P6/8/4K3 b - - 0 1"),
    "phalanx": ("4k3/8/8/8/8/1PP5/8/4K3 w - - 0 1", "4k3/8/8/8/2P5/1P6/8/4K3 w - - 0 1"),
    "supported": ("4k3/8/8/8/2P5/1P6/8/4K3 w - - 0 1", "4k3/8/8/8/2P5/2P5/8/4K3 w - - 0 1"),
    "passed": ("4k3/8/8/3P4/8/8/8/4K3 w - - 0 1", "4k3/2p5/8/3P4/8/8/8/4K3 w - - 0 1"),
    "passed own king": ("4k3/8/4K3/3P4/8/8/8/8 w - - 0 1", "4k3/8/8/3P4/8/8/8/K7 w - - 0 1"),
    "passed enemy king": ("8/8/8/3P3k/8/8/8/4K3 w - - 0 1", "8/8/3k4/3P4/8/8/8/4K3 w - - 0 1"),
    "shelter": ("k7/8/8/8/8/8/5PPP/6K1 w - - 0 1", "k7/8/8/8/8/8/5P1P/6K1 w - - 0 1"),
    "storm": ("k7/8/8/8/8/8/8/6K1 w - - 0 1", "k7/8/8/8/8/6p1/8/6K1 w - - 0 1"),
    "passed blocked": ("4k3/8/3n4/3P4/8/8/8/4K3 w - - 0 1", "4k3/8/8/3P4/8/8/8/4K3 w - - 0 1"),
    "passed stop safe": ("4k3/8/8/3P4/8/8/8/4K3 w - - 0 1", "8/4k3/8/3P4/8/8/8/4K3 w - - 0 1"),
    "passed path free": ("k7/8/8/3P4/8/8/8/4K3 w - - 0 1", "3k4/8/8/3P4/8/8/8/4K3 w - - 0 1"),
    "knight mobility": ("4k3/8/8/8/3N4/8/8/4K3 w - - 0 1", "4k3/8/8/8/8/8/8/N3K3 w - - 0 1"),
    "bishop mobility": ("4k3/8/8/8/3B4/8/8/4K3 w - - 0 1", "4k3/8/8/8/8/8/8/B3K3 w - - 0 1"),
    "rook mobility": ("4k3/8/8/8/3R4/8/8/4K3 w - - 0 1", "4k3/8/8/8/8/8/3P4/3RK3 w - - 0 1"),
    "queen mobility": ("4k3/8/8/8/3Q4/8/8/4K3 w - - 0 1", "4k3/8/8/8/8/8/8/Q3K3 w - - 0 1"),
    "bishop pair": ("4k3/8/8/8/8/8/8/BB2K3 w - - 0 1", "4k3/8/8/8/8/8/8/B3K3 w - - 0 1"),
    "bishop pawns": ("4k3/8/8/8/8/4P3/8/B3K3 w - - 0 1", "4k3/8/8/8/4P3/8/8/B3K3 w - - 0 1"),
    "outpost": ("4k3/8/8/3N4/4P3/8/8/4K3 w - - 0 1", "4k3/2p5/8/3N4/4P3/8/8/4K3 w - - 0 1"),
    "rook file": ("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", "4k3/8/8/8/8/8/P7/R3K3 w - - 0 1"),
    "rook on seventh": ("4k3/R7/8/8/8/8/8/4K3 w - - 0 1", "8/R7/4k3/8/8/8/8/4K3 w - - 0 1"),
    "pawn threat": ("4k3/8/8/3n4/4P3/8/8/4K3 w - - 0 1", "4k3/8/8/3n4/3P4/8/8/4K3 w - - 0 1"),
    "minor threat": ("4k3/8/8/3r4/8/4N3/8/4K3 w - - 0 1", "4k3/8/8/3r4/8/5N2/8/4K3 w - - 0 1"),
    "rook threat": ("4k3/8/8/3q4/8/8/8/3RK3 w - - 0 1", "4k3/8/8/3q4/8/8/8/2R1K3 w - - 0 1"),
    "hanging": ("4k3/8/8/3n4/8/4N3/8/4K3 w - - 0 1", "4k3/8/4p3/3n4/8/4N3/8/4K3 w - - 0 1"),
    "king danger": ("6k1/8/8/8/8/8/8/K7 w - - 0 1", "6k1/8/8/5N2/7Q/8/8/K7 w - - 0 1"),
    "bare king edge": ("k7/8/8/8/8/8/8/K6R w - - 0 1", "8/8/8/3k4/8/8/8/K6R w - - 0 1"),
    "bare king corner": ("7k/8/5K2/8/8/8/8/BN6 w - - 0 1", "k7/8/2K5/8/8/8/8/BN6 w - - 0 1"),
    "bare king distance": ("k7/8/2K5/8/8/8/8/7R w - - 0 1", "k7/8/8/8/8/8/8/K6R w - - 0 1"),
}


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("name", EXAMPLES)
def test_each_list_is_used(name: str) -> None:
    first, second = EXAMPLES[name]
    only(**{name: [(10 * (i + 1), 7 * (i + 1)) for i in range(SHAPES[name])]})
    assert packed(first) != packed(second)


def test_each_list_has_an_example() -> None:
    rest = {name for name in SHAPES if not name.endswith("squares")} - {"material"}
    assert set(EXAMPLES) == rest


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("name", [name for name in SHAPES if SHAPES[name] == 32])
def test_squares_count_as_the_own_side_sees_them_and_mirror_left_to_right(name: str) -> None:
    kind = {name: kind for kind, name in evaluate.KINDS.items()}[name.split()[0]]
    only(**{name: [(10 * rank + file, -100 * file) for rank in range(8) for file in range(4)]})
    table = {("white", sq): evaluate.piece_square(make_piece(WHITE, kind), sq) for sq in SQUARES}
    for (_, sq), found in table.items():
        file = min(sq & 7, 7 - (sq & 7))
        assert split(found) == (10 * (sq >> 4) + file, -100 * file)
        assert evaluate.piece_square(make_piece(BLACK, kind), sq ^ 0x70) == -found
        assert table["white", sq ^ 7] == found


# --- Along the moves


@pytest.mark.parametrize("seed", range(60 if build.compiled else 12))
def test_what_is_kept_along_the_moves_is_what_comes_from_scratch(seed: int) -> None:
    generator = Random(seed)
    board = fen.parse(STARTS[seed % len(STARTS)])
    evaluation = evaluation_of(board)
    before = []
    played = []
    for _ in range(80):
        moves = legal_moves(board)
        if not moves:
            break
        before.append((evaluation.value(board), evaluation.placement.pawn_key()))
        # Captures, promotions and castling come first in the list: prefer them, so that all kinds are seen.
        move = moves[0] if generator.random() < 0.3 else generator.choice(moves)
        evaluation.make(move, board.side)
        board.make(move)
        played.append(move)
        fresh = evaluation_of(board)
        assert evaluation.value(board) == fresh.value(board)
        assert evaluation.packed(board) == fresh.packed(board)
        assert evaluation.placement.pawn_key() == fresh.placement.pawn_key()
        assert evaluation.placement.phase() == fresh.placement.phase()
    while before:
        board.unmake()
        evaluation.unmake(played.pop(), board.side)
        assert (evaluation.value(board), evaluation.placement.pawn_key()) == before.pop()


@pytest.mark.parametrize(("side", "move"), [("w", "e1g1"), ("w", "e1c1"), ("b", "e8g8"), ("b", "e8c8")])
def test_castling_moves_the_values_of_king_and_rook(side: str, move: str) -> None:
    board = fen.parse(f"r3k2r/p6p/8/8/8/8/P6P/R3K2R {side} KQkq - 0 1")
    evaluation = evaluation_of(board)
    packed_move = coordinate.parse(board, move)
    evaluation.make(packed_move, board.side)
    board.make(packed_move)
    assert evaluation.packed(board) == evaluation_of(board).packed(board)
    assert evaluation.lazy_value(board) == evaluation_of(board).lazy_value(board)


@pytest.mark.parametrize("text", benchmark.POSITIONS[:10])
def test_a_null_move_gives_the_tempo_away(text: str) -> None:
    board = fen.parse(text)
    evaluation = evaluation_of(board)
    before = split(evaluation.packed(board))
    evaluation.make_null()
    board.make_null()
    after = split(evaluation.packed(board))
    tempo = tuned.EVALUATION["tempo"][0]
    change = 2 if board.side == WHITE else -2
    assert after == (before[0] + change * tempo[0], before[1] + change * tempo[1])
    evaluation.unmake_null()
    board.unmake_null()
    assert split(evaluation.packed(board)) == before


# --- Mobility and king danger, counted with python-chess's attacks

OWN_SLIDERS_SEEN_THROUGH = {
    chess.BISHOP: (chess.QUEEN,),
    chess.ROOK: (chess.ROOK, chess.QUEEN),
}
ATTACK_UNITS = {chess.KNIGHT: 2, chess.BISHOP: 2, chess.ROOK: 3, chess.QUEEN: 4}
CHECK_UNITS = {chess.KNIGHT: 5, chess.BISHOP: 3, chess.ROOK: 6, chess.QUEEN: 5}


def attacks(position: chess.Board, square: chess.Square) -> chess.SquareSet:
    """The squares that a piece attacks; bishops and rooks see through own queens, rooks through rooks."""
    piece = position.piece_at(square)
    assert piece is not None
    seen_through = position.copy(stack=False)
    for kind in OWN_SLIDERS_SEEN_THROUGH.get(piece.piece_type, ()):
        for other in seen_through.pieces(kind, piece.color) - chess.SquareSet([square]):
            seen_through.remove_piece_at(other)
    return seen_through.attacks(square)


def all_attacks(position: chess.Board, colour: chess.Color) -> list[chess.SquareSet]:
    """The squares that each piece of a side attacks; its pawns count as one piece."""
    men = chess.SquareSet(position.occupied_co[colour])
    pawns = chess.SquareSet()
    for square in position.pieces(chess.PAWN, colour):
        pawns |= position.attacks(square)
    return [pawns, *(attacks(position, square) for square in men - position.pieces(chess.PAWN, colour))]


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("kind", ATTACK_UNITS)
def test_mobility_is_the_squares_attacked_but_for_own_men_and_squares_of_enemy_pawns(kind: int) -> None:
    name = f"{chess.piece_name(kind)} mobility"
    only(**{name: [(n + 1, 0) for n in range(SHAPES[name])]})
    for text in POSITIONS:
        position = chess.Board(text)
        term = next(term for term in terms(fen.parse(text)) if term.name == "mobility")
        for colour, found in ((chess.WHITE, term.white), (chess.BLACK, term.black)):
            closed = chess.SquareSet(position.occupied_co[colour]) | all_attacks(position, not colour)[0]
            expected = [
                1 + len(attacks(position, square) - closed) for square in position.pieces(kind, colour)
            ]
            assert found == (sum(expected), 0), text


def danger(position: chess.Board, colour: chess.Color) -> int:
    """The units of attack on a king."""
    king = position.king(colour)
    assert king is not None
    ring = position.attacks(king) | chess.SquareSet([king])
    ahead = {square + (8 if colour else -8) for square in ring}
    zone = ring | chess.SquareSet(square for square in ahead if 0 <= square < 64)
    units = 0
    for kind, weight in ATTACK_UNITS.items():
        units += weight * sum(
            bool(attacks(position, square) & zone) for square in position.pieces(kind, not colour)
        )
    if units <= ATTACK_UNITS[chess.ROOK]:
        return 0
    ours, theirs = all_attacks(position, colour), all_attacks(position, not colour)
    for square in zone:
        if any(square in each for each in theirs):
            units += 1 if sum(square in each for each in ours) >= 2 else 2
    for kind, weight in CHECK_UNITS.items():
        from_king = position.copy(stack=False)
        from_king.set_piece_at(king, chess.Piece(kind, colour))
        safe = from_king.attacks(king) - chess.SquareSet(position.occupied_co[not colour])
        safe = chess.SquareSet(square for square in safe if not any(square in each for each in ours))
        if any(attacks(position, square) & safe for square in position.pieces(kind, not colour)):
            units += weight
    return units if position.pieces(chess.QUEEN, not colour) else units // 2


@pytest.mark.usefixtures("restored")
def test_king_danger_counts_attackers_attacked_squares_and_safe_checks() -> None:
    only(king_danger=[(-n, 0) for n in range(SHAPES["king danger"])])
    generator = Random(5)
    positions = [chess.Board(text) for text in POSITIONS]
    while len(positions) < scaled(600, 150):
        position = thrown(generator, 20)
        if position is not None:
            positions.append(position)
    counted = set()
    for position in positions:
        text = position.fen(en_passant="fen")
        term = next(term for term in terms(fen.parse(text)) if term.name == "danger")
        expected = [min(danger(position, colour), SHAPES["king danger"] - 1) for colour in chess.COLORS]
        assert (term.white, term.black) == ((-expected[0], 0), (-expected[1], 0)), text
        counted.update(expected)
    assert len(counted) > 25


@pytest.mark.skipif(build.compiled, reason="compiled, what is computed cannot be counted")
def test_the_pawns_of_a_position_are_evaluated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    computed = []
    original = pawns.Pawns._compute

    def spy(self: pawns.Pawns, *arguments: int) -> int:
        computed.append(arguments)
        return original(self, *arguments)

    monkeypatch.setattr(pawns.Pawns, "_compute", spy)
    board = fen.parse(benchmark.POSITIONS[0])
    evaluation = evaluation_of(board)
    for _ in range(3):
        for move in legal_moves(board):
            if moved_of(move) not in (PAWN, KING) and not captured_of(move):
                evaluation.make(move, board.side)
                board.make(move)
                evaluation.value(board)
                board.unmake()
                evaluation.unmake(move, board.side)
    assert len(computed) == 2, "once for each side"


# --- Symmetry


@pytest.mark.parametrize("text", POSITIONS)
def test_colours_make_no_difference(text: str) -> None:
    mirrored = chess.Board(text).mirror().fen()
    assert value(fen.parse(text)) == value(fen.parse(mirrored))


@settings(max_examples=scaled(300, 60))
@given(placements())
def test_neither_colours_nor_left_and_right_make_a_difference_among_pieces_thrown(text: str) -> None:
    position = chess.Board(text)
    mirrored = position.mirror().fen(en_passant="fen")
    assert value(fen.parse(text)) == value(fen.parse(mirrored))
    position.castling_rights = chess.BB_EMPTY
    position.ep_square = None
    turned = position.transform(chess.flip_horizontal).fen()
    assert value(fen.parse(text)) == value(fen.parse(turned))


@settings(max_examples=scaled(300, 60))
@given(placements())
def test_the_value_is_the_sum_tapered_scaled_and_seen_by_the_side_to_move(text: str) -> None:
    board = fen.parse(text)
    evaluation = evaluation_of(board)
    middlegame, endgame = split(evaluation.packed(board))
    phase = evaluation.placement.phase()
    sign = -1 if board.side else 1
    middlegame *= sign
    endgame = sign * endgame * evaluation.scale(board) >> 6
    if evaluation.scale(board) <= DRAWN_SCALE:
        middlegame = middlegame * evaluation.scale(board) >> 6
    exact = (middlegame * phase + endgame * (FULL_PHASE - phase)) / FULL_PHASE
    # The evaluation divides by a shift, which is off by less than 1 in 500.
    assert abs(evaluation.value(board) - exact) <= 1 + abs(exact) / 500
    assert 0 <= evaluation.scale(board) <= FULL_SCALE
    assert abs(evaluation.value(board)) < LONGEST_MATE


# --- What is worth more


@settings(max_examples=scaled(100, 40))
@given(placements())
def test_the_rough_value_is_that_of_material_and_squares(text: str) -> None:
    board = fen.parse(text)
    pieces = [term for term in terms(board) if term.name.rstrip("s") in evaluate.KINDS.values()]
    assert len(pieces) == len(evaluate.KINDS)
    sign = -1 if board.side else 1
    middlegame = sign * sum(term.white[0] - term.black[0] for term in pieces)
    endgame = sign * sum(term.white[1] - term.black[1] for term in pieces)
    if endgame:
        factor = endgames.scale(board, board.side if endgame > 0 else board.side ^ 1)
        endgame = endgame * factor >> 6
        if factor <= DRAWN_SCALE:
            middlegame = middlegame * factor >> 6
    evaluation = evaluation_of(board)
    phase = evaluation.placement.phase()
    tapered = (middlegame * phase + endgame * (FULL_PHASE - phase)) / FULL_PHASE
    # Off by the shift, as above.
    assert abs(evaluation.lazy_value(board) - tapered) <= 1 + abs(tapered) / 500


def test_more_material_is_better() -> None:
    rising = ["4k3/8/8/8/8/8/8/4K3", "4k3/8/8/8/8/8/4P3/4K3", "4k3/8/8/8/8/8/8/R3K3", "4k3/8/8/8/8/8/8/Q3K3"]
    rising += ["4k3/8/8/8/8/8/8/QR2K3"]
    values = [value(fen.parse(f"{placement} w - - 0 1")) for placement in rising]
    assert values == sorted(values)
    assert len(set(values)) == len(values)


def test_the_endgame_s_king_belongs_in_the_centre_and_the_middlegame_s_does_not() -> None:
    few = "4k3/pppp4/8/8/{}/8/PPPP4/{} w - - 0 1"
    assert value(fen.parse(few.format("4K3", "8"))) > value(fen.parse(few.format("8", "4K3")))
    many = "rnbqkbnr/pppp4/8/8/{}/8/PPPP4/{} w kq - 0 1"
    assert value(fen.parse(many.format("4K3", "RNBQ1BNR"))) < value(fen.parse(many.format("8", "RNBQKBNR")))


@pytest.mark.parametrize(
    ("text", "scale"),
    [
        ("4k3/8/8/8/8/8/8/4KN2 w - - 0 1", 0),
        ("4k3/8/8/8/8/8/8/3NKN2 w - - 0 1", 0),
        ("4k1n1/8/8/8/8/8/8/4KB2 w - - 0 1", 0),
        ("4k1r1/8/8/8/8/8/8/R3KB2 w - - 0 1", 10),
        ("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", 64),
        ("4k3/8/8/8/8/8/8/2B1KB2 w - - 0 1", 64),
        ("4k3/3r4/8/8/8/8/8/3QK3 w - - 0 1", 64),
        ("1k6/8/8/8/8/P7/P7/4KB2 w - - 0 1", 64),
        ("1k6/8/8/8/8/P7/P7/2B1K3 w - - 0 1", 0),
        ("1k6/8/8/8/8/P7/1P6/2B1K3 w - - 0 1", 64),
        ("5k2/8/8/8/8/P7/P7/2B1K3 w - - 0 1", 64),
        ("2b1k3/8/8/8/8/P7/1P6/2B1K3 w - - 0 1", 30),
        ("r1b1k3/8/8/8/8/P7/1P6/R1B1K3 w - - 0 1", 50),
        ("4kb2/8/8/8/8/P7/1P6/2B1K3 w - - 0 1", 64),
        ("4kn2/8/8/8/8/8/3P4/4KN2 w - - 0 1", 32),
        ("4kn2/8/8/8/8/8/3P4/4KR2 w - - 0 1", 64),
        ("4k3/8/8/8/8/8/3P4/4KN2 w - - 0 1", 64),
        ("4k3/2p5/8/8/8/8/3P4/4K3 w - - 0 1", 64),
    ],
)
def test_what_cannot_be_won_counts_less(text: str, scale: int) -> None:
    board = fen.parse(text)
    assert evaluation_of(board).scale(board) == scale
    mirror = fen.parse(chess.Board(text).mirror().fen())
    assert evaluation_of(mirror).scale(mirror) == scale


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize(("tempo", "scales"), [(1, (0, 32)), (-1, (32, 0)), (0, (64, 64))])
def test_the_scale_is_that_of_the_side_ahead_in_the_endgame_however_little(
    tempo: int, scales: tuple[int, int]
) -> None:
    only(tempo=[(0, tempo)])
    for side, scale in zip("wb", scales, strict=True):
        board = fen.parse(f"4k3/4p3/8/8/8/8/8/4KN2 {side} - - 0 1")
        assert evaluation_of(board).scale(board) == scale


@pytest.mark.parametrize(
    ("men", "scale"),
    [("NP n", 32), ("NP r", 32), ("NP rr", 32), ("RP n", 64), ("NNP n", 64), ("NP p", 64), ("NPP n", 64)],
)
def test_the_last_pawn_counts_less_if_a_piece_can_be_given_for_it(men: str, scale: int) -> None:
    own, other = men.split()
    squares = chess.SquareSet(chess.BB_RANK_4)
    position = chess.Board("4k3/8/8/8/8/8/8/4K3 w - - 0 1")
    for square, symbol in zip(squares, own + other, strict=False):
        position.set_piece_at(square, chess.Piece.from_symbol(symbol))
    assert endgames.scale(fen.parse(position.fen()), WHITE) == scale
    assert endgames.scale(fen.parse(position.mirror().fen()), BLACK) == scale


@pytest.mark.parametrize(
    "text",
    [
        "1k6/8/8/8/8/P7/P7/2B1K3 w - - 0 1",
        "1k6/8/8/8/8/P7/8/2B1K3 b - - 0 1",
        "4k3/8/8/8/8/8/8/3NKN2 w - - 0 1",
        "4k3/8/8/8/8/8/8/4KN2 b - - 0 1",
        "4k1n1/8/8/8/8/8/8/4KB2 w - - 0 1",
    ],
)
def test_a_dead_draw_is_worth_nothing_in_either_phase(text: str) -> None:
    assert value(fen.parse(text)) == 0
    board = fen.parse(text)
    assert evaluation_of(board).lazy_value(board) == 0


@pytest.mark.parametrize("men", ["R", "Q", "BB", "BN"])
def test_a_bare_king_is_driven_to_any_edge_or_corner_alike(men: str) -> None:
    """Turning the board does not change the bonus; for bishop and knight only if it keeps colours."""
    generator = Random(7)
    bonuses = set()
    for _ in range(scaled(200, 60)):
        position = chess.Board(None)
        squares = generator.sample(chess.SQUARES, 2 + len(men))
        for square, symbol in zip(squares, "kK" + men, strict=True):
            position.set_piece_at(square, chess.Piece.from_symbol(symbol))
        position.turn = chess.BLACK
        if not position.is_valid():
            continue
        bonus = endgames.mop_up(fen.parse(position.fen()), WHITE)
        bonuses.add(bonus)
        turns = [chess.flip_diagonal, chess.flip_anti_diagonal]
        if men in ("R", "Q"):
            turns += [chess.flip_horizontal, chess.flip_vertical]
        for turn in turns:
            assert bonus == endgames.mop_up(fen.parse(position.transform(turn).fen()), WHITE)
    assert len(bonuses) > 10


def test_bishop_and_knight_drive_the_king_to_a_corner_of_the_bishop_s_colour() -> None:
    for bishop, right, wrong in (("a1", ("a1", "h8"), ("a8", "h1")), ("b1", ("a8", "h1"), ("a1", "h8"))):
        bonuses = {}
        for corner in (*right, *wrong):
            position = chess.Board(None)
            king = chess.parse_square(corner)
            position.set_piece_at(king, chess.Piece.from_symbol("k"))
            # Two diagonal steps towards the centre.
            own = king + (18 if king < 8 else -14) if king % 8 == 0 else king + (14 if king < 8 else -18)
            position.set_piece_at(own, chess.Piece.from_symbol("K"))
            rest = [sq for sq in (chess.C5 if bishop == "a1" else chess.C4, chess.D7) if sq != own]
            for square, symbol in zip(rest, "BN", strict=True):
                position.set_piece_at(square, chess.Piece.from_symbol(symbol))
            bonuses[corner] = endgames.mop_up(fen.parse(f"{position.board_fen()} b - - 0 1"), WHITE)
        assert bonuses[right[0]] == bonuses[right[1]] > bonuses[wrong[0]] == bonuses[wrong[1]]


# --- The terms that are shown


def check_terms(board: Board) -> None:
    shown = terms(board)
    found = tuple(
        sum(term.white[i] for term in shown) - sum(term.black[i] for term in shown) for i in range(2)
    )
    assert found == split(evaluation_of(board).packed(board))


@settings(max_examples=scaled(400, 100))
@given(placements())
def test_the_terms_add_up_to_the_evaluation_among_pieces_thrown(text: str) -> None:
    check_terms(fen.parse(text))


@settings(max_examples=scaled(40, 10))
@given(games(longest=40))
def test_the_terms_add_up_to_the_evaluation_all_game(game: Game) -> None:
    for board, _ in game.positions():
        check_terms(board)


@settings(max_examples=scaled(200, 60))
@given(placements())
def test_the_terms_of_white_are_those_of_black_in_the_mirror(text: str) -> None:
    mirrored = chess.Board(text).mirror().fen(en_passant="fen")
    for term, mirror in zip(terms(fen.parse(text)), terms(fen.parse(mirrored)), strict=True):
        assert (term.name, term.white, term.black) == (mirror.name, mirror.black, mirror.white)


def test_each_kind_of_piece_has_its_own_term() -> None:
    bare = {term.name: term for term in terms(fen.parse("4k3/8/8/8/8/8/8/4K3 w - - 0 1"))}
    names = dict(zip("PNBRQ", ("pawns", "knights", "bishops", "rooks", "queens"), strict=True))
    assert {*names.values(), "king"} < set(bare)
    for letter, name in names.items():
        for term in terms(fen.parse(f"4k3/8/8/8/8/{letter}7/8/4K3 w - - 0 1")):
            if term.name == name:
                assert min(term.white) > 0
                assert term.black == (0, 0)
            elif term.name in (*names.values(), "king"):
                assert term == bare[term.name]
