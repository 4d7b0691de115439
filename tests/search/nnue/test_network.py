"""search/nnue/network.py: the file of a network, what is refused and why."""

import ctypes
import itertools
import os
import re
import zlib
from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest

from search.nnue import network, select
from tests.networks import random_weights, zone
from tests.oracle import scaled
from x88 import build


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "net.moff"
    network.write(path, random_weights())
    return path


@pytest.mark.parametrize(("hidden", "outputs"), [(16, 1), (16, 3), (64, 32)])
def test_a_written_network_reads_back(hidden: int, outputs: int, tmp_path: Path) -> None:
    weights = random_weights(hidden, outputs)
    network.write(tmp_path / "net", weights)
    found = network.read(tmp_path / "net")
    assert found[:2] == (hidden, outputs)
    assert [list(column) for column in found[2:]] == [list(column) for column in weights[2:]]
    size = network.HEADER_SIZE + 2 * (3073 * hidden + 2 * outputs * hidden) + 4 * outputs
    assert (tmp_path / "net").stat().st_size == size


def test_the_file_is_as_it_is_documented(path: Path) -> None:
    content = path.read_bytes()
    weights = random_weights()

    def number(at: int, width: int) -> int:
        return int.from_bytes(content[at : at + width], "little", signed=True)

    assert content[:8] == b"MOFF NET"
    assert [number(at, 2) for at in range(8, 28, 2)] == [2, 3072, 16, 3, 362, 512, 267, 0, 0, 0]
    assert number(32 + 2 * (700 * 16 + 5), 2) == weights.inputs[700 * 16 + 5]
    assert number(32 + 2 * (3072 * 16 + 5), 2) == weights.input_biases[5]
    assert number(32 + 2 * (3073 * 16 + (2 * 2 + 1) * 16 + 7), 2) == weights.output_weights[5 * 16 + 7]
    assert number(len(content) - 4, 4) == weights.output_biases[2]


def test_the_weights_begin_where_a_cache_line_does() -> None:
    rows = select.shipped().inputs
    assert ctypes.addressof(ctypes.c_short.from_buffer(rows)) % 64 == 0


def test_zones_are_as_documented() -> None:
    seen = [square for square in range(64) if square & 4]
    assert [network.ZONES[square] for square in seen] == [768 * zone(square) for square in seen]


def test_bands_divide_the_counts_of_pieces() -> None:
    assert [network.band(pieces, 8) for pieces in (2, 4, 5, 8, 9, 28, 29, 32)] == [0, 0, 1, 1, 2, 6, 7, 7]
    assert {network.band(pieces, 1) for pieces in range(2, 33)} == {0}
    assert [network.band(pieces, 32) for pieces in range(2, 33)] == list(range(1, 32))
    for outputs in range(1, 33):
        for output in range(outputs):
            meant = [pieces for pieces in range(2, 33) if network.band(pieces, outputs) == output]
            assert list(network.counts(output, outputs)) == meant


def check_damage(path: Path, damages: Iterable[tuple[int, int]], reason: str) -> None:
    """Change bytes of the file, each by itself: the bits of a mask at an offset. The reader refuses each."""
    content = path.read_bytes()
    with path.open("r+b", buffering=0) as file:  # rewriting it whole would wait for the disk
        for at, mask in damages:
            file.seek(at)
            file.write(bytes([content[at] ^ mask]))
            with pytest.raises(ValueError, match=reason):
                network.read(path)
            file.seek(at)
            file.write(content[at : at + 1])
    assert path.read_bytes() == content


@pytest.mark.slow
def test_the_reader_notices_damage_in_every_byte_of_the_header(path: Path) -> None:
    masks = range(1, 256) if build.compiled else [1 << bit for bit in range(8)]
    check_damage(path, itertools.product(range(network.HEADER_SIZE), masks), re.escape(str(path)))


@pytest.mark.slow
def test_the_reader_notices_damage_elsewhere(path: Path) -> None:
    chance, places = Random(1), range(network.HEADER_SIZE, path.stat().st_size)
    damages = [(chance.choice(places), chance.randrange(1, 256)) for _ in range(scaled(3000, 500))]
    check_damage(path, damages, "is damaged: its checksum is wrong")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is not a network: it does not start with 'MOFF NET'"),
        (b"MOFFGAME" + bytes(90), "is not a network: it does not start with 'MOFF NET'"),
        (b"MOFF NET", "is truncated in its header"),
        (b"MOFF NET\1\0" + bytes(22), "has version 1; Moff reads 2"),
    ],
)
def test_the_reader_refuses_other_files(content: bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "net"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=re.escape(f"{path} {reason}")):
        network.read(path)


def test_the_reader_refuses_a_file_that_is_cut_or_goes_on(path: Path) -> None:
    content = path.read_bytes()
    for size in (32, 33, len(content) - 1, len(content) + 1):
        path.write_bytes((content + b"\0")[:size])
        with pytest.raises(ValueError, match=f"has {size} bytes instead of {len(content)}"):
            network.read(path)


def test_the_reader_refuses_at_once_whatever_is_no_file(tmp_path: Path) -> None:
    """A named pipe would otherwise wait for a writer for ever."""
    places = [tmp_path]
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        places += [tmp_path / "pipe", Path(os.devnull)]
    for place in places:
        with pytest.raises(ValueError, match=re.escape(f"{place} is not a network: it is not a file")):
            network.read(place)
    with pytest.raises(FileNotFoundError):
        network.read(tmp_path / "none")


def test_a_network_survives_changes_of_its_file(path: Path) -> None:
    weights = random_weights()
    found = network.read(path)
    for content in (bytes(path.stat().st_size), b""):
        path.write_bytes(content)  # in place, as cp does
        assert [list(column) for column in found[2:]] == [list(column) for column in weights[2:]]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"hidden": 8}, "a hidden layer of 8 is not a multiple of 16 up to 1024"),
        ({"hidden": 24}, "a hidden layer of 24 is not a multiple of 16 up to 1024"),
        ({"hidden": 1040}, "a hidden layer of 1040 is not a multiple of 16 up to 1024"),
        ({"outputs": 0}, "0 outputs are not from 1 to 32"),
        ({"outputs": 33}, "33 outputs are not from 1 to 32"),
        ({"hidden": 32}, "inputs has 49152 numbers instead of 98304"),
        ({"input_biases": [0] * 15 + [964]}, "an input bias is not from -963 to 963"),
        ({"inputs": [0, -964] * 24576}, "an input weight is not from -963 to 963"),
        ({"output_weights": [-1024] * 96}, "an output weight is not from -1023 to 1023"),
        ({"output_biases": [0, 0, 2**30 + 1]}, f"an output bias is not from -{2**30} to {2**30}"),
    ],
)
def test_the_writer_refuses_impossible_numbers(
    changes: dict[str, object], reason: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        network.write(tmp_path / "net", random_weights()._replace(**changes))
    assert not (tmp_path / "net").exists()


def test_the_writer_refuses_outputs_that_could_overflow(tmp_path: Path) -> None:
    assert network.MOST_SUM == 65550
    wide = random_weights(64, 1)
    for sign in (1, -1):
        weights = [sign * number for number in [1023] * 64 + [78] + [-1023] * 63]
        network.write(tmp_path / "net", wide._replace(output_weights=weights))
        weights[64] += sign
        with pytest.raises(
            ValueError, match="positive or negative weights of an output add up to more than 65550"
        ):
            network.write(tmp_path / "wide", wide._replace(output_weights=weights))
        assert not (tmp_path / "wide").exists()


@pytest.mark.parametrize("number", [-32768, -964, -963, -769, 768, 963, 964, 1024, 32767])
def test_the_reader_refuses_an_input_weight_out_of_range(path: Path, number: int) -> None:
    # All others are small enough for the quick look that nearly every network passes.
    network.write(path, random_weights()._replace(inputs=[-768, 767] * 24576))
    content = bytearray(path.read_bytes())
    head, rest = content[: network.HEADER_SIZE - 4], content[network.HEADER_SIZE :]
    rest[40:42] = number.to_bytes(2, "little", signed=True)
    path.write_bytes(head + zlib.crc32(rest, zlib.crc32(head)).to_bytes(4, "little") + rest)
    if -963 <= number <= 963:
        assert network.read(path).inputs[20] == number
    else:
        with pytest.raises(ValueError, match=re.escape(f"{path}: an input weight is not from -963 to 963")):
            network.read(path)
