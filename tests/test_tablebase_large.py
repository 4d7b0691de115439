"""Tables of five to seven pieces, which are too large to lie about: made-up ones hold random results, which
search/tablefile.py and python-chess's reader must find in the same places.

The results lie in a few thousand blocks that the index of a table refers to at random, so that a table of
10^11 positions has some hundred kilobytes.
"""

import math
import os
import sys
from pathlib import Path
from random import Random
from typing import NamedTuple

import chess
import chess.syzygy
import pytest

from search.tablebase import Tablebase
from search.tablefile import BLESSED_LOSS
from tests.oracle import scaled
from tests.test_tablebase import random_position
from x88 import fen

LETTERS = "PNBRQK"
SPAN = 24
"""Of an entry of the index: a power of two."""

SYMBOLS = 256
LONGEST = 256
"""The most values that a symbol stands for."""


class Code(NamedTuple):
    """Symbols of eight bits each: those from `first` on stand for LONGEST values."""

    triples: bytes
    first: int


def make_code(chance: Random) -> Code:
    """Five symbols are results, the others pairs of random shorter ones."""
    pairs = [(value, 0xFFF) for value in range(5)]
    shorter = range(5)
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
    """The pieces of a table as files number them, in groups of which the first leads; and how many of the
    groups have a place of their own (1, or 2 where both sides have pawns).
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
    has_pawns = "P" in path.stem
    sides = 1 if white == black else 2
    files = 4 if has_pawns else 1
    code = make_code(chance)
    values = 64 * LONGEST  # of a block
    blocks = 2 * (1 << SPAN) // values
    head = bytearray(b"\x71\xe8\x23\x5d") + bytes([(sides == 2) | has_pawns << 1])
    sizes = []
    for file in range(files):
        orders, pieces = [], []
        for _ in range(2):
            groups, leaders = in_file_order(path.stem, chance)
            orders.append(chance.sample(range(len(groups)), leaders))
            pieces.append([piece for group in groups for piece in group])
            sizes.append(positions_of(groups, leaders, file))
        head += bytes(low | high << 4 for low, high in zip(*orders, strict=True))
        head += bytes(low | high << 4 for low, high in zip(*pieces, strict=True))
    head += bytes(len(head) & 1)
    parts = sizes if sides == 2 else sizes[::2]
    for _ in parts:
        head += bytes((0, block, SPAN, 0)) + blocks.to_bytes(4, "little") + bytes((8, 8, 0, 0))
        head += SYMBOLS.to_bytes(2, "little") + code.triples
    for size in parts:
        for _ in range(-(-size >> SPAN)):
            # Half a span to both sides there are blocks enough.
            middle = chance.randrange(blocks // 4 + 1, 3 * blocks // 4 - 1)
            head += middle.to_bytes(4, "little") + chance.randrange(values).to_bytes(2, "little")
    head += (values - 1).to_bytes(2, "little") * blocks * len(parts)
    with open(path, "wb") as file_:
        file_.write(head)
        at = len(head)
        for _ in parts:
            at = at + 63 & ~63
            for n in range(blocks):
                file_.seek(at + (n << block))
                file_.write(bytes(chance.choices(range(code.first, SYMBOLS), k=64)))
            at += blocks << block
        file_.truncate(at + 16)
    return max(parts)


def quiet_position(name: str, chance: Random) -> chess.Board:
    """One without captures, whose result only its own table tells."""
    while True:
        board = random_position(name, chance)
        board.ep_square = None
        if not any(board.generate_legal_captures()):
            return board


def hold_equal(folder: Path, name: str, chance: Random, count: int) -> None:
    ours = Tablebase([str(folder)])
    told = set()
    with chess.syzygy.open_tablebase(str(folder)) as theirs:
        for _ in range(count):
            board = quiet_position(name, chance)
            expected = theirs.probe_wdl_table(board)
            assert ours.wdl(fen.parse(board.fen())) == expected, board.fen()
            told.add(expected)
    assert ours.problems == []
    assert len(told) > 3
    assert BLESSED_LOSS in told, "which no table of four pieces holds"


@pytest.mark.parametrize(
    "name",
    [
        *("KQRvKB", "KRRvKR", "KNNvKN", "KPPvKP", "KPPPvK", "KRPvKP"),
        *("KRBvKNP", "KRRvKBB", "KPPvKPP", "KQPPvKP", "KPPPPvK", "KQQQQvK"),
        *("KQRBvKRN", "KRRRvKBB", "KNNNvKNN", "KRPPvKPP", "KPPPvKPP", "KPPPPPvK", "KQPPvKRP", "KRRBvKNN"),
        *("KBBNvKPP", "KPPPPvKP", "KQRvKQR"),
    ],
)
def test_positions_of_many_pieces_have_their_place(name: str, tmp_path: Path) -> None:
    chance = Random(name)
    make_table(tmp_path / f"{name}.rtbw", chance)
    hold_equal(tmp_path, name, chance, scaled(200, 100))


@pytest.mark.skipif(sys.platform != "linux", reason="needs files with holes, and room to map 16 GiB")
def test_places_beyond_four_gigabytes_are_found(tmp_path: Path) -> None:
    chance = Random(4)
    path = tmp_path / "KQRBvKRN.rtbw"
    assert make_table(path, chance, block=22) > 1 << 32
    assert path.stat().st_size > 1 << 33
    if path.stat().st_blocks * 512 > 1 << 28:
        os.truncate(path, 0)
        pytest.skip("the file system has no files with holes")
    hold_equal(tmp_path, path.stem, chance, 100)
