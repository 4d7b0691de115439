"""bench/gamefile.py: files of games that grow, end anywhere, and are damaged anywhere."""

import struct
import sys
import zlib
from pathlib import Path
from random import Random

import pytest

from tests.oracle import scaled
from tests.stored import blocks, make_block, make_file, make_games

pytestmark = pytest.mark.slow

import gamefile


def test_file_is_as_described(tmp_path: Path) -> None:
    made = [make_block(2, 0), make_block(2, 3)]
    path = make_file(tmp_path / "a.moff", *made)
    for (head, found), block in zip(blocks(path), made, strict=True):
        given = make_games(3, 2000 + block.first)
        for game, fields in zip(found, given, strict=True):
            found_fields = {**vars(game), "moves": len(game.moves)}
            wanted = {**fields, "moves": len(fields["moves"])}
            assert all(
                found_fields[name] == wanted[name] for name in ("scores", "opening", "result", "moves")
            )
        assert head["settings"] == {"nodes": 7}
        numbers = {"games": 3, "seed": 2, "first": block.first, "usable": block.usable}
        assert head.items() >= numbers.items()
        assert head["positions"] == sum(len(game.scores) for game in found) > head["usable"] > 0


def test_scan_finds_all_blocks(tmp_path: Path) -> None:
    made = [make_block(1, first) for first in (0, 3, 6)]
    path = make_file(tmp_path / "a.moff", *made)
    for check in (True, False):
        places = list(gamefile.scan(path, check))
        assert [place[3:] for place in places] == [(1, b.first, 3, b.positions, b.usable) for b in made]
    assert [gamefile.read(place) for place in places] == made
    both = tmp_path / "both.moff"
    both.write_bytes(path.read_bytes() + make_file(tmp_path / "b.moff", make_block(9)).read_bytes())
    assert [place.seed for place in gamefile.scan(both)] == [1, 1, 1, 9]


def test_growing_file_holds_whole_blocks_and_an_unfinished_one(tmp_path: Path) -> None:
    path = make_file(tmp_path / "a.moff", make_block(1, 0), make_block(1, 3))
    whole = path.read_bytes()
    first, second = gamefile.scan(path)
    for size in (*range(0, len(whole), 7), len(whole)):
        path.write_bytes(whole[:size])
        complete = [place for place in (first, second) if place.end <= size]
        found = list(gamefile.scan(path))
        assert [part.end for part in found if isinstance(part, gamefile.Place)] == [p.end for p in complete]
        rest = [part for part in found if isinstance(part, gamefile.Damage)]
        assert all(part.is_unfinished and part.end == size for part in rest)
        assert len(rest) == (size not in (0, first.end, second.end))
    path.write_bytes(whole + whole[:60])
    assert [gamefile.cut(path), gamefile.cut(path)] == [60, 0]
    assert path.read_bytes() == whole
    gamefile.append(path, make_block(1, 6))
    assert path.read_bytes().startswith(whole)
    assert [place.first for place in gamefile.scan(path)] == [0, 3, 6]
    for damaged in (gamefile.encode(make_block(count=30))[:60] + whole, whole + b"damage"):
        path.write_bytes(damaged)
        assert gamefile.cut(path) == 0


def test_damage_is_reported_and_the_other_blocks_are_found(tmp_path: Path) -> None:
    """In many places of every block: a byte changed, bytes lost, bytes put in."""
    path = make_file(tmp_path / "a.moff", *(make_block(1, first, 2) for first in (0, 2, 4)))
    whole = path.read_bytes()
    places = list(gamefile.scan(path))
    chance = Random(1)
    for number, place in enumerate(places):
        others = [other.first for other in places if other is not place]
        for case in range(scaled(300, 100)):
            at = chance.randrange(place.start, place.end)
            damaged = [
                whole[:at] + bytes([whole[at] ^ chance.randrange(1, 256)]) + whole[at + 1 :],
                whole[:at] + whole[min(place.end, at + chance.randrange(1, 30)) :],
                whole[:at] + chance.randbytes(chance.randrange(1, 30)) + whole[at:],
            ][case % 3]
            path.write_bytes(damaged)
            found = list(gamefile.scan(path))
            kept = [part.first for part in found if isinstance(part, gamefile.Place)]
            # Bytes may stand before a block's first byte, or before its very first bytes again.
            assert kept == others or (kept == [0, 2, 4] and case % 3 == 2), (number, case, at)
            reasons = [part.reason for part in found if isinstance(part, gamefile.Damage)]
            assert reasons, (number, case, at)
            assert all(reasons)
            ends = [0, *(part.end for part in found)]
            assert [*(part.start for part in found), len(damaged)] == ends


def test_other_files_are_refused_and_stay(tmp_path: Path) -> None:
    path = tmp_path / "a.moff"
    path.write_bytes(b"PNG and more")
    with pytest.raises(ValueError, match="not a file of games: MOFFGAME does not occur in it"):
        list(gamefile.scan(path))
    with pytest.raises(ValueError, match="not a file of games"):
        gamefile.cut(path)
    assert path.read_bytes() == b"PNG and more"
    with pytest.raises(OSError, match="nowhere"):
        list(gamefile.scan(tmp_path / "nowhere.moff"))


def test_later_version_is_reported_and_stays(tmp_path: Path) -> None:
    path = make_file(tmp_path / "a.moff", make_block())
    data = bytearray(path.read_bytes())
    data[8:10] = (3).to_bytes(2, "little")
    data[48:52] = struct.pack("<I", zlib.crc32(data[:48]))
    path.write_bytes(data)
    (damage,) = gamefile.scan(path)
    assert damage.reason == "a block has version 3; this program reads 2"
    assert not damage.is_unfinished
    assert gamefile.cut(path) == 0
    assert path.read_bytes() == data


@pytest.mark.skipif(sys.platform == "win32", reason="files have no limit there")
def test_failing_write_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    import resource
    import signal

    path = make_file(tmp_path / "a.moff", make_block())
    whole = path.read_bytes()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + 100, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            gamefile.append(path, make_block(1, 3))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == whole


def test_scan_passes_much_damage_quickly(tmp_path: Path) -> None:
    path = tmp_path / "a.moff"
    block = gamefile.encode(make_block())
    path.write_bytes(block + (b"MOFFGAME" + bytes(992)) * scaled(20_000, 200) + bytes(200_000) + block)
    found = list(gamefile.scan(path))
    kinds = [isinstance(part, gamefile.Place) for part in (found[0], found[1], found[-1])]
    assert kinds == [True, False, True]
