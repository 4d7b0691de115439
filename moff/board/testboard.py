"""The test board as values: the generator's moves with their scores, the attack map, what each piece is
worth, and what the last search knows of the next two plies.

After "Testbräde för draggeneratorn" of the Swedish series "Draggenerator".
"""

from typing import Any, NamedTuple

from search.evaluate import Evaluation
from search.score import LONGEST_MATE, mate_distance
from search.table import EXACT, LOWER, TranspositionTable, bound_of, depth_of, score_of
from x88 import coordinate, diagram, san, square
from x88.attack_map import AttackMap
from x88.board import Board
from x88.movegen import legal_moves
from x88.piece import BLACK, EMPTY, KIND, KING, SIDES, WHITE, letter, make_piece, side_of


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


def worths(board: Board) -> dict[str, int]:
    """What each piece but the kings is worth to the static evaluation in centipawns, by square: how much
    better it is for its side than the same position without the piece.
    """
    placement = {sq: board.piece_at(sq) for sq in square.SQUARES if board.piece_at(sq) != EMPTY}
    evaluation = Evaluation()
    evaluation.reset(board)
    whole = evaluation.value(board)
    found = {}
    for sq, code in placement.items():
        if code & KIND == KING:
            continue
        others = {other: piece for other, piece in placement.items() if other != sq}
        without = Board()
        without.setup(others, board.side, board.castling, board.en_passant, board.halfmove, board.fullmove)
        evaluation.reset(without)
        lost = whole - evaluation.value(without)
        found[square.name(sq)] = lost if side_of(code) == board.side else -lost
    return found


class Branch(NamedTuple):
    """What the transposition table knows of a move: the score in centipawns for the side that makes it, its
    bound (">=", "<=", or empty if it is exact), and the depth in plies after the move.
    """

    move: int
    san: str
    score: int
    bound: str
    depth: int
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
            "replies": [reply.as_dict() for reply in self.replies],
        }


def tree(board: Board, table: TranspositionTable, plies: int = 2) -> list[Branch]:
    """The tree that a search has left in its table, so many plies deep: the deepest results first, and among
    those the best. What the table no longer holds, or what was never stored, is missing.
    """
    return _branches(board.copy(), table, plies, 1)


def _branches(board: Board, table: TranspositionTable, plies: int, ply: int) -> list[Branch]:
    found = []
    for move in legal_moves(board):
        text = san.write(board, move)
        board.make(move)
        data = table.probe(board.key)
        if data:
            score = -_at_root(score_of(data), ply)
            # The table's bounds are those of the side that replies.
            bound = bound_of(data)
            sign = "" if bound == EXACT else "<=" if bound == LOWER else ">="
            replies = _branches(board, table, plies - 1, ply + 1) if plies > 1 else []
            found.append(Branch(move, text, score, sign, depth_of(data), replies))
        board.unmake()
    return sorted(found, key=lambda branch: (-branch.depth, branch.bound != "", -branch.score))


def _at_root(score: int, ply: int) -> int:
    """A score of the table, whose mates count from their own position, as seen so many plies before it."""
    if abs(score) < LONGEST_MATE:
        return score
    return score - ply if score > 0 else score + ply
