"""Scores, compared with python-chess's."""

import itertools

import chess.engine
import pytest

import moff

PAIRS = [
    *((moff.Mate(moves), chess.engine.Mate(moves)) for moves in (0, -1, -99)),
    *((moff.Cp(cp), chess.engine.Cp(cp)) for cp in (-123, -50, 0, 30, 800)),
    *((moff.Mate(moves), chess.engine.Mate(moves)) for moves in (77, 1)),
    (moff.MateGiven, chess.engine.MateGiven),
]
"""From the worst to the best."""


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_a_score_says_what_python_chess_says(ours: moff.Score, theirs: chess.engine.Score) -> None:
    for own, their in ((ours, theirs), (-ours, -theirs)):
        assert (str(own), repr(own)) == (str(their), repr(their))
        assert (own.score(), own.mate(), own.is_mate()) == (their.score(), their.mate(), their.is_mate())
        assert own.score(mate_score=100_000) == their.score(mate_score=100_000)
        assert own.cp == getattr(their, "cp", None)
    for turn in (True, False):
        own, their = moff.PovScore(ours, turn), chess.engine.PovScore(theirs, turn)
        assert repr(own) == repr(their)
        assert [repr(own.white()), repr(own.black())] == [repr(their.white()), repr(their.black())]
        assert repr(own.pov(moff.WHITE)) == repr(their.pov(chess.WHITE))
        assert own.is_mate() == their.is_mate()


def test_scores_are_ordered() -> None:
    for (i, (a, _)), (j, (b, _)) in itertools.product(enumerate(PAIRS), repeat=2):
        assert (a < b, a == b, a > b) == (i < j, i == j, i > j)
        assert i >= j or a.wdl().expectation() <= b.wdl().expectation()
        assert (moff.PovScore(a, True) == moff.PovScore(-b, False)) == (i == j)
    assert sum(moff.Cp(40).wdl()) == 1000
    assert [moff.Mate(-0).wdl().expectation(), moff.MateGiven.wdl().expectation()] == [0, 1]
    assert len({moff.PovScore(moff.Cp(5), True), moff.PovScore(moff.Cp(-5), False)}) == 1
