"""The file of self-play games: all moves with their scores, in compressed blocks with a checksum each.

bench/selfplay.py --positions writes it, and bench/positions.py reads it. A file is a sequence of blocks, so
concatenated files are also a valid file. A position takes less than 2 bytes. Numbers are little-endian.

| block | bytes | content |
|---|---|---|
| magic | 8 | "MOFFGAME" |
| version | 2 | 1 |
| games | 2 | games in the block |
| seed | 8 | of the run that played them |
| positions | 4 | moves with a score in the block |
| size | 4 | bytes of the payload |
| checksum | 4 | CRC-32 of the 28 bytes before and the payload |
| payload | size | raw LZMA2 |

| payload, unpacked | bytes | content |
|---|---|---|
| size | 4 | bytes of the texts |
| texts | size | lines of UTF-8: the run's settings as JSON, then each game's start as FEN ("": the usual) |
| numbers | 4 each | each game's number in its run |
| openings | 2 each | each game's plies before the first search |
| plies | 2 each | all plies of each game |
| results | 1 each | White's points doubled |
| moves | 1 each | of all games: index of the move played in the sorted list of the legal moves |
| scores | 2 each | of all plies after the openings: all low bytes, then all high bytes |
| bounds | 1 each | of the same plies: 1 if the score is only a bound, else 0 |

Moves are sorted by kind, the double pushes of pawns, en passant and castling last, then by the kinds promoted
to and captured, then by target and origin. A score is in centipawns from White's point of view, with
32000 - n for a mate in n plies, or -32768 if the search reported none.
"""

import json
import lzma
import os
import struct
import sys
import zlib
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # this checkout, whatever is installed

from x88 import fen
from x88.board import Board
from x88.move import CASTLING, EN_PASSANT, MOVED_SHIFT, TARGET_SHIFT
from x88.movegen import legal_moves
from x88.piece import PAWN

MAGIC = b"MOFFGAME"
VERSION = 1
NO_SCORE = -32768

_HEADER = struct.Struct("<8sHHQII")
_CHECKSUM = struct.Struct("<I")
_HEAD = _HEADER.size + _CHECKSUM.size
_LONGEST = 1 << 26
"""The maximum bytes of an unpacked payload; a payload that unpacks to more is damaged."""

_DOUBLE_PUSHES = frozenset(
    start + file | start + file + step << TARGET_SHIFT | PAWN << MOVED_SHIFT
    for start, step in ((0x10, 0x20), (0x60, -0x20))
    for file in range(8)
)
"""The double pushes of pawns as packed moves."""

_FILTERS: list[dict[str, int]] = [{"id": lzma.FILTER_LZMA2, "preset": 6, "lc": 3, "lp": 0, "pb": 0}]


class Game(NamedTuple):
    """A game, as in the file: its number, the FEN of its start ("" for the usual one), all moves, the scores
    and bounds of the moves after the opening, and White's points doubled.
    """

    number: int
    start: str
    moves: bytes
    scores: "array[int]"
    bounds: bytes
    result: int


class Block(NamedTuple):
    """Games of one run, with its seed and settings."""

    seed: int
    settings: dict[str, Any]
    games: list[Game]


def index_of(board: Board, move: int) -> int:
    """The index of a legal move, as in the file."""
    return _numbered(board).index(move)


def _numbered(board: Board) -> list[int]:
    """The legal moves in the order of their indices: that of packed moves, except for double pushes, which
    had a flag in packed moves when the first files were written.
    """
    moves = sorted(legal_moves(board))
    pushes = [move for move in moves if move in _DOUBLE_PUSHES]
    if not pushes:
        return moves
    others = [move for move in moves if move not in _DOUBLE_PUSHES]
    usual = sum(not move & (EN_PASSANT | CASTLING) for move in others)
    return others[:usual] + pushes + others[usual:]


def replay(game: Game) -> Iterator[tuple[Board, int]]:
    """Yield the position before each move, and the packed move. Raises ValueError if a move does not exist.

    The board is the same object every time; the move is made on it when the iteration continues.
    """
    board = fen.parse(game.start or fen.START, chess960=True)
    for number, index in enumerate(game.moves, 1):
        moves = _numbered(board)
        if index >= len(moves):
            raise ValueError(f"game {game.number}, ply {number}: no move {index} in {fen.write(board)}")
        yield board, moves[index]
        board.make(moves[index])


# --- Blocks


def encode(block: Block) -> bytes:
    """The bytes of a block."""
    games = block.games
    texts = "\n".join([json.dumps(block.settings, sort_keys=True), *(game.start for game in games)]).encode()
    parts = [
        struct.pack("<I", len(texts)),
        texts,
        _bytes(array("I", [game.number for game in games])),
        _bytes(array("H", [len(game.moves) - len(game.scores) for game in games])),
        _bytes(array("H", [len(game.moves) for game in games])),
        bytes(game.result for game in games),
    ]
    scores = b"".join(_bytes(game.scores) for game in games)
    parts += [game.moves for game in games]
    parts += [scores[0::2], scores[1::2]]
    parts += [game.bounds for game in games]
    payload = lzma.compress(b"".join(parts), lzma.FORMAT_RAW, filters=_FILTERS)
    positions = sum(len(game.scores) for game in games)
    header = _HEADER.pack(MAGIC, VERSION, len(games), block.seed, positions, len(payload))
    return header + _CHECKSUM.pack(zlib.crc32(payload, zlib.crc32(header))) + payload


def _bytes(numbers: "array[int]") -> bytes:
    """The numbers as little-endian bytes."""
    if sys.byteorder != "little":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers.tobytes()


class _Columns:
    """Reads an unpacked payload column by column. Raises ValueError if it is too short."""

    def __init__(self, payload: bytes) -> None:
        self._payload = payload
        self._at = 0

    def text(self, size: int) -> bytes:
        """The next bytes."""
        found = self._payload[self._at : self._at + size]
        if len(found) != size:
            raise ValueError("the payload is too short")
        self._at += size
        return found

    def numbers(self, code: str, count: int) -> "array[int]":
        """The next numbers, of the type with that code in `array`."""
        found = array(code)
        found.frombytes(self.text(count * found.itemsize))
        if sys.byteorder != "little":
            found.byteswap()
        return found

    def scores(self, count: int) -> "array[int]":
        """The next scores, stored as all low bytes, then all high bytes."""
        text = bytearray(2 * count)
        text[0::2] = self.text(count)
        text[1::2] = self.text(count)
        return _Columns(bytes(text)).numbers("h", count)

    def is_empty(self) -> bool:
        """Whether nothing is left."""
        return self._at == len(self._payload)


def decode(data: bytes, at: int = 0) -> tuple[Block, int]:
    """The block at this offset, and the offset of the next. Raises ValueError if it is damaged."""
    if len(data) - at < _HEAD:
        raise ValueError("the header of a block is incomplete")
    magic, version, count, seed, positions, size = _HEADER.unpack_from(data, at)
    if magic != MAGIC:
        raise ValueError("no block starts here")
    if version != VERSION:
        raise ValueError(f"a block has version {version}; this program reads {VERSION}")
    end = at + _HEAD + size
    if end > len(data):
        raise ValueError("a block is incomplete")
    payload = data[at + _HEAD : end]
    (checksum,) = _CHECKSUM.unpack_from(data, at + _HEADER.size)
    if zlib.crc32(payload, zlib.crc32(data[at : at + _HEADER.size])) != checksum:
        raise ValueError("the checksum of a block is wrong")
    return _unpack(payload, count, seed, positions), end


def _unpack(payload: bytes, count: int, seed: int, positions: int) -> Block:
    decompressor = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=_FILTERS)
    try:
        columns = _Columns(decompressor.decompress(payload, _LONGEST))
        (length,) = struct.unpack("<I", columns.text(4))
        head, *starts = columns.text(length).decode().split("\n")
        settings = json.loads(head)
    except (lzma.LZMAError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"the content of a block is damaged: {error}") from None
    numbers, openings, plies = (columns.numbers(code, count) for code in "IHH")
    results = columns.text(count)
    moves = columns.text(sum(plies))
    scores = columns.scores(positions)
    bounds = columns.text(positions)
    scored = [most - opening for most, opening in zip(plies, openings, strict=True)]
    if (
        not columns.is_empty()
        or not isinstance(settings, dict)
        or len(starts) != count
        or min(scored, default=0) < 0
        or sum(scored) != positions
        or max(results, default=0) > 2
        or max(bounds, default=0) > 1
    ):
        raise ValueError("the content of a block is inconsistent")
    games = []
    i = j = 0
    for n in range(count):
        k = j + scored[n]
        game = Game(numbers[n], starts[n], moves[i : i + plies[n]], scores[j:k], bounds[j:k], results[n])
        games.append(game)
        i += plies[n]
        j = k
    return Block(seed, settings, games)


class Damage(NamedTuple):
    """A part of a file without an intact block, and the reason."""

    start: int
    end: int
    reason: str


def scan(data: bytes) -> Iterator[Block | Damage]:
    """The intact blocks of a file, and the damaged parts between them."""
    at = 0
    while at < len(data):
        try:
            block, at = decode(data, at)
        except ValueError as error:
            start, reason = at, str(error)
            while True:
                at = data.find(MAGIC, at + 1)
                if at < 0:
                    yield Damage(start, len(data), reason)
                    return
                try:
                    block, end = decode(data, at)
                except ValueError:
                    continue
                yield Damage(start, at, reason)
                at = end
                break
        yield block


class GameFile:
    """A file of games to append to. Only one process at a time can have it open.

    A block at the end that was not written to its end, by an interrupted run or a system that broke down, is
    removed.
    """

    def __init__(self, path: Path) -> None:
        """Raises ValueError if it is not a file of games, is damaged elsewhere or by more than that, or is
        open in another process; or OSError.
        """
        self.games: set[tuple[int, int]] = set()
        """(seed, number) of each game in the file."""
        self.settings: dict[int, dict[str, Any]] = {}
        """By seed: the settings of the last block with that seed."""
        self.positions = 0
        self.cut = 0
        """Bytes that were removed."""
        self._file = path.open("a+b", buffering=0)
        try:
            _lock(self._file, path)
            self._file.seek(0)
            data = self._file.read()
            refuse_foreign(data, path)
            size = len(data)
            for part in scan(data):
                if isinstance(part, Damage):
                    if part.end < len(data) or not _is_unfinished(data, part):
                        raise ValueError(
                            f"{path} is damaged from byte {part.start} to {part.end}: {part.reason}; "
                            "positions.py --merge saves its intact games"
                        )
                    size = part.start
                else:
                    self._count(part)
            self.cut = len(data) - size
            self._file.truncate(size)
            self._file.seek(0, os.SEEK_END)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> "GameFile":
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def add(self, block: Block) -> None:
        """Append a block, or nothing if that fails. If the process dies meanwhile, earlier blocks stay
        readable. Raises OSError.
        """
        end = self._file.seek(0, os.SEEK_END)
        rest = memoryview(encode(block))
        numbers = {(block.seed, game.number) for game in block.games}
        try:
            self.games |= numbers  # first: an interrupt never leaves a block whose games are not known
            while rest:
                rest = rest[self._file.write(rest) :]
        except BaseException:
            self._file.truncate(end)
            self.games -= numbers
            raise
        self._count(block)

    def _count(self, block: Block) -> None:
        self.games |= {(block.seed, game.number) for game in block.games}
        self.settings[block.seed] = block.settings
        self.positions += sum(len(game.scores) for game in block.games)


def _is_unfinished(data: bytes, damage: Damage) -> bool:
    """Whether damage at the end of a file may be a single block that was not written to its end."""
    version = data[damage.start + len(MAGIC) : damage.start + len(MAGIC) + 2]
    if data.startswith(MAGIC, damage.start) and not VERSION.to_bytes(2, "little").startswith(version):
        return False  # of a later program
    return data.find(MAGIC, damage.start + 1) < 0


def refuse_foreign(data: bytes, path: Path) -> None:
    """Raise ValueError if this is not the start of a file of games."""
    head = data[: len(MAGIC)]
    if not MAGIC.startswith(head):
        raise ValueError(f"{path} is not a file of games: it does not start with {MAGIC.decode()}")
    if len(data) >= _HEAD and _HEADER.unpack_from(data)[1] != VERSION:
        raise ValueError(f"{path} has version {_HEADER.unpack_from(data)[1]}; this program reads {VERSION}")


def _lock(file: Any, path: Path) -> None:
    """Lock the file, where the system supports it. Raises ValueError if another process holds the lock."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise ValueError(f"{path} is open in another process") from None
