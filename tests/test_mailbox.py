"""Moff against the mailbox generator of the tests, and both against the lists of the Italian article."""

import pytest
from hypothesis import given, settings

from tests import mailbox
from tests.oracle import Game, games_or_placements, packed, texts
from x88.notation import fen

LISTS = (
    (
        "",
        "a2a3 a2a4 b2b3 b2b4 c2c3 c2c4 d2d3 d2d4 e2e3 e2e4 f2f3 f2f4 g2g3 g2g4 h2h3 h2h4 b1a3 b1c3 g1f3 g1h3",
    ),
    (
        "e2e4",
        "b8a6 b8c6 g8f6 g8h6 a7a6 a7a5 b7b6 b7b5 c7c6 c7c5 d7d6 d7d5 e7e6 e7e5 f7f6 f7f5 g7g6 g7g5 h7h6 h7h5",
    ),
    (
        "e2e4 d7d5",
        "e4d5 e4e5 a2a3 a2a4 b2b3 b2b4 c2c3 c2c4 d2d3 d2d4 f2f3 f2f4 g2g3 g2g4 h2h3 h2h4 b1a3 b1c3 d1e2 d1f3 "
        "d1g4 d1h5 e1e2 f1e2 f1d3 f1c4 f1b5 f1a6 g1f3 g1h3 g1e2",
    ),
)
"""The moves played and the list that LaMoSca logged then."""


@pytest.mark.parametrize(("played", "printed"), LISTS)
def test_both_find_the_moves_that_the_article_prints(played: str, printed: str) -> None:
    board, position = fen.parse(fen.START), mailbox.Position.from_fen(fen.START)
    for text in played.split():
        board.make(packed(board)[text])
        position = position.play(next(move for move in position.legal() if str(move) == text))
    assert texts(board) == set(printed.split())
    assert sorted(map(str, position.pseudo_legal())) == sorted(printed.split())


def test_the_inner_table_is_the_one_of_the_article() -> None:
    assert mailbox.INNER[:8] == [21, 22, 23, 24, 25, 26, 27, 28]
    assert mailbox.INNER[56:] == [91, 92, 93, 94, 95, 96, 97, 98]
    assert len(mailbox.MAILBOX) == 120
    # The article's example: the knight on 36.
    targets = sorted(mailbox.step(36, vector) for vector in mailbox.VECTORS["n"])
    assert targets == [19, 21, 26, 30, 42, 46, 51, 53]


@settings(max_examples=100)
@given(games_or_placements(longest=40))
def test_moff_and_the_mailbox_find_the_same_moves(game: Game) -> None:
    position = mailbox.Position.from_fen(game.fen)
    for board, reference in game.positions():
        if reference.move_stack:
            last = reference.peek().uci()
            position = position.play(next(move for move in position.legal() if str(move) == last))
        assert texts(board) == set(map(str, position.legal()))
