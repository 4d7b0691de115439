"""Play from the endgame tablebases alone: the legal moves by result and distance, and the best line.

Won endings are won within the fifty-move rule, lost ones held as long as possible. The winner plays the move
with the smallest DTZ, so the next capture or pawn move always comes nearer; that move itself must keep the
result, and among several the one with the best next distance is played.
"""

from typing import Final, NamedTuple

from search.syzygy.file import BLESSED_LOSS, CURSED_WIN, DRAW, LOSS, WIN
from search.syzygy.tablebase import Tablebase, before_zeroing, in_order, is_zeroing
from x88.attack import in_check
from x88.board import Board
from x88.move import CAPTURED, NO_MOVE, SQUARE, TARGET_SHIFT, moved_of, origin_of, target_of
from x88.movegen import legal_moves
from x88.notation import fen
from x88.notation.outcome import outcome
from x88.piece import PAWN

FIFTY_MOVES: Final = 100
"""Plies without a capture or pawn move after which the game is drawn."""

LETTERS: Final = "KQRBNP"


class RankedMove(NamedTuple):
    """A legal move with its tablebase result for the side that plays it."""

    move: int
    """Packed."""
    result: int
    """From LOSS to WIN, given the game's half-move clock and repetitions."""
    dtz: int
    """Plies to the next capture or pawn move that keeps the result, or to mate, this move included. Positive
    for a win, negative for a loss, 0 for a draw; beyond 100 where the fifty-move rule saves the loser. Where
    tables count in moves it may be 1 too low.
    """
    mates: bool
    following: int
    """The DTZ after a capture or pawn move, for the side that plays it, 0 after other moves."""
    repeats: bool
    """Whether the position after it has occurred before."""

    def order(self) -> tuple[int, ...]:
        """A sort key: smaller is better for the side that plays the move."""
        return (
            -self.result,
            not self.mates,
            self.dtz,
            self.following,
            self.repeats if self.result > DRAW else not self.repeats,
        )


def rank(
    tables: Tablebase, board: Board, fifty_move_rule: bool = True, by_distance: bool = True
) -> list[RankedMove] | None:
    """The legal moves, best first; None if the tables lack one of them.

    The board's half-move clock and history are those of the game: a win too late for the fifty-move rule is a
    cursed win, and so is one after which the opponent can repeat a position for the third time; a move that
    does so itself is a draw. Unless `fifty_move_rule` is set, wins too late for the rule stay wins. Without
    distances, only results are probed; DTZ is then 0, and the half-move clock is ignored.
    """
    ranked = []
    for move in legal_moves(board):
        found = _judge(tables, board, move, fifty_move_rule, by_distance)
        if found is None:
            return None
        ranked.append(found)
    return sorted(ranked, key=RankedMove.order)


def _judge(
    tables: Tablebase, board: Board, move: int, fifty_move_rule: bool, by_distance: bool
) -> RankedMove | None:
    """The tablebase result of a legal move; None if a table is missing."""
    counter = board.halfmove
    board.make(move)
    try:
        repeats = board.is_repetition(1)
        if not legal_moves(board):
            if in_check(board):
                return RankedMove(move, WIN, 1, True, 0, False)
            return RankedMove(move, DRAW, 0, False, 0, False)
        is_drawn = board.is_repetition(2)
        can_be_drawn = not is_zeroing(move) and _can_repeat(board)
        after = tables.dtz(board) if by_distance else tables.wdl(board)
    finally:
        board.unmake()
    if after is None:
        return None
    result = -result_of(after) if by_distance else -after
    dtz = following = 0
    if is_zeroing(move):
        repeats = False
        if by_distance:
            dtz, following = before_zeroing(result), -after
    elif is_drawn:
        return RankedMove(move, DRAW, 0, False, 0, True)
    elif by_distance:
        dtz = -after + (result > DRAW) - (result < DRAW)
        result = with_counter(result, dtz, counter)
    if not fifty_move_rule and result != DRAW:
        result = WIN if result > DRAW else LOSS
    if can_be_drawn and result == WIN:
        result = CURSED_WIN
    return RankedMove(move, result, dtz, False, following, repeats)


def _can_repeat(board: Board) -> bool:
    """Whether some move repeats a position for the third time."""
    if board.reversible < 7:
        return False
    for move in legal_moves(board):
        board.make(move)
        is_drawn = board.is_repetition(2)
        board.unmake()
        if is_drawn:
            return True
    return False


def result_of(dtz: int) -> int:
    """The result, from LOSS to WIN, that a DTZ means when the half-move clock is zero."""
    if dtz == 0:
        return DRAW
    if dtz > 0:
        return WIN if dtz <= FIFTY_MOVES else CURSED_WIN
    return LOSS if dtz >= -FIFTY_MOVES else BLESSED_LOSS


def with_counter(result: int, dtz: int, counter: int) -> int:
    """The result with the half-move clock at `counter` plies."""
    if abs(dtz) + counter <= FIFTY_MOVES:
        return result
    return {WIN: CURSED_WIN, LOSS: BLESSED_LOSS}.get(result, result)


def best_line(tables: Tablebase, board: Board) -> list[int]:
    """The best moves of both sides up to the end of the game (mate, stalemate, or a draw by the rules), or
    until a table is missing. The board is left unchanged.

    In a drawn ending, captures that keep the draw come first, otherwise moves back and forth.
    """
    line: list[int] = []
    board = board.copy()
    while outcome(board) is None:
        ranked = rank(tables, board)
        if ranked is None:
            break
        chosen = ranked[0].move
        if ranked[0].result == DRAW:
            chosen = _simplest([each.move for each in ranked if each.result == DRAW], line)
        line.append(chosen)
        board.make(chosen)
    return line


def _simplest(drawing: list[int], line: list[int]) -> int:
    """The drawing move that ends the game soonest: a capture, or the last move back."""
    last = line[-2] if len(line) > 1 else NO_MOVE
    back = target_of(last) | origin_of(last) << TARGET_SHIFT
    where = SQUARE | SQUARE << TARGET_SHIFT
    return min(drawing, key=lambda move: (not move & CAPTURED, move & where != back, moved_of(move) == PAWN))


def missing_table(tables: Tablebase, board: Board) -> str:
    """A missing or unusable file, such as KRvKP.rtbw, that `rank` needs for a position; empty if none."""
    found = _missing(tables, board)
    for move in [] if found else legal_moves(board):
        board.make(move)
        found = _missing(tables, board)
        board.unmake()
        if found:
            break
    return found


def _missing(tables: Tablebase, board: Board) -> str:
    """The same for the distance of a position itself."""
    found = _missing_result(tables, board)
    if found or tables.dtz(board) is not None:
        return found
    for move in legal_moves(board):
        if is_zeroing(move):
            board.make(move)
            found = _missing_result(tables, board)
            board.unmake()
            if found:
                return found
    return name_of(board) + ".rtbz"


def _missing_result(tables: Tablebase, board: Board) -> str:
    """The same for the result alone."""
    if tables.wdl(board) is not None:
        return ""
    name = name_of(board)
    for move in legal_moves(board) if len(name) <= tables.most + 1 else []:
        if move & CAPTURED:
            board.make(move)
            found = _missing_result(tables, board)
            board.unmake()
            if found:
                return found
    return name + ".rtbw"


def name_of(board: Board) -> str:
    """The name of a position's table, such as KRvKP: the side with more or stronger pieces first."""
    placement = fen.write(board).split()[0]
    white = "".join(letter * placement.count(letter) for letter in LETTERS)
    black = "".join(letter * placement.count(letter.lower()) for letter in LETTERS)
    return "v".join(in_order(white, black))
