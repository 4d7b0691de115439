"""A file of an endgame tablebase in Ronald de Man's format ("Syzygy").

Source: Ronald de Man, the tables and their generator ("syzygy1"), 2013, whose files these are.

A table holds the positions of one set of pieces, such as KRvKP, without castling rights. A .rtbw file says
whether the side to move wins, loses or draws, with the fifty-move rule taken into account (WDL); a .rtbz file
holds the distance to the next capture or pawn move that keeps the result (DTZ), for one side to move only.

A position becomes an index like this. The colours are exchanged so that the first side of the table's name is
White. The board is turned and mirrored so that the leading piece stands in a part of it: of tables without
pawns, in the triangle a1-d1-d4; of those with pawns, the leading pawn on the files a to d, each file with a
table of its own. The leading group (pawns of the side that has fewer; else three different pieces, or the two
kings) gets a number by its squares; every further group of like pieces is a combination of the squares left.
The values stand in blocks, compressed by pairs of symbols ("Re-Pair") under a canonical Huffman code.
"""

import mmap
import os

from x88.piece import BISHOP, BLACK, KING, KNIGHT, PAWN, QUEEN, ROOK

Men = list[tuple[int, int]]
"""The pieces on a board, numbered as in the files, and their squares from 0 to 63."""

LOSS, BLESSED_LOSS, DRAW, CURSED_WIN, WIN = range(-2, 3)
"""Results for the side to move. A cursed win and a blessed loss are draws by the fifty-move rule."""

NUMBER_OF_KIND = {PAWN: 1, KNIGHT: 2, BISHOP: 3, ROOK: 4, QUEEN: 5, KING: 6}
"""The numbers of the pieces in the files; a black piece has 8 added."""

LETTERS = "PNBRQK"

MAGIC = {".rtbw": b"\x71\xe8\x23\x5d", ".rtbz": b"\xd7\x66\x0c\xa5"}

# The first byte of a part's description.
OTHER_SIDE = 1  # DTZ: the positions with Black to move are stored
MAPPED = 2  # DTZ: values go through a map
WINS_IN_PLIES = 4
LOSSES_IN_PLIES = 8
WIDE_MAP = 16
ONE_VALUE = 128

DEEPEST_PAIR = 255
"""A symbol stands for 256 values at most."""

# The numbers of squares, 0 for a1 and 63 for h8.


def _above_diagonal(square: int) -> int:
    """Positive above the diagonal a1-h8, 0 on it, negative below it."""
    return (square >> 3) - (square & 7)


BELOW = [-1] * 64
"""The 28 squares below the diagonal, numbered."""

TRIANGLE = [-1] * 64
"""The squares of the triangle a1-d1-d4: first the six below the diagonal, then the four on it."""

KINGS = [-1] * (10 * 64)
"""[TRIANGLE of the first king * 64 + the other king]: the 462 pairs that are not next to each other."""

PAWN_ORDER = [0] * 64
"""Where pawns stand: from 47 on a2 down, the squares nearest to the edge and to home first."""

CHOOSE = [[0] * 65 for _ in range(8)]
"""[k][n]: the combinations of k out of n."""

LEADING_PAWNS = [[0] * 64 for _ in range(6)]
"""[pawns][square of the leading one]: the first number of its combinations with the others."""

LEADING_SIZES = [[0] * 4 for _ in range(6)]
"""[pawns][file of the leading one]: all of them."""


def _number_squares() -> None:
    below = [square for square in range(64) if _above_diagonal(square) < 0]
    for number, square in enumerate(below):
        BELOW[square] = number
    corner = [square for square in range(28) if square & 7 < 4 and _above_diagonal(square) <= 0]
    corner.sort(key=lambda square: (_above_diagonal(square) == 0, square))
    for number, square in enumerate(corner):
        TRIANGLE[square] = number
    number = 0
    last = []
    for first in corner:
        for second in range(64):
            if max(abs((first >> 3) - (second >> 3)), abs((first & 7) - (second & 7))) <= 1:
                continue
            on_diagonal = _above_diagonal(first) == 0
            if on_diagonal and _above_diagonal(second) > 0:
                continue
            if on_diagonal and _above_diagonal(second) == 0:
                last.append(TRIANGLE[first] * 64 + second)
                continue
            KINGS[TRIANGLE[first] * 64 + second] = number
            number += 1
    for place in last:
        KINGS[place] = number
        number += 1
    for n in range(65):
        CHOOSE[0][n] = 1
        for k in range(1, 8):
            CHOOSE[k][n] = CHOOSE[k - 1][n - 1] + CHOOSE[k][n - 1] if n else 0
    order = 47
    for file in range(4):
        for rank in range(1, 7):
            PAWN_ORDER[8 * rank + file] = order
            PAWN_ORDER[8 * rank + 7 - file] = order - 1
            order -= 2
    for pawns in range(1, 6):
        for file in range(4):
            number = 0
            for rank in range(1, 7):
                LEADING_PAWNS[pawns][8 * rank + file] = number
                number += CHOOSE[pawns - 1][PAWN_ORDER[8 * rank + file]]
            LEADING_SIZES[pawns][file] = number


_number_squares()


class Part:
    """The compressed values of a table for one side to move and, with pawns, one file of the leading pawn.

    `pieces` are those of the table in the order of the index; `lengths` are the sizes of their groups, and
    `factors` what the number of each group is multiplied by; `size` is the number of positions.
    """

    def __init__(self) -> None:
        self.pieces: list[int] = []
        self.lengths: list[int] = []
        self.factors: list[int] = []
        self.size = 0
        self.flags = 0
        self.value = 0
        self.block_size = 0
        self.span = 0
        self.blocks = 0
        self.length_count = 0
        self.shortest = 0
        self.symbols = 0
        self.lowest: list[int] = []
        self.bases: list[int] = []
        self.spans: list[int] = []
        self.pairs = 0
        self.sparse = 0
        self.sparse_count = 0
        self.lengths_at = 0
        self.data = 0
        self.maps = [0] * 4


class Table:
    """A file of one set of pieces: WDL or DTZ. It is mapped and read when it is first asked."""

    def __init__(self, path: str, white: str, black: str, suffix: str) -> None:
        self.path = path
        self.suffix = suffix
        self.is_symmetric = white == black
        self.white = signature(white, black)
        counts = [[side.count(letter) for letter in LETTERS] for side in (white, black)]
        self.count = len(white) + len(black)
        self.has_pawns = counts[0][0] + counts[1][0] > 0
        self.has_unique = any(count == 1 for side in counts for count in side[:5])
        # The side with fewer pawns leads, as its pawns make fewer combinations.
        pawns = [count for count in (counts[0][0], counts[1][0]) if count]
        self.leading_pawns = min(pawns, default=0)
        self.both_pawns = len(pawns) == 2
        self.parts: list[list[Part]] = []
        self.problem = ""
        self.is_read = False
        self._content: mmap.mmap | bytes = b""

    def read(self) -> None:
        """Map the file and read its description. Raises ValueError with the reason, or OSError."""
        with open(self.path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < 16 or file.read(4) != MAGIC[self.suffix]:
                raise ValueError("it is no tablebase file")
            # Its data are blocks of 64 bytes, after which a checksum of 16 bytes follows.
            if size % 64 != 16:
                raise ValueError(f"{size} bytes are not those of a whole file")
            self._content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        try:
            self._describe(size)
        except IndexError:
            raise ValueError("its description is damaged") from None

    def _describe(self, size: int) -> None:
        at = 4
        flags = self._content[at]
        if bool(flags & 2) != self.has_pawns or bool(flags & 1) == self.is_symmetric:
            raise ValueError("it holds other pieces than its name says")
        at += 1
        files = 4 if self.has_pawns else 1
        sides = 1 if self.is_symmetric or self.suffix == ".rtbz" else 2
        self.parts = [[Part() for _ in range(files)] for _ in range(sides)]
        for file in range(files):
            orders = [self._content[at], self._content[at + 1] if self.both_pawns else 0xFF]
            at += 2 if self.both_pawns else 1
            for side in range(sides):
                part = self.parts[side][file]
                part.pieces = [self._content[at + n] >> 4 * side & 15 for n in range(self.count)]
                self._group(part, orders[0] >> 4 * side & 15, orders[1] >> 4 * side & 15, file)
            at += self.count
        at += at & 1
        for file in range(files):
            for side in range(sides):
                at = self._read_sizes(self.parts[side][file], at)
        if self.suffix == ".rtbz":
            at = self._read_maps(at)
        each = [self.parts[side][file] for file in range(files) for side in range(sides)]
        for part in each:
            part.sparse = at
            at += 6 * part.sparse_count
        for part in each:
            part.lengths_at = at
            at += 2 * part.length_count
        for part in each:
            at = at + 63 & ~63
            part.data = at
            at += part.blocks * part.block_size
        if at > size:
            raise ValueError("it is cut off")

    def _group(self, part: Part, leading: int, second: int, file: int) -> None:
        """Group the pieces, and find what each group's number is multiplied by."""
        first = self.leading_pawns if self.has_pawns else 3 if self.has_unique else 2
        lengths = [first]
        for n in range(first, self.count):
            if n > first and part.pieces[n] == part.pieces[n - 1]:
                lengths[-1] += 1
            else:
                lengths.append(1)
        part.lengths = lengths
        part.factors = [0] * len(lengths)
        free = 64 - lengths[0] - (lengths[1] if self.both_pawns else 0)
        following = 2 if self.both_pawns else 1
        factor = 1
        place = 0
        while following < len(lengths) or place in (leading, second):
            if place == leading:
                part.factors[0] = factor
                if self.has_pawns:
                    factor *= LEADING_SIZES[lengths[0]][file]
                else:
                    factor *= 31332 if self.has_unique else 462
            elif place == second:
                part.factors[1] = factor
                factor *= CHOOSE[lengths[1]][48 - lengths[0]]
            else:
                part.factors[following] = factor
                factor *= CHOOSE[lengths[following]][free]
                free -= lengths[following]
                following += 1
            place += 1
        part.size = factor

    def _read_sizes(self, part: Part, at: int) -> int:
        """Read how a part is compressed; returns where the next one begins."""
        content = self._content
        part.flags = content[at]
        if part.flags & ONE_VALUE:
            part.value = content[at + 1]
            return at + 2
        part.block_size = 1 << content[at + 1]
        part.span = 1 << content[at + 2]
        part.sparse_count = (part.size + part.span - 1) // part.span
        part.blocks = self._word(at + 4, 4)
        part.length_count = part.blocks + content[at + 3]
        longest, part.shortest = content[at + 8], content[at + 9]
        at += 10
        count = longest - part.shortest + 1
        if not 0 < part.shortest <= longest <= 32:
            raise ValueError("its code is damaged")
        part.lowest = [self._word(at + 2 * n, 2) for n in range(count)]
        at += 2 * count
        # A code of each length begins where the longer ones, half as far apart, end.
        bases = [0] * count
        for n in reversed(range(count - 1)):
            bases[n] = (bases[n + 1] + part.lowest[n] - part.lowest[n + 1]) // 2
        part.bases = [base << 64 - n - part.shortest for n, base in enumerate(bases)]
        part.symbols = self._word(at, 2)
        part.pairs = at + 2
        part.spans = [0] * part.symbols
        for symbol in range(part.symbols):
            left, right = self._pair(part, symbol)
            if right != 0xFFF:
                if max(left, right) >= symbol:
                    self._spread(part, symbol, 0)
                else:
                    part.spans[symbol] = part.spans[left] + part.spans[right] + 1
        return part.pairs + 3 * part.symbols + (part.symbols & 1)

    def _spread(self, part: Part, symbol: int, depth: int) -> int:
        """How many values beyond the first a symbol stands for."""
        left, right = self._pair(part, symbol)
        if right == 0xFFF:
            return 0
        if depth > DEEPEST_PAIR or max(left, right) >= part.symbols:
            raise ValueError("its symbols are damaged")
        if not part.spans[symbol]:
            part.spans[symbol] = (
                self._spread(part, left, depth + 1) + self._spread(part, right, depth + 1) + 1
            )
        return part.spans[symbol]

    def _pair(self, part: Part, symbol: int) -> tuple[int, int]:
        """The two symbols that a symbol stands for; 0xFFF as the second if the first is a value."""
        at = part.pairs + 3 * symbol
        low, middle, high = self._content[at], self._content[at + 1], self._content[at + 2]
        return (middle & 15) << 8 | low, high << 4 | middle >> 4

    def _read_maps(self, at: int) -> int:
        """Find the maps of values, four for each file: of wins, losses, cursed wins, blessed losses."""
        for part in self.parts[0]:
            if part.flags & MAPPED:
                width = 2 if part.flags & WIDE_MAP else 1
                at += at & (width - 1)
                for n in range(4):
                    part.maps[n] = at + width
                    at += width * (self._word(at, width) + 1)
        return at + (at & 1)

    def _word(self, at: int, width: int) -> int:
        if at + width > len(self._content):
            raise IndexError
        return int.from_bytes(self._content[at : at + width], "little")

    def value(self, men: Men, side: int, result: int) -> int | None:
        """The stored value of a position: for WDL from LOSS to WIN, for DTZ the distance in plies to the next
        zeroing move of a position with this result. None if DTZ has the other side to move only.
        """
        # The colours are exchanged for the file's sake if its white pieces are Black's here; and of a
        # symmetric table only the positions with White to move are there.
        is_black_to_move = side == BLACK
        swaps = is_black_to_move if self.is_symmetric else self.white != signature_of(men)
        mover = int(is_black_to_move != swaps)
        turn = 56 if swaps else 0
        pieces: list[int] = []
        squares: list[int] = []
        for piece, square in men:
            pieces.append(piece ^ 8 if swaps else piece)
            squares.append(square ^ turn)
        file = 0
        if self.has_pawns:
            lead = self.parts[0][0].pieces[0]
            pawns = [square for piece, square in zip(pieces, squares, strict=True) if piece == lead]
            leader = max(pawns, key=lambda square: PAWN_ORDER[square])
            file = min(leader & 7, 7 - (leader & 7))
        if self.suffix == ".rtbz":
            part = self.parts[0][file]
            if part.flags & OTHER_SIDE != mover and not (self.is_symmetric and not self.has_pawns):
                return None
        else:
            part = self.parts[mover if len(self.parts) == 2 else 0][file]
        value = self._decompress(part, self._index(part, pieces, squares))
        if self.suffix == ".rtbw":
            return value - 2
        if part.flags & MAPPED:
            width = 2 if part.flags & WIDE_MAP else 1
            order = {WIN: 0, LOSS: 1, CURSED_WIN: 2, BLESSED_LOSS: 3}[result]
            value = self._word(part.maps[order] + width * value, width)
        in_plies = {WIN: part.flags & WINS_IN_PLIES, LOSS: part.flags & LOSSES_IN_PLIES}.get(result, 0)
        return value + 1 if in_plies else 2 * value + 1

    def _index(self, part: Part, pieces: list[int], squares: list[int]) -> int:
        """The number of a position: its pieces as the file numbers them, and their squares."""
        left = list(zip(pieces, squares, strict=True))
        ordered = []
        for piece in part.pieces:
            place = next(n for n, pair in enumerate(left) if pair[0] == piece)
            ordered.append(left.pop(place)[1])
        count = part.lengths[0]
        if self.has_pawns:
            leader = max(range(count), key=lambda n: PAWN_ORDER[ordered[n]])
            ordered[0], ordered[leader] = ordered[leader], ordered[0]
        if ordered[0] & 7 > 3:
            ordered = [square ^ 7 for square in ordered]
        if self.has_pawns:
            index = LEADING_PAWNS[count][ordered[0]]
            others = sorted(ordered[1:count], key=lambda square: PAWN_ORDER[square])
            for n, square in enumerate(others, 1):
                index += CHOOSE[n][PAWN_ORDER[square]]
        else:
            if ordered[0] >> 3 > 3:
                ordered = [square ^ 56 for square in ordered]
            side = next((side for square in ordered[:count] if (side := _above_diagonal(square))), 0)
            if side > 0:
                ordered = [square >> 3 | (square & 7) << 3 for square in ordered]
            index = _three(*ordered[:3]) if self.has_unique else KINGS[TRIANGLE[ordered[0]] * 64 + ordered[1]]
        index *= part.factors[0]
        at = count
        skipped = 8 if self.both_pawns else 0
        for length, factor in zip(part.lengths[1:], part.factors[1:], strict=True):
            number = 0
            for n, square in enumerate(sorted(ordered[at : at + length]), 1):
                lower = sum(other < square for other in ordered[:at])
                number += CHOOSE[n][square - lower - skipped]
            index += number * factor
            at += length
            skipped = 0
        return index

    def _decompress(self, part: Part, index: int) -> int:
        """The value with a number."""
        if part.flags & ONE_VALUE:
            return part.value
        # Every `span` values, the sparse index tells a block and the place in it, in the middle of the span.
        entry, rest = divmod(index, part.span)
        at = part.sparse + 6 * entry
        block = self._word(at, 4)
        place = self._word(at + 4, 2) + rest - part.span // 2
        while place < 0:
            block -= 1
            place += self._word(part.lengths_at + 2 * block, 2) + 1
        while place > (length := self._word(part.lengths_at + 2 * block, 2)):
            place -= length + 1
            block += 1
        at = part.data + block * part.block_size
        bits = int.from_bytes(self._content[at : at + 8], "big")
        at += 8
        known = 64
        while True:
            size = 0
            while bits < part.bases[size]:
                size += 1
            symbol = (bits - part.bases[size] >> 64 - size - part.shortest) + part.lowest[size]
            if place <= part.spans[symbol]:
                break
            place -= part.spans[symbol] + 1
            size += part.shortest
            bits = bits << size & 0xFFFFFFFFFFFFFFFF
            known -= size
            if known <= 32:
                known += 32
                bits |= int.from_bytes(self._content[at : at + 4], "big") << 64 - known
                at += 4
        while part.spans[symbol]:
            left, right = self._pair(part, symbol)
            if place <= part.spans[left]:
                symbol = left
            else:
                place -= part.spans[left] + 1
                symbol = right
        return self._pair(part, symbol)[0]


def _three(first: int, second: int, third: int) -> int:
    """The number of three different pieces, the first in the triangle a1-d1-d4, the first of them that is not
    on the diagonal below it.
    """
    after = second > first
    later = (third > first) + (third > second)
    if _above_diagonal(first):
        return (TRIANGLE[first] * 63 + second - after) * 62 + third - later
    rank = first >> 3
    number = 6 * 63 * 62
    if _above_diagonal(second):
        return number + (rank * 28 + BELOW[second]) * 62 + third - later
    number += 4 * 28 * 62
    if _above_diagonal(third):
        return number + (rank * 7 + (second >> 3) - after) * 28 + BELOW[third]
    return number + 4 * 7 * 28 + (rank * 7 + (second >> 3) - after) * 6 + (third >> 3) - later


def signature(white: str, black: str) -> int:
    """A number for a set of pieces, by their letters: the count of every piece in four bits."""
    found = 0
    for side, letters in enumerate((white, black)):
        for n, letter in enumerate(LETTERS[:5]):
            found |= letters.count(letter) << 4 * (5 * side + n)
    return found


def signature_of(men: Men) -> int:
    """The signature of the pieces on a board."""
    found = 0
    for piece, _ in men:
        if piece & 7 != NUMBER_OF_KIND[KING]:
            found += 1 << 4 * (5 * (piece >> 3) + (piece & 7) - 1)
    return found
