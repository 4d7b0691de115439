"""Tables of five to seven pieces, which are too large to lie about: made-up ones hold random results and
distances, which search/syzygy/file.py and python-chess's reader must find in the same places.

These lie in a few thousand blocks that the index of a table refers to at random, so that a table of 10^11
positions has some hundred kilobytes.
"""

import itertools
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

import chess
import chess.syzygy
import pytest

from search.syzygy.file import BLESSED_LOSS
from search.syzygy.tablebase import Tablebase
from tests.oracle import scaled
from tests.search.syzygy.test_tablebase import random_position
from x88.notation import fen

pytestmark = pytest.mark.slow

LETTERS = "PNBRQK"
SPAN = 24
"""Of an entry of the index: a power of two."""

SYMBOLS = 256
LONGEST = 256
"""The most values that a symbol stands for."""

VALUES = 64 * LONGEST
"""The values in a block."""

BLOCKS = 2 * (1 << SPAN) // VALUES
"""The blocks of a part."""

RESULTS = range(5)
"""The values in a WDL table."""

BLACK_IS_STORED, MAPPED, WINS_IN_PLIES, LOSSES_IN_PLIES, WIDE_MAP = 1, 2, 4, 8, 16
"""The flags of a part of a DTZ table."""

with_holes = pytest.mark.skipif(
    sys.platform != "linux", reason="needs files with holes, and room to map 16 GiB"
)


class Code(NamedTuple):
    """Symbols of eight bits each: those from `first` on stand for LONGEST values."""

    triples: bytes
    first: int


def make_code(chance: Random, values: Sequence[int]) -> Code:
    """The first symbols are values, the others pairs of random shorter ones."""
    pairs = [(value, 0xFFF) for value in values]
    shorter = range(len(values))
    for size in (2, 4, 8, 16, 32, 64, 128, LONGEST):
        start = len(pairs)
        count = 20 if size < LONGEST else SYMBOLS - start
        pairs += [(chance.choice(shorter), chance.choice(shorter)) for _ in range(count)]
        shorter = range(start, len(pairs))
    triples = b"".join(
        bytes((left & 255, left >> 8 | (right & 15) << 4, right >> 4)) for left, right in pairs
    )
    return Code(triples, shorter[0])


def in_file_order(name: str, chance: Random) -> tuple[list[list[int]], int]:
    """The groups of a table's pieces as files number them, the leading ones first, and the number of leading
    groups (1, or 2 where both sides have pawns).
    """
    sides = name.split("v")
    counts = {
        8 * black + LETTERS.index(letter) + 1: side.count(letter)
        for black, side in enumerate(sides)
        for letter in side
    }
    pawns = sorted((count, piece) for piece, count in counts.items() if piece & 7 == 1)
    singles = [piece for piece, count in counts.items() if count == 1]
    if pawns:
        leaders = [[piece] * count for count, piece in pawns]
    elif len(singles) > 2:
        leaders = [chance.sample(singles, 3)]
    else:
        leaders = [chance.sample(singles, 2)]
    led = {piece for leader in leaders for piece in leader}
    rest = [[piece] * count for piece, count in counts.items() if piece not in led]
    chance.shuffle(rest)
    return [*leaders, *rest], len(leaders)


def positions_of(groups: list[list[int]], leaders: int, file: int) -> int:
    """The number of positions that a part of a table holds."""
    first = len(groups[0])
    if groups[0][0] & 7 == 1:
        found = chess.syzygy.PFACTOR[first - 1][file]
    else:
        found = {2: 462, 3: 31332}[first]
    taken = first
    if leaders == 2:
        found *= math.comb(48 - first, len(groups[1]))
        taken += len(groups[1])
    for group in groups[leaders:]:
        found *= math.comb(64 - taken, len(group))
        taken += len(group)
    return found


def make_table(path: Path, chance: Random, block: int = 6) -> int:
    """Write a WDL table of the pieces in a file's name, with blocks of 2**`block` bytes; returns the number
    of positions in its largest part.
    """
    white, black = path.stem.split("v")
    sides = 1 if white == black else 2
    head, sizes = describe(path, chance, b"\x71\xe8\x23\x5d", sides == 2)
    parts = sizes if sides == 2 else sizes[::2]
    code = make_code(chance, RESULTS)
    for _ in parts:
        head += packing(code, 0, block)
    write(path, head, parts, [code] * len(parts), chance, block)
    return max(parts)


def make_distances(path: Path, chance: Random, flags: int) -> None:
    """Write a DTZ table of the pieces in a file's name. Where there are four parts, maps are wide in two."""
    white, black = path.stem.split("v")
    head, sizes = describe(path, chance, b"\xd7\x66\x0c\xa5", white != black)
    parts = sizes[::2]
    values = 40 if flags & MAPPED else 400
    codes, widths = [], []
    for n in range(len(parts)):
        is_wide = flags & WIDE_MAP and (n % 2 or len(parts) == 1)
        widths.append(2 if is_wide else 1)
        codes.append(make_code(chance, chance.sample(range(values), 40)))
        head += packing(codes[-1], flags if is_wide else flags & ~WIDE_MAP, 6)
    for width in widths if flags & MAPPED else []:
        head += bytes(len(head) & (width - 1))
        for n in range(4):
            size = values + (n == 0)  # so that after narrow maps wide ones have to be aligned
            head += size.to_bytes(width, "little")
            for _ in range(size):
                head += chance.randrange(1 << 4 + 4 * width).to_bytes(width, "little")
    head += bytes(len(head) & 1)
    write(path, head, parts, codes, chance, 6)


def describe(path: Path, chance: Random, magic: bytes, is_asymmetric: bool) -> tuple[bytearray, list[int]]:
    """The beginning of a table, which says how positions are numbered; and how many positions there are for
    each side to move, by turns, of each part.
    """
    has_pawns = "P" in path.stem
    head = bytearray(magic) + bytes([is_asymmetric | has_pawns << 1])
    sizes = []
    for file in range(4 if has_pawns else 1):
        orders, pieces = [], []
        for _ in range(2):
            groups, leaders = in_file_order(path.stem, chance)
            orders.append(chance.sample(range(len(groups)), leaders))
            pieces.append([piece for group in groups for piece in group])
            sizes.append(positions_of(groups, leaders, file))
        head += bytes(low | high << 4 for low, high in zip(*orders, strict=True))
        head += bytes(low | high << 4 for low, high in zip(*pieces, strict=True))
    head += bytes(len(head) & 1)
    return head, sizes


def packing(code: Code, flags: int, block: int) -> bytes:
    """How a part of a table is compressed."""
    found = bytes((flags, block, SPAN, 0)) + BLOCKS.to_bytes(4, "little") + bytes((8, 8, 0, 0))
    return found + SYMBOLS.to_bytes(2, "little") + code.triples


def write(
    path: Path, head: bytearray, parts: list[int], codes: list[Code], chance: Random, block: int
) -> None:
    """Write a table: its description `head`, the index of each part, then its blocks."""
    for size in parts:
        for _ in range(-(-size >> SPAN)):
            # Half a span to both sides there are blocks enough.
            middle = chance.randrange(BLOCKS // 4 + 1, 3 * BLOCKS // 4 - 1)
            head += middle.to_bytes(4, "little") + chance.randrange(VALUES).to_bytes(2, "little")
    head += (VALUES - 1).to_bytes(2, "little") * BLOCKS * len(parts)
    with open(path, "wb") as file:
        file.write(head)
        at = len(head)
        for code in codes:
            at = at + 63 & ~63
            for n in range(BLOCKS):
                file.seek(at + (n << block))
                file.write(bytes(chance.choices(range(code.first, SYMBOLS), k=64)))
            at += BLOCKS << block
        file.truncate(at + 16)


def quiet_position(name: str, chance: Random, mover: chess.Color | None = None) -> chess.Board:
    """A position without captures, so that only its own table holds its result; for a given side to move,
    also without pawn moves, and with the pieces of the table's first side in white.
    """
    while True:
        board = random_position(name, chance)
        board.ep_square = None
        if any(board.generate_legal_captures()):
            continue
        if mover is None:
            return board
        if board.turn != mover or any(board.generate_legal_moves(board.pawns)):
            continue
        if chess.syzygy.calc_key(board) == name:
            return board


NAMES = [
    *("KQRvKB", "KRRvKR", "KNNvKN", "KPPvKP", "KPPPvK", "KRPvKP"),
    *("KRBvKNP", "KRRvKBB", "KPPvKPP", "KQPPvKP", "KPPPPvK", "KQQQQvK"),
    *("KQRBvKRN", "KRRRvKBB", "KNNNvKNN", "KRPPvKPP", "KPPPvKPP", "KPPPPPvK", "KQPPvKRP", "KRRBvKNN"),
    *("KBBNvKPP", "KPPPPvKP", "KQRvKQR"),
]


FLAGS = [0, WINS_IN_PLIES, LOSSES_IN_PLIES, MAPPED, MAPPED | WIDE_MAP]
CASES = [(name, 6, flags) for name, flags in zip(NAMES, itertools.cycle(FLAGS))]


@pytest.mark.parametrize(
    ("name", "block", "flags"), [*CASES, pytest.param("KQRBvKRN", 22, MAPPED | WIDE_MAP, marks=with_holes)]
)
def test_positions_of_many_pieces_are_found_where_python_chess_finds_them(
    name: str, block: int, flags: int, tmp_path: Path
) -> None:
    """With blocks of 4 MiB also beyond four gigabytes. Distances are asked for the side that a table stores,
    in positions without captures or pawn moves, which other tables would have to tell of.
    """
    chance = Random(name)
    path = tmp_path / f"{name}.rtbw"
    most = make_table(path, chance, block)
    if block > 6:
        assert most > 1 << 32
        assert path.stat().st_size > 1 << 33
        if path.stat().st_blocks * 512 > 1 << 28:
            os.truncate(path, 0)
            pytest.skip("the file system has no files with holes")
    white, black = name.split("v")
    if white != black:
        flags |= BLACK_IS_STORED if "P" in name else chance.choice((0, BLACK_IS_STORED))
    make_distances(tmp_path / f"{name}.rtbz", chance, flags)
    ours = Tablebase([str(tmp_path)])
    results, distances = set(), set()
    with chess.syzygy.open_tablebase(str(tmp_path)) as theirs:
        for _ in range(scaled(200, 100)):
            board = quiet_position(name, chance)
            expected = theirs.probe_wdl_table(board)
            assert ours.wdl(fen.parse(board.fen())) == expected, board.fen()
            results.add(expected)
        for _ in range(scaled(40, 20)):
            board = quiet_position(name, chance, bool(not flags & BLACK_IS_STORED))
            expected = theirs.probe_dtz(board)
            assert ours.dtz(fen.parse(board.fen())) == expected, board.fen()
            distances.add(expected)
    assert ours.problems == []
    assert len(distances) > 5
    assert len(results) > 3
    assert BLESSED_LOSS in results, "which no table of four pieces holds"
