"""The files of self-play games: bench/selfplay.py writes them, bench/dataset.py reads them.

A file is a sequence of blocks with some games each, so concatenated files are also a valid file. It can be
read while it grows. A position takes some 1.8 bytes. Numbers are little-endian.

| block | bytes | content |
|---|---|---|
| magic | 8 | "MOFFGAME" |
| version | 2 | 2 |
| games | 2 | games in the block |
| seed | 8 | that of its games |
| first | 8 | number of its first game; the others follow |
| positions | 4 | moves with a score |
| usable | 4 | those that pass the usual filters (`search.selfplay.is_usable`) |
| settings | 4 | bytes of the settings |
| size | 4 | bytes of the games |
| checksum | 4 | CRC-32 of the settings and the games |
| checksum | 4 | CRC-32 of the 48 bytes before |
| settings | | how the games were played, and what played them: JSON |
| games | size | raw deflate |

| games, inflated | bytes | content; the first four rows game by game, the others of all games |
|---|---|---|
| starts | 2, 2 each | the Chess960 numbers of White's and of Black's start position |
| plies | 2 each | |
| opening | 1 each | random plies before the first search |
| result | 1 each | White's points doubled |
| moves | 1 each | the rank of the move played among the legal moves |
| scores | 1 or 3 each | of the plies after the random ones |

Legal moves are ranked by target square, then by origin, then by the kind promoted to (knight, rook, bishop,
queen); castling, which counts as a move of the king, comes after its step to the same square. A score is in
centipawns of the search, from White's point of view, 32000 - n for a mate in n plies. It is stored as its
difference d from the one before in the game, 0 before the first: 2 d, or -2 d - 1 for a negative d; or, if
that is more than 254, as 255 and the score itself in two bytes.
"""

import json
import os
import struct
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import script  # noqa: F401  (it puts this checkout on the path)

from search.selfplay import HEAD, Game

MAGIC = b"MOFFGAME"
VERSION = 2
HEADER = struct.Struct("<8sHHQQIIIII")
CHECKSUM = struct.Struct("<I")
SIZE = HEADER.size + CHECKSUM.size

CHUNK = 1 << 16
"""Bytes that are searched for a block at a time."""

SUFFIX = ".moff"

Settings = dict[str, Any]


class Block(NamedTuple):
    """Games of one seed with consecutive numbers, packed."""

    seed: int
    first: int
    settings: Settings
    games: int
    positions: int
    usable: int
    packed: bytes

    def inflated(self) -> bytes:
        """The games, as the table above has them. Raises ValueError."""
        try:
            return zlib.decompress(self.packed, -zlib.MAX_WBITS)
        except zlib.error as error:
            raise ValueError(f"the games of a block are damaged: {error}") from None


class Place(NamedTuple):
    """The place of an intact block, and the content of its header."""

    path: Path
    start: int
    end: int
    seed: int
    first: int
    games: int
    positions: int
    usable: int


class Damage(NamedTuple):
    """A part of a file without an intact block."""

    path: Path
    start: int
    end: int
    reason: str
    is_unfinished: bool
    """Whether it may be the last block, which is being written, or was when a run was interrupted."""


def packed(seed: int, first: int, settings: Settings, games: Iterable[Game]) -> Block:
    """A block of these games."""
    heads, moves, scores = bytearray(), bytearray(), bytearray()
    count = positions = usable = 0
    for game in games:
        heads += HEAD.pack(game.white, game.black, len(game.moves), game.opening, game.result)
        moves += game.moves
        last = 0
        for score in game.scores:
            difference = score - last
            code = 2 * difference if difference >= 0 else -2 * difference - 1
            scores += bytes([code]) if code < 255 else struct.pack("<Bh", 255, score)
            last = score
        count += 1
        positions += len(game.scores)
        usable += game.usable
    # The numbers have no patterns to refer to, only frequencies, which differ between the columns.
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, 9, zlib.Z_HUFFMAN_ONLY)
    parts = [deflate.compress(column) + deflate.flush(zlib.Z_SYNC_FLUSH) for column in (heads, moves, scores)]
    return Block(seed, first, settings, count, positions, usable, b"".join(parts) + deflate.flush())


def encode(block: Block) -> bytes:
    """The bytes of a block."""
    settings = json.dumps(block.settings, sort_keys=True).encode()
    numbers = (block.games, block.seed, block.first, block.positions, block.usable)
    checksum = zlib.crc32(block.packed, zlib.crc32(settings))
    head = HEADER.pack(MAGIC, VERSION, *numbers, len(settings), len(block.packed), checksum)
    return head + CHECKSUM.pack(zlib.crc32(head)) + settings + block.packed


def _head(data: bytes) -> tuple[Any, ...]:
    """The numbers of a header after the magic. Raises ValueError."""
    if not data.startswith(MAGIC):
        raise ValueError("no block starts here")
    if CHECKSUM.unpack_from(data, HEADER.size) != (zlib.crc32(data[: HEADER.size]),):
        raise ValueError("the checksum of a header is wrong")
    _, version, *found = HEADER.unpack_from(data)
    if version != VERSION:
        raise ValueError(f"a block has version {version}; this program reads {VERSION}")
    return tuple(found)


def decode(data: bytes) -> Block:
    """The block that these bytes are. Raises ValueError if it is damaged."""
    if len(data) < SIZE:
        raise ValueError("the header of a block is incomplete")
    games, seed, first, positions, usable, length, size, checksum = _head(data)
    if len(data) != SIZE + length + size:
        raise ValueError("a block is incomplete")
    if zlib.crc32(data[SIZE:]) != checksum:
        raise ValueError("the checksum of a block is wrong")
    settings = json.loads(data[SIZE : SIZE + length])
    return Block(seed, first, settings, games, positions, usable, data[SIZE + length :])


def read(place: Place) -> Block:
    """The block at a place. Raises ValueError or OSError."""
    with place.path.open("rb") as file:
        file.seek(place.start)
        return decode(file.read(place.end - place.start))


def scan(path: Path, check: bool = True) -> Iterator[Place | Damage]:
    """The intact blocks of a file, and the damaged parts between them. Without a `check`, only the headers
    are looked at. Raises ValueError if it is no file of games, or OSError.
    """
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        start = file.read(len(MAGIC))
        if not MAGIC.startswith(start):
            if _find(file, 1) < 0:
                raise ValueError(f"{path} is not a file of games: {MAGIC.decode()} does not occur in it")
        at = 0
        while at < size:
            found = _look(file, path, at, size, check)
            yield found
            at = found.end


def _look(file: Any, path: Path, at: int, size: int, check: bool) -> Place | Damage:
    """The block at an offset of a file of that size, or the damage there up to the next block."""
    file.seek(at)
    header = file.read(SIZE)
    is_unfinished = False
    try:
        if len(header) < SIZE:
            is_unfinished = MAGIC.startswith(header[: len(MAGIC)])
            raise ValueError("the header of a block is incomplete")
        games, seed, first, positions, usable, length, packed_size, checksum = _head(header)
        end = at + SIZE + length + packed_size
        if end > size:
            is_unfinished = True
            raise ValueError("a block is incomplete")
        if check and zlib.crc32(file.read(length + packed_size)) != checksum:
            raise ValueError("the checksum of a block is wrong")
        return Place(path, at, end, seed, first, games, positions, usable)
    except ValueError as error:
        reason = str(error)
    following = _find(file, at + 1)
    if following < 0:
        return Damage(path, at, size, reason, is_unfinished)
    return Damage(path, at, following, reason, False)


def _find(file: Any, at: int) -> int:
    """The offset of the next possible block, this one or later; -1 if there is none."""
    while True:
        file.seek(at)
        data = file.read(CHUNK)
        found: int = data.find(MAGIC)
        if found >= 0:
            return at + found
        if len(data) < CHUNK:
            return -1
        at += CHUNK - len(MAGIC) + 1


def append(path: Path, block: Block) -> None:
    """Append a block to a file, or nothing if that fails. Raises OSError."""
    rest = memoryview(encode(block))
    with path.open("ab", buffering=0) as file:
        end = file.tell()
        try:
            while rest:
                rest = rest[file.write(rest) :]
        except BaseException:
            file.truncate(end)
            raise


def cut(path: Path) -> int:
    """Remove an unfinished block at the end of a file; returns its bytes. Raises ValueError if it is no file
    of games, or OSError.
    """
    for part in scan(path):
        if isinstance(part, Damage) and part.is_unfinished:
            os.truncate(path, part.start)
            return part.end - part.start
    return 0
