"""Static evaluation: material, piece-square tables, pawn structure, mobility, threats and king safety,
tapered between middlegame and endgame.

The searcher makes every move on the board and here. Material and piece-square values are updated
incrementally; all other terms are computed on demand from the bitboards of `search.placement`. A packed score
holds both phases in one int, middlegame + endgame * 65536. The parameters are in `search.tuned`.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from search import masks, tuned
from search.endgame import load as load_endgames
from search.pawns import load as load_pawns
from x88 import zobrist
from x88.piece import make_piece
from x88.square import SQUARES

if not cython.compiled:
    from search.bitboard import lowest, popcount
    from search.endgame import DRAWN_SCALE, FULL_SCALE, mop_up, scale
    from search.pawns import ATTACKS, KING_SHELTER, PASSED_PAWNS, PASSERS, PAWN_PARTS, SPANS, STRUCTURE, Pawns
    from search.placement import FULL_PHASE, Placement
    from x88.board import Board
    from x88.move import (
        CAPTURED,
        CAPTURED_SHIFT,
        CASTLING,
        EN_PASSANT,
        MOVED_SHIFT,
        PROMOTED,
        PROMOTED_SHIFT,
        SQUARE,
        TARGET_SHIFT,
        rook_origin,
        rook_target,
    )
    from x88.piece import (
        ANY_PIECE,
        BISHOP,
        BLACK,
        BLACK_PIECE,
        KIND,
        KING,
        KNIGHT,
        PAWN,
        QUEEN,
        ROOK,
        WHITE,
        WHITE_PIECE,
    )
    from x88.square import FILE

    LARGEST = 19000
    CACHE = 8192
    KNIGHT_UNITS = 2
    BISHOP_UNITS = 2
    ROOK_UNITS = 3
    QUEEN_UNITS = 4
    KNIGHT_CHECK = 5
    BISHOP_CHECK = 3
    ROOK_CHECK = 6
    QUEEN_CHECK = 5
    DANGERS = 48
    TEMPO = 0
    BISHOP_PAIR = 1
    BISHOP_PAWNS = 2
    OUTPOST = 3
    ROOK_FILE = 5
    ROOK_ON_SEVENTH = 7
    KNIGHT_MOBILITY = 8
    BISHOP_MOBILITY = 17
    ROOK_MOBILITY = 31
    QUEEN_MOBILITY = 46
    PAWN_THREAT = 74
    MINOR_THREAT = 76
    ROOK_THREAT = 78
    HANGING = 79
    PASSED_BLOCKED = 81
    PASSED_STOP_SAFE = 89
    PASSED_PATH_FREE = 97
    KING_DANGER = 105
    MOBILITY = 0
    PLACEMENT = 1
    THREATS = 2
    ADVANCE = 3
    DANGER = 4
    MOVE = 5
    MOP_UP = 6
    PARTS = 7

KINDS = {
    PAWN: "pawn",
    KNIGHT: "knight",
    BISHOP: "bishop",
    ROOK: "rook",
    QUEEN: "queen",
    KING: "king",
}
"""The kinds of piece in the order of the list "material", with their names."""

LISTS = {
    "tempo": TEMPO,
    "bishop pair": BISHOP_PAIR,
    "bishop pawns": BISHOP_PAWNS,
    "outpost": OUTPOST,
    "rook file": ROOK_FILE,
    "rook on seventh": ROOK_ON_SEVENTH,
    "knight mobility": KNIGHT_MOBILITY,
    "bishop mobility": BISHOP_MOBILITY,
    "rook mobility": ROOK_MOBILITY,
    "queen mobility": QUEEN_MOBILITY,
    "pawn threat": PAWN_THREAT,
    "minor threat": MINOR_THREAT,
    "rook threat": ROOK_THREAT,
    "hanging": HANGING,
    "passed blocked": PASSED_BLOCKED,
    "passed stop safe": PASSED_STOP_SAFE,
    "passed path free": PASSED_PATH_FREE,
    "king danger": KING_DANGER,
}
"""Where each list of parameters starts in NUMBERS. Material and squares are in PIECE_SQUARE; pawns and
endgames have their own modules.
"""

PART_NAMES = {
    "mobility": MOBILITY,
    "placement": PLACEMENT,
    "threats": THREATS,
    "danger": DANGER,
    "mop-up": MOP_UP,
    "tempo": MOVE,
}
"""The parts as `search.terms` shows them. ADVANCE is added to the passed pawns."""

NUMBERS = [0] * 153
PIECE_SQUARE = [0] * 6144
"""PIECE_SQUARE[code << 7 | square]: packed material and piece-square value, negative for Black."""
PIECE_KEYS = zobrist.PIECE_KEYS
A_FILE = masks.A_FILE
B_FILE = masks.B_FILE
LONG_DIAGONAL = masks.LONG_DIAGONAL
KNIGHT_MOVES = masks.KNIGHT_MOVES
KING_MOVES = masks.KING_MOVES
KING_ZONE = masks.KING_ZONE
RANKS = masks.RANKS
DIAGONALS = masks.DIAGONALS
ANTIDIAGONALS = masks.ANTIDIAGONALS
RANK_ATTACKS = masks.RANK_ATTACKS
FILE_ATTACKS = masks.FILE_ATTACKS
FILES = masks.FILES
FRONT_SPANS = masks.FRONT_SPANS
SQUARES_OF_COLOUR = masks.SQUARES_OF_COLOUR
OUTPOSTS = masks.OUTPOSTS
LAST_RANKS = masks.LAST_RANKS


def load(numbers: dict[str, list[tuple[int, int]]]) -> None:
    """Load the evaluation parameters: lists of (middlegame, endgame) in centipawns by name, as in
    `tuned.EVALUATION`. Reset every existing Evaluation afterwards.

    "material" has the kinds of KINDS without the king. The lists of squares have four values for each
    relative rank, files a to d; e to h mirror them.
    """
    for name, start in LISTS.items():
        for i, (middlegame, endgame) in enumerate(numbers[name]):
            NUMBERS[start + i] = middlegame + endgame * 65536
    material = [*numbers["material"], (0, 0)]
    for (kind, name), (middlegame, endgame) in zip(KINDS.items(), material, strict=True):
        squares = numbers[name + " squares"]
        for sq in SQUARES:
            both = squares[(sq >> 4) * 4 + min(sq & FILE, 7 - (sq & FILE))]
            packed = middlegame + both[0] + (endgame + both[1]) * 65536
            PIECE_SQUARE[make_piece(WHITE, kind) << 7 | sq] = packed
            PIECE_SQUARE[make_piece(BLACK, kind) << 7 | (sq ^ 0x70)] = -packed
    load_pawns(numbers)
    load_endgames(numbers)


load(tuned.EVALUATION)


def piece_square(code: int, sq: int) -> int:
    """The packed material and piece-square value of a piece, negative for Black."""
    return PIECE_SQUARE[code << 7 | sq]


class Evaluation:
    """The static evaluation, updated along the line being searched.

    `blur` adds noise of at most that many centipawns to every value. The noise depends only on the position
    and on `seed`, an odd number of 16 bits.
    """

    def __init__(self) -> None:
        self.blur = 0
        self.seed = 1
        self.placement = Placement()
        self.sums = [0] * 136
        self.ply = 0
        self.pawns = Pawns()
        self.attacked = [0] * 2
        self.twice = [0] * 2
        self.by_knights = [0] * 2
        self.by_bishops = [0] * 2
        self.by_rooks = [0] * 2
        self.by_queens = [0] * 2
        self.units = [0] * 2
        self.cached_keys = [0] * 8192
        self.cached = [0] * 8192
        self.parts = [0] * 14

    def reset(self, board: Board) -> None:
        """Set up for a new root position and clear all caches."""
        self.placement.reset(board)
        self.ply = 0
        self.sums[0] = 0
        for i in range(32):
            if i & 15 < board.count[i >> 4]:
                sq = board.pieces[i]
                self.sums[0] += PIECE_SQUARE[board.squares[sq] << 7 | sq]
        self.pawns.clear()
        for i in range(CACHE):
            self.cached_keys[i] = 0

    def make(self, move: int, side: int) -> None:
        """Update for a move made by `side`."""
        self.placement.make(move, side)
        colour = WHITE_PIECE << side
        origin = move & SQUARE
        target = move >> TARGET_SHIFT & SQUARE
        code = colour | move >> MOVED_SHIFT & KIND
        total = self.sums[self.ply] - PIECE_SQUARE[code << 7 | origin]
        if move & CAPTURED:
            victim = colour ^ ANY_PIECE | move >> CAPTURED_SHIFT & KIND
            square = target
            if move & EN_PASSANT:
                square = target - 16 + 32 * side
            total -= PIECE_SQUARE[victim << 7 | square]
        if move & PROMOTED:
            code = colour | move >> PROMOTED_SHIFT & KIND
        total += PIECE_SQUARE[code << 7 | target]
        if move & CASTLING:
            rook = (colour | ROOK) << 7
            total += PIECE_SQUARE[rook | rook_target(move)] - PIECE_SQUARE[rook | rook_origin(move)]
        self.ply += 1
        self.sums[self.ply] = total

    def make_null(self) -> None:
        """Update for a null move."""
        self.placement.make_null()
        self.sums[self.ply + 1] = self.sums[self.ply]
        self.ply += 1

    def unmake(self, move: int, side: int) -> None:
        """Undo `make` of the last move, which `side` made."""
        self.placement.unmake(move, side)
        self.ply -= 1

    def unmake_null(self) -> None:
        """Undo `make_null`."""
        self.placement.unmake_null()
        self.ply -= 1

    def scale(self, board: Board) -> int:
        """The scale factor of the endgame value, from 0 (draw) to FULL_SCALE."""
        endgame = self.packed(board) + 0x8000 >> 16
        if endgame == 0:
            return FULL_SCALE
        return scale(board, WHITE if endgame > 0 else BLACK)

    def value(self, board: Board) -> int:
        """The static evaluation in centipawns for the side to move."""
        score = self._tapered(self.packed(board), board)
        if self.blur:
            chance = (board.key >> 32) * self.seed >> 16 & 0xFFFF
            score += ((chance & 255) - (chance >> 8)) * self.blur >> 8
        return min(max(score, -LARGEST), LARGEST)

    def lazy_value(self, board: Board) -> int:
        """Material and piece-square values only, in centipawns for the side to move: for lazy evaluation."""
        return self._tapered(self.sums[self.ply], board)

    def _tapered(self, both: int, board: Board) -> int:
        """Convert White's packed score to centipawns for the side to move: scale drawish material and
        interpolate between middlegame and endgame.
        """
        if board.side:
            both = -both
        middlegame = (both + 0x8000 & 0xFFFF) - 0x8000
        endgame = both + 0x8000 >> 16
        if endgame:
            factor = scale(board, board.side if endgame > 0 else board.side ^ 1)
            endgame = endgame * factor >> 6
            if factor <= DRAWN_SCALE:
                middlegame = middlegame * factor >> 6
        phase = self.placement.phase()
        # 171 / 4096 is about 1 / 24. A shift rounds alike compiled and uncompiled; a division of negative
        # numbers would not.
        return (middlegame * phase + endgame * (FULL_PHASE - phase)) * 171 + 2048 >> 12

    def packed(self, board: Board) -> int:
        """The packed sum of all terms, White minus Black, from the evaluation cache if it is there."""
        slot = board.key & CACHE - 1
        if self.cached_keys[slot] != board.key:
            self.cached_keys[slot] = board.key
            self.cached[slot] = self._compute(board)
        return self.cached[slot]

    def _compute(self, board: Board) -> int:
        white_king = board.pieces[WHITE << 4]
        black_king = board.pieces[BLACK << 4]
        key = (
            self.placement.pawn_key()
            ^ PIECE_KEYS[(WHITE_PIECE | KING) << 7 | white_king]
            ^ PIECE_KEYS[(BLACK_PIECE | KING) << 7 | black_king]
        )
        white_king = white_king + (white_king & 7) >> 1
        black_king = black_king + (black_king & 7) >> 1
        entry = self.pawns.find(
            key,
            self.placement.bitboards[WHITE_PIECE | PAWN],
            self.placement.bitboards[BLACK_PIECE | PAWN],
            white_king,
            black_king,
        )
        total = self.sums[self.ply] + self.pawns.score(entry)
        total += self._attack(WHITE, entry, white_king, black_king)
        total -= self._attack(BLACK, entry, black_king, white_king)
        # These terms need the attacks of both sides.
        total += self._threats(WHITE, entry) - self._threats(BLACK, entry)
        total += self._danger(WHITE, white_king) - self._danger(BLACK, black_king)
        total += self._tempo_and_mop_up(board, WHITE) - self._tempo_and_mop_up(board, BLACK)
        return total

    def parts_by_name(self) -> dict[str, list[int]]:
        """The parts of the last computed score by name, for White and Black, without material and squares."""
        rows: dict[str, list[int]] = {
            "structure": [self.pawns.parts[side * PAWN_PARTS + STRUCTURE] for side in (WHITE, BLACK)],
            "shelter": [self.pawns.parts[side * PAWN_PARTS + KING_SHELTER] for side in (WHITE, BLACK)],
            "passed": [
                self.pawns.parts[side * PAWN_PARTS + PASSERS] + self.parts[side * PARTS + ADVANCE]
                for side in (WHITE, BLACK)
            ],
        }
        for name, part in PART_NAMES.items():
            rows[name] = [self.parts[side * PARTS + part] for side in (WHITE, BLACK)]
        return rows

    def _attack(self, side: int, entry: int, king: int, other_king: int) -> int:
        """Mobility and piece placement of a side. Sets the attack bitboards for `_threats` and `_danger`.

        Bishops see through their own queens, rooks through their own rooks and queens (X-rays).
        """
        own = WHITE_PIECE << side
        other = own ^ ANY_PIECE
        occupied = self.placement.bitboards[own] | self.placement.bitboards[other]
        pawn_attacks = self.pawns.words[entry | ATTACKS | side]
        zone = KING_ZONE[(side ^ 1) << 6 | other_king]
        allowed = ~(self.placement.bitboards[own] | self.pawns.words[entry | ATTACKS | side ^ 1])
        mobility = placement = units = 0
        union = KING_MOVES[king]
        twice = union & pawn_attacks
        union |= pawn_attacks
        outposts = OUTPOSTS[side] & pawn_attacks & ~self.pawns.words[entry | SPANS | side ^ 1]

        by_kind = 0
        todo = self.placement.bitboards[own | KNIGHT]
        if todo & outposts:
            placement += popcount(todo & outposts) * NUMBERS[OUTPOST]
        while todo:
            moves = KNIGHT_MOVES[lowest(todo)]
            todo &= todo - 1
            by_kind |= moves
            twice |= union & moves
            union |= moves
            mobility += NUMBERS[KNIGHT_MOBILITY + popcount(moves & allowed)]
            if moves & zone:
                units += KNIGHT_UNITS
        self.by_knights[side] = by_kind

        by_kind = 0
        todo = self.placement.bitboards[own | BISHOP]
        if todo & todo - 1:
            placement += NUMBERS[BISHOP_PAIR]
        if todo & outposts:
            placement += popcount(todo & outposts) * NUMBERS[OUTPOST + 1]
        while todo:
            i = lowest(todo)
            same_colour = SQUARES_OF_COLOUR[(i >> 3) + i & 1]
            moves = _diagonal(i, occupied ^ self.placement.bitboards[own | QUEEN])
            todo &= todo - 1
            by_kind |= moves
            twice |= union & moves
            union |= moves
            mobility += NUMBERS[BISHOP_MOBILITY + popcount(moves & allowed)]
            placement += popcount(same_colour & self.placement.bitboards[own | PAWN]) * NUMBERS[BISHOP_PAWNS]
            if moves & zone:
                units += BISHOP_UNITS
        self.by_bishops[side] = by_kind

        by_kind = 0
        todo = self.placement.bitboards[own | ROOK]
        seventh = LAST_RANKS[side << 1]
        if todo & seventh and (
            self.placement.bitboards[other | KING] & LAST_RANKS[side << 1 | 1]
            or self.placement.bitboards[other | PAWN] & seventh
        ):
            placement += popcount(todo & seventh) * NUMBERS[ROOK_ON_SEVENTH]
        while todo:
            i = lowest(todo)
            moves = _straight(
                i, occupied ^ (self.placement.bitboards[own | QUEEN] | self.placement.bitboards[own | ROOK])
            )
            todo &= todo - 1
            by_kind |= moves
            twice |= union & moves
            union |= moves
            mobility += NUMBERS[ROOK_MOBILITY + popcount(moves & allowed)]
            if FILES[i & 7] & self.placement.bitboards[own | PAWN] == 0:
                placement += NUMBERS[ROOK_FILE + (FILES[i & 7] & self.placement.bitboards[other | PAWN] == 0)]
            if moves & zone:
                units += ROOK_UNITS
        self.by_rooks[side] = by_kind

        by_kind = 0
        todo = self.placement.bitboards[own | QUEEN]
        while todo:
            i = lowest(todo)
            moves = _diagonal(i, occupied) | _straight(i, occupied)
            todo &= todo - 1
            by_kind |= moves
            twice |= union & moves
            union |= moves
            mobility += NUMBERS[QUEEN_MOBILITY + popcount(moves & allowed)]
            if moves & zone:
                units += QUEEN_UNITS
        self.by_queens[side] = by_kind

        self.attacked[side] = union
        self.twice[side] = twice
        self.units[side] = units
        self.parts[side * PARTS + MOBILITY] = mobility
        self.parts[side * PARTS + PLACEMENT] = placement
        return mobility + placement

    def _threats(self, side: int, entry: int) -> int:
        """Threats of a side, and the freedom of its passed pawns to advance."""
        own = WHITE_PIECE << side
        other = own ^ ANY_PIECE
        attacked = self.attacked[side]
        defended = self.attacked[side ^ 1]
        minors = self.placement.bitboards[other | KNIGHT] | self.placement.bitboards[other | BISHOP]
        majors = self.placement.bitboards[other | ROOK] | self.placement.bitboards[other | QUEEN]
        threats = advance = 0
        hits = self.pawns.words[entry | ATTACKS | side] & (minors | majors)
        if hits:
            threats += popcount(hits & minors) * NUMBERS[PAWN_THREAT]
            threats += popcount(hits & majors) * NUMBERS[PAWN_THREAT + 1]
        hits = (self.by_knights[side] | self.by_bishops[side]) & majors
        if hits:
            threats += popcount(hits & self.placement.bitboards[other | ROOK]) * NUMBERS[MINOR_THREAT]
            threats += popcount(hits & self.placement.bitboards[other | QUEEN]) * NUMBERS[MINOR_THREAT + 1]
        hits = self.by_rooks[side] & self.placement.bitboards[other | QUEEN]
        if hits:
            threats += popcount(hits) * NUMBERS[ROOK_THREAT]
        hits = attacked & ~defended & self.placement.bitboards[other]
        if hits:
            threats += popcount(hits & self.placement.bitboards[other | PAWN]) * NUMBERS[HANGING]
            threats += popcount(hits & (minors | majors)) * NUMBERS[HANGING + 1]
        todo = self.pawns.words[entry | PASSED_PAWNS | side]
        while todo:
            i = lowest(todo)
            todo &= todo - 1
            rank = i >> 3 if side == WHITE else 7 - (i >> 3)
            path = FRONT_SPANS[side << 6 | i]
            stop = path & KING_MOVES[i]
            hits = self.placement.bitboards[own] | self.placement.bitboards[other]
            if stop & hits:
                advance += NUMBERS[PASSED_BLOCKED + rank]
            elif stop & defended == 0:
                advance += NUMBERS[PASSED_STOP_SAFE + rank]
                if path & (hits | defended) == 0:
                    advance += NUMBERS[PASSED_PATH_FREE + rank]
        self.parts[side * PARTS + THREATS] = threats
        self.parts[side * PARTS + ADVANCE] = advance
        return threats + advance

    def _danger(self, side: int, king: int) -> int:
        """The king safety penalty of a side: zero or negative."""
        enemy = side ^ 1
        own = WHITE_PIECE << side
        other = own ^ ANY_PIECE
        units = self.units[enemy]
        danger = 0
        # A single knight, bishop or rook is no attack.
        if units > ROOK_UNITS:
            zone = KING_ZONE[side << 6 | king] & self.attacked[enemy]
            occupied = self.placement.bitboards[own] | self.placement.bitboards[other]
            units += popcount(zone) + popcount(zone & ~self.twice[side])
            safe = ~(self.attacked[side] | self.placement.bitboards[other])
            straight = _straight(king, occupied) & safe
            diagonal = _diagonal(king, occupied) & safe
            if KNIGHT_MOVES[king] & safe & self.by_knights[enemy]:
                units += KNIGHT_CHECK
            if diagonal & self.by_bishops[enemy]:
                units += BISHOP_CHECK
            if straight & self.by_rooks[enemy]:
                units += ROOK_CHECK
            if (straight | diagonal) & self.by_queens[enemy]:
                units += QUEEN_CHECK
            if self.placement.bitboards[other | QUEEN] == 0:
                units = units >> 1
            danger = NUMBERS[KING_DANGER + min(units, DANGERS - 1)]
        self.parts[side * PARTS + DANGER] = danger
        return danger

    def _tempo_and_mop_up(self, board: Board, side: int) -> int:
        """The tempo bonus, and the mop-up bonus against a bare king."""
        tempo = NUMBERS[TEMPO] if board.side == side else 0
        progress = mop_up(board, side) if board.count[side ^ 1] == 1 else 0
        self.parts[side * PARTS + MOVE] = tempo
        self.parts[side * PARTS + MOP_UP] = progress
        return tempo + progress


def _straight(i: int, occupied: int) -> int:
    """Rook attacks from a square."""
    rank = RANK_ATTACKS[(i & 7) << 6 | (occupied & RANKS[i]) * B_FILE >> 58 & 63] & RANKS[i]
    file = FILE_ATTACKS[i >> 3 << 6 | (occupied >> (i & 7) & A_FILE) * LONG_DIAGONAL >> 58 & 63] << (i & 7)
    return rank | file


def _diagonal(i: int, occupied: int) -> int:
    """Bishop attacks from a square."""
    up = RANK_ATTACKS[(i & 7) << 6 | (occupied & DIAGONALS[i]) * B_FILE >> 58 & 63] & DIAGONALS[i]
    down = RANK_ATTACKS[(i & 7) << 6 | (occupied & ANTIDIAGONALS[i]) * B_FILE >> 58 & 63] & ANTIDIAGONALS[i]
    return up | down
