"""search/tablebase.py and tablefile.py against python-chess's reader of the same files."""

import shutil
from pathlib import Path
from random import Random

import chess
import chess.syzygy
import pytest

from search.tablebase import Tablebase
from search.tablefile import MAGIC
from tests.oracle import SHARED, scaled
from x88 import fen

FOLDER = SHARED / "syzygy"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="../shared/data/syzygy is missing")
NAMES = sorted(path.stem for path in FOLDER.glob("*.rtbw"))


def random_position(name: str, chance: Random) -> chess.Board:
    """A position of these pieces, with either side as White, at times with en passant."""
    white, black = name.split("v")
    while True:
        board = chess.Board(None)
        swaps = chance.random() < 0.5
        letters = [*white.upper(), *black.lower()]
        for square, letter in zip(chance.sample(range(64), len(letters)), letters, strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(letter.swapcase() if swaps else letter))
        board.turn = chance.random() < 0.5
        if "P" in white and "P" in black and chance.random() < 0.5:
            for square in (*range(16, 24), *range(40, 48)):
                board.ep_square = square
                if board.is_valid() and board.has_legal_en_passant():
                    return board
            board.ep_square = None
        if board.is_valid():
            return board


@pytest.mark.parametrize("name", NAMES)
def test_results_and_distances_are_python_chess_s(name: str) -> None:
    chance = Random(name)
    ours = Tablebase([str(FOLDER)])
    with chess.syzygy.open_tablebase(str(FOLDER)) as theirs:
        for _ in range(scaled(120, 15)):
            board = random_position(name, chance)
            position = fen.parse(board.fen())
            assert ours.wdl(position) == theirs.probe_wdl(board), board.fen()
            assert ours.dtz(position) == theirs.probe_dtz(board), board.fen()
            assert fen.write(position) == fen.write(fen.parse(board.fen()))
    assert ours.problems == []


def test_what_no_table_tells_is_not_told() -> None:
    tables = Tablebase([str(FOLDER)])
    assert tables.most == 4
    for text in (fen.START, "4k2r/8/8/8/8/8/8/4K3 b k - 0 1", "8/8/8/3k4/8/8/1QQ5/1KQ5 w - - 0 1"):
        assert tables.wdl(fen.parse(text)) is None
        assert tables.dtz(fen.parse(text)) is None
    assert tables.wdl(fen.parse("8/8/8/3k4/8/8/8/1K6 w - - 0 1")) == 0
    assert Tablebase([]).wdl(fen.parse("8/8/8/3k4/8/8/8/1K6 w - - 0 1")) is None
    missing = Tablebase(["nowhere"])
    assert missing.problems == ["nowhere: No such file or directory"]


def copied(folder: Path, *names: str) -> None:
    for name in names:
        shutil.copy(FOLDER / name, folder / name)
        (folder / name).chmod(0o644)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is no tablebase file"),
        (b"nothing of the kind" * 64, "it is no tablebase file"),
        (None, "bytes are not those of a whole file"),
    ],
)
def test_a_file_that_is_none_is_told_once_and_the_rest_is_used(
    content: bytes | None, reason: str, tmp_path: Path
) -> None:
    copied(tmp_path, "KQvK.rtbw", "KRvK.rtbw")
    broken = tmp_path / "KQvK.rtbw"
    broken.write_bytes(broken.read_bytes()[:-7] if content is None else content)
    tables = Tablebase([str(tmp_path)])
    for _ in range(3):
        assert tables.wdl(fen.parse("8/8/8/3k4/8/8/8/1KQ5 w - - 0 1")) is None
    (problem,) = tables.problems
    assert problem.startswith(f"{broken}: ")
    assert reason in problem
    assert tables.wdl(fen.parse("8/8/8/3k4/8/8/8/1KR5 w - - 0 1")) == 2


def test_a_renamed_file_is_refused(tmp_path: Path) -> None:
    copied(tmp_path, "KPvK.rtbw", "KQvKQ.rtbw")
    (tmp_path / "KPvK.rtbw").rename(tmp_path / "KQvK.rtbw")
    (tmp_path / "KQvKQ.rtbw").rename(tmp_path / "KRvKB.rtbw")
    tables = Tablebase([str(tmp_path)])
    assert tables.wdl(fen.parse("8/8/8/3k4/8/8/8/1KQ5 w - - 0 1")) is None
    assert tables.wdl(fen.parse("8/8/8/3kb3/8/8/8/1KR5 w - - 0 1")) is None
    assert all("it holds other pieces than its name says" in problem for problem in tables.problems)
    assert len(tables.problems) == 2


def test_damage_is_refused_or_gives_some_result(tmp_path: Path) -> None:
    """Without its checksum a damaged table cannot be told from a whole one, but nothing worse happens."""
    chance = Random(5)
    names = ("KPvK", "KPvKP", "KRvKP", "KQvKR", "KBNvK")
    for _ in range(scaled(300, 40)):
        name = chance.choice(names)
        for suffix in MAGIC:
            copied(tmp_path, name + suffix)
        path = tmp_path / (name + chance.choice([*MAGIC]))
        content = bytearray(path.read_bytes())
        for _ in range(chance.randint(1, 20)):
            content[int(len(content) * chance.random() ** 3)] = chance.randrange(256)
        path.write_bytes(content)
        tables = Tablebase([str(tmp_path)])
        for _ in range(5):
            position = fen.parse(random_position(name, chance).fen())
            assert tables.wdl(position) in (None, -2, -1, 0, 1, 2)
            tables.dtz(position)
