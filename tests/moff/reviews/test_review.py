"""`moff review`: its PGN and JSON, with python-chess as the reader, and what interrupts leave behind."""

import errno
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import pytest

from moff import __version__
from moff.messages import counted
from moff.reviews.analysis import Analysis
from moff.reviews.journal import Journal
from moff.reviews.reviewer import Review
from search.limits import Limits
from tests.client import ENGINE, PATIENCE, Ended, call, run
from tests.oracle import read_games, scaled
from x88 import build
from x88.notation import pgn

pytestmark = pytest.mark.slow

NODES = str(scaled(400, 40))

GAMES = """[Event "missed mates"]
[White "M\u00fcller"]
[Black "B"]
[Result "1-0"]

{start} 1. e4 {[%clk 0:05:00] best [%eval 9.99,3]} e5 2. Bc4 Nc6 3. Qh5 Nf6 $14 (3... g6 {better} 4. Qf3)
4. Nf3 d6 5. Qxf7# {done} 1-0

[Event "from a FEN, Black first"]
[White "A\x07 name of more than twenty-four letters"]
[Result "*"]
[FEN "r5k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 31"]
[Annotator "somebody"]

31... h6 32. Kf1 *

[Event "no moves"]
[Result "0-1"]

0-1

[Event "stalemate"]
[Result "1/2-1/2"]
[FEN "k7/8/1K6/8/8/8/2Q5/8 w - - 0 1"]

1. Qc7 1/2-1/2

[Event "repetition"]
[ECO "A00"]
[Opening "By hand"]
[Result "1/2-1/2"]

1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 1/2-1/2

"""
DAMAGED = """[Event "damaged"]
[Result "1-0"]

1. e4 e5
2. Ke3 Nc6 1-0

[Event "atoms"]
[Variant "Atomic"]

1. e4 e5 *

[Event "the last"]

1. d4 d5 *
"""


def review(*words: object, data: str = "", **options: Any) -> Ended:
    return run("review", *map(str, words), text=data, **options)


def review_here(*words: object) -> Ended:
    return call("review", *map(str, words))


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a review of GAMES in all forms."""
    folder = tmp_path_factory.mktemp("review")
    (folder / "games.pgn").write_text(GAMES, encoding="utf-8")
    files = ["-o", folder / "out.pgn", "--json", folder / "out.json", "--html", folder / "out.html"]
    ended = review(folder / "games.pgn", "--nodes", NODES, *files)
    assert (ended.code, ended.errors) == (0, "")
    (folder / "table.txt").write_text(ended.output, encoding="utf-8")
    return folder


def games_of(folder: Path) -> list[chess.pgn.Game]:
    return read_games((folder / "out.pgn").read_text(encoding="utf-8"))


def data_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "out.json").read_text(encoding="utf-8").splitlines()]


def games_in(text: str) -> list[pgn.Game]:
    """The games as our own reader reads them, which knows null moves and "0-0"."""
    return list(pgn.Reader(io.BytesIO(text.encode())))


# Output.


def test_every_move_has_an_evaluation_and_a_marked_one_a_better_line(reviewed: Path) -> None:
    marks = {chess.pgn.NAG_BLUNDER, chess.pgn.NAG_MISTAKE, chess.pgn.NAG_DUBIOUS_MOVE}
    for before, game in zip(read_games(GAMES), games_of(reviewed), strict=True):
        assert dict(before.headers).items() <= dict(game.headers).items()
        for old, node in zip(before.mainline(), game.mainline(), strict=True):
            assert old.move == node.move
            score, board = node.eval(), node.board()
            assert score is not None
            if board.is_checkmate():
                assert score.white() == chess.engine.MateGiven
            elif board.is_stalemate() or board.is_repetition(3):
                assert score.white() == chess.engine.Cp(0)
            else:
                assert (node.eval_depth() or 0) > 0
            kept = {line.san() for line in old.parent.variations}
            added = [line for line in node.parent.variations if line.san() not in kept]
            assert bool(node.nags & marks) == bool(added) or len(kept) > 1
            assert all(line.eval() is not None for line in added)
    head, *rows = (reviewed / "table.txt").read_text(encoding="utf-8").splitlines()
    side = "accuracy loss ?! ? ??"
    assert head.split() == f"game White {side} Black {side} result".split()
    assert (len(rows), rows[0].split()[-1]) == (5, "1-0")
    assert [row[6:32] for row in rows[:2]] == ["Müller".ljust(26), "A? name of more than twe  "]
    assert sorted(os.listdir(reviewed)) == ["games.pgn", "out.html", "out.json", "out.pgn", "table.txt"]


def test_comments_stay_and_a_missed_mate_is_a_blunder(reviewed: Path) -> None:
    first, second, *_ = games_of(reviewed)
    nodes = list(first.mainline())
    assert first.comment == "start"
    assert nodes[0].clock() == 300
    assert nodes[0].comment.endswith(" best")
    assert nodes[0].comment.count("%eval") == 1
    assert "9.99" not in nodes[0].comment
    assert nodes[-1].comment.endswith(" done")
    assert 14 in nodes[5].nags
    better = next(node for node in nodes[5].parent.variations if node.san() == "g6")
    assert (better.comment, better.next().san()) == ("better", "Qf3")
    for missed, move, mate in ((nodes[6], "Nf3", "Qxf7#"), (second.next(), "h6", "Ra1#")):
        assert (missed.san(), missed.nags) == (move, {chess.pgn.NAG_BLUNDER})
        better = missed.parent.variations[1]
        assert (better.san(), better.eval().relative) == (mate, -chess.engine.MateGiven)


def test_a_mate_in_one_is_named_however_few_the_nodes() -> None:
    """Also where the search finds only a longer mate."""
    games = "1. f3 e5 2. g4 Nc6 (2... d6) *\n\n"
    games += '[FEN "3rr1k1/5p1p/6pP/8/8/2Q5/4R1PP/4R1K1 w - - 0 1"]\n\n1. Rxe8+ Rxe8 2. Rxe8# 1-0\n'
    for nodes in (1, 5, 10, 20):
        first, second = read_games(review("-", "--nodes", nodes, data=games).output)
        for parent, mate in ((first.end().parent, "Qh4#"), (second, "Qg7#")):
            played, better, *_ = parent.variations
            assert (played.nags, better.san()) == ({chess.pgn.NAG_BLUNDER}, mate)


def test_the_json_agrees_with_the_pgn(reviewed: Path) -> None:
    nags = {"?!": 6, "?": 2, "??": 4, None: None}
    games = data_of(reviewed)
    lines = GAMES.splitlines()
    assert [game["game"] for game in games] == [1, 2, 3, 4, 5]
    assert games[2]["before"] is None
    assert games[4]["opening"] == {"eco": "A00", "name": "By hand"}
    for game, old, read in zip(games, read_games(GAMES), games_of(reviewed), strict=True):
        assert (game["file"], game["start"]) == (str(reviewed / "games.pgn"), read.board().fen())
        assert lines[game["line"] - 1] == f'[Event "{read.headers["Event"]}"]'
        assert game["result"] == read.headers["Result"]
        first = 0 if read.turn() == chess.WHITE else 1
        for side, (colour, name) in enumerate((("white", "White"), ("black", "Black"))):
            totals, own = game[colour], game["moves"][side ^ first :: 2]
            assert totals["moves"] == len(own)
            if own:
                assert f"{totals['accuracy']:.1f}" == read.headers[f"{name}Accuracy"]
                assert f"{totals['acpl']:.0f}" == read.headers[f"{name}ACPL"]
                judged = [move["loss_cp"] for move in own if move["mate"] != 0]
                assert abs(totals["acpl"] - sum(judged) / len(judged)) < 0.1
            else:
                assert (totals["accuracy"], totals["acpl"]) == (None, None)
                assert f"{name}Accuracy" not in read.headers
            for kind, mark in (("inaccuracies", "?!"), ("mistakes", "?"), ("blunders", "??")):
                assert totals[kind] == sum(move["mark"] == mark for move in own)
        before = game["before"]
        for move, given, node in zip(game["moves"], old.mainline(), read.mainline(), strict=True):
            assert (move["san"], move["uci"]) == (node.san(), node.move.uci())
            assert move["fen"] == node.board().fen(en_passant="legal")
            assert (move["comment"], set(move["nags"])) == (given.comment, given.nags)
            white = node.eval().white()
            assert (move["cp"], move["depth"]) == (white.score(), node.eval_depth() or 0)
            if not node.board().is_checkmate():
                assert move["mate"] == white.mate()
            sign = 1 if node.parent.turn() == chess.WHITE else -1
            if node.ply() > 1:  # the first move is not judged by the search
                assert move["loss"] == pytest.approx(max(0, sign * (before["win"] - move["win"])), abs=1e-3)
            assert 0 <= move["accuracy"] <= 100
            assert move["win"] == pytest.approx(white.wdl(model="lichess").expectation(), abs=0.03)
            assert (nags[move["mark"]] in node.nags) == (move["mark"] is not None)
            assert bool(move["mark"]) == bool(move["better"])
            board = node.board()
            for step in move["best"]:
                board.push_uci(step)
            assert len(move["best"]) <= 8
            before = move


def test_input_threads_output_and_another_review_change_nothing(reviewed: Path, tmp_path: Path) -> None:
    written = (reviewed / "out.pgn").read_text(encoding="utf-8")
    again, html = tmp_path / "again.pgn", tmp_path / "out.html"
    assert review(reviewed / "out.pgn", "--nodes", NODES, "-o", again).code == 0
    assert again.read_bytes() == (reviewed / "out.pgn").read_bytes()
    data = GAMES.encode("latin-1").decode(errors="surrogateescape").replace("\n", "\r\n")
    latin = os.environ | {"PYTHONIOENCODING": "latin-1"}
    assert review("-", "--nodes", NODES, data=data, env=latin) == (0, written, "")
    words = ["--nodes", NODES, "--threads", 2, "--json", "--html", html]
    ended = review(reviewed / "games.pgn", *words)
    assert ended.output == (reviewed / "out.json").read_text(encoding="utf-8")
    assert html.read_bytes() == (reviewed / "out.html").read_bytes()


def test_a_time_limits_each_position(tmp_path: Path) -> None:
    source = "/dev/stdin" if os.path.exists("/dev/stdin") else "-"
    began = time.monotonic()
    ended = review(source, "--time", 0.3, "-o", "-", "--json", tmp_path / "json", data="1. e4 e5 *\n")
    assert time.monotonic() - began > 0.8
    (game,) = read_games(ended.output)
    assert all(node.eval() for node in game.mainline())
    assert "0.3 s a move" in game.headers["Annotator"]
    game = json.loads((tmp_path / "json").read_bytes())
    assert {len(move["best"]) for move in game["moves"]} == {8} or not build.compiled


@pytest.mark.skipif(not build.compiled, reason="uncompiled, it takes long")
def test_a_game_longer_than_the_board_remembers_is_reviewed() -> None:
    moves = " ".join(["Ke2 Ke7 Ke1 Ke8"] * 780)
    games = f'[FEN "4k3/8/8/p7/P7/8/8/R3K3 w - - 0 1"]\n\n{moves} *\n'
    (game,) = games_in(review("-", "--nodes", 1, data=games).output)
    comments = [move.comment for move in game.moves]
    assert len(comments) == 3120
    assert all(comment.endswith(",1]") for comment in comments[:-1]), "searched to depth 1"
    assert [len(set(comments[phase:-4:4])) for phase in range(4)] == [1, 1, 1, 1], "of the same positions"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows gives no reason why a pipe takes nothing")
def test_standard_output_has_each_game_at_once_until_nobody_reads() -> None:
    pipe = subprocess.PIPE
    words = [*ENGINE, "review", "-", "--time", "0.2"]
    buffered = dict(os.environ, PYTHONUNBUFFERED="")
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, env=buffered) as process:
        process.stdin.write(b"1. e4 *\n\n1. d4 *\n\n" + b"1. e4 e5 2. Nf3 Nc6 3. Bb5 *\n" * 100)
        process.stdin.close()
        assert process.stdout.readline()
        process.stdout.close()
        assert process.wait(PATIENCE / 2) == 0, "while all games take two minutes"
        assert b"pipe" not in process.stderr.read()


# Damage.


def test_a_damaged_game_is_named_with_its_line_and_stops_no_other(tmp_path: Path) -> None:
    path, out, html = (tmp_path / name for name in ("damaged.pgn", "out.pgn", "out.html"))
    path.write_text(DAMAGED, encoding="utf-8")
    ended = review(path, "--nodes", NODES, "-o", out, "--json", tmp_path / "out.json", "--html", html)
    assert ended.code == 1
    first, second, last = ended.errors.splitlines()
    assert first.startswith(f"{path}: game 1, line 5: 'Ke3' is not a legal move")
    assert second == f"{path}: game 2, line 7: Moff does not play the variant 'Atomic'"
    assert last == "2 of 3 games are damaged"
    # What is readable of a game is reviewed; of the other variant, only the tags are.
    kept, atoms, other = read_games(out.read_text(encoding="utf-8"))
    assert dict(atoms.headers).items() >= {"Event": "atoms", "Variant": "Atomic"}.items()
    assert "Damaged, line 7: Moff does not play the variant 'Atomic'" in " ".join(atoms.comment.split())
    assert [node.san() for node in kept.mainline()] == ["e4", "e5"]
    assert "Damaged, line 5: 'Ke3' is not a legal move" in " ".join(kept.end().comment.split())
    assert [node.san() for node in other.mainline()] == ["d4", "d5"]
    assert "Damaged" not in other.end().comment
    games = data_of(tmp_path)
    assert [len(game["moves"]) for game in games] == [2, 0, 2]
    assert games[0]["faults"][0]["line"] == 5
    assert "Atomic" in html.read_text(encoding="utf-8")


def test_any_file_is_reviewed_as_far_as_it_can_be(tmp_path: Path) -> None:
    path, out = tmp_path / "games.pgn", tmp_path / "out.pgn"
    for text, fault in (
        ("\n1. e5 e5 1-0", "line 4: 'e5' is not a legal move"),
        ('[FEN "x"]\n\n1. e4 1-0', "line 1: bad FEN 'x'"),
        ('[Variant "Atomic"]\n\n1. e4 1-0', "line 1: Moff does not play the variant 'Atomic'"),
    ):
        path.write_text(f'[Event "K"]\n[Result "1-0"]\n{text}\n\n[Event "L"]\n\n1. e4 *\n', encoding="utf-8")
        assert review_here(path, "--nodes", 1, "-o", out).code == 1
        kept, other = games_in(out.read_text(encoding="utf-8"))
        assert kept.tags.items() >= {"Event": "K", "Result": "1-0"}.items()
        assert (kept.moves, kept.result) == ([], "1-0")
        assert f"Damaged, {fault}" in kept.comment
        assert (len(other.moves), other.comment) == (1, "")
    for text in ("", "nonsense", "[", "{", "(((", "\0\0\0", "1. e4 (1. d4", '[FEN "x"]\n\n1. e4 *'):
        path.write_bytes(text.encode())
        assert review_here(path, "--nodes", 1).code in (0, 1)
    start = "4k3/8/8/8/8/8/8/1R2K1R1 w GB - 0 1"
    path.write_text(f'[Variant "Chess960"]\n[FEN "{start}"]\n\n1. O-O *', encoding="utf-8")
    assert review_here(path, "--nodes", 1).code == 0


def test_a_file_without_games_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty.pgn").write_bytes(b"\n")
    (tmp_path / "games.pgn").write_text("1. e4 *", "utf-8")
    ended = review(tmp_path / "empty.pgn", tmp_path / "games.pgn", "--nodes", 1, "-o", tmp_path / "out.pgn")
    assert (ended.code, ended.errors) == (0, f"{tmp_path / 'empty.pgn'} holds no game\n")


def test_null_moves_are_not_judged() -> None:
    text = '[Result "0-0"]\n\n1. e4 -- 2. d4 -- (2... <> 3. -- e5) 3. Qh5 e5 4. -- Ke7 5. Qxe5# 0-0\n'
    ended = review("-", "--nodes", 50, data=text)
    assert (ended.code, ended.errors) == (0, "")
    (game,) = games_in(ended.output)
    assert [move.san for move in game.moves] == ["e4", "--", "d4", "--", "Qh5", "e5", "--", "Ke7", "Qxe5#"]
    assert all("[%eval" in move.comment for move in game.moves)
    assert not any(move.nags for move in game.moves if move.san == "--")
    assert [move.san for move in game.moves[3].variations[0].moves] == ["--", "--", "e5"]
    assert game.result == "0-0"
    assert review("-", "--nodes", 50, data=ended.output).output == ended.output


@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        ("missing.pgn", 1, "missing.pgn: No such file or directory"),
        ("games.pgn -o games.pgn", 2, "games.pgn: games are read from it"),
        ("games.pgn --html -", 2, "--html takes the name of a file"),
        ("- -", 2, "standard input and standard output can each be named only once"),
        ("games.pgn -o - --json", 2, "standard output can each be named only once"),
        ("games.pgn -o a.pgn --json a.pgn", 2, "a.pgn: two outputs name it"),
        ("games.pgn -o .", 2, ".: it is a folder"),
        ("games.pgn -o nowhere/out.pgn", 2, "nowhere/out.pgn: there is no folder"),
        ("games.pgn -o closed/out", 2, "closed/out: it cannot be written in /"),
        ("games.pgn --nodes 0", 2, "from 1 to"),
        ("games.pgn --nodes 5 --time 1", 2, "not allowed with"),
        ("games.pgn --nodes 5 --fast", 2, "not allowed with"),
        ("games.pgn --time nan", 2, "'nan' is not a number of seconds"),
        ("games.pgn --time 1000001", 2, "from 0.001 to 1000000"),
        ("games.pgn --threads 0", 2, "from 1 to 1024"),
        ("--json games.pgn more.pgn", 2, "games.pgn: --json writes no PGN"),
        ("more.pgn --html games.PGN", 2, "games.PGN: --html writes no PGN"),
        ("", 2, "required: GAMES.pgn"),
    ],
)
def test_wrong_usage_ends_before_the_search(
    words: str, code: int, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("games.pgn").write_text("1. e4 *\n", encoding="utf-8")
    Path("closed").mkdir()
    # The superuser may write anywhere.
    monkeypatch.setattr(os, "access", lambda place, _mode: Path(place).name != "closed")
    ended = review_here(*words.split())
    assert (ended.code, ended.output) == (code, "")
    assert reason in ended.errors
    assert sorted(os.listdir()) == ["closed", "games.pgn"]
    assert Path("games.pgn").read_text(encoding="utf-8") == "1. e4 *\n"


# Interrupts.


def different_games(moves: str) -> str:
    """Twelve games that end alike."""
    first = [f"{white} {black}" for white in ("a3", "a4", "h3", "h4") for black in ("a6", "a5", "h6")]
    return "".join(f'[Round "{number}"]\n\n{text} {moves} *\n\n' for number, text in enumerate(first, 1))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_interrupted_and_started_again_it_writes_the_same_file(tmp_path: Path) -> None:
    path, whole, out = (tmp_path / name for name in ("games.pgn", "whole.pgn", "out.pgn"))
    path.write_text(different_games("Nf3 Nf6 d4 d5 c4 e6 Nc3 Be7 Bg5 Nbd7 e3 O-O"), encoding="utf-8")
    options = ["--nodes", str(scaled(1000, 10))]
    assert review(path, *options, "-o", whole).code == 0
    words = [*ENGINE, "review", str(path), *options, "-o", str(out), "--threads", "2"]
    journal = tmp_path / "out.pgn.unfinished"
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, encoding="utf-8") as process:
        deadline = time.monotonic() + PATIENCE
        while not journal.exists() or journal.read_bytes().count(b"\n") < 2:
            assert time.monotonic() < deadline
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, output) == (130, "")
    assert re.search(r"interrupted after \d+ of 12 games; the same command continues\n$", errors)
    assert "Traceback" not in errors
    assert not out.exists()
    kept = journal.read_bytes()
    assert 2 <= kept.count(b"\n") < 13

    # Half a line, as a machine that fails leaves it, is not read.
    journal.write_bytes(kept + kept[:40])
    finished = counted(kept.count(b"\n") - 1, "game")
    ended = review(path, *options, "-o", out)
    assert (ended.code, ended.errors) == (0, f"{journal}: {finished} already reviewed\n")
    assert out.read_bytes() == whole.read_bytes()
    assert not journal.exists()


def test_another_journal_and_any_other_file_stay(tmp_path: Path) -> None:
    path, out, journal = (tmp_path / name for name in ("games.pgn", "out.pgn", "out.pgn.unfinished"))
    path.write_text("1. e4 *\n", encoding="utf-8")
    other = Journal(str(journal))
    other.open({"version": __version__, "settings": "7 nodes a move", "games": "0123"})
    other.close()
    before = journal.read_bytes()
    for content, nodes, reason in (
        (before, 8, "the journal of a job with settings '7 nodes a move', not '8 nodes a move'"),
        (before, 7, "the journal of a job with games '0123', not '"),
        (b"mine\n", 5, "not a journal"),
    ):
        journal.write_bytes(content)
        ended = review_here(path, "--nodes", nodes, "-o", out)
        assert ended.code == 1
        assert f"{journal}: it is {reason}" in ended.errors
        assert ended.errors.endswith("; finish that review with its own command, or remove the file\n")
        assert ended.errors.count("\n") == 1
        assert journal.read_bytes() == content
        assert not out.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits")
def test_a_full_disk_is_named_and_costs_no_finished_game(tmp_path: Path) -> None:
    import resource

    path, page, whole = (tmp_path / name for name in ("games.pgn", "page.html", "whole.html"))
    path.write_text(different_games("Nf3 Nf6 d4 d5"), encoding="utf-8")
    arguments = [path, "--nodes", 10, "--html"]
    assert review(*arguments, whole).code == 0
    for limit, file in ((800, f"{page}.unfinished"), (50_000, page)):
        full = review(
            *arguments,
            page,
            preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        )
        assert full.code == 1
        assert full.errors.splitlines()[-1] == f"{file}: {os.strerror(errno.EFBIG)}"
    games = path.read_bytes()
    path.write_bytes(games.replace(b"Round", b"Other"))
    assert "it is the journal of a job with games " in review(*arguments, page).errors
    path.write_bytes(games)
    again = review(*arguments, page)
    assert again.code == 0
    assert "already reviewed" in again.errors
    assert page.read_bytes() == whole.read_bytes()


def test_the_games_may_change_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "games.pgn"
    survey = Review._survey_files
    for after, code, is_cut_off in (
        ("1. e4 *\n", 1, True),
        ('1. e4 *\n\n1. d4 *\n\n[Event "c4"]\n\n*\n', 0, False),
    ):

        def survey_and_change(self: Review, after: str = after) -> None:
            survey(self)
            path.write_text(after, encoding="utf-8")

        path.write_text("1. e4 *\n\n1. d4 *\n", encoding="utf-8")
        monkeypatch.setattr(Review, "_survey_files", survey_and_change)
        ended = review_here(path, "--nodes", 10)
        assert (ended.code, "the games were changed during the review" in ended.errors) == (code, is_cut_off)
        assert ("d4" in ended.output, "c4" in ended.output) == (not is_cut_off, False)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such devices")
def test_no_journal_is_kept_beside_a_device(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    other = tmp_path / "pipe.unfinished"
    other.touch()
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert review("-", "--nodes", 5, "-o", pipe, data="1. e4 *\n").code == 0
    assert b"[%eval " in os.read(reader, 10000)
    os.close(reader)
    assert other.read_bytes() == b""


def test_a_journal_keeps_what_comes_before_any_damage(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    job = {"name": "job"}
    journal = Journal(str(path))
    assert journal.open(job) == []
    for result in ([1, "ä"], [2], [3]):
        journal.add(result)
    whole = path.read_bytes()
    if sys.platform != "win32":
        with pytest.raises(ValueError, match="another process is writing to it"):
            Journal(str(path)).open(job)
    journal.close()
    lines = whole.splitlines(True)
    for damaged, results in (
        (whole, [[1, "ä"], [2], [3]]),
        (whole[:-1], [[1, "ä"], [2]]),
        (b"".join([*lines[:2], b"x" + lines[2][1:], lines[3]]), [[1, "ä"]]),
        (b"".join([*lines[:3], b"\xff\xfe" * 40]), [[1, "ä"], [2]]),
    ):
        path.write_bytes(damaged)
        assert journal.open(job) == results
        journal.add([4])
        journal.close()
        assert journal.open(job) == [*results, [4]]
        journal.close()
        assert len(path.read_bytes().splitlines()) == len(results) + 2
    journal.open(job)
    journal.remove()
    assert os.listdir(tmp_path) == []


def test_an_analysis_passes_on_defects_and_closes_at_any_time() -> None:
    for delay in (0.0, 0.001, 0.02):
        analysis = Analysis(Limits(infinite=True), 2, 1)
        for number in range(3):
            analysis.submit(number, pgn.Game().start, [])
        time.sleep(delay)
        analysis.close()
        assert analysis.take(0) is None
    analysis = Analysis(Limits(nodes=1), 1, 1)
    analysis.submit(0, "no FEN", [])
    with pytest.raises(ValueError, match="no FEN"):
        analysis.take(PATIENCE)
    analysis.close()


def test_a_game_gets_the_tags_of_its_opening_that_it_lacks(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    pawn = "King's Pawn Game"
    for given, moves, eco, opening in (
        ("", "1. e3 e6 2. e4 e5 3. h3 Ke7", "C20", pawn),  # the last position with a name
        ("", "1. -- a6", None, None),
        ("", "", None, None),
        ('[ECO "?"]\n[Opening "?"]', "1. e4 e5", "C20", pawn),
        ('[ECO "C99"]\n[Annotator "A. N."]', "1. e4 e5", "C99", pawn),
        ('[Opening "Mine"]\n[Annotator "Moff 0"]', "1. e4 e5", "C20", "Mine"),
    ):
        path.write_text(f"{given}\n\n{moves} *\n", encoding="utf-8")
        (game,) = read_games(review_here(path, "--nodes", 1).output)
        assert (game.headers.get("ECO"), game.headers.get("Opening")) == (eco, opening)
        annotator = "A. N." if "A. N." in given else f"Moff {__version__}, 1 nodes a move"
        assert game.headers["Annotator"] == annotator
