"""bench/gamefile.py: games survive a round trip, and damage is never taken for a game."""

import functools
import importlib
import lzma
import struct
import subprocess
import sys
import zlib
from array import array
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.oracle import scaled
from x88 import coordinate, fen
from x88.game import OngoingGame
from x88.move import CASTLING, EN_PASSANT, moved_of, origin_of, target_of
from x88.movegen import legal_moves
from x88.piece import PAWN

BENCH = Path(__file__).resolve().parent.parent / "bench"

sys.path.append(str(BENCH))
gamefile: Any = importlib.import_module("gamefile")

LIVELY = "r3k2r/1P4p1/8/2pPp3/5P2/8/1p4P1/R3K2R w KQkq c6 0 20"
"""Castling, en passant and promotions are near."""

GOLDEN = """
4d4f464647414d45010001000700000000000000030000002c00000011ad6db30100270d0000007b226e6f646573223a
20317d0a03000000020005000110100c0c0e8800f6ff807c00010000
"""
"""A file that the first version wrote."""

GOLDEN_SPECIAL = """
4d4f464647414d450100050001000000000000001400000092000000d182325ae00146008a030060803271cb39cd6f26
501a9715e1d9f93a310d6910c636586d13b926742d27883c59221e9a1436136d25a9c47588c92d012a2e30a0e29c25d1
3664e96ebddb723076b4954bc5f7a33513dfdc1b8d5ea1607a0150516a321082f47525314c8f54b9620c0464a5102ae5
e36650d65d17a54f395969ee0bb9dbc0c06ef81b7ff44d6abbc1a0c4579813cf0000
"""
"""Another one, from when packed moves marked double pushes."""

SPECIAL_MOVES = [
    "e2e4 c7c5 e4e5 d7d5 e5d6 e7d6 a2a4 g7g5",
    "d5c6 g7g5 e1g1 b2a1q f1a1 e8g8 b7a8n g5f4",
    "g2g4 b2b1r a1b1 e8f7 b7a8q",
    "e1c1 e8g8",
    "e8c8 e1g1",
]
"""The moves of its games: castling on all sides, en passant, promotions and double pushes."""


def random_game(number: int, start: str = "", plies: int = 30) -> Any:
    """A game of random moves and scores."""
    chance = Random(number)
    game = OngoingGame(start or fen.START)
    moves = bytearray()
    while len(moves) < plies and not game.is_over():
        move = chance.choice(legal_moves(game.board))
        moves.append(gamefile.index_of(game.board, move))
        game.play(move)
    scored = max(0, len(moves) - 8)
    scores = array("h", (chance.choice([chance.randint(-3000, 3000), 31990, -32768]) for _ in range(scored)))
    bounds = bytes(chance.randint(0, 1) for _ in range(scored))
    return gamefile.Game(number, start, bytes(moves), scores, bounds, chance.randint(0, 2))


@functools.cache
def blocks() -> list[Any]:
    """A few blocks of two runs."""
    first = [random_game(number) for number in range(3)]
    second = [random_game(3, LIVELY), random_game(4, plies=6)]
    return [
        gamefile.Block(1, {"nodes": 10}, first),
        gamefile.Block(2**63, {"nodes": 20}, second),
        gamefile.Block(1, {"nodes": 10}, [random_game(7)]),
    ]


def file_of(found: list[Any]) -> bytes:
    """The file with these blocks."""
    return b"".join(map(gamefile.encode, found))


def block_ends() -> list[int]:
    """The sizes of the file with none, one, two and three blocks."""
    return [len(file_of(blocks()[:count])) for count in range(4)]


def whole(data: bytes) -> list[Any]:
    """The blocks that the scan of a file finds."""
    return [part for part in gamefile.scan(data) if isinstance(part, gamefile.Block)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The path of a file that holds the blocks."""
    target = tmp_path / "games.moff"
    target.write_bytes(file_of(blocks()))
    return target


def test_games_survive_a_round_trip(path: Path) -> None:
    assert whole(path.read_bytes()) == blocks()
    with gamefile.GameFile(path) as file:
        assert file.games == {(1, 0), (1, 1), (1, 2), (2**63, 3), (2**63, 4), (1, 7)}
        assert file.positions == sum(len(game.scores) for block in blocks() for game in block.games)
        assert file.settings == {1: {"nodes": 10}, 2**63: {"nodes": 20}}
        assert file.cut == 0
        file.add(gamefile.Block(5, {}, [random_game(9)]))
        assert (5, 9) in file.games
    assert whole(path.read_bytes()) == [*blocks(), gamefile.Block(5, {}, [random_game(9)])]


def test_a_replay_makes_the_moves_that_were_played() -> None:
    for number, start in enumerate(["", LIVELY] * 5):
        chance = Random(number)
        expected = OngoingGame(start or fen.START)
        for board, move in gamefile.replay(random_game(number, start)):
            assert fen.write(board) == fen.write(expected.board)
            assert move == chance.choice(legal_moves(expected.board))
            expected.play(move)
        assert expected.moves


def test_the_format_stays() -> None:
    # A file that the first version has written: e4 e5 Ke2 Ke7 Kf3, the last three with scores.
    data = bytes.fromhex(GOLDEN)
    (block,) = whole(data)
    (game,) = block.games
    assert (block.seed, block.settings) == (7, {"nodes": 1})
    assert (game.number, game.start, game.result) == (3, "", 1)
    assert (list(game.scores), game.bounds) == ([-120, -32768, 31990], b"\0\1\0")
    assert fen.write(list(gamefile.replay(game))[-1][0]).startswith(
        "rnbq1bnr/ppppkppp/8/4p3/4P3/5K2/PPPP1PPP"
    )


def test_special_moves_keep_their_indices() -> None:
    (block,) = whole(bytes.fromhex(GOLDEN_SPECIAL))
    for game, moves in zip(block.games, SPECIAL_MOVES, strict=True):
        assert " ".join(coordinate.write(move) for _, move in gamefile.replay(game)) == moves


def test_moves_are_numbered_by_what_they_are() -> None:
    """In the order of the bits of a packed move when the first files were written."""

    def bits(move: int) -> int:
        is_double_push = moved_of(move) == PAWN and abs(target_of(move) - origin_of(move)) == 0x20
        flags = is_double_push << 26 | bool(move & EN_PASSANT) << 27 | bool(move & CASTLING) << 28
        return move & 0x03FFFFFF | flags

    for seed in range(scaled(20, 4)):
        game = OngoingGame(LIVELY if seed % 2 else fen.START)
        chance = Random(seed)
        while not game.is_over() and len(game.moves) < 60:
            moves = sorted(legal_moves(game.board), key=bits)
            assert [gamefile.index_of(game.board, move) for move in moves] == list(range(len(moves)))
            game.play(chance.choice(moves))


def test_a_file_cut_anywhere_holds_its_whole_blocks(path: Path) -> None:
    data = path.read_bytes()
    ends = block_ends()
    for size in range(len(data)):
        count = sum(end <= size for end in ends) - 1
        assert whole(data[:size]) == blocks()[:count]
        path.write_bytes(data[:size])
        with gamefile.GameFile(path) as file:
            assert file.cut == size - ends[count]
            assert len(file.games) == sum(len(block.games) for block in blocks()[:count])
        assert path.read_bytes() == data[: ends[count]]


def test_new_blocks_follow_the_last_intact_one(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:-1])
    with gamefile.GameFile(path) as file:
        file.add(blocks()[-1])
    assert path.read_bytes() == data


@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
def test_no_wrong_byte_is_taken_for_a_game(path: Path, mask: int) -> None:
    data = path.read_bytes()
    ends = block_ends()
    for at in range(len(data)):
        damaged = bytearray(data)
        damaged[at] ^= mask
        bad = sum(end <= at for end in ends) - 1
        assert whole(bytes(damaged)) == blocks()[:bad] + blocks()[bad + 1 :]
        path.write_bytes(damaged)
        if bad == 2 and at - ends[2] not in (8, 9):  # where its version is
            with gamefile.GameFile(path) as file:
                assert file.cut == ends[3] - ends[2]
            assert path.read_bytes() == data[: ends[2]]
        else:
            # To cut here would lose good blocks.
            with pytest.raises(ValueError, match=r"games\.moff"):
                gamefile.GameFile(path)
            assert path.read_bytes() == damaged


def test_damage_between_blocks_is_reported_with_its_place(path: Path) -> None:
    first, *rest = blocks()
    size = len(file_of([first]))
    data = file_of([first]) + b"rubbish" + gamefile.MAGIC + b"more" + file_of(rest)
    parts = list(gamefile.scan(data))
    assert [part for part in parts if isinstance(part, gamefile.Block)] == blocks()
    (damage,) = (part for part in parts if isinstance(part, gamefile.Damage))
    assert (damage.start, damage.end) == (size, size + len(b"rubbish" + gamefile.MAGIC + b"more"))
    assert "no block starts here" in damage.reason


def test_random_bytes_are_no_game() -> None:
    chance = Random(0)
    for _ in range(300):
        data = gamefile.MAGIC + b"\1\0" + chance.randbytes(chance.randint(0, 200))
        assert whole(data) == []
        assert whole(chance.randbytes(50)) == []
    assert list(gamefile.scan(b"")) == []


@pytest.mark.parametrize(
    "text", [b"Dear Sir,\n", b"\0" * 100, b"MOFFGAMMON", b"moffgame", b"MOFFRECS" + bytes(99)]
)
def test_a_file_of_something_else_is_left_alone(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "letter"
    path.write_bytes(text)
    with pytest.raises(ValueError, match="letter is not a file of games"):
        gamefile.GameFile(path)
    assert path.read_bytes() == text


def test_another_version_is_refused(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[8] = 2
    path.write_bytes(data)
    with pytest.raises(ValueError, match="version 2"):
        gamefile.GameFile(path)
    assert path.read_bytes() == data


def test_zeros_after_the_last_block_are_cut_off(path: Path) -> None:
    # So some file systems fill what they had no time to write.
    data = path.read_bytes()
    path.write_bytes(data + bytes(5000))
    with gamefile.GameFile(path) as file:
        assert file.cut == 5000
    assert path.read_bytes() == data


def test_no_damage_at_the_end_but_that_of_one_block_is_cut_off(path: Path) -> None:
    data = path.read_bytes()
    ends = block_ends()
    for places, said in (((ends[2] - 1, ends[3] - 1), "checksum"), ((ends[2] + 8,), "version")):
        damaged = bytearray(data)
        for at in places:
            damaged[at] ^= 2
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=rf"damaged from byte \d+ to {ends[3]}: .*{said}.*--merge"):
            gamefile.GameFile(path)
        assert path.read_bytes() == damaged


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_block_that_cannot_be_written_leaves_the_file_as_it_was(path: Path, error: BaseException) -> None:
    data = path.read_bytes()

    class Full:
        """A file on a disk with 50 bytes left, which are written in two parts."""

        def __init__(self, file: Any) -> None:
            self.file = file
            self.left = 50

        def write(self, text: bytes) -> int:
            if not self.left:
                raise error
            self.left -= 25
            return int(self.file.write(text[:25]))

        def __getattr__(self, name: str) -> Any:
            return getattr(self.file, name)

    new = gamefile.Block(3, {}, [random_game(9)])
    with gamefile.GameFile(path) as file:
        whole = file._file
        file._file = Full(whole)
        with pytest.raises(type(error)):
            file.add(new)
        assert path.read_bytes() == data
        assert (3, 9) not in file.games
        file._file = whole
        file.add(new)
    assert path.read_bytes() == data + gamefile.encode(new)


def block_with(payload: bytes, count: int = 1, positions: int = 1) -> bytes:
    """A block with this payload, unpacked, and a right checksum."""
    packed = lzma.compress(payload, lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA2, "preset": 6}])
    return sealed(packed, count, positions)


def sealed(packed: bytes, count: int = 1, positions: int = 1) -> bytes:
    """A block with this payload and a right checksum."""
    header = struct.pack("<8sHHQII", b"MOFFGAME", 1, count, 0, positions, len(packed))
    return header + struct.pack("<I", zlib.crc32(header + packed)) + packed


def payload_with(
    texts: bytes = b"{}\n",
    opening: int = 1,
    plies: int = 2,
    result: int = 1,
    bound: int = 0,
    more: bytes = b"",
) -> bytes:
    """The payload of a block with one game of two plies, one of them with a score."""
    head = struct.pack("<I", len(texts)) + texts
    return head + struct.pack("<IHHBBBhB", 0, opening, plies, result, 0, 0, 5, bound) + more


def test_a_block_built_by_hand_is_read() -> None:
    ((_, settings, (game,)),) = whole(block_with(payload_with(b'{"a": 1}\n')))
    assert settings == {"a": 1}
    assert game == gamefile.Game(0, "", b"\0\0", array("h", [5]), b"\0", 1)


@pytest.mark.parametrize(
    "data",
    [
        block_with(b""),
        block_with(b"\0"),
        block_with(payload_with()[:-1]),
        block_with(payload_with(more=b"\0")),
        block_with(payload_with(), count=2),
        block_with(payload_with(), positions=2),
        block_with(payload_with(b"{}")),
        block_with(payload_with(b"{}\n\n")),
        block_with(payload_with(b"[]\n")),
        block_with(payload_with(b"{\n")),
        block_with(payload_with(b"\xff\n")),
        block_with(payload_with(opening=3)),
        block_with(payload_with(plies=3)),
        block_with(payload_with(result=3)),
        block_with(payload_with(bound=2)),
        block_with(struct.pack("<I", 2**32 - 1)),
        sealed(b""),
        sealed(b"\xff" * 40),
        sealed(lzma.compress(payload_with(), lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA2}])[:-5]),
    ],
)
def test_an_inconsistent_block_is_damage(data: bytes) -> None:
    assert whole(data) == []
    good = file_of(blocks()[:1])
    assert whole(data + good) == blocks()[:1]


def test_a_payload_cannot_unpack_to_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gamefile, "_LONGEST", 1000)
    assert whole(block_with(payload_with(more=bytes(10**6)))) == []


def test_an_index_without_a_move_is_an_error_with_its_place() -> None:
    game = random_game(5)._replace(moves=b"\0\xc8")
    with pytest.raises(ValueError, match="game 5, ply 2: no move 200 in "):
        list(gamefile.replay(game))


@pytest.mark.skipif(sys.platform == "win32", reason="there is no lock on files")
def test_two_processes_do_not_write_to_one_file(path: Path) -> None:
    code = f"""
import sys
sys.path.insert(0, {str(BENCH)!r})
import gamefile
from pathlib import Path
try:
    gamefile.GameFile(Path({str(path)!r}))
except ValueError as error:
    print(error)
"""
    with gamefile.GameFile(path):
        ended = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, encoding="utf-8", timeout=60
        )
    assert "is open in another process" in ended.stdout, ended.stderr
