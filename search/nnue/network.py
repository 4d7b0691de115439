"""The file of an evaluation network, which bench/train.py writes and the search reads.

A network has two perspectives, White's and Black's. Black's turns the board upside down; with its king on
files a to d, a perspective is mirrored, so that the king is always on e to h. Four zones of the king's square
have inputs of their own, 768 each: own and enemy pieces of six kinds on 64 squares. A hidden layer of
`hidden` neurons for each perspective, the side to move first, is clipped to the range 0 to 1 and squared
(squared clipped ReLU). The number of pieces selects one of several outputs.

All numbers are integers: input weights are multiplied by INPUT_SCALE, output weights by OUTPUT_SCALE, and
rounded. Each hidden neuron is clipped to the range 0 to INPUT_SCALE; a quarter of its square, rounded down,
is multiplied by the output weight, and `sum` adds these products over both perspectives. The value in
centipawns is `(sum + bias) * SCALE` divided by UNIT and rounded down, and at most 30000 either way.

| header | bytes | content |
|---|---|---|
| magic | 8 | "MOFF NET" |
| version | 2 | 2 |
| inputs | 2 | 3072 |
| hidden | 2 | neurons of the hidden layer for each perspective |
| outputs | 2 | bands of piece counts |
| scales | 2, 2, 2 | INPUT_SCALE, OUTPUT_SCALE, SCALE |
| unused | 6 | 0 |
| checksum | 4 | CRC-32 of the 28 bytes before and everything after the header |

| after the header | content |
|---|---|
| input weights | int16 [input, hidden]; own pieces are side 0 |
| input biases | int16 [hidden] |
| output weights | int16 [output, perspective, hidden], the side to move first |
| output biases | int32 [output], in units of 1 / UNIT |

An input is zone * 768 + side * 384 + kind * 64 + square. Numbers are little-endian.

The band of a position with n pieces, kings included, is (n - 1) * outputs // 32.
"""

import os
import stat
import struct
import sys
import zlib
from array import array
from collections.abc import Sequence
from operator import index
from typing import NamedTuple

from x88 import memory

ZONE_INPUTS = 768

ZONES = [*(0, 0, 768, 768) * 2, *(1536,) * 8, *(2304,) * 48]
"""The first input of the zone of a king on each square, 0 to 63, as its own perspective sees it: files e
and f of the first rank, g and h, the second rank, the others.
"""

INPUTS = max(ZONES) + ZONE_INPUTS
INPUT_SCALE = 362
OUTPUT_SCALE = 512
SCALE = 267
"""The centipawns (`search.score`) of a network's value that multiply the odds by e."""

UNIT = INPUT_SCALE**2 // 4 * OUTPUT_SCALE
"""The sum of an output that means a value of SCALE."""

LARGEST_HIDDEN = 1024
HIDDEN_STEP = 16
"""The numbers in a vector register; the hidden layer is a multiple of it."""

MOST_OUTPUTS = 32

MOST_INPUT = 32767 // 34
"""The largest quantised weight or bias of an input: those of 32 pieces, the bias, and one more piece while a
move is being made stay within 16 bits.
"""

MOST_OUTPUT = 1023
"""The largest quantised weight of an output."""

MOST_SUM = (2**31 - 1) // (INPUT_SCALE**2 // 4)
"""The largest sum of the positive weights of an output, and of the negative ones: since the neurons are never
negative, all partial sums stay within 32 bits.
"""

MOST_BIAS = 2**30
"""The largest quantised bias of an output."""

MAGIC = b"MOFF NET"
VERSION = 2

_HEADER = struct.Struct("<8sHHHHHHH6x")
_CHECKSUM = struct.Struct("<I")
HEADER_SIZE = _HEADER.size + _CHECKSUM.size


class Weights(NamedTuple):
    """The numbers of a network, quantised, in the order of the file."""

    hidden: int
    outputs: int
    inputs: Sequence[int]
    """[input * hidden + i]"""
    input_biases: Sequence[int]
    output_weights: Sequence[int]
    """[(output * 2 + perspective) * hidden + i]"""
    output_biases: Sequence[int]


def band(pieces: int, outputs: int) -> int:
    """The output for this many pieces, 1 to 32, kings included. Raises ValueError for other numbers."""
    if not 1 <= index(pieces) <= 32 or not 1 <= index(outputs) <= MOST_OUTPUTS:
        raise ValueError(f"there is no output for {pieces} pieces among {outputs}")
    return (pieces - 1) * outputs // 32


def counts(output: int, outputs: int) -> range:
    """The piece counts, kings included, of an output; with 32, the first has none. Raises ValueError."""
    if not 0 <= index(output) < index(outputs) <= MOST_OUTPUTS:
        raise ValueError(f"there is no output {output} among {outputs}")
    return range(max(-(-32 * output // outputs), 1) + 1, -(-32 * (output + 1) // outputs) + 1)


def write(path: str | os.PathLike[str], weights: Weights) -> None:
    """Write a network file. Raises ValueError if its numbers are out of range, or OSError."""
    check_lengths(weights)
    _check_ranges(weights)
    hidden, outputs, *numbers = weights
    columns = [array("i" if n == 3 else "h", column) for n, column in enumerate(numbers)]
    if sys.byteorder == "big":
        for column in columns:
            column.byteswap()
    content = b"".join(column.tobytes() for column in columns)
    header = _HEADER.pack(MAGIC, VERSION, INPUTS, hidden, outputs, INPUT_SCALE, OUTPUT_SCALE, SCALE)
    with open(os.fspath(path), "wb") as file:  # no descriptor, which would be closed
        file.write(header + _CHECKSUM.pack(zlib.crc32(content, zlib.crc32(header))) + content)


def read(path: str | os.PathLike[str]) -> Weights:
    """Read a network file. Raises ValueError with the reason if it is not one or is damaged, OSError, or
    MemoryError.

    It is not mapped into memory: another program may overwrite or truncate the file while it is used.
    """
    path = os.fspath(path)  # no descriptor, which would be closed
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError(f"{path} is not a network: it is not a file")
    with open(path, "rb") as file:
        head = file.read(HEADER_SIZE)
        if not head.startswith(MAGIC):
            raise ValueError(f"{path} is not a network: it does not start with {MAGIC.decode()!r}")
        if len(head) < HEADER_SIZE:
            raise ValueError(f"{path} is truncated in its header")
        _, version, inputs, hidden, outputs, *scales = _HEADER.unpack_from(head)
        if version != VERSION:
            raise ValueError(f"{path} has version {version}; Moff reads {VERSION}")
        if inputs != INPUTS or scales != [INPUT_SCALE, OUTPUT_SCALE, SCALE]:
            raise ValueError(f"{path} has {inputs} inputs and the scales {scales}, which Moff does not read")
        try:
            sizes = check_sizes(hidden, outputs)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        size = HEADER_SIZE + 2 * sum(sizes) + 2 * sizes[-1]
        found = os.fstat(file.fileno()).st_size
        if found != size:
            raise ValueError(f"{path} has {found} bytes instead of {size}")
        # Then no vector of weights straddles two cache lines, which would cost the search 2 % of its speed.
        view = memoryview(memory.allocate(size - HEADER_SIZE, purpose="the network"))
        file.readinto(view)
    checksum = zlib.crc32(view, zlib.crc32(head[: _HEADER.size]))
    if head[_HEADER.size :] != _CHECKSUM.pack(checksum):
        raise ValueError(f"{path} is damaged: its checksum is wrong")
    columns = []
    at = 0
    for number, count in enumerate(sizes):
        width = 4 if number == 3 else 2
        columns.append(_numbers(view[at : at + width * count], width))
        at += width * count
    weights = Weights(hidden, outputs, *columns)
    try:
        _check_ranges(weights)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return weights


def _numbers(view: memoryview, width: int) -> Sequence[int]:
    """The little-endian numbers of `width` bytes each, without a copy where possible."""
    if sys.byteorder == "little":
        return view.cast("h") if width == 2 else view.cast("i")
    found = array("h" if width == 2 else "i", view.tobytes())
    found.byteswap()
    return found


def check_lengths(weights: Weights) -> None:
    """Raise ValueError if the weights are not as many as their sizes say."""
    sizes = check_sizes(weights.hidden, weights.outputs)
    for name, numbers, size in zip(Weights._fields[2:], weights[2:], sizes, strict=True):
        if len(numbers) != size:
            raise ValueError(f"{name} has {len(numbers)} numbers instead of {size}")


def check_sizes(hidden: int, outputs: int) -> list[int]:
    """The count of numbers in each part of the file. Raises ValueError for impossible sizes."""
    if not HIDDEN_STEP <= hidden <= LARGEST_HIDDEN or hidden % HIDDEN_STEP:
        raise ValueError(
            f"a hidden layer of {hidden} is not a multiple of {HIDDEN_STEP} up to {LARGEST_HIDDEN}"
        )
    if not 1 <= outputs <= MOST_OUTPUTS:
        raise ValueError(f"{outputs} outputs are not from 1 to {MOST_OUTPUTS}")
    return [INPUTS * hidden, hidden, 2 * outputs * hidden, outputs]


def _is_small(numbers: Sequence[int]) -> bool:
    """Whether all numbers are 16 bits wide and from -768 to 767, as in nearly every network. This takes a
    tenth of the time of comparing each, and every start waits for it.
    """
    if not isinstance(numbers, memoryview) or numbers.format != "h":
        return False
    upper = numbers.tobytes()[sys.byteorder == "little" :: 2]
    return not upper.translate(None, b"\x00\x01\x02\xfd\xfe\xff")


def _check_ranges(weights: Weights) -> None:
    """Raise ValueError if a sum could leave its range."""
    for name, numbers, most in (
        ("an input weight", weights.inputs, MOST_INPUT),
        ("an input bias", weights.input_biases, MOST_INPUT),
        ("an output weight", weights.output_weights, MOST_OUTPUT),
        ("an output bias", weights.output_biases, MOST_BIAS),
    ):
        if not _is_small(numbers) and (max(numbers) > most or min(numbers) < -most):
            raise ValueError(f"{name} is not from -{most} to {most}")
    width = 2 * weights.hidden
    for first in range(0, len(weights.output_weights), width):
        row = weights.output_weights[first : first + width]
        if sum(map(abs, row)) + abs(sum(row)) > 2 * MOST_SUM:
            raise ValueError(f"the positive or negative weights of an output add up to more than {MOST_SUM}")
