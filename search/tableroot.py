"""The moves of a search's root, judged by endgame tablebases.

With distances (DTZ) a search only has to choose between moves that are equally good, and a won ending is won
whatever it chooses. With results alone it searches all the moves that keep the best one.
"""

from search.probing import Probing
from search.score import mate_distance
from search.tablebase import pieces_on
from search.tablefile import DRAW
from search.tableplay import RankedMove, rank
from x88.board import Board


class Ranking:
    """The legal moves of a root by what the tables say."""

    def __init__(self, probing: Probing, ranked: list[RankedMove], has_distances: bool) -> None:
        self._probing = probing
        self._ranked = {each.move: each for each in ranked}
        self._has_distances = has_distances

    def __len__(self) -> int:
        """The number of moves."""
        return len(self._ranked)

    def place(self, move: int) -> tuple[int, ...]:
        """The smaller, the better; equal for moves of which the search may choose any. All draws are."""
        ranked = self._ranked[move]
        return (-ranked.result,) if ranked.result == DRAW else ranked.order()

    def first(self, moves: list[int]) -> list[int]:
        """The best of some moves, those that are equally good; an empty list if there are none."""
        best = min(map(self.place, moves), default=())
        return [move for move in moves if self.place(move) == best]

    def is_settled(self) -> bool:
        """Whether the tables need not be asked any more inside the tree: distances say what to play, or there
        is nothing to win.
        """
        return self._has_distances or max(each.result for each in self._ranked.values()) <= DRAW

    def score(self, move: int, searched: int) -> int:
        """The score of a move, given the one that a search has found: that of the tables, but a mate is told
        as the search has found it.
        """
        if mate_distance(searched) is not None:
            return searched
        return self._probing.score_of(self._ranked[move].result, 0)


def rank_root(probing: Probing, board: Board) -> Ranking | None:
    """The legal moves of a position by the tables; None if they do not know all of them, or may not be asked.

    The board's counter and history are those of the game.
    """
    if board.castling or pieces_on(board) > probing.largest():
        return None
    for has_distances in (True, False):
        ranked = rank(probing.tables, board, probing.heeds_fifty, has_distances)
        if ranked is not None:
            return Ranking(probing, ranked, has_distances) if ranked else None
    return None
