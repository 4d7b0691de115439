"""The board: piece placement, piece lists, state, make and unmake.

A 0x88 board after "Modelarea tablei și jocului de șah" (XII), with a piece list for each side, king first,
and an undo stack for the state that cannot be restored from the move.

Methods check what they are given; those named `..._unchecked` do not, and are for C: a generator's moves, and
boards that leave them room. `make_room` keeps a quarter of the undo stack free for them.
"""

from collections.abc import Callable
from operator import index

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from x88 import piece, square, zobrist
from x88.piece import SIDES, checked_side, make_piece

if not cython.compiled:
    # isort: off
    # fmt: off
    from x88.move import (
        CAPTURED, CASTLING, EN_PASSANT, NO_MOVE, PROMOTED, castle, is_home_castling, origin_of, promoted_of,
        rook_origin, rook_target, target_of,
    )
    from x88.piece import (
        ANY_PIECE, BISHOP, BLACK, BLACK_PIECE, BORDER, CODES, EMPTY, KIND, KING, KNIGHT, PAWN, QUEEN, ROOK,
        WHITE, WHITE_PIECE,
    )
    from x88.sets import bit, diagonal, square_colours, straight
    from x88.square import FILE, NO_SQUARE, OFF_BOARD, RANK, index64

    HISTORY = 4096
    MAX_PIECES = 16
    WHITE_SHORT = 1
    WHITE_LONG = 2
    BLACK_SHORT = 4
    BLACK_LONG = 8
    ALL_RIGHTS = 15

VALUE = piece.VALUE
PIECE_KEYS = zobrist.PIECE_KEYS
CASTLING_KEYS = zobrist.CASTLING_KEYS
EN_PASSANT_KEYS = zobrist.EN_PASSANT_KEYS
TURN_KEY = zobrist.TURN_KEY
ATTACKS = square.ATTACKS

KING_HOMES = (0x04, 0x74)
"""The kings' squares in standard chess, by side."""

ROOK_HOMES = (0x07, 0x00, 0x77, 0x70)
"""The rooks' squares in standard chess, by the number of the castling right."""

LARGEST_COUNTER = 99999
"""The largest half-move clock and full-move number."""


class Board:
    """A position and the moves that led to it.

    `squares` has 256 cells: a piece code or EMPTY on the board, BORDER off it. `pieces[side << 4 | n]` is the
    square of a side's n-th piece, the king first; `slots[square]` is the index of a piece in that list.
    `count[side]` is the number of pieces of a side. `sets[code]` holds the squares of a piece code,
    `sides[side]` those of a side, as bits (`x88.sets`). `ply` is the number of moves on the undo stack.

    Castling rights belong to rooks, as Chess960 requires. `castles` holds the move of each right by its
    number: White's short and long side, Black's short and long side.
    """

    def __init__(self) -> None:
        self.squares = [BORDER] * 256
        # Compiled, these are arrays of C, which begin as zeros.
        if not cython.compiled:
            self.slots = [0] * 128
            self.pieces = [0] * 32
            self.count = [0] * 2
            self.sets = [0] * 48
            self.sides = [0] * 2
            self.castles = [0] * 4
            self.paths = [0] * 32
            self.kept_rights = [0] * 128
            self.keys = [0] * 4096
            self.moves = [0] * 4096
            self.states = [0] * 4096
            self.halfmoves = [0] * 4096
            self.reversibles = [0] * 4096
            self.checkers = 0
            self.pinned = 0
        self.clear()

    def clear(self) -> None:
        """Empty the board: no pieces, White to move, no castling rights, no history."""
        for sq in range(128):
            if not sq & OFF_BOARD:
                self.squares[sq] = EMPTY
        for code in range(CODES):
            self.sets[code] = 0
        self.sides[WHITE] = self.sides[BLACK] = 0
        self.count[WHITE] = self.count[BLACK] = 0
        self.side = WHITE
        self._set_rights(0, ROOK_HOMES)
        self.en_passant = NO_SQUARE
        self.en_passant_legal = False
        self.halfmove = 0
        self.reversible = 0
        self.fullmove = 1
        self.ply = 0
        self.key = TURN_KEY

    def setup(
        self,
        codes: bytes,
        side: int,
        castling: int,
        en_passant: int,
        halfmove: int,
        fullmove: int,
        rooks: tuple[int, ...] | None = None,
    ) -> None:
        """Set up a position: piece codes (`codes[square]`, 128 bytes), side to move, castling rights,
        en-passant square, counters, and in Chess960 the squares of the rooks that castle, by the number of
        the right.

        Each side must have exactly one king and at most 16 pieces. Castling rights without king and rook in
        place are dropped, and so is an en-passant square that no pawn can capture on. If no rooks are given,
        the places are those of standard chess; in Chess960, the king must be on its first rank with the rook
        on the right's side.

        Raises ValueError, and keeps the position, for any other number of kings or pieces, a pawn on the
        first or last rank, a check to the side that is not to move, and what is no square, code, side,
        right or counter.
        """
        en_passant, castling, halfmove, fullmove = map(index, (en_passant, castling, halfmove, fullmove))
        rooks = None if rooks is None else tuple(map(index, rooks))
        _check(codes, en_passant, castling, halfmove, fullmove, rooks)
        side = index(checked_side(side))
        before = self.copy() if self.count[WHITE] else None
        self._set_up(codes, side, castling, rooks)
        self.halfmove = halfmove
        self.fullmove = fullmove
        if not en_passant & OFF_BOARD:
            self._set_en_passant(en_passant)
        self.key = self.compute_key()
        if _attackers(self, self.king(side ^ 1), side):
            if before is None:
                self.clear()
            else:
                self._take_over(before)
            raise ValueError(f"placement: {SIDES[side ^ 1]} is in check, but {SIDES[side]} is to move")

    def _set_up(self, codes: bytes, side: int, castling: int, rooks: tuple[int, ...] | None) -> None:
        """Set pieces, side to move and castling rights. Pieces are listed as in a FEN, but kings first."""
        self.clear()
        self.count[WHITE] = self.count[BLACK] = 1
        for i in range(64):
            sq = 0x70 - (i >> 3 << 4) | i & 7
            code = codes[sq]
            if code:
                slot = code >> 5 << 4
                if code & KIND != KING:
                    slot |= self.count[code >> 5]
                    self.count[code >> 5] += 1
                self.squares[sq] = code
                self.slots[sq] = slot
                self.pieces[slot] = sq
                self.sets[code] |= bit(sq)
                self.sides[code >> 5] |= bit(sq)
        self.side = side
        self._set_rights(castling, ROOK_HOMES if rooks is None else rooks, any_king=rooks is not None)

    def _set_rights(self, rights: int, rooks: tuple[int, ...], any_king: bool = False) -> None:
        """Set those castling rights that have king and rook in place."""
        self.castling = 0
        for sq in range(128):
            self.kept_rights[sq] = ALL_RIGHTS
        for number in range(4):
            self.castles[number] = NO_MOVE
            self.paths[number << 3] = NO_SQUARE
            if rights >> number & 1 and self._is_backed(number, rooks[number], any_king):
                self._set_right(number, self.pieces[number >> 1 << 4], rooks[number])

    def _set_right(self, number: int, king: int, rook: int) -> None:
        """Set one castling right."""
        self.castling |= 1 << number
        self.kept_rights[king] &= ~(1 << number)
        self.kept_rights[rook] &= ~(1 << number)
        move = castle(king, rook)
        self.castles[number] = move
        # All squares that king and rook cross or reach, except their own; in standard chess, those next to
        # the king first.
        low = min(king, rook, target_of(move), rook_target(move))
        high = max(king, rook, target_of(move), rook_target(move))
        n = number << 3
        for i in range(high - low + 1):
            sq = high - i if rook < king else low + i
            if sq not in (king, rook):
                self.paths[n] = sq
                n += 1
        self.paths[n] = NO_SQUARE

    def _is_backed(self, number: int, rook: int, any_king: bool) -> bool:
        """Whether king and rook are in place for a castling right."""
        side = number >> 1
        home = KING_HOMES[side]
        king = self.pieces[side << 4]
        if king & RANK != home & RANK or rook & RANK != home & RANK:
            return False
        if self.squares[rook] != make_piece(side, ROOK) or (rook > king) == (number & 1):
            return False
        return any_king or king == home

    def _set_en_passant(self, passed: int) -> None:
        """Set the en-passant square if a double push may have crossed it and an enemy pawn attacks it."""
        step = 16 if self.side == WHITE else -16
        pushed, start = passed - step, passed + step
        if passed & RANK != (0x50 if self.side == WHITE else 0x20):
            return
        if self.squares[pushed] != make_piece(self.side ^ 1, PAWN):
            return
        if self.squares[passed] != EMPTY or self.squares[start] != EMPTY:
            return
        self.en_passant = passed
        self.en_passant_legal = False
        ready = False
        for origin in (pushed - 1, pushed + 1):
            if self.squares[origin & 0xFF] == make_piece(self.side, PAWN):
                ready = True
                if self.is_en_passant_legal(origin):
                    self.en_passant_legal = True
        if not ready:
            self.en_passant = NO_SQUARE

    def copy(self) -> "Board":
        """An independent board with the same position and history."""
        other = Board()
        other._take_over(self)
        return other

    def _take_over(self, other: "Board") -> None:
        """Become a copy of the other board."""
        for i in range(256):
            self.squares[i] = other.squares[i]
        for i in range(128):
            self.slots[i] = other.slots[i]
        for i in range(32):
            self.pieces[i] = other.pieces[i]
        for i in range(CODES):
            self.sets[i] = other.sets[i]
        for i in range(other.ply):
            self.keys[i] = other.keys[i]
            self.moves[i] = other.moves[i]
            self.states[i] = other.states[i]
            self.halfmoves[i] = other.halfmoves[i]
            self.reversibles[i] = other.reversibles[i]
        for i in range(2):
            self.count[i] = other.count[i]
            self.sides[i] = other.sides[i]
        self.side = other.side
        self.castling = other.castling
        for i in range(4):
            self.castles[i] = other.castles[i]
        for i in range(32):
            self.paths[i] = other.paths[i]
        for i in range(128):
            self.kept_rights[i] = other.kept_rights[i]
        self.en_passant = other.en_passant
        self.en_passant_legal = other.en_passant_legal
        self.halfmove = other.halfmove
        self.reversible = other.reversible
        self.fullmove = other.fullmove
        self.ply = other.ply
        self.key = other.key

    def compute_key(self) -> int:
        """The Polyglot key of the position, from scratch."""
        key = CASTLING_KEYS[self.castling]
        for sq in range(128):
            if self.squares[sq] & ANY_PIECE:
                key ^= PIECE_KEYS[self.squares[sq] << 7 | sq]
        if self.en_passant != NO_SQUARE:
            key ^= EN_PASSANT_KEYS[self.en_passant & FILE]
        if self.side == WHITE:
            key ^= TURN_KEY
        return key

    def key_after(self, move: int) -> int:
        """Roughly the key after a legal move, without what it changes in castling rights, en passant,
        promotion and the castling rook: good enough to prefetch by.
        """
        code = self.squares[origin_of(move)] << 7
        target = target_of(move)
        key = self.key ^ TURN_KEY ^ PIECE_KEYS[code | origin_of(move)] ^ PIECE_KEYS[code | target]
        if self.squares[target]:
            key ^= PIECE_KEYS[self.squares[target] << 7 | target]
        return key

    def check_legal(self, move: int) -> None:
        """Raise ValueError if the move is not legal here, TypeError if it is no number."""
        if not (0 < index(move) <= 0x7FFFFFFF and _is_legal(self, move)):
            raise ValueError(f"{move} is not a legal move in this position")

    def make(self, move: int) -> None:
        """Make a legal move; a nearly full undo stack drops old moves. Raises ValueError if it is illegal."""
        self.check_legal(move)
        self.make_unchecked(move)
        self.make_room()

    def make_unchecked(self, move: int) -> None:
        """Make a legal move."""
        ply = self.ply
        side = self.side
        origin = origin_of(move)
        target = target_of(move)
        code = self.squares[origin]
        key = self.key
        castling = self.castling
        self.keys[ply] = key
        self.moves[ply] = move
        self.halfmoves[ply] = self.halfmove
        self.reversibles[ply] = self.reversible
        state = castling | self.en_passant << 8 | self.en_passant_legal << 16
        self.halfmove += 1
        self.reversible += 1
        self.fullmove += side
        self.ply = ply + 1
        self.side = side ^ 1
        key ^= TURN_KEY ^ PIECE_KEYS[code << 7 | origin] ^ PIECE_KEYS[code << 7 | target]
        if self.en_passant != NO_SQUARE:
            key ^= EN_PASSANT_KEYS[self.en_passant & FILE]
            self.en_passant = NO_SQUARE
            self.en_passant_legal = False

        if move & CAPTURED:
            victim_square = target
            if move & EN_PASSANT:
                victim_square = target - 16 + 32 * side
            victim = self.squares[victim_square]
            key ^= PIECE_KEYS[victim << 7 | victim_square]
            self.sets[victim] ^= bit(victim_square)
            self.sides[side ^ 1] ^= bit(victim_square)
            # The last piece of the list takes the victim's slot; unmake restores both.
            slot = self.slots[victim_square]
            state |= slot << 20
            self.count[side ^ 1] -= 1
            last = self.pieces[(side ^ 1) << 4 | self.count[side ^ 1]]
            self.pieces[slot] = last
            self.slots[last] = slot
            self.squares[victim_square] = EMPTY
            self.halfmove = 0
            self.reversible = 0
        self.states[ply] = state

        slot = self.slots[origin]
        self.pieces[slot] = target
        self.slots[target] = slot
        self.squares[origin] = EMPTY
        self.squares[target] = code
        change = bit(origin) ^ bit(target)
        self.sets[code] ^= change
        self.sides[side] ^= change

        if castling:
            castling &= self.kept_rights[origin] & self.kept_rights[target]
            if castling != self.castling:
                key ^= CASTLING_KEYS[castling] ^ CASTLING_KEYS[self.castling]
                self.castling = castling
                self.reversible = 0

        if code & KIND == PAWN:
            self.halfmove = 0
            self.reversible = 0
            if move & PROMOTED:
                promoted = code & ANY_PIECE | promoted_of(move)
                self.squares[target] = promoted
                self.sets[code] ^= bit(target)
                self.sets[promoted] ^= bit(target)
                key ^= PIECE_KEYS[code << 7 | target] ^ PIECE_KEYS[promoted << 7 | target]
            elif origin ^ target == 0x20:  # a double push
                enemy_pawn = code ^ ANY_PIECE
                left = self.squares[target - 1 & 0xFF] == enemy_pawn
                right = self.squares[target + 1] == enemy_pawn
                if left or right:
                    self.en_passant = (origin + target) >> 1
                    key ^= EN_PASSANT_KEYS[target & FILE]
                    self.en_passant_legal = (left and self.is_en_passant_legal(target - 1)) or (
                        right and self.is_en_passant_legal(target + 1)
                    )
        elif move & CASTLING:
            key ^= self._move_rook(move, False)
        self.key = key

    def unmake(self) -> None:
        """Unmake the last move, or null move. Raises RuntimeError if there is none on the undo stack."""
        if not self.ply:
            raise RuntimeError("there is no move to unmake")
        if self.last_move() == NO_MOVE:
            self.unmake_null()
        else:
            self.unmake_unchecked()

    def unmake_unchecked(self) -> None:
        """Unmake the last move, which is no null move."""
        ply = self.ply - 1
        self.ply = ply
        side = self.side ^ 1
        self.side = side
        self.fullmove -= side
        move = self.moves[ply]
        state = self.states[ply]
        self.key = self.keys[ply]
        self.halfmove = self.halfmoves[ply]
        self.reversible = self.reversibles[ply]
        self.castling = state & 0x0F
        self.en_passant = state >> 8 & 0xFF
        self.en_passant_legal = state >> 16 & 1 != 0
        origin = origin_of(move)
        target = target_of(move)
        code = self.squares[target]
        if move & PROMOTED:
            self.sets[code] ^= bit(target)
            code = code & ANY_PIECE | PAWN
            self.sets[code] ^= bit(target)
        slot = self.slots[target]
        self.pieces[slot] = origin
        self.slots[origin] = slot
        # In this order, since a king may castle to its own square.
        self.squares[target] = EMPTY
        self.squares[origin] = code
        change = bit(origin) ^ bit(target)
        self.sets[code] ^= change
        self.sides[side] ^= change
        if move & CAPTURED:
            victim_square = target
            if move & EN_PASSANT:
                victim_square = target - 16 + 32 * side
            victim = (move & CAPTURED) >> 14 | (code & ANY_PIECE ^ ANY_PIECE)
            self.squares[victim_square] = victim
            self.sets[victim] ^= bit(victim_square)
            self.sides[side ^ 1] ^= bit(victim_square)
            slot = state >> 20
            last = self.pieces[slot]
            end = (side ^ 1) << 4 | self.count[side ^ 1]
            self.pieces[end] = last
            self.slots[last] = end
            self.pieces[slot] = victim_square
            self.slots[victim_square] = slot
            self.count[side ^ 1] += 1
        elif move & CASTLING:
            self._move_rook(move, True)

    def _move_rook(self, move: int, back: bool) -> int:
        """Move the rook of a castling move, or move it back, after the king. Returns the key's change."""
        origin, target, king = rook_origin(move), rook_target(move), target_of(move)
        if back:
            origin, target, king = target, origin, origin_of(move)
        rook = self.squares[king] & ANY_PIECE | ROOK
        # The king may stand on the rook's square by now: only the piece list still has the rook.
        slot = (rook >> 5 << 4) + 1
        while self.pieces[slot] != origin:
            slot += 1
        self.pieces[slot] = target
        self.slots[target] = slot
        if origin != king:
            self.squares[origin] = EMPTY
        self.squares[target] = rook
        change = bit(origin) ^ bit(target)
        self.sets[rook] ^= change
        self.sides[rook >> 5] ^= change
        return PIECE_KEYS[rook << 7 | origin] ^ PIECE_KEYS[rook << 7 | target]

    def make_null(self) -> None:
        """Make a null move. Raises ValueError if the side to move is in check."""
        if _attackers(self, self.king(self.side), self.side ^ 1):
            raise ValueError("a side in check cannot make a null move")
        self.make_null_unchecked()
        self.make_room()

    def make_null_unchecked(self) -> None:
        """Make a null move for a side that is not in check."""
        ply = self.ply
        self.keys[ply] = self.key
        self.moves[ply] = NO_MOVE
        self.states[ply] = self.castling | self.en_passant << 8 | self.en_passant_legal << 16
        self.halfmoves[ply] = self.halfmove
        self.reversibles[ply] = self.reversible
        self.ply = ply + 1
        self.halfmove += 1
        self.reversible = 0
        self.fullmove += self.side
        self.side ^= 1
        self.key ^= TURN_KEY
        if self.en_passant != NO_SQUARE:
            self.key ^= EN_PASSANT_KEYS[self.en_passant & FILE]
            self.en_passant = NO_SQUARE
            self.en_passant_legal = False

    def unmake_null(self) -> None:
        """Unmake a null move."""
        ply = self.ply - 1
        self.ply = ply
        state = self.states[ply]
        self.key = self.keys[ply]
        self.halfmove = self.halfmoves[ply]
        self.reversible = self.reversibles[ply]
        self.castling = state & 0x0F
        self.en_passant = state >> 8 & 0xFF
        self.en_passant_legal = state >> 16 & 1 != 0
        self.side ^= 1
        self.fullmove -= self.side

    def make_room(self) -> None:
        """Drop old moves from the undo stack in a long game: half of it, once it is three quarters full.

        The remaining moves reach back far beyond the fifty-move rule, so every repetition is still found.
        """
        if self.ply < 3 * HISTORY // 4:
            return
        gone = HISTORY // 2
        for i in range(gone, self.ply):
            self.keys[i - gone] = self.keys[i]
            self.moves[i - gone] = self.moves[i]
            self.states[i - gone] = self.states[i]
            self.halfmoves[i - gone] = self.halfmoves[i]
            self.reversibles[i - gone] = min(self.reversibles[i], i - gone)
        self.ply -= gone
        self.reversible = min(self.reversible, self.ply)

    def is_en_passant_legal(self, origin: int) -> bool:
        """Whether the pawn on `origin` can capture en passant without leaving its king in check.

        The capture empties two squares at once, so pins do not suffice: look from the king with both pawns
        gone and the capturing one on its target.
        """
        side = self.squares[origin] >> 5
        enemy = WHITE_PIECE << (side ^ 1)
        king = self.pieces[side << 4]
        victim = bit(self.en_passant - 16 + 32 * side)
        occupied = (self.sides[WHITE] | self.sides[BLACK]) ^ bit(origin) ^ victim ^ bit(self.en_passant)
        found = ATTACKS[side << 6 | index64(king)] & (self.sets[enemy | PAWN] ^ victim)
        found |= ATTACKS[KNIGHT << 6 | index64(king)] & self.sets[enemy | KNIGHT]
        found |= straight(king, occupied) & (self.sets[enemy | ROOK] | self.sets[enemy | QUEEN])
        found |= diagonal(king, occupied) & (self.sets[enemy | BISHOP] | self.sets[enemy | QUEEN])
        return found == 0

    def is_repetition(self, times: int, recent: int = 0) -> bool:
        """Whether the position has occurred at least `times` times before: 2 for threefold repetition. One
        occurrence less than `recent` plies ago is enough.

        Positions are equal if they have the same legal moves. So an en-passant square without a legal
        en-passant capture is ignored, although it is part of the key.
        """
        reversible = self.reversible
        if reversible < 4:
            return False
        key = self.key
        ply = self.ply
        back = 4
        while back <= reversible:
            i = ply - back
            past = self.keys[i]
            if back == reversible:
                # Only the oldest position, right after an irreversible move, can have an en-passant square.
                state = self.states[i]
                if state >> 8 & 0xFF != NO_SQUARE and not state >> 16 & 1:
                    past ^= EN_PASSANT_KEYS[state >> 8 & FILE]
            if past == key:
                times -= 1
                if times == 0 or back < recent:
                    return True
            back += 2
        return False

    def is_insufficient_material(self) -> bool:
        """Whether nobody can mate: bare kings, a lone knight, or bishops on squares of one colour only."""
        if self.sets[WHITE_PIECE | PAWN] | self.sets[BLACK_PIECE | PAWN]:
            return False
        if self.sets[WHITE_PIECE | ROOK] | self.sets[BLACK_PIECE | ROOK]:
            return False
        if self.sets[WHITE_PIECE | QUEEN] | self.sets[BLACK_PIECE | QUEEN]:
            return False
        if self.sets[WHITE_PIECE | KNIGHT] | self.sets[BLACK_PIECE | KNIGHT]:
            return self.count[WHITE] + self.count[BLACK] == 3
        return square_colours(self.sets[WHITE_PIECE | BISHOP] | self.sets[BLACK_PIECE | BISHOP]) != 3

    def king(self, side: int) -> int:
        """The square of a side's king. Raises ValueError for other sides, and on an empty board."""
        side = checked_side(side)
        if not self.count[side]:
            raise ValueError("there is no king on the board")
        return self.pieces[side << 4]

    def piece_at(self, sq: int) -> int:
        """The piece code on a square of the board, or EMPTY. Raises ValueError for other squares."""
        return self.squares[square.checked(sq)]

    def castling_rook(self, number: int) -> int:
        """The rook of a castling right, 0 to 3: its square, or NO_SQUARE if never held. Raises ValueError."""
        number = index(number)
        if not 0 <= number < 4:
            raise ValueError(f"{number} is not the number of a castling right, 0 to 3")
        return rook_origin(self.castles[number]) if self.castles[number] else NO_SQUARE

    def is_chess960(self) -> bool:
        """Whether a castling right is held that does not exist in standard chess."""
        held = [self.castles[number] for number in range(4) if self.castling >> number & 1]
        return not all(is_home_castling(move) for move in held)

    def last_move(self) -> int:
        """The last move on the undo stack, NO_MOVE if it is empty or a null move."""
        return self.moves[self.ply - 1] if self.ply else NO_MOVE

    def check_invariants(self) -> None:
        """Assert that all redundant data agrees with `squares`. For tests."""
        seen = {WHITE: 0, BLACK: 0}
        for sq in range(256):
            if sq & OFF_BOARD:
                assert self.squares[sq] == BORDER, f"no border at {sq:#x}"
            elif self.squares[sq] != EMPTY:
                code = self.squares[sq]
                side = code >> 5
                slot = self.slots[sq]
                assert slot >> 4 == side, f"slot of {square.name(sq)}"
                assert slot & 15 < self.count[side], f"slot of {square.name(sq)}"
                assert self.pieces[slot] == sq, f"list of {square.name(sq)}"
                assert (slot & 15 == 0) == (code & KIND == KING), "king first"
                seen[side] += 1
        assert seen == {WHITE: self.count[WHITE], BLACK: self.count[BLACK]}, "length of the piece lists"
        for code in range(CODES):
            squares = {sq for sq in square.SQUARES if self.squares[sq] == code != EMPTY}
            assert self.sets[code] == sum(bit(sq) for sq in squares), "sets"
        for side in (WHITE, BLACK):
            assert self.sides[side] == sum(self.sets[i] for i in range(CODES) if i >> 5 == side), "sides"
        assert self.key == self.compute_key(), "key"


def checked_board(board: Board) -> Board:
    """The board, if it is one. Raises TypeError."""
    if not isinstance(board, Board):
        raise TypeError(f"{board!r:.80} is not a board")
    return board


def _check(
    codes: bytes, en_passant: int, castling: int, halfmove: int, fullmove: int, rooks: tuple[int, ...] | None
) -> None:
    """Raise ValueError or TypeError if `Board.setup` cannot set this up."""
    if len(codes) != 128:
        raise ValueError(f"{len(codes)} squares instead of 128")
    # Compiled, these are arrays of C.
    if not cython.compiled:
        kings = [0, 0]
        pieces = [0, 0]
    kings[WHITE] = kings[BLACK] = pieces[WHITE] = pieces[BLACK] = 0
    for sq in range(128):
        code = codes[sq]
        if code:
            if sq & OFF_BOARD:
                raise ValueError(f"{sq} is not a square of the board")
            if code < WHITE_PIECE or code >= CODES or not VALUE[code]:
                raise ValueError(f"{code} is not the code of a piece")
            side = code >> 5
            kings[side] += code & KIND == KING
            pieces[side] += 1
            if code & KIND == PAWN and (sq < 0x10 or sq >= 0x70):
                raise ValueError(f"placement: a pawn on {square.name(sq)}")
    for side in (WHITE, BLACK):
        if kings[side] != 1:
            raise ValueError(f"placement: {SIDES[side]} has {kings[side]} kings instead of 1")
        if pieces[side] > MAX_PIECES:
            raise ValueError(f"placement: {SIDES[side]} has {pieces[side]} pieces, more than {MAX_PIECES}")
    for place in (en_passant, *(rooks or ())):
        if place != NO_SQUARE:
            square.checked(place)
    if rooks is not None and len(rooks) != 4:
        raise ValueError(f"{len(rooks)} squares of rooks instead of 4")
    if not 0 <= castling <= ALL_RIGHTS:
        raise ValueError(f"{castling} are not castling rights, 0 to {ALL_RIGHTS}")
    for counter in (halfmove, fullmove):
        if not 0 <= counter <= LARGEST_COUNTER:
            raise ValueError(f"{counter} is not a counter from 0 to {LARGEST_COUNTER}")


_rules: list[Callable[..., object]] = []


def _is_legal(board: Board, move: int) -> bool:
    """`movegen.is_legal`."""
    return bool(_loaded_rules()[0](board, move))


def _attackers(board: Board, target: int, side: int) -> object:
    """`attack.attackers`."""
    return _loaded_rules()[1](board, target, side)


def _loaded_rules() -> list[Callable[..., object]]:
    """Functions of modules that import this one, loaded at the first check."""
    if not _rules:
        from x88 import attack, movegen

        _rules.extend((movegen.is_legal, attack.attackers))
    return _rules
