"""`moff tb`, the ranking of moves by the tables, and the check of tables."""

import hashlib
import os
import re
from pathlib import Path
from random import Random

import chess
import chess.syzygy
import pytest

from search.syzygy.file import CURSED_WIN, DRAW, WIN
from search.syzygy.ranking import RankedMove, best_line, missing_table, rank
from search.syzygy.tablebase import Tablebase
from tests.client import call
from tests.oracle import scaled
from tests.search.syzygy.test_tablebase import FOLDER, NAMES, copied, random_position
from x88 import build
from x88.board import Board
from x88.notation import coordinate, fen

needs_tables = pytest.mark.skipif(not FOLDER.is_dir(), reason="../shared/data/syzygy is missing")
QUEEN = "8/8/8/3k4/8/8/8/1KQ5 w - - 0 1"


ZEROING = {2: 1, 1: 101, 0: 0, -1: -101, -2: -1}


@pytest.fixture(scope="module")
def ours() -> Tablebase:
    return Tablebase([str(FOLDER)])


@pytest.fixture(scope="module")
def theirs() -> chess.syzygy.Tablebase:
    return chess.syzygy.open_tablebase(str(FOLDER))


def expected(theirs: chess.syzygy.Tablebase, board: chess.Board) -> dict[str, tuple[int, int]]:
    """The result and DTZ of every legal move by python-chess's probes, for the side that plays it."""
    found = {}
    for move in list(board.legal_moves):
        zeroes = board.is_zeroing(move)
        counter = board.halfmove_clock
        board.push(move)
        if board.is_checkmate():
            result, dtz = WIN, 1
        else:
            result, dtz = -theirs.probe_wdl(board), -theirs.probe_dtz(board)
            if board.is_stalemate():
                result = dtz = 0
            elif zeroes:
                dtz = ZEROING[result]
            else:
                dtz += (result > 0) - (result < 0)
                if abs(dtz) + counter > 100:
                    result = max(-1, min(1, result))
        board.pop()
        found[move.uci()] = result, dtz
    return found


def play(board: Board, *texts: str) -> None:
    for text in texts:
        board.make(coordinate.parse(board, text))


def ranked_by(tables: Tablebase, board: Board) -> dict[str, RankedMove]:
    """The ranked moves by their texts, best first."""
    found = rank(tables, board)
    assert found is not None
    return {coordinate.write(each.move): each for each in found}


# Play from the tables.


@needs_tables
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_ranks_match_python_chess(name: str, ours: Tablebase, theirs: chess.syzygy.Tablebase) -> None:
    chance = Random(name)
    for _ in range(scaled(2, 1)):
        position = random_position(name, chance)
        position.halfmove_clock = 0 if position.ep_square else chance.choice((0, 0, 30, 70, 95))
        board = fen.parse(position.fen())
        ranked = ranked_by(ours, board)
        assert fen.write(board) == fen.write(fen.parse(position.fen()))
        assert {text: (each.result, each.dtz) for text, each in ranked.items()} == expected(theirs, position)
        values = [(-each.result, each.dtz) for each in ranked.values() if not each.mates]
        assert values == sorted(values)
        if ranked and not position.halfmove_clock:
            first = next(iter(ranked.values()))
            assert first.result == theirs.probe_wdl(position)
            assert abs(first.dtz - theirs.probe_dtz(position)) <= 1, position.fen()


@needs_tables
@pytest.mark.parametrize("name", ["KQvK", "KPvK", "KRvKP", "KPvKP", "KBPvK", "KRvKR", "KNvKP", "KBvKB"])
def test_the_best_line_ends_with_the_game(name: str, ours: Tablebase, theirs: chess.syzygy.Tablebase) -> None:
    chance = Random(name)
    for _ in range(scaled(2, 1)):
        position = random_position(name, chance)
        board = fen.parse(position.fen())
        result = theirs.probe_wdl(position)
        mover = position.turn
        line = best_line(ours, board)
        assert fen.write(board) == fen.write(fen.parse(position.fen()))
        for move in line:
            position.push(chess.Move.from_uci(coordinate.write(move)))
            assert position.is_valid()
            if not position.is_game_over():
                assert theirs.probe_wdl(position) == (result if position.turn == mover else -result)
        end = position.outcome(claim_draw=True)
        assert end is not None
        assert end.winner == (mover if result > 0 else not mover if result < 0 else None)


@needs_tables
def test_a_drawn_line_captures_or_goes_back_and_forth(ours: Tablebase) -> None:
    for text, line in (
        ("8/8/8/8/8/2k5/2r5/2R1K3 w - - 0 1", "c1c2 c3c2"),
        ("7k/6r1/8/8/8/8/1R6/K7 w - - 0 1", "a1a2 h8g8 a2a1 g8h8 a1a2 h8g8 a2a1 g8h8"),
    ):
        assert " ".join(map(coordinate.write, best_line(ours, fen.parse(text)))) == line


@needs_tables
def test_the_winner_avoids_moves_that_let_the_loser_repeat(ours: Tablebase) -> None:
    """Back to b2, which is the best move, the loser's king could go back as well."""
    board = fen.parse("8/8/8/3k4/8/8/1K6/4BN2 w - - 0 1")
    play(board, "b2a2", "d5d6", "a2b2", "d6d5", "b2a2", "d5d6")
    ranked = ranked_by(ours, board)
    assert ranked["a2b2"].result == CURSED_WIN
    assert next(iter(ranked.values())).result == WIN
    assert next(iter(ranked_by(ours, fen.parse(fen.write(board))))) == "a2b2"


class FixedTables(Tablebase):
    """Tables with the same DTZ for every position except those of some keys."""

    def __init__(self, dtz: int, others: dict[int, int] | None = None) -> None:
        super().__init__([])
        self._dtz_of_all = dtz
        self._others = others or {}

    def dtz(self, board: Board) -> int | None:
        return self._others.get(board.key, self._dtz_of_all)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("after", "counter", "result", "dtz"),
    [
        *((99, 0, WIN, 100), (100, 0, CURSED_WIN, 101), (9, 90, WIN, 10), (9, 91, CURSED_WIN, 10)),
        *((120, 0, CURSED_WIN, 121), (0, 60, DRAW, 0)),
    ],
)
def test_fifty_move_counter_draws(after: int, counter: int, result: int, dtz: int, sign: int) -> None:
    board = fen.parse(f"8/8/8/3k4/8/8/1P6/1K6 w - - {counter} 90")
    ranked = ranked_by(FixedTables(-sign * after), board)
    found = {(each.result, each.dtz) for text, each in ranked.items() if text[:2] == "b1"}
    assert found == {(sign * result, sign * dtz)}
    # A pawn move sets the counter back.
    pawn = ranked["b2b3"]
    sign *= after > 0
    wanted = (sign, 101 * sign) if after > 100 else (2 * sign, sign)
    assert (pawn.result, pawn.dtz, pawn.following) == (*wanted, sign * after)
    unlimited = rank(FixedTables(-sign * after), board, fifty_move_rule=False) or []
    assert {each.result for each in unlimited} == {2 * sign}, "without the rule"


def test_a_mate_comes_first_and_then_the_pawn_move_with_the_shorter_way() -> None:
    board = fen.parse("7k/8/6K1/8/8/8/8/1Q6 w - - 99 90")
    first, *others = ranked_by(FixedTables(-1), board).values()
    assert (first.result, first.dtz, first.mates) == (WIN, 1, True)
    assert {each.result for each in others if not each.mates} == {CURSED_WIN, DRAW}
    assert RankedMove(0, WIN, 1, True, 0, False).order() < RankedMove(0, WIN, 1, False, 3, False).order()
    board = fen.parse("8/3P4/8/3k4/8/8/8/K7 w - - 0 1")
    others = {}
    for text, dtz in (("d7d8q", -20), ("d7d8r", -12), ("d7d8b", 0), ("d7d8n", 0)):
        play(board, text)
        others[board.key] = dtz
        board.unmake()
    texts = [*ranked_by(FixedTables(-4, others), board)]
    assert texts[:2] == ["d7d8r", "d7d8q"]
    assert set(texts[-2:]) == {"d7d8b", "d7d8n"}


def test_a_third_repetition_is_a_draw_and_a_second_one_comes_last() -> None:
    board = fen.parse(QUEEN)
    play(board, "c1c2", "d5d6", "c2c1", "d6d5", "c1c2", "d5d6", "c2c1")
    tables = FixedTables(5)
    ranked = ranked_by(tables, board)
    assert (ranked["d6d5"].result, ranked["d6d5"].dtz) == (DRAW, 0)
    assert next(iter(ranked)) == "d6d5"
    for _ in range(4):
        board.unmake()
    ranked = ranked_by(tables, board)
    assert [text for text, each in ranked.items() if each.repeats] == ["d6d5"] == [*ranked][:1]
    repeats = [each.repeats for each in ranked_by(FixedTables(-5), board).values()]
    assert repeats == [False] * (len(ranked) - 1) + [True]


@pytest.mark.parametrize(
    ("text", "files", "missing"),
    [
        (QUEEN, "", "KQvK.rtbw"),
        ("8/8/8/3kq3/8/8/8/1K6 w - - 0 1", "", "KQvK.rtbw"),
        ("8/8/8/3kr1p1/8/8/8/1KN5 w - - 0 1", "", "KRPvKN.rtbw"),
        ("8/8/8/3kq3/8/8/8/1KRB4 w - - 0 1", "", "KRBvKQ.rtbw"),
        ("8/8/8/3kr3/8/1P6/8/1KR5 w - - 0 1", "", "KRPvKR.rtbw"),
        ("8/8/8/3k4/8/8/8/1K6 w - - 0 1", "", "KvK.rtbw"),
        pytest.param(QUEEN, "KQvK.rtbw", "KQvK.rtbz", marks=needs_tables),
        pytest.param(QUEEN, "KQvK.rtbw KQvK.rtbz", "", marks=needs_tables),
        *(
            pytest.param(text, f"{name}.rtbw {name}.rtbz", missing, marks=needs_tables)
            for text, name, missing in (
                ("8/1P6/8/3k4/8/8/8/1K6 w - - 0 1", "KPvK", "KQvK.rtbw"),
                ("8/8/8/4k3/8/2r5/8/1KR5 w - - 0 1", "KRvKR", "KRvK.rtbw"),
            )
        ),
    ],
)
def test_the_missing_table_is_named(text: str, files: str, missing: str, tmp_path: Path) -> None:
    copied(tmp_path, *files.split())
    tables = Tablebase([str(tmp_path)])
    board = fen.parse(text)
    assert missing_table(tables, board) == missing
    assert (rank(tables, board) is None) == bool(missing)
    assert bool(best_line(tables, board)) != bool(missing)


# The check.


@needs_tables
def test_check_finds_whole_tables_whole(tmp_path: Path) -> None:
    names = NAMES if build.compiled else ["KQvK", "KPvK", "KRvKB"]
    copied(tmp_path, *(name + suffix for name in names for suffix in (".rtbw", ".rtbz")))
    done = call("tb", "--check", str(tmp_path))
    assert (done.code, done.errors) == (0, "")
    assert done.output == f"{2 * len(names)} tables, 0 bad (0 compared with lists)\n"


@needs_tables
@pytest.mark.parametrize("part", range(4))
def test_check_finds_noise_in_a_table(part: int, tmp_path: Path) -> None:
    table = tmp_path / "KRvKP.rtbw"
    copied(tmp_path, table.name)
    content = bytearray(table.read_bytes())
    quarter = len(content) // 4
    start = max(64, part * quarter)
    content[start : (part + 1) * quarter] = Random(part).randbytes((part + 1) * quarter - start)
    table.write_bytes(content)
    done = call("tb", "--check", str(tmp_path))
    assert done.code == 1
    assert re.match(rf"{re.escape(str(table))}: its \w+ (is|are) damaged\n1 table, 1 bad ", done.output)


@needs_tables
@pytest.mark.parametrize("algorithm", ["md5", "sha1", "sha256", "sha512"])
def test_check_compares_tables_with_a_list_of_checksums(algorithm: str, tmp_path: Path) -> None:
    copied(tmp_path, "KQvK.rtbw", "KRvK.rtbw", "KPvK.rtbw")
    lines = ["# tables\n"]
    for name in ("KQvK.rtbw", "KRvK.rtbw", "KQvKQ.rtbw"):
        digest = hashlib.new(algorithm, (FOLDER / name).read_bytes()).hexdigest()
        lines.append(f"{digest}  ./wdl/{name}\n")
    source = tmp_path / f"checksum.{algorithm}"
    source.write_text("".join(lines), encoding="utf-8")
    damaged = tmp_path / "KRvK.rtbw"
    content = bytearray(damaged.read_bytes())
    content[100] ^= 1
    damaged.write_bytes(content)
    assert call("tb", "--check", str(tmp_path)) == (
        1,
        f"{damaged}: its checksum is not that of {source.name}\n3 tables, 1 bad (2 compared with lists)\n",
        f"{source}: 1 of its lines are not checksums\n"
        f"{source}: 1 of the 3 tables that it lists are not here\n",
    )


def test_check_names_what_is_no_table(tmp_path: Path) -> None:
    empty, odd = tmp_path / "empty", tmp_path / "odd"
    empty.mkdir()
    (odd / "KRvK.rtbw").mkdir(parents=True)
    for name, content in {
        "KQvK.rtbw": b"",
        "KBvK.rtbz": b"\xd7\x66\x0c\xa5" + bytes(76),
        "kqvk.rtbw": b"",
        "notes.txt": b"hello",
        "md5.txt": b"nothing\n",
    }.items():
        (odd / name).write_bytes(content)
    done = call("tb", "--check", str(empty), str(odd), str(tmp_path / "nowhere"))
    assert done.code == 1
    assert done.output.splitlines() == [
        f"{tmp_path / 'nowhere'}: No such file or directory",
        f"{empty}: there is no table in it",
        f"{odd / 'kqvk.rtbw'}: its name is not that of a table, so it is not used",
        f"{odd / 'KBvK.rtbz'}: it holds other pieces than its name says",
        f"{odd / 'KQvK.rtbw'}: it is not a tablebase file",
        f"{odd / 'KRvK.rtbw'}: it is not a file",
        "3 tables, 3 bad (0 compared with lists)",
    ]
    assert done.errors.splitlines() == [
        f"{odd / 'md5.txt'}: it lists no checksum of a table",
        f"{odd / 'notes.txt'}: it is not a table, so it is ignored",
    ]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read every file")
def test_check_names_an_unreadable_table(tmp_path: Path) -> None:
    table = tmp_path / "KQvK.rtbw"
    table.write_bytes(b"x")
    table.chmod(0)
    done = call("tb", "--check", str(tmp_path))
    assert (done.code, "Permission denied" in done.output) == (1, True)


# The command.


@needs_tables
@pytest.mark.parametrize(
    ("text", "start"),
    [
        (QUEEN, "win, DTZ 17\n\n1. "),
        ("8/8/8/3k4/8/8/8/1KQ5 b - - 0 1", "loss, DTZ -"),
        (QUEEN.replace(" 0 1", " 90 1"), "cursed win, DTZ 17 (win but for the half-move clock"),
        ("8/8/8/3k4/8/8/8/1KQ5 b - - 90 1", "blessed loss, DTZ -"),
        ("8/8/8/8/8/5k2/6q1/7K w - - 0 1", "loss (checkmate)\n"),
        ("8/8/8/8/8/5k2/5q2/7K w - - 0 1", "draw (stalemate)\n"),
        (QUEEN.replace(" 0 1", " 100 90"), "draw (fifty-move rule)\n\nKb2 "),
        ("8/8/8/8/8/5k2/8/7K w - - 0 1", "draw (insufficient material)\n\nKh2 "),
        ("8/8/8/3k4/8/8/6p1/1K4R1 w - - 0 1", "win, DTZ 1\n\n1. Rxg2"),
        ("8/8/8/8/8/1k6/7q/K7 b - - 3 60", "win, DTZ 1\n\n60... Q"),
    ],
)  # fmt: skip
def test_the_verdict_the_line_and_the_moves_are_printed(text: str, start: str) -> None:
    done = call("tb", text, "--path", str(FOLDER))
    assert (done.code, done.errors) == (0, "")
    assert done.output.startswith(start)
    if "60" in text:
        _, _, line, _, *moves = done.output.splitlines()
        assert line in ("60... Qb2# (checkmate)", "60... Qh1# (checkmate)", "60... Qg1# (checkmate)")
        assert moves[0].split() == [line.split()[1], "win", "1"]
        assert len(moves) == chess.Board(text).legal_moves.count()


@needs_tables
def test_several_folders_are_one_tablebase(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    copied(first, "KQvK.rtbw")
    copied(second, "KQvK.rtbz")
    path = os.pathsep.join((str(first), str(second)))
    monkeypatch.setenv("SYZYGY_PATH", "nowhere")
    assert call("tb", QUEEN, "--path", path).code == 0
    copied(second, "KPvK.rtbw", "KPvK.rtbz")
    monkeypatch.setenv("SYZYGY_PATH", path)
    done = call("tb", "8/8/3P4/3K4/8/8/8/1k6 w - - 0 1")
    assert done.code == 0
    assert "(the position is not in the tables: it needs KRvK.rtbw)" in " ".join(done.output.split())


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        ([], 2, "a FEN, or --check with folders, is required"),
        ([QUEEN], 2, "name the folders of the tables with --path or in SYZYGY_PATH"),
        ([QUEEN, "--check", "."], 2, "--check takes folders, and neither FEN nor --path"),
        (["--check"], 2, "expected at least one argument"),
        ([QUEEN, "--path", "nowhere"], 1, "nowhere: there is no table"),
        ([QUEEN, "--path", "."], 1, ".: there is no table"),
        (["nonsense", "--path", "."], 1, "bad FEN 'nonsense'"),
    ],
)
def test_a_fault_is_named(
    arguments: list[str], code: int, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SYZYGY_PATH", raising=False)
    done = call("tb", *arguments)
    assert (done.code, done.output) == (code, "")
    assert reason in done.errors.splitlines()[-1]


@needs_tables
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (fen.START.replace("KQkq", "-"), "32 pieces are too many: the tables have up to 4, kings included\n"),
        ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "tablebases have no positions with castling rights\n"),
        (
            "8/8/8/3kq3/8/8/8/1KQN4 w - - 0 1",
            "nowhere: No such file or directory\n5 pieces are too many: the tables have up to 4",
        ),
        (
            QUEEN,
            "{table}: 267 bytes are not those of a whole file\n"
            "the position is not in the tables: it needs KQvK.rtbw\n",
        ),
    ],
)
def test_a_position_outside_the_tables_is_refused(text: str, reason: str, tmp_path: Path) -> None:
    table, folder = tmp_path / "KQvK.rtbw", FOLDER
    if "{table}" in reason:
        copied(tmp_path, table.name)
        table.write_bytes(table.read_bytes()[:-5])
        folder = tmp_path
    path = f"{folder}{os.pathsep}nowhere" if "nowhere" in reason else str(folder)
    done = call("tb", text, "--path", path)
    assert (done.code, done.output) == (1, "")
    assert done.errors.startswith(reason.format(table=table))
