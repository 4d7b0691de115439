"""The root moves of a search, ranked by endgame tablebases.

With distances (DTZ), the search only chooses among equally good moves, and a won ending is won whatever it
chooses. With results alone, it searches all moves that keep the best result.
"""

from search.score import mate_distance
from search.syzygy.file import DRAW
from search.syzygy.probing import Probing
from search.syzygy.ranking import RankedMove, rank
from search.syzygy.tablebase import pieces_on
from x88.board import Board


class Ranking:
    """The legal root moves ranked by tablebase results."""

    def __init__(self, probing: Probing, ranked: list[RankedMove], has_distances: bool) -> None:
        self._probing = probing
        self._ranked = {each.move: each for each in ranked}
        self._has_distances = has_distances

    def __len__(self) -> int:
        """The number of moves."""
        return len(self._ranked)

    def _of(self, move: int) -> RankedMove:
        if move not in self._ranked:
            raise ValueError(f"{move} is not a ranked move")
        return self._ranked[move]

    def place(self, move: int) -> tuple[int, ...]:
        """A sort key, smaller is better; equal for moves among which the search may choose, such as all
        draws. Raises ValueError for other moves.
        """
        ranked = self._of(move)
        return (-ranked.result,) if ranked.result == DRAW else ranked.order()

    def first(self, moves: list[int]) -> list[int]:
        """The best of some moves, all that are equally good; an empty list if there are none."""
        best = min(map(self.place, moves), default=())
        return [move for move in moves if self.place(move) == best]

    def is_settled(self) -> bool:
        """Whether the tree needs no more probes: distances say what to play, or there is nothing to win."""
        return self._has_distances or max(each.result for each in self._ranked.values()) <= DRAW

    def score(self, move: int, searched: int) -> int:
        """The score of a move: the search's if it is a mate score, otherwise that of the tables."""
        if mate_distance(searched) is not None:
            return searched
        return self._probing.score_of(self._of(move).result, 0)


def rank_root(probing: Probing, board: Board) -> Ranking | None:
    """The legal moves of a position ranked by the tables; None if one is missing or they may not be probed.

    The board's half-move clock and history are those of the game.
    """
    if board.castling or pieces_on(board) > probing.largest():
        return None
    for has_distances in (True, False):
        ranked = rank(probing.tables, board, probing.fifty_move_rule, has_distances)
        if ranked is not None:
            return Ranking(probing, ranked, has_distances) if ranked else None
    return None
