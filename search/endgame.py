"""Endgame knowledge: scale factors for drawish material, and mop-up evaluation against a bare king."""

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
"""Where each list of parameters starts in NUMBERS."""

NUMBERS = [0] * 20


def load(numbers: dict[str, list[tuple[int, int]]]) -> None:
    """Load the endgame parameters."""
    for name, start in LISTS.items():
        for i, (middlegame, endgame) in enumerate(numbers[name]):
            NUMBERS[start + i] = middlegame + endgame * 65536


def scale(board: Board, strong: int) -> int:
    """The scale factor of the endgame value when `strong` is ahead, from 0 (draw) to FULL_SCALE.

    Up to DRAWN_SCALE, the material is drawn in any phase and the middlegame value is scaled too.
    """
    own = WHITE_PIECE << strong
    other = own ^ ANY_PIECE
    pawns = board.material[own | PAWN]
    if pawns > 1:
        if board.count[strong] - pawns <= 2 and _is_wrong_rook_pawn(board, strong):
            return 0
        if board.material[own | BISHOP] != 1 or board.material[other | BISHOP] != 1:
            return FULL_SCALE
    mine = _piece_material(board, own)
    theirs = _piece_material(board, other)
    if pawns > 1:
        # Opposite-coloured bishops with otherwise equal pieces are drawish.
        if mine == theirs and _bishop_colour(board, strong) != _bishop_colour(board, strong ^ 1):
            return 30 if mine == 3 else 50
        return FULL_SCALE
    if pawns and _is_wrong_rook_pawn(board, strong):
        return 0
    if pawns == 0:
        if mine - theirs > 3:
            # Two knights cannot force mate.
            if mine == 6 and board.material[own | KNIGHT] == 2:
                return 0
            return FULL_SCALE
        # A minor piece more is not enough to win without pawns, and a lone minor piece cannot mate.
        return 0 if mine <= 3 else DRAWN_SCALE
    # The weak side can give a piece for the last pawn.
    if theirs >= 3 and mine <= theirs:
        return 32
    return FULL_SCALE


def _piece_material(board: Board, colour: int) -> int:
    """A side's material without its pawns, by the classic 3-3-5-9 point values."""
    return (
        3 * (board.material[colour | KNIGHT] + board.material[colour | BISHOP])
        + 5 * board.material[colour | ROOK]
        + 9 * board.material[colour | QUEEN]
    )


def _bishop_colour(board: Board, side: int) -> int:
    """The square colour of a side's first bishop: 0 dark, 1 light, 2 without a bishop."""
    for i in range(side << 4, (side << 4) + board.count[side]):
        sq = board.pieces[i]
        if board.squares[sq] & KIND == BISHOP:
            return (sq >> 4) + sq & 1
    return 2


def _is_wrong_rook_pawn(board: Board, strong: int) -> bool:
    """Whether a side with only rook pawns of one file, and perhaps a bishop of the wrong colour, cannot drive
    the defending king out of the promotion corner.
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
    if board.material[own | BISHOP] and _bishop_colour(board, strong) == ((corner >> 4) + corner & 1):
        return False
    return _distance(board.pieces[(strong ^ 1) << 4], corner) <= 1


def mop_up(board: Board, strong: int) -> int:
    """The mop-up bonus of a side that can mate a bare king, for driving it to the edge or corner; middlegame
    + endgame * 65536.

    Bishop and knight mate only in a corner of the bishop's colour.
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
        corner = 0x07 if _bishop_colour(board, strong) else 0x00
        total += NUMBERS[BARE_KING_CORNER + min(_distance(lone, corner), _distance(lone, 0x77 ^ corner))]
    else:
        return 0
    return total


def _distance(a: int, b: int) -> int:
    """The Chebyshev distance of two squares, in king moves."""
    return max(abs((a & FILE) - (b & FILE)), abs((a >> 4) - (b >> 4)))
