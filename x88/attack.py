"""Attack detection, checks and pins, and static exchange evaluation.

`is_attacked` follows "Modelarea tablei și jocului de șah" (XIII): pawns, then knights and kings by their
steps, then the lines of rook, bishop and queen until the first piece. Questions about the king, or about
every piece of a side, use the 0x88 difference tables: one lookup tells which pieces could attack a square,
and only the line of an aligned slider is walked.
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
    from x88.piece import BISHOP, EMPTY, KIND, KING, KNIGHT, PAWN, QUEEN, ROOK, SLIDER, WHITE, WHITE_PIECE
    from x88.square import DIFFERENCE, NEAR, NEXT_TO, NO_SQUARE, RANK, REACH_ROW

REACH = square.REACH
DIRECTION = square.DIRECTION
MOFF = piece.MOFF
VALUE = piece.VALUE
BIT = [0 if sq & 0x88 else 1 << square.index64(sq) for sq in range(256)]
"""The bit of a square among 64, a1 the lowest and h8 the highest; none off the board."""


def _leaps(number: int, origin: int) -> int:
    """The squares, as bits, one step away: for pawns of White (0) and Black (1), knights (2), kings (3)."""
    steps = ([15, 17], [-15, -17], piece.STEPS[KNIGHT], piece.STEPS[KING])[number]
    return sum(BIT[origin + step & 0xFF] for step in steps)


LEAPS = [_leaps(number, origin) for number in range(4) for origin in range(128)]


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
    move = board.moves[board.ply - 1]
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

    Sets `checkers` and `checker`, the pinned squares with the step of their line, and in `nearby` the enemy
    pieces that may attack a square next to the king. This is one pass over the enemy's piece list: REACH
    holds the Swedish codes, so one AND with a piece's code shows whether it could attack the king. Only the
    lines of aligned sliders are walked, outwards from the king.
    """
    for i in range(board.pin_count):
        board.pins[board.pinned[i]] = 0
    pin_count = 0
    near_count = 0
    checkers = 0
    side = board.side
    enemy = side ^ 1
    own = WHITE_PIECE << side
    king = board.pieces[side << 4]
    row = enemy * REACH_ROW + DIFFERENCE + king
    if REACH[row - board.pieces[enemy << 4]] & NEAR:
        board.nearby[0] = board.pieces[enemy << 4]
        near_count = 1
    for i in range((enemy << 4) + 1, (enemy << 4) + board.count[enemy]):
        sq = board.pieces[i]
        kind = board.squares[sq] & KIND
        reach = REACH[row - sq]
        if reach >> 4 & kind:
            board.nearby[near_count] = sq
            near_count += 1
            if reach & kind:
                if kind & SLIDER:
                    step = DIRECTION[sq - king + DIFFERENCE]
                    first = king + step
                    while board.squares[first] == EMPTY:
                        first += step
                    if first == sq:
                        checkers += 1
                        board.checker = sq
                    elif board.squares[first] & own:
                        second = first + step
                        while board.squares[second] == EMPTY:
                            second += step
                        if second == sq:
                            board.pins[first] = step
                            board.pinned[pin_count] = first
                            pin_count += 1
                else:
                    checkers += 1
                    board.checker = sq
    board.checkers = checkers
    board.pin_count = pin_count
    board.near_count = near_count


def is_near_attacked(board: Board, target: int) -> bool:
    """Whether a `nearby` piece attacks a square next to the king. The king's square must be empty."""
    row = (board.side ^ 1) * REACH_ROW + DIFFERENCE + target
    for i in range(board.near_count):
        sq = board.nearby[i]
        kind = board.squares[sq] & KIND
        reach = REACH[row - sq]
        if kind == KING:
            if reach & NEXT_TO:
                return True
        elif reach & kind:
            if not kind & SLIDER:
                return True
            step = DIRECTION[sq - target + DIFFERENCE]
            first = target + step
            while board.squares[first] == EMPTY:
                first += step
            if first == sq:
                return True
    return False


def attacked_squares(board: Board, side: int) -> int:
    """The squares that a side attacks or defends, as bits, a1 the lowest and h8 the highest; pins are
    ignored.
    """
    found = 0
    for i in range(side << 4, (side << 4) + board.count[side]):
        origin = board.pieces[i]
        kind = board.squares[origin] & KIND
        if not kind & SLIDER:
            found |= LEAPS[(side if kind == PAWN else kind) << 7 | origin]
            continue
        row = MOFF[kind]
        while MOFF[row]:
            step = MOFF[row]
            row += 1
            sq = origin + step & 0xFF
            while board.squares[sq] == EMPTY:
                found |= BIT[sq]
                sq = sq + step & 0xFF
            found |= BIT[sq]
    return found


def attackers(board: Board, target: int, side: int) -> list[int]:
    """The squares of a side's attackers of `target`, in list order. Raises ValueError for bad numbers."""
    if not cython.compiled:
        checked_board(board)
    square.checked(target)
    found = []
    for i in range(board.count[piece.checked_side(side)]):
        sq = board.pieces[side << 4 | i]
        if _attacks(board, sq, target):
            found.append(sq)
    return found


def checkers(board: Board) -> list[int]:
    """The squares of the pieces that give check to the side to move."""
    return attackers(board, board.pieces[board.side << 4], board.side ^ 1)


def _attacks(board: Board, origin: int, target: int) -> bool:
    """Whether the piece on `origin` attacks `target`."""
    code = board.squares[origin]
    kind = code & KIND
    reach = REACH[(code >> 5) * REACH_ROW + DIFFERENCE + target - origin]
    if kind == KING:
        return reach & NEXT_TO != 0
    if not reach & kind:
        return False
    if kind & SLIDER:
        step = DIRECTION[origin - target + DIFFERENCE]
        sq = target + step
        while sq != origin and board.squares[sq] == EMPTY:
            sq += step
        return sq == origin
    return True


def _least_attacker(board: Board, target: int, side: int) -> int:
    """The square of the least valuable piece of `side` that attacks the square, or NO_SQUARE.

    Pieces that the exchange has removed are still listed, on empty squares.
    """
    back = target - 16 + 32 * side
    if board.squares[back - 1 & 0xFF] == WHITE_PIECE << side | PAWN:
        return back - 1
    if board.squares[back + 1 & 0xFF] == WHITE_PIECE << side | PAWN:
        return back + 1
    least = NO_SQUARE
    row = side * REACH_ROW + DIFFERENCE + target
    for i in range(side << 4, (side << 4) + board.count[side]):
        sq = board.pieces[i]
        kind = board.squares[sq] & KIND
        if kind == KING:
            if least == NO_SQUARE and REACH[row - sq] & NEXT_TO:
                least = sq
        elif kind != PAWN and REACH[row - sq] & kind:
            if least != NO_SQUARE and VALUE[kind] >= VALUE[board.squares[least]]:
                continue
            if kind & SLIDER:
                step = DIRECTION[sq - target + DIFFERENCE]
                first = target + step
                while first != sq and board.squares[first] == EMPTY:
                    first += step
                if first != sq:
                    continue
            elif kind == KNIGHT:
                return sq  # only pawns are worth less
            least = sq
    return least


def see(board: Board, move: int) -> int:
    """Static exchange evaluation: the material that the move wins on its target square, in centipawns.

    Both sides capture there with their least valuable attacker as long as that gains material. X-ray
    attackers join in as lines open, a pawn that captures on the last rank becomes a queen, and a king
    captures only undefended pieces. Pins and checks are ignored. Source: the swap algorithm as described by
    Fritz Reul, "Static Exchange Evaluation with alpha-beta Approach", 2010.

    Raises ValueError if the move is not legal.
    """
    board.check_legal(move)
    return _see(board, move)


def _see(board: Board, move: int) -> int:
    if move & CASTLING:
        return 0
    target = target_of(move)
    side = board.side
    _lift(board, move)
    at_risk = VALUE[promoted_of(move) if move & PROMOTED else moved_of(move)]
    board.gains[0] = _first_gain(board, move)
    board.lifted[0] = origin_of(move) | (WHITE_PIECE << side | moved_of(move)) << 8
    depth = 0
    while True:
        side ^= 1
        sq = _least_attacker(board, target, side)
        if sq == NO_SQUARE:
            break
        code = board.squares[sq]
        if code & KIND == KING and _least_attacker(board, target, side ^ 1) != NO_SQUARE:
            break
        depth += 1
        board.gains[depth] = at_risk - board.gains[depth - 1]
        at_risk = VALUE[code]
        if code & KIND == PAWN and (target & RANK == 0x70 or target & RANK == 0):
            at_risk = VALUE[QUEEN]
            board.gains[depth] += VALUE[QUEEN] - VALUE[PAWN]
        board.lifted[depth] = sq | code << 8
        board.squares[sq] = EMPTY
    for i in range(depth + 1):
        board.squares[board.lifted[i] & 0xFF] = board.lifted[i] >> 8
    _end_exchange(board, move)
    while depth:
        depth -= 1
        if board.gains[depth + 1] > -board.gains[depth]:
            board.gains[depth] = -board.gains[depth + 1]
    return board.gains[0]


def see_at_least(board: Board, move: int, threshold: int) -> bool:
    """Whether `see` is at least the threshold. Stops the exchange as soon as the answer is certain."""
    if move & CASTLING:
        return threshold <= 0
    # The margin over its goal of the side that captured last, if the exchange ended here.
    balance = _first_gain(board, move) - threshold
    if balance < 0:
        return False
    target = target_of(move)
    last_rank = target & RANK == 0x70 or target & RANK == 0
    # A side that stays ahead after losing the capturing piece has won, unless a pawn recaptures and promotes.
    promotion_gain = VALUE[QUEEN] - VALUE[PAWN] if last_rank else 0
    at_risk = VALUE[promoted_of(move) if move & PROMOTED else moved_of(move)]
    if balance >= at_risk + promotion_gain:
        return True
    side = board.side
    _lift(board, move)
    board.lifted[0] = origin_of(move) | (WHITE_PIECE << side | moved_of(move)) << 8
    depth = 0
    while balance < at_risk + promotion_gain:
        sq = _least_attacker(board, target, side ^ 1)
        if sq == NO_SQUARE:
            break
        code = board.squares[sq]
        if code & KIND == KING and _least_attacker(board, target, side) != NO_SQUARE:
            break
        # Exactly one side reaches its goal, so the opponent needs one centipawn more than a tie.
        balance = at_risk - balance - 1
        at_risk = VALUE[code]
        if last_rank and code & KIND == PAWN:
            at_risk = VALUE[QUEEN]
            balance += VALUE[QUEEN] - VALUE[PAWN]
        if balance < 0:
            break
        side ^= 1
        depth += 1
        board.lifted[depth] = sq | code << 8
        board.squares[sq] = EMPTY
    for i in range(depth + 1):
        board.squares[board.lifted[i] & 0xFF] = board.lifted[i] >> 8
    _end_exchange(board, move)
    return side == board.side


def _first_gain(board: Board, move: int) -> int:
    """The material that the move itself wins: its victim, and the gain of a promotion."""
    gain = VALUE[captured_of(move)]
    if move & PROMOTED:
        gain += VALUE[promoted_of(move)] - VALUE[PAWN]
    return gain


def _lift(board: Board, move: int) -> None:
    """Remove the moving piece from the board, and an en-passant victim."""
    board.squares[origin_of(move)] = EMPTY
    if move & EN_PASSANT:
        board.squares[target_of(move) - 16 + 32 * board.side] = EMPTY


def _end_exchange(board: Board, move: int) -> None:
    """Put an en-passant victim back."""
    if move & EN_PASSANT:
        victim = WHITE_PIECE << (board.side ^ 1) | PAWN
        board.squares[target_of(move) - 16 + 32 * board.side] = victim
