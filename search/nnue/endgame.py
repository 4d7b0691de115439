"""Endgame knowledge that the network lacks: dead draws, and how to mate a bare king."""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from x88.piece import checked_side

if not cython.compiled:
    from x88.board import Board
    from x88.piece import BISHOP, KIND, KNIGHT, PAWN, QUEEN, ROOK, WHITE, WHITE_PIECE
    from x88.sets import bit, count, square_colours
    from x88.square import FILE, NO_SQUARE

    DARK_AND_LIGHT = 3
    NEAR_EDGE = 30
    NEAR_CORNER = 20
    NEAR_KING = 10


def is_drawn(board: Board, strong: int) -> bool:
    """`is_drawn_unchecked` for any arguments. Raises ValueError for what is no side."""
    return is_drawn_unchecked(board, checked_side(strong))


def is_drawn_unchecked(board: Board, strong: int) -> bool:
    """Whether a side cannot win though it may be ahead: a lone minor piece, or bishops on squares of one
    colour; against an enemy without pawns also two knights, or rook pawns of one file, with or without
    bishops of the wrong colour, and the enemy king in the corner, or sure to reach it.

    Enemy pawns matter: capturing one brings a pawn onto another file, and an enemy with a pawn to move is
    not stalemated by two knights. Other enemy pieces are ignored: it is too rare that one stands in its
    king's way or can be captured.
    """
    own = WHITE_PIECE << strong
    bare_of_pawns = not board.sets[(WHITE_PIECE << (strong ^ 1)) | PAWN]
    knights = count(board.sets[own | KNIGHT])
    bishops = board.sets[own | BISHOP]
    if board.sets[own | PAWN]:
        pieces = count(board.sets[own | PAWN] | bishops) + 1
        return bare_of_pawns and pieces == board.count[strong] and _is_wrong_rook_pawn(board, strong)
    if board.sets[own | ROOK] | board.sets[own | QUEEN]:
        return False
    if not knights:
        return square_colours(bishops) != DARK_AND_LIGHT
    return not bishops and knights <= (2 if bare_of_pawns else 1)


def has_bare_king(board: Board, side: int) -> bool:
    """Whether a side has nothing but its king. Raises ValueError for what is no side."""
    return board.count[checked_side(side)] == 1


def _is_wrong_rook_pawn(board: Board, strong: int) -> bool:
    """Whether a side with only rook pawns of one file, and perhaps bishops of the wrong colour, cannot
    drive the defending king out of the promotion corner; with pawns and bishops only.
    """
    corner = NO_SQUARE
    steps = 7
    for i in range(strong << 4, (strong << 4) + board.count[strong]):
        sq = board.pieces[i]
        if board.squares[sq] & KIND == PAWN:
            file = sq & FILE
            if (file != 0 and file != 7) or (corner != NO_SQUARE and corner & FILE != file):
                return False
            corner = (0x70 if strong == WHITE else 0) | file
            steps = min(steps, abs((corner >> 4) - (sq >> 4)))
    if square_colours(board.sets[WHITE_PIECE << strong | BISHOP]) & square_colours(bit(corner)):
        return False
    distance = _distance(board.pieces[(strong ^ 1) << 4], corner)
    # From two squares away the king reaches the square diagonally next to the corner, which no bishop of the
    # wrong colour attacks, before a pawn or the other king does.
    return distance <= 1 or (
        distance == 2 and steps >= 4 and _distance(board.pieces[strong << 4], corner) >= 4
    )


def mop_up(board: Board, strong: int) -> int:
    """`mop_up_unchecked` for any arguments. Raises ValueError for what is no side."""
    return mop_up_unchecked(board, checked_side(strong))


def mop_up_unchecked(board: Board, strong: int) -> int:
    """The bonus in centipawns of a side that can mate a bare king, for driving it to the edge or corner and
    bringing its own king near.

    Bishop and knight mate only in a corner of the bishop's colour.
    """
    own = WHITE_PIECE << strong
    lone = board.pieces[(strong ^ 1) << 4]
    total = NEAR_KING * (7 - _distance(lone, board.pieces[strong << 4]))
    bishops = board.sets[own | BISHOP]
    if board.sets[own | ROOK] | board.sets[own | QUEEN] or count(bishops) > 1:
        rank = lone >> 4
        file = lone & FILE
        return total + NEAR_EDGE * (3 - min(min(rank, 7 - rank), min(file, 7 - file)))
    if bishops and board.sets[own | KNIGHT]:
        # a1 and h8 are dark.
        corner = 0x00 if square_colours(bishops) & 1 else 0x07
        return total + NEAR_CORNER * (7 - min(_distance(lone, corner), _distance(lone, 0x77 ^ corner)))
    return 0


def _distance(a: int, b: int) -> int:
    """The Chebyshev distance of two squares, in king moves."""
    return max(abs((a & FILE) - (b & FILE)), abs((a >> 4) - (b >> 4)))
