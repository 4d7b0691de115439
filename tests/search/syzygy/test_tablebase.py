"""search/syzygy/tablebase.py, file.py and pairs.py against python-chess's reader of the same files.

MOFF_TABLE_POSITIONS is the number of random positions in all, MOFF_TABLE_DAMAGE that of damaged places in
every file, for longer runs than usual.
"""

import contextlib
import gc
import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import chess
import chess.syzygy
import pytest

from search.syzygy.file import MAGIC, Table
from search.syzygy.tablebase import Tablebase
from tests.oracle import SHARED, scaled
from x88.notation import fen

FOLDER = SHARED / "syzygy"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="../shared/data/syzygy is missing"),
]
NAMES = sorted(path.stem for path in FOLDER.glob("*.rtbw"))
POSITIONS = int(os.environ.get("MOFF_TABLE_POSITIONS", "0"))
DAMAGE = int(os.environ.get("MOFF_TABLE_DAMAGE", "0"))


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
        for _ in range(POSITIONS // len(NAMES) + 1 if POSITIONS else scaled(120, 15)):
            board = random_position(name, chance)
            position = fen.parse(board.fen())
            assert ours.wdl(position) == theirs.probe_wdl(board), board.fen()
            assert ours.dtz(position) == theirs.probe_dtz(board), board.fen()
            assert fen.write(position) == fen.write(fen.parse(board.fen()))
    assert ours.problems == []


def test_positions_without_a_table_have_no_result() -> None:
    tables = Tablebase([str(FOLDER)])
    assert tables.most == 4
    for text in (fen.START, "4k2r/8/8/8/8/8/8/4K3 b k - 0 1", "8/8/8/3k4/8/8/1QQ5/1KQ5 w - - 0 1"):
        assert tables.wdl(fen.parse(text)) is None
        assert tables.dtz(fen.parse(text)) is None
    kings = fen.parse("8/8/8/3k4/8/8/8/1K6 w - - 0 1")
    assert tables.wdl(kings) == 0
    assert Tablebase([]).wdl(kings) is None
    assert Tablebase(["nowhere"]).problems == ["nowhere: No such file or directory"]


def copied(folder: Path, *names: str) -> None:
    for name in names:
        shutil.copy(FOLDER / name, folder / name)
        (folder / name).chmod(0o644)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is not a tablebase file"),
        (b"nothing of the kind" * 64, "it is not a tablebase file"),
        (None, "bytes are not those of a whole file"),
    ],
)
def test_a_bad_file_causes_one_complaint_and_leaves_the_rest_in_use(
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


def test_a_renamed_file_gives_no_result(tmp_path: Path) -> None:
    copied(tmp_path, "KPvK.rtbw", "KQvKQ.rtbw")
    (tmp_path / "KPvK.rtbw").rename(tmp_path / "KQvK.rtbw")
    (tmp_path / "KQvKQ.rtbw").rename(tmp_path / "KRvKB.rtbw")
    tables = Tablebase([str(tmp_path)])
    assert tables.wdl(fen.parse("8/8/8/3k4/8/8/8/1KQ5 w - - 0 1")) is None
    assert tables.wdl(fen.parse("8/8/8/3kb3/8/8/8/1KR5 w - - 0 1")) is None
    assert all("it holds other pieces than its name says" in problem for problem in tables.problems)
    assert len(tables.problems) == 2


@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_file_gives_some_result_or_none(name: str, tmp_path: Path) -> None:
    chance = Random(name)
    positions = [fen.parse(random_position(name, chance).fen()) for _ in range(20)]
    copied(tmp_path, *(name + suffix for suffix in MAGIC))
    for suffix in MAGIC:
        path = tmp_path / (name + suffix)
        whole = path.read_bytes()
        for number in range(DAMAGE or scaled(10, 3)):
            content = bytearray(whole)
            # Most of the places are in the description.
            at = int(len(content) * chance.random() ** chance.choice((1, 3, 6)))
            content[at] ^= chance.randrange(1, 256)
            path.write_bytes(content)
            tables = Tablebase([str(tmp_path), str(FOLDER)])
            for position in chance.sample(positions, 5):
                assert tables.wdl(position) in (None, -2, -1, 0, 1, 2)
                tables.dtz(position)
            if number < scaled(10, 1):
                with contextlib.suppress(ValueError):
                    Table(str(path), *name.split("v"), suffix).check(lambda _: None)
        path.write_bytes(whole)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not cut a mapped file")
def test_a_file_that_is_cut_while_in_use_ends_nothing(tmp_path: Path) -> None:
    copied(tmp_path, "KBNvK.rtbw", "KBNvK.rtbz", "KQvK.rtbw")
    program = f"""
import os
from search.syzygy.tablebase import Tablebase
from x88.notation import fen
tables = Tablebase([{str(tmp_path)!r}])
board = fen.parse("8/8/8/3k4/8/8/8/1KBN4 w - - 0 1")
print(tables.wdl(board), tables.dtz(board) > 20)
os.truncate({str(tmp_path / "KBNvK.rtbz")!r}, 16)
print(tables.wdl(board), tables.dtz(board), tables.dtz(board))
os.truncate({str(tmp_path / "KBNvK.rtbw")!r}, 0)
print(tables.wdl(board), tables.wdl(fen.parse("8/8/8/3k4/8/8/8/1KQ5 w - - 0 1")))
print(*tables.problems, sep="\\n")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True)
    reason = "it was truncated while in use"
    assert done.stdout.splitlines() == [
        "2 True",
        "2 None None",
        "None 2",
        f"{tmp_path / 'KBNvK.rtbz'}: {reason}",
        f"{tmp_path / 'KBNvK.rtbw'}: {reason}",
    ]


def test_threads_may_open_a_table_at_the_same_time() -> None:
    chance = Random(3)
    texts = [random_position(name, chance).fen() for name in NAMES for _ in range(3)]

    def results(tables: Tablebase) -> list[tuple[int | None, int | None]]:
        return [(tables.wdl(fen.parse(text)), tables.dtz(fen.parse(text))) for text in texts]

    def ask(tables: Tablebase) -> list[tuple[int | None, int | None]]:
        start.wait()
        return results(tables)

    start = threading.Barrier(8)
    expected = results(Tablebase([str(FOLDER)]))
    for _ in range(scaled(5, 1)):
        tables = Tablebase([str(FOLDER)])
        with ThreadPoolExecutor(8) as threads:
            assert list(threads.map(ask, [tables] * 8)) == [expected] * 8
        assert tables.problems == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells which files are open")
def test_a_tablebase_closes_its_files_in_the_end() -> None:
    def count() -> int:
        links = Path("/proc/self/fd").iterdir()
        return sum(".rtb" in os.readlink(path) for path in links if path.is_symlink())

    gc.collect()
    before = count()  # of other tests
    tables = Tablebase([str(FOLDER)])
    for name in NAMES:
        assert tables.dtz(fen.parse(random_position(name, Random(1)).fen())) is not None
    assert count() >= before + 2 * len(NAMES)
    del tables
    assert count() <= before


def test_a_tablebase_names_the_tables_that_its_own_lead_to(tmp_path: Path) -> None:
    assert Tablebase([str(FOLDER)]).missing() == []
    for name in ("KRvKP.rtbw", "KQvK.rtbw", "KRvKN.rtbz"):
        (tmp_path / name).touch()
    tables = Tablebase([str(tmp_path)])
    assert (tables.count(".rtbw"), tables.count(".rtbz"), tables.most) == (2, 1, 4)
    names = "KBvK KNvK KPvK KQvKR KRvK KRvKB KRvKN KRvKR"
    assert sorted(tables.missing()) == sorted(f"{name}.rtbw" for name in names.split())
