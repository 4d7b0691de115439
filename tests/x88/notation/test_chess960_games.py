"""Chess960 in UCI, PGN, the console, the board page and pictures."""

import io
import subprocess
from collections.abc import Iterator
from pathlib import Path

import chess
import chess.pgn
import pytest

from moff.page.tab import Tab
from moff.page.tabview import snapshot
from moff.picture.picture import Picture
from tests.client import ENGINE, Conversation
from x88.notation import chess960, coordinate, fen, pgn, san
from x88.notation.game import OngoingGame

pytestmark = pytest.mark.slow

CASTLES = "4k3/8/8/8/8/8/8/1R3KR1 w GB - 0 1"
"""Both sides of White's king, as Shredder-FEN."""

SWAP = 3
"""The number of BQNNRKRB, where king and rook may change places at once."""


# UCI.


def moves_of(moff: Conversation) -> set[str]:
    moff.send("moves")
    return {line.split()[-1] for line in moff.ready()}


def test_the_option_decides_how_castling_is_written_and_kqkq_read(moff: Conversation) -> None:
    home, inner = "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "4k3/8/8/8/8/8/8/1R3KR1 w KQ - 0 1"
    moff.send(f"position fen {inner}")
    assert sum("is dropped" in line for line in moff.ready()) == 1
    moff.send("setoption name UCI_Chess960 value true", f"position fen {inner}", "d")
    assert f"Fen: {inner}" in moff.ready()
    moff.send(f"position fen {home}")
    assert {"e1h1", "e1a1"} <= moves_of(moff)
    moff.send("setoption name UCI_Chess960 value false", f"position fen {home}")
    assert {"e1g1", "e1c1"} <= moves_of(moff)
    # King takes rook is read without the option.
    moff.send(f"position fen {home} moves e1h1", "d")
    assert "Fen: 4k3/8/8/8/8/8/8/R4RK1 b - - 1 1" in moff.ready()
    moff.send(f"position fen {CASTLES} moves f1g1", "d")
    assert "Fen: 4k3/8/8/8/8/8/8/1R3RK1 b - - 1 1" in moff.ready()


@pytest.mark.parametrize("number", [0, 959])
def test_a_game_against_itself_is_legal(moff: Conversation, number: int) -> None:
    position = chess.Board.from_chess960_pos(number)
    start = position.fen()
    moff.send("setoption name UCI_Chess960 value true", "ucinewgame")
    moves: list[str] = []
    while len(moves) < 24 and not position.is_game_over():
        moff.send(f"position fen {start} moves {' '.join(moves)}".removesuffix(" moves "), "go nodes 300")
        answer = moff.until("bestmove")[-1].split()[1]
        assert chess.Move.from_uci(answer) in position.legal_moves
        position.push_uci(answer)
        moves.append(answer)
    assert len(moves) >= 10


# PGN.


def played(start: str, *texts: str) -> OngoingGame:
    game = OngoingGame(start, chess960=True)
    for text in texts:
        game.play(san.parse(game.board, text))
    return game


@pytest.mark.parametrize("variant", ["", "Chess960", "Fischerandom", "chess 960"])
def test_pgn_has_variant_setup_and_fen_and_is_read_again(variant: str) -> None:
    start = chess960.start(SWAP)
    game = played(start, "O-O", "e5", "e4", "O-O", "Ne3")
    text = pgn.write(game.record({"Variant": variant} if variant else {}))
    assert f'[Variant "{variant or "Chess960"}"]' in text
    assert '[SetUp "1"]' in text
    assert f'[FEN "{start}"]' in text
    (again,) = pgn.Reader(io.BytesIO(text.encode()))
    assert again.faults == []
    assert [move.move for move in again.moves] == game.moves
    theirs = chess.pgn.read_game(io.StringIO(text))
    assert theirs is not None
    assert theirs.errors == []
    assert theirs.end().board().fen(en_passant="legal") == fen.write(game.board)


# The command line.


@pytest.mark.parametrize("number", [["0"], []])
def test_moff_play_sets_up_a_start_position_by_its_number_or_at_random(
    number: list[str], tmp_path: Path
) -> None:
    ended = subprocess.run(
        [*ENGINE, "play", "--chess960", *number, "--depth", "1"],
        input="fen\nnew chess960 959\nfen\nnew\nfen\nnew chess960 960\nquit\n",
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=True,
        cwd=tmp_path,
    )
    drawn = int(ended.stdout.split("Start position ")[1].split()[0])
    assert not number or drawn == 0
    for start in (chess960.start(drawn), chess960.start(959), fen.START):
        assert start in ended.stdout
    assert "from 0 to 959, not '960'" in ended.stdout


# The board page.


@pytest.fixture
def tab() -> Iterator[Tab]:
    made = Tab()
    yield made
    made.close()


def test_the_page_offers_chess960_and_castles_by_the_rook(tab: Tab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chess960, "draw", lambda: SWAP)
    tab.do("new_game", {"colour": "both", "chess960": True})
    state = snapshot(tab, "state")
    assert state["said"] == "A new game from start position 3 of Chess960"
    assert state["fen"] == chess960.start(SWAP)
    assert "f1g1" in state["moves"]
    tab.do("move", {"text": "f1g1"})
    assert snapshot(tab, "tree")["moves"][-1]["uci"] == "f1g1"
    state = snapshot(tab, "state")
    assert state["fen"] == "bqnnrkrb/pppppppp/8/8/8/8/PPPPPPPP/BQNNRRKB b kq - 1 1"
    assert '[Variant "Chess960"]' in tab.pgn()
    tab.do("new_game", {"colour": "both", "chess960": True, "number": 959})
    for wrong in (960, -1, "3", None):
        with pytest.raises(ValueError, match="start position of Chess960 takes a whole number from 0 to 959"):
            tab.do("new_game", {"colour": "both", "chess960": True, "number": wrong})
    assert snapshot(tab, "state")["fen"] == chess960.start(959)


def test_the_page_castles_by_the_king_s_target_or_its_rook_where_both_are_clear(tab: Tab) -> None:
    tab.do("set_up", {"text": "r3k3/8/8/8/8/8/8/R3K1R1 w GAa - 0 1"})
    castles = {text for text in snapshot(tab, "state")["moves"] if text in ("e1g1", "e1c1", "e1a1")}
    assert castles == {"e1g1", "e1c1", "e1a1"}
    tab.do("move", {"text": "e1a1"})
    assert snapshot(tab, "state")["fen"].startswith("r3k3/8/8/8/8/8/8/2KR2R1 b")
    tab.do("set_up", {"text": "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"})
    assert {"e1g1", "e1c1", "e1h1", "e1a1"} <= set(snapshot(tab, "state")["moves"])


def test_a_picture_marks_king_and_rook_of_castling() -> None:
    board = fen.parse(CASTLES)
    move = coordinate.parse(board, "f1g1")
    board.make(move)
    assert Picture(board, last_move=move).last_move == ("f1", "g1")
