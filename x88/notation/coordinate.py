"""Coordinate notation, the moves of UCI: "e2e4", "e7e8q", "e1g1" for castling.

In Chess960, castling is written as the king taking its own rook, "e1h1", because an ordinary king move may
have the same target, or the king may stand there already.
"""

from x88.board import Board
from x88.move import CASTLING, NO_MOVE, is_home_castling, origin_of, promoted_of, rook_origin, target_of
from x88.movegen import legal_moves
from x88.piece import EMPTY, KIND, LETTERS, NAMES, side_of
from x88.square import name
from x88.square import parse as parse_square


def squares(move: int, chess960: bool = False) -> tuple[int, int]:
    """The two squares in the text of a packed move. Castling is written as in Chess960 if `chess960` is set,
    or if standard chess has no such castling.
    """
    if move & CASTLING and (chess960 or not is_home_castling(move)):
        return origin_of(move), rook_origin(move)
    return origin_of(move), target_of(move)


def write(move: int, chess960: bool = False) -> str:
    """The text of a packed move, "0000" for NO_MOVE; see `squares`. Raises ValueError for other numbers."""
    if move == NO_MOVE:
        return "0000"
    origin, target = squares(move, chess960)
    promoted = promoted_of(move)
    if promoted and promoted not in LETTERS:
        raise ValueError(f"{move} is not a move")
    return name(origin) + name(target) + (LETTERS[promoted] if promoted else "")


def parse(board: Board, text: str) -> int:
    """The legal move of a text, packed; castling in either form. Raises ValueError with text and reason."""
    if not isinstance(text, str):
        raise TypeError(f"{text!r:.80} is not text")
    wanted = text.lower()
    for move in legal_moves(board):
        if write(move) == wanted or (move & CASTLING and write(move, chess960=True) == wanted):
            return move
    raise ValueError(f"{text!r} is not a legal move: {reason(board, wanted)}")


def reason(board: Board, text: str) -> str:
    """Why the text is not a legal move."""
    try:
        origin, target = parse_square(text[:2]), parse_square(text[2:4])
        if text[4:] not in ("", "q", "r", "b", "n"):
            raise ValueError
    except ValueError:
        return "it must name two squares and, for a promotion, one of q r b n, as in e2e4 or e7e8q"
    code = board.piece_at(origin)
    if code == EMPTY:
        return f"there is no piece on {name(origin)}"
    if side_of(code) != board.side:
        return f"the {NAMES[code & KIND]} on {name(origin)} does not belong to the side to move"
    pair = [move for move in legal_moves(board) if origin_of(move) == origin and target_of(move) == target]
    if pair:
        return "it must name the new piece, as in e7e8q" if promoted_of(pair[0]) else "it is not a promotion"
    return f"the {NAMES[code & KIND]} on {name(origin)} cannot go to {name(target)} in this position"
