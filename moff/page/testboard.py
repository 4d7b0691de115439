"""The test board as values: scored moves, the attack map, piece values, the last search's two plies.

After "Testbräde för draggeneratorn" of the Swedish series "Draggenerator".
"""

from typing import Any, NamedTuple

from moff import evaluation
from search.nodecounts import NodeCounts
from search.score import from_table, mate_distance, normalised
from search.transposition import EXACT, LOWER, TranspositionTable, bound_of, depth_of, score_of
from x88 import square
from x88.attack_map import AttackMap
from x88.board import Board
from x88.movegen import legal_moves
from x88.notation import coordinate, diagram, san
from x88.piece import BLACK, SIDES, WHITE, letter, make_piece, side_of

TREE_PLIES = 2


def moves(board: Board) -> dict[str, Any]:
    """The legal moves of both sides in the generator's order: by side, "to_move", "moves" with score, SAN and
    coordinates, and "reason" why there are none, empty if there are.
    """
    found = {}
    for side, name in SIDES.items():
        listed = diagram.moves_of(board, side)
        found[name] = {
            "to_move": board.side == side,
            "reason": f"none, as {SIDES[board.side]} is in check" if listed is None else "",
            "moves": [move._asdict() for move in listed or ()],
        }
    return found


def attacks(board: Board) -> dict[str, Any]:
    """The attack map: by square, for White and Black, how many attack it, the letter of the least valuable of
    them, and how many sliders stand behind another piece on a line to it.
    """
    attack_map = AttackMap()
    attack_map.compute(board)
    return {
        square.name(sq): [_attackers(attack_map, sq, side) for side in (WHITE, BLACK)]
        for sq in square.SQUARES
    }


def _attackers(attack_map: AttackMap, sq: int, side: int) -> dict[str, Any]:
    kind = attack_map.least_kind(sq, side)
    return {
        "count": attack_map.count(sq, side),
        "least": letter(make_piece(side, kind)) if kind else "",
        "behind": attack_map.count_behind(sq, side),
    }


def piece_values(board: Board) -> dict[str, int]:
    """The value of each piece but the kings to its own side in centipawns, by square (`moff.evaluation`)."""
    return {
        square.name(sq): value if side_of(board.piece_at(sq)) == WHITE else -value
        for sq, value in evaluation.piece_values(board).items()
    }


class Branch(NamedTuple):
    """A search's result for a move: the normalised score for the side that makes it, its bound (">=", "<=",
    or empty if exact), the depth in plies after the move, and its nodes, None where not counted.
    """

    move: int
    san: str
    score: int
    bound: str
    depth: int
    nodes: int | None
    replies: list["Branch"]

    def as_dict(self) -> dict[str, Any]:
        """The branch for JSON; the replies likewise."""
        return {
            "san": self.san,
            "coordinates": coordinate.write(self.move),
            "score": self.score,
            "mate": mate_distance(self.score),
            "bound": self.bound,
            "depth": self.depth,
            "nodes": self.nodes,
            "replies": [reply.as_dict() for reply in self.replies],
        }


def tree(board: Board, table: TranspositionTable, counts: NodeCounts | None = None) -> list[Branch]:
    """The tree that a search of a position has left in its table, two plies deep: the deepest results first,
    and among those the best. What the table no longer holds, or what was never stored, is missing. `counts`
    are those of the last search.
    """
    if counts is not None and not counts.is_of(board.key):
        counts = None

    def branches(moves: list[int]) -> list[Branch]:
        found = []
        for move in legal_moves(line):
            text = san.write(line, move)
            line.make(move)
            if data := table.probe(line.key):
                now = [*moves, move]
                score = -normalised(from_table(score_of(data), len(now)))
                # The table's bounds are those of the side that replies.
                bound = bound_of(data)
                sign = "" if bound == EXACT else "<=" if bound == LOWER else ">="
                nodes = None if counts is None else counts.nodes(*now)
                replies = branches(now) if len(now) < TREE_PLIES else []
                found.append(Branch(move, text, score, sign, depth_of(data), nodes, replies))
            line.unmake()
        return sorted(found, key=lambda branch: (-branch.depth, branch.bound != "", -branch.score))

    line = board.copy()
    return branches([])
