"""Scores of positions and the chances that they give, in the words of python-chess's documentation."""

from typing import NamedTuple

__all__ = ["Cp", "Mate", "MateGiven", "PovScore", "Score", "Wdl"]

_MOST = 1 << 60
"""The rank of MateGiven, more than any centipawns."""


class Wdl(NamedTuple):
    """The chances of a win, a draw and a loss, in permille."""

    wins: int
    draws: int
    losses: int

    def expectation(self) -> float:
        """The expected points, from 0 to 1."""
        return (self.wins + self.draws / 2) / sum(self)


class Score(NamedTuple):
    """A score for one side, from `Cp` or `Mate`, or MateGiven if it has mated. They are ordered: Mate(-0), if
    it has been mated, Mate(-3), Cp(-20), Cp(20), Mate(3), MateGiven.
    """

    rank: int

    def score(self, *, mate_score: int | None = None) -> int | None:
        """Centipawns. For a mate None, or `mate_score` less the moves to it."""
        if not self.is_mate():
            return self.rank
        sign = 1 if self.rank > 0 else -1
        return None if mate_score is None else self.rank + sign * (mate_score - _MOST)

    @property
    def cp(self) -> int | None:
        """Centipawns, None for a mate."""
        return self.score()

    def mate(self) -> int | None:
        """Moves to mate, negative if this side is mated; None without a mate."""
        return (_MOST if self.rank > 0 else -_MOST) - self.rank if self.is_mate() else None

    def is_mate(self) -> bool:
        """Whether it is a mate."""
        return abs(self.rank) > _MOST // 2

    def wdl(self) -> Wdl:
        """The chances in games of Moff against itself (`search.wdl`)."""
        from search.wdl import chances

        return Wdl(*chances(self.rank))

    def __neg__(self) -> "Score":
        return Score(-self.rank)

    def __str__(self) -> str:
        moves = self.mate()
        sign = "+" if self.rank > 0 else "-" if self.rank else ""
        return f"{sign}{abs(self.rank)}" if moves is None else f"#{sign}{abs(moves)}"

    def __repr__(self) -> str:
        if self.rank == _MOST:
            return "MateGiven"
        return f"{'Mate' if self.is_mate() else 'Cp'}({str(self).lstrip('#')})"


def Cp(cp: int) -> Score:
    """A score in centipawns: 100 at move 32 wins half of the games, a tablebase win is nearly 20,000."""
    return Score(cp)


def Mate(moves: int) -> Score:
    """A mate in some moves, negative if this side is mated."""
    return Score(_MOST - moves if moves > 0 else -_MOST - moves)


MateGiven = -Mate(0)


class PovScore:
    """A score that either side can look at: `relative` is that of the side `turn`."""

    def __init__(self, relative: Score, turn: bool) -> None:
        if not isinstance(relative, Score):
            raise TypeError(f"{relative!r:.80} is not a Score")
        self.relative = relative
        self.turn = turn

    def pov(self, color: bool) -> Score:
        """The score for a side."""
        return self.relative if color == self.turn else -self.relative

    def white(self) -> Score:
        """The score for White."""
        return self.pov(True)

    def black(self) -> Score:
        """The score for Black."""
        return self.pov(False)

    def is_mate(self) -> bool:
        """Whether it is a mate."""
        return self.relative.is_mate()

    def __eq__(self, other: object) -> bool:
        return self.white() == other.white() if isinstance(other, PovScore) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.white())

    def __repr__(self) -> str:
        return f"PovScore({self.relative!r}, {'WHITE' if self.turn else 'BLACK'})"
