"""The legal move generator, after the Swedish moff loop.

One loop serves knights, bishops, rooks and queens: the head of the moff table, indexed by the kind of piece,
points to the row of its steps. Moves are scored for ordering as they are generated:

| move | score |
|---|---|
| recapture on the square of the opponent's last capture | 6000 |
| any other capture | 2000 + SCALE * (victim - attacker) (MVV/LVA) |
| promotion | 2000 or the score of the capture, + SCALE * (new piece - pawn) |
| castling | 500 |
| quiet move | 0 |

All moves are legal: checks and pins are found once per position (`attack.find_checks_and_pins`), a pinned
piece stays on its line, the king's targets are tested with the king removed from the board, and a side in
check gets only evasions.

Source: "Draggenerator", the Swedish series on programming a chess board; pawns and legality are Moff's own.
"""

import threading
from operator import itemgetter

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from x88 import piece, square

if not cython.compiled:
    # isort: off
    # fmt: off
    from x88.attack import find_checks_and_pins, is_attacked, pin_of
    from x88.board import Board, checked_board
    from x88.move import (
        CAPTURED, CAPTURED_SHIFT, EN_PASSANT, MOVED_SHIFT, NO_MOVE, PROMOTED_SHIFT, SQUARE, TARGET_SHIFT,
        origin_of, rook_origin, target_of,
    )
    from x88.piece import (
        ANY_PIECE, BISHOP, BLACK, EMPTY, KIND, KING, KNIGHT, PAWN, QUEEN, ROOK, SLIDER, WHITE, WHITE_PIECE,
    )
    from x88.sets import bit, lowest
    from x88.square import DIFFERENCE, NEXT_TO, NO_SQUARE, OFF_BOARD, RANK, REACH_ROW, index64

    MAX_MOVES = 448
    RECAPTURE = 6000
    CAPTURE = 2000
    CASTLE = 500
    SCALE = 1

    def may_castle(board: Board) -> bool:
        """Whether castling may be possible at all: pieces of one colour next to the king on both sides rule
        it out, as in most positions with castling rights.
        """
        row = board.side << 4
        if board.castling == 0:
            return False
        return board.squares[board.paths[row]] & board.squares[board.paths[row | 8]] & ANY_PIECE == 0


MOFF = piece.MOFF
VALUE = piece.VALUE
REACH = square.REACH
DIRECTION = square.DIRECTION
ATTACKS = square.ATTACKS


class MoveStack:
    """Moves and their scores: the move lists of all plies of a search, one after the other.

    A generator writes from a given index on and returns the index after its last move, where the list of the
    next ply starts. A position has at most MAX_MOVES moves.
    """

    def __init__(self) -> None:
        self.moves = [0] * 111000
        self.scores = [0] * 111000


def generate(board: Board, stack: MoveStack, sp: int) -> int:
    """Write all legal moves with their scores from index `sp` on. Returns the index after the last."""
    find_checks_and_pins(board)
    if board.checkers:
        return evasions(board, stack, sp)
    return _moves(board, stack, sp, True)


def generate_captures(board: Board, stack: MoveStack, sp: int) -> int:
    """Write the legal captures and promotions; in check, all evasions. Returns the index after the last."""
    find_checks_and_pins(board)
    if board.checkers:
        return evasions(board, stack, sp)
    return _moves(board, stack, sp, False)


def plain_move(board: Board, origin: int, target: int) -> int:
    """The legal move between two squares, packed as by `generate`, for a side that is not in check: to verify
    a TT move. NO_MOVE if there is none.

    Any two squares are accepted, since a key collision may return a move of another position. Castling, en
    passant and promotions are left to the generator and give NO_MOVE.
    """
    if (origin | target) & ~SQUARE:
        return NO_MOVE
    side = board.side
    own = WHITE_PIECE << side
    code = board.squares[origin]
    victim = board.squares[target]
    if not code & own or victim & own or target & OFF_BOARD:
        return NO_MOVE
    kind = code & KIND
    reach = REACH[side * REACH_ROW + DIFFERENCE + target - origin]
    move = origin | target << TARGET_SHIFT | (victim & KIND) << CAPTURED_SHIFT | kind << MOVED_SHIFT
    king = board.pieces[side << 4]
    if kind == KING:
        if not reach & NEXT_TO:
            return NO_MOVE
        board.squares[origin] = EMPTY
        attacked = is_attacked(board, target, side ^ 1)
        board.squares[origin] = code
        return NO_MOVE if attacked else move
    if kind == PAWN:
        forward = 16 - 32 * side
        if target & RANK == 0x70 or target & RANK == 0:
            return NO_MOVE
        if victim:
            if not reach & PAWN:
                return NO_MOVE
        elif target == origin + 2 * forward:
            if origin & RANK != (0x10 if side == WHITE else 0x60) or board.squares[origin + forward]:
                return NO_MOVE
        elif target != origin + forward:
            return NO_MOVE
    else:
        if not reach & kind:
            return NO_MOVE
        if kind & SLIDER:
            step = DIRECTION[target - origin + DIFFERENCE]
            sq = origin + step
            while sq != target:
                if board.squares[sq]:
                    return NO_MOVE
                sq += step
    # A pinned piece stays on the line to its king.
    step = DIRECTION[origin - king + DIFFERENCE]
    if step and DIRECTION[target - king + DIFFERENCE] != step:
        sq = king + step
        while board.squares[sq] == EMPTY:
            sq += step
        if sq == origin:
            sq = sq + step & 0xFF
            while board.squares[sq] == EMPTY:
                sq = sq + step & 0xFF
            code = board.squares[sq]
            if code & (own ^ ANY_PIECE) and code & SLIDER:
                if REACH[(side ^ 1) * REACH_ROW + DIFFERENCE + king - sq] & code & KIND:
                    return NO_MOVE
    return move


def last_capture(board: Board) -> int:
    """The square on which the opponent's last move captured, or NO_SQUARE."""
    if board.ply:
        move = board.undo[board.ply - 1].move
        if move & CAPTURED:
            return target_of(move)
    return NO_SQUARE


def _capture_score(victim: int, attacker: int, recapture: bool) -> int:
    """The ordering score of a capture, by the kinds of victim and attacker."""
    return RECAPTURE if recapture else CAPTURE + SCALE * (VALUE[victim] - VALUE[attacker])


def add_capture(board: Board, stack: MoveStack, sp: int, origin: int, target: int, recapture: int) -> int:
    """Write a capture by a piece other than a pawn."""
    kind = board.squares[origin] & KIND
    victim = board.squares[target] & KIND
    stack.moves[sp] = origin | target << TARGET_SHIFT | victim << CAPTURED_SHIFT | kind << MOVED_SHIFT
    stack.scores[sp] = _capture_score(victim, kind, target == recapture)
    return sp + 1


def add_pawn_move(board: Board, stack: MoveStack, sp: int, origin: int, target: int, recapture: int) -> int:
    """Write a single push or capture by a pawn: four moves if it promotes."""
    victim = board.squares[target] & KIND
    move = origin | target << TARGET_SHIFT | victim << CAPTURED_SHIFT | PAWN << MOVED_SHIFT
    score = 0
    if victim:
        score = _capture_score(victim, PAWN, target == recapture)
    if target & RANK == 0x70 or target & RANK == 0:
        if not victim:
            score = CAPTURE
        stack.moves[sp] = move | QUEEN << PROMOTED_SHIFT
        stack.scores[sp] = score + SCALE * (VALUE[QUEEN] - VALUE[PAWN])
        stack.moves[sp + 1] = move | KNIGHT << PROMOTED_SHIFT
        stack.scores[sp + 1] = score + SCALE * (VALUE[KNIGHT] - VALUE[PAWN])
        stack.moves[sp + 2] = move | ROOK << PROMOTED_SHIFT
        stack.scores[sp + 2] = score + SCALE * (VALUE[ROOK] - VALUE[PAWN])
        stack.moves[sp + 3] = move | BISHOP << PROMOTED_SHIFT
        stack.scores[sp + 3] = score + SCALE * (VALUE[BISHOP] - VALUE[PAWN])
        return sp + 4
    stack.moves[sp] = move
    stack.scores[sp] = score
    return sp + 1


def add_double_push(stack: MoveStack, sp: int, origin: int, target: int) -> int:
    """Write a double push."""
    stack.moves[sp] = origin | target << TARGET_SHIFT | PAWN << MOVED_SHIFT
    stack.scores[sp] = 0
    return sp + 1


def add_en_passant(board: Board, stack: MoveStack, sp: int, origin: int) -> int:
    """Write the en-passant capture by the pawn on `origin` if it is legal."""
    if not board.is_en_passant_legal(origin):
        return sp
    stack.moves[sp] = (
        origin | board.en_passant << TARGET_SHIFT | PAWN << CAPTURED_SHIFT | PAWN << MOVED_SHIFT | EN_PASSANT
    )
    stack.scores[sp] = CAPTURE
    return sp + 1


def king_moves(board: Board, stack: MoveStack, sp: int, recapture: int, quiets: bool) -> int:
    """Write the king's moves except castling. Targets are tested with the king removed from the board."""
    side = board.side
    origin = board.pieces[side << 4]
    own = WHITE_PIECE << side
    if not quiets and not ATTACKS[KING << 6 | index64(origin)] & board.sides[side ^ 1]:
        return sp
    others = (board.sides[WHITE] | board.sides[BLACK]) ^ bit(origin)
    jx = MOFF[KING]
    while MOFF[jx]:
        target = origin + MOFF[jx] & 0xFF
        jx += 1
        if target & OFF_BOARD or board.squares[target] & own:
            continue
        victim = board.squares[target] & KIND
        if not victim and not quiets:
            continue
        if board.attackers_among(target, others) & board.sides[side ^ 1]:
            continue
        stack.moves[sp] = origin | target << TARGET_SHIFT | victim << CAPTURED_SHIFT | KING << MOVED_SHIFT
        stack.scores[sp] = 0
        if victim:
            stack.scores[sp] = _capture_score(victim, KING, target == recapture)
        sp += 1
    return sp


def castling_moves(board: Board, stack: MoveStack, sp: int) -> int:
    """Write the legal castling moves. The side is not in check, and its pins have been found."""
    for number in range(2 * board.side, 2 * board.side + 2):
        if is_castling_legal(board, number):
            stack.moves[sp] = board.castles[number]
            stack.scores[sp] = CASTLE
            sp += 1
    return sp


def is_castling_legal(board: Board, number: int) -> bool:
    """Whether the castling right of that number can be used now, on the terms of `castling_moves`."""
    if not board.castling >> number & 1:
        return False
    i = number << 3
    while board.squares[board.paths[i]] == EMPTY:
        i += 1
    if board.paths[i] != NO_SQUARE:
        return False
    move = board.castles[number]
    # A rook that shields the king along the first rank opens the line when it leaves. Such a rook is pinned
    # now, wherever the two end up: all squares between the slider and the king's target are empty.
    if board.pinned & bit(rook_origin(move)):
        return False
    sq = origin_of(move)
    target = target_of(move)
    step = 1 if target > sq else -1
    while sq != target:
        sq += step
        if is_attacked(board, sq, board.side ^ 1):
            return False
    return True


def _moves(board: Board, stack: MoveStack, sp: int, quiets: bool) -> int:
    """Write all legal moves of a side that is not in check, or only captures and promotions."""
    side = board.side
    own = WHITE_PIECE << side
    enemy = own ^ ANY_PIECE
    recapture = last_capture(board)
    forward = 16 - 32 * side
    start = 0x10 if side == WHITE else 0x60
    last = 0x60 if side == WHITE else 0x10

    sp = king_moves(board, stack, sp, recapture, quiets)
    if quiets and may_castle(board):
        sp = castling_moves(board, stack, sp)

    for i in range((side << 4) + 1, (side << 4) + board.count[side]):
        origin = board.pieces[i]
        kind = board.squares[origin] & KIND
        pin = pin_of(board, origin) if board.pinned else 0
        if kind & 0x0E:
            # The moff loop.
            move = origin | kind << MOVED_SHIFT
            jx = MOFF[kind]
            step = MOFF[jx]
            while step:
                if pin == 0 or step == pin or step == -pin:
                    target = origin + step & 0xFF
                    code = board.squares[target]
                    # The border ends the line at the edge: it is neither empty nor an enemy piece.
                    while code == EMPTY:
                        if quiets:
                            stack.moves[sp] = move | target << TARGET_SHIFT
                            stack.scores[sp] = 0
                            sp += 1
                        if kind & 0x02:
                            break
                        target = target + step & 0xFF
                        code = board.squares[target]
                    if code & enemy:
                        sp = add_capture(board, stack, sp, origin, target, recapture)
                jx += 1
                step = MOFF[jx]
        else:
            target = origin + forward
            if pin == 0 or pin == 16 or pin == -16:
                if board.squares[target] == EMPTY and (quiets or origin & RANK == last):
                    sp = add_pawn_move(board, stack, sp, origin, target, recapture)
                    if origin & RANK == start and board.squares[target + forward] == EMPTY:
                        sp = add_double_push(stack, sp, origin, target + forward)
            # A diagonally pinned pawn can only capture the pinning piece.
            left = target - 1 & 0xFF
            if board.squares[left] & enemy and (pin == 0 or pin == forward - 1):
                sp = add_pawn_move(board, stack, sp, origin, left, recapture)
            right = target + 1
            if board.squares[right] & enemy and (pin == 0 or pin == forward + 1):
                sp = add_pawn_move(board, stack, sp, origin, right, recapture)
            if board.en_passant == left or board.en_passant == right:
                sp = add_en_passant(board, stack, sp, origin)
    return sp


def evasions(board: Board, stack: MoveStack, sp: int) -> int:
    """Write the legal moves of a side in check: king moves, captures of the checker, interpositions."""
    side = board.side
    recapture = last_capture(board)
    sp = king_moves(board, stack, sp, recapture, True)
    if board.checkers & board.checkers - 1:
        return sp
    king = board.pieces[side << 4]
    checker = lowest(board.checkers)
    row = side * REACH_ROW + DIFFERENCE
    forward = 16 - 32 * side
    start = 0x10 if side == WHITE else 0x60

    # Target squares: that of the checker, and those between a slider and the king.
    step = 0
    if board.squares[checker] & SLIDER:
        step = DIRECTION[king - checker + DIFFERENCE]
    for i in range((side << 4) + 1, (side << 4) + board.count[side]):
        origin = board.pieces[i]
        if board.pinned & bit(origin):
            continue
        kind = board.squares[origin] & KIND
        target = checker
        while True:
            if kind == PAWN:
                if target == checker:
                    if REACH[row + target - origin] & PAWN:
                        sp = add_pawn_move(board, stack, sp, origin, target, recapture)
                elif target == origin + forward:
                    sp = add_pawn_move(board, stack, sp, origin, target, recapture)
                elif target == origin + 2 * forward and origin & RANK == start:
                    if board.squares[origin + forward] == EMPTY:
                        sp = add_double_push(stack, sp, origin, target)
            elif REACH[row + target - origin] & kind:
                sq = target
                if kind & SLIDER:
                    line = DIRECTION[target - origin + DIFFERENCE]
                    sq = origin + line
                    while sq != target and board.squares[sq] == EMPTY:
                        sq += line
                if sq == target:
                    if target == checker:
                        sp = add_capture(board, stack, sp, origin, target, recapture)
                    else:
                        stack.moves[sp] = origin | target << TARGET_SHIFT | kind << MOVED_SHIFT
                        stack.scores[sp] = 0
                        sp += 1
            if step == 0:
                break
            target += step
            if target == king:
                break
        # An en-passant capture may remove the checker or interpose.
        if kind == PAWN and board.en_passant != NO_SQUARE and REACH[row + board.en_passant - origin] & PAWN:
            sp = add_en_passant(board, stack, sp, origin)
    return sp


def legal_moves(board: Board) -> list[int]:
    """All legal moves, packed, sorted by score; equal scores keep the generator's order."""
    return [move for move, _ in scored_moves(board)]


def is_legal(board: Board, move: int) -> bool:
    """Whether a packed move is legal."""
    if not cython.compiled:
        checked_board(board)
    stack = own_stack()
    end = generate(board, stack, 0) if board.count[board.side] else 0
    for i in range(end):  # noqa: SIM110 (compiled, a loop of C)
        if stack.moves[i] == move:
            return True
    return False


def has_legal_move(board: Board) -> bool:
    """Whether the side to move has a legal move. A pawn that can step forward usually shows it."""
    find_checks_and_pins(board)
    if not board.checkers:
        pawns = board.sets[WHITE_PIECE << board.side | PAWN] & ~board.pinned
        ahead = pawns << 8 if board.side == WHITE else pawns >> 8
        if ahead & ~(board.sides[WHITE] | board.sides[BLACK]):
            return True
    return generate(board, own_stack(), 0) > 0


def scored_moves(board: Board, captures: bool = False) -> list[tuple[int, int]]:
    """The legal moves, packed, with their scores, best first; or only those of `generate_captures`."""
    if not cython.compiled:
        checked_board(board)
    if not board.count[board.side]:
        return []  # on an empty board
    stack = own_stack()
    end = generate_captures(board, stack, 0) if captures else generate(board, stack, 0)
    found = [(stack.moves[i], stack.scores[i]) for i in range(end)]
    found.sort(key=itemgetter(1), reverse=True)
    return found


_scratch = threading.local()


def own_stack() -> MoveStack:
    """The scratch stack of this thread: allocating a new one would cost more than generating a list."""
    stack: MoveStack | None = getattr(_scratch, "stack", None)
    if stack is None:
        stack = _scratch.stack = MoveStack()
    return stack
