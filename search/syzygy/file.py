"""A file of an endgame tablebase in Ronald de Man's format ("Syzygy").

Source: Ronald de Man, the tables and their generator ("syzygy1"), 2013.

A table holds the positions of one set of pieces, such as KRvKP, without castling rights. A .rtbw file says
whether the side to move wins, loses or draws, with the fifty-move rule taken into account (WDL); a .rtbz file
holds the distance to the next capture or pawn move that keeps the result (DTZ), for one side to move only.

A position is mapped to an index as follows. The colours are exchanged so that the first side of the table's
name is White. The board is turned and mirrored so that the leading piece stands in one part of it: without
pawns, in the triangle a1-d1-d4; with pawns, the leading pawn on files a to d, each file with a table of its
own. The leading group (the pawns of the side with fewer; otherwise three different pieces, or the two kings)
is numbered by its squares; every further group of equal pieces is a combination of the remaining squares. The
values are stored in blocks, compressed by pairs of symbols ("Re-Pair") and a canonical Huffman code
(`search.syzygy.pairs`).

A table is mapped and its description read at the first probe, which takes the GIL; later probes do not.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

import mmap
import os
import threading
from collections.abc import Callable
from typing import BinaryIO

from search.syzygy import squares
from search.syzygy.squares import CHOOSE, LEADING_SIZES

if not cython.compiled:
    from search.syzygy.pairs import DAMAGED, MOST_LENGTHS, MOST_PIECES, ONE_VALUE, Part
    from x88.board import Board
    from x88.piece import BISHOP, BLACK, KIND, KING, KNIGHT, PAWN, QUEEN, ROOK
    from x88.sets import count
    from x88.square import index64

    LOSS = -2
    BLESSED_LOSS = -1
    DRAW = 0
    CURSED_WIN = 1
    WIN = 2
    UNKNOWN = 1000000
    OTHER_SIDE = 1000001
    UNREAD = 0
    READY = 1
    UNUSABLE = 2
    BLACK_IS_STORED = 1
    MAPPED = 2
    WINS_IN_PLIES = 4
    LOSSES_IN_PLIES = 8
    WIDE_MAP = 16

    def file_size(descriptor: int) -> int:
        """The size in bytes of an open, mapped file."""
        return os.fstat(descriptor).st_size


LETTERS = "PNBRQK"

MAGIC = {".rtbw": b"\x71\xe8\x23\x5d", ".rtbz": b"\xd7\x66\x0c\xa5"}

DESCRIPTION = 1 << 18
"""The first bytes of a file that suffice to describe all its parts."""

CHECKED = 1024
"""Blocks that `check` reads between two reports."""

DEEPEST_PAIR = 255
"""A symbol stands for at most 256 values."""

LEAF = 0xFFF
"""The second symbol that marks a value rather than a pair."""

LARGEST_EXPONENT = 24
"""Blocks and spans are powers of two; in every table their exponents are at most this."""

NUMBER_OF_KIND = [0] * 16
"""The numbers of the pieces in the files, by kind; a black piece has 8 added."""
for _number, _kind in enumerate((PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING), 1):
    NUMBER_OF_KIND[_kind] = _number

SIGNED = [0] * 10
"""The piece codes that a `signature` counts, from the highest digit to the lowest."""
for _side in range(2):
    for _place, _kind in enumerate((QUEEN, ROOK, BISHOP, KNIGHT, PAWN)):
        SIGNED[5 - 5 * _side + _place] = 16 << _side | _kind

PAWN_ORDER = squares.PAWN_ORDER

_reading = threading.Lock()


class Table:
    """A file of one set of pieces: WDL or DTZ.

    `lower` and `higher` make a tree of tables by `key`, the smaller of its two signatures, since dictionaries
    need the GIL.
    """

    def __init__(
        self,
        path: str,
        white: str,
        black: str,
        suffix: str,
        on_problem: Callable[[str], object] = lambda _: None,
    ) -> None:
        """`on_problem` is called once, in the thread that finds out, with the reason why the file is
        unusable. Raises ValueError for another suffix, and for more pieces than tables have.
        """
        self.path = os.fspath(path)
        self.suffix = suffix
        self.is_symmetric = white == black
        self.white = signature(white, black)
        self.key = min(self.white, signature(black, white))
        self.lower: Table | None = None
        self.higher: Table | None = None
        self.count = len(white) + len(black)
        if suffix not in MAGIC:
            raise ValueError(f"{suffix!r} is neither .rtbw nor .rtbz")
        if self.count > MOST_PIECES:
            raise ValueError(f"{white}v{black}: tables of more than {MOST_PIECES} pieces are not used")
        self.sides = (white, black)
        counts = [[side.count(letter) for letter in LETTERS] for side in (white, black)]
        self.has_pawns = counts[0][0] + counts[1][0] > 0
        self.has_unique = any(count == 1 for side in counts for count in side[:5])
        # The side with fewer pawns leads, since its pawns have fewer combinations.
        pawns = [count for count in (counts[0][0], counts[1][0]) if count]
        self.leading_pawns = min(pawns, default=0)
        self.both_pawns = len(pawns) == 2
        self.is_wdl = suffix == ".rtbw"
        self.has_two_sides = False
        self.lead = 0
        self.first = Part()
        self.parts: list[list[Part]] = []
        self.state = UNREAD
        self.descriptor = -1
        self.size = 0
        self._on_problem = on_problem
        self._held: tuple[BinaryIO, mmap.mmap] | None = None

    def __del__(self) -> None:
        if self._held is not None:
            self._held[0].close()

    # Reading the description.

    def read(self) -> None:
        """Map the file and read its description. Raises ValueError with the reason, or OSError."""
        file = open(self.path, "rb")  # noqa: SIM115 (it stays open, to see whether it is cut while in use)
        try:
            size = os.fstat(file.fileno()).st_size
            description = file.read(DESCRIPTION)
            if size < 16 or description[:4] != MAGIC[self.suffix]:
                raise ValueError("it is not a tablebase file")
            # Its data are blocks of 64 bytes, followed by a checksum of 16 bytes.
            if size % 64 != 16:
                raise ValueError(f"{size} bytes are not those of a whole file")
            try:
                self._describe(description, size)
            except IndexError:
                raise ValueError("its description is damaged") from None
            content = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
        except BaseException:
            file.close()
            raise
        self._held = file, content
        self.descriptor = file.fileno()
        self.size = size
        for side in self.parts:
            for part in side:
                part.set_content(content, size)

    def _describe(self, content: bytes, size: int) -> None:
        at = 4
        flags = content[at]
        if bool(flags & 2) != self.has_pawns or bool(flags & 1) == self.is_symmetric:
            raise ValueError("it holds other pieces than its name says")
        at += 1
        files = 4 if self.has_pawns else 1
        sides = 1 if self.is_symmetric or not self.is_wdl else 2
        self.has_two_sides = sides == 2
        self.parts = [[Part() for _ in range(files)] for _ in range(sides)]
        each = [self.parts[side][file] for side in range(sides) for file in range(files)]
        for n in range(len(each) - 1):
            _link(each[n], each[n + 1])
        self.first = each[0]
        for file in range(files):
            orders = [content[at], content[at + 1] if self.both_pawns else 0xFF]
            at += 2 if self.both_pawns else 1
            for side in range(sides):
                pieces = [content[at + n] >> 4 * side & 15 for n in range(self.count)]
                if not self._is_mine(pieces):
                    raise ValueError("it holds other pieces than its name says")
                order = [orders[0] >> 4 * side & 15, orders[1] >> 4 * side & 15]
                self._group(self.parts[side][file], pieces, order, file)
                self.lead = pieces[0]
            at += self.count
        at += at & 1
        for file in range(files):
            for side in range(sides):
                at = _read_sizes(self.parts[side][file], content, at)
        if not self.is_wdl:
            at = self._read_maps(content, at)
        self._place_data(at, size)

    def _is_mine(self, pieces: list[int]) -> bool:
        """Whether these are the pieces of the table's name, with the leading ones first."""
        named = []
        for black, letters in enumerate(self.sides):
            named += [LETTERS.index(letter) + 1 | black << 3 for letter in letters]
        leading = pieces[: self.leading_pawns]
        following = pieces[self.leading_pawns :]
        return (
            sorted(pieces) == sorted(named)
            and all(piece & 7 == 1 and piece == leading[0] for piece in leading)
            and (not self.both_pawns or following[0] & 7 == 1)
        )

    def _group(self, part: Part, pieces: list[int], order: list[int], file: int) -> None:
        """Group the pieces, and compute each group's factor in the index: the leading group and the second
        side's pawns come where `order` says, the others in their order.
        """
        first = self.leading_pawns if self.has_pawns else 3 if self.has_unique else 2
        lengths = [first]
        for n in range(first, self.count):
            if n > first and pieces[n] == pieces[n - 1]:
                lengths[-1] += 1
            else:
                lengths.append(1)
        groups = len(lengths)
        leaders = order if self.both_pawns else order[:1]
        if max(leaders) >= groups or len(set(leaders)) < len(leaders):
            raise ValueError("its order of pieces is damaged")
        free = 64 - lengths[0] - (lengths[1] if self.both_pawns else 0)
        following = len(leaders)
        factor = 1
        for place in range(groups):
            group = leaders.index(place) if place in leaders else following
            part.lengths[group] = lengths[group]
            part.factors[group] = factor
            if group >= len(leaders):
                factor *= CHOOSE[65 * lengths[group] + free]
                free -= lengths[group]
                following += 1
            elif group:
                factor *= CHOOSE[65 * lengths[1] + 48 - lengths[0]]
            elif self.has_pawns:
                factor *= LEADING_SIZES[4 * lengths[0] + file]
            else:
                factor *= 31332 if self.has_unique else 462
        for n in range(self.count):
            part.pieces[n] = pieces[n]
        part.count = self.count
        part.groups = groups
        part.size = factor
        part.has_pawns = self.has_pawns
        part.has_unique = self.has_unique
        part.both_pawns = self.both_pawns

    def _read_maps(self, content: bytes, at: int) -> int:
        """Find the maps of values, four for each file: wins, losses, cursed wins, blessed losses."""
        for part in self.parts[0]:
            if part.flags & MAPPED:
                width = 2 if part.flags & WIDE_MAP else 1
                at += at & (width - 1)
                for n in range(4):
                    part.maps[n] = at + width
                    at += width * (_word(content, at, width) + 1)
        return at + (at & 1)

    def _place_data(self, at: int, size: int) -> None:
        """Find the data of the parts, after the description. Raises ValueError if they are truncated."""
        each = [part for file in zip(*self.parts, strict=True) for part in file]
        for part in each:
            part.sparse = at
            at += 6 * part.sparse_count
        for part in each:
            part.lengths_at = at
            at += 2 * part.block_count
        for part in each:
            at = at + 63 & ~63
            part.data = at
            at += part.blocks * part.block_size
        if at > size:
            raise ValueError("it is truncated")

    def check(self, progress: Callable[[int], object]) -> None:
        """Read every block. Damage that leaves the number of values as it was is not noticed. `progress` is
        called now and then with the number of bytes just read. Raises ValueError with the reason, or OSError.
        """
        self.read()
        for side in self.parts:
            for part in side:
                if not part.flags & ONE_VALUE:
                    self._check_part(part, progress)

    def _check_part(self, part: Part, progress: Callable[[int], object]) -> None:
        begin = entry = 0
        for block in range(part.blocks):
            if block % CHECKED == 0:
                if file_size(self.descriptor) < self.size:
                    raise ValueError("it was truncated while being read")
                progress(CHECKED * part.block_size)
            count = part.read_block(block)
            if count < 0:
                raise ValueError("its values are damaged")
            # An entry of the index is for the middle of its span.
            place = entry * part.span + (part.span >> 1) - begin
            while place < count and entry < part.sparse_count:
                at = part.sparse + 6 * entry
                if part.word(at, 4) != block or part.word(at + 4, 2) != place:
                    raise ValueError("its index is damaged")
                entry += 1
                place += part.span
            begin += count
        if begin != part.size:
            raise ValueError("its values are damaged")

    # Probing.

    def value_of(self, key: int, board: Board, result: int) -> int:
        """A position's `value` in the tree's table with this key; UNKNOWN if there is no usable one."""
        if key < self.key:
            return UNKNOWN if self.lower is None else self.lower.value_of(key, board, result)
        if key > self.key:
            return UNKNOWN if self.higher is None else self.higher.value_of(key, board, result)
        if self.state == UNREAD:
            self._open()
        return self.value(board, result) if self.state == READY else UNKNOWN

    def value(self, board: Board, result: int) -> int:
        """The stored value of a position: for WDL from LOSS to WIN, for DTZ the distance in plies to the next
        zeroing move of a position with this result. OTHER_SIDE if the DTZ table stores only positions with
        the other side to move, UNKNOWN if the file is damaged.
        """
        # Reading a mapping beyond the end of its file would kill the process.
        if file_size(self.descriptor) < self.size:
            self._give_up(True)
            return UNKNOWN
        # Exchange the colours if the file's white pieces are Black's here; a symmetric table has only the
        # positions with White to move.
        if self.is_symmetric:
            swaps = board.side == BLACK
        else:
            swaps = self.white != signature_of(board)
        mover = 1 if swaps != (board.side == BLACK) else 0
        pieces = [0] * 7
        squares = [0] * 7
        n = 0
        for side in range(2):
            for i in range(side << 4, (side << 4) + board.count[side]):
                square = board.pieces[i]
                pieces[n] = NUMBER_OF_KIND[board.squares[square] & KIND] | (8 if side != swaps else 0)
                square = index64(square)
                squares[n] = square ^ 56 if swaps else square
                n += 1
        part = 0
        if self.has_pawns:
            leader = -1
            for i in range(n):
                if pieces[i] == self.lead and PAWN_ORDER[squares[i]] > leader:
                    leader = PAWN_ORDER[squares[i]]
                    part = min(squares[i] & 7, 7 - (squares[i] & 7))
        if mover and self.has_two_sides:
            part += 4 if self.has_pawns else 1
        value = self._ask(self.first, part, pieces, squares, mover, result)
        if value == DAMAGED:
            self._give_up(False)
            return UNKNOWN
        return value

    def _ask(
        self, part: Part, number: int, pieces: list[int], squares: list[int], mover: int, result: int
    ) -> int:
        """The same from the part with a number, or DAMAGED. The chain of parts is followed from `part` on."""
        if number:
            return self._ask(part.following, number - 1, pieces, squares, mover, result)
        if not self.is_wdl and part.flags & BLACK_IS_STORED != mover:
            if self.has_pawns or not self.is_symmetric:
                return OTHER_SIDE
        value = part.value(part.number(pieces, squares))
        if value < 0:
            return DAMAGED
        if self.is_wdl:
            return value - 2 if value <= 4 else DAMAGED
        if part.flags & MAPPED:
            width = 2 if part.flags & WIDE_MAP else 1
            which = 0 if result == WIN else 1 if result == LOSS else 2 if result == CURSED_WIN else 3
            value = part.word(part.maps[which] + width * value, width)
            if value < 0:
                return DAMAGED
        if (result == WIN and part.flags & WINS_IN_PLIES) or (
            result == LOSS and part.flags & LOSSES_IN_PLIES
        ):
            return value + 1
        return 2 * value + 1

    def _open(self) -> None:
        """Read the file, unless another thread has done so or it is unusable."""
        reason = ""
        with _reading:
            if self.state != UNREAD:
                return
            try:
                self.read()
                self.state = READY
            except (OSError, OverflowError, ValueError, MemoryError) as error:
                self.state = UNUSABLE
                reason = str(error)
                if isinstance(error, OSError):
                    reason = error.strerror or reason
                reason = reason or "there is no memory for it"
        if reason:
            self._on_problem(f"{self.path}: {reason}")

    def _give_up(self, is_cut: bool) -> None:
        """Never probe this table again."""
        with _reading:
            if self.state == UNUSABLE:
                return
            self.state = UNUSABLE
        reason = "it was truncated while in use" if is_cut else "its values are damaged"
        self._on_problem(f"{self.path}: {reason}")


def _link(part: Part, following: Part) -> None:
    part.following = following


def _read_sizes(part: Part, content: bytes, at: int) -> int:
    """Read the compression parameters of a part; returns where the next one begins."""
    part.flags = content[at]
    if part.flags & ONE_VALUE:
        part.only_value = content[at + 1]
        return at + 2
    if max(content[at + 1], content[at + 2]) > LARGEST_EXPONENT:
        raise ValueError("its sizes are damaged")
    part.block_size = 1 << content[at + 1]
    part.span = 1 << content[at + 2]
    part.sparse_count = (part.size + part.span - 1) // part.span
    part.blocks = _word(content, at + 4, 4)
    part.block_count = part.blocks + content[at + 3]
    longest, shortest = content[at + 8], content[at + 9]
    at += 10
    if not 0 < shortest <= longest <= MOST_LENGTHS:
        raise ValueError("its code is damaged")
    count = longest - shortest + 1
    lowest = [_word(content, at + 2 * n, 2) for n in range(count)]
    at += 2 * count
    # The codes of a length begin where the longer ones, which are half as far apart, end.
    base = 0
    for n in reversed(range(count)):
        if n < count - 1:
            base = (base + lowest[n] - lowest[n + 1]) // 2
        if not 0 <= base < 1 << n + shortest:
            raise ValueError("its code is damaged")
        part.lowest[n] = lowest[n]
        part.bases[n] = base << 64 - n - shortest
    part.shortest = shortest
    symbols = _word(content, at, 2)
    at += 2
    triples = content[at : at + 3 * symbols]
    if len(triples) < 3 * symbols:
        raise IndexError
    # Three bytes: the pair of symbols that a symbol stands for, 12 bits each, or a value and LEAF.
    lefts = [(triples[n + 1] & 15) << 8 | triples[n] for n in range(0, 3 * symbols, 3)]
    rights = [triples[n + 2] << 4 | triples[n + 1] >> 4 for n in range(0, 3 * symbols, 3)]
    part.set_symbols(lefts, rights, _spans(lefts, rights))
    return at + 3 * symbols + (symbols & 1)


def _spans(lefts: list[int], rights: list[int]) -> list[int]:
    """The number of values beyond the first that each symbol stands for."""
    spans = [0 if right == LEAF else -1 for right in rights]

    def span(symbol: int, depth: int) -> int:
        if spans[symbol] < 0:
            left, right = lefts[symbol], rights[symbol]
            if depth > DEEPEST_PAIR or max(left, right) >= len(lefts):
                raise ValueError("its symbols are damaged")
            found = span(left, depth + 1) + span(right, depth + 1) + 1
            if found > DEEPEST_PAIR:
                raise ValueError("its symbols are damaged")
            spans[symbol] = found
        return spans[symbol]

    return [span(symbol, 0) for symbol in range(len(lefts))]


def _word(content: bytes, at: int, width: int) -> int:
    """A little-endian number of `width` bytes. Raises IndexError beyond the end."""
    if at + width > len(content):
        raise IndexError
    return int.from_bytes(content[at : at + width], "little")


def signature(white: str, black: str) -> int:
    """A number for a set of pieces, by their letters: the count of every piece in four bits."""
    found = 0
    for side, letters in enumerate((white, black)):
        for n, letter in enumerate(LETTERS[:5]):
            found |= letters.count(letter) << 4 * (5 * side + n)
    return found


def signature_of(board: Board) -> int:
    """The signature of the pieces on a board, 7 at most."""
    found = 0
    for i in range(10):
        found = found << 4 | count(board.sets[SIGNED[i]])
    return found
