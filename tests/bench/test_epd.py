"""bench/epd.py: reading suites, deciding which positions are solved, and its output."""

import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT
from tests.programs import BENCH, TIMEOUT, run
from x88 import build

pytestmark = pytest.mark.slow

pytest.importorskip("tabulate", reason="the bench extra is not installed")
pytest.importorskip("tqdm", reason="the bench extra is not installed")

MATES = ROOT / "tests" / "mates.epd"

BACK_RANK = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - -"  # Ra8 mates
KING_AND_QUEEN = "7k/8/5K2/8/8/8/8/Q7 w - -"  # a mate in two
QUIET = "4k3/pp6/8/3p4/2P1P3/8/P7/4K3 w - -"  # two pawns can take on d5; Kf1 is no good move


def suite(folder: Path, *lines: str) -> Path:
    """A file of these lines."""
    path = folder / "suite.epd"
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def run_epd(*arguments: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run the program with a small table."""
    return run("epd", "--hash", 1, *arguments, code=code)


def answers(path: Path, *arguments: object) -> list[dict[str, Any]]:
    """The results of a suite without damaged lines, at depth 2 if the arguments set no limit."""
    ended = run_epd(path, "--json", *(arguments or ("--depth", 2)))
    return [json.loads(line) for line in ended.stdout.splitlines()]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_terminal_shows_a_bar(tmp_path: Path) -> None:
    pexpect = pytest.importorskip("pexpect")
    path = suite(tmp_path, f"{BACK_RANK} bm Ra8;", f"{QUIET} am Kf1;")
    command = shlex.join([sys.executable, str(BENCH / "epd.py"), str(path), "--hash", "1", "--depth", "2"])
    shown, code = pexpect.run(command, withexitstatus=True, encoding="utf-8", timeout=TIMEOUT)
    assert code == 0
    assert "2/2" in shown
    assert "positions/s" in shown or "s/ positions" in shown
    assert "2/2" not in run_epd(path, "--depth", 2).stderr, "elsewhere there is none"


def test_operations_are_kept(tmp_path: Path) -> None:
    line = f'{BACK_RANK} am h3 g3; bm Ra8+; ce +32767; dm 1; id "Réti; 1.; bm g3;"; noop; pv Ra8;'
    (found,) = answers(suite(tmp_path, line))
    short = {"am": "h3 g3", "bm": "Ra8+", "ce": "+32767", "dm": "1", "noop": "", "pv": "Ra8"}
    wanted = {name: text.split() for name, text in short.items()} | {"id": ["Réti; 1.; bm g3;"]}
    assert found["operations"] == wanted
    assert found["id"] == "Réti; 1.; bm g3;"
    assert (found["fen"], found["expected"]) == (BACK_RANK, "bm Ra8+; am h3 g3; dm 1")


READ = {
    # Counters, stray semicolons, blanks, commas and hyphens, and moves in any notation.
    " 12 bm Ra8;": " 12",
    " ; bm Ra8 ;": "",
    ";bm Ra8;": "",
    "\t bm  a1-a8 ; ;": "",
    " bm Ra8 , h3 ,;": "",
    " - ; bm - Ra8 h3 -; - id x; -": "",
    " bm R\u200ba8†;": "",
    " bm Ra8; hmvc 3; fmvn 12;": " 3 12",
    " fmvn 12; bm Ra8;": " 0 12",
    " hmvc 3; bm Ra8;": " 3 1",
}
"""Texts behind the four fields, and the counters that they give."""


def test_lines_are_read_in_any_form(tmp_path: Path) -> None:
    found = answers(suite(tmp_path, *(BACK_RANK + rest for rest in READ)))
    assert [(line["fen"], line["solved"]) for line in found] == [
        (BACK_RANK + counters, True) for counters in READ.values()
    ]
    nodes = {line["nodes"] for line in found if line["fen"] in (BACK_RANK, BACK_RANK + " 0 12")}
    assert len(nodes) == 1, "each search begins with an empty table"


SOLVED = [
    (f"{BACK_RANK} bm h3 Ra8 g4;", True),
    (f"{BACK_RANK} am h3 Ra8;", False),
    (f"{BACK_RANK} bm Ra8; am h3;", True),
    # With moves, a mate needs both. The side that is mated announces no mate of its own.
    (f"{BACK_RANK} dm 1; bm Ra8;", True),
    (f"{BACK_RANK} dm 1; bm h3;", False),
    (f"{QUIET} dm 1; am Kf1;", False),
    ("7k/8/6K1/8/8/8/8/R7 b - - dm 1;", False),
]


def test_best_moves_moves_to_avoid_and_mates_decide_what_is_solved(tmp_path: Path) -> None:
    found = answers(suite(tmp_path, *(line for line, _ in SOLVED)))
    assert [answer["solved"] for answer in found] == [solved for _, solved in SOLVED]


def test_remarks_empty_lines_and_a_byte_order_mark_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "suite.epd"
    text = f"# a remark\r\n\r\n{BACK_RANK} bm Ra8#;\r\n \t\r\n  # another\r\n{KING_AND_QUEEN} dm 2;\r\n"
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert [found["line"] for found in answers(path, "--depth", 3)] == [3, 6]
    path.write_bytes(b"\xef\xbb\xbf" + f"{BACK_RANK} bm Ra8#;".encode())
    assert [found["id"] for found in answers(path)] == ["line 1"]


DAMAGED = [
    ("8/8/8/8 w - - bm e4;", "bad FEN '8/8/8/8 w - -': placement: 4 ranks instead of 8"),
    ("4k3/8/8/8/8/8/8/4K3 w -; bm Kd1;", "it has fewer than 4 fields"),
    (f"{BACK_RANK} 0 -1; bm Ra8;", "'-1' is not the name of an operation"),
    (f"{BACK_RANK} bm Ra8; hmvc x;", "half-move clock: 'x' is not a whole number"),
    (f"{BACK_RANK} bm Rb2;", "'bm Rb2': 'Rb2' is not a legal move: no white rook can move to b2"),
    (f"{QUIET} bm a3 xd5;", "'bm a3 xd5': 'xd5' is ambiguous: cxd5 or exd5"),
    (f'{BACK_RANK} bm Ra8 id "A.1";', "'id' is not a move"),
    (f"{BACK_RANK} bm;", "'bm' names no move"),
    (f"{BACK_RANK} bm Ra8; am Ra8;", "am forbids all that bm asks for"),
    (f"{BACK_RANK} dm;", "'dm': '' is not a whole number from 1"),
    (f"{BACK_RANK} dm 0;", "'dm 0': '0' is not a whole number from 1"),
    (f"{BACK_RANK} bm Ra8; bm Rb1;", "bm occurs twice"),
    (f'{BACK_RANK} bm Ra8; id "A.1;', "'\"A.1;': the quotation is not closed"),
    (f'{BACK_RANK} bm Ra8; "A.1";', "'\"A.1\"' is not the name of an operation"),
    (f'{BACK_RANK} id "A.1";', "it has no bm, am or dm"),
    ("x" * 100_000 + " w - - bm e4;", "1 rank instead of 8"),
    ("7k/5Q2/6K1/8/8/8/8/8 b - - dm 1;", "the side to move has no move"),
]


def test_damaged_lines_are_named_with_the_reason_and_the_others_are_run(tmp_path: Path) -> None:
    path = suite(tmp_path, *[line for line, _ in DAMAGED], f"{BACK_RANK} bm Ra8;")
    ended = run_epd(path, "--depth", 2, code=1)
    assert "1 of 1 solved (100.0 %)" in ended.stdout
    found = [line for line in ended.stderr.splitlines() if line.startswith(str(path))]
    assert len(found) == len(DAMAGED)
    for number, (complaint, (_, reason)) in enumerate(zip(found, DAMAGED, strict=True), 1):
        assert complaint.startswith(f"{path}, line {number}: ")
        assert reason in complaint
        assert len(complaint) < 1000
    assert run_epd(suite(tmp_path, "nothing"), code=1).stdout == ""
    ended = run_epd(suite(tmp_path, "# nothing"), code=2)
    assert (ended.stdout, ended.stderr) == ("", f"{path} holds no position\n")


def test_castling_rights_may_mean_the_outermost_rooks(tmp_path: Path) -> None:
    path = suite(tmp_path, "2rkr3/2p1p3/8/8/8/8/8/1RK5 w Q - bm O-O-O; dm 1;")
    assert [row["played"] for row in answers(path, "--depth", 2, "--chess960")] == ["O-O-O#"]
    ended = run_epd(path, "--depth", 2, code=1)
    assert "O-O-O" in ended.stderr, "castles only with king and rooks at home"


def test_mate_must_be_announced_and_short_enough(tmp_path: Path) -> None:
    lines = [f"{KING_AND_QUEEN} dm {moves};" for moves in (1, 2, 3)]
    found = answers(suite(tmp_path, *lines), "--depth", 3)
    assert [answer["solved"] for answer in found] == [False, True, True]
    assert {answer["mate"] for answer in found} == {2}
    assert not any(answer["solved"] for answer in answers(suite(tmp_path, *lines), "--depth", 1))


def test_mate_is_the_task_of_positions_without_operations(tmp_path: Path) -> None:
    lines = [*(KING_AND_QUEEN + rest for rest in (" 0 1", ' id "2";', " dm 1;")), f"{QUIET} am Kf1;"]
    found = answers(suite(tmp_path, *lines), "--mate", 2, "--depth", 3)
    assert [answer["expected"] for answer in found] == ["dm 2", "dm 2", "dm 1", "am Kf1"]
    assert [answer["solved"] for answer in found] == [True, True, False, True]


def test_json_holds_the_result_of_the_search(tmp_path: Path) -> None:
    path = suite(tmp_path, f"{KING_AND_QUEEN} dm 2;", f"{QUIET} bm Kf1;")
    mate, wrong = answers(path, "--depth", 3)
    assert (mate["file"], mate["line"], mate["id"]) == (str(path), 1, "line 1")
    assert (mate["depth"], mate["mate"], mate["score"]) == (2, 2, 31997)
    assert mate["nodes"] > 0
    assert 0 < mate["solved_after"] <= mate["seconds"]
    # It is found in the last iteration, after all that the one before has searched.
    (less,) = answers(suite(tmp_path, f"{KING_AND_QUEEN} dm 2;"), "--depth", mate["depth"] - 1)
    assert not less["solved"]
    assert less["nodes"] < mate["solved_nodes"] <= mate["nodes"]
    assert not wrong["solved"]
    assert wrong["solved_after"] is None
    assert wrong["solved_nodes"] is None
    assert wrong["mate"] is None


def test_search_too_short_for_an_iteration_plays_a_move(tmp_path: Path) -> None:
    (found,) = answers(suite(tmp_path, f"{QUIET} am Kf1;"), "--nodes", 1)
    assert found["played"]
    assert found["nodes"] <= 2
    (found,) = answers(suite(tmp_path, f"{BACK_RANK} dm 1;"), "--movetime", 1)
    assert found["played"]


def test_table_shows_positions_or_only_failures_and_then_the_sums(tmp_path: Path) -> None:
    path = suite(tmp_path, f'{BACK_RANK} bm Ra8#; id "A.1";', f"{KING_AND_QUEEN} dm 1;", f"{QUIET} bm Kf1;")
    rows = run_epd(path, "--depth", 3).stdout.splitlines()
    assert rows[0].split() == ["position", "expected", "played", "score", "depth", "nodes", "solved"]
    (solved,) = [row for row in rows if row.startswith("A.1")]
    assert solved.split()[1:6] == ["bm", "Ra8#", "Ra8#", "#1", "3"]
    assert solved.endswith("ok")
    (failed,) = [row for row in rows if row.startswith("line 2")]
    assert "#2" in failed
    assert failed.endswith("FAILED")
    assert rows[-2] == "1 of 3 solved (33.3 %)"
    assert "nodes/s" in rows[-1]
    assert [found["line"] for found in answers(path, "--depth", 3, "--only-failed")] == [2, 3]
    other = tmp_path / "two.fen"
    other.write_text(f"{KING_AND_QUEEN} 0 1\n{KING_AND_QUEEN} dm 1;\n", encoding="utf-8")
    text = run_epd(path, other, "--depth", 3, "--mate", 2, "--only-failed").stdout
    assert "A.1" not in text
    assert "two.fen, line 1" not in text
    assert "suite.epd, line 2" in text
    assert "two.fen, line 2" in text
    assert "2 of 5 solved" in text


def test_help_explains_operations_and_keys_without_the_extra() -> None:
    # Without site-packages, no extra is installed.
    command = [sys.executable, "-S", str(BENCH / "epd.py")]
    text = subprocess.check_output([*command, "--help"], encoding="utf-8", timeout=TIMEOUT)
    found = json.loads(run_epd(MATES, "--json", "--depth", 1, "--mate", 1).stdout.splitlines()[0])
    for word in ("bm MOVE", "am MOVE", "dm N", "130", *found):
        assert word in text, word
    ended = subprocess.run([*command, str(MATES)], capture_output=True, encoding="utf-8", timeout=TIMEOUT)
    assert (ended.returncode, ended.stdout) == (2, "")
    message = 'tabulate and tqdm are not installed: python -m pip install -e ".[bench]"\n'
    assert ended.stderr == message


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT for one process")
def test_interrupt_ends_it_in_one_line_with_130(tmp_path: Path) -> None:
    # The mate ends the first search, nothing the second.
    path = suite(tmp_path, f"{BACK_RANK} dm 1;", f"{QUIET} am Kf1;")
    words = ["--hash", "1", "--json", "--movetime", "600000"]
    command = [sys.executable, str(BENCH / "epd.py"), str(path), *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["solved"]
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert [line for line in errors.splitlines() if line != build.notice()] == ["interrupted"]
