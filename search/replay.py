"""Positions of stored games, replayed, filtered and mixed for the training of a network.

The games are those of `search.selfplay`, as bench/gamefile.py stores them; `Mixer` is how it reads them.
"""

from typing import Any

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from search.nnue.network import SCALE, ZONES
from search.selfplay import HEAD
from x88 import memory
from x88.notation import chess960, fen

if not cython.compiled:
    from math import exp

    from search.score import LONGEST_MATE
    from search.selfplay import DRAWN, LONGEST, LOST, WON, is_draw, is_usable, order, random_number
    from search.transposition import fetch
    from x88.board import Board
    from x88.move import CAPTURED, PROMOTED, TARGET_SHIFT
    from x88.movegen import MoveStack, generate
    from x88.piece import BLACK, BLACK_PIECE, KIND, WHITE
    from x88.pointer import memory_of
    from x88.sets import lowest
    from x88.square import index64

    FIELDS = 16
    PIECES = 4
    KINGS = 12
    EXPECTED = 13
    SCORE = 14
    STATE = 15
    CHECKED = 4
    TACTICAL = 8
    REPEATED = 16
    BLACK_MOVES = 32
    PLY_SHIFT = 6
    ESCAPE = 255
    ROWS = 5

    def nearest(number: float) -> int:
        """The nearest whole number of one that is not negative."""
        return int(number + 0.5)


PIECE_INDEX = [0, 0, 1, 5, 3, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0]
"""PIECE_INDEX[kind]: the kinds of piece as a network numbers them."""

POINTS = [1, 3, 3, 5, 9, 1]
"""The material of each of these, as in `search.nnue.evaluate`."""

ZONE = ZONES


class Mixer:
    """Replays games into a buffer of positions, and takes them out in random order.

    A position is FIELDS numbers of 16 bits:

    | field | content |
    |---|---|
    | 0 to 3 | the squares that are occupied, a bit each, a1 the lowest |
    | PIECES, and the seven behind | what stands there, 4 bits each: kind; a black piece << 3 |
    | KINGS | White's square; Black's << 8 |
    | EXPECTED | the points expected from the scores by the side to move: 65535 is a win |
    | SCORE | that of the search in centipawns, for the side to move |
    | STATE | points of the game doubled; CHECKED, TACTICAL, REPEATED, BLACK_MOVES; plies << PLY_SHIFT |

    With a `lookahead` L, the points E expected from a score become (1 - L) E + L F, where F are those of the
    next position after its own replacement, or the result after the last one. So what the search saw later
    counts too, the sooner the more (Richard S. Sutton, "Learning to predict by the methods of temporal
    differences", 1988).
    """

    def __init__(
        self,
        capacity: int,
        seed: int = 0,
        lookahead: float = 0.0,
        least_ply: int = 0,
        most_score: int = LONGEST_MATE - 1,
        takes_all: bool = False,
    ) -> None:
        """`capacity` is in positions. Those before `least_ply` or with scores beyond `most_score` are left
        out, and those that are not usable (`search.selfplay.is_usable`), unless it `takes_all`. Raises
        MemoryError.
        """
        # With room for one more game, since it is not known before how many of its positions are left out.
        held = memory.allocate(2 * FIELDS * (capacity + LONGEST), purpose=f"{capacity} positions")
        self.fields = memoryview(held).cast("H")
        self.count = 0
        self._capacity = capacity
        self._chance = seed
        self._scale = float(SCALE)
        self._lookahead = lookahead
        self._least_ply = least_ply
        self._most_score = most_score
        self._takes_all = takes_all
        self._standard = fen.parse(fen.START)
        self._stack = MoveStack()
        self._counts = [0] * 32
        self._keys = [0] * 448
        self._scores = [0] * 512
        self._expected = [0.0] * 512
        self._end = 0
        if cython.compiled:
            self._into = cython.cast("uint16_t*", memory_of(self.fields, 2, True))
        else:
            self._into = self.fields

    def add(self, payload: bytes, games: int) -> None:
        """Add the positions of these games. Raises ValueError if the payload is not one of so many games, or
        has a move that cannot be; the games before it stay.
        """
        if len(payload) < HEAD.size * games:
            raise ValueError("the payload is too short")
        heads = list(HEAD.iter_unpack(payload[: HEAD.size * games]))
        moves = HEAD.size * games
        scores = moves + sum(head[2] for head in heads)
        if len(payload) < scores:
            raise ValueError("the payload is too short")
        if cython.compiled:
            self._from = cython.cast("const uint8_t*", memory_of(payload, 1, False))
        else:
            self._from = payload
        self._end = len(payload)
        for n, (white, black, plies, opening, result) in enumerate(heads):
            if not opening <= plies <= LONGEST or result > WON:
                raise ValueError(f"game {n} of a block cannot be: {plies} plies, {opening} of them random")
            if self.count > self._capacity:
                raise ValueError(f"there is no room for more than {self._capacity} positions")
            board = self._standard
            if (white, black) != (chess960.STANDARD, chess960.STANDARD):
                board = fen.parse(chess960.start(white, black), chess960=True)
            scores = self._read_scores(scores, plies - opening, result)
            if scores < 0:
                raise ValueError("the payload is too short")
            fault = self._replay_one(board, moves, plies, opening, result)
            if fault >= 0:
                raise ValueError(f"game {n} of a block cannot be replayed beyond ply {fault}")
            moves += plies
        if scores != self._end:
            raise ValueError(f"the payload has {self._end - scores} bytes too many")

    def _read_scores(self, at: int, count: int, result: int) -> int:
        """Decode a game's scores, and White's expected results. Returns where the next ones begin, or -1."""
        score = 0
        for i in range(count):
            if at >= self._end:
                return -1
            code = self._from[at]
            at += 1
            if code < ESCAPE:
                score += -(code + 1 >> 1) if code & 1 else code >> 1
            else:
                if at + 2 > self._end:
                    return -1
                score = self._from[at] | self._from[at + 1] << 8
                if score >= 0x8000:
                    score -= 0x10000
                at += 2
            self._scores[i] = score
        value = result / 2.0
        for i in range(count - 1, -1, -1):
            expected = 1.0 / (1.0 + exp(-self._scores[i] / self._scale))
            value = (1.0 - self._lookahead) * expected + self._lookahead * value
            self._expected[i] = value
        return at

    def _replay_one(self, board: Board, at: int, plies: int, opening: int, result: int) -> int:
        board.make_room(plies)
        with cython.nogil:
            return self._replay(board, at, plies, opening, result)

    def _replay(self, board: Board, at: int, plies: int, opening: int, result: int) -> int:
        """Replay a game; its moves begin at `at`. Returns the first ply that cannot be, -1 if there is none,
        and `plies` if the result is not that of the rules. The board is then as before.
        """
        fault = -1
        for ply in range(plies):
            count = generate(board, self._stack, 0)
            if self._from[at + ply] >= count:
                fault = ply
                break
            move = self._move(self._stack, count, self._from[at + ply])
            if ply >= opening:
                self._keep(board, move, ply, opening, result)
            board.make_unchecked(move)
        if fault < 0 and plies:
            if generate(board, self._stack, 0) == 0:
                expected = DRAWN
                if board.checkers:
                    expected = WON if board.side == BLACK else LOST
                if result != expected:
                    fault = plies
            elif is_draw(board) and result != DRAWN:
                fault = plies
        while board.ply:
            board.unmake_unchecked()
        return fault

    def _move(self, stack: MoveStack, count: int, rank: int) -> int:
        """The move of this rank among the first ones on the stack. Their order begins with the target, so
        that only those to one half of a rank of the board need to be compared.
        """
        for i in range(32):
            self._counts[i] = 0
        for i in range(count):
            self._counts[stack.moves[i] >> TARGET_SHIFT + 2 & 31] += 1
        half = 0
        while rank >= self._counts[half]:
            rank -= self._counts[half]
            half += 1
        found = 0
        for i in range(count):
            if stack.moves[i] >> TARGET_SHIFT + 2 & 31 == half:
                self._keys[found] = order(stack.moves[i]) << 9 | i
                found += 1
        for i in range(found):
            before = 0
            for j in range(found):
                before += self._keys[j] < self._keys[i]
            if before == rank:
                return stack.moves[self._keys[i] & 511]
        return 0

    def _keep(self, board: Board, move: int, ply: int, opening: int, result: int) -> None:
        """Add the position to the others if it is wanted."""
        score = self._scores[ply - opening]
        expected = self._expected[ply - opening]
        checked = board.checkers != 0
        if not self._takes_all and not (
            ply >= self._least_ply
            and abs(score) <= self._most_score
            and is_usable(board, checked, move, score)
        ):
            return
        state = result
        if board.side == BLACK:
            score = -score
            expected = 1.0 - expected
            state = WON - result | BLACK_MOVES
        if checked:
            state |= CHECKED
        if move & (CAPTURED | PROMOTED):
            state |= TACTICAL
        if self._takes_all and board.is_repetition(1):  # else it would have been left out
            state |= REPEATED
        at = self.count * FIELDS
        occupied = board.sides[WHITE] | board.sides[BLACK]
        for i in range(PIECES):
            self._into[at + i] = occupied >> (16 * i) & 0xFFFF
        for i in range(8):
            self._into[at + PIECES + i] = 0
        count = 0
        while occupied:
            code = board.squares[lowest(occupied)]
            piece = PIECE_INDEX[code & KIND] | (8 if code & BLACK_PIECE else 0)
            self._into[at + PIECES + (count >> 2)] |= piece << 4 * (count & 3)
            count += 1
            occupied &= occupied - 1
        self._into[at + KINGS] = index64(board.pieces[0]) | index64(board.pieces[16]) << 8
        self._into[at + EXPECTED] = nearest(65535 * expected)
        self._into[at + SCORE] = score & 0xFFFF
        self._into[at + STATE] = state | ply << PLY_SHIFT
        self.count += 1

    def take(self, size: int, own: Any, other: Any, rows: Any) -> int:
        """Take so many positions out, at random, and write them as `show` does."""
        if not 0 <= size <= self.count:
            raise ValueError(f"there are {self.count} positions, not {size}")
        return self._write(-1, size, own, other, rows)

    def show(self, first: int, size: int, own: Any, other: Any, rows: Any) -> int:
        """Write so many positions from the first one on as a network takes them; returns the number of their
        pieces. All arrays hold 32-bit integers: `own` and `other` the inputs of the side to move and of the
        other side, one position after the other, at most 32 each; `rows`, for each position, ROWS numbers:
        where its inputs begin, its pieces, their material, the points expected (65535 is a win), and the
        points of the game doubled. Raises ValueError if there are not so many positions, or no room.
        """
        if not 0 <= first <= first + size <= self.count:
            raise ValueError(f"there are {self.count} positions, not {first} and {size}")
        return self._write(first, size, own, other, rows)

    def _write(self, first: int, size: int, own: Any, other: Any, rows: Any) -> int:
        """See `show`; at random, without those that were there, if `first` is -1."""
        if min(len(own), len(other)) < 32 * size or len(rows) < ROWS * size:
            raise ValueError(f"there is no room for {size} positions")
        if cython.compiled:
            self._own = cython.cast("int*", memory_of(own, 4, True))
            self._other = cython.cast("int*", memory_of(other, 4, True))
            self._rows = cython.cast("int*", memory_of(rows, 4, True))
        else:
            self._own, self._other, self._rows = own, other, rows
        with cython.nogil:
            return self._write_all(first, size)

    def _write_all(self, first: int, size: int) -> int:
        end = 0
        place = first if first >= 0 else self._choose(self.count)
        for row in range(size):
            following = place + 1 if first >= 0 else self._choose(self.count - 1)
            end = self._write_one(place, row, end)
            if first < 0:
                self.count -= 1
                for i in range(FIELDS):
                    self._into[place * FIELDS + i] = self._into[self.count * FIELDS + i]
            place = following
        return end

    def _choose(self, count: int) -> int:
        """A random position among the first ones. It is on its way to the cache then."""
        self._chance = random_number(self._chance)
        place = (self._chance >> 32) * count >> 32
        if cython.compiled:
            fetch(cython.address(self._into[place * FIELDS]))
        return place

    def _write_one(self, place: int, row: int, end: int) -> int:
        """Write a position as the row of that number; returns the new end of its inputs."""
        at = place * FIELDS
        self._rows[ROWS * row] = end
        black = 8 if self._into[at + STATE] & BLACK_MOVES else 0
        # For each side, the king is on files e to h and the first rank is its own.
        king = self._into[at + KINGS] >> black & 63
        own_view = (56 if black else 0) ^ (0 if king & 4 else 7)
        own_view |= ZONE[king ^ own_view]
        king = self._into[at + KINGS] >> (8 - black) & 63
        other_view = (0 if black else 56) ^ (0 if king & 4 else 7)
        other_view |= ZONE[king ^ other_view]
        points = count = 0
        occupied = 0
        for i in range(PIECES):
            occupied = occupied << 16 | self._into[at + PIECES - 1 - i]
        while occupied:
            square = index64(lowest(occupied))
            piece = self._into[at + PIECES + (count >> 2)] >> 4 * (count & 3) & 15
            kind = piece & 7
            enemy = 0 if piece & 8 == black else 384
            self._own[end + count] = enemy + (kind << 6) + (square ^ own_view)
            self._other[end + count] = 384 - enemy + (kind << 6) + (square ^ other_view)
            points += POINTS[kind]
            count += 1
            occupied &= occupied - 1
        self._rows[ROWS * row + 1] = count
        self._rows[ROWS * row + 2] = points
        self._rows[ROWS * row + 3] = self._into[at + EXPECTED]
        self._rows[ROWS * row + 4] = self._into[at + STATE] & 3
        return end + count
