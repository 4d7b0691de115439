"""Linked rays: an attack array that links every piece to the nearest one in each of eight directions.

Every occupied square has eight links, each to the nearest occupied square in a direction or, if there is
none, to the first cell off the board, which links back. So a slider's captures are found without walking a
line or testing for the edge. Removing a piece links its neighbours to each other. Inserting one walks only
four rays, since the piece found on one side already links to the one on the other side. A capture changes
nothing on its target square.

Source: E. N. Kornilov, "Программирование шахмат и других логических игр" (Programming chess and other games
of logic), 2005.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from operator import index

from x88 import piece, square

if not cython.compiled:
    # isort: off
    # fmt: off
    from x88.attack import pin_of
    from x88.board import Board
    from x88.move import (
        CAPTURED, CASTLING, EN_PASSANT, MOVED_SHIFT, TARGET_SHIFT, origin_of, rook_origin, rook_target,
        target_of,
    )
    from x88.movegen import (
        MoveStack, add_capture, add_double_push, add_en_passant, add_pawn_move, castling_moves, evasions,
        king_moves, last_capture, may_castle,
    )
    from x88.piece import (
        ANY_PIECE, BISHOP, EMPTY, KIND, KNIGHT, PAWN, QUEEN, ROOK, SLIDER, WHITE, WHITE_PIECE,
    )
    from x88.sets import bit, count
    from x88.square import DIFFERENCE, NEXT_TO, NO_SQUARE, OFF_BOARD, RANK, REACH_ROW

    DIRECTIONS = 8
    BACK = 3

MOFF = piece.MOFF
STEP = piece.STEPS[QUEEN]
REACH = square.REACH


def _ray_numbers() -> list[int]:
    """RAY[to - from + 0x77]: the direction from one square to the other, for aligned squares."""
    table = [0] * REACH_ROW
    for difference in range(-DIFFERENCE, DIFFERENCE + 1):
        step = square.DIRECTION[difference + DIFFERENCE]
        if step:
            table[difference + DIFFERENCE] = STEP.index(step)
    return table


def _bare_links() -> list[int]:
    """The links of an empty board: from each cell off the board to the one at the other end of the line."""
    links = [0] * 2048
    for sq in square.SQUARES:
        for d in range(DIRECTIONS):
            near, far = sq, sq
            while not near & OFF_BOARD:
                near = near - STEP[d] & 0xFF
            while not far & OFF_BOARD:
                far = far + STEP[d] & 0xFF
            links[near << 3 | d] = far
    return links


RAY = _ray_numbers()
BARE = _bare_links()
FRONT = [QUEEN, ROOK, BISHOP, KNIGHT, PAWN]


class Rays:
    """The attack array of a board, updated with every move: `links[square << 3 | direction]`.

    Directions are numbered like the queen's steps in the moff table; `direction ^ BACK` is the opposite one.
    """

    def __init__(self) -> None:
        self.links = [0] * 2048
        self.saved = [0] * 16384
        self.depth = 0

    def reset(self, board: Board) -> None:
        """Set up the links of a position by walking all lines."""
        for i in range(2048):
            self.links[i] = BARE[i]
        for side in range(2):
            for i in range(side << 4, (side << 4) + board.count[side]):
                sq = board.pieces[i]
                for d in range(DIRECTIONS):
                    found = sq + STEP[d] & 0xFF
                    while board.squares[found] == EMPTY:
                        found = found + STEP[d] & 0xFF
                    self.links[sq << 3 | d] = found
                    self.links[found << 3 | d ^ BACK] = sq
        self.depth = 0

    def make(self, board: Board, move: int) -> None:
        """Update for a move that the board has made. At most 1024 moves can be unmade."""
        target = target_of(move)
        slot = self.depth << 4
        self.depth += 1
        self._remove(origin_of(move), slot)
        if move & EN_PASSANT:
            self._remove(target + 16 - 32 * board.side, slot | 8)
        elif move & CAPTURED:
            return
        if move & CASTLING:
            # Walks from the king's target must not find the rook, which is not linked yet.
            rook = rook_target(move)
            code = board.squares[rook]
            board.squares[rook] = EMPTY
            self._remove(rook_origin(move), slot | 8)
            self._insert(board, target)
            board.squares[rook] = code
            self._insert(board, rook)
        else:
            self._insert(board, target)

    def unmake(self, board: Board) -> None:
        """Undo `make`, after the board has unmade the move."""
        move = board.undo[board.ply].move
        target = target_of(move)
        self.depth -= 1
        slot = self.depth << 4
        if move & CASTLING:
            self._unlink(rook_target(move))
            self._unlink(target)
            self._put_back(rook_origin(move), slot | 8)
        elif not move & CAPTURED:
            self._unlink(target)
        elif move & EN_PASSANT:
            self._unlink(target)
            self._put_back(target - 16 + 32 * board.side, slot | 8)
        self._put_back(origin_of(move), slot)

    def _unlink(self, sq: int) -> None:
        """Link the neighbours of a square to each other."""
        row = sq << 3
        for d in range(DIRECTIONS):
            self.links[self.links[row | d] << 3 | d ^ BACK] = self.links[row | d ^ BACK]

    def _remove(self, sq: int, slot: int) -> None:
        """Remove the piece from a square and save its links in a slot."""
        row = sq << 3
        for d in range(DIRECTIONS):
            found = self.links[row | d]
            self.saved[slot | d] = found
            self.links[found << 3 | d ^ BACK] = self.links[row | d ^ BACK]

    def _put_back(self, sq: int, slot: int) -> None:
        """Restore a removed piece from the links saved in a slot."""
        row = sq << 3
        for d in range(DIRECTIONS):
            found = self.saved[slot | d]
            self.links[row | d] = found
            self.links[found << 3 | d ^ BACK] = sq

    def _insert(self, board: Board, sq: int) -> None:
        """Insert a piece on an empty square: four rays are walked, their ends give the other four links."""
        self._insert_on_line(board, sq, 0)
        self._insert_on_line(board, sq, 1)
        self._insert_on_line(board, sq, 4)
        self._insert_on_line(board, sq, 5)

    def _insert_on_line(self, board: Board, sq: int, d: int) -> None:
        """Insert a piece between its two neighbours on one line."""
        step = STEP[d]
        ahead = sq + step & 0xFF
        while board.squares[ahead] == EMPTY:
            ahead = ahead + step & 0xFF
        behind = self.links[ahead << 3 | d ^ BACK]
        self.links[sq << 3 | d] = ahead
        self.links[sq << 3 | d ^ BACK] = behind
        self.links[ahead << 3 | d ^ BACK] = sq
        self.links[behind << 3 | d] = sq

    def link(self, sq: int, d: int) -> int:
        """The nearest occupied square from one in a direction, or the first cell off the board."""
        return self.links[sq << 3 | d]

    def is_walked(self, board: Board) -> bool:
        """Whether all links agree with walking the lines. For tests."""
        for side in range(2):
            for i in range(side << 4, (side << 4) + board.count[side]):
                sq = board.pieces[i]
                for d in range(DIRECTIONS):
                    found = sq + STEP[d] & 0xFF
                    while board.squares[found] == EMPTY:
                        found = found + STEP[d] & 0xFF
                    if self.links[sq << 3 | d] != found or self.links[found << 3 | d ^ BACK] != sq:
                        return False
        return True


def is_attacked(board: Board, rays: Rays, target: int, side: int) -> bool:
    """Whether a piece of `side` attacks the square: `attack.is_attacked` without walking lines."""
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
    row = side * REACH_ROW + DIFFERENCE + target
    if REACH[row - board.pieces[side << 4]] & NEXT_TO:
        return True
    if board.squares[target] != EMPTY:
        for d in range(DIRECTIONS):
            code = board.squares[rays.links[target << 3 | d]]
            if code & colour and code & (ROOK if d < 4 else BISHOP):
                return True
        return False
    # An empty square has no links: use those of the aligned sliders.
    for i in range((side << 4) + 1, (side << 4) + board.count[side]):
        sq = board.pieces[i]
        if REACH[row - sq] & board.squares[sq] & SLIDER and _sees(rays, sq, target):
            return True
    return False


def _sees(rays: Rays, sq: int, target: int) -> bool:
    """Whether all squares between a piece and an aligned square are empty."""
    found = rays.links[sq << 3 | RAY[target - sq + DIFFERENCE]]
    if target > sq:
        return found >= target
    # Cells below the first rank wrap around to the highest numbers.
    return found <= target or found >= 0xE0


def find_checks_and_pins(board: Board, rays: Rays) -> None:
    """`attack.find_checks_and_pins` without walking lines."""
    checkers = pinned = 0
    side = board.side
    enemy = side ^ 1
    king = board.pieces[side << 4]
    row = enemy * REACH_ROW + DIFFERENCE + king
    for i in range((enemy << 4) + 1, (enemy << 4) + board.count[enemy]):
        sq = board.pieces[i]
        kind = board.squares[sq] & KIND
        if REACH[row - sq] & kind:
            first = king
            if kind & SLIDER:
                d = RAY[king - sq + DIFFERENCE]
                first = rays.links[sq << 3 | d]
                if (
                    first != king
                    and board.squares[first] & WHITE_PIECE << side
                    and rays.links[first << 3 | d] == king
                ):
                    pinned |= bit(first)
            if first == king:
                checkers |= bit(sq)
    board.checkers = checkers
    board.pinned = pinned


def generate(board: Board, rays: Rays, stack: MoveStack, sp: int) -> int:
    """Write all legal moves to the stack, in the same order as `movegen.generate`."""
    find_checks_and_pins(board, rays)
    if board.checkers:
        return evasions(board, stack, sp)
    return _moves(board, rays, stack, sp, True)


def generate_captures(board: Board, rays: Rays, stack: MoveStack, sp: int) -> int:
    """Write captures and promotions, or evasions in check, in the order of `movegen.generate_captures`."""
    find_checks_and_pins(board, rays)
    if board.checkers:
        return evasions(board, stack, sp)
    return _moves(board, rays, stack, sp, False)


def _moves(board: Board, rays: Rays, stack: MoveStack, sp: int, quiets: bool) -> int:
    """Write the legal moves of a side that is not in check."""
    side = board.side
    own = WHITE_PIECE << side
    enemy = own ^ ANY_PIECE
    recapture = last_capture(board)
    sp = king_moves(board, stack, sp, recapture, quiets)
    if quiets and may_castle(board):
        sp = castling_moves(board, stack, sp)
    for i in range((side << 4) + 1, (side << 4) + board.count[side]):
        origin = board.pieces[i]
        kind = board.squares[origin] & KIND
        pin = pin_of(board, origin)
        if kind & SLIDER:
            first = 0 if kind & ROOK else 4
            last = DIRECTIONS if kind & BISHOP else 4
            for d in range(first, last):
                step = STEP[d]
                if pin == 0 or step == pin or step == -pin:
                    found = rays.links[origin << 3 | d]
                    if quiets:
                        target = origin + step & 0xFF
                        while target != found:
                            stack.moves[sp] = origin | target << TARGET_SHIFT | kind << MOVED_SHIFT
                            stack.scores[sp] = 0
                            sp += 1
                            target = target + step & 0xFF
                    if board.squares[found] & enemy:
                        sp = add_capture(board, stack, sp, origin, found, recapture)
        elif kind == KNIGHT:
            # A pinned knight cannot move.
            if pin == 0:
                jx = MOFF[KNIGHT]
                while MOFF[jx]:
                    target = origin + MOFF[jx] & 0xFF
                    jx += 1
                    if board.squares[target] & enemy:
                        sp = add_capture(board, stack, sp, origin, target, recapture)
                    elif quiets and board.squares[target] == EMPTY:
                        stack.moves[sp] = origin | target << TARGET_SHIFT | KNIGHT << MOVED_SHIFT
                        stack.scores[sp] = 0
                        sp += 1
        else:
            sp = _pawn_moves(board, stack, sp, origin, recapture, quiets)
    return sp


def _pawn_moves(board: Board, stack: MoveStack, sp: int, origin: int, recapture: int, quiets: bool) -> int:
    """Write the legal moves of a pawn."""
    side = board.side
    enemy = WHITE_PIECE << (side ^ 1)
    forward = 16 - 32 * side
    pin = pin_of(board, origin)
    target = origin + forward
    if board.squares[target] == EMPTY and (pin == 0 or pin == 16 or pin == -16):
        if quiets or origin & RANK == (0x60 if side == WHITE else 0x10):
            sp = add_pawn_move(board, stack, sp, origin, target, recapture)
            if (
                origin & RANK == (0x10 if side == WHITE else 0x60)
                and board.squares[target + forward] == EMPTY
            ):
                sp = add_double_push(stack, sp, origin, target + forward)
    if board.squares[target - 1 & 0xFF] & enemy:
        sp = _pawn_capture(board, stack, sp, origin, target - 1, recapture)
    if board.squares[target + 1] & enemy:
        sp = _pawn_capture(board, stack, sp, origin, target + 1, recapture)
    if board.en_passant == target - 1 or board.en_passant == target + 1:
        sp = add_en_passant(board, stack, sp, origin)
    return sp


def captures_from_front(board: Board, rays: Rays, stack: MoveStack, sp: int) -> int:
    """Write the moves of `generate_captures` in MVV order: most valuable victim first, and for each victim
    the captures by pawns, knights, sliders and king; then promotions without capture, and en passant.
    """
    find_checks_and_pins(board, rays)
    if board.checkers:
        return evasions(board, stack, sp)
    side = board.side
    victims = (side ^ 1) << 4
    recapture = last_capture(board)
    for rank in range(5):
        code = WHITE_PIECE << (side ^ 1) | FRONT[rank]
        left = count(board.sets[code])
        i = victims
        while left:
            i += 1
            if board.squares[board.pieces[i]] == code:
                left -= 1
                sp = _captures_of(board, rays, stack, sp, board.pieces[i], recapture)
    return _other_captures(board, stack, sp, recapture)


def _captures_of(board: Board, rays: Rays, stack: MoveStack, sp: int, victim: int, recapture: int) -> int:
    """Write the legal captures of one enemy piece, searching for attackers outwards from its square."""
    side = board.side
    own = WHITE_PIECE << side
    back = 32 * side - 16
    sp = _pawn_capture(board, stack, sp, victim + back - 1, victim, recapture)
    sp = _pawn_capture(board, stack, sp, victim + back + 1, victim, recapture)
    if board.sets[own | KNIGHT]:
        jx = MOFF[KNIGHT]
        while MOFF[jx]:
            origin = victim + MOFF[jx] & 0xFF
            jx += 1
            if board.squares[origin] == own | KNIGHT and pin_of(board, origin) == 0:
                sp = add_capture(board, stack, sp, origin, victim, recapture)
    for d in range(DIRECTIONS):
        origin = rays.links[victim << 3 | d]
        code = board.squares[origin]
        if code & own and code & (ROOK if d < 4 else BISHOP):
            # On the line to its king, a pinned piece can only take the pinner.
            pin = pin_of(board, origin)
            if pin == 0 or pin == -STEP[d]:
                sp = add_capture(board, stack, sp, origin, victim, recapture)
    king = board.pieces[side << 4]
    # Not in check, so no slider attacks through the king: it can stay on its square for the test.
    if REACH[side * REACH_ROW + DIFFERENCE + victim - king] & NEXT_TO and not is_attacked(
        board, rays, victim, side ^ 1
    ):
        sp = add_capture(board, stack, sp, king, victim, recapture)
    return sp


def _pawn_capture(board: Board, stack: MoveStack, sp: int, origin: int, victim: int, recapture: int) -> int:
    """Write the capture by an own pawn on the cell `origin`, if there is one."""
    if board.squares[origin & 0xFF] == WHITE_PIECE << board.side | PAWN:
        pin = pin_of(board, origin)
        if pin == 0 or pin == victim - origin:
            return add_pawn_move(board, stack, sp, origin, victim, recapture)
    return sp


def _other_captures(board: Board, stack: MoveStack, sp: int, recapture: int) -> int:
    """Write promotions without capture, and en-passant captures."""
    side = board.side
    pawn = WHITE_PIECE << side | PAWN
    if not board.sets[pawn]:
        return sp
    forward = 16 - 32 * side
    last = 0x60 if side == WHITE else 0x10
    for file in range(8):
        origin = last | file
        if board.squares[origin] == pawn and board.squares[origin + forward] == EMPTY:
            # Any pin forbids the push: with an empty promotion square, the pin cannot be along the file.
            if pin_of(board, origin) == 0:
                sp = add_pawn_move(board, stack, sp, origin, origin + forward, recapture)
    if board.en_passant != NO_SQUARE:
        origin = board.en_passant - forward - 1
        if board.squares[origin & 0xFF] == pawn:
            sp = add_en_passant(board, stack, sp, origin)
        origin += 2
        if board.squares[origin & 0xFF] == pawn:
            sp = add_en_passant(board, stack, sp, origin)
    return sp


def perft(board: Board, depth: int) -> int:
    """The number of leaves at `depth` plies, 0 to 64, with every move made and unmade on the links.

    Raises ValueError for another depth.
    """
    depth = index(depth)
    if not 0 <= depth <= 64:
        raise ValueError(f"{depth} is not a depth from 0 to 64")
    rays, walker = Rays(), board.copy()
    walker.make_room(depth)
    rays.reset(walker)
    return play_leaves(walker, rays, MoveStack(), 0, depth)


def play_leaves(board: Board, rays: Rays, stack: MoveStack, sp: int, depth: int) -> int:
    """The number of leaves at `depth` plies. Makes and unmakes every move, and updates the rays."""
    if depth <= 0:
        return 1
    end = generate(board, rays, stack, sp)
    total = 0
    for i in range(sp, end):
        board.make_unchecked(stack.moves[i])
        rays.make(board, stack.moves[i])
        total += play_leaves(board, rays, stack, end, depth - 1)
        board.unmake_unchecked()
        rays.unmake(board)
    return total
