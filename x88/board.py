"""The board: piece placement, piece lists, state, make and unmake.

A 0x88 board after "Modelarea tablei și jocului de șah" (XII), with a piece list for each side, king first,
and an undo stack for the state that cannot be restored from the move.

Methods check what they are given; those named `..._unchecked` do not, and are for C: a generator's moves, and
boards that leave them room. A board always has room for ROOM plies on its undo stack, `make_room` makes more.
"""

from collections.abc import Callable
from operator import index

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from x88 import piece, square, zobrist
from x88.piece import SIDES, checked_side

if not cython.compiled:
    # isort: off
    # fmt: off
    from types import SimpleNamespace as Undo

    from x88.move import (
        CAPTURED, CASTLING, EN_PASSANT, NO_MOVE, PROMOTED, castle, is_home_castling, origin_of, promoted_of,
        rook_origin, rook_target, target_of,
    )
    from x88.piece import (
        ANY_PIECE, BISHOP, BLACK, BLACK_PIECE, BORDER, CODES, EMPTY, KIND, KING, KNIGHT, PAWN, QUEEN, ROOK,
        WHITE, WHITE_PIECE,
    )
    from x88.sets import bit, count, diagonal, lowest, square_colours, straight
    from x88.square import DIAGONAL, FILE, NO_SQUARE, OFF_BOARD, RANK, index64

    ROOM = 16
    MAX_PIECES = 16
    WHITE_SHORT = 1
    WHITE_LONG = 2
    BLACK_SHORT = 4
    BLACK_LONG = 8
    ALL_RIGHTS = 15
    LARGEST_COUNTER = 99999999

    def resized(undo: list[Undo], plies: int) -> list[Undo]:
        """The undo stack with memory for so many plies. Raises MemoryError."""
        return undo + [Undo()] * (plies - len(undo))

    def copy_fields(board: "Board", other: "Board") -> None:
        """Copy everything but the undo stack."""
        for name, value in vars(other).items():
            if isinstance(value, list) and name != "undo":
                getattr(board, name)[:] = value
            elif name not in ("undo", "capacity"):
                setattr(board, name, value)


VALUE = piece.VALUE
PIECE_KEYS = zobrist.PIECE_KEYS
CASTLING_KEYS = zobrist.CASTLING_KEYS
EN_PASSANT_KEYS = zobrist.EN_PASSANT_KEYS
TURN_KEY = zobrist.TURN_KEY
ATTACKS = square.ATTACKS
ENDS = square.ENDS

ROOK_HOMES = (0x07, 0x00, 0x77, 0x70)
"""The rooks' squares in standard chess, by the number of the castling right."""


_AS_IN_FEN = [rank << 4 | file for rank in range(7, -1, -1) for file in range(8)]
"""The squares in the order in which a FEN lists them."""


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
            self.undo: list[Undo] = []
            self.capacity = 0
            self.ply = 0
            self.checkers = 0
            self.pinned = 0
        self.make_room(0)
        self.clear()

    def __dealloc__(self) -> None:
        free(self.undo)  # type: ignore[name-defined]  # noqa: F821  (of the header)

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
        self.castling = 0
        for sq in range(128):
            self.kept_rights[sq] = ALL_RIGHTS
        for number in range(4):
            self.castles[number] = NO_MOVE
            self.paths[number << 3] = NO_SQUARE
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
        other = fresh()
        for sq in _AS_IN_FEN:
            if codes[sq]:
                other.add(codes[sq], sq)
        other.side = side
        other.check_placement()
        for number in range(4):
            if castling >> number & 1:
                other.allow(number, ROOK_HOMES[number] if rooks is None else rooks[number], rooks is not None)
        other.finish(en_passant, halfmove, fullmove)
        self._take_over(other)

    def add(self, code: int, sq: int) -> None:
        """Put a piece on an empty square of a `fresh` board. With a `fault`, only `squares`, `sets` and
        `sides` are right.
        """
        side = code >> 5
        slot = side << 4
        if code & KIND != KING:
            slot |= self.count[side] & 15
            self.count[side] += 1
        self.squares[sq] = code
        self.slots[sq] = slot
        self.pieces[slot] = sq
        self.sets[code] |= bit(sq)
        self.sides[side] |= bit(sq)
        self.key ^= PIECE_KEYS[code << 7 | sq]

    def check_placement(self) -> None:
        """Raise ValueError if the pieces added cannot stand so with this side to move."""
        fault = self.fault()
        if not fault and self.is_exposed():
            fault = f"{SIDES[self.side ^ 1]} is in check, but {SIDES[self.side]} is to move"
        if fault:
            raise ValueError(f"placement: {fault}")

    def fault(self) -> str:
        """Why no moves can be made from this placement, empty if they can."""
        pawns = (self.sets[WHITE_PIECE | PAWN] | self.sets[BLACK_PIECE | PAWN]) & ENDS
        if pawns:
            return f"a pawn on {square.name(lowest(pawns))}"
        for each in range(2):
            kings = count(self.sets[WHITE_PIECE << each | KING])
            if kings != 1:
                return f"{SIDES[each]} has {kings} kings instead of 1"
            pieces = count(self.sides[each])
            if pieces > MAX_PIECES:
                return f"{SIDES[each]} has {pieces} pieces, more than {MAX_PIECES}"
        if ATTACKS[KING << 6 | index64(self.pieces[0])] & self.sets[BLACK_PIECE | KING]:
            return "the kings stand side by side"
        return ""

    def is_exposed(self) -> bool:
        """Whether the king of the side that is not to move is attacked."""
        king = self.pieces[(self.side ^ 1) << 4]
        return self.attackers_among(king, self.sides[WHITE] | self.sides[BLACK]) & self.sides[self.side] != 0

    def allow(self, number: int, rook: int, any_king: bool) -> None:
        """Set a castling right if king and rook are in place."""
        side = number >> 1
        home = 0x70 * side + 4
        king = self.pieces[side << 4]
        if king & RANK != home & RANK or rook & RANK != home & RANK or not (any_king or king == home):
            return
        if self.squares[rook] != WHITE_PIECE << side | ROOK or (rook > king) == (number & 1):
            return
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

    def finish(self, en_passant: int, halfmove: int, fullmove: int) -> None:
        """Set counters, the rest of the key, and the en-passant square if an enemy pawn attacks it and a
        double push may have crossed it.
        """
        self.halfmove = halfmove
        self.fullmove = fullmove
        step = 16 - 32 * self.side
        if (
            en_passant & RANK == 0x50 - 0x30 * self.side
            and self.squares[en_passant - step] == WHITE_PIECE << (self.side ^ 1) | PAWN
            and self.squares[en_passant] == EMPTY
            and self.squares[en_passant + step] == EMPTY
        ):
            self._set_en_passant(en_passant - step)
        self.key ^= CASTLING_KEYS[self.castling]
        if self.en_passant != NO_SQUARE:
            self.key ^= EN_PASSANT_KEYS[self.en_passant & FILE]
        if self.side == BLACK:
            self.key ^= TURN_KEY

    def _set_en_passant(self, pushed: int) -> None:
        """Set the en-passant square behind a pawn that has just stepped twice if an enemy pawn attacks it."""
        pawn = WHITE_PIECE << self.side | PAWN
        left = self.squares[pushed - 1 & 0xFF] == pawn
        right = self.squares[pushed + 1] == pawn
        if left or right:
            self.en_passant = pushed + 16 - 32 * self.side
            self.en_passant_legal = (left and self.is_en_passant_legal(pushed - 1)) or (
                right and self.is_en_passant_legal(pushed + 1)
            )

    def copy(self) -> "Board":
        """An independent board with the same position and history."""
        other = Board.__new__(Board) if cython.compiled else Board()
        other._take_over(self)
        return other

    def _take_over(self, other: "Board") -> None:
        """Become a copy of the other board."""
        copy_fields(self, other)
        self.make_room(0)
        for i in range(self.ply):
            self.undo[i] = other.undo[i]

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
        """Make a legal move. Raises ValueError for others, and MemoryError."""
        self.check_legal(move)
        self.make_room(1)
        self.make_unchecked(move)

    def make_unchecked(self, move: int) -> None:
        """Make a legal move."""
        side = self.side
        origin = origin_of(move)
        target = target_of(move)
        code = self.squares[origin]
        castling = self.castling
        self._push(move)
        self.side = side ^ 1
        self.fullmove += side
        self.halfmove += 1
        self.reversible += 1
        key = self.key ^ TURN_KEY ^ PIECE_KEYS[code << 7 | origin] ^ PIECE_KEYS[code << 7 | target]
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
            self.undo[self.ply - 1].slot = slot
            self.count[side ^ 1] -= 1
            last = self.pieces[(side ^ 1) << 4 | self.count[side ^ 1]]
            self.pieces[slot] = last
            self.slots[last] = slot
            self.squares[victim_square] = EMPTY
            self.halfmove = 0
            self.reversible = 0

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
                self._set_en_passant(target)
                if self.en_passant != NO_SQUARE:
                    key ^= EN_PASSANT_KEYS[target & FILE]
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
        side = self.side ^ 1
        self.side = side
        self.fullmove -= side
        before = self._pop()
        move = before.move
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
            slot = before.slot
            last = self.pieces[slot]
            end = (side ^ 1) << 4 | self.count[side ^ 1]
            self.pieces[end] = last
            self.slots[last] = end
            self.pieces[slot] = victim_square
            self.slots[victim_square] = slot
            self.count[side ^ 1] += 1
        elif move & CASTLING:
            self._move_rook(move, True)

    def _push(self, move: int) -> None:
        """Put the state before a move on the undo stack."""
        self.undo[self.ply] = Undo(
            en_passant=self.en_passant,
            en_passant_legal=self.en_passant_legal,
            halfmove=self.halfmove,
            reversible=self.reversible,
            key=self.key,
            move=move,
            castling=self.castling,
            slot=0,
        )
        self.ply += 1

    def _pop(self) -> Undo:
        """Restore the state before the last move, but for the pieces, the side and the move number."""
        self.ply -= 1
        before = self.undo[self.ply]
        self.key = before.key
        self.halfmove = before.halfmove
        self.reversible = before.reversible
        self.castling = before.castling
        self.en_passant = before.en_passant
        self.en_passant_legal = before.en_passant_legal
        return before

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
        king = self.king(self.side)
        if self.attackers_among(king, self.sides[WHITE] | self.sides[BLACK]) & self.sides[self.side ^ 1]:
            raise ValueError("a side in check cannot make a null move")
        self.make_room(1)
        self.make_null_unchecked()

    def make_null_unchecked(self) -> None:
        """Make a null move for a side that is not in check."""
        self._push(NO_MOVE)
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
        self._pop()
        self.side ^= 1
        self.fullmove -= self.side

    def make_room(self, plies: int) -> None:
        """Make room on the undo stack for so many plies, and ROOM more. Raises MemoryError."""
        plies += self.ply + ROOM
        if plies > self.capacity:
            capacity = max(2 * self.capacity, plies)
            self.undo = resized(self.undo, capacity)
            self.capacity = capacity

    def attackers_among(self, target: int, occupied: int) -> int:
        """The pieces of both sides that attack a square, as bits; sliders see past every square not in
        `occupied`.
        """
        number = index64(target)
        queens = self.sets[WHITE_PIECE | QUEEN] | self.sets[BLACK_PIECE | QUEEN]
        lines = self.sets[WHITE_PIECE | ROOK] | self.sets[BLACK_PIECE | ROOK] | queens
        diagonals = self.sets[WHITE_PIECE | BISHOP] | self.sets[BLACK_PIECE | BISHOP] | queens
        found = ATTACKS[BLACK << 6 | number] & self.sets[WHITE_PIECE | PAWN]
        found |= ATTACKS[WHITE << 6 | number] & self.sets[BLACK_PIECE | PAWN]
        found |= ATTACKS[KNIGHT << 6 | number] & (
            self.sets[WHITE_PIECE | KNIGHT] | self.sets[BLACK_PIECE | KNIGHT]
        )
        found |= ATTACKS[KING << 6 | number] & (self.sets[WHITE_PIECE | KING] | self.sets[BLACK_PIECE | KING])
        if ATTACKS[ROOK << 6 | number] & lines:
            found |= straight(target, occupied) & lines
        if ATTACKS[DIAGONAL << 6 | number] & diagonals:
            found |= diagonal(target, occupied) & diagonals
        return found

    def is_en_passant_legal(self, origin: int) -> bool:
        """Whether the pawn on `origin` can capture en passant without leaving its king in check.

        The capture empties two squares at once, so pins do not suffice: look from the king with both pawns
        gone and the capturing one on its target.
        """
        side = self.squares[origin] >> 5
        occupied = self.sides[WHITE] | self.sides[BLACK]
        occupied ^= bit(origin) ^ bit(self.en_passant - 16 + 32 * side) ^ bit(self.en_passant)
        return not self.attackers_among(self.pieces[side << 4], occupied) & occupied & self.sides[side ^ 1]

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
            past = self.undo[i].key
            if back == reversible:
                # Only the oldest position, right after an irreversible move, can have an en-passant square.
                if self.undo[i].en_passant != NO_SQUARE and not self.undo[i].en_passant_legal:
                    past ^= EN_PASSANT_KEYS[self.undo[i].en_passant & FILE]
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
        for number in range(4):
            if self.castling >> number & 1 and not is_home_castling(self.castles[number]):
                return True
        return False

    def last_move(self) -> int:
        """The last move on the undo stack, NO_MOVE if it is empty or a null move."""
        return self.undo[self.ply - 1].move if self.ply else NO_MOVE

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


_EMPTY = Board()
_EMPTY.count[WHITE] = _EMPTY.count[BLACK] = 1  # the kings' places in the lists


def fresh() -> Board:
    """An empty board to which pieces can be added, made in less time than by calling the class."""
    board = Board.__new__(Board) if cython.compiled else Board()
    board._take_over(_EMPTY)
    return board


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
    for sq in range(128):
        code = codes[sq]
        if code:
            if sq & OFF_BOARD:
                raise ValueError(f"{sq} is not a square of the board")
            if code < WHITE_PIECE or code >= CODES or not VALUE[code]:
                raise ValueError(f"{code} is not the code of a piece")
    for sq in (en_passant, *(rooks or ())):
        if sq != NO_SQUARE:
            square.checked(sq)
    if rooks is not None and len(rooks) != 4:
        raise ValueError(f"{len(rooks)} squares of rooks instead of 4")
    if not 0 <= castling <= ALL_RIGHTS:
        raise ValueError(f"{castling} are not castling rights, 0 to {ALL_RIGHTS}")
    for counter in (halfmove, fullmove):
        if not 0 <= counter <= LARGEST_COUNTER:
            raise ValueError(f"{counter} is not a counter from 0 to {LARGEST_COUNTER}")


_rules: list[Callable[..., object]] = []


def _is_legal(board: Board, move: int) -> bool:
    """`movegen.is_legal`, of a module that imports this one."""
    if not _rules:
        from x88 import movegen

        _rules.append(movegen.is_legal)
    return bool(_rules[0](board, move))
