"""The programs of bench/ refuse wrong usage with exit code 2 and a reason, and write nothing."""

import importlib
import shlex
import sys
from pathlib import Path

import pytest

from search.tuned import SEARCH
from tests import ROOT
from tests.stored import make_block, make_file

pytestmark = pytest.mark.slow

NEEDED = {
    "compare": ["tabulate", "tqdm"],
    "epd": ["tabulate", "tqdm"],
    "openings": ["tqdm"],
    "judge": ["numba", "numpy", "tabulate"],
    "train": ["numba", "numpy", "tqdm"],
    "tune": ["numpy", "scipy", "tabulate", "tqdm"],
}
"""The packages that a program imports first."""

MATES = ROOT / "tests" / "mates.epd"
NO_GAMES = ROOT / "bench" / "script.py"
SHIPPED = ROOT / "search" / "moff.net"

WRONG = {
    "compare": [
        ("nothing", "NAME=VALUE"),
        ("a=b", "NAME=VALUE"),
        ("no_such_number=1", "'no_such_number' is not a search parameter"),
        ("delta_margin=32001", "delta_margin lies between"),
        (f"--network {NO_GAMES}", "is not a network"),
        ("--random-plies -1 --games 1", "--random-plies"),
        ("--sprt 5 0 --games 1", "SPRT"),
        ("--games 0", "--games"),
        ("--jitter 2 --games 1", "--jitter"),
        ("--seed -1 --games 1", "--seed"),
        ("--hash 70000 --games 1", "65536"),
        ("--openings /no/such/file.epd", "/no/such/file.epd"),
        ("--tables .", ". holds no WDL tables"),
    ],
    "dataset": [
        ("--check", "PATH"),
        ("nowhere.moff --check", "nowhere.moff"),
        ("empty --check", "empty holds no file *.moff"),
        (".", "--check"),
        (f"{NO_GAMES} --check", "script.py is not a file of games"),
    ],
    "epd": [
        ("", "FILE"),
        (f"{MATES} --depth 0", "--depth"),
        (f"{MATES} --movetime 1{30 * '0'}", "--movetime"),
        (f"{MATES} --depth 2 --nodes 100", "--nodes"),
        (f"{MATES} --hash 1000000000", "65536"),
        (f"{MATES} --threads 2", "--threads"),
        ("'no such file.epd'", "no such file.epd"),
        (f"{MATES} empty", "empty"),
    ],
    "judge": [
        ("empty", "NETWORK"),
        (f"empty {SHIPPED}", "empty holds no file *.moff"),
        (f"empty {SHIPPED} {NO_GAMES}", "script.py is not a network"),
        ("empty no.net", "no.net"),
    ],
    "openings": [
        ("", "--out"),
        ("--out /no/such/folder/a.epd", "no folder '/no/such/folder'"),
        ("--out a.epd --count 0", "'0' is not a whole number"),
        ("--out a.epd --plies x", "'x' is not a whole number"),
        ("--out a.epd --plies 1 --count 21", "no 21 openings of 1 plies"),
    ],
    "selfplay": [
        ("", "--positions"),
        ("--positions a --status a", "--status"),
        ("--positions a --nodes 0", "--nodes"),
        ("--positions a --minutes 0", "--minutes must be more than 0"),
        ("--positions a --minutes nan", "--minutes must be more than 0"),
        ("--positions a --seed -1", "--seed must be from 0 to 2**64 - 1"),
        (f"--positions a --seed {2**64}", "--seed must be from 0 to 2**64 - 1"),
        ("--positions a --games 5", "--games needs --seed"),
        ("--positions a --concurrency 0", "--concurrency"),
        ("--positions a --network b --scheduler c", "neither --network nor --idle"),
        ("--positions a --idle --scheduler c", "neither --network nor --idle"),
        (f"--positions a --network {NO_GAMES}", "is not a network"),
        ("--positions /proc/nowhere/a", "/proc/nowhere"),
        ("--status nowhere", "nowhere is not a folder"),
    ],
    "train": [
        ("--run empty --export net", "empty has no checkpoint"),
        ("--run run", "training needs files of games"),
        ("games.moff", "--run is missing"),
        ("nowhere.moff --run run", "nowhere.moff"),
        ("games.moff --run run --final-blend 1.1", "--final-blend and --flatten must be from 0 to 1"),
        ("games.moff --run run --flatten -1", "--final-blend and --flatten must be from 0 to 1"),
        ("games.moff --run run --lookahead 1", "--lookahead must be from 0 to below 1"),
        ("games.moff --run run --min-ply 401", "--min-ply from 0 to 400"),
        ("games.moff --run run --max-score 32001", "--max-score must be from 0 to 32000"),
        ("games.moff --run run --share 0", "--share must be between 0 and 1"),
        ("games.moff --run run --rate 0.000001", "--rate must be positive, and --final-rate no higher"),
        ("games.moff --run run --hidden 20", "a hidden layer of 20 is not a multiple of 16"),
        ("games.moff --run run --seed -1", "--seed must be from 0 to 2**63 - 1"),
        ("games.moff --run run --batch 100", "are too few: one batch has 100"),
        ("games.moff --run run --batch 1 --min-ply 399", "0 positions for training"),
    ],
    "tune": [
        ("search no_such_number", "no_such_number"),
        ("search --apply", "to apply"),
        ("search --pairs 0", "--pairs"),
        ("search --iterations 0", "--iterations"),
        ("search --change 2", "--change"),
        ("screen no_such_number=1 iir_depth=3 nor_this=2", "no 'no_such_number', 'nor_this' in SEARCH"),
        ("screen iir_depth", "NAME=VALUE"),
        ("screen iir_depth=x", "NAME=VALUE"),
        (f"screen iir_depth={SEARCH['iir_depth'][0]}", "iir_depth at that value"),
        ("screen iir_depth=7 iir_depth=6", "twice"),
        ("screen iir_depth=7 --pairs 0", "--pairs"),
        ("screen iir_depth=7 --jitter 1", "--jitter"),
    ],
}
"""By program: its arguments, and what it says of them."""


@pytest.mark.parametrize(
    ("name", "arguments", "reason"), [(name, *case) for name, cases in WRONG.items() for case in cases]
)
def test_wrong_usage_ends_with_2_and_says_what_is_wrong(
    name: str,
    arguments: str,
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for package in NEEDED.get(name, []):
        pytest.importorskip(package)
    program = importlib.import_module(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delattr("os.execv")  # self-play would go on in another program
    (tmp_path / "empty").mkdir()
    make_file(tmp_path / "games.moff", make_block())
    tuned = (ROOT / "search" / "tuned.py").read_bytes()
    monkeypatch.setattr(sys, "argv", [f"{name}.py", *shlex.split(arguments)])
    try:
        code = program.main()
    except SystemExit as error:
        code = error.code
    printed = capsys.readouterr()
    assert code == 2
    assert reason in printed.err
    assert printed.out == ""
    assert {path.name for path in tmp_path.rglob("*")} == {"empty", "games.moff"}
    assert (ROOT / "search" / "tuned.py").read_bytes() == tuned
