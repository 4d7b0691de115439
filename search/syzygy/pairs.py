"""A part of a tablebase file: the compressed values for one side to move and, with pawns, one file of the
leading pawn. `search.syzygy.file` explains the format and reads a part's description.

Files may be damaged: whatever they contain, nothing outside them is read and every loop ends.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from array import array
from collections.abc import Sequence
from mmap import mmap
from typing import Any

from search.syzygy import squares

if not cython.compiled:
    from search.syzygy.squares import above_diagonal
    from x88.pointer import memory_of

    DAMAGED = -1000000
    MOST_PIECES = 7
    MOST_LENGTHS = 32
    ONE_VALUE = 128

BELOW = squares.BELOW
TRIANGLE = squares.TRIANGLE
KINGS = squares.KINGS
PAWN_ORDER = squares.PAWN_ORDER
CHOOSE = squares.CHOOSE
LEADING_PAWNS = squares.LEADING_PAWNS
WORD = (1 << 64) - 1


class Part:
    """The values of a part, and how a position is mapped to an index.

    `pieces` are those of the table in the order of the index; `lengths` are the sizes of their groups, and
    `factors` the factors of their numbers in the index; `size` is the number of positions.

    A value is found through `sparse`, which gives a block and a place in it for every `span` values, the
    lengths of the blocks at `lengths_at`, and, in a block, the symbols of a canonical Huffman code. Codes
    have `shortest` bits or more; those of length n + `shortest` begin at `bases[n]`, aligned to the left,
    with the symbol `lowest[n]`. Symbol s is a value, `lefts[s]`, or the pair `lefts[s]` and `rights[s]`; it
    stands for `spans[s]` + 1 values.

    The parts of a file form a chain, since lists need the GIL.
    """

    def __init__(self) -> None:
        self.following: Any = None  # a Part, None for the last
        self.count = 0
        self.groups = 0
        self.pieces = [0] * 7
        self.lengths = [0] * 7
        self.factors = [0] * 7
        self.size = 0
        self.has_pawns = False
        self.has_unique = False
        self.both_pawns = False
        self.flags = 0
        self.only_value = 0
        self.block_size = 0
        self.span = 0
        self.blocks = 0
        self.block_count = 0
        self.sparse_count = 0
        self.shortest = 0
        self.lowest = [0] * 32
        self.bases = [0] * 32
        self.symbols = 0
        self.sparse = 0
        self.lengths_at = 0
        self.data = 0
        self.maps = [0] * 4
        self.file_size = 0

    def set_symbols(self, lefts: Sequence[int], rights: Sequence[int], spans: Sequence[int]) -> None:
        """Set what the symbols stand for: checked copies, since the file may change while it is in use."""
        held = array("H", lefts), array("H", rights), array("H", spans)
        self._held = held
        if cython.compiled:
            self.lefts = cython.cast("const unsigned short*", memory_of(held[0], 2, False))
            self.rights = cython.cast("const unsigned short*", memory_of(held[1], 2, False))
            self.spans = cython.cast("const unsigned short*", memory_of(held[2], 2, False))
        else:
            self.lefts, self.rights, self.spans = held
        self.symbols = len(lefts)

    def set_content(self, content: "mmap | bytes", size: int) -> None:
        """Set the mapped bytes of the file; the caller keeps them mapped."""
        if cython.compiled:
            self.content = cython.cast("const unsigned char*", memory_of(content, 1, False))
        else:
            self.content = content
        self.file_size = size

    def number(self, pieces: Sequence[int], squares: Sequence[int]) -> int:
        """The number of a position by its pieces, as the file numbers them, and their squares, or DAMAGED."""
        ordered = [0] * 7
        taken = 0
        for n in range(self.count):
            i = 0
            while taken >> i & 1 or pieces[i] != self.pieces[n]:
                i += 1
                if i == self.count:
                    return DAMAGED
            taken |= 1 << i
            ordered[n] = squares[i]
        first = self.lengths[0]
        if self.has_pawns:
            for n in range(1, first):
                if PAWN_ORDER[ordered[n]] > PAWN_ORDER[ordered[0]]:
                    swapped = ordered[0]
                    ordered[0] = ordered[n]
                    ordered[n] = swapped
        if ordered[0] & 7 > 3:
            for n in range(self.count):
                ordered[n] ^= 7
        if self.has_pawns:
            index = LEADING_PAWNS[64 * first + ordered[0]]
            sort(ordered, 1, first, True)
            for n in range(1, first):
                index += CHOOSE[65 * n + PAWN_ORDER[ordered[n]]]
        else:
            if ordered[0] > 31:
                for n in range(self.count):
                    ordered[n] ^= 56
            n = 0
            while n < first - 1 and above_diagonal(ordered[n]) == 0:
                n += 1
            if above_diagonal(ordered[n]) > 0:
                for n in range(self.count):
                    ordered[n] = ordered[n] >> 3 | (ordered[n] & 7) << 3
            if self.has_unique:
                index = three(ordered[0], ordered[1], ordered[2])
            else:
                index = KINGS[64 * TRIANGLE[ordered[0]] + ordered[1]]
                if index < 0:
                    return DAMAGED  # the kings stand next to each other
        found = index * self.factors[0]
        at = first
        for group in range(1, self.groups):
            end = at + self.lengths[group]
            sort(ordered, at, end, False)
            index = 0
            for n in range(at, end):
                # Squares of earlier groups are left out; pawns have no first rank.
                square = ordered[n] - (8 if group == 1 and self.both_pawns else 0)
                for i in range(at):
                    if ordered[i] < ordered[n]:
                        square -= 1
                index += CHOOSE[65 * (n - at + 1) + square]
            found += index * self.factors[group]
            at = end
        return found

    def value(self, index: int) -> int:
        """The value at an index, DAMAGED if there is no plausible one."""
        if self.flags & ONE_VALUE:
            return self.only_value
        if index < 0 or index >= self.size:
            return DAMAGED
        entry = index // self.span
        block = self.word(self.sparse + 6 * entry, 4)
        place = self.word(self.sparse + 6 * entry + 4, 2)
        if block < 0 or place < 0:
            return DAMAGED
        # The entry is for the middle of the span.
        place += index - entry * self.span - (self.span >> 1)
        while place < 0:
            block -= 1
            length = self.block_length(block)
            if length < 0:
                return DAMAGED
            place += length + 1
        while True:
            length = self.block_length(block)
            if length < 0:
                return DAMAGED
            if place <= length:
                break
            place -= length + 1
            block += 1
        if block >= self.blocks:
            return DAMAGED
        return self._unpack(self.data + block * self.block_size, place)

    def _unpack(self, at: int, place: int) -> int:
        """The value at a place in the block that begins at `at`."""
        if at + 8 > self.file_size:
            return DAMAGED
        end = 8 * (at + self.block_size)
        bits = 0
        for i in range(8):
            bits = bits << 8 | self.content[at + i]
        at += 8
        known = 64
        while True:
            size = 0
            while bits < self.bases[size]:  # the last is 0
                size += 1
            symbol = (bits - self.bases[size] >> 64 - size - self.shortest) + self.lowest[size]
            if symbol >= self.symbols:
                return DAMAGED
            size += self.shortest
            if 8 * at - known + size > end:
                return DAMAGED
            if place <= self.spans[symbol]:
                break
            place -= self.spans[symbol] + 1
            bits = bits << size & WORD
            known -= size
            if known <= 32:
                if at + 4 > self.file_size:
                    return DAMAGED
                fresh = 0
                for i in range(4):
                    fresh = fresh << 8 | self.content[at + i]
                known += 32
                bits |= fresh << 64 - known
                at += 4
        while self.spans[symbol]:
            if place <= self.spans[self.lefts[symbol]]:
                symbol = self.lefts[symbol]
            else:
                place -= self.spans[self.lefts[symbol]] + 1
                symbol = self.rights[symbol]
        found: int = self.lefts[symbol]
        return found

    def read_block(self, block: int) -> int:
        """The number of values in a block, DAMAGED if its symbols are not as many."""
        length = self.block_length(block)
        if length < 0 or self._unpack(self.data + block * self.block_size, length) < 0:
            return DAMAGED
        return length + 1

    def block_length(self, block: int) -> int:
        """The number of values in a block beyond the first, DAMAGED if there is no such block."""
        if block < 0 or block >= self.block_count:
            return DAMAGED
        return self.word(self.lengths_at + 2 * block, 2)

    def word(self, at: int, width: int) -> int:
        """A little-endian number of `width` bytes in the file; DAMAGED beyond its end."""
        if at < 0 or at + width > self.file_size:
            return DAMAGED
        found = 0
        for i in range(width - 1, -1, -1):
            found = found << 8 | self.content[at + i]
        return found


def sort(squares: list[int], start: int, end: int, is_pawns: bool) -> None:
    """Sort squares, in the order of PAWN_ORDER if `is_pawns`."""
    for n in range(start + 1, end):
        i = n
        while i > start and (
            PAWN_ORDER[squares[i]] < PAWN_ORDER[squares[i - 1]] if is_pawns else squares[i] < squares[i - 1]
        ):
            swapped = squares[i]
            squares[i] = squares[i - 1]
            squares[i - 1] = swapped
            i -= 1


def three(first: int, second: int, third: int) -> int:
    """The number of three different pieces, the first in the triangle a1-d1-d4, the first of them that is not
    on the diagonal below it.
    """
    after = 1 if second > first else 0
    later = (1 if third > first else 0) + (1 if third > second else 0)
    if above_diagonal(first):
        return (TRIANGLE[first] * 63 + second - after) * 62 + third - later
    rank = first >> 3
    number = 6 * 63 * 62
    if above_diagonal(second):
        return number + (rank * 28 + BELOW[second]) * 62 + third - later
    number += 4 * 28 * 62
    if above_diagonal(third):
        return number + (rank * 7 + (second >> 3) - after) * 28 + BELOW[third]
    return number + 4 * 7 * 28 + (rank * 7 + (second >> 3) - after) * 6 + (third >> 3) - later
