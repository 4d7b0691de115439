"""SAN: every legal move is written as python-chess writes it and read back, and so is what people write."""

import contextlib
import os
import re
from collections.abc import Iterator
from random import Random

import chess
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.oracle import STARTS, Game, packed, scaled, thrown
from tests.strategies import MOVES, damaged, per_hundred
from x88.board import Board
from x88.notation import coordinate, fen, san

POSITIONS = int(os.environ.get("MOFF_POSITIONS", scaled(1000, 250)))
"""How many random positions are compared with python-chess."""

PINNED = "r1bqk1nr/pppp1ppp/2n5/8/1b1PP3/2N5/PPP2PPP/R1BQKBNR w KQkq - 0 1"
"""The knight on c3 is pinned; both knights look at e2."""
THREE_QUEENS = "8/2k5/8/8/4Q2Q/8/8/K6Q w - - 0 1"
"""Queens on e4, h4 and h1 that can all go to e1: the one on h4 shares file and rank with the others."""


def positions(number: int, seed: int) -> Iterator[chess.Board]:
    """Positions of random games by turns with pieces thrown on the board."""
    random = Random(seed)
    given = 0
    while given < number:
        game = Game(random.choice(STARTS), random.randbytes(40))
        found = [position.copy(stack=False) for position, _ in game.moves()]
        for position in [*random.sample(found, min(4, len(found))), *(crowded(random) for _ in range(4))]:
            if given < number:
                given += 1
                yield position


def crowded(random: Random) -> chess.Board:
    """A legal position in which one side's pieces are mostly of one kind, so that many share a target."""
    while True:
        position = thrown(random, random.choice((6, 14, 28, 40)))
        if position is None:
            continue
        kind = random.choice((chess.QUEEN, chess.KNIGHT, chess.ROOK, chess.BISHOP))
        for square, piece in position.piece_map().items():
            own = piece.color == position.turn and piece.piece_type not in (chess.KING, chess.PAWN)
            at_home = position.castling_rights & chess.BB_SQUARES[square]
            if own and not at_home and random.random() < 0.8:
                position.set_piece_at(square, chess.Piece(kind, position.turn))
        if not position.was_into_check():
            return position


def same_position(position: chess.Board) -> Board:
    return fen.parse(position.fen(en_passant="fen"))


@pytest.mark.slow
def test_every_legal_move_is_written_as_python_chess_does_and_read_back() -> None:
    seen = set()
    for position in positions(POSITIONS, seed=1):
        board = same_position(position)
        by_text = packed(board)
        assert len(by_text) == position.legal_moves.count(), position.fen()
        for theirs in position.legal_moves:
            text = position.san(theirs)
            move = by_text[theirs.uci()]
            assert san.write(board, move) == text, position.fen()
            assert san.parse(board, text) == move, position.fen()
            seen.add(text)
    named = [rf"[NBRQ]{origin}x?[a-h]\d" for origin in ("[a-h]", r"\d", r"[a-h]\d")]
    for form in (*named, r".+\+", ".+#", ".+=[QRBN]", "O-O", "O-O-O"):
        assert any(re.fullmatch(form, text) for text in seen), form


# --- Other spellings


SPELLINGS = """
rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1
e2e4: e4, e2-e4, e2xe4, e2e4, Pe4, Pe2:e4, e4!?, e4?!, e4+!, e4#??, e4++, e4 !, e4., ♙e4, 5254, e4†, e4\u200e
g1f3: Nf3, Nf3#, Nxf3, nf3, Ng1f3, Ng1-f3, Ng1xf3, Ngf3, N1f3, g1f3, ♘f3, ♞f3, ♘\ufe0ef3, Nf3??, 71-63!?
r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1
e1g1: O-O, 0-0, o-o, 0-0+, Kg1, 00, О-О
e1c1: 0-0-0, o-o-o!, e1c1, 000+, 5131
f3f6: Qxf6, Qf6, Q:f6, Q-f6, Qf3xf6, Qf3-f6, f3:f6, Qfxf6, ♕xf6, ♛f6+
3n3k/4P3/8/8/8/8/8/K7 w - - 0 1
e7e8q: e8Q, e8(Q), e8=q+, e8(q), e8/q, Pe7-e8=Q
e7e8n: e8/N
e7e8b: e8b
e7d8q: 57481
e7d8r: ed8=R, 57482
e7d8b: 57483
e7d8n: e7xd8(N), 57484
7k/8/8/8/8/2p5/1P1B4/K7 w - - 0 1
b2c3: bxc3, bc3, b:c3, Pbxc3, b2xc3
d2c3: Bc3, B:c3
7k/8/8/3pP3/8/8/8/K7 w - d6 0 1
e5d6: exd6 e.p., exd6e.p., ed6ep, exd6 ep., exd6 e.p.+, exd6e.p.!?, exd6(ep), exd6 (e.p.)!, e×d6
8/2k5/8/8/4Q2Q/8/8/K6Q w - - 0 1
h4e1: Qh4e1
e4e1: Qee1
h1e1: Q1e1
r1bqk1nr/pppp1ppp/2n5/8/1b1PP3/2N5/PPP2PPP/R1BQKBNR w KQkq - 0 1
g1e2: Ne2, Nge2, N1e2, Ng1e2
"""
"""Positions, and moves with the ways to write each. A small b is a file; the knight on c3 is pinned."""


def test_a_spelling_names_its_move() -> None:
    for line in SPELLINGS.strip().splitlines():
        move, colon, texts = line.partition(": ")
        if not colon:
            board = fen.parse(line)
            continue
        for text in texts.split(", "):
            assert coordinate.write(san.parse(board, text)) == move, (line, text)


# --- Errors


WORDS = "e e9 i4 Nf e2e4e5 5954 52545 NNf3 bf3g4h5 Xf3 O-O-O-O O O-X 1-0 -- =Q +#!? e.p. é4"
NO_MOVES = [*WORDS.split(), "", "e4\0", "\ud800", "x" * 100_000]


@pytest.mark.parametrize(
    ("position", "text", "reason"),
    [
        *((fen.START, text, "is not a move: it should read like") for text in NO_MOVES),
        (fen.START, "52541", "it is not a promotion"),
        (fen.START, "5255", "no white pawn on e2 can move to e5"),
        ("3n3k/4P3/8/8/8/8/8/K7 w - - 0 1", "5758", "it must name the new piece"),
        (fen.START, "O-O", "White cannot castle on that side now"),
        (fen.START, "e5", "no white pawn can move to e5"),
        (fen.START, "exd3", "no white pawn on the e-file can move to d3"),
        (fen.START, "N2f3", "there is no white knight on rank 2"),
        (fen.START, "Nb1f3", "no white knight on b1 can move to f3"),
        (fen.START, "Nd2", "d2 is occupied by a white piece"),
        (fen.START, "e4e5", "there is no piece on e4"),
        (fen.START, "e7e5", "there is no white pawn on e7"),
        (fen.START, "e4=Q", "it is not a promotion"),
        # A pawn one step further than its home rank makes no double step.
        ("7k/8/8/8/8/4P3/8/K7 w - - 0 1", "e5", "no white pawn can move to e5"),
        ("7k/8/8/8/8/4p3/4P3/K7 w - - 0 1", "e4", "no white pawn can move to e4"),
        ("7k/8/8/8/8/8/8/K7 w - - 0 1", "e4", "there is no white pawn"),
        ("3n3k/4P3/8/8/8/8/8/K7 w - - 0 1", "e8", "it must name the new piece"),
        ("3n3k/4P3/8/8/8/8/8/K7 w - - 0 1", "e8=K", "it must name the new piece"),
        ("4n2k/4P3/8/8/8/8/8/K7 w - - 0 1", "e8=Q", "no white pawn can move to e8"),
        # The king would be in check.
        (PINNED, "Nc3e2", "it would leave White's king in check"),
        ("4r2k/8/8/8/8/3p4/4P3/4K3 w - - 0 1", "exd3", "it would leave White's king in check"),
        ("4r2k/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "exd6", "it would leave White's king in check"),
    ],
)
def test_an_error_names_the_text_and_the_reason(position: str, text: str, reason: str) -> None:
    board = fen.parse(position)
    before = (fen.write(board), board.key, board.ply)
    with pytest.raises(ValueError, match=r"is not a (legal )?move") as caught:
        san.parse(board, text)
    assert str(caught.value).startswith(repr(text)[:40])
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200
    assert (fen.write(board), board.key, board.ply) == before


@pytest.mark.parametrize(
    ("position", "text", "candidates"),
    [
        ("4k3/8/8/8/8/2N5/8/4K1N1 w - - 0 1", "Ne2", {"Nce2", "Nge2"}),
        (THREE_QUEENS, "Qe1", {"Qee1", "Qh4e1", "Q1e1"}),
        (THREE_QUEENS, "Qhe1", {"Qh4e1", "Q1e1"}),
        (THREE_QUEENS, "Q4e1+", {"Qee1", "Qh4e1"}),
        ("7k/8/8/8/8/3p4/2P1P3/K7 w - - 0 1", "xd3", {"cxd3", "exd3"}),
        ("7k/8/8/8/8/3p4/2P1P3/K7 w - - 0 1", "d3", {"cxd3", "exd3"}),
    ],
)
def test_an_ambiguous_text_names_the_candidates(position: str, text: str, candidates: set[str]) -> None:
    board = fen.parse(position)
    before = (fen.write(board), board.key, board.ply)
    with pytest.raises(ValueError, match="is ambiguous: ") as caught:
        san.parse(board, text)
    head, tail = str(caught.value).split(" is ambiguous: ")
    assert head == repr(text)
    assert {name.rstrip("+#") for name in tail.split(" or ")} == candidates
    assert (fen.write(board), board.key, board.ply) == before
    for name in tail.split(" or "):
        assert san.write(board, san.parse(board, name)) == name


@pytest.mark.parametrize("dash", "-‐‑‒–—―−")
def test_any_dash_is_a_hyphen(dash: str) -> None:
    board = fen.parse("r3k2r/8/8/8/8/8/4P3/R3K2R w KQkq - 0 1")
    for text in ("O-O", "O-O-O", "0-0-0", "e2-e4", "Ra1-b1"):
        assert san.parse(board, text.replace("-", dash)) == san.parse(board, text)
    with pytest.raises(ValueError, match="is not a legal move"):
        san.parse(board, "e2-e5".replace("-", dash))


ALPHABET = st.text("abcdefgh12345678NBRQKOx=+#-0.()!? ep", max_size=9)


@per_hundred(800, 200)
@example(STARTS[1], "\ud800\udfff")
@example(STARTS[1], "e4\0e5")
@example(STARTS[1], "O" * 10_000)
@example(STARTS[1], "♔" * 1000)
@given(st.sampled_from(STARTS), st.one_of(ALPHABET, ALPHABET, damaged(MOVES)))
def test_any_text_is_a_legal_move_or_a_value_error(position: str, text: str) -> None:
    """The same move as in python-chess, if that reads the text."""
    board = fen.parse(position)
    before = (fen.write(board), board.key, board.ply)
    try:
        move = san.parse(board, text)
    except ValueError as error:
        assert str(error).startswith(repr(text)[:20])  # noqa: PT017 - any other exception is the failure
        move = 0
    assert (fen.write(board), board.key, board.ply) == before
    if move:
        assert move in packed(board).values()
        assert coordinate.write(move)[2:4] in text or text[0] in "Oo0" or text.isdecimal()
    with contextlib.suppress(ValueError):
        theirs = chess.Board(position).parse_san(text)
        assert not theirs or coordinate.write(move) == theirs.uci()
