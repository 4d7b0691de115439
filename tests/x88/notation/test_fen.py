"""FEN in and out: what is accepted says the same to python-chess, what is refused says why."""

import chess
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from search.benchmark import POSITIONS
from tests.oracle import STARTS, Game, games_or_placements, reference_texts, scaled, texts
from tests.strategies import damaged, per_hundred
from x88.notation import fen
from x88.square import NO_SQUARE


@settings(max_examples=scaled(200, 100))
@given(games_or_placements())
@example(Game("8/8/8/KPp4r/8/8/8/7k w - c6 0 1", b""))  # the pawn that could capture is pinned
def test_a_fen_is_read_and_written_as_python_chess_does(game: Game) -> None:
    for board, position in game.positions():
        text = position.fen(en_passant="fen")
        other = fen.parse(text)
        other.check_invariants()
        assert fen.write(other) == fen.write(board) == position.fen()
        for field in ("key", "side", "castling", "en_passant", "en_passant_legal", "halfmove", "fullmove"):
            assert getattr(other, field) == getattr(board, field), field
        assert (other.ply, other.reversible) == (0, 0)
        mirror = fen.mirrored(board)
        assert fen.write(mirror) == chess.Board(fen.write(board)).mirror().fen(en_passant="legal")
        back = fen.mirrored(mirror)
        assert (fen.write(back), back.key) == (fen.write(board), board.key)


# --- Short forms and spaces


WHOLE = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"
ASSUMED = [
    "the FEN has no side to move: w is assumed",
    "the FEN has no castling rights: - is assumed",
    "the FEN has no en-passant square: - is assumed",
    "the FEN has no half-move clock: 0 is assumed",
    "the FEN has no full-move number: 1 is assumed",
]


def test_a_subclass_of_str_is_text() -> None:
    class Text(str):
        pass

    assert fen.write(fen.parse(Text(fen.START))) == fen.START
    with pytest.raises(ValueError, match="castling: 'x'"):
        fen.parse(Text(fen.START.replace("KQkq", "x")))


@pytest.mark.parametrize("count", range(1, 7))
def test_missing_fields_are_assumed_and_named(count: int) -> None:
    text = " ".join(WHOLE.split()[:count])
    remarks: list[str] = []
    assert fen.write(fen.parse(text)) == fen.write(fen.parse(text, remarks)) == WHOLE
    assert remarks == ASSUMED[count - 1 :]


@pytest.mark.parametrize(
    ("position", "ignored"),
    [
        (WHOLE, "bm e4;"),
        (WHOLE, "; D1 6 ;D2 30"),
        (WHOLE, "1"),
        ("4k3/8/8/8/8/8/4P3/4K3 w - -", 'bm e4; id "A; 1";'),
        ("4k3/8/8/8/8/8/4P3/4K3 w - - 0", "acd 9;"),
        ("4k3/8/8/8/8/8/4P3/4K3", ";"),
        (WHOLE, "x" * 100_000),
    ],
)
def test_a_caller_of_remarks_gets_one_for_text_after_the_fen(position: str, ignored: str) -> None:
    fields = len(position.split())
    named = ignored if len(ignored) <= 60 else f"{ignored[:60]}..."
    for text in (f"{position} {ignored}", *[f"{position}{ignored}"] * (ignored[0] == ";")):
        remarks: list[str] = []
        assert fen.write(fen.parse(text, remarks)) == WHOLE
        assert remarks == [f"{named!r} after the FEN is ignored", *ASSUMED[fields - 1 :]]
    with pytest.raises(ValueError, match="bad FEN"):
        fen.parse(f"{position} {ignored}")


@pytest.mark.parametrize("text", ["", ";", "{} - - -1 1", "{} KX -", "{} KQ bm"])
def test_an_error_adds_no_remark(text: str) -> None:
    remarks = ["before"]
    with pytest.raises(ValueError, match="bad FEN"):
        fen.parse(text.format("4k3/8/8/8/8/8/4P3/4K3 w"), remarks)
    assert remarks == ["before"]


@pytest.mark.parametrize(
    ("text", "counters"),
    [
        ("4k3/8/8/8/8/8/4P3/4K3 b - - 7", "7 1"),
        ("4k3/8/8/8/8/8/4P3/4K3 b - - 99999 00031", "99999 31"),
        ("  4k3/8/8/8/8/8/4P3/4K3   b\t-  -  7 31\r\n", "7 31"),
        ("4k3/8/8/8/8/8/4P3/4K3\u2003b\xa0-\x85-\x1c7 31", "7 31"),
        # Some programs count the first move as 0.
        ("4k3/8/8/8/8/8/4P3/4K3 b - - 0 0", "0 1"),
        ("4k3/8/8/8/8/8/4P3/4K3 b - - - -", "0 1"),
        ("4k3/8/8/8/8/8/4P3/4K3 b - - 7 -", "7 1"),
    ],
)
def test_four_five_and_six_fields_are_read(text: str, counters: str) -> None:
    assert fen.write(fen.parse(text)) == f"4k3/8/8/8/8/8/4P3/4K3 b - - {counters}"


# --- Rights and squares that are dropped


@pytest.mark.parametrize(
    ("text", "kept", "remark"),
    [
        ("r3k2r/8/8/8/8/8/8/R3K2R w qkQK - 0 1", "KQkq", ""),
        ("3k3r/8/8/8/8/8/8/4K3 w k - 0 1", "-", "k is dropped: Black's king is not on e8"),
        ("r3k2r/8/8/8/8/8/8/R4K1R w KQkq - 0 1", "kq", "Q is dropped: White's king is not on e1"),
        ("n3k2n/8/8/8/8/8/8/B3K2B w KQkq - 0 1", "-", "q is dropped: Black has no rook on a8"),
        # Rooks of the other side.
        ("R2nkn1R/8/8/8/8/8/8/r2NKN1r b KQkq - 0 1", "-", "K is dropped: White has no rook on h1"),
    ],
)
def test_castling_rights_without_king_and_rook_at_home_are_dropped_with_a_remark(
    text: str, kept: str, remark: str
) -> None:
    remarks: list[str] = []
    assert fen.write(fen.parse(text, remarks)).split()[2] == kept
    assert len(remarks) == len(text.split()[2]) - len(kept.replace("-", ""))
    assert f"the castling right {remark}" in remarks or not remark


@pytest.mark.parametrize(
    "text",
    [
        # No pawn has just passed over.
        "4k3/8/8/4P3/8/8/8/4K3 w - d6 0 1",
        "4k3/8/8/3nP3/8/8/8/4K3 w - d6 0 1",
        "4k3/8/8/3PP3/8/8/8/4K3 w - d6 0 1",
        "4k3/8/3n4/3pP3/8/8/8/4K3 w - d6 0 1",
        "4k3/3n4/8/3pP3/8/8/8/4K3 w - d6 0 1",
        # The wrong rank.
        "4k3/8/8/3pP3/8/8/8/4K3 b - e6 0 1",
        "4k3/8/8/8/3pP3/8/8/4K3 w - d5 0 1",
        "4k3/3p4/4P3/8/8/8/8/4K3 w - d8 0 1",
    ],
)
def test_an_en_passant_square_no_pawn_can_use_is_dropped(text: str) -> None:
    board = fen.parse(text)
    assert board.en_passant == NO_SQUARE
    assert fen.write(board).split()[3] == "-"
    board.check_invariants()


# --- Errors

PLACEMENT = "4k3/8/8/8/8/8/4P3/4K3"


@pytest.mark.parametrize(
    ("text", "field", "reason"),
    [
        # The number of fields.
        ("", "fields", "0 fields"),
        (f"{PLACEMENT} w - 0", "en passant", "'0' is not a square"),
        (f"{PLACEMENT} w - - 0 1 1", "fields", "7 fields"),
        # Ranks.
        ("4k3/8/8/8/8/8/4K3 w - - 0 1", "placement", "7 ranks"),
        ("4k3/8/8/7/8/8/8/4K3 w - - 0 1", "placement", "rank 5 ('7') has 7 squares"),
        ("4k3/8/8/8p/8/8/8/4K3 w - - 0 1", "placement", "rank 5 ('8p') has 9 squares"),
        ("4k3/35/8/8/8/8/8/4K3 w - - 0 1", "placement", "'35' on rank 7 is not one number"),
        # Letters.
        ("4k3/8/8/3x4/8/8/8/4K3 w - - 0 1", "placement", "'x' on rank 5 is not a piece"),
        ("4k3/8/8/9/8/8/8/4K3 w - - 0 1", "placement", "'9' on rank 5 is not a piece"),
        ("4k3/8/8/۲p4/8/8/8/4K3 w - - 0 1", "placement", "'۲' on rank 5 is not a piece"),
        # Kings.
        ("8/8/8/8/8/8/4P3/4K3 w - - 0 1", "placement", "Black has 0 kings"),
        ("4k3/8/8/8/8/8/4P3/K3K3 w AD - 0 1", "placement", "White has 2 kings"),
        # Pawns where none can be, and more pieces than a side has.
        ("4k2P/8/8/8/8/8/8/4K3 w - - 0 1", "placement", "a pawn on h8"),
        ("4k3/8/8/8/8/8/8/p3K3 w - - 0 1", "placement", "a pawn on a1"),
        ("4k3/8/8/8/8/P7/PPPPPPPP/RNBQKBNR w - - 0 1", "placement", "White has 17 pieces"),
        # The side not to move in check.
        ("4k3/8/8/8/8/8/4R3/4K3 w - - 0 1", "placement", "Black is in check, but White is to move"),
        ("4k3/8/8/8/8/8/4r3/4K3 b - - 0 1", "placement", "White is in check, but Black is to move"),
        # The side to move.
        (f"{PLACEMENT} x - - 0 1", "side to move", "'x' is neither w nor b"),
        # Castling.
        (f"{PLACEMENT} w X - 0 1", "castling", "'X'"),
        (f"{PLACEMENT} w KK - 0 1", "castling", "'KK' is neither"),
        (f"{PLACEMENT} w -K - 0 1", "castling", "'-K'"),
        # En passant.
        (f"{PLACEMENT} w - e9 0 1", "en passant", "'e9' is not a square"),
        # Counters.
        (f"{PLACEMENT} w - - x 1", "half-move clock", "'x' is not a whole number"),
        (f"{PLACEMENT} w - - -1 1", "half-move clock", "'-1' is not a whole number"),
        (f"{PLACEMENT} w - - 1_0 1", "half-move clock", "'1_0' is not a whole number"),
        (f"{PLACEMENT} w - - ١ 1", "half-move clock", "'١' is not a whole number"),
        (f"{PLACEMENT} w - - 100000000 1", "half-move clock", "'100000000' is not a whole number"),
        (f"{PLACEMENT} w - - 0 {'9' * 5000}", "full-move number", "is not a whole number"),
        (f"{PLACEMENT} w - - 0 4294967297", "full-move number", "'4294967297' is not a whole number"),
    ],
)
def test_an_error_names_the_text_the_field_and_the_reason(text: str, field: str, reason: str) -> None:
    with pytest.raises(ValueError, match="bad FEN") as caught:
        fen.parse(text)
    message = str(caught.value)
    assert repr(text) in message
    assert field in message.replace(repr(text), "")
    assert reason in message.replace(repr(text), "")
    assert caught.value.__cause__ is None


# --- Damage


@pytest.mark.slow
@per_hundred(1000, 500)
@given(
    damaged([*STARTS, *POSITIONS]) | st.text("/12345678pnbrqkPNBRQK wb-KQkqabcdefgh0129xé\0\n٣", max_size=90)
)
@example("8/8/8/3pP3/8/5n2/8/4K2k w - d6 0 1")
def test_a_damaged_fen_is_read_or_a_value_error(text: str) -> None:
    remarks: list[str] = []
    try:
        board = fen.parse(text)
    except ValueError as error:
        assert repr(text) in str(error)  # noqa: PT017 - any other exception is the failure looked for
        try:
            board = fen.parse(text, remarks)
        except ValueError:
            return
        assert remarks
    board.check_invariants()
    written = fen.write(board)
    assert fen.write(fen.parse(written)) == written
    position = chess.Board(written)
    assert not position.was_into_check()
    assert texts(board) == reference_texts(position)
