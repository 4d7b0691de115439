"""Positions of games as records of 32 bytes, and files of them, for bench/positions.py and bench/train.py.

A file is a header of 32 bytes and then the records. Numbers are little-endian.

| header | bytes | content |
|---|---|---|
| magic | 8 | "MOFFRECS" |
| version | 2 | 1 |
| size | 2 | bytes of a record, 32 |
| checksum | 4 | CRC-32 of the records |
| count | 8 | records |
| unused | 8 | 0 |

| field | bytes | content; score and result are from the point of view of the side to move |
|---|---|---|
| occupied | 8 | the occupied squares: bit 0 is a1, bit 1 is b1 |
| pieces | 16 | the pieces on them in the same order, 4 bits each, low half of a byte first |
| score | 2 | centipawns; 32000 - n is a mate in n plies |
| move | 2 | the best move, which was played: origin, target << 6, kind promoted to << 12 |
| state | 2 | see below |
| counts | 2 | plies played in the game, at most 511; half-move clock << 9 |

| bits of state | meaning |
|---|---|
| 0 | Black is to move |
| 1-4 | castling rights: White's short, long, Black's short, long |
| 5-8 | file of a legal en passant capture, a is 1; 0 for none |
| 9-10 | result: 0 lost, 1 drawn, 2 won; 3 none, for a position of no game (bench/nearby.py) |
| 11 | in check |
| 12 | the move captures or promotes |
| 13 | the move gives check |
| 14 | the position repeats an earlier one of its game |
| 15 | the score is only a bound, nearly always a lower one |

The kinds are pawn 0, knight 1, bishop 2, rook 3, queen 4, king 5; a black piece has 8 added. The target of a
castling move is the square on which the king arrives. In Chess960, the file of the rook with a castling right
is not stored, so that two rooks on the same side of the king cannot be told apart.
"""

import contextlib
import os
import struct
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
from gamefile import NO_SCORE, Game, replay

from x88.attack import in_check
from x88.board import Board
from x88.move import (
    CASTLING,
    EN_PASSANT,
    NO_MOVE,
    captured_of,
    origin_of,
    promoted_of,
    rook_origin,
    rook_target,
    target_of,
)
from x88.piece import BLACK, EMPTY, KINDS, LETTERS, ROOK, WHITE

RECORD = np.dtype(
    [
        ("occupied", "<u8"),
        ("pieces", "u1", 16),
        ("score", "<i2"),
        ("move", "<u2"),
        ("state", "<u2"),
        ("counts", "<u2"),
    ]
)
"""A position: the table above as a NumPy type."""

BLACK_TO_MOVE = 1
CASTLING_SHIFT = 1
EN_PASSANT_SHIFT = 5
RESULT_SHIFT = 9
NO_RESULT = 3
IN_CHECK = 1 << 11
TACTICAL = 1 << 12
GIVES_CHECK = 1 << 13
REPEATED = 1 << 14
LOWER_BOUND = 1 << 15
MOST_PLIES = 511
HALFMOVE_SHIFT = 9

VACANT = 15
"""The code of an empty square."""

MATES = 31000
"""The lowest mate score, rounded down."""

CHUNK = 1 << 20
"""Records read or written at a time."""

PART = ".part"
"""The end of the name of a file that is being written."""

ORDERED = ".ordered"
"""The end of the name of a file whose records are not shuffled yet."""

Records = npt.NDArray[Any]

_MAGIC = b"MOFFRECS"
_VERSION = 1
_HEADER = struct.Struct("<8sHHIQ8x")

_CODE = {kind | colour: n | black for n, kind in enumerate(KINDS) for colour, black in ((16, 0), (32, 8))}
_KIND = {kind: n for n, kind in enumerate(KINDS)}
_LETTER = {
    n | black: LETTERS[kind] if black else LETTERS[kind].upper()
    for n, kind in enumerate(KINDS)
    for black in (0, 8)
}


# --- Positions of games


class Rows:
    """Records under construction."""

    def __init__(self) -> None:
        self._cells = bytearray()
        self._columns = {"score": array("h"), "move": array("H"), "state": array("H"), "counts": array("H")}

    def add(self, cells: bytearray, score: int, short: int, state: int, ply: int, halfmove: int) -> None:
        """Add a position: its squares as `placement` gives them, and the fields of the table above."""
        self._cells += cells
        counts = min(ply, MOST_PLIES) | min(halfmove, 127) << HALFMOVE_SHIFT
        for column, number in zip(self._columns.values(), (score, short, state, counts), strict=True):
            column.append(number)

    def records(self) -> Records:
        """All of them, in order."""
        records = pack(np.frombuffer(self._cells, np.uint8).reshape(-1, 64))
        for name, column in self._columns.items():
            records[name] = np.array(column)
        return records


def expand(games: Iterable[Game]) -> Records:
    """All positions after the openings of these games, in order.

    Raises ValueError if a game cannot be replayed.
    """
    rows = Rows()
    for game in games:
        opening = len(game.moves) - len(game.scores)
        cells = bytearray()
        for ply, (board, move) in enumerate(replay(game)):
            if not cells:
                cells = placement(board)
            short = short_move(move)
            if ply >= opening:
                score = game.scores[ply - opening]
                state = state_of(board, move, game.result)
                if game.bounds[ply - opening]:
                    state |= LOWER_BOUND
                own = -score if board.side == BLACK and score != NO_SCORE else score
                rows.add(cells, own, short, state, ply, board.halfmove)
            _move_piece(cells, move, short)
    return rows.records()


def placement(board: Board) -> bytearray:
    """The piece on each square, a1 first, coded as in a record, or VACANT."""
    codes = [board.piece_at(sq + (sq & 0x38)) for sq in range(64)]
    return bytearray(VACANT if code == EMPTY else _CODE[code] for code in codes)


def short_move(move: int) -> int:
    """A packed move, coded as in a record."""
    origin, target = origin_of(move), target_of(move)
    promoted = promoted_of(move)
    squares = _cell(origin) | _cell(target) << 6
    return squares | _KIND[promoted] << 12 if promoted else squares


def _cell(square: int) -> int:
    """The square number from 0 to 63 of a 0x88 square."""
    return (square + (square & 7)) >> 1


def _move_piece(cells: bytearray, move: int, short: int) -> None:
    """Make a move on the squares."""
    origin, target, promoted = short & 63, short >> 6 & 63, short >> 12
    piece = cells[origin]
    cells[origin] = VACANT
    cells[target] = piece & 8 | promoted if promoted else piece
    if move & EN_PASSANT:
        cells[target ^ 8] = VACANT
    elif move & CASTLING:
        # King and rook may swap squares.
        rook, passed = _cell(rook_origin(move)), _cell(rook_target(move))
        if rook != target:
            cells[rook] = VACANT
        cells[passed] = piece & 8 | _KIND[ROOK]


def state_of(board: Board, move: int, result: int) -> int:
    """The state of a record with this move, or NO_MOVE, and without LOWER_BOUND."""
    state = board.side | board.castling << CASTLING_SHIFT
    if board.en_passant_legal:
        state |= (board.en_passant & 7) + 1 << EN_PASSANT_SHIFT
    state |= (result if board.side == WHITE or result == NO_RESULT else 2 - result) << RESULT_SHIFT
    if in_check(board):
        state |= IN_CHECK
    if captured_of(move) or promoted_of(move):
        state |= TACTICAL
    if board.is_repetition(1):
        state |= REPEATED
    if move != NO_MOVE:
        board.make(move)
        if in_check(board):
            state |= GIVES_CHECK
        board.unmake()
    return state


def pack(cells: npt.NDArray[np.uint8]) -> Records:
    """Records of these squares, shape (positions, 64), with all other fields 0."""
    records = np.zeros(len(cells), RECORD)
    there = cells != VACANT
    records["occupied"] = np.packbits(there, axis=1, bitorder="little").view("<u8")[:, 0]
    rows, _ = np.nonzero(there)
    sizes = there.sum(axis=1)
    places = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    halves = np.zeros((len(cells), 32), np.uint8)
    halves[rows, places] = cells[there]
    records["pieces"] = halves[:, 0::2] | halves[:, 1::2] << 4
    return records


def unpack(records: Records) -> npt.NDArray[np.uint8]:
    """The squares of these records, shape (positions, 64): the reverse of `pack`."""
    occupied = np.ascontiguousarray(records["occupied"])
    there = np.unpackbits(occupied.view(np.uint8).reshape(-1, 8), axis=1, bitorder="little").astype(bool)
    pieces = np.ascontiguousarray(records["pieces"])
    halves = np.empty((len(records), 32), np.uint8)
    halves[:, 0::2] = pieces & 15
    halves[:, 1::2] = pieces >> 4
    cells = np.full((len(records), 64), VACANT, np.uint8)
    cells[there] = halves[np.arange(32) < there.sum(axis=1)[:, None]]
    return cells


def write_fen(record: Any) -> str:
    """The position of a record as FEN. Moves are counted from the start of the game; castling rights are
    written as KQkq even where Chess960 needs the rook's file.
    """
    cells = unpack(np.array([record], RECORD))[0]
    ranks = []
    for first in range(56, -8, -8):
        text = "".join(_LETTER.get(int(code), "1") for code in cells[first : first + 8])
        for run in range(8, 1, -1):
            text = text.replace("1" * run, str(run))
        ranks.append(text)
    state, counts = int(record["state"]), int(record["counts"])
    rights = "".join(letter for n, letter in enumerate("KQkq") if state >> CASTLING_SHIFT + n & 1)
    file = state >> EN_PASSANT_SHIFT & 15
    side = "wb"[state & BLACK_TO_MOVE]
    square = f"{'abcdefgh'[file - 1]}{'63'[state & BLACK_TO_MOVE]}" if file else "-"
    ply = counts & MOST_PLIES
    black_began = (ply ^ state) & BLACK_TO_MOVE
    number = 1 + (ply + black_began) // 2
    return f"{'/'.join(ranks)} {side} {rights or '-'} {square} {counts >> HALFMOVE_SHIFT} {number}"


# --- Files of records


class RecordFile:
    """A new file of records. It has a temporary name until `close` is called."""

    def __init__(self, path: Path) -> None:
        """Raises OSError."""
        self._path = path
        self._part = path.with_name(path.name + PART)
        self._file: BinaryIO = self._part.open("w+b")
        self._file.write(bytes(_HEADER.size))
        self._checksum = 0
        self.count = 0

    def add(self, records: Records) -> None:
        """Add records."""
        text = records.tobytes()
        self._file.write(text)
        self._checksum = zlib.crc32(text, self._checksum)
        self.count += len(records)

    def mapped(self) -> Records:
        """All records so far."""
        self._file.flush()
        return _map(self._part, self.count)

    def finish(self) -> None:
        """Write the header and whatever is still in memory."""
        self._file.seek(0)
        self._file.write(_HEADER.pack(_MAGIC, _VERSION, RECORD.itemsize, self._checksum, self.count))
        self._file.close()

    def close(self) -> None:
        """Finish the file, unless it is, and rename it."""
        if not self._file.closed:
            self.finish()
        os.replace(self._part, self._path)

    def discard(self) -> None:
        """Remove the temporary file, if `close` was not called."""
        with contextlib.suppress(OSError):  # what could not be written is not wanted
            self._file.close()
        self._part.unlink(missing_ok=True)


@contextlib.contextmanager
def shuffled(
    paths: list[Path], seed: int, show: Callable[[str], object] = lambda _: None
) -> Iterator[list[RecordFile]]:
    """Files to which records are added; at the end they are written to these paths in random order. If that
    fails, no new file is left. `show` is told of the progress. Raises ValueError or OSError.
    """
    for path in paths:
        if path.exists() and not path.is_file():
            raise ValueError(f"{path} is not a file")
    with contextlib.ExitStack() as stack:
        files: list[RecordFile] = []
        for path in paths:
            files.append(RecordFile(path.with_name(path.name + ORDERED)))
            stack.callback(files[-1].discard)
        yield files
        outputs: list[RecordFile] = []
        for path, source in zip(paths, files, strict=True):
            outputs.append(RecordFile(path))
            stack.callback(outputs[-1].discard)
            mapped = source.mapped()
            order = np.random.default_rng(seed).permutation(source.count)
            for first in range(0, source.count, CHUNK):
                outputs[-1].add(mapped[order[first : first + CHUNK]])
                show(f"{path}: {outputs[-1].count} of {source.count} written")
            del mapped  # some systems cannot remove a mapped file
        for output in outputs:
            output.finish()
        for output in outputs:
            output.close()


def names_of(path: Path) -> list[Path]:
    """The names that `shuffled` writes for a path."""
    return [Path(f"{path}{end}") for end in ("", PART, ORDERED + PART)]


def refuse_overwriting(read: Iterable[Path], written: Iterable[Path]) -> None:
    """Raise ValueError if a file would be written over one that is read or over another one written."""
    taken = list(read)
    for path in written:
        for other in taken:
            if is_same_file(path, other):
                raise ValueError(f"{other} would be overwritten")
        taken.append(path)


def is_same_file(one: Path, other: Path) -> bool:
    """Whether two names are, or would be, of the same file."""
    if one.exists() and other.exists():
        return one.samefile(other)
    return os.path.realpath(one) == os.path.realpath(other)


def load(path: Path, check: bool = True) -> Records:
    """Map the records of a file; `check` verifies their checksum. Raises ValueError or OSError."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(_HEADER.size)
    if len(head) < _HEADER.size or not head.startswith(_MAGIC):
        raise ValueError(f"{path} is not a file of records: it does not start with {_MAGIC.decode()}")
    _, version, itemsize, checksum, count = _HEADER.unpack(head)
    if (version, itemsize) != (_VERSION, RECORD.itemsize):
        raise ValueError(f"{path} has version {version} and records of {itemsize} bytes")
    if size != _HEADER.size + count * itemsize:
        raise ValueError(f"{path} has {size} bytes instead of {_HEADER.size + count * itemsize}")
    records = _map(path, count)
    if check:
        found = 0
        for first in range(0, count, CHUNK):
            found = zlib.crc32(records[first : first + CHUNK].tobytes(), found)
        if found != checksum:
            raise ValueError(f"{path}: the checksum of the records is wrong")
    return records


def _map(path: Path, count: int) -> Records:
    """The records behind the header of a file. An empty range cannot be mapped."""
    return np.memmap(path, RECORD, "r", _HEADER.size, (count,)) if count else np.empty(0, RECORD)
