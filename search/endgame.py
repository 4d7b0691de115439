"""What is known of endgames: which leads cannot be won, and how a bare king is mated."""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

if not cython.compiled:
    from x88.board import Board
    from x88.piece import ANY_PIECE, BISHOP, KIND, KNIGHT, PAWN, QUEEN, ROOK, WHITE, WHITE_PIECE
    from x88.square import FILE, NO_SQUARE

    FULL_SCALE = 64
    DRAWN_SCALE = 10
    BARE_KING_EDGE = 0
    BARE_KING_CORNER = 4
    BARE_KING_DISTANCE = 12

LISTS = {
    "bare king edge": BARE_KING_EDGE,
    "bare king corner": BARE_KING_CORNER,
    "bare king distance": BARE_KING_DISTANCE,
}
"""Where each list of numbers starts."""

NUMBERS = [0] * 20


def load(numbers: dict[str, list[tuple[int, int]]]) -> None:
    """Take over the numbers of endgames."""
    for name, start in LISTS.items():
        for i, (middlegame, endgame) in enumerate(numbers[name]):
            NUMBERS[start + i] = middlegame + endgame * 65536


def scale(board: Board, strong: int) -> int:
    """How much of its lead in the endgame the side that is ahead keeps, from 0, a draw, to FULL_SCALE.

    Up to DRAWN_SCALE the material is drawn whatever the phase, and the middlegame value is scaled too.
    """
    own = WHITE_PIECE << strong
    other = own ^ ANY_PIECE
    pawns = board.material[own | PAWN]
    if pawns > 1:
        if board.count[strong] - pawns <= 2 and _is_wrong_rook_pawn(board, strong):
            return 0
        if board.material[own | BISHOP] != 1 or board.material[other | BISHOP] != 1:
            return FULL_SCALE
    mine = _worth(board, own)
    theirs = _worth(board, other)
    if pawns > 1:
        # Bishops of opposite colours, alone or beside as many other pieces, stop pawns for good.
        if mine == theirs and _shade(board, strong) != _shade(board, strong ^ 1):
            return 30 if mine == 3 else 50
        return FULL_SCALE
    if pawns and _is_wrong_rook_pawn(board, strong):
        return 0
    if pawns == 0:
        if mine - theirs > 3:
            # Two knights do not mate a bare king.
            if mine == 6 and board.material[own | KNIGHT] == 2:
                return 0
            return FULL_SCALE
        # A minor piece ahead is not enough, and alone not even where the other side errs.
        return 0 if mine <= 3 else DRAWN_SCALE
    # The last pawn can be had for a piece.
    if theirs >= 3 and mine <= theirs:
        return 32
    return FULL_SCALE


def _worth(board: Board, colour: int) -> int:
    """A side's pieces without its pawns, in pawns, roughly."""
    return (
        3 * (board.material[colour | KNIGHT] + board.material[colour | BISHOP])
        + 5 * board.material[colour | ROOK]
        + 9 * board.material[colour | QUEEN]
    )


def _shade(board: Board, side: int) -> int:
    """The colour of the squares of a side's first bishop: 0 dark, 1 light; 2 without a bishop."""
    for i in range(side << 4, (side << 4) + board.count[side]):
        sq = board.pieces[i]
        if board.squares[sq] & KIND == BISHOP:
            return (sq >> 4) + sq & 1
    return 2


def _is_wrong_rook_pawn(board: Board, strong: int) -> bool:
    """Whether all pawns of a side that has at most a bishop besides are on one rook's file, and the other
    king holds their corner for good.
    """
    own = WHITE_PIECE << strong
    corner = NO_SQUARE
    if board.material[own | PAWN] + board.material[own | BISHOP] + 1 < board.count[strong]:
        return False
    for i in range(strong << 4, (strong << 4) + board.count[strong]):
        sq = board.pieces[i]
        if board.squares[sq] & KIND == PAWN:
            file = sq & FILE
            if (file != 0 and file != 7) or (corner != NO_SQUARE and corner & FILE != file):
                return False
            corner = (0x70 if strong == WHITE else 0) | file
    if board.material[own | BISHOP] and _shade(board, strong) == ((corner >> 4) + corner & 1):
        return False
    return _distance(board.pieces[(strong ^ 1) << 4], corner) <= 1


def mating(board: Board, strong: int) -> int:
    """What it is worth to a side that can mate a bare king to have driven it so far: both phases in one int.

    Bishop and knight mate only in a corner that the bishop attacks.
    """
    own = WHITE_PIECE << strong
    lone = board.pieces[(strong ^ 1) << 4]
    rank = lone >> 4
    file = lone & FILE
    total = NUMBERS[BARE_KING_DISTANCE + _distance(lone, board.pieces[strong << 4])]
    if board.material[own | ROOK] + board.material[own | QUEEN] or board.material[own | BISHOP] > 1:
        total += NUMBERS[BARE_KING_EDGE + min(min(rank, 7 - rank), min(file, 7 - file))]
    elif board.material[own | BISHOP] and board.material[own | KNIGHT]:
        # a1 and h8 are dark.
        corner = 0x07 if _shade(board, strong) else 0x00
        total += NUMBERS[BARE_KING_CORNER + min(_distance(lone, corner), _distance(lone, 0x77 ^ corner))]
    else:
        return 0
    return total


def _distance(a: int, b: int) -> int:
    """King moves between two squares."""
    return max(abs((a & FILE) - (b & FILE)), abs((a >> 4) - (b >> 4)))
