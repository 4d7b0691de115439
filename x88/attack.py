"""Attacks: is a square attacked, who attacks it, checks and pins, static exchange evaluation.

`is_attacked` follows "Modelarea tablei și jocului de șah" (XIII): pawns, then knights and kings by their steps, then the
lines of rook, bishop and queen until the first piece. Where the answer is wanted for the king, or for every piece of a
side, the 0x88 difference table says at once which pieces can be concerned, and only an aligned slider's line is walked.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from x88 import piece, square

if not cython.compiled:
    from x88.board import Board
    from x88.move import CAPTURED, CASTLING, EN_PASSANT, PROMOTED, PROMOTED_SHIFT, SQUARE, TARGET_SHIFT
    from x88.piece import (
        ANY_PIECE,
        BISHOP,
        EMPTY,
        KIND,
        KING,
        KNIGHT,
        PAWN,
        QUEEN,
        ROOK,
        SLIDER,
        WHITE,
        WHITE_PIECE,
    )
    from x88.square import DIFFERENCE, NEAR, NEXT_TO, OFF_BOARD, RANK, REACH_ROW

REACH = square.REACH
DIRECTION = square.DIRECTION
MOFF = piece.MOFF
VALUE = piece.VALUE


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
    row = MOFF[QUEEN]
    while MOFF[row]:
        step = MOFF[row]
        kind = ROOK if row < MOFF[QUEEN] + 4 else BISHOP
        sq = target + step & 0xFF
        if board.squares[sq] == colour | KING:
            return True
        while board.squares[sq] == EMPTY:
            sq = sq + step & 0xFF
        code = board.squares[sq]
        if code & colour and code & kind:
            return True
        row += 1
    return False


def in_check(board: Board) -> bool:
    """Whether the king of the side to move is attacked."""
    return is_attacked(board, board.pieces[board.side << 4], board.side ^ 1)


def find_checks_and_pins(board: Board) -> None:
    """Find what bears on the king of the side to move, once for all its moves.

    Sets `checkers` and `checker`, the pinned squares with the step of their line, and in `near` the enemy pieces that may
    attack a square next to the king. One pass over the enemy's piece list: REACH holds the Swedish codes, so that one AND
    with a piece's code tells whether it could reach the king; only an aligned slider is walked, from the king outwards.
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
        board.near[0] = board.pieces[enemy << 4]
        near_count = 1
    for i in range((enemy << 4) + 1, (enemy << 4) + board.count[enemy]):
        sq = board.pieces[i]
        kind = board.squares[sq] & KIND
        reach = REACH[row - sq]
        if reach >> 4 & kind:
            board.near[near_count] = sq
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
    """Whether one of the `near` pieces attacks a square next to the king; the king itself must be off its square."""
    row = (board.side ^ 1) * REACH_ROW + DIFFERENCE + target
    for i in range(board.near_count):
        sq = board.near[i]
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


def attackers(board: Board, target: int, side: int) -> list[int]:
    """The squares from which pieces of `side` attack the square, in the order of the piece list."""
    found = []
    for i in range(board.count[side]):
        sq = board.pieces[side << 4 | i]
        if _attacks(board, sq, target):
            found.append(sq)
    return found


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


def see(board: Board, move: int) -> int:
    """Static exchange evaluation: what the move wins on its target square, in centipawns.

    Both sides take there with their least valuable piece as long as that pays; pieces behind others join in as lines open,
    a pawn that takes on the last rank becomes a queen, a king takes only what is no longer protected. Pins and checks are
    not looked at. Source: the swap algorithm as described by Fritz Reul, "Static Exchange Evaluation with alpha-beta
    Approach", 2010.
    """
    if move & CASTLING:
        return 0
    origin = move & SQUARE
    target = move >> TARGET_SHIFT & SQUARE
    moved = board.squares[origin]
    side = moved >> 5
    victim_square = target
    if move & EN_PASSANT:
        victim_square = target - 16 + 32 * side
    victim = board.squares[victim_square]
    gains = [0] * 40
    gains[0] = VALUE[victim]
    at_risk = VALUE[moved]
    if move & PROMOTED:
        at_risk = VALUE[move >> PROMOTED_SHIFT & KIND]
        gains[0] += at_risk - VALUE[PAWN]
    # The squares show the exchange while it lasts: the mover is gone from its origin, an en-passant victim from its own.
    board.squares[victim_square] = EMPTY
    board.squares[origin] = EMPTY

    queue = [0] * 32
    counts = [0] * 2
    for i in range(32):
        if i & 15 < board.count[i >> 4]:
            sq = board.pieces[i]
            if sq != target and board.squares[sq] != EMPTY and _attacks(board, sq, target):
                queue[i & 16 | counts[i >> 4]] = sq
                counts[i >> 4] += 1

    last_rank = target & RANK == 0x70 or target & RANK == 0
    depth = 0
    while True:
        side ^= 1
        if counts[side] == 0:
            break
        # The least valuable attacker leaves the queue.
        best = side << 4
        for i in range((side << 4) + 1, (side << 4) + counts[side]):
            if VALUE[board.squares[queue[i]]] < VALUE[board.squares[queue[best]]]:
                best = i
        sq = queue[best]
        code = board.squares[sq]
        if code & KIND == KING and counts[side ^ 1]:
            break
        counts[side] -= 1
        queue[best] = queue[side << 4 | counts[side]]
        depth += 1
        gains[depth] = at_risk - gains[depth - 1]
        at_risk = VALUE[code]
        if last_rank and code & KIND == PAWN:
            at_risk = VALUE[QUEEN]
            gains[depth] += at_risk - VALUE[PAWN]
        # What stood behind it on the line can take now.
        step = DIRECTION[sq - target + DIFFERENCE]
        if step:
            sq = sq + step & 0xFF
            while board.squares[sq] == EMPTY:
                sq = sq + step & 0xFF
            code = board.squares[sq]
            if code & ANY_PIECE and code & REACH[target - sq + DIFFERENCE] & SLIDER:
                queue[code >> 1 & 16 | counts[code >> 5]] = sq
                counts[code >> 5] += 1
    while depth:
        depth -= 1
        if gains[depth + 1] > -gains[depth]:
            gains[depth] = -gains[depth + 1]
    board.squares[origin] = moved
    board.squares[victim_square] = victim
    return gains[0]
