"""bench/gamefile.py: files of games that grow, end anywhere, and are damaged anywhere."""

import struct
import sys
import zlib
from array import array
from pathlib import Path
from random import Random
from typing import Any

import pytest

from search.selfplay import Game
from tests.oracle import scaled
from tests.stored import blocks, make_games

pytestmark = pytest.mark.slow

import gamefile

SETTINGS = {"engine": "abc", "nodes": 7}


def game_of(fields: dict[str, Any], usable: int = 0) -> Game:
    return Game(**{**fields, "scores": array("h", fields["scores"])}, usable=usable)


def make_block(seed: int = 1, first: int = 0, count: int = 3) -> Any:
    games = [game_of(fields, usable=5) for fields in make_games(count, seed + first)]
    return gamefile.packed(seed, first, SETTINGS, games)


def make_file(path: Path, *made: Any) -> Path:
    for block in made:
        gamefile.append(path, block)
    return path


def test_the_file_is_as_described(tmp_path: Path) -> None:
    path = make_file(tmp_path / "a.moff", make_block(2, 0), make_block(2, 3))
    for (head, found), first in zip(blocks(path), (0, 3), strict=True):
        given = make_games(3, 2 + first)
        assert [game.scores for game in found] == [fields["scores"] for fields in given]
        assert [game.opening for game in found] == [fields["opening"] for fields in given]
        assert [game.result for game in found] == [fields["result"] for fields in given]
        assert [len(game.moves) for game in found] == [len(fields["moves"]) for fields in given]
        assert head["settings"] == SETTINGS
        assert (head["games"], head["seed"], head["first"], head["usable"]) == (3, 2, first, 15)
        assert head["positions"] == sum(len(game.scores) for game in found)


def test_blocks_are_found_where_they_are(tmp_path: Path) -> None:
    made = [make_block(1, first) for first in (0, 3, 6)]
    path = make_file(tmp_path / "a.moff", *made)
    for check in (True, False):
        places = list(gamefile.scan(path, check))
        assert [place[3:] for place in places] == [(1, b.first, 3, b.positions, b.usable) for b in made]
    assert [gamefile.read(place) for place in places] == made
    both = tmp_path / "both.moff"
    both.write_bytes(path.read_bytes() + make_file(tmp_path / "b.moff", make_block(9)).read_bytes())
    assert [place.seed for place in gamefile.scan(both)] == [1, 1, 1, 9]


def test_a_file_is_read_while_it_grows(tmp_path: Path) -> None:
    whole = make_file(tmp_path / "whole.moff", make_block(1, 0), make_block(1, 3)).read_bytes()
    path = tmp_path / "a.moff"
    (first, second) = gamefile.scan(tmp_path / "whole.moff")
    for size in (*range(0, len(whole), 7), len(whole)):
        path.write_bytes(whole[:size])
        found = list(gamefile.scan(path))
        complete = [place for place in (first, second) if place.end <= size]
        assert [part.end for part in found if isinstance(part, gamefile.Place)] == [p.end for p in complete]
        rest = [part for part in found if isinstance(part, gamefile.Damage)]
        assert all(part.is_unfinished and part.end == size for part in rest)
        assert len(rest) == (size not in (0, first.end, second.end))


def test_an_unfinished_block_is_cut_off_before_another_is_added(tmp_path: Path) -> None:
    path = make_file(tmp_path / "a.moff", make_block(1, 0))
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:60])
    assert gamefile.cut(path) == 60
    assert path.read_bytes() == whole
    assert gamefile.cut(path) == 0
    gamefile.append(path, make_block(1, 3))
    assert path.read_bytes().startswith(whole)
    assert [place.first for place in gamefile.scan(path)] == [0, 3]


def test_damage_is_told_and_the_rest_used(tmp_path: Path) -> None:
    """In many places of every block: a byte changed, bytes lost, bytes put in."""
    path = make_file(tmp_path / "a.moff", *(make_block(1, first, 2) for first in (0, 2, 4)))
    whole = path.read_bytes()
    places = list(gamefile.scan(path))
    chance = Random(1)
    for number, place in enumerate(places):
        others = [other.first for other in places if other is not place]
        for case in range(scaled(1000, 100)):
            at = chance.randrange(place.start, place.end)
            if case % 3 == 0:
                damaged = whole[:at] + bytes([whole[at] ^ chance.randrange(1, 256)]) + whole[at + 1 :]
            elif case % 3 == 1:
                damaged = whole[:at] + whole[min(place.end, at + chance.randrange(1, 30)) :]
            else:
                damaged = whole[:at] + chance.randbytes(chance.randrange(1, 30)) + whole[at:]
            path.write_bytes(damaged)
            found = list(gamefile.scan(path))
            kept = [part.first for part in found if isinstance(part, gamefile.Place)]
            told = [part for part in found if isinstance(part, gamefile.Damage)]
            if kept == [0, 2, 4]:
                # Put in before a block's first byte, or before its very first bytes again.
                assert case % 3 == 2
            else:
                assert kept == others, (number, case, at)
            assert told, (number, case, at)
            assert all(part.reason for part in told)
            size = 0
            for part in found:
                assert part.start == size
                size = part.end
            assert size == len(damaged)


def test_what_is_no_file_of_games_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.moff"
    path.write_bytes(b"PNG and more")
    with pytest.raises(ValueError, match="not a file of games: MOFFGAME does not occur in it"):
        list(gamefile.scan(path))
    with pytest.raises(ValueError, match="not a file of games"):
        gamefile.cut(path)
    assert path.read_bytes() == b"PNG and more"
    with pytest.raises(OSError, match="nowhere"):
        list(gamefile.scan(tmp_path / "nowhere.moff"))


def test_a_later_version_is_told(tmp_path: Path) -> None:
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
def test_a_failing_write_leaves_the_file_as_it_was(tmp_path: Path) -> None:
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


def test_much_damage_is_passed_quickly(tmp_path: Path) -> None:
    path = tmp_path / "a.moff"
    block = gamefile.encode(make_block())
    path.write_bytes(block + (b"MOFFGAME" + bytes(992)) * scaled(20_000, 200) + bytes(200_000) + block)
    found = list(gamefile.scan(path))
    assert [isinstance(part, gamefile.Place) for part in (found[0], found[1], found[-1])] == [
        True,
        False,
        True,
    ]
