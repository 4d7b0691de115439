"""Attack detection, checks and pins, and static exchange evaluation.

`is_attacked` follows "Modelarea tablei și jocului de șah" (XIII): pawns, then knights and kings by their
steps, then the lines of rook, bishop and queen until the first piece. Questions about the king use the 0x88
difference tables: one lookup tells which pieces could attack a square, and only the line of an aligned slider
is walked. Questions about every piece of a side use sets of squares (`x88.sets`).
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from x88 import piece, square

if not cython.compiled:
    # isort: off
    # fmt: off
    from x88.board import Board, checked_board
    from x88.move import (
        CASTLING, EN_PASSANT, NO_MOVE, PROMOTED, captured_of, moved_of, origin_of, promoted_of, rook_origin,
        rook_target, target_of,
    )
    from x88.piece import (
        BISHOP, BLACK, EMPTY, KIND, KING, KNIGHT, PAWN, QUEEN, ROOK, SLIDER, WHITE, WHITE_PIECE,
    )
    from x88.sets import bit, diagonal, lowest, pawn_attacks, straight
    from x88.square import DIAGONAL, DIFFERENCE, NEXT_TO, RANK, REACH_ROW, index64

REACH = square.REACH
DIRECTION = square.DIRECTION
MOFF = piece.MOFF
VALUE = piece.VALUE
ATTACKS = square.ATTACKS


def is_attacked(board: Board, target: int, side: int) -> bool:
    """Whether a piece of `side` attacks the square."""
    colour = WHITE_PIECE << side
    back = -16 if side == WHITE else 16
    if board.squares[target + back - 1 & 0xFF] == colour | PAWN:
        return True
    if board.squares[target + back + 1 & 0xFF] == colour | PAWN:
        return True
    row = MOFF[KNIGHT]
    while MOFF[row]:
        if board.squares[target + MOFF[row] & 0xFF] == colour | KNIGHT:
            return True
        row += 1
    if REACH[side * REACH_ROW + DIFFERENCE + target - board.pieces[side << 4]] & NEXT_TO:
        return True
    return _line_attacked(board, target, colour, ROOK) or _line_attacked(board, target, colour, BISHOP)


def _line_attacked(board: Board, target: int, colour: int, kind: int) -> bool:
    """Whether a slider of this kind, or a queen, attacks the square. The first piece on each line decides."""
    row = MOFF[kind]
    while MOFF[row]:
        step = MOFF[row]
        sq = target + step & 0xFF
        while board.squares[sq] == EMPTY:
            sq = sq + step & 0xFF
        code = board.squares[sq]
        if code & colour and code & kind:
            return True
        row += 1
    return False


def in_check(board: Board) -> bool:
    """Whether the king of the side to move is attacked."""
    if not cython.compiled:
        checked_board(board)
    return is_attacked(board, board.pieces[board.side << 4], board.side ^ 1)


def last_move_checks(board: Board) -> bool:
    """Whether the last move gave check: `in_check` for a position reached by `make` or `make_null`.

    Only the piece that moved can give check, directly or by discovery, so two lookups in the difference
    tables decide most moves.
    """
    if board.ply == 0:
        return in_check(board)
    move = board.undo[board.ply - 1].move
    if move & (CASTLING | EN_PASSANT):
        return in_check(board)
    if move == NO_MOVE:
        return False
    king = board.pieces[board.side << 4]
    origin = origin_of(move)
    target = target_of(move)
    code = board.squares[target]
    row = (board.side ^ 1) * REACH_ROW + DIFFERENCE + king
    if code & KIND != KING and REACH[row - target] & code & KIND:
        if not code & SLIDER:
            return True
        step = DIRECTION[target - king + DIFFERENCE]
        sq = king + step
        while board.squares[sq] == EMPTY:
            sq += step
        if sq == target:
            return True
    step = DIRECTION[origin - king + DIFFERENCE]
    if step == 0:
        return False
    sq = king + step & 0xFF
    while board.squares[sq] == EMPTY:
        sq = sq + step & 0xFF
    code = board.squares[sq]
    return code & WHITE_PIECE << (board.side ^ 1) != 0 and REACH[row - sq] & code & SLIDER != 0


def gives_check(board: Board, move: int) -> bool:
    """Whether a legal move gives check. Promotions and en-passant captures are not supported."""
    if move & CASTLING:
        return _castling_checks(board, move)
    side = board.side
    king = board.pieces[(side ^ 1) << 4]
    row = side * REACH_ROW + DIFFERENCE + king
    origin = origin_of(move)
    target = target_of(move)
    kind = moved_of(move)
    if kind != KING and REACH[row - target] & kind:
        if not kind & SLIDER:
            return True
        step = DIRECTION[target - king + DIFFERENCE]
        sq = king + step
        while sq != target and (board.squares[sq] == EMPTY or sq == origin):
            sq += step
        if sq == target:
            return True
    step = DIRECTION[origin - king + DIFFERENCE]
    if step == 0 or step == DIRECTION[target - king + DIFFERENCE]:
        return False
    sq = king + step & 0xFF
    while board.squares[sq] == EMPTY or sq == origin:
        sq = sq + step & 0xFF
    code = board.squares[sq]
    return code & WHITE_PIECE << side != 0 and REACH[row - sq] & code & SLIDER != 0


def _castling_checks(board: Board, move: int) -> bool:
    """Whether a legal castling move gives check: tried out on the board, since four squares change."""
    side = board.side
    own = WHITE_PIECE << side
    origin = origin_of(move)
    target = target_of(move)
    rook = rook_origin(move)
    rook_to = rook_target(move)
    board.squares[origin] = EMPTY
    board.squares[rook] = EMPTY
    board.squares[target] = own | KING
    board.squares[rook_to] = own | ROOK
    found = is_attacked(board, board.pieces[(side ^ 1) << 4], side)
    board.squares[target] = EMPTY
    board.squares[rook_to] = EMPTY
    board.squares[origin] = own | KING
    board.squares[rook] = own | ROOK
    return found


def find_checks_and_pins(board: Board) -> None:
    """Find checkers and pins of the side to move, once for all its moves.

    Sets `checkers` and `pinned`. Only the lines of sliders that would check on an empty board are walked,
    outwards from the king.
    """
    side = board.side
    enemy = WHITE_PIECE << (side ^ 1)
    king = board.pieces[side << 4]
    number = index64(king)
    checkers = ATTACKS[side << 6 | number] & board.sets[enemy | PAWN]
    checkers |= ATTACKS[KNIGHT << 6 | number] & board.sets[enemy | KNIGHT]
    pinned = 0
    queens = board.sets[enemy | QUEEN]
    aligned = ATTACKS[ROOK << 6 | number] & (board.sets[enemy | ROOK] | queens)
    aligned |= ATTACKS[DIAGONAL << 6 | number] & (board.sets[enemy | BISHOP] | queens)
    while aligned:
        sq = lowest(aligned)
        aligned &= aligned - 1
        step = DIRECTION[sq - king + DIFFERENCE]
        first = king + step
        while board.squares[first] == EMPTY:
            first += step
        if first == sq:
            checkers |= bit(sq)
        elif not board.squares[first] & enemy:
            second = first + step
            while board.squares[second] == EMPTY:
                second += step
            if second == sq:
                pinned |= bit(first)
    board.checkers = checkers
    board.pinned = pinned


def pin_of(board: Board, sq: int) -> int:
    """The step from the king to a pinned piece of the side to move, 0 if the piece is not pinned."""
    if board.pinned & bit(sq):
        return DIRECTION[sq - board.pieces[board.side << 4] + DIFFERENCE]
    return 0


def attacked_squares(board: Board, side: int) -> int:
    """The squares that a side attacks or defends, as bits; pins are ignored."""
    own = WHITE_PIECE << side
    occupied = board.sides[WHITE] | board.sides[BLACK]
    found = pawn_attacks(board.sets[own | PAWN], side)
    found |= ATTACKS[KING << 6 | index64(board.pieces[side << 4])]
    pieces = board.sets[own | KNIGHT]
    while pieces:
        found |= ATTACKS[KNIGHT << 6 | index64(lowest(pieces))]
        pieces &= pieces - 1
    pieces = board.sets[own | ROOK] | board.sets[own | QUEEN]
    while pieces:
        found |= straight(lowest(pieces), occupied)
        pieces &= pieces - 1
    pieces = board.sets[own | BISHOP] | board.sets[own | QUEEN]
    while pieces:
        found |= diagonal(lowest(pieces), occupied)
        pieces &= pieces - 1
    return found


def attackers(board: Board, target: int, side: int) -> list[int]:
    """The squares of a side's attackers of `target`, in list order. Raises ValueError for bad numbers."""
    if not cython.compiled:
        checked_board(board)
    target, side = square.checked(target), piece.checked_side(side)
    found = board.attackers_among(target, board.sides[WHITE] | board.sides[BLACK])
    squares = [board.pieces[side << 4 | i] for i in range(board.count[side])]
    return [sq for sq in squares if found & bit(sq)]


def checkers(board: Board) -> list[int]:
    """The squares of the pieces that give check to the side to move."""
    return attackers(board, board.pieces[board.side << 4], board.side ^ 1)


def see(board: Board, move: int) -> int:
    """Static exchange evaluation: the material that the move wins on its target square, in centipawns.

    Both sides capture there with their least valuable attacker as long as that gains material. X-ray
    attackers join in as lines open, a pawn that captures on the last rank becomes a queen, and a king
    captures only undefended pieces. Pins and checks are ignored. Source: the swap algorithm as described by
    Fritz Reul, "Static Exchange Evaluation with alpha-beta Approach", 2010.

    Raises ValueError if the move is not legal.
    """
    board.check_legal(move)
    # Bisect between bounds that no exchange can exceed.
    least, most = -2 * VALUE[QUEEN], 2 * VALUE[QUEEN]
    while least < most:
        middle = least + most + 1 >> 1
        if see_at_least(board, move, middle):
            least = middle
        else:
            most = middle - 1
    return least


def see_at_least(board: Board, move: int, threshold: int) -> bool:
    """Whether `see` is at least the threshold. Stops the exchange as soon as the answer is certain."""
    if move & CASTLING:
        return threshold <= 0
    # The margin over its goal of the side that captured last, if the exchange ended here.
    balance = VALUE[captured_of(move)] - threshold
    at_risk = VALUE[moved_of(move)]
    if move & PROMOTED:
        at_risk = VALUE[promoted_of(move)]
        balance += at_risk - VALUE[PAWN]
    if balance < 0:
        return False
    target = target_of(move)
    # A side that stays ahead after losing the capturing piece has won, unless a pawn recaptures and promotes.
    promotion_gain = VALUE[QUEEN] - VALUE[PAWN] if target & RANK == 0x70 or target & RANK == 0 else 0
    if balance >= at_risk + promotion_gain:
        return True
    side = board.side
    occupied = (board.sides[WHITE] | board.sides[BLACK]) ^ bit(origin_of(move))
    if move & EN_PASSANT:
        occupied ^= bit(target - 16 + 32 * side)
    while balance < at_risk + promotion_gain:
        taker = _least_attacker(board, target, side ^ 1, occupied)
        if not taker:
            break
        kind = board.squares[lowest(taker)] & KIND
        if kind == KING and _least_attacker(board, target, side, occupied):
            break
        # Exactly one side reaches its goal, so the opponent needs one centipawn more than a tie.
        balance = at_risk - balance - 1
        at_risk = VALUE[kind]
        if kind == PAWN and promotion_gain:
            at_risk = VALUE[QUEEN]
            balance += promotion_gain
        if balance < 0:
            break
        side ^= 1
        occupied ^= taker
    return side == board.side


def _least_attacker(board: Board, target: int, side: int, occupied: int) -> int:
    """The least valuable piece of `side` on the occupied squares that attacks the square, as a bit; 0 if
    there is none.
    """
    number = index64(target)
    own = WHITE_PIECE << side
    found = ATTACKS[(side ^ 1) << 6 | number] & board.sets[own | PAWN] & occupied
    if not found:
        found = ATTACKS[KNIGHT << 6 | number] & board.sets[own | KNIGHT] & occupied
    if found:
        return found & -found
    queens = board.sets[own | QUEEN]
    across = ATTACKS[DIAGONAL << 6 | number] & (board.sets[own | BISHOP] | queens) & occupied
    if across:
        across &= diagonal(target, occupied)
        if across & board.sets[own | BISHOP]:
            return _first_listed(board, across & board.sets[own | BISHOP])
    along = ATTACKS[ROOK << 6 | number] & (board.sets[own | ROOK] | queens) & occupied
    if along:
        along &= straight(target, occupied)
        if along & board.sets[own | ROOK]:
            return _first_listed(board, along & board.sets[own | ROOK])
    if along | across:
        return _first_listed(board, along | across)
    return ATTACKS[KING << 6 | number] & board.sets[own | KING] & occupied


def _first_listed(board: Board, pieces: int) -> int:
    """Of these pieces, the first in its piece list, as a bit."""
    first = lowest(pieces)
    pieces &= pieces - 1
    while pieces:
        sq = lowest(pieces)
        pieces &= pieces - 1
        if board.slots[sq] < board.slots[first]:
            first = sq
    return bit(first)
